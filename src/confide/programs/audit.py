"""Old names of the audit of a convex program; see `confide.programs.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(__name__, moved={"sensitivity_rows": "audited_programs"}, audit_program="program")

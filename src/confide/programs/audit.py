"""Former names of the audit of a convex program. The audit itself is in `confide.programs.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(__name__, moved={"sensitivity_rows": "audited_programs"}, audit_program="program")

"""Old names of the audit of a bought mean; see `confide.acquisition.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(__name__, audit_mean="mean")

"""Former names of the audit of a mean that was bought. The audit itself is in `confide.acquisition.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(__name__, audit_mean="mean")

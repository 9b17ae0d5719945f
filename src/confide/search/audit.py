"""Old names of the audit of a private search; see `confide.search.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(__name__, audit_search="search")

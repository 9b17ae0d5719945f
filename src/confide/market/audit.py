"""Old import path of the audits of markets, which are in `confide.market.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(__name__, audit_majority="majority", audit_pairs="pairs", audit_unknown_costs="unknown_costs")

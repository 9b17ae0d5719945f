"""Former names of the audit of an auction; see `confide.allocation.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={"History": "audited_losses", "HistoryLoss": "audited_losses", "auction_reach": "audited_reach",
                     "bundle_reach": "audited_reach", "exact_loss": "audited_losses", "own_parts": "audited_losses",
                     "recorded": "audited_losses"},
    audit_matching="matching")

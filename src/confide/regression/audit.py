"""Old import path of the audit of a regression, which is in `confide.regression.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={"StandIn": "stand_ins", "behaviour_rows": "audited_behaviour", "claims_of": "audited",
                     "interim_utility": "truthful_regression", "neighbours": "audited",
                     "own_score_row": "audited_behaviour", "printed_audit": "audited",
                     "printed_loss": "audited", "printed_samples": "audited",
                     "range_row": "audited_behaviour", "stand_in": "stand_ins"},
    audit_regression="regression")

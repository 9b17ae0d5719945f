"""Old names of the audit of a regression; see `confide.regression.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={"StandIn": "stand_in", "behaviour_rows": "audited_behaviour", "claims_of": "audited",
                     "interim_utility": "interim_utility", "neighbours": "audited_submissions",
                     "own_score_row": "audited_behaviour", "printed_audit": "audited_print",
                     "printed_loss": "audited_print", "printed_samples": "audited_print",
                     "range_row": "audited_behaviour", "stand_in": "stand_in"},
    audit_regression="regression")

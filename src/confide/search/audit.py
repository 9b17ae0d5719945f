"""Old names of the audit of a private search; see `confide.search.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={"Witness": "threshold_witness", "history_row": "audited_runs", "limit_loss": "threshold_witness",
                     "list_loss": "audited_losses", "list_row": "audited_losses", "runs_row": "audited_runs",
                     "selection_row": "audited_losses", "threshold_row": "audited_losses"},
    audit_search="search")

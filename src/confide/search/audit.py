"""Former names of the audit of a private search; see `confide.search.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={"Witness": "stopping", "history_row": "audited_runs", "limit_loss": "stopping",
                     "list_loss": "audited_losses", "list_row": "audited_losses", "runs_row": "audited_runs",
                     "selection_row": "audited_losses", "threshold_row": "audited_losses"},
    audit_search="search")

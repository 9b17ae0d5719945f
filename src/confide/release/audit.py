"""Old names of the audits of query release; see `confide.release.audited`."""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={
        "charges": "audited_charges", "dual_query_rows": "audited_games", "tiny_game": "audited_laws",
        "transcript_laws": "audited_laws", "tiny": "audited_tables", "twins": "audited_tables"})

"""Former import path of the audits of query release. The audits are now in `confide.release.audited_full_size` and
`confide.release.audited_games`.
"""

from confide.audit.old_audits import old_audits

__getattr__ = old_audits(
    __name__, moved={
        "charges": "audited_faults", "dual_query_rows": "audited_games", "tiny_game": "audited_games",
        "transcript_laws": "audited_games", "tiny": "audited_tables", "twins": "audited_tables"})

"""Audits of query release: mechanisms' own runs on tiny neighbours, DualQuery's law written out, planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.release.audit.charged import charges
    from confide.release.audit.dual import dual_query_controls, dual_query_rows
    from confide.release.audit.enumerated import tiny_game, transcript_laws
    from confide.release.audit.tiny_mechanisms import tiny, twins
    from confide.release.audit.transcripts import release_controls, release_rows, transcript_controls, transcript_rows

__all__ = ["charges", "dual_query_controls", "dual_query_rows", "release_controls", "release_rows", "tiny", "tiny_game",
           "transcript_controls", "transcript_laws", "transcript_rows", "twins"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "charged": ("charges",),
        "dual": ("dual_query_controls", "dual_query_rows"),
        "enumerated": ("tiny_game", "transcript_laws"),
        "tiny_mechanisms": ("tiny", "twins"),
        "transcripts": ("release_controls", "release_rows", "transcript_controls", "transcript_rows"),
    },
    renamed={"door_controls": "transcript_controls", "door_rows": "transcript_rows"},
)

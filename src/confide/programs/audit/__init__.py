"""Audits of convex programs: exact losses of own runs, flags, sensitivities, lies, certificates; planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.programs.audit.behaviour import behaviour_controls, behaviour_rows
    from confide.programs.audit.flag_patterns import flag_rows
    from confide.programs.audit.lies import lie_rows
    from confide.programs.audit.sensitivity import sensitivity_rows
    from confide.programs.audit.transcripts import transcript_controls, transcript_rows
    from confide.programs.audit.whole import audit_program

__all__ = [
    "audit_program",
    "behaviour_controls",
    "behaviour_rows",
    "flag_rows",
    "lie_rows",
    "sensitivity_rows",
    "transcript_controls",
    "transcript_rows",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "behaviour": ("behaviour_controls", "behaviour_rows"),
        "transcripts": ("transcript_controls", "transcript_rows"),
        "flag_patterns": ("flag_rows",),
        "lies": ("lie_rows",),
        "sensitivity": ("sensitivity_rows",),
        "whole": ("audit_program",),
    },
    renamed={"door_controls": "transcript_controls", "walked_rows": "transcript_rows"},
)

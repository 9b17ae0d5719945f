"""Studies: one module for each published statement, figure or table; `confide reproduce NAME` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.study.catalogue import studies, study, study_names
    from confide.study.findings import Compared, Findings, Study
    from confide.study.write import write_section


__all__ = ["Compared", "Findings", "Study", "studies", "study", "study_names", "write_section"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "catalogue": ("studies", "study", "study_names"),
        "findings": ("Compared", "Findings", "Study"),
        "write": ("write_section",),
    },
)

"""Studies, one module for each published statement, figure or table (`confide reproduce NAME` runs it); and the table
of published claims over all families (`confide claims`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.study.catalogue import studies, study, study_names
    from confide.study.claims_page import claims_markdown
    from confide.study.claims_pinned import Pin, pinned, pins_toml
    from confide.study.claims_table import Claim, Evidence, MeasuredEvidence, claims, parts_of_families, read_claims
    from confide.study.claims_verified import Verified, verify_claims
    from confide.study.errata_index import Erratum, errata
    from confide.study.findings import Compared, Findings, Study
    from confide.study.gallery import GalleryEntry, exhibits, gallery_markdown, shown_quick, write_gallery
    from confide.study.kept import Kept, StudyCache
    from confide.study.reproduced import NotReproduced, Reproduced, reproduce, reproduce_all
    from confide.study.timings import FullTimes, full_times, this_machine, times_toml
    from confide.study.write import write_section


__all__ = [
    "Claim",
    "Compared",
    "Erratum",
    "Evidence",
    "Findings",
    "FullTimes",
    "GalleryEntry",
    "Kept",
    "MeasuredEvidence",
    "NotReproduced",
    "Pin",
    "Reproduced",
    "Study",
    "StudyCache",
    "Verified",
    "claims",
    "claims_markdown",
    "errata",
    "exhibits",
    "full_times",
    "gallery_markdown",
    "parts_of_families",
    "pinned",
    "pins_toml",
    "read_claims",
    "reproduce",
    "reproduce_all",
    "shown_quick",
    "studies",
    "study",
    "study_names",
    "this_machine",
    "times_toml",
    "verify_claims",
    "write_gallery",
    "write_section",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "catalogue": ("studies", "study", "study_names"),
        "claims_page": ("claims_markdown",),
        "claims_pinned": ("Pin", "pinned", "pins_toml"),
        "claims_table": ("Claim", "Evidence", "MeasuredEvidence", "claims", "parts_of_families", "read_claims"),
        "claims_verified": ("Verified", "verify_claims"),
        "errata_index": ("Erratum", "errata"),
        "findings": ("Compared", "Findings", "Study"),
        "timings": ("FullTimes", "full_times", "this_machine", "times_toml"),
        "gallery": ("GalleryEntry", "exhibits", "gallery_markdown", "shown_quick", "write_gallery"),
        "kept": ("Kept", "StudyCache"),
        "reproduced": ("NotReproduced", "Reproduced", "reproduce", "reproduce_all"),
        "write": ("write_section",),
    },
    renamed={"Exhibit": "GalleryEntry", "Measured": "MeasuredEvidence"},
)

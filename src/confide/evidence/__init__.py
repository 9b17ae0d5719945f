"""What the sources publish, checked: one folder a source, with its claims, its printed mechanisms and its studies.

`confide claims` shows the table of claims, `confide reproduce NAME` runs a study. Nothing below imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.catalogue import studies, study, study_names
    from confide.evidence.claim import Claim, Evidence, MeasuredEvidence, Pin, Recomputed, claims_of
    from confide.evidence.claims_page import Erratum, claims_markdown, errata
    from confide.evidence.claims_table import claims, parts_of_families, read_claims
    from confide.evidence.claims_verified import Verified, pinned, pins_toml, verify_claims
    from confide.evidence.findings import Compared, Findings, Study
    from confide.evidence.gallery import GalleryEntry, exhibits, gallery_markdown, shown_quick, write_gallery
    from confide.evidence.kept import Kept, StudyCache
    from confide.evidence.reproduced import NotReproduced, Reproduced, reproduce, reproduce_all
    from confide.evidence.timings import FullTimes, full_times, this_machine, times_toml
    from confide.evidence.write import write_section


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
    "Recomputed",
    "Reproduced",
    "Study",
    "StudyCache",
    "Verified",
    "claims",
    "claims_markdown",
    "claims_of",
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
        "claim": ("Claim", "Evidence", "Recomputed", "MeasuredEvidence", "Pin", "claims_of"),
        "catalogue": ("studies", "study", "study_names"),
        "claims_page": ("Erratum", "claims_markdown", "errata"),
        "claims_table": ("claims", "parts_of_families", "read_claims"),
        "claims_verified": ("Verified", "pinned", "pins_toml", "verify_claims"),
        "findings": ("Compared", "Findings", "Study"),
        "timings": ("FullTimes", "full_times", "this_machine", "times_toml"),
        "gallery": ("GalleryEntry", "exhibits", "gallery_markdown", "shown_quick", "write_gallery"),
        "kept": ("Kept", "StudyCache"),
        "reproduced": ("NotReproduced", "Reproduced", "reproduce", "reproduce_all"),
        "write": ("write_section",),
    },
)

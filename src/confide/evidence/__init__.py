"""Checks of the published statements of the sources. Each source has one folder with its claims, its mechanisms as
printed, and its studies.

`confide claims` shows the table of claims, and `confide reproduce NAME` runs a study. Only the command line, and old
names that remain until confide 1.0.0, use the package `confide.evidence` from outside.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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

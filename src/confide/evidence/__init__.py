"""Checks of the statements in the papers and dissertations (sources) that confide implements. Each source has one
folder. The folder contains the claims of the source, the mechanisms as printed there, and studies that recompute
figures and theorems of the source.

`confide claims` shows the table of claims, and `confide reproduce NAME` runs a study. Outside this package, only the
command line imports `confide.evidence`. Import paths of earlier versions also lead here until confide 1.0.0.
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

# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.catalogue import studies as studies
from confide.evidence.catalogue import study as study
from confide.evidence.catalogue import study_names as study_names
from confide.evidence.claim import Claim as Claim
from confide.evidence.claim import Evidence as Evidence
from confide.evidence.claim import MeasuredEvidence as MeasuredEvidence
from confide.evidence.claim import Pin as Pin
from confide.evidence.claim import Recomputed as Recomputed
from confide.evidence.claim import claims_of as claims_of
from confide.evidence.claims_page import Erratum as Erratum
from confide.evidence.claims_page import claims_markdown as claims_markdown
from confide.evidence.claims_page import errata as errata
from confide.evidence.claims_table import claims as claims
from confide.evidence.claims_table import parts_of_families as parts_of_families
from confide.evidence.claims_table import read_claims as read_claims
from confide.evidence.claims_verified import Verified as Verified
from confide.evidence.claims_verified import pinned as pinned
from confide.evidence.claims_verified import pins_toml as pins_toml
from confide.evidence.claims_verified import verify_claims as verify_claims
from confide.evidence.findings import Compared as Compared
from confide.evidence.findings import Findings as Findings
from confide.evidence.findings import Study as Study
from confide.evidence.gallery import GalleryEntry as GalleryEntry
from confide.evidence.gallery import exhibits as exhibits
from confide.evidence.gallery import gallery_markdown as gallery_markdown
from confide.evidence.gallery import shown_quick as shown_quick
from confide.evidence.gallery import write_gallery as write_gallery
from confide.evidence.kept import Kept as Kept
from confide.evidence.kept import StudyCache as StudyCache
from confide.evidence.reproduced import NotReproduced as NotReproduced
from confide.evidence.reproduced import Reproduced as Reproduced
from confide.evidence.reproduced import reproduce as reproduce
from confide.evidence.reproduced import reproduce_all as reproduce_all
from confide.evidence.timings import FullTimes as FullTimes
from confide.evidence.timings import full_times as full_times
from confide.evidence.timings import this_machine as this_machine
from confide.evidence.timings import times_toml as times_toml
from confide.evidence.write import write_section as write_section

__all__ = [
    "Claim", "Compared", "Erratum", "Evidence", "Findings", "FullTimes", "GalleryEntry", "Kept", "MeasuredEvidence",
    "NotReproduced", "Pin", "Recomputed", "Reproduced", "Study", "StudyCache", "Verified", "claims", "claims_markdown",
    "claims_of", "errata", "exhibits", "full_times", "gallery_markdown", "parts_of_families", "pinned", "pins_toml",
    "read_claims", "reproduce", "reproduce_all", "shown_quick", "studies", "study", "study_names", "this_machine",
    "times_toml", "verify_claims", "write_gallery", "write_section",
]

# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.contract.asked import CustodiansKind as CustodiansKind
from confide.contract.digests import canonical as canonical
from confide.contract.digests import digest as digest
from confide.contract.errors import BudgetExceeded as BudgetExceeded
from confide.contract.errors import ConfideError as ConfideError
from confide.contract.errors import InvalidInput as InvalidInput
from confide.contract.errors import NotGuaranteed as NotGuaranteed
from confide.contract.errors import PublicWarning as PublicWarning
from confide.contract.errors import Refused as Refused
from confide.contract.errors import RunFailed as RunFailed
from confide.contract.errors import SolverFailed as SolverFailed
from confide.contract.errors import StoreFailed as StoreFailed
from confide.contract.errors import Unsupported as Unsupported
from confide.contract.file_words import FileWords as FileWords
from confide.contract.guarantees import Accuracy as Accuracy
from confide.contract.guarantees import Audience as Audience
from confide.contract.guarantees import Budget as Budget
from confide.contract.guarantees import Guarantee as Guarantee
from confide.contract.guarantees import Guarantees as Guarantees
from confide.contract.guarantees import Participation as Participation
from confide.contract.guarantees import Privacy as Privacy
from confide.contract.guarantees import PrivacyLoss as PrivacyLoss
from confide.contract.guarantees import Relation as Relation
from confide.contract.guarantees import Source as Source
from confide.contract.guarantees import Truthfulness as Truthfulness
from confide.contract.kinds import CampaignPlan as CampaignPlan
from confide.contract.kinds import Check as Check
from confide.contract.kinds import Collection as Collection
from confide.contract.kinds import ContractKind as ContractKind
from confide.contract.kinds import HandingKind as HandingKind
from confide.contract.kinds import HeldData as HeldData
from confide.contract.kinds import Kind as Kind
from confide.contract.kinds import LocalKind as LocalKind
from confide.contract.kinds import PausingKind as PausingKind
from confide.contract.kinds import RewordedKind as RewordedKind
from confide.contract.kinds import Trial as Trial
from confide.contract.kinds import TriedKind as TriedKind
from confide.contract.kinds import kind as kind
from confide.contract.kinds import kind_names as kind_names
from confide.contract.known_keys import Keys as Keys
from confide.contract.known_keys import keys_of as keys_of
from confide.contract.mechanism import Mechanism as Mechanism
from confide.contract.mechanism import NoiseSource as NoiseSource
from confide.contract.mechanism import Phase as Phase
from confide.contract.mechanism import Progress as Progress
from confide.contract.missing import MissingArguments as MissingArguments
from confide.contract.outcome import Billboard as Billboard
from confide.contract.outcome import Certificate as Certificate
from confide.contract.outcome import Outcome as Outcome
from confide.contract.outcome import Provenance as Provenance
from confide.contract.outcome import PublicOutcome as PublicOutcome
from confide.contract.outcome import RunOutcome as RunOutcome
from confide.contract.outcome import SimulatedOutcome as SimulatedOutcome
from confide.contract.outcome import as_billboard as as_billboard
from confide.contract.parameters import Declared as Declared
from confide.contract.parameters import Parameter as Parameter
from confide.contract.plan import Alternative as Alternative
from confide.contract.plan import Plan as Plan
from confide.contract.plan import Predicted as Predicted
from confide.contract.presentation import Block as Block
from confide.contract.presentation import Picture as Picture
from confide.contract.presentation import Section as Section
from confide.contract.presentation import Table as Table
from confide.contract.presentation import Text as Text
from confide.contract.renamed import ConfideDeprecationWarning as ConfideDeprecationWarning

__all__ = [
    "Accuracy", "Alternative", "Audience", "Billboard", "Block", "Budget", "BudgetExceeded", "CampaignPlan",
    "Certificate", "Check", "Collection", "ConfideDeprecationWarning", "ConfideError", "ContractKind",
    "CustodiansKind", "Declared", "FileWords", "Guarantee", "Guarantees", "HandingKind", "HeldData", "InvalidInput",
    "Keys", "Kind", "LocalKind", "Mechanism", "MissingArguments", "NoiseSource", "NotGuaranteed", "Outcome",
    "Parameter", "Participation", "PausingKind", "Phase", "Picture", "Plan", "Predicted", "Privacy", "PrivacyLoss",
    "Progress", "Provenance", "PublicOutcome", "PublicWarning", "Refused", "Relation", "RewordedKind", "RunFailed",
    "RunOutcome", "Section", "SimulatedOutcome", "SolverFailed", "Source", "StoreFailed", "Table", "Text", "Trial",
    "TriedKind", "Truthfulness", "Unsupported", "as_billboard", "canonical", "digest", "keys_of", "kind", "kind_names",
]

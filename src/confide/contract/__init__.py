"""The contract that every family signs: mechanisms, outcomes, guarantees, kinds and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.contract.asked import CustodiansKind
    from confide.contract.encoding import canonical, digest
    from confide.contract.errors import (
        BudgetExceeded,
        ConfideError,
        InvalidInput,
        NotGuaranteed,
        PublicWarning,
        Refused,
        RunFailed,
        SolverFailed,
        StoreFailed,
        Unsupported,
    )
    from confide.contract.file_words import FileWords
    from confide.contract.guarantees import (
        Accuracy,
        Audience,
        Budget,
        Guarantee,
        Guarantees,
        Participation,
        Privacy,
        PrivacyLoss,
        Relation,
        Source,
        Truthfulness,
    )
    from confide.contract.kinds import (
        CampaignPlan,
        Check,
        Collection,
        ContractKind,
        HandingKind,
        HeldData,
        Kind,
        LocalKind,
        PausingKind,
        RewordedKind,
        Trial,
        TriedKind,
        kind,
        kind_names,
    )
    from confide.contract.known_keys import Keys, keys_of
    from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
    from confide.contract.missing import MissingArguments
    from confide.contract.outcome import (
        Billboard,
        Certificate,
        Outcome,
        Provenance,
        PublicOutcome,
        RunOutcome,
        SimulatedOutcome,
        as_billboard,
    )
    from confide.contract.parameters import Declared, Parameter
    from confide.contract.plan import Alternative, Plan, Predicted
    from confide.contract.presentation import Block, Picture, Section, Table, Text
    from confide.contract.renamed import ConfideDeprecationWarning


__all__ = [
    "Accuracy",
    "Alternative",
    "Audience",
    "Billboard",
    "Block",
    "Budget",
    "BudgetExceeded",
    "CampaignPlan",
    "Certificate",
    "Check",
    "Collection",
    "ConfideDeprecationWarning",
    "ConfideError",
    "ContractKind",
    "CustodiansKind",
    "Declared",
    "FileWords",
    "Guarantee",
    "Guarantees",
    "HandingKind",
    "HeldData",
    "InvalidInput",
    "Keys",
    "Kind",
    "LocalKind",
    "Mechanism",
    "MissingArguments",
    "NoiseSource",
    "NotGuaranteed",
    "Outcome",
    "Parameter",
    "Participation",
    "PausingKind",
    "Phase",
    "Picture",
    "Plan",
    "Predicted",
    "Privacy",
    "PrivacyLoss",
    "Progress",
    "Provenance",
    "PublicOutcome",
    "PublicWarning",
    "Refused",
    "Relation",
    "RewordedKind",
    "RunFailed",
    "RunOutcome",
    "Section",
    "SimulatedOutcome",
    "SolverFailed",
    "Source",
    "StoreFailed",
    "Table",
    "Text",
    "Trial",
    "TriedKind",
    "Truthfulness",
    "Unsupported",
    "as_billboard",
    "canonical",
    "digest",
    "keys_of",
    "kind",
    "kind_names",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "asked": ("CustodiansKind",),
        "encoding": ("canonical", "digest"),
        "errors": (
            "BudgetExceeded", "ConfideError", "InvalidInput", "NotGuaranteed", "PublicWarning", "Refused", "RunFailed",
            "SolverFailed", "StoreFailed", "Unsupported",
        ),
        "file_words": ("FileWords",),
        "guarantees": (
            "Accuracy", "Audience", "Budget", "Guarantee", "Guarantees", "Participation", "Privacy", "PrivacyLoss",
            "Relation", "Source", "Truthfulness",
        ),
        "kinds": (
            "CampaignPlan", "Check", "Collection", "ContractKind", "HandingKind", "HeldData", "Kind", "LocalKind",
            "PausingKind", "RewordedKind", "Trial", "TriedKind", "kind", "kind_names",
        ),
        "known_keys": ("Keys", "keys_of"),
        "mechanism": ("Mechanism", "NoiseSource", "Phase", "Progress"),
        "missing": ("MissingArguments",),
        "outcome": (
            "Billboard", "Certificate", "Outcome", "Provenance", "PublicOutcome", "RunOutcome", "SimulatedOutcome",
            "as_billboard",
        ),
        "parameters": ("Declared", "Parameter"),
        "plan": ("Alternative", "Plan", "Predicted"),
        "presentation": ("Block", "Picture", "Section", "Table", "Text"),
        "renamed": ("ConfideDeprecationWarning",),
    },
    renamed={"Unit": "Relation"},
)

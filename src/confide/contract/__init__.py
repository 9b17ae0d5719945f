"""The contract that every family signs: mechanisms, outcomes, guarantees, kinds and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.contract.custody import CustodiansKind
    from confide.contract.encoding import canonical, digest
    from confide.contract.errors import (
        BudgetExceeded,
        ConfideError,
        InvalidInput,
        NotGuaranteed,
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
        Source,
        Truthfulness,
        Unit,
    )
    from confide.contract.kinds import (
        Check,
        Collection,
        ContractKind,
        HandingKind,
        HeldData,
        Kind,
        LocalKind,
        PausingKind,
        Plan,
        Progress,
        RewordedKind,
        Trial,
        TriedKind,
        kind,
        kind_names,
    )
    from confide.contract.known_keys import Keys
    from confide.contract.mechanism import Mechanism, NoiseSource, Phase
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
    from confide.contract.presentation import Block, Picture, Section, Table, Text
    from confide.contract.public_warnings import PublicWarning
    from confide.contract.renamed import ConfideDeprecationWarning


__all__ = [
    "Accuracy",
    "Audience",
    "Billboard",
    "Block",
    "Budget",
    "BudgetExceeded",
    "Certificate",
    "Check",
    "Collection",
    "ConfideDeprecationWarning",
    "ConfideError",
    "ContractKind",
    "CustodiansKind",
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
    "NoiseSource",
    "NotGuaranteed",
    "Outcome",
    "Participation",
    "PausingKind",
    "Phase",
    "Picture",
    "Plan",
    "Privacy",
    "PrivacyLoss",
    "Progress",
    "Provenance",
    "PublicOutcome",
    "PublicWarning",
    "Refused",
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
    "Unit",
    "Unsupported",
    "as_billboard",
    "canonical",
    "digest",
    "kind",
    "kind_names",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "custody": ("CustodiansKind",),
        "encoding": ("canonical", "digest"),
        "errors": (
            "BudgetExceeded", "ConfideError", "InvalidInput", "NotGuaranteed", "Refused", "RunFailed", "SolverFailed",
            "StoreFailed", "Unsupported",
        ),
        "file_words": ("FileWords",),
        "guarantees": (
            "Accuracy", "Audience", "Budget", "Guarantee", "Guarantees", "Participation", "Privacy", "PrivacyLoss",
            "Source", "Truthfulness", "Unit",
        ),
        "kinds": (
            "Check", "Collection", "ContractKind", "HandingKind", "HeldData", "Kind", "LocalKind", "PausingKind",
            "Plan", "Progress", "RewordedKind", "Trial", "TriedKind", "kind", "kind_names",
        ),
        "known_keys": ("Keys",),
        "mechanism": ("Mechanism", "NoiseSource", "Phase"),
        "outcome": ("Billboard", "Certificate", "Outcome", "Provenance", "PublicOutcome", "RunOutcome",
                    "SimulatedOutcome", "as_billboard"),
        "presentation": ("Block", "Picture", "Section", "Table", "Text"),
        "public_warnings": ("PublicWarning",),
        "renamed": ("ConfideDeprecationWarning",),
    },
)

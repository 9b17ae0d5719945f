"""The common interface of all families of mechanisms: mechanisms, outcomes, guarantees, campaign kinds and errors."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "asked": ("CustodiansKind",),
        "digests": ("canonical", "digest"),
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

"""Every kind of the house with a campaign of its own, as `confide init` begins it."""

from __future__ import annotations

import tempfile
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from confide.audit import AuditReport, AuditRow, Control, engine, promise_rows
from confide.campaign import Campaign
from confide.contract.kinds import ContractKind, LocalKind, kind, kind_names

__all__ = ["HELD", "KINDS", "PEOPLES", "WholeAudit", "accepted", "campaign_of", "contracts", "whole_audit"]

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
_NAMED = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]["confide.kinds"]

HELD = ("queries", "search")
"""Those of which a custodian holds the data; a new one is added here."""
PEOPLES = tuple(name for name in _NAMED if name not in HELD)
KINDS = (*PEOPLES, *HELD)

if unknown := set(KINDS) - set(kind_names()):
    raise LookupError(f"{', '.join(sorted(unknown))}: named in {_PROJECT} and not installed: `pip install -e .` reads "
                      "its entry points anew")


@cache
def campaign_of(name: str, *edits: tuple[str, str]) -> Campaign:
    """The campaign of a kind's template; no file that it names is there.

    Args:
        name: of the kind.
        edits: (old, new) of the template.
    """
    text = kind(name).template
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "campaign.toml"
        path.write_text(text, encoding="utf-8")
        return Campaign.load(path)


class WholeAudit(NamedTuple):
    """A whole audit, and what the engine made of the price of each promise, first of all."""

    report: AuditReport
    priced: tuple[AuditRow, ...]
    injected: tuple[Control, ...]


@cache
def whole_audit(name: str) -> WholeAudit:
    """The audit of a kind's template with seed 0, which takes seconds: once for all tests of a process."""
    made: list[tuple[tuple[AuditRow, ...], tuple[Control, ...]]] = []

    def kept(*given: Any, **how: Any) -> Any:
        rows, controls = promise_rows(*given, **how)
        made.append((tuple(rows), tuple(controls)))
        return rows, controls

    with patch.object(engine, "promise_rows", kept):
        report = campaign_of(name).audit(0)
    return WholeAudit(report, *made[0])


@cache
def contracts() -> dict[str, Any]:
    """A round of the kind `mean`, from reports that are spread over the belief."""
    import numpy as np

    from confide.acquisition.reading import as_document

    it = campaign_of("mean").plan.mechanism
    return as_document(it.contracts(np.linspace(0.0, 1.0, it.people)).terms)  # type: ignore[attr-defined]


def accepted(it: Campaign, values: dict[str, str]) -> Any:
    """What the kind makes of a form: the door that its own docstring names."""
    found, config, plan = it.file.kind, it.file.config, it.plan
    if isinstance(found, ContractKind):
        somebody = str(contracts()["rows"][0][0] + 1)  # who is asked for a record
        return found.on_terms(config, plan, values, found.terms(config, contracts(), somebody))
    if isinstance(found, LocalKind):
        return found.private(config, plan, values)
    return found.submission(config, plan, "3", values)

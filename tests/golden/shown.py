"""What each kind shows of the golden campaigns, as digests: plan, offer, form, device, check, result, tables, share.

`python tests/golden/shown.py` writes `shown.json` anew, after a change that is meant; `--full FOLDER` writes what is
shown itself, to be compared with that of another version.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from golden_files import FOUND, PACKS, campaign, own_files, pack

from confide.campaign import schema
from confide.campaign.verification.reading import read_folder
from confide.contract import kind, kind_names
from confide.contract.digests import canonical, digest
from confide.contract.kinds import ContractKind, LocalKind
from confide.contract.outcome import PublicOutcome
from confide.contract.outcome_folder import public_parts
from confide.contract.presentation import Section

SHOWN = Path(__file__).parent / "shown.json"

UNCHECKED = ("bits_open", "bits_served", "costs_open", "search_waiting")
"""Campaigns whose records came in by the service, or whose folder others may read here: there is nothing to check."""

_DIGITS = 9  # machines differ in the last ones


def of_kind(name: str) -> dict[str, Any]:
    """What a kind shows of itself: its template and its schema.

    Args:
        name: of the kind.
    """
    return {"template": kind(name).template, "summary": kind(name).summary, "schema": schema(name)}


def of_campaign(name: str) -> dict[str, Any]:
    """What is shown of a golden campaign, what -> content.

    Args:
        name: of the campaign.
    """
    it = campaign(name)
    its, config, plan, folder = it.kind, it.file.config, it.plan, it.file.folder
    found: dict[str, Any] = dict(_sections("plan", plan.sections()))
    found |= _sections("offer", plan.offer())
    found["plan as data"] = plan.to_dict()
    found["form"] = [asdict(field) for field in its.asked(config, plan)]
    found["files"] = its.files(config)
    found["ids"] = list(its.identities(config))[:3]
    found["money"] = None if its.payouts(plan) is None else asdict(it.terms)
    if isinstance(its, LocalKind) and not isinstance(its, ContractKind):
        found["device"] = its.device(config, plan)
        found["known"] = [asdict(field) for field in its.known(config, plan)]
    if isinstance(its, ContractKind):
        found["first form"] = [asdict(field) for field in its.asked_first(config, plan)]
        if name in PACKS:
            drawn = json.loads((folder / its.contracts_file(config)).read_text(encoding="utf-8"))["drawn"]
            found |= _sections("round", its.round_sections(plan, drawn))
            found |= _sections("contract", its.terms_sections(plan, its.terms(config, drawn, "1")))
    if name not in UNCHECKED and (name in PACKS or not isinstance(its, ContractKind)):
        seen = its.check(config, plan, folder)
        found["check"] = {**asdict(seen), "own": [section.to_dict() for section in seen.own]}
    if name in PACKS:
        outcome = PublicOutcome(**public_parts(read_folder(pack(name), field="pack", tables=False).files))
        found |= _sections("result", its.result(plan, outcome))
        found["tables"] = {title: _columns(table) for title, table in its.tables(plan, outcome).items()}
        found |= _sections("share of nobody", its.explain(plan, outcome, None, 0))
        for path in own_files(name)[:1]:
            own = json.loads(path.read_text(encoding="utf-8"))
            parsed = its.parse_record(config, plan, own["id"], own["record"])
            found |= _sections("share", its.explain(plan, outcome, *parsed))
    return found


def _sections(page: str, sections: Sequence[Section]) -> Iterator[tuple[str, Any]]:
    for place, section in enumerate(sections, 1):
        yield f"{page} {place}: {section.title}", section.to_dict()


def _columns(table: pa.Table) -> dict[str, Any]:
    return {"rows": table.num_rows, "first": table.slice(0, 50).to_pydict()}


def digests(found: Mapping[str, Any]) -> dict[str, str]:
    """What -> the first 16 digits of the SHA-256 of its content, numbers rounded.

    Args:
        found: what -> content.
    """
    return {what: digest(canonical(_rounded(content)))[:16] for what, content in found.items()}


def _rounded(it: Any) -> Any:
    """A content as JSON of which every machine makes the same."""
    if isinstance(it, Mapping):
        return {str(name): _rounded(value) for name, value in it.items()}
    if isinstance(it, Sequence) and not isinstance(it, str | bytes):
        return [_rounded(value) for value in it]
    if it is None or isinstance(it, str | bool):
        return it
    return f"{it:.{_DIGITS}g}" if isinstance(it, float) else str(it)


def names() -> list[str]:
    """All golden campaigns of confide's own kinds."""
    own = set(kind_names())
    return sorted(name for name, file in FOUND["files"].items() if file["kind"] in own)


def main(folder: Path | None) -> None:
    """Write the digests, or the contents into a folder."""
    found = {f"kind {name}": of_kind(name) for name in sorted(kind_names())}
    found |= {name: of_campaign(name) for name in names()}
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, contents in found.items():
            text = json.dumps(_rounded(contents), indent=1, ensure_ascii=False)
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
        return
    text = json.dumps({name: digests(contents) for name, contents in found.items()}, indent=1, ensure_ascii=False)
    SHOWN.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[2]) if sys.argv[1:2] == ["--full"] else None)

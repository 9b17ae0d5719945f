"""Outcomes of mechanisms as printed that confide 0.1.0 saved, in words that no mechanism takes any more."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from confide import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract import InvalidInput, Privacy, canonical
from confide.contract.encoding import decode, encode
from confide.contract.outcome import Provenance
from confide.contract.outcome_folder import known_types, rebuild
from confide.contract.upgrades import upgraded
from confide.evidence.cummings_2015 import PrintedRidge, PrintedTruthfulRegression
from confide.evidence.wu_2017.query_release import PrintedDualQuery, PrintedIntegerProgram
from confide.release import DualQuery, LocalSearch

FOLDER = Path(__file__).parents[1] / "golden" / "printed_by_9376621e"
FOUND: dict[str, Any] = json.loads((FOLDER / "found.json").read_text(encoding="utf-8"))
"""What 9376621e said: see `tests/golden/make_printed.py`."""

each_file = pytest.mark.parametrize("name", sorted(FOUND))


def loaded(folder: Path, name: str) -> Any:
    """A released or a simulated outcome."""
    return (Outcome if FOUND[name]["release_safe"] else SimulatedOutcome).load(folder)


def test_every_word_has_its_class() -> None:
    found = {name: loaded(FOLDER / name, name).mechanism for name in FOUND}
    assert {name: type(it) for name, it in found.items()} == {
        "regression_released": PrintedTruthfulRegression, "regression_simulated": PrintedTruthfulRegression,
        "dual_query_literal": PrintedDualQuery, "dual_query_program": DualQuery,
        "dual_query_parities": PrintedDualQuery,
    }
    assert {type(found[f"regression_{each}"].release) for each in ("released", "simulated")} == {PrintedRidge}
    oracles = {name: it.oracle for name, it in found.items() if isinstance(it, DualQuery)}
    assert oracles["dual_query_literal"] == LocalSearch()
    assert oracles["dual_query_program"] == PrintedIntegerProgram(time_limit=60.0)
    assert oracles["dual_query_parities"] == PrintedIntegerProgram(time_limit=60.0, search=None, literal=True)


@each_file
def test_a_printed_outcome_is_read_for_ever(name: str) -> None:
    """Its numbers, its shares, its promises of privacy, and that its billboard contradicts no rule of its mechanism."""
    outcome, then = loaded(FOLDER / name, name), FOUND[name]
    assert outcome.release_safe == then["release_safe"]
    assert outcome.shares.to_pylist() == then["shares"]
    assert [f"{type(each.loss).__name__} {each.part}" for each in outcome.guarantees.of(Privacy)
            if each.claimable] == then["losses"]
    outcome.mechanism.check(outcome.billboard)
    said = json.loads((FOLDER / name / "manifest.json").read_bytes())
    now, columns = outcome.public()
    assert canonical(now["billboard"]) == canonical(said["billboard"])
    assert canonical(now["mechanism"]) == canonical(upgraded(said["mechanism"], known_types(said), "type"))
    assert {f"{each}.arrow" for each in columns} == {path.name for path in (FOLDER / name / "columns").iterdir()}


@each_file
def test_it_is_decoded_and_kept_as_stores_keep_it(name: str, tmp_path: Path) -> None:
    """From bytes, as a store holds them; and saved again, in the words of today."""
    outcome, folder = loaded(FOLDER / name, name), FOLDER / name
    if FOUND[name]["release_safe"]:
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
                 if path.is_file() and "shares" not in path.parts}
        (shares,) = (folder / "shares").glob("*.arrow")
        assert Outcome(**rebuild(files, shares.read_bytes())).to_dict() == outcome.to_dict()
        shutil.copytree(folder, tmp_path / "pack", ignore=shutil.ignore_patterns("shares"))
        assert PublicOutcome.load(tmp_path / "pack").to_dict() == outcome.to_dict()
    outcome.save(tmp_path / "again")
    again = loaded(tmp_path / "again", name)
    assert again.to_dict() == outcome.to_dict()
    assert again.shares.equals(outcome.shares)
    assert type(again.mechanism) is type(outcome.mechanism)


def test_a_participant_decodes_their_share() -> None:
    import numpy as np

    angles = 2 * np.pi * np.arange(12) / 12  # the made-up people of `make_printed.py`
    features = 0.9 * np.column_stack([np.cos(angles), np.sin(angles)])
    answers = features @ [0.5, -0.5] + 0.1 * np.cos(3 * angles)
    for name in ("regression_released", "regression_simulated"):
        outcome = loaded(FOLDER / name, name)
        shares = [outcome.mechanism.decode((features[i], answers[i]), i, outcome.billboard) for i in range(12)]
        assert [each["payment"] for each in shares] == [each["payment"] for each in FOUND[name]["shares"]]
        assert len({each["payment"] for each in shares}) > 1


def test_other_values_are_no_printed_mechanisms() -> None:
    """Of a stranger's file: 1 is not true, and no other name is imported."""
    said = json.loads((FOLDER / "dual_query_literal" / "manifest.json").read_bytes())
    assert set(known_types(said)) - set(known_types({"mechanism": {"type": "DualQuery"}})) == {"PrintedDualQuery"}
    said["mechanism"]["literal"] = 1
    assert "PrintedDualQuery" not in known_types(said)
    columns = {path.stem: path.read_bytes() for path in (FOLDER / "dual_query_literal" / "columns").iterdir()}
    with pytest.raises(InvalidInput, match="literal"):
        decode(said["mechanism"], known_types(said), columns)
    with pytest.raises(InvalidInput, match="belongs to no installed kind"):
        known_types({"mechanism": {"type": "PrintedNothing"}})
    with pytest.raises(InvalidInput, match="belongs to no installed kind"):
        known_types({"mechanism": {"type": "PrintedRidge"}})
    here = Provenance.here("secure")
    assert decode(encode(here, {}), known_types({"mechanism": {"type": "DualQuery"}}), {}) == here


def test_without_the_evidence_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confide.evidence.wu_2017.query_release", None)
    with pytest.raises(InvalidInput, match=r"PrintedDualQuery cannot be read, since confide\.evidence is not"):
        Outcome.load(FOLDER / "dual_query_literal")

"""Outcomes on disk: what is public, what is not, and that what is read is what was written."""

from __future__ import annotations

import json
import pickle
import stat
from copy import copy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import confide
from campaign.small import records, tiny, tree
from confide.contract import (
    Billboard,
    InvalidInput,
    Outcome,
    Provenance,
    PublicOutcome,
    SimulatedOutcome,
    canonical,
    digest,
)
from confide.contract import outcome as outcomes
from confide.contract.encoding import column_bytes, table_from_bytes
from confide.contract.outcome import as_billboard
from confide.privacy.noise import Noise
from confide.regression import PrivateTruthfulRegression, RegressionBillboard

PLANS = {name: tiny(release=name) for name in ("ridge", "averaged", "sufficient statistics")}
PACKS = Path(__file__).parents[1] / "golden" / "made_by_9376621e" / "packs"
MARKED = 0.123456789012345  # one person's answer, easy to find in bytes


def _data() -> tuple[np.ndarray, np.ndarray]:
    X, y = records()
    y[7] = MARKED
    X[7, 0] = -MARKED
    return X, y


def _settled(name: str = "ridge") -> Outcome:
    outcome = PLANS[name].mechanism.run(_data(), Noise.secure())
    assert isinstance(outcome, Outcome)
    return outcome


def _simulated() -> SimulatedOutcome:
    outcome = PLANS["ridge"].mechanism.run(_data(), Noise.simulated(3))
    assert isinstance(outcome, SimulatedOutcome)
    return outcome


@pytest.mark.parametrize("name", PLANS)
def test_a_settled_outcome_comes_back(name: str, tmp_path: Path) -> None:
    outcome = _settled(name)
    outcome.save(tmp_path / "out")
    back = Outcome.load(tmp_path / "out")
    assert back.mechanism == outcome.mechanism
    assert isinstance(back.mechanism, PrivateTruthfulRegression)
    assert back.shares.equals(outcome.shares)
    assert back.guarantees.to_dict() == outcome.guarantees.to_dict()
    assert back.provenance == outcome.provenance
    assert back.certificate is None
    assert back.release_safe is True
    for item in fields(outcome.billboard):
        mine, theirs = getattr(outcome.billboard, item.name), getattr(back.billboard, item.name)
        assert np.array_equal(mine, theirs), item.name
        assert type(mine) is type(theirs), item.name
    # The public part is the same bytes again, so a digest of it is a digest of the outcome.
    mine, theirs = outcome.public(), back.public()
    assert canonical(mine[0]) == canonical(theirs[0])
    assert mine[1] == theirs[1]
    back.save(tmp_path / "again")
    assert tree(tmp_path / "again") == tree(tmp_path / "out")


def test_types_in_brackets_change_nothing_at_run_time(tmp_path: Path) -> None:
    outcome = _settled()
    outcome.save(tmp_path / "out")
    read = PublicOutcome[RegressionBillboard, None].load(tmp_path / "out")
    assert type(read) is PublicOutcome
    assert read.to_dict() == PublicOutcome.load(tmp_path / "out").to_dict() == outcome.to_dict()
    assert isinstance(outcome, Outcome)
    assert type(outcome) is Outcome
    assert pickle.loads(pickle.dumps(outcome.mechanism)) == outcome.mechanism


def test_a_loaded_outcome_pays_the_same(tmp_path: Path) -> None:
    X, y = _data()
    _settled().save(tmp_path)
    back = Outcome.load(tmp_path)
    paid = back.shares["payment"].to_pylist()
    for index in range(0, len(y), 7):
        assert back.mechanism.decode((X[index], y[index]), index, back.billboard) == {"payment": paid[index]}


def test_a_simulated_outcome_comes_back_as_one(tmp_path: Path) -> None:
    outcome = _simulated()
    outcome.save(tmp_path)
    back = SimulatedOutcome.load(tmp_path)
    assert back.release_safe is False
    assert back.shares.equals(outcome.shares)
    assert back.provenance.noise == "simulated"
    assert json.loads((tmp_path / "manifest.json").read_bytes())["release_safe"] is False


def test_the_wrong_type_is_refused(tmp_path: Path) -> None:
    _settled().save(tmp_path / "settled")
    _simulated().save(tmp_path / "study")
    with pytest.raises(InvalidInput, match="a released outcome"):
        SimulatedOutcome.load(tmp_path / "settled")
    with pytest.raises(InvalidInput, match="a simulated outcome"):
        Outcome.load(tmp_path / "study")


def test_a_relabelled_outcome_is_refused(tmp_path: Path) -> None:
    _simulated().save(tmp_path / "study")
    _rewrite(tmp_path / "study", lambda manifest: {**manifest, "release_safe": True})
    with pytest.raises(InvalidInput, match="the label does not fit the"):
        Outcome.load(tmp_path / "study")
    _settled().save(tmp_path / "settled")
    _rewrite(tmp_path / "settled", lambda manifest: {**manifest, "release_safe": False})
    with pytest.raises(InvalidInput, match="the label does not fit the"):
        SimulatedOutcome.load(tmp_path / "settled")


def test_the_public_part_holds_nothing_of_the_shares(tmp_path: Path) -> None:
    outcome = _settled()
    outcome.save(tmp_path)
    files = tree(tmp_path)
    private = {name: data for name, data in files.items() if name.startswith("shares/")}
    public = {name: data for name, data in files.items() if name not in private}
    assert set(public) == {"manifest.json", *(f"columns/{name}.arrow" for name in outcome.public()[1])}
    assert len(private) == 2
    shares = column_bytes(outcome.shares)
    payments = outcome.shares["payment"].to_numpy()
    needles = [
        digest(shares).encode(), shares, payments.tobytes(), payments.astype(float).tobytes(),
        np.float64(MARKED).tobytes(), np.float64(-MARKED).tobytes(), repr(MARKED).encode(), b"payment\"",
        str(int(payments.sum())).encode(),
    ]
    text = public["manifest.json"]
    needles[-2:] = [b'"shares"', b'"payment":[']  # no key of that name, no list of amounts
    for name, data in public.items():
        for needle in needles:
            assert needle not in data, (name, needle)
    # Every column that lies there is named by the manifest, and the other way round.
    named = {item["column"] for item in _columns(json.loads(text))}
    assert {f"columns/{name}.arrow" for name in named} == set(public) - {"manifest.json"}
    lengths = {len(table_from_bytes(data)) for name, data in public.items() if name != "manifest.json"}
    assert len(payments) not in lengths


def _columns(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for item in value for found in _columns(item)]
    if isinstance(value, dict):
        return [value] if "column" in value else [found for item in value.values() for found in _columns(item)]
    return []


def test_a_stray_line_shows_nothing_of_the_shares() -> None:
    outcome = _settled()
    assert len(repr(outcome)) < 200
    assert "payment" not in repr(outcome)


def test_to_dict_is_the_manifest(tmp_path: Path) -> None:
    outcome = _settled()
    outcome.save(tmp_path)
    assert canonical(outcome.to_dict()) == (tmp_path / "manifest.json").read_bytes()
    assert set(outcome.to_dict()) == {"format", "release_safe", "mechanism", "billboard", "certificate", "guarantees",
                                      "meter", "provenance"}


def test_the_shares_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    outcome = _settled()
    outcome.save(tmp_path / "new")
    (tmp_path / "old" / "shares").mkdir(parents=True)
    (tmp_path / "old" / "shares").chmod(0o755)  # left behind by somebody careless
    outcome.save(tmp_path / "old")
    for folder in ("new", "old"):
        assert stat.S_IMODE((tmp_path / folder / "shares").stat().st_mode) == 0o700


def test_a_folder_with_an_outcome_is_refused(tmp_path: Path) -> None:
    outcome = _settled()
    outcome.save(tmp_path)
    before = tree(tmp_path)
    for other in (outcome, _simulated()):
        with pytest.raises(InvalidInput, match="already holds an outcome"):
            other.save(tmp_path)
    assert tree(tmp_path) == before


def test_diagnostics_are_for_simulations_alone() -> None:
    mechanism = PLANS["ridge"].mechanism
    outcome = _settled()
    common = {"billboard": outcome.billboard, "shares": outcome.shares, "diagnostics": {"error": 0.5}}
    assert not hasattr(mechanism._outcome(Noise.secure(), **common), "diagnostics")
    assert mechanism._outcome(Noise.simulated(1), **common).diagnostics == {"error": 0.5}
    assert "error" not in mechanism._outcome(Noise.simulated(1), **common).to_dict()


# ---- folders that hold something else


def _rewrite(folder: Path, change: Any) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    path.write_text(json.dumps(change(manifest)))


@pytest.mark.parametrize(("change", "match"), [
    (lambda m: {**m, "format": 2}, "format"),
    (lambda m: {k: v for k, v in m.items() if k != "format"}, "format"),
    (lambda m: {k: v for k, v in m.items() if k != "billboard"}, "missing keys: billboard"),
    (lambda m: {**m, "mechanism": 3}, "has no type"),
    (lambda m: {**m, "mechanism": {**m["mechanism"], "type": "Market"}}, "no installed kind"),
    (lambda m: {**m, "billboard": {**m["billboard"], "type": "Popen"}}, "not a type of this kind"),
    (lambda m: {**m, "billboard": {**m["billboard"], "more": 1}}, "cannot be rebuilt"),
    (lambda m: {**m, "mechanism": {**m["mechanism"], "payment": {**m["mechanism"]["payment"], "epsilon": -1}}},
     "epsilon"),
    (lambda m: [m], "must be an object"),
    (lambda m: {**m, "release_safe": 1}, "is neither true nor false"),
], ids=range(10))
def test_an_altered_manifest_is_refused(change: Any, match: str, tmp_path: Path) -> None:
    _settled().save(tmp_path)
    _rewrite(tmp_path, change)
    with pytest.raises(InvalidInput, match=match):
        Outcome.load(tmp_path)


@pytest.mark.parametrize("part", ["columns", "shares"])
def test_an_altered_file_is_refused(part: str, tmp_path: Path) -> None:
    _settled().save(tmp_path)
    victim = next((tmp_path / part).glob("*.arrow"))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(bytes(data))
    with pytest.raises(InvalidInput, match="altered"):
        Outcome.load(tmp_path)


def test_a_folder_without_an_outcome_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no outcome"):
        Outcome.load(tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_text("not json")
    with pytest.raises(InvalidInput, match=r"manifest\.json cannot be read: line 1, column \d+: is not JSON"):
        Outcome.load(tmp_path)
    _settled().save(tmp_path / "there")
    (tmp_path / "there" / "shares" / "manifest.json").write_text("[]")
    with pytest.raises(InvalidInput, match=r"shares/manifest\.json cannot be read"):
        Outcome.load(tmp_path / "there")


def test_versions_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than many a mechanism, and no version changes while a process lives."""
    first = Provenance.here("secure")
    monkeypatch.setattr(outcomes, "version", None)
    assert Provenance.here("secure") == first
    assert Provenance.here("simulated").parts == first.parts


def test_provenance_names_versions_and_noise() -> None:
    here = Provenance.here("secure")
    assert here.confide == confide.__version__  # of the code, whatever pip noted of an earlier checkout
    assert set(here.parts) == {"numpy", "scipy", "pyarrow", "opendp", "python-flint"}
    assert "absent" not in here.parts.values()
    assert here.parts["numpy"] == np.__version__
    assert here.parts["pyarrow"] == pa.__version__
    assert replace(here, noise="simulated").noise == "simulated"


def test_a_secure_run_has_no_diagnostics_and_says_why(tmp_path: Path) -> None:
    outcome = _settled()
    outcome.save(tmp_path / "out")
    for it in (outcome, PublicOutcome.load(tmp_path / "out"), copy(outcome)):
        assert not hasattr(it, "diagnostics")
        assert getattr(it, "diagnostics", None) is None
        with pytest.raises(AttributeError, match="simulated noise only"):
            it.diagnostics  # type: ignore[union-attr]  # noqa: B018
        with pytest.raises(AttributeError, match="has no attribute 'diagnostic'"):
            it.diagnostic  # type: ignore[union-attr]  # noqa: B018
    assert isinstance(_simulated().diagnostics, dict)


def test_what_is_no_billboard_is_reported_so() -> None:
    outcome = _settled()
    assert as_billboard(outcome.billboard) is outcome.billboard
    for given, name in ((outcome, "Outcome"), (None, "None"), ({}, "dict")):
        with pytest.raises(InvalidInput, match=f"{name} is not a billboard; give the published billboard of the run"):
            as_billboard(given)


@dataclass(frozen=True, kw_only=True, eq=False)
class Published(Billboard):
    """Of this test."""

    counts: np.ndarray
    level: float
    name: str
    bound: float | None = None


def test_a_billboard_shows_a_small_table_of_what_is_public() -> None:
    """Long arrays by their shape and first numbers, long texts cut, nothing that steers a page or a terminal."""
    board = Published(counts=np.arange(2000).reshape(1000, 2), level=0.25, name="<b>\x1b" + "a" * 100)
    assert repr(board).splitlines() == [
        "Published, public", "field   value", "counts  int64 (1000, 2): 0, 1, 2, 3, 4, 5, ...", "level   0.25",
        "name    <b>\\x1b" + "a" * 53 + "...", "bound   none"]
    shown = board._repr_html_()
    assert "<td>counts</td><td>int64 (1000, 2): 0, 1, 2, 3, 4, 5, ...</td>" in shown
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


@pytest.mark.parametrize("pack", sorted(path.parent.name for path in PACKS.glob("*/manifest.json")
                                        if not path.parent.name.startswith("histogram")))  # of a kind in examples/
def test_every_billboard_shows_itself(pack: str) -> None:
    """In a notebook as a table with a row for each field; in a terminal in few lines, however long the arrays are."""
    board = Billboard.load(PACKS / pack)
    names = [each.name for each in fields(board)]
    assert [f"<td>{name}</td>" in board._repr_html_() for name in names] == [True] * len(names)
    assert len(repr(board)) < 200 * (len(names) + 2)

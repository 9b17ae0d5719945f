"""What is wrong in a package with a kind of one's own is said with package, file and line, before a record is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import Field

from confide.audit import Verdict
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.worst_case_neighbours import interior
from confide.campaign import Campaign
from confide.campaign.kinds import MechanismPlan, PeoplesKind, PeoplesTables, SlotRows
from confide.campaign.kinds.mechanism_plan import made_up
from confide.cli.app import app
from confide.cli.failures import guarded
from confide.contract import Billboard, Guarantees, InvalidInput, Keys, Mechanism, Privacy, Relation, Source, kind
from confide.contract.guarantees import Accuracy, Audience, Budget, Guarantee
from confide.contract.kinds import summaries
from confide.contract.running import written
from confide.privacy import PureDP
from confide.privacy.events import PureEvent
from confide.tables import Category, Measured, Numeric
from people.own_packages import CODE, installed_histogram, installed_module

SOURCE = Source(document="a", statement="b")
AGE = Numeric(column="age", lower=20, upper=60)


# ---- packages that cannot be imported

BROKEN = {
    "import": ("import nowhere_to_be_found\n", "ModuleNotFoundError at __init__.py:1: No module named 'nowhere"),
    "syntax": ("x = 1\ndef f(:\n", "SyntaxError at __init__.py:2: "),
    "attribute": ("import math\n\n\nKIND = math.pie\n", "AttributeError at __init__.py:4: "),
    "no such name": ("OTHER = 1\n", "AttributeError at "),
    "exit": ("raise SystemExit('no')\n", "SystemExit at __init__.py:1: no"),
    "no kind": ("KIND = 1\n", "does not name a Kind; missing: name, summary, template"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_package_that_cannot_be_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, says = BROKEN[name]
    (tmp_path / "code.py").write_text(code)
    with installed_module(tmp_path / "code.py", "broken_package", {"broken": "broken_package:KIND"}, tmp_path / "site",
                          monkeypatch):
        with pytest.raises(InvalidInput) as caught:
            kind("broken")
        assert "the package broken_package (broken_package:KIND)" in str(caught.value)
        assert says in str(caught.value)
        assert guarded(partial(app, ["kinds"])) == 0  # goes on
        shown = " ".join(capsys.readouterr().out.split())
        assert says in shown
        assert "regression" in shown
        assert guarded(partial(app, ["kinds", "--json"])) == 0
        found = json.loads(capsys.readouterr().out)
        assert list(found["broken"]) == ["broken"]
        assert "search" in found["kinds"]
        (tmp_path / "it.toml").write_text('format = 1\nkind = "broken"\ntitle = "t"\n')
        assert guarded(partial(app, ["plan", str(tmp_path / "it.toml")])) == 2
        assert says in capsys.readouterr().err


def test_all_kinds_of_the_house_can_be_used() -> None:
    sound, broken = summaries()
    assert broken == {}
    assert "regression" in sound


# ---- what fails when a campaign is planned


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with installed_histogram(tmp_path / "site", monkeypatch):
        (tmp_path / "commute.toml").write_text(kind("histogram").template)
        yield tmp_path / "commute.toml"


EDITS = {
    "plan": ("it = NoisyHistogram(people=", "it = NoisyHistogram(persons=", "`plan` of HistogramKind fails: TypeError"),
    "columns": ("levels=config.question.levels),)", "levels=config.question.level),)", "fails: AttributeError at __"),
    "constructor": ('    failure_probability: float\n',
                    '    failure_probability: float\n\n    def __post_init__(self) -> None:\n        1 // 0\n',
                    "`plan` of HistogramKind fails: ZeroDivisionError at __init__.py:"),
    "guarantees": ("loss=PureDP(self.epsilon)", "loss=PureDP(self.epsilom)",
                   "`guarantees` of HistogramKind fails: AttributeError at __init__.py:"),
    "events": ("PureEvent(epsilon=self.epsilon,", "PureEvent(epsilon=self.epsilom,",
               "`events` of HistogramKind fails: AttributeError at __init__.py:"),
}


@pytest.mark.parametrize("what", EDITS)
def test_faults_before_any_record_is_read(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, broken, says = EDITS[what]
    code = CODE.read_text(encoding="utf-8")
    assert sound in code
    (tmp_path / "code.py").write_text(code.replace(sound, broken))
    with installed_module(tmp_path / "code.py", "private_histogram", {"histogram": "private_histogram:KIND"},
                          tmp_path / "site", monkeypatch):
        (tmp_path / "commute.toml").write_text(kind("histogram").template)
        with pytest.raises(InvalidInput) as caught:
            _ = Campaign.load(tmp_path / "commute.toml").plan
    assert says in str(caught.value)
    assert "no record was read" in str(caught.value)


@pytest.mark.parametrize(("promise", "says"), [
    (Accuracy(source=SOURCE, bound=float("nan"), measure="x"), "bound of a promise of accuracy is not a number"),
    (Budget(source=SOURCE, expected=1.0, lowest=float("nan"), highest=1.0), "lowest of a promise of budget"),
    (Accuracy(source=SOURCE, bound=1.0, measure="x", failure_probability=float("nan")), "failure_probability of"),
])
def test_a_bound_that_is_no_number(promise: Guarantee, says: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import private_histogram as package

    true = package.NoisyHistogram.guarantees
    monkeypatch.setattr(package.NoisyHistogram, "guarantees", lambda it: Guarantees((*true(it), promise)))
    with pytest.raises(InvalidInput, match=says):
        _ = Campaign.load(path).plan


def test_a_small_campaign_that_fails_in_any_way_is_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import private_histogram as package

    true = package.HistogramKind.plan
    monkeypatch.setattr(package.HistogramKind, "plan",
                        lambda it, config: true(it, config) if config.people.count > 1500 else [][config.people.count])
    path.write_text(path.read_text().replace("count = 500 ", "count = 2000 "))
    file: Any = Campaign.load(path).file
    trials = made_up(file.kind, file.config, file.kind.plan(file.config))
    assert [trial.config.people.count for trial in trials] == [2000, 2000]
    _ = Campaign.load(path).plan


# ---- shares


TABLE = pa.table({"x": [1.5, 0.0], "deep": [{"a": [1.0]}, {"a": [2.0]}], "rows": [[[1, 2]], [[3, 4]]]})


@pytest.mark.parametrize("share", [
    {"x": 0, "deep": {"a": [2]}, "rows": [[3, 4]]},
    {"x": np.float32(0), "deep": {"a": np.array([2.0])}, "rows": np.array([[3, 4]])},
    {"rows": ((np.int8(3), 4),), "deep": {"a": (np.float64(2),)}, "x": 0.0},
])
def test_shares_are_alike_where_the_table_says_so(share: dict[str, Any]) -> None:
    assert written(share, TABLE.schema) == written(TABLE.slice(1, 1).to_pylist()[0], TABLE.schema)


@pytest.mark.parametrize("share", [
    {"x": 1e-300, "deep": {"a": [2]}, "rows": [[3, 4]]}, {"x": -0.0, "deep": {"a": [2]}, "rows": [[3, 4]]},
    {"x": 0, "deep": {"a": [2]}, "rows": [[3, 4.5]]}, {"x": 0, "deep": {"a": [2]}},
    {"x": "0", "deep": {"a": [2]}, "rows": [[3, 4]]}, {"x": None, "deep": {"a": [2]}, "rows": [[3, 4]]},
    {"x": 0, "deep": {"a": [2]}, "rows": [[3, 4]], "more": 1},
])
def test_other_shares_are_distinguished(share: dict[str, Any]) -> None:
    assert written(share, TABLE.schema) != written(TABLE.slice(1, 1).to_pylist()[0], TABLE.schema)


# ---- numbers between the ends


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    total: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Total(Mechanism):
    """A noisy total of numbers in [-1, 1]; a share is what she has said herself.

    Args:
        between: what a decode makes of a number between the ends.
    """

    people: int
    between: float = 0.0

    def guarantees(self) -> Guarantees:
        return Guarantees((Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                                   source=SOURCE),))

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=1.0, neighbours=Relation.REPLACE),)

    def run(self, data: Any, noise: Any) -> Any:
        own = np.zeros(self.people)
        for batch in data:
            own[batch.index] = batch.cells[:, 0]
        total = noise.laplace(2.0, 1, stream="total", center=[own.sum()])
        return self._outcome(noise, billboard=Board(total=total), shares=pa.table({"own": own}))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        if record is None:
            return {"own": 0}  # a whole number in a column of others
        return {"own": float(record[0]) + (self.between if abs(record[0]) < 1 else 0)}


class Spent(Keys):
    between: float = Field(default=0.0)


class Tables(PeoplesTables):
    privacy: Spent = field(default_factory=Spent)


class TotalKind(PeoplesKind):
    name = "total"
    summary = "a total"
    template = ""
    config = Tables
    types = {each.__name__: each for each in (Total, Board)}  # noqa: RUF012

    def columns(self, config: Any) -> tuple[Numeric]:
        return (AGE,)

    def plan(self, config: Any) -> MechanismPlan:
        return MechanismPlan(config=config, mechanism=Total(people=config.people.count), roles=self.columns(config))


def test_made_up_people_have_numbers_between_the_ends() -> None:
    inside = interior((AGE, Category(column="b", levels=("no", "yes")), Measured(column="c")), 3)
    assert all(-1 < row[0] < 1 and row[1] in (0, 1) and abs(row[2]) < 1e6 for row in inside)
    assert len({row[0] for row in inside}) == len(inside) == 3
    assert interior((Category(column="b", levels=("no", "yes")),), 3) == []


@pytest.mark.slow
def test_a_decode_that_is_wrong_between_the_ends_is_found_by_the_audit() -> None:
    sound, broken = (audit_mechanism(Total(people=20, between=each), (AGE,), 20, seed=1, tries=0) for each in (0, 1e-9))
    (row, other) = (next(r for r in found.rows if r.unit == "shares") for found in (sound, broken))
    assert (row.verdict, other.verdict) == (Verdict.KEPT, Verdict.BROKEN)


def test_batches_of_a_trial_have_them() -> None:
    class People:
        count = 20

    class Config:
        people = People

    plan = MechanismPlan(config=Config, mechanism=Total(people=20), roles=(AGE,))
    _, crowd = made_up(TotalKind(), Config, plan)
    cells = np.concatenate([batch.cells[:, 0] for batch in crowd.batches])
    assert ((cells > -1) & (cells < 1)).any()
    assert {-1.0, 1.0} <= set(cells.tolist())


def test_the_page_of_a_share_says_that_it_may_be_the_decode() -> None:
    from confide.campaign.kinds.mechanism_plan import explain_sections
    from confide.privacy.noise import Noise

    it = Total(people=20)
    outcome = it.run([SlotRows(np.array([3]), np.array([[0.5]]))], Noise.simulated(1))
    (section,) = explain_sections(outcome, np.array([0.5]), 3, "it", "it")
    assert "another share" not in str(section.to_dict())
    other = replace(it, between=1.0)
    outcome = replace(outcome, mechanism=other)
    (section,) = explain_sections(outcome, np.array([0.5]), 3, "it", "it")
    assert "Either this row was changed after the settlement, or the mechanism's `decode`" in str(section.to_dict())

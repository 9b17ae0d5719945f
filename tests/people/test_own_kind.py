"""A researcher's own mechanism, as a package of its own: short, installed beside confide, and led through its life."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from campaign.forging import words
from cli.commands import CONFIDE
from confide.audit import exact_audit
from confide.campaign import Campaign, Store, verify
from confide.campaign.kinds import SlotRows
from confide.cli.failures import guarded
from confide.contract import Accuracy, InvalidInput, kind
from confide.contract.offering import unanswered
from confide.contract.presentation import Section, Text
from confide.privacy import PureDP
from confide.privacy.noise import ForcedNoise, Noise
from people.own_packages import CODE, WAYS, installed_histogram


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As `pip install --target` leaves it: the package, and a dist-info with its entry points."""
    with installed_histogram(tmp_path / "site", monkeypatch) as found:
        yield found


@pytest.fixture
def path(installed: Path, tmp_path: Path) -> Path:
    """A campaign of 500 people, some of whom answer what is not asked."""
    rows = [f"{i},{WAYS[i % 3]}" for i in range(1, 451)]
    rows[6] = "7,by air"
    (tmp_path / "answers.csv").write_text("id,way\n" + "\n".join(rows) + "\n")
    (tmp_path / "commute.toml").write_text(kind("histogram").template)
    return tmp_path / "commute.toml"


Call = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: object) -> tuple[int, str]:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        return code, capsys.readouterr().out

    return call


def test_it_is_short() -> None:
    """Everything counted: mechanism, tables, kind, campaign file, blank lines."""
    assert len(CODE.read_text(encoding="utf-8").splitlines()) < 150


def test_a_charge_below_the_promise_is_refused_before_anything_happens(
    path: Path, run: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mechanism says itself what it is charged for: at 10^-9 for epsilon 50 no budget would ever be spent."""
    path.write_text(path.read_text().replace("\nepsilon = 1.0\n", "\nepsilon = 50.0\n"))
    mechanism = type(Campaign.load(path).file.kind.plan(Campaign.load(path).file.config).mechanism)
    true = mechanism.events
    monkeypatch.setattr(mechanism, "events", lambda it: tuple(replace(each, epsilon=1e-9) for each in true(it)))
    for verb in ("plan", "run", "audit"):
        assert run(verb, path)[0] == 2
    with pytest.raises(InvalidInput, match="cost epsilon 1e-09, and epsilon = 50 is promised to the public"):
        _ = Campaign.load(path).plan
    assert Store.existing() is None  # nothing was charged, and no record was read


def test_shares_reach_no_table_and_no_page(path: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """What people got, summed up, is an equation on their answers: a kind that wants to publish it is not charged."""
    it = type(Campaign.load(path).file.kind)

    def paid(outcome: Any) -> int:
        return sum(outcome.shares["same_answer"].to_pylist())

    def in_a_table(_: Any, plan: Any, outcome: Any) -> Any:
        return {"paid": pa.table({"all": [paid(outcome)]})}

    def on_the_page(_: Any, plan: Any, outcome: Any) -> Any:
        return [Section(title="Paid", blocks=(Text(str(paid(outcome))),))]

    for name, leak in (("tables", in_a_table), ("result", on_the_page)):
        with monkeypatch.context() as leaking:
            leaking.setattr(it, name, leak)
            for verb in ("plan", "run"):
                assert run(verb, path)[0] == 2
            with pytest.raises(InvalidInput, match="'PublicOutcome' object has no attribute 'shares'"):
                _ = Campaign.load(path).plan
    assert Store.existing() is None


def test_its_whole_life_by_the_command_line(path: Path, run: Call, tmp_path: Path) -> None:
    assert "histogram" in run("kinds")[1]
    code, plan = run("plan", path)
    assert code == 0
    assert "epsilon = 1" in plan
    assert "Ghosh" in plan
    assert "way: must be one of bus, bicycle, car, on foot" in " ".join(run("offer", path)[1].split())
    code, looked = run("check", path)
    assert code == 0
    assert "by air" not in looked  # what is wrong is said in public terms
    assert "way: is not a level" in " ".join(looked.split())
    code, shown = run("run", path)
    assert code == 0
    assert "on foot" in shown
    campaign = Campaign.load(path)
    board = campaign.settled().billboard
    assert board.answer == WAYS
    assert np.abs(board.people - [150, 149, 150, 0]).max() <= 60  # e^-30 that it is not
    said = json.loads(run("share", path, "--id", 4, "--json")[1])
    assert said["sections"][0]["blocks"][0]["rows"] == [["same answer", int(board.people[1])]]
    own = run("share", path, "--id", 4, "--record", "way=bicycle", "--out", campaign.default_folder)
    assert own[0] == 0
    assert "no usable record" in " ".join(run("share", path, "--id", 7)[1].split())
    code, audited = run("audit", path)
    assert code == 0
    assert "half the noise" in audited
    assert "NO" not in audited.split()
    assert run("verify", campaign.default_folder)[0] == 0
    assert "commuters" in run("ledger")[1]
    with Store() as store:
        (account,) = store.ledger("commuters")
    assert account.filter.spent == PureDP(1.0)
    assert verify(campaign.default_folder).passed
    assert run("run", path, "--noise", "simulated", "--seed", 7, "--out", tmp_path / "study")[0] == 0


def test_a_study_compares_the_tables_that_the_kind_makes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides come from the kind's own `tables`, also where the noise decides how many rows there are."""
    it = type(Campaign.load(path).file.kind)

    def shares_of_all(_: Any, plan: Any, outcome: Any) -> Any:
        return {"shares": pa.table({"way": outcome.billboard.answer, "share": outcome.billboard.people / 500})}

    def common_ways(_: Any, plan: Any, outcome: Any) -> Any:
        return {"common": pa.table({"way": [way for way, people in zip(
            outcome.billboard.answer, outcome.billboard.people, strict=True) if people != 0]})}

    def compared(name: str) -> tuple[Any, ...]:
        _, (section,) = Campaign.load(path).study(7, tmp_path / name, accept_unusable=True)
        return section.blocks

    with monkeypatch.context() as other:
        other.setattr(it, "tables", shares_of_all)
        (table,) = compared("shares")
        assert table.columns == ("way", "share", "share without noise")
        assert [row[2] for row in table.rows] == [150 / 500, 149 / 500, 150 / 500, 0.0]
        assert [row[1] for row in table.rows] != [row[2] for row in table.rows]
    with monkeypatch.context() as other:
        other.setattr(it, "tables", common_ways)
        released, true = compared("common")
        assert [row[0] for row in released.rows] == list(WAYS)  # somebody walks, by the noise
        assert [row[0] for row in true.rows] == list(WAYS[:3])


def test_what_it_may_not_be_reported(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new, field in (("epsilon = 1.0", "epsilon = 0.0", "privacy.epsilon"),
                            ('"on foot"]', '"bus"]', "levels"),
                            ("failure_probability =", "failure_probabilty =", "privacy.failure_probabilty"),
                            ('column = "way"', 'column = "id"', "people.id")):
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InvalidInput) as caught:
            Campaign.load(path).check()
        assert caught.value.field == field
    path.write_text(text, encoding="utf-8")
    campaign = Campaign.load(path)
    with pytest.raises(InvalidInput, match="'by air' is not on the list"):
        campaign.hand_in(3, {"way": "by air"})
    slot, report = campaign.file.kind.submission(campaign.file.config, campaign.plan, "3", {"way": "car"})
    assert (slot, np.frombuffer(report)[0]) == (2, 2.0)


def test_its_form_its_offer_and_its_files_are_there_for_nothing(path: Path) -> None:
    it = Campaign.load(path)
    found, config = it.file.kind, it.file.config
    (field,) = found.asked(config, it.plan)
    assert (field.column, field.form, field.choices, field.required) == ("way", "choice", WAYS, True)
    assert found.files(config) == [("data.source", "answers.csv")]
    assert unanswered(it.plan.offer()) == ()
    shown = words(it.plan.offer())
    assert "right at most 73.1% of the time" in shown  # e/(1 + e)
    assert "The campaign makes no promise about the gain from a lie" in shown


@pytest.mark.slow
def test_its_audit_passes_and_flags_what_is_broken(path: Path) -> None:
    report = Campaign.load(path).audit(seed=3)
    assert report.passed, report.problems
    assert [(row.concern.value, row.verdict.value) for row in report.rows] == [
        ("privacy", "kept"), ("privacy", "kept"), ("incentives", "no promise"), ("accuracy", "kept"),
        ("accuracy", "kept"), ("participation", "no promise"), *[("budget", "kept")] * 3]
    assert not report.unmeasured  # nothing is promised of those two
    assert report.rows[0].measured == pytest.approx(1.0)
    assert {bug.mutant: bug.flagged for bug in report.controls} == {
        "half the noise": True, "no noise": True, "one share altered after the run": True,
        "everything released twice": True, "half of the promised loss is charged": True,
        "a millionth of the promised loss is charged": True}


@pytest.mark.slow
def test_a_promise_that_nobody_measures_is_reported_and_counted(
    path: Path, run: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `measured` the audit passes as far as it was measured, and claims no more."""
    it = Campaign.load(path)
    (promise,) = it.plan.guarantees.of(Accuracy)
    monkeypatch.delattr(type(it.file.kind), "measured")
    report = it.audit(seed=3)
    (row,) = report.unmeasured
    assert report.passed
    assert (row.holds, row.verdict, row.measured, row.concern) == (
        (promise.sentence(),), "not measured", None, "accuracy")
    assert "its kind does where its `measured` gives a row" in row.note
    said = ("Passed, as far as it was measured: 6 of 7 promises were measured (6 kept), 0 are vacuous, 1 was not "
            "measured; nothing is promised about 2 of 5 concerns.")
    assert report.to_section().blocks[-1].to_dict()["text"] == [said]
    code, shown = run("audit", path)
    assert code == 0
    assert said in " ".join(shown.split())
    reported = json.loads(run("audit", path, "--json")[1])
    assert (reported["passed"], reported["report"]["unmeasured"]) == (True, 1)


def test_its_law_and_its_error_by_enumeration(path: Path) -> None:
    """Two counts that a replaced record moves, far ones taken together: every outcome's probability under both data
    sets; and the exact chance of a larger error.
    """
    it = Campaign.load(path).plan.mechanism
    q, reach = math.exp(-1 / it.scale), np.arange(-30, 31)

    def law(center: int) -> np.ndarray:
        inside = (1 - q) / (1 + q) * q ** np.abs(reach[1:-1] - center)
        return np.concatenate([[q ** (30 + center) / (1 + q)], inside, [q ** (30 - center) / (1 + q)]])

    assert law(1).sum() == pytest.approx(1.0)
    laws = {"one": np.outer(law(0), law(1)).ravel(), "other": np.outer(law(1), law(0)).ravel()}
    found = exact_audit(laws, PureDP(1.0))
    assert not found.flagged
    assert found.measured == pytest.approx(1.0, abs=1e-9)

    def worse(error: int) -> float:
        return float(1 - (1 - 2 * q ** (error + 1) / (1 + q)) ** len(it.levels))

    assert worse(it.error) <= it.failure_probability < worse(it.error - 1)


def test_its_run_counts_and_decodes(path: Path) -> None:
    it = Campaign.load(path).plan.mechanism
    data = [SlotRows(np.array([0, 4]), np.array([[2.0], [0.0]])), SlotRows(np.array([9]), np.array([[2.0]]))]
    bare = it.run(data, ForcedNoise(()))
    assert bare.billboard.people.tolist() == [1, 0, 2, 0]
    noisy = it.run(data, Noise.simulated(1))
    shares = noisy.shares["same_answer"].to_pylist()
    assert shares[:5] == [noisy.billboard.people[2], 0, 0, 0, noisy.billboard.people[0]]

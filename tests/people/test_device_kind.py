"""A local mechanism of one's own: an offer that does not contradict itself, a device that draws, and promises to the
collector that nothing keeps.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaign.forging import words
from confide.campaign import Campaign, verify
from confide.campaign.kinds import PeoplesKind
from confide.contract import InvalidInput, LocalKind, Privacy, PublicWarning, Refused, Relation, Source, kind
from confide.contract.guarantees import Audience, Guarantees
from confide.contract.offering import Question, unanswered
from confide.privacy import ApproxDP, PureDP
from people import asked_on_devices
from people.own_packages import installed_histogram, installed_module


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A campaign of 40 people whose devices draw."""
    points = {"on-devices": "private_devices:KIND"}
    with installed_module(Path(asked_on_devices.__file__), "private_devices", points, tmp_path / "site", monkeypatch):
        (tmp_path / "asked.toml").write_text(kind("on-devices").template)
        yield tmp_path / "asked.toml"


def module() -> Any:
    import private_devices

    return private_devices


def answers(it: Campaign) -> dict[str, str]:
    """Question -> its answer in an offer."""
    return {each.answers: words([each]) for each in it.plan.offer()}


def test_it_is_local(path: Path) -> None:
    assert isinstance(Campaign.load(path).file.kind, LocalKind)


def test_its_offer_does_not_contradict_itself(path: Path) -> None:
    it = Campaign.load(path)
    assert unanswered(it.plan.offer()) == ()
    said = answers(it)
    assert "Your own device draws a report from your record. Only the report leaves the device." in said["report"]
    assert "The operator reads your report." in said["sees"]
    assert "local differential privacy towards the collector" in said["hides"]
    assert "From your report, they guess right at most 73.1% of the time" in said["hides"]
    assert "You trust your own device with your record, and nobody else." in said["trusted"]
    assert "your report counts as no report" in said["withdrawing"]
    assert "operator reads your record" not in " ".join(said.values())
    assert "The operator, with your record" not in " ".join(said.values())
    assert "one's own record" not in " ".join(said.values())
    assert len(said) == len(Question)


def test_a_central_offer_says_that_the_operator_reads_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with installed_histogram(tmp_path / "site", monkeypatch):
        (tmp_path / "commute.toml").write_text(kind("histogram").template)
        said = answers(Campaign.load(tmp_path / "commute.toml"))
    assert "The operator reads your record." in said["sees"]
    assert "You trust the operator with your record, and nobody else." in said["trusted"]
    assert "device" not in " ".join(said.values())


def test_its_life_by_file(path: Path) -> None:
    it = Campaign.load(path)
    rows = [it.submit(who, {"answer": "yes" if who % 3 else "no"}) for who in range(1, 37)]
    assert it.submit(1, {"answer": "no"}) == rows[0]  # drawn once
    assert it.submit(40, {"answer": ""}) == {"id": "40", "report": ""}
    with (path.parent / "reports.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "report"])
        writer.writeheader()
        writer.writerows(rows)
    settled = it.settle()
    said = [sum(row["report"] == level for row in rows) for level in ("no", "yes")]
    assert settled.outcome.billboard.reports.tolist() == said
    assert settled.outcome.shares["same_report"].to_pylist()[:36] == [
        said[("no", "yes").index(row["report"])] for row in rows]
    assert verify(settled.folder).passed
    shown = words(it.share(1, record={"report": rows[0]["report"]}))
    assert "It follows from your report and the public billboard" in shown
    with pytest.raises(InvalidInput, match="'by air'"):
        it.submit(2, {"answer": "by air"})
    with pytest.raises(InvalidInput, match="not a column"):
        it.submit(2, {"report": "yes"})


def test_its_device_and_its_rows(path: Path) -> None:
    it = Campaign.load(path)
    found: Any = it.file.kind
    assert found.device(it.file.config, it.plan) == {
        "law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"],
        "epsilon": {"numerator": "1", "denominator": "1"}}
    assert found.level(it.plan) == 1.0
    slot, stored = found.submission(it.file.config, it.plan, "3", {"id": "3", "report": "yes"})
    assert (slot, np.frombuffer(stored)[0]) == (2, 1.0)
    with pytest.raises(InvalidInput, match="the id of another participant"):
        found.submission(it.file.config, it.plan, "3", {"id": "4", "report": "yes"})
    with pytest.raises(Refused, match="takes no part"):
        found.submission(it.file.config, it.plan, "3", {"report": ""})
    (field,) = found.asked(it.file.config, it.plan)
    assert (field.column, field.choices, field.required) == ("answer", ("no", "yes"), False)


def test_it_is_rehearsed(path: Path) -> None:
    with pytest.raises(Refused, match=r"no \[rehearsal\]"):
        Campaign.load(path).study(seed=1)
    path.write_text(path.read_text() + '\n[rehearsal]\nsource = "true.csv"\ncolumn = "ever"\n')
    (path.parent / "true.csv").write_text("id,ever\n" + "".join(f"{who},yes\n" for who in range(1, 31)))
    it = Campaign.load(path)
    outcome, sections = it.study(seed=1)
    reported = outcome.billboard.reports.tolist()
    assert sum(reported) == 30
    assert 0 < reported[0] < 30
    (table,) = (block for section in sections for block in section.blocks if hasattr(block, "rows"))
    assert table.rows == (("no", 0, reported[0]), ("yes", 30, reported[1]))
    assert it.rehearse(path.parent / "reports.csv") == 30
    assert Campaign.load(path).check().usable == 30


def test_a_rehearsal_says_which_answers_it_leaves_out(path: Path) -> None:
    path.write_text(path.read_text() + '\n[rehearsal]\nsource = "true.csv"\ncolumn = "ever"\n')
    truth, out = path.parent / "true.csv", path.parent / "reports.csv"
    it = Campaign.load(path)
    for text, said in (("id,ever\n1,Yes\n2,Yes\n", r"no answer that can be used; the first is of 1: ever"),
                       ("id,ever\n", "has no rows")):
        truth.write_text(text)
        with pytest.raises(InvalidInput, match=said):
            it.rehearse(out)
        assert it.book().answers() == ()  # no level was noted
        assert not out.exists()
    truth.write_text("id,ever\n1,Yes\n2,yes\n3,no\n4,\n5,No\n")
    with pytest.warns(PublicWarning, match=r"answer of 1 is left out \(ever: .*and so are 2 others"):
        assert it.rehearse(out) == 2


def test_its_audit_measures_the_device(path: Path) -> None:
    report = Campaign.load(path).audit(seed=3)
    assert report.passed, report.problems
    (row,) = (row for row in report.rows if row.holds)
    assert row.measured == pytest.approx(1.0)
    assert row.measured <= 1.0
    assert {bug.mutant for bug in report.controls} == {
        "half the noise", "no noise", "one share altered after the run", "a millionth of the promised loss is charged"}
    assert all(bug.flagged for bug in report.controls)


SUBMITS: dict[str, tuple[Any, str]] = {
    "the identity": (lambda it, private, offer=None, noise=None: private, "the run draws no noise"),
    "a code of the answer": (lambda it, private, offer=None, noise=None: None if private is None else
                             int(1 - private[0]), "the run draws no noise"),
    "both": (lambda it, private, offer=None, noise=None: None if private is None else
             (int(private[0]), int(noise.discrete_laplace(2.0, 1, stream="a", center=private.astype(int))[0])),
             "the published values differ although all noisy answers are equal"),
    "noise that depends on the answer": (
        lambda it, private, offer=None, noise=None: None if private is None else int(
            noise.discrete_laplace(2.0 + float(private[0]), 1, stream="a", center=private.astype(int))[0]),
        "the requested noise .law, scale, size, order. depends on the data"),
    "noise on the side": (lambda it, private, offer=None, noise=None: None if private is None else
                          (noise.discrete_laplace(2.0, 1, stream="a"), private[0])[1],
                          "the published values differ although all noisy answers are equal"),
    "a fault": (lambda it, private, offer=None, noise=None: private.nothing,
                "`submit` fails on synthetic records: Attr"),
}


@pytest.mark.parametrize("name", SUBMITS)
def test_what_no_device_hides_is_refused(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submit, says = SUBMITS[name]
    monkeypatch.setattr(module().OnDevices, "submit", submit)
    with pytest.raises(InvalidInput, match=says) as caught:
        _ = Campaign.load(path).plan
    assert caught.value.field == "mechanism"


@pytest.mark.parametrize("submit", [
    lambda it, private, offer=None, noise=None: None if private is None else asked_on_devices.OnDevices(
        people=1, epsilon=0.5).submit(private, None, noise),
    lambda it, private, offer=None, noise=None: None if private is None else 1 - asked_on_devices.OnDevices(
        people=1, epsilon=1.0).submit(private, None, noise),
])
def test_a_device_draws_by_the_law_of_submit(submit: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the level, or the other answer: private, and not what pages draw."""
    monkeypatch.setattr(module().OnDevices, "submit", submit)
    with pytest.raises(InvalidInput, match="draws by another law than participants' pages"):
        _ = Campaign.load(path).plan


def test_who_has_no_record_hands_in_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = module().OnDevices.submit
    monkeypatch.setattr(module().OnDevices, "submit", lambda it, private, offer=None, noise=None: (
        0 if private is None else true(it, private, offer, noise)))
    with pytest.raises(InvalidInput, match=r"`submit\(None\)` does not return None"):
        _ = Campaign.load(path).plan


@pytest.mark.parametrize("promises", [(), (PureDP(1.0), PureDP(2.0)), (ApproxDP(1.0, 1e-6),)])
def test_a_device_needs_one_epsilon(promises: tuple[Any, ...], path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                     source=Source(document="a", statement="b"))
    monkeypatch.setattr(module().OnDevices, "guarantees", lambda it: Guarantees((public, *(
        replace(public, loss=loss, audience=Audience.COLLECTOR) for loss in promises))))
    it = Campaign.load(path)
    with pytest.raises(InvalidInput, match="does not promise exactly one epsilon"):
        it.file.kind.level(it.file.kind.plan(it.file.config))  # type: ignore[attr-defined]


def test_one_question_with_two_answers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from confide.tables import Category

    monkeypatch.setattr(module().OnDevicesKind, "columns", lambda it, config: (
        Category(column="report", levels=("no", "yes", "maybe")),))
    with pytest.raises(InvalidInput, match="two answers"):
        Campaign.load(path).file.kind.asked(Campaign.load(path).file.config, None)  # type: ignore[arg-type]


def test_records_that_are_handed_in_as_they_are_keep_no_promise_to_the_collector(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound `submit` that nobody calls: the form would hand over the record."""
    plan, columns = module().OnDevicesKind.plan, module().OnDevicesKind.columns
    central = type("Central", (PeoplesKind,), {
        "name": "on-devices", "summary": "", "template": "", "config": module().Tables, "types": {}, "plan": plan,
        "columns": columns})()
    it = Campaign(replace(Campaign.load(path).file, kind=central))
    with pytest.raises(InvalidInput, match="since no device calls its `submit`"):
        _ = it.plan
    monkeypatch.setattr(module().OnDevices, "submit", SUBMITS["the identity"][0])
    with pytest.raises(InvalidInput, match="lets the collector distinguish two records"):
        _ = Campaign(it.file).plan


def test_a_promise_that_says_nothing_is_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinite loss towards the collector is what a central campaign has."""
    with_none = module().OnDevices(people=40, epsilon=float("inf"))
    assert not any(each for each in with_none.guarantees() if not each.vacuous)
    plan = replace(Campaign.load(path).plan, mechanism=with_none)  # type: ignore[type-var]
    assert not plan.local  # type: ignore[attr-defined]

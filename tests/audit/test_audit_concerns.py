"""Concerns of rows, what rows hold, what is left out, and what the ledger is charged."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from confide.audit import AuditReport, AuditRow, Concern, Control, Verdict, charge_rows, completed, promise_rows
from confide.audit.comparing import strongest
from confide.contract import (
    Accuracy,
    Audience,
    Budget,
    Guarantee,
    InvalidInput,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.privacy import ApproxDP, PureDP
from confide.privacy.events import ApproxEvent, PureEvent, ZCDPEvent
from confide.privacy.losses import GDP, ZCDP, RenyiDP

SOURCE = Source(document="a", statement="b")
PROMISES: dict[Concern, Guarantee] = {
    Concern.PRIVACY: Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.PUBLIC, source=SOURCE),
    Concern.INCENTIVES: Truthfulness(gain=0.1, baseline=1.0, who="everybody", source=SOURCE),
    Concern.ACCURACY: Accuracy(bound=0.2, measure="the error", baseline=1.0, source=SOURCE),
    Concern.PARTICIPATION: Participation(utility=0.0, who="everybody", source=SOURCE),
    Concern.BUDGET: Budget(expected=10.0, lowest=0.0, highest=1.0, source=SOURCE),
}
TEETH = Control("privacy", "no noise", True)
BIT = PureEvent(epsilon=0.5, neighbours=Relation.BIT)


def row(concern: str, name: str = "x") -> AuditRow:
    if concern == "privacy":
        promise = PROMISES[Concern.PRIVACY]
        assert isinstance(promise, Privacy)
        return AuditRow.of_privacy(promise, 0.5, "enumerated", named=name)
    return AuditRow.at_most(name, 1.0, 0.5, "enumerated", concern=concern)


def test_concerns_of_guarantees() -> None:
    assert [Concern.of(each) for each in PROMISES.values()] == list(Concern)
    with pytest.raises(InvalidInput, match="promise"):
        Concern.of(Guarantee(source=SOURCE))


def test_rows_are_kept_by_concern_and_within_one_in_their_order() -> None:
    given = [row("budget", "a"), row("accuracy", "b"), row("privacy", "c"), row("accuracy", "d"), row("privacy", "e"),
             row("participation", "f"), row("incentives", "g")]
    report = AuditReport(tuple(given), (TEETH,))
    assert [each.promise for each in report.rows] == ["c", "e", "g", "b", "d", "f", "a"]
    assert [each["concern"] for each in report.to_dict()["rows"]] == [str(each.concern) for each in report.rows]
    shown = report.to_section().to_dict()["blocks"][0]
    assert shown["columns"][0] == "concern"
    assert [each[0] for each in shown["rows"]] == [str(each.concern) for each in report.rows]


def test_a_row_needs_a_concern_that_is_known() -> None:
    with pytest.raises(TypeError):
        AuditRow("x", 1.0, 0.5, "e", "kept")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="concern"):
        AuditRow("x", 1.0, 0.5, "e", "kept", concern="money")


def test_rows_hold_guarantees_of_their_own_concern_alone() -> None:
    for concern, promise in PROMISES.items():
        assert row(concern).holding(promise).holds == (promise.sentence(),)
        for other in PROMISES.values():
            if other is not promise:
                with pytest.raises(InvalidInput, match="promise"):
                    row(concern).holding(other)
    assert row("privacy").holding().holds == ()


def test_a_name_is_not_shown_twice() -> None:
    assert (row("privacy", "privacy: one report").named, row("budget", "money: in all").named) == (
        "one report", "money: in all")


def promised(loss, neighbours=Relation.BIT, audience=Audience.PUBLIC) -> Privacy:
    return Privacy(loss=loss, neighbours=neighbours, audience=audience, source=SOURCE)


@pytest.mark.parametrize(("judged", "follows"), [
    (promised(PureDP(1.0)), promised(PureDP(2.0))),
    (promised(PureDP(1.0)), promised(ZCDP(0.5))),
    (promised(PureDP(1.0)), promised(ApproxDP(1.0, 1e-6))),
    (promised(PureDP(1.0)), promised(GDP(1.5))),
    (promised(PureDP(1.0)), promised(RenyiDP(4.0, 1.0))),
    (promised(ZCDP(0.01)), promised(ApproxDP(0.8, 1e-6))),
    (promised(GDP(0.1)), promised(ZCDP(0.005))),
    (promised(RenyiDP(4.0, 0.5)), promised(RenyiDP(2.0, 0.5))),
    (promised(ApproxDP(1.0, 0.0)), promised(PureDP(1.0))),
    (promised(PureDP(1.0), audience=Audience.OTHERS), promised(PureDP(1.0))),
    (promised(PureDP(1.0), audience=Audience.COLLECTOR), promised(PureDP(1.0), audience=Audience.FELLOWS)),
])
def test_a_row_holds_what_follows_from_its_promise_and_nothing_stronger(judged, follows) -> None:
    found = AuditRow.of_privacy(judged, 0.0, "enumerated")
    assert found.holding(follows).holds == (follows.sentence(),)
    with pytest.raises(InvalidInput, match="does not follow"):
        AuditRow.of_privacy(follows, 0.0, "enumerated").holding(replace(judged, loss=shrunk(judged.loss)))


def shrunk(loss):
    """A part of a loss."""
    name = next(each for each in ("epsilon", "rho", "mu") if hasattr(loss, each))
    return replace(loss, **{name: getattr(loss, name) / 2})


@pytest.mark.parametrize("other", [
    promised(PureDP(0.01)), promised(ZCDP(1e-9)), promised(PureDP(1.0), neighbours=Relation.REPLACE),
    promised(PureDP(1.0), audience=Audience.OTHERS), promised(PureDP(1.0), audience=Audience.COLLECTOR),
])
def test_a_row_refuses_a_promise_that_does_not_follow_from_its_own(other) -> None:
    with pytest.raises(InvalidInput, match="does not follow"):
        AuditRow.of_privacy(promised(PureDP(1.0)), 0.5, "enumerated").holding(other)


def test_a_row_of_the_whole_holds_its_parts_and_a_row_of_a_part_holds_that_part_alone() -> None:
    whole, count, mean = promised(PureDP(1.0)), *(replace(promised(PureDP(1.0)), part=part)
                                                  for part in ("the count", "the mean"))
    assert AuditRow.of_privacy(whole, 0.5, "e").holding(count, mean).holds == (count.sentence(), mean.sentence())
    assert AuditRow.of_privacy(count, 0.5, "e").holding(count).holds == (count.sentence(),)
    for judged, other in ((count, whole), (count, mean), (whole, replace(count, loss=PureDP(0.9)))):
        with pytest.raises(InvalidInput, match="does not follow"):
            AuditRow.of_privacy(judged, 0.5, "e").holding(other)
    # What follows from the whole is held with it; two parts need a row each.
    assert strongest([count, whole, mean]) == [(whole, (count, whole, mean))]
    assert strongest([count, mean]) == [(count, (count,)), (mean, (mean,))]


def test_a_row_about_another_number_holds_no_promise_of_privacy() -> None:
    other = AuditRow.at_most("a parameter", 1.0, 0.5, "enumerated", concern="privacy")
    with pytest.raises(InvalidInput, match="does not follow"):
        other.holding(promised(PureDP(1.0)))
    with pytest.raises(InvalidInput, match="judged"):
        AuditRow("x", 2.0, 0.5, "e", "kept", concern="privacy", judged=promised(PureDP(1.0)))
    assert AuditRow.of_privacy(promised(PureDP(1.0)), 1.5, "e").flagged
    assert AuditRow.of_privacy(promised(PureDP(math.inf)), 1.5, "e").verdict is Verdict.VACUOUS


def test_a_promise_above_the_price_is_kept_and_says_so() -> None:
    rows, injected = promise_rows([promised(PureDP(2.0)), promised(PureDP(1.0))], lambda: [BIT, BIT])
    assert [(each.concern, each.verdict, each.measured) for each in rows] == [
        ("privacy", "kept", 1.0), ("privacy", "kept", 1.0), ("budget", "kept", 1.0)]
    assert [each.note for each in rows] == ["the promised loss exceeds the cost of its releases, by 0.5 of it", "", ""]
    assert len(injected) == 4
    assert all(each.flagged for each in injected)
    alone, _ = promise_rows([promised(PureDP(2.0))], lambda: [BIT, BIT])
    assert [each.flagged for each in alone] == [False, True]  # nothing is promised that is charged
    assert promise_rows([promised(PureDP(math.inf))], lambda: [BIT]) == ([], [])


def test_a_price_of_another_step_is_none() -> None:
    (found,), _ = promise_rows([promised(PureDP(2.0), neighbours=Relation.REPLACE)], lambda: [BIT])
    assert (found.verdict, found.measured) == ("broken", math.inf)
    approx = ApproxEvent(epsilon=0.5, delta=1e-6, neighbours=Relation.BIT)
    assert promise_rows([promised(ZCDP(9.0))], lambda: [approx])[0][0].flagged


def test_what_was_not_measured_passes_with_a_reason_alone() -> None:
    promise = PROMISES[Concern.INCENTIVES]
    for reason, passed in (("nobody can be asked", True), ("", False)):
        report = AuditReport((row("privacy"), AuditRow.unmeasured(promise, reason)), (TEETH,))
        assert report.passed is passed
        assert len(report.unmeasured) == 1
        nothing = AuditReport((row("privacy"), AuditRow.unpromised("budget", reason)), (TEETH,))
        assert nothing.passed is passed
        assert nothing.unmeasured == ()
    words = AuditReport((row("privacy"), AuditRow.unmeasured(promise, "r")), (TEETH,)).to_section().blocks[2]
    assert words.to_dict()["text"] == [
        "Passed, for the measured promises: 1 of 2 promises were measured (1 kept), 0 are vacuous, 1 was not measured."]


def test_unmeasured_rows_name_the_promised_number() -> None:
    found = [AuditRow.unmeasured(each, "r") for each in PROMISES.values()]
    assert [each.promised for each in found] == ["epsilon = 1", 0.1, 0.2, 0.0, 10.0]
    assert {each.verdict for each in found} == {Verdict.NOT_MEASURED}
    silent = AuditRow.unmeasured(Accuracy(bound=2.0, measure="the error", baseline=1.0, source=SOURCE), "r")
    assert silent.verdict is Verdict.VACUOUS


def test_a_completed_report_leaves_nothing_out() -> None:
    measured = AuditReport((row("privacy").holding(PROMISES[Concern.PRIVACY]), row("budget")), (TEETH,))
    false = Accuracy(bound=0.0, measure="a printed claim", source=SOURCE, claimable=False)
    promises = (PROMISES[Concern.PRIVACY], PROMISES[Concern.ACCURACY], false)
    reasons = {Concern.INCENTIVES: "no reports", Concern.PARTICIPATION: "no people"}
    report = completed(measured, promises, reasons, lambda promise: f"no attack on {type(promise).__name__}")
    assert [(each.concern, each.note) for each in report.rows] == [
        ("privacy", ""), ("incentives", "no reports"), ("accuracy", "no attack on Accuracy"),
        ("participation", "no people"), ("budget", "")]
    assert report.passed
    assert report.controls == measured.controls
    forgotten = completed(measured, promises, reasons)
    assert forgotten.problems == ("the error is at most 0.2: not measured, and no note says why",)
    with pytest.raises(KeyError):
        completed(measured, (), {})


@pytest.mark.parametrize(("events", "loss"), [
    ((BIT, BIT), PureDP(1.0)),
    ((ApproxEvent(epsilon=0.5, delta=1e-6, neighbours=Relation.BIT),), ApproxDP(0.5, 1e-6)),
    ((ZCDPEvent(rho=0.25, neighbours=Relation.BIT),), ZCDP(0.25)),
])
def test_the_ledgers_charge_is_what_is_promised(events, loss) -> None:
    found, injected = charge_rows(events, loss)
    assert (found.measured, found.verdict, found.concern) == (pytest.approx(1.0), "kept", "budget")
    assert [(each.mutant, each.flagged) for each in injected] == [
        ("everything released twice", True), ("half of the promised loss is charged", True)]
    assert charge_rows((*events, *events), loss)[0].flagged


def test_a_charge_below_the_promise_is_flagged_in_every_part() -> None:
    small = charge_rows((PureEvent(epsilon=1e-9, neighbours=Relation.BIT),), PureDP(50.0))[0]
    assert (small.verdict, small.note) == ("broken", "the ledger is charged less than the promised loss")
    assert small.measured == pytest.approx(2e-11)
    event = ApproxEvent(epsilon=0.1, delta=1e-6, neighbours=Relation.BIT)  # its delta is right
    assert charge_rows((event,), ApproxDP(0.5, 1e-6))[0].flagged


def test_what_no_ledger_is_charged_for() -> None:
    nothing = charge_rows((), PureDP(1.0))[0]
    assert (nothing.measured, nothing.flagged) == (0.0, True)
    assert charge_rows((), PureDP(1.0))[1] == ()
    for loss in (PureDP(0.0), GDP(1.0)):
        with pytest.raises(InvalidInput, match="promised"):
            charge_rows((BIT,), loss)


def test_a_notebook_shows_the_table() -> None:
    shown = AuditReport((row("privacy", "privacy: <one> report"),), (TEETH,))._repr_html_()
    assert "&lt;one&gt; report" in shown
    assert "Passed: 1 of 1 promises were measured (1 kept)" in shown
    assert math.isclose(AuditReport((row("privacy"),)).false_alarm, 0.0)

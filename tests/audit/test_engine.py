"""The one engine: what it injects into a run, what it lets a family name, and what it says where it sees nothing."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from confide.audit import (
    Audited,
    AuditReport,
    AuditRow,
    Concern,
    DampedNoise,
    Examined,
    FullSize,
    Laws,
    Neighbours,
    RepeatedNoise,
    Transcripts,
    Verdict,
    audit,
    observed,
)
from confide.audit.charging import COVERED, NAMED
from confide.contract import Audience, ConfideDeprecationWarning, Guarantees, Privacy, Relation, Source
from confide.market import LinearCost, MajorityMarket
from confide.market.collection import BitCollection
from confide.privacy import PureDP
from confide.privacy.events import PureEvent
from confide.privacy.noise import Noise

SOURCE = Source(document="a", statement="b")


def promise(epsilon: float) -> Privacy:
    return Privacy(loss=PureDP(epsilon), neighbours=Relation.REPLACE, audience=Audience.PUBLIC, source=SOURCE)


@dataclass(frozen=True)
class Board:
    sums: tuple[float, ...]


@dataclass(frozen=True)
class Outcome:
    billboard: Board


def sums(values: Any, noise: Noise) -> Outcome:
    """Two sums of numbers in [0, 1], each for a loss of 1/2."""
    return Outcome(Board(tuple(float(noise.laplace(2.0, 1, stream=("sum", k), center=[values[k]])[0]) for k in (0, 1))))


def shown(outcome: Outcome) -> bytes:
    return repr(sorted(vars(outcome.billboard).items())).encode()


def replayed(
    run: Callable[[Any, Noise], Any] = sums, published: Callable[[Any], bytes] = shown, **more: Any
) -> Transcripts:
    pairs = [Neighbours([0.0, 0.0], [1.0, 1.0], published), Neighbours([0.0, 0.0], [1.0, 0.0], published)]
    return Transcripts(named="privacy", run=run, pairs=lambda: pairs, seed=3, promises=[promise(1.0)], **more)


def audited(*measured: Any, epsilon: float = 1.0) -> Audited:
    return Audited(promises=Guarantees((promise(epsilon),)), measured=measured,
                   events=lambda: [PureEvent(epsilon=epsilon, neighbours=Relation.REPLACE)])


INJECTED = ["no noise", "the records beside the published values", "0.9 of the noise that the promise needs",
            "everything released twice", "the noise of one draw used twice"]


def test_a_sound_run_is_kept_and_each_injected_fault_is_flagged() -> None:
    reported = list[tuple[int, int | None]]()
    report = audit(audited(replayed()), lambda *step: reported.append(step))
    assert report.passed, report.problems
    row = report.rows[0]
    assert (row.promise, row.verdict, row.measured, row.holds) == ("privacy", "kept", 1.0, (promise(1.0).sentence(),))
    assert [control.mutant for control in report.controls if control.name == "privacy"] == INJECTED
    assert reported == [(1, 1)]


def test_half_of_the_noise_of_each_part_is_injected() -> None:
    report = audit(audited(replayed(claims={"sum/0": PureDP(0.5), "sum/1": PureDP(0.5)})))
    assert report.passed, report.problems
    found = {(control.name, control.mutant) for control in report.controls}
    assert {("privacy: sum/0", "half of its noise"), ("privacy: sum/1", "half of its noise")} <= found


def test_an_audit_that_looks_away_does_not_pass() -> None:
    """What the public sees is not compared, so that records on the billboard are not seen."""
    report = audit(audited(replayed(published=lambda outcome: b"")))
    assert not report.passed
    assert {control.mutant for control in report.controls if not control.flagged} >= {
        "the records beside the published values", "the noise of one draw used twice"}


@pytest.mark.parametrize("factor", [0.5, 0.99])
def test_less_noise_than_is_promised_is_broken(factor: float) -> None:
    def quiet(values: Any, noise: Noise) -> Outcome:
        return Outcome(Board(tuple(float(noise.laplace(2.0 * factor, 1, stream=("sum", k), center=[values[k]])[0])
                                   for k in (0, 1))))

    report = audit(audited(replayed(quiet)))
    assert report.rows[0].verdict is Verdict.BROKEN
    assert report.rows[0].measured == pytest.approx(1 / factor)


def test_where_less_is_lost_than_is_promised_faults_are_as_sharp() -> None:
    """Of noise that is four times too large nine tenths of a quarter are injected."""
    def loud(values: Any, noise: Noise) -> Outcome:
        return Outcome(Board(tuple(float(noise.laplace(8.0, 1, stream=("sum", k), center=[values[k]])[0])
                                   for k in (0, 1))))

    report = audit(audited(replayed(loud)))
    assert report.passed, report.problems
    found = [control.mutant for control in report.controls if control.name == "privacy"]
    assert "0.9 of the noise that the promise needs" in found
    assert "everything released twice" not in found  # that is within the promise


def test_faults_of_its_own_go_through_the_same_replay() -> None:
    def bounded(values: Any, noise: Noise) -> Outcome:
        return sums([min(max(value, 0.0), 1.0) for value in values], noise)

    report = audit(audited(replayed(faults={"a bound that is not applied": lambda values, noise: sums(
        [16 * value for value in values], noise), "nothing": bounded})))
    flagged = {control.mutant: control.flagged for control in report.controls}
    assert flagged["a bound that is not applied"]
    assert not flagged["nothing"]
    assert not report.passed


def test_a_measurement_is_repeated_on_what_is_faulty() -> None:
    def rows(paid: float) -> list[AuditRow]:
        return [AuditRow.at_most("money", 1.0, paid, "counted", concern=Concern.BUDGET, unit="EUR")]

    money = Examined(named="money", rows=rows, sound=1.0, faults={"twice": 2.0, "the same": 1.0})
    report = audit(audited(replayed(), money))
    assert [(control.mutant, control.flagged) for control in report.controls if control.name == "money"] == [
        ("twice", True), ("the same", False)]
    assert [row.verdict for row in report.rows if row.promise == "money"] == ["kept"]


def test_laws_are_tested_on_secure_draws_and_wrong_sources() -> None:
    draws = observed(sums, [0.0, 1.0], 1)
    assert [(draw.law, float(draw.scale)) for draw in draws] == [("laplace", 2.0)]
    rows, controls = Laws(draws=lambda: draws, samples=2000, false_alarm=1e-9, seed=1).measured()
    assert [row.verdict for row in rows] == ["kept"]
    assert [(control.mutant, control.flagged) for control in controls] == [
        ("a source with 0.5 of the scale", True), ("a source that adds nothing", True),
        ("a source that starts again with the same seed for every stream", True)]


@pytest.mark.parametrize(("center", "controls"), [
    ([2.0, 0.0, 0.0], ["a source with 0.5 of the scale", "a source that selects uniformly"]),
    ([30.0, 0.0, 0.0], ["a source that selects uniformly"]),
    ([0.0, 0.0, 0.0], []), ([0.02, 0.0], [])])
def test_a_selection_has_controls_where_samples_show_them(center: list[float], controls: list[str]) -> None:
    """Of a selection that is nearly sure half of the scale shows nothing; of one that is nearly even, nothing does."""
    def chosen(values: Any, noise: Noise) -> Any:
        return noise.selection(values, 1, stream="choice")

    rows, found = Laws(draws=lambda: observed(chosen, center, 1), samples=2000, false_alarm=1e-9, seed=1).measured()
    assert [(row.verdict, row.note) for row in rows] == [
        ("kept", "" if controls else "no control: 2000 draws of this law are too few to show a wrong source")]
    assert [(control.mutant, control.flagged) for control in found] == [(each, True) for each in controls]


PAGE = Path(__file__).resolve().parents[2] / "docs" / "privacy" / "audit_data.md"


def test_the_pairs_of_the_page_leave_ones_own_share_out() -> None:
    """Shares that follow from one's own record are no leak, and are one where the pairs hold all shares."""
    code = "\n".join(re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    code = code.replace("[board.yes] * self.people", "[int(each) for each in data]").partition("print(audit(")[0]
    for leaks in (False, True):
        page: dict[str, Any] = {"__name__": "page"}
        text = code.replace("partial(published, index=0)", "published") if leaks else code
        exec(compile(text, str(PAGE), "exec", dont_inherit=True), page)
        it = page["audited"](page["NoisyCount"](people=3, epsilon=1.0), seed=0)
        report = AuditReport(tuple(it.measured[0].rows()))
        assert [row.flagged for row in report.rows] == [leaks]
        assert ("as it was measured: " in str(report)) is leaks


def test_every_concern_has_a_row_where_reasons_are_given() -> None:
    reasons = dict.fromkeys(Concern, "it only adds noise")
    it = Audited(promises=Guarantees((promise(1.0),)), measured=[replayed()], unpromised=reasons,
                 events=lambda: [PureEvent(epsilon=1.0, neighbours=Relation.REPLACE)])
    assert {row.concern for row in audit(it).rows} == set(Concern)


@pytest.mark.parametrize("law", ["laplace", "gaussian", "discrete_laplace", "discrete_gaussian"])
def test_repeated_noise_is_the_same_in_all_draws_of_a_law(law: str) -> None:
    noise = RepeatedNoise(Noise.simulated(2))
    center = [0, 40, 70]
    one, other = (getattr(noise, law)(3, 3, stream=name, center=center) for name in ("one", "other"))
    assert one.tolist() == other.tolist()
    assert (one != center).any()
    moved = getattr(noise, law)(3, 3, stream="moved", center=[1, 41, 71])
    assert (moved - one).tolist() == pytest.approx([1, 1, 1])


def test_old_audits_of_families_work_with_a_warning() -> None:
    collection = BitCollection(market=MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 1.0), minor_units=10**6)
    with pytest.warns(ConfideDeprecationWarning, match="'audit_majority' is called"):
        from confide.market.audit import audit_majority
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert audit_majority(collection).passed


def charged_for_less(paid: float, named: float | None = None, **more: Any) -> Audited:
    """The sums, which lose 1, and what the ledger is charged for them; the parameters name as much."""
    return Audited(promises=Guarantees((promise(1.0),)), measured=[replayed(**more)],
                   charged=PureDP(paid if named is None else named),
                   events=lambda: [PureEvent(epsilon=paid, neighbours=Relation.REPLACE)])


def test_a_charge_below_what_was_measured_is_flagged_whatever_the_parameters_name() -> None:
    report = audit(charged_for_less(0.6))
    assert [row.promise for row in report.rows if row.flagged] == [COVERED]
    assert audit(charged_for_less(1.0)).passed
    assert not any(row.flagged for row in audit(charged_for_less(1.0)).rows)


def test_only_controls_of_rows_that_stand_in_the_report_are_named() -> None:
    report = audit(charged_for_less(1.0))
    assert {control.name for control in report.controls} == {"privacy", "the price of a promise", NAMED, COVERED}
    assert {control.name for control in report.controls if control.mutant.endswith(
        ("is charged", "of the charge"))} == {NAMED, COVERED}
    (row,) = (row for row in report.rows if row.promise == COVERED)
    assert (row.measured, row.note) == (1.0, "the audit flags 0.9 of the charge")


def test_a_loss_among_fewer_is_held_against_the_charge_of_that_run_alone() -> None:
    (row,) = (row for row in audit(charged_for_less(0.6, among="two people")).rows if row.promise == COVERED)
    assert row.verdict is Verdict.NOT_MEASURED
    for paid in (1.0, 0.6):
        few = charged_for_less(7.0, among="two people", events=lambda paid=paid: [
            PureEvent(epsilon=paid, neighbours=Relation.REPLACE)])
        (row,) = (row for row in audit(few).rows if row.promise == COVERED)
        assert row.flagged is (paid < 1.0)


def at_size(shown: float, **more: Any) -> FullSize:
    """A promise that holds, of whose noise so much must be missing before it shows."""
    return FullSize(sound=1.0, damped=float, rows=lambda left: [AuditRow.of_privacy(
        promise(1.0), shown / left, "one pair", named="at its own size").holding(promise(1.0))], **more)


def test_a_row_of_the_whole_size_that_would_not_show_less_noise_holds_nothing() -> None:
    (row,), controls = at_size(0.01).measured()
    assert (row.verdict, row.holds, controls) == (Verdict.VACUOUS, (), [])
    assert "the audit does not flag noise that is too small, down to 0.05 of its scale" in row.note
    (row,), (control,) = at_size(0.1).measured()
    assert (row.verdict, row.holds, control.flagged) == (Verdict.KEPT, (promise(1.0).sentence(),), True)


def only_below(factor: float) -> Callable[[Any, Noise], Outcome]:
    """The sums, to which less noise does nothing until it is less than so much."""
    def run(values: Any, noise: Noise) -> Outcome:
        unharmed = isinstance(noise, DampedNoise) and noise._part == "" and 1 > noise._damped >= factor
        return sums(values, noise._source if unharmed else noise)  # type: ignore[attr-defined]

    return run


def test_a_check_that_sees_only_far_less_noise_is_no_control() -> None:
    report = audit(audited(replayed(only_below(0.01))))
    assert report.problems == ("privacy: the audit did not flag 0.11 of the noise that the promise needs",)


def test_a_check_that_needs_less_than_it_might_says_so() -> None:
    report = audit(audited(replayed(only_below(0.3))))
    assert report.passed, report.problems
    assert "noise at 0.23 of its scale is flagged, and at 0.45 not" in report.rows[0].note
    assert "0.23 of the noise that the promise needs" in [control.mutant for control in report.controls]
    assert "is flagged, and at" not in audit(audited(replayed())).rows[0].note

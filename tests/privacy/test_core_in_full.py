"""The privacy core beside plain sums, products and dictionaries, in full: each number, each key, each text."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.contract.guarantees import Audience, Relation
from confide.contract.metered import Overspent
from confide.privacy import halting_law
from confide.privacy.accounting.accountant import CALCULATORS, KINDS, MADE_BY, Accountant, matrix, mechanisms
from confide.privacy.accounting.advanced import largest_step, theorem
from confide.privacy.accounting.sums import root_down, spendable
from confide.privacy.charge import Allowance, OnDevices, Unprotected, WithoutDraw
from confide.privacy.device_odds import check_instructions, of_hundred
from confide.privacy.divergences import approx_max_divergence, hockey_stick
from confide.privacy.events import ApproxEvent, PureEvent, Repeated, ZCDPEvent
from confide.privacy.filter import Cost, Filter
from confide.privacy.groups import GroupLoss
from confide.privacy.halting_law import LaplaceLaw, log_pattern
from confide.privacy.ledger import Account, Charge, Ledger
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP
from confide.privacy.meter import DrawCost
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.given_noise import anew, given
from confide.privacy.report_book import ReportBook
from confide.privacy.response import response_table
from confide.privacy.selection import largest_law, report_noisy_max
from confide.privacy.shares import decoded
from confide.privacy.sparse_vector import SparseVector
from confide.privacy.tree_bounds import quantile_bound, runs_needed
from confide.privacy.tree_counter import TreeCounter

PURE = PureEvent(epsilon=0.5, neighbours=Relation.REPLACE)


# ---- tables and dictionaries


def test_every_cell_of_the_tables_of_rules() -> None:
    table = matrix()
    assert table.columns == ("calculator", *(kind.__name__ for kind in KINDS), "source")
    assert table.rows == tuple(
        (name, *(each.RULES.get(kind, "Un" + "supported") for kind in KINDS), each.SOURCE)
        for name, each in CALCULATORS.items())
    assert any("Unsupported" in row for row in table.rows)
    assert table.note == ("Every rule is a proven upper bound for a list of events that was fixed before the run. "
                          "Repeated and Composed events count as the events within them.")
    made = mechanisms()
    assert made.columns == ("mechanism", "event", "because")
    assert made.rows == tuple((name, event, why) for name, (event, why) in MADE_BY.items())


def test_the_best_calculator_is_asked_for_a_pure_loss_unless_a_delta_is_given() -> None:
    account = Accountant([ZCDPEvent(rho=0.5, neighbours=Relation.REPLACE)])
    assert account.best() == account.best(0.0)
    assert math.isinf(account.best()[1])
    assert math.isfinite(account.best(1e-6)[1])


@pytest.mark.parametrize(("loss", "words"), [
    (PureDP(0.5), {"loss": "PureDP", "epsilon": 0.5}),
    (PureDP(math.inf), {"loss": "PureDP", "epsilon": "Infinity"}),
    (ApproxDP(0.5, 1e-6), {"loss": "ApproxDP", "epsilon": 0.5, "delta": 1e-6}),
    (ZCDP(0.25), {"loss": "ZCDP", "rho": 0.25}),
    (GDP(0.75), {"loss": "GDP", "mu": 0.75}),
    (RenyiDP(alpha=2.0, epsilon=0.5), {"loss": "RenyiDP", "alpha": 2.0, "epsilon": 0.5}),
])
def test_a_loss_as_a_dictionary(loss: PureDP | ApproxDP | ZCDP | GDP | RenyiDP, words: dict[str, object]) -> None:
    assert loss.to_dict() == words


def test_an_event_as_a_dictionary() -> None:
    one = {"event": "PureEvent", "neighbours": "one record replaced", "label": "", "epsilon": 0.5}
    assert PURE.to_dict() == one
    assert Repeated(event=PURE, count=3, neighbours=Relation.REPLACE, label="rounds").to_dict() == {
        "event": "Repeated", "neighbours": "one record replaced", "label": "rounds", "of": one, "count": 3}


def test_a_groups_loss_as_a_dictionary() -> None:
    loss = GroupLoss(size=3, audience=Audience.PUBLIC, loss=PureDP(1.5), guess=0.8)
    assert loss.to_dict() == {"size": 3, "audience": Audience.PUBLIC.value, "loss": PureDP(1.5).to_dict(),
                              "vacuous": False, "guess": 0.8}


# ---- budgets


@pytest.mark.parametrize("square", [Fraction(0), Fraction(1), Fraction(2), Fraction(9, 4), Fraction(1, 3),
                                    Fraction(10) ** 200, Fraction(10) ** -200, Fraction(2) ** 101])
def test_the_largest_double_whose_square_stays_below(square: Fraction) -> None:
    found = root_down(square)
    assert found >= 0
    assert Fraction(found) ** 2 <= square < Fraction(math.nextafter(found, math.inf)) ** 2


def test_decimals_above_and_below_their_doubles() -> None:
    assert Fraction(0.8) > Fraction("0.8")
    assert spendable(0.8, 1e-6) == math.nextafter(0.8, 0.0)
    assert spendable(0.8, 0.0) == 0.8
    assert Fraction(0.7) < Fraction("0.7")
    assert spendable(0.7, 1e-6) == 0.7
    assert spendable(0.5, 1e-6) == 0.5


@pytest.mark.parametrize("count", [1, 2, 7, 100])
@pytest.mark.parametrize("slack", [1e-9, 0.1, 0.9])
def test_the_largest_step_reaches_its_target(count: int, slack: float) -> None:
    for step in (0.01, 0.25, 1.0, 1.5):
        target = theorem(step, count, slack)
        found = largest_step(target, slack, count)
        assert found >= step
        assert theorem(found, count, slack) <= target < theorem(math.nextafter(found, math.inf), count, slack)


def test_a_cost_in_the_words_of_its_rule() -> None:
    basic = Filter(ApproxDP(1.0, 1e-3), "basic", Cost())
    concentrated = Filter(ApproxDP(1.0, 1e-3), "zcdp", Cost())
    cost = Cost(epsilon=Fraction(1, 4), delta=Fraction(1, 1000), rho=Fraction(1, 8))
    assert basic.asked(cost) == "epsilon 0.25, delta 0.001"
    assert basic.asked(Cost(epsilon=Fraction(1, 4))) == "epsilon 0.25"
    assert concentrated.asked(cost) == "rho 0.125"


def test_a_refusal_says_whether_anything_was_spent_before() -> None:
    unspent = Filter(PureDP(1.0), "basic", Cost())
    with pytest.raises(BudgetExceeded, match=r"the whole budget .nothing was spent before"):
        unspent.charged(Cost(epsilon=Fraction(2)), "a")
    half = unspent.charged(Cost(epsilon=Fraction(1, 2)), "a")
    with pytest.raises(BudgetExceeded) as refused:
        half.charged(Cost(epsilon=Fraction(2)), "a")
    assert "the whole budget" not in str(refused.value)
    assert "nothing was spent" not in str(refused.value)


def test_lines_from_which_nothing_is_drawn_say_why() -> None:
    cost = DrawCost.laplace(Fraction(1, 10))
    for line, why in ((OnDevices(name="a", event=PURE), "the line is spent on the participants' devices"),
                      (Unprotected(name="a", event=PURE), "the line protects nothing"),
                      (WithoutDraw(name="a", delta=1e-9), "the line pays for no draw")):
        with pytest.raises(Overspent, match=why):
            line.open().spend(cost, 1, None)


def test_an_allowance_with_a_delta_says_what_was_spent_before() -> None:
    line = Allowance(name="a", event=ApproxEvent(epsilon=1.0, delta=1e-6, neighbours=Relation.REPLACE)).open()
    with pytest.raises(Overspent) as alone:
        line.spend(DrawCost.laplace(Fraction(2)), 1, None)
    assert "spent before" not in str(alone.value)
    line.spend(DrawCost.laplace(Fraction(3, 4)), 1, None)
    with pytest.raises(Overspent, match=r"epsilon 0\.75 of this was spent before"):
        line.spend(DrawCost.laplace(Fraction(3, 4)), 1, None)


# ---- losses


def test_no_delta_is_above_one() -> None:
    for loss in (PureDP(800.0), RenyiDP(alpha=1.5, epsilon=900.0), ApproxDP(800.0, 0.5), ZCDP(1e6), GDP(1e4)):
        assert loss.delta_at(0.0) <= 1.0


def test_outcomes_at_the_very_ratio_are_not_beyond_it() -> None:
    first, second = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert hockey_stick(first, second, math.log(2.0)) == pytest.approx(0.0, abs=1e-15)
    assert hockey_stick(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.5) == 1.0
    assert approx_max_divergence(first, first, 0.25) == pytest.approx(math.log1p(-0.25))


@pytest.mark.parametrize(("probability", "text"), [
    (0.0, "0"), (1.0, "100"), (0.5, "50"), (0.7311, "73"), (0.98, "98"), (0.99966, "99.97"), (0.0003, "0.03"),
    (0.004, "0.4"), (0.9962, "99.6"), (0.00004, "0.004"), (0.0000951, "0.010"), (1e-9, "0.0000001"),
    (0.015, "2"), (0.985, "98"), (0.994, "99"), (0.0049, "0.5"), (0.9951, "99.5"),
])
def test_cases_in_a_hundred(probability: float, text: str) -> None:
    assert of_hundred(probability) == text


# ---- laws by plain sums


def _lattice_noise(scale: float, reach: int) -> tuple[np.ndarray, np.ndarray]:
    points = np.arange(-reach, reach + 1)
    ratio = math.exp(-1 / scale)
    return points, (1 - ratio) / (1 + ratio) * ratio ** np.abs(points)


@pytest.mark.parametrize("values", [[3, 3], [0, 2, 5], [7, 7, 7, 1], [-4, 0]])
@pytest.mark.parametrize("scale", [0.4, 1.5])
def test_the_largest_of_noisy_values_by_a_plain_sum(values: list[int], scale: float) -> None:
    points, mass = _lattice_noise(scale, 90)
    below = dict(zip(points.tolist(), np.cumsum(mass).tolist(), strict=True))

    def at_most(z: int) -> float:
        return 0.0 if z < -90 else 1.0 if z > 90 else below[z]

    law = [math.fsum(p * math.prod(at_most(value + int(z) - other - (before < place))
                                   for before, other in enumerate(values) if before != place)
                     for z, p in zip(points, mass.tolist(), strict=True))
           for place, value in enumerate(values)]
    assert largest_law(np.array(values), scale).tolist() == pytest.approx(law, abs=1e-12)


@pytest.mark.parametrize("clamp", [math.inf, 5.0])
def test_a_pattern_above_and_below_a_noisy_threshold_by_a_plain_sum(clamp: float) -> None:
    threshold, answer = LaplaceLaw(1.5, True, clamp), LaplaceLaw(2.5, True, clamp)
    gaps, tops = np.array([-2.0, 0.0, 3.0]), np.array([False, True, True])

    def law(it: LaplaceLaw) -> dict[int, float]:
        found = dict[int, float]()
        for point, mass in zip(*(part.tolist() for part in _lattice_noise(it.scale, 120)), strict=True):
            held = max(-clamp, min(clamp, point))
            found[int(held)] = found.get(int(held), 0.0) + mass
        return found

    of_threshold, of_answer = law(threshold), law(answer)
    exact = math.fsum(p * math.prod(
        math.fsum(q for y, q in of_answer.items() if (gap + y > z) == top) for gap, top in zip(gaps, tops, strict=True))
        for z, p in of_threshold.items())
    assert math.exp(log_pattern(gaps, tops, threshold, answer)) == pytest.approx(exact, rel=1e-11)


def test_a_long_pattern_is_summed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = LaplaceLaw(2.0, False), LaplaceLaw(4.0, False)
    gaps, tops = np.linspace(-3.0, 3.0, 7), np.arange(7) % 2 == 0
    whole = log_pattern(gaps, tops, *laws)
    monkeypatch.setattr(halting_law, "_CHUNK", 21)
    assert log_pattern(gaps, tops, *laws) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(halting_law, "_CHUNK", 3)
    assert log_pattern(gaps, tops, *laws) == pytest.approx(whole, rel=1e-12)
    points = len(laws[0].nodes(*halting_law._kinks(gaps, *laws))[0])
    monkeypatch.setattr(halting_law, "_MOST", 7 * points)
    assert log_pattern(gaps, tops, *laws) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(halting_law, "_MOST", 7 * points - 1)
    with pytest.raises(InvalidInput, match="for each of 7"):
        log_pattern(gaps, tops, *laws)
    monkeypatch.setattr(halting_law, "_MOST", 1000)
    with pytest.raises(InvalidInput, match=r"points of the threshold's noise, which") as alone:
        halting_law._bounded(1001.0)
    assert "for each of" not in str(alone.value)
    halting_law._bounded(1000.0)
    with pytest.raises(InvalidInput, match="for each of 2"):
        halting_law._bounded(501.0, 2)
    halting_law._bounded(500.0, 2)


def test_shares_and_their_errors_by_the_multinomial_law() -> None:
    table = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    decoder = np.linalg.inv(table)
    counts = np.array([50, 30, 20])
    found = decoded(counts, table, decoder)
    shares = counts / 100 @ decoder
    assert found.shares.tolist() == pytest.approx(shares.tolist())
    assert (shares > 0).all()
    reports = shares @ table
    covariance = decoder.T @ (np.diag(reports) - np.outer(reports, reports)) @ decoder / 100
    assert np.allclose(found.covariance, covariance, atol=1e-15)
    assert found.errors.tolist() == pytest.approx(np.sqrt(np.diag(covariance)).tolist())
    given_truth = [sum(shares[i] * (sum(table[i, k] * decoder[k, j] ** 2 for k in range(3))
                                    - sum(table[i, k] * decoder[k, j] for k in range(3)) ** 2) for i in range(3)) / 100
                   for j in range(3)]
    assert found.randomization_errors.tolist() == pytest.approx(np.sqrt(given_truth).tolist())
    negative = decoded(np.array([98, 1, 1]), table, decoder)
    assert negative.shares.min() < 0
    law = np.maximum(negative.shares, 0) / np.maximum(negative.shares, 0).sum()
    reports = law @ table
    assert np.allclose(negative.covariance, decoder.T @ (np.diag(reports) - np.outer(reports, reports)) @ decoder / 100
                       + decoder.T @ np.outer(reports, reports) @ decoder / 100 - np.outer(law, law) / 100, atol=1e-15)


@pytest.mark.parametrize("categories", [2, 3, 5, 1024])
@pytest.mark.parametrize("epsilon", [0.0, 1e-18, 0.1, 1.0, 43.0, 63.5, 64.0, 80.0])
def test_weights_of_a_randomised_response(epsilon: float, categories: int) -> None:
    import mpmath

    with mpmath.workdps(80):
        exact = min(Fraction(epsilon), Fraction(repr(epsilon)))
        odds = mpmath.e ** (mpmath.mpf(exact.numerator) / exact.denominator)
        other = max(1, int(mpmath.ceil(mpmath.mpf(2**62) / (odds + categories - 1))))
    table = response_table(epsilon, categories)
    same = 2**62 - (categories - 1) * other
    if same < other:
        assert table.same == table.other == 2**62 // categories
    else:
        assert table.other - other in (0, 1) if epsilon < 64 else table.other == 1
        assert table.same == 2**62 - (categories - 1) * table.other
    assert table.level <= epsilon


# ---- noise that a run is given


def test_given_noise_passes_everything_on() -> None:
    source = given(Noise.simulated(3))
    assert given(source) is source
    plain = Noise.simulated(3)
    assert (source.discrete_laplace(2.0, (2, 3), stream="a").tolist()
            == plain.discrete_laplace(2.0, (2, 3), stream="a").tolist())
    assert source.discrete_gaussian(3.0, 4, stream="b").tolist() == plain.discrete_gaussian(3.0, 4, stream="b").tolist()
    assert (source.vector_laplace(2.0, 3, stream="c").tolist() == plain.vector_laplace(2.0, 3, stream="c").tolist())
    assert source.laplace(2.0, 3, stream="d").tolist() == plain.laplace(2.0, 3, stream="d").tolist()
    assert source.gaussian(2.0, 3, stream="e").tolist() == plain.gaussian(2.0, 3, stream="e").tolist()
    assert source.meter is None


def test_noise_begins_anew_for_every_run_but_where_it_serves_one() -> None:
    used = Noise.simulated(5)
    first = used.laplace(1.0, 3, stream="a").tolist()
    assert anew(used).laplace(1.0, 3, stream="a").tolist() == first
    assert anew(given(used)).laplace(1.0, 3, stream="a").tolist() == first
    replayed = Noise.replayed({"a": [1]})
    assert anew(replayed) is replayed
    assert anew(Noise.secure()) is not Noise.secure()
    assert anew(Noise.secure()).kind == "secure"


# ---- sparse vector and counters


@pytest.mark.parametrize("law", ["discrete", "continuous"])
def test_clamps_are_the_least_that_a_delta_allows(law: str) -> None:
    alarm = SparseVector(threshold=10, epsilon=1.0, law=law, queries=50, threshold_share=0.3).clamped(1e-6)
    assert alarm.clamp is not None
    assert 0.9e-6 < alarm.clamp_delta <= 1e-6 if law == "continuous" else 1e-7 < alarm.clamp_delta <= 1e-6
    first, second = alarm.clamp
    assert first != second
    (event,) = alarm.events(Relation.REPLACE)
    assert event.label == "sparse vector with clamped noise"
    halted = alarm.halted([9, 11], [first + 100.0], [[0.0, second + 200.0]])
    assert halted.tolist() == [1 if 11 + second > 10 + first else -1]
    low = 10 - 2 * math.floor(second)
    halted = alarm.halted([low, 10], [-first - 100.0], [[second + 50.0, -second - 50.0]])
    assert halted.tolist() == [0 if low + second > 10 - first else 1 if 10 - second > 10 - first else -1]


def test_armings_and_streams_have_their_names() -> None:
    alarm = SparseVector(threshold=10, epsilon=1.0, armings=3)
    (event,) = alarm.events(Relation.REPLACE)
    assert isinstance(event, Repeated)
    assert (event.label, event.count, event.event.label) == ("armings", 3, "sparse vector")
    noise = RecordingNoise(Noise.simulated(1))
    alarm.arm(noise)
    TreeCounter(horizon=3, scale=2.0).start(noise).feed([1])
    TreeCounter(horizon=3, scale=2.0).draw(RecordingNoise(Noise.simulated(1)))
    assert {draw.stream[0] for draw in noise.draws} == {"sparse_vector", "tree_counter"}
    second = RecordingNoise(Noise.simulated(1))
    TreeCounter(horizon=3, scale=2.0).draw(second)
    assert {draw.stream[0] for draw in second.draws} == {"tree_counter"}


def test_a_noisy_maximum_of_monotone_scores_costs_half() -> None:
    scores, seen = [3, 5, 4], []
    for monotone in (False, True):
        noise = RecordingNoise(Noise.simulated(2))
        report_noisy_max(scores, 1.0, 2, noise, monotone=monotone, stream="a")
        seen.append({draw.scale for draw in noise.draws})
    assert seen == [{Fraction(4)}, {Fraction(2)}]


# ---- files, devices, and bounds of quantiles


def test_a_charge_as_the_ledger_writes_it() -> None:
    account = Account(name="survey", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    charge = Charge(account=account, events=(PURE,), delta=1e-6, budget=PureDP(2.0), subject_budget=PureDP(1.0))
    assert charge.entry() == {"data_set": "survey", "delta": "1e-06", "events": [PURE.to_dict()]}
    ledger = Ledger()
    other = Account(name="other", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    ledger.register(account, ApproxDP(2.0, 1e-3), rule="zcdp")
    ledger.register(other, PureDP(1.0))
    assert (ledger.rule(account), ledger.rule(other)) == ("zcdp", "basic")


RESPONSE: dict[str, object] = {"law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"]}


@pytest.mark.parametrize(("change", "words"), [
    ({"answers": ["no", ""], "epsilon": {"numerator": "1", "denominator": "1"}}, "an answer"),
    ({"epsilon": {"numerator": "x", "denominator": "1"}}, "numerator"),
    ({"epsilon": {"numerator": "1", "denominator": "y"}}, "denominator"),
    ({"epsilon": {"numerator": "1", "denominator": "0"}}, "denominator is 0"),
    ({"levels": {"worth": "", "epsilon": "0.1", "threshold": "1", "ceiling": "2"}}, "worth"),
])
def test_instructions_that_no_device_can_follow_are_refused_by_name(change: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        check_instructions({**RESPONSE, **change})
    assert words in str(refused.value)


@pytest.mark.parametrize(("runs", "gamma", "miss"), [(1000, 0.1, 0.01), (500, 0.05, 0.05), (90, 0.05, 0.01),
                                                     (2000, 0.5, 0.001)])
def test_the_order_statistic_that_bounds_a_quantile(runs: int, gamma: float, miss: float) -> None:
    from scipy.stats import binom

    rank = next(m for m in range(1, runs + 1) if binom.sf(m - 1, runs, 1.0 - gamma) <= miss)
    shuffled = np.random.default_rng(1).permutation(runs)
    assert quantile_bound(shuffled.tolist(), gamma, miss) == rank - 1
    needed = runs_needed(gamma, miss)
    assert quantile_bound(range(needed), gamma, miss) == needed - 1
    with pytest.raises(InvalidInput, match=f"at least {needed} are needed"):
        quantile_bound(range(needed - 1), gamma, miss)


def test_a_book_names_itself_and_what_it_cannot_take(tmp_path: Path) -> None:
    book = ReportBook(tmp_path / "reports.json")
    for name, more in (("level", {"level": -1.0}), ("total", {"level": 1.0, "total": 0.0})):
        with pytest.raises(InvalidInput, match=rf"^{name}:"):
            book.report(person="17", bit="smokes", campaign="spring", draw=lambda: 1, **more)
    assert book.report(person="17", bit="smokes", campaign="spring", level=0.5, draw=lambda: 1) == 1
    assert book.spent("17", "smokes") == book.spent("17", "smokes", "")
    assert book.spent("17", "smokes").level == 0.5
    stored = json.loads(book.path.read_text("utf-8"))
    assert set(stored) == {"format", "answers"}
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == ["reports.json"]
    book.path.write_text("{", "utf-8")
    with pytest.raises(InvalidInput, match=r"^book:"):
        book.answers()
    book.path.write_text('{"format": 1, "answers": [{}]}', "utf-8")
    with pytest.raises(InvalidInput, match=r"^book:"):
        book.answers()


def test_the_smallest_delta_of_an_approximate_loss_is_its_own() -> None:
    loss = ApproxDP(0.5, 1e-6)
    assert loss.epsilon_at(1e-6) == 0.5
    assert math.isinf(loss.epsilon_at(math.nextafter(1e-6, 0.0)))
    for epsilon in (0.1, 0.3, 0.4999):
        exact = 1 - (1 - Fraction(1e-6)) * Fraction((1 + math.exp(epsilon)) / (1 + math.exp(0.5)))
        found = loss.delta_at(epsilon)
        assert found == pytest.approx(float(exact), rel=1e-9)

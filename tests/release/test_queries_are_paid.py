"""DualQuery's draws: weights and price follow from the same numbers, and what is drawn stays bit for bit as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.contract.metered import Overspent
from confide.privacy.charge import FixedList
from confide.privacy.meter import Meter
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.release import calculators
from confide.release.answers import TrueAnswers
from confide.release.audited_games import (
    DataDependentSize,
    HalfThePeople,
    MixedSigns,
    OneRoundLater,
    TwiceTheStep,
)
from confide.release.columns import Binned, Bit, Levels
from confide.release.dual_query import DualQuery
from confide.release.query_game import Netted, QueryRound, draw_queries
from confide.release.schema import Schema
from confide.release.workload import Workload

N, ETA, ROUNDS, SAMPLES = 200, 0.6, 7, 25
COUNTS, SATISFIED = np.array([120, 31, 200]), np.array([2, 0, 3], np.int32)


def table(d: int = 6) -> np.ndarray:
    return study_generator(5, "paid").random((N, d)) < np.linspace(0.1, 0.9, d)


def game(kind: type[DualQuery] = DualQuery, **others: Any) -> DualQuery:
    return kind(**({"records": N, "eta": ETA, "rounds": ROUNDS, "samples": SAMPLES,
                    "workload": Workload.complete(6, width=2)} | others))


def metered(it: DualQuery) -> RecordingNoise:
    """Noise of a run that is charged what `it` says, whatever draws from it."""
    noise = RecordingNoise(Noise.simulated(1))
    noise._meter = Meter.of(it)
    return noise


# ---- bit for bit


PEOPLE = Schema((Levels(column="kin", levels=("child", "wife", "other"), bins=5),
                 Binned(column="age", lower=0, upper=100, bins=4), Bit(column="smoker")))
TABLE = {"kin": ["wife", "child", "wife", "other"] * 50, "age": [30, 5, 80, 51] * 50, "smoker": [1, 0, 0, 0] * 50}
TRUTH = study_generator(5, "truth").random((9, 32)) < 0.4

GOLDEN: dict[str, tuple[Callable[[], tuple[DualQuery, Any]], str]] = {  # weights, samples and records, as in 0.1.0
    "bits": (lambda: (game(), table()), "359e8d07ef072a0c"),
    "marginals": (lambda: (game(free="marginals", marginal_rho=0.05), table()), "c06765374a1af39c"),
    "parities": (lambda: (game(workload=Workload.parities([[0, 1], [2, 3], [1, 5]], attributes=6)), table()),
                 "93ef9b409c2ff4d6"),
    "one-hot": (lambda: (game(schema=PEOPLE, one_hot=True, workload=Workload.complete(PEOPLE, width=2)), TABLE),
                "ef40d892522003eb"),
    "predicates": (lambda: (game(workload=Workload.predicates(TRUTH)), _elements()), "1c1683b531213c21"),
}


def _elements() -> TrueAnswers:
    elements = study_generator(5, "elements").integers(0, TRUTH.shape[1], N)
    return TrueAnswers(counts=TRUTH[:, elements].sum(axis=1).astype(np.int64), records=N)


@pytest.mark.parametrize("name", GOLDEN)
def test_weights_samples_and_records_are_as_they_were(name: str) -> None:
    """The weights are exact integers times one double, so that their bits are the same on every machine."""
    it, data = GOLDEN[name][0]()
    observed = RecordingNoise(Noise.simulated(4))
    board: Any = it.run(data, observed).billboard
    digest = hashlib.sha256()
    for draw in observed.draws:
        digest.update(repr((draw.law, draw.stream, [float(point) for point in draw.center])).encode())
        digest.update(np.asarray(draw.value, dtype="<i8").tobytes())
    digest.update(np.packbits(board.records.unpack()).tobytes())
    assert digest.hexdigest()[:16] == GOLDEN[name][1]


# ---- the primitive


ROUND = QueryRound(eta=ETA, t=5, n=N, samples=SAMPLES)

STEEPER: dict[str, QueryRound] = {
    "a larger eta": ROUND._replace(eta=ETA * (1 + 1e-9)), "a later round": ROUND._replace(t=6),
    "fewer people": ROUND._replace(n=N - 1), "one more sample": ROUND._replace(samples=SAMPLES + 1),
}


def paid(played: QueryRound) -> RecordingNoise:
    """Noise with a line that pays for one round."""
    one, = calculators.draws(played.n, played.eta, played.t, played.samples)[played.t - 2:]
    noise = RecordingNoise(Noise.simulated(1))
    noise._meter = Meter([FixedList(name="rounds", listed=(one,))])
    return noise


def test_a_round_is_paid_for_once() -> None:
    noise = paid(ROUND)
    assert len(draw_queries(noise, ROUND, COUNTS, SATISFIED, line="rounds")) == SAMPLES
    with pytest.raises(Overspent, match="the run has made all charged draws"):
        draw_queries(noise, ROUND, COUNTS, SATISFIED, line="rounds")
    assert [(draw.stream, draw.line) for draw in noise.draws] == [(("round", 5), "rounds")]


@pytest.mark.parametrize("says", STEEPER)
def test_a_steeper_round_raises_before_it_draws(says: str) -> None:
    noise = paid(ROUND)
    with pytest.raises(Overspent):
        draw_queries(noise, STEEPER[says], COUNTS, SATISFIED, line="rounds")
    assert not noise.draws


@given(st.floats(1e-3, 5.0), st.integers(2, 9), st.integers(5, 400), st.sampled_from([False, True]))
def test_weights_are_no_steeper_than_what_was_spent(eta: float, t: int, n: int, mirrored: bool) -> None:
    """The range by which one record moves the weights that are drawn from, beside what the same call spent."""
    spent: list[float] = []

    class Observed(Meter):
        def spend(self, line: Any, cost: Any, *rest: Any, **more: Any) -> None:
            spent.append(float(cost.pure))

    counts = np.array([n // 2, n // 3, n - 1])
    observed = []
    for moved in (counts, counts + np.array([1, -1, 1])):
        noise = RecordingNoise(Noise.simulated(1))
        noise._meter = Observed([])
        draw_queries(noise, QueryRound(eta, t, n, 3, mirrored), moved, SATISFIED)
        noise._meter = None
        observed.append(np.array([float(point) for point in noise.draws[0].center]))
    assert spent[0] == spent[1]
    assert 0.999 * spent[0] - 2.0**-37 <= np.ptp(observed[0] - observed[1]) <= spent[0]


@pytest.mark.parametrize(("change", "field"), [
    ({"t": 0}, "rounds"), ({"t": -4}, "rounds"), ({"n": 0}, "n"), ({"n": -7}, "n"), ({"eta": 0.0}, "eta"),
    ({"eta": -1.0}, "eta"), ({"eta": np.inf}, "eta"), ({"n": 2**50}, "rounds"), ({"samples": -1}, "count"),
])
def test_numbers_that_have_no_price(change: dict[str, Any], field: str) -> None:
    """A round before the first one, or a negative step, would have a negative price."""
    noise = paid(ROUND)
    with pytest.raises(InvalidInput) as caught:
        draw_queries(noise, ROUND._replace(**change), COUNTS, SATISFIED, line="rounds")
    assert caught.value.field == field
    assert not noise.draws


# ---- the mechanism


@dataclass(frozen=True, kw_only=True)
class Steeper(DualQuery):
    """Plays another round than it is charged for."""

    change: Callable[[QueryRound], QueryRound] = field(default=lambda played: played)

    def _round(self, t: int) -> QueryRound:
        return self.change(super()._round(t))


MUTANTS: dict[str, Callable[[QueryRound], QueryRound]] = {
    "a larger eta": lambda played: played._replace(eta=played.eta * (1 + 1e-9)),
    "a later round": lambda played: played._replace(t=played.t + (played.t > 1)),
    "fewer people": lambda played: played._replace(n=played.n - 1),
    "one more sample": lambda played: played._replace(samples=played.samples + 1),
}


def of_the_data(noise: RecordingNoise) -> list[Any]:
    """Streams that a line pays for; the first round is uniform, and public."""
    return [draw.stream for draw in noise.draws if draw.line]


def test_a_sound_run_spends_its_line_and_has_no_second_one() -> None:
    it = game()
    noise = metered(it)
    it.run(table(), noise)
    assert of_the_data(noise) == [("round", t) for t in range(2, ROUNDS + 1)]
    for t in range(2, ROUNDS + 1):
        with pytest.raises(Overspent):
            it._draw(COUNTS, SATISFIED, t, noise)
    assert len(of_the_data(noise)) == ROUNDS - 1


@pytest.mark.parametrize("says", MUTANTS)
def test_a_run_that_plays_another_round_raises_before_it_reads_the_data(says: str) -> None:
    it = Steeper(**vars(game()), change=MUTANTS[says])
    for noise in (metered(game()), RecordingNoise(Noise.simulated(1))):  # a meter of its own: it is nobody's fault
        with pytest.raises(Overspent):
            it.run(table(), noise)
        assert not of_the_data(noise)


def test_a_run_that_leaves_out_the_free_round_raises_at_the_last_one() -> None:
    """Until then it draws what is charged, and nothing is published."""
    noise = metered(game())
    with pytest.raises(Overspent, match="the run has made all charged draws"):
        game(OneRoundLater).run(table(), noise)
    assert of_the_data(noise) == [("round", t) for t in range(2, ROUNDS + 1)]


class _AnotherDraw(DualQuery):
    def _draw(self, counts: Any, satisfied: Any, t: int, source: Noise) -> Netted:
        if t == 2:
            super()._draw(counts, satisfied, t, source)
        return super()._draw(counts, satisfied, t, source)


def test_a_round_is_drawn_once() -> None:
    noise = metered(game())
    with pytest.raises(InvalidInput, match="already drawn"):
        _AnotherDraw(**vars(game())).run(table(), noise)
    assert of_the_data(noise) == [("round", 2)]


@pytest.mark.parametrize("kind", [TwiceTheStep, OneRoundLater, HalfThePeople, DataDependentSize])
def test_injected_faults_of_privacy_raise_where_a_run_is_metered(kind: type[DualQuery]) -> None:
    noise, released = metered(game()), Noise.secure()
    with pytest.raises(Overspent):
        game(kind).run(table(), noise)
    with pytest.raises(Overspent):
        game(kind).run(table(), released)


def test_a_fault_that_costs_no_privacy_is_not_the_meters() -> None:
    noise = metered(game())
    game(MixedSigns).run(table(), noise)
    assert len(of_the_data(noise)) == ROUNDS - 1

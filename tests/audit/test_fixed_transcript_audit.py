"""The audit through the door: exact losses along common histories, leaks past the noise, and the law of the sampler."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from cases import fast
from confide.audit import (
    NOISY_MAX,
    SPARSE_VECTOR,
    DampedNoise,
    Neighbours,
    RepeatedNoise,
    StuckNoise,
    UnreleasedIntermediate,
    Verdict,
    fixed_transcript_audit,
    sampler_audit,
)
from confide.contract import InvalidInput
from confide.privacy import GDP, ZCDP, ApproxDP, Noise, PureDP, RenyiDP, SparseVector, report_noisy_max
from confide.privacy.noise import Draw, ForcedNoise, RecordingNoise

from false_alarms import alpha

PAIR = Neighbours([0.0, 1.0], [1.0, 1.0], lambda out: np.asarray(out).tobytes())
Mechanism = Callable[[list[float], Noise], Any]


def _audit(run: Mechanism, claim: Any = PureDP(1.0), pair: Neighbours = PAIR) -> Any:  # noqa: B008
    return fixed_transcript_audit(run, [pair], {"": claim}, Noise.simulated)[""]


def _mean(values: list[float], noise: Noise) -> np.ndarray:
    return noise.laplace(0.5, 1, stream="mean", center=[sum(values) / 2])


def test_loss_is_exact_for_every_law() -> None:
    def lattice(values: list[float], noise: Noise) -> np.ndarray:
        return noise.discrete_laplace(4, 1, stream="sum", center=[round(sum(values))])

    def vector(values: list[float], noise: Noise) -> np.ndarray:
        return noise.vector_laplace(2.0, 2, stream="sum", center=[sum(values), 0.0], stretch=[0.5, 1.0])

    def gaussian(values: list[float], noise: Noise) -> np.ndarray:
        return noise.gaussian(2.0, 1, stream="sum", center=[sum(values)])

    def normal_lattice(values: list[float], noise: Noise) -> np.ndarray:
        return noise.discrete_gaussian(2.0, 1, stream="sum", center=[round(sum(values))])

    assert _audit(_mean).measured == 1.0
    assert not _audit(_mean).flagged
    assert _audit(_mean, PureDP(0.99)).flagged
    assert _audit(lattice).measured == 0.25
    assert _audit(vector).measured == 1.0
    for run in (gaussian, normal_lattice):
        assert _audit(run, ZCDP(0.125)).measured == 0.125
        assert not _audit(run, ZCDP(0.125)).flagged
        assert _audit(run, ZCDP(0.12)).flagged
        exact = GDP(0.5) if run is gaussian else ZCDP(0.125)  # discrete noise has no exact Gaussian trade-off
        claim = ApproxDP(exact.epsilon_at(1e-6), 1e-6)
        assert _audit(run, claim).measured == pytest.approx(claim.epsilon)
        assert math.isinf(_audit(run, PureDP(3.0)).measured)  # Gaussian noise has no pure loss


def test_parts_are_distinguished_by_their_streams() -> None:
    def two(values: list[float], noise: Noise) -> np.ndarray:
        first = noise.laplace(1.0, 1, stream=("a", 0), center=[values[0]])
        return np.concatenate([first, noise.laplace(4.0, 1, stream=("b",), center=[values[0]])])

    found = fixed_transcript_audit(two, [PAIR], {"": PureDP(1.25), "a": PureDP(1.0), "b": PureDP(0.2)}, Noise.simulated)
    assert {part: audit.measured for part, audit in found.items()} == {"": 1.25, "a": 1.0, "b": 0.25}
    assert [audit.flagged for audit in found.values()] == [False, False, True]
    assert found["b"].row("b").verdict is Verdict.BROKEN


LEAKS: dict[str, tuple[Mechanism, str]] = {
    "past the noise": (lambda values, noise: np.concatenate([_mean(values, noise), [values[0] > 0.5]]), "published"),
    "in the scale": (lambda values, noise: noise.laplace(1.0 + values[0], 1, stream="x", center=[0.0]),
                     "the requested noise"),
    "in the number of draws": (
        lambda values, noise: [noise.laplace(1.0, 1, stream=("x", k)) for k in range(int(sum(values)))][:1],
        "the requested noise"),
    "in a size": (lambda values, noise: noise.laplace(1.0, 1 + int(sum(values)), stream="x"), "the requested noise"),
    "no noise": (lambda values, noise: np.array(values), "no noise"),
    "a second reading": (lambda values, noise: _mean(values, noise) + 1e-12 * values[0], "published"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_leaks_are_flagged(name: str) -> None:
    run, reason = LEAKS[name]
    found = _audit(run)
    assert found.flagged
    assert any(reason in leak for leak in found.leaks), found.leaks
    row = found.row()
    assert row.verdict is Verdict.BROKEN
    assert row.measured == math.inf


def test_nothing_replayed_proves_nothing() -> None:
    with pytest.raises(InvalidInput, match="at least one pair"):
        fixed_transcript_audit(_mean, [], {"": PureDP(1.0)}, Noise.simulated)


def test_broken_sources_are_observed() -> None:
    assert _audit(lambda values, noise: _mean(values, DampedNoise(noise, 0.5))).measured == 2.0
    assert _audit(lambda values, _: _mean(values, ForcedNoise([]))).flagged

    def two(values: list[float], noise: Noise) -> np.ndarray:
        return np.concatenate([noise.vector_laplace(2.0, 1, stream=("a", k), center=[v * 2])
                               for k, v in enumerate(values)])

    other = Neighbours([0.0, 0.0], [0.0, 1.0], PAIR.published)
    assert not _audit(two, pair=other).flagged
    assert _audit(lambda values, noise: two(values, RepeatedNoise(noise)), pair=other).flagged


@pytest.mark.parametrize("law", ["laplace", "gaussian", "vector_laplace", "discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("dimension", [1, 3])
def test_sampler(law: str, dimension: int) -> None:
    """Secure draws follow the law that was asked for; sources that add nothing, or too little, do not."""
    observed = RecordingNoise(Noise.simulated(0))
    center = [2**40 + 1, -5, 7][:dimension] if law.startswith("discrete") else [2.5, -1e6, 0.0][:dimension]
    scale = 2.0**30 if law.startswith("discrete") else 1.5
    getattr(observed, law)(scale, dimension, stream=("part", 1), center=center)
    share = alpha("audit.sampler", cases=10)
    assert not sampler_audit(Noise.secure(), observed.draws[0], 400, share).flagged
    assert sampler_audit(ForcedNoise([]), observed.draws[0], 400, share).flagged
    assert sampler_audit(DampedNoise(Noise.simulated(5), 0.5), observed.draws[0], 400, share).flagged


def test_sampler_sees_a_direction_that_is_not_uniform() -> None:
    observed = RecordingNoise(Noise.simulated(0))
    observed.vector_laplace(1.0, 3, stream="x")

    class OneWay(DampedNoise):
        """The right length, always along the first axis."""

        def _vector(self, scale: Any, points: Any, stretch: Any, grid: int, stream: Any) -> np.ndarray:
            drawn = super()._vector(scale, points, stretch, grid, stream)
            return np.array([np.linalg.norm(drawn), 0.0, 0.0])

    assert sampler_audit(OneWay(Noise.simulated(5), 1.0), observed.draws[0], 400, 1e-9).flagged


def _chosen(values: list[float], noise: Noise) -> np.ndarray:
    return noise.selection([values[0] / 2, 0.0, 1.0], 3, stream="item")


def _answered(values: list[float], noise: Noise) -> np.ndarray:
    return noise.channel([[3, 1], [1, 3]], np.array(values, dtype=int), stream="reports")


def test_losses_of_choices_are_exact() -> None:
    first, second = (np.exp([top, 0.0, 1.0]) for top in (0.0, 0.5))
    pure = 3 * float(np.abs(np.log(first / first.sum()) - np.log(second / second.sum())).max())
    assert _audit(_chosen).measured == pytest.approx(pure)
    assert _audit(_chosen, ZCDP(3 * 0.5**2 / 8)).measured == pytest.approx(3 * 0.5**2 / 8)
    assert _audit(_answered).measured == pytest.approx(math.log(3))
    assert _audit(_answered).flagged
    assert not _audit(_answered, PureDP(math.log(3))).flagged


def test_a_selection_counts_by_whichever_cost_is_less() -> None:
    """Largest log ratio .62, range 1: at a tiny delta the ratio is the sharper one, over many draws the range."""
    def once(values: list[float], noise: Noise) -> np.ndarray:
        return noise.selection([values[0], 0.0], stream="item")

    approximate = _audit(once, ApproxDP(0.8, 1e-9))
    assert approximate.measured == pytest.approx(_audit(once).measured) == pytest.approx(0.62, abs=0.01)
    assert not approximate.flagged


def test_an_answer_that_only_one_data_set_can_give() -> None:
    def speaking(values: list[float], noise: Noise) -> np.ndarray:
        return noise.channel([[4, 0], [1, 3]], np.array(values, dtype=int), stream="reports")

    assert math.isinf(_audit(speaking).measured)


def test_the_number_of_items_and_the_table_must_be_public() -> None:
    def grows(values: list[float], noise: Noise) -> np.ndarray:
        return noise.selection([0.0] * (2 + int(values[0])), stream="item")

    def turns(values: list[float], noise: Noise) -> np.ndarray:
        table = [[3, 1], [1, 3]] if values[0] else [[2, 2], [1, 3]]
        return noise.channel(table, [0], stream="item")

    for run in (grows, turns):
        assert "depends on the data" in _audit(run).leaks[0]


def _first_above(values: list[float], noise: Noise) -> list[int]:
    drawn = [noise.laplace(4.0, 1, stream=("sparse", k), center=[v])[0] for k, v in enumerate(values)]
    return [int(np.argmax(np.array(drawn) > 0.5)), *noise.discrete_laplace(2, 1, stream="count")]


def _farther(draws: Sequence[Draw]) -> list[Draw]:
    return [replace(draw, value=np.where(draw.value > 0.5, draw.value + 1, draw.value - 1)) for draw in draws]


def _but_the_first(draws: Sequence[Draw]) -> list[Draw]:
    return [draws[0], *_farther(draws[1:])]


def test_unreleased_intermediates_bring_their_own_loss() -> None:
    rule = UnreleasedIntermediate(lambda draws: 0.125 * len(draws), _farther)
    two = fixed_transcript_audit(_first_above, [PAIR], {"": PureDP(1.0), "sparse": PureDP(1.0), "count": PureDP(1.0)},
                                 Noise.simulated, unreleased={"sparse": rule})
    assert [two[part].measured for part in ("", "sparse", "count")] == [0.25, 0.25, 0.0]
    assert not any(each.flagged for each in two.values())
    ends = {part: each.row().evidence.rpartition(", ")[2] for part, each in two.items()}
    own = "loss on these pairs by the mechanism's own formula for sparse"
    assert ends == {"": own, "sparse": own, "count": "loss exact on these pairs"}


@pytest.mark.parametrize("kept", [list, _but_the_first, lambda draws: _farther(draws)[1:]],
                         ids=["all kept", "one kept", "one left out"])
def test_other_answers_that_keep_one_show_nothing(kept: Any) -> None:
    found = fixed_transcript_audit(_first_above, [PAIR], {"": PureDP(1.0)}, Noise.simulated,
                                   unreleased={"sparse": UnreleasedIntermediate(lambda draws: 0.0, kept)})[""]
    assert found.flagged
    assert found.measured == 0.0
    assert "the audit cannot see whether these answers stay private" in found.doubts[0]
    assert found.row().verdict is Verdict.BROKEN
    assert found.leaks or found.row().evidence == found.doubts[0]


@pytest.mark.parametrize("law", ["channel", "selection"])
def test_sampler_of_choices(law: str) -> None:
    observed = RecordingNoise(Noise.simulated(0))
    arguments = ([[5, 3, 0], [0, 4, 4]], [0, 1]) if law == "channel" else ([0.0, -1.0, -2.0, -40.0],)
    getattr(observed, law)(*arguments, stream="part")
    share = alpha("audit.sampler.choices", cases=2)
    assert not sampler_audit(Noise.secure(), observed.draws[0], 2000, share).flagged
    assert sampler_audit(DampedNoise(Noise.simulated(5), 0.5), observed.draws[0], 2000, share).flagged
    assert sampler_audit(ForcedNoise([]), observed.draws[0], 2000, share).flagged


def test_every_kind_of_claim_has_its_own_parameter() -> None:
    def gaussian(values: list[float], noise: Noise) -> np.ndarray:
        return noise.gaussian(2.0, 2, stream="sum", center=[sum(values), 0.0])

    assert _audit(gaussian, GDP(0.5)).measured == 0.5
    assert _audit(gaussian, GDP(0.49)).flagged
    assert _audit(gaussian, RenyiDP(4.0, 0.5)).measured == 0.5
    dominating = PureDP(1.0).to_gdp()
    assert _audit(_mean, dominating).measured == pytest.approx(dominating.mu)
    assert not _audit(_mean, RenyiDP(5.0, 1.0)).flagged  # no divergence is above epsilon
    found = _audit(_chosen, ApproxDP(0.8, 1e-3))  # three draws of range 1/2
    assert found.measured == pytest.approx(ZCDP(3 / 32).epsilon_at(1e-3), rel=0.2)


def test_a_sparse_vector_is_measured_by_where_it_halts() -> None:
    alarm = SparseVector(threshold=5, epsilon=1.0, armings=2)
    pair = Neighbours([2, 4, 9, 3, 8, 1], [3, 3, 8, 4, 9, 1], lambda out: repr(out).encode())

    def alarms(values: list[int], noise: Noise) -> list[int | None]:
        first = alarm.run(values, noise, "alarm")
        return [first, alarm.run(values[(first or 0) + 1 :], noise, "alarm", arming=1)]

    claims = {"": PureDP(2.0), "alarm/0": PureDP(1.0)}
    found = fixed_transcript_audit(alarms, [pair], claims, Noise.simulated, unreleased={"alarm": SPARSE_VECTOR})
    history = RecordingNoise(Noise.simulated(0))
    halted = alarms(list(pair.first), history)
    first = alarm.replayed_loss(pair.first, pair.second, halted[0])
    assert found["alarm/0"].measured == pytest.approx(abs(first))
    assert found[""].measured >= found["alarm/0"].measured > 0
    assert not found[""].flagged
    plain = fixed_transcript_audit(alarms, [pair], claims, Noise.simulated)[""]
    assert plain.measured > found[""].measured  # noisy answers that nobody sees would count in full


def _alarm(values: list[int], noise: Noise, **changes: Any) -> int | None:
    return replace(SparseVector(threshold=0, epsilon=1.0), **changes).run(values, noise, "alarm")


def _never_halts(values: list[int], noise: Noise) -> list[bool]:
    level = noise.discrete_laplace(2, 1, stream=("alarm", 0, "threshold"), center=[0])[0]
    return [bool(noise.discrete_laplace(4, 1, stream=("alarm", 0, "answer", k), center=[v])[0] > level)
            for k, v in enumerate(values)]


def _shows_answers(values: list[int], noise: Noise) -> list[Any]:
    observed = RecordingNoise(noise)
    return [_alarm(values, observed), *(draw.value.tolist() for draw in observed.draws)]


def _which_is_largest(values: list[int], noise: Noise) -> list[int]:
    observed = RecordingNoise(noise)
    halted = _alarm(values, observed)
    return [-1 if halted is None else halted, int(np.argmin([draw.value[0] for draw in observed.draws[1:]]))]


def _whole_vectors(values: list[int], noise: Noise) -> list[bool]:
    """All at once, of which a pattern of single answers would count the first alone."""
    level = noise.discrete_laplace(2, 1, stream=("alarm", 0, "threshold"), center=[0])[0]
    noisy = noise.discrete_laplace(4, len(values), stream=("alarm", 0, "answer", 0), center=values)
    return [bool(each > level) for each in noisy]


@pytest.mark.parametrize("run", [
    lambda values, noise: _alarm(values, noise, epsilon=10.0),
    lambda values, noise: _alarm(values, noise, threshold=max(values)),
    _never_halts, _shows_answers, _which_is_largest, _whole_vectors,
], ids=["a tenth of the noise", "threshold from the data", "never halts", "shows its answers",
        "shows which is the least", "whole vectors"])
def test_broken_sparse_vectors_are_flagged(run: Mechanism) -> None:
    rng = np.random.default_rng(1)
    pairs = []
    for _ in range(20):
        first = rng.integers(-3, 4, 60)
        second = first + rng.choice([-1, 1], 60)
        pairs.append(Neighbours(first.tolist(), second.tolist(), lambda out: repr(out).encode()))
    claims, unreleased = {"": PureDP(1.0)}, {"alarm": SPARSE_VECTOR}
    assert fixed_transcript_audit(run, pairs, claims, Noise.simulated, unreleased=unreleased)[""].flagged
    assert not fixed_transcript_audit(_alarm, pairs, claims, Noise.simulated, unreleased=unreleased)[""].flagged


def test_more_histories_meet_what_is_rare() -> None:
    def cut(values: list[float], noise: Noise) -> float:
        """Noise far out is cut at a bound of the data's own."""
        return min(float(_mean(values, noise)[0]), sum(values) / 2 + 1.5)

    one = fixed_transcript_audit(cut, [PAIR], {"": PureDP(1.0)}, Noise.simulated)[""]
    many = fixed_transcript_audit(cut, [PAIR], {"": PureDP(1.0)}, Noise.simulated, histories=200)[""]
    assert not one.flagged
    assert many.leaks == ("the published values differ although all noisy answers are equal",)


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("scale", fast(2, [0.3, 5.0, 1.0, 2.0, 40.0]))
def test_lattices_that_show_their_steps(law: str, scale: float) -> None:
    observed = RecordingNoise(Noise.simulated(0))
    getattr(observed, law)(scale, 1, stream="x", center=[7])
    share = alpha("audit.sampler.lattice", cases=10)
    assert not sampler_audit(Noise.secure(), observed.draws[0], 4000, share).flagged
    if scale > 0.5:
        assert sampler_audit(DampedNoise(Noise.simulated(5), 0.5), observed.draws[0], 4000, share).flagged


def test_the_false_alarm_of_the_binomial_tests_is_exact() -> None:
    """A two-cell law with few expected counts, where a chi-square would be wrong a thousand times too often."""
    from confide.audit.sampler import _binomial

    runs, rate = 4000, 5 / 4000
    for level in (1e-3, 1e-6, 1e-9):
        wrong = [binom.pmf(k, runs, rate) for k in range(80)
                 if _binomial(np.array([k, runs - k]), runs, np.array([rate, 1 - rate])) <= level]
        assert sum(wrong) <= level


@pytest.mark.parametrize("law", ["laplace", "discrete_laplace", "vector_laplace", "selection", "channel"])
def test_streams_that_repeat_each_other_are_flagged(law: str) -> None:
    observed = RecordingNoise(Noise.simulated(0))
    arguments = {"selection": ([0.0, 1.0],), "channel": ([[3, 1], [1, 3]], [0])}.get(law, (3.0, 2))
    getattr(observed, law)(*arguments, stream="x")
    stuck = StuckNoise(lambda: Noise.simulated(3))
    assert sampler_audit(stuck, observed.draws[0], 600, 1e-9).flagged
    assert not sampler_audit(Noise.simulated(3), observed.draws[0], 600, 1e-9).flagged


def test_a_split_is_no_noise() -> None:
    observed = RecordingNoise(Noise.simulated(0))
    observed.split(4, stream="x")
    with pytest.raises(InvalidInput, match="split of people"):
        sampler_audit(Noise.simulated(1), observed.draws[0], 100, 1e-9)


def test_a_misspelt_part_is_no_clean_bill() -> None:
    found = fixed_transcript_audit(_mean, [PAIR], {"Mean": PureDP(1.0)}, Noise.simulated)["Mean"]
    assert found.flagged
    assert found.leaks == ("the run draws no noise with the name 'Mean'; its names are mean",)


def test_the_largest_of_noisy_answers() -> None:
    def winner(values: list[int], noise: Noise) -> int:
        return report_noisy_max(values, 1.0, 1, noise, stream="winner")

    def shown(values: list[int], noise: Noise) -> list[int]:
        observed = RecordingNoise(noise)
        return [winner(values, observed), int(observed.draws[0].value.max())]

    pairs = [Neighbours([5] * 10, [4] * 9 + [6], lambda out: repr(out).encode())]
    claims, unreleased = {"": PureDP(1.0)}, {"winner": NOISY_MAX}
    sound = fixed_transcript_audit(winner, pairs, claims, Noise.simulated, unreleased=unreleased, histories=20)[""]
    assert not sound.flagged
    assert 0.2 < sound.measured <= 1.0
    assert fixed_transcript_audit(shown, pairs, claims, Noise.simulated, unreleased=unreleased)[""].flagged
    assert fixed_transcript_audit(winner, pairs, claims, Noise.simulated)[""].flagged  # if all ten were shown


@pytest.mark.parametrize("of", [
    lambda noisy: np.sort(np.argsort(-noisy)[:5]), lambda noisy: np.argsort(-noisy),
    lambda noisy: np.argsort(-noisy)[1], np.argmin, lambda noisy: np.ptp(noisy) > 30,
    lambda noisy: noisy[np.argsort(noisy)[-2:]] @ [-1, 1] > 2, lambda noisy: noisy.max() > 0,
], ids=["the first five", "the whole ranking", "the second place", "the last place", "whether they are far apart",
        "whether the largest leads by far", "the sign of the largest"])
def test_more_than_the_largest_of_noisy_answers_is_no_winner(of: Callable[[np.ndarray], Any]) -> None:
    def shown(values: list[int], noise: Noise) -> Any:
        noisy = noise.discrete_laplace(2.0, 10, stream="winner", center=values)
        return np.argmax(noisy), of(noisy)

    pairs = [Neighbours([5] * 10, [4] * 9 + [6], lambda out: repr(out).encode())]
    found = fixed_transcript_audit(shown, pairs, {"": PureDP(1.0)}, Noise.simulated,
                                   unreleased={"winner": NOISY_MAX}, histories=4)[""]
    assert found.leaks == ("the public sees noisy answers that must stay private",)


@pytest.mark.parametrize("safe", [lambda noise: noise.release_safe, lambda noise: noise.kind == "secure"])
def test_less_noise_in_a_release_than_in_a_study_shows(safe: Callable[[Any], bool]) -> None:
    def mean(values: Any, noise: Any) -> Any:
        return noise.laplace(0.025 if safe(noise) else 0.5, 1, stream="mean", center=[sum(values) / 2])

    pair = Neighbours([0.0, 1.0], [1.0, 1.0], lambda outcome: outcome.tobytes())
    (found,) = fixed_transcript_audit(mean, [pair], {"": PureDP(1.0)}, Noise.simulated).values()
    assert found.flagged
    assert found.measured == pytest.approx(20.0)

"""Private allocation with payments: the number of unsatisfied participants, the gain of a lie, and the bounds on both.
Spec convex_programs 9.7.

Lies are tried on a small market. Truth and lie get the same noise, so that every effect of a lie is visible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.charts import intervals
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_CERTIFICATE, Compared, Findings, Study, advance, bound, evaluated
from confide.evidence.wu_2017.private_programs.printed_bounds import printed_gain
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, REFERENCE, market
from confide.privacy.noise import Noise
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.instances import popular
from confide.programs.true_dude import TrueDude

__all__ = ["STUDY"]

_SPEC = {20_000: (34.0, 190.0), 100_000: (7.0, 125.0)}
"""The specification's point estimate and certified number of participants who are not .01-satisfied."""


def _utility(outcome: Any, values: NDArray[Any], index: int, rounds: int) -> float:
    """Utility of the allocation of one participant, by their true values."""
    actions, times = (np.array(outcome.shares[name][index].as_py()) for name in ("actions", "times"))
    had = float(np.where(actions >= 0, values[index][np.maximum(actions, 0)], 0.0) @ times) / rounds
    return had - float(outcome.shares["price"][index].as_py())


def _lies(values: NDArray[Any], index: int) -> dict[str, NDArray[Any]]:
    """Lies of a participant, by name."""
    mine, best = values[index], int(values[index].argmax())
    only = np.zeros_like(mine)
    only[best] = 1.0
    others = np.where(np.arange(len(mine)) == best, 0.0, mine)
    return {"nine tenths of all values": 0.9 * mine, "half of all values": mine / 2,
            "twice all values": np.minimum(1.0, 2 * mine), "nothing": np.zeros_like(mine),
            "the favourite alone, at 1": only, "all but the favourite": others}


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes, ranks, seeds, n = ((20_000,), (36, 54), 8, 60) if quick else ((20_000, 100_000), (24, 36, 48, 54), 60, 60)
    compared: list[Compared] = []
    rows: list[tuple[float, ...]] = []
    for size in sizes:
        program, values, _ = market(size, 10)
        mechanism = TrueDude(program, 1.0, DELTA, alpha=0.01)
        outcome: Any = mechanism.run(values, Noise.simulated(1))
        many, certified = outcome.diagnostics["unsatisfied"], outcome.certificate.unsatisfied(0.01)
        rows.append((size, many, certified, *_SPEC[size], mechanism.gain))
        compared.append(bound(f"participants who are not .01-satisfied, n = {size:,}; the certificate claims", many,
                              at_most=certified, origin=OWN_CERTIFICATE))
    small = UnitDemand(n, 6, goods=4)
    values, mechanism = popular(n, 4, 3).astype(np.float64), TrueDude(small, 1.0, DELTA, 20, 10, alpha=0.01)
    people = np.argsort(values.max(axis=1))[list(ranks)].tolist()  # by how much they want something
    printed = printed_gain(1.0, DELTA, 0.01, most_value=1.0, largest_sum=1.0, tau=1.0, rows=4)
    points: list[tuple[str, str, float, float, float]] = []
    truths = {seed: mechanism.run(values, Noise.simulated(seed)) for seed in range(1, seeds + 1)}
    gained: dict[str, list[float]] = {}
    for done, index in enumerate(people, 1):
        for name, said in _lies(values, index).items():
            reported = values.copy()
            reported[index] = said
            for seed, truth in truths.items():
                lied: Any = mechanism.run(reported, Noise.simulated(seed))
                gain = _utility(lied, values, index, 20) - _utility(truth, values, index, 20)
                gained.setdefault(name, []).append(gain)
        advance(progress, done, len(people))
    for name, each in gained.items():
        mean, error = float(np.mean(each)), 2.0 * float(np.std(each)) / len(each) ** 0.5
        points.append((name, "lie", mean, mean - error, mean + error))
        compared.append(bound(f"mean gain of a lie, {name}, n = {n}; promised at most", mean, at_most=mechanism.gain,
                              origin=OWN_CERTIFICATE))
    compared.append(bound("promised bound for any lie; the source, where truth gives .6", mechanism.gain,
                          at_most=(printed.factor - 1.0) * 0.6 + printed.added, remark="nothing is worth more than 1",
                          origin=evaluated("Wu 2017, Theorem 6.2.11, line 5250")))
    return Findings(compared=tuple(compared), blocks=(
        *intervals(points, title="What lies gain, epsilon = 1, alpha = .01", axis="mean gain, in units of value",
                   alt="Mean gain of six lies, with bars of two standard errors. No lie gains anything to speak of, "
                       "and all gains are far below the promised .105."),
        Table(columns=("n", "not satisfied", "certified", "reference: estimate", "reference: certified",
                       "gain, promised"), rows=tuple(rows),
              note="TrueDude, k = 10, epsilon = 1, alpha = .01, T = 200 + 100. "
                   f"{REFERENCE} These runs estimate the regret; the figure here is a count. Gains: a market of 60, "
                   "T = 20 + 10.")))


STUDY = Study(
    name="programs-truth",
    title="The gain of a lie",
    source="Wu 2017, Lemma 6.2.4 and Theorem 6.2.11",
    statement="TrueDude is (e^epsilon, alpha (2 e^epsilon - 1) + delta max(V, C1 tau sqrt(k)))-truthful.",
    run=_run,
)

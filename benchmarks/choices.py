"""How fast secure choices are drawn (selection, randomised response), beside OpenDP, and how the time grows."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import opendp.prelude as dp

from benchmarks.noise import Job, least_seconds
from benchmarks.report import Report, Table, Target
from confide.privacy import exponential_mechanism, randomized_response, report_noisy_max
from confide.privacy.noise import Noise

TITLE = "Secure choices"
EPSILON = 0.1
ROUNDS = 1750
"""Draws from one list of scores, as many as a round of DualQuery takes."""


def opendp_selection(scores: np.ndarray, measure: Any) -> Job:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    mechanism = dp.m.make_noisy_max(*space, measure, scale=2 / EPSILON)
    return lambda run: mechanism(scores)


def opendp_response() -> Job:
    dp.enable_features("contrib")
    mechanism = dp.m.make_randomized_response([0, 1, 2, 3, 4], 0.7)
    return lambda run: [mechanism(1) for _ in range(100)]


def run(*, quick: bool) -> Report:
    items, people, repeats = (10_000, 100_000, 3) if quick else (1_000_000, 2_500_000, 7)
    noise = Noise.secure()
    jobs: dict[str, tuple[int, Job]] = {}
    for k in (1, 2, 4):
        scores = np.random.default_rng(k).integers(0, 1000, k * items)
        truth = np.random.default_rng(k).integers(0, 5, k * people)

        def select(run: int, k: int = k, scores: np.ndarray = scores) -> object:
            return exponential_mechanism(scores, EPSILON, 1, noise, stream=("e", k, run), size=ROUNDS)

        def respond(run: int, k: int = k, truth: np.ndarray = truth) -> object:
            return randomized_response(truth, 1.0, noise, stream=("r", k, run), categories=5)

        jobs[f"{ROUNDS} draws of the exponential mechanism, {k * items:,} items"] = (k * items, select)
        jobs[f"randomised response of {k * people:,} people, 5 answers"] = (k * people, respond)
    scores = np.random.default_rng(1).integers(0, 1000, items)
    jobs[f"one draw of the exponential mechanism, {items:,} items"] = (
        items, lambda run: exponential_mechanism(scores, EPSILON, 1, noise, stream=("one", run))
    )
    few = scores[: min(items, 100_000)]
    jobs[f"one noisy max, {len(few):,} items"] = (
        len(few), lambda run: report_noisy_max(few, EPSILON, 1, noise, stream=("m", run))
    )
    peers = {"permute-and-flip": dp.max_divergence(), "Gumbel noise": dp.zero_concentrated_divergence()}
    for name, measure in peers.items():
        jobs[f"OpenDP, {name}, one draw, {items:,} items"] = (items, opendp_selection(scores, measure))
    jobs["OpenDP, randomised response of 100 people"] = (100, opendp_response())
    seconds = least_seconds(jobs, repeats)

    def each(name: str) -> float:
        return seconds[name] / jobs[name][0]

    one = f"one draw of the exponential mechanism, {items:,} items"
    best = min(seconds[f"OpenDP, {name}, one draw, {items:,} items"] for name in peers)
    response = f"randomised response of {people:,} people, 5 answers"
    growth = []
    for text, size in ((f"{ROUNDS} draws of the exponential mechanism, {{:,}} items", items),
                       ("randomised response of {:,} people, 5 answers", people)):
        first, second, fourth = (seconds[text.format(k * size)] for k in (1, 2, 4))
        growth.append((text.format(size), 1e3 * first, second / first, fourth / first))
    return Report(
        title=TITLE,
        method=[
            f"Each figure is the least time of {repeats} runs. The jobs take turns.",
            f"The peer is OpenDP {version('opendp')}. Its noisy max for pure privacy (permute-and-flip) and for zCDP "
            "(Gumbel noise) makes one draw a call. Its randomised response takes one person a call. The exponential "
            "mechanism of confide has the law of Gumbel noise, and makes any number of draws from one list.",
        ],
        targets=[
            Target("one selection, as a multiple of OpenDP's speed", 1.0, best / seconds[one], at_least=True),
            Target("randomised responses per second, as a multiple of OpenDP's", 1.0,
                   each("OpenDP, randomised response of 100 people") / each(response), at_least=True),
        ],
        tables=[
            Table("Draws", ("draw", "ms", "ns an item or person"), [
                (name, 1e3 * seconds[name], 1e9 * each(name)) for name in jobs
            ]),
            Table("Growth", ("draw", "ms at 1 x", "2 x takes", "4 x takes"), growth,
                  note="The last two columns are multiples of the first. Multiples of 2 and 4 mean linear growth."),
        ],
        details={"seconds": seconds, "epsilon": EPSILON, "repeats": repeats},
    )

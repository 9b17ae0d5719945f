"""The changes that lead from the printed constants to a usable auction, and the effect of each change on the error of
the counts.

There are 10^6 bidders and 50 goods of 16,000 copies, epsilon is 1, and the failure probability is .01 (spec allocation
section 4). A quick run has 20,000 bidders, 10 goods of 1,600 copies, epsilon = 10 and failure probability .1. The
product of supply and epsilon is that of a full run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confide.allocation.pmatch import PMatch
from confide.allocation.settings import usual_error
from confide.charts import intervals
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, in_words
from confide.evidence.wu_2017.private_matchings.settings import MatchingSetting
from confide.evidence.wu_2017.private_matchings.studies.runs import NOTE, bidders, ran
from confide.privacy.noise import Noise
from confide.privacy.tree_counter import TreeCounter

__all__ = ["STUDY"]

_DRAWN = 40_000  # simulated counters


def _steps(sizes: dict[str, Any]) -> dict[str, PMatch]:
    """The auctions from the printed one to the final one, each with one more change."""
    batch = sizes["supply"] // 2
    bare: dict[str, Any] = {**sizes, "certify_with": 0.0, "reclear": 0.0, "reserve": 0}
    first: dict[str, Any] = {"increment": 0.1, "bid_cap": 8, "rounds": 30, "batch": 1, "arity": 2}
    last: dict[str, Any] = {"increment": 0.3, "bid_cap": 3, "rounds": 10, "batch": batch, "arity": 48}
    return {
        "8 bids of each bidder, 30 rounds": PMatch(**bare, **first),
        f"batches of {batch:,}": PMatch(**bare, **{**first, "batch": batch}),
        "trees of arity 16": PMatch(**bare, **{**first, "batch": batch, "arity": 16}),
        "3 bids, 10 rounds, alpha = .3, arity 48": PMatch(**bare, **last),
        "final clearing": PMatch(**{**bare, "reclear": 0.3, "reserve": None}, **last),
    }


def _sampled_reserve(counter: TreeCounter, gamma: float, runs: int) -> int:
    """The reserve as a quantile of the error of simulated noise. The quantile is no confidence bound, so it serves only
    for comparison.
    """
    one = TreeCounter(horizon=counter.horizon, scale=counter.scale, arity=counter.arity, running_maximum=False,
                      counters=min(runs, 2**22 // counter.horizon))
    found = list[np.ndarray]()
    while sum(map(len, found)) < runs:
        drawn = one.draw(Noise.simulated(0), ("sampled reserve", len(found)))
        noise = one.count(np.zeros_like(drawn), drawn)
        found.append(np.maximum(0, noise.max(axis=1)) - noise[:, -1])
    level = (1.0 - gamma) ** (1.0 / counter.counters)
    return math.ceil(float(np.quantile(np.concatenate(found)[:runs], level, method="higher"))) + 1


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes: dict[str, Any] = {"people": 10**6, "goods": 50, "supply": 16_000, "epsilon": 1.0,
                             "failure_probability": 0.01}
    if quick:
        sizes = {"people": 20_000, "goods": 10, "supply": 1_600, "epsilon": 10.0, "failure_probability": 0.1}
    supply, gamma, runs = sizes["supply"], sizes["failure_probability"], 1 if quick else 2
    source = MatchingSetting(people=sizes["people"], goods=sizes["goods"], epsilon=sizes["epsilon"],
                             failure_probability=gamma,
                             increment=0.1, tolerance=0.1)
    whole = TreeCounter(horizon=source.horizon, scale=source.strict_scale, counters=sizes["goods"], arity=2)
    of, steps = bidders("A", sizes["people"], sizes["goods"], supply), _steps(sizes)
    errors = {"the source's formula": source.error,
              f"its T = {source.rounds} rounds, noise (2T + 1) h/epsilon, exact error": usual_error(whole, gamma)}
    rows: list[tuple[str | float, ...]] = [(name, error, math.nan, math.nan) for name, error in errors.items()]
    compared = [bound("copies in reserve by the source's constants; the source: fewer than there are", source.reserve,
                      at_most=supply - 1.0, remark="nothing is left to sell",
                      origin=in_words("Wu 2017, Algorithm 4, line 1920"))]
    for done, (name, auction) in enumerate(steps.items(), 1):
        errors[name] = error = usual_error(auction.counter, gamma)
        reserve, share = float(auction.needed_reserve), math.nan
        if auction.batch > 1 and auction.arity > 2:
            kept = auction if auction.reclear else PMatch(**{**_fields(auction), "reserve": None})
            share = ran(kept, of, runs).share
            what = "with the final clearing" if auction.reclear else f"with a reserve, {name}"
            compared.append(Compared(quantity=f"share of the optimum {what}", published=None, ours=share,
                                     agreement="not published"))
        rows.append((name, error, reserve, share))
        if not quick and not auction.reclear and auction.arity == 48:
            sampled = _sampled_reserve(auction.counter, gamma, _DRAWN)
            tight = ran(PMatch(**{**_fields(auction), "reserve": sampled}), of, runs).share
            rows.append((f"{name}, reserve by {_DRAWN:,} simulated counters alone", error, sampled, tight))
            compared.append(Compared(quantity=f"share of the optimum with a sampled reserve, {name}", published=None,
                                     ours=tight, agreement="not published"))
        advance(progress, done, len(steps))
    compared += [Compared(quantity=f"E: {name}", published=None, ours=error, agreement="not published",
                          remark="" if error < supply else "more than the supply") for name, error in errors.items()]
    return Findings(compared=tuple(compared), blocks=(
        *intervals([*((f"{k}. {name}", "E", error, error, error) for k, (name, error) in enumerate(errors.items(), 1)),
                    ("supply s", "s", supply, supply, supply)],
                   title="What no count is off by more than, with probability 1 - gamma", axis="bids", log=True,
                   alt="The error of the counts on a logarithmic axis. Step by step, the error falls from thousands of "
                       "times the supply to a few hundredths of the supply."),
        Table(columns=("step", "error E", "reserve that it takes", "share of the optimum"), rows=tuple(rows),
              note=f"n = {sizes['people']:,}, k = {sizes['goods']}, s = {supply:,}, epsilon = {sizes['epsilon']:g}, "
                   f"gamma = {gamma:g}. {NOTE} Each step keeps the steps before it, except for the last settings. The "
                   "clearing takes 30% of epsilon and needs no reserve.")))


def _fields(auction: PMatch) -> dict[str, Any]:
    names = ("people", "goods", "supply", "epsilon", "failure_probability", "certify_with", "reclear", "increment",
             "bid_cap",
             "rounds", "batch", "arity")
    return {name: getattr(auction, name) for name in names}


STUDY = Study(
    name="allocation-calibration",
    title="From the printed constants to an auction that works",
    source="Wu 2017, Algorithm 4",
    statement="Counters with epsilon' = epsilon/2T and a reserve of 2E + 1 copies keep every good within its supply.",
    run=_run,
)

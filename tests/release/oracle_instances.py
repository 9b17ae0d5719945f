"""Instances of best responses: random ones with brute force, and rounds of the game on product data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confide.privacy.noise.simulated import study_generator
from confide.release.oracle import LocalSearch, Terms

__all__ = ["Round", "brute_force", "instance", "product_rounds", "valid_records"]


def instance(seed: int, *, kind: str = "conjunctions", most: int = 12, grouped: bool = False) -> Terms:
    """Signed, weighted terms of mixed widths over at most `most` bits, with some one-hot groups if asked."""
    g = study_generator(seed, "oracle")
    d = int(g.integers(1, most + 1))
    t, r = int(g.integers(1, 60)), int(g.integers(1, min(d, 4) + 1))
    index = np.full((t, r), -1, dtype=np.int32)
    for row in index:
        width = int(g.integers(1, r + 1))
        row[:width] = np.sort(g.choice(d, width, replace=False))
    weights = g.integers(-6, 7, t)
    weights[weights == 0] = 1
    groups = ()
    if grouped:
        order, sizes = g.permutation(d), g.integers(1, 5, d)
        ends = np.cumsum(sizes)
        groups = tuple(np.sort(order[end - size : end]).astype(np.int32)
                       for end, size in zip(ends, sizes, strict=True) if end <= d and size > 1)
    return Terms(kind=kind, attributes=d, index=index, bits=g.integers(0, 2, (t, r)), weights=weights,
                 constant=int(-weights[weights < 0].sum()), groups=groups)


def valid_records(terms: Terms) -> np.ndarray:
    """(N, d) every record with exactly one attribute on in each group."""
    d = terms.attributes
    records = (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)
    for members in terms.groups:
        records = records[records[:, members].sum(axis=1) == 1]
    return records


def brute_force(terms: Terms) -> np.ndarray:
    """(N,) the satisfied clauses of every valid record, counted without any code of the package."""
    records = valid_records(terms)
    totals = np.full(len(records), terms.constant, dtype=np.int64)
    for row, wanted, weight in zip(terms.index, terms.bits, terms.weights, strict=True):
        kept = row >= 0
        some = records[:, row[kept]]
        holds = some.sum(axis=1) % 2 == 0 if terms.kind == "parities" else (some == wanted[kept]).all(axis=1)
        totals += weight * holds
    return totals


class Round(NamedTuple):
    """What the oracle is asked in a round."""

    terms: Terms
    start: tuple[np.ndarray, ...]


def product_rounds(
    d: int, s: int, wanted: tuple[int, ...], *, seed: int, queries: int = 100_000, eta: float = 0.4,
    records: int = 100_000,
) -> dict[int, Round]:
    """Rounds of DualQuery on product data: positive 3-way marginals, biases uniform in [0, 1] (spec F, figure 3)."""
    g = study_generator(seed, "product", d, s)
    bias = g.random(d)
    index = np.sort(g.integers(0, d, (queries + queries // 5 + 1000, 3), dtype=np.int32), axis=1)
    index = index[(np.diff(index, axis=1) > 0).all(axis=1)][:queries]
    truth = g.binomial(records, bias[index].prod(axis=1)) / records
    workload = Workload(index, d)
    counts, default, rounds = np.zeros(len(index)), np.zeros(d, dtype=bool), {}
    start: tuple[np.ndarray, ...] = (default,)
    for t in range(1, max(wanted) + 1):
        score = eta * ((t - 1) * truth - counts)
        weight = np.exp(np.concatenate([score, -score]) - np.abs(score).max())
        drawn = np.searchsorted(np.cumsum(weight), g.random(s) * weight.sum(), side="right")
        terms = Terms.netted(workload, drawn % len(index), drawn >= len(index))
        if t in wanted:
            rounds[t] = Round(terms, start)
        record = LocalSearch().solve(terms, start, t).record
        counts += record[index].all(axis=1)
        start = (default, record)
    return rounds


class Workload(NamedTuple):
    """What netting reads of a workload of positive conjunctions."""

    index: np.ndarray
    attributes: int
    kind: str = "conjunctions"

    @property
    def bits(self) -> np.ndarray:
        return np.broadcast_to(np.ones(1, dtype=bool), self.index.shape)

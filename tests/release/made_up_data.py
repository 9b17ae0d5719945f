"""Made-up correlated records, and answers by the definition."""

from __future__ import annotations

import numpy as np

from confide.privacy.noise.simulated import study_generator

__all__ = ["brute_answers", "latent_classes", "uneven_classes"]



def latent_classes(seed: int, n: int, d: int, classes: int, flip: float | None = None) -> np.ndarray:
    """(n, d) bits of a mixture of product laws: each class prefers a pattern from which `flip` of the bits differ; or,
    with None, each class has probabilities of its own.
    """
    g = study_generator(seed, "latent classes")
    p = g.random((classes, d))
    if flip is not None:
        p = np.where(p < 0.5, flip, 1 - flip)
    return g.random((n, d)) < p[g.integers(0, classes, n)]


def uneven_classes(seed: int, n: int, d: int, classes: int) -> np.ndarray:
    """(n, d) bits of a mixture of product laws with probabilities of Beta(1/2, 1/2) and shares of Dirichlet(5)."""
    g = study_generator(seed, "uneven classes")
    p, shares = g.beta(0.5, 0.5, (classes, d)), g.dirichlet(np.full(classes, 5.0))
    return g.random((n, d)) < p[g.choice(classes, n, p=shares)]


def brute_answers(law: np.ndarray, workload) -> np.ndarray:
    """(k,) answers of a whole histogram (2^d,), query by query."""
    d = workload.attributes
    bits = np.arange(1 << d)[:, None] >> np.arange(d) & 1
    out = []
    for row in range(len(workload)):
        if workload.kind == "predicates":
            inside = workload.truth[row]
        else:
            these = workload.index[row][workload.index[row] >= 0]
            values = bits[:, these] == workload.bits[row][: len(these)]
            inside = values.all(axis=1) if workload.kind == "conjunctions" else bits[:, these].sum(axis=1) % 2 == 0
        out.append(law[inside].sum())
    return np.array(out)

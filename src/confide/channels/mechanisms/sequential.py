"""Draws of the kernel mechanism where no table of all databases fits: row by row, or by counts. For simulation alone.

Source: spec privacy_notions 4 ("generic E_i", "exchangeable m=2").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from confide.channels.polynomials import alternating_sums
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import as_stream

__all__ = ["draw_counts", "draw_in_turn"]


def draw_in_turn(
    rows: NDArray[np.int64], weights: NDArray[np.float64], r: float, letters: int, noise: Noise, stream: Stream
) -> NDArray[np.int64]:
    """y with probability in proportion to q(y) r^d(x,y), first row first.

    Args:
        rows: (n,) x.
        weights: (m^n,) q.
        r: in (0, 1].
        letters: m.
        noise: where randomness comes from.
        stream: the draw's name; row i draws from (stream, i).
    """
    name, n = as_stream(stream), len(rows)
    sums = [weights]  # sums[-1 - i]: over all rows from i on, weighted
    for letter in rows[::-1]:
        split = sums[-1].reshape(-1, letters)
        sums.append(r * split.sum(axis=1) + (1.0 - r) * split[:, letter])
    out, at = np.empty(n, dtype=np.int64), 0
    for i, letter in enumerate(rows):
        chances = sums[n - 1 - i].reshape(-1, letters)[at].copy()
        chances[np.arange(letters) != letter] *= r
        out[i] = _one(chances, noise, (*name, i))
        at = at * letters + int(out[i])
    return out


def draw_counts(
    rows: NDArray[np.int64], log_sequence: NDArray[np.float64], epsilon: float, noise: Noise, stream: Stream
) -> NDArray[np.int64]:
    """The same for an exchangeable prior over two letters: how many ones stay and how many zeros turn, then which.

    Args:
        rows: (n,) x, of 0 and 1.
        log_sequence: (n + 1,) ln of the probability of one sequence with k ones.
        epsilon: of the kernel.
        noise: where randomness comes from.
        stream: the draw's name; counts draw from (stream, "counts"), places from (stream, "places").
    """
    name, n, ones = as_stream(stream), len(rows), int(rows.sum())
    masses, _ = alternating_sums(log_sequence, epsilon)
    kept, turned = np.meshgrid(np.arange(ones + 1), np.arange(n - ones + 1), indexing="ij")
    with np.errstate(divide="ignore"):
        logs = (_choose(ones, kept) + _choose(n - ones, turned) - epsilon * (ones - kept + turned)
                + np.log(np.maximum(masses, 0.0))[kept + turned])
    flat = logs.reshape(-1)
    at = int(np.flatnonzero(flat > -np.inf)[noise.selection(flat[flat > -np.inf], stream=(*name, "counts"))[0]])
    order = np.argsort(noise.laplace(1.0, n, stream=(*name, "places")), kind="stable")
    out = np.zeros(n, dtype=np.int64)
    out[order[rows[order] == 1][: int(kept.reshape(-1)[at])]] = 1
    out[order[rows[order] == 0][: int(turned.reshape(-1)[at])]] = 1
    return out


def _one(chances: NDArray[np.float64], noise: Noise, stream: tuple[str | int, ...]) -> int:
    possible = np.flatnonzero(chances > 0)
    return int(possible[noise.selection(np.log(chances[possible]), stream=stream)[0]])


def _choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

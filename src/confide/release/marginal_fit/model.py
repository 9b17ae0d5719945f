"""The maximum-entropy model of all measured tables, as a weighted population that stands for a product of factors.

Raking moves weights and factors together, so that (rows, weights) always represents the product; Gibbs sweeps under it
give rows back that resampling lost, and raking cancels their sampling error. No junction tree is needed.

Source: spec query_release D6.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.numerics import map_blocks
from confide.release.marginal_fit.kernels import effective_size, gibbs, rake, resample
from confide.release.marginal_fit.public_randomness import key_of, permutation, uniforms

__all__ = ["Model"]

_Columns = tuple[int, ...]
_Targets = Mapping[_Columns, NDArray[np.float64]]

_CYCLES = 12  # at most, of raking, resampling and a Gibbs sweep
_LEAST, _LEAST_LAST = 4, 8  # before a fit may stop
_SWEEPS, _FINAL_SWEEPS = 2, 10  # of raking in a cycle, and after the last fit
_MISFIT = 0.02  # mean L1 distance that is good enough
_DIVERSE = 0.3  # of the rows: the effective number that is enough
_STRETCH = 8192  # rows that a thread draws at once; even
_LEAST_FACTOR = 1e-150  # in a quotient of factors
_CAP = 4.0  # of a factor of one raking step


class Model:
    """Rows with weights, and factors of tables. Reads targets and public randomness only.

    Args:
        sizes: cells of each column.
        population: N, number of rows.
        seed: of the public randomness.
        one_way: for each column the distribution to start from.
    """

    def __init__(self, sizes: tuple[int, ...], population: int, seed: int, one_way: _Targets) -> None:
        self.sizes = np.array(sizes, dtype=np.int64)
        self.seed = seed
        self.rows = np.empty((population, len(sizes)), dtype=np.uint16)
        self.weights = np.full(population, 1.0 / population)
        self.psi: dict[_Columns, NDArray[np.float64]] = {}
        self.misfit, self.size = 0.0, float(population)
        self._sweep = 0
        places = (np.arange(population) + 0.5) / population
        for j in range(len(sizes)):
            law = one_way[(j,)]
            ends = np.cumsum(law)
            ends[-1] = 1.0
            quantiles = np.minimum(np.searchsorted(ends, places, side="right"), len(law) - 1)
            self.rows[:, j] = quantiles[permutation(key_of(seed, "shuffle", j), population)]
            self.psi[(j,)] = law.copy()

    @property
    def columns(self) -> NDArray[np.uint16]:
        """(m, N) the rows, column by column."""
        return np.ascontiguousarray(self.rows.T)

    def fit(self, targets: _Targets, tables: list[_Columns], *, last: bool, tell: Progress | None = None) -> None:
        """Move towards the targets.

        Args:
            targets: as `consistent` gives them.
            tables: the tables to fit, besides the one-way tables of columns that are in none of them.
            last: whether no more tables will come.
            tell: told the cycles done and the most that there can be.
        """
        order = tables + [(j,) for j in range(len(self.sizes)) if self.sizes[j] > 1]
        for table in order:
            self.psi.setdefault(table, np.ones([self.sizes[j] for j in table]))
        rows, fitted = len(self.rows), _Fitted(order, self.sizes, targets)
        least = _LEAST_LAST if last else _LEAST
        for cycle in range(_CYCLES):
            advance(tell, cycle, _CYCLES)
            self.misfit, self.size = fitted.rake(self, _SWEEPS, _DIVERSE)
            done = cycle + 1 >= least and self.misfit < _MISFIT and self.size > _DIVERSE * rows
            if done or cycle + 1 == _CYCLES:
                break
            self._renew(cycle)
        if last:
            self.misfit, self.size = fitted.rake(self, _FINAL_SWEEPS, 0.0)
        advance(tell, _CYCLES, _CYCLES)

    def _renew(self, cycle: int) -> None:
        """Resample in proportion to the weights, then draw every second row anew."""
        self._sweep += 1
        out = np.empty_like(self.rows)
        resample(self.rows, self.weights, float(uniforms(key_of(self.seed, "resample", self._sweep), 1)[0]), out)
        self.rows, self.weights = out, np.full(len(out), 1.0 / len(out))
        layout, key = _Layout(self.psi, self.sizes), key_of(self.seed, "gibbs", self._sweep)

        def draw(first: int) -> None:
            gibbs(self.rows, first + cycle % 2, 2, min(first + _STRETCH, len(out)), self.sizes, layout.starts,
                  layout.places, layout.partners, layout.strides, layout.factors, key)

        for _ in map_blocks(draw, range(0, len(out), _STRETCH)):
            pass  # each stretch of rows on a thread, with draws of its own: how many threads there are changes nothing

    def effective(self) -> float:
        """The effective number of rows."""
        return effective_size(self.weights)


class _Fitted:
    """Tables laid end to end for the raking kernel."""

    def __init__(self, order: list[_Columns], sizes: NDArray[np.int64], targets: _Targets) -> None:
        self.order = order
        cells = [targets[table].size for table in order]
        self.starts = np.concatenate(([0], np.cumsum(cells))).astype(np.int64)
        self.targets = np.concatenate([targets[table].reshape(-1) for table in order])
        self.members = np.array([(table + table[:1] * 3)[:3] for table in order], dtype=np.int64)
        self.strides = np.zeros((len(order), 3), dtype=np.int64)
        for t, table in enumerate(order):
            step = 1
            for at in reversed(range(len(table))):
                self.strides[t, at] = step
                step *= int(sizes[table[at]])

    def rake(self, model: Model, sweeps: int, diverse: float) -> tuple[float, float]:
        rows = len(model.rows)
        psi = np.concatenate([model.psi[table].reshape(-1) for table in self.order])
        misfit, size = rake(model.columns, self.members, self.strides, self.starts, self.targets, psi, model.weights,
                            sweeps, 1.0 / rows, _CAP, diverse * rows)
        for t, table in enumerate(self.order):
            part = psi[self.starts[t] : self.starts[t + 1]].reshape(model.psi[table].shape)
            model.psi[table] = part / part.max()
        return misfit, size


class _Layout:
    """All factors once for each of their columns, with that column's cells side by side: what `gibbs` reads."""

    def __init__(self, psi: Mapping[_Columns, NDArray[np.float64]], sizes: NDArray[np.int64]) -> None:
        starts, places, partners, strides, flat, place = [0], [], [], [], [], 0
        of: list[list[tuple[_Columns, NDArray[np.float64]]]] = [[] for _ in sizes]
        for table, factor in psi.items():
            for j in table:
                of[j].append((table, factor))
        for j in range(len(sizes)):
            for table, factor in of[j]:
                others = [k for k in table if k != j]
                copy = np.moveaxis(factor, table.index(j), -1)
                if sizes[j] == 2:
                    copy = np.maximum(copy[..., 1], _LEAST_FACTOR) / np.maximum(copy[..., 0], _LEAST_FACTOR)
                    steps = [int(np.prod(copy.shape[at + 1 :])) for at in range(copy.ndim)]
                else:
                    steps = [int(np.prod(copy.shape[at + 1 :])) for at in range(copy.ndim - 1)]
                places.append(place)
                partners.append([*others, j, j][:2])
                strides.append([*steps, 0, 0][:2])
                flat.append(copy.reshape(-1))
                place += copy.size
            starts.append(len(places))
        self.starts = np.array(starts, dtype=np.int64)
        self.places = np.array(places, dtype=np.int64)
        self.partners = np.array(partners, dtype=np.int64).reshape(-1, 2)
        self.strides = np.array(strides, dtype=np.int64).reshape(-1, 2)
        self.factors = np.concatenate(flat)

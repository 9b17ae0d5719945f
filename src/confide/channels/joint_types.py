"""Channels that treat rows alike: all that counts of (input, output) is their joint type, the m x m table
of how often letter a became letter b.

For an exchangeable prior some optimal channel is of this kind, as averaging over row permutations keeps objective and
constraints of every notion.

Source: spec privacy_notions 6 ("exchangeable prior").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from confide.channels.channel import FiniteChannel
from confide.channels.types import compositions
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.renamed import renamed
from confide.contract.wire import wire

__all__ = ["JointTypeChannel", "JointTypes", "joint_types"]

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]
_TABLE = 2**20  # cells of a channel that is listed


@wire("JointTypes", "letters records counts inputs outputs log_sequences")
@dataclass(frozen=True, eq=False)
class JointTypes:
    """All joint types of n rows over m letters, by output type, then input type.

    Args:
        letters: m.
        records: n.
        counts: (k, m, m) the tables; inputs are rows.
        inputs: (k,) which composition the input is.
        outputs: (k,) which composition the output is.
        log_sequences: (k,) ln M, the number of outputs that have this joint type with one input.
    """

    letters: int
    records: int
    counts: _Index
    inputs: _Index
    outputs: _Index
    log_sequences: _Vector

    @cached_property
    def changed(self) -> _Vector:
        """(k,) rows that differ between input and output."""
        return np.asarray(self.records - self.counts.trace(axis1=1, axis2=2), dtype=np.float64)

    @cached_property
    def _codes(self) -> _Index:
        return _coded(self.counts.reshape(len(self.counts), -1), self.records)

    def place(self, counts: _Index) -> _Index:
        """(j,) where tables (j, m, m) stand."""
        order = np.argsort(self._codes)
        found = np.searchsorted(self._codes[order], _coded(counts.reshape(len(counts), -1), self.records))
        return np.asarray(order[found])

    @cached_property
    def neighbours(self) -> tuple[_Index, _Index, _Index, _Index]:
        """(first, second, over, under): pairs of joint types that differ by one row's input letter, in the order of
        blocks, and M(first)/M(second) = over/under.
        """
        m, first, second, over, under = self.letters, [], [], [], []
        tau = self.counts.sum(axis=2)
        for a in range(m):
            for other in range(m):
                for b in range(m):
                    if a == other:
                        continue
                    have = np.flatnonzero(self.counts[:, a, b])
                    moved = self.counts[have]
                    moved[:, a, b] -= 1
                    moved[:, other, b] += 1
                    there = self.place(moved)
                    up = there > have
                    have, there, moved = have[up], there[up], moved[up]
                    first.append(have)
                    second.append(there)
                    over.append(tau[have, a] * moved[:, other, b])
                    under.append((tau[have, other] + 1) * self.counts[have, a, b])
        order = np.argsort(np.concatenate(first), kind="stable")
        found = [np.concatenate(each)[order] for each in (first, second, over, under)]
        return found[0], found[1], found[2], found[3]


def _coded(counts: _Index, rows: int) -> _Index:
    """One whole number for each line of counts; the last count follows from the others."""
    powers = (rows + 1) ** np.arange(counts.shape[1] - 1, dtype=np.int64)
    return np.asarray(counts[:, :-1] @ powers)


@cache
def joint_types(letters: int, rows: int, most: int = 2**17) -> JointTypes:
    """All joint types.

    Raises:
        Unsupported: more than `most`.

    Example:
        >>> found = joint_types(2, 40)
        >>> len(found.counts), joint_types(2, 1).counts.tolist()
        (12341, [[[1, 0], [0, 0]], [[0, 0], [1, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 1]]])
    """
    number = math.comb(rows + letters**2 - 1, letters**2 - 1)
    if number > most or (rows + 1) ** (letters**2 - 1) >= 2**63:
        raise Unsupported("records", f"{number:,} joint types of {rows} rows over {letters} letters",
                          f"at most {most:,}")
    counts = compositions(rows, letters**2).reshape(-1, letters, letters)
    inputs, outputs = counts.sum(axis=2), counts.sum(axis=1)
    codes = _coded(np.asarray(compositions(rows, letters)), rows)
    order = np.argsort(codes)

    def which(types: _Index) -> _Index:
        return np.asarray(order[np.searchsorted(codes[order], _coded(types, rows))])

    which_in, which_out = which(inputs), which(outputs)
    line = np.lexsort((which_in, which_out))
    counts = counts[line]
    log = (gammaln(inputs[line] + 1).sum(axis=1)) - gammaln(counts + 1).sum(axis=(1, 2))
    return JointTypes(letters, rows, counts, which_in[line], which_out[line], log)


@renamed()
@wire("JointTypeChannel", "types probabilities")
@dataclass(init=False, eq=False, repr=False)
class JointTypeChannel(FiniteChannel):
    """A channel that treats rows alike.

    Args:
        types: all joint types.
        probabilities: (k,) u(T) = Pr[joint type T | an input of its type]; sums to 1 over each input type.

    Raises:
        InvalidInput: not probabilities.
    """

    types: JointTypes
    probabilities: _Vector

    def __init__(self, types: JointTypes, probabilities: ArrayLike) -> None:
        self.types, self.letters, self.records = types, types.letters, types.records
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        if self.probabilities.shape != types.inputs.shape or not (self.probabilities >= 0).all():
            raise InvalidInput("channel", "is not one probability for each joint type")
        sums = np.bincount(types.inputs, self.probabilities)
        if np.abs(sums - 1.0).max() > 1e-9:
            raise InvalidInput("channel", "probabilities of an input type do not sum to 1", "must within 1e-9")

    def __repr__(self) -> str:
        return (f"JointTypeChannel(<{len(self.probabilities)} joint types>, letters={self.letters}, "
                f"records={self.records})")

    @cached_property
    def log_sequence(self) -> _Vector:
        """(k,) ln q, of one output sequence."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities) - self.types.log_sequences)

    def table(self) -> _Vector:
        m, n = self.letters, self.records
        if m ** (2 * n) > _TABLE:
            raise Unsupported("channel", f"a table of {m}^{n} rows", f"at most {_TABLE:,} cells")
        x = np.arange(m**n)
        digits = np.stack([(x // m ** (n - 1 - i)) % m for i in range(n)], axis=1)
        pairs = digits[:, None, :] * m + digits
        counts = (pairs[..., None] == np.arange(m * m)).sum(axis=2).reshape(-1, m, m)
        return np.exp(self.log_sequence)[self.types.place(counts)].reshape(len(x), len(x))

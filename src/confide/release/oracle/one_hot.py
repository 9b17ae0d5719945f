"""One-hot groups: valid records, and queries rewritten so that no two literals share a group.

On valid records exactly one attribute of a group is on. So "b off and c off" is 1 - x_b - x_c there, and a parity over
several attributes B of a group is a sum of parities over one of them each,

    p_{R + B} = (1 - |B|) p_R + sum over b in B of p_{R + b}.

After rewriting, what a swap (one attribute off, another on) gains is the sum of what the two flips gain.

Source: spec query_release E2 (one-hot groups, swap moves).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.release.oracle.terms import Bits, Terms

__all__ = ["Clauses", "group_of", "is_valid", "most_clauses", "repaired", "separated"]

_Literals = tuple[tuple[int, bool], ...]


class Clauses(NamedTuple):
    """Weighted queries, as in `Terms`, whose sum is the objective on valid records; `shift` is added to it."""

    attributes: NDArray[np.int32]
    bits: Bits
    weights: NDArray[np.int64]
    shift: int


def group_of(terms: Terms) -> NDArray[np.int32]:
    """(d,) the group that an attribute belongs to, -1 for an attribute of its own."""
    home = np.full(terms.attributes, -1, dtype=np.int32)
    for g, members in enumerate(terms.groups):
        home[members] = g
    return home


def is_valid(terms: Terms, record: Bits) -> bool:
    """Whether each group has exactly one attribute on."""
    return all(int(record[members].sum()) == 1 for members in terms.groups)


def repaired(terms: Terms, record: ArrayLike) -> Bits:
    """A valid copy: in a group without exactly one attribute on, the first one that is on, or else its first one."""
    x = np.array(record, dtype=np.bool_)
    for members in terms.groups:
        if int(x[members].sum()) != 1:
            first = members[int(np.argmax(x[members]))]
            x[members] = False
            x[first] = True
    return x


def separated(terms: Terms) -> Clauses:
    """The objective as queries of which no two literals share a group.

    Weights grow at most by the number of literals in a group, and 2^r-fold in all for queries of width r.
    """
    plain = Clauses(terms.index, terms.bits, terms.weights, terms.constant)
    if not terms.groups or not len(terms):
        return plain
    home = group_of(terms)
    groups = np.where(terms.index >= 0, home[terms.index], -1)
    order = np.sort(groups, axis=1)
    shared = ((order[:, 1:] == order[:, :-1]) & (order[:, 1:] >= 0)).any(axis=1)
    if not shared.any():
        return plain
    total: dict[_Literals, int] = {}
    expand = _parity if terms.kind == "parities" else _conjunction
    for row in np.flatnonzero(shared):
        width = int((terms.index[row] >= 0).sum())
        literals = [(int(a), bool(b)) for a, b in zip(terms.index[row, :width], terms.bits[row, :width], strict=True)]
        for query, factor in expand(literals, home):
            total[query] = total.get(query, 0) + factor * int(terms.weights[row])
    kept = [(query, weight) for query, weight in total.items() if weight]
    index = np.full((len(kept), terms.index.shape[1]), -1, dtype=np.int32)
    bits = np.zeros(index.shape, dtype=np.bool_)
    for place, (query, _) in enumerate(kept):
        for column, (attribute, bit) in enumerate(query):
            index[place, column], bits[place, column] = attribute, bit
    weights = np.array([weight for _, weight in kept], dtype=np.int64)
    return Clauses(np.concatenate([terms.index[~shared], index]), np.concatenate([terms.bits[~shared], bits]),
                   np.concatenate([terms.weights[~shared], weights]), terms.constant)


def most_clauses(index: NDArray[np.int32], groups: Sequence[NDArray[np.int32]], attributes: int) -> int:
    """Into how many clauses `separated` may write one of some conjunctions or parities, at most.

    Args:
        index: (k, r) attributes of each, -1 where there is none.
        groups: the one-hot groups.
        attributes: d.
    """
    home = np.full(attributes + 1, -1, dtype=np.int64)
    for g, members in enumerate(groups):
        home[members] = g
    ranked = np.sort(home[np.asarray(index, dtype=np.int64)], axis=1)  # -1 finds the last entry, of no group
    factors, run = np.ones(len(ranked)), np.ones(len(ranked))
    for place in range(1, ranked.shape[1]):
        same = (ranked[:, place] == ranked[:, place - 1]) & (ranked[:, place] >= 0)
        factors *= np.where(~same & (run > 1), 1 + run, 1)
        run = np.where(same, run + 1, 1)
    factors *= np.where(run > 1, 1 + run, 1)
    return int(min(factors.max(initial=1.0), 2.0**62))


def _by_group(literals: list[tuple[int, bool]], home: NDArray[np.int32]) -> Mapping[int, list[tuple[int, bool]]]:
    """Literals by group; an attribute of its own stands under a key of its own, below 0."""
    parts: dict[int, list[tuple[int, bool]]] = {}
    for attribute, bit in literals:
        group = int(home[attribute])
        parts.setdefault(group if group >= 0 else -1 - attribute, []).append((attribute, bit))
    return parts


def _conjunction(
    literals: list[tuple[int, bool]], home: NDArray[np.int32]
) -> Iterator[tuple[_Literals, int]]:
    choices: list[list[tuple[_Literals, int]]] = []
    for group, part in _by_group(literals, home).items():
        on = [attribute for attribute, bit in part if bit]
        if group < 0 or len(part) == 1:
            choices.append([(tuple(part), 1)])
        elif len(on) > 1:
            return  # two attributes of a group are never on together
        elif on:
            choices.append([(((on[0], True),), 1)])  # the others are off by themselves
        else:
            choices.append([((), 1), *((((attribute, True),), -1) for attribute, _ in part)])
    yield from _products(choices)


def _parity(
    literals: list[tuple[int, bool]], home: NDArray[np.int32]
) -> Iterator[tuple[_Literals, int]]:
    # With v = (1 + p)/2 the coefficients of p sum to 1 in each group, so the same ones hold for v.
    choices: list[list[tuple[_Literals, int]]] = []
    for part in _by_group(literals, home).values():
        single: list[tuple[_Literals, int]] = [((literal,), 1) for literal in part]
        choices.append([((), 1 - len(part)), *single] if len(part) > 1 else single)
    yield from _products(choices)


def _products(choices: list[list[tuple[_Literals, int]]]) -> Iterator[tuple[_Literals, int]]:
    for combination in product(*choices):
        literals = sorted(literal for part, _ in combination for literal in part)
        yield tuple(literals), int(np.prod([factor for _, factor in combination], dtype=np.int64))

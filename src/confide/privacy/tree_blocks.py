"""The blocks of a stream whose sums an r-ary tree counter releases; public arithmetic without any data.

At step t the block of length r^l that ends at t is finished, where r^l is the largest power of r that divides t. The
first t steps are the union of the most recent finished blocks. On level l the union has as many blocks as the base-r
digit d_l of t.

Source: Chan, Shi and Song 2011; spec allocation 2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput

__all__ = [
    "digits",
    "finished_level",
    "levels",
    "mean_terms",
    "memberships",
    "participation",
    "participation_squared",
    "terms",
]


def digits(number: int, arity: int) -> list[int]:
    """The base-r digits of a number, the lowest first; for 0, an empty list."""
    number, arity = whole("number", number), whole("arity", arity, at_least=2)
    out: list[int] = []
    while number:
        number, digit = divmod(number, arity)
        out.append(digit)
    return out


def levels(horizon: int, arity: int) -> int:
    """The depth h of the tree, which is the smallest number with r^h > N for N steps and arity r. Every step lies in at
    most h finished blocks.

    Example:
        >>> levels(7, 2), levels(8, 2), levels(255, 16), levels(256, 16)
        (3, 4, 2, 3)
    """
    return len(digits(whole("horizon", horizon, at_least=1), arity))


def finished_level(step: int, arity: int) -> int:
    """The level of the block that is finished at a step: the place, from 0, of the lowest non-zero base-r digit of the
    step's number.
    """
    return next(level for level, digit in enumerate(digits(whole("step", step, at_least=1), arity)) if digit)


def terms(horizon: int, arity: int) -> int:
    """The largest number M of blocks whose union is a prefix of the stream: the largest sum of the base-r digits of a
    step in 1..N.

    Example:
        >>> terms(1023, 2), terms(1024, 2), terms(255, 16)
        (10, 10, 30)
    """
    places = digits(whole("horizon", horizon, at_least=1), arity)
    # The largest is N itself, or shares N's digits down to some place, is smaller there, and full below.
    fuller = [sum(places[level:]) - 1 + level * (arity - 1) for level, digit in enumerate(places) if digit]
    return max([sum(places), *fuller])


def mean_terms(horizon: int, arity: int) -> Fraction:
    """The exact mean number of blocks in a prefix of the stream, over the prefixes of length 1..N.

    Example:
        >>> mean_terms(3, 2)
        Fraction(4, 3)
    """
    places = digits(whole("horizon", horizon, at_least=1), arity)
    total = 0
    for level, digit in enumerate(places):
        block = arity**level
        above, below = divmod(horizon, block * arity)
        # full cycles of this place, then the digits before the last one, then the last one
        total += above * block * (arity * (arity - 1) // 2)
        total += block * (digit * (digit - 1) // 2) + digit * (below - digit * block + 1)
    return Fraction(total, horizon)


def memberships(horizon: int, arity: int) -> NDArray[np.int64]:
    """The number of blocks finished by the last step N in which each step lies.

    Returns:
        Shape (N,), entries in 1..h, where h is the depth of the tree.
    """
    horizon = whole("horizon", horizon, at_least=1)
    steps = np.arange(1, horizon + 1, dtype=np.int64)
    out = np.zeros(horizon, dtype=np.int64)
    for level in range(levels(horizon, arity)):
        number = -(-steps // arity**level)  # of the level's block that holds the step
        out += (number % arity != 0) & (number * arity**level <= horizon)
    return out


def participation(horizon: int, arity: int, *, rounds: int, bids: int, add_remove: bool = False) -> int:
    """The largest l1 distance by which one participant can move all finished block sums together. The steps form
    rounds, and each participant has one step in each round, which is called their slot.

    In their slot the participant may add 1 to one counter. They may do so in at most `bids` rounds, on each of the two
    neighbouring data sets. The simple bound 2 C h, with C bids and depth h, assumes a block on every level; this
    function counts only the blocks that exist.

    Args:
        horizon: the number N of steps, a multiple of `rounds`.
        arity: the arity r of the tree, >= 2.
        rounds: the number R of rounds; the participant's slot has the same position in each.
        bids: the number C of rounds that the participant may use, >= 1.
        add_remove: True if neighbours differ by the participant's presence, instead of by their record.

    Returns:
        Let the membership of a step be the number of finished blocks that contain the step. Consider the largest sum of
        memberships over all slots and all choices of C rounds. The result is twice this sum, or with `add_remove` the
        sum itself.

    Source: spec allocation 2 (optional free gain).

    Example:
        >>> participation(3750, 2, rounds=30, bids=8), 2 * 8 * levels(3750, 2)
        (142, 192)
    """
    rounds, bids = whole("rounds", rounds, at_least=1), whole("bids", bids, at_least=1)
    if whole("horizon", horizon, at_least=1) % rounds:
        raise InvalidInput("horizon", f"{horizon} steps do not fill {rounds} equal rounds",
                           "must be a multiple of the rounds")
    by_round = np.sort(memberships(horizon, arity).reshape(rounds, -1), axis=0)
    most = int(by_round[-bids:].sum(axis=0).max())
    return most if add_remove else 2 * most


def participation_squared(horizon: int, arity: int, *, rounds: int, bids: int, add_remove: bool = False) -> int:
    """The squared l2 distance by which one participant can move all finished block sums together, for Gaussian noise.
    The steps form rounds, and each participant has one step in each round, which is called their slot.

    For C bids, a tree of depth h, and N/R slots in each round, the squared distance Delta2^2 is:

        Delta2^2 = 2C sum over levels l < h of min(C, ceil(r^l / slots))

    On each level the sum of squares is at most the largest difference in one block times the level's l1 distance. The
    common bound sqrt(2 C h) on the l2 distance ignores that one block may hold several bids of the participant.

    Args:
        horizon: the number N of steps, a multiple of `rounds`.
        arity: the arity r of the tree, >= 2.
        rounds: the number R of rounds; the participant's slots lie N/R steps apart.
        bids: the number C of rounds that the participant may use, >= 1.
        add_remove: True if neighbours differ by the participant's presence; the factor 2C is then C.

    Source: spec allocation 2.

    Example:
        >>> participation_squared(18, 2, rounds=6, bids=3)
        60
    """
    rounds, bids = whole("rounds", rounds, at_least=1), whole("bids", bids, at_least=1)
    if whole("horizon", horizon, at_least=1) % rounds:
        raise InvalidInput("horizon", f"{horizon} steps do not fill {rounds} equal rounds",
                           "must be a multiple of the rounds")
    slots = horizon // rounds
    lengths: list[int] = [arity**level for level in range(levels(horizon, arity))]
    blocks = sum(min(bids, -(-length // slots)) for length in lengths)
    return bids * blocks if add_remove else 2 * bids * blocks

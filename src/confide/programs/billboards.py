"""The public record of a run: the prices and the released numbers of all rounds, one price and one number for each
constraint.

A price is a whole multiple of 2^-24. A released number is the supply of a constraint less its noisy load, and is a
whole multiple of 2^-20.

The module also represents each participant's average response over the main rounds, by the participant's few distinct
actions and the number of rounds with each action.

Source: spec convex_programs 8 (storage: sparse counts, never people x variables).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.program import Program

__all__ = ["BOARD_WORDS", "PathBillboard", "Tally", "numbers_of", "tally_of", "value_and_load"]

# ---- averages

_CELLS = 1 << 19  # of responses that are held at once

Tally = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
"""Distinct actions of each of m participants over the main rounds, as three arrays (starts, actions, times). The array
`starts`, shape (m + 1,), has the index in `actions` and `times` at which the entries of each participant begin, and
ends with z. The array `actions`, shape (z, width), has the actions of all participants. The array `times`, shape (z,),
has the number of main rounds with each action.
"""


def tally_of(records: Any, program: Program, prices: NDArray[np.int64]) -> Tally:
    """The distinct best responses of each participant to a path of prices, and the number of rounds with each response.
    The responses are in the order of their first occurrence.

    Args:
        records: records of m participants.
        program: program that the records belong to.
        prices: (T, k) prices of the main rounds, in price units of 2^-24.
    """
    size = max(1, _CELLS // (len(prices) * program.width))
    parts = []
    for block in records.blocks(size):
        played = program.respond_along(block, prices)
        counts, times = np.empty(block.people, np.int64), np.empty(played.shape[:2], np.int32)
        _tally(played, counts, times)
        kept = np.arange(len(prices)) < counts[:, None]
        parts.append((counts, played[kept], times[kept]))
    counts = np.concatenate([part[0] for part in parts])
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return starts, np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])


def value_and_load(program: Program, records: Any, tally: Tally) -> tuple[int, NDArray[np.int64]]:
    """Total value, in units of 2^-24, and total load, in units of 2^-20, shape (k,), of the actions in a tally. Both
    are sums over all participants and main rounds, and both are private.

    Args:
        program: program that the records belong to.
        records: records of m participants.
        tally: tally of the m participants, from `tally_of`.
    """
    starts, actions, times = tally
    value, load, counts = 0, np.zeros(program.rows, dtype=np.int64), np.diff(starts)
    size = max(1, _CELLS // program.rows)
    for rank in range(int(counts.max(initial=0))):  # nearly everybody has one action, or two
        people = np.flatnonzero(counts > rank)
        for at in range(0, len(people), size):
            who = people[at : at + size]
            of = starts[who] + rank
            some, often = records.take(who), times[of].astype(np.int64)
            value += int(program.values(some, actions[of]) @ often)
            load += program.weighted_load(some, actions[of], often)
    return value, load


@kernel
def _tally(played: Any, counts: Any, times: Any) -> None:
    """Reduce every participant's responses to the distinct ones, in place.

    Args:
        played: (m, T, width) int32 responses. Afterwards the first `counts` entries of each participant are the
            distinct responses.
        counts: (m,) int64 output: number of distinct responses.
        times: (m, T) int32 output in its first entries: number of rounds with each distinct response.
    """
    people, rounds, width = played.shape
    for i in range(people):
        found = 0
        for t in range(rounds):
            at = found - 1
            while at >= 0:
                same = True
                for w in range(width):
                    if played[i, at, w] != played[i, t, w]:
                        same = False
                        break
                if same:
                    break
                at -= 1
            if at < 0:
                at = found
                found += 1
                times[i, at] = 0
                for w in range(width):
                    played[i, at, w] = played[i, t, w]
            times[i, at] += 1
        counts[i] = found


# ---- billboards

BOARD_WORDS: Mapping[str, Any] = {
    "round_noise_std": "deviation", "failure_probability": "beta", "baseline_gap": "trivial", "public_seed": "seed"}
"""Mapping from a field of a billboard to its name in stored files."""


@renamed(deviation="round_noise_std", beta="failure_probability", trivial="baseline_gap", seed="public_seed")
@wire("PathBillboard", "prices slacks burn_in deviation discrete tau two_sided beta trivial most_excess plan inexact "
      "seed", **BOARD_WORDS)
@dataclass(frozen=True, kw_only=True, eq=False)
class PathBillboard(Billboard):
    """The public record of a run: the path of prices, and all numbers that are needed to certify the run from the
    billboard alone.

    Args:
        prices: (burn_in + T, k) int64 prices of all rounds, first those of the burn-in, in price units of 2^-24.
        slacks: (burn_in + T, k) int64 released supply less noisy load of each round, in load units of 2^-20.
        burn_in: number of rounds at the start of the run that averages leave out.
        round_noise_std: standard deviation of the noise of each main round, in natural units of load.
        discrete: whether the noise is discrete Gaussian; if not, it is Gaussian.
        tau: (k,) dual bound of each constraint: an upper bound on the increase of the optimum by one unit of excess
            over the supply.
        two_sided: whether constraints are equations.
        failure_probability: probability, in (0, 1), with which the certificate may fail.
        baseline_gap: largest possible difference between the optimum and the value of a solution, for any records, in
            units of value; 0 in programs without values, in which only the constraints matter.
        most_excess: largest possible excess over the supply, summed over all constraints, in natural units of load.
        inexact: largest total value that all participants' responses together lose against best responses, in units of
            value; 0 where responses are exact.
        plan: digest of all settings of the mechanism and of the program, except the failure probability.
        public_seed: seed of the public randomness, 64 hexadecimal digits; empty where the mechanism draws no public
            randomness.
    """

    prices: NDArray[np.int64]
    slacks: NDArray[np.int64]
    burn_in: int
    round_noise_std: float
    discrete: bool
    tau: NDArray[np.float64]
    two_sided: bool
    failure_probability: float
    baseline_gap: float
    most_excess: float
    plan: str
    inexact: float = 0.0
    public_seed: str = ""

    def require_form(self) -> None:
        """Check that all fields have the types and shapes that a run writes. A billboard may come from an untrusted
        source.

        Raises:
            InvalidInput: a field has another type or shape. The error message names the field.
        """
        if not isinstance(self.prices, np.ndarray) or self.prices.ndim != 2 or 0 in self.prices.shape:
            raise InvalidInput("prices", "are not a table", "must be int64 of shape (burn_in + T, k)")
        total, rows = self.prices.shape
        for name in ("prices", "slacks"):
            numbers_of(self, name, (total, rows), np.int64)
        numbers_of(self, "tau", (rows,), np.float64)
        if type(self.burn_in) is not int or not 0 <= self.burn_in < total:
            raise InvalidInput("burn_in", f"{self.burn_in!r}", f"must be a whole number in 0..{total - 1}")
        for name in ("round_noise_std", "failure_probability", "baseline_gap", "most_excess", "inexact"):
            found = getattr(self, name)
            if not isinstance(found, float):
                raise InvalidInput(name, f"is of type {type(found).__name__}", "must be of type float")
            if not math.isfinite(found):
                raise InvalidInput(name, f"{found!r} is not finite", "must be a finite number")
        for name, kind in (("discrete", bool), ("two_sided", bool), ("plan", str), ("public_seed", str)):
            if not isinstance(getattr(self, name), kind):
                raise InvalidInput(name, f"is of type {type(getattr(self, name)).__name__}",
                                   f"must be of type {kind.__name__}")
        if not bool((self.tau > 0.0).all()):
            raise InvalidInput("tau", "has a number that is not above 0", "each must be above 0")
        if not self.round_noise_std > 0.0:
            raise InvalidInput("round_noise_std", f"{self.round_noise_std:g} is not above 0", "must be above 0")

    @property
    def rounds(self) -> int:
        """Number T of main rounds."""
        return len(self.prices) - self.burn_in

    @property
    def main_prices(self) -> NDArray[np.int64]:
        """Prices of the main rounds, shape (T, k), in units of 2^-24."""
        return self.prices[self.burn_in :]

    @property
    def price_sums(self) -> NDArray[np.int64]:
        """Sums of the prices of the main rounds, shape (k,), in units of 2^-24. The sums are exactly T times the
        average prices, where T is the number of main rounds.
        """
        total: NDArray[np.int64] = self.main_prices.sum(axis=0)
        return total

    @property
    def average_prices(self) -> NDArray[np.float64]:
        """Average prices of the main rounds, in natural units, shape (k,)."""
        return self.price_sums / (PRICE_UNIT * self.rounds)

    @property
    def charged_prices(self) -> NDArray[np.int64]:
        """Average prices of the main rounds, rounded to whole units of 2^-24, shape (k,). These rounded averages are
        the prices that are charged. A participant's favourite is their best response to the charged prices.
        """
        return np.rint(self.price_sums / self.rounds).astype(np.int64)

    @property
    def natural_slacks(self) -> NDArray[np.float64]:
        """Released supply less noisy load of every round, shape (burn_in + T, k), in natural units of load."""
        return self.slacks / LOAD_UNIT


def numbers_of(board: PathBillboard, name: str, shape: tuple[int, ...], kind: type[Any]) -> None:
    """Check that a field of a billboard is an array of the given shape and type with finite numbers.

    Args:
        board: billboard that has the field.
        name: name of the field.
        shape: required shape of the array.
        kind: type of the field's numbers.

    Raises:
        InvalidInput: the field has another shape or type. The error message names the field.
    """
    found = getattr(board, name)
    if not isinstance(found, np.ndarray):
        raise InvalidInput(name, f"are of type {type(found).__name__}",
                           f"must be an array {shape} {np.dtype(kind).name}")
    if found.dtype != kind or found.shape != shape:
        raise InvalidInput(name, f"have shape {found.shape} and type {found.dtype}",
                           f"must be {shape} {np.dtype(kind).name}")
    if not bool(np.isfinite(found).all()):
        raise InvalidInput(name, "have a number that is not finite", "all numbers must be finite")

"""Flags that keep the load of each coupling constraint within its supply. The flag of a constraint rises, by a noisy
test, before the supply is used up. Afterwards, participants who would add to this constraint receive nothing.

Participants are served one after the other, in batches. After each batch there is a query for every constraint without
a raised flag. The query asks whether the delivered load plus noise exceeds a noisy level below the supply. If so, the
flag rises. The time at which each flag rose is published.

Privacy. Fix the prices, the public draws and the times at which all flags rise. Then the contributions of all unchanged
participants are fixed, too. So a changed record adds one constant D_j to the load in all queries of constraint j from
the changed participant's batch on, and changes no earlier query. The probability that flag j rises at the fixed time is
a sum over the noise z of its level. Each term is the product of P(z), the probability of "below" for each earlier
query, and the probability of "above" for the last query. If D_j > 0, keep z as it is. On the neighbouring data set each
"below" becomes less likely, and the one "above" costs a factor e^(D_j/scale of the queries). If D_j < 0, substitute z -
D_j for z. Then "above" is unchanged, each "below" only becomes more likely, and the law of z costs a factor
e^(|D_j|/scale of the level). So a constraint costs the privacy loss of its query or that of its level, never both. The
positive D_j add up to at most C1, the negative ones add up to at least -C1, and no |D_j| exceeds Cinf, where C1 and
Cinf bound the sum and the entries of a contribution. These bounds give the loss in `flag_loss`. Loads, levels and noise
are whole multiples of 2^-20, so z - D_j lies on the lattice of discrete Laplace noise. On the lattice every step of the
proof holds with sums in place of integrals.

Margin. Let M, the room, be the distance from the level up to the supply less the largest load of a batch. The load of a
constraint ends above the supply only if the noise of one of its queries is below the noise of its level by more than
the room M. The exact law of the difference of the two noises needs a quarter less room than B_q + B_t, the sum of
separate bounds of the two noises.

Stops. With stops, a flag also rises, whatever the noise, as soon as the next batch could exceed the supply. So the load
certainly stays within the supply. A stop acts only if the noises of a query and its level differ by more than the room
M. The probability of that event is at most t, a small number that is the same for every data set. If no stop acts, the
mechanism is the one without stops. So stops cost (1 + e^epsilon) t in delta. Clamped noise would cost the same, but
would need a third more room.

Source: Wu 2017, Algorithm 9; spec convex_programs 5 (corrected: threshold, split, and l1 accounting over constraints).
Batches, the exact room and stops are confide's additions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.contract.remedies import tried
from confide.privacy.accounting import float_up
from confide.privacy.charge import Bundle, DrawCost, Line, Session, WithoutDraw
from confide.privacy.clamping import added_delta
from confide.privacy.events import ApproxEvent, Event, PureEvent
from confide.privacy.noise import Noise
from confide.privacy.primitives.sessions import Part, open_session
from confide.programs.grids import LOAD_UNIT, Neighbours

__all__ = ["Flags", "flag_loss", "flag_split", "usual_batch"]

_LINE = "flags"  # of the charge
_QUERIES = 1 << 13  # of one row, at most, by default
_CELLS = 1 << 20  # of noise that is drawn at once
_MOST_STOPPED = 600.0  # e^epsilon is a double
_DEEP, _STEPS = 40.0, 1 << 12  # of the sum over the level's noise: scales below 0, and cells
_LARGEST = 2.0**52  # of a scale, in units: as much as all supplies
_ROOM = 1.0 + 2.0**-40  # more than the rounding of a logarithm or of a quotient

_Loss = TypeVar("_Loss", float, Fraction)


def flag_loss(
    level: _Loss, query: _Loss, entries: _Loss, rows: int, *, neighbours: Neighbours = "replace"
) -> _Loss:
    """Privacy loss of all flags together, in nats, as pure differential privacy.

    Let hi and lo be the larger and the smaller one of `level` and `query`, k the number of constraints and kappa =
    `entries`. The loss is

        hi min(k, kappa) + lo min([k - kappa]_+, kappa).

    A changed record raises the load of some constraints, which cost `query` each, and lowers the load of others, which
    cost `level` each; there are at most kappa of either kind. If neighbouring data sets differ by a record that is left
    out, all loads change in one direction, and the loss is max(level, query) min(k, kappa).

    Args:
        level: epsilon, in nats, of the noise of each level, which is Laplace noise of scale Cinf/level.
        query: epsilon, in nats, of the noise of each query, which is Laplace noise of scale Cinf/query.
        entries: kappa = C1/Cinf, where C1 is the largest sum and Cinf the largest entry of a contribution. One
            contribution can have the entry Cinf in at most kappa constraints.
        rows: number k of constraints.
        neighbours: "replace" if neighbouring data sets have different records of one participant, or "add_or_remove" if
            one of them lacks this participant's record.

    Source: spec convex_programs 5.

    Example:
        >>> flag_loss(0.2, 0.2, 1.0, 10), flag_loss(0.2, 0.3, 1.0, 1), flag_loss(0.25, 0.5, 2.0, 3)
        (0.4, 0.3, 1.25)
    """
    one_of("neighbours", neighbours, ("replace", "add_or_remove"))
    first, second = _filled(entries, rows, neighbours)
    return max(level, query) * first + min(level, query) * second


def _filled(entries: _Loss, rows: int, neighbours: Neighbours) -> tuple[_Loss, _Loss]:
    """Number of constraints that are charged the larger of two privacy losses, and number of constraints that are
    charged the smaller one.
    """
    kind = type(entries)
    first = min(kind(rows), entries)
    return first, kind(0) if neighbours == "add_or_remove" else min(kind(rows) - first, entries)


def flag_split(
    epsilon: float, entries: float, rows: int, queries: int, failure_probability: float, *,
    neighbours: Neighbours = "replace"
) -> tuple[float, float]:
    """Split of epsilon into (level, query), the privacy losses in nats for the noise of each level and of each query.
    The split gives the smallest margin below the supply.

    The margin is A/query + B/level, where A = ln(k queries/beta) is above B = ln(k/beta) and beta is the failure
    probability. If `query`, the larger of the two, and `level` are charged for equally many constraints, the best ratio
    of query to level is sqrt(A/B). If `level` is charged for fewer constraints, the best ratio is lower, but at least
    1.

    Args:
        epsilon: privacy loss of all flags, > 0, in nats.
        entries: kappa = C1/Cinf, where C1 is the largest sum and Cinf the largest entry of a contribution. One
            contribution can have the entry Cinf in at most kappa constraints.
        rows: number k of constraints.
        queries: number of queries of each constraint.
        failure_probability: failure probability beta in (0, 1).
        neighbours: "replace" or "add_or_remove", as for `flag_loss`.

    Source: spec convex_programs 5 (split), which is the case k >= 2 kappa.

    Example:
        >>> level, query = flag_split(0.4, 1.0, 10, 7692, 0.05)
        >>> round(query / level, 3), round(flag_loss(level, query, 1.0, 10), 9)
        (1.64, 0.4)
    """
    positive("epsilon", epsilon)
    many = math.log(rows * max(1, queries) / fraction("failure_probability", failure_probability))
    few = math.log(rows / failure_probability)
    first, second = _filled(float(entries), rows, neighbours)
    ratio = max(1.0, math.sqrt(many * second / (first * few)))
    level = epsilon / (first * ratio + second)
    level /= _ROOM * _ROOM
    return level, ratio * level


def usual_batch(people: int, epsilon: float, entries: float, rows: int) -> int:
    """Default number of people between two queries, the batch. With fewer queries, a smaller margin for noise is
    enough.

    A larger batch lowers the level by batch x Cinf and leaves fewer queries in the union bound. The margin is smallest
    near a batch of 1/query, where query is the epsilon of a query. By default, each constraint has at most 2^13
    queries.

    Args:
        people: number of people n.
        epsilon: privacy loss of all flags, in nats.
        entries: kappa = C1/Cinf, where C1 is the largest sum and Cinf the largest entry of a contribution. One
            contribution can have the entry Cinf in at most kappa constraints.
        rows: number k of constraints.
    """
    return min(people, max(-(-people // _QUERIES), int(min(people, sum(_filled(float(entries), rows, "replace"))
                                                           / epsilon))))


@dataclass(frozen=True, kw_only=True)
class Flags:
    """One flag for each constraint, with levels, noise and privacy loss that are fixed before any record is read.

    Args:
        people: number n of people, who are served in the order of their public places.
        supply: (k,) supplies as whole numbers, in load units of 2^-20.
        largest: largest entry Cinf of a contribution, in natural units of load.
        entries: kappa = C1/Cinf, where C1 is the largest sum and Cinf the largest entry of a contribution. One
            contribution can have the entry Cinf in at most kappa constraints.
        epsilon: privacy loss of all flags, > 0, in nats.
        failure_probability: upper bound in (0, 1) on the probability that some load ends above its supply. With stops
            no load can end above its supply.
        batch: number of people between two queries.
        stop_delta: largest delta that stops may cost; 0 for no stops. A stop raises a flag, whatever the noise, before
            the supply can be exceeded.
        neighbours: "replace" if neighbouring data sets have different records of one participant, or "add_or_remove" if
            one of them lacks this participant's record.

    Raises:
        InvalidInput: a number out of range.
        Refused: a margin (`reserve`) that is at least as large as a supply.

    Example:
        >>> flags = Flags(people=100_000, supply=(5_000 * 2**20,) * 10, largest=1.0, entries=1.0, epsilon=0.4,
        ...               failure_probability=0.05, batch=13)
        >>> flags.queries, round(flags.reserve / 2**20, 1)
        (7692, 81.9)
    """

    people: int
    supply: tuple[int, ...]
    largest: float
    entries: float
    epsilon: float
    failure_probability: float = 0.05
    batch: int = 1
    stop_delta: float = 0.0
    neighbours: Neighbours = "replace"

    def __post_init__(self) -> None:
        whole("people", self.people, at_least=1)
        positive("largest", self.largest)
        positive("entries", self.entries)
        positive("epsilon", self.epsilon)
        fraction("failure_probability", self.failure_probability)
        fraction("stop_delta", self.stop_delta, zero=True)
        if whole("batch", self.batch, at_least=1) > self.people:
            raise InvalidInput("batch", f"{self.batch} is more than the number of people",
                               f"must be at most {self.people}")
        if self.stop_delta and self.epsilon > _MOST_STOPPED:
            raise InvalidInput("epsilon", f"{self.epsilon!r} is too large",
                               f"must be at most {_MOST_STOPPED:g} with stops")
        least = min(self.supply)
        if least <= self.reserve:
            fixed = self.batch * self.unit
            half = least / 2.0
            kept = ", with about half of it in reserve"
            larger = (tried("a supply {factor} times as large" + kept, self._at, digits=3,
                            factor=2.0 * self.reserve / least) if least > 0 else
                      tried("a supply of {supply}" + kept, self._at, digits=5, supply=2.0 * self.reserve / LOAD_UNIT))
            more = 1.01 * (self.reserve - fixed) / (half - fixed) if half > fixed else None
            needs = f"{self.reserve / least:.3g} times" if least > 0 else "more than"
            raise Refused(f"infeasible budget: the margin of the flags is {needs} the smallest supply",
                          (*larger, *tried("{times} times the epsilon", self._at, digits=3, times=more))
                          or "choose a larger supply and a larger epsilon")

    # ---- public arithmetic

    def _at(self, factor: float = 1.0, supply: float | None = None, times: float = 1.0) -> Flags:
        """The same flags with other supplies, or with epsilon multiplied by `times`."""
        units = tuple(math.floor(factor * one) if one > 0 or supply is None else math.floor(supply * LOAD_UNIT)
                      for one in self.supply)
        return replace(self, supply=units, epsilon=times * self.epsilon)

    @property
    def rows(self) -> int:
        """Number k of constraints."""
        return len(self.supply)

    @property
    def queries(self) -> int:
        """Largest number of queries of each constraint: one after every batch except the last."""
        return -(-self.people // self.batch) - 1

    @property
    def unit(self) -> int:
        """Largest entry Cinf of a contribution in load units of 2^-20, rounded up."""
        return math.ceil(Fraction(self.largest) * LOAD_UNIT)

    @cached_property
    def parts(self) -> tuple[float, float]:
        """Privacy losses (level, query) of the noise of each level and of each query, in nats."""
        return flag_split(self.epsilon, self.entries, self.rows, self.queries, self._failure,
                          neighbours=self.neighbours)

    @cached_property
    def level_scale(self) -> float:
        """Scale of each level's noise, in load units of 2^-20, rounded up."""
        return float_up(self.unit / Fraction(self.parts[0]))

    @cached_property
    def query_scale(self) -> float:
        """Scale of each query's noise, in load units of 2^-20, rounded up."""
        return float_up(self.unit / Fraction(self.parts[1]))

    @cached_property
    def loss(self) -> Fraction:
        """Exact privacy loss of all flags at the rounded noise scales, in nats, at most epsilon."""
        return self.loss_at(Fraction(self.level_scale), Fraction(self.query_scale))

    def loss_at(self, level: Fraction, query: Fraction) -> Fraction:
        """Exact privacy loss of all flags at other noise scales, in nats.

        Args:
            level: scale of each level's noise, in load units of 2^-20.
            query: scale of each query's noise, in load units of 2^-20.
        """
        return flag_loss(self.unit / level, self.unit / query, Fraction(self.entries), self.rows,
                         neighbours=self.neighbours)

    @property
    def _failure(self) -> float:
        """Largest probability that noise alone lets a load exceed its supply. Without stops the largest probability is
        the failure probability beta. With stops it is the probability at which the stops cost their delta.
        """
        return self.stop_delta / (1.0 + math.exp(self.epsilon)) if self.stop_delta else self.failure_probability

    def room_at(self, failure_probability: float) -> int:
        """The room M, in load units of 2^-20, for a failure probability. With at most this probability, the noise of
        some query is below the noise of its level by more than M.

        With at most the same probability, the noise of some query is above the noise of its level by more than M.

        Args:
            failure_probability: failure probability in (0, 1), for all constraints together.
        """
        if not self.queries:
            return 0
        return _apart(self.level_scale, self.query_scale, self.queries, failure_probability / self.rows)

    @cached_property
    def room(self) -> int:
        """The room M, in load units of 2^-20, at the failure probability of the plan. The load of a constraint ends
        above the supply only if the noise of its level exceeds the noise of one of its queries by more than M.
        """
        return self.room_at(self._failure)

    @property
    def reserve(self) -> int:
        """Distance of each level below the supply, in load units of 2^-20: Cinf times the batch, plus the room M for
        noise.
        """
        return self.batch * self.unit + self.room

    @property
    def levels(self) -> NDArray[np.int64]:
        """Levels: the load of each constraint at which its flag would rise without noise, shape (k,), in load units of
        2^-20.
        """
        return np.array(self.supply, dtype=np.int64) - self.reserve

    @property
    def stops(self) -> NDArray[np.int64]:
        """Stop of each constraint, shape (k,), in load units of 2^-20. A load above its stop raises the flag whatever
        the noise, because the next batch could exceed the supply. Without stops the numbers are beyond any possible
        load.
        """
        hard = np.array(self.supply, dtype=np.int64) - self.batch * self.unit
        return hard if self.stop_delta else np.full_like(hard, 1 << 62)

    @cached_property
    def delta(self) -> float:
        """Delta of stops: (1 + e^epsilon) times an upper bound on the probability that, in some constraint, the noise
        of the level exceeds the noise of a query by more than the room M. The delta is 0 without stops.
        """
        if not self.stop_delta or not self.queries:
            return 0.0
        return added_delta(self.epsilon, _ROOM * self.rows * _fails(
            self.room - 2, self.level_scale, self.query_scale, self.queries))

    def event(self, unit: Relation) -> Event:
        """Privacy event of all flags together.

        Args:
            unit: neighbouring relation, which states how two neighbouring data sets differ.
        """
        if self.stop_delta:
            return ApproxEvent(epsilon=self.epsilon, delta=self.stop_delta, neighbours=unit, label="flags with stops")
        return PureEvent(epsilon=self.epsilon, neighbours=unit, label="flags")

    def line(self, unit: Relation) -> Line:
        """Line for all flags together in a privacy charge.

        Args:
            unit: neighbouring relation, which states how two neighbouring data sets differ.
        """
        charged = self.event(unit)
        if not self.stop_delta:
            return Session(name=_LINE, event=charged)
        noise = PureEvent(epsilon=self.epsilon, neighbours=unit, label=_LINE)
        return Bundle(name="flags with stops", event=charged, proof="they agree with flags but for the stops' delta",
                      parts=(Session(name=_LINE, event=noise), WithoutDraw(name="stops", delta=self.stop_delta)))

    # ---- the run

    def run(
        self, noise: Noise, starts: NDArray[np.int64], rows: NDArray[np.int64], loads: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Times at which flags rise, and whether each participant is served.

        Args:
            noise: source of the noise of levels and queries.
            starts: (n + 1,) indices in `rows` and `loads` at which the entries of each participant begin.
            rows: (z,) index of the constraint of each nonzero entry of the contributions.
            loads: (z,) size of each nonzero entry, in load units of 2^-20.

        Returns:
            Two arrays. The first, shape (k,), has for each flag the number of people who had been served or refused
            when the flag rose, or n for a flag that never rose. The second, shape (n,), says whether each participant
            is served.
        """
        def cost(scales: Mapping[str, Fraction]) -> DrawCost:
            return DrawCost.laplace(self.loss_at(scales["level"], scales["query"]))

        session = open_session(noise, cost, {
            "level": Part("discrete_laplace", self.level_scale, self.rows),
            "query": Part("discrete_laplace", self.query_scale, self.queries * self.rows),
        }, stream=_LINE, line=_LINE)
        levels = self.levels + session.draw("level", self.rows, stream="level")
        counted, raised = np.zeros(self.rows, np.int64), np.full(self.rows, self.people, np.int64)
        served, stops = np.zeros(self.people, dtype=np.bool_), self.stops
        size, first = max(1, _CELLS // self.rows), 0
        for block, at in enumerate(range(0, self.queries, size)):
            shape = min(size, self.queries - at), self.rows
            drawn = session.draw("query", shape, stream=("query", block))
            last = first + len(drawn) * self.batch
            _pass(starts, rows, loads, first, last, self.batch, drawn, levels, stops, counted, raised, served)
            first = last
        none = np.empty((0, self.rows), dtype=np.int64)
        _pass(starts, rows, loads, first, self.people, self.batch, none, levels, stops, counted, raised, served)
        return raised, served


def _apart(level: float, query: float, queries: int, failure: float) -> int:
    """Room M such that, with probability at most `failure`, one of the queries' noises is below the level's noise by
    more than M.

    Args:
        level: scale of the level's noise.
        query: scale of the queries' noise.
        queries: number of queries of one constraint, at least one.
        failure: failure probability in (0, 1).
    """
    if not max(level, query) < _LARGEST:
        return 1 << 62  # above every supply
    low, high = 0.0, level * math.log(2.0 / failure) + query * math.log(2.0 * queries / failure)
    while high - low > 1e-5 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if _fails(middle, level, query, queries) <= failure / _ROOM else (middle, high)
    return math.ceil(high) + 2  # see _fails


def _fails(apart: float, level: float, query: float, queries: int) -> float:
    """Upper bound on the probability that one of the queries' noises is below the level's noise by more than `apart`.

    Given the noise z of the level, the probability of a failure is 1 - (1 - P[noise < z - apart])^queries, which grows
    with z. Sums over cells of z with the value at their upper ends are therefore above the integral. The computed
    integral is for continuous Laplace noise L. In law, discrete Laplace noise of the same scale lies between L - 1 and
    L + 1, so the difference of two discrete noises needs 2 units more.

    Args:
        apart: difference of the noises, >= 0.
        level: scale of the level's noise.
        query: scale of the queries' noise.
        queries: number of queries of one constraint, at least one.
    """
    ends = np.concatenate([np.linspace(-_DEEP * level, 0.0, _STEPS), np.linspace(0.0, apart, _STEPS)[1:]])
    tails = np.exp(-np.abs(ends) / level) / 2.0  # P[noise < end] below 0, P[noise > end] above
    cells = np.where(ends[1:] <= 0.0, np.diff(tails), -np.diff(tails))
    at_end = -np.expm1(queries * np.log1p(-np.exp((ends[1:] - apart) / query) / 2.0))
    return float(tails[0] * at_end[0] + cells @ at_end + tails[-1])


@kernel
def _pass(
    starts: Any, rows: Any, loads: Any, first: int, last: int, batch: int, noise: Any, levels: Any, stops: Any,
    counted: Any, raised: Any, served: Any,
) -> None:
    """Serve the people from `first` to `last`, and make a query for every constraint after each batch that has noise.

    Args:
        starts: (n + 1,) int64 indices in `rows` and `loads` at which the entries of each participant begin.
        rows: (z,) int64 constraint of each nonzero entry.
        loads: (z,) int64 nonzero entries.
        first: first place of a batch.
        last: place after the last participant.
        batch: number of people between two queries.
        noise: (q, k) int64 noise of the queries.
        levels: (k,) int64 levels with their noise.
        stops: (k,) int64 loads above which a flag rises whatever the noise.
        counted: (k,) int64 delivered load, updated.
        raised: (k,) int64 number of people counted when each flag rose, updated.
        served: (n,) bool output.
    """
    for i in range(first, last):
        is_open = True
        for e in range(starts[i], starts[i + 1]):
            if raised[rows[e]] <= i:
                is_open = False
        served[i] = is_open
        if is_open:
            for e in range(starts[i], starts[i + 1]):
                counted[rows[e]] += loads[e]
        q = (i - first) // batch
        if (i + 1 - first) % batch == 0 and q < len(noise):
            for j in range(len(levels)):
                if raised[j] > i and (counted[j] + noise[q, j] > levels[j] or counted[j] > stops[j]):
                    raised[j] = i + 1

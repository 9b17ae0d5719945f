"""Limits of private mechanisms: floors on the error of prices and allocations, and the supply that privacy needs.

All of them reduce to guessing bits in somebody's row: from a private output few of them are guessed right, so an output
from which many follow is not private. The reductions themselves are in `gadgets`.

Source: Wu 2017, section 4.5, re-derived; spec allocation 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.guarantees import Source
from confide.contract.remedies import printed
from confide.contract.renamed import renamed

__all__ = ["Floor", "SpyProgram", "allocation_floor", "least_supply", "price_floor", "printed_supply_floor",
           "reconstruction_floor", "supply_floor"]

_Row = tuple[Fraction, ...]


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A lower bound on an error.

    Args:
        least: lower bound on the error; where it is not above 0, it says nothing.
        of: name of the error and of the mechanisms.
        source: source of the bound.
    """

    least: float
    of: str
    source: Source

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing."""
        return not self.least > 0.0


def _floor(least: float, of: str, statement: str, erratum: str = "") -> Floor:
    return Floor(least=least, of=of, source=Source(document="Wu 2017", statement=statement, erratum=erratum,
                                                   spec="allocation 8"))


def _guessed(epsilon: float, delta: float) -> float:
    """How often a bit that was drawn fairly is guessed at most, from an (epsilon, delta)-private output."""
    positive("epsilon", epsilon)
    fraction("delta", delta, zero=True)
    return (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon))


def _missed(epsilon: float, delta: float, failure_probability: float) -> float:
    return 1.0 - _guessed(epsilon, delta) / (1.0 - fraction("failure_probability", failure_probability, zero=True))


@renamed(failure="failure_probability")
def reconstruction_floor(epsilon: float, delta: float = 0.0, failure_probability: float = 0.0) -> Floor:
    """Q: the share of bits that a private guess of a whole row of bits misses, one bit a person.

    Proof. Let the bits D be fair coins and i a uniform place, M the guess. With error at most a n but with probability
    beta, the failure probability, P[M(D)_i = D_i] >= (1 - a)(1 - beta). With D' the same bits but i flipped, which is
    uniform too, P[M(D')_i = D_i] <= 1 - (1 - a)(1 - beta), and the first is at most e^epsilon times the second, plus
    delta. The error may be an expectation over coins of the guess: only expectations are used.

    Args:
        epsilon: in nats, > 0.
        delta: in [0, 1).
        failure_probability: beta, the probability that more is missed, in [0, 1).

    Raises:
        InvalidInput: a number out of range.

    Source: Wu 2017, Theorem 4.5.1 (whose proof fixes D where D must be uniform); spec allocation 8.

    Example:
        >>> round(reconstruction_floor(0.1, 0.1, 0.01).least, 6), round(reconstruction_floor(1.0).least, 6)
        (0.421736, 0.268941)
        >>> reconstruction_floor(1.0, failure_probability=0.5).vacuous
        True
    """
    return _floor(_missed(epsilon, delta, failure_probability), "share of bits missed by a private guess",
                  "Theorem 4.5.1", "D is uniform in the proof")


@renamed(failure="failure_probability")
def price_floor(epsilon: float, delta: float = 0.0, failure_probability: float = 0.0) -> Floor:
    """The share of bidders that private prices leave unsatisfied, where every good has one copy.

    It is about prices of an (alpha, beta, rho)-approximate equilibrium with alpha < 1/2 and beta < 1, that is, every
    good with a price is sold. With beta >= 1 it is false: all prices 1, whatever the bids, are private and satisfy
    everybody with nothing.

    Proof. Two bidders of a gadget of `PriceGadgets` want the same good H, nobody wants its other good L. Where both are
    satisfied, p_H >= 1 - alpha > 1/2, as one of them goes without H. Where p_L > 1/2, its holder is not satisfied. The
    bit is guessed where exactly one of the two prices is above 1/2, else by a coin: one unsatisfied bidder spoils
    at most one gadget as a member and one as a holder, each by a half; so rho n bidders spoil rho n of n/2 bits in
    expectation, and a bit is two bidders' row.

    Args:
        epsilon: level of standard differential privacy, in nats, > 0.
        delta: in [0, 1).
        failure_probability: beta, the probability that the prices are no such equilibrium, in [0, 1).

    Source: Wu 2017, Theorem 4.5.2, corrected: beta < 1 is needed, and a spoilt gadget was counted once where a bidder
    can spoil two; spec allocation 8.

    Example:
        >>> round(price_floor(0.1).least, 4)
        0.2251
    """
    _guessed(epsilon, delta)
    both = min(delta * (1.0 + math.exp(min(epsilon, 700.0))), math.nextafter(1.0, 0.0))  # a delta of 1 promises nothing
    return _floor(_missed(2.0 * epsilon, both, failure_probability) / 2.0,
                  "share of bidders unsatisfied by private prices, supply 1, every priced good sold", "Theorem 4.5.2",
                  "false where priced goods may stay unsold; a bidder may spoil two gadgets")


@renamed(failure="failure_probability")
def allocation_floor(epsilon: float, delta: float = 0.0, failure_probability: float = 0.0) -> Floor:
    """The welfare per bidder that an allocation loses under standard differential privacy, with any supply.

    The whole allocation is published: n bidders want one of two goods each, which tells their bit. Joint differential
    privacy, under which nobody sees another's good, is another matter (`supply_floor`).

    Args:
        epsilon: level of standard differential privacy, in nats, > 0.
        delta: in [0, 1).
        failure_probability: beta, the probability that more is lost, in [0, 1).

    Source: Wu 2017, Theorem 4.5.3; spec allocation 8.

    Example:
        >>> round(allocation_floor(1.0).least, 6)
        0.268941
    """
    return _floor(_missed(epsilon, delta, failure_probability),
                  "welfare per bidder lost by a published private allocation, any supply", "Theorem 4.5.3")


@renamed(failure="failure_probability")
def printed_supply_floor(
    supply: int, epsilon: float = 0.1, delta: float = 0.1, failure_probability: float = 0.01
) -> Floor:
    """The welfare per bidder that joint differential privacy costs, as printed: 1/(16 s (s + 1)), for many goods.

    Args:
        supply: s >= 1, copies of each good.
        epsilon: at most .1.
        delta: at most .1.
        failure_probability: at most .01.

    Raises:
        InvalidInput: beyond these; `supply_floor` has no such limits.

    Source: Wu 2017, Theorem 4.5.4, whose error is an error of bits although RB counts right ones; spec allocation 8.

    Example:
        >>> printed_supply_floor(1).least
        0.03125
    """
    _guessed(epsilon, delta)
    fraction("failure_probability", failure_probability, zero=True)
    for name, value, most in (("epsilon", epsilon, 0.1), ("delta", delta, 0.1),
                              ("failure_probability", failure_probability, 0.01)):
        if value > most:
            raise InvalidInput(name, f"{value!r} is out of range",
                               f"the printed constants need at most {printed(most, up=False, digits=6)}")
    return _floor(float(1 / (16 * Fraction(whole("supply", supply, at_least=1)) * (supply + 1))),
                  "welfare per bidder lost by any jointly private allocation, many goods", "Theorem 4.5.4",
                  "RB counts right bits; the final constant is 1/(16 s (s + 1))")


@renamed(failure="failure_probability")
def supply_floor(supply: int, epsilon: float, delta: float = 0.0, failure_probability: float = 0.0) -> Floor:
    """The welfare per bidder that joint differential privacy costs: so supply must grow as one over that loss.

    Sharper than the printed theorem, by the same gadgets with spies that value their good at 1/2, for any number of
    gadgets and any epsilon: at least (3/4 - beta - (e^epsilon + delta)/(1 + e^epsilon))/(s + 1).

    Proof. A gadget has one real bidder, who values the good of their bit at 1, and s spies, who value one good, drawn
    fairly, at 1/2. Spies who all hold one good guess the other one, else they toss a coin. Where the spies want
    the real bidder's good, the optimum guesses right with probability 1/2; only s spies on that good make it worse,
    which costs 1/2. Where they want the other, the optimum is right; to make it a coin costs a spy their good, 1/2, and
    to make it wrong costs 1 + s/2, as all copies of the real bidder's good are gone. So a gadget that loses w of
    welfare lowers the probability of a right guess by w at most, from 3/4 on average; but with probability beta n a is
    lost at most in the k = n/(s + 1) gadgets together. The share of right guesses is therefore at least 3/4 - a (s + 1)
    - beta, and a bit is one real bidder's row, which the spies must not learn.

    Args:
        supply: s >= 1.
        epsilon: level of joint differential privacy, in nats, > 0.
        delta: in [0, 1).
        failure_probability: beta, the probability that more is lost, in [0, 1).

    Source: ours, after Wu 2017, Theorem 4.5.4; spec allocation 8.

    Example:
        >>> round(supply_floor(1, 0.1, 0.1, 0.01).least, 4), supply_floor(5, 1.2).vacuous
        (0.0838, True)
    """
    spare = 0.75 - fraction("failure_probability", failure_probability, zero=True) - _guessed(epsilon, delta)
    return _floor(spare / (whole("supply", supply, at_least=1) + 1),
                  "welfare per bidder lost by any jointly private allocation", "Theorem 4.5.4",
                  "spies' goods are worth 1/2, and expectations replace concentration")


@renamed(failure="failure_probability")
def least_supply(loss: float, epsilon: float, delta: float = 0.0, failure_probability: float = 0.0) -> int:
    """The fewest copies of each good with which a loss of welfare per bidder is not excluded by `supply_floor`.

    Args:
        loss: welfare per bidder, in (0, 1).
        epsilon: level of joint differential privacy, in nats, > 0.
        delta: in [0, 1).
        failure_probability: beta, the probability that more is lost, in [0, 1).

    Example:
        >>> least_supply(0.001, 0.1), least_supply(0.001, 2.0)
        (225, 1)
    """
    spare = supply_floor(1, epsilon, delta, failure_probability).least * 2.0
    found = max(1, math.ceil(spare / fraction("loss", loss) * (1.0 - 2.0**-40)) - 1)
    while supply_floor(found, epsilon, delta, failure_probability).least > loss:
        found += 1
    return found


@dataclass(frozen=True, kw_only=True)
class SpyProgram:
    """The linear program of the printed theorem, in fractions: the least number of bits that spies can guess at some
    loss of welfare.

    Variables (a1, a2, d1, d2, t): shares of gadgets that agree (spies want the real bidder's good) with that good given
    to the real bidder, or to the spies; of those that disagree, with everybody served, or all but one spy; and of
    agreeing ones.

    Args:
        supply: s >= 1.
        worth: eta, the worth of a spy's good, in (0, 1); None for the printed 1/(4s).
        slack: welfare that may be lost in each gadget, >= 0; None for the printed 1/(16 s).
        drift: lambda, how far the share of agreeing gadgets may be from 1/2, in [0, 1/2).

    Source: Wu 2017, proof of Theorem 4.5.4; spec allocation 8.

    Example:
        >>> SpyProgram(supply=5).solved()
        Fraction(159, 256)
    """

    supply: int
    worth: Fraction | None = None
    slack: Fraction | None = None
    drift: Fraction = Fraction(1, 128)

    def __post_init__(self) -> None:
        s = whole("supply", self.supply, at_least=1)
        worth = Fraction(1, 4 * s) if self.worth is None else Fraction(self.worth)
        slack = Fraction(1, 16 * s) if self.slack is None else Fraction(self.slack)
        if not 0 < worth < 1:
            raise InvalidInput("worth", f"{worth} is out of range", "must be in (0, 1)")
        if slack < 0:
            raise InvalidInput("slack", f"{slack} is out of range", "must be at least 0")
        if not 0 <= Fraction(self.drift) < Fraction(1, 2):
            raise InvalidInput("drift", f"{self.drift} is out of range", "must be in [0, 1/2)")
        object.__setattr__(self, "worth", worth)
        object.__setattr__(self, "slack", slack)
        object.__setattr__(self, "drift", Fraction(self.drift))

    @property
    def cost(self) -> _Row:
        """The share of bits guessed, per unit of each variable."""
        half = Fraction(1, 2)
        return (half, Fraction(0), Fraction(1), half, Fraction(0))

    @property
    def rows(self) -> tuple[tuple[_Row, Fraction], ...]:
        """Constraints, each a row and the least of row x, beside x >= 0."""
        s, eta, slack = self.supply, Fraction(self.worth or 0), Fraction(self.slack or 0)
        agree, differ, half = 1 + (s - 1) * eta, 1 + s * eta, Fraction(1, 2)
        table: list[tuple[Sequence[int | Fraction], int | Fraction]] = [
            ((-1, -1, 0, 0, 1), 0),
            ((0, 0, -1, -1, -1), -1),
            ((0, 0, 0, 0, 1), half - self.drift),
            ((0, 0, 0, 0, -1), -(half + self.drift)),
            ((agree, s * eta, differ, agree, differ - agree), differ - slack),
        ]
        return tuple((tuple(map(Fraction, row)), Fraction(least)) for row, least in table)

    @property
    def printed(self) -> tuple[_Row, _Row]:
        """The primal and dual solutions of the source, for its eta and lambda."""
        s = Fraction(self.supply)
        primal = tuple(Fraction(share, 128) for share in (65, 0, 31, 32, 65))
        return primal, (Fraction(5, 2) * s - 1, Fraction(5, 2) * s - 1, Fraction(0), Fraction(1, 2), 2 * s)

    def certified(self, primal: Sequence[Fraction], dual: Sequence[Fraction]) -> Fraction:
        """The optimum, if both solutions are feasible and meet.

        Args:
            primal: (5,) shares.
            dual: (5,) prices of the constraints.

        Raises:
            SolverFailed: one is infeasible, or there is a gap between them.
        """
        rows, cost = self.rows, self.cost
        fits = min(*primal, *(_dot(row, primal) - least for row, least in rows)) >= 0
        tight = min(*dual, *(cost[j] - sum((row[j] * y for (row, _), y in zip(rows, dual, strict=True)), Fraction(0))
                             for j in range(len(cost)))) >= 0
        value = _dot(cost, primal)
        if not (fits and tight and value == _dot([least for _, least in rows], dual)):
            raise SolverFailed("spy program", "primal and dual do not certify each other")
        return value

    def solved(self) -> Fraction:
        """The optimum, exactly: a best vertex, certified by a best vertex of the dual.

        Raises:
            SolverFailed: no allocation is so good.
        """
        rows, cost = self.rows, self.cost
        primal = _best_vertex([row for row, _ in rows], [least for _, least in rows], cost, min)
        flipped = [tuple(-row[j] for row, _ in rows) for j in range(len(cost))]
        dual = _best_vertex(flipped, [-each for each in cost], tuple(least for _, least in rows), max)
        return self.certified(primal, dual)


def _dot(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))


def _best_vertex(
    rows: Sequence[_Row], least: Sequence[Fraction], cost: _Row, best: Callable[..., _Row],
) -> _Row:
    """The best point where as many constraints are tight as there are variables: a program this small has few."""
    found = list(_vertices(rows, least, len(cost)))
    if not found:
        raise SolverFailed("spy program", "no point fits its constraints")
    return best(found, key=lambda point: _dot(cost, point))


def _vertices(rows: Sequence[_Row], least: Sequence[Fraction], size: int) -> Iterator[_Row]:
    axes = [tuple(Fraction(int(i == j)) for j in range(size)) for i in range(size)]
    everything = [*zip(rows, least, strict=True), *((axis, Fraction(0)) for axis in axes)]
    for chosen in combinations(everything, size):
        point = _solved(chosen)
        if point is not None and all(_dot(row, point) >= bound for row, bound in everything):
            yield point


def _solved(chosen: Sequence[tuple[_Row, Fraction]]) -> _Row | None:
    """Where all of these are tight; None where that is no single point."""
    table = [[*row, bound] for row, bound in chosen]
    for column in range(len(table)):
        pivot = next((r for r in range(column, len(table)) if table[r][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [x / table[column][column] for x in table[column]]
        for r in range(len(table)):
            if r != column and table[r][column]:
                factor = table[r][column]
                table[r] = [x - factor * y for x, y in zip(table[r], table[column], strict=True)]
    return tuple(row[-1] for row in table)

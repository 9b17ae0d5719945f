"""Limits of private mechanisms: lower bounds on the error of prices and allocations, and the supply that privacy needs.

All proofs encode secret bits in people's rows and then guess the bits from the output. From a private output only few
of these bits can be guessed right, so an output that reveals many of them is not private. The constructions are in
`confide.allocation.instances`.

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
        least: lower bound on the error, in the unit that `of` names. A bound of 0 or less says nothing.
        of: name of the error, and of the mechanisms to which the bound applies.
        source: theorem from which the bound comes.
    """

    least: float
    of: str
    source: Source

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing, because it is 0 or less."""
        return not self.least > 0.0


def _floor(least: float, of: str, statement: str, erratum: str = "") -> Floor:
    return Floor(least=least, of=of, source=Source(document="Wu 2017", statement=statement, erratum=erratum,
                                                   spec="allocation 8"))


def _guessed(epsilon: float, delta: float) -> float:
    """Largest probability of guessing a fair random bit from an (epsilon, delta)-private output."""
    positive("epsilon", epsilon)
    fraction("delta", delta, zero=True)
    return (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon))


def _missed(epsilon: float, delta: float, failure_probability: float) -> float:
    return 1.0 - _guessed(epsilon, delta) / (1.0 - fraction("failure_probability", failure_probability, zero=True))


@renamed(failure="failure_probability")
def reconstruction_floor(epsilon: float, delta: float = 0.0, failure_probability: float = 0.0) -> Floor:
    """Lower bound Q on the share of bits that a private guess of a whole row of bits gets wrong, where every person has
    one bit.

    Proof. Let the bits D be fair coins, i a uniform position, and M the guess. Assume that M gets at most a share a of
    the n bits wrong, except with the failure probability beta. Then P[M(D)_i = D_i] >= (1 - a)(1 - beta). Let D' be D
    with bit i flipped, which is also uniform. Then P[M(D')_i = D_i] <= 1 - (1 - a)(1 - beta). By privacy, the first
    probability is at most e^epsilon times the second, plus delta. The proof uses only expectations, so the error may be
    an expectation over the random draws of the guess.

    Args:
        epsilon: privacy loss in nats, > 0.
        delta: parameter delta of the privacy guarantee, in [0, 1).
        failure_probability: probability beta in [0, 1) with which the guess may get a larger share of bits wrong.

    Raises:
        InvalidInput: a number is out of range.

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
    """Lower bound on the share of bidders that private prices leave unsatisfied, where every good has one copy.

    The prices are those of an (alpha, beta, rho)-approximate equilibrium with alpha < 1/2 and beta < 1, so that every
    good with a positive price is sold. With beta >= 1 the bound is false. If beta >= 1, constant prices of 1 are
    private, and every bidder is satisfied without a good.

    Proof. Two bidders of a gadget of `PriceGadgets` want the same good H, and nobody wants its other good L. If both
    bidders are satisfied, the price of H is at least 1 - alpha > 1/2, as one of the two does not get H. If the price of
    L is above 1/2, the holder of L is not satisfied. The bit is guessed from the prices if exactly one of the two
    prices is above 1/2, and otherwise by a fair coin. One unsatisfied bidder can make the guess fail in at most one
    gadget as a member and in one as a holder, each with probability 1/2. So rho n unsatisfied bidders make the guess
    fail for rho n of n/2 bits in expectation, and each bit is encoded in two bidders' rows.

    Args:
        epsilon: privacy loss of standard differential privacy, in nats, > 0.
        delta: parameter delta of the privacy guarantee, in [0, 1).
        failure_probability: probability in [0, 1) that the prices are no such equilibrium.

    Source: Wu 2017, Theorem 4.5.2, corrected: beta < 1 is needed, and the source counts one failed gadget for each
    unsatisfied bidder where two are possible; spec allocation 8.

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
    """Lower bound on the welfare per bidder that an allocation loses under standard differential privacy, with any
    supply.

    The whole allocation is published. In the proof each of n bidders wants one of two goods, and the wanted good
    encodes their bit. The bound does not apply to joint differential privacy, under which nobody sees another bidder's
    good (`supply_floor`).

    Args:
        epsilon: privacy loss of standard differential privacy, in nats, > 0.
        delta: parameter delta of the privacy guarantee, in [0, 1).
        failure_probability: probability beta in [0, 1) with which the mechanism may lose more welfare.

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
    """The printed lower bound 1/(16 s (s + 1)) on the welfare per bidder that joint differential privacy costs, for
    many goods with s copies each.

    Args:
        supply: number s >= 1 of copies of each good.
        epsilon: privacy loss of joint differential privacy, in nats, in (0, .1].
        delta: parameter delta of approximate joint differential privacy, in [0, .1].
        failure_probability: probability in [0, .01] with which the mechanism may lose more welfare.

    Raises:
        InvalidInput: epsilon, delta or the failure probability is above its limit. The function `supply_floor` has no
            such limits.

    Source: Wu 2017, Theorem 4.5.4, which states a bound on wrong bits although the quantity RB in the proof counts
    right bits; spec allocation 8.

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
    """Lower bound on the welfare per bidder that joint differential privacy costs. The bound implies that the supply
    must grow as one over the welfare loss.

    The bound is sharper than the printed theorem, and holds for any number of gadgets and any epsilon. A gadget is a
    small group of bidders, and their wishes encode one bit. The proof uses the gadgets of the printed theorem, with
    spies that value their good at 1/2. The bound is at least

        (3/4 - beta - (e^epsilon + delta)/(1 + e^epsilon))/(s + 1).

    Proof. A gadget has one real bidder and s spies. The real bidder values the good that their bit names at 1. The
    spies value one good, drawn by a fair coin, at 1/2. Spies who all hold one good guess that the bit names the other
    good, and otherwise they guess by a fair coin.

    If the spies want the real bidder's good, the guess from the optimal allocation is right with probability 1/2. The
    guess becomes worse only if all s spies get that good, which costs welfare 1/2. If the spies want the other good,
    the guess from the optimal allocation is right. To turn this guess into a fair coin costs one spy's good, worth 1/2.
    To make the guess wrong costs 1 + s/2, because all copies of the real bidder's good then go to the spies. So a
    gadget that loses welfare w lowers the probability of a right guess by at most w, from an average of 3/4.

    Except with probability beta, the k = n/(s + 1) gadgets together lose at most n a, where a is the loss per bidder.
    The share of right guesses is therefore at least 3/4 - a (s + 1) - beta. Each bit is encoded in the row of one real
    bidder, which the spies must not learn.

    Args:
        supply: number s >= 1 of copies of each good.
        epsilon: privacy loss of joint differential privacy, in nats, > 0.
        delta: parameter delta of the privacy guarantee, in [0, 1).
        failure_probability: probability beta in [0, 1) with which the mechanism may lose more welfare.

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
    """The least number of copies of each good at which `supply_floor` does not exclude a given welfare loss per bidder.

    Args:
        loss: allowed welfare loss per bidder, in (0, 1). The largest value of a good is 1.
        epsilon: privacy loss of joint differential privacy, in nats, > 0.
        delta: parameter delta of the privacy guarantee, in [0, 1).
        failure_probability: probability beta in [0, 1) with which the mechanism may lose more welfare.

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
    """The linear program of the printed theorem, in exact fractions: the least share of bits that spies can guess at a
    given loss of welfare.

    The variables (a1, a2, d1, d2, t) are shares of all gadgets. The share t counts agreeing gadgets, in which the spies
    want the real bidder's good. In a share a1 this good goes to the real bidder, and in a share a2 to the spies. Among
    the other gadgets, every bidder gets a good in a share d1, and every bidder except one spy in a share d2.

    Args:
        supply: number s >= 1 of copies of each good.
        worth: value eta of the good that a spy wants, in (0, 1); None for the printed value 1/(4s).
        slack: welfare that may be lost per gadget, >= 0; None for the printed value 1/(16 s).
        drift: largest difference lambda between the share of agreeing gadgets and 1/2, in [0, 1/2).

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
        """Coefficients of the objective, one for each variable: the share of bits that spies guess right."""
        half = Fraction(1, 2)
        return (half, Fraction(0), Fraction(1), half, Fraction(0))

    @property
    def rows(self) -> tuple[tuple[_Row, Fraction], ...]:
        """The constraints besides x >= 0 on the variables x. Each constraint is a row of coefficients, and a lower
        bound on the product of this row with x.
        """
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
        """The primal and dual solutions that the source prints, for the source's values of eta and lambda."""
        s = Fraction(self.supply)
        primal = tuple(Fraction(share, 128) for share in (65, 0, 31, 32, 65))
        return primal, (Fraction(5, 2) * s - 1, Fraction(5, 2) * s - 1, Fraction(0), Fraction(1, 2), 2 * s)

    def certified(self, primal: Sequence[Fraction], dual: Sequence[Fraction]) -> Fraction:
        """The optimum that two given solutions prove. Both solutions must be feasible and have the same value.

        Args:
            primal: (5,) values of the variables (a1, a2, d1, d2, t).
            dual: (5,) dual variables, one for each constraint of `rows`.

        Raises:
            SolverFailed: a solution is infeasible, or the two values differ.
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
        """The exact optimum, from a best vertex of the primal program that is certified by a best vertex of the dual.

        Raises:
            SolverFailed: no allocation satisfies the constraints.
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
    """The best feasible vertex, found by trying every choice of as many tight constraints as there are variables. A
    program of this size has few vertices.
    """
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
    """The point at which all chosen constraints are tight; None where there is no unique point."""
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

"""Incentives of participants where average prices are charged: their satisfaction with their share, and the gain of a
lie.

Whatever a participant reports, their utility, value less price, is at most u*, the utility of their favourite action:
the best action at the charged prices. The number u* lies in [0, V], where V is the largest value. The path of prices is
differentially private, so the participant's report changes the mean of u* only a little. The truth gives at least u* -
alpha, because a participant with a lower utility receives their favourite in place of their average response.

All comparisons use whole numbers. Alpha is rounded down to a whole unit, so that nobody is wrongly counted as
satisfied. The charged prices are rounded to multiples of 2^-24. Where a theorem is about satisfaction at the exact
average prices, 2^-24 C1 is subtracted from alpha, where C1 is the largest sum of a contribution. The subtracted amount
covers a rounding error of half a unit in each price, for the participant's own action and for their favourite.

Gains and utilities refer to values that are rounded to multiples of 2^-24, as the program reads them.

Source: Wu 2017, Algorithm 10, Lemma 6.2.4 and Theorem 6.2.11; spec convex_programs 6.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Participation, Source, Truthfulness
from confide.contract.remedies import printed
from confide.privacy.accounting import float_up
from confide.privacy.accounting.sums import root_up
from confide.privacy.losses import GDP, ZCDP
from confide.programs.dual_dynamics import Law, total_variation
from confide.programs.grids import PRICE_UNIT

if TYPE_CHECKING:
    from confide.programs.billboards import Tally
    from confide.programs.grids import Constants, Neighbours
    from confide.programs.program import Program

__all__ = ["Judged", "Relative", "additive_gain", "alpha_units", "audited_gain", "check_payments", "exact_alpha",
           "judged", "loss_of_a_lie", "participation", "reassigned", "relative_gain", "truthfulness"]

_CELLS = 1 << 22  # of contributions that are held at once


# ---- who is satisfied


def check_payments(program: Program, rounds: int) -> None:
    """Check that a program allows prices to be charged. The conditions are that values and contributions are never
    negative, that everybody may have nothing, and that each response is within the program's `oracle_error` of the best
    response.

    Args:
        program: program of the mechanism that charges prices.
        rounds: number T of main rounds, over which utilities are summed as 64-bit integers.

    Raises:
        InvalidInput: a program that does not meet the conditions, or sums beyond 2^62.
    """
    if program.not_packing:
        raise InvalidInput("program", f"{type(program).__name__} is not a packing program: {program.not_packing}",
                           "prices need a packing program, such as UnitDemand")
    if not program.always_answered:
        raise InvalidInput("program", "uses a solver, and a participant without a proven response gets nothing, so no "
                                      "promise about lies would hold for this participant",
                           "use a mode without charges, or a program of a known shape")
    if rounds * _most_units(program) > 2**62:
        raise InvalidInput("rounds", f"the sum of the utilities of {rounds} rounds is too large",
                           f"must be at most {2**62 // _most_units(program)}")


def alpha_units(program: Program, alpha: float) -> int:
    """Alpha as a whole number of units of 2^-24/`program.scale` of value, rounded down. An alpha above an upper bound
    on all gains is replaced by this bound.

    Args:
        program: program whose scale sets the size of a unit.
        alpha: largest tolerated gain by another choice, > 0, in units of value.
    """
    exact_alpha(program, alpha)
    return min(math.floor(Fraction(alpha) * PRICE_UNIT * program.scale), _most_units(program))


def exact_alpha(program: Program, alpha: float) -> float:
    """Alpha less the largest effect of the rounding of prices, in units of value. A reassigned participant, who
    receives their favourite, gains more than this difference by the favourite at the exact average prices. So the
    regret divided by this difference bounds the number of reassigned participants.

    Args:
        program: program with the largest sum C1 of a contribution, and the scale that sets the size of a unit.
        alpha: largest tolerated gain by another choice, > 0, in units of value.

    Raises:
        InvalidInput: an alpha that does not exceed the rounding of prices.
    """
    whole_units = math.floor(Fraction(positive("alpha", alpha)) * PRICE_UNIT * program.scale)
    left = Fraction(whole_units, PRICE_UNIT * program.scale) - Fraction(program.constants.largest_sum) / PRICE_UNIT
    if left <= 0:
        raise InvalidInput("alpha", f"{alpha:g} is not above the rounding of prices",
                           f"must be above {printed((program.constants.largest_sum + 1.0) / PRICE_UNIT, digits=3)}")
    down = float(left)
    return down if Fraction(down) <= left else math.nextafter(down, 0.0)


class Judged(NamedTuple):
    """Comparison of each participant's average response with their favourite, the best response at the charged prices.
    The comparison is private and must not be published.

    Args:
        unsatisfied: (m,) whether the utility of the participant's favourite exceeds that of their average response by
            more than alpha.
        favourites: (m, width) the participant's favourite action at the charged prices.
        value: (m,) value of the participant's average response, times the number T of main rounds, in units of 2^-24.
        paid: (m,) price of the participant's average response, times T, in units of 2^-24/`program.scale` of value.
        missed: (m,) utility of the favourite less utility of the average response, times T, in units of
            2^-24/`program.scale` of value.
    """

    unsatisfied: NDArray[np.bool_]
    favourites: NDArray[np.int32]
    value: NDArray[np.int64]
    paid: NDArray[np.int64]
    missed: NDArray[np.int64]


def judged(
    program: Program, records: Any, tally: Tally, charged: NDArray[np.int64], rounds: int, alpha: int,
) -> Judged:
    """Compare each participant's average response with their favourite.

    Args:
        program: program that the actions belong to.
        records: records of m participants.
        tally: tally of the m participants' responses to the main rounds.
        charged: (k,) charged prices, in price units of 2^-24.
        rounds: number of main rounds T.
        alpha: largest gain at which a participant is satisfied, in units of 2^-24/`program.scale` of value, from
            `alpha_units`.
    """
    starts, actions, times = tally
    m, scale = records.people, program.scale
    favourites = np.empty((m, program.width), dtype=np.int32)
    value, paid, missed = (np.empty(m, dtype=np.int64) for _ in range(3))
    at, most = 0, max(1, _CELLS // program.rows)
    while at < m:
        end = max(at + 1, int(np.searchsorted(starts, starts[at] + most, side="right")) - 1)
        block, of = records.take(slice(at, end)), slice(int(starts[at]), int(starts[end]))
        each, often = np.repeat(np.arange(at, end), np.diff(starts[at : end + 1])), times[of].astype(np.int64)
        some, begins = records.take(each), starts[at:end] - starts[at]
        value[at:end] = np.add.reduceat(often * program.values(some, actions[of]), begins)
        paid[at:end] = np.add.reduceat(often * program.paid(some, actions[of], charged), begins)
        best = favourites[at:end] = program.respond(block, charged)
        most_utility = program.values(block, best) * scale - program.paid(block, best, charged)
        missed[at:end] = rounds * most_utility - (value[at:end] * scale - paid[at:end])
        at = end
    return Judged(missed > rounds * alpha, favourites, value, paid, missed)


def reassigned(tally: Tally, unsatisfied: NDArray[np.bool_], favourites: NDArray[np.int32], rounds: int) -> Tally:
    """A copy of a tally in which unsatisfied participants have their favourite action in all main rounds.

    Args:
        tally: tally of m participants.
        unsatisfied: (m,) whether each participant is unsatisfied.
        favourites: (m, width) favourite action of each participant.
        rounds: number of main rounds T.
    """
    starts, actions, times = tally
    first = np.zeros(len(times), dtype=bool)
    first[starts[:-1]] = True
    kept = first | ~np.repeat(unsatisfied, np.diff(starts))
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(unsatisfied, 1, np.diff(starts)))])
    actions, times = actions[kept], times[kept]
    actions[begins[:-1][unsatisfied]] = favourites[unsatisfied]
    times[begins[:-1][unsatisfied]] = rounds
    return begins, actions, times


def _most_units(program: Program) -> int:
    """Upper bound on any value less any price, in units of 2^-24/`program.scale` of value."""
    one = program.constants
    return math.ceil(PRICE_UNIT * program.scale * (
        Fraction(one.most_value) + (2 * Fraction(max(one.tau)) + 1) * Fraction(one.largest_sum)))


# ---- what a lie can gain


class Relative(NamedTuple):
    """Bound on the mean utility of a lie: E[utility of the lie] <= factor E[utility of the truth] + added.

    Args:
        factor: factor >= 1.
        added: amount >= 0, in units of value.
    """

    factor: float
    added: float


def loss_of_a_lie(constants: Constants, neighbours: Neighbours, squared: Fraction) -> Fraction:
    """Largest sum of (distance/deviation)^2 over all rounds for two records of one participant, where distance is the
    l2 distance of the two contributions, and deviation the standard deviation of the noise.

    A lie replaces one record by another. If neighbouring data sets differ by a record that is left out, data sets with
    two different records of one participant can lie further apart than neighbouring data sets.

    Args:
        constants: public constants of the program.
        neighbours: neighbouring relation of the mechanism.
        squared: sum of (sigma/deviation)^2 over all rounds, where sigma is the l2 sensitivity for the mechanism's
            neighbouring relation.
    """
    return squared * constants.squared_l2_sensitivity("replace") / constants.squared_l2_sensitivity(neighbours)


def additive_gain(alpha: float, most_value: float, variation: float) -> float:
    """Upper bound on the mean gain of a lie, in units of value, for any reports of the other participants.

    Args:
        alpha: largest amount, in units of value, by which the utility of a participant's favourite exceeds that of
            their own share.
        most_value: largest value V of a participant.
        variation: total variation distance, in [0, 1], between the distributions of the path of prices under two
            records of one participant.

    Source: spec convex_programs 6.1: alpha + (V + alpha) variation.

    Example:
        >>> round(additive_gain(0.01, 1.0, 0.0942), 6)
        0.105142
    """
    return non_negative("alpha", alpha) + (most_value + alpha) * non_negative("variation", variation, at_most=1.0)


def relative_gain(law: Law, squared: Fraction, alpha: float, most_value: float, epsilon: float = 0.0) -> Relative:
    """Bound on the mean utility of a lie, with a factor e^epsilon. The bounds for all epsilon >= 0 hold at the same
    time. At epsilon = 0 the factor is 1, and the bound is an additive bound on the gain.

    Args:
        law: distribution of the noise, "gaussian" or "discrete_gaussian".
        squared: the sum of (sigma/deviation)^2 for two records of one participant (`loss_of_a_lie`).
        alpha: largest amount, in units of value, by which the utility of a participant's favourite exceeds that of
            their own share.
        most_value: largest value V of a participant.
        epsilon: privacy loss in nats, >= 0.

    Source: spec convex_programs 6.1: e^epsilon E[truth] + alpha e^epsilon + delta(epsilon)(V + alpha).

    Example:
        >>> from confide.programs.dual_dynamics import squared_budget
        >>> found = relative_gain("gaussian", squared_budget("gaussian", 1.0, 1e-6), 0.01, 1.0, epsilon=1.0)
        >>> round(found.factor, 4), round(found.added - 0.01 * found.factor, 8)
        (2.7183, 1.01e-06)
    """
    factor = math.exp(non_negative("epsilon", epsilon))
    if law == "gaussian":
        delta = GDP(root_up(squared)).delta_at(epsilon)
    else:
        delta = ZCDP(float_up(squared / 2)).delta_at(epsilon)
    if epsilon == 0.0:
        delta = min(delta, total_variation(law, squared))
    return Relative(factor, non_negative("alpha", alpha) * factor + delta * (most_value + alpha))


def audited_gain(
    *, alpha: float, most_value: float, path_variation: float, audit_variation: float, most_utility: float,
) -> float:
    """Upper bound on the mean gain of a lie, in units of value, where a noisy audit of the loads accepts or rejects the
    run.

    Acceptance depends on the participant's own whole share. So the bound compares acceptance of the run with and
    without the participant, once for the truth and once for the lie.

    Args:
        alpha: largest amount, in units of value, by which the utility of a participant's favourite exceeds that of
            their own share, on average over the public draw.
        most_value: largest value V of a participant.
        path_variation: total variation distance, in [0, 1], between the distributions of the path of prices under two
            records of one participant.
        audit_variation: total variation distance, in [0, 1], between the distributions of the noisy audit under two
            records of one participant.
        most_utility: largest absolute utility of a whole share, in units of value: the larger of V and the highest
            price of an action, or V with scaled payments.

    Source: spec convex_programs 6.2.

    Example:
        >>> round(audited_gain(alpha=0.01, most_value=1, path_variation=0.067, audit_variation=0.067,
        ...                    most_utility=2), 4)
        0.3457
    """
    non_negative("most_utility", most_utility)
    return additive_gain(alpha, most_value, path_variation) + 2.0 * most_utility * non_negative(
        "audit_variation", audit_variation, at_most=1.0)


def participation(utility: float, when: str, source: Source, *, note: str = "") -> Participation:
    """The promise that the value of every participant's share, less its price, is at least a given amount.

    Args:
        utility: lower bound on value less price, in units of value.
        when: description of the cases in which the promise holds, such as "after every run".
        source: publication and statement with the proof of the promise.
        note: note about the scope of the promise.

    Example:
        >>> print(participation(-0.01, "after every run", Source(document="a", statement="b")).sentence())
        the value of the participant's part, less its price, is at least -0.01, for every truthful participant, after \
every run
    """
    return Participation(utility=utility, who=f"every truthful participant, {when}", source=source, note=note,
                         of="the value of the participant's part, less its price,")


def truthfulness(gain: float, most_value: float, *, note: str = "", statement: str = "Theorem 6.2.11") -> Truthfulness:
    """The promise that no lie gains more than a given amount on average.

    Args:
        gain: upper bound on the mean gain from a lie, such as the result of `additive_gain`, in units of value.
        most_value: largest value V of a participant. A gain of at least V makes the promise vacuous.
        note: description of the randomness over which the gain is averaged.
        statement: number of the statement in Wu 2017.
    """
    return Truthfulness(
        gain=gain, baseline=most_value, unit_of_gain="of value", note=note,
        who="everybody, for any reports of the other participants, if contributions are verified",
        source=Source(document="Wu 2017", statement=statement, spec="convex_programs 6.1",
                      erratum="total variation distance between the paths of prices in place of e^epsilon; no bound on "
                              "prices is needed"))

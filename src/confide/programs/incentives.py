"""Incentives where average prices are charged: who would rather have something else, and the gain of a lie.

Whatever a participant reports, they get at most u* = max (value - price) at the charged prices, a number in [0, V]. The
path of prices is private, so that their report moves the mean of u* by little. Truth gives them u* - alpha at least,
because a participant who is further below it gets their favourite in place of the average.

All comparisons use whole numbers: alpha is rounded down to a unit, so that nobody counts as satisfied wrongly. The
charged prices are rounded to 2^-24. Where a theorem counts satisfaction at the exact averages, 2^-24 C1 is taken off
alpha: half a unit of each price, for the participant's own action and for their favourite.

Gains and utilities are about values as the program reads them, rounded to 2^-24.

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
    """Check that prices can be charged. They can if nobody's value or contribution is ever negative, everybody may have
    nothing, and each response is as good as declared.

    Args:
        program: program whose actions are priced.
        rounds: number of rounds T, over which utilities are added up in 64 bits.

    Raises:
        InvalidInput: another kind of program, or sums beyond 2^62.
    """
    if program.not_packing:
        raise InvalidInput("program", f"{type(program).__name__} is no packing program: {program.not_packing}",
                           "to charge prices it must be one, such as UnitDemand")
    if not program.always_answered:
        raise InvalidInput("program", "is answered by a solver, and a participant without a proven response gets "
                                      "nothing: no promise about lies would hold for them",
                           "a mode that charges nothing, or a shape that is recognised")
    if rounds * _most_units(program) > 2**62:
        raise InvalidInput("rounds", f"utilities of {rounds} rounds add up to too much",
                           f"at most {2**62 // _most_units(program)}")


def alpha_units(program: Program, alpha: float) -> int:
    """Alpha in units of value times the program's scale, rounded down, and at most the largest possible complaint.

    Args:
        program: program of the units.
        alpha: > 0, in units of value.
    """
    exact_alpha(program, alpha)
    return min(math.floor(Fraction(alpha) * PRICE_UNIT * program.scale), _most_units(program))


def exact_alpha(program: Program, alpha: float) -> float:
    """The divisor of a regret: reassigned participants are this far from satisfied at the exact averages of the prices.

    Args:
        program: program whose C1 and units count.
        alpha: > 0, in units of value.

    Raises:
        InvalidInput: so small that the rounding of prices is all of it.
    """
    whole_units = math.floor(Fraction(positive("alpha", alpha)) * PRICE_UNIT * program.scale)
    left = Fraction(whole_units, PRICE_UNIT * program.scale) - Fraction(program.constants.largest_sum) / PRICE_UNIT
    if left <= 0:
        raise InvalidInput("alpha", f"{alpha:g} is within the rounding of prices",
                           f"above {printed((program.constants.largest_sum + 1.0) / PRICE_UNIT, digits=3)}")
    down = float(left)
    return down if Fraction(down) <= left else math.nextafter(down, 0.0)


class Judged(NamedTuple):
    """Value of everybody's average to them at the charged prices, over all rounds. It is private.

    Args:
        unsatisfied: (m,) whether the participant's favourite would give them more, by more than alpha.
        favourites: (m, width) the participant's favourite action at the charged prices.
        value: (m,) value of the participant's average, times T, in units of value.
        paid: (m,) price of the participant's average, times T, in units of value times the scale.
        missed: (m,) T times the additional utility of the favourite, in units of value times the scale.
    """

    unsatisfied: NDArray[np.bool_]
    favourites: NDArray[np.int32]
    value: NDArray[np.int64]
    paid: NDArray[np.int64]
    missed: NDArray[np.int64]


def judged(
    program: Program, records: Any, tally: Tally, charged: NDArray[np.int64], rounds: int, alpha: int,
) -> Judged:
    """Everybody's average compared with their favourite.

    Args:
        program: program of the actions.
        records: records of m participants.
        tally: tally of their responses to the main rounds.
        charged: (k,) prices, in units.
        rounds: T.
        alpha: in units of value times the scale, from `alpha_units`.
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
    """A tally in which unsatisfied participants have their favourite in all rounds.

    Args:
        tally: tally of m participants.
        unsatisfied: (m,).
        favourites: (m, width).
        rounds: T.
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
    """More than any value less any price, in units of value times the scale."""
    one = program.constants
    return math.ceil(PRICE_UNIT * program.scale * (
        Fraction(one.most_value) + (2 * Fraction(max(one.tau)) + 1) * Fraction(one.largest_sum)))


# ---- what a lie can gain


class Relative(NamedTuple):
    """E[utility of the lie] <= factor E[utility of truth] + added."""

    factor: float
    added: float


def loss_of_a_lie(constants: Constants, neighbours: Neighbours, squared: Fraction) -> Fraction:
    """Largest part of (sigma/deviation)^2 that a path spends on two records of one participant, for any neighbours.

    A lie replaces one record by another: where neighbours are a record and nothing, the two records lie further apart.

    Args:
        constants: constants of the program.
        neighbours: neighbouring relation of the mechanism.
        squared: squared budget of the path, for its own neighbours.
    """
    return squared * constants.squared_l2_sensitivity("replace") / constants.squared_l2_sensitivity(neighbours)


def additive_gain(alpha: float, most_value: float, variation: float) -> float:
    """Largest mean gain of a lie, whatever the others report.

    Args:
        alpha: largest difference between the utility of a favourite and the participant's own.
        most_value: V.
        variation: total variation between two paths of prices, in [0, 1].

    Source: spec convex_programs 6.1: alpha + (V + alpha) variation.

    Example:
        >>> round(additive_gain(0.01, 1.0, 0.0942), 6)
        0.105142
    """
    return non_negative("alpha", alpha) + (most_value + alpha) * non_negative("variation", variation, at_most=1.0)


def relative_gain(law: Law, squared: Fraction, alpha: float, most_value: float, epsilon: float = 0.0) -> Relative:
    """A bound for each epsilon >= 0, all of which hold together; at 0 it is the additive one.

    Args:
        law: law of the noise.
        squared: the sum of (sigma/deviation)^2 for two records of one participant (`loss_of_a_lie`).
        alpha: largest difference between the utility of a favourite and the participant's own.
        most_value: V.
        epsilon: >= 0.

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
    """Largest gain of a lie where a noisy audit of the loads accepts the run or not.

    Acceptance depends on the participant's own rounded part: compare it with acceptance without them, once for the
    truth and once for the lie.

    Args:
        alpha: largest difference between the utility of a favourite and the participant's own, in the mean over the
            public draw.
        most_value: V.
        path_variation: total variation between two paths of prices.
        audit_variation: total variation between two noisy audits.
        most_utility: the largest absolute utility of a rounded part: V and the highest price, or V with scaled
            payments.

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
    """The promise about the value of everybody's part to them, less its price.

    Args:
        utility: at least this, in units of value.
        when: words for when it holds: after every run, or in the mean over something.
        source: source of the promise.
        note: about its reach.

    Example:
        >>> print(participation(-0.01, "after every run", Source(document="a", statement="b")).sentence())
        the value of the participant's part, less its price, is at least -0.01, for every truthful participant, after \
every run
    """
    return Participation(utility=utility, who=f"every truthful participant, {when}", source=source, note=note,
                         of="the value of the participant's part, less its price,")


def truthfulness(gain: float, most_value: float, *, note: str = "", statement: str = "Theorem 6.2.11") -> Truthfulness:
    """The promise that no lie gains more.

    Args:
        gain: `additive_gain`, or with other effects of a lie added.
        most_value: largest value V; a gain as large as this says nothing.
        note: words for what it is an average over.
        statement: statement of the print.
    """
    return Truthfulness(
        gain=gain, baseline=most_value, unit_of_gain="of value", note=note,
        who="everybody, whatever the others report, if contributions are verified",
        source=Source(document="Wu 2017", statement=statement, spec="convex_programs 6.1",
                      erratum="total variation of the path in place of e^epsilon; no bound on prices is needed"))

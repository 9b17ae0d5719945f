"""How well the state is told from the reports of those who happen to take part, and how many the thesis asks for.

The guess is 1 if at least as many reports are 1 as 0: the source's rule, of maximum likelihood.
"""

from __future__ import annotations

import math

from confide.contract.checks import fraction
from confide.market.binomials import table_of_errors
from confide.market.counts import binomial_weights
from confide.market.signal_model import Reporting, SignalModel

__all__ = ["attendance_bound", "attendance_error", "thesis_attendance", "thesis_error"]


def attendance_error(people: int, participation: float, signal_model: SignalModel, reporting: Reporting) -> float:
    """The exact probability of a wrong guess, to an absolute 1e-30.

    Args:
        people: N, invited.
        participation: probability with which each takes part.
        signal_model: law of the state.
        reporting: of one participant's report.

    Source: spec data_market section 3 (ours); attendance beyond 12 standard deviations and 40 is left out.
    """
    n, weights = binomial_weights(people, participation)
    errors = table_of_errors(int(n[-1]), reporting, int(n[0]))
    # Ties guess 1: state 1 is missed where a majority says 0, and state 0 where none does.
    return float(weights @ (signal_model.prior_one * errors.high + signal_model.prior_zero * errors.low))


def attendance_bound(people: int, participation: float, reporting: Reporting) -> float:
    """(1 - p (1 - 2 sqrt(alpha (1-alpha))))^N, which no probability of a wrong guess exceeds.

    Given j reports the rule's two errors add up to at most (2 sqrt(alpha (1-alpha)))^j; the average over j is this.

    Source: spec data_market section 3 (ours).
    """
    return math.exp(people * math.log1p(participation * math.expm1(float(reporting.log_rate) / 2.0)))


def thesis_attendance(error: float, signal_accuracy: float, epsilon: float) -> float:
    """rho n_e, the expected number of participants with which the thesis guarantees an error.

    Args:
        error: p_e^max in (0, 1).
        signal_accuracy: theta.
        epsilon: the least level of a participant.

    Source: Wang 2016, (4.6)-(4.8). The proof needs one n_e less, "+1" in place of "+2" (erratum E6).

    Example:
        >>> round(thesis_attendance(0.05, 0.8, 2.0), 5)
        123.74256
    """
    goal = fraction("error", error)
    needed = -math.log(goal / 2.0) / float(Reporting.of(signal_accuracy, epsilon).chernoff)
    share = 1.0 / (needed * goal)
    return needed * (share + 2.0 + math.sqrt(share * share + 2.0 * share))


def thesis_error(attendance: float, signal_accuracy: float, epsilon: float) -> float:
    """The least p_e^max that the thesis guarantees with that expected number of participants; 1 where none.

    Source: Wang 2016, Theorem 8, (4.6)-(4.10) read backwards.
    """
    from scipy.optimize import brentq

    def excess(log_goal: float) -> float:
        return thesis_attendance(math.exp(log_goal), signal_accuracy, epsilon) - attendance

    least, most = -700.0, math.log1p(-1e-12)
    if excess(most) > 0:
        return 1.0
    return math.exp(float(brentq(excess, least, most, xtol=1e-14))) if excess(least) > 0 else math.exp(least)

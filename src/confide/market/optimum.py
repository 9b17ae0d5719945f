"""The least expected payment at which mechanisms with nonnegative payments buy a privacy level from N people, without
and with a cap on single payments.

If all others play the epsilon-strategy (randomised response at level epsilon), a payment need only depend on a person's
own report x and the number k of ones among the others. Without a cap the optimum has a closed form. This optimum pays a
report only if all others give the same report, which is rare, so its single payments are extremely large. With a cap
the optimum is a linear program over the payments R(x, k).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, Refused, SolverFailed
from confide.contract.parameters import Parameter
from confide.contract.remedies import printed, tried, trying
from confide.contract.renamed import renamed
from confide.market.binomials import binomial_pmf
from confide.market.costs import Cost, PlainNumbers, as_cost
from confide.market.matching import check_payable, payment_unit, price_floor
from confide.market.signal_model import LARGEST_LEVEL, Reporting, SignalModel, as_level

__all__ = ["CapTooLow", "OptimalCountMechanism", "Optimum", "least_payment"]

LARGEST_PROGRAM = 20_000


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The least expected payment to one person, and the payments that reach it.

    Args:
        payment: least expected payment V_opt.
        gap: difference V_opt - V_LB, of full relative accuracy. V_LB is the lower bound for any number of people.
        for_one: payment of a report 1 when all others report 1; in every other case a report 1 is paid 0.
        for_zero: payment of a report 0 when all others report 0; in every other case a report 0 is paid 0.
    """

    payment: float
    gap: float
    for_one: float
    for_zero: float


def _half_excess(argument: float) -> float:
    """The difference 1 - tanh(argument), without cancellation where it is small."""
    return 2.0 / (1.0 + math.exp(min(2.0 * argument, 709.0)))


def checked_margin(cost: Cost, epsilon: float, margin: float | None) -> tuple[float, float]:
    whole_margin = float(cost.margin(epsilon))
    wanted = 0.0 if margin is None else float(margin)
    if not 0 <= wanted <= whole_margin * (1 + 1e-12):
        most = printed(whole_margin, up=False, digits=6)
        raise InvalidInput("margin", f"{margin!r} is out of range", f"must be in [0, {most}]")
    return whole_margin, min(wanted, whole_margin)


def least_payment(people: int, signal_accuracy: float, prior_one: float, cost: Cost, epsilon: float, *,
                  margin: float | None = None) -> Optimum:
    """V_opt, the least expected payment of any mechanism with nonnegative payments in which all play the
    epsilon-strategy.

    Args:
        people: number N of people, >= 2.
        signal_accuracy: probability theta in (0.5, 1) that a bit equals the state.
        prior_one: prior probability P1 = P(W = 1) that the state is 1.
        cost: cost function g.
        epsilon: privacy level that is bought, in (0, 700] nats.
        margin: amount by which the epsilon-strategy must beat every report that ignores the bit. The default 0 gives a
            weak equilibrium, in which a constant report is as good. A mechanism with margin 0 should not be deployed.
            The largest value g' sinh epsilon - g is the margin of the majority mechanism, and gives a fair comparison
            with that mechanism.

    Source: spec data_market section 2.3 (ours). Let alpha be the probability that a report equals the state, c the
    payment unit, and h = g' sinh epsilon - g - margin. Let a = (ln(P1/P0) + (N-1) ln(alpha/(1-alpha)))/2, b the same
    expression with P0/P1, e1 = 1 - tanh a, e0 = 1 - tanh b, delta1 = (2 theta - 1) tanh a and delta0 = (2 theta - 1)
    tanh b. The computed form is V_opt = V_LB + (max(e) (c - h (2 theta - 1)) + min(e) (c + h (2 theta - 1)))/(delta1 +
    delta0), in which all terms are positive.

    Example:
        >>> from confide.market import LinearCost
        >>> round(least_payment(10, 0.8, 0.7, LinearCost(1.0), 1.0).payment, 12)
        5.481594102932
    """
    n, level = whole("people", people, at_least=2), as_level("epsilon", epsilon)
    signal_model, reporting = SignalModel(prior_one, signal_accuracy), Reporting.of(signal_accuracy, level)
    check_payable(level, [as_cost("cost", cost)], lambda _: signal_model.edge)
    full, wanted = checked_margin(cost, level, margin)
    h, unit = full - wanted, payment_unit(cost, level)
    prior_odds = math.log(signal_model.prior_one / signal_model.prior_zero)
    evidence = (n - 1) * float(reporting.log_odds)
    one, zero = _half_excess((evidence + prior_odds) / 2.0), _half_excess((evidence - prior_odds) / 2.0)
    # delta1 + delta0 = edge (tanh a + tanh b) = edge (-expm1(-2 evidence)) (1 + tanh a)(1 + tanh b)/2
    both = signal_model.edge * -math.expm1(-2.0 * evidence) * (2.0 - one) * (2.0 - zero) / 2.0
    most, least, share = max(one, zero), min(one, zero), h * signal_model.edge
    gap = (most * (unit - share) + least * (unit + share)) / both
    # r1 delta1 + r0 delta0 = 2 c with |r1 - r0| = 2 h: the report whose unanimity says less is worth less.
    d1, d0 = signal_model.edge * (1.0 - one), signal_model.edge * (1.0 - zero)
    more = 2.0 * h if d1 >= d0 else -2.0 * h
    r0 = (2.0 * unit - more * d1) / both
    r1 = r0 + more
    with np.errstate(over="ignore"):
        p_one, p_zero = (_unanimous(n - 1, signal_model, reporting, bit) for bit in (1, 0))
        paid = [float(np.float64(r) * np.exp(-p)) for r, p in ((r1, p_one), (r0, p_zero))]
    return Optimum(payment=price_floor(cost, level, signal_model.edge) + gap, gap=gap, for_one=paid[0],
                   for_zero=paid[1])


def _unanimous(m: int, signal_model: SignalModel, reporting: Reporting, bit: int) -> float:
    """Logarithm of the probability that all m others report `bit`."""
    agree, miss = m * math.log(float(reporting.agree)), m * math.log(float(reporting.miss))
    same, other = signal_model.prior_zero, signal_model.prior_one
    if bit:
        same, other = other, same
    return float(np.logaddexp(math.log(same) + agree, math.log(other) + miss))


class CapTooLow(Refused):
    """A level that no mechanism buys with single payments up to the cap.

    Args:
        cap: cap that was asked for.
        least: smallest cap at which some mechanism buys the level.
        attempt: function that solves the problem again with another cap.
        seconds: approximate time of another attempt, in seconds.
    """

    def __init__(
        self, cap: float, least: float, attempt: Callable[..., Any] | None = None, seconds: float = 0.0
    ) -> None:
        self.cap, self.least = cap, least
        ways = () if attempt is None else tried("choose a cap of {cap} or more",
                                                attempt, digits=8, seconds=seconds, cap=least)
        super().__init__(f"payments up to {cap:g} cannot buy this level", ways or "choose a larger cap")


@renamed(nature="signal_model")
@dataclass(frozen=True)
class OptimalCountMechanism(PlainNumbers):
    """The cheapest mechanism with a cap on single payments, which pays by a person's report and the number of ones
    among the others.

    The class has no `for_budget`, because no campaign runs this baseline. Use `MajorityMarket.for_budget` instead.

    Raises:
        CapTooLow: no mechanism is feasible. The error is raised when the program is solved, and its message names the
            smallest feasible cap.

    Source: spec data_market section 2.3.

    Example:
        >>> from confide.market import LinearCost
        >>> capped = OptimalCountMechanism(20, 0.8, 0.7, LinearCost(1.0), 1.0, cap=30.0)
        >>> round(capped.expected_payment, 4), round(float(capped.payments.max()), 4)
        (5.5249, 30.0)
    """

    people: Annotated[int, Parameter("number of invited people, few enough for a linear program",
                                     symbol="N", at_least=2,
                                     at_most=LARGEST_PROGRAM)]
    signal_accuracy: Annotated[float, Parameter("probability that a bit equals the state", symbol="theta", above=0.5,
                                                below=1)]
    prior_one: Annotated[float, Parameter("probability that the state is 1", symbol="P1", above=0, below=1)]
    cost: Annotated[Cost, Parameter("everybody's cost of a privacy level", symbol="g")]
    epsilon: Annotated[float, Parameter("privacy level that the market buys from each person",
                                        unit="nats", above=0, at_most=LARGEST_LEVEL)]
    cap: Annotated[float | None, Parameter("largest single payment; None for no cap", above=0)] = None
    margin: Annotated[float, Parameter("least gain of the epsilon-strategy over every report that ignores the bit, as "
                                       "in least_payment", at_least=0)] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap is not None:
            object.__setattr__(self, "cap", float(self.cap))
        checked_margin(self.cost, self.epsilon, self.margin)

    @cached_property
    def signal_model(self) -> SignalModel:
        """The joint law of the state and of one person's bit."""
        return SignalModel(self.prior_one, self.signal_accuracy)

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The probabilities P(k) of the number k of ones among the others, and P(S = s | k) as a (2, N) array."""
        m, reporting = self.people - 1, Reporting.of(self.signal_accuracy, self.epsilon)
        given = np.array([binomial_pmf(m, p, 0, m) for p in (float(reporting.miss), float(reporting.agree))])
        k = np.arange(m + 1)
        prior_odds = math.log(self.signal_model.prior_one / self.signal_model.prior_zero)
        believed = np.tanh((prior_odds + (2 * k - m) * float(reporting.log_odds)) / 2.0)  # 2 P(W = 1 | k) - 1
        bit = (1.0 + np.outer([-1.0, 1.0], believed) * self.signal_model.edge) / 2.0
        return np.array([self.signal_model.prior_zero, self.signal_model.prior_one]) @ given, bit

    def _program(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
        """The coefficients of the linear program over y = R(x, k) P(k)/c, with money in units of c = c(epsilon).

        The four results are the coefficients of the expected payment, the coefficients of the incentive K1 - K0, which
        must equal 2, the coefficients of the difference r1 - r0 of the constant reports' payments, and the largest size
        that this difference may have.
        """
        _, bit = self._law
        keep, flip = 1.0 / (1.0 + math.exp(-self.epsilon)), 1.0 / (1.0 + math.exp(self.epsilon))
        match, miss = bit.ravel(), bit[::-1].ravel()
        m = self.people
        side = np.concatenate([-np.ones(m), np.ones(m)])
        slack = 2.0 * (float(self.cost.margin(self.epsilon)) - self.margin) / payment_unit(self.cost, self.epsilon)
        return keep * match + flip * miss, match - miss, side, slack

    @cached_property
    def _solution(self) -> NDArray[np.float64]:
        start = time.process_time()
        objective, power, side, slack = self._program()
        law = np.concatenate([self._law[0]] * 2)
        unit = payment_unit(self.cost, self.epsilon)
        bounds = np.column_stack([np.zeros_like(law),
                                  np.full_like(law, np.inf) if self.cap is None else law * self.cap / unit])
        found = _solve(objective, np.array([side, -side]), np.full(2, slack), power[None, :], bounds)
        if found is None:
            least = math.nan if trying() else self.smallest_cap()
            raise CapTooLow(self.cap if self.cap is not None else math.inf, least,
                            lambda cap: replace(self, cap=cap).expected_payment, time.process_time() - start)
        return found

    @cached_property
    def expected_payment(self) -> float:
        """The least expected payment per person."""
        return float(self._program()[0] @ self._solution) * payment_unit(self.cost, self.epsilon)

    @cached_property
    def payments(self) -> NDArray[np.float64]:
        """The (2, N) payments of report x (row) when k = 0..N-1 of the others report 1; 0 where P(k) underflows."""
        law = np.concatenate([self._law[0]] * 2)
        money = self._solution * payment_unit(self.cost, self.epsilon)
        paid = np.divide(money, law, out=np.zeros_like(money), where=law > 0)
        found: NDArray[np.float64] = np.minimum(paid, self.cap if self.cap is not None else np.inf)
        return found.reshape(2, self.people)

    @cached_property
    def interim(self) -> NDArray[np.float64]:
        """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] when all others play the
        epsilon-strategy.
        """
        law, bit = self._law
        found: NDArray[np.float64] = np.vstack([(self.payments * law) @ bit.T, np.zeros(2)])
        return found

    def smallest_cap(self) -> float:
        """The smallest cap on single payments at which the level can be bought with the given `margin`."""
        _, power, side, slack = self._program()
        law, size = np.concatenate([self._law[0]] * 2), 2 * self.people
        last = np.zeros(size + 1)
        last[-1] = 1.0
        below = sparse.hstack([sparse.identity(size), -law[:, None]])
        sides = sparse.csr_matrix(np.array([np.append(side, 0.0), np.append(-side, 0.0)]))
        bounds = np.column_stack([np.zeros(size + 1), np.full(size + 1, np.inf)])
        found = _solve(last, sparse.vstack([sides, below]), np.concatenate([np.full(2, slack), np.zeros(size)]),
                       np.append(power, 0.0)[None, :], bounds)
        if found is None:
            raise SolverFailed("smallest cap", "the search found no cap, although the level can be bought")
        return float(found[-1]) * payment_unit(self.cost, self.epsilon)


def _solve(objective: Any, rows: Any, limits: Any, equal: Any, bounds: Any) -> NDArray[np.float64] | None:
    """The y that minimises a linear objective under the conditions `rows` y <= `limits` and `equal` y = 2; None where
    no y is feasible.
    """
    found = linprog(objective, A_ub=rows, b_ub=limits, A_eq=equal, b_eq=[2.0], bounds=bounds, method="highs")
    if found.status == 2:
        return None
    if found.status != 0:
        raise SolverFailed("linear program", str(found.message))
    solution: NDArray[np.float64] = np.maximum(found.x, 0.0)
    return solution

"""The privacy loss of DualQuery, computed by four calculators, and the largest step size, number of rounds or number of
samples within a budget.

Round t draws s queries. Each draw is an exponential mechanism of range eps_t = 2 eta (t - 1)/n, where eta is the step
size and n the number of records. When one record is replaced, the difference between the logits of a query q and of its
negation 1 - q changes by at most this range. The draws of round 1 are uniform for all data, and cost nothing. Each draw
of a later round is charged another 2^-37 nats for the rounding of the logits and of the exponential function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from confide.contract.checks import fraction, joined, one_of, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.contract.remedies import tried
from confide.contract.renamed import renamed, warn_of_old
from confide.privacy.accounting import Accountant
from confide.privacy.accounting.advanced import theorem
from confide.privacy.accounting.per_round import epsilon as per_round
from confide.privacy.accounting.per_round import proved
from confide.privacy.accounting.sums import as_written, ball, float_up, remaining, totals, written_up
from confide.privacy.events import BoundedRangeEvent, Event, PureEvent, Repeated
from confide.privacy.losses import BITS, ZCDP, ApproxDP
from confide.privacy.noise.balls import precision
from confide.release.query_game import ROOM, drifts, largest, round_epsilon, sums

__all__ = [
    "CALCULATORS",
    "MOST_ROUNDS",
    "MOST_SAMPLES",
    "ROOM",
    "Calculator",
    "RoundsAndCost",
    "SourceSetting",
    "all_epsilons",
    "checked",
    "draws",
    "epsilon",
    "rho",
    "rho_within",
    "round_epsilon",
    "solve",
    "source_setting",
]

Calculator = Literal["zcdp", "theorem-3.4.2", "per-round", "pure"]
"""The method that adds up the losses of all draws. The method "zcdp" uses concentrated differential privacy. The method
"zcdp" is the default, and the sharpest unless there are very few draws. The method "theorem-3.4.2" uses advanced
composition, as if every draw had the epsilon of the last round's draws. The method "per-round" uses advanced
composition with each draw's own epsilon. The method "pure" is the plain sum of the epsilons.
"""

CALCULATORS: tuple[Calculator, ...] = get_args(Calculator)

MOST_ROUNDS = 10**5
"""Largest number of rounds."""

MOST_SAMPLES = 2**39
"""Largest number of draws a round. With this limit, a round has at most 2^40 clauses and negated clauses together."""

_NEIGHBOURS = Relation.REPLACE
_LEAST_ETA = 1e-100  # where only the room of the draws is left
_CLOSE = 1e-12  # how far below the exact answer a solved step size may be, relatively


@renamed(n="records")
def draws(records: int, eta: float, rounds: int, samples: int) -> tuple[Event, ...]:
    """The privacy events of a run: for each round from the second on, `samples` draws each with the epsilon of its
    round.

    Args:
        records: number of records of the data, public. Neighbouring data sets differ by the replacement of one record.
        eta: step size, > 0.
        rounds: number of rounds T >= 1.
        samples: number of draws a round, s >= 1.

    Source: Wu 2017, Theorem 3.4.1; spec query_release D2.

    Example:
        >>> [(each.count, round(each.event.epsilon, 6)) for each in draws(1000, 0.5, 3, 20)]
        [(20, 0.001), (20, 0.002)]
    """
    return _draws(*checked(records, eta, rounds, samples))


@lru_cache(maxsize=2)  # a run asks for its events and its lines, which are long
def _draws(records: int, eta: float, rounds: int, samples: int) -> tuple[Event, ...]:
    return tuple(
        Repeated(event=BoundedRangeEvent(epsilon=round_epsilon(records, eta, t), neighbours=_NEIGHBOURS,
                                         label=f"round {t}"),
                 count=samples, neighbours=_NEIGHBOURS, label=f"round {t}")
        for t in range(2, rounds + 1)
    )


@renamed(n="records")
def rho(records: int, eta: float, rounds: int, samples: int) -> float:
    """The zCDP cost rho of a run, rounded up: s eta^2 (T-1) T (2T-1) / (12 n^2), plus a small amount for the rounding
    of each draw.

    Example:
        >>> round(rho(494_021, 1.2, 170, 1750), 9)
        0.008380382
    """
    return _rho(*checked(records, eta, rounds, samples), ())


def _rho(records: int, eta: float, rounds: int, samples: int, besides: tuple[Event, ...]) -> float:
    other = totals(Accountant(besides).spend).rho
    return float_up(samples * sums(records, eta,
                                   rounds)[1] / 8 + other) if other is not None else Accountant(besides).rho()


@renamed(n="records")
def epsilon(
    records: int, eta: float, rounds: int, samples: int, delta: float = 0.0, *, calculator: Calculator = "zcdp"
) -> float:
    """The epsilon that a calculator proves at a given delta, in nats, rounded up.

    Args:
        records: number of records of the data, public.
        eta: step size, > 0.
        rounds: number of rounds T >= 1.
        samples: number of draws a round, s >= 1.
        delta: delta of the loss, in [0, 1).
        calculator: method of composition. The method "pure" adds up the losses of the draws, eta T (T-1) s/n in total,
            and also works at delta = 0. The method "theorem-3.4.2" composes s (T-1) draws with the epsilon of the last
            round by advanced composition. The method "per-round" adds up, round by round, the squares eps^2 and the
            expected losses (drifts) eps tanh(eps/2) of the draws. The method "zcdp" adds up eps^2/8 over the draws. All
            calculators except "pure" need delta > 0.

    Returns:
        The proved epsilon: infinity if the calculator proves nothing at the given delta, and 0 for a single round.

    Raises:
        InvalidInput: a parameter is out of range, or the calculator is unknown.

    Source: Wu 2017, Theorems 3.4.1 and 3.4.2; spec query_release A2 and D2, erratum 2.

    Example:
        >>> round(epsilon(494_021, 1.2, 170, 1750, 1e-3), 6)
        0.319555
        >>> round(epsilon(494_021, 1.2, 170, 1750, 1e-3, calculator="theorem-3.4.2"), 6)
        1.859019
    """
    one_of("calculator", calculator, CALCULATORS)
    records, eta, rounds, samples = checked(records, eta, rounds, samples)
    return _proved(records, eta, rounds, samples, fraction("delta", delta, zero=True), calculator)


def _proved(
    records: int, eta: float, rounds: int, samples: int, delta: float, calculator: Calculator,
    besides: tuple[Event, ...] = ()
) -> float:
    """The epsilon that the calculator proves for a run, computed from sums over the rounds. Further events, in
    `besides`, are allowed only with "zcdp".
    """
    if rounds == 1 and not besides:
        return 0.0
    try:
        if calculator == "pure":
            return written_up(samples * sums(records, eta, rounds)[0])
        if delta == 0:
            return math.inf
        if calculator == "zcdp":
            return as_written(ZCDP(_rho(records, eta, rounds, samples, besides)).epsilon_at(delta))
        slack = remaining(delta, Fraction(0))
        if slack <= 0:
            return math.inf
        if calculator == "theorem-3.4.2":
            return theorem(float(largest(records, eta, rounds)), samples * (rounds - 1), slack)
        with precision(BITS):
            return proved(ball(4 * samples * sums(records, eta, rounds)[1]), samples * drifts(records, eta, rounds),
                          slack)
    except OverflowError:
        return math.inf


def _pure(events: tuple[Event, ...]) -> Accountant:
    """The draws of a run as events of pure differential privacy. The published accounting uses only the epsilon of a
    draw, not its bounded range.
    """
    return Accountant(tuple(
        Repeated(event=PureEvent(epsilon=each.event.epsilon, neighbours=_NEIGHBOURS), count=each.count,
                 neighbours=_NEIGHBOURS)
        for each in events if isinstance(each, Repeated) and isinstance(each.event, BoundedRangeEvent)
    ))


@renamed(n="records")
def all_epsilons(records: int, eta: float, rounds: int, samples: int, delta: float) -> dict[str, float]:
    """Mapping from calculator to the epsilon that it proves, in nats. A further entry has the epsilon of the prototype
    of the authors of Wu 2017. The prototype composes round by round, with the expected loss (drift) eps (e^eps - 1) for
    each draw.

    Example:
        >>> found = all_epsilons(494_021, 1.2, 170, 1750, 1e-3)  # Wu 2017 states epsilon = 1
        >>> for name, value in found.items():
        ...     print(f"{name}: {value:.6f}")
        zcdp: 0.319555
        theorem-3.4.2: 1.859019
        per-round: 0.995932
        pure: 122.126389
        per-round, printed drift: 1.029474
    """
    delta = fraction("delta", delta)
    found: dict[str, float] = {name: epsilon(records, eta, rounds, samples, delta,
                                             calculator=name) for name in CALCULATORS}
    found["per-round, printed drift"] = per_round(_pure(draws(records, eta, rounds, samples)).spend, delta,
                                                  drift="printed")
    return found


@renamed(n="records")
@dataclass(frozen=True, kw_only=True)
class RoundsAndCost:
    """A step size, a number of rounds, a number of draws a round, and the privacy loss of a run with these numbers.

    Args:
        records: number of records of the data.
        eta: step size.
        rounds: number of rounds, T.
        samples: number of draws a round, s.
        epsilon: privacy loss that the calculator proves at `delta`, in nats; at most the budget.
        delta: delta of the loss, in [0, 1).
        calculator: name of the calculator.
        rho: zCDP cost of the run.
    """

    records: int
    eta: float
    rounds: int
    samples: int
    epsilon: float
    delta: float
    calculator: str
    rho: float


def checked(records: object, eta: object, rounds: object, samples: object) -> tuple[int, float, int, int]:
    """The checked parameters n, eta, T and s as plain Python numbers: an integer, a float and two integers.

    Raises:
        InvalidInput: a parameter is out of range. The message names the parameter. T is at most 100,000 and s at most
            2^39.
    """
    out = (whole("records", records, at_least=1), positive("eta", eta), whole("rounds", rounds, at_least=1),
           whole("samples", samples, at_least=1))
    if out[2] > MOST_ROUNDS:
        raise InvalidInput("rounds", f"{out[2]:,} is too large", f"must be at most {MOST_ROUNDS:,}")
    if out[3] > MOST_SAMPLES:
        raise InvalidInput("samples", f"{out[3]:,} is too large", "must be at most 2^39")
    return out


@renamed(n="records")
def solve(
    records: int, epsilon: float, delta: float = 0.0, *, eta: float | None = None, rounds: int | None = None,
    samples: int | None = None, calculator: Calculator = "zcdp", besides: tuple[Event, ...] = (),
) -> RoundsAndCost:
    """The largest step size, number of rounds or number of samples within the budget (epsilon, delta), given two of the
    three numbers.

    Args:
        records: number of records of the data, public.
        epsilon: budget of privacy loss in nats, > 0.
        delta: delta of the budget, in [0, 1). Only the calculator "pure" allows delta = 0.
        eta: step size, or None to solve for it.
        rounds: number of rounds T, or None to solve for it.
        samples: number of draws a round s, or None to solve for it.
        calculator: method that adds up the losses of the draws.
        besides: other privacy events that the same budget must cover, such as a Gaussian measurement. Such events are
            allowed only with the calculator "zcdp".

    Returns:
        The step size, number of rounds, number of samples, and their privacy loss. The epsilon includes the events in
        `besides` and is at most the budget. The number of rounds is at most 100,000.

    Raises:
        InvalidInput: not exactly one of eta, rounds and samples is left out, or a parameter is out of range.
        Refused: the budget does not pay for one round that reads the data. The message names changes that would
            suffice.

    Source: spec query_release D2.

    Example:
        >>> found = solve(30_162, 1.0, 1e-3, eta=2.0, samples=1000)
        >>> found.rounds, round(found.epsilon, 4), round(found.rho, 5)
        (43, 0.9688, 0.05625)
        >>> solve(30_162, 1.0, 1e-3, eta=2.0, samples=1000, calculator="theorem-3.4.2").rounds
        16
    """
    records, budget, delta = whole("records", records, at_least=1), positive("epsilon",
                                                                             epsilon), fraction("delta", delta,
                                                                                                zero=True)
    one_of("calculator", calculator, CALCULATORS)
    missing = [name for name, value in (("eta", eta), ("rounds", rounds), ("samples", samples)) if value is None]
    if len(missing) != 1:
        what = f"{joined(missing)} are left out" if missing else "eta, rounds and samples are all given"
        raise InvalidInput(missing[0] if missing else "rounds", what,
                           "leave out exactly one of eta, rounds and samples")
    if delta == 0 and calculator != "pure":
        raise InvalidInput("delta", f"the calculator {calculator!r} proves nothing at delta = 0",
                           'give delta > 0, or the calculator "pure"')
    if besides and calculator != "zcdp":
        raise InvalidInput("calculator", f"{calculator!r} adds up only the losses of the draws, not those of other "
                           "events", 'use "zcdp"')
    records, step, count, size = checked(records, 1.0 if eta is None else eta, 1 if rounds is None else rounds,
                                    1 if samples is None else samples)

    def cost(step: float, count: int, size: int) -> float:
        return _proved(records, step, count, size, delta, calculator, besides)

    def about(step: float, count: int, size: int) -> float:
        return _about(records, step, count, size, delta, calculator)

    def refuse(reason: str, least: float, most: float, words: str) -> Refused:
        ways = [*tried("epsilon >= {epsilon}", again, digits=6, epsilon=least),
                *tried("eta <= {eta}", again, up=False, eta=most or None)]
        return Refused(reason, ways or words)

    def again(**changed: float) -> RoundsAndCost:
        return solve(**{"records": records, "epsilon": budget, "delta": delta, "eta": eta, "rounds": rounds,
                        "samples": samples,
                        "calculator": calculator, "besides": besides} | changed)  # type: ignore[arg-type]

    target = ZCDP.within(budget, delta).rho - Accountant(besides).rho() if calculator == "zcdp" else budget
    if missing[0] == "rounds":
        count = _most(lambda t: cost(step, t, size) <= budget, lambda t: about(step, t, size) <= target, MOST_ROUNDS)
        if count < 2:
            least = cost(step, 2, size)
            raise refuse(f"epsilon = {budget:g} at delta = {delta:g} is too small for one round with data. The first "
                         f"such round, round 2, costs epsilon = {least:.4g} with eta = {step:g}, {size:,} samples and "
                         f"{records:,} records",
                         least, _largest_eta(lambda e: about(e, 2, size), target, 0.0),
                         "use more records or fewer samples")
    elif count == 1:
        raise Refused("a single round reads no data and costs nothing, so every eta and every number of samples fit",
                      tried("ask for rounds >= {rounds}", again, rounds=2) or "ask for more rounds and epsilon")
    elif missing[0] == "samples":
        size = _most(lambda s: cost(step, count, s) <= budget, lambda s: about(step, count, s) <= target, MOST_SAMPLES)
        if size < 1:
            least = cost(step, count, 1)
            raise refuse(f"one sample in each of {count:,} rounds at eta = {step:g} costs epsilon = {least:.4g} with "
                         f"{records:,} records, above {budget:g}", least,
                         _largest_eta(lambda e: about(e, count, 1), target, 0.0), "take fewer rounds")
    else:
        near = _largest_eta(lambda e: about(e, count, size), target, 0.0)
        step = _largest_eta(lambda e: cost(e, count, size), budget, near)
        if step == 0:
            raise refuse(f"{count:,} rounds of {size:,} samples cost more than epsilon = {budget:g} for any step size, "
                         "because of the margin of 2^-37 for each draw and the other costs",
                         cost(_LEAST_ETA, count, size), 0.0, "use fewer rounds or samples")
    return RoundsAndCost(
        records=records, eta=step, rounds=count, samples=size, epsilon=cost(step, count, size), delta=delta,
        calculator=calculator, rho=_rho(records, step, count, size, besides))


def _most(fits: Callable[[int], bool], nearly: Callable[[int], bool], end: int) -> int:
    """The largest number from 1 to `end` up to which a condition holds; 0 if it never holds.

    Args:
        fits: exact condition, which is slow to check.
        nearly: approximate condition, from closed forms in doubles without the additions for rounding. The search
            starts at the largest number at which the approximate condition holds.
        end: the largest number that is tried.
    """
    low, high = 0, end + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if nearly(middle) else (low, middle)
    low, step = max(0, low - 1), 1
    while low and not fits(low):
        low, step = max(0, low - step), 2 * step
    high, step = low + 1, 1
    while high <= end and fits(high):
        low, high, step = high, min(high + step, end + 1), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _about(records: int, eta: float, rounds: int, samples: int, delta: float, calculator: Calculator) -> float:
    """An approximate cost in doubles, in the unit in which the calculator compares a run with its budget. This unit is
    rho for "zcdp", and epsilon for all other calculators.
    """
    slope, last, log = 2.0 * eta / records, rounds - 1.0, -math.log(delta) if delta else math.inf
    ones: float = slope * last * rounds / 2.0 + ROOM * last
    squares = slope**2 * last * rounds * (2.0 * rounds - 1.0) / 6.0 + slope * ROOM * last * rounds + ROOM**2 * last
    match calculator:
        case "pure":
            return samples * ones
        case "theorem-3.4.2":
            step, draws = slope * last + ROOM, samples * last
            return step * (math.sqrt(2.0 * draws * log) + draws * math.expm1(min(step, 700.0)))
        case "per-round":
            each = slope * np.arange(1, rounds) + ROOM
            return math.sqrt(2.0 * log * samples * squares) + samples * float(np.sum(each * np.tanh(each / 2.0)))
        case _:
            return samples * squares / 8.0


def _largest_eta(cost: Callable[[float], float], budget: float, near: float) -> float:
    """The largest step size within a budget, at most a relative 1e-12 too small; 0 if no step size is within it.

    Args:
        cost: increasing function from a step size to its cost.
        budget: largest cost, in the unit of `cost`.
        near: initial guess of the step size; 0 if there is no guess.
    """
    width = _CLOSE / 4.0
    while near and width < 1e-3:
        low, high = near * (1.0 - width), near * (1.0 + width)
        if cost(low) > budget:
            near, width = low, 8.0 * width
        elif cost(high) <= budget:
            near, width = high, 8.0 * width
        else:
            break
    else:
        if cost(_LEAST_ETA) > budget:
            return 0.0
        low, high = 0.0, 1.0
        while cost(high) <= budget:
            low, high = high, 4 * high
        while low == 0.0:
            low, high = (high / 4, high) if cost(high / 4) <= budget else (0.0, high / 4)
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low


def rho_within(epsilon: float, delta: float) -> float:
    """The largest zCDP cost rho that fits into an (epsilon, delta) budget, rounded down (`ZCDP.within`)."""
    return ZCDP.within(epsilon, delta).rho


@renamed(n="records", beta="failure_probability")
@dataclass(frozen=True, kw_only=True)
class SourceSetting:
    """The rounds, step size and samples of Theorem 3.4.5 in Wu 2017 for a promised error, and their privacy loss.

    Args:
        alpha: promised bound on the error of every answer, as a fraction of the records.
        failure_probability: probability that the bound fails, if every best response of the oracle is within alpha/4 of
            the optimum.
        rounds: number of rounds T = 16 ln(2k)/alpha^2 for k queries, rounded up.
        eta: step size alpha/4.
        samples: number of draws a round s = 48 ln(2 |X| T/beta)/alpha^2, rounded up, where |X| is the size of the
            universe and beta the failure probability.
        epsilon: privacy loss by Theorem 3.4.2 at `delta`, in nats, for n records.
        zcdp_epsilon: privacy loss by zCDP at `delta`, in nats, for n records.
        delta: delta of both privacy losses, in (0, 1).
        records: number of records of the data, n.
        records_needed: approximate number of records for which Theorem 3.4.2 gives epsilon = 1 at `delta`.
    """

    alpha: float
    failure_probability: float
    rounds: int
    eta: float
    samples: int
    epsilon: float
    zcdp_epsilon: float
    delta: float
    records: int
    records_needed: float

    @property
    def loss(self) -> ApproxDP:
        """The privacy loss by Theorem 3.4.2."""
        return ApproxDP(self.epsilon, self.delta)

    def sentence(self) -> str:
        """One sentence that compares the privacy loss of this setting with a practical privacy loss."""
        return (f"an error of {self.alpha:g} by Theorem 3.4.5 takes {self.rounds:,} rounds of {self.samples:,} "
                f"samples; that costs epsilon = {self.epsilon:.3g} at delta = {self.delta:g} with {self.records:,} "
                f"records; epsilon = 1 takes about {self.records_needed:.2g} records")


@renamed(n="records", beta="failure_probability")
def source_setting(
    records: int, alpha: float, failure_probability: float, delta: float, *, queries: int, log_universe: float
) -> SourceSetting:
    """The rounds, step size and samples with which Wu 2017 proves an error bound, and their privacy loss.

    Args:
        records: number of records of the data.
        alpha: bound on the error of every answer, as a fraction of the records, in (0, 1).
        failure_probability: probability that the bound fails, in (0, 1).
        delta: delta of the privacy loss, in (0, 1).
        queries: number of queries and their negations, |Q| = 2 k for k queries, at least 2.
        log_universe: logarithm ln |X| of the number of possible records: d ln 2 for d binary attributes, and less if
            some combinations of attributes are not valid records.

    Source: Wu 2017, Lemma 3.4.4, Theorem 3.4.5, Remark 3.4.6; spec query_release D3.

    Example:
        >>> import math
        >>> found = source_setting(30_162, 0.1, 0.05, 1e-3, queries=2_000_000, log_universe=235 * math.log(2))
        >>> found.rounds, found.samples
        (23214, 847829)
    """
    alpha, delta = fraction("alpha", alpha), fraction("delta", delta)
    beta = fraction("failure_probability", failure_probability)
    log_queries = math.log(whole("queries", queries, at_least=2))
    universe = positive("log_universe", log_universe)
    rounds = math.ceil(16 * log_queries / alpha**2)
    eta = alpha / 4
    samples = math.ceil(48 * (math.log(2 * rounds / beta) + universe) / alpha**2)
    records = whole("records", records, at_least=1)
    needed = 2.0 * eta * (rounds - 1) * math.sqrt(2 * samples * (rounds - 1) * -math.log(delta))
    return SourceSetting(
        alpha=alpha, failure_probability=beta, rounds=rounds, eta=eta, samples=samples, delta=delta, records=records,
        records_needed=2.0 * needed,
        epsilon=_about(records, eta, rounds, samples, delta, "theorem-3.4.2"),
        zcdp_epsilon=ZCDP(_about(records, eta, rounds, samples, delta, "zcdp")).epsilon_at(delta),
    )



def __getattr__(name: str) -> Any:
    if name == "Setting":
        warn_of_old(__name__, name, "RoundsAndCost")
        return RoundsAndCost
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The strategies of a person with a bit: every 3x2 channel from the bit to a report of 0, a report of 1 or no report,
with its privacy level; and the best reply.

The best reply is over all channels, including asymmetric channels, randomised channels, and channels that sometimes
give no report, for payments of any sign.

A person's choice depends on their interim matrix alone: a[x, s] = P(S = s) E[R | X = x, S = s], where S is the bit, X
the report and R the payment. At a fixed privacy level the channels form a polytope whose extreme points use at most two
of the three reports. The best reply is therefore found among nine pairs of reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import one_of
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.probabilities import as_probabilities
from confide.market.costs import Cost, LinearCost
from confide.market.signal_model import LARGEST_LEVEL
from confide.tables.frames import column_of

__all__ = [
    "NONE",
    "NO_TRUTHS",
    "REPORTS",
    "BestReply",
    "Reply",
    "Strategy",
    "are_truths",
    "as_bits",
    "as_interim",
    "as_reports",
    "best_response",
    "numbers_of",
    "privacy_level",
    "regret",
    "utility",
]

# ---- strategies

NONE = 2
"""The row of a channel that stands for taking no part, and the code of taking no part in arrays of reports."""

REPORTS = ("0", "1", "none")

NO_TRUTHS = ("reports are 0, 1 or 2 (none) and already randomised: make them from true and false on each person's own "
             "device, with `BitCollection.submit`, or with `BitCollection.reports(bits, noise)` for many")
"""Advice in the error message for a column of true and false, which holds people's bits instead of reports."""


def are_truths(values: Any) -> bool:
    """Whether an array is boolean, or a sequence contains true or false.

    Args:
        values: an array, or a list or tuple.
    """
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    return kind == "b" or (kind == "O" and isinstance(values, np.ndarray | list | tuple)
                           and any(isinstance(each, bool | np.bool_) for each in values))


def as_reports(reports: Any, people: int) -> NDArray[np.int64]:
    """Check N reports 0, 1, or 2 for none, and convert them to an integer array of shape (N,).

    Args:
        reports: an array, a list, or a column of pandas, Polars or Arrow. A data frame, an Arrow table, a mapping or a
            file is also accepted if it has exactly one column. An empty cell, nan or None counts as no report.
        people: number N of people.

    Raises:
        InvalidInput: the values are not N reports, or are true and false, which are bits and not yet reports. The
            message names a column of text, and does not say which value is wrong.
    """
    if are_truths(reports):
        raise InvalidInput("reports", "are true and false", NO_TRUTHS)
    return _coded("reports", reports, people, "each must be 0, 1 or 2 (none)", NO_TRUTHS)


def as_bits(bits: Any, people: int) -> NDArray[np.int64]:
    """Check N people's own bits, and convert them to an array of 0, 1, or 2 for taking no part; true and false are
    accepted.

    Args:
        bits: bits, in any form that `as_reports` accepts.
        people: number N of people.

    Raises:
        InvalidInput: the values are not N bits. The message names a column of text, and does not say which value is
            wrong.
    """
    return _coded("bits", bits, people, "each must be true or false, or 1 or 0, and nan for taking no part")


def numbers_of(field: str, values: Any, *, no_truths: str = "") -> NDArray[Any]:
    """Convert a sequence, a column or a table of one column to an array, in which missing values are nan.

    Args:
        field: name of the values in error messages.
        values: numbers, in any form that `as_reports` accepts.
        no_truths: advice in the error message where a column of true and false is refused; by default true and false
            become 1 and 0.

    Raises:
        InvalidInput: the values are not numbers.
    """
    column = column_of(values, field, no_truths=no_truths)
    try:
        found = np.asarray(values) if column is None else column
        if found.dtype == object:
            found = np.array([math.nan if each is None else each for each in found], dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "biuf":
        raise InvalidInput(field, "are not numbers", "must be numbers, nan for none")
    return found


def _coded(field: str, values: Any, people: int, limit: str, no_truths: str = "") -> NDArray[np.int64]:
    found = numbers_of(field, values, no_truths=no_truths)
    if found.shape != (people,):
        raise InvalidInput(field, f"have shape {found.shape}", f"must be ({people},)")
    if found.dtype.kind == "f":
        found = np.where(np.isnan(found), NONE, found)
    if not np.all((found == 0) | (found == 1) | (found == NONE)):
        raise InvalidInput(field, "contain another value", limit)
    return found.astype(np.int64)


def privacy_level(channel: ArrayLike) -> float:
    """The local privacy level of a channel: the largest |ln P(x|S=1)/P(x|S=0)| over its reports x, where S is the bit.

    Args:
        channel: (k, 2) P(X = x | S = s). In a ratio of the probabilities of one report, 0/0 counts as 1. If some report
            is possible for only one of the bits, the level is infinite.

    Source: Wang 2016, Definition 5; spec data_market section 1 (no event has a larger ratio than some single report).

    Example:
        >>> privacy_level([[0.75, 0.25], [0.25, 0.75], [0, 0]]) == math.log(3)
        True
    """
    table = np.asarray(channel, dtype=np.float64)
    zero, one = table[:, 0], table[:, 1]
    if np.any((zero > 0) != (one > 0)):
        return math.inf
    used = zero > 0
    return float(np.max(np.abs(np.log(one[used] / zero[used]))))


@dataclass(frozen=True, eq=False)
class Strategy(Declared):
    """A person's channel from the bit to the report, as all other people believe that the person behaves.

    Example:
        >>> round(Strategy.randomised(1.0).level, 12)
        1.0
        >>> Strategy.always("none").channel.tolist()
        [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    """

    channel: Annotated[NDArray[np.float64], Parameter("(3, 2) probabilities of the reports 0, 1, none (rows) given the "
                                                      "bit 0, 1 (columns)")]
    name: Annotated[str, Parameter("name in reports")] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            table = as_probabilities(self.channel, axis=0)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.shape != (3, 2) or not np.all(np.isfinite(table)):
            raise InvalidInput("channel", "is not a table of 3 reports by 2 bits", "rows are the reports 0, 1, none")
        if np.any(table < 0) or np.any(np.abs(table.sum(axis=0) - 1.0) > 1e-12):
            raise InvalidInput("channel", "has columns that are not probabilities", "each must sum to 1")
        table.setflags(write=False)
        object.__setattr__(self, "channel", table)

    @classmethod
    def randomised(cls, epsilon: float) -> Strategy:
        """The epsilon-strategy: report the bit with probability e^epsilon/(1 + e^epsilon), and the opposite bit
        otherwise.

        Args:
            epsilon: level in [-700, 700] nats. A level below 0 exchanges the two reports, and a level of 0 is a fair
                coin.
        """
        return cls.on_pair(1, 0, epsilon)

    @classmethod
    def on_pair(cls, on_one: int, on_zero: int, level: float) -> Strategy:
        """Randomised response on two reports: mostly `on_one` where the bit is 1, mostly `on_zero` where the bit is 0.

        Args:
            on_one: report that is mostly given on bit 1: 0, 1 or 2 (none).
            on_zero: report that is mostly given on bit 0: 0, 1 or 2 (none). If equal to `on_one`, the report is
                constant.
            level: level of the randomised response, in [-700, 700] nats.
        """
        if not abs(level) <= LARGEST_LEVEL:
            raise InvalidInput("epsilon", f"{level!r} is out of range", f"must be in [-{LARGEST_LEVEL:g}, 700]")
        table = np.zeros((3, 2))
        keep, flip = float(scipy.special.expit(level)), float(scipy.special.expit(-level))
        for bit, (mostly, seldom) in enumerate(((on_zero, on_one), (on_one, on_zero))):
            table[mostly, bit] += keep
            table[seldom, bit] += flip
        return cls(table)

    @classmethod
    def always(cls, report: str) -> Strategy:
        """The strategy that gives the same report, "0", "1" or "none", whatever the bit."""
        table = np.zeros((3, 2))
        table[REPORTS.index(one_of("report", report, REPORTS))] = 1.0
        return cls(table, name=f"always {report}")

    @property
    def level(self) -> float:
        """The privacy level, in nats."""
        return privacy_level(self.channel)

    @property
    def informative(self) -> bool:
        """Whether the report depends on the bit."""
        return self.level > 0

    @property
    def participation(self) -> NDArray[np.float64]:
        """The (2,) probabilities of taking part, given the bits 0 and 1."""
        found: NDArray[np.float64] = 1.0 - self.channel[NONE]
        return found

    def thinned(self, presence: float) -> Strategy:
        """The strategy that plays this strategy with probability `presence`, independently of the bit, and otherwise
        takes no part.
        """
        if not 0 <= presence <= 1:
            raise InvalidInput("presence", f"{presence!r} is out of range", "must be in [0, 1]")
        table = presence * self.channel
        table[NONE] += 1.0 - presence
        return Strategy(table, name=self.name)

    def relabelled(self) -> Strategy:
        """The strategy with the reports 0 and 1 exchanged (Wang 2016, Lemma 2)."""
        return Strategy(self.channel[[1, 0, NONE]])

    def given_state(self, signal_accuracy: float) -> NDArray[np.float64]:
        """The (3, 2) probabilities P(X = x | W = w) of the report x given the state w."""
        theta = signal_accuracy
        found: NDArray[np.float64] = self.channel @ np.array([[theta, 1.0 - theta], [1.0 - theta, theta]])
        return found


# ---- replies

TIE = 1e-13
"""Largest difference of utilities that counts as equal, as a share of the largest payment."""


@dataclass(frozen=True)
class Reply:
    """One best reply, as randomised response on a pair of reports.

    Args:
        on_one: report that is mostly given on bit 1: 0, 1 or 2 (none).
        on_zero: report that is mostly given on bit 0; equal to `on_one` for an uninformative reply.
        level: privacy level of the reply, 0 for an uninformative reply.
        utility: expected payment less the cost of the level.
    """

    on_one: int
    on_zero: int
    level: float
    utility: float

    @property
    def strategy(self) -> Strategy:
        """The reply as a channel from the bit to the report."""
        return Strategy.on_pair(self.on_one, self.on_zero, self.level)

    @property
    def informative(self) -> bool:
        """Whether the report depends on the bit."""
        return self.level > 0

    @property
    def name(self) -> str:
        """The reply as text."""
        if not self.informative:
            return f"always {REPORTS[self.on_one]}"
        return f"{REPORTS[self.on_one]} on 1, {REPORTS[self.on_zero]} on 0, at level {self.level:.6g}"


@dataclass(frozen=True)
class BestReply:
    """All best replies to an interim matrix.

    Args:
        replies: every maximising pair of reports; mixtures of replies of one level are best replies too.
        margin: utility of the best informative reply less the utility of the best uninformative reply. The margin is
            minus infinity if no pair of reports has a best level above 0.
    """

    replies: tuple[Reply, ...]
    margin: float

    @property
    def utility(self) -> float:
        """The utility of the best replies."""
        return self.replies[0].utility

    @property
    def level(self) -> float:
        """The highest privacy level among the best replies."""
        return self.replies[0].level

    @property
    def strategy(self) -> Strategy:
        """A best reply of the highest privacy level."""
        return self.replies[0].strategy

    @property
    def unique(self) -> bool:
        """Whether there is exactly one best reply."""
        return len(self.replies) == 1

    @property
    def name(self) -> str:
        """The best replies as text."""
        return " = ".join(reply.name for reply in self.replies)


def as_interim(interim: ArrayLike) -> NDArray[np.float64]:
    """Check and convert a (3, 2) table of finite numbers; a table of two rows gets a row of zeros for
    taking no part.
    """
    try:
        table = np.asarray(interim, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape == (2, 2):
        table = np.vstack([table, np.zeros(2)])
    if table.shape != (3, 2) or not np.all(np.isfinite(table)):
        raise InvalidInput("interim", "is not a table of finite numbers, 3 reports by 2 bits",
                           "rows are the reports 0, 1, none; columns the bit 0, 1")
    return table


def _best_level(half: float, cost: Cost) -> float:
    """The level that maximises half tanh(level/2) - g(level)."""
    if isinstance(cost, LinearCost):
        spare = half / (2.0 * cost.rate) - 1.0  # sinh^2(level/2)
        return 2.0 * math.asinh(math.sqrt(spare)) if spare > 0 else 0.0
    from scipy.optimize import brentq

    def slope(level: float) -> float:
        return half * 2.0 * float(scipy.special.expit(level) * scipy.special.expit(-level)) - float(cost.slope(level))

    if slope(0.0) <= 0:
        return 0.0
    high = 1.0
    while slope(high) > 0:
        if high > LARGEST_LEVEL:
            raise InvalidInput("interim", "has a best reply with a level above 700", "scale the payments down")
        high *= 2.0
    if not math.isfinite(slope(high)):  # the cost overflows
        low = high / 2.0
        while not math.isfinite(slope(high)):
            high = (low + high) / 2.0
    return float(brentq(slope, 0.0, high, xtol=1e-300, rtol=8.9e-16, maxiter=500))


def best_response(interim: ArrayLike, cost: Cost, *, ceiling: float = math.inf) -> BestReply:
    """Find every best reply over all channels from the bit to the report.

    Args:
        interim: (3, 2) a[x, s] = P(S = s) E[R | X = x, S = s] for the reports 0, 1, none (rows) and the bit 0, 1
            (columns), of any sign. A (2, 2) table means that taking no part pays nothing.
        cost: cost of a privacy level to this person.
        ceiling: largest level that the person can choose; infinity where no limit is enforced.

    Returns:
        All pairs of reports with the largest utility, up to 1e-13 of the largest payment.

    Raises:
        InvalidInput: the interim matrix is not a (3, 2) or (2, 2) table.

    Source: spec data_market section 1 (ours); contains Wang 2016, Lemma 1.

    Example:
        >>> from confide.market import LinearCost
        >>> best = best_response([[3.0, 0.2], [0.5, 2.7]], LinearCost(1.0))
        >>> best.name, round(best.utility, 6), best.unique
        ('1 on 1, 0 on 0, at level 0.962424', 3.35561, True)
    """
    table = as_interim(interim)
    found = [Reply(x, x, 0.0, float(table[x, 0] + table[x, 1])) for x in range(3)]
    constant = max(reply.utility for reply in found)
    informative = -math.inf
    for on_one, on_zero in permutations(range(3), 2):
        match, miss = table[on_one, 1] + table[on_zero, 0], table[on_one, 0] + table[on_zero, 1]
        half = float(match - miss) / 2.0
        if half <= 0:
            continue  # beaten by one of the two constant reports
        level = min(_best_level(half, cost), ceiling)  # a pair's utility is concave in its level
        if level > 0:
            value = float(match + miss) / 2.0 + half * math.tanh(level / 2.0) - float(cost(level))
            informative = max(informative, value)
            found.append(Reply(on_one, on_zero, level, value))
    best, scale = max(constant, informative), float(np.max(np.abs(table)))
    tied = [reply for reply in found if reply.utility >= best - TIE * max(scale, 1e-300)]
    tied.sort(key=lambda reply: -reply.level)
    return BestReply(tuple(tied), margin=informative - constant)


def utility(interim: ArrayLike, strategy: Strategy, cost: Cost) -> float:
    """The utility of a strategy: expected payment less the cost of its level, and minus infinity for an infinite
    level.
    """
    paid = float(np.sum(as_interim(interim) * strategy.channel))
    level = strategy.level
    return paid - float(cost(level)) if math.isfinite(level) else -math.inf


def regret(interim: ArrayLike, strategy: Strategy, cost: Cost) -> float:
    """The utility of the best reply less the utility of a strategy, >= 0 up to rounding."""
    return best_response(interim, cost).utility - utility(interim, strategy, cost)

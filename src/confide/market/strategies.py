"""The strategies of a person with a bit: every 3x2 channel from the bit to a report 0, 1 or none, and its privacy
level.

The best reply over all channels: asymmetric, randomised, partly absent, whatever the signs of the payments.

A person's choice depends on their interim matrix alone: a[x, s] = P(S = s) E[R | X = x, S = s]. At a fixed level the
channels are a polytope whose extreme points use two labels at most, so nine pairs of labels decide.
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
"""The row, and the code in arrays of reports, of taking no part."""

REPORTS = ("0", "1", "none")

NO_TRUTHS = ("reports are 0, 1 or 2 (none) and already randomised: make them from true and false on each person's own "
             "device, with `BitCollection.submit`, or with `BitCollection.reports(bits, noise)` for many")
"""What to do with a column of true and false, which are people's bits and no reports."""


def are_truths(values: Any) -> bool:
    """Whether an array is of true and false, or a sequence holds one of them.

    Args:
        values: an array, or a list or tuple.
    """
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    return kind == "b" or (kind == "O" and isinstance(values, np.ndarray | list | tuple)
                           and any(isinstance(each, bool | np.bool_) for each in values))


def as_reports(reports: Any, people: int) -> NDArray[np.int64]:
    """Check and code N reports 0, 1, or 2 for none, shape (N,).

    Args:
        reports: an array or a list, a column of pandas, Polars or Arrow, or a frame, an Arrow table, a mapping or a
            file with one column; an empty cell, nan or None is none.
        people: number N of people.

    Raises:
        InvalidInput: not N reports, true and false, which are bits and not yet reports, something else (the message
            does not say which one), or a column of text, by its name.
    """
    if are_truths(reports):
        raise InvalidInput("reports", "are true and false", NO_TRUTHS)
    return _coded("reports", reports, people, "each must be 0, 1 or 2 (none)", NO_TRUTHS)


def as_bits(bits: Any, people: int) -> NDArray[np.int64]:
    """Check and code N people's own bits as 0, 1, or 2 for taking no part: as `as_reports`, and true and false, too.

    Args:
        bits: bits, in any form of `as_reports`.
        people: number N of people.

    Raises:
        InvalidInput: not N bits, something else (the message does not say which one), or a column of text, by its name.
    """
    return _coded("bits", bits, people, "each must be true or false, or 1 or 0, and nan for taking no part")


def numbers_of(field: str, values: Any, *, no_truths: str = "") -> NDArray[Any]:
    """The array of a sequence, a column or a table of one column, in which missing values are nan.

    Args:
        field: name of the values in errors.
        values: numbers, in any form of `as_reports`.
        no_truths: advice where a column of true and false is refused; by default they are 1 and 0.

    Raises:
        InvalidInput: no numbers.
    """
    column = column_of(values, field, no_truths=no_truths)
    try:
        found = np.asarray(values) if column is None else column
        if found.dtype == object:
            found = np.array([math.nan if each is None else each for each in found], dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "biuf":
        raise InvalidInput(field, "are not numbers", "nan for none")
    return found


def _coded(field: str, values: Any, people: int, limit: str, no_truths: str = "") -> NDArray[np.int64]:
    found = numbers_of(field, values, no_truths=no_truths)
    if found.shape != (people,):
        raise InvalidInput(field, f"have shape {found.shape}", f"must be ({people},)")
    if found.dtype.kind == "f":
        found = np.where(np.isnan(found), NONE, found)
    if not np.all((found == 0) | (found == 1) | (found == NONE)):
        raise InvalidInput(field, "contain something else", limit)
    return found.astype(np.int64)


def privacy_level(channel: ArrayLike) -> float:
    """The local privacy level of a channel: the largest |ln P(x|S=1)/P(x|S=0)| over its reports.

    Args:
        channel: (k, 2) P(X = x | S = s); 0/0 counts as 1. A report that is possible for one bit only makes it infinite.

    Source: Wang 2016, Definition 5; spec data_market section 1 (three single reports decide all events).

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
    """A person's channel, public like all of game theory: the others' belief about this person's report.

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
        """The epsilon-strategy: the bit with probability e^epsilon/(1 + e^epsilon), the other one otherwise.

        Args:
            epsilon: in [-700, 700]; below 0 the reports turn around, 0 is a fair coin.
        """
        return cls.on_pair(1, 0, epsilon)

    @classmethod
    def on_pair(cls, on_one: int, on_zero: int, level: float) -> Strategy:
        """Randomised response on two labels: mostly `on_one` where the bit is 1, mostly `on_zero` where it is 0.

        Args:
            on_one: 0, 1 or 2 (none).
            on_zero: likewise; equal to `on_one` it is a constant report.
            level: in [-700, 700].
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
        """The same report whatever the bit: "0", "1" or "none"."""
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
        """The (2,) probabilities of taking part, by bit."""
        found: NDArray[np.float64] = 1.0 - self.channel[NONE]
        return found

    def thinned(self, presence: float) -> Strategy:
        """The same strategy of somebody who can take part with that probability only, whatever their bit."""
        if not 0 <= presence <= 1:
            raise InvalidInput("presence", f"{presence!r} is out of range", "must be in [0, 1]")
        table = presence * self.channel
        table[NONE] += 1.0 - presence
        return Strategy(table, name=self.name)

    def relabelled(self) -> Strategy:
        """The reports 0 and 1 exchanged (Lemma 2)."""
        return Strategy(self.channel[[1, 0, NONE]])

    def given_state(self, signal_accuracy: float) -> NDArray[np.float64]:
        """The (3, 2) probabilities P(X = x | W = w)."""
        theta = signal_accuracy
        found: NDArray[np.float64] = self.channel @ np.array([[theta, 1.0 - theta], [1.0 - theta, theta]])
        return found


# ---- replies

TIE = 1e-13
"""Utilities closer than this share of the largest payment are equal."""


@dataclass(frozen=True)
class Reply:
    """One maximising pair of labels.

    Args:
        on_one: report that is mostly given on bit 1: 0, 1 or 2 (none).
        on_zero: report that is mostly given on bit 0; the same for an uninformative reply.
        level: privacy level of the reply, 0 for an uninformative one.
        utility: expected payment less the cost of the level.
    """

    on_one: int
    on_zero: int
    level: float
    utility: float

    @property
    def strategy(self) -> Strategy:
        """The channel."""
        return Strategy.on_pair(self.on_one, self.on_zero, self.level)

    @property
    def informative(self) -> bool:
        """Whether it depends on the bit."""
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
        replies: every maximising pair; mixtures of those of one level are best replies too.
        margin: utility of the best informative reply less that of the best uninformative one; minus infinity where no
            informative reply can be as good as some uninformative one.
    """

    replies: tuple[Reply, ...]
    margin: float

    @property
    def utility(self) -> float:
        """The utility of the best replies."""
        return self.replies[0].utility

    @property
    def level(self) -> float:
        """The highest level among them."""
        return self.replies[0].level

    @property
    def strategy(self) -> Strategy:
        """One of them, of the highest level."""
        return self.replies[0].strategy

    @property
    def unique(self) -> bool:
        """Whether there is one only."""
        return len(self.replies) == 1

    @property
    def name(self) -> str:
        """The best replies as text."""
        return " = ".join(reply.name for reply in self.replies)


def as_interim(interim: ArrayLike) -> NDArray[np.float64]:
    """A (3, 2) table of finite numbers; two rows mean that taking no part pays nothing."""
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
            raise InvalidInput("interim", "has a best reply of a level above 700", "scale the payments down")
        high *= 2.0
    if not math.isfinite(slope(high)):  # the cost overflows
        low = high / 2.0
        while not math.isfinite(slope(high)):
            high = (low + high) / 2.0
    return float(brentq(slope, 0.0, high, xtol=1e-300, rtol=8.9e-16, maxiter=500))


def best_response(interim: ArrayLike, cost: Cost, *, ceiling: float = math.inf) -> BestReply:
    """Every best reply over all channels.

    Args:
        interim: (3, 2) a[x, s] = P(S = s) E[R | X = x, S = s] for the reports 0, 1, none (rows), of any sign; (2, 2)
            where taking no part pays nothing.
        cost: cost of a privacy level to this person.
        ceiling: largest level that the person can choose, where something enforces one.

    Returns:
        All maximising pairs of labels, within 1e-13 of the payments' size.

    Raises:
        InvalidInput: no such table.

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
    """The utility of a strategy: expected payment less the cost of its level; minus infinity where that is infinite."""
    paid = float(np.sum(as_interim(interim) * strategy.channel))
    level = strategy.level
    return paid - float(cost(level)) if math.isfinite(level) else -math.inf


def regret(interim: ArrayLike, strategy: Strategy, cost: Cost) -> float:
    """How much better than a strategy the best reply is, >= 0 up to rounding."""
    return best_response(interim, cost).utility - utility(interim, strategy, cost)

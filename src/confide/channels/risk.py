"""Success of an attacker who sees a release, and guesses a letter or distinguishes two values of one row.

The attacker is the strongest one that the notions of privacy consider, and knows the channel, the prior, and all rows
but one. A test between two values of the unknown row has a rate of false alarms and a rate of hits. The trade-off of
the channel is the best rate of hits at each rate of false alarms. For a finite channel the trade-off is computed
exactly (Neyman and Pearson). If the channel is too large, the trade-off is bounded by the channel's differential
privacy. The attacker's advantage is the largest difference between hits and false alarms. The advantage equals the
total variation distance between the distributions of the output under two neighbouring databases.

Where rows depend on each other, the outputs of other rows also give information about a row. An attacker who knows the
prior, but no row, compares the distributions of the whole output for two values of a row. The success of this attacker
is computed exactly if there are few databases.

Source: Dong, Roth and Su 2022; Kulynych et al. 2025 (the same bound for reconstruction, attributes and membership).

The evidence of a report about one person consists of the report's probability, and of the posterior probability of each
true value given the report.

For the evidence of a report, the prior is the law of one row, averaged over the rows; the other rows are unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from confide.channels.analyser import analyse
from confide.channels.channel import Channel, FiniteChannel, RowProduct
from confide.channels.kernels import axes
from confide.channels.priors import Exchangeable, IndependentRows, Prior, as_prior
from confide.channels.surveys import mean_law, row_table
from confide.contract.checks import non_negative
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Section, Table, Text
from confide.contract.wire import parts_of, wire
from confide.contract.words import counted, number

__all__ = [
    "AttackRisk",
    "OthersUnknown",
    "ReportMeanings",
    "attack_risk",
    "best_advantage",
    "best_hits",
    "report_meanings",
]

# ---- risk

_Vector = NDArray[np.float64]
_CELLS = 2**24  # pairs of neighbours times outputs
_BLOCK = 2**20  # of them at a time
_LISTED = 256  # databases, for who does not know the others
_MOST = 2**20  # of them times outputs
_RATES = np.concatenate([[0.0, 0.001], np.linspace(0.01, 0.09, 9), np.linspace(0.1, 1.0, 19)])


@wire("OthersUnknown", "level advantage hits")
@dataclass(frozen=True, kw_only=True, eq=False)
class OthersUnknown:
    """Success of an attacker who knows the channel and the prior, but no row. The numbers are exact.

    Args:
        level: logarithm of the largest factor by which an output changes the odds between two values of a row, in nats.
        advantage: advantage of the best test between two values of a row: the largest difference between hits and false
            alarms.
        hits: the best rate of hits at each rate in `AttackRisk.false_alarms`, same shape.
    """

    level: float
    advantage: float
    hits: _Vector

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary of the level, the advantage and the hits."""
        return {**parts_of(self), "hits": self.hits.tolist()}


@wire("AttackRisk", "guess_before guess_after advantage false_alarms hits exact level others_unknown")
@dataclass(frozen=True, kw_only=True, eq=False)
class AttackRisk:
    """Success of the strongest attacker, who knows all rows but one.

    Args:
        guess_before: largest probability of guessing the unknown row before the release, over all choices of the
            unknown row and all letters of the other rows.
        guess_after: largest probability of guessing the unknown row after the release that helps the attacker most.
        advantage: largest difference between the rates of hits and false alarms of a test between two values of a row,
            in [0, 1]; 0 is no information, 1 is certainty.
        false_alarms: rates of false alarms, rising from 0 to 1.
        hits: the best rate of hits at each rate in `false_alarms`, over all pairs of neighbouring databases.
        exact: whether advantage and hits are exact; if not, they are upper bounds from differential privacy.
        level: the channel's differential privacy, in nats.
        others_unknown: success of an attacker who knows no other row. The value is None for independent rows, where
            other rows do not matter. It is also None for more than 256 databases, or if databases times outputs exceed
            2^20.
    """

    guess_before: float
    guess_after: float
    advantage: float
    false_alarms: _Vector
    hits: _Vector
    exact: bool
    level: float
    others_unknown: OthersUnknown | None = None

    def hits_at(self, false_alarms: float) -> float:
        """The best rate of hits at a rate of false alarms. Between two tabulated rates the result is an upper bound:
        the smaller of the hits at the next larger tabulated rate and the bound from the channel's differential privacy.
        `attack_risk` also tabulates the rates in its argument `rates`.
        """
        rate = non_negative("false_alarms", false_alarms, at_most=1.0)
        following = int(np.searchsorted(self.false_alarms, rate))
        return min(float(self.hits[following]), float(best_hits(rate, self.level)))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary of all numbers."""
        return {**parts_of(self), "false_alarms": self.false_alarms.tolist(), "hits": self.hits.tolist(),
                "others_unknown": None if self.others_unknown is None else self.others_unknown.to_dict()}


def best_advantage(epsilon: float, delta: float = 0.0) -> float:
    """Largest difference between hits and false alarms of any test under (epsilon, delta)-DP: (e^epsilon - 1 + 2
    delta)/(e^epsilon + 1).

    Example:
        >>> round(best_advantage(1.0), 6)
        0.462117
    """
    epsilon, delta = _level(epsilon), non_negative("delta", delta, at_most=1.0)
    return delta + (1.0 - delta) * math.tanh(0.5 * epsilon)


def best_hits(false_alarms: ArrayLike, epsilon: float, delta: float = 0.0) -> _Vector:
    """The best rate of hits of any test at given rates of false alarms under (epsilon, delta)-DP.

    Example:
        >>> best_hits([0.05, 0.5], 1.0).round(4).tolist()
        [0.1359, 0.8161]
    """
    epsilon, delta = _level(epsilon), non_negative("delta", delta, at_most=1.0)
    rate = np.asarray(false_alarms, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        steep = (np.where(rate > 0, math.exp(min(epsilon, 700.0)) * rate, 0.0) if epsilon < math.inf else 1.0) + delta
    flat = 1.0 - math.exp(-epsilon) * np.maximum(1.0 - delta - rate, 0.0)
    return np.asarray(np.minimum(1.0, np.minimum(steep, flat)))


def attack_risk(
    channel: FiniteChannel | ArrayLike, prior: Prior | ArrayLike, *, rates: Sequence[float] = ()
) -> AttackRisk:
    """Success of the strongest attacker, who sees one release and knows all rows but one.

    Args:
        channel: channel in any form, or the table of one row.
        prior: prior of the attacker.
        rates: rates of false alarms to tabulate in addition to the usual ones.

    Returns:
        Exact numbers if the number of pairs of neighbouring databases times the number of outputs is at most 2^24; for
        larger channels, bounds from differential privacy.

    Raises:
        InvalidInput: the channel is no channel, the prior is no probability distribution, or their sizes differ.

    Example:
        >>> found = attack_risk([[0.6, 0.4], [0.4, 0.6]], [0.55, 0.45])
        >>> found.guess_before, round(found.guess_after, 4), round(found.advantage, 4)
        (0.55, 0.6471, 0.2)
    """
    it = channel if isinstance(channel, FiniteChannel) else Channel(channel)
    law = as_prior(prior, it.letters, it.records)
    report = analyse(it, law)
    alarms = np.union1d(_RATES, [non_negative("rates", rate, at_most=1.0) for rate in rates])
    advantage, hits, exact = 0.0, np.zeros(len(alarms)), _pairs(it) <= _CELLS
    if exact:
        for p, q in _neighbours(it):
            advantage = max(advantage, float(np.maximum(p - q, 0.0).sum(axis=1).max()))
            hits = np.maximum(hits, _hits(p, q, alarms))
    else:
        advantage, hits = best_advantage(report.dp), best_hits(alarms, report.dp)
    return AttackRisk(guess_before=_guess_before(law), guess_after=report.adversary_success, advantage=advantage,
                      false_alarms=alarms, hits=hits, exact=exact, level=report.dp,
                      others_unknown=_others_unknown(it, law, alarms))


def _level(epsilon: float) -> float:
    return math.inf if epsilon == math.inf else non_negative("epsilon", epsilon)


def _others_unknown(channel: FiniteChannel, prior: Prior, alarms: _Vector) -> OthersUnknown | None:
    """Success of an attacker who knows no row. The distribution of the output given one row's value is a mixture over
    the other rows.
    """
    if isinstance(prior, IndependentRows) or prior.records == 1 or prior.records > 8 or prior.cells > _LISTED:
        return None
    outputs = (math.prod(channel.tables[k].shape[1] for k in channel.which.tolist())
               if isinstance(channel, RowProduct) else channel.table().shape[1])
    if prior.cells * outputs > _MOST:
        return None
    joint, m = prior.vector()[:, None] * channel.table(), prior.letters
    level, advantage, hits = 0.0, 0.0, np.zeros(len(alarms))
    for i in range(prior.records):
        given = joint.reshape(m**i, m, -1, joint.shape[1]).sum(axis=(0, 2))
        chances = given.sum(axis=1)
        laws = given[chances > 0] / chances[chances > 0, None]
        with np.errstate(divide="ignore"):
            logs = np.log(laws[:, laws.any(axis=0)])
        level = max(level, float((logs.max(axis=0) - logs.min(axis=0)).max()))
        for shift in range(1, len(laws)):
            p, q = laws, np.roll(laws, shift, axis=0)
            advantage = max(advantage, float(np.maximum(p - q, 0.0).sum(axis=1).max()))
            hits = np.maximum(hits, _hits(p, q, alarms))
    return OthersUnknown(level=level, advantage=advantage, hits=hits)


def _guess_before(prior: Prior) -> float:
    """The largest conditional probability of a letter given all other rows."""
    match prior:
        case IndependentRows():
            return float(prior.laws.max())
        case Exchangeable():
            logs = prior.last_row_logs
            possible = logs.max(axis=1) > -np.inf
            return float(np.exp(logs[possible].max(axis=1) - logsumexp(logs[possible], axis=1)).max())
        case _:
            best = 0.0
            for view in axes(prior.vector(), prior.letters, prior.records):
                total, top = view.sum(axis=1), view.max(axis=1)
                best = max(best, float((top[total > 0] / total[total > 0]).max()))
            return best


def _pairs(channel: FiniteChannel) -> float:
    """Number of pairs of neighbours times number of outputs."""
    m, n = channel.letters, channel.records
    if isinstance(channel, RowProduct):
        return sum(table.size * (m - 1) for table in channel.tables)
    if n * math.log2(m) > 24:
        return math.inf
    outputs = channel.table().shape[1] if isinstance(channel, Channel) else m**n
    return float(m**n * n * (m - 1) * outputs)


def _neighbours(channel: FiniteChannel) -> Iterator[tuple[_Vector, _Vector]]:
    """Blocks of pairs of output distributions under neighbouring databases; every pair comes in both orders."""
    m = channel.letters
    views = ([table[None] for table in channel.tables] if isinstance(channel, RowProduct) else
             [np.moveaxis(view.reshape(view.shape[0], m, -1, channel.table().shape[1]), 2, 1).reshape(
                 -1, m, channel.table().shape[1]) for view in axes(channel.table(), m, channel.records)])
    for view in views:
        step = max(1, _BLOCK // (m * view.shape[2]))
        for start in range(0, len(view), step):
            some = view[start : start + step]
            for shift in range(1, m):
                yield some.reshape(-1, view.shape[2]), np.roll(some, shift, axis=1).reshape(-1, view.shape[2])


def _hits(p: _Vector, q: _Vector, rates: _Vector) -> _Vector:
    """The best rate of hits over all pairs at each rate of false alarms, shape (rates,). The best test takes outputs in
    falling order of their likelihood ratio, the last one with a probability below 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p > 0, p / q, 0.0)
    order = np.argsort(-ratio, axis=1)
    start = np.zeros((len(p), 1))
    alarms = np.concatenate([start, np.cumsum(np.take_along_axis(q, order, axis=1), axis=1)], axis=1)
    found = np.concatenate([start, np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)], axis=1)
    best = np.empty(len(rates))
    for k, rate in enumerate(rates):
        last = (alarms <= rate).sum(axis=1) - 1
        following = np.minimum(last + 1, p.shape[1])
        at = np.stack([last, following], axis=1)
        (a0, a1), (f0, f1) = np.take_along_axis(alarms, at, axis=1).T, np.take_along_axis(found, at, axis=1).T
        share = np.where(a1 > a0, (rate - a0) / np.where(a1 > a0, a1 - a0, 1.0), 0.0)
        best[k] = min(1.0, float((f0 + share * (f1 - f0)).max()))
    return best


# ---- reports

_Array = NDArray[np.float64]
_MOST_LISTED = 30  # reports on a page
_WIDE = 8  # values beside each other


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportMeanings:
    """Evidence of each report about one person.

    Args:
        names: names of the true values, shape (m,).
        outputs: names of the reports, shape (k,).
        probabilities: probability of each report, shape (k,).
        posteriors: probability of each true value after each report, shape (k, m); nan after a report with probability
            0.
        worst: numbers of an output and of two values (output, likelier value, less likely value) for which the ratio of
            the output's probabilities under the two values is largest.
        factor: largest ratio of the probabilities of one output under two values. The factor equals e^epsilon, where
            epsilon is the channel's differential privacy.
    """

    names: tuple[str, ...]
    outputs: tuple[str, ...]
    probabilities: _Array
    posteriors: _Array
    worst: tuple[int, int, int]
    factor: float

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary, in which values that are nan stay floats."""
        output, high, low = self.worst
        return {"values": list(self.names), "outputs": list(self.outputs), "probabilities": self.probabilities.tolist(),
                "posteriors": self.posteriors.tolist(),
                "worst": {"output": self.outputs[output], "likelier": self.names[high], "than": self.names[low],
                          "factor": self.factor}}

    def section(self) -> Section:
        """Section of the page about reports, with text and a table."""
        listed = np.argsort(-self.probabilities, kind="stable")[:_MOST_LISTED]
        listed.sort()
        shown = np.argsort(-(self.probabilities @ np.nan_to_num(self.posteriors)), kind="stable")[:_WIDE]
        shown.sort()
        rows = tuple((self.outputs[y], float(self.probabilities[y]), *(
            float(self.posteriors[y, x]) if self.probabilities[y] > 0 else None for x in shown.tolist()))
            for y in listed.tolist())
        cut = [f"the {count} likeliest of {size:,} {what}" for count, size, what in (
            (listed.size, len(self.outputs), "reports"), (shown.size, len(self.names), "values")) if count < size]
        table = Table(columns=("report", "probability", *(f"then {self.names[x]}" for x in shown.tolist())), rows=rows,
                      note=f"Shown: {'; '.join(cut)}." if cut else "")
        return Section(title="What a report says", blocks=(Text((_ASKED, self.words())), table))

    def words(self) -> str:
        """Sentences about the report that best distinguishes two values."""
        output, high, low = self.worst
        if self.factor <= 1.0 + 1e-12:
            return "Every report has the same probability for each value, so it discloses nothing."
        report, likelier, less = self.outputs[output], self.names[high], self.names[low]
        if math.isinf(self.factor):
            return f"The report that discloses most is {report}: it can come from {likelier}, and never from {less}."
        return (f"The report that discloses most is {report}: it is {number(self.factor)} times as likely from "
                f"{likelier} as from {less}. This ratio is e^epsilon of differential privacy.")


_ASKED = ("The table has the probability of each true value after a report, for one person. The reader knows only the "
          "prior, and nothing about other people.")


def report_meanings(
    channel: FiniteChannel, prior: Prior, *, names: Sequence[str] = (), outputs: Sequence[str] = ()
) -> ReportMeanings:
    """Evidence of each report about one person, by Bayes' rule.

    Args:
        channel: channel in which all rows go through the same table.
        prior: prior of the database. The distribution of one row, averaged over the rows, is the prior of the person.
        names: names of the values; if left out, the numbers of the values.
        outputs: names of the reports. If left out, the reports have the names of the values if there are as many
            reports as values; otherwise they are called output 1, output 2, ....

    Raises:
        InvalidInput: rows do not go through one table, or names are missing.

    Example:
        >>> from confide.channels import Channel, IndependentRows
        >>> found = report_meanings(Channel([[0.7, 0.3], [0.3, 0.7]]), IndependentRows([[0.1, 0.9]]))
        >>> found.posteriors[0].round(3).tolist(), round(found.factor, 3)
        ([0.206, 0.794], 2.333)
    """
    table = row_table(channel)
    m, k = table.shape
    values = tuple(names) or tuple(str(x) for x in range(m))
    shown = tuple(outputs) or (values if k == m else tuple(f"output {y + 1}" for y in range(k)))
    for field, given, right in (("names", values, m), ("outputs", shown, k)):
        if len(given) != right:
            raise InvalidInput(field, counted(len(given), "name"), f"must be {right}")
    joint = mean_law(prior, m)[:, None] * table
    total = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        posteriors = (joint / total).T
        ratios = np.where(table.max(axis=0) > 0, table.max(axis=0) / table.min(axis=0), 0.0)
    output = int(np.argmax(ratios))
    return ReportMeanings(names=values, outputs=shown, probabilities=total, posteriors=posteriors,
                          worst=(output, int(table[:, output].argmax()), int(table[:, output].argmin())),
                          factor=float(ratios[output]))

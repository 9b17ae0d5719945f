"""Estimates from a survey with randomised reports: shares of the true answers with standard errors, for any table of
report probabilities.

Estimates are linear and unbiased. If there are more kinds of reports than kinds of answers, the weights are the ones
with the least errors at a distribution of answers that was fixed before the survey. The formula for the standard errors
also predicts the errors before there are any data.

`Usefulness` says how useful a survey's design is. The class compares the standard error of each share with the errors
of three alternatives. The alternatives are direct questions, randomised response, and the mechanisms with the least
privacy levels at the same number of changed rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.channel import Channel, FiniteChannel, RowProduct, as_table
from confide.channels.kernels import axes, row_kernel
from confide.channels.notions import Notion
from confide.channels.priors import Exchangeable, IndependentRows, Prior, as_law, as_letters
from confide.contract.checks import exactly_one, whole
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import counted, number
from confide.privacy.shares import ShareEstimate, decoded, report_squares

__all__ = [
    "HasChannel",
    "ShareEstimate",
    "Usefulness",
    "group_errors",
    "indistinguishable_letters",
    "mean_law",
    "row_table",
    "share_variances",
    "shared_table",
    "survey_errors",
    "survey_shares",
    "usefulness",
]

# ---- surveys

_Array = NDArray[np.float64]
_EVEN = 1e-6  # of a uniform law in the one that the weights are best at: no report that can come has weight 0
_SHOWN = 10  # names in a message


class HasChannel(Protocol):
    """A mechanism, a channel file, or any other object with a channel."""

    @property
    def channel(self) -> FiniteChannel:
        """Channel that randomises the rows."""
        ...


def survey_shares(
    table: ArrayLike | FiniteChannel | HasChannel, reports: Any = None, *, counts: ArrayLike | None = None,
    prior: Prior | ArrayLike | None = None, names: Sequence[str] = ()
) -> ShareEstimate:
    """Unbiased shares of the true answers from randomised reports, with standard errors.

    Each person reports once, independently of all others, and the number of people is fixed before the survey. If there
    are as many kinds of reports as kinds of answers, exactly one linear unbiased estimate exists. With more kinds of
    reports, the estimate is the one with the least errors under the prior. For randomised response at an epsilon,
    `confide.privacy.estimated_shares` gives the same estimate.

    Args:
        table: probability of each of the k reports for each of the m true answers, shape (m, k); or a channel in which
            all rows go through the same table; or a mechanism or channel file with such a `.channel`.
        reports: reports in 0..k-1, shape (n,): an array, a column of pandas, Polars or Arrow, or a frame or a file with
            one column. Exactly one of `reports` and `counts` is given.
        counts: number of times that each report occurred, shape (k,).
        prior: distribution of the true answers, shape (m,), or a prior; uniform if left out. The prior must be fixed
            before the reports are seen. It affects only the size of the errors, and only if k > m; the estimate has no
            bias under any prior.
        names: names of the m answers, for error messages.

    Raises:
        InvalidInput: there are no reports, some reports are impossible, or the table does not determine some shares. In
            the last case the message lists the answers that cannot be distinguished.

    Example:
        >>> found = survey_shares([[0.75, 0.25], [0.15, 0.85]], counts=[300, 700])
        >>> found.shares.round(3).tolist(), found.errors.round(3).tolist(), found.randomization_errors.round(3).tolist()
        ([0.25, 0.75], [0.024, 0.024], [0.02, 0.02])
    """
    given = row_table(table)
    observed = _counts(given.shape[1], reports, counts)
    if observed[~given.any(axis=0)].any():
        raise InvalidInput("reports" if counts is None else "counts", "have a report that the table excludes",
                           "must come from this table")
    rule = _rule(given, prior)
    if rule.apart:
        groups = "; ".join(", ".join(_names(group, names)) for group in rule.apart)
        raise InvalidInput("table", f"no number of reports distinguishes these answers: {groups}",
                           "each answer needs a row that is not a mixture of the other rows")
    found = decoded(observed, given, rule.decoder)
    return replace(found, misfit=_misfit(observed, given, found.shares))


def _misfit(counts: NDArray[np.int64], table: _Array, shares: _Array) -> float | None:
    """Chi-square statistic of the counts against the best-fitting shares."""
    used = table.any(axis=0)
    spare = int(used.sum()) - len(table)
    if spare <= 0:
        return None
    from scipy.stats import chi2  # slow to import, and only counted reports have a misfit

    law = np.maximum(shares, 0.0)
    law = (1.0 - _EVEN) * law / law.sum() + _EVEN / law.size
    observed, expected = counts / counts.sum(), law @ table
    rest = (observed - observed @ _rule(table, law).decoder @ table)[used]
    return float(chi2.sf(counts.sum() * (rest**2 / expected[used]).sum(), spare))


def survey_errors(
    table: ArrayLike | FiniteChannel | HasChannel, prior: Prior | ArrayLike, people: int, *, sampling: bool = True
) -> _Array:
    """Standard errors of `survey_shares`, predicted before there are any data, for the comparison of survey designs.

    Args:
        table: table of one row, a channel, or an object with a `.channel`, as for `survey_shares`.
        prior: shares of the true answers, shape (m,); or a prior, of which the distribution of one row, averaged over
            the rows, is used.
        people: number n >= 1 of people in the survey. Each person reports once.
        sampling: True for shares of a population from which the people were drawn at random. False for shares among the
            people themselves, where the randomisation is the only source of error.

    Returns:
        Standard errors, shape (m,), exact if the prior has the true shares; infinity where no number of reports
        determines the share.

    Raises:
        InvalidInput: the table is no table, the prior is no distribution over its answers, or there are no people.

    Example:
        >>> survey_errors([[0.75, 0.25], [0.25, 0.75]], [0.1, 0.9], 1000).round(4).tolist()
        [0.029, 0.029]
        >>> survey_errors([[1, 0], [0, 1]], [0.1, 0.9], 1000).round(4).tolist()  # asked directly
        [0.0095, 0.0095]
    """
    given = row_table(table)
    law, n = mean_law(prior, len(given)), whole("people", people, at_least=1)
    rule = _rule(given, law)
    squares = report_squares(given, rule.decoder, law) - (law**2 if sampling else law)
    errors: _Array = np.sqrt(np.maximum(squares, 0.0) / n)
    errors[[x for group in rule.apart for x in group]] = np.inf
    return errors


def group_errors(
    table: ArrayLike | FiniteChannel | HasChannel, prior: Prior, groups: int = 1, *, sampling: bool = True
) -> _Array:
    """Standard errors of shares from groups of people who are drawn together, such as households.

    Args:
        table: table of one row, a channel, or an object with a `.channel`, as for `survey_shares`.
        prior: prior of the rows of one group, one row for each person. If the rows are independent, the people count as
            drawn one by one from the distribution of one row, averaged over the rows.
        groups: number of independent groups, >= 1.
        sampling: True for shares of a population. False for shares among the people who reported, where the
            randomisation is the only source of error.

    Returns:
        Standard errors, shape (m,); infinity where no number of reports determines the share.

    Example:
        >>> from confide.channels import Exchangeable
        >>> alike = Exchangeable.of_counts([0.5, 0.0, 0.5])  # both or none: asked directly, two say as much as one
        >>> group_errors([[1, 0], [0, 1]], alike, 100).round(4).tolist()
        [0.05, 0.05]
    """
    alone = survey_errors(table, prior, prior.records * whole("groups", groups, at_least=1), sampling=False)
    return np.sqrt(alone**2 + share_variances(prior) / groups) if sampling else alone


def share_variances(prior: Prior) -> _Array:
    """Variance, under the prior, of the fraction of the rows that have each letter, shape (m,)."""
    m, n = prior.letters, prior.records
    if isinstance(prior, IndependentRows):
        law = mean_law(prior, m)
        return np.asarray(law * (1.0 - law) / n)
    if isinstance(prior, Exchangeable):
        shares, chances = prior.types / n, np.exp(prior.log_types)
        return np.asarray(chances @ (shares - chances @ shares) ** 2)
    chances, variances = prior.vector(), np.empty(m)
    for x in range(m):
        share = np.zeros(chances.size)
        for view in axes(share, m, n):
            view[:, x] += 1.0 / n
        variances[x] = chances @ (share - chances @ share) ** 2
    return variances


def row_table(channel: ArrayLike | FiniteChannel | HasChannel) -> _Array:
    """The table of report probabilities that is common to all rows, shape (m, k).

    Raises:
        InvalidInput: the value is no table, rows go through different tables, or one table randomises all rows jointly.
    """
    within = getattr(channel, "channel", None)
    if isinstance(within, FiniteChannel):  # a mechanism, or what a file says
        channel = within
    if not isinstance(channel, FiniteChannel):
        return as_table("table", channel)  # type: ignore[arg-type]
    found = channel.table() if isinstance(channel, Channel) and channel.records == 1 else shared_table(channel)
    if found is None:
        raise InvalidInput("table", "the channel does not use one table for each row separately",
                           "must be the table of one row, or a channel that uses it for each row")
    return found


def shared_table(channel: FiniteChannel | None) -> _Array | None:
    """The table, shape (m, k), of a channel in which all rows go through the same table independently; None for other
    channels.
    """
    if isinstance(channel, RowProduct) and all(np.array_equal(each, channel.tables[0]) for each in channel.tables):
        return channel.tables[0]
    return None


def indistinguishable_letters(table: _Array) -> list[list[int]]:
    """Groups of letters for which every output has the same probability."""
    _, place = np.unique(table, axis=0, return_inverse=True)
    groups = [np.flatnonzero(place.reshape(-1) == k).tolist() for k in range(int(place.max()) + 1)]
    return sorted(group for group in groups if len(group) > 1)


def mean_law(prior: Prior | ArrayLike, letters: int) -> _Array:
    """Distribution of one row, averaged over the rows, shape (m,)."""
    if isinstance(prior, Prior):
        laws, counts = prior.marginals()
        law: _Array = counts @ laws / prior.records
    else:
        law = as_law("prior", prior)
    if law.size != letters:
        raise InvalidInput("prior", f"is over {counted(law.size, 'letter')}",
                           f"must be over {letters}, as the table is")
    return law


class _Rule(NamedTuple):
    """The decoder, shape (k, m), and the groups of letters that reports cannot distinguish. The decoder's columns have
    no meaning for letters that reports cannot distinguish.
    """

    decoder: _Array
    apart: list[list[int]]


def _rule(table: _Array, prior: Prior | ArrayLike | None) -> _Rule:
    """Weighted least squares: of all decoders A with T A = 1, the one with the least A' diag(q) A, where T is the
    table.

    If q is the distribution of a report, this decoder has the least variance of all linear unbiased estimates. The
    decoder's rows sum to 1, and so do the estimated shares.
    """
    m, k = table.shape
    law = np.full(m, 1.0 / m)
    if prior is not None:
        law = (1.0 - _EVEN) * mean_law(prior, m) + _EVEN * law
    q = law @ table
    used = q > 0
    root = np.sqrt(q[used])
    u, sizes, vt = np.linalg.svd(table[:, used] / root, full_matrices=bool(used.sum() < m))  # all m columns of u
    rank = int((sizes > 4.0 * max(m, k) * np.finfo(float).eps * sizes[0]).sum())
    decoder = np.zeros((k, m))
    decoder[used] = (vt[:rank].T / sizes[:rank]) @ u[:, :rank].T / root[:, None]
    return _Rule(decoder, _groups(u[:, rank:]))


def _groups(null: _Array) -> list[list[int]]:
    """Groups of letters with shares that can be exchanged without any effect on the reports. Letters are in one group
    if they are connected by directions in which the distribution can move without effect.
    """
    linked = np.abs(null @ null.T) > 1e-8
    left, groups = set(np.flatnonzero(linked.diagonal()).tolist()), []
    while left:
        group, edge = set(), {min(left)}
        while edge:
            group |= edge
            edge = {y for x in edge for y in np.flatnonzero(linked[x]).tolist()} - group
        groups.append(sorted(group))
        left -= group
    return groups


def _counts(kinds: int, reports: Any, counts: ArrayLike | None) -> NDArray[np.int64]:
    exactly_one(reports=reports, counts=counts)
    if counts is None:
        answers = as_letters(reports, kinds, field="reports", kind="a report")
        found = np.bincount(answers, minlength=kinds)
    else:
        found = np.asarray(counts)
        if found.shape != (kinds,) or found.dtype.kind not in "iu" or (found < 0).any():
            raise InvalidInput("counts", f"an array of shape {found.shape} and type {found.dtype}",
                               f"must be {kinds} whole numbers >= 0")
    if not found.any():
        raise InvalidInput("reports" if counts is None else "counts",
                           "there are no reports, so nothing can be estimated")
    return found.astype(np.int64)


def _names(group: list[int], names: Sequence[str]) -> list[str]:
    words = [names[x] if names else str(x) for x in group[:_SHOWN]]
    return words if len(group) <= _SHOWN else [*words, f"and {len(group) - _SHOWN} others"]


# ---- usefulness

_LISTED = 30  # letters on a page


@dataclass(frozen=True, kw_only=True, eq=False)
class Usefulness:
    """Standard errors of estimated shares, for people drawn at random from a population with the prior's shares. If the
    rows of the prior are dependent, the errors are for groups of people who are drawn together.

    Args:
        people: number of people in a group; each person reports once.
        groups: number of groups, which are drawn independently.
        together: whether the rows of the people in a group depend on each other.
        names: names of the letters, or their numbers, shape (m,).
        shares: share of each letter under the prior, shape (m,).
        direct: standard errors of direct questions, without randomisation, shape (m,).
        errors: standard errors with the channel's randomised reports, shape (m,); infinite where the share cannot be
            estimated.
        alone: standard errors of the shares among the people who reported, shape (m,). For these shares the
            randomisation is the only source of error.
        epsilon: the channel's differential privacy, in nats.
        response: standard errors of randomised response with the same `epsilon`, shape (m,).
        as_useful: epsilon of the randomised response that has the same largest error as this channel. The epsilon is
            infinite where the channel is as exact as direct questions, and nan where some share cannot be estimated.
        least: mapping from a notion of privacy to the name of the mechanism with the least level in this notion at the
            same distortion, and the standard errors with this mechanism, shape (m,).
    """

    people: int
    groups: int
    together: bool
    names: tuple[str, ...]
    shares: _Array
    direct: _Array
    errors: _Array
    alone: _Array
    epsilon: float
    response: _Array
    as_useful: float
    least: Mapping[Notion, tuple[str, _Array]]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary of all numbers, in which infinite numbers stay floats."""
        return {"people": self.people, "groups": self.groups, "letters": list(self.names),
                "shares": self.shares.tolist(),
                "asked_directly": self.direct.tolist(), "this_channel": self.errors.tolist(),
                "among_these_people": self.alone.tolist(),
                "randomised_response": {"errors_at_same_epsilon": self.response.tolist(), "epsilon": self.epsilon,
                                        "epsilon_at_same_largest_error": self.as_useful},
                "least": {notion.replace("-", "_"): {"mechanism": name, "errors": errors.tolist()}
                          for notion, (name, errors) in self.least.items()}}

    def section(self) -> Section:
        """Section of the page about usefulness, with text and a table."""
        listed = np.argsort(-self.shares, kind="stable")[:_LISTED]
        listed.sort()
        others = self._columns()
        own = {"this channel": self.errors}
        if self.together:
            own["among these people"] = self.alone
        if math.isfinite(self.epsilon):
            own["randomised response, same epsilon"] = self.response
        columns = (self.shares, self.direct, *own.values(), *others.values())
        rows = tuple((self.names[x], *(_cell(float(column[x])) for column in columns)) for x in listed.tolist())
        note = "" if listed.size == self.shares.size else f"The {_LISTED} likeliest of {self.shares.size:,} values."
        table = Table(columns=("value", "share", "asked directly", *own, *others), rows=rows, note=note)
        return Section(title="How useful it is", blocks=(Text(tuple(self._words())), table, *self._rivals()))

    def _rivals(self) -> list[Block]:
        """Comparison of this channel with randomised response, which says whether randomised response is better in both
        privacy and error.
        """
        largest = float(self.errors.max())
        if math.isinf(largest) or math.isnan(self.as_useful) or not (self.epsilon > 0 and largest > 0):
            return []
        rows: list[tuple[str | float | None, ...]] = [("this channel", None, self.epsilon, largest)]
        if math.isfinite(self.epsilon):
            rows.append(("randomised response, same epsilon", self._truth(self.epsilon), self.epsilon,
                         _cell(float(self.response.max()))))
        rows.append(("randomised response, same error", self._truth(self.as_useful), self.as_useful, largest))
        table = Table(columns=("design", "probability of the truth", "epsilon", "largest error of a share"),
                      rows=tuple(rows),
                      note="Randomised response gives the true value with this probability, and otherwise another "
                      "value, each with the same probability.")
        if self.as_useful < self.epsilon * (1.0 - 1e-6):
            verdict = ("Randomised response is better, since it has the same error at a lower epsilon. This design "
                       "needs another reason.")
        elif self.as_useful > self.epsilon * (1.0 + 1e-6):
            verdict = "This channel is better, since randomised response needs a larger epsilon for the same error."
        else:
            verdict = "This channel is as good as randomised response."
        return [Text(("Is there a better design? " + verdict,)), table]

    def _truth(self, epsilon: float) -> float:
        return 1.0 / (1.0 + (len(self.names) - 1) * math.exp(-epsilon))

    def _columns(self) -> dict[str, _Array]:
        """Mapping from heading to errors. Notions for which the same mechanism has the least level share a column."""
        found: dict[str, _Array] = {}
        for name, errors in self.least.values():
            notions = [notion for notion, (other, same) in self.least.items()
                       if other == name and np.array_equal(same, errors)]
            found[f"{name}, least {' and '.join(notion.replace('-', ' ') for notion in notions)}"] = errors
        return found

    def _words(self) -> list[str]:
        if self.together:
            many = "One group" if self.groups == 1 else f"{self.groups:,} independent groups"
            words = [f"{many} of {self.people:,} people who are drawn together, with the dependence of the prior, "
                     "report once each. The table has the standard error of each share in the population, and the "
                     "standard error among these people, which comes from the randomisation alone. Levels and risk are "
                     "those of one group."]
        else:
            who = f"{self.people * self.groups:,} people" if self.people * self.groups > 1 else "One person"
            words = [f"{who} drawn at random from a population with these shares report once each. The table has the "
                     "standard error of each share that is estimated from the reports."]
        if self.groups == 1 and (self.people == 1 or self.together):
            words.append(f"For more {'groups' if self.together else 'people'}, divide by the square root of their "
                         "number.")
        some = np.flatnonzero((self.direct > 0) & np.isfinite(self.errors))
        if np.isinf(self.errors).any():
            words.append("Some values give such similar reports that no number of reports gives their shares.")
        elif some.size:
            worth = (self.direct[some] / self.errors[some]) ** 2
            worst = np.lexsort((self.shares[some], worth.round(9)))[0]  # two letters are worth the same
            words.append(f"At worst, for the share of {self.names[some[worst]]}, direct answers of "
                         f"{number(100 * float(worth[worst]))}% of these people would give the same information.")
        if self.least:
            words.append("The table also has the mechanisms with the least levels at the same number of changed rows. "
                         "They may turn rare values into likely values, or all values into one value, and such reports "
                         "give no information about shares.")
        return words


def usefulness(
    channel: FiniteChannel, prior: Prior, names: Sequence[str],
    least: Mapping[Notion, tuple[str, FiniteChannel | None]], *, epsilon: float, groups: int = 1,
) -> Usefulness:
    """The standard errors of a channel in which all rows go through the same table.

    Args:
        channel: the randomisation.
        prior: prior of the rows of a group. The distribution of one row, averaged over the rows, gives the shares of
            the population.
        names: names of the letters; if empty, the numbers of the letters serve as names.
        least: mapping from a notion of privacy to the name of a mechanism and the mechanism's channel. Channels in
            which rows go through different tables are left out.
        epsilon: the channel's differential privacy, in nats.
        groups: number of groups, drawn independently.
    """
    m = channel.letters
    beside = {notion: (name, group_errors(other, prior, groups)) for notion, (name, other) in least.items()
              if other is not None and shared_table(other) is not None}
    errors = group_errors(channel, prior, groups)
    return Usefulness(
        people=channel.records, groups=groups, together=not isinstance(prior, IndependentRows) and channel.records > 1,
        names=tuple(names) or tuple(str(x) for x in range(m)), shares=mean_law(prior, m),
        direct=np.sqrt(share_variances(prior) / groups), errors=errors,
        alone=group_errors(channel, prior, groups, sampling=False), epsilon=epsilon,
        response=group_errors(row_kernel(epsilon, m), prior, groups), as_useful=_as_useful(errors, prior, groups),
        least=beside)


def _as_useful(errors: _Array, prior: Prior, groups: int) -> float:
    """Epsilon of the randomised response with the same largest error as the given errors. The largest error falls as
    epsilon grows.
    """
    from scipy.optimize import brentq

    largest = float(errors.max())
    if math.isinf(largest):
        return math.nan

    def excess(epsilon: float) -> float:
        return float(group_errors(row_kernel(epsilon, prior.letters), prior, groups).max()) - largest

    low, high = 1e-5, 40.0
    if excess(high) >= -1e-12 * largest:
        return math.inf
    return low if excess(low) <= 0 else float(brentq(excess, low, high, xtol=1e-12))


def _cell(value: float) -> str | float:
    return value if math.isfinite(value) else "cannot be estimated"

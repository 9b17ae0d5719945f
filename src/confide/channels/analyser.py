"""The function `analyse` computes every privacy level of a channel under a prior, and checks that the levels do not
contradict each other.

Source: Wang 2016, Definitions 1 to 4; spec privacy_notions 1.1.

If all rows go through the same table and the prior is exchangeable, the levels are computed from the numbers of rows
with each letter, without the tables of `JointTypes`.

Source: spec privacy_notions 1.1 (structured channels).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from confide.channels.channel import Channel, ExponentialForm, FiniteChannel, JointTypeChannel, RowProduct
from confide.channels.constants import prior_level
from confide.channels.kernels import axes, column_blocks, distances_sum, h, ratio
from confide.channels.priors import Exchangeable, IndependentRows, Prior, as_prior, entropy
from confide.contract.errors import SolverFailed, Unsupported
from confide.contract.wire import parts_of, wire

__all__ = [
    "LARGEST_ALIKE",
    "ChannelReport",
    "analyse",
    "largest_change",
    "letter_posteriors",
    "output_logs",
    "row_pairs",
]

# ---- alike rows

LARGEST_ALIKE = 6000
"""Largest number of rows for which `output_logs` computes the distribution of the output. At this number of rows the
computation takes some 10^10 multiplications.
"""

_Vector = NDArray[np.float64]
_AT_ONCE = 2**21  # pairs of an input and an output: 16 MiB for each of their numbers


def letter_posteriors(table: _Vector, prior: Exchangeable) -> _Vector:
    """Logarithms of p(x) Q(y|x) for one row, where p is the prior and Q the channel, shape (l, k, m). Entry (i, b, a)
    is for the i-th composition of the other rows' letters, the row's output b and the row's letter a. For each i the
    probabilities are correct up to a common factor.

    Args:
        table: probabilities of one row's outputs for each of its letters, shape (m, k).
        prior: prior of all rows.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(prior.last_row_logs[:, None, :] + np.log(table).T[None])


def output_logs(table: _Vector, prior: Exchangeable) -> tuple[_Vector, _Vector]:
    """Logarithm of the probability of one particular output with k ones, and total probability of all outputs with k
    ones. Ones are rows with letter 1. Both arrays have an entry for each k = 0..n, shape (n + 1,).

    Args:
        table: probabilities of one row's outputs for each of its letters, shape (2, 2).
        prior: exchangeable prior over two letters.

    Raises:
        Unsupported: more than 6,000 rows.
    """
    from scipy.stats import binom  # slow to import, and most channels need no law of numbers of ones

    n = prior.records
    if n > LARGEST_ALIKE:
        raise Unsupported("records", f"the law of the output for {n:,} correlated rows ({n**3 / 6:.2g} products)",
                          f"at most {LARGEST_ALIKE:,} rows")
    counts = np.zeros(n + 1)  # of outputs that are 1
    for ones, share in zip(prior.types[:, 1].tolist(), np.exp(prior.log_types).tolist(), strict=True):
        if share > 0:
            counts += share * np.convolve(binom.pmf(np.arange(ones + 1), ones, table[1, 1]),
                                          binom.pmf(np.arange(n - ones + 1), n - ones, table[0, 1]))
    k = np.arange(n + 1)
    with np.errstate(divide="ignore"):
        logs = np.log(counts) - gammaln(n + 1) + gammaln(k + 1) + gammaln(n - k + 1)
    return logs, counts


def largest_change(table: _Vector, prior: Exchangeable, outputs: _Vector) -> float:
    """The largest |ln Q(y|x)/p_Y(y)| over all inputs x and outputs y, in nats. Here Q(y|x) is the probability of output
    y for input x, and p_Y(y) the probability of output y under the prior.

    Ones are rows with letter 1. For a given number of ones in the input and a given number of ones in the output, the
    change is largest if as few rows as possible, or as many rows as possible, are ones in both.

    Args:
        table: probabilities of one row's outputs for each of its letters, shape (2, 2).
        prior: exchangeable prior over two letters.
        outputs: logarithm of the probability of one particular output with b ones, for b = 0..n, shape (n + 1,).
    """
    n = prior.records
    inputs, b = prior.types[np.isfinite(prior.log_sequence), 1], np.flatnonzero(outputs > -np.inf)[None]
    step = max(1, _AT_ONCE // b.size)
    return max((_change(table, n, inputs[at:at + step, None], b, outputs) for at in range(0, inputs.size, step)),
               default=0.0)


def _change(table: _Vector, n: int, a: NDArray[np.int64], b: NDArray[np.int64], outputs: _Vector) -> float:
    worst = 0.0
    for common in (np.maximum(0, a + b - n), np.minimum(a, b)):
        logs = np.zeros(common.shape)
        for letter, output, count in ((1, 1, common), (1, 0, a - common), (0, 1, b - common),
                                      (0, 0, n - a - b + common)):
            chance = table[letter, output]
            logs = logs + (count * np.log(chance) if chance > 0 else np.where(count > 0, -np.inf, 0.0))
        worst = max(worst, float(np.abs(logs - outputs[b]).max()))
    return worst


# ---- analyser

_SLACK = 1e-9
_EACH = 1e-14  # rounding of one row, in what adds up over rows
_Index = NDArray[np.int64]


@wire("ChannelReport", "dp identifiability mutual_information distortion adversary_success information_privacy "
      "prior_level")
@dataclass(frozen=True, kw_only=True)
class ChannelReport:
    """Privacy levels and distortion of one channel under one prior. All levels are in nats.

    Args:
        dp: differential privacy: the largest log ratio of the probabilities of one output under neighbouring databases.
        identifiability: the largest log ratio of the posterior probabilities of two neighbouring databases.
        mutual_information: I(X;Y), mutual information of the database X and the output Y, in nats.
        distortion: expected number of changed rows; None where outputs are not databases.
        adversary_success: largest probability with which an attacker who knows all rows but one guesses that row's
            letter, over all outputs.
        information_privacy: the largest |ln Q(y|x)/p_Y(y)| over inputs x and outputs y. Here Q(y|x) is the probability
            of output y for input x, and p_Y(y) the probability of output y under the prior.
        prior_level: eps_X of the prior, the largest log ratio of the prior probabilities of neighbouring databases.
    """

    dp: float
    identifiability: float
    mutual_information: float
    distortion: float | None
    adversary_success: float
    information_privacy: float
    prior_level: float

    @property
    def bits(self) -> float:
        """Mutual information I(X;Y) in bits."""
        return self.mutual_information / math.log(2.0)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary of all levels and the mutual information in bits."""
        return {**parts_of(self), "bits": self.bits}


def analyse(channel: FiniteChannel | ArrayLike, prior: Prior | ArrayLike) -> ChannelReport:
    """Measure a channel under a prior: privacy levels, mutual information and distortion.

    Args:
        channel: channel in any form, or the table of one row, shape (m, outputs).
        prior: prior of the database, or anything that `as_prior` accepts for the channel's m and n.

    Returns:
        All levels. Outputs that no input produces are ignored. If an output has probability 0 under one input and a
        positive probability under a neighbour, `dp` is infinite. If this neighbour is possible under the prior,
        `identifiability` is infinite too.

    Raises:
        InvalidInput: the channel is no channel, the prior is no probability distribution, or their sizes differ.
        SolverFailed: two of the computed numbers contradict each other, which happens in no correct analysis.

    Example:
        >>> report = analyse([[0.6, 0.4], [0.4, 0.6]], [0.55, 0.45])
        >>> round(report.dp, 4), round(report.identifiability, 4), round(report.adversary_success, 4)
        (0.4055, 0.6061, 0.6471)
    """
    it = channel if isinstance(channel, FiniteChannel) else Channel(channel)
    law = as_prior(prior, it.letters, it.records)
    match it:
        case RowProduct():
            found = _of_rows(it, law)
        case ExponentialForm():
            found = _of_exponential(it, law)
        case JointTypeChannel() if isinstance(law, Exchangeable):
            found = _of_types(it, law)
        case _:
            found = _of_table(it.table(), law)
    _check(found, law)
    return found


# ---- a table


def _of_table(table: _Vector, prior: Prior) -> ChannelReport:
    m, n, law = prior.letters, prior.records, prior.vector()
    with np.errstate(divide="ignore"):
        log_law = np.log(law)
    square, places = table.shape[0] == table.shape[1], np.arange(table.shape[1])
    dp = ident = information = success = largest = kept = 0.0
    done = 0
    for block in column_blocks(table):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(block)
            weight = law[:, None] * block
            outputs = weight.sum(axis=0)
            against = logs - np.log(outputs)
            information += float(np.where(weight > 0, weight * against, 0.0).sum())
        largest = max(largest, float(np.abs(against[law > 0][:, outputs > 0]).max(initial=0.0)))
        joint = logs + log_law[:, None]
        here = places[done : done + block.shape[1]]
        done += block.shape[1]
        for i in range(n):
            shape = (m**i, m, m ** (n - i - 1) * block.shape[1])
            dp, ident = max(dp, _spread(logs.reshape(shape))), max(ident, _spread(joint.reshape(shape)))
            view = weight.reshape(shape)
            total, top = view.sum(axis=1), view.max(axis=1)
            with np.errstate(invalid="ignore"):
                success = max(success, float(np.nanmax(top / total, initial=0.0)))
            if square:  # row by row, the probability that the letter is kept
                alike = weight.reshape(m**i, m, -1, block.shape[1]).sum(axis=(0, 2))
                kept += float(alike[(here // m ** (n - i - 1)) % m, np.arange(len(here))].sum())
    return ChannelReport(dp=dp, identifiability=ident, mutual_information=max(0.0, information),
                         distortion=max(0.0, n - kept) if square else None, adversary_success=success,
                         information_privacy=largest, prior_level=prior_level(prior))


def _spread(view: _Vector) -> float:
    """The largest difference of two logarithms along axis 1. Lines with minus infinity throughout are skipped."""
    top, bottom = view.max(axis=1), view.min(axis=1)
    if bottom.min(initial=0.0) == -np.inf:
        possible = top > -np.inf
        top, bottom = top[possible], bottom[possible]
    return float((top - bottom).max(initial=0.0))


# ---- a product of rows


def _of_rows(channel: RowProduct, prior: Prior) -> ChannelReport:
    if not isinstance(prior, IndependentRows):
        if isinstance(prior, Exchangeable) and len(channel.tables) == 1 and channel.tables[0].shape == (2, 2):
            return _of_alike_bits(channel.tables[0], prior)
        return _of_rows_correlated(channel, prior)
    pairs, counts = row_pairs(prior, channel)
    return _of_letters(prior, channel, pairs, counts)


def _of_letters(prior: IndependentRows, channel: RowProduct, pairs: _Index, counts: _Index) -> ChannelReport:
    """Report for independent rows: worst cases are those of single rows, and averages add up over the rows."""
    dp = ident = success = high = low = 0.0
    information, kept = [], []
    for which, tables in _stacks(channel, pairs):
        laws, many = prior.laws[pairs[0, which]], counts[which]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(tables)
            dp, ident = max(dp, _spread(logs)), max(ident, _spread(logs + np.log(laws)[:, :, None]))
            weight = laws[:, :, None] * tables
            outputs = weight.sum(axis=1)
            against = logs - np.log(outputs)[:, None]
            information.append(float(many @ np.where(weight > 0, weight * against, 0.0).sum(axis=(1, 2))))
            success = max(success, float(np.nanmax(weight.max(axis=1) / outputs)))
        # Extremes of a sum of independent terms are sums of extremes; of both signs.
        reached = (laws > 0)[:, :, None] & (outputs > 0)[:, None]
        high += float(many @ np.where(reached, against, -np.inf).max(axis=(1, 2)))
        low += float(many @ np.where(reached, against, np.inf).min(axis=(1, 2)))
        if tables.shape[1] == tables.shape[2]:
            kept.append(float(many @ np.maximum(0.0, 1.0 - weight.trace(axis1=1, axis2=2))))
    return ChannelReport(
        dp=dp, identifiability=ident, mutual_information=max(0.0, math.fsum(information)),
        distortion=math.fsum(kept) if len(kept) == len(information) else None, adversary_success=success,
        information_privacy=max(high, -low), prior_level=prior_level(prior))


def _stacks(channel: RowProduct, pairs: _Index) -> Iterator[tuple[_Index, _Vector]]:
    """Batches of (law, table) pairs: the places of pairs with tables of one shape, and these tables as one array. The
    number of tables in a batch is limited.
    """
    widths = np.array([table.shape[1] for table in channel.tables])[pairs[1]]
    for width in np.unique(widths).tolist():
        alike = np.flatnonzero(widths == width)
        step = max(1, _AT_ONCE // (channel.letters * width))
        for start in range(0, len(alike), step):
            which = alike[start : start + step]
            yield which, np.stack([channel.tables[k] for k in pairs[1, which].tolist()])


def row_pairs(prior: IndependentRows, channel: RowProduct) -> tuple[_Index, _Index]:
    """Distinct pairs of a row's distribution and the row's table, shape (2, u), and the number of rows with each pair,
    shape (u,). A pair holds positions in `prior.laws` and in `channel.tables`.
    """
    many = len(channel.tables)
    codes, counts = np.unique(prior.law_of_row() * many + channel.which, return_counts=True)
    return np.stack([codes // many, codes % many]), counts


def _of_rows_correlated(channel: RowProduct, prior: Prior) -> ChannelReport:
    m, n, law = prior.letters, prior.records, prior.vector()
    tables = [channel.tables[k] for k in channel.which]
    with np.errstate(divide="ignore"):
        logs = [np.log(table) for table in channel.tables]
        prior_logs = np.log(law)
    dp = max(_spread(each[None]) for each in logs)
    ident = success = 0.0
    outputs, noise, kept = law, 0.0, 0.0
    square = all(table.shape[0] == table.shape[1] for table in channel.tables)
    for i, (view, log_view) in enumerate(zip(axes(law, m, n), axes(prior_logs, m, n), strict=True)):
        table, log_table = tables[i], logs[channel.which[i]]
        for y in range(table.shape[1]):
            joint = log_view + log_table[:, y][None, :, None]
            ident = max(ident, _spread(joint))
            mass = view * table[:, y][None, :, None]
            total = mass.sum(axis=1)
            if (total > 0).any():
                success = max(success, float((mass.max(axis=1)[total > 0] / total[total > 0]).max()))
        marginal = view.sum(axis=(0, 2))
        noise += float(sum(share * entropy(row) for share, row in zip(marginal, table, strict=True)))
        if square:
            kept += float(marginal @ np.diag(table))
    for i in range(n):  # outputs of the rows before i, letters of the others
        done = int(np.prod([table.shape[1] for table in tables[:i]], dtype=np.int64))
        outputs = np.einsum("amb,mk->akb", outputs.reshape(done, m, -1), tables[i]).reshape(-1)
    information = max(0.0, entropy(outputs) - noise)
    extremes = _extremes(tables, law, outputs) if law.size * outputs.size <= 2**24 else math.nan
    return ChannelReport(
        dp=dp, identifiability=ident, mutual_information=information, distortion=max(0.0, n - kept) if square else None,
        adversary_success=success, information_privacy=extremes, prior_level=prior_level(prior),
    )


def _extremes(tables: list[_Vector], law: _Vector, outputs: _Vector) -> float:
    table: _Vector = np.ones((1, 1))
    for each in tables:
        table = np.asarray(np.kron(table, each), dtype=np.float64)
    used = outputs > 0
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(table[law > 0][:, used]) - np.log(outputs[used])).max())


def _of_alike_bits(table: _Vector, prior: Exchangeable) -> ChannelReport:
    joint, n = letter_posteriors(table, prior), prior.records
    marginal = prior.marginals()[0][0]
    spread = _spread(np.moveaxis(joint, 2, 1))
    top = joint.max(axis=2, keepdims=True)
    total = np.exp(joint - np.where(top > -np.inf, top, 0.0)).sum(axis=2)
    logs, counts = output_logs(table, prior)
    inside = counts > 0
    noise = n * float(sum(share * entropy(row) for share, row in zip(marginal, table, strict=True)))
    with np.errstate(divide="ignore"):
        own = _spread(np.log(table)[None])
    return ChannelReport(
        dp=own, identifiability=spread, mutual_information=max(0.0, -float(counts[inside] @ logs[inside]) - noise),
        distortion=n * float(marginal @ (1.0 - np.diag(table))), adversary_success=float(1.0 / total[total > 0].min()),
        information_privacy=largest_change(table, prior, logs), prior_level=prior_level(prior))


# ---- the exponential form


def _of_exponential(channel: ExponentialForm, prior: Prior) -> ChannelReport:
    """Report for an exponential form Q(y|x) = q(y) r^d(x,y) / Z(x), where d counts changed rows and lambda = -ln r.

        ln Q(y|x) - ln Q(y|x') = ln Z(x') - ln Z(x) + lambda (d(x',y) - d(x,y))

    The identity shows that the levels depend only on Z and on the letters that outputs of positive weight have in each
    row.
    """
    m, n, law, q, level = prior.letters, prior.records, prior.vector(), channel.weights, channel.level
    r, normaliser = ratio(level), channel.normaliser
    if not (normaliser > 0).all():
        raise Unsupported("channel", "a level too large for 64-bit floats",
                          "at this level, some inputs have no possible output")
    log_z = np.log(normaliser)
    with np.errstate(divide="ignore"):
        log_p = np.log(law)
    dp = max(_edges(view, _used(q, i, m), level) for i, view in enumerate(axes(-log_z, m, n)))
    ident = max(_edges(view, _used(q, i, m), level) for i, view in enumerate(axes(log_p - log_z, m, n)))
    back = distances_sum(law / normaliser, r, m, n)
    outputs = q * back
    # E d = lambda-derivative: row by row, the probability that the letter is kept.
    changed = _changed(law / normaliser, q, r, m, n)
    inside = q > 0
    information = float(-level * changed - law @ log_z - np.sum(outputs[inside] * np.log(back[inside])))
    success = max(_best_guess(view, _used(q, i, m), r) for i, view in enumerate(axes(law / normaliser, m, n)))
    privacy = math.nan
    if q.size <= 4096:
        with np.errstate(divide="ignore"):
            table = channel.table()[law > 0][:, inside]
            privacy = float(np.abs(np.log(table) - np.log(outputs[inside])).max())
    return ChannelReport(dp=dp, identifiability=ident, mutual_information=max(0.0, information), distortion=changed,
                         adversary_success=success, information_privacy=privacy, prior_level=prior_level(prior))


def _used(weights: _Vector, row: int, letters: int) -> NDArray[np.bool_]:
    """Whether each letter occurs in the given row of some output of positive weight, shape (m,)."""
    used: NDArray[np.bool_] = weights.reshape(letters**row, letters, -1).max(axis=(0, 2)) > 0
    return used


def _edges(view: _Vector, used: NDArray[np.bool_], level: float) -> float:
    """The largest difference between the entries of letters a and b in one row, plus an allowance that depends on the
    possible outputs. The allowance is lambda if some output has letter a in this row, and -lambda if all outputs have
    letter b in it. In all other cases the allowance is 0.
    """
    letters, worst = view.shape[1], 0.0
    if (view.min() == -np.inf) and (view.max() > -np.inf):
        rows = view.max(axis=1) > -np.inf
        if (view.min(axis=1)[rows] == -np.inf).any():
            return math.inf
    for a in range(letters):
        for b in range(letters):
            if a == b:
                continue
            if used[a]:
                bonus = level
            elif used[[c for c in range(letters) if c not in (a, b)]].any():
                bonus = 0.0
            else:
                bonus = -level
            with np.errstate(invalid="ignore"):
                difference = view[:, a] - view[:, b]
            worst = max(worst, float(np.nanmax(difference)) + bonus)
    return worst


def _best_guess(view: _Vector, used: NDArray[np.bool_], r: float) -> float:
    """The largest posterior probability of a letter in one row. For an output with letter c in this row, the weights of
    all letters other than c are multiplied by r.
    """
    best = 0.0
    for c in np.flatnonzero(used):
        scale = np.full(view.shape[1], r)
        scale[c] = 1.0
        mass = view * scale[None, :, None]
        total = mass.sum(axis=1)
        possible = total > 0
        if possible.any():
            best = max(best, float((mass.max(axis=1)[possible] / total[possible]).max()))
    return best


def _changed(left: _Vector, right: _Vector, r: float, letters: int, rows: int) -> float:
    """Sum over x and y of left(x) r^d(x,y) d(x,y) right(y). The sum is r times the derivative of the kernel sum in r,
    and one sweep of the vector carries both the sum and the derivative.
    """
    value, slope = np.array(right), np.zeros_like(right)
    for view, derivative in zip(axes(value, letters, rows), axes(slope, letters, rows), strict=True):
        total, moved = view.sum(axis=1, keepdims=True), derivative.sum(axis=1, keepdims=True)
        others = r * (total - view)
        derivative[...] = (1.0 - r) * derivative + r * moved + others
        view[...] = (1.0 - r) * view + r * total
    return float(left @ slope)


# ---- joint types


def _of_types(channel: JointTypeChannel, prior: Exchangeable) -> ChannelReport:
    types, logs, sequence = channel.types, channel.log_sequence, prior.log_sequence[channel.types.inputs]
    first, second, *_ = types.neighbours
    mass = np.exp(prior.log_types)[types.inputs] * channel.probabilities
    ways = gammaln(prior.records + 1) - gammaln(prior.types + 1).sum(axis=1)  # ln of the databases of a type
    with np.errstate(divide="ignore", invalid="ignore"):
        outputs = np.log(np.bincount(types.outputs, mass)) - ways  # of one output
        against = logs - outputs[types.outputs]
    inside = mass > 0
    reached = (sequence > -np.inf) & (outputs > -np.inf)[types.outputs]
    return ChannelReport(
        dp=_steps(logs, first, second), identifiability=_steps(logs + sequence, first, second),
        mutual_information=max(0.0, float(mass[inside] @ against[inside])), distortion=float(mass @ types.changed),
        adversary_success=_types_guess(channel, logs + sequence),
        information_privacy=float(np.abs(against[reached]).max()), prior_level=prior_level(prior))


def _steps(logs: _Vector, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """The largest difference between neighbours. Pairs in which both databases are impossible are skipped."""
    a, b = logs[first], logs[second]
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(np.abs(a - b), initial=0.0))


def _types_guess(channel: JointTypeChannel, joint: _Vector) -> float:
    """The largest posterior probability of one row's letter given the other rows, over the other rows' joint types and
    the letter that was released for the row.
    """
    m, best = channel.letters, 0.0
    for b in range(m):
        codes, logs = [], []
        for a in range(m):
            have = np.flatnonzero(channel.types.counts[:, a, b])
            rest = channel.types.counts[have]
            rest[:, a, b] -= 1
            codes.append(rest.reshape(len(have), -1))
            logs.append(joint[have])
        _, place = np.unique(np.concatenate(codes), axis=0, return_inverse=True)
        place, value = place.reshape(-1), np.concatenate(logs)
        top = np.full(int(place.max()) + 1, -np.inf)
        np.maximum.at(top, place, value)
        possible = top[place] > -np.inf
        total = np.bincount(place[possible], np.exp(value[possible] - top[place[possible]]), len(top))
        best = max(best, float(1.0 / total[total > 0].min()))
    return best


# ---- relations that every correct analysis keeps


def _check(found: ChannelReport, prior: Prior) -> None:
    """Raise `SolverFailed` where two numbers of a report contradict each other."""
    if not prior.positive:
        return
    m, n, eps = prior.letters, prior.records, found.prior_level

    def at_most(name: str, low: float, high: float) -> None:
        if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
            return
        if low > high + _SLACK * (1.0 + abs(high)) + _EACH * n:
            raise SolverFailed("analyse", f"{name}: {low:.12g} exceeds {high:.12g}")

    at_most("identifiability", found.identifiability, found.dp + eps)
    at_most("differential privacy", found.dp, found.identifiability + eps)
    at_most("prior level", eps, found.identifiability)
    at_most("mutual information", found.mutual_information, n * found.dp)
    at_most("adversary's success", found.adversary_success, 1.0 / (1.0 + (m - 1) * math.exp(-found.identifiability)))
    at_most("differential privacy", found.dp, 2 * found.information_privacy)
    at_most("mutual information", found.mutual_information, found.information_privacy)
    if found.distortion is not None:
        at_most("h of identifiability", h(found.identifiability, m, n), found.distortion)
        at_most("h of differential privacy", h(found.dp + eps, m, n), found.distortion)

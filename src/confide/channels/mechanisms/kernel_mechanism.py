"""The kernel mechanism E_i: given its release, the true database is distributed like a randomised response of the
release. For any prior, also with dependent rows, no release with the same distortion has less identifiability or less
information.

The mechanism draws an output Y such that, given Y, each row of the true database X equals the same row of Y with one
common probability, independently of the other rows. If the row differs, each other letter is equally likely: X = Y +
noise. A distribution of the output Y exists at every level from the prior's kernel level on.

Source: Wang 2016, (2.21), Lemma 10, Theorem 2; spec privacy_notions 2 and 4.

If a table of all databases is too large, the kernel mechanism is drawn row by row, or by counts of letters. Such draws
are for simulation only.

Source: spec privacy_notions 4 ("generic E_i", "exchangeable m=2").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from confide.channels.analyser import ChannelReport, analyse
from confide.channels.channel import ExponentialForm
from confide.channels.constants import alternating_sums, kernel_inverse_law, kernel_level, prior_level
from confide.channels.kernels import entropy_of_row, h, inverse_kernel, ratio
from confide.channels.mechanisms.base import FittedMechanism
from confide.channels.mechanisms.coded import CodedRows, CodedTable, as_rows
from confide.channels.mechanisms.integer_tables import integer_table
from confide.channels.notions import Infeasible
from confide.channels.priors import LARGEST_FULL, Exchangeable, IndependentRows, Prior
from confide.contract.errors import Unsupported
from confide.contract.guarantees import Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import as_stream

__all__ = ["KernelMechanism", "draw_counts", "draw_in_turn"]

# ---- sequential


def draw_in_turn(
    rows: NDArray[np.int64], weights: NDArray[np.float64], r: float, letters: int, noise: Noise, stream: Stream
) -> NDArray[np.int64]:
    """Draw an output y with probability proportional to q(y) r^d(x,y), one row after another. Here d(x,y) counts the
    rows in which x and y differ.

    Args:
        rows: the true database x, shape (n,).
        weights: weights q of the outputs, shape (m^n,).
        r: weight of one changed row, in (0, 1].
        letters: number m of letters, which are the values that a row can have.
        noise: source of randomness.
        stream: name of the random streams; row i draws from the stream (stream, i).
    """
    name, n = as_stream(stream), len(rows)
    sums = [weights]  # sums[-1 - i]: over all rows from i on, weighted
    for letter in rows[::-1]:
        split = sums[-1].reshape(-1, letters)
        sums.append(r * split.sum(axis=1) + (1.0 - r) * split[:, letter])
    out, at = np.empty(n, dtype=np.int64), 0
    for i, letter in enumerate(rows):
        chances = sums[n - 1 - i].reshape(-1, letters)[at].copy()
        chances[np.arange(letters) != letter] *= r
        out[i] = _one(chances, noise, (*name, i))
        at = at * letters + int(out[i])
    return out


def draw_counts(
    rows: NDArray[np.int64], log_sequence: NDArray[np.float64], epsilon: float, noise: Noise, stream: Stream
) -> NDArray[np.int64]:
    """Draw an output by counts, for an exchangeable prior over two letters. The first draw gives the numbers of ones
    that stay and of zeros that become ones. The second draw selects the rows in which a one stays or a zero becomes a
    one.

    Args:
        rows: the true database x, zeros and ones, shape (n,).
        log_sequence: logarithm of the probability of one sequence with k ones, for k = 0..n, shape (n + 1,).
        epsilon: level of the kernel, in nats.
        noise: source of randomness.
        stream: name of the random streams. The counts are drawn from the stream (stream, "counts"), and the rows that
            change from (stream, "places").
    """
    name, n, ones = as_stream(stream), len(rows), int(rows.sum())
    masses, _ = alternating_sums(log_sequence, epsilon)
    kept, turned = np.meshgrid(np.arange(ones + 1), np.arange(n - ones + 1), indexing="ij")
    with np.errstate(divide="ignore"):
        logs = (_choose(ones, kept) + _choose(n - ones, turned) - epsilon * (ones - kept + turned)
                + np.log(np.maximum(masses, 0.0))[kept + turned])
    flat = logs.reshape(-1)
    at = int(np.flatnonzero(flat > -np.inf)[noise.selection(flat[flat > -np.inf], stream=(*name, "counts"))[0]])
    order = np.argsort(noise.laplace(1.0, n, stream=(*name, "places")), kind="stable")
    out = np.zeros(n, dtype=np.int64)
    out[order[rows[order] == 1][: int(kept.reshape(-1)[at])]] = 1
    out[order[rows[order] == 0][: int(turned.reshape(-1)[at])]] = 1
    return out


def _one(chances: NDArray[np.float64], noise: Noise, stream: tuple[str | int, ...]) -> int:
    possible = np.flatnonzero(chances > 0)
    return int(possible[noise.selection(np.log(chances[possible]), stream=stream)[0]])


def _choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


# ---- kernel mechanism

_CERTIFIED = 4096  # databases of a table that is certified
_SLACK = 1e-9


@wire("KernelMechanism", "prior prior_provenance epsilon")
@renamed()
@dataclass(frozen=True, kw_only=True, eq=False)
class KernelMechanism(FittedMechanism):
    """The mechanism with the least identifiability and the least information at a distortion, for any prior under which
    all databases are possible.

    The mechanism's identifiability is epsilon, its distortion is n/(1 + e^epsilon/(m-1)), and its differential privacy
    is epsilon plus the prior's level eps_X. A budget of differential privacy is no input (there is no `for_budget`),
    because the identifiability of a release depends on the prior. Up to 4,096 databases, and for any number of
    independent rows, the mechanism is coded in whole numbers and can draw releases. For more databases the mechanism
    can be simulated, and its levels follow from a theorem.

    Raises:
        Infeasible: an epsilon below the kernel level.
        Unsupported: more than 2^24 databases, unless rows are independent or exchangeable over two letters.

    Example:
        >>> from confide.channels import FullPrior
        >>> pair = FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2)
        >>> it = KernelMechanism(prior=pair, epsilon=3.0)
        >>> found = it.levels()
        >>> found.identifiability <= 3.0, round(found.dp - 3.0, 6), round(found.distortion, 6)
        (True, 2.197225, 0.094852)
    """

    epsilon: Annotated[float, Parameter("identifiability, at least the prior's kernel level "
                                        "(PriorConstants.kernel_level)", unit="nats", at_least=0)]

    source: ClassVar[Source] = Source(document="Wang 2016", statement="Lemma 10", spec="privacy_notions 4")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._product and not self._counted and self.prior.cells > LARGEST_FULL:
            raise Unsupported("prior", f"a law of {self.letters}^{self.records} databases",
                              f"at most {LARGEST_FULL:,} databases")
        least = kernel_level(self.prior)
        if self.epsilon < least:
            if math.isinf(least):
                raise Infeasible("epsilon", self.epsilon, least, "since the prior excludes some databases",
                                 "use RandomizedResponse, or TopK if rows are independent")
            raise Infeasible("epsilon", self.epsilon, least,
                             "the least level at which the truth can be the output plus noise",
                             'for a smaller level, ask least_distortion("identifiability", prior, epsilon) for the '
                             'best mechanism',
                             self._at)

    def _at(self, epsilon: float) -> object:
        """The kernel mechanism for the same prior at another level."""
        return replace(self, epsilon=epsilon).coded

    @property
    def _product(self) -> bool:
        return isinstance(self.prior, IndependentRows)

    @property
    def _counted(self) -> bool:
        return isinstance(self.prior, Exchangeable) and self.letters == 2

    @cached_property
    def _form(self) -> ExponentialForm:
        if self.epsilon == 0.0:  # the prior is uniform, and any output law will do
            weights = np.full(self.prior.cells, 1.0 / self.prior.cells)
        else:
            weights = kernel_inverse_law(self.prior, self.epsilon)
        return ExponentialForm(weights, self.epsilon, self.letters, self.records)

    def _code(self) -> CodedRows | CodedTable | None:
        if isinstance(self.prior, IndependentRows):
            tables = [integer_table(_row_table(law, self.epsilon), self.letters, identifiability=self.epsilon, law=law)
                      for law in self.prior.laws]
            return CodedRows(tables, None if len(tables) == 1 else self.prior.law_of_row(), self.records)
        if self.prior.cells > _CERTIFIED:
            return None
        # Rows sum to 1 whatever was clipped; that what was clipped was rounding shows in the level.
        table, law = self._form.table(), self.prior.vector()
        found = analyse(self._form, self.prior).identifiability
        if found > self.epsilon + _SLACK:
            raise Infeasible("epsilon", self.epsilon, found, "must equal those of its output law", attempt=self._at)
        return CodedTable(integer_table(table, self.letters, self.records, identifiability=self.epsilon, law=law))

    def dp(self) -> float:
        return self.epsilon + prior_level(self.prior) if self.coded is None else self.coded.dp()

    def _levels(self, law: Prior) -> ChannelReport:
        if self.coded is not None or law is not self.prior:
            return self._certified().levels(law)
        if self.prior.cells <= LARGEST_FULL and not self._counted:
            return analyse(self._form, law)
        m, n = self._size()
        information = max(0.0, self.prior.entropy - n * entropy_of_row(self.epsilon, m))
        return ChannelReport(
            dp=self.dp(), identifiability=self.epsilon, mutual_information=information,
            distortion=h(self.epsilon, m, n), adversary_success=1.0 / (1.0 + (m - 1) * math.exp(-self.epsilon)),
            information_privacy=math.nan, prior_level=prior_level(self.prior),
        )

    def _simulated(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        letters = as_rows(rows, *self._size())
        if isinstance(self.prior, Exchangeable) and self._counted:
            return draw_counts(letters, self.prior.log_sequence, self.epsilon, noise, stream)
        return draw_in_turn(letters, self._form.weights, ratio(self.epsilon), self.letters, noise, stream)


def _row_table(law: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Kernel mechanism E_i of one row as a table, shape (m, m)."""
    m, r = len(law), ratio(epsilon)
    outputs = np.full(m, 1.0 / m) if epsilon == 0.0 else np.maximum(inverse_kernel(law, r, m, 1)[0], 0.0)
    table = np.full((m, m), r)
    np.fill_diagonal(table, 1.0)
    table *= outputs
    return np.asarray(table / table.sum(axis=1, keepdims=True))

"""The best mechanisms for independent rows: top-k for differential privacy, water-filling for identifiability and
information. Both mechanisms are fitted to the distributions of the rows, which must not be estimated from the released
rows.

Source: spec privacy_notions 4 and 5. The proofs are in the spec, not in Wang 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.constants import prior_level
from confide.channels.kernels import h
from confide.channels.mechanisms.base import FittedMechanism, PriorProvenance
from confide.channels.mechanisms.coded import CodedRows
from confide.channels.mechanisms.integer_tables import IntegerTable, integer_table
from confide.channels.notions import Infeasible
from confide.channels.priors import IndependentRows, Prior, as_prior
from confide.channels.rows import row_distortions, top_letters, water_tables
from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.guarantees import Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.response import response_table

__all__ = ["TopK", "WaterFilling"]

_TOTAL = 2**62
_LETTERS = 1024  # a table has their square


@renamed()
@dataclass(frozen=True, kw_only=True, eq=False)
class _RowMechanism(FittedMechanism):
    prior: Annotated[IndependentRows, Parameter("laws of the rows, public")]

    def __post_init__(self) -> None:
        if not isinstance(as_prior(self.prior), IndependentRows):
            raise Unsupported("prior", "a law of rows that depend on each other",
                              "use KernelMechanism or RandomizedResponse")
        super().__post_init__()
        if self.letters > _LETTERS:
            raise InvalidInput("prior", f"has {counted(self.letters, 'letter')}", f"must be at most {_LETTERS}")


@wire("TopK", "prior prior_provenance epsilon")
@renamed()
@dataclass(frozen=True, kw_only=True, eq=False)
class TopK(_RowMechanism):
    """The mechanism with the least distortion of all epsilon-differentially private releases of independent rows.

    If a row's letter is among the k likeliest letters, the row gives its answer by randomised response among these k
    letters. A letter outside the k likeliest is replaced by one of the k likeliest letters, all equally likely. The
    number k follows from the distribution of the row and from epsilon. If epsilon is small, k is 1, and the row's
    output is constant.

    Raises:
        InvalidInput: a parameter out of range, or more than 1,024 letters.
        Unsupported: rows that are not independent.

    Example:
        >>> it = TopK(prior=IndependentRows([[0.2, 0.3, 0.5]], [2]), epsilon=math.log(2.5))
        >>> round(it.levels().distortion, 6), it.dp() <= math.log(2.5)
        (0.857143, True)
    """

    epsilon: Annotated[float, Parameter("differential privacy of the release", unit="nats", at_least=0)]

    source: ClassVar[Source] = Source(document="confide", statement="top-k channel", spec="privacy_notions 4")

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, prior: Prior | ArrayLike,
        prior_provenance: PriorProvenance | None = None,
    ) -> TopK:
        """The mechanism that changes the fewest rows, on average, of all mechanisms within a budget. A release spends
        the whole budget.

        Args:
            epsilon: privacy loss of one release, in nats, >= 0.
            delta: failure probability of the privacy loss, in [0, 1); not used, because the release has pure
                differential privacy.
            prior: public distribution of the rows.
            prior_provenance: source of the prior, "public" or "released privately"; needed for secure noise.

        Raises:
            InvalidInput: a number out of range.
            Unsupported: rows that are not independent.

        Example:
            >>> TopK.for_budget(epsilon=1.0, prior=[[0.2, 0.3, 0.5]]).dp() <= 1.0
            True
        """
        fraction("delta", delta, zero=True)
        return cls(prior=prior, epsilon=epsilon, prior_provenance=prior_provenance)  # type: ignore[arg-type]

    def _code(self) -> CodedRows:
        # Laws with the same likeliest letters answer alike.
        laws, k = self.prior.laws, top_letters(self.prior.laws, self.epsilon)
        rank = np.argsort(np.argsort(-laws, axis=1, kind="stable"), axis=1)
        chosen, place = np.unique(rank < k[:, None], axis=0, return_inverse=True)
        odds = {many: response_table(self.epsilon, many).weights for many in np.unique(k).tolist() if many > 1}
        tables = [_top_table(each, odds) for each in chosen]
        which = None if len(tables) == 1 else place.reshape(-1)[self.prior.law_of_row()]
        return CodedRows(tables, which, self.records)


def _top_table(used: NDArray[np.bool_], odds: dict[int, NDArray[np.int64]]) -> IntegerTable:
    m, chosen = len(used), np.flatnonzero(used)
    k = len(chosen)
    alike = np.full(k, _TOTAL // k, dtype=np.int64)
    alike[-1] += _TOTAL - int(alike.sum())
    weights = np.zeros((m, m), dtype=np.int64)
    weights[:, chosen] = alike
    if k > 1 and odds[k][0].sum() == _TOTAL:  # else epsilon is so small that all rows answer alike
        weights[np.ix_(chosen, chosen)] = odds[k]
    return IntegerTable(weights, m)


@wire("WaterFilling", "prior prior_provenance distortion identifiability")
@renamed()
@dataclass(frozen=True, kw_only=True, eq=False)
class WaterFilling(_RowMechanism):
    """The mechanism with the least information, or with the least identifiability, at a given distortion, for
    independent rows.

    If an identifiability level is given, every row is changed as rarely as the level allows. If a distortion is given,
    the rows share the distortion such that the information falls at the same rate in all rows for one more changed row.
    If all rows have equal laws, a given identifiability level and a given distortion lead to the same channel. A budget
    of differential privacy is no input (there is no `for_budget`), because both notions depend on the prior; `TopK`
    takes such a budget.

    Raises:
        InvalidInput: neither or both of identifiability and distortion are given, or one is out of range.
        Infeasible: an identifiability below the prior's level.
        Unsupported: rows that are not independent.

    Example:
        >>> it = WaterFilling(prior=IndependentRows([[0.2, 0.3, 0.5]], [2]), identifiability=math.log(3))
        >>> found = it.levels()
        >>> round(found.distortion, 6), found.identifiability <= math.log(3)
        (0.8, True)
    """

    distortion: Annotated[float | None, Parameter(
        "expected number of changed rows, at most the number of rows; the mechanism has the least information. Give "
        "this or identifiability",
        symbol="D", at_least=0)] = None
    identifiability: Annotated[float | None, Parameter(
        "largest allowed identifiability of the release, at least the prior's own (the mechanism has the least "
        "distortion)",
        unit="nats", at_least=0)] = None

    source: ClassVar[Source] = Source(document="confide", statement="water-filling channel", spec="privacy_notions 4")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.distortion is None) == (self.identifiability is None):
            raise InvalidInput("distortion", "give either distortion or identifiability, not both")
        if self.distortion is not None and self.distortion > self.records:
            raise InvalidInput("distortion", f"{self.distortion!r} is out of range", f"must be in [0, {self.records}]")
        if self.identifiability is not None:
            level, least = self.identifiability, prior_level(self.prior)
            if level < least:
                raise Infeasible("identifiability", level, least, "the disclosure of the prior without a release",
                                 attempt=lambda found: replace(self, identifiability=found).coded)

    @property
    def row_distortions(self) -> NDArray[np.float64]:
        """Probability that a row is changed, for each distinct distribution of a row in the prior, shape (u,)."""
        if self.identifiability is None:
            constant: NDArray[np.float64] = 1.0 - self.prior.laws.max(axis=1)
            if self.distortion >= float(self.prior.counts @ constant):  # type: ignore[operator]
                return constant
            return row_distortions(self.prior, float(self.distortion))  # type: ignore[arg-type]
        level = self.identifiability
        least = self.prior.laws.min(axis=1)
        return np.asarray(np.maximum(1.0 - math.exp(min(level, 700.0)) * least, h(level, self.letters, 1)))

    def _code(self) -> CodedRows:
        tables = [
            integer_table(table, self.letters, identifiability=self.identifiability, law=law)
            for law, table in zip(self.prior.laws, water_tables(self.prior.laws, self.row_distortions), strict=True)]
        return CodedRows(tables, None if len(tables) == 1 else self.prior.law_of_row(), self.records)

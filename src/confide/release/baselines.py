"""Baselines with which every release of query answers must be compared. Baselines are simple: they need no game and no
solver.

`AllZeros` and `Uniform` read no data. `IndependentMarginals` measures every attribute once and multiplies the measured
fractions. `NoisyAnswers` measures every query. `NoisyAnswers` has three forms: Gaussian noise for any queries, smaller
Gaussian noise if a record can satisfy only few of the queries, and Laplace noise. `comparison.compare` compares given
releases with all of the baselines.

Source: spec query_release F.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, positive
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, PrivacyLoss, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import B_co, Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.renamed import renamed
from confide.contract.wire import wire, wire_name, wire_of
from confide.privacy.accounting import float_up, spendable, written
from confide.privacy.events import Event, GDPEvent, PureEvent
from confide.privacy.gaussian import gdp_mu
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.primitives.additive import add_discrete_laplace, add_gaussian
from confide.release._baseline_boards import (
    Alike,
    FixedBillboard,
    IndependentBillboard,
    NoisyBillboard,
    alike,
    product_answers,
)
from confide.release._inputs import gaussian_delta
from confide.release.answers import (
    check_parts,
    check_scale,
    counts_of,
    no_shares,
    settle,
)
from confide.release.guarantees import BASELINE_ERROR
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = [
    "AllZeros",
    "FixedBillboard",
    "IndependentBillboard",
    "IndependentMarginals",
    "NoisyAnswers",
    "NoisyBillboard",
    "Uniform",
    "product_answers",
]

Law = Literal["gaussian", "structured", "laplace"]
_SPEC = "query_release F"
_MOST = 2**52  # records: their counts are exact in doubles
_UNIT = Relation.REPLACE


@dataclass(frozen=True, kw_only=True)
class _Baseline(Mechanism[B_co, None]):
    """The common part of all baselines. The answers are an array in the order of the workload, so a run gives no frame
    of rows.
    """

    records: Annotated[int, Parameter("records of the data, a public number", at_least=1, at_most=_MOST)]
    workload: Annotated[Workload, Parameter("queries, which are public", symbol="k")]
    schema: Annotated[Schema | None, Parameter("public columns")] = None

    phases = (Phase(name="custody", asks="a table of records, held by one custodian"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self)
        check_parts(self.workload, self.schema)

    @abstractmethod
    def _release(self, data: Any, source: Noise) -> B_co:
        """The billboard, with freshly drawn noise."""

    @abstractmethod
    def _loss(self) -> PrivacyLoss:
        """The privacy loss of a run."""

    def guarantees(self) -> Guarantees:
        return Guarantees((Privacy(
            loss=self._loss(), neighbours=_UNIT, audience=Audience.PUBLIC, note=wire_name(self),
            source=Source(document="confide", statement="baselines", spec=_SPEC)),))

    @abstractmethod
    def events(self) -> tuple[Event, ...]: ...

    def run(self, data: Any, noise: NoiseSource, *, progress: Progress | None = None) -> RunOutcome[B_co, None]:
        """Run the release. The outcome holds the released answers and, under simulated noise, their true errors.

        Args:
            data: any data that `true_answers` accepts, or `TrueAnswers` of the measured queries. Without a schema the
                data may also be a table of any kind, with each column as a bit. If the schema reduces the noise,
                records given as bits must have exactly one attribute of each column with bins or levels, and true
                answers must hold the schema.
            noise: source of noise, `Noise.secure()` for a release.
            progress: function that is called once, at the end of the release.

        Raises:
            InvalidInput: there are not n records, the true answers are to other queries, the records have another
                schema, or they are not one-hot although they must be. The error is raised before any noise is drawn.
        """
        source = as_noise(noise)
        board = self._release(data, source)
        advance(progress, 1, 1)
        return self._outcome(noise, billboard=board, shares=no_shares())

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing, because no participant gets a share."""
        return {}

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard can come from a run of this mechanism.

        Raises:
            InvalidInput: the billboard belongs to another mechanism or plan, or has arrays that no run produces.
        """
        expected = self._board_type
        if type(billboard) is not expected:
            raise InvalidInput("billboard", f"{wire_name(billboard)} is of another mechanism",
                               f"must be {wire_of(expected).name}")
        board: Any = billboard
        if board.records != self.records:
            raise InvalidInput("billboard.records", f"is {board.records!r}",
                               f"must be {self.records}, the number of records of this mechanism")
        self._check_own(board)

    @property
    @abstractmethod
    def _board_type(self) -> type[Billboard]: ...

    @abstractmethod
    def _check_own(self, board: Any) -> None: ...


def _check_counts(name: str, counts: Any, size: int) -> None:
    if not isinstance(counts, np.ndarray) or counts.dtype != np.int64 or counts.shape != (size,):
        raise InvalidInput(f"billboard.{name}", "are not noisy counts", f"must be int64 ({size},)")


@dataclass(frozen=True, kw_only=True)
class _Fixed(_Baseline[FixedBillboard]):
    """The common part of the baselines whose answers do not depend on the data."""

    one: ClassVar[float]

    def events(self) -> tuple[Event, ...]:
        return ()

    def _loss(self) -> PrivacyLoss:
        return PureDP(0.0)

    def _release(self, data: Any, source: Noise) -> FixedBillboard:
        return FixedBillboard(records=self.records, attributes=self.workload.attributes, one=self.one,
                              schema=self._uniform)

    @property
    def _uniform(self) -> Schema | None:
        """The schema if all values of its columns are treated as equally likely; otherwise None."""
        return None

    @property
    def _board_type(self) -> type[Billboard]:
        return FixedBillboard

    def _check_own(self, board: FixedBillboard) -> None:
        if (board.attributes, board.one, board.schema) != (self.workload.attributes, self.one, self._uniform):
            raise InvalidInput("billboard", "is of another plan",
                               "attributes and their probability must be those of this mechanism")


@renamed(n="records")
@wire("AllZeros", "n workload schema", records="n")
@dataclass(frozen=True, kw_only=True)
class AllZeros(_Fixed):
    """A baseline that treats every record as the all-zero record. On sparse data with positive queries, few mechanisms
    have a smaller average error than this baseline.

    Epsilon is no input (there is no `for_budget`), because the answers read no data and have no privacy loss.
    """

    one = 0.0


@renamed(n="records")
@wire("Uniform", "n workload schema", records="n")
@dataclass(frozen=True, kw_only=True)
class Uniform(_Fixed):
    """A baseline that treats the records as uniformly distributed. With a schema all values of a column are equally
    likely: a value of a column with 20 values has probability 1/20.

    Without a schema every attribute is on with probability 1/2. The answer is then 2^-r for a conjunction of r
    literals, and 1/2 for a parity. Epsilon is no input (there is no `for_budget`), because the answers read no data and
    have no privacy loss.

    Example:
        >>> from confide.release.columns import Binned
        >>> ages = Schema((Binned(column="age", lower=0, upper=100, bins=20),))
        >>> workload = Workload.conjunctions([[3]], attributes=20)
        >>> uniform = Uniform(records=10, workload=workload, schema=ages)
        >>> uniform.run(None, Noise.secure()).billboard.answers(workload).tolist()
        [0.05]
    """

    one = 0.5

    @property
    def _uniform(self) -> Schema | None:
        return self.schema


@dataclass(frozen=True, kw_only=True)
class _Budgeted(_Baseline[B_co]):
    epsilon: Annotated[float, Parameter("privacy loss", unit="nats", above=0)]
    delta: Annotated[float, Parameter("delta of the privacy loss; Gaussian noise needs a delta above 0", at_least=0,
                                      below=1)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._pure:
            gaussian_delta(self.delta)
            check_scale("epsilon", self.noise_std)

    @property
    def _pure(self) -> bool:
        return False

    @cached_property
    def mu(self) -> float:
        """Largest ratio mu at which Gaussian noise satisfies (epsilon, delta)-DP. The ratio mu is the L2 sensitivity
        divided by the standard deviation of the noise.
        """
        return gdp_mu(self.epsilon, self.delta)

    @property
    def squared_l2_sensitivity(self) -> int:
        """Squared L2 sensitivity of the measured counts to the replacement of one record."""
        raise NotImplementedError

    @cached_property
    def noise_std(self) -> float:
        """Standard deviation of Gaussian noise, in counts, rounded up."""
        root = math.nextafter(math.sqrt(self.squared_l2_sensitivity), math.inf)
        return math.nextafter(root / self.mu, math.inf)

    def events(self) -> tuple[Event, ...]:
        return (GDPEvent(mu=self.mu, neighbours=_UNIT, label="counts with Gaussian noise"),)

    def _loss(self) -> PrivacyLoss:
        return ApproxDP(self.epsilon, self.delta)

    def _noisy(self, counts: NDArray[np.int64], source: Noise, stream: str) -> NDArray[np.int64]:
        """The counts with ideal Gaussian noise, rounded to whole counts. The rounding is post-processing of the
        Gaussian mechanism on real numbers, so the exact trade-off curve of that mechanism holds.
        """
        found = add_gaussian(source, counts.astype(np.float64), noise_std=self.noise_std, grid=0,
                             l2_sensitivity_squared=self.squared_l2_sensitivity, stream=(type(self).__name__, stream))
        return found.astype(np.int64)


@renamed(n="records", square="squared_l2_sensitivity", sigma="noise_std")
@wire("IndependentMarginals", "n workload schema epsilon delta", records="n")
@dataclass(frozen=True, kw_only=True)
class IndependentMarginals(_Budgeted[IndependentBillboard]):
    """A baseline that measures the count of every attribute with Gaussian noise and answers queries by products of the
    measured fractions.

    With a schema the replacement of a record changes at most two counts of a column with bins or levels, and one count
    of a bit. Therefore less noise suffices. With a schema the answers are products over columns, because a record has
    one value of each column.

    The noise depends on the columns of the schema, or without a schema on the number of attributes. The noise does not
    depend on the queries. With a schema, each record must have exactly one attribute of each column with bins or
    levels.

    Example:
        >>> workload = Workload.conjunctions([[0, 1]], attributes=3)
        >>> IndependentMarginals(records=100, workload=workload, epsilon=1.0, delta=1e-6).squared_l2_sensitivity
        3
    """

    @classmethod
    def for_budget(
        cls, *, records: int, epsilon: float, delta: float = 0.0, workload: Workload, schema: Schema | None = None
    ) -> Self:
        """The mechanism that spends the whole budget (epsilon, delta).

        Args:
            records: number of records of the data, public.
            epsilon: budget of privacy loss in nats, > 0.
            delta: delta of the budget, in (0, 1), since the noise is Gaussian.
            workload: the queries.
            schema: the public columns.
        """
        own = spendable(positive("epsilon", epsilon), fraction("delta", delta, zero=True))
        return cls(records=records, workload=workload, schema=schema, epsilon=own, delta=delta)

    @property
    def squared_l2_sensitivity(self) -> int:
        if self.schema is None:
            return self.workload.attributes
        return len(self.schema.columns) + len(self.schema.groups)

    @property
    def measured(self) -> Workload:
        """The queries whose counts are measured."""
        d = self.workload.attributes
        return Workload.conjunctions(np.arange(d, dtype=np.int32)[:, None], attributes=d)

    def _release(self, data: Any, source: Noise) -> IndependentBillboard:
        one_hot = self.schema is not None and bool(self.schema.groups)
        counts = counts_of(data, self.measured, self.records, self.schema, one_hot=one_hot)
        return IndependentBillboard(records=self.records, ones=self._noisy(counts, source, "ones"), schema=self.schema)

    @property
    def _board_type(self) -> type[Billboard]:
        return IndependentBillboard

    def _check_own(self, board: IndependentBillboard) -> None:
        _check_counts("ones", board.ones, self.workload.attributes)


@renamed(n="records", square="squared_l2_sensitivity", sigma="noise_std", scale="noise_scale")
@wire("NoisyAnswers", "n workload schema epsilon delta law", records="n")
@dataclass(frozen=True, kw_only=True)
class NoisyAnswers(_Budgeted[NoisyBillboard]):
    """A baseline that adds independent noise to the count of every query. If two queries determine each other, only one
    of them is measured. Two queries determine each other if they are the same query under two names, or if one is the
    negation of the other. For example, "sex = male" and "sex = female" are negations if the column has only the values
    male and female.

    Let j be the number of measured queries. The noise distribution `law` has three values:

    - "gaussian" is for any queries. With "gaussian" the L2 sensitivity of the measured counts is sqrt(j).
    - "structured" is Gaussian noise for positive queries. A record satisfies at most one of the queries on the same
      columns, so replacing the record changes at most two of their counts. With "structured" the L2 sensitivity is
      sqrt(2 C(m, 3)) for all 3-way marginals of m columns, and less if queries join fewer columns.
    - "laplace" is Laplace noise with an L1 sensitivity of j, and needs no delta.

    The schema is required for "structured". The schema also shows which columns have only two values, so that one value
    is the negation of the other. If the schema reduces the noise, each record given as bits must have exactly one
    attribute of each column with bins or levels.

    Raises:
        InvalidInput: "structured" comes without a schema, or "laplace" with a delta.
        NotGuaranteed: "structured" comes with negative literals, parities or predicates. One record can satisfy many
            such queries.

    Source: spec query_release F and A3.

    Example:
        >>> pairs = Workload.conjunctions([[0, 1], [0, 2], [1, 2], [0, 3]], attributes=4)
        >>> round(NoisyAnswers(records=100, workload=pairs, epsilon=1.0, delta=1e-3).noise_std, 3)  # 2.5747 sqrt(4)
        5.149
        >>> smokers = Workload.conjunctions([[0], [0]], [[True], [False]], attributes=1)  # smokers, and non-smokers
        >>> NoisyAnswers(records=100, workload=smokers, epsilon=0.5, delta=0.0, law="laplace").noise_scale
        2.0
    """

    law: Annotated[Law, Parameter("noise: \"gaussian\", \"structured\" or \"laplace\"")] = "gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.law == "laplace" and self.delta:
            raise InvalidInput("delta", f"{self.delta:g} is above 0", "Laplace noise needs delta = 0")
        if self.law == "laplace":
            check_scale("epsilon", self.noise_scale)
        if self.law != "structured":
            return
        if self.schema is None:
            raise InvalidInput("schema", "is missing", "structured noise needs the columns, which show the queries "
                                                       "that exclude each other")
        if self.workload.kind != "conjunctions" or not self.workload.bits[self.workload.index >= 0].all():
            raise NotGuaranteed("noise for positive marginals",
                                "a record can satisfy nearly all queries with negated literals", "use law='gaussian'")

    @classmethod
    def for_budget(
        cls, *, records: int, epsilon: float, delta: float = 0.0, workload: Workload, schema: Schema | None = None
    ) -> Self:
        """The mechanism that spends (epsilon, delta) with the least noise: Laplace noise if delta is 0, and otherwise
        "gaussian" or "structured", the one with less noise for these queries.

        Args:
            records: number of records of the data, public.
            epsilon: budget of privacy loss in nats, > 0.
            delta: delta of the budget, in [0, 1).
            workload: the queries.
            schema: the public columns.

        Example:
            >>> pairs = Workload.complete(4, width=2)
            >>> NoisyAnswers.for_budget(records=100, epsilon=1.0, workload=pairs).law
            'laplace'
        """
        own = spendable(positive("epsilon", epsilon), fraction("delta", delta, zero=True))
        plain = cls(records=records, workload=workload, schema=schema, epsilon=own, delta=delta,
                    law="gaussian" if delta else "laplace")
        if schema is None or not delta:
            return plain
        try:
            other = replace(plain, law="structured")
        except NotGuaranteed:  # negated literals: a record may satisfy any number of queries
            return plain
        return other if other.squared_l2_sensitivity < plain.squared_l2_sensitivity else plain

    @property
    def _pure(self) -> bool:
        return self.law == "laplace"

    @cached_property
    def _alike(self) -> Alike:
        return alike(self.workload, self.schema)

    @cached_property
    def measured(self) -> Workload:
        """The queries whose counts are measured. The answers to all other queries follow from the measured counts."""
        kept = self._alike.kept
        return self.workload if len(kept) == len(self.workload) else self.workload.some(kept)

    @cached_property
    def squared_l2_sensitivity(self) -> int:
        """Squared L2 sensitivity of the measured counts to the replacement of one record."""
        if self.law != "structured" or self.schema is None:
            return len(self.measured)
        index = self.measured.index
        columns = np.where(index >= 0, self.schema.column_of[index], -1)
        sizes = np.unique(np.sort(columns, axis=1), axis=0, return_counts=True)[1]
        return int(np.minimum(sizes, 2).sum())

    @property
    def noise_scale(self) -> float:
        """The scale of the Laplace noise in counts, rounded up: j / epsilon for j measured queries."""
        return float_up(len(self.measured) / written(self.epsilon))

    def events(self) -> tuple[Event, ...]:
        if self.law == "laplace":
            return (PureEvent(epsilon=self.epsilon, neighbours=_UNIT, label="counts with Laplace noise"),)
        return super().events()

    def _loss(self) -> PrivacyLoss:
        return PureDP(self.epsilon) if self.law == "laplace" else super()._loss()

    @renamed(beta="failure_probability")
    def error(self, failure_probability: float) -> float:
        """A bound on the largest error of any answer, as a fraction of the records. The bound fails with at most the
        given probability.

        Args:
            failure_probability: probability that the bound fails, in (0, 1).
        """
        each = fraction("failure_probability", failure_probability) / len(self.measured)
        if self.law == "laplace":
            ratio = math.exp(-1 / self.noise_scale)
            return self.noise_scale * math.log(2 / (1 + ratio) / each) / self.records
        from scipy.special import ndtri

        return (self.noise_std * -float(ndtri(each / 2)) + 0.5) / self.records

    def guarantees(self) -> Guarantees:
        bound = Accuracy(bound=self.error(0.05), baseline=BASELINE_ERROR, failure_probability=0.05,
                         measure="the largest error of any query, as a fraction of the records",
                         source=Source(document="confide", statement="a union bound over the noise", spec=_SPEC))
        return Guarantees((*super().guarantees(), bound))

    def _release(self, data: Any, source: Noise) -> NoisyBillboard:
        one_hot = self.law == "structured" or self._alike.by_columns
        counts = counts_of(data, self.workload, self.records, self.schema, one_hot=one_hot)[self._alike.kept]
        if self.law == "laplace":
            noisy = add_discrete_laplace(source, counts, noise_scale=self.noise_scale, l1_sensitivity=len(counts),
                                         stream=("NoisyAnswers", self.law))
        else:
            noisy = self._noisy(counts, source, self.law)
        return NoisyBillboard(records=self.records, workload=self.workload, noisy=self._alike.spread(noisy,
                                                                                                     self.records))

    @property
    def _board_type(self) -> type[Billboard]:
        return NoisyBillboard

    def _check_own(self, board: NoisyBillboard) -> None:
        if not self.workload.same(board.workload):
            raise InvalidInput("billboard.workload", "is another workload", "must be the mechanism's own")
        _check_counts("noisy", board.noisy, len(self.workload))
        reported = self._alike.spread(board.noisy[self._alike.kept], self.records)
        if not np.array_equal(reported, board.noisy):
            raise InvalidInput("billboard.noisy", "has answers for a query and its negation that contradict each other",
                               "the two answers must add up to n")

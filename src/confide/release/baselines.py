"""What any release of query answers has to be held against: rivals that need no game, no solver and little budget.

`AllZeros` and `Uniform` read no data. `IndependentMarginals` measures every attribute once and multiplies.
`NoisyAnswers` measures every query: with Gaussian noise for any queries, with less of it where a record can satisfy
few of them, or with Laplace noise. `compare` sets all of them beside given releases; its numbers are true errors, and
no release.

Source: spec query_release F.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, PrivacyLoss, Source, Unit
from confide.contract.mechanism import Mechanism, NoiseSource, Phase
from confide.contract.outcome import Billboard, Outcome, SimulatedOutcome
from confide.privacy.accounting import float_up, written
from confide.privacy.events import Event, GDPEvent, PureEvent
from confide.privacy.gaussian import gdp_mu
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.release._custodian import TRIVIAL, Charge, counts_of, no_shares, true_errors
from confide.release._histogram import LARGEST_BLOCK
from confide.release.answers import TrueAnswers, true_answers
from confide.release.mwem import MWEM
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = [
    "AllZeros",
    "Comparison",
    "ComparisonRow",
    "FixedBillboard",
    "IndependentBillboard",
    "IndependentMarginals",
    "NoisyAnswers",
    "NoisyBillboard",
    "Uniform",
    "compare",
    "product_answers",
]

Law = Literal["gaussian", "structured", "laplace"]
_Floats = NDArray[np.float64]
_SPEC = "query_release F"
_UNIT = Unit.RECORD_REPLACED


def product_answers(ones: _Floats, workload: Workload) -> _Floats:
    """(k,) answers of independent attributes.

    Args:
        ones: (d,) probability of each attribute.
        workload: the queries.

    Raises:
        InvalidInput: predicates on more than 2^22 cells, or other attributes.
    """
    if ones.shape != (workload.attributes,):
        raise InvalidInput("workload", f"is on {workload.attributes} attributes", f"must be on {len(ones)}")
    if workload.kind == "predicates":
        if workload.attributes > LARGEST_BLOCK:
            raise InvalidInput("workload", f"has predicates on 2^{workload.attributes} cells", "at most 2^22")
        law = np.ones(1)
        for one in ones.tolist():
            law = np.concatenate([law * (1 - one), law * one])
        return np.asarray(workload.truth @ law)
    there = workload.index >= 0
    p = np.where(there, ones[workload.index], 0.0)
    if workload.kind == "parities":
        return np.asarray((1 + np.prod(np.where(there, 1 - 2 * p, 1.0), axis=1)) / 2)
    return np.asarray(np.prod(np.where(there, np.where(workload.bits, p, 1 - p), 1.0), axis=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentBillboard(Billboard):
    """Noisy counts of every attribute.

    Args:
        records: n.
        ones: (d,) noisy counts.
    """

    records: int
    ones: np.ndarray

    def answers(self, workload: Workload) -> _Floats:
        """(k,) fractions: products of what is measured, cut to [0, 1]."""
        return product_answers(np.clip(self.ones / self.records, 0.0, 1.0), workload)


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedBillboard(Billboard):
    """Answers that no data enters: every attribute has one probability.

    Args:
        records: n.
        attributes: d.
        one: the probability, 0 for the record of zeros, 1/2 for uniform records.
    """

    records: int
    attributes: int
    one: float

    def answers(self, workload: Workload) -> _Floats:
        """(k,) fractions."""
        return product_answers(np.full(self.attributes, self.one), workload)


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyBillboard(Billboard):
    """Noisy counts of every query.

    Args:
        records: n.
        workload: the queries.
        noisy: (k,) counts with noise.
    """

    records: int
    workload: Workload
    noisy: np.ndarray

    def answers(self, workload: Workload | None = None) -> _Floats:
        """(k,) fractions, cut to [0, 1].

        Raises:
            InvalidInput: other queries than the release's own; noisy answers say nothing of them.
        """
        if workload is not None and workload is not self.workload and not _same(workload, self.workload):
            raise InvalidInput("workload", "is not the release's own", "noisy answers answer no other query")
        return np.asarray(np.clip(self.noisy / self.records, 0.0, 1.0))


def _same(one: Workload, other: Workload) -> bool:
    return (one.kind, one.attributes) == (other.kind, other.attributes) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("index", "bits", "truth"))


@dataclass(frozen=True, kw_only=True)
class _Baseline(Mechanism):
    n: int
    workload: Workload
    schema: Schema | None = None

    phases = (Phase(name="custody", asks="a table of records, held by one custodian"),)

    def __post_init__(self) -> None:
        whole("n", self.n, at_least=1)
        if not isinstance(self.workload, Workload) or not len(self.workload):
            raise InvalidInput("workload", "is empty", "must be a Workload of one query or more")
        if self.schema is not None and self.schema.attributes != self.workload.attributes:
            raise InvalidInput("schema", f"has {self.schema.attributes} attributes",
                               f"must have the workload's {self.workload.attributes}")

    @abstractmethod
    def _release(self, data: Any, source: Noise) -> Billboard:
        """The billboard, with noise drawn."""

    @abstractmethod
    def _loss(self) -> PrivacyLoss:
        """What a run costs."""

    def guarantees(self) -> Guarantees:
        return Guarantees((Privacy(
            loss=self._loss(), unit=_UNIT, audience=Audience.PUBLIC, note=type(self).__name__,
            source=Source(document="confide", statement="baselines", spec=_SPEC)),))

    @abstractmethod
    def events(self) -> tuple[Event, ...]: ...

    def run(self, data: Any, noise: NoiseSource, *, charge: Charge | None = None) -> Outcome | SimulatedOutcome:
        """The answers, and under simulated noise their true errors.

        Args:
            data: as `true_answers` takes it, or `TrueAnswers` of the queries that are measured.
            noise: `Noise.secure()` for a release.
            charge: called with `events()` before the data is touched.
        """
        source = as_noise(noise)
        if charge is not None:
            charge(self.events())
        board = self._release(data, source)
        return self._outcome(noise, billboard=board, shares=no_shares())

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing: no participant gets a share."""
        return {}


@dataclass(frozen=True, kw_only=True)
class AllZeros(_Baseline):
    """Every record is the record of zeros. On sparse positive queries its average error is hard to beat."""

    def events(self) -> tuple[Event, ...]:
        return ()

    def _loss(self) -> PrivacyLoss:
        return PureDP(0.0)

    def _release(self, data: Any, source: Noise) -> FixedBillboard:
        return FixedBillboard(records=self.n, attributes=self.workload.attributes, one=0.0)


@dataclass(frozen=True, kw_only=True)
class Uniform(_Baseline):
    """Every attribute is a fair coin: 2^-r for a conjunction of r literals, 1/2 for a parity."""

    def events(self) -> tuple[Event, ...]:
        return ()

    def _loss(self) -> PrivacyLoss:
        return PureDP(0.0)

    def _release(self, data: Any, source: Noise) -> FixedBillboard:
        return FixedBillboard(records=self.n, attributes=self.workload.attributes, one=0.5)


@dataclass(frozen=True, kw_only=True)
class _Budgeted(_Baseline):
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("epsilon", self.epsilon)
        fraction("delta", self.delta, zero=self._pure)

    @property
    def _pure(self) -> bool:
        return False

    @cached_property
    def mu(self) -> float:
        """Of Gaussian noise: the largest that keeps (epsilon, delta)-DP."""
        return gdp_mu(self.epsilon, self.delta)

    @property
    def square(self) -> int:
        """Squared L2 distance that one replaced record can move the measured counts."""
        raise NotImplementedError

    @cached_property
    def sigma(self) -> float:
        """Standard deviation of Gaussian noise, in counts, rounded up."""
        root = math.nextafter(math.sqrt(self.square), math.inf)
        return math.nextafter(root / self.mu, math.inf)

    def events(self) -> tuple[Event, ...]:
        return (GDPEvent(mu=self.mu, neighbours=_UNIT, label="counts with Gaussian noise"),)

    def _loss(self) -> PrivacyLoss:
        return ApproxDP(self.epsilon, self.delta)

    def _noisy(self, counts: NDArray[np.int64], source: Noise) -> NDArray[np.int64]:
        """Ideal Gaussian noise added and rounded to whole counts, as one step: post-processing of the real mechanism,
        so its exact trade-off holds.
        """
        found = source.gaussian(self.sigma, len(counts), stream=(type(self).__name__, "counts"),
                                center=counts.astype(np.float64), grid=0)
        return found.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class IndependentMarginals(_Budgeted):
    """Every attribute's count with Gaussian noise, and products of them as answers.

    With a schema a replaced record moves two counts of a column and one of a bit, so its noise is less.

    Args:
        n: records.
        workload: the queries that are answered; only their number of attributes matters here.
        schema: public columns, where attributes are one-hot.
        epsilon: in nats, > 0.
        delta: in (0, 1).

    Example:
        >>> workload = Workload.conjunctions([[0, 1]], attributes=3)
        >>> IndependentMarginals(n=100, workload=workload, epsilon=1.0, delta=1e-6).square
        3
    """

    @property
    def square(self) -> int:
        if self.schema is None:
            return self.workload.attributes
        return len(self.schema.columns) + len(self.schema.groups)

    @property
    def measured(self) -> Workload:
        """The queries whose counts are measured."""
        d = self.workload.attributes
        return Workload.conjunctions(np.arange(d, dtype=np.int32)[:, None], attributes=d)

    def _release(self, data: Any, source: Noise) -> IndependentBillboard:
        counts = counts_of(data, self.measured, self.n, self.schema)
        return IndependentBillboard(records=self.n, ones=self._noisy(counts, source))


@dataclass(frozen=True, kw_only=True)
class NoisyAnswers(_Budgeted):
    """Every query's count with noise of its own.

    Args:
        n: records.
        workload: k queries.
        schema: public columns, for "structured".
        epsilon: in nats, > 0.
        delta: in (0, 1), or 0 for "laplace".
        law: "gaussian": L2 sensitivity sqrt(k) counts, for any queries. "structured": a record satisfies at most one
            of the positive queries on the same columns, so a replaced one moves two at most: sqrt(2 C(m, 3)) for all
            3-way marginals of m columns, and less where fewer columns are asked for together. "laplace": L1
            sensitivity k, pure.

    Raises:
        InvalidInput: no schema for "structured", or a delta with "laplace".
        NotGuaranteed: "structured" for signed literals, parities or predicates: a record satisfies many of them.

    Source: spec query_release F and A3.

    Example:
        >>> pairs = Workload.conjunctions([[0, 1], [0, 2], [1, 2], [0, 3]], attributes=4)
        >>> round(NoisyAnswers(n=100, workload=pairs, epsilon=1.0, delta=1e-3).sigma, 3)  # 2.5747 sqrt(4)
        5.149
    """

    law: Law = "gaussian"

    def __post_init__(self) -> None:
        one_of("law", self.law, ("gaussian", "structured", "laplace"))
        super().__post_init__()
        if self.law == "laplace" and self.delta:
            raise InvalidInput("delta", f"{self.delta:g}", "Laplace noise needs none: 0")
        if self.law != "structured":
            return
        if self.schema is None:
            raise InvalidInput("schema", "is missing", "the columns say which queries exclude each other")
        if self.workload.kind != "conjunctions" or not self.workload.bits[self.workload.index >= 0].all():
            raise NotGuaranteed("noise for positive marginals", "a record can satisfy nearly all queries with negated "
                                "literals", "use law='gaussian'")

    @property
    def _pure(self) -> bool:
        return self.law == "laplace"

    @cached_property
    def square(self) -> int:
        """Squared L2 sensitivity in counts."""
        if self.law != "structured" or self.schema is None:
            return len(self.workload)
        index = self.workload.index
        columns = np.where(index >= 0, self.schema.column_of[index], -1)
        sizes = np.unique(np.sort(columns, axis=1), axis=0, return_counts=True)[1]
        return int(np.minimum(sizes, 2).sum())

    @property
    def scale(self) -> float:
        """Of Laplace noise, in counts: k / epsilon, rounded up."""
        return float_up(len(self.workload) / written(self.epsilon))

    def events(self) -> tuple[Event, ...]:
        if self.law == "laplace":
            return (PureEvent(epsilon=self.epsilon, neighbours=_UNIT, label="counts with Laplace noise"),)
        return super().events()

    def _loss(self) -> PrivacyLoss:
        return PureDP(self.epsilon) if self.law == "laplace" else super()._loss()

    def error(self, failure: float) -> float:
        """The largest error of any answer as a fraction, but for a probability of `failure`."""
        k = len(self.workload)
        each = fraction("failure", failure) / k
        if self.law == "laplace":
            ratio = math.exp(-1 / self.scale)
            return self.scale * math.log(2 / (1 + ratio) / each) / self.n
        from scipy.special import ndtri

        return (self.sigma * -float(ndtri(each / 2)) + 0.5) / self.n

    def guarantees(self) -> Guarantees:
        bound = Accuracy(bound=self.error(0.05), trivial=TRIVIAL, failure_probability=0.05,
                         measure="the largest error of any query, as a fraction of the records",
                         source=Source(document="confide", statement="a union bound over the noise", spec=_SPEC))
        return Guarantees((*super().guarantees(), bound))

    def _release(self, data: Any, source: Noise) -> NoisyBillboard:
        counts = counts_of(data, self.workload, self.n, self.schema)
        if self.law == "laplace":
            noisy = source.discrete_laplace(self.scale, len(counts), stream=("NoisyAnswers", "laplace"), center=counts)
        else:
            noisy = self._noisy(counts, source)
        return NoisyBillboard(records=self.n, workload=self.workload, noisy=noisy)


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One method's true errors, as fractions of the records.

    Args:
        method: its name.
        average_error: over the queries.
        maximum_error: over the queries.
        privacy: what it costs, in words.
    """

    method: str
    average_error: float
    maximum_error: float
    privacy: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """True errors of several methods on the same queries: non-private diagnostics of a study, never to be published
    with a release or shown to whoever asks queries.
    """

    rows: tuple[ComparisonRow, ...]

    label: ClassVar[str] = "non-private diagnostics: true errors under simulated noise"

    def __getitem__(self, method: str) -> ComparisonRow:
        """The row of a method."""
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(method)

    def to_dict(self) -> dict[str, Any]:
        return {"label": self.label, "rows": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        width = max(len(row.method) for row in self.rows)
        lines = [f"{row.method:<{width}}  average {row.average_error:.5f}  maximum {row.maximum_error:.4f}  "
                 f"{row.privacy}" for row in self.rows]
        return "\n".join([self.label, *lines])


def compare(
    data: Any, workload: Workload, *, epsilon: float, delta: float, seed: int, schema: Schema | None = None,
    releases: Mapping[str, SimulatedOutcome] | None = None, mwem_rounds: int | None = 20,
) -> Comparison:
    """True errors of all baselines, and of given releases, on the same queries: a study on data that may be shown.

    Args:
        data: as `true_answers` takes it; it is read twice.
        workload: the queries.
        epsilon: of each baseline, in nats.
        delta: of each baseline, in (0, 1).
        seed: of the simulated noise.
        schema: public columns; then noise for positive marginals is among the baselines where it applies.
        releases: name -> a simulated outcome whose billboard answers the workload.
        mwem_rounds: T of an `MWEM`, where its histogram fits; None leaves it out.

    Raises:
        InvalidInput: an outcome of a release: how wrong it truly is must not be told.

    Example:
        >>> data = np.tile(np.array([[True, True, False], [False, False, False]]), (500, 1))
        >>> pairs = Workload.conjunctions([[0, 1], [0, 2]], attributes=3)
        >>> found = compare(data, pairs, epsilon=1.0, delta=1e-6, seed=1)
        >>> found["all zeros"].maximum_error, found["uniform"].maximum_error
        (0.5, 0.25)
    """
    given = dict(releases or {})
    for name, outcome in given.items():
        if not isinstance(outcome, SimulatedOutcome):
            raise InvalidInput("releases", f"{name!r} is no simulated outcome",
                               "the true errors of a release are not to be told")
    true = true_answers(data, workload, schema)
    n = true.records
    noise = Noise.simulated(seed)
    plain: dict[str, Any] = {"n": n, "workload": workload, "schema": schema}
    budget = {**plain, "epsilon": epsilon, "delta": delta}
    product = IndependentMarginals(**budget)
    ones = true_answers(data, product.measured, schema)
    methods: dict[str, tuple[Mechanism, TrueAnswers]] = {
        "all zeros": (AllZeros(**plain), true),
        "uniform": (Uniform(**plain), true),
        "independent marginals": (product, ones),
        "naive Gaussian": (NoisyAnswers(**budget), true),
        "Laplace": (NoisyAnswers(**plain, epsilon=epsilon, delta=0.0, law="laplace"), true),
    }
    if schema is not None:
        with suppress(NotGuaranteed):  # signed literals: there is no such rival
            methods["structured Gaussian"] = (NoisyAnswers(**budget, law="structured"), true)
    if mwem_rounds is not None:
        with suppress(Refused):  # its histogram does not fit into memory
            methods["MWEM"] = (MWEM.for_budget(n, epsilon, delta, rounds=mwem_rounds, workload=workload), true)
    rows = [_row(name, mechanism.run(answers, noise), true, workload) for name, (mechanism, answers) in methods.items()]
    rows += [_row(name, outcome, true, workload) for name, outcome in given.items()]
    return Comparison(rows=tuple(rows))


def _row(name: str, outcome: Outcome | SimulatedOutcome, true: TrueAnswers, workload: Workload) -> ComparisonRow:
    board: Any = outcome.billboard
    errors = true_errors(board.answers(workload), np.asarray(true.counts), true.records)
    loss = "; ".join(str(promise.loss) for promise in outcome.guarantees.privacy)
    return ComparisonRow(method=name, privacy=loss, **errors)

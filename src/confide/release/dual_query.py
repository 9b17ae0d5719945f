"""`DualQuery`: synthetic records that answer a fixed list of counting queries, from a game between queries and records.

In each round a query player draws queries and negated queries, with a preference for queries to which the synthetic
records so far give too low an answer. The draws are exact samples of an exponential mechanism. After the draws an
optimiser finds a record that satisfies many of the drawn queries. Only the draws read the private data.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, positive
from confide.contract.errors import InvalidInput, PublicWarning, Refused
from confide.contract.guarantees import Guarantees
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism, NoiseSource, Phase
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.remedies import retried
from confide.contract.renamed import by_position_before, renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.accounting import Accountant
from confide.privacy.charge import FixedList, Line, lines_of
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.noise.simulated import study_generator
from confide.release import calculators
from confide.release.answers import (
    TrueAnswers,
    check_answers,
    check_scale,
    no_shares,
    records_of,
    settle,
    true_answers,
    true_errors,
)
from confide.release.calculators import MOST_ROUNDS, MOST_SAMPLES, Calculator
from confide.release.draws_a_round import check_draws, drawn_a_round, usual
from confide.release.free_attributes import (
    FREE_BEFORE,
    FREE_RULES,
    FreeRule,
    default_record,
    free_attributes,
    marginals_event,
    marginals_noise_std,
    noisy_marginals,
    rule_today,
    squared_marginals_sensitivity,
)
from confide.release.guarantees import AnswersCertificate, answers_certificate, log_universe, mean_gap
from confide.release.oracle.answer import Answer, Oracle, best_response
from confide.release.oracle.bounds import upper_bound
from confide.release.oracle.integer_program import IntegerProgram
from confide.release.oracle.local_search import LocalSearch
from confide.release.oracle.terms import Terms, most_clauses
from confide.release.query_game import Netted, QueryRound, check_exact, draw_queries, net
from confide.release.records import Codes, PackedBits
from confide.release.schema import Schema
from confide.release.synthetic import Rounds, SyntheticRecords
from confide.release.workload import Workload

__all__ = ["MOST_QUERIES", "DualQuery"]

MOST_QUERIES = 2**23
"""Largest number of queries. The draws are from the queries and their negations, at most 2^24 in all."""

_NARROW = 8  # literals of which no more than 81 clauses are made
_SAME_PROGRAM = 1e-6  # by how much bounds of one linear program may differ
_MOST_CLAUSES = 2**12  # that one query may become where records are one-hot
_ROUNDS = "rounds"  # the line of the charge that pays for all of them


@dataclass(frozen=True, eq=False)
class _Data:
    """The parts of the private data that a run reads. `repr` shows no count."""

    counts: NDArray[np.int64] = field(repr=False)
    ones: NDArray[np.int64] | None = field(repr=False)


@renamed(n="records", beta="failure_probability")
@wire("DualQuery", "n eta rounds samples workload schema one_hot free marginal_rho oracle seed delta calculator beta "
      "literal", records="n", failure_probability="beta", words={"free": FREE_BEFORE})
@dataclass(frozen=True, kw_only=True)
class DualQuery(Mechanism[SyntheticRecords, AnswersCertificate]):
    """The DualQuery mechanism, which answers a fixed list of counting queries with T synthetic records. Time and memory
    are linear in the number of queries.

    The parameters must be fixed before the run, since a choice by looking at the private data would leak information.

    A schema is required with `one_hot`, and if `run` gets a table whose columns are not all bits. With
    `free="marginals"`, a schema with bins or levels reduces the noise of the marginals. With `one_hot` each synthetic
    record has exactly one attribute of each column with bins or levels, and the promises hold only if each record of
    the data has this property. With `one_hot=False` the attributes vary freely, as in Wu 2017.

    Args:
        oracle: optimiser that finds the record of each round. The oracle receives only public facts and the netted
            samples, in which a query and its negation cancel.

    Raises:
        InvalidInput: a parameter is out of range, there are more than 2^23 queries, or the parameters do not fit
            together.

    Source: Wu 2017, Algorithm 3; spec query_release D1 to D4.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.release import DualQuery
        >>> bits = np.arange(4000).reshape(1000, 4) % 7 < 3
        >>> queries = Workload.complete(4, width=2)
        >>> planned = DualQuery.for_budget(records=1000, epsilon=2.0, delta=1e-3, eta=1.0, samples=60, workload=queries)
        >>> planned.rounds, round(planned.epsilon(), 3)
        (27, 1.955)
        >>> outcome = planned.run(bits, Noise.simulated(1))
        >>> outcome.billboard.answers(queries).shape, outcome.diagnostics["max_error"] < 0.2
        ((6,), True)
    """

    records: Annotated[int, Parameter("records of the data, a public number", at_least=1)]
    eta: Annotated[float, Parameter("step size of the query player; usually 1", above=0)]
    rounds: Annotated[int, Parameter("rounds; each gives one synthetic record", symbol="T", at_least=1,
                                     at_most=MOST_ROUNDS)]
    samples: Annotated[int, Parameter("queries drawn in each round", symbol="s", at_least=1, at_most=MOST_SAMPLES)]
    workload: Annotated[Workload | None, Parameter("queries; a plan needs no queries", symbol="k")] = None
    schema: Annotated[Schema | None, Parameter("public columns from which the attributes follow")] = None
    one_hot: Annotated[bool, Parameter("whether each synthetic record has exactly one attribute of each column with "
                                       "bins or levels")] = False
    free: Annotated[FreeRule, Parameter("values of attributes that no drawn query uses: \"zeros\" if sparsity is "
                                        "public knowledge, \"random\" or \"marginals\"")] = "zeros"
    marginal_rho: Annotated[float, Parameter("zCDP cost of all one-way marginals, with \"marginals\"",
                                             at_least=0)] = 0.0
    oracle: Oracle = field(default_factory=LocalSearch)
    seed: Annotated[int, Parameter("public seed of the oracle and of other public randomness", at_least=0)] = 0
    delta: Annotated[float, Parameter("delta at which epsilon is stated; 0 states no (epsilon, delta)", at_least=0,
                                      below=1)] = 0.0
    calculator: Annotated[Calculator, Parameter("proof that adds up the draws; usually \"zcdp\", or \"pure\" if delta "
                                                "is 0")] = "zcdp"
    failure_probability: Annotated[float, Parameter("probability that the accuracy bound fails", above=0,
                                                    below=1)] = 0.05
    literal: Annotated[bool, Parameter("always False in a campaign file")] = False

    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="records", asks="the custodian's table"),)
    share_depends_on: ClassVar[str] = "participants get no shares, and the released records are public"
    mirrored: ClassVar[bool] = False
    """Whether both players of the game use the signs of the printed Algorithm 3 in Wu 2017, which are opposite to the
    usual signs. The distribution of the synthetic records does not depend on `mirrored`.
    """

    def __post_init__(self) -> None:
        if self.literal and not self.mirrored:
            raise InvalidInput("literal", "Algorithm 3 as printed is another class",
                               "take confide.evidence.wu_2017.query_release.PrintedDualQuery")
        object.__setattr__(self, "free", rule_today(self.free))
        super().__post_init__()
        settle(self)
        check_exact(self.rounds, self.records, self.eta)
        if self.free == "marginals":
            positive("marginal_rho", self.marginal_rho)
            if self.calculator != "zcdp":
                raise InvalidInput("calculator", f"{self.calculator!r} does not add up Gaussian noise", 'use "zcdp"')
        elif self.marginal_rho != 0:
            raise InvalidInput("marginal_rho", f"{self.marginal_rho!r} has no effect",
                               'marginal_rho belongs to free="marginals"')
        if isinstance(self.oracle, type):
            raise InvalidInput("oracle", f"{self.oracle.__name__} is a class", f"write {self.oracle.__name__}()")
        if not isinstance(self.oracle, Oracle):
            raise InvalidInput("oracle", f"{type(self.oracle).__name__} has no method solve",
                               "give an oracle such as LocalSearch()")
        self._check_queries()

    def _check_queries(self) -> None:
        if self.one_hot and self.schema is None:
            raise InvalidInput("schema", "is missing", "one_hot needs the columns")
        if self.workload is None:
            return
        check_draws(self.samples)  # a plan without queries is not run
        if len(self.workload) > MOST_QUERIES:
            raise InvalidInput("workload", f"{len(self.workload):,} queries are too many",
                               f"must be at most {MOST_QUERIES:,}")
        if self.schema is not None and self.schema.attributes != self.workload.attributes:
            raise InvalidInput("schema", f"has {counted(self.schema.attributes, 'attribute')}",
                               f"the workload is over {self.workload.attributes}")
        if self.one_hot and self.workload.kind == "predicates":
            raise InvalidInput("one_hot", "cannot be combined with predicates",
                               "predicates already list all possible records")
        if self.workload.width > _NARROW and (most := most_clauses(
                self.workload.index, self.groups, self.workload.attributes)) > _MOST_CLAUSES:
            raise InvalidInput("workload", f"has a query that becomes {most:,} clauses on one-hot records",
                               f"must be at most {_MOST_CLAUSES:,}; name fewer values of a column, or one_hot=False")
        if self.free == "marginals":
            check_scale("marginal_rho", self._marginals_noise_std)

    # ---- planning

    @classmethod
    @renamed(n="records")
    @by_position_before("cls", "records", "epsilon", "delta")
    def for_budget(
        cls, *, records: int, epsilon: float, delta: float = 0.0, eta: float | None = None, rounds: int | None = None,
        samples: int | None = None, calculator: Calculator | None = None, free: FreeRule = "zeros",
        marginal_share: float = 0.05, **others: Any,
    ) -> Self:
        """The mechanism that spends a budget. The caller leaves out one of eta, rounds and samples, and this parameter
        is set to the largest value that the budget pays for.

        If two or all three of eta, rounds and samples are left out, the default of eta is 1. If rounds and samples are
        both left out, the default of samples is 1,000 for up to 300 attributes, and 1,000 sqrt(d/300) for d > 300
        attributes. The defaults did well on tables with dependent columns. If only rounds are given, the number of
        samples is the largest that the budget pays for, but at most 2^20. More samples would not reduce the error, and
        the rest of the budget is not spent.

        Args:
            records: number of records of the data, public.
            epsilon: budget of privacy loss in nats, > 0.
            delta: delta of the budget, in [0, 1).
            eta: step size, or None.
            rounds: number of rounds T, or None.
            samples: number s of draws in each round, or None.
            calculator: "zcdp", "theorem-3.4.2", "per-round" or "pure"; None for "zcdp", or "pure" if delta is 0.
            free: rule for the values of attributes that are in no drawn query of a round: "zeros", "random" or
                "marginals".
            marginal_share: share of rho for the one-way marginals, in (0, 1), if the rule is "marginals"; usually 0.05
                to 0.1.
            others: further parameters of the class.

        Raises:
            InvalidInput: none of eta, rounds and samples is left out, or a parameter is out of range.
            Refused: the budget is below the cost of one round that reads the data, or pays for more draws a round than
                fit into memory. The message names changes that would suffice.

        Example:
            >>> DualQuery.for_budget(records=494_021, epsilon=1.0, delta=1e-3, eta=2.0, samples=1000).rounds
            279
            >>> few = DualQuery.for_budget(records=494_021, epsilon=1.0, delta=1e-3, rounds=5)
            >>> few.samples, round(few.epsilon(), 3)
            (1048576, 0.016)
        """
        asked: dict[str, Any] = {"epsilon": epsilon, "eta": eta, "rounds": rounds, "samples": samples}

        by = calculator or ("zcdp" if delta else "pure")
        free = rule_today(free)

        def again(**changed: float) -> DualQuery:
            return cls.for_budget(records=records, **(asked | changed), delta=delta, calculator=calculator, free=free,
                                  marginal_share=marginal_share, **others)

        marginal_rho = 0.0
        if one_of("free", free, FREE_RULES) == "marginals":
            fraction("delta", delta)
            marginal_rho = fraction("marginal_share", marginal_share) * calculators.rho_within(epsilon, delta)
        besides = (marginals_event(marginal_rho),) if marginal_rho else ()
        step, size = usual(eta, rounds, samples, others.get("schema") or others.get("workload"))
        try:
            found = calculators.solve(records, epsilon, delta, eta=step, rounds=rounds, samples=size, calculator=by,
                                      besides=besides)
        except Refused as error:
            raise Refused(error.reason, retried(error, again)) from None
        drawn = drawn_a_round(found, eta, samples, again)
        return cls(records=records, eta=found.eta, rounds=found.rounds, samples=drawn, delta=delta, calculator=by,
                   free=free, marginal_rho=marginal_rho, **others)

    def epsilon(self, delta: float | None = None, calculator: Calculator | None = None) -> float:
        """The epsilon of the whole run in nats, by default at the mechanism's own delta and by its own calculator.

        The result is infinity if the calculator proves nothing. At delta = 0 only the calculator "pure" proves a bound.
        """
        at = self.delta if delta is None else fraction("delta", delta, zero=True)
        by = self.calculator if calculator is None else calculator
        if self.free == "marginals":
            one_of("calculator", by, ("zcdp",))
            return Accountant(self.events()).epsilon(at, calculator="zcdp")
        return calculators.epsilon(self.records, self.eta, self.rounds, self.samples, at, calculator=by)

    @property
    def rho(self) -> float:
        """The zCDP cost of the whole run."""
        return Accountant(self.events()).rho()

    def events(self) -> tuple[Event, ...]:
        """The privacy events of a run: the measurement of the one-way marginals, if there is one, and the draws of each
        round from the second on.
        """
        measured = (marginals_event(self.marginal_rho),) if self.free == "marginals" else ()
        return (*measured, *calculators.draws(self.records, self.eta, self.rounds, self.samples))

    def lines(self) -> tuple[Line, ...]:
        measured = lines_of((marginals_event(self.marginal_rho),)) if self.free == "marginals" else ()
        rounds = calculators.draws(self.records, self.eta, self.rounds, self.samples)
        return (*measured, FixedList(name=_ROUNDS, listed=rounds))

    def guarantees(self) -> Guarantees:
        from confide.release.guarantees import dual_query_guarantees

        return dual_query_guarantees(self)

    # ---- public facts

    @property
    def queries(self) -> Workload:
        """The workload.

        Raises:
            InvalidInput: the mechanism has no workload.
        """
        if self.workload is None:
            raise InvalidInput("workload", "is missing", "only a plan works without a workload")
        return self.workload

    @cached_property
    def groups(self) -> tuple[NDArray[np.int32], ...]:
        """The one-hot groups of the synthetic records: the attributes of each column with bins or levels. Without
        `one_hot` the synthetic records have no one-hot groups.
        """
        return () if self.schema is None or not self.one_hot else tuple(self.schema.groups)

    @cached_property
    def _reachable(self) -> tuple[NDArray[np.int32], ...]:
        """The one-hot groups, without the attributes that no record can have."""
        cells = np.zeros(0) if self.schema is None else self.schema.cell_of
        return tuple(members[cells[members] >= 0] for members in self.groups)

    @property
    def log_universe(self) -> float:
        """The logarithm ln |X| of the number of possible synthetic records."""
        return log_universe(self.queries.attributes, tuple(len(members) for members in self.groups))

    @property
    def planned_certificate(self) -> AnswersCertificate:
        """The accuracy bound before a run. The bound assumes that the oracle finds an optimal record in every round."""
        return self._certificate(0.0)

    def _certificate(self, tau: float) -> AnswersCertificate:
        return answers_certificate(self.eta, self.rounds, self.samples, queries=2 * len(self.queries),
                                   universe=self.log_universe, failure_probability=self.failure_probability, tau=tau)

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[SyntheticRecords, AnswersCertificate]:
        """Play all rounds. No error is raised after the first draw.

        Args:
            data: `TrueAnswers`, or any data that `true_answers` accepts: packed bits, a boolean array, codes, or a
                table of any kind. Without a schema each column of a table is a bit. The rule "marginals" needs the
                records, not only their true answers.
            noise: source of the draws.
            progress: function that is called with the number of finished rounds and the number of all rounds.

        Returns:
            An outcome with `SyntheticRecords` as billboard and an `AnswersCertificate`. Under simulated noise the
            outcome's diagnostics hold the true errors.

        Raises:
            InvalidInput: there is no workload; the data have another number of records, queries or attributes; the true
                answers are to other queries; the codes have another schema; or bits are not one-hot although `one_hot`
                or "marginals" requires it.

        Warns:
            In some rounds the oracle failed, and the default record was used. The number of such rounds is public.
        """
        source, read = as_noise(noise), self._read(data)
        board, satisfied = self._play(read, source, progress)
        failed = int(board.rounds.fell_back.sum())
        if failed:
            warnings.warn(f"the oracle gave no usable record in {failed:,} of {self.rounds:,} rounds; these rounds "
                          "have start records", PublicWarning, stacklevel=2)
        diagnostics = {}
        if not noise.release_safe:
            diagnostics = true_errors(satisfied / self.rounds, read.counts, self.records)
        return self._outcome(noise, billboard=board, shares=no_shares(), certificate=self.certify(board),
                             diagnostics=diagnostics)

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing, because no participant gets a share."""
        return {}

    def _read(self, data: Any) -> _Data:
        queries = self.queries
        records = records_of(data, self.schema, attributes=queries.attributes,
                             one_hot=self.one_hot or self.free == "marginals")
        if isinstance(records, TrueAnswers):
            answers, ones = records, None
            if self.free == "marginals":
                raise InvalidInput("data", "true answers have no one-way counts", "give the records themselves")
        else:
            answers, ones = true_answers(records, queries), self._one_way(records)
        check_answers(answers, queries, self.records, self.schema)
        return _Data(answers.counts, ones)

    def _one_way(self, records: PackedBits | Codes) -> NDArray[np.int64] | None:
        """The number of records that have each attribute, (d,), or None if the one-way marginals are not measured."""
        if self.free != "marginals":
            return None
        singles = Workload.conjunctions(np.arange(self.queries.attributes)[:, None], attributes=self.queries.attributes)
        return np.asarray(singles.counts(records), dtype=np.int64)

    def _play(
        self, read: _Data, source: Noise, progress: Progress | None
    ) -> tuple[SyntheticRecords, NDArray[np.int32]]:
        queries = self.queries
        marginals = np.zeros(0, dtype=np.int64) if read.ones is None else self._measure(read.ones, source)
        satisfied = np.zeros(len(queries), dtype=np.int32)
        records = np.zeros((self.rounds, queries.attributes), dtype=np.bool_)
        played: list[tuple[Netted, int, float, bool, bool]] = []
        for t in range(1, self.rounds + 1):
            samples = self._draw(read.counts, satisfied, t, source)
            answer = self._respond(samples, t, records[t - 2] if t > 1 else None, marginals)
            records[t - 1] = answer.record
            queries.add_values(answer.record, satisfied)
            bound = min(_clauses(samples), np.inf if answer.upper_bound is None else answer.upper_bound)
            played.append((samples, answer.value, bound, answer.fell_back, answer.timed_out))
            advance(progress, t, self.rounds)
        board = SyntheticRecords(records=PackedBits.pack(records), weights=np.full(self.rounds, 1.0 / self.rounds),
                                 rounds=Rounds.of(played), marginals=marginals, data_records=self.records,
                                 eta=self.eta)
        return board, satisfied

    def _measure(self, ones: NDArray[np.int64], source: Noise) -> NDArray[np.int64]:
        return noisy_marginals(ones, self._marginals_noise_std, squared_marginals_sensitivity(*self._grouped), source)

    @cached_property
    def _marginals_noise_std(self) -> float:
        return marginals_noise_std(self.marginal_rho, *self._grouped)

    @property
    def _grouped(self) -> tuple[int, int, int]:
        """The numbers of attributes, of one-hot groups, and of attributes in one-hot groups."""
        groups = () if self.schema is None else self.schema.groups
        return self.queries.attributes, len(groups), sum(len(members) for members in groups)

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        """The samples of round t. No other step of a round reads the data."""
        positions = draw_queries(source, self._round(t), counts, satisfied, line=_ROUNDS)
        if self.mirrored:  # this player minimises: a query of this player is our negation
            positions = (positions + len(counts)) % (2 * len(counts))
        return net(positions, len(counts))

    def _round(self, t: int) -> QueryRound:
        return QueryRound(eta=self.eta, t=t, n=self.records, samples=self.samples, mirrored=self.mirrored)

    def _default(self, t: int, marginals: NDArray[np.int64]) -> NDArray[np.bool_]:
        return default_record(self.free, self.queries.attributes, seed=self.seed, t=t, groups=self._reachable,
                              marginals=marginals if len(marginals) else None, records=self.records)

    def _respond(
        self, samples: Netted, t: int, previous: NDArray[np.bool_] | None, marginals: NDArray[np.int64]
    ) -> Answer:
        """The best response, computed from samples and public values alone."""
        queries = self.queries
        if queries.kind == "predicates":
            return _enumerated(queries, samples)
        terms = self._terms(samples)
        default = self._default(t, marginals)
        drawn = study_generator(self.seed, "start", t).random(queries.attributes) < 0.5
        start = (default, drawn) if previous is None else (default, previous, drawn)
        answer = best_response(self.oracle, terms, start, (self.seed << 24) + t)
        free = free_attributes(terms.active(), queries.attributes, self.groups)
        record = np.where(free, default, answer.record)
        return Answer(record=record, value=answer.value, upper_bound=answer.upper_bound, fell_back=answer.fell_back,
                      timed_out=answer.timed_out)

    def _terms(self, samples: Netted) -> Terms:
        queries = self.queries
        return Terms(kind="parities" if queries.kind == "parities" else "conjunctions", attributes=queries.attributes,
                     index=queries.index[samples.queries], bits=queries.bits[samples.queries], weights=samples.weights,
                     constant=samples.constant, groups=self.groups)

    # ---- after the run

    def certify(self, billboard: Billboard) -> AnswersCertificate:
        """The accuracy bound, computed from the billboard. The oracle's upper bounds limit the difference between each
        best response and the optimum.

        Upper bounds that the oracle reported are trusted. `recertify` trusts no reported bound.
        """
        board = self._board(billboard)
        return self._certificate(mean_gap(board.rounds.values, board.rounds.bounds, self.samples))

    def recertify(self, billboard: Billboard) -> AnswersCertificate:
        """The accuracy bound with independently computed upper bounds, from a linear program for each round.

        The method is for people who do not trust the custodian, and for oracles that return no upper bounds. The linear
        programs read no private data.

        Raises:
            InvalidInput: the billboard cannot come from a run of this mechanism (`check`).
        """
        self.check(billboard)
        rounds = self._board(billboard).rounds
        netted = [rounds.netted(t) for t in range(1, self.rounds + 1)]
        bounds = rounds.values if self.queries.kind == "predicates" else [
            min(_clauses(samples), upper_bound(self._terms(samples))) for samples in netted]
        return self._certificate(mean_gap(rounds.values, bounds, self.samples))

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard can come from a run of this mechanism. Each round must have s draws, and the stated
        value of a record must be the number of draws that the record satisfies. Free attributes must follow their rule,
        and the weights must be uniform.

        Raises:
            InvalidInput: the billboard belongs to other parameters, or contradicts itself.
        """
        board = self._board(billboard)
        if (board.data_records, board.eta) != (self.records, self.eta):
            raise InvalidInput("billboard", f"has n = {board.data_records:,} and eta = {board.eta:g}",
                               f"must have n = {self.records:,} and eta = {self.eta:g}")
        if not board.even:
            raise InvalidInput("billboard.weights", "are not all equal")
        if (len(board.marginals) > 0) != (self.free == "marginals"):
            raise InvalidInput("billboard.marginals", "do not fit the rule for free attributes")
        records = board.records.unpack()
        for t in range(1, self.rounds + 1):
            self._check_round(board, t, records[t - 1])

    def _check_round(self, board: SyntheticRecords, t: int, record: NDArray[np.bool_]) -> None:
        samples, k = board.rounds.netted(t), len(self.queries)
        where = f"billboard.rounds of round {t}"
        if len(samples.queries) and not (samples.queries[0] >= 0 and samples.queries[-1] < k
                                         and (np.diff(samples.queries) > 0).all() and (samples.weights != 0).all()):
            raise InvalidInput(where, "the samples are not in net form",
                               "must list queries of the workload in ascending order, each once, with a weight that is "
                               "not 0")
        cancelled = self.samples - int(np.abs(samples.weights).sum())
        drawn = -int(samples.weights[samples.weights < 0].sum()) + cancelled // 2
        if cancelled < 0 or cancelled % 2 or samples.constant != drawn:
            raise InvalidInput(where, f"the samples do not add up to {self.samples} draws")
        if self.queries.kind == "predicates":
            best = _enumerated(self.queries, samples)
            value = best.value
            if (record != best.record).any():
                raise InvalidInput(where, "the record is not the best record")
        else:
            terms = self._terms(samples)
            value = terms.value(record)
            free = free_attributes(terms.active(), len(record), self.groups)
            if (record != self._default(t, board.marginals))[free].any():
                raise InvalidInput(where, "free attributes do not follow their rule")
            if any(int(record[members].sum()) != 1 for members in self.groups):
                raise InvalidInput(where, "a record does not have exactly one attribute of each column")
        if value != int(board.rounds.values[t - 1]):
            stated = int(board.rounds.values[t - 1])
            raise InvalidInput(where, f"the record satisfies {value:,} samples, but the billboard states {stated:,}")
        bound = float(board.rounds.bounds[t - 1])
        if not value <= bound:
            raise InvalidInput(where, f"the upper bound {bound:g} is below the value {value:,}")
        if not bound <= _clauses(samples):
            raise InvalidInput(where, f"the upper bound {bound:g} is above the number of samples, "
                                      f"{_clauses(samples):,}")
        if bound < self._least_bound(samples, value):
            raise InvalidInput(where, "the upper bound is lower than the bound that this oracle proves",
                               "must be all remaining samples, or the figure of a linear program")

    def _least_bound(self, samples: Netted, value: int) -> float:
        """The least number that a round may report as its upper bound. For confide's own oracles the provable bound is
        known.
        """
        if self.queries.kind == "predicates":
            return float(value)
        match self.oracle:
            case LocalSearch(certify=False):
                return _clauses(samples)
            case LocalSearch() | IntegerProgram():
                # The same program on another machine: its duals, rounded, may differ in their last digits.
                return min(_clauses(samples), upper_bound(self._terms(samples)) * (1 - _SAME_PROGRAM))
            case _:
                return float(value)

    def _board(self, billboard: Billboard) -> SyntheticRecords:
        if not isinstance(billboard, SyntheticRecords):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is of another mechanism",
                               "must be SyntheticRecords")
        if (len(billboard), billboard.records.attributes) != (self.rounds, self.queries.attributes):
            raise InvalidInput("billboard.records",
                               f"{counted(len(billboard), 'record')} of "
                               f"{counted(billboard.records.attributes, 'attribute')}",
                               f"must be {counted(self.rounds, 'record')} of "
                               f"{counted(self.queries.attributes, 'attribute')}")
        return billboard


def _clauses(samples: Netted) -> float:
    """An upper limit on the number of samples that any record satisfies. A query and its negation that cancel count as
    one sample.
    """
    return float(samples.constant + samples.weights[samples.weights > 0].sum())


def _enumerated(queries: Workload, samples: Netted) -> Answer:
    """The best record of an enumerated universe; the first record if several are best."""
    values = samples.weights @ queries.truth[samples.queries].astype(np.int64)
    best = int(np.argmax(values))
    value = samples.constant + int(values[best])
    record = (best >> np.arange(queries.attributes)) & 1 == 1
    return Answer(record=record, value=value, upper_bound=float(value))

"""`Reweighted`: DualQuery's records with weights that fit a few noisy counts.

The records of DualQuery are public, since its draws are charged to the privacy budget. After DualQuery some queries are
selected, by public rules or by a charged selection, and measured with Gaussian noise. Finally the weights of the
records are fitted to the measurements. Only DualQuery's draws, the charged selection and the measurements read the
data. The fit does not.

Source: spec query_release D5 (an extension of Wu 2017, Algorithm 3).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative, one_of, positive
from confide.contract.errors import InvalidInput, NotGuaranteed, PublicWarning, Refused
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation, Source
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism, NoiseSource, Phase
from confide.contract.outcome import Billboard, Certificate, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.probabilities import as_probabilities
from confide.contract.remedies import retried
from confide.contract.renamed import by_position_before, renamed
from confide.contract.wire import wire
from confide.privacy.accounting import Accountant, spendable
from confide.privacy.charge import Line, lines_of
from confide.privacy.events import BoundedRangeEvent, Event, Repeated, ZCDPEvent
from confide.privacy.losses import ZCDP, ApproxDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.primitives.additive import add_discrete_gaussian
from confide.privacy.selection import exponential_mechanism
from confide.release import calculators
from confide.release._dual_fit import MostDrawn, SelectionRule, Transcript, fit, is_fit, most_targets, total_variation
from confide.release._inputs import gaussian_delta
from confide.release.answers import TrueAnswers, check_scale, counts_of, no_shares, records_of, settle, true_errors
from confide.release.draws_a_round import drawn_a_round, usual
from confide.release.dual_query import DualQuery
from confide.release.free_attributes import marginals_event
from confide.release.guarantees import BASELINE_ERROR, answers_accuracy, concentrated_privacy
from confide.release.query_game import net
from confide.release.records import PackedBits
from confide.release.synthetic import Rounds, SyntheticRecords
from confide.release.workload import Workload

__all__ = ["Reweighted", "ReweightedCertificate", "ReweightedRecords"]

TARGET = 0.005
"""Largest standard deviation of a measurement's noise, as a fraction of n, if the number of measured queries is the
default.
"""

SHIFT = 0.15
"""Total variation between the fitted weights and uniform weights above which the records count as overfitted to the
measurements.
"""

_SELECTIONS = ("public", "transcript", "private")
_SHARES = {"public": (0.9, 0.0, 0.1), "transcript": (0.9, 0.0, 0.1), "private": (0.85, 0.05, 0.1)}
_UNIT = Relation.REPLACE
_SPEC = "query_release D5"

Selection = Literal["public", "transcript", "private"]


@renamed()
@wire("ReweightedRecords", "records weights rounds marginals n eta chosen measured", data_records="n")
@dataclass(frozen=True, kw_only=True, eq=False)
class ReweightedRecords(SyntheticRecords):
    """DualQuery's records with fitted weights, and the measurements to which the weights were fitted.

    Args:
        chosen: positions of the measured queries, int64 (m,).
        measured: noisy counts of the measured queries, int64 (m,).
    """

    chosen: NDArray[np.int64] = field(repr=False)
    measured: NDArray[np.int64] = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("chosen", "measured"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.int64 or array.shape != self.chosen.shape:
                raise InvalidInput(name, "does not have the expected type and shape", "must be int64 of shape (m,)")

    @property
    def unweighted(self) -> SyntheticRecords:
        """The records with uniform weights, which are the release of DualQuery."""
        size = len(self)
        return SyntheticRecords(records=self.records, weights=np.full(size, 1.0 / size), rounds=self.rounds,
                                marginals=self.marginals, data_records=self.data_records, eta=self.eta)


@renamed(beta="failure_probability", measured_beta="measured_failure_probability")
@wire("ReweightedCertificate", "bound shift beta measured measured_beta vacuous fitted", failure_probability="beta",
      measured_failure_probability="measured_beta")
@dataclass(frozen=True, kw_only=True, eq=False)
class ReweightedCertificate(Certificate):
    """Bounds on the errors of a run, computed from its public result, as fractions of n.

    Args:
        bound: bound on the error of every query: the bound of DualQuery plus `shift`.
        shift: total variation between the fitted weights and uniform weights. Reweighting changes no answer by more
            than this amount.
        failure_probability: failure probability of `bound`.
        measured: bound on the error of every measured query.
        measured_failure_probability: failure probability of `measured`.
        vacuous: whether `bound` is at least 1/2, the largest possible error of the answer 1/2 to every query.
        fitted: whether the fit of the weights converged. If the fit did not converge, the weights are uniform.
    """

    bound: float
    shift: float
    failure_probability: float
    measured: float
    measured_failure_probability: float
    vacuous: bool
    fitted: bool = True

    @property
    def overfitted(self) -> bool:
        """Whether the weights are so far from uniform that the answers to unmeasured queries may have become worse."""
        return self.shift > SHIFT


@renamed(n="records", beta="failure_probability", sigma="noise_std")
@wire("Reweighted", "dual_query rho_mea measured selection rho_sel listed rule seed prior delta beta",
      failure_probability="beta")
@dataclass(frozen=True, kw_only=True)
class Reweighted(Mechanism[ReweightedRecords, ReweightedCertificate]):
    """A mechanism in three steps: DualQuery, m Gaussian measurements, and a fit of the records' weights to the
    measurements.

    If `measured` is None, the number of measured queries is the largest for which the noise of a measurement has a
    standard deviation of at most 0.005 n and the fit does not take too long. Too few measurements are harmful, because
    the weights of all T records are fitted to these few measurements. The parameter `selection` says how the queries
    are chosen. With "public" the queries are given by `listed` or drawn by the public seed, at no cost. With
    "transcript" the `rule` chooses the queries from DualQuery's published transcript, at no cost. With "private" the
    exponential mechanism chooses, one by one, queries with large errors of the records; the selections cost `rho_sel`.

    Args:
        rule: rule of the choice, for the selection "transcript".

    Raises:
        InvalidInput: a parameter is out of range, or the parameters do not fit together.
        Refused: the budget of the measurements does not pay for one measurement.
        NotGuaranteed: the selection is "private", and no budget is given for it.

    Source: spec query_release D5.

    Example:
        >>> from confide.release import Workload
        >>> bits = np.arange(8000).reshape(2000, 4) % 7 < 3
        >>> pairs = Workload.complete(4, width=2)
        >>> planned = Reweighted.for_budget(records=2000, epsilon=2.0, delta=1e-3, eta=1.0, samples=60, workload=pairs)
        >>> planned.dual_query.rounds, planned.count, planned.epsilon() <= 2.0
        (41, 5, True)
        >>> planned.run(bits, Noise.simulated(1)).billboard.answers(planned.workload).shape
        (6,)
    """

    dual_query: Annotated[DualQuery, Parameter("game that gives the records, with its workload")]
    rho_mea: Annotated[float, Parameter("zCDP cost of the measurements", above=0)]
    measured: Annotated[int | None, Parameter("number of measured queries; None chooses it by the noise", symbol="m",
                                              at_least=1)] = None
    selection: Annotated[Selection, Parameter("rule that chooses the measured queries: \"public\", \"transcript\" or "
                                              "\"private\"")] = "public"
    rho_sel: Annotated[float, Parameter("zCDP cost of the choices; 0 unless the rule is \"private\"", at_least=0)] = 0.0
    listed: Annotated[tuple[int, ...] | None, Parameter(
        'positions in the workload, fixed before the run, with "public"', at_least=0)] = None
    rule: SelectionRule = field(default_factory=MostDrawn)
    seed: Annotated[int, Parameter("public seed of the choice", at_least=0)] = 0
    prior: Annotated[float | None, Parameter("weight of the uniform weights in the fit; None for 100 in each round",
                                             symbol="lambda",
                                             above=0)] = None
    delta: Annotated[float, Parameter("delta at which epsilon is stated; 0 states none", at_least=0, below=1)] = 0.0
    failure_probability: Annotated[float, Parameter("probability that the bound of the measured queries fails",
                                                    above=0, below=1)] = 0.05

    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="records", asks="the custodian's table"),)
    share_depends_on: ClassVar[str] = "participants get no shares, and the released records are public"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self)
        k = len(self.dual_query.queries)
        if self.selection == "private" and not self.rho_sel:
            raise NotGuaranteed("a selection by true errors", "no budget pays for the selection", "give rho_sel > 0")
        if self.selection != "private" and self.rho_sel:
            raise InvalidInput("rho_sel", f"{self.rho_sel:g} has no effect", "rho_sel belongs to selection='private'")
        if isinstance(self.rule, type):
            raise InvalidInput("rule", f"{self.rule.__name__} is a class", f"write {self.rule.__name__}()")
        if not isinstance(self.rule, SelectionRule):
            raise InvalidInput("rule", f"{type(self.rule).__name__} has no method choose",
                               "give a rule such as MostDrawn()")
        if self.listed is not None:
            self._check_list(k)
        if self.measured is not None and self.measured > k:
            raise InvalidInput("measured", f"{self.measured:,} are too many", f"the workload has {k:,} queries")
        if self.count < 1:
            raise Refused(f"rho_mea = {self.rho_mea:.3g} is too small to measure one query of {self.records:,} records "
                          f"with a standard deviation of {TARGET:g} times this number",
                          "choose a larger rho_mea, or set `measured`")
        if self.count > (most := most_targets(self.dual_query.rounds)):
            raise Refused(f"the fit of {self.dual_query.rounds:,} records to {self.count:,} measurements would take "
                          "hours", f"set `measured` to at most {most:,}, or choose fewer rounds")
        check_scale("rho_mea", self.noise_std)
        if self.selection == "private" and not self.epsilon_sel > 0:
            raise InvalidInput("rho_sel", f"{self.rho_sel!r} is too small for {self.count:,} selections")

    def _check_list(self, k: int) -> None:
        listed = () if self.listed is None else tuple(map(int, self.listed))  # also of an array
        object.__setattr__(self, "listed", listed)
        if self.selection != "public":
            raise InvalidInput("listed", "cannot be used", "listed belongs to selection='public'")
        if not listed:
            raise InvalidInput("listed", "is empty", "must be one or more positions of queries")
        if len(set(listed)) < len(listed):
            raise InvalidInput("listed", "names a query twice", "must be different positions")
        if max(listed) >= k:
            raise InvalidInput("listed", "holds a position without a query", f"each must be in 0..{k - 1}")
        if self.measured not in (None, len(listed)):
            raise InvalidInput("measured", f"{self.measured} differs from the {len(listed)} listed queries",
                               "leave it out")

    @classmethod
    @renamed(n="records", beta="failure_probability")
    @by_position_before("cls", "records", "epsilon", "delta")
    def for_budget(
        cls, *, records: int, epsilon: float, delta: float = 0.0, workload: Workload, eta: float | None = None,
        rounds: int | None = None, samples: int | None = None, shares: tuple[float, float, float] | None = None,
        selection: Selection = "public", measured: int | None = None, listed: tuple[int, ...] | None = None,
        rule: SelectionRule | None = None, seed: int = 0, prior: float | None = None,
        failure_probability: float = 0.05, marginal_share: float = 0.05, **others: Any,
    ) -> Self:
        """A mechanism with privacy loss at most (epsilon, delta). The corresponding zCDP budget is split in fixed
        shares.

        DualQuery plays a whole number of rounds. If these rounds do not spend all of DualQuery's share, the rest goes
        to the measurements.

        Args:
            records: number of records of the data, public.
            epsilon: budget of privacy loss in nats, > 0.
            delta: delta of the budget, in (0, 1). There is no version with pure differential privacy, since the
                measurements are Gaussian.
            workload: the queries.
            eta: step size. One of eta, rounds and samples is left out, and is set to the largest value that the budget
                pays for. If two or three of eta, rounds and samples are left out, they have the defaults of
                `DualQuery`.
            rounds: number of rounds of DualQuery, T, or None.
            samples: number of draws a round, s, or None.
            shares: shares of the zCDP budget for DualQuery, the selection and the measurements. The default is (.9, 0,
                .1), or (.85, .05, .1) with "private".
            selection: rule that chooses the measured queries, "public", "transcript" or "private". This parameter and
                measured, listed, rule, seed and prior have the same meaning as in the class.
            measured: number of measured queries, m, or None.
            listed: positions of the measured queries in the workload, or None.
            rule: rule of the choice, for the selection "transcript".
            seed: public seed of DualQuery and of the choice.
            prior: weight lambda > 0 of the uniform weights in the fit, or None.
            failure_probability: failure probability of each of the two certificates.
            marginal_share: share of DualQuery's rho for the one-way marginals, with free="marginals".
            others: further parameters of `DualQuery`.

        Raises:
            InvalidInput: the shares are invalid, or a parameter is out of range.
            Refused: a share of the budget is below the cost of one round, or of one measurement.
        """
        asked: dict[str, Any] = {"epsilon": epsilon, "eta": eta, "rounds": rounds, "samples": samples}
        kept = others | {"shares": shares, "selection": selection, "measured": measured, "listed": listed, "rule": rule,
                         "seed": seed, "prior": prior, "failure_probability": failure_probability,
                         "marginal_share": marginal_share}

        def again(**changed: float) -> Reweighted:
            return cls.for_budget(records=records, **(asked | changed), delta=delta, workload=workload, **kept)

        total = calculators.rho_within(spendable(positive("epsilon", epsilon), gaussian_delta(delta)), delta)
        parts = _SHARES[one_of("selection", selection, _SELECTIONS)] if shares is None else _parts(shares)
        if len(parts) != 3 or min(non_negative("shares", part) for part in parts) < 0 or \
                not math.isclose(math.fsum(parts), 1.0, abs_tol=1e-9) or not parts[0] or not parts[2]:
            raise InvalidInput("shares", f"{parts!r}", "must be three parts that sum to 1, the first and last above 0")
        if bool(parts[1]) != (selection == "private"):
            raise InvalidInput("shares", f"the second part is {parts[1]:g} for a {selection} selection",
                               "must be above 0 for a private selection, and 0 for any other")
        rho_sel = parts[1] * total
        marginal_rho = 0.0
        if others.get("free") == "marginals":
            marginal_rho = others["marginal_rho"] = fraction("marginal_share", marginal_share) * parts[0] * total
        besides: tuple[Event, ...] = (ZCDPEvent(rho=rho_sel + parts[2] * total, neighbours=_UNIT),)
        if marginal_rho:
            besides += (marginals_event(marginal_rho),)
        step, size = usual(eta, rounds, samples, workload)
        try:
            found = calculators.solve(records, epsilon, delta, eta=step, rounds=rounds, samples=size, besides=besides)
        except Refused as error:
            raise Refused(error.reason, retried(error, again)) from None
        game = DualQuery(records=records, eta=found.eta, rounds=found.rounds, workload=workload, seed=seed,
                         failure_probability=failure_probability, samples=drawn_a_round(found, eta, samples, again),
                         **others)
        rho_mea = float(Fraction(total) - Fraction(rho_sel) - Fraction(game.rho))
        rest: dict[str, Any] = {} if rule is None else {"rule": rule}
        while True:
            made = cls(dual_query=game, rho_mea=rho_mea, measured=measured, selection=selection, rho_sel=rho_sel,
                       listed=listed, seed=seed, prior=prior, delta=delta,
                       failure_probability=failure_probability, **rest)
            if made.rho <= total:
                return made
            rho_mea = math.nextafter(rho_mea, 0.0)

    # ---- public facts

    @property
    def records(self) -> int:
        """The number of records of the data, n."""
        return self.dual_query.records

    @property
    def workload(self) -> Workload:
        """The queries of DualQuery, which are the queries of the release."""
        return self.dual_query.queries

    @cached_property
    def count(self) -> int:
        """The number of measured queries, m."""
        if self.listed is not None:
            return len(self.listed)
        if self.measured is not None:
            return self.measured
        most = 2 * self.rho_mea * (TARGET * self.records) ** 2
        return min(len(self.workload), math.floor(most), most_targets(self.dual_query.rounds))

    @cached_property
    def noise_std(self) -> float:
        """The standard deviation of a measurement's noise, in counts: sqrt(m / (2 rho_mea)), rounded up. The
        replacement of a record changes each of the m counts by at most 1.
        """
        target = Fraction(self.count) / (2 * Fraction(self.rho_mea))
        sigma = math.sqrt(float(target))
        while Fraction(sigma) ** 2 < target:
            sigma = math.nextafter(sigma, math.inf)
        return sigma

    @cached_property
    def epsilon_sel(self) -> float:
        """The epsilon of one private selection: sqrt(8 rho_sel / m) for m selections, rounded down; 0 without private
        selections.
        """
        if not self.rho_sel:
            return 0.0
        each = math.sqrt(8 * self.rho_sel / self.count)
        while Fraction(each) ** 2 * self.count > 8 * Fraction(self.rho_sel):
            each = math.nextafter(each, 0.0)
        return each

    @property
    def kappa(self) -> float:
        """The regularisation kappa of the fit, (sigma/n)^2 lambda, where sigma is the standard deviation of the noise
        and lambda the parameter `prior`. The fit uses a kappa of at least 10^-9.
        """
        prior = 100.0 * self.dual_query.rounds if self.prior is None else self.prior
        return (self.noise_std / self.records) ** 2 * prior

    # ---- promises

    def events(self) -> tuple[Event, ...]:
        """The privacy events of DualQuery, the selections and the measurements. The list of events is fixed before the
        first draw.
        """
        selections: tuple[Event, ...] = ()
        if self.selection == "private":
            one = BoundedRangeEvent(epsilon=self.epsilon_sel, neighbours=_UNIT, label="selection")
            selections = (Repeated(event=one, count=self.count, neighbours=_UNIT, label="selections"),)
        return (*self.dual_query.events(), *selections,
                ZCDPEvent(rho=self.rho_mea, neighbours=_UNIT, label="measurements"))

    def lines(self) -> tuple[Line, ...]:
        played = self.dual_query.lines()
        own = self.events()[len(self.dual_query.events()):]
        return (*played, *lines_of(own))

    @cached_property
    def rho(self) -> float:
        """The zCDP cost of the whole run: the sum of the costs of DualQuery, of the selections (rho_sel) and of the
        measurements (rho_mea).
        """
        return Accountant(self.events()).rho()

    def epsilon(self, delta: float | None = None) -> float:
        """The epsilon of the whole run in nats, by default at the mechanism's own delta."""
        return ZCDP(self.rho).epsilon_at(self.delta if delta is None else fraction("delta", delta, zero=True))

    def guarantees(self) -> Guarantees:
        source = Source(document="confide", statement="records from draws, weights from Gaussian measurements",
                        spec=_SPEC)
        privacy = [concentrated_privacy(self.events(), source)]
        if self.delta:
            privacy.append(Privacy(loss=ApproxDP(self.epsilon(), self.delta), neighbours=_UNIT,
                                   audience=Audience.PUBLIC,
                                   source=source, note="by zCDP"))
        game = self.dual_query.planned_certificate
        return Guarantees((*privacy, answers_accuracy(game, source, "the bound is for the records with even weights "
                           "and optimal best responses; the certificate adds the effect of the weights")))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[ReweightedRecords, ReweightedCertificate]:
        """Run DualQuery, the selection, the measurements and the fit.

        Args:
            data: records in any form that `DualQuery.run` accepts.
            noise: source of noise, `Noise.secure()` for a release.
            progress: function that is called with the number of DualQuery's finished rounds and the number of all
                rounds.

        Raises:
            InvalidInput: the data do not fit the plan (`DualQuery.run` lists the cases), or the rule does not choose
                `count` different queries.
            NotGuaranteed: the rule reads true errors. A release tries the rule on a synthetic run before anything is
                drawn, so that faults of the rule appear before the budget is spent.

        Warns:
            One warning says that the rule failed in the run, and that the public seed chooses the queries instead,
            since the budget is already spent. A second warning says that the fit did not converge, so that the weights
            are uniform. A third one says that the weights differ from uniform weights by a total variation of more than
            0.15. The warnings depend only on published data.
        """
        source = as_noise(noise)
        game, workload = self.dual_query, self.workload
        if noise.release_safe:
            self._try_rule()
        one_hot = game.one_hot or game.free == "marginals"
        data = records_of(data, game.schema, attributes=workload.attributes, one_hot=one_hot)
        counts = counts_of(data, workload, self.records, game.schema)
        given = data if game.free == "marginals" else TrueAnswers(counts=counts, records=self.records,
                                                                  workload=workload)
        played: Any = game.run(given, noise, progress=progress).billboard
        # Under simulated noise nothing is paid for, and the author of a faulty rule should see its error.
        chosen = self._select_privately(played, counts, source) if self.selection == "private" else \
            self._select_publicly(played, strict=not noise.release_safe)
        measured = add_discrete_gaussian(source, counts[chosen], noise_std=self.noise_std, stream=("measurements",),
                                         l2_sensitivity_squared=self.count, line="measurements")
        weights = fit(self._values(played, chosen), measured / self.records, self.kappa).weights
        board = ReweightedRecords(records=played.records, weights=weights, rounds=played.rounds,
                                  marginals=played.marginals, data_records=played.data_records, eta=played.eta,
                                  chosen=chosen,
                                  measured=measured)
        certificate = self.certify(board)
        if certificate.overfitted:
            warnings.warn(f"the weights differ by {certificate.shift:.2f} from uniform weights: {self.count} "
                          f"measurements are few for {len(board)} records. Measure more queries, or choose a larger "
                          "prior", PublicWarning, stacklevel=2)
        if not certificate.fitted:
            warnings.warn("no weights fit the measurements, so the weights are uniform", PublicWarning, stacklevel=2)
        diagnostics: dict[str, float] = {}
        if not noise.release_safe:
            plain = true_errors(played.answers(workload), counts, self.records)
            diagnostics = {**true_errors(board.answers(workload), counts, self.records),
                           **{f"unweighted_{name}": value for name, value in plain.items()}}
        return self._outcome(noise, billboard=board, shares=no_shares(), certificate=certificate,
                             diagnostics=diagnostics)

    def _select_publicly(self, played: SyntheticRecords, *, strict: bool = False) -> NDArray[np.int64]:
        """The measured queries, chosen from public facts and the transcript, without any private data."""
        if self.selection == "public":
            return self._drawn_publicly() if self.listed is None else np.array(self.listed, np.int64)
        transcript = Transcript(records=played.records, rounds=played.rounds, workload=self.workload,
                                answers=played.answers(self.workload), seed=self.seed)
        try:
            return self._ruled(transcript)
        except Exception as error:
            if strict:
                raise
            # The records are paid for. What the rule saw is public, so its failure may be reported.
            warnings.warn(f"the rule has failed ({type(error).__name__}), so the public seed chose the queries",
                          PublicWarning, stacklevel=3)
            return self._drawn_publicly()

    def _drawn_publicly(self) -> NDArray[np.int64]:
        k = len(self.workload)
        return np.sort(study_generator(self.seed, "measured").permutation(k)[: self.count]).astype(np.int64)

    def _ruled(self, transcript: Transcript) -> NDArray[np.int64]:
        """The queries that the rule chooses.

        Raises:
            InvalidInput: the rule does not return `count` different positions.
        """
        k, chosen = len(self.workload), np.asarray(self.rule.choose(transcript, self.count))
        if chosen.shape != (self.count,) or chosen.dtype.kind not in "iu" or len(np.unique(chosen)) < self.count or \
                chosen.min() < 0 or chosen.max() >= k:
            raise InvalidInput("rule", "does not name the planned number of different queries",
                               f"must name {self.count} different positions in 0..{k - 1}")
        return chosen.astype(np.int64)

    def _try_rule(self) -> None:
        """Try a user's own rule on a synthetic run, before the budget is spent, when a refusal costs nothing."""
        if self.selection != "transcript" or isinstance(self.rule, MostDrawn):
            return
        g = study_generator(self.seed, "made-up run")
        game, k = self.dual_query, len(self.workload)
        records = PackedBits.pack(g.random((game.rounds, self.workload.attributes), dtype=np.float32) < 0.5)
        size = min(game.samples, 100)
        played = [(net(g.integers(0, 2 * k, size), k), 0, float(size), False, False) for _ in range(game.rounds)]
        self._ruled(Transcript(records=records, rounds=Rounds.of(played), workload=self.workload,
                               answers=self.workload.counts(records) / game.rounds, seed=self.seed))

    def _select_privately(
        self, played: SyntheticRecords, counts: NDArray[np.int64], source: Noise
    ) -> NDArray[np.int64]:
        """The m queries that the exponential mechanism draws, without replacement, with the scores |n q(D) - n q_hat|.
        Here q_hat is the answer of the records. In units of 1/T counts the scores are whole numbers, and the
        replacement of a record changes each score by at most T.
        """
        rounds = len(played)
        satisfied = np.asarray(self.workload.counts(played.records), np.int64)
        scores = np.abs(rounds * counts - self.records * satisfied)
        left = np.arange(len(scores))
        chosen = np.zeros(self.count, np.int64)
        for j in range(self.count):
            place = int(exponential_mechanism(scores, self.epsilon_sel, float(rounds), source,
                                            stream=("select", "reweighted", j), line="selections")[0])
            chosen[j] = left[place]
            scores, left = np.delete(scores, place), np.delete(left, place)
        return chosen

    def _values(self, played: SyntheticRecords, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(T, m) whether each record satisfies each measured query."""
        some = _part(self.workload, chosen)
        return np.array([some.values(record) for record in played.records.unpack()])

    # ---- after the run

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing, because no participant gets a share."""
        return {}

    def certify(self, billboard: Billboard) -> ReweightedCertificate:
        """The certificate: DualQuery's bound plus the effect of the weights, and a bound on the errors of the measured
        queries.
        """
        board = self._board(billboard)
        game = self.dual_query.certify(board.unweighted)
        shift = total_variation(board.weights)
        bound = shift + (math.inf if game is None else game.bound)
        fitted = not board.even or fit(self._values(board, board.chosen), board.measured / self.records,
                                       self.kappa).found
        return ReweightedCertificate(bound=bound, shift=shift, vacuous=bound >= BASELINE_ERROR, fitted=fitted,
                                     failure_probability=self.dual_query.failure_probability,
                                     measured=float(self.measured_bounds(board).max()),
                                     measured_failure_probability=self.failure_probability)

    def measured_bounds(self, board: ReweightedRecords) -> NDArray[np.float64]:
        """Bounds on the errors of the measured queries, (m,). The probability that any of the bounds fails is at most
        the failure probability beta of the mechanism.

        The bound for query j is |q_j(p) - y_j/n| + (sigma/n) sqrt(2 ln(2m/beta)), where q_j(p) is the weighted answer,
        y_j the noisy count, and sigma the standard deviation of the noise in counts. The bound is valid because
        discrete Gaussian noise has no heavier tail than Gaussian noise.
        """
        tail = self.noise_std / self.records * math.sqrt(2 * math.log(2 * self.count / self.failure_probability))
        answers = board.weights @ self._values(board, board.chosen)
        return np.asarray(np.abs(answers - board.measured / self.records) + tail)

    def check(self, billboard: Billboard) -> None:
        """Check that the records can come from DualQuery, that a choice of queries by a public rule is correct, and
        that the weights are those of the fit.

        Raises:
            InvalidInput: an entry of the billboard does not follow from the other entries. The message names the entry.
        """
        board = self._board(billboard)
        played = board.unweighted
        self.dual_query.check(played)
        if self.selection != "private" and not np.array_equal(board.chosen, self._select_publicly(played)):
            raise InvalidInput("billboard.chosen", "are not the queries that the plan names")
        if not is_fit(board.weights, self._values(played, board.chosen), board.measured / self.records, self.kappa):
            raise InvalidInput("billboard.weights", "do not fit the measurements")

    def _board(self, billboard: Billboard) -> ReweightedRecords:
        if not isinstance(billboard, ReweightedRecords):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is of another mechanism",
                               "must be ReweightedRecords")
        chosen = billboard.chosen
        if chosen.shape != (self.count,) or len(np.unique(chosen)) < self.count or chosen.min() < 0 or \
                chosen.max() >= len(self.workload):
            raise InvalidInput("billboard.chosen", "do not have the planned number of different queries",
                               f"must be {self.count}")
        return billboard


def _part(workload: Workload, chosen: NDArray[np.int64]) -> Workload:
    """Some queries of a workload, in the given order."""
    if workload.kind == "predicates":
        return Workload(kind="predicates", attributes=workload.attributes, index=workload.index[chosen],
                        bits=workload.bits[chosen], truth=workload.truth[chosen])
    return Workload(kind=workload.kind, attributes=workload.attributes, index=workload.index[chosen],
                    bits=workload.bits[chosen])


def _parts(shares: object) -> tuple[float, ...]:
    try:
        return tuple(as_probabilities(shares).ravel().tolist())
    except (TypeError, ValueError):
        raise InvalidInput("shares", f"{shares!r}", "must be three parts that sum to 1") from None

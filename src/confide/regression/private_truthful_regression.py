"""Algorithm 2 of Cummings et al. 2015, corrected: a private regression that pays for truthful answers.

Every player is assigned to one of two groups at random. A player is paid for the accuracy of a prediction: the other
group's private estimate (payment estimate) predicts the posterior mean that the player's own answer implies. The
payment estimates are ridge regressions constrained to a ball, plus noise. The payment estimates and the public release
are all on the billboard, and each payment follows from the billboard and the player's own record.

Source: Cummings et al. 2015, Algorithm 2; spec truthful_regression sections 4, 5, 7.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Guarantees, Privacy, Relation
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Declared, Parameter
from confide.contract.progress import advance
from confide.contract.renamed import renamed, warn_of_old
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.accounting import Accountant
from confide.privacy.charge import Line, Parallel, lines_of
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.public_randomness import public_split
from confide.regression.bounds import RidgeBounds
from confide.regression.costs import (
    CostLaw,
    DependentCosts,
    EmpiricalCosts,
    ExponentialCosts,
    ParetoCosts,
    QuadraticCosts,
)
from confide.regression.guarantees import Figures, figures, privacy_guarantees, regression_guarantees
from confide.regression.posterior import PosteriorMean
from confide.regression.records import (
    Batch,
    Moments,
    RecordMap,
    as_batches,
    moments,
    one_record,
    ordered_dot,
    payments,
    twice_readable,
)
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.base import Interval, Released, in_ball
from confide.regression.release.output_perturbation import (
    Averaged,
    RidgeRelease,
    noise_scale,
    perturbed_ridge,
    ridge_bounds,
)
from confide.regression.release.sufficient_statistics import SufficientStatistics
from confide.regression.scoring import ScoringRule
from confide.regression.setting import LinearBillboard, Setting
from confide.regression.spectrum import ridge_shrinkage

__all__ = ["PAYMENT_GROUPS", "PAYMENT_LINE", "Behaviour", "PaymentScheme", "PrivateTruthfulRegression",
           "RegressionBillboard"]

_ROUNDING = 1e-6  # what another processor's arithmetic may change in an estimate from ill-conditioned moments
PAYMENT_LINE, PAYMENT_GROUPS = "payment estimates", ("first group", "second group")
"""Names of the payment estimates' line in the privacy charge, and of the two groups over which that line composes in
parallel.
"""
_STEPS = 3  # of a run: sums, estimates, payments
_LARGEST_PAYMENT = 2.0**62  # a share is an int64; noise this large never occurs, and never becomes an error


@wire("Payment", "epsilon ridge rule clip currency minor_units debias")
@dataclass(frozen=True, kw_only=True)
class PaymentScheme(Declared):
    """The rule by which people are paid, and the privacy loss of the payment estimates."""

    epsilon: Annotated[float, Parameter(
        "privacy loss of the two payment estimates together (a record is in one of them)", unit="nats", above=0)]
    ridge: Annotated[float, Parameter(
        "ridge weight of the payment estimates; smaller than the release's, because payments need low bias",
        symbol="gamma_p", above=0)]
    rule: Annotated[ScoringRule, Parameter("the scoring rule, in the currency's unit")]
    clip: Annotated[float | None, Parameter(
        "s in the bound R + s t at which the peers' prediction is clipped, which bounds every payment; None for no "
        "bound",
        symbol="t", above=0)] = None
    currency: Annotated[str, Parameter("its name")] = "USD"
    minor_units: Annotated[int, Parameter(
        "number of smallest coins in one unit; shares are whole numbers of coins", at_least=1)] = 100
    debias: Annotated[bool, Parameter(
        "divide the peers' estimate by 1 - g, its known shrinkage, to remove the ridge bias from the peer error; only "
        "for features uniform in the ball. The spread of payments grows by the factor 1/(1 - g)")] = False


@wire("Behaviour", "costs misreports failure common_factor", failure_probability="failure")
@renamed(failure="failure_probability")
@dataclass(frozen=True, kw_only=True)
class Behaviour(Declared):
    """Assumptions about privacy costs, and about the share of people who do not answer truthfully.

    Args:
        costs: law of the cost coefficient c; a player's privacy cost is at most c epsilon^2, in the unit of the
            currency.
    """

    costs: ParetoCosts | ExponentialCosts | EmpiricalCosts | DependentCosts | QuadraticCosts
    misreports: Annotated[float, Parameter(
        "tolerated share of lies and absences", symbol="alpha", above=0, below=1)]
    failure_probability: Annotated[float, Parameter(
        "probability that the share of lies and absences is larger", symbol="beta", above=0, below=1)]
    common_factor: Annotated[bool, Parameter(
        "whether costs may share an unknown factor. If so, only the source's Lemma 3 bounds the number of costs above "
        "a threshold, and the threshold is far larger")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.costs, CostLaw):
            raise InvalidInput("costs", f"{type(self.costs).__name__} is not a law of costs",
                               "must be a law such as ParetoCosts(exponent=4.0, scale=0.01)")


@wire("RegressionBillboard", "people coef split estimate peers gram cross ridge")
@dataclass(frozen=True, kw_only=True, eq=False)
class RegressionBillboard(LinearBillboard):
    """The public result of a run.

    Args:
        people: number n of invited people, including people who send no record.
        split: bitmap of the random groups, with bit i for the participant of index i (numpy.packbits).
        coef: (d,) released coefficients, projected to the ball that contains the true parameter.
        estimate: (d,) coefficients before the projection, to which intervals refer.
        peers: (2, d) noisy payment estimates of the two groups.
        gram: (d, d) noisy second moments; (0, 0) where the release publishes none.
        cross: (d,) noisy cross moments; (0,) where the release publishes none.
        ridge: ridge weight that the release chose from its own noisy outputs; 0 where the release chooses none.
    """

    estimate: np.ndarray
    peers: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    ridge: float = 0.0

    def __post_init__(self) -> None:
        d = self.dimension
        moments = {"gram": (d, d), "cross": (d,)} if self.gram.size or self.cross.size else {}
        self._check(split=(-(-self.people // 8),), estimate=(d,), peers=(2, d), **moments)

    @property
    def released(self) -> Released:
        """The published numbers in the form that the release estimator uses."""
        return Released(estimate=self.estimate, gram=self.gram, cross=self.cross, ridge=self.ridge)


@wire("PrivateTruthfulRegression", "setting payment release behaviour mode")
@dataclass(frozen=True, kw_only=True)
class PrivateTruthfulRegression(Mechanism[RegressionBillboard, None]):
    """A regression that buys answers from people who may lie, under joint differential privacy.

    `for_budget` chooses all settings from public parameters. `confide.regression.plan` also predicts accuracy and
    payments, and compares release estimators.

    Example:
        >>> import numpy as np
        >>> mechanism = PrivateTruthfulRegression.for_budget(
        ...     epsilon=1.5, people=20_000, features=2, parameter_bound=1.0, noise_bound=0.5, truth_radius=0.5)
        >>> X = np.tile([[0.6, 0.0], [0.0, 0.6]], (10_000, 1))
        >>> outcome = mechanism.run((X, X @ [0.5, -0.5]), Noise.simulated(1))
        >>> outcome.billboard.coef_.round(1).tolist(), outcome.release_safe
        ([0.5, -0.5], False)
    """

    setting: Annotated[Setting, Parameter("the public facts; privacy depends only on their bounds")]
    payment: Annotated[PaymentScheme, Parameter("rule of the payments, and their cost in privacy")]
    release: Annotated[RidgeRelease | Averaged | SufficientStatistics | AdaSSP, Parameter(
        "the estimator of the public coefficients, with its own privacy statement")]
    behaviour: Annotated[Behaviour, Parameter("costs and the tolerated share of misreports")]
    mode: Annotated[Literal["corrected"], Parameter("always this value in a campaign file")] = "corrected"

    held_in_ball: ClassVar[bool] = True
    """Whether the estimates are constrained to the ball for which their noise is scaled."""

    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="report", asks="verified features and one answer"),)
    _posterior: PosteriorMean = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.held_in_ball and str(self.mode) == "paper":
            raise InvalidInput("mode", "the literal Algorithm 2 is a class of its own",
                               "use confide.evidence.cummings_2015.PrintedTruthfulRegression, without a mode")
        super().__post_init__()
        if isinstance(self.release, Averaged) and (self.release.epsilon_payment, self.release.ridge_payment) != (
            self.payment.epsilon, self.payment.ridge
        ):
            raise InvalidInput("release", "averages payment estimates that differ from those of the mechanism",
                               "use the epsilon and the ridge of the payment")
        if self.payment.debias and not self.setting.uniform_ball:
            raise InvalidInput("debias", "the shrinkage of the peers' estimate is not known for these features",
                               "set debias only for features uniform in the ball, without smallest_eigenvalue")
        if isinstance(self.behaviour.costs, QuadraticCosts):
            QuadraticCosts.check(self.borne_epsilon, getattr(self.release, "delta", 0.0))
        object.__setattr__(self, "_posterior", PosteriorMean(self.setting.prior, self.setting.noise))

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, features: int, parameter_bound: float,
        noise_bound: float, truth_radius: float | None = None, budget: float | None = None, **settings: Any,
    ) -> PrivateTruthfulRegression:
        """The mechanism with recommended settings, from public facts alone.

        Args:
            epsilon: total privacy loss towards all other people, in nats, above 0, of which a fifth goes to the payment
                estimates.
            delta: failure probability delta of the release, in [0, 1); 0 for pure privacy.
            people: number of invited people, including people who send no record, at least 4.
            features: length of each feature vector, at least 1.
            parameter_bound: bound on the length of the true parameter, above 0.
            noise_bound: bound on a residual, above 0.
            truth_radius: wanted truth radius. No lie that moves the liar's prediction by more than this radius is
                profitable. Give either `truth_radius` or `budget`.
            budget: wanted bound on the expected total payment, in the currency. Give either `budget` or `truth_radius`.
            settings: further arguments of `confide.regression.plan`, given by keyword.

        Raises:
            InvalidInput: a parameter is out of range, or not exactly one of truth_radius and budget is given.
            Refused: no setting with these sizes reaches the target; the message names changes that would help.
        """
        from confide.regression.planner import plan  # it stands above this module

        return plan(epsilon=epsilon, delta=delta, people=people, features=features, parameter_bound=parameter_bound,
                    noise_bound=noise_bound, truth_radius=truth_radius, budget=budget, **settings).mechanism

    @property
    def posterior(self) -> PosteriorMean:
        """The posterior mean q(x, y) = E[x'theta | x, y] under the public model."""
        return self._posterior

    @property
    def record_map(self) -> RecordMap:
        """The map that makes any submission usable. The map is applied to every record before all other steps."""
        return self.setting.record_map

    # ---- promises

    @property
    def payment_claim(self) -> PureDP:
        """The privacy loss that is claimed for the payment estimates."""
        return PureDP(self.payment.epsilon)

    @property
    def loss(self) -> PureDP | ApproxDP:
        """The privacy loss of all events together: pure, or at the release's delta."""
        return Accountant(self.events()).loss(self.release.delta if isinstance(self.release, AdaSSP) else 0.0)

    @property
    def borne_epsilon(self) -> float:
        """The proved privacy loss epsilon of a person towards all other people, which enters the privacy costs."""
        return self.loss.epsilon

    @property
    def stated_loss(self) -> PureDP | ApproxDP:
        """The stated privacy loss of all publications together, which the audit compares with its measurements."""
        return self.loss

    @property
    def claims_privacy(self) -> bool:
        """Whether the mechanism claims privacy. The mechanism as printed in Cummings et al. 2015 does so only where the
        proved loss of its noise is at most the printed loss.
        """
        return True

    def privacy_guarantees(self) -> tuple[Privacy, ...]:
        """The guarantees of privacy towards other participants and towards the public, and the guarantee of each part
        of the mechanism alone.
        """
        return privacy_guarantees(self)

    def events(self) -> tuple[Event, ...]:
        """The privacy events: the payment estimates, in parallel over the two groups, and the release."""
        peers = PureEvent(epsilon=self.payment.epsilon, neighbours=Relation.REPLACE, label=PAYMENT_LINE)
        return (peers, *self.release.events())

    def lines(self) -> tuple[Line, ...]:
        peers, *release = self.events()
        return (Parallel(name=PAYMENT_LINE, event=peers, groups=PAYMENT_GROUPS), *lines_of(release))

    @cached_property
    def figures(self) -> Figures:
        """The numbers behind the guarantees."""
        return figures(self)

    def guarantees(self) -> Guarantees:
        """Every guarantee of section 7.1 of the spec truthful_regression, from public parameters alone."""
        return regression_guarantees(self)

    def printed(self) -> tuple[Any, ...]:
        """Old name of `confide.evidence.cummings_2015.printed_guarantees`, which will be removed in confide 1.0.0."""
        warn_of_old("PrivateTruthfulRegression", "printed", "confide.evidence.cummings_2015.printed_guarantees")
        rows: tuple[Any, ...] = import_module("confide.evidence.cummings_2015").printed_guarantees(self)
        return rows

    @property
    def noise_scale(self) -> float:
        """The scale s_p of the noise on each payment estimate, before debiasing."""
        return noise_scale(self.setting, self.payment.ridge, self.payment.epsilon)

    @property
    def longest_peers(self) -> float:
        """The largest norm R of a payment estimate before its noise."""
        return self.setting.ball

    def peer_bounds(self, people: int) -> RidgeBounds:
        """The error bounds of the payment estimate of a group of `people` people."""
        return ridge_bounds(self.setting, people, self.payment.ridge, self.behaviour.misreports)

    def peer_estimate(self, sums: Moments, noise: Noise, group: int) -> np.ndarray:
        """One noisy payment estimate, shape (d,).

        Args:
            sums: exact moments of the group's records.
            noise: noise of the run.
            group: number of the group, 0 or 1.
        """
        return perturbed_ridge(self.setting, sums, self.payment.ridge, self.payment.epsilon, noise, ("payment", group),
                               line=PAYMENT_LINE, group=PAYMENT_GROUPS[group])

    @cached_property
    def shrinkages(self) -> tuple[float, float]:
        """The shrinkage g of each group's payment estimate, from the law of the features alone; debiased payments
        divide by 1 - g.
        """
        if not self.payment.debias:
            return 0.0, 0.0
        first, second = (ridge_shrinkage(rows, self.setting.features, self.payment.ridge)
                         for rows in self.setting.groups)
        return first, second

    @property
    def stretch(self) -> float:
        """The factor 1/(1 - g) by which debiasing lengthens a prediction and its noise; 1 without debiasing."""
        return 1.0 / (1.0 - max(self.shrinkages))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[RegressionBillboard, None]:
        """Run the whole mechanism.

        Records must be scaled so that ||x|| <= 1 and |y| <= Y, where Y is R0 + M or a smaller bound. A longer row is
        shortened to length 1, and a larger answer is clipped. No warning of shortened or clipped records is given,
        because a warning would depend on somebody's record. `confide.tables.Design` scales columns to records of length
        at most 1, from public bounds.

        Args:
            data: pair (X, y) with shapes (n, d) and (n,), as arrays, frames of pandas, Polars or Arrow, or Parquet or
                CSV files; y may be the name of a column of X. Batches that can be iterated twice also work. A person
                without a row, or with a cell that is not a finite number, has the null record and is paid 0. If a
                participant has several rows, the first row counts.
            noise: `Noise.secure()` for a release.
            progress: function that is called with (steps done, 3), where the steps are sums, estimates and payments.

        Returns:
            An outcome whose shares have one row for each invited person, with the column `payment` in whole smallest
            units of the currency, such as cents.

        Raises:
            InvalidInput: the shapes are wrong, there are more rows than invited people, or a column of a frame holds no
                numbers.
        """
        if not isinstance(noise, Noise):
            raise InvalidInput("noise", f"{type(noise).__name__} is not a Noise", "use Noise.secure()")
        if noise.release_safe and not noise.audited:
            self.events()  # refuses what carries no claim, before any record is looked at
        setting, n, d = self.setting, self.setting.people, self.setting.features
        data = twice_readable(data, n)
        split = public_split(noise, n, stream=("split",))
        advance(progress, 0, _STEPS)
        groups = moments(as_batches(data, d), self.record_map, split, d)
        advance(progress, 1, _STEPS)
        peers = np.stack([self.peer_estimate(sums, noise, j) for j, sums in enumerate(groups)])
        released = self.release.run(setting, groups[0] + groups[1], peers, noise)
        advance(progress, 2, _STEPS)
        billboard = RegressionBillboard(
            split=np.packbits(split), people=n, peers=peers, estimate=released.estimate,
            coef=self.coefficients(released.estimate),
            gram=released.gram, cross=released.cross, ridge=released.ridge,
        )
        shares = self._pay(as_batches(data, d), split, peers)
        advance(progress, _STEPS, _STEPS)
        return self._outcome(noise, billboard=billboard, shares=pa.table({"payment": shares}))

    def coefficients(self, estimate: np.ndarray) -> np.ndarray:
        """The estimate projected to the ball that contains the true parameter.

        The projection is never further from a parameter inside the ball than the estimate, and costs no privacy.
        """
        return in_ball(estimate, self.setting.parameter_bound)

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard has this mechanism's sizes, and that its estimates follow from its noisy numbers.

        Raises:
            InvalidInput: the billboard is inconsistent; the message names the field.
        """
        if not isinstance(billboard, RegressionBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a RegressionBillboard")
        sizes = (self.setting.people, self.setting.features)
        if (billboard.people, billboard.dimension) != sizes:
            raise InvalidInput("billboard",
                               f"has {billboard.people} people and {counted(billboard.dimension, 'coefficient')}",
                               f"must have {sizes[0]} people and {sizes[1]} coefficients")
        if np.unpackbits(billboard.split)[billboard.people :].any():
            raise InvalidInput("billboard.split", "is about more people than were invited")
        drawn, due = int(billboard.groups().sum()), self.setting.groups[1]
        if drawn != due:
            raise InvalidInput("billboard.split", f"has {drawn} people in group 1", f"a run draws {due}")
        said = billboard.released
        now = self.release.again(self.setting, said, billboard.peers)
        for name, mine, theirs in (("gram", now.gram, said.gram), ("cross", now.cross, said.cross),
                                   ("estimate", now.estimate, said.estimate), ("ridge", now.ridge, said.ridge),
                                   ("coef", self.coefficients(said.estimate), billboard.coef)):
            if np.shape(mine) != np.shape(theirs) or not np.allclose(mine, theirs, rtol=_ROUNDING, atol=_ROUNDING):
                raise InvalidInput(f"billboard.{name}", "does not follow from the published noisy numbers")

    def _pay(self, batches: Any, split: np.ndarray, peers: np.ndarray) -> np.ndarray:
        """The payments of all invited people, (n,) int64, from a second pass over the records. Each payment follows
        from the person's own row and the billboard.
        """
        return payments(batches, self.setting.people, lambda batch: self._payments(batch, split[batch.index], peers))

    def _payments(self, batch: Batch, group: np.ndarray, peers: np.ndarray) -> np.ndarray:
        """The payments of some rows in whole coins."""
        X, y, null = self.record_map.clip(batch)
        coins = np.rint(self.exact_payments(X, y, group, peers) * self.payment.minor_units)
        coins = np.clip(coins, -_LARGEST_PAYMENT, _LARGEST_PAYMENT).astype(np.int64)
        return np.where(null, 0, coins)

    def exact_payments(self, X: np.ndarray, y: np.ndarray, group: np.ndarray, peers: np.ndarray) -> np.ndarray:
        """Payments in the currency, before rounding to its smallest unit, for usable records.

        Args:
            X: (m, d) clipped features.
            y: (m,) clipped responses.
            group: (m,) bool, group of each player.
            peers: (2, d) payment estimates of the two groups.
        """
        first, second = ordered_dot(X, peers[0]), ordered_dot(X, peers[1])
        if self.payment.debias:
            first, second = (p / (1.0 - g) for p, g in zip((first, second), self.shrinkages, strict=True))
        predicted = np.where(group, first, second)  # by the other group's estimate
        bound = self.prediction_bound
        if bound is not None:
            predicted = np.clip(predicted, -bound, bound)
        return self.payment.rule(predicted, self._posterior(X, y))

    @property
    def prediction_bound(self) -> float | None:
        """The bound R + s t at which predictions are clipped, after debiasing; None where predictions are not clipped.
        R is `longest_peers`, s is `noise_scale`, and t is the `clip` of the payment scheme.
        """
        if self.payment.clip is None:
            return None
        return (self.longest_peers + self.noise_scale * self.payment.clip) * self.stretch

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """One participant's payment, from their own record and the public billboard.

        Args:
            record: (x, y) as the participant submitted it, x of shape (d,); None without a record.
            index: rank of the participant in the public list of ids.
            billboard: billboard of the run.

        Returns:
            {"payment": whole number of the smallest units of the currency}.
        """
        if not isinstance(billboard, RegressionBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a RegressionBillboard")
        batch = one_record(record, index, self.setting.people, self.setting.features)
        group = np.array([bool(billboard.group(index))])
        return {"payment": 0 if batch is None else int(self._payments(batch, group, billboard.peers)[0])}

    def interval(self, billboard: RegressionBillboard, direction: np.ndarray, level: float = 0.95) -> Interval:
        """The interval of direction'theta around direction'coef, with a separate part for each source of error. The
        interval is computed from the billboard alone, at no privacy cost.

        Args:
            billboard: billboard of the run.
            direction: (d,) direction, for instance a unit vector for one coefficient.
            level: coverage of the noise part of the interval alone, and of the sampling part alone.

        Raises:
            InvalidInput: the direction is not d finite numbers.
        """
        along = np.asarray(direction, dtype=np.float64)
        if along.shape != (self.setting.features,) or not np.isfinite(along).all():
            raise InvalidInput("direction", f"shape {along.shape}", f"must be {self.setting.features} finite numbers")
        return self.release.interval_of(self.setting, billboard.released, billboard.coef, along,
                                        fraction("level", level))


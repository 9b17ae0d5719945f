"""Algorithm 1 of Cummings et al. 2015: a regression that pays for truthful answers, without privacy.

A player is paid for the accuracy of a prediction: the least squares estimate of the player's peers predicts the
posterior mean that the player's own answer implies. Least squares is unbiased, so that truth is an exact equilibrium.
No noise is drawn: the estimate and the factor of X'X are public, and each payment follows from the estimate, the factor
and the player's own record.

Source: Cummings et al. 2015, Algorithm 1, Lemmas 1 and 2; spec truthful_regression section 2.

The module also computes the incentives of the mechanism exactly: the expected payment for an answer over all unknown
quantities.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa

from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantees,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.events import UnprotectedEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.public_randomness import public_split
from confide.regression import bounds
from confide.regression.leave_one_out import LeastSquares, fitted, leave_one_out, sums
from confide.regression.posterior import PosteriorMean, informativeness
from confide.regression.priors import Atoms, NoiseLaw, Prior
from confide.regression.records import (
    Batch,
    RecordMap,
    as_batches,
    one_record,
    ordered_dot,
    payments,
    row_norms,
    twice_readable,
)
from confide.regression.scoring import ScoringRule
from confide.regression.setting import LinearBillboard
from confide.regression.spectrum import Spectrum

__all__ = [
    "LeastSquaresBillboard",
    "TruthfulRegression",
    "interim_utility",
    "least_expected_error",
    "least_squares_error",
    "truthful_payments",
]

# ---- truthful regression


def least_squares_error(variance: float, spectrum: Spectrum) -> float:
    """A bound on E||theta_OLS - theta||^2 given the bounds on the spectrum: sigma^2 tr (X'X)^-1 <= d sigma^2/((1 - xi)
    n mu), with the `smallest` mu and the `tolerance` xi of the spectrum.

    Args:
        variance: variance sigma^2 of a residual.
        spectrum: bounds on the eigenvalues of X'X for the n rows.

    Source: Cummings et al. 2015, Lemma 2, which omits the factor d.

    Example:
        >>> rows = Spectrum.uniform_ball(rows=10_000, dimension=10, tolerance=0.2)
        >>> round(least_squares_error(0.25 / 3, rows), 6)
        0.00125
    """
    return spectrum.dimension * non_negative("variance", variance) / spectrum.lower


def least_expected_error(variance: float, rows: int, dimension: int) -> float:
    """The least possible E||theta_OLS - theta||^2 for rows uniform in the ball: sigma^2 d (d + 2)/n, by Jensen's
    inequality, since 1/t is convex in t > 0.
    """
    d = whole("dimension", dimension, at_least=1)
    return non_negative("variance", variance) * d * (d + 2) / whole("rows", rows, at_least=1)


def truthful_payments(rule: ScoringRule, radius: float) -> tuple[float, float]:
    """The least and the largest expected payment of a truthful player: a - b(P - P^2), or a + b P^2 for the centred
    rule, over |P| <= R0. P is the mean of the peers' prediction given the player's record.

    For the uncentred rule and R0 >= 1/2 the range is [a - b/4, a + b (R0 + R0^2)], so a = b/4 makes taking part
    rational in expectation. Both ends of the range are attained.

    Args:
        rule: scoring rule of the payments.
        radius: bound R0 on the norm of the parameter.

    Source: ours; spec truthful_regression section 2.

    Example:
        >>> truthful_payments(ScoringRule(0.25, 1.0), 1.0)
        (0.0, 2.25)
    """
    reach = positive("radius", radius)
    if rule.centred:
        return rule.a, rule.a + rule.b * reach * reach
    worst = min(reach, 0.5)
    return rule.a - rule.b * (worst - worst * worst), rule.a + rule.b * (reach + reach * reach)


DOCUMENT = "Cummings et al. 2015"
SPEC = "truthful_regression 2"
_LARGEST_PAYMENT = 2.0**62  # a share is an int64

Clipped = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The triple (X, y, null) that `RecordMap.clip` returns."""


@wire("LeastSquaresBillboard", "people coef split factor peers")
@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquaresBillboard(LinearBillboard):
    """The public result of a run: exact estimates, which can reveal exact facts about people.

    Args:
        people: number n of invited people, including people who send no record.
        coef: (d,) least squares coefficients of all records.
        factor: (d, d) lower triangular matrix L with L L' = X'X; (0, 0) with two groups.
        peers: (2, d) least squares coefficients of each group; (0, 0) without groups.
        split: bitmap of the random groups, with bit i for the participant of index i (numpy.packbits); empty without
            groups.
    """

    factor: np.ndarray
    peers: np.ndarray

    def __post_init__(self) -> None:
        d, grouped = self.dimension, self.split.size > 0
        self._check(factor=(0, 0) if grouped else (d, d), peers=(2, d) if grouped else (0, 0),
                    split=(-(-self.people // 8),) if grouped else (0,))


@wire("TruthfulRegression", "people features prior noise rule groups currency minor_units smallest_eigenvalue "
      "spectrum_tolerance")
@dataclass(frozen=True, kw_only=True)
class TruthfulRegression(Mechanism[LeastSquaresBillboard, None]):
    """A regression that buys answers from people who may lie, but who do not mind that the exact result is published.

    A player is paid B(p, q) by the scoring rule. The prediction q = x'E[theta | x, y] follows from the player's answer
    under the public model, and p is the prediction of an estimate without the player's record. The estimate without the
    player's record is from everybody else (leave one out), or from the other of two random groups.

    **No privacy at all.** Use `PrivateTruthfulRegression` where people care about the privacy of their answers. Because
    nothing is private, a run may refuse because of the records, and name a record. A run refuses if only one player's
    record has information about some direction, because nobody else's record predicts that player's answer. The class
    has no parameter epsilon and no `for_budget`, because exact estimates have no finite privacy loss.

    Args:
        noise: law of the residuals, with mean zero, inside [-M, M].

    Raises:
        InvalidInput: a parameter is out of range, the prior has another dimension, or n - 1 < d.

    Source: Cummings et al. 2015, Algorithm 1; spec truthful_regression section 2.

    Example:
        >>> from confide.regression import UniformBall, UniformNoise
        >>> mechanism = TruthfulRegression(
        ...     people=300, features=2, prior=UniformBall(2, 1.0), noise=UniformNoise(0.5), rule=ScoringRule(0.25, 1.0))
        >>> X = np.tile([[0.6, 0.0], [0.0, 0.6], [0.3, -0.4]], (100, 1))
        >>> outcome = mechanism.run((X, X @ [0.5, -0.5]), Noise.simulated(0))
        >>> outcome.billboard.coef_.round(6).tolist(), outcome.shares["payment"][0].as_py()
        ([0.5, -0.5], 2)
        >>> mechanism.decode((X[0], X[0] @ [0.5, -0.5]), 0, outcome.billboard)
        {'payment': 2}
    """

    people: Annotated[int, Parameter(
        "number of invited slots; a slot without a usable record is the null record, which adds nothing and is paid 0",
        symbol="n", at_least=2)]
    features: Annotated[int, Parameter(
        "length of each feature vector, at most people - 1, or people / 2 with groups; ||x|| <= 1", symbol="d",
        at_least=1)]
    prior: Annotated[Prior, Parameter("law of the parameter, inside a ball of radius R0")]
    noise: NoiseLaw
    rule: Annotated[ScoringRule, Parameter(
        "the scoring rule, in the currency's unit; a = b/4 makes taking part rational in expectation")]
    groups: Annotated[bool, Parameter(
        "True: two random groups, each with predictions from the other group; False: predictions from everybody "
        "else")] = False
    currency: Annotated[str, Parameter("its name")] = "USD"
    minor_units: Annotated[int, Parameter(
        "number of smallest coins in one unit; shares are whole numbers of coins", at_least=1)] = 100
    smallest_eigenvalue: Annotated[float | None, Parameter(
        "public lower bound on the spectrum of E[x x']; None for x uniform in the unit ball. Only the accuracy promise "
        "before the run depends on it", symbol="mu", above=0)] = None
    spectrum_tolerance: Annotated[float, Parameter(
        "largest relative deviation of the sample spectrum that the promises cover", symbol="xi", above=0,
        below=1)] = 0.2

    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="report", asks="verified features and one answer"),)
    _posterior: PosteriorMean = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        features = self.features
        # Each group of floor(n/2) has to determine d coefficients; everybody but one, otherwise.
        whole("people", self.people, at_least=2 * features if self.groups else features + 1)
        if self.prior.dimension != features:
            raise InvalidInput("prior", f"has {counted(self.prior.dimension, 'dimension')}", f"must have {features}")
        if self.smallest_eigenvalue is not None:
            positive("smallest_eigenvalue", self.smallest_eigenvalue, at_most=1 / features)
        object.__setattr__(self, "_posterior", PosteriorMean(self.prior, self.noise))

    @property
    def posterior(self) -> PosteriorMean:
        """The posterior mean q(x, y) = E[x'theta | x, y] under the public model."""
        return self._posterior

    @property
    def record_map(self) -> RecordMap:
        """The map that makes any submitted record usable.

        The map changes no answer that the model allows. A lie beyond the model's range gains no more than a lie at the
        end of the range.
        """
        radius, bound = float(self.prior.radius), float(self.noise.bound)
        return RecordMap(parameter_bound=radius, noise_bound=bound, response_bound=radius + bound)

    @property
    def spectrum(self) -> Spectrum:
        """The public bounds on the eigenvalues of X'X when everybody takes part."""
        if self.smallest_eigenvalue is None:
            return Spectrum.uniform_ball(rows=self.people, dimension=self.features, tolerance=self.spectrum_tolerance)
        return Spectrum(rows=self.people, dimension=self.features, smallest=self.smallest_eigenvalue,
                        tolerance=self.spectrum_tolerance)

    @cached_property
    def informativeness(self) -> float:
        """The ratio E[q^2]/E[(x'theta)^2] for x uniform in the ball: 0 if the answers reveal nothing about x'theta, so
        that payments ignore the answers, and 1 if the answers determine x'theta.
        """
        return informativeness(self.prior, self.noise)

    # ---- promises

    def events(self) -> tuple[UnprotectedEvent, ...]:
        """The privacy event of the run: a release without privacy, which no ledger accepts."""
        return (UnprotectedEvent(neighbours=Relation.REPLACE, label="least squares"),)

    def guarantees(self) -> Guarantees:
        """The guarantees from public parameters alone, which hold in expectation if everybody takes part and is
        truthful.

        The remark after Lemma 2 of Cummings et al. 2015 claims that payments are certainly non-negative, and that the
        total is certainly bounded. Both claims of that remark are false
        (`confide.evidence.cummings_2015.printed_least_payment`), because predictions of least squares are unbounded.
        """
        radius, rule, coin = float(self.prior.radius), self.rule, 1.0 / self.minor_units
        low, high = truthful_payments(rule, radius)
        spectrum, error = self.spectrum, least_squares_error(self.noise.variance, self.spectrum)
        peers = "the other group" if self.groups else "everybody else"
        return Guarantees((
            Privacy(
                loss=PureDP(math.inf), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                source=Source(document=DOCUMENT, statement="Algorithm 1", spec=SPEC),
                note="no privacy: exact estimates are published; use PrivateTruthfulRegression where that matters",
            ),
            Truthfulness(
                gain=coin, baseline=bounds.largest_loss(rule.b, radius, 0.0), who="everybody",
                radius=bounds.truth_radius(rule.b, 0.0, coin), baseline_radius=2 * radius, unit_of_gain=self.currency,
                source=Source(document=DOCUMENT, statement="Lemma 1", spec=SPEC),
                note=f"an exact equilibrium but for the rounding to coins, on average over {peers}'s data; strict only "
                     "against lies that move the prediction q: where q is flat in the answer a lie costs nothing "
                     f"(informativeness {self.informativeness:.2f}); absences must not depend on the answers",
            ),
            Participation(
                utility=low - coin / 2, who="everybody, without privacy costs",
                source=Source(document=DOCUMENT, statement="remark after Lemma 2", spec=SPEC,
                              erratum="in expectation: no constant makes every payment non-negative"),
                note="on average; a single payment can be negative, and has no bound",
            ),
            Accuracy(
                bound=error, baseline=radius**2, measure="the expected squared error of the coefficients (scaled)",
                failure_probability=spectrum.failure_below,
                source=Source(document=DOCUMENT, statement="Lemma 2", spec=SPEC,
                              erratum="a factor d was forgotten; matrix Chernoff with explicit constants"),
                note="given a spectrum that is no worse than the public one tolerates",
            ),
            Budget(
                expected=self.people * (max(high, 0.0) + coin / 2), lowest=-math.inf, highest=math.inf,
                currency=self.currency,
                source=Source(document=DOCUMENT, statement="remark after Lemma 2", spec=SPEC,
                              erratum="in expectation: n b (R0 + 1/2)^2 for a = b/4; least squares knows no bound"),
                note="where everybody is truthful",
            ),
        ))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[LeastSquaresBillboard, None]:
        """Run the whole mechanism, in two passes over the records.

        Records must be scaled so that ||x|| <= 1 and |y| <= R0 + M. A longer row is shortened, and a larger answer is
        clipped. A warning gives the number of changed records, because nothing in this mechanism is private.

        Args:
            data: pair (X, y) with shapes (n, d) and (n,), as arrays, frames of pandas, Polars or Arrow, or Parquet or
                CSV files; y may be the name of a column of X. Batches that can be iterated twice also work. A person
                without a row, or with a cell that is not a finite number, has the null record and is paid 0. If a
                participant has several rows, the first row counts.
            noise: source of the random split into two groups, and of nothing else; its kind decides the type of the
                outcome.
            progress: function that is called with (passes done, 2), where the passes are estimates and payments.

        Returns:
            An outcome whose shares have one row for each invited person, with the column `payment` in whole smallest
            units of the currency, such as cents.

        Raises:
            InvalidInput: the shapes are wrong, there are more rows than invited people, or a column of a frame holds no
                numbers.
            Refused: the records do not determine the coefficients, or only one player's record has information about
                some direction (1 - h < 1e-10, where h is the leverage). The message names that player's rank. Only a
                mechanism without privacy may refuse because of records.
        """
        data = twice_readable(data, self.people)
        advance(progress, 0, 2)
        billboard = self.publish(data, noise)
        advance(progress, 1, 2)
        moved: list[int] = []

        def pay(batch: Batch) -> np.ndarray:
            clipped = self.record_map.clip(batch)
            moved.append(_cut(batch, clipped))
            return self._coins(clipped, batch.index, billboard)

        shares = payments(as_batches(data, self.features), self.people, pay)
        advance(progress, 2, 2)
        if any(moved):
            warnings.warn(f"{sum(moved):,} records were outside of the model's range, ||x|| <= 1 and |y| <= R0 ||x|| + "
                          "M, and were cut to this range. Rescale the records, or widen the prior and the noise",
                          stacklevel=2)
        return self._outcome(noise, billboard=billboard, shares=pa.table({"payment": shares}))

    def publish(self, data: Any, noise: NoiseSource) -> LeastSquaresBillboard:
        """The first pass over the records, which computes the public billboard.

        The arguments and the errors are the same as in `run`, except that this pass does not refuse a player with an
        answer that no other record predicts.
        """
        if not isinstance(noise, Noise):
            raise InvalidInput("noise", f"{type(noise).__name__} is not a Noise", "use Noise.secure()")
        n, d = self.people, self.features
        data = twice_readable(data, n)
        split = np.zeros(n, dtype=bool)
        if self.groups:
            split = public_split(noise, n, stream=("split",))
        first, second = sums(as_batches(data, d), self.record_map, split, d)
        fit, none = fitted(first + second), np.zeros((0, 0))
        peers = [fitted(part, f"the records of group {j}").theta for j, part in enumerate((first, second))
                 if self.groups]
        return LeastSquaresBillboard(
            people=n, coef=fit.theta, factor=none if self.groups else fit.factor,
            peers=np.stack(peers) if peers else none,
            split=np.packbits(split) if self.groups else np.zeros(0, np.uint8),
        )

    def _coins(self, clipped: Clipped, index: np.ndarray, billboard: LeastSquaresBillboard) -> np.ndarray:
        """The payments of some rows in whole coins."""
        X, y, null = clipped
        usable = np.flatnonzero(~null)
        coins = np.zeros(len(y), dtype=np.int64)
        paid = np.rint(self.exact_payments(X[usable], y[usable], index[usable], billboard) * self.minor_units)
        coins[usable] = np.clip(paid, -_LARGEST_PAYMENT, _LARGEST_PAYMENT).astype(np.int64)
        return coins

    def exact_payments(
        self, X: np.ndarray, y: np.ndarray, index: np.ndarray, billboard: LeastSquaresBillboard
    ) -> np.ndarray:
        """Payments in the currency, before rounding to its smallest unit, for usable records.

        Args:
            X: (m, d) clipped features.
            y: (m,) clipped responses.
            index: (m,) ranks of the records.
            billboard: billboard of the run that the records were part of.

        Raises:
            Refused: the other players' records determine no prediction for one of the given players.
        """
        return self.rule(self.predictions(X, y, index, billboard), self._posterior(X, y))

    def predictions(
        self, X: np.ndarray, y: np.ndarray, index: np.ndarray, billboard: LeastSquaresBillboard
    ) -> np.ndarray:
        """The prediction p for each given player by the estimate without the player's record, shape (m,). The arguments
        are the same as in `exact_payments`.
        """
        if self.groups:
            other = ~billboard.groups()[index]
            return np.where(other, ordered_dot(X, billboard.peers[1]), ordered_dot(X, billboard.peers[0]))
        return leave_one_out(X, y, index, LeastSquares(billboard.coef, billboard.factor), self.record_map)

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """One participant's payment, from their own record and the public billboard.

        Args:
            record: (x, y) as the participant submitted it, x of shape (d,); None without a record.
            index: rank of the participant in the public list of ids.
            billboard: billboard of the run.

        Returns:
            {"payment": whole number of the smallest units of the currency}.
        """
        if not isinstance(billboard, LeastSquaresBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a LeastSquaresBillboard")
        batch = one_record(record, index, self.people, self.features)
        if batch is None:
            return {"payment": 0}
        return {"payment": int(self._coins(self.record_map.clip(batch), batch.index, billboard)[0])}


def _cut(batch: Batch, clipped: Clipped) -> int:
    """The number of usable records that were shortened or clipped, without rows whose length is above 1 only by
    rounding.
    """
    _, y, null = clipped
    cut = (y != batch.y) | (row_norms(np.where(null[:, None], 0.0, batch.X)) > 1.0 + 1e-9)
    return int(np.count_nonzero(cut & ~null))


# ---- interim utility

_PEOPLE = 12  # the enumeration takes 2^(people - 1) runs for each atom and report


def interim_utility(
    mechanism: TruthfulRegression, X: np.ndarray, index: int, y: float, split: np.ndarray | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """A player's expected payment as a function of their report, if everybody else is truthful, by enumeration.

    For each parameter the mechanism is run up to the player's payment. The payments are weighted by the posterior
    probabilities of the parameters, given the player's own record. For each parameter the mechanism is run for each
    combination of the other players' residuals. Each residual is plus or minus the standard deviation of the noise.
    Payments are affine in the others' answers, so residuals of plus or minus one standard deviation give the exact mean
    under any law with mean zero.

    Args:
        mechanism: mechanism with a prior of finitely many points, and at most 12 people.
        X: (n, d) features of all participants.
        index: rank of the player.
        y: true answer of the player.
        split: (n,) bool, group of each participant, where the mechanism has two groups.

    Returns:
        A function from (k,) reports to (k,) expected payments.

    Raises:
        InvalidInput: the prior is of another kind, there are too many people, or the player cannot have this answer.
    """
    prior, n = mechanism.prior, mechanism.people
    if not isinstance(prior, Atoms):
        raise InvalidInput("prior", f"{type(prior).__name__} has no finite enumeration", "must be Atoms")
    if n > _PEOPLE:
        raise InvalidInput("people", f"{n} is too many to enumerate", f"must be at most {_PEOPLE}")
    rows, who = np.asarray(X, np.float64), whole("index", index)
    inner = prior.points @ rows[who]
    likelihood = prior.weights * np.exp(mechanism.noise.log_density(y - inner))
    if not likelihood.sum() > 0:
        raise InvalidInput("y", "has probability 0 under each point of the prior")
    fine = replace(mechanism, minor_units=10**12)
    spread = float(np.sqrt(mechanism.noise.variance))
    signs = [np.insert(np.array(each), who, 0.0) for each in product((-spread, spread), repeat=n - 1)]

    def utility(reports: np.ndarray) -> np.ndarray:
        total = np.zeros(len(reports))
        for chance, theta in zip(likelihood / likelihood.sum(), prior.points, strict=True):
            for residuals in signs if chance > 0 else ():
                answers = rows @ theta + residuals
                for k, report in enumerate(reports):
                    answers[who] = report
                    noise = Noise.simulated(0) if split is None else Noise.replayed({("split",): split})
                    billboard = fine.publish((rows, answers), noise)
                    paid = fine.decode((rows[who], report), who, billboard)["payment"]
                    total[k] += chance / len(signs) * paid / fine.minor_units
        return total

    return utility

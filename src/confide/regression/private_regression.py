"""A private linear regression with confidence intervals, in the interface of scikit-learn.

The class runs the release of `PrivateTruthfulRegression` alone, without payments, with the same map of records, exact
moments, release estimators and intervals (`confide.regression.release`). The user gives the bounds, which are never
computed from the data, and columns are centred and scaled by these bounds. scikit-learn is not required. If
scikit-learn is installed, the estimator works in scikit-learn's pipelines and searches.
"""

from __future__ import annotations

import inspect
import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import pyarrow as pa

from confide.contract.checks import fraction, one_of, positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation
from confide.privacy.accounting.sums import spendable, written
from confide.privacy.events import Event
from confide.privacy.filter import Cost, Filter, Rule
from confide.privacy.ledger import Account
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.given_noise import anew
from confide.regression.estimator_input import (
    Refits,
    bounded_features,
    bounded_response,
    features_of,
    lost_records,
    response_of,
    warn_of_names,
)
from confide.regression.priors import TruncatedGaussianNoise, UniformBall
from confide.regression.records import moments, ordered_dot
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.base import Interval, Release, Released, in_ball
from confide.regression.release.output_perturbation import RidgeRelease
from confide.regression.release.sufficient_statistics import SufficientStatistics
from confide.regression.setting import Setting
from confide.tables.design import INTERCEPT, Design
from confide.tables.records import read_records
from confide.tables.roles import Numeric
from confide.tables.roster import Roster
from confide.tables.sources import open_table

__all__ = ["Charging", "PrivateRegression"]

RELEASES = ("auto", "sufficient statistics", "adassp", "ridge")
_FEWEST = 4  # rows, as of a `Setting`
_WIDEST_RESIDUAL = 8.0  # scaled: no response is cut but by its own bounds, and the standard deviation is as stated
_REFITS = Refits()


@runtime_checkable
class Charging(Protocol):
    """Protocol of a ledger that an estimator can charge; `confide.privacy.Ledger` implements it."""

    def rule(self, account: Account) -> Rule:
        """The rule by which charges to an account add up."""

    def charge(self, account: Account, *events: Event, delta: float = 0.0) -> None:
        """Debit the events of one fit, or raise an error and debit nothing."""


class _LeftBehind:
    """Placeholder for the ledger in an estimator that was copied or sent to another process."""

    def rule(self, account: Account) -> Rule:
        raise Refused("this copy of an estimator has no ledger, since a copied ledger would have a second budget",
                      "set_params(ledger=...) sets a ledger; run a search in one process, "
                                           "n_jobs=1")

    def charge(self, account: Account, *events: Event, delta: float = 0.0) -> None:
        self.rule(account)


class PrivateRegression:
    """Linear regression with differentially private coefficients, in the interface of scikit-learn.

    A fit publishes noisy second moments or a noisy estimate once, and computes the coefficients from that publication.
    The guarantee is for the replacement of one row, and the number of rows is public. The guarantee covers only the
    publications of the fit itself. The guarantee does not cover an earlier step that learns from the same data (a
    scaler, a selection of columns), a score on these data, or a choice among several fits. Cross-validation and
    searches spend privacy loss for each of their fits.

    Parameters are checked by `fit`. A value beyond its bounds is moved to the bound. A row with a cell that is missing,
    infinite or no number counts as a null record, which adds nothing. The fit warns of the number of values that were
    moved to a bound, and of the number of null records. The warning is for the holder of the data only, because it
    depends on private records.

    Args:
        epsilon: privacy loss of one fit, in nats.
        delta: failure probability delta of one fit; 0 for pure privacy. Choose delta far below 1 / rows.
        feature_bounds: public bounds of the features: one pair (lower, upper) for all of them, a list with a pair for
            each column, or a mapping from the name of a column to its pair.
        response_bounds: public bounds (lower, upper) of the response.
        neighbours: relation between neighbouring data sets. With "replace", neighbouring data sets differ in one row
            that is replaced. The privacy of the releases is proved for this relation alone.
        release: "sufficient statistics" (pure privacy), "adassp" (needs a delta), "ridge" (pure privacy; needs
            `smallest_eigenvalue`), or "auto". The setting "auto" chooses the release with the least predicted error of
            a prediction among the releases that the settings allow.
        parameter_bound: public bound R0 on the length of the scaled coefficients. The default, sqrt(columns + 1), holds
            for every model whose predictions stay within `response_bounds` for all features within their bounds.
        residual_std: public bound on the standard deviation of the residuals, in units of the response, for the
            sampling part of the intervals. The default, half the range of the response, always holds. A smaller bound
            gives shorter intervals.
        smallest_eigenvalue: public lower bound on the eigenvalues of E[x x'] of the scaled rows, for "ridge".
        level: coverage of the noise part of each interval alone, and of the sampling part alone.
        noise: noise source; by default secure noise, fresh for each fit, which accepts no seed. `Noise.simulated(seed)`
            is only for studies and tests. Simulated noise draws the same numbers in every fit, and results with
            simulated noise must not be released.
        ledger: ledger that is charged before a fit reads any value. If the ledger refuses, the estimator stays as it
            was.
        account: account of the ledger with the budget, for the audience "public" and the relation "replace".

    Attributes:
        coef_: (d,) coefficients, in units of the response for one unit of each feature.
        intercept_: predicted response where all features are 0.
        intervals_: mapping from the name of a feature, or "(intercept)", to the `Interval` of its coefficient. `noise`
            covers the privacy noise, `sampling` the residuals, `bias` the shrinkage, and `total` all of them with
            probability `total_level`. The intervals refer to the bounded records: no part covers the effect of moving
            values to their bounds.
        guarantees_: guarantees of the fit.
        privacy_spent_: privacy loss of this fit.
        n_features_in_: number d of features.
        feature_names_in_: names of the columns, where the features came from a frame.

    Example:
        >>> X = np.linspace(-1, 1, 4000).reshape(-1, 2)
        >>> model = PrivateRegression(epsilon=1.0, feature_bounds=(-1, 1), response_bounds=(-4, 4),
        ...                           noise=Noise.simulated(1))
        >>> model.fit(X, X @ [1.0, 1.0]).predict([[0.5, 0.5]]).round(1)
        array([1.])
        >>> model.privacy_spent_
        PureDP(epsilon=1.0)
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        feature_bounds: Sequence[Any] | Mapping[str, Any] | None = None,
        response_bounds: Sequence[float] | None = None,
        neighbours: str = "replace",
        release: str = "auto",
        parameter_bound: float | None = None,
        residual_std: float | None = None,
        smallest_eigenvalue: float | None = None,
        level: float = 0.95,
        noise: Noise | None = None,
        ledger: Charging | None = None,
        account: Account | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.feature_bounds = feature_bounds
        self.response_bounds = response_bounds
        self.neighbours = neighbours
        self.release = release
        self.parameter_bound = parameter_bound
        self.residual_std = residual_std
        self.smallest_eigenvalue = smallest_eigenvalue
        self.level = level
        self.noise = noise
        self.ledger = ledger
        self.account = account

    # ---- fit and predict

    def fit(self, X: Any, y: Any) -> Self:
        """Release the coefficients once, from all records.

        Args:
            X: (n, d) features with at least 4 rows, as an array, a frame of pandas, Polars or Arrow, or a mapping from
                column names to columns.
            y: (n,) responses as an array, a series or a column.

        Warns:
            UserWarning: rows count as null, or values were moved to a bound. Without a ledger, another warning says
                that the same data was fitted before in this process, and gives the sum of the losses. The warning of a
                repeated fit comes before any noise is drawn, so that turning it into an error stops the fit.

        Raises:
            InvalidInput: a setting is missing or out of range, X or y has a wrong shape or a type without numbers, or
                the account has an audience other than the public or a neighbouring relation other than "replace".
            BudgetExceeded: the ledger's budget is exhausted. An exhausted budget stops the fit before any value is
                read, and the estimator is unchanged.
        """
        level = fraction("level", self.level)
        features = features_of(X)
        response = response_of(y, features.rows)
        if INTERCEPT in features.labels:
            raise InvalidInput("X", f"a column has the name {INTERCEPT!r}",
                               "rename the column, since the constant has this name")
        if features.rows < _FEWEST:
            raise InvalidInput("X", f"n_samples = {features.rows}", f"must have at least {_FEWEST} rows")
        roles, role = bounded_features(self.feature_bounds, features), bounded_response(self.response_bounds)
        design = Design(features=roles)
        setting = self._setting(features.rows, design, role)
        release = self._release(setting)
        loss, source, formula = release.privacy()
        noise = self._noise()
        self._charge(release)

        values, answers = features.read(), response.read()
        if self.ledger is None:
            self._note(values, answers, loss, simulated=not noise.release_safe)
        released = _run(release, setting, values, answers, design, role, noise)

        coef = in_ball(released.estimate, setting.parameter_bound)
        natural = design.natural(coef, role)
        # The natural intercept is the response where every feature is at its middle; scikit-learn's is where it is 0.
        middles = np.array([feature.middle for feature in roles])
        rows = natural.matrix.copy()
        rows[0] -= middles @ rows[1:]
        self.coef_ = natural.coefficients[1:]
        self.intercept_ = float(rows[0] @ coef + role.middle)
        self.intervals_ = {
            name: _moved(release.interval_of(setting, released, coef, row, level), offset)
            for name, row, offset in zip((INTERCEPT, *features.labels), rows, natural.offset, strict=True)}
        self.guarantees_ = Guarantees((Privacy(
            loss=loss, neighbours=Relation.REPLACE, audience=Audience.PUBLIC, source=source,
            note=f"{formula}; holds for every data set, n is public"),))
        self.privacy_spent_: PureDP | ApproxDP = loss
        self.n_features_in_ = len(features.labels)
        self.__dict__.pop("feature_names_in_", None)
        if features.named:
            self.feature_names_in_ = np.array(features.labels, dtype=object)
        self._fitted = features.rows, noise.release_safe
        if said := lost_records(features.labels, [*roles, role], np.column_stack([values, answers])):
            warnings.warn(said, stacklevel=2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict responses from the released coefficients, at no further privacy cost to the people of the fit.

        Args:
            X: (m, d) features, in any form that `fit` accepts. Values beyond the bounds are used unchanged.

        Returns:
            (m,) predicted responses; nan where a feature is missing or not a number.

        Raises:
            InvalidInput: the columns differ from the columns of the fit.
            NotFittedError: the estimator was not fitted. If scikit-learn is loaded, the class of the error is that of
                scikit-learn; otherwise it is a ValueError.
        """
        self._check_fitted()
        features = features_of(X)
        width, name = len(features.labels), type(self).__name__
        fitted = getattr(self, "feature_names_in_", None)
        warn_of_names(features, None if fitted is None else tuple(fitted), name)
        if width != self.n_features_in_:
            raise InvalidInput(
                "X", f"X has {width} features, but {name} is expecting {self.n_features_in_} features as input")
        return ordered_dot(features.read(), self.coef_) + self.intercept_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient R^2 of the predictions: 1 - (squared errors) / (squared deviations of y from its mean).

        **A score on private data is not a release.** The score depends on every row, without noise. The holder of the
        data may look at the score, but must neither publish it nor use it to choose among fits that are published. A
        score on public data costs no privacy.

        Args:
            X: (m, d) features, in any form that `fit` accepts.
            y: (m,) true responses.
            sample_weight: (m,) weights of the rows; by default all equal.

        Returns:
            The coefficient, at most 1. For constant y the coefficient is 1 if the predictions are exact, and 0 if not.
            For fewer than 2 rows the coefficient is nan.

        Raises:
            InvalidInput: a feature or response is missing or not a number.
        """
        predicted = self.predict(X)
        true = response_of(y, len(predicted)).read()[:, 0]
        weights = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != true.shape:
            raise InvalidInput("sample_weight", f"shape {weights.shape}", f"must be {true.shape}")
        if not np.isfinite(true + predicted).all():
            raise InvalidInput("X", "a row has a feature or a response that is NaN, infinite or not a number",
                               "leave such rows out")
        if len(true) < 2:
            return math.nan
        error = float(weights @ (true - predicted) ** 2)
        spread = float(weights @ (true - np.average(true, weights=weights)) ** 2)
        if spread == 0.0:
            return 1.0 if error == 0.0 else 0.0
        return 1.0 - error / spread

    def to_dict(self) -> dict[str, Any]:
        """The released outcome as a dictionary for JSON: coefficients, intervals, guarantees and privacy loss."""
        self._check_fitted()
        rows, safe = self._fitted
        return {
            "coef": dict(zip(list(self.intervals_)[1:], self.coef_.tolist(), strict=True)),
            "intercept": self.intercept_,
            "intervals": {name: {**asdict(part), "total": part.total, "total_level": part.total_level}
                          for name, part in self.intervals_.items()},
            "records": rows,
            "release_safe": safe,
            "privacy": self.privacy_spent_.to_dict(),
            "guarantees": self.guarantees_.to_dict(),
        }

    # ---- what a fit is made of

    def _setting(self, rows: int, design: Design, response: Numeric) -> Setting:
        """The public facts of the fit. To choose among releases, features with unknown law are assumed to be uniform
        within their bounds.
        """
        bound = 1.0 / design.weight
        if self.parameter_bound is not None:
            bound = positive("parameter_bound", self.parameter_bound)
        scaled = 1.0
        if self.residual_std is not None:
            scaled = min(1.0, positive("residual_std", self.residual_std) / response.scale)
        given, square = self.smallest_eigenvalue, design.weight**2
        return Setting(
            people=rows, features=design.dimension, prior=UniformBall(design.dimension, bound),
            noise=TruncatedGaussianNoise(noise_std=scaled, bound=_WIDEST_RESIDUAL), response_bound=1.0,
            smallest_eigenvalue=square / 3.0 if given is None else given,
            largest_eigenvalue=square if given is None else None)

    def _release(self, setting: Setting) -> Release:
        """The named release estimator, or the allowed release estimator with the least predicted error."""
        if self.epsilon is None:
            raise InvalidInput("epsilon", "is missing", "must be the privacy loss of one fit, such as 1.0")
        epsilon, delta = positive("epsilon", self.epsilon), fraction("delta", self.delta, zero=True)
        if self.neighbours != "replace":
            raise InvalidInput("neighbours", f"{self.neighbours!r} is not known",
                               "must be 'replace': these releases are proved for one row that is replaced, with a "
                               "public number of rows")
        name = one_of("release", self.release, RELEASES)
        if name == "adassp" and not delta:
            raise InvalidInput("delta", "is 0", "AdaSSP needs a delta above 0")
        if name == "ridge" and self.smallest_eigenvalue is None:
            raise InvalidInput("smallest_eigenvalue", "is missing",
                               "give a public lower bound for 'ridge', never one from the data; 'sufficient "
                               "statistics' needs no bound")
        admitted: dict[str, Release] = {}
        if name in {"auto", "sufficient statistics"}:
            admitted["sufficient statistics"] = SufficientStatistics(epsilon=epsilon)
        if name in {"auto", "adassp"} and delta:
            admitted["adassp"] = AdaSSP(epsilon=spendable(epsilon, delta), delta=delta)
        if name in {"auto", "ridge"} and self.smallest_eigenvalue is not None:
            from confide.regression.compared_releases import best_ridge_release

            admitted["ridge"] = RidgeRelease(epsilon=epsilon, ridge=best_ridge_release(setting, epsilon))
        if len(admitted) == 1:
            return next(iter(admitted.values()))
        return min(admitted.values(), key=lambda each: each.prediction_error(setting))

    def _noise(self) -> Noise:
        if self.noise is None:
            return Noise.secure()
        if not isinstance(self.noise, Noise):
            raise InvalidInput("noise", f"{type(self.noise).__name__} is not a Noise",
                               "leave out `noise` for secure noise; Noise.simulated(seed) is for studies")
        return anew(self.noise)

    def _charge(self, release: Release) -> None:
        if self.ledger is None:
            if self.account is not None:
                raise InvalidInput("ledger", "is missing",
                                   f"give a ledger: without a ledger, nothing charges {self.account}")
            return
        if not isinstance(self.ledger, Charging):
            raise InvalidInput("ledger", f"{type(self.ledger).__name__} is not a ledger",
                               "must have the methods rule and charge of confide.privacy.Ledger")
        if not isinstance(self.account, Account):
            raise InvalidInput("account", "is missing", "must be the confide.privacy.Account that the ledger charges")
        if self.account.audience is not Audience.PUBLIC:
            raise InvalidInput("account", f"{self.account} has the audience {self.account.audience.value!r}",
                               "must have the audience 'public', since everybody may see a published fit")
        if self.account.neighbours is not Relation.REPLACE:
            raise InvalidInput("account", f"{self.account} has the relation {self.account.neighbours.value!r}",
                               "must have the relation 'replace': a fit is proved for one row that is replaced")
        delta = self.delta if isinstance(release, AdaSSP) and self.ledger.rule(self.account) == "basic" else 0.0
        self.ledger.charge(self.account, *release.events(), delta=delta)

    @staticmethod
    def _note(values: np.ndarray, answers: np.ndarray, loss: PureDP | ApproxDP, *, simulated: bool) -> None:
        """Record a fit without a ledger, after a warning if the same data was fitted before."""
        cost = Cost(epsilon=written(loss.epsilon), delta=written(getattr(loss, "delta", 0.0)))
        known = _REFITS.digest([values, answers], b"simulated" if simulated else b"")
        fits, total = _REFITS.with_one_more(known, cost)
        if fits > 1:
            together = Filter(PureDP(1.0)).asked(total)
            what = (f"under secure noise the losses would add up to {together}" if simulated
                    else f"the losses add up to {together}")
            warnings.warn(f"fit {fits} of the same data in this process, without a ledger: {what}. A ledger keeps the "
                          "sum within a budget", stacklevel=3)
        _REFITS.add(known, cost)

    # ---- the protocol of scikit-learn, which need not be there

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor, by name.

        Args:
            deep: not used, because no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters
                if name != "self"}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; fitted results stay until the next fit.

        Raises:
            InvalidInput: a name is not a parameter. The error leaves all parameters unchanged.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise InvalidInput(name, f"Invalid parameter {name!r} for estimator {type(self).__name__}",
                                   f"must be one of {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        """An unfitted estimator with the same ledger, because a copy of a ledger would have a budget of its own."""
        return type(self)(**self.get_params())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor", target_tags=TargetTags(required=True), regressor_tags=RegressorTags(),
            input_tags=InputTags(allow_nan=True),
            non_deterministic=not (isinstance(self.noise, Noise) and self.noise.kind == "simulated"))

    def get_metadata_routing(self) -> Any:
        """The request object for scikit-learn's metadata routing, in which `score` requests no sample weights."""
        from sklearn.utils.metadata_routing import MetadataRequest

        found = MetadataRequest(owner=self)
        found.score.add_request(param="sample_weight", alias=None)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """The state that is copied or pickled: parameters and the released outcome, without the ledger and without
        secure noise.
        """
        state = dict(self.__dict__)
        if self.ledger is not None:
            state["ledger"] = _LeftBehind()
        if isinstance(self.noise, Noise) and self.noise.release_safe:
            state["noise"] = None  # secure noise, fresh for each fit
        return state

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items()
                          if value is not defaults[name].default)
        text = f"{type(self).__name__}({given})"
        if not self.__sklearn_is_fitted__():
            return text
        rows, safe = self._fitted
        spent = (f"{self.privacy_spent_} spent for each row that is replaced" if safe
                 else f"simulated noise, not a release; secure noise would spend {self.privacy_spent_}")
        return f"<{text}, fitted to {rows:,} rows; {spent}>"

    def _check_fitted(self) -> None:
        if self.__sklearn_is_fitted__():
            return
        kind = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", _NotFitted)
        raise kind(f"This {type(self).__name__} is not fitted yet: call fit(X, y) first")


class _NotFitted(ValueError, AttributeError):
    """Error of an estimator that was not fitted, when a result of a fit is asked for."""


# ---- records


def _run(
    release: Release, setting: Setting, values: np.ndarray, answers: np.ndarray, design: Design, response: Numeric,
    noise: Noise,
) -> Released:
    """One release from all records, which are read like the tables of a campaign, with the noise metered against the
    release's own charge.
    """
    columns = {feature.column: values[:, k] for k, feature in enumerate(design.features)}
    table = open_table(pa.table({**columns, response.column: answers[:, 0]}))
    records = read_records(table, design=design, response=response, roster=Roster(setting.people))
    nobody = np.zeros(setting.people, dtype=bool)
    first, second = moments(records, setting.record_map, nobody, setting.features)  # type: ignore[arg-type]
    with noise.metering(release):
        return release.run(setting, first + second, np.zeros((2, setting.features)), noise)


def _moved(interval: Interval, offset: float) -> Interval:
    return replace(interval, value=float(interval.value + offset))

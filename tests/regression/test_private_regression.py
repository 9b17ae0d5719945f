"""The estimator: scikit-learn's contract, the ledger before the data, the same release, and nothing kept of a row."""

from __future__ import annotations

import math
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from cases import fast
from confide.contract import Audience, InvalidInput, Refused, Relation
from confide.contract.errors import BudgetExceeded
from confide.contract.metered import Overspent
from confide.privacy import ApproxDP, Ledger, Noise, PureDP
from confide.privacy.events import Event
from confide.privacy.ledger import Account
from confide.regression import AdaSSP, PrivateRegression, RidgeRelease, SufficientStatistics
from confide.regression import private_regression as estimator
from confide.regression.estimator_input import Refits
from confide.regression.priors import TruncatedGaussianNoise, UniformBall
from confide.regression.records import Batch, moments
from confide.regression.release.base import in_ball
from confide.regression.setting import Setting
from confide.tables import Design, Numeric

NEVER_STOPPED = "one person's cell stops no fit that was charged: their row counts as a null record, with a warning"
EXPECTED = {"check_dtype_object": NEVER_STOPPED, "check_supervised_y_no_nan": NEVER_STOPPED}
ACCOUNT = Account(name="survey", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
BOUNDS: dict[str, Any] = {"feature_bounds": (0, 100), "response_bounds": (0, 200)}
SLOPES, CONSTANT, STD = np.array([1.0, 0.5, -0.25]), 20.0, 4.0


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins as a new process does: no data was fitted before."""
    monkeypatch.setattr(estimator, "_REFITS", Refits())


def people(seed: int, rows: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(10, 90, (rows, len(SLOPES)))
    return X, X @ SLOPES + CONSTANT + rng.normal(0, STD, rows)


def model(seed: int | None = 0, **more: Any) -> PrivateRegression:
    noise = None if seed is None else Noise.simulated(seed)
    return PrivateRegression(**{"epsilon": 1.0, "noise": noise, **BOUNDS, **more})


def ledger(epsilon: float, delta: float = 0.0, rule: Any = "basic") -> Ledger:
    found = Ledger()
    found.register(ACCOUNT, ApproxDP(epsilon, delta) if delta else PureDP(epsilon), rule)
    return found


@pytest.fixture
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="fit [0-9]+ of the same data")
        yield


class Watched:
    """An array whose shape and type may be seen; a look at its values is noted, or fails."""

    def __init__(self, values: np.ndarray, error: Exception | None = None) -> None:
        self.values, self.error, self.looks = values, error, 0
        self.shape, self.dtype = values.shape, values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, *args: Any, **more: Any) -> np.ndarray:
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.values


# ---- scikit-learn's contract


@pytest.mark.parametrize("settings", fast(1, [
    {"release": "sufficient statistics"}, {"release": "adassp", "delta": 1e-3},
    {"release": "ridge", "smallest_eigenvalue": 1e-3},
]), ids=lambda settings: settings["release"])
def test_scikit_learn_checks(settings: dict[str, Any]) -> None:
    """All of them but the named ones, which do fail: an exception that is none is found, too."""
    one = PrivateRegression(epsilon=1e6, feature_bounds=(-5, 5), response_bounds=(-5, 5), residual_std=0.5,
                            noise=Noise.simulated(1), **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without use, the same data again, and a class that is not derived
        found = check_estimator(one, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert {each["check_name"]: each["exception"] for each in found if each["status"] == "failed"} == {}
    assert {each["check_name"] for each in found if each["status"] == "xfail"} == set(EXPECTED)
    assert sum(each["status"] == "passed" for each in found) >= 40


def test_a_dict_among_numbers_is_one_row(quiet: None) -> None:
    """What the first excepted check asks for otherwise; the rest of it holds: objects that are numbers are read."""
    X, y = people(1, 60)
    objects = X.astype(object)
    expected = model().fit(X, y).coef_.tolist()
    assert model().fit(objects, y.astype(object)).coef_.tolist() == expected
    objects[0, 0] = {"foo": "bar"}
    with pytest.warns(UserWarning, match=r"^1 of 60 rows count as null records, since .* \(x0: 1\)\. This message "
                                         r"follows from"):
        model().fit(objects, y)


def test_a_pipeline_a_clone_and_a_search(quiet: None) -> None:
    X, y = people(2, 300)
    books = ledger(100.0)
    one = model(None, ledger=books, account=ACCOUNT, epsilon=2.0)
    assert clone(one).ledger is books
    assert clone(make_pipeline(one)).steps[0][1].ledger is books
    line = make_pipeline(FunctionTransformer(), one)
    assert line.fit(X, y).predict(X).shape == (300,)
    with sklearn.config_context(enable_metadata_routing=True):
        assert np.isfinite(cross_val_score(make_pipeline(one), X, y, cv=3, error_score="raise")).all()
    assert books.spent(ACCOUNT) == PureDP(2.0 + 3 * 2.0)  # once for each fit
    search = GridSearchCV(one, {"epsilon": [1.0, 3.0]}, cv=2).fit(X, y)
    # Two fits at each of the two settings, and one at the best of them on all rows.
    assert books.spent(ACCOUNT) == PureDP(8.0 + 2 * 1.0 + 2 * 3.0 + search.best_params_["epsilon"])
    assert search.best_estimator_.ledger is books


WITHOUT = """
import sys
sys.modules["sklearn"] = None  # an import of it fails
import numpy as np
from confide.privacy import Noise
from confide.regression import PrivateRegression
model = PrivateRegression(epsilon=1.0, feature_bounds=(0, 1), response_bounds=(0, 1), noise=Noise.simulated(0))
try:
    model.predict([[1.0]])
except AttributeError as error:
    print(isinstance(error, ValueError), error)
X = np.linspace(0, 1, 400)[:, None]
print(model.fit(X, X[:, 0]).predict([[0.5]]).shape, model.set_params(epsilon=2.0).get_params()["epsilon"])
print(round(model.score(X, X[:, 0]), 1), [m for m in sys.modules if m.startswith("sklearn.")])
"""


def test_scikit_learn_need_not_be_there() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    assert first == "True This PrivateRegression is not fitted yet: call fit(X, y) first"
    assert (second, third) == ("(1,) 2.0", "1.0 []")


def test_parameters() -> None:
    one = model()
    with pytest.raises(InvalidInput, match="Invalid parameter 'alpha' for estimator PrivateRegression"):
        one.set_params(epsilon=2.0, alpha=1.0)
    assert one.epsilon == 1.0
    assert not hasattr(one, "coef_")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        one.predict([[1.0, 2.0, 3.0]])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        one.to_dict()


# ---- one release of the family, in natural units


def by_hand(release: Any, X: np.ndarray, y: np.ndarray, seed: int, std: float = 100.0) -> tuple[np.ndarray, float]:
    """The same fit from the family's own parts, and plain algebra for the units."""
    design = Design(features=tuple(Numeric(column=f"c{k}", lower=0, upper=100, out_of_bounds="clip") for k in range(3)))
    answer = Numeric(column="y", lower=0, upper=200, out_of_bounds="clip")
    square = design.weight**2
    setting = Setting(people=len(y), features=4, prior=UniformBall(4, 2.0), response_bound=1.0,
                      noise=TruncatedGaussianNoise(noise_std=std / 100, bound=8.0),
                      smallest_eigenvalue=square / 3, largest_eigenvalue=square)
    encoded, scaled = design.encode({f"c{k}": X[:, k] for k in range(3)}), answer.encode(y)
    keep = encoded.valid & (scaled.problems == 0)
    rows = [Batch(np.flatnonzero(keep), encoded.X[keep], scaled.values[keep])]
    first, second = moments(rows, setting.record_map, np.zeros(len(y), bool), 4)
    released = release.run(setting, first + second, np.zeros((2, 4)), Noise.simulated(seed))
    theta = in_ball(released.estimate, 2.0) * design.weight
    slopes = theta[1:] * 100 / 50
    return slopes, 100 + 100 * theta[0] - float(slopes @ np.full(3, 50.0))


@pytest.mark.parametrize("release", [SufficientStatistics(epsilon=1.0), AdaSSP(epsilon=1.0, delta=1e-6)],
                         ids=lambda release: type(release).__name__)
def test_it_is_the_release_of_the_family(release: Any) -> None:
    X, y = people(3)
    slopes, constant = by_hand(release, X, y, 5, std=6.0)
    name = "adassp" if isinstance(release, AdaSSP) else "sufficient statistics"
    found = model(5, release=name, delta=getattr(release, "delta", 0.0), residual_std=6.0).fit(X, y)
    assert found.coef_ == pytest.approx(slopes, rel=1e-12)
    assert found.intercept_ == pytest.approx(constant, rel=1e-12)


def test_coefficients_come_in_units_of_the_data() -> None:
    X, y = people(4, 20_000)
    found = model(epsilon=50.0, residual_std=STD).fit(X, y)
    assert found.coef_ == pytest.approx(SLOPES, abs=0.02)
    assert found.intercept_ == pytest.approx(CONSTANT, abs=1.5)
    assert found.predict(X[:5]) == pytest.approx(X[:5] @ found.coef_ + found.intercept_)
    # Grams for kilograms, and cents for euros: the same model.
    other = model(epsilon=50.0, residual_std=STD * 100, feature_bounds=(0, 1e5), response_bounds=(0, 2e4))
    other.fit(X * 1000, y * 100)
    assert other.coef_ * 10 == pytest.approx(found.coef_, rel=1e-4)
    assert other.intercept_ / 100 == pytest.approx(found.intercept_, rel=1e-4)


def test_bounds_are_not_taken_from_the_data() -> None:
    X, y = people(5)
    far, at = X.copy(), X.copy()
    far[7, 1], at[7, 1] = 1e12, 100.0
    answers, capped = y.copy(), y.copy()
    answers[9], capped[9] = -1e9, 0.0
    with pytest.warns(UserWarning, match=r"^2 values lie beyond their bounds and were moved to them \(x1: 1, y: 1\)\."):
        found = model().fit(far, answers)
    assert found.coef_.tolist() == model().fit(at, capped).coef_.tolist()
    for missing in ("feature_bounds", "response_bounds"):
        with pytest.raises(InvalidInput, match=f"^{missing}: is missing; .*public.*know without this data"):
            model(**{missing: None}).fit(X, y)


@pytest.mark.parametrize("where", [(3, 0, math.nan), (3, 2, math.inf), (3, None, math.nan), (3, None, -math.inf)])
def test_a_row_without_use_is_a_null_record(where: tuple[int, int | None, float]) -> None:
    """Whatever is wrong with it, and whatever else stands in it: as the family's own reader has it."""
    X, y = people(6)
    row, column, value = where
    if column is None:
        y[row] = value
    else:
        X[row, column] = value
    with pytest.warns(UserWarning, match=r"^1 of 2,000 rows count as null records"):
        found = model(5).fit(X, y)
    slopes, constant = by_hand(SufficientStatistics(epsilon=1.0), X, y, 5)
    assert found.coef_ == pytest.approx(slopes, rel=1e-12)
    assert found.intercept_ == pytest.approx(constant, rel=1e-12)
    assert np.isnan(found.predict([[math.nan, 1.0, 1.0], [1.0, 1.0, 1.0]])).tolist() == [True, False]


def test_the_release_is_chosen_from_public_numbers(quiet: None) -> None:
    X, y = people(7)
    assert model().fit(X, y).privacy_spent_ == PureDP(1.0)
    loose = model(delta=0.01).fit(X, y)  # far more privacy than the pure release may spend
    assert loose.privacy_spent_ == ApproxDP(1.0, 0.01)
    tight = model(delta=1e-12).fit(X, y)  # four coefficients: vector noise is smaller
    assert tight.privacy_spent_ == PureDP(1.0)
    few = model(epsilon=0.01, smallest_eigenvalue=0.01, release="ridge", parameter_bound=1.0).fit(X, y)
    (promise,) = few.guarantees_.privacy
    assert "D(R,Y)/(gamma epsilon)" in promise.note
    assert (promise.neighbours, promise.audience) == (Relation.REPLACE, Audience.PUBLIC)


def test_noise_is_paid_for_on_the_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release with half of the noise that its charge is about stops before it draws."""
    whole = SufficientStatistics.noise_scale.fget
    monkeypatch.setattr(SufficientStatistics, "noise_scale", property(lambda self: whole(self) / 2))
    one = model(None)
    with pytest.raises(Overspent, match="release"):
        one.fit(*people(8))
    assert not hasattr(one, "coef_")


def test_secure_noise_is_the_default_and_fresh(quiet: None) -> None:
    first, second = people(9, 400), people(10, 400)
    for noise in (None, Noise.secure()):
        one = PrivateRegression(epsilon=1.0, noise=noise, **BOUNDS)
        fits = [one.fit(*data).coef_ for data in (first, first, second)]
        assert one.to_dict()["release_safe"] is True
        assert not np.array_equal(fits[0], fits[1])
    studied = model(3)
    assert studied.fit(*first).to_dict()["release_safe"] is False
    assert "simulated noise, not a release" in repr(studied)


# ---- the ledger


@pytest.mark.parametrize(("settings", "rule", "spent"), [
    ({"epsilon": 0.75}, "basic", PureDP(0.75)),
    ({"epsilon": 0.75, "delta": 1e-6, "release": "adassp"}, "basic", None),
    ({"epsilon": 0.75, "delta": 1e-6, "release": "adassp"}, "zcdp", None),
])
def test_a_ledger_is_charged(settings: dict[str, Any], rule: str, spent: Any) -> None:
    books = ledger(1.0, settings.get("delta", 0.0), rule)
    one = model(None, ledger=books, account=ACCOUNT, **settings).fit(*people(11))
    found = books.spent(ACCOUNT)
    if spent is not None:
        assert found == spent
    else:
        level = found.epsilon_at(1e-6) if rule == "zcdp" else found.epsilon
        assert 0.7 < level <= 0.75
    assert len(books.events(ACCOUNT)) == 1
    assert one.guarantees_.privacy[0].loss == one.privacy_spent_


def test_a_ledger_is_charged_before_anything_is_looked_at() -> None:
    X, y = people(12)
    one = model(None, ledger=ledger(0.5), account=ACCOUNT)
    watched, answers = Watched(X), Watched(y)
    with pytest.raises(BudgetExceeded, match="survey"):
        one.fit(watched, answers)
    assert (watched.looks, answers.looks) == (0, 0)
    assert not hasattr(one, "coef_")
    assert one.ledger.spent(ACCOUNT) == PureDP(0.0)
    with pytest.raises(NotFittedError):
        one.predict(X)


def test_a_crash_after_the_charge_costs_what_was_charged() -> None:
    X, y = people(13)
    books = ledger(2.0)
    one = model(None, ledger=books, account=ACCOUNT)
    with pytest.raises(RuntimeError, match="the disk"):
        one.fit(Watched(X, RuntimeError("the disk")), y)
    assert books.spent(ACCOUNT) == PureDP(1.0)
    assert not hasattr(one, "coef_")


def test_a_refused_fit_leaves_the_earlier_one() -> None:
    first, second = people(14), people(15)
    one = model(None, ledger=ledger(1.5), account=ACCOUNT).fit(*first)
    before = one.to_dict()
    with pytest.raises(BudgetExceeded):
        one.fit(*second)
    assert one.to_dict() == before


@pytest.mark.parametrize(("settings", "field"), [
    ({"ledger": object(), "account": ACCOUNT}, "ledger"),
    ({"ledger": Ledger()}, "account"),
    ({"account": ACCOUNT}, "ledger"),
    ({"ledger": Ledger(), "account": ACCOUNT}, "account"),
])
def test_a_ledger_that_is_none(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        model(None, **settings).fit(*people(16))


@pytest.mark.parametrize("epsilon", [0.1, 0.8, 1.1, 2.3])
def test_an_account_admits_a_fit_of_its_whole_budget(epsilon: float) -> None:
    """As it is written: the decimal 0.8 lies below its double, to which concentrated noise would be calibrated."""
    books = ledger(epsilon, 1e-6)
    settings: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-6, "release": "adassp"}
    one = model(None, ledger=books, account=ACCOUNT, **settings).fit(*people(16))
    assert one.privacy_spent_.epsilon == pytest.approx(epsilon)
    assert books.spent(ACCOUNT).epsilon <= epsilon


class Obliging:
    """A ledger of somebody else's, which debits whatever it is asked to."""

    def __init__(self) -> None:
        self.charged: list[Account] = []

    def rule(self, account: Account) -> Any:
        return "basic"

    def charge(self, account: Account, *events: Event, delta: float = 0.0) -> None:
        self.charged.append(account)


@pytest.mark.parametrize(("account", "said"), [
    *((replace(ACCOUNT, audience=each), f"the audience '{each.value}'; must have the audience 'public'")
      for each in Audience if each is not Audience.PUBLIC),
    *((replace(ACCOUNT, neighbours=each), f"the relation '{each.value}'; must have the relation 'replace'")
      for each in Relation if each is not Relation.REPLACE),
])
def test_an_account_of_another_audience_or_relation_is_refused_before_the_charge(account: Account, said: str) -> None:
    """What a fit publishes everybody may see; it is proved for one row that is replaced, whatever the ledger takes."""
    ours, theirs = Ledger(), Obliging()
    ours.register(account, PureDP(10.0))
    for books in (ours, theirs):
        one = model(None, ledger=books, account=account)
        with pytest.raises(InvalidInput, match=f"^account: .*{re.escape(said)}"):
            one.fit(*people(16))
        assert not one.__sklearn_is_fitted__()
    assert (ours.spent(account), theirs.charged) == (PureDP(0.0), [])
    model(None, ledger=theirs, account=ACCOUNT).fit(*people(16))
    assert theirs.charged == [ACCOUNT]


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_has_no_ledger_and_cannot_fit(copied: Callable[[Any], Any]) -> None:
    """It predicts; a fit by it would be charged to a ledger with a budget of its own."""
    X, y = people(17)
    one = model(None, ledger=ledger(5.0), account=ACCOUNT).fit(X, y)
    other = copied(one)
    assert other.predict(X[:9]).tolist() == one.predict(X[:9]).tolist()
    with pytest.raises(Refused, match=r"this copy of an estimator has no ledger.*n_jobs=1"):
        other.fit(X, y)
    assert one.ledger.spent(ACCOUNT) == PureDP(1.0)
    other.set_params(ledger=one.ledger).fit(X, y)
    assert one.ledger.spent(ACCOUNT) == PureDP(2.0)


# ---- without a ledger


def test_a_mapping_of_columns_is_a_table() -> None:
    X, y = people(18)
    columns = {"a": X[:, 0], "b": list(X[:, 1]), "c": X[:, 2]}
    one = model(None).fit(columns, y)
    assert one.feature_names_in_.tolist() == ["a", "b", "c"]
    assert one.predict(columns).tolist() == one.predict(pd.DataFrame(columns)).tolist()
    with pytest.raises(InvalidInput, match="columns of different lengths"):
        model(None).fit({"a": X[:, 0], "b": X[1:, 1]}, y)


def test_a_second_fit_of_the_same_data_is_reported_with_the_sum() -> None:
    X, y = people(18)
    model(None).fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.warns(UserWarning, match=r"fit 2 of the same data .* losses add up to epsilon 1\.5\. A ledger"):
        model(None, epsilon=0.5, feature_bounds=(-10, 200)).fit(frame, y)
    with pytest.warns(UserWarning, match="fit 3 .* epsilon 1.75, delta 1e-06"):
        model(None, epsilon=0.25, delta=1e-6, release="adassp").fit(np.asfortranarray(X), list(y))
    model(None).fit(X[:-1], y[:-1])  # others


def test_a_warning_that_is_an_error_stops_the_second_fit() -> None:
    X, y = people(19)
    one = model(None).fit(X, y)
    before = one.to_dict()
    with pytest.raises(UserWarning, match="fit 2"):  # the tests take every warning for an error
        one.set_params(epsilon=3.0).fit(X, y)
    assert one.to_dict() == before
    with pytest.warns(UserWarning, match="add up to epsilon 4"):  # the fit that was stopped spent nothing
        one.fit(X, y)


def test_studies_are_counted_apart() -> None:
    X, y = people(20)
    model(1).fit(X, y)
    with pytest.warns(UserWarning, match="under secure noise the losses would add up to epsilon 2"):
        model(2).fit(X, y)
    model(None).fit(X, y)  # the first release of this data


def test_a_ledger_adds_up_by_itself() -> None:
    X, y = people(21)
    for _ in range(2):
        model(None, ledger=ledger(5.0), account=ACCOUNT).fit(X, y)


# ---- nothing of the data is kept


def test_what_is_kept_of_a_fit_holds_no_row() -> None:
    rng = np.random.default_rng(22)
    X, y = rng.uniform(0, 100, (50, 3)), rng.uniform(0, 200, 50)
    X[4, 1] = math.nan
    with pytest.warns(UserWarning, match="1 of 50"):
        one = model(None).fit(X, y)
    kept = pickle.dumps(one)
    shown = repr(one) + str(one.to_dict()) + str(one.get_params())
    for value in (*X[np.isfinite(X)], *y):
        assert np.float64(value).tobytes() not in kept
        assert np.float64(value).tobytes()[::-1] not in kept
        assert repr(float(value)) not in shown
    assert estimator._REFITS._key not in kept
    arrays = [each for each in vars(one).values() if isinstance(each, np.ndarray)]
    assert [each.shape for each in arrays] == [(3,)]  # the coefficients
    again = pickle.loads(kept)
    assert again.to_dict() == one.to_dict()
    assert again.predict(X[:3]).tolist() == one.predict(X[:3]).tolist()
    assert "epsilon = 1 spent for each row that is replaced" in repr(one)
    assert repr(PrivateRegression(epsilon=2)) == "PrivateRegression(epsilon=2)"


def test_no_digest_tells_of_data_without_the_key() -> None:
    X, y = people(23)
    one, other = Refits(), Refits()
    assert one.digest([X, y[:, None]]) == one.digest([X.copy(order="F"), y[:, None]])
    assert one.digest([X, y[:, None]]) != other.digest([X, y[:, None]])
    assert one.digest([X, y[:, None]]) != one.digest([X[::-1], y[::-1, None]])
    assert one.digest([X]) != one.digest([X.reshape(-1, 1)])
    assert repr(one) == "Refits()"


# ---- intervals and scores


@pytest.mark.parametrize("settings", fast(1, [{}, {"release": "adassp", "delta": 1e-6},
                                              {"release": "ridge", "smallest_eigenvalue": 0.02, "epsilon": 8.0}]),
                         ids=["sufficient statistics", "adassp", "ridge"])
def test_intervals_cover_the_truth(settings: dict[str, Any], quiet: None) -> None:
    truth, inside = np.array([CONSTANT, *SLOPES]), np.zeros(4)
    for seed in range(60):
        found = model(seed, residual_std=STD, **settings).fit(*people(seed, 1000))
        assert list(found.intervals_) == ["(intercept)", "x0", "x1", "x2"]
        parts = list(found.intervals_.values())
        assert [part.value for part in parts] == pytest.approx([found.intercept_, *found.coef_])
        inside += [part.lower <= value <= part.upper for part, value in zip(parts, truth, strict=True)]
        assert all(part.total_level == pytest.approx(0.9) for part in parts)
    assert (inside >= 60 * 0.9 - 2 * math.sqrt(60 * 0.9 * 0.1)).all()


def test_intervals_grow_with_the_level_and_the_residuals(quiet: None) -> None:
    X, y = people(24)
    widths = [[part.total for part in model(level=level, residual_std=std).fit(X, y).intervals_.values()]
              for level, std in ((0.8, 4.0), (0.99, 4.0), (0.99, None))]
    assert (np.diff(widths, axis=0) > 0).all()


def test_scores_are_those_of_scikit_learn(quiet: None) -> None:
    X, y = people(25)
    found = model().fit(X, y)
    weights = np.linspace(0, 2, len(y))
    assert found.score(X, y) == pytest.approx(r2_score(y, found.predict(X)))
    assert found.score(X, y, weights) == pytest.approx(r2_score(y, found.predict(X), sample_weight=weights))
    assert found.score(X, np.full(len(y), 3.0)) == r2_score(np.full(len(y), 3.0), found.predict(X)) == 0.0
    assert found.score(X[:5], found.predict(X[:5])) == 1.0
    assert math.isnan(found.score(X[:1], y[:1]))
    with pytest.raises(InvalidInput, match="NaN"):
        found.score(np.where(X > 80, math.nan, X), y)


# ---- settings


@pytest.mark.parametrize(("settings", "said"), [
    ({"epsilon": None}, "^epsilon: is missing"),
    ({"epsilon": 0.0}, "^epsilon: 0.0 is out of range"),
    ({"delta": 1.0}, "^delta: "),
    ({"level": 1.0}, "^level: "),
    ({"neighbours": "add_or_remove"}, "^neighbours: 'add_or_remove' is not known; must be 'replace': these releases"),
    ({"release": "averaged"}, "^release: 'averaged' is not known; must be one of auto, sufficient statistics"),
    ({"release": "adassp"}, "^delta: is 0; AdaSSP needs a delta above 0"),
    ({"release": "ridge"}, "^smallest_eigenvalue: is missing"),
    ({"smallest_eigenvalue": 0.5}, "^smallest_eigenvalue: "),
    ({"parameter_bound": -1.0}, "^parameter_bound: "),
    ({"residual_std": 0.0}, "^residual_std: "),
    ({"noise": 7}, r"^noise: int is not a Noise; .*Noise.simulated\(seed\)"),
    ({"feature_bounds": (5, 5)}, "^feature_bounds of x0: upper: 5 is not above lower = 5"),
    ({"feature_bounds": (0, math.inf)}, "^feature_bounds of x0: upper: inf is not finite"),
    ({"feature_bounds": [(0, 1), (0, 1)]}, "^feature_bounds: 2 given; X has 3 columns"),
    ({"feature_bounds": [(0, 1), (0, 1), (0, 1, 2)]}, "^feature_bounds of x2: 3 numbers"),
    ({"feature_bounds": "0..1"}, "^feature_bounds: '0..1' is no"),
    ({"feature_bounds": {"age": (0, 1)}}, "^feature_bounds: names columns, but X has no names"),
    ({"response_bounds": 7}, "^response_bounds: 7 is no"),
])
def test_settings_out_of_range(settings: dict[str, Any], said: str) -> None:
    X, y = people(30, 50)
    watched = Watched(X)
    with pytest.raises(InvalidInput, match=said):
        model(None, **settings).fit(watched, y)
    assert watched.looks == 0


# ---- what it rests on elsewhere


def test_a_copy_of_simulated_noise_begins_anew() -> None:
    noise = Noise.simulated(4)
    drawn = noise.laplace(1.0, 3, stream="one").tolist()
    for other in (deepcopy(noise), pickle.loads(pickle.dumps(noise))):
        assert other.laplace(1.0, 3, stream="one").tolist() == drawn
    with pytest.raises(InvalidInput, match="already drawn"):
        noise.laplace(1.0, 3, stream="one")


def test_a_ledger_tells_its_rule() -> None:
    assert ledger(1.0).rule(ACCOUNT) == "basic"
    assert ledger(1.0, 1e-6, "zcdp").rule(ACCOUNT) == "zcdp"
    with pytest.raises(InvalidInput, match="not registered"):
        Ledger().rule(ACCOUNT)


def test_ridge_is_weighed_for_its_setting() -> None:
    """With a public eigenvalue, few rows and a small epsilon, `auto` takes the estimate that fits them."""
    X, y = people(32, 200)
    found = model(epsilon=0.2, smallest_eigenvalue=0.08, parameter_bound=0.5).fit(X, y)
    (promise,) = found.guarantees_.privacy
    assert promise.source == RidgeRelease(epsilon=0.2, ridge=1.0).privacy()[1]

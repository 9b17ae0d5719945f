"""Old names in Python: they work, warn at the caller's line, and are seen by nobody else."""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import inspect
import subprocess
import sys
import textwrap
import types
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import confide
from confide._lazy import RENAMED, doors
from confide.contract import ConfideDeprecationWarning, InvalidInput
from confide.contract.renamed import REMOVED_AT, Rename, renamed, renames

SOURCE = Path(confide.__file__).parent


@renamed(averaged="noise_std", people_of="people", spread="wide")
@dataclass(frozen=True, kw_only=True)
class Planned:
    people: int = 3
    noise_std: float

    @property
    def wide(self) -> float:
        return 2 * self.noise_std

    @classmethod
    @renamed(n="people")
    def for_budget(cls, *, people: int) -> Planned:
        return cls(people=people, noise_std=1.0)


@renamed()
@dataclass(frozen=True, kw_only=True)
class Wider(Planned):
    more: int = 0


@renamed(n="people")
def share_of_one(people: int, *, of: float = 1.0) -> float:
    return of / people


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def told(call: Any) -> tuple[Any, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        return call(), found


# ---- keywords


def test_an_old_keyword_warns_at_the_callers_line() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Planned(averaged=2.0)  # type: ignore[call-arg]
        line = here() - 1
    (one,) = found
    assert (one.category, one.filename, one.lineno) == (ConfideDeprecationWarning, __file__, line)
    assert issubclass(ConfideDeprecationWarning, DeprecationWarning)
    assert str(one.message) == (
        f"Planned: 'averaged' is called 'noise_std' now; the old name goes with confide {REMOVED_AT}")


CALLS: dict[str, tuple[Any, Any]] = {
    "class": (lambda: Planned(averaged=2.0), Planned(noise_std=2.0)),  # type: ignore[call-arg]
    "two": (lambda: Planned(people_of=4, averaged=2.0), Planned(people=4, noise_std=2.0)),  # type: ignore[call-arg]
    "inherited": (lambda: Wider(averaged=2.0, more=1), Wider(noise_std=2.0, more=1)),  # type: ignore[call-arg]
    "class method": (lambda: Planned.for_budget(n=4), Planned(people=4, noise_std=1.0)),  # type: ignore[call-arg]
    "function": (lambda: share_of_one(n=4, of=2.0), 0.5),  # type: ignore[call-arg]
    "replace": (lambda: replace(Planned(noise_std=2.0), averaged=3.0),  # type: ignore[call-arg]
                Planned(noise_std=3.0)),
    "replace another": (lambda: replace(Planned(noise_std=2.0), people_of=9),  # type: ignore[call-arg]
                        Planned(people=9, noise_std=2.0)),
    "attribute": (lambda: Planned(noise_std=2.0).averaged, 2.0),  # type: ignore[attr-defined]
    "property": (lambda: Planned(noise_std=2.0).spread, 4.0),  # type: ignore[attr-defined]
    "inherited attribute": (lambda: Wider(noise_std=2.0).averaged, 2.0),  # type: ignore[attr-defined]
    **({"copy.replace": (lambda: copy.replace(Planned(noise_std=2.0), averaged=3.0),  # type: ignore[attr-defined]
                         Planned(noise_std=3.0))} if hasattr(copy, "replace") else {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_old_name_does_what_the_new_one_does(name: str) -> None:
    call, expected = CALLS[name]
    found, said = told(call)
    assert found == expected
    assert {(each.category, each.filename) for each in said} == {(ConfideDeprecationWarning, __file__)}
    assert len(said) == (2 if name == "two" else 1)
    with pytest.raises(ConfideDeprecationWarning):
        call()


def test_new_names_warn_of_nothing() -> None:
    it, said = told(lambda: replace(Wider(noise_std=2.0, people=4), people=5))
    assert (said, it.people, it.noise_std, share_of_one(4), share_of_one(people=4)) == ([], 5, 2.0, 0.25, 0.25)


@pytest.mark.parametrize("call", [
    lambda: Planned(noise_std=1.0, averaged=1.0),  # type: ignore[call-arg]
    lambda: Wider(noise_std=1.0, averaged=1.0),  # type: ignore[call-arg]
    lambda: replace(Planned(noise_std=1.0), noise_std=2.0, averaged=3.0),  # type: ignore[call-arg]
], ids=["class", "inherited", "replace"])
def test_both_names_are_refused(call: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^noise_std: is given twice, also as 'averaged', its old name; give"):
        call()


def test_both_names_by_place_are_refused() -> None:
    with pytest.warns(ConfideDeprecationWarning), pytest.raises(TypeError, match="multiple values"):
        share_of_one(3, n=4)  # type: ignore[call-arg, misc]


def test_what_is_no_name_at_all_is_an_error_as_ever() -> None:
    for call in (lambda: Planned(noise_std=1.0, averages=2.0), lambda: share_of_one(4, m=2)):  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            call()
    with pytest.raises(AttributeError):
        Planned(noise_std=1.0).averages  # type: ignore[attr-defined] # noqa: B018


# ---- what is seen


def test_old_names_are_seen_by_nobody_who_looks() -> None:
    """Neither in signatures, fields nor texts, and looking through a class warns of nothing."""
    it = Wider(noise_std=1.0)
    assert list(inspect.signature(Planned).parameters) == ["people", "noise_std"]
    assert list(inspect.signature(share_of_one).parameters) == ["people", "of"]
    assert [each.name for each in dataclasses.fields(it)] == ["people", "noise_std", "more"]
    assert repr(it) == "Wider(people=3, noise_std=1.0, more=0)"
    _, said = told(lambda: inspect.getmembers(Planned))
    assert said == []


@pytest.mark.parametrize(("names", "problem"), [
    ({"averaged": "nowhere"}, "there is no 'nowhere', which was 'averaged'"), ({"noise_std": "people"}, "is in use"),
    ({"wide": "people"}, "is in use"),
])
def test_a_rename_that_cannot_be_is_found_when_the_class_is_made(names: dict[str, str], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        renamed(**names)(dataclass(type("It", (), {"__annotations__": {"people": int, "noise_std": float},
                                                   "wide": 1})))
    if "wide" not in names:
        with pytest.raises(TypeError, match=problem):
            renamed(**names)(lambda people, noise_std: 0)


# ---- public names of a package


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package `house` whose `Outcome` was called `Result`."""
    house = types.ModuleType("house")
    house.__path__ = []
    home = types.ModuleType("house.contract")
    home.Outcome = confide.Outcome  # type: ignore[attr-defined]
    for each in (house, home):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    house.__getattr__, house.__dir__ = doors(  # type: ignore[method-assign]
        "house", {"contract": ("Outcome",)}, renamed={"Result": "Outcome"})
    yield house
    RENAMED.pop("house")


def test_an_old_public_name_is_found_and_not_listed(package: Any) -> None:
    found, said = told(lambda: (package.Result, package.Result))
    assert found == (confide.Outcome, confide.Outcome)
    assert dir(package) == ["Outcome"]
    assert [(each.category, each.filename) for each in said] == 2 * [(ConfideDeprecationWarning, __file__)]
    assert str(said[0].message).startswith("house: 'Result' is called 'Outcome' now;")
    with pytest.raises(AttributeError, match="'house' has no attribute 'Results'"):
        package.Results  # noqa: B018


def test_an_import_of_an_old_public_name_warns_once(package: Any) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        from house import Result  # type: ignore[import-not-found]
        line = here() - 1
    assert Result is confide.Outcome
    assert [(each.filename, each.lineno) for each in found] == [(__file__, line)]


# ---- all of them


def test_every_rename_of_the_house_is_listed() -> None:
    """What a decorator or a door says in the code stands in the list that the docs show, by its public name."""
    said = set[tuple[str, str]]()
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    for text in texts:
        for node in ast.walk(ast.parse(text)) if "renamed" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "renamed":
                said |= {(each.arg or "", ast.literal_eval(each.value)) for each in node.keywords}
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "doors":
                said |= {pair for each in node.keywords if each.arg == "renamed"
                         for pair in ast.literal_eval(each.value).items()}
    listed = renames()
    assert {(each.old, each.new) for each in listed} == said
    assert Rename("confide.allocation.AllocationPlan", "held_back", "reserve") in listed
    for each in listed:
        package, _, name = each.where.rpartition(".")
        assert each.where in RENAMED or hasattr(importlib.import_module(package), name)


def test_what_inherits_old_names_takes_them() -> None:
    """A dataclass has an `__init__` of its own: without a decorator of its own it would forget the old keywords."""
    def below(one: type) -> set[type]:
        return {each for sub in one.__subclasses__() for each in (sub, *below(sub))}

    def forgetful(one: type) -> list[type]:
        return [sub for sub in below(one) if "__init__" in vars(sub) and "__renamed__" not in vars(sub)]

    listed = [getattr(importlib.import_module(each.where.rpartition(".")[0]), each.where.rpartition(".")[2], None)
              for each in renames()]
    marked = [each for each in listed if isinstance(each, type)]
    assert marked
    assert [sub for each in marked for sub in forgetful(each)] == []

    @dataclass(frozen=True, kw_only=True)
    class Forgetful(Planned):
        less: int = 0

    assert forgetful(Planned) == [Forgetful]


def test_old_names_go_with_the_release() -> None:
    """A release without a mark, such as 1.0.0, has none; `make release` says the same."""
    assert REMOVED_AT == "1.0.0"
    assert "rc" in confide.__version__ or "dev" in confide.__version__ or renames() == ()


TYPED = """
from dataclasses import dataclass
from confide.contract.renamed import renamed

@renamed(averaged="noise_std")
@dataclass(frozen=True, kw_only=True)
class Planned:
    noise_std: float

@renamed(n="people")
def share(*, people: int) -> float:
    return 1 / people

Planned(noise_std=1.0).noise_std.is_integer()
share(people=3).is_integer()
Planned(noise_std="1")  # wrong
Planned(averaged=1.0)  # wrong
Planned(noise_std=1.0).averaged  # wrong
share(people="3")  # wrong
share(n=3)  # wrong
"""


@pytest.mark.slow
def test_a_type_checker_sees_todays_names_alone(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text(textwrap.dedent(TYPED))
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent",
                           f"--cache-dir={tmp_path / 'cache'}", str(path)], capture_output=True, text=True,
                          check=False, cwd=SOURCE.parent, env={"PATH": "", "MYPYPATH": str(SOURCE.parent)})
    wrong = {number for number, line in enumerate(TYPED.splitlines(), 1) if "# wrong" in line}
    assert {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line} == wrong, done.stdout


# ---- names of regressions and of bought means


def of_regression() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.regression`, and what the new ones give."""
    from confide import regression as r

    costs = r.ParetoCosts(exponent=4.0)
    behaviour = r.Behaviour(costs=costs, misreports=0.01, failure_probability=1e-3)
    ball, gauss = r.GaussianBall(2, std=0.1, radius=1.0), r.TruncatedGaussianNoise(noise_std=0.1, bound=0.5)
    setting = r.Setting(people=100, features=2, prior=ball, noise=gauss)
    ada, sums = r.AdaSSP(epsilon=1.0, delta=1e-6), r.SufficientStatistics(epsilon=1.0)
    ridge, printed = r.RidgeRelease(epsilon=1.0, ridge=3.0), r.PrintedRidge(epsilon=1.0, ridge=3.0)
    small: dict[str, Any] = {"people": 20_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5,
                             "epsilon": 1.5, "truth_radius": 0.5, "release": "sufficient statistics"}
    found = r.plan(**small, failure_probability=1e-3)
    one = r.Corollary1(people=10**6, features=2, square_bound=1.0, noise_bound=0.5, exponent=4.0, delta=0.1)
    return {
        ("AdaSSP", "deviation"): (lambda: ada.deviation(1.0), ada.noise_std(1.0)),
        ("AdaSSP", "gram_deviation"): (lambda: ada.gram_deviation, ada.gram_noise_std),
        ("AdaSSP", "cross_deviation"): (lambda: ada.cross_deviation(setting), ada.cross_noise_std(setting)),
        ("Behaviour", "failure"): (
            lambda: r.Behaviour(costs=costs, misreports=0.01, failure=1e-3), behaviour),
        ("Corollary1", "failure"): (lambda: one.failure, one.failure_probability),
        ("Figures", "failure"): (lambda: found.figures.failure, found.figures.failure_probability),
        ("Figures", "range_failure"): (
            lambda: found.figures.range_failure, found.figures.range_failure_probability),
        ("GaussianBall", "deviation"): (lambda: r.GaussianBall(2, deviation=0.1, radius=1.0), ball),
        ("PrintedRidge", "scale"): (lambda: printed.scale(setting), printed.noise_scale(setting)),
        ("RidgeRelease", "scale"): (lambda: ridge.scale(setting), ridge.noise_scale(setting)),
        ("SufficientStatistics", "deviation"): (lambda: sums.deviation(2), sums.noise_std(2)),
        ("SufficientStatistics", "scale"): (lambda: sums.scale, sums.noise_scale),
        ("TruncatedGaussianNoise", "sigma"): (lambda: r.TruncatedGaussianNoise(sigma=0.1, bound=0.5), gauss),
        ("compare_spectrum", "failure"): (
            lambda: r.compare_spectrum(3, tolerance=0.2, failure=1e-6),
            r.compare_spectrum(3, tolerance=0.2, failure_probability=1e-6)),
        ("plan", "misreports_failure"): (
            lambda: r.plan(**small, misreports_failure=1e-3).mechanism, found.mechanism),
        ("plan", "warnings()"): (found.warnings, tuple(found.warnings)),
    }


def of_acquisition() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.acquisition`, and what the new ones give."""
    from confide import acquisition as a

    small: dict[str, Any] = {"people": 4, "prior": a.UniformPrior(), "mse_price": 10.0}
    bounds: dict[str, Any] = {"people": 4, "variance_price": 1.0, "noise_price": 4.0, "psi_floor": 0.25}
    cost, prices = a.UniformPrior().virtual_cost(), {"variance_price": 1.0, "noise_price": 4.0}
    study = a.TwoPartMechanism(**small)
    offer: dict[str, Any] = {"steps": 10, "epsilon_local": 4.0, "epsilon_central": 1.0, "order": 2.0}
    lattice = a.integer_contracts([0.5, 0.5], [1.0, 1.0], 2.0)
    sent: dict[str, Any] = {"steps": 1, "epsilon_local": 1.0, "epsilon_central": 1.0, "payment": 1, "sent": True}
    records = study.contracts([0.1, 0.2, 0.3, 0.4]).records({})
    return {
        ("CappedCaps", "grid"): (lambda: a.CappedCaps(**bounds, weight_cap=0.5, grid=0.01),
                                 a.CappedCaps(**bounds, weight_cap=0.5, approximation=0.01)),
        ("Caps", "grid"): (lambda: a.Caps(**bounds, psi_most=2.0, grid=0.01),
                           a.Caps(**bounds, psi_most=2.0, approximation=0.01)),
        ("Contracted", "sigma"): (lambda: a.Contracted(**sent, sigma=9), a.Contracted(**sent, noise_std=9)),
        ("ContractedRecords", "sigma"): (lambda: list(records.sigma), records.noise_std.tolist()),
        ("LatticeContract", "sigma"): (lambda: a.LatticeContract(**offer, sigma=50),
                                       a.LatticeContract(**offer, noise_std=50)),
        ("LatticeContracts", "sigma"): (lambda: list(lattice.sigma), lattice.noise_std.tolist()),
        ("", "Prior"): (lambda: a.Prior, a.ConcernPrior),
        ("PaymentRule", "delta"): (lambda: a.PaymentRule(cost, 1.0, 4.0, delta=0.01).approximation, 0.01),
        ("TwoPartMechanism", "grid"): (lambda: a.TwoPartMechanism(**small, grid=0.01),
                                       a.TwoPartMechanism(**small, approximation=0.01)),
        ("TwoPartMechanism", "most_local"): (
            lambda: a.TwoPartMechanism(**small, most_local=50.0, psi_floor=0.25),
            a.TwoPartMechanism(**small, largest_local_loss=50.0, psi_floor=0.25)),
        ("TwoPartMechanism", "nat_price"): (lambda: study.nat_price, 1.0),
        ("solve_capped", "delta"): (lambda: a.solve_capped([0.3, 0.5], weight_cap=0.6, delta=0.1, **prices).value,
                                    a.solve_capped([0.3, 0.5], weight_cap=0.6, approximation=0.1, **prices).value),
        ("solve_grid", "delta"): (lambda: a.solve_grid([0.3, 0.5], delta=0.1, **prices).value,
                                  a.solve_grid([0.3, 0.5], approximation=0.1, **prices).value),
        ("plan", "design_for_budget"): (lambda: a.design_for_budget(study, 2.0, draws=4),
                                        a.plan(study, budget=2.0, draws=4)),
        ("plan", "design_for_error"): (lambda: a.design_for_error(study, 0.4, draws=4),
                                       a.plan(study, error=0.4, draws=4)),
    }


@pytest.mark.parametrize(("family", "uses"), [("regression", of_regression), ("acquisition", of_acquisition)])
def test_old_names_of_a_family_do_what_the_new_ones_do(family: str, uses: Any) -> None:
    made = uses()
    inside = {(each.where.removeprefix(f"confide.{family}."), each.old) for each in renames()
              if each.where.startswith(f"confide.{family}.")}
    assert inside <= made.keys()
    for use, (call, expected) in made.items():
        found, said = told(call)
        assert found == expected, use
        assert [(each.category, each.filename) for each in said] == [(ConfideDeprecationWarning, __file__)], use

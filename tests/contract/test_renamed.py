"""Old names in Python: they work, warn at the caller's line, and are seen by nobody else."""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import inspect
import pkgutil
import subprocess
import sys
import textwrap
import types
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import confide
from confide._lazy import RENAMED, exports
from confide.contract import ConfideDeprecationWarning, InvalidInput
from confide.contract.renamed import REMOVED_AT, Rename, renamed, renamed_keywords, renames

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


@renamed(tosses="draws", usual="people", make="for_budget", half="noise_std")
@renamed_keywords(wide="noise_std")
@dataclass(frozen=True, kw_only=True)
class Constant(Planned):
    draws: ClassVar[bool] = False


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def reported(call: Any) -> tuple[Any, list[warnings.WarningMessage]]:
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
        f"Planned: 'averaged' is called 'noise_std' now; confide {REMOVED_AT} removes the "
        "old name")


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
    found, said = reported(call)
    assert found == expected
    assert {(each.category, each.filename) for each in said} == {(ConfideDeprecationWarning, __file__)}
    assert len(said) == (2 if name == "two" else 1)
    with pytest.raises(ConfideDeprecationWarning):
        call()


def test_new_names_warn_of_nothing() -> None:
    it, said = reported(lambda: replace(Wider(noise_std=2.0, people=4), people=5))
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
    _, said = reported(lambda: inspect.getmembers(Planned))
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
    house.__all__, house.__getattr__, house.__dir__ = exports(  # type: ignore[method-assign]
        "house", {"contract": ("Outcome",)}, renamed={"Result": "Outcome"})
    yield house
    RENAMED.pop("house")


def test_an_old_public_name_is_found_and_not_listed(package: Any) -> None:
    found, said = reported(lambda: (package.Result, package.Result))
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
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("renamed", "renamed_keywords"):
                said |= {(each.arg, ast.literal_eval(each.value)) for each in node.keywords if each.arg is not None}
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "exports":
                said |= {pair for each in node.keywords if each.arg == "renamed"
                         for pair in ast.literal_eval(each.value).items()}
    listed = renames()
    assert {(each.old, each.new) for each in listed} == said
    assert Rename("confide.allocation.AllocationPlan", "held_back", "reserve") in listed
    for each in listed:
        assert each.where in RENAMED or pkgutil.resolve_name(each.where) is not None


def test_what_inherits_old_names_takes_them() -> None:
    """A dataclass has an `__init__` of its own: without a decorator of its own it would forget the old keywords."""
    for each in pkgutil.walk_packages(confide.__path__, "confide."):
        if not each.name.startswith(("confide.cli.demo", "confide.campaign.")) and not each.name.endswith("__main__"):
            importlib.import_module(each.name)

    def below(one: type) -> set[type]:
        return {each for sub in one.__subclasses__() for each in (sub, *below(sub))}

    def forgetful(one: type) -> list[type]:  # faulty mechanisms of other tests are left out
        return [sub for sub in below(one) if "__init__" in vars(sub) and "__renamed__" not in vars(sub)
                and sub.__module__.startswith(("confide.", __name__))]

    listed = [pkgutil.resolve_name(each.where) for each in renames()]
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


def test_classes_give_constants_defaults_and_methods_under_old_names() -> None:
    for old, new in (("tosses", False), ("usual", 3), ("make", Constant.for_budget)):
        value, said = reported(lambda old=old: getattr(Constant, old))
        assert value == new
        assert [each.category for each in said] == [ConfideDeprecationWarning]
    _, said = reported(lambda: (inspect.getmembers(Constant), Constant.half))  # type: ignore[attr-defined]  # objects alone have it
    assert said == []


def test_an_attribute_of_today_may_have_been_a_keyword() -> None:
    made, said = reported(lambda: Constant(wide=2.0))  # type: ignore[call-arg]
    assert (made, made.wide, len(said)) == (Constant(noise_std=2.0), 4.0, 1)
    assert "wide" not in inspect.signature(Constant).parameters
    with pytest.raises(InvalidInput, match="given twice"):
        Constant(wide=2.0, noise_std=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="there is no 'broad'"):
        renamed_keywords(wide="broad")(Planned)

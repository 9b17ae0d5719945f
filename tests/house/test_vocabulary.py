"""One vocabulary: public names, campaign files and `--json` say one thing by one word, the field's own.

Packs and stores keep their words for ever, so nothing here looks at them. Old names that still work, with a warning,
are no public names.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from typer.testing import CliRunner

import confide
from confide.campaign import schema
from confide.cli.app import app
from confide.contract import kind_names
from retired_words import IN_ALL_NAMES, VOCABULARY

SOURCE = Path(confide.__file__).parent
PACKAGES = sorted(".".join(("confide", *path.parent.relative_to(SOURCE).parts))
                  for path in SOURCE.rglob("__init__.py") if "__all__" in path.read_text(encoding="utf-8"))

ALLOWED: dict[str, str] = {
    "confide.regression.BetaPrior": "a named law",
    "confide.market.GammaLaw": "a named law",
    "confide.market.PairPrior.beta_binomial": "a named law",
    "bits-pair: belief.beta": "the numbers of a beta law",
    "bits-unknown-costs: costs.law = gamma": "a named law",
    "plan regression: averaged": "a mean of two estimates, and no noise",
    "plan bits*: deposit_coins": "coins are money",
    "regression: privacy.release = averaged": "a mean of two estimates, and no noise",
    "confide.regression.*Averaged": "a mean of two estimates, and no noise",
    "confide.campaign.Batch.coins": "coins are money",
    "confide.regression.Figures.deposit_coins": "coins are money",
    "*.grid": "the lattice on which noise lies, or points between which a density is drawn",
    "*(grid)": "the lattice on which noise lies",
    "confide.programs.*.rows": "limits of a program: the rows of its matrix",
    "confide.contract.Check.rows": "rows of a file, which may be more or fewer than the people",
    "confide.campaign.PeoplesKind.read(rows)": "rows of a file",
    "confide.tables.*(rows)": "rows of a file",
}
"""Where such a word is the right one, and why."""


@dataclass(frozen=True)
class Said:
    """A public name, where it stands, and the type of its value as far as it is written down."""

    place: str
    name: str
    of: str = ""


def parts(name: str) -> list[str]:
    """The words of a name: `NoiseScale` and `noise_scale` have the same two.

    >>> parts("MeasuredBeta"), parts("add_remove")
    (['measured', 'beta'], ['add', 'remove'])
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").replace(" ", "_").split("_")


def breaks(said: Said) -> str | None:
    """The forbidden word in a name; None where there is none."""
    inside = f"_{'_'.join(parts(said.name))}_"
    for words in VOCABULARY.values():
        for each in words:
            word, _, of = each.removeprefix("=").partition(": ")
            found = inside == f"_{word}_" if each[0] == "=" else f"_{word}_" in inside
            if found and (not of or re.match(rf"(Annotated\[)?{of}\b", said.of) is not None):
                return word
    return None


# ---- public names


def of_function(place: str, function: Callable[..., Any]) -> Iterator[Said]:
    for name, each in inspect.signature(function).parameters.items():
        yield Said(f"{place}({name})", name, str(each.annotation))


def of_class(one: type) -> Iterator[Said]:
    """Fields, attributes, methods with their parameters; also of bases that have no public name of their own."""
    for base in one.__mro__:
        if base.__module__.partition(".")[0] != "confide":
            continue
        place, old = f"{'.'.join(base.__module__.split('.')[:2])}.{base.__qualname__}", getattr(base, "__renamed__", ())
        annotated = inspect.get_annotations(base)
        yield from (Said(f"{place}.{name}", name, str(of)) for name, of in annotated.items())
        for name, value in vars(base).items():
            if name in annotated or name in old or (name[0] == "_" and name != "__init__"):
                continue
            behind = next((getattr(value, it) for it in ("__func__", "fget", "func") if hasattr(value, it)), value)
            if name == "__init__":
                yield from of_function(place, behind) if "__dataclass_fields__" not in vars(base) else ()
                continue
            gives = inspect.get_annotations(behind).get("return", "") if inspect.isfunction(behind) else ""
            yield Said(f"{place}.{name}", name, "" if behind is value else str(gives))
            if inspect.isfunction(behind):
                yield from of_function(f"{place}.{name}", behind)


@cache
def public() -> frozenset[Said]:
    """All that `__all__` of any package names, with what belongs to it; underscores begin private names."""
    found = set[Said]()
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            found.add(Said(f"{package}.{name}", name))
            if isinstance(value, type):
                found.update(of_class(value))
            elif inspect.isroutine(value):
                found.update(of_function(f"{package}.{name}", value))
    return frozenset(each for each in found if each.name[0] != "_")


# ---- campaign files


def in_schema(table: dict[str, Any], place: str, tables: dict[str, Any]) -> Iterator[Said]:
    """Keys and values of a JSON schema, by their place in a campaign file."""
    if "$ref" in table:
        yield from in_schema(tables[table["$ref"].rpartition("/")[2]], place, tables)
    for name, each in table.get("properties", {}).items():
        where = f"{place}{name}"
        yield Said(where, name, "int" if each.get("type") == "integer" else "")
        yield from in_schema(each, f"{where}.", tables)
    inner = [*table.get("anyOf", ()), *table.get("oneOf", ()), table.get("items"), table.get("additionalProperties")]
    for each in inner:
        if isinstance(each, dict):
            yield from in_schema(each, place, tables)
    for value in (*table.get("enum", ()), table.get("const")):
        if isinstance(value, str):
            yield Said(f"{place.rstrip('.')} = {value}", value)


@cache
def in_files() -> frozenset[Said]:
    found = set[Said]()
    for kind in kind_names():
        whole = schema(kind)
        found.update(in_schema(whole, f"{kind}: ", whole.get("$defs", {})))
    return frozenset(found)


# ---- what `--json` prints


def in_json(value: Any, place: str) -> Iterator[Said]:
    """Keys of a JSON value, by the command that printed it."""
    if isinstance(value, list):
        for each in value:
            yield from in_json(each, place)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield Said(f"{place} {name}", name, type(each).__name__)
            yield from in_json(each, place)


@cache
def in_output() -> frozenset[Said]:
    """Keys of the plan of every kind, as a new file has it."""
    found, command = set[Said](), CliRunner()
    with TemporaryDirectory() as folder:
        for kind in kind_names():
            file = str(Path(folder) / f"{kind}.toml")
            for asked in (["init", kind, "--out", file], ["plan", file, "--json"]):
                ran = command.invoke(app, asked, catch_exceptions=False)
                assert ran.exit_code == 0, (kind, ran.stderr)
            found.update(in_json(json.loads(ran.stdout), f"plan {kind}:"))
    return frozenset(found)


# ---- tests


def broken() -> dict[str, str]:
    """Place -> the forbidden word, of all that is not allowed."""
    found = {each.place: word for each in public() | in_files() | in_output() if (word := breaks(each)) is not None}
    return {place: word for place, word in sorted(found.items())
            if not any(fnmatchcase(place, pattern) for pattern in ALLOWED)}


def test_public_names_and_files_use_the_vocabulary() -> None:
    assert broken() == {}


def test_every_allowance_is_used() -> None:
    found = {each.place for each in public() | in_files() | in_output() if breaks(each) is not None}
    assert [each for each in ALLOWED if not any(fnmatchcase(place, each) for place in found)] == []


def test_much_is_looked_at() -> None:
    """A reader of names that finds none would pass every test."""
    places = {each.place for each in public()}
    assert len(places) > 2_000
    assert {"confide.release.MWEM.records", "confide.release.MWEM.for_budget(epsilon)",
            "confide.allocation.plan(people)", "confide.contract.Mechanism.run(progress)",
            "confide.privacy.Noise.gaussian(size)"} <= places
    files = {each.place for each in in_files()}
    assert {"queries: data.records", "matching: privacy.neighbours", "matching: privacy.neighbours = add_or_remove",
            "mean: privacy.largest_local_loss"} <= files
    assert {"plan matching: neighbours", "plan queries: synthetic_rows"} <= {each.place for each in in_output()}


def test_no_two_public_classes_have_one_name() -> None:
    found: dict[str, set[type]] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            if isinstance(value := getattr(module, name), type):
                found.setdefault(name, set()).add(value)
    assert len(found) > 300
    assert {name: sorted(each.__module__ for each in them) for name, them in found.items() if len(them) > 1} == {}


def test_modules_use_the_vocabulary() -> None:
    names = {path.relative_to(SOURCE).as_posix(): path.stem for path in SOURCE.rglob("*.py")}
    assert {path: word for path, name in names.items() if (word := breaks(Said(path, name))) is not None
            and word != "grid"} == {}  # a grid of values is one


DEFINED = re.compile(r"^ *(?:async )?(?:def|class) (\w+)|^ *(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
"""Names of functions, classes and variables where they are defined."""

OF_CLAIMS = {"who_knows_her_group"}
"""Functions that the golden claims name."""


def test_private_names_and_tests_use_the_vocabulary() -> None:
    """Those of modules too. Tests of old names use them."""
    assert {*IN_ALL_NAMES} <= {word for words in VOCABULARY.values() for word in words}
    tests, found, seen = Path(__file__).parents[1], list[str](), 0
    for path in (*SOURCE.rglob("*.py"), *tests.rglob("*.py")):
        if path.is_relative_to(tests / "old_names"):
            continue
        names = {path.stem, *(one or other for one, other in DEFINED.findall(path.read_text(encoding="utf-8")))}
        seen += len(names)
        found += [f"{path.stem}: {name}" for name in sorted(names - OF_CLAIMS)
                  if not {*parts(name)}.isdisjoint(IN_ALL_NAMES)]
    assert found == []
    assert seen > 40_000


@pytest.mark.parametrize(("name", "of", "word"), [
    ("n", "int", "n"), ("measured_beta", "float", "beta"), ("failure", "float", "failure"),
    ("rows", "int", "rows"), ("unit", "Relation", "unit"), ("kept_back", "float", "kept_back"),
    ("door_audit", "", "door"), ("OutOfReach", "", "out_of_reach"), ("share_of_hers", "", "hers"),
    ("squared", "float", "squared"), ("averaged_noise", "float", "averaged"), ("MyNature", "", "nature"),
    ("rows", "np.ndarray", None), ("unit", "str", None), ("squared_l2_sensitivity", "float", None),
    ("failure_probability", "float", None), ("noise_std", "float", None), ("people", "int", None),
    ("rows", "tuple[int, ...]", None),
])
def test_words_are_distinguished(name: str, of: str, word: str | None) -> None:
    assert breaks(Said("here", name, of)) == word

"""What could be written in Python at 9376621e can be written today, or the changelog says what to write instead."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from former_names import public_names, taken
from golden_files import FOLDER

from confide.contract import ConfideDeprecationWarning

THEN: dict[str, dict[str, Any]] = json.loads((FOLDER / "public_names.json").read_text(encoding="utf-8"))
"""Package -> name -> what it took and had: `former_names.py` wrote it there."""
CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
UPGRADE = CHANGELOG.parent / "docs" / "how-to" / "upgrade.md"

GONE = {
    "confide.*.hidden_streams": "`unreleased_streams`; of a mechanism of one's own, `hidden_streams` is heard",
    **{f"confide.{family}.audit.*": f"`confide.audit.audit` of what `confide.{family}.audited` gives" for family in (
        "acquisition", "allocation", "market", "programs", "regression", "release", "search")},
    "confide.campaign.store.migrations.upgrade(*)": "a store that is opened upgrades itself",
    "confide.regression.Corollary1.mechanism(*)": "it is the printed mechanism always",
    "confide.regression.PrivateTruthfulRegression.printed_mode": "the printed mechanism is a class of the evidence",
    "confide.release.oracle.parity_row(literal=)": "the misprinted row is in the evidence",
    "confide.allocation.printed.LeastToRun.sentence": "`LeastToRun.ways` gives remedies that were tried",
    "confide.contract.Plan.mechanism": "each plan of a family has it as a field",
    "confide.contract.Plan.offer": "the kind presents a plan of a campaign",
    "confide.contract.Plan.sections": "the kind presents a plan of a campaign",
    "confide.market.*Plan.warnings()": "a property, as of every plan",
    "confide.market.OutOfReach(attempt)": "the planner raises it, with remedies that were tried",
    "confide.market.TooFewPeople(attempt)": "the planner raises it, with remedies that were tried",
    "confide.market.TooFewPeople(error_reached)": "the planner raises it, with remedies that were tried",
    "confide.privacy.TreeCounter.draw_block(noise=)": "noise is drawn in a session, which was charged",
    "confide.privacy.TreeCounter.draw_block(session)": "noise is drawn in a session, which was charged",
    "confide.privacy.TreeCounter.draw_block(noise, size, stream)": "noise is drawn in a session, which was charged",
    "confide.programs*.negative_supply": "the range of `supply` is declared with the field",
    "confide.regression.RegressionPlan.warnings()": "a property, as of every plan",
    "confide.search.audit.Witness.law": "`Witness.log_law`: the law itself left the doubles",
}
"""What went, and what there is instead. A "*" stands for any text; `name()` is a method that is none today, `name=` a
keyword, a word in brackets alone a parameter that must be given now, and more words a call by position."""


def lost(place: str, then: list[str] | None, entry: Any) -> Iterator[str]:
    """What a call could say then, and cannot say today."""
    now = taken(entry)
    if then is None or now is None:
        return
    parameters = [each.lstrip("*") for each in now]
    holder = entry.__init__ if isinstance(entry, type) else entry
    renamed, late = getattr(holder, "__renamed__", {}), getattr(holder, "__by_position__", ())
    kinds = {each.kind for each in inspect.signature(entry).parameters.values()}
    for name in (each.lstrip("*") for each in then):
        if name not in parameters and name not in renamed and inspect.Parameter.VAR_KEYWORD not in kinds:
            yield f"{place}({name}=)"
    by_place = [each for each in then if not each.startswith("*")]
    takes = [each for each in late if each != "cls"] or [each for each in now if not each.startswith("*")]
    if inspect.Parameter.VAR_POSITIONAL not in kinds and [renamed.get(each, each) for each in by_place] != takes[
            : len(by_place)] and by_place != takes[: len(by_place)]:
        yield f"{place}({', '.join(by_place)})"
    known = {renamed.get(each.lstrip("*"), each.lstrip("*")) for each in then}
    for each in inspect.signature(entry).parameters.values():
        if each.default is each.empty and each.name in parameters and each.name not in known:
            yield f"{place}({each.name})"


def lost_parts(place: str, then: dict[str, Any], entry: Any) -> Iterator[str]:
    """The same of a class's fields, properties and methods."""
    said = {name for each in entry.__mro__ for name in inspect.get_annotations(each)}
    for name in then["attributes"]:
        if not hasattr(entry, name) and name not in said:
            yield f"{place}.{name}"
    for name, parameters in then["methods"].items():
        if not hasattr(entry, name):
            yield f"{place}.{name}"
        elif isinstance(inspect.getattr_static(entry, name), property):
            yield f"{place}.{name}()"
        else:
            yield from lost(f"{place}.{name}", parameters, getattr(entry, name))


def lost_names(then: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What went of packages, names, parameters and parts; a package that another one had is imported by its name."""
    for package in then:
        with suppress(ModuleNotFoundError):
            importlib.import_module(package)
    for package, names in then.items():
        for name, described in names.items():
            place = f"{package}.{name}"
            try:
                entry = getattr(importlib.import_module(package), name)
            except (ModuleNotFoundError, AttributeError):
                yield place
                continue
            yield from lost(place, described.get("takes"), entry)
            if "methods" in described:
                yield from lost_parts(place, described, entry)


@cache
def found() -> frozenset[str]:
    """All of it; a name that warns is there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfideDeprecationWarning)
        return frozenset(lost_names(THEN))


def test_the_list_is_whole() -> None:
    assert len(THEN) == 41
    assert sum(map(len, THEN.values())) == 818
    assert {"takes", "attributes", "methods"} == THEN["confide.allocation"]["PMatch"].keys()


def test_every_former_name_works_or_is_reported() -> None:
    """Public names, their parameters by name and by position, and fields, properties and methods of classes."""
    assert sorted(each for each in found() if not any(fnmatchcase(each, gone) for gone in GONE)) == []


def in_a_new_process(*lines: str) -> subprocess.CompletedProcess[str]:
    """Where nothing was imported yet: what other imports load hides a door that is gone."""
    return subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", "\n".join(lines)], capture_output=True,
                          text=True, check=False)


REACHED = sorted(f"{package}.{name}" for package in THEN for name in THEN[package] if f"{package}.{name}" in THEN)
"""Packages that were public names of others."""


@pytest.mark.parametrize("place", REACHED)
def test_packages_are_reached_from_the_one_above_in_a_new_process(place: str) -> None:
    done = in_a_new_process("import confide", f"it = {place}", "print(*dir(it))")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_packages_with_old_names_alone_warn_and_list_them() -> None:
    done = in_a_new_process("import confide", "print(*dir(confide.allocation.printed))",
                            "print(confide.allocation.audit.audit_matching)")
    assert "'printed' is called 'confide.evidence.wu_2017.private_matchings' now" in done.stderr
    assert "'audit_matching' is called" in done.stderr
    assert THEN["confide.allocation.printed"].keys() - {"__version__"} <= set(done.stdout.splitlines()[0].split())
    done = in_a_new_process("from confide.people.default_audit import audit_mechanism as it", "print(it.__module__)")
    assert done.stdout.strip() == "confide.audit.mechanism_audit"
    assert "'audit_mechanism' is called 'confide.audit.mechanism_audit.audit_mechanism' now" in done.stderr


def test_what_is_said_to_be_gone_is_gone() -> None:
    assert [gone for gone in GONE if not any(fnmatchcase(each, gone) for each in found())] == []


def test_the_changelog_tells_of_what_is_gone() -> None:
    text = CHANGELOG.read_text(encoding="utf-8").partition("## 1.0.0rc1")[2].partition("\n## ")[0]
    reported = re.search(r"^- Gone since 0\.1\.0.*(?:\n  .*)*", text, re.MULTILINE)
    assert reported is not None
    names = {gone.partition("(")[0].removeprefix("confide.") for gone in GONE}
    assert [name for name in sorted(names) if name.rpartition(".")[2] not in reported[0]] == []


def test_the_page_on_upgrading_lists_the_names_that_raise() -> None:
    """Whole names: what went of the others stands in the changelog."""
    names = {f"{package}.{name}" for package in THEN for name in THEN[package]} & found()
    said = UPGRADE.read_text(encoding="utf-8").partition("### Names that no longer work")[2].partition("\n###")[0]
    rows = re.findall(r"^\| `(confide\.\w+\.audit)` \| (.*?) \|", said, re.MULTILINE)
    assert {f"{package}.{name}" for package, row in rows for name in re.findall(r"`(\w+)`", row)} == names
    assert f"The following {len(names)} names raise" in said
    for call in re.findall(r"audit\((confide[\w.]+)\(\.\.\.\)\)", said):
        module, _, name = call.rpartition(".")
        assert hasattr(importlib.import_module(module), name)


def test_what_is_lost_is_found() -> None:
    """So that the tests above can fail: former builds with more than today's are told of, name by name."""
    then = {"confide.privacy": {
        "PureDP": {"takes": ["epsilon", "more"], "attributes": ["epsilon", "colour"],
                   "methods": {"to_zcdp": ["fast"], "sing": []}},
        "Nothing": {}, "TreeCounter": {"takes": []}}, "confide.nowhere": {"It": {}}}
    said = set(lost_names(then))
    assert {"confide.privacy.PureDP(more=)", "confide.privacy.PureDP(epsilon, more)", "confide.privacy.PureDP.colour",
            "confide.privacy.PureDP.to_zcdp(fast=)", "confide.privacy.PureDP.sing", "confide.privacy.Nothing",
            "confide.nowhere.It"} <= said
    assert any(each.startswith("confide.privacy.TreeCounter(") for each in said)  # what must be given now


def test_a_former_call_by_position_is_looked_at_as_one() -> None:
    def today(people: int, *, epsilon: float) -> float:
        return people * epsilon

    assert list(lost("f", ["people", "epsilon"], today)) == ["f(people, epsilon)"]
    assert list(lost("f", ["people", "*epsilon"], today)) == []


def test_the_list_is_made_by_the_script_beside_it() -> None:
    """What it writes of this build, nothing is missing of; and it writes it as the list has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfideDeprecationWarning)
        today = public_names()
        assert list(lost_names(today)) == []
    assert all(importlib.import_module(each) for each in THEN.keys() - today.keys())  # of which others have the names
    assert today["confide.privacy"]["PureDP"] == THEN["confide.privacy"]["PureDP"]

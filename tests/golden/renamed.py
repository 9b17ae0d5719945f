"""Reads the golden files in a Python whose classes and fields have other names; `test_golden_renames.py` runs it.

Called as `renamed.py MODE SEED FOLDER NAME...`: a folder to write in, and names of packs. Prints what was found in each
as JSON. MODE is

- "declared": every class that declares wire names has a random name, and so has each of its fields. What was declared
  is declared of the new names, by the same decorator;
- "undeclared": they have the same random names, and nothing is declared of them. So names in Python are what is
  written, as they were before there were declarations;
- "fields": as "undeclared", but classes are written as they were.

A class is renamed in place, so that what compares classes still finds the same one. Its methods go on with the old
names, by properties. Everything that looks names up finds the new ones: `__name__`, `fields`, `replace`, `vars`, type
hints, the constructor's arguments.
"""

from __future__ import annotations

import json
import random
import string
import sys
from copy import copy
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

from golden_files import FOLDER, FOUND, campaign, copied_home, own_files, pack
from test_golden_packs import unexpected, unpacked, verify_own
from wire_names import declaring

from confide import Outcome, PublicOutcome
from confide.campaign import verify
from confide.campaign.charging import data_set_charge
from confide.campaign.store.ledger import events_text
from confide.contract import ConfideError, canonical, digest
from confide.contract.wire import Wire, wire, wire_of, wire_types
from confide.privacy.report_book import ReportBook

SMOKING = Path(__file__).parents[2] / "examples" / "smoking.json"


class OldName:
    """A field's former name: reads and writes what lies under the new one; of the class, the field's default."""

    def __init__(self, new: str, kind: type, old: str) -> None:
        self.new, self.found = new, [getattr(kind, old)] if hasattr(kind, old) else []

    def __get__(self, it: Any, kind: type) -> Any:
        if it is not None:
            return getattr(it, self.new)
        if not self.found:
            raise AttributeError(self.new)
        return self.found[0]

    def __set__(self, it: Any, value: Any) -> None:
        vars(it)[self.new] = value


class NewName:
    """The new name, asked of what was made before: a constant of a module."""

    def __init__(self, old: str) -> None:
        self.old = old

    def __get__(self, it: Any, kind: type) -> Any:
        if it is None or self.old not in vars(it):
            raise AttributeError(self.old)
        return vars(it)[self.old]


def rename(kinds: list[type], coins: random.Random, mode: str) -> None:
    """Rename classes and their fields; a field's name is changed alike in all of them."""
    drawn = set[str]()

    def word() -> str:
        while (found := "".join(coins.choices(string.ascii_lowercase, k=9))) in drawn:
            continue
        drawn.add(found)
        return found

    hints = {kind: get_type_hints(kind) for kind in kinds}
    said = {kind: wire_of(kind) for kind in kinds}
    names = {each: word() for each in sorted({each for it in said.values() for each in it.fields})}
    for kind in kinds:
        rename_one(kind, word().capitalize(), names, hints[kind], said[kind], mode)


def rename_one(
    kind: Any, called: str, names: dict[str, str], hints: dict[str, Any], said: Wire, mode: str
) -> None:
    own = {each: names[each] for each in said.fields}
    olds = {new: old for old, new in own.items()}
    made = kind.__init__

    @wraps(made)
    def init(self: Any, *rest: Any, **given: Any) -> None:
        made(self, *rest, **{**{olds[key]: part for key, part in given.items() if key in olds},
                             **{key: part for key, part in given.items() if key not in olds}})

    held = {}
    for name, each in kind.__dataclass_fields__.items():
        held[own.get(name, name)] = new = copy(each)
        new.name = own.get(name, name)
    known = {old: OldName(new, kind, old) for old, new in own.items()}
    for old, entry in known.items():
        setattr(kind, old, entry)
        setattr(kind, own[old], NewName(old))
    kind.__init__, kind.__dataclass_fields__ = init, held
    kind.__annotations__ = {own.get(each, each): hint for each, hint in hints.items()}
    kind.__name__ = kind.__qualname__ = called
    setattr(sys.modules[kind.__module__], called, kind)  # so that it can be pickled
    if mode == "declared":
        wire(said.name, " ".join(said.fields.values()), version=said.version, absent=said.absent,
             words={own[each]: words for each, words in said.words.items()},
             **{own[each]: word for each, word in said.fields.items()})(kind)
    else:
        words = {word: own[each] for each, word in said.fields.items()}
        kind.__wire__ = Wire(called if mode == "undeclared" else said.name, 1, {each: each for each in own.values()},
                             {words[word]: part for word, part in said.absent.items()})


def refresh() -> None:
    """The tables of types, which were made while the classes had their old names."""
    from confide.contract import guarantees, kind, kind_names
    from confide.privacy import events, losses

    for table in (guarantees.GUARANTEES, events.EVENTS, losses.LOSSES):
        found = wire_types(*table.values())
        table.clear()
        table.update(found)
    for name in kind_names():
        its: Any = type(kind(name))
        if its.__module__.startswith("confide."):
            its.types = wire_types(*its.types.values())


def found(name: str, to: Path) -> dict[str, Any]:
    """What is read in a pack and its campaign's other files, and what is written of it again.

    Args:
        name: of the pack.
        to: a folder to write in.
    """
    it, folder = campaign(name), unpacked(name, to / name)
    try:
        outcome = PublicOutcome.load(folder)
    except ConfideError as error:
        return {"refused": str(error).removeprefix(str(folder))}
    manifest, columns = outcome.public()
    config, plan = it.file.config, it.plan
    whole, again = FOLDER / "outcomes" / name, to / f"{name}-again"
    if whole.exists():
        Outcome.load(whole).save(again)
    return {
        "manifest": digest(canonical(manifest)), "columns": sorted(columns),
        "outcome": {path.relative_to(again).as_posix(): digest(path.read_bytes())
                    for path in sorted(again.rglob("*")) if path.is_file()},
        "charge": events_text(data_set_charge(it.file, plan).events),
        "promised": plan.guarantees.to_wire(), "form": [each.to_dict() for each in it.file.kind.asked(config, plan)]}


def verified(name: str) -> dict[str, Any]:
    """What a verification finds that it must not, and whether shares are decoded as they were.

    Args:
        name: of the pack.
    """
    it, own = campaign(name), [json.loads(path.read_bytes()) for path in own_files(name)]
    said = verify(pack(name), key=FOUND["sqlite"]["fingerprint"], own=own[0] if own else None)
    with TemporaryDirectory() as to:
        folder = unpacked(name, Path(to) / "pack")
        outcome = PublicOutcome.load(folder)
        return {"digest": said.digest, "unexpected": unexpected(name, said, outcome),
                "wrong": [own_file["id"] for own_file in own if not verify_own(it, folder, own_file)]}


def others() -> dict[str, Any]:
    """What is written elsewhere: people's own book of reports."""
    with TemporaryDirectory() as to:
        home = copied_home("home", Path(to) / "home")
        book = ReportBook(home.folder / "own" / "reports.json")
        first = book.answers()
        report = book.report(person="new", bit="reads", campaign="c", level=1.0, draw=lambda: 1)
        return {"book": json.loads(book.path.read_text(encoding="utf-8")), "first": len(first), "report": report}


def plain(value: Any) -> Any:
    """As JSON: what is none by itself as `repr` has it, in which a name would show, too."""
    return json.loads(json.dumps(value, default=repr))


def main(mode: str, seed: str, to: str, *names: str) -> None:
    kinds = declaring()
    rename(kinds, random.Random(int(seed)), mode)
    refresh()
    said = {name: found(name, Path(to)) for name in names}
    if mode == "declared":
        said = {"": others(), **{name: {**each, "verified": verified(name)} for name, each in said.items()}}
    print(json.dumps({"renamed": len(kinds), "found": plain(said)}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Every published claim that was checked, of all families: one row a claim, with its verdict and its evidence.

A family keeps its rows in `claims.toml` beside its code, and says there which of its modules hold the evidence. A
package outside confide adds its own table by an entry point `confide.claims` that names the package of the table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from typing import Any, Literal, get_args

from confide.contract.claims import Finding, Verdict
from confide.contract.errors import InvalidInput
from confide.contract.words import cause, did_you_mean

__all__ = ["Claim", "Evidence", "MeasuredEvidence", "claims", "parts_of_families", "read_claims"]

_PACKAGES = (
    ("channels", "confide.channels"),
    ("market", "confide.market"),
    ("market", "confide.market.threshold"),
    ("market", "confide.market.pairs"),
    ("acquisition", "confide.acquisition"),
    ("regression", "confide.regression"),
    ("privacy", "confide.privacy"),
    ("release", "confide.release"),
    ("allocation", "confide.allocation"),
    ("programs", "confide.programs"),
    ("search", "confide.search"),
)
"""(family, package of a table), by document and then as the documents go."""

_WORDS = ("id", "statement", "claim", "ours", "evidence")
_OPTIONAL = {"slow", "measured"}
_STORED = {"claimed", "found", "day", "seconds"}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The function that recomputes a claim. Its module is imported when it is called.

    Args:
        module: dotted name.
        function: its name there; without arguments, gives a `Finding`.
    """

    module: str
    function: str

    def __call__(self) -> Finding:
        found: Finding = getattr(import_module(self.module), self.function)()
        return found

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"


@dataclass(frozen=True, kw_only=True)
class MeasuredEvidence:
    """What evidence that takes long said when it last ran.

    Args:
        claimed: the number that the claim gives.
        found: the number that we found.
        day: when.
        seconds: how long it took, on two cores.
    """

    claimed: float
    found: float
    day: date
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One published claim, what became of it, and how to see that.

    Args:
        id: family or part of it, and a name.
        family: whose table it stands in.
        document: the source.
        statement: which theorem, algorithm, figure or section of it.
        line: of the source's text as it was read.
        claim: what is claimed, in our words.
        verdict: whether it holds.
        ours: what holds instead, and the figures that show it.
        evidence: recomputes what decides the verdict.
        measured: the stored figures of evidence that takes long; None where it is fast.
    """

    id: str
    family: str
    document: str
    statement: str
    line: int
    claim: str
    verdict: Verdict
    ours: str
    evidence: Evidence
    measured: MeasuredEvidence | None = None

    @property
    def part(self) -> str:
        """What the id begins with: the family, or a part of it, such as threshold of market."""
        return self.id.partition("/")[0]

    @property
    def cost(self) -> Literal["fast", "slow"]:
        """Slow evidence is recomputed on request alone."""
        return "fast" if self.measured is None else "slow"

    @property
    def command(self) -> str:
        """What recomputes this row alone."""
        return f"confide claims {self.id} --verify{' --slow' if self.cost == 'slow' else ''}"

    def says(self, text: str) -> bool:
        """Whether a text, in any case, stands anywhere in this row."""
        words = (self.id, self.family, self.document, self.statement, self.claim, self.ours, str(self.evidence))
        return text.casefold() in "\n".join(words).casefold()


def parts_of_families(rows: Sequence[Claim]) -> dict[str, str]:
    """What ids begin with that is no family, and the family of which it is a part.

    Args:
        rows: as `claims` gives them.

    Example:
        >>> parts_of_families(claims(family="market"))
        {'threshold': 'market', 'pairs': 'market'}
    """
    return {row.part: row.family for row in rows if row.part != row.family}


def claims(
    name: str | None = None, *, family: str | None = None, document: str | None = None, verdict: str | None = None,
    search: str | None = None,
) -> tuple[Claim, ...]:
    """The rows that fit all that is given; all rows where nothing is.

    Args:
        name: the id of one row.
        family: such as market, or a part of one, such as threshold: what an id begins with.
        document: its name, or a part that no other document has, such as Wang.
        verdict: holds, holds-with-correction, false or vacuous-at-practical-size.
        search: what must stand in the row, in any case.

    Raises:
        InvalidInput: no such id, family, document or verdict; names the nearest one.

    Example:
        >>> from confide.evidence import claims
        >>> [row.verdict for row in claims("regression/lemma-6")]
        ['false']
        >>> {row.family for row in claims(document="Wang", search="nash equilibrium")}
        {'market'}
    """
    rows = _table()
    if name is not None:
        _check_id(name, rows)
    if family is not None:
        _known("family", family, (each for row in rows for each in (row.family, row.part)))
    if verdict is not None:
        _known("verdict", verdict, get_args(Verdict))
    if document is not None:
        document = _document(document)
    return tuple(row for row in rows if name in (None, row.id)
                 and family in (None, row.family, row.part)
                 and verdict in (None, row.verdict) and document in (None, row.document)
                 and (search is None or row.says(search)))


def read_claims(family: str, package: str) -> tuple[Claim, ...]:
    """The table of one package.

    Args:
        family: what its rows belong to.
        package: dotted name of the package that holds `claims.toml`.

    Raises:
        InvalidInput: the table is not there, or a row lacks something, says too much, or names a function that none of
            the table's modules defines.
    """
    place = f"claims of {package}"
    try:
        table = tomllib.loads(files(package).joinpath("claims.toml").read_text(encoding="utf-8"))
    except (OSError, ModuleNotFoundError, ValueError) as error:
        raise InvalidInput(place, f"cannot be read: {cause(error)}") from None
    document, modules, rows = table.get("document"), table.get("modules"), table.get("claim", [])
    if not isinstance(document, str) or not isinstance(modules, list):
        raise InvalidInput(place, "no document and modules", 'must start with document = "..." and modules = [...]')
    homes = _functions(place, package, modules)
    return tuple(_row(place, family, document, homes, row) for row in rows)


def _row(place: str, family: str, document: str, homes: dict[str, str], row: dict[str, Any]) -> Claim:
    where = f"{place}, {row.get('id', 'a row without id')}"
    if set(row) - _OPTIONAL != {*_WORDS, "line", "verdict"}:
        raise InvalidInput(where, f"has {', '.join(sorted(row))}",
                           f"must have {', '.join((*_WORDS, 'line', 'verdict'))}")
    if row["verdict"] not in get_args(Verdict):
        raise InvalidInput(where, f"{row['verdict']!r} is no verdict", f"must be one of {', '.join(get_args(Verdict))}")
    if row["evidence"] not in homes:
        raise InvalidInput(where, f"{row['evidence']!r} is no function of its modules",
                           did_you_mean(row["evidence"], homes, "see modules at the head of the table"))
    stored = row.get("measured")
    if bool(row.get("slow")) != (stored is not None) or set(stored or _STORED) != _STORED:
        raise InvalidInput(where, "slow evidence and its stored figures go together",
                           "must have slow = true and measured = {claimed, found, day, seconds}, or neither")
    return Claim(id=row["id"], family=family, document=document, statement=row["statement"], line=row["line"],
                 claim=row["claim"], verdict=row["verdict"], ours=row["ours"],
                 evidence=Evidence(module=homes[row["evidence"]], function=row["evidence"]),
                 measured=None if stored is None else MeasuredEvidence(**stored))


_DEFINED = re.compile(r"^def ([a-z]\w*)\(", flags=re.MULTILINE)


def _functions(place: str, package: str, modules: Sequence[str]) -> dict[str, str]:
    """Public name -> the module that defines it, from the text: the list of claims needs none of the numbers."""
    found: dict[str, str] = {}
    for module in modules:
        try:
            text = files(package).joinpath(f"{module}.py").read_text(encoding="utf-8")
        except OSError:
            raise InvalidInput(place, f"{package} has no module {module!r}") from None
        found |= dict.fromkeys(_DEFINED.findall(text), f"{package}.{module}")
    return found


@cache
def _table() -> tuple[Claim, ...]:
    """All rows: those of confide, then those of other packages by their names."""
    others = sorted((entry.name, entry.module) for entry in entry_points(group="confide.claims"))
    rows = [row for family, package in (*_PACKAGES, *others) for row in read_claims(family, package)]
    ids = [row.id for row in rows]
    if len(set(ids)) < len(ids):
        twice = sorted({each for each in ids if ids.count(each) > 1})
        raise InvalidInput("claims", f"{', '.join(twice)} stands twice", "each row needs an id of its own")
    return tuple(rows)


def _known(field: str, name: str, known: Iterable[str]) -> str:
    every = tuple(dict.fromkeys(known))
    if name not in every:
        raise InvalidInput(field, f"{name!r} is not in the table of claims",
                           did_you_mean(name, every, f"known: {', '.join(every)}" if len(every) < 20 else
                                        "see `confide claims`"))
    return name


def _check_id(name: str, rows: Sequence[Claim]) -> None:
    """Whether there is a claim of this name; a part of a name is told what it is a part of."""
    ids = [row.id for row in rows]
    if name in ids:
        return
    families = {each for row in rows for each in (row.family, row.part)}
    tails = [each for each in ids if each.endswith(f"/{name}")]
    if name.rstrip("/") in families:  # parts of families are listed as `threshold/`
        hint = f"it is a family: `confide claims --family {name.rstrip('/')}`"
    elif tails:
        hint = f"did you mean {' or '.join(map(repr, tails))}?"
    else:
        hint = did_you_mean(name, ids, "`confide claims --search TEXT` looks for a text", cutoff=0.8)
    raise InvalidInput("id", f"{name!r} is not in the table of claims", hint)


def _document(part: str) -> str:
    every = tuple(dict.fromkeys(row.document for row in _table()))
    fits = [each for each in every if part.casefold() in each.casefold()]
    if len(fits) != 1:
        raise InvalidInput("document", f"{part!r} is {'the name of several' if fits else 'no'} document"
                           f"{'s' if fits else ''}", f"known: {', '.join(every)}")
    return fits[0]

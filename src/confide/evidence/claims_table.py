"""Table of all published claims that were checked, from all sources. Each claim has one row with a verdict and the
evidence for the verdict.

The rows are read from the source text of the modules that compute the evidence (`confide.evidence.claim`). A package
outside confide adds claims by an entry point `confide.claims`, which names a package of modules with claims.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, get_args

from confide.contract.errors import InvalidInput
from confide.contract.words import cause, did_you_mean
from confide.evidence.claim import Claim, ClaimsOf, Evidence, Verdict, claims_of, rows_of_text

__all__ = ["claims", "parts_of_families", "read_claims"]

_MODULES = (
    "wang_2016.privacy_notions.claims",
    "wang_2016.data_market.claims_known_costs",
    "wang_2016.data_market.claims_unknown_costs",
    "wang_2016.data_market.claims_pairs",
    "fallah_2022.claims",
    "fallah_2022.claims_algorithms",
    "cummings_2015.claims",
    "cummings_2015.claims_proofs",
    "wu_2017.claims_privacy",
    "wu_2017.claims_streams",
    "wu_2017.query_release.claims_game",
    "wu_2017.query_release.claims_dual_query",
    "wu_2017.query_release.claims_queries",
    "wu_2017.query_release.claims_experiments",
    "wu_2017.private_matchings.claims_matchings",
    "wu_2017.private_matchings.claims_bundles",
    "wu_2017.private_matchings.claims_counters",
    "wu_2017.private_matchings.claims_floors",
    "wu_2017.private_programs.claims_engine",
    "wu_2017.private_programs.claims_families",
    "wu_2017.private_programs.claims_feasibility",
    "wu_2017.private_programs.claims_incentives",
    "wu_2017.targeted_search.claims_model",
    "wu_2017.targeted_search.claims_privacy",
    "wu_2017.targeted_search.claims_found",
)
"""Modules that declare claims, sorted by source document and then in the order of the document."""


def parts_of_families(rows: Sequence[Claim]) -> dict[str, str]:
    """Mapping from a part of a family, such as threshold, to the family, such as market. A part is the text of an id
    before the slash. Parts that are the name of a family are left out.

    Args:
        rows: rows of the table of claims, as the function `claims` returns them.

    Example:
        >>> parts_of_families(claims(family="market"))
        {'threshold': 'market', 'pairs': 'market'}
    """
    return {row.part: row.family for row in rows if row.part != row.family}


def claims(
    name: str | None = None, *, family: str | None = None, document: str | None = None, verdict: str | None = None,
    search: str | None = None,
) -> tuple[Claim, ...]:
    """The rows of the table of claims that match all given conditions. Without conditions all rows match.

    Args:
        name: id of one row, such as regression/lemma-6.
        family: family, such as market, or a part of a family, such as threshold. A part is the text of an id before the
            slash.
        document: name of the source, or a part of the name that fits no other source, such as Wang.
        verdict: holds, holds-with-correction, false or vacuous-at-practical-size.
        search: text that the row must contain. Upper and lower case count as equal.

    Raises:
        InvalidInput: no such id, family, document or verdict exists. The message suggests the nearest one.

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
    """The claims of one package outside confide. If the package has a `claims.toml`, that file is read. Otherwise the
    modules of the package are read in the order of their names.

    Args:
        family: family of the rows of a `claims.toml`. Modules name the family of their claims themselves, so the
            argument has no effect without a `claims.toml`.
        package: dotted name of the package.

    Raises:
        InvalidInput: the package is missing, a row lacks an entry or has an unknown entry, or a `claims.toml` names a
            function that none of the package's modules defines.
    """
    place = f"claims of {package}"
    try:
        folder = files(package)
        if folder.joinpath("claims.toml").is_file():
            return tuple(_of_toml(place, family, package, folder))
        modules = sorted(each.name for each in folder.iterdir() if each.name.endswith(".py"))
        return tuple(row for name in modules
                     for row in rows_of_text(folder.joinpath(name).read_text(encoding="utf-8"),
                                             f"{package}.{name.removesuffix('.py')}"))
    except (OSError, ModuleNotFoundError, SyntaxError) as error:
        raise InvalidInput(place, f"cannot be read: {cause(error)}") from None


_OLD_WORDS = {"id", "statement", "line", "claim", "verdict", "ours", "evidence"}
_DEFINED = re.compile(r"^def ([a-z]\w*)\(", flags=re.MULTILINE)


def _of_toml(place: str, family: str, package: str, folder: Traversable) -> Iterator[Claim]:
    """The rows of a `claims.toml`. Packages wrote a `claims.toml` for confide 0.1, and such files are read until
    version 1.0.0.
    """
    try:
        table = tomllib.loads(folder.joinpath("claims.toml").read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(place, f"cannot be read: {cause(error)}") from None
    document, modules = table.get("document"), table.get("modules")
    if not isinstance(document, str) or not isinstance(modules, list):
        raise InvalidInput(place, "no document and modules", 'must start with document = "..." and modules = [...]')
    homes: dict[str, str] = {}
    for module in modules:
        try:
            text = folder.joinpath(f"{module}.py").read_text(encoding="utf-8")
        except OSError:
            raise InvalidInput(place, f"{package} has no module {module!r}") from None
        homes |= dict.fromkeys(_DEFINED.findall(text), f"{package}.{module}")
    for row in table.get("claim", []):
        yield _old_row(f"{place}, {row.get('id', 'a row without id')}", claims_of(document, family=family), homes, row)


def _old_row(where: str, claims_of_it: ClaimsOf, homes: dict[str, str], row: dict[str, Any]) -> Claim:
    if set(row) - {"slow", "measured"} != _OLD_WORDS:
        raise InvalidInput(where, f"has {', '.join(sorted(row))}", f"must have {', '.join(sorted(_OLD_WORDS))}")
    if row["evidence"] not in homes:
        raise InvalidInput(where, f"{row['evidence']!r} is no function of its modules",
                           did_you_mean(row["evidence"], homes, "see modules at the head of the table"))
    written = {name: row[name] for name in _OLD_WORDS - {"ours", "evidence"}} | {"correction": row["ours"]}
    stored = row.get("measured")
    if bool(row.get("slow")) != (stored is not None) or (
            stored is not None and (set(stored) != _STORED or not isinstance(stored["day"], date))):
        raise InvalidInput(where, "has only one of slow and its stored figures",
                           "must have slow = true and measured = {claimed, found, day, seconds}, or neither")
    if stored is not None:
        written |= {"pinned": (stored["claimed"], stored["found"]),
                    "slow": (stored["day"].isoformat(), stored["seconds"])}
    return claims_of_it.row(Evidence(module=homes[row["evidence"]], function=row["evidence"]), written)


_STORED = {"claimed", "found", "day", "seconds"}


@cache
def _table() -> tuple[Claim, ...]:
    """All rows of the table: first those of confide, then those of other packages, sorted by family and then by
    package.
    """
    here = files("confide.evidence")
    texts = ((name, here.joinpath(f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")) for name in _MODULES)
    rows = [row for name, text in texts for row in rows_of_text(_without_bodies(text), f"confide.evidence.{name}")]
    others = sorted((entry.name, entry.module) for entry in entry_points(group="confide.claims"))
    rows += [row for family, package in others for row in read_claims(family, package)]
    ids = [row.id for row in rows]
    if len(set(ids)) < len(ids):
        twice = sorted({each for each in ids if ids.count(each) > 1})
        raise InvalidInput("claims", f"{', '.join(twice)} stands twice", "each row needs an id of its own")
    return tuple(rows)


def _without_bodies(text: str) -> str:
    """The text of a module in which the bodies and parameters of its functions are left out, and every other line keeps
    its number.

    Parsing these bodies would take most of the time of listing the claims. Modules of other packages are read whole. In
    such a module, a line that begins at the margin may be a part of a text inside a function body.
    """
    lines, inside = list[str](), False
    for line in text.split("\n"):
        if line.startswith("def "):
            inside = True
            lines.append(f"{line.partition('(')[0]}(): pass")
        elif inside and line[:1] in ("", " ", ")", "#"):
            lines.append("")
        else:
            inside = False
            lines.append(line)
    return "\n".join(lines)


def _known(field: str, name: str, known: Iterable[str]) -> str:
    every = tuple(dict.fromkeys(known))
    if name not in every:
        raise InvalidInput(field, f"{name!r} is not in the table of claims",
                           did_you_mean(name, every, f"known: {', '.join(every)}" if len(every) < 20 else
                                        "see `confide claims`"))
    return name


def _check_id(name: str, rows: Sequence[Claim]) -> None:
    """Refuse an id that is not in the table of claims. The refusal names the family or the claims that part of the id
    could mean.
    """
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

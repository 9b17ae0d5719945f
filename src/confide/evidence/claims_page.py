"""The table of claims as a page in Markdown. `confide claims --write FILE` writes the page, and the documentation
contains it.

The page also lists the errata (mistakes in the sources) that the specifications of this project number. For each
erratum the page names the claims that show the mistake.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from confide.contract.words import number
from confide.evidence.claim import Claim, Verdict
from confide.evidence.claims_table import parts_of_families

__all__ = ["Erratum", "claims_markdown", "errata"]

_SPECIAL = re.compile(r"([\\`*_\[\]<|$~])")
_VERDICTS = get_args(Verdict)
_TITLES = {
    "Wang 2016": "Weina Wang, Fundamental Limits in Data Privacy: From Privacy Measures to Economic Foundations, "
                 "dissertation, Arizona State University, 2016",
    "Fallah et al. 2022": "Fallah et al., Bridging Central and Local Differential Privacy in Data Acquisition "
                          "Mechanisms, 2022",
    "Cummings et al. 2015": "Cummings, Ioannidis and Ligett, Truthful Linear Regression, 2015",
    "Wu 2017": "Zhiwei Steven Wu, Data Privacy Beyond Differential Privacy, dissertation, 2017",
}
_WORDS = {
    "holds": "true as it stands",
    "holds-with-correction": "true after the correction of a constant, a condition or a formula, which the row states",
    "false": "a counterexample, or a number that was computed, refutes it",
    "vacuous-at-practical-size": "true, but the claim says nothing at practical sizes",
}


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One mistake in a source, as a specification of this project lists it.

    Args:
        specification: name of the specification that lists the erratum, such as data_market.
        number: number of the erratum in that list, from 1.
        claims: ids of the claims that show the erratum.
        none: reason why no claim shows the erratum; empty where `claims` names at least one.
    """

    specification: str
    number: int
    claims: tuple[str, ...] = ()
    none: str = ""


@cache
def errata() -> tuple[Erratum, ...]:
    """All errata, ordered by specification and number.

    Example:
        >>> errata()[0].claims
        ('channels/lemma-7-triangle',)
    """
    table = tomllib.loads(Path(__file__).with_name("errata.toml").read_text(encoding="utf-8"))
    return tuple(Erratum(specification=name, number=int(number), claims=tuple(entry.get("claims", ())),
                         none=entry.get("none", ""))
                 for name, entries in table.items() for number, entry in entries.items())


def claims_markdown(rows: Sequence[Claim]) -> str:
    """Markdown page with the number of claims by document and verdict, then the claims themselves, document by
    document.

    Args:
        rows: rows of the table of claims, as the function `claims` returns them.

    Returns:
        Markdown with tables.
    """
    documents = list(dict.fromkeys(row.document for row in rows))
    lines = [
        "# Published claims", "",
        "This page lists the claims of this library's sources, in our words, with a verdict for each. Every row has a "
        "function that recomputes the evidence for its verdict:", "",
        "```bash",
        "confide claims                                # all rows; --family, --document, --verdict, --search, --json",
        "confide claims regression/lemma-6             # one claim, with the function that recomputes it",
        "confide claims regression/lemma-6 --verify    # and its result today",
        "confide claims --verify                       # all claims; exits 1 if a verdict changed",
        "confide claims --write page.md                # this page",
        "```", "",
        "The name of the function stands in brackets at the end of its row; the heading of the table names its "
        "package. Line numbers are those of the text that we read.", "",
        *_parts(rows),
        *(f"- **{verdict}**: {_WORDS[verdict]}" for verdict in _VERDICTS), "",
        "## Verdicts", "",
        *_table(("document", *_VERDICTS, "all"), [_counted(each, [row for row in rows if row.document == each])
                                                  for each in documents] + [_counted("all", rows)]),
    ]
    lines += _errata(rows)
    for document in documents:
        its = [row for row in rows if row.document == document]
        lines += ["", f"## {document}", *(["", f"{_TITLES[document]}."] if document in _TITLES else [])]
        for package in dict.fromkeys(_package(row) for row in its):
            part = [row for row in its if _package(row) == package]
            lines += ["", f"### {document}: `{package}`", "",
                      *_table(("claim", "statement", "verdict", "our finding"), [_row(row) for row in part])]
    return "\n".join(lines) + "\n"


def _parts(rows: Sequence[Claim]) -> list[str]:
    """Lines of the page that explain which first parts of ids are parts of a family."""
    found = parts_of_families(rows)
    if not found:
        return []
    return ["An id begins with its family, or with a part of a family: "
            + ", ".join(f"`{part}` is a part of `{family}`" for part, family in found.items()) + ". `--family` takes "
            "both.", ""]


def _errata(rows: Sequence[Claim]) -> list[str]:
    """Lines of the page that list the errata. Every specification with an erratum that one of the given rows shows is
    listed in full.
    """
    by_id = {row.id: row for row in rows}
    shown = {each.specification for each in errata() if by_id.keys() & set(each.claims)}
    if not shown:
        return []
    lines = ["", "## Errata", "",
             "This section lists the mistakes that we found in the sources, with the rows below that show them."]
    for specification in dict.fromkeys(each.specification for each in errata() if each.specification in shown):
        cells = [(f"{each.number}",
                  ", ".join(f"`{one}` (**{by_id[one].verdict}**)" for one in each.claims if one in by_id),
                  "; ".join(dict.fromkeys(_plain(by_id[one].statement) for one in each.claims if one in by_id))
                  or _plain(each.none))
                 for each in errata() if each.specification == specification]
        lines += ["", f"### `{specification}`", "", *_table(("erratum", "claims", "of"), cells)]
    return lines


def _counted(name: str, rows: Sequence[Claim]) -> tuple[str, ...]:
    counts = Counter(row.verdict for row in rows)
    return name, *(f"{counts[verdict]:,}" for verdict in _VERDICTS), f"{len(rows):,}"


def _package(row: Claim) -> str:
    return row.evidence.module.rpartition(".")[0]


def _row(row: Claim) -> tuple[str, ...]:
    ours = f"{_plain(row.correction)} (`{row.evidence.module.rpartition('.')[2]}.{row.evidence.function}`)"
    if row.measured is not None:
        stored = row.measured
        ours += (f" Slow evidence: {number(stored.found)}, while {number(stored.claimed)} is claimed, "
                 f"measured on {stored.day.isoformat()} in {number(stored.seconds)} s by `{row.command}`.")
    return f"`{row.id}` {_plain(row.statement)}, line {row.line}", _plain(row.claim), f"**{row.verdict}**", ours


def _plain(text: str) -> str:
    """A text with all Markdown characters escaped, so that none of it is read as markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(row) + " |" for row in rows)]

"""Sections as HTML, with pictures and descriptions of the pictures; and error texts in the language of a page.

Error texts of the service are translated, part by part. Messages of the library about a campaign file, a ledger or a
bank's file have no translation, and stay in English.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup

from confide.charts import to_svg
from confide.contract import worded as messages
from confide.contract.errors import ConfideError, InvalidInput, Refused, StoreFailed
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.words import number, printable
from confide.service.shell.problems import AWAY
from confide.service.work.faults import Changed, NotNow, Unknown

__all__ = ["in_words", "sections_html"]

_KEPT = 64  # pictures
_SHORT = 12  # characters of a cell that stays on one line: a day is not broken at its hyphens


def sections_html(sections: Sequence[Section], level: int = 2) -> Markup:
    """The HTML of sections, in reading order.

    Args:
        sections: sections to show.
        level: level of the headings of sections, such as 2 for `<h2>`.

    Example:
        >>> from confide.contract.presentation import Table, Text
        >>> print(sections_html([Section(title="A < B", blocks=(Text(("Yes.",)),))]))
        <section><h2>A &lt; B</h2><p>Yes.</p></section>
        >>> days = Table(columns=("day", "cost"), rows=(("2026-11-26", "epsilon = 8"),))
        >>> str(sections_html([Section(title="Days", blocks=(days,))])).count(' class="whole"')
        2
    """
    return Markup("".join(_section(section, level) for section in sections))  # noqa: S704 - every text is escaped below


def _section(section: Section, level: int) -> str:
    named = "private" if section.private else "study" if section.study else "found" if section.found else ""
    mark = f' class="{named}"' if named else ""
    blocks = "".join(_block(block, section.title) for block in section.blocks)
    if section.folded:
        return f"<details{mark}><summary>{html.escape(section.title)}</summary>{blocks}</details>"
    return f"<section{mark}><h{level}>{html.escape(section.title)}</h{level}>{blocks}</section>"


def _block(block: Block, title: str) -> str:
    match block:
        case Text(paragraphs=paragraphs):
            return "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
        case Table():
            return _table(block, title)
        case Picture(spec=spec, alt=alt):
            return _picture(json.dumps(spec, sort_keys=True, default=str), alt)


def _table(table: Table, title: str) -> str:
    """HTML of a table. The first cell of each row is the row's heading. A wide table scrolls, also by the keyboard."""
    numeric = [table.numeric(k) for k in range(len(table.columns))]
    head = "".join(f'<th scope="col"{_class(right=numeric[k])}>{html.escape(name)}</th>'
                   for k, name in enumerate(table.columns))
    rows = "".join("<tr>" + "".join(_cell(value, k, right=numeric[k]) for k, value in enumerate(row)) + "</tr>"
                   for row in table.rows)
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    return (f'<div class="scroll" role="group" tabindex="0" aria-label="{html.escape(title, quote=True)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}")


def _cell(value: str | int | float | None, place: int, *, right: bool) -> str:
    shown = number(value)
    text, short = html.escape(shown), len(shown) <= _SHORT and (" " in shown or "-" in shown)
    if place == 0 and not right:
        return f'<th scope="row"{_class(short=short)}>{text}</th>'
    return f"<td{_class(right=right, short=short)}>{text}</td>"


def _class(*, right: bool = False, short: bool = False) -> str:
    names = [name for name, meant in (("number", right), ("whole", short and not right)) if meant]
    return f' class="{" ".join(names)}"' if names else ""


@lru_cache(_KEPT)
def _picture(spec: str, alt: str) -> str:
    words = html.escape(alt, quote=True)
    svg = to_svg(json.loads(spec))
    if svg is None:
        return f'<p class="note">{words}</p>'
    data = base64.b64encode(svg.encode()).decode()
    return (f'<figure><div class="scroll" role="group" tabindex="0" aria-label="{words}">'
            f'<img src="data:image/svg+xml;base64,{data}" alt="{words}"></div>'
            f'<figcaption class="note">{words}</figcaption></figure>')


def in_words(
    problem: ConfideError | tuple[str, str] | str | None, known: Mapping[str, str] | None = None, *,
    translate: Callable[[str], str],
) -> str:
    """The text of a problem in the language of a page; empty if there is no problem.

    Args:
        problem: error, pair of a problem and its remedy, or text; None and an empty text stand for no problem.
        known: mapping from the English text of a problem to the words of this page for the problem.
        translate: function that translates a text of the catalogue into the language of the page.

    Example:
        >>> error = Refused(messages.worded("no payout is approved"), "look again")
        >>> in_words(error, translate=lambda text: text.upper()), in_words(("is missing", ""), translate=str)
        ('NO PAYOUT IS APPROVED (look again)', 'is missing')
        >>> in_words(error, {"no payout is approved (look again)": "Approve it first."}, translate=str)
        'Approve it first.'
    """
    if problem is None:
        return ""
    english = problem if isinstance(problem, str) else "" if isinstance(problem, tuple) else str(problem)
    if known is not None and english in known:
        return known[english]

    def say(text: str) -> str:
        return messages.in_words(text, translate)

    match problem:
        case str():
            return say(problem)
        case (what, limit):
            return printable(f"{say(what)}; {say(limit)}" if limit else say(what))
        case InvalidInput():
            return printable(f"{problem.field}: {in_words((problem.problem, problem.limit), translate=translate)}")
        case Refused():
            remedy = f"{problem.label}{say(problem.remedy)}" if problem.remedy else ""
            return printable(_with(say(problem.reason), remedy))
        case NotNow():
            return printable(_with(say(problem.why), say(problem.remedy)))
        case StoreFailed():
            return _with(*map(say, AWAY))
        case Unknown() | Changed():
            return say(problem.worded)
    return english


def _with(reason: str, remedy: str) -> str:
    return f"{reason} ({remedy})" if remedy else reason

"""Sections as HTML: texts, tables whose headings are known as such, pictures with their words beside them."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from confide.charts import to_svg
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.words import number

__all__ = ["sections_html"]

_KEPT = 64  # pictures
_SHORT = 12  # characters of a cell that stays on one line: a day is not broken at its hyphens
_AROUND = {"left": 36, "right": 16, "top": 8, "bottom": 8}  # a browser's letters may be wider than those measured


def sections_html(sections: Sequence[Section], level: int = 2) -> Markup:
    """Sections in reading order.

    Args:
        sections: what is shown.
        level: of their headings.

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
    mark = ' class="private"' if section.private else ' class="study"' if section.study else ""
    blocks = "".join(_block(block, section.title) for block in section.blocks)
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
    """The first cell of each row is its heading; what is wide scrolls, by the keyboard too."""
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
    svg = to_svg({**json.loads(spec), "padding": _AROUND} if spec != "{}" else {})
    if svg is None:
        return f'<p class="note">{words}</p>'
    data = base64.b64encode(svg.encode()).decode()
    return (f'<figure><div class="scroll" role="group" tabindex="0" aria-label="{words}">'
            f'<img src="data:image/svg+xml;base64,{data}" alt="{words}"></div>'
            f'<figcaption class="note">{words}</figcaption></figure>')

"""How families show things without knowing where: sections of text, tables and pictures.

The command line prints them, `--json` dumps them, a report page draws them. A section that uses private data is marked
`study` or `private`, and the renderers say so.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from confide.contract.wire import wire
from confide.contract.words import number

__all__ = ["Block", "Picture", "Section", "Table", "Text"]


@wire("Text", "paragraphs")
@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"text": list(self.paragraphs)}


@wire("Table", "columns rows note")
@dataclass(frozen=True, kw_only=True)
class Table:
    """A small table; cells are strings or numbers, formatted by whoever shows them.

    Args:
        columns: the headings, with units.
        rows: one sequence per row.
        note: what a reader must know to read it (what an interval covers, at which confidence).
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows], "note": self.note}

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers alone, which are set to the right."""
        return all(isinstance(row[column], int | float) or row[column] is None for row in self.rows)

    def to_html(self) -> str:
        """The table and its note as HTML; every text is escaped."""

        def cell(tag: str, text: str, k: int) -> str:
            return f'<{tag}{" class=number" if self.numeric(k) else ""}>{html.escape(text)}</{tag}>'

        head = "".join(cell("th", name, k) for k, name in enumerate(self.columns))
        rows = "".join("<tr>" + "".join(cell("td", number(value), k) for k, value in enumerate(row)) + "</tr>"
                       for row in self.rows)
        note = f'<p class="note">{html.escape(self.note)}</p>' if self.note else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"

    def _repr_html_(self) -> str:
        return self.to_html()


@wire("Picture", "spec alt")
@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart as a Vega-Lite specification.

    Args:
        spec: the specification, data included.
        alt: what the picture shows, in words.
    """

    spec: dict[str, Any]
    alt: str

    def to_dict(self) -> dict[str, Any]:
        return {"picture": self.alt, "vega_lite": self.spec}

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        # Some notebooks draw Vega-Lite by themselves, others and pages show the SVG, a terminal the words.
        if not self.spec:
            return {"text/plain": self.alt}
        version = str(self.spec.get("$schema", "v5")).rsplit("/v", 1)[-1].split(".")[0]
        shown = {f"application/vnd.vegalite.v{version}+json": self.spec, "text/plain": self.alt}
        if find_spec("vl_convert") is not None:
            import vl_convert

            shown["image/svg+xml"] = vl_convert.vegalite_to_svg(self.spec)
        return shown


Block = Text | Table | Picture


@dataclass(frozen=True, kw_only=True)
class Section:
    """A titled part of a page.

    Args:
        title: heading.
        blocks: what stands below it.
        study: True where private data was used under simulated noise: not a release.
        private: True where it is meant for one participant or the operator.
        answers: of an offer, which question of `confide.contract.offering.Question` it answers, such as "sees";
            empty where none.
    """

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    study: bool = False
    private: bool = False
    answers: str = ""

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Those of all its texts."""
        return tuple(each for block in self.blocks if isinstance(block, Text) for each in block.paragraphs)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables, in order."""
        return tuple(block for block in self.blocks if isinstance(block, Table))

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "study": self.study, "private": self.private,
                "blocks": [block.to_dict() for block in self.blocks]}

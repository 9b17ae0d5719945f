"""Sections of text, tables and pictures. The code that makes a section does not know where the section is shown.

The command line prints sections, `--json` writes them as JSON, and a report page draws them. A section that uses
private data is marked `study` or `private`, and the renderers show the mark. Plans, guarantees and billboards are
subclasses of `Shown`. Objects of these classes appear as text in a terminal, and as tables in a notebook.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.files import as_path
from confide.contract.wire import wire
from confide.contract.words import number, printable

__all__ = ["Block", "Picture", "ReplacedPicture", "Section", "Shown", "Table", "Text", "joined"]

_GAP = "  "  # between columns of text
_DRAWN = (".svg", ".png", ".html")


@wire("Text", "paragraphs")
@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"text": list(self.paragraphs)}

    def __str__(self) -> str:
        return "\n".join(map(printable, self.paragraphs))

    def to_html(self) -> str:
        """The paragraphs as HTML; every text is escaped."""
        return "".join(f"<p>{html.escape(each)}</p>" for each in self.paragraphs)


@wire("Table", "columns rows note")
@dataclass(frozen=True, kw_only=True)
class Table:
    """A small table of strings and numbers. Numbers are formatted only when the table is shown.

    Args:
        columns: the headings, with units.
        rows: the rows, each a sequence with one cell for each column.
        note: a text below the table that explains the table, such as the confidence level of intervals.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows], "note": self.note}

    def numeric(self, column: int) -> bool:
        """Whether a column holds only numbers, which are right-aligned."""
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

    def __str__(self) -> str:
        """The table and its note in plain text, with aligned columns."""
        cells = [[printable(number(value)) for value in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        right = [self.numeric(k) for k in range(len(widths))]
        lines = (_GAP.join(cell.rjust(width) if to_the_right else cell.ljust(width) for cell, width, to_the_right in
                           zip(row, widths, right, strict=True)).rstrip() for row in cells)
        return "\n".join([*lines, *([printable(self.note)] if self.note else [])])

    def _repr_html_(self) -> str:
        return self.to_html()


class Shown:
    """Base class of objects that are shown as texts and tables: as HTML in a notebook, and as plain text elsewhere."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        setattr(cls, "__repr__", cls.__repr__)  # noqa: B010 - `@dataclass` would write one that lists all fields

    def _blocks(self) -> Sequence[Text | Table]:
        """The blocks that are shown, from top to bottom."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(map(str, self._blocks()))

    def _repr_html_(self) -> str:
        return "".join(each.to_html() for each in self._blocks())


@wire("Picture", "spec alt")
@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart as a Vega-Lite specification.

    Args:
        spec: the specification, data included.
        alt: a description of the picture, in words.
    """

    spec: dict[str, Any]
    alt: str

    def to_dict(self) -> dict[str, Any]:
        return {"picture": self.alt, "vega_lite": self.spec}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file; an older file of that name is replaced.

        Args:
            path: the path of the file. The ending .svg, .png or .html gives a drawing, which needs the extra `[plots]`;
                .json gives the specification alone.

        Raises:
            InvalidInput: the path has another ending, the picture has no specification, or the extra is not installed.
        """
        file = as_path("path", path)
        ending = file.suffix.lower()
        if ending == ".json":
            file.write_text(json.dumps(self.spec, indent=1), encoding="utf-8")
            return
        if ending not in _DRAWN:
            raise InvalidInput("path", f"ends in {ending!r}", f"must end in {', '.join(_DRAWN)} or .json")
        if not self.spec:
            raise InvalidInput("picture", "has nothing to draw")
        if find_spec("vl_convert") is None:
            raise InvalidInput("path", "the package vl-convert, which draws pictures, is not installed",
                               "pip install 'confide[plots]' installs it; a .json file needs no package")
        import vl_convert

        drawn = getattr(vl_convert, f"vegalite_to_{ending[1:]}")(self.spec)
        file.write_bytes(drawn if isinstance(drawn, bytes) else str(drawn).encode())

    @property
    def before(self) -> Picture:
        """The picture that earlier versions of confide showed in this place; by default the picture itself."""
        return self

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


@dataclass(frozen=True, kw_only=True)
class ReplacedPicture(Picture):
    """A picture that shows other numbers than the picture that earlier versions of confide showed in this place.

    Args:
        former: the picture of earlier versions, with which the packs of these versions are compared.
    """

    former: Picture

    @property
    def before(self) -> Picture:
        return self.former


Block = Text | Table | Picture


@dataclass(frozen=True, kw_only=True)
class Section:
    """A titled part of a page.

    Args:
        title: heading of the section.
        blocks: the texts, tables and pictures below the heading.
        study: True if private data were used under simulated noise, so that the section is no release.
        private: True if the section is meant for one participant or the operator.
        found: whether the first paragraph of the section states the main result of a campaign. A page shows this
            paragraph in large letters.
        folded: whether a page shows only the heading until a reader opens the section.
        answers: name of the `confide.contract.offering.Question` that the section answers in an offer, such as "sees";
            empty if the section answers none.
    """

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    study: bool = False
    private: bool = False
    found: bool = False
    folded: bool = False
    answers: str = ""

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """The paragraphs of all texts of the section, in order."""
        return tuple(each for block in self.blocks if isinstance(block, Text) for each in block.paragraphs)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the section, in order."""
        return tuple(block for block in self.blocks if isinstance(block, Table))

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "study": self.study, "private": self.private,
                "blocks": [block.to_dict() for block in self.blocks]}


def joined(*parts: str | Block) -> tuple[Block, ...]:
    """Paragraphs and other blocks in order. Consecutive paragraphs become one `Text`, and empty paragraphs are left
    out.

    Args:
        parts: the parts in order.
    """
    blocks: list[Block] = []
    for part in parts:
        if not isinstance(part, str):
            blocks.append(part)
        elif part and blocks and isinstance(blocks[-1], Text):
            blocks[-1] = Text((*blocks[-1].paragraphs, part))
        elif part:
            blocks.append(Text((part,)))
    return tuple(blocks)

"""How families show things without knowing where: sections of text, tables and pictures.

The command line prints them, `--json` dumps them, a report page draws them. A section that uses private data is marked
`study` or `private`, and the renderers say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Block", "Picture", "Section", "Table", "Text"]


@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"text": list(self.paragraphs)}


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


Block = Text | Table | Picture


@dataclass(frozen=True, kw_only=True)
class Section:
    """A titled part of a page.

    Args:
        title: heading.
        blocks: what stands below it.
        study: True where private data was used under simulated noise: not a release.
        private: True where it is meant for one participant or the operator.
    """

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    study: bool = False
    private: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "study": self.study, "private": self.private,
                "blocks": [block.to_dict() for block in self.blocks]}

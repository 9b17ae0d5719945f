"""Print sections on a terminal: texts, tables, and a description in place of each picture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from rich import markup
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from confide.contract.presentation import Picture, Section, Table, Text
from confide.contract.words import number, printable

__all__ = ["console", "show", "show_title"]

_GAP = 2  # between columns
_FEW = 14  # letters of a cell that is not broken between its words, where that can be helped
_FOLDED = 20  # lines of a table that a page folds away
_PIPE_WIDTH = 120  # a pipe has no width of its own; tables are laid out for a reader of the file
console = Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH,
                  force_jupyter=False, emoji=False)


def escape(text: str) -> str:
    """A text in a form in which the terminal prints it literally: markup has no effect, and control characters are
    replaced.
    """
    return markup.escape(printable(text))


def show_title(title: str) -> None:
    """Print the title of a campaign literally, so that special characters have no effect."""
    console.print(f"[bold]{escape(title)}[/bold]")


def show(parts: Sequence[Section]) -> None:
    """Print sections. Sections of studies and private sections have a visible mark."""
    for part in parts:
        mark = ""
        if part.study:
            mark = "  [reverse yellow] STUDY: simulated noise, private data, not a release [/]"
        elif part.private:
            mark = "  [reverse cyan] PRIVATE [/]"
        console.print(f"\n[bold]{escape(part.title)}[/bold]{mark}")
        for block in part.blocks:
            match block:
                case Text(paragraphs=paragraphs):
                    for paragraph in paragraphs:
                        console.print(escape(paragraph))
                case Table():
                    left = len(block.rows) - _FOLDED if part.folded else 0
                    console.print(_table(replace(block, rows=block.rows[:_FOLDED]) if left > 0 else block))
                    if left > 0:
                        console.print(f"[dim]The page has {left:,} more lines.[/dim]")
                    if block.note:
                        console.print(f"[dim]{escape(block.note)}[/dim]")
                case Picture(alt=alt):
                    console.print(f"[dim](picture: {escape(alt)})[/dim]")


def _table(block: Table) -> RichTable:
    table = RichTable(box=None, pad_edge=False, header_style="dim", show_edge=False)
    rows = [[number(value) for value in row] for row in block.rows]
    widths = _widths([[printable(cell) for cell in row] for row in (list(block.columns), *rows)], console.width)
    for k, name in enumerate(block.columns):
        table.add_column(escape(name), justify="right" if block.numeric(k) else "left", overflow="fold",
                         width=widths[k])
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _unbroken(cell: str) -> int:
    """Least width of a cell. A short text, such as "not published", keeps its words together if there is room; a longer
    text needs the width of its longest word.
    """
    return cell_len(cell) if cell_len(cell) <= _FEW else max(map(cell_len, cell.split()), default=1)


def _widths(rows: Sequence[Sequence[str]], whole: int) -> list[int]:
    """Widths of the columns of a table, so that they fit side by side. Words, such as the id of a claim, are broken
    only if the terminal is too narrow, and the remaining room goes to the columns that need it most. Without given
    widths, the library `rich` would break ids or cut lines off.

    Args:
        rows: cells; the first row holds the headings.
        whole: width of the terminal in characters.
    """
    columns = range(len(rows[0]))
    room = whole - _GAP * (len(columns) - 1)
    natural = [max(1, *(cell_len(line) for row in rows for line in row[k].split("\n"))) for k in columns]
    if sum(natural) <= room:
        return natural
    widths = [max(_unbroken(row[k]) for row in rows) for k in columns]
    if sum(widths) > room:
        widths = [max((cell_len(word) for row in rows for word in row[k].split()), default=1) for k in columns]
    while sum(widths) > max(room, len(columns)):
        widths[widths.index(max(widths))] -= 1
    while sum(widths) < room:
        widest = max(columns, key=lambda k: natural[k] / widths[k])
        widths[widest] += 1
    return widths

"""Sections on a terminal: text, tables, and for pictures what they show."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich import markup
from rich.console import Console
from rich.table import Table as RichTable

from confide.contract.presentation import Picture, Section, Table, Text
from confide.contract.words import number, printable

__all__ = ["console", "show", "show_title"]

_PIPE_WIDTH = 120  # a pipe has no width of its own; tables are laid out for a reader of the file
console = Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH,
                  force_jupyter=False, emoji=False)


def escape(text: str) -> str:
    """A text as it is, whoever wrote it: neither markup, nor control characters that steer the terminal."""
    return markup.escape(printable(text))


def show_title(title: str) -> None:
    """Print a campaign's title, whatever characters it holds."""
    console.print(f"[bold]{escape(title)}[/bold]")


def show(parts: Sequence[Section]) -> None:
    """Print sections; studies and private parts are marked."""
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
                    console.print(_table(block))
                    if block.note:
                        console.print(f"[dim]{escape(block.note)}[/dim]")
                case Picture(alt=alt):
                    console.print(f"[dim](picture: {escape(alt)})[/dim]")


def _table(block: Table) -> RichTable:
    table = RichTable(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for k, name in enumerate(block.columns):
        table.add_column(escape(name), justify="right" if block.numeric(k) else "left", overflow="fold")
    for row in block.rows:
        table.add_row(*(escape(number(value)) for value in row))
    return table

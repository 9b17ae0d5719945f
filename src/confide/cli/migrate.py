"""Campaign files of before, in today's words: `confide migrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import AsJson, emit

if TYPE_CHECKING:
    from confide.campaign.migrating import Looked

__all__ = ["migrate"]


def migrate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Campaign files.", show_default=False)],
    check: Annotated[bool, typer.Option("--check", help="Say what would be rewritten, and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rewrite campaign files in today's words: each stays the same campaign, and a copy of it as it was lies beside it.
    All files are looked at before the first is written.
    """
    from confide.campaign.migrating import look, rewrite

    found = {Path(each.path).absolute(): each for each in map(look, files)}.values()
    copies = {each.path: rewrite(each) for each in found if each.changes and not check}
    if as_json:
        from confide.cli import output

        emit(output.MigrateOutput(files=[output.MigratedModel(
            file=str(each.path), what=each.what, refused=each.refused or None,
            copy_of_before=str(copies[each.path]) if each.path in copies else None,
            changes=[output.WordModel(line=one.line, place=one.place, old=one.old, new=one.new)
                     for one in each.changes]) for each in found]))
        return
    for each in found:
        _say(each, copies.get(each.path))


def _say(found: Looked, copy: Path | None) -> None:
    from confide.campaign.migrating import NOTHING_TO_DO
    from confide.contract.words import printable

    name, many = printable(str(found.path)), len(found.changes)
    if found.what in NOTHING_TO_DO:
        print(f"{name} {NOTHING_TO_DO[found.what]}: nothing to do.")
    elif not many:
        print(f"{name} is in today's words: nothing to do.")
    else:
        words = f"{many} word{'s' * (many > 1)} of before"
        print(f"{name}: {words} would be rewritten:" if copy is None else
              f"{name}: {words} rewritten; as it was, the file is {printable(str(copy))}:")
        for each in found.changes:
            print(f"  line {each.line}: {printable(each.place)}: {printable(each.old)} -> {printable(each.new)}")
    if found.refused:
        print(f"  A campaign that was begun goes on. A new one of this file is refused: {found.refused}")

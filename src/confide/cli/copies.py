"""The commands `confide backup` and `confide restore` for copies of an installation, and `confide restored` for
campaigns that are on hold after a restore. The command `confide migrate` rewrites campaign files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import AsJson, StoreUrl, emit

if TYPE_CHECKING:
    from confide.campaign.migrating import Looked

__all__ = ["backup", "migrate", "restore", "restored"]


def backup(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Path of a new archive that only its owner can read.")],
    store: StoreUrl = None,
) -> None:
    """Copy the installation, with its store, keys and notes, into an archive. Other processes may use the installation
    meanwhile.
    """
    from confide.campaign import Home, Store
    from confide.campaign.backup import backup as copy

    with Store(store, home=Home.default(), create=False) as there:
        copy(out, store=there)
    print(f"wrote {out}: the archive holds the keys, and all records that are not erased yet")


def restore(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="File that `confide backup` wrote.")],
    home: Annotated[Path, typer.Option(metavar="FOLDER", help=
        "A new folder for the installation; set CONFIDE_HOME to this folder from now on.")],
    store: StoreUrl = None,
) -> None:
    """Make an installation from an archive of `confide backup`, in a new folder. A copy of a PostgreSQL store needs an
    empty database.
    """
    from confide.campaign.backup import restore as load

    found = load(archive, home, url=store)
    print(f"restored {found.store} of {found.day}, with {found.campaigns} campaign"
          f"{'' if found.campaigns == 1 else 's'}; use it with CONFIDE_HOME={found.home}")
    print("This ledger lacks all charges since that day, and the restored data includes records that were erased since "
          "that day. Run nothing on data sets that were charged since that day, and repeat later withdrawals. All "
          "sessions and codes have ended. The operators of that day are operators again, with that day's passwords: "
          "look at `confide operators list`.")
    if found.held:
        print(f"On hold: {found.held} campaign{'' if found.held == 1 else 's'}. Use `confide restored` to confirm that "
              "the original installation neither settled nor paid a campaign.")


def restored(
    confirm: Annotated[list[int] | None, typer.Option(metavar="NUMBER", help=(
        "Number of a campaign that the original installation has neither settled nor paid since the copy, and never "
        "will. May be given several times."))] = None,
    store: StoreUrl = None,
) -> None:
    """List the campaigns of a restored installation that are on hold, because the original installation may have
    settled or paid them. With --confirm, a campaign continues in this installation.
    """
    from confide.campaign import Home, Store
    from confide.campaign.backup import confirm as confirmed
    from confide.campaign.backup import held

    with Store(store, home=Home.default(), create=False) as there:
        for number in confirm or ():
            print(f"{confirmed(there, number).title}: continues in this installation")
        left = held(there)
    for each in left:
        print(f"{each.number}  {each.title}  ({each.state.value}): on hold")
    if not left:
        print("nothing is held")


def migrate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Campaign files.", show_default=False)],
    check: Annotated[bool, typer.Option("--check", help="List the changes, and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replace former words in campaign files by the present words. Each file still describes the same campaign. A copy
    of the old file is kept in the same folder. All files are checked before the first file is written.
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
        print(f"{name} uses the present words: nothing to do.")
    else:
        words = f"{many} old word{'s' * (many > 1)}"
        print(f"{name}: {words} would be rewritten:" if copy is None else
              f"{name}: {words} rewritten; the file before the change is {printable(str(copy))}:")
        for each in found.changes:
            print(f"  line {each.line}: {printable(each.place)}: {printable(each.old)} -> {printable(each.new)}")
    if found.refused:
        print("  A campaign that has begun with this file continues. A new campaign with this file is refused: "
              f"{found.refused}")

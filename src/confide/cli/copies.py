"""Copies of an installation from the command line: `confide backup`, `confide restore` and what is held then."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import StoreUrl

__all__ = ["backup", "restore", "restored"]


def backup(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="A new archive, for its owner alone.")],
    store: StoreUrl = None,
) -> None:
    """Copy the installation: its store, its keys and its notes; others may go on meanwhile."""
    from confide.campaign import Home, Store
    from confide.campaign.backup import backup as copy

    with Store(store, home=Home.default(), create=False) as there:
        copy(out, store=there)
    print(f"wrote {out}: it holds the keys, and all records that are not erased yet")


def restore(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="What `confide backup` wrote.")],
    home: Annotated[Path, typer.Option(metavar="FOLDER", help="A new folder for the installation; name it in "
                                                              "CONFIDE_HOME from then on.")],
    store: StoreUrl = None,
) -> None:
    """Make an installation from a copy, in a new folder; a copy of PostgreSQL goes into an empty database."""
    from confide.campaign.backup import restore as load

    found = load(archive, home, url=store)
    print(f"restored {found.store} of {found.day}, with {found.campaigns} campaign"
          f"{'' if found.campaigns == 1 else 's'}; use it with CONFIDE_HOME={found.home}")
    print("What was charged since that day is not in this ledger, and what was erased since is in it again: run "
          "nothing on data sets that were charged since, and repeat withdrawals. All sessions and codes have ended; "
          "whoever was an operator that day is one again, with that day's password: look at `confide operators list`.")
    if found.held:
        print(f"Held until you say that the original neither settled nor paid it: {found.held} "
              f"campaign{'' if found.held == 1 else 's'}; see `confide restored`.")


def restored(
    confirm: Annotated[list[int] | None, typer.Option(metavar="NUMBER", help=(
        "The original has neither settled nor paid this campaign since the copy, and never will. May be given "
        "several times."))] = None,
    store: StoreUrl = None,
) -> None:
    """Campaigns of a restored installation that are held, since their originals may have settled or paid them."""
    from confide.campaign import Home, Store
    from confide.campaign.backup import confirm as confirmed
    from confide.campaign.backup import held

    with Store(store, home=Home.default(), create=False) as there:
        for number in confirm or ():
            print(f"{confirmed(there, number).title}: goes on here")
        left = held(there)
    for each in left:
        print(f"{each.number}  {each.title}  ({each.state.value}): held")
    if not left:
        print("nothing is held")

"""Shared parts of the commands: their options, loading a campaign, a record as it is typed, a store, printing JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.contract.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import BaseModel

    from confide.campaign import Campaign, Store

__all__ = ["Another", "AsJson", "CampaignPath", "OutFolder", "StoreUrl", "emit", "head", "load", "open_store",
           "store_if_any", "values", "write_public"]

CampaignPath = Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="The campaign file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder of the outcome [out/NAME beside "
                                                                             "the campaign file].")]
StoreUrl = Annotated[str | None, typer.Option(
    "--store", metavar="URL", envvar="CONFIDE_STORE", show_envvar=True,
    help="Database of campaigns and ledger: sqlite:///FILE or postgresql+psycopg://... [the installation's own].",
)]

Another = Annotated[bool, typer.Option("--another-campaign", help="Charge the data anew for a file that was changed "
                                                                  "since it was settled.")]


def load(path: Path) -> Campaign:
    """A campaign from its file."""
    from confide.campaign import Campaign

    return Campaign.load(path)


def open_store(url: str | None, campaign: Campaign) -> Store:
    """The store in which a campaign was settled; to be closed, as by `with`. None is made: a slip of the finger must
    not show a fresh budget.
    """
    from confide.campaign.stored import existing

    return existing(campaign.file, url)


@contextmanager
def store_if_any(url: str | None) -> Iterator[tuple[str, Store | None]]:
    """A store that is there, with its name; none on a new installation, whose own is made by the first run."""
    from confide.campaign import Home

    own = Home.default()
    if url is None and not own.store.exists():  # known without the database's packages
        yield own.store_name, None
        return
    from confide.campaign import Store

    with Store(url, home=own, create=False) as found:
        yield found.name, found


def head(campaign: Campaign) -> dict[str, Any]:
    """The first entries of every JSON output about a campaign."""
    file = campaign.file
    return {"campaign": str(file.path), "kind": file.kind.name, "title": file.title}


def emit(model: BaseModel) -> None:
    """Print one JSON object, in one printable line."""
    line = json.dumps(model.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
    print("".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line))


def write_public(option: str, target: Path, text: str) -> None:
    """Write a public file where none is."""
    from confide.contract.files import write_new

    write_new(option, target, text, private=False, taken=f"choose another file with --{option}")


_NEXT = re.compile(r",(?=[^,=]+=)")
"""A comma that starts another column; any other one belongs to the value."""

_LONGEST = 1 << 16


def values(texts: Sequence[str]) -> dict[str, str]:
    """Values by column, as the options give them.

    Args:
        texts: texts of the options, each COLUMN=VALUE,...; "-" stands for the lines of the standard input, which no
            history and no list of processes shows.

    Raises:
        InvalidInput: a piece without `=`, or a column that stands twice.
    """
    pieces: list[str] = []
    for text in texts:
        lines = sys.stdin.read(_LONGEST).splitlines() if text == "-" else [text]
        pieces.extend(piece for line in lines if line.strip() for piece in _NEXT.split(line))
    found: dict[str, str] = {}
    for piece in pieces:
        name, equals, value = piece.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InvalidInput("record", f"{piece!r} is no column=value", "write --record age=40,sex=male")
        if name in found:
            raise InvalidInput("record", f"{name!r} stands twice", "give each column once")
        found[name] = value.strip()
    return found

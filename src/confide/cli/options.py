"""The parts that commands share: options, loading a campaign, parsing a typed record, opening a store, and printing
JSON.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
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
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help=
                                                "Folder of the outcome [out/NAME beside the campaign file].")]
StoreUrl = Annotated[str | None, typer.Option(
    "--store", metavar="URL", envvar="CONFIDE_STORE", show_envvar=True,
    help="Database of campaigns and ledger: sqlite:///FILE or postgresql+psycopg://... [the installation's own].",
)]

Another = Annotated[bool, typer.Option("--another-campaign", help=
                                       "Charge the data set again, for a campaign file that "
                                       "was changed after its settlement.")]


def load(path: Path) -> Campaign:
    """Load a campaign from its campaign file."""
    from confide.campaign import Campaign

    return Campaign.load(path)


def open_store(url: str | None, campaign: Campaign) -> Store:
    """Open the existing store in which a campaign was settled. The caller closes the store, for example by `with`. No
    store is created, because a mistyped URL must not show an unused budget.
    """
    from confide.campaign.stored import existing

    return existing(campaign.file, url)


@contextmanager
def store_if_any(url: str | None) -> Iterator[tuple[str, Store | None]]:
    """A context with the name of the store and the opened store. In a new installation, where no store exists before
    the first run, the second value is None.
    """
    from confide.campaign import Home

    own = Home.default()
    if url is None and not own.store.exists():  # known without the database's packages
        yield own.store_name, None
        return
    from confide.campaign import Store

    with Store(url, home=own, create=False) as found:
        yield found.name, found


def head(campaign: Campaign) -> dict[str, Any]:
    """The first entries of every JSON output about a campaign: its file, its kind and its title."""
    file = campaign.file
    return {"campaign": str(file.path), "kind": file.kind.name, "title": file.title}


def emit(model: BaseModel) -> None:
    """Print one JSON object on one line. Characters that cannot be printed are escaped."""
    line = json.dumps(model.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
    print("".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line))


def write_public(option: str, target: Path, text: str) -> None:
    """Write a public file. An existing file is never overwritten."""
    from confide.contract.files import write_new

    write_new(option, target, text, private=False, taken=f"choose another file with --{option}")


_NEXT = re.compile(r",(?=[^,=]+=)")
"""Pattern of a comma that starts another column. Any other comma belongs to the value."""

_LONGEST = 1 << 16


def values(texts: Sequence[str], example: Callable[[], str] = lambda: "age=40,sex=male") -> dict[str, str]:
    """Mapping from the name of a column to the text that the user typed for this column on the command line.

    Args:
        texts: values of the option, each in the form COLUMN=VALUE,...; "-" stands for the lines of standard input,
            which appear neither in the history of the shell nor in the list of processes.
        example: function that returns an example of such a text for the message of an error.

    Raises:
        InvalidInput: a value does not have the form COLUMN=VALUE, or a column is given twice.
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
            raise InvalidInput("record", f"{piece!r} does not have the form column=value",
                               f"write --record {example()}")
        if name in found:
            raise InvalidInput("record", f"{name!r} stands twice", "give each column once")
        found[name] = value.strip()
    return found

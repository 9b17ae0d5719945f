"""What the ledger may not know of the same people: names that are nearly alike, and packs of campaigns of other stores.

A data set under two names has two budgets, and so has one that two stores were charged for. Both are warned of, and
neither is refused: names may be alike on purpose. All of it is for the operator, who may see the whole ledger and the
files beside the campaign's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from confide.campaign.file import CampaignFile
from confide.campaign.folder import NOTE
from confide.campaign.pack import CAMPAIGN
from confide.campaign.store.store import Store
from confide.contract.errors import ConfideError
from confide.contract.files import read_bytes, read_json
from confide.contract.words import printable

__all__ = ["alike", "ledger_warnings", "near_names", "other_releases"]

_MOST_PACKS = 1000
"""A folder with more holds something else, too."""


def near_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that differ from a name in case, blanks, marks or a number at the end alone.

    Args:
        name: of a data set.
        known: names that the reader may see.

    Example:
        >>> near_names("Pay survey 2", ["pay-survey", "pay survey 2", "sleep survey", "Pay survey 2"])
        ('pay-survey', 'pay survey 2')
    """
    return tuple(each for each in known if each != name and _core(each) == _core(name))


def alike(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more names that are near each other, in order.

    Example:
        >>> alike(["pay survey", "sleep", "Pay survey"])
        (('pay survey', 'Pay survey'),)
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_core(name), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _core(name: str) -> str:
    """A name without what slips: its letters and digits in small letters, up to a number at its end."""
    letters = re.sub(r"[\W_]+", "", name.casefold())
    return re.sub(r"\d+$", "", letters) or letters


def ledger_warnings(file: CampaignFile, store: Store | None, *folders: Path) -> tuple[str, ...]:
    """What an operator is warned of before a campaign is charged, each a sentence.

    Args:
        file: of the campaign.
        store: whose ledger would be charged; None where there is none yet.
        folders: where the outcome goes, and where it goes by default: packs may lie beside it.
    """
    name, known = file.budget.data_set, () if store is None else store.data_sets()
    near = near_names(name, known)
    found = []
    if near and name not in known:
        found.append(f"The data set {name!r} is new to the ledger, which knows {' and '.join(map(repr, near))}. If "
                     f"they hold the same people, write {near[0]!r}: another name has another budget.")
    contents = set() if store is None else {each.content for each in store.campaigns()}
    for folder, other, content in _packs(folders):
        if content not in contents and (other == name or near_names(name, [other])):
            found.append(f"The pack in {folder} is of a campaign on {other!r} that this ledger does not know: another "
                         "store was charged for it. What it cost the same people is not counted here.")
    return tuple(found)


def other_releases(store: Store) -> int:
    """How many campaigns this installation has released from other stores, or from this one before it was put back."""
    return len(store.home.all_released() - {each.content for each in store.campaigns()})


def _packs(folders: Iterable[Path]) -> Iterator[tuple[Path, str, str]]:
    """Packs in some folders and beside them: where each lies, its data set, and the digest of its campaign."""
    places: dict[Path, None] = {}
    for folder in folders:
        with suppress(OSError):
            places |= dict.fromkeys(sorted(each.parent for each in folder.absolute().parent.glob(f"*/{NOTE}")))
    for place in islice(places, _MOST_PACKS):
        # What cannot be read, or says nothing of a data set, is no pack: `confide verify` says what is wrong with one.
        with suppress(ConfideError, OSError, ValueError, KeyError, TypeError):
            note, _ = read_json("pack", place / NOTE)
            document = tomllib.loads(read_bytes("pack", place / CAMPAIGN).decode("utf-8"))
            name, content = document["budget"]["data_set"], note["content"]
            if isinstance(name, str) and isinstance(content, str):
                yield place, printable(name), content

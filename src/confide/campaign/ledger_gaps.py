"""Gaps in a ledger's knowledge of the losses of the same people. Signs of a gap are names of data sets that are nearly
alike, and packs of campaigns that the ledger of another store has charged.

A data set under two names has two budgets. A data set that is charged in the ledgers of two stores has two budgets,
too. The operator is warned of names that are nearly alike and of packs of other stores, and no campaign is refused,
since names may be alike on purpose. All warnings are for the operator, who may see the whole ledger and the files
beside the campaign file.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from confide.contract.errors import ConfideError
from confide.contract.files import NOTE, read_bytes, read_json
from confide.contract.words import printable

if TYPE_CHECKING:
    from confide.campaign.file import CampaignFile
    from confide.campaign.store.store import Store

__all__ = ["alike", "foreign_letters", "ledger_warnings", "near_names", "other_releases"]

_MOST_PACKS = 1000
"""Largest number of packs that are looked at beside an outcome's folder."""


_LIKE_LATIN = str.maketrans(
    # capital and small letters: Cyrillic, Greek, Armenian, Cherokee, and Latin ones that casefold leaves
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408\u0474\u04ae\u04ba\u04c0\u051a\u051c"
    "\u0430\u0432\u0433\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0475\u04af\u04bb\u04cf\u0501"
    "\u051b\u051d"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u037f"
    "\u03b1\u03b2\u03b3\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f3"
    "\u053c\u054d\u054f\u0555\u0570\u0575\u0578\u057d\u0581\u0584\u0585"
    "\u13aa\u13a2\u13ab\u13ac\u13b3\u13b7\u13bb\u13c3\u13da\u13d9\u13de\u13df\u13e2\u13e6\u13f4"
    "\u0131\u0261\u0251",
    "abekmhopctyxsijvyhiqw"
    "abrekmhopctyxsijvyhld"
    "qw"
    "abezhikmnoptyxj"
    "abyeznikuvoptuxj"
    "lusohjnugfo"
    "atjewmhzsvlcpkb"
    "iga")
"""Translation of letters that look like Latin letters into the Latin letters that they resemble. Capital and small
letters are translated separately: a capital nu looks like an N, and a small nu like a v.
"""

_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Scripts with letters that look alike; a proper word uses only one of these scripts."""


def foreign_letters(name: str) -> tuple[str, ...]:
    r"""The Unicode names of the letters that do not belong to the main script of their word. Only scripts with letters
    that look alike are considered, such as Latin and Cyrillic.

    Args:
        name: the name of a data set.

    Example:
        >>> foreign_letters("h\N{CYRILLIC SMALL LETTER O}usehold survey"), foreign_letters("household")
        (('CYRILLIC SMALL LETTER O',), ())
    """
    found = dict[str, None]()
    for word in name.split():
        called = [unicodedata.name(letter, "") for letter in word if letter.isalpha()]
        scripts = [each.partition(" ")[0] for each in called]
        known = [each for each in scripts if each in _ALPHABETS]
        if len(set(known)) > 1:
            most = max(_ALPHABETS, key=known.count)
            found |= dict.fromkeys(each for each, script in zip(called, scripts, strict=True)
                                   if script in _ALPHABETS and script != most)
    return tuple(found)


def near_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that differ from a name only in case, blanks, punctuation, letters that look alike, or a number
    at the end.

    Args:
        name: the name of a data set.
        known: the names of data sets that the reader may see.

    Example:
        >>> near_names("Pay survey 2", ["pay-survey", "pay survey 2", "sleep survey", "Pay survey 2"])
        ('pay-survey', 'pay survey 2')
    """
    own = _cores(name)
    return tuple(each for each in known if each != name and own & _cores(each))


def alike(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more names that are nearly alike, directly or through other names of the group, in the given
    order.

    Example:
        >>> alike(["pay survey", "sleep", "Pay survey"])
        (('pay survey', 'Pay survey'),)
    """
    groups: list[tuple[set[str], list[tuple[int, str]]]] = []
    for place, name in enumerate(names):
        cores, group = set(_cores(name)), [(place, name)]
        for other in [each for each in groups if each[0] & cores]:
            groups.remove(other)
            cores, group = cores | other[0], other[1] + group
        groups.append((cores, group))
    found = sorted(sorted(group) for _, group in groups if len(group) > 1)
    return tuple(tuple(name for _, name in group) for group in found)


def _cores(name: str) -> frozenset[str]:
    """Keys of a name: its letters and digits, in small letters, without a number at the end. Two nearly alike names
    share at least one key.

    Letters of other scripts are replaced by Latin letters that look the same. The name gives one key as it is typed,
    one in small letters, and one in capitals.
    """
    typed, found = unicodedata.normalize("NFKC", name), set[str]()
    for written in (typed, typed.lower(), typed.upper()):
        letters = re.sub(r"[\W_]+", "", written.translate(_LIKE_LATIN).casefold())
        found.add(re.sub(r"\d+$", "", letters) or letters)
    return frozenset(found)


def ledger_warnings(file: CampaignFile, store: Store | None, *folders: Path) -> tuple[str, ...]:
    """The warnings to an operator before a campaign is charged, each a sentence.

    Args:
        file: the campaign file.
        store: the store whose ledger would be charged; None if there is no store yet.
        folders: the folders that may have packs beside them: the folder chosen for the outcome, and the default one.
    """
    name, known = file.budget.data_set, () if store is None else store.data_sets()
    near = near_names(name, known)
    found = []
    if near and name not in known:
        found.append(f"The data set {name!r} is new to the ledger, which knows {' and '.join(map(repr, near))}. If "
                     "these data sets hold the same people, write "
                     f"{near[0]!r}{', the oldest name' if len(near) > 1 else ''}: another name has another budget.")
    foreign = foreign_letters(name)
    if foreign and name not in known:
        found.append(f"The data set {name!r} is new to the ledger, and its name mixes scripts: it has "
                     f"{' and '.join(foreign)}. A reader may type a similar letter of another script, and such a name "
                     "has another budget.")
    contents = set() if store is None else {each.content for each in store.campaigns()}
    for folder, other, content in _packs(folders):
        if content not in contents and (other == name or near_names(name, [other])):
            found.append(f"This ledger does not know the campaign on {other!r} of the pack in {folder}: another store "
                         "was charged for it. The ledger does not count the cost of that campaign for the same people.")
    return tuple(found)


def other_releases(store: Store) -> int:
    """The number of campaigns that this installation has released and this store does not hold. The campaigns that this
    store lacks belong to other stores, or were lost when this store was restored from a copy.
    """
    return len(store.home.all_released() - {each.content for each in store.campaigns()})


def _packs(folders: Iterable[Path]) -> Iterator[tuple[Path, str, str]]:
    """The packs at the given folders and beside them, each as its folder, the name of its data set, and the digest of
    its campaign file.
    """
    from confide.campaign.file import HEAD_WORDS  # campaign files and packs come with tables, which names do without
    from confide.campaign.pack import CAMPAIGN

    places: dict[Path, None] = {}
    for folder in folders:
        with suppress(OSError):
            places |= dict.fromkeys(sorted(each.parent for each in folder.absolute().parent.glob(f"*/{NOTE}")))
    for place in islice(places, _MOST_PACKS):
        # What cannot be read, or says nothing of a data set, is no pack: `confide verify` says what is wrong with one.
        with suppress(ConfideError, OSError, ValueError, KeyError, TypeError):
            note, _ = read_json("pack", place / NOTE)
            document = HEAD_WORDS.today(tomllib.loads(read_bytes("pack", place / CAMPAIGN).decode("utf-8")))
            name, content = document["budget"]["data_set"], note["content"]
            if isinstance(name, str) and isinstance(content, str):
                yield place, printable(name), content

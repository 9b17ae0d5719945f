"""Reading the result of a settled campaign. Public files are read from a folder, and accepted only if they are
unaltered and belong to the campaign. The outcome with the shares is read from a store.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.campaign.file import CampaignFile
from confide.campaign.pack import CAMPAIGN, MANIFEST, NOTE
from confide.campaign.store.home import Home
from confide.campaign.store.states import unsettled
from confide.campaign.verification.reading import Folder, read_folder
from confide.contract.digests import canonical, digest
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput
from confide.contract.files import parse_json, reading
from confide.contract.kinds import CampaignPlan
from confide.contract.outcome import Outcome, PublicOutcome
from confide.contract.outcome_folder import public_parts, rebuild

if TYPE_CHECKING:
    from confide.campaign.store import Store

__all__ = ["existing", "public", "stored_outcome"]

_SHOWN = 3  # differing keys that a message names


def public(file: CampaignFile, plan: CampaignPlan, folder: Path) -> PublicOutcome:
    """The public part of this campaign's outcome, from the folder of its pack.

    Raises:
        InvalidInput: the folder holds the outcome of another campaign, or of an earlier version of this campaign's
            file; a file in the folder was altered; or the folder has no `campaign.json`, and its manifest has other
            parameters than this campaign.
        Refused: the folder holds no settled campaign.
    """
    if not any((folder / name).exists() for name in (NOTE, MANIFEST)):
        raise unsettled(file.path, folder.absolute(), "its public files are in another folder, name that folder with "
                                                      "--out")
    there = read_folder(folder, field="out", tables=False)
    noted = NOTE in there.files or NOTE in there.strange
    if noted:
        known = _manifest(file, there)
        if digest(there[MANIFEST]) != known:
            raise InvalidInput("manifest", f"{folder / MANIFEST} was altered",
                               f"must be the manifest that {NOTE} names")
    found = PublicOutcome(**public_parts(there.files, folder))
    if not noted and canonical(encode(found.mechanism, {})) != canonical(encode(plan.mechanism, {})):
        raise InvalidInput("out", f"{folder / MANIFEST} has other parameters than {file.path}",
                           f"must be the manifest of this campaign; if the versions of confide differ, {NOTE} must "
                           "lie beside the manifest")
    return found


def _manifest(file: CampaignFile, there: Folder) -> str:
    """The manifest's digest, as the note in the folder states it."""
    folder = there.place
    with reading("out", folder / NOTE):
        known = parse_json(there[NOTE])
        content, manifest, title = (_text(known, key) for key in ("content", "manifest", "title"))
    if content == file.digest:
        return manifest
    changed = list(_differences(_settled_document(file, there), file.document))
    what = f"this campaign, settled with another {', '.join(changed[:_SHOWN])}{', ...' * (len(changed) > _SHOWN)}"
    if title != file.title or not changed:
        what = f"the outcome of a campaign with another file, {title[:80]!r}"
    raise InvalidInput("out", f"{folder} holds {what}",
                       f"use the settled file, {folder / 'campaign.toml'}; another file is another campaign, and a "
                       "second release costs epsilon again")


def _text(known: Any, key: str) -> str:
    value = known[key]
    if not isinstance(value, str):
        raise InvalidInput(key, f"{value!r} is not a text")
    return value


def _settled_document(file: CampaignFile, there: Folder) -> dict[str, Any]:
    """The contents of the settled campaign file, with the present names of keys and values; empty where the file cannot
    be read.
    """
    try:
        with reading("out", there.place / CAMPAIGN):
            return file.words.today(tomllib.loads(there[CAMPAIGN].decode("utf-8")))
    except InvalidInput:
        return {}


def _differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """The keys with different values; places in a list count from 1."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(key), new.get(key), f"{where}.{key}" if where else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (mine, theirs) in enumerate(zip(old, new, strict=True), 1):
            yield from _differences(mine, theirs, f"{where}[{place}]")
    elif old != new:
        yield where


# ---- from a store


def stored_outcome(file: CampaignFile, store: Store | None = None) -> Outcome:
    """The outcome of a settled campaign, with its shares.

    Raises:
        Refused: the campaign is not settled in this store.
    """
    with existing(file) if store is None else nullcontext(store) as there:
        number = there.settled(file).number
        return Outcome(**rebuild(there.pack(number), there.shares(number)))


def existing(file: CampaignFile, url: str | None = None) -> Store:
    """Open the store in which a campaign was settled. No store is made. The caller closes the store, for example with
    `with`.

    Args:
        file: the campaign file.
        url: the URL of the store; default the store of `Home.default()`.

    Raises:
        Refused: the installation has no store of its own yet, so the campaign is not settled in it.
        InvalidInput: the named store does not exist.
    """
    from confide.campaign.store import Store

    found = Store.existing(url)
    if found is None:
        raise unsettled(file.path, Home.default().store_name,
                        "the campaign is settled in another store, name that store with --store")
    return found

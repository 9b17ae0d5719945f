"""A settled campaign's public files, read back from a folder: only of this campaign, only if unaltered."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confide.campaign.file import CampaignFile
from confide.campaign.pack import CAMPAIGN, MANIFEST, NOTE
from confide.campaign.verification.reading import Folder, read_folder
from confide.contract.encoding import canonical, digest, encode
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import parse_json, reading
from confide.contract.kinds import CampaignPlan
from confide.contract.outcome import PublicOutcome
from confide.contract.outcome_folder import public_parts

__all__ = ["public", "unknown", "unsettled"]

_SHOWN = 3  # differing keys that a message names


def public(file: CampaignFile, plan: CampaignPlan, folder: Path) -> PublicOutcome:
    """The public part of what this campaign left in the folder.

    Raises:
        InvalidInput: the folder holds the outcome of another campaign, or of other settings of this one, or was
            altered; without a note, a manifest whose parameters are not this campaign's.
        Refused: nothing is settled there.
    """
    if not any((folder / name).exists() for name in (NOTE, MANIFEST)):
        raise unsettled(file, folder.absolute(), "its public files lie elsewhere, name their folder with --out")
    there = read_folder(folder, field="out", tables=False)
    noted = NOTE in there.files or NOTE in there.strange
    if noted:
        known = _manifest(file, there)
        if digest(there[MANIFEST]) != known:
            raise InvalidInput("manifest", f"{folder / MANIFEST} was altered", f"must be the one that {NOTE} names")
    found = PublicOutcome(**public_parts(there.files, folder))
    if not noted and canonical(encode(found.mechanism, {})) != canonical(encode(plan.mechanism, {})):
        raise InvalidInput("out", f"{folder / MANIFEST} has other parameters than {file.path}",
                           f"must be this campaign's; where versions of confide differ, {NOTE} has to lie beside it")
    return found


def unsettled(file: CampaignFile, where: object, elsewhere: str) -> Refused:
    """Nothing is settled there. Says what to do first.

    Args:
        file: the campaign.
        where: a folder or a store.
        elsewhere: what else may be the case, and what to do then.
    """
    return Refused(f"{file.name} is not settled in {where}",
                   f"run `confide run {shlex.quote(str(file.path))}` first; if its file was changed since it was "
                   f"settled, it is another campaign; if {elsewhere}")


def unknown(where: object) -> Refused:
    """A store was never asked to settle a campaign."""
    return Refused(f"{where} does not know this campaign",
                   "before it is run, take her row out of the data file: the slots stay; if the campaign file was "
                   "changed since it was run, use the one that ran")


def _manifest(file: CampaignFile, there: Folder) -> str:
    """The digest that the note gives for the manifest."""
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
                       f"the settled file is {folder / 'campaign.toml'}; another file is another campaign, a second "
                       "release that costs epsilon again")


def _text(known: Any, key: str) -> str:
    value = known[key]
    if not isinstance(value, str):
        raise InvalidInput(key, f"{value!r} is no text")
    return value


def _settled_document(file: CampaignFile, there: Folder) -> dict[str, Any]:
    """The content of the file that was settled, in today's words; empty where it cannot be read, which is then all that
    differs.
    """
    try:
        with reading("out", there.place / CAMPAIGN):
            return file.words.today(tomllib.loads(there[CAMPAIGN].decode("utf-8")))
    except InvalidInput:
        return {}


def _differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """The keys whose values differ; places in a list count from 1."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(key), new.get(key), f"{where}.{key}" if where else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (mine, theirs) in enumerate(zip(old, new, strict=True), 1):
            yield from _differences(mine, theirs, f"{where}[{place}]")
    elif old != new:
        yield where

"""What was settled into a folder, read back: only for the campaign that it was settled from, only if unaltered."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confide.campaign.file import CampaignFile
from confide.campaign.folder import NOTE
from confide.contract.encoding import canonical, digest, encode
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import read_bytes, read_json, reading
from confide.contract.kinds import Plan
from confide.contract.outcome import FORMAT, Outcome, PublicOutcome

__all__ = ["SECOND_RELEASE", "note", "public", "settled_elsewhere", "stored", "unsettled"]

SECOND_RELEASE = ("a run with another --out is a second release of the same records and costs epsilon again; no ledger "
                  "of this version adds up several runs")

_SHOWN = 3  # differing keys that a message names


def note(file: CampaignFile, folder: Path) -> bytes:
    """What a settled folder says about itself: which campaign, by its content, and which manifest, by its bytes."""
    manifest = read_bytes("out", folder / "manifest.json")
    return canonical({"format": FORMAT, "kind": file.kind.name, "title": file.title, "content": file.digest,
                      "manifest": digest(manifest)})


def stored(file: CampaignFile, folder: Path) -> Outcome | None:
    """The outcome that this campaign left in the folder, or None.

    Raises:
        InvalidInput: the folder holds the outcome of another campaign, or of other settings of this one, or was
            altered.
    """
    if not (folder / NOTE).exists():
        return None
    return Outcome.load(folder, sha256=_manifest(file, folder))


def public(file: CampaignFile, plan: Plan, folder: Path) -> PublicOutcome:
    """The public part of what this campaign left in the folder; the files that are not public need not be there.

    Raises:
        InvalidInput: as `stored`; without a note, a manifest whose parameters are not this campaign's.
        Refused: nothing is settled there.
    """
    if (folder / NOTE).exists():
        return PublicOutcome.load(folder, sha256=_manifest(file, folder))
    if not (folder / "manifest.json").exists():
        raise unsettled(file, folder)
    found = PublicOutcome.load(folder)
    if canonical(encode(found.mechanism, {})) != canonical(encode(plan.mechanism, {})):
        raise InvalidInput("out", f"{folder / 'manifest.json'} has other parameters than {file.path}",
                           f"must be this campaign's; where versions of confide differ, {NOTE} has to lie beside it")
    return found


def settled_elsewhere(file: CampaignFile, folder: Path) -> Path | None:
    """Another usual place, `out/NAME` here, beside the file or above it, that holds an outcome; None if none does."""
    here = Path.cwd() / "out" / file.name
    above = [parent / "out" / file.name for parent in Path(os.path.abspath(file.path)).parents[:2]]
    return next((place for place in (here, *above) if (place / NOTE).exists() and place != folder.absolute()), None)


def unsettled(file: CampaignFile, folder: Path) -> Refused:
    """Nothing is settled in the folder. Says what to do first: a second run would be a second release."""
    found = settled_elsewhere(file, folder)
    if found is not None:
        remedy = f"it is settled in {found}: name that folder with --out"
    else:
        remedy = (f"if it was settled elsewhere, name that folder with --out; only if it never was, run `confide run "
                  f"{file.path}` first, because {SECOND_RELEASE}")
    return Refused(f"{file.name} is not settled in {folder.absolute()}", remedy)


def _manifest(file: CampaignFile, folder: Path) -> str:
    """The digest that the note gives for the manifest."""
    path = folder / NOTE
    known, _ = read_json("out", path)
    with reading("out", path):
        content, manifest, title = (_text(known, key) for key in ("content", "manifest", "title"))
    if content == file.digest:
        return manifest
    changed = list(_differences(_settled_document(folder), file.document))
    what = f"this campaign, settled with another {', '.join(changed[:_SHOWN])}{', ...' * (len(changed) > _SHOWN)}"
    if title != file.title or not changed:
        what = f"the outcome of a campaign with another file, {title[:80]!r}"
    raise InvalidInput("out", f"{folder} holds {what}",
                       f"the settled file is {folder / 'campaign.toml'}; {SECOND_RELEASE}")


def _text(known: Any, key: str) -> str:
    value = known[key]
    if not isinstance(value, str):
        raise InvalidInput(key, f"{value!r} is no text")
    return value


def _settled_document(folder: Path) -> dict[str, Any]:
    """The content of the file that was settled; empty where it cannot be read, which is then all that differs."""
    path = folder / "campaign.toml"
    try:
        with reading("out", path):
            return tomllib.loads(read_bytes("out", path).decode("utf-8"))
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

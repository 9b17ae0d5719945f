"""The pack of a settled campaign: public files in one folder, with a signed statement of what they are.

`campaign.json` names the campaign by its content and every other file by its SHA-256, and is signed with the operator's
key. All files of a pack are public: a folder that holds one may be published as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confide.campaign.folder import NOTE, check_empty, check_place, replace, tidy
from confide.contract.encoding import digest
from confide.contract.errors import InvalidInput
from confide.contract.outcome import FORMAT

__all__ = ["EVENTS", "NOTE", "statement", "write_pack"]

EVENTS = "events.json"


def statement(kind: str, title: str, content: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """What the operator signs."""
    return {"format": FORMAT, "kind": kind, "title": title, "content": content,
            "manifest": digest(files["manifest.json"]),
            "files": {path: digest(data) for path, data in sorted(files.items())}}


def write_pack(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a pack into its folder, in one step; nothing, where it lies there already.

    Raises:
        InvalidInput: the folder holds something else, or this pack altered.
    """
    check_place(folder)
    if (folder / NOTE).exists():
        _compare(folder, files)
        tidy(folder)
        return
    check_empty(folder)

    def write(draft: Path) -> None:
        for path, data in files.items():
            place = draft / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

    def replaceable() -> list[Path]:
        check_empty(folder)
        return []

    try:
        replace(folder, write, replaceable, private=False)
    except (InvalidInput, OSError):
        if not (folder / NOTE).exists():
            raise
        _compare(folder, files)  # another process was faster


def _compare(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        if not (folder / path).is_file() or (folder / path).read_bytes() != data:
            raise InvalidInput("out", f"{folder / path} is not what was settled",
                               "move the folder away, or choose another one with --out; the store has the outcome")

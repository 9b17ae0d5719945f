"""The gallery of studies, a page of the documentation. For each study the gallery shows a picture, the statement of the
source, a computed number with the source's number, and the command that runs the study.

`confide reproduce --all --gallery DIR` writes pictures and numbers into DIR, and a page next to that folder.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from confide.charts import DRAWS, available, to_png, to_svg
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Picture
from confide.contract.wire import from_parts, wire, wire_parts
from confide.contract.words import cause, number
from confide.evidence.catalogue import studies
from confide.evidence.reproduced import Reproduced
from confide.evidence.timings import full_times

__all__ = ["LONGEST", "NUMBERS", "GalleryEntry", "exhibits", "gallery_markdown", "shown_quick", "write_gallery"]

NUMBERS = "numbers.json"
"""Name of the file in the folder of pictures that stores the numbers and texts of the page."""

LONGEST = 90.0
"""Seconds of processor time. Where a full run of a study takes at least this time, the gallery shows the quick run."""

_SPECIAL = re.compile(r"([\\`*_\[\]<|$~])")
_ROOMS = {
    "regression": "Truthful linear regression", "channels": "Notions of privacy", "market": "A market for private bits",
    "acquisition": "Buying a mean", "queries": "Query release", "allocation": "Scarce goods",
    "programs": "Convex programs", "search": "Targeted search",
}


@wire("Exhibit", "name quick seconds day quantity published ours relation origin stand differ picture alt")
@dataclass(frozen=True, kw_only=True)
class GalleryEntry:
    """One study as the gallery shows it.

    Args:
        name: name of the study.
        quick: whether the shown numbers come from a quick run, with smaller sizes and fewer repetitions.
        seconds: duration of the shown run, in seconds.
        day: day on which the run was added to the gallery, as YYYY-MM-DD.
        quantity: name of the quantity that represents the study, from `Findings.headline`.
        published: number with which the computed number is compared; as text where the number is not finite; None where
            there is no such number.
        ours: computed number; as text where the number is not finite.
        relation: relation of the computed number to the published number, as text.
        origin: kind and place of the published number, as in `Compared`; empty where there is no such number.
        stand: number of published numbers, bounds and statements that agree with the study's results.
        differ: number of published numbers, bounds and statements that differ from the study's results.
        picture: name of the picture's file in the folder of the gallery.
        alt: description of the picture for readers who cannot see it.
    """

    name: str
    quick: bool
    seconds: float
    day: str
    quantity: str
    published: float | str | None
    ours: float | str
    relation: str
    origin: str
    stand: int
    differ: int
    picture: str
    alt: str


def shown_quick(name: str) -> bool:
    """Whether the gallery shows a quick run of a study. The gallery shows a quick run where a full run takes 90 s of
    processor time or more, or was never measured.

    Args:
        name: name of the study.

    Example:
        >>> shown_quick("regression-threshold")
        False
    """
    return full_times().seconds.get(name, LONGEST) >= LONGEST


def write_gallery(folder: Path, found: Iterable[Reproduced], day: datetime.date) -> tuple[Path, int]:
    """Write the gallery's pictures and numbers into a folder, and the gallery's page next to the folder.

    Args:
        folder: folder such as docs/gallery, whose page is docs/gallery.md. The folder is created if it does not exist.
            If the folder already holds a gallery, its entries and pictures of other studies are kept.
        found: studies with their findings. The iterable may compute each study when the study is needed.
        day: today's date.

    Returns:
        The path of the page, and the number of all studies on the page, including studies that an earlier call wrote.

    Raises:
        InvalidInput: the extra `[plots]` is not installed, the folder cannot be written, or its numbers.json was not
            written by this function.
    """
    if not available():
        raise InvalidInput("gallery", "needs vl-convert", f"{DRAWS} installs it")
    held = _held(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for gone in held.keys() - {each.name for each in studies()}:
            (folder / Path(held.pop(gone).picture).name).unlink(missing_ok=True)
        held |= {each.study.name: _exhibit(folder, each, day) for each in found}
        shown = list(held.values())
        lines = ",\n".join(json.dumps(wire_parts(each), ensure_ascii=False) for each in shown)
        (folder / NUMBERS).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        page = folder.with_suffix(".md")
        page.write_text(gallery_markdown(shown, folder.name), encoding="utf-8")
    except OSError as error:
        raise InvalidInput("gallery", f"{folder} cannot be written: {cause(error)}") from None
    return page, len(shown)


def exhibits(folder: Path) -> list[GalleryEntry]:
    """The entries that `write_gallery` stored in a gallery's folder, one for each study.

    Args:
        folder: folder that `write_gallery` wrote.
    """
    return [from_parts(GalleryEntry, each) for each in json.loads((folder / NUMBERS).read_text(encoding="utf-8"))]


def _held(folder: Path) -> dict[str, GalleryEntry]:
    """The stored entries by name; none where the folder has no gallery yet."""
    try:
        return {each.name: each for each in exhibits(folder)}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, TypeError, ValueError, LookupError, AttributeError):
        raise InvalidInput("gallery", f"{folder / NUMBERS} has other contents than a gallery's",
                           "choose another folder") from None


def _exhibit(folder: Path, found: Reproduced, day: datetime.date) -> GalleryEntry:
    picture = next(block for block in found.section().blocks if isinstance(block, Picture) and block.spec)
    drawn, pixels = (to_svg(picture.spec) or "").encode(), to_png(picture.spec, 1.5)
    kind, data = ("svg", drawn) if len(drawn) <= len(pixels) else ("png", pixels)
    name = found.study.name
    for old in folder.glob(f"{name}.*"):
        old.unlink()
    (folder / f"{name}.{kind}").write_bytes(data)
    reported = found.findings.headline
    return GalleryEntry(
        name=name, quick=found.quick, seconds=round(found.seconds, 1), day=day.isoformat(), quantity=reported.quantity,
        published=None if reported.published is None else _finite(reported.published), ours=_finite(reported.ours),
        relation=reported.stated, origin=reported.origin,
        stand=found.findings.count("stands"), differ=found.findings.count("differs"),
        picture=f"{name}.{kind}", alt=picture.alt)


def _finite(value: float) -> float | str:
    """A number for JSON, which has no infinities: an infinite or missing number becomes the page's word for it."""
    return float(value) if abs(value) < float("inf") else number(float(value))


def gallery_markdown(shown: Sequence[GalleryEntry], folder: str) -> str:
    """The gallery's page. Titles, sources and statements of the studies come from the catalogue.

    Args:
        shown: entries to show, in any order. The page lists the studies in the order of the catalogue.
        folder: path of the folder of pictures, relative to the page.

    Returns:
        Markdown.
    """
    by_name = {each.name: each for each in shown}
    lines = [
        "# Gallery", "",
        "This page shows one picture of each study. The table below the picture compares the study's first number with "
        "its counterpart in the source. If most numbers of the study differ, the table shows the first number that "
        "differs. The counterpart is a printed number, the value of a printed formula, a number read off a printed "
        "figure, or a sentence. The text below the table states the origin of the counterpart. The commands give all "
        "pictures, all numbers and the data of the pictures:", "",
        "```bash",
        "confide reproduce regression-threshold           # one study, all of its pictures and tables",
        "confide reproduce --all --quick                  # all studies, in a minute or two",
        "confide reproduce --all --gallery docs/gallery   # this page",
        "```", "",
        "Noise is simulated, and data are public or made up. A study is shown by a full run if this run takes less "
        "than a minute and a half, and by a quick run otherwise. Each entry names its run. "
        "[Studies](reference/studies.md) explains more.",
    ]
    room = ""
    for each in studies():
        if each.name not in by_name:
            continue
        it = by_name[each.name]
        if each.name.partition("-")[0] != room:
            room = each.name.partition("-")[0]
            lines += ["", f"## {_ROOMS.get(room, room.capitalize())}"]
        lines += ["", f"### {_plain(each.title)}", "", f"![{_plain(it.alt)}]({folder}/{it.picture})", "",
                  f"{_plain(each.source)}: {_plain(each.statement)}", "",
                  "| | counterpart | ours | relation |", "|---|---|---|---|",
                  f"| {_plain(it.quantity)} | {number(it.published)} | {number(it.ours)} | {_plain(it.relation)} |", "",
                  f"{_counted(it)} `confide reproduce {each.name}{' --quick' if it.quick else ''}`: {_reported(it)}."]
    return "\n".join(lines) + "\n"


def _counted(it: GalleryEntry) -> str:
    if not it.stand + it.differ:
        return "The source prints no number of its own."
    where = f"Origin of the counterpart: {_plain(it.origin)}. " if it.origin else ""
    return f"{where}Numbers, bounds and statements compared with ours: {it.stand + it.differ:,}, of which " \
           f"{it.stand:,} stand and {it.differ:,} differ."


def _reported(it: GalleryEntry) -> str:
    if not it.quick:
        return "a full run"
    full = full_times().seconds.get(it.name)
    return "a quick run" + (f"; a full run takes {number(round(full, 1) if full < 10 else round(full))} s"
                            if full is not None else "; the time of a full run was not measured")


def _plain(text: str) -> str:
    """A text with all Markdown characters escaped, so that none of it is read as markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))

"""Verification of packs that lie in memory, and what may be excused of one that passes: it says nothing else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from confide.campaign.file import parse
from confide.campaign.pack import (
    CAMPAIGN,
    EVENTS,
    MANIFEST,
    NOTE,
    PICTURES,
    REPORT,
    picture_data,
    report,
    row_files,
    sections,
    table_files,
)
from confide.campaign.report import without_pictures
from confide.campaign.verification import reading, results, verifier
from confide.campaign.verification.findings import Verification, made
from confide.campaign.verification.likeness import TINY
from confide.charts.markup import Element, elements
from confide.contract import ConfideError, InvalidInput, PublicOutcome, canonical, kind, kind_names
from confide.contract.outcome_folder import public_parts

__all__ = ["Judge", "same_drawing", "says_nothing_else"]

_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")

_FULL = 14  # letters
_HUNDREDTH = 0.01 + 1e-9  # of a pixel; the difference of two doubles is not exactly that


class Judge:
    """Verifies files in memory; plans, tables and pages of the same inputs are made once.

    Args:
        patch: of the test.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.files: Mapping[str, bytes] = {}
        patch.setattr(verifier, "read_folder", self._read)
        for it in {type(kind(name)) for name in kind_names()}:
            patch.setattr(it, "plan", _once(it.plan, lambda _, config: config.model_dump_json()))
            patch.setattr(it, "tables", _once(it.tables, lambda _, plan, outcome: (id(plan), _public(outcome))))
        patch.setattr(results, "sections", _once(
            sections, lambda file, plan, outcome: (file.digest, id(plan), _public(outcome))))

    def verify(self, files: Mapping[str, bytes]) -> Verification | None:
        """All findings; None where it is refused as a pack at all."""
        self.files = files
        try:
            return verifier.verify("pack")
        except InvalidInput:
            return None

    def passes(self, files: Mapping[str, bytes], honest: Mapping[str, bytes]) -> bool:
        """Whether nothing is broken.

        Args:
            files: of the pack.
            honest: of the pack that it was made from, where nothing is. Where the page alone is another one, the check
                of the page alone is made: no other one reads it but to compute its digest.
        """
        if files.keys() == honest.keys() and files[REPORT] != honest[REPORT] and all(
            files[path] == honest[path] for path in honest if path not in (NOTE, REPORT)
        ):
            return self._page_passes(files)
        found = self.verify(files)
        return found is not None and found.passed

    def _page_passes(self, files: Mapping[str, bytes]) -> bool:
        outcome, file = PublicOutcome(**public_parts(files)), parse(files[CAMPAIGN], Path(CAMPAIGN))
        self.files = files
        folder = self._read(Path("pack"))
        return made("report", lambda: results.report_page(folder, file, file.kind.plan(file.config), outcome, None)
                    ).verdict != "broken"

    def _read(self, place: Path) -> reading.Folder:
        return reading.Folder(place=place, field="pack", files=self.files, strange={})


def _public(outcome: PublicOutcome) -> bytes:
    return canonical(outcome.to_dict())


def _once(make: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which keeps what it returned and what it raised."""
    kept: dict[Any, Any] = {}

    def made(*given: Any) -> Any:
        at = key(*given)
        if at not in kept:
            try:
                kept[at] = (make(*given), None)
            except ConfideError as error:
                kept[at] = (None, error)
        value, refused = kept[at]
        if refused is not None:
            raise refused
        return value

    return made


def says_nothing_else(files: Mapping[str, bytes], honest: Mapping[str, bytes]) -> bool:
    """Whether a pack is what confide itself writes for its campaign file and outcome.

    An outcome or a campaign file that is another one throughout is another release: that nobody can see. Doubles may
    differ in their last digits, as another processor computes them. Drawings are those of the honest pack, but for the
    room that letters take; or all of them are left out, as by an operator without drawing software.

    Args:
        files: of the pack.
        honest: of the pack that it was made from.
    """
    outcome, file = PublicOutcome(**public_parts(files)), parse(files[CAMPAIGN], Path(CAMPAIGN))
    plan = file.kind.plan(file.config)
    manifest, columns = outcome.public()
    for mine, theirs in zip(manifest["guarantees"], json.loads(files[MANIFEST])["guarantees"], strict=True):
        if abs(mine.get("utility", 1.0)) <= TINY:
            mine["vacuous"] = theirs["vacuous"]
    tables, shown = file.kind.tables(plan, outcome), sections(file, plan, outcome)
    follows = {MANIFEST: canonical(manifest), PICTURES: picture_data(shown, files[REPORT].decode()),
               **{f"columns/{name}.arrow": data for name, data in columns.items()},
               **{path: text.encode() for path, text in table_files(tables).items()}, **row_files(tables)}
    words, drawings = without_pictures(files[REPORT].decode())
    _, known = without_pictures(honest[REPORT].decode())
    same = not any(drawings) or (len(drawings) == len(known) and all(
        one == other or (one is not None and other is not None and same_drawing(one, other))
        for one, other in zip(drawings, known, strict=True)))
    return same and words == report(file, shown, draw=False) and files.keys() == {
        *follows, CAMPAIGN, EVENTS, NOTE, REPORT} and all(
        files[path] == data or (path.endswith((".json", ".csv")) and _same_digits(files[path].decode(), data.decode()))
        for path, data in follows.items())


def same_drawing(one: str, other: str) -> bool:
    """Whether two drawings differ in nothing but room: where legend and titles stand, and which labels made way.

    A pixel's hundredth, and the tenth digit of a number for screen readers, are no difference.
    """
    tags = ("svg", "g", "path", "rect", "line", "text")
    return _same(Element("", {}, elements(one, tags)), Element("", {}, elements(other, tags)), "")


def _same(one: Element, other: Element, around: str) -> bool:
    """The same element, but for what may differ within a group of these classes."""
    if one.name != other.name or len(one.children) != len(other.children) or (
        one.attributes.keys() != other.attributes.keys()
    ):
        return False
    differ = {key for key, value in one.attributes.items() if not _close(value, other.attributes[key])}
    free = set()
    moves = [each for each in ("role-legend", "role-scope", "role-title", "role-axis-title") if each in around]
    if (moves and one.name == ("text" if "role-axis-title" in moves else "g")) or "stroke-miterlimit" in one.attributes:
        free = {"transform"}
    elif one.name == "text" and "role-axis-label" in around:
        free = {"opacity"}
    elif one.attributes.get("class") == "background":
        free = {"d"}  # it is not painted
    inner = one.attributes.get("class", around)
    return differ <= free and all(
        first == second if isinstance(first, str) or isinstance(second, str) else _same(first, second, inner)
        for first, second in zip(one.children, other.children, strict=True))


def _same_digits(one: str, other: str) -> bool:
    """Whether two texts differ in the last digits of doubles that are written in full, and in nothing else."""
    mine, theirs = _NUMBER.split(one), _NUMBER.split(other)
    return mine[::2] == theirs[::2] and all(
        a == b or (min(len(a), len(b)) >= _FULL and math.isclose(float(a), float(b), rel_tol=1e-9))
        for a, b in zip(mine[1::2], theirs[1::2], strict=True))


def _close(one: str, other: str) -> bool:
    mine, theirs = _NUMBER.split(one), _NUMBER.split(other)
    return mine[::2] == theirs[::2] and all(
        math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=_HUNDREDTH if "(" in one or one[:1] in "M-0123456789"
                     else 0.0)
        for a, b in zip(mine[1::2], theirs[1::2], strict=True))

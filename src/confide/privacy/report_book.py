"""A participant's own book of reports, which stays with the participant. The book lists the bits (yes-or-no facts) that
campaigns asked for, the privacy levels, and the reports.

The privacy level of a question is written down before a report is drawn, and the report is written down before anybody
sees it. An interrupted attempt to report still costs the privacy level of the question. A retry returns the stored
report and never a fresh draw. The levels of all reports about the same bit or data set, or to the same question, add
up. A second report of this kind is refused, unless the participant agrees to the sum of the levels. The book needs
neither the operator nor the operator's software.

Source: spec data_market section 1 (ledger).
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from confide.contract.checks import positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import check_private, locked, read_json, reading, sync
from confide.contract.wire import from_parts, wire, wire_parts

__all__ = ["EVERYBODY", "Answer", "Notion", "ReportBook", "Spent"]

EVERYBODY = "everybody"
"""The person named in an entry that is about all people, as when the reports of all people are simulated."""

Notion = Literal["epsilon", "rho"]

_FORMAT = 1


def _same(one: str, other: str) -> bool:
    """Whether two texts are the same apart from capitals and spaces."""
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


@wire("Answer", "person bit campaign level question report notion")
@dataclass(frozen=True, kw_only=True)
class Answer:
    """One question that the participant agreed to answer.

    Args:
        person: the person that the bit is about.
        bit: the public name of the bit, such as "smokes", or of the data set.
        campaign: name of the campaign that asked.
        level: the loss that a report about the bit may cause: epsilon in nats, or rho.
        question: the text of the question.
        report: the reported bit, 0 or 1; None if the attempt was interrupted between the agreement and the report.
        notion: "epsilon" for pure differential privacy, or "rho" for concentrated differential privacy.
    """

    person: str
    bit: str
    campaign: str
    level: float
    question: str = ""
    report: int | None = None
    notion: Notion = "epsilon"


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The loss that several reports together may cause.

    Args:
        level: the sum of the privacy levels of the reports.
        notion: "epsilon" if all reports are pure, otherwise "rho", in which a pure report counts as epsilon^2/2.
    """

    level: float
    notion: Notion = "epsilon"

    def __str__(self) -> str:
        return f"rho = {self.level:.6g}" if self.notion == "rho" else f"{self.level:.6g} nats"


class ReportBook:
    """A participant's book of reports in a file that only its owner can read.

    Args:
        path: the path of the file; it is created at the first report.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     book = ReportBook(Path(folder) / "reports.json")
        ...     first = book.report(person="17", bit="smokes", campaign="spring", level=1.0, draw=lambda: 1)
        ...     again = book.report(person="17", bit="smokes", campaign="spring", level=1.0, draw=lambda: 0)
        ...     first, again, str(book.spent("17", "smokes"))
        (1, 1, '1 nats')
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def answers(self) -> tuple[Answer, ...]:
        """All entries of the book, oldest first.

        Raises:
            InvalidInput: the file is not a book of reports, or others may read it.
        """
        if not self.path.exists():
            return ()
        check_private("book", self.path)
        document, _ = read_json("book", self.path)
        with reading("book", self.path):
            if document["format"] != _FORMAT:
                raise InvalidInput("format", f"{document['format']!r} is not known", f"must be {_FORMAT}")
            return tuple(from_parts(Answer, each) for each in document["answers"])

    def spent(self, person: str, bit: str, question: str = "") -> Spent:
        """The sum of the levels at which the participant agreed to report a bit. Entries are about the same bit if they
        have the same name of the bit or the same question.

        For `EVERYBODY` the result is the largest sum of any one person.
        """
        return _total(self._about(person, bit, question))

    def stored(self, person: str, campaign: str) -> int | None:
        """The participant's stored report to a campaign; None if there is no report, for example after an interrupted
        attempt.
        """
        return next((each.report for each in reversed(self.answers())
                     if (each.person, each.campaign) == (person, campaign)), None)

    def _about(self, person: str, bit: str, question: str) -> list[Answer]:
        return [each for each in self.answers()
                if (person == EVERYBODY or each.person in (person, EVERYBODY))
                and (_same(each.bit, bit) or (question and _same(each.question, question)))]

    def report(
        self, *, person: str, bit: str, campaign: str, level: float, draw: Callable[[], int],
        total: float | None = None, question: str = "", notion: Notion = "epsilon",
    ) -> int:
        """The participant's report to a campaign: the stored report if there is one, otherwise a fresh one.

        Args:
            person: the person that the bit is about.
            bit: the public name of the bit or of the data set, under which levels add up. Campaigns on the same bit or
                data set use the same name; capitals and spaces do not matter.
            campaign: name of the campaign that asks.
            level: the loss that the report may cause: epsilon in nats, or rho.
            draw: function that draws the report, 0 or 1. If there is no stored report, the function is called once,
                after the level was written down.
            total: the largest sum of levels to which the participant agrees, needed if the book has earlier entries
                under the name or the question. The sum is an epsilon if all reports are pure, otherwise a rho.
            question: the text of the question. The same words mean the same bit, whatever its name.
            notion: the notion of the level, "epsilon" or "rho". Levels of one notion add up. In a sum with a rho, an
                epsilon counts as rho = epsilon^2/2.

        Raises:
            Refused: the book has earlier entries under the name or the question, from another campaign or an
                interrupted attempt, and `total` is missing or too small.
            InvalidInput: the book cannot be read or written.
        """
        positive("level", level)
        if total is not None:
            positive("total", total)
        with self._locked():
            stored = self.stored(person, campaign)
            if stored is not None:
                return stored
            before = self._about(person, bit, question)
            agreed = Answer(person=person, bit=bit, campaign=campaign, level=level, question=question, notion=notion)
            after = _total([*before, agreed])
            if before and (total is None or total < after.level * (1.0 - 1e-6)):  # as it is printed below
                broke = any(each.campaign == campaign for each in before)
                words = "" if after.notion == "epsilon" else " of rho"
                raise Refused(
                    f"earlier reports under this data set or question cost {_total(before)} in all"
                    + (": an attempt was interrupted, and its level is spent" if broke else ""),
                    f"the levels of these reports add up: agree to a total of {_printed(after.level)}{words} or more "
                    "(`total`, or --total in a command), or do not take part")
            kept = self.answers()
            self._write((*kept, agreed))
            report = draw()
            self._write((*kept, replace(agreed, report=report)))
            return report

    def _locked(self) -> AbstractContextManager[None]:
        """A lock that admits one writer at a time, because two simultaneous writers would draw two reports."""
        return locked("book", self.path.with_suffix(".lock"))

    def _write(self, answers: tuple[Answer, ...]) -> None:
        text = json.dumps({"format": _FORMAT, "answers": [wire_parts(each) for each in answers]}, indent=1)
        descriptor, draft = tempfile.mkstemp(prefix=f".{self.path.name}-", dir=self.path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, self.path)
        sync(self.path.parent)


def _total(answers: Iterable[Answer]) -> Spent:
    """The largest sum of levels of any one person, where entries about everybody count for each person."""
    found, sums = list(answers), dict[str, list[float]]()
    pure = all(each.notion == "epsilon" for each in found)
    for each in found:
        # An epsilon-DP report is epsilon^2/2-concentrated (Bun and Steinke 2016, Proposition 1.4).
        level = each.level if pure or each.notion == "rho" else each.level**2 / 2.0
        sums.setdefault(each.person, []).append(level)
    of_all = sums.pop(EVERYBODY, [])
    most = max((math.fsum([*of_all, *own]) for own in [*sums.values(), []]), default=0.0)
    return Spent(level=most, notion="epsilon" if pure else "rho")


def _printed(level: float) -> str:
    """A level with six digits, rounded up, so that agreeing to the printed level is enough."""
    text = f"{level:.6g}"
    return text if float(text) >= level else f"{level * (1.0 + 1e-5):.6g}"

"""A participant's own book: which bits she was asked for, at which levels, and what she reported. It stays with her.

A level is written down before anything is drawn, and the report before anybody sees it. So a break costs the level, a
retry gives the stored report and never a fresh draw, and a second question about the same bit is refused until she
agrees to the sum of the levels. Nothing here needs the operator, or her software.

Source: spec data_market section 1 (ledger).
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from confide.contract.checks import positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import check_private, make_folder, read_json, reading, sync

__all__ = ["Answer", "ReportBook"]

_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One question that she agreed to.

    Args:
        person: whose bit.
        bit: its public name.
        campaign: which campaign asked.
        level: what a report about it may give away, in nats.
        report: what was reported; None where it broke off between the agreement and the report.
    """

    person: str
    bit: str
    campaign: str
    level: float
    report: int | None = None


class ReportBook:
    """The book in a file, for its owner alone.

    Args:
        path: of the file; made at the first report.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     book = ReportBook(Path(folder) / "reports.json")
        ...     first = book.report(person="17", bit="smokes", campaign="spring", level=1.0, draw=lambda: 1)
        ...     again = book.report(person="17", bit="smokes", campaign="spring", level=1.0, draw=lambda: 0)
        ...     first, again, book.spent("17", "smokes")
        (1, 1, 1.0)
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def answers(self) -> tuple[Answer, ...]:
        """Everything in the book, oldest first.

        Raises:
            InvalidInput: the file is no book, or others may read it.
        """
        if not self.path.exists():
            return ()
        check_private("book", self.path)
        document, _ = read_json("book", self.path)
        with reading("book", self.path):
            if document["format"] != _FORMAT:
                raise InvalidInput("format", f"{document['format']!r} is not known", f"must be {_FORMAT}")
            return tuple(Answer(**each) for each in document["answers"])

    def spent(self, person: str, bit: str) -> float:
        """The sum of the levels at which she agreed to be asked for a bit."""
        return math.fsum(each.level for each in self._about(person, bit))

    def _about(self, person: str, bit: str) -> list[Answer]:
        return [each for each in self.answers() if (each.person, each.bit) == (person, bit)]

    def report(
        self, *, person: str, bit: str, campaign: str, level: float, draw: Callable[[], int],
        total: float | None = None,
    ) -> int:
        """Her report to a campaign: the stored one, or a fresh one.

        Args:
            person: whose bit.
            bit: its public name: campaigns that ask for the same bit give the same.
            campaign: which one asks.
            level: what the report may give away, in nats.
            draw: makes the report; called once, after the level was written down.
            total: the sum of the levels about this bit that she agrees to, where it was asked for before.

        Raises:
            Refused: the bit was asked for before, by another campaign or in an attempt that broke off, and no total, or
                another one, was agreed to.
            InvalidInput: the book cannot be read or written.
        """
        positive("level", level)
        with self._locked():
            before = self._about(person, bit)
            stored = [each.report for each in before if each.campaign == campaign and each.report is not None]
            if stored:
                return stored[-1]
            after = math.fsum([*(each.level for each in before), level])
            if before and (total is None or not math.isclose(total, after, rel_tol=1e-9)):
                broke = any(each.campaign == campaign for each in before)
                raise Refused(
                    f"this bit was asked for before, at {after - level:.6g} in all"
                    + (": an attempt broke off, and its level is spent" if broke else ""),
                    f"levels of reports on one bit add up: agree to {after:.6g} in all (total), or take no part")
            kept = self.answers()
            agreed = Answer(person=person, bit=bit, campaign=campaign, level=level)
            self._write((*kept, agreed))
            report = draw()
            self._write((*kept, Answer(**{**asdict(agreed), "report": report})))
            return report

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time: two at once would draw twice."""
        try:
            make_folder(self.path.parent, private=True)
            descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InvalidInput("book", f"{self.path} cannot be written ({type(error).__name__})") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, answers: tuple[Answer, ...]) -> None:
        text = json.dumps({"format": _FORMAT, "answers": [asdict(each) for each in answers]}, indent=1)
        descriptor, draft = tempfile.mkstemp(prefix=f".{self.path.name}-", dir=self.path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, self.path)
        sync(self.path.parent)

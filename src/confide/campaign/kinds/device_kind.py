"""The base class of campaign kinds in which records never leave their owners. Participants answer one question with two
answers, and the participant's own device draws a randomised report from the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from confide.audit.devices import drawn_locally, to_the_collector
from confide.campaign.kinds.peoples_kind import PeoplesKind, absent, own_values
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput, Refused
from confide.contract.kinds import Collection, Progress, Trial
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table
from confide.privacy.accounting import written
from confide.privacy.losses import PureDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.response import randomized_response, response_table
from confide.tables import Category, open_table
from confide.tables.column_rows import check_typed, read_rows
from confide.tables.slot_rows import SlotRows

__all__ = ["ANSWER", "DeviceKind", "Played", "exactly"]

ANSWER = "answer"
"""Name of the form field for the participant's true answer, which stays on the device. The drawn report has another
name: the column of the campaign file.
"""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Played:
    """The result of a rehearsal: public true answers, and the reports that the participants' devices would draw from
    them.

    Args:
        truth: true answers, as a batch of records.
        reports: batch of the reports that were drawn from the true answers.
    """

    truth: Any
    reports: Any

    def __iter__(self) -> Iterator[Any]:
        yield self.reports


class DeviceKind(PeoplesKind):
    """The methods of a `LocalKind` that are the same for all questions with two answers. The participant's device draws
    the report.

    A subclass defines `columns`: one `Category` with the two answers, which is the column of the reports. The mechanism
    of a subclass must promise `PureDP` to the collector. `Mechanism.submit` takes a record of shape (1,) with the rank
    of the answer, which is 0 or 1, and returns the rank to report as an `int`, drawn by
    `confide.privacy.randomized_response` at the promised epsilon. For the record None, `submit` returns None. A page in
    the browser draws reports by randomised response without calling `submit`, so a mechanism with another law is
    refused. `run` and `decode` see only reports.

    The number of answers must be two, since the instructions for the participant's device (`LocalKind.device`) choose
    between two answers. A kind with more answers can start from `PeoplesKind`, where the operator reads records and the
    result carries the noise. For reports that are numbers, `LocalKind` has the noise law "lattice", which the kind
    `mean` uses.

    Where `config` has a table `rehearsal` (`RehearsalTable`), `confide rehearse` draws the reports of all participants.
    """

    notion: Literal["epsilon", "rho"] = "epsilon"

    def question(self, config: Any) -> str:
        """The question to participants: by default the name of the column of reports."""
        return self._role(config).column

    def trials(self, config: Any, plan: Any) -> Iterable[Trial]:
        """The trials of `PeoplesKind.trials`, after a check that `submit` draws by the same law as the pages in a
        browser.
        """
        found = super().trials(config, plan)
        self._check_law(plan)
        return found

    # ---- the participant's side

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """The form field for the participant's true answer, which stays on their own device. An empty answer means that
        the participant takes no part.
        """
        return [Field(column=ANSWER, label=self.question(config), form="choice", choices=self._role(config).levels,
                      required=False, note="Your answer does not leave your device. Leave it empty to take no part.")]

    def private(self, config: Any, plan: Any, values: Mapping[str, str]) -> tuple[Any, float]:
        """A pair: the input of `submit`, and the epsilon, in nats, that a report costs the participant. The pair is
        (None, 0) for an empty answer.
        """
        check_typed({ANSWER: "", **values}, [ANSWER])
        if not str(values.get(ANSWER, "")).strip():
            return None, 0.0
        rank, problem = Category(column=ANSWER, levels=self._role(config).levels).encode_one(values[ANSWER])
        if problem:
            raise InvalidInput("record", problem)
        return np.array([rank], dtype=np.float64), self.level(plan)

    def level(self, plan: Any) -> float:
        """The epsilon, in nats, that the mechanism promises for one report towards the collector.

        Raises:
            InvalidInput: the mechanism does not promise exactly one epsilon to the collector.
        """
        losses = {each.loss for each in to_the_collector(plan.guarantees)}
        if len(losses) != 1 or not isinstance(loss := losses.pop(), PureDP):
            name = type(plan.mechanism).__name__
            raise InvalidInput("mechanism", f"{name} does not promise exactly one epsilon to the collector",
                               "devices draw reports at this level: promise one `PureDP` to `Audience.COLLECTOR`")
        return float(loss.epsilon)

    def device(self, config: Any, plan: Any, terms: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Instructions for the participant's device: randomised response at the promised epsilon."""
        role, level = self._role(config), exactly(self.level(plan))
        return {"law": "response", "column": role.column, "input": ANSWER, "answers": list(role.levels),
                "epsilon": {"numerator": str(level.numerator), "denominator": str(level.denominator)}}

    def known(self, config: Any, plan: Any) -> Sequence[Field]:
        """The fields that the operator adds to a participant's row: none in this kind."""
        return ()

    def row(self, config: Any, identity: str, report: int | None) -> dict[str, str]:
        """The row that the participant hands in, with an empty report where they take no part."""
        role = self._role(config)
        return {self._id(config): identity, role.column: "" if report is None else role.levels[report]}

    def submission(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[int, bytes]:
        """The participant's position in the public list of ids, from 0, and the bytes of their report, from the row
        that their device made.
        """
        role = self._role(config)
        own = own_values(values, self._id(config), self.identity(config, identity))
        if own.get(role.column) == "":
            raise absent()
        return super().submission(config, plan, identity, own)

    # ---- rehearsal

    def rehearse(
        self, config: Any, plan: Any, folder: Path, noise: Noise, progress: Progress | None = None
    ) -> Collection:
        """Draw the reports of all participants from true answers that are public already.

        Returns:
            A collection whose `data` is `Played`.

        Raises:
            Refused: the campaign file names no public answers.
        """
        table = getattr(config, "rehearsal", None)
        if table is None:
            raise Refused("the campaign file has no [rehearsal]",
                          "add [rehearsal] with a source of true answers that are already public")
        answers, rejected = Category(column=table.column, levels=self._role(config).levels), dict[str, str]()
        parts = list(read_rows(open_table(table.source, folder=folder), roles=(answers,), roster=self.roster(config),
                               id=config.people.id, rejected=rejected))
        if not parts:
            raise InvalidInput("rehearsal.source", f"{table.source} has no rows", "must have one row at least")
        truth = SlotRows(np.concatenate([part.index for part in parts]), np.concatenate([part.cells for part in parts]))
        drawn = randomized_response(truth.cells[:, 0].astype(np.int64), self.level(plan), noise, stream="reports")
        reports = SlotRows(truth.index, drawn[:, None].astype(np.float64))
        return Collection(data=Played(truth=truth, reports=reports), rejected=rejected)

    def rows(self, config: Any, data: Played) -> Sequence[dict[str, str]]:
        """The rows that all participants of a rehearsal hand in. In a campaign without ids, the rows have the order of
        the public list, with an empty row for each person who takes no part.
        """
        drawn = dict(zip(data.reports.index.tolist(), data.reports.cells[:, 0].astype(int).tolist(), strict=True))
        slots = range(config.people.count) if config.people.id == "row" else sorted(drawn)
        return [self.row(config, str(slot + 1), drawn.get(slot)) for slot in slots]

    def study(self, plan: Any, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        """The study page: a table of the numbers of true answers and of reports."""
        played: Played = collection.data
        levels = self._role(plan.config).levels
        counts = [np.bincount(each.cells[:, 0].astype(int), minlength=len(levels)) for each in
                  (played.truth, played.reports)]
        rows = tuple((level, int(true), int(said)) for level, true, said in zip(levels, *counts, strict=True))
        return [Section(title="Comparison with the true answers", study=True, blocks=(
            Table(columns=("answer", "true", "reported"), rows=rows, note="The true answers are private."),))]

    # ----

    def _role(self, config: Any) -> Category:
        """The column of the reports.

        Raises:
            InvalidInput: the columns are not one question with two answers.
        """
        roles = tuple(self.columns(config))
        if len(roles) != 1 or not isinstance(roles[0], Category) or len(roles[0].levels) != 2:
            raise InvalidInput("columns", "do not have exactly one question with two answers",
                               f"{type(self).__name__} must have one Category of two levels")
        return roles[0]

    def _id(self, config: Any) -> str:
        return "id" if config.people.id == "row" else str(config.people.id)

    def _check_law(self, plan: Any) -> None:
        """Check that `submit` is randomised response at the promised level, as pages draw it: with the same odds, and
        with the drawn answer as its report.
        """
        it, odds = plan.mechanism, response_table(self.level(plan))
        law = ((odds.same, odds.other), (odds.other, odds.same))
        for rank in (0, 1):
            record, observed = np.array([float(rank)]), RecordingNoise(Noise.simulated(rank))
            report = drawn_locally(record, observed, it)
            asked = [(draw.law, draw.table, tuple(map(int, draw.center))) for draw in observed.draws]
            again = drawn_locally(record, ForcedNoise(observed.draws), it)
            if asked != [("channel", law, (rank,))] or not report == again == int(observed.draws[0].value[0]):
                raise InvalidInput("mechanism", f"{type(it).__name__}: `submit` draws by another law than "
                                                "participants' pages",
                                   "return int(randomized_response(record.astype(int), epsilon, noise, stream=...)[0]) "
                                   "with the epsilon of the promise to the collector")
        if it.submit(None) is not None:
            raise InvalidInput("mechanism", f"{type(it).__name__}: `submit(None)` does not return None",
                               "return None: a participant without a record hands in nothing")


def exactly(level: float) -> Fraction:
    """The rational epsilon at which a device draws. It is the smaller of two numbers: the exact value of the given
    double, and the shortest decimal that is read as this double.

    Args:
        level: epsilon in nats.

    Example:
        >>> exactly(1.5), exactly(0.1) == Fraction(1, 10) < Fraction(0.1)
        (Fraction(3, 2), True)
    """
    return min(written(level), Fraction(level))

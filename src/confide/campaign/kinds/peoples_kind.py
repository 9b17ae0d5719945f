"""The common part of kinds with one record per participant, found by its id on a public list.

A kind defines how one pass over a file reads records (`read`), how the values that one participant types become a
record of the same form (`typed`), and which part of a batch is a record (`one`). By default a record is a row of
numbers, read from columns with public roles. `PeoplesKind` provides everything else: ids, the operator's look at the
records, a participant's own record, and the bytes that they hand in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from confide.audit import AuditReport, AuditRow
from confide.contract.asked import Field
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.kinds import Check, Collection, Progress, ReportCodec, Trial, by_slots
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section
from confide.contract.running import Submissions
from confide.tables import Roster, TableSource, open_table
from confide.tables.cell_problems import CellProblems, Judged, ids_of, judged
from confide.tables.column_rows import Role, field_of, read_rows, typed_cells, typed_row
from confide.tables.slot_rows import CellCodec, SlotRows

__all__ = ["PeoplesKind", "absent", "own_values", "retyped"]


class PeoplesKind:
    """The part of a `Kind` that is the same for all kinds with records of people; `config` has the tables `people` and
    `data`.

    A kind may replace each hook in the following list:

    - `columns`: the public roles of a row's columns. The hooks `read`, `typed`, `one`, `codec` and `asked` belong
      together: a kind whose record is not a row of cells replaces all of them. `retyped` recovers the typed values from
      a stored record.
    - `files`: the files that the campaign file names, by default its `[data] source`.
    - `open`: opens the table that the campaign names; `look`: checks that its columns have fitting types; `judged`: the
      rules for cells, by which the operator sees faults.
    - `trials`: the synthetic participants on which a mechanism is tried out, where the plan is a `MechanismPlan`.
    - `tolerated`: the number of lies and empty slots that the promises allow for.
    - `template_file`: the path of the commented campaign file in the kind's package.
    """

    template_file = "template.toml"

    if TYPE_CHECKING:
        template: str
    else:

        @cached_property  # whether something is a kind is asked at every request, and looks at all that a kind has
        def template(self) -> str:
            """A commented campaign file to start from."""
            package = type(self).__module__.rpartition(".")[0]
            return files(package).joinpath(*self.template_file.split("/")).read_text(encoding="utf-8")

    # ---- what a kind says of its records

    def columns(self, config: Any) -> Sequence[Role]:
        """The public roles of a row's columns."""
        raise NotImplementedError(f"{type(self).__name__} does not say which `columns` it reads")

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """The form for one participant, with a field for each column."""
        return [field_of(role) for role in self.columns(config)]

    def files(self, config: Any) -> Sequence[tuple[str, str]]:
        """The files that the campaign file names, as pairs (key, value of the key)."""
        return [("data.source", config.data.source)]

    def read(
        self, config: Any, plan: Any, source: Any, *, roster: Roster, rejected: dict[str, str], counted: list[int],
        rows: int | None = None,
    ) -> Iterator[Any]:
        """Read a table once, in batches that hold the ranks of their people as `index`.

        Args:
            config: the campaign's tables.
            plan: the plan of the campaign.
            source: the result of `open`.
            roster: the public list of ids.
            rejected: a mapping that receives id -> reason for each row that gives no record.
            counted: a list that receives numbers of rows, where some rows are neither used nor rejected; their sum is
                the number of all rows.
            rows: the largest number of rows in a batch; it affects nothing but speed.
        """
        more = {} if rows is None else {"rows": rows}
        return read_rows(source, roles=self.columns(config), roster=roster, id=config.people.id, rejected=rejected,
                         **more)

    def typed(self, config: Any, plan: Any, index: int, values: Mapping[str, str]) -> Any:
        """A batch with one participant's record, in the form of `read`, from the values that the participant types.

        Args:
            config: the campaign's tables.
            plan: the plan of the campaign.
            index: the participant's position in the public list of ids, from 0.
            values: column -> text.

        Raises:
            InvalidInput: the typed values cannot be used. The message repeats private data: it is for the participant
                alone.
        """
        return SlotRows(np.array([index]), typed_row(values, self.columns(config))[None])

    def retyped(self, config: Any, plan: Any, batch: Any) -> Mapping[str, str | float]:
        """Mapping from column to the text that the participant may have typed, recovered from a batch that holds their
        record alone.

        The function `retyped` verifies the recovered texts: it shows the participant only texts that give the same
        stored record again.

        Raises:
            NotImplementedError: the kind stores something else than rows of cells, and does not define this hook.
        """
        if not isinstance(batch, SlotRows):
            raise NotImplementedError(f"{type(self).__name__} does not give the typed fields of {type(batch).__name__}")
        return typed_cells(batch.cells[0].tolist(), self.columns(config))

    def one(self, plan: Any, batch: Any, place: int) -> Any:
        """One record of a batch, in the form that `Mechanism.decode` takes."""
        return np.array(batch.cells[place])

    def codec(self, plan: Any) -> ReportCodec:
        """The codec that stores a row as its cells."""
        return CellCodec(len(self.columns(plan.config)))

    def open(self, config: Any, folder: Path) -> Any:
        """The table that the campaign names."""
        return open_table(config.data.source, folder=folder)

    def look(self, config: Any, plan: Any, source: Any) -> None:
        """Raise `InvalidInput` at once if a column is missing or has a wrong type; values are not checked."""
        next(iter(self.read(config, plan, source, roster=self.roster(config), rejected={}, counted=[], rows=1)), None)

    def tolerated(self, config: Any) -> int | None:
        """The number of lies and empty slots that the promises allow for; None where no such limit is needed."""
        return None

    # ---- ids

    def roster(self, config: Any) -> Roster:
        """The public list of ids."""
        return Roster(config.people.count)

    def identities(self, config: Any) -> Sequence[str]:
        """The ids of all slots: "1", "2", and so on."""
        return [str(rank) for rank in range(1, config.people.count + 1)]

    def identity(self, config: Any, text: str) -> str:
        """The id as it is spelled on the public list."""
        roster = self.roster(config)
        return roster.identity(roster.rank(text))

    def payouts(self, plan: Any) -> PayoutTerms | None:
        """The payment terms in the `pays` of a `MechanismPlan`; None for any other plan, which pays nothing."""
        terms: PayoutTerms | None = getattr(plan, "pays", None)
        return terms

    # ---- records

    def judged(self, config: Any, plan: Any) -> Sequence[Judged]:
        """The rules for cells, by which the operator sees faults in the cells; by default the rules that follow from
        `columns`.
        """
        try:
            roles = self.columns(config)
        except NotImplementedError:
            return ()
        return [*judged(roles), *ids_of(self.roster(config), config.people.id)]

    def submissions(
        self, config: Any, plan: Any, folder: Path, progress: Progress | None = None
    ) -> Any:
        """The file that a campaign names, with its columns checked; each iteration reads its rows.

        Returns:
            `Submissions`, or another object that iterates over batches and has `rejected`.

        Raises:
            InvalidInput: the file cannot be read, or a column is missing or of a wrong type.
        """
        return self._submitted(config, plan, folder, progress, CellProblems(()))

    def _submitted(
        self, config: Any, plan: Any, folder: Path, progress: Progress | None, problems: CellProblems
    ) -> Submissions:
        source = self.open(config, folder)
        self.look(config, plan, source)
        if progress is not None and isinstance(source, TableSource):
            source = source.watched(by_slots(progress, config.people.count))
        if problems.columns and isinstance(source, TableSource):
            source = problems.of(source)
        roster = self.roster(config)
        return Submissions(reading=lambda rejected, counted: self.read(
            config, plan, source, roster=roster, rejected=rejected, counted=counted))

    def collect(self, config: Any, plan: Any, folder: Path, progress: Progress | None = None) -> Collection:
        """Open the file and check its columns; the run reads the rows later."""
        data = self.submissions(config, plan, folder, progress)
        return Collection(data=data, rejected=data.rejected)

    def check(self, config: Any, plan: Any, folder: Path, progress: Progress | None = None) -> Check:
        """Read the file once, and return the findings for the operator alone."""
        problems = CellProblems(self.judged(config, plan))
        data = self._submitted(config, plan, folder, progress, problems)
        usable = sum(len(batch.index) for batch in data)
        return Check(slots=config.people.count, rows=data.rows(usable), usable=usable, rejected=dict(data.rejected),
                     tolerated=self.tolerated(config), cells=problems.reported())

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[Any, int]:
        """One participant's record and index; the record is None where the file has no usable record of the
        participant.
        """
        index = self.roster(config).rank(identity)
        for batch in self.submissions(config, plan, folder):
            found = np.flatnonzero(batch.index == index)
            if found.size:
                return self.one(plan, batch, int(found[0])), index
        return None, index

    def parse_record(
        self, config: Any, plan: Any, identity: str, values: Mapping[str, str]
    ) -> tuple[Any, int]:
        """The record from the values that a participant types, coded as a row of the file would be, and the
        participant's index.
        """
        index = self.roster(config).rank(identity)
        return self.one(plan, self.typed(config, plan, index, values), 0), index

    def submission(
        self, config: Any, plan: Any, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """One participant's slot, and the bytes of their report, which equal the stored form of the same row in a file.

        Args:
            config: the campaign's tables.
            plan: the plan of the campaign.
            identity: the participant's id.
            values: column -> text, as in `parse_record`; where the participant's device draws the report, the device's
                row.

        Raises:
            InvalidInput: the values cannot be used. The message repeats private data: it is for the participant alone.
            Refused: the participant takes no part, so that there is nothing to store.
        """
        index = self.roster(config).rank(identity)
        slots, reports = self.codec(plan).pack(self.typed(config, plan, index, values))
        if not reports:
            raise absent()
        return int(slots[0]), reports[0]

    # ---- of a kind whose plan is a `MechanismPlan`

    def trials(self, config: Any, plan: Any) -> Iterable[Trial]:
        """Synthetic participants on which the mechanism is tried out before a campaign is planned.

        A mechanism has trials only where the plan is a `MechanismPlan`. The kinds of confide itself have other plans,
        and their mechanisms have tests of their own.

        Raises:
            InvalidInput: the mechanism promises something to the collector that `submit` cannot keep.
        """
        from confide.audit.devices import check_devices
        from confide.campaign.kinds.mechanism_plan import MechanismPlan, made_up

        if not isinstance(plan, MechanismPlan):
            return ()
        cells = all(getattr(type(self), name) is getattr(PeoplesKind, name) for name in ("one", "codec"))
        if cells:
            check_devices(self, plan.mechanism, self.columns(config))
        return made_up(self, config, plan, cells=cells)

    def result(self, plan: Any, outcome: PublicOutcome | SimulatedOutcome) -> Sequence[Section]:
        """The public result as a table, and the promises about it."""
        from confide.campaign.kinds.mechanism_plan import result_sections

        return result_sections(outcome, next(iter(self.tables(plan, outcome).values())), self.payouts(plan))

    def tables(self, plan: Any, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]:
        """The table `billboard`: the numbers and lists of the billboard as columns."""
        from confide.campaign.kinds.mechanism_plan import board_table

        return {"billboard": board_table(outcome.billboard)}

    def explain(
        self, plan: Any, outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int
    ) -> Sequence[Section]:
        """One participant's share, and its inputs."""
        from confide.campaign.kinds.mechanism_plan import explain_sections

        return explain_sections(outcome, record, index, plan.share, plan.share_depends_on, self.payouts(plan))

    def study(self, plan: Any, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        """A comparison of the result with the result without noise."""
        from confide.campaign.kinds.mechanism_plan import study_sections

        return study_sections(collection, outcome, partial(self.tables, plan))

    def measured(self, plan: Any, seed: int) -> Sequence[AuditRow]:
        """Further rows of the audit, on promises other than privacy; each row holds its promise."""
        return ()

    def audit(self, plan: Any, seed: int, progress: Progress | None = None) -> AuditReport:
        """Compare promised figures with measured ones, and check that injected faults are flagged. No participant's
        record is used.
        """
        from confide.audit.mechanism_audit import audit_mechanism

        return audit_mechanism(plan.mechanism, self.columns(plan.config), plan.config.people.count, seed, progress,
                               self.measured(plan, seed))


def absent() -> Refused:
    """The refusal of a record from a person who takes no part."""
    return Refused("a person who takes no part hands in nothing", "withdraw to take back an earlier record")


def own_values(values: Mapping[str, str], column: str, identity: str) -> dict[str, str]:
    """A row of a file without its id, after a check that the id is the participant's own.

    Args:
        values: column -> text.
        column: the column of the ids.
        identity: the participant's id, as it is spelled on the public list.

    Raises:
        InvalidInput: the row is another participant's.

    Example:
        >>> own_values({"id": "7", "report": "yes"}, "id", "7")
        {'report': 'yes'}
    """
    if str(values.get(column, identity)).strip() != identity:
        raise InvalidInput(column, "is the id of another participant",
                           "hand in the row that the device made for this id")
    return {name: text for name, text in values.items() if name != column}


_DIGITS = (6, 9, 12, 15, 17)  # the fewest that do; 17 give every double


def retyped(kind: Any, config: Any, plan: Any, identity: str, report: bytes) -> dict[str, str] | None:
    """Mapping from column to a text that the participant could have typed. The result is None where the kind recovers
    no texts that give the same stored report.

    Args:
        kind: a `Kind`; for a kind without the hook `retyped` (of `PeoplesKind`) the result is None.
        config: the campaign's tables.
        plan: the plan of the campaign.
        identity: the participant's id.
        report: the stored report of the participant, as `Kind.submission` gave it. The report is private, and so is the
            result.

    Example:
        >>> import tomllib
        >>> from confide.contract.kinds import kind
        >>> it = kind("matching")
        >>> tables = {name: table for name, table in tomllib.loads(it.template).items() if isinstance(table, dict)}
        >>> config = it.config.model_validate({name: tables[name] for name in tables if name != "budget"})
        >>> plan = it.plan(config)
        >>> _, report = it.submission(config, plan, "7", {"law": "33.3", "music": "100"})
        >>> retyped(it, config, plan, "7", report)
        {'law': '33.3', 'music': '100'}
    """
    if not hasattr(kind, "retyped"):
        return None  # a kind of one's own, made from nothing
    slot = kind.roster(config).rank(identity)
    try:
        batch = kind.codec(plan).unpack(np.array([slot]), [report])
        said: Mapping[str, str | float] = kind.retyped(config, plan, batch)
    except (ConfideError, NotImplementedError):
        return None  # a kind that stores something else, or bytes that it does not know
    for digits in _DIGITS:
        texts = {name: text if isinstance(text, str) else _short(text, digits) for name, text in said.items()}
        try:
            if kind.submission(config, plan, identity, texts) == (slot, report):
                return texts
        except ConfideError:
            continue
    return None


def _short(value: float, digits: int) -> str:
    text = f"{value + 0.0:.{digits}g}"
    return text if "e" not in text else repr(float(text))

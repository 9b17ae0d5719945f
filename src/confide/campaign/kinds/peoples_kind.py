"""The base class of campaign kinds with one record for each participant on a public list of ids.

A kind defines how one pass over a file reads records (`read`), how the values that one participant types become a
record of the same form (`typed`), and how one record is taken from a batch (`one`). By default a record is a row of
numbers, read from columns with public roles. `PeoplesKind` provides everything else: the list of ids, the operator's
check of the records, a participant's own record, and the bytes that a participant hands in.
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
    """The methods of a `Kind` that are the same for all kinds with one record for each participant. The campaign file
    needs the tables `people` and `data`.

    A kind may replace each hook in the following list:

    - `columns`: the public roles of a row's columns. The hooks `read`, `typed`, `one`, `codec` and `asked` belong
      together: a kind whose record is not a row of cells replaces all five hooks. The hook `retyped` recovers the typed
      values from a stored record.
    - `files`: the files that the campaign file names, by default its `[data] source`.
    - `open`: opens the table that the campaign file names. `look`: checks that the columns of this table have the right
      types. `judged`: gives the rules that the cells of the table must keep.
    - `trials`: the synthetic participants on which the mechanism is tried out, if the plan is a `MechanismPlan`.
    - `tolerated`: the number of lies and empty slots up to which the promises hold.
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
        """The public roles of the columns of a record, in order: for example a number with bounds, or a category with
        levels.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which `columns` it reads")

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """The form for one participant, with a field for each column of a record."""
        return [field_of(role) for role in self.columns(config)]

    def files(self, config: Any) -> Sequence[tuple[str, str]]:
        """The files that the campaign file names, as pairs of the key and the path or data set that the key holds."""
        return [("data.source", config.data.source)]

    def read(
        self, config: Any, plan: Any, source: Any, *, roster: Roster, rejected: dict[str, str], counted: list[int],
        rows: int | None = None,
    ) -> Iterator[Any]:
        """Read a table once, in batches. The field `index` of a batch has the positions, in the public list of ids, of
        the people in this batch.

        Args:
            config: tables of the campaign file.
            plan: plan of the campaign.
            source: table, as returned by `open`.
            roster: public list of ids.
            rejected: mapping that receives the id and the reason for each row that gives no record.
            counted: list that receives counts of rows. It stays empty if every row is either used or rejected;
                otherwise the counts add up to the number of all rows.
            rows: largest number of rows in a batch; affects speed only.
        """
        more = {} if rows is None else {"rows": rows}
        return read_rows(source, roles=self.columns(config), roster=roster, id=config.people.id, rejected=rejected,
                         **more)

    def typed(self, config: Any, plan: Any, index: int, values: Mapping[str, str]) -> Any:
        """A batch with the record of one participant, made from the values that the participant types. The batch has
        the same form as a batch of `read`.

        Args:
            config: tables of the campaign file.
            plan: plan of the campaign.
            index: position of the participant in the public list of ids, from 0.
            values: mapping from the name of a column to the typed text.

        Raises:
            InvalidInput: the typed values cannot be used. The message repeats private data: it is for the participant
                alone.
        """
        return SlotRows(np.array([index]), typed_row(values, self.columns(config))[None])

    def retyped(self, config: Any, plan: Any, batch: Any) -> Mapping[str, str | float]:
        """Mapping from column to the text that the participant may have typed, recovered from a batch with this
        participant's record alone.

        The function `retyped` of this module checks the recovered texts. Only texts that give the same stored record
        again are shown to the participant.

        Raises:
            NotImplementedError: the kind does not store rows of cells, and does not define this hook.
        """
        if not isinstance(batch, SlotRows):
            raise NotImplementedError(f"{type(self).__name__} does not give the typed fields of {type(batch).__name__}")
        return typed_cells(batch.cells[0].tolist(), self.columns(config))

    def one(self, plan: Any, batch: Any, place: int) -> Any:
        """The record at position `place` of a batch, in the form that `Mechanism.decode` takes."""
        return np.array(batch.cells[place])

    def codec(self, plan: Any) -> ReportCodec:
        """The codec that stores a record as bytes, cell by cell."""
        return CellCodec(len(self.columns(plan.config)))

    def open(self, config: Any, folder: Path) -> Any:
        """Open the table that the campaign file names."""
        return open_table(config.data.source, folder=folder)

    def look(self, config: Any, plan: Any, source: Any) -> None:
        """Raise `InvalidInput` at once if a column is missing or has a wrong type; values are not checked."""
        next(iter(self.read(config, plan, source, roster=self.roster(config), rejected={}, counted=[], rows=1)), None)

    def tolerated(self, config: Any) -> int | None:
        """The largest number of lies and empty slots (invited people without a record) up to which the promises hold;
        None where the promises set no such limit.
        """
        return None

    # ---- ids

    def roster(self, config: Any) -> Roster:
        """The public list of ids, with one position for each invited person."""
        return Roster(config.people.count)

    def identities(self, config: Any) -> Sequence[str]:
        """The ids of all invited people in order: "1", "2", and so on."""
        return [str(rank) for rank in range(1, config.people.count + 1)]

    def identity(self, config: Any, text: str) -> str:
        """The given id, in the spelling of the public list."""
        roster = self.roster(config)
        return roster.identity(roster.rank(text))

    def payouts(self, plan: Any) -> PayoutTerms | None:
        """The terms of the payments, from the field `pays` of a `MechanismPlan`; None where nothing is paid."""
        terms: PayoutTerms | None = getattr(plan, "pays", None)
        return terms

    # ---- records

    def judged(self, config: Any, plan: Any) -> Sequence[Judged]:
        """The rules that cells of the file must keep. `check` reports the cells that break a rule. By default the rules
        follow from `columns`.
        """
        try:
            roles = self.columns(config)
        except NotImplementedError:
            return ()
        return [*judged(roles), *ids_of(self.roster(config), config.people.id)]

    def submissions(
        self, config: Any, plan: Any, folder: Path, progress: Progress | None = None
    ) -> Any:
        """The records in the file that the campaign file names. The columns are checked at once, and each iteration
        reads the rows.

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
        """Open the file of records and check its columns. The rows are read later, during the run."""
        data = self.submissions(config, plan, folder, progress)
        return Collection(data=data, rejected=data.rejected)

    def check(self, config: Any, plan: Any, folder: Path, progress: Progress | None = None) -> Check:
        """Read the file of records once, and return the findings, which are for the operator alone."""
        problems = CellProblems(self.judged(config, plan))
        data = self._submitted(config, plan, folder, progress, problems)
        usable = sum(len(batch.index) for batch in data)
        return Check(slots=config.people.count, rows=data.rows(usable), usable=usable, rejected=dict(data.rejected),
                     tolerated=self.tolerated(config), cells=problems.reported())

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[Any, int]:
        """The pair of one participant's record and the participant's position in the public list of ids, from 0. The
        record is None where the file has no usable record of the participant.
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
        """The pair of a record, from the values that the participant types, and the participant's position in the
        public list of ids, from 0. The record is coded as a row of the file would be.
        """
        index = self.roster(config).rank(identity)
        return self.one(plan, self.typed(config, plan, index, values), 0), index

    def submission(
        self, config: Any, plan: Any, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """The pair of one participant's position in the public list of ids, from 0, and the bytes of their report. The
        same row in a file is stored as the same bytes.

        Args:
            config: tables of the campaign file.
            plan: plan of the campaign.
            identity: id of the participant.
            values: mapping from column to the text that the participant typed. Where the participant's device draws the
                report, the values are the row that the device made.

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
        """The trials of the mechanism on synthetic participants, which are made before a campaign is planned.

        A mechanism has trials only if the plan is a `MechanismPlan`. The kinds that confide ships have other plans, and
        the mechanisms of these kinds have tests of their own.

        Raises:
            InvalidInput: the mechanism promises privacy towards the collector, but its method `submit` does not keep
                this promise or is never called.
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
        """The result page: the public result as a table, and the promises of the mechanism."""
        from confide.campaign.kinds.mechanism_plan import result_sections

        return result_sections(outcome, next(iter(self.tables(plan, outcome).values())), self.payouts(plan))

    def tables(self, plan: Any, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]:
        """The table `billboard`: the numbers and lists of the public billboard, as columns."""
        from confide.campaign.kinds.mechanism_plan import board_table

        return {"billboard": board_table(outcome.billboard)}

    def explain(
        self, plan: Any, outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int
    ) -> Sequence[Section]:
        """One participant's page: their share, and the inputs from which the share follows."""
        from confide.campaign.kinds.mechanism_plan import explain_sections

        return explain_sections(outcome, record, index, plan.share, plan.share_depends_on, self.payouts(plan))

    def study(self, plan: Any, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        """The study page: a comparison of the result with the result without noise."""
        from confide.campaign.kinds.mechanism_plan import study_sections

        return study_sections(collection, outcome, partial(self.tables, plan))

    def measured(self, plan: Any, seed: int) -> Sequence[AuditRow]:
        """Further measurements for the audit, on promises other than privacy. Each row names the promise that was
        measured.
        """
        return ()

    def audit(self, plan: Any, seed: int, progress: Progress | None = None) -> AuditReport:
        """Compare promised figures with measured ones, and check that the audit flags mechanisms with an injected
        fault. No participant's record is used.
        """
        from confide.audit.mechanism_audit import audit_mechanism

        return audit_mechanism(plan.mechanism, self.columns(plan.config), plan.config.people.count, seed, progress,
                               self.measured(plan, seed))


def absent() -> Refused:
    """The refusal of a record from a person who takes no part."""
    return Refused("a person who takes no part hands in nothing", "withdraw to take back an earlier record")


def own_values(values: Mapping[str, str], column: str, identity: str) -> dict[str, str]:
    """The values of a row without the column of ids, after a check that the row has the participant's own id.

    Args:
        values: mapping from the name of a column to the typed text.
        column: name of the column of ids.
        identity: id of the participant, in the spelling of the public list.

    Raises:
        InvalidInput: the row has the id of another participant.

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
    """Mapping from column to a text that the participant could have typed to get this stored report. The result is None
    if the kind finds no texts that give the same stored report again.

    Args:
        kind: kind of the campaign; for a kind without the hook `PeoplesKind.retyped`, the result is None.
        config: tables of the campaign file.
        plan: plan of the campaign.
        identity: id of the participant.
        report: stored report of the participant, as returned by `Kind.submission`. The report and the result are
            private.

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

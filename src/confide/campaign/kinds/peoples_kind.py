"""The common part of kinds with records that are people's own: one each, by a public list of ids.

`PeoplesKind` is the part of a `Kind` that follows from that. A kind says how one pass over a file goes (`read`), how
one person's own words become the same thing (`typed`), and what of it is a record (`one`); by default columns with
public roles are read, a row of numbers for each person. Everything else is here: ids, the operator's look, a person's
own record, and the bytes that they hand in.
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
    """The part of a `Kind` that follows from people's records; `config` has the tables `people` and `data`.

    Its hooks, each of which a kind may replace:

    - `columns`: the public roles of a row's columns. `read`, `typed`, `one`, `codec` and `asked` go together, and are
      replaced together where a record is anything else than a row of cells; `retyped` says what of it they typed.
    - `files`: what the campaign file names besides its `[data] source`.
    - `open`: the table that the campaign names; `look`: whether its columns can hold what they are for; `judged`: how
      the operator sees the faults of cells.
    - `trials`: the made-up crowds on which a mechanism is tried out, where the plan is a `MechanismPlan`.
    - `tolerated`: how many lies and empty slots the promises allow for.
    - `template_file`: of the kind's package, the commented campaign file.
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
        """The form of one participant: a field for each column, by its role."""
        return [field_of(role) for role in self.columns(config)]

    def files(self, config: Any) -> Sequence[tuple[str, str]]:
        """The files that the campaign file names, as pairs (key, value of the key)."""
        return [("data.source", config.data.source)]

    def read(
        self, config: Any, plan: Any, source: Any, *, roster: Roster, rejected: dict[str, str], counted: list[int],
        rows: int | None = None,
    ) -> Iterator[Any]:
        """One pass over a table, as batches with the ranks of their people as `index`.

        Args:
            config: the campaign's tables.
            plan: the plan of the campaign.
            source: the result of `open`.
            roster: the public list of ids.
            rejected: a mapping that receives id -> reason of the rows that give no record.
            counted: a mapping that receives numbers that add up to all rows, where some are neither used nor rejected.
            rows: the number of rows of a batch, at most; it changes nothing but speed.
        """
        more = {} if rows is None else {"rows": rows}
        return read_rows(source, roles=self.columns(config), roster=roster, id=config.people.id, rejected=rejected,
                         **more)

    def typed(self, config: Any, plan: Any, index: int, values: Mapping[str, str]) -> Any:
        """A batch of one person's record, as in `read`, from the values that they type.

        Args:
            config: the campaign's tables.
            plan: the plan of the campaign.
            index: the participant's rank in the public list of ids.
            values: column -> text.

        Raises:
            InvalidInput: what the participant typed cannot be used. The message is theirs.
        """
        return SlotRows(np.array([index]), typed_row(values, self.columns(config))[None])

    def retyped(self, config: Any, plan: Any, batch: Any) -> Mapping[str, str | float]:
        """Map column -> the text that the participant may have typed, from the batch of their record alone: as `typed`
        made it. Whoever asks tries it out, as the function `retyped` does: where it is coded otherwise, they are shown
        nothing.

        Raises:
            NotImplementedError: the kind stores something else than rows of cells, and does not say what was typed.
        """
        if not isinstance(batch, SlotRows):
            raise NotImplementedError(f"{type(self).__name__} does not give the typed fields of {type(batch).__name__}")
        return typed_cells(batch.cells[0].tolist(), self.columns(config))

    def one(self, plan: Any, batch: Any, place: int) -> Any:
        """One record of a batch, as `Mechanism.decode` takes it."""
        return np.array(batch.cells[place])

    def codec(self, plan: Any) -> ReportCodec:
        """A row is stored as its cells."""
        return CellCodec(len(self.columns(plan.config)))

    def open(self, config: Any, folder: Path) -> Any:
        """The table that the campaign names."""
        return open_table(config.data.source, folder=folder)

    def look(self, config: Any, plan: Any, source: Any) -> None:
        """Raise `InvalidInput` now if a column is missing or of a wrong type; looks at types, not at values."""
        next(iter(self.read(config, plan, source, roster=self.roster(config), rejected={}, counted=[], rows=1)), None)

    def tolerated(self, config: Any) -> int | None:
        """The number of lies and empty slots that the promises allow for; None where they speak of those who take
        part.
        """
        return None

    # ---- ids

    def roster(self, config: Any) -> Roster:
        """The public list of ids."""
        return Roster(config.people.count)

    def identities(self, config: Any) -> Sequence[str]:
        """The ids of all slots: "1", "2", ...."""
        return [str(rank) for rank in range(1, config.people.count + 1)]

    def identity(self, config: Any, text: str) -> str:
        """The id as it stands on the public list."""
        roster = self.roster(config)
        return roster.identity(roster.rank(text))

    def payouts(self, plan: Any) -> PayoutTerms | None:
        """The terms that the plan gives in `pays`, where it is a `MechanismPlan`; otherwise nothing is paid out."""
        terms: PayoutTerms | None = getattr(plan, "pays", None)
        return terms

    # ---- records

    def judged(self, config: Any, plan: Any) -> Sequence[Judged]:
        """The rules for cells, so that the operator sees their faults; by default those of `columns`."""
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
            `Submissions`, or what has batches and `rejected` as they do.

        Raises:
            InvalidInput: it cannot be read, or a column is missing or of a wrong type.
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
        """Open the file and check its columns; rows are read by the run."""
        data = self.submissions(config, plan, folder, progress)
        return Collection(data=data, rejected=data.rejected)

    def check(self, config: Any, plan: Any, folder: Path, progress: Progress | None = None) -> Check:
        """One pass over the file, for the operator alone."""
        problems = CellProblems(self.judged(config, plan))
        data = self._submitted(config, plan, folder, progress, problems)
        usable = sum(len(batch.index) for batch in data)
        return Check(slots=config.people.count, rows=data.rows(usable), usable=usable, rejected=dict(data.rejected),
                     tolerated=self.tolerated(config), cells=problems.reported())

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[Any, int]:
        """One participant's record as they handed it in (None where none is usable), and their index."""
        index = self.roster(config).rank(identity)
        for batch in self.submissions(config, plan, folder):
            found = np.flatnonzero(batch.index == index)
            if found.size:
                return self.one(plan, batch, int(found[0])), index
        return None, index

    def parse_record(
        self, config: Any, plan: Any, identity: str, values: Mapping[str, str]
    ) -> tuple[Any, int]:
        """A record as its owner types it, coded as the file's row would be, and their index."""
        index = self.roster(config).rank(identity)
        return self.one(plan, self.typed(config, plan, index, values), 0), index

    def submission(
        self, config: Any, plan: Any, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """The slot and the report that one participant hands in: the bytes that a file with this row would be stored
        as.

        Args:
            config: the campaign's tables.
            plan: the plan of the campaign.
            identity: the participant's id.
            values: column -> text, as in `parse_record`; where the participant's device draws what they hand in, its
                row.

        Raises:
            InvalidInput: what the participant hands in cannot be used. The message is theirs.
            Refused: the participant takes no part, so that there is nothing to store.
        """
        index = self.roster(config).rank(identity)
        slots, reports = self.codec(plan).pack(self.typed(config, plan, index, values))
        if not reports:
            raise absent()
        return int(slots[0]), reports[0]

    # ---- of a kind whose plan is a `MechanismPlan`

    def trials(self, config: Any, plan: Any) -> Iterable[Trial]:
        """Made-up crowds on which the mechanism is tried out before a campaign is planned; none where the plan is
        another one, as of the kinds of confide itself, which are tested.

        Raises:
            InvalidInput: a promise to the collector that `submit` cannot keep.
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
        """The public result as a table, and what is promised of it."""
        from confide.campaign.kinds.mechanism_plan import result_sections

        return result_sections(outcome, next(iter(self.tables(plan, outcome).values())), self.payouts(plan))

    def tables(self, plan: Any, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]:
        """`billboard`: its numbers and lists side by side."""
        from confide.campaign.kinds.mechanism_plan import board_table

        return {"billboard": board_table(outcome.billboard)}

    def explain(
        self, plan: Any, outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int
    ) -> Sequence[Section]:
        """One participant's share, and its inputs."""
        from confide.campaign.kinds.mechanism_plan import explain_sections

        return explain_sections(outcome, record, index, plan.share, plan.share_depends_on, self.payouts(plan))

    def study(self, plan: Any, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        """The released result beside the one without any noise."""
        from confide.campaign.kinds.mechanism_plan import study_sections

        return study_sections(collection, outcome, partial(self.tables, plan))

    def measured(self, plan: Any, seed: int) -> Sequence[AuditRow]:
        """Rows of the audit on what is promised besides privacy; each holding its promise."""
        return ()

    def audit(self, plan: Any, seed: int, progress: Progress | None = None) -> AuditReport:
        """Compare promised with measured, with mutants; no participant's record is used."""
        from confide.audit.mechanism_audit import audit_mechanism

        return audit_mechanism(plan.mechanism, self.columns(plan.config), plan.config.people.count, seed, progress,
                               self.measured(plan, seed))


def absent() -> Refused:
    """The refusal for a person who takes no part, where they would hand something in."""
    return Refused("a person who takes no part hands in nothing", "to take back an earlier record, withdraw")


def own_values(values: Mapping[str, str], column: str, identity: str) -> dict[str, str]:
    """A row of a file without its id, which must be the participant's own.

    Args:
        values: column -> text.
        column: the column of the ids.
        identity: the participant's own identity, as it stands on the public list.

    Raises:
        InvalidInput: the row is another participant's.

    Example:
        >>> own_values({"id": "7", "report": "yes"}, "id", "7")
        {'report': 'yes'}
    """
    if str(values.get(column, identity)).strip() != identity:
        raise InvalidInput(column, "is another participant's", "hand in the row that was made for this id")
    return {name: text for name, text in values.items() if name != column}


_DIGITS = (6, 9, 12, 15, 17)  # the fewest that do; 17 give every double


def retyped(kind: Any, config: Any, plan: Any, identity: str, report: bytes) -> dict[str, str] | None:
    """Map column -> text, as the participant could have typed it; None where nothing that the kind says of it gives the
    same record.

    Args:
        kind: a `Kind`; one without the hook `retyped` (of `PeoplesKind`) says nothing.
        config: the campaign's tables.
        plan: the plan of the campaign.
        identity: the participant's own identity.
        report: the stored report of the participant, as `Kind.submission` gave it. Private, as is the result.

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

"""Campaign kinds: a family's interface to campaigns and commands, found by the entry point `confide.kinds`.

A package outside confide adds a kind in the same way: an entry point that names a `Kind`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.guarantees import Guarantees
from confide.contract.mechanism import Mechanism, NoiseSource, Progress
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section
from confide.contract.renamed import renamed
from confide.contract.words import did_you_mean, fault

__all__ = [
    "CampaignPlan",
    "Check",
    "Collection",
    "ContractKind",
    "HandingKind",
    "HeldData",
    "Kind",
    "LocalKind",
    "NarrowedKind",
    "PausingKind",
    "Progress",
    "ReportCodec",
    "RewordedKind",
    "Trial",
    "TriedKind",
    "as_rows",
    "by_slots",
    "is_rows",
    "kind",
    "kind_names",
    "may_wait",
    "summaries",
    "types_of",
]

_ROWS = {b"confide": b"rows"}



class ReportCodec(Protocol):
    """How a kind's reports are stored: one participant's bytes are a function of their report alone."""

    def pack(self, batch: Any) -> tuple[np.ndarray, list[bytes]]:
        """The slots and the reports of one batch of a collection."""
        ...

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Any:
        """A batch as the mechanism's run takes it."""
        ...


class CampaignPlan(Protocol):
    """The predicted outcome of a campaign, from the public parameters of its file alone."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def guarantees(self) -> Guarantees: ...

    def sections(self) -> Sequence[Section]: ...

    def offer(self) -> Sequence[Section]: ...

    def to_dict(self) -> dict[str, Any]: ...


@runtime_checkable
class HeldData(Protocol):
    """A custodian's data, opened and checked for its columns: no row is read before `read`, which gives what the run
    takes.
    """

    def read(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Collection:
    """The data a mechanism runs on, as they were collected, and the operator's own list of rejected ids.

    Args:
        data: the input of `Mechanism.run`, or `HeldData` that gives it; opened and checked for its columns, its rows
            are read by the run, after the ledger was charged.
        rejected: id -> reason, complete once the rows were read. A function of private records: the operator's alone,
            never published or counted aloud.
    """

    data: Any = field(repr=False)
    rejected: Mapping[str, str] = field(repr=False)


@renamed(null="missing_as")
@dataclass(frozen=True, kw_only=True, repr=False)
class Check:
    """The operator's look at the records before a run. All of it is private: never published, logged or printed for
    anybody else.

    Args:
        slots: invited slots.
        rows: rows that were read.
        usable: records among them that the run would use.
        rejected: id -> reason of every other row.
        tolerated: the number of lies and empty slots that the promises of truth and accuracy allow for; None where they
            speak of those who take part, and who does is public, or where nobody takes part.
        held: whether a custodian holds the records, and nobody was invited.
        missing_as: the value that a custodian's missing or unusable record counts as; empty where nobody says.
        own: the kind's own view of what it found, in place of the usual tables of records.
        cells: column -> what is wrong with its cells, a text with a count for each reason; "" -> with whole rows. Of a
            column that is not there nobody says.
        asked: the number of the invited who are asked for a record, where others are not; None where all are.
    """

    slots: int
    rows: int
    usable: int
    rejected: Mapping[str, str]
    tolerated: int | None
    held: bool = False
    missing_as: str = ""
    own: Sequence[Section] = ()
    cells: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: int | None = None

    def __repr__(self) -> str:
        return f"<check of {self.slots} slots; private, see its fields>"


@runtime_checkable
class Kind(Protocol):
    """One kind of campaign. Everything that needs no private data comes before `collect`.

    `check` is the operator's look at the records before a run. `record` finds a participant's record in the file that
    the campaign names, `parse_record` makes one of what they type (column -> text), exactly as the file's row would be
    coded; both give the record and their index. `submission` is (slot, report) of what they hand in, column -> text as
    in `parse_record`: exactly the bytes that `collect` and `codec` make of a file with that row. `identities` is the
    public list of ids in the order of slots, empty where a custodian holds the data; `codec` stores reports, None where
    they stay in the custodian's engine; `payouts` says how shares become money, None where nothing is paid. `tables` is
    the public result as tables in natural units, by name; those that `as_rows` marks are written as Parquet, all others
    as CSV. `types` are the dataclasses that an outcome of its mechanisms may hold, by wire name
    (`confide.contract.wire.wire_types`): nothing else is rebuilt from a file.

    `asked` is the form of one participant, empty where a custodian holds the data: what it lets through is accepted by
    `submission`, or by `private` where their own device draws what they hand in, unless it breaks a rule on several
    fields that one of their notes states. `files` are the files and folders that the campaign file names: (key such as
    "data.source", what stands there), sources that are no paths among them.

    Where a custodian holds the data, nobody has a share: `record` and `parse_record` give None and 0 for every id, so
    that `explain` cannot tell whose record is there, and `collect` gives `HeldData`.
    """

    name: str
    summary: str
    template: str
    config: type[Any]
    types: Mapping[str, type]

    def plan(self, config: Any) -> CampaignPlan: ...

    def files(self, config: Any) -> Sequence[tuple[str, str]]: ...

    def identities(self, config: Any) -> Sequence[str]: ...

    def asked(self, config: Any, plan: CampaignPlan) -> Sequence[Field]: ...

    def codec(self, plan: CampaignPlan) -> ReportCodec | None: ...

    def payouts(self, plan: CampaignPlan) -> PayoutTerms | None: ...

    def collect(
        self, config: Any, plan: CampaignPlan, folder: Path, progress: Progress | None = None
    ) -> Collection: ...

    def check(self, config: Any, plan: CampaignPlan, folder: Path, progress: Progress | None = None) -> Check: ...

    def record(self, config: Any, plan: CampaignPlan, folder: Path, identity: str) -> tuple[Any, int]: ...

    def parse_record(
        self, config: Any, plan: CampaignPlan, identity: str, values: Mapping[str, str]
    ) -> tuple[Any, int]: ...

    def submission(
        self, config: Any, plan: CampaignPlan, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]: ...

    def result(self, plan: CampaignPlan, outcome: PublicOutcome | SimulatedOutcome) -> Sequence[Section]: ...

    def tables(self, plan: CampaignPlan, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]: ...

    def explain(
        self, plan: CampaignPlan, outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int
    ) -> Sequence[Section]: ...

    def study(self, plan: CampaignPlan, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]: ...

    def audit(self, plan: CampaignPlan, seed: int, progress: Progress | None = None) -> Any: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A made-up crowd for a campaign like the one that is planned.

    Args:
        config: the campaign's tables; with fewer people, where that is possible and many are invited.
        plan: the plan of these tables.
        batches: the records that made-up people hand in, as the kind's codec packs them.
    """

    config: Any
    plan: CampaignPlan
    batches: Sequence[Any]


@runtime_checkable
class TriedKind(Kind, Protocol):
    """A kind that may run anybody's mechanism: it is tried out on made-up crowds before a campaign is planned, and so
    before anything is charged.

    `trials` are the crowds, none where the mechanism is not to be tried out; it raises `InvalidInput` for what can be
    seen without a run. `one` is a record of a batch, as `Mechanism.decode` takes it.
    """

    def trials(self, config: Any, plan: CampaignPlan) -> Iterable[Trial]: ...

    def one(self, plan: Any, batch: Any, place: int) -> Any: ...


@runtime_checkable
class NarrowedKind(Kind, Protocol):
    """A kind that refuses in new campaigns what older ones were charged for: these run on, and stay verified.

    `check_new` raises `InvalidInput` for it. It is asked before anything is planned.
    """

    def check_new(self, config: Any) -> None: ...


@runtime_checkable
class RewordedKind(Kind, Protocol):
    """A kind whose campaign files had other words before. `file_words` says which: they are read for ever."""

    file_words: FileWords


@runtime_checkable
class HandingKind(Kind, Protocol):
    """A kind whose operator hands something out after the run.

    `handout` is the operator's list: a table with the columns "id" and "good", a line for each thing that somebody
    gets, and perhaps what they owe for it. It follows from shares, so it is private; who withdrew is not on it.
    """

    def handout(
        self, plan: CampaignPlan, outcome: Outcome | SimulatedOutcome, identities: Sequence[str]
    ) -> pa.Table: ...


@runtime_checkable
class PausingKind(Kind, Protocol):
    """A kind whose run may have to wait for something, and goes on later with the noise that it had before.

    A run that began again with other noise would tell more than one run: which of them came to an end depends on their
    noise. So the noise of a secure run is kept on disk until the outcome is published.

    `journal` is the folder in which it is kept, from the campaign file's folder; its owner's alone. `play` is the run.
    `keep` is a private folder of this campaign alone in which it may keep what the next attempt needs, None for a
    study; it is removed after the publication. A run that has to wait raises `Refused`, and says for what.

    How long it waited may tell something of the records, so the event of its publication bears no day. `publish_on` is
    a day that is fixed beforehand: a run that has ended is not published before it. None where there is none.
    """

    def journal(self, config: Any) -> str: ...

    def publish_on(self, config: Any) -> date | None: ...

    def play(
        self, config: Any, plan: CampaignPlan, folder: Path, data: Any, noise: NoiseSource, keep: Path | None
    ) -> Outcome | SimulatedOutcome: ...


@runtime_checkable
class LocalKind(Kind, Protocol):
    """A kind whose reports are drawn on the participants' side, before anybody else sees anything.

    `private` reads what a participant types into what `Mechanism.submit` takes, and the level that a report costs them;
    None takes no part, and costs nothing. `notion` is that of all its levels, "epsilon" or "rho". `identity` is the one
    spelling of an id that is on the list, `question` what is asked, `level` what a report costs at most. `row` is what
    they hand in: a row of the operator's file, but for what the operator knows; `rows` are those of everybody in a
    collection that was played. `submission` takes such a row, with their id in it or without. `rehearse` plays
    everybody's side with true answers that are public already: a collection whose `data` is what the run takes.

    `device` says in public terms what the participant's device does with what they type, JSON-ready, and for a
    `ContractKind` on their own terms; it makes the row of `row` without the id. Whole numbers and rationals that a
    double may not hold are texts. "law" is one of:

    - "response": of `answers`, the one that was typed under `input` with the odds e^epsilon against the other, under
      `column`. "epsilon" is an exact rational; or "levels" are the doubles by which a device finds the level from
      `worth`: xi(c) = 2 arsinh sqrt(cosh^2(epsilon/2) (threshold - c)/c + sinh^2(epsilon/2)), at least epsilon and at
      most ceiling, and no part above the threshold. That double is the rational.
    - "lattice": the number under `input`, moved into [low, high], counted in `steps` from low to high, rounded to the
      nearest whole number, the even one of two; plus a discrete Gaussian draw of standard deviation `sigma`; as 16
      hexadecimal digits of two's complement under `column`. 0 steps ask for nothing. low and high are doubles, spelled
      as short as they can be.

    A response's `answers` are the choices of the field `input`, and its `worth` is another field, into which a number
    is written; so is a lattice's `input`. `notion` is "rho" for a lattice, and "epsilon" for a response. A page's
    device follows nothing else, since an answer must show by nothing but the draw (`confide.privacy.device_odds`).

    The program in the browser follows no instructions of a level above `LARGEST_LEVEL` there (of a lattice,
    rho = steps^2/(2 sigma^2)), nor above `level`, which the page states.

    What the participant leaves empty under `input` is handed in empty: they take no part. `known` are the fields that
    the operator adds to their row, because these are known of everybody.
    """

    notion: Literal["epsilon", "rho"]

    def private(self, config: Any, plan: CampaignPlan, values: Mapping[str, str]) -> tuple[Any, float]: ...

    def identity(self, config: Any, text: str) -> str: ...

    def question(self, config: Any) -> str: ...

    def level(self, plan: CampaignPlan) -> float: ...

    def device(self, config: Any, plan: CampaignPlan, terms: Mapping[str, Any] | None = None) -> Mapping[str, Any]: ...

    def known(self, config: Any, plan: CampaignPlan) -> Sequence[Field]: ...

    def row(self, config: Any, identity: str, report: Any) -> Mapping[str, str]: ...

    def rows(self, config: Any, data: Any) -> Sequence[Mapping[str, str]]: ...

    def rehearse(
        self, config: Any, plan: CampaignPlan, folder: Path, noise: NoiseSource, progress: Progress | None = None
    ) -> Collection: ...


@runtime_checkable
class ContractKind(LocalKind, Protocol):
    """A kind that asks twice: for a report first, which is no secret from the operator, and for a record on the terms
    that follow from everybody's reports.

    `reported` is the row that the participant hands in first, and `asked_first` its form; `asked` is that of the
    record. `contracts_file` is where the round of contracts lies, from the campaign file's folder. `draw_up` makes a
    round, JSON-ready, from the file of reports, with `without` as if they had never reported; `committed` are its
    contracts as batches of the codec, and `answered` those that were stored, with what was sent on them, as the run
    takes it. What they hand in is a row of the file of reports, and then one of the file of records, with their final
    contract; the contracts are what is stored, all together when they become final, so that `submission` refuses.
    `round_sections` is the operator's look at it. `terms` are one person's of a round, `terms_sections` what they read.
    `on_terms` is `private` of the record, on these terms. `caution` is what their device tells them alone about their
    record, empty where there is nothing to say.
    """

    def asked_first(self, config: Any, plan: CampaignPlan) -> Sequence[Field]: ...

    def reported(
        self, config: Any, plan: CampaignPlan, identity: str, values: Mapping[str, str]
    ) -> Mapping[str, str]: ...

    def contracts_file(self, config: Any) -> str: ...

    def draw_up(
        self, config: Any, plan: CampaignPlan, folder: Path, without: Sequence[str], progress: Progress | None = None
    ) -> dict[str, Any]: ...

    def committed(self, plan: CampaignPlan, drawn: Mapping[str, Any]) -> Iterable[Any]: ...

    def answered(
        self, config: Any, plan: CampaignPlan, folder: Path, batches: Iterable[Any], progress: Progress | None = None
    ) -> Any: ...

    def round_sections(self, plan: CampaignPlan, drawn: Mapping[str, Any]) -> Sequence[Section]: ...

    def terms(self, config: Any, drawn: Mapping[str, Any], identity: str) -> dict[str, Any]: ...

    def terms_sections(self, plan: CampaignPlan, terms: Mapping[str, Any]) -> Sequence[Section]: ...

    def on_terms(
        self, config: Any, plan: CampaignPlan, values: Mapping[str, str], terms: Mapping[str, Any]
    ) -> tuple[Any, float]: ...

    def caution(self, config: Any, values: Mapping[str, str]) -> str: ...


_MEMBERS = tuple(name for name in (*Kind.__annotations__, *vars(Kind)) if not name.startswith("_"))


def as_rows(table: pa.Table) -> pa.Table:
    """A table of the result that may be long, and is for programs: it is written as Parquet."""
    return table.replace_schema_metadata(_ROWS)


def is_rows(table: pa.Table) -> bool:
    """Whether a table is marked by `as_rows`."""
    return bool(table.schema.metadata == _ROWS)


def by_slots(progress: Progress, slots: int) -> Progress:
    """Report progress against the invited slots, one batch late: the last batch's size would disclose the turnout."""
    before = 0

    def tell(rows: int, _total: int | None) -> None:
        nonlocal before
        if rows <= before:  # another pass
            before = 0
        progress(min(before, slots), slots)
        before = rows

    return tell


_ALIKE = 0.65  # how near a name must be to be suggested: "query" is to "queries", and "histogram" is not to "program"


@cache
def _entries() -> dict[str, Any]:
    return {entry.name: entry for entry in sorted(entry_points(group="confide.kinds"), key=lambda e: e.name)}


@cache
def _ours() -> dict[str, Any]:
    """Those of this distribution, which are found without a look at every other one."""
    try:
        return {entry.name: entry for entry in distribution("confide").entry_points.select(group="confide.kinds")}
    except PackageNotFoundError:
        return {}


def kind_names() -> tuple[str, ...]:
    """The names of all installed kinds."""
    return tuple(_entries())


@cache
def kind(name: str) -> Kind:
    """The kind of a name.

    Raises:
        InvalidInput: no such kind; names the nearest one.
    """
    entries = _ours() if name in _ours() else _entries()
    if name not in entries:
        raise InvalidInput("kind", f"{name!r} is not installed",
                           did_you_mean(name, entries, f"known kinds: {', '.join(entries)}; `confide kinds` describes "
                                        "each, and your own kinds after you install their package",
                                        cutoff=_ALIKE))
    entry = entries[name]
    try:
        sound = isinstance(loaded := entry.load(), Kind)  # looks at all that a kind has
    except (Exception, SystemExit) as error:
        raise InvalidInput("kind", f"{name!r}, which {_named(entry)} brings, cannot be used: {fault(error)}",
                           "repair or remove that package; CONFIDE_DEBUG=1 shows the traceback") from error
    if not sound:
        raise InvalidInput("kind", f"the entry point {name!r}, which {_named(entry)} brings, does not name a Kind",
                           f"missing: {', '.join(each for each in _MEMBERS if not hasattr(loaded, each))}")
    return loaded  # type: ignore[no-any-return] # it is a Kind


def _named(entry: EntryPoint) -> str:
    """The package that an entry point is from, and what it names there."""
    return f"the package {entry.dist.name} ({entry.value})" if entry.dist is not None else entry.value


def summaries() -> tuple[dict[str, str], dict[str, str]]:
    """All installed kinds that can be used, with a line on each; and the others, with the reason."""
    sound, broken = dict[str, str](), dict[str, str]()
    for name in kind_names():
        try:
            sound[name] = kind(name).summary
        except InvalidInput as error:
            broken[name] = str(error)
    return sound, broken


def may_wait(name: str) -> bool:
    """Whether runs of this kind may have to wait: then no day of a publication is announced. False where it is none.

    Args:
        name: the name of a kind.
    """
    try:
        return isinstance(kind(name), PausingKind)
    except InvalidInput:
        return False


def _most_likely() -> Iterator[str]:
    """The names of all kinds, those that are imported already first: to import all takes seconds."""
    ours = _ours()
    yield from sorted(ours, key=lambda name: (ours[name].module not in sys.modules, name))
    yield from (name for name in _entries() if name not in ours)


def types_of(mechanism: str) -> Mapping[str, type]:
    """The dataclasses that may be rebuilt from a manifest of this mechanism, by wire name.

    Args:
        mechanism: the wire name of the mechanism.

    Raises:
        InvalidInput: no installed kind knows the mechanism.
    """
    for name in _most_likely():
        try:
            types = kind(name).types
        except Exception:  # noqa: BLE001, S112 - somebody else's broken plug-in must not hide the others
            continue
        if mechanism in types:
            return types
    raise InvalidInput("mechanism", f"{mechanism!r} belongs to no installed kind")

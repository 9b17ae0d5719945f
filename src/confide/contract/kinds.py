"""Campaign kinds: the interface between a family of mechanisms and the code for campaigns and commands.

Kinds are found through the group of entry points `confide.kinds`. Another package adds a kind by an entry point in this
group, which names a `Kind`.
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
    """The conversion of a kind's reports to stored bytes. The bytes of one participant are a function of that
    participant's report alone.
    """

    def pack(self, batch: Any) -> tuple[np.ndarray, list[bytes]]:
        """The slots of one batch (positions in the public list of ids), and the report of each slot as bytes."""
        ...

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Any:
        """The batch of reports for the given slots and bytes, in the form that `Mechanism.run` takes."""
        ...


class CampaignPlan(Protocol):
    """A campaign's plan: the mechanism, its promises and the predicted figures, computed from the public campaign file
    alone.
    """

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def guarantees(self) -> Guarantees: ...

    def sections(self) -> Sequence[Section]: ...

    def offer(self) -> Sequence[Section]: ...

    def to_dict(self) -> dict[str, Any]: ...


@runtime_checkable
class HeldData(Protocol):
    """A custodian's data after the file is opened and its columns are checked. Only the method `read` reads rows; it
    returns the data in the form that `Mechanism.run` takes.
    """

    def read(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Collection:
    """The data that a mechanism runs on, as they were collected, and the operator's own list of rejected ids.

    Args:
        data: the input of `Mechanism.run`, or `HeldData`, whose method `read` returns this input. The source is opened
            and its columns are checked. The rows are read during the run, after the ledger was charged.
        rejected: mapping from each rejected id to the reason, complete after the rows were read. The mapping depends on
            private records. It is for the operator alone, and not even its size is ever published.
    """

    data: Any = field(repr=False)
    rejected: Mapping[str, str] = field(repr=False)


@renamed(null="missing_as")
@dataclass(frozen=True, kw_only=True, repr=False)
class Check:
    """The result of the operator's check of the records before a run. Everything in the result is private, and is never
    published, logged or printed for anybody else.

    Args:
        slots: number of invited slots.
        rows: number of rows that were read.
        usable: number of records that the run would use.
        rejected: mapping from the id of each row that the run would not use to the reason.
        tolerated: the number of lies and empty slots up to which the promises of truthfulness and accuracy hold. None
            if the promises are only about participants with a public identity, or if nobody participates.
        held: whether a custodian holds the records, so that nobody was invited.
        missing_as: the value, as a text, that stands in for a missing or unusable record of a custodian; empty if the
            campaign declares no such value.
        own: sections that the kind shows about the records in place of the usual tables; empty for the usual tables.
        cells: mapping from a column to texts on the faults in the cells of the column, each with the number of cells.
            The key "" is for faults of whole rows. A column that is missing in the file has no entry.
        asked: the number of invited people who are asked for a record; None if all are asked.
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
    """One kind of campaign. All members that are declared before `collect` need no private data.

    `check` is the operator's check of the records before a run. `record` finds a participant's record in the file that
    the campaign names. `parse_record` makes a record from a mapping from column to the text that a participant typed.
    The record is coded exactly like a row of the file. `record` and `parse_record` return the record and the
    participant's index. `submission` returns the slot and the report for the texts that a participant typed. The report
    has exactly the bytes that `collect` and `codec` make from a file with the same row.

    `identities` is the public list of ids in the order of slots, or empty if a custodian holds the data. `codec` stores
    reports, or is None if the data stay in the custodian's engine. `payouts` gives the terms by which shares become
    money, or None if nothing is paid. `tables` is the public result as named tables in natural units. Tables that
    `as_rows` marks are written as Parquet, all others as CSV. `types` maps wire names to the dataclasses that an
    outcome of the kind's mechanisms may hold (`confide.contract.wire.wire_types`). Objects of classes outside `types`
    are never rebuilt from a file.

    `asked` is the form that one participant fills in, or empty if a custodian holds the data. If every field passes its
    own check, `submission` accepts the texts; `private` accepts them if the participant's device draws the report. The
    only exception is a rule on several fields together, which the note of one of the fields states. `files` lists the
    files and folders that the campaign file names, as pairs of a key, such as "data.source", and the value of the key.
    The list also has sources that are no paths.

    If a custodian holds the data, nobody has a share. `record` and `parse_record` then return None and 0 for every id,
    so that the command `explain` does not disclose whose record is in the data. In this case `collect` returns
    `HeldData`.
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
    """A simulated population for a campaign like the planned one.

    Args:
        config: the contents of the campaign file, with fewer people if many are invited and the kind allows it.
        plan: the plan that the kind makes from `config`.
        batches: the records of the simulated people, as the kind's codec packs them.
    """

    config: Any
    plan: CampaignPlan
    batches: Sequence[Any]


@runtime_checkable
class TriedKind(Kind, Protocol):
    """A kind that may run a third party's mechanism. The mechanism is tried on simulated populations before a campaign
    is planned, and thus before anything is charged.

    `trials` returns the simulated populations, or an empty sequence if no trial is needed. `trials` raises
    `InvalidInput` for faults that can be found without a run. `one` returns one record of a batch, in the form that
    `Mechanism.decode` takes.
    """

    def trials(self, config: Any, plan: CampaignPlan) -> Iterable[Trial]: ...

    def one(self, plan: Any, batch: Any, place: int) -> Any: ...


@runtime_checkable
class NarrowedKind(Kind, Protocol):
    """A kind that refuses some settings in new campaigns, although older campaigns were charged for them. Older
    campaigns with these settings still run, and can still be verified.

    `check_new` raises `InvalidInput` for a setting that new campaigns may not have, and is called before anything is
    planned.
    """

    def check_new(self, config: Any) -> None: ...


@runtime_checkable
class RewordedKind(Kind, Protocol):
    """A kind that has renamed keys or values of its campaign files. `file_words` declares the old words, which stay
    readable for ever.
    """

    file_words: FileWords


@runtime_checkable
class HandingKind(Kind, Protocol):
    """A kind whose operator hands out goods after the run.

    `handout` is the operator's list, a table with the columns "id" and "good". The list has one row for each good that
    a participant gets, and may have a column with the amount that the participant owes for the good. The list is
    private, because it is computed from shares. Participants who withdrew are not on the list.
    """

    def handout(
        self, plan: CampaignPlan, outcome: Outcome | SimulatedOutcome, identities: Sequence[str]
    ) -> pa.Table: ...


@runtime_checkable
class PausingKind(Kind, Protocol):
    """A kind with runs that may have to pause. A paused run continues later with the same noise.

    If each attempt had fresh noise, the attempts together would reveal more than one run, because the noise decides
    which attempt is completed. The noise of a secure run is therefore kept on disk until the outcome is published.

    `journal` is the folder in which the noise is kept, relative to the campaign file's folder and accessible to its
    owner alone. The method `play` carries out the run of the mechanism. The argument `keep` of `play` is a private
    folder of the campaign for data that the next attempt needs. The folder is removed after the publication; for a
    study `keep` is None. A run that has to pause raises `Refused` with the reason.

    The length of the pause may depend on the records, so the stored event of the publication has no date. `publish_on`
    is a day that is fixed in advance, or None. The outcome of a finished run is not published before this day.
    """

    def journal(self, config: Any) -> str: ...

    def publish_on(self, config: Any) -> date | None: ...

    def play(
        self, config: Any, plan: CampaignPlan, folder: Path, data: Any, noise: NoiseSource, keep: Path | None
    ) -> Outcome | SimulatedOutcome: ...


@runtime_checkable
class LocalKind(Kind, Protocol):
    """A kind with local noise: each participant's device draws the noisy report, and nobody else sees the true answer.

    `private` turns a participant's typed texts into a pair: the input of `Mechanism.submit`, and the privacy loss of
    the report. If the input is None, the participant takes no part, and the privacy loss is 0. `notion` is the measure
    of all these privacy losses (levels): "epsilon" or "rho". `identity` returns the canonical spelling of an id on the
    list. `question` is the question to the participants, and `level` the largest privacy loss of a report. `row` is the
    participant's submission: a row of the operator's file without the fields that the operator knows already. `rows`
    returns such rows for everybody in a rehearsed collection. `submission` accepts a row in the form of `row`, with or
    without the id. `rehearse` draws everybody's report from true answers that are already public. The `data` of the
    collection that `rehearse` returns are the input of the run.

    `device` describes, in public terms and JSON-ready, how the participant's device processes the typed texts; for a
    `ContractKind` the description also depends on the participant's own terms. The result of the device has the form of
    `row`, without the id. Whole numbers and rationals are written as texts if a double may not represent them exactly.
    The key "law" is one of:

    - "response": randomised response on the list `answers`. The answer typed under `input` is reported under `column`
      with odds e^epsilon to 1 against any single other answer. The level is either the exact rational "epsilon", or
      follows from the doubles in "levels". With "levels", the device computes the level for the number c typed under
      `worth`: xi(c) = 2 arsinh sqrt(cosh^2(epsilon/2) (threshold - c)/c + sinh^2(epsilon/2)), at least epsilon and at
      most ceiling. If the number typed under `worth` is above the threshold, the participant takes no part. The
      computed level is a double, which the device uses as an exact rational.
    - "lattice": discrete Gaussian noise on a number. The number typed under `input` is moved into [low, high], counted
      in units of (high - low)/`steps` from low, and rounded to the nearest whole number, with ties to even. A discrete
      Gaussian draw of standard deviation `sigma` is added. The sum is written under `column` as 16 hexadecimal digits
      of two's complement. If `steps` is 0, the participant is asked nothing. low and high are doubles in their shortest
      spelling.

    The `answers` of a response are the choices of the field `input`. The `worth` of a response is another field, which
    holds a number. The `input` of a lattice is a field that holds a number. `notion` is "rho" for a lattice, and
    "epsilon" for a response. The device on a page uses no other values, because the answer may influence only the
    distribution of the drawn report (`confide.privacy.device_odds`).

    The program in the browser refuses instructions with a level above `confide.privacy.device_odds.LARGEST_LEVEL` (for
    a lattice, rho = steps^2/(2 sigma^2)). The program also refuses a level above `level`, which the page states.

    If the participant leaves `input` empty, the report is empty and they take no part. `known` lists the fields that
    the operator adds to each participant's row, because the operator knows their values for everybody.
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
    """A kind that collects data twice: first a report, which the operator may see, and later a record. The terms (the
    contract) for the record follow from everybody's reports.

    `reported` is the row that the participant hands in first, and `asked_first` is its form; `asked` is the form of the
    record. `contracts_file` is the path of the file with the contracts of a round, relative to the campaign file's
    folder. `draw_up` makes the contracts of a round, JSON-ready, from the file of reports. The ids in `without` are
    left out, as if they had never reported. `committed` returns the contracts of the round as batches of the codec.
    `answered` returns the stored contracts with the records that participants sent under them, in the form that the run
    takes.

    A participant first hands in a row of the file of reports. Later the participant hands in a row of the file of
    records, with their final contract. All contracts are stored together when they become final, so `submission`
    refuses to prepare a single contract. `round_sections` shows the round to the operator. `terms` are the terms of one
    participant in a round, and `terms_sections` shows these terms to the participant. `on_terms` does for the record,
    under the participant's terms, the same as `private` does for the report. `caution` is a warning about the record
    that the participant's device shows to the participant alone; the text is empty if no warning is needed.
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
    """Mark a result table that may be long and is meant for programs, so that it is written as Parquet."""
    return table.replace_schema_metadata(_ROWS)


def is_rows(table: pa.Table) -> bool:
    """Whether a table is marked by `as_rows`."""
    return bool(table.schema.metadata == _ROWS)


def by_slots(progress: Progress, slots: int) -> Progress:
    """A progress function for a run that reads batches of records. The function reports the progress one batch late,
    relative to the number of invited slots. Without the delay, the size of the last batch would disclose the number of
    participants.
    """
    before = 0

    def report(rows: int, _total: int | None) -> None:
        nonlocal before
        if rows <= before:  # another pass
            before = 0
        progress(min(before, slots), slots)
        before = rows

    return report


_ALIKE = 0.65  # how near a name must be to be suggested: "query" is to "queries", and "histogram" is not to "program"


@cache
def _entries() -> dict[str, Any]:
    return {entry.name: entry for entry in sorted(entry_points(group="confide.kinds"), key=lambda e: e.name)}


@cache
def _ours() -> dict[str, Any]:
    """The kinds of this distribution, which are found without searching all installed packages."""
    try:
        return {entry.name: entry for entry in distribution("confide").entry_points.select(group="confide.kinds")}
    except PackageNotFoundError:
        return {}


def kind_names() -> tuple[str, ...]:
    """The names of all installed kinds."""
    return tuple(_entries())


@cache
def kind(name: str) -> Kind:
    """The kind with a given name.

    Raises:
        InvalidInput: no kind has this name, or the installed kind cannot be used. For an unknown name, the error
            suggests a similar name or lists the known kinds.
    """
    entries = _ours() if name in _ours() else _entries()
    if name not in entries:
        raise InvalidInput("kind", f"{name!r} is not installed",
                           did_you_mean(name, entries, f"known kinds: {', '.join(entries)}; `confide kinds` describes "
                                        "each; a kind of your own is known after you install its package",
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
    """The package of an entry point, and the object that the entry point names."""
    return f"the package {entry.dist.name} ({entry.value})" if entry.dist is not None else entry.value


def summaries() -> tuple[dict[str, str], dict[str, str]]:
    """Two mappings: from the name of each usable installed kind to a summary of one line, and from the name of each
    other installed kind to the reason why the kind is unusable.
    """
    sound, broken = dict[str, str](), dict[str, str]()
    for name in kind_names():
        try:
            sound[name] = kind(name).summary
        except InvalidInput as error:
            broken[name] = str(error)
    return sound, broken


def may_wait(name: str) -> bool:
    """Whether runs of a kind may have to pause. If so, no day of publication is announced. The result is False for an
    unknown kind.

    Args:
        name: the name of a kind.
    """
    try:
        return isinstance(kind(name), PausingKind)
    except InvalidInput:
        return False


def _most_likely() -> Iterator[str]:
    """The names of all kinds, first the kinds already imported, because importing all kinds takes seconds."""
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

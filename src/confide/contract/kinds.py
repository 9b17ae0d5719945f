"""Campaign kinds: the interface between a family of mechanisms and the campaigns and commands.

Kinds are found through the entry point `confide.kinds`. A package outside confide adds a kind in the same way, by an
entry point that names a `Kind`.
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
        """The slots and the encoded reports of one batch of a collection."""
        ...

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Any:
        """A batch of reports in the form that the mechanism's run takes."""
        ...


class CampaignPlan(Protocol):
    """The predicted outcome of a campaign, computed from the public parameters of its file alone."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def guarantees(self) -> Guarantees: ...

    def sections(self) -> Sequence[Section]: ...

    def offer(self) -> Sequence[Section]: ...

    def to_dict(self) -> dict[str, Any]: ...


@runtime_checkable
class HeldData(Protocol):
    """A custodian's data, opened and checked for its columns. Rows are read only by `read`, which returns the data in
    the form that the run takes.
    """

    def read(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Collection:
    """The data that a mechanism runs on, as they were collected, and the operator's own list of rejected ids.

    Args:
        data: the input of `Mechanism.run`, or `HeldData` that gives it. The data are opened and checked for their
            columns; the run reads their rows, after the ledger was charged.
        rejected: mapping from a rejected id to the reason, complete after the rows were read. The mapping of rejected
            ids depends on private records, so it is for the operator alone, and not even its size is ever published.
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
        rejected: mapping from the id of every other row to the reason.
        tolerated: the number of lies and empty slots that the promises of truthfulness and accuracy allow for. None if
            the promises are only about participants whose identity is public, or if nobody participates.
        held: whether a custodian holds the records, so that nobody was invited.
        missing_as: the value that a custodian's missing or unusable record counts as; empty if none is declared.
        own: the kind's own view of the records, in place of the usual tables.
        cells: mapping from a column to the faults in its cells, each a text with a count; the key "" is for whole rows.
            A column that the file lacks has no entry.
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
    """One kind of campaign. Everything that needs no private data comes before `collect`.

    `check` is the operator's check of the records before a run. `record` finds a participant's record in the file that
    the campaign names. `parse_record` makes a record from the texts that a participant typed (column -> text), coded
    exactly as the file's row would be. `record` and `parse_record` return the record and the participant's index.
    `submission` returns the slot and the report for the texts that a participant typed, with exactly the bytes that
    `collect` and `codec` make of a file with that row.

    `identities` is the public list of ids in the order of slots, or empty if a custodian holds the data. `codec` stores
    reports, or is None if the data stay in the custodian's engine. `payouts` says how shares become money, or is None
    if nothing is paid. `tables` is the public result as named tables in natural units. Tables that `as_rows` marks are
    written as Parquet, all others as CSV. `types` maps wire names to the dataclasses that an outcome of the kind's
    mechanisms may hold (`confide.contract.wire.wire_types`). Objects of classes outside `types` are never rebuilt from
    a file.

    `asked` is the form of one participant, or empty if a custodian holds the data. Texts that pass the form are
    accepted by `submission`, or by `private` if the participant's own device draws the report. Texts that pass the form
    may still break a rule on several fields together, which the note of one of the fields states. `files` lists the
    files and folders that the campaign file names, as pairs of a key, such as "data.source", and its value. The list of
    files includes sources that are no paths.

    If a custodian holds the data, nobody has a share. `record` and `parse_record` then return None and 0 for every id,
    so that `explain` does not disclose whose record is in the data, and `collect` returns `HeldData`.
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
        config: the campaign's tables, with fewer people if many are invited and the kind allows it.
        plan: the plan of these tables.
        batches: the records of the simulated people, as the kind's codec packs them.
    """

    config: Any
    plan: CampaignPlan
    batches: Sequence[Any]


@runtime_checkable
class TriedKind(Kind, Protocol):
    """A kind that may run a third party's mechanism. The mechanism is tried on simulated populations before a campaign
    is planned, and thus before anything is charged.

    `trials` returns the simulated populations, or none if the mechanism is not to be tried. `trials` raises
    `InvalidInput` for faults that show without a run. `one` is one record of a batch, as `Mechanism.decode` takes it.
    """

    def trials(self, config: Any, plan: CampaignPlan) -> Iterable[Trial]: ...

    def one(self, plan: Any, batch: Any, place: int) -> Any: ...


@runtime_checkable
class NarrowedKind(Kind, Protocol):
    """A kind that refuses, in new campaigns, settings for which older campaigns were charged. Older campaigns with
    settings that are refused today still run, and can still be verified.

    `check_new` raises `InvalidInput` for a setting that new campaigns may not have, and is called before anything is
    planned.
    """

    def check_new(self, config: Any) -> None: ...


@runtime_checkable
class RewordedKind(Kind, Protocol):
    """A kind whose campaign files used other words before. `file_words` declares the old words, which stay readable for
    ever.
    """

    file_words: FileWords


@runtime_checkable
class HandingKind(Kind, Protocol):
    """A kind whose operator hands out goods after the run.

    `handout` is the operator's list, a table with the columns "id" and "good". The list has one row for each good that
    a participant gets, and may also state the amount that they owe for the good. The list is computed from shares, so
    it is private. Participants who withdrew are not on the list.
    """

    def handout(
        self, plan: CampaignPlan, outcome: Outcome | SimulatedOutcome, identities: Sequence[str]
    ) -> pa.Table: ...


@runtime_checkable
class PausingKind(Kind, Protocol):
    """A kind whose run may have to wait, and later continues with the same noise as before.

    A run that started again with fresh noise would reveal more than one run, because the noise decides which of the
    attempts came to an end. The noise of a secure run is therefore kept on disk until the outcome is published.

    `journal` is the folder in which the noise is kept, relative to the campaign file's folder and accessible to its
    owner alone. The method `play` carries out the run of the mechanism. The argument `keep` of `play` is a private
    folder of this campaign for data that the next attempt needs. `keep` is None for a study, and the folder is removed
    after the publication. A run that has to wait raises `Refused`, and says what it waits for.

    The length of the wait may depend on the records, so the event of the publication has no date. `publish_on` is a day
    that is fixed in advance, before which the outcome of a finished run is not published, or None.
    """

    def journal(self, config: Any) -> str: ...

    def publish_on(self, config: Any) -> date | None: ...

    def play(
        self, config: Any, plan: CampaignPlan, folder: Path, data: Any, noise: NoiseSource, keep: Path | None
    ) -> Outcome | SimulatedOutcome: ...


@runtime_checkable
class LocalKind(Kind, Protocol):
    """A kind whose reports are drawn on the participants' side, before anybody else sees anything.

    `private` turns a participant's typed texts into the input of `Mechanism.submit` and the privacy level that the
    report costs. The result None means that the participant takes no part, at no cost. `notion` is the notion of all
    levels, "epsilon" or "rho". `identity` is the canonical spelling of an id on the list, `question` the question that
    is asked, and `level` the largest cost of a report. `row` is the participant's submission: a row of the operator's
    file without the fields that the operator knows. `rows` returns rows in the form of `row` for everybody in a
    rehearsed collection. `submission` accepts a row in the form of `row`, with or without the id. `rehearse` plays
    everybody's side with true answers that are already public; the `data` of the resulting collection is the input of
    the run.

    `device` describes, in public terms and JSON-ready, how the participant's device processes the typed texts; for a
    `ContractKind` it uses the participant's own terms. The result of the device has the form of `row`, without the id.
    Whole numbers and rationals that a double may not hold are written as texts. The key "law" is one of:

    - "response": randomised response on the list `answers`. The answer typed under `input` is reported under `column`
      with odds e^epsilon against each other answer. The level is either the exact rational "epsilon", or follows from
      the doubles in "levels". With "levels", the device computes the level for the number c typed under `worth`: xi(c)
      = 2 arsinh sqrt(cosh^2(epsilon/2) (threshold - c)/c + sinh^2(epsilon/2)), at least epsilon and at most ceiling. If
      the number typed under `worth` is above the threshold, the participant takes no part. The computed level is a
      double, which the device uses as an exact rational.
    - "lattice": discrete Gaussian noise on a number. The number typed under `input` is moved into [low, high], counted
      in units of (high - low)/`steps` from low, and rounded to the nearest whole number, with ties to even. A discrete
      Gaussian draw of standard deviation `sigma` is added. The sum is written under `column` as 16 hexadecimal digits
      of two's complement. With 0 steps nothing is asked. low and high are doubles in their shortest spelling.

    The `answers` of a response are the choices of the field `input`. The `worth` of a response is another field, which
    holds a number. The `input` of a lattice is a field that holds a number. `notion` is "rho" for a lattice, and
    "epsilon" for a response. The device on a page uses nothing else, because the answer may influence only the law of
    the drawn report (`confide.privacy.device_odds`).

    The program in the browser refuses instructions with a level above `confide.privacy.device_odds.LARGEST_LEVEL` (for
    a lattice, rho = steps^2/(2 sigma^2)). The program also refuses a level above `level`, which the page states.

    If the participant leaves `input` empty, the report is empty and they take no part. `known` lists the fields that
    the operator adds to each participant's row, because they are known of everybody.
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
    """A kind that asks twice: first for a report, which the operator may see, and later for a record, on terms that
    follow from everybody's reports.

    `reported` is the row that the participant hands in first, and `asked_first` is its form; `asked` is the form of the
    record. `contracts_file` is the path of the round of contracts, relative to the campaign file's folder. `draw_up`
    makes a round, JSON-ready, from the file of reports, and leaves out the ids in `without` as if they had never
    reported. `committed` returns the round's contracts as batches of the codec. `answered` returns the stored contracts
    with the records that were sent on them, as the run takes them.

    A participant first hands in a row of the file of reports. Later the participant hands in a row of the file of
    records, with their final contract. All contracts are stored together when they become final, so `submission`
    refuses to prepare a single contract. `round_sections` is the operator's view of the round. `terms` are the terms of
    one participant in a round, and `terms_sections` is their text for the participant. `on_terms` is the counterpart of
    `private` for the record, on the participant's terms. `caution` is a warning about the record that the participant's
    device shows to the participant alone; the text is empty if no warning is needed.
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
    """Report progress relative to the number of invited slots, one batch late. Without the delay, the size of the last
    batch would disclose the number of participants.
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
    """Two mappings: from each usable installed kind to a one-line summary, and from each other kind to the reason why
    it is unusable.
    """
    sound, broken = dict[str, str](), dict[str, str]()
    for name in kind_names():
        try:
            sound[name] = kind(name).summary
        except InvalidInput as error:
            broken[name] = str(error)
    return sound, broken


def may_wait(name: str) -> bool:
    """Whether runs of this kind may have to wait, in which case no day of publication is announced. The result is False
    for an unknown kind.

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

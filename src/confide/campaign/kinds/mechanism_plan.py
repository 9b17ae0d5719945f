"""A plan that consists of a mechanism alone, with the pages before and after the run, and synthetic participants on
which the mechanism is tried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np
import pyarrow as pa
from pydantic import BaseModel
from typing_extensions import TypeVar

from confide.audit.devices import to_the_collector
from confide.audit.worst_case_neighbours import corners, interior
from confide.contract.encoding import encode
from confide.contract.guarantees import (
    Audience,
    Budget,
    Guarantee,
    Guarantees,
    Participation,
    Privacy,
    Truthfulness,
    in_full,
    promises_table,
)
from confide.contract.kinds import Trial
from confide.contract.mechanism import Mechanism
from confide.contract.offering import Question, answer, lies, withdrawing
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome, settled_share
from confide.contract.parameters import parameters
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section, Table, Text
from confide.contract.running import ran, written
from confide.contract.wire import parts_of, wire_name
from confide.contract.words import as_sentence, number
from confide.privacy.groups import group_blocks, groups_section, guess_in_words
from confide.privacy.noise import ForcedNoise
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["MechanismPlan", "board_table", "explain_sections", "made_up", "result_sections", "study_sections"]

M_co = TypeVar("M_co", bound=Mechanism, default=Any, covariant=True)
"""The type of the mechanism. With `MechanismPlan[Mine]`, type checkers know the settings of the mechanism `Mine`."""


@dataclass(frozen=True, kw_only=True)
class MechanismPlan(Generic[M_co]):
    """The plan of a campaign that predicts nothing beyond the promises of its mechanism.

    Args:
        config: tables of the campaign file.
        mechanism: mechanism with its public parameters.
        roles: public roles of the columns of a record, such as a number with bounds or a category with levels.
        share: description, addressed to a participant, of their own part of the result, such as "how many answered as
            you did".
        remarks: observations from the trials of the mechanism, in sentences.
        pays: terms of the payments: the column of the shares that holds the payment, the currency and the largest
            amount; None where nothing is paid.
    """

    config: Any
    mechanism: M_co
    roles: Sequence[Role]
    share: str = "the mechanism's decoding of your record and the public result"
    remarks: Sequence[str] = ()
    pays: PayoutTerms | None = None

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    def sections(self) -> Sequence[Section]:
        """The plan page: the mechanism's parameters and promises, and the remarks from its trials."""
        it = self.mechanism
        rows = tuple((self._named(word), _shown(part)) for word, part in parts_of(it).items())
        seen = [Section(title="Tried out", blocks=(Text(tuple(self.remarks)),))] if self.remarks else []
        return [Section(title="Plan", blocks=(Table(columns=("parameter", "value"), rows=rows,
                                                    note="All parameters are public, and none of them comes from "
                                                         "data."),)),
                Section(title="Promises", blocks=(promises_table(in_currency(self.guarantees, self.pays)),)),
                groups_section(it, self.guarantees.privacy), *seen]

    def _named(self, word: str) -> str:
        """A parameter's name with its declared unit."""
        declared = parameters(type(self.mechanism)).get(word)
        unit = declared.parameter.unit if declared else ""
        if unit == "the currency":  # as declarations of prices have it
            unit = self.pays.currency if self.pays else str(getattr(self.mechanism, "currency", "")) or unit
        return f"{word.replace('_', ' ')} ({unit})" if unit else word.replace("_", " ")

    @property
    def local(self) -> bool:
        """Whether the mechanism promises privacy towards the collector of the reports. If so, a participant's device
        draws a report from the record, and only the report leaves the device.
        """
        return bool(to_the_collector(self.guarantees))

    def offer(self) -> Sequence[Section]:
        """The offer to a participant. The offer states the record to hand in, the readers of the record and of the
        result, the participant's share, and the ways to withdraw.
        """
        promises = in_currency(self.guarantees, self.pays)
        private = [in_full(each) for each in promises.privacy]
        others = [in_full(each) for each in promises
                  if each.claimable and not isinstance(each, Privacy | Truthfulness)]
        limits = [f"{role.column}: {role.limit()}." for role in self.roles]
        gone = "counts as no record, and only you learn this."
        if self.local:
            report = ("Your own device draws a report from your record. Only the report leaves the device.", *limits,
                      f"A report that cannot be used {gone}")
            sees = "Nobody but you sees your record. The operator reads your report."
            trusted = "You trust your own device with your record, and nobody else."
            back = withdrawing(absent="your report counts as no report, and only the operator can see this")
        else:
            report = (*limits, f"A record that cannot be used {gone}")
            sees = "The operator reads your record."
            trusted = "You trust the operator with your record, and nobody else."
            back = withdrawing()
        return [
            answer(Question.REPORT, *report),
            answer(Question.SEES, f"{sees} Everybody else sees the public result and all conclusions from it. Your "
                                  f"share follows from {self.share_depends_on}."),
            answer(Question.HIDES, *(private or ("The campaign makes no promise about privacy.",)), self._guess()),
            answer(Question.GETS, as_sentence(self.share.rstrip(".")), *self._paid(), *others),
            answer(Question.LIES, lies(promises)),
            answer(Question.TRUSTED, trusted),
            answer(Question.WITHDRAWING, *back),
        ]

    def _paid(self) -> Sequence[Table]:
        """A table of the largest payment, and of the participant's deposit."""
        if self.pays is None:
            return ()
        left = [("your deposit, which you get back", self.pays.deposit)] if self.pays.deposit else []
        rows = tuple((word, self.pays.money(it)) for word, it in [("at most", self.pays.highest), *left])
        return (Table(columns=("your payment", "amount"), rows=rows),)

    @property
    def share_depends_on(self) -> str:
        """The inputs from which a share follows, in the mechanism's own words. The default is the participant's own
        record and the billboard; for a mechanism with local reports, the participant's report and the billboard.
        """
        said = self.mechanism.share_depends_on
        if said != Mechanism.share_depends_on:
            return said
        return f"your {'report' if self.local else 'own record'} and the public billboard"

    def _guess(self) -> str:
        """The odds of a right guess about a record, from the published result or from the report, in plain words."""
        seen = {Audience.PUBLIC: "from the published result", Audience.OTHERS: "from the published result",
                Audience.COLLECTOR: "from your report"}
        found: dict[str, list[Audience]] = {}
        for audience in dict.fromkeys(each.audience for each in self.guarantees.privacy if each.audience in seen):
            found.setdefault(seen[audience], []).append(audience)
        return " ".join(guess_in_words(self.mechanism, self.guarantees.privacy, *audiences, seen=f" {where}")
                        for where, audiences in found.items())

    def to_dict(self) -> dict[str, Any]:
        it = self.mechanism
        return {"mechanism": wire_name(it), "guarantees": self.guarantees.to_dict(),
                "parameters": {word: encode(part, {}) for word, part in parts_of(it).items()}}


def in_currency(promises: Guarantees, pays: PayoutTerms | None) -> Guarantees:
    """The promises of a mechanism, with the currency of the payments filled in where an amount of money has no unit.

    Args:
        promises: promises of a mechanism.
        pays: terms of the payments, with the currency; None leaves the promises unchanged.
    """
    return promises if pays is None else Guarantees(tuple(_in_currency(each, pays.currency) for each in promises))


def _in_currency(promise: Guarantee, currency: str) -> Guarantee:
    match promise:
        case Truthfulness(unit_of_gain=""):
            return replace(promise, unit_of_gain=currency)
        case Budget(currency=""):
            return replace(promise, currency=currency)
        case Participation():
            return replace(promise, of=f"{promise.of}, in {currency},")
    return promise


def _shown(value: Any) -> str | int | float:
    if isinstance(value, str | int | float):
        return value
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


_PEOPLE = 1000  # invited slots of a trial, where it can be so few
_SEED = 0
_MOST = 100_000  # where it cannot; a campaign of more people than that has no trial


def made_up(kind: Any, config: Any, plan: MechanismPlan, *, cells: bool = True) -> Iterator[Trial]:
    """The trials of a campaign. The first trial has no participants. The second trial has synthetic participants in
    three of every four slots, in two batches.

    A campaign with more than a thousand invited people is tried with a thousand, if the kind can plan a campaign of
    this size. All other campaigns are tried with everybody who is invited, up to a hundred thousand people.

    Args:
        kind: kind of the campaign, a `PeoplesKind`.
        config: tables of the campaign file.
        plan: plan of the campaign.
        cells: whether the kind's records are rows of `columns`, so that synthetic records can be generated; if not,
            there is only the first trial.
    """
    if config.people.count > _PEOPLE:
        config, plan = _smaller(kind, config) or (config, plan)
    people = config.people.count
    if people > _MOST:
        return
    yield Trial(config=config, plan=plan, batches=())
    if cells:
        slots = np.array([slot for slot in range(people) if slot % 4 != 3])
        roles = kind.columns(config)
        first, *others = corners(roles)
        rows = np.resize(np.array([first, *interior(roles, _SEED), *others]), (len(slots), len(roles)))
        halves = [half for half in np.array_split(np.arange(len(slots)), 2) if len(half)]
        yield Trial(config=config, plan=plan, batches=[SlotRows(slots[half], rows[half]) for half in halves])


def _smaller(kind: Any, config: Any) -> tuple[Any, MechanismPlan] | None:
    """The tables and the plan of the same campaign with a thousand people; None where the kind cannot plan it."""
    if not isinstance(config, BaseModel):
        return None
    tables = config.model_dump()
    tables["people"]["count"] = _PEOPLE
    try:
        found = type(config).model_validate(tables)
        plan = kind.plan(found)
    except Exception:  # noqa: BLE001 - too few people for what is promised, or for how it is computed
        return None
    return (found, plan) if isinstance(plan, MechanismPlan) else None


_SHOWN = 50  # rows of a table on a page


def board_table(board: Any) -> pa.Table:
    """The public billboard as one table. The longest lists of the billboard are columns, and each single number fills a
    column of its own. Shorter lists are left out.
    """
    parts = {word: np.atleast_1d(np.asarray(part)) for word, part in parts_of(board).items()}
    longest = max(len(part) for part in parts.values())
    return pa.table({name: pa.array(np.repeat(part, longest) if len(part) == 1 else part)
                     for name, part in parts.items() if len(part) in (1, longest) and part.ndim == 1})


def _table(found: pa.Table, note: str = "") -> Table:
    rows = tuple(tuple(row.values()) for row in found.slice(0, _SHOWN).to_pylist())
    more = f"The file has {found.num_rows - _SHOWN:,} more rows." if found.num_rows > _SHOWN else ""
    return Table(columns=tuple(found.column_names), rows=rows, note=" ".join(filter(None, (note, more))))


def result_sections(
    outcome: PublicOutcome | SimulatedOutcome, found: pa.Table, pays: PayoutTerms | None = None
) -> Sequence[Section]:
    """The result page: the public result as a table, and the promises of the mechanism.

    Args:
        outcome: outcome of the run.
        found: table of the public result.
        pays: terms of the payments, with their column and currency; None where nothing is paid.
    """
    promises = in_currency(outcome.guarantees, pays)
    first = (", ".join(f"{name.replace('_', ' ')} {number(value)}" for name, value in found.to_pylist()[0].items())
             if found.num_rows == 1 else f"{found.num_rows:,} rows")
    return [Section(title="What was found", found=True, blocks=(Text((f"Result: {first}.",)), _table(found))),
            Section(title="Promises", folded=True, blocks=(
                promises_table(promises), *group_blocks(outcome.mechanism, promises.privacy)))]


def explain_sections(
    outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int, share: str, depends_on: str,
    pays: PayoutTerms | None = None,
) -> Sequence[Section]:
    """One participant's page: their share, decoded again from their record and the billboard, and a sentence on the
    inputs of the share.

    Args:
        outcome: outcome of the run.
        record: record of the participant; None where the participant has no usable record.
        index: position of the participant in the public list of ids, from 0.
        share: description of a participant's own part of the result, in words (`MechanismPlan.share`).
        depends_on: inputs from which a share follows, in words (`MechanismPlan.share_depends_on`).
        pays: terms of the payments, with their column and currency; None where nothing is paid.

    Raises:
        Refused: the participant withdrew, and their share was erased.
    """
    decoded = dict(outcome.mechanism.decode(record, index, outcome.billboard))
    lines = [f"Your share is {share}. It follows from {depends_on}. Anybody who has both can compute it."]
    if record is None:
        lines.append("There is no usable record under this id.")
    if not isinstance(outcome, PublicOutcome):
        settled = settled_share(outcome, index)
        schema = outcome.shares.schema
        if written(settled, schema) != written(decoded, schema):
            lines.append("The present record in the file gives another share than the settled one. Either this row was "
                         "changed after the settlement, or the mechanism's `decode` gives another share than its "
                         "`run`. The settlement counts, and this page shows the settled share.")
            decoded = settled
    if pays is not None and pays.column in decoded:
        decoded[pays.column] = pays.money(decoded[pays.column])
    rows = tuple((name.replace("_", " "), value) for name, value in decoded.items())
    return [Section(title=f"Participant {index + 1}", private=True, blocks=(
        Table(columns=("what", "yours"), rows=rows), Text(tuple(lines))))]


def study_sections(
    collection: Any, outcome: SimulatedOutcome, tables: Callable[[Any], Mapping[str, pa.Table]]
) -> Sequence[Section]:
    """The study page, which compares the result with the result without noise. The page shows private data and must not
    be published.

    Args:
        collection: records that the run read.
        outcome: outcome of the run, with simulated noise.
        tables: function that returns the public tables of an outcome; only the first of these tables is compared.
    """
    bare = ran(outcome.mechanism, collection.data, ForcedNoise(()))
    released, true = (next(iter(tables(each).values())) for each in (outcome, bare))
    note = "A result without noise has no promise of privacy: these numbers are private."
    blocks: tuple[Table, ...]
    if released.num_rows != true.num_rows:  # the noise decides how long the table is
        blocks = (_table(released), _table(true, note))
    else:
        columns: dict[str, Any] = {}
        for name in released.column_names:
            columns[name] = released[name]
            if name in true.column_names and not true[name].equals(released[name]):
                columns[f"{name} without noise"] = true[name]
        blocks = (_table(pa.table(columns), note),)
    return [Section(title="Result with and without noise", study=True, blocks=blocks)]

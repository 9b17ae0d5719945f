"""A plan that is a mechanism and nothing else: its promises as a table, and as a participant reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

from typing_extensions import TypeVar

from confide.audit.devices import to_the_collector
from confide.contract.encoding import encode
from confide.contract.guarantees import Audience, Guarantees, Privacy, Truthfulness, in_full, promises_table
from confide.contract.mechanism import Mechanism
from confide.contract.offering import Question, answer, lies, withdrawing
from confide.contract.presentation import Section, Table, Text
from confide.contract.wire import parts_of, wire_name
from confide.contract.words import as_sentence
from confide.privacy.groups import groups_section, guess_in_words
from confide.tables.column_rows import Role

__all__ = ["MechanismPlan"]

M_co = TypeVar("M_co", bound=Mechanism, default=Any, covariant=True)
"""The type of the mechanism; a kind that names it, `MechanismPlan[Mine]`, reads its settings from the plan, checked."""


@dataclass(frozen=True, kw_only=True)
class MechanismPlan(Generic[M_co]):
    """What a campaign would give, where all of it is in the mechanism's own promises.

    Args:
        config: the campaign's tables.
        mechanism: with its public parameters.
        roles: of the columns of a record.
        share: what each participant gets, in words: "how many answered as you did".
        remarks: what was seen when the mechanism was tried out, in sentences.
    """

    config: Any
    mechanism: M_co
    roles: Sequence[Role]
    share: str = "what the mechanism decodes from your record and the public result"
    remarks: Sequence[str] = ()

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    def sections(self) -> Sequence[Section]:
        """The mechanism's parameters and its promises."""
        it = self.mechanism
        rows = tuple((word.replace("_", " "), _shown(part)) for word, part in parts_of(it).items())
        seen = [Section(title="Tried out", blocks=(Text(tuple(self.remarks)),))] if self.remarks else []
        return [Section(title="Plan", blocks=(Table(columns=("parameter", "value"), rows=rows,
                                                    note="All of it is public, and none of it comes from data."),)),
                Section(title="What is promised", blocks=(promises_table(self.guarantees),)),
                groups_section(it, self.guarantees.privacy), *seen]

    @property
    def local(self) -> bool:
        """Whether something is promised to the collector, so that a report is drawn before anything leaves a device."""
        return bool(to_the_collector(self.guarantees))

    def offer(self) -> Sequence[Section]:
        """What she hands in, who learns what, what she gets, and what she may do about it."""
        private = [in_full(each) for each in self.guarantees.privacy]
        others = [in_full(each) for each in self.guarantees
                  if each.claimable and not isinstance(each, Privacy | Truthfulness)]
        limits = [f"{role.column}: {role.limit()}." for role in self.roles]
        gone = "counts as none, and only you are told."
        if self.local:
            report = ("Your own device draws a report from your record; nothing else leaves it.", *limits,
                      f"A report that cannot be used {gone}")
            sees = "Nobody but you sees your record. The operator reads your report."
            trusted = "Your own device, with your record; nobody else."
            back = withdrawing(absent="your report counts as none, and nobody but the operator can tell")
        else:
            report = (*limits, f"A record that cannot be used {gone}")
            sees = "The operator reads your record."
            trusted = "The operator, with your record; nobody else."
            back = withdrawing()
        return [
            answer(Question.REPORT, *report),
            answer(Question.SEES, f"{sees} Everybody else sees the public result, and what follows from it. Your share "
                                  f"follows from {self.share_depends_on}."),
            answer(Question.HIDES, *(private or ("Nothing is promised of that.",)), self._guess()),
            answer(Question.GETS, as_sentence(self.share.rstrip(".")), *others),
            answer(Question.LIES, lies(self.guarantees)),
            answer(Question.TRUSTED, trusted),
            answer(Question.WITHDRAWING, *back),
        ]

    @property
    def share_depends_on(self) -> str:
        """What a share follows from, in the mechanism's words; a local one knows no record, unless it says so."""
        said = self.mechanism.share_depends_on
        return "your report and the public billboard" if self.local and said == Mechanism.share_depends_on else said

    def _guess(self) -> str:
        """The odds of whoever looks at what is published, or collects reports, in plain words."""
        seen = {Audience.PUBLIC: "from what is published", Audience.OTHERS: "from what is published",
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


def _shown(value: Any) -> str | int | float:
    if isinstance(value, str | int | float):
        return value
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)

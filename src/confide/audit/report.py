"""The result of an audit: one row for each promise, and the controls, which show that the audit can flag a fault.

A control is a mechanism that was broken on purpose. A report fails without any control, or if some control is not
flagged.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, Protocol, get_args

from confide.audit.comparing import exceeds, figure_of, implies, level_of, parameter_unit, unit_of
from confide.contract.checks import fraction, one_of
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import (
    Accuracy,
    Budget,
    Guarantee,
    Participation,
    Privacy,
    PrivacyLoss,
    Truthfulness,
)
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.renamed import renamed
from confide.contract.words import number, printable

__all__ = ["AuditReport", "AuditRow", "Concern", "Control", "Finding", "Mutant", "Verdict", "controls"]


class Concern(StrEnum):
    """The subject of a promise: privacy, incentives, accuracy, participation or budget. A report shows the subjects in
    this order.
    """

    PRIVACY = "privacy"
    """information that others can learn about a participant"""
    INCENTIVES = "incentives"
    """largest gain of a participant's lie"""
    ACCURACY = "accuracy"
    """error of the result, and delivery of the stated result to every participant"""
    PARTICIPATION = "participation"
    """utility of taking part"""
    BUDGET = "budget"
    """payments, and the charge of the ledger"""

    @classmethod
    def of(cls, promise: Guarantee) -> Concern:
        """The concern of a guarantee.

        Raises:
            InvalidInput: the guarantee has a type that the contract does not define.

        Example:
            >>> from confide.contract import Budget, Source
            >>> source = Source(document="a", statement="b")
            >>> Concern.of(Budget(expected=10.0, lowest=0.0, highest=1.0, source=source))
            <Concern.BUDGET: 'budget'>
        """
        for kind, concern in _CONCERNS.items():
            if isinstance(promise, kind):
                return concern
        raise InvalidInput("promise", f"{type(promise).__name__} is about none of {', '.join(cls)}")


_CONCERNS: dict[type[Guarantee], Concern] = {
    Privacy: Concern.PRIVACY, Truthfulness: Concern.INCENTIVES, Accuracy: Concern.ACCURACY,
    Participation: Concern.PARTICIPATION, Budget: Concern.BUDGET}


Side = Literal["", "at most", "at least", "exactly"]


class Verdict(StrEnum):
    """The verdict of an audit about one promise."""

    KEPT = "kept"
    """the promise was measured, and the stated evidence found nothing above it"""
    BROKEN = "broken"
    """a number was measured above the promise"""
    VACUOUS = "vacuous"
    """the promise states nothing at these sizes"""
    NOT_MEASURED = "not measured"
    """the promise was not measured; the note says why"""
    NO_PROMISE = "no promise"
    """nothing is promised about this concern, so there is nothing to measure; the note says why"""


class Finding(Protocol):
    """The interface that the results of all audits share: whether the audit flags the audited object."""

    @property
    def flagged(self) -> bool: ...


def _plain(value: float | str | None) -> float | str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


@dataclass(frozen=True)
class AuditRow:
    """One promise, compared with a measurement.

    Args:
        promise: description of the promise (for a `Guarantee`, its `sentence()`).
        promised: the promised number; a text includes its unit.
        measured: the measured number; None where nothing was measured.
        evidence: description of the measurement, and of the faults that it can and cannot find.
        verdict: kept, broken, vacuous, not measured or no promise.
        note: further information for a reader, such as the reason for the verdict. A report passes only if each
            vacuous, unmeasured or unpromised row has a note.
        false_alarm: probability that this row says "broken" although the promise is kept; 0 for exact evidence.
        concern: concern of the promise: privacy, incentives, accuracy, participation or budget.
        holds: sentences of the guarantees for which the row is evidence, as `holding` sets them.
        side: how the promised number bounds the measured one: "at most", "at least" or "exactly"; empty where none
            applies.
        unit: unit of both numbers, such as "nats" or "people". For shares, the text says of which whole, such as "of
            the runs".
        judged: the promise of privacy that states the promised number, as `of_privacy` sets it; None for rows about
            other numbers.
        among: description of the measured population if it is smaller than the campaign, such as "8 made-up bidders";
            empty at the campaign's own size. Rows with a description in `among` are counted separately.

    Raises:
        InvalidInput: the verdict or the concern is unknown, the verdict is "kept" or "broken" without a measurement, or
            `judged` states another number than `promised`.

    Example:
        >>> AuditRow("privacy", 1.0, 0.98, "all 12 pairs of data sets enumerated", "kept", concern="privacy").flagged
        False
    """

    promise: str
    promised: float | str
    measured: float | str | None
    evidence: str
    verdict: Verdict | str
    note: str = ""
    false_alarm: float = 0.0
    concern: Concern | str = field(kw_only=True)
    holds: tuple[str, ...] = field(default=(), kw_only=True)
    side: Side = field(default="", kw_only=True)
    unit: str = field(default="", kw_only=True)
    judged: Privacy | None = field(default=None, kw_only=True, repr=False)
    among: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.concern not in tuple(Concern):
            raise InvalidInput("concern", f"{self.concern!r} is not known", f"must be one of {', '.join(Concern)}")
        object.__setattr__(self, "concern", Concern(self.concern))
        if self.verdict not in tuple(Verdict):
            raise InvalidInput("verdict", f"{self.verdict!r} is not known", f"must be one of {', '.join(Verdict)}")
        object.__setattr__(self, "verdict", Verdict(self.verdict))
        nothing = self.measured is None or (isinstance(self.measured, float) and math.isnan(self.measured))
        if self.verdict is Verdict.KEPT and nothing:
            raise InvalidInput("measured", f"{self.measured!r} is not a measurement",
                               "a kept promise needs a measurement")
        if self.verdict is Verdict.BROKEN and self.measured is None:
            raise InvalidInput("measured", "None is not a measurement", "a broken promise needs a measurement")
        fraction("false_alarm", self.false_alarm, zero=True)
        one_of("side", self.side, get_args(Side))
        if self.judged is not None and (self.concern is not Concern.PRIVACY or self.promised != level_of(self.judged)):
            raise InvalidInput("judged", f"has the level {level_of(self.judged):g}, but the row has {self.promised}",
                               "the row must have the promise's own number")

    @classmethod
    def at_most(
        cls, promise: str, bound: float, measured: float, evidence: str, *, concern: Concern | str,
        vacuous: bool = False, note: str = "", false_alarm: float = 0.0, scale: float = 1.0, unit: str = "",
    ) -> AuditRow:
        """The row of a promised upper bound. The verdict is "broken" where `exceeds(measured, bound)`.

        Args:
            promise: description of the promise.
            bound: the promised bound; an infinite bound is vacuous.
            measured: the measured number.
            evidence: description of the measurement.
            concern: concern of the promise.
            vacuous: True where the bound states nothing although it is finite; a vacuous row needs a `note` to pass.
            note: further information for a reader.
            false_alarm: probability of a wrong "broken".
            scale: size of the numbers from which `measured` was computed as a difference, for the rounding error; 1 for
                losses in nats.
            unit: unit of both numbers.

        Example:
            >>> AuditRow.at_most("largest payment", 5.0, 5.5, "10 000 settlements", concern="budget").verdict
            <Verdict.BROKEN: 'broken'>
        """
        if math.isinf(bound) and bound > 0:
            vacuous, note = True, note or "the promised bound is infinite"
        if vacuous:
            verdict = Verdict.VACUOUS
        else:
            verdict = Verdict.BROKEN if exceeds(measured, bound, scale=scale) else Verdict.KEPT
        return cls(promise, bound, measured, evidence, verdict, note, false_alarm, concern=concern, side="at most",
                   unit=unit)

    @classmethod
    def at_least(
        cls, promise: str, bound: float, measured: float, evidence: str, *, concern: Concern | str, unit: str = ""
    ) -> AuditRow:
        """The row of a promised lower bound. The verdict is "broken" where the measured number is below the bound by
        more than rounding.

        Example:
            >>> AuditRow.at_least("utility", 1.0, 0.5, "the exact expectation", concern="participation").verdict
            <Verdict.BROKEN: 'broken'>
        """
        judged = cls.at_most(promise, -bound, -measured, evidence, concern=concern, scale=abs(measured), unit=unit)
        return replace(judged, promised=bound, measured=measured, side="at least")

    @classmethod
    def of_loss(
        cls, promise: str, claim: PrivacyLoss, promised: float, measured: float, evidence: str, *, flagged: bool,
        false_alarm: float = 0.0, unit: str = "",
    ) -> AuditRow:
        """The row of a privacy audit that has already decided whether the loss is above the promise.

        Args:
            promise: description of the promise.
            claim: the promised loss; the row is vacuous if the loss is vacuous.
            promised: the promised value of the measured parameter.
            measured: the measured number.
            evidence: description of the measurement.
            flagged: whether the audit refutes the claim.
            false_alarm: probability of a wrong "broken".
            unit: unit of both numbers, where it differs from the unit of the loss's parameter.
        """
        verdict, note = Verdict.BROKEN if flagged else Verdict.KEPT, ""
        if claim.vacuous:
            verdict, note = Verdict.VACUOUS, f"{claim} promises nothing"
        return cls(promise, promised, measured, evidence, verdict, note, false_alarm, concern=Concern.PRIVACY,
                   side="at most", unit=unit or parameter_unit(claim))

    @classmethod
    def of_privacy(
        cls, promise: Privacy, measured: float, evidence: str, *, named: str = "", note: str = "",
        flagged: bool | None = None, false_alarm: float = 0.0,
    ) -> AuditRow:
        """The row of a measured loss, compared with the number of a promise of privacy.

        Args:
            promise: promise of a plan, or of the small mechanism that was measured; the row is vacuous if the promise
                is vacuous.
            measured: the measured number, in the parameter of the promise's loss.
            evidence: description of the measurement.
            named: name of the row; the promise's sentence if left out.
            note: further information for a reader.
            flagged: whether the audit refutes the promise; if left out, whether the measured number exceeds the
                promised number.
            false_alarm: probability of a wrong "broken".

        Example:
            >>> from confide.contract import Audience, Source, Relation
            >>> from confide.privacy import PureDP
            >>> promise = Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.PUBLIC,
            ...                   source=Source(document="a", statement="b"))
            >>> row = AuditRow.of_privacy(promise, 1.5, "all pairs enumerated")
            >>> row.promised, row.verdict
            (1.0, <Verdict.BROKEN: 'broken'>)
        """
        promised = level_of(promise)
        if promise.loss.vacuous:
            verdict, note = Verdict.VACUOUS, note or f"{promise.loss} promises nothing"
        else:
            broken = exceeds(measured, promised) if flagged is None else flagged
            verdict = Verdict.BROKEN if broken else Verdict.KEPT
        return cls(named or promise.sentence(), promised, measured, evidence, verdict, note, false_alarm,
                   concern=Concern.PRIVACY, side="at most", unit=parameter_unit(promise.loss), judged=promise)

    @classmethod
    def unpromised(cls, concern: Concern | str, reason: str) -> AuditRow:
        """The row of a concern about which nothing is promised.

        Args:
            concern: a concern about which nothing is promised.
            reason: reason why nothing is promised.

        Example:
            >>> AuditRow.unpromised("participation", "nobody is invited: a custodian holds the table").verdict
            <Verdict.NO_PROMISE: 'no promise'>
        """
        return cls("nothing is promised", "nothing", None, "", Verdict.NO_PROMISE, reason, concern=concern)

    @classmethod
    def unmeasured(cls, promise: Guarantee, reason: str) -> AuditRow:
        """The row of a promise that was not measured. The row is vacuous if the promise states nothing.

        Args:
            promise: a promise of a plan.
            reason: reason why the promise was not measured.
        """
        verdict = Verdict.VACUOUS if promise.vacuous else Verdict.NOT_MEASURED
        side: Side = "at least" if isinstance(promise, Participation) else "at most"
        return cls(promise.sentence(), figure_of(promise), None, "", verdict, reason, concern=Concern.of(promise),
                   side=side, holds=(promise.sentence(),), unit=unit_of(promise))

    def holding(self, *promises: Guarantee) -> AuditRow:
        """A copy of the row that is marked as evidence for some guarantees. The guarantees must have the concern of the
        row.

        A row about privacy is evidence only for promises that follow from the promise `judged`. The row is no evidence
        for a promise with a smaller loss, another neighbour step, another part, or an audience that sees more.

        Args:
            promises: the promises for which the row is evidence; without promises the row is returned unchanged.

        Raises:
            InvalidInput: a promise has another concern, or is a promise of privacy that does not follow from the row's
                promise.

        Example:
            >>> from confide.contract import Participation, Source
            >>> paid = Participation(utility=0.0, who="everybody", source=Source(document="a", statement="b"))
            >>> row = AuditRow.at_least("utility", 0.0, 0.5, "the exact expectation", concern="participation")
            >>> row.holding(paid).holds
            ('expected payment less privacy cost is at least 0, for everybody',)
        """
        for promise in promises:
            if Concern.of(promise) is not self.concern:
                raise InvalidInput("promise", f"is about {Concern.of(promise)}, but the row is about {self.concern}")
            if isinstance(promise, Privacy) and not self._implies(promise):
                raise InvalidInput("promise", f"{promise.sentence()!r} does not follow from the row ({self.bound})",
                                   "compare the measured number with the number of this promise: `AuditRow.of_privacy`")
        return replace(self, holds=(*self.holds, *(promise.sentence() for promise in promises)))

    def smaller(self, among: str) -> AuditRow:
        """A copy of the row, marked as measured on a population smaller than the campaign.

        Args:
            among: description of the smaller population; "" leaves the row as it is.

        Example:
            >>> row = AuditRow.at_most("privacy", 1.0, 0.98, "all pairs enumerated", concern="privacy")
            >>> row.smaller("8 made-up bidders").reading
            'all pairs enumerated; measured among 8 made-up bidders, which is smaller than the campaign'
        """
        return replace(self, among=among) if among else self

    def _implies(self, promise: Privacy) -> bool:
        return promise.loss.vacuous or (self.judged is not None and implies(self.judged, promise))

    @property
    def flagged(self) -> bool:
        """Whether the verdict of the row is "broken"."""
        return self.verdict is Verdict.BROKEN

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary; infinities become the string "Infinity"."""
        return {"concern": str(self.concern), "promise": self.promise, "promised": _plain(self.promised),
                "measured": _plain(self.measured), "evidence": self.evidence, "verdict": str(self.verdict),
                "note": self.note, "false_alarm": self.false_alarm, "holds": list(self.holds), "side": self.side,
                "unit": self.unit, "among": self.among}

    @property
    def bound(self) -> float | str:
        """The promised number as a table shows it, with its unit: "at most 1.5 nats"."""
        shown = _plain(self.promised)
        if shown is None or (not self.side and (not self.unit or isinstance(shown, str))):
            return "" if shown is None else shown
        return " ".join(part for part in (self.side, number(shown), self.unit) if part)

    @property
    def found(self) -> float | str | None:
        """The measured number as a table shows it, with its unit: "1.47 nats"; None where nothing was measured."""
        shown = _plain(self.measured)
        return shown if shown is None or not self.unit else f"{number(shown)} {self.unit}"

    @property
    def named(self) -> str:
        """The description of the promise without the name of the concern at the start, such as "privacy: "."""
        return self.promise.removeprefix(f"{self.concern}: ")

    @property
    def reading(self) -> str:
        """The evidence, the measured population if it is smaller than the campaign, and the note, as a table shows
        them.
        """
        where = f"measured among {self.among}, which is smaller than the campaign" if self.among else ""
        return "; ".join(part for part in (self.evidence, where, self.note) if part)


@renamed(planted_bug="mutant")
@dataclass(frozen=True)
class Control:
    """A mechanism that was broken on purpose, which the audit must flag.

    Args:
        name: name of the audit that the control tests.
        mutant: description of the fault.
        flagged: whether the audit flagged the mutant.
    """

    name: str
    mutant: str
    flagged: bool

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return {"name": self.name, "planted_bug": self.mutant, "flagged": bool(self.flagged)}


@dataclass(frozen=True)
class Mutant:
    """A broken mechanism for a gallery of controls.

    Args:
        name: name of the audit that the mutant tests.
        bug: description of the fault.
        mechanism: object that the attack receives in place of the correct mechanism.
    """

    name: str
    bug: str
    mechanism: Any


def controls(bugs: Iterable[Mutant], attack: Callable[[Any], Finding]) -> tuple[Control, ...]:
    """Run one attack on every mutant.

    Args:
        bugs: the broken mechanisms.
        attack: the function that also audits the correct mechanism. Its result is the result of any audit of this
            package, or an `AuditRow`.

    Returns:
        One control for each mutant.

    Example:
        >>> attack = lambda scale: AuditRow.at_most("privacy", 1.0, 1.0 / scale, "closed form", concern="privacy")
        >>> controls([Mutant("privacy", "noise halved", 0.5)], attack)
        (Control(name='privacy', mutant='noise halved', flagged=True),)
    """
    return tuple(Control(bug.name, bug.bug, bool(attack(bug.mechanism).flagged)) for bug in bugs)


_LONGEST = 72  # letters of a promise, or of a bug, in a line of plain text


@dataclass(frozen=True)
class AuditReport:
    """A table of promised and measured numbers, with the controls, which show that the audit can flag a fault.

    Args:
        rows: one row for each promise; they are grouped by concern, and keep their order within a concern.
        controls: mechanisms that were broken on purpose; without any, the report does not pass.

    Example:
        >>> row = AuditRow.at_most("privacy", 1.0, 0.98, "all pairs enumerated", concern="privacy")
        >>> AuditReport((row,)).problems
        ('no control: nothing shows that this audit can find a broken promise',)
        >>> report = AuditReport((row,), (Control("privacy", "no noise", True),))
        >>> report.passed
        True
        >>> print(report)
        verdict  promise  promised   measured
        kept     privacy  at most 1      0.98
        <BLANKLINE>
        control  mutant
        flagged  privacy: no noise
        <BLANKLINE>
        Passed: 1 of 1 promises were measured (1 kept), 0 are vacuous, 0 were not measured.
    """

    rows: tuple[AuditRow, ...]
    controls: tuple[Control, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        order = tuple(Concern)
        object.__setattr__(self, "rows", tuple(sorted(self.rows, key=lambda row: order.index(Concern(row.concern)))))
        object.__setattr__(self, "controls", tuple(self.controls))

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons why the report does not pass, one sentence each; empty when the report passes."""
        found = [] if self.rows else ["no promise was audited"]
        for row in self.rows:
            if row.verdict is Verdict.BROKEN:
                found.append(f"{row.promise}: promised {row.promised}, measured {row.measured}")
            elif row.verdict is Verdict.NOT_MEASURED and not row.note:
                found.append(f"{row.promise}: not measured, and no note says why")
            elif row.verdict is Verdict.NO_PROMISE and not row.note:
                found.append(f"{row.concern}: {row.promise}, and no note says why")
            elif row.verdict is Verdict.VACUOUS and not row.note:
                found.append(f"{row.promise}: vacuous, and no note says so")
        found += [f"{c.name}: the audit did not flag {c.mutant}" for c in self.controls if not c.flagged]
        if not self.controls:
            found.append("no control: nothing shows that this audit can find a broken promise")
        return tuple(found)

    @property
    def passed(self) -> bool:
        """Whether the report passes. In a report that passes, every row is kept, or has a note that says why the row is
        not kept. No row is broken. There is at least one row and one control, and every control was flagged.
        `unmeasured` lists the promises that were not measured.
        """
        return not self.problems

    @property
    def unmeasured(self) -> tuple[AuditRow, ...]:
        """The rows of promises that were not measured."""
        return tuple(row for row in self.rows if row.verdict is Verdict.NOT_MEASURED)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of rows of the report, by verdict.

        Returns:
            Mapping from name to number. The entry "measured" counts rows that are kept or broken at the campaign's own
            size, and "smaller" counts rows that are kept or broken on a smaller population. The entries "kept" and
            "broken" count rows at any size. The entry "vacuous" counts promises that state nothing at these sizes, the
            entry "not_measured" counts promises that were not measured, and the entry "unpromised" counts concerns
            without a promise.

        Example:
            >>> row = AuditRow.at_most("privacy", 1.0, 0.98, "all pairs enumerated", concern="privacy")
            >>> AuditReport((row, AuditRow.unpromised("budget", "it only adds noise"))).counts["measured"]
            1
        """
        kept, broken, vacuous, missing, none = (
            sum(row.verdict is each for row in self.rows) for each in
            (Verdict.KEPT, Verdict.BROKEN, Verdict.VACUOUS, Verdict.NOT_MEASURED, Verdict.NO_PROMISE))
        smaller = sum(bool(row.among) and row.verdict in (Verdict.KEPT, Verdict.BROKEN) for row in self.rows)
        return {"measured": kept + broken - smaller, "smaller": smaller, "kept": kept, "broken": broken,
                "vacuous": vacuous, "not_measured": missing, "unpromised": none}

    @property
    def false_alarm(self) -> float:
        """Upper bound of the probability that at least one row says "broken" although the mechanism keeps the promise
        of the row.
        """
        return min(1.0, math.fsum(row.false_alarm for row in self.rows))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return {"passed": self.passed, "problems": list(self.problems), "false_alarm": self.false_alarm,
                "unmeasured": len(self.unmeasured), "counts": self.counts,
                "rows": [row.to_dict() for row in self.rows],
                "controls": [control.to_dict() for control in self.controls]}

    def to_section(self, title: str = "Promised against measured", *, study: bool = False) -> Section:
        """The report as a section of a page.

        Args:
            title: heading of the section.
            study: True where the audit ran on private data under simulated noise.
        """
        blocks: list[Block] = [
            Table(columns=("concern", "promise", "promised", "measured", "verdict", "evidence"), note=self._legend(),
                  rows=tuple((str(row.concern), row.named, row.bound, row.found, str(row.verdict), row.reading)
                             for row in self.rows)),
            Table(columns=("control", "mutant", "flagged"),
                  note="mechanisms broken on purpose; the audit must flag every one",
                  rows=tuple((c.name, c.mutant, "yes" if c.flagged else "NO") for c in self.controls)),
            Text((f"{self._outcome()}: {self._said()}.", *self.problems)),
        ]
        return Section(title=title, blocks=tuple(blocks), study=study)

    def __str__(self) -> str:
        """The report as `print` shows it, with the evidence for broken promises only; `to_section` shows the evidence
        for all rows.
        """
        named = (f"{row.concern}: " * (row.verdict is Verdict.NO_PROMISE) + row.promise for row in self.rows)
        rows = tuple((str(row.verdict), printable(promise, _LONGEST), row.bound, row.found)
                     for row, promise in zip(self.rows, named, strict=True))
        injected = tuple(("flagged" if c.flagged else "NOT flagged", printable(f"{c.name}: {c.mutant}", _LONGEST))
                         for c in self.controls)
        return "\n\n".join(str(block) for block in (
            Table(columns=("verdict", "promise", "promised", "measured"), rows=rows),
            Table(columns=("control", "mutant"), rows=injected),
            Text((f"{self._outcome()}: {self._said()}.", *self.problems,
                  *(f"{row.promise}, as it was measured: {row.reading}" for row in self.rows if row.flagged)))))

    def _legend(self) -> str:
        """The meaning of each verdict that stands in the table."""
        there = {row.verdict for row in self.rows}
        chance = f"; a kept promise is called broken with probability at most {self.false_alarm:.2g}"
        said = [f"kept: the evidence found nothing above the promise{chance if self.false_alarm else ''}"]
        if Verdict.VACUOUS in there:
            said.append("vacuous: the promise says nothing at these sizes, so nothing could break it. It does not "
                        "count as kept, and the report passes only because the row states this")
        if Verdict.NOT_MEASURED in there:
            said.append("not measured: its row has the reason")
        if Verdict.NO_PROMISE in there:
            said.append("no promise: the campaign promises nothing about this concern, so there is nothing to measure")
        return ". ".join(said) + "."

    def _outcome(self) -> str:
        if not self.passed:
            return "Not passed"
        return "Passed, for the measured promises" if self.unmeasured else "Passed"

    def _said(self) -> str:
        """The numbers of measured promises, of vacuous promises, and of promises that were not measured."""
        n = self.counts
        found = f"{n['kept']} kept" + (f", {n['broken']} broken" if n["broken"] else "")
        less = f" at the campaign's own size and {n['smaller']} on smaller data" if n["smaller"] else ""
        about = (f"; there is no promise about {n['unpromised']} of {len(Concern)} concerns" if n["unpromised"] else "")
        rows = n["measured"] + n["smaller"] + n["vacuous"] + n["not_measured"]
        return (f"{n['measured']} of {rows} promises were measured{less} ({found}), "
                f"{n['vacuous']} {'is' if n['vacuous'] == 1 else 'are'} vacuous, {n['not_measured']} "
                f"{'was' if n['not_measured'] == 1 else 'were'} not measured{about}")

    def _repr_html_(self) -> str:
        """The report as a notebook shows it: the rows, the controls, and whether the report passed."""
        parts = [block.to_html() if isinstance(block, Table) else
                 "".join(f"<p>{html.escape(words)}</p>" for words in getattr(block, "paragraphs", ()))
                 for block in self.to_section().blocks]
        return "".join(parts)

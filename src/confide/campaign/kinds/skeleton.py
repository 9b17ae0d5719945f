"""The common parts of the campaign kinds that confide ships: the layout of plans, results and shares, and the tables
that occur in several kinds of campaign files.

A plan computes figures, and each kind has its own sentences about its figures. This module has the parts of pages that
are the same for all kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field, model_validator

from confide.contract.checks import is_power_of_ten
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Audience, Guarantees, promises_table
from confide.contract.kinds import Collection, HeldData
from confide.contract.known_keys import Keys
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.presentation import Block, Section, Table, Text, joined
from confide.contract.words import money, money_at_least, money_at_most
from confide.privacy.groups import group_blocks, groups_section, guess_in_words, right_at_most

__all__ = ["WEAK", "AnyOutcome", "CurrencyTable", "Finite", "KindSkeleton", "LawTable", "MoneyTable", "MoneyWords",
           "Parameters", "Positive", "Share", "ShownPlan", "no_rehearsal", "not_disclosed", "plan_page", "promised",
           "settled_otherwise", "share_page"]

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]

Parameters = Mapping[str, tuple[str, ...]]
"""Mapping from the name of a probability law to the names of the parameters of this law."""


class KindSkeleton:
    """The base class of the kinds that confide ships: the methods that follow from a kind's name, mechanism and pages.

    A subclass sets `runs`, the class of its mechanisms, and `part`, the field of its plans that holds the mechanism.
    The plans are `ShownPlan`, with an object `pages` of functions. The functions `sections` and `offer` take a plan.
    The functions `result_sections` and `result_tables` take the plan and the outcome of a run. The function `explain`
    takes plan, outcome, a participant's record and their position in the list of ids. The function `study_sections`
    takes plan, data and outcome.
    """

    name: ClassVar[str]
    runs: ClassVar[type]
    part: ClassVar[str] = "mechanism"

    if TYPE_CHECKING:
        template: str
    else:
        @cached_property
        def template(self) -> str:
            """A commented campaign file to start from."""
            return files(__package__).joinpath("templates", f"{self.name.replace('-', '_')}.toml").read_text("utf-8")

    def settled(self, plan: Any, outcome: AnyOutcome) -> Any:
        """The given plan, with the mechanism that made the outcome in place of the planned mechanism. This version of
        confide might plan another mechanism than the version that made the outcome.

        Raises:
            InvalidInput: the outcome is of another kind.
        """
        if not isinstance(outcome.mechanism, self.runs):
            raise InvalidInput("outcome", "is of another kind of campaign", f"must be of the kind {self.name!r}")
        return plan if plan.mechanism == outcome.mechanism else replace(plan, **{self.part: outcome.mechanism})

    def result(self, plan: Any, outcome: AnyOutcome) -> Sequence[Section]:
        found: Sequence[Section] = plan.pages.result_sections(self.settled(plan, outcome), outcome)
        # A study's noise follows from a seed: its page hides nothing.
        return [each for each in found if not isinstance(outcome, SimulatedOutcome) or each.title != _NOT_DISCLOSED]

    def tables(self, plan: Any, outcome: AnyOutcome) -> Mapping[str, pa.Table]:
        found: Mapping[str, pa.Table] = plan.pages.result_tables(self.settled(plan, outcome), outcome)
        return found

    def explain(self, plan: Any, outcome: AnyOutcome, record: Any, index: int) -> Sequence[Section]:
        found: Sequence[Section] = plan.pages.explain(self.settled(plan, outcome), outcome, record, index)
        return found

    def study(self, plan: Any, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        data = collection.data.read() if isinstance(collection.data, HeldData) else collection.data
        found: Sequence[Section] = plan.pages.study_sections(self.settled(plan, outcome), data, outcome)
        return found


# ---- pages


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownPlan:
    """The base class of plans whose texts, for the operator and for participants, are functions in an object `pages`.

    Args:
        pages: object, such as a module, with the functions of `KindSkeleton`; before a run, `sections` and `offer` are
            used.
    """

    pages: Any = field(repr=False)

    if TYPE_CHECKING:
        @property
        def mechanism(self) -> Any:
            """The mechanism that will run or, for a plan with an outcome, the mechanism that ran."""

    @cached_property
    def guarantees(self) -> Guarantees:
        found: Guarantees = self.mechanism.guarantees()
        return found

    def sections(self) -> Sequence[Section]:
        return self._sections

    @cached_property  # some take half a second, which each look at a desk would take
    def _sections(self) -> tuple[Section, ...]:
        return tuple(self.pages.sections(self))

    def offer(self) -> Sequence[Section]:
        found: Sequence[Section] = self.pages.offer(self)
        return found


def plan_page(
    plan: Any, rows: Sequence[tuple[str, Any]], note: str, warnings: Iterable[str], *between: Section | Block,
    said: str = "", **words: Callable[..., str],
) -> list[Section]:
    """The page of a plan: the figures and warnings, the parts that the kind adds, the promises, and the meaning of the
    promises for groups of people.

    Args:
        plan: plan with a mechanism and its promises (`guarantees`).
        rows: figures of the plan, as pairs of a name and an amount.
        note: text below the table of figures.
        warnings: warnings to the operator, each a clause without a full stop.
        between: blocks that are added to the first section, and sections that are placed between figures and promises.
        said: text about all promises together.
        words: arguments for `promises_table`, by name.
    """
    warned = tuple(f"Warning: {each}." for each in warnings)
    blocks = [each for each in between if not isinstance(each, Section)]
    return [
        Section(title="Plan", blocks=(Table(columns=("what", "planned"), rows=tuple(rows), note=note), *blocks,
                                      *((Text(warned),) if warned else ()))),
        *(each for each in between if isinstance(each, Section)),
        Section(title="Guarantees", blocks=(promises_table(plan.guarantees, said, **words),)),
        groups_section(plan.mechanism, plan.guarantees.privacy)]


def promised(plan: Any, *said: str) -> Section:
    """The section of a result page on the promises and on the audience of each promise.

    Args:
        plan: plan with which the campaign was settled.
        said: paragraphs about the promises.
    """
    return Section(title="Promises and their audiences", folded=True, blocks=(
        Text(said), *group_blocks(plan.mechanism, plan.guarantees.privacy)))


def not_disclosed(plan: Any, example: str, audience: Audience, *more: str, thing: str = "record") -> Section:
    """The section of a result page on the limits that noise sets to conclusions about one person, with an example.

    Args:
        plan: plan with which the campaign was settled.
        example: fact about one person that the page does not state, as a clause that begins with "whether", or as a
            noun.
        audience: audience of the page; the page states the promises towards this audience.
        more: sentences that are added at the end.
        thing: word for the record that a person hands in, such as "answer".
    """
    promises = plan.guarantees.privacy
    if right_at_most(plan.mechanism, promises, audience) > WEAK:
        said = (f"The promise of privacy is weak. Somebody may be able to tell from this page {example}.")
    else:
        said = (f"Noise limits all conclusions from this page about {example}. Anybody can still guess that a fact "
                "about most people holds for one person, with or without that person's record.")
    guess = guess_in_words(plan.mechanism, promises, audience, somebody=True, thing=thing)
    return Section(title=_NOT_DISCLOSED, blocks=(Text((said, guess, *more)),))


_NOT_DISCLOSED = "Limits of conclusions from this page"
WEAK = 0.9
"""Probability of a right guess above which a page calls its promise of privacy weak."""


def share_page(title: str, *parts: str | Block) -> list[Section]:
    """The private page of one participant, with a single section.

    Args:
        title: title of the section.
        parts: paragraphs and other blocks, in reading order.
    """
    return [Section(title=title, private=True, blocks=joined(*parts))]


def settled_otherwise(
    who: str, stored: str, today: str, *more: str, thing: str = "record", gets: str = "be paid", at: str = "at",
) -> list[Section]:
    """The page of one participant for the case that the record in the file now gives another share than the share that
    was settled.

    Args:
        who: words for the participant, such as "Participant 7".
        stored: settled share in words, which is the valid share.
        today: share in words that the present record in the file would give.
        more: paragraphs that are added at the end.
        thing: word for a record in the file, such as "report".
        gets: verb in the infinitive, such as "be paid" or "get", with which the sentence about the present record
            continues.
        at: preposition in the title, between the word "settled" and the settled share.
    """
    return share_page(
        f"{who}: settled {at} {stored}",
        f"The file now holds another {thing} than the settled one. The present {thing} would {gets} {today}. The "
        f"settlement counts: {stored}.", *more)


class MoneyWords:
    """Texts for amounts of money. The property `coined` is the object that knows the currency."""

    @property
    def coined(self) -> Any:
        """The object with the name of the currency, `currency`, and the number of smallest units in 1 of the currency,
        `minor_units`, such as 100 cents.
        """
        raise NotImplementedError

    def money(self, amount: float) -> str:
        """An amount in the currency as text, rounded to the smallest unit of the currency."""
        return f"{amount:,.{len(str(self.coined.minor_units)) - 1}f} {self.coined.currency}"

    def at_most(self, amount: float) -> str:
        """An amount in the currency as text, rounded up to the smallest unit of the currency. The text is for upper
        bounds, and for payments that are rounded up.
        """
        return money_at_most(amount, self.coined.minor_units, self.coined.currency)

    def at_least(self, amount: float) -> str:
        """An amount in the currency as text, rounded down to the smallest unit of the currency, for lower bounds."""
        return money_at_least(amount, self.coined.minor_units, self.coined.currency)

    def coins(self, coins: int) -> str:
        """An amount that is given in the smallest units of the currency, such as cents, as text in the currency."""
        return money(coins, self.coined.minor_units, self.coined.currency)


def no_rehearsal(what: str = "true answers") -> Refused:
    """The error for a rehearsal of a campaign file that names no public records from which to draw participants'
    reports.
    """
    return Refused("the campaign file has no [rehearsal]",
        f"add [rehearsal] with a source of {what} that are already public")


# ---- tables


class LawTable(Keys):
    """A table with a key `law` that chooses a law. The table may hold only the parameters of this law."""

    NEEDS: ClassVar[Parameters]
    """The parameters that each law requires; a law that requires none may be missing here."""
    MAY_HAVE: ClassVar[Parameters] = {}
    """The parameters that each law may have, besides the required ones."""

    if TYPE_CHECKING:
        law: str

    @model_validator(mode="after")
    def _parameters(self) -> LawTable:
        laws = dict[str, list[str]]()
        for found in (self.NEEDS, self.MAY_HAVE):
            for law, names in found.items():
                for name in names:
                    laws.setdefault(name, []).append(law)
        for name, its in laws.items():
            given = getattr(self, name) is not None
            if not given and name in self.NEEDS.get(self.law, ()):
                raise ValueError(f"{name} is missing, and law = {self.law!r} needs it")
            if given and self.law not in its:
                raise ValueError(f"{name} belongs to law = {' and law = '.join(map(repr, its))}, and only to "
                                 f"{'it' if len(its) == 1 else 'them'}")
        return self


class CurrencyTable(Keys):
    """The currency of a campaign. Each subclass declares the number of smallest coins in one unit of the currency."""

    currency: str = Field(min_length=1, description="name of the currency on pages and in files, such as euro")
    if TYPE_CHECKING:
        minor_units: int

    @model_validator(mode="after")
    def _power_of_ten(self) -> CurrencyTable:
        if not is_power_of_ten(self.minor_units):
            raise ValueError(f"minor_units must be a power of ten, not {self.minor_units}")
        return self


class MoneyTable(CurrencyTable):
    """The currency of the payments, and the number of smallest coins in one unit of the currency, such as 100 cents."""

    minor_units: int = Field(default=100, ge=1, le=10**18, description="smallest coins per unit, a power of ten")

"""The common parts of confide's own kinds: the layout of plans, results and shares, and the tables that several files
have.

A plan computes figures, and a kind has its own sentences about them; this module has the parts that frame these
sentences.
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

__all__ = ["AnyOutcome", "CurrencyTable", "Finite", "KindSkeleton", "LawTable", "MoneyTable", "MoneyWords",
           "Parameters", "Positive", "Share", "ShownPlan", "no_rehearsal", "not_disclosed", "plan_page", "promised",
           "settled_otherwise", "share_page"]

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]

Parameters = Mapping[str, tuple[str, ...]]
"""Mapping from a law to the names of its parameters."""


class KindSkeleton:
    """The part of each of confide's own kinds that follows from its name and its mechanism.

    `runs` is the class of the kind's mechanisms, and `part` is the field of its plans that holds the mechanism. The
    plans of a kind are `ShownPlan`, with an object `pages` of functions. `sections` and `offer` take a plan.
    `result_sections` and `result_tables` take a settled plan and its outcome. `explain` takes a settled plan, its
    outcome, a record and the record's index, and `study_sections` takes a settled plan, its outcome and the data.
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
        """The plan with the mechanism of the outcome, even where this version of confide would plan another mechanism.

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
    """A plan that computes figures; the texts about them, for the operator and for participants, stand in its kind's
    `pages`.

    Args:
        pages: an object, such as a module, with functions `sections` and `offer` for the plan.
    """

    pages: Any = field(repr=False)

    if TYPE_CHECKING:
        @property
        def mechanism(self) -> Any:
            """The mechanism that will run, or that ran."""

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
    """The page of a plan: its figures and warnings, further parts of its kind, its promises, and their meaning for
    several people.

    Args:
        plan: an object with `mechanism` and `guarantees`.
        rows: the figures, as pairs of a name and an amount.
        note: a text below the figures.
        warnings: clauses without a full stop.
        between: further blocks of the first section, and further sections.
        said: the text about all promises.
        words: further arguments of `promises_table`.
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
    """The section on the promises of a result, and their audiences.

    Args:
        plan: the plan that was settled.
        said: paragraphs.
    """
    return Section(title="Promises and their audiences", folded=True, blocks=(
        Text(said), *group_blocks(plan.mechanism, plan.guarantees.privacy)))


def not_disclosed(plan: Any, example: str, audience: Audience, *more: str, thing: str = "record") -> Section:
    """The section on the limits that noise sets to conclusions from a result page, with an example from the campaign.

    Args:
        plan: the plan that was settled.
        example: a fact about one person that the page does not state, as a clause that begins with "whether", or as a
            noun.
        audience: the audience of the page.
        more: further sentences.
        thing: the word for the record that a person hands in.
    """
    promises = plan.guarantees.privacy
    if right_at_most(plan.mechanism, promises, audience) > _CERTAIN:
        said = (f"The promise of privacy is weak. Somebody may be able to tell from this page {example}.")
    else:
        said = (f"Noise limits all conclusions from this page about {example}. Anybody can still guess that a fact "
                "about most people holds for one person, with or without that person's record.")
    guess = guess_in_words(plan.mechanism, promises, audience, somebody=True, thing=thing)
    return Section(title=_NOT_DISCLOSED, blocks=(Text((said, guess, *more)),))


_NOT_DISCLOSED = "Limits of conclusions from this page"
_CERTAIN = 0.9
"""Probability of a right guess above which a page calls its promise of privacy weak."""


def share_page(title: str, *parts: str | Block) -> list[Section]:
    """One participant's private page, with a single section.

    Args:
        title: the title.
        parts: paragraphs, and other blocks between them.
    """
    return [Section(title=title, private=True, blocks=joined(*parts))]


def settled_otherwise(
    who: str, stored: str, today: str, *more: str, thing: str = "record", gets: str = "be paid", at: str = "at",
) -> list[Section]:
    """One participant's page, where today's record in the file differs from the settled one.

    Args:
        who: the participant, as the subject of a sentence.
        stored: the settled share, which counts.
        today: the share that today's record would give.
        more: further paragraphs.
        thing: the word for a record in the file.
        gets: the verb of the share, in the infinitive: the record would "be paid" or "get" the share.
        at: the preposition between the word "settled" and the settled share.
    """
    return share_page(
        f"{who}: settled {at} {stored}",
        f"The file now holds another {thing} than the settled one. The present {thing} would {gets} {today}. The "
        f"settlement counts: {stored}.", *more)


class MoneyWords:
    """Texts for amounts of money, in the currency of the object `coined`, which has `currency` and `minor_units`."""

    @property
    def coined(self) -> Any:
        """The object with the attributes `currency` and `minor_units`."""
        raise NotImplementedError

    def money(self, amount: float) -> str:
        """An amount in the currency."""
        return f"{amount:,.{len(str(self.coined.minor_units)) - 1}f} {self.coined.currency}"

    def at_most(self, amount: float) -> str:
        """An amount rounded up to the smallest unit of the currency, for upper bounds and for payments that are rounded
        up.
        """
        return money_at_most(amount, self.coined.minor_units, self.coined.currency)

    def at_least(self, amount: float) -> str:
        """An amount rounded down to the smallest unit of the currency, for lower bounds."""
        return money_at_least(amount, self.coined.minor_units, self.coined.currency)

    def coins(self, coins: int) -> str:
        """An amount in the smallest units of the currency, such as cents, as text in the currency's unit."""
        return money(coins, self.coined.minor_units, self.coined.currency)


def no_rehearsal(what: str = "true answers") -> Refused:
    """The refusal of a rehearsal whose campaign file names no public records to play the participants with."""
    return Refused("the campaign file has no [rehearsal]",
        f"add [rehearsal] with a source of {what} that are already public")


# ---- tables


class LawTable(Keys):
    """A table with a key `law` that chooses a law; it may hold only the parameters of this law."""

    NEEDS: ClassVar[Parameters]
    """Required parameters of each law; a law without required parameters may be missing here."""
    MAY_HAVE: ClassVar[Parameters] = {}
    """Optional parameters of each law."""

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
    """The currency of a campaign; each subclass declares the number of its smallest coins per unit."""

    currency: str = Field(min_length=1, description="name of the currency on pages and in files, such as euro")
    if TYPE_CHECKING:
        minor_units: int

    @model_validator(mode="after")
    def _power_of_ten(self) -> CurrencyTable:
        if not is_power_of_ten(self.minor_units):
            raise ValueError(f"minor_units must be a power of ten, not {self.minor_units}")
        return self


class MoneyTable(CurrencyTable):
    """The currency of the payments, and the number of its smallest coins per unit."""

    minor_units: int = Field(default=100, ge=1, le=10**18, description="smallest coins per unit, a power of ten")

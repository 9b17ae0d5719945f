"""A planned search: its mechanism, what it may tell about anybody, and what it can find, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from confide.campaign.kinds.searching.config import PLACES, SearchConfig, statistic_of
from confide.charts import curves
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, promises_table
from confide.contract.offering import CUSTODIANS_WITHDRAWAL, Question, answer, likelier
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.replanned import nearest
from confide.contract.words import number
from confide.privacy.groups import groups_section, guess_in_words
from confide.privacy.losses import PROMISES_LITTLE
from confide.search.planning import RANDOM, SearchPlan
from confide.search.search_accounting import compositions
from confide.search.targeted import PTarget

__all__ = ["BASIS", "PlannedSearch", "plan_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedSearch(SearchPlan):
    """What a campaign of the kind `search` would give.

    Args:
        config: the file.
    """

    config: SearchConfig

    @cached_property
    def printed(self) -> float | None:
        """What the source claims of the same noise, which is false; None for other noise than it uses.

        Source: Wu 2017, section 7.5, (k-1)/b for noise of scale b; a selection costs twice that (erratum 2).
        """
        it = self.mechanism
        return it.calls * it.call.sensitivity / it.call.noise_scale if it.noise_kind == "laplace" and it.calls else None

    @cached_property
    def sums(self) -> dict[str, float]:
        """The epsilon of all calls by each rule, at the file's delta; empty without one."""
        it = self.mechanism
        return compositions(it.calls, it.epsilon, it.delta, it.stop, it.noise_kind) if it.delta else {}

    @property
    def charged(self) -> float:
        """What the ledger is charged under its usual rule: the plain sum, or the concentrated one where it is less."""
        return min(self.total, self.sums.get("two-step", math.inf))

    @property
    def accuracy(self) -> Accuracy | None:
        """The promise about the drawn threshold; None where none is drawn."""
        return next(iter(self.guarantees.of(Accuracy)), None)

    def sections(self) -> Sequence[Section]:
        return plan_sections(self)

    def offer(self) -> Sequence[Section]:
        return offer_sections(self)

    def to_dict(self) -> dict[str, Any]:
        it, accuracy = self.mechanism, self.accuracy
        return {
            "people": it.people, "components": it.components, "searches": it.calls, "stop": it.stop,
            "statistic": it.statistic.name, "noise": it.noise_kind, "scale": it.call.noise_scale,
            "degree_bound": it.degree_bound, "stopping_target": it.stopping_target,
            "epsilon_each": it.epsilon, "epsilon_in_all": self.total, "delta": it.delta,
            "stated": self.loss.epsilon, "charged": self.charged, "sums": self.sums,
            "multiplier": _grown(self.total), "printed_multiplier": None if self.printed is None else
            _grown(self.printed),
            "threshold": None if accuracy is None else {"bound": accuracy.bound, "vacuous": accuracy.vacuous,
                                                        "failure_probability": accuracy.failure_probability},
            "gives_up_after": self.gives_up,
            "publish_on": None if self.config.release.publish_on is None else
            self.config.release.publish_on.isoformat(),
            "worth": [{"value": value, "before": before, "at_random": self.people / 2,
                       "gives_up_before": self.missed(value)}
                      for value, before in self.worth],
        }


def _grown(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


@lru_cache(maxsize=16)  # the pages of a campaign plan it again and again
def plan_of(config: SearchConfig) -> PlannedSearch:
    """Plan from a file's public parameters.

    Raises:
        InvalidInput: what the file asks for makes no sense; names the key.
        Refused: noise drowns every statistic that a person can have: to ask at random is as good, and costs nothing.
    """
    search, privacy = config.search, config.privacy
    try:
        mechanism = PTarget(
            config.graph.people, search.components, search.stopping_target, privacy.epsilon, privacy.degree_bound,
            search.stop, statistic=statistic_of(search), noise_kind=search.noise, delta=privacy.delta,
            public_threshold=search.public_threshold, largest_threshold=search.largest_threshold)
        _ = mechanism.guarantees()
    except InvalidInput as error:
        raise InvalidInput(PLACES.get(error.field, error.field), error.problem, error.limit) from None
    plan = PlannedSearch(config=config, mechanism=mechanism)
    value, before = plan.worth[-1]
    if before >= RANDOM * plan.people:
        raise Refused(
            f"privacy.epsilon: at {privacy.epsilon:g} the noise has scale {mechanism.call.noise_scale:,.4g}, and even "
            f"a hidden member with the largest value there can be ({value:,}) would come after "
            f"{before / plan.people:.0%} of everybody: to examine people in a random order is as good, and tells "
            "nothing about anybody's contacts",
            nearest(config, plan_of, "privacy.epsilon", privacy.epsilon)
            or "spend more on each search, or look for fewer components at the same total")
    return plan


_NAMES = {
    "basic": "plain sum, at delta = 0 already", "calls: advanced": "advanced composition of whole searches",
    "calls: zcdp plain": "concentrated, of whole searches, by the plain formula",
    "calls: zcdp": "concentrated, of whole searches, converted tightly",
    "calls: optimal": "optimal composition of whole searches",
    "steps: optimal": "optimal composition of thresholds and selections",
    "two-step": "thresholds and selections concentrated apart",
}

_STOPS = {
    "none": "never: it goes on until it has found somebody, or has examined everybody",
    "public": "at a made-up target whose value stands in the file, with noise like everybody's",
    "private": "at a made-up target; its value is drawn so that about K people have at least that value",
    "smoothed": "at a made-up target; its value is drawn so that about K people are expected to come before it",
}

BASIS = ("It is a statement about the list as a sequence, for one protected person whose contacts are changed in any "
         "way.")

_OPEN = (
    "who is a member of the group: the list says so of everybody on it",
    "contacts between two members of the group: they decide the order within a component",
    "anything that is not released: whom the operator examined, how many, the thresholds. They tell on contacts "
    "without bound, and are the operator's alone",
)


def described(plan: PlannedSearch) -> str:
    """The search in one sentence."""
    it = plan.mechanism
    return (f"from each found member the search follows contacts and examines everybody next to the group; then, up to "
            f"{it.calls:,} times, it examines others in the order of {it.statistic.name} with the found, plus "
            f"{it.noise_kind.replace('_', ' ')} noise of scale {it.call.noise_scale:.4g}, until another member turns "
            "up")


def plan_sections(plan: PlannedSearch) -> list[Section]:
    """What the operator would get, from public parameters alone."""
    it, config = plan.mechanism, plan.config
    rows: list[tuple[str, str | float | None]] = [
        ("people (fixed and public)", number(it.people)),
        ("known members to begin with", number(len(config.search.seeds))),
        ("components that are found at most", f"{it.components:,}, and those of further seeds"),
        ("what is done", described(plan)),
        ("when a search for another component gives up", _STOPS[it.stop]),
        *([] if it.stopping_target is None or not it.call.draws_threshold else
          [("K", number(it.stopping_target))]),
        *([] if it.public_threshold is None else [("the threshold in the file", number(it.public_threshold))]),
        ("largest number of contacts of anybody (public bound)",
         "none is needed" if it.degree_bound is None else number(it.degree_bound)),
        ("privacy of one protected person's contacts, towards the public", str(plan.loss)),
    ]
    blocks: list[Block] = [Table(
        columns=("what", "planned"), rows=tuple(rows),
        note="Everything here follows from public parameters. What is expected is no promise.")]
    warnings = _warnings(plan)
    if warnings:
        blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
    return [
        Section(title="Plan", blocks=tuple(blocks)), _spends(plan), _worth(plan),
        Section(title="What is not promised", blocks=(Text((
            f"{BASIS} Nothing is promised about:", *(f"- {each}." for each in (*_OPEN, _time(plan))),
            *(() if it.degree_bound is None else (
                f"networks in which somebody has more than {it.degree_bound:,} contacts: one is refused before it is "
                "searched, and the campaign is over: the ledger was charged before, and keeps the debit. Take the "
                "bound from outside knowledge. A bound that is read off this network is a leak, "
                "and to leave contacts out until it holds is no remedy: it changes other people's lists, too.",)),
        )),)),
        Section(title="Guarantees", blocks=(promises_table(plan.guarantees),)),
        groups_section(it, plan.guarantees.privacy),
    ]


def _time(plan: PlannedSearch) -> str:
    """What the day of the publication tells."""
    what = "when the list appears: the time that a search takes follows from contacts, without bound"
    day = plan.config.release.publish_on
    if day is None:
        return (f"{what}. No day is fixed in the file: the list is published by the run that ends the search, and "
                "whoever sees on which day that was learns how long it took. release.publish_on = YYYY-MM-DD fixes one")
    return (f"{what}. It is published by the first run on {day.isoformat()} or later (UTC), which tells nothing if "
            "the search has ended by then and is run on that very day; a list that comes later tells that it was not, "
            "or did not")


def _spends(plan: PlannedSearch) -> Section:
    it = plan.mechanism
    rows: list[tuple[str, str, str]] = [
        ("one search for a component", f"{it.epsilon:.4g}", likelier(it.epsilon)),
        (f"{it.calls:,} of them, for certain (delta = 0)", f"{plan.total:.4g}", likelier(plan.total)),
    ]
    if plan.sums:
        rows += [(f"but for a probability of delta = {it.delta:g}", f"{plan.loss.epsilon:.4g}",
                  likelier(plan.loss.epsilon)),
                 ("charged to the ledger", f"{plan.charged:.4g}", likelier(plan.charged))]
    if plan.printed is not None:
        rows.append(("what the source claims of the same noise (false)", f"{plan.printed:.4g}", likelier(plan.printed)))
    blocks: list[Block] = [Table(
        columns=("what", "epsilon", "how much likelier any list may get, at most"), rows=tuple(rows),
        note="The source counts a selection at half of what it costs, and a drawn threshold not at all. All searches "
             "are charged before contacts are read, also those that are not made; the list that is released loses at "
             "most epsilon for each search that was made, which it says itself. To follow contacts within a component "
             "costs nothing.")]
    if plan.sums:
        blocks.append(Table(
            columns=("how the searches are added up", f"epsilon at delta = {it.delta:g}"),
            rows=tuple((_NAMES.get(name, name), value) for name, value in
                       sorted(plan.sums.items(), key=lambda each: each[1])),
            note="Each is a valid bound of the same run; the least is stated."))
    return Section(title="What it spends", blocks=tuple(blocks))


def _worth(plan: PlannedSearch) -> Section:
    it = plan.mechanism
    gives_up = it.stop != "none"
    rows = tuple((value, before, plan.people / 2, *([plan.missed(value)] if gives_up else []))
                 for value, before in plan.worth)
    table = Table(
        columns=(f"{it.statistic.name} of a hidden member with the found",
                 "people of value 0 who come before her, expected", "the same in a random order",
                 *(["chance that the search gives up before her"] if gives_up else [])),
        rows=rows, note=f"If everybody else of the {plan.people:,} has the value 0; others with a value of their own "
                        "come before her more often. A random order costs no privacy at all: what the noisy order "
                        "saves beside it is what epsilon buys.")
    drawn = [*((float(value), before, "noisy order") for value, before in plan.worth),
             *((float(value), plan.people / 2, "random order") for value, _ in plan.worth)]
    first, middle, last = plan.worth[0], plan.worth[len(plan.worth) // 2], plan.worth[-1]
    pictures = curves(drawn, title="What the noisy order is worth", x=f"{it.statistic.name} of a hidden member",
                      y="people examined before her", log_x=True, alt=(
                          f"A hidden member with the value {first[0]:,} comes after {first[1]:,.0f} others, one with "
                          f"{last[0]:,} after {last[1]:,.0f}; in a random order after {plan.people / 2:,.0f}."))
    ends = [] if plan.gives_up is None else [
        "A search that gives up is the last one: nothing is sought after it, so that an early failure ends everything. "
        f"All {it.calls:,} searches for members with the value {last[0]:,} succeed with a chance of "
        f"{(1 - (plan.missed(last[0]) or 0.0)) ** it.calls:.1%}, for members with the value {middle[0]:,} with one of "
        f"{(1 - (plan.missed(middle[0]) or 0.0)) ** it.calls:.1%}, if each is for one member alone.",
        f"Where everybody's value is 0, so that nothing can be found but by chance, a search gives up after "
        f"{plan.gives_up:,.0f} examinations on average"
        + ("." if not it.call.draws_threshold else f"; K = {it.stopping_target:,} was asked for.")]
    if plan.accuracy is not None:
        found = plan.accuracy
        ends.append(
            f"The threshold: with {1 - found.failure_probability:.0%} the number that it aims at is within "
            f"{found.bound:,.4g} people of the best one that there is"
            + (": at these sizes that says nothing." if found.vacuous else "."))
    return Section(title="What the paid searches are worth", blocks=(table, *pictures, *((Text(tuple(ends)),) if ends
                                                                                         else ())))


def _warnings(plan: PlannedSearch) -> list[str]:
    it, found = plan.mechanism, list[str]()
    if it.delta * it.people >= 1:
        found.append(f"a delta of at least 1/{it.people:,} allows that somebody's contacts are told outright: choose "
                     "it far smaller")
    if plan.loss.epsilon > PROMISES_LITTLE:
        found.append(f"an epsilon of {plan.loss.epsilon:.4g} in all promises little")
    value, before = plan.worth[-1]
    if before > 0.25 * plan.people:
        found.append(f"noise drowns nearly everything: even a hidden member with the value {value:,} would come after "
                     f"{before / plan.people:.0%} of everybody. Consider a random order, which costs nothing")
    if plan.accuracy is not None and plan.accuracy.vacuous:
        found.append("nothing is proved about when a search gives up: the drawn threshold can be any. stop = \"public\""
                     " with a threshold from outside knowledge has half of the noise, and stop = \"smoothed\" is drawn "
                     "more sharply than \"private\"")
    if plan.gives_up is not None and it.call.draws_threshold and it.stopping_target is not None \
            and plan.gives_up > 10 * max(it.stopping_target, 1):
        found.append(f"a search that can find nobody examines {plan.gives_up:,.0f} people on average, far more than "
                     f"K = {it.stopping_target:,}")
    if it.stop == "none":
        found.append("a search that finds nobody examines everybody: with stop = \"none\" the bill has no bound but "
                     "the number of people")
    return found


def offer_sections(plan: PlannedSearch) -> list[Section]:
    """The plan as a person of the network reads it, who is not a member of the group."""
    it, delta = plan.mechanism, float(getattr(plan.loss, "delta", 0.0))
    but = f", but for a probability of {delta:g}," if delta else ""
    limit = "" if it.degree_bound is None else (f" This holds where nobody has more than {it.degree_bound:,} contacts; "
                                                "otherwise nothing is published.")
    return [
        answer(Question.REPORT, "What is asked of you is perhaps to be examined, once. A custodian knows who of "
                                f"{plan.people:,} people is in contact with whom, and looks for the members of a group "
                                "among them, such as the infected or those who took part in a fraud."),
        Section(title="What is published", blocks=(Text((
            "The ids of those who were found to be members, in the order in which they were found. If you are not a "
            "member, you are not on it, whether you were examined or not.",)),)),
        answer(Question.SEES, "The custodian knows the contacts, and who was examined. Everybody else sees the list, "
                              "and nothing more."),
        answer(Question.HIDES, "This is about your contacts, if you are not a member: whatever list is published"
                               f"{but} is at most {likelier(plan.loss.epsilon)} times as likely as if your contacts "
                               "had been any others. "
                               f"{guess_in_words(it, plan.guarantees.privacy, Audience.PUBLIC)}{limit}",
               "It does not hide you if you are a member: the list says so, and your contacts with other members show "
               "in its order.",
               "It does not hide when it was published, which depends on contacts: no day was fixed."
               if plan.config.release.publish_on is None else
               f"It is published on {plan.config.release.publish_on.isoformat()}, which was fixed before; if it comes "
               "later, that may depend on contacts."),
        answer(Question.GETS, "You are paid nothing."),
        answer(Question.LIES, "Nothing but an examination is asked of you; nothing is promised of what it would gain "
                              "to mislead it."),
        answer(Question.TRUSTED, "The custodian, with the contacts; and whoever examines you."),
        answer(Question.WITHDRAWING, CUSTODIANS_WITHDRAWAL),
    ]

"""The pages of a search: for its custodian before, for a person of the network, for everybody after it, and for a
study.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.campaign.kinds.searching.plan import PlannedSearch
from confide.campaign.kinds.skeleton import AnyOutcome, not_told, plan_page, promised
from confide.charts import curves
from confide.charts.shapes import told_apart
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, stated
from confide.contract.offering import CUSTODIANS_WITHDRAWAL, Question, answer, likelier
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Block, Section, Table, Text, joined
from confide.contract.words import number
from confide.privacy.groups import guess_in_words
from confide.privacy.losses import PROMISES_LITTLE
from confide.privacy.noise import Noise
from confide.search.baselines import random_order, target
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog, PublicRelease

__all__ = ["explain", "offer", "release_of", "result_sections", "result_tables", "sections", "study_sections"]

_SHOWN = 30  # lines on a page; the table has all

_ENDED = {
    "all components": "it had searched as often as the plan allows, and found a component each time",
    "nothing found": "the last search for another component gave up: there may be more members, or none",
    "budget": "the ledger had no room for another search",
}


def release_of(outcome: AnyOutcome) -> PublicRelease:
    """The released list.

    Raises:
        InvalidInput: an outcome of something else.
    """
    if not isinstance(outcome.billboard, PublicRelease):
        raise InvalidInput("outcome", f"{type(outcome.billboard).__name__} is no list of a search")
    return outcome.billboard


def result_tables(_: PlannedSearch, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """`found`: everybody who was found, in order; `ending`: one line about how the search ended."""
    board = release_of(outcome)
    return {
        "found": board.to_arrow(),
        "ending": pa.table({"ended": [board.ended], "halted": [board.halted], "components": [board.components],
                            "searches": [board.calls], "epsilon_of_this_list": [float(f"{board.epsilon_spent:.12g}")]}),
    }


def result_sections(plan: PlannedSearch, outcome: AnyOutcome) -> list[Section]:
    """The list, how it ended, and what it may have disclosed."""
    board, it = release_of(outcome), plan.mechanism
    found = result_tables(plan, outcome)["found"]
    shown: tuple[tuple[Any, ...], ...] = tuple(
        (row["place"], str(row["id"]), row["component"], row["how"]) for row in found.slice(0, _SHOWN).to_pylist())
    more = len(board.order) - len(shown)
    table = Table(
        columns=("place", "id", "component", "how"), rows=shown,
        note=(f"The first {len(shown)}; found.csv has {more:,} more. " if more > 0 else "")
        + "\"searched for\": the first of a component that a paid search came upon; \"contact\": found through "
          "contacts within its component.")
    parts = ", ".join(f"{place + 1:,}" for place in board.joined[:_SHOWN].tolist())
    return [
        Section(title="What was found", found=True, blocks=joined(
            f"The search found {_counted(len(board.order), board.components, parts)}", table,
            f"How it ended: {_ENDED.get(board.ended, board.ended)}. {board.calls:,} of at most {it.calls:,} paid "
            "searches were made.")),
        not_told(plan, "with whom a given person who is not on the list is in contact", Audience.PUBLIC,
                 "It does tell who is on the list, and that they are members."),
        promised(
            plan, *stated(plan.guarantees),
            f"Of this very list: its probability changes by at most {likelier(board.epsilon_spent)} when one protected "
            "person's contacts are changed, because so many searches were made. That is no promise beforehand, and "
            "says nothing about any delta.",
            f"To whom: to everybody who sees the list. {_BASIS} How long the search took, and whom it examined, is not "
            "covered, and not published."),
    ]


def _counted(members: int, components: int, parts: str) -> str:
    """How many were found, and where components begin."""
    people = "1 member" if members == 1 else f"{members:,} members"
    if components == 1:
        return f"{people} in 1 component."
    more = " and further ones" if components > _SHOWN else ""
    return f"{people} in {components:,} components, which begin at the places {parts}{more}."


def explain(plan: PlannedSearch, *_: Any) -> list[Section]:
    """The page of one person: the same words for everybody, found or not."""
    delta = float(getattr(plan.loss, "delta", 0.0))
    but = f" (but for a probability of {delta:g})" if delta else ""
    return [Section(title="Nobody has a share", blocks=(Text((
        "This campaign publishes a list of those who were found to be members of a group. Nobody is paid, has a share "
        "of her own, or is told whether she was examined: this page says the same for every id.",
        "If your id is on the list, it says that you are a member, and nothing hides that. If it is not, the list "
        f"would have come out the same way up to a factor of {likelier(plan.loss.epsilon)}{but} whatever your "
        f"contacts. {guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.PUBLIC)}",
        "What you can do: read the list, and check what is said of it (confide verify PACK --key FINGERPRINT).",
    )),))]


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

_BASIS = ("It is a statement about the list as a sequence, for one protected person whose contacts are changed in any "
         "way.")

_OPEN = (
    "who is a member of the group: the list says so of everybody on it",
    "contacts between two members of the group: they decide the order within a component",
    "anything that is not released: whom the operator examined, how many, the thresholds. They tell on contacts "
    "without bound, and are the operator's alone",
)


def _described(plan: PlannedSearch) -> str:
    """The search in one sentence."""
    it = plan.mechanism
    return (f"from each found member the search follows contacts and examines everybody next to the group; then, up to "
            f"{it.calls:,} times, it examines others in the order of {it.statistic.name} with the found, plus "
            f"{it.noise_kind.replace('_', ' ')} noise of scale {it.call.noise_scale:.4g}, until another member turns "
            "up")


def sections(plan: PlannedSearch) -> list[Section]:
    """The predicted outcome, for the operator, from public parameters alone."""
    it, config = plan.mechanism, plan.config
    rows: list[tuple[str, str | float | None]] = [
        ("people (fixed and public)", number(it.people)),
        ("known members to begin with", number(len(config.search.seeds))),
        ("components that are found at most", f"{it.components:,}, and those of further seeds"),
        ("what is done", _described(plan)),
        ("when a search for another component gives up", _STOPS[it.stop]),
        *([] if it.stopping_target is None or not it.call.draws_threshold else
          [("K", number(it.stopping_target))]),
        *([] if it.public_threshold is None else [("the threshold in the file", number(it.public_threshold))]),
        ("largest number of contacts of anybody (public bound)",
         "none is needed" if it.degree_bound is None else number(it.degree_bound)),
        ("privacy of one protected person's contacts, towards the public", str(plan.loss)),
    ]
    return plan_page(
        plan, rows, "Everything here follows from public parameters. What is expected is no promise.", _warnings(plan),
        _spends(plan), _worth(plan),
        Section(title="What is not promised", blocks=(Text((
            f"{_BASIS} Nothing is promised about:", *(f"- {each}." for each in (*_OPEN, _time(plan))),
            *(() if it.degree_bound is None else (
                f"networks in which somebody has more than {it.degree_bound:,} contacts: one is refused before it is "
                "searched, and the campaign is over: the ledger was charged before, and keeps the debit. Take the "
                "bound from outside knowledge. A bound that is read off this network is a leak, "
                "and to leave contacts out until it holds is no remedy: it changes other people's lists, too.",)),
        )),)))


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


def offer(plan: PlannedSearch) -> list[Section]:
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


_MANY, _FEW, _SMALL = 20, 3, 50_000  # runs that are averaged, up to so many people and beyond
_POINTS = 60
_SEED = 20_240_311  # of the runs that are averaged
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def study_sections(plan: PlannedSearch, data: Investigation, outcome: SimulatedOutcome) -> list[Section]:
    """Members found against people examined: without noise, with the plan's, and in a random order.

    Args:
        plan: the plan as it was run.
        data: the data with all answers.
        outcome: the outcome of the simulated run.
    """
    it, people = plan.mechanism, plan.people
    runs = _MANY if people <= _SMALL else _FEW
    logs, calls = list[OperatorLog](), list[int]()
    for place in range(runs):
        log = OperatorLog()
        calls.append(int(release_of(it.run(data, Noise.simulated(_SEED + place), log=log)).calls))
        logs.append(log)
    by_chance = [random_order(data, it.components, Noise.simulated(_SEED + place)).log for place in range(runs)]
    plain = target(data, it.components, it.stopping_target).log
    longest = max(log.queries for log in (*logs, *by_chance, plain))
    grid = np.unique(np.linspace(0, max(1, longest), _POINTS).round().astype(np.int64))
    named = {"without noise (not private)": _found([plain], grid),
             f"private, mean of {runs} runs": _found(logs, grid), **_spread(logs, grid),
             f"random order (costs nothing), mean of {runs} runs": _found(by_chance, grid)}
    budgets = np.unique(np.round(np.array(_SHARES) * people).astype(np.int64))
    columns = (_found([plain], budgets), _found(logs, budgets), *_spread(logs, budgets).values(),
               _found(by_chance, budgets))
    table = Table(
        columns=("people examined", *named), rows=tuple(
            (int(budget), *(float(column[place]) for column in columns)) for place, budget in enumerate(budgets)),
        note="Non-private: members found, the first seed among them, after so many examinations; beside the mean "
             "the 10% and 90% quantiles of private runs. A private search must "
             "never be stopped after a number of them: that would tell on contacts without bound.")
    ends = ", ".join(f"{name}: {values[-1]:.4g}" for name, values in named.items())
    pictures = told_apart(curves([(float(x), float(y), name) for name, values in named.items()
                       for x, y in zip(grid, values, strict=True)],
                      title="Members found", x="people examined", y="members found",
                      alt=f"Members found against people examined. At the end, {ends}."))
    mean = float(np.mean(calls))
    spent = float(np.mean(np.exp(np.minimum(np.array(calls) * it.epsilon, 700.0))))
    lost = "" if it.noise_kind != "laplace" else (
        f"; the source would print {math.exp(min(700.0, mean * it.call.sensitivity / it.call.noise_scale)):.4g} on "
        "average, which is false")
    said = dict(outcome.diagnostics)
    return [Section(title="What this search finds, beside others", study=True, blocks=(table, *pictures, Text((
        f"This run examined {int(said['queries']):,} people and found {len(release_of(outcome).order):,} members by "
        f"{release_of(outcome).calls:,} paid searches.",
        f"On average {mean:.3g} paid searches were made; a list was at most {spent:.4g} times as likely with other "
        f"contacts of one protected person{lost}.",
        "To choose a method or an epsilon by what stands here would be a leak: choose by the plan, or by a study of a "
        "public network.",
    ))))]


def _spread(logs: list[OperatorLog], grid: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """What a tenth of the private runs do not come to, and what a tenth exceed: name -> (len(grid),)."""
    counts = _counts(logs, grid)
    return {f"private, {name} tenth of runs": np.quantile(counts, share, axis=0)
            for name, share in (("lowest", 0.1), ("highest", 0.9))}


def _counts(logs: list[OperatorLog], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """(runs, len(grid)) members found after so many examinations."""
    return np.array([np.searchsorted(log.found_after, grid, side="right") for log in logs], dtype=np.float64)


def _found(logs: list[OperatorLog], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """(len(grid),) members found after so many examinations, averaged."""
    return np.asarray(_counts(logs, grid).mean(axis=0))

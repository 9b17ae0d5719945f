"""The pages of a search: the plan for the custodian, the offer to a person of the network, the public result, and the
study.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.campaign.kinds.searching.plan import PlannedSearch
from confide.campaign.kinds.skeleton import AnyOutcome, not_disclosed, plan_page, promised
from confide.charts import curves
from confide.charts.shapes import distinguished
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
    "all components": "the search made all planned searches, and each of them found a component",
    "nothing found": "the last search for another component gave up, so there may be further members",
    "budget": "the ledger had no budget for another search",
}


def release_of(outcome: AnyOutcome) -> PublicRelease:
    """The public list of the members found, from the outcome of a search.

    Raises:
        InvalidInput: the outcome is not the outcome of a search.
    """
    if not isinstance(outcome.billboard, PublicRelease):
        raise InvalidInput("outcome", f"{type(outcome.billboard).__name__} is not the list of a search")
    return outcome.billboard


def result_tables(_: PlannedSearch, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """The table `found` with all members found, in the order of the search, and the table `ending` with one line on the
    end of the search.
    """
    board = release_of(outcome)
    return {
        "found": board.to_arrow(),
        "ending": pa.table({"ended": [board.ended], "halted": [board.halted], "components": [board.components],
                            "searches": [board.calls], "epsilon_of_this_list": [float(f"{board.epsilon_spent:.12g}")]}),
    }


def result_sections(plan: PlannedSearch, outcome: AnyOutcome) -> list[Section]:
    """The result page: the list of the members found, the end of the search, and the limits of conclusions about
    contacts.
    """
    board, it = release_of(outcome), plan.mechanism
    found = result_tables(plan, outcome)["found"]
    shown: tuple[tuple[Any, ...], ...] = tuple(
        (row["place"], str(row["id"]), row["component"], row["how"]) for row in found.slice(0, _SHOWN).to_pylist())
    more = len(board.order) - len(shown)
    table = Table(
        columns=("place", "id", "component", "how"), rows=shown,
        note=(f"The table shows the first {len(shown)} people. The file found.csv has {more:,} more. "
              if more > 0 else "")
        + '"searched for" is the first member of a component, which a paid search found. "contact" is a member who was '
          "found through contacts within the component.")
    parts = ", ".join(f"{place + 1:,}" for place in board.joined[:_SHOWN].tolist())
    return [
        Section(title="What was found", found=True, blocks=joined(
            f"The search found {_counted(len(board.order), board.components, parts)}", table,
            f"End of the search: {_ENDED.get(board.ended, board.ended)}. The run made {board.calls:,} of at most "
            f"{it.calls:,} searches for a further component, which cost privacy.")),
        not_disclosed(plan, "the contacts of a given person who is not on the list", Audience.PUBLIC,
                      "This holds for people who are not members. This page shows the ids of the people on the list, "
                      "and that they are members."),
        promised(
            plan, *stated(plan.guarantees),
            "If one protected person's contacts change, the probability of this list changes by a factor of at most "
            f"{likelier(board.epsilon_spent)}, because of the number of searches in this run. This is no promise "
            "before the run, and says nothing about any delta.",
            f"The promise is made towards everybody who sees the list. {_BASIS} The promise does not cover the "
            "duration and the examinations of the search, which are not published."),
    ]


def _counted(members: int, components: int, parts: str) -> str:
    """A clause with the number of members found, and the places in the list at which components begin."""
    people = "1 member" if members == 1 else f"{members:,} members"
    if components == 1:
        return f"{people} in 1 component."
    more = " and further places" if components > _SHOWN else ""
    return f"{people} in {components:,} components, which begin at the places {parts}{more}."


def explain(plan: PlannedSearch, *_: Any) -> list[Section]:
    """The page for one person. It is the same for everybody, whether they were found or not."""
    delta = float(getattr(plan.loss, "delta", 0.0))
    but = f" (except with probability {delta:g})" if delta else ""
    return [Section(title="No shares for single people", blocks=(Text((
        "This campaign publishes a list of people who were found to be members of a group. Nobody has a share or a "
        "payment, and nobody learns from this page whether they were examined. This page is the same for every id.",
        "If your id is on the list, everybody can see that you are a member. If you are not a member, the list "
        f"is at most {likelier(plan.loss.epsilon)} times as likely with your contacts as with any other contacts{but}. "
        f"{guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.PUBLIC)}",
        "You can read the list and check its promises (confide verify PACK --key FINGERPRINT).",
    )),))]


_NAMES = {
    "basic": "plain sum, with delta = 0", "calls: advanced": "advanced composition of whole searches",
    "calls: zcdp plain": "concentrated composition of whole searches, by the plain formula",
    "calls: zcdp": "concentrated composition of whole searches, with the tight conversion",
    "calls: optimal": "optimal composition of whole searches",
    "steps: optimal": "optimal composition of thresholds and selections",
    "two-step": "separate concentrated composition of thresholds and selections",
}

_STOPS = {
    "none": "never: it continues until it finds a member, or has examined everybody",
    "public": "when the noisy order reaches an invented person, who has the threshold as value and noise like "
              "everybody else",
    "private": "when the noisy order reaches an invented person with a drawn value, such that about K people have at "
               "least this value",
    "smoothed": "when the noisy order reaches an invented person with a drawn value, such that about K people are "
                "expected before this person",
}

_BASIS = ("The promise is about the list and its order. It hides any change of the contacts of one protected person (a "
          "person who is not a member of the group).")

_OPEN = (
    "membership in the group: the list shows everybody who was found",
    "contacts between two members of the group: they determine the order within a component",
    "everything that is not released: the examined people, their number, and the thresholds. These can disclose "
    "contacts without limit, and only the operator may see them",
)


def _described(plan: PlannedSearch) -> str:
    """The search in one sentence."""
    it = plan.mechanism
    return ("from each found member, the search follows contacts and examines everybody who has a contact with a found "
            f"member. Up to {it.calls:,} times, it then examines other people in a noisy order, until it finds another "
            f"member. The order is by {it.statistic.name} with the found members (the value of a person), plus "
            f"{it.noise_kind.replace('_', ' ')} noise of scale {it.call.noise_scale:.4g}")


def sections(plan: PlannedSearch) -> list[Section]:
    """The plan page for the operator: the predicted outcome, from public parameters alone."""
    it, config = plan.mechanism, plan.config
    rows: list[tuple[str, str | float | None]] = [
        ("people (fixed and public)", number(it.people)),
        ("known members at the start", number(len(config.search.seeds))),
        ("largest number of components to find", f"{it.components:,}, and the components of further known members"),
        ("method", _described(plan)),
        ("a search for another component gives up", _STOPS[it.stop]),
        *([] if it.stopping_target is None or not it.call.draws_threshold else
          [("K", number(it.stopping_target))]),
        *([] if it.public_threshold is None else [("threshold in the campaign file", number(it.public_threshold))]),
        ("largest number of contacts of anybody (public bound)",
         "none is needed" if it.degree_bound is None else number(it.degree_bound)),
        ("privacy of one protected person's contacts, towards the public", str(plan.loss)),
    ]
    return plan_page(
        plan, rows, "All figures follow from public parameters. Expected figures are no promise.", _warnings(plan),
        _spends(plan), _worth(plan),
        Section(title="Limits of the promise", blocks=(Text((
            f"{_BASIS} The campaign makes no promise about:", *(f"- {each}." for each in (*_OPEN, _time(plan))),
            *(() if it.degree_bound is None else (
                f"- networks in which somebody has more than {it.degree_bound:,} contacts. The run refuses such a "
                "network before it searches. The campaign is then over, and the ledger keeps the charge. Take the "
                "bound from outside knowledge: a bound that follows from this network is a leak. Do not leave out "
                "contacts until the bound holds, since this changes other people's lists of contacts, too.",)),
        )),)),
        said="" if len(plan.guarantees.privacy) < 2 else
             "Both promises of privacy hold for the same list. The second one has a delta, and its epsilon is smaller "
             "if the campaign allows many searches.")


def _time(plan: PlannedSearch) -> str:
    """A text on the information that the day of the publication discloses."""
    what = "the day on which the list appears: the duration of a search can disclose contacts without limit"
    day = plan.config.release.publish_on
    if day is None:
        return (f"{what}. The file fixes no day, so the list is published as soon as a run ends the search. Everybody "
                "who notices the day of the publication learns how long the search took. To fix a day, set "
                "release.publish_on = YYYY-MM-DD")
    return (f"{what}. The first run on {day.isoformat()} or later (UTC) publishes the list. The day discloses nothing "
            "if the search has ended before this day and the operator runs it on this day. A later list discloses that "
            "one of these two conditions failed")


def _spends(plan: PlannedSearch) -> Section:
    it = plan.mechanism
    rows: list[tuple[str, str, str]] = [
        ("one search for a component", f"{it.epsilon:.4g}", likelier(it.epsilon)),
        (f"{it.calls:,} searches for components, for certain (delta = 0)", f"{plan.total:.4g}", likelier(plan.total)),
    ]
    if plan.sums:
        rows += [(f"all of these searches, except with probability delta = {it.delta:g}", f"{plan.loss.epsilon:.4g}",
                  likelier(plan.loss.epsilon)),
                 ("charged to the ledger", f"{plan.charged:.4g}", likelier(plan.charged))]
    if plan.printed is not None:
        rows.append(("the source's claim for the same noise (false)", f"{plan.printed:.4g}", likelier(plan.printed)))
    blocks: list[Block] = [Table(
        columns=("what", "epsilon", "largest factor of change in the probability of a list"), rows=tuple(rows),
        note="The source (Wu 2017) counts a selection at half of its cost, and a drawn threshold at nothing. The "
             "ledger is charged for all searches before the search starts, including searches that are not made. The "
             "privacy loss of the released list is at most the epsilon of one search, times the number of searches "
             "that were made. The list states this number. The search follows contacts within a component at no cost. "
             "The searches that cost epsilon are called paid searches.")]
    if plan.sums:
        blocks.append(Table(
            columns=("rule that adds up the searches", f"epsilon at delta = {it.delta:g}"),
            rows=tuple((_NAMES.get(name, name), value) for name, value in
                       sorted(plan.sums.items(), key=lambda each: each[1])),
            note="Each row is a valid bound for the same run. The plan states the smallest bound."))
    return Section(title="Cost in privacy", blocks=tuple(blocks))


def _worth(plan: PlannedSearch) -> Section:
    it = plan.mechanism
    gives_up = it.stop != "none"
    rows = tuple((value, before, plan.people / 2, *([plan.missed(value)] if gives_up else []))
                 for value, before in plan.worth)
    table = Table(
        columns=(f"{it.statistic.name} of a hidden member with the found members (the member's value)",
                 "expected number of people before this member in the noisy order",
                 "expected number of people before this member in a random order",
                 *(["probability that the search gives up before this member"] if gives_up else [])),
        rows=rows, note=f"The figures hold if everybody else of the {plan.people:,} people has the value 0. People "
                        "with a larger value come before this member more often. A random order costs no privacy, so "
                        "epsilon buys the difference between the noisy and the random order.")
    drawn = [*((float(value), before, "noisy order") for value, before in plan.worth),
             *((float(value), plan.people / 2, "random order") for value, _ in plan.worth)]
    first, middle, last = plan.worth[0], plan.worth[len(plan.worth) // 2], plan.worth[-1]
    pictures = curves(drawn, title="Benefit of the noisy order", x=f"{it.statistic.name} of a hidden member",
                      y="people examined before this member", log_x=True, alt=(
                          f"A hidden member with the value {first[0]:,} comes after {first[1]:,.0f} others, and a "
                          f"member with the value {last[0]:,} after {last[1]:,.0f}. In a random order, a member comes "
                          f"after {plan.people / 2:,.0f} others."))
    ends = [] if plan.gives_up is None else [
        f"A search that gives up is the last one, so an early failure ends the whole campaign. All {it.calls:,} "
        f"searches for members with the value {last[0]:,} succeed with probability "
        f"{(1 - (plan.missed(last[0]) or 0.0)) ** it.calls:.1%}, and for members with the value {middle[0]:,} with "
        f"probability {(1 - (plan.missed(middle[0]) or 0.0)) ** it.calls:.1%}, if each search has only one member to "
        "find.",
        "If everybody's value is 0, a search can find a member only by chance. In this case, the average number of "
        f"examinations before a search gives up is {plan.gives_up:,.0f}"
        + ("." if not it.call.draws_threshold else f"; the file asks for K = {it.stopping_target:,}.")]
    if plan.accuracy is not None:
        found = plan.accuracy
        ends.append(
            f"With probability {1 - found.failure_probability:.0%}, the drawn threshold's number of people differs "
            f"from K by at most {found.bound:,.4g} people more than the number of the best threshold"
            + (". At these sizes, this bound says nothing." if found.vacuous else "."))
    return Section(title="Benefit of the paid searches", blocks=(
        table, *pictures, *((Text(tuple(ends)),) if ends else ())))


def _warnings(plan: PlannedSearch) -> list[str]:
    it, found = plan.mechanism, list[str]()
    if it.delta * it.people >= 1:
        found.append(f"a delta of at least 1/{it.people:,} allows the release of a person's contacts: choose it far "
                     "smaller")
    if plan.loss.epsilon > PROMISES_LITTLE:
        found.append(f"a total epsilon of {plan.loss.epsilon:.4g} promises little: choose a smaller privacy.epsilon, "
                     "or fewer components")
    value, before = plan.worth[-1]
    if before > 0.25 * plan.people:
        found.append(f"the noise is so large that even a hidden member with the value {value:,} comes after "
                     f"{before / plan.people:.0%} of everybody: consider a random order, which costs no privacy")
    if plan.accuracy is not None and plan.accuracy.vacuous:
        found.append("the drawn threshold has no proven bound, so a search can give up at any time. Use stop = "
                     '"public" with a threshold from outside knowledge: then the noise is half as large. Or use stop = '
                     '"smoothed": then the threshold varies less than with "private"')
    if plan.gives_up is not None and it.call.draws_threshold and it.stopping_target is not None \
            and plan.gives_up > 10 * max(it.stopping_target, 1):
        found.append(f"a search without a member to find examines {plan.gives_up:,.0f} people on average, far more "
                     f"than K = {it.stopping_target:,}")
    if it.stop == "none":
        found.append('a search that finds nobody examines everybody: with stop = "none", only the number of people '
                     "limits the examinations")
    return found


def offer(plan: PlannedSearch) -> list[Section]:
    """The offer: the plan in the form that is shown to a person of the network who is not a member of the group."""
    it, delta = plan.mechanism, float(getattr(plan.loss, "delta", 0.0))
    but = f", except with probability {delta:g}," if delta else ""
    limit = "" if it.degree_bound is None else (f" This holds if nobody has more than {it.degree_bound:,} contacts. If "
                                                "somebody has more contacts, nothing is published.")
    return [
        answer(Question.REPORT, "You may be asked to let yourself be examined, at most once. A custodian knows the "
                                f"contacts among {plan.people:,} people, and looks for the members of a group among "
                                "them, such as infected people or people who took part in a fraud."),
        Section(title="Published results", blocks=(Text((
            "The custodian publishes the ids of the found members, in the order in which the search found them. If you "
            "are not a member, you are not on the list, whether you were examined or not.",)),)),
        answer(Question.SEES, "The custodian knows the contacts and sees every examination. Everybody else sees only "
                              "the list."),
        answer(Question.HIDES, f"If you are not a member, the promise hides your contacts: the published list{but} is "
                               f"at most {likelier(plan.loss.epsilon)} times as likely with your contacts as with any "
                               f"other contacts. {guess_in_words(it, plan.guarantees.privacy, Audience.PUBLIC)}{limit}",
               "If you are a member, the promise does not hide you: the list can name you, and your contacts with "
               "other members affect the order of the list.",
               "The promise does not cover the day of publication. The custodian fixed no day, so the day depends on "
               "contacts."
               if plan.config.release.publish_on is None else
               f"The list appears on {plan.config.release.publish_on.isoformat()}. The custodian fixed this day before "
               "the search. If the list appears later, the delay may depend on contacts."),
        answer(Question.GETS, "You are paid nothing."),
        answer(Question.LIES, "You are asked only for an examination. The campaign makes no promise about the gain "
                              "from misleading this examination."),
        answer(Question.TRUSTED, "You trust the custodian with the contacts, and the people who examine you."),
        answer(Question.WITHDRAWING, CUSTODIANS_WITHDRAWAL),
    ]


_MANY, _FEW, _SMALL = 20, 3, 50_000  # runs that are averaged, up to so many people and beyond
_POINTS = 60
_SEED = 20_240_311  # of the runs that are averaged
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def study_sections(plan: PlannedSearch, data: Investigation, outcome: SimulatedOutcome) -> list[Section]:
    """The study page: the number of members found after each number of people examined, without noise, with the plan's
    noise, and in a random order.

    Args:
        plan: plan of the run.
        data: network with the answers about all people; private.
        outcome: outcome of the run, with simulated noise.
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
        note="This table is not private. It shows the number of found members, including the first seed, after the "
             "given number of examinations. For private runs, it shows the mean and the 10% and 90% quantiles. Never "
             "stop a private search after a number of examinations: this would disclose contacts without bound.")
    ends = ", ".join(f"{name}: {values[-1]:.4g}" for name, values in named.items())
    pictures = distinguished(curves([(float(x), float(y), name) for name, values in named.items()
                       for x, y in zip(grid, values, strict=True)],
                      title="Members found", x="people examined", y="members found",
                      alt=f"Number of found members after each number of examined people. At the end, {ends}."))
    mean = float(np.mean(calls))
    spent = float(np.mean(np.exp(np.minimum(np.array(calls) * it.epsilon, 700.0))))
    lost = "" if it.noise_kind != "laplace" else (
        f"; the source would state {math.exp(min(700.0, mean * it.call.sensitivity / it.call.noise_scale)):.4g} on "
        "average, which is false")
    said = dict(outcome.diagnostics)
    return [Section(title="Members found by this search and by other orders",
                    study=True, blocks=(table, *pictures, Text((
        f"This run examined {int(said['queries']):,} people and found {len(release_of(outcome).order):,} members by "
        f"{release_of(outcome).calls:,} paid searches.",
        f"On average, a run made {mean:.3g} paid searches. A list was at most {spent:.4g} times as likely with other "
        f"contacts of one protected person{lost}.",
        "Do not choose a method or an epsilon from these figures: the choice would disclose private data. Choose by "
        "the plan, or by a study of a public network.",
    ))))]


def _spread(logs: list[OperatorLog], grid: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """The 10 % and the 90 % quantiles, over the private runs, of the number of members found after each number of
    examinations in `grid`. The result maps a name to an array of shape (len(grid),).
    """
    counts = _counts(logs, grid)
    return {f"private, {name} tenth of runs": np.quantile(counts, share, axis=0)
            for name, share in (("lowest", 0.1), ("highest", 0.9))}


def _counts(logs: list[OperatorLog], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """Members found in each run after each number of examinations in `grid`, shape (runs, len(grid))."""
    return np.array([np.searchsorted(log.found_after, grid, side="right") for log in logs], dtype=np.float64)


def _found(logs: list[OperatorLog], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average over runs of the members found after each number of examinations in `grid`, shape (len(grid),)."""
    return np.asarray(_counts(logs, grid).mean(axis=0))

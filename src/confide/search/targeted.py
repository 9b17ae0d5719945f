"""`PTarget`: a search that finds the components of an unknown target group one after another, and releases the list of
found targets with a privacy guarantee for everybody else.

Source: Wu 2017, Algorithm 14, hardened; spec targeted_search 3.3, 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantee, Guarantees, Privacy, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, Provenance, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.wire import wire
from confide.privacy.accounting import Accountant, written
from confide.privacy.charge import DrawCost
from confide.privacy.events import BoundedRangeEvent, Event, Repeated
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise.base import as_noise
from confide.search.component_search import (
    DEGREE_BOUND,
    LARGEST_THRESHOLD,
    NOISE_KIND,
    PEOPLE,
    PUBLIC_THRESHOLD,
    STATISTIC,
    STOP,
    STOPPING_TARGET,
    ComponentSearch,
    call_epsilon,
)
from confide.search.component_walk import SearchState, Walk, as_cap, check_investigation
from confide.search.noise_kinds import NoiseKind
from confide.search.oracles import OracleUnavailable
from confide.search.releases import (
    CappedOutcome,
    OperatorLog,
    PublicRelease,
    SearchCertificate,
    check_charged,
    keep_call,
    keep_search,
    no_guarantee,
)
from confide.search.statistics import CommonNeighbours, Statistic
from confide.search.stopping import Stop

__all__ = ["Debit", "PTarget", "Search", "within_budget"]

_UNIT = Relation.EDGES_OF_ONE
_SPEC = "targeted_search 3.2-3.3, 4"
_BESIDE = " with half of epsilon, and the other half for the threshold"
_FAILURE = 0.05
_NARROW = 1e-9  # between an epsilon of one call that fits and one that does not
_REACH_ANY = ("the promise covers the released list and its order, but not the time at which the list or its next line "
              "appears")
_REACH = f"{_REACH_ANY}; it holds for networks in which nobody has more contacts than the public bound"

Debit = Callable[[tuple[Event, ...]], None]
"""A function that charges the privacy events of one call (a search for another component) to a budget. The function
raises `BudgetExceeded` if the budget does not cover the events.
"""


@wire("PTarget", "people components stopping_target epsilon degree_bound stop statistic noise_kind delta "
      "public_threshold largest_threshold")
@dataclass(frozen=True)
class PTarget(Mechanism[PublicRelease, SearchCertificate]):
    """Private targeted search: statistic-first search within components, and noisy search for further components.

    Every person who is not a target is protected: the released list hardly depends on the contacts of any one protected
    person. The promise does not cover which people are targets, or the edges between targets. The promise also does not
    cover data that are not released: the examined vertices, their number, and the times of examinations.

    Raises:
        InvalidInput: a parameter out of range, a statistic without signal, or a missing degree bound.

    Source: Wu 2017, Algorithms 13 and 14, with errata E1 to E8; spec targeted_search 3.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.search.graph import Graph
        >>> from confide.search.oracles import Investigation
        >>> network = Graph.from_edges([0, 1, 1, 2, 3], [1, 2, 3, 4, 4])
        >>> search = PTarget(5, 2, 1, 0.5, 3)
        >>> outcome = search.run(Investigation(network, 0, {0, 4}), Noise.simulated(1))
        >>> outcome.billboard.order[0], search.guarantees().privacy[0].loss
        (np.int64(0), PureDP(epsilon=0.5))
    """

    people: Annotated[int, PEOPLE]
    components: Annotated[int, Parameter("largest number k of groups to find, with the groups of the seeds; the run "
                                         "searches for a new group at most k - 1 times", symbol="k", at_least=1)]
    stopping_target: Annotated[int | None, STOPPING_TARGET]
    epsilon: Annotated[float, call_epsilon("cost of ONE search for another component, for any stop (all searches "
                                           "together cost k - 1 times this)")]
    degree_bound: Annotated[int | None, DEGREE_BOUND]
    stop: Annotated[Stop, STOP] = "private"
    _: KW_ONLY
    statistic: Annotated[Statistic, STATISTIC] = field(default_factory=CommonNeighbours)
    noise_kind: Annotated[NoiseKind, NOISE_KIND] = "laplace"
    delta: Annotated[float, Parameter("delta at which the loss is stated as (epsilon, delta); 0 states only the plain "
                                      "sum", at_least=0, below=1)] = 0.0
    public_threshold: Annotated[float | None, PUBLIC_THRESHOLD] = None
    largest_threshold: Annotated[int | None, LARGEST_THRESHOLD] = None

    phases = (Phase(name="custody", asks="a contact network, a seed and an oracle, held by one custodian"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("components", int(self.components)), ("people", self.call.people),
                            ("delta", float(self.delta)), ("epsilon", self.call.epsilon)):
            object.__setattr__(self, name, value)  # a numpy scalar has an arithmetic of its own

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, components: int, **options: Any,
    ) -> PTarget:
        """A search whose released list costs at most a privacy budget. All searches for a component have the same
        epsilon, the largest one that the budget allows.

        Args:
            epsilon: privacy loss of the whole list, in nats, > 0.
            delta: delta of the privacy loss of the whole list, in [0, 1).
            people: public number n of people.
            components: largest number k >= 1 of components to find, including those of the seeds.
            options: further parameters of `PTarget`, such as stopping_target, degree_bound, stop, statistic or
                noise_kind. If delta is above 0, the default noise is "gumbel", because several searches with Gumbel
                noise have a smaller loss together.

        Raises:
            InvalidInput: a number out of range.

        Example:
            >>> PTarget.for_budget(epsilon=1.0, people=1000, components=3, stopping_target=10, degree_bound=20).epsilon
            0.5
        """
        whole_budget = positive("epsilon", epsilon)
        if fraction("delta", delta, zero=True):
            options.setdefault("noise_kind", "gumbel")
        options = {"stopping_target": None, "degree_bound": None, **options}
        return within_budget(cls(people=people, components=components, epsilon=whole_budget, delta=delta, **options),
                             whole_budget, delta)

    @cached_property
    def call(self) -> ComponentSearch:
        """Public parameters of one search for a component."""
        return ComponentSearch(
            people=self.people, stopping_target=self.stopping_target, epsilon=self.epsilon,
            degree_bound=self.degree_bound, stop=self.stop, statistic=self.statistic, noise_kind=self.noise_kind,
            public_threshold=self.public_threshold, largest_threshold=self.largest_threshold)

    # ---- promises

    @property
    def calls(self) -> int:
        """Largest number of searches for a new component, k - 1."""
        return self.components - 1

    def events(self) -> tuple[Event, ...]:
        """The privacy events of k - 1 calls. Each call has a noisy selection and, if the stop draws a threshold, also
        the draw of the threshold, which has bounded range.

        Source: spec targeted_search 4 (two-step accounting).
        """
        if not self.calls:
            return ()
        return tuple(Repeated(event=event, count=self.calls, neighbours=_UNIT, label=f"{event.label}s")
                     for event in self.call.events())

    def group_steps(self, size: int) -> int:
        """Number of steps, each from a graph to a neighbouring graph, that together change all contacts of a group of
        `size` people: 2 size - 1 with a degree bound, and size without a degree bound.

        A person's new contacts may lift the degree of another person in the group above the bound, if that person still
        has their old contacts. Therefore the first steps remove the old contacts of all people but one. The next step
        changes the contacts of the last person. The final steps add the new contacts of the other people.
        """
        return size if self.degree_bound is None else 2 * size - 1

    def guarantees(self) -> Guarantees:
        reach = _REACH_ANY if self.degree_bound is None else _REACH
        source = Source(document="Wu 2017", statement="Theorem 7.3.3", spec=_SPEC,
                        erratum="counts are over all people except found members and their contacts, whether "
                                "examined or not; no later search examines the same people again; "
                                f"{self.noise_kind.replace('_', ' ')} noise of scale 2 sensitivity/epsilon"
                                f"{_BESIDE if self.call.draws_threshold else ''}")
        total = Accountant(self.events()).epsilon() if self.calls else 0.0
        items: list[Guarantee] = [Privacy(
            loss=PureDP(total), neighbours=_UNIT, audience=Audience.PUBLIC,
                part="the released list", source=source,
            note=f"{reach}; {self.calls} searches for a component, each with the epsilon of one search")]
        if self.delta and self.calls:
            name, epsilon = Accountant(self.events()).best(self.delta)
            items.append(Privacy(
                loss=ApproxDP(epsilon, self.delta), neighbours=_UNIT, audience=Audience.PUBLIC,
                part="the released list",
                source=Source(document="confide", statement="separate composition of thresholds and selections",
                              spec=_SPEC),
                note=f"{reach}; composition: {name}"))
        if self.call.draws_threshold:
            rule = self.call.rule
            what = "vertices with at least its value" if self.stop == "private" else "expected to come before it"
            items.append(Accuracy(
                bound=rule.error(_FAILURE), baseline=float(self.people), failure_probability=_FAILURE,
                measure=f"in one search, by how much more than at the best threshold the number of vertices ({what}) "
                        "misses K",
                source=Source(document="McSherry and Talwar 2007", statement="Theorem 6", spec=_SPEC)))
        return Guarantees(tuple(items))

    # ---- the run

    def start(
        self, data: Any, noise: NoiseSource, *, charge: Debit | None = None, charged: int = 0,
        answers: Mapping[Any, bool] | None = None, log: OperatorLog | None = None, query_cap: int | None = None,
        without_guarantee: bool = False,
    ) -> Search:
        """Begin a search that can pause, for a slow oracle or after a crash.

        After a crash, call the method with the same investigation, all answers so far, and the same `JournalNoise`. A
        restarted search repeats its steps with the same noise as before, and asks only unanswered questions.

        Args:
            data: an `Investigation`, which holds the private network, the seeds and the oracle.
            noise: source of the noise; `Noise.secure()` for a release, wrapped in a `JournalNoise` if the search must
                survive a crash.
            charge: function that receives the privacy events of each search for a component before this search begins.
                If the function raises `BudgetExceeded`, the whole search ends. The number of searches that were made is
                public.
            charged: number of searches for a component that were charged before a crash. These searches are not charged
                again. With secure noise, `noise` must be the `JournalNoise` that holds the draws of these searches.
                With fresh secure noise the same searches would be a new release, which must be charged again.
            answers: mapping from the id of a person to whether they are a target.
            log: log that is filled with the examined vertices and other records that only the operator may see.
            query_cap: number of examinations after which the search stops; None for no limit. Such a stop reveals
                protected contacts without any bound.
            without_guarantee: whether the caller accepts a run without a privacy guarantee; must be True with a query
                cap. With a query cap the outcome is a `CappedOutcome`, never a release.

        Raises:
            InvalidInput: a graph with another number of people; noise without the draws of the charged searches; or a
                journal that belongs to another graph, other seeds or other parameters.
            DegreeBoundViolated: a graph in which some vertex has more neighbours than the degree bound.
            Refused: a query cap in a private run.
        """
        return Search(self, data, noise, charge=charge, charged=charged, answers=answers, log=log,
                      query_cap=query_cap, without_guarantee=without_guarantee)

    def run(
        self, data: Any, noise: NoiseSource, *, charge: Debit | None = None, log: OperatorLog | None = None,
        query_cap: int | None = None, without_guarantee: bool = False, progress: Progress | None = None,
    ) -> RunOutcome[PublicRelease, SearchCertificate]:
        """Run the whole search.

        The arguments `data`, `noise`, `charge`, `log`, `query_cap` and `without_guarantee` are the same as in `start`.
        The function `progress` is called once, when the search has ended. Nothing is reported during the search,
        because the course of a search depends on contacts.

        Raises:
            SeedNotTargeted: a seed that is not a target, by the oracle's answer.
            OracleUnavailable: an oracle that gives no answer. The attribute `search` of the error is the paused search.
            InvalidInput: a graph with another number of people.
            DegreeBoundViolated: a graph in which some vertex has more neighbours than the degree bound.
            Refused: a query cap in a private run.
        """
        search = self.start(data, noise, charge=charge, log=log, query_cap=query_cap,
                            without_guarantee=without_guarantee)
        found = search.run().outcome
        advance(progress, 1, 1)
        return found

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing, because the data belong to a custodian and no participant gets a share."""
        self.check(billboard)
        return {}

    def certify(self, billboard: Billboard) -> SearchCertificate:
        """The bound on the privacy loss of the released list: the number of searches for a component times epsilon."""
        board = self._own(billboard)
        return SearchCertificate(calls=board.calls, ex_post=board.calls * self.epsilon)

    def drawn(self, billboard: Billboard) -> Iterator[tuple[str, DrawCost, int]]:
        """The cost of the searches for a component that were made. A run may end before it makes all the searches for
        which it was charged.
        """
        calls, epsilon = self._own(billboard).calls, written(self.call.selection_epsilon)
        for event in self.call.events() if calls else ():
            bounded = isinstance(event, BoundedRangeEvent)
            yield f"{event.label}s", (DrawCost.selection if bounded else DrawCost.laplace)(epsilon), calls

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard, a published result, can be a release of this search.

        Raises:
            InvalidInput: an entry of the billboard contradicts the parameters or another entry. The error message names
                the entry.
        """
        self._own(billboard)

    def _own(self, billboard: Billboard) -> PublicRelease:
        if not isinstance(billboard, PublicRelease):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a PublicRelease")
        billboard.check(self.components, self.epsilon, self.people)
        return billboard


def within_budget(it: PTarget, epsilon: float, delta: float) -> PTarget:
    """The search with the largest epsilon of one call at which the whole list costs at most a budget.

    Args:
        it: search with the wanted parameters. Its epsilon and delta are replaced.
        epsilon: privacy loss of the whole list, in nats.
        delta: delta of the whole list. With 0 the losses are added by basic composition.
    """
    def fits(each: float) -> bool:
        there = replace(it, epsilon=each, delta=delta)
        if not there.calls:
            return True
        account = Accountant(there.events())
        return min(account.epsilon(), account.best(delta)[1] if delta else math.inf) <= epsilon

    if fits(epsilon):
        return replace(it, epsilon=epsilon, delta=delta)
    low = epsilon / it.calls  # by the sum, but for a rounding
    while not fits(low):
        low = math.nextafter(low, 0.0)
    high = epsilon
    while delta and high - low > _NARROW * low:
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return replace(it, epsilon=low, delta=delta)


class Search:
    """A search in progress. The search advances until it needs an answer of the oracle that is missing, and continues
    when the answer is given.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.search.graph import Graph
        >>> from confide.search.oracles import Investigation
        >>> network = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> by_hand = Investigation(network, 0, None)
        >>> search = PTarget(4, 1, None, 0.1, None, stop="none").start(by_hand, Noise.simulated(1))
        >>> search.pending(), search.answer({0: True}).pending(), search.answer({1: False}).done
        ([0], [1], True)
        >>> search.outcome.billboard.order.tolist()
        [0]
    """

    def __init__(
        self, mechanism: PTarget, data: Any, noise: NoiseSource, *, charge: Debit | None, charged: int,
        answers: Mapping[Any, bool] | None, log: OperatorLog | None, query_cap: int | None, without_guarantee: bool,
    ) -> None:
        investigation = check_investigation(data, mechanism.people)
        cap = as_cap(query_cap)
        if cap is not None and not without_guarantee:
            raise Refused("a private search has no query cap, since the time of its stop would disclose protected "
                          "contacts",
                          "stop between components, or give without_guarantee=True, which voids the promise")
        self._mechanism, self._noise, self._charge = mechanism, as_noise(noise), charge
        self._noise.open_meter(mechanism)  # each attempt has its own, and pays again for what its noise repeats
        self._charged, self._capped = whole("charged", charged), cap is not None
        check_charged(self._noise, self._charged)
        # Before the look at degrees: a graph that is refused is not mended under the same noise.
        keep_search(self._noise, mechanism, investigation.graph, investigation.seeds)
        if mechanism.degree_bound is not None:
            investigation.graph.check_degree(mechanism.degree_bound)
        self._state = SearchState(investigation, self._look, mechanism.components, charge=self._debit, cap=cap,
                                  answers=answers, log=log)
        self._outcome: RunOutcome[PublicRelease, SearchCertificate] | None = None

    def __repr__(self) -> str:
        return f"<Search, {'done' if self.done else 'under way'}>"

    def _look(self, walk: Walk, call: int) -> Any:
        keep_call(self._noise, call, walk.order)
        return self._mechanism.call.look(walk, self._noise, call)

    def _debit(self, call: int) -> None:
        if self._charge is not None and call >= self._charged:
            self._charge(self._mechanism.call.events())
            self._charged = call + 1

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return self._state.ended is not None

    @property
    def charged(self) -> int:
        """Number of searches for a component that have been charged, which is public."""
        return max(self._charged, self._state.calls)

    @property
    def answers(self) -> dict[Any, bool]:
        """All answers of the oracle so far, by id. A restart needs these answers. Only the operator may see the
        answers.
        """
        return self._state.statuses.given()

    @property
    def log(self) -> OperatorLog:
        """Log of the search so far, which only the operator may see."""
        return self._state.log

    def run(self) -> Search:
        """Continue the search to its end, asking the oracle.

        Raises:
            OracleUnavailable: an oracle that gives no answer. Another call of `run` continues from the same state.
        """
        try:
            self._state.run()
        except OracleUnavailable as error:
            error.search = self
            raise
        return self

    def pending(self, count: int = 1) -> list[Any]:
        """Ids of the next vertices about which the oracle must be asked, in order. Only the operator may see the ids,
        since they reveal protected contacts.

        Within a component all pending vertices will be examined in any case. In a search for a component, questions
        about later vertices may turn out to be unnecessary. Answers to unnecessary questions are kept, and the vertices
        count as examined only in their turn.

        Args:
            count: largest number of ids.
        """
        count = whole("count", count, at_least=1)
        if self._state.advance():
            return []
        return self._state.investigation.graph.ids_of(self._state.upcoming(count))

    def answer(self, answers: Mapping[Any, bool]) -> Search:
        """Record answers about any vertices, in any order, and continue the search until it needs another answer.

        Args:
            answers: mapping from the id of a person to whether they are a target.

        Raises:
            OracleInconsistent: an answer that differs from an earlier one. After the error, none of the new answers is
                kept.
            InvalidInput: an unknown id, or an answer that is not a boolean. After the error, none of the new answers is
                kept.
        """
        self._state.statuses.give(answers)
        self._state.advance()
        return self

    @property
    def outcome(self) -> RunOutcome[PublicRelease, SearchCertificate]:
        """The outcome of a search that has ended.

        Raises:
            Refused: a search that has not ended. A list that ends at a missing answer would reveal at which points
                answers were missing.
        """
        if not self.done:
            raise Refused("the search has not ended", "call run(), or give the answers to pending()")
        if self._outcome is None:
            self._outcome = self._settle()
        return self._outcome

    def _settle(self) -> RunOutcome[PublicRelease, SearchCertificate]:
        state, mechanism = self._state, self._mechanism
        ended = state.ended
        if ended is None:
            raise Refused("the search has not ended")
        graph = state.investigation.graph
        board = PublicRelease(
            people=mechanism.people, seeds=np.array(graph.ids_of(state.investigation.seeds)),
            order=np.array(graph.ids_of(state.order)), joined=np.array(state.joined, np.int64), calls=state.calls,
            ended=ended, epsilon_spent=math.inf if self._capped else state.calls * mechanism.epsilon)
        facts = {"queries": state.log.queries, "found_after": state.log.found_after,
                 "thresholds": tuple(state.log.thresholds)}
        if self._capped:
            return CappedOutcome(
                mechanism=mechanism, billboard=board, shares=pa.table({}), diagnostics=facts,
                guarantees=no_guarantee("this search had a query cap"),
                provenance=Provenance.here(f"{self._noise.kind}, cut off by a query cap"))
        return mechanism._outcome(self._noise, billboard=board, shares=pa.table({}),
                                  certificate=mechanism.certify(board), diagnostics=facts)

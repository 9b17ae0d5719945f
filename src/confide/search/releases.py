"""Results of a search: the public released list, and a separate log that only the operator may see.

The module also writes notes about a search into a journal of noise: the search to which the journal belongs, and the
calls (searches for a component) that have begun. The random numbers of a noisy order identify neither the noise scale
nor the graph. Therefore a note in the journal identifies the search before the first draw, and each call before the
draws of this call. The journal of noise is private, and so are the notes in it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.digests import canonical
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation, Source
from confide.contract.outcome import Billboard, Certificate, SimulatedOutcome
from confide.contract.wire import wire
from confide.privacy.losses import PureDP
from confide.privacy.noise import JournalNoise
from confide.privacy.noise.base import Noise
from confide.search.graph import Graph

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = [
    "ENDINGS",
    "CappedOutcome",
    "Ended",
    "OperatorLog",
    "PublicRelease",
    "SearchCertificate",
    "check_charged",
    "graph_digest",
    "keep_call",
    "keep_search",
    "no_guarantee",
]

# ---- releases

Ended = Literal["all components", "nothing found", "budget", "query cap"]
ENDINGS: tuple[Ended, ...] = ("all components", "nothing found", "budget", "query cap")


@wire("PublicRelease", "people seeds order joined calls ended epsilon_spent")
@dataclass(frozen=True, kw_only=True, eq=False)
class PublicRelease(Billboard):
    """The confirmed targets as a sequence. The release does not contain the duration of the search, or the vertices
    that were examined.

    Args:
        people: number n of people.
        seeds: ids of the seeds, in the given order.
        order: ids of the confirmed targets in the order in which they were found.
        joined: positions in `order` at which each component begins: first the components of the seeds, and then one
            component for each successful search.
        calls: number of searches for a new component.
        ended: reason why the run ended. "all components": the run made all searches that it may make. "nothing found":
            the last search for a component found no target. "budget": the budget did not allow another search. "query
            cap": a cap on examinations was reached, which no private run has.
        epsilon_spent: `calls` times epsilon, in nats, which bounds the privacy loss of this released list
            (`SearchCertificate`); infinite with a query cap.
    """

    people: int
    seeds: np.ndarray
    order: np.ndarray
    joined: np.ndarray
    calls: int
    ended: Ended
    epsilon_spent: float

    @property
    def halted(self) -> bool:
        """Whether the run ended before it made all searches for a component that it may make."""
        return self.ended != "all components"

    @property
    def components(self) -> int:
        """Number of components that were found, including the components of the seeds."""
        return len(self.joined)

    def to_arrow(self) -> pa.Table:
        """A table of all people who were found. The columns are `place` (position in the order, from 1), `id`,
        `component` (number of the component, from 1), `first_of_component` (a boolean), and `how`. The column `how` has
        the way in which the person was found: "seed", "searched for" or "contact".
        """
        component = np.searchsorted(self.joined, np.arange(len(self.order)), side="right")
        first = np.zeros(len(self.order), np.bool_)
        first[self.joined] = True
        how = np.where(np.isin(self.order, self.seeds), "seed", np.where(first, "searched for", "contact"))
        return pa.table({"place": np.arange(1, len(self.order) + 1), "id": pa.array(self.order.tolist()),
                         "component": component, "first_of_component": first, "how": pa.array(how.tolist())})

    def to_pandas(self) -> pd.DataFrame:
        """The table of `to_arrow` as a pandas frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The table of `to_arrow` as a Polars frame.

        Raises:
            ImportError: polars is not installed.
        """
        import polars as pl

        found = pl.from_arrow(self.to_arrow())
        return found if isinstance(found, pl.DataFrame) else found.to_frame()

    def check(self, components: int, epsilon: float, people: int) -> None:
        """Refuse a release that cannot come from a private search with the given parameters.

        Args:
            components: largest number k of components to find.
            epsilon: privacy loss of one search for a component, in nats.
            people: number n of people.

        Raises:
            InvalidInput: an entry contradicts the parameters or another entry. The error message names the entry.
        """
        if self.people != people:
            raise InvalidInput("billboard.people", f"is {self.people:,}", f"must be {people:,}")
        for name in ("seeds", "order", "joined"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != 1 or not array.size:
                raise InvalidInput(f"billboard.{name}", "is not a list with at least one entry")
        order, seeds, starts = self.order.tolist(), self.seeds.tolist(), self.joined.tolist()
        kinds = self.joined.dtype.kind, self.order.dtype.kind, self.seeds.dtype.kind
        if kinds not in (("i", "i", "i"), ("i", "u", "u"), ("i", "U", "U")):  # texts may differ in their width
            raise InvalidInput("billboard.order", "holds no ids", "must be whole numbers or texts, like the seeds")
        if len(set(order)) != len(order) or len(order) > people:
            raise InvalidInput("billboard.order", "has a person twice, or has more people than the network")
        if len(set(seeds)) != len(seeds) or not set(seeds) <= set(order):
            raise InvalidInput("billboard.seeds", "are not all released",
                               "must all be released, since every seed is a confirmed target")
        if starts[0] != 0 or sorted(set(starts)) != starts or starts[-1] >= len(order):
            raise InvalidInput("billboard.joined", "are not increasing positions of the list, from 0 on")
        self._check_calls(components, epsilon, order, seeds, starts)

    def _check_calls(self, components: int, epsilon: float, order: list[Any], seeds: list[Any],
                     starts: list[int]) -> None:
        ranks = {vertex: rank for rank, vertex in enumerate(seeds)}
        begun = [ranks[order[start]] for start in starts if order[start] in ranks]
        own = len(begun)  # components of seeds; a search for a component comes upon none of them
        first_sought = starts[own] if own < len(starts) else len(order)
        if order[0] != seeds[0] or begun != sorted(begun) or not set(seeds) <= set(order[:first_sought]):
            raise InvalidInput("billboard.order", "does not begin with the seeds' components")
        if self.ended not in ENDINGS or self.ended == "query cap":
            raise InvalidInput("billboard.ended", f"{self.ended!r} is not an end of a private search")
        failed = int(self.ended == "nothing found")
        most = components - 1
        if self.calls != len(starts) - own + failed or not 0 <= self.calls <= most:
            raise InvalidInput("billboard.calls", "do not fit the components",
                               f"must be at most {most}, one for each found component")
        if (self.ended == "all components") != (self.calls == most and not failed):
            raise InvalidInput("billboard.ended", f"is {self.ended!r} after {self.calls} of {most} calls",
                               "must be 'all components' if all calls found a component, and only then")
        if not math.isclose(self.epsilon_spent, self.calls * epsilon, rel_tol=1e-12, abs_tol=0.0):
            raise InvalidInput("billboard.epsilon_spent", f"is {self.epsilon_spent:g}", "must be calls times epsilon")


@wire("SearchCertificate", "calls ex_post")
@dataclass(frozen=True, kw_only=True, eq=False)
class SearchCertificate(Certificate):
    """A bound on the privacy loss of the list that was released.

    For every rewiring of one protected vertex, the probability of the released list changes by a factor of at most
    e^ex_post. The probability is a product of the laws of `calls` searches. The bound is not a guarantee before the
    run, because the number of searches depends on the run. The bound does not bound a loss of the form (epsilon,
    delta).

    Args:
        calls: number of searches for a new component.
        ex_post: `calls` times epsilon, a bound on the privacy loss of the released list, in nats.
    """

    calls: int
    ex_post: float

    @property
    def risk_multiplier(self) -> float:
        """Largest factor e^ex_post by which the probability of the released list changes."""
        return math.exp(self.ex_post) if self.ex_post < 700 else math.inf


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CappedOutcome(SimulatedOutcome[PublicRelease, SearchCertificate]):
    """The outcome of a search with a query cap, under any noise. A query cap ends the search after a number of
    examinations. The outcome is for studies, and is never a release.

    The point at which the search was cut off reveals protected contacts without any bound. Therefore `release_safe` is
    False, nothing is promised, `billboard.epsilon_spent` is infinite, the provenance names the cap, and no campaign
    accepts the outcome.
    """


class OperatorLog:
    """A log that only the operator of a search may see: the examined vertices, the times of examinations, and the
    thresholds.

    Pass an empty log to `run(..., log=)`. The search fills the log as it proceeds. The privacy promise covers nothing
    in the log.

    Attributes:
        targeted: whether each of the q examined vertices was a target, shape (q,).
        found_after: number of vertices that had been examined when each released target was found.
        call_began: number of vertices that had been examined before each search for a component.
        thresholds: value of the fake target in each search for a component; None for no fake target.
    """

    def __init__(self) -> None:
        self.targeted = np.zeros(0, np.bool_)
        self.found_after = np.zeros(0, np.int64)
        self.call_began: list[int] = []
        self.thresholds: list[float | None] = []
        self._examined: NDArray[Any] = np.zeros(0, np.int64)
        self._graph: Graph | None = None

    def fill(self, examined: NDArray[Any], targeted: NDArray[np.bool_], found_after: NDArray[np.int64] | None = None,
             *, graph: Graph | None = None) -> None:
        """Update the log.

        Args:
            examined: ids of the examined vertices, or their positions in the graph's list of ids if a graph is given.
            targeted: whether each vertex in `examined` was a target.
            found_after: number of vertices that had been examined when each released target was found.
            graph: graph from which the positions in `examined` are taken; None if `examined` holds ids.
        """
        self._examined, self._graph, self.targeted = examined, graph, targeted
        if found_after is not None:
            self.found_after = found_after

    @property
    def examined(self) -> NDArray[Any]:
        """Ids of the examined vertices in the order of their examination, without the seeds, shape (q,)."""
        if self._graph is not None:  # looked up when somebody asks
            self._examined, self._graph = np.array(self._graph.ids_of(self._examined)), None
        return self._examined

    def __repr__(self) -> str:
        return "<OperatorLog>"  # not even its length

    @property
    def queries(self) -> int:
        """Number of examined vertices, without the seeds."""
        return len(self.targeted)

    def curve(self, most: int | None = None) -> NDArray[np.int64]:
        """Number of targets that were found after q examinations, for q = 0..queries, including the first seed; shape
        (queries + 1,).

        Args:
            most: last value of q; None for the number of queries. Beyond the number of queries, the curve stays at its
                last value.
        """
        last = self.queries if most is None else most
        return np.asarray(np.searchsorted(self.found_after, np.arange(last + 1), side="right"))


def no_guarantee(why: str) -> Guarantees:
    """The guarantees of a run that promises nothing, because it is not private or has a query cap.

    Args:
        why: short reason why nothing is promised.

    Source: spec targeted_search 10, traps 1 and 2.
    """
    return Guarantees((Privacy(
        loss=PureDP(math.inf), neighbours=Relation.EDGES_OF_ONE, audience=Audience.PUBLIC, part="the released list",
        source=Source(document="confide", statement="a single query distinguishes two graphs",
                      spec="targeted_search 10"),
        note=f"none: {why}"),))


# ---- kept searches

_ALL = "component"  # the first word of every draw of a search


def graph_digest(graph: Graph) -> str:
    """Digest of the contacts and ids of a graph. The digest must stay private, since anybody with the digest can check
    a guess of the graph.

    Args:
        graph: the private graph.
    """
    found = hashlib.sha256(f"{graph.people} {len(graph.indices)} ".encode())
    found.update(graph.indptr.astype("<i8").tobytes())
    found.update(graph.indices.astype("<i4").tobytes())
    if isinstance(graph.ids, np.ndarray):
        found.update(graph.ids.astype("<i8").tobytes())
    elif graph.ids is not None:
        found.update("\0".join(graph.ids.to_pylist()).encode())  # no id has a NUL
    return found.hexdigest()


def keep_search(noise: Noise, parameters: Any, graph: Graph, seeds: NDArray[np.int64]) -> None:
    """Write a note into the journal of the noise, which names the search to which the journal belongs. If the noise has
    no journal, no note is written.

    Args:
        noise: source of noise of the run.
        parameters: mechanism of the search, which holds its public parameters.
        graph: private network of contacts between people.
        seeds: ranks of the seeds.

    Raises:
        InvalidInput: a journal that belongs to another search.
    """
    if isinstance(noise, JournalNoise):
        noise.note(_ALL, _digest(parameters, graph_digest(graph), seeds))


def keep_call(noise: Noise, call: int, released: NDArray[np.int64], parameters: Any = None,
              graph: Graph | None = None) -> None:
    """Write a note into the journal of the noise that a call (a search for a component) begins. The note is written
    before the first draw of the call.

    Args:
        noise: source of noise of the run.
        call: number of the call, from 0.
        released: ranks of the confirmed targets.
        parameters: parameters of a single call that belongs to no whole search.
        graph: network of contacts on which the single call searches.

    Raises:
        InvalidInput: a journal in which the same call began with other data.
    """
    if isinstance(noise, JournalNoise):
        noise.note((_ALL, call), _digest(parameters, "" if graph is None else graph_digest(graph), released))


def check_charged(noise: Noise, charged: int) -> None:
    """Check that the calls that were already charged will use the same noise again.

    Simulated noise can be drawn again from its seed. Secure noise is new each time, so a call that is repeated with new
    secure noise is another release, which must be charged.

    Args:
        noise: source of noise of the run.
        charged: number of calls that were charged before and are not charged again.

    Raises:
        InvalidInput: the noise does not hold the draws of the charged calls.
    """
    kept = isinstance(noise, JournalNoise)
    if charged and (kept or noise.release_safe) and not (
            isinstance(noise, JournalNoise) and all(noise.noted((_ALL, call)) for call in range(charged))):
        raise InvalidInput("charged", f"is {charged}, but the noise does not have the draws of so many calls",
                           "give the JournalNoise of the first attempt; a call with other noise is charged again")


def _digest(parameters: Any, graph: str, ranks: NDArray[np.int64]) -> str:
    said = canonical(encode(parameters, {})) + graph.encode()
    return hashlib.sha256(said + np.asarray(ranks, "<i8").tobytes()).hexdigest()

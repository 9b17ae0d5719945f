"""Results of a search: the released list for everybody, and apart from it the log that only the operator may see.

Notes in a journal of noise about a search: the search that it is for, and the calls that have begun.

The raw material of a noisy order bears neither scale nor graph. So a journal that is kept names the search that it was
begun for, before the first draw, and each call before its own. The journal is private, and so are these notes.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.encoding import canonical, encode
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
    """The confirmed targets, as a sequence. How long the search took, and whom it examined, is not in it.

    Args:
        people: n.
        seeds: ids of the seeds, as given.
        order: ids of the confirmed targets in the order in which they were found.
        joined: positions in `order` at which a component begins: first those of seeds, then one a successful call.
        calls: how often a new component was sought.
        ended: "all components" were found; or "nothing found" by the last call; or the "budget" had no room for
            another call; or a "query cap", which no private run has.
        epsilon_spent: calls times epsilon: what bounds the loss of this very list (`SearchCertificate`). Infinite with
            a query cap.
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
        """Whether the search ended before it had all the components that it may have."""
        return self.ended != "all components"

    @property
    def components(self) -> int:
        """Components that were found, the seeds' among them."""
        return len(self.joined)

    def to_arrow(self) -> pa.Table:
        """Everybody who was found: `place` in the order from 1 on, `id`, number of the `component`, whether they are
        the `first_of_component`, and `how` they were found: seed, searched for, or contact.
        """
        component = np.searchsorted(self.joined, np.arange(len(self.order)), side="right")
        first = np.zeros(len(self.order), np.bool_)
        first[self.joined] = True
        how = np.where(np.isin(self.order, self.seeds), "seed", np.where(first, "searched for", "contact"))
        return pa.table({"place": np.arange(1, len(self.order) + 1), "id": pa.array(self.order.tolist()),
                         "component": component, "first_of_component": first, "how": pa.array(how.tolist())})

    def to_pandas(self) -> pd.DataFrame:
        """The columns of `to_arrow` as a frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The columns of `to_arrow` as a frame.

        Raises:
            ImportError: polars is not installed.
        """
        import polars as pl

        found = pl.from_arrow(self.to_arrow())
        return found if isinstance(found, pl.DataFrame) else found.to_frame()

    def check(self, components: int, epsilon: float, people: int) -> None:
        """Refuse a release that no private search with these parameters makes.

        Args:
            components: number of components, k.
            epsilon: cost of a call, in nats.
            people: number of people, n.

        Raises:
            InvalidInput: names the part that contradicts the others.
        """
        if self.people != people:
            raise InvalidInput("billboard.people", f"is {self.people:,}", f"must be {people:,}")
        for name in ("seeds", "order", "joined"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != 1 or not array.size:
                raise InvalidInput(f"billboard.{name}", "is no list of one or more")
        order, seeds, starts = self.order.tolist(), self.seeds.tolist(), self.joined.tolist()
        kinds = self.joined.dtype.kind, self.order.dtype.kind, self.seeds.dtype.kind
        if kinds not in (("i", "i", "i"), ("i", "u", "u"), ("i", "U", "U")):  # texts may differ in their width
            raise InvalidInput("billboard.order", "holds no ids", "must be whole numbers or texts, like the seeds")
        if len(set(order)) != len(order) or len(order) > people:
            raise InvalidInput("billboard.order", "names somebody twice, or more people than there are")
        if len(set(seeds)) != len(seeds) or not set(seeds) <= set(order):
            raise InvalidInput("billboard.seeds", "are not all released", "every seed is a confirmed target")
        if starts[0] != 0 or sorted(set(starts)) != starts or starts[-1] >= len(order):
            raise InvalidInput("billboard.joined", "are no increasing positions of the list from 0 on")
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
            raise InvalidInput("billboard.ended", f"is {self.ended!r}", "no private search ends so")
        failed = int(self.ended == "nothing found")
        most = components - 1
        if self.calls != len(starts) - own + failed or not 0 <= self.calls <= most:
            raise InvalidInput("billboard.calls", "do not fit the components", f"at most {most}, one a component found")
        if (self.ended == "all components") != (self.calls == most and not failed):
            raise InvalidInput("billboard.ended", f"is {self.ended!r} after {self.calls} calls of {most}")
        if not math.isclose(self.epsilon_spent, self.calls * epsilon, rel_tol=1e-12, abs_tol=0.0):
            raise InvalidInput("billboard.epsilon_spent", f"is {self.epsilon_spent:g}", "must be calls times epsilon")


@wire("SearchCertificate", "calls ex_post")
@dataclass(frozen=True, kw_only=True, eq=False)
class SearchCertificate(Certificate):
    """Bound on the loss of the list that was released.

    For every rewiring of one protected vertex, the probability of this very list changes by a factor of at most
    e^ex_post: it is a product of `calls` laws. It is no guarantee beforehand, because how many calls there are depends
    on the run, and it says nothing about an (epsilon, delta).

    Args:
        calls: number of searches for a new component.
        ex_post: calls times epsilon, in nats.
    """

    calls: int
    ex_post: float

    @property
    def risk_multiplier(self) -> float:
        """Factor e^ex_post by which probabilities change at most."""
        return math.exp(self.ex_post) if self.ex_post < 700 else math.inf


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CappedOutcome(SimulatedOutcome[PublicRelease, SearchCertificate]):
    """Outcome of a search with a query cap, under any noise: a study, never a release.

    The point where it was cut off reveals protected contacts without bound. So `release_safe` is False, nothing is
    promised, `billboard.epsilon_spent` is infinite, the provenance names the cap, and no campaign settles it.
    """


class OperatorLog:
    """Log for the operator of a search, and nobody else: the examined vertices, when, and the thresholds.

    Give a fresh one to `run(..., log=)`; it is filled while the search goes on. The promise covers none of this.

    Attributes:
        targeted: (q,) whether each of the examined vertices was a target.
        found_after: number of vertices that had been examined, for each released target.
        call_began: number of vertices that had been examined before each search for a component.
        thresholds: the fake target's value in each search; None where there was none.
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
            examined: ids, or where a graph is given their ranks.
            targeted: whether each of them was a target.
            found_after: number of vertices that had been examined, for each released target.
            graph: graph of the ranks.
        """
        self._examined, self._graph, self.targeted = examined, graph, targeted
        if found_after is not None:
            self.found_after = found_after

    @property
    def examined(self) -> NDArray[Any]:
        """Ids in the order in which they were examined, without the seeds, shape (q,)."""
        if self._graph is not None:  # looked up when somebody asks
            self._examined, self._graph = np.array(self._graph.ids_of(self._examined)), None
        return self._examined

    def __repr__(self) -> str:
        return "<OperatorLog>"  # not even its length

    @property
    def queries(self) -> int:
        """How many vertices were examined, the seeds not among them."""
        return len(self.targeted)

    def curve(self, most: int | None = None) -> NDArray[np.int64]:
        """Number of targets released after q examinations, the first seed among them, shape (queries + 1,).

        Args:
            most: the last q, where the curve is to end, or to go on at its last value.
        """
        last = self.queries if most is None else most
        return np.asarray(np.searchsorted(self.found_after, np.arange(last + 1), side="right"))


def no_guarantee(why: str) -> Guarantees:
    """Empty promise of a run that is not private, or is cut off by a query cap.

    Args:
        why: reason, in a few words.

    Source: spec targeted_search 10, traps 1 and 2.
    """
    return Guarantees((Privacy(
        loss=PureDP(math.inf), neighbours=Relation.EDGES_OF_ONE, audience=Audience.PUBLIC, part="the released list",
        source=Source(document="confide", statement="one query separates two graphs", spec="targeted_search 10"),
        note=f"none: {why}"),))


# ---- kept searches

_ALL = "component"  # the first word of every draw of a search


def graph_digest(graph: Graph) -> str:
    """Digest of contacts and ids; for private places alone, since it can be guessed.

    Args:
        graph: graph to digest.
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
    """Note in a journal which search it is for; other noise gets no note.

    Args:
        noise: noise of the run.
        parameters: the mechanism.
        graph: the contacts.
        seeds: their ranks.

    Raises:
        InvalidInput: the journal was begun for something else.
    """
    if isinstance(noise, JournalNoise):
        noise.note(_ALL, _digest(parameters, graph_digest(graph), seeds))


def keep_call(noise: Noise, call: int, released: NDArray[np.int64], parameters: Any = None,
              graph: Graph | None = None) -> None:
    """Note in a journal that a call begins, before its first draw.

    Args:
        noise: noise of the run.
        call: number of the call.
        released: ranks of the confirmed targets.
        parameters: parameters of a call that belongs to no whole search.
        graph: contacts, for such a call.

    Raises:
        InvalidInput: the call was begun for something else.
    """
    if isinstance(noise, JournalNoise):
        noise.note((_ALL, call), _digest(parameters, "" if graph is None else graph_digest(graph), released))


def check_charged(noise: Noise, charged: int) -> None:
    """Check that calls that are said to be charged already will have the noise that they had.

    Noise of a study may be drawn again from its seed. Secure noise is new each time: a call that is repeated with it is
    another release.

    Args:
        noise: noise of the run.
        charged: number of calls that are not charged again.

    Raises:
        InvalidInput: the noise holds no draws of these calls.
    """
    kept = isinstance(noise, JournalNoise)
    if charged and (kept or noise.release_safe) and not (
            isinstance(noise, JournalNoise) and all(noise.noted((_ALL, call)) for call in range(charged))):
        raise InvalidInput("charged", f"is {charged}, and the noise does not hold the draws of so many calls",
                           "give the JournalNoise of the first attempt; a call with other noise is charged anew")


def _digest(parameters: Any, graph: str, ranks: NDArray[np.int64]) -> str:
    said = canonical(encode(parameters, {})) + graph.encode()
    return hashlib.sha256(said + np.asarray(ranks, "<i8").tobytes()).hexdigest()

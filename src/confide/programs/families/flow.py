"""`Flow`: each participant sends one unit through a public network, along a path with a limited number of arcs, or
sends nothing.

Source: Wu 2017, section 5.4.2; spec convex_programs 4 (multi-commodity flow) and errata 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.programs.families.networks import routes_between
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT, Constants, values_near
from confide.programs.linear import LinearProgram
from confide.programs.program import MOST_ROWS, Program, ProgramRecords
from confide.programs.tables import bad_rows, is_row, numbers, one_row, refused_or_null, value_units

__all__ = ["Flow", "FlowRecords"]

_COSTS = "a source and a sink that differ, both nodes' numbers, then each arc's cost in [0, 1]"
_ENDS = "a source and a sink that differ, both nodes' numbers"
_LANES = 32  # searches side by side
_CELLS = 1 << 14  # of labels and weights, so that they stay in the cache
_MOST_NODES = 1 << 24  # numbers that even single precision holds


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FlowRecords(ProgramRecords):
    """Source and sink of each participant's unit, by their node numbers, and the cost of each arc to each participant.
    The data are private and must not be published.

    Args:
        ends: (n, 2) int32 source and sink, both -1 in a slot without a record.
        costs: (n, E) int32 costs, in units of 2^-24; shape (n, 0) if costs are public.
    """

    ends: NDArray[np.int32]
    costs: NDArray[np.int32]


@wire("Flow", "people supply tau arcs hops escape nodes costs")
@dataclass(frozen=True)
class Flow(Program):
    """A program of n people who each send one unit through a network, from a source to a sink. Each arc carries a
    limited number of units.

    A record is a source, a sink and, where costs are private, the cost of each arc to the participant. Every
    participant may take the escape, an alternative that costs `escape` and uses no arc. The escape is the null action.
    The value of a route is the saving against the escape, escape - cost. So the null action and a slot without a record
    have value 0, and the program is a packing program. The total cost of all participants with a record is `escape`
    times their number, less the value. A route that costs more than the escape is not used. An action lists the arcs of
    a path, by their numbers from 0, in the order of the path. Among equally good responses, the escape is preferred,
    then a path with fewer arcs, then the first path in the lexicographic order of arcs' numbers. Costs and prices are
    not negative, so the cheapest walk with the fewest arcs visits no node twice: every response is a simple path.

    The dual bound is `escape`: a participant who has to leave an arc may have to take the escape.

    Raises:
        InvalidInput: a number out of range, or an arc from a node to itself.

    Example:
        >>> program = Flow(2, (1, 1, 1), arcs=((0, 1), (1, 2), (0, 2)), hops=2, escape=3.0)
        >>> records = program.read([[0, 2, 0.25, 0.25, 1.0], [0, 2, 1.0, 0.5, 0.5]])
        >>> actions = program.respond(records, np.zeros(3, dtype=np.int64))
        >>> [program.describe(one) for one in actions], (program.values(records, actions) / PRICE_UNIT).tolist()
        ([[0, 1], [2]], [2.5, 2.5])
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "capacity of each arc in units: E numbers, or one number for all", symbol="b", at_least=0)]
    arcs: Annotated[tuple[tuple[int, int], ...], Parameter(
        "(tail, head) of each arc, nodes by their numbers from 0; several arcs may join the same nodes")] = field(
            kw_only=True)
    hops: Annotated[int, Parameter("largest number of arcs of a path",
                                   symbol="L", at_least=1, at_most=MOST_ROWS)] = field(
        kw_only=True)
    escape: Annotated[float, Parameter(
        "cost of the escape, the alternative to all routes", symbol="M", above=0)] = field(kw_only=True)
    nodes: Annotated[int | None, Parameter(
        "number of nodes; by default the number of nodes of the arcs", at_least=2, at_most=_MOST_NODES)] = field(
            default=None, kw_only=True)
    costs: Annotated[tuple[float, ...] | None, Parameter(
        "(E,) costs of the arcs, if they are public and the same for all; the program then finds the best responses "
        "for one sink together", at_least=0, at_most=1)] = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arcs", _checked(self.arcs))
        if self.costs is not None:
            object.__setattr__(self, "costs", self._for_rows("costs", self.costs))
        least = 1 + max(max(arc) for arc in self.arcs)
        object.__setattr__(self, "nodes", least if self.nodes is None else whole("nodes", self.nodes, at_least=least))
        super().__post_init__()

    def _fits(self) -> None:
        object.__setattr__(self, "escape", float(self.escape))

    @property
    def rows(self) -> int:
        return len(self.arcs)

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return int(self.nodes)  # type: ignore[arg-type]

    @property
    def width(self) -> int:
        return min(self.hops, self.node_count - 1)  # no simple path has more arcs

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"{tail}->{head}" for tail, head in self.arcs)

    @cached_property
    def constants(self) -> Constants:
        tau = (self.escape,) * self.rows if self.tau is None else self.tau
        return Constants(rows=self.rows, largest_entry=1.0, largest_sum=float(self.width), least_entry=1.0,
                         least_sum=1.0, most_value=self.escape, width=float(max(self.people, *self.supplies)),
                         tau=tau)  # type: ignore[arg-type]

    @cached_property
    def _escape_units(self) -> int:
        return int(values_near(self.escape))

    @cached_property
    def _public_costs(self) -> NDArray[np.int32]:
        """Public costs of arcs in units of 2^-24, shape (1, E); shape (1, 0) where costs are private."""
        return values_near([self.costs or ()]).astype(np.int32)

    @cached_property
    def _graph(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Places where each node's arcs begin, shape (nodes + 1,); arcs in the order of their tails, shape (E,); heads
        of these arcs, shape (E,).
        """
        tails, heads = np.array(self.arcs, dtype=np.int32).T
        order = np.argsort(tails, kind="stable").astype(np.int32)
        begins = np.searchsorted(tails[order], np.arange(self.node_count + 1)).astype(np.int32)
        return begins, order, np.ascontiguousarray(heads[order])

    # ---- records

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: (n, 2 + E) source, sink and costs in [0, 1] of each participant; (n, 2) where costs are public. A row
                with source and sink -1 is a slot without a record, whatever its other entries are.
            unusable: treatment of a bad row, "refuse" or "null".
        """
        table = numbers("records", data, (self.people, self._columns), unusable)
        bad = self._bad(table)
        refused_or_null("records", bad, "must be " + self._wanted, unusable)
        return self._of(table, bad)

    def one(self, record: Any) -> FlowRecords:
        """One participant's record, checked without any other record.

        Args:
            record: (2 + E,) source, sink and costs, or (source, sink, costs); (source, sink) where costs are public.
        """
        if record is None:
            return self._of(np.full((1, self._columns), -1.0), np.zeros(1, dtype=bool))
        if self.costs is None and isinstance(record, tuple) and len(record) == 3 and is_row(record[2]):
            record = (*record[:2], *record[2])
        found = one_row("record", record, (self._columns,))
        bad = self._bad(found[None])
        if bad[0]:
            raise InvalidInput("record", "has a value that is not in its range", "must be " + self._wanted)
        return self._of(found[None], bad)

    @property
    def _columns(self) -> int:
        return 2 + (self.rows if self.costs is None else 0)

    @property
    def _wanted(self) -> str:
        return _COSTS if self.costs is None else _ENDS

    def _bad(self, table: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row is neither a valid record nor an empty slot, shape (m,)."""
        ends = table[:, :2]
        with np.errstate(invalid="ignore"):
            nodes = ((ends >= 0) & (ends < self.node_count) & (ends == np.floor(ends))).all(axis=1)
        good = nodes & (ends[:, 0] != ends[:, 1]) & ~bad_rows(table[:, 2:], 0.0, 1.0)
        return np.asarray(~(good | (ends == -1).all(axis=1)))

    def _of(self, table: NDArray[Any], bad: NDArray[np.bool_]) -> FlowRecords:
        empty = bad | (table[:, 0] < 0)
        ends = np.where(empty[:, None], -1.0, table[:, :2]).astype(np.int32)
        return FlowRecords(people=len(table), ends=ends, costs=value_units(table[:, 2:], empty, np.int32))

    # ---- what people do at prices

    def respond(self, records: FlowRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.full((records.people, self.width), -1, dtype=np.int32)
        if self.costs is None:
            turns, firsts = np.arange(records.people), np.arange(records.people + 1)
            costs = records.costs
        else:
            turns, firsts = _by_sink(np.ascontiguousarray(records.ends[:, 1]), self.node_count)
            costs = self._public_costs
        _cheapest(turns, firsts, records.ends, costs, prices, *self._graph, self._escape_units, chosen)
        return chosen

    def load(self, records: FlowRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount((actions + 1).ravel(), minlength=self.rows + 1)[1:].astype(np.int64) << LOAD_BITS

    def contributions(self, records: FlowRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        cells = np.arange(len(actions))[:, None] * (self.rows + 1) + actions + 1
        used = np.bincount(cells.ravel(), minlength=len(actions) * (self.rows + 1))
        return used.reshape(-1, self.rows + 1)[:, 1:].astype(np.int64) << LOAD_BITS

    def values(self, records: FlowRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        on = np.maximum(actions, 0)
        costs = self._public_costs[0][on] if self.costs is not None else np.take_along_axis(records.costs, on, axis=1)
        spent = np.where(actions >= 0, costs, 0).sum(axis=1, dtype=np.int64)
        return np.where(actions[:, 0] >= 0, self._escape_units - spent, 0)

    def paid(
        self, records: FlowRecords, actions: NDArray[np.int32], prices: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        total: NDArray[np.int64] = np.append(prices, 0)[actions].sum(axis=1)  # -1 is the last one
        return total

    # ---- the same program for a solver

    def linear_program(self, records: FlowRecords) -> LinearProgram:
        """Linear program of all participants' routes of at most `hops` arcs. For each participant, the program has a
        variable for each simple path, or for each arc at each place of a route.

        Args:
            records: records of all participants.
        """
        pairs, which = np.unique(records.ends, axis=0, return_inverse=True)
        objective, owner = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
        coupling, personal, high = [np.zeros((2, 0))], [np.zeros((3, 0))], [np.zeros(0)]
        columns = row_count = 0
        for number, (source, sink) in enumerate(pairs.tolist()):
            if source < 0:
                continue
            all_of = routes_between(self.arcs, self.node_count, source, sink, self.hops)
            people, m, r = np.flatnonzero(which.ravel() == number), len(all_of.arrives), len(all_of.high)
            at = np.arange(len(people))[:, None]
            if m == 0:
                continue
            costs = self._public_costs if self.costs is not None else records.costs[people]
            uses = scipy.sparse.csc_array((np.ones(len(all_of.arc)), (all_of.arc, all_of.user)), shape=(self.rows, m))
            saved = self._escape_units * all_of.arrives - np.broadcast_to(costs @ uses, (len(people), m))
            objective.append(saved.ravel() / PRICE_UNIT)
            owner.append(np.repeat(people, m))
            coupling.append(np.stack([np.tile(all_of.arc, len(people)), (columns + at * m + all_of.user).ravel()]))
            personal.append(np.stack([(row_count + at * r + all_of.row).ravel(),
                                      (columns + at * m + all_of.column).ravel(),
                                      np.tile(all_of.entry, len(people))]))
            high.append(np.tile(all_of.high, len(people)))
            columns += m * len(people)
            row_count += r * len(people)
        tops = np.concatenate(high)
        across, own = np.concatenate(coupling, axis=1), np.concatenate(personal, axis=1)
        return LinearProgram(
            objective=np.concatenate(objective), equations=False, supply=self.supply_units / LOAD_UNIT,
            coupling=scipy.sparse.csc_array((np.ones(across.shape[1]), across.astype(np.int64)),
                                            shape=(self.rows, columns)),
            personal=scipy.sparse.csc_array((own[2], own[:2].astype(np.int64)), shape=(row_count, columns)),
            low=np.where(tops > 0, -np.inf, 0.0), high=tops, lower=np.zeros(columns), upper=np.ones(columns),
            owner=np.concatenate(owner))


def _checked(arcs: Any) -> tuple[tuple[int, int], ...]:
    """Arcs as pairs of whole numbers."""
    given = arcs.tolist() if isinstance(arcs, np.ndarray) else arcs
    try:
        pairs = tuple((whole("arcs", tail), whole("arcs", head)) for tail, head in given)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("arcs", "are not pairs", "each must be (tail, head)") from None
    if not pairs:
        raise InvalidInput("arcs", "the list is empty", "must have at least 1 arc")
    for tail, head in pairs:
        if tail == head:
            raise InvalidInput("arcs", f"an arc joins node {tail} with itself")
    return pairs


@kernel
def _by_sink(sinks: Any, nodes: Any) -> Any:
    """People in the order of their sinks, and the place where each sink's people begin.

    Args:
        sinks: (n,) int32 sinks, -1 where there is none.
        nodes: number of nodes.
    """
    people = len(sinks)
    starts = np.zeros(nodes + 2, dtype=np.int64)
    for i in range(people):
        starts[sinks[i] + 2] += 1
    firsts, some = np.zeros(min(people, nodes + 1) + 1, dtype=np.int64), 0
    for v in range(1, nodes + 2):
        if starts[v] > 0:
            some += 1
        starts[v] += starts[v - 1]
        firsts[some] = starts[v]
    turns = np.empty(people, dtype=np.int64)
    for i in range(people):
        place = sinks[i] + 1
        turns[starts[place]] = i
        starts[place] += 1
    return turns, firsts[: some + 1]


@kernel
def _cheapest(
    turns: Any, firsts: Any, ends: Any, costs: Any, prices: Any, begins: Any, order: Any, heads: Any, escape: Any,
    chosen: Any,
) -> None:
    """Cheapest path of each participant at costs and prices, by dynamic programming from the sink over the number of
    arcs.

    The labels of nodes start at the cost of the escape, so that a route that is not strictly cheaper never counts.
    Independent searches run side by side: one for each person or, where costs are public, one for each sink.

    Args:
        turns: (n,) people in the order of their searches.
        firsts: (s + 1,) places where each search's people begin.
        ends: (n, 2) int32 sources and sinks.
        costs: (n, E) int32 costs; (1, E) where they are public.
        prices: (E,) int64 prices, none negative.
        begins: (nodes + 1,) int32 places where each node's arcs begin in `order`.
        order: (E,) int32 arcs in the order of their tails.
        heads: (E,) int32 heads of the arcs in `order`.
        escape: cost of the escape, in units of 2^-24.
        chosen: (n, L) int32 output, initially all -1.
    """
    hops = chosen.shape[1]
    nodes, arcs = len(begins) - 1, len(order)
    searches = len(firsts) - 1
    lanes = max(1, min(_LANES, _CELLS // ((hops + 1) * nodes + arcs)))
    labels = np.empty((hops + 1, nodes, lanes), dtype=np.int64)
    weights = np.empty((arcs, lanes), dtype=np.int64)
    for at in range(0, searches, lanes):
        some = min(lanes, searches - at)
        for lane in range(lanes):
            for v in range(nodes):
                labels[0, v, lane] = escape
            for a in range(arcs):
                weights[a, lane] = escape
        for lane in range(some):
            i = turns[firsts[at + lane]]
            if ends[i, 1] >= 0:
                row = i if len(costs) > 1 else 0
                for a in range(arcs):
                    weights[a, lane] = costs[row, order[a]] + prices[order[a]]
                labels[0, ends[i, 1], lane] = 0
        changed, last = np.int64(1), 0
        while changed != 0 and last < hops:
            last += 1
            changed = np.int64(0)
            for v in range(nodes):
                old, new = labels[last - 1, v], labels[last, v]
                for lane in range(lanes):
                    new[lane] = old[lane]
                for a in range(begins[v], begins[v + 1]):
                    beyond, weight = labels[last - 1, heads[a]], weights[a]
                    for lane in range(lanes):
                        new[lane] = min(new[lane], weight[lane] + beyond[lane])
                for lane in range(lanes):
                    changed |= new[lane] ^ old[lane]
        for lane in range(some):
            for turn in range(firsts[at + lane], firsts[at + lane + 1]):
                i = turns[turn]
                v, left, step = ends[i, 0], last, 0
                if v < 0 or labels[last, v, lane] == escape:
                    continue
                while labels[left - 1, v, lane] == labels[left, v, lane]:
                    left -= 1
                while left > 0:
                    a = begins[v]
                    while weights[a, lane] + labels[left - 1, heads[a], lane] != labels[left, v, lane]:
                        a += 1
                    chosen[i, step] = order[a]
                    v = heads[a]
                    step += 1
                    left -= 1

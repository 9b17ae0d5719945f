"""What one bidder adds to each release of a run, from her own row, her place and the public record alone.

Each release of a mechanism of the family is a sum over bidders of such parts, with noise. So what a neighbour's row
would have added along the same record is known without running anything again, and the privacy loss follows exactly.
A mechanism signs in with `signed_in`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.audited_reach import reports_of
from confide.allocation.billboards import AuctionBillboard
from confide.allocation.bundles.decoding import decode_bundle, walk_bundle
from confide.allocation.decoding import decode, walk
from confide.allocation.duality import surpluses
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.scaling.leanings import Leanings
from confide.allocation.scaling.soft_demand import soft_demand
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.allocation.valuations import Valuations, as_row
from confide.contract.errors import Unsupported
from confide.privacy.noise import Draw, ForcedNoise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.tree_counter import TreeCounter

__all__ = ["OWN_PARTS", "Parts", "Rule", "own_parts", "record_of", "signed_in"]

Parts = Mapping[StreamName, NDArray[np.int64]]
"""Name of a draw -> what she adds to its center, flattened."""

_UNIT = 2.0**-20  # of the certificate's sums


Rule = Callable[[Any, Any, int, Any, Sequence[Draw]], Parts]
"""(mechanism, record, index, billboard, draws) -> her parts."""

OWN_PARTS: dict[type[Any], Rule] = {}
"""The rule of each mechanism that signed in."""


def signed_in(kind: type[Any]) -> Callable[[Rule], Rule]:
    """A decorator: the rule for mechanisms of a class.

    Args:
        kind: the class.
    """

    def of(rule: Rule) -> Rule:
        OWN_PARTS[kind] = rule
        return rule

    return of


def own_parts(mechanism: Any, record: Any, index: int, billboard: Any, draws: Sequence[Draw]) -> Parts:
    """What a bidder with this record adds to each draw of a run.

    Args:
        mechanism: that ran.
        record: her valuations, as the mechanism has them; None for a slot without one.
        index: her public place.
        billboard: of the run.
        draws: of the run, for their names and sizes.

    Raises:
        Unsupported: nobody has written down what this mechanism's bidders add.
    """
    for kind, rule in OWN_PARTS.items():
        if isinstance(mechanism, kind):
            return rule(mechanism, record, index, billboard, draws)
    names = ", ".join(kind.__name__ for kind in OWN_PARTS)
    raise Unsupported("mechanism", f"the loss of {type(mechanism).__name__}", f"known are {names}")


def record_of(mechanism: Any, values: Any, index: int) -> Any:
    """One bidder's record among those of a run.

    Args:
        mechanism: that ran.
        values: everybody's, as it takes them.
        index: her public place.
    """
    if isinstance(mechanism, PAlloc):
        return values[index]
    return Valuations.of(values, people=mechanism.people, goods=mechanism.goods).row(index)


@signed_in(PMatch)
def _of_goods(
    mechanism: PMatch, record: Any, index: int, billboard: AuctionBillboard, draws: Sequence[Draw]
) -> Parts:
    if not billboard.rounds:
        return {}
    row = as_row(record, mechanism.goods)
    found = walk(row, index, billboard)
    out = _counted(mechanism.counter, mechanism.slots, found.steps, found.goods, billboard, draws)
    reports = reports_of(found.steps, found.goods, billboard)
    out |= _halting(mechanism, found.steps, reports, billboard)
    if billboard.clearing is not None:
        held = [(found.latest, found.seen)] if found.latest >= 0 else []
        out["clearing",] = _cells(held, billboard)
    if mechanism.certificate_plan is not None:
        out["certificate",] = _certified(row, billboard.prices, decode(row, index, billboard))
    return out


@signed_in(PAlloc)
def _of_bundles(
    mechanism: PAlloc, record: Any, index: int, billboard: AuctionBillboard, draws: Sequence[Draw]
) -> Parts:
    if not billboard.rounds:
        return {}
    found = walk_bundle(mechanism.valuation.bidder(record, mechanism.goods), index, billboard)
    out = _counted(mechanism.counter, mechanism.slots, found.steps, found.bid_on, billboard, draws)
    reports = np.zeros(billboard.rounds, dtype=np.int64)
    reports[np.array(found.reports, dtype=np.int64) - 1] = 1
    out |= _halting(mechanism, found.steps, reports, billboard)
    if billboard.clearing is not None:
        out["clearing",] = _cells(list(zip(found.goods, found.seen, strict=True)), billboard)
    plan = mechanism.certificate_plan
    if plan is not None and record is None:
        out["certificate",] = np.zeros(2, dtype=np.int64)
    elif plan is not None:
        own = mechanism.valuation.population([record], people=1, goods=mechanism.goods)
        goods, heard = decode_bundle(record, index, billboard), RecordingNoise(ForcedNoise([]))
        held = np.full((1, mechanism.largest_bundle), -1, dtype=np.int64)
        held[0, : len(goods)] = goods
        plan.told_of(own, billboard.prices, held, heard)  # her terms, rounded as the run does
        out["certificate",] = np.array([int(c) for c in heard.draws[0].center], dtype=np.int64)
    return out


def _counted(
    counter: TreeCounter, slots: int, steps: Sequence[int], goods: Sequence[int], billboard: AuctionBillboard,
    draws: Sequence[Draw],
) -> dict[StreamName, NDArray[np.int64]]:
    """Her bids in each block that was released."""
    bids = np.zeros((counter.counters, counter.horizon), dtype=np.int64)
    np.add.at(bids, (np.array(goods, dtype=np.int64), np.array(steps, dtype=np.int64) - 1), 1)
    sums = counter.block_sums(bids)
    many = [draw for draw in draws if draw.stream[0] == "counts" and len(draw.stream) == 3]
    if not many:
        return {("counts", step): sums[:, step - 1] for step in range(1, billboard.steps + 1)}
    out = {}
    for draw in many:
        at = int(draw.stream[1]) * slots + int(draw.stream[2])
        out[draw.stream] = sums[:, at : at + draw.shape[1]].reshape(-1)
    return out


def _halting(
    mechanism: PMatch | PAlloc, steps: Sequence[int], reports: NDArray[np.int64], billboard: AuctionBillboard
) -> Parts:
    plan, asked = mechanism.halting_plan, min(billboard.rounds, mechanism.rounds - 1)
    if not plan.costs:
        return {}
    if plan.rule == "bids":
        reports = np.bincount((np.array(steps, dtype=np.int64) - 1) // mechanism.slots, minlength=billboard.rounds)
    if plan.counter is None:
        return {("halting", 0, "answer", r): -reports[r : r + 1] for r in range(asked)}
    stream = np.zeros((1, plan.counter.horizon), dtype=np.int64)
    stream[0, :asked] = reports[:asked]
    sums = plan.counter.block_sums(stream)
    return {("halting", r): sums[:, r - 1] for r in range(1, asked + 1)}


def _cells(held: Sequence[tuple[int, int]], billboard: AuctionBillboard) -> NDArray[np.int64]:
    """Of each good that she may get and the count before her bid: the cell that it lies in, if any."""
    if billboard.clearing is None:
        return np.zeros(0, dtype=np.int64)
    cells = np.zeros(billboard.clearing.cells.shape, dtype=np.int64)
    for good, seen in held:
        inside = np.flatnonzero(int(billboard.final_counts[good]) - seen <= billboard.clearing.edges[good])
        cells[good, inside[:1]] += 1
    return cells.reshape(-1)


def _certified(row: NDArray[np.float64], prices: NDArray[np.float64], good: int) -> NDArray[np.int64]:
    own = Valuations.of(row[None, :], people=1, goods=len(row))
    surplus, value = float(surpluses(own, prices)[0]), float(row[good]) if good >= 0 else 0.0
    return np.array([np.ceil(surplus / _UNIT), np.floor(value / _UNIT)], dtype=np.int64)


@signed_in(SinkhornMatch)
def _of_scaling(
    mechanism: SinkhornMatch, record: Any, index: int, billboard: ScalingBillboard, _draws: Sequence[Draw]
) -> Parts:
    if not billboard.public_seed:  # there is enough of everything
        return {}
    row = as_row(record, mechanism.goods)
    own = Valuations.of(row[None, :], people=1, goods=mechanism.goods)
    lean = Leanings.of(billboard.public_seed, mechanism.spread)
    out: dict[StreamName, NDArray[np.int64]] = {}
    for r, path in enumerate(billboard.paths[:-1]):
        prices = np.ldexp(path.astype(np.float64), -20)
        out["demand", r] = soft_demand(own, prices, mechanism.temperatures[r], lean, first=index)
    asked = np.zeros(mechanism.goods, dtype=np.int64)
    wanted = mechanism.wanted(row, index, billboard)
    if wanted >= 0:
        asked[wanted] = 1
    out["asked",] = asked
    if mechanism.certificate_plan is not None:
        good = int(mechanism.decode(row, index, billboard)["good"])
        out["certificate",] = _certified(row, billboard.prices, good)
    return out

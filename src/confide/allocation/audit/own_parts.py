"""What one bidder adds to each release of a run, from her own row, her place and the public record alone.

Each release of a mechanism of the family is a sum over bidders of such parts, with noise. So what a neighbour's row
would have added along the same record is known without running anything again, and the privacy loss follows exactly.
A mechanism signs in with `own_parts.register`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.audit.participation import reports_of
from confide.allocation.billboards import Billboard
from confide.allocation.decoding import decode, walk
from confide.allocation.duality import CertificatePlan, surpluses
from confide.allocation.favourites import best_goods
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.allocation.soft_demand import soft_demand
from confide.allocation.valuations import Valuations
from confide.contract.errors import Unsupported
from confide.privacy.noise import Draw
from confide.privacy.noise.arguments import StreamName

__all__ = ["Parts", "own_parts"]

Parts = Mapping[StreamName, NDArray[np.int64]]
"""Name of a draw -> what she adds to its center, flattened."""

_UNIT = 2.0**-20  # of the certificate's sums


@singledispatch
def own_parts(mechanism: Any, row: NDArray[np.float64], index: int, billboard: Any, draws: Sequence[Draw]) -> Parts:
    """What a bidder with this row adds to each draw of a run.

    Args:
        mechanism: that ran.
        row: (k,) her valuations, checked.
        index: her public place.
        billboard: of the run.
        draws: of the run, for their names and sizes.

    Raises:
        Unsupported: nobody has written down what this mechanism's bidders add.
    """
    raise Unsupported("mechanism", f"the loss of {type(mechanism).__name__}", "PMatch and SinkhornMatch are known")


@own_parts.register
def _(mechanism: PMatch, row: NDArray[np.float64], index: int, billboard: Billboard, draws: Sequence[Draw]) -> Parts:
    if not billboard.rounds:
        return {}
    found = walk(row, index, billboard)
    bids = np.zeros((mechanism.goods, mechanism.counter.horizon), dtype=np.int64)
    np.add.at(bids, (np.array(found.goods, dtype=np.int64), np.array(found.steps, dtype=np.int64) - 1), 1)
    out: dict[StreamName, NDArray[np.int64]] = {}
    sums = mechanism.counter.block_sums(bids)
    if any(draw.stream[0] == "counts" and len(draw.stream) == 3 for draw in draws):
        for draw in draws:
            if draw.stream[0] == "counts":
                _, played, slot = draw.stream
                at = int(played) * mechanism.slots + int(slot)
                out[draw.stream] = sums[:, at : at + draw.shape[1]].reshape(-1)
    else:
        out |= {("counts", step): sums[:, step - 1] for step in range(1, billboard.steps + 1)}
    out |= _halting(mechanism, found.steps, found.goods, billboard)
    clearing = billboard.clearing
    if clearing is not None:
        cells = np.zeros(clearing.cells.shape, dtype=np.int64)
        if found.latest >= 0:
            age = int(billboard.final_counts[found.latest]) - found.seen
            inside = np.flatnonzero(age <= clearing.edges[found.latest])
            cells[found.latest, inside[:1]] = 1
        out["clearing",] = cells.reshape(-1)
    if mechanism.certificate_plan is not None:
        out["certificate",] = _certified(mechanism.certificate_plan, row, billboard.prices,
                                         decode(row, index, billboard))
    return out


def _halting(mechanism: PMatch, steps: Sequence[int], goods: Sequence[int], billboard: Billboard) -> Parts:
    plan, asked = mechanism.halting_plan, min(billboard.rounds, mechanism.rounds - 1)
    if not plan.costs:
        return {}
    if plan.rule == "bids":
        reports = np.bincount((np.array(steps, dtype=np.int64) - 1) // mechanism.slots, minlength=billboard.rounds)
    else:
        reports = reports_of(steps, goods, billboard)
    if plan.counter is None:
        return {("halting", 0, "answer", r): -reports[r : r + 1] for r in range(asked)}
    stream = np.zeros((1, plan.counter.horizon), dtype=np.int64)
    stream[0, :asked] = reports[:asked]
    sums = plan.counter.block_sums(stream)
    return {("halting", r): sums[:, r - 1] for r in range(1, asked + 1)}


def _certified(
    plan: CertificatePlan, row: NDArray[np.float64], prices: NDArray[np.float64], good: int
) -> NDArray[np.int64]:
    own = Valuations.of(row[None, :], people=1, goods=len(row))
    surplus, value = float(surpluses(own, prices)[0]), float(row[good]) if good >= 0 else 0.0
    return np.array([np.ceil(surplus / _UNIT), np.floor(value / _UNIT)], dtype=np.int64)


@own_parts.register
def _(
    mechanism: SinkhornMatch, row: NDArray[np.float64], index: int, billboard: ScalingBillboard, draws: Sequence[Draw]
) -> Parts:
    own = Valuations.of(row[None, :], people=1, goods=mechanism.goods)
    out: dict[StreamName, NDArray[np.int64]] = {}
    for r, path in enumerate(billboard.paths[:-1]):
        prices = np.ldexp(path.astype(np.float64), -20)
        out["demand", r] = soft_demand(own, prices, mechanism.temperatures[r])
    asked = np.zeros(mechanism.goods, dtype=np.int64)
    wanted = int(best_goods(own, billboard.prices)[0])
    if wanted >= 0:
        asked[wanted] = 1
    out["asked",] = asked
    if mechanism.certificate_plan is not None:
        good = int(mechanism.decode(row, index, billboard)["good"])
        out["certificate",] = _certified(mechanism.certificate_plan, row, billboard.prices, good)
    return out

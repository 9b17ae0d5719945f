"""The operator's list of who is to be given what, from shares: private, his alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from confide.campaign.kinds.programs.plan import SharingPlan

__all__ = ["handout_table"]


def handout_table(plan: SharingPlan, shares: pa.Table, identities: Sequence[str]) -> pa.Table:
    """A line for each action that somebody gets.

    Args:
        plan: as it was settled.
        shares: of the run.
        identities: the public list of ids.

    Returns:
        "id"; "good", the action in words; of averages "part", its share of the main rounds; and where prices are
        charged "price_points", what she owes for all that she gets, on her first line.
    """
    found = list[tuple[str, str, float, float]]()
    width, rounds = plan.mechanism.program.width, plan.mechanism.rounds
    for identity, share in zip(identities, shares.to_pylist(), strict=True):
        owed = float(share.get("price") or 0.0) * plan.coding.unit
        for some, part in _actions(share, width, rounds):
            found.append((identity, plan.coding.told(some), part, owed))
            owed = 0.0
    columns = {"id": pa.array([row[0] for row in found], pa.string()),
               "good": pa.array([row[1] for row in found], pa.string())}
    if not plan.whole:
        columns["part"] = pa.array([row[2] for row in found], pa.float64())
    if plan.charges:
        columns["price_points"] = pa.array([row[3] for row in found], pa.float64())
    return pa.table(columns)


def _actions(share: dict[str, Any], width: int, rounds: int) -> list[tuple[list[int], float]]:
    """The numbers of each action that is more than nothing, and its part; none of who withdrew."""
    if "action" in share:
        given = share["action"]
        some = [given] if isinstance(given, int) else list(given or [])
        used = [one for one in some if one >= 0]
        return [(used, 1.0)] if used else []
    if share["actions"] is None:
        return []
    table = np.array(share["actions"], dtype=np.int64).reshape(-1, width)
    parts = [([int(one) for one in row if one >= 0], times / rounds)
             for row, times in zip(table, share["times"], strict=True)]
    return [(used, part) for used, part in parts if used]

"""`PrivDude`: each participant receives the average of their best responses to a path of prices, the prices of all main
rounds. The path is computed under differential privacy.

The averages together are nearly optimal, and their load exceeds each supply only by the effect of noise. A share may
consist of fractions of several actions.

Source: Wu 2017, Algorithm 8; spec convex_programs 2.

The module also estimates time and memory of a run's responses, in seconds and megabytes. Responses are timed on
artificial records, before any real records are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.numerics.map_reduce import threads
from confide.numerics.shards import Shards
from confide.privacy.noise import Noise
from confide.programs.billboards import PathBillboard, Tally, tally_of, value_and_load
from confide.programs.dude import MECHANISM_WORDS, Dude
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.guarantees import PathCertificate
from confide.programs.program import Program, Shard
from confide.programs.slots import own_records

__all__ = ["PrivDude", "costs"]

# ---- priv dude


@renamed()
@wire("PrivDude", "program epsilon delta rounds burn_in burn_share step law beta neighbours start", **MECHANISM_WORDS)
@dataclass(frozen=True)
class PrivDude(Dude[PathBillboard]):
    """Mechanism in which each participant's share is the average of their best responses: fractions of goods, flows or
    times.

    The table of shares has two columns, "actions" and "times". The column "actions" has a list of the participant's
    different actions, one after the other, `program.width` numbers each. The column "times" has, for each of these
    actions, the number of main rounds in which the action was the participant's best response.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import UnitDemand, popular
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> mechanism = PrivDude(program, epsilon=1.0, delta=1e-6, rounds=50, burn_in=25)
        >>> values = popular(5_000, 5, seed=1)
        >>> outcome = mechanism.run(values, Noise.simulated(1))
        >>> share = {name: outcome.shares[name][7].as_py() for name in ("actions", "times")}
        >>> share == mechanism.decode(values[7], 7, outcome.billboard)
        True
    """

    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> RunOutcome[PathBillboard, PathCertificate]:
        parts = held.map(_tallied, self.program, board.main_prices)
        shares = self._shares(parts)
        diagnostics = None if noise.release_safe else self._diagnosed(records, board, parts)
        return self._outcome(noise, billboard=board, shares=shares, certificate=self.certify(board),
                             diagnostics=diagnostics)

    def _shares(self, parts: list[Tally]) -> pa.Table:
        """Table of all participants' actions and times, from the tallies of the shards."""
        width, counts = self.program.width, np.concatenate([np.diff(part[0]) for part in parts])
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        return pa.table({
            "actions": pa.LargeListArray.from_arrays(pa.array(width * ends), pa.array(
                np.concatenate([part[1].reshape(-1) for part in parts]))),
            "times": pa.LargeListArray.from_arrays(pa.array(ends), pa.array(
                np.concatenate([part[2] for part in parts]))),
        })

    def _diagnosed(self, records: Any, board: PathBillboard, parts: list[Any]) -> dict[str, Any]:
        """Value and load of the averages, for simulated studies only."""
        program, prices = self.program, board.main_prices
        sums = [value_and_load(program, shard.records, tally)
                for shard, tally in zip(records.shards(self._shard), parts, strict=True)]
        public = [(program.public_value(row), program.public_load(row)) for row in prices]
        load = sum(one[1] for one in sums) + np.sum([one[1] for one in public], axis=0)
        mean = load / (LOAD_UNIT * self.rounds)
        over = mean - program.supply_units / LOAD_UNIT
        return {"value": (sum(one[0] for one in sums) / PRICE_UNIT + sum(one[0] for one in public)) / self.rounds,
                "load": mean, "excess": np.abs(over) if program.two_sided else np.maximum(0.0, over)}

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        self._place(index)
        board = self._own(billboard)
        _, actions, times = tally_of(own_records(self.program, record), self.program, board.main_prices)
        return {"actions": actions.reshape(-1).tolist(), "times": times.tolist()}


def _tallied(shard: Shard, program: Program, prices: NDArray[np.int64]) -> Tally:
    return tally_of(shard.records, program, prices)


# ---- costs

_TRIAL = 4096  # made-up records whose responses are timed
_TRIAL_SOLVED = 64  # the same, where each response takes a solver


def costs(path: PrivDude, timed: bool, parts: int) -> tuple[float, float]:
    """Estimates of the time of all responses of a run, in seconds, and of the memory of the run, in megabytes.

    Args:
        path: mechanism with the program and the numbers of rounds.
        timed: whether responses are timed on this machine. If False, the time is 0.
        parts: number of rounds for which a solver must compute the responses a second time, for the participants'
            shares.
    """
    program, total = path.program, path.schedule.total
    one = program.one(None)
    arrays = [getattr(one, each.name) for each in fields(one) if each.name != "people"]
    record = sum(int(each.nbytes) for each in arrays if isinstance(each, np.ndarray))
    shard = min(program.people, 1 << 16)
    at_once = min(threads(), -(-program.people // shard)) * shard * (4 * program.width + 8 * program.rows)
    megabytes = (record * program.people + 16 * total * program.rows + at_once) / 1e6
    if not timed:
        return 0.0, megabytes
    count = _TRIAL if math.isinf(program.most_responses) else _TRIAL_SOLVED
    some = program.trial_records(count)
    seconds = 0.0
    for share in (0, 1):  # at price 0, and in the middle of the box: solves are easy at the one, and not at the other
        prices = program.highest_prices * share // 2
        program.load(some, program.respond(some, prices))  # compiles
        times = []
        for _ in range(3):
            began = perf_counter()
            program.load(some, program.respond(some, prices))
            times.append(perf_counter() - began)
        seconds += min(times) / 2.0
    asked = total if program.always_answered else total + parts
    return asked * program.people * seconds / count, megabytes

"""What the responses of a run take, in seconds and megabytes: timed on made-up records, before anybody's are read."""

from __future__ import annotations

import math
from dataclasses import fields
from time import perf_counter

import numpy as np

from confide.numerics.map_reduce import threads
from confide.programs.priv_dude import PrivDude

__all__ = ["costs"]

_TRIAL = 4096  # made-up records whose responses are timed
_TRIAL_SOLVED = 64  # the same, where each response takes a solver


def costs(path: PrivDude, timed: bool, parts: int) -> tuple[float, float]:
    """Seconds of responses and megabytes.

    Args:
        path: what is planned.
        timed: whether anything is timed.
        parts: rounds whose responses a solver finds once more, when everybody's part is made up.
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

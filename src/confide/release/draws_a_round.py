"""Defaults for the number of DualQuery's draws a round and for the number of MWEM's rounds, computed from public facts.

The module also limits the number of DualQuery's draws a round, so that the draws fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from confide.contract.errors import Refused
from confide.contract.remedies import tried
from confide.release.calculators import RoundsAndCost
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["ENOUGH", "LEARNT", "MOST_BYTES", "STEP", "WIDE", "check_draws", "drawn_a_round", "usual", "usual_rounds"]

# ---- draws a round

STEP = 1.0
"""Default step size of DualQuery."""

WIDE = 300
"""Largest number of attributes for which 1,000 draws a round suffice. With 1,000 draws, nearly all of 300 attributes
are in some drawn query.
"""

ENOUGH = 2**20
"""Largest number of draws a round that is chosen if only the number of rounds is given. With this number of draws, the
mean over the query player's distribution is estimated to within 0.01, for all records of 300 attributes at once. The
other parts of the error are larger than 0.01 for any number of rounds.
"""

MOST_BYTES = 2**30
"""Largest memory for the draws of one round, at a measured 160 bytes for each draw."""

_DRAW = 160
_MOST = MOST_BYTES // _DRAW


def usual(
    eta: float | None, rounds: int | None, samples: int | None, over: Schema | Workload | None
) -> tuple[float | None, int | None]:
    """Default step size and number of draws a round, if two or three of eta, rounds and samples are left out.

    Args:
        eta: given step size, or None.
        rounds: given number of rounds, or None.
        samples: given number of draws a round, or None.
        over: schema or workload from which the number of attributes is read; with None, the default for at most 300
            attributes is used.

    Example:
        >>> usual(None, None, None, None), usual(1.0, None, None, None), usual(None, 40, None, None)
        ((1.0, 1000), (1.0, 1000), (1.0, None))
    """
    if eta is None and None in (rounds, samples):
        eta = STEP
    if samples is None and None in (eta, rounds):
        attributes = over.attributes if isinstance(over, Schema | Workload) else 0
        samples = math.ceil(1000 * max(1.0, math.sqrt(attributes / WIDE)))
    return eta, samples


def drawn_a_round(
    found: RoundsAndCost, eta: float | None, samples: int | None, again: Callable[..., Any]
) -> int:
    """The number of draws a round in a setting that `solve` found: the number that the budget pays for, if the draws
    fit into memory.

    Args:
        found: step size, rounds and samples that `solve` found.
        eta: given step size, or None.
        samples: given number of draws a round, or None.
        again: function that makes the plan with another eta or another number of rounds. The function tests the changes
            that the error message names.

    Raises:
        Refused: eta and rounds were given, and the budget pays for more draws than fit into memory. The message names
            changes that would suffice.
    """
    if samples is not None or found.samples <= _MOST:
        return found.samples if eta is not None or samples is not None else min(found.samples, ENOUGH)
    if eta is None:
        return ENOUGH
    raise Refused(
        f"epsilon = {found.epsilon:.4g} pays for {found.samples:,} draws in each of {found.rounds:,} rounds at eta = "
        f"{found.eta:g}, which take {found.samples * _DRAW / 2**30:,.1f} GiB of memory",
        [*tried("eta >= {eta}", again, eta=found.eta * math.sqrt(found.samples / _MOST)),
         *tried("rounds >= {rounds}", again, rounds=math.ceil(found.rounds * (found.samples / _MOST) ** (1 / 3))),
         f"leave out eta too, which takes {ENOUGH:,} draws a round"])


def check_draws(samples: int) -> None:
    """Refuse a run if the draws of one round do not fit into memory.

    Args:
        samples: number of draws a round, s.

    Raises:
        Refused: the message says how many draws fit.
    """
    if samples > _MOST:
        raise Refused(f"{samples:,} draws a round take {samples * _DRAW / 2**30:,.1f} GiB of memory",
                      f"choose samples <= {_MOST:,}, which take {MOST_BYTES / 2**30:g} GiB")


# ---- rounds

LEARNT = 0.1
"""Measured factor 0.1 in the error 0.1 ln|X| / T that remains after T rounds of MWEM in the form "replay". See
`usual_rounds`.
"""

_MOST_ROUNDS = 200  # the time of a replay grows with the square; measured errors changed little beyond


def usual_rounds(n: int, epsilon: float, rho: float, queries: int, log_universe: float, *, analysed: bool) -> int:
    """Default number of rounds T of MWEM. The default balances two errors: with more rounds, the noise of each round
    grows and the remaining error falls.

    With T rounds the noise of each round has the scale b(T), which is 2T/epsilon under pure composition and sqrt(5T /
    (8 rho)) under zCDP. For k queries the selection cannot detect errors much below b(T) ln k.

    For the form "analysed", T minimises the bound of the theorem, 2n sqrt(ln|X| / T) + 5 b(T) ln k, where |X| is the
    number of possible records. With the form "replay" the measured errors fell as 1/T, faster than 1/sqrt(T) in the
    theorem, until noise dominated. The default T of the form "replay" therefore solves b(T) ln k = 0.1 n ln|X| / T.

    The factor 0.1 was chosen on synthetic tables only. The smallest of these tables had six columns of 3 values, the
    largest had four columns with 51,200 cells together, and one was a table of ten bits. The workloads had 175 to
    17,802 queries, n from 1,000 to 100,000, and epsilon from 1/4 to 4. On the synthetic tables the mean error at the
    default T was typically 1.05 times, and at most 1.4 times, the mean error at the best T among 5, 10, 20, ..., 320.

    Args:
        n: number of records.
        epsilon: epsilon of the whole run, in nats.
        rho: rho of the whole run; 0 for pure composition.
        queries: number of queries, k.
        log_universe: logarithm ln|X| of the number of possible records.
        analysed: whether the form of MWEM is "analysed" rather than "replay".

    Returns:
        The number of rounds T, from 1 to 200.

    Source: Hardt, Ligett and McSherry 2012, Theorem 2.2; spec query_release C.

    Example:
        >>> usual_rounds(30_000, 1.0, 0.0, 17_802, math.log(51_200), analysed=False)
        41
    """
    logs, share = math.log(max(2, queries)), log_universe * LEARNT
    if analysed:
        pure = math.cbrt(n * epsilon * math.sqrt(log_universe) / (10 * logs)) ** 2
        found = max(pure, n * math.sqrt(log_universe * 32 * rho / 5) / (5 * logs))
    else:
        pure = math.sqrt(n * share * epsilon / (2 * logs))
        found = max(pure, math.cbrt(n * share / logs * math.sqrt(8 * rho / 5)) ** 2)
    return min(_MOST_ROUNDS, max(1, round(found)))

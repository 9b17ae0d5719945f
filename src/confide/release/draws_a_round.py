"""How many queries DualQuery draws in a round, where nobody says so, and how many fit into memory.

How many rounds MWEM plays where nobody says: a function of public facts.
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
"""The usual step size."""

WIDE = 300
"""Attributes up to which 1,000 draws a round ask for nearly all."""

ENOUGH = 2**20
"""Draws a round that are chosen at most where rounds alone are given: that many give the mean over the player's queries
to .01 for all records of 300 attributes at once, which is less than any number of rounds leaves."""

MOST_BYTES = 2**30
"""What the draws of one round may take of memory, at 160 bytes each, as measured."""

_DRAW = 160
_MOST = MOST_BYTES // _DRAW


def usual(
    eta: float | None, rounds: int | None, samples: int | None, over: Schema | Workload | None
) -> tuple[float | None, int | None]:
    """Step size and draws a round where two or three of eta, rounds and samples are left out.

    Args:
        eta: as it was given.
        rounds: as it was given.
        samples: as it was given.
        over: schema or workload that gives the number of attributes; None for no more than 300.

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
    """The draws a round of a setting that was solved for: what is paid for, where that fits into memory.

    Args:
        found: the setting.
        eta: as it was given.
        samples: as it was given.
        again: plans with another eta or rounds.

    Raises:
        Refused: eta and rounds were given, and leave more than fits; says what would do.
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
         f"leave eta out too, which takes {ENOUGH:,} draws a round"])


def check_draws(samples: int) -> None:
    """Refuse a run whose draws of one round do not fit into memory.

    Args:
        samples: s, draws a round.

    Raises:
        Refused: says how many do.
    """
    if samples > _MOST:
        raise Refused(f"{samples:,} draws a round take {samples * _DRAW / 2**30:,.1f} GiB of memory",
                      f"samples <= {_MOST:,}, which take {MOST_BYTES / 2**30:g} GiB")


# ---- rounds

LEARNT = 0.1
"""How far a replay has come: what is left to learn after T rounds was about 0.1 ln|X| / T, see `usual_rounds`."""

_MOST_ROUNDS = 200  # the time of a replay grows with the square; measured errors changed little beyond


def usual_rounds(n: int, epsilon: float, rho: float, queries: int, log_universe: float, *, analysed: bool) -> int:
    """T, the rounds after which noise grows faster than there is left to learn.

    Of T rounds each has noise of scale b(T): 2T/epsilon under pure composition, sqrt(5T / (8 rho)) in zCDP. Selection
    cannot see errors much below b(T) ln k.

    The analysed form takes the T at which its theorem's bound, 2n sqrt(ln|X| / T) + 5 b(T) ln k, is least. A replay
    learns faster than the theorem knows: measured errors fell as 1/T, not as its root, until noise took over. So its T
    is where b(T) ln k = 0.1 n ln|X| / T. The factor was chosen on made-up tables alone (six columns of 3 values to four
    of 51,200 cells, ten bits; 175 to 17,802 queries; n from 1,000 to 100,000, epsilon from 1/4 to 4): there the mean
    error at this T was at most 1.4 times, and typically 1.05 times, that of the best of 5, 10, 20, ..., 320.

    Args:
        n: number of records.
        epsilon: epsilon of the whole run, in nats.
        rho: rho of the whole run; 0 for pure composition.
        queries: k.
        log_universe: ln|X|.
        analysed: whether the form is the analysed one.

    Returns:
        T, from 1 to 200.

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

"""How many rounds MWEM plays where nobody says: a function of public facts."""

from __future__ import annotations

import math

__all__ = ["LEARNT", "usual_rounds"]

LEARNT = 0.1
"""How far a replay has come: what is left to learn after T rounds was about 0.1 ln|X| / T, see `usual_rounds`."""

_MOST = 200  # the time of a replay grows with the square; measured errors changed little beyond


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
        n: records.
        epsilon: of the whole run, in nats.
        rho: of the whole run; 0 for pure composition.
        queries: k.
        log_universe: ln|X|.
        analysed: which form.

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
    return min(_MOST, max(1, round(found)))

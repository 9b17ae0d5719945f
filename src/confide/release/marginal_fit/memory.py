"""How much memory a run takes at most, from public numbers alone: what cannot fit is refused before anything is drawn.

Source: measured; the peaks of whole runs are in `tests/release/test_marginal_fit_runs.py`.
"""

from __future__ import annotations

import numpy as np

from confide.contract.errors import Refused
from confide.release.marginal_fit.candidates import Candidates
from confide.release.marginal_fit.choice import LOOKED_AT

__all__ = ["MOST_BYTES", "bytes_needed", "check_memory"]

MOST_BYTES = 2**33
"""Largest estimate with which a plan is accepted, 8 GiB. It is the same on every machine, so that a plan that one party
accepts is no other's refusal; a smaller machine needs a smaller plan."""

_KEY_BITS = 62  # of the columns that one sorting key holds
_REMEDIES = {
    "records": "lower records, by a sample of the records, or take fewer columns",
    "population": "lower population, or take fewer columns",
    "largest_table": "lower largest_table or tables, or take wider bins",
}


def bytes_needed(
    n: int, sizes: tuple[int, ...], population: int, tables: int, candidates: Candidates
) -> dict[str, int]:
    """Bytes that a run holds at its peak, if all records differ; beside Python and its libraries (about 250 MB).

    Args:
        n: records.
        sizes: cells of each column, m of them.
        population: N.
        tables: T, or the largest that the run may choose.
        candidates: the tables that may be chosen.

    Returns:
        What each parameter is to blame for. "records": as they were given, as distinct rows and column by column (2 m
        bytes each), with a row's number, count and cell (40). "population": rows, those that are drawn anew, and
        the sorted ones column by column, twice for bits (2 m each), with keys, weights and places. "largest_table":
        4 bytes for each cell of all candidates and 320 for each candidate; of chosen tables noisy counts, targets and
        factors, and the factors twice more for each of three columns (11 doubles a cell).
    """
    m, keys = len(sizes), sum((size - 1).bit_length() for size in sizes) // _KEY_BITS + 1
    cells = 2 * sum(sizes)
    listed = looked_at = 0
    if len(candidates):
        each = np.sort(np.diff(candidates.starts))
        cells += int(each[max(0, len(each) - tables):].sum()) if tables else 0
        listed = 4 * int(candidates.starts[-1]) + 320 * len(candidates)
        looked_at = 8 * min(LOOKED_AT, len(candidates)) * int(each[-1])
    return {
        "records": n * (6 * m + 40),
        "population": population * (8 * m + 8 * keys + 64),
        "largest_table": listed + max(looked_at, 88 * cells),
    }


def check_memory(needed: dict[str, int]) -> None:
    """Refuse a plan beyond `MOST_BYTES`, and name what to lower.

    Args:
        needed: as `bytes_needed` gives it.

    Raises:
        Refused: names the parameter that takes most.
    """
    total = sum(needed.values())
    if total > MOST_BYTES:
        worst = max(needed, key=lambda name: needed[name])
        part = needed[worst] / total
        raise Refused(f"a run may take {total / 2**30:,.1f} GiB of memory, {part:.0%} of it for {worst}",
                      f"at most {MOST_BYTES / 2**30:g} GiB; {_REMEDIES[worst]}")

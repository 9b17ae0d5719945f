"""How far two records move a load, against sigma: the number that all Gaussian noise of the family rests on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.audit import AuditRow, Concern, Examined, inject_fault
from confide.privacy.accounting.roots import root_up
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_faults import Counts
from confide.programs.audited_records import Pool, added, beyond
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT

__all__ = ["sensitivity", "sensitivity_rows"]

_PRICES = 12


def sensitivity_rows(mechanism: Dude, pool: Pool, seed: int = 0) -> list[AuditRow]:
    """All pairs of some records at random prices: each a best response, at the same prices and at different ones.

    What is released of rounded actions and by an audit compares responses at different prices, so sigma must bound
    those too. Each contribution must be within its declared bounds besides: sigma and flags rest on them.

    Args:
        mechanism: as it will run.
        pool: of its program's records.
        seed: of a study.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> from confide.programs.audited_programs import tiny_pool
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> row = sensitivity_rows(PrivDude(program, 1.0, 1e-6), tiny_pool(program, 0))[0]
        >>> row.verdict.value, round(row.measured, 4), round(row.promised, 4)
        ('kept', 1.4142, 1.4142)
    """
    one = mechanism.program.constants
    prices, same, apart, entry, total = _prices(mechanism, seed), 0.0, 0.0, 0.0, 0.0
    null = mechanism.neighbours == "add_or_remove"
    for number, price in enumerate(prices):
        added = pool.contributed(price)
        entry, total = max(entry, float(np.abs(added).max())), max(total, float(np.abs(added).sum(axis=1).max()))
        if null:
            same = max(same, float(np.linalg.norm(added, axis=1).max()))
            continue
        same = max(same, float(pool.distances(price, price).max()))
        apart = max(apart, float(pool.distances(price, prices[number - 1]).max()))
    sigma, pairs = root_up(mechanism.squared_l2_sensitivity), len(pool.records) ** 2
    evidence = f"{pairs} pairs of records, random and made to move most, at {len(prices)} price vectors"
    rows = [
        AuditRow.at_most("sensitivity: how far a record moves a load (l2), against sigma", sigma, same, evidence,
                         unit="in load", concern=Concern.PRIVACY),
        AuditRow.at_most("sensitivity: the largest entry of a contribution", one.largest_entry, entry, evidence,
                         unit="in load", concern=Concern.PRIVACY),
        AuditRow.at_most("sensitivity: the sum of a contribution's entries", one.largest_sum, total, evidence,
                         unit="in load", concern=Concern.PRIVACY),
    ]
    if not null:
        rows.append(AuditRow.at_most("sensitivity: the same of responses to different prices", sigma, apart, evidence,
                                     unit="in load", concern=Concern.PRIVACY))
    return [*rows, *_beyond_rows(mechanism, pool, prices)]


def _beyond_rows(mechanism: Dude, pool: Pool, prices: list[NDArray[np.int64]]) -> list[AuditRow]:
    """Records with numbers that none may hold, read as in a release: what they add is within what noise is made for."""
    table, one, worst = beyond(pool.program, pool.records), mechanism.program.constants, 0.0
    if table is None:
        return []
    for price in prices:
        each = added(pool.program, table, price)
        found = np.abs(each)
        worst = max(worst, float(found.max()) / one.largest_entry, float(found.sum(axis=1).max()) / one.largest_sum)
        if not np.array_equal(pool.program.load_at(table, price) / LOAD_UNIT, each.sum(axis=0)):
            worst = np.inf  # a run counts something else
    return [AuditRow.at_most(
        "sensitivity: what a record beyond its bounds adds, as a share of the most that one may", 1.0, worst,
        f"{table.people} records with numbers that none may hold, read as in a release, at {len(prices)} price vectors",
        unit="times the most", concern=Concern.PRIVACY)]


def _prices(mechanism: Dude, seed: int) -> list[NDArray[np.int64]]:
    """Nothing, all at the top, and random ones in the box: near the bottom more often, where most is asked for."""
    program, draw = mechanism.program, study_generator(seed, "prices")
    low, high = program.lowest_prices.astype(np.float64), program.highest_prices.astype(np.float64)
    out = [np.zeros(program.rows, dtype=np.int64), program.highest_prices]
    for number in range(_PRICES):
        part = draw.random(program.rows) ** (1.0 + 2.0 * number)
        sign = np.where(draw.random(program.rows) < 0.5, 1.0, -1.0) if program.two_sided else 1.0
        out.append(np.clip(np.rint(sign * part * high), low, high).astype(np.int64))
    return out


def sensitivity(mechanism: Dude, pool: Pool, seed: int = 0) -> Examined:
    """The same, and where contributions are counted three times over.

    Args:
        mechanism: as it will run.
        pool: of its program's records.
        seed: of a study.
    """
    many = Pool(inject_fault(pool.program, Counts), pool.records, pool.table)
    return Examined(named="sensitivity", sound=pool, rows=lambda it: sensitivity_rows(mechanism, it, seed),
                    faults={"contributions beyond their bounds counted": many})

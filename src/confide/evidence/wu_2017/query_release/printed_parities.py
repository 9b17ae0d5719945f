"""The row of a parity as printed, and what a row forbids.

Source: Wu 2017, section 3.6; spec query_release E3, erratum 4.
"""

from __future__ import annotations

from confide.release.oracle.parities import ParityRow, parity_row

__all__ = ["printed_parity_row", "row_defects"]


def printed_parity_row(size: int, *, positive: bool) -> ParityRow:
    """As printed: `sum x = 2 d + c - 1` for a query, which no record with three ones meets.

    Args:
        size: of S, >= 0.
        positive: the query (an even number of ones counts), else its negation, whose row is right in print.

    Example:
        >>> printed_parity_row(3, positive=True)
        ParityRow(half=-2, clause=-1, total=-1, most=1)
    """
    corrected = parity_row(size, positive=positive)
    return corrected._replace(clause=-1, total=-1) if positive else corrected


def row_defects(*, literal: bool, sizes: tuple[int, ...] = (1, 2, 3)) -> list[tuple[int, int]]:
    """(size, number of ones) for which a row does not force c to be what it should be: the clause's truth.

    Args:
        literal: of the row as printed, else of the corrected one.
        sizes: of S.

    Example:
        >>> row_defects(literal=True), row_defects(literal=False)
        ([(3, 3)], [])
    """
    row_of = printed_parity_row if literal else parity_row
    defects = set()
    for size in sizes:
        for positive in (True, False):
            row = row_of(size, positive=positive)
            for ones in range(size + 1):
                allowed = {c for c in (0, 1) for d in range(row.most + 1)
                           if ones + row.half * d + row.clause * c == row.total}
                if allowed != {int((ones % 2 == 0) == positive)}:
                    defects.add((size, ones))
    return sorted(defects)

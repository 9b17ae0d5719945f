"""Every published claim about the three notions, and what its evidence says today."""

from __future__ import annotations

import math

import pytest

from confide.evidence import Claim

from claims_tables import check, complete, rows

TABLE = rows("confide.channels")
NUMBERS = {  # the figures that the table's words quote
    "channels/lemma-7-sum": (1.2716, 6.4328, 1e-4),
    "channels/lemma-7-triangle": (-1.0, 1.0, 1e-12),
    "channels/example-1": (0.6, 0.6061, 1e-4),
    "channels/example-2": (0.93, 0.9310, 1e-4),
    "channels/five-stars-own": (0.33, 0.3300, 5e-5),
    "channels/five-stars-kernel": (0.41, 0.4001, 5e-5),
    "channels/bits": (1.5, 1.5 / math.log(2), 1e-4),
    "channels/corollary-1": (2 * math.log(9), math.log(9), 1e-8),
    "channels/theorem-1-gap": (0.33, 0.0, 1e-9),
    "channels/theorem-1-dp": (1.4617, 1.791759, 1e-6),
    "channels/lemma-8": (0.1517, 0.6818, 5e-5),
    "channels/lemma-9": (2.1972, 2.1972, 1e-3),
    "channels/lemma-10": (0.0654, 0.0654, 5e-5),
    "channels/lemma-11": (0.9257, 0.9257, 5e-5),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)

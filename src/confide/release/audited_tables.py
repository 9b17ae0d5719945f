"""Tiny mechanisms with the same rules as the mechanisms of campaigns, and worst-case neighbours for the tiny
mechanisms. In a worst-case pair of data sets, the replacement of one record changes the answers as much as possible.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from confide.audit import Neighbours, published, run_with_steps
from confide.contract.errors import PublicWarning
from confide.contract.mechanism import Mechanism
from confide.privacy.noise import Noise
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.columns import Binned, Bit, Levels
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.reading import read_codes
from confide.release.records import Codes, made_up_table
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["RECORDS", "TINY", "Run", "neighbours", "published", "quiet", "recast", "tiny", "twins"]

TINY = Schema((Levels(column="job", levels=("none", "part", "full")), Bit(column="smoker"),
               Binned(column="age", lower=0, upper=90, bins=3), Bit(column="owner")))
"""Schema of four columns: two columns of three values, and two bits."""

RECORDS = 40

_ONE_HOT = Schema(tuple(Binned(column=name, lower=0, upper=90, bins=3) for name in ("age", "weight", "rent")))
_BITS = 4
_FULL = 34  # of 40 records that have a common attribute
_USUAL = {"job": "part", "smoker": True, "age": 45, "owner": True, "weight": 45, "rent": 45}

_Kind = TypeVar("_Kind", bound=Mechanism)


def recast(it: Mechanism, kind: type[_Kind]) -> _Kind:
    """A mechanism of the class `kind`, such as a mutant, with the parameters of a given mechanism."""
    return kind(**{field.name: getattr(it, field.name) for field in fields(it) if field.init})  # type: ignore[arg-type]


def tiny(it: Mechanism) -> Mechanism:
    """A mechanism of the same class as the given mechanism and with the same rules, for 40 records of four columns."""
    both: dict[str, Any] = {"records": RECORDS, "workload": Workload.complete(TINY, width=2), "schema": TINY}
    match it:
        case DualQuery():
            return _tiny_game(it, both)
        case Reweighted():
            return replace(it, dual_query=_tiny_game(it.dual_query, both), rho_mea=0.5, measured=4, listed=None,
                           rho_sel=0.1 if it.selection == "private" else 0.0)
        case MarginalFit():
            # A run that chooses T takes much of it where much is spent, and little tells it apart from its neighbours.
            return replace(it, records=RECORDS, schema=TINY, rho=0.5 if it.tables is not None else 2.0,
                           tables=None if it.tables is None else min(4, it.tables), batches=2, population=200,
                           widths=(2, 3))
        case MWEM():
            return replace(it, **both, rounds=5, epsilon=2.0)
        case NoisyAnswers():
            # Queries of one attribute: a record may change all that the noise is made for.
            one = Workload.complete(TINY, width=1)
            bits = np.array([3, 7])  # of those with one attribute to a column, both change
            return replace(it, **{**both, "workload": one if it.law == "structured" else Workload.conjunctions(
                bits[:, None], attributes=TINY.attributes)})
        case IndependentMarginals():
            return replace(it, **both)
    return it


def _tiny_game(it: DualQuery, both: dict[str, Any]) -> DualQuery:
    return replace(it, **both, eta=0.5, rounds=5, samples=12, marginal_rho=0.05 if it.free == "marginals" else 0.0)


def twins() -> dict[str, Mechanism]:
    """Mapping from a name to a tiny mechanism of query release. In the data of these mechanisms, the replacement of one
    record can cause changes as large as the sensitivity from which the noise is computed.

    The mechanisms on four bits answer each bit and each pair of bits. The all-zero record satisfies none of the queries
    on bits, and the all-one record satisfies all of them. The mechanisms on columns have three columns with equal bins.
    On columns, MWEM answers queries on the first and last values of two columns. If a record with the first values is
    replaced by a record with the last values, every count changes.

    Example:
        >>> [name for name in twins() if name.startswith("Reweighted")]
        ['Reweighted, public', 'Reweighted, transcript', 'Reweighted, private']
    """
    index = np.array([*([j, -1] for j in range(_BITS)), *([i, j] for i in range(_BITS) for j in range(i + 1, _BITS))])
    bits: dict[str, Any] = {"records": RECORDS, "workload": Workload.conjunctions(index, attributes=_BITS)}
    columns: dict[str, Any] = {"records": RECORDS, "workload": Workload.complete(_ONE_HOT, width=2), "schema": _ONE_HOT}
    ends = Workload.conjunctions([[0], [2], [6], [8], [0, 3], [2, 3], [0, 6], [2, 8], [3, 6], [3, 8]],
                                 attributes=_ONE_HOT)
    game = DualQuery(**bits, eta=0.5, rounds=5, samples=12)
    fitted = DualQuery(**bits, eta=0.5, rounds=5, samples=12, free="marginals", marginal_rho=0.05)
    fit: dict[str, Any] = {"rho_mea": 0.5, "measured": 4}
    four: dict[str, Any] = {"records": RECORDS, "schema": TINY, "rho": 0.5, "population": 100, "widths": (2, 3)}
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3}
    return {
        "MWEM, replay": MWEM(**bits, rounds=4, epsilon=2.0, passes=10),
        "MWEM, analysed": MWEM(**bits, rounds=4, epsilon=2.0, form="analysed"),
        "MWEM, columns": MWEM(**{**columns, "workload": ends}, rounds=4, epsilon=2.0, passes=10),
        "Reweighted, public": Reweighted(dual_query=game, **fit),
        "Reweighted, transcript": Reweighted(dual_query=fitted, selection="transcript", **fit),
        "Reweighted, private": Reweighted(dual_query=game, selection="private", rho_sel=0.1, **fit),
        "IndependentMarginals, bits": IndependentMarginals(**bits, **budget),
        "IndependentMarginals, columns": IndependentMarginals(**columns, **budget),
        "NoisyAnswers, gaussian": NoisyAnswers(**bits, **budget),
        "NoisyAnswers, structured": NoisyAnswers(**columns, **budget, law="structured"),
        "NoisyAnswers, laplace": NoisyAnswers(**bits, epsilon=1.0, delta=0.0, law="laplace"),
        "MarginalFit, one table": MarginalFit(**four, tables=1, batches=1),
        "MarginalFit, four tables": MarginalFit(**four, tables=4, batches=2),
        "MarginalFit, chosen tables": MarginalFit(**{**four, "rho": 2.0}, batches=2),
    }


def neighbours(it: Mechanism, seed: int) -> Iterator[Neighbours]:
    """Pairs of data sets of 40 records that differ in one record. The replacement of this record changes the answers as
    much as possible. In some pairs, all records except the replaced record are copies of one record. With columns, one
    record of the last pair is unusable, so that the null record takes its place.

    Args:
        it: a tiny mechanism, from `tiny` or `twins`.
        seed: seed of the pseudorandom records, which are the same in both data sets of a pair.
    """
    schema = it.dual_query.schema if isinstance(it, Reweighted) else it.schema  # type: ignore[attr-defined]
    for first, second in (_bit_pairs(seed) if schema is None else _table_pairs(schema, seed)):
        yield Neighbours(first, second, published)


def _bit_pairs(seed: int) -> Iterator[tuple[Any, Any]]:
    """Pairs of neighbouring tables of bits. In the first pair, most records have half of the attributes. In the last
    pair, all other records are without attributes. In both of these pairs, a record without attributes is replaced by a
    record with all attributes. The second pair replaces a synthetic record by its complement.
    """
    common = np.zeros((RECORDS, _BITS), dtype=np.bool_)
    common[:_FULL, : _BITS // 2] = True
    mixed = made_up_table(Schema.bits(_BITS), RECORDS, seed=seed).cells > 0
    for bits, record in ((common, np.ones(_BITS, np.bool_)), (mixed, ~mixed[-1]),
                         (np.zeros_like(common), np.ones(_BITS, np.bool_))):
        other = bits.copy()
        other[-1] = record
        yield bits, other


def _table_pairs(schema: Schema, seed: int) -> Iterator[tuple[Any, Any]]:
    top = np.array(schema.sizes, dtype=np.uint16) - 1
    spread = made_up_table(schema, RECORDS, seed=seed).cells
    # Two halves of the columns, alike within themselves: a record breaks the second half's rule, not the first's.
    half = len(top) // 2
    ends = np.arange(RECORDS)[:, None] // (1, 2) % 2 == 1
    rules = np.repeat(ends, (half, len(top) - half), axis=1) * top
    rules[-1] = [*top[: half - 1], 0, *[0] * (len(top) - half)]
    changed = np.array([*top[:half], *[0] * (len(top) - half - 1), top[-1]], dtype=np.uint16)
    for cells, at, record in ((spread, 0, top), (rules, RECORDS - 1, changed), (spread, 1, top - spread[1]),
                              (np.zeros_like(spread), 3, top)):
        other = cells.copy()
        other[at] = record
        yield Codes(schema=schema, cells=cells), Codes(schema=schema, cells=other)
    names = [column.column for column in schema.columns]
    rows = [{name: [_USUAL[name]] * RECORDS for name in names} for _ in range(2)]
    first: Any = names[0]
    rows[1][first] = [*rows[1][first][:-1], None]
    one, other_codes = (read_codes(schema, table, RECORDS, "row", "null", None)[0] for table in rows)
    yield one, other_codes


Run = Callable[[Any, Noise], Any]


def quiet(it: Mechanism, data: Any, noise: Noise) -> Any:
    """The outcome of a run, with warnings suppressed. With only 40 records every fit is poor, so warnings about poor
    fits are expected.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PublicWarning)
        return run_with_steps(it, data, noise)

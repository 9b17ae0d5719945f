"""What the baselines publish: noisy counts of attributes or of queries, or nothing that any data enters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.wire import wire
from confide.release._independent import column_answers, product_answers, uniform_answers
from confide.release._inputs import of_kind
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["FixedBillboard", "IndependentBillboard", "NoisyBillboard"]

_Floats = NDArray[np.float64]


@wire("IndependentBillboard", "records ones schema")
@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentBillboard(Billboard):
    """Noisy counts of every attribute.

    Args:
        records: n.
        ones: (d,) noisy counts.
        schema: the public columns, independent of each other; None where attributes are.
    """

    records: int
    ones: np.ndarray
    schema: Schema | None = None

    def answers(self, workload: Workload) -> _Floats:
        """(k,) fractions: products of what is measured, each cut to [0, 1]. Sums of them are too high: see `uncut`."""
        return self._products(np.clip(self.ones / self.records, 0.0, 1.0), workload, cut=True)

    def uncut(self, workload: Workload) -> _Floats:
        """(k,) products of what is measured, with all of its noise: without bias for independent columns, and some lie
        outside [0, 1].
        """
        return self._products(self.ones / self.records, workload, cut=False)

    def _products(self, shares: _Floats, workload: Workload, cut: bool) -> _Floats:
        of_kind("workload", workload, Workload)
        if self.schema is None:
            return product_answers(shares, workload)
        return column_answers(shares, workload, self.schema, cut=cut)


@wire("FixedBillboard", "records attributes one schema")
@dataclass(frozen=True, kw_only=True, eq=False)
class FixedBillboard(Billboard):
    """Answers that no data enters: of the record of zeros, or of uniform records.

    Args:
        records: n.
        attributes: d.
        one: the probability of an attribute, 0 for the record of zeros, 1/2 for uniform records.
        schema: of uniform records: its columns are uniform over their cells, and `one` is that of a bit.
    """

    records: int
    attributes: int
    one: float
    schema: Schema | None = None

    def answers(self, workload: Workload) -> _Floats:
        """(k,) fractions."""
        of_kind("workload", workload, Workload)
        if self.schema is not None:
            return uniform_answers(workload, self.schema)
        return product_answers(np.full(self.attributes, self.one), workload)


@wire("NoisyBillboard", "records workload noisy")
@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyBillboard(Billboard):
    """Noisy counts of every query.

    Args:
        records: n.
        workload: the queries.
        noisy: (k,) counts with noise; n less that of its negation where a query's negation was measured.
    """

    records: int
    workload: Workload
    noisy: np.ndarray

    def answers(self, workload: Workload | None = None) -> _Floats:
        """(k,) fractions, cut to [0, 1]. Sums of them are too high where many are near 0: add up those of `uncut`.

        Raises:
            InvalidInput: other queries than the release's own.
        """
        return np.asarray(np.clip(self.uncut(workload), 0.0, 1.0))

    def uncut(self, workload: Workload | None = None) -> _Floats:
        """(k,) fractions as they were measured, without bias; noise takes some of them below 0 or above 1.

        Raises:
            InvalidInput: other queries than the release's own; `measured_sums` adds up what others are made of.
        """
        if workload is not None:
            of_kind("workload", workload, Workload)
            if not workload.same(self.workload):
                raise InvalidInput("workload", "is not the release's own", "noisy answers answer no other query")
        return np.asarray(self.noisy / self.records)

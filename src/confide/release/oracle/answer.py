"""The answer of an oracle, the form of an oracle, and the check that lets no faulty one break a release.

A release that has been charged must end. So whatever a user's own oracle does, `best_response` returns a valid record:
the oracle's, or else the start record, and says so. What an oracle sees is public by then, so how often it fell back
may be published.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.release.oracle.terms import Bits, Terms, is_valid, repaired

__all__ = ["Answer", "Oracle", "answered", "best_response", "checked_start"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """One record and what is known about it.

    Args:
        record: bool (d,).
        value: netted clauses that it satisfies.
        upper_bound: no record satisfies more, re-checked in exact arithmetic; None where nothing was proved.
        fell_back: the oracle failed and this is the start record.
        timed_out: a time limit ended the work; the record is the best one until then.
    """

    record: Bits
    value: int
    upper_bound: float | None = None
    fell_back: bool = False
    timed_out: bool = False

    @property
    def gap(self) -> float | None:
        """Clauses between the record and the bound; None where there is no bound."""
        return None if self.upper_bound is None else self.upper_bound - self.value


@runtime_checkable
class Oracle(Protocol):
    """Anything with this method; a frozen dataclass of public parameters, if it is to stand in a manifest."""

    def solve(self, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
        """A record with many satisfied clauses.

        Args:
            terms: the netted samples.
            start: records of d bits; the first one is the default record, whose bits free attributes keep.
            seed: public.
        """


def best_response(oracle: Oracle, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
    """An oracle's answer, checked: its record is binary, of length d and valid, its value is counted again.

    Args:
        oracle: any; what it raises is caught, because nothing may stop a release that has been charged.
        terms: the netted samples.
        start: records of d bits, at least one; the first one is the default record.
        seed: public, >= 0.

    Returns:
        The answer; with the (repaired) default record and `fell_back` where the oracle's was of no use. A bound below
        the counted value is wrong and left out.

    Raises:
        InvalidInput: an argument that is not as described; before the oracle is asked.

    Example:
        >>> class Broken:
        ...     def solve(self, terms, start, seed):
        ...         return "no record"
        >>> terms = Terms(kind="conjunctions", attributes=2, index=[[0, 1]], bits=[[1, 1]], weights=[5])
        >>> answer = best_response(Broken(), terms, (np.zeros(2, dtype=bool),), seed=0)
        >>> answer.fell_back, answer.record.tolist(), answer.value
        (True, [False, False], 0)
    """
    records = checked_start(terms, start)
    seed = whole("seed", seed)
    try:
        given = oracle.solve(terms, records, seed)
        record = _as_record(terms, getattr(given, "record", None))
        bound = _as_bound(getattr(given, "upper_bound", None))
        stopped = bool(getattr(given, "timed_out", False))
        fell_back = record is None or bool(getattr(given, "fell_back", False))
    except Exception:  # noqa: BLE001 - the samples are paid for; the fault is counted, and the release goes on
        record, bound, stopped, fell_back = None, None, False, True
    return answered(terms, records[0] if record is None else record, upper_bound=bound, fell_back=fell_back,
                    timed_out=stopped)


def answered(
    terms: Terms, record: Bits, *, upper_bound: float | None = None, fell_back: bool = False, timed_out: bool = False
) -> Answer:
    """The answer with this record, its value counted from the terms."""
    value = terms.value(record)
    if upper_bound is not None and not upper_bound >= value:
        upper_bound = None
    fixed = record.copy()
    fixed.flags.writeable = False
    return Answer(record=fixed, value=value, upper_bound=upper_bound, fell_back=fell_back, timed_out=timed_out)


def checked_start(terms: Terms, start: tuple[Bits, ...]) -> tuple[Bits, ...]:
    """The start records, each a valid copy.

    Raises:
        InvalidInput: something that is not `Terms`, no record, or one that is not d bits.
    """
    if not isinstance(terms, Terms):
        raise InvalidInput("terms", f"an oracle may not see {type(terms).__name__}", "must be Terms")
    if not isinstance(start, tuple) or not start:
        raise InvalidInput("start", "has no record", "must be a tuple of at least one array of bits")
    for record in start:
        if not isinstance(record, np.ndarray) or record.dtype != np.bool_ or record.shape != (terms.attributes,):
            raise InvalidInput("start", "a record is not an array of bits", f"must be {terms.attributes} truth values")
    return tuple(repaired(terms, record) for record in start)


def _as_record(terms: Terms, value: Any) -> Bits | None:
    """The record where it is d zeros and ones with valid groups, else None."""
    array = np.asarray(value)
    if array.shape != (terms.attributes,) or array.dtype.kind not in "biuf":
        return None
    if not ((array == 0) | (array == 1)).all():
        return None
    record = array.astype(np.bool_)
    return record if is_valid(terms, record) else None


def _as_bound(value: Any) -> float | None:
    return float(value) if isinstance(value, Real) and not math.isnan(float(value)) else None

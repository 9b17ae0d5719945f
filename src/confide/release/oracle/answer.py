"""The interface of best-response oracles, the form of an oracle's answer, and the check that protects a release from
faulty oracles.

A release that has been charged must end. Therefore `best_response` always returns a valid record, even if a user's own
oracle fails. If the oracle's record is invalid, the default record takes its place, and the answer says so
(`Answer.fell_back`). An oracle receives only data that are public, so the number of failures may be published.
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
    """The answer of a best-response oracle: a record, with the number of clauses that it satisfies and a bound on this
    number for any record.

    Args:
        record: the d bits of the record, as a bool array.
        value: number of clauses (drawn queries and negations) that the record satisfies.
        upper_bound: upper bound on the number of clauses that any record satisfies, checked in exact arithmetic; None
            if no bound was proved.
        fell_back: whether the oracle failed, so that the record is the default record.
        timed_out: whether a time limit ended the search. In this case the record is the best record found up to then.
    """

    record: Bits
    value: int
    upper_bound: float | None = None
    fell_back: bool = False
    timed_out: bool = False

    @property
    def gap(self) -> float | None:
        """The upper bound minus the value of the record; None if there is no bound."""
        return None if self.upper_bound is None else self.upper_bound - self.value


@runtime_checkable
class Oracle(Protocol):
    """A best-response oracle: any object with a method `solve`. To be stored in a manifest, an oracle must be a frozen
    dataclass of public parameters.
    """

    def solve(self, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
        """Find a record that satisfies many clauses.

        Args:
            terms: the weighted queries to satisfy, from the netted samples of one round.
            start: records of d bits, from which a search may begin. The first one is the default record. Attributes in
                no drawn query (free attributes) keep the bits of the default record.
            seed: public seed of the pseudorandom numbers.
        """


def best_response(oracle: Oracle, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
    """Call an oracle and check its answer. The record must have d bits and be valid: exactly one attribute of each
    one-hot group is on. The value of the record is counted again.

    Args:
        oracle: any oracle. The oracle's exceptions are caught, because nothing may stop a release that has been
            charged.
        terms: the weighted queries to satisfy, from the netted samples of one round.
        start: records of d bits from which a search may begin, at least one. The first one is the default record.
        seed: public seed, >= 0.

    Returns:
        The oracle's answer. If the oracle's record is invalid, the answer has the (repaired) default record, and
        `fell_back` is True. An upper bound below the counted value is wrong, and the answer has None in its place.

    Raises:
        InvalidInput: an argument is not as described. The error is raised before the oracle is called.

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
    """The answer with a given record. The value of the record is counted from the terms, and an upper bound below this
    value is left out.
    """
    value = terms.value(record)
    if upper_bound is not None and not upper_bound >= value:
        upper_bound = None
    fixed = record.copy()
    fixed.flags.writeable = False
    return Answer(record=fixed, value=value, upper_bound=upper_bound, fell_back=fell_back, timed_out=timed_out)


def checked_start(terms: Terms, start: tuple[Bits, ...]) -> tuple[Bits, ...]:
    """The start records, each as a valid copy.

    Raises:
        InvalidInput: `terms` is no `Terms`, there is no start record, or a start record is not d bits.
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
    """The value as a record if it is d zeros and ones with one attribute on in each group; otherwise None."""
    array = np.asarray(value)
    if array.shape != (terms.attributes,) or array.dtype.kind not in "biuf":
        return None
    if not ((array == 0) | (array == 1)).all():
        return None
    record = array.astype(np.bool_)
    return record if is_valid(terms, record) else None


def _as_bound(value: Any) -> float | None:
    return float(value) if isinstance(value, Real) and not math.isnan(float(value)) else None

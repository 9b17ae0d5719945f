"""Values as bytes: two that differ in anything have other bytes, and what cannot be told apart is refused."""

from __future__ import annotations

import datetime
import decimal
import io
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sparse

from confide.audit import exact_bytes
from confide.contract import InvalidInput


class Number(float):
    """A number with something beside it."""


class Named(str):
    """A text with something beside it."""


class Listed(list):  # type: ignore[type-arg]
    """A list with something beside it."""


class Beside(np.ndarray):
    """An array with something beside it."""


class Private:
    """A slot that nobody else sees."""

    __slots__ = ("__raw",)

    def __init__(self, raw: float) -> None:
        self.__raw = raw


class Day(datetime.date):
    """A date with something beside it."""


def with_raw(value: Any, raw: float) -> Any:
    value.raw = raw
    return value


def long_array(raw: float) -> Any:
    return np.concatenate([np.zeros(1000), [raw], np.zeros(1000)])


def closed_over(raw: float) -> Callable[[], float]:
    return lambda: raw


def by_default(raw: float) -> Any:
    def function(_: float = raw) -> None:
        """Nothing."""

    return function


class Holder:
    """A method of it tells what it holds."""

    def __init__(self, raw: float) -> None:
        self.raw = raw

    def tell(self) -> float:
        return self.raw


VALUES: dict[str, Callable[[float], Any]] = {
    "mask": lambda raw: np.ma.masked_array(np.zeros(3), mask=[raw > 0, False, False]),
    "under a mask": lambda raw: np.ma.masked_array(np.array([raw, 0.0]), mask=[True, False]),
    "fill value": lambda raw: np.ma.masked_array(np.zeros(2), mask=[True, False], fill_value=raw),
    "array in a deque": lambda raw: deque([long_array(raw)]),
    "length of a deque": lambda raw: deque([1], maxlen=2 + int(raw)),
    "closure": closed_over,
    "default": by_default,
    "attribute of a function": lambda raw: with_raw(by_default(0.0), raw),
    "partial": lambda raw: partial(float, long_array(raw)),
    "method": lambda raw: Holder(raw).tell,
    "built-in method": lambda raw: deque([raw]).append,
    "iterator": lambda raw: iter([raw]),
    "attribute of a float": lambda raw: with_raw(Number(1.0), raw),
    "attribute of a text": lambda raw: with_raw(Named("x"), raw),
    "attribute of a list": lambda raw: with_raw(Listed([1]), raw),
    "attribute of an array": lambda raw: with_raw(np.zeros(1).view(Beside), raw),
    "private slot": Private,
    "date": lambda raw: datetime.date(2026, 1, 1 + int(raw)),
    "attribute of a date": lambda raw: with_raw(Day(2026, 1, 1), raw),
    "decimal": lambda raw: decimal.Decimal(int(raw)),
    "complex": lambda raw: complex(0.0, raw),
    "range": lambda raw: range(int(raw)),
    "wide float": lambda raw: np.array([1.0], np.longdouble) + np.longdouble(raw) * 2.0**-60,
    "field of a record": lambda raw: np.array([(raw, 1.0)], dtype=[("u", "f8"), ("w", "f8")]),
    "objects in an array": lambda raw: np.array([[raw], None], dtype=object),
    "defaultdict": lambda raw: defaultdict(closed_over(raw)),
    "order": lambda raw: OrderedDict([("a", 1), ("b", 2)][:: 1 if raw else -1]),
    "class": lambda raw: type("Local", (), {"raw": raw}),
    "frame": lambda raw: pd.DataFrame({"a": long_array(raw)}),
    "series": lambda raw: pd.Series(long_array(raw)),
    "index of a series": lambda raw: pd.Series([1.0, 2.0], index=[0.0, 5.0 + raw]),
    "sparse": lambda raw: sparse.csr_matrix(long_array(raw)),
    "table": lambda raw: pa.table({"a": long_array(raw)}),
    "generator of numbers": lambda raw: np.random.Generator(np.random.PCG64(int(raw))),
    "large number": lambda raw: 10**5000 + int(raw),
}


@pytest.mark.parametrize("name", list(VALUES))
def test_what_differs_has_other_bytes_and_what_is_alike_the_same(name: str) -> None:
    make = VALUES[name]
    assert exact_bytes([make(0.0)]) == exact_bytes([make(0.0)])
    assert exact_bytes([make(0.0)]) != exact_bytes([make(1.0)])


@pytest.mark.parametrize("make", [lambda: (number for number in (1, 2)), threading.Lock, io.StringIO, io.BytesIO])
def test_what_cannot_be_distinguished_is_refused_and_files_in_memory_are_reported(make: Callable[[], Any]) -> None:
    value = make()
    if isinstance(value, io.IOBase):
        other = make()
        other.write("x" if isinstance(value, io.StringIO) else b"x")
        assert exact_bytes(value) != exact_bytes(other)
        return
    with pytest.raises(InvalidInput, match="cannot compare such a value"):
        exact_bytes({"deep": [value]})


def test_an_object_may_hold_itself() -> None:
    one, other = Holder(1.0), Holder(1.0)
    one.me = one  # type: ignore[attr-defined]
    other.me = other  # type: ignore[attr-defined]
    assert exact_bytes(one) == exact_bytes(other)

"""Public rules that turn a person's answers into values in [0, 1]. A rule is the same for all people, and it reads each
row alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import printed
from confide.tables.roles import FINE, INFINITE, OUTSIDE

__all__ = ["Points", "PointsTogether", "Ranks", "RanksTogether", "Scale"]

_Reals = NDArray[np.float64]
_Problems = NDArray[np.int8]


class Scale(Protocol):
    """A public rule that turns answers into values. Values are single-precision numbers, and are the same on every
    device and in every run.
    """

    def problems(self, numbers: _Reals) -> _Problems:
        """The problem of each of z numbers: FINE, INFINITE or OUTSIDE (`confide.tables.roles`), shape (z,)."""
        ...

    def values(self, row: NDArray[np.int64], numbers: _Reals) -> NDArray[np.float32]:
        """Values in [0, 1] of z numbers, shape (z,).

        Args:
            row: row that each number belongs to, ascending, shape (z,).
            numbers: numbers without a problem, shape (z,).
        """
        ...

    def limit(self) -> str:
        """Description of the accepted numbers, for error messages."""
        ...

    @property
    def unit(self) -> float:
        """Number of points that are worth 1. A rule counts answers in points, and 0 points are worth 0."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Points(Declared):
    """Numbers between a public lowest number, worth 0, and a public highest number, worth 1.

    Raises:
        InvalidInput: invalid bounds.

    Example:
        >>> Points(lowest=0, highest=5).values(np.array([0, 0]), np.array([2.5, 5.0])).tolist()
        [0.5, 1.0]
    """

    lowest: Annotated[float, Parameter("number that counts as 0, as an empty cell does")] = 0.0
    highest: Annotated[float, Parameter("number that counts as 1")] = 1.0
    out_of_bounds: Annotated[Literal["reject", "clip"], Parameter(
        "rule for a number out of bounds: the row is unusable, or the number is moved to the bound")] = "reject"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lowest < self.highest:
            raise InvalidInput("highest", f"{self.highest:g} is not above lowest = {self.lowest:g}")
        if not np.isfinite(self.highest - self.lowest):
            raise InvalidInput("highest", "the bounds are too far apart for floating point")

    def problems(self, numbers: _Reals) -> _Problems:
        found = np.full(len(numbers), FINE, dtype=np.int8)
        if self.out_of_bounds == "reject":
            found[(numbers < self.lowest) | (numbers > self.highest)] = OUTSIDE
        found[~np.isfinite(numbers)] = INFINITE
        return found

    def values(self, row: NDArray[np.int64], numbers: _Reals) -> NDArray[np.float32]:
        inside = np.clip(numbers, self.lowest, self.highest)
        return ((inside - self.lowest) / (self.highest - self.lowest)).astype(np.float32)

    @property
    def unit(self) -> float:
        """Distance from the lowest number to the highest."""
        return self.highest - self.lowest

    def limit(self) -> str:
        return f"must be in [{self.lowest:.12g}, {self.highest:.12g}]"


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Places in an order, 1 for the best. Equal numbers tie, and a good that is left out is worth 0.

    A good behind two others has place 3, whatever number was written. With `as_written` the written number counts.

    Args:
        points: points of the first place, of the second place, and so on. Points never rise from one place to the next,
            and the first is above 0. Later places get 0 points. All points are divided by the points of the first
            place.
        as_written: whether the place of a good is the written number, as in PrefLib's categories, instead of the good's
            position in the order of the written numbers.

    Raises:
        InvalidInput: invalid points.

    Example:
        >>> Ranks.borda(4).values(np.zeros(3, np.int64), np.array([1.0, 2.0, 2.0])).tolist()
        [1.0, 0.75, 0.75]
    """

    points: tuple[float, ...]
    as_written: bool = False

    def step(self, goods: int) -> float:
        """The mean positive difference in value between one place and the next, which is a suitable `spread` for a
        `SinkhornMatch`.

        Args:
            goods: number k of goods.

        Example:
            >>> Ranks.borda(4).step(4)
            0.25
        """
        steps = [(better - worse) / self.points[0] for better, worse in pairwise((*self.points[:goods], 0.0))
                 if better > worse]
        return min(1.0, sum(steps) / len(steps))

    def __post_init__(self) -> None:
        given = tuple(self.points)
        if not given or not all(non_negative(f"points[{place}]", each) >= 0 for place, each in enumerate(given, 1)):
            raise InvalidInput("points", "the list is empty",
                               "must be one number for each place, from the first place on")
        if not given[0] > 0:
            raise InvalidInput("points[1]", f"{given[0]!r} is not above 0", "the best place must have a value above 0")
        for place, (better, worse) in enumerate(pairwise(given), 2):
            if worse > better:
                raise InvalidInput(f"points[{place}]", f"{worse!r} is above {better!r}",
                                   "no place may have a higher value than a better place")

    @classmethod
    def borda(cls, goods: int) -> Ranks:
        """The Borda rule: place p is worth (k - p + 1)/k, where k is the number of goods.

        Args:
            goods: number k of goods.
        """
        return cls(points=tuple(float(k) for k in range(whole("goods", goods, at_least=1), 0, -1)))

    def problems(self, numbers: _Reals) -> _Problems:
        found = np.where((numbers >= 1) & (np.floor(numbers) == numbers), FINE, OUTSIDE).astype(np.int8)
        found[~np.isfinite(numbers)] = INFINITE
        return found

    def values(self, row: NDArray[np.int64], numbers: _Reals) -> NDArray[np.float32]:
        table = np.append(np.array(self.points) / self.points[0], 0.0)
        place = np.minimum(numbers, len(table)).astype(np.int64) if self.as_written else _ranks(row, numbers)
        found: NDArray[np.float32] = table[np.minimum(place, len(table)) - 1].astype(np.float32)
        return found

    @property
    def unit(self) -> float:
        """Points of the first place."""
        return float(self.points[0])

    def limit(self) -> str:
        return "must be a place, a whole number from 1"


@dataclass(frozen=True, kw_only=True)
class PointsTogether(Points):
    """Numbers for goods if one person may get several goods. The points of these goods add up to at most a public
    total, which has value 1.

    Args:
        total: number of points with value 1, at least highest - lowest. A good's points are the person's number less
            `lowest`. The points of all goods that one person may get add up to at most the total.

    Raises:
        InvalidInput: a total below highest - lowest, which one good alone may exceed.

    Example:
        >>> PointsTogether(highest=10.0, total=40.0).values(np.array([0, 0]), np.array([10.0, 5.0])).tolist()
        [0.25, 0.125]
    """

    total: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.total >= self.highest - self.lowest or not np.isfinite(self.total):
            raise InvalidInput("total", f"{self.total:g} is below the largest value of one good",
                               f"must be at least {printed(self.highest - self.lowest)}")

    @property
    def unit(self) -> float:
        """The public total."""
        return self.total

    def values(self, row: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        inside = np.clip(numbers, self.lowest, self.highest)
        return ((inside - self.lowest) / self.total).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class RanksTogether(Ranks):
    """Places in an order, with value 1/b for the first place. So b goods together are worth at most 1, even with ties.

    Args:
        most: largest number b of goods that one person may get.

    Example:
        >>> RanksTogether(points=(2.0, 1.0), most=2).values(np.array([0, 0]), np.array([1.0, 2.0])).tolist()
        [0.5, 0.25]
    """

    most: int

    @property
    def unit(self) -> float:
        """Points of the first place, times the number b of goods."""
        return super().unit * self.most

    def values(self, row: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        return (super().values(row, numbers).astype(np.float64) / self.most).astype(np.float32)


def _ranks(row: NDArray[np.int64], numbers: _Reals) -> NDArray[np.int64]:
    """The place of each of z numbers in its row, shape (z,): one more than the count of smaller numbers in the same
    row.
    """
    order = np.lexsort((numbers, row))
    rows, sorted_numbers, at = row[order], numbers[order], np.arange(len(row))
    begins = np.append(True, rows[1:] != rows[:-1])[: len(row)]
    fresh = begins | np.append(True, sorted_numbers[1:] != sorted_numbers[:-1])[: len(row)]
    start, first = (np.maximum.accumulate(np.where(where, at, 0)) for where in (begins, fresh))
    found = np.empty(len(row), dtype=np.int64)
    found[order] = first - start + 1
    return found

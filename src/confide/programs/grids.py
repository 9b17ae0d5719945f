"""Two grids of numbers. A run adds and compares whole grid steps, so the run is the same on every machine.

Loads, supplies, and published numbers about loads and supplies are multiples of 2^-20; values and prices are multiples
of 2^-24. A sum of whole numbers does not depend on the order of the people, so threads and shards cannot change a run.
Participants who compute their own share compare the same whole numbers as everybody else. Numbers in natural units are
stated in the units of the program's parameters and records, before conversion to grid steps.

Source: spec convex_programs 8.

The module also has the public constants of a program, which must hold for every admissible record of any participant.

The constants are never computed from records. The noise, the range of prices, the step size and every promise follow
from these constants.

Source: Wu 2017, Definitions 5.3.5, 5.3.10 and 5.3.13; spec convex_programs 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import non_negative
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed, warn_of_old
from confide.contract.words import counted
from confide.privacy.accounting.sums import root_up

__all__ = [
    "LOAD_BITS",
    "LOAD_UNIT",
    "NEIGHBOUR_WORDS",
    "PRICE_BITS",
    "PRICE_UNIT",
    "Constants",
    "Neighbours",
    "loads_up",
    "neighbours_today",
    "supply_down",
    "values_near",
]

# ---- constants

Neighbours = Literal["replace", "add_or_remove"]

NEIGHBOUR_WORDS: Mapping[Neighbours, str] = {"replace": "substitution", "add_or_remove": "null"}
"""Mapping from each neighbouring relation to its name in stored files."""


def neighbours_today(value: Any) -> Any:
    """Present name of a neighbouring relation, "replace" or "add_or_remove". Former names of the relations work until
    1.0.0, with a warning.

    Args:
        value: name of the relation, present or former.
    """
    today = next((new for new, old in NEIGHBOUR_WORDS.items() if old == value), None) if isinstance(value,
                                                                                                    str) else None
    if today is None:
        return value
    warn_of_old("neighbours", value, today)
    return today


@renamed(squared_sensitivity="squared_l2_sensitivity", sensitivity="l2_sensitivity")
@dataclass(frozen=True, kw_only=True)
class Constants(Declared):
    """Public bounds that hold for every admissible record.

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> one = Constants(rows=10, largest_entry=1, largest_sum=1, most_value=1, width=1000, tau=(1.0,) * 10)
        >>> one.squared_l2_sensitivity("replace"), round(one.l2_sensitivity("add_or_remove"), 3)
        (Fraction(2, 1), 1.0)
    """

    rows: Annotated[int, Parameter("number of coupling constraints", symbol="k", at_least=1)]
    largest_entry: Annotated[float, Parameter("largest absolute entry of a contribution", symbol="Cinf", above=0)]
    largest_sum: Annotated[float, Parameter(
        "largest sum of the absolute entries of one contribution", symbol="C1", above=0)]
    most_value: Annotated[float, Parameter("largest value of a participant", symbol="V", at_least=0)]
    width: Annotated[float, Parameter(
        "largest distance between the load of a constraint and its supply", symbol="w", above=0)]
    tau: Annotated[tuple[float, ...], Parameter(
        "(k,) largest increase of the optimum by one unit of excess in each constraint", above=0)]
    least_entry: Annotated[float, Parameter(
        "smallest nonzero entry of the contribution of an extreme action (vertex); 0 if it is unknown", symbol="Lmin",
        at_least=0)] = 0.0
    least_sum: Annotated[float, Parameter(
        "smallest sum of the contribution of an action with a value above 0; 0 if it is unknown",
        at_least=0)] = 0.0
    least_value: Annotated[float, Parameter("smallest value of a participant", at_most=0)] = 0.0
    signed: Annotated[bool, Parameter("whether contributions may be negative")] = False
    packing: Annotated[bool, Parameter(
        "whether values and contributions are never negative, and everybody may have nothing")] = True
    step_scale: Annotated[tuple[float, ...] | None, Parameter(
        "(k,) divisor of the usual step of each constraint; None if no public scale is known", above=0)] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("least_entry", self.largest_entry), ("least_sum", self.largest_sum)):
            non_negative(name, getattr(self, name), at_most=most)
        for name, numbers in (("tau", self.tau), ("step_scale", self.step_scale)):
            if numbers is not None and len(numbers) != self.rows:
                raise InvalidInput(name, counted(len(numbers), "number"), f"must be {self.rows}, one for each row")

    def squared_l2_sensitivity(self, neighbours: Neighbours) -> Fraction:
        """Squared l2 sensitivity sigma^2: an upper bound on the squared l2 distance of two admissible contributions, in
        squared natural units of load.

        Let a and b be two contributions, Cinf the largest entry and C1 the largest sum of a contribution. Where no
        contribution is negative, ||a - b||^2 <= ||a||^2 + ||b||^2 <= 2 Cinf C1, and no entry of a - b exceeds Cinf in
        absolute value. With "add_or_remove" one of the two contributions is zero.

        Args:
            neighbours: "replace" if any other record may replace a record; "add_or_remove" if only a record that
                contributes nothing may replace it.

        Source: spec convex_programs 1 (sigma rule, corrected).
        """
        entry, total = Fraction(self.largest_entry), Fraction(self.largest_sum)
        norm = min(entry * entry * self.rows, entry * total)
        if neighbours_today(neighbours) == "add_or_remove":
            return norm
        return 4 * norm if self.signed else min(entry * entry * self.rows, 2 * entry * total)

    def l2_sensitivity(self, neighbours: Neighbours) -> float:
        """The l2 sensitivity sigma, in natural units of load, rounded up.

        Args:
            neighbours: "replace" or "add_or_remove", as for `squared_l2_sensitivity`.
        """
        return root_up(self.squared_l2_sensitivity(neighbours))

    @property
    def entries(self) -> float:
        """Largest number of constraints in which one contribution can have the largest entry: kappa = C1/Cinf."""
        return self.largest_sum / self.largest_entry


# ---- grids

LOAD_BITS = 20
LOAD_UNIT = 1 << LOAD_BITS
"""Number of load units, of 2^-20 each, in a load of 1."""

PRICE_BITS = 24
PRICE_UNIT = 1 << PRICE_BITS
"""Number of units, of 2^-24 each, in a value or a price of 1."""


def values_near(values: Any) -> NDArray[np.float64]:
    """Values converted to units of 2^-24 and rounded to the nearest whole number, as float64.

    Args:
        values: values in natural units.
    """
    rounded: NDArray[np.float64] = np.rint(np.asarray(values, dtype=np.float64) * PRICE_UNIT)
    return rounded


def loads_up(loads: Any) -> NDArray[np.int64]:
    """Contributions converted to whole load units of 2^-20 and rounded up. If rounded contributions fit a supply, the
    exact contributions also fit.

    Args:
        loads: contributions in natural units.
    """
    return np.ceil(np.asarray(loads, dtype=np.float64) * LOAD_UNIT).astype(np.int64)


def supply_down(supply: Any) -> NDArray[np.int64]:
    """Supplies converted to whole load units of 2^-20 and rounded down.

    Args:
        supply: supplies in natural units.
    """
    return np.floor(np.asarray(supply, dtype=np.float64) * LOAD_UNIT).astype(np.int64)

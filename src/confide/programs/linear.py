"""The program of all records as one linear program for a solver, with which private runs are compared. The linear
program has no privacy protection.

Source: spec convex_programs 4 and 8 (`to_lp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

if TYPE_CHECKING:
    from confide.programs.program import Program

__all__ = ["LinearProgram", "choices"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearProgram:
    """A linear program in the variables x: maximise objective x, subject to coupling x <= supply (or =), low <=
    personal x <= high, and lower <= x <= upper.

    Args:
        objective: (m,) objective coefficients, in natural units.
        coupling: (k, m) sparse matrix of the coupling constraints.
        supply: (k,) supply of each coupling constraint, in natural units.
        equations: whether the coupling constraints are equations.
        personal: (p, m) sparse matrix of the personal constraints, which restrict the variables of one participant
            each.
        low: (p,) lower bounds of the personal constraints.
        high: (p,) upper bounds of the personal constraints.
        lower: (m,) lower bounds of the variables.
        upper: (m,) upper bounds of the variables.
        owner: (m,) index of the participant of each variable; -1 for a variable of the public block, which belongs to
            no participant.
    """

    objective: NDArray[np.float64]
    coupling: Any
    supply: NDArray[np.float64]
    equations: bool
    personal: Any
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    owner: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<LinearProgram of {len(self.objective):,} variables and {len(self.supply):,} coupling rows>"

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.objective)


def choices(
    program: Program, *, values: ArrayLike, people: ArrayLike, rows: ArrayLike, loads: ArrayLike, entries: ArrayLike,
    most: float = 1.0, upper: float = 1.0,
) -> LinearProgram:
    """The linear program in which each participant has a probability distribution over their choices and the choice of
    nothing.

    Args:
        program: program with the supplies and the coupling constraints.
        values: (m,) value of each choice, in units of 2^-24. The m choices are those of all participants, and each
            choice is one variable.
        people: (m,) index of the participant who has each choice.
        rows: (z,) index of the coupling constraint of each nonzero contribution.
        loads: (z,) size of each nonzero contribution, in load units of 2^-20.
        entries: (z,) index of the choice that makes each nonzero contribution.
        most: upper bound on the sum of the variables of each participant; 1 for probabilities.
        upper: upper bound on each variable; 1 for probabilities.
    """
    worth = np.asarray(values, dtype=np.float64) / PRICE_UNIT
    who, m = np.asarray(people, dtype=np.int64), np.size(values)
    parts = np.asarray(loads, dtype=np.float64) / LOAD_UNIT
    coupling = scipy.sparse.csc_array((parts, (np.asarray(rows), np.asarray(entries))), shape=(program.rows, m))
    personal = scipy.sparse.csc_array((np.ones(m), (who, np.arange(m))), shape=(program.people, m))
    return LinearProgram(
        objective=worth, coupling=coupling, supply=program.supply_units / LOAD_UNIT, equations=program.two_sided,
        personal=personal, low=np.full(program.people, -np.inf), high=np.full(program.people, most),
        lower=np.zeros(m), upper=np.full(m, upper), owner=who)

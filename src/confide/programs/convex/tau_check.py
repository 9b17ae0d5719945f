"""`check_tau`: a declared dual bound held against public or made-up records.

A tau holds of an instance exactly if some optimal prices lie in its box: none above its row's tau. Where values are
quadratic, prices are optimal exactly if they are for the values' linear part at the optimum, so that the least multiple
of the box with optimal prices in it is found by a linear program too.
A check of some instances proves nothing of others: it can only show that a declared tau is too small.

Source: spec convex_programs 1 (tau, corrected characterisation) and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix, diags_array, kron, vstack

from confide.contract.errors import InvalidInput, SolverFailed
from confide.programs.convex.compiled_program import ConvexProgram
from confide.programs.convex.whole import blocks_of
from confide.programs.linear import LinearProgram
from confide.programs.reading.slots import collected
from confide.programs.solving import least_dual

__all__ = ["TauCheck", "check_tau"]

_NEAR = 1e-4  # relative: of a quadratic optimum that a solver found


@dataclass(frozen=True, kw_only=True)
class TauCheck:
    """What some public instances say of a declared tau.

    Args:
        declared: (k,) tau of each row.
        multiples: of each instance, the least t such that t times the declared tau holds of it.
    """

    declared: tuple[float, ...]
    multiples: tuple[float, ...]

    @property
    def largest(self) -> float:
        """The multiple of the declared tau that all of these instances need: above 1 it was too small."""
        return max(self.multiples)

    @property
    def needed(self) -> tuple[float, ...]:
        """(k,) what would do for all of these instances, in the proportions of what was declared."""
        return tuple(self.largest * one for one in self.declared)

    @property
    def refuted(self) -> bool:
        """Whether an instance needs more than was declared; if not, that proves nothing of other records."""
        return self.largest > 1.0 + _NEAR


def check_tau(program: ConvexProgram, instances: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> TauCheck:
    """Hold a declared tau against public or made-up records: never against private ones.

    Args:
        program: with any declared tau.
        instances: records of all slots, as `program.read` takes them, or a list of such.

    Raises:
        InvalidInput: bad records, or none.
        Refused: nothing is feasible.
        SolverFailed: a solver ends without an optimum.

    Example:
        >>> import cvxpy as cp
        >>> from confide.programs.convex import convex_program
        >>> x, worth = cp.Variable(nonneg=True), cp.Parameter()
        >>> program = convex_program(3, 2.0, value=worth * x, coupling=x, constraints=[x <= 1],
        ...                          record={"worth": (worth, 0, 1)}, tau=1.0)
        >>> found = check_tau(program, {"worth": [1.0, 0.75, 0.25]})
        >>> round(found.needed[0], 6), found.refuted
        (0.25, False)
    """
    many = [instances] if isinstance(instances, Mapping) else list(instances)
    if not many:
        raise InvalidInput("instances", "are none")
    if not isinstance(program, ConvexProgram):
        raise InvalidInput("program", f"{type(program).__name__} was not made by convex_program")
    return TauCheck(declared=program.taus, multiples=tuple(_least(program, one) for one in many))


def _least(program: ConvexProgram, data: Any) -> float:
    records, taus = program.read(collected(program, data)), np.array(program.taus)
    if not program.template.quadratic.any():
        return least_dual(program.linear_program(records), taus)
    square = program.template.quadratic
    whole = blocks_of(program, program.template, records)
    z = _optimum(whole, square)[:-1].reshape(-1, len(square))
    slopes = -(records.numbers[records.present][:, : len(square)] + z @ square)  # type: ignore[attr-defined]
    return least_dual(blocks_of(program, program.template, records, slopes), taus)


def _optimum(whole: LinearProgram, square: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) where the quadratic program has its optimum, by OSQP to 1e-9."""
    import osqp

    people = (whole.size - 1) // len(square)
    bend = kron(diags_array(np.ones(people)), csc_array(np.triu(square)), format="csc")
    ends = np.append(bend.indptr, bend.indptr[-1])
    bend = csc_matrix((bend.data, bend.indices, ends), shape=(whole.size, whole.size))
    held = csc_array((np.ones(1), ([0], [whole.size - 1])), shape=(1, whole.size))
    rows = csc_matrix(vstack([whole.coupling, whole.personal, held]))
    floor = whole.supply if whole.equations else np.full(len(whole.supply), -np.inf)
    solver = osqp.OSQP(algebra="builtin")
    solver.setup(bend, -whole.objective, rows, np.concatenate([floor, whole.low, [1.0]]),
                 np.concatenate([whole.supply, whole.high, [1.0]]), verbose=False, eps_abs=1e-9, eps_rel=1e-9,
                 max_iter=200_000, polishing=True)
    found = solver.solve(raise_error=False)
    if found.info.status_val != osqp.SolverStatus.OSQP_SOLVED:
        raise SolverFailed("check_tau", f"OSQP ended with {found.info.status}")
    return np.asarray(found.x)

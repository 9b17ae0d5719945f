"""`ConvexProgram`: a program in which all participants share a template. The template is the program of one
participant, written in cvxpy and compiled to arrays.

Source: Wu 2017, Definition 5.3.1; spec convex_programs 1 and 8.

`check_tau` compares a declared dual bound tau with public or invented records.

A dual bound tau holds for an instance, a set of records, if and only if there are optimal prices that are each at most
the tau of their constraint. For quadratic values, prices are optimal if and only if they are optimal for the
linearisation of the values at the optimum. So a linear program finds the smallest multiple of tau that bounds some
optimal prices, even for quadratic values.

A check of some instances proves nothing about other instances. The check can only show that a declared tau is too
small.

Source: spec convex_programs 1 (tau, corrected characterisation) and 8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix, diags_array, kron, vstack

from confide.contract.checks import non_negative, whole
from confide.contract.digests import canonical, digest
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.programs.convex.public_bounds import Extent, nothing_at_zero
from confide.programs.convex.quadratic import QuadraticRecords, Solving
from confide.programs.convex.shapes import Shape, blocks_of, linear_program_of, linear_records, recognised, vertices
from confide.programs.convex.template import Template, value_units
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT, Constants
from confide.programs.linear import LinearProgram
from confide.programs.program import Program, ProgramRecords
from confide.programs.slots import collected
from confide.programs.solving import least_dual
from confide.programs.tables import bad_rows, numbers, refused_or_null, row
from confide.tables._cells import decimals

__all__ = ["ConvexProgram", "TauCheck", "check_tau"]

# ---- compiled program

_STEP = 2.0**-LOAD_BITS
_MOST_TERMS = 2.0**20  # times 2^40 it is inside 64 bits, and a quarter of it times 2^44
_MOST_SOLVES = 1e7
_MOST_UNITS = 2**31 - 1
_TURN = (math.sqrt(5.0) - 1.0) / 2.0
_MISS = 2.0**-18  # of its own rows, what a solver may miss


@wire("ConvexProgram", "people supply tau template extent accuracy")
@dataclass(frozen=True, eq=False)
class ConvexProgram(Program):
    """A program of n people with the same template and different records. The function `convex_program` makes programs
    of this class.

    For a template without a special shape (`shapes`), the solver OSQP finds responses, and weak duality proves each
    response to be within `oracle_error` of the best response. A response without this proof, or beyond a declared
    bound, is replaced by the null action, both in the run and when a participant computes their share. All promises
    refer to the program in which a participant with a null response has nothing. The constraints of the template are
    met up to about 2^-18. A participant's computation gives the same bits as the run with the same version of OSQP on
    the same kind of machine. On another kind of machine, responses may differ in the last rounded digit, 2^-20.

    An action is 0 followed by the participant's variables, in units of 2^-20. The null action is all -1. A record is a
    mapping from the name of each field to an array of the field's shape. The data of all slots are a mapping from the
    same names to arrays with one more dimension, the slot, in first place.

    Raises:
        InvalidInput: tau is missing, a number is out of range, or actions need more than 32 bits.
    """

    template: Annotated[Template, Parameter("program of one participant, as arrays")] = field(kw_only=True)
    extent: Annotated[Extent, Parameter("largest values and contributions, over the public ranges")] = field(
        kw_only=True)
    accuracy: Annotated[float, Parameter(
        "largest loss of a solver's response against the best response, as a share of the largest value", above=0,
        at_most=1)] = field(default=2.0**-18, kw_only=True)

    def __post_init__(self) -> None:
        if self.tau is None:
            raise InvalidInput(
                "tau", "is not declared, and without a dual bound no promise is possible",
                "must be the largest increase of the optimum by one unit of excess. If everybody may have nothing and "
                "every non-zero piece adds at least L, this is the largest value divided by L; check_tau tests a bound "
                "on synthetic records")
        super().__post_init__()
        if not self.extent.signed:
            for one in self.supplies:
                non_negative("supply", one)
        largest = self._largest_sum_of_terms
        if largest > _MOST_TERMS:
            raise InvalidInput("coupling", f"has terms that add up to {largest:.4g}",
                               f"must be at most {_MOST_TERMS:.4g} for one participant; measure rows in larger units")

    def _fits(self) -> None:
        if max(np.abs(self._extremes).max(), 1.0) * LOAD_UNIT > _MOST_UNITS:
            raise InvalidInput("constraints", f"let a variable be {np.abs(self._extremes).max():.4g}",
                               f"must be at most {_MOST_UNITS // LOAD_UNIT}; measure the variable in larger units")

    @property
    def _largest_sum_of_terms(self) -> float:
        """Largest sum of the absolute terms of a contribution, or four times their price if that is larger."""
        t, shape = self.template, self.shape
        if shape is None:
            return max(self.extent.entry, self.extent.total)
        most = np.maximum(*map(np.abs, t.ranges))
        needs = np.where(shape.pieces >= 0, most[t.entries][shape.pieces] / np.abs(shape.signs)[:, None], 0.0)
        sizes = np.maximum(np.abs(t.lower), np.abs(t.upper))[t.wanted]
        fixed = most[t.limits][shape.fixed] / np.abs(shape.signs)
        priced = (needs.T @ (2.0 * np.array(self.taus))).max(initial=0.0)
        return float(max((needs @ sizes + fixed).max(), needs.max(initial=0.0), 4.0 * priced))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _digest(self) -> str:
        return digest(canonical(encode(self, {})))

    @property
    def _extremes(self) -> NDArray[np.float64]:
        t = self.template
        return np.concatenate([t.lower[t.wanted], t.upper[t.wanted]])

    # ---- public parameters

    @property
    def rows(self) -> int:
        return len(self.template.added)

    @property
    def width(self) -> int:
        return 1 + len(self.template.wanted)

    @property
    def scale(self) -> int:
        return LOAD_UNIT

    @cached_property
    def shape(self) -> Shape | None:
        """The special shape of the template by which responses are computed exactly; None for a template whose
        responses a solver finds.
        """
        return recognised(self.template)

    @cached_property
    def nothing(self) -> bool:
        """Whether every participant may have x = 0, with value 0 and contribution 0."""
        return nothing_at_zero(self.template)

    @property
    def linear(self) -> bool:
        return not self.template.quadratic.any()

    @property
    def always_answered(self) -> bool:
        return self.shape is not None

    @property
    def not_packing(self) -> str:
        return super().not_packing and (
            "for some record x = 0 is not allowed, has a value, or adds to a row" if not self.nothing
            else super().not_packing)

    @property
    def most_responses(self) -> float:
        return math.inf if self.shape is not None else _MOST_SOLVES

    @cached_property
    def constants(self) -> Constants:
        found = self.extent
        slack = self._load_slack
        entry = _up(found.entry + float(slack.max()))
        total = min(_up(found.total + float(slack.sum())), entry * self.rows)
        if not entry > 0:
            raise InvalidInput("coupling", "is zero for every record", "some record must be able to add to the row")
        reach = self.people * entry
        wide = max(reach, *self.supplies) if not found.signed else reach + max(map(abs, self.supplies))
        # A solver's response that is worth less than its price becomes nothing: so none is ever worth less than 0.
        least = 0.0 if self.shape is None and self.nothing and not found.signed else -_up(-found.least)
        packing = bool(self.nothing and not found.signed and least >= 0.0)
        return Constants(
            rows=self.rows, largest_entry=entry, largest_sum=total, least_entry=self._least_entry,
            most_value=_up(found.most), least_value=least, width=wide, tau=self.tau,  # type: ignore[arg-type]
            signed=found.signed, packing=packing, step_scale=None if found.signed else (reach,) * self.rows)

    @cached_property
    def _load_slack(self) -> NDArray[np.float64]:
        """Largest amount that rounding may add to a contribution, shape (k,)."""
        if self.shape is not None and self.shape.whole:
            low, high = self.template.ranges
            ends = np.concatenate([one[self.template.columns + 1 :] for one in (low, high)]) * LOAD_UNIT
            return np.zeros(self.rows) if bool((ends == np.rint(ends)).all()) else np.full(
                self.rows, _STEP * (1.0 + float(self.template.upper[self.template.wanted].sum())))
        slack = (self.extent.load_slopes + 1.0) * _STEP
        return slack if self.shape is None else slack + _STEP * float(self.template.upper[self.template.wanted].sum())

    @property
    def _least_entry(self) -> float:
        """Smallest positive entry Lmin of a contribution, where every vertex has one whole good and its contribution is
        the same for all records.
        """
        if self.shape is None or not self.shape.single or not self.nothing:
            return 0.0
        used = self.shape.pieces[self.shape.pieces >= 0]
        if self.template.varying[self.template.entries][used].any():
            return 0.0
        sizes = np.abs(self.template.constants[self.template.entries][used])
        return float(sizes[sizes > 0].min())

    @cached_property
    def oracle_error(self) -> float:
        """Largest amount, in units of value, by which a response may be worse than the best response, because of
        rounding and of the solver.
        """
        if self.shape is not None and self.shape.whole:
            return 0.0
        rounded = self.extent.value_slope * _STEP + 1.0 / PRICE_UNIT + 2.0 * _STEP * math.fsum(
            tau * (slope + 1.0) for tau, slope in zip(self.taus, self.extent.load_slopes.tolist(), strict=True))
        return rounded if self.shape is not None else rounded + self.accuracy * max(self.extent.most, _MISS)

    @cached_property
    def _solving(self) -> Solving:
        t, one = self.template, self.constants
        most = np.maximum(*map(np.abs, t.ranges))
        sums = np.zeros(len(t.equal))  # how far rounding of x moves a row
        np.add.at(sums, t.entry_rows, most[t.entries] * self.extent.slopes[t.entry_columns])
        return Solving(template=t, error=self.oracle_error, entry=one.largest_entry, total=one.largest_sum,
                       signed=one.signed, nothing=self.nothing,
                       tolerance=_MISS + _STEP * float(sums.max(initial=0.0)))

    # ---- records

    @property
    def record_fields(self) -> Mapping[str, tuple[int, ...]]:
        return dict(zip(self.template.names, self.template.shapes, strict=True))

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: a mapping from each field to an array whose first dimension is n, with each number in its range.
            unusable: treatment of a bad row, "refuse" or "null".
        """
        t = self.template
        given = _fields(data, t.names)
        theta, bad = np.empty((self.people, len(t.low))), np.zeros(self.people, dtype=bool)
        at = 0
        for name, shape in zip(t.names, t.shapes, strict=True):
            table = decimals(numbers(name, given[name], (self.people, *shape), unusable)).reshape(self.people, -1)
            low, high = t.low[at : at + table.shape[1]], t.high[at : at + table.shape[1]]
            wrong = bad_rows(np.where((table >= low) & (table <= high), 0.0, np.nan), 0.0, 0.0)
            refused_or_null(name, wrong, f"each number must be in its range, {_range(low, high)}", unusable)
            theta[:, at : at + table.shape[1]] = table
            bad |= wrong
            at += table.shape[1]
        theta[bad] = self._made_up(np.flatnonzero(bad))
        return self._records(theta, ~bad)

    def one(self, record: Any) -> ProgramRecords:
        """One participant's record, checked without any other record.

        Args:
            record: a mapping from each field to an array of its shape; None for a slot without a record.
        """
        t = self.template
        if record is None:
            return self._records(self._made_up(np.zeros(1, dtype=np.int64)), np.zeros(1, dtype=bool))
        given, theta, at = _fields(record, t.names), np.empty((1, len(t.low))), 0
        for name, shape in zip(t.names, t.shapes, strict=True):
            size = math.prod(shape)
            low, high = t.low[at : at + size], t.high[at : at + size]
            found = row(name, given[name], shape, float(low.min()), float(high.max())).reshape(-1)
            if not bool(((found >= low) & (found <= high)).all()):
                raise InvalidInput(name, "holds a number outside its range", f"each must be in {_range(low, high)}")
            theta[0, at : at + size] = found
            at += size
        return self._records(theta, np.ones(1, dtype=bool))

    def trial_records(self, count: int) -> ProgramRecords:
        """Artificial records at fixed points inside the public ranges. No slot is empty, so that each response needs a
        call of the solver.

        Args:
            count: number of records.
        """
        made_up = self._made_up(np.arange(whole("count", count, at_least=1)))
        return self._records(made_up, np.ones(count, dtype=bool))

    def _made_up(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Fixed public points inside the ranges, one for each place, shape (m, numbers of a record).

        A slot without a record also has a fixed public point inside the ranges. A solve at a corner of the ranges would
        be easier than most, so the duration of a round would reveal the number of empty slots. The response of an empty
        slot is set to null after its solve.
        """
        t = self.template
        turns = _TURN * np.sqrt(np.arange(2, len(t.low) + 2))  # irrational: each number of a record goes its own way
        return np.asarray(t.low + (places[:, None] + 1) * turns % 1.0 * (t.high - t.low))

    def _records(self, theta: NDArray[np.float64], present: NDArray[np.bool_]) -> ProgramRecords:
        if self.shape is not None:
            return linear_records(self.template, self.shape, theta, present)
        return QuadraticRecords(people=len(theta), present=present, numbers=self.template.numbers(theta))

    # ---- what people do at prices

    def respond(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        if self.shape is None:
            return self._solving.respond(records, prices)
        out = vertices(self.shape, records, prices, nothing=self.nothing)
        one, loads = self.constants, np.abs(self.contributions(records, out))
        fits = (loads <= one.largest_entry * LOAD_UNIT).all(axis=1) & (loads.sum(axis=1) <= one.largest_sum * LOAD_UNIT)
        out[~fits] = -1
        return out

    def contributions(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        there = actions[:, 0] >= 0
        if self.shape is None:
            loads = self._solving.added(self._completed(records, actions))[0]
        else:
            exact = np.einsum("mka,ma->mk", records.needs, actions[:, 1:].astype(np.int64))
            loads = records.fixed - (-exact >> LOAD_BITS)  # rounded up
        return np.where(there[:, None], loads, 0)

    def values(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        there = actions[:, 0] >= 0
        if self.shape is None:
            worth = value_units(-self.template.cost(records.numbers, self._completed(records, actions)))
        else:
            exact = np.einsum("ma,ma->m", records.worth, actions[:, 1:].astype(np.int64))
            worth = records.base + (exact >> LOAD_BITS)
        return np.where(there, worth, 0)

    def _completed(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.float64]:
        return self.template.completed(records.numbers, actions[:, 1:] / LOAD_UNIT)

    def describe(self, action: NDArray[np.int32]) -> Any:
        """List of the values of the participant's variables in natural units; empty for the null action.

        Args:
            action: (width,) action.
        """
        return [] if action[0] < 0 else [float(one) / LOAD_UNIT for one in action[1:]]

    def average(self, share: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
        """A share as a mapping from each variable to an array. If the share is an average, the array is the mean over
        the main rounds. If the share is one action, the array is the variable's value.

        The null action is converted to zeros. Variables without a name of their own are called x0, x1 and so on, in the
        order in which they first occur in the value, the coupling and the constraints.

        Args:
            share: share of any mechanism, as its `decode` returns it, or as a row of `outcome.shares`.

        Raises:
            InvalidInput: the argument is no share of this program.

        Example:
            >>> import cvxpy as cp
            >>> from confide.programs.convex import convex_program
            >>> heat, worth = cp.Variable((2, 1), nonneg=True, name="heat"), cp.Parameter()
            >>> program = convex_program(3, 2.0, value=worth * cp.sum(heat), coupling=cp.sum(heat),
            ...                          constraints=[heat <= 1], record={"worth": (worth, 0, 1)}, tau=1.0)
            >>> unit = 2**20
            >>> program.average({"actions": [0, unit, 0, 0, unit, unit, -1, -1, -1], "times": [2, 1, 1]})
            {'heat': array([[0.75],
                   [0.25]])}
            >>> program.average({"action": [1.0, 0.5], "price": 0.25})["heat"].tolist()
            [[1.0], [0.5]]
        """
        names, shapes, size = self.template.variables, self.template.variable_shapes, self.width - 1
        try:
            if "actions" in share:
                played = np.array(share["actions"], dtype=np.int64).reshape(-1, self.width)
                times = np.array(share["times"], dtype=np.int64)
                if not times.sum() > 0:
                    raise ValueError
                mean = times @ np.where(played[:, :1] < 0, 0, played[:, 1:]) / (LOAD_UNIT * times.sum())
            else:
                had = np.array(share["action"], dtype=np.float64)
                mean = had.reshape(size) if len(had) else np.zeros(size)
        except (KeyError, TypeError, ValueError):
            raise InvalidInput("share", "is not a response of this program",
                               f"must have actions of {self.width} numbers each and times, or an action") from None
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        return {name: part.reshape(shape)
                for name, shape, part in zip(names, shapes, np.split(mean, ends), strict=True)}

    def linear_program(self, records: Any) -> LinearProgram:
        """The whole program as a linear program for a solver, where values are linear.

        Raises:
            InvalidInput: the values are quadratic.
        """
        return linear_program_of(self, self.template, self.shape, records)


def _fields(data: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    """The given mapping, checked to have exactly the given fields."""
    if not isinstance(data, Mapping):
        raise InvalidInput("records", f"{type(data).__name__} is not a mapping", f"must have {', '.join(names)}")
    if set(data) != set(names):
        raise InvalidInput("records", f"have {', '.join(map(str, data))}", f"must have {', '.join(names)}")
    return data


def _range(low: NDArray[np.float64], high: NDArray[np.float64]) -> str:
    return f"[{low.min():g}, {high.max():g}]"


def _up(number: float) -> float:
    """A number rounded up to the grid. A number that exceeds a grid point by no more than a solver's numerical error is
    rounded down to this point.
    """
    return math.ceil(number * LOAD_UNIT - 0.125) / LOAD_UNIT


# ---- tau check

_NEAR = 1e-4  # relative: of a quadratic optimum that a solver found


@dataclass(frozen=True, kw_only=True)
class TauCheck:
    """Result of the check of a declared tau on some public instances, each a set of records of all slots.

    Args:
        declared: (k,) declared tau of each constraint.
        multiples: for each instance, the smallest number t such that t times the declared tau is a dual bound of the
            instance.
    """

    declared: tuple[float, ...]
    multiples: tuple[float, ...]

    @property
    def largest(self) -> float:
        """The smallest multiple of the declared tau that is a dual bound of all instances of the check. A number above
        1, beyond numerical errors, means that the declared tau is too small.
        """
        return max(self.multiples)

    @property
    def needed(self) -> tuple[float, ...]:
        """The smallest tau, in the declared proportions, that is a dual bound of all instances of the check, shape
        (k,).
        """
        return tuple(self.largest * one for one in self.declared)

    @property
    def refuted(self) -> bool:
        """Whether some instance needs a larger tau than the declared one. If False, nothing is proved about other
        records.
        """
        return self.largest > 1.0 + _NEAR


def check_tau(program: ConvexProgram, instances: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> TauCheck:
    """Compare a declared dual bound tau with public or invented records. Private records must never be used.

    Args:
        program: program with the declared tau to check.
        instances: public or invented records of all slots, in a form that `program.read` accepts, or a list of such
            sets of records.

    Raises:
        InvalidInput: there are no records, or a record is bad.
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
        raise InvalidInput("instances", "the list is empty", "must have at least one instance")
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
    """The point at which the quadratic program has its optimum, by OSQP to 1e-9, shape (m,)."""
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

"""The least distortion D*(epsilon) under a privacy level epsilon, by linear programming with a certificate. A dual
bound, which holds for any solver output, bounds D*(epsilon) from below. The distortion of any channel with a measured
level bounds D*(epsilon) from above.

Full priors of up to 256 databases are solved over all pairs of databases, and exchangeable priors over joint types.

Source: Wang 2016, (2.9) and (2.10); spec privacy_notions 3 and 6.

The full program finds the least distortion of any channel under a level, for any prior with few databases.

The variables of the program are Q[x, y], the probability of output y for database x. Each output y is a block of ratio
constraints between neighbouring databases. The constraints bound ratios of Q for differential privacy, and of p(x) Q[x,
y] for identifiability. The equalities sum_y Q[x, y] = 1 couple the blocks.

Source: Wang 2016, (2.9) and (2.10); spec privacy_notions 3 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.channels.channel import Channel, FiniteChannel, JointTypeChannel, joint_types
from confide.channels.notions import Level
from confide.channels.priors import Exchangeable, Prior, compositions
from confide.channels.solvers.block_program import Midway, solve
from confide.channels.solvers.ratio_program import BlockProgram, lower_bound, repaired
from confide.contract.errors import Unsupported

__all__ = [
    "ProgramPoint",
    "as_exchangeable",
    "check_size",
    "distances",
    "full_program",
    "neighbours",
    "program_seconds",
    "solve_program",
    "types_program",
]

# ---- full program

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]


def neighbours(letters: int, rows: int) -> tuple[_Index, _Index]:
    """All pairs of databases that differ in one row, each pair once: two arrays of positions, each of shape (N n
    (m-1)/2,), where N = m^n.

    Example:
        >>> [each.tolist() for each in neighbours(2, 2)]
        [[0, 1, 0, 2], [2, 3, 1, 3]]
    """
    x = np.arange(letters**rows)
    first, second = [], []
    for i in range(rows):
        stride = letters ** (rows - 1 - i)
        digit = (x // stride) % letters
        for step in range(1, letters):
            lower = x[digit + step < letters]
            first.append(lower)
            second.append(lower + step * stride)
    return np.concatenate(first), np.concatenate(second)


def distances(letters: int, rows: int) -> _Vector:
    """Number of rows in which two databases differ, for all pairs of databases, shape (N, N)."""
    x = np.arange(letters**rows)
    out = np.zeros((len(x), len(x)))
    for i in range(rows):
        digit = (x // letters ** (rows - 1 - i)) % letters
        out += digit[:, None] != digit
    return out


def full_program(prior: Prior, epsilon: float, notion: Level) -> tuple[BlockProgram, _Vector]:
    """The program over Q for a level, with one block for each output, and a starting point strictly inside its ratio
    constraints. The starting point is the kernel at half of the level for differential privacy, and the uniform release
    for identifiability.

    For identifiability, the constraints bound ratios of p(x) Q[x, y] in place of ratios of Q. The factor of a
    constraint between the databases x and x' is therefore multiplied by p(x')/p(x).
    """
    law, size = prior.vector(), prior.cells
    d, (first, second) = distances(prior.letters, prior.records), neighbours(prior.letters, prior.records)
    at = (size * np.arange(size))[:, None]
    up = down = np.full(len(first), math.exp(epsilon))
    inside = np.ones((size, size))
    if notion == "identifiability":
        up, down = up * (law[second] / law[first]), down * (law[first] / law[second])
    else:
        inside = np.exp(-0.5 * epsilon * d)
    program = BlockProgram(
        sizes=np.full(size, size), cost=(law * d).reshape(-1), rows=np.tile(np.arange(size), size),
        target=np.ones(size), first=(at + first).reshape(-1), second=(at + second).reshape(-1),
        up=np.tile(up, size), down=np.tile(down, size))
    return program, np.asarray((inside / inside[0].sum()).reshape(-1))


# ---- programs


def types_program(prior: Exchangeable, epsilon: float, notion: Level) -> tuple[BlockProgram, NDArray[np.float64]]:
    """The program over u(T) = Pr[joint type T | input] for a level, and a starting point strictly inside its ratio
    constraints. The starting point is the kernel at half of the level for differential privacy, and the uniform release
    for identifiability.

    Raises:
        Unsupported: too many joint types.
    """
    types = joint_types(prior.letters, prior.records)
    first, second, over, under = types.neighbours
    ratio = over / under
    up, down = math.exp(epsilon) * ratio, math.exp(epsilon) / ratio
    log_u = types.log_sequences - prior.records * math.log(prior.letters)
    if notion == "identifiability":
        gain = np.exp(prior.log_sequence[types.inputs[second]] - prior.log_sequence[types.inputs[first]])
        up, down = up * gain, down / gain
    else:
        log_u = types.log_sequences - 0.5 * epsilon * types.changed
        log_u = log_u - prior.records * math.log1p((prior.letters - 1) * math.exp(-0.5 * epsilon))
    program = BlockProgram(
        sizes=np.bincount(types.outputs), cost=np.exp(prior.log_types)[types.inputs] * types.changed, rows=types.inputs,
        target=np.ones(len(prior.types)), first=first, second=second, up=up, down=down)
    return program, np.exp(log_u)


_INSIDE = 1e-12
"""Difference between the level and the smaller level at which the program is solved, so that the rounded channel does
not exceed the level.
"""

_MOST_VARIABLES = 70_000
_MOST_WORK = 6e9  # multiplications in one step
_USUAL_STEPS, _DENSE_RATE, _BANDED_RATE = 50, 3e9, 4e8  # steps of a program; multiplications in a second


@dataclass(frozen=True, eq=False)
class ProgramPoint:
    """The least distortion D*(epsilon) at one level.

    Args:
        epsilon: the privacy level, in nats.
        lower: certified lower bound of the distortion of every channel with this privacy level, in changed rows.
        upper: distortion of `channel`, an upper bound of D*(epsilon), in changed rows.
        slope: approximate derivative of D* with respect to the level, in changed rows per nat.
        channel: channel of at most the given level.
        midway: intermediate point of the solver, from which the program at a nearby level is solved faster.
    """

    epsilon: float
    lower: float
    upper: float
    slope: float
    channel: FiniteChannel
    midway: Midway
    _program: BlockProgram
    _prices: NDArray[np.float64]
    _error: float

    def lower_at(self, epsilon: float) -> float:
        """A certified lower bound of D* at a nearby level, computed from the dual prices of this point."""
        return lower_bound(self._program.loosened(epsilon - self.epsilon), self._prices, self._error)


def as_exchangeable(prior: Prior) -> Prior:
    """The prior as an `Exchangeable` prior over letter counts, if the prior is exchangeable and has two or more rows
    and at most 2^20 databases. All other priors are returned unchanged.

    Example:
        >>> from confide.channels.priors import FullPrior
        >>> as_exchangeable(FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2))
        Exchangeable(<3 types>, letters=2, records=2)
    """
    if isinstance(prior, Exchangeable) or prior.records == 1 or prior.cells > 2**20:
        return prior
    law, m, n = prior.vector(), prior.letters, prior.records
    cube = law.reshape((m,) * n)
    if not (cube == cube.swapaxes(0, 1)).all() or not (cube == np.moveaxis(cube, 0, -1)).all():
        return prior  # a swap and a rotation generate all permutations
    powers = m ** np.arange(n - 1, -1, -1)
    at = [int(np.repeat(np.arange(m), counts) @ powers) for counts in compositions(n, m)]
    with np.errstate(divide="ignore"):
        return Exchangeable(np.log(law[at]), m, n)


def check_size(prior: Prior) -> None:
    """Raise an error if the linear program of a prior is too large.

    Raises:
        Unsupported: the program is too large; the message states its size and the limit.
    """
    if isinstance(prior, Exchangeable):
        joint_types(prior.letters, prior.records, _MOST_VARIABLES)
    elif prior.cells**2 > _MOST_VARIABLES:
        raise Unsupported("prior", f"a program over {prior.cells:,} x {prior.cells:,} pairs of databases",
                          "at most 256 databases; or an exchangeable law, or independent rows")


def program_seconds(prior: Prior) -> float:
    """Approximate time to solve one linear program on a usual machine, in seconds, computed from sizes alone.

    Example:
        >>> from confide.channels.priors import FullPrior
        >>> [round(program_seconds(FullPrior([1 / 2**n] * 2**n, 2, n))) for n in (4, 8)]
        [0, 72]
    """
    m, n = prior.letters, prior.records
    if not isinstance(prior, Exchangeable):
        return _USUAL_STEPS * float(prior.cells) ** 4 / _DENSE_RATE
    return _USUAL_STEPS * float(math.comb(n + m * m - 1, n)) * math.comb(n + m - 1, n) ** 2 / _BANDED_RATE


def solve_program(
    prior: Prior, epsilon: float, notion: Level, *, tolerance: float = 1e-9, midway: Midway | None = None,
    progress: Callable[[float], None] | None = None,
) -> ProgramPoint:
    """Find the least distortion under a privacy level, with certified bounds.

    Args:
        prior: prior with few databases, or an exchangeable prior as `as_exchangeable` returns it.
        epsilon: level in nats, > 0; for identifiability above eps_X, the prior's own level.
        notion: "dp" or "identifiability".
        tolerance: relative tolerance of the solver. The certified bounds are valid at any tolerance.
        midway: intermediate point of the solution at a nearby level; None to start afresh.
        progress: function that is called with the fraction of the work that is done, in [0, 1].

    Raises:
        Unsupported: the program is too large.
        SolverFailed: no channel could be made from the solver's result.

    Example:
        >>> from confide.channels.priors import FullPrior
        >>> point = solve_program(FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2), 0.6, "dp")
        >>> round(point.lower, 6), round(point.upper, 6)
        (0.59393, 0.59393)
    """
    check_size(prior)
    if isinstance(prior, Exchangeable):
        program, start = types_program(prior, epsilon, notion)
        # Costs and factors of joint types are exponentials of logs of many digits.
        error = (64 + 8 * prior.records) * 2.0**-53
    else:
        program, start = full_program(prior, epsilon, notion)
        error = 8 * 2.0**-53
    if program.work > _MOST_WORK:
        raise Unsupported("prior", f"a program over {len(start):,} joint types", "use fewer rows or letters")
    inner = program.loosened(-_INSIDE)
    found = solve(inner, start, tolerance, midway=midway, progress=progress)
    values = repaired(inner, found.values, 0)
    channel: FiniteChannel
    if isinstance(prior, Exchangeable):
        channel = JointTypeChannel(joint_types(prior.letters, prior.records), values)
    else:
        channel = Channel(values.reshape(prior.cells, -1).T, prior.letters, prior.records)
    return ProgramPoint(epsilon, lower_bound(program, found.prices, error), math.fsum(program.cost * values),
                        found.slope, channel, found.midway, program, found.prices, error)

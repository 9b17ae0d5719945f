"""The program over joint types: for an exchangeable prior, C(n + m^2 - 1, m^2 - 1) variables in the place of m^(2n).

Source: spec privacy_notions 6 ("exchangeable prior").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.channels.joint_types import joint_types
from confide.channels.notions import Level
from confide.channels.priors import Exchangeable
from confide.channels.solvers.ratio_program import BlockProgram

__all__ = ["types_program"]


def types_program(prior: Exchangeable, epsilon: float, notion: Level) -> tuple[BlockProgram, NDArray[np.float64]]:
    """The program of a level over u(T) = Pr[joint type T | input], and a point inside it (the kernel at half of the
    level; for identifiability the uniform release).

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

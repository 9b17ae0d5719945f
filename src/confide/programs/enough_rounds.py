"""How many rounds prices need to arrive and to follow the noise, from public sizes alone.

A row whose load is twice its supply b raises its price by 2 tau b/(scale
sqrt(B)) in each of B rounds, so it takes (scale/(2b))^2 of them to tau; half as many main rounds then follow the noise.
Where everybody together wants but a share f more than all rows hold, prices are pushed up f times as hard, and it takes
(scale/(2 f b))^2. Measured with unit demand, n = 20,000, epsilon = 1, tastes around popularities of .3 to 1, three
draws of them: the largest excess as a share of supply (planned: what the certificate adds for noise alone):

    goods  supply    burn-in + main rounds: excess                               planned
    2      n/(2k)    4 + 2: 6.4%, 8 + 4: 12%, 16 + 8: .1%                        .3%
    5      n/(1.2k)  16 + 32: 7.3%, 32 + 32: 3.2%, 64 + 64: .5%, 128 + 64: .1%   .4%
    5      n/(1.05k) 173 + 86: 3.2%, 690 + 345: .3%, 2758 + 1379: .1%            .4%
    5      n/(1.02k) 163 + 81: 1.9%, 651 + 325: 1.4%, 2602 + 1301: .1%           .4%
    10     n/(2k)    32 + 64: 12%, 64 + 64: .6%, 100 + 200: .3%                  1.6%
    10     n/(1.2k)  100 + 200: 6.9%, 200 + 200: 2.1%, 400 + 200: .3%            1.0%
    10     n/(1.05k) 690 + 345: 3.5%, 2759 + 1379: .2%                           .8%
    10     n/(1.02k) 651 + 325: 2.0%, 2604 + 1302: .7%                           .8%
    10     n/k       100 + 200: 2.4%, 256 + 128: .8%, 400 + 200: .3%             .8%

Hence f is counted as .1 at least (and 1 at most), as .2 where rows hold all that everybody can want, so that prices
need not rise together; and there are no fewer rounds than 32 + 16.
With unit demand, n = 20,000, b = n/(2k), epsilon = 1 and steps by n, 200 + 100 rounds met the plan at k = 10
(certificate 1.7% against 1.8%), and at k = 30 they left 55% of excess where 900 + 900 left .5% (certificate 5.8%
against 5.9%). So families of goods take larger steps where there are many goods (`sets_of_goods`): at k = 30 they leave
4.7% of the worst row after 200 + 100 rounds. AdaGrad arrived in 300 rounds at 10, 30 and 100 goods, but lost 1.4%, 3.5%
and 12.5% of the optimum.

Source: spec convex_programs 2 and 9.2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.programs.dual_dynamics import Step
from confide.programs.program import Program

__all__ = ["holds", "limited", "needed_rounds", "usual_rounds"]

_USUAL = {"burn_in": 100, "rounds": 200}
_MOST_ROUNDS = 40_000
_LEAST_PUSH, _NO_PUSH = 0.1, 0.2  # f at least; and where nothing pushes all prices up
_LEAST_ROUNDS = (32, 16)  # burn-in and main rounds: with fewer, steps are so large that prices swing


def usual_rounds(
    program: Program, *, step: Step | None = None, start: tuple[float, ...] | None = None
) -> dict[str, int]:
    """What a mechanism's `burn_in` and `rounds` should be: enough, and at most 40,000 of each kind.

    Args:
        program: of any family.
        step: as of the mechanism.
        start: as of the mechanism.

    Example:
        >>> from confide.programs import UnitDemand
        >>> usual_rounds(UnitDemand(20_000, 333, goods=30))
        {'burn_in': 257, 'rounds': 200}
    """
    needed = needed_rounds(program, step=step, start=start)
    return {name: max(usual, min(_MOST_ROUNDS, number))
            for (name, usual), number in zip(_USUAL.items(), needed, strict=True)}


def needed_rounds(
    program: Program, *, step: Step | None = None, start: tuple[float, ...] | None = None
) -> tuple[int, int]:
    """Burn-in and main rounds, by the supplies and by how much more than them everybody together may want.

    Args:
        program: of any family.
        step: as of the mechanism; none are needed with AdaGrad.
        start: as of the mechanism; none are needed with prices to start from.
    """
    scale = program.constants.step_scale
    if step == "adagrad" or scale is None or start is not None:
        return 0, 1
    short = limited(program) & (np.array(program.supplies) > 0)
    if not short.any():
        return 0, 1
    held = holds(program)
    more = program.people * program.constants.largest_sum / float(held.sum()) - 1.0
    push = min(1.0, max(_LEAST_PUSH, more)) if more > 0.0 else _NO_PUSH
    most = float((np.array(scale) / (2.0 * push * held))[short].max()) ** 2
    return max(_LEAST_ROUNDS[0], math.ceil(most)), max(_LEAST_ROUNDS[1], math.ceil(most / 2.0))


def limited(program: Program) -> NDArray[np.bool_]:
    """(k,) rows that can be over at all."""
    if program.two_sided:
        return np.ones(program.rows, dtype=bool)
    return np.array(program.supplies) < program.people * program.constants.largest_entry


def holds(program: Program) -> NDArray[np.float64]:
    """(k,) what excess and margins are compared with: supply, or where it is 0 or less, or an equation, width."""
    supplies = np.array(program.supplies, dtype=np.float64)
    instead = program.two_sided | (supplies <= 0)
    return np.where(instead, program.constants.width,
                    np.minimum(supplies, program.people * program.constants.largest_entry))

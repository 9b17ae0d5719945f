"""What a participant gets, worked out a second time from her record and the billboard, round by round.

Nothing of the mechanisms' own decodes is used but responses, values and contributions of the program; sums are exact.

Source: spec convex_programs 2 (Algorithm 8), 5, 6.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from confide.privacy.public_randomness import public_number_of
from confide.programs.convex.compiled_program import ConvexProgram
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit
from confide.programs.true_dude import TrueDude

__all__ = ["Standing", "action_in", "own_share", "standing"]

_Action = tuple[int, ...]


class Standing(NamedTuple):
    """What a path of prices means to one participant; amounts in units of value times the program's scale.

    Args:
        played: her best response to each main round, in order.
        favourite: at the charged prices.
        value: of her average, times T.
        paid: for it, times T.
        most: value less price of her favourite.
    """

    played: tuple[_Action, ...]
    favourite: _Action
    value: int
    paid: int
    most: int


class _Own(NamedTuple):
    """One participant's record in a program."""

    program: Any
    record: Any

    def best(self, prices: Any) -> _Action:
        return tuple(self.program.respond(self.record, prices)[0].tolist())

    def value(self, action: _Action) -> int:
        return int(self.program.values(self.record, _row(action))[0]) * int(self.program.scale)

    def paid(self, action: _Action, prices: Any) -> int:
        """Of its contribution, in whole numbers of any size."""
        added = self.program.contributions(self.record, _row(action))[0].tolist()
        total: int = sum(load * price for load, price in zip(added, prices, strict=True))
        return total // (LOAD_UNIT // int(self.program.scale))

    def added(self, action: _Action) -> list[int]:
        found: list[int] = self.program.contributions(self.record, _row(action))[0].tolist()
        return found


def _row(action: _Action) -> Any:
    return np.array([action], dtype=np.int32)


def _charged(board: Any, burn_in: int) -> tuple[list[int], int]:
    """Average prices, to the nearest unit, halves to the even one; and T."""
    rows = [[int(price) for price in row] for row in board.prices[burn_in:]]
    return [round(Fraction(sum(column), len(rows))) for column in zip(*rows, strict=True)], len(rows)


def standing(mechanism: Dude, record: Any, board: Any) -> Standing:
    """What a path of prices means to a participant.

    Args:
        mechanism: whose path it is.
        record: hers, as it is: what things are worth to her.
        board: the billboard.
    """
    her = _Own(mechanism.program, mechanism.program.one(record))
    charged, _ = _charged(board, mechanism.burn_in)
    played = tuple(her.best(row) for row in board.prices[mechanism.burn_in :])
    prices = np.array(charged, dtype=np.int64)
    favourite = her.best(prices)
    counts = {action: played.count(action) for action in set(played)}
    return Standing(played, favourite, sum(often * her.value(action) for action, often in counts.items()),
                    sum(often * her.paid(action, charged) for action, often in counts.items()),
                    her.value(favourite) - her.paid(favourite, charged))


def own_share(mechanism: Dude, record: Any, index: int, board: Any) -> dict[str, Any]:
    """A participant's share.

    Args:
        mechanism: any of the family.
        record: hers.
        index: her place.
        board: the billboard.
    """
    program, rounds = mechanism.program, mechanism.rounds
    her = _Own(program, program.one(record))
    if isinstance(mechanism, TightenAndAudit) and not board.accepted:
        nothing = {"action": _described(program, (-1,) * program.width)}
        return nothing if mechanism.alpha is None else {**nothing, "price": 0.0}
    if isinstance(mechanism, TrueDude | TightDude | TightenAndAudit) and mechanism.alpha is not None:
        found = standing(mechanism, record, board)
        charged, _ = _charged(board, mechanism.burn_in)
        alpha = math.floor(Fraction(mechanism.alpha) * PRICE_UNIT * program.scale)
        unsatisfied = rounds * found.most - (found.value - found.paid) > rounds * alpha
        if not isinstance(mechanism, TrueDude):
            return _whole(mechanism, her, index, board, found, unsatisfied=unsatisfied)
        played = (found.favourite,) * rounds if unsatisfied else found.played
        paid = rounds * her.paid(found.favourite, charged) if unsatisfied else found.paid
        return {**_tallied(played), "price": paid / float(PRICE_UNIT * program.scale * rounds)}
    if not isinstance(mechanism, RoundDude | TightenAndAudit):
        return _tallied(tuple(her.best(row) for row in board.prices[mechanism.burn_in :]))
    action = her.best(board.prices[mechanism.burn_in + (public_number_of(board.public_seed, index) * rounds >> 32)])
    kept = isinstance(mechanism, TightenAndAudit) or not any(
        load > 0 and raised <= index for load, raised in zip(her.added(action), board.raised.tolist(), strict=True))
    return {"action": _described(program, action if kept else (-1,) * program.width)}


def _tallied(played: tuple[_Action, ...]) -> dict[str, Any]:
    counts: dict[_Action, int] = {}
    for action in played:
        counts[action] = counts.get(action, 0) + 1
    return {"actions": [one for action in counts for one in action], "times": list(counts.values())}


def _whole(
    mechanism: TightDude | TightenAndAudit, her: _Own, index: int, board: Any, found: Standing, *, unsatisfied: bool,
) -> dict[str, Any]:
    """One action, and its price."""
    program, rounds = mechanism.program, mechanism.rounds
    charged, _ = _charged(board, mechanism.burn_in)
    action = found.favourite if unsatisfied else found.played[public_number_of(board.public_seed, index) * rounds >> 32]
    price = her.paid(action, charged)
    if mechanism.payments == "scaled" and not unsatisfied:
        if found.paid > found.value or found.value == 0:
            action, price = (-1,) * program.width, 0
        else:
            price = her.value(action) // program.scale * found.paid // (found.value // program.scale)
    return {"action": _described(program, action), "price": price / float(PRICE_UNIT * program.scale)}


def _described(program: Any, action: _Action) -> Any:
    if isinstance(program, ConvexProgram):  # numbers, in the template's own units
        return [] if action[0] < 0 else [one / LOAD_UNIT for one in action[1:]]
    return action[0] if program.width == 1 else [one for one in action if one >= 0]


def action_in(program: Any, described: Any) -> np.ndarray:
    """(width,) the action that stands in a share.

    Args:
        program: whose action it is.
        described: the share's "action".
    """
    action = np.full(program.width, -1, dtype=np.int32)
    if isinstance(program, ConvexProgram):
        given = [0, *(round(one * LOAD_UNIT) for one in described)] if described else []
    else:
        given = [described] if program.width == 1 else list(described)
    action[: len(given)] = given
    return action

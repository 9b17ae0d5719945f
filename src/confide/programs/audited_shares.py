"""A second computation of each participant's share from their record and the billboard, round by round.

The computation uses only responses, values and contributions of the program, and no code of the mechanisms' own
`decode` methods. Sums are exact.

Source: spec convex_programs 2 (Algorithm 8), 5, 6.

The module also computes the gain from a lie where prices are charged. This gain has two parts: the gain of the best lie
on a fixed path of prices, and the additional gain from a change of the path.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, singledispatch
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from confide.audit import AuditRow, Concern, inject_fault
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.public_randomness import public_number_of
from confide.programs.audited_faults import ComplainsInVain
from confide.programs.audited_records import Pool, joined
from confide.programs.convex.compiled_program import ConvexProgram
from confide.programs.dual_dynamics import total_variation
from confide.programs.dude import Dude
from confide.programs.families.flow import Flow
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.incentives import additive_gain, audited_gain, loss_of_a_lie
from confide.programs.program import Program
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit
from confide.programs.true_dude import TrueDude

__all__ = [
    "Charging",
    "Standing",
    "action_in",
    "lie",
    "lie_rows",
    "own_share",
    "path_row",
    "standing",
    "vain_row",
    "worth",
]

# ---- audited shares

_Action = tuple[int, ...]


class Standing(NamedTuple):
    """Best responses of one participant along a path of prices, with their values and prices. Amounts are in units of
    2^-24/`program.scale` of value.

    Args:
        played: the participant's best response to each main round, in order.
        favourite: the participant's best response at the charged prices.
        value: value of the participant's average action, times the number T of main rounds.
        paid: price of the participant's average action, times T.
        most: value less price of the participant's favourite action, at the charged prices.
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
        """Price of the contribution of an action, computed in integers of any size."""
        added = self.program.contributions(self.record, _row(action))[0].tolist()
        total: int = sum(load * price for load, price in zip(added, prices, strict=True))
        return total // (LOAD_UNIT // int(self.program.scale))

    def added(self, action: _Action) -> list[int]:
        found: list[int] = self.program.contributions(self.record, _row(action))[0].tolist()
        return found


def _row(action: _Action) -> Any:
    return np.array([action], dtype=np.int32)


def _charged(board: Any, burn_in: int) -> tuple[list[int], int]:
    """Average prices, rounded to the nearest unit with halves to even, and the number T of main rounds."""
    rows = [[int(price) for price in row] for row in board.prices[burn_in:]]
    return [round(Fraction(sum(column), len(rows))) for column in zip(*rows, strict=True)], len(rows)


def standing(mechanism: Dude, record: Any, board: Any) -> Standing:
    """Best responses of one participant along a path of prices, with their values and prices.

    Args:
        mechanism: mechanism that made the path of prices.
        record: the participant's true record.
        board: billboard of the run.
    """
    own = _Own(mechanism.program, mechanism.program.one(record))
    charged, _ = _charged(board, mechanism.burn_in)
    played = tuple(own.best(row) for row in board.prices[mechanism.burn_in :])
    prices = np.array(charged, dtype=np.int64)
    favourite = own.best(prices)
    counts = {action: played.count(action) for action in set(played)}
    return Standing(played, favourite, sum(often * own.value(action) for action, often in counts.items()),
                    sum(often * own.paid(action, charged) for action, often in counts.items()),
                    own.value(favourite) - own.paid(favourite, charged))


def own_share(mechanism: Dude, record: Any, index: int, board: Any) -> dict[str, Any]:
    """A participant's share, computed from their record and the billboard.

    Args:
        mechanism: any mechanism of the family.
        record: the participant's record.
        index: the participant's place, in 0..n-1.
        board: billboard of the run.
    """
    program, rounds = mechanism.program, mechanism.rounds
    own = _Own(program, program.one(record))
    if isinstance(mechanism, TightenAndAudit) and not board.accepted:
        nothing = {"action": _described(program, (-1,) * program.width)}
        return nothing if mechanism.alpha is None else {**nothing, "price": 0.0}
    if isinstance(mechanism, TrueDude | TightDude | TightenAndAudit) and mechanism.alpha is not None:
        found = standing(mechanism, record, board)
        charged, _ = _charged(board, mechanism.burn_in)
        alpha = math.floor(Fraction(mechanism.alpha) * PRICE_UNIT * program.scale)
        unsatisfied = rounds * found.most - (found.value - found.paid) > rounds * alpha
        if not isinstance(mechanism, TrueDude):
            return _whole(mechanism, own, index, board, found, unsatisfied=unsatisfied)
        played = (found.favourite,) * rounds if unsatisfied else found.played
        paid = rounds * own.paid(found.favourite, charged) if unsatisfied else found.paid
        return {**_tallied(played), "price": paid / float(PRICE_UNIT * program.scale * rounds)}
    if not isinstance(mechanism, RoundDude | TightenAndAudit):
        return _tallied(tuple(own.best(row) for row in board.prices[mechanism.burn_in :]))
    action = own.best(board.prices[mechanism.burn_in + (public_number_of(board.public_seed, index) * rounds >> 32)])
    kept = isinstance(mechanism, TightenAndAudit) or not any(
        load > 0 and raised <= index for load, raised in zip(own.added(action), board.raised.tolist(), strict=True))
    return {"action": _described(program, action if kept else (-1,) * program.width)}


def _tallied(played: tuple[_Action, ...]) -> dict[str, Any]:
    counts: dict[_Action, int] = {}
    for action in played:
        counts[action] = counts.get(action, 0) + 1
    return {"actions": [one for action in counts for one in action], "times": list(counts.values())}


def _whole(
    mechanism: TightDude | TightenAndAudit, own: _Own, index: int, board: Any, found: Standing, *, unsatisfied: bool,
) -> dict[str, Any]:
    """Share with a single action, and its price."""
    program, rounds = mechanism.program, mechanism.rounds
    charged, _ = _charged(board, mechanism.burn_in)
    action = found.favourite if unsatisfied else found.played[public_number_of(board.public_seed, index) * rounds >> 32]
    price = own.paid(action, charged)
    if mechanism.payments == "scaled" and not unsatisfied:
        if found.paid > found.value or found.value == 0:
            action, price = (-1,) * program.width, 0
        else:
            price = own.value(action) // program.scale * found.paid // (found.value // program.scale)
    return {"action": _described(program, action), "price": price / float(PRICE_UNIT * program.scale)}


def _described(program: Any, action: _Action) -> Any:
    if isinstance(program, ConvexProgram):  # numbers, in the template's own units
        return [] if action[0] < 0 else [one / LOAD_UNIT for one in action[1:]]
    return action[0] if program.width == 1 else [one for one in action if one >= 0]


def action_in(program: Any, described: Any) -> np.ndarray:
    """The action in a share, shape (width,).

    Args:
        program: program that the action belongs to.
        described: value of the entry "action" of the share, from `program.describe`.
    """
    action = np.full(program.width, -1, dtype=np.int32)
    if isinstance(program, ConvexProgram):
        given = [0, *(round(one * LOAD_UNIT) for one in described)] if described else []
    else:
        given = [described] if program.width == 1 else list(described)
    action[: len(given)] = given
    return action


# ---- audited lies

Charging = TrueDude | TightDude | TightenAndAudit
"""Mechanisms that can charge prices. `TightenAndAudit` charges prices only if `alpha` is given."""

_PATHS, _PEOPLE, _LIES = 4, 4, 5
_LOW = 4.0
_ROOMY = 2.0**28
_SMALL = 1e-5  # of alpha, where nobody is reassigned


@singledispatch
def lie(_program: Program, _truth: Any, other: Any) -> Any:
    """A record that a participant could report in place of their true record. The reported record differs from the true
    one only in data that the participant may misstate, such as values, since contributions are verified.

    Args:
        _program: program that the records are for.
        _truth: the participant's true record.
        other: another record for the same program, from which the misstated values are taken.
    """
    return other


@lie.register
def _(_program: Knapsack, truth: Any, other: Any) -> Any:
    return np.concatenate([np.asarray(other)[:1], np.asarray(truth)[1:]])


@lie.register
def _(_program: Flow, truth: Any, other: Any) -> Any:
    return np.concatenate([np.asarray(truth)[:2], np.asarray(other)[2:]])


def lie_rows(mechanism: Charging, pool: Pool, measured: float, seed: int = 0, *, audit: float = 0.0) -> list[AuditRow]:
    """Two audit rows: the gain of the best lie on a fixed path of prices, and the total gain of a lie. The total gain
    includes the effect of a lie on the path, and on the result of an audit of the load.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
        pool: possible records of the mechanism's program, which serve as true records and as lies.
        measured: privacy loss of the path, measured by the fixed-transcript audit: mu for Gaussian noise, or rho for
            discrete Gaussian noise.
        seed: seed of the simulated people and of the noise.
        audit: privacy loss of the mechanism's audit of the load, as mu or rho like `measured`; 0 for a mechanism
            without such an audit.
    """
    path = path_row(mechanism, pool, seed)
    best, one = max(0.0, float(path.measured or 0.0)), mechanism.program.constants

    def moved(loss: float) -> float:
        squared = Fraction(loss) ** 2 if mechanism.law == "gaussian" else 2 * Fraction(loss)
        return total_variation(mechanism.law, loss_of_a_lie(one, mechanism.neighbours, squared))

    if isinstance(mechanism, TightenAndAudit):
        most = one.most_value if mechanism.payments == "scaled" else max(one.most_value, mechanism.highest_price)
        gain = audited_gain(alpha=best, most_value=one.most_value, path_variation=moved(measured),
                            audit_variation=moved(audit), most_utility=most)
    else:
        gain = additive_gain(best, one.most_value, moved(measured))
    return [path, AuditRow.at_most(
        "truthfulness: the gain from a lie, on average", mechanism.gain, gain,
        "the best lie on a path, and the total variation of the measured loss of "
        + ("path and audit" if isinstance(mechanism, TightenAndAudit) else "the path"),
        unit="in value", concern=Concern.INCENTIVES)]


def path_row(mechanism: Charging, pool: Pool, seed: int = 0) -> AuditRow:
    """Check that, on a fixed path of prices, no false report raises a participant's utility by more than alpha above
    the utility of the true report.

    The checked paths are paths of the mechanism's runs and random paths, because the bound holds for every path. Where
    a share is one publicly drawn action, the check uses the mean over all draws. If the mechanism has an audit of the
    load, the check assumes that the audit accepts the run, so that everybody receives their share.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`, with or without an injected fault.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
        seed: seed of the simulated people and of the noise.
    """
    draw, worst, asked = study_generator(seed, "lies"), 0.0, 0
    present = [record for record in pool.records if record is not None]
    for number in range(_PATHS):
        who = draw.integers(0, len(pool.records), mechanism.program.people)
        records = [pool.records[int(one)] for one in who]
        outcome = mechanism.run(joined(mechanism.program, records), Noise.simulated(seed * 1009 + number))
        board: Any = outcome.billboard
        if isinstance(mechanism, TightenAndAudit):
            board = replace(board, accepted=True)
        if number % 2:
            high = mechanism.program.highest_prices
            low = draw.random(board.prices.shape) ** _LOW  # where most people want something
            board = replace(board, prices=np.rint(low * high).astype(np.int64))
        for truth in (present[int(one)] for one in draw.integers(0, len(present), _PEOPLE)):
            honest = worth(mechanism, truth, board)
            lies = (lie(mechanism.program, truth, present[int(one)])
                    for one in draw.integers(0, len(present), _LIES))
            gains = [worth(mechanism, truth, board, said) - honest for said in lies]
            # No report gives more than the favourite at the charged prices, so that bounds all lies there are.
            most = standing(mechanism, truth, board).most / (PRICE_UNIT * mechanism.program.scale)
            worst, asked = max(worst, most - honest, *gains), asked + len(gains)
    return AuditRow.at_most("truthfulness: the best lie on a path that stays as it is, against alpha",
                            float(mechanism.alpha or 0.0),
                            worst, f"{asked} lies, and the participant's favourite, on {_PATHS} paths; utilities by "
                            "the true record",
                            scale=float(mechanism.program.constants.most_value),
                            unit="in value", concern=Concern.INCENTIVES)


def worth(mechanism: Charging, truth: Any, board: Any, reported: Any = None) -> float:
    """Value of a participant's share by their true record, less the price of the share, in natural units. Where a share
    is one publicly drawn action, the result is the mean over all draws.

    Goods that the true record does not value add nothing. Contributions are verified, so lies are about values.

    Args:
        mechanism: any mechanism that can charge prices, with or without an injected fault.
        truth: the participant's true record.
        board: billboard of the run.
        reported: record that the participant reports; the true record by default.
    """
    program, said = mechanism.program, truth if reported is None else reported
    own, rounds = program.one(truth), mechanism.rounds
    if isinstance(mechanism, TrueDude):
        share = mechanism.decode(said, 0, board)
        actions = np.array(share["actions"], dtype=np.int32).reshape(-1, program.width)
        value = sum(int(program.values(own, row[None])[0]) * often
                    for row, often in zip(actions, share["times"], strict=True))
        return float(value / (PRICE_UNIT * rounds) - float(share["price"]))
    total = 0.0
    for seed in _seeds(rounds):
        share = mechanism.decode(said, 0, replace(board, public_seed=seed))
        action = action_in(program, share["action"])[None]
        total += int(program.values(own, action)[0]) / PRICE_UNIT - float(share["price"])
    return total / rounds


@cache
def _seeds(rounds: int) -> tuple[str, ...]:
    """Public seeds, of which each draws a different main round for the first participant."""
    found: dict[int, str] = {}
    for number in count():
        seed = f"{number:064x}"
        found.setdefault(public_number_of(seed, 0) * rounds >> 32, seed)
        if len(found) == rounds:
            return tuple(found.values())
    return ()


def vain_row(mechanism: Charging, seed: int = 0) -> AuditRow:
    """The check of `path_row` on a unit-demand program, with an injected fault. Participants who would gain more than
    alpha by their favourite action do not receive this action in place of their share.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
        seed: seed of the simulated people and of the noise.
    """
    supply = _ROOMY if isinstance(mechanism, TightenAndAudit) else 1.0  # of which an audit leaves something
    program = UnitDemand(mechanism.program.people, supply, goods=4)
    alpha = min(mechanism.alpha or _SMALL, _SMALL)
    bent = inject_fault(mechanism, ComplainsInVain, program=program, alpha=alpha, start=None)
    return path_row(bent, Pool.of(program, study_generator(seed, "goods"), 2 * _PEOPLE), seed)

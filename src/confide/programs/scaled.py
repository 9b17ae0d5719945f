"""A program with another supply, or for other people: what remedies of this family try."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confide.programs.dude import Dude
    from confide.programs.program import Program

__all__ = ["crowd", "scaled", "with_supply"]


def with_supply(program: Program, *, factor: float = 1.0, supply: float | None = None) -> Program:
    """The program with other supplies.

    Args:
        program: of any family.
        factor: what every supply is multiplied by.
        supply: of rows that have none; None to leave them.
    """
    return replace(program, supply=tuple(
        factor * one if one > 0 or supply is None else supply for one in program.supplies))


def scaled(mechanism: Dude, *, factor: float = 1.0, supply: float | None = None, **changed: Any) -> Dude:
    """The mechanism with other supplies and settings.

    Args:
        mechanism: as it was asked for.
        factor: as of `with_supply`.
        supply: so too.
        changed: other settings.
    """
    return replace(mechanism, program=with_supply(mechanism.program, factor=factor, supply=supply), **changed)


def crowd(program: Program, factor: float) -> Program:
    """The program for as many times the people with as many times the supply, both in whole numbers.

    Args:
        program: of any family.
        factor: how many times.
    """
    return replace(program, people=math.ceil(factor * program.people),
                   supply=tuple(math.ceil(factor * one) if one > 1 else one * factor for one in program.supplies))

"""Solvers and exact re-checks that several families need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.numerics.integer_cross import IntegerCross


__all__ = ["IntegerCross"]

__getattr__, __dir__ = doors(__name__, {"integer_cross": ("IntegerCross",)})

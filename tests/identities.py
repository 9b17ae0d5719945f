"""Comparisons that hold whatever was computed: x times 1/x beside 1, or the same call on both sides.

What is computed is a variable; the same text is the same one. Where the difference of both sides is the same number for
several values of all variables, the comparison decides nothing.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from itertools import pairwise

__all__ = ["decides_nothing", "once"]

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: pow}
_CALLS: dict[str, Callable[..., float]] = {
    "abs": abs, "float": float, "max": max, "min": min, "sqrt": math.sqrt, "exp": math.exp, "log": math.log}
_POINTS = 6
_CLOSE = 1e-9


def decides_nothing(condition: ast.expr, values: Mapping[str, ast.expr | None]) -> bool:
    """Whether a comparison comes out the same whatever is computed.

    Args:
        condition: a comparison, or a call of `isclose`.
        values: of `once`.
    """
    if isinstance(condition, ast.Compare):
        sides = [condition.left, *condition.comparators]
    elif isinstance(condition, ast.Call) and _called(condition) == "isclose":
        sides = condition.args[:2]
    else:
        return False
    return all(_constant(one, other, values) for one, other in pairwise(sides))


def once(body: list[ast.stmt]) -> dict[str, ast.expr | None]:
    """Names that a body assigns -> what they hold; None where they are assigned again, or in a loop.

    Args:
        body: of a function.
    """
    found: dict[str, list[ast.expr | None]] = {}
    looped = {id(inner) for one in body for each in ast.walk(one) if isinstance(each, ast.For | ast.While | ast.With)
              for inner in ast.walk(each)}
    for each in (inner for one in body for inner in ast.walk(one)):
        if isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                plain = id(each) not in looped and not isinstance(each, ast.AugAssign)
                for name, held in _bound(target, each.value):
                    found.setdefault(name, []).append(held if plain else None)
        elif isinstance(each, ast.For | ast.comprehension):
            for name, _ in _bound(each.target, None):
                found.setdefault(name, []).append(None)
    return {name: held[0] if len(held) == 1 else None for name, held in found.items()}


def _bound(target: ast.expr, value: ast.expr | None) -> list[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else \
            [None] * len(target.elts)
        return [pair for one, part in zip(target.elts, parts, strict=True) for pair in _bound(one, part)]
    if isinstance(target, ast.Starred | ast.Subscript | ast.Attribute):
        return _bound(target.value, None)
    return []


def _constant(one: ast.expr, other: ast.expr, values: Mapping[str, ast.expr | None]) -> bool:
    found = []
    for point in range(_POINTS):
        at = _Point(values, point)
        try:
            found.append(at.of(one) - at.of(other))
        except (ArithmeticError, ValueError, TypeError):
            return False
        if not at.variables:
            return False  # that nothing was computed is seen elsewhere
    return max(found) - min(found) <= _CLOSE * max(1.0, abs(found[0]))


class _Point:
    """One value for each variable: positive and negative, small and large."""

    def __init__(self, values: Mapping[str, ast.expr | None], point: int) -> None:
        self.values, self.point = values, point
        self.variables: dict[str, float] = {}
        self._within: tuple[str, ...] = ()

    def of(self, value: ast.expr) -> float:
        """What an expression is there."""
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            return float(value.value)
        if isinstance(value, ast.Name) and value.id in self.values and value.id not in self._within:
            held = self.values[value.id]
            if held is None:
                raise TypeError(f"{value.id} holds now this and now that")
            before, self._within = self._within, (*self._within, value.id)
            found = self.of(held)
            self._within = before
            return found
        if isinstance(value, ast.BinOp) and type(value.op) in _BINARY:
            return float(_BINARY[type(value.op)](self.of(value.left), self.of(value.right)))
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
            return -self.of(value.operand)
        if isinstance(value, ast.Call) and _called(value) in _CALLS and not value.keywords and \
                len(value.args) > (_called(value) in ("max", "min")) and \
                not any(isinstance(each, ast.Starred) for each in value.args):
            return float(_CALLS[_called(value)](*(self.of(each) for each in value.args)))
        return self._variable(ast.dump(value))

    def _variable(self, text: str) -> float:
        if text not in self.variables:
            size = math.sqrt(2.0 + 3.0 * len(self.variables) + 5.0 * self.point) % 1.0 + 0.25
            self.variables[text] = size * (-1.0) ** (self.point % 2) * 4.0 ** (self.point - 2)
        return self.variables[text]


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and \
            call.func.value.id in ("math", "np"):
        return call.func.attr
    return ""

"""Evidence that cannot fail, found in its text: a verdict that is written down, or that compares numbers written down.

What counts as computed: a loop or a comprehension over more than a written list, and every call but those of Python's
and numpy's arithmetic. A function of the same module counts as what its own text is. A comparison that comes out the
same whatever was computed (`identities`) counts as written down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from identities import decides_nothing, once

__all__ = ["faults"]

_ARITHMETIC = frozenset({
    "abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "len", "list", "max", "min", "pow", "range",
    "round", "set", "sorted", "sum", "tuple", "zip"})
_PURE = frozenset({"math", "np"})
_ADDS = frozenset({"append", "add", "extend", "update", "insert", "fill"})
_GRIDS = frozenset({"linspace", "arange", "geomspace"})

Defined = Mapping[str, ast.FunctionDef]


@dataclass(frozen=True, kw_only=True)
class _Module:
    """Functions of a module, and its names that are written down."""

    functions: Defined
    written: frozenset[str]


@dataclass
class _Scope:
    """Which names of a function hold nothing but what is written down, and what those hold that are assigned once."""

    module: _Module
    written: set[str] = field(default_factory=set)
    values: Mapping[str, ast.expr | None] = field(default_factory=dict)
    busy: tuple[str, ...] = ()


def faults(text: str, names: Iterable[str]) -> dict[str, str]:
    """Name of an evidence function -> why it cannot fail; those that can are left out.

    Args:
        text: of the module.
        names: of its evidence functions.
    """
    module = _module(ast.parse(text))
    found = {}
    for name in names:
        reason = _fault(module, module.functions[name], ())
        if reason:
            found[name] = reason
    return found


def _module(tree: ast.Module) -> _Module:
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    scope = _Scope(_Module(functions=functions, written=frozenset()))
    for each in tree.body:
        targets, values = _assigned(each)
        if all(_written(value, scope) for value in values):
            scope.written.update(targets)
    return _Module(functions=functions, written=frozenset(scope.written))


def _fault(module: _Module, function: ast.FunctionDef, busy: tuple[str, ...]) -> str:
    scope = _Scope(module, values=once(function.body), busy=busy)
    _assignments(function.body, scope)
    verdicts: set[str] = set()
    decided: list[bool] = []  # whether anything that was computed decides, at each return
    for conditions, returned in _returns(function.body, ()):
        chosen, computed = _verdict(returned, scope)
        verdicts |= chosen
        decided.append(computed or any(not _written(each, scope) for each in conditions))
    if not decided:
        return "returns no finding"
    if len(verdicts) == 1:
        return f"always says {verdicts.pop()}"
    return "" if any(decided) else "compares what is written down"


def _returns(body: list[ast.stmt], conditions: tuple[ast.expr, ...]) -> Iterator[tuple[tuple[ast.expr, ...], ast.expr]]:
    """What a function returns, and what decides that it gets there; a loop or an exception decides as a call does."""
    for each in body:
        if isinstance(each, ast.Return) and each.value is not None:
            yield conditions, each.value
        elif isinstance(each, ast.If):
            yield from _returns(each.body, (*conditions, each.test))
            yield from _returns(each.orelse, (*conditions, each.test))
            conditions = (*conditions, each.test) if any(_returns(each.body, ())) else conditions
        elif isinstance(each, ast.For | ast.While):
            yield from _returns(each.body, (*conditions, ast.parse("computed()", mode="eval").body))
        elif isinstance(each, ast.Try):
            computed = (*conditions, ast.parse("computed()", mode="eval").body)
            for part in (each.body, each.orelse, *(handler.body for handler in each.handlers)):
                yield from _returns(part, computed)
            conditions = computed
        elif isinstance(each, ast.With):
            yield from _returns(each.body, conditions)


def _verdict(returned: ast.expr, scope: _Scope) -> tuple[set[str], bool]:
    """Verdicts that an expression may give, and whether something that was computed chooses among them."""
    if not isinstance(returned, ast.Call):
        return {"?", "??"}, not _written(returned, scope)
    name = returned.func.id if isinstance(returned.func, ast.Name) else ""
    if name == "Recomputed":
        return _chosen(returned.args[0], scope)
    if name in scope.module.functions and name not in scope.busy:
        reason = _fault(scope.module, scope.module.functions[name], (*scope.busy, name))
        return ({reason}, False) if reason else ({"?", "??"}, True)
    return {"?", "??"}, not _written(returned, scope)


def _chosen(verdict: ast.expr, scope: _Scope) -> tuple[set[str], bool]:
    if isinstance(verdict, ast.Constant):
        return {str(verdict.value)}, False
    if isinstance(verdict, ast.IfExp):
        first, second = _chosen(verdict.body, scope), _chosen(verdict.orelse, scope)
        return first[0] | second[0], first[1] or second[1] or not _written(verdict.test, scope)
    return {"?", "??"}, not _written(verdict, scope)


def _assignments(body: list[ast.stmt], scope: _Scope) -> None:
    """Names of a body that hold what is written down; one that is computed anywhere, or changes in a loop, does not."""
    looped = {id(inner) for one in body for each in ast.walk(one) if isinstance(each, ast.For | ast.While)
              for inner in ast.walk(each)}
    given, computed, before = set(scope.written), set[str](), -1
    while len(computed) > before:  # until no further name turns out to hold something computed
        before, scope.written = len(computed), given - computed
        for each in (found for one in body for found in ast.walk(one)):
            targets, values = _assigned(each)
            if id(each) in looped or not all(_written(value, scope) for value in values):
                computed |= targets
            else:
                scope.written |= targets - computed
        scope.written -= computed


def _assigned(statement: ast.AST) -> tuple[set[str], list[ast.expr]]:
    """Which names a statement gives a value, or adds to, and what."""
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and statement.value:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {name for each in targets for name in _held(each)}, [statement.value]
    if isinstance(statement, ast.For):
        return set(_held(statement.target)), [statement.iter]
    if isinstance(statement, ast.Call) and isinstance(statement.func, ast.Attribute) and isinstance(
            statement.func.value, ast.Name) and statement.func.attr in _ADDS:
        return {statement.func.value.id}, statement.args
    return set(), []


def _held(target: ast.expr) -> Iterator[str]:
    """Names that a target binds, or whose parts it binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _held(each)
    elif isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        yield from _held(target.value)


def _written(value: ast.AST, scope: _Scope) -> bool:
    """Whether an expression is arithmetic on what is written down, or a comparison that always comes out the same."""
    if isinstance(value, ast.expr) and decides_nothing(value, scope.values):
        return True
    if isinstance(value, ast.Name):
        return value.id in scope.written or value.id in scope.module.written
    if isinstance(value, ast.Attribute):
        return (isinstance(value.value, ast.Name) and value.value.id in _PURE) or _written(value.value, scope)
    if isinstance(value, ast.Call):
        return _arithmetic(value.func, scope) and all(_written(each, scope) for each in (
            *value.args, *(keyword.value for keyword in value.keywords)))
    if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        if not all(isinstance(each.iter, ast.Tuple | ast.List) and _written(each.iter, scope)
                   for each in value.generators):
            return False
        bound = {name for each in value.generators for name in _held(each.target)}
        inner = _Scope(scope.module, {*scope.written, *bound}, {}, scope.busy)
        parts = [value.key, value.value] if isinstance(value, ast.DictComp) else [value.elt]
        return all(_written(each, inner) for each in parts)
    if isinstance(value, ast.Lambda | ast.Await | ast.Yield):
        return False
    return all(_written(each, scope) for each in ast.iter_child_nodes(value)
               if isinstance(each, ast.expr | ast.Slice))


def _arithmetic(called: ast.expr, scope: _Scope) -> bool:
    if isinstance(called, ast.Name):
        if called.id in _ARITHMETIC:
            return True
        function = scope.module.functions.get(called.id)
        return function is not None and called.id not in scope.busy and _plain(function, scope)
    if isinstance(called, ast.Attribute):
        if isinstance(called.value, ast.Name) and called.value.id in _PURE:
            return called.attr not in _GRIDS
        return _written(called.value, scope)  # a method of an array that is written down
    return False


def _plain(function: ast.FunctionDef, scope: _Scope) -> bool:
    """Whether a function gives arithmetic on its arguments and on what is written down."""
    arguments = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    inner = _Scope(scope.module, arguments, {}, (*scope.busy, function.name))
    if any(isinstance(each, ast.For | ast.While | ast.FunctionDef) for one in function.body for each in ast.walk(one)):
        return False
    _assignments(function.body, inner)
    return all(_written(each.value, inner) for one in function.body for each in ast.walk(one)
               if isinstance(each, ast.Return) and each.value is not None)

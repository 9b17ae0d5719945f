"""One published claim: its row of the table, and the function that recomputes what decides it.

A module of claims names its source once and decorates its evidence::

    claim = claims_of("Doe 2020", family="zoo")

    @claim(
        id="zoo/theorem-1", statement="Theorem 1", line=7, verdict="false", pinned=(0.5, 0.6),
        claim="The share is at most a half.",
        correction="At most three fifths.",
    )
    def largest_share() -> Recomputed:
        found = ...
        return Recomputed("false" if found > 0.5 else "holds", 0.5, found)

What stands in a decorator is written out, so that the table is read from the text and imports none of the numbers.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.contract.words import cause

__all__ = [
    "TOLERANCE",
    "Claim",
    "ClaimsOf",
    "Evidence",
    "MeasuredEvidence",
    "Pin",
    "Recomputed",
    "Verdict",
    "claims_of",
    "rows_of_text",
]

Verdict = Literal["holds", "holds-with-correction", "false", "vacuous-at-practical-size"]

TOLERANCE = 1e-6
"""How far a figure may be from its pin, as a share of it, and in itself next to 0: machines round differently."""


class Recomputed(NamedTuple):
    """The result of the evidence for a claim.

    Args:
        verdict: verdict on the claim.
        claimed: number that the claim gives.
        found: number that we find.
    """

    verdict: Verdict
    claimed: float
    found: float


Function = TypeVar("Function", bound=Callable[[], Recomputed])


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The function that recomputes a claim. Its module is imported when it is called.

    Args:
        module: dotted name.
        function: its name there; without arguments, gives a `Recomputed`.
    """

    module: str
    function: str

    def __call__(self) -> Recomputed:
        found: Recomputed = getattr(import_module(self.module), self.function)()
        return found

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"


@dataclass(frozen=True, kw_only=True)
class MeasuredEvidence:
    """The last result of evidence that takes long.

    Args:
        claimed: number that the claim gives.
        found: number that we found.
        day: day of that run.
        seconds: duration on two cores, in seconds.
    """

    claimed: float
    found: float
    day: date
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Pin:
    """The result of the evidence of one row, when it was pinned.

    Args:
        verdict: verdict of the row.
        claimed: number that the claim gives.
        found: number that was found.
        within: allowed difference of a figure from its pin, as a share of it; more than TOLERANCE where its measurement
            differs from machine to machine.
    """

    verdict: Verdict
    claimed: float
    found: float
    within: float = TOLERANCE

    def keeps(self, claimed: float, found: float) -> bool:
        """Whether figures are those that were pinned; not-a-number is one of its own.

        Example:
            >>> Pin(verdict="holds", claimed=1.0, found=0.5).keeps(1.0, 0.5000001)
            True
            >>> Pin(verdict="holds", claimed=1.0, found=0.5).keeps(1.0, 0.51)
            False
        """
        return _same(self.claimed, claimed, self.within) and _same(self.found, found, self.within)


def _same(one: float, other: float, within: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=within, abs_tol=TOLERANCE)


@renamed(ours="correction")
@dataclass(frozen=True, kw_only=True)
class Claim:
    """One published claim, its verdict, and the command that shows it.

    Args:
        id: family or part of it, and a name.
        family: family in which the claim is listed.
        document: the source.
        statement: theorem, algorithm, figure or section of the source.
        line: line of the source's text as it was read.
        claim: claim, in our words.
        verdict: whether it holds.
        correction: correct statement, and the figures that show it.
        evidence: function that recomputes what decides the verdict.
        measured: stored figures of evidence that takes long; None where it is fast.
        pin: figures with which the evidence is compared; None for rows that pin none.
    """

    id: str
    family: str
    document: str
    statement: str
    line: int
    claim: str
    verdict: Verdict
    correction: str
    evidence: Evidence
    measured: MeasuredEvidence | None = None
    pin: Pin | None = None

    @property
    def part(self) -> str:
        """The first part of the id: the family, or a part of it, such as threshold of market."""
        return self.id.partition("/")[0]

    @property
    def cost(self) -> Literal["fast", "slow"]:
        """Slow evidence is recomputed on request alone."""
        return "fast" if self.measured is None else "slow"

    @property
    def command(self) -> str:
        """The command that recomputes this row alone."""
        return f"confide claims {self.id} --verify{' --slow' if self.cost == 'slow' else ''}"

    def says(self, text: str) -> bool:
        """Whether a text, in any case, stands anywhere in this row."""
        words = (self.id, self.family, self.document, self.statement, self.claim, self.correction, str(self.evidence))
        return text.casefold() in "\n".join(words).casefold()


@dataclass(frozen=True)
class ClaimsOf:
    """The decorator of the claims of one source, in one family.

    Args:
        document: the source, as citations name it.
        family: family that its rows belong to.
    """

    document: str
    family: str

    def __call__(
        self, *, id: str, statement: str, line: int, claim: str, verdict: Verdict, correction: str,  # noqa: A002
        pinned: tuple[float, float] | None = None, within: float = TOLERANCE, slow: tuple[str, float] | None = None,
    ) -> Callable[[Function], Function]:
        """Name what a function is the evidence of. A function may be the evidence of several claims.

        Args:
            id: see `Claim`, as all that is not listed here.
            statement: likewise.
            line: likewise.
            claim: likewise.
            verdict: likewise.
            correction: likewise.
            pinned: the figure that is claimed and the one that is found, as `confide claims --verify` has to find them.
            within: how far figures may be from their pins, as a share; wider where they depend on the machine.
            slow: of evidence that takes long: the day, as in 2026-02-03, and the seconds of the run that was pinned.

        Raises:
            InvalidInput: no such verdict, or slow evidence without figures.
        """
        def keep(function: Function) -> Function:
            row = self.row(Evidence(module=function.__module__, function=function.__name__), {
                "id": id, "statement": statement, "line": line, "claim": claim, "verdict": verdict,
                "correction": correction, "pinned": pinned, "within": within, "slow": slow})
            function.__dict__["claims"] = (row, *getattr(function, "claims", ()))
            return function

        return keep

    def row(self, evidence: Evidence, written: dict[str, Any]) -> Claim:
        """The row that a decorator writes out.

        Args:
            evidence: the decorated function.
            written: the decorator's arguments by name.

        Raises:
            InvalidInput: something is missing, unknown or not one of the verdicts, or slow evidence pins no figures.
        """
        where = f"claims of {evidence.module}, {written.get('id', evidence.function)}"
        if not _WORDS <= set(written) <= _WORDS | _OPTIONAL:
            raise InvalidInput(where, f"has {', '.join(sorted(written))}", f"must have {', '.join(sorted(_WORDS))}")
        if written["verdict"] not in get_args(Verdict):
            raise InvalidInput(where, f"{written['verdict']!r} is no verdict",
                               f"must be one of {', '.join(get_args(Verdict))}")
        pinned, slow = written.get("pinned"), written.get("slow")
        if slow is not None and pinned is None:
            raise InvalidInput(where, "slow evidence and its stored figures go together", "must have pinned = (...)")
        pin = None if pinned is None else Pin(verdict=written["verdict"], claimed=float(pinned[0]),
                                              found=float(pinned[1]), within=written.get("within", TOLERANCE))
        measured = None if slow is None or pin is None else MeasuredEvidence(
            claimed=pin.claimed, found=pin.found, day=date.fromisoformat(slow[0]), seconds=float(slow[1]))
        return Claim(family=self.family, document=self.document, evidence=evidence, measured=measured, pin=pin,
                     **{name: written[name] for name in _WORDS})


_WORDS = {"id", "statement", "line", "claim", "verdict", "correction"}
_OPTIONAL = {"pinned", "within", "slow"}
_NUMBERS = {"inf": math.inf, "nan": math.nan}


def claims_of(document: str, *, family: str) -> ClaimsOf:
    """The decorator with which one module marks its functions as evidence of claims.

    Args:
        document: the source, as citations name it, such as Wang 2016.
        family: family that its rows belong to, such as market.
    """
    return ClaimsOf(document, family)


def rows_of_text(text: str, module: str) -> Iterator[Claim]:
    """The rows of one module, from its text: listing the claims needs none of the numbers.

    Args:
        text: text of the module.
        module: its dotted name.

    Raises:
        InvalidInput: a decorator is not written out, or its arguments are no row.
    """
    decorators: dict[str, ClaimsOf] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and _calls(node.value, {"claims_of"}):
            decorators |= {name.id: claims_of(*_positional(node.value, module), **_named(node.value, module))
                           for name in node.targets if isinstance(name, ast.Name)}
        if isinstance(node, ast.FunctionDef):
            for each in node.decorator_list:
                if _calls(each, set(decorators)):
                    yield decorators[ast.unparse(each.func)].row(  # type: ignore[attr-defined]
                        Evidence(module=module, function=node.name), _named(each, module))


def _calls(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _positional(node: ast.expr, module: str) -> list[Any]:
    return [_written(each, module) for each in node.args]  # type: ignore[attr-defined]


def _named(node: ast.expr, module: str) -> dict[str, Any]:
    return {each.arg: _written(each.value, module) for each in node.keywords}  # type: ignore[attr-defined]


def _written(node: ast.expr, module: str) -> Any:
    """A value that is written out; `inf` and `nan` are numbers, too."""
    try:
        if isinstance(node, ast.Tuple):
            return tuple(_written(each, module) for each in node.elts)
        if isinstance(node, ast.Name) and node.id in _NUMBERS:
            return _NUMBERS[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
            return -_NUMBERS[node.operand.id]
        return ast.literal_eval(node)
    except (ValueError, LookupError) as error:
        raise InvalidInput(f"claims of {module}", f"line {node.lineno}: {cause(error)}",
                           "what a claim says must be written out") from None

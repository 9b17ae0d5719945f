"""One published claim, which is a row of the table of claims. The row has a verdict on the claim, and names the
function that recomputes the evidence for the verdict.

A module of claims names the source once and decorates the functions that compute the evidence::

    claim = claims_of("Doe 2020", family="zoo")

    @claim(
        id="zoo/theorem-1", statement="Theorem 1", line=7, verdict="false", pinned=(0.5, 0.6),
        claim="The share is at most a half.",
        correction="At most three fifths.",
    )
    def largest_share() -> Recomputed:
        found = ...
        return Recomputed("false" if found > 0.5 else "holds", 0.5, found)

The arguments of the decorator must be literals. The table of claims can then be read from the text of the module,
without importing the numerical code.
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
"""Largest relative difference of a recomputed number from the recorded number, and largest absolute difference near 0.
Small differences are allowed because different machines round differently.
"""


class Recomputed(NamedTuple):
    """The result of the evidence for a claim.

    Args:
        verdict: verdict on the claim.
        claimed: number that the source claims.
        found: number that the evidence computes for comparison with `claimed`.
    """

    verdict: Verdict
    claimed: float
    found: float


Function = TypeVar("Function", bound=Callable[[], Recomputed])


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Reference to the function that recomputes a claim. The function's module is imported when the evidence is called.

    Args:
        module: dotted name of the module.
        function: name of the function in that module. The function takes no arguments and returns a `Recomputed`.
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
    """Stored result of the last run of evidence that takes long to compute.

    Args:
        claimed: number that the source claims.
        found: number that the run computed for comparison with `claimed`.
        day: date of the run.
        seconds: duration of the run on two cores, in seconds.
    """

    claimed: float
    found: float
    day: date
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Pin:
    """The recorded result of the evidence for one row of the table of claims. Later results are compared with this
    record.

    Args:
        verdict: verdict in the table when the result was recorded.
        claimed: number that the source claims.
        found: number that the evidence computed.
        within: largest relative difference, at least 0, between a recomputed number and the recorded number. A value
            above `TOLERANCE` serves where the result differs from machine to machine.
    """

    verdict: Verdict
    claimed: float
    found: float
    within: float = TOLERANCE

    def keeps(self, claimed: float, found: float) -> bool:
        """Whether both recomputed numbers agree with the recorded numbers up to the relative tolerance `within`. For
        recorded numbers near 0, an absolute difference of up to `TOLERANCE` counts as agreement. NaN agrees only with
        NaN.

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
    """One published claim, its verdict, and the command that recomputes the evidence.

    Args:
        id: family or part of a family, then a slash and a name, such as market/figure-3.2.
        family: method to which the claim belongs, such as market or regression.
        document: author and year of the source, such as Wang 2016.
        statement: theorem, algorithm, figure or section of the source.
        line: line number in the plain-text copy of the source that was checked.
        claim: statement of the source, in the words of this project.
        verdict: one of holds, holds-with-correction, false and vacuous-at-practical-size.
        correction: correct statement, with the numbers that show it.
        evidence: function that recomputes the evidence for the verdict.
        measured: stored result of evidence that takes long to compute; None where the evidence is fast.
        pin: recorded result with which recomputed evidence is compared; None for rows without a recorded result.
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
        """The text of the id before the slash: the family, or a part of the family. For example, `threshold` is a part
        of the family market.
        """
        return self.id.partition("/")[0]

    @property
    def cost(self) -> Literal["fast", "slow"]:
        """The cost of the evidence: "slow" if it takes long to compute, else "fast". Slow evidence is recomputed only
        on request.
        """
        return "fast" if self.measured is None else "slow"

    @property
    def command(self) -> str:
        """The command that recomputes the evidence for this claim alone."""
        return f"confide claims {self.id} --verify{' --slow' if self.cost == 'slow' else ''}"

    def says(self, text: str) -> bool:
        """Whether this row of the table contains a text. Upper and lower case count as equal."""
        words = (self.id, self.family, self.document, self.statement, self.claim, self.correction, str(self.evidence))
        return text.casefold() in "\n".join(words).casefold()


@dataclass(frozen=True)
class ClaimsOf:
    """The decorator for functions that are evidence for the claims of one source, in one family.

    Args:
        document: author and year of the source, such as Wang 2016.
        family: method to which the claims belong, such as market.
    """

    document: str
    family: str

    def __call__(
        self, *, id: str, statement: str, line: int, claim: str, verdict: Verdict, correction: str,  # noqa: A002
        pinned: tuple[float, float] | None = None, within: float = TOLERANCE, slow: tuple[str, float] | None = None,
    ) -> Callable[[Function], Function]:
        """Mark a function as the evidence for one claim. A function may be the evidence for several claims.

        Args:
            id: id of the claim, as in `Claim`.
            statement: theorem, algorithm, figure or section of the source, as in `Claim`.
            line: line number in the text of the source, as in `Claim`.
            claim: statement of the source in the words of this project, as in `Claim`.
            verdict: verdict on the claim, as in `Claim`.
            correction: correct statement, as in `Claim`.
            pinned: recorded pair of the claimed number and the found number. `confide claims --verify` compares
                recomputed numbers with this pair. None if no result is recorded.
            within: largest relative difference, at least 0, between a recomputed number and the number in `pinned`. A
                value above `TOLERANCE` serves where the result differs from machine to machine.
            slow: date of the recorded run, such as "2026-02-03", and the duration of that run in seconds. None for
                evidence that is fast to compute.

        Raises:
            InvalidInput: the verdict is unknown, or slow evidence has no `pinned` result.
        """
        def keep(function: Function) -> Function:
            row = self.row(Evidence(module=function.__module__, function=function.__name__), {
                "id": id, "statement": statement, "line": line, "claim": claim, "verdict": verdict,
                "correction": correction, "pinned": pinned, "within": within, "slow": slow})
            function.__dict__["claims"] = (row, *getattr(function, "claims", ()))
            return function

        return keep

    def row(self, evidence: Evidence, written: dict[str, Any]) -> Claim:
        """The row of the table of claims that the literals of a decorator describe.

        Args:
            evidence: reference to the decorated function.
            written: mapping from the name of each argument of the decorator to the argument's value.

        Raises:
            InvalidInput: an argument is missing or unknown, the verdict is unknown, or slow evidence has no `pinned`
                result.
        """
        where = f"claims of {evidence.module}, {written.get('id', evidence.function)}"
        if not _WORDS <= set(written) <= _WORDS | _OPTIONAL:
            raise InvalidInput(where, f"has {', '.join(sorted(written))}", f"must have {', '.join(sorted(_WORDS))}")
        if written["verdict"] not in get_args(Verdict):
            raise InvalidInput(where, f"{written['verdict']!r} is no verdict",
                               f"must be one of {', '.join(get_args(Verdict))}")
        pinned, slow = written.get("pinned"), written.get("slow")
        if slow is not None and pinned is None:
            raise InvalidInput(where, "is slow, but has no stored figures", "must have pinned = (...)")
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
    """The decorator with which one module marks its functions as evidence for claims.

    Args:
        document: author and year of the source, such as Wang 2016.
        family: method to which the claims belong, such as market.
    """
    return ClaimsOf(document, family)


def rows_of_text(text: str, module: str) -> Iterator[Claim]:
    """The rows of the table of claims that one module declares. The rows are read from the module's source text without
    an import, so listing the claims needs no numerical code.

    Args:
        text: Python source text of the module.
        module: dotted name of the module.

    Raises:
        InvalidInput: an argument of a decorator is not a literal, or the arguments do not form a row.
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
    """The value of a literal in the syntax tree. The names `inf` and `nan` count as literals, too."""
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

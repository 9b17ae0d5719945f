"""What is named as hidden is believed where it is: more than the winner, more than the pattern, shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.audit import AuditReport, AuditRow, UnreleasedIntermediate, Verdict
from confide.audit.mechanism_audit import audit_mechanism
from confide.contract import Billboard, Guarantees, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.privacy import PureDP
from confide.privacy.events import PureEvent
from confide.privacy.noise import Draw
from confide.tables import Category

PEOPLE = 12
COLUMNS = 5
ROLES = tuple(Category(column=f"q{k}", levels=("no", "yes")) for k in range(COLUMNS))
PUBLIC = Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                 source=Source(document="a", statement="b"))


def ranking(noisy: np.ndarray) -> np.ndarray:
    return np.argsort(-noisy, kind="stable")


SHOWN: dict[str, Callable[[np.ndarray], Any]] = {
    "winner": np.argmax, "first three": lambda noisy: np.sort(ranking(noisy)[:3]), "ranking": ranking,
    "second place": lambda noisy: ranking(noisy)[:2], "no more": lambda noisy: [0],
    "largest": lambda noisy: [np.argmax(noisy)], "least": lambda noisy: [np.argmin(noisy)],
    "all": lambda noisy: noisy, "differences": np.diff,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    """What is shown."""

    it: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Counts(Mechanism):
    """Counts of yes in five columns, each with noise; a record moves each of them by one.

    Args:
        shown: what is published of them, one of `SHOWN`.
        rule: what is said to be, or one of `OWN`.
    """

    shown: str = "winner"
    rule: str = "noisy max"

    def guarantees(self) -> Guarantees:
        return Guarantees((PUBLIC,))

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=1.0, neighbours=Relation.REPLACE),)

    def unreleased_streams(self) -> Mapping[str, Any]:
        return {"it": OWN.get(self.rule, self.rule)}

    def run(self, data: Any, noise: Any) -> Any:
        rows = np.full((PEOPLE, COLUMNS), -1)
        for batch in data:
            rows[batch.index] = batch.cells
        shown = np.atleast_1d(np.asarray(self.released((rows == 1).sum(axis=0), noise), np.float64))
        return self._outcome(noise, billboard=Board(it=shown), shares=pa.table({"it": np.zeros(PEOPLE)}))

    def released(self, yes: np.ndarray, noise: Any) -> Any:
        return SHOWN[self.shown](noise.discrete_laplace(2.0, COLUMNS, stream="it", center=yes))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": 0.0}


@dataclass(frozen=True, kw_only=True)
class Flags(Counts):
    """Whether the first column's count is above three, asked six times, halting where it first is."""

    shown: str = "no more"
    rule: str = "sparse vector"
    halting: bool = True

    def released(self, yes: np.ndarray, noise: Any) -> Any:
        level = noise.discrete_laplace(2.0, 1, stream=("it", "threshold"), center=[3])[0]
        noisy = list[int]()
        while len(noisy) < 6 and not (self.halting and noisy and noisy[-1] > level):
            noisy += noise.discrete_laplace(4.0 if self.halting else 24.0, 1, stream=("it", "answer", len(noisy)),
                                            center=yes[:1]).tolist()
        flags = [float(each > level) for each in noisy]
        return [len(flags), *flags, *np.zeros(6 - len(flags)), *SHOWN[self.shown](np.array(noisy))]


def report(it: Mechanism) -> AuditReport:
    return audit_mechanism(it, ROLES, PEOPLE, seed=5, tries=0)


def privacy_row(found: AuditReport) -> AuditRow:
    return next(row for row in found.rows if row.promise == PUBLIC.sentence())


@pytest.mark.parametrize("it", fast(4, [
    Counts(shown="first three"), Counts(shown="ranking"), Counts(shown="second place"),
    Flags(halting=False, shown="largest"), Flags(shown="least"),
]), ids=lambda it: it.shown)
def test_the_order_is_unreleased_too(it: Counts) -> None:
    found = report(it)
    row = privacy_row(found)
    assert row.verdict is Verdict.BROKEN
    assert row.measured == np.inf
    assert row.evidence.startswith("noisy answers that should stay hidden reach the public")
    assert not found.passed


@pytest.mark.slow
@pytest.mark.parametrize("it", fast(1, [Counts(), Flags(), Flags(halting=False)]), ids=lambda it: type(it).__name__)
def test_an_unreleased_stream_is_measured(it: Counts) -> None:
    found = report(it)
    assert found.passed, found.problems
    assert "equal noise, loss exact there" in privacy_row(found).evidence
    assert 0.1 < float(privacy_row(found).measured or 0) <= 1.0


# ---- a rule of one's own


def of_one(pairs: Sequence[Any]) -> float:
    """Wrong: a record is said to move one count."""
    return max(max(abs(float(a - b)) for a, b in zip(one.center, other.center, strict=True)) / float(one.scale)
               for one, other in pairs)


def of_all(pairs: Sequence[Any]) -> float:
    return sum(sum(abs(float(a - b)) for a, b in zip(one.center, other.center, strict=True)) / float(one.scale)
               for one, other in pairs)


def half_changed(draws: Sequence[Draw]) -> list[Draw]:
    return [replace(draw, value=draw.value + np.arange(draw.value.size) % 2) for draw in draws]


def all_moved(draws: Sequence[Draw]) -> list[Draw]:
    return [replace(draw, value=draw.value + 1) for draw in draws]


OWN = {
    "keeps all": UnreleasedIntermediate(loss=of_one, other_answers=list),
    "gives none": UnreleasedIntermediate(loss=of_one, other_answers=lambda draws: []),
    "keeps half": UnreleasedIntermediate(loss=of_one, other_answers=half_changed),
    "moves all": UnreleasedIntermediate(loss=of_one, other_answers=all_moved),
    "moves all, of all": UnreleasedIntermediate(loss=of_all, other_answers=all_moved),
}


@pytest.mark.parametrize(("rule", "leak"), fast(1, [("keeps all", False), ("gives none", True), ("keeps half", True),
                                                   ("moves all", True)]))
def test_published_answers_are_not_made_unreleased_by_ones_own_rule(rule: str, leak: bool) -> None:
    """The counts themselves, which lose five times what the formula says."""
    found = report(Counts(shown="all", rule=rule))
    row = privacy_row(found)
    assert row.verdict is (Verdict.BROKEN if leak else Verdict.NOT_MEASURED)
    assert row.measured == np.inf if leak else row.note.startswith("the other answers of 'it' keep some")
    assert not found.passed


@pytest.mark.slow
def test_other_answers_that_keep_all_show_nothing() -> None:
    found = report(Counts(rule="keeps all"))
    assert privacy_row(found).verdict is Verdict.NOT_MEASURED
    assert "nothing shows that these are hidden" in privacy_row(found).note
    assert found.problems == ("promises of privacy that were measured: promised 1.0, measured 0.0",)


@pytest.mark.slow
def test_a_formula_of_ones_own_is_named() -> None:
    """Of differences alone, which stay where all are moved."""
    row = privacy_row(report(Counts(shown="differences", rule="moves all")))
    assert row.verdict is Verdict.KEPT
    assert row.evidence.endswith("equal noise, loss there by the mechanism's own formula for it")


@pytest.mark.slow
def test_a_formula_of_ones_own_may_break_the_promise() -> None:
    row = privacy_row(report(Counts(shown="differences", rule="moves all, of all")))
    assert row.verdict is Verdict.BROKEN
    assert row.measured == pytest.approx(COLUMNS / 2)

"""A mechanism that promises parts: what all of them lose together is charged, promised, audited and told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from audit.test_audit_of_unpublished_answers import PEOPLE, PUBLIC, YES, Sound
from confide.audit import AuditReport, AuditRow
from confide.audit.mechanism_audit import audit_mechanism
from confide.campaign.kinds import MechanismPlan
from confide.contract import Privacy
from confide.contract.guarantees import Audience
from confide.privacy import GDP, PureDP
from confide.privacy.losses import ZCDP

TOGETHER = "all releases of a run together lose no more than the charge to the ledger"
FIRST, SECOND = (replace(PUBLIC, part=part) for part in ("the first count", "the second count"))


@dataclass(frozen=True, kw_only=True)
class Parts(Sound):
    """Two counts, each with noise of its own, and perhaps one that no promise is about."""

    scale: float = 1.0
    more: float = 0.0

    def part_streams(self) -> Mapping[str, str]:
        return {"the first count": "first", "the second count": "second", "the whole outcome": "first",
                "the billboard": "first"}

    def released(self, level: Any, noise: Any) -> Any:
        center = [float((level == 1).sum())]
        shown = [*noise.laplace(self.scale, 1, stream="first", center=center),
                 *noise.laplace(self.scale, 1, stream="second", center=center)]
        return [*shown, *(noise.laplace(self.more, 1, stream="third", center=center) if self.more else ())]


def report(it: Parts) -> AuditReport:
    return audit_mechanism(it, YES, PEOPLE, seed=5, tries=2)


def row_of(found: AuditReport, promise: str) -> AuditRow:
    (row,) = (row for row in found.rows if row.promise == promise)
    return row


@pytest.mark.slow
def test_two_parts_that_are_charged_as_one() -> None:
    """Each keeps its epsilon 1, which is what is charged; a run loses 2."""
    found = report(Parts(promises=(FIRST, SECOND)))
    assert not found.passed
    together = row_of(found, TOGETHER)
    assert (together.flagged, together.promised, together.measured) == (True, 1.0, pytest.approx(2.0))
    (refused,) = (row for row in found.rows if row.flagged and row.unit == "refusals")
    assert "no promise about the whole outcome" in refused.evidence
    assert all(row_of(found, each.sentence()).measured == pytest.approx(1.0) for each in (FIRST, SECOND))


@pytest.mark.slow
def test_what_is_in_no_part() -> None:
    """Two parts of 0.5, of which the sum is charged; and a count beside them that loses 100."""
    halves = tuple(replace(each, loss=PureDP(0.5)) for each in (FIRST, SECOND))
    found = report(Parts(promises=halves, scale=2.0, more=0.01))
    assert not found.passed
    assert row_of(found, TOGETHER).measured == pytest.approx(101.0)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["the whole outcome", "the billboard"])
def test_the_whole_is_all_noisy_answers_whatever_its_streams_are_said_to_be(part: str) -> None:
    whole = replace(PUBLIC, part=part)
    broken = report(Parts(promises=(FIRST, SECOND, whole)))
    assert row_of(broken, whole.sentence()).measured == pytest.approx(2.0)
    assert not broken.passed
    whole = replace(whole, loss=PureDP(2.0))
    sound = report(Parts(promises=(FIRST, SECOND, whole), charged=2.0))
    assert sound.passed, sound.problems
    assert [row.measured for row in sound.rows if row.holds] == [pytest.approx(1.0)] * 2 + [pytest.approx(2.0)]


@pytest.mark.slow
def test_a_charge_in_another_notion_is_replayed_too() -> None:
    """rho = 2 is promised of epsilon 2, which is what is charged; another epsilon is charged too little."""
    whole = replace(PUBLIC, loss=PureDP(2.0))
    wide = replace(PUBLIC, loss=GDP(2.0))
    found = report(Parts(promises=(wide, replace(whole, audience=Audience.OTHERS)), charged=2.0))
    assert found.passed, found.problems
    found = report(Parts(promises=(replace(PUBLIC, loss=ZCDP(2.0)),), charged=1.9))
    assert row_of(found, TOGETHER).measured == pytest.approx(2.0)
    assert row_of(found, TOGETHER).flagged
    more = report(Parts(promises=(whole,), charged=2.5))
    assert not row_of(more, TOGETHER).flagged


WHOLE = replace(PUBLIC, loss=PureDP(2.0))
LOCAL, LOCAL_PART = (replace(PUBLIC, audience=Audience.COLLECTOR, part=part) for part in (Privacy.part, "a count"))


@pytest.mark.parametrize(("promises", "charged", "odds"), [
    ((PUBLIC,), 1.0, {"published result": "at most 73.1%"}),
    ((FIRST, SECOND, WHOLE), 2.0, {"published result": "at most 88.1%"}),
    ((FIRST, SECOND), 2.0, {"published result": "nearly every time"}),  # no plan: nobody says what they lose together
    ((PUBLIC,), 2.0, {"published result": "at most 73.1%"}),  # more is charged than is promised, and both hold
    ((FIRST, replace(WHOLE, audience=Audience.OTHERS)), 2.0, {"published result": "at most 88.1%"}),  # they see all
    ((PUBLIC, replace(LOCAL, loss=PureDP(2.0))), 1.0, {"published result": "at most 73.1%", "report": "at most 88.1%"}),
    ((PUBLIC, LOCAL_PART), 1.0, {"published result": "at most 73.1%", "report": "nearly every time"}),
    ((replace(PUBLIC, loss=ZCDP(0.02)),), 1.0, {"published result": "at most 55.0%"}),
])
def test_odds_are_of_the_whole(promises: tuple[Privacy, ...], charged: float, odds: dict[str, str]) -> None:
    plan = MechanismPlan(config=None, mechanism=Parts(promises=promises, charged=charged), roles=YES)
    (said,) = [str(each) for each in plan.offer() if each.answers == "hides"]
    found = {where: re.findall(f"{where}, they guess right (at most [0-9.]+%|nearly every time)", said)
             for where in ("published result", "report")}
    assert found == {"published result": [], "report": [], **{where: [each] for where, each in odds.items()}}

"""The audit of a campaign looks at its own mechanism: with its default samples, of its class, at its size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from held_campaign import METHODS, campaign

from cases import fast
from confide.audit import DampedNoise, inject_fault
from confide.campaign import Campaign
from confide.release import Reweighted, Schema, Workload
from confide.release.audited_faults import charge, own_rho
from confide.release.audited_full_size import full_size, full_size_row
from confide.release.audited_tables import tiny
from confide.release.dual_query import DualQuery
from confide.release.mwem import MWEM

QUERIES = Workload.complete(6, width=2)
BITS = Schema.bits(6)


def usual(folder: Path, method: str) -> Campaign:
    """The campaign with nothing said of samples, rounds or population."""
    held = campaign(folder, method=method)
    path = folder / "smoking.toml"
    text = path.read_text()
    for line in ("samples = 50\n", "rounds = 5\n", "population = 2000\n"):
        text = text.replace(line, "")
    path.write_text(text)
    return held if "[method]" not in text else Campaign.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_each_method_passes_its_audit_as_it_is_planned_by_default(method: str, tmp_path: Path) -> None:
    report = usual(tmp_path, method).audit(0)
    assert report.passed, report.problems
    row, *held = [row for row in report.rows if "at the campaign's own size" in row.promise]
    assert row.verdict == "kept"
    assert {row.verdict for row in held} == {"kept"}
    assert {each for row in held for each in row.holds} == {
        each.sentence() for each in usual(tmp_path, method).plan.guarantees.privacy}
    assert not any(row.among for row in held)
    assert "2,000 synthetic records" in row.evidence
    assert row.measured > 0.1
    assert any("at this size alone" in control.mutant for control in report.controls)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("records", [12_000, 30_162, 494_021])
def test_what_a_game_is_charged_is_its_own_sum_with_the_room_of_each_draw(records: int, epsilon: float) -> None:
    it = DualQuery.for_budget(records=records, epsilon=epsilon, delta=1e-6, workload=QUERIES)
    row, injected = charge(it)
    assert row.verdict == "kept"
    assert own_rho(it) == pytest.approx(it.rho, rel=1e-13)
    assert all(control.flagged for control in injected)
    both = Reweighted.for_budget(records=records, epsilon=epsilon, delta=1e-6, workload=QUERIES, measured=3)
    assert charge(both)[0].verdict == "kept"


class Twentieth:
    """A twentieth of the noise, in each run."""

    def run(self, data: Any, noise: Any) -> Any:
        return super().run(data, DampedNoise(noise, 0.05))  # type: ignore[misc]


class TwentiethBeyond:
    """The same above 500 people alone."""

    def run(self, data: Any, noise: Any) -> Any:
        return super().run(data, DampedNoise(noise, 0.05) if self.records > 500 else noise)  # type: ignore[misc,attr-defined]


def test_a_twin_is_of_the_class_of_the_campaigns_mechanism() -> None:
    game = DualQuery.for_budget(records=2000, epsilon=1.0, delta=1e-6, workload=QUERIES)
    mwem = MWEM.for_budget(records=2000, epsilon=1.0, delta=1e-6, workload=QUERIES)
    both = Reweighted.for_budget(records=2000, epsilon=1.0, delta=1e-6, workload=QUERIES, measured=3)
    for it in (game, mwem, both):
        assert isinstance(tiny(inject_fault(it, Twentieth)), Twentieth)
    inner: Any = tiny(replace(both, dual_query=inject_fault(both.dual_query, Twentieth)))
    assert isinstance(inner.dual_query, Twentieth)


@pytest.mark.parametrize(("method", "code"), fast(4, [
    (method, code) for code in (TwentiethBeyond, Twentieth) for method in METHODS]))
def test_too_little_noise_in_large_tables_is_flagged(method: str, code: type[Any], tmp_path: Path) -> None:
    it = usual(tmp_path, method).plan.mechanism
    schema = usual(tmp_path, method).plan.schema  # type: ignore[attr-defined]
    assert full_size_row(it, schema).verdict == "kept"
    assert full_size_row(inject_fault(it, code), schema).flagged
    assert isinstance(tiny(inject_fault(it, code)), code)


def test_the_row_says_how_little_noise_it_would_show() -> None:
    it = MWEM.for_budget(records=2000, epsilon=1.0, delta=0.0, workload=QUERIES, rounds=4)
    (row, *held), injected = full_size(it, BITS).measured()
    assert {row.verdict for row in held} == {"kept"}
    assert "15 queries" in row.evidence
    assert "select" in row.note
    assert "measure" in row.note
    assert len(injected) == 1 + len(held)
    assert all(control.flagged for control in injected)


@pytest.mark.slow
def test_queries_are_fewer_where_a_history_would_be_long() -> None:
    it = DualQuery(records=3000, eta=1.0, rounds=300, samples=5, workload=Workload.complete(16, width=2))
    row = full_size_row(it, Schema.bits(16))
    assert row.verdict == "kept"
    assert "66 queries" in row.evidence
    assert {each.among for each in full_size(it, Schema.bits(16)).measured()[0][1:]} == {"66 of the queries"}

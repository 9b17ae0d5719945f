"""Every installed kind's own audit: a row for each guarantee of its plan, all five concerns, and controls that flag."""

from __future__ import annotations

import pytest

from confide.audit import AuditReport, Concern, Verdict
from confide.cli.output import ReportModel
from confide.contract import kind_names
from confide.contract.words import json_ready
from people.all_kinds import campaign_of, whole_audit

FAST = ("bits-pair",)
"""The others take seconds each."""


@pytest.mark.parametrize("name", [
    each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in kind_names()])
def test_its_template_is_audited_in_all_five_concerns(name: str) -> None:
    campaign, report = campaign_of(name), whole_audit(name).report
    assert isinstance(report, AuditReport)
    assert report.problems == ()

    order = [list(Concern).index(row.concern) for row in report.rows]
    assert order == sorted(order)
    assert {row.concern for row in report.rows} == set(Concern)

    promised = [each for each in campaign.plan.guarantees if each.claimable]
    assert promised
    for each in promised:
        held = [row for row in report.rows if each.sentence() in row.holds]
        assert held, each.sentence()
        assert {row.concern for row in held} == {Concern.of(each)}
        assert any(row.verdict is Verdict.KEPT or row.note for row in held), each.sentence()
    sentences = {each.sentence() for each in promised}
    for row in report.rows:
        assert set(row.holds) <= sentences, row.promise
        assert (row.verdict is Verdict.NO_PROMISE) is (row.promised == "nothing")
        if row.verdict is Verdict.NO_PROMISE or row.verdict is Verdict.NOT_MEASURED:
            assert row.note
            assert bool(row.holds) is (row.verdict is Verdict.NOT_MEASURED)
        else:
            assert row.unit, row.promise
    # Where a concern's promises can be claimed, no row says that nothing is promised about it.
    said = {row.concern for row in report.rows if row.promised == "nothing"}
    assert not said & {Concern.of(each) for each in promised}

    assert len(report.controls) >= 3
    assert all(control.flagged for control in report.controls)
    _, controls, words = report.to_section().to_dict()["blocks"]
    assert [row[2] for row in controls["rows"]] == ["yes"] * len(report.controls)
    assert words["text"][0].startswith("Passed")
    found = ReportModel.model_validate(json_ready(report.to_dict()))
    assert [row.concern for row in found.rows] == [str(row.concern) for row in report.rows]

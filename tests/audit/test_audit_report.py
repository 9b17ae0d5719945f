"""Audit rows, controls and reports: what passes, what does not, and how it is shown."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import confide
from confide import audit
from confide.audit import AuditReport, AuditRow, Control, Mutant, Verdict, controls, exact_audit, exceeds
from confide.contract import InvalidInput, canonical
from confide.privacy import GDP, ZCDP, PureDP

KEPT = AuditRow("privacy", 1.0, 0.9, "enumerated", "kept", concern="privacy")
BROKEN = AuditRow("budget", 10.0, 11.0, "closed form", "broken", concern="budget")
SILENT = AuditRow("accuracy", math.inf, 3.0, "simulated", "vacuous", concern="accuracy")
SAID = AuditRow("accuracy", math.inf, None, "", "vacuous", "promises nothing below n = 100", concern="accuracy")
OPEN = AuditRow("truthfulness", 0.1, None, "", "not measured", concern="incentives")
TEETH = Control("privacy", "no noise", True)
BLIND = Control("privacy", "noise halved", False)


@pytest.mark.parametrize(
    ("rows", "injected", "passed"),
    [
        ((KEPT,), (TEETH,), True),
        ((KEPT, SAID), (TEETH,), True),
        ((KEPT,), (), False),
        ((KEPT,), (TEETH, BLIND), False),
        ((KEPT, BROKEN), (TEETH,), False),
        ((KEPT, SILENT), (TEETH,), False),
        ((KEPT, OPEN), (TEETH,), False),
        ((), (TEETH,), False),
        ((), (), False),
    ],
)
def test_what_passes(rows, injected, passed):
    report = AuditReport(rows, injected)
    assert report.passed is passed
    assert bool(report.problems) is not passed


def test_every_problem_is_named():
    problems = AuditReport((KEPT, BROKEN, SILENT, OPEN), (BLIND,)).problems
    assert len(problems) == 4
    for word in ("budget: promised 10.0, measured 11.0", "accuracy: vacuous", "truthfulness: not measured",
                 "did not flag noise halved"):
        assert any(word in problem for problem in problems)
    assert "no control" in AuditReport((KEPT,)).problems[0]


def test_at_most():
    assert AuditRow.at_most("x", 1.0, 1.0 + 1e-12, "e", concern="accuracy").verdict is Verdict.KEPT
    assert AuditRow.at_most("x", 1.0, 1.01, "e", concern="accuracy").flagged
    assert AuditRow.at_most("x", 1.0, math.nan, "e", concern="accuracy").flagged
    assert AuditRow.at_most("x", 1.0, math.inf, "e", concern="accuracy").flagged
    endless = AuditRow.at_most("x", math.inf, 5.0, "e", concern="accuracy")
    assert (endless.verdict, bool(endless.note)) == (Verdict.VACUOUS, True)
    assert AuditRow.at_most("x", -1.0, -2.0, "e", concern="accuracy").verdict is Verdict.KEPT
    assert AuditRow.at_most("x", 1.0, 5.0, "e", vacuous=True, concern="accuracy").verdict is Verdict.VACUOUS


def test_rows_refuse_nonsense():
    with pytest.raises(InvalidInput, match="verdict"):
        AuditRow("x", 1.0, 0.9, "e", "fine", concern="accuracy")
    for measured in (None, math.nan):
        with pytest.raises(InvalidInput, match="measured"):
            AuditRow("x", 1.0, measured, "e", "kept", concern="accuracy")
    with pytest.raises(InvalidInput, match="measured"):
        AuditRow("x", 1.0, None, "e", "broken", concern="accuracy")
    for chance in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidInput, match="false_alarm"):
            AuditRow("x", 1.0, 0.5, "e", "kept", false_alarm=chance, concern="accuracy")


def test_false_alarms_add_up():
    rows = [AuditRow("x", 1.0, 0.5, "e", "kept", false_alarm=chance, concern="accuracy") for chance in (1e-3, 2e-3)]
    assert AuditReport((*rows, KEPT), (TEETH,)).false_alarm == pytest.approx(3e-3)
    assert "0.003" in AuditReport(tuple(rows), (TEETH,)).to_section().blocks[0].note
    assert "probability" not in AuditReport((KEPT,), (TEETH,)).to_section().blocks[0].note


def test_dictionary_is_json_and_canonical():
    report = AuditReport((KEPT, SILENT, OPEN, AuditRow.at_most("x", 1.0, math.nan, "e",
                                                               concern="accuracy")), (TEETH, BLIND))
    out = report.to_dict()
    assert json.loads(canonical(out)) == out
    assert out["passed"] is False
    assert [row["verdict"] for row in out["rows"]] == ["kept", "not measured", "vacuous", "broken"]
    assert out["rows"][2]["promised"] == "Infinity"
    assert out["rows"][3]["measured"] == "nan"
    assert out["controls"][1] == {"name": "privacy", "planted_bug": "noise halved", "flagged": False}


def test_section_shows_rows_controls_and_problems():
    section = AuditReport((KEPT, SILENT), (TEETH, BLIND)).to_section("Audit", study=True)
    rows, injected, words = section.to_dict()["blocks"]
    assert section.study
    assert rows["rows"][0][:5] == ["privacy", "privacy", 1.0, 0.9, "kept"]
    assert rows["rows"][1][2] == "Infinity"
    assert [row[2] for row in injected["rows"]] == ["yes", "NO"]
    assert words["text"][0].startswith("Not passed: 1 of ")
    assert len(words["text"]) == 3
    json.dumps(section.to_dict(), allow_nan=False)
    assert AuditReport((KEPT,), (TEETH,)).to_section().blocks[2].paragraphs == (
        "Passed: 1 of 1 promises were measured (1 kept), 0 are vacuous, 0 were not measured.",)


def test_print_gives_a_line_a_promise_and_a_line_a_control():
    long = replace(KEPT, promise="a promise " * 20, measured=0.9, unit="nats")
    report = AuditReport((long, BROKEN, OPEN), (TEETH, BLIND))
    rows, injected, said = str(report).split("\n\n")
    assert [line.split()[0] for line in rows.splitlines()] == ["verdict", "kept", "not", "broken"]
    assert "a promise a ..." in rows
    assert "0.9 nats" in rows
    assert max(map(len, str(report).splitlines())) < 140
    assert injected.splitlines()[1:] == ["flagged      privacy: no noise", "NOT flagged  privacy: noise halved"]
    assert said.startswith("Not passed: 2 of 3 promises")
    evidence = f"{BROKEN.promise}, as it was measured: {BROKEN.evidence}"
    assert said.splitlines()[1:] == [*report.problems, evidence]
    assert repr(report).startswith("AuditReport(rows=(AuditRow(")
    assert "participation: nothing is promised" in str(AuditReport((AuditRow.unpromised("participation", "no"),)))


def test_units_stand_with_both_numbers():
    paid = AuditRow.at_most("paid", 1.5, 1.25, "e", concern="budget", unit="EUR")
    least = AuditRow.at_least("worth", 0.0, 0.5, "e", concern="participation", unit="EUR")
    assert (paid.bound, paid.found, least.bound) == ("at most 1.5 EUR", "1.25 EUR", "at least 0 EUR")
    for loss, unit in ((PureDP(1.0), "nats"), (ZCDP(0.5), "(rho)"), (GDP(1.0), "(mu)")):
        assert AuditRow.of_loss("p", loss, 1.0, 0.5, "e", flagged=False).found == f"0.5 {unit}"
    bare = AuditRow("x", "p above 1e-09", 0.5, "e", "kept", concern="privacy", unit="(p-value)")
    assert (bare.bound, bare.found) == ("p above 1e-09", "0.5 (p-value)")
    assert AuditReport((paid,), (TEETH,)).to_dict()["rows"][0]["unit"] == "EUR"


def test_a_table_says_what_its_verdicts_mean_and_how_many_there_are():
    endless = AuditRow.at_most("error", math.inf, 0.5, "e", concern="accuracy")
    absent = AuditRow.unpromised("participation", "nobody is invited")
    assert absent.to_dict()["verdict"] == "no promise"
    report = AuditReport((KEPT, endless, absent), (TEETH,))
    table, _, words = report.to_section().blocks
    assert "vacuous: the promise says nothing at these sizes" in table.note
    assert "no promise: the campaign promises nothing about this concern, so there is nothing to measure" in table.note
    assert "not measured" not in table.note
    assert "not measured: its row has the reason" in AuditReport((OPEN,), (TEETH,)).to_section().blocks[0].note
    assert words.paragraphs == ("Passed: 1 of 2 promises were measured (1 kept), 1 is vacuous, 0 were not measured; "
                                "there is no promise about 1 of 5 concerns.",)
    assert "vacuous" not in AuditReport((KEPT,), (TEETH,)).to_section().blocks[0].note


def test_what_was_measured_on_something_smaller_is_counted_apart_and_says_so():
    small = KEPT.smaller("8 made-up bidders")
    assert KEPT.smaller("") is KEPT
    assert "measured among 8 made-up bidders, which is smaller than the campaign" in small.reading
    assert small.to_dict()["among"] == "8 made-up bidders"
    report = AuditReport((KEPT, small, replace(small, verdict="broken")), (TEETH,))
    assert (report.counts["measured"], report.counts["smaller"], report.counts["kept"], report.counts["broken"]) == (
        1, 2, 2, 1)
    assert not report.passed  # a promise that is broken among few is broken
    assert AuditReport((KEPT, small), (TEETH,)).to_section().blocks[2].paragraphs == (
        "Passed: 1 of 2 promises were measured at the campaign's own size and 1 on smaller data (2 kept), 0 are "
        "vacuous, 0 were not measured.",)


def test_a_gallery_of_injected_bugs():
    def attack(law):
        return exact_audit({0: [law, 1 - law], 1: [1 - law, law]}, PureDP(1.0))

    gallery = [Mutant("privacy", "no noise", 1.0), Mutant("privacy", "noise untouched", 0.7)]
    assert [control.flagged for control in controls(gallery, attack)] == [True, False]
    assert all(type(control.flagged) is bool for control in controls(gallery, attack))


def test_a_number_that_is_none_exceeds_every_bound():
    assert exceeds(math.nan, math.inf)
    assert not exceeds(math.inf, math.inf)


def test_public_names_resolve():
    assert sorted(audit.__all__) == dir(audit)
    for name in audit.__all__:
        assert getattr(audit, name) is not None
    assert confide.audit is audit
    with pytest.raises(AttributeError):
        audit.nothing_of_the_kind  # noqa: B018

"""The kind `bits` from its file: plan, offer, submit, rehearse, run, share, verify, study, audit."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from campaign.forging import words
from cases import fast
from confide.audit import AuditReport, Verdict, audit
from confide.campaign import Campaign, verify
from confide.contract import BudgetExceeded, InvalidInput, Refused, kind
from confide.contract.guarantees import Truthfulness
from confide.market import LinearCost, MajorityMarket, audited
from confide.market.audited import TOO_COARSE
from confide.market.collection import BitCollection

REHEARSAL = '[rehearsal]\nsource = "truth.csv"\ncolumn = "ill"\n'


def text(**edits: str) -> str:
    found = kind("bits").template
    for old, new in edits.items():
        found = found.replace(old, new)
    return found


def campaign(folder: Path, name: str = "ill", edit: tuple[str, str] = ("", "")) -> Campaign:
    truth = "".join(f"{i},{'yes' if i % 3 else 'no'}\n" for i in range(1, 191))  # ten took no part
    (folder / "truth.csv").write_text("id,ill\n" + truth)
    (folder / f"{name}.toml").write_text(kind("bits").template.replace(*edit) + REHEARSAL)
    return Campaign.load(folder / f"{name}.toml")


def test_the_plan_says_what_it_costs_and_lists_the_collusive_equilibria(tmp_path: Path) -> None:
    plan = campaign(tmp_path).plan
    shown = words(plan.sections())
    market = plan.mechanism.market
    assert f"{market.quote().expected_payment:.2f} EUR" in shown
    for name in ("always 0", "always 1", "level 1", "thesis: cheapest", "chernoff: cheapest", "exact: cheapest"):
        assert name in shown
    offer = words(plan.offer())
    assert "Have you been ill since May?" in offer
    assert "73.1%" in offer


@pytest.mark.slow
def test_a_cap_on_single_payments_and_coarse_coins_are_warned_of(tmp_path: Path) -> None:
    assert "Warning" not in words(campaign(tmp_path).plan.sections())
    assert "above [payment] most = 20.00 EUR" in words(campaign(
        tmp_path, edit=("most = 60.0", "most = 20.0")).plan.sections())
    assert "rounding to whole coins" in words(campaign(
        tmp_path, edit=("minor_units = 100", "minor_units = 1")).plan.sections())


def test_the_whole_life(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    assert it.submit(18, {"answer": ""}) == {"id": "18", "report": ""}
    reports = tmp_path / "reports.csv"
    assert it.rehearse(reports) == 190
    settled = it.settle()
    board = settled.outcome.billboard
    with reports.open() as file:
        handed_in = [line["report"] for line in csv.DictReader(file)]
    assert board.ones.tolist() == [handed_in.count("yes")]
    assert board.present == 190
    coins = {"yes": int(board.for_one[0]), "no": int(board.for_zero[0])}
    assert settled.outcome.shares["payment"].to_pylist()[:190] == [coins[each] for each in handed_in]
    for identity in (3, 17, 200):
        own = words(it.share(identity))
        paid = coins[handed_in[identity - 1]] if identity <= 190 else 0
        assert f"payment {paid / 100:.2f} EUR" in own
    assert words(it.share(3, record={"report": handed_in[2]})) == words(it.share(3))
    found = verify(settled.folder)
    assert all(each.verdict == "holds" for each in found.findings), found
    assert "Best guess" in words(it.file.kind.result(it.plan, settled.outcome))
    assert not it.settle().fresh


def test_the_same_bit_is_asked_again_only_by_those_who_say_so(tmp_path: Path) -> None:
    first, second = campaign(tmp_path), campaign(tmp_path, "again", ('title = "Does', 'title = "Again: does'))
    renamed = campaign(tmp_path, "renamed", ('data_set = "ill since may"', 'data_set = "may"'))
    first.submit(17, {"answer": "yes"})
    for spelled in (" 17", "17 ", "\t17\n", 17):  # one person, however she writes her id
        assert first.submit(spelled, {"answer": "yes"})["id"] == "17"
        for other in (second, renamed):
            with pytest.raises(Refused, match="agree to a total of 2"):
                other.submit(spelled, {"answer": "yes"})
    assert len(first.book().answers()) == 1
    own = second.submit(17, {"answer": "yes"}, total=2.0)
    assert second.submit(17, {"answer": ""}) == own  # a retry is no way to take it back
    with pytest.raises(InvalidInput, match="cannot be written"):
        first.rehearse(tmp_path / "no" / "folder.csv", total=3.0)
    with pytest.raises(Refused, match="agree to a total of 3"):  # nothing was spent
        first.rehearse(tmp_path / "reports.csv")
    assert not (tmp_path / "reports.csv").exists()
    assert first.rehearse(tmp_path / "reports.csv", total=3.0) == 190
    for it, name in ((first, "more.csv"), (second, "other.csv")):
        with pytest.raises(Refused):
            it.rehearse(tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(Refused):
        first.submit(18, {"answer": "yes"})  # everybody was played
    first.settle()
    with pytest.raises(BudgetExceeded):  # the operator's ledger, too
        second.settle()


def test_what_people_and_operators_get_wrong(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    for record, match in (({"answer": "maybe"}, "not on the list"), ({"report": "yes"}, "'report' is not asked for")):
        with pytest.raises(InvalidInput, match=match):
            it.submit(1, record)
    with pytest.raises(InvalidInput, match="not on the public list"):
        it.submit(201, {"answer": "yes"})
    assert not it.book().answers()
    (tmp_path / "reports.csv").write_text("id,report\n1,yes\n2,maybe\n2,no\n999,yes\n3,\n")
    found = it.check()
    assert (found.rows, found.usable) == (5, 1)
    assert found.rejected == {"2": "report: is not a level; must be one of no, yes",
                              "2 (row 3)": "a later row of the same id", "row 4": "no id of the public list"}
    (tmp_path / "ill.toml").write_text(kind("bits").template)
    with pytest.raises(Refused, match="no \\[rehearsal\\]"):
        Campaign.load(tmp_path / "ill.toml").study(3)
    for edit, match in ((("signal_accuracy = 0.7", "signal_accuracy = 0.5"), "state.signal_accuracy"),
                        (("prior_one = 0.5", "prior_one = 1"), "state.prior_one"),
                        (("epsilon = 1.0               # level of", "epsilon = 701 # of"), "privacy.epsilon"),
                        (("count = 200", "count = 1"), "people.count"),
                        (('law = "linear"', 'law = "power"'), "exponent"),
                        (('zero = "no"', 'zero = "yes"'), "bit.levels")):
        with pytest.raises(InvalidInput, match=match):
            _ = campaign(tmp_path, "bad", edit).plan


def test_a_study_plays_everybody_and_is_no_release(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    outcome, sections = it.study(3)
    assert not outcome.release_safe
    again, _ = it.study(3)
    assert again.shares.equals(outcome.shares)
    assert "0.668" in words(sections)  # 127 of 190 are ill
    assert not it.book().answers()


@pytest.mark.parametrize(("people", "epsilon", "presence"), fast(1, [(60, 0.5, 0.8), (10, 1.0, 1.0)]))
def test_the_audit_holds_promises_against_what_runs(people: int, epsilon: float, presence: float) -> None:
    market = MajorityMarket(people, 0.8, 0.7, LinearCost(1.0), epsilon, presence)
    report = audit(audited.majority(BitCollection(market=market, currency="EUR", minor_units=10**6)))
    assert isinstance(report, AuditReport)
    assert report.passed, report.problems
    assert len(report.rows) == 13
    assert all(control.flagged for control in report.controls)


def test_whole_euros_that_are_worth_more_than_truth_promise_nothing_of_it() -> None:
    market = MajorityMarket(60, 0.8, 0.7, LinearCost(1.0), 0.1)
    collection = BitCollection(market=market, minor_units=1)
    assert collection.guarantees().of(Truthfulness)[0].vacuous
    assert not BitCollection(market=market, minor_units=10**6).guarantees().of(Truthfulness)[0].vacuous
    row = next(row for row in audit(audited.majority(collection)).rows if "truth" in row.promise)
    assert (row.verdict, row.note) == (Verdict.VACUOUS, TOO_COARSE)
    assert float(row.measured or 0) > market.margin


def test_errors_count_who_stays_away() -> None:
    market = MajorityMarket(200, 0.8, 0.5, LinearCost(0.5), 1.0, presence=0.05)
    law = binom.pmf(np.arange(201), 200, 0.05)
    rates = float(market.reporting.agree), float(market.reporting.miss)
    wrong = sum(weight / 2 * np.minimum(*(binom.pmf(np.arange(n + 1), n, rate) for rate in rates)).sum()
                for n, weight in enumerate(law))
    assert market.error_probability() == pytest.approx(wrong, rel=1e-9)
    assert market.error_probability() == pytest.approx(0.1908, abs=5e-5)
    assert audit(audited.majority(BitCollection(market=market))).passed

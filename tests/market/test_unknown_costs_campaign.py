"""The kind `bits-unknown-costs` from its file: levels chosen at home, deposits, payments of both signs, the audit."""

from __future__ import annotations

import csv
import math
import shutil
from pathlib import Path

import pytest

from campaign.forging import words
from cases import fast
from confide.audit import Verdict, audit
from confide.campaign import Campaign, Store, verify
from confide.contract import InvalidInput, kind
from confide.contract.guarantees import Participation, Privacy, Truthfulness
from confide.market import BitCollection, ExponentialLaw, GammaLaw, LogNormalLaw, ThresholdMarket, UniformLaw, audited
from confide.market.audited import TOO_COARSE
from confide.privacy import PureDP

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def rule(tmp_path: Path) -> Campaign:
    for name in ("rule_or_exception.toml", "rule_or_exception_reports.csv"):
        shutil.copy(EXAMPLES / name, tmp_path)
    return Campaign.load(tmp_path / "rule_or_exception.toml")


def template(folder: Path, *edit: str) -> Campaign:
    text = kind("bits-unknown-costs").template
    (folder / "ill.toml").write_text(text.replace(*edit) if edit else text)
    return Campaign.load(folder / "ill.toml")


def test_it_runs_from_its_reports_and_pays_both_signs_with_deposits(rule: Campaign) -> None:
    with Store() as store:
        settled = rule.settle(store=store)
        board, plan = settled.outcome.billboard, rule.plan
        with (rule.file.folder / "rule_or_exception_reports.csv").open() as file:
            reports = {int(line["id"]): line["report"] for line in csv.DictReader(file)}
        assert board.ones.tolist() == [list(reports.values()).count("yes")]
        paid = plan.mechanism.market.pay(int(board.ones[0]), int(board.zeros[0]))
        coins = {"yes": math.ceil(100 * paid.one), "no": math.ceil(100 * paid.zero)}
        assert (int(board.for_one[0]), int(board.for_zero[0])) == (coins["yes"], coins["no"])
        assert min(coins.values()) < 0 < max(coins.values())
        entries = rule.payouts(store=store).entries
        due = dict(zip(map(int, entries["id"].to_pylist()), entries["coins"].to_pylist(), strict=True))
    assert due == {who: coins[said] + plan.deposit for who, said in reports.items()}  # nobody else left a deposit
    assert min(due.values()) >= 0
    assert all(each.verdict == "holds" for each in verify(settled.folder).findings)
    assert "The majority of the reports says no" in words(rule.file.kind.result(plan, settled.outcome))
    somebody = next(iter(reports))
    assert f"With the deposit of {plan.coins(plan.deposit)}" in words(rule.share(somebody))


def test_a_participants_device_chooses_the_level_and_sends_it_nowhere(tmp_path: Path) -> None:
    it = template(tmp_path)
    market = it.plan.mechanism.market
    assert set(it.submit(3, {"answer": "yes", "worth": "0.1"})) == {"id", "report"}
    (answer,) = it.book().answers()
    assert answer.level == market.level_of(0.1)
    assert market.epsilon < answer.level < market.largest_level
    assert it.submit(4, {"answer": "yes", "worth": "50"})["report"] == ""  # too dear: she stays away, at no cost
    assert len(it.book().answers()) == 1
    it.submit(5, {"answer": "no", "worth": "1e-9"})
    assert it.book().answers()[-1].level == market.largest_level == 3.0
    for worth in ({}, {"worth": "0"}, {"worth": "-1"}, {"worth": "nan"}, {"worth": "much"}):
        with pytest.raises(InvalidInput, match="worth: is missing, or is not an amount above 0"):
            it.submit(6, {"answer": "yes", **worth})


def test_the_plan_promises_the_ceiling_and_says_what_epsilon_is(tmp_path: Path) -> None:
    plan = template(tmp_path).plan
    privacy = plan.guarantees.of(Privacy)[0]
    assert privacy.loss == PureDP(3.0)
    assert not privacy.vacuous
    assert "protects nobody" in privacy.note
    assert not plan.guarantees.of(Participation)[0].vacuous
    shown = words(plan.sections())
    for name in ("always 0", "always 1", "thesis: best found", "for the quality of reports", "payment is negative"):
        assert name in shown
    assert [event.epsilon for event in plan.mechanism.events()] == [3.0]


def test_bad_files_are_named(tmp_path: Path) -> None:
    for old, new, match in (("ceiling = 3.0 ", "ceiling = 1.0 ", "privacy.ceiling"),
                            ("ceiling = 3.0 ", "# ", "ceiling"),
                            ('law = "lognormal"', 'law = "gamma"', "meanlog belongs to"),
                            ("share = 0.05", "share = 0.05\nthreshold = 1.0", "exactly one"),
                            ("sdlog = 1.0", "sdlog = 0", "costs.sdlog"), ("share = 0.05", "share = 1.0", "share")):
        with pytest.raises(InvalidInput, match=match):
            _ = template(tmp_path, old, new).plan
    for law, built in (('law = "exponential"\nmean = 2.0', ExponentialLaw(2.0)), ('law = "uniform"\nhigh = 3.0',
                       UniformLaw(0.0, 3.0)), ('law = "gamma"\nshape = 2.0\nscale = 0.5', GammaLaw(2.0, 0.5))):
        text = kind("bits-unknown-costs").template
        start, end = text.index("law = "), text.index("\n\n[participation]")
        (tmp_path / "other.toml").write_text(text[:start] + law + text[end:])
        assert Campaign.load(tmp_path / "other.toml").file.config.costs.build() == built


@pytest.mark.slow
@pytest.mark.parametrize(("people", "share"), fast(1, [(40, 0.3), (1000, 0.02)]))
def test_the_audit_holds_promises_against_what_runs(people: int, share: float) -> None:
    market = ThresholdMarket(people, 0.8, 0.7, LogNormalLaw(0.0, 1.0), 1.0, participation=share, ceiling=2.5)
    report = audit(audited.unknown_costs(BitCollection(market=market, minor_units=10**6)))
    assert report.passed, report.problems
    assert len(report.rows) == 13
    assert all(control.flagged for control in report.controls)


@pytest.mark.slow
def test_coins_that_outweigh_truth_are_said_and_measured(tmp_path: Path) -> None:
    plan = template(tmp_path, "meanlog = 0.0", "meanlog = -4.0").plan
    assert "the plan does not promise that truth pays best" in words(plan.sections())
    assert plan.guarantees.of(Truthfulness)[0].vacuous
    row = next(row for row in audit(audited.unknown_costs(plan.mechanism)).rows if "truth" in row.promise)
    assert (row.verdict, row.note) == (Verdict.VACUOUS, TOO_COARSE)
    assert float(row.measured or 0) > 1e-5
    debts = template(tmp_path, "minor_units = 100", "minor_units = 100\nmost = 3.2").plan
    assert "the largest debt is" in words(debts.sections())

"""The kind `bits-pair` from its file, and the example on a real survey with the audit of who knows her own group."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from campaign.forging import words
from confide.audit import Verdict, audit
from confide.campaign import Campaign, verify
from confide.contract import InvalidInput, kind
from confide.market import BitCollection, LinearCost, PairMarket, PairPrior, audited

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def affairs(tmp_path: Path) -> Campaign:
    for name in ("affairs.toml", "affairs_reports.csv"):
        shutil.copy(EXAMPLES / name, tmp_path)
    return Campaign.load(tmp_path / "affairs.toml")


def test_the_survey_runs_from_its_reports(affairs: Campaign) -> None:
    settled = affairs.settle()
    board = settled.outcome.billboard
    assert (board.ones + board.zeros).tolist() == [99, 348, 993, 2242, 2684]
    market = affairs.plan.mechanism.market
    for k, (one, zero) in enumerate(zip(board.ones.tolist(), board.zeros.tolist(), strict=True)):
        paid = market.pay(one, zero)
        assert (board.for_one[k], board.for_zero[k]) == (math.ceil(100 * paid.one), math.ceil(100 * paid.zero))
    # 5 of 5 intervals at 95% hold the true shares, and that of all: Hoeffding's are wide
    shares = np.array([74, 221, 547, 724, 487]) / [99, 348, 993, 2242, 2684]
    for k, share in enumerate(shares):
        low, high = market.estimate(int(board.ones[k]), int(board.zeros[k])).interval(0.05)
        assert low < share < high
    assert all(each.verdict == "holds" for each in verify(settled.folder).findings)
    own = words(affairs.share(17))
    assert words(affairs.share(17, record={"report": "yes", "rate_marriage": "4"})) == own
    with pytest.raises(InvalidInput, match="rate_marriage: no value is given"):
        affairs.share(17, record={"report": "yes"})


def test_its_audit_shows_what_somebody_who_knows_the_group_gains(affairs: Campaign) -> None:
    report = affairs.audit()
    assert report.passed, report.problems
    insiders = [row for row in report.rows if "people who know that they are in group" in row.promise]
    assert [row.verdict for row in insiders] == [Verdict.VACUOUS] * 5
    # spec data_market 6, g = x: 18.10, 15.22, 12.30, 1.03, 6.17; the file's cost is a tenth of it
    gains = [10 * float(row.measured or 0) for row in insiders]
    assert gains == pytest.approx([18.10, 15.22, 12.30, 1.03, 6.17], abs=0.006)
    assert ["always 1" in row.note for row in insiders] == [True] * 4 + [False]
    plan = words(affairs.plan.sections())
    assert "in 5 of 5 groups, members who know their group do best with one fixed report" in plan
    assert "People who know their own group" in plan


def test_a_study_plays_the_true_answers(affairs: Campaign) -> None:
    _, sections = affairs.study(7)
    table = sections[0].blocks[0]
    assert [row[1] for row in table.rows] == pytest.approx([74 / 99, 221 / 348, 547 / 993, 724 / 2242, 487 / 2684])


def test_the_template_plans_and_beliefs_are_checked(tmp_path: Path) -> None:
    text = kind("bits-pair").template

    def plan(*edit: str) -> object:
        (tmp_path / "cheated.toml").write_text(text.replace(*edit) if edit else text)
        return Campaign.load(tmp_path / "cheated.toml").plan

    shown = words(plan().sections())  # type: ignore[attr-defined]
    for name in ("always 0", "always 1", "level 1.5", "thesis: cheapest", "Proposition 1"):
        assert name in shown
    assert "Warning" not in shown
    for new, match in (("pairs = [0.2, 0.4]\nbeta = [2, 3]", "exactly one"),
                       ("pairs = [0.25, 0.25]", "belief: covariance"), ("beta = [2, 0]", "belief.beta"),
                       ("beta = [2]", "belief.beta"),
                       ('beta = [2, 3]\ncolumn = "class"', "give column only together with groups"),
                       ('groups = [{ name = "a", size = 1, ones = 0 }]', "belief.groups")):
        with pytest.raises(InvalidInput, match=match):
            plan("beta = [2, 3]", new)


@pytest.mark.parametrize("prior", [
    PairPrior.beta_binomial(2, 3, 10), PairPrior.of_counts([0, 0, 0, 0.5, 0.5, 0, 0, 0, 0])])
def test_the_audit_holds_for_both_signs_of_dependence(prior: PairPrior) -> None:
    report = audit(audited.pairs(BitCollection(market=PairMarket(prior, LinearCost(1.0), 1.0), minor_units=10**6)))
    assert report.passed, report.problems
    assert len(report.rows) == 13
    assert all(control.flagged for control in report.controls)

"""What identities gain that all give one report: against every outcome, one by one, and the figures of campaigns."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaign.forging import words
from confide.campaign import Campaign
from confide.contract import InvalidInput, kind
from confide.market import LinearCost, MajorityMarket, PairMarket, PairPrior, ThresholdMarket
from confide.market.binomials import posterior_one
from confide.market.coalitions import answer_coalition, share_coalition, turned
from confide.market.threshold.cost_laws import LogNormalLaw
from confide.numerics.fewest import fewest
from people.all_kinds import campaign_of

EXAMPLES = Path(__file__).parents[2] / "examples"
MAJORITY = MajorityMarket(6, 0.8, 0.6, LinearCost(1.0), 1.5)
SOME_STAY_AWAY = MajorityMarket(6, 0.75, 0.45, LinearCost(1.0), 1.0, presence=0.6)
THRESHOLD = ThresholdMarket(6, 0.8, 0.55, LogNormalLaw(0.0, 1.0), epsilon=1.0, participation=0.5, ceiling=3.0)


def honest(market: Any, others: int, state: int) -> list[tuple[int, int, float]]:
    """(ones, zeros, probability) of every outcome of honest people, each alone: absent, with a 1 or with a 0."""
    agree = float(market.reporting.agree)
    one = agree if state else 1 - agree
    law = {"none": 1 - market.presence, "one": market.presence * one, "zero": market.presence * (1 - one)}
    return [(each.count("one"), each.count("zero"), float(np.prod([law[name] for name in each])))
            for each in product(law, repeat=others)]


def by_hand(market: Any, size: int, report: int, state: int) -> tuple[float, float]:
    """What each of them is paid on average, and P(the answer is 1), over every outcome."""
    paid = chosen = 0.0
    for theirs, others, probability in honest(market, market.people - size, state):
        ones, zeros = theirs + size * report, others + size * (1 - report)
        due = market.pay(ones, zeros)
        paid += probability * (due.one if report else due.zero)
        answer = ones >= zeros if isinstance(market, ThresholdMarket) else (
            posterior_one(ones, zeros, market.signal_model, market.reporting) > 0.5)
        chosen += probability * float(answer)
    return paid, chosen


@pytest.mark.parametrize("market", [MAJORITY, SOME_STAY_AWAY, THRESHOLD], ids=["all", "some", "unknown costs"])
@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_closed_sums_are_those_of_every_outcome(market: Any, size: int) -> None:
    p1, theta, found = market.prior_one, market.signal_accuracy, answer_coalition(market, size)
    paid = np.array([[by_hand(market, size, x, w)[0] for w in (0, 1)] for x in (0, 1)])
    assert found.each == pytest.approx(max(paid @ [1 - p1, p1]), rel=1e-10)
    keep = 1 - market.flip if isinstance(market, ThresholdMarket) else 1 / (1 + np.exp(-market.epsilon))
    chosen = drawn = 0.0
    for bit in (0, 1):  # what one person knows, who chooses the report of all
        by = [sum((p1 if w else 1 - p1) * (theta if w == bit else 1 - theta) * paid[x, w] for w in (0, 1))
              for x in (0, 1)]
        chosen, drawn = chosen + max(by), drawn + keep * by[bit] + (1 - keep) * by[1 - bit]
    assert found.chosen == pytest.approx(chosen, rel=1e-10)
    assert found.drawn == pytest.approx(drawn, rel=1e-10)
    wrong = [1 - by_hand(market, size, 0, 1)[1], by_hand(market, size, 1, 0)[1]]
    for report in (0, 1):
        assert turned(market, size, report) == pytest.approx(wrong[report], abs=1e-12)
    assert found.turned == pytest.approx(max(wrong), abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("presence", [1.0, 0.7])
def test_of_pairs_too(size: int, presence: float) -> None:
    market = PairMarket(PairPrior.beta_binomial(2, 3, people=5), LinearCost(1.0), 1.2, presence=presence)
    keep = 1 / (1 + np.exp(-1.2))
    paid = np.zeros((2, 2))  # by the report, and the bit of the one who chooses it
    for bit in (0, 1):
        p1 = float(market.prior.pairs[1, bit] / market.prior.pairs[:, bit].sum())
        one = p1 * keep + (1 - p1) * (1 - keep)
        law = {"none": 1 - presence, "one": presence * one, "zero": presence * (1 - one)}
        for each in product(law, repeat=5 - size):  # the mean over peers is linear: their joint law does not matter
            probability = float(np.prod([law[name] for name in each])) * float(market.prior.pairs[:, bit].sum())
            for report in (0, 1):
                ones, zeros = each.count("one") + size * report, each.count("zero") + size * (1 - report)
                due = market.pay(ones, zeros)
                paid[report, bit] += probability * (due.one if report else due.zero)
    found = share_coalition(market, size)
    assert found.each == pytest.approx(paid.sum(axis=1).max(), rel=1e-10)
    assert found.chosen == pytest.approx(paid.max(axis=0).sum(), rel=1e-10)
    assert found.drawn == pytest.approx(keep * np.trace(paid) + (1 - keep) * (paid.sum() - np.trace(paid)), rel=1e-10)
    if presence == 1.0:  # reports of 1 in the place of reports of 0
        most = market.estimate(size, 5 - size).value - market.estimate(0, 5).value
        raw = (size / 5) / (2 * keep - 1)
        assert found.shift == pytest.approx(raw)
        assert most <= raw + 1e-12


def test_figures_that_were_seen() -> None:
    exception = Campaign.load(EXAMPLES / "rule_or_exception.toml").plan.mechanism.market
    assert exception.error_probability() == pytest.approx(0.0507, abs=1e-4)
    twenty = answer_coalition(exception, 20)
    assert turned(exception, 20, 1) == pytest.approx(0.828, abs=5e-4)
    assert twenty.each == pytest.approx(4.25, abs=0.01)
    affairs = Campaign.load(EXAMPLES / "affairs.toml").plan.mechanism.market
    assert share_coalition(affairs, 100).shift == pytest.approx(0.0340, abs=5e-5)
    assert affairs.half_width(0.05) == pytest.approx(0.0368, abs=5e-5)
    template = campaign_of("bits").plan.mechanism.market
    assert 20 * answer_coalition(template, 20).chosen == pytest.approx(95.1, abs=0.05)
    assert template.quote().participation == pytest.approx(3.29, abs=5e-3)


def test_the_plan_warns_where_few_decide_and_only_there() -> None:
    few = Campaign.load(EXAMPLES / "rule_or_exception.toml").plan
    market, many = few.mechanism.market, few.agreements.deciding
    assert many == 13  # the fewest: 12 do not
    assert max(turned(market, 13, x) for x in (0, 1)) >= 0.5 > max(turned(market, 12, x) for x in (0, 1))
    assert "Warning: 13 identities of 6,366, fewer than 1%, decide the result" in words(few.sections())
    assert "decide the result: anybody" not in words(campaign_of("bits").plan.sections())
    said = words(campaign_of("bits").plan.sections())
    assert "['ids with which one person is paid more than with one id', 2, '1.00%'" in said
    assert "['people who each earn more by an agreement on their reports than by the truth', 2," in said
    assert "['people who each earn more if all of them give one fixed report', 11," in said
    truth = campaign_of("bits").plan.mechanism.market.quote().participation
    assert answer_coalition(campaign_of("bits").plan.mechanism.market, 11).each > truth
    assert answer_coalition(campaign_of("bits").plan.mechanism.market, 10).each < truth


@pytest.mark.parametrize("name", ["bits", "bits-pair", "bits-unknown-costs"])
def test_the_fewest_ids_are_those_of_the_best_route(name: str) -> None:
    """By every route that is computed: with fewer nobody gains, and the plan names one gain for them."""
    plan: Any = campaign_of(name).plan
    market = plan.market

    def of(size: int) -> Any:
        return (share_coalition if isinstance(market, PairMarket) else answer_coalition)(market, size)

    found, paid = plan.agreements.smallest, float(market.quote().expected_payment)
    assert of(1).drawn == pytest.approx(paid, rel=1e-9)  # one identity that does as it should
    for size in (1, 2, 5):
        assert of(size).chosen >= max(of(size).each, of(size).drawn) - 1e-12
    assert found["second"] == found["group"] == 2
    assert found["fixed"] in (9, 11, 17)
    assert of(2).drawn > paid  # each of two people gains, who hand in the report of one of them
    gain = 2 * of(2).chosen - of(1).chosen
    said = words(plan.sections())
    assert f"A person with 2 ids gains {plan.money(gain)} more than with one id: " in said
    assert said.count("A person with") == 1
    assert f"A truthful report earns {plan.money(paid)} on average" in said
    if hasattr(market, "cost"):
        assert f"and {plan.money(market.quote().participation)} after the cost of its privacy." in said


def test_what_is_said_depends_on_the_file_alone(tmp_path: Path) -> None:
    """The plan is the same whatever lies where reports will be."""
    place = tmp_path / "campaign.toml"
    place.write_text(kind("bits").template)
    before = words(Campaign.load(place).plan.sections())
    (tmp_path / "reports.csv").write_text("id,report\n" + "".join(f"{i},yes\n" for i in range(1, 201)))
    assert words(Campaign.load(place).plan.sections()) == before


@pytest.mark.parametrize("size", [0, 7, 1.5, True])
def test_sizes_that_there_are_none_of(size: Any) -> None:
    with pytest.raises(InvalidInput, match="size"):
        answer_coalition(MAJORITY, size)


def test_peers_are_some_of_the_people() -> None:
    market = PairMarket(PairPrior.beta_binomial(2, 3, people=5), LinearCost(1.0), 1.2)
    assert share_coalition(market, 2, 3).each > share_coalition(market, 2).each  # two of three meet more of their own
    for peers in (1, 6):
        with pytest.raises(InvalidInput, match="peers"):
            share_coalition(market, 1, peers)


def test_the_fewest_is_found_without_trying_all() -> None:
    tried = list[int]()

    def holds(m: int) -> bool:
        tried.append(m)
        return m >= 70_001

    assert fewest(holds, 10**6) == 70_001
    assert len(tried) < 70
    assert fewest(lambda m: m >= 3, 10) == 3
    assert fewest(lambda _: False, 10**6) is None

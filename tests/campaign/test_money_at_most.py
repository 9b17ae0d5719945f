"""What pages say is paid at most is what the queue may hold at most: whole coins, rounded up."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from confide.campaign import Campaign
from confide.contract import Budget
from confide.contract.kinds import kind
from confide.contract.words import money_at_least, money_at_most

KINDS = ("bits", "bits-pair", "bits-unknown-costs", "mean", "regression")


@pytest.mark.parametrize("name", KINDS)
def test_the_offer_names_the_queues_own_bound(name: str, tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(kind(name).template)
    campaign = Campaign.load(tmp_path / "campaign.toml")
    terms = campaign.file.kind.payouts(campaign.plan)
    assert terms is not None
    offered = " ".join(str(each.to_dict()) for each in campaign.plan.offer())
    planned = " ".join(str(each.to_dict()) for each in campaign.plan.sections())
    assert terms.money(terms.highest) in offered
    if name != "mean":  # whose plan says what is paid in all
        assert terms.money(terms.highest) in planned
    (promise,) = campaign.plan.guarantees.of(Budget)
    said = [Fraction(each) for each in re.findall(r"-?\d+\.\d\d", promise.sentence().replace(",", ""))]
    assert said[0] >= Fraction(promise.expected)
    assert said[1] <= Fraction(promise.lowest)
    assert said[2] >= Fraction(promise.highest)


def test_bits_are_queued_within_what_was_offered(tmp_path: Path) -> None:
    """Three who agree get the largest payment of all, 51.00404 before it is rounded."""
    (tmp_path / "bits.toml").write_text(kind("bits").template)
    campaign = Campaign.load(tmp_path / "bits.toml")
    ((_, source),) = campaign.file.kind.files(campaign.file.config)
    (tmp_path / source).write_text("id,report\n1,yes\n2,yes\n3,yes\n")
    campaign.settle()
    queued = campaign.payouts().entries["coins"].to_pylist()
    assert queued == [5101] * 3
    assert "at most 51.01 EUR" in str([each.to_dict() for each in campaign.plan.offer()])


@pytest.mark.parametrize(("amount", "above", "below"), [
    (51.00404, "51.01 EUR", "51.00 EUR"), (51.0, "51.00 EUR", "51.00 EUR"), (-3.431, "-3.43 EUR", "-3.44 EUR"),
    (0.0, "0.00 EUR", "0.00 EUR"), (float("inf"), "inf EUR", "inf EUR")])
def test_bounds_are_rounded_on_their_own_side(amount: float, above: str, below: str) -> None:
    assert (money_at_most(amount, 100, "EUR"), money_at_least(amount, 100, "EUR")) == (above, below)

"""Other levels of privacy: planned on a public grid, what is refused or says nothing is told, and no data is read."""

from __future__ import annotations

import gc
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from confide.campaign import Campaign
from confide.campaign import trade_off as module
from confide.campaign.trade_off import kept_trade_off, points, trade_off
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy
from confide.contract.presentation import Picture, Section, Table
from people.all_kinds import KINDS, campaign_of


def table_of(section: Section) -> Table:
    """Its table."""
    return next(block for block in section.blocks if isinstance(block, Table))


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_a_table_of_levels(name: str) -> None:
    section = trade_off(campaign_of(name), factors=(1.0, 4.0))
    (own, more) = table_of(section).rows
    assert own[0] == 1.0
    assert own[-1] == ""
    assert isinstance(own[1], float)
    assert isinstance(more[1], float)
    assert own[1] < more[1]
    assert more[-1] == "the campaign's own [budget] does not admit this level"


def test_who_looks_again_plans_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each campaign, however many look at once; nothing is kept of a campaign that is gone."""
    campaign, asked = campaign_of("bits"), list[Campaign]()

    def counted(it: Campaign, factors: tuple[float, ...] = (1.0,)) -> Section:
        asked.append(it)
        return trade_off(it, factors)

    monkeypatch.setattr(module, "trade_off", counted)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(kept_trade_off, [campaign] * 8))
    assert asked == [campaign]
    assert all(each is found[0] for each in found)
    other = Campaign(campaign.file)
    assert table_of(kept_trade_off(other)).rows == table_of(found[0]).rows
    assert len(asked) == 2
    before = len(module._kept)
    asked.clear()
    del other
    gc.collect()
    assert len(module._kept) == before - 1


def test_the_campaigns_own_level_is_its_plan() -> None:
    campaign = campaign_of("bits")
    (own,) = points(campaign, factors=(1.0,))
    assert own.error == campaign.plan.guarantees.of(Accuracy)[0].bound
    assert (own.epsilon, own.vacuous, own.problem) == (1.0, (), "")


def test_error_falls_and_the_loss_rises_with_the_level() -> None:
    found = points(campaign_of("bits"), factors=(0.25, 0.5, 1.0))
    assert [each.epsilon for each in found] == [0.25, 0.5, 1.0]
    assert found[0].error > found[1].error > found[2].error


def test_all_levels_move_together() -> None:
    half, own = points(campaign_of("regression"), factors=(0.5, 1.0))
    assert (half.epsilon, own.epsilon) == (0.75, 1.5)  # epsilon_release + epsilon_payment


def test_the_loss_of_gaussian_noise_is_reported_as_an_epsilon() -> None:
    (own,) = points(campaign_of("mean"), factors=(1.0,))
    assert math.isclose(own.epsilon, 5.2215, rel_tol=1e-3)  # 0.5 zCDP at delta = 1e-6, tight


def test_what_is_refused_or_says_nothing_is_reported_and_not_drawn() -> None:
    section = trade_off(campaign_of("program"), factors=(0.125, 0.25, 0.5, 1.0))
    rows = table_of(section).rows
    assert "would reserve" in str(rows[0][-1])
    assert rows[0][1] is None
    assert rows[1][-1] == "says nothing of error"
    (picture,) = (block for block in section.blocks if isinstance(block, Picture))
    assert "as epsilon goes from 0.5 to 1" in picture.alt
    assert "At 1 of 4 levels, the campaign would be refused. The chart" in picture.alt


def test_privacy_error_and_money_share_one_chart_of_logarithmic_axes() -> None:
    section = trade_off(campaign_of("bits"), factors=(0.5, 1.0))
    (picture,) = (block for block in section.blocks if isinstance(block, Picture))
    lines = picture.spec["layer"][0]["encoding"]
    assert lines["x"]["scale"]["type"] == lines["y"]["scale"]["type"] == "log"
    assert lines["color"]["scale"]["domain"] == ["error", "money"]


def test_where_nothing_can_be_drawn_it_is_said() -> None:
    section = trade_off(campaign_of("queries"), factors=(1.0, 2.0))
    assert not any(isinstance(block, Picture) for block in section.blocks)
    assert "There is no picture" in str(section.to_dict())


def test_no_data_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bits.toml"
    path.write_text(campaign_of("bits").file.text, encoding="utf-8")
    campaign = Campaign.load(path)
    before = trade_off(campaign, factors=(0.5, 1.0)).to_dict()
    (tmp_path / "reports.csv").write_text("not,a,table\n", encoding="utf-8")
    assert trade_off(campaign, factors=(0.5, 1.0)).to_dict() == before


@pytest.mark.parametrize("factor", [0.0, -1.0, math.inf, math.nan])
def test_a_factor_is_above_0(factor: float) -> None:
    with pytest.raises(InvalidInput, match="factors"):
        points(campaign_of("bits"), factors=(factor,))

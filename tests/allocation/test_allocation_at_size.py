"""The audit of a market at its own size: noise that is sound among eight bidders and too small among many."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allocation.market_transcripts import replayed
from cases import fast
from confide.allocation import PAlloc, PMatch, SinkhornMatch
from confide.allocation.audited import full_size, full_size_row
from confide.allocation.audited_markets import tiny
from confide.allocation.bundles import Additive
from confide.audit import DampedNoise, inject_fault

SCALING = SinkhornMatch(people=600, goods=4, supply=100, epsilon=4.0)
AUCTION = PMatch(people=2000, goods=5, supply=300, epsilon=4.0, increment=0.1, bid_cap=6, rounds=10, batch=500, arity=6)
LONG = replace(AUCTION, batch=2)
BUNDLES = PAlloc(people=1200, goods=4, supply=400, epsilon=4.0, increment=0.1, bid_cap=6, rounds=8, batch=300, arity=6,
                 valuation=Additive())
MARKETS = {"scaling": SCALING, "auction": AUCTION, "auction with noise in blocks": LONG, "bundles": BUNDLES}


class BigLeak:
    """A twentieth of the noise beyond 500 people."""

    def run(self, data: Any, noise: Any) -> Any:
        return super().run(data, DampedNoise(noise, 0.05) if self.people > 500 else noise)  # type: ignore[misc,attr-defined]


@pytest.mark.parametrize("name", fast(2, ["scaling", "bundles", "auction", "auction with noise in blocks"]))
def test_a_sound_market_is_kept_and_too_little_noise_among_many_is_flagged(name: str) -> None:
    it = MARKETS[name]
    (row,), (control,) = full_size(it).measured()
    assert row.verdict == "kept"
    assert f"{it.people:,} synthetic bidders" in row.evidence
    assert 0.05 * it.epsilon < row.measured <= it.epsilon
    assert (row.holds, row.among) == (tuple(each.sentence() for each in it.guarantees().privacy), "")
    assert "of its scale" in row.note
    assert control.flagged
    assert full_size_row(inject_fault(it, BigLeak)).measured == pytest.approx(20 * float(row.measured), rel=0.5)
    assert full_size_row(inject_fault(it, BigLeak)).flagged


def test_what_is_cut_off_takes_its_part_of_delta() -> None:
    it = replace(SCALING, delta=1e-4, on_overflow="truncate", failure_probability=1e-7)
    row = full_size_row(it)
    assert row.verdict == "kept"
    assert 0.05 * it.epsilon < row.measured <= it.epsilon
    assert row.holds == tuple(each.sentence() for each in it.guarantees().privacy)
    assert full_size_row(inject_fault(it, BigLeak)).flagged


def test_such_noise_passes_among_eight() -> None:
    """Why this audit is needed: no tiny market has so many people."""
    twin = tiny(inject_fault(SCALING, BigLeak))
    assert isinstance(twin, BigLeak)
    assert not any(audit.flagged for audit in replayed(twin, 0, pairs=2).values())


@pytest.mark.slow
def test_a_long_record_is_observed_with_fewer_goods_or_not_at_all() -> None:
    wide = replace(LONG, goods=100, supply=300)
    assert wide.counter.counters * wide.counter.horizon > 100_000
    row = full_size_row(wide)
    assert row.verdict == "kept"
    assert "100 goods" not in row.evidence
    assert row.among == "10 of the goods"
    endless = replace(LONG, people=20_000, batch=1, rounds=30)
    assert full_size_row(endless).verdict == "vacuous"
    assert "side channels were not checked" in full_size_row(endless).evidence

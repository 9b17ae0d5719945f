"""Of settlers at once one publishes and all return the same; a budget for k campaigns is spent by exactly k."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from campaign.store.counting import Counting, write
from campaign.store.invariants import lives
from campaign.store.killing import new, prepared
from campaign.store.nursery import Nursery
from campaign.store.settlers import race_for_one, race_for_the_budget
from confide.campaign import Store, settlement, verify


@pytest.mark.parametrize(("settlers", "rounds"), [(2, 2), pytest.param(4, 25, marks=pytest.mark.slow)])
def test_settlers_of_one_campaign(
    settlers: int, rounds: int, nursery: Nursery, copies: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = race_for_one(nursery, prepared(copies, tmp_path / "scene"), settlers, rounds)
    if rounds > 3:
        with capsys.disabled():
            print(f"\n{json.dumps(figures)}")
    assert figures["errors"] == {}
    assert all(set(figures[name]) == {1} for name in ("returned", "fresh", "published", "debits", "payouts a person"))


@pytest.mark.slow
def test_settlers_who_find_nothing(
    nursery: Nursery, copies: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even tables or keys."""
    figures = race_for_one(nursery, new(copies, tmp_path / "scene"), settlers=4, rounds=25)
    with capsys.disabled():
        print(f"\n{json.dumps(figures)}")
    assert figures["errors"] == {}
    assert all(set(figures[name]) == {1} for name in ("returned", "fresh", "published", "debits", "payouts a person"))


@pytest.mark.slow
@pytest.mark.parametrize(("campaigns", "admitted", "settlers", "rounds"), [
    (3, 2, 1, 2), pytest.param(4, 2, 1, 25, marks=pytest.mark.slow), pytest.param(3, 1, 2, 25, marks=pytest.mark.slow)])
def test_campaigns_that_the_budget_does_not_admit_together(
    campaigns: int, admitted: int, settlers: int, rounds: int, nursery: Nursery, copies: Any, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = race_for_the_budget(nursery, copies, tmp_path / "scene", campaigns=campaigns, admitted=admitted,
                                  settlers=settlers, rounds=rounds)
    if rounds > 3:
        with capsys.disabled():
            print(f"\n{json.dumps(figures)}")
    # Of several settlers of one campaign the first is told that the budget is spent, others that it is cancelled.
    assert "BudgetExceeded" in figures["errors"]
    assert set(figures["errors"]) <= {"BudgetExceeded", "Refused"}
    assert figures["charged"] == figures["published"] == {admitted: rounds}


# ---- the same, in order: another settler comes in between at a chosen point


@pytest.mark.parametrize("point", [
    "check_empty", "check_charge", "charge", "publish",
    *(pytest.param(each, marks=pytest.mark.slow) for each in ("find", "open", "collect", "reports"))])
def test_a_settler_who_was_overtaken(
    point: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it was about to do, it returns the stored outcome and says that it is not fresh."""
    write(tmp_path / "earlier", {0: 1}, title="earlier").settle(store=store)
    campaign = write(tmp_path, {0: 3, 1: 4})
    done: list[Any] = []

    def overtaken(*args: Any, **options: Any) -> Any:
        if not done:
            done.append(None)
            with Store(store.name) as other:
                done.append(campaign.settle(tmp_path / "out", store=other))
        return known(*args, **options)

    place = settlement if point == "check_empty" else Store
    known = getattr(place, point)
    monkeypatch.setattr(place, point, overtaken)
    second = campaign.settle(tmp_path / "out", store=store)
    first = done[1]
    assert (first.fresh, second.fresh) == (True, False)
    assert second.outcome.to_dict() == first.outcome.to_dict()
    assert lives(store)["How much in all?"].debits == 1


def test_of_two_runs_the_first_that_is_published_counts(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A settler who was overtaken during its run forgets its own outcome."""
    campaign, run, draws = write(tmp_path, {0: 3, 1: 4}), Counting.run, []

    def slow(self: Counting, data: Any, noise: Any) -> Any:
        outcome = run(self, data, noise)
        draws.append(outcome.billboard.draw)
        if len(draws) == 1:
            with Store(store.name) as other:
                assert campaign.settle(tmp_path / "other", store=other).fresh
        return outcome

    monkeypatch.setattr(Counting, "run", slow)
    settled = campaign.settle(tmp_path / "out", store=store)
    assert settled.outcome.billboard.draw == draws[1] != draws[0]  # type: ignore[attr-defined]
    assert not settled.fresh
    assert lives(store)["How much in all?"].debits == 1


def test_two_who_write_the_pack_at_once(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same files into the same folder: the slower one finds them there."""
    from confide.campaign import pack

    campaign, replace, done = write(tmp_path, {0: 3, 1: 4}), pack.os.replace, []

    def slow(source: Any, target: Any) -> None:
        if not done:
            done.append(None)
            with Store(store.name) as other:
                assert not campaign.settle(tmp_path / "out", store=other).fresh
        replace(source, target)

    monkeypatch.setattr(pack.os, "replace", slow)
    assert campaign.settle(tmp_path / "out", store=store).fresh
    assert verify(tmp_path / "out").passed

"""Settlements at once, by several processes; counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaign.small import tree
from campaign.store.counting import write
from campaign.store.invariants import lives
from campaign.store.killing import Scene
from campaign.store.nursery import Nursery
from campaign.store.templates import Copies, copied
from confide.campaign import Home, State, Store, verify

__all__ = ["race_for_one", "race_for_the_budget"]


def race_for_one(nursery: Nursery, scene: Scene, settlers: int, rounds: int) -> dict[str, Any]:
    """Several processes settle the same campaign into the same folder at once, again and again.

    Returns:
        What was counted: rounds, errors, and each of these as number -> in how many rounds: outcomes that the settlers
        returned, those of them who say that they published, outcomes that lie in the store, debits, payouts.
    """
    errors: Counter[str] = Counter()
    counts: dict[str, Counter[int]] = {name: Counter() for name in ("returned", "fresh", "published", "debits",
                                                                    "payouts a person")}
    for _ in range(rounds):
        with scene.copies() as url:
            home = scene.home()
            job = scene.job(url, home)
            answers = nursery.run(*[job] * settlers)
            errors.update(answer.error for answer in answers if answer.error)
            with Store(url, home=Home(home)) as store:
                life = lives(store)[scene.campaign.file.title]
            done = [answer.value for answer in answers if answer.value]
            counts["returned"][len({each["draw"] for each in done})] += 1
            counts["fresh"][sum(each["fresh"] for each in done)] += 1
            counts["published"][life.events.count("publish")] += 1
            counts["debits"][life.debits] += 1
            counts["payouts a person"].update(list(life.payouts).count(slot) for slot in scene.people)
            assert tree(Path(job["out"])) == life.pack
            assert verify(job["out"]).passed
    return {"rounds": rounds, "settlers": settlers, "errors": dict(errors),
            **{name: dict(count) for name, count in counts.items()}}


def race_for_the_budget(
    nursery: Nursery, copies: Callable[[Callable[[str], None]], Copies], folder: Path, *, campaigns: int, admitted: int,
    settlers: int, rounds: int,
) -> dict[str, Any]:
    """Several campaigns on one data set, whose budget admits some of them, are settled at once, each by several.

    Returns:
        What was counted: rounds, errors by type, and in how many rounds how many campaigns were charged and published.
    """
    first = folder / "home"
    all_ = [write(folder, {0: 1, 1: 2}, people=3, title=f"number {k}", file=f"n{k}", budget=f"{admitted}.0")
            for k in range(campaigns)]
    errors: Counter[str] = Counter()
    charged: Counter[int] = Counter()
    published: Counter[int] = Counter()

    def prepare(url: str) -> None:
        with Store(url, home=Home(first)):
            pass

    ready = copies(prepare)
    for number in range(rounds):
        with ready() as url:
            home = copied(first, folder / f"home-{number}")
            answers = nursery.run(*[
                {"do": "settle", "campaign": str(each.file.path), "url": url, "home": str(home.folder),
                 "out": str(folder / f"out-{number}" / each.file.name)} for each in all_ * settlers])
            with Store(url, home=home) as store:
                found = lives(store)
            errors.update(answer.error.partition(":")[0] for answer in answers if answer.error)
            charged[sum(life.debits for life in found.values())] += 1
            published[sum(life.state is State.SETTLED for life in found.values())] += 1
            for each, answer in zip(all_ * settlers, answers, strict=True):
                life = found[each.file.title]
                assert bool(answer.value) == (life.state is State.SETTLED), answer
                assert life.state is not State.CHARGED
                assert (folder / f"out-{number}" / each.file.name).exists() == (life.state is State.SETTLED)
    return {"rounds": rounds, "campaigns": campaigns, "admitted": admitted, "settlers of each": settlers,
            "errors": dict(errors), "charged": dict(charged), "published": dict(published)}

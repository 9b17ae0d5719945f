"""Settlements that are killed: at every durable step once, and then settled to the end; counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from campaign.small import tree
from campaign.store.counting import DEPOSIT, report, write
from campaign.store.invariants import Life, lives
from campaign.store.nursery import Nursery
from campaign.store.templates import Copies, copied
from confide.campaign import Campaign, Home, State, Store, verify

__all__ = ["Scene", "kill_again", "kill_each", "new", "prepared"]

_EVENTS = ("plan", "open", "close", "charge", "publish")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A campaign before its settlement.

    Args:
        campaign: what is settled.
        copies: of the database as it stands.
        home: the installation; asked for by each try.
        before: slot -> report that is in the database already.
        expected: slot -> report that must be there from the collection on.
        withdrawn: slots of who withdrew before.
        people: who must be paid.
        folder: for what the tries write.
    """

    campaign: Campaign
    copies: Copies
    home: Callable[[], Path]
    before: Mapping[int, bytes]
    expected: Mapping[int, bytes]
    withdrawn: frozenset[int]
    people: frozenset[int]
    folder: Path
    numbers: count[int] = field(default_factory=lambda: count(1))

    def job(self, url: str, home: Path) -> dict[str, Any]:
        """What a child is to do, with a folder of its own."""
        out = self.folder / f"out-{next(self.numbers)}" / "pack"
        return {"do": "settle", "campaign": str(self.campaign.file.path), "url": url, "home": str(home),
                "out": str(out)}


def prepared(copies: Callable[[Callable[[str], None]], Copies], folder: Path) -> Scene:
    """A store in which the data set was charged before, people have handed in reports, and some have withdrawn."""
    answers = {0: 5, 1: 11, 2: 7, 3: 1_000}
    campaign = write(folder, answers, people=7, file="this", title="this")
    earlier = write(folder, {0: 1}, people=7, file="earlier", title="earlier")
    home, homes = folder / "home", count(1)

    def prepare(url: str) -> None:
        with Store(url, home=Home(home)) as store:
            earlier.settle(folder / "earlier", store=store)
            number = store.open(campaign.file, 7).number
            for slot, value in ((3, 2_000), (4, 30_000), (5, 400_000)):
                store.submit(number, slot, report(value))  # hers of the file comes later, and does not replace it
            store.withdraw(number, 2)
            store.withdraw(number, 5)

    expected = {0: report(5), 1: report(11), 3: report(2_000), 4: report(30_000)}
    return Scene(campaign=campaign, copies=copies(prepare), expected=expected,
                 home=lambda: copied(home, folder / f"home-{next(homes)}", earlier.file.digest).folder,
                 before={slot: expected[slot] for slot in (3, 4)}, withdrawn=frozenset({2, 5}),
                 people=frozenset(range(6)), folder=folder)  # who withdrew gets the deposit back


def new(copies: Callable[[Callable[[str], None]], Copies], folder: Path) -> Scene:
    """Nothing: no tables, no keys."""
    campaign = write(folder, {0: 5, 1: 11, 2: 7}, people=4, title="this")
    homes = count(1)
    return Scene(campaign=campaign, copies=copies(lambda _: None), home=lambda: folder / f"home-{next(homes)}",
                 before={}, expected={0: report(5), 1: report(11), 2: report(7)}, withdrawn=frozenset(),
                 people=frozenset({0, 1, 2}), folder=folder)


def steps(nursery: Nursery, scene: Scene) -> list[str]:
    """The names of all steps of a settlement that is left alone."""
    with scene.copies() as url:
        answer, = nursery.run(scene.job(url, scene.home()))
    assert answer.value is not None, answer
    return list(answer.value["steps"])


def kill_each(
    nursery: Nursery, scene: Scene, at: Iterable[str | int] | None = None, every: int = 1,
) -> dict[str, Any]:
    """Kill a settlement at each step, on a database of its own, and settle to the end.

    Args:
        nursery: of the settlements.
        scene: what is settled.
        at: names of steps, each at its last time, or numbers; default all.
        every: without `at`, one step of so many.

    Returns:
        What was counted: kills, in all and by stage, and of each campaign the published outcomes, debits, payouts a
        person and lost reports.
    """
    names = steps(nursery, scene)
    chosen = range(1, len(names) + 1, every) if at is None else [_place(names, each) for each in at]
    figures = _Figures()
    for place in chosen:
        with scene.copies() as url:
            home = scene.home()
            job = scene.job(url, home)
            answer, = nursery.run({**job, "kill": place})
            assert answer.killed == names[place - 1], answer
            figures.kill(answer.killed)
            _finish(scene, job, home, figures)
    return figures.to_dict()


def kill_again(nursery: Nursery, scene: Scene) -> dict[str, Any]:
    """Kill one settlement at its first step, resume it and kill that at its second one, and so on until one lives."""
    figures = _Figures()
    with scene.copies() as url:
        home = scene.home()
        job = scene.job(url, home)
        for place in count(1):
            answer, = nursery.run({**job, "kill": place})
            assert not answer.error, answer
            if not answer.killed:
                break
            figures.kill(answer.killed)
        _finish(scene, job, home, figures)
    return figures.to_dict()


def _place(names: Sequence[str], step: str | int) -> int:
    return step if isinstance(step, int) else len(names) - names[::-1].index(step)


def _finish(scene: Scene, job: Mapping[str, Any], home: Path, figures: _Figures) -> None:
    """Look at what a kill left, settle to the end, and look again."""
    out, title = Path(job["out"]), scene.campaign.file.title
    with Store(job["url"], home=Home(home)) as store:
        before = lives(store).get(title)
        figures.lost += _lost(scene, before)
        settled = scene.campaign.settle(out, store=store)
        after = lives(store)[title]
    figures.lost += _lost(scene, after)
    packs = [dict(after.pack), tree(out), *([dict(before.pack)] if before is not None and before.pack else [])]
    figures.outcomes[1 if all(pack == packs[0] for pack in packs) else len(packs)] += 1
    figures.debits[after.debits] += 1
    assert after.state is State.SETTLED
    assert after.events == _EVENTS
    assert settled.fresh == (before is None or before.state is not State.SETTLED)
    assert settled.outcome.billboard.total == sum(  # type: ignore[attr-defined]
        int.from_bytes(each, "big") for each in scene.expected.values())
    coins = settled.outcome.shares["payment"].to_pylist()
    due = {slot: (coins[slot] + DEPOSIT, "queued", None) for slot in scene.people}
    figures.payouts.update(list(after.payouts).count(slot) for slot in scene.people)
    assert after.payouts == due
    assert verify(out, key=Home(home).fingerprint).passed
    assert list(out.parent.iterdir()) == [out]  # no draft of who was killed


def _lost(scene: Scene, life: Life | None) -> int:
    """How many reports are not there as they were handed in."""
    if life is None:
        assert not scene.before
        return 0
    expected = scene.before if life.state is State.OPEN else scene.expected
    assert set(life.withdrawn) == scene.withdrawn
    strange = set(life.reports) - set(expected)
    return sum(life.reports.get(slot) != each for slot, each in expected.items()) + len(strange)


class _Figures:
    def __init__(self) -> None:
        self.by_stage: Counter[str] = Counter()
        self.outcomes: Counter[int] = Counter()
        self.debits: Counter[int] = Counter()
        self.payouts: Counter[int] = Counter()
        self.lost = 0

    def kill(self, step: str) -> None:
        self.by_stage[step.partition(":")[0]] += 1

    def to_dict(self) -> dict[str, Any]:
        """Each count as number -> of how many campaigns, or of how many people."""
        return {"kills": sum(self.by_stage.values()), "by stage": dict(self.by_stage),
                "published outcomes": dict(self.outcomes), "debits": dict(self.debits),
                "payouts a person": dict(self.payouts), "lost reports": self.lost}

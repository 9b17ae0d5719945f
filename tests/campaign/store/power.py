"""A loss of power: SQLite's write-ahead log of a whole campaign, cut at any place, opened and carried on with."""

from __future__ import annotations

import json
import shutil
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from campaign.store.counting import report, write
from campaign.store.invariants import Life, lives
from campaign.store.templates import copied
from confide.campaign import Campaign, Home, State, Store, verify
from confide.campaign.payouts import export_batch, import_confirmations
from confide.campaign.store import database
from confide.campaign.store.database import Database
from confide.contract.files import write_private

__all__ = ["Recording", "cut_everywhere", "record"]

Cut = tuple[int, bytes]
"""How much of a log is as it was written, and what was found."""

_HEADER = 32
_FRAME = 24


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What the disk held while a campaign was settled and paid.

    Args:
        campaign: which.
        home: the installation.
        folder: for what tries write.
        base: the database file; it never changed.
        log: the write-ahead log.
        known: (length of the log, the campaign as it stood), after each act that the caller was told of.
        submitted: slot -> report of all who did not withdraw.
    """

    campaign: Campaign
    home: Path
    folder: Path
    base: bytes
    log: bytes
    known: list[tuple[int, Life]]
    submitted: dict[int, bytes]

    @property
    def page(self) -> int:
        """Bytes of a page."""
        return int(struct.unpack(">I", self.log[8:12])[0])

    @property
    def boundaries(self) -> list[int]:
        """All lengths at which a frame begins or the log ends."""
        return list(range(_HEADER, len(self.log) + 1, _FRAME + self.page))

    @property
    def commits(self) -> list[int]:
        """The lengths at which a transaction is whole: its last frame says how large the database is."""
        return [end for end in self.boundaries[1:]
                if struct.unpack(">I", self.log[end - self.page - _FRAME + 4 :][:4])[0]]

    def cut(self, end: int) -> Cut:
        """The log up to some place."""
        return end, self.log[:end]

    def torn(self, end: int) -> Cut:
        """The log up to a boundary, and a frame after it of which only the first half was written."""
        return end, self.log[: end + _FRAME + self.page // 2] + bytes(self.page - self.page // 2)


@contextmanager
def _unemptied() -> Iterator[None]:
    """No log is written back, so that it holds the whole life; what is deleted is not forgotten."""
    prepare = database._prepare_sqlite

    def prepared(connection: Any, made: Any) -> None:
        prepare(connection, made)
        connection.execute("PRAGMA wal_autocheckpoint=0")

    with patch.object(database, "_prepare_sqlite", prepared), patch.object(Database, "forget", lambda _, **__: None):
        yield


def record(folder: Path) -> Recording:
    """Settle a campaign and pay everybody; the bank fails the first payment once."""
    home, file = folder / "home", folder / "live" / "store.db"
    url = f"sqlite:///{file}"
    answers = {0: 5, 1: 11, 2: 7}
    campaign = write(folder, answers, title="this")
    with Store(url, home=Home(home)) as store:
        write(folder, {0: 1}, file="earlier", title="earlier").settle(folder / "earlier", store=store)
        store.database.forget()
    known = []
    with _unemptied(), Store(url, home=Home(home)) as store:
        base, log = file.read_bytes(), file.with_name("store.db-wal")
        number = store.open(campaign.file, 6).number

        def reported() -> None:
            known.append((log.stat().st_size, lives(store)["this"]))

        acts = [lambda: store.submit(number, 3, report(30_000)), lambda: store.submit(number, 4, report(400_000)),
                lambda: store.withdraw(number, 4), lambda: campaign.settle(folder / "recorded", store=store)]
        for verdicts in (["failed", "paid", "paid", "paid", "paid"], ["paid"]):
            acts += [lambda: store.approve(number, store.payouts(number).code),
                     lambda said=verdicts: _pay(campaign, store, folder, said), lambda: store.reopen(number)]
        reported()
        for act in acts:
            act()
            reported()
        assert store.payouts(number).done
        assert file.read_bytes() == base
        data = log.read_bytes()
    return Recording(campaign=campaign, home=home, folder=folder, base=base, log=data, known=known,
                     submitted={0: report(5), 1: report(11), 2: report(7), 3: report(30_000)})


def _pay(campaign: Campaign, store: Store, folder: Path, verdicts: list[str]) -> None:
    path, answer = folder / "batch.csv", folder / "answer.csv"
    path.unlink(missing_ok=True)
    export_batch(campaign, store, path)
    references = [line.partition(",")[0] for line in path.read_text().splitlines()[1:]]
    lines = [f"{reference},{said}" for reference, said in zip(references, verdicts, strict=True)]
    answer.write_text("\n".join(["reference,status", *lines]) + "\n")
    import_confirmations(campaign, store, answer)


def cut_everywhere(recording: Recording, cuts: Iterable[Cut]) -> dict[str, Any]:
    """Start from what is left of the log, and carry on until everybody is paid.

    Args:
        recording: of a campaign.
        cuts: what a loss of power left of its log.

    Returns:
        What was counted: cuts, states that were found, and of each campaign published outcomes, debits, payouts a
        person and lost reports.
    """
    states: Counter[str] = Counter()
    outcomes: Counter[int] = Counter()
    debits: Counter[int] = Counter()
    payouts: Counter[int] = Counter()
    lost = 0
    for number, (whole, log) in enumerate(cuts):
        place = recording.folder / f"cut-{number}"
        place.mkdir()
        write_private(place / "store.db", recording.base)
        write_private(place / "store.db-wal", log)
        home = copied(recording.home, place / "home")
        with Store(f"sqlite:///{place / 'store.db'}", home=home) as store:
            found = lives(store).get("this")
            states["not there" if found is None else _stage(found)] += 1
            _check_known(recording, whole, found)
            lost += _lost(recording, found)
            settled = recording.campaign.settle(place / "out", store=store)
            after = lives(store)["this"]
            packs = [after.pack, *([found.pack] if found is not None and found.pack else [])]
            outcomes[len({json.dumps({path: data.hex() for path, data in pack.items()}) for pack in packs})] += 1
            debits[after.debits] += 1
            payouts.update(_carry_on(recording, store, settled.number, place))
        assert verify(place / "out").passed
        shutil.rmtree(place)
    return {"cuts": sum(states.values()), "states": dict(states), "published outcomes": dict(outcomes),
            "debits": dict(debits), "payouts a person": dict(payouts), "lost reports": lost}


def _stage(life: Life) -> str:
    if life.state is not State.SETTLED:
        return life.state.value
    of = sorted({state for _, state, _ in life.payouts.values()})
    return f"settled, payouts {' and '.join(of)}"


def _check_known(recording: Recording, length: int, found: Life | None) -> None:
    """What the caller was told of before is there."""
    reported = [life for end, life in recording.known if end <= length]
    if reported:
        assert found is not None
        assert found.events[: len(reported[-1].events)] == reported[-1].events
        assert not reported[-1].pack or found.pack == reported[-1].pack
        if length in dict(recording.known):
            assert found == reported[-1]


def _lost(recording: Recording, found: Life | None) -> int:
    """How many reports are not there although they were handed in, the campaign was closed, and not all is paid."""
    if found is None or found.state is State.OPEN or _stage(found) == "settled, payouts paid":
        return 0
    return sum(found.reports.get(slot) != each for slot, each in recording.submitted.items())


def _carry_on(recording: Recording, store: Store, number: int, place: Path) -> list[int]:
    """Pay until all is paid; how often each person was. The bank is asked for the payments that it was sent before."""
    paid: Counter[int] = Counter()
    paid.update(slot for slot, (_, state, _) in lives(store)["this"].payouts.items() if state == "paid")
    for sent in store.attempts(number).values():
        store.confirm(number, {reference: "paid" for reference, state in sent.items() if state == "sent"})
    paid |= Counter(slot for slot, (_, state, _) in lives(store)["this"].payouts.items() if state == "paid")
    while not store.payouts(number).done:
        store.reopen(number)
        store.approve(number, store.payouts(number).code)
        batch = store.batch(number, store.export(number, "csv"))
        paid.update(slot for slot, _, _ in batch.payments)
        store.confirm(number, {reference: "paid" for _, reference, _ in batch.payments})
    life = lives(store)["this"]
    assert not life.reports
    return [paid[slot] for slot in life.payouts]

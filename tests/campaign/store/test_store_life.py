"""The life of campaigns in one store, in any order, with faults: hypothesis looks for what breaks it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from campaign.store.bank import Bank
from campaign.store.counting import DEPOSIT, name, report, slot_of, write
from campaign.store.faults import Died, Steps, counted
from campaign.store.invariants import Life, lives
from campaign.store.templates import empty
from cases import fast
from confide.campaign import Campaign, State, Store
from confide.campaign.charging import charge_of
from confide.campaign.pack import NOTE
from confide.campaign.payouts import export_batch, import_confirmations
from confide.contract import BudgetExceeded, InvalidInput, Refused
from confide.contract.errors import RunFailed

PEOPLE = 4
ADMITTED = 2
"""Campaigns, by the data set's budget."""

numbers = count(1)
slots = st.integers(0, PEOPLE - 1)
values = st.integers(0, 10**9)
answers = st.dictionaries(slots, values)
which = st.integers(0, ADMITTED)
stages = st.sampled_from(["open", "closed", "charged", "settled", "approved", "sent", "failed"])
second = st.booleans()
faults = st.one_of(st.none(), st.integers(1, 20))
late_faults = st.one_of(st.none(), st.integers(1, 130))


def some(*states: str) -> Callable[[Any], bool]:
    """Whether some payout stands so, for `precondition`."""
    return lambda machine: bool(machine.having(*states))


@dataclass
class Model:
    """What must be true of one campaign.

    Args:
        campaign: its file.
        number: in the store.
        file: slot -> value, in the file that it names.
        submitted: slot -> value, as handed in.
        records: slot -> value, when the collection was closed.
        withdrawn: slot -> whether she had handed in a report; before the publication.
        erased: who withdrew after it.
        pack: as published.
        shares: as published.
        due: slot -> what she must be paid.
        bank: of its operator.
        current: slot -> reference of the payment that waits or was answered.
        files: batch -> the file that was written first.
    """

    campaign: Campaign
    number: int
    file: dict[int, int]
    submitted: dict[int, int] = field(default_factory=dict)
    records: dict[int, int] | None = None
    withdrawn: dict[int, bool] = field(default_factory=dict)
    erased: set[int] = field(default_factory=set)
    pack: dict[str, bytes] = field(default_factory=dict)
    shares: list[int] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)
    bank: Bank = field(default_factory=Bank)
    current: dict[int, str] = field(default_factory=dict)
    files: dict[int, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.campaign.file.title

    @property
    def left(self) -> dict[int, int]:
        """The records of who has not withdrawn."""
        there = self.submitted if self.records is None else self.records
        return {slot: value for slot, value in there.items() if slot not in self.withdrawn}


class Lives(RuleBasedStateMachine):
    """Up to three campaigns on a data set whose budget admits two, in a store that two processes have open."""

    url: str
    folder: Path
    stores: list[Store]

    def __init__(self) -> None:
        super().__init__()
        self.place = self.folder / f"example-{next(numbers)}"
        self.models: list[Model] = []
        self.over: set[str] = set()  # the titles of those that the ledger has refused for ever
        self.found: dict[str, Life] = {}
        self.broken = False

    def teardown(self) -> None:
        try:
            if not self.broken:
                self.to_the_end()
        finally:
            empty(self.stores[0])
            shutil.rmtree(self.place, ignore_errors=True)

    def to_the_end(self) -> None:
        """Whatever was left half-done, it can be finished: everybody is paid, once."""
        for model in list(self.models):
            self.all_holds()
            self.settle(self.models.index(model), False, None, True)
            self.all_holds()
            if not model.pack:
                continue
            while not self.store(False).payouts(model.number).done:
                model.bank.decide([True] * PEOPLE)
                self.take_all(model)
                for state, act in (("failed", self.reopen), ("queued", self.approve), ("approved", self.export)):
                    self.all_holds()
                    if model in self.having(state):
                        act(self.having(state).index(model), False, None)
            life = lives(self.store(False))[model.title]
            assert model.bank.paid == {name(slot): amount for slot, amount in model.due.items()}
            assert set(life.payouts) == set(model.due)
            assert life.paid == (sum(model.due.values()) if model.due else None)
            assert not model.bank.pending
        self.all_holds()

    # ---- how rules are run

    def store(self, other: bool) -> Store:
        return self.stores[int(other)]

    def model(self, number: int, fitting: Sequence[Model] = ()) -> Model:
        """One of those that fit, or of all."""
        among = fitting or self.models
        return among[number % len(among)]

    def having(self, *states: str) -> list[Model]:
        """The campaigns some of whose payouts stand so."""
        return [model for model in self.models
                if any(state in states for _, state, _ in self.found[model.title].payouts.values())]

    def life(self, model: Model) -> Life:
        return lives(self.stores[0])[model.title]

    def do(self, fault: int | None, act: Callable[[], Any], again: Callable[[], Any] | None = None) -> Any:
        """Act; where a fault breaks it, everything still holds, and it is done again."""
        if fault is None:
            return act()
        try:
            with counted(Steps(fault)):
                return act()
        except (Died, RunFailed) as death:
            if isinstance(death, RunFailed) and not isinstance(death.__cause__, Died):  # within the run it is told so
                raise
            lives(self.stores[0])
            return (act if again is None else again)()

    # ---- collection

    @initialize(file=answers, submitted=st.dictionaries(slots, values, min_size=1), stage=stages)
    def begin(self, file: dict[int, int], submitted: dict[int, int], stage: str) -> None:
        """One campaign, at some stage of its life."""
        self.begin_another(file, False, None)
        for slot, value in submitted.items():
            self.submit(0, slot, value, False, None)
        self.all_holds()
        steps: dict[str, Callable[[], None]] = {
            "closed": lambda: self.close(0, False, None), "charged": lambda: self.charge(0, False, None),
            "settled": lambda: self.settle(0, False, None, True), "approved": lambda: self.approve(0, False, None),
            "sent": lambda: self.export(0, False, None), "failed": self.fail_first}
        if stage not in ("closed", "charged"):
            del steps["closed"], steps["charged"]  # so that the file is read
        for reached, step in steps.items():
            if stage == "open" or (stage == "closed" and reached == "charged"):
                break
            step()
            self.all_holds()
            if reached == stage:
                break

    def fail_first(self) -> None:
        """The bank answers: it could not pay the first."""
        model = self.models[0]
        model.bank.decide([False])
        self.take_all(model)

    @rule(file=answers, other=second, fault=faults)
    def begin_another(self, file: dict[int, int], other: bool, fault: int | None) -> None:
        begun = len(self.models) + len(self.over)
        if begun <= ADMITTED:
            title = f"n{begun}"
            campaign = write(self.place, file, people=PEOPLE, title=title, file=title, budget=f"{ADMITTED}.0")
            known = self.do(fault, lambda: self.store(other).open(campaign.file, PEOPLE))
            self.models.append(Model(campaign=campaign, number=known.number, file=file))

    @rule(number=which, slot=slots, value=values, other=second, fault=faults)
    def submit(self, number: int, slot: int, value: int, other: bool, fault: int | None) -> None:
        model = self.model(number, [model for model in self.models if model.records is None])
        submit = lambda: self.store(other).submit(model.number, slot, report(value))
        if model.records is None and slot not in model.withdrawn:
            self.do(fault, submit)
            model.submitted[slot] = value
        else:
            with pytest.raises(Refused):
                self.do(fault, submit)

    @rule(number=which, slot=slots, other=second, fault=faults)
    def withdraw(self, number: int, slot: int, other: bool, fault: int | None) -> None:
        model = self.model(number)
        early = self.do(fault, lambda: self.store(other).withdraw(model.number, slot))
        assert early == (not model.pack)
        if early:
            there = model.submitted if model.records is None else model.records
            model.withdrawn.setdefault(slot, slot in there)  # and in `settle`, where the file has her row
        else:
            model.erased.add(slot)

    @rule(number=which, other=second, fault=faults)
    def close(self, number: int, other: bool, fault: int | None) -> None:
        """By hand: the file is not read."""
        model = self.model(number)
        self.do(fault, lambda: self.store(other).close_collection(model.number))
        if model.records is None:
            model.records = dict(model.left)

    # ---- settlement

    def admitted(self, model: Model) -> bool:
        """Whether the budget still admits a campaign, or has done so."""
        debits = {life.title: life.debits for life in self.found.values()}
        return bool(debits[model.title]) or sum(debits.values()) < ADMITTED

    @rule(number=which, other=second, fault=faults)
    def charge(self, number: int, other: bool, fault: int | None) -> None:
        model = self.model(number)
        charge = lambda: self.store(other).charge(model.number, charge_of(model.campaign.file, model.campaign.plan))
        if model.records is None:
            with pytest.raises((Refused, BudgetExceeded)):
                self.do(fault, charge)
        elif self.admitted(model):
            self.do(fault, charge)
        else:
            with pytest.raises(BudgetExceeded):
                self.do(fault, charge)

    @rule(number=which, other=second, fault=late_faults, resumed=st.booleans())
    def settle(self, number: int, other: bool, fault: int | None, resumed: bool) -> None:
        model = self.model(number)
        settle = lambda: model.campaign.settle(store=self.store(other))
        if not self.admitted(model):
            with pytest.raises(Refused, match="does not admit" if fault is None else None):
                self.do(fault, settle)
            self.models.remove(model)
            self.over.add(model.title)
            return
        if model.records is None and not (model.file or model.submitted or model.withdrawn):  # a file of nobody
            with pytest.raises(InvalidInput, match="the file has no rows"):
                self.do(fault, settle)
            assert (self.life(model).state, self.life(model).debits) == (State.OPEN, 0)
            return
        settled = self.do(fault, settle, None if resumed else lambda: None)
        life = self.life(model)
        if model.records is None and life.state is not State.OPEN:
            model.records = {**model.file, **model.submitted}
            model.withdrawn |= {slot: True for slot in model.withdrawn if slot in model.file}
        if settled is not None:
            assert settled.fresh != bool(model.pack) or fault is not None
            assert life.state is State.SETTLED
            assert {path: (settled.folder / path).read_bytes() for path in life.pack} == life.pack
        if life.pack and not model.pack:
            self.published(model, life)
        if settled is not None:
            gone = range(PEOPLE) if life.paid is not None else model.erased
            shown = [None if slot in gone else share for slot, share in enumerate(model.shares)]
            assert settled.outcome.shares["payment"].to_pylist() == shown
            assert settled.outcome.billboard.total == sum(model.left.values())

    def published(self, model: Model, life: Life) -> None:
        """The outcome is seen for the first time."""
        outcome = model.campaign.settled(store=self.stores[0])
        model.pack, model.shares = dict(life.pack), outcome.shares["payment"].to_pylist()
        decode = outcome.mechanism.decode
        assert model.shares == [decode(model.left.get(slot), slot, outcome.billboard)["payment"]
                                for slot in range(PEOPLE)]
        model.due = {slot: model.shares[slot] + DEPOSIT
                     for slot in {**model.left, **{slot: True for slot, there in model.withdrawn.items() if there}}}
        assert {slot: amount for slot, (amount, _, _) in life.payouts.items()} == model.due

    @rule(other=second)
    def reopen_store(self, other: bool) -> None:
        self.store(other).close()
        self.stores[int(other)] = Store(self.url)

    # ---- payouts

    @precondition(some("queued"))
    @rule(number=which, other=second, fault=faults)
    def approve(self, number: int, other: bool, fault: int | None) -> None:
        model = self.model(number, self.having("queued"))
        queue = self.store(other).payouts(model.number)
        found = self.do(fault, lambda: self.store(other).approve(model.number, queue.code))
        assert found == queue.people["queued"] or fault is not None

    @precondition(some("queued"))
    @rule(number=which, other=second, code=st.sampled_from(["", "00000000", "ffffffff"]))
    def approve_by_a_wrong_code(self, number: int, other: bool, code: str) -> None:
        with pytest.raises(Refused):
            self.store(other).approve(self.model(number, self.having("queued")).number, code)

    @rule(number=which, other=second)
    def out_of_turn(self, number: int, other: bool) -> None:
        """What there is nothing of to do."""
        model, store = self.model(number), self.store(other)
        if model not in self.having("queued"):
            assert store.approve(model.number, "") == 0
        if model not in self.having("approved"):
            with pytest.raises(Refused):
                export_batch(model.campaign, store, self.new_path())
        if model not in self.having("failed"):
            assert store.reopen(model.number) == 0
        assert store.confirm(model.number, {}) == {"paid": 0, "failed": 0, "known": 0}
        with pytest.raises(InvalidInput):
            store.confirm(model.number, {"nobody's": "paid"})

    @precondition(some("approved"))
    @rule(number=which, other=second, fault=faults)
    def export(self, number: int, other: bool, fault: int | None) -> None:
        model, store, path = self.model(number, self.having("approved")), self.store(other), self.new_path()

        def again() -> None:
            """The batch may be taken and its file not written."""
            batches = len(store.payouts(model.number).batches)
            export_batch(model.campaign, store, path, number=batches if batches > len(model.files) else None)

        self.do(fault, lambda: export_batch(model.campaign, store, path), again)
        batch = len(store.payouts(model.number).batches)
        assert batch not in model.files
        model.files[batch] = path
        model.current |= {slot_of(identity): reference for reference, identity in model.bank.receive(path).items()}

    @precondition(lambda self: any(model.files for model in self.models))
    @rule(number=which, other=second, batch=st.integers(1, 3))
    def export_again(self, number: int, other: bool, batch: int) -> None:
        """The same file, or none."""
        model, path = self.model(number, [model for model in self.models if model.files]), self.new_path()
        try:
            export_batch(model.campaign, self.store(other), path, number=batch)
        except (InvalidInput, Refused):
            return
        assert path.read_bytes() == model.files[batch].read_bytes()
        model.bank.receive(path)

    @precondition(lambda self: any(model.bank.pending for model in self.models))
    @rule(number=which, verdicts=st.lists(st.booleans(), min_size=1, max_size=PEOPLE))
    def answer(self, number: int, verdicts: list[bool]) -> None:
        self.model(number, [model for model in self.models if model.bank.pending]).bank.decide(verdicts)

    @precondition(lambda self: any(model.bank.said for model in self.models))
    @rule(number=which, other=second, data=st.data(), fault=faults)
    def take(self, number: int, other: bool, data: st.DataObject, fault: int | None) -> None:
        """What the bank says: some of it, in any order, again and again."""
        model = self.model(number, [model for model in self.models if model.bank.said])
        chosen = data.draw(st.permutations(list(model.bank.said)))[: data.draw(st.integers(1, 2 * PEOPLE))]
        self.take_these(model, other, chosen, fault)

    def take_all(self, model: Model) -> None:
        self.take_these(model, False, [each for each in model.bank.said if each in model.current.values()], None)

    def take_these(self, model: Model, other: bool, chosen: list[str], fault: int | None) -> None:
        path = self.new_path()
        model.bank.confirm(path, chosen)
        before = self.found[model.title].payouts
        take = lambda: import_confirmations(model.campaign, self.store(other), path)
        self.do(fault, take)
        now = self.life(model).payouts
        assert all(model.bank.said[each] == "failed" for each in chosen if each not in model.current.values())
        for slot, (_, state, _) in before.items():  # of an attempt that failed and was queued again, nothing is new
            reference = model.current.get(slot, "")
            assert now[slot][1] == (model.bank.said[reference] if reference in chosen else state)

    @precondition(some("failed"))
    @rule(number=which, other=second, fault=faults)
    def reopen(self, number: int, other: bool, fault: int | None) -> None:
        model = self.model(number, self.having("failed"))
        failed = [slot for slot, (_, state, _) in self.found[model.title].payouts.items() if state == "failed"]
        found = self.do(fault, lambda: self.store(other).reopen(model.number))
        assert found == len(failed) or fault is not None
        for slot in failed:
            del model.current[slot]

    def new_path(self) -> Path:
        return self.place / f"file-{next(numbers)}.csv"

    # ---- what always holds

    @invariant()
    def all_holds(self) -> None:
        self.broken = True  # until it is seen to hold
        self.found = found = lives(self.stores[0])
        assert sum(life.debits for life in found.values()) <= ADMITTED
        assert set(found) == {model.title for model in self.models} | self.over
        assert {title for title, life in found.items() if life.state is State.CANCELLED} == self.over
        for model in self.models:
            self.holds(model, found[model.title])
        self.broken = False

    def holds(self, model: Model, life: Life) -> None:
        assert (model.records is None) == (life.state is State.OPEN)
        assert life.pack == model.pack  # the published outcome never changes
        paid = {slot for slot, (_, state, _) in life.payouts.items() if state == "paid"}
        gone = {slot: there for slot, there in model.withdrawn.items() if slot not in model.erased}
        assert life.withdrawn == (gone if life.paid is None else {})  # who withdrew is known as long as shares are
        if life.pack and paid == set(life.payouts):
            assert not life.reports
        else:
            assert life.reports == {slot: report(value) for slot, value in model.left.items()
                                    if slot not in model.erased}
        for slot, (amount, state, batch) in life.payouts.items():
            assert amount == (None if life.paid is not None else model.due[slot])
            assert (batch is not None) == (slot in model.current)
            if state in ("paid", "failed"):
                assert model.bank.said[model.current[slot]] == state
        assert {slot for slot in life.payouts if name(slot) in model.bank.paid} >= paid
        folder = model.campaign.default_folder
        assert not (folder.exists() and not (folder / NOTE).exists())  # a pack is whole, or not there


def look(url: str, folder: Path, **options: Any) -> None:
    """Run the machine on one database."""
    machine = type("Lives", (Lives,), {"url": url, "folder": folder, "stores": [Store(url), Store(url)]})
    try:
        run_state_machine_as_test(machine, settings=settings(**options))
    finally:
        for store in machine.stores:  # type: ignore[attr-defined]
            store.close()


@pytest.mark.parametrize("database_url", fast(1, ["sqlite", "postgresql"]), indirect=True)
def test_lives_of_campaigns(database_url: str, tmp_path: Path) -> None:
    look(database_url, tmp_path, max_examples=5, stateful_step_count=15)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_lives_of_campaigns(database_url: str, tmp_path: Path) -> None:
    look(database_url, tmp_path, max_examples=40, stateful_step_count=40, derandomize=False)

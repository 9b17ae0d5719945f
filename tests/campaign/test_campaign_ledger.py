"""The durable ledger on both databases: a filter for each data set and each subject, across campaigns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from confide.campaign import Campaign
from confide.campaign.charging import data_set_charge
from confide.campaign.pages import ledger_sections
from confide.campaign.store import Charge, Store
from confide.campaign.store import schema as s
from confide.contract import Audience, BudgetExceeded, InvalidInput, Relation, kind
from confide.privacy import Account, ApproxDP, ApproxEvent, Filter, PureDP, PureEvent, ZCDPEvent
from confide.privacy.filter import price

RECORD = Relation.REPLACE
PANEL = Account(name="panel", neighbours=RECORD, audience=Audience.PUBLIC)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store(database_url) as found:
        yield found


def campaign(store: Store, title: str) -> int:
    """A closed campaign, known by its title."""
    file: Any = SimpleNamespace(digest=hashlib.sha256(title.encode()).hexdigest(), kind=SimpleNamespace(name="none"),
                                name=title, title=title, text="")
    number = store.open(file, 10).number
    store.close_collection(number)
    return number


def ask(epsilon: float = 0.1, subjects: Sequence[str] = ("ann", "bob"), **changes: Any) -> Charge:
    given: dict[str, Any] = {
        "account": PANEL, "events": (PureEvent(epsilon=epsilon, neighbours=RECORD),), "delta": 0.0,
        "budget": PureDP(1.0), "subject_budget": PureDP(1.0), "subjects": subjects}
    return Charge(**{**given, **changes})


def spent(store: Store, who: str | None = None, account: Account = PANEL) -> Any:
    if who is None:
        return next(found for found in store.ledger(account.name) if found.account == account).filter.spent
    found = store.subject(account, who)
    return None if found is None else found.filter.spent


def test_debits_name_the_charged_participants(store: Store, database_url: str) -> None:
    """As they are stored; of a debit that was made before that was recorded, nothing is made up."""
    store.charge(campaign(store, "seen"), ask(audiences=(Audience.PUBLIC, Audience.OTHERS)))
    store.charge(campaign(store, "reported"), ask(audiences=(Audience.COLLECTOR,)))
    found, = store.ledger("panel")
    assert [each.audiences for each in found.debits] == [(Audience.PUBLIC, Audience.OTHERS), (Audience.COLLECTOR,)]
    shown = ledger_sections([found])[1].to_dict()["blocks"][0]
    assert [row[shown["columns"].index("charged for")] for row in shown["rows"]] == ["public, others", "collector"]
    with store.database.writing() as connection:
        connection.execute(text("UPDATE ledger_debit SET audiences = NULL"))  # as the migration leaves it
    with Store(database_url, home=store.home) as older:
        found, = older.ledger("panel")
        assert [each.audiences for each in found.debits] == [(), ()]
        shown = ledger_sections([found])[1].to_dict()["blocks"][0]
        assert {row[shown["columns"].index("charged for")] for row in shown["rows"]} == {"not recorded"}


@pytest.mark.parametrize(("name", "audiences"), [
    ("bits", (Audience.COLLECTOR,)), ("regression", (Audience.PUBLIC, Audience.OTHERS)), ("mean", (Audience.PUBLIC,)),
])
def test_a_charge_names_the_audience_of_its_promises(
    name: str, audiences: tuple[Audience, ...], tmp_path: Path,
) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(kind(name).template, encoding="utf-8")
    it = Campaign.load(path)
    assert data_set_charge(it.file, it.plan).audiences == audiences


def test_tenths_add_up_exactly_and_the_eleventh_is_refused(store: Store) -> None:
    """In decimals as people write them: ten times .1 is 1, in doubles it is not."""
    for k in range(10):
        store.charge(campaign(store, f"wave {k}"), ask())
    assert spent(store) == spent(store, "ann") == PureDP(1.0)
    late = campaign(store, "wave 10")
    with pytest.raises(BudgetExceeded, match="left: epsilon 0 of 1"):
        store.charge(late, ask())
    assert spent(store) == PureDP(1.0)
    assert len(store.ledger("panel")[0].debits) == 10
    assert store.get(late).state.value == "closed"


def test_a_campaign_is_debited_once(store: Store) -> None:
    number = campaign(store, "only")
    for _ in range(3):
        store.charge(number, ask(0.4))
    assert spent(store) == spent(store, "bob") == PureDP(0.4)
    assert [entry.event for entry in store.events(number)] == ["plan", "open", "close", "charge"]


def test_subjects_have_accounts_of_their_own(store: Store) -> None:
    """Two halves of a panel: the data set has spent twice what each person has."""
    wide = {"budget": PureDP(5.0), "subject_budget": PureDP(1.0)}
    store.charge(campaign(store, "first half"), ask(0.6, ("ann", "bob"), **wide))
    store.charge(campaign(store, "second half"), ask(0.6, ("cid", "dan"), **wide))
    assert spent(store) == PureDP(1.2)
    assert {spent(store, who) for who in ("ann", "bob", "cid", "dan")} == {PureDP(0.6)}
    assert spent(store, "eve") is None
    mixed = campaign(store, "a bit of both")
    with pytest.raises(BudgetExceeded, match="2 of the 3 subjects of panel") as refused:
        store.charge(mixed, ask(0.6, ("bob", "cid", "eve"), **wide))
    assert "left: epsilon 0.4 of 1" in str(refused.value)
    assert spent(store) == PureDP(1.2)  # nobody was charged, and nobody new was opened
    assert spent(store, "eve") is None
    store.charge(mixed, ask(0.4, ("bob", "cid", "eve"), **wide))
    assert [spent(store, who) for who in ("ann", "bob", "eve")] == [PureDP(0.6), PureDP(1.0), PureDP(0.4)]
    standing = store.ledger("panel")[0]
    assert standing.subjects == 5
    assert standing.least_left is not None
    assert standing.least_left.spent == PureDP(1.0)


def test_a_budget_is_lowered_and_never_raised(store: Store) -> None:
    store.charge(campaign(store, "first"), ask())
    raised = campaign(store, "raised")
    for changes, message in (({"budget": PureDP(1.5)}, "exceeds the registered epsilon = 1"),
                             ({"subject_budget": PureDP(2.0)}, "exceeds the registered epsilon = 1"),
                             ({"budget": ApproxDP(1.0, 1e-9)}, "never raise it")):
        with pytest.raises(InvalidInput, match=message):
            store.charge(raised, ask(**changes))
    assert spent(store) == spent(store, "ann") == PureDP(0.1)
    store.charge(raised, ask(budget=PureDP(0.5)))
    late = campaign(store, "late")
    with pytest.raises(BudgetExceeded, match=r"left: epsilon 0\.3 of 0\.5"):
        store.charge(late, ask(0.4, budget=PureDP(0.5)))
    with pytest.raises(InvalidInput, match="exceeds"):
        store.charge(late, ask(0.1))


def test_concentrated_spends_by_their_own_rule(store: Store) -> None:
    budget = ApproxDP(1.0, 1e-6)
    charge = ask(events=(ZCDPEvent(rho=0.005, neighbours=RECORD),), budget=budget, subject_budget=budget, rule="zcdp")
    expected, number = Filter(budget, "zcdp"), 0
    while expected.admits(price("zcdp", charge.events)):
        expected = expected.charged(price("zcdp", charge.events), "")
        store.charge(campaign(store, f"release {number}"), charge)
        number += 1
    assert number > 2
    with pytest.raises(BudgetExceeded):
        store.charge(campaign(store, "one more"), charge)
    assert spent(store) == expected.spent
    with pytest.raises(InvalidInput, match="differs from the registered 'zcdp'"):
        store.charge(campaign(store, "another rule"), replace(charge, rule="basic", delta=1e-7))
    with pytest.raises(InvalidInput, match="no zCDP cost"):
        store.charge(campaign(store, "no such cost"), replace(charge, events=(
            ApproxEvent(epsilon=0.1, delta=1e-9, neighbours=RECORD),)))


def test_scopes_do_not_mix(store: Store) -> None:
    others = [replace(PANEL, name="other", neighbours=Relation.ADD_OR_REMOVE),
              replace(PANEL, audience=Audience.COLLECTOR)]
    store.charge(campaign(store, "panel"), ask(1.0))
    for k, scope in enumerate(others):
        event = PureEvent(epsilon=1.0, neighbours=scope.neighbours)
        store.charge(campaign(store, f"scope {k}"), ask(account=scope, events=(event,)))
        assert spent(store, "ann", scope) == PureDP(1.0)
    assert len(store.ledger()) == 3
    with pytest.raises(InvalidInput, match="a loss for other neighbours needs a proved rule"):
        ask(events=(PureEvent(epsilon=0.1, neighbours=Relation.ADD_OR_REMOVE),))


def test_a_clock_that_was_put_back_makes_no_earlier_day(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.campaign.store.transactions.today", lambda: "2031-01-01")
    number = campaign(store, "late")
    monkeypatch.undo()
    store.charge(number, ask())
    assert {entry.day for entry in store.events(number)} == {"2031-01-01"}


def test_a_data_set_has_one_relation(store: Store) -> None:
    """A second one would be a second budget for the same people."""
    store.charge(campaign(store, "first"), ask(1.0))
    other = replace(PANEL, neighbours=Relation.ADD_OR_REMOVE)
    event = PureEvent(epsilon=0.1, neighbours=other.neighbours)
    again = campaign(store, "second")
    asked = ask(account=other, events=(event,))
    for refuse in (lambda: store.check_charge(asked), lambda: store.charge(again, asked)):
        with pytest.raises(InvalidInput, match="protects one record replaced, not one record added or"):
            refuse()
    assert len(store.ledger()) == 1
    with pytest.raises(InvalidInput, match="listed twice"):
        ask(subjects=("ann", "bob", "ann"))


def test_a_release_that_lists_nobody_is_charged_to_everybody(store: Store) -> None:
    """To those who are known, and to those who come later."""
    wide = {"budget": PureDP(5.0), "subject_budget": PureDP(1.0)}
    store.charge(campaign(store, "panel"), ask(0.3, ("ann", "bob"), **wide))
    store.charge(campaign(store, "register"), ask(0.5, (), **wide))
    assert spent(store, "ann") == PureDP(0.8)
    assert spent(store, "cid") is None
    store.charge(campaign(store, "newcomers"), ask(0.2, ("ann", "cid"), **wide))
    assert [spent(store, who) for who in ("ann", "bob", "cid")] == [PureDP(1.0), PureDP(0.8), PureDP(0.7)]
    late = campaign(store, "late")
    with pytest.raises(BudgetExceeded, match="2 of the 3 subjects of panel"):
        store.charge(late, ask(0.25, (), **wide))
    with pytest.raises(BudgetExceeded, match="each new subject of panel"):
        store.charge(late, ask(0.6, ("dan",), **wide))
    assert spent(store) == PureDP(1.0)
    with pytest.raises(InvalidInput, match="never raise it"):  # also not for people who are new
        store.charge(late, ask(0.1, ("dan",), **{**wide, "subject_budget": PureDP(2.0)}))


def test_it_survives_a_restart(database_url: str) -> None:
    with Store(database_url) as store:
        store.charge(campaign(store, "before"), ask(0.7))
    with Store(database_url) as store:
        assert spent(store) == spent(store, "ann") == PureDP(0.7)
        with pytest.raises(BudgetExceeded):
            store.charge(campaign(store, "after"), ask(0.7))


def test_whether_it_would_be_admitted_changes_nothing(store: Store) -> None:
    store.check_charge(ask(0.7), campaign(store, "first"))
    assert store.ledger() == ()
    store.charge(campaign(store, "first"), ask(0.7))
    second = campaign(store, "second")
    store.check_charge(ask(0.3), second)
    with pytest.raises(BudgetExceeded):
        store.check_charge(ask(0.31), second)
    assert spent(store) == spent(store, "ann") == PureDP(0.7)
    assert store.get(second).state.value == "closed"


def test_states_are_shared_and_names_are_not_stored(store: Store) -> None:
    people = [f"person {k}" for k in range(500)]
    store.charge(campaign(store, "all"), ask(0.1, people))
    store.charge(campaign(store, "some"), ask(0.1, people[:200]))
    with store.database.reading() as connection:
        rows = connection.execute(select(s.subject.c.balance_id, func.count())
                                  .group_by(s.subject.c.balance_id)).all()
        keys = connection.execute(select(s.subject.c.key)).scalars().all()
    assert sorted(count for _, count in rows) == [200, 300]
    assert all(len(key) == 32 for key in keys)
    assert len(set(keys)) == 500
    assert not any(hashlib.sha256(who.encode()).digest() in keys for who in people)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(asked=st.lists(st.tuples(st.sampled_from((0.05, 0.1, 0.3)), st.sets(st.sampled_from("abcdef"), min_size=1)),
                      max_size=8), number=st.integers(0, 10**9))
def test_it_equals_filters_in_memory(store: Store, asked: list[tuple[float, set[str]]], number: int) -> None:
    """Any sequence of campaigns on any groups: every account stands as a filter that was charged alone."""
    scope = replace(PANEL, name=f"panel {number} {len(asked)} {hash(str(asked))}")
    whole = Filter(PureDP(0.8))
    people = dict.fromkeys("abcdef", Filter(PureDP(0.5)))
    for k, (epsilon, group) in enumerate(asked):
        charge = ask(epsilon, sorted(group), account=scope, budget=PureDP(0.8), subject_budget=PureDP(0.5))
        cost = price("basic", charge.events)
        if whole.admits(cost) and all(people[who].admits(cost) for who in group):
            store.charge(campaign(store, f"{scope.name} {k}"), charge)
            whole = whole.charged(cost, "")
            people |= {who: people[who].charged(cost, "") for who in group}
        else:
            with pytest.raises(BudgetExceeded):
                store.charge(campaign(store, f"{scope.name} {k}"), charge)
        for who, expected in people.items():
            assert spent(store, who, scope) == (expected.spent if expected.total.epsilon else None)
    if whole.total.epsilon:
        assert spent(store, account=scope) == whole.spent

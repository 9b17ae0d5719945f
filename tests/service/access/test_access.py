"""Who may come in: operators and their roles, sessions, codes that work once, limits of attempts."""

from __future__ import annotations

import hmac
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from confide.campaign.store import service_schema as t
from confide.contract import InvalidInput, Refused, kind
from confide.service.access import Attempts, Logins, Participant, Role, Sessions, csrf_of, digest_of
from confide.service.access.attempts import WINDOW
from confide.service.access.logins import Begun
from service.parts import PASSWORD, Clock, Parts


@pytest.fixture
def campaign(parts: Parts) -> int:
    return parts.open(kind("bits").template)


def test_operators_come_in_by_their_passwords(parts: Parts) -> None:
    eve = parts.operators.add("eve", "another good password", Role.VIEWER)
    assert parts.operators.check("ada", PASSWORD) == parts.operator
    assert parts.operators.check("eve", "another good password") == eve
    for name, password in (("ada", "another good password"), ("nobody", PASSWORD), ("eve", ""), ("", ""),
                           ("ada", PASSWORD * 100)):
        assert parts.operators.check(name, password) is None
    with parts.store.database.reading() as connection:
        kept = connection.execute(select(t.operator.c.password)).scalars().all()
    assert all(each.startswith("$argon2id$") for each in kept)


@pytest.mark.parametrize(("name", "password", "field"), [
    ("ada", PASSWORD, "name"), ("", PASSWORD, "name"), (" bob", PASSWORD, "name"), ("b\u200bob", PASSWORD, "name"),
    ("b" * 101, PASSWORD, "name"), ("bob", "short", "password"), ("bob", "x" * 1001, "password")])
def test_who_is_no_operator(parts: Parts, name: str, password: str, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parts.operators.add(name, password, Role.VIEWER)
    assert caught.value.field == field
    assert password not in str(caught.value)


def test_the_last_admin_stays(parts: Parts) -> None:
    for change in ({"role": Role.OPERATOR}, {"active": False}):
        with pytest.raises(Refused, match="without this admin, nobody could manage operators"):
            parts.operators.change(parts.operator.number, **change)
    assert parts.operators.get(parts.operator.number).role is Role.ADMIN
    second = parts.operators.add("eve", "another good password", Role.ADMIN)
    assert parts.operators.change(parts.operator.number, role=Role.VIEWER).role is Role.VIEWER
    with pytest.raises(Refused):
        parts.operators.change(second.number, active=False)


def test_who_is_changed_has_no_session_any_more(parts: Parts) -> None:
    eve = parts.operators.add("eve", "another good password", Role.OPERATOR)
    token = parts.sessions.begin(eve)
    assert parts.sessions.who(token) == eve
    parts.operators.change(eve.number, password="a third good password")
    assert parts.sessions.who(token) is None
    assert parts.operators.check("eve", "another good password") is None
    token = parts.sessions.begin(eve)
    parts.operators.change(eve.number, active=False)
    assert parts.operators.check("eve", "a third good password") is None
    assert parts.sessions.who(token) is None


def test_operators_of_another_service(parts: Parts) -> None:
    issuer = "https://id.example/realms/study"
    found = parts.operators.admit("eve", Role.VIEWER, issuer=issuer, subject="17")
    assert (found.issuer, found.role) == (issuer, Role.VIEWER)
    assert parts.operators.by_identity(issuer, "17") == found
    assert parts.operators.by_identity("https://id.example", "17") is None
    assert parts.operators.by_identity(issuer, "eve") is None
    for name, subject, field in (("somebody", "17", "subject"), ("ada", "18", "name"), ("eve", "18", "name")):
        with pytest.raises(InvalidInput) as caught:
            parts.operators.admit(name, Role.ADMIN, issuer=issuer, subject=subject)
        assert caught.value.field == field
    assert parts.operators.check("eve", "") is None
    with pytest.raises(Refused, match="identifies"):
        parts.operators.change(found.number, password=PASSWORD)


@pytest.mark.parametrize(("issuer", "subject"), [
    ("http://id.example", "17"), ("id.example", "17"), ("https://id.example/?realm=a", "17"), ("https://", "17"),
    ("https://me@id.example", "17"), ("https://id.example#a", "17"), ("https://id.example/ a", "17"),
    ("https://id.example:x", "17"), ("https://id.example/" + "a" * 500, "17"), ("file:///etc", "17"),
    ("https://id.example", ""), ("https://id.example", " "), ("https://id.example", "a" * 256),
    ("https://id.example", "a\nb")])
def test_who_is_no_operator_of_another_service(parts: Parts, issuer: str, subject: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parts.operators.admit("eve", Role.VIEWER, issuer=issuer, subject=subject)
    assert caught.value.field in ("issuer", "subject")


def test_an_admin_of_another_service_is_an_admin(parts: Parts) -> None:
    """The last admin stays, whoever says who she is."""
    eve = parts.operators.admit("eve", Role.ADMIN, issuer="https://id.example", subject="17")
    assert parts.operators.change(parts.operator.number, active=False).active is False
    with pytest.raises(Refused, match="without this admin, nobody could manage operators"):
        parts.operators.change(eve.number, role=Role.VIEWER)
    token = parts.sessions.begin(eve)
    parts.operators.change(parts.operator.number, active=True)
    assert parts.operators.change(eve.number, active=False).active is False
    assert parts.sessions.who(token) is None


def test_sessions_end(parts: Parts, campaign: int) -> None:
    clock = Clock()
    sessions = Sessions(parts.store, hours=1, days=2, clock=clock)
    operator = sessions.begin(parts.operator)
    (_, code), = parts.invitations.invite(campaign, [4])
    joined = parts.invitations.join(code)
    assert joined is not None
    token, who = joined
    assert (sessions.participant(token), who) == (Participant(campaign, 4), Participant(campaign, 4))
    assert sessions.who(token) is None
    assert sessions.participant(operator) is None
    clock.now += 3600
    assert sessions.who(operator) is None
    clock.now += 1000 * 86_400
    sessions.sweep()
    assert sessions.participant(token) == who  # as long as she may withdraw, she can
    parts.store.cancel(campaign)
    sessions.sweep()
    clock.now += 2 * 86_400
    sessions.sweep()
    assert sessions.participant(token) == who
    clock.now += 86_400
    assert sessions.participant(token) is None
    sessions.sweep()
    with parts.store.database.reading() as connection:
        assert connection.execute(select(t.operator_session)).all() == []
        assert connection.execute(select(t.participant_session)).all() == []


def test_a_begun_log_in_is_taken_once_in_its_browser_and_in_time(parts: Parts) -> None:
    clock = Clock()
    one, other = (Logins(parts.store, clock=clock) for _ in range(2))
    begun, second = one.begin(), one.begin()
    assert len({begun.state, begun.nonce, begun.verifier, begun.secret, second.state}) == 5
    assert other.take(second.secret, begun.state) is None
    assert other.take("", "") is None
    assert other.take("x" * 43, Begun(secret="x" * 43, at=0).state) is None  # made up, and never begun
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: other.take(begun.secret, begun.state), range(8)))
    assert [each for each in found if each is not None] == [begun]
    clock.now += 600
    assert one.take(second.secret, second.state) is None
    late = one.begin()
    clock.now += 599
    one.sweep()
    assert one.take(late.secret, late.state) == late
    one.begin()
    clock.now += 600
    one.sweep()
    with parts.store.database.reading() as connection:
        assert connection.execute(select(t.begun_login)).all() == []
    assert begun.secret not in repr(begun)


def test_nothing_tells_when_somebody_joined(parts: Parts, campaign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two who join a month apart have rows that differ in their slots and random digests alone; no clock is read."""
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    sessions = Sessions(parts.store, clock=clock)
    tokens = {}
    for slot in (4, 2):
        (_, code), = parts.invitations.invite(campaign, [slot])
        joined = parts.invitations.join(code)
        assert joined is not None
        tokens[slot] = digest_of(joined[0])
        sessions.sweep()
        clock.now += 30 * 86_400
    parts.store.cancel(campaign)
    sessions.sweep()
    with parts.store.database.reading() as connection:
        rows = connection.execute(select(t.participant_session)).mappings().all()
        last = connection.execute(select(t.draft.c.last_day)).scalars().all()
    assert sorted(map(dict, rows), key=lambda row: row["slot"]) == [
        {"digest": tokens[slot], "campaign_id": campaign, "slot": slot} for slot in (2, 4)]
    assert last == ["2027-09-12"]  # 180 days after it ended, for both


def test_a_session_is_ended_by_its_owner(parts: Parts) -> None:
    token, other = parts.sessions.begin(parts.operator), parts.sessions.begin(parts.operator)
    parts.sessions.end(token)
    assert parts.sessions.who(token) is None
    assert parts.sessions.who(other) is not None


def test_a_form_belongs_to_its_session() -> None:
    assert csrf_of("one") != csrf_of("other")
    assert len(csrf_of("one")) == 64


def test_a_code_works_once_however_many_try(parts: Parts, campaign: int) -> None:
    (_, code), = parts.invitations.invite(campaign, [2])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: parts.invitations.join(code), range(16)))
    assert sum(each is not None for each in found) == 1
    assert parts.invitations.join(code) is None


def test_a_code_may_be_typed(parts: Parts, campaign: int) -> None:
    (_, code), = parts.invitations.invite(campaign, [2])
    joined = parts.invitations.join(f"  {code.lower().replace('-', ' ')} ")
    assert joined is not None
    assert joined[1] == Participant(campaign, 2)


def test_a_new_code_ends_the_earlier_one_and_its_session(parts: Parts, campaign: int) -> None:
    (_, first), (_, other) = parts.invitations.invite(campaign, [2, 3])
    joined = parts.invitations.join(first)
    assert joined is not None
    (_, second), = parts.invitations.invite(campaign, [2])
    assert parts.sessions.participant(joined[0]) is None
    (_, third), = parts.invitations.invite(campaign, [2])
    assert parts.invitations.join(second) is None
    assert parts.invitations.join(third) is not None
    assert parts.invitations.waiting(campaign) == 1
    assert parts.invitations.join(other) is not None


def test_everybody_is_invited_at_once(parts: Parts, campaign: int) -> None:
    slots = parts.store.get(campaign).slots
    codes = parts.invitations.invite(campaign, range(slots))
    assert [slot for slot, _ in codes] == list(range(slots))
    assert len({code for _, code in codes}) == slots
    assert parts.invitations.waiting(campaign) == slots
    for slots_ in ([-1], [slots]):
        with pytest.raises(InvalidInput, match="out of range"):
            parts.invitations.invite(campaign, slots_)
    with pytest.raises(InvalidInput, match="no campaign with the number 99"):
        parts.invitations.invite(99, [0])


def test_no_secret_is_stored(parts: Parts, campaign: int) -> None:
    (_, code), (_, unused) = parts.invitations.invite(campaign, [1, 2])
    joined = parts.invitations.join(code)
    assert joined is not None
    begun = Logins(parts.store).begin()
    tokens = [joined[0], parts.sessions.begin(parts.operator), code, unused, begun.secret, begun.state, begun.nonce,
              begun.verifier]
    with parts.store.database.reading() as connection:
        stored = repr([connection.execute(select(table)).all() for table in (
            t.invitation, t.participant_session, t.operator_session, t.operator, t.begun_login)])
    assert not any(secret in stored or secret.replace("-", "") in stored for secret in [*tokens, PASSWORD])
    assert repr(digest_of(unused)) in stored


def test_attempts_are_counted_over_all_workers(parts: Parts) -> None:
    clock = Clock()
    one, other = (Attempts(parts.store, clock=clock) for _ in range(2))
    mine = ["log in at 192.0.2.7", "log in as ada"]
    assert [each.begin(mine).counts for each in (one, other, one)] == [(1, 1), (2, 2), (3, 3)]
    assert one.begin(["log in at 192.0.2.8", "log in as ada"]).counts == (1, 4)
    clock.now += WINDOW
    assert other.begin(mine).counts == (1, 1)


def test_attempts_that_are_made_at_once_are_all_counted(parts: Parts) -> None:
    attempts = Attempts(parts.store, clock=Clock())
    with ThreadPoolExecutor(8) as pool:
        counts = sorted(pool.map(lambda _: attempts.begin(["join"]).counts[0], range(16)))
    assert counts == list(range(1, 17))


def test_of_attempts_nothing_stays(parts: Parts) -> None:
    """Of those that succeed at once, of others after minutes; no key that is kept tells whose they were."""
    clock = Clock()
    attempts = Attempts(parts.store, clock=clock)

    def rows() -> list[Any]:
        with parts.store.database.reading() as connection:
            return [row for table in (t.attempt, t.attempt_key) for row in connection.execute(select(table)).all()]

    attempts.forgive(attempts.begin(["join at 192.0.2.7"]))
    with parts.store.database.reading() as connection:
        assert connection.execute(select(t.attempt)).all() == []
    counted = attempts.begin(["join at 192.0.2.7"])
    assert counted.keys[0] != hmac.digest(parts.store.home.ledger_key, b"join at 192.0.2.7", "sha256")
    clock.now += WINDOW
    later = attempts.begin(["join at 192.0.2.7"])
    assert later.keys != counted.keys  # another key
    attempts.sweep()
    left = repr(rows())
    assert repr(later.keys[0]) in left
    assert repr(counted.keys[0]) not in left
    clock.now += WINDOW
    attempts.sweep()
    assert rows() == []

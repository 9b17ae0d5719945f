"""Idempotency keys: of several requests at once one is done, whoever dies with it, or fails at it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from confide.contract import Refused
from confide.service.work import replays as replays_module
from confide.service.work.replays import Replays, Reply
from service.clients import serving
from service.parts import Clock, Parts


def test_of_several_at_once_one_is_done(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, anybody):
        olga = anybody.logged_in("olga")

        def ask(_: int) -> int:
            answer = olga("POST", "/drafts", json={"text": "# a race"}, headers={"Idempotency-Key": "k"}, status=201)
            return int(answer["number"])

        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(ask, range(12)))
        assert len(set(found)) == 1
        assert len(app.state.parts.drafts.all()) == 1
        olga("POST", "/drafts", json={"text": "b", "name": "../x"}, headers={"Idempotency-Key": "l"}, status=422)
        olga("POST", "/drafts", json={"text": "b", "name": "../x"}, headers={"Idempotency-Key": "l"}, status=422)
        olga("POST", "/drafts", json={"text": "b"}, headers={"Idempotency-Key": "l"}, status=201)  # is free again


def test_a_key_is_taken_before_anything_is_done(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays_module, "_PATIENCE", 0.05)
    clock = Clock()
    replays = Replays(parts.store, clock=clock)
    assert replays.begin("ada", "k", b"do") is None
    assert replays.begin("eve", "k", b"do") is None  # another one's key
    with pytest.raises(Refused, match="this request is still running"):
        replays.begin("ada", "k", b"do")
    with pytest.raises(Refused, match="another request"):
        replays.begin("ada", "k", b"do something else")
    replays.keep("ada", "k", b"do", Reply(200, b"done"))
    replays.drop("ada", "k", b"do")  # what was answered stays
    assert replays.begin("ada", "k", b"do") == Reply(200, b"done")
    replays.drop("eve", "k", b"do")
    assert replays.begin("eve", "k", b"do") is None
    clock.now += 61  # she has died
    replays.sweep()
    assert replays.begin("eve", "k", b"do") is None
    assert replays.begin("ada", "k", b"do") == Reply(200, b"done")
    clock.now += 86_400
    assert replays.begin("ada", "k", b"do") is None

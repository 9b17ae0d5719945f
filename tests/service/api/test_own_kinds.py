"""Kinds that somebody wrote herself, in the service: a form, a page and a share for nothing, over the API."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from confide.campaign import verify
from confide.contract import InvalidInput, kind
from confide.service.access import Participant
from confide.service.work import Task
from people import asked_on_devices
from people.own_packages import installed_histogram, installed_module
from service.api.test_api_life import settled
from service.clients import serving
from service.parts import Parts, sent

WAYS = ("bus", "bicycle", "car", "on foot")


@pytest.fixture
def histogram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The campaign file of the tutorial, for few people and so large an epsilon that their counts can be told: the
    noise of four counts is 0 but for a chance of 8 e^-20.
    """
    with installed_histogram(tmp_path / "site", monkeypatch):
        text = kind("histogram").template
        for old, new in (("count = 500 ", "count = 12 "), ("epsilon = 1.0", "epsilon = 40.0"),
                         ("epsilon = 2.0", "epsilon = 40.0")):
            assert old in text
            text = text.replace(old, new)
        yield text


@pytest.fixture
def on_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The campaign file of a local kind."""
    points = {"on-devices": "private_devices:KIND"}
    with installed_module(Path(asked_on_devices.__file__), "private_devices", points, tmp_path / "site", monkeypatch):
        yield kind("on-devices").template


def rows(sections: list[dict[str, Any]]) -> list[list[Any]]:
    """Of all tables of a page."""
    return [row for section in sections for block in section["blocks"] for row in block.get("rows", ())]


def test_a_mechanism_of_ones_own_from_a_draft_to_a_share(histogram: str, tmp_path: Path) -> None:
    with serving(tmp_path) as (_, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": histogram}, status=201)["number"]
        plan = olga("POST", f"/drafts/{draft}/plan")
        assert plan["ledger"].startswith("The ledger admits")
        number = olga("POST", f"/drafts/{draft}/open")["number"]
        offer = anybody("GET", f"/campaigns/{number}/offer")["sections"]
        assert "The operator reads your record." in str(offer)
        codes = olga("POST", f"/campaigns/{number}/invitations", json={"slots": list(range(12))})["codes"]
        people = [anybody.joined(each["code"]) for each in codes[:8]]
        for turn, participant in enumerate(people):
            form = participant("GET", "/mine/form")
            (field,) = form["fields"]
            assert form["device"] is None
            assert (field["column"], tuple(field["choices"])) == ("way", WAYS)
            participant("PUT", "/mine/report", json={"values": {"way": "by air"}}, status=422)
            participant("PUT", "/mine/report", json={"values": {"way": WAYS[turn % 2]}}, status=204)
        people[7]("POST", "/mine/withdraw")
        assert olga("GET", f"/campaigns/{number}/progress")["handed_in"] == 7
        assert settled(olga, number)["problem"] == ""
        reported = people[0]("POST", "/mine/share", json={})["sections"]
        typed = people[0]("POST", "/mine/share", json={"values": {"way": "bus"}})["sections"]
        assert rows(reported) == rows(typed) == [["same answer", 4]]
        assert "withdrawn" in people[7]("POST", "/mine/share", json={}, status=409)["detail"]
        result = anybody("GET", f"/campaigns/{number}/result")["sections"]
        assert rows(result[:1]) == [["bus", 4], ["bicycle", 3], ["car", 0], ["on foot", 0]]
        page = anybody.client.get(f"/campaigns/{number}")
        assert page.status_code == 200
        assert "How do you get to work?" in page.text
        assert "on foot" in page.text
        with zipfile.ZipFile(io.BytesIO(anybody("GET", f"/campaigns/{number}/pack.zip"))) as archive:
            archive.extractall(tmp_path / "pack")
        assert verify(tmp_path / "pack", key=anybody("GET", f"/campaigns/{number}/pack")["fingerprint"]).passed


def test_a_broken_mechanism_is_no_draft_that_opens(
    histogram: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import private_histogram

    with serving(tmp_path) as (app, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": histogram}, status=201)["number"]
        monkeypatch.setattr(private_histogram.NoisyHistogram, "run", lambda *_: {}["counts"])
        for verb in ("plan", "open"):
            problem = olga("POST", f"/drafts/{draft}/{verb}", status=422)
            assert "`run` fails: KeyError at test_own_kinds.py:" in str(problem)
        assert app.state.parts.store.data_sets() == ()


def test_a_run_that_fails_says_that_the_next_is_free(
    histogram: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import private_histogram

    true = private_histogram.NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        if noise.release_safe:
            raise ValueError("she answered bus")
        return true(it, data, noise)

    with Parts.at(tmp_path) as parts:
        number = parts.open(histogram)
        (who,) = parts.join(number, [0])
        parts.participation.submit(who, {"way": "bus"})
        with monkeypatch.context() as broken:
            broken.setattr(private_histogram.NoisyHistogram, "run", run)
            job = parts.do(number, Task.SETTLE)
        assert job.state == "failed"
        assert "another run of this campaign uses the same debit" in job.problem
        assert "bus" not in job.problem
        assert "ValueError" not in job.problem
        before = parts.store.ledger("commuters")[0].filter.spent
        assert parts.do(number, Task.SETTLE).state == "done"
        assert parts.store.ledger("commuters")[0].filter.spent == before


def test_a_local_mechanism_of_ones_own(on_devices: str, tmp_path: Path) -> None:
    """What reaches the service is what a device drew; it takes nothing else, and no second draw."""
    with serving(tmp_path) as (app, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": on_devices}, status=201)["number"]
        number = olga("POST", f"/drafts/{draft}/open")["number"]
        offer = str(anybody("GET", f"/campaigns/{number}/offer")["sections"])
        assert "Your own device draws a report from your record. Only the report leaves the device." in offer
        assert "operator reads your record" not in offer
        codes = olga("POST", f"/campaigns/{number}/invitations", json={"slots": [0]})["codes"]
        participant = anybody.joined(codes[0]["code"])
        form = participant("GET", "/mine/form")
        assert form["device"]["law"] == "response"
        participant("PUT", "/mine/report", json={"values": {"answer": "yes"}}, status=422)  # her answer itself
        row = sent(form["device"], {"answer": "yes"}, drawn=0)
        assert row == {"report": "no"}
        participant("PUT", "/mine/report", json={"values": row}, status=204)
        participant("PUT", "/mine/report", json={"values": {"report": "yes"}}, status=409)
        taking = app.state.parts.participation
        for slot in range(1, 30):
            who = Participant(number, slot)
            taking.submit(who, sent(taking.device(who), {"answer": "yes"}))
        assert settled(olga, number)["problem"] == ""
        reported = participant("POST", "/mine/share", json={"values": row})["sections"]
        assert rows(reported) == rows(participant("POST", "/mine/share", json={})["sections"]) == [["same report", 1]]
        assert "your report and the public billboard" in str(reported)
        board = app.state.parts.opened.get(number).campaign.settled(store=app.state.parts.store).billboard
        assert np.array_equal(board.reports, [1, 29])


def test_a_local_promise_that_nothing_keeps_is_no_draft_that_opens(
    on_devices: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import private_devices

    monkeypatch.setattr(private_devices.OnDevices, "submit", lambda it, private, offer=None, noise=None: private)
    with Parts.at(tmp_path) as parts, pytest.raises(InvalidInput, match="lets the collector distinguish two records"):
        parts.open(on_devices)

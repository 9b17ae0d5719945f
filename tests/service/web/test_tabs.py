"""Tabs of one browser that draw at the same moment: one of them draws, and all of them send what it has drawn."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from confide.service.shell.parts import Parts
from service.web.browsing import at_offer, kept, opened_by, running

TABS, TRIALS = 6, 12
COUNTED = """globalThis.taken = 0;
    const given = crypto.getRandomValues.bind(crypto);
    crypto.getRandomValues = (bytes) => { globalThis.taken += bytes.length; return given(bytes); };
    Object.defineProperty(IDBOpenDBRequest.prototype, "onsuccess", {
        set(then) { this.addEventListener("success", () => setTimeout(then, 300)); } });"""
"""Counts random bytes; storage is slow to open, so that tabs which look first and keep later would all draw."""


@pytest.fixture(scope="module")
def without_tls(chromium: Browser) -> Iterator[Browser]:
    """A browser that reaches this machine by a name that is not local: without TLS, that is no secure context."""
    browser = chromium.browser_type.launch(executable_path=shutil.which("chromium"), args=[
        "--no-sandbox", "--host-resolver-rules=MAP study.example 127.0.0.1"])
    yield browser
    browser.close()


def tabs_of(context: BrowserContext, base: str, code: str) -> list[Page]:
    """Her tabs, in each of which she has given her answer."""
    context.add_init_script(COUNTED)
    first = context.new_page()
    first.goto(f"{base}/join#{code}")
    first.wait_for_url(f"{base}/mine")
    tabs = [first, *(context.new_page() for _ in range(TABS - 1))]
    for tab in tabs[1:]:
        tab.goto(f"{base}/mine")
    for tab in tabs:
        tab.get_by_label("yes", exact=True).check()
    return tabs


def together(context: BrowserContext, tabs: list[Page], form: str) -> None:
    """Submit the form in all tabs; what they ask the service before is answered once all have asked, as it answers."""
    answer = tabs[0].evaluate("fetch('/api/v1/mine').then((found) => found.text())")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    context.route("**/api/v1/mine", hold)
    for tab in tabs:
        tab.evaluate("form => { setTimeout(() => document.getElementById(form).requestSubmit(), 0); }", form)
    for _ in range(1000):
        if len(waiting) == len(tabs):
            break
        tabs[0].wait_for_timeout(10)
    for route in waiting:
        route.fulfill(body=answer, content_type="application/json")
    context.unroute("**/api/v1/mine")


def one_draw(browser: Browser, base: str, parts: Parts, number: int, slot: int) -> None:
    """All tabs of one person draw at once, and hand in at once."""
    ((_, code),) = parts.invitations.invite(number, [slot])
    context = browser.new_context()
    tabs = tabs_of(context, base, code)
    together(context, tabs, "device")
    for tab in tabs:
        expect(tab.locator("#send")).to_be_visible()
    taken = [tab.evaluate("globalThis.taken") for tab in tabs]
    assert sum(each > 0 for each in taken) == 1, taken
    shown = {tab.locator("#leaves").inner_text() for tab in tabs}
    (drawn,) = shown
    (stored,) = kept(tabs[0]).values()
    assert stored["row"] == {"report": drawn}
    sent: list[Any] = []
    context.on("request", lambda request: sent.append(request.post_data) if request.method == "POST" else None)
    together(context, tabs, "send")
    for tab in tabs:
        tab.get_by_text("Your report is stored").wait_for()
    assert len(sent) == TABS
    assert {parse_qs(each)["field.report"][0] for each in sent} == {drawn}
    report = parts.store.report_of(number, slot)
    assert report is not None
    assert report[0] == (drawn == "yes")
    context.close()


@pytest.mark.slow
def test_tabs_of_one_person_draw_once(chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        for slot in range(TRIALS):
            one_draw(chromium, base, parts, number, slot)


@pytest.mark.slow
def test_so_they_do_without_tls(without_tls: Browser, tmp_path: Path) -> None:
    """Where browsers give pages no locks."""
    with running(tmp_path, host="study.example") as (base, parts):
        number = opened_by(parts, "bits")
        page = without_tls.new_page()
        page.goto(base)
        assert page.evaluate("[isSecureContext, navigator.locks === undefined]") == [False, True]
        page.close()
        for slot in range(TRIALS):
            one_draw(without_tls, base, parts, number, slot)


@pytest.mark.slow
def test_what_another_tab_drew_is_seen_before_it_is_sent(chromium: Browser, tmp_path: Path) -> None:
    """However it came there: a tab sends what is kept and was shown, or nothing."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        page.get_by_label("yes", exact=True).check()
        page.get_by_role("button", name="Draw my report").click()
        page.locator("#send").wait_for()
        drawn = page.locator("#leaves").inner_text()
        other = "no" if drawn == "yes" else "yes"
        change = """row => new Promise((done) => {
            const asked = indexedDB.open("confide", 1);
            asked.onsuccess = () => {
                const store = asked.result.transaction("kept", "readwrite").objectStore("kept");
                const found = store.openCursor();
                found.onsuccess = () => {
                    if (row === null) found.result.delete();
                    else found.result.update({ ...found.result.value, row });
                };
                store.transaction.oncomplete = () => { asked.result.close(); done(); };
            };
        })"""
        page.evaluate(change, {"report": other})
        page.get_by_role("button", name="Hand it in").click()
        expect(page.locator("#leaves")).to_have_text(other)
        assert parts.store.report_of(number, 0) is None
        page.evaluate(change, None)
        page.get_by_role("button", name="Hand it in").click()
        expect(page.locator("#problem")).to_contain_text("no longer has your report")
        assert page.locator("#send").is_hidden()
        assert parts.store.report_of(number, 0) is None
        page.context.close()

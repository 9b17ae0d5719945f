"""In a real browser: a participant whose answer never leaves her device; pages in which axe finds nothing wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from scipy.special import expit

from campaign.service.language.pseudo import in_brackets, outside
from campaign.service.parts import PASSWORD
from campaign.service.web.walking import accepted, running
from confide.campaign.service.shell.parts import Parts
from confide.contract import kind
from confide.people.device_odds import of_hundred


def opened(parts: Parts, name: str) -> int:
    """A campaign of a kind's template."""
    operator = parts.operators.all()[0]
    return parts.drafts.open(parts.drafts.new(kind(name).template, operator.number).number).number


def wire(page: Page) -> list[str]:
    """Everything that the page sends, as it is sent: addresses, headers, bodies."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(
        f"{request.url}\n{request.headers}\n{request.post_data or ''}"))
    return sent


def test_only_what_her_device_drew_leaves_it(chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts):
        number = opened(parts, "bits")
        (_, code), (_, other) = parts.invitations.invite(number, [0, 1])
        page = chromium.new_page()
        sent = wire(page)
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        assert code not in page.url
        assert sum(code in each for each in sent) == 1  # in the body of the form, once
        assert not any(code in each.partition("\n")[0] for each in sent)
        accepted(page)
        page.get_by_label("yes", exact=True).check()
        page.get_by_role("button", name="Draw what leaves this device").click()
        drawn = page.locator("#leaves").inner_text()
        assert drawn in ("yes", "no")
        accepted(page)
        before = len(sent)
        page.get_by_role("button", name="Hand it in").click()
        page.get_by_text("It is stored").wait_for()
        (post,) = [each for each in sent[before:] if "/mine/report" in each]
        body = post.rpartition("\n")[2]
        assert re.fullmatch(rf"word=[0-9a-f]{{64}}&field\.report={drawn}", body)
        report = parts.store.report_of(number, 0)
        assert report is not None
        assert report[0] == (drawn == "yes")
        page.goto(f"{base}/mine")
        assert page.get_by_text("A second draw would tell more").is_visible()
        assert page.locator("#device").count() == 0
        page.close()
        # a second person on a device of her own, whose every draw is of her own
        context = chromium.new_context(java_script_enabled=False)
        quiet = context.new_page()
        quiet.goto(f"{base}/join")
        quiet.get_by_label("Your code").fill(other.lower())
        quiet.get_by_role("button", name="Take part").click()
        assert quiet.get_by_text("that needs scripts").is_visible()
        assert quiet.locator("#device").is_hidden()
        assert quiet.locator("#send").is_hidden()
        context.close()


def test_two_people_at_one_browser(chromium: Browser, tmp_path: Path) -> None:
    """What was drawn for one is nothing to the other; a draw is kept for its owner until she has it forgotten."""
    with running(tmp_path) as (base, parts):
        number = opened(parts, "bits")
        codes = dict(parts.invitations.invite(number, [0, 1]))
        context = chromium.new_context()
        page = context.new_page()

        def drawn(code: str) -> str:
            page.goto(f"{base}/join#{code}")
            page.wait_for_url(f"{base}/mine")
            assert page.locator("#send").is_hidden()  # nothing of anybody else is there
            page.get_by_label("no", exact=True).check()
            page.get_by_role("button", name="Draw what leaves this device").click()
            return page.locator("#leaves").inner_text()

        first = drawn(codes[0])
        page.reload()
        assert page.locator("#leaves").inner_text() == first  # not drawn again
        assert page.locator("#device").is_hidden()
        page.goto("about:blank")
        drawn(codes[1])
        assert page.evaluate("localStorage.length") == 2
        page.get_by_role("button", name="Forget me on this device").click()
        page.wait_for_url(f"{base}/")
        assert page.evaluate("localStorage.length") == 1
        context.close()


def test_the_law_of_what_leaves(chromium: Browser, tmp_path: Path) -> None:
    """Drawn by the page's own program in the page itself: the odds that the offer tells, by exact binomial tails."""
    from scipy.stats import binomtest

    with running(tmp_path) as (base, parts):
        number = opened(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = chromium.new_page()
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        kept = page.evaluate("""async () => {
            const { followInstructions } = await import("/static/noise.js");
            const told = JSON.parse(document.getElementById("device").dataset.instructions);
            let kept = 0;
            for (let k = 0; k < 2000; k++) kept += followInstructions(told, { answer: "yes" }).row.report === "yes";
            return kept;
        }""")
        page.close()
        level = parts.opened.get(number).campaign.plan.mechanism.events()[0].epsilon
        from math import exp

        assert binomtest(kept, 2000, exp(level) / (1 + exp(level))).pvalue > 1e-10


def test_what_scripts_show_is_translated_too(chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts), in_brackets():
        number = opened(parts, "bits-unknown-costs")
        ((_, code), (_, other)) = parts.invitations.invite(number, [0, 1])
        page = chromium.new_page()
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        page.get_by_label("yes", exact=True).check()
        for typed, problem in (("much", "⟦This is no number.⟧"), ("0", "⟦This must be above 0.⟧")):
            page.locator("#field-worth").fill(typed)
            page.locator("#device button").click()
            assert page.locator("#problem").inner_text() == problem
        page.locator("#field-worth").fill("0.01")
        page.locator("#device button").click()
        own = page.locator("#own").inner_text()
        level = parts.opened.get(number).campaign.plan.market.level_of(0.01)
        truth = of_hundred(float(expit(level)))
        assert own == f"⟦By what you typed, your own answer leaves as it is in about {truth} of 100 draws.⟧"
        assert outside(page.locator("#send").inner_html(), {"yes", "no"}) == []
        page.close()
        # whoever answers nothing takes no part
        page = chromium.new_context().new_page()
        page.goto(f"{base}/join#{other}")
        page.wait_for_url(f"{base}/mine")
        page.locator("#device button").click()
        assert page.locator("#leaves").inner_text() == "⟦nothing: you take no part⟧"
        page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_pages_are_accessible(dark: bool, chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts):
        number = opened(parts, "matching")
        ((_, code),) = parts.invitations.invite(number, [0])
        context = chromium.new_context(color_scheme="dark" if dark else "light")
        page = context.new_page()
        for path in ("/", "/join", "/login", f"/campaigns/{number}"):
            page.goto(base + path)
            accepted(page)
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        accepted(page)
        page.goto(f"{base}/mine/withdraw")
        accepted(page)
        page.goto(f"{base}/login")
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        accepted(page)
        for path in (f"/desk/campaigns/{number}", "/desk/ledger"):
            page.goto(base + path)
            accepted(page)
        context.close()


def test_a_link_asks_whoever_takes_part_already(chromium: Browser, tmp_path: Path) -> None:
    """The code of a link is in the form, and goes nowhere before she has said that it should."""
    with running(tmp_path) as (base, parts):
        number = opened(parts, "bits")
        (_, code), (_, other) = parts.invitations.invite(number, [0, 1])
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        sent = wire(page)
        page.goto(f"{base}/join#{other}")
        again = page.get_by_role("button", name="Use this code instead")
        again.wait_for()
        accepted(page)
        assert page.get_by_label("Your code").input_value() == other
        assert not any(other in each for each in sent)
        assert parts.invitations.waiting(number) == 1
        again.click()
        page.wait_for_url(f"{base}/mine")
        assert parts.invitations.waiting(number) == 0
        context.close()

"""A person who follows her link late, and one who presses the button before she has chosen: in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from service.web.browsing import at_offer, kept, leaving, opened_by, running


def test_a_link_that_is_followed_where_codes_are_asked_for(chromium: Browser, tmp_path: Path) -> None:
    """Only what stands behind the # changes: the code is taken all the same, and an earlier error is gone."""
    with running(tmp_path) as (base, parts):
        (_, code), (_, other) = parts.invitations.invite(opened_by(parts, "bits"), [0, 1])
        page = chromium.new_page()
        follow = "link => { location.href = link; }"
        page.goto(f"{base}/join#nobodys")
        page.get_by_text("This code is not known").wait_for()
        page.evaluate(follow, f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        page.goto(f"{base}/join#nobodys")  # where this browser takes part, nothing is sent before she says so
        page.get_by_role("button", name="Use this code instead").click()
        page.get_by_text("This code is not known").wait_for()
        page.evaluate(follow, f"{base}/join#{other}")
        expect(page.get_by_label("Your code")).to_have_value(other)
        assert page.get_by_text("This code is not known").count() == 0
        assert page.url == f"{base}/join"
        page.close()


@pytest.mark.slow
def test_drawing_before_a_choice_leads_back(chromium: Browser, tmp_path: Path) -> None:
    """She is told that nothing was drawn; nothing is kept or sent, and her answer is drawn once she has chosen it."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        page.get_by_role("button", name="Draw my report").click()
        page.get_by_text("Nothing was drawn").wait_for()
        assert page.get_by_text("Your device drew this report once").is_hidden()
        assert not kept(page)
        page.get_by_role("button", name="Back to your answer").click()
        assert page.locator("#send").is_hidden()
        page.get_by_label("no", exact=True).check()
        page.get_by_role("button", name="Draw my report").click()
        assert leaving(page) in ("no", "yes")
        assert page.get_by_text("Nothing was drawn").is_hidden()
        assert page.get_by_text("Your device drew this report once").is_visible()
        page.get_by_role("button", name="Hand it in").click()
        page.get_by_text("Your report is stored").wait_for()
        assert parts.store.submitted(number) == 1
        page.close()

"""Logging in by a provider in a real browser, to which the provider's pages are another site."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from confide.service.access import Role
from confide.service.app import create_app
from confide.service.shell.guards import OPERATOR_COOKIE
from confide.service.shell.settings import OidcSettings, Settings
from service.access.identity_provider import CLIENT, SECRET, providing

pytestmark = pytest.mark.slow


@contextmanager
def running(folder: Path, issuer: str) -> Iterator[str]:
    """The service on localhost, which is another site than the provider's 127.0.0.1."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    secret = folder / "secret"
    secret.write_text(SECRET)
    base = f"http://localhost:{port}"
    app = create_app(Settings(home=folder / "home", base_url=base, oidc=OidcSettings(
        issuer=issuer, client=CLIENT, secret_file=secret, name="the university")))
    app.state.parts.operators.admit("eve", Role.OPERATOR, issuer=issuer, subject="subject-17")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield base
    finally:
        server.should_exit = True
        thread.join()


def accepted(page: Page) -> None:
    """Whether axe finds nothing wrong."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("asks", [True, False])
def test_an_operator_logs_in_by_a_provider(asks: bool, scripts: bool, chromium: Browser, tmp_path: Path) -> None:
    """Neither the content policy nor strict cookies stop her, whether she clicks at the provider or is sent through."""
    with providing() as provider, running(tmp_path, provider.base) as base:
        provider.asks = asks
        context = chromium.new_context(java_script_enabled=scripts)
        page = context.new_page()
        reported: list[str] = []
        page.on("console", lambda message: reported.append(message.text))
        page.goto(f"{base}/login")
        if scripts:
            accepted(page)
        page.get_by_role("link", name="Log in with the university").click()
        if asks:
            page.get_by_role("link", name="It is me").click()
        page.get_by_text("eve · operator").wait_for()
        assert page.url == f"{base}/desk"
        kept = {each["name"]: each for each in context.cookies()}
        assert set(kept) == {OPERATOR_COOKIE}
        assert (kept[OPERATOR_COOKIE]["sameSite"], kept[OPERATOR_COOKIE]["httpOnly"]) == ("Strict", True)
        assert not [each for each in reported if "Content Security Policy" in each]
        page.get_by_role("button", name="Log out").click()
        page.goto(f"{base}/desk")
        page.wait_for_url(f"{base}/login")
        context.close()


def test_a_stranger_reads_their_own_identity(chromium: Browser, tmp_path: Path) -> None:
    with providing() as provider, running(tmp_path, provider.base) as base:
        provider.subject = "subject-18"
        page = chromium.new_page()
        page.goto(f"{base}/login")
        page.get_by_role("link", name="Log in with the university").click()
        page.get_by_text("subject-18").wait_for()
        accepted(page)
        assert page.get_by_text(provider.base, exact=True).is_visible()
        page.get_by_role("link", name="Log in as somebody else").click()
        assert page.get_by_label("Password").is_visible()

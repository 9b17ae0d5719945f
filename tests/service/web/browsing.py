"""Whole campaigns in a browser: the service on a port of this machine, who walks through its pages, and her pictures.

Where the environment names a folder, `WALK_PICTURES=docs/pictures`, pictures of the pages are kept there for the docs.
"""

from __future__ import annotations

import csv
import io
import os
import socket
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route
from starlette.types import ASGIApp
from typer.testing import CliRunner

from confide.cli.app import app as cli
from confide.contract import kind
from confide.service.access import Role
from confide.service.app import create_app
from confide.service.shell.parts import Parts
from confide.service.shell.settings import Settings
from service.parts import PASSWORD

__all__ = [
    "Desk", "Visitor", "accepted", "altered", "at_offer", "free_port", "kept", "leaving", "opened_by", "running",
    "too_wide", "unpacked", "verified",
]

WIDE, HIGH = 1000, 700
_PATIENCE = 120_000  # milliseconds: a settlement that compiles its kernels first keeps the pages of its process waiting
PHONE = {"width": 390, "height": 844}


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(
    folder: Path, data: Path | None = None, host: str = "localhost",
    ears: Callable[[ASGIApp], ASGIApp] = lambda app: app
) -> Iterator[tuple[str, Parts]]:
    """The service on a port of this machine: where, and its parts.

    Args:
        folder: for its installation.
        data: folder of the tables that campaign files may name.
        host: the name by which browsers reach it.
        ears: what hears all requests before the service does.
    """
    port = free_port()
    base = f"http://{host}:{port}"
    app = create_app(Settings(home=folder / "home", base_url=base, attempts=1000, data=data))
    parts: Parts = app.state.parts
    parts.operators.add("ada", PASSWORD, Role.ADMIN)
    server = uvicorn.Server(uvicorn.Config(ears(app), host="127.0.0.1", port=port, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield base, parts
    finally:
        server.should_exit = True
        thread.join()


def opened_by(parts: Parts, name: str) -> int:
    """A campaign of a kind's template, whose collection is open: its number."""
    operator = parts.operators.all()[0]
    return parts.drafts.open(parts.drafts.new(kind(name).template, operator.number).number).number


def accepted(page: Page) -> None:
    """Whether axe finds nothing wrong, and nothing is too wide for the screen of a telephone."""
    found: Any = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    before = page.viewport_size
    assert before is not None
    page.set_viewport_size({"width": PHONE["width"], "height": before["height"]})
    wide = too_wide(page)
    page.set_viewport_size(before)
    assert wide <= 0, f"{page.url} is {wide} pixels too wide"


def too_wide(page: Page) -> int:
    """By how many pixels the page is wider than the screen; 0 if it fits."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide


def leaving(page: Page) -> str:
    """What her device shows that will leave it, once it has drawn: it asks the service first."""
    page.locator("#send").wait_for()
    return page.locator("#leaves").inner_text()


def kept(page: Page) -> dict[str, Any]:
    """What the page's device keeps: what it drew, by campaign and id."""
    found: dict[str, Any] = page.evaluate("""() => new Promise((done, failed) => {
        const asked = indexedDB.open("confide", 1);
        asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
        asked.onerror = failed;
        asked.onsuccess = () => {
            const found = {};
            const walk = asked.result.transaction("kept").objectStore("kept").openCursor();
            walk.onsuccess = () => {
                if (walk.result) {
                    found[walk.result.key] = walk.result.value;
                    walk.result.continue();
                } else {
                    asked.result.close();
                    done(found);
                }
            };
        };
    })""")
    return found


def at_offer(chromium: Browser, base: str, code: str) -> Page:
    """A page of a browser of her own, which her code has led to her offer."""
    page = chromium.new_context().new_page()
    page.goto(f"{base}/join#{code}")
    page.wait_for_url(f"{base}/mine")
    return page


def altered(page: Page, old: str, new: str, at: str = "**/mine") -> None:
    """From now on the service sends something else."""
    def alter(route: Route) -> None:
        found = route.fetch()
        assert old in found.text()
        route.fulfill(response=found, body=found.text().replace(old, new))

    page.unroute_all()
    page.route(at, alter)
    page.reload()


class Visitor:
    """Somebody with a browser of her own.

    Args:
        browser: in which she opens a window that knows nothing of anybody else's.
        base: where the service is.
        dark: whether she prefers dark pages.
        phone: whether her screen is that of a telephone.
        watched: whether axe looks at every page that she sees.
    """

    def __init__(
        self, browser: Browser, base: str, *, dark: bool = False, phone: bool = False, watched: bool = True
    ) -> None:
        self.base, self.watched = base, watched
        size = PHONE if phone else {"width": WIDE, "height": HIGH}
        self.context = browser.new_context(
            viewport={"width": size["width"], "height": size["height"]}, color_scheme="dark" if dark else "light")
        self.context.set_default_timeout(_PATIENCE)
        self.page = self.context.new_page()
        self.steps = 0

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def look(self) -> None:
        """At the page that she sees, in which axe finds nothing wrong."""
        if self.watched:
            accepted(self.page)

    def see(self, path: str) -> Page:
        """Go to a page."""
        self.steps += 1
        self.page.goto(f"{self.base}{path}")
        self.look()
        return self.page

    def press(self, name: str) -> None:
        """A button."""
        self.steps += 1
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        """A link."""
        self.steps += 1
        self.page.get_by_role("link", name=name, exact=True).click()

    def write(self, label: str, text: str) -> None:
        """Into a field."""
        self.steps += 1
        self.page.get_by_label(label).fill(text)

    def tick(self, name: str) -> None:
        """A box, or one of several answers."""
        self.steps += 1
        self.page.get_by_label(name, exact=True).check()

    def taken(self, name: str, at: str = "") -> None:
        """A picture of what she sees, where pictures are kept.

        Args:
            name: of the file.
            at: text of what stands at its top; default the top of the page.
        """
        folder = os.environ.get("WALK_PICTURES", "")
        if not folder:
            return
        if at:
            self.page.get_by_text(at, exact=True).first.evaluate(
                "it => window.scrollTo(0, it.getBoundingClientRect().top + window.scrollY - 16)")
        else:
            self.page.evaluate("window.scrollTo(0, 0)")
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.page.mouse.move(0, 0)
        self.page.screenshot(path=Path(folder) / f"{name}.png")

    def joins(self, link: str) -> None:
        """By her link, to the offer."""
        self.steps += 1
        self.page.goto(link)
        self.page.wait_for_url(f"{self.base}/mine")
        self.look()


class Desk(Visitor):
    """An operator at her desk, where nothing but pages is used."""

    def logs_in(self, name: str = "ada", password: str = PASSWORD) -> None:
        """As an operator."""
        self.see("/login")
        self.write("Name", name)
        self.write("Password", password)
        self.press("Log in")
        self.page.wait_for_url(f"{self.base}/desk")
        self.look()

    def begins(self, kind: str, text: str = "") -> None:
        """A draft of a kind, saved and planned; with the kind's own file where no other text is given."""
        self.see("/desk")
        self.steps += 1
        self.page.get_by_role("radio", name=kind, exact=True).check()
        self.press("Begin")
        if text:
            self.write("The campaign file", text)
        self.press("Save and plan")
        self.page.get_by_role("button", name="Open the collection").wait_for()
        self.look()

    def opens(self) -> int:
        """The collection: the campaign's number."""
        self.press("Open the collection")
        self.page.wait_for_url("**/desk/campaigns/*")
        self.look()
        return int(self.page.url.rpartition("/")[2])

    def invites(self, ids: str) -> list[str]:
        """People: their links."""
        self.write("Ids, or nothing for everybody", ids)
        with self.page.expect_download() as coming:
            self.press("New codes as a file")
        rows = csv.DictReader(io.StringIO(Path(coming.value.path()).read_text(encoding="utf-8")))
        return [row["link"] for row in rows]

    def settles(self) -> None:
        """Confirm, and wait until it is done."""
        early = self.page.get_by_text("Settling charges nothing more.").count()
        self.tick("I confirm: noise is drawn, the result is published" if early else
                  "I confirm: the ledger is charged for ever, noise is drawn, the result is published")
        self.press("Settle")
        self.waits("settle")

    def audits(self) -> None:
        """Promised against measured."""
        self.press("Audit")
        self.waits("audit")

    def waits(self, task: str) -> None:
        """Until work is done."""
        for _ in range(1200):
            said = self.page.locator(f"#{task}-state").inner_text()
            assert "failed" not in said, said
            if "done" in said:
                break
            time.sleep(0.1)
            self.page.reload()
        else:
            raise AssertionError(self.page.content())
        self.look()


def unpacked(page: Page, folder: Path) -> tuple[Path, str]:
    """Download the pack as anybody does: where it was unpacked, and the key by which the page says to check it."""
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download the signed pack").click()
    pack = folder / "pack"
    with zipfile.ZipFile(coming.value.path()) as archive:
        archive.extractall(pack)
    words = page.locator("#verify").inner_text().split()
    assert words[:4] == ["confide", "verify", "PACK", "--key"]
    return pack, words[4]


def verified(page: Page, folder: Path) -> str:
    """What `confide verify` says of the pack that anybody can download."""
    pack, key = unpacked(page, folder)
    found = CliRunner().invoke(cli, ["verify", str(pack), "--key", key])
    assert found.exit_code == 0, found.output
    return found.output

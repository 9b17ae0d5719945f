"""What tests of pages share: a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from missing import missing


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        missing("chromium is not on PATH; Debian's package chromium has it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()

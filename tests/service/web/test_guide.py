"""The guide, followed to the letter: from its two commands to a settled campaign, with two browsers."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser

from service.parts import PASSWORD
from service.web.browsing import Desk, Visitor, free_port, unpacked

GUIDE = Path(__file__).parents[3] / "docs" / "service.md"
CONFIDE = f"{sys.executable} -m confide"


def commands() -> list[str]:
    """The first commands of the guide, as they are typed, but for the installation."""
    block = re.search(r"```bash\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    lines = [line.partition("#")[0].strip() for line in block[1].splitlines()]
    return [line for line in lines if line and "pip install" not in line]


def typed(command: str, answer: str, home: Path) -> str:
    """A command in a terminal of its own, in which a question is answered whenever it is asked."""
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    process = subprocess.Popen(["/bin/sh", "-c", f"exec {command} <{name} >{name} 2>&1"], start_new_session=True,
                               env={**os.environ, "CONFIDE_HOME": str(home)})
    said, answered = "", 0
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if select.select([ours], [], [], 0.1)[0]:
            said += os.read(ours, 4096).decode()
        if said.endswith(": ") and len(said) > answered:
            answered = len(said)
            os.write(ours, f"{answer}\n".encode())
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0, said
    return said


def ready(base: str) -> bool:
    """Whether the service answers."""
    try:
        with urlopen(f"{base}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.slow
def test_the_guide(
    chromium: Browser, home: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    add, serve = commands()
    assert (add, serve) == ("confide operators add ada --role admin", "confide serve")
    begun = time.monotonic()
    assert "ada is an admin" in typed(add.replace("confide", CONFIDE, 1), PASSWORD, home)
    port = free_port()
    base = f"http://localhost:{port}"
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as file:
        server = subprocess.Popen([*CONFIDE.split(), *serve.split()[1:], "--port", str(port)], stderr=file,
                                  env={**os.environ, "CONFIDE_HOME": str(home)})
    try:
        while not ready(base):
            assert server.poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.1)
        assert f"confide serves {base}; end it with Ctrl-C" in log.read_text(encoding="utf-8")
        with (Desk(chromium, base, watched=False) as first, Visitor(chromium, base, watched=False) as second):
            first.logs_in()
            first.begins("bits")
            first.follow("Privacy, error and money at other levels")
            first.taken("levels", "All rows follow from public parameters alone, without a look at the data. A "
                        "smaller loss protects people better.")
            first.follow("Go back")
            number = first.opens()
            second.joins(first.invites("1, 2, 3")[0])
            second.tick("yes")
            second.press("Draw my report")
            second.press("Hand it in")
            second.page.get_by_text("Your report is stored").wait_for()
            first.page.reload()
            first.settles()
            second.see("/mine")
            second.follow("See your share")
            assert "payment" in second.page.locator("main").inner_text()
            second.see(f"/campaigns/{number}")
            pack, key = unpacked(second.page, tmp_path)
            check = [*CONFIDE.split(), "verify", str(pack), "--key", key]
            found = subprocess.run(check, capture_output=True, text=True, check=False)
            assert found.returncode == 0, found.stdout + found.stderr
            steps = 2 + first.steps + second.steps + 2  # two commands before, downloading and checking after
    finally:
        server.send_signal(signal.SIGINT)  # Ctrl-C
        server.wait(30)
    seconds = time.monotonic() - begun
    record_property("seconds", round(seconds, 1))
    record_property("steps", steps)
    print(f"the guide: {steps} steps of a person, {seconds:.1f} seconds of the machine")

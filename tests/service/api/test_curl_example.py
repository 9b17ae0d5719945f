"""The walk with curl in the guide: every door that it names is there, and typed as it stands it leads to a share."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from missing import missing
from service.clients import serving
from service.parts import PASSWORD
from service.web.browsing import free_port

GUIDE = Path(__file__).parents[3] / "docs" / "service.md"


def example() -> str:
    """All commands of the section, in order."""
    section = GUIDE.read_text(encoding="utf-8").partition("### A campaign with curl\n")[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"```bash\n(.*?)```", section, re.DOTALL))


def test_every_endpoint_of_the_example_exists(tmp_path: Path) -> None:
    """With its method, and with no field that it does not know."""
    with serving(tmp_path) as (app, _):
        schema = app.openapi()
    endpoints = {re.sub(r"\{\w+\}", "*", path): methods for path, methods in schema["paths"].items()}
    calls = [line for line in example().splitlines() if "$api/" in line]
    assert len(calls) == 16
    for line in calls:
        path = re.search(r"\$api(/[\w/$.]+)", line)
        assert path is not None
        found = re.sub(r"\$\w+", "*", path[1]).replace("jobs/settle", "jobs/*")
        method = "put" if "-X PUT" in line else "post" if "-X POST" in line or " -d " in line else "get"
        assert method in endpoints[f"/api/v1{found}"], line
    names = {name for model in schema["components"]["schemas"].values() for name in model.get("properties", {})}
    taken = {word for line in calls for word in re.findall(r"\| get (\w+)", line)}
    assert taken | {"codes", "code", "text", "slots", "confirm", "values"} <= names


@pytest.mark.slow
def test_the_curl_example_runs(home: Path, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        missing("curl is not on PATH; Debian's package curl has it")
    for name, module in (("confide", "-m confide"), ("python3", "")):
        shim = tmp_path / "bin" / name
        shim.parent.mkdir(exist_ok=True)
        shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        shim.chmod(0o700)
    (tmp_path / "login.json").write_text(json.dumps({"name": "ada", "password": PASSWORD}))
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "participant").mkdir()
    operators = {**os.environ, "CONFIDE_HOME": str(home), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    participants = {**operators, "CONFIDE_HOME": str(tmp_path / "participant")}  # with a book of their own
    subprocess.run(["confide", "operators", "add", "ada", "--role", "admin", "--password-file", "password"],
                   cwd=tmp_path, env=operators, check=True, capture_output=True)
    port = free_port()
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, "-m", "confide", "serve", "--port", str(port)], stderr=log,
                                  env=operators)
    try:
        for _ in range(600):
            try:
                urlopen(f"http://localhost:{port}/health/ready", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        script = "set -euo pipefail\n" + example().replace("localhost:8000", f"localhost:{port}")
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=participants, capture_output=True, text=True,
                              timeout=240, check=False)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in ("The ledger admits the campaign", "\nsettled\n", "Your share", "The pack is whole."):
        assert said in done.stdout, done.stdout
    assert (tmp_path / "participant" / "own" / "reports.json").exists()
    assert not (home / "own").exists()  # and nothing of what she answered

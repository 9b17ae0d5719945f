"""What goes to a terminal and what goes into a pipe."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands import Result
from confide.cli import output, render
from confide.contract import Picture, Section, Table, Text
from confide.contract.progress import progress_bar
from confide.contract.words import json_ready


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("settling") as bar:
        assert bar is None  # a pipe, whatever the environment says about colours
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("settling") as bar:
        assert bar is not None
        bar(1, None)
        bar(61_395, 122_790)
        bar(122_790, 122_790)
        bar(200_000, 122_790)
    assert "settling" in terminal.getvalue()
    for count in ("61395", "61,395", "122790", "122,790", "200000"):
        assert count not in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_sections_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    render.show([
        Section(title="[a]", blocks=(Text(("[b]",)), Picture(spec={}, alt="[c]"),
                                     Table(columns=("[d]", "n"), rows=(("[e]", 1.5), ("f", None)), note="[g]"))),
        Section(title="s", study=True), Section(title="p", private=True),
    ])
    shown = capsys.readouterr().out
    for word in ("[a]", "[b]", "(picture: [c])", "[d]", "[e]", "1.5", "[g]", "STUDY", "PRIVATE"):
        assert word in shown


def test_json_spells_what_it_lacks() -> None:
    inf, nan = float("inf"), float("nan")
    assert json_ready({"a": [inf, (-inf, nan)], "b": 1.5, "c": "x"}) == {
        "a": ["Infinity", ["-Infinity", "NaN"]], "b": 1.5, "c": "x"}
    (made,) = output.sections([Section(title="t", blocks=(Table(columns=("x",), rows=((inf,), (None,))),))])
    assert made.blocks[0].model_dump()["rows"] == [["Infinity"], [None]]


def _shell(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-W", "error", "-m", "confide", *arguments], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})


@pytest.mark.slow
def test_a_whole_process(path: Path, tmp_path: Path) -> None:
    """One run as a user starts it, into a pipe: one JSON object, nothing else, no warnings."""
    process = _shell("run", str(path), "--out", str(tmp_path / "out"), "--json", FORCE_COLOR="1")
    out, err = process.communicate()
    assert Result(process.returncode, out, err).json["stored"] is False
    assert (process.returncode, err) == (0, "")


def test_a_reader_may_close_the_pipe_early() -> None:
    process = _shell("--help")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 0

"""`confide` in this process, and a campaign to run it on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from campaign.small import write
from cli.commands import CONFIDE, Result, Run
from confide.cli.failures import guarded


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`confide ARGUMENTS` in this process."""

    def call(*arguments: object) -> Result:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def _settled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("cli")
    path = write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONFIDE_HOME", str(folder / "home"))
        assert guarded(partial(CONFIDE, ["run", str(path), "--out", str(folder / "out")])) == 0
    return path, folder / "out", folder / "home"


@pytest.fixture
def settled(_settled: tuple[Path, Path, Path], home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """(campaign file, folder) of one settled campaign that nobody changes; its installation is this test's."""
    monkeypatch.setenv("CONFIDE_HOME", str(_settled[2]))
    return _settled[:2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path)

"""The Dockerfile and the compose file, by the linters that know them; each finds a planted fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent


def lint(*arguments: object) -> tuple[int, str]:
    done = subprocess.run([PROGRAMS / str(arguments[0]), *map(str, arguments[1:])], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_dockerfile() -> None:
    assert lint("hadolint", ROOT / "Dockerfile") == (0, "")


@pytest.mark.parametrize(("old", "new"), [("USER 10001", "USER root"), ("python:3.12-slim\n", "python\n"),
                                          ("WORKDIR /build", "WORKDIR build")])
def test_a_fault_in_a_dockerfile_is_found(old: str, new: str, tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "Dockerfile").write_text(text.replace(old, new))
    code, said = lint("hadolint", tmp_path / "Dockerfile")
    assert code == 1, said


def test_the_compose_file() -> None:
    code, said = lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml")
    assert code == 0, said


def test_a_fault_in_a_compose_file_is_found(tmp_path: Path) -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    (tmp_path / "compose.yaml").write_text(text.replace("read_only: true", "readonly: true"))
    assert lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", tmp_path / "compose.yaml")[0] == 1


def test_nothing_but_the_package_goes_into_the_image() -> None:
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert kept[0] == "*"
    assert {line for line in kept if line.startswith("!")} == {"!pyproject.toml", "!README.md", "!LICENSE", "!src"}

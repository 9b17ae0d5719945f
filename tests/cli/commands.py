"""What the tests of the command line share: the result of a command, checked against the schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
from typer.main import get_command

from confide.cli import output
from confide.cli.app import app

SCHEMA = Path(output.__file__).with_name("schema.json")
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))

CONFIDE = get_command(app)
"""The command line. A call of `app` would make all verbs and their options anew."""

INJECTED = {17: "17,987654.25,male,41.5", 41: "41,40.5,zzsentinel,41.5", 163: "163,40.5,male,nan"}
"""Rows that cannot be used: row number -> line."""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on standard output."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        found = json.loads(self.out, parse_constant=pytest.fail)  # no NaN, no Infinity
        VALIDATOR.validate(found)
        assert isinstance(found, dict)
        return found


Run = Callable[..., Result]

"""The API holds its own schema, whoever asks whatever: no fault of ours, no answer that is not documented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI, HTTPException
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from confide.contract import kind
from service.clients import serving

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None,
                  phases=[Phase.generate])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, dict[str, str]]]:
    """An application whose jobs nobody does, with an open campaign, and tokens of everybody."""
    with serving(tmp_path_factory.mktemp("served"), settling=False) as (app, anybody):
        ada = anybody.logged_in("ada")
        draft = ada("POST", "/drafts", json={"text": kind("bits").template}, status=201)
        number = ada("POST", f"/drafts/{draft['number']}/open")["number"]
        (code,) = ada("POST", f"/campaigns/{number}/invitations", json={"slots": [0]})["codes"]
        yield app, {"nobody": "", "admin": ada.token, "participant": anybody.joined(code["code"]).token}


def tried(app: FastAPI, token: str, examples: int) -> int:
    """Call every operation with made-up input; how many calls there were."""
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    calls = 0
    for result in schema.get_all_operations():
        operation: Any = result.ok()
        if operation.path.endswith(("/logout", "/leave", "/operators/{number}")):
            continue  # they would end the session with which all is tried

        @settings(_QUIET, max_examples=examples)
        @given(case=operation.as_strategy())
        def call(case: Any) -> None:
            nonlocal calls
            calls += 1
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            case.call_and_validate(checks=CHECKS, headers=headers)

        call()
    return calls


@pytest.mark.parametrize("examples", [2, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("who", ["nobody", "admin", "participant"])
def test_the_api_holds_its_schema(who: str, examples: int, served: tuple[FastAPI, dict[str, str]]) -> None:
    app, tokens = served
    assert tried(app, tokens[who], examples) > 40


def test_an_undocumented_answer_is_found() -> None:
    """The control: a door that answers what its schema does not say."""
    app = FastAPI(openapi_url="/api/v1/openapi.json")

    @app.get("/door")
    def endpoint() -> dict[str, str]:
        raise HTTPException(418)

    with pytest.raises(FailureGroup):
        tried(app, "", 1)


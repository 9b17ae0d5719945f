"""Logging in by the word of a provider whose tokens, addresses or answers are wrong, or that does not answer."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, StreamingResponse
from joserfc.errors import SecurityWarning
from joserfc.jwk import OctKey, RSAKey

from service.access.identity_provider import (
    CLIENT,
    OTHER,
    SECRET,
    SIGNING,
    IdentityProvider,
    confused,
    providing,
    unsigned,
)
from service.access.logging_in import UNBELIEVED, browser, come_back, refused, sent_back, trusting
from service.parts import PASSWORD


def from_now(seconds: int) -> Callable[[], int]:
    """A time of the token, counted from when it is asked for: a suite may take hours to come to its test."""
    return lambda: int(time.time()) + seconds


WRONG_CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "another issuer": ({"iss": "https://other.example"}, "iss"),
    "a list of issuers": ({"iss": ["https://other.example"]}, "iss"),
    "no issuer": ({"iss": None}, "iss"),
    "another audience": ({"aud": "another service"}, "aud"),
    "no audience": ({"aud": None}, "aud"),
    "empty audience": ({"aud": []}, "aud"),
    "an audience of another shape": ({"aud": {CLIENT: 1}}, "aud"),
    "for several and nobody": ({"aud": [CLIENT, "another service"]}, "azp"),
    "for another one": ({"azp": "another service"}, "azp"),
    "expired": ({"exp": from_now(-120)}, "exp"),
    "no end": ({"exp": None}, "exp"),
    "an end that is no number": ({"exp": "tomorrow"}, "exp"),
    "of an hour ago": ({"iat": from_now(-3600)}, "iat"),
    "of an hour hence": ({"iat": from_now(3600), "exp": from_now(7200)}, "iat"),
    "no beginning": ({"iat": None}, "iat"),
    "not valid yet": ({"nbf": from_now(3600)}, "nbf"),
    "another nonce": ({"nonce": "x" * 43}, "nonce"),
    "no nonce": ({"nonce": None}, "nonce"),
    "no subject": ({"sub": None}, "sub"),
    "a subject that is no text": ({"sub": 17}, "sub"),
    "an empty subject": ({"sub": ""}, "sub"),
    "a subject that cannot be seen": ({"sub": "subject-17\u200b"}, "names nobody"),
}


@pytest.mark.parametrize("case", WRONG_CLAIMS)
def test_a_token_for_something_else(
    case: str, app: FastAPI, provider: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    claims, reason = WRONG_CLAIMS[case]
    provider.claims = {name: value() if callable(value) else value for name, value in claims.items()}
    with caplog.at_level(logging.WARNING, "confide.service"):
        refused(come_back(browser(app)), 502, UNBELIEVED)
    (said,) = [each.getMessage() for each in caplog.records if each.name == "confide.service"]
    assert said.endswith(reason)


def other_signature(provider: IdentityProvider) -> None:
    provider.key = RSAKey.import_key({**OTHER.as_dict(private=True), "kid": "one"})


def unknown_key(provider: IdentityProvider) -> None:
    provider.key = OTHER


def no_signature(provider: IdentityProvider) -> None:
    provider.sign = unsigned


def public_key_as_secret(provider: IdentityProvider) -> None:
    provider.sign = confused


def shared_secret(provider: IdentityProvider) -> None:
    """A token that is signed with a secret which the provider publishes, or with the client's."""
    provider.key, provider.algorithm = OctKey.import_key(SECRET * 3, {"kid": "shared"}), "HS256"
    provider.published.append(provider.key.as_dict())


def key_in_the_token(provider: IdentityProvider) -> None:
    from joserfc import jwt

    header = {"alg": "RS256", "jwk": OTHER.as_dict(private=False), "kid": "one"}
    provider.sign = lambda claims: jwt.encode({**header}, claims, OTHER)


def changed_afterwards(provider: IdentityProvider) -> None:
    from joserfc import jwt

    def sign(claims: dict[str, Any]) -> str:
        head, _, end = jwt.encode({"alg": "RS256", "kid": "one"}, {**claims, "sub": "18"}, SIGNING).split(".")
        return f"{head}.{unsigned(claims).split('.')[1]}.{end}"

    provider.sign = sign


def way_it_does_not_name(provider: IdentityProvider) -> None:
    provider.algorithm, provider.discovery = "RS512", {"id_token_signing_alg_values_supported": ["RS256"]}


def short_key(provider: IdentityProvider) -> None:
    """One that signs, and is published: 1024 bits."""
    with pytest.warns(SecurityWarning, match="2048"):
        provider.key = RSAKey.generate_key(1024, {"kid": "short", "use": "sig"})
    provider.published = [provider.key.as_dict(private=False)]


def no_keys(provider: IdentityProvider) -> None:
    provider.published = []


def garbage(provider: IdentityProvider) -> None:
    provider.sign = lambda claims: "not.a.token"


def nothing(provider: IdentityProvider) -> None:
    provider.answer = lambda: JSONResponse({"access_token": "access-of-the-provider", "token_type": "Bearer"})


def no_text(provider: IdentityProvider) -> None:
    provider.answer = lambda: JSONResponse({"id_token": {"sub": "subject-17"}})


def large_token(provider: IdentityProvider) -> None:
    provider.claims = {"more": "x" * 100_000}


@pytest.mark.parametrize("wrong", [
    other_signature, unknown_key, no_signature, public_key_as_secret, shared_secret, key_in_the_token,
    changed_afterwards, way_it_does_not_name, short_key, no_keys, garbage, nothing, no_text, large_token],
    ids=lambda wrong: wrong.__name__)
def test_a_token_that_nobody_can_believe(
    wrong: Callable[[IdentityProvider], None], app: FastAPI, provider: IdentityProvider
) -> None:
    wrong(provider)
    refused(come_back(browser(app)), 502, UNBELIEVED)


@pytest.mark.parametrize("answer", [
    lambda: JSONResponse({"error": "invalid_grant", "error_description": SECRET}, 400),
    lambda: PlainTextResponse("eyJ", 500), lambda: PlainTextResponse("{", 200), lambda: JSONResponse([1]),
    lambda: RedirectResponse("https://evil.example/", 307), lambda: PlainTextResponse("[" * 200_000),
    lambda: JSONResponse({"id_token": "x" * (1 << 20)}),
    lambda: Response(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})],
    ids=["refuses", "fails", "half an object", "a list", "sends elsewhere", "deep", "large", "packed"])
def test_an_answer_for_a_code_that_is_none(
    answer: Callable[[], Response], app: FastAPI, provider: IdentityProvider
) -> None:
    provider.answer = answer
    refused(come_back(browser(app)), 502, UNBELIEVED)


@pytest.mark.parametrize("said", [
    {"issuer": "https://other.example"}, {"issuer": None}, {"token_endpoint": "http://192.0.2.7/token"},
    {"token_endpoint": None}, {"jwks_uri": "file:///etc/passwd"}, {"jwks_uri": ["https://id.example"]},
    {"authorization_endpoint": "javascript:alert(1)"}, {"authorization_endpoint": "//id.example"},
    {"code_challenge_methods_supported": ["plain"]}, {"token_endpoint_auth_methods_supported": ["tls_client_auth"]}],
    ids=lambda said: " ".join(f"{name} {value}" for name, value in said.items()))
def test_a_provider_that_says_something_wrong_of_itself(
    said: dict[str, Any], app: FastAPI, provider: IdentityProvider
) -> None:
    provider.discovery = said
    answer = browser(app).get("/login/provider")
    refused(answer, 502, UNBELIEVED)
    assert "set-cookie" not in answer.headers


def test_a_provider_that_signs_in_no_good_way(app: FastAPI, provider: IdentityProvider) -> None:
    """Not even a token that is signed well is taken, since it does not say that it signs so."""
    provider.discovery = {"id_token_signing_alg_values_supported": ["HS256", "none"]}
    refused(come_back(browser(app)), 502, UNBELIEVED)


def test_a_provider_that_says_too_much(app: FastAPI, provider: IdentityProvider) -> None:
    provider.discovery = {"more": "x" * (1 << 19)}
    refused(browser(app).get("/login/provider"), 502, UNBELIEVED)


# ---- a provider that is away


def test_a_provider_that_is_down(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{free.getsockname()[1]}"
    with trusting(tmp_path, issuer) as app:
        client = browser(app)
        refused(client.get("/login/provider"), 502, UNBELIEVED)
        assert client.post("/login", data={"name": "ada", "password": PASSWORD}).headers["location"] == "/desk"


def test_a_provider_that_goes_away_meanwhile(tmp_path: Path) -> None:
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        app = stack.enter_context(trusting(tmp_path, provider.base))
        client = browser(app)
        back = sent_back(client)
        provider.answer = lambda: PlainTextResponse("gone", 503)
        refused(client.get(back), 502, UNBELIEVED)


@pytest.mark.slow
def test_a_provider_that_is_slow(tmp_path: Path, provider: IdentityProvider) -> None:
    """It holds up a few threads of the service for a moment, and no more of them."""
    provider.slow = 3.0
    with trusting(tmp_path, provider.base, seconds=0.5) as app:
        begun = time.monotonic()
        refused(browser(app).get("/login/provider"), 502, UNBELIEVED)
        assert time.monotonic() - begun < 2.5
        reported, barrier, statuses = app.state.parts.provider, Barrier(5), []
        with ExitStack() as busy:
            for _ in range(4):
                busy.enter_context(reported._talking())
            begun = time.monotonic()
            refused(browser(app).get("/login/provider"), 502, UNBELIEVED)
            assert time.monotonic() - begun < 5.0  # nobody waits in a queue
        provider.slow = 0.0

        def ask() -> None:
            barrier.wait()
            statuses.append(browser(app).get("/login/provider").status_code)

        threads = [Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(statuses) <= {303, 502}
        assert browser(app).get("/login/provider").status_code == 303  # every place is free again


@pytest.mark.slow
def test_a_provider_that_drips(tmp_path: Path, provider: IdentityProvider) -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(50):
            time.sleep(0.2)
            yield b" "

    with trusting(tmp_path, provider.base, seconds=0.5) as app:
        client = browser(app)
        back = sent_back(client)
        provider.answer = lambda: StreamingResponse(drip())
        begun = time.monotonic()
        refused(client.get(back), 502, UNBELIEVED)
        assert time.monotonic() - begun < 5.0

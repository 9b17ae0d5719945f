"""A small identity provider (OpenID Connect) on a port of this machine: all is right with it, or one thing is wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from joserfc.jws import JWSRegistry

CLIENT, SECRET = "confide of a study", "a secret: with+signs %"
SIGNING = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = RSAKey.generate_key(2048, {"kid": "two", "use": "sig"})
CURVE = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig"})


def segment(value: Any) -> str:
    """JSON as a token has it."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@dataclass
class IdentityProvider:
    """What it does, and what it has seen.

    Args:
        base: its address.
    """

    base: str
    subject: Any = "subject-17"
    discovery: dict[str, Any] = field(default_factory=dict)
    """to be put over what it publishes of itself"""
    claims: dict[str, Any] = field(default_factory=dict)
    """to be put over the claims of its tokens; None leaves one out"""
    key: Any = field(default_factory=lambda: SIGNING)
    algorithm: str = "RS256"
    published: list[Any] = field(default_factory=lambda: [SIGNING.as_dict(private=False)])
    sign: Callable[[dict[str, Any]], str] | None = None
    """makes the token in another way"""
    answer: Callable[[], Response] | None = None
    """answers for a code in another way"""
    back: dict[str, str | None] = field(default_factory=dict)
    """to be put over what somebody comes back with"""
    asks: bool = False
    """shows a page of its own, and sends nobody back before she has agreed to it"""
    slow: float = 0.0
    asked: list[dict[str, str]] = field(default_factory=list)
    """what people came with"""
    shown: list[dict[str, str]] = field(default_factory=list)
    """what was shown with codes"""
    known_by: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def begin_anew(self) -> None:
        """Do everything right again, and forget what was seen."""
        vars(self).update(vars(IdentityProvider(self.base)))

    def metadata(self) -> dict[str, Any]:
        """What it publishes of itself."""
        return {"issuer": self.base, "authorization_endpoint": f"{self.base}/authorize?realm=study",
                "token_endpoint": f"{self.base}/token", "jwks_uri": f"{self.base}/keys",
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"],
                "code_challenge_methods_supported": ["plain", "S256"],
                "authorization_response_iss_parameter_supported": True, **self.discovery}

    def app(self) -> FastAPI:
        """Its doors."""
        app = FastAPI(openapi_url=None)

        @app.middleware("http")
        async def noted(request: Request, call: Any) -> Any:
            self.calls.append(request.url.path)
            return await call(request)

        @app.get("/.well-known/openid-configuration")
        def discovery() -> Any:
            time.sleep(self.slow)
            return self.metadata()

        @app.get("/keys")
        def keys() -> Any:
            return {"keys": self.published}

        @app.get("/authorize")
        def authorize(request: Request) -> Response:
            asked = dict(request.query_params)
            self.asked.append(asked)
            code = f"code-{len(self.asked)}/+&"
            self._codes[code] = asked
            sent = {"code": code, "state": asked["state"], "iss": self.base, **self.back}
            reported = urlencode({name: value for name, value in sent.items() if value is not None})
            back = f"{asked['redirect_uri']}?{reported}"
            if self.asks:
                return HTMLResponse(f'<title>Provider</title><a href="{escape(back)}">It is me</a>')
            return RedirectResponse(back, 303)

        @app.post("/token")
        async def token(request: Request) -> Response:
            if self.answer is not None:
                return self.answer()
            return self._token(request.headers.get("authorization", ""),
                               dict(parse_qsl((await request.body()).decode())))

        return app

    def _token(self, head: str, body: dict[str, str]) -> Response:
        self.shown.append(body)
        if head:
            name, _, secret = base64.b64decode(head.removeprefix("Basic ")).decode().partition(":")
            who = (unquote_plus(name), unquote_plus(secret))
            self.known_by.append("client_secret_basic")
        else:
            who = (body.get("client_id", ""), body.get("client_secret", ""))
            self.known_by.append("client_secret_post")
        if who != (CLIENT, SECRET):
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = self._codes.pop(body.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(body.get("code_verifier", "").encode()).digest())
        right = asked is not None and (
            asked["code_challenge_method"] == "S256" and challenge.decode().rstrip("=") == asked["code_challenge"]
            and asked["redirect_uri"] == body.get("redirect_uri") and asked["client_id"] == CLIENT
            and asked["response_type"] == "code" and body.get("grant_type") == "authorization_code")
        if not right or asked is None:
            return JSONResponse({"error": "invalid_grant", "error_description": "schlüssel"}, 400)
        now = int(time.time())
        claims = {"iss": self.base, "sub": self.subject, "aud": CLIENT, "exp": now + 300, "iat": now,
                  "nonce": asked["nonce"], "email": "eve@study.example", **self.claims}
        claims = {name: value for name, value in claims.items() if value is not None}
        return JSONResponse({"access_token": "access-of-the-provider", "refresh_token": "refresh-of-the-provider",
                             "token_type": "Bearer", "id_token": self._signed(claims)})

    def _signed(self, claims: dict[str, Any]) -> str:
        if self.sign is not None:
            return self.sign(claims)
        kid = {"kid": self.key.kid} if self.key.kid else {}
        return jwt.encode({"alg": self.algorithm, **kid}, claims, self.key,
                          registry=JWSRegistry(algorithms=[self.algorithm]))


def unsigned(claims: dict[str, Any]) -> str:
    """A token that nobody has signed."""
    return f"{segment({'alg': 'none'})}.{segment(claims)}."


def confused(claims: dict[str, Any]) -> str:
    """A token that is signed with the public key, as if it were a shared secret."""
    key = OctKey.import_key(SIGNING.as_pem(private=False).replace(b"-----BEGIN PUBLIC KEY-----\n", b"").replace(
        b"-----END PUBLIC KEY-----\n", b""))
    return jwt.encode({"alg": "HS256", "kid": "one"}, claims, key, registry=JWSRegistry(algorithms=["HS256"]))


@contextmanager
def providing(host: str = "127.0.0.1") -> Iterator[IdentityProvider]:
    """One on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = IdentityProvider(f"http://{host}:{port}")
    server = uvicorn.Server(uvicorn.Config(found.app(), host="127.0.0.1", port=port, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield found
    finally:
        server.should_exit = True
        thread.join()

"""Security headers of every answer. The headers restrict the content that a browser may load, and forbid browsers to
store private pages.

Answers to malformed HTTP have these headers too, since `Protocol` adds the headers to the answers of uvicorn.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = ["HEADERS", "Protocol", "SecurityHeaders"]

_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
           "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")


HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none, browsers would not say whose a form is
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""The headers of every answer, as a mapping from name to value."""


class SecurityHeaders:
    """Add the security headers to all answers.

    Args:
        app: application whose answers get the headers.
        secure: whether browsers reach the service over TLS.
    """

    def __init__(self, app: ASGIApp, secure: bool) -> None:
        self._app, self._secure = app, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
                if self._secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


_BASE: Any = AutoHTTPProtocol


class Protocol(_BASE):  # type: ignore[misc] # which one it is depends on what is installed
    """The protocol of one connection: the protocol of uvicorn, with security headers also in answers to malformed
    requests.
    """

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request, which the application never sees, with status 400."""
        said = {**HEADERS, "Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8",
                "Content-Length": str(len(msg)), "Connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{lines}\r\n{msg}".encode("ascii"))
        self.transport.close()

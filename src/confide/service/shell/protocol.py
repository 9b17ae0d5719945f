"""How bytes become requests: uvicorn's own way, but what is no HTTP is refused with the headers of every answer."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from confide.service.shell.headers import HEADERS

__all__ = ["Protocol"]

_BASE: Any = AutoHTTPProtocol


class Protocol(_BASE):  # type: ignore[misc] # which one it is depends on what is installed
    """The protocol of one connection."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what the application never sees."""
        said = {**HEADERS, "Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8",
                "Content-Length": str(len(msg)), "Connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{lines}\r\n{msg}".encode("ascii"))
        self.transport.close()

"""Limits of what a request may bring, before it is read; and of who may bring much: operators who have logged in."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from confide.campaign.service.shell.problems import problem_response

__all__ = ["BodyLimit"]


class BodyLimit:
    """Refuse a body that is too large, whatever its header says of its length.

    Args:
        app: what comes after.
        largest: bytes of any request.
        largest_upload: bytes of a file, on the paths that take one, from whoever may send one.
        uploads: those paths.
        may_upload: whether a request's session is one of whoever may; asked before anything is read.
    """

    def __init__(self, app: ASGIApp, largest: int, largest_upload: int, uploads: re.Pattern[str],
                 may_upload: Callable[[Scope], Awaitable[bool]]) -> None:
        self._app, self._largest, self._largest_upload, self._uploads = app, largest, largest_upload, uploads
        self._may_upload = may_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        known = b"authorization" in headers or b"cookie" in headers
        upload = known and self._uploads.fullmatch(scope["path"]) is not None and await self._may_upload(scope)
        limit = self._largest_upload if upload else self._largest
        said = headers.get(b"content-length", b"0")
        if not said.isdigit() or int(said) > limit:
            await problem_response(413, "the request is too large", limit=f"must have at most {limit:,} bytes")(
                scope, receive, send)
            return
        seen, refused = 0, False

        async def counted() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                refused = True
                return {"type": "http.disconnect"}
            return message

        async def told(message: Message) -> None:
            if not refused:
                await send(message)

        try:
            await self._app(scope, counted, told)
        except BaseException:
            if not refused:
                raise
        if refused:
            await problem_response(413, "the request is too large", limit=f"must have at most {limit:,} bytes")(
                scope, receive, send)

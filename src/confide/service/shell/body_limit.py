"""Limits on the size of a request, which apply before the request is read. The limits depend on the caller: one limit
for anybody, a larger one for callers with a session, and the largest for operators who upload a file.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from confide.service.shell.problems import TooLarge

__all__ = ["BodyLimit"]


class BodyLimit:
    """Refuse requests whose body is too large, even if the header states a smaller length.

    Args:
        app: application that gets the requests that are not refused.
        strangers: limit in bytes for a request without a session, such as a log-in or a use of a code.
        largest: limit in bytes for a request with a session.
        largest_upload: limit in bytes for a file, on the upload paths, from callers with the right to upload.
        uploads: pattern of the paths to which operators upload files.
        has_session: function that says whether a request has a session. It is called before any part of a larger
            request is read.
        may_upload: function that says whether the session of a request has the right to upload. It is called before
            anything is read.
    """

    def __init__(self, app: ASGIApp, *, strangers: int, largest: int, largest_upload: int, uploads: re.Pattern[str],
                 has_session: Callable[[Scope], Awaitable[bool]], may_upload: Callable[[Scope], Awaitable[bool]],
                 ) -> None:
        self._app, self._largest, self._largest_upload, self._uploads = app, largest, largest_upload, uploads
        self._strangers, self._has_session, self._may_upload = min(strangers, largest), has_session, may_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        said = headers.get(b"content-length", b"0")
        limit = await self._limit(scope, headers, said)
        if not said.isdigit() or int(said) > limit:
            raise TooLarge(limit)
        seen, refused = 0, False

        async def counted() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                refused = True
                return {"type": "http.disconnect"}
            return message

        async def reported(message: Message) -> None:
            if not refused:
                await send(message)

        try:
            await self._app(scope, counted, reported)
        except BaseException:
            if not refused:
                raise
        if refused:
            raise TooLarge(limit)

    async def _limit(self, scope: Scope, headers: dict[bytes, bytes], said: bytes) -> int:
        """Limit in bytes for a request, by its caller. The caller is not looked up for a small request that states its
        length.
        """
        known = b"authorization" in headers or b"cookie" in headers
        if known and self._uploads.fullmatch(scope["path"]) is not None and await self._may_upload(scope):
            return self._largest_upload
        small = b"transfer-encoding" not in headers and said.isdigit() and int(said) <= self._strangers
        return self._largest if known and not small and await self._has_session(scope) else self._strangers

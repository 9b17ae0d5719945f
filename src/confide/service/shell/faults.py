"""Faults: what goes wrong unforeseen is answered inside of the headers, the log and the counts, as everything is."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from confide.service.shell.problems import Answer

__all__ = ["Faults"]


class Faults:
    """Answer where what comes after has failed and has not begun to answer.

    The framework would do this outside of all middleware: such an answer would have no headers of ours.

    Args:
        app: what comes after.
        answer: makes the answer from the request and the error.
    """

    def __init__(self, app: ASGIApp, answer: Answer) -> None:
        self._app, self._answer = app, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            if begun:
                raise
            await (await self._answer(scope, error))(scope, receive, send)

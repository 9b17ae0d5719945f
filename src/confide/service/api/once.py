"""Idempotency keys: what a client asks again under the same key is not done again, but answered as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Header
from pydantic import BaseModel

from confide.service.shell.parts import Parts
from confide.service.work.replays import Reply

__all__ = ["IdempotencyKey", "once"]

Answer = TypeVar("Answer", bound=BaseModel)

IdempotencyKey = Annotated[str, Header(alias="Idempotency-Key", max_length=200, description=(
    "any text of the client's; asked again under it within a day, the same request is not done again"))]


def once(
    parts: Parts, who: str, key: str, what: str, asked: BaseModel, do: Callable[[], Answer], answer: type[Answer]
) -> Answer:
    """Do something once under a key; of several at once one does it, and the others answer as it does.

    Args:
        parts: of the process.
        who: asks.
        key: hers; empty where she has none.
        what: is done.
        asked: with what.
        do: does it.
        answer: its type.

    Raises:
        Refused: the key was used for another request, or this one is still being done.
    """
    if not key:
        return do()
    request = f"{what}\0{asked.model_dump_json()}".encode()
    known = parts.replays.begin(who, key, request)
    if known is not None:
        return answer.model_validate_json(known.body)
    try:
        found = do()
    except BaseException:
        parts.replays.drop(who, key, request)
        raise
    parts.replays.keep(who, key, request, Reply(200, found.model_dump_json().encode()))
    return found

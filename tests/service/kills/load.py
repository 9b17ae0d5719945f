"""People who hand in over HTTP at a steady rate, and what each of them was told, whatever happens to the service."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Thread
from typing import Literal, Self

__all__ = ["Load", "Person", "put"]

_PATIENCE = 10.0  # seconds that somebody waits for an answer
_AGAIN = 0.5  # seconds until she tries again
_LAST = 240.0  # seconds after which nobody tries any more
_AT_ONCE = 24  # requests: a slow machine makes the load slower, and no queue in which everybody's patience ends


@dataclass(eq=False)
class Person:
    """Somebody with a session of her own.

    Args:
        token: of her session.
        campaign: hers.
        slot: hers.
        values: what she hands in.
        other: what she could hand in instead.
        way: what she does where no answer comes: the same again, nothing more, or the other one.
    """

    token: str
    campaign: int
    slot: int
    values: Mapping[str, str]
    other: Mapping[str, str]
    way: Literal["again", "never", "other"] = "again"
    sent: list[Mapping[str, str]] = field(default_factory=list)
    acknowledged: Mapping[str, str] | None = None
    at: float = 0.0
    broken: int = 0
    statuses: list[int] = field(default_factory=list)


class Load:
    """All of them, in a thread of their own.

    Args:
        port: of the service, on this machine.
        people: in the order in which they hand in.
        rate: people a second.
    """

    def __init__(self, port: int, people: Sequence[Person], rate: float) -> None:
        self._port, self.people, self._rate = port, people, rate
        self._thread = Thread(target=lambda: asyncio.run(self._all()), name="load")

    def start(self) -> Self:
        """Begin."""
        self.begun = time.monotonic()
        self._thread.start()
        return self

    def wait(self) -> None:
        """Until everybody is done."""
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.wait()

    @property
    def acknowledged(self) -> list[Person]:
        """Who was told that what she handed in is stored."""
        return [each for each in self.people if each.acknowledged is not None]

    @property
    def broken(self) -> int:
        """How many requests got no answer."""
        return sum(each.broken for each in self.people)

    @property
    def statuses(self) -> Counter[int]:
        """All answers."""
        return Counter(status for each in self.people for status in each.statuses)

    async def _all(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        await asyncio.gather(*(self._one(person, self.begun + place / self._rate)
                               for place, person in enumerate(self.people)))

    async def _one(self, person: Person, due: float) -> None:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        values = person.values
        while time.monotonic() < self.begun + _LAST:
            try:
                async with self._free:
                    person.sent.append(values)
                    status = await asyncio.wait_for(put(self._port, person.token, values), _PATIENCE)
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                person.broken += 1
                if person.way == "never":
                    return
                values = person.other if person.way == "other" else values
            else:
                person.statuses.append(status)
                if status == 204:
                    person.acknowledged, person.at = values, time.monotonic()
                    return
                if status == 409 and person.broken and person.way == "other":
                    return  # the first one was stored, though nobody could tell her so
            await asyncio.sleep(_AGAIN)


async def put(port: int, token: str, values: Mapping[str, str]) -> int:
    """Hand in once, on a connection of its own; the status of the answer.

    Raises:
        OSError, asyncio.IncompleteReadError: there was none.
    """
    body = json.dumps({"values": dict(values)}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"PUT /api/v1/mine/report HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     b"Content-Type: application/json\r\nAuthorization: Bearer " + token.encode()
                     + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
        head = await reader.readuntil(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1])
    finally:
        writer.close()

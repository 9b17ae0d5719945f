"""Trying: to log in, or to join with a code. Whoever fails often from one place has to wait; nobody else does.

Failures alone are counted. A name from one address is refused after some of them. A name from anywhere, and an address
with any name, only become slow, after many: whoever guesses at a name cannot keep its owner out, and people behind one
address do not shut each other out.
"""

from __future__ import annotations

import ipaddress
from asyncio import sleep
from collections.abc import Callable
from typing import TypeVar

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool

from confide.contract.worded import worded
from confide.service.access.attempts import WINDOW
from confide.service.shell.guards import address_of
from confide.service.shell.parts import Parts

__all__ = ["delay", "place_of", "tried"]

_STEP = 0.1  # seconds more for each failure beyond those that cost nothing
_LONGEST = 5.0  # seconds

Found = TypeVar("Found")


async def tried(parts: Parts, request: Request, what: str, who: str, do: Callable[[], Found | None]) -> Found | None:
    """Try something, unless it has failed too often; it may have to wait for its turn, without keeping a thread.

    Args:
        parts: parts of the process.
        request: request in which it is tried.
        what: name of the attempt, such as "log in".
        who: name under which it is tried; empty where the attempt has none.
        do: function that tries it, and gives None where it fails.

    Raises:
        HTTPException: 429, with the time to wait.
    """
    place = place_of(address_of(request))
    asked = [f"{what} at {place}", *([f"{what} as {who}", f"{what} at {place} as {who}"] if who else [])]
    counted = await run_in_threadpool(parts.attempts.begin, asked)
    if who and counted.counts[-1] > parts.settings.attempts:
        await run_in_threadpool(parts.attempts.forgive, counted)  # so that it slows nobody else
        raise HTTPException(429, worded("too many attempts"), {"Retry-After": str(WINDOW)})
    wait = delay(max(counted.counts[:2]) - parts.settings.attempts_at_ease)
    if wait:
        await sleep(wait)
    found = await run_in_threadpool(do)
    if found is not None:
        await run_in_threadpool(parts.attempts.forgive, counted)
    return found


def delay(more: int) -> float:
    """Seconds to wait after so many failures more than cost nothing.

    Example:
        >>> delay(-3), delay(2), delay(1000)
        (0.0, 0.2, 5.0)
    """
    return min(_LONGEST, _STEP * max(0, more))


def place_of(address: str) -> str:
    """The part of an address that is counted together: of IPv6 the network, since its owner has all addresses in it.

    Example:
        >>> place_of("192.0.2.7"), place_of("2001:db8::7"), place_of("no address")
        ('192.0.2.7', '2001:db8::', 'no address')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped or ipaddress.ip_network((int(found), 64), strict=False).network_address)
    return str(found)

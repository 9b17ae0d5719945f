"""Limits on attempts to log in or to join with a code. A caller who often fails from one address has to wait, and
callers elsewhere do not.

Only failures are counted. After some failures under one name from one address, further attempts under this name from
this address are refused. Many failures under one name, or from one address, only slow down further attempts under this
name or from this address. A person who guesses passwords therefore cannot lock out the owner of a name, and people
behind one address do not lock each other out.
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
    """Make an attempt, unless attempts under the same name from the same address have failed too often. The attempt may
    have to wait, and the wait occupies no thread.

    Args:
        parts: parts of the process.
        request: request that makes the attempt.
        what: kind of the attempt, such as "log in".
        who: name of the operator under which the attempt is made; empty for an attempt without a name.
        do: function that makes the attempt, and returns None if it fails.

    Raises:
        HTTPException: status 429: too many attempts have failed; the header `Retry-After` has the seconds to wait.
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
    """Seconds that an attempt has to wait, from 0 to 5. `more` is the number of recent failures minus the number of
    failures without a wait.

    Example:
        >>> delay(-3), delay(2), delay(1000)
        (0.0, 0.2, 5.0)
    """
    return min(_LONGEST, _STEP * max(0, more))


def place_of(address: str) -> str:
    """The part of a network address under which attempts are counted. For an IPv6 address, this is the /64 network,
    since one owner has all addresses of such a network.

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

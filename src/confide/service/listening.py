"""The sockets that a service listens on, taken before it says that it serves: a port that is taken is told at once."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

from confide.contract.errors import InvalidInput, Refused

__all__ = ["listen"]

_BACKLOG = 2048  # connections that wait
_SYSTEM_PORTS = 1024  # below, a port takes rights of its own


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at every address of a host, to be closed by the caller.

    Args:
        host: a name or an address of this machine.
        port: the port.

    Raises:
        Refused: somebody else listens there, or it is not allowed.
        InvalidInput: the host is none of this machine's.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise _no_address(host) from None
    with ExitStack() as stack:
        out = []
        for family, kind, protocol, _, address in dict.fromkeys(found):
            try:
                one = stack.enter_context(socket.socket(family, kind, protocol))
                _bind(one, family, address)
            except OSError as error:
                if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    continue  # a name may have an address that this machine does not use
                raise _refused(error, host, port) from None
            out.append(one)
        if not out:
            raise _no_address(host)
        stack.pop_all()
        return out


def _bind(one: socket.socket, family: int, address: tuple[object, ...]) -> None:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else a port rests for a minute after each service
    if family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(address)
    one.listen(_BACKLOG)  # of two that bind at once, one listens
    one.set_inheritable(True)


def _no_address(host: str) -> InvalidInput:
    return InvalidInput("host", f"{host!r} is no address of this machine", "such as 127.0.0.1, or 0.0.0.0 for all")


def _refused(error: OSError, host: str, port: int) -> Refused:
    if error.errno == errno.EADDRINUSE:
        return Refused(f"port {port} of {host} is in use", "end what listens there, or choose another one with --port")
    if error.errno in (errno.EACCES, errno.EPERM) and port < _SYSTEM_PORTS:
        return Refused(f"port {port} takes rights that this process does not have",
                       f"choose one of {_SYSTEM_PORTS} or more with --port, and put a reverse proxy in front")
    return Refused(f"the system lets nobody listen on port {port} of {host}", "choose another one with --port")

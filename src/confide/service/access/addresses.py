"""Checks of addresses of another service, which must be reached over TLS or on this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["LONGEST_ISSUER", "LONGEST_SUBJECT", "is_issuer", "is_safe", "is_subject"]

LONGEST_ISSUER = 500
LONGEST_SUBJECT = 255  # letters, as OpenID Connect has it


def is_safe(url: object) -> bool:
    """Whether a value is an address whose answers nobody on the way can read or forge: https, or http on this machine.

    Example:
        >>> is_safe("https://id.example/token"), is_safe("http://id.example/token"), is_safe("http://localhost:80/")
        (True, False, True)
    """
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or "#" in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))


def is_issuer(url: str) -> bool:
    """Whether an address may name an issuer of identities: the address must be safe and have no query.

    Example:
        >>> is_issuer("https://id.example/realms/study"), is_issuer("https://id.example/?realm=study")
        (True, False)
    """
    return len(url) <= LONGEST_ISSUER and is_safe(url) and "?" not in url


def is_subject(name: object) -> bool:
    """Whether a value can be the identifier of a person at an issuer (the claim `sub` of OpenID Connect).

    Example:
        >>> is_subject("auth0|17"), is_subject(""), is_subject(17)
        (True, False, False)
    """
    return isinstance(name, str) and 0 < len(name) <= LONGEST_SUBJECT and name.isprintable() and bool(name.strip())


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

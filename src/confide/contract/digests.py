"""Canonical JSON and digests of bytes. Arrays and tables are encoded by `confide.contract.encoding`."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

__all__ = ["canonical", "digest"]


def canonical(value: Any) -> bytes:
    """The RFC 8785 canonical JSON of a JSON-ready value."""
    return rfc8785.dumps(value)


def digest(data: bytes) -> str:
    """The SHA-256 digest of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()

"""Everything that all others see of an outcome together, as bytes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from confide.contract.encoding import canonical

__all__ = ["published"]

_PRIVATE = ("shares", "diagnostics")
_WHOLE = ("mechanism", "guarantees", "provenance")  # what the manifest says of them is all


def published(outcome: Any, index: int) -> bytes:
    """The public manifest and its columns, whatever else the outcome, its billboard or its certificate hold, all shares
    but one, and how shares are laid out.

    Args:
        outcome: of a run.
        index: whose share is left out.
    """
    shares = outcome.shares
    others = {name: [value for i, value in enumerate(column) if i != index]
              for name, column in shares.to_pydict().items()}
    beside = {name: _plain(part) for name, part in _attributes(outcome).items() if name not in (*_PRIVATE, *_WHOLE)}
    manifest, columns = outcome.public()
    return b"\n".join([repr((sorted(others.items()), sorted(beside.items()))).encode(), canonical(manifest),
                       *(columns[name] for name in sorted(columns)), shares.schema.serialize().to_pybytes()])


def _plain(value: Any) -> Any:
    """Any part of an outcome, written out."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(part) for name, part in _attributes(value).items()}
    return value


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds, fields or not, but for what it computed from the rest of it."""
    known = {one.name: getattr(value, one.name) for one in fields(value)} | getattr(value, "__dict__", {})
    return {name: part for name, part in known.items()
            if not isinstance(getattr(type(value), name, None), cached_property)}

"""Everything that all others see of an outcome together, as bytes."""

from __future__ import annotations

from typing import Any

from confide.audit.value_bytes import attributes, exact_bytes
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
    beside = {name: part for name, part in attributes(outcome).items() if name not in (*_PRIVATE, *_WHOLE)}
    manifest, columns = outcome.public()
    return b"\n".join([repr(sorted(others.items())).encode(), exact_bytes(sorted(beside.items())), canonical(manifest),
                       *(columns[name] for name in sorted(columns)), shares.schema.serialize().to_pybytes()])

"""Shares as text, to be compared: what a run wrote into a table beside what a participant decodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["written"]


def written(share: Mapping[str, Any]) -> str:
    """A share as text: numpy's numbers and arrays as a table holds them, and what is no number equal to itself.

    Args:
        share: column -> value, of `Mechanism.decode` or a row of the table.

    Example:
        >>> import numpy as np
        >>> written({"b": np.float64("nan"), "a": np.arange(2)})
        "{'a': [0, 1], 'b': nan}"
    """
    return repr({name: _plain(value) for name, value in sorted(share.items())})


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, tuple) else value

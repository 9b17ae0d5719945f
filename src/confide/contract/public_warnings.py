"""Warnings that may be shown wherever a campaign runs: those that are built from public facts alone."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from confide.contract.words import printable

__all__ = ["PublicWarning", "show_public_warnings"]


class PublicWarning(UserWarning):
    """What confide warns of: its words are built from public facts alone, like those of its errors.

    Any other warning that comes up in a run may quote records, Python's own default category among them.
    """


def show_public_warnings(show: Callable[[str], None]) -> None:
    """From now on, of all warnings of this process only `PublicWarning` is shown; with CONFIDE_DEBUG set, all are.

    `warnings.catch_warnings` around it undoes it.

    Args:
        show: told a warning as one printable line.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("always")
        ...     show_public_warnings(print)
        ...     warnings.warn("the last of them said yes")
        ...     warnings.warn("2 queries were dropped", PublicWarning)
        2 queries were dropped
    """

    def tell(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, PublicWarning) or os.environ.get("CONFIDE_DEBUG"):
            show(printable(str(message)))

    warnings.showwarning = tell

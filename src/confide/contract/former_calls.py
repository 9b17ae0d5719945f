"""Calls as they were before: arguments by position work until 1.0.0, with a warning."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from confide.contract.renamed import warn_of_old

__all__ = ["by_position_before"]

_Door = TypeVar("_Door", bound=Callable[..., Any])


def by_position_before(*names: str, first: int = 1) -> Callable[[_Door], _Door]:
    """Let a function take keyword-only arguments by position, as it did before.

    Args:
        names: of all arguments that once could stand by position, in that order; also those that still can.
        first: how many of these still can; the first one is the class, or what is planned for.

    Example:
        >>> @by_position_before("people", "epsilon")
        ... def share(people: int, *, epsilon: float) -> float:
        ...     return epsilon / people
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     share(4, 2.0)
        0.5
        >>> str(found[0].message)
        "share: 'epsilon by position' is called 'epsilon=' now; the old name goes with confide 1.0.0"
    """

    def mend(door: _Door) -> _Door:
        @wraps(door)
        def taking(*given: Any, **keywords: Any) -> Any:
            late = dict(zip(names[first:], given[first:], strict=False))
            if not late or len(given) > len(names) or not late.keys().isdisjoint(keywords):
                return door(*given, **keywords)  # nothing to mend, or an error as ever
            words = list(late)
            warn_of_old(door.__name__, f"{', '.join(words)} by position", f"{'=, '.join(words)}=")
            return door(*given[:first], **late, **keywords)

        taking.__by_position__ = names  # type: ignore[attr-defined]
        return taking  # type: ignore[return-value]

    return mend

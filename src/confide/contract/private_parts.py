"""Private helpers of an object, kept beside it and not in it: objects that serve a release and an audit look alike.

A mechanism whose code looks at what it was given (its type, its attributes) would find there what it was given by.
Nobody can be kept from looking elsewhere, such as up the stack: this is no defence against who means to hide.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["behind", "has_private_part", "put_behind"]

_BEHIND: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def put_behind(front: object, it: Any) -> None:
    """Keep something for an object, as long as that lives.

    Args:
        front: the object that others see; weakly referenced, and itself its key.
        it: the object that it works with.
    """
    _BEHIND[front] = it


def has_private_part(front: object) -> bool:
    """Whether anything was put behind an object."""
    return front in _BEHIND


def behind(front: object) -> Any:
    """The object that was put behind another.

    Raises:
        KeyError: nothing was, as behind a copy of it.
    """
    return _BEHIND[front]

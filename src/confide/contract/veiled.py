"""What an object works with, kept beside it and not in it: objects that serve a release and an audit look alike.

A mechanism whose code looks at what it was given (its type, its attributes) would find there what it was given by.
Nobody can be kept from looking elsewhere, such as up the stack: this is no defence against who means to hide.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["behind", "is_veiled", "put_behind"]

_BEHIND: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def put_behind(front: object, it: Any) -> None:
    """Keep something for an object, as long as that lives.

    Args:
        front: what others see; weakly referenced, and itself its key.
        it: what it works with.
    """
    _BEHIND[front] = it


def is_veiled(front: object) -> bool:
    """Whether anything was put behind an object."""
    return front in _BEHIND


def behind(front: object) -> Any:
    """What was put behind an object.

    Raises:
        KeyError: nothing was, as behind a copy of it.
    """
    return _BEHIND[front]

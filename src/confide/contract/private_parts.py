"""Private helpers of an object, stored beside the object instead of in its attributes. As a result, the objects that a
mechanism gets in a release and in an audit look alike.

A mechanism whose code inspects its arguments (their type or attributes) could otherwise see whether they come from an
audit. The code could still find the origin of its arguments elsewhere, for example in the call stack. Helpers stored
beside an object are therefore no defence against deliberately deceptive code.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["behind", "has_private_part", "put_behind"]

_BEHIND: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def put_behind(front: object, it: Any) -> None:
    """Store a helper for an object, for as long as the object lives.

    Args:
        front: the object that other code sees. The helper is stored under a weak reference to this object.
        it: the helper object to store.
    """
    _BEHIND[front] = it


def has_private_part(front: object) -> bool:
    """Whether a helper is stored for an object."""
    return front in _BEHIND


def behind(front: object) -> Any:
    """The helper object that is stored for an object.

    Raises:
        KeyError: no helper is stored for the object. A copy of an object has no helper.
    """
    return _BEHIND[front]

"""Asking objects that anybody may have handed in: whatever they raise is their own affair, and stops nobody.

They are asked on a thread of their own. Signals come to the main thread alone, so an interrupt that an object raises
can be told from the operator's: the object's counts as no answer, the operator's ends the run at once, even while an
object does not come back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import TypeVar

__all__ = ["answered", "each_aside"]

_ANSWER = TypeVar("_ANSWER")
_ASKED = TypeVar("_ASKED")


def answered(ask: Callable[[], _ANSWER], otherwise: _ANSWER) -> _ANSWER:
    """What is answered; something else where the asking fails, in whatever way. To be called aside.

    Args:
        ask: runs an object's own code.
        otherwise: what counts where it raises.

    Example:
        >>> answered(lambda: 1 // 0, -1)
        -1
    """
    try:
        return ask()
    except BaseException:  # noqa: BLE001, others would see an error, and what it says; interrupts come to the main thread
        return otherwise


def each_aside(ask: Callable[[_ASKED], _ANSWER], of: Iterable[_ASKED]) -> list[_ANSWER]:
    """`ask` of each in turn, off the main thread.

    Args:
        ask: raises nothing that an object raises: see `answered`.
        of: whom.

    Raises:
        KeyboardInterrupt: the operator's.

    Example:
        >>> def leave(place):
        ...     raise SystemExit(place)
        >>> each_aside(lambda place: answered(lambda: leave(place), None), range(2))
        [None, None]
    """
    if threading.current_thread() is not threading.main_thread():
        return [ask(one) for one in of]
    found: list[_ANSWER] = []
    faults: list[BaseException] = []
    stopped = threading.Event()

    def work() -> None:
        try:
            for one in of:
                if stopped.is_set():
                    return
                found.append(ask(one))
        except BaseException as fault:  # noqa: BLE001, raised again where it was asked for
            faults.append(fault)

    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        stopped.set()
        raise
    if faults:
        raise faults[0]
    return found

"""How a kernel of numbers is compiled: once, kept on disk, and running beside other threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["kernel"]

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """A function of arrays and numbers, compiled at its first call; its type stays what it says.

    What it computes must not depend on how many threads call it: it holds no lock of the interpreter.
    """
    return cast("_Kernel", njit(cache=True, nogil=True)(function))

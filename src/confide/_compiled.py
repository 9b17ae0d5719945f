"""How a kernel of numbers is compiled: at its first call, kept on disk, and running beside other threads.

numba takes longer to import than most plans take, so it is imported with the first kernel that is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import update_wrapper
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import Any, Generic, TypeVar, cast

__all__ = ["Later", "kernel", "kernel_or_plain"]

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_Made = TypeVar("_Made")
_FEW = 50_000  # numbers in all up to which plain loops end before numba is imported
_making = RLock()  # kernels are first called by several threads at once


class Later(Generic[_Made]):
    """A global that kernels use and that needs numba to be made: a kernel, or an intrinsic.

    Whatever is asked of it is asked of what it becomes, which then stands in its place in its own module.

    Args:
        make: makes it, once.
    """

    def __init__(self, make: Callable[[], _Made]) -> None:
        self._make, self._made = make, list[_Made]()

    def made(self) -> _Made:
        """The made object; the first call makes it."""
        if not self._made:
            with _making:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    def __call__(self, *arguments: Any) -> Any:
        return self.made()(*arguments)  # type: ignore[operator] # what is called can be

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_make", "_made"):
            raise AttributeError(name)
        return getattr(self.made(), name)


def kernel(function: _Kernel, **options: Any) -> _Kernel:
    """A function of arrays and numbers, compiled at its first call; its type stays as declared.

    The result must not depend on the number of threads that call the function: it holds no lock of the interpreter.

    Args:
        function: the function to compile.
        options: further keyword arguments of `numba.njit`; the result is always kept on disk, and never holds the
            interpreter's lock.
    """

    def make() -> Any:
        from numba import njit

        plain = cast("FunctionType", function)
        _put_in_place(plain)
        found = njit(cache=True, **{"nogil": True, **options})(plain)
        if plain.__globals__.get(plain.__name__) is later:
            plain.__globals__[plain.__name__] = found
        return found

    later = update_wrapper(Later(make), function)
    return cast("_Kernel", later)


class _OrPlain(Later[_Made]):
    """A kernel that is not compiled before its calls have been about many numbers."""

    def __init__(self, make: Callable[[], _Made], plain: Callable[..., Any]) -> None:
        super().__init__(make)
        self._plain, self._seen = plain, 0

    def __call__(self, *arguments: Any) -> Any:
        if not self._made and self._seen <= _FEW:
            self._seen += arguments[0].size
            if self._seen <= _FEW:
                return self._plain(*arguments)
        return super().__call__(*arguments)


def kernel_or_plain(function: _Kernel) -> _Kernel:
    """A kernel of doubles whose first array may be short: a few numbers are worked on by Python itself.

    Both give the same bits: the function may not depend on how whole numbers overflow, or on what raises.

    Args:
        function: the function to compile; its first argument is the array that its loops run over.
    """
    compiled: Any = kernel(function)
    return cast("_Kernel", update_wrapper(_OrPlain(compiled.made, function), function))


def _put_in_place(function: FunctionType) -> None:
    """Make what a kernel uses of its module: numba sees what stands there when it compiles."""
    places = function.__globals__
    for name in set(_names(function.__code__)):
        found = places.get(name)
        if isinstance(found, ModuleType):
            for each in set(_names(function.__code__)) & vars(found).keys():
                if isinstance(vars(found)[each], Later):
                    setattr(found, each, vars(found)[each].made())
        elif isinstance(found, Later):
            places[name] = found.made()


def _names(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes that some code reads, inner functions included."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)

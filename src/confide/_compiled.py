"""Compilation of numerical kernels with numba: at the first call, cached on disk, and without the interpreter's lock.

Importing numba takes longer than making most plans. So numba is imported only when the first kernel is called.
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
    """A placeholder for a global object that numba has to make, such as a compiled kernel or an intrinsic.

    The first call or attribute access makes the object. Calls and attribute accesses are passed on to the object. A
    compiled kernel then replaces its placeholder in the module that defines the kernel.

    Args:
        make: function that makes the object; it is called at most once.
    """

    def __init__(self, make: Callable[[], _Made]) -> None:
        self._make, self._made = make, list[_Made]()

    def made(self) -> _Made:
        """The object. The first call of this method makes it."""
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
    """Decorator that compiles a function of arrays and numbers at its first call. The declared type of the function is
    unchanged.

    The function runs without the interpreter's lock, so several threads may run it at once. The function's result must
    not depend on the number of threads.

    Args:
        function: the function to compile.
        options: further keyword arguments of `numba.njit`. The compiled code is always cached on disk, and by default
            runs without the interpreter's lock.
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
    """A kernel that runs as plain Python until its calls have processed more than `_FEW` numbers in total, and is
    compiled then.
    """

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
    """Decorator for a kernel on arrays of doubles. The kernel runs as plain Python until its calls have processed many
    numbers in total, and is compiled then.

    The plain and the compiled function must give the same bits. So the function may depend neither on the overflow of
    whole numbers nor on exceptions.

    Args:
        function: the function to compile; its first argument is the array that its loops run over.
    """
    compiled: Any = kernel(function)
    return cast("_Kernel", update_wrapper(_OrPlain(compiled.made, function), function))


def _put_in_place(function: FunctionType) -> None:
    """Replace each placeholder that a kernel's code names by the object itself, because numba reads the globals when it
    compiles.
    """
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

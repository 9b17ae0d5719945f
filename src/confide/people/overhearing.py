"""What a run says besides what it returns: how it fails, what it warns of, prints and logs.

Files, the network and the time that a run takes are not heard, nor is what its other threads and processes say.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Failed", "Overheard", "overheard"]


@dataclass(frozen=True)
class Failed:
    """In place of an outcome.

    Args:
        how: the type of what was raised; its words may quote records.
    """

    how: str


@dataclass
class Overheard:
    """What one run said.

    Args:
        said: one after the other, each with the way in which it was said.
    """

    said: list[tuple[str, str]] = field(default_factory=list)


def overheard(run: Callable[[], Any]) -> tuple[Any, Overheard]:
    r"""The outcome of a run, or `Failed`; and what it said meanwhile, which goes nowhere else.

    Args:
        run: what to do.

    Example:
        >>> def vain():
        ...     print("seven of them")
        ...     return 1 / 0
        >>> outcome, heard = overheard(vain)
        >>> outcome, "".join(words for _, words in heard.said)
        (Failed(how='ZeroDivisionError'), 'seven of them\n')
    """
    heard = Overheard()
    with _listening(heard):
        try:
            return run(), heard
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it was, the audit says that the run failed
            return Failed(type(error).__name__), heard


@contextmanager
def _listening(heard: Overheard) -> Iterator[None]:
    """Whatever this thread says is heard, and nothing else is: an audit may be one of several threads."""
    own, root = threading.get_ident(), logging.getLogger()
    out: Any = _Ear("print", sys.stdout, heard, own)
    err: Any = _Ear("print", sys.stderr, heard, own)
    ear = _LogEar(heard, own)
    with warnings.catch_warnings():
        others = warnings.showwarning
        warnings.simplefilter("always")

        def show(message: Warning | str, category: type[Warning], *more: Any, **named: Any) -> None:
            if threading.get_ident() == own:
                heard.said.append((category.__name__, str(message)))
            else:
                others(message, category, *more, **named)

        warnings.showwarning = show
        sys.stdout, sys.stderr = out, err
        root.addHandler(ear)
        try:
            yield
        finally:
            root.removeHandler(ear)
            sys.stdout, sys.stderr = out.beside, err.beside


class _Ear:
    """A stream of which one thread is heard, and the others write where they wrote."""

    def __init__(self, name: str, beside: Any, heard: Overheard, own: int) -> None:
        self.beside = beside
        self._name, self._heard, self._own = name, heard, own

    def write(self, text: str) -> int:
        if threading.get_ident() != self._own:
            return int(self.beside.write(text))
        self._heard.said.append((self._name, text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beside, name)


class _LogEar(logging.Handler):
    def __init__(self, heard: Overheard, own: int) -> None:
        super().__init__()
        self._heard, self._own = heard, own

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._own:
            self._heard.said.append((record.levelname, record.getMessage()))

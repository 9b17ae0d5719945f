"""Exit codes and messages for errors: 0 done, 2 bad input, 3 refused, 130 interrupted, 1 a fault of the program or of a
store.

The message of an unexpected exception may hold a private value, so only the type and the place of the exception are
shown. Developers who work with their own data can set CONFIDE_DEBUG to see the whole traceback.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from confide.contract.errors import ConfideError, show_public_warnings

__all__ = ["guarded"]

# The base of all usage errors: of the package click in some versions of typer, of typer's own copy in others.
_USAGE: type[Any] = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException")


def guarded(app: Callable[..., Any]) -> int:
    """Run a typer application, print one line for an error, and return the exit code."""
    try:
        with _plain_warnings():
            result = app(standalone_mode=False)
        sys.stdout.flush()
    except ConfideError as error:
        if error.__cause__ is not None and os.environ.get("CONFIDE_DEBUG"):
            traceback.print_exc()
        print(f"confide: {error}", file=sys.stderr)  # one printable line
        return error.exit_code
    except typer.Exit as error:
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("confide: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as error:  # what typer and rich make of a broken pipe
        if isinstance(error.__context__, BrokenPipeError):
            return _reader_left()
        raise
    except Exception as error:  # noqa: BLE001 - the last line of defence for private values in messages
        if isinstance(error, _USAGE):
            error.show()
            return 2
        if os.environ.get("CONFIDE_DEBUG"):
            traceback.print_exc()
        else:
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(
                f"confide: internal error: {type(error).__name__} at {os.path.basename(place.filename)}:{place.lineno};"
                " set CONFIDE_DEBUG=1 for the traceback (it may show private values)",
                file=sys.stderr,
            )
        return 1
    return result if isinstance(result, int) else 0


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print confide's own warnings as one line each, since they are built from public facts alone. Warnings of other
    packages are meant for developers and are not printed, since their messages may quote values.
    """
    with warnings.catch_warnings():
        show_public_warnings(lambda line: print(f"confide: warning: {line.removesuffix('.')}.", file=sys.stderr))
        yield


def _reader_left() -> int:
    """End quietly when the reader of the output closed the pipe, as `confide plan ... | head` does. The buffered rest
    of the output is discarded.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

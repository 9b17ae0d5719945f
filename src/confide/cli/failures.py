"""From exceptions to exit codes: 0 done, 2 bad input, 3 refused, 1 a fault of ours.

An unexpected exception may carry a private value in its message, so only its type and place are shown; the whole
traceback appears when CONFIDE_DEBUG is set, for developers with data of their own.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

from confide.contract.errors import ConfideError

__all__ = ["guarded"]


def guarded(app: Callable[..., Any]) -> int:
    """Run a typer application and return its exit code."""
    try:
        result = app(standalone_mode=False)
    except ConfideError as error:
        print(f"confide: {error}", file=sys.stderr)
        return error.exit_code
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except click.exceptions.ClickException as error:
        error.show()
        return 2
    except (click.exceptions.Abort, KeyboardInterrupt):
        print("confide: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence for private values in messages
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

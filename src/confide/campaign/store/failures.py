"""What a database's driver says, told without what it was about: its messages may hold parts of somebody's row.

Only names and codes are kept. A failure that everybody may meet (a lock, a full disk, a lost connection) is said in
words, with what to do; any other one is a fault of ours, and is told by its type and code.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoneIsFree

from confide.contract.errors import StoreFailed

__all__ = ["is_busy", "told"]

_BUSY = ("is in use by somebody else, who did not finish in time", "run it again")
_FULL = ("has no room left", "make room on its disk, then run it again")
_READ_ONLY = ("cannot be written to", "make it writable, then run it again")
_BARRED = ("does not permit this to its user", "let its owner grant it, then run it again")
_LOST = ("does not answer", "see that it runs and can be reached, then run it again")
_DAMAGED = ("is damaged, or its disk is", "go on with a sound copy only if nothing was charged or paid since")

_SQLITE = {5: _BUSY, 6: _BUSY, 13: _FULL, 8: _READ_ONLY, 3: _BARRED, 23: _BARRED, 10: _DAMAGED, 11: _DAMAGED,
           26: _DAMAGED, 14: _LOST}
"""By SQLite's primary result code: BUSY, LOCKED, FULL, READONLY, PERM, AUTH, IOERR, CORRUPT, NOTADB, CANTOPEN."""

_POSTGRESQL = {"40": _BUSY, "55": _BUSY, "57014": _BUSY, "57P05": _BUSY, "25P03": _BUSY, "25P04": _BUSY,
               "53300": _BUSY, "53": _FULL, "25006": _READ_ONLY, "42501": _BARRED, "57P": _LOST, "08": _LOST,
               "58": _DAMAGED, "XX": _DAMAGED}
"""By the beginning of PostgreSQL's code; the longest that fits counts."""


def told(error: Exception, name: str) -> StoreFailed:
    """A driver's error as ours.

    Args:
        error: of the driver, or SQLAlchemy's around it.
        name: of the store, without a password.
    """
    raw = _raw(error)
    problem, remedy = _words(raw) or (f"failed ({_code(raw)})", "")
    return StoreFailed(name, problem, remedy)


def is_busy(error: Exception) -> bool:
    """Whether somebody else was only in the way."""
    return _words(_raw(error)) is _BUSY


def _raw(error: Exception) -> Any:
    return error.orig if isinstance(error, DBAPIError) else error


def _words(raw: Any) -> tuple[str, str] | None:
    if isinstance(raw, NoneIsFree):  # of the connections, which wait for somebody else
        return _BUSY
    number = getattr(raw, "sqlite_errorcode", None)
    if number is not None:
        return _SQLITE.get(number & 0xFF)
    state = getattr(raw, "sqlstate", None)
    if state is None:  # no word of the server's
        return _LOST if any(each.__name__ == "OperationalError" for each in type(raw).__mro__) else None
    fitting = [start for start in _POSTGRESQL if state.startswith(start)]
    return _POSTGRESQL[max(fitting, key=len)] if fitting else None


def _code(raw: Any) -> str:
    """The type of an error, its code, and the constraint that was violated."""
    if isinstance(raw, sqlite3.IntegrityError):
        return str(raw)  # such as "CHECK constraint failed: ck_payout_positive"; SQLite names columns, never values
    constraint = getattr(getattr(raw, "diag", None), "constraint_name", None)
    found = (getattr(raw, "sqlite_errorname", None), getattr(raw, "sqlstate", None), constraint)
    return " ".join([type(raw).__name__, *(part for part in found if part)])

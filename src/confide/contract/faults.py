"""Where somebody's own code went wrong, in words: the type, the file and the line, and before any record is read the
first line of the message, too.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Collection

__all__ = ["fault", "line_of"]

_LONGEST = 200


def line_of(error: BaseException, files: Collection[str] = ()) -> str:
    """FILE:LINE of the last line of some files that a fault went through; else of any, or of text that is no Python.

    Args:
        error: as it was caught.
        files: preferred ones, as Python names them.

    Example:
        >>> try:
        ...     compile("x = (", "mine.py", "exec")
        ... except SyntaxError as error:
        ...     print(line_of(error))
        mine.py:1
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{os.path.basename(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if frame.filename in files] or [
        frame for frame in frames if not frame.filename.startswith("<")] or frames
    return f"{os.path.basename(last[-1].filename)}:{last[-1].lineno}" if last else "an unknown place"


def fault(error: BaseException, files: Collection[str] = ()) -> str:
    """The type of a fault, its place and the first line of its message: of code that has met no record.

    Args:
        error: as it was caught.
        files: as in `line_of`.
    """
    said = str(error.msg if isinstance(error, SyntaxError) else error)
    said = next((line.strip() for line in said.splitlines() if line.strip()), "")
    return f"{type(error).__name__} at {line_of(error, files)}" + (f": {said[:_LONGEST]}" if said else "")

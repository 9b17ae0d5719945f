"""Progress of long work, shown on a terminal as a bar. The bar shows a share of a public quantity, and never a count of
records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confide.contract.kinds import Progress

__all__ = ["advance", "progress_bar", "waiting"]

_PATIENCE = 10.0  # seconds without a word


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """Context manager that shows a progress bar. Its value is a function to call as the work advances, or None if the
    output is no terminal and nothing is shown.

    Args:
        label: the name of the work, as it is shown.
    """
    if not sys.stderr.isatty():  # rich would also take FORCE_COLOR for a terminal
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
             console=Console(stderr=True, highlight=False, force_jupyter=False), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def advance(done: int, total: int | None) -> None:
            if total:
                bar.update(task, completed=min(100, 100 * done // total), total=100)

        yield advance


@contextmanager
def waiting(label: str, *, seconds: float = _PATIENCE) -> Iterator[None]:
    """Context manager that shows that work of unknown length still goes on. A terminal shows the elapsed time. Any
    other output gets one line if the work takes longer than `seconds`. The work must depend on public settings alone.

    Args:
        label: the name of the work, as it is shown.
        seconds: the time after which the line is written.
    """
    if sys.stderr.isatty():
        with progress_bar(label):
            yield
        return
    timer = Timer(seconds, print, (f"confide: {label} still runs after {seconds:g} seconds: many people, goods, cells "
                                   "or queries can take minutes. To end the command, interrupt it; nothing is charged "
                                   "yet",),
                  {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def advance(progress: Progress | None, done: int, total: int) -> None:
    """Report progress to a progress bar, if there is one."""
    if progress is not None:
        progress(done, total)

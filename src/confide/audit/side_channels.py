"""The side channels of a run: the type of its failure, its warnings, its printed text and its logs at any level.

Threads that the run starts are recorded too, as long as the audit waits for them. Text and bytes on the standard
streams are recorded, both on the current streams and on the streams that Python started with. The following are not
recorded: files, the network, the duration of a run, output of other processes, and output of compiled libraries. Output
to a file descriptor past the streams (`os.write`, `/dev/stdout`) is not recorded either. Output through a stream or
handler that was set up before the run, and is not a standard one, is not recorded.

`run_with_steps` records the progress that a run reports. A terminal and the service show progress, so it must be equal
for two neighbours.

`settled_run` runs a mechanism as a settlement does: records and noise have the same types as in a settlement.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.contract.mechanism import Mechanism
from confide.contract.running import Batches, ran
from confide.privacy.noise import Noise
from confide.privacy.noise.given_noise import given
from confide.tables.slot_rows import SlotRows

__all__ = ["Failed", "SideChannelOutput", "recorded_steps", "run_with_steps", "settled_run", "side_channel_output"]

# ---- steps

_Steps = list[tuple[int, int | None]]
_STEPS: ContextVar[_Steps | None] = ContextVar("steps", default=None)


def run_with_steps(mechanism: Mechanism, data: Any, noise: Any) -> Any:
    """Run a mechanism as a settlement does. The progress that the run reports is recorded if the call is made within
    `recorded_steps`.

    Args:
        mechanism: the mechanism to run.
        data: data in the form that the mechanism's `run` expects.
        noise: noise in the form that the mechanism's `run` expects.
    """
    observed = _STEPS.get()
    return ran(mechanism, data, noise, None if observed is None else lambda *step: observed.append(step))


@contextmanager
def recorded_steps() -> Iterator[_Steps]:
    """Context manager that yields a list, to which `run_with_steps` appends each progress report of a run within the
    context.

    Example:
        >>> with recorded_steps() as steps:
        ...     pass
        >>> steps
        []
    """
    observed = _Steps()
    before = _STEPS.set(observed)
    try:
        yield observed
    finally:
        _STEPS.reset(before)


# ---- settled run


def settled_run(data: Sequence[SlotRows], noise: Noise, mechanism: Mechanism) -> Any:
    """The outcome of a mechanism on synthetic records. The outcome is labelled by the kind of its noise. The outcome is
    no release, because it never leaves the audit.

    Args:
        data: batches of synthetic records. At each pass the run gets copies of the batches, as the store of a campaign
            supplies them, and no empty batch. Changes that the run makes to a batch affect neither the next pass nor
            the next run.
        noise: noise of the audit.
        mechanism: the mechanism to run.
    """
    return run_with_steps(mechanism, Batches(_Copies(data)), given(noise))


class _Copies:
    """Batches that are copied each time they are read."""

    def __init__(self, data: Sequence[SlotRows]) -> None:
        self._data = data

    def __iter__(self) -> Iterator[SlotRows]:
        for batch in self._data:
            if len(batch.index):
                yield SlotRows(np.array(batch.index), np.array(batch.cells, order="C"))


# ---- side channels

_PATIENCE = 2.0  # seconds that are waited for threads which a run left behind


@dataclass(frozen=True)
class Failed:
    """A failure in place of an outcome.

    Args:
        how: name of the exception's type. The message of the exception is left out, because it may quote records.
    """

    how: str


@dataclass
class SideChannelOutput:
    """All printed text, log messages and warnings of one run.

    Args:
        said: messages of the run's own thread in order, each with its kind, such as "print".
        beside: messages of threads that the run started, in arbitrary order.
        left: number of the started threads that still ran when the audit stopped waiting for them.
    """

    said: list[tuple[str, str]] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """All messages in a form that can be compared."""
        return (*self.said, *sorted(self.beside))


def side_channel_output(run: Callable[[], Any]) -> tuple[Any, SideChannelOutput]:
    r"""The outcome of a run, or `Failed`, and all printed text, log messages and warnings of the run. The recorded
    messages go nowhere else.

    Args:
        run: function without arguments that makes the run and returns the outcome.

    Example:
        >>> def vain():
        ...     print("seven of them")
        ...     return 1 / 0
        >>> outcome, observed = side_channel_output(vain)
        >>> outcome, "".join(words for _, words in observed.said)
        (Failed(how='ZeroDivisionError'), 'seven of them\n')
    """
    observed = SideChannelOutput()
    with _listening(observed):
        try:
            return run(), observed
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it was, the audit says that the run failed
            return Failed(type(error).__name__), observed


@contextmanager
def _listening(observed: SideChannelOutput) -> Iterator[None]:
    """Context that records all messages of the current thread and of threads that it starts, and of no other threads.
    Several contexts may record different threads at the same time.
    """
    own = threading.get_ident()
    started: list[threading.Thread] = []
    with warnings.catch_warnings():
        others = warnings.showwarning
        warnings.simplefilter("always")

        def show(message: Warning | str, category: type[Warning], *more: Any, **named: Any) -> None:
            if not _LISTENERS.observe(category.__name__, str(message)):
                others(message, category, *more, **named)

        warnings.showwarning = show
        before = _LISTENERS.listen(own, (observed.said, observed.beside, started))
        try:
            yield
        finally:
            observed.left = _waited(started)
            _LISTENERS.leave(own, before)


def _waited(started: list[threading.Thread]) -> int:
    """Number of threads that still run after a waiting time."""
    end = time.monotonic() + _PATIENCE
    for thread in started:
        thread.join(max(0.0, end - time.monotonic()))
    return sum(thread.is_alive() for thread in started)


_Words = list[tuple[str, str]]
_Observed = tuple[_Words, _Words, list[threading.Thread]]
_STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


class _Listeners:
    """The recorded threads. While recorded threads still run, every log line, every thread start and every write to a
    standard stream is checked for its thread. Log lines, starts and writes of other threads work as usual.
    """

    def __init__(self) -> None:
        self._observed: dict[int, _Observed] = {}
        self._lock = threading.Lock()
        self._sound: tuple[Any, Any, Any] | None = None
        self._streams: dict[str, Any] = {}

    def observe(self, how: str, words: str) -> bool:
        """Record a message of the current thread, and return whether this thread is recorded."""
        listener = self._observed.get(threading.get_ident())
        if listener is not None:
            listener[0].append((how, words))
        return listener is not None

    def listen(self, ident: int, listener: _Observed) -> _Observed | None:
        """Begin to record a thread, and return the thread's previous recorder."""
        with self._lock:
            before = self._observed.get(ident)
            self._observed[ident] = listener
            if self._sound is None:
                self._begin()
        return before

    def leave(self, ident: int, before: _Observed | None = None) -> None:
        """Stop the recording of a thread, and restore the thread's previous recorder."""
        with self._lock:
            self._observed.pop(ident, None)
            if before is not None:
                self._observed[ident] = before
            if not self._observed and self._sound is not None:
                logging.Logger.isEnabledFor, logging.Logger.handle, threading.Thread.start = self._sound  # type: ignore[method-assign]
                self._sound = None
                for name, stream in self._streams.items():
                    setattr(sys, name, stream)

    def _begin(self) -> None:
        enabled, handle, start = self._sound = (logging.Logger.isEnabledFor, logging.Logger.handle,
                                                threading.Thread.start)
        observed = self._observed

        def is_enabled(logger: logging.Logger, level: int) -> bool:
            return threading.get_ident() in observed or enabled(logger, level)

        def handled(logger: logging.Logger, record: logging.LogRecord) -> None:
            if not self.observe(record.levelname, record.getMessage()):
                handle(logger, record)

        def started(thread: threading.Thread) -> None:
            listener = observed.get(threading.get_ident())
            if listener is not None:
                _, beside, threads = listener
                threads.append(thread)
                thread.run = self._observed_run(thread.run, (beside, beside, threads))  # type: ignore[method-assign]
            start(thread)

        logging.Logger.isEnabledFor = is_enabled  # type: ignore[method-assign, assignment]
        logging.Logger.handle = handled  # type: ignore[method-assign, assignment]
        threading.Thread.start = started  # type: ignore[method-assign, assignment]
        self._streams = {name: getattr(sys, name) for name in _STREAMS}
        for name, stream in self._streams.items():
            if stream is not None:  # as without a terminal
                setattr(sys, name, _Ear(stream))

    def _observed_run(self, run: Callable[[], None], listener: _Observed) -> Callable[[], None]:
        def observed_run() -> None:
            ident = threading.get_ident()
            self.listen(ident, listener)
            try:
                run()
            except BaseException as error:  # noqa: BLE001 - else Python prints it, and its words may quote records
                self.observe("thread", type(error).__name__)
            finally:
                self.leave(ident)

        return observed_run


_LISTENERS = _Listeners()


class _Ear:
    """A text stream that records the writes of recorded threads, and passes the writes of all other threads on."""

    def __init__(self, beside: Any) -> None:
        self._beside = beside

    def write(self, text: Any) -> int:
        if not isinstance(text, str):  # who tries bytes learns that they go to `buffer`
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        return len(text) if _LISTENERS.observe("print", text) else int(self._beside.write(text))

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        return _ByteEar(self._beside.buffer)

    def detach(self) -> Any:
        return self.buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._beside, name)


class _ByteEar(_Ear):
    """The binary stream below a text stream, which records bytes in the same way."""

    def write(self, text: Any) -> int:
        said = bytes(text)
        return len(said) if _LISTENERS.observe("bytes", said.decode("latin-1")) else int(self._beside.write(text))

    @property
    def raw(self) -> Any:
        return _ByteEar(self._beside.raw)

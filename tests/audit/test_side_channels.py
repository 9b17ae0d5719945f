"""Whatever a run writes to a standard stream is heard, on every way to it, and goes nowhere else; others write on."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from confide.audit.side_channels import Failed, side_channel_output

WAYS: dict[str, tuple[Callable[[], Any], tuple[tuple[str, str], ...]]] = {
    "text": (lambda: sys.stdout.write("7"), (("print", "7"),)),
    "lines": (lambda: sys.stderr.writelines(["7", "8"]), (("print", "7"), ("print", "8"))),
    "bytes": (lambda: sys.stdout.buffer.write(b"7\xff"), (("bytes", "7\xff"),)),
    "lines of bytes": (lambda: sys.stderr.buffer.writelines([b"7", b"8"]), (("bytes", "7"), ("bytes", "8"))),
    "bytes without a buffer": (lambda: sys.stdout.buffer.raw.write(b"7"), (("bytes", "7"),)),
    "bytes of a stream that is given up": (lambda: sys.stdout.detach().write(b"7"), (("bytes", "7"),)),
    "as Python found it": (lambda: print("7", end="", file=sys.__stdout__), (("print", "7"),)),
    "its bytes": (lambda: sys.__stderr__.buffer.write(b"7"), (("bytes", "7"),)),
}


@contextmanager
def written(path: Path) -> Iterator[Any]:
    """All four streams in one file of text over bytes, as on a terminal."""
    with path.open("w", encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
            patch.setattr(sys, name, file)
        yield file


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_standard_stream_is_observed(way: str, tmp_path: Path) -> None:
    say, words = WAYS[way]
    with written(tmp_path / "all") as file:
        outcome, observed = side_channel_output(say)
        assert sys.stdout is sys.stderr is sys.__stdout__ is sys.__stderr__ is file
    assert not isinstance(outcome, Failed)
    assert tuple(each for each in observed.words if each[1]) == words
    assert (tmp_path / "all").read_bytes() == b""


def test_bytes_are_no_text() -> None:
    """Who looks for the stream of bytes by trying is told that it is not this one."""
    outcome, observed = side_channel_output(lambda: sys.stdout.write(b"7"))  # type: ignore[arg-type]
    assert outcome == Failed("TypeError")
    assert observed.words == ()


def test_who_ends_first_leaves_the_others_their_ears(tmp_path: Path) -> None:
    """And what is said where nobody listens is written as before."""
    began, ended, observed = threading.Event(), threading.Event(), list[str]()

    def run() -> None:
        began.set()
        assert ended.wait(20)
        sys.stdout.write("heard")

    with written(tmp_path / "all") as file:
        longer = threading.Thread(
            target=lambda: observed.extend(words for _, words in side_channel_output(run)[1].words))
        longer.start()
        assert began.wait(20)
        side_channel_output(lambda: None)
        sys.stdout.write("written, ")
        sys.stdout.flush()
        sys.stdout.buffer.write(b"also as bytes")
        ended.set()
        longer.join(20)
        assert sys.stdout is file
    assert observed == ["heard"]
    assert (tmp_path / "all").read_bytes() == b"written, also as bytes"

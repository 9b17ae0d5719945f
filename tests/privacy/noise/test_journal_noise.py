"""Noise that survives a crash: on disk before it is handed out, handed out again, and never drawn twice."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.contract.errors import StoreFailed
from confide.privacy.noise import JournalNoise, Noise, journal

CENTER = [0.25, -3.0, 1e-9]


def ask_everything(noise):
    """One draw of every law."""
    return {
        "split": noise.split(10, stream=("split",)),
        "laplace": noise.laplace(2.0, 3, stream="laplace", center=CENTER),
        "gaussian": noise.gaussian(0.5, (3, 1), stream="gaussian", grid=20),
        "vector_laplace": noise.vector_laplace(1.5, 3, stream="vector", center=CENTER, stretch=[1.0, 2.0, 0.5]),
        "discrete_laplace": noise.discrete_laplace(4, 3, stream=("dl", 1), center=[2**62, -5, 0]),
        "discrete_gaussian": noise.discrete_gaussian(3.0, (), stream="dg"),
        "channel": noise.channel([[1, 1], [2, 0]], [0, 0, 1], stream="channel"),
        "selection": noise.selection([0.0, 1.0, 2.0], 4, stream="selection"),
        "exponential": noise.exponential((2, 2), stream="exponential"),
        "words": noise.words(3, stream="words"),
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "noise.journal"


@pytest.mark.parametrize("source", [Noise.secure, lambda: Noise.simulated(3)])
def test_a_restart_hands_out_the_same_draws_and_then_new_ones(path, source):
    with JournalNoise(path, source(), existing=False) as first:
        values = ask_everything(first)
        assert (first.kind, first.release_safe) == (source().kind, source().release_safe)
    other = Noise.secure() if first.kind == "secure" else Noise.simulated(4)
    with JournalNoise(path, other, existing=True) as again:
        kept = ask_everything(again)
        for law, value in values.items():
            assert np.array_equal(kept[law], value), law
            assert (kept[law].dtype, kept[law].shape) == (value.dtype, value.shape)
            assert kept[law].flags.writeable
        assert repr(other).endswith("0 streams drawn>")  # nothing was drawn anew
        later = again.exponential(5, stream="later")
        with pytest.raises(InvalidInput, match="already drawn"):
            again.exponential(5, stream="later")
    with JournalNoise(path, source()) as third:  # in another order too
        assert np.array_equal(third.exponential(5, stream="later"), later)
        assert np.array_equal(third.words(3, stream="words"), values["words"])


def test_simulated_draws_are_those_of_the_source(path):
    with JournalNoise(path, Noise.simulated(3)) as noise:
        for law, value in ask_everything(noise).items():
            assert np.array_equal(value, ask_everything(Noise.simulated(3))[law]), law


def test_it_is_on_disk_before_it_is_handed_out(path, monkeypatch):
    """The draw, wait, the end of its line, wait: in this order, and all of it before anybody gets the draw."""
    noise = JournalNoise(path, Noise.simulated(3))
    events = []
    write, sync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda file, data: events.append(bytes(data)) or write(file, data))
    monkeypatch.setattr(os, "fsync", lambda file: events.append("wait") or sync(file))
    noise.words(4, stream="x")
    assert events[1:] == ["wait", b"\n", "wait"]
    assert path.read_bytes().splitlines()[-1] == events[0]
    assert path.read_bytes().endswith(b"\n")
    noise.close()


def test_it_is_its_owners_alone(path):
    with JournalNoise(path, Noise.simulated(3)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o640)
    with pytest.raises(InvalidInput, match="other users may read"):
        JournalNoise(path, Noise.simulated(3))


def test_a_torn_line_belongs_to_a_draw_that_nobody_got(path):
    """Cut anywhere: whole lines are kept, the torn one is dropped, and what is drawn instead is kept in its place."""
    with JournalNoise(path, Noise.simulated(3)) as noise:
        first = noise.words(2, stream="a")
        second = noise.words(2, stream="b")
    data = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    assert len(ends) == 3
    cuts = {*range(0, len(data), 23), *ends, *(end - 1 for end in ends), *(end + 1 for end in ends[:-1])}
    for cut in sorted(cuts):
        path.write_bytes(data[:cut])
        with JournalNoise(path, Noise.simulated(9)) as noise:
            one, two = noise.words(2, stream="a"), noise.words(2, stream="b")
        assert np.array_equal(one, first) == (cut >= ends[1])
        assert np.array_equal(two, second) == (cut >= ends[2])
        with JournalNoise(path, Noise.simulated(10)) as noise:
            assert np.array_equal(noise.words(2, stream="a"), one)
            assert np.array_equal(noise.words(2, stream="b"), two)


def test_damage_is_refused_and_never_drawn_over(path):
    with JournalNoise(path, Noise.simulated(3)) as noise:
        noise.words(2, stream="a")
        noise.words(2, stream="b")
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    spoiled = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(lines[0]), len(data) - 1, 17)]
    for bad in [*spoiled, lines[0] + lines[2], lines[0] + lines[2] + lines[1], lines[0] + lines[1] * 2,
                data[:-1] + b"x\n", data + b"\n"]:
        path.write_bytes(bad)
        with pytest.raises(StoreFailed, match="damaged in line"):
            JournalNoise(path, Noise.simulated(3))
        assert path.read_bytes() == bad


@pytest.mark.parametrize("text", [b"hello", b"hello\nworld\n", b"{}\n", b"\x00" * 50, b"\n"])
def test_another_file_stays_whole(path, text):
    path.parent.mkdir()
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(InvalidInput, match="is not a journal of noise"):
        JournalNoise(path, Noise.simulated(3))
    assert path.read_bytes() == text


@pytest.mark.parametrize("fails_at", [1, 2])
def test_what_cannot_be_written_is_not_handed_out(path, monkeypatch, fails_at):
    noise = JournalNoise(path, Noise.simulated(3))
    sync, calls = os.fsync, []

    def failing(file):
        calls.append(file)
        if len(calls) == fails_at:
            raise OSError(errno.EIO, "gone")
        sync(file)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(StoreFailed, match="could not be written"):
        noise.words(2, stream="a")
    with pytest.raises(InvalidInput, match="closed"):
        noise.words(2, stream="b")
    monkeypatch.undo()
    with JournalNoise(path, Noise.simulated(3)) as noise:
        assert noise.words(2, stream="a").shape == (2,)


REQUESTS = {
    "another law": lambda n: n.gaussian(2.0, 3, stream="x", center=CENTER),
    "another scale": lambda n: n.laplace(2.5, 3, stream="x", center=CENTER),
    "another size": lambda n: n.laplace(2.0, 2, stream="x", center=CENTER[:2]),
    "another grid": lambda n: n.laplace(2.0, 3, stream="x", center=CENTER, grid=20),
    "other data": lambda n: n.laplace(2.0, 3, stream="x", center=[0.25, -3.0, 2e-9]),
}


@pytest.mark.parametrize("change", REQUESTS)
def test_a_request_that_changed_is_refused(path, change):
    with JournalNoise(path, Noise.simulated(3)) as noise:
        drawn = noise.laplace(2.0, 3, stream="x", center=CENTER)
    with JournalNoise(path, Noise.simulated(3)) as noise:
        with pytest.raises(InvalidInput, match="with another request") as caught:
            REQUESTS[change](noise)
        assert "-3" not in str(caught.value)
    with JournalNoise(path, Noise.simulated(3)) as noise:  # and it is still there for the right one
        assert np.array_equal(noise.laplace(2.0, 3, stream="x", center=CENTER), drawn)


def test_one_process_at_a_time(path):
    with JournalNoise(path, Noise.simulated(3)), pytest.raises(StoreFailed, match="in use by another process"):
        JournalNoise(path, Noise.simulated(3))
    JournalNoise(path, Noise.simulated(3)).close()


def test_whether_it_must_be_there(path):
    with pytest.raises(InvalidInput, match="does not exist"):
        JournalNoise(path, Noise.simulated(3), existing=True)
    JournalNoise(path, Noise.simulated(3), existing=False).close()
    with pytest.raises(InvalidInput, match="exists already"):
        JournalNoise(path, Noise.simulated(3), existing=False)


def test_its_source_is_the_kind_that_began_it(path):
    JournalNoise(path, Noise.simulated(3)).close()
    with pytest.raises(InvalidInput, match="the run has secure noise, but the journal has simulated noise") as caught:
        JournalNoise(path, Noise.secure())
    assert caught.value.field == "source"
    with pytest.raises(InvalidInput) as caught:
        JournalNoise(path, 3)
    assert caught.value.field == "noise"


def test_links_and_later_formats_are_refused(path, monkeypatch):
    JournalNoise(path, Noise.simulated(3)).close()
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(InvalidInput, match="cannot be opened"):
        JournalNoise(link, Noise.simulated(3))
    monkeypatch.setattr(journal, "_FORMAT", 2)
    with pytest.raises(InvalidInput, match="has format 1"):
        JournalNoise(path, Noise.simulated(3))


def test_destroyed_is_overwritten_and_gone(path, tmp_path):
    noise = JournalNoise(path, Noise.simulated(3))
    noise.words(100, stream="x")
    os.link(path, tmp_path / "same")  # the same blocks by another name
    size = path.stat().st_size
    noise.destroy()
    assert not path.exists()
    assert (tmp_path / "same").read_bytes() == bytes(size)
    for refused in (noise.destroy, lambda: noise.words(1, stream="y")):
        with pytest.raises(InvalidInput, match="closed"):
            refused()
    noise.close()


def test_a_killed_process_has_drawn_nothing_that_is_lost(path):
    """Every draw that a process printed before it was killed is what the next one gets."""
    code = """
import sys
from confide.privacy.noise import JournalNoise, Noise
noise = JournalNoise(sys.argv[1], Noise.secure())
for k in range(10**6):
    print(k, noise.words(1, stream=("x", k))[0], flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
        seen = [process.stdout.readline().split() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        seen += [line.split() for line in process.stdout if line.endswith("\n")]
    with JournalNoise(path, Noise.secure(), existing=True) as noise:
        assert [int(noise.words(1, stream=("x", int(k)))[0]) for k, _ in seen] == [int(word) for _, word in seen]


def test_a_note_says_what_draws_are_for_and_is_kept(path):
    with JournalNoise(path, Noise.simulated(3)) as noise:
        noise.note("run", "one graph")
        noise.note("run", "one graph")
        noise.exponential(2, stream=("run", 0))
        noise.note(("run", 1), "second step")
        with pytest.raises(InvalidInput, match="the journal belongs to another run"):
            noise.note("run", "another graph")
        seal = noise.seal
        assert seal[0] == 4  # the head, two notes, a draw
    with JournalNoise(path, Noise.simulated(4), existing=True, sealed=seal) as noise:
        assert (noise.noted("run"), noise.noted(("run", 1)), noise.noted(("run", 2))) == (
            "one graph", "second step", None)
        assert noise.seal == seal
        with pytest.raises(InvalidInput, match="the journal belongs to another run"):
            noise.note("run", "another graph")
        with pytest.raises(InvalidInput, match="draws without a purpose"):
            noise.note(("run", 0), "too late")
        noise.note("other", "fresh")


def test_a_journal_that_was_cut_back_or_replaced_is_refused(path):
    with JournalNoise(path, Noise.simulated(3)) as noise:
        noise.exponential(2, stream="one")
        early = noise.seal
        noise.exponential(2, stream="two")
        seal = noise.seal
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    path.write_bytes(b"\n".join(lines[:2]) + b"\n")
    with pytest.raises(InvalidInput, match="was shortened, or is an older copy"):
        JournalNoise(path, Noise.simulated(3), sealed=seal)
    with JournalNoise(path, Noise.simulated(9), sealed=early) as noise:  # it goes on from there with other draws
        noise.exponential(2, stream="one")
        noise.exponential(2, stream="two")
    with pytest.raises(InvalidInput, match="was shortened, or is an older copy"):
        JournalNoise(path, Noise.simulated(3), sealed=seal)
    path.write_bytes(whole)
    JournalNoise(path, Noise.simulated(3), sealed=seal).close()

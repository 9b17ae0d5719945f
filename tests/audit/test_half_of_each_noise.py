"""Half of the noise of one stream, all others as they are: every shipped kind's own audit flags it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from confide.audit import AuditReport, DampedNoise, Examined, Transcripts
from confide.audit.engine import FullSize
from confide.contract.asked import CustodiansKind
from confide.contract.kinds import kind
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import StreamName, as_stream
from people import all_kinds
from people.all_kinds import HELD, KINDS, campaign_of

STREAMS: dict[str, tuple[str, ...]] = {
    "bits": ("report",),
    "bits-pair": ("report",),
    "bits-unknown-costs": ("report",),
    "bundles": ("counts", "clearing", "certificate"),
    "matching": ("demand", "asked", "certificate"),
    "mean": ("record", "absentees"),
    "program": ("slack", "audit"),
    "queries": ("one-way", "again", "choose", "table"),
    "regression": ("payment", "release"),
    "search": ("component/threshold", "component/order/levels"),
}
"""Of each kind's template: the words of the names of its noise."""

PROTECTS_NOBODY: dict[str, dict[str, str]] = {
    "matching": {"coins": "a public lottery, drawn when all rows are in: its seed is published"},
    "program": {"coins": "a public lottery, drawn when all records are in: its seed is published"},
    "search": {"component/order/members": "who of those with one value comes first: words without a scale"},
    "regression": {"split": "who is in which half: no answer is hidden by it"},
}
"""Draws of which there is no half."""

ALONE: dict[tuple[str, str], str] = {}
"""(kind, stream) whose half alone keeps every promise, and why."""

FAST = (("bits-pair", "report"),)
"""The others take seconds each, and bundles a minute."""


class Observed(DampedNoise):
    """Half of the noise of all draws of a name; notes the names. A name is its words: ("price", 3) is a "price"."""

    def __init__(self, source: Noise, factor: float, part: str, observed: set[str]) -> None:
        super().__init__(source, factor, part)
        self.observed = observed

    def _factor(self, stream: StreamName) -> Fraction:
        return self._damped if named(stream) == self._part else Fraction(1)

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        # A search makes Gumbel noise of them, -ln E, of which half is that of the root. Half of E would shift all
        # values alike, and leave the law of who comes first as it is.
        return np.asarray(self._source.exponential(shape, stream=stream) ** float(self._factor(stream)))

    def _claim(self, stream: Any) -> StreamName:
        self.observed.add(named(as_stream(stream)))
        return super()._claim(stream)


def named(stream: StreamName) -> str:
    return "/".join(word for word in stream if isinstance(word, str))


@contextmanager
def listened(mechanism: Any, factor: float, part: str) -> Iterator[set[str]]:
    """Its class, with noise of one part at a factor, wherever it is run and on whatever device."""
    cls, observed, before = type(mechanism), set[str](), {}

    def damped(sound: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(sound)
        def call(*given: Any, **named: Any) -> Any:
            def other(one: Any) -> Any:
                return Observed(one, factor, part, observed) if isinstance(one, Noise) else one

            return sound(*map(other, given), **{name: other(one) for name, one in named.items()})

        return call

    for name in ("start",) if callable(getattr(cls, "start", None)) else ("run", "submit"):  # a search may wait
        if hasattr(cls, name):
            before[name] = cls.__dict__.get(name)
            setattr(cls, name, damped(getattr(cls, name)))
    try:
        yield observed
    finally:
        for name, sound in before.items():
            setattr(cls, name, sound) if sound is not None else delattr(cls, name)


@pytest.fixture(autouse=True)
def _without_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults of the audits' own would each be made with half of the noise, too, and most of the time goes there."""
    for known, rows in ((Transcripts, lambda it: it.rows()), (FullSize, lambda it: it.rows(it.sound)),
                        (Examined, lambda it: it.rows(it.sound))):
        monkeypatch.setattr(known, "measured", lambda it, rows=rows: (list(rows(it)), []))


def audited(name: str, factor: float, part: str) -> tuple[AuditReport, set[str]]:
    it = campaign_of(name)
    with listened(it.plan.mechanism, factor, part) as observed:
        return it.file.kind.audit(it.plan, 0), observed


def test_all_kinds_are_here() -> None:
    assert set(STREAMS) == set(KINDS), (
        f"STREAMS in {__file__} and the entry points in pyproject.toml name other kinds: add the words of the names of "
        "its noise, and to PROTECTS_NOBODY those that hide nobody")
    custodians = {name for name in KINDS if isinstance(kind(name), CustodiansKind)}
    assert set(HELD) == custodians, f"HELD in {all_kinds.__file__} lists the kinds of a custodian"
    assert {(name, part) for name, parts in STREAMS.items() for part in parts} >= set(ALONE)


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_its_streams_are_these(name: str) -> None:
    report, observed = audited(name, 1.0, "")
    assert not [row.promise for row in report.rows if row.flagged]
    assert observed == {*STREAMS[name], *PROTECTS_NOBODY.get(name, ())}


@pytest.mark.parametrize(("name", "part"), [
    each if each in FAST else pytest.param(*each, marks=pytest.mark.slow)
    for each in ((name, part) for name, parts in STREAMS.items() for part in parts)])
def test_half_of_one_noise_is_flagged(name: str, part: str) -> None:
    report, observed = audited(name, 0.5, part)
    assert part in observed
    if (name, part) in ALONE:
        assert not [row for row in report.rows if row.flagged], ALONE[name, part]
    else:
        assert not report.passed
        assert any(row.flagged and row.concern == "privacy" for row in report.rows), report.problems

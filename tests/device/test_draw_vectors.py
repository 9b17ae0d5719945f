"""The shared vectors: what known bytes give is written down, here and in the program; what the system must not do."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract.errors import SolverFailed
from confide.privacy.noise.entropy import random_bytes
from confide.privacy.noise.exact_draws import discrete_gaussian
from device.byte_streams import HashStream
from device.draw_vectors import SAMPLERS, VECTORS, as_text
from device.engines import PROGRAM, run
from device.test_exact_draws import exact_law


def test_the_reference_gives_what_is_written() -> None:
    assert VECTORS.read_text(encoding="utf-8") == as_text()


def test_the_program_gives_what_is_written() -> None:
    """All bytes of a vector are used, and no more."""
    written = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert len(written) >= 300
    for vector, answer in zip(written, run([{**each, "draws": 1} for each in written]), strict=True):
        assert answer == {"found": [vector["drawn"]], "used": len(vector["bytes"]) // 2, "problem": ""}, vector


@pytest.mark.parametrize(("old", "new"), [
    ("found << 8n) | BigInt(byte)", "found << 8n) | BigInt(byte ^ 1)"),
    ("Math.ceil(bits / 8)", "Math.ceil(bits / 8) + 1"),
    ("1n << BigInt((bitLength(value) + 1) >> 1)", "1n << BigInt(bitLength(value) >> 2)")])
def test_other_bytes_another_size_and_a_wrong_root_are_seen(old: str, new: str, tmp_path: Path) -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    assert text.count(old) == 1
    broken = tmp_path / "broken.mjs"
    broken.write_text(text.replace(old, new), encoding="utf-8")
    written = json.loads(VECTORS.read_text(encoding="utf-8"))
    answers = run([{**each, "draws": 1} for each in written], broken)
    assert any(answer["problem"] or answer["found"] != [vector["drawn"]]
               for vector, answer in zip(written, answers, strict=True))


@given(st.sampled_from(sorted(SAMPLERS)), st.integers(1, 10**30), st.integers(1, 10**30), st.integers(2, 50))
def test_a_draw_follows_from_its_bytes_alone(name: str, numerator: int, denominator: int, categories: int) -> None:
    """Again from the same bytes it is the same, whose number is the same; shifts stay below the number of answers."""
    share = (min(numerator, denominator), denominator)
    numbers = {"uniform": (numerator,), "bernoulli": share, "bernoulli_exp": share, "keep": (*share, categories),
               "level": (*share, categories)}.get(name, (numerator, denominator))
    first, second = HashStream(f"{name}{numbers}"), HashStream(f"{name}{numbers}")
    drawn = SAMPLERS[name](*numbers, first)
    assert (SAMPLERS[name](*numbers, second), second.taken) == (drawn, first.taken)
    if name in ("keep", "level"):
        assert 0 <= drawn < categories


@pytest.mark.parametrize("byte", [0, 1, 255])
@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_a_broken_source_ends(name: str, byte: int) -> None:
    """A constant byte gives a draw or the error that says so, never a loop without end; no bytes are an error."""
    numbers = {"uniform": (3,), "keep": (1, 3, 4), "level": (1, 3, 5)}.get(name, (1, 3))
    with suppress(SolverFailed):
        SAMPLERS[name](*numbers, lambda count: bytes([byte]) * count)
    with pytest.raises(SolverFailed, match="broken"):
        SAMPLERS[name](*numbers, lambda _: b"")


def test_the_systems_bytes_will_do() -> None:
    """1000 standard deviations."""
    assert abs(discrete_gaussian(10**12, 1, random_bytes)) < 10**9


@pytest.mark.slow
def test_exact_probabilities_of_a_gaussian(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lies between what was found over all paths, and that with the paths that were not followed."""
    found, left = exact_law(monkeypatch, discrete_gaussian, (1, 2), Fraction(1, 300_000))
    total = math.fsum(math.exp(-y * y) for y in range(-30, 31))
    assert sum(found.values()) + left == 1
    assert left < 0.4
    for y, weight in found.items():
        law = math.exp(-y * y) / total
        assert float(weight) <= law * (1 + 1e-12)
        assert law <= float(weight + left) * (1 + 1e-12)
        assert weight == found[-y]

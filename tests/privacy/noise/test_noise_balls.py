"""Exact rounding: against other arithmetic from the same bytes, at the edges, and where the first ball is too wide."""

from __future__ import annotations

import decimal
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract.errors import SolverFailed
from confide.privacy.noise import balls, laws
from confide.privacy.noise.entropy import Entropy

DIGITS = decimal.Context(prec=400, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def uniforms_of(raw: bytes, count: int, bits: int) -> list[Fraction]:
    """The middles of the intervals that the first round's bytes name."""
    width = bits // 8
    values = [int.from_bytes(raw[at : at + width], "big") for at in range(0, count * width, width)]
    return [Fraction(2 * value + 1, 2 ** (bits + 1)) for value in values]


def logarithm(value: Fraction) -> Fraction:
    """ln in 400 decimal digits of the standard library: an arithmetic that shares nothing with flint."""
    return Fraction(DIGITS.ln(DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))))


def on_grid(value: Fraction, grid: int) -> float:
    return float(Fraction(round(value * 2**grid), 2**grid))


CASES = [
    (Fraction(1), 0.0, 30),
    (Fraction(0.1), 0.1, 30),
    (Fraction(1, 3), 1e15, 30),  # large center, small scale
    (Fraction(1, 3), 1e300, 60),
    (Fraction(10**40), -0.3, 30),  # small center, large scale
    (Fraction(1e-12), 0.5, 0),  # a tie of the grid that the noise's sign decides
    (Fraction(1e-200), -2.5, 0),
    (Fraction(5e-324), 1e-320, 60),
    (Fraction(1e300), 5e-324, 60),
]


@pytest.mark.parametrize(("scale", "center", "grid"), CASES)
def test_laplace_is_the_exact_rounding_of_the_ideal_draw(scale, center, grid, entropy):
    count = 40
    source = entropy(1)
    got = laws.laplace(scale, np.full(count, center), grid, source)
    bits = len(source.handed_out) * 8 // (2 * count)
    drawn = uniforms_of(source.handed_out, 2 * count, bits)
    ideal = [
        scale * (logarithm(first) - logarithm(second)) for first, second in zip(drawn[::2], drawn[1::2], strict=True)
    ]
    assert source.requests == 1
    assert got.tolist() == [on_grid(Fraction(center) + noise, grid) for noise in ideal]


def test_one_dimensional_vectors_are_exact(entropy):
    """d = 1: the radius is one exponential and the direction the sign of cos(2 pi u)."""
    for seed in range(50):
        source = entropy(seed)
        (got,) = laws.vector_laplace(Fraction(2, 7), [Fraction(10**9, 3)], np.array([0.3]), 40, source)
        radius, _, angle = uniforms_of(source.handed_out, 3, len(source.handed_out) * 8 // 3)
        sign = 1 if not Fraction(1, 4) < angle < Fraction(3, 4) else -1
        ideal = Fraction(10**9, 3) - sign * Fraction(0.3) * Fraction(2, 7) * logarithm(radius)
        assert got == on_grid(ideal, 40)


def at_400_bits(scale: Fraction, dimension: int, drawn: list[Fraction]) -> list[Fraction]:
    """The vector law of spec 4.4, written down again, at 400 bits and in the middles of the uniforms."""
    with balls.precision(400):
        points = [arb(fmpq(u.numerator, u.denominator)) for u in drawn]
        radius = sum((-point.log() for point in points[:dimension]), arb(0)) * fmpq(scale.numerator, scale.denominator)
        normals = []
        for first, second in zip(points[dimension::2], points[dimension + 1 :: 2], strict=True):
            length, angle = (first.log() * -2).sqrt(), 2 * arb.pi() * second
            normals += [length * angle.cos(), length * angle.sin()]
        norm = sum((normal**2 for normal in normals[:dimension]), arb(0)).sqrt()
        middles = [(radius * normal / norm).mid() for normal in normals[:dimension]]
        result = []
        for middle in middles:
            mantissa, exponent = middle.man_exp()
            result.append(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
        return result


@pytest.mark.parametrize("dimension", [2, 3, 10, 101])
def test_vectors_equal_a_400_bit_evaluation(dimension, entropy):
    scale = Fraction(0.0173)
    stretch = np.linspace(0.2, 3.0, dimension)
    center = np.random.default_rng(dimension).normal(size=dimension) * 10.0 ** np.arange(dimension)
    uniforms = dimension + 2 * ((dimension + 1) // 2)
    for seed in range(5):
        source = entropy(seed)
        got = laws.vector_laplace(scale, center, stretch, 30, source)
        bits = len(source.handed_out) * 8 // uniforms
        vector = at_400_bits(scale, dimension, uniforms_of(source.handed_out, uniforms, bits))
        ideal = [Fraction(c) + Fraction(k) * v for c, k, v in zip(center, stretch, vector, strict=True)]
        assert source.requests == 1
        assert got.tolist() == [on_grid(value, 30) for value in ideal]


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_an_undecided_rounding_appends_bits_to_the_same_uniforms(dimension, entropy):
    """The center puts the first ball across the middle between two grid points; the appended bits decide."""
    scale, grid = Fraction(3, 7), 30
    uniforms = dimension + 2 * ((dimension + 1) // 2)
    sides = set()
    for seed in range(12):
        probe = entropy(seed)
        laws.vector_laplace(scale, np.zeros(dimension), np.ones(dimension), grid, probe)
        bits = len(probe.handed_out) * 8 // uniforms
        first = at_400_bits(scale, dimension, uniforms_of(probe.handed_out, uniforms, bits))
        # Off the middle by a fraction of the ball's width, and by far more than the rounding errors of the arithmetic:
        # only the bits that are still unknown make this undecided.
        shift = scale / 2 ** (bits + 8)
        center = [Fraction(2 * k + 1, 2 ** (grid + 1)) - noise + shift for k, noise in enumerate(first)]

        source = entropy(seed)
        got = laws.vector_laplace(scale, center, np.ones(dimension), grid, source)
        assert source.requests >= 2
        assert source.handed_out[: len(probe.handed_out)] == probe.handed_out
        # The same uniforms with the appended bits: the leading bits of each, then its own part of every later request.
        width = bits // 8
        blocks = [source.handed_out[: uniforms * width]]
        while sum(map(len, blocks)) < len(source.handed_out):
            done = sum(map(len, blocks))
            blocks.append(source.handed_out[done : 2 * done])
        finer = b"".join(
            block[at * len(block) // uniforms : (at + 1) * len(block) // uniforms]
            for at in range(uniforms)
            for block in blocks
        )
        known = len(finer) * 8 // uniforms
        vector = at_400_bits(scale, dimension, uniforms_of(finer, uniforms, known))
        assert got.tolist() == [on_grid(c + v, grid) for c, v in zip(center, vector, strict=True)]
        sides.update(round(value * 2**grid) - k for k, value in enumerate(got))
    assert sides == {0, 1}  # both neighbours of the tie occur


def test_uniforms_next_to_the_ends_of_the_interval(entropy):
    """All-zero leading bits leave the logarithm open, and more bits settle it; all-one leading bits need no more."""
    zeros, ones = b"\x00" * 14, b"\xff" * 14
    bits = balls.starting_bits(30, 1)
    assert bits == 8 * 14
    for first, second in [(zeros, ones), (ones, zeros), (zeros, zeros), (ones, ones)]:
        source = entropy(5, given=first + second)
        (got,) = laws.laplace(Fraction(1), np.zeros(1), 30, source)
        assert (source.requests > 1) == (zeros in (first, second))
        more = source.handed_out[28:] + bytes(28)
        drawn = [
            Fraction(int.from_bytes(end + more[14 * at : 14 * at + 14], "big") + 1, 2 ** (2 * bits))
            for at, end in enumerate((first, second))
        ]
        assert got == pytest.approx(float(logarithm(drawn[0]) - logarithm(drawn[1])), abs=2**-30)


def test_the_first_ball_leaves_room(entropy, monkeypatch):
    """Mean width of the first balls in units of the grid: twice it bounds the probability of a second round."""
    widths = []
    original = balls.rounded

    def spy(law, points, **rest):
        def watched(uniforms):
            noise = law(uniforms)
            widths.extend(float(ball.rad()) for ball in noise)
            return noise

        return original(watched, points, **rest)

    monkeypatch.setattr(laws, "rounded", spy)
    monkeypatch.setattr(balls, "rounded", spy)
    source = entropy(3)
    for scale in (Fraction(1e-9), Fraction(1), Fraction(10**9)):
        laws.laplace(scale, np.zeros(400), 30, source)
        laws.gaussian(scale, np.zeros(400), 30, source)
        for dimension in (1, 10, 300):
            widths.clear()
            for _ in range(600 // dimension + 1):
                laws.vector_laplace(scale, np.zeros(dimension), np.full(dimension, 0.5), 30, source)
            assert 2 * dimension * np.mean(widths) < 2.0**-66
    assert source.requests == 3 * (1 + 1 + sum(600 // d + 1 for d in (1, 10, 300)))


def test_a_stuck_source_of_bytes_is_an_error_and_no_endless_loop():
    class Zeros(Entropy):
        def random_bytes(self, count):
            return bytes(count)

    with pytest.raises(SolverFailed, match="randomness"):
        laws.laplace(Fraction(1), np.zeros(1), 30, Zeros())


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 60))
def test_offsets_split_doubles_exactly(value, grid):
    for points in (np.array([value]), [Fraction(value)], np.array([value, 1.7e308])):
        whole, part = balls.offsets(points, grid)[0]
        rest = Fraction(part) if isinstance(part, float) else Fraction(int(part.p), int(part.q))
        assert whole + rest == Fraction(value) * 2**grid
        assert abs(rest) < 1


@settings(max_examples=40)
@given(st.fractions(max_denominator=10**9), st.integers(0, 60), st.integers(0, 2**32))
def test_fractions_that_are_no_doubles_are_rounded_exactly(entropy, center, grid, seed):
    source = entropy(seed)
    (got,) = laws.laplace(Fraction(1, 7), [center], grid, source)
    first, second = uniforms_of(source.handed_out, 2, len(source.handed_out) * 4)
    assert got == on_grid(center + Fraction(1, 7) * (logarithm(first) - logarithm(second)), grid)


def test_precision_is_put_back_also_after_an_error():
    before = ctx.prec
    seen = []

    def interrupted():
        with balls.precision(333):
            seen.append(ctx.prec)
            with balls.precision(77):
                seen.append(ctx.prec)
            seen.append(ctx.prec)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        interrupted()
    assert seen == [333, 77, 333]
    assert ctx.prec == before


def test_threads_do_not_disturb_each_other(entropy):
    """Four threads at four precisions give what one thread gives."""
    scales = [Fraction(10) ** power for power in (-60, 0, 60, 200)]

    def draws(scale):
        return laws.laplace(scale, np.zeros(1500), 30, entropy(9)).tolist()

    alone = [draws(scale) for scale in scales]
    together: dict[int, list[float]] = {}
    threads = [
        threading.Thread(target=lambda at=at, scale=scale: together.update({at: draws(scale)}))
        for at, scale in enumerate(scales)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[at] for at in range(4)] == alone
    assert ctx.prec == 53


def test_multiples_that_no_double_holds_saturate():
    assert laws.from_grid([2**53 + 1, -(2**1100), 2**1100], 0).tolist() == [
        2.0**53, -np.finfo(float).max, np.finfo(float).max,
    ]

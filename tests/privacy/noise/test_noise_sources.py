"""`Noise`: three sources behind one door, streams that are drawn once, and arguments that are refused."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from confide.contract import InvalidInput, NoiseSource
from confide.privacy.noise import Noise, base, choices
from confide.privacy.noise.entropy import random_bits, random_bytes

METHODS = {
    "discrete_laplace": (2.0, 3),
    "discrete_gaussian": (2.0, 3),
    "laplace": (2.0, 3),
    "gaussian": (2.0, 3),
    "vector_laplace": (2.0, 3),
    "channel": ([[3, 1], [1, 3]], [0, 1, 1]),
    "selection": ([0.0, 1.0], 3),
    "split": (3,),
    "exponential": (3,),
    "words": (3,),
}
STORED = {
    "discrete_laplace": [1, -2, 0],
    "discrete_gaussian": [1, -2, 0],
    "laplace": [0.5, 0.25, -1.0],
    "gaussian": [0.5, 0.25, -1.0],
    "vector_laplace": [0.5, 0.25, -1.0],
    "channel": [0, 1, 0],
    "selection": [1, 1, 0],
    "split": [True, False, True],
    "exponential": [0.5, 2.0, 1.0],
    "words": [1, 2, 3],
}
MAKERS = {
    "secure": Noise.secure,
    "simulated": lambda: Noise.simulated(11),
    "replayed": lambda: Noise.replayed(STORED),
}


def test_the_documented_example_runs():
    result = doctest.DocTestRunner()
    for case in doctest.DocTestFinder().find(base.Noise, "Noise", globs={"Noise": Noise, "Fraction": Fraction}):
        result.run(case)
    assert result.summarize().attempted > 5
    assert result.summarize().failed == 0


def test_only_the_first_secure_draw_loads_the_heavy_parts():
    code = (
        "import sys; from confide.privacy.noise import Noise; Noise.secure();"
        "assert not {'opendp', 'flint', 'scipy'} & set(sys.modules), 'loaded'"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("method", METHODS)
def test_every_source_draws_every_law_and_each_stream_once(kind, method):
    noise = MAKERS[kind]()
    assert isinstance(noise, NoiseSource)
    assert noise.kind == kind
    assert noise.release_safe is (kind == "secure")
    values = getattr(noise, method)(*METHODS[method], stream=method)
    assert values.shape == (3,)
    whole = "discrete" in method or method in ("channel", "selection")
    assert values.dtype == {"split": np.bool_, "words": np.uint64}.get(method, np.int64 if whole else np.float64)
    for again in (method, (method,)):  # a word and the tuple of it are one name
        with pytest.raises(InvalidInput, match=r"already drawn; each .* once: make a new Noise for each run") as caught:
            getattr(noise, method)(*METHODS[method], stream=again)
        assert caught.value.field == "stream"
    for other, arguments in METHODS.items():  # a stream belongs to one draw, whatever its law
        with pytest.raises(InvalidInput, match="already drawn"):
            getattr(noise, other)(*arguments, stream=method)


def test_secure_noise_takes_no_seed_and_repeats_nothing():
    assert not inspect.signature(Noise.secure).parameters
    draws = [Noise.secure().gaussian(1.0, 8, stream="x").tolist() for _ in range(3)]
    assert len({tuple(draw) for draw in draws}) == 3
    splits_ = [tuple(Noise.secure().split(200, stream="x").tolist()) for _ in range(3)]
    assert len(set(splits_)) == 3
    with pytest.raises(AttributeError):
        Noise.simulated(1).release_safe = True


@pytest.mark.parametrize("method", METHODS)
def test_simulated_draws_depend_on_seed_and_name_alone(method):
    def draw(seed, stream, before=()):
        noise = Noise.simulated(seed)
        for other in before:
            noise.laplace(1.0, 5, stream=other)
        special = {"split": (50,), "exponential": (50,), "words": (50,), "channel": ([[1] * 9], [0] * 50),
                   "selection": (range(9), 50)}
        return getattr(noise, method)(*special.get(method, (100.0, 50)), stream=stream).tolist()

    reference = draw(3, ("a", 1))
    assert draw(3, ("a", 1), before=["b", ("a", 2)]) == reference
    others = [draw(4, ("a", 1)), draw(3, ("a", 2)), draw(3, ("a", "1")), draw(3, "a1"), draw(3, ("a", 1, 0))]
    assert all(other != reference for other in others)
    assert len({tuple(other) for other in others}) == len(others)


def test_simulated_values_stay_what_they_were():
    """The derivation of a stream's generator is part of what a study records: it must not change unnoticed."""
    assert Noise.simulated(7).discrete_laplace(100.0, 4, stream=("price", 3)).tolist() == [-4, -231, -190, -48]


def test_threads_change_nothing_and_share_the_refusal():
    def draws(noise, at):
        return noise.laplace(1.0, 20, stream=("t", at)).tolist()

    alone = Noise.simulated(5)
    expected = [draws(alone, at) for at in range(40)]
    shared = Noise.simulated(5)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda at: draws(shared, at), range(40))) == expected

    noise, wins = Noise.secure(), []

    def contend(_):
        try:
            wins.append(noise.laplace(1.0, 1, stream="one"))
        except InvalidInput:
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(contend, range(40)))
    assert len(wins) == 1


def test_a_refused_call_uses_no_stream_up():
    noise = Noise.simulated(1)
    with pytest.raises(InvalidInput):
        noise.laplace(-1.0, 2, stream="x")
    assert noise.laplace(1.0, 2, stream="x").shape == (2,)


def test_replayed_noise_is_added_and_rounded():
    third = Fraction(1, 3)
    tie = Fraction(1, 2) + Fraction(1, 10**30)
    noise = Noise.replayed(
        {
            "d": [[1, -2], [3, 4]],
            "f": [0.1, 0.2],
            "c": [0.1, 0.2],
            "q": [1.0, -1.0],
            "e": [0.0, 0.0],
            ("v", 0): [0.5, -0.25],
            "s": [True, False, True],
        }
    )
    assert noise.discrete_gaussian(1.0, (2, 2), stream="d").tolist() == [[1, -2], [3, 4]]
    assert noise.laplace(1.0, 2, stream="f", grid=2).tolist() == [0.0, 0.25]
    assert noise.gaussian(1.0, 2, stream="c", center=[1.0, -2.2], grid=1).tolist() == [1.0, -2.0]
    assert noise.laplace(1.0, 2, stream="q", center=[third, third], grid=2).tolist() == [1.25, -0.75]
    assert noise.laplace(1.0, 2, stream="e", center=[tie, 1 - tie], grid=0).tolist() == [1.0, 0.0]
    vector = noise.vector_laplace(1.0, 2, stream=("v", 0), center=[1.0, 1.0], stretch=[2.0, 4.0])
    assert vector.tolist() == [2.0, 0.0]
    assert noise.split(3, stream="s").tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("draws", "ask"),
    [
        ({}, lambda n: n.laplace(1.0, 1, stream="x")),
        ({"x": [1.0, 2.0]}, lambda n: n.laplace(1.0, 3, stream="x")),
        ({"x": [1.0, 2.0]}, lambda n: n.laplace(1.0, (1, 2), stream="x")),
        ({"x": [1.0, 2.0]}, lambda n: n.discrete_laplace(1.0, 2, stream="x")),
        ({"x": [True, True]}, lambda n: n.gaussian(1.0, 2, stream="x")),
        ({"x": [1, 0]}, lambda n: n.split(2, stream="x")),
        ({"x": [True, True]}, lambda n: n.split(2, stream="x")),
        ({"x": [1.0]}, lambda n: n.vector_laplace(1.0, 2, stream="x")),
        ({"x": [float("nan")]}, lambda n: None),
        ({"x": ["word"]}, lambda n: None),
        ({"x": [[1.0], [1.0, 2.0]]}, lambda n: None),
        ({"x": [1.0], ("x",): [2.0]}, lambda n: None),
    ],
)
def test_replayed_noise_that_does_not_fit_is_refused(draws, ask):
    with pytest.raises(InvalidInput) as caught:
        ask(Noise.replayed(draws))
    assert caught.value.field == "draws"


BAD_NUMBERS = [0, -1.0, float("nan"), float("inf"), True, "1", None, Fraction(-1, 3), Fraction(10) ** 400]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_bad_scales_name_their_field(kind, value):
    for method, field in [
        ("discrete_laplace", "scale"),
        ("discrete_gaussian", "noise_std"),
        ("laplace", "scale"),
        ("gaussian", "noise_std"),
        ("vector_laplace", "scale"),
    ]:
        with pytest.raises(InvalidInput) as caught:
            getattr(MAKERS[kind](), method)(value, 3, stream=method)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "ask"),
    [
        ("scale", lambda n: n.discrete_laplace(2.0**55 * 1.01, 1, stream="x")),
        ("noise_std", lambda n: n.discrete_gaussian(2.0**55 * 1.01, 1, stream="x")),
        ("scale", lambda n: n.laplace(Fraction(1, 10**400), 1, stream="x")),
        ("size", lambda n: n.laplace(1.0, -1, stream="x")),
        ("size", lambda n: n.laplace(1.0, (2, -1), stream="x")),
        ("size", lambda n: n.discrete_laplace(1.0, 2.0, stream="x")),
        ("size", lambda n: n.discrete_gaussian(1.0, [2], stream="x")),
        ("dimension", lambda n: n.vector_laplace(1.0, 0, stream="x")),
        ("dimension", lambda n: n.vector_laplace(1.0, 2.0, stream="x")),
        ("people", lambda n: n.split(-1, stream="x")),
        ("people", lambda n: n.split(True, stream="x")),
        ("grid", lambda n: n.laplace(1.0, 1, stream="x", grid=61)),
        ("grid", lambda n: n.gaussian(1.0, 1, stream="x", grid=-1)),
        ("grid", lambda n: n.vector_laplace(1.0, 1, stream="x", grid=2.5)),
        ("center", lambda n: n.laplace(1.0, 2, stream="x", center=[1.0])),
        ("center", lambda n: n.gaussian(1.0, 2, stream="x", center=[1.0, float("nan")])),
        ("center", lambda n: n.gaussian(1.0, 2, stream="x", center=[Fraction(1), float("inf")])),
        ("center", lambda n: n.gaussian(1.0, 2, stream="x", center=[Fraction(1), None])),
        ("center", lambda n: n.laplace(1.0, 2, stream="x", center=[True, False])),
        ("center", lambda n: n.laplace(1.0, 2, stream="x", center=["1", "2"])),
        ("center", lambda n: n.laplace(1.0, 2, stream="x", center=[1j, 2.0])),
        ("center", lambda n: n.laplace(1.0, 2, stream="x", center=[[1.0], [1.0, 2.0]])),
        ("center", lambda n: n.vector_laplace(1.0, 2, stream="x", center=1.0)),
        ("stretch", lambda n: n.vector_laplace(1.0, 2, stream="x", stretch=[1.0])),
        ("stretch", lambda n: n.vector_laplace(1.0, 2, stream="x", stretch=[1.0, 0.0])),
        ("stretch", lambda n: n.vector_laplace(1.0, 2, stream="x", stretch=[1.0, float("inf")])),
        ("stretch", lambda n: n.vector_laplace(1.0, 2, stream="x", stretch=["a", "b"])),
        ("stream", lambda n: n.laplace(1.0, 1, stream="")),
        ("stream", lambda n: n.laplace(1.0, 1, stream=())),
        ("stream", lambda n: n.laplace(1.0, 1, stream=("a", ""))),
        ("stream", lambda n: n.laplace(1.0, 1, stream=("a", 1.0))),
        ("stream", lambda n: n.laplace(1.0, 1, stream=("a", True))),
        ("stream", lambda n: n.laplace(1.0, 1, stream=["a"])),
        ("stream", lambda n: n.laplace(1.0, 1, stream="a\nb")),
        ("seed", lambda n: Noise.simulated(-1)),
        ("seed", lambda n: Noise.simulated(1.5)),
        ("seed", lambda n: Noise.simulated(None)),
    ],
)
def test_bad_input_names_its_field(field, ask):
    for maker in (Noise.secure, MAKERS["simulated"]):
        with pytest.raises(InvalidInput) as caught:
            ask(maker())
        assert caught.value.field == field


def test_messages_do_not_show_the_center():
    for center in ([1234567.0, float("nan")], [Fraction(1234567), "1234567"], [[1234567.0]]):
        with pytest.raises(InvalidInput) as caught:
            Noise.secure().laplace(1.0, 2, stream="x", center=center)
        assert "1234567" not in str(caught.value)


@pytest.mark.parametrize("kind", ["secure", "simulated"])
def test_shapes_centers_and_extremes(kind):
    noise = MAKERS[kind]()
    assert noise.laplace(1.0, (2, 3), stream="a", center=np.ones((2, 3))).shape == (2, 3)
    assert noise.gaussian(1.0, (), stream="b").shape == ()
    assert noise.gaussian(1.0, 0, stream="c").shape == (0,)
    assert noise.discrete_laplace(1.0, (2, 0), stream="d").shape == (2, 0)
    for stream, center in [("e", [1, 2]), ("f", np.array([1, 2], np.float32)), ("g", (Fraction(1), 2.0))]:
        near = noise.laplace(Fraction(1, 10**20), 2, stream=stream, center=center)
        assert near.tolist() == [1.0, 2.0]
    most = np.finfo(float).max
    saturated = noise.laplace(1e308, 400, stream="h", center=np.full(400, most))
    assert np.isfinite(saturated).all()
    assert (saturated == most).any()
    exact = noise.laplace(1e308, 2, stream="i", center=[Fraction(10) ** 400, -(Fraction(10) ** 400)])
    assert exact.tolist() == [most, -most]
    coarse = noise.vector_laplace(50.0, 30, stream="j", grid=0)
    assert (coarse == np.rint(coarse)).all()
    assert not np.signbit(noise.laplace(1e-30, 50, stream="k")).any()


@pytest.mark.parametrize("people", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("kind", ["secure", "simulated"])
def test_splits_are_balanced(kind, people):
    groups = MAKERS[kind]().split(people, stream="s")
    assert groups.dtype == bool
    assert (~groups).sum() == people // 2


def test_splits_are_uniform():
    """All ten balanced splits of five people; p > 1e-4 at a fixed seed. Control: a random rotation of one split."""
    arrangements = {frozenset(pair): at for at, pair in enumerate(combinations(range(5), 2))}

    def p_of(draws):
        counts = np.bincount([arrangements[frozenset(np.flatnonzero(~groups))] for groups in draws], minlength=10)
        return stats.chisquare(counts).pvalue

    generator = np.random.default_rng(17)
    assert p_of([choices.balanced(5, generator) for _ in range(4000)]) > 1e-4
    assert p_of([Noise.simulated(seed).split(5, stream="s") for seed in range(1000)]) > 1e-4
    fixed = choices.balanced(5, generator)
    assert p_of([np.roll(fixed, generator.integers(5)) for _ in range(4000)]) < 1e-9


def test_secure_splits_differ_between_people():
    """Real entropy: among 1000 splits of two people both arrangements come up; a false alarm has probability 2^-999."""
    assert {tuple(Noise.secure().split(2, stream="s").tolist()) for _ in range(1000)} == {(True, False), (False, True)}


def test_random_bits_are_the_leading_bits_of_the_bytes(entropy):
    assert entropy(0, given=b"\xff\xff").random_bits(9) == 2**9 - 1
    assert entropy(0, given=b"\x80").random_bits(1) == 1
    assert entropy(0).random_bits(0) == 0
    values = [entropy(at).random_bits(3) for at in range(200)]
    assert set(values) == set(range(8))
    assert len(random_bytes(32)) == 32
    assert len({random_bits(128) for _ in range(50)}) == 50
    for count in (-1, 1.5, True):
        with pytest.raises(InvalidInput):
            random_bits(count)
        with pytest.raises(InvalidInput):
            random_bytes(count)


def test_a_representation_shows_no_seed():
    assert "31337" not in repr(Noise.simulated(31337))
    assert repr(Noise.secure()) == "<secure noise, 0 streams drawn>"

"""A device's draws: exactly the laws that are named, and the same in Python and in the program, byte for byte."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confide.contract.errors import InvalidInput, SolverFailed
from confide.privacy.device_odds import LARGEST_LEVEL, AnswerOdds, device_odds
from confide.privacy.noise import exact_draws as exact
from device.engines import PROGRAM, run
from people.all_kinds import campaign_of, contracts
from people.device_follower import level_of, row_of

from false_alarms import alpha

LIMIT = alpha("device.law", cases=8)
BROWSER = Path(__file__).resolve().parents[2] / "browser"
CALLS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "uniform": (exact.uniform_below, [(1,), (2,), (6,), (255,), (256,), (257,), (10**6,), (2**64 + 1,)]),
    "bernoulli": (exact.bernoulli, [(0, 1), (1, 1), (1, 2), (1, 3), (999, 1000), (10**30, 3 * 10**30 + 1)]),
    "bernoulli_exp": (exact.bernoulli_exp, [(0, 1), (1, 2), (1, 1), (7, 2), (5 * 10**17, 10**18 + 9)]),
    "keep": (exact.shift_with_keep, [(3, 4, 2), (3, 4, 3), (1, 10, 10)]),
    "level": (exact.shift_at_level, [(1, 1, 2), (3, 2, 3), (2251799813685249, 2251799813685248, 2), (0, 1, 5)]),
    "laplace": (exact.discrete_laplace, [(1, 1), (5, 2), (1, 7), (10**12 + 1, 3)]),
    "gaussian": (exact.discrete_gaussian, [(1, 1), (9, 4), (1, 10), (10**24, 1)]),
}


class Stream:
    """Bytes that a test knows, in order.

    Args:
        data: the bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.used = data, 0

    def __call__(self, count: int) -> bytes:
        if self.used + count > len(self.data):
            raise EOFError
        self.used += count
        return self.data[self.used - count : self.used]


def cases(seed: int, draws: int) -> Iterator[tuple[str, tuple[int, ...], bytes]]:
    random = np.random.default_rng(seed)
    for name, (_, all_arguments) in CALLS.items():
        for arguments in all_arguments:
            yield name, arguments, random.bytes(draws * 2000)


@pytest.mark.parametrize("draws", [10, pytest.param(300, marks=pytest.mark.slow)])
def test_the_same_bytes_give_the_same_draws(draws: int) -> None:
    asked = list(cases(17, draws))
    answers = run([{"call": name, "arguments": [str(each) for each in arguments], "draws": draws, "bytes": data.hex()}
                   for name, arguments, data in asked])
    assert len(answers) == len(asked)
    for (name, arguments, data), answer in zip(asked, answers, strict=True):
        stream = Stream(data)
        found = [CALLS[name][0](*arguments, stream) for _ in range(draws)]
        shown = [str(each).lower() if isinstance(each, bool) else str(each) for each in found]
        assert (answer["found"], answer["used"], answer["problem"]) == (shown, stream.used, ""), (name, arguments)


def test_reports_are_the_same_as_those_of_a_device_that_was_written_apart() -> None:
    """By the instructions of the library's own kinds; what she types never stands in the row but by the draw."""
    random = np.random.default_rng(3)
    reported: list[tuple[dict[str, Any], dict[str, str]]] = []
    for name in ("bits", "bits-pair", "bits-unknown-costs"):
        it = campaign_of(name)
        found: Any = it.file.kind
        device = json.loads(json.dumps(found.device(it.file.config, it.plan)))
        costs = {} if "levels" not in device else {device["levels"]["worth"]: "0.2"}
        reported += [(device, {"answer": answer, **costs}) for answer in (*device["answers"], "", " ")]
    mean = campaign_of("mean")
    kind_: Any = mean.file.kind
    for row in contracts()["rows"][:3]:
        terms = kind_.terms(mean.file.config, contracts(), str(row[0] + 1))
        device = json.loads(json.dumps(kind_.device(mean.file.config, mean.plan, terms)))
        reported += [(device, {"record": text}) for text in ("0", "30", "79.99", "100", "-5", "1e1", "")]
    asked = [(device, typed, random.bytes(20_000)) for device, typed in reported]
    answers = run([{"call": "follow", "instructions": device, "typed": typed, "draws": 1, "bytes": data.hex()}
                   for device, typed, data in asked])
    for (device, typed, data), answer in zip(asked, answers, strict=True):
        assert answer["problem"] == ""
        (said,) = answer["found"]
        assert set(said["row"]) == {device["column"]}
        assert device["input"] in said["preview"]["stays"]
        stream = Stream(data)
        if not typed[device["input"]].strip():
            assert (said["row"][device["column"]], answer["used"]) == ("", 0)
            continue
        if device["law"] == "response":
            level = level_of(device, typed)
            if level is None:
                assert said["row"][device["column"]] == ""
                continue
            shift = exact.shift_at_level(level.numerator, level.denominator, 2, stream)
            expected = row_of(device, typed, drawn=0 if shift else 1)
            shown = said["preview"]["level"]
            assert (shown["numerator"], shown["denominator"]) == (str(level.numerator), str(level.denominator))
        else:
            sigma = int(device["sigma"])
            expected = row_of(device, typed, drawn=exact.discrete_gaussian(sigma * sigma, 1, stream))
        assert (said["row"], answer["used"]) == (expected, stream.used)


@pytest.mark.parametrize(("typed", "problem"), [
    ({"answer": "perhaps"}, "answer: is none of the answers"), ({"answer": "YES"}, "answer: is none of the answers")])
def test_what_cannot_be_used_is_not_repeated(typed: dict[str, str], problem: str) -> None:
    it = campaign_of("bits")
    found: Any = it.file.kind
    device = json.loads(json.dumps(found.device(it.file.config, it.plan)))
    (answer,) = run([{"call": "follow", "instructions": device, "typed": typed, "draws": 1, "bytes": "00" * 100}])
    assert answer["problem"] == f"NotUsable: {problem}"


class Choices:
    """In the place of uniform numbers: those of a path, and then the question how many the next could be.

    Args:
        path: the numbers.
    """

    class Open(Exception):
        """The path has ended before the draw has."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.at = path, 0

    def __call__(self, limit: int, _: object) -> int:
        if limit == 1:
            return 0
        if self.at == len(self.path):
            raise Choices.Open(limit)
        self.at += 1
        return self.path[self.at - 1]


def exact_law(
    monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any], arguments: tuple[int, ...], smallest: Fraction
) -> tuple[dict[Any, Fraction], Fraction]:
    """The probability of every outcome over all paths of uniform numbers, exactly, and that of paths not followed.

    Args:
        monkeypatch: of the test.
        call: the draw.
        arguments: its parameters.
        smallest: a path of smaller probability is not followed.
    """
    found: Counter[Any] = Counter()
    left, todo = Fraction(0), [((), Fraction(1))]
    while todo:
        path, weight = todo.pop()
        monkeypatch.setattr(exact, "uniform_below", Choices(path))
        try:
            found[call(*arguments, None)] += weight
        except Choices.Open as open_:
            (limit,) = open_.args
            if weight / limit < smallest:
                left += weight
            else:
                todo += [((*path, value), weight / limit) for value in range(limit)]
    return dict(found), left


@pytest.mark.parametrize(("name", "arguments", "law"), [
    ("bernoulli", (2, 7), lambda y: 2 / 7 if y else 5 / 7),
    ("bernoulli_exp", (1, 2), lambda y: math.exp(-0.5) if y else 1 - math.exp(-0.5)),
    ("bernoulli_exp", (3, 2), lambda y: math.exp(-1.5) if y else 1 - math.exp(-1.5)),
    ("keep", (3, 4, 3), lambda y: 0.75 if y == 0 else 0.125),
    ("level", (1, 1, 2), lambda y: 1 / (1 + math.exp(-1)) if y == 0 else 1 / (1 + math.e)),
    ("laplace", (1, 1), lambda y: (math.e - 1) / (math.e + 1) * math.exp(-abs(y))),
])
def test_exact_probabilities_over_all_paths(
    name: str, arguments: tuple[int, ...], law: Callable[[Any], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each outcome's probability lies between what was found of it, and that with all paths that were not followed."""
    found, left = exact_law(monkeypatch, CALLS[name][0], arguments, Fraction(1, 200_000))
    assert left < 0.04
    assert sum(found.values()) + left == 1
    for outcome, weight in found.items():
        assert float(weight) <= law(outcome) * (1 + 1e-12)
        assert law(outcome) <= float(weight + left) * (1 + 1e-12)


@given(st.integers(1, 40), st.integers(0, 300))
def test_a_uniform_draw_rejects_what_is_too_large(limit: int, byte: int) -> None:
    bits = (limit - 1).bit_length()
    stream = Stream(bytes([byte % 256, 0]))
    found = exact.uniform_below(limit, stream)
    masked = byte % 256 & ((1 << bits) - 1)
    assert found == (masked if masked < limit else 0)
    assert stream.used == (0 if limit == 1 else 1 if masked < limit else 2)


def laws() -> dict[str, tuple[tuple[int, ...], Callable[[int], float], range]]:
    """Name -> arguments, the law's density up to a factor, and the outcomes."""
    return {
        "laplace": ((5, 2), lambda y: math.exp(-abs(y) / 2.5), range(-12, 13)),
        "gaussian": ((9, 4), lambda y: math.exp(-y * y / 4.5), range(-6, 7)),
        "level": ((3, 2, 3), lambda y: math.exp(1.5) if y == 0 else 1.0, range(3)),
        "keep": ((3, 4, 3), lambda y: 0.75 if y == 0 else 0.125, range(3)),
    }


def p_value(draws: list[int], density: Callable[[int], float], outcomes: range) -> float:
    """Of a chi-square test; outcomes beyond the range count at its ends."""
    ends = range(outcomes.start - 400, outcomes.stop + 400) if outcomes.start < 0 else outcomes
    weights: Counter[int] = Counter()
    for y in ends:
        weights[min(max(y, outcomes[0]), outcomes[-1])] += density(y)  # type: ignore[assignment] # of floats
    seen = Counter(min(max(each, outcomes[0]), outcomes[-1]) for each in draws)
    total = sum(weights.values())
    expected = [len(draws) * weights[y] / total for y in outcomes]
    return float(stats.chisquare([seen[y] for y in outcomes], expected).pvalue)


@pytest.mark.parametrize("name", list(laws()))
def test_the_program_draws_its_law(name: str) -> None:
    arguments, density, outcomes = laws()[name]
    draws = 4000
    data = np.random.default_rng(23).bytes(draws * 150)
    given_ = [str(each) for each in arguments]
    (answer,) = run([{"call": name, "arguments": given_, "draws": draws, "bytes": data.hex()}])
    assert answer["problem"] == ""
    assert p_value([int(each) for each in answer["found"]], density, outcomes) > LIMIT


@pytest.mark.parametrize(("name", "old", "new"), [
    ("laplace", "part + numerator * BigInt(times)", "part + numerator * BigInt(times) + 1n"),
    ("level", "shift === 0n || taken", "shift === 0n || true"),
    ("keep", "1n + uniformBelow(categories - 1n", "uniformBelow(categories"),
    ("gaussian", "if (bernoulliExp(far * far", "if (true || bernoulliExp(far * far"),
])
def test_a_injected_bug_is_found(name: str, old: str, new: str, tmp_path: Path) -> None:
    """Off by one, no noise at all, a biased answer, a missing rejection."""
    text = PROGRAM.read_text(encoding="utf-8")
    assert old in text
    broken = tmp_path / "broken.mjs"
    broken.write_text(text.replace(old, new), encoding="utf-8")
    arguments, density, outcomes = laws()[name]
    data = np.random.default_rng(29).bytes(4000 * 150)
    given_ = [str(each) for each in arguments]
    (answer,) = run([{"call": name, "arguments": given_, "draws": 4000, "bytes": data.hex()}], broken)
    assert p_value([int(each) for each in answer["found"]], density, outcomes) < LIMIT


def test_what_is_out_of_range() -> None:
    source = Stream(b"\0" * 1000)
    for call, arguments in ((exact.uniform_below, (0,)), (exact.bernoulli, (2, 1)), (exact.bernoulli, (-1, 1)),
                            (exact.bernoulli_exp, (1, 0)), (exact.shift_at_level, (1, 1, 1)),
                            (exact.discrete_laplace, (0, 1)), (exact.discrete_gaussian, (1, -1))):
        with pytest.raises(InvalidInput):
            call(*arguments, source)  # type: ignore[operator]
    with pytest.raises(SolverFailed, match="broken"):
        exact.uniform_below(3, lambda count: b"\xff" * count)
    with pytest.raises(SolverFailed, match="broken"):
        exact.uniform_below(3, lambda _: b"")


def test_the_shipped_programs_are_those_whose_digests_are_shown() -> None:
    """All of the page where she types: what draws, keeps and sends, which is one file of two, and what forgets."""
    device = PROGRAM.with_name("device.js").read_bytes()
    assert device == PROGRAM.read_bytes() + (BROWSER / "page.js").read_bytes()
    assert not re.search(rb"^\s*import\b|\bimport\(|\bfrom \"", device, re.MULTILINE)  # which no digest would hold for
    lines = PROGRAM.with_name("programs.sha256").read_text(encoding="ascii").splitlines()
    assert lines == [f"{hashlib.sha256(PROGRAM.with_name(name).read_bytes()).hexdigest()}  {name}"
                     for name in ("device.js", "leave.js")]


RESPONSE = {"law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"]}
LATTICE = {"law": "lattice", "column": "r", "input": "answer", "low": "0", "high": "80"}


def at(numerator: int, denominator: int = 1) -> dict[str, Any]:
    """A response at a level."""
    return {**RESPONSE, "epsilon": {"numerator": str(numerator), "denominator": str(denominator)}}


def own(least: float, ceiling: float) -> dict[str, Any]:
    """A response at a level of her own."""
    return {**RESPONSE, "levels": {"worth": "worth", "epsilon": least, "threshold": 1.0, "ceiling": ceiling}}


def on(steps: int, sigma: int) -> dict[str, Any]:
    """Noise on a lattice."""
    return {**LATTICE, "steps": str(steps), "sigma": str(sigma)}


def too_long() -> dict[str, Any]:
    """A response at level 1, in numbers that are infinite as doubles."""
    return {**RESPONSE, "epsilon": {"numerator": "9" * 309, "denominator": "9" * 309}}


LIMITS: list[tuple[dict[str, Any], Any, str]] = [
    (at(10), 10, ""), (at(10 * 10**20 + 1, 10**20), 10, "LevelTooHigh"), (at(1000), 1000, "LevelTooHigh"),
    (at(1), 1, ""), (at(10**20 + 1, 10**20), 1, "LevelTooHigh"), (at(2), 1, "LevelTooHigh"),
    (own(0.5, 3.0), 3, ""), (own(0.5, 3.1), 3, "LevelTooHigh"), (own(700.0, 700.0), 700, "LevelTooHigh"),
    (own(0.5, 1e300), 1e300, "LevelTooHigh"),
    (on(400, 100), 8, ""), (on(401, 100), 8, "LevelTooHigh"), (on(2**60, 1), 1e300, "LevelTooHigh"), (on(0, 0), 0, ""),
    (on(1, 2**57), 10, "RangeError"), (on(80, 0), 10, "RangeError"), ({**on(80, 90), "high": "0"}, 10, "RangeError"),
    ({**at(1), "answers": ["yes", "yes"]}, 10, "RangeError"), ({**at(1), "answers": ["yes"]}, 10, "RangeError"),
    ({**own(1.0, 2.0), **at(0)}, 10, "RangeError"), (RESPONSE, 10, "RangeError"), (too_long(), 10, "RangeError"),
    ({**at(1), "law": "none"}, 10, "RangeError"), (at(1), "1", "RangeError"), (at(1), "", "RangeError"),
]


@pytest.mark.parametrize("answer", ["yes", "", "12"])
def test_no_level_above_the_largest_nor_above_the_stated_one(answer: str) -> None:
    """Instructions are judged before what is typed, whatever that is: and then no byte is drawn."""
    data = np.random.default_rng(31).bytes(20_000).hex()
    answers = iter(run([
        {"call": call, "instructions": reported, "typed": {"answer": answer, "worth": "0.5"}, "draws": 1, "bytes": data,
         "stated": stated} for reported, stated, _ in LIMITS for call in ("terms", "preview", "follow")]))
    for reported, stated, problem in LIMITS:
        terms, preview, followed = (next(answers) for _ in range(3))
        if problem:
            assert {each["problem"].partition(":")[0] for each in (terms, preview, followed)} == {problem}, reported
            assert followed["used"] == 0
        else:
            assert terms["problem"] == ""
            assert terms["found"][0]["level"] <= stated
            assert (preview["problem"], preview["used"]) == (followed["problem"], 0)


def test_the_largest_level_is_one_number() -> None:
    """The service opens no campaign in which no device would draw."""
    assert f"export const LARGEST_LEVEL = {LARGEST_LEVEL:g};" in PROGRAM.read_text(encoding="utf-8")


def test_what_the_device_says_beforehand_is_what_the_page_says() -> None:
    """The two compute it apart, from the same instructions."""
    cases: list[tuple[dict[str, Any], float]] = [(at(3, 2), 1.5), (own(0.5, 3.0), 3.0), (on(1000, 500), 2.0)]
    answers = run([{"call": "terms", "instructions": reported, "draws": 1, "bytes": ""} for reported, _ in cases])
    for (reported, level), answer in zip(cases, answers, strict=True):
        (terms,) = answer["found"]
        odds = device_odds(reported)
        assert terms["level"] == level
        assert terms["columns"] == [reported["column"]]
        assert terms["stays"] == ["answer", "worth"][: 1 + ("levels" in reported)]
        if isinstance(odds, AnswerOdds):
            assert terms["truth"] == pytest.approx(odds.most, rel=1e-14)
        else:
            assert odds is not None
            assert terms["deviation"] == pytest.approx(odds.deviation, rel=1e-14)


def test_the_program_touches_nothing_but_the_systems_randomness() -> None:
    """No network, no storage, no other randomness, nothing that is made into code."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", PROGRAM.read_text(encoding="utf-8"), flags=re.DOTALL)
    for word in ("Math.random", "fetch", "XMLHttpRequest", "WebSocket", "sendBeacon", "eval", "Function(", "import",
                 "localStorage", "document", "window", "Date", "performance"):
        assert word not in text, word
    assert text.count("crypto") == 1


@pytest.mark.slow
def test_the_source_compiles_to_the_shipped_program(tmp_path: Path) -> None:
    """Where TypeScript's compiler can be had: `npm install` in `browser/` brings it."""
    compiler = BROWSER / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        copy = tmp_path / "browser"
        shutil.copytree(BROWSER, copy, ignore=shutil.ignore_patterns("node_modules"))
        done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=copy, check=False,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        compiler = copy / "node_modules" / ".bin" / "tsc"
    subprocess.run([compiler, "-p", BROWSER, "--outDir", tmp_path / "out"], check=True, capture_output=True)
    assert (tmp_path / "out" / "noise.js").read_bytes() == PROGRAM.read_bytes()

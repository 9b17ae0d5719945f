"""CallbackDemand: the same as families that know their records, and no answer that breaks a rule, or a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from family_checks import least_dual, moves_at_most_sigma, played, shares_are_decodes, solver_agrees

from confide.contract.errors import InvalidInput, Refused
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import CallbackDemand, CappedAdditive, PrivDude, Program, UnitDemand
from confide.programs.grids import PRICE_UNIT
from confide.programs.instances import popular


class Listed:
    """Any values of sets, by enumeration."""

    def __init__(self, worth: dict[tuple[int, ...], float]) -> None:
        self.worth = worth

    def demand(self, prices: np.ndarray) -> tuple[int, ...]:
        gains = {goods: worth - sum(float(prices[j]) for j in goods) for goods, worth in self.worth.items()}
        best = max(gains, key=gains.__getitem__)
        return best if gains[best] > 0 else ()

    def value(self, goods: tuple[int, ...]) -> float:
        return self.worth.get(goods, 0.0)


class Answers:
    """Whatever it was told to answer."""

    def __init__(self, demand: Callable[[Any], Any], value: Callable[[Any], Any] = lambda _: 1.0) -> None:
        self.demand, self.value = demand, value


def complements(seed: int, goods: int = 4) -> Listed:
    """Values in [0, 1] of sets of up to two goods, of which pairs may be worth more than both alone."""
    draw = study_generator(seed)
    return Listed({bundle: float(draw.random()) ** (3 - len(bundle))
                   for d in (1, 2) for bundle in combinations(range(goods), d)})


def test_objects_that_want_one_good_are_unit_demand() -> None:
    values = popular(200, 4, seed=2)
    one, other = CallbackDemand(200, 20, goods=4, size=1), UnitDemand(200, 20, goods=4)
    units = np.rint(values.astype(float) * PRICE_UNIT) / PRICE_UNIT
    objects = [Listed({(j,): float(row[j]) for j in range(4)}) for row in units]
    assert one.constants == other.constants
    boards = []
    for program, data in ((one, objects), (other, values)):
        mechanism = PrivDude(program, epsilon=1.0, delta=1e-6, rounds=8, burn_in=4)
        outcome = mechanism.run(data, Noise.simulated(3))
        boards.append((outcome.billboard.prices.tolist(), outcome.shares.to_pydict(), outcome.diagnostics["value"]))
    assert boards[0] == boards[1]


def test_additive_objects_with_a_cap() -> None:
    draw = study_generator(1)
    other = CappedAdditive(40, 9, goods=5, cap=2, most=1.0)
    records = other.read(np.rint(draw.random((40, 5)) / 2 * PRICE_UNIT) / PRICE_UNIT)
    objects = [Listed({goods: float(row[list(goods)].sum()) / PRICE_UNIT for d in (1, 2)
                       for goods in combinations(range(5), d)}) for row in records.worth]
    one = CallbackDemand(40, 9, goods=5, size=2)
    for prices in draw.integers(0, PRICE_UNIT // 2, (5, 5)):
        actions = one.respond(one.read(objects), prices)
        assert np.array_equal(actions, other.respond(records, prices))
        assert np.array_equal(one.values(one.read(objects), actions), other.values(records, actions))


def test_without_noise_it_finds_the_optimum() -> None:
    """Spec convex_programs 11.4, of goods that are complements."""
    program, objects = CallbackDemand(20, 6, goods=4, size=2), [complements(i) for i in range(20)]
    found = played(program, objects, rounds=200)
    assert abs(found.gap) < 0.01
    assert found.excess < 0.005
    assert least_dual(program.linear_program(program.read(objects)), program.taus) <= 1 + 1e-6


def test_the_program_for_a_solver() -> None:
    program = CallbackDemand(12, 3, goods=4, size=2)
    records = program.read([None, *map(complements, range(11))])
    for prices in study_generator(4).integers(0, PRICE_UNIT, (3, 4)):
        solver_agrees(program, records, prices)
    assert program.linear_program(records).size == 11 * 10
    large = CallbackDemand(12, 3, goods=100, size=3)
    with pytest.raises(Refused, match="too many for a solver"):
        large.linear_program(large.read([None] * 12))


def test_responses_move_loads_by_sigma_at_most() -> None:
    program = CallbackDemand(2, 1, goods=4, size=2)
    for seed in range(20):
        prices = study_generator(seed).integers(0, PRICE_UNIT // 2, (2, 4))
        moves_at_most_sigma(program, program.one(complements(seed)), program.one(complements(seed + 50)), *prices)


def test_shares() -> None:
    objects = [complements(i) for i in range(60)]
    shares_are_decodes(CallbackDemand(60, 10, goods=4, size=2), objects, objects.__getitem__)


PAIR = Listed({(0,): 0.5, (2, 3): 1.0})


class Own(BaseException):
    """No exception that anybody catches."""


def endless() -> Iterator[int]:
    while True:
        yield 0


def failing(error: BaseException) -> Callable[[Any], Any]:
    def asked(_: Any) -> Any:
        raise error

    return asked


def spoiling(prices: np.ndarray) -> tuple[int, ...]:
    prices[:] = 0.0
    return ()


@pytest.mark.parametrize("bad", [
    Answers(lambda _: (0, 0)), Answers(lambda _: (4,)), Answers(lambda _: (-1,)), Answers(lambda _: (0, 1, 2)),
    Answers(lambda _: (0.0,)), Answers(lambda _: ("0",)), Answers(lambda _: (True,)), Answers(lambda _: None),
    Answers(lambda _: 1), Answers(lambda _: (10**30,)), Answers(lambda _: endless()),
    Answers(failing(ValueError("17"))), Answers(failing(SystemExit(3))),
    Answers(failing(MemoryError())), Answers(failing(StopIteration())), Answers(failing(KeyboardInterrupt("secret"))),
    Answers(failing(Own("secret"))), Answers(failing(GeneratorExit())), Answers(lambda _: (0,), failing(Own("secret"))),
    Answers(lambda _: (0,), failing(KeyboardInterrupt())), Answers(lambda _: (Own,)),
    Answers(lambda _: (0,), lambda _: np.nan), Answers(lambda _: (0,), lambda _: np.inf),
    Answers(lambda _: (0,), lambda _: 1.0001), Answers(lambda _: (0,), lambda _: -0.1),
    Answers(lambda _: (0,), lambda _: "1"), Answers(lambda _: (0,), lambda _: None),
    Answers(lambda _: (0,), lambda _: 1j), Answers(lambda _: (0,), failing(KeyError("secret"))),
    Answers(lambda _: (0,), lambda _: 0.25), Answers(spoiling)])
def test_an_answer_against_the_rules_is_nothing(bad: Answers, capfd: pytest.CaptureFixture[str]) -> None:
    """Nor one that costs what it is worth; the others get what they would, and nobody sees an error."""
    program = CallbackDemand(3, 1, goods=4, size=2)
    prices = np.full(4, PRICE_UNIT // 4)
    records = program.read([PAIR, bad, PAIR])
    actions = program.respond(records, prices)
    assert actions[1].tolist() == [-1, -1]
    assert actions[0].tolist() == actions[2].tolist() == [2, 3]
    assert program.values(records, np.full((3, 2), -1, np.int32)).tolist() == [0, 0, 0]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("fine", [
    Answers(lambda _: [2, 0]), Answers(lambda _: {0, 2}), Answers(lambda _: iter((0, 2))),
    Answers(lambda _: np.array([2, 0], np.uint8)), Answers(lambda _: (0, 2), lambda goods: Fraction(len(goods), 2)),
    Answers(lambda _: (0, 2), lambda _: np.float32(1)), Answers(lambda _: (0, 2), lambda _: 1)])
def test_answers_that_keep_to_the_rules(fine: Answers) -> None:
    program = CallbackDemand(1, 1, goods=4, size=2)
    actions = program.respond(program.one(fine), np.full(4, PRICE_UNIT // 4))
    assert actions.tolist() == [[0, 2]]
    assert program.values(program.one(fine), actions).tolist() == [PRICE_UNIT]


class Odd:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    @property
    def demand(self) -> Any:
        raise self.error


@pytest.mark.parametrize("bad", [
    3, "demand", Odd(RuntimeError("secret")), Odd(Own("secret")), Odd(SystemExit(1)), Odd(KeyboardInterrupt()),
    object(), Listed])
def test_what_cannot_be_asked_is_no_record(bad: Any) -> None:
    program = CallbackDemand(3, 1, goods=4, size=2)
    rows = [PAIR, bad, None]
    if bad is not Listed:  # a class has both methods: its calls fail
        with pytest.raises(InvalidInput, match="row 1"):
            program.read(rows)
        with pytest.raises(InvalidInput, match="lacks a method"):
            program.one(bad)
    records = program.read(rows, unusable="null")
    assert program.respond(records, np.zeros(4, np.int64)).tolist() == [[2, 3], [-1, -1], [-1, -1]]


@pytest.mark.parametrize("error", [Own("secret"), KeyboardInterrupt("secret"), SystemExit("secret")])
def test_no_object_ends_a_release(error: BaseException) -> None:
    """Nor a decode, an optimum or a value: what it raises is no answer, wherever it is asked."""
    program = CallbackDemand(3, 1, goods=4, size=2)
    bad: Any = Answers(failing(error), failing(error))
    mechanism = PrivDude(program, epsilon=1.0, delta=1e-6, rounds=3, burn_in=1)
    outcome = mechanism.run([PAIR, bad, Odd(error)], Noise.secure())
    for place in (1, 2):
        share = {name: outcome.shares[name][place].as_py() for name in ("actions", "times")}
        assert share == {"actions": [-1, -1], "times": [3]} == mechanism.decode(None, place, outcome.billboard)
    assert mechanism.decode(bad, 1, outcome.billboard) == share
    records = program.read([PAIR, bad, None])
    assert program.linear_program(records).size == 2
    assert program.values(records, np.array([[2, 3], [0, -1], [0, -1]], np.int32)).tolist() == [PRICE_UNIT, 0, 0]


def test_of_so_many_slots() -> None:
    program: Program = CallbackDemand(2, 1, goods=4, size=2)
    for data in ([None] * 3, None, "ab", 7):
        with pytest.raises(InvalidInput, match="records"):
            program.read(data)
    records = program.read(np.array([complements(1), None], dtype=object))
    assert repr(records) == "<OracleRecords of 2 participants>"
    assert program.read(records) is records
    for options in ({"size": 0}, {"size": 5}, {"size": 1.5}):
        with pytest.raises(InvalidInput):
            CallbackDemand(2, 1, goods=4, **options)  # type: ignore[arg-type]

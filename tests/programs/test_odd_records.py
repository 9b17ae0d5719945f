"""One person's row can be anything: it is the null record in a release, named in a study, and changes nobody else's.

Of every family whose records are read from rows; objects that are asked for their wishes have their own tests beside.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from convex_models import KNAPSACKS
from hypothesis import given
from hypothesis import strategies as st

from confide.campaign.kinds import SlotRows
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.programs import (
    AggregativeGame,
    CallbackDemand,
    CappedAdditive,
    Electricity,
    Flow,
    Knapsack,
    PrivDude,
    Program,
    SharedResources,
    UnitDemand,
    XorBundles,
)
from confide.programs.grids import PRICE_UNIT
from confide.programs.slots import collected, layout
from confide.programs.tables import answered, cells, each_aside, numbers

PEOPLE, WHO = 4, 1


class Own(BaseException):
    """No exception that anybody catches."""


class Fails:
    """Whatever is done with it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def _fail(self, *given: Any, **named: Any) -> Any:
        raise self.error

    __array__ = __len__ = __iter__ = __getitem__ = __float__ = __index__ = __int__ = __le__ = __ge__ = __eq__ = _fail
    __hash__ = None  # type: ignore[assignment]

    @property
    def __class__(self) -> Any:
        raise self.error

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise self.error


class Real(float):
    """A number that says something else of itself."""

    def __float__(self) -> float:
        raise Own("secret")

    def __le__(self, other: object) -> bool:
        return True

    __ge__ = __lt__ = __gt__ = __le__


class Endless(Sequence[Any]):
    """As long as it has to be, and then goes on."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: Any) -> Any:
        return 0.5


class Lying(list[Any]):
    def __len__(self) -> int:
        return 10**9

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield 0.25


def odd_objects() -> list[Any]:
    return [
        None, "0.5", b"0.5", "", 7, 0.5, {}, {"worth": 1}, {0.5}, object(), Ellipsis, Endless(), [Endless()] * 3,
        [], [[]], [[0.5]], [None], ["0.5"],
        [0.5] * 40, [[0.5, 0.5, 0.5]], np.full(40, 0.5), np.array("a"), np.array(["a", "b", "c"]), np.array(None),
        np.array([object()]), 10**400, [10**400] * 3, [np.nan] * 3, [np.inf] * 3, [1j] * 3, [0.5, "0.5", 0.5],
        [Real(7.0)] * 3, [Fails(ValueError("17"))] * 3, Fails(ValueError("17")), Fails(Own("secret")),
        Fails(SystemExit(3)), Fails(KeyboardInterrupt()), Fails(MemoryError()), Fails(GeneratorExit()), Lying([0.5]),
        (0.5 for _ in range(3)), np.array([[0.5, None, "a"]], dtype=object)]


@dataclass(frozen=True)
class Family:
    """A program, its tables as lists of rows, and how they are put together."""

    program: Program
    tables: tuple[list[Any], ...]
    joined: Callable[..., Any] = lambda *tables: tables if len(tables) > 1 else tables[0]


def families() -> dict[str, Family]:
    parts = [[[0.5, -1.0], [-0.25, 0.5]]] * PEOPLE
    models = KNAPSACKS.program(PEOPLE)
    return {
        "unit": Family(UnitDemand(PEOPLE, (1.0, 2.0, 1.0)), ([[0.5, 0.25, 1]] * PEOPLE,)),
        "capped": Family(CappedAdditive(PEOPLE, (1.0, 2.0, 1.0), cap=2, most=1.5), ([[0.5, 0.25, 1]] * PEOPLE,)),
        "shared": Family(SharedResources(PEOPLE, needs=((0,), (0, 1)), costs=(0.5, 0.25)), ([[0.5, 0.25]] * PEOPLE,)),
        "xor": Family(XorBundles(PEOPLE, (1.0,) * 3, size=2, bids=2), ([[((0, 1), 0.5), ((2,), 0.25)]] * PEOPLE,)),
        "knapsack": Family(Knapsack(PEOPLE, (1.0, 1.0), least_weight=0.25), ([[0.5, 0.25, 1]] * PEOPLE,)),
        "knapsack in two": Family(Knapsack(PEOPLE, (1.0, 1.0), least_weight=0.25),
                                  ([0.5] * PEOPLE, [[0.25, 1]] * PEOPLE)),
        "flow": Family(Flow(PEOPLE, 1.0, arcs=((0, 1), (1, 2), (0, 2)), hops=2, escape=3.0),
                       ([[0, 2, 0.25, 0.25, 1.0]] * PEOPLE,)),
        "flow at public costs": Family(Flow(PEOPLE, 1.0, arcs=((0, 1), (1, 2)), hops=2, escape=3.0, costs=(0.5, 0.5)),
                                       ([[0, 2]] * PEOPLE,)),
        "power": Family(Electricity(PEOPLE, 1.0, most=2, intervals=2, slots=2),
                        ([[[0.25, 0.5], [0.0, 0.75]]] * PEOPLE,)),
        "power with needs": Family(Electricity(PEOPLE, 1.0, most=2, intervals=2, slots=2, shortfall=0.5),
                                   ([[[0.25, 0.5], [0.0, 0.75]]] * PEOPLE, [[1, 0]] * PEOPLE)),
        "game": Family(AggregativeGame(PEOPLE, (0.5, 0.0), actions=2, largest=1.0), (parts, [[True, True]] * PEOPLE)),
        "own": Family(models, ([[0.5, 0.25, 1]] * PEOPLE, [[0.5, 0.25, 1]] * PEOPLE),
                      lambda worth, weight: {"worth": worth, "weight": weight}),
    }


FAMILIES = families()


def with_row(family: Family, table: int, odd: Any) -> Any:
    """Its data, with something else in one person's row of a table."""
    tables = [list(one) for one in family.tables]
    tables[table][WHO] = odd
    return family.joined(*tables)


def is_the_null_record(family: Family, data: Any) -> None:
    """The odd row is that of a slot without one, all others are as they would be."""
    program = family.program
    found, usual = program.read(data, unusable="null"), program.read(family.joined(*map(list, family.tables)))
    others = np.arange(PEOPLE) != WHO
    for each in fields(found):
        if each.name not in ("people", "reader"):
            mine, theirs = getattr(found, each.name), getattr(usual, each.name)
            assert mine.dtype == theirs.dtype
            assert np.array_equal(mine[others], theirs[others])
    own, prices = found.take(slice(WHO, WHO + 1)), np.zeros(program.rows, np.int64)
    chosen = program.respond(own, prices)
    assert np.array_equal(chosen, program.respond(program.one(None), prices))
    assert not program.contributions(own, chosen).any()


@pytest.mark.parametrize("name", FAMILIES)
def test_an_odd_row_is_the_null_record_and_named_in_a_study(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    family = FAMILIES[name]
    for table in range(len(family.tables)):
        for odd in odd_objects():
            plain = type(odd) in (int, float) and not isinstance(family.tables[table][WHO], list)
            if (plain and odd != 7) or (name == "xor" and (odd is None or (type(odd) is list and odd == []))):
                continue  # a record after all
            is_the_null_record(family, with_row(family, table, odd))
            with pytest.raises(InvalidInput, match=f"row {WHO} cannot be used"):
                family.program.read(with_row(family, table, odd))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "knapsack in two"])
def test_nobody_stops_a_release(name: str) -> None:
    family = FAMILIES[name]
    program = family.program
    mechanism = PrivDude(program, 1.0, 1e-6, rounds=2, burn_in=0)
    for odd in (Fails(Own("secret")), "0.5", [0.5] * 40):
        outcome = mechanism.run(with_row(family, 0, odd), Noise.secure())
        share = {column: outcome.shares[column][WHO].as_py() for column in outcome.shares.column_names}
        assert share == mechanism.decode(None, WHO, outcome.billboard)
        with pytest.raises(InvalidInput):
            mechanism.run(with_row(family, 0, odd), Noise.simulated(1))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3)
    | st.complex_numbers() | st.fractions() | st.decimals(), lambda inner: st.lists(inner, max_size=4) | st.tuples(
        inner, inner) | st.dictionaries(st.text(max_size=2), inner, max_size=2), max_leaves=6)


@given(ANYTHING, st.sampled_from(sorted(FAMILIES)), st.integers(0, 1))
def test_any_row_is_read_as_it_is_read_alone_or_null(odd: Any, name: str, table: int) -> None:
    """Whoever decodes finds the record that the run took: her own check refuses what counts as null there."""
    family = FAMILIES[name]
    program, place = family.program, table % len(family.tables)
    data = with_row(family, place, odd)
    program.read(data, unusable="null")
    alone = [list(one)[WHO] for one in family.tables]
    alone[place] = odd
    try:
        mine = program.one(family.joined(*alone) if len(alone) > 1 else odd)
    except InvalidInput:
        is_the_null_record(family, data)
        return
    found = program.read(data, unusable="null").take(slice(WHO, WHO + 1))
    for prices in (np.zeros(program.rows, np.int64), program.highest_prices):
        assert np.array_equal(program.respond(found, prices), program.respond(mine, prices))


def test_rows_and_arrays_are_the_same_table() -> None:
    rows = [[0.5, 0.25, 1], (Fraction(1, 2), Decimal("0.25"), True), np.array([0.5, 0.25, 1], np.float32),
            [np.float64(0.5), np.int8(0), Real(1.0)]]
    wanted = np.array([[0.5, 0.25, 1], [0.5, 0.25, 1], [0.5, 0.25, 1], [0.5, 0, 1]])
    for data in (rows, tuple(rows), np.array(rows, dtype=object), wanted, wanted.tolist(), wanted.astype(np.float32)):
        assert np.array_equal(numbers("records", data, (4, 3), "refuse"), wanted)
    assert cells(range(3), (3,)).tolist() == [0, 1, 2]
    ragged = np.empty(4, dtype=object)
    ragged[:] = [[0.5, 0.25, 1], [1], None, [0.5, 0, 1]]
    assert np.isnan(numbers("records", ragged, (4, 3), "null")).all(axis=1).tolist() == [False, True, True, False]


@pytest.mark.parametrize("data", [
    None, 3, "abcd", b"abcd", {}, iter([]), np.zeros((4, 2)), np.zeros((3, 3)), np.zeros(4), np.array("a"),
    np.full((4, 3), "a"), np.zeros((4, 3), complex), [[0.5] * 3] * 3, [], np.array(None)])
def test_what_is_of_the_whole_table_is_refused_in_any_case(data: Any) -> None:
    for unusable in ("refuse", "null"):
        with pytest.raises(InvalidInput, match="records"):
            numbers("records", data, (4, 3), unusable)  # type: ignore[arg-type]


def test_single_precision_does_not_move_the_ends_of_a_range() -> None:
    """0.3 in single precision is above 0.3: out of range beside doubles and without them."""
    game = AggregativeGame(2, (0.0,), actions=1, largest=0.3)
    parts = np.full((2, 1, 1), 0.3, np.float32)
    assert float(parts[0, 0, 0]) > 0.3
    with pytest.raises(InvalidInput, match="row 0"):
        game.read((parts, np.ones((2, 1))))
    with pytest.raises(InvalidInput):
        game.one((parts[0], [True]))


def test_an_operator_stops_what_does_not_come_back() -> None:
    """Her interrupt is told from one that an object raises, whatever the object does."""
    begun, ended = threading.Event(), threading.Event()

    def slow(_: int) -> None:
        begun.set()
        answered(lambda: ended.wait(30), None)

    def interrupt() -> None:
        begun.wait(30)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where tests run unattended
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            each_aside(slow, range(10**6))
    finally:
        signal.signal(signal.SIGINT, before)
        ended.set()


def test_a_fault_of_ours_is_none_of_an_objects() -> None:
    def wrong(_: int) -> None:
        raise LookupError("ours")

    with pytest.raises(LookupError, match="ours"):
        each_aside(wrong, range(3))
    inside: list[Any] = []
    thread = threading.Thread(target=lambda: inside.append(each_aside(lambda i: i + PRICE_UNIT, range(2))))
    thread.start()
    thread.join()
    assert inside == [[PRICE_UNIT, PRICE_UNIT + 1]]


def test_cells_that_are_no_goods_are_null_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    program = XorBundles(3, (1.0,) * 3, size=1, bids=1)
    for odd in (np.inf, -np.inf, 1e300, 0.5, -3.0, 3.0):
        there = SlotRows(np.arange(3), np.array([[0.0, 0.5], [odd, 0.5], [2.0, 0.5]]))
        records = collected(program, iter([there]))
        assert records.worth.any(axis=1).tolist() == [True, False, True]
    assert not recwarn.list


def test_layouts_of_families() -> None:
    flow = Flow(2, 1.0, arcs=((0, 1), (1, 2)), hops=2, escape=3.0)
    assert layout(flow).width == 4
    records = collected(flow, iter([SlotRows(np.array([1]), np.array([[0.0, 2.0, 0.25, 0.5]]))]))
    assert records.ends.tolist() == [[-1, -1], [0, 2]]
    for program, says in ((CallbackDemand(2, (1.0,), size=1), "objects"), (KNAPSACKS.program(2), "rows of numbers")):
        with pytest.raises(InvalidInput, match=says):
            layout(program)

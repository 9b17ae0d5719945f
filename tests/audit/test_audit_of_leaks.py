"""The audit of any mechanism is put to raw releases beside sound noise: none passes, and none that is sound fails."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.audit import exact_bytes
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.random_pairs import met
from confide.contract import Billboard, Guarantees, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.privacy import PureDP
from confide.privacy.events import PureEvent
from confide.tables import Category, Numeric

PEOPLE = 60
YES = (Category(column="a", levels=("no", "yes")),)
BITS = tuple(Category(column=name, levels=("no", "yes")) for name in "abcd")
LEVELS = (Category(column="a", levels=tuple(map(str, range(20)))),)
NUMBER = (Numeric(column="a", lower=0, upper=10),)
PUBLIC = Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                 source=Source(document="a", statement="b"))
COLLECTOR = replace(PUBLIC, audience=Audience.COLLECTOR)


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    """A noisy count, and what is shown besides."""

    count: np.ndarray
    shown: float


@dataclass(frozen=True, kw_only=True)
class Leaky(Mechanism):
    """A count with Laplace noise at a loss of `loss`, and something beside it.

    Args:
        shows: one of `SHOWN`, of everybody's cells, the data, and the answer; NaN of who has no record.
        says: one of `SAID`.
        hands_in: one of `HANDED_IN`.
    """

    shows: str = ""
    says: str = ""
    hands_in: str = ""
    columns: int = 1
    loss: float = 1.0
    promises: tuple[Privacy, ...] = (PUBLIC,)
    share: Any = 0.0

    def guarantees(self) -> Guarantees:
        return Guarantees(self.promises)

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=1.0, neighbours=Relation.REPLACE),)

    def run(self, data: Any, noise: Any) -> Any:
        cells = np.full((PEOPLE, self.columns), np.nan)
        for batch in data:
            cells[batch.index] = batch.cells
        if self.says:
            SAID[self.says][0](cells)
        count = noise.laplace(1.0 / self.loss, 1, stream="count", center=[float(np.nansum(cells[:, 0] > 0))])
        shown = float(SHOWN[self.shows][1](cells, data, count[0])) if self.shows else 0.0
        return self._outcome(noise, billboard=Board(count=count, shown=shown),
                             shares=pa.Table.from_pylist([{"it": self.share}] * PEOPLE))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": self.share}

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> Any:
        own = -2.0 if private is None else float(private[0])
        return HANDED_IN[self.hands_in](own, noise.laplace(3.0, 1, stream="report", center=[own]))


def report(roles: Any = YES, tries: int = 0, **how: Any) -> Any:
    return audit_mechanism(Leaky(columns=len(roles), **how), roles, PEOPLE, seed=5, tries=tries)


def whole(cells: np.ndarray) -> int:
    return int(np.isfinite(cells[:, 0]).sum())


def first_of_three(data: Any) -> float:
    first = next(iter(data), None)
    return float(first.cells[0, 0]) if first is not None and len(first.index) > 2 else 0.0


SHOWN: dict[str, tuple[Any, Callable[[np.ndarray, Any, float], Any]]] = {
    "a function that vanishes at the ends": (NUMBER, lambda cells, *_: np.nansum(1 - np.abs(cells))),
    "level 1 of 20": (LEVELS, lambda cells, *_: np.sum(cells == 1)),
    "the combination 1010": (BITS, lambda cells, *_: np.sum((cells == [1, 0, 1, 0]).all(axis=1))),
    "slot 8": (YES, lambda cells, *_: np.nan_to_num(cells[7, 0], nan=-1)),
    "exactly 13 yes": (YES, lambda cells, *_: np.nansum(cells) == 13),
    "more than 33 of 60": (YES, lambda cells, *_: np.nansum(cells) > 33),
    "ten people, half yes": (YES, lambda cells, *_: whole(cells) == 10 and np.nansum(cells) == 5),
    "the first row of three or more": (YES, lambda cells, data, _: first_of_three(data)),
    "rarely": (NUMBER, lambda cells, _, answer: np.nansum(cells) if answer % 1.0 < 0.004 else 0),
    "the sum": (YES, lambda cells, *_: np.nansum(cells)),
}
"""What is shown past the noise."""

_BY_CHANCE = "rarely"  # all else is gone through


@pytest.mark.slow
@pytest.mark.parametrize("what", fast(4, [name for name in SHOWN if name != _BY_CHANCE]))
def test_what_shows_in_one_place_is_found(what: str) -> None:
    found = report(SHOWN[what][0], shows=what)
    assert not found.passed
    assert found.problems[0].endswith("measured inf")


@pytest.mark.slow
def test_what_is_rare_is_met_by_chance_as_often_as_the_row_says() -> None:
    """The sum in four of a thousand histories: 500 pairs meet it with probability .87, 3,000 with .999994."""
    found = report(NUMBER, 3000, shows=_BY_CHANCE)
    assert not found.passed
    assert found.problems[0].endswith("measured inf")
    assert 1 - (1 - met(3000)) ** 3000 == pytest.approx(0.99)
    (row,) = (row for row in report(tries=100).rows if row.holds)
    assert ("100 of them random, each with its own noise. The audit finds a fault that shows in 0.045 of random "
            "pairs") in row.note
    assert "not a proof" in row.note
    assert "files, network" in row.note


def failing(cells: np.ndarray) -> None:
    if np.nansum(cells) == 3:
        raise ValueError(f"bad {cells}")


def always_failing(cells: np.ndarray) -> None:
    raise KeyError


def failing_on_many(cells: np.ndarray) -> None:
    if whole(cells) > 5:
        raise KeyError


def warning(cells: np.ndarray) -> None:
    if cells[-1, 0] == 1:
        warnings.warn("the last one said yes", stacklevel=1)


SAID: dict[str, tuple[Callable[[np.ndarray], Any], str, float]] = {
    "an exception on one of two": (failing, "fails on one of two neighbours (ValueError)", np.inf),
    "an exception from six people on": (failing_on_many, "fails on one of two neighbours (KeyError)", np.inf),
    "an exception on both": (always_failing, "fails in the same way on both synthetic neighbours (KeyError)", np.nan),
    "a warning": (warning, "warnings, prints or logs of the run differ", np.inf),
    "standard output": (lambda cells: print(np.nansum(cells)), "warnings, prints or logs of the run differ", np.inf),
    "standard error": (lambda cells: print(np.nansum(cells), file=sys.stderr), "prints or logs of the run differ",
                       np.inf),
    "bytes, standard output": (lambda cells: sys.stdout.buffer.write(np.nansum(cells).tobytes()), "prints or", np.inf),
    "bytes, standard error": (lambda cells: sys.stderr.buffer.write(np.nansum(cells).tobytes()), "prints or", np.inf),
    "standard output as found": (lambda cells: print(np.nansum(cells), file=sys.__stdout__), "prints or", np.inf),
    "standard error as found": (lambda cells: print(np.nansum(cells), file=sys.__stderr__), "prints or", np.inf),
    "a log": (lambda cells: logging.getLogger("a").warning("%s", np.nansum(cells)), "prints or logs of the run differ",
              np.inf),
    "the same": (lambda _: print("counting"), "", 0.0),
}


@pytest.mark.parametrize("what", [name for name in SAID if name != "the same"])
def test_what_a_run_says_besides_is_observed(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, why, measured = SAID[what]
    (row, *_) = (row for row in report(says=what).rows if row.flagged)
    assert why in row.evidence
    assert row.measured == pytest.approx(measured, nan_ok=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_what_is_said_alike_breaks_nothing_and_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(says="the same")
    assert found.passed, found.problems
    (row,) = (row for row in found.rows if row.holds)
    assert "the run warned, printed or logged, with equal texts for both neighbours" in row.note
    assert capsys.readouterr().out == ""


@dataclass(frozen=True)
class Hiding:
    """It prints without what it holds."""

    noisy: float
    true: float = field(repr=False)


class Bare:
    """No dataclass, and its print shows nothing."""

    def __init__(self, true: float) -> None:
        self.true = true

    def __repr__(self) -> str:
        return "Bare"


def long(own: float) -> np.ndarray:
    found = np.zeros(2000)
    found[1000] = own
    return found


HANDED_IN: dict[str, Callable[[float, np.ndarray], Any]] = {
    "digits below the printed ones": lambda own, noisy: np.round(noisy, 3) + (own + 5) * 1e-12,
    "place 1000 of an array": lambda own, noisy: (noisy, long(own)),
    "an array in a mapping without texts": lambda own, noisy: {1: noisy, 2: long(own)},
    "a field that is not shown": lambda own, noisy: Hiding(noisy=float(noisy[0]), true=own),
    "an attribute": lambda own, noisy: (float(noisy[0]), Bare(own)),
    "a set": lambda own, noisy: {float(noisy[0]), own},
    "noise alone": lambda own, noisy: noisy,
}


@pytest.mark.parametrize("what", [name for name in HANDED_IN if name != "noise alone"])
def test_reports_are_compared_to_the_last_bit(what: str) -> None:
    (row, *_) = (row for row in report(NUMBER, hands_in=what, promises=(COLLECTOR,)).rows if row.flagged)
    assert row.holds == (COLLECTOR.sentence(),)
    assert row.measured == np.inf


def test_a_report_of_noise_alone_passes() -> None:
    found = report(NUMBER, hands_in="noise alone", promises=(COLLECTOR,))
    assert found.passed, found.problems


def test_values_that_print_alike_are_distinguished() -> None:
    one, other = np.array([1.0]), np.array([1.0 + 2**-52])
    assert exact_bytes(one) != exact_bytes(other)
    assert exact_bytes(np.float32(1)) != exact_bytes(np.float64(1))
    assert exact_bytes(["a", "b"]) != exact_bytes(["a b"])
    assert exact_bytes(np.array([np.nan])) == exact_bytes(-np.array([np.nan]))
    loop: list[Any] = []
    loop.append(loop)
    assert exact_bytes(loop) != exact_bytes([[]])
    assert exact_bytes(object()) == exact_bytes(object())  # where it lies in memory is nobody's record


@pytest.mark.parametrize("loss", fast(1, [0.4, 1e-3]))
def test_more_noise_than_the_promise_needs_is_no_fault(loss: float) -> None:
    """Half of that noise keeps the promise still, so the planted bug has less."""
    found = report(loss=loss)
    assert found.passed, found.problems
    assert "half of the noise that the promise needs" in {control.mutant for control in found.controls}
    assert all(control.flagged for control in found.controls)


@pytest.mark.slow
def test_shares_may_be_vectors() -> None:
    found = audit_mechanism(Vectors(), YES, PEOPLE, seed=5, tries=0)
    assert found.passed, found.problems


@dataclass(frozen=True, kw_only=True)
class Vectors(Leaky):
    """A share is a list in the table and an array where it is decoded."""

    share: Any = (1.0, 2.0)

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": np.array(self.share)}


@pytest.mark.parametrize("promises", [(), (replace(PUBLIC, neighbours=Relation.BIT),)], ids=["none", "about one bit"])
def test_where_no_privacy_was_measured_nothing_passes(promises: tuple[Privacy, ...]) -> None:
    found = report(promises=promises, shows="the sum")
    assert not found.passed
    assert "promises of privacy that were measured: promised 1.0, measured 0.0" in found.problems
    assert found.to_section().blocks[-1].to_dict()["text"][0].startswith("Not passed: ")

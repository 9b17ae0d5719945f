"""What a run does from a certain count on is found among any number of people, wherever that count lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.test_audit_of_unpublished_answers import PUBLIC, Board, Sound, privacy_row
from cases import fast
from confide.audit import Verdict
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.pair_words import pair_words
from confide.audit.population_paths import population_paths
from confide.audit.round_numbers import off_grids, special
from confide.audit.thresholds import places, stepping
from confide.contract import Relation
from confide.privacy.noise import Noise
from confide.tables import Category, Measured, Numeric

LIKE = (Numeric(column="like", lower=0, upper=80), Numeric(column="age", lower=20, upper=60))


@dataclass(frozen=True, kw_only=True)
class Mean(Sound):
    """A mean with centred noise, in [0, 1], and what `RUNS` does with the cells of everybody; NaN of who has none."""

    name: str = ""
    people: int = 1000

    def run(self, data: Any, noise: Any) -> Any:
        cells = np.full((self.people, len(LIKE)), np.nan)
        for batch in data:
            cells[batch.index] = batch.cells
        mean = float(np.nansum((cells[:, 0] + 1) / 2)) / self.people
        RUNS[self.name](mean, cells)
        scale = 1.0 / self.people * (2.0 if self.name == "scale" and mean > 0.3 else 1.0)
        board = Board(count=noise.laplace(scale, 1, stream="mean", center=[mean]))
        return self._outcome(noise, billboard=board, shares=pa.table({"it": np.zeros(self.people)}))


RUNS: dict[str, Callable[[float, np.ndarray], Any]] = {
    "a mean above .5": lambda mean, _: print("high") if mean > 0.5 else None,
    "a mean above .777": lambda mean, _: print("high") if mean > 0.777 else None,
    "377 people": lambda _, cells: print("many") if np.isfinite(cells[:, 0]).sum() > 377 else None,
    "the second column": lambda _, cells: print("old") if np.nansum(cells @ [-1, 1]) > 1230 else None,
    "scale": lambda *_: None,
    "it fails": lambda mean, _: 1 // 0 if mean > 0.9 else None,
    "nothing": lambda *_: None,
}


@pytest.mark.parametrize("name", fast(1, [name for name in RUNS if name != "nothing"]))
def test_where_a_run_begins_to_do_another_thing_is_found(name: str) -> None:
    row = privacy_row(audit_mechanism(Mean(name=name), LIKE, 1000, seed=5, tries=0))
    assert row.verdict is Verdict.BROKEN
    assert row.measured == np.inf
    assert ": pair " in row.evidence


def test_the_pair_is_the_one_at_which_it_begins() -> None:
    it = Mean(name="a mean above .777")
    (pair, *_) = stepping(it.run, LIKE, 1000, Relation.REPLACE, 1)
    assert pair_words(pair, LIKE) == ("a population of 778: like=80, age=60 against no record in slot 777, beside 777 "
                                      "with like=80, age=60")


def looked_at(unit: Relation) -> int:
    """Crowds at the places of all paths; of paths with a common history each once, and the crowd of that history.
    Nothing is halved where all records weigh the same.
    """
    paths = list(population_paths(LIKE, 1000, unit))
    common = {frozenset(Counter(tuple(row) for batch in path.population(moved) for row in batch.cells.tolist()).items())
              for path in paths if path.shared for moved in places(path)}
    return sum(len(places(path)) for path in paths if not path.shared) + len(common) + bool(common)


def test_sound_runs_are_left_alone_at_few_runs() -> None:
    ran: list[int] = []

    def run(data: Any, noise: Any) -> Any:
        ran.append(sum(len(batch.index) for batch in data))
        return Mean(name="nothing").run(data, noise)

    assert list(stepping(run, LIKE, 1000, Relation.REPLACE, 1)) == []
    assert len(ran) == looked_at(Relation.REPLACE)
    ran.clear()
    assert list(stepping(run, LIKE, 1000, Relation.ADD_OR_REMOVE, 1)) == []
    assert len(ran) == looked_at(Relation.ADD_OR_REMOVE)
    assert max(ran) == 1000
    assert list(stepping(run, LIKE, 3_000_000, Relation.REPLACE, 1)) == []
    assert len(ran) == looked_at(Relation.ADD_OR_REMOVE)  # too many people


@pytest.mark.parametrize("people", [1, 2, 7, 40])
def test_pairs_are_neighbours(people: int) -> None:
    for unit in (Relation.REPLACE, Relation.ADD_OR_REMOVE):
        def run(data: Any, noise: Any) -> Any:  # another billboard for any other data
            cells = np.vstack([batch.cells for batch in data])
            outcome = Mean(name="nothing", people=people).run(data, noise)
            return replace(outcome, billboard=Board(count=np.array([len(cells), *cells.sum(axis=0)])))

        pairs = list(stepping(run, LIKE, people, unit, 1))
        assert pairs
        for pair in pairs:
            sides = [{int(slot): tuple(row) for batch in data for slot, row in
                      zip(batch.index, batch.cells.tolist(), strict=True)} for data in (pair.first, pair.second)]
            assert max(max(side, default=0) for side in sides) < people
            assert len({*sides[0].items()} - {*sides[1].items()}) == 1
            assert len({*sides[1].items()} - {*sides[0].items()}) <= (unit is Relation.REPLACE)
            outcome = run(pair.first, Noise.simulated(1))
            assert pair.published(outcome)


@pytest.mark.parametrize("people", fast(4, [1, 2, 7, 100, 3000]))
@pytest.mark.parametrize("unit", [Relation.REPLACE, Relation.ADD_OR_REMOVE])
def test_one_record_moves_in_each_step_of_a_path(unit: Relation, people: int) -> None:
    roles = (*LIKE, Category(column="place", levels=tuple("abcdefghij")))
    low, high = np.array([-1, -1, 0]), np.array([1, 1, 9])
    paths = [path for path in population_paths(roles, people, unit) if path.length]
    assert paths
    for path in paths:
        assert places(path)[0] == 0
        for moved in places(path)[1:]:
            sides = [{int(slot): tuple(row) for batch in path.population(many) for slot, row in
                      zip(batch.index, batch.cells.tolist(), strict=True)} for many in (moved, moved - 1)]
            there, before = sides
            changed = [slot for slot in there if there[slot] != before.get(slot)]
            assert changed == [moved - 1]
            assert there.keys() - before.keys() <= {moved - 1}
            assert before.keys() <= there.keys() <= set(range(people))
            assert unit is Relation.REPLACE or changed[0] not in before
            rows = np.array(list(there.values()))
            assert ((low <= rows) & (rows <= high)).all()


def test_halving_stops_at_the_heaviest_record() -> None:
    """Who is the 300th counts for a hundred, and from the 700th on nobody counts."""
    weights = np.where(np.arange(1, 1001) > 700, 0.0, 1.0)
    weights[299] = 100.0

    def run(data: Any, noise: Any) -> Any:
        there = int(sum((batch.cells[:, 0] > 0).sum() for batch in data))
        center = [float(weights[:there].sum())]
        return Mean(name="nothing")._outcome(noise, billboard=Board(count=noise.laplace(1.0, 1, stream="it",
                                             center=center)), shares=pa.table({"it": np.zeros(1000)}))

    pairs = list(stepping(run, LIKE[:1], 1000, Relation.REPLACE, 1))
    assert pairs
    assert pair_words(pairs[0], LIKE[:1]) == ("a population of 300: like=80 against no record in slot 299, beside 299 "
                                              "with like=80")


@pytest.mark.parametrize("unit", [Relation.REPLACE, Relation.ADD_OR_REMOVE])
@pytest.mark.parametrize("levels", [4, 7, 40])
def test_one_person_at_a_level_is_run_with_many_at_each_other_level(levels: int, unit: Relation) -> None:
    names = [str(k) for k in range(levels)]
    roles = (Category(column="a", levels=names), Category(column="b", levels=names[:4]), LIKE[0])
    met: list[set[tuple[int, int]]] = [set(), set()]
    within: list[set[tuple[int, float, float]]] = [set(), set()]
    for path in population_paths(roles, 500, unit, seed=3):
        for moved in places(path) if path.shared else ():
            rows, counts = np.unique(np.vstack([batch.cells for batch in path.population(moved)]), axis=0,
                                     return_counts=True)
            if len(rows) == 2 and counts.min() == 1:
                few, many = rows[np.argsort(counts)].tolist()
                for k in range(2):
                    met[k].add((int(few[k]), int(many[k])))
                    if few[k] == many[k]:
                        within[k].add((int(few[k]), few[2], many[2]))
    kept = range(levels) if levels < 9 else sorted({one for one, _ in met[0]})
    assert {0, 1, 2, levels // 2, levels - 1} <= set(kept)
    assert len(kept) == min(levels, 8)
    for k, ranks in enumerate((kept, range(4))):
        assert {(one, other) for one in ranks for other in ranks if one != other} <= met[k]
        assert {(rank, 1.0, -1.0) for rank in ranks} <= within[k]


def test_runs_that_paths_have_in_common_are_made_once() -> None:
    roles = (Category(column="town", levels=tuple("abcdefg")),)
    ran: list[int] = []

    def run(data: Any, noise: Any) -> Any:
        cells = np.vstack([np.zeros((0, 1)), *(batch.cells for batch in data)])
        ran.append(len(cells))
        there = np.bincount(cells[:, 0].astype(int), minlength=7).astype(float).tolist()
        return Mean(name="nothing")._outcome(noise, billboard=Board(count=noise.laplace(2.0, 7, stream="it",
                                             center=there)), shares=pa.table({"it": np.zeros(1000)}))

    paths = list(population_paths(roles, 1000, Relation.REPLACE))
    own = sum(len(places(path)) for path in paths if not path.shared)
    common = {path.reported(moved) for path in paths if path.shared for moved in places(path)}
    assert list(stepping(run, roles, 1000, Relation.REPLACE, 1)) == []
    assert len(common) == 7 + 21 * 3
    assert len(ran) == own + len(common) + 1  # that of which they have the noisy answers


def test_paths_have_histories_of_their_own_where_some_of_each_fail() -> None:
    """Fewer than 20 at b are not counted where more than 100 are at c; and three levels are too many."""
    roles = (Category(column="town", levels=tuple("abcd")),)

    def run(data: Any, noise: Any) -> Any:
        there = np.bincount(np.vstack([batch.cells for batch in data])[:, 0].astype(int), minlength=4)
        if (there > 0).sum() > 2:
            raise ValueError("too many levels")
        there[1] = 0 if there[1] < 20 and there[2] > 100 else there[1]
        return Mean(name="nothing")._outcome(noise, billboard=Board(count=noise.laplace(
            2.0, 4, stream="it", center=there.astype(float).tolist())), shares=pa.table({"it": np.zeros(1000)}))

    reported = [pair_words(pair, roles) for pair in stepping(run, roles, 1000, Relation.REPLACE, 1)]
    assert ("a population of 1,000: town=c against town=b in slot 980, beside 980 with town=c and 19 with "
            "town=b") in reported


@pytest.mark.parametrize("unit", [Relation.REPLACE, Relation.ADD_OR_REMOVE])
def test_who_grows_and_is_left_out_at_once_is_found(unit: Relation) -> None:
    """Halfway from nobody to twice as many as make a rule, all and none move the sum as far."""
    roles = (Measured(column="age", lower=0, upper=120),)

    def run(data: Any, noise: Any) -> Any:
        ages = np.vstack([np.zeros((0, 1)), *(batch.cells for batch in data)])[:, 0]
        ages = ages[ages != 99] if len(ages) and (ages == 99).mean() >= 0.05 else ages
        return Mean(name="nothing")._outcome(noise, billboard=Board(count=noise.laplace(
            120.0, 1, stream="it", center=[float(ages.sum())])), shares=pa.table({"it": np.zeros(1000)}))

    reported = [pair_words(pair, roles) for pair in stepping(run, roles, 1000, unit, 1)]
    assert [words for words in reported if "49 with age=99" in words or "26 with age=99" in words]


def test_numbers_on_no_grid_are_beside_those_on_each() -> None:
    for low, high in ((0, 40), (20, 60), (0, 10), (0, 120), (-50, 50), (0, 10_000), (1, 7), (0, 1)):
        met = off_grids(Measured(column="it", lower=low, upper=high))
        assert met
        assert all(low <= value <= high for pair in met for value in pair)
        for grid in (1, 2, 5, 10):
            if high - low >= 2 * grid:
                assert any(level % grid == 0 and off % grid for off, level in met)
    age, scaled = Measured(column="age", lower=0, upper=120), Numeric(column="age", lower=0, upper=120)
    for numbers in (off_grids, special):
        assert np.array(numbers(scaled)) * 60 + 60 == pytest.approx(np.array(numbers(age)))
    assert 99 in [code for _, code in special(age)]
    assert not special(Category(column="age", levels=("99", "9")))
    assert not off_grids(Category(column="age", levels=("99", "9")))


@pytest.mark.slow
def test_a_sound_mean_passes() -> None:
    found = audit_mechanism(Mean(name="nothing", promises=(PUBLIC,)), LIKE, 1000, seed=5, tries=0)
    assert found.passed, found.problems

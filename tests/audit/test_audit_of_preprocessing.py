"""Rules that follow from the data, before the noise: the audit finds crowds in which one record moves many others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.audit import AuditReport
from confide.audit.mechanism_audit import audit_mechanism
from confide.contract import Billboard, Guarantees, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.privacy import PureDP
from confide.privacy.events import PureEvent
from confide.tables import Category, Measured, Numeric

PEOPLE = 500
X = (Numeric(column="x", lower=-1, upper=1),)
PAY = (Measured(column="pay", lower=0.0, upper=200.0), Category(column="work", levels=("it", "hr", "law", "ops")))
TOWNS = (Category(column="town", levels=tuple("abcdefg")),)
YES = (Category(column="a", levels=("no", "yes")), Category(column="b", levels=("no", "yes")))
TEN = (Category(column="town", levels=tuple("abcdefghij")),)
FOUR = (Category(column="town", levels=tuple("abcd")), Numeric(column="x", lower=-1, upper=1))
TWO = (Category(column="town", levels=tuple("abcd")), Category(column="way", levels=tuple("pqrs")))
AGES = (Measured(column="age", lower=20, upper=60),)
OLD = (Measured(column="age", lower=0, upper=120),)
HOURS = (Measured(column="hours", lower=0, upper=40),)
PERCENT = (Numeric(column="share", lower=0, upper=100),)
ROOM = 1 + 1e-9
"""Noise is so much larger than the promise needs, for the rounding of doubles."""

Rule = Callable[[np.ndarray, Any], Any]
"""(n, c) cells of those who are there, noise -> what is published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    """What a rule publishes."""

    values: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Own(Mechanism):
    """A rule of `MISTAKES` or `SOUND` that promises epsilon 1."""

    name: str
    people: int = PEOPLE

    def guarantees(self) -> Guarantees:
        return Guarantees((Privacy(source=Source(document="a", statement="b"), loss=PureDP(1.0),
                                   neighbours=Relation.REPLACE, audience=Audience.PUBLIC),))

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=1.0, neighbours=Relation.REPLACE),)

    def run(self, data: Any, noise: Any) -> Any:
        roles, rule = (MISTAKES | SOUND)[self.name][:2]
        cells = np.vstack([np.zeros((0, len(roles))), *(batch.cells for batch in data)])
        board = Board(values=np.asarray(rule(cells, noise), np.float64).reshape(-1))
        return self._outcome(noise, billboard=board, shares=pa.table({"it": np.zeros(self.people)}))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": 0.0}


def noised(centers: Any, moved: float, noise: Any, stream: str = "it") -> Any:
    """Laplace noise for what one record moves, if nothing follows from the data."""
    flat = np.atleast_1d(np.asarray(centers, np.float64)).tolist()
    return noise.laplace(moved * ROOM, len(flat), stream=stream, center=flat)


def total(values: np.ndarray) -> float:
    return math.fsum(values.tolist())


def counts(cells: np.ndarray, levels: int = 7) -> np.ndarray:
    return np.bincount(cells[:, 0].astype(int), minlength=levels)


# ---- mistakes, each with the loss that the audit must at least find among 500 people


def outliers(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    if len(x) > 1 and x.std() > 0:
        x = x[np.abs(x - x.mean()) <= 3 * x.std()]
    return noised(total(x), 2, noise)


def rare_folded(cells: np.ndarray, noise: Any) -> Any:
    high = int((cells[:, 0] > 0.5).sum())
    low = len(cells) - high
    return noised([low + high, 0] if 0 < high < 0.05 * len(cells) else [low, high], 2, noise)


def quartile_fence(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    low, high = np.quantile(x, [0.25, 0.75]) if len(x) else (0, 0)
    return noised(total(x[(x >= 2.5 * low - 1.5 * high) & (x <= 2.5 * high - 1.5 * low)]), 2, noise)


def median_fence(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    if len(x) and (spread := np.median(np.abs(x - np.median(x)))) > 0:
        x = x[np.abs(x - np.median(x)) <= 4.5 * spread]
    return noised(total(x), 2, noise)


def own_bounds(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    span = np.ptp(x) if len(x) else 0
    return noised(total((x - x.min()) / span) if span else 0, 1, noise)


def own_largest(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    most = np.abs(x).max(initial=0)
    return noised(total(x / most) if most else 0, 2, noise)


def own_edges(cells: np.ndarray, noise: Any) -> Any:
    return noised(np.histogram(cells[:, 0], bins=5)[0] if len(cells) else np.zeros(5), 2, noise)


def standardised(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    if len(x) and x.std() > 0:
        x = (x - x.mean()) / x.std()
    return noised(np.histogram(x, [-99, -1, 0, 1, 99])[0], 2, noise)


def top_three(cells: np.ndarray, noise: Any) -> Any:
    there = counts(cells)
    kept = np.argsort(-there, kind="stable")[:3]
    return noised(np.where(np.isin(np.arange(7), kept), there, 0), 2, noise)


def much_repeated(cells: np.ndarray, noise: Any) -> Any:
    values, times = np.unique(cells[:, 0], return_counts=True)
    return noised(total((values * times)[times <= 20]), 2, noise)


def mean_of_different(cells: np.ndarray, noise: Any) -> Any:
    values = np.unique(cells[:, 0])
    return noised(values.mean() * PEOPLE if len(values) else 0, 2, noise)


def branch_on_a_count(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    return noised(total(x) if (x > 0).sum() > 0.37 * PEOPLE else total(x) / 2, 2, noise)


def cut_off(cells: np.ndarray, noise: Any) -> Any:
    there = counts(cells)
    return noised(np.where(there < 140, 0, there), 2, noise)


def level_cut_off(cells: np.ndarray, noise: Any) -> Any:
    there = counts(cells)
    there[3] = there[3] if there[3] > 300 else 0
    return noised(there, 2, noise)


def digits_cut_off(cells: np.ndarray, noise: Any) -> Any:
    return noised(int(cells[:, 0].sum()) % 100, 1, noise)


def bytes_counted(cells: np.ndarray, noise: Any) -> Any:
    return noised(cells[:, 0].sum().astype(np.uint8), 1, noise)


def percentile_cap(cells: np.ndarray, noise: Any) -> Any:
    pay = cells[:, 0]
    cap = np.quantile(pay, 0.95) if len(pay) else 0
    return noised([total(np.minimum(pay, cap)[cells[:, 1] == k]) for k in range(4)], 400, noise)


def small_groups(cells: np.ndarray, noise: Any) -> Any:
    groups = [cells[cells[:, 1] == k, 0] for k in range(4)]
    return noised([total(pay) if len(pay) >= 20 else 0 for pay in groups], 400, noise)


def groups_without_outliers(cells: np.ndarray, noise: Any) -> Any:
    groups = [cells[cells[:, 1] == k, 0] for k in range(4)]
    return noised([total(pay[np.abs(pay - pay.mean()) <= 2.5 * pay.std()]) if len(pay) else 0 for pay in groups], 400,
                  noise)


def after_a_noisy_count(cells: np.ndarray, noise: Any) -> Any:
    """The rule holds in histories with a large noisy count alone."""
    many = noised(len(cells), 2, noise, "people")
    x = cells[:, 0]
    if many[0] > 50 and len(x) > 1 and x.std() > 0:
        x = x[np.abs(x - x.mean()) <= 3 * x.std()]
    return [*many, *noised(total(x), 4, noise)]


def above_typical(cells: np.ndarray, noise: Any) -> Any:
    middle = np.median(cells[:, 0]) if len(cells) else 0
    return noised((cells[:, 0] > 1.5 * middle).sum(), 1, noise)


def uniform_answers(cells: np.ndarray, noise: Any) -> Any:
    """Who says no to everything is dropped where that is more than one in ten."""
    same = cells.sum(axis=1) == 0
    if len(cells) and same.mean() > 0.1:
        cells = cells[~same]
    return noised([len(cells), cells[:, 0].sum()], 2, noise)


def one_group(rule: Rule, town: int) -> Rule:
    """The rule in one group alone; nobody else counts."""
    return lambda cells, noise: rule(cells[cells[:, 0] == town, 1:], noise)


def winsorised(cells: np.ndarray, noise: Any) -> Any:
    x = cells[:, 0]
    return noised(total(np.clip(x, *np.quantile(x, [0.05, 0.95]))) if len(x) else 0, 2, noise)


def few_beside_many(one: int, other: int, levels: int) -> Rule:
    """A count below 20 is set to 0 where another one is above 100."""
    def rule(cells: np.ndarray, noise: Any) -> Any:
        there = counts(cells, levels)
        there[one] = 0 if there[other] > 100 and there[one] < 20 else there[one]
        return noised(there, 2, noise)

    return rule


def table(cells: np.ndarray) -> np.ndarray:
    found = np.zeros((4, 4))
    np.add.at(found, (cells[:, 0].astype(int), cells[:, 1].astype(int)), 1)
    return found


def rare_in_a_group(cells: np.ndarray, noise: Any) -> Any:
    """The second way is left out of one town alone, where fewer than one in twenty take it."""
    there = table(cells)
    there[2, 1] = 0 if there[2, 1] < 0.05 * there[2].sum() else there[2, 1]
    return noised(there.ravel(), 2, noise)


def few_beside_many_in_a_group(cells: np.ndarray, noise: Any) -> Any:
    there = table(cells)
    there[1, 2] = 0 if there[1, 1] > 100 and there[1, 2] < 20 else there[1, 2]
    return noised(there.ravel(), 2, noise)


def heaped(grid: int, share: float) -> Callable[..., Any]:
    """All numbers are rounded to a grid where so many of them lie on it."""
    def rule(cells: np.ndarray, noise: Any, moved: float = 60) -> Any:
        x = np.rint(cells[:, 0])
        if len(x) and (x % grid == 0).mean() >= share:
            x = on_grid(x, grid)
        return noised(total(x), moved, noise)

    return rule


def on_grid(x: np.ndarray, grid: int) -> np.ndarray:
    return np.asarray((x + grid // 2) // grid * grid)


def whole(cells: np.ndarray, noise: Any) -> Any:
    """All hours are rounded to whole ones where half of them are whole."""
    x = cells[:, 0]
    if len(x) and (x % 1 == 0).mean() >= 0.5:
        x = np.rint(x)
    return noised(total(x), 40, noise)


def heaped_of_scaled(cells: np.ndarray, noise: Any) -> Any:
    """Of percentages, which come scaled to [-1, 1]."""
    return heaped(10, 0.8)(cells * 50 + 50, noise, 100)


def code_of_no_answer(cells: np.ndarray, noise: Any) -> Any:
    """99 is taken for "not stated", and left out, where one in twenty gave it."""
    ages = cells[:, 0]
    if len(ages) and (ages == 99).mean() >= 0.05:
        ages = ages[ages != 99]
    return noised(total(ages), 120, noise)


MISTAKES: dict[str, tuple[Any, Rule, float]] = {
    "beyond three standard deviations": (X, outliers, 26),
    "groups below 5 %": (X, rare_folded, 25),
    "after a noisy count": (X, after_a_noisy_count, 13),
    "beyond the largest": (X, own_largest, 150),
    "a branch on a count": (X, branch_on_a_count, 46),
    "a level cut off": (TOWNS, level_cut_off, 150),
    "the last two digits": (YES, digits_cut_off, 99),
    "a count in a byte": (YES, bytes_counted, 255),
    "a quartile fence": (X, quartile_fence, 60),
    "a median fence": (X, median_fence, 60),
    "the data's own bounds": (X, own_bounds, 490),
    "the data's own edges": (X, own_edges, 490),
    "standardised": (X, standardised, 490),
    "the three largest": (TOWNS, top_three, 70),
    "what is often repeated": (X, much_repeated, 10),
    "the mean of what differs": (X, mean_of_different, 400),
    "counts below 140": (TOWNS, cut_off, 70),
    "above a percentile": (PAY, percentile_cap, 5),
    "small groups": (PAY, small_groups, 9),
    "outliers of a group": (PAY, groups_without_outliers, 10),
    "above 1.5 medians": (PAY, above_typical, 240),
    "the same answer to all": (YES, uniform_answers, 20),
    "beyond three standard deviations of one town": (FOUR, one_group(outliers, 2), 26),
    "winsorised in one town": (FOUR, one_group(winsorised, 1), 24),
    "one town's own bounds": (FOUR, one_group(own_bounds, 2), 490),
    "what is often repeated in one town": (FOUR, one_group(much_repeated, 1), 10),
    "b beside c": (TOWNS, few_beside_many(1, 2, 7), 10),
    "c beside b": (TOWNS, few_beside_many(2, 1, 7), 10),
    "d beside f": (TOWNS, few_beside_many(3, 5, 7), 10),
    "f beside d": (TOWNS, few_beside_many(5, 3, 7), 10),
    "b beside c of ten": (TEN, few_beside_many(1, 2, 10), 10),
    "f beside c of ten": (TEN, few_beside_many(5, 2, 10), 10),
    "a rare way in one town": (TWO, rare_in_a_group, 12),
    "rounded where 30 % gave fives": (AGES, heaped(5, 0.3), 11),
    "rounded where half gave fives": (HOURS, heaped(5, 0.5), 8),
    "rounded where 80 % gave tens": (HOURS, heaped(10, 0.8), 3),
    "rounded where 80 % of scaled ones are tens": (PERCENT, heaped_of_scaled, 1.9),
    "rounded where half are whole": (HOURS, whole, 2.4),
    "a code of no answer": (OLD, code_of_no_answer, 20),
    "a way beside another one in one town": (TWO, few_beside_many_in_a_group, 10),
}


# ---- sound rules, some of which look alike


def summed(cells: np.ndarray, noise: Any) -> Any:
    return noised(total(cells[:, 0]), 2, noise)


def clamped(cells: np.ndarray, noise: Any) -> Any:
    return noised(total(np.clip(cells[:, 0], -0.3, 0.4)), 0.7, noise)


def capped_count(cells: np.ndarray, noise: Any) -> Any:
    return noised(min(int(cells[:, 0].sum()), 100), 1, noise)


def different(cells: np.ndarray, noise: Any) -> Any:
    return noised(len(np.unique(cells[:, 0])), 1, noise)


def trimmed(cells: np.ndarray, noise: Any) -> Any:
    """A fixed number of the lowest and of the highest: a record moves what is left by no more than its range."""
    return noised(total(np.sort(cells[:, 0])[25:-25]), 2, noise)


def noisy_bound(cells: np.ndarray, noise: Any) -> Any:
    high = noised((cells[:, 0] > 100).sum(), 2, noise, "high")
    cap = 100.0 if high[0] < 150 else 200.0
    return [*high, *noised(total(np.minimum(cells[:, 0], cap)), 2 * cap, noise)]


def around_a_noisy_mean(cells: np.ndarray, noise: Any) -> Any:
    mean = float(np.clip(noised(total(cells[:, 0]) / PEOPLE, 4 / PEOPLE, noise, "mean")[0], -1, 1))
    return [mean, *noised(total(np.minimum((cells[:, 0] - mean) ** 2, 1)), 2, noise)]


def noisy_groups(cells: np.ndarray, noise: Any) -> Any:
    """Which sums there are follows from noisy counts."""
    there = noised([np.sum(cells[:, 1] == k) for k in range(4)], 4, noise, "there")
    return [*there, *(noised(total(cells[cells[:, 1] == k, 0]), 800, noise, f"pay {k}")[0] if there[k] > 60 else 0.0
                      for k in range(4))]


def chosen_middle(cells: np.ndarray, noise: Any) -> Any:
    at = np.linspace(-1, 1, 33)
    off = [-abs(2 * int((cells[:, 0] <= value).sum()) - len(cells)) for value in at]
    return at[noise.selection((np.array(off) / 4 / ROOM).tolist(), 1, stream="middle")[0]]


def sums_of_groups(cells: np.ndarray, noise: Any) -> Any:
    return noised([total(np.clip(cells[cells[:, 0] == k, 1], -0.5, 0.5)) for k in range(4)], 1, noise)


def capped_levels(cells: np.ndarray, noise: Any) -> Any:
    return noised(np.minimum(counts(cells), 140), 2, noise)


def a_table(cells: np.ndarray, noise: Any) -> Any:
    return noised(table(cells).ravel(), 2, noise)


def ways_of_noisy_towns(cells: np.ndarray, noise: Any) -> Any:
    """Of towns with a large noisy count the ways are counted."""
    there = table(cells)
    towns = noised(there.sum(axis=1), 4, noise, "towns")
    return [*towns, *noised(there[towns > 60].ravel() if (towns > 60).any() else 0.0, 4, noise, "ways")]


def rounded(cells: np.ndarray, noise: Any) -> Any:
    return noised(total(on_grid(np.rint(cells[:, 0]), 5)), 40, noise)


def without_code(cells: np.ndarray, noise: Any) -> Any:
    """Whoever gave 99 is left out, however many did."""
    return noised(total(cells[cells[:, 0] != 99, 0]), 120, noise)


def rounded_by_a_noisy_count(cells: np.ndarray, noise: Any) -> Any:
    """All hours are rounded to fives where a noisy count of those is large."""
    x = np.rint(cells[:, 0])
    fives = noised((x % 5 == 0).sum(), 2, noise, "fives")
    return [*fives, *noised(total(on_grid(x, 5) if fives[0] > 50 else x), 80, noise)]


SOUND: dict[str, tuple[Any, Rule]] = {
    "a bound that is noisy": (PAY, noisy_bound), "groups that are noisy": (PAY, noisy_groups),
    "clamped to public bounds": (X, clamped), "a sum": (X, summed), "a capped count": (YES, capped_count),
    "how many differ": (TOWNS, different), "a trimmed sum": (X, trimmed),
    "around a noisy mean": (X, around_a_noisy_mean), "an exponential mechanism's middle": (X, chosen_middle),
    "sums of groups": (FOUR, sums_of_groups), "capped counts of levels": (TOWNS, capped_levels),
    "rounded": (HOURS, rounded), "without a code": (OLD, without_code),
    "rounded by a noisy count": (HOURS, rounded_by_a_noisy_count),
    "a table": (TWO, a_table), "ways of towns that are noisy": (TWO, ways_of_noisy_towns),
}


def report(name: str) -> AuditReport:
    """Without random pairs, which would need luck."""
    return audit_mechanism(Own(name=name), (MISTAKES | SOUND)[name][0], PEOPLE, seed=5, tries=0)


@pytest.mark.parametrize("name", fast(3, MISTAKES))
def test_rules_that_follow_from_the_data_are_found(name: str) -> None:
    found = report(name)
    (row,) = (row for row in found.rows if row.flagged and row.holds)
    assert MISTAKES[name][2] <= row.measured * ROOM < math.inf
    assert "the largest of a population of" in row.evidence


@pytest.mark.parametrize("name", fast(1, SOUND))
def test_sound_rules_are_left_alone(name: str) -> None:
    found = report(name)
    assert found.passed, found.problems
    assert all(control.flagged for control in found.controls)


def test_the_loss_is_that_of_the_campaigns_own_size() -> None:
    for name, loss in (("beyond three standard deviations", 250.5), ("groups below 5 %", 250.0)):
        found = audit_mechanism(Own(name=name, people=5000), X, 5000, seed=5, tries=0)
        assert max(row.measured for row in found.rows if row.flagged) == pytest.approx(loss / ROOM)

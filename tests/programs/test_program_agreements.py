"""What groups gain at most where a program's prices are charged, and what one more identity is handed."""

from __future__ import annotations

import shutil
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaign.forging import words
from cases import fast
from confide.campaign import Campaign
from confide.campaign.kinds.programs.plan import part_of_another
from confide.contract.kinds import kind
from confide.privacy.noise import Noise
from confide.programs import UnitDemand
from confide.programs.instances import made_up
from confide.tables.slot_rows import SlotRows

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("classes")
    for name in ("classes.toml", "classes_wishes.csv"):
        shutil.copy(EXAMPLES / name, folder)
    return Campaign.load(folder / "classes.toml")


def test_the_bound_of_a_group_moves_the_prices_so_many_times_as_far(classes: Campaign) -> None:
    it = classes.plan.mechanism
    assert it.gain_of(1) == it.gain
    assert it.law == "gaussian"
    # TV of N(0, 1) and N(mu, 1) is erf(mu/(2 sqrt 2)); the mu of path and audit are equal here: both have half
    bounds = [it.gain_of(size) for size in (1, 2, 5)]
    short = it.gain_of(0)  # what is short anyway, when nothing moves
    value = it.program.constants.most_value
    most = value if it.payments == "scaled" else max(value, it.highest_price)
    shares = [(bound - short) / (value + short + 2 * most) for bound in bounds]
    low, high = 0.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if erf(middle / (2 * sqrt(2))) < shares[0] else (low, middle)
    assert it.path_share == pytest.approx(it.audit_share)
    for size, share in zip((2, 5), shares[1:], strict=True):
        assert share == pytest.approx(erf(size * low / (2 * sqrt(2))), rel=1e-6)


@pytest.mark.slow
def test_one_more_identity_is_handed_what_everybody_is_on_average(classes: Campaign) -> None:
    """By decoding everybody's part from the public prices, and not from the run's own sums."""
    plan, it = classes.plan, classes.plan.mechanism
    cells = made_up(it.program, 1)
    run = it.run(iter([SlotRows(np.arange(len(cells)), cells)]), Noise.simulated(1))
    shares = [it.decode(cells[k], k, run.billboard) for k in range(0, len(cells), 5)]
    worth = [float(cells[5 * place, share["action"]]) - float(share["price"]) if share["action"] >= 0 else 0.0
             for place, share in enumerate(shares)]
    found = part_of_another(plan)
    assert found is not None
    error = sqrt(np.var(worth) / len(worth) + 3 * found[1] ** 2)  # of one crowd beside the mean of three
    assert found[0] == pytest.approx(np.mean(worth), abs=4 * error)
    assert 0 < found[1] < found[0]


def _worth(program: Any, record: Any, action: Any) -> float:
    """What a part is worth to its owner: the points of its good, or what its route saves beside the escape."""
    if isinstance(program, UnitDemand):
        return float(record[action]) if action >= 0 else 0.0
    return program.escape - sum(program.costs[arc] for arc in action) if action else 0.0


SMALL = (("count = 6000", "count = 600"), ("supply = [1100, 1200, 1200, 1200]", "supply = [110, 120, 120, 120]"),
         ("epsilon = 1.0 ", "epsilon = 9.0 "))
"""In the template, so that a tenth of the people are decoded, with as much noise to each good's supply."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "worth"), fast(1, [
    ("program", "points by its record"), ("commute", "units of cost")]))
def test_a_part_that_costs_nothing_is_reported_too(name: str, worth: str, tmp_path: Path) -> None:
    """Where nothing is charged a second id is handed a part all the same."""
    if name == "program":
        text = kind("program").template
        for old, new in SMALL:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "program.toml").write_text(text, encoding="utf-8")
        plan = Campaign.load(tmp_path / "program.toml").plan
    else:
        shutil.copy(EXAMPLES / "commute.toml", tmp_path)
        plan = Campaign.load(tmp_path / "commute.toml").plan
    assert not plan.charges
    it, found = plan.mechanism, part_of_another(plan)
    assert found is not None
    assert min(found) > 0
    means = []
    for seed in (1, 2, 3):  # each person's part is decoded from the public prices, and its worth is added up here
        cells = made_up(it.program, seed)
        run = it.run(iter([SlotRows(np.arange(len(cells)), cells)]), Noise.simulated(seed))
        means.append(np.mean([_worth(it.program, row, it.decode(row, k, run.billboard)["action"])
                              for k, row in enumerate(cells)]))
    assert found[0] == pytest.approx(np.mean(means), rel=1e-9)
    assert found[1] == pytest.approx(np.std(means, ddof=1) / sqrt(3), rel=1e-6)
    said = words(plan.sections())
    assert "A person with 2 ids and the same record for both gets two parts and pays nothing" in said
    assert worth in said
    assert "The part of an id is worth" in said
    assert "on average over all people of 3 simulated populations" in said
    assert "The value of a second part depends on its owner's record" in said
    assert "the number after +- is one standard error, between populations" in said
    assert "no promise about the gain of a person or a group from lies" in said


def test_the_plan_says_it(classes: Campaign) -> None:
    said = words(classes.plan.sections())
    assert "Second identities and agreements" in said
    assert "gets a part of its own. The part of an id is worth" in said
    assert "The value of a second part depends on its owner's record" in said
    assert "no promise about the gain of each member" in said

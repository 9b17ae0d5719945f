"""What groups gain at most where a program's prices are charged, and what one more identity is handed."""

from __future__ import annotations

import shutil
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest

from campaign.forging import words
from confide.campaign import Campaign
from confide.people.slot_rows import SlotRows
from confide.privacy.noise import Noise
from confide.programs.campaign.made_up import made_up
from confide.programs.campaign.selling_words import part_of_another
from people.all_kinds import campaign_of

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


def test_one_more_identity_is_handed_what_everybody_is_on_average(classes: Campaign) -> None:
    """By decoding everybody's part from the public prices, and not from the run's own sums."""
    plan, it = classes.plan, classes.plan.mechanism
    cells = made_up(it.program, 1)
    run = it.run(iter([SlotRows(np.arange(len(cells)), cells)]), Noise.simulated(1))
    shares = [it.decode(cells[k], k, run.billboard) for k in range(0, len(cells), 5)]
    worth = [float(cells[5 * place, share["action"]]) - float(share["price"]) if share["action"] >= 0 else 0.0
             for place, share in enumerate(shares)]
    assert part_of_another(plan) == pytest.approx(np.mean(worth), abs=4 * np.std(worth) / sqrt(len(worth)))


def test_the_plan_says_it(classes: Campaign) -> None:
    said = words(classes.plan.sections())
    assert "Second identities and agreements" in said
    assert "is handed a part of its own" in said
    assert "nothing is promised of what each of them gains" in said
    assert "Second identities" not in words(campaign_of("program").plan.sections())  # nothing is charged

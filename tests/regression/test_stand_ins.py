"""Made-up participants: typical payments and what lies cost, against simulated runs of the same campaign."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from confide.campaign import Campaign
from confide.campaign.kinds.regressions.plan import largest_smallest_eigenvalue
from confide.contract import InvalidInput
from confide.contract.kinds import Check, Collection
from confide.contract.outcome import PublicOutcome
from confide.contract.presentation import Section, Table, Text
from confide.privacy import Noise
from confide.regression import plan
from confide.regression.stand_ins import stand_ins
from confide.tables import Category, Design, Numeric

DESIGN = Design(features=(Numeric(column="age", lower=20, upper=60), Category(column="sex", levels=("f", "m"))))
HOURS = Numeric(column="hours", lower=0, upper=24)
OPTIONS = {"people": 20_000, "features": 3, "parameter_bound": 0.5, "noise_bound": 0.5, "epsilon_release": 1.0,
           "epsilon_payment": 1.0, "truth_radius": 0.45, "misreports": 1e-4, "failure_probability": 1e-3, "clip": 12.0}


def _words(sections: list[Section]) -> str:
    out = []
    for section in sections:
        for block in section.blocks:
            if isinstance(block, Text):
                out += block.paragraphs
            elif isinstance(block, Table):
                out += [str(cell) for row in block.rows for cell in row]
    return " ".join(out)


@pytest.mark.slow
def test_typical_payments_are_what_a_run_pays() -> None:
    mechanism = plan(**OPTIONS).mechanism  # type: ignore[arg-type]
    made_up = stand_ins(mechanism, DESIGN, HOURS, mechanism.figures.truth_radius)
    rng = np.random.default_rng(0)
    paid = []
    for run in range(6):  # people of the same kind, a fresh parameter each time
        n = OPTIONS["people"]
        rows = [DESIGN.encode_one({"age": float(a), "sex": s})[0]
                for a, s in zip(rng.uniform(20, 60, 500), rng.choice(["f", "m"], 500), strict=True)]
        X = np.array(rows)[rng.integers(0, 500, n)]  # type: ignore[arg-type]
        theta = rng.standard_normal(3)
        theta *= 0.5 * ((run + 0.5) / 6) ** (1 / 3) / np.linalg.norm(theta)
        y = X @ theta + rng.uniform(-0.5, 0.5, n)  # type: ignore[arg-type]
        paid.append(mechanism.run((X, y), Noise.simulated(run)).shares["payment"].to_numpy() / 100)
    everybody = np.concatenate(paid)
    assert made_up.payment == pytest.approx(everybody.mean(), rel=0.2)
    assert made_up.low < made_up.payment < made_up.high
    inside = np.mean((everybody >= made_up.low) & (everybody <= made_up.high))
    assert 0.6 < inside < 1.0


def test_lies_cost_more_the_larger_they_are() -> None:
    mechanism = plan(**OPTIONS).mechanism  # type: ignore[arg-type]
    made_up = stand_ins(mechanism, DESIGN, HOURS, 0.2)
    sizes, costs, shares = zip(*((lie.size, lie.cost, lie.ruled_out) for lie in made_up.lies), strict=True)
    assert sizes == (0.6, 1.0, 3.0, 6.0)
    assert list(costs) == sorted(costs)
    assert list(shares) == sorted(shares)
    assert all(cost > 0 for cost in costs)
    assert 0 < made_up.any_ruled_out <= 1
    nothing = stand_ins(mechanism, DESIGN, HOURS, 1.0)  # no answer moves a prediction that far
    assert nothing.any_ruled_out == 0
    assert stand_ins(mechanism, DESIGN, HOURS, 0.2) == made_up  # the same for everybody who asks


TOML = """
format = 1
kind = "regression"
title = "t"
[budget]
data_set = "t"
epsilon = 3.0
delta = {delta}
[people]
count = 40000
id = "id"
[data]
source = "t.csv"
[response]
column = "hours"
lower = {lower}
upper = 24
center = 12
unit = "hours"
[[features]]
column = "{feature}"
lower = 18
upper = 90
[model]
parameter_bound = 0.5
noise_bound = 0.5
smallest_eigenvalue = 0.06
[privacy]
epsilon_release = 1.0
epsilon_payment = 1.0
delta = {delta}
release = "{release}"
[payment]
currency = "EUR"
truth_radius = {radius}
clip = 12
[costs]
scale = 0.01
misreports = 0.0001
failure_probability = 0.01
"""


def _campaign(folder: Path, **changes: object) -> Campaign:
    values = {"delta": "0.0", "radius": 0.9, "lower": 0, "feature": "age", "release": "auto", **changes}
    path = folder / "t.toml"
    path.write_text(TOML.format(**values))
    return Campaign.load(path)


def test_the_plan_speaks_in_the_unit_of_the_answer(tmp_path: Path) -> None:
    plan = _campaign(tmp_path).plan
    words = _words(list(plan.sections()))
    assert "typical error of a prediction" in words
    assert " hours" in words
    assert "largest gain from a lie" in words
    assert "cut off" not in words
    titles = [section.title for section in plan.sections()]
    assert titles == ["Plan", "Expected precision", "Cost of a lie", "Second identities and agreements", "Guarantees",
                      "Households and other groups"]


def test_bounds_that_cut_off_answers_promise_no_truth_in_the_offer(tmp_path: Path) -> None:
    campaign = _campaign(tmp_path, lower=6)
    assert {g.name for g in campaign.plan.guarantees if g.vacuous} == {"truthfulness", "participation", "accuracy"}
    assert "cut off answers that the model allows" in _words(list(campaign.plan.sections()))
    offer = _words(list(campaign.plan.offer()))
    assert "does not promise that the truth pays best" in offer
    assert "no lie gains you more" not in offer


def test_the_offer_counts_delta(tmp_path: Path) -> None:
    """Two parts of epsilon = 1 tell as two randomised responses do: they agree, or leave even odds, so that a guess is
    right with p^2 + p(1 - p) = p = e/(1 + e). A delta that could publish somebody is warned of.
    """
    pure = _words(list(_campaign(tmp_path).plan.offer()))
    assert "but for a probability" not in pure
    assert "at most e^2 = 7.39" in pure
    assert "right at most 73.1% of the time" in pure
    campaign = _campaign(tmp_path, delta=0.01, release="adassp")
    assert "except with probability 0.01" in _words(list(campaign.plan.offer()))
    assert "allows the release of a person's whole record" in _words(list(campaign.plan.sections()))
    fine = _campaign(tmp_path, delta=1e-6, release="adassp")
    assert "allows the release of a person's whole record" not in _words(list(fine.plan.sections()))


def test_a_response_cannot_explain_itself(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"features\[1\]\.column: 'hours' is also the response"):
        _ = _campaign(tmp_path, feature="hours").plan


def test_payments_stay_within_what_the_offer_says() -> None:
    mechanism = plan(**OPTIONS).mechanism  # type: ignore[arg-type]
    made_up = stand_ins(mechanism, DESIGN, HOURS, 0.2)
    assert mechanism.figures.lowest <= made_up.low <= made_up.high <= mechanism.figures.highest
    unclipped = replace(mechanism, payment=replace(mechanism.payment, clip=None))
    assert stand_ins(unclipped, DESIGN, HOURS, 0.2).payment == made_up.payment


@pytest.mark.slow
def test_no_population_has_a_larger_smallest_eigenvalue() -> None:
    """The bound from a category and the constant: 0.2 weight^2 for two levels, and above every population tried."""
    two = Design(features=(Category(column="sex", levels=("f", "m")),))
    assert largest_smallest_eigenvalue(two) / two.weight**2 == pytest.approx(0.2, abs=2e-6)
    four = Category(column="r", levels=("n", "e", "s", "w"))
    design = Design(features=(Numeric(column="age", lower=20, upper=60), four))
    bound = largest_smallest_eigenvalue(design)
    rng = np.random.default_rng(0)
    best = 0.0
    for _ in range(400):
        shares = rng.dirichlet(np.full(4, rng.uniform(0.5, 30)))
        second = np.zeros((5, 5))
        for level, share in zip(four.levels, shares, strict=True):
            for age in (20.0, 60.0):
                x = design.encode_one({"age": age, "r": level})[0]
                second += share / 2 * np.outer(x, x)
        best = max(best, float(np.linalg.eigvalsh(second)[0]))
    assert 0.8 * bound < best <= bound


def _share(campaign: Campaign, record: dict[str, str]) -> str:
    mechanism = campaign.plan.mechanism
    kind, config = campaign.file.kind, campaign.file.config
    typed, index = kind.parse_record(config, campaign.plan, "7", record)
    outcome = mechanism.run([], Noise.simulated(0))
    public = PublicOutcome(mechanism=mechanism, billboard=outcome.billboard, guarantees=outcome.guarantees,
                           provenance=outcome.provenance)
    return _words(list(kind.explain(campaign.plan, public, typed, index)))


def test_the_share_page_promises_no_more_than_the_plan(tmp_path: Path) -> None:
    record = {"age": "40", "hours": "13"}
    sound = _share(_campaign(tmp_path), record)
    assert "no lie gains more than" in sound
    for changes in ({"lower": 6}, {"radius": 1.0}):  # answers cut off; a radius as wide as the range
        campaign = _campaign(tmp_path, **changes)
        assert {"truthfulness"} <= {g.name for g in campaign.plan.guarantees if g.vacuous}
        for text in (_share(campaign, record), _words(list(campaign.plan.offer()))):
            assert "does not promise that the truth pays best" in text
            assert "no lie gains" not in text
        assert "no promise" in _words(list(campaign.plan.sections()))


def test_the_printed_formula_gives_the_payment(tmp_path: Path) -> None:
    """Also where the prediction is cut, which is then said."""
    campaign = _campaign(tmp_path)
    mechanism = campaign.plan.mechanism
    kind = campaign.file.kind
    record, index = kind.parse_record(campaign.file.config, campaign.plan, "7", {"age": "60", "hours": "20"})
    outcome = mechanism.run([], Noise.simulated(0))
    billboard = replace(outcome.billboard, peers=np.array([[-99.0, 0.0], [-99.0, 0.0]]))  # type: ignore[type-var]
    public = PublicOutcome(mechanism=mechanism, billboard=billboard, guarantees=outcome.guarantees,
                           provenance=outcome.provenance)
    text = _words(list(kind.explain(campaign.plan, public, record, index)))
    q, p, a, b = (float(re.search(pattern, text).group(1)) for pattern in (  # type: ignore[union-attr]
        r"gives q = (\S+):", r"cut to (\S+),", r"with a = (\S+),", r"b = (\S+),"))
    paid = mechanism.decode(record, index, billboard)["payment"] / 100
    assert a + b * (2 * p * q - q * q) == pytest.approx(paid, abs=0.006)


def test_nothing_private_in_a_repr(tmp_path: Path) -> None:
    """What people get, who was rejected, what was counted: not in a stray line of a notebook."""
    mechanism = plan(**OPTIONS).mechanism  # type: ignore[arg-type]
    X = np.full((20_000, 3), 0.3)
    outcome = mechanism.run((X, np.full(20_000, 0.123)), Noise.simulated(0))
    assert "shares" not in repr(outcome)
    assert "payment: int64" not in repr(outcome)
    assert repr(Check(slots=9, rows=8, usable=7, rejected={"4": "secret"}, tolerated=1)).count("secret") == 0
    assert "7" not in repr(Check(slots=9, rows=8, usable=7, rejected={}, tolerated=1))
    assert "secret" not in repr(Collection(data=["secret"], rejected={"4": "secret"}))

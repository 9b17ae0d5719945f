"""Measured answers that are cut to [0, 1]: what the result says of it, and sums of the uncut ones."""

from __future__ import annotations

import csv
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from held_campaign import campaign
from hypothesis import given, settings
from hypothesis import strategies as st

from campaign.forging import words
from cases import fast
from cli.commands import CONFIDE
from confide.campaign import Campaign
from confide.cli.failures import guarded
from confide.contract import InvalidInput, Refused
from confide.contract.words import Measured
from confide.privacy.noise import Noise
from confide.release import Binned, Bit, Levels, Schema, Workload, true_answers
from confide.release._baseline_boards import alike
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.measured_sums import Sums, _laplace_sum, noise_bar, sum_bar
from confide.release.records import Codes

TOWNS, PEOPLE = 400, 3000

HEAD = """\
format = 1
kind = "queries"
title = "Who is ill?"
[budget]
data_set = "towns"
epsilon = 1.0
delta = 1e-6
[data]
source = "towns.csv"
records = 3000
[[columns]]
column = "town"
levels = [LEVELS]
[[columns]]
column = "ill"
bit = true
[workload]
form = "complete"
width = 1
[privacy]
epsilon = 1.0
delta = DELTA
[method]
name = "METHOD"
"""


def towns(folder: Path, method: str) -> Campaign:
    """3,000 people in the first ten of 400 towns, as many in each; every fifth is ill."""
    rows = [f"m{1 + i % 10},{int(i // 10 % 5 == 0)}" for i in range(PEOPLE)]
    (folder / "towns.csv").write_text("\n".join(["town,ill", *rows]) + "\n")
    levels = ", ".join(f'"m{k}"' for k in range(1, TOWNS + 1))
    text = HEAD.replace("LEVELS", levels).replace("METHOD", method)
    (folder / "towns.toml").write_text(text.replace("DELTA", "0.0" if method == "laplace" else "1e-6"))
    return Campaign.load(folder / "towns.toml")


def simulated(it: Campaign, table: Path) -> Any:
    """An outcome under simulated noise."""
    plan: Any = it.plan
    return plan.mechanism.run(plan.schema.encode(table), Noise.simulated(7))


# ---- the result


@pytest.mark.parametrize("method", ["laplace", "gaussian", "product"])
def test_cut_answers_say_so_and_the_uncut_ones_are_in_the_table(method: str, tmp_path: Path) -> None:
    it = towns(tmp_path, method)
    outcome = simulated(it, tmp_path / "towns.csv")
    table = it.file.kind.tables(it.plan, outcome)["answers"]
    assert table.column_names == ["query", "answer", "uncut", "plus_minus"]
    shown, uncut = (np.array(table[name].to_pylist()) for name in ("answer", "uncut"))
    assert (shown == np.clip(uncut, 0.0, 1.0)).all()
    below = int((uncut < 0).sum())
    assert below > 100
    said = words(it.file.kind.result(it.plan, outcome))
    assert f"Noise moved answers out of [0, 1]: {below:,} answers were below 0 and are shown as 0" in said
    assert "Sums of shown answers are therefore too high" in said
    bar = sum_bar(it.plan.mechanism, 0.05) if method != "product" else None  # type: ignore[arg-type]
    assert f"shown answers add up to {shown.sum():.4g}, and the uncut answers to {Measured(uncut.sum(), bar)}" in said
    assert ("(the noise of this sum, with probability 95%)" in said) == (method != "product")


@pytest.mark.parametrize("method", fast(1, ["marginal-fit", "mwem", "dual-query", "reweighted"]))
def test_a_population_cuts_nothing_and_says_nothing_of_it(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, method=method)
    outcome = simulated(it, tmp_path / "survey.csv")
    assert it.file.kind.tables(it.plan, outcome)["answers"].column_names == ["query", "answer", "plus_minus"]
    assert "out of [0, 1]" not in words(it.file.kind.result(it.plan, outcome))


def test_nothing_is_said_where_nothing_was_cut(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="gaussian")
    outcome = simulated(it, tmp_path / "survey.csv")
    table = it.file.kind.tables(it.plan, outcome)["answers"]
    assert table["answer"].to_pylist() == table["uncut"].to_pylist()
    assert "out of [0, 1]" not in words(it.file.kind.result(it.plan, outcome))


@pytest.mark.parametrize("method", ["laplace", "gaussian"])
def test_other_answers_add_up_the_uncut_ones(method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The 390 empty towns and the ten others: by the uncut answers within their bars, by the shown ones far away."""
    it = towns(tmp_path, method)
    settled = it.settle(tmp_path / "out")
    table = settled.tables["answers"]
    shares = dict(zip(table["query"].to_pylist(), table["uncut"].to_pylist(), strict=True))
    ten = [f"m{k}" for k in range(1, 11)]
    full = math.fsum(shares[f"town = {each}"] for each in ten)
    assert guarded(partial(CONFIDE, [
        "answer", str(tmp_path / "out"), f"town in {{{', '.join(ten)}}}", f"town not in {{{', '.join(ten)}}}",
        "town = m7", "not ill", "--json", "--out", str(tmp_path / "found.csv")])) == 0
    found = json.loads(capsys.readouterr().out)["answers"]
    assert [each["uncut"] for each in found] == pytest.approx(
        [full, 1 - full, shares["town = m7"], 1 - shares["ill"]])
    assert [each["added"] for each in found] == [10, 10, 1, 1]
    bar = noise_bar(settled.outcome.mechanism, [1] * 10, 0.05)  # type: ignore[arg-type]
    assert [each["plus_minus"] for each in found[:2]] == ([pytest.approx(bar)] * 2 if bar < 1 else [None] * 2)
    assert all(each["answer"] == min(max(each["uncut"], 0.0), 1.0) for each in found)
    with (tmp_path / "found.csv").open(newline="") as file:
        assert [float(row["uncut"]) for row in csv.DictReader(file)] == [each["uncut"] for each in found]
    assert guarded(partial(CONFIDE, ["answer", str(tmp_path / "out"), "ill"])) == 0
    assert "Answers are cut to [0, 1]: add up the uncut ones." in " ".join(capsys.readouterr().out.split())
    with pytest.raises(Refused, match="do not add up to 'town = m1 and ill'"):
        it.file.kind.more_answers(it.plan, settled.outcome, ["town = m1 and ill"])  # type: ignore[attr-defined]


def test_products_of_sums_are_without_bias() -> None:
    """Cut shares of 390 empty cells would add up to far more than 0, and leave too little for the others."""
    schema = Schema((Levels(column="town", levels=tuple(f"m{k}" for k in range(TOWNS))), Bit(column="ill")))
    asked = Workload.conjunctions([["town in {" + ", ".join(f"m{k}" for k in range(10)) + "}", "ill"],
                                   ["town not in {" + ", ".join(f"m{k}" for k in range(10)) + "}"]], attributes=schema)
    cells = np.stack([np.arange(PEOPLE) % 10, np.arange(PEOPLE) % 5 == 0], axis=1).astype(np.uint16)
    it = IndependentMarginals(records=PEOPLE, workload=asked, schema=schema, epsilon=1.0, delta=1e-6)
    board: Any = it.run(Codes(schema=schema, cells=cells), Noise.simulated(1)).billboard
    uncut = board.uncut(asked)
    spread = 6 * it.noise_std * math.sqrt(10) / PEOPLE
    assert uncut == pytest.approx([0.2, 0.0], abs=spread)
    assert board.answers(asked)[0] < 0.2 - spread
    shares = board.ones / PEOPLE
    assert uncut[0] == pytest.approx(shares[:10].sum() * shares[TOWNS])  # the ten, not 1 less the 390
    assert uncut[1] == pytest.approx(1 - shares[:10].sum())


# ---- sums


SCHEMA = Schema((Levels(column="job", levels=("none", "part", "full", "self", "both")), Bit(column="ill"),
                 Binned(column="age", lower=0, upper=3, bins=6, whole=True),  # two bins hold no whole number
                 Levels(column="sex", levels=("f", "m"))))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_sum_is_the_query_that_it_stands_for(data: st.DataObject) -> None:
    """Without noise, what answers add up to is the count of the records."""
    width = data.draw(st.integers(1, 3))
    workload = Workload.complete(SCHEMA, width=width, smaller=data.draw(st.booleans()),
                                 positive=data.draw(st.booleans()))
    if data.draw(st.booleans()):
        kept = data.draw(st.sets(st.integers(0, len(workload) - 1), min_size=1))
        workload = workload.some(np.array(sorted(kept)))
    it = NoisyAnswers(records=200, workload=workload, schema=SCHEMA, epsilon=1.0, delta=1e-6)
    literals = []
    for column, start in zip(SCHEMA.columns, SCHEMA.starts.tolist(), strict=False):
        if data.draw(st.booleans()):
            each = st.tuples(st.integers(start, start + len(column.names) - 1), st.booleans())
            literals += data.draw(st.lists(each, min_size=1, max_size=3))
    if not literals:
        return
    coins = np.random.default_rng(data.draw(st.integers(0, 9)))
    cells = np.stack([coins.integers(0, size, 200) for size in SCHEMA.sizes], axis=1).astype(np.uint16)
    codes = Codes(schema=SCHEMA, cells=cells)
    sums = Sums(it, SCHEMA)
    found = sums.of(literals)
    if found is None:
        return
    counts = true_answers(codes, workload).counts
    holds = np.ones(200, bool)
    for attribute, bit in literals:
        column, cell = int(SCHEMA.column_of[attribute]), int(SCHEMA.cell_of[attribute])
        holds &= (cells[:, column] == cell) == bit
    assert found.share(counts[sums.measured], 200) == pytest.approx(holds.mean(), abs=1e-12)


def test_what_is_a_sum_is_found() -> None:
    def times(asked: list[list[str]] | int, query: list[str], smaller: bool = False) -> tuple[int, list[int]] | None:
        workload = (Workload.complete(SCHEMA, width=asked, smaller=smaller) if isinstance(asked, int) else
                    Workload.conjunctions(asked, attributes=SCHEMA))
        it = NoisyAnswers(records=100, workload=workload, schema=SCHEMA, epsilon=1.0, delta=1e-6)
        found = Sums(it, SCHEMA).of([each for text in query for each in SCHEMA.literals(text)])
        return None if found is None else (found.records, sorted(found.times.values()))

    assert times(1, ["job = part"]) == (0, [1])
    assert times(1, ["job in {none, part}"]) == (0, [1, 1])
    assert times(1, ["job not in {none, part}"]) == (1, [-1, -1])
    assert times(1, ["sex = m"]) == (1, [-1])  # one measurement tells both
    assert times(1, ["not ill"]) == (1, [-1])
    assert times(1, ["job = part", "ill"]) is None
    assert times(2, ["job = part"]) == (0, [1, 1])  # over both values of sex
    assert times(2, ["job = part", "not ill"]) == (0, [-1, 1, 1])
    assert times(2, ["job = part", "not ill"], smaller=True) == (0, [-1, 1])
    assert times(2, ["job in {none, part}", "sex = f"]) == (0, [1, 1])
    assert times([["job in {none, part}"]], ["job in {none, part}"]) == (0, [1])
    assert times([["job in {none, part}"]], ["job = none"]) is None
    assert times([["job in {none, part}"], ["job = none"]], ["job = part"]) is None


def test_sums_of_both_values_hold_no_noise() -> None:
    asked = Workload.conjunctions([["sex = f"], ["sex = m"]], attributes=SCHEMA)
    it = NoisyAnswers(records=100, workload=asked, schema=SCHEMA, epsilon=1.0, delta=1e-6)
    assert len(alike(asked, SCHEMA).kept) == 1
    assert sum_bar(it, 0.05) == 0.0


def test_a_sum_of_many_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty cells, each the sum over all sixty of another column; and what takes more apart than that is refused."""
    schema = Schema(tuple(Levels(column=name, levels=tuple(f"m{k}" for k in range(60))) for name in "abc"))
    it = NoisyAnswers(records=100, workload=Workload.complete(schema, width=2), schema=schema, epsilon=1.0, delta=1e-6)
    query = schema.literals("a in {" + ", ".join(f"m{k}" for k in range(30)) + "}")
    found = Sums(it, schema).of(query)
    assert found is not None
    assert set(found.times.values()) == {1}
    assert len(found.times) == 1800
    monkeypatch.setattr("confide.release.measured_sums._MOST_STEPS", 1800)
    with pytest.raises(InvalidInput, match="too many combinations of cells"):
        Sums(it, schema).of(query)


# ---- bars


@pytest.mark.parametrize("beta", [0.05, 1e-9])
def test_the_tail_of_a_sum_of_laplace_variables(beta: float) -> None:
    """P(|X| > x) = e^-x, and of two (1 + x/2) e^-x."""
    assert _laplace_sum(1.0, 1, beta) == pytest.approx(-math.log(beta), rel=2e-3)
    x = _laplace_sum(1.0, 2, beta)
    assert 0.99 * beta <= (1 + x / 2) * math.exp(-x) <= beta
    many = _laplace_sum(1.0, 10_000, 0.05)
    assert many == pytest.approx(1.959964 * math.sqrt(20_000), rel=2e-3)  # the central limit


@pytest.mark.parametrize(("epsilon", "times"), [(0.5, [1, 1, 1]), (8.0, [1, 1, 1, -1]), (0.7, [1] * 12), (2.0, [2, 1])])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_a_bar_covers_the_exact_law_of_a_sum(epsilon: float, times: list[int], law: str) -> None:
    """Discrete noise convolved, coefficient by coefficient: the bar fails at most as often as it says, and not much
    less often where noise is not of the size of a record.
    """
    asked = Workload.conjunctions([[k] for k in range(4)], attributes=4)
    it = NoisyAnswers(records=1000, workload=asked, epsilon=epsilon, delta=0.0 if law == "laplace" else 1e-6,
                      law=law)  # type: ignore[arg-type]
    reach = math.ceil(40 * (it.noise_scale if law == "laplace" else it.noise_std / 3))
    at = np.arange(-reach, reach + 1)
    if law == "laplace":
        one = np.exp(-np.abs(at) / it.noise_scale)
    else:
        edges = np.array([math.erf((k - 0.5) / it.noise_std / math.sqrt(2)) for k in range(-reach, reach + 2)])
        one = np.diff(edges)
    one /= one.sum()
    law_of_sum = np.ones(1)
    for each in times:
        wide = np.zeros((len(one) - 1) * abs(each) + 1)
        wide[:: abs(each)] = one
        law_of_sum = np.convolve(law_of_sum, wide)
    middle = len(law_of_sum) // 2
    bar = noise_bar(it, times, 0.05) * it.records
    outside = float(law_of_sum[np.abs(np.arange(len(law_of_sum)) - middle) > bar].sum())
    assert outside <= 0.05
    if (it.noise_scale if law == "laplace" else it.noise_std) > 7:
        assert outside > 0.01

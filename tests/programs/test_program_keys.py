"""Keys that some families of the kind `program` have: what they change, from file to page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_programs import PEOPLE, campaign, rows

from confide.contract import InvalidInput

GAME = 'contributions = """\naction,x,y\nleft,1,-0.5\nright,-1,0.5\nstay,0,0\n"""\n'


def test_contributions_may_be_private(tmp_path: Path) -> None:
    """Everybody's own: columns action.row, and what an action contributes in all."""
    draw = np.round(np.linspace(-1, 1, 6 * PEOPLE).reshape(PEOPLE, 6), 3)
    cells = [f"{i + 1},5,4,0,{','.join(map(str, row))}" for i, row in enumerate(draw.tolist())]
    it = campaign(tmp_path, (GAME, 'actions = ["left", "right", "stay"]\nlargest_sum = 1.9\n'), of="aggregative-game",
                  data=cells)
    names = ["left", "right", "stay"]
    head = ",".join(["id", *names, *(f"{action}.{row}" for action in names for row in "xy")])
    (tmp_path / "rows.csv").write_text("\n".join([head, *cells]) + "\n")
    found = it.check()
    sums = np.abs(draw).reshape(PEOPLE, 3, 2).sum(axis=2)
    assert set(found.rejected) == {str(i + 1) for i in np.flatnonzero((sums > 1.9).any(axis=1))}
    assert 0 < found.usable < PEOPLE
    record, _ = it.file.kind.record(it.file.config, it.plan, tmp_path, "100")
    assert record[0].reshape(-1).tolist() == draw[99].tolist()
    assert record[1].tolist() == [1.0, 1.0, 1.0]  # within 6 of the best
    outcome, _ = it.study(1, accept_unusable=True)
    assert outcome.shares.num_rows == PEOPLE


def test_items_may_be_limited_as_a_whole(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("least_weight", "most_weight = 1.2\nleast_weight"), of="knapsack")
    found, program = it.check(), it.plan.mechanism.program  # type: ignore[attr-defined]
    assert 0 < found.usable < PEOPLE
    for line in rows("knapsack")[1]:
        identity, value, power, space = line.split(",")
        record = np.array([float(value) / 10, float(power) / 5, float(space)])
        if identity in found.rejected:
            assert record[1:].sum() > 1.2
            with pytest.raises(InvalidInput):
                program.one(record)
        else:
            program.one(record)
    assert "at most 1.2, each in units of its largest weight" in found.rejected[next(iter(found.rejected))]
    assert it.plan.reserve[0] / it.plan.reserve[1] == pytest.approx(5, rel=0.2)  # type: ignore[attr-defined]


def test_power_without_needs_is_a_packing_program_and_hard_needs_are_met(tmp_path: Path) -> None:
    head = "id,day.1,day.2,night.1,night.2"
    it = campaign(tmp_path, ("shortfall = 5\n", ""), of="electricity")
    assert head == ",".join(["id", *it.plan.coding.names])  # type: ignore[attr-defined]
    assert it.plan.mode == "audited"  # type: ignore[attr-defined]
    hard = campaign(tmp_path, ("shortfall = 5", "hard = true\ntau = 2.0"), ("supply = 60", "supply = 90"),
                    of="electricity")
    outcome, _ = hard.study(1)
    for index, line in list(enumerate(rows("electricity")[1]))[::29]:
        share = outcome.shares.slice(index, 1).to_pylist()[0]
        plans = np.array(share["actions"]).reshape(-1, 2)
        wanted = (0, 1) if line.split(",")[5] == "1.0" else (2, 3)
        assert np.isin(plans, wanted).any(axis=1).all()


def test_resources_that_are_bought_in_public_are_on_the_page(tmp_path: Path) -> None:
    it = campaign(tmp_path, of="shared-resources")
    outcome, _ = it.study(1)
    program: Any = it.plan.mechanism.program  # type: ignore[attr-defined]
    board: Any = outcome.billboard
    units = np.mean([program.bought(row) for row in board.main_prices], axis=0)
    (table,) = [block for block in it.file.kind.result(it.plan, outcome)[0].blocks
                if getattr(block, "columns", ("",))[0] == "resource"]
    assert [row[0] for row in table.rows] == ["x", "y"]  # type: ignore[union-attr]
    assert [row[1] for row in table.rows] == units.tolist()  # type: ignore[union-attr]
    assert table.rows[0][2] == pytest.approx(4 * units[0])  # type: ignore[union-attr]


def test_old_words_of_files_are_read_for_ever_under_the_same_digest(tmp_path: Path) -> None:
    """`beta`, and neighbours "null": what they mean, and what a ledger knows the campaign by, stays."""
    (tmp_path / "then").mkdir()
    (tmp_path / "now").mkdir()
    old = campaign(tmp_path / "then", ("[privacy]", '[privacy]\nbeta = 0.1\nneighbours = "null"'))
    new = campaign(tmp_path / "now", (
        "[privacy]", '[privacy]\nfailure_probability = 0.1\nneighbours = "add_or_remove"'))
    assert old.file.digest == new.file.digest
    assert old.plan.mechanism == new.plan.mechanism
    assert old.plan.mechanism.failure_probability == 0.1  # type: ignore[attr-defined]
    assert old.plan.mechanism.neighbours == "add_or_remove"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match=r"^privacy.beta: "):
        campaign(tmp_path / "then", ("[privacy]", "[privacy]\nbeta = 0.7"))

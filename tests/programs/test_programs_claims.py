"""Every published claim about convex programs, and what its evidence says today."""

from __future__ import annotations

import math
import re

import pytest

from confide.evidence import Claim
from confide.programs.evidence_solved import chain, crossroads, optimum, quiet_run, realised_regret, values_of
from confide.programs.families.unit_demand import UnitDemand

from claims_tables import check, complete, rows

TABLE = rows("confide.programs")
NUMBERS = {  # the figures that the table's words quote
    "programs/open-problem": (1.0, 1.0, 0.01),
    "programs/theorem-5.1.1": (1.0, 0.98, 5e-3),
    "programs/theorem-5.2.2": (1.0, 0.995, 5e-4),
    "programs/fact-5.2.3": (0.110, 0.5, 5e-3),
    "programs/lemma-5.2.5": (1.0, 2.0, 0.0),
    "programs/theorem-5.2.6-proof": (0.0, 1.0, 0.0),
    "programs/theorem-5.2.6": (751.0, 247.0, 0.5),
    "programs/slater": (1.0, 50.0, 1e-9),
    "programs/infeasible": (0.0, 488.0, 0.5),
    "programs/algorithm-8-update": (0.0, 750.0, 0.0),
    "programs/algorithm-8-set": (6.3, 2.0, 1e-12),
    "programs/algorithm-8-rounds": (1e5, 1e10, 0.0),
    "programs/algorithm-8-average": (0.0, 0.21, 5e-3),
    "programs/example-5.3.6": (2 * math.sqrt(8), 4.0, 1e-12),
    "programs/definition-5.3.5": (math.sqrt(2), math.sqrt(2), 1e-12),
    "programs/theorem-5.3.7": (20_000.0, 41_154.0, 0.5),
    "programs/theorem-5.3.7-loss": (1.0, 0.049, 5e-4),
    "programs/theorem-5.3.7-noise": (70.9, 4.22, 5e-3),  # spec convex_programs 9.1
    "programs/lemma-5.3.9": (0.5, 0.25, 1e-9),
    "programs/definition-5.3.10": (1.0, 0.838, 5e-4),
    "programs/example-5.3.11": (1.0, 4.0, 1e-6),  # spec convex_programs 11.3
    "programs/example-5.3.14": (400.0, 50.0, 0.0),
    "programs/width-logarithm": (2.0, 1.0, 5e-4),
    "programs/lemma-5.3.15": (281_802.6, 8_662.0, 0.5),  # spec convex_programs 11.2
    "programs/theorem-5.3.17": (2.0, 0.60, 5e-3),
    "programs/theorem-5.3.17-sizes": (1e5, 563_605.0, 0.5),
    "programs/corollary-5.3.19": (4.0, 6.0, 1e-6),
    "programs/table-2-bundles": (1.0, 0.5, 1e-12),
    "programs/table-2-knapsack": (8.0, 8.0, 1e-6),
    "programs/table-2-resources": (1.5, 1.5, 1e-12),
    "programs/table-2-games": (1.0, 2.0, 1e-12),
    "programs/d-demand-sigma": (4.243, 2.449, 5e-4),
    "programs/d-demand-width": (150.0, 50.0, 0.0),
    "programs/d-demand-tau": (1.0, 0.501, 5e-4),
    "programs/flow-tau": (1.0, 5.0, 1e-6),
    "programs/corollary-5.4.3": (0.0, 50.0, 1e-6),
    "programs/resources-tau": (1.0, 0.991, 5e-4),
    "programs/games-sigma": (1.0, 2.83, 5e-3),
    "programs/games-width": (100.0, 200.0, 0.0),
    "programs/corollary-5.4.6": (1.0, 0.149, 5e-4),
    "programs/theorem-5.5.2": (4_883.0, 2_320.0, 0.5),
    "programs/algorithm-9-threshold": (0.0, 1.0, 0.0),
    "programs/theorem-5.5.3-feasible": (1.0, 0.589, 5e-4),
    "programs/theorem-5.5.3": (1.0, 0.21, 5e-3),
    "programs/theorem-5.5.3-sizes": (5_000.0, 9_763.0, 0.5),  # spec convex_programs 9.6: 9.3e3 to 1.0e4
    "programs/theorem-5.5.3-margin": (9_763.0, 82.0, 0.5),
    "programs/theorem-5.5.4": (1.0, 0.28, 5e-3),
    "programs/theorem-5.5.5": (1.0, 3.0, 1e-6),
    "programs/corollary-5.5.6": (1.0, 1.5, 1e-12),
    "programs/comparison-5.5": (-7 / 3, -4 / 3, 1e-12),
    "programs/lemma-6.2.4": (1.0, 0.022, 5e-4),
    "programs/lemma-6.2.6": (-0.02, -0.018, 5e-4),
    "programs/lemma-6.2.9": (0.02, 0.0144, 5e-5),
    "programs/footnote-6.2": (0.0, 0.6, 5e-6),
    "programs/lemma-6.2.10": (1e-6, 1e-6, 1e-9),
    "programs/theorem-6.2.11": (0.044, 0.027, 5e-4),
    "programs/theorem-6.2.11-prices": (math.sqrt(10), 6.3, 0.05),
    "programs/theorem-6.2.11-sizes": (1.0, 1.08, 5e-3),
    "programs/lemma-6.3.2": (0.75, 0.761, 5e-4),
    "programs/corollary-6.3.3": (-0.06, -0.1, 1e-6),
    "programs/theorem-6.3.4": (1e-4, 0.0047, 5e-5),  # spec convex_programs 7 (erratum 13)
    "programs/theorem-6.3.4-lower": (1.0, 0.10, 5e-3),
    "programs/theorem-6.3.5": (1.0, 16_074.0, 0.5),
    "programs/theorem-6.3.6-sizes": (5_000.0, 8.0e7, 5e5),
    "programs/theorem-6.3.8": (1.0, 1.98, 5e-3),
    "programs/algorithm-11-input": (1.0, 9.8, 0.05),
    "programs/corollary-6.3.9": (1.0, 39.0, 0.5),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_verdicts(row: Claim) -> None:
    check(row, NUMBERS)


def test_the_table_is_complete() -> None:
    complete(TABLE)
    assert set(NUMBERS) <= {row.id for row in TABLE}
    assert len(TABLE) >= 60
    told = " ".join(row.ours for row in TABLE)
    named = {int(k) for some in re.findall(r"\(err(?:atum|ata) ([\d, ]+)", told) for k in re.findall(r"\d+", some)}
    assert named == set(range(1, 17))  # spec convex_programs 7
    assert all(3366 <= row.line <= 5560 for row in TABLE)


def test_instances_of_the_errata() -> None:
    """Spec convex_programs 7 (errata 7 and 8) and 11.3: what excess is worth there."""
    program, data = chain()
    assert optimum(program, data) == pytest.approx(4.0, abs=1e-6)
    assert optimum(program, data, 4.0) == pytest.approx(4.0, abs=1e-6)
    assert optimum(*chain(0.5)) == pytest.approx(6.0, abs=1e-6)
    flow, users = crossroads(1)
    assert optimum(flow, users) == pytest.approx(6.0 - 2.5, abs=1e-6)
    for price, worth in ((1.0, 5.5), (5.0, 3.5), (6.0, 3.5)):
        assert optimum(flow, users, price) == pytest.approx(worth, abs=1e-6)


def test_regret_of_a_quiet_run() -> None:
    """One price, three rounds: by hand."""
    program = UnitDemand(2, (1.0,))
    board = quiet_run(program, [[0.75], [0.25]], 3, 0).billboard
    prices, slacks = board.prices[:, 0] / 2**24, board.natural_slacks[:, 0]
    assert slacks.tolist() == [-1.0, 0.0, 0.0]  # both want it for nothing, and one of them at 1/sqrt3
    assert prices.tolist() == pytest.approx([0.0, 3**-0.5, 3**-0.5], abs=1e-6)
    assert realised_regret(board, program) == pytest.approx(2.0 / 3.0)  # of the fixed price 2
    assert values_of(3, 2, 1).shape == (3, 2)

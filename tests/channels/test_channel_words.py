"""What is said while and after something is computed: how far it is, why only bounds are known, what is ruled out."""

from __future__ import annotations

import numpy as np
import pytest

from confide.channels import (
    Exchangeable,
    FullPrior,
    IndependentRows,
    PriorConstants,
    RowProduct,
    TopK,
    WaterFilling,
    closed_form,
    composed_level,
    distortion,
    how_private,
    least_distortion,
    printed_bounds,
    privacy_distortion,
    translate,
)
from confide.channels.solvers.programs import solve_program
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Text

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
TABLE = [[0.6, 0.4], [0.4, 0.6]]


def every_row(rows: int) -> RowProduct:
    return RowProduct([TABLE], np.zeros(rows, dtype=np.int64))


# ---- while it is computed


def test_programs_report_their_progress() -> None:
    reported: list[tuple[int, int | None]] = []
    found = privacy_distortion("dp", PAIR, 0.4, progress=lambda done, total: reported.append((done, total)))
    assert found.method == "program"
    shares = [done for done, _ in reported]
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert {total for _, total in reported} == {1000}
    assert 0 <= shares[0] < 200 < shares[-1] <= 1000
    reported.clear()
    least_distortion("dp", PAIR, 0.6, progress=lambda done, total: reported.append((done, total)))
    assert reported


def test_long_programs_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distortion, "_LONG", -1.0)
    for ask in (lambda: privacy_distortion("dp", PAIR, 0.4),
                lambda: privacy_distortion("mutual-information", PAIR, 0.4), lambda: least_distortion("dp", PAIR, 0.6)):
        with pytest.warns(UserWarning, match="takes about .* seconds.*solve=False") as reported:
            ask()
        assert reported[0].filename == __file__


def test_a_program_starts_where_its_neighbour_was_midway() -> None:
    """A few steps in the place of all; certified as well."""
    law = FullPrior(np.random.default_rng(1).dirichlet(np.ones(16)), 2, 4)
    steps: list[float] = []
    first = solve_program(law, 0.9, "dp", progress=steps.append)
    cold = len(steps)
    for epsilon in (0.9 + 1e-5, 0.9 - 1e-5):
        steps.clear()
        point = solve_program(law, epsilon, "dp", midway=first.midway, progress=steps.append)
        assert len(steps) < 0.7 * cold
        assert 0 <= point.upper - point.lower < 1e-8
        assert point.upper == pytest.approx(first.upper + first.slope * (epsilon - 0.9), abs=1e-8)


# ---- tables of many rows


def test_laws_with_the_same_likeliest_letters_share_a_table() -> None:
    laws = np.random.default_rng(2).dirichlet(np.full(3, 5.0), size=2000)
    it = TopK(prior=IndependentRows(laws), epsilon=1.0)
    assert len(it.coded.tables) <= 7
    found = it.levels()
    assert found.dp <= 1.0
    assert found.distortion == pytest.approx(least_distortion("dp", it.prior, 1.0).value, rel=1e-9)


def test_parts_of_tables_make_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large tables are made and measured a part at a time."""
    from confide.channels import analyser, kernels, rows
    from confide.channels.mechanisms import coded

    draw = np.random.default_rng(3)
    law, table = FullPrior(draw.dirichlet(np.ones(9)), 3, 2), draw.dirichlet(np.ones(9), size=9)
    apart = IndependentRows(draw.dirichlet(np.ones(3), size=5))
    level = PriorConstants.of(apart).prior_level + 0.5

    def everything() -> list[dict[str, object]]:
        it = WaterFilling(prior=apart, identifiability=level)
        channels = [it.levels(), TopK(prior=apart, epsilon=1.5).levels(),
                    least_distortion("identifiability", law, 9.0).mechanism.levels()]
        full = analyser.analyse(analyser.Channel(table, 3, 2), law)
        return [found.to_dict() for found in (*channels, full)]

    whole = everything()
    for module, name in ((kernels, "_BLOCK"), (rows, "_AT_ONCE"), (analyser, "_AT_ONCE"), (coded, "_AT_ONCE")):
        monkeypatch.setattr(module, name, 10)
    for part, expected in zip(everything(), whole, strict=True):
        assert part == pytest.approx(expected, rel=1e-12)


# ---- why only bounds are known


def test_why_only_bounds_are_known() -> None:
    known = privacy_distortion("dp", PAIR, 0.4)
    assert (known.note, known.to_dict()["mechanism"]) == ("", "JointTypeMechanism")
    quick = privacy_distortion("dp", PAIR, 0.4, solve=False)
    assert quick.value is None
    assert "only bounds are known: the formula ends at 0.2 changed rows, and no program was solved" in quick.note
    large = FullPrior(np.random.default_rng(0).dirichlet(np.ones(512)), 2, 9)
    for solve in (True, False):
        assert "512 x 512 pairs of databases (at most 256" in privacy_distortion("dp", large, 2.0, solve=solve).note
    assert "512 x 512" in least_distortion("dp", large, 0.5).note
    many = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 5000)
    found = privacy_distortion("mutual-information", many, 1400.0)
    assert "an exchangeable prior of 5,000 rows (at most" in found.to_dict()["note"]


def test_a_page_says_why_only_bounds_are_known() -> None:
    large = FullPrior(np.random.default_rng(0).dirichlet(np.ones(512)), 2, 9)
    answer = how_private(every_row(9), large)
    text = " ".join(answer.sections()[3].blocks[1].paragraphs)
    assert "For differential privacy, only bounds are known: the formula ends at" in text
    assert answer.least["mutual-information"].method == "slope"


def test_a_page_solves_rows_that_can_change_places() -> None:
    """Twelve of them, listed as 4,096 databases."""
    mixture = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 12)
    answer = how_private(every_row(12), FullPrior(mixture.vector(), 2, 12))
    assert [answer.least[notion].value is None for notion in ("dp", "identifiability")] == [False, False]
    assert answer.to_dict()["least"]["dp"]["mechanism"] == "JointTypeMechanism"


# ---- priors


def test_a_prior_that_rules_values_out_is_named() -> None:
    answer = how_private([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], [0.7, 0.3, 0.0])
    part = answer.sections()[3]
    assert part.title == "How private it could be"
    rows = {row[0]: row[2] for row in part.blocks[0].rows}
    assert rows["identifiability"] == np.inf
    assert rows["differential privacy"] == privacy_distortion("dp", [[0.7, 0.3, 0.0]], answer.report.distortion).value
    assert "identifiability is unlimited for every release" in " ".join(
        text for block in part.blocks if isinstance(block, Text) for text in block.paragraphs)
    assert not [step for step in answer.steps if step.bound == "at least"]
    assert "excludes some databases" in answer.steps[0].needs


def test_plain_lists_are_the_law_of_one_row() -> None:
    law = IndependentRows([[0.1, 0.9]])
    assert translate("dp", 1.0, [0.1, 0.9]) == translate("dp", 1.0, law)
    assert composed_level([1.0], [0.1, 0.9]) == composed_level(np.array([1.0]), law)
    assert closed_form("dp", [0.1, 0.9], 0.05) == closed_form("dp", law, 0.05)
    assert printed_bounds([0.1, 0.9], 0.05) == printed_bounds(law, 0.05)
    assert PriorConstants.of([0.1, 0.9]) == PriorConstants.of(law)
    assert TopK(prior=[0.1, 0.9], epsilon=1.0).levels() == TopK(prior=law, epsilon=1.0).levels()
    assert TopK(prior=[[0.1, 0.9], [0.5, 0.5]], epsilon=1.0).records == 2
    for wrong in (1.0, []):
        with pytest.raises(InvalidInput, match="levels"):
            composed_level(wrong)
    with pytest.raises(InvalidInput, match="prior"):
        translate("dp", 1.0, "uniform")


def test_a_found_mechanism_knows_its_prior() -> None:
    for lost in (0.0, 0.05):
        found = privacy_distortion("dp", PAIR, lost).mechanism
        assert found.levels() == found.levels(PAIR)

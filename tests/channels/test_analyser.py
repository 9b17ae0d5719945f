"""The analyser: the source's examples, odd channels, the three forms agree, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.channels import (
    Channel,
    ExponentialForm,
    FullPrior,
    IndependentRows,
    PriorConstants,
    RandomizedResponse,
    RowProduct,
    analyse,
)
from confide.contract.errors import InvalidInput

NAMES = ("dp", "identifiability", "mutual_information", "distortion", "adversary_success", "information_privacy")


def test_the_sources_examples() -> None:
    """Acceptance 1, Examples 1 and 2."""
    channel = [[0.6, 0.4], [0.4, 0.6]]
    even, sure = analyse(channel, [0.55, 0.45]), analyse(channel, [0.9, 0.1])
    assert even.identifiability == pytest.approx(math.log(0.33 / 0.18), abs=1e-12)
    assert even.adversary_success == pytest.approx(0.33 / 0.51, abs=1e-12)
    assert even.prior_level == pytest.approx(math.log(11 / 9), abs=1e-12)
    assert sure.identifiability == pytest.approx(math.log(13.5), abs=1e-12)
    assert sure.dp == pytest.approx(math.log(1.5), abs=1e-12)
    assert sure.adversary_success == pytest.approx(27 / 29, abs=1e-12)
    assert sure.bits == pytest.approx(sure.mutual_information / math.log(2))


def test_odd_channels() -> None:
    """Acceptance 1."""
    law = [0.2, 0.3, 0.5]
    assert analyse(np.eye(3), law).mutual_information == pytest.approx(IndependentRows([law]).entropy, abs=1e-12)
    assert analyse(np.eye(3), law).dp == math.inf
    constant = analyse([[0.5, 0.5]] * 3, law)
    assert constant.identifiability == pytest.approx(math.log(2.5), abs=1e-12)
    assert (constant.dp, constant.distortion) == (0.0, None)
    assert constant.mutual_information == pytest.approx(0.0, abs=1e-15)
    unused = analyse([[0.5, 0.5, 0.0]] * 3, law)
    assert unused.identifiability == pytest.approx(math.log(2.5), abs=1e-12)
    beside = analyse([[0.5, 0.5], [1.0, 0.0]], [0.5, 0.5])
    assert (beside.dp, beside.identifiability, beside.adversary_success) == (math.inf, math.inf, 1.0)
    assert analyse([[0.6, 0.4], [0.4, 0.6]], [1.0, 0.0]).identifiability == math.inf


@given(st.integers(0, 10**6), st.sampled_from([(2, 1), (2, 3), (3, 2), (4, 1)]))
def test_the_three_forms_agree(seed: int, size: tuple[int, int]) -> None:
    """The same channel as a product of rows, in exponential form and as a table, under a correlated prior."""
    m, n = size
    draw = np.random.default_rng(seed)
    prior = FullPrior(draw.dirichlet(np.ones(m**n)) * 0.9 + 0.1 / m**n, m, n)
    product = RandomizedResponse(epsilon=float(draw.uniform(0.1, 3)), letters=m, records=n).channel
    tables = RowProduct([draw.dirichlet(np.ones(m), size=m) for _ in range(n)])
    weights = draw.dirichlet(np.full(m**n, 0.3))
    form = ExponentialForm(np.where(weights > 0.02, weights, 0.0), float(draw.uniform(0.1, 3)), m, n)
    for channel in (product, tables, form):
        short, long = analyse(channel, prior), analyse(Channel(channel.table(), m, n), prior)
        for name in NAMES:
            assert getattr(short, name) == pytest.approx(getattr(long, name), rel=1e-9, abs=1e-9), (channel, name)


@pytest.mark.slow
def test_ten_million_rows_take_no_table() -> None:
    law = [0.2, 0.3, 0.5]
    one = analyse(RandomizedResponse(epsilon=1.0, letters=3).channel, law)
    many = analyse(RandomizedResponse(epsilon=1.0, letters=3, records=10**6).channel, law)
    assert (many.dp, many.identifiability) == (one.dp, one.identifiability)
    assert many.mutual_information == pytest.approx(10**6 * one.mutual_information, rel=1e-12)
    # A constant gives nothing away, and the rounding of ten million rows is no contradiction.
    nothing = RowProduct([np.ones((3, 1))], np.zeros(10**7, dtype=np.int64))
    assert analyse(nothing, [0.6, 0.3, 0.1]).mutual_information == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("channel", "prior", "message"), [
    ([[0.6, 0.5], [0.4, 0.6]], [0.5, 0.5], "row 1 sums to 1.1"),
    ([[0.6, 0.4]], [0.5, 0.5], "two rows or more"),
    ([[math.nan, 1], [0.5, 0.5]], [0.5, 0.5], "negative or not finite"),
    ([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.4], "sums to 0.9"),
    ([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.6, -0.1], "3 entries"),
    ([[0.6, 0.4], [0.4, 0.6]], [1.5, -0.5], "negative"),
    ([["a", "b"]], [0.5, 0.5], "not a table of numbers"),
])
def test_bad_input(channel, prior, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        analyse(channel, prior)


@pytest.mark.parametrize(("prior", "level"), [
    (IndependentRows([[0.3, 0.7]], [10**6]), math.log(7 / 3)),
    (FullPrior(np.kron(np.kron([0.3, 0.7], [0.3, 0.7]), [0.3, 0.7]), 2, 3), math.log(7 / 3)),
    (FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2), math.acosh(9.0)),
    (FullPrior(np.full(8, 0.125), 2, 3), 0.0),
    (IndependentRows([[1.0, 0.0]]), math.inf),
])
def test_kernel_levels(prior, level: float) -> None:
    """Acceptance 2."""
    found = PriorConstants.of(prior)
    assert found.kernel_level == pytest.approx(level, abs=1e-9)
    assert found.prior_level <= found.row_level + 1e-12 <= found.kernel_level + 2e-12

"""Probabilities in fewer bits than a double has: the decimals that they print as, at every door that takes a law."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.acquisition.priors import HistogramPrior
from confide.acquisition.release.lattice import integer_contracts
from confide.channels import Channel, Exchangeable, FullPrior, IndependentRows
from confide.channels.priors import as_prior
from confide.channels.surveys import survey_shares
from confide.contract import InvalidInput
from confide.contract.probabilities import as_probabilities
from confide.market.pairs.accuracy import failure_probability
from confide.market.pairs.prior import PairPrior
from confide.market.strategies import Strategy
from confide.privacy.divergences import hockey_stick
from confide.regression.bernoulli_peers import FinitePrior
from confide.regression.priors import Atoms
from confide.release.reweighted import Reweighted
from confide.release.workload import Workload
from confide.search.noise_kinds import threshold_points

LAW = [0.1, 0.2, 0.3, 0.05, 0.35]  # 1.0000000074505806 in 32 bits, as doubles
WORKLOAD = Workload.conjunctions([[0], [1]], attributes=2)

FORMS: dict[str, Callable[[list[float]], Any]] = {
    "float32": lambda law: np.array(law, np.float32), "float16": lambda law: np.array(law, np.float16),
    "scalars": lambda law: [np.float32(each) for each in law],
    "mixed": lambda law: [np.float32(law[0]), *law[1:]], "decimals": lambda law: [Decimal(str(each)) for each in law],
    "arrow": lambda law: pa.array(law, pa.float32()),
    "chunked": lambda law: pa.chunked_array([pa.array(law, pa.float32())]),
    "pandas": lambda law: pd.Series(law, dtype="float32"), "nullable": lambda law: pd.Series(law, dtype="Float32"),
    "doubles": lambda law: law}


@pytest.mark.parametrize("form", FORMS)
def test_a_law_is_the_decimals_that_it_prints_as(form: str) -> None:
    assert as_probabilities(FORMS[form](LAW)).tolist() == LAW
    assert as_probabilities(FORMS[form]([0.1] * 10)).tolist() == [0.1] * 10


ENTRIES: dict[str, Callable[[Any], Any]] = {
    "channel": lambda law: Channel(np.stack([law, law[::-1]]), letters=2, records=1).table(),
    "survey": lambda law: survey_shares(np.stack([law, law[::-1]]), counts=[5, 5, 5, 5, 5]).shares,
    "rows": lambda law: IndependentRows([law]).laws, "full": lambda law: FullPrior(law, 5, 1).table,
    "prior": lambda law: as_prior(law, records=2).vector(),
    "mixture": lambda law: Exchangeable.mixture(law, [law] * 5, 2).vector(),
    "counts": lambda law: Exchangeable.of_counts(law).vector(),
    "divergence": lambda law: hockey_stick(law, law[::-1], 0.1),
    "histogram": lambda law: HistogramPrior((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), law).masses,
    "weights": lambda law: integer_contracts(law, np.ones(5), 2.0).noise_std,
    "points": lambda law: Atoms(np.eye(5), law).weights,
    "bits": lambda law: FinitePrior([0.1, 0.2, 0.3, 0.4, 0.5], law).weights,
    "pairs": lambda law: PairPrior.of_counts(law).log_counts,
    "failure": lambda law: failure_probability(4, 1.0, 0.2, counts=law),
    "strategy": lambda law: Strategy(np.stack([law[:3] / law[:3].sum()] * 2, axis=1)).channel,
    "threshold": lambda law: threshold_points(law)[1],
    "shares": lambda law: Reweighted.for_budget(
        records=100_000, workload=WORKLOAD, epsilon=1.0, delta=1e-6, rounds=3, samples=3,
        shares=np.array([0.9, 0, 0.1], law.dtype)).rho_mea,
}


@pytest.mark.parametrize("bits", [np.float32, np.float16])
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_function_takes_probabilities_in_fewer_bits(entry: str, bits: type) -> None:
    law = np.array(LAW, bits)
    wide = np.array(LAW)
    if entry == "strategy":
        law, wide = np.array([0.7, 0.2, 0.1], bits), np.array([0.7, 0.2, 0.1])
        assert Strategy(np.stack([law] * 2, axis=1)).channel.tolist() == np.stack([wide] * 2, axis=1).tolist()
        return
    assert np.asarray(ENTRIES[entry](law)) == pytest.approx(np.asarray(ENTRIES[entry](wide)), abs=1e-12)


@pytest.mark.parametrize("bits", [np.float32, np.float16])
@pytest.mark.parametrize("entry", [each for each in ENTRIES if each not in ("strategy", "shares")])
def test_what_sums_to_something_else_is_refused_as_before(entry: str, bits: type) -> None:
    with pytest.raises(InvalidInput):
        ENTRIES[entry](np.array([0.1, 0.2, 0.3, 0.05, 0.30], bits))


@settings(max_examples=100, deadline=None)
@given(parts=st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=300), bits=st.sampled_from([np.float32, np.float16]))
def test_a_law_that_was_normalised_in_fewer_bits_is_one(parts: list[float], bits: type) -> None:
    law = np.array(parts, bits)
    law = (law / law.sum(dtype=bits)).astype(bits)
    found = as_probabilities(law)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert found == pytest.approx(law.astype(float), rel=3e-2 if bits is np.float16 else 1e-5)


def test_doubles_and_shapes_stay_as_they_are() -> None:
    doubles = np.array([0.3, 0.3, 0.3])
    assert as_probabilities(doubles).tolist() == doubles.tolist()
    assert as_probabilities(doubles) is not doubles
    assert as_probabilities(np.zeros(3, np.float32)).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(as_probabilities(np.array([np.nan, 1], np.float32))).tolist() == [True, False]
    rows = as_probabilities(np.array([[1 / 3] * 3, [0.2, 0.3, 0.5]], np.float32))
    assert rows.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-15)
    for wrong in ("abc", [[1], [1, 2]]):
        with pytest.raises((TypeError, ValueError)):
            as_probabilities(wrong)


def test_the_order_of_bytes_changes_nothing() -> None:
    for kind in (">f4", "<f4", ">f2", ">f8"):
        assert as_probabilities(np.array([0.1, 0.2, 0.3, 0.4], kind)).tolist() == [0.1, 0.2, 0.3, 0.4]

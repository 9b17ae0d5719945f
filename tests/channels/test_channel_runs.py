"""A channel runs as every mechanism does: an outcome with the letters on its billboard, told to the end, metered."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from confide.channels import (
    Channel,
    Exchangeable,
    FullPrior,
    IndependentRows,
    JointTypeMechanism,
    KernelMechanism,
    PriorConstants,
    RandomizedResponse,
    ReleasedLetters,
    RowProduct,
    TableMechanism,
    TopK,
    WaterFilling,
    plan,
)
from confide.channels.channel import JointTypeChannel, JointTypes, joint_types
from confide.contract import InvalidInput, Mechanism, Refused
from confide.contract.encoding import decode, encode
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.wire import wire_types
from confide.privacy import Noise, PureDP

ROWS = [0, 2, 1, 1]
LAWS = [[0.7, 0.3], [0.3, 0.7]]
FULL = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
PAIRS = joint_types(2, 2)
ALIKE = JointTypeChannel(PAIRS, [1.0 / np.sum(PAIRS.inputs == each) for each in PAIRS.inputs])
RESPONSE = RandomizedResponse(epsilon=1.0, letters=3, records=4)


@pytest.mark.parametrize("it", [
    RESPONSE, TopK.for_budget(epsilon=1.0, prior=[[0.2, 0.3, 0.5]] * 4),
    TableMechanism(table=RowProduct([[[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]]], np.zeros(4, np.int64))),
])
def test_a_run_gives_what_a_release_does(it: Any) -> None:
    reported: list[tuple[int, int | None]] = []
    outcome = it.run(ROWS, Noise.simulated(5), progress=lambda done, total: reported.append((done, total)))
    assert isinstance(it, Mechanism)
    assert isinstance(outcome, SimulatedOutcome)
    assert outcome.billboard.letters.tolist() == it.release(ROWS, Noise.simulated(5)).tolist()
    assert outcome.billboard.to_arrow()["letter"].to_pylist() == outcome.billboard.to_pandas()["letter"].tolist()
    assert reported == [(1, 1)]
    assert outcome.guarantees.privacy[0].loss == PureDP(it.dp())
    assert [each.line for each in outcome.meter.lines] == ["release"]
    assert it.decode(0, 0, outcome.billboard) == {}


def test_a_plan_is_run_as_that_of_any_family() -> None:
    found = plan([0.2, 0.3, 0.5], records=4, epsilon=1.0, prior_provenance="public")
    outcome = found.mechanism.run(ROWS, Noise.secure())
    assert isinstance(outcome, Outcome)
    assert outcome.billboard.letters.shape == (4,)


@pytest.mark.parametrize("letters", [[0, 1, 2], [0, 1, 2, 3], [-1, 0, 1, 2]])
def test_a_billboard_of_another_channel_is_refused(letters: list[int]) -> None:
    with pytest.raises(InvalidInput, match=r"^billboard.letters: are not outputs of the channel"):
        RESPONSE.check(ReleasedLetters(letters=np.array(letters)))


def test_outputs_that_are_no_letters_are_positions() -> None:
    it = TableMechanism(table=[[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    it.check(ReleasedLetters(letters=np.array([2])))
    with pytest.raises(InvalidInput, match=r"must be 1 in 0\.\.2"):
        it.check(ReleasedLetters(letters=np.array([3])))
    with pytest.raises(InvalidInput, match=r"^billboard.letters: are not a list"):
        ReleasedLetters(letters=np.array([0.5]))


def test_what_is_too_large_to_be_certified_has_no_charge() -> None:
    law = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 30)
    it = KernelMechanism(prior=law, epsilon=PriorConstants.of(law).kernel_level + 1.0)
    assert it.release([0] * 30, Noise.simulated(1)).shape == (30,)
    with pytest.raises(Refused, match="too large for a certified table"):
        it.run([0] * 30, Noise.simulated(1))


@pytest.mark.parametrize(("it", "records"), [
    (RESPONSE, 4), (TopK(prior=LAWS, epsilon=1.0), 2), (WaterFilling(prior=LAWS, identifiability=3.0), 2),
    (KernelMechanism(prior=FULL, epsilon=3.0), 2), (TableMechanism(table=[[0.6, 0.4], [0.4, 0.6]]), 1),
    (TableMechanism(table=RowProduct([LAWS], np.zeros(4, np.int64))), 4),
    (TableMechanism(table=Channel(np.full((4, 4), 0.25), 2, 2)), 2), (JointTypeMechanism(types=ALIKE), 2),
])
def test_every_outcome_is_json(it: Any, records: int) -> None:
    outcome = it.run([0] * records, Noise.simulated(1))
    assert json.loads(json.dumps(outcome.to_dict()))["mechanism"]["type"] == type(it).__name__


@pytest.mark.parametrize("value", [
    FULL, IndependentRows([LAWS[0], LAWS[1], LAWS[0]]), IndependentRows(LAWS, [2, 3]),
    IndependentRows(LAWS[::-1], [2, 3]), Exchangeable.mixture([0.5, 0.5], LAWS, 3),
    Channel(np.full((4, 4), 0.25), 2, 2), ALIKE, RowProduct([LAWS, LAWS[::-1]], [1, 0, 1]),
])
def test_laws_and_channels_are_written_and_read_back(value: Any) -> None:
    types = wire_types(FullPrior, IndependentRows, Exchangeable, Channel, RowProduct, JointTypeChannel, JointTypes)
    columns: dict[str, bytes] = {}
    written = encode(value, columns)
    again = decode(written, types, columns)
    assert encode(again, {}) == written
    assert (again.letters, again.records) == (value.letters, value.records)
    law = "table" if hasattr(type(value), "table") else "vector"
    np.testing.assert_array_equal(getattr(again, law)(), getattr(value, law)())


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [0, 2, 1, 0, 0], [[0, 1, 1, 1, 0]], [0, -1, 1, 1, 0]])
def test_an_order_of_other_rows_is_refused(order: Any) -> None:
    with pytest.raises(InvalidInput, match="order"):
        IndependentRows(LAWS, [2, 3], order)

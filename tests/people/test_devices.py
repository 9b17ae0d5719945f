"""What a device is told: whoever follows it hands in what is taken, by the very law of the mechanism."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.campaign.kinds.device_kind import exactly
from confide.contract.errors import InvalidInput, Refused
from confide.contract.kinds import ContractKind, LocalKind
from confide.privacy.noise import Noise
from confide.privacy.response import response_table
from confide.tables import Word
from people.all_kinds import PEOPLES, campaign_of, contracts
from people.device_follower import center_of, level_of, row_of, truth_of, word

BITS = ("bits", "bits-pair", "bits-unknown-costs")
AT_TENTH = (("epsilon = 1.0", "epsilon = 0.8"),)


def reported(name: str, *edits: tuple[str, str]) -> tuple[Any, Any, Any, dict[str, Any]]:
    """(kind, config, plan, instructions as they arrive)."""
    it = campaign_of(name, *edits)
    found: Any = it.file.kind
    return found, it.file.config, it.plan, json.loads(json.dumps(found.device(it.file.config, it.plan)))


def mean_terms() -> list[dict[str, Any]]:
    """Some contracts, and one that asks for nothing."""
    it = campaign_of("mean")
    found: Any = it.file.kind
    drawn = contracts()
    ids = [str(row[0] + 1) for row in (drawn["rows"][0], drawn["rows"][len(drawn["rows"]) // 2], drawn["rows"][-1])]
    asked = {row[0] for row in drawn["rows"]}
    ids.append(str(next(rank for rank in range(it.file.config.people.count) if rank not in asked) + 1))
    return [found.terms(it.file.config, drawn, each) for each in ids]


def test_local_kinds_have_devices() -> None:
    for name in PEOPLES:
        assert isinstance(campaign_of(name).file.kind, LocalKind) is (name in (*BITS, "mean"))


@pytest.mark.parametrize("name", ["bits", "bits-pair"])
def test_the_exact_rational_of_a_level(name: str) -> None:
    found, config, plan, device = reported(name)
    level = plan.market.largest_level
    assert device == {
        "law": "response", "column": "report", "input": "answer", "answers": ["no", "yes"],
        "epsilon": {"numerator": str(Fraction(level).numerator), "denominator": str(Fraction(level).denominator)}}
    assert found.private(config, plan, {"answer": "yes"})[1] == level


def test_a_rational_is_above_neither_the_decimal_nor_its_double() -> None:
    """0.8 is written as less than its double, 0.7 as more."""
    assert exactly(0.8) == Fraction(8, 10) < Fraction(0.8)
    assert exactly(0.7) == Fraction(0.7) < Fraction(7, 10)
    assert reported("bits", *AT_TENTH)[3]["epsilon"] == {"numerator": "4", "denominator": "5"}


def typed_bits(name: str) -> st.SearchStrategy[dict[str, str]]:
    worth = {"worth": st.floats(1e-6, 1.0).map(repr)} if name == "bits-unknown-costs" else {}
    return st.fixed_dictionaries({"answer": st.sampled_from(["", "no", "yes"]), **worth})


@pytest.mark.parametrize("name", BITS)
def test_rows_of_bits_are_taken_and_follow_the_law(name: str) -> None:
    found, config, plan, device = reported(name)
    group = {each.column: each.choices[0] for each in found.known(config, plan)}
    assert bool(group) is (name == "bits-pair" and config.group() is not None)

    @given(typed_bits(name))
    def check(typed: dict[str, str]) -> None:
        level = level_of(device, typed)
        private, costs = found.private(config, plan, typed)
        assert (private is None) is (level is None)
        if level is None or private is None:
            assert row_of(device, typed, 1) == {"report": ""}
            with pytest.raises(Refused, match="takes no part"):
                found.submission(config, plan, "3", {**row_of(device, typed, 1), **group})
            return
        # The mechanism rounds the odds of the truth down, by no more than one weight of 2^62 in all; where a device
        # takes her own level's double as it is, the law is that of other last bits: both compute it, each in its way.
        truth, same = truth_of(level), Fraction(response_table(costs).same, 2**62)
        apart = abs(level - exactly(costs)) / 4
        assert apart <= level / 2**52
        assert -apart <= truth - same <= Fraction(1, 2**62) + apart
        for kept in (0, 1):
            row = row_of(device, typed, kept)
            bit = int(row["report"] == config.bit.one)
            slot, stored = found.submission(config, plan, "3", {**row, **group})
            assert (slot, stored[0]) == (2, bit)
            assert (bit == private[0]) is bool(kept)

    check()


def test_levels_of_unknown_costs_are_those_of_the_market() -> None:
    """The doubles that are told are enough to find each person's own level; none is above what is charged."""
    _, _, plan, device = reported("bits-unknown-costs")
    levels, it = device["levels"], plan.market
    assert set(levels) == {"worth", "epsilon", "threshold", "ceiling"}
    assert (levels["epsilon"], levels["threshold"]) == (it.epsilon, it.cost_threshold)
    for k in range(1, 400):
        cost = it.cost_threshold * k / 300
        level = level_of(device, {"answer": "yes", "worth": repr(cost)})
        expected = float(it.level_of(cost))
        if level is None:
            assert math.isnan(expected)
        else:
            assert float(level) == pytest.approx(expected, rel=4e-16)
            assert level <= exactly(it.largest_level)
    dear = {"answer": "yes", "worth": repr(math.nextafter(it.cost_threshold, 1.0))}
    assert level_of(device, dear) is None
    assert level_of(device, {"answer": "yes", "worth": repr(it.cost_threshold)}) == Fraction(it.epsilon)


def test_a_ceiling_whose_double_is_above_its_decimal_is_lowered() -> None:
    _, _, plan, device = reported("bits-unknown-costs", ("ceiling = 3.0", "ceiling = 2.2"))
    ceiling, charged = device["levels"]["ceiling"], plan.mechanism.events()[0].epsilon
    assert Fraction(ceiling) <= exactly(charged) == Fraction(22, 10) < Fraction(2.2)
    assert ceiling == math.nextafter(2.2, 0.0)
    assert device["levels"]["epsilon"] == 1.5
    one = reported("bits-unknown-costs", ("ceiling = 3.0", "ceiling = 2.2"), ("epsilon = 1.5 ", "epsilon = 2.2 "))[3]
    assert one["levels"]["epsilon"] == one["levels"]["ceiling"] == ceiling  # nobody's level is above it


def test_a_lattice_in_whole_numbers() -> None:
    it = campaign_of("mean")
    found: Any = it.file.kind
    assert isinstance(found, ContractKind)
    config, plan = it.file.config, it.plan
    with pytest.raises(InvalidInput, match="contract"):
        found.device(config, plan)
    *some, nothing = mean_terms()
    for terms in some:
        device = json.loads(json.dumps(found.device(config, plan, terms)))
        assert {key: device[key] for key in ("law", "low", "high", "column", "input")} == {
            "law": "lattice", "low": "0", "high": "80", "column": "record", "input": "record"}
        assert (device["steps"], device["sigma"]) == (str(terms["steps"]), str(terms["sigma"]))
        assert int(device["steps"]) > 0
    none = found.device(config, plan, nothing)
    assert (none["steps"], none["sigma"]) == ("0", "0")
    assert row_of(none, {"record": "40"}, 5) == {"record": ""}
    with pytest.raises(InvalidInput, match="contract"):
        found.device(config, plan, {"steps": 3})


@given(st.floats(-20.0, 120.0) | st.sampled_from([0.0, 80.0, 40.0, 0.1, -0.0, 5e-324]), st.integers(-2**40, 2**40))
def test_rows_of_means_are_those_of_the_mechanism(value: float, noise: int) -> None:
    """The same steps and the same sigma: what is drawn is added to the same whole number, and written the same."""
    it = campaign_of("mean")
    found: Any = it.file.kind
    for terms in mean_terms()[:-1]:
        device = found.device(it.file.config, it.plan, terms)
        (record, contract), rho = found.on_terms(it.file.config, it.plan, {"record": repr(value)}, terms)
        assert rho > 0
        assert (contract.steps, contract.noise_std) == (int(device["steps"]), int(device["sigma"]))
        drawn = max(-contract.noise_std, min(contract.noise_std, noise))
        center = center_of(device, repr(value))
        message = it.plan.mechanism.submit((record, contract), noise=Noise.replayed({"record": [drawn]}))
        assert center + drawn == message
        row = row_of(device, {"record": repr(value)}, drawn)
        assert {"id": "7", **row} == found.row(it.file.config, "7", message)
        read, problem = Word(column="record").encode_one(row["record"])
        assert (read, problem) == (message, None)
        assert contract.admits(read)
        assert row["record"] == word(message)


@given(st.integers(0, 200))
def test_halves_of_a_step_go_to_the_even_one(k: int) -> None:
    """As Python rounds, so that a device in another language has to be told."""
    device = {"low": "0", "high": "1", "steps": "128"}
    assert center_of(device, repr(k / 256.0)) == min(128, round(Fraction(k, 2)))

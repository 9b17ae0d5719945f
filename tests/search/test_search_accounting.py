"""What all calls of a search cost, against the specification's digits; what was printed."""

from __future__ import annotations

import pytest

from confide.contract.errors import InvalidInput
from confide.privacy.accounting import Accountant
from confide.search import PTarget
from confide.search.planning import call_cost, compositions, multipliers, step_events


def test_two_hundred_calls() -> None:
    found = compositions(200, 0.05, 1e-6)
    assert found["basic"] == pytest.approx(10)
    assert found["calls: advanced"] == pytest.approx(4.22963, abs=5e-6)
    assert found["calls: zcdp plain"] == pytest.approx(3.96692, abs=5e-6)
    assert found["calls: optimal"] < 3.30  # of the printed form, which steps by 2 epsilon; ours goes between the steps
    assert found["steps: optimal"] < 2.25
    assert found["two-step"] == pytest.approx(1.873129, abs=1e-6)
    assert compositions(200, 0.05, 1e-6, noise_kind="gumbel")["two-step"] == pytest.approx(1.142926, abs=1e-6)


def test_thirteen_calls_with_noise_of_scale_twenty() -> None:
    found = compositions(13, 0.2, 1e-6)
    assert found["basic"] == pytest.approx(2.6)
    assert found["calls: zcdp"] == pytest.approx(3.62, abs=5e-3)
    assert found["steps: optimal"] < 2.2
    assert found["two-step"] == pytest.approx(1.913402, abs=1e-6)
    assert compositions(13, 0.2, 1e-6, noise_kind="gumbel")["two-step"] == pytest.approx(1.167237, abs=1e-6)
    plain = compositions(13, 0.1, 1e-6, "none")
    assert plain["basic"] == pytest.approx(1.3)
    assert compositions(13, 0.1, 1e-6, "none", "gumbel")["two-step"] == pytest.approx(0.805, abs=5e-4)


def test_whole_calls_gain_next_to_nothing_at_thirteen() -> None:
    found = compositions(13, 0.05, 1e-6)
    printed_forms = [value for name, value in found.items() if name.startswith("calls: ") and name != "calls: optimal"]
    assert min(printed_forms) > found["basic"] == pytest.approx(0.65)
    assert found["calls: optimal"] > 0.99 * found["basic"]
    assert found["two-step"] < 0.44


def test_a_mechanism_states_the_best_of_them() -> None:
    for kind in ("laplace", "gumbel"):
        search = PTarget(1000, 14, 50, 0.2, 40, "private", noise_kind=kind, delta=1e-6)
        stated = [each.loss for each in search.guarantees().privacy if each.loss.to_dict()["loss"] == "ApproxDP"]
        known = compositions(13, 0.2, 1e-6, "private", kind)
        assert stated[0].epsilon <= min(known.values()) * (1 + 1e-12)
        assert Accountant(search.events()).epsilon() == pytest.approx(known["basic"])
        assert [(type(event), event.epsilon) for event in search.call.events()] == [
            (type(event), event.epsilon) for event in step_events(0.2, "private", kind)]


def test_costs_of_a_call_and_multipliers() -> None:
    assert call_cost(20, 1, "public") == pytest.approx(0.1)
    assert call_cost(20, 1, "smoothed") == pytest.approx(0.2)
    few, many = multipliers(3.14, 20), multipliers(13, 20)
    assert few.claimed == pytest.approx(1.17, abs=5e-3)
    assert few.without_threshold == pytest.approx(1.37, abs=5e-3)
    assert few.with_threshold == pytest.approx(1.87, abs=5e-3)
    assert many.claimed < 2 < many.without_threshold < 4 < many.with_threshold < 16
    assert multipliers(0, 20).claimed == 1


def test_what_is_refused() -> None:
    for arguments in ((0, 0.1, 1e-6), (1, 0.0, 1e-6), (1, 0.1, 0.0), (1, 0.1, 1.0)):
        with pytest.raises(InvalidInput):
            compositions(*arguments)
    with pytest.raises(InvalidInput, match="stop"):
        call_cost(20, 1, "never")
    with pytest.raises(InvalidInput, match="noise_kind"):
        step_events(0.1, "none", "cauchy")
    with pytest.raises(InvalidInput):
        multipliers(-1, 20)

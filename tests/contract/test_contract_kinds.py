"""Kinds come from entry points; a wrong name is told the nearest, a wrong object is refused."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from confide.contract import (
    Collection,
    InvalidInput,
    Kind,
    Mechanism,
    NoiseSource,
    Phase,
    Refused,
    kind,
    kind_names,
    kinds,
)
from confide.contract.payout_terms import PayoutTerms
from confide.contract.wire import wire_of
from confide.privacy.noise import Noise
from confide.regression import PrivateTruthfulRegression


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The entry points, to be added to."""
    entries = dict(kinds._entries())
    monkeypatch.setattr(kinds, "_entries", lambda: entries)
    kind.cache_clear()
    yield entries
    kind.cache_clear()


def test_regression_is_installed() -> None:
    assert "regression" in kind_names()
    found = kind("regression")
    assert isinstance(found, Kind)
    assert found is kind("regression")
    assert found.name == "regression"
    assert found.summary
    assert 'kind = "regression"' in found.template


def test_a_wrong_name_is_reported_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'regression'"):
        kind("regresion")
    with pytest.raises(InvalidInput, match="did you mean 'queries'"):
        kind("query")
    with pytest.raises(InvalidInput, match=r"known kinds: .*`confide kinds` describes each") as far:
        kind("histogram")
    assert "did you mean" not in str(far.value)
    with pytest.raises(InvalidInput, match=r"known kinds: .*regression") as caught:
        kind("zzz")
    assert caught.value.field == "kind"


def test_an_entry_point_of_something_else_is_refused(installed: dict[str, Any]) -> None:
    installed["impostor"] = SimpleNamespace(
        load=lambda: SimpleNamespace(name="impostor", summary="no kind at all"), dist=None, value="impostor:KIND")
    assert "impostor" in kind_names()
    with pytest.raises(InvalidInput, match="does not name a Kind"):
        kind("impostor")


def test_a_kind_from_elsewhere(installed: dict[str, Any]) -> None:
    found = kind("regression")
    kind.cache_clear()
    installed["elsewhere"] = SimpleNamespace(load=lambda: found)
    assert kind("elsewhere") is found


def test_types_of_a_mechanism() -> None:
    assert kinds.types_of("PrivateTruthfulRegression")["PrivateTruthfulRegression"] is PrivateTruthfulRegression
    with pytest.raises(InvalidInput, match="no installed kind"):
        kinds.types_of("Market")


def test_every_kind_names_its_types() -> None:
    for name in kind_names():
        assert all(key == wire_of(each).name for key, each in kind(name).types.items())
        assert kind(name).name == name


def test_what_a_mechanism_signs() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Mechanism()  # type: ignore[abstract]
    assert Mechanism.phases == (Phase(name="report", asks="one record"),)
    assert isinstance(Noise.simulated(1), NoiseSource)
    assert not isinstance(7, NoiseSource)
    collection = Collection(data=(), rejected={})
    with pytest.raises(AttributeError):
        collection.data = ()  # type: ignore[misc]


# ---- money


def terms(**changes: Any) -> PayoutTerms:
    return PayoutTerms(**{"column": "payment", "currency": "EUR", "minor_units": 100, "highest": 6, **changes})


def test_what_may_be_paid_in_all_can_be_counted() -> None:
    """Up to the last coin of 64 bits; who can be paid nothing still gets the deposit."""
    most = 2**63 - 1
    terms(highest=most).check_total(1)
    terms(highest=most // 7 - 5, deposit=5).check_total(7)
    terms(highest=-(10**30), deposit=most).check_total(1)
    for people, highest, deposit in ((1, most + 1, 0), (1, most, 1), (7, most // 7, 1), (2, -(10**30), most)):
        with pytest.raises(Refused, match=r"payments of up to [\d.e+]+ EUR, .* more than 2\^63 coins"):
            terms(highest=highest, deposit=deposit).check_total(people)


@pytest.mark.parametrize(("shares", "said"), [
    ([6, 50, None], r"^PayoutTerms\.highest: a share in 'payment' is 0\.50 EUR, but the plan promises at most 0\.06 E"),
    ([1.0, 16.67], r"^payment: a share of 16\.67 is not a whole number of coins; must be whole coins of 1/100 EUR"),
    ([1.0, float("nan")], r"^payment: a share of nan is not a whole number"),
    ([1.0, float("inf")], r"^payment: a share of inf is not a whole number"),
    (["1"], r"^payment: holds shares of type string; must be whole coins")])
def test_shares_that_cannot_be_paid_are_refused(shares: list[Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        terms().check_shares(pa.table({"payment": shares}))


def test_shares_become_amounts() -> None:
    """Whole numbers of either type, with a deposit for who left one, whether or not they are paid a share."""
    for shares in ([6, None, -7, 0], [6.0, None, -7.0, 0.0]):
        table = pa.table({"payment": shares})
        terms(deposit=3).check_shares(table)
        assert list(terms(deposit=3).amounts(table, np.array([0, 1]))) == [[(0, 9), (1, 3)]]
    with pytest.raises(InvalidInput, match="not a whole number of coins"):
        list(terms().amounts(pa.table({"payment": [1.0, 16.67]})))
    assert list(terms().amounts(pa.table({"payment": [50]}))) == [[(0, 50)]]  # a settlement has checked the bound


def test_coins_in_words() -> None:
    assert terms().money(0) == "0.00 EUR"
    assert terms(minor_units=1).money(-5) == "-5 EUR"
    assert terms(minor_units=10**18).money(2**63 + 1) == "9.223372036854775809 EUR"  # exact


@pytest.mark.parametrize(("changes", "field"), [
    ({"minor_units": 50}, "minor_units"), ({"minor_units": 10**19}, "minor_units"), ({"minor_units": 0}, "minor_units"),
    ({"deposit": -1}, "deposit"), ({"deposit": 0.5}, "deposit"),
])
def test_what_is_no_coin(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        terms(**changes)

"""Kinds come from entry points; a wrong name is told the nearest, a wrong object is refused."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from confide.contract import Collection, InvalidInput, Kind, Mechanism, NoiseSource, Phase, kind, kind_names, kinds
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


def test_a_wrong_name_is_told_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'regression'"):
        kind("regresion")
    with pytest.raises(InvalidInput, match=r"known kinds: .*regression") as caught:
        kind("zzz")
    assert caught.value.field == "kind"


def test_an_entry_point_of_something_else_is_refused(installed: dict[str, Any]) -> None:
    installed["impostor"] = SimpleNamespace(load=lambda: SimpleNamespace(name="impostor", summary="no kind at all"))
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
        assert all(key == each.__name__ for key, each in kind(name).types.items())
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

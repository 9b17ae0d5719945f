"""Parameters of regressions are declared once: the constructor, the docstring and the campaign file say the same."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest

from confide import regression
from confide.campaign.kinds.regressions.plan import Model, PaymentTable, PrivacyTable
from confide.contract import InvalidInput
from confide.contract.parameters import Declared, parameters
from confide.regression import (
    AdaSSP,
    Averaged,
    Behaviour,
    BernoulliPeers,
    BetaPrior,
    ExponentialCosts,
    GaussianBall,
    ParetoCosts,
    PaymentScheme,
    RidgeRelease,
    ScoringRule,
    Setting,
    SufficientStatistics,
    TruncatedGaussianNoise,
    TruthfulRegression,
    UniformBall,
    UniformNoise,
    UniformSphere,
)
from confide.regression.bounds import RidgeBounds
from confide.regression.spectrum import Spectrum

RULE, BALL, NOISE = ScoringRule(1.0, 2.0), UniformBall(2, 1.0), UniformNoise(0.5)
ROWS: dict[str, Any] = {"rows": 100, "dimension": 2, "smallest": 0.1, "largest": 0.2, "tolerance": 0.1}
GOOD: dict[type[Any], dict[str, Any]] = {
    AdaSSP: {"epsilon": 1.0, "delta": 1e-6},
    Averaged: {"epsilon_payment": 1.0, "ridge_payment": 2.0},
    Behaviour: {"costs": ParetoCosts(4.0), "misreports": 0.01, "failure_probability": 0.01},
    BernoulliPeers: {"people": 5, "prior": BetaPrior(1.0, 1.0)},
    BetaPrior: {"s": 1.0, "t": 1.0},
    ExponentialCosts: {"mean": 1.0},
    GaussianBall: {"dimension": 2, "std": 0.1, "radius": 1.0},
    ParetoCosts: {"exponent": 4.0},
    PaymentScheme: {"epsilon": 1.0, "ridge": 1.0, "rule": RULE},
    RidgeBounds: {"spectrum": Spectrum(**ROWS), "ridge": 1.0, "prior_radius": 1.0, "noise_bound": 1.0},
    RidgeRelease: {"epsilon": 1.0, "ridge": 1.0},
    ScoringRule: {"a": 0.0, "b": 1.0},
    Setting: {"people": 100, "features": 2, "prior": BALL, "noise": NOISE},
    Spectrum: ROWS,
    SufficientStatistics: {"epsilon": 1.0},
    TruncatedGaussianNoise: {"noise_std": 0.1, "bound": 0.5},
    TruthfulRegression: {"people": 100, "features": 2, "prior": BALL, "noise": NOISE, "rule": RULE},
    UniformBall: {"dimension": 2, "radius": 1.0},
    UniformNoise: {"bound": 1.0},
    UniformSphere: {"dimension": 2, "radius": 1.0},
}


def outside() -> list[tuple[type[Any], str, object]]:
    """Each declared bound of each class, and a value on its wrong side."""
    found: list[tuple[type[Any], str, object]] = []
    for kind in GOOD:
        for name, (_, of, it) in parameters(kind).items():
            if it.above is not None:
                found.append((kind, name, it.above))
            if it.at_least is not None:
                found.append((kind, name, it.at_least - 1))
            if it.below is not None:
                found.append((kind, name, it.below))
            if it.at_most is not None:
                found.append((kind, name, it.at_most * 2))
            if of is bool:
                found.append((kind, name, 1))
            if of is float:
                found += [(kind, name, math.nan), (kind, name, "1")]
    return found


@pytest.mark.parametrize(("kind", "name", "value"), outside())
def test_a_value_out_of_range_is_refused_by_its_field(kind: type[Any], name: str, value: object) -> None:
    kind(**GOOD[kind])
    with pytest.raises(InvalidInput) as caught:
        kind(**{**GOOD[kind], name: value})
    assert caught.value.field == name
    limits = parameters(kind)[name].parameter.range
    if isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value) and limits:
        assert str(caught.value) == f"{name}: {value!r} {caught.value.problem.partition(' ')[2]}; must be {limits}"


def test_every_public_class_of_settings_declares_its_numbers() -> None:
    """A field that is a number or a switch, and has no declaration, would have a range that only code knows."""
    known = {"float", "int", "bool", "float | None"}
    assert all(issubclass(kind, Declared) for kind in GOOD)
    for name in regression.__all__:
        kind: Any = getattr(regression, name)
        if isinstance(kind, type) and issubclass(kind, Declared):
            bare = {each.name for each in fields(kind) if each.init and str(each.type) in known}
            assert not bare, name
            for field in parameters(kind):
                assert f" {field}: " in str(kind.__doc__), (name, field)


def test_a_campaign_file_has_the_ranges_of_the_classes() -> None:
    shared: list[tuple[Any, str, type[Any], str]] = [
        (Model, "parameter_bound", UniformBall, "radius"), (Model, "noise_bound", UniformNoise, "bound"),
        (Model, "prior_std", GaussianBall, "std"), (Model, "noise_std", TruncatedGaussianNoise, "noise_std"),
        (Model, "radius", Setting, "radius"), (Model, "spectrum_tolerance", Setting, "spectrum_tolerance"),
        (PrivacyTable, "epsilon_release", AdaSSP, "epsilon"),
        (PrivacyTable, "epsilon_payment", PaymentScheme, "epsilon"),
        (PaymentTable, "clip", PaymentScheme, "clip"), (PaymentTable, "ridge", PaymentScheme, "ridge"),
    ]
    for table, key, kind, name in shared:
        it = parameters(kind)[name].parameter
        said = table.model_json_schema()["properties"][key]
        number = next((each for each in said.get("anyOf", ()) if each["type"] == "number"), said)
        assert number.get("exclusiveMinimum") == it.above, key
        assert number.get("exclusiveMaximum") == it.below, key
        assert said["description"] == it.text, key

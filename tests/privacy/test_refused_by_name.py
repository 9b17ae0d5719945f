"""Each number that the privacy core takes: the edge of its range is taken, what lies beyond is refused by its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from confide.contract import Relation
from confide.contract.errors import InvalidInput
from confide.privacy.accounting import advanced, per_round
from confide.privacy.accounting.accountant import Accountant
from confide.privacy.accounting.sums import counted
from confide.privacy.clamping import added_delta, clamped_discrete_laplace, clamping_bound, clamping_delta
from confide.privacy.divergences import approx_max_divergence, renyi_divergence
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    Repeated,
    ZCDPEvent,
)
from confide.privacy.gaussian import gaussian_noise_std, gdp_mu
from confide.privacy.groups import group_loss
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP, gaussian_delta
from confide.privacy.noise import exact_draws
from confide.privacy.noise.entropy import OperatingSystem
from confide.privacy.noise.simulated import SimulatedNoise, study_generator
from confide.privacy.primitives.additive import add_discrete_gaussian, add_discrete_laplace, add_gaussian, add_laplace
from confide.privacy.primitives.choosing import draw_by_logits
from confide.privacy.response import response_table
from confide.privacy.selection import (
    exponential_law,
    exponential_mechanism,
    noisy_max_law,
    report_noisy_max,
    selection_error,
)
from confide.privacy.sparse_vector import SparseVector
from confide.privacy.tree_blocks import (
    digits,
    finished_level,
    levels,
    mean_terms,
    memberships,
    participation,
    participation_squared,
    terms,
)
from confide.privacy.tree_bounds import (
    best_arity,
    chernoff_bound,
    gaussian_bound,
    runs_needed,
    single_sum_bound,
    source_bound,
    sub_gaussian_bound,
)
from confide.privacy.tree_counter import TreeCounter
from confide.privacy.tree_errors import largest_error, log_within, variance

NEAR = {"neighbours": Relation.REPLACE}
DRAWS = counted([BoundedRangeEvent(epsilon=0.1, **NEAR)] * 3)
ACCOUNTANT = Accountant((PureEvent(epsilon=0.1, **NEAR),))
TREE = {"horizon": 8, "scale": 2.0}
COUNTER = TreeCounter(**TREE, law="discrete_laplace")
VECTOR = {"threshold": 4, "epsilon": 1.0}
SPARSE = SparseVector(**VECTOR, queries=3)
LAW = [0.25, 0.75]


def _noise() -> SimulatedNoise:
    return SimulatedNoise(1)


_ROWS: list[tuple[str, Callable[..., object], dict[str, Any], dict[str, str]]] = [
    ("theorem", advanced.theorem, {"epsilon": 0.1, "count": 5, "slack": 1e-6},
     {"epsilon": "positive", "count": "whole 1", "slack": "fraction"}),
    ("corollary_step", advanced.corollary_step, {"epsilon": 0.1, "count": 5, "slack": 1e-6},
     {"epsilon": "fraction", "count": "whole 1", "slack": "fraction"}),
    ("largest_step", advanced.largest_step, {"epsilon": 0.1, "count": 5, "slack": 1e-6},
     {"epsilon": "positive", "count": "whole 1", "slack": "fraction"}),
    ("Accountant.epsilon", ACCOUNTANT.epsilon, {"delta": 1e-6}, {"delta": "fraction or 0"}),
    ("Accountant.epsilon by", ACCOUNTANT.epsilon, {"delta": 1e-6, "calculator": "basic"},
     {"delta": "fraction or 0", "calculator": "word"}),
    ("Accountant.delta", ACCOUNTANT.delta, {"epsilon": 0.5}, {"epsilon": "non-negative"}),
    ("Accountant.bounds", ACCOUNTANT.bounds, {"delta": 1e-6}, {"delta": "fraction or 0"}),
    ("per_round.epsilon", lambda **given: per_round.epsilon(DRAWS, **given), {"delta": 1e-6, "drift": "tanh"},
     {"drift": "word"}),
    ("per_round.delta", lambda **given: per_round.delta(DRAWS, **given), {"epsilon": 1.0, "drift": "tanh"},
     {"drift": "word"}),
    ("clamped_discrete_laplace", lambda **given: clamped_discrete_laplace(noise=_noise(), stream="s", **given),
     {"scale": 2.0, "bound": 3, "size": 4}, {"bound": "whole 0", "size": "whole 0"}),
    ("clamping_delta", clamping_delta, {"scale": 2.0, "bound": 8, "epsilon": 0.5, "draws": 2},
     {"scale": "positive", "bound": "whole 0", "epsilon": "non-negative", "draws": "whole 1"}),
    ("added_delta", added_delta, {"epsilon": 0.5, "tail": 1e-6}, {"epsilon": "non-negative"}),
    ("clamping_bound", clamping_bound, {"scale": 2.0, "epsilon": 0.5, "delta": 1e-6, "draws": 2},
     {"scale": "positive", "epsilon": "non-negative", "delta": "fraction", "draws": "whole 1"}),
    ("approx_max_divergence", lambda **given: approx_max_divergence(LAW, LAW[::-1], **given), {"delta": 0.1},
     {"delta": "fraction or 0"}),
    ("renyi_divergence", lambda **given: renyi_divergence(LAW, LAW[::-1], **given), {"alpha": 2.0},
     {"alpha": "positive"}),
    ("PureEvent", PureEvent, {"epsilon": 1.0, **NEAR}, {"epsilon": "non-negative"}),
    ("BoundedRangeEvent", BoundedRangeEvent, {"epsilon": 1.0, **NEAR}, {"epsilon": "non-negative"}),
    ("RandomizedResponseEvent", RandomizedResponseEvent, {"epsilon": 1.0, "categories": 3, **NEAR},
     {"epsilon": "non-negative", "categories": "whole 2"}),
    ("ApproxEvent", ApproxEvent, {"epsilon": 1.0, "delta": 0.1, **NEAR},
     {"epsilon": "positive", "delta": "fraction or 0"}),
    ("ZCDPEvent", ZCDPEvent, {"rho": 1.0, **NEAR}, {"rho": "non-negative"}),
    ("GDPEvent", GDPEvent, {"mu": 1.0, **NEAR}, {"mu": "non-negative"}),
    ("Repeated", Repeated, {"event": PureEvent(epsilon=1.0, **NEAR), "count": 2, **NEAR}, {"count": "whole 0"}),
    ("gdp_mu", gdp_mu, {"epsilon": 1.0, "delta": 1e-6}, {"epsilon": "positive", "delta": "fraction"}),
    ("gaussian_noise_std", gaussian_noise_std, {"epsilon": 1.0, "delta": 1e-6, "sensitivity": 1.0},
     {"epsilon": "positive", "delta": "fraction", "sensitivity": "positive"}),
    ("group_loss", lambda **given: group_loss(PureDP(1.0), **given), {"steps": 2}, {"steps": "whole 1"}),
    ("PureDP", PureDP, {"epsilon": 1.0}, {"epsilon": "non-negative or inf"}),
    ("PureDP.delta_at", PureDP(1.0).delta_at, {"epsilon": 0.5}, {"epsilon": "non-negative"}),
    ("ApproxDP", ApproxDP, {"epsilon": 1.0, "delta": 0.1}, {"epsilon": "non-negative or inf", "delta": "0 to 1"}),
    ("ZCDP", ZCDP, {"rho": 0.5}, {"rho": "non-negative or inf"}),
    ("ZCDP.delta_at", ZCDP(0.5).delta_at, {"epsilon": 1.0}, {"epsilon": "non-negative"}),
    ("ZCDP.epsilon_at", ZCDP(0.5).epsilon_at, {"delta": 1e-6}, {"delta": "0 to 1"}),
    ("ZCDP.to_renyi", ZCDP(0.5).to_renyi, {"alpha": 2.0}, {"alpha": "positive"}),
    ("ZCDP.within", ZCDP.within, {"epsilon": 1.0, "delta": 1e-6}, {"epsilon": "positive", "delta": "fraction"}),
    ("gaussian_delta", gaussian_delta, {"epsilon": 1.0, "mu": 1.0}, {"epsilon": "non-negative", "mu": "positive"}),
    ("GDP", GDP, {"mu": 1.0}, {"mu": "non-negative or inf"}),
    ("GDP.delta_at", GDP(1.0).delta_at, {"epsilon": 1.0}, {"epsilon": "non-negative"}),
    ("GDP.epsilon_at", GDP(1.0).epsilon_at, {"delta": 1e-6}, {"delta": "0 to 1"}),
    ("RenyiDP", RenyiDP, {"alpha": 2.0, "epsilon": 1.0}, {"alpha": "positive", "epsilon": "non-negative or inf"}),
    ("RenyiDP.epsilon_at", RenyiDP(2.0, 1.0).epsilon_at, {"delta": 1e-6}, {"delta": "fraction or 0"}),
    ("RenyiDP.delta_at", RenyiDP(2.0, 1.0).delta_at, {"epsilon": 2.0}, {"epsilon": "non-negative"}),
    ("study_generator", study_generator, {"seed": 1}, {"seed": "whole 0"}),
    ("SimulatedNoise", SimulatedNoise, {"seed": 1}, {"seed": "whole 0"}),
    ("discrete_laplace", lambda **given: _noise().discrete_laplace(stream="s", **given), {"scale": 2.0, "size": 3},
     {"scale": "positive", "size": "whole 0"}),
    ("discrete_gaussian", lambda **given: _noise().discrete_gaussian(stream="s", **given),
     {"noise_std": 2.0, "size": 3}, {"noise_std": "positive", "size": "whole 0"}),
    ("laplace", lambda **given: _noise().laplace(stream="s", **given), {"scale": 2.0, "size": 3, "grid": 20},
     {"scale": "positive", "size": "whole 0", "grid": "whole 0"}),
    ("gaussian", lambda **given: _noise().gaussian(stream="s", **given), {"noise_std": 2.0, "size": 3, "grid": 20},
     {"noise_std": "positive", "size": "whole 0", "grid": "whole 0"}),
    ("vector_laplace", lambda **given: _noise().vector_laplace(stream="s", **given),
     {"scale": 2.0, "dimension": 3, "grid": 20}, {"scale": "positive", "dimension": "whole 1", "grid": "whole 0"}),
    ("selection", lambda **given: _noise().selection([0.0, 1.0], stream="s", **given), {"size": 2},
     {"size": "whole 0"}),
    ("split", lambda **given: _noise().split(stream="s", **given), {"people": 3}, {"people": "whole 0"}),
    ("add_discrete_laplace", lambda **given: add_discrete_laplace(_noise(), np.arange(3), stream="s", **given),
     {"noise_scale": 2.0, "l1_sensitivity": 1}, {"noise_scale": "positive", "l1_sensitivity": "non-negative"}),
    ("add_laplace", lambda **given: add_laplace(_noise(), np.arange(3.0), stream="s", **given),
     {"noise_scale": 2.0, "l1_sensitivity": 1}, {"noise_scale": "positive", "l1_sensitivity": "non-negative"}),
    ("add_discrete_gaussian", lambda **given: add_discrete_gaussian(_noise(), np.arange(3), stream="s", **given),
     {"noise_std": 2.0, "l2_sensitivity_squared": 1},
     {"noise_std": "positive", "l2_sensitivity_squared": "non-negative"}),
    ("add_gaussian", lambda **given: add_gaussian(_noise(), np.arange(3.0), stream="s", **given),
     {"noise_std": 2.0, "l2_sensitivity_squared": 1},
     {"noise_std": "positive", "l2_sensitivity_squared": "non-negative"}),
    ("draw_by_logits",
     lambda **given: draw_by_logits(_noise(), [0.0, 1.0], bounded_range=Fraction(1), stream="s", **given), {"count": 2},
     {"count": "whole 0"}),
    ("random_bytes", OperatingSystem().random_bytes, {"count": 2}, {"count": "whole 0"}),
    ("random_bits", OperatingSystem().random_bits, {"count": 2}, {"count": "whole 0"}),
    ("uniform_below", lambda **given: exact_draws.uniform_below(source=os.urandom, **given), {"limit": 2},
     {"limit": "whole 1"}),
    *((made.__name__, partial(made, source=os.urandom), {"numerator": 1, "denominator": 2, "categories": 2},
       {"numerator": "whole 0", "denominator": "whole 1", "categories": "whole 2"})
      for made in (exact_draws.shift_with_keep, exact_draws.shift_at_level)),
    ("bernoulli", partial(exact_draws.bernoulli, source=os.urandom), {"numerator": 1, "denominator": 1},
     {"numerator": "whole 0", "denominator": "whole 1"}),
    ("bernoulli_exp", partial(exact_draws.bernoulli_exp, source=os.urandom), {"numerator": 1, "denominator": 2},
     {"numerator": "whole 0", "denominator": "whole 1"}),
    *((f"exact_draws.{made.__name__}", partial(made, source=os.urandom), {"numerator": 1, "denominator": 2},
       {"numerator": "whole 1", "denominator": "whole 1"})
      for made in (exact_draws.discrete_laplace, exact_draws.discrete_gaussian)),
    ("response_table", response_table, {"epsilon": 1.0, "categories": 3},
     {"epsilon": "non-negative", "categories": "whole 2"}),
    ("exponential_mechanism",
     lambda **given: exponential_mechanism(scores=[0.0, 1.0], noise=_noise(), stream="s", **given),
     {"epsilon": 1.0, "sensitivity": 1.0}, {"epsilon": "positive", "sensitivity": "positive"}),
    ("exponential_law", lambda **given: exponential_law([0.0, 1.0], **given), {"epsilon": 1.0, "sensitivity": 1.0},
     {"epsilon": "positive", "sensitivity": "positive"}),
    ("selection_error", selection_error,
     {"items": 4, "epsilon": 1.0, "sensitivity": 1.0, "failure_probability": 0.05},
     {"items": "whole 1", "epsilon": "positive", "sensitivity": "positive", "failure_probability": "fraction"}),
    ("report_noisy_max", lambda **given: report_noisy_max([0, 1], noise=_noise(), stream="s", **given),
     {"epsilon": 1.0, "sensitivity": 1}, {"epsilon": "positive", "sensitivity": "whole 1"}),
    ("noisy_max_law", lambda **given: noisy_max_law([0, 1], **given), {"epsilon": 1.0, "sensitivity": 1},
     {"epsilon": "positive", "sensitivity": "whole 1"}),
    ("SparseVector", SparseVector, {**VECTOR, "law": "discrete", "sensitivity": 1, "threshold_share": 0.5,
                                    "armings": 2, "queries": 3},
     {"epsilon": "positive", "law": "word", "sensitivity": "whole 1", "threshold_share": "fraction",
      "armings": "whole 1", "queries": "whole 1"}),
    ("SparseVector, continuous", SparseVector, {**VECTOR, "law": "continuous", "sensitivity": 0.5},
     {"sensitivity": "positive"}),
    ("SparseVector.clamped", SPARSE.clamped, {"delta": 1e-6}, {"delta": "fraction"}),
    ("SparseVector.arm", lambda **given: SPARSE.arm(_noise(), **given), {"arming": 0}, {"arming": "whole 0"}),
    ("SparseVector.accuracy", SPARSE.accuracy, {"queries": 3, "failure_probability": 0.05, "bound": "tails"},
     {"queries": "whole 1", "failure_probability": "fraction", "bound": "word"}),
    ("digits", digits, {"number": 5, "arity": 3}, {"number": "whole 0", "arity": "whole 2"}),
    ("levels", levels, {"horizon": 5, "arity": 3}, {"horizon": "whole 1", "arity": "whole 2"}),
    ("finished_level", finished_level, {"step": 5, "arity": 3}, {"step": "whole 1", "arity": "whole 2"}),
    ("terms", terms, {"horizon": 5, "arity": 3}, {"horizon": "whole 1", "arity": "whole 2"}),
    ("mean_terms", mean_terms, {"horizon": 5, "arity": 3}, {"horizon": "whole 1", "arity": "whole 2"}),
    ("memberships", memberships, {"horizon": 5, "arity": 3}, {"horizon": "whole 1", "arity": "whole 2"}),
    *((made.__name__, made, {"horizon": 1, "arity": 2, "rounds": 1, "bids": 1},
       {"horizon": "whole 1", "arity": "whole 2", "rounds": "whole 1", "bids": "whole 1"})
      for made in (participation, participation_squared)),
    ("source_bound", source_bound, {"epsilon": 1.0, "horizon": 8, "beta": 0.1},
     {"epsilon": "positive", "horizon": "whole 1", "beta": "fraction"}),
    *((made.__name__, made, {"scale": 2.0, "most_terms": 3, "horizon": 8, "counters": 2, "gamma": 0.05},
       {"scale": "positive", "most_terms": "whole 1", "horizon": "whole 1", "counters": "whole 1",
        "gamma": "fraction"}) for made in (single_sum_bound, chernoff_bound)),
    *((made.__name__, made, {"sigma": 2.0, "most_terms": 3, "horizon": 8, "counters": 2, "gamma": 0.05},
       {"sigma": "positive", "most_terms": "whole 1", "horizon": "whole 1", "counters": "whole 1",
        "gamma": "fraction"}) for made in (gaussian_bound, sub_gaussian_bound)),
    ("runs_needed", runs_needed, {"gamma": 0.05, "miss": 0.1}, {"gamma": "fraction", "miss": "fraction"}),
    ("best_arity", best_arity, {"horizon": 8, "counters": 2, "gamma": 0.05, "noise": "laplace"},
     {"horizon": "whole 1", "counters": "whole 1", "gamma": "fraction", "noise": "word"}),
    ("TreeCounter", TreeCounter, {**TREE, "counters": 2, "arity": 3, "law": "discrete_laplace", "l1_sensitivity": 1,
                                  "exposure": 3},
     {"horizon": "whole 1", "scale": "positive", "counters": "whole 1", "arity": "whole 2", "law": "word",
      "l1_sensitivity": "whole 1", "exposure": "whole 1"}),
    ("TreeCounter.for_epsilon", TreeCounter.for_epsilon,
     {"epsilon": 1.0, "l1_sensitivity": 1, "horizon": 8, "counters": 2, "arity": 3, "law": "laplace", "exposure": 3},
     {"epsilon": "positive", "l1_sensitivity": "whole 1", "horizon": "whole 1", "counters": "whole 1",
      "arity": "whole 2", "law": "word", "exposure": "whole 1"}),
    *((f"TreeCounter.for_{level}", getattr(TreeCounter, f"for_{level}"),
       {level: 1.0, "l1_sensitivity": 1, "horizon": 8, "counters": 2, "arity": 3, "exposure": 3},
       {level: "positive", "l1_sensitivity": "whole 1", "horizon": "whole 1", "counters": "whole 1",
        "arity": "whole 2", "exposure": "whole 1"}) for level in ("rho", "mu")),
    ("TreeCounter.error_bound", COUNTER.error_bound, {"failure_probability": 0.05, "bound": "exact"},
     {"failure_probability": "fraction", "bound": "word"}),
    ("TreeCounter.simulated_bound", lambda **given: COUNTER.simulated_bound(noise=_noise(), **given),
     {"failure_probability": 0.2, "runs": 200, "miss_share": 0.1},
     {}),
    ("variance", variance, {"law": "discrete_laplace", "scale": 2.0}, {"scale": "positive"}),
    ("log_within", log_within, {"bound": 3, "horizon": 5, "arity": 2, "law": "discrete_laplace", "scale": 2.0},
     {"bound": "whole 0", "horizon": "whole 1", "arity": "whole 2", "scale": "positive"}),
    ("largest_error", largest_error,
     {"horizon": 5, "arity": 2, "law": "discrete_laplace", "scale": 2.0, "counters": 2, "gamma": 0.05,
      "enough": 40.0},
     {"horizon": "whole 1", "arity": "whole 2", "scale": "positive", "counters": "whole 1", "gamma": "fraction",
      "enough": "non-negative"}),
]

_NAN, _LEAST = float("nan"), 5e-324


def _edges(domain: str, value: Any) -> tuple[list[Any], list[Any]]:
    """Of a domain the values at its edge that are taken, and values beyond it."""
    if domain.startswith("whole"):
        least = int(domain.split()[1])
        return [least], [least - 1, least + 0.5, _NAN, "1", *([True] if least < 2 else [])]
    if domain == "word":
        return [], ["", value.upper(), f" {value}"]
    taken, refused = {
        "positive": ([], [0.0, -1.0, np.inf]),
        "non-negative": ([0.0], [-_LEAST, np.inf]),
        "non-negative or inf": ([0.0, np.inf], [-_LEAST]),
        "fraction": ([], [0.0, 1.0, np.inf]),
        "fraction or 0": ([0.0], [-_LEAST, 1.0]),
        "0 to 1": ([0.0, 1.0], [-_LEAST, 1 + 2**-52]),
    }[domain]
    return taken, [*refused, _NAN, "1", True]


@pytest.mark.parametrize(("call", "usable", "domains"), [row[1:] for row in _ROWS], ids=[row[0] for row in _ROWS])
def test_what_is_unusable_is_refused_by_its_name(call: Callable[..., object], usable: dict[str, Any],
                                                 domains: dict[str, str]) -> None:
    call(**usable)
    for name, domain in domains.items():
        taken, refused = _edges(domain, usable[name])
        for value in taken:
            call(**{**usable, name: value})
        for value in refused:
            with pytest.raises(InvalidInput) as caught:
                call(**{**usable, name: value})
            assert caught.value.field == name, value

"""Every mechanism on its meter: a sound run keeps its lines, and one that draws a little more raises first.

A draw with less noise, or of a larger sensitivity, costs more: here each costs one part in a hundred more than it does.
A second session, arming or round is a draw that is paid twice. Both must raise wherever a mechanism draws, and so does
each draw of a run whose mechanism is charged one part in a hundred less.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cases import few
from confide.acquisition import TwoPartMechanism, UniformPrior
from confide.acquisition.release.lattice import LatticeContract
from confide.allocation import PAlloc, PMatch, PriceRelease, SinkhornMatch, instance_a
from confide.allocation.bundles import CappedAdditiveValuation
from confide.channels import Exchangeable, FullPrior, RandomizedResponse, least_distortion
from confide.contract.metered import Overspent
from confide.evidence.wu_2017.private_matchings.printed_auction import PrintedPMatch
from confide.market import BitCollection, LinearCost, MajorityMarket
from confide.privacy.accounting import Accountant
from confide.privacy.charge import DrawCost
from confide.privacy.losses import ZCDP
from confide.privacy.meter import Meter
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.primitives import additive, sessions
from confide.privacy.response import ResponseTable, response_table
from confide.programs import PrivDude, RoundDude, TightDude, TightenAndAudit, TrueDude, UnitDemand
from confide.programs.instances import popular
from confide.regression import plan
from confide.regression.priors import TruncatedGaussianNoise
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.output_perturbation import Averaged
from confide.regression.release.sufficient_statistics import SufficientStatistics
from confide.release import Binned, Codes, DualQuery, MarginalFit, Schema, query_game
from confide.release.audited_tables import RECORDS, neighbours, twins
from confide.search import Graph, Investigation, PTarget

Run = Callable[[Noise], Any]

_GOODS: dict[str, Any] = {"people": 300, "goods": 3, "supply": 60, "epsilon": 20.0, "increment": 0.3, "bid_cap": 3,
                          "rounds": 4, "batch": 50, "arity": 4}
_BUNDLES: dict[str, Any] = {**_GOODS, "valuation": CappedAdditiveValuation(cap=2)}
_UNIT = UnitDemand(400, 150, goods=3)


def _released(mechanism: Any) -> Run:
    data = next(iter(neighbours(mechanism, 1))).first
    return lambda noise: mechanism.run(data, noise)


def _fitted(levels: list[int], **more: Any) -> MarginalFit:
    columns = tuple(Binned(column=f"c{j}", lower=0, upper=many, bins=many) for j, many in enumerate(levels))
    return MarginalFit.for_budget(records=2000, epsilon=1.0, delta=1e-6, schema=Schema(columns), population=500, **more)


def _on_levels(fit: MarginalFit) -> Run:
    draw = study_generator(1, "levels")
    cells = np.stack([draw.integers(0, size, fit.records) for size in fit.schema.sizes], axis=1).astype(np.uint16)
    return lambda noise: fit.run(Codes(schema=fit.schema, cells=cells), noise)


OVERSPENT: dict[str, tuple[list[int], dict[str, int]]] = {  # of each a run drew 1.9 times what it charged
    "one column": ([3], {}), "two wide columns": ([200, 200], {}), "three wide columns": ([150] * 3, {}),
    "a constant one": ([5, 1], {}), "small tables": ([4] * 5, {"largest_table": 10}),
}


def _search(stop: Any, **more: Any) -> Run:
    drawn = stop in ("private", "smoothed")
    mechanism = PTarget(16, 2, 2 if drawn else None, 8.0, 6, stop, **more)
    ring = Graph.from_edges(list(range(16)), [*range(1, 16), 0])
    return lambda noise: mechanism.run(Investigation(ring, 0, {0, 1, 5, 9, 10}), noise)


def _matched(mechanism: Any, auction: Any = None) -> Run:
    of = mechanism if auction is None else auction
    values = instance_a(of.people, of.goods, seed=1)
    return lambda noise: mechanism.run(values, noise)


class _InBlocks(PMatch):
    _stepwise = False


def _dude(mechanism: Any) -> Run:
    values = popular(mechanism.program.people, mechanism.program.rows, seed=1)
    return lambda noise: mechanism.run(values, noise)


def _regression(release: Any = None) -> Run:
    noise_law = TruncatedGaussianNoise(noise_std=0.25, bound=0.75)
    sound = plan(people=6000, features=3, parameter_bound=1.0, noise=noise_law, epsilon_release=4.0,
                 epsilon_payment=2.0, release="ridge", truth_radius=1.6, misreports=5e-4,
                 failure_probability=0.01).mechanism
    if release == "averaged":
        release = Averaged(epsilon_payment=sound.payment.epsilon, ridge_payment=sound.payment.ridge)
    mechanism = sound if release is None else replace(sound, release=release)
    draw = study_generator(1, "regression")
    X = draw.random((6000, 3)) / 2
    y = X @ [0.5, -0.2, 0.1]
    return lambda noise: mechanism.run((X, y), noise)


def _bits() -> Run:
    bits = BitCollection(market=MajorityMarket(people=200, signal_accuracy=0.8, prior_one=0.5, epsilon=1.0,
                                               cost=LinearCost(0.1)))
    return lambda noise: bits.submit(1, noise=noise)


def _mean() -> Run:
    mean = TwoPartMechanism(people=200, prior=UniformPrior(), mse_price=40.0)
    level = float(mean.caps.local)
    steps = 10**6
    sigma = math.ceil(steps * math.sqrt(mean.order / (2 * level)))
    contract = LatticeContract(steps=steps, noise_std=sigma, epsilon_local=level, order=mean.order, low=mean.low,
                               epsilon_central=min(level, float(mean.caps.central)), high=mean.high)
    return lambda noise: mean.submit((mean.low + mean.high) / 2, contract, noise)


def _channel(prior: Any = None) -> Run:
    if prior is None:
        response = RandomizedResponse(records=5, letters=3, epsilon=1.0)
        return lambda noise: response.release([0, 2, 1, 0, 1], noise)
    found = least_distortion("dp", prior, 0.4, prior_provenance="public").mechanism
    return lambda noise: found.release([0] * found._size()[1], noise)


def _dual_query(**more: Any) -> Run:
    it: Any = twins()["MWEM, replay"]
    return _released(DualQuery(records=RECORDS, workload=it.workload, eta=0.5, rounds=5, samples=12, **more))


_GAUSSIAN: dict[str, Any] = {"law": "gaussian", "delta": 1e-3}
_FEW: dict[str, Any] = {"rounds": 30, "burn_in": 5}
_TIGHT = UnitDemand(5000, (2500.0,))

RUNS: dict[str, Callable[[], Run]] = {
    **{name: lambda name=name: _released(twins()[name]) for name in twins()},  # type: ignore[misc]
    **{f"MarginalFit, {name}": lambda it=it: _on_levels(_fitted(it[0], **it[1]))  # type: ignore[misc]
       for name, it in OVERSPENT.items()},
    "DualQuery": _dual_query,
    "DualQuery, marginals": lambda: _dual_query(free="marginals", marginal_rho=0.05),
    "PTarget, private": lambda: _search("private"),
    "PTarget, smoothed": lambda: _search("smoothed", noise_kind="gumbel"),
    "PTarget, none": lambda: _search("none"),
    "PTarget, public": lambda: _search("public", public_threshold=1.0, noise_kind="discrete_laplace"),
    "PMatch": lambda: _matched(PMatch(**_GOODS)),
    "PMatch, blocks": lambda: _matched(_InBlocks(**_GOODS)),
    "PMatch, unsatisfied": lambda: _matched(PMatch(**_GOODS, halting="unsatisfied")),
    "PMatch, sparse vector": lambda: _matched(PMatch(**_GOODS, halting="sparse_vector")),
    "PMatch, gaussian": lambda: _matched(PMatch(**_GOODS, **_GAUSSIAN, halting="bids")),
    "PMatch, truncated": lambda: _matched(
        PMatch(**_GOODS, delta=0.5, failure_probability=1e-10, on_overflow="truncate")),
    "PAlloc": lambda: _matched(PAlloc(**_BUNDLES, halting="unsatisfied")),
    "PAlloc, free reports": lambda: _matched(
        PAlloc(**{**_BUNDLES, "bid_cap": 4}, halting="unsatisfied", outbid_tests="round_end")),
    "SinkhornMatch": lambda: _matched(SinkhornMatch(people=300, goods=3, supply=80, epsilon=20.0)),
    "PriceRelease": lambda: _matched(PriceRelease(auction=PMatch(**_GOODS)), PMatch(**_GOODS)),
    "PrintedPMatch": lambda: _matched(PrintedPMatch(
        people=200, goods=8, supply=20, increment=0.05, tolerance=0.05, epsilon=1e9, failure_probability=0.05,
        reserve=0, halt_below=1, corrected=True)),
    "PrivDude": lambda: _dude(PrivDude(_UNIT, 2.0, 1e-4, **_FEW)),
    "PrivDude, discrete": lambda: _dude(PrivDude(_UNIT, 2.0, 1e-4, law="discrete_gaussian", **_FEW)),
    "RoundDude": lambda: _dude(RoundDude(_UNIT, 8.0, 1e-4, **_FEW)),
    "RoundDude, stops": lambda: _dude(RoundDude(_UNIT, 8.0, 1e-4, truncate=True, **_FEW)),
    "TrueDude": lambda: _dude(TrueDude(_UNIT, 2.0, 1e-4, alpha=0.5, **_FEW)),
    "TightDude": lambda: _dude(TightDude(_TIGHT, 1.0, 1e-6, rounds=1000, burn_in=100, alpha=0.5)),
    "TightenAndAudit": lambda: _dude(TightenAndAudit(_UNIT, 20.0, 1e-2, **_FEW)),
    "regression, ridge": _regression,
    "regression, sufficient statistics": lambda: _regression(SufficientStatistics(epsilon=4.0)),
    "regression, AdaSSP": lambda: _regression(AdaSSP(epsilon=2.0, delta=1e-6)),
    "regression, averaged": lambda: _regression("averaged"),
    "bits": _bits,
    "mean": _mean,
    "randomised response": _channel,
    "channel, table": lambda: _channel(FullPrior(np.full(4, 0.25), 2, 2)),
    "channel, joint types": lambda: _channel(Exchangeable.polya([1.0, 1.0], 5)),
}


@pytest.mark.parametrize("name", few(RUNS, ["MWEM, columns", "MWEM, replay", "PTarget, private"]))
def test_a_sound_run_keeps_its_lines_and_spends_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is drawn is on a line or public; a little more of it raises, and so does any of it twice."""
    run, observed = RUNS[name](), RecordingNoise(Noise.simulated(3))
    run(observed)
    lines = {draw.line for draw in observed.draws}
    assert None not in lines
    assert lines - {""}
    spend = Meter.spend

    def dearer(self: Meter, line: Any, cost: DrawCost, stream: Any, **more: Any) -> None:
        dear = replace(cost, **{part: None if value is None else value * Fraction(101, 100) for part, value in (
            ("pure", cost.pure), ("rho", cost.rho), ("mu_squared", cost.mu_squared))})
        spend(self, line, dear, stream, **more)

    def twice(self: Meter, line: Any, cost: DrawCost, stream: Any, **more: Any) -> None:
        spend(self, line, cost, stream, **more)
        spend(self, line, cost, stream, **more)

    for mutant in (dearer, twice):
        monkeypatch.setattr(Meter, "spend", mutant)
        again = RecordingNoise(Noise.simulated(3))
        with pytest.raises(Overspent):
            run(again)


_SCALES = {"add_discrete_laplace": "noise_scale", "add_laplace": "noise_scale", "add_vector_laplace": "noise_scale",
           "add_discrete_gaussian": "noise_std", "add_gaussian": "noise_std"}
_LAWS = {"laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "vector_laplace"}


def _less(scale: float | Fraction) -> float | Fraction:
    return scale * Fraction(99, 100) if isinstance(scale, Fraction) else scale * 0.99


def _draw_with_less_noise(patch: pytest.MonkeyPatch) -> None:
    """Every place that draws asks for one part in a hundred less noise; what it declares beside that stays."""
    def quieter(sound: Callable[..., Any], field: str) -> Callable[..., Any]:
        return lambda *given, **more: sound(*given, **{**more, field: _less(more[field])})

    sound_part = sessions.Part

    def part(law: Any, scale: float | Fraction = 1, *more: Any, **rest: Any) -> sessions.Part:
        return sound_part(law, _less(scale), *more, **rest)

    def sharper(epsilon: float, *more: Any) -> ResponseTable:
        return response_table(1.01 * epsilon, *more)

    def steeper(noise: Noise, played: query_game.QueryRound, *more: Any, **rest: Any) -> Any:
        return sound_draw(noise, played._replace(eta=1.01 * played.eta), *more, **rest)

    sound_draw = query_game.draw_queries
    mutants = {id(sound): quieter(sound, field)
               for sound, field in ((getattr(additive, name), field) for name, field in _SCALES.items())}
    mutants |= {id(sound_part): part, id(response_table): sharper, id(sound_draw): steeper}
    for module in [each for name, each in sorted(sys.modules.items()) if name.startswith("confide.")]:
        for name, value in list(vars(module).items()):
            if id(value) in mutants:
                patch.setattr(module, name, mutants[id(value)])


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_draws_less_noise_raises_first(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where noise has a scale, a step size, or odds that are charged by their name. A channel is charged by its own
    table of odds, and the scores of a selection are centers, which the audit measures.
    """
    run, observed = RUNS[name](), RecordingNoise(Noise.simulated(3))
    run(observed)
    scaled = {draw.law for draw in observed.draws if draw.line} & _LAWS or name == "bits" or name.startswith(
        ("PTarget", "DualQuery"))
    _draw_with_less_noise(monkeypatch)
    again = RecordingNoise(Noise.simulated(3))
    with pytest.raises(Overspent) if scaled else nullcontext():
        run(again)


@pytest.mark.parametrize("name", OVERSPENT)
def test_what_a_fit_draws_is_what_it_charges(name: str) -> None:
    """rho of all its draws, from their noise alone: .024356 is charged at epsilon 1 and delta 10^-6."""
    levels, more = OVERSPENT[name]
    fit = _fitted(levels, **more)
    observed = RecordingNoise(Noise.simulated(3))
    _on_levels(fit)(observed)
    drawn = sum((Fraction(1) / draw.scale**2 for draw in observed.draws if draw.law == "discrete_gaussian"),
                Fraction(0))
    charged = Accountant(fit.events()).rho()
    assert charged == pytest.approx(0.024356, abs=5e-7)
    assert ZCDP(charged).epsilon_at(1e-6) <= 1.0
    assert 0.999 * charged < float(drawn) <= charged
    assert {draw.law for draw in observed.draws} == {"discrete_gaussian"}

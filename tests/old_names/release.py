"""Old names of `confide.release` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from confide.privacy.noise import Noise


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.release`, and what the new ones give."""
    from confide import release as r
    from confide.release import audited_games as audit

    pairs, schema = r.Workload.complete(4, width=2), r.Schema.bits(4)
    bits: dict[str, Any] = {"workload": pairs, "epsilon": 1.0, "delta": 1e-3}
    game: dict[str, Any] = {"eta": 1.0, "rounds": 3, "samples": 20, "workload": pairs}
    played = r.DualQuery(records=9, **game)
    small: dict[str, Any] = {"records": 500, "epsilon": 2.0, "delta": 1e-3}
    old: dict[str, Any] = {"n": 500, "epsilon": 2.0, "delta": 1e-3}
    mwem = r.MWEM(records=9, workload=pairs, rounds=2, epsilon=1.0)
    noisy, product = r.NoisyAnswers(records=9, **bits), r.IndependentMarginals(records=9, **bits)
    laplace = r.NoisyAnswers(records=9, workload=pairs, epsilon=1.0, delta=0.0, law="laplace")
    fit = r.MarginalFit.for_budget(**small, schema=schema, population=100)
    weighed: dict[str, Any] = {"workload": pairs, "eta": 1.0, "samples": 60, "measured": 3}
    reweighted = r.Reweighted.for_budget(**small, **weighed)
    tables = r.MeasuredTables(members=np.array([[0, -1, -1]]), noise_stds=np.array([2.0]), counts=np.array([3, 6]))
    board = r.FittedMarginals(schema=schema, records=9, tables=tables, cells=np.zeros((1, 4), np.uint16),
                              weights=np.ones(1), misfit=0.0, diversity=1.0)
    drawn = played.run(np.zeros((9, 4), dtype=bool), Noise.simulated(1)).billboard
    parts: dict[str, Any] = {"records": drawn.records, "weights": drawn.weights, "rounds": drawn.rounds,
                             "marginals": drawn.marginals}
    more: dict[str, Any] = {"chosen": np.array([0]), "measured": np.array([1])}
    without: dict[str, Any] = {"bound": 0.2, "regret": 0.1, "tau": 0.0, "vacuous": False}
    of_answers = {**without, "sampling": 0.1}
    of_weights: dict[str, Any] = {"bound": 0.2, "shift": 0.1, "measured": 0.1, "vacuous": False}
    return {
        ("AnswersCertificate", "gamma"): (lambda: r.AnswersCertificate(
            gamma=0.2, failure_probability=0.1, **without).sampling, 0.2),
        ("AllZeros", "n"): (lambda: r.AllZeros(n=9, workload=pairs), r.AllZeros(records=9, workload=pairs)),
        ("Uniform", "n"): (lambda: r.Uniform(n=9, workload=pairs).records, 9),
        ("AnswersCertificate", "beta"): (
            lambda: r.AnswersCertificate(beta=0.1, **of_answers).failure_probability, 0.1),
        ("calculators", "Setting"): (lambda: r.calculators.Setting, r.calculators.RoundsAndCost),
        ("DualQuery", "n"): (lambda: r.DualQuery(n=9, **game), played),
        ("DualQuery", "beta"): (lambda: played.beta, 0.05),
        ("DualQuery", "coins"): (lambda: r.DualQuery(records=9, free="coins", **game),
                                 r.DualQuery(records=9, free="random", **game)),
        ("DualQuery.for_budget", "n"): (lambda: r.DualQuery.for_budget(**old, workload=pairs),
                                        r.DualQuery.for_budget(**small, workload=pairs)),
        ("DualQuery.for_budget", "by position"): (lambda: r.DualQuery.for_budget(500, 2.0, 1e-3, workload=pairs),
                                                  r.DualQuery.for_budget(**small, workload=pairs)),
        ("FittedMarginals.error_bars", "beta"): (lambda: board.error_bars(pairs, beta=0.1).tolist(), [np.inf] * 6),
        ("FittedMarginalsCertificate", "beta"): (
            lambda: r.FittedMarginalsCertificate(beta=0.1, cells=0.1, vacuous=False).failure_probability, 0.1),
        ("IndependentMarginals", "n"): (lambda: r.IndependentMarginals(n=9, **bits), product),
        ("IndependentMarginals", "sigma"): (lambda: product.sigma, product.noise_std),
        ("IndependentMarginals", "square"): (lambda: product.square, 4),
        ("LocalSearch", "coins"): (lambda: r.LocalSearch(coins=2), r.LocalSearch(random_starts=2)),
        ("MWEM", "n"): (lambda: r.MWEM(n=9, workload=pairs, rounds=2, epsilon=1.0), mwem),
        ("MWEM", "beta"): (lambda: mwem.beta, 0.05),
        ("MWEM", "scale"): (lambda: mwem.scale, mwem.noise_scale),
        ("MWEM.for_budget", "n"): (lambda: r.MWEM.for_budget(**old, workload=pairs),
                                   r.MWEM.for_budget(**small, workload=pairs)),
        ("MWEM.for_budget", "by position"): (lambda: r.MWEM.for_budget(500, 2.0, 1e-3, workload=pairs),
                                             r.MWEM.for_budget(**small, workload=pairs)),
        ("MWEM.noise_error", "beta"): (lambda: mwem.noise_error(beta=0.1), mwem.noise_error(0.1)),
        ("MWEMCertificate", "beta"): (
            lambda: r.MWEMCertificate(beta=0.1, measured=0.1, everywhere=1.0).failure_probability, 0.1),
        ("audited_games.tiny_game", "n"): (lambda: audit.tiny_game(n=9).records, 9),
        ("MarginalFit", "n"): (lambda: replace(fit, n=501), replace(fit, records=501)),
        ("MarginalFit.for_budget", "n"): (lambda: r.MarginalFit.for_budget(**old, schema=schema, population=100), fit),
        ("MarginalFit.for_budget", "by position"): (
            lambda: r.MarginalFit.for_budget(500, 2.0, 1e-3, schema=schema, population=100), fit),
        ("MeasuredTables", "sigmas"): (lambda: list(tables.sigmas), [2.0]),
        ("MeasuredTables.estimates", "n"): (
            lambda: tables.estimates(schema, r.Workload.complete(4, width=1), n=9)[0][0], 6.0),
        ("NoisyAnswers", "n"): (lambda: r.NoisyAnswers(n=9, **bits), noisy),
        ("NoisyAnswers", "scale"): (lambda: laplace.scale, 6.0),
        ("NoisyAnswers", "sigma"): (lambda: noisy.sigma, noisy.noise_std),
        ("NoisyAnswers", "square"): (lambda: noisy.square, 6),
        ("NoisyAnswers.error", "beta"): (lambda: noisy.error(beta=0.1), noisy.error(0.1)),
        ("Reweighted", "n"): (lambda: reweighted.n, 500),
        ("Reweighted", "beta"): (lambda: reweighted.beta, 0.05),
        ("Reweighted", "sigma"): (lambda: reweighted.sigma, reweighted.noise_std),
        ("Reweighted.for_budget", "n"): (lambda: r.Reweighted.for_budget(**old, **weighed), reweighted),
        ("Reweighted.for_budget", "beta"): (
            lambda: r.Reweighted.for_budget(**small, **weighed, beta=0.1),
            r.Reweighted.for_budget(**small, **weighed, failure_probability=0.1)),
        ("Reweighted.for_budget", "by position"): (
            lambda: r.Reweighted.for_budget(500, 2.0, 1e-3, **weighed), reweighted),
        ("ReweightedCertificate", "beta"): (lambda: r.ReweightedCertificate(
            beta=0.1, measured_failure_probability=0.2, **of_weights).failure_probability, 0.1),
        ("ReweightedCertificate", "measured_beta"): (lambda: r.ReweightedCertificate(
            failure_probability=0.1, measured_beta=0.2, **of_weights).measured_failure_probability, 0.2),
        ("SyntheticRecords", "n"): (lambda: r.SyntheticRecords(n=9, **parts).data_records, 9),
        ("ReweightedRecords", "n"): (lambda: r.ReweightedRecords(n=9, **parts, **more).data_records, 9),
        ("plan", "n"): (lambda: r.plan(schema, n=500, **bits).to_dict(), r.plan(schema, records=500, **bits).to_dict()),
        ("plan", "by position"): (lambda: r.plan(schema, 500, pairs, 1.0, 1e-3).to_dict(),
                                  r.plan(schema, records=500, **bits).to_dict()),
    }

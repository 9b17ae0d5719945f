"""Old names of `confide.privacy` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.privacy`, and what the new ones give."""
    from confide import privacy as p
    from confide.privacy.noise import ForcedNoise

    tree, alarm = p.TreeCounter(horizon=8, scale=2.0, l1_sensitivity=2), p.SparseVector(threshold=500, epsilon=1.0)
    made = {name: getattr(p.TreeCounter, name) for name in ("for_epsilon", "for_mu", "for_rho")}

    def simulated(**given: Any) -> Any:
        return tree.simulated_bound(noise=p.Noise.simulated(1), runs=400, **given)

    def drawn(name: str, **given: Any) -> Any:
        return getattr(p.Noise.simulated(1), name)(size=2, stream="it", **given).tolist()

    found: dict[tuple[str, str], tuple[Any, Any]] = {
        ("", "gaussian_sigma"): (lambda: p.gaussian_sigma, p.gaussian_noise_std),  # type: ignore[attr-defined]
        ("SparseVector.accuracy", "beta"): (lambda: alarm.accuracy(5, beta=0.01), alarm.accuracy(5, 0.01)),
        ("SparseVector.accuracy", "trivial"): (
            lambda: alarm.accuracy(5, 0.01, trivial=9.0), alarm.accuracy(5, 0.01, baseline=9.0)),
        ("TreeCounter", "distance"): (lambda: p.TreeCounter(horizon=8, scale=2.0, distance=2), tree),
        ("TreeCounter.accuracy", "gamma"): (lambda: tree.accuracy(gamma=0.1), tree.accuracy(0.1)),
        ("TreeCounter.error_bound", "gamma"): (lambda: tree.error_bound(gamma=0.1), tree.error_bound(0.1)),
        ("TreeCounter.simulated_bound", "gamma"): (
            lambda: simulated(gamma=0.1), simulated(failure_probability=0.1)),
        ("selection_error", "failure"): (
            lambda: p.selection_error(5, 1.0, 1.0, failure=0.1), p.selection_error(5, 1.0, 1.0, 0.1)),
    }
    for name, make in made.items():
        found[f"TreeCounter.{name}", "distance"] = (
            lambda make=make: make(1.0, distance=1, horizon=7, arity=2),
            make(1.0, l1_sensitivity=1, horizon=7, arity=2))
    for name in ("gaussian", "discrete_gaussian"):
        found[f"Noise.{name}", "sigma"] = (lambda name=name: drawn(name, sigma=2.0), drawn(name, noise_std=2.0))
    found["noise.ForcedNoise.gaussian", "sigma"] = (
        lambda: ForcedNoise(()).gaussian(sigma=2.0, size=2, stream="a").tolist(), [0.0, 0.0])  # type: ignore[call-arg]
    return found

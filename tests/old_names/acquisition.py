"""Old names of `confide.acquisition` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.acquisition`, and what the new ones give."""
    from confide import acquisition as a
    from confide.acquisition.release.enumerated_sum import enumerated_divergence

    small: dict[str, Any] = {"people": 4, "prior": a.UniformPrior(), "mse_price": 10.0}
    bounds: dict[str, Any] = {"people": 4, "variance_price": 1.0, "noise_price": 4.0, "psi_floor": 0.25}
    cost, prices = a.UniformPrior().virtual_cost(), {"variance_price": 1.0, "noise_price": 4.0}
    study = a.TwoPartMechanism(**small)
    offer: dict[str, Any] = {"steps": 10, "epsilon_local": 4.0, "epsilon_central": 1.0, "order": 2.0}
    lattice = a.integer_contracts([0.5, 0.5], [1.0, 1.0], 2.0)
    sent: dict[str, Any] = {"steps": 1, "epsilon_local": 1.0, "epsilon_central": 1.0, "payment": 1, "sent": True}
    common: dict[str, Any] = {"step": 0.5, "order": 2.0}
    records = study.contracts([0.1, 0.2, 0.3, 0.4]).records({})
    return {
        ("CappedCaps", "grid"): (lambda: a.CappedCaps(**bounds, weight_cap=0.5, grid=0.01),
                                 a.CappedCaps(**bounds, weight_cap=0.5, approximation=0.01)),
        ("Caps", "grid"): (lambda: a.Caps(**bounds, psi_most=2.0, grid=0.01),
                           a.Caps(**bounds, psi_most=2.0, approximation=0.01)),
        ("Contracted", "sigma"): (lambda: a.Contracted(**sent, sigma=9), a.Contracted(**sent, noise_std=9)),
        ("ContractedRecords", "sigma"): (lambda: list(records.sigma), records.noise_std.tolist()),
        ("LatticeContract", "sigma"): (lambda: a.LatticeContract(**offer, sigma=50),
                                       a.LatticeContract(**offer, noise_std=50)),
        ("LatticeContracts", "sigma"): (lambda: list(lattice.sigma), lattice.noise_std.tolist()),
        ("", "Prior"): (lambda: a.Prior, a.ConcernPrior),
        ("PaymentRule", "delta"): (lambda: a.PaymentRule(cost, 1.0, 4.0, delta=0.01).approximation, 0.01),
        ("TwoPartMechanism", "grid"): (lambda: a.TwoPartMechanism(**small, grid=0.01),
                                       a.TwoPartMechanism(**small, approximation=0.01)),
        ("TwoPartMechanism", "most_local"): (
            lambda: a.TwoPartMechanism(**small, most_local=50.0, psi_floor=0.25),
            a.TwoPartMechanism(**small, largest_local_loss=50.0, psi_floor=0.25)),
        ("TwoPartMechanism", "nat_price"): (lambda: study.nat_price, 1.0),
        ("solve_capped", "delta"): (lambda: a.solve_capped([0.3, 0.5], weight_cap=0.6, delta=0.1, **prices).value,
                                    a.solve_capped([0.3, 0.5], weight_cap=0.6, approximation=0.1, **prices).value),
        ("solve_grid", "delta"): (lambda: a.solve_grid([0.3, 0.5], delta=0.1, **prices).value,
                                  a.solve_grid([0.3, 0.5], approximation=0.1, **prices).value),
        ("audit.enumerated_divergence", "sigmas"): (
            lambda: enumerated_divergence([0.5, 0.5], sigmas=[1.0, 1.0], **common), enumerated_divergence(
                [0.5, 0.5], [1.0, 1.0], **common)),
        ("plan", "design_for_budget"): (lambda: a.design_for_budget(study, 2.0, draws=4),
                                        a.plan(study, budget=2.0, draws=4)),
        ("plan", "design_for_error"): (lambda: a.design_for_error(study, 0.4, draws=4),
                                       a.plan(study, error=0.4, draws=4)),
    }

"""Old names of `confide.programs` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from confide.privacy.noise import Noise


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.programs`, and what the new ones give."""
    from confide import programs as p

    program, one_row = p.UnitDemand(200, (60.0, 90.0)), p.UnitDemand(5_000, (2_500.0,))
    budget: dict[str, Any] = {"program": program, "epsilon": 50.0, "delta": 1e-3, "rounds": 4, "burn_in": 2}
    settings: dict[type, dict[str, Any]] = {
        **dict.fromkeys((p.PrivDude, p.TrueDude, p.RoundDude, p.TightenAndAudit), budget),
        p.TightDude: {"program": one_row, "epsilon": 1.0, "delta": 1e-6, "rounds": 1_000, "alpha": 0.5}}
    uses = dict[tuple[str, str], tuple[Any, Any]]()

    def attributes(it: Any, **names: str) -> None:
        for old, new in names.items():
            uses[type(it).__name__, old] = (lambda old=old: plain(getattr(it, old)), plain(getattr(it, new)))

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray) else value

    of_all = {"averaged": "noise_std", "kept_back": "reserve", "trivial": "baseline_gap",
              "squared_sensitivity": "squared_l2_sensitivity", "unit": "relation", "tosses": "public_randomness"}
    own: dict[type, dict[str, str]] = {
        p.PrivDude: {}, p.RoundDude: {}, p.TrueDude: {}, p.TightDude: {"margins": "reserve", "kept": "reserve_share"},
        p.TightenAndAudit: {"audit_deviation": "audit_noise_std", "audit_margin": "audit_reserve",
                            "tightened": "reserve_units"}}
    made: dict[type, Any] = {kind: kind(**given) for kind, given in settings.items()}
    for kind, given in settings.items():
        attributes(made[kind], **of_all, **own[kind])
        uses[kind.__name__, "beta"] = (lambda kind=kind, given=given: kind(**given, beta=0.1),
                                       kind(**given, failure_probability=0.1))
    tea, charged, audited = made[p.PrivDude], made[p.TrueDude], made[p.TightenAndAudit]
    nothing = np.zeros((200, 2))
    constants: Any = program.constants
    ran = tea.run(nothing, Noise.simulated(1))
    of_boards = {"beta": "failure_probability", "deviation": "round_noise_std", "trivial": "baseline_gap",
                 "seed": "public_seed"}
    attributes(ran.billboard, **of_boards)
    attributes(made[p.RoundDude].run(nothing, Noise.simulated(1)).billboard, **of_boards)
    attributes(audited.run(nothing, Noise.simulated(1)).billboard, **of_boards, tightened="reserve_units")
    attributes(ran.certificate, beta="failure_probability")
    options: dict[str, Any] = {"most_excess": 0.9, "timed": False}
    planned = p.plan(program, epsilon=5.0, delta=1e-3, **options)
    attributes(planned, averaged="noise_std", margins="reserve")
    return {
        **uses,
        ("TightDude", "tosses of the class"): (lambda: p.TightDude.tosses, True),  # type: ignore[attr-defined]
        ("PrivDude", "substitution"): (lambda: replace(tea, neighbours="substitution"), tea),
        ("PrivDude", "null"): (lambda: replace(tea, neighbours="null"), replace(tea, neighbours="add_or_remove")),
        ("Constants", "squared_sensitivity"): (lambda: constants.squared_sensitivity("replace"), 2),
        ("Constants", "sensitivity"): (lambda: constants.sensitivity("add_or_remove"), 1.0),
        ("TrueDude", "gain_beside"): (lambda: charged.gain_beside(0.1), charged.relative_gain(0.1)),
        ("PathBillboard", "trivial="): (lambda: replace(ran.billboard, trivial=3.0).baseline_gap, 3.0),
        ("certificate", "beta"): (
            lambda: p.certificate(ran.billboard, beta=0.1).failure_probability, 0.1),  # type: ignore[call-arg]
        ("AggregativeGame", "gamma"): (
            lambda: p.AggregativeGame(9, (1.0,), actions=2, gamma=1.0),  # type: ignore[call-arg]
            p.AggregativeGame(9, (1.0,), actions=2, largest=1.0)),
        ("", "Records"): (lambda: p.Records, p.ProgramRecords),  # type: ignore[attr-defined]
        ("plan", "beta"): (
            lambda: p.plan(program, epsilon=5.0, delta=1e-3, beta=0.1, **options).path.failure_probability, 0.1),
        ("plan", "by position"): (
            lambda: p.plan(program, 5.0, 1e-3, **options).to_dict(), planned.to_dict()),  # type: ignore[misc]
    }

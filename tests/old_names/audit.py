"""Old names of `confide.audit` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.audit`, and what the new ones give."""
    from confide import audit as a
    from confide.privacy import PureDP
    from confide.privacy.noise import Noise

    def winner(values: Any, noise: Any) -> Any:
        return noise.discrete_laplace(2, 2, stream="winner", center=values).argmax()

    pairs = [a.Neighbours([5, 0], [5, 1], lambda outcome: repr(outcome).encode())]
    given: Any = (winner, pairs, {"": PureDP(1.0)}, Noise.simulated)
    unreleased: Any = {"winner": a.NOISY_MAX}
    old: dict[str, Any] = {"name": "a", "planted_bug": "b", "flagged": True}
    by_old: dict[str, Any] = {"hidden": unreleased}
    twice: dict[str, Any] = {"disguises": 2}
    same: dict[str, Any] = {"walk": lambda changed: {}}
    return {
        ("", "DoorAudit"): (lambda: a.DoorAudit, a.TranscriptAudit),  # type: ignore[attr-defined]
        ("", "HiddenPart"): (lambda: a.HiddenPart, a.UnreleasedIntermediate),  # type: ignore[attr-defined]
        ("", "PlantedBug"): (lambda: a.PlantedBug, a.Mutant),  # type: ignore[attr-defined]
        ("", "beside_charge"): (lambda: a.beside_charge, a.charge_and_rest),  # type: ignore[attr-defined]
        ("", "door_audit"): (lambda: a.door_audit, a.fixed_transcript_audit),  # type: ignore[attr-defined]
        ("", "mixed"): (lambda: a.mixed, a.inject_fault),  # type: ignore[attr-defined]
        ("", "told_run"): (lambda: a.told_run, a.run_with_steps),  # type: ignore[attr-defined]
        ("Control", "planted_bug"): (lambda: a.Control(**old),
                                     a.Control(name="a", mutant="b", flagged=True)),
        ("fixed_transcript_audit", "hidden"): (lambda: a.fixed_transcript_audit(*given, **by_old),
                                               a.fixed_transcript_audit(*given, unreleased=unreleased)),
        ("fixed_transcript_audit", "disguises"): (
            lambda: a.fixed_transcript_audit(*given, unreleased, **twice),
            a.fixed_transcript_audit(*given, unreleased, other_answers=2)),
        ("part_controls", "walk"): (lambda: a.part_controls({}, **same, named=str),
                                    a.part_controls({}, replay=lambda changed: {}, named=str)),
    }

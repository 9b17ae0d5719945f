"""Privacy, attacked through the door: the mechanism's own run on neighbouring submissions, and the noise it draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from confide.audit import (
    AuditRow,
    Control,
    DampedNoise,
    Loss,
    Neighbours,
    RepeatedNoise,
    TranscriptAudit,
    charge_rows,
    fixed_transcript_audit,
    implies,
    part_controls,
    sampler_audit,
    strongest,
)
from confide.audit.charging import NAMED
from confide.contract.guarantees import Privacy
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.regression.audit.mutants import Unclipped, planted, wider_ball
from confide.regression.audit.neighbouring import CROWD, ball_matters, neighbours
from confide.regression.audit.printed import printed_audit
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.output_perturbation import Averaged

__all__ = ["FALSE_ALARM", "charged", "claims_of", "paid_of", "privacy_controls", "privacy_rows"]

FALSE_ALARM = 1e-9
"""Probability with which one statistical row says "broken" of a kept promise."""

_DRAWS = 400  # enough to see a scale that is wrong by a factor two at that false alarm
_HARDEST = 4  # pairs that a control is shown: the worst ones come first
_PARTS = {"the payment estimates alone": "payment", "the release alone": "release"}
"""Part of a promise -> the first word of the streams of its noise."""
_NAMES = {"": "everything that others see, jointly", "payment": "payment estimates", "release": "release"}

Run = Callable[[Any, Noise], Outcome | SimulatedOutcome]


def claims_of(mechanism: PrivateTruthfulRegression) -> dict[str, Loss]:
    """What is promised of each part of the noise, by the first word of its streams; "" is everything together.

    Of a mechanism as printed these are the source's claims, whether or not they hold: the audit says so.
    """
    release = mechanism.release
    claims: dict[str, Loss] = {"": mechanism.stated_loss, "payment": PureDP(mechanism.payment.epsilon)}
    if isinstance(release, AdaSSP):
        claims["release"] = ZCDP(release.rho)
        claims |= {f"release/{part}": ZCDP(release.rho / 3) for part in ("eigenvalue", "gram", "cross")}
    elif not isinstance(release, Averaged):
        claims["release"] = PureDP(release.epsilon)
    return claims


def charged(mechanism: PrivateTruthfulRegression) -> tuple[AuditRow, tuple[Control, ...]]:
    """What the ledger is charged, against the epsilons, or rho, that the parameters name.

    Args:
        mechanism: that claims privacy.
    """
    release, pays = claims_of(mechanism).get("release"), mechanism.payment.epsilon
    named: Loss = PureDP(pays)
    if isinstance(release, ZCDP):
        named = ZCDP(pays**2 / 2 + release.rho)
    elif isinstance(release, PureDP):
        named = PureDP(pays + release.epsilon)
    return charge_rows((event for event in mechanism.events() if isinstance(event, Event)), named, NAMED)


def _histories(seed: int) -> Callable[[int], Noise]:
    """Number of a pair -> the noise of its history."""
    return lambda pair: Noise.simulated(seed * 1009 + pair)


def privacy_rows(
    mechanism: PrivateTruthfulRegression, seed: int, step: Callable[[], None] = lambda: None
) -> list[AuditRow]:
    """One row per promised loss, and one per kind of secure noise.

    Args:
        mechanism: as it will run.
        seed: of the histories.
        step: called after each pair.
    """
    source = _histories(seed)
    heard: dict[tuple[str, str], Draw] = {}

    def run(data: Any, noise: Noise) -> Outcome | SimulatedOutcome:
        outcome = mechanism.run(data, noise)
        if isinstance(noise, RecordingNoise):
            for draw in noise.draws:
                if draw.law != "split":
                    heard.setdefault((str(draw.stream[0]), draw.law), draw)
            step()
        return outcome

    claims: dict[str, Loss | Privacy] = dict(claims_of(mechanism))
    promised = _promises(mechanism, claims)
    for part, held in promised.items():
        if part and len(held) == 1:
            claims[part] = held[0][0]
    everything = [promise for promise, _ in promised.get("", ())]
    if any(promise.loss == claims[""] for promise in everything):
        del claims[""]
    found = fixed_transcript_audit(run, neighbours(mechanism, source), claims, source, promises=everything)
    follow = {promise.sentence(): each for promise, each in promised.get("", ())} | {
        part: held[0][1] for part, held in promised.items() if part and len(held) == 1}
    people = mechanism.setting.people
    there = f"in one pair {min(people, CROWD):,} of {people:,} people hand in a record"
    rows = [audit.row(f"privacy loss: {_NAMES[''] if audit.promise in everything else _NAMES.get(part, part)}")
            .holding(*follow.get(part, ())) for part, audit in found.items()]
    rows = [replace(row, note=f"{row.note}; {there}" if row.note else there) for row in rows]
    rows[0] = rows[0].holding(*(each for each in mechanism.guarantees().privacy if each.loss.vacuous))
    secure = Noise.secure()
    rows += [sampler_audit(secure, draw, _DRAWS, FALSE_ALARM) for draw in heard.values()]
    return rows


def _promises(
    mechanism: PrivateTruthfulRegression, walked: Mapping[str, Any]
) -> dict[str, list[tuple[Privacy, tuple[Privacy, ...]]]]:
    """Part of the noise -> what is promised of it: the strongest promises, and what follows from each. A release that
    draws none rests on the walk of everything, of which no part is promised.

    That walk shows all that others see, so that it is held to a promise of the whole: what is promised of the billboard
    follows, and of the billboard together with everybody else's payments.
    """
    out: dict[str, list[Privacy]] = {}
    for promise in mechanism.guarantees().privacy:
        part = _PARTS.get(promise.part, "")
        if promise.loss.vacuous or (part and part not in walked):
            continue
        out.setdefault(part, []).append(promise)
    found = {part: strongest(each) for part, each in out.items() if part}
    everything = out.get("", [])
    held = strongest(replace(promise, part=Privacy.part) for promise in everything)
    found[""] = [(whole, tuple(each for each in everything if implies(whole, each))) for whole, _ in held]
    return found


def paid_of(promise: Privacy, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Which events pay for a promise: those of the payment estimates, those of the release, or all.

    Args:
        promise: of a regression.
        events: of a whole run.
    """
    if promise.part not in _PARTS:
        return events
    payment = _PARTS[promise.part] == "payment"
    return tuple(event for event in events if (event.label == "payment estimates") is payment)


def privacy_controls(mechanism: PrivateTruthfulRegression, seed: int) -> list[Control]:
    """The same walk over mechanisms that were broken on purpose: each must be flagged."""
    source = _histories(seed)
    pairs = list(neighbours(mechanism, source))
    hardest, part = pairs[:_HARDEST], 1.0 / max(2, mechanism.setting.features)
    broken: list[tuple[str, Run, list[Neighbours]]] = [
        ("no noise at all", lambda data, _: mechanism.run(data, ForcedNoise([])), hardest),
        (f"noise multiplied by {part:.2g}", lambda data, noise: mechanism.run(data, DampedNoise(noise, part)), hardest),
        ("the same noise in both payment estimates", lambda data, noise: mechanism.run(data, RepeatedNoise(noise)),
         hardest),
        ("answers beyond the bound count sixteen times", planted(Unclipped, mechanism).run, pairs),
    ]
    parts = claims_of(mechanism)
    claims = {"": parts[""]}
    if mechanism.held_in_ball and ball_matters(mechanism):
        broken.append(("a ball ten times as wide", wider_ball(mechanism).run, pairs))
    out = [Control("privacy loss", bug, fixed_transcript_audit(run, shown, claims, source)[""].flagged)
           for bug, run, shown in broken]

    def walked(changed: Callable[[Noise], Noise] = lambda noise: noise) -> dict[str, TranscriptAudit]:
        return fixed_transcript_audit(lambda data, noise: mechanism.run(data, changed(noise)), hardest, parts, source)

    out += part_controls(walked(), walked, lambda part: f"privacy loss: {_NAMES.get(part, part)}")
    printed = printed_audit(1.0, Noise.simulated(seed))
    out.append(Control("privacy loss", "the printed sensitivity without the ball (n = 10,000, gamma = 10): "
                       f"{printed.measured:.2f} times the claim", printed.flagged))
    heard = RecordingNoise(Noise.simulated(seed))
    mechanism.run([], heard)
    draw = next(draw for draw in heard.draws if draw.law != "split")
    for bug, noise in (("a source that adds nothing", ForcedNoise([])),
                       ("a source with half the scale", DampedNoise(Noise.simulated(seed), 0.5))):
        out.append(Control("law of the noise", bug, sampler_audit(noise, draw, _DRAWS, FALSE_ALARM).flagged))
    return out

"""What the harness needs to know of a private regression: worst-case submissions, parts of its noise, its own faults.

No participant's record is used. Privacy is attacked with neighbouring submissions that go through the mechanism's own
run; truth, accuracy and money are measured on people drawn from the public model.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from confide.audit import Audited, Examined, Laws, Loss, Transcripts, heard
from confide.contract.guarantees import Guarantees, Privacy
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import Noise
from confide.regression.audited_behaviour import behaviour_rows, far_lies, own_score_row, range_row, wrong_signs
from confide.regression.audited_faults import PaidByHerOwnGroup, Unbounded, Unclipped, planted, wider_ball
from confide.regression.audited_print import printed_audit
from confide.regression.audited_submissions import CROWD, ball_matters, neighbours
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.output_perturbation import Averaged

__all__ = ["FALSE_ALARM", "claims_of", "named_charge", "paid_of", "privacy", "regression"]

FALSE_ALARM = 1e-9
"""Probability with which one statistical row says "broken" of a kept promise."""

_DRAWS = 400  # enough to see a scale that is wrong by a factor two at that false alarm
_HARDEST = 4  # pairs that a control is shown: the worst ones come first
_PARTS = {"the payment estimates alone": "payment", "the release alone": "release"}
"""Part of a promise -> the first word of the streams of its noise."""
_NAMES = {"payment": "payment estimates", "release": "release"}
_TYPES = 40  # people whose best lie is looked for


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


def regression(mechanism: PrivateTruthfulRegression, seed: int = 0) -> Audited:
    """What is known of one regression.

    Args:
        mechanism: as it will run.
        seed: of everything that is drawn, except the draws that test secure noise.
    """
    runs = int(np.clip(2_000_000 // (mechanism.setting.people * mechanism.setting.features), 3, 25))
    clipped = mechanism.payment.clip is not None
    bent = {"peers whose predictions have the wrong sign": partial(wrong_signs, mechanism, seed)}
    return Audited(
        promises=mechanism.guarantees() if mechanism.claims_privacy else Guarantees(()), paid=paid_of,
        events=mechanism.events if mechanism.claims_privacy else tuple,
        charged=named_charge(mechanism) if mechanism.claims_privacy else None, measured=[
            *privacy(mechanism, seed),
            Examined(named="privacy loss", rows=lambda walk: [] if walk is None else [walk().row()], faults={
                "the printed sensitivity without the ball (n = 10,000, gamma = 10)":
                    partial(printed_audit, 1.0, Noise.simulated(seed))}),
            Examined(named="incentives", sound=mechanism, rows=lambda it: [own_score_row(it, seed)], faults={
                "paid by the estimate of her own group": planted(PaidByHerOwnGroup, mechanism)}),
            Examined(named="range of payments", sound=mechanism, rows=lambda it: [range_row(it)] if clipped else [],
                     faults={"predictions that are not clipped": planted(Unbounded, mechanism)} if clipped else {}),
            Examined(named="incentives", rows=lambda rows: rows(), sound=partial(
                behaviour_rows, mechanism, seed, runs, _TYPES), faults=bent if far_lies(mechanism, seed) else {})])


def privacy(mechanism: PrivateTruthfulRegression, seed: int) -> list[Transcripts | Laws]:
    """What others see of a run, part by part, and the laws of its noise.

    Args:
        mechanism: sound or broken.
        seed: of the transcripts.
    """
    people, claims = mechanism.setting.people, claims_of(mechanism)
    faults: dict[str, Any] = {"answers beyond the bound count sixteen times": planted(Unclipped, mechanism).run}
    if mechanism.held_in_ball and ball_matters(mechanism):
        faults["a ball ten times as wide"] = wider_ball(mechanism).run
    walked = Transcripts(
        named="privacy loss: everything that others see, jointly", run=mechanism.run, seed=seed,
        promises=mechanism.guarantees().privacy, parts=_PARTS,
        claims=claims, names={part: f"privacy loss: {_NAMES.get(part, part)}" for part in claims if part},
        hardest=_HARDEST, faults=faults,
        note=f"in one pair {min(people, CROWD):,} of {people:,} people hand in a record",
        pairs=lambda: neighbours(mechanism, lambda number: Noise.simulated(seed * 1009 + number)))
    return [walked, Laws(draws=lambda: heard(mechanism.run, [], seed), samples=_DRAWS, false_alarm=FALSE_ALARM,
                         seed=seed)]


def named_charge(mechanism: PrivateTruthfulRegression) -> PureDP | ZCDP:
    """The epsilons, or rho, that the parameters name.

    Args:
        mechanism: that claims privacy.
    """
    release, pays = claims_of(mechanism).get("release"), mechanism.payment.epsilon
    if isinstance(release, ZCDP):
        return ZCDP(pays**2 / 2 + release.rho)
    return PureDP(pays + (release.epsilon if isinstance(release, PureDP) else 0.0))


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

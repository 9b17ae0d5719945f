"""The replayed audit computes log ratios for realised transcripts: the log of the transcript's density under one data
set, minus the log of the density under a neighbour. Under a promise of pure differential privacy, no such ratio may
exceed the promised epsilon, whatever the data. One transcript with a larger ratio than epsilon refutes the promise with
certainty, so there is no false alarm.

The audit can miss transcripts that were not realised. An analytic supremum over all transcripts misses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from confide.audit.comparing import Loss, exceeds
from confide.audit.report import AuditRow
from confide.contract.errors import InvalidInput

__all__ = ["ReplayedAudit", "replayed_audit", "supremum_audit"]


@dataclass(frozen=True, kw_only=True)
class ReplayedAudit:
    """The result of an audit: the largest absolute log ratio over realised transcripts, or an analytic supremum.

    Args:
        claim: the promised loss.
        promised: the promised epsilon in nats.
        measured: the largest absolute log ratio, in nats.
        at: number of the transcript with the largest ratio, from 0; None for an analytic supremum.
        transcripts: number of transcripts that were replayed; 0 for an analytic supremum.
        flagged: True where the measured loss is above epsilon (1 + 1e-9) + 1e-12.
    """

    claim: Loss
    promised: float
    measured: float
    at: int | None
    transcripts: int
    flagged: bool

    def row(self, promise: str = "privacy") -> AuditRow:
        """The result as a row of an `AuditReport`."""
        if self.at is None:
            evidence = "supremum over all transcripts, in closed form"
        else:
            evidence = f"largest log-density ratio over {self.transcripts} replayed transcripts (tolerance 1e-9)"
        return AuditRow.of_loss(promise, self.claim, self.promised, self.measured, evidence, flagged=self.flagged)


def replayed_audit(log_ratios: Iterable[ArrayLike], claim: Loss) -> ReplayedAudit:
    """Compare realised log-density ratios with a promise of pure differential privacy.

    Args:
        log_ratios: ln(density under D / density under D') of transcripts that the mechanism produced under D or D', in
            nats, as numbers or blocks of any shape (a generator of blocks is read once). Both signs count; +-infinity
            means that one of the data sets could not have produced the transcript.
        claim: `PureDP`, or another loss that promises a finite epsilon at delta = 0.

    Raises:
        InvalidInput: there is no transcript, a ratio is NaN, or single transcripts cannot refute the claim.

    Example:
        >>> from confide.privacy import PureDP
        >>> replayed_audit([0.2, -0.9, 0.4], PureDP(0.5)).flagged
        True
    """
    promised = _pure(claim)
    largest, at, count = -1.0, 0, 0
    for block in log_ratios:
        values = np.abs(np.asarray(block, dtype=np.float64)).reshape(-1)
        if np.any(np.isnan(values)):
            raise InvalidInput("log_ratios", "nan is not a number", "the ratio of two zero densities is undefined")
        if values.size and values.max() > largest:
            largest, at = float(values.max()), count + int(values.argmax())
        count += values.size
    if count == 0:
        raise InvalidInput("log_ratios", "there is no transcript", "give at least one")
    return ReplayedAudit(claim=claim, promised=promised, measured=largest, at=at, transcripts=count,
                         flagged=exceeds(largest, promised))


def supremum_audit(supremum: float, claim: Loss) -> ReplayedAudit:
    """Compare the supremum of the absolute log-density ratio, over all transcripts and neighbours, with a claim.

    Args:
        supremum: the supremum in nats, in [0, inf].
        claim: `PureDP`, or another loss that promises a finite epsilon at delta = 0.

    Raises:
        InvalidInput: the supremum is negative or NaN.

    Example:
        >>> from confide.privacy import PureDP
        >>> supremum_audit(0.5, PureDP(0.5)).row().verdict
        <Verdict.KEPT: 'kept'>
    """
    promised = _pure(claim)
    if not supremum >= 0:
        raise InvalidInput("supremum", f"{supremum!r} is out of range", "must be in [0, inf]")
    return ReplayedAudit(claim=claim, promised=promised, measured=float(supremum), at=None, transcripts=0,
                         flagged=exceeds(supremum, promised))


def _pure(claim: Loss) -> float:
    promised = claim.epsilon_at(0.0)
    if math.isinf(promised) and not claim.vacuous:
        raise InvalidInput("claim", f"{claim} sets no limit for a single transcript",
                           "a replayed audit needs a pure loss")
    return promised

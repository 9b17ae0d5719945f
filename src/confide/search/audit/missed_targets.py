"""How well a drawn threshold does, at a campaign's own size: its exact law on made-up values of the statistic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from confide.audit import AuditRow, Concern, Control, exceeds
from confide.contract.guarantees import Accuracy
from confide.search.stopping import ThresholdRule
from confide.search.targeted import PTarget

__all__ = ["miss_controls", "miss_rows"]

_SHARES = (0.0, 0.001, 0.01, 0.1, 0.5)  # of all vertices: who knows somebody that was found


def miss_rows(mechanism: PTarget) -> list[AuditRow]:
    """The chance that a threshold misses K by more than is promised; none where no threshold is drawn.

    Args:
        mechanism: as it will run.

    Example:
        >>> miss_rows(PTarget(2000, 3, 8, 2.0, 100, "private"))[0].verdict
        <Verdict.KEPT: 'kept'>
    """
    return [AuditRow.at_most(
        f"accuracy: chance that the number that comes before a drawn threshold misses K by {promise.bound:.4g} more "
        "than at the best one", promise.failure_probability, _worst(rule, promise.bound, rule.people),
        f"the exact law of the threshold on {len(list(_made_up(rule)))} made-up populations of this size",
        vacuous=promise.vacuous, note="no threshold misses by so much" if promise.vacuous else "",
        unit="(probability)", concern=Concern.ACCURACY).holding(promise) for rule, promise in _drawn(mechanism)]


def miss_controls(mechanism: PTarget) -> list[Control]:
    """The same for thresholds that are drawn by a count of nobody: each is as likely as any other.

    Args:
        mechanism: as it will run.
    """
    return [Control("the threshold's error", "a threshold that is drawn without looking",
                    exceeds(_worst(rule, promise.bound, rule.people, even=True), promise.failure_probability))
            for rule, promise in _drawn(mechanism) if not promise.vacuous and _shows(rule, promise)]


def _drawn(mechanism: PTarget) -> list[tuple[ThresholdRule, Accuracy]]:
    if not mechanism.call.draws_threshold:
        return []
    return [(mechanism.call.rule, promise) for promise in mechanism.guarantees().of(Accuracy)]


def _made_up(rule: ThresholdRule) -> Iterator[NDArray[np.float64]]:
    """Values of all vertices: nobody's, everybody's the largest, and falling ones of some of them."""
    yield np.full(rule.people, float(rule.most))
    for share in _SHARES:
        values = np.zeros(rule.people)
        some = int(share * rule.people)
        values[:some] = np.floor(rule.most / np.arange(1, some + 1))
        yield values


def _worst(rule: ThresholdRule, bound: float, people: int, *, even: bool = False) -> float:
    """The largest chance of a threshold whose score is above the least one by more than the bound."""
    worst = 0.0
    for values in _made_up(rule):
        scores = np.asarray(rule.scores(values[:people]), dtype=np.float64)
        law = np.full(len(scores), 1.0 / len(scores)) if even else rule.law(values[:people])
        worst = max(worst, float(law[scores > scores.min() + bound].sum()))
    return worst


def _shows(rule: ThresholdRule, promise: Accuracy) -> bool:
    """Whether any threshold of these populations is so bad that a draw among equals would meet it too often."""
    return any(float((np.asarray(scores) > np.min(scores) + promise.bound).mean()) > promise.failure_probability
               for scores in (rule.scores(values) for values in _made_up(rule)))

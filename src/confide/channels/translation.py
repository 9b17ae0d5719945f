"""Bounds in other notions of privacy that follow from a level in one notion, each with the conditions under which it
holds.

Each bound is a proved inequality, not an approximation. If no bound follows, the result states this. If the channel
itself is known, `analyse` and `attack_risk` give its exact numbers, which lie inside these bounds.

Source: Wang 2016, section 1.3.2 and chapter 2; spec privacy_notions 1.1, 5 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from confide.channels.constants import prior_level
from confide.channels.kernels import entropy_of_row, h
from confide.channels.notions import Measure, as_measure
from confide.channels.priors import Prior, as_prior
from confide.channels.risk import best_advantage
from confide.contract.checks import non_negative
from confide.contract.errors import InvalidInput
from confide.contract.remedies import tried
from confide.contract.wire import parts_of, wire

__all__ = ["Step", "composed_level", "translate"]

Bound = Literal["at most", "at least"]

_ANY = "any prior, with any dependence between its rows"
_INFORMED = "an attacker who knows the channel and all rows but one"
_KNOWN = "the attacker has this prior, and all databases are possible under it"
_BOTH = f"{_INFORMED}; {_KNOWN}"


@wire("Step", "quantity bound value unit needs source")
@dataclass(frozen=True, kw_only=True)
class Step:
    """One bound on one quantity.

    Args:
        quantity: name of the bounded number.
        bound: direction of the bound, "at most" or "at least".
        value: the bound; infinite where no bound follows.
        unit: unit of the value: nats, rows, or a probability.
        needs: condition under which the bound holds, in words.
        source: theorem, or section of the specification, that proves the bound.
    """

    quantity: str
    bound: Bound
    value: float
    unit: str
    needs: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary of the bound."""
        return parts_of(self)


def translate(notion: Measure, level: float, prior: Prior | ArrayLike) -> tuple[Step, ...]:
    """Bounds in the other notions that follow from a level in one notion.

    Args:
        notion: "dp", "identifiability", "mutual-information" (nats) or "information-privacy".
        level: level in nats, >= 0; infinity is allowed. If `level` is only an upper bound of the channel's level, the
            lower bounds on other notions need not hold, but all other bounds hold.
        prior: prior of the attacker, or anything that `as_prior` accepts: a plain list is the law of a single row. The
            prior determines m, n and eps_X.

    Raises:
        InvalidInput: an unknown notion, a negative level, or an identifiability below the prior's own level.

    Example:
        >>> from confide.channels import IndependentRows
        >>> for step in translate("dp", 0.4055, IndependentRows([[0.55, 0.45]]))[:2]:
        ...     print(step.quantity, step.bound, round(step.value, 4), step.unit)
        identifiability at most 0.6062 nats
        identifiability at least 0.2048 nats
    """
    notion = as_measure(notion)
    level = math.inf if level == math.inf else non_negative("level", level)
    law = as_prior(prior)
    own = prior_level(law)
    if notion == "identifiability" and level < own - 1e-9 * (1.0 + own):
        raise InvalidInput("level", f"{level:g} is below the disclosure of the prior without a release",
                           tried("must be at least {level}", lambda level: translate(notion, level, law), digits=10,
                                 level=own))
    return {"dp": _from_dp, "identifiability": _from_identifiability, "mutual-information": _from_information,
            "information-privacy": _from_information_privacy}[notion](level, law, own)


def composed_level(levels: Sequence[float], prior: Prior | ArrayLike | None = None) -> float:
    """The level of several releases of the same rows together, in nats. The releases are drawn independently.

    Args:
        levels: differential privacy of each release, in nats. A later release may be chosen after earlier releases were
            seen. The list may also hold the mutual information of each release, in place of the differential privacy.
            All releases together then reveal at most the sum.
        prior: prior of the rows. With a prior the result is the identifiability of all releases together, which is
            larger than the sum by the prior's level eps_X.

    Example:
        >>> composed_level([0.5, 0.5, 1.0])
        2.0
    """
    try:
        given = list(levels)
    except TypeError:
        raise InvalidInput("levels", f"{type(levels).__name__} is not a list",
                           "must be one level for each release") from None
    if not given:
        raise InvalidInput("levels", "the list is empty", "must have at least one level")
    total = math.fsum(math.inf if level == math.inf else non_negative("levels", level) for level in given)
    return total if prior is None else total + prior_level(as_prior(prior))


def _step(quantity: str, bound: Bound, value: float, unit: str, needs: str, source: str) -> Step:
    return Step(quantity=quantity, bound=bound, value=value, unit=unit, needs=needs, source=source)


def _information(bound: float, prior: Prior, needs: str) -> Step:
    """Bound on the mutual information, which never exceeds the entropy of the rows."""
    if prior.entropy < bound:
        return _step("mutual information", "at most", prior.entropy, "nats",
                     "the attacker has this prior, with the information in all rows", "section 1.3.2")
    return _step("mutual information", "at most", bound, "nats", needs, "McGregor et al. 2010")


def _success(level: float, letters: int) -> float:
    return 1.0 / (1.0 + (letters - 1) * math.exp(-level))


def _from_dp(level: float, prior: Prior, own: float) -> tuple[Step, ...]:
    m, n = prior.letters, prior.records
    advantage = _step("advantage between two values of a row", "at most", best_advantage(level),
                      "hits minus false alarms", f"{_INFORMED}; no prior", "Kairouz, Oh and Viswanath 2015")
    information = _information(n * level, prior, _ANY)
    if math.isinf(own):
        return (_step("identifiability", "at most", math.inf, "nats",
                      "nothing follows, since the prior excludes some databases for every release", "spec 9"),
                advantage, information)
    return (
        _step("identifiability", "at most", level + own, "nats", _KNOWN, "Theorem 1, (2.19)"),
        _step("identifiability", "at least", max(level - own, own), "nats", _KNOWN, "spec 1.1"),
        _step("guess of a row", "at most", _success(level + own, m), "probability", _BOTH, "spec 5.7"),
        advantage,
        information,
        _step("changed rows", "at least", h(level + own, m, n), "rows", _KNOWN, "Theorem 1"),
    )


def _from_identifiability(level: float, prior: Prior, own: float) -> tuple[Step, ...]:
    m, n = prior.letters, prior.records
    return (
        _step("differential privacy", "at most", level + own, "nats", _KNOWN, "spec 1.1"),
        _step("differential privacy", "at least", max(level - own, 0.0), "nats", _KNOWN, "spec 1.1"),
        _step("guess of a row", "at most", _success(level, m), "probability", _BOTH, "Definition 2"),
        _step("advantage between two values of a row", "at most", best_advantage(level + own),
              "hits minus false alarms",
              _BOTH, "Kairouz, Oh and Viswanath 2015"),
        _information(n * (level + own), prior, _KNOWN),
        _step("changed rows", "at least", h(level, m, n), "rows", _KNOWN, "Lemma 7"),
    )


def _from_information(level: float, prior: Prior, own: float) -> tuple[Step, ...]:  # noqa: ARG001 - as its siblings
    """Bounds that follow from mutual information. Mutual information is an average and bounds only averages: no worst
    case follows from an average.
    """
    m, n = prior.letters, prior.records
    laws, _ = prior.marginals()
    average = min(1.0, float(laws.max()) + math.sqrt(0.5 * level))
    return (
        _step("differential privacy", "at most", math.inf, "nats",
              "nothing follows, since a rare output may disclose everything",
              "section 1.3.2"),
        _step("identifiability", "at most", math.inf, "nats",
              "nothing follows, since a rare output may disclose everything",
              "section 1.3.2"),
        _step("guess of a row, averaged over outputs", "at most", average, "probability",
              "an attacker with this prior who knows no other row", "Pinsker"),
        _step("differential privacy", "at least", level / n, "nats", _ANY, "McGregor et al. 2010"),
        _step("changed rows", "at least", _shannon(level, prior), "rows", f"the attacker has this prior, m = {m}",
              "Shannon's lower bound; Theorem 2"),
    )


def _from_information_privacy(level: float, prior: Prior, own: float) -> tuple[Step, ...]:
    return (
        _step("mutual information", "at most", level, "nats", "the attacker has this prior",
              "du Pin Calmon and Fawaz 2012"),
        _step("differential privacy", "at most", 2.0 * level, "nats", _KNOWN, "du Pin Calmon and Fawaz 2012"),
        *(step for step in _from_dp(2.0 * level, prior, own) if step.quantity != "mutual information"
          and step.bound == "at most"),
    )


def _shannon(information: float, prior: Prior) -> float:
    """The least distortion D that Shannon's bound allows at information I, from H(X) - n H(row of D/n) = I; 0 where I
    is H(X) or more.
    """
    entropy, m, n = prior.entropy, prior.letters, prior.records
    if information >= entropy:
        return 0.0
    low, high = 0.0, 800.0  # of epsilon: the information grows with it, the distortion falls
    if entropy - n * math.log(m) >= information:
        return h(0.0, m, n)
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if entropy - n * entropy_of_row(middle, m) < information else (low, middle)
    return h(high, m, n)

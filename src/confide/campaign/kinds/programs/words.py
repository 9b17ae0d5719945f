"""Modes and amounts in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.campaign.kinds.programs.coding import Coding
from confide.campaign.kinds.programs.config import ModeName
from confide.contract.wire import wire_name
from confide.programs.dude import Dude
from confide.programs.grids import PRICE_UNIT
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = ["described", "said", "settings", "shared_out", "sure"]

_WHAT: dict[ModeName, str] = {
    "average": "everybody gets the average of her best choices at the prices of all main rounds",
    "round": "everybody gets her best choice in one round that public randomness draws; flags keep each row "
             "within supply",
    "truthful": "everybody gets the average of her best choices, at prices; whoever would rather have something else "
                "at the average prices gets it",
    "tight": "everybody gets her best choice in one round that public randomness draws, at the average prices; a "
             "reserve that is known beforehand keeps each row within supply",
    "audited": "everybody gets her best choice in one round that public randomness draws, at prices of a little less "
               "supply; a noisy audit accepts the run only if each row is within supply",
}


def _range(numbers: NDArray[np.float64]) -> str:
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:,.4g}" if low == high else f"{low:,.4g} to {high:,.4g}"


def described(mode: ModeName, mechanism: Dude) -> str:
    """What is done, in a sentence.

    Args:
        mode: of the file.
        mechanism: that does it.
    """
    return f"{wire_name(mechanism)}: {_WHAT[mode]}"


def settings(mechanism: Dude, coding: Coding) -> list[tuple[str, str]]:
    """Lines of the plan: what, and how much.

    Args:
        mechanism: of the plan.
        coding: its unit.
    """
    rows = [("rounds of prices, and rounds before them", f"{mechanism.rounds:,}; {mechanism.burn_in:,}"),
            ("step of prices", mechanism.descent.rule), ("law of the noise", mechanism.law)]
    if isinstance(mechanism, TightenAndAudit):
        rows += [("share of the squared budget for the audit", f"{mechanism.audit_share:.0%}"),
                 ("noise of the audit, standard deviation", _range(mechanism.audit_noise_std * coding.load_units))]
    if isinstance(mechanism, RoundDude):
        rows += [("share of epsilon for the flags", f"{mechanism.flag_share:.0%}"),
                 ("people between two looks at the flags", f"{mechanism.flags.batch:,}"),
                 ("within supply for sure", "yes, at a part of delta" if mechanism.truncate else
                  f"no, but with probability {1 - mechanism.failure_probability:g}")]
    alpha = getattr(mechanism, "alpha", None)
    if alpha is not None:
        rows.append(("whoever could gain more than this at the charged prices gets her favourite",
                     f"{said(coding, alpha)} {coding.worth}"))
    if isinstance(mechanism, TightDude | TightenAndAudit) and alpha is not None:
        rows.append(("payments", mechanism.payments))
    return rows


def shared_out(mode: ModeName, mechanism: Dude, coding: Coding) -> list[str]:
    """How things are shared, as a participant reads it.

    Args:
        mode: of the file.
        mechanism: of the plan.
        coding: names.
    """
    first = ("Prices follow from noisy sums of what everybody would take. In each round your device "
             f"finds what is worth most to you above its price: your best {coding.thing}, or nothing.")
    after: dict[ModeName, str] = {
        "average": "You get the average of your best choices over all main rounds: each of them for its share of the "
                   "rounds.",
        "truthful": "You get the average of your best choices over all main rounds, and pay its price at the average "
                    "prices. If something else would give you clearly more at these prices, you get that instead.",
        "round": "Public randomness, drawn after all records are in, names one round for you: you get your best choice "
                 "of that round, whole. Places are served in the order of ids; who comes late, when a row is nearly "
                 "full, may go without.",
        "tight": "Public randomness, drawn after all records are in, names one round for you: you get your best choice "
                 "of that round, whole, at the average prices.",
        "audited": "Public randomness, drawn after all records are in, names one round for you: you get your best "
                   "choice of that round, whole. Then the load of all choices is measured, with noise. If it does not "
                   "fit, nobody gets anything, and it is told.",
    }
    instead = list[str]()
    if mode in ("tight", "audited") and getattr(mechanism, "alpha", None) is not None:
        instead.append("If something else would give you clearly more at the average prices than the average of your "
                       "best choices, you get that, whatever round was drawn for you.")
        if getattr(mechanism, "payments", "") == "scaled":
            instead.append("You pay as much of its value to you as your average would cost of its own. If that average "
                           "is not worth its price to you, you get nothing, and owe nothing.")
    return [first, after[mode], *instead]


def said(coding: Coding, value: float) -> str:
    """A value or a price in the file's own unit.

    Args:
        coding: its unit.
        value: in units of the highest value.
    """
    found = value * coding.unit
    return f"{0.0 if abs(found) < 0.5 * coding.unit / PRICE_UNIT else found:.4g}"


def sure(failure_probability: float) -> str:
    """How sure a promise is.

    Args:
        failure_probability: probability of failure.
    """
    return f"with probability {1 - failure_probability:g}"

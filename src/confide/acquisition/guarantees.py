"""Typed guarantees of a campaign that buys a mean, for any reports. The guarantees follow from public parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantees,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.privacy.losses import ZCDP

if TYPE_CHECKING:
    from confide.acquisition.mechanism import TwoPartMechanism

__all__ = ["DOCUMENT", "two_part_guarantees"]

DOCUMENT = "Fallah et al. 2022"
_SPEC = "two_part_acquisition"


def two_part_guarantees(it: TwoPartMechanism) -> Guarantees:
    """The guarantees of a mechanism in reading order: privacy towards three audiences, accuracy, truthfulness,
    participation and budget.
    """
    caps, coin, lies = it.caps, 1.0 / it.minor_units, it.payment_rule.incentive_bound()
    local, central = ZCDP(it.concentrated(caps.local)), ZCDP(it.concentrated(caps.central))
    each = "the largest loss for any reports; each contract states its own, usually far smaller"
    lattice = Source(document=DOCUMENT, statement="Lemma 1", spec=f"{_SPEC} 2",
                     erratum="all noise lies on one integer lattice; with real weights, noise on a lattice would "
                             "disclose every record")
    unit, part = Relation.REPLACE, "one record"
    payments = Source(document=DOCUMENT, statement="Theorem 2", spec=f"{_SPEC} 4 and 8",
                      erratum="people with the highest type gain exactly 0; rents are computed exactly; the grid of an "
                              "approximate solver must not depend on the reports")
    who = ("everybody, for any reports of the other participants, if each device draws its own noise and nobody stays "
           "away because of the offered contracts")
    return Guarantees((
        Privacy(loss=local, neighbours=unit, part=part, audience=Audience.COLLECTOR, source=lattice,
                note=f"{each}. The first reports have no privacy, since contracts follow from them"),
        Privacy(loss=central, neighbours=unit, part=part, audience=Audience.PUBLIC, source=lattice,
                note=f"{each}. The loss depends on the noise of the other participants"),
        Privacy(loss=local, neighbours=unit, part=part, audience=Audience.FELLOWS, source=Source(
            document="confide", statement="a fellow participant subtracts their own noise", spec=f"{_SPEC} 2"),
            note="towards a fellow participant who knows their own noise, and towards all other participants together"),
        Accuracy(bound=it.mse_bound, baseline=it.width**2 / 4, source=Source(
            document="confide", statement="value with a single seller", spec=f"{_SPEC} 2"),
            measure="the mean squared error of the estimate"
            + (", if the campaign buys records" if it.largest_local_loss else ""),
            note="for any reports, if everybody who agreed sends a record, and all records lie in the range with at "
                 "most the stated variance"),
        Truthfulness(gain=math.nan if lies is None else it.price_per_nat * lies + coin,
                     baseline=it.price_per_nat * caps.local, who=who, source=payments, unit_of_gain=it.currency,
                     note="the gain comes from rounding payments up to the smallest coin"
                     + ("" if lies is not None else "; without a grid nothing is known where the virtual cost is flat, "
                        "as it is below psi_floor")),
        Participation(utility=0.0, who=f"{who}, and if the prior allows their concern", source=payments,
                      note="ex post"),
        Budget(expected=it.price_per_nat * caps.payments + it.people * coin, lowest=0.0,
               highest=it.largest_payment + coin, currency=it.currency, source=payments,
               note="on average over any prior; the plan's own expected total is more exact"),
    ))

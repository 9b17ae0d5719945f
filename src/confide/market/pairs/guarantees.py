"""What a pair market promises, as typed guarantees, from public parameters alone."""

from __future__ import annotations

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
from confide.privacy.losses import PureDP

if TYPE_CHECKING:
    from confide.market.pairs.market import PairMarket

__all__ = ["pair_guarantees"]

DOCUMENT = "Wang 2016"


def pair_guarantees(market: PairMarket, failure_probability: float) -> Guarantees:
    """Privacy, truth, participation, accuracy and budget of a pair market, in reading order."""
    quote, attended = market.quote(), market.people * market.presence
    theorem = Source(document=DOCUMENT, statement="Theorem 9", spec="data_market 4")
    who = ("each person who knows her own bit and nothing else that explains why bits go together, such as her group, "
           "while all others play the same strategy and hold the design's prior")
    return Guarantees((
        Privacy(loss=PureDP(market.epsilon), neighbours=Relation.BIT, audience=Audience.COLLECTOR, part="one report",
                source=Source(document=DOCUMENT, statement="Definition 5", spec="data_market 1"),
                note="of the randomiser that runs on her side, never of the payments; towards everybody, since counts, "
                     "payments and the estimate are made from the reports; levels of repeated reports add up"),
        Truthfulness(gain=0.0, baseline=quote.participation, who=who, source=theorem,
                     note=f"over all channels; the best report that ignores the bit earns {quote.margin:.6g} less. Who "
                          "knows her group is not among them. Not the only equilibrium: collusive ones pay too"),
        Participation(utility=quote.participation, who=who, source=theorem,
                      note="in expectation; no payment is negative"),
        Accuracy(bound=market.half_width(failure_probability), baseline=0.5, failure_probability=failure_probability,
                 measure="the distance between the estimate and the share of ones among all people, if all take part,",
                 source=Source(document="confide", statement="Chebyshev's and Hoeffding's inequalities, inverted",
                               spec="data_market 4"),
                 note="over the coins, whatever the bits, when all take part and play it; of fewer participants it is "
                      "their own share that is estimated, and less well"),
        Budget(expected=attended * quote.expected_payment, lowest=0.0, highest=quote.largest_payment, source=theorem,
               note="in this equilibrium"),
    ))

"""What a market for known costs promises, as typed guarantees, from public parameters alone."""

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
    from confide.market.majority import MajorityMarket

__all__ = ["known_cost_guarantees"]

DOCUMENT = "Wang 2016"


def known_cost_guarantees(market: MajorityMarket) -> Guarantees:
    """Privacy, truth, participation, accuracy and budget of a majority market, in reading order."""
    quote, signal_model = market.quote(), market.signal_model
    theorem = Source(document=DOCUMENT, statement="Theorem 4", spec="data_market 2.2",
                     erratum="needs at least two people; the equilibrium is strict with a margin that is stated")
    others = "each person while all others play the same strategy and all hold the design's prior"
    attended = market.people * market.presence
    return Guarantees((
        Privacy(loss=PureDP(market.epsilon), neighbours=Relation.BIT, audience=Audience.COLLECTOR, part="one report",
                source=Source(document=DOCUMENT, statement="Definition 5", spec="data_market 1"),
                note="of the randomiser that runs on her side, never of the payments; towards everybody, since counts, "
                     "payments and decisions are made from the report; levels of repeated reports add up"),
        Truthfulness(gain=0.0, baseline=quote.participation, who=others, source=theorem,
                     note=f"over all channels; the best report that ignores the bit earns {quote.margin:.6g} less. Not "
                          "the only equilibrium: everybody reporting the same is one too, and usually pays more"),
        Participation(utility=quote.participation, who=others, source=theorem, note="in expectation; no payment is "
                      "negative"),
        Accuracy(bound=market.error_probability(), baseline=min(signal_model.prior_one, signal_model.prior_zero),
                 source=Source(
            document="confide", statement="maximum a posteriori rule", spec="data_market 2.5"),
            measure="the probability, before anybody reports, of guessing the state wrongly",
            note="exact, when all play the equilibrium and take part as expected"),
        Budget(expected=attended * quote.expected_payment, lowest=0.0, highest=market.worst_payment()[0],
               source=theorem, note="in this equilibrium; largest payment over all numbers of participants"),
    ))

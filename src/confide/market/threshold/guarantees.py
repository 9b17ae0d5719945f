"""What a market for unknown costs promises, as typed guarantees, from public parameters alone."""

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
from confide.privacy.losses import PureDP

if TYPE_CHECKING:
    from confide.market.threshold.threshold_market import ThresholdMarket

__all__ = ["unknown_cost_guarantees"]

DOCUMENT = "Wang 2016"


def unknown_cost_guarantees(market: ThresholdMarket) -> Guarantees:
    """Privacy, truth, participation, accuracy and budget of a threshold market, in reading order."""
    signal_model = market.signal_model
    theorem = Source(document=DOCUMENT, statement="Theorem 7", spec="data_market 3",
                     erratum="xi(c) does not exist for all c above the threshold; its conclusion stands")
    who = (f"each person whose cost per nat is at most {market.cost_threshold:.6g}, while all others play the "
           "equilibrium and all hold the design's prior")
    lowest, highest = market.liability()
    ours = Source(document="confide", statement="a ceiling on levels, kept by each person's client",
                  spec="data_market 3")
    printed = Source(document=DOCUMENT, statement="(4.1)", spec="data_market 3")
    floor = (f"epsilon = {market.epsilon:g} is a floor of quality, the least level of a participant, and protects "
             "nobody. Taking part shows that her cost is at most the threshold, and her level shows her cost; levels "
             "of repeated reports add up")
    how = "of the randomiser on her side" if math.isfinite(market.largest_level) else (
        "levels are unbounded: the cheaper privacy is to her, the higher is hers")
    return Guarantees((
        Privacy(loss=PureDP(market.largest_level), neighbours=Relation.BIT, audience=Audience.COLLECTOR,
                part="one report",
                source=ours if math.isfinite(market.largest_level) else printed, note=f"{how}; {floor}"),
        Truthfulness(gain=0.0, baseline=market.terms.stake, who=who, source=theorem, note="over all channels, and over "
                     "those up to the ceiling where there is one; nobody dearer gains by taking part. Not the only "
                     "equilibrium: everybody reporting the same is one too"),
        Participation(utility=0.0, who=who, source=theorem, note="in expectation: a participant owes money with "
                      f"probability {market.negative_probability():.4g} a round, at most {-lowest:.6g}"),
        Accuracy(bound=market.error_probability(), baseline=min(signal_model.prior_one, signal_model.prior_zero),
                 source=Source(
            document="confide", statement="exact error of the majority rule", spec="data_market 3"),
            measure="the probability, before anybody reports, of guessing the state wrongly",
            note="in this equilibrium"),
        Budget(expected=market.expected_total, lowest=lowest, highest=highest, source=Source(
            document="confide", statement="N p (Q - T (1 - mu))", spec="data_market 3"),
            note="exact, in this equilibrium; extreme payments over all numbers of participants"),
    ))

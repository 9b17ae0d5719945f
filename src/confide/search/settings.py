"""Parameters that a search and each of its calls have in common: range and help of each stand here, once."""

from __future__ import annotations

from confide.contract.parameters import Parameter

__all__ = [
    "DEGREE_BOUND",
    "LARGEST_THRESHOLD",
    "NOISE_KIND",
    "PEOPLE",
    "PUBLIC_THRESHOLD",
    "STATISTIC",
    "STOP",
    "STOPPING_TARGET",
    "call_epsilon",
]

_MOST_EPSILON = 1e12
"""Beyond it sums of calls and levels come near the end of the doubles; it promises nothing long before."""

PEOPLE = Parameter("people in the network, public", symbol="n", at_least=1)
STOPPING_TARGET = Parameter(
    "people who should come before a search for another component gives up, about; needed where the threshold is "
    "drawn, and of no use otherwise", symbol="K", at_least=0)
DEGREE_BOUND = Parameter(
    "most contacts that anybody can have; public, from outside knowledge and never from this graph; None where neither "
    "the stop nor the statistic needs it", symbol="d", at_least=1)
STOP = Parameter(
    'when a search for another component gives up: "none", never; "public", at a fake target with public_threshold as '
    'its value and noise of its own; "private", at a fake target with a drawn value that about K people exceed; '
    '"smoothed", at one with a drawn value before which about K people are expected')
STATISTIC = Parameter("statistic of proximity by which people are compared")
NOISE_KIND = Parameter(
    'law of the noise on the values; "gumbel" makes a selection an exponential mechanism, a quarter of the cost where '
    "delta is above 0")
PUBLIC_THRESHOLD = Parameter('of stop = "public": the value at which a search gives up, about')
LARGEST_THRESHOLD = Parameter(
    "end of the grid 0, 1, ... from which the threshold is drawn; if left out, the largest value that degree_bound "
    "allows, and b ln n more with a smoothed stop. Privacy does not depend on it. On a grid that is much longer than "
    "the thresholds that fit K, most draws stop a search at once", at_least=0)


def call_epsilon(words: str) -> Parameter:
    """The level of one call.

    Args:
        words: what it is, in the words of the class.
    """
    return Parameter(words, unit="nats", above=0, at_most=_MOST_EPSILON)

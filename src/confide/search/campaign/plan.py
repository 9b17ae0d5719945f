"""A planned search: its mechanism, what it may tell about anybody, and what it can find, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy
from confide.contract.presentation import Section
from confide.contract.replanned import nearest
from confide.search.campaign.config import PLACES, SearchConfig, statistic_of
from confide.search.planning import RANDOM, SearchPlan
from confide.search.search_accounting import compositions
from confide.search.targeted import PTarget

__all__ = ["PlannedSearch", "plan_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedSearch(SearchPlan):
    """What a campaign of the kind `search` would give.

    Args:
        config: the file.
    """

    config: SearchConfig

    @cached_property
    def printed(self) -> float | None:
        """What the source claims of the same noise, which is false; None for other noise than it uses.

        Source: Wu 2017, section 7.5, (k-1)/b for noise of scale b; a selection costs twice that (erratum 2).
        """
        it = self.mechanism
        return it.calls * it.call.sensitivity / it.call.noise_scale if it.noise_kind == "laplace" and it.calls else None

    @cached_property
    def sums(self) -> dict[str, float]:
        """The epsilon of all calls by each rule, at the file's delta; empty without one."""
        it = self.mechanism
        return compositions(it.calls, it.epsilon, it.delta, it.stop, it.noise_kind) if it.delta else {}

    @property
    def charged(self) -> float:
        """What the ledger is charged under its usual rule: the plain sum, or the concentrated one where it is less."""
        return min(self.total, self.sums.get("two-step", math.inf))

    @property
    def accuracy(self) -> Accuracy | None:
        """The promise about the drawn threshold; None where none is drawn."""
        return next(iter(self.guarantees.of(Accuracy)), None)

    def sections(self) -> Sequence[Section]:
        from confide.search.campaign.pages_before import plan_sections

        return plan_sections(self)

    def offer(self) -> Sequence[Section]:
        from confide.search.campaign.pages_before import offer_sections

        return offer_sections(self)

    def to_dict(self) -> dict[str, Any]:
        it, accuracy = self.mechanism, self.accuracy
        return {
            "people": it.people, "components": it.components, "searches": it.calls, "stop": it.stop,
            "statistic": it.statistic.name, "noise": it.noise_kind, "scale": it.call.noise_scale,
            "degree_bound": it.degree_bound, "stopping_target": it.stopping_target,
            "epsilon_each": it.epsilon, "epsilon_in_all": self.total, "delta": it.delta,
            "stated": self.loss.epsilon, "charged": self.charged, "sums": self.sums,
            "multiplier": _grown(self.total), "printed_multiplier": None if self.printed is None else
            _grown(self.printed),
            "threshold": None if accuracy is None else {"bound": accuracy.bound, "vacuous": accuracy.vacuous,
                                                        "failure_probability": accuracy.failure_probability},
            "gives_up_after": self.gives_up,
            "publish_on": None if self.config.release.publish_on is None else
            self.config.release.publish_on.isoformat(),
            "worth": [{"value": value, "before": before, "at_random": self.people / 2,
                       "gives_up_before": self.missed(value)}
                      for value, before in self.worth],
        }


def _grown(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


@lru_cache(maxsize=16)  # the pages of a campaign plan it again and again
def plan_of(config: SearchConfig) -> PlannedSearch:
    """Plan from a file's public parameters.

    Raises:
        InvalidInput: what the file asks for makes no sense; names the key.
        Refused: noise drowns every statistic that a person can have: to ask at random is as good, and costs nothing.
    """
    search, privacy = config.search, config.privacy
    try:
        mechanism = PTarget(
            config.graph.people, search.components, search.stopping_target, privacy.epsilon, privacy.degree_bound,
            search.stop, statistic=statistic_of(search), noise_kind=search.noise, delta=privacy.delta,
            public_threshold=search.public_threshold, largest_threshold=search.largest_threshold)
        _ = mechanism.guarantees()
    except InvalidInput as error:
        raise InvalidInput(PLACES.get(error.field, error.field), error.problem, error.limit) from None
    plan = PlannedSearch(config=config, mechanism=mechanism)
    value, before = plan.worth[-1]
    if before >= RANDOM * plan.people:
        raise Refused(
            f"privacy.epsilon: at {privacy.epsilon:g} the noise has scale {mechanism.call.noise_scale:,.4g}, and even "
            f"a hidden member with the largest value there can be ({value:,}) would come after "
            f"{before / plan.people:.0%} of everybody: to examine people in a random order is as good, and tells "
            "nothing about anybody's contacts",
            nearest(config, plan_of, "privacy.epsilon", privacy.epsilon)
            or "spend more on each search, or look for fewer components at the same total")
    return plan

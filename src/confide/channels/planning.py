"""Choice of the randomisation for a release, from the prior and one requirement: a privacy level epsilon, or an error
(an expected number of changed rows).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confide.channels.distortion import PrivacyDistortion, least_distortion, privacy_distortion
from confide.channels.mechanisms.base import ChannelMechanism, PriorProvenance
from confide.channels.mechanisms.randomized_response import RandomizedResponse
from confide.channels.notions import Infeasible, Notion, as_notion
from confide.channels.priors import Prior, as_prior
from confide.charts import curves
from confide.contract.checks import exactly_one, non_negative
from confide.contract.errors import InvalidInput, Refused, Unsupported
from confide.contract.kinds import Progress
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.wire import wire_name

__all__ = ["ChannelPlan", "plan"]

_LEVELS = {"dp": "differential privacy", "identifiability": "identifiability",
           "mutual-information": "mutual information"}
_CHANGED = "changed rows"
_BASIS = {"closed form": "exact", "program": "exact", "slope": "exact", "bounds": "bound"}
_POINTS = 24  # of a curve


@dataclass(frozen=True, kw_only=True, eq=False)
class ChannelPlan(Plan[ChannelMechanism]):
    """The best known mechanism for a prior, at a given epsilon or a given error.

    Args:
        mechanism: mechanism in whole numbers, from which releases are drawn.
        notion: the notion of privacy: "dp", "identifiability" or "mutual-information".
        prior: the distribution of the rows for which the mechanism was found.
        level: the mechanism's level in this notion, in nats.
        changed: the expected number of rows that the mechanism changes.
        found: answer of the formula or the solver, with certified lower and upper bounds.
        baseline: randomised response, which needs no prior, at the same level or with as many changed rows; None if
            there is no such randomised response.
    """

    mechanism: ChannelMechanism
    notion: Notion
    prior: Prior
    level: float
    changed: float
    found: PrivacyDistortion
    baseline: RandomizedResponse | None

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        basis = _BASIS[self.found.method]
        return {_CHANGED: Predicted(self.changed, f"of {self.prior.records:,} rows", basis),
                _LEVELS[self.notion]: Predicted(self.level, "nats", basis)}

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        it = self.baseline
        if it is None or isinstance(self.mechanism, RandomizedResponse):
            return ()
        level = it.epsilon if self.notion == "dp" else getattr(it.levels(self.prior), self.notion.replace("-", "_"))
        return (Alternative(name=wire_name(it), mechanism=it, predicted={
            _CHANGED: Predicted(it.distortion, f"of {it.records:,} rows"),
            _LEVELS[self.notion]: Predicted(float(level), "nats")}),)

    @property
    def warnings(self) -> tuple[str, ...]:
        said = [self.found.note] if self.found.note else []
        if getattr(self.mechanism, "prior_provenance", "public") is None:
            said.append("a release with secure noise needs prior_provenance: 'public' or 'released privately'")
        return tuple(said)

    def _own_figures(self) -> Mapping[str, Any]:
        return {"notion": self.notion, "level": self.level,
                "changed_records": self.changed, "records": self.prior.records, "letters": self.prior.letters,
                "found": self.found.to_dict()}

    def plot(self) -> Picture:
        """Picture of the least known level at each error, with a mark for the plan."""
        rows = [(float(error), found.upper, "best known") for error, found in self._curve()]
        (picture,) = curves(
            rows, title="Privacy against error", x="expected number of changed rows",
            y=f"{_LEVELS[self.notion]} (nats)", alt="The least known level falls with the number of rows that may be "
                                                    "changed; the plan is marked.",
                            marks=[(self.changed, self.level, "this plan")])
        return picture

    def _curve(self) -> list[tuple[float, PrivacyDistortion]]:
        most = float(self.prior.records) * (1.0 - 1.0 / self.prior.letters)
        errors = sorted({*np.linspace(most / _POINTS, most, _POINTS).tolist(), self.changed} - {0.0})
        return [(error, privacy_distortion(self.notion, self.prior, error, solve=False)) for error in errors]


@names_missing("epsilon | error")
def plan(
    prior: Prior | ArrayLike, *, epsilon: float | None = None, error: float | None = None, notion: Notion = "dp",
    letters: int | None = None, records: int | None = None, prior_provenance: PriorProvenance | None = None,
    progress: Progress | None = None,
) -> ChannelPlan:
    """The mechanism that changes the fewest rows at an epsilon, or that has the least privacy level at an error.

    Args:
        prior: public prior: a prior object, a list of distributions of single rows, the distribution of one row
            together with `records`, or a vector of the probabilities of all m^n databases.
        epsilon: the level in nats, >= 0, of differential privacy or of identifiability under the prior. Exactly one of
            `epsilon` and `error` is given. Mutual information is an average and bounds no single release, so a plan for
            mutual information needs `error`.
        error: the expected number of rows that may be changed, in [0, n].
        notion: "dp", "identifiability" or "mutual-information".
        letters: number of letters m, if `prior` is a vector of the probabilities of all databases.
        records: number of rows n, if `prior` is the distribution of one row.
        prior_provenance: source of the prior, "public" or "released privately"; needed for a release with secure noise.
        progress: function that is called with two numbers, the finished and the whole work of the solver.

    Raises:
        InvalidInput: neither or both of epsilon and error are given, or the given value is out of range.
        Infeasible: an identifiability below the prior's own level.
        Refused: a table of probabilities of this size would be too large.

    Source: Wang 2016, Theorems 1 and 2; spec privacy_notions 5 to 7.

    Example:
        >>> found = plan([0.2, 0.3, 0.5], records=2, epsilon=1.0)
        >>> type(found.mechanism).__name__, round(found.changed, 4), found.predicted["changed rows"].basis
        ('TopK', 0.8303, 'exact')
        >>> round(plan([0.2, 0.3, 0.5], records=2, error=0.8303062741919921).level, 6)
        1.0
    """
    kind = as_notion(notion)
    law = as_prior(prior, letters, records)
    exactly_one(epsilon=epsilon, error=error)
    if error is not None:
        changed = non_negative("error", error, at_most=float(law.records))
        found = privacy_distortion(kind, law, changed, prior_provenance=prior_provenance, progress=progress)
        level = found.upper
    elif kind == "mutual-information":
        raise InvalidInput("epsilon", "does not apply to mutual information, which is an average", "give error")
    else:
        level = non_negative("epsilon", epsilon)
        found = least_distortion(kind, law, level, prior_provenance=prior_provenance, progress=progress)
        changed = found.upper
    it = found.mechanism
    if it is None:
        raise Refused(f"a table of probabilities for {law.letters}^{law.records} databases does not fit into memory",
                      "use RandomizedResponse, which draws rows one by one, or independent rows")
    return ChannelPlan(mechanism=it, notion=kind, prior=law, level=level, changed=changed, found=found,
                       baseline=_baseline(kind, law, level, changed, by_level=error is None))


def _baseline(kind: Notion, law: Prior, level: float, changed: float, *, by_level: bool) -> RandomizedResponse | None:
    """Randomised response at the same differential privacy, or with as many changed rows; None where no randomised
    response fits.
    """
    try:
        if by_level and kind == "dp":
            return RandomizedResponse(epsilon=level, letters=law.letters, records=law.records, prior=law)
        kept = 1.0 - changed / law.records
        if not kept < 1.0 or kept * law.letters < 1.0 or not math.isfinite(level):
            return None
        return RandomizedResponse.telling_the_truth(kept, letters=law.letters, records=law.records)
    except (InvalidInput, Unsupported, Infeasible):
        return None

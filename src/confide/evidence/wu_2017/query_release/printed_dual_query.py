"""Algorithm 3 as printed: DualQuery with the signs of both players reversed, and with the source's claim of privacy.

Source: Wu 2017, Algorithm 3 and section 3.6; spec query_release D1, errata 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from confide.contract.guarantees import Audience, Guarantee, Guarantees, Privacy, Relation, Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.losses import ApproxDP
from confide.release.dual_query import DualQuery
from confide.release.free_attributes import FREE_BEFORE

__all__ = ["PrintedDualQuery"]

_SETTING = (494_021, 1.2, 170, 1750)  # records, eta, T and s of which the text says (1, 0.001)
_FALSE = ("the text calls eta = 1.2, T = 170 and s = 1750 on 494,021 records (1, 0.001)-private by this theorem, which "
          "gives 1.859; round by round it is 1.029, or 0.996 with the sharper drift")


@renamed()
@wire("PrintedDualQuery", "n eta rounds samples workload schema one_hot free marginal_rho oracle seed delta calculator "
      "beta literal", records="n", failure_probability="beta", words={"free": FREE_BEFORE})
@dataclass(frozen=True, kw_only=True)
class PrintedDualQuery(DualQuery):
    """DualQuery with the signs that Algorithm 3 prints. The published records have the same law as those of
    `DualQuery`.

    Where the query player maximises in the source's analysis, the query player minimises here. The data player is
    reversed in the same way. The guarantees name the mistake in the source's claim of privacy.

    Example:
        >>> it = PrintedDualQuery(records=494_021, eta=1.2, rounds=170, samples=1750, delta=1e-3,
        ...                       calculator="theorem-3.4.2")
        >>> false, = it.guarantees().of(Privacy, claimable=False)
        >>> false.loss, round(it.epsilon(), 3)
        (ApproxDP(epsilon=1.0, delta=0.001), 1.859)
    """

    literal: Annotated[bool, Parameter("as files say it: True, and nothing else")] = True

    mirrored: ClassVar[bool] = True

    def guarantees(self) -> Guarantees:
        """The valid guarantees, with the source's formula for epsilon. At the settings of Figure 2, the privacy claim
        in the source's text is added as a claim that does not hold.
        """
        found: list[Guarantee] = []
        for each in super().guarantees():
            stated = isinstance(each, Privacy) and isinstance(each.loss, ApproxDP)
            found.append(replace(each, note=_FALSE, source=replace(
                each.source, erratum="a reported epsilon names its calculator")) if stated else each)
            if stated and (self.records, self.eta, self.rounds, self.samples) == _SETTING:
                found.append(Privacy(
                    loss=ApproxDP(1.0, 1e-3), neighbours=Relation.REPLACE, audience=Audience.PUBLIC, claimable=False,
                    source=Source(document="Wu 2017", statement="section 3.6, more queries",
                                  spec="query_release erratum 2",
                                  erratum="Theorem 3.4.2 gives 1.859 for this setting"), note=_FALSE))
        return Guarantees(tuple(found))

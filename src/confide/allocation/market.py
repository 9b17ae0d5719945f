"""What all matchings share: who bids for what, how private it is, and what may be claimed of the welfare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import WelfareCertificate
from confide.allocation.duality import CertificatePlan
from confide.allocation.valuations import Valuations
from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Source, Unit
from confide.contract.mechanism import Mechanism, Phase
from confide.contract.outcome import Billboard as AnyBillboard
from confide.privacy.accounting import written
from confide.privacy.losses import PureDP

__all__ = ["Market", "Neighbours"]

Neighbours = Literal["substitution", "add_remove"]

_UNITS: Mapping[Neighbours, Unit] = {
    "substitution": Unit.RECORD_REPLACED, "add_remove": Unit.RECORD_ADDED_OR_REMOVED}


@dataclass(frozen=True, kw_only=True)
class Market(Mechanism):
    """Base of mechanisms that hand out k goods in several copies, one to each bidder at most.

    Args:
        people: n, public slots; one that stays empty counts as a row of zeros.
        goods: k.
        supply: s_j >= 1, copies of each good: one number for all, or k.
        epsilon: of the whole outcome, towards everybody else together, > 0.
        certify_with: the share of epsilon for the public certificate of welfare; 0 for none.
        gamma: in (0, 1), the probability that some good is given to more than s_j.
        neighbours: "substitution": a bidder's row is replaced by any other; "add_remove": by a row of zeros.
    """

    people: int
    goods: int
    supply: int | tuple[int, ...]
    epsilon: float
    certify_with: float = 0.02
    gamma: float = 0.01
    neighbours: Neighbours = "substitution"

    phases = (Phase(name="bids", asks="one row of valuations, sealed"),)

    def __post_init__(self) -> None:
        whole("people", self.people, at_least=1)
        whole("goods", self.goods, at_least=1)
        copies = (self.supply,) * self.goods if isinstance(self.supply, int | np.integer) else tuple(self.supply)
        if len(copies) != self.goods:
            raise InvalidInput("supply", f"{len(copies)} numbers", f"must be one, or {self.goods}")
        object.__setattr__(self, "supply", tuple(whole("supply", copy, at_least=1) for copy in copies))
        positive("epsilon", self.epsilon)
        fraction("gamma", self.gamma)
        fraction("certify_with", self.certify_with, zero=True)
        one_of("neighbours", self.neighbours, tuple(_UNITS))

    @property
    def copies(self) -> tuple[int, ...]:
        """(k,) s_j."""
        return tuple(self.supply)  # type: ignore[arg-type]

    @property
    def unit(self) -> Unit:
        """What one neighbour step changes."""
        return _UNITS[self.neighbours]

    @property
    def distance(self) -> int:
        """How far one neighbour step moves a count of goods of which each bidder has one at most, in l1."""
        return 2 if self.neighbours == "substitution" else 1

    def part(self, share: float) -> Fraction:
        """A share of epsilon, as both are written."""
        return written(share) * written(self.epsilon)

    @cached_property
    def certificate_plan(self) -> CertificatePlan | None:
        """How the certificate is measured; None without one."""
        if not self.certify_with:
            return None
        return CertificatePlan(supply=self.copies, epsilon=float(self.part(self.certify_with)), gamma=self.gamma)

    def guarantees(self) -> Guarantees:
        source = Source(document="confide", statement="billboard lemma", spec="allocation 1, 3.2")
        return Guarantees((
            Privacy(loss=PureDP(self.epsilon), unit=self.unit, audience=Audience.OTHERS, source=source,
                    note="whoever sees her own good, such as its provider, learns it"),
            Accuracy(bound=0.0, measure="copies of any good given beyond its supply", source=source,
                     failure_probability=self.gamma, trivial=float(self.people)),
        ))

    def certify(self, billboard: AnyBillboard) -> WelfareCertificate | None:
        board: Any = self._own(billboard)
        plan = self.certificate_plan
        if plan is None or board.surplus is None or board.welfare is None:
            return None
        return plan.certificate(board.prices, board.surplus, board.welfare)

    def diagnose(self, values: Valuations, held: NDArray[Any]) -> dict[str, float]:
        """What an operator may see of a study: welfare, and copies beyond the supply."""
        given = np.bincount(held[held >= 0], minlength=self.goods)
        return {"welfare": values.welfare(held),
                "over_allocated": float(np.maximum(0, given - np.array(self.copies)).sum())}

    def _own(self, billboard: AnyBillboard) -> Any:
        """The billboard, if it is of this mechanism.

        Raises:
            InvalidInput: it is another one's.
        """
        raise NotImplementedError

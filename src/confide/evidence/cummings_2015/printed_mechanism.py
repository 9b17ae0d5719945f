"""Algorithm 2 as printed: plain ridge regression with one ridge weight and one epsilon. The noise is mostly too small
for the claimed privacy loss.

Source: Cummings et al. 2015, Algorithm 2 and Theorem 2; spec truthful_regression sections 4.2, 4.3, 7.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Guarantees, Privacy, Relation
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.evidence.cummings_2015.printed_numbers import printed_claims
from confide.evidence.cummings_2015.printed_ridge import (
    PRINTED_PRIVACY,
    WITH_CLAIM,
    WITHOUT_CLAIM,
    PrintedRidge,
    plain_bounds,
    printed_claim,
    printed_scale,
    proved_epsilon,
    unconstrained_ridge,
)
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.regression.bounds import RidgeBounds
from confide.regression.private_truthful_regression import PAYMENT_GROUPS, PAYMENT_LINE, PrivateTruthfulRegression
from confide.regression.records import Moments, RecordMap
from confide.regression.release.output_perturbation import RidgeRelease
from confide.regression.sensitivity import ridge_norm_sup

__all__ = ["PrintedTruthfulRegression"]


@wire("PrintedTruthfulRegression", "setting payment release behaviour mode")
@dataclass(frozen=True, kw_only=True)
class PrintedTruthfulRegression(PrivateTruthfulRegression):
    """Algorithm 2 as printed: plain ridge with noise of scale (4B + 2M)/(gamma epsilon), for comparison only.

    One ridge weight and one epsilon serve both the release and the payments. The scoring rule is the source's, every
    answer is clipped to the same bound R0 + M, and the full estimate is released. The mechanism claims privacy only at
    sizes where the printed constant suffices. At all other sizes the mechanism runs only with simulated noise, and
    nobody can be paid by it.

    Raises:
        InvalidInput: the release or the payment scheme is one that the source does not have.

    Example:
        >>> from confide.evidence.cummings_2015 import corollary_1
        >>> mechanism = corollary_1(10**6, 10, 1.0, 1.0, 4.0, 0.39).mechanism()
        >>> mechanism.claims_privacy, round(mechanism.borne_epsilon / (2 * mechanism.payment.epsilon), 2)
        (False, 1.07)
    """

    mode: Annotated[Literal["paper"], Parameter("as files say it: there is no other")] = "paper"  # type: ignore[assignment]

    held_in_ball: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        release, payment = self.release, self.payment
        if not isinstance(release, RidgeRelease):
            raise InvalidInput("release", f"{type(release).__name__} is not in the source", "give RidgeRelease")
        if (release.epsilon, release.ridge) != (payment.epsilon, payment.ridge):
            raise InvalidInput("release", "has another ridge weight or epsilon than the payments",
                               "the printed mechanism has one ridge weight and one epsilon for both")
        for name, changed in (("rule", payment.rule.centred), ("clip", payment.clip is not None),
                              ("debias", payment.debias)):
            if changed:
                raise InvalidInput(name, "differs from the source",
                                   "the printed mechanism has the source's scoring rule, no clip and no debiasing")
        object.__setattr__(self, "release", PrintedRidge(epsilon=release.epsilon, ridge=release.ridge))

    @property
    def record_map(self) -> RecordMap:
        """The map from records to the rows of the regression. All answers are clipped to one common bound, because
        without a bound the sensitivity would be infinite.
        """
        usual = self.setting.record_map
        return replace(usual, noise_bound=usual.response_bound)

    # ---- promises

    @property
    def payment_claim(self) -> PureDP:
        """The privacy loss in nats of the estimates behind the payments; infinity where the printed noise does not
        suffice for the claimed epsilon.
        """
        return printed_claim(self.setting, max(self.setting.groups), self.payment.ridge, self.payment.epsilon)

    @property
    def claims_privacy(self) -> bool:
        """Whether the mechanism claims any privacy. The mechanism claims privacy only where its proven privacy loss is
        at most 2 epsilon.
        """
        return self.borne_epsilon <= 2 * self.payment.epsilon

    @property
    def borne_epsilon(self) -> float:
        """The proven privacy loss of the printed noise in nats, which may exceed the claimed loss."""
        rows = (max(self.setting.groups), self.setting.people)
        return sum(proved_epsilon(self.setting, m, self.payment.ridge, self.payment.epsilon) for m in rows)

    @property
    def loss(self) -> PureDP:
        """The privacy loss 2 epsilon at sizes where it is proved. At other sizes the loss is infinite, which promises
        nothing.
        """
        return PureDP(2 * self.payment.epsilon if self.claims_privacy else math.inf)

    @property
    def stated_loss(self) -> PureDP:
        """The privacy loss that the source claims, whether or not it holds."""
        return PureDP(2 * self.payment.epsilon)

    def events(self) -> tuple[Event, ...]:
        """The privacy events: the estimates behind the payments, one for each disjoint group of participants, and the
        release.

        Raises:
            NotGuaranteed: the printed claim fails at these sizes, so that no loss can be charged.
        """
        if not self.claims_privacy:
            raise NotGuaranteed("the printed privacy loss", WITHOUT_CLAIM,
                                "run it with simulated noise, for a study, or take PrivateTruthfulRegression")
        return tuple(PureEvent(epsilon=self.payment.epsilon, neighbours=Relation.REPLACE, label=label)
                     for label in (PAYMENT_LINE, "release"))

    def privacy_guarantees(self) -> tuple[Privacy, ...]:
        """The proven privacy guarantees of the printed noise. Where no guarantee is proved, the note of the guarantee
        names the mistake in the source.
        """
        others, public, paid, own = super().privacy_guarantees()
        alone = printed_claim(self.setting, self.setting.people, self.payment.ridge, self.payment.epsilon)
        losses = ((others, self.loss), (public, self.loss), (paid, self.payment_claim), (own, alone))
        return tuple(replace(each, loss=loss, source=PRINTED_PRIVACY,
                             note=WITHOUT_CLAIM if loss.vacuous else WITH_CLAIM) for each, loss in losses)

    def guarantees(self) -> Guarantees:
        """The valid guarantees, computed from public parameters alone, followed by the printed promises."""
        return Guarantees((*super().guarantees().items, *printed_claims(self)))

    # ---- its parts

    @property
    def noise_scale(self) -> float:
        """The noise scale (4B + 2M)/(gamma epsilon) of the source."""
        return printed_scale(self.setting, self.payment.ridge, self.payment.epsilon)

    @property
    def longest_peers(self) -> float:
        """Largest possible length of a plain ridge estimate behind the payments, before noise."""
        return ridge_norm_sup(max(self.setting.groups), self.payment.ridge, self.setting.response)

    def peer_bounds(self, people: int) -> RidgeBounds:
        """Error bounds of a plain ridge estimate behind the payments, computed from a group of `people` records."""
        return plain_bounds(self.setting, people, self.payment.ridge, self.behaviour.misreports)

    def peer_estimate(self, sums: Moments, noise: Noise, group: int) -> np.ndarray:
        """One plain ridge estimate behind the payments, with the printed noise, shape (d,)."""
        return unconstrained_ridge(self.setting, sums, self.payment.ridge, self.payment.epsilon, noise,
                                   ("payment", group), line=PAYMENT_LINE, group=PAYMENT_GROUPS[group])

    def coefficients(self, estimate: np.ndarray) -> np.ndarray:
        """The released coefficients, which equal the given estimate."""
        return estimate

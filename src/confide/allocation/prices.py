"""Prices that clear a market, released under ordinary differential privacy. Only the billboard, the public record of a
run, is released, and no bidder gets a good.

Joint privacy protects a bidder against all others together, who do not see the bidder's good. A release that shows
nobody's good is therefore private towards everyone, with the same epsilon. With one copy of each good no mechanism can
privately release prices that clear the market (`confide.evidence.wu_2017.private_matchings.lower_bounds`). So the
release needs the same supply as the market.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pyarrow as pa

from confide.allocation.billboards import WelfareCertificate
from confide.allocation.market import Market
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Privacy, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress, Spend
from confide.contract.outcome import B_co, Billboard, RunOutcome, SimulatedOutcome
from confide.contract.parameters import Parameter
from confide.contract.wire import wire

__all__ = ["PriceRelease", "release_prices"]


@wire("PriceRelease", "auction")
@dataclass(frozen=True, kw_only=True)
class PriceRelease(Mechanism[B_co, WelfareCertificate | None]):
    """The release of a market's prices, and of the noisy sums from which the prices follow. No bidder gets a good.

    No participant has a share, so the outcome's table of shares is empty. The prices are an array, not a frame, on the
    billboard, the public record of the run.

    Raises:
        InvalidInput: a mechanism that is no market.

    Source: Wu 2017, section 4.5; spec allocation 6.
    """

    auction: Annotated[Market[B_co], Parameter("the matching with the released billboard")]

    phases = (Phase(name="bids", asks="one row of valuations, sealed"),)
    share_depends_on = "nobody has a share"

    def __post_init__(self) -> None:
        given: Any = self.auction
        if not isinstance(given, Market):
            what = "None" if given is None else type(given).__name__
            raise InvalidInput("auction", f"{what} is not a matching",
                               "give a matching with its public parameters, such as SinkhornMatch.for_budget(...)")

        super().__post_init__()

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, goods: int, supply: int | tuple[int, ...],
        **options: Any,
    ) -> PriceRelease[ScalingBillboard]:
        """The release of prices of a `SinkhornMatch` with settings that gave high welfare in measurements at similar
        sizes.

        Args:
            epsilon: privacy loss towards everybody, in nats, > 0.
            delta: delta in [0, 1).
            people: number n >= 1 of public positions for bidders.
            goods: number k >= 1 of goods.
            supply: number of copies s_j >= 1 of each good: one number for all, or k numbers.
            options: further parameters of the market; they take precedence over the recommended settings.

        Raises:
            InvalidInput: a number out of range.

        Example:
            >>> PriceRelease.for_budget(epsilon=2.0, people=20_000, goods=4, supply=4_000).guarantees().privacy[0].loss
            PureDP(epsilon=2.0)
        """
        return PriceRelease(auction=SinkhornMatch.for_budget(epsilon=epsilon, delta=delta, people=people, goods=goods,
                                                             supply=supply, **options))

    def guarantees(self) -> Guarantees:
        return Guarantees((
            Privacy(loss=self.auction.loss, neighbours=self.auction.relation, audience=Audience.PUBLIC,
                    source=Source(document="Wu 2017", statement="section 4.5, price release", spec="allocation 6")),))

    def events(self) -> Sequence[Spend]:
        return self.auction.events()

    def lines(self) -> Sequence[Any]:
        return self.auction.lines()

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None,
    ) -> RunOutcome[B_co, WelfareCertificate | None]:
        found = self.auction.run(data, noise, progress=progress)
        diagnostics = found.diagnostics if isinstance(found, SimulatedOutcome) else None
        return self._outcome(noise, billboard=found.billboard, shares=pa.table({}), certificate=found.certificate,
                             diagnostics=diagnostics)

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        return {}

    def certify(self, billboard: Billboard) -> WelfareCertificate | None:
        return self.auction.certify(billboard)

    def check(self, billboard: Billboard) -> None:
        self.auction.check(billboard)


def release_prices(
    auction: Market[B_co], values: Any, noise: NoiseSource
) -> RunOutcome[B_co, WelfareCertificate | None]:
    """Run a market only for its public prices, which are in `outcome.billboard.prices`.

    Args:
        auction: market with its public parameters.
        values: valuations of all bidders, shape (n, k).
        noise: source of the noise; `Noise.secure()` for a release.

    Raises:
        InvalidInput: a mechanism that is no market, or invalid valuations.

    Example:
        >>> from confide.allocation import PMatch, instance_a
        >>> from confide.privacy.noise import Noise
        >>> auction = PMatch.for_budget(epsilon=4.0, people=20_000, goods=4, supply=4_000)
        >>> outcome = release_prices(auction, instance_a(20_000, 4, seed=1), Noise.simulated(1))
        >>> len(outcome.billboard.prices), outcome.shares.num_columns
        (4, 0)
    """
    return PriceRelease(auction=auction).run(values, noise)

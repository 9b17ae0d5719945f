"""`SinkhornMatch`: prices from a few noisy releases of smooth demand, then a public lottery for goods that too many
bidders ask for.

The mechanism is confide's own. An ascending auction counts every bid, so its noise is the noise of a sum of many
counts. `SinkhornMatch` instead releases one noisy sum of soft demands at public prices in each of R rounds. After each
release every price moves by the temperature times the logarithm of the ratio of demand to supply, as in Sinkhorn's
scaling. The temperature falls from round to round. At the end each bidder asks for their best good at the last prices.
One more noisy count decides which share of the bidders who ask for a good can have the good. Public randomness decides
which of these bidders get the good.

Source: ours. Scaling of smooth assignment problems: Sinkhorn 1967; private price adjustment: Hsu, Huang, Roth,
Roughgarden and Wu 2014.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.billboards import require_integers, require_sums
from confide.allocation.favourites import PublicBiases, best_goods
from confide.allocation.guarantees import mean_shift
from confide.allocation.market import NEIGHBOURS_WRITTEN, OneGood
from confide.allocation.soft_demand import WHOLE, falling, moved_prices, prices_of, rates, soft_demand, weights
from confide.allocation.valuations import Valuations, as_row
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Guarantees, Participation, Privacy, Source, Truthfulness
from confide.contract.mechanism import Progress
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import as_billboard
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.accounting import float_up, written
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.privacy.primitives.additive import add_discrete_laplace
from confide.privacy.public_randomness import (
    PUBLIC_RANGE,
    draw_public_seed,
    is_public_seed,
    public_number_of,
    public_numbers,
)

__all__ = ["ScalingBillboard", "SinkhornMatch"]

_DEMANDS, _CLEARING = "soft demands", "clearing"  # lines of the charge
_COLDEST = 2.0**-20


@renamed(seed="public_seed")
@wire("ScalingBillboard", "people goods demands paths asked rates seed cutoffs surplus welfare", public_seed="seed")
@dataclass(frozen=True, kw_only=True, eq=False)
class ScalingBillboard(AnyBillboard):
    """The public record of a run of `SinkhornMatch`.

    Args:
        people: number n of public positions for bidders.
        goods: number k of goods.
        demands: noisy sum of all bidders' soft demands for each good in each of R rounds, in units of 2^-16 bidders,
            shape (R, k). A market with enough copies of every good has no rounds.
        paths: prices before each round and after the last round, in units of 2^-20 of value, shape (R + 1, k).
        asked: noisy number of bidders who ask for each good at the last prices, shape (k,).
        rates: threshold of each good, shape (k,). A bidder gets the good that they ask for if their public random
            number, in 0..2^32 - 1, is below the threshold.
        public_seed: seed of the public random numbers, 64 hexadecimal digits; empty in a market with enough copies of
            every good.
        cutoffs: for each good, the position in the public order of bidders from which on holders do not get the good,
            shape (k,); None if the mechanism never takes goods from holders.
        surplus: noisy sum of all bidders' best gains (value less price) at the final prices, in units of value; None
            without a certificate.
        welfare: noisy sum of the values of all assigned goods to their holders, in units of value; None without a
            certificate.
    """

    people: int
    goods: int
    demands: NDArray[np.int64]
    paths: NDArray[np.int64]
    asked: NDArray[np.int64]
    rates: NDArray[np.int64]
    public_seed: str
    cutoffs: NDArray[np.int64] | None = None
    surplus: float | None = None
    welfare: float | None = None

    @cached_property
    def prices(self) -> NDArray[np.float64]:
        """Final prices, shape (k,)."""
        return prices_of(self.paths[-1])


@renamed(hottest="start_temperature", coolest="end_temperature")
@wire("SinkhornMatch", "people goods supply epsilon delta certify_with gamma on_overflow neighbours rounds hottest "
      "coolest step growth clear spread charge", start_temperature="hottest", end_temperature="coolest",
      failure_probability="gamma",
      words={"neighbours": NEIGHBOURS_WRITTEN})
@dataclass(frozen=True, kw_only=True)
class SinkhornMatch(OneGood[ScalingBillboard]):
    """A market that gives each bidder at most one good, out of goods with several copies each, by scaled prices and a
    public lottery.

    Privacy. Along any one history of releases, the exact sums behind each release are a function of the data. A
    bidder's soft demand at public prices is a vector of whole units >= 0 that sum to at most one bidder
    (`soft_demand`). So replacing a row by another row changes the exact sums of a release by at most two bidders in l1.
    Replacing a row by zeros changes them by at most one bidder. The same sensitivity holds for the count of bidders who
    ask for each good at the last prices. Release r, with discrete Laplace noise of scale sensitivity/epsilon_r, costs
    epsilon_r. By adaptive composition, the costs of all releases add up. Everything else on the billboard follows from
    these releases and from public randomness that is independent of all rows. Each bidder's good follows from the
    billboard and their own row (billboard lemma).

    Decoding gives the same good as the run, on every machine. The published prices are multiples of 2^-20. A bidder
    subtracts the prices from their row and adds their biases, which are multiples of spread 2^-20, with one operation
    each. Exponentials differ between machines in the last bit. Exponentials are used only for the soft demand, by the
    operator of the run, before noise is added. A verifier computes the same prices and rates (`check`).

    The public randomness is drawn after all bids are in. A bidder who knew their random numbers earlier could bid for
    another good, or give their position to another person. An operator who draws seeds until one suits favours some
    bidders over others who ask for the same good. The operator's choice of a seed does not affect the privacy of any
    row. The billboard does not prove, however, that the operator kept the first seed that was drawn. Two remedies
    exist. Before bids close, the operator can commit to random numbers that are later combined with those of a public
    beacon. Or another party can draw the seed.

    Ties. `spread` is the largest amount that public biases add to the value of a good. If values are ranks, stars or
    similar, a good spread is the step between neighbouring values. On fine values the default of .02 costs about .001
    of the optimum. Without any spread, coarse values cost .1 to .7 of the optimum.

    Raises:
        InvalidInput: a number out of range.
        Refused: truncation that costs more than delta.

    Example:
        >>> from confide.allocation import instance_a
        >>> market = SinkhornMatch.for_budget(people=2000, goods=4, supply=400, epsilon=4.0)
        >>> outcome = market.run(instance_a(2000, 4, seed=1), Noise.simulated(1))
        >>> outcome.shares["good"].to_pylist()[:5]
        [1, 2, 3, 1, -1]
    """

    rounds: Annotated[int, Parameter("number of releases of soft demand", symbol="R", at_least=1, at_most=1000)] = 10
    start_temperature: Annotated[float, Parameter("temperature of the first round", at_least=_COLDEST,
                                                  at_most=1000)] = 0.2
    end_temperature: Annotated[float, Parameter("temperature of the last round, not above the first", at_least=_COLDEST,
                                                at_most=1000)] = 0.02
    step: Annotated[float, Parameter("change of a price for each factor e of demand over supply",
                                     unit="temperatures", above=0, at_most=100)] = 1.2
    growth: Annotated[float, Parameter("ratio of the budget of a round to the budget of the round before",
                                       at_least=0.01,
                                       at_most=100)] = 1.2
    clear: Annotated[float, Parameter("share of epsilon for the final count", above=0, below=1)] = 0.4
    spread: Annotated[float, Parameter("largest public random amount that is added to the value of a good, to break "
                                       "ties",
                                       at_least=0, at_most=1)] = 0.02
    charge: Annotated[bool, Parameter("true if the final price is charged; nobody then asks for a good with a value "
                                      "below its price")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_temperature < self.end_temperature:
            raise InvalidInput("end_temperature", f"{self.end_temperature!r} is too large",
                               f"must be at most start_temperature, {self.start_temperature!r}")
        if self.clear + self.certify_with >= 1:
            raise InvalidInput("clear", f"{self.clear!r} leaves no epsilon for the prices",
                               "clear + certify_with must be below 1")
        least = min(*self.budgets, self.part(self.clear) * WHOLE)
        if self.l1_sensitivity * WHOLE / least > LARGEST_SCALE:
            raise InvalidInput("epsilon", f"{self.epsilon!r} is too small: the noise would exceed 64 bits")

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, goods: int, supply: int | tuple[int, ...],
        **options: Any,
    ) -> SinkhornMatch:
        """A market with settings that gave high welfare in measurements at similar sizes.

        Args:
            epsilon: privacy loss of the whole outcome, in nats, > 0.
            delta: delta in [0, 1); 0 is pure privacy, which suffices without truncation.
            people: number n >= 1 of public positions for bidders.
            goods: number k >= 1 of goods.
            supply: number of copies s_j >= 1 of each good: one number for all, or k numbers.
            options: further parameters, such as neighbours or certify_with; they take precedence over the recommended
                settings.

        Raises:
            InvalidInput: a number out of range.
            Refused: truncation that costs more than delta.

        Example:
            >>> SinkhornMatch.for_budget(epsilon=1.0, people=100_000, goods=20, supply=4_000).rounds
            16
        """
        from confide.allocation.settings import scaling_settings

        found: SinkhornMatch = scaling_settings(cls, people=people, goods=goods, supply=supply, epsilon=epsilon,
                                                delta=delta, **options)
        return found

    # ---- public arithmetic

    @cached_property
    def temperatures(self) -> tuple[float, ...]:
        """Temperature of each round. The temperatures fall by a constant factor."""
        return falling(self.start_temperature, self.end_temperature, self.rounds)

    @cached_property
    def budgets(self) -> tuple[Fraction, ...]:
        """Epsilon of the release in each round. All rounds together use the share of the privacy budget that remains
        after the final count and the certificate.
        """
        cost = written(self._demands_cost)
        return tuple(cost * share for share in weights(self.growth, self.rounds))

    @cached_property
    def _demands_cost(self) -> float:
        left = self.part(1.0) - self.part(self.clear) - self.part(self.certify_with)
        found = float(left)
        return found if written(found) <= left else math.nextafter(found, 0.0)

    def scale(self, budget: Fraction) -> float:
        """Scale of discrete Laplace noise, in bidders, rounded up, for a release with the l1 sensitivity
        `l1_sensitivity`.

        Args:
            budget: epsilon of the release.
        """
        return float_up(self.l1_sensitivity / budget)

    @property
    def _clearing_scale(self) -> float:
        return self.scale(written(self.part_down(self.clear)))

    def _spent(self) -> tuple[Event, ...]:
        if self.plentiful:
            return ()
        spent = [(self._demands_cost, _DEMANDS), (self.part_down(self.clear), _CLEARING)]
        if self.certificate_plan is not None:
            spent.append((self.certificate_plan.measure.cost, "certificate"))
        return tuple(PureEvent(epsilon=epsilon, neighbours=self.relation, label=label) for epsilon, label in spent)

    def guarantees(self) -> Guarantees:
        common = super().guarantees()
        if self.plentiful:  # nobody's good depends on anybody else
            return Guarantees(tuple(replace(one, loss=PureDP(0.0)) if isinstance(one, Privacy) else one
                                    for one in common))
        if not self.charge:
            return common
        moved = mean_shift(self.prices_loss)
        source = Source(document="confide", statement="private prices and their charge", spec="allocation 7")
        return Guarantees((
            *common,
            Truthfulness(gain=moved + self.spread, baseline=1.0, unit_of_gain="of value", source=source,
                         who="every bidder who gets the requested good by their public number",
                         condition="the bidder gets the requested good by their public number, which is drawn in the "
                                   "run",
                         note="in the mean over the noise, for any reports of the other bidders; the probability that "
                              "the bidder does not get it, which the published rates show after the run, is not "
                              "included"),
            Participation(utility=0.0, who="everybody, after every run", source=source,
                          note="nobody asks for a good that is not worth its price; the loss of privacy is not "
                               "counted"),
        ))

    @property
    def prices_loss(self) -> PureDP:
        """Privacy loss of the final prices when one bidder is replaced. The prices follow from the soft demands.

        The bound on the gain from a lie depends on this privacy loss of the prices.
        """
        steps = 1 if self.neighbours == "replace" else 2
        return PureDP(float_up(steps * sum(self.budgets, Fraction(0))))

    # ---- public arithmetic after each release

    def moved(self, path: NDArray[np.int64], demand: NDArray[np.int64], r: int) -> NDArray[np.int64]:
        """The prices after a round, in units of 2^-20 of value, shape (k,).

        Args:
            path: prices before the round, in units of 2^-20 of value, shape (k,).
            demand: noisy demand as released, in units of 2^-16 bidders, shape (k,).
            r: number of the round, from 0.
        """
        return moved_prices(path, demand, self.copies, self.people, self.step * self.temperatures[r],
                            1.0 + self.spread)

    def rates(self, asked: NDArray[np.int64]) -> NDArray[np.int64]:
        """The threshold of each good, in 0..2^32, shape (k,): a bidder who asks for the good gets it if their public
        random number is below the threshold. No good is then given beyond its supply, except with the failure
        probability.

        Args:
            asked: noisy number of bidders who ask for each good, as released, shape (k,).
        """
        return rates(asked, self.copies, self._clearing_scale, self.failure_probability / self.goods)

    # ---- the run

    def _of_plenty(self) -> ScalingBillboard:
        nothing = np.zeros((0, self.goods), dtype=np.int64)
        return ScalingBillboard(people=self.people, goods=self.goods, demands=nothing, public_seed="",
                                paths=np.zeros((1, self.goods), dtype=np.int64),
                                asked=np.zeros(self.goods, dtype=np.int64),
                                rates=np.full(self.goods, PUBLIC_RANGE, dtype=np.int64))

    def _matched(self, values: Valuations, source: Noise, progress: Progress | None) -> tuple[ScalingBillboard,
                                                                                              NDArray[Any]]:
        seed, paths, demands = draw_public_seed(source), [np.zeros(self.goods, dtype=np.int64)], []
        biases = PublicBiases.of(seed, self.spread)
        for r, budget in enumerate(self.budgets):
            true = soft_demand(values, prices_of(paths[-1]), self.temperatures[r], biases)
            # A neighbour step moves demand by `l1_sensitivity` people, and each of them is WHOLE parts.
            demands.append(add_discrete_laplace(
                source, true, noise_scale=self.scale(budget / WHOLE), l1_sensitivity=self.l1_sensitivity * WHOLE,
                stream=("demand", r), line=_DEMANDS))
            paths.append(self.moved(paths[-1], demands[-1], r))
            if progress is not None and r + 1 < self.rounds:  # the run itself tells its end
                progress(r + 1, self.rounds)
        prices = prices_of(paths[-1])
        wanted = self._worth_it(values, prices, best_goods(values, prices, biases))
        asked = add_discrete_laplace(
            source, np.bincount(wanted[wanted >= 0], minlength=self.goods), line=_CLEARING, stream="asked",
            noise_scale=self._clearing_scale, l1_sensitivity=self.l1_sensitivity)
        share = self.rates(asked)
        held = np.where((wanted >= 0) & (public_numbers(seed, self.people) < share[np.maximum(wanted, 0)]), wanted, -1)
        held, cutoffs = self.without_overflow(held)
        return ScalingBillboard(people=self.people, goods=self.goods, demands=np.stack(demands), paths=np.stack(paths),
                                asked=asked, rates=share, public_seed=seed, cutoffs=cutoffs,
                                **self._reported(values, prices, held, source)), held

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        if not 0 <= index < self.people:
            raise InvalidInput("index", f"{index} is not a place", f"must be in 0..{self.people - 1}")
        best = self.wanted(as_row(record, self.goods), index, board)
        rate = int(board.rates[best])
        if best < 0 or (rate < PUBLIC_RANGE and not public_number_of(board.public_seed, index) < rate) or (
                board.cutoffs is not None and index >= int(board.cutoffs[best])):
            return {"good": -1, "price": 0.0}
        return {"good": best, "price": float(board.prices[best]) if self.charge else 0.0}

    def wanted(self, row: NDArray[np.float64], index: int, billboard: ScalingBillboard) -> int:
        """The good that a bidder asks for at the last prices, or -1 for none.

        Args:
            row: bidder's valuations in [0, 1], shape (k,), which the function does not check.
            index: bidder's position in the public order of bidders, from 0.
            billboard: billboard (public record) of the run.
        """
        gains = row - billboard.prices
        if self.spread and not self.plentiful:
            gains = gains + PublicBiases.of(billboard.public_seed, self.spread).row(index, self.goods)
        gains = np.where(row > 0.0, gains, -np.inf)
        best = int(np.argmax(gains))
        if not gains[best] > 0.0 or (self.charge and not row[best] >= billboard.prices[best]):
            return -1
        return best

    # ---- what a verifier asks

    def check(self, billboard: AnyBillboard) -> None:
        """Check that a billboard belongs to this market. The prices and the rates on the billboard must follow from the
        billboard's releases, on every machine.

        Raises:
            InvalidInput: a billboard of another market, or a billboard with numbers that no run writes.
        """
        board = self._own(billboard)
        rounds, shape = (0 if self.plentiful else self.rounds), (self.goods,)
        for name, wanted in (("demands", (rounds, *shape)), ("paths", (rounds + 1, *shape)), ("asked", shape),
                             ("rates", shape)):
            require_integers(name, getattr(board, name), wanted)
        path = np.zeros(self.goods, dtype=np.int64)
        for r in range(rounds + 1):
            if not np.array_equal(board.paths[r], path):
                raise InvalidInput("paths", "do not follow from the demands")
            path = self.moved(path, board.demands[r], r) if r < rounds else path
        if self.plentiful and (board.asked.any() or not bool((board.rates == PUBLIC_RANGE).all()) or board.public_seed):
            raise InvalidInput("rates", "leave some bidder without a good",
                               "must give everybody the requested good, since there are enough copies")
        if not self.plentiful and not is_public_seed(board.public_seed):
            raise InvalidInput("public_seed", "is not 64 hexadecimal digits")
        if not self.plentiful and not np.array_equal(board.rates, self.rates(board.asked)):
            raise InvalidInput("rates", "do not follow from the numbers of bidders who ask for each good")
        truncates = self.on_overflow == "truncate" and not self.plentiful
        if (board.cutoffs is not None) is not truncates:
            raise InvalidInput("cutoffs", "are missing, but the run truncates" if truncates else
                               "are present, but the run does not truncate")
        if board.cutoffs is not None:
            require_integers("cutoffs", board.cutoffs, shape)
            if not bool(((board.cutoffs >= 0) & (board.cutoffs <= self.people)).all()):
                raise InvalidInput("cutoffs", "are not places",
                                   f"must be {counted(self.goods, 'number')} in 0..{self.people}")
        require_sums(board.surplus, board.welfare, certified=self.certificate_plan is not None)
        if not all(number is None or np.isfinite(number) for number in (board.surplus, board.welfare)):
            raise InvalidInput("surplus", "is not a number")

    def _own(self, billboard: AnyBillboard) -> ScalingBillboard:
        board = as_billboard(billboard)
        if not isinstance(board, ScalingBillboard):
            raise InvalidInput("billboard", f"{type(board).__name__} is of another mechanism",
                               "SinkhornMatch reads only billboards of its own runs")
        if (board.people, board.goods) != (self.people, self.goods):
            raise InvalidInput("billboard", f"belongs to another market, with {board.people:,} people and "
                                            f"{counted(board.goods, 'good')}",
                               f"this market has {self.people:,} people and {self.goods:,} goods")
        return board

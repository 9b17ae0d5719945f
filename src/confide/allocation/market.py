"""The common part of all markets of goods: their sizes and supplies, their privacy, and the claims about welfare.

The class `OneGood` is the base of markets that give each bidder at most one good. The class runs such a market, writes
its public record (the billboard), and charges prices at the end. A subclass defines how each bidder gets their good
(`_matched`), and the billboard of a market with enough copies of every good.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated, Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.billboards import WelfareCertificate
from confide.allocation.duality import CERTIFIED, CertificatePlan
from confide.allocation.favourites import best_goods
from confide.allocation.measuring import Law, Measure
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress, unusable_in
from confide.contract.outcome import B_co, RunOutcome
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.parameters import Parameter
from confide.contract.remedies import tried
from confide.contract.renamed import renamed, warn_of_old
from confide.contract.words import counted
from confide.privacy.accounting import written
from confide.privacy.charge import Bundle, Line, WithoutDraw, lines_of
from confide.privacy.clamping import added_delta
from confide.privacy.events import ApproxEvent, Event
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.tables.frames import arrow_numbers

__all__ = ["NEIGHBOURS_WRITTEN", "Market", "Neighbours", "OneGood", "Overflow", "down", "neighbours_today"]

# ---- market

Neighbours = Literal["replace", "add_or_remove"]
Overflow = Literal["flag", "truncate"]

_MOST_COPIES = 2**53
NEIGHBOURS_WRITTEN: Mapping[str, str] = {"replace": "substitution", "add_or_remove": "add_remove"}
"""Mapping from the name of a neighbouring relation to the name that stored files and early campaign files use."""


def neighbours_today(called: str, given: Any) -> Any:
    """The current name of a neighbouring relation. A former name is accepted with a warning.

    Args:
        called: name of the class that has the option `neighbours`, for the warning.
        given: value of the option, as the caller passed it.
    """
    if isinstance(given, Relation):
        return given.value
    olds = {old: new for new, old in NEIGHBOURS_WRITTEN.items()}
    if not isinstance(given, str) or given not in olds:
        return given
    warn_of_old(called, given, olds[given])
    return olds[given]


@renamed(gamma="failure_probability", failure="overflow_probability", distance="l1_sensitivity",
         unit="relation")
@dataclass(frozen=True, kw_only=True)
class Market(Mechanism[B_co, WelfareCertificate | None]):
    """Base of mechanisms that assign goods in several copies to bidders.

    The overflow of a good is the number of its copies that are given beyond its supply. With on_overflow = "flag" these
    copies are given anyway, and the operator, who sees all shares, must have them in stock. Taking a promised good away
    from one person would reveal something about others. With "truncate" the last holders in the public order go without
    a good. Truncation costs a delta of (1 + e^epsilon) times the failure probability.

    With neighbours = "replace" the row of one bidder is replaced by any other row, with "add_or_remove" by a row of
    zeros.

    Raises:
        InvalidInput: a number out of range.
        Refused: truncation that costs more than delta.
    """

    people: Annotated[int, Parameter("number of public slots; an empty slot counts as a row of zeros", symbol="n",
                                     at_least=1)]
    goods: Annotated[int, Parameter("number of different goods", symbol="k", at_least=1)]
    supply: Annotated[int | tuple[int, ...], Parameter("copies of each good: one number for all goods, or one number "
                                                       "for each good",
                                                       symbol="s_j", at_least=1, at_most=_MOST_COPIES)]
    epsilon: Annotated[float, Parameter("privacy loss of the whole outcome, towards everybody else together",
                                        unit="nats", above=0)]
    delta: Annotated[float, Parameter("0 is pure privacy; truncation and Gaussian noise need more", at_least=0,
                                      below=1)] = 0.0
    certify_with: Annotated[float, Parameter("share of epsilon for the public certificate of welfare; 0 for no "
                                             "certificate",
                                             at_least=0, below=1)] = 0.02
    failure_probability: Annotated[float, Parameter(
        "probability that the run gives more copies of some good than its supply",
                                                    symbol="gamma", above=0, below=1)] = 0.01
    on_overflow: Annotated[Overflow, Parameter(
        'rule for copies beyond the supply. "flag": the run gives them from a stock; "truncate": the last holders get '
        "nothing")] = "flag"
    neighbours: Annotated[Neighbours, Parameter("replacement of one bidder's row: any other row, or one of "
                                                "zeros")] = "replace"

    phases = (Phase(name="bids", asks="one row of valuations, sealed"),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", neighbours_today(type(self).__name__, self.neighbours))
        one: Any = self.supply
        if isinstance(one, np.ndarray):
            object.__setattr__(self, "supply", tuple(one.tolist()) if one.ndim else one.item())
        super().__post_init__()
        given: Any = self.supply
        copies = tuple(map(int, given)) if isinstance(given, tuple | list) else (int(given),) * self.goods
        if len(copies) != self.goods:
            raise InvalidInput("supply", f"has {counted(len(copies), 'number')}",
                               f"must be one number, or {counted(self.goods, 'number')}")
        object.__setattr__(self, "supply", copies)
        if self.overflow_delta > self.delta:
            raise Refused(f"truncation with failure_probability = {self.failure_probability:g} costs a delta of "
                          f"{self.overflow_delta:.3g}, but delta is {self.delta:g}",
                          [*tried("a failure_probability of {failure_probability} or less", partial(replace, self),
                                  up=False,
                                  failure_probability=self.delta / (1.0 + math.exp(min(self.epsilon, 700.0)))),
                           "on_overflow = 'flag'"])

    @classmethod
    def recommended(
        cls, people: int, goods: int, supply: int | tuple[int, ...], epsilon: float, **options: Any,
    ) -> Self:
        """Former name of `for_budget`, to be removed in confide 1.0.0."""
        warn_of_old(cls.__name__, "recommended", "for_budget")
        made: Any = cls
        found: Self = made.for_budget(epsilon=epsilon, people=people, goods=goods, supply=supply, **options)
        return found

    @property
    def copies(self) -> tuple[int, ...]:
        """Supply s_j of each good j, shape (k,)."""
        return tuple(self.supply)  # type: ignore[arg-type]

    @property
    def relation(self) -> Relation:
        """Neighbouring relation, in the form that promises and events use."""
        return Relation(self.neighbours)

    @property
    def l1_sensitivity(self) -> int:
        """L1 sensitivity of counts to which each bidder adds at most 1: 2, or 1 if neighbours replace a row
        by zeros.
        """
        return 2 if self.neighbours == "replace" else 1

    @property
    def plentiful(self) -> bool:
        """Whether every bidder can have their favourite, because each good has at least as many copies as there are
        bidders.
        """
        return min(self.copies) >= self.people

    @property
    def overflow_delta(self) -> float:
        """The delta that truncation costs; 0 without truncation. The outcomes with and without truncation agree, except
        with the failure probability in each of two neighbouring data sets.
        """
        return added_delta(self.epsilon, self.failure_probability) if self.on_overflow == "truncate" else 0.0

    @property
    def noise_law(self) -> Law:
        """Law of all noise of the mechanism."""
        return "laplace"

    @cached_property
    def budget(self) -> Fraction:
        """Privacy budget of all releases together: epsilon, as the exact decimal number that was written, or rho for
        Gaussian noise.
        """
        if self.noise_law == "laplace":
            return written(self.epsilon)
        return Fraction(ZCDP.within(self.epsilon, self.delta - self.overflow_delta).rho)

    @property
    def overflow_probability(self) -> float:
        """Upper bound on the probability that more copies of some good are given than its supply."""
        return 0.0 if self.on_overflow == "truncate" else self.failure_probability

    def part(self, share: float) -> Fraction:
        """A share, in [0, 1], of the privacy budget, computed exactly from the share's decimal digits."""
        return written(share) * self.budget

    def part_down(self, share: float) -> float:
        """A share, in [0, 1], of the privacy budget, rounded down to a double."""
        return down(self.part(share))

    @renamed(distance="l1_sensitivity", squared="squared_l2_sensitivity")
    def measure(self, label: str, share: float, l1_sensitivity: int, squared_l2_sensitivity: int) -> Measure:
        """The noise of a release of whole numbers that uses a share of the privacy budget.

        Args:
            label: name of the release in the privacy charge.
            share: share of the budget, in (0, 1).
            l1_sensitivity: l1 sensitivity of all numbers together.
            squared_l2_sensitivity: squared l2 sensitivity of all numbers together.
        """
        return Measure(label=label, law=self.noise_law, cost=self.part_down(share), l1_sensitivity=l1_sensitivity,
                       squared_l2_sensitivity=squared_l2_sensitivity)

    @cached_property
    def certificate_plan(self) -> CertificatePlan | None:
        """Public parameters of the releases from which the welfare certificate follows; None without a certificate."""
        if not self.certify_with or min(self.copies) >= self.people:
            return None
        return CertificatePlan(supply=self.copies, failure_probability=self.failure_probability,
                               measure=self.measure("certificate", self.certify_with, *CERTIFIED))

    @property
    def loss(self) -> PureDP | ApproxDP:
        """Privacy loss of the whole outcome. The loss is pure unless Gaussian noise or truncation needs the delta."""
        needed = self.noise_law == "gaussian" or self.on_overflow == "truncate"
        return ApproxDP(self.epsilon, self.delta) if self.delta and needed else PureDP(self.epsilon)

    def events(self) -> tuple[Event, ...]:
        """The privacy events of a run. With truncation there is a single event, since the delta of truncation depends
        on the whole run.
        """
        if self.on_overflow == "truncate" and self._spent():
            return (ApproxEvent(epsilon=self.epsilon, delta=self.delta, neighbours=self.relation, label="allocation"),)
        return self._spent()

    def lines(self) -> tuple[Line, ...]:
        parts = self._drawn()
        if self.on_overflow == "truncate" and parts:
            return (Bundle(name="allocation", event=self.events()[0], parts=(
                *parts, WithoutDraw(name="truncation", delta=self.overflow_delta)),
                proof="truncated and whole allocations agree but with probability gamma"),)
        return parts

    def _drawn(self) -> tuple[Line, ...]:
        """The lines of the charge for the releases of a run, which correspond to the events in `_spent`."""
        return lines_of(self._spent())

    def _spent(self) -> tuple[Event, ...]:
        """The privacy events of a run's releases, one for each release."""
        raise NotImplementedError

    def guarantees(self) -> Guarantees:
        source = Source(document="confide", statement="billboard lemma", spec="allocation 1, 3.2")
        return Guarantees((
            Privacy(loss=self.loss, neighbours=self.relation, audience=Audience.OTHERS, source=source,
                    note="a person who sees a participant's own good, such as its provider, learns it"),
            Accuracy(bound=0.0, measure="the number of given copies of any good beyond its supply", source=source,
                     failure_probability=self.overflow_probability, baseline=float(self.people)),
        ))

    def certify(self, billboard: AnyBillboard) -> WelfareCertificate | None:
        board: Any = self._own(billboard)
        plan = self.certificate_plan
        if plan is None or board.surplus is None or board.welfare is None:
            return None
        return plan.certificate(board.prices, board.surplus, board.welfare)

    def check(self, billboard: AnyBillboard) -> None:
        """Check that a billboard belongs to this market, and that the derived numbers on the billboard follow from the
        billboard's releases.

        Raises:
            InvalidInput: a billboard of another market, or a billboard with numbers that no run writes.
        """
        self._own(billboard)

    def cut_off(self, held: NDArray[Any]) -> NDArray[np.int64] | None:
        """One position in the public order of bidders for each good, shape (k,). From this position on, holders lose
        all their copies of the good, so that the supply suffices. The result is None if on_overflow is "flag".

        Args:
            held: good of each bidder, shape (n,), or goods of each bidder, shape (n, b), with -1 for none. Private.
        """
        if self.on_overflow == "flag":
            return None
        found = np.full(self.goods, self.people, dtype=np.int64)
        for good in np.flatnonzero(self._over(held)).tolist():
            so_far = np.cumsum((held.reshape(len(held), -1) == good).sum(axis=1))
            found[good] = int(np.argmax(so_far > self.copies[good]))
        return found

    def without_overflow(self, held: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
        """The goods that bidders keep after truncation, and the positions from which on holders lose their copies, as
        in `cut_off`. The goods that bidders keep are private, and the positions are public.

        Args:
            held: good of each bidder, shape (n,), or goods of each bidder, shape (n, b), with -1 for none.
        """
        cutoffs = self.cut_off(held)
        if cutoffs is None:
            return held, None
        places = np.arange(len(held)).reshape(-1, *[1] * (held.ndim - 1))
        return np.where(places < cutoffs[np.maximum(held, 0)], held, -1), cutoffs

    def diagnose(self, values: Valuations, held: NDArray[Any]) -> dict[str, float]:
        """Diagnostics that only the operator of a study may see: the welfare, and the number of copies that are given
        beyond the supply.
        """
        return {"welfare": values.welfare(held), "over_allocated": float(self._over(held).sum())}

    def _over(self, held: NDArray[Any]) -> NDArray[np.int64]:
        """Number of copies of each good that are given beyond its supply, shape (k,)."""
        given = np.bincount(held[held >= 0], minlength=self.goods)
        over: NDArray[np.int64] = np.maximum(0, given - np.array(self.copies))
        return over

    def _own(self, billboard: AnyBillboard) -> Any:
        """Return a billboard after a check that it belongs to this mechanism.

        Raises:
            InvalidInput: a billboard of another mechanism.
        """
        raise NotImplementedError


def down(exact: Fraction) -> float:
    """A double just below or equal to an exact number. Neither the double nor its shortest decimal form exceeds the
    exact number.
    """
    found = float(exact)
    return math.nextafter(found, 0.0) if max(written(found), Fraction(found)) > exact else found


# ---- one good


class OneGood(Market[B_co]):
    """A market in which each bidder gets at most one good, with public prices that may be charged."""

    charge: bool

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[B_co, WelfareCertificate | None]:
        """Run the market: its rounds, its clearing, and the good of each bidder.

        Args:
            data: valuations in [0, 1], shape (n, k): an array, a frame, an Arrow table or a file with a column for each
                good, a sparse array, or `Valuations`. In a release any row that cannot be used counts as zeros; a study
                refuses such a row.
            noise: source of the noise; `Noise.secure()` for a settlement.
            progress: function that is called after each round with the number of rounds played and the largest number
                of rounds, both public.

        Returns:
            An outcome with a table of shares with the columns "good" (-1 for none) and "price". The price is the final
            price of the bidder's good if prices are charged. The price is 0 if prices are not charged, or if the bidder
            gets no good.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods, unusable=unusable_in(source))
        if self.plentiful:
            board = self._of_plenty()
            held: NDArray[Any] = best_goods(values, board.prices)
        else:
            board, held = self._matched(values, source, progress)
        if progress is not None:
            of: Any = self
            progress(of.rounds, of.rounds)
        prices = np.where(held >= 0, board.prices[held], 0.0) if self.charge else np.zeros(self.people)
        shares = pa.table({"good": arrow_numbers(held.astype(np.int32)), "price": arrow_numbers(prices)})
        return self._outcome(noise, billboard=board, shares=shares, certificate=self.certify(board),
                             diagnostics=self.diagnose(values, held))

    def _of_plenty(self) -> Any:
        """The billboard of a market in which every bidder gets their favourite."""
        raise NotImplementedError

    def _matched(self, values: Valuations, source: Noise, progress: Progress | None) -> tuple[Any, NDArray[Any]]:
        """The billboard, and the good of each bidder, shape (n,), with -1 for none."""
        raise NotImplementedError

    def _worth_it(self, values: Valuations, prices: NDArray[np.float64], held: NDArray[Any]) -> NDArray[Any]:
        """The good of each bidder, shape (n,). If prices are charged, -1 replaces a good that is worth less to its
        holder than its price.
        """
        if not self.charge:
            return held
        return np.where(values.of_goods(held) >= prices[np.maximum(held, 0)], held, -1)

    def _reported(
        self, values: Valuations, prices: NDArray[np.float64], held: NDArray[Any], noise: Noise
    ) -> dict[str, float | None]:
        """The two noisy sums of the certificate, as a mapping from their names on the billboard. Both sums are None
        without a certificate.
        """
        plan = self.certificate_plan
        surplus, welfare = (None, None) if plan is None else plan.reported(values, prices, held, noise)
        return {"surplus": surplus, "welfare": welfare}

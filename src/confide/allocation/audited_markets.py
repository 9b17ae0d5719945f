"""Markets of eight bidders under a campaign's rules, worst-case neighbouring data sets for these markets, and the
privacy charge for each kind of noise draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import singledispatch
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide.allocation.audited_losses import promise
from confide.allocation.bundles import (
    Additive,
    Assignment,
    CappedAdditiveValuation,
    SymmetricConcave,
    UnitDemandValuation,
)
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.valuations import Valuations
from confide.audit import DampedNoise, Loss, Neighbours, ShiftedNoise, published
from confide.privacy.accounting import float_up
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.public_randomness import PUBLIC_RANGE

__all__ = ["HISTORIES", "Step", "charges", "counted", "histories", "in_blocks", "neighbours", "of_rows", "published",
           "steps", "tiny"]

PEOPLE, GOODS, SUPPLY = 8, 3, 3
_MOST_GOODS = 6
_COPIES = 4  # of each good, for each that one bidder may hold: so many that these copies can lie in one cell

_QUIET = (1.0, 2.0**-3, 2.0**-6)
_LOW = -64.0
HISTORIES = len(_QUIET) + 1
"""Number of kinds of noise between which the runs of `histories` alternate."""


_INCREMENT = 2.0**-8  # at most: prices that noise lifts out of reach at once would end all bidding


_Auction = TypeVar("_Auction", bound=Market)
_Bids = TypeVar("_Bids", bound=PMatch | PAlloc)


@dataclass(frozen=True, eq=False)
class Step:
    """A pair of neighbouring data sets, which differ in one row.

    Args:
        values: valuations of all bidders, shape (n, k), or records of the valuation's class, shape (n, ...).
        index: index of the row that changes, from 0.
        other: row at that index in the neighbouring data set.
    """

    values: NDArray[np.float64]
    index: int
    other: NDArray[np.float64]


@singledispatch
def tiny(mechanism: Market) -> Market:
    """The mechanism for eight bidders and few goods with few copies each. The small mechanism never takes goods from
    holders, even beyond the supply, because such truncation costs a delta.

    Args:
        mechanism: mechanism of the campaign.
    """
    return replace(mechanism, people=PEOPLE, goods=GOODS, supply=SUPPLY, on_overflow="flag")


def of_rows(mechanism: _Auction, goods: int) -> _Auction:
    """The auction for bidders whose record is a row of values. A class of valuations with other records is replaced by
    capped additive valuations.

    The largest number of bids and reports of one bidder is the same in every class. Only in the final clearing the
    classes differ: in some of them, several copies of a good may count for one bidder.

    Args:
        mechanism: auction with valuations of any class.
        goods: number of goods in the market, which bounds the size of a bundle.
    """
    summed = (UnitDemandValuation, Additive, CappedAdditiveValuation)
    if not isinstance(mechanism, PAlloc) or isinstance(mechanism.valuation, summed):
        return mechanism
    cap = min(goods, mechanism.largest_bundle)
    return replace(mechanism, valuation=CappedAdditiveValuation(cap=cap), bundle=None)


def in_blocks(mechanism: _Auction) -> _Auction:
    """The auction with its noise drawn in blocks of many releases and added by the run, as in auctions of many
    releases.

    Args:
        mechanism: `PMatch` or `PAlloc`.
    """
    kind = type("InBlocks", (type(mechanism),), {"_stepwise": False})
    made: _Auction = kind(**{one.name: getattr(mechanism, one.name) for one in fields(mechanism)})
    return made


@tiny.register
def _(mechanism: SinkhornMatch) -> SinkhornMatch:
    # A lottery of so few copies, at the noise of a campaign, would give nobody anything, and what a certificate sums
    # would never hold what a good is worth to its owner. So there is enough of the first good, whatever is drawn.
    own = replace(mechanism, people=PEOPLE, goods=GOODS, supply=SUPPLY, on_overflow="flag")
    enough, everybody = SUPPLY, np.full(GOODS, PEOPLE)
    while replace(own, supply=(enough, *[SUPPLY] * (GOODS - 1))).rates(everybody)[0] < PUBLIC_RANGE:
        enough *= 2
    return replace(own, supply=(enough, *[SUPPLY] * (GOODS - 1)))


@tiny.register(PMatch)
@tiny.register(PAlloc)
def _(mechanism: PMatch | PAlloc) -> PMatch | PAlloc:
    if not isinstance(mechanism, PAlloc) or not mechanism.valuation.repeats:
        # Of bundles, so many goods that two of them have none in common.
        goods = GOODS if isinstance(mechanism, PMatch) else max(GOODS, min(_MOST_GOODS, 2 * mechanism.largest_bundle))
        return _small(of_rows(mechanism, goods), SUPPLY, goods)
    # Of all who count copies, those with places move most: in one world copies of one good, in the other of another.
    return _of_copies(mechanism, Assignment(places=min(mechanism.largest_bundle, GOODS)))


def counted(mechanism: Market) -> PAlloc | None:
    """An auction of eight bidders who value only the number of their goods, for a campaign with symmetric concave
    valuations; None for other campaigns.

    Separate code plays auctions in which only the number of goods matters, so these auctions are audited separately.

    Args:
        mechanism: mechanism of the campaign.
    """
    if not isinstance(mechanism, PAlloc) or not isinstance(mechanism.valuation, SymmetricConcave):
        return None
    return _of_copies(mechanism, SymmetricConcave(most=min(mechanism.largest_bundle, GOODS)))


def _of_copies(mechanism: PAlloc, valuation: Assignment | SymmetricConcave) -> PAlloc:
    return _small(replace(mechanism, valuation=valuation, bundle=None), _COPIES * valuation.largest(GOODS))


def _small(mechanism: _Bids, supply: int, goods: int = GOODS) -> _Bids:
    batch, rounds = max(1, min(4, round(PEOPLE * mechanism.batch / mechanism.people))), min(mechanism.rounds, 5)
    cap = rounds if mechanism.bid_cap >= mechanism.rounds else min(mechanism.bid_cap, 3)
    return replace(
        mechanism, people=PEOPLE, goods=goods, supply=supply, on_overflow="flag", batch=batch,
        rounds=rounds, bid_cap=cap, arity=min(mechanism.arity, 4),
        reserve=None if mechanism.reclear else 0, halt_below=min(1, mechanism.halt_below),
        increment=min(mechanism.increment, _INCREMENT))


def steps(mechanism: Market, seed: int) -> Iterator[Step]:
    """Worst-case neighbouring data sets for a mechanism: in an empty market, in a full market, with opposite tastes,
    and with an absent bidder.

    In one of the markets all other bidders want the same good. The first bidder also wants that good, is outbid, and
    bids again.

    Args:
        mechanism: market of eight bidders, from `tiny`.
        seed: seed of the valuations of the other bidders.
    """
    n, k = mechanism.people, mechanism.goods
    draw = study_generator(seed, "neighbours")
    empty, crowded = np.zeros((n, k)), draw.integers(0, 9, (n, k)) / 8
    rising = np.linspace(0.5, 1.0, k)
    found = [(empty, 0, rising, rising[::-1]), (empty, n - 1, np.ones(k), np.zeros(k)),
             (empty, 1, np.eye(k)[0], np.zeros(k)), (crowded, 0, rising[::-1], rising),
             (crowded, n // 2, draw.integers(0, 9, k) / 8, np.zeros(k)),
             (np.eye(k)[[0] * n], 0, np.eye(k)[0], np.eye(k)[-1])]
    if isinstance(mechanism, PAlloc):  # two bundles with no good in common
        found.append((empty, 2, np.arange(k) < k // 2, np.arange(k) >= k - k // 2))
    for values, index, first, second in found:
        for row, other in ((first, second), (second, first)):
            table = values.copy()
            table[index] = row
            if mechanism.neighbours == "add_or_remove":
                if not row.any():
                    continue
                other = np.zeros(k)  # noqa: PLW2901
            records, changed = _records(mechanism, table), _records(mechanism, other[None, :])[0]
            if not np.array_equal(records[index], changed):
                yield Step(records, index, changed)


def _records(mechanism: Market, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert rows of values into records of the mechanism, in which a bundle of all goods is worth at most 1.

    A bidder who values only the number of their goods gets the row's values in descending order. A bidder with an
    assignment valuation gets the same row for each place.
    """
    if not isinstance(mechanism, PAlloc):
        return table
    valuation = mechanism.valuation
    if isinstance(valuation, Assignment):
        return np.repeat(table[:, None, :] / valuation.places, valuation.places, axis=1)
    rows = np.asarray(table / np.maximum(1.0, table.sum(axis=1, keepdims=True)))
    if not isinstance(valuation, SymmetricConcave):
        return rows
    steps = np.sort(rows, axis=1)[:, ::-1][:, : valuation.most]
    return np.concatenate([np.zeros((len(rows), 1)), np.cumsum(steps, axis=1)], axis=1)


def neighbours(mechanism: Market, seed: int) -> Iterator[Neighbours]:
    """Pairs of worst-case neighbouring data sets. The output that must be private is everything except the changed
    bidder's own share.

    Args:
        mechanism: market of eight bidders, from `tiny`.
        seed: seed of the valuations of the other bidders.
    """
    for step in steps(mechanism, seed):
        second = step.values.copy()
        second[step.index] = step.other

        def shown(outcome: Any, index: int = step.index) -> bytes:
            return published(outcome, index)

        yield Neighbours(step.values, second, shown)
    yield from _beyond(mechanism, seed)


def _beyond(mechanism: Market, seed: int) -> Iterator[Neighbours]:
    """Pairs of neighbours in which one row holds values outside the allowed range and the other row is empty, both read
    as in a release.

    The bid counts would not reveal a row with too large values, but the sums of the goods' values would.
    """
    k = mechanism.goods
    crowd = study_generator(seed, "beyond").integers(0, 9, (mechanism.people, k)) / 8
    for row in (np.full(k, 3.0), np.eye(k)[0] * 1e4, np.full(k, -2.0)):
        index, none = len(crowd) // 2, np.zeros(k)
        tables = []
        for own in (row, none):
            table = crowd.copy()
            table[index] = none
            records = _records(mechanism, table)
            if own is row:  # its values as they are: nothing holds them to what a bundle is worth
                records[index] = _records(mechanism, np.sign(row)[None, :])[0] * np.abs(row).max()
            tables.append(_as_released(mechanism, records))

        def shown(outcome: Any, place: int = index) -> bytes:
            return published(outcome, place)

        yield Neighbours(tables[0], tables[1], shown)


def _as_released(mechanism: Market, records: NDArray[np.float64]) -> Any:
    """Read records as in a release, where an unusable row counts as an empty one."""
    people, goods = mechanism.people, mechanism.goods
    if isinstance(mechanism, PAlloc):
        return mechanism.valuation.population(records, people=people, goods=goods, unusable="null")
    return Valuations.of(records, people=people, goods=goods, unusable="null")


def histories(seed: int) -> Callable[[int], Noise]:
    """Function from the number of a run to the noise source of the run.

    The loss bound must hold on every possible transcript, so the runs alternate between four kinds of noise. The first
    kind is noise as it is drawn. In the second and the third kind the noise is much smaller, so that the published
    counts show the bids. In the fourth kind the noise is shifted so far below 0 that every waiting bidder is admitted.
    """

    def noise(number: int) -> Noise:
        drawn, turn = Noise.simulated(seed * 1009 + number), number % HISTORIES
        return ShiftedNoise(drawn, _LOW) if turn == len(_QUIET) else DampedNoise(drawn, _QUIET[turn])

    return noise


def charges(mechanism: Market) -> dict[str, Loss]:
    """Mapping from the first word of the names of noise draws to the privacy loss that is charged for all draws with
    that word. The key "" stands for all noise together.

    Args:
        mechanism: sound mechanism, without an injected fault.

    Example:
        >>> from confide.allocation import SinkhornMatch
        >>> parts = charges(SinkhornMatch(people=8, goods=3, supply=2, epsilon=1.0))
        >>> sorted(parts), parts["asked"]
        (['', 'asked', 'certificate', 'demand'], PureDP(epsilon=0.4))
    """
    shares = dict(_shares(mechanism))
    out: dict[str, Loss] = {"": promise(mechanism)}
    for part, share in shares.items():
        cost = float_up(share)
        if share:
            out[part] = PureDP(cost) if mechanism.noise_law == "laplace" else ZCDP(cost)
    return out


@singledispatch
def _shares(mechanism: Market) -> Iterator[tuple[str, Fraction]]:
    """The parts of the noise, each with its share of the budget."""
    if mechanism.certificate_plan is not None:
        yield "certificate", mechanism.part(mechanism.certify_with)


@_shares.register(PMatch)
@_shares.register(PAlloc)
def _(mechanism: PMatch | PAlloc) -> Iterator[tuple[str, Fraction]]:
    # Reports may be free beside the bids that they take the place of: then both are charged as one.
    halts = mechanism.halting_plan.costs and not getattr(mechanism, "reports_are_free", False)
    spent = [(part, mechanism.part(share)) for part, share in (
        ("clearing", mechanism.reclear), ("certificate", mechanism.certify_with),
        ("halting", mechanism.halt_with if halts else 0.0))]
    yield from spent
    if not getattr(mechanism, "reports_are_free", False):
        yield "counts", mechanism.budget - sum((cost for _, cost in spent), Fraction(0))


@_shares.register
def _(mechanism: SinkhornMatch) -> Iterator[tuple[str, Fraction]]:
    yield "demand", sum(mechanism.budgets, Fraction(0))
    yield "asked", mechanism.part(mechanism.clear)
    yield "certificate", mechanism.part(mechanism.certify_with)

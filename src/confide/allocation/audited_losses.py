"""The exact privacy loss of one bidder in a run, along the transcript of the run: the log likelihood ratio of the
bidder's row and another row.

Given the transcript, every true sum is a function of the data, and between neighbours only one bidder's term of the sum
changes. So the log ratio of the densities of everything that was released is a finite sum, computed without sampling.

Each release of an allocation mechanism is a sum over bidders, with noise. A bidder's part of a release, which is their
term of the sum, depends only on their own row, their position and the public transcript. So the part that another row
would have contributed along the same transcript can be computed without another run. For each class of mechanisms, a
function decorated with `signed_in` computes the bidders' parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.audited_reach import reports_of
from confide.allocation.billboards import AuctionBillboard
from confide.allocation.decoding import decode, decode_bundle, replay, replay_bundle
from confide.allocation.duality import surpluses
from confide.allocation.favourites import PublicBiases
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.allocation.soft_demand import soft_demand
from confide.allocation.valuations import Valuations, as_row
from confide.audit import SPARSE_VECTOR, UnreleasedIntermediate
from confide.audit.history_loss import Pair, history_loss, promised_parameter
from confide.contract.errors import InvalidInput, Unsupported
from confide.privacy.halting_law import LaplaceLaw, log_pattern
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.tree_counter import TreeCounter

__all__ = [
    "OWN_PARTS",
    "History",
    "HistoryLoss",
    "Parts",
    "Rule",
    "exact_loss",
    "own_parts",
    "promise",
    "record_of",
    "recorded",
    "signed_in",
    "unreleased_parts",
]

# ---- audited parts

Parts = Mapping[StreamName, NDArray[np.int64]]
"""Mapping from the name of a noise draw to the terms of one bidder, as a flat array. The terms are those in the true
sums to which the noise is added.
"""

_UNIT = 2.0**-20  # of the certificate's sums


Rule = Callable[[Any, Any, int, Any, Sequence[Draw]], Parts]
"""A function from (mechanism, record, index, billboard, draws) to `Parts`, with the arguments of `own_parts`."""

OWN_PARTS: dict[type[Any], Rule] = {}
"""Mapping from a class of mechanisms to the rule that computes the bidders' parts. The decorator `signed_in` adds
entries.
"""


def signed_in(kind: type[Any]) -> Callable[[Rule], Rule]:
    """A decorator that registers a rule for the mechanisms of a class.

    Args:
        kind: class of mechanisms to which the decorated rule applies.
    """

    def of(rule: Rule) -> Rule:
        OWN_PARTS[kind] = rule
        return rule

    return of


def own_parts(mechanism: Any, record: Any, index: int, billboard: Any, draws: Sequence[Draw]) -> Parts:
    """The terms that a bidder with a given record adds to the true sums of each noise draw of a run.

    Args:
        mechanism: mechanism that ran.
        record: bidder's valuations in a form that the mechanism decodes; None for an absent bidder.
        index: bidder's position in the public order of bidders, from 0.
        billboard: billboard (public record) of the run.
        draws: noise draws of the run. Only their names and shapes are used.

    Raises:
        Unsupported: a mechanism for which no rule is registered.
    """
    for kind, rule in OWN_PARTS.items():
        if isinstance(mechanism, kind):
            return rule(mechanism, record, index, billboard, draws)
    names = ", ".join(kind.__name__ for kind in OWN_PARTS)
    raise Unsupported("mechanism", f"the loss of {type(mechanism).__name__}", f"known mechanisms: {names}")


def record_of(mechanism: Any, values: Any, index: int) -> Any:
    """The record of one bidder, from the valuations of all bidders in a run.

    Args:
        mechanism: mechanism that ran.
        values: valuations of all bidders, in a form that the mechanism's `run` accepts.
        index: bidder's position in the public order of bidders, from 0.
    """
    if isinstance(mechanism, PAlloc):
        return values[index]
    return Valuations.of(values, people=mechanism.people, goods=mechanism.goods).row(index)


@signed_in(PMatch)
def _of_goods(
    mechanism: PMatch, record: Any, index: int, billboard: AuctionBillboard, draws: Sequence[Draw]
) -> Parts:
    if not billboard.rounds:
        return {}
    row = as_row(record, mechanism.goods)
    found = replay(row, index, billboard)
    out = _counted(mechanism.counter, mechanism.slots, found.steps, found.goods, billboard, draws)
    reports = reports_of(found.steps, found.goods, billboard)
    out |= _halting(mechanism, found.steps, reports, billboard)
    if billboard.clearing is not None:
        held = [(found.latest, found.seen)] if found.latest >= 0 else []
        out["clearing",] = _cells(held, billboard)
    if mechanism.certificate_plan is not None:
        out["certificate",] = _certified(row, billboard.prices, decode(row, index, billboard))
    return out


@signed_in(PAlloc)
def _of_bundles(
    mechanism: PAlloc, record: Any, index: int, billboard: AuctionBillboard, draws: Sequence[Draw]
) -> Parts:
    if not billboard.rounds:
        return {}
    found = replay_bundle(mechanism.valuation.bidder(record, mechanism.goods), index, billboard)
    out = _counted(mechanism.counter, mechanism.slots, found.steps, found.bid_on, billboard, draws)
    reports = np.zeros(billboard.rounds, dtype=np.int64)
    reports[np.array(found.reports, dtype=np.int64) - 1] = 1
    out |= _halting(mechanism, found.steps, reports, billboard)
    if billboard.clearing is not None:
        out["clearing",] = _cells(list(zip(found.goods, found.seen, strict=True)), billboard)
    plan = mechanism.certificate_plan
    if plan is not None and record is None:
        out["certificate",] = np.zeros(2, dtype=np.int64)
    elif plan is not None:
        own = mechanism.valuation.population([record], people=1, goods=mechanism.goods)
        goods, observed = decode_bundle(record, index, billboard), RecordingNoise(ForcedNoise([]))
        held = np.full((1, mechanism.largest_bundle), -1, dtype=np.int64)
        held[0, : len(goods)] = goods
        plan.reported_of(own, billboard.prices, held, observed)  # the bidder's terms, rounded as the run does
        out["certificate",] = np.array([int(c) for c in observed.draws[0].center], dtype=np.int64)
    return out


def _counted(
    counter: TreeCounter, slots: int, steps: Sequence[int], goods: Sequence[int], billboard: AuctionBillboard,
    draws: Sequence[Draw],
) -> dict[StreamName, NDArray[np.int64]]:
    """The bidder's number of bids in each tree block that was released."""
    bids = np.zeros((counter.counters, counter.horizon), dtype=np.int64)
    np.add.at(bids, (np.array(goods, dtype=np.int64), np.array(steps, dtype=np.int64) - 1), 1)
    sums = counter.block_sums(bids)
    many = [draw for draw in draws if draw.stream[0] == "counts" and len(draw.stream) == 3]
    if not many:
        return {("counts", step): sums[:, step - 1] for step in range(1, billboard.steps + 1)}
    out = {}
    for draw in many:
        at = int(draw.stream[1]) * slots + int(draw.stream[2])
        out[draw.stream] = sums[:, at : at + draw.shape[1]].reshape(-1)
    return out


def _halting(
    mechanism: PMatch | PAlloc, steps: Sequence[int], reports: NDArray[np.int64], billboard: AuctionBillboard
) -> Parts:
    plan, asked = mechanism.halting_plan, min(billboard.rounds, mechanism.rounds - 1)
    if not plan.costs:
        return {}
    if plan.rule == "bids":
        reports = np.bincount((np.array(steps, dtype=np.int64) - 1) // mechanism.slots, minlength=billboard.rounds)
    if plan.counter is None:
        return {("halting", 0, "answer", r): -reports[r : r + 1] for r in range(asked)}
    stream = np.zeros((1, plan.counter.horizon), dtype=np.int64)
    stream[0, :asked] = reports[:asked]
    sums = plan.counter.block_sums(stream)
    return {("halting", r): sums[:, r - 1] for r in range(1, asked + 1)}


def _cells(held: Sequence[tuple[int, int]], billboard: AuctionBillboard) -> NDArray[np.int64]:
    """The bidder's part of the cells of the final clearing.

    `held` lists each good that the bidder may get, with its published count before their bid.
    """
    if billboard.clearing is None:
        return np.zeros(0, dtype=np.int64)
    cells = np.zeros(billboard.clearing.cells.shape, dtype=np.int64)
    for good, seen in held:
        inside = np.flatnonzero(int(billboard.final_counts[good]) - seen <= billboard.clearing.edges[good])
        cells[good, inside[:1]] += 1
    return cells.reshape(-1)


def _certified(row: NDArray[np.float64], prices: NDArray[np.float64], good: int) -> NDArray[np.int64]:
    own = Valuations.of(row[None, :], people=1, goods=len(row))
    surplus, value = float(surpluses(own, prices)[0]), float(row[good]) if good >= 0 else 0.0
    return np.array([np.ceil(surplus / _UNIT), np.floor(value / _UNIT)], dtype=np.int64)


@signed_in(SinkhornMatch)
def _of_scaling(
    mechanism: SinkhornMatch, record: Any, index: int, billboard: ScalingBillboard, _draws: Sequence[Draw]
) -> Parts:
    if not billboard.public_seed:  # there is enough of everything
        return {}
    row = as_row(record, mechanism.goods)
    own = Valuations.of(row[None, :], people=1, goods=mechanism.goods)
    biases = PublicBiases.of(billboard.public_seed, mechanism.spread)
    out: dict[StreamName, NDArray[np.int64]] = {}
    for r, path in enumerate(billboard.paths[:-1]):
        prices = np.ldexp(path.astype(np.float64), -20)
        out["demand", r] = soft_demand(own, prices, mechanism.temperatures[r], biases, first=index)
    asked = np.zeros(mechanism.goods, dtype=np.int64)
    wanted = mechanism.wanted(row, index, billboard)
    if wanted >= 0:
        asked[wanted] = 1
    out["asked",] = asked
    if mechanism.certificate_plan is not None:
        good = int(mechanism.decode(row, index, billboard)["good"])
        out["certificate",] = _certified(row, billboard.prices, good)
    return out


# ---- audited losses

_PUBLIC = ("channel", "selection", "split")  # coins that protect nobody


def promise(mechanism: Market) -> PureDP | ZCDP:
    """The promise about all releases of a run together, before any truncation: pure differential privacy, or zCDP if
    the noise is Gaussian.

    The promise follows from the parameters that the user sets, not from the division of the budget among the releases.
    """
    if mechanism.noise_law == "laplace":
        return PureDP(mechanism.epsilon)
    return ZCDP.within(mechanism.epsilon, mechanism.delta - mechanism.overflow_delta)


def unreleased_parts(mechanism: Market) -> dict[str, UnreleasedIntermediate]:
    """The kinds of noise draws that are only compared with a number, so that nothing but the result of the comparison
    is published. The keys are the first words of the names of the draws.
    """
    # Of a single round nothing is asked.
    if isinstance(mechanism, PMatch | PAlloc) and mechanism.halting == "sparse_vector" and mechanism.halting_plan.costs:
        return {"halting": SPARSE_VECTOR}
    return {}


@dataclass(frozen=True, kw_only=True)
class HistoryLoss:
    """The privacy loss of one recorded run, between two rows of one bidder.

    Args:
        log_ratio: ln(density under the bidder's row / density under the other row), in nats. The log ratio is infinite
            if a number that depends on the row was released without noise.
        most: largest loss over all values that the noise could take around the same true sums: an epsilon, or a rho if
            the noise is Gaussian.
        promised: promised upper bound on `most`, in the same parameter as `most`.
        moved: mapping from the first word of the names of noise draws to the l1 distance between the true sums of these
            draws under the two rows.
    """

    log_ratio: float
    most: float
    promised: float
    moved: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """One recorded run, with all draws of its noise.

    Args:
        mechanism: mechanism that ran.
        values: valuations of all bidders.
        billboard: billboard (public record) of the run.
        draws: noise draws in the order in which the run made them.
        outcome: outcome of the run, with the private shares of all bidders.
    """

    mechanism: Market
    values: Any
    billboard: Any
    draws: tuple[Draw, ...]
    outcome: Any = None

    @property
    def in_blocks(self) -> bool:
        """Whether the noise was drawn around zero, in blocks of many releases, and added by the run itself."""
        return any(_bare(draw) for draw in self.draws)

    def parts(self, index: int) -> Parts:
        """The terms that a bidder adds to the true sums of each noise draw, from their record in the run.

        Args:
            index: bidder's position in the public order of bidders, from 0.
        """
        return self._parts(index, record_of(self.mechanism, self.values, index))

    def _parts(self, index: int, record: Any) -> Parts:
        return own_parts(self.mechanism, record, index, self.billboard, self.draws)

    @cached_property
    def unexplained(self) -> int:
        """The l1 distance between the recorded numbers of the run and the numbers that follow from the bidders' own
        records and the noise.

        Recorded true sums are compared with the sums of all bidders' terms. Published counts are compared with the
        counts that follow from these terms and the drawn noise. The distance is 0 if records and noise explain all sums
        and counts. Noise drawn around zero comes without true sums, and then only the counts show whether the noise was
        added.
        """
        total: dict[Any, Any] = {}
        for index in range(self.mechanism.people):
            for stream, part in self.parts(index).items():
                total[stream] = total.get(stream, 0) + part
        around = {draw.stream: np.array([int(c) for c in draw.center]) for draw in self.draws
                  if draw.law not in _PUBLIC and draw.stream[-1] != "threshold" and not _bare(draw)}
        below = {draw.stream: getattr(self.mechanism, "halt_below", 0) for draw in self.draws
                 if "answer" in draw.stream}
        wrong = sum(int(np.abs(center - below.get(stream, 0) - total.get(stream, 0)).sum())
                    for stream, center in around.items())
        return wrong + self._miscounted(total)

    def _miscounted(self, total: Mapping[Any, Any]) -> int:
        """The l1 distance between the published counts and the counts that follow from the sums of own parts and the
        drawn noise.
        """
        mechanism, board = self.mechanism, self.billboard
        if not isinstance(mechanism, PMatch | PAlloc) or not board.rounds:
            return 0
        counter, drawn = mechanism.counter, {draw.stream: draw for draw in self.draws}
        released = np.zeros((counter.counters, counter.horizon), dtype=np.int64)
        for stream, parts in total.items():
            if stream[0] != "counts":
                continue
            at, sums = int(stream[1]) - 1, np.asarray(parts).reshape(counter.counters, -1)
            draw = drawn.get(stream)
            if draw is not None and _bare(draw):
                at = int(stream[1]) * mechanism.slots + int(stream[2])
            noise = 0 if draw is None else _units(draw, counter.grid) - (0 if _bare(draw) else sums << counter.grid)
            released[:, at : at + sums.shape[1]] = (sums << counter.grid) + noise
        counts = counter.count(np.zeros_like(released), released)[:, : board.steps]
        return int(np.abs(counts - board.counts(np.arange(1, board.steps + 1)).T).sum())

    def retold(self, index: int, other: Any, published: Callable[[Any, int], bytes]) -> bool:
        """Whether all other bidders see the same output if one bidder's record is replaced and all noisy releases stay
        the same.

        Args:
            index: bidder's position in the public order of bidders, from 0.
            other: bidder's record in the neighbouring data set; None for no record.
            published: function from an outcome and the bidder's position to the bytes that all other bidders see.
        """
        before, after = self.parts(index), self._parts(index, other)
        # Noise alone is less by what the bidder's other record adds, so that the released sums stay as they are.
        answers = [replace(draw, value=draw.value - np.reshape(
            after[draw.stream] - before[draw.stream], draw.value.shape)) if _bare(draw) else draw
            for draw in self.draws]
        values, forced = self.values.copy(), ForcedNoise(answers)
        values[index] = 0.0 if other is None else other
        outcome = self.mechanism.run(values, forced)
        return [draw.request for draw in forced.draws] == [draw.request for draw in self.draws] and \
            published(outcome, index) == published(self.outcome, index)

    def loss(self, index: int, other: Any) -> HistoryLoss:
        """The privacy loss of the run, between one bidder's record and another record of the same bidder.

        Args:
            index: bidder's position in the public order of bidders, from 0.
            other: bidder's record in the neighbouring data set; None for no record.
        """
        before, after = self.parts(index), self._parts(index, other)
        drawn = {draw.stream for draw in self.draws}
        bare, moved, pairs = False, dict[str, int](), list[Pair]()
        for stream in {**before, **after}:
            change = after[stream] - before[stream]
            moved[str(stream[0])] = moved.get(str(stream[0]), 0) + int(np.abs(change).sum())
            bare = bare or (stream not in drawn and bool(change.any()))
        for draw in self.draws:
            if draw.law in _PUBLIC:
                continue
            change = after.get(draw.stream, np.zeros(1, dtype=np.int64)) - before.get(draw.stream, 0)
            # Noise that was drawn around zeros is moved by as much, the other way.
            shifted = tuple(c + int(d) for c, d in zip(draw.center, np.broadcast_to(change, len(draw.center)),
                                                       strict=True))
            pairs.append((draw, replace(draw, center=shifted)))
        claim, unreleased = promise(self.mechanism), unreleased_parts(self.mechanism)
        if bare:
            return HistoryLoss(log_ratio=math.inf, most=math.inf, promised=promised_parameter(claim), moved=moved)
        return HistoryLoss(log_ratio=_log_ratio(pairs, unreleased), most=history_loss(pairs, claim, unreleased),
                           promised=promised_parameter(claim), moved=moved)


def recorded(mechanism: Market, values: Any, noise: Noise) -> History:
    """Run a mechanism once, and record all draws of its noise.

    Args:
        mechanism: mechanism to run.
        values: valuations of all bidders, in a form that the mechanism's `run` accepts.
        noise: source of the noise, such as `Noise.simulated` or `Noise.replayed`.
    """
    listening = RecordingNoise(noise)
    outcome = mechanism.run(values, listening)
    return History(mechanism=mechanism, values=values, billboard=outcome.billboard, draws=tuple(listening.draws),
                   outcome=outcome)


def exact_loss(mechanism: Market, values: Any, index: int, other: Any, seed: int) -> float:
    """The exact privacy loss |ln ratio| of everything that one simulated run released, between two records of one
    bidder.

    Args:
        mechanism: `PMatch`, `PAlloc`, `SinkhornMatch`, or another mechanism with a rule for `own_parts`.
        values: valuations of all bidders, in a form that the mechanism's `run` accepts.
        index: position, in the public order of bidders, of the bidder with the changed record, from 0.
        other: record of the same bidder in the neighbouring data set; None for no record. If neighbouring data sets
            differ in the presence of a bidder, one of the two records must be all zeros.
        seed: seed of the noise.

    Returns:
        The loss in nats. For a mechanism with pure privacy the loss is at most epsilon, whatever the seed.

    Raises:
        InvalidInput: a position that does not exist, or two records that are no neighbours.

    Example:
        >>> from confide.allocation import PMatch
        >>> auction = PMatch(people=8, goods=2, supply=7, epsilon=20.0, increment=0.5, bid_cap=1, rounds=1, batch=1,
        ...                  arity=2, reclear=0.0, reserve=0, certify_with=0.0)
        >>> exact_loss(auction, [[1, 0], *[[0, 0]] * 7], 0, [0, 1], seed=1) <= 20.0
        True
    """
    if not 0 <= index < mechanism.people:
        raise InvalidInput("index", f"{index} is not a place", f"must be in 0..{mechanism.people - 1}")
    if mechanism.neighbours == "add_or_remove" and not (
            _empty(other) or _empty(record_of(mechanism, values, index))):
        raise InvalidInput("other", "is another record", "neighbours differ by presence, so one of the two rows must "
                                                         "be zeros")
    return abs(recorded(mechanism, values, Noise.simulated(seed)).loss(index, other).log_ratio)


def _empty(record: Any) -> bool:
    """Whether a record is missing or all zeros."""
    return record is None or (not isinstance(record, dict) and not np.any(np.asarray(record, dtype=object)))


def _bare(draw: Draw) -> bool:
    """Whether a draw is a block of noise around zero, which an auction of many releases adds itself."""
    return draw.stream[0] == "counts" and len(draw.stream) == 3


def _units(draw: Draw, grid: int) -> NDArray[np.int64]:
    """Value of a draw in whole units of 2^-grid, shape (k, steps)."""
    value = np.asarray(draw.value)
    rows = value.reshape(draw.shape if len(draw.shape) == 2 else (-1, 1))
    return np.ldexp(rows.astype(np.float64), grid).astype(np.int64) if grid else rows.astype(np.int64)


def _log_ratio(pairs: list[Pair], unreleased: Mapping[str, UnreleasedIntermediate]) -> float:
    """The log ratio of the densities of all released draws. For draws that are not released, the log ratio uses the
    probabilities of the published comparisons.
    """
    terms: list[float] = []
    for one, other in pairs:
        if one.stream[0] in unreleased:
            continue
        answers = np.asarray(one.value, dtype=np.float64).reshape(-1)
        first, second = (answers - np.array([float(c) for c in draw.center]) for draw in (one, other))
        if one.law.endswith("laplace"):
            terms += ((np.abs(second) - np.abs(first)) / float(one.scale)).tolist()
        else:
            terms += ((second**2 - first**2) / (2.0 * float(one.scale) ** 2)).tolist()
    inside = [pair for pair in pairs if pair[0].stream[0] in unreleased]
    if len(inside) > 1:
        level, asked = inside[0], inside[1:]
        tops = np.array([one.value[0] > level[0].value[0] for one, _ in asked])
        laws = [LaplaceLaw(float(one.scale), lattice=True) for one in (level[0], asked[0][0])]
        logs = [log_pattern(np.array([float(pair[side].center[0] - level[side].center[0]) for pair in asked]), tops,
                            *laws) for side in (0, 1)]
        terms.append(logs[0] - logs[1])
    return math.fsum(terms)

"""The exact privacy loss of a run: what was released, had one bidder's row been another, along the same record.

Given the record, every true sum is a function of the data, and only one bidder's part of it changes. So the log ratio
of the densities of everything that was released is a finite sum, without sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.audited_parts import Parts, own_parts, record_of
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.audit import SPARSE_VECTOR, UnreleasedIntermediate
from confide.audit.history_loss import Pair, history_loss, promised_parameter
from confide.contract.errors import InvalidInput
from confide.privacy.halting_law import LaplaceLaw, log_pattern
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise

__all__ = ["History", "HistoryLoss", "exact_loss", "promise", "recorded", "unreleased_parts"]

_PUBLIC = ("channel", "selection", "split")  # coins that protect nobody


def promise(mechanism: Market) -> PureDP | ZCDP:
    """What all releases of a run together may cost, before anything is cut off: pure, or zCDP for Gaussian noise.

    It follows from the parameters that are named, not from what a run divides among its releases.
    """
    if mechanism.noise_law == "laplace":
        return PureDP(mechanism.epsilon)
    return ZCDP.within(mechanism.epsilon, mechanism.delta - mechanism.overflow_delta)


def unreleased_parts(mechanism: Market) -> dict[str, UnreleasedIntermediate]:
    """Draws of which only a comparison is published."""
    # Of a single round nothing is asked.
    if isinstance(mechanism, PMatch | PAlloc) and mechanism.halting == "sparse_vector" and mechanism.halting_plan.costs:
        return {"halting": SPARSE_VECTOR}
    return {}


@dataclass(frozen=True, kw_only=True)
class HistoryLoss:
    """What one history tells between two rows of one bidder.

    Args:
        log_ratio: ln(density under her row / density under the other), in nats; infinite where something that she
            changes was released without noise.
        most: the largest loss that any answers with these true sums could have, in the parameter of `promise`.
        promised: that parameter.
        moved: first word of the draws' names -> l1 distance of their true sums.
    """

    log_ratio: float
    most: float
    promised: float
    moved: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """A run, with everything that was asked of its noise.

    Args:
        mechanism: that ran.
        values: everybody's.
        billboard: that it published.
        draws: in the order in which they were asked for.
        outcome: all that came of it.
    """

    mechanism: Market
    values: Any
    billboard: Any
    draws: tuple[Draw, ...]
    outcome: Any = None

    @property
    def in_blocks(self) -> bool:
        """Whether noise was drawn around nothing, many releases at a time, and added by the run itself."""
        return any(_bare(draw) for draw in self.draws)

    def parts(self, index: int) -> Parts:
        """What a bidder adds to each draw.

        Args:
            index: her place.
        """
        return self._parts(index, record_of(self.mechanism, self.values, index))

    def _parts(self, index: int, record: Any) -> Parts:
        return own_parts(self.mechanism, record, index, self.billboard, self.draws)

    @cached_property
    def unexplained(self) -> int:
        """By how much true sums differ from the sum of everybody's own parts, in l1, and published counts from those
        of these parts and the noise that was drawn; 0 where the record, own rows and noise say all. Noise that was
        drawn around nothing has no true sums beside it: there the counts alone tell whether it was added.
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
        """By how much published counts differ from those that follow from sums of own parts and the drawn noise."""
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
        """Whether others see the same where her record was another, and everything that was released was the same.

        Args:
            index: her place.
            other: her record in the neighbouring world; None for none.
            published: what others see of an outcome, and her place -> bytes.
        """
        before, after = self.parts(index), self._parts(index, other)
        # Noise alone is less by what her other record adds, so that the released sums stay as they are.
        answers = [replace(draw, value=draw.value - np.reshape(
            after[draw.stream] - before[draw.stream], draw.value.shape)) if _bare(draw) else draw
            for draw in self.draws]
        values, forced = self.values.copy(), ForcedNoise(answers)
        values[index] = 0.0 if other is None else other
        outcome = self.mechanism.run(values, forced)
        return [draw.request for draw in forced.draws] == [draw.request for draw in self.draws] and \
            published(outcome, index) == published(self.outcome, index)

    def loss(self, index: int, other: Any) -> HistoryLoss:
        """Between a bidder's record and another one of hers.

        Args:
            index: her place.
            other: her record in the neighbouring world; None for none.
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
    """A run whose noise is written down.

    Args:
        mechanism: to run.
        values: everybody's, as it takes them.
        noise: `Noise.simulated`, `Noise.replayed`, or any other.
    """
    listening = RecordingNoise(noise)
    outcome = mechanism.run(values, listening)
    return History(mechanism=mechanism, values=values, billboard=outcome.billboard, draws=tuple(listening.draws),
                   outcome=outcome)


def exact_loss(mechanism: Market, values: Any, index: int, other: Any, seed: int) -> float:
    """|ln ratio| of everything that one simulated run released, had a bidder's record been another.

    Args:
        mechanism: `PMatch`, `PAlloc`, `SinkhornMatch`, or what else has `own_parts`.
        values: everybody's, as it takes them.
        index: whose record changes, from 0.
        other: what it is in the neighbouring world; None for none. Where neighbours differ by presence, one of the two
            must be worth nothing.
        seed: of the noise.

    Returns:
        In nats. Of pure mechanisms it is at most epsilon, whatever the seed.

    Raises:
        InvalidInput: no such place, or two records that are no neighbours.

    Example:
        >>> from confide.allocation import PMatch
        >>> auction = PMatch(people=8, goods=2, supply=7, epsilon=20.0, increment=0.5, bid_cap=1, rounds=1, batch=1,
        ...                  arity=2, reclear=0.0, reserve=0, certify_with=0.0)
        >>> exact_loss(auction, [[1, 0], *[[0, 0]] * 7], 0, [0, 1], seed=1) <= 20.0
        True
    """
    if not 0 <= index < mechanism.people:
        raise InvalidInput("index", f"{index} is no place", f"must be in 0..{mechanism.people - 1}")
    if mechanism.neighbours == "add_or_remove" and not (
            _empty(other) or _empty(record_of(mechanism, values, index))):
        raise InvalidInput("other", "is another record", "neighbours differ by presence: one of the two is zeros")
    return abs(recorded(mechanism, values, Noise.simulated(seed)).loss(index, other).log_ratio)


def _empty(record: Any) -> bool:
    """Whether it is no record, or one of zeros."""
    return record is None or (not isinstance(record, dict) and not np.any(np.asarray(record, dtype=object)))


def _bare(draw: Draw) -> bool:
    """Whether it is noise alone, that an auction of many steps adds itself."""
    return draw.stream[0] == "counts" and len(draw.stream) == 3


def _units(draw: Draw, grid: int) -> NDArray[np.int64]:
    """(k, steps) its answer in whole units of 2^-grid."""
    value = np.asarray(draw.value)
    rows = value.reshape(draw.shape if len(draw.shape) == 2 else (-1, 1))
    return np.ldexp(rows.astype(np.float64), grid).astype(np.int64) if grid else rows.astype(np.int64)


def _log_ratio(pairs: list[Pair], unreleased: Mapping[str, UnreleasedIntermediate]) -> float:
    """Of the densities of what was released; of hidden draws, of the probabilities of what was said."""
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

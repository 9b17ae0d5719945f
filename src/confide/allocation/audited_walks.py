"""A mechanism's own run on tiny neighbours, along one and the same record: what others see, and what it tells.

Three ways, of which none samples: the run on a neighbour with the same noisy answers must publish the same to all
others; the loss along that record, from the true sums of both runs, must be within what each part is charged; and the
same loss from her own walk along the billboard, which needs no second run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from confide.allocation.audited_faults import DropsBlocks, NaturalLevels, QuarterOfTheScale, faults
from confide.allocation.audited_losses import promise, recorded, unreleased_parts
from confide.allocation.audited_markets import (
    HISTORIES,
    PEOPLE,
    charges,
    counted,
    histories,
    in_blocks,
    neighbours,
    published,
    steps,
)
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.audit import AuditRow, Concern, DampedNoise, Examined, Transcripts, exceeds, inject_fault, told_run
from confide.audit.figures import parameter_unit
from confide.audit.history_loss import promised_parameter, spent
from confide.audit.parts import HALF
from confide.privacy.events import PureEvent
from confide.privacy.noise import Noise, RecordingNoise

__all__ = ["CRAFTED", "asked", "asked_rows", "blocks", "counted_rows", "crafted", "crafted_row", "jointly",
           "walked_row"]

_JOINTLY = "privacy: everything that others see, jointly"
_FEW = f"{PEOPLE} made-up bidders"
_PAIRS = 64  # all there are: each part of the noise attains its share on another one
_SHOWN = 3  # neighbour steps that show noise that is far too small, or none

CRAFTED = PMatch(people=8, goods=2, supply=7, epsilon=20.0, increment=0.5, bid_cap=1, rounds=1, batch=1, arity=2,
                 reclear=0.0, reserve=0, certify_with=0.0)
"""An auction whose loss is attained exactly: eight slots, one round, a binary tree of four levels."""


def jointly(mechanism: Market, seed: int = 0) -> Transcripts:
    """The run of a tiny market on its neighbours: each part of its noise, and everything, against what is charged for
    it, and everything against what the market promises.

    Args:
        mechanism: a tiny, sound one.
        seed: of valuations and histories.

    Example:
        >>> for row in jointly(CRAFTED).rows():
        ...     print(row.promise, row.verdict.value)
        privacy: counts kept
        privacy: everything that others see, jointly kept
    """
    claims = charges(mechanism)
    return Transcripts(
        named=_JOINTLY, run=partial(told_run, mechanism), seed=seed,
        pairs=partial(neighbours, mechanism, seed), claims=claims,
        names={part: f"privacy: {part}" for part in claims if part},
        promises=[each for each in mechanism.guarantees().privacy if each.neighbours is mechanism.relation],
        unreleased=unreleased_parts(mechanism), source=histories(seed), histories=HISTORIES, other_answers=1,
        hardest=_PAIRS, among=_FEW,
        faults={says: partial(told_run, inject_fault(mechanism, code)) for says, code in faults(mechanism).items()})


def asked(mechanism: Market, seed: int = 0) -> Examined:
    """What a test that only says which side of a threshold a number is on costs by the noise that it asks for; and the
    same with half of that noise.

    Args:
        mechanism: a tiny one.
        seed: of valuations and noise.
    """
    tested = unreleased_parts(mechanism).keys() & charges(mechanism).keys()
    return Examined(named="privacy: halting, by the noise that it asks for", sound=lambda noise: noise,
                    rows=lambda noise: [row.smaller(_FEW) for row in asked_rows(mechanism, seed, noise)],
                    faults={"half of its noise": lambda noise: DampedNoise(noise, HALF)} if tested else {})


def asked_rows(
    mechanism: Market, seed: int = 0, noise: Callable[[Noise], Noise] = lambda sound: sound
) -> list[AuditRow]:
    """What a test that only says which side of a threshold a number is on costs by the noise that it asks for, against
    what is charged for it; none without one.

    Among eight bidders no number is so far on one side that a single one makes the whole difference. Among many it can,
    and then the loss is that of the scales: 1/b of the threshold, and 2/b' of an answer.

    Args:
        mechanism: a tiny one.
        seed: of valuations and noise.
        noise: what the run's is replaced by.

    Source: spec query_release A3.
    """
    rows = []
    for part in unreleased_parts(mechanism).keys() & charges(mechanism).keys():
        heard, claim = RecordingNoise(histories(seed)(0)), charges(mechanism)[part]
        mechanism.run(next(steps(mechanism, seed)).values, noise(heard))
        inside = [draw for draw in heard.draws if draw.stream[0] == part]
        level = min(float(draw.scale) for draw in inside if draw.stream[-1] == "threshold")
        answer = min(float(draw.scale) for draw in inside if draw.stream[-1] != "threshold")
        cost = spent([PureEvent(epsilon=1.0 / level + 2.0 / answer, neighbours=mechanism.relation)], claim)
        rows.append(AuditRow.of_loss(
            f"privacy: {part}, by the noise that it asks for", claim, promised_parameter(claim), cost,
            f"one run: a threshold with noise of scale {level:g}, each answer of {answer:g}",
            flagged=exceeds(cost, promised_parameter(claim))))
    return rows


def counted_rows(mechanism: Market, seed: int = 0) -> list[AuditRow]:
    """Both walks with bidders who count goods, where the campaign's do.

    Args:
        mechanism: of a campaign.
        seed: of valuations and histories.
    """
    own = counted(mechanism)
    if own is None:
        return []
    whole = replace(jointly(own, seed), claims={"": charges(own)[""]})
    return [replace(row, promise=f"{row.promise}, where goods are counted").smaller(_FEW)
            for row in (*whole.rows(), walked_row(own, seed))]


def walked_row(mechanism: Market, seed: int = 0, runs: int = HISTORIES, pairs: int | None = None) -> AuditRow:
    """The loss of its runs from each bidder's own walk along the billboard, against the promise.

    Args:
        mechanism: a tiny one; or one that draws its noise in blocks, of which its run on the neighbour is held to the
            same releases besides.
        seed: of valuations and histories.
        runs: of each market.
        pairs: how many neighbour steps are walked; None for all.
    """
    worst, realised, replays = 0.0, 0.0, 0
    blocks = False
    for number, step in enumerate(islice(steps(mechanism, seed), pairs)):
        for history in range(runs):
            run = recorded(mechanism, step.values, histories(seed)(number * runs + history))
            found, blocks = run.loss(step.index, step.other), run.in_blocks
            told = bool(run.unexplained) or (blocks and not run.retold(step.index, step.other, published))
            worst, replays = max(worst, np.inf if told else found.most), replays + 1
            realised = max(realised, abs(found.log_ratio))
    claim = promise(mechanism)
    evidence = (f"{replays} runs, a neighbour walked along each billboard; all sums, and counts with their noise, are "
                f"those of own walks; the largest log ratio was {realised:.3g}")
    where = ", noise drawn in blocks" if blocks else ""
    return AuditRow.at_most(f"privacy: her own walk along the billboard{where}", promised_parameter(claim),
                            float(worst), evidence, unit=parameter_unit(claim), concern=Concern.PRIVACY)


# ---- where noise is drawn in blocks


def blocks(mechanism: Market, seed: int = 0) -> list[Examined]:
    """Her own walk once more, where the mechanism draws its noise as campaigns with many releases do; and the same
    where that noise is not added, or too small. None where it never draws any so.

    Args:
        mechanism: a tiny one.
        seed: of valuations and histories.
    """
    if not _has_blocks(mechanism, seed):
        return []
    bugs: dict[str, type[Any]] = {"noise that is drawn in blocks and never added": DropsBlocks}
    # Who counts goods moves half of what there is noise for: both worlds bid on the same.
    if not isinstance(mechanism, PAlloc) or not mechanism.valuation.repeats:
        bugs["a quarter of the scale"] = QuarterOfTheScale
    return [Examined(
        named="privacy, noise in blocks", sound=(mechanism, None),
        rows=lambda it: [walked_row(in_blocks(it[0]), seed, pairs=it[1]).smaller(_FEW)],
        faults={says: (inject_fault(mechanism, code), _SHOWN) for says, code in bugs.items()})]


def _has_blocks(mechanism: Market, seed: int) -> bool:
    """Whether it can draw noise in blocks; auctions of programs do not."""
    if not isinstance(mechanism, PMatch | PAlloc):
        return False
    step = next(iter(steps(mechanism, seed)))
    return recorded(in_blocks(mechanism), step.values, Noise.simulated(seed)).in_blocks


# ---- the pair that attains it


def crafted_row(mechanism: Market) -> AuditRow:
    """The log ratio of a record that attains the promise: one bidder wants good 0 or good 1, nobody else wants any, and
    noise is at least 0 on good 0 and at most 0 on good 1.

    Args:
        mechanism: `CRAFTED`, or one that was broken.

    Example:
        >>> crafted_row(CRAFTED).measured
        20.0
    """
    values = np.zeros((8, 2))
    values[0, 0] = 1.0
    noise = Noise.replayed({("counts", step): [1, -1] for step in range(1, 9)})
    found = recorded(mechanism, values, noise).loss(0, [0.0, 1.0])
    promised = "privacy: an auction of eight, along a record that attains its epsilon"
    return AuditRow.at_most(promised, mechanism.epsilon, abs(found.log_ratio),
                            f"nobody but one bidder wants anything; true sums {found.moved['counts']} apart in l1",
                            unit="nats", concern=Concern.PRIVACY)


def crafted() -> Examined:
    """The same record with less noise: 80, and 38.5 in place of 20."""
    bugs = (("a quarter of the scale", QuarterOfTheScale), ("levels by the natural logarithm", NaturalLevels))
    return Examined(named="privacy, an auction of eight", sound=CRAFTED,
                    rows=lambda it: [crafted_row(it).smaller(_FEW)],
                    faults={says: inject_fault(CRAFTED, code) for says, code in bugs})

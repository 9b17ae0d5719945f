"""A mechanism's own run on tiny neighbours, along one and the same record: what others see, and what it tells.

Three ways, of which none samples: the run on a neighbour with the same noisy answers must publish the same to all
others; the loss along that record, from the true sums of both runs, must be within what each part is charged; and the
same loss from her own walk along the billboard, which needs no second run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from confide.allocation.audit.loss import promise, recorded, unreleased_parts
from confide.allocation.audit.mutants import DropsBlocks, Fault, NaturalLevels, QuarterOfTheScale, faults
from confide.allocation.audit.tiny_markets import (
    HISTORIES,
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
from confide.audit import (
    AuditRow,
    Concern,
    Control,
    DampedNoise,
    Mutant,
    TranscriptAudit,
    charge_and_rest,
    controls,
    exceeds,
    fixed_transcript_audit,
    inject_fault,
    part_controls,
    told_run,
)
from confide.audit.figures import parameter_unit
from confide.audit.history_loss import promised_parameter, spent
from confide.audit.parts import HALF
from confide.privacy.events import PureEvent
from confide.privacy.noise import Noise, RecordingNoise

__all__ = ["CRAFTED", "asked_rows", "blocks_controls", "blocks_rows", "counted_rows", "crafted_controls", "crafted_row",
           "transcript_controls", "transcript_rows", "walked", "walked_row"]

_JOINTLY = "everything that others see, jointly"

CRAFTED = PMatch(people=8, goods=2, supply=7, epsilon=20.0, increment=0.5, bid_cap=1, rounds=1, batch=1, arity=2,
                 reclear=0.0, reserve=0, certify_with=0.0)
"""An auction whose loss is attained exactly: eight slots, one round, a binary tree of four levels."""


def walked(
    mechanism: Market, seed: int, *, sound: Market | None = None, fault: Fault | None = None, pairs: int | None = None
) -> dict[str, TranscriptAudit]:
    """Each part of a mechanism's noise, and everything, against what is charged for it; and everything against each
    promise of the mechanism's own that names another loss.

    Args:
        mechanism: a tiny one, sound or broken.
        seed: of valuations and histories.
        sound: whose charges hold, where the mechanism is broken.
        fault: whose noise is used.
        pairs: how many neighbour steps are walked; None for all.
    """

    def run(data: Any, noise: Noise) -> Any:
        return told_run(mechanism, data, noise if fault is None or fault.noise is None else fault.noise(noise))

    own = sound or mechanism
    parts = charges(own)
    everything, others = charge_and_rest(
        parts[""], (each for each in own.guarantees().privacy if each.neighbours is own.relation))
    return fixed_transcript_audit(run, islice(neighbours(mechanism, seed), pairs), {**parts, "": everything},
                                  histories(seed), unreleased_parts(own), HISTORIES, others, other_answers=1)


def transcript_rows(mechanism: Market, seed: int = 0) -> list[AuditRow]:
    """What is promised of its privacy, by its own run on neighbours.

    Args:
        mechanism: a tiny one.
        seed: of valuations and histories.

    Example:
        >>> for row in transcript_rows(CRAFTED):
        ...     print(row.promise, row.verdict.value)
        privacy: everything that others see, jointly kept
        privacy: counts kept
    """
    return [*(audit.row(f"privacy: {_JOINTLY if audit.promise is not None or not part else part}")
              for part, audit in walked(mechanism, seed).items()), *asked_rows(mechanism, seed)]


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
    row = walked_row(own, seed)
    return [walked(own, seed)[""].row("privacy: everything that others see, where goods are counted"),
            replace(row, promise=f"{row.promise}, where goods are counted")]


def transcript_controls(mechanism: Market, seed: int = 0) -> list[Control]:
    """The same walk over the mechanism with each planted fault that it can have: each must be flagged.

    Args:
        mechanism: a tiny one.
        seed: of valuations and histories.
    """

    def attack(fault: Fault) -> TranscriptAudit:
        bent = mechanism if fault.code is None else inject_fault(mechanism, fault.code)
        found = walked(bent, seed, sound=mechanism, fault=fault, pairs=fault.pairs)
        return next((audit for audit in found.values() if audit.flagged), found[""])

    def damped(noise: Callable[[Noise], Noise]) -> dict[str, TranscriptAudit]:
        return walked(mechanism, seed, fault=Fault("", noise=noise))

    planted = [Mutant("privacy, its own run", fault.says, fault) for fault in faults(mechanism)]
    return [*controls(planted, attack), *part_controls(walked(mechanism, seed), damped, "privacy: {}".format),
            *(Control(row.promise, "half of its noise", row.flagged)
              for row in asked_rows(mechanism, seed, lambda noise: DampedNoise(noise, HALF)))]


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


def blocks_rows(mechanism: Market, seed: int = 0) -> list[AuditRow]:
    """The own walk once more, where the mechanism draws its noise as campaigns with many releases do; none where it
    never does.

    Args:
        mechanism: a tiny one.
        seed: of valuations and histories.
    """
    return [walked_row(in_blocks(mechanism), seed)] if _has_blocks(mechanism, seed) else []


def blocks_controls(mechanism: Market, seed: int = 0) -> list[Control]:
    """The same walk where the noise is drawn and not added, or too small: each must be flagged.

    Args:
        mechanism: a tiny one.
        seed: of valuations and histories.
    """
    if not _has_blocks(mechanism, seed):
        return []
    bugs: list[tuple[str, type[Any]]] = [("noise that is drawn in blocks and never added", DropsBlocks)]
    # Who counts goods moves half of what there is noise for: both worlds bid on the same.
    if not isinstance(mechanism, PAlloc) or not mechanism.valuation.repeats:
        bugs.append(("a quarter of the scale", QuarterOfTheScale))
    return [Control("privacy, noise in blocks", bug,
                    walked_row(in_blocks(inject_fault(mechanism, code)), seed, pairs=3).flagged) for bug, code in bugs]


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


def crafted_controls() -> list[Control]:
    """The same record with less noise: 80, and 38.5 in place of 20."""
    bugs = (("a quarter of the scale", QuarterOfTheScale), ("levels by the natural logarithm", NaturalLevels))
    return [Control("privacy, an auction of eight", bug, crafted_row(inject_fault(CRAFTED, code)).flagged)
            for bug, code in bugs]

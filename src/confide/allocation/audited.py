"""Audits of a market of goods: worst-case neighbouring data sets, the noise of each kind of release, and injected
faults.

No audit uses the valuations of real bidders. Privacy audits run on markets of eight synthetic bidders, for which the
privacy loss is exact. Audits of the assignment, and of the claims about the assignment, run on as many synthetic
bidders as the campaign has.

One privacy audit runs a market at the campaign's own size. Audits of tiny markets show the privacy loss that a rule of
the market causes, but they miss effects that occur only among many bidders. The audit at full size keeps the campaign's
noise, its numbers of bidders and rounds, and as many goods as fit into a transcript of tolerable length. Only very
large markets are scaled down. The audit records one run. For some of the bidders, the audit replays the billboard with
another row of values, or with an empty row, and computes the exact loss along the transcript. The ratio of the largest
loss to the promised loss shows how much smaller the noise could be before the audit flags the market.

Tiny markets, of eight bidders, are audited on neighbouring data sets along one common transcript, in three ways. None
of the three ways uses sampling:

- The run on a neighbouring data set with the same noisy answers must publish the same output to all other bidders.
- The loss along the transcript is computed from the true sums of both runs. For each kind of noise draw, this loss must
  be within the charge for these draws.
- The loss along the transcript is also computed without a second run, by a replay of the billboard with each of the
  changed bidder's two rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.allocation.audited_behaviour import FALSE_ALARM, behaviour, made_up, run_of, scaled
from confide.allocation.audited_faults import (
    CountsTwice,
    DropsBlocks,
    NaturalLevels,
    QuarterOfTheScale,
    TwiceTheBudget,
    faults,
)
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
    tiny,
)
from confide.allocation.audited_reach import (
    Counted,
    auction_reach,
    bids_and_reports,
    bundle_reach,
    staggered_auction,
)
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.audit import (
    Audited,
    AuditRow,
    Concern,
    DampedNoise,
    Examined,
    FullSize,
    Laws,
    Loss,
    Transcripts,
    Verdict,
    charge_rows,
    exceeds,
    inject_fault,
    observed,
    run_with_steps,
)
from confide.audit.comparing import level_of, parameter_unit
from confide.audit.faulty_noise import HALF
from confide.audit.history_loss import promised_parameter, spent
from confide.contract.guarantees import Audience, Privacy
from confide.contract.mechanism import NoiseSource
from confide.privacy.accounting import Accountant
from confide.privacy.events import PureEvent, ZCDPEvent
from confide.privacy.losses import ZCDP, ApproxDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.base import as_noise

__all__ = [
    "CRAFTED",
    "asked",
    "asked_rows",
    "blocks",
    "counted_rows",
    "crafted",
    "crafted_row",
    "full_size",
    "full_size_row",
    "jointly",
    "matching",
    "reach_rows",
    "releases",
    "transcript_row",
]

# ---- audited full size

if TYPE_CHECKING:  # what a fault is put on top of
    from confide.allocation.market import Market as _Market
else:
    _Market = object


_PROMISE = "privacy: at the campaign's own size, the disclosure of a run to others about single bidders"
_BIDDERS = 12
_GOODS = 8  # at least, where there are so many
_NUMBERS = 100_000  # true sums of one record at most
_INJECTED = (0.05, 0.002)  # of the noise: each is one more run


def full_size(mechanism: Market, seed: int = 0) -> FullSize:
    """Audit of one run at the campaign's own size. The audit must flag the same run with too little noise.

    Args:
        mechanism: mechanism of the campaign.
        seed: seed of the synthetic bidders and of the noise.
    """
    return FullSize(sound=mechanism, rows=lambda it: [full_size_row(it, seed)], factors=_INJECTED,
                    damped=lambda factor: inject_fault(mechanism, _drawn_at(factor)))


def full_size_row(mechanism: Market, seed: int = 0) -> AuditRow:
    """Compare the promise about everything that others see with the exact privacy loss of some bidders along one
    full-size run. The largest of these losses counts.

    Args:
        mechanism: mechanism of the campaign, sound or with an injected fault.
        seed: seed of the synthetic bidders and of the noise.

    Example:
        >>> from confide.allocation import SinkhornMatch
        >>> row = full_size_row(SinkhornMatch(people=600, goods=3, supply=150, epsilon=2.0))
        >>> row.verdict.value, row.promised, 0 < row.measured < 2, len(row.holds), row.among
        ('kept', 2.0, True, 1, '')
    """
    own = _bearable(scaled(mechanism))
    stated = _stated(own)
    if _numbers(own) > 4 * _NUMBERS:
        return AuditRow.at_most(_PROMISE, level_of(stated), 0.0,
                                "side channels were not checked, since a run makes "
                                f"{_numbers(own):,} sums",
                                vacuous=True, unit=parameter_unit(stated.loss), concern=Concern.PRIVACY)
    values = made_up(own, seed)
    run = recorded(own, values, Noise.simulated(seed))
    claim = promise(own)
    worst, most = 0.0, max(1, min(_BIDDERS, _NUMBERS // max(1, _numbers(own))))
    places = np.unique(np.linspace(0, own.people - 1, most).astype(np.int64)).tolist()
    for index in places:
        for other in _others(own, values, index):
            worst = max(worst, run.loss(index, other).most)
    share = worst / promised_parameter(claim)
    shown = share**0.5 if isinstance(claim, ZCDP) else share
    measured = _in_the_number_of(stated, own, worst)
    row = AuditRow.of_privacy(
        stated, measured,
        f"one run of {own.people:,} synthetic bidders and {own.goods:,} goods; {len(places)} bidders are replaced by "
        "neighbours; loss exact along the run's transcript",
                              named=_PROMISE, note=f"the audit would flag noise below {shown:.2g} of its "
                                                            "scale",
        flagged=exceeds(share, 1.0) or exceeds(measured, level_of(stated)))
    if not share:
        return replace(row, verdict=Verdict.VACUOUS)
    if own.people < mechanism.people:
        return row.smaller(f"{own.people:,} bidders")
    row = row.holding(_stated(mechanism))
    return row.smaller(f"{own.goods:,} of the goods" if own.goods < mechanism.goods else "")


def _stated(own: Market) -> Privacy:
    """The market's promise about everything that others see."""
    return next(each for each in own.guarantees().privacy if each.claimable and each.audience is Audience.OTHERS)


def _in_the_number_of(stated: Privacy, own: Market, loss: float) -> float:
    """Convert a loss from the parameter that charges the releases into the parameter of the promise. Truncation uses up
    a part of the promise's delta.
    """
    if not isinstance(stated.loss, Loss):
        return math.inf
    if not loss or math.isinf(loss):
        return loss
    event = ZCDPEvent(rho=loss, neighbours=own.relation) if isinstance(promise(own), ZCDP) else \
        PureEvent(epsilon=loss, neighbours=own.relation)
    known = stated.loss
    if isinstance(known, ApproxDP):
        known = replace(known, delta=known.delta - own.overflow_delta)
    return spent([event], known)


def _others(own: Market, values: Any, index: int) -> list[Any]:
    """Alternative rows of a bidder: the empty row and, where neighbours replace rows, also the bidder's own row in
    reverse order.
    """
    absent = np.zeros_like(values[index])
    return [absent] if own.neighbours == "add_or_remove" else [absent, values[index][::-1]]


def _numbers(own: Market) -> int:
    """Largest number of sums that a run of an auction releases. For mechanisms other than auctions the number is 0,
    because their runs release few sums.
    """
    return own.counter.counters * own.counter.horizon if isinstance(own, PMatch | PAlloc) else 0


def _bearable(own: Market) -> Market:
    """The market with fewer goods where the transcript would otherwise be very long."""
    numbers = _numbers(own)
    if numbers <= _NUMBERS:
        return own
    goods = max(_GOODS, own.largest_bundle if isinstance(own, PAlloc) else 1, own.goods * _NUMBERS // numbers)
    return own if goods >= own.goods else replace(own, goods=goods, supply=tuple(own.copies[:goods]))


def _drawn_at(factor: float) -> type[Any]:
    """Class of a market whose noise has its scale multiplied by a factor."""

    class Part(_Market):
        def run(self, data: Any, noise: NoiseSource, **rest: Any) -> Any:
            return super().run(data, DampedNoise(as_noise(noise), factor), **rest)  # type: ignore[safe-super]

    return Part


# ---- audited replays

_JOINTLY = "privacy: everything that others see, jointly"
_FEW = f"{PEOPLE} made-up bidders"
_PAIRS = 64  # all there are: each part of the noise attains its share on another one
_SHOWN = 3  # neighbour steps that show noise that is far too small, or none

CRAFTED = PMatch(people=8, goods=2, supply=7, epsilon=20.0, increment=0.5, bid_cap=1, rounds=1, batch=1, arity=2,
                 reclear=0.0, reserve=0, certify_with=0.0)
"""An auction in which some transcript attains the promised loss exactly. The auction has eight bidders, one round, and
a binary tree of four levels.
"""


def jointly(mechanism: Market, seed: int = 0) -> Transcripts:
    """Audit of a tiny market's runs on neighbouring data sets along common transcripts.

    The loss of each kind of noise draw is compared with the charge for these draws. The loss of all draws together is
    compared with the whole charge and with the promise of the market.

    Args:
        mechanism: market of eight bidders, from `tiny`, without a fault.
        seed: seed of the synthetic valuations and of the noise of the runs.

    Example:
        >>> for row in jointly(CRAFTED).rows():
        ...     print(row.promise, row.verdict.value)
        privacy: counts kept
        privacy: everything that others see, jointly kept
    """
    claims = charges(mechanism)
    return Transcripts(
        named=_JOINTLY, run=partial(run_with_steps, mechanism), seed=seed,
        pairs=partial(neighbours, mechanism, seed), claims=claims,
        names={part: f"privacy: {part}" for part in claims if part},
        promises=[each for each in mechanism.guarantees().privacy if each.neighbours is mechanism.relation],
        unreleased=unreleased_parts(mechanism), source=histories(seed), histories=HISTORIES, other_answers=1,
        hardest=_PAIRS, among=_FEW, events=mechanism.events,
        faults={says: partial(run_with_steps, inject_fault(mechanism, code))
                for says, code in faults(mechanism).items()})


def asked(mechanism: Market, seed: int = 0) -> Examined:
    """Audit of the halting test that publishes only whether a number is above a threshold. The privacy loss of the test
    is computed from the scales of its noise.

    The audit is repeated with half of the test's noise, as a mutant.

    Args:
        mechanism: market of eight bidders, from `tiny`.
        seed: seed of the synthetic valuations and of the noise.
    """
    tested = unreleased_parts(mechanism).keys() & charges(mechanism).keys()
    return Examined(named="privacy: halting, by the requested noise", sound=lambda noise: noise,
                    rows=lambda noise: [row.smaller(_FEW) for row in asked_rows(mechanism, seed, noise)],
                    faults={"half of its noise": lambda noise: DampedNoise(noise, HALF)} if tested else {})


def asked_rows(
    mechanism: Market, seed: int = 0, noise: Callable[[Noise], Noise] = lambda sound: sound
) -> list[AuditRow]:
    """Compare the charge for a threshold test with the privacy loss that follows from the scales of its noise. A
    mechanism without a threshold test gives no rows.

    A threshold test publishes only whether a number is above a threshold. Among eight bidders no number is so far from
    the threshold that a single answer carries the whole loss. Among many bidders a single answer can carry the whole
    loss. The privacy loss of the test follows from the noise scales alone:

        1/b + 2/b'

    where b is the noise scale of the threshold and b' that of an answer.

    Args:
        mechanism: market of eight bidders, from `tiny`.
        seed: seed of the synthetic valuations and of the noise.
        noise: function from the audit's noise source to the noise source of the run. By default the run uses the
            audit's noise source unchanged.

    Source: spec query_release A3.
    """
    rows = []
    for part in unreleased_parts(mechanism).keys() & charges(mechanism).keys():
        observed, claim = RecordingNoise(histories(seed)(0)), charges(mechanism)[part]
        mechanism.run(next(steps(mechanism, seed)).values, noise(observed))
        inside = [draw for draw in observed.draws if draw.stream[0] == part]
        level = min(float(draw.scale) for draw in inside if draw.stream[-1] == "threshold")
        answer = min(float(draw.scale) for draw in inside if draw.stream[-1] != "threshold")
        cost = spent([PureEvent(epsilon=1.0 / level + 2.0 / answer, neighbours=mechanism.relation)], claim)
        rows.append(AuditRow.of_loss(
            f"privacy: {part}, by the requested noise", claim, promised_parameter(claim), cost,
            f"one run: a threshold with noise of scale {level:g}, each answer of {answer:g}",
            flagged=exceeds(cost, promised_parameter(claim))))
    return rows


def counted_rows(mechanism: Market, seed: int = 0) -> list[AuditRow]:
    """Privacy audits for bidders who value only the number of their goods, in campaigns with such bidders. The audit
    rows are those of the audits `jointly` and `transcript_row`. Campaigns with other bidders give no rows.

    Args:
        mechanism: mechanism of the campaign.
        seed: seed of the synthetic valuations and of the noise of the runs.
    """
    own = counted(mechanism)
    if own is None:
        return []
    whole = replace(jointly(own, seed), claims={"": charges(own)[""]})
    return [replace(row, promise=f"{row.promise}, where goods are counted").smaller(_FEW)
            for row in (*whole.rows(), transcript_row(own, seed))]


def transcript_row(mechanism: Market, seed: int = 0, runs: int = HISTORIES, pairs: int | None = None) -> AuditRow:
    """Compare the promise with the exact privacy loss along recorded runs. The loss is computed by replays of the
    billboard with the changed bidder's two rows.

    If the noise is drawn in blocks, the audit also runs the market on the neighbouring data set with the same releases.
    This second run must publish the same output to all other bidders.

    Args:
        mechanism: market of eight bidders, from `tiny`.
        seed: seed of the synthetic valuations and of the noise of the runs.
        runs: number of runs on each pair of neighbouring data sets, each with other noise.
        pairs: number of pairs of neighbouring data sets on which the audit runs; None for all pairs.
    """
    worst, realised, replays = 0.0, 0.0, 0
    blocks = False
    for number, step in enumerate(islice(steps(mechanism, seed), pairs)):
        for history in range(runs):
            run = recorded(mechanism, step.values, histories(seed)(number * runs + history))
            found, blocks = run.loss(step.index, step.other), run.in_blocks
            reported = bool(run.unexplained) or (blocks and not run.retold(step.index, step.other, published))
            worst, replays = max(worst, np.inf if reported else found.most), replays + 1
            realised = max(realised, abs(found.log_ratio))
    claim = promise(mechanism)
    evidence = (f"{replays} runs, with the bids of a neighbour replayed on each billboard; all sums and noisy counts "
                f"equal those of the replays; the largest log ratio was {realised:.3g}")
    where = ", noise drawn in blocks" if blocks else ""
    return AuditRow.at_most(f"privacy: the bidder's own replay of the billboard{where}", promised_parameter(claim),
                            float(worst), evidence, unit=parameter_unit(claim), concern=Concern.PRIVACY)


# ---- where noise is drawn in blocks


def blocks(mechanism: Market, seed: int = 0) -> list[Examined]:
    """Audits of a mechanism that draws its noise in blocks, as campaigns with many releases do. The losses are computed
    by replays of the billboard with the changed bidder's two rows.

    One mutant never adds the noise that was drawn in blocks. Another mutant draws noise with a quarter of the scale.
    The list is empty for a mechanism that never draws its noise in blocks.

    Args:
        mechanism: market of eight bidders, from `tiny`.
        seed: seed of the synthetic valuations and of the noise of the runs.
    """
    if not _has_blocks(mechanism, seed):
        return []
    bugs: dict[str, type[Any]] = {"noise that is drawn in blocks but not added": DropsBlocks}
    # Who counts goods moves half of what there is noise for: both worlds bid on the same.
    if not isinstance(mechanism, PAlloc) or not mechanism.valuation.repeats:
        bugs["a quarter of the scale"] = QuarterOfTheScale
    return [Examined(
        named="privacy, noise in blocks", sound=(mechanism, None),
        rows=lambda it: [transcript_row(in_blocks(it[0]), seed, pairs=it[1]).smaller(_FEW)],
        faults={says: (inject_fault(mechanism, code), _SHOWN) for says, code in bugs.items()})]


def _has_blocks(mechanism: Market, seed: int) -> bool:
    """Whether the mechanism can draw its noise in blocks. Auctions in which programs bid cannot."""
    if not isinstance(mechanism, PMatch | PAlloc):
        return False
    step = next(iter(steps(mechanism, seed)))
    return recorded(in_blocks(mechanism), step.values, Noise.simulated(seed)).in_blocks


# ---- the pair that attains it


def crafted_row(mechanism: Market) -> AuditRow:
    """Compare the promised epsilon with the log likelihood ratio of a transcript that attains this epsilon.

    One bidder wants good 0, or good 1 in the neighbouring data set. All other bidders want no good. Along the audited
    transcript the noise is at least 0 on good 0 and at most 0 on good 1.

    Args:
        mechanism: `CRAFTED`, or a mutant of it.

    Example:
        >>> crafted_row(CRAFTED).measured
        20.0
    """
    values = np.zeros((8, 2))
    values[0, 0] = 1.0
    noise = Noise.replayed({("counts", step): [1, -1] for step in range(1, 9)})
    found = recorded(mechanism, values, noise).loss(0, [0.0, 1.0])
    promised = "privacy: an auction of eight bidders, along a transcript that attains its epsilon"
    return AuditRow.at_most(promised, mechanism.epsilon, abs(found.log_ratio),
                            f"only one bidder wants a good; the true sums differ by {found.moved['counts']} in l1",
                            unit="nats", concern=Concern.PRIVACY)


def crafted() -> Examined:
    """Audit of the auction `CRAFTED` along the transcript that attains the promise of 20 nats. Mutants with too little
    noise show losses of 80 and 38.5 nats.
    """
    bugs = (("a quarter of the scale", QuarterOfTheScale), ("number of levels by the natural logarithm", NaturalLevels))
    return Examined(named="privacy, an auction of eight", sound=CRAFTED,
                    rows=lambda it: [crafted_row(it).smaller(_FEW)],
                    faults={says: inject_fault(CRAFTED, code) for says, code in bugs})


# ---- audited

_DRAWS = 400  # enough to see a scale that is wrong by a factor two
_ROUNDS, _BIDS = 8, 4  # of the search over public histories, at most
_PARTS = "the cost of all releases of a run, as a share of the cost that follows from the parameters"


def matching(mechanism: Market, seed: int = 0) -> Audited:
    """The promises, charges and audits of one market.

    Args:
        mechanism: mechanism as the campaign will run it.
        seed: seed of the synthetic bidders and of the noise of their runs. Noise from the operating system is tested on
            fresh draws, which no seed determines.
    """
    if mechanism.plentiful:
        return _of_plenty(mechanism, seed)
    twin = tiny(mechanism)
    replayed = jointly(twin, seed)
    return Audited(
        promises=mechanism.guarantees(), events=mechanism.events,
        charged=mechanism.loss if mechanism.on_overflow == "truncate" else promise(mechanism), measured=[
            releases(mechanism),
            Examined(named="the basis of the noise", rows=reach_rows, sound=mechanism),
            replayed,
            asked(twin, seed),
            Examined(named="privacy: the bidder's own replay of the billboard", sound=twin,
                     rows=lambda it: [transcript_row(it, seed).smaller(f"{PEOPLE} made-up bidders")]),
            Examined(named="goods that are counted", rows=lambda it: counted_rows(it, seed), sound=mechanism),
            *(blocks(counted(mechanism) or twin, seed)
              if isinstance(mechanism, PMatch | PAlloc) and mechanism.many_steps else ()),
            *((crafted(),) if isinstance(mechanism, PMatch | PAlloc) else ()),
            Laws(draws=lambda: [draw for draw in observed(replayed.run, next(steps(twin, seed)).values, seed)
                                if draw.law in ("discrete_laplace", "discrete_gaussian")],
                 samples=_DRAWS, false_alarm=FALSE_ALARM, seed=seed),
            full_size(mechanism, seed),
            *behaviour(mechanism, seed)])


def _of_plenty(mechanism: Market, seed: int) -> Audited:
    """Audits of a market with enough copies of every good. Every bidder gets their favourite, so nothing about any
    bidder is released.
    """

    def nothing(it: Market) -> Iterator[AuditRow]:
        drawn = len(recorded(it, run().values, Noise.simulated(seed)).draws)
        for each in it.guarantees().privacy:
            yield AuditRow.of_privacy(each, math.inf if drawn else 0.0, f"a run made {drawn} draws of noise",
                                      named="privacy: number of releases, if there are enough copies of every "
                                            "good").holding(each)
        yield AuditRow.at_most("the charge to the ledger, if there are enough copies of every good", 0.0,
                               Accountant(it.events()).epsilon(0.0, calculator="basic"),
                               "the events of a run; epsilon", unit="nats", concern=Concern.BUDGET)

    run = cache(partial(run_of, mechanism, seed))
    return Audited(promises=mechanism.guarantees(), events=mechanism.events, measured=[
        Examined(named="releases", rows=nothing, sound=mechanism), *behaviour(mechanism, seed)])


# ---- the accounts


def releases(mechanism: Market) -> Examined:
    """Audit that the privacy cost of all releases of a run equals the cost that follows from the mechanism's
    parameters.

    One mutant spends twice the budget. The other mutant makes the final count of `SinkhornMatch` twice, or draws the
    counters' noise with a quarter of the scale. With truncation, all releases are charged together as one release at
    the promised cost. In that case the audit compares the costs of the single releases with the budget that they share.

    Args:
        mechanism: mechanism without a fault.
    """
    own: tuple[str, type[Any]] = ("the final count made twice", CountsTwice) \
        if isinstance(mechanism, SinkhornMatch) else ("a quarter of the scale", QuarterOfTheScale)
    return Examined(
        named=_PARTS, sound=mechanism, rows=lambda it: [charge_rows(it._spent(), promise(it), _PARTS)[0]],
        faults={says: inject_fault(mechanism, code) for says, code in (
            ("every release with twice the budget", TwiceTheBudget), own)})


# ---- what the noise rests on


def reach_rows(mechanism: Market) -> list[AuditRow]:
    """Compare the sensitivity that the noise is calibrated for with the largest change of counts by one bidder along
    the worst public history (sequence of published counts).

    Args:
        mechanism: `PMatch` or `PAlloc`; other mechanisms give no rows.
    """
    if not isinstance(mechanism, PMatch | PAlloc):
        return []
    # The search goes through few rounds and bids; the numbers grow with both as those of the plan do.
    own = replace(mechanism, rounds=min(mechanism.rounds, _ROUNDS), bid_cap=min(mechanism.bid_cap, _BIDS),
                  reserve=mechanism.reserve if mechanism.reclear else 0)
    absent = own.neighbours == "add_or_remove"
    evidence = (f"all public histories of {own.rounds} rounds with at most {own.bid_cap} bids, by dynamic programming "
                "over a bidder's two states")
    rows = [AuditRow.at_most("privacy: effect of one bidder on all counts (l1)", float(own.counter.l1_sensitivity),
                             float(auction_reach(own.rounds, bid_cap=own.bid_cap, absent=absent)), evidence,
                             unit="bids", concern=Concern.PRIVACY)]
    counter = own.halting_plan.counter
    if counter is not None:
        counted: Counted = "bidding" if own.halting == "bids" else "unsatisfied"
        if isinstance(own, PAlloc):
            found = bundle_reach(own.rounds, counted, tested=own.outbid_tests, bid_cap=own.bid_cap, absent=absent,
                                 last_report=False, bids_count=False)
        else:
            found = auction_reach(own.rounds, counted, bid_cap=own.bid_cap, absent=absent, last_report=False,
                                  bids_count=False)
        rows.append(AuditRow.at_most("privacy: effect of one bidder on the reports for halting (l1)",
                                     float(counter.l1_sensitivity), float(found), evidence,
                                     unit="reports", concern=Concern.PRIVACY))
    if isinstance(own, PMatch) and not absent:
        history = staggered_auction(own.rounds, bid_cap=own.bid_cap)
        moved, _ = bids_and_reports(history.first, history.second, history.billboard)
        rows.append(AuditRow.at_most("privacy: effect of one bidder along a history that attains this effect",
                                     float(own.counter.l1_sensitivity), float(moved),
                                     "the bidders' own replays of that history",
                                     unit="bids", concern=Concern.PRIVACY))
    return rows

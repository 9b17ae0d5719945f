"""The common part of auctions with noisy bid counts: the counters of bids, the end of the auction, and the final
clearing.

The module also checks billboards that somebody else wrote. Every number that follows from a billboard's releases is
computed again and compared.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.allocation.ascending_auction import COUNTS, Rules, Running, many_steps
from confide.allocation.billboards import AuctionBillboard, require_integers, require_sums
from confide.allocation.ending import HALTING_TEST, ClearingPlan, Halting, HaltingTest, Reports
from confide.allocation.market import Market, down
from confide.allocation.measuring import Law
from confide.allocation.settings import usual_error
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Guarantees, Privacy
from confide.contract.mechanism import Progress
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import as_billboard
from confide.contract.parameters import Parameter
from confide.contract.remedies import tried
from confide.contract.renamed import renamed
from confide.contract.words import counted
from confide.privacy.accounting import float_up, written
from confide.privacy.charge import Line, Session, lines_of
from confide.privacy.events import Event
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.privacy.tree_blocks import participation, participation_squared
from confide.privacy.tree_bounds import chernoff_bound, quantile_bound, sub_gaussian_bound
from confide.privacy.tree_counter import TreeCounter

__all__ = ["Ascending", "check_billboard", "tight_reserve"]

# ---- checking


def check_billboard(auction: Ascending, board: AuctionBillboard) -> None:
    """Check that the rounds and the final clearing on a billboard follow from the billboard's releases. The fields
    `cutoffs`, `surplus` and `welfare` must be present exactly if the auction publishes them.

    Args:
        auction: auction with its public parameters.
        board: billboard with the public rules of `auction`.

    Raises:
        InvalidInput: a field of the billboard that no run of the auction writes. The error message names the field.
    """
    for name in ("step", "good", "count", "reports"):
        _whole(name, getattr(board, name))
    if len(board.count) and int(board.count.min()) < 1:
        raise InvalidInput("count", "is below 1", "a published count is at least 1, since counts rise from 0")
    same = board.good[1:] == board.good[:-1]
    if bool((same & (np.diff(board.count) <= 0)).any()):
        raise InvalidInput("count", "does not rise", "published counts never fall, and the billboard has only changes")
    _rounds(auction, board)
    _clearing(auction, board)
    truncates = auction.on_overflow == "truncate" and board.rounds > 0
    if (board.cutoffs is None) is truncates:
        raise InvalidInput("cutoffs", "are missing, but the run truncates" if truncates else
                           "are present, but the run does not truncate")
    if board.cutoffs is not None:
        _whole("cutoffs", board.cutoffs)
        if board.cutoffs.shape != (auction.goods,) or not bool(
                ((board.cutoffs >= 0) & (board.cutoffs <= auction.people)).all()):
            raise InvalidInput("cutoffs", "are not places",
                               f"must be {counted(auction.goods, 'number')} in 0..{auction.people}")
    require_sums(board.surplus, board.welfare, certified=auction.certificate_plan is not None)
    if not all(number is None or np.isfinite(number) for number in (board.surplus, board.welfare)):
        raise InvalidInput("surplus", "is not a number")


def _whole(name: str, numbers: Any) -> None:
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind != "i":
        raise InvalidInput(name, "is not a row of whole numbers")


def _rounds(auction: Ascending, board: AuctionBillboard) -> None:
    if auction.plentiful:
        if board.rounds or len(board.step) or len(board.reports):
            raise InvalidInput("rounds", f"{board.rounds} were played",
                               "must be 0, since there are enough copies of every good")
        return
    plan = auction.halting_plan
    asked = min(board.rounds, auction.rounds - 1)  # nobody asks after the last round
    own = len(board.reports)
    if own != (asked if plan.counter is not None else 0):
        raise InvalidInput("reports", f"are {counted(own, 'number')}", "must be one for each round with a halting test")
    if plan.rule in ("fixed",) and board.rounds != auction.rounds:
        raise InvalidInput("rounds", f"{board.rounds} were played", f"must be all {auction.rounds}")
    if not 1 <= board.rounds <= auction.rounds:
        raise InvalidInput("rounds", f"{board.rounds} were played", f"must be in 1..{auction.rounds}")
    if plan.rule == "published":
        counts = board.after_rounds()[1:].sum(axis=1).tolist()
    elif plan.counter is not None:
        counts = board.reports.tolist()
    else:
        return
    ends = [plan.halts(counts[: r + 1]) for r in range(asked)]
    if any(ends[: board.rounds - 1]) or (board.rounds < auction.rounds and not ends[board.rounds - 1]):
        raise InvalidInput("rounds", f"{board.rounds} were played",
                           "the halting test contradicts this number of rounds")


def _clearing(auction: Ascending, board: AuctionBillboard) -> None:
    plan = None if auction.plentiful else auction.clearing
    if (plan is None) is not (board.clearing is None):
        raise InvalidInput("clearing", "is present, but this auction has no final clearing" if plan is None else
                           "is missing, but this auction has a final clearing")
    if plan is None or board.clearing is None:
        return
    edges, cells = np.array(plan.edges, dtype=np.int64), board.clearing.cells
    require_integers("clearing.cells", cells, edges.shape)
    if not np.array_equal(board.clearing.edges, edges):
        raise InvalidInput("clearing.edges", "differ from those of the plan")
    if not np.array_equal(board.clearing.cuts, plan.cuts(cells)):
        raise InvalidInput("clearing.cuts", "do not follow from the cells")


# ---- mechanism

_MISS = 0.1  # of the failure probability, for the simulation
_RUNS = 40  # over 1/level
_MOST_DRAWS = 2.0**27


@cache
def tight_reserve(counter: TreeCounter, failure_probability: float, *, stopping: bool = False) -> int:
    """The number m of copies of each good to hold in reserve against the noise of the counters.

    Let noise_t be the noise of a counter at release t, and N the last release. For a run of fixed length the reserve is
    chosen such that, except with the failure probability, every counter satisfies

        max(0, max_t noise_t) - noise_N <= m - 1

    Let s' be the effective supply. Whatever bids were made, the number of holders of a good is at most s' plus the
    left-hand side of the inequality. The law of the noise does not depend on the bids. If the data decide at which
    release a run ends, the noise at this last release follows a different law. Where a run may end early, the left-hand
    side is therefore the maximum over t of max(0, max_{u <= t} noise_u) - noise_t.

    The law of the left-hand side is simulated with public randomness, and m follows from an upper confidence bound on
    the quantile of that law. If the simulation would take more than 2^27 draws, m comes from a Chernoff bound. The
    reserve is then some 30% larger.

    Args:
        counter: tree counter of bids, one counter for each good.
        failure_probability: probability in (0, 1) that some counter needs a larger reserve.
        stopping: whether a run may end before the last release.

    Source: spec allocation 4 (tight reserve).
    """
    if _RUNS * counter.counters * counter.horizon > failure_probability * _MOST_DRAWS:  # it would take too long
        return _by_chernoff(counter, failure_probability, stopping=stopping)
    miss = failure_probability * _MISS
    level = -math.expm1(math.log1p(-(failure_probability - miss)) / counter.counters)
    runs = math.ceil(_RUNS / level)
    one = TreeCounter(horizon=counter.horizon, scale=counter.scale, arity=counter.arity, law=counter.law,
                      running_maximum=False, counters=max(1, min(runs, 2**21 // counter.horizon)))
    source, found = Noise.simulated(0), list[np.ndarray]()
    while sum(map(len, found)) < runs:
        drawn = one.draw(source, ("reserve", len(found)))
        noise = one.count(np.zeros_like(drawn), drawn)
        highest = np.maximum(0, np.maximum.accumulate(noise, axis=1))
        fallen = highest - noise
        found.append(fallen.max(axis=1) if stopping else fallen[:, -1])
    return int(quantile_bound(np.concatenate(found)[:runs], level, miss)) + 1


def _by_chernoff(counter: TreeCounter, failure_probability: float, *, stopping: bool) -> int:
    """The reserve by a union bound over all releases, with a Chernoff bound at each. The noise of two counts differs in
    at most 2M blocks of the tree, where M is the largest number of blocks in one count.
    """
    times = counter.horizon**2 if stopping else counter.horizon
    bound = chernoff_bound if counter.law.endswith("laplace") else sub_gaussian_bound
    return math.floor(bound(counter.scale, 2 * counter.terms, times, counter.counters, failure_probability)) + 1


_BUCKETS = 8  # ages at which a good may be cut: more of them sum more noise, fewer are coarse
_REACH = 0.6  # how far they lie from the supply, in errors of a count; both measured best, within .01 of the optimum
_FIRST = 0.3
_MOST_STEPS = 2**30


@renamed(held_back="effective_reserve", report_distance="report_l1_sensitivity", cell_distance="cell_sensitivities")
@dataclass(frozen=True, kw_only=True)
class Ascending(Market[AuctionBillboard]):
    """Base of auctions in which each bidder bids on at most one good in each round, and at most `bid_cap` times in all.

    If `reserve` is left out, the reserve is `needed_reserve`, which is 0 for an auction with a final clearing. With a
    smaller reserve nothing is promised about the number of copies that are given.

    Raises:
        InvalidInput: a number out of range.
        Refused: a reserve that leaves no copy of a good; Gaussian noise without a delta; truncation with too small a
            reserve. Truncation takes goods from holders beyond the supply. With too small a reserve it would do so far
            more often than delta allows.
    """

    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]
    bid_cap: Annotated[int, Parameter("largest number of bids of one bidder", symbol="C", at_least=1)]
    rounds: Annotated[int, Parameter("largest number of rounds", symbol="R", at_least=1)]
    batch: Annotated[int, Parameter("number of bidders who bid between two releases of the counts", symbol="g",
                                    at_least=1)]
    arity: Annotated[int, Parameter("arity of the trees that count bids", at_least=2)]
    reclear: Annotated[float, Parameter("share of epsilon for the final clearing; 0 to use a reserve instead",
                                        symbol="f", at_least=0, below=1)] = 0.3
    reserve: Annotated[int | None, Parameter("copies of each good in reserve against noise", symbol="m",
                                             at_least=0)] = None
    law: Annotated[Law, Parameter("law of the noise; Gaussian noise needs a delta")] = "laplace"
    halting: Annotated[Reports, Parameter("rule for an end of the auction before its last round")] = "fixed"
    halt_below: Annotated[int, Parameter("fewer noisy reports than this in a round end the auction, unless halting is "
                                         "\"fixed\"")] = 1
    halt_with: Annotated[float, Parameter("share of epsilon for a halting rule that uses unpublished counts",
                                          above=0, below=1)] = 0.1

    _stepwise: ClassVar[bool | None] = None
    """Whether each release is drawn around its true sums. None means True for runs with few releases. Audits run
    auctions with either value.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rounds * self.slots > _MOST_STEPS:
            raise InvalidInput("rounds", f"{self.rounds} rounds of batches of {self.batch} are too many releases",
                               f"must be at most {_MOST_STEPS:,}")
        if self.reclear + self.certify_with + self._halting_share >= 1:
            raise InvalidInput("reclear", f"{self.reclear!r} leaves no epsilon for the prices",
                               "reclear + certify_with + halt_with must be below 1")
        if self.law == "gaussian" and self.delta <= self.overflow_delta:
            raise Refused("Gaussian noise needs a delta",
                          "use law = 'laplace', or a delta above the delta of truncation")
        if self.reserve is not None and self.on_overflow == "truncate" and self.reserve < self.needed_reserve:
            raise Refused(f"with a reserve of {self.reserve:,}, truncation costs more than delta",
                          [*tried("choose a reserve of {reserve} or more", partial(replace, self),
                                  reserve=self.needed_reserve), "on_overflow = 'flag'"])
        if not self.plentiful and min(self.effective_supply) < 1:
            raise Refused(f"a reserve of {self.effective_reserve:,} uses up all {min(self.copies):,} copies",
                          [*tried("at least {supply} copies of each good", partial(replace, self),
                                  supply=self.effective_reserve + 1), "a larger epsilon",
                           "use reclear instead of a reserve"])

    # ---- what depends on what is sold

    @property
    def report_l1_sensitivity(self) -> int:
        """L1 sensitivity of the bidders' reports to the halting test: the largest l1 distance between the reports, over
        all rounds together, in two neighbouring data sets with the same published numbers.
        """
        return self.l1_sensitivity * self._bids

    @property
    def cell_sensitivities(self) -> tuple[int, int]:
        """Sensitivity of the cells of the final clearing, as a pair: the l1 sensitivity and the squared l2 sensitivity.
        A cell counts the bidders for one good with one class of ages of their bids.
        """
        return self.l1_sensitivity, self.l1_sensitivity

    # ---- public arithmetic

    @property
    def slots(self) -> int:
        """Number of releases of the counts in one round, ceil(n/g), for n bidders in batches of g."""
        return -(-self.people // self.batch)

    @property
    def many_steps(self) -> bool:
        """Whether a run makes so many releases that the noise is drawn in blocks of many releases, and then added to
        the counts.
        """
        return many_steps(self.rounds * self.slots)

    @property
    def _bids(self) -> int:
        return min(self.bid_cap, self.rounds)

    @property
    def _halting_share(self) -> float:
        return self.halt_with if self._halting(1.0).costs else 0.0

    def _halting(self, cost: float) -> Halting:
        return Halting(rule=self.halting, below=self.halt_below, rounds=self.rounds,
                       l1_sensitivity=self.report_l1_sensitivity,
                       law=self.law, cost=cost)

    @property
    def noise_law(self) -> Law:
        """Law of all noise of the auction."""
        return self.law

    @cached_property
    def halting_plan(self) -> Halting:
        """Public parameters of the test that may end the auction before its last round."""
        if self.halting == "sparse_vector" and self.law == "gaussian":  # epsilon is epsilon^2/2 of rho
            return self._halting(math.sqrt(2.0 * self.part_down(self.halt_with)) * (1.0 - 2.0**-40))
        return self._halting(self.part_down(self.halt_with))

    @cached_property
    def counter(self) -> TreeCounter:
        """Public parameters of the counters of bids, one counter for each good. The counters' noise is calibrated to a
        bidder who bids at most C times, and at most once in a round, in each of two neighbouring data sets.
        """
        shares = (self.reclear, self.certify_with, self._halting_share)
        left = down(self.budget - sum(map(self.part, shares), Fraction(0)))
        horizon, absent = self.rounds * self.slots, self.neighbours == "add_or_remove"
        count = participation if self.law == "laplace" else participation_squared
        reach = count(horizon, self.arity, rounds=self.rounds, bids=self._bids, add_remove=absent)
        common: dict[str, Any] = {"horizon": horizon, "counters": self.goods, "arity": self.arity,
                                  "l1_sensitivity": self.l1_sensitivity * self._bids, "exposure": reach}
        if self.law == "laplace":
            return TreeCounter(scale=float_up(reach / written(left)), **common)
        return TreeCounter.for_rho(left, **common)

    @cached_property
    def error(self) -> float:
        """Bound E, in bids, on the error of every published count at every release, except with the failure
        probability.
        """
        return self.counter.error_bound(self.failure_probability)

    @cached_property
    def effective_reserve(self) -> int:
        """Number m of copies of each good that are held in reserve and not sold."""
        return self.needed_reserve if self.reserve is None else self.reserve

    @cached_property
    def needed_reserve(self) -> int:
        """Number of copies of each good to hold in reserve so that no good is given beyond its supply, except with the
        failure probability. The number is 0 for an auction with a final clearing.
        """
        if self.reclear or self.plentiful:
            return 0
        return tight_reserve(self.counter, self.failure_probability, stopping=self.halting != "fixed")

    @property
    def overflow_probability(self) -> float:
        """Upper bound on the probability that more copies of some good are given than its supply. The bound is 1 for a
        reserve below `needed_reserve`.
        """
        return super().overflow_probability if self.effective_reserve >= self.needed_reserve else 1.0

    @property
    def effective_supply(self) -> tuple[int, ...]:
        """The effective supply s'_j = s_j - m of each good j: the supply s_j less the reserve m; shape (k,)."""
        return tuple(copy - self.effective_reserve for copy in self.copies)

    @cached_property
    def clearing(self) -> ClearingPlan | None:
        """Public parameters of the final clearing; None for an auction that holds a reserve instead."""
        if not self.reclear:
            return None
        off = _REACH * usual_error(self.counter, self.failure_probability) / min(self.copies)
        shares = np.linspace(max(_FIRST, 1.0 - off), 1.0 + min(1.0, off), _BUCKETS)
        edges = tuple(tuple(int(share * copy) for share in shares) for copy in self.copies)
        return ClearingPlan(supply=self.copies, edges=edges, failure_probability=self.failure_probability,
                            measure=self.measure("final clearing", self.reclear, *self.cell_sensitivities))

    def _spent(self) -> tuple[Event, ...]:
        if self.plentiful:
            return ()
        found: list[Event] = [*self.counter.events(self.relation), *self._halting_events()]
        if self.clearing is not None:
            found.append(self.clearing.measure.event(self.relation))
        if self.certificate_plan is not None:
            found.append(self.certificate_plan.measure.event(self.relation))
        return tuple(found)

    def _drawn(self) -> tuple[Line, ...]:
        if self.plentiful:
            return ()
        sessions: list[Line] = [Session(name=COUNTS, event=event) for event in self.counter.events(self.relation)]
        sessions += [Session(name=HALTING_TEST, event=event) for event in self._halting_events()]
        return (*sessions, *lines_of(self._spent()[len(sessions):]))

    def _halting_events(self) -> tuple[Event, ...]:
        return self.halting_plan.events(self.relation)

    def guarantees(self) -> Guarantees:
        common = super().guarantees()
        if not self.plentiful:
            return common
        # What anybody gets depends on nobody else.
        return Guarantees(tuple(replace(one, loss=PureDP(0.0)) if isinstance(one, Privacy) else one for one in common))

    # ---- runs and their billboards

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """The public rules of the auction, by which every bidder bids."""

    def _play(
        self, auction: Running, noise: Noise, progress: Progress | None
    ) -> NDArray[np.int64]:
        """Play rounds until the halting test ends the auction. Returns the running counts of the halting test."""
        test, ended = self._halting_test(auction, noise), False
        while not ended:
            bids, unsatisfied = auction.play_round()
            ended = test.ends(bids=bids, unsatisfied=unsatisfied, published=int(auction.published.sum()))
            if progress is not None and auction.round < self.rounds:  # the run itself tells its end
                progress(auction.round, self.rounds)
        return test.counts

    def _halting_test(self, auction: Running, noise: Noise) -> HaltingTest:
        return self.halting_plan.start(noise)

    def _board(self, auction: Running, reports: NDArray[np.int64], **cleared: Any) -> AuctionBillboard:
        """The billboard of a finished run."""
        changes = auction.changes
        return AuctionBillboard(rules=self.rules, rounds=auction.round, step=changes.step, good=changes.good,
                         count=changes.count, reports=reports, **cleared)

    def _unplayed(self) -> AuctionBillboard:
        """The billboard of a market with enough copies of every good, in which no round is played."""
        nothing = np.empty(0, dtype=np.int64)
        return AuctionBillboard(rules=self.rules, rounds=0, step=nothing, good=nothing.astype(np.int32), count=nothing,
                         reports=nothing)

    def check(self, billboard: AnyBillboard) -> None:
        """Check that a billboard belongs to this auction. The rounds, the final clearing and the cutoffs on the
        billboard must follow from the billboard's releases.

        Raises:
            InvalidInput: a billboard of another auction, or a billboard with numbers that no run writes.
        """
        check_billboard(self, self._own(billboard))

    def _own(self, billboard: AnyBillboard) -> AuctionBillboard:
        board = as_billboard(billboard)
        if not isinstance(board, AuctionBillboard) or board.rules != self.rules:
            raise InvalidInput("billboard", "belongs to another auction")
        return board

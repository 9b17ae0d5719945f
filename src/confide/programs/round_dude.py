"""`RoundDude`: each participant receives one whole action, their best response in one round. Flags keep every load
within its supply.

Source: Wu 2017, Algorithm 9; spec convex_programs 5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Source
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.remedies import retried
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.numerics.shards import Shards
from confide.privacy.accounting import written
from confide.privacy.charge import Bundle, Line, lines_of
from confide.privacy.events import ApproxEvent, Event
from confide.privacy.noise import Noise
from confide.privacy.public_randomness import draw_public_seed
from confide.programs.billboards import PathBillboard
from confide.programs.dual_dynamics import PRICES
from confide.programs.dude import MECHANISM_WORDS, Dude, scaled
from confide.programs.flags import Flags, usual_batch
from confide.programs.grids import LOAD_UNIT
from confide.programs.guarantees import PathCertificate, bernstein, certificate, regret_bound
from confide.programs.program import Program, Shard
from confide.programs.slots import own_records
from confide.programs.whole_parts import (
    FlagBillboard,
    WholeParts,
    coin_slip,
    delivered,
    drawn_round,
    drawn_rounds,
    packing_only,
    responses_in,
    share_of,
    share_table,
    sparse_rows,
)

__all__ = ["RoundDude"]


@renamed()
@wire("RoundDude", "program epsilon delta rounds burn_in burn_share step law beta neighbours start flag_share "
      "truncate stop_share batch", **MECHANISM_WORDS)
@dataclass(frozen=True)
class RoundDude(Dude[FlagBillboard]):
    """Mechanism in which each participant's share is their best response in one main round, which public randomness
    draws. A participant who would add to a constraint with a raised flag receives nothing.

    Participants are served in the order of their places on the public list of slots, in batches. Each coupling
    constraint has a flag, which rises once the delivered load plus noise is near the supply. A participant in a later
    batch who would add to this constraint receives nothing. No load ends above its supply, with probability at least 1
    - beta, or with certainty if there are stops (`truncate`). The table of shares has one column, "action", in the form
    of `program.describe`.

    A participant with a late place is more likely to receive nothing. Places are public, and must not depend on the
    records.

    The privacy loss of the prices is (epsilon_p, delta_p), and the privacy loss of the flags is epsilon - epsilon_p,
    without a delta, or with the delta of the stops. The two losses are added by basic composition.

    Raises:
        InvalidInput: a number out of range, or a program that is no packing program.
        Refused: the margin of the flags is at least as large as a supply ("infeasible budget").

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import UnitDemand, popular
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> mechanism = RoundDude(program, epsilon=1.0, delta=1e-6, rounds=50, burn_in=25)
        >>> values = popular(5_000, 5, seed=1)
        >>> outcome = mechanism.run(values, Noise.simulated(1))
        >>> outcome.shares["action"][7].as_py() == mechanism.decode(values[7], 7, outcome.billboard)["action"]
        True
        >>> float(outcome.diagnostics["excess"].max())
        0.0
    """

    _: KW_ONLY
    flag_share: Annotated[float, Parameter("share of epsilon for the flags", above=0, below=1)] = 0.4
    truncate: Annotated[bool, Parameter(
        "whether no load ever exceeds its supply: flags then also rise, for any noise, if the next batch could exceed "
        "a supply. This uses a part of delta, and about twice the margin")] = False
    stop_share: Annotated[float, Parameter(
        "share of delta for the sure stops; unused without them", above=0, below=1)] = 0.5
    batch: Annotated[int | None, Parameter(
        "people between two queries of the flags; by default the number with the least margin, at most 2^13 queries of "
        "a row", at_least=1)] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        packing_only(self.program, "RoundDude")
        try:
            _ = self.flags
        except Refused as error:  # a margin that uses the supply up
            raise Refused(error.reason, retried(error, self._at) or "choose a larger supply and a larger "
                                                                    "epsilon") from None

    board = FlagBillboard
    public_randomness = True

    # ---- public arithmetic

    @property
    def _gaussian_part(self) -> tuple[float, float]:
        return (_below(written(self.epsilon) * (1 - written(self.flag_share))),
                _below(written(self.delta) * (1 - written(self.stop_share))) if self.truncate else self.delta)

    def _at(self, times: float = 1.0, **changed: float) -> Dude:
        return scaled(self, epsilon=times * self.epsilon, **changed)

    @cached_property
    def flags(self) -> Flags:
        """The flags of all constraints, with their levels, noise and privacy loss."""
        one, (epsilon, delta) = self.program.constants, self._gaussian_part
        mine = _below(written(self.epsilon) - written(epsilon))
        batch = usual_batch(self.program.people, mine, one.entries, one.rows) if self.batch is None else self.batch
        return Flags(people=self.program.people, supply=tuple(self.program.supply_units.tolist()),
                     largest=one.largest_entry, entries=one.entries, epsilon=mine,
                     failure_probability=self.failure_probability, batch=batch,
                     stop_delta=_below(written(self.delta) - written(delta)) if self.truncate else 0.0,
                     neighbours=self.neighbours)

    @property
    def reserve(self) -> NDArray[np.float64]:
        """Distance between the supply of each constraint and the level of its flag, in natural units of load, shape
        (k,).
        """
        return np.full(self.program.rows, self.flags.reserve / LOAD_UNIT)

    def events(self) -> tuple[Event, ...]:
        path = super().events()
        if self.truncate:
            # Its own part of delta stands in the event: a ledger that turned it into an epsilon at the whole delta
            # would add the stops' delta on top.
            epsilon, delta = self._gaussian_part
            path = (ApproxEvent(epsilon=epsilon, delta=delta, neighbours=self.relation, label=PRICES),)
        return (*path, self.flags.event(self.relation))

    def lines(self) -> tuple[Line, ...]:
        path = lines_of(super().events())
        if self.truncate:
            path = (Bundle(name="prices, converted", event=self.events()[0], parts=path,
                           proof="Gaussian noise at its own part of delta"),)
        return (*path, self.flags.line(self.relation))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        source = Source(document="Wu 2017", statement="Theorems 5.5.2 and 5.5.3", spec="convex_programs 5",
                        erratum="the margin includes the participants between two queries of the flags; the losses of "
                                "the rows add up in the l1 norm")
        each = self.failure_probability / 3.0
        regret = math.inf if self.descent.rule != "gradient" else self._inexact + regret_bound(
            self.priced.constants, self.schedule, each)
        most, over = self.program.constants.most_value, regret / min(self.program.taus)
        log, rows = math.log((self.program.rows + 1) / each), self.program.rows
        excess = over
        if over < math.inf:
            excess += sum(self._drawn_above(b + over, log) for b in self.program.supplies)
        unserved = self._unserved(excess, np.ones(rows, dtype=np.bool_), each)
        # Where the averages are worth x >= OPT - R, what is drawn is worth x - sqrt(2 V x log) or more, and 0 or
        # more. That is never below OPT - R - sqrt(2 V OPT log), whatever x is; and OPT is at most `trivial`. Each round
        # has its probability but for a share of coin_slip: a share of x, no worse than the same share of OPT.
        rounding = coin_slip(self.rounds) * self.baseline_gap + math.sqrt(2.0 * most * self.baseline_gap * log)
        return (
            Accuracy(bound=0.0, measure="excess of the delivered parts over the supply of any row",
                     baseline=self._most_excess,
                     failure_probability=0.0 if self.truncate else self.failure_probability, source=source),
            Accuracy(bound=unserved, measure="participants who get nothing because of a flag",
                     baseline=float(self.program.people), failure_probability=self.failure_probability, source=source),
            Accuracy(bound=regret + rounding + most * unserved, measure="optimum less the value of the delivered parts",
                     baseline=self.baseline_gap, failure_probability=self.failure_probability, source=source),
        )

    def _drawn_above(self, mean: float, log: float) -> float:
        """Upper bound on the load of the drawn actions less that of the averages in one constraint, which fails with
        probability e^-log.
        """
        largest = self.program.constants.largest_entry
        slip = coin_slip(self.rounds) * self.program.people * largest
        return slip + bernstein(mean + slip, largest, log)

    def _unserved(self, excess: float, raised: NDArray[np.bool_], failure: float) -> float:
        """Upper bound on the number of participants who receive nothing because of a flag. Each participant who
        receives nothing because of a flag would add at least Lmin to a constraint whose flag had room left. Lmin is the
        smallest nonzero entry of a contribution.

        Args:
            excess: total excess of the drawn actions over all constraints.
            raised: (k,) whether each constraint's flag may have risen.
            failure: the probability that some flag rises too early.
        """
        least = self.program.constants.least_entry
        if not least > 0.0 or not excess < math.inf:
            return math.inf if raised.any() else 0.0
        room = (self.flags.reserve + self.flags.room_at(failure)) / LOAD_UNIT
        return (excess + float(raised.sum()) * room) / least if raised.any() else 0.0

    def unserved(self, billboard: AnyBillboard) -> float:
        """Upper bound on the number of participants who receive nothing because of a flag. The bound is computed after
        the run, and holds with probability at least 1 - beta.

        Args:
            billboard: billboard of a run.

        Source: spec convex_programs 5 (unserved), with the certificate in place of the a-priori excess.
        """
        board, each = self._own(billboard), self.failure_probability / 3.0
        raised = np.asarray(board.raised) < self.program.people
        certain = certificate(board, each)
        log = math.log(self.program.rows / each)
        excess = sum(float(y) + self._drawn_above(b + float(y), log)
                     for b, y, up in zip(self.program.supplies, certain.excess, raised, strict=True) if up)
        return self._unserved(excess, raised, each)

    # ---- the run

    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> RunOutcome[FlagBillboard, PathCertificate]:
        seed = draw_public_seed(source)
        which = drawn_rounds(seed, self.program.people, self.rounds)
        parts = held.map(_drawn, self.program, board.main_prices, which)
        actions, counts, rows, loads = (np.concatenate([part[at] for part in parts]) for at in range(4))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        raised, served = self.flags.run(source, starts, rows, loads)
        actions[~served] = -1
        public = FlagBillboard(**{**vars(board), "public_seed": seed, "raised": raised})
        diagnostics = None if noise.release_safe else {
            **delivered(self.program, records, actions), "unserved": int((~served).sum())}
        shares = share_table(self.program, WholeParts(actions), charged=False)
        return self._outcome(noise, billboard=public, shares=shares, certificate=self.certify(public),
                             diagnostics=diagnostics)

    # ---- what a participant and a verifier ask

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        self._place(index)
        board = self._own(billboard)
        mine = own_records(self.program, record)
        action = self.program.respond(mine, board.main_prices[drawn_round(board.public_seed, index, self.rounds)])
        adds = self.program.contributions(mine, action)[0] > 0
        if bool((adds & (board.raised <= index)).any()):
            action = np.full_like(action, -1)
        return share_of(self.program, WholeParts(action), charged=False)

    def check(self, billboard: AnyBillboard) -> None:
        super().check(billboard)
        board, n = self._own(billboard), self.program.people
        raised = board.raised
        if not bool(((raised == n) | ((raised > 0) & (raised < n) & (raised % self.flags.batch == 0))).all()):
            raise InvalidInput("raised", "has a place after which there is no query",
                               f"must be multiples of {self.flags.batch} below {n}, or {n}")


def _below(exact: Fraction) -> float:
    """The largest double whose decimal form is not above the exact number."""
    found = float(exact)
    while written(found) > exact:
        found = math.nextafter(found, 0.0)
    return found


def _drawn(
    shard: Shard, program: Program, prices: NDArray[np.int64], which: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Action of each participant in their drawn round, and its contributions."""
    mine = which[shard.start : shard.start + shard.records.people]
    actions = responses_in(program, shard.records, prices, mine)
    return actions, *sparse_rows(program, shard.records, actions)

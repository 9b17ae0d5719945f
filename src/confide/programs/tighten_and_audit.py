"""`TightenAndAudit`: everybody gets one best response to prices of a little less supply, and one release certifies it.

Source: spec convex_programs 6.2 (tighten+audit; ours), in place of the margins of Wu 2017, Algorithm 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import fraction, non_negative
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Source
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.numerics.roots import root_up
from confide.numerics.shards import Shards
from confide.privacy.accounting import written
from confide.privacy.coins import draw_seed
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.programs.billboards import PathBillboard
from confide.programs.bounds import regret_bound
from confide.programs.certifying import quantile
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.integral_boards import AuditedBillboard, action_column, coin_slip, packing_only
from confide.programs.program import Program, Shard
from confide.programs.rounding import drawn_round, drawn_rounds, responses_in
from confide.programs.schedule import event, noisy

__all__ = ["TightenAndAudit"]


@dataclass(frozen=True)
class TightenAndAudit(Dude):
    """One best response for everybody, of a round that public coins draw, if a noisy audit finds all rows in supply.

    Prices are those of a program whose supplies are smaller by xi_j = 2 z s_a + z s + slack_j: room for the audit's own
    noise and margin, for the prices' noise, and for the coins. When everybody's action is drawn, the load of them all
    is released once, with noise of deviation s_a. It is accepted if that load and z s_a fit the whole supply in every
    row; else "not certified" is published, and everybody has nothing. Another try is another release.

    No row that is delivered is above its supply, with probability 1 - beta, whatever the prices are: to accept one that
    is, its noise must be below -z s_a, which has probability beta/k. That most runs are accepted is a design target.
    Prices and audit share one squared budget: given prices and coins a neighbour's load differs by two contributions,
    so sigma is the rule for any two. Shares have one column, "action", as `program.describe` has it.

    Args:
        audit_share: f_a of the squared budget for the audit, in (0, 1).
        slack: of slack_j = slack z sqrt(Cinf b_j), the room for the coins; no promise rests on it.

    Raises:
        InvalidInput: a number out of range, or no packing program.
        Refused: a supply that xi uses up ("infeasible budget").

    Example:
        >>> from confide.programs import UnitDemand
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs.instances import popular
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> mechanism = TightenAndAudit(program, epsilon=1.0, delta=1e-6, rounds=50, burn_in=25)
        >>> values = popular(5_000, 5, seed=1)
        >>> outcome = mechanism.run(values, Noise.simulated(1))
        >>> outcome.billboard.accepted, float(outcome.diagnostics["excess"].max())
        (True, 0.0)
        >>> outcome.shares["action"][7].as_py() == mechanism.decode(values[7], 7, outcome.billboard)["action"]
        True
    """

    _: KW_ONLY
    audit_share: float = 0.5
    slack: float = 0.1

    def __post_init__(self) -> None:
        fraction("audit_share", self.audit_share)
        non_negative("slack", self.slack)
        if isinstance(self.program, Program):
            packing_only(self.program, "TightenAndAudit")
        super().__post_init__()

    # ---- public arithmetic

    @property
    def path_share(self) -> Fraction:
        return 1 - written(self.audit_share)

    @cached_property
    def audit_deviation(self) -> float:
        """s_a: standard deviation of the audit's noise, in loads, rounded up."""
        return root_up(self.squared_sensitivity / (self.squared_budget * written(self.audit_share)))

    @property
    def quantile(self) -> float:
        """z: one row's noise is above z deviations with probability beta/k."""
        return max(0.0, quantile(self.beta / self.program.rows, self.law == "discrete_gaussian"))

    @cached_property
    def audit_margin(self) -> int:
        """z s_a and what rounding can move, in units of load: released loads must be this far below supplies."""
        return math.ceil(self.quantile * self.audit_deviation * LOAD_UNIT) + 1

    @cached_property
    def tightened(self) -> NDArray[np.int64]:
        """(k,) xi, in units of load: so much less supply do prices see."""
        one, z = self.program.constants, self.quantile
        room = z * self.averaged + self.slack * z * np.sqrt(
            one.largest_entry * np.maximum(self.program.supply_units / LOAD_UNIT, 0.0))
        return np.asarray(2 * self.audit_margin + np.ceil(room * LOAD_UNIT).astype(np.int64))

    @cached_property
    def priced(self) -> Program:
        left = self.program.supply_units - self.tightened
        if not bool((left > 0).all()):
            row = int(np.argmin(left))
            b, xi = self.program.supply_units[row] / LOAD_UNIT, self.tightened[row] / LOAD_UNIT
            raise Refused(f"infeasible budget: the audit needs {xi:.5g} of a supply of {b:.5g}",
                          self._remedy(b))
        return replace(self.program, supply=tuple((left / LOAD_UNIT).tolist()))

    def _remedy(self, supply: float) -> str:
        """What would do: xi is noise + c sqrt(b), and the noise is about in proportion to 1/epsilon."""
        fixed = (2 * self.audit_margin / LOAD_UNIT + self.quantile * self.averaged)
        root = self.slack * self.quantile * math.sqrt(self.program.constants.largest_entry)
        least = ((root + math.sqrt(root * root + 4.0 * fixed)) / 2.0) ** 2
        text = f"a supply above {least:.5g} in every row"
        spare = supply - root * math.sqrt(max(0.0, supply))
        return text + (f", or an epsilon above about {1.01 * self.epsilon * fixed / spare:.3g}" if spare > 0 else "")

    def events(self) -> tuple[Event, ...]:
        share = written(self.audit_share)
        return (*super().events(), event(self.law, self.squared_budget * share, self.unit, "audit"))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        source = Source(document="confide", statement="tighten and audit", spec="convex_programs 6.2")
        half, most = self.beta / 2.0, self.program.constants.most_value
        regret = math.inf if self.descent.rule != "gradient" else regret_bound(
            self.priced.constants, self.schedule, half)
        lost = float(np.max(self.tightened / self.program.supply_units)) * self.trivial
        rounding = coin_slip(self.rounds) * self.trivial + math.sqrt(2.0 * most * self.trivial * math.log(1.0 / half))
        return (
            Accuracy(bound=0.0, measure="excess of any row, of what is delivered", trivial=self._most_excess,
                     failure_probability=self.beta, source=source),
            Accuracy(bound=lost + regret + rounding, measure="optimum less the value of what coins draw",
                     trivial=self.trivial, failure_probability=self.beta, source=source,
                     note="delivered if the audit accepts it"),
        )

    # ---- the run

    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> Outcome | SimulatedOutcome:
        seed = draw_seed(source)
        which = drawn_rounds(seed, self.program.people, self.rounds)
        parts = held.map(_drawn, self.program, board.main_prices, which)
        actions, load = np.concatenate([part[0] for part in parts]), np.sum([part[1] for part in parts], axis=0)
        audit = noisy(source, load, self.audit_deviation, self.law, "audit")
        accepted = self._accepts(audit)
        if not accepted:
            actions, load = np.full_like(actions, -1), np.zeros_like(load)
        public = AuditedBillboard(**{**vars(board), "seed": seed, "tightened": self.tightened, "audit": audit,
                                     "accepted": accepted})
        diagnostics = None if noise.release_safe else self._diagnosed(records, actions, load)
        return self._outcome(noise, billboard=public, shares=pa.table({"action": action_column(self.program, actions)}),
                             certificate=self.certify(public), diagnostics=diagnostics)

    def _accepts(self, audit: NDArray[np.int64]) -> bool:
        return bool((audit + self.audit_margin <= self.program.supply_units).all())

    def _diagnosed(self, records: Any, actions: NDArray[np.int32], load: NDArray[np.int64]) -> dict[str, Any]:
        """Value and load of what is delivered: for studies alone."""
        value = sum(int(self.program.values(shard.records, actions[shard.start : shard.start + shard.records.people]
                                            ).sum()) for shard in records.shards(self._shard))
        return {"value": value / PRICE_UNIT, "load": load / LOAD_UNIT,
                "excess": np.maximum(0, load - self.program.supply_units) / LOAD_UNIT}

    # ---- what a participant and a verifier ask

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        self._place(index)
        board = self._own(billboard)
        action = self.program.respond(self.program.one(record),
                                      board.main_prices[drawn_round(board.seed, index, self.rounds)])
        if not board.accepted:
            action = np.full_like(action, -1)
        return {"action": self.program.describe(action[0])}

    def _own(self, billboard: AnyBillboard) -> Any:
        board = super()._own(billboard)
        if not isinstance(board, AuditedBillboard):
            raise InvalidInput("billboard", "tells of no audit", "is that of this campaign, `outcome.billboard`")
        return board

    def check(self, billboard: AnyBillboard) -> None:
        super().check(billboard)
        board = self._own(billboard)
        if not board.seed:
            raise InvalidInput("seed", "is left out")
        if not np.array_equal(board.tightened, self.tightened):
            raise InvalidInput("tightened", "is not the plan's")
        audit = board.audit
        if not isinstance(audit, np.ndarray) or audit.dtype != np.int64 or audit.shape != (self.program.rows,):
            raise InvalidInput("audit", "is of another shape or type", f"must be ({self.program.rows},) int64")
        if not isinstance(board.accepted, bool) or board.accepted != self._accepts(audit):
            raise InvalidInput("accepted", "does not follow from the audit")


def _drawn(
    shard: Shard, program: Program, prices: NDArray[np.int64], which: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Everybody's action of her round, and the load of them all."""
    mine = which[shard.start : shard.start + shard.records.people]
    actions = responses_in(program, shard.records, prices, mine)
    return actions, program.load(shard.records, actions)

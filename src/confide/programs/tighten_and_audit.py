"""`TightenAndAudit`: each participant receives one best response to prices that are computed for a slightly smaller
supply. One noisy release of the load certifies that the load is within the whole supply.

Source: spec convex_programs 6.2 (tighten+audit; ours), in place of the margins of Wu 2017, Algorithm 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Guarantees, Source
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.remedies import Remedy, tried
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.numerics.shards import Shards
from confide.privacy.accounting import written
from confide.privacy.accounting.sums import root_up
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.privacy.public_randomness import draw_public_seed
from confide.programs.billboards import PathBillboard
from confide.programs.dual_dynamics import event, noisy, squared_budget, total_variation
from confide.programs.dude import MECHANISM_WORDS, Dude, scaled
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.guarantees import PathCertificate, quantile, regret_bound
from confide.programs.incentives import (
    alpha_units,
    audited_gain,
    check_payments,
    exact_alpha,
    loss_of_a_lie,
    participation,
    truthfulness,
)
from confide.programs.program import Program, Shard
from confide.programs.whole_parts import (
    AuditedBillboard,
    Payments,
    Terms,
    WholeParts,
    coin_slip,
    delivered,
    drawn_rounds,
    own_part,
    packing_only,
    share_of,
    share_table,
    whole_parts,
)

__all__ = ["TightenAndAudit"]

_LARGEST = 2.0**33  # of a deviation, and of what is kept back: beyond all supplies
_ROUNDED = 1 - Fraction(1, 2**48)


@renamed(audit_deviation="audit_noise_std", audit_margin="audit_reserve", tightened="reserve_units")
@wire("TightenAndAudit", "program epsilon delta rounds burn_in burn_share step law beta neighbours start audit_share "
      "slack alpha payments", **MECHANISM_WORDS)
@dataclass(frozen=True)
class TightenAndAudit(Dude[AuditedBillboard]):
    """Mechanism in which each participant's share is their best response in one publicly drawn round, if a noisy audit
    finds that every load is within its supply.

    Prices are computed for supplies that are smaller by the reserve xi_j = 2 z s_a + z s + slack_j. Here s_a is the
    standard deviation of the audit's noise, s that of the noise of a constraint's average load, and z a normal
    quantile. The reserve covers the audit's noise and margin, the noise of the prices, and the random draw of rounds
    (slack_j). After everybody's action is drawn, the load of all actions is released once, with noise of standard
    deviation s_a. The run is accepted if the released load plus z s_a is within the whole supply of every constraint.
    If the run is not accepted, "not certified" is published and everybody receives nothing. A second try would be
    another release, with its own privacy loss.

    With probability at least 1 - beta no delivered load is above its supply, for any prices. A load above the supply of
    a constraint is accepted only if its noise is below -z s_a, which has probability at most beta/k. The reserve is
    designed so that most runs are accepted. Prices and audit share one squared privacy budget. Given prices and draws,
    the load on a neighbouring data set differs by the difference of two contributions, so the audit has the same l2
    sensitivity as a round. The table of shares has the column "action", in the form of `program.describe`.

    If alpha is given, the average prices are charged, and the table of shares has a column "price". Participants who
    would gain more than alpha by another choice at these prices receive their favourite, the best action at these
    prices. A bound on the gain of lies is promised. The bound takes into account that a participant's own share changes
    the probability of acceptance a little.

    Raises:
        InvalidInput: a number out of range, or a program that is no packing program.
        Refused: the reserve xi is at least as large as a supply ("infeasible budget").

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import UnitDemand, popular
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
    audit_share: Annotated[float, Parameter(
        "share of the squared budget for the audit", symbol="f_a", above=0, below=1)] = 0.5
    slack: Annotated[float, Parameter(
        "room for the public draw, slack_j = slack z sqrt(Cinf b_j); no promise depends on it", at_least=0)] = 0.1
    alpha: Annotated[float | None, Parameter(
        "a participant who gains more than this from another choice at the charged prices gets their favourite; None "
        "to charge nothing", above=0)] = None
    payments: Annotated[Payments, Parameter(
        "rule for charges, as in `TightDude`; scaled needs the step gradient")] = "average"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha is None and self.payments == "scaled":
            raise InvalidInput("payments", "has 'scaled' without an alpha",
                               "give an alpha, since prices are charged only with an alpha")
        if self.alpha is not None:
            exact_alpha(self.program, self.alpha)
            check_payments(self.program, self.rounds)
            if self.payments == "scaled" and self.descent.rule != "gradient":
                raise InvalidInput("payments", "with 'scaled' and step 'adagrad', many participants get nothing",
                                   "use step 'gradient'")

    def _fits(self) -> None:
        packing_only(self.program, "TightenAndAudit")

    board = AuditedBillboard
    public_randomness = True

    # ---- public arithmetic

    @cached_property
    def squared_budget(self) -> Fraction:
        # Two events, each rounded up to a double, must not add up to more than what was promised.
        return squared_budget(self.law, *self._gaussian_part) * _ROUNDED

    @property
    def path_share(self) -> Fraction:
        return 1 - written(self.audit_share)

    @cached_property
    def audit_noise_std(self) -> float:
        """Standard deviation s_a of the audit's noise, in natural units of load, rounded up."""
        found = root_up(self.squared_l2_sensitivity / (self.squared_budget * written(self.audit_share)))
        if found > _LARGEST:
            raise Refused(f"the noise of the audit would be {found:.3g}",
                          f"must be at most {_LARGEST:.3g}: choose a larger audit_share")
        return found

    @property
    def quantile(self) -> float:
        """Quantile z: the noise of one constraint exceeds z standard deviations with probability at most beta/k."""
        return max(0.0, quantile(self.failure_probability / self.program.rows, self.law == "discrete_gaussian"))

    @cached_property
    def audit_reserve(self) -> int:
        """Margin of the audit, in load units of 2^-20: z s_a plus the largest effect of rounding. The audit accepts a
        run if each released load is below the supply by at least this margin.
        """
        return math.ceil(self.quantile * self.audit_noise_std * LOAD_UNIT) + 1

    @cached_property
    def reserve_units(self) -> NDArray[np.int64]:
        """Reserve xi of each constraint, in load units of 2^-20, shape (k,). Prices are computed for the supply less
        the reserve xi.
        """
        one, z = self.program.constants, self.quantile
        room = z * self.noise_std + self.slack * z * np.sqrt(
            one.largest_entry * np.maximum(self.program.supply_units / LOAD_UNIT, 0.0))
        return np.asarray(2 * self.audit_reserve + np.ceil(np.minimum(room, _LARGEST) * LOAD_UNIT).astype(np.int64))

    @property
    def reserve(self) -> NDArray[np.float64]:
        """Reserve xi of each constraint, in natural units of load, shape (k,)."""
        return self.reserve_units / LOAD_UNIT

    @cached_property
    def priced(self) -> Program:
        left = self.program.supply_units - self.reserve_units
        if not bool((left > 0).all()):
            row = int(np.argmin(left))
            b, xi = float(self.program.supply_units[row] / LOAD_UNIT), float(self.reserve_units[row] / LOAD_UNIT)
            needs = f"{xi / b:.3g} times the supply" if b > 0.0 else "more than the supply (which is 0)"
            raise Refused(f"infeasible budget: the audit needs {needs} of row {self.program.row_names[row]}",
                          self._remedies(b) or "choose a larger supply and a larger epsilon")
        return replace(self.program, supply=tuple((left / LOAD_UNIT).tolist()))

    def _remedies(self, supply: float) -> tuple[Remedy, ...]:
        """Changes that would leave half of a constraint's supply. The reserve xi is noise + c sqrt(b), where b is the
        supply and the noise is about proportional to 1/epsilon.
        """
        fixed = (2 * self.audit_reserve / LOAD_UNIT + self.quantile * self.noise_std)
        root = self.slack * self.quantile * math.sqrt(self.program.constants.largest_entry)
        least = (root + math.sqrt(root * root + 2.0 * fixed)) ** 2
        spare = supply / 2.0 - root * math.sqrt(max(0.0, supply))
        half, again = ", with about half of it in reserve", partial(scaled, self)
        larger = (tried("a supply {factor} times as large" + half, again, digits=3, factor=least / supply)
                  if supply > 0.0 else tried("a supply of {supply}" + half, again, digits=5, supply=least))
        more = 1.01 * self.epsilon * fixed / spare if spare > 0.0 else None
        return (*larger, *tried("an epsilon of {epsilon}", again, digits=3, epsilon=more))

    def events(self) -> tuple[Event, ...]:
        share = written(self.audit_share)
        return (*super().events(), event(self.law, self.squared_budget * share, self.relation, "audit"))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        source = Source(document="confide", statement="tighten and audit", spec="convex_programs 6.2")
        half, most = self.failure_probability / 2.0, self.program.constants.most_value
        regret = math.inf if self.descent.rule != "gradient" else self._inexact + regret_bound(
            self.priced.constants, self.schedule, half)
        lost = float(np.max(self.reserve_units / self.program.supply_units)) * self.baseline_gap
        # OPT is at most `trivial`; why it may stand for the averages' value, `RoundDude` says.
        rounding = coin_slip(self.rounds) * self.baseline_gap + math.sqrt(
            2.0 * most * self.baseline_gap * math.log(1.0 / half))
        # A participant who gets the favourite instead may have nothing, where prices are its value but for alpha.
        reassigned = 0.0 if self.alpha is None else most * min(
            float(self.program.people), regret / exact_alpha(self.program, self.alpha))
        return (
            Accuracy(bound=0.0, measure="excess of the delivered parts over the supply of any row",
                     baseline=self._most_excess, failure_probability=self.failure_probability, source=source),
            Accuracy(bound=lost + regret + rounding + reassigned,
                     measure="optimum less the value of the delivered parts", baseline=self.baseline_gap,
                     failure_probability=self.failure_probability, source=source,
                     note="if the audit accepts the run"),
        )

    # ---- what lies gain

    @property
    def gain(self) -> float:
        """Upper bound on the gain from a lie, in units of value, on average over the prices, the public draw and the
        audit; infinite if nothing is charged.

        Source: spec convex_programs 6.2: alpha + (V + alpha) TV(prices) + 2 U TV(audit), where V is the largest value,
        U the largest utility, and TV the total variation distance under two records.
        """
        return self.gain_of(1)

    def gain_of(self, size: int) -> float:
        """Upper bound on the mean gain of each of `size` people who lie together, in units of value; infinite if
        nothing is charged.
        """
        if self.alpha is None:
            return math.inf
        one = self.program.constants
        most = one.most_value if self.payments == "scaled" else max(one.most_value, self.highest_price)
        short = self.alpha + self.program.oracle_error + coin_slip(self.rounds) * (one.most_value + most) + 1.0 / (
            PRICE_UNIT * self.program.scale)
        path, audit = (total_variation(self.law, size**2 * loss_of_a_lie(
            one, self.neighbours, self.squared_budget * share))
            for share in (self.path_share, written(self.audit_share)))
        return audited_gain(alpha=short, most_value=one.most_value, path_variation=path, audit_variation=audit,
                            most_utility=most)

    def guarantees(self) -> Guarantees:
        if self.alpha is None:
            return super().guarantees()
        scaled, source = self.payments == "scaled", Source(
            document="confide", statement="tighten and audit", spec="convex_programs 6.2")
        return Guarantees((
            *super().guarantees(),
            truthfulness(self.gain, self.program.constants.most_value, statement="Corollary 6.3.3",
                         note="on average over the prices, the public draw and the audit"),
            participation(0.0 if scaled else -self.highest_price, "after every run", source, note="" if scaled else
                          "a whole part may cost more than its value; with scaled payments it never does"),
        ))

    # ---- the run

    @property
    def _terms(self) -> Terms:
        return Terms(alpha=None if self.alpha is None else alpha_units(self.program, self.alpha),
                     payments=self.payments)

    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> RunOutcome[AuditedBillboard, PathCertificate]:
        board = replace(board, public_seed=draw_public_seed(source))
        which = drawn_rounds(board.public_seed, self.program.people, self.rounds)
        found = held.map(_drawn, self.program, board, which, self._terms)
        parts, load = WholeParts.joined([one[0] for one in found]), np.sum([one[1] for one in found], axis=0)
        audit = noisy(source, load, self.audit_noise_std, self.law, "audit",
                      squared_l2_sensitivity=self.squared_l2_sensitivity, line="audit")
        accepted = self._accepts(audit)
        if not accepted:
            parts = _nothing(parts)
        public = AuditedBillboard(**{**vars(board), "reserve_units": self.reserve_units, "audit": audit,
                                     "accepted": accepted})
        diagnostics = None if noise.release_safe else delivered(self.program, records, parts.actions)
        if diagnostics is not None and self.alpha is not None:
            diagnostics |= {"unsatisfied": parts.unsatisfied, "paid": self.natural(int(parts.price.sum()))}
        return self._outcome(noise, billboard=public, certificate=self.certify(public), diagnostics=diagnostics,
                             shares=share_table(self.program, parts, charged=self.alpha is not None))

    def _accepts(self, audit: NDArray[np.int64]) -> bool:
        return bool((audit + self.audit_reserve <= self.program.supply_units).all())

    # ---- what a participant and a verifier ask

    def _own(self, billboard: AnyBillboard, *, but: str = "") -> Any:
        board = super()._own(billboard, but=but)
        if not but and not np.array_equal(board.reserve_units, self.reserve_units):
            raise InvalidInput("billboard", "belongs to another plan, with other tightened supplies",
                               "must come from a run of this mechanism")
        return board

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        part = own_part(self.program, record, self._place(index), board, self._terms)
        return share_of(self.program, part if board.accepted else _nothing(part), charged=self.alpha is not None)

    def check(self, billboard: AnyBillboard) -> None:
        super().check(billboard)
        board = self._own(billboard)
        if board.accepted != self._accepts(board.audit):
            raise InvalidInput("accepted", "does not follow from the audit")


def _drawn(
    shard: Shard, program: Program, board: PathBillboard, which: NDArray[np.int64], terms: Terms,
) -> tuple[WholeParts, NDArray[np.int64]]:
    """Shares of a shard's participants, and the total load of these shares."""
    parts = whole_parts(shard, program, board, which, terms)
    return parts, program.load(shard.records, parts.actions)


def _nothing(parts: WholeParts) -> WholeParts:
    return WholeParts(np.full_like(parts.actions, -1), np.zeros_like(parts.price))

"""`TightDude`: each participant receives one whole action and pays the average prices. The shares fit the supplies
except with probability beta, and a lie gains little on average.

A part of every supply is kept in reserve before the prices are computed. The reserve covers three loads: the excess of
the average responses, the additional load of participants who receive their favourite action instead, and the
additional load from drawing one whole response for everybody else. The reserve is known before the run, because it
follows from the regret bound. This reserve is large, and the mechanism is refused if the reserve is the whole supply of
a constraint. `TightDude` needs many rounds, and many people for each constraint.

Source: Wu 2017, Algorithm 11; spec convex_programs 6.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused, Ways
from confide.contract.guarantees import Accuracy, Guarantees, Source
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.remedies import tried
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.numerics.shards import Shards
from confide.privacy.noise import Noise
from confide.privacy.public_randomness import draw_public_seed
from confide.programs.billboards import PathBillboard
from confide.programs.dual_dynamics import total_variation
from confide.programs.dude import MECHANISM_WORDS, Dude, scaled
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.guarantees import PathCertificate, bernstein, regret_bound
from confide.programs.incentives import (
    additive_gain,
    alpha_units,
    check_payments,
    exact_alpha,
    loss_of_a_lie,
    participation,
    truthfulness,
)
from confide.programs.program import Program
from confide.programs.whole_parts import (
    Payments,
    Terms,
    WholeParts,
    coin_slip,
    delivered,
    drawn_rounds,
    own_part,
    share_of,
    share_table,
    whole_parts,
)

__all__ = ["EmptyRow", "TightDude", "reserve_needed"]

_TRIES = 64


class EmptyRow(Refused):
    """Refusal of a mechanism because the reserve is the whole supply of a constraint. The error message names the
    constraint. A caller that uses another name for the constraint can write a new message from the attributes `row` and
    `problem`.

    Args:
        row: index of the constraint, in 0..k-1.
        name: name of the constraint.
        problem: description of the reserve's effect on the constraint, which follows the name in the message.
        remedy: changes of the settings that would be sufficient.
    """

    def __init__(self, row: int, name: str, problem: str, remedy: Ways) -> None:
        self.row = row
        self.problem = problem
        super().__init__(f"row {name} {problem}", remedy)


def reserve_needed(
    program: Program, regret: float, *, supplies: Sequence[float], rounds: int, alpha: float, failure_probability: float
) -> NDArray[np.float64]:
    """Reserve that each constraint needs for a given bound on the regret, in natural units of load, shape (k,). The
    reserve may exceed the supply.

    Args:
        program: program whose prices are computed.
        regret: upper bound R on the regret of the program's prices, in units of value, which holds with probability at
            least 1 - beta/3.
        supplies: (k,) supplies that the delivered load must not exceed, in natural units.
        rounds: number of main rounds T.
        alpha: largest gain by another choice, in units of value, at which a participant counts as satisfied.
        failure_probability: largest probability beta, in (0, 1), with which the load of some constraint may exceed its
            supply.

    Source: spec convex_programs 6.2 (TightDude, corrected).
    """
    entry, log = program.constants.largest_entry, math.log(3.0 * program.rows / failure_probability)
    left = regret / exact_alpha(program, alpha)
    return np.array([regret / tau + entry * left + bernstein(supply, entry, log) + supply * coin_slip(rounds)
                     for tau, supply in zip(program.taus, supplies, strict=True)])


@renamed(margins="reserve", kept="reserve_share")
@wire("TightDude", "program epsilon delta rounds burn_in burn_share step law beta neighbours start alpha payments",
      **MECHANISM_WORDS)
@dataclass(frozen=True)
class TightDude(Dude[PathBillboard]):
    """Mechanism in which each participant's share is one whole action at the average prices. The load of every
    constraint is within its supply, except with probability beta.

    The mechanism is for packing programs only. The dual bound of the program must also hold with less supply, as a dual
    bound of V/Lmin does, for the largest value V and the smallest nonzero entry Lmin of a contribution. Participants
    who would gain more than alpha by another choice at the charged prices receive their favourite, the best action at
    these prices. All others receive their best response to one main round, which public randomness draws after all
    records have been collected. On average over the draw of the round, the drawn response equals the participant's
    average response.

    The table of shares has two columns: "action", in the form of `program.describe`, and "price", in units of value.

    Raises:
        InvalidInput: a program that does not allow prices to be charged, or an alpha that is no larger than the
            rounding of prices.
        Refused: the reserve of a constraint is the whole supply; or the step rule is AdaGrad, for which no bound on the
            regret is known before the run.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import UnitDemand, popular
        >>> program = UnitDemand(5_000, (2_500.0,))
        >>> mechanism = TightDude(program, 1.0, 1e-6, rounds=1_000, burn_in=100, alpha=0.5)
        >>> round(mechanism.reserve_share, 2)
        0.51
        >>> outcome = mechanism.run(popular(5_000, 1, seed=1), Noise.simulated(1))
        >>> outcome.diagnostics["excess"].tolist()
        [0.0]
    """

    alpha: Annotated[float, Parameter(
        "a participant who gains more than this from another choice at the charged prices gets their favourite",
        above=0)] = field(default=0.01, kw_only=True)
    payments: Annotated[Payments, Parameter(
        "average: the price of the participant's part, at the charged prices; on some draws it exceeds the value of "
        "the part. scaled: the value of the part, times the price of the average divided by the value of the average; "
        "nobody pays more than the value of the part by their own record, and a participant gets nothing if the value "
        "of their average is below its price",
        )] = field(default="average", kw_only=True)

    public_randomness = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_payments(self.program, self.rounds)

    def _fits(self) -> None:
        exact_alpha(self.program, self.alpha)

    # ---- the margins

    @cached_property
    def priced(self) -> Program:
        """Copy of the program with the reserve subtracted from each supply."""
        check_payments(self.program, self.rounds)
        if self.step == "adagrad" or self.program.constants.step_scale is None:
            raise Refused("a margin needs a regret bound that is known before the run",
                          "use step 'gradient', in a program with a public scale of loads")
        program, supplies = self.program, np.array(self.program.supplies)
        kept = np.zeros(self.program.rows)
        for _ in range(_TRIES):  # with less supply the bound may be another: once, where only the people count
            regret = self._inexact + regret_bound(program.constants, self.schedule, self.failure_probability / 3.0)
            needed = self._margins(program, regret)
            if bool((needed <= kept).all()):
                return program
            kept = np.maximum(kept, needed)
            self._refuse_empty(program, regret, kept)
            program = replace(self.program, supply=tuple((supplies - kept).tolist()))
        raise Refused("no reserve is large enough: a larger reserve leaves less supply, which needs a larger reserve",
                      "choose a larger supply, or more rounds")

    def _margins(self, program: Program, regret: float) -> NDArray[np.float64]:
        """Reserve that each constraint needs at a given regret, shape (k,)."""
        return reserve_needed(program, regret, supplies=self.program.supplies, rounds=self.rounds, alpha=self.alpha,
                              failure_probability=self.failure_probability)

    def _refuse_empty(self, program: Program, regret: float, kept: NDArray[np.float64]) -> None:
        supplies = np.array(self.program.supplies)
        if bool((supplies - kept >= 1.0 / LOAD_UNIT).all()):
            return
        j = int(np.argmin(supplies - kept))
        entry, third = program.constants.largest_entry, math.log(3.0 * program.rows / self.failure_probability) / 3.0
        fixed = regret / program.taus[j] + entry * regret / exact_alpha(self.program, self.alpha)
        least = fixed + 4.0 * entry * third + math.sqrt((4.0 * entry * third) ** 2 + 6.0 * entry * third * fixed)
        most = self.program.people * entry
        b = float(supplies[j])
        much = f"{kept[j] / b:,.3g} times its supply" if b > 0.0 else "more than its supply, which is 0"
        problem = f"would reserve {much}"
        name = self.program.row_names[j]
        if least >= most:
            beyond = f" {least / most:.3g} times" if math.isfinite(least) else ""
            raise EmptyRow(j, name, problem, f"the least supply that covers a margin is{beyond} the use of all "
                                             "participants together: choose more rounds, more people for each row, or "
                                             "a larger alpha")
        again, much = partial(scaled, self), ", and far more if only a smaller part may be in reserve"
        large = (tried("supplies {factor} times as large" + much, again, digits=5, factor=least / b) if b > 0.0
                 else tried("supplies of {supply}" + much, again, digits=5, supply=least))
        raise EmptyRow(j, name, problem, [*large, "more rounds", "a larger alpha"])

    @property
    def reserve(self) -> NDArray[np.float64]:
        """Reserve of each constraint, in natural units of load, shape (k,)."""
        return np.array(self.program.supplies) - self.priced.supply_units / LOAD_UNIT

    @property
    def reserve_share(self) -> float:
        """Largest share kappa of a supply that is in reserve, over all constraints."""
        return float((self.reserve / np.array(self.program.supplies)).max())

    @cached_property
    def regret(self) -> float:
        """Upper bound R on the regret of the prices, in units of value, for the program with the reserve subtracted.
        The bound holds with probability at least 1 - beta/3.
        """
        return self._inexact + regret_bound(self.priced.constants, self.schedule, self.failure_probability / 3.0)

    # ---- promises

    @cached_property
    def variation(self) -> float:
        """Upper bound on the total variation distance between the distributions of the path of prices under two records
        of one participant.
        """
        return self.variation_of(1)

    def variation_of(self, size: int) -> float:
        """Upper bound on the total variation distance between the distributions of the path of prices if `size`
        participants change their records. The changes of a load add up, so the sum of (distance/standard deviation)^2
        grows with the square of `size`.
        """
        return total_variation(self.law, size**2 * loss_of_a_lie(
            self.program.constants, self.neighbours, self.squared_budget * self.path_share))

    @property
    def _short(self) -> float:
        """Largest amount by which a participant's mean utility over the public draw is below the favourite's."""
        one = self.program.constants
        reach = one.most_value + (one.most_value if self.payments == "scaled" else self.highest_price)
        return self.alpha + self.program.oracle_error + coin_slip(self.rounds) * reach

    @property
    def gain(self) -> float:
        """Upper bound on the gain from a lie, in units of value, on average over the path of prices and the public
        draw.
        """
        return self.gain_of(1)

    def gain_of(self, size: int) -> float:
        """Upper bound on the gain of each of `size` people who lie together, in units of value, on average over the
        path of prices and the public draw.
        """
        unit = 1.0 / (PRICE_UNIT * self.program.scale) if self.payments == "scaled" else 0.0
        return additive_gain(self._short + unit, self.program.constants.most_value, self.variation_of(size))

    def guarantees(self) -> Guarantees:
        source = Source(document="Wu 2017", statement="Lemma 6.2.6", spec="convex_programs 6.2",
                        erratum="the promise about a rounded part is on average over the draw alone")
        scaled = self.payments == "scaled"
        after = 0.0 if scaled else -self.highest_price
        return Guarantees((
            *super().guarantees(),
            truthfulness(self.gain, self.program.constants.most_value, statement="Corollary 6.3.3",
                         note="on average over the prices and the public draw"),
            participation(0.0 if scaled else -self._short, "on average over the public draw", source),
            participation(after, "after every run", source,
                          note="" if scaled else "a whole part may cost more than its value; with scaled payments it "
                                                 "never does"),
        ))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        one, people = self.program.constants, self.program.people
        left = self.regret / exact_alpha(self.program, self.alpha)
        source = Source(document="Wu 2017", statement="Theorems 6.3.5 and 6.3.6", spec="convex_programs 6.2",
                        erratum="a reassigned participant moves a row by the largest entry of a contribution; "
                                "Bernstein's inequality; the full budget for the path of prices")
        lost = self.regret + one.most_value * left + self._lost(math.log(3.0 / self.failure_probability))
        return (
            Accuracy(bound=left, measure="participants who are not satisfied and get their favourite",
                     baseline=float(people), failure_probability=self.failure_probability, source=source),
            Accuracy(bound=0.0, measure="excess of every row", baseline=self._most_excess,
                     failure_probability=self.failure_probability, source=source),
            self._value(lost, source, self.failure_probability, "optimum less the value of the parts"),
        )

    def _lost(self, log: float) -> float:
        """Upper bound on the value that the reserve and the draw cost, which fails with probability e^-log.

        The reserve costs kappa OPT, where kappa is the largest reserved share of a supply. The draw costs at most
        sqrt(2 V OPT log), as in `RoundDude`, even where the averages' value is already below OPT. The optimum OPT is at
        most `baseline_gap`.
        """
        return (self.reserve_share + coin_slip(self.rounds)) * self.baseline_gap + math.sqrt(
            2.0 * self.program.constants.most_value * self.baseline_gap * log)

    def _value(self, lost: float, source: Source, failure: float, measure: str) -> Accuracy:
        scaled = self.payments == "scaled"
        return Accuracy(bound=math.inf if scaled else lost, measure=measure, baseline=self.baseline_gap, source=source,
                        failure_probability=failure,
                        note="no bound covers participants who get nothing because their average is not worth its price"
                        if scaled else "")

    def claims(self, certificate: PathCertificate | None) -> Guarantees:
        """Promises about the delivered shares that are made after a run, from its certificate.

        Args:
            certificate: certificate of a run of the mechanism, `outcome.certificate`. The certificate is about the
                program with the reserve subtracted from its supply.

        Returns:
            Promises about the number of participants who received their favourite in place of the drawn action, about
            the excess of each constraint over the whole supply, and about the optimum less the value. Each promise
            states its own probability of failure.
        """
        if not isinstance(certificate, PathCertificate):
            raise InvalidInput("certificate", f"{type(certificate).__name__} is not a certificate of a path")
        one, failure_probability = self.program.constants, certificate.failure_probability
        many = float(min(self.program.people,
                         math.floor(certificate.unsatisfied(exact_alpha(self.program, self.alpha)))))
        mean = self.priced.supply_units / LOAD_UNIT + certificate.excess + one.largest_entry * many
        log = math.log(self.program.rows / failure_probability)
        drawn = np.array([bernstein(each, one.largest_entry, log) for each in mean])
        over = mean * (1.0 + coin_slip(self.rounds)) + drawn - np.array(self.program.supplies)
        source = Source(document="confide", statement="after the run", spec="convex_programs 2 and 6.2")
        return Guarantees((
            Accuracy(bound=many, measure="participants who were not satisfied and got their favourite",
                     baseline=float(self.program.people), failure_probability=failure_probability, source=source),
            Accuracy(bound=max(0.0, float(over.max())), measure="excess of each row, for the parts",
                     baseline=self._most_excess,
                     failure_probability=min(1.0, 3.0 * failure_probability), source=source),
            # Averages may be worth more than OPT where they exceed supplies; what is drawn is then compared with OPT.
            self._value(max(0.0, certificate.gap) + one.most_value * many + self._lost(
                math.log(1.0 / failure_probability)), source, min(1.0, 3.0 * failure_probability),
                        "optimum less the value of the parts"),
        ))

    # ---- the run

    @property
    def _terms(self) -> Terms:
        return Terms(alpha=alpha_units(self.program, self.alpha), payments=self.payments)

    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> RunOutcome[PathBillboard, PathCertificate]:
        board = replace(board, public_seed=draw_public_seed(source))
        which = drawn_rounds(board.public_seed, self.program.people, self.rounds)
        parts = WholeParts.joined(held.map(whole_parts, self.program, board, which, self._terms))
        diagnostics = None if noise.release_safe else {
            **delivered(self.program, records, parts.actions), "unsatisfied": parts.unsatisfied,
            "not_worth": parts.not_worth, "paid": self.natural(int(parts.price.sum()))}
        return self._outcome(noise, billboard=board, shares=share_table(self.program, parts, charged=True),
                             certificate=self.certify(board), diagnostics=diagnostics)

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        board = self._own(billboard)
        return share_of(self.program, own_part(self.program, record, self._place(index), board, self._terms),
                        charged=True)

"""`TrueDude`: participants pay the average prices, and a participant who would gain more than alpha by another share at
these prices receives that share.

A lie can help its author only through the prices. The prices are differentially private, so nobody gains much by a lie,
whatever the other participants report. Truthfulness costs a little feasibility and value, because the prices do not
take into account that some participants receive another share.

Source: Wu 2017, Algorithm 10; spec convex_programs 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Guarantees, Participation, Source, Truthfulness
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.numerics.shards import Shards
from confide.privacy.noise import Noise
from confide.programs.billboards import PathBillboard, Tally, tally_of
from confide.programs.dual_dynamics import total_variation
from confide.programs.dude import MECHANISM_WORDS
from confide.programs.grids import PRICE_UNIT
from confide.programs.guarantees import PathCertificate
from confide.programs.incentives import (
    Relative,
    additive_gain,
    alpha_units,
    check_payments,
    exact_alpha,
    judged,
    loss_of_a_lie,
    participation,
    reassigned,
    relative_gain,
    truthfulness,
)
from confide.programs.priv_dude import PrivDude
from confide.programs.program import Program, Shard
from confide.programs.slots import own_records

__all__ = ["TrueDude"]


@renamed(gain_beside="relative_gain")
@wire("TrueDude", "program epsilon delta rounds burn_in burn_share step law beta neighbours start alpha",
      **MECHANISM_WORDS)
@dataclass(frozen=True)
class TrueDude(PrivDude):
    """Mechanism in which participants pay for their average responses. At the charged prices, the utility of each
    participant's share is within alpha of the best possible utility.

    The mechanism is for packing programs only: no value or contribution is negative, and everybody may have nothing.
    Participants may lie about their wishes and values; their contributions must be verified.

    The table of shares has the two columns of `PrivDude`, and the column "price", the charge for the average response.
    The charge is computed with the average prices, rounded to multiples of 2^-24, and is given as the nearest double.

    Raises:
        InvalidInput: a program that does not allow prices to be charged, or an alpha that is no larger than the
            rounding of prices.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import UnitDemand, popular
        >>> mechanism = TrueDude(UnitDemand(5_000, 500, goods=5), 1.0, 1e-6, rounds=50, burn_in=25)
        >>> round(mechanism.gain, 4)
        0.1052
        >>> outcome = mechanism.run(popular(5_000, 5, seed=1), Noise.simulated(1))
        >>> [str(one.measure) for one in mechanism.claims(outcome.certificate)][0]
        'participants who were not satisfied and got their favourite'
    """

    alpha: Annotated[float, Parameter(
        "a participant who gains more than this from another choice at the charged prices gets their favourite",
        above=0)] = field(default=0.01, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_payments(self.program, self.rounds)
        exact_alpha(self.program, self.alpha)

    # ---- promises

    @cached_property
    def variation(self) -> float:
        """Upper bound on the total variation distance between the distributions of the path of prices under two records
        of one participant.
        """
        return total_variation(self.law, self._lie)

    @property
    def _lie(self) -> Any:
        return loss_of_a_lie(self.program.constants, self.neighbours, self.squared_budget * self.path_share)

    @property
    def _short(self) -> float:
        """Largest amount by which a participant's utility is below the best one at the charged prices. A favourite is
        within the oracle's error of the best response.
        """
        return self.alpha + self.program.oracle_error

    @property
    def gain(self) -> float:
        """Upper bound on the gain from a lie, in units of value, on average over the path of prices."""
        return self.gain_of(1)

    def gain_of(self, size: int) -> float:
        """Upper bound on the gain of each of `size` people who lie together, in units of value, on average over the
        path of prices.
        """
        return additive_gain(self._short, self.program.constants.most_value,
                             total_variation(self.law, size**2 * self._lie))

    def relative_gain(self, epsilon: float) -> Relative:
        """Bound on the mean utility of a lie: E[utility of the lie] <= factor E[utility of the truth] + added. The
        bounds for all epsilon >= 0 hold at the same time.

        Args:
            epsilon: parameter of the bound, in nats, >= 0. At 0 the factor is 1 and the added amount is `gain`.
        """
        return relative_gain(self.law, self._lie, self._short, self.program.constants.most_value, epsilon)

    def guarantees(self) -> Guarantees:
        source = Source(document="Wu 2017", statement="Lemma 6.2.6", spec="convex_programs 6.1")
        promises: tuple[Truthfulness | Participation, ...] = (
            truthfulness(self.gain, self.program.constants.most_value, note="on average over the prices"),
            participation(-self._short, "after every run", source,
                          note="the promise is about the participant's average at the charged prices, which may cost "
                               "alpha more than its value"),
        )
        return Guarantees((*super().guarantees(), *promises))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        one, left = self.program.constants, self.regret / exact_alpha(self.program, self.alpha)
        source = Source(document="Wu 2017", statement="Corollary 6.2.5", spec="convex_programs 6.1",
                        erratum="the factor 2 is not needed; a reassigned participant adds at most the largest entry "
                                "of a contribution to a row, not its sum")
        return (
            Accuracy(bound=left, measure="participants who are not satisfied and get their favourite",
                     baseline=float(self.program.people), failure_probability=self.failure_probability, source=source),
            Accuracy(bound=self.regret / min(self.program.taus) + one.largest_entry * left,
                     measure="excess of each row, for the parts", baseline=self._most_of_a_row,
                     failure_probability=self.failure_probability, source=source),
            Accuracy(bound=self.regret + one.most_value * left, measure="optimum less the value of the parts",
                     baseline=self.baseline_gap, failure_probability=self.failure_probability, source=source),
        )

    @property
    def _most_of_a_row(self) -> float:
        one = self.program.constants
        return min(one.width, self.program.people * one.largest_entry)

    def claims(self, certificate: PathCertificate | None) -> Guarantees:
        """Promises about the delivered shares that are made after a run, from its certificate.

        Args:
            certificate: certificate of a run of the mechanism, `outcome.certificate`.

        Returns:
            Promises about the number of participants who received their favourite in place of their average, about the
            excess of each constraint, and about the optimum less the value. All these promises together hold with
            probability at least 1 - 2 beta, where beta is the failure probability of the certificate.
        """
        if not isinstance(certificate, PathCertificate):
            raise InvalidInput("certificate", f"{type(certificate).__name__} is not a certificate of a path")
        one, failure = self.program.constants, min(1.0, 2.0 * certificate.failure_probability)
        many = float(min(self.program.people,
                         math.floor(certificate.unsatisfied(exact_alpha(self.program, self.alpha)))))
        source = Source(document="confide", statement="after the run", spec="convex_programs 2 and 6.1")
        return Guarantees((
            Accuracy(bound=many, measure="participants who were not satisfied and got their favourite",
                     baseline=float(self.program.people), failure_probability=certificate.failure_probability,
                     source=source),
            Accuracy(bound=float(certificate.excess.max()) + one.largest_entry * many,
                     measure="excess of each row, for the parts", baseline=self._most_of_a_row,
                     failure_probability=failure, source=source),
            Accuracy(bound=certificate.gap + one.most_value * many,
                     measure="optimum less the value of the parts", baseline=self.baseline_gap,
                     failure_probability=failure, source=source),
        ))

    # ---- the run

    @property
    def _units(self) -> int:
        return alpha_units(self.program, self.alpha)

    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> RunOutcome[PathBillboard, PathCertificate]:
        parts: list[_Part] = held.map(_charged, self.program, board.main_prices, board.charged_prices, self._units)
        tallies = [part.tally for part in parts]
        prices = self._natural(np.concatenate([part.paid for part in parts]))
        shares = self._shares(tallies).append_column("price", pa.array(prices))
        diagnostics = None if noise.release_safe else {
            **self._diagnosed(records, board, tallies), "unsatisfied": sum(part.unsatisfied for part in parts),
            "paid": math.fsum(prices)}
        return self._outcome(noise, billboard=board, shares=shares, certificate=self.certify(board),
                             diagnostics=diagnostics)

    def decode(self, record: Any, index: int, billboard: AnyBillboard) -> Mapping[str, Any]:
        self._place(index)
        board = self._own(billboard)
        part = _charged(Shard(start=index, records=own_records(self.program, record)), self.program, board.main_prices,
                        board.charged_prices, self._units)
        _, actions, times = part.tally
        return {"actions": actions.reshape(-1).tolist(), "times": times.tolist(),
                "price": float(self._natural(part.paid)[0])}

    def _natural(self, paid: NDArray[np.int64]) -> NDArray[np.float64]:
        return paid / float(PRICE_UNIT * self.program.scale * self.rounds)


class _Part(NamedTuple):
    tally: Tally
    paid: NDArray[np.int64]
    unsatisfied: int


def _charged(
    shard: Shard, program: Program, prices: NDArray[np.int64], charged: NDArray[np.int64], alpha: int,
) -> _Part:
    """Averages of a shard's participants, with favourites in place of unsatisfying averages, and T times the price of
    each.
    """
    tally, rounds = tally_of(shard.records, program, prices), len(prices)
    found = judged(program, shard.records, tally, charged, rounds, alpha)
    paid, some = found.paid, np.flatnonzero(found.unsatisfied)
    if len(some):
        tally = reassigned(tally, found.unsatisfied, found.favourites, rounds)
        paid[some] = rounds * program.paid(shard.records.take(some), found.favourites[some], charged)
    return _Part(tally, paid, len(some))

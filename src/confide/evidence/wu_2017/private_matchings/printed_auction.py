"""Algorithm 4 with the source's constants, either as printed or with only the errors corrected.

Both versions refuse to run at every realistic size, since the reserve is larger than the supply. A study can run both
versions at small sizes by setting `reserve` and `halt_below`. For a real allocation, use `PMatch`.

Source: Wu 2017, Algorithm 4; spec allocation 3.1, 3.2; errata 1, 2, 4, 5, 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from confide.allocation.guarantees import EquilibriumPromises
from confide.allocation.valuations import Valuations, as_row
from confide.contract.checks import fraction, positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantee, Guarantees, Privacy, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.remedies import trying
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.evidence.wu_2017.private_matchings.playing import Playing
from confide.evidence.wu_2017.private_matchings.printed_billboard import PrintedBillboard, printed_replay
from confide.evidence.wu_2017.private_matchings.settings import DOCUMENT, MatchingSetting, as_meant
from confide.evidence.wu_2017.private_matchings.smallest import Bookkeeping, least_to_run
from confide.privacy.accounting import float_up, written
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise.base import as_noise
from confide.privacy.tree_counter import TreeCounter

__all__ = ["PrintedPMatch"]

_SPEC = "allocation 3.2"
_LINE = "prices and reports"  # of the charge
_PRIVACY = ("the printed noise counts log2(nT) blocks for a bid, which lies in floor(log2(nT)) + 1; and bids and "
            "reports of a replaced bidder are up to 2T + 1 apart, while the proof counts T for each")
_WELFARE = ("as printed a holder is outbid by s' bids, so that a full good keeps s' - 1; counts fall, and a price "
            "rises once in a step at most, so that it may lag behind its count")


@renamed(gamma="failure_probability", held_back="effective_reserve")
@wire("PrintedPMatch", "people goods supply increment tolerance epsilon gamma corrected reserve halt_below",
      failure_probability="gamma")
@dataclass(frozen=True, kw_only=True)
class PrintedPMatch(Mechanism[PrintedBillboard, None]):
    """An auction that gives each bidder at most one good, by the source's rules and constants. The bidders act one at a
    time.

    The privacy loss of the printed auction differs from the claimed loss: see `loss`. In the corrected auction, the
    Laplace noise of the counters has scale (2T + 1) h/epsilon for T rounds and h levels of the counters, and the error
    bound and the reserve follow from this scale. In the corrected auction prices follow the counts, and counts never
    fall. A holder is outbid by more than s' bids, where s' is the supply less the reserve. With an epsilon near 10^9
    the noise is zero, so that a run shows the effect of the rules alone.

    Raises:
        InvalidInput: a number is out of range.
        Refused: the reserve leaves no copy, or the halting threshold rho n - 2E is not above 0, where E bounds the
            error of all counts. The message gives sizes that are large enough.

    Example:
        >>> from confide.allocation import instance_a
        >>> from confide.privacy.noise import Noise
        >>> literal = PrintedPMatch(people=200, goods=8, supply=20, increment=0.05, tolerance=0.05, epsilon=1e9,
        ...                         failure_probability=0.05, reserve=0, halt_below=1)
        >>> outcome = literal.run(instance_a(200, 8, seed=1), Noise.simulated(1))
        >>> np.bincount(outcome.shares["good"].to_numpy() + 1)[1:].tolist()
        [19, 19, 19, 19, 19, 19, 19, 19]
    """

    people: Annotated[int, Parameter("number of bidders", symbol="n", at_least=1)]
    goods: Annotated[int, Parameter("number of different goods", symbol="k", at_least=1)]
    supply: Annotated[int, Parameter("copies of each good", symbol="s", at_least=1)]
    increment: Annotated[float, Parameter("step from one price to the next", symbol="alpha", above=0, at_most=1)]
    tolerance: Annotated[float, Parameter("share of bidders who may stay unsatisfied", symbol="rho", above=0,
                                          at_most=1)]
    epsilon: Annotated[float, Parameter("privacy loss that is asked for", unit="nats", above=0)]
    failure_probability: Annotated[float, Parameter("probability that a promise fails", symbol="gamma", above=0,
                                                    below=1)]
    corrected: Annotated[bool, Parameter("whether the errors of the print are corrected")] = False
    reserve: Annotated[int | None, Parameter("copies of each good in reserve; by default 2E + 1", symbol="m",
                                             at_least=0)] = None
    halt_below: Annotated[int | None, Parameter("a round with fewer reports is the last; by default rho n - 2E",
                                                at_least=1)] = None

    phases = (Phase(name="bids", asks="one row of valuations, sealed"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = []
        if self.effective_supply < 1:
            wrong.append(f"a reserve of {self.effective_reserve:,.6g} leaves nothing of {self.supply:,} copies")
        if not self.halts_below > 0:
            wrong.append(f"2E = {2 * self.error:,.6g} is not below rho n = {float(self._satisfied):,.6g}")
        if wrong:
            reason = " and ".join(wrong)
            if trying():
                raise Refused(reason)
            least = least_to_run(self.setting, self.supply, _corrected_error if self.corrected else None)
            raise Refused(reason, least.ways(partial(replace, self)) or "another reserve, or halt_below")

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, people: int, goods: int, supply: int, loss: float = 0.9,
        failure_probability: float = 0.05, corrected: bool = True,
    ) -> PrintedPMatch:
        """The auction with the settings of Theorem 4.3.5: the increment and the tolerance are each a third of the
        allowed loss.

        Args:
            epsilon: privacy loss of the whole outcome, in nats, > 0.
            delta: number in [0, 1) that is not used, since all noise is pure.
            people: number n >= 1 of bidders.
            goods: number k >= 1 of goods.
            supply: number s >= 1 of copies of each good.
            loss: allowed welfare loss per bidder compared with the optimum, in (0, 1].
            failure_probability: probability in (0, 1) that a promise fails.
            corrected: whether the errors of the source are corrected.

        Raises:
            InvalidInput: a number is out of range.
            Refused: the reserve is larger than the supply, as at every realistic size.

        Example:
            >>> PrintedPMatch.for_budget(epsilon=1e9, people=2_000, goods=4, supply=900).setting.rounds
            89
        """
        fraction("delta", delta, zero=True)
        third = positive("loss", loss, at_most=1.0) / 3.0
        return cls(people=people, goods=goods, supply=supply, increment=third, tolerance=third, epsilon=epsilon,
                   failure_probability=failure_probability, corrected=corrected)

    # ---- public arithmetic

    @cached_property
    def setting(self) -> MatchingSetting:
        """The printed constants at these sizes."""
        return MatchingSetting(people=self.people, goods=self.goods, epsilon=self.epsilon, increment=self.increment,
                               failure_probability=self.failure_probability, tolerance=self.tolerance)

    @property
    def _satisfied(self) -> Fraction:
        return as_meant(self.tolerance) * self.people

    @cached_property
    def counter(self) -> TreeCounter:
        """The counter that counts the bids on each good, and also the reports of outbid bidders."""
        return _counter(self.setting, self.corrected)

    @cached_property
    def error(self) -> float:
        """Error bound E of all counts: the printed bound, or the Chernoff bound of the corrected noise."""
        return _corrected_error(self.setting) if self.corrected else self.setting.error

    @property
    def effective_reserve(self) -> float:
        """The number m of copies of each good in reserve that the auction uses."""
        return 2.0 * self.error + 1.0 if self.reserve is None else float(self.reserve)

    @property
    def effective_supply(self) -> int:
        """The effective supply s' = floor(s - m), for supply s and reserve m."""
        return math.floor(self.supply - self.effective_reserve)

    @property
    def halts_below(self) -> float:
        """Threshold of the halting test: a round with fewer counted reports of outbid bidders is the last round."""
        return float(self._satisfied) - 2.0 * self.error if self.halt_below is None else float(self.halt_below)

    @property
    def loss(self) -> PureDP:
        """The proven privacy loss of the auction in nats, for whole-number Laplace noise of the same scale. With the
        printed noise the proven loss is above epsilon.
        """
        found = self.counter.loss
        return found if isinstance(found, PureDP) else PureDP(math.inf)

    def events(self) -> tuple[Event, ...]:
        return (PureEvent(epsilon=self.loss.epsilon, neighbours=Relation.REPLACE, label=_LINE),)

    def guarantees(self) -> Guarantees:
        common: dict[str, Any] = {"neighbours": Relation.REPLACE, "audience": Audience.OTHERS}
        claim = Source(document=DOCUMENT, statement="Theorem 4.3.4", spec=_SPEC,
                       erratum="one level more, and a joint distance of 2T + 1")
        found: list[Guarantee] = [Privacy(loss=self.loss, source=claim, **common,
                                          note="anybody who sees a bidder's good, such as its provider, learns it")]
        if not self.corrected:
            printed = Source(document=DOCUMENT, statement="Theorem 4.3.4", spec=_SPEC)
            found.append(Privacy(loss=PureDP(self.epsilon), claimable=False, source=printed, note=_PRIVACY, **common))
        return Guarantees((*found, *self._accuracy()))

    def _accuracy(self) -> list[Guarantee]:
        promises = EquilibriumPromises(
            people=self.people, supply=(self.supply,) * self.goods, reserve=self.supply - self.effective_supply,
            error=self.error, batch=1, increment=self.increment)
        spec = "allocation 3.3"
        feasible = Accuracy(
            bound=float(max(0, max(promises.most_held) - self.supply)), baseline=float(self.people),
            measure="copies of any good given beyond its supply", failure_probability=self.failure_probability,
            claimable=self.corrected, note="" if self.corrected else _WELFARE,
            source=Source(document=DOCUMENT, statement="Lemma 4.3.8", spec=spec))
        book = Bookkeeping(people=self.people, error=self.error, increment=self.increment, tolerance=self.tolerance)
        enough = self.supply >= book.supply_needed and self.people >= book.people_needed
        settled = enough and self.halt_below is None and book.rounds <= self.setting.rounds
        few = math.floor(self._satisfied)
        welfare = Accuracy(
            bound=promises.most_loss() + few if settled and promises.feasible else math.inf,
            baseline=float(promises.baseline_loss), measure="welfare lost against the optimum",
            failure_probability=self.failure_probability, claimable=self.corrected,
            note="" if self.corrected else _WELFARE,
            source=Source(document=DOCUMENT, statement="Lemmas 4.3.7 to 4.3.9, Theorem 4.3.5", spec=spec,
                          erratum="n >= 8E/rho; prices up to alpha ceil(1/alpha)"))
        return [feasible, welfare]

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None,
    ) -> RunOutcome[PrintedBillboard, None]:
        """Run T rounds, or fewer if few bidders report that they are outbid. Bidders without a good at the end get
        nothing.

        Args:
            data: (n, k) valuations in [0, 1]: an array, a frame, an Arrow table or a file with a column for each good,
                a sparse array, or `Valuations`.
            noise: source of the noise.
            progress: function that receives the number of rounds played and the number of all rounds.

        Returns:
            An outcome with each bidder's good in the column "good" of the shares, -1 for none.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods)
        playing = Playing(values=values, supply=self.effective_supply, increment=self.increment,
                          corrected=self.corrected, levels=self.setting.levels,
                          session=self.counter.open(source, "printed", line=_LINE))
        rose = self.halts_below
        while playing.rounds < self.setting.rounds and rose >= self.halts_below:
            rose = playing.play_round()
            if progress is not None and playing.rounds < self.setting.rounds:
                progress(playing.rounds, self.setting.rounds)
        if progress is not None:  # also where few reports ended it before
            progress(self.setting.rounds, self.setting.rounds)
        board = PrintedBillboard(people=self.people, supply=self.effective_supply, increment=self.increment,
                                 corrected=self.corrected, rounds=playing.rounds, counts=np.concatenate(playing.counts),
                                 reports=np.concatenate(playing.reports))
        held = np.maximum(playing.held, -1)
        given = np.bincount(held[held >= 0], minlength=self.goods)
        return self._outcome(noise, billboard=board, shares=pa.table({"good": pa.array(held)}), diagnostics={
            "welfare": values.welfare(held), "over_allocated": float(np.maximum(0, given - self.supply).sum())})

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        return {"good": printed_replay(as_row(record, self.goods), index, self._own(billboard))}

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard can come from this auction: its parameters must be the same, and its last round must
        follow from its counts of reports.

        Raises:
            InvalidInput: the billboard is another auction's, or no run can publish it.
        """
        board = self._own(billboard)
        if not 1 <= board.rounds <= self.setting.rounds:
            raise InvalidInput("rounds", f"{board.rounds} were played", f"must be in 1..{self.setting.rounds}")
        ended = board.risen() < self.halts_below
        if bool(ended[:-1].any()) or (board.rounds < self.setting.rounds and not ended[-1]):
            raise InvalidInput("rounds", f"{board.rounds} were played", "the reports give another number")
        if self.corrected and (bool((np.diff(board.counts, axis=0, prepend=0) < 0).any())
                               or bool((np.diff(board.reports, prepend=0) < 0).any())):
            raise InvalidInput("counts", "fall", "corrected counts never fall")

    def _own(self, billboard: Billboard) -> PrintedBillboard:
        if not isinstance(billboard, PrintedBillboard) or (
                billboard.people, billboard.goods, billboard.supply, billboard.increment, billboard.corrected) != (
                self.people, self.goods, self.effective_supply, self.increment, self.corrected):
            raise InvalidInput("billboard", "is of another auction")
        return billboard


def _counter(setting: MatchingSetting, corrected: bool) -> TreeCounter:
    strict = float_up(setting.l1_sensitivity * setting.levels / written(setting.epsilon))
    return TreeCounter(horizon=setting.horizon, counters=setting.goods + 1, arity=2,
                       l1_sensitivity=setting.l1_sensitivity,
                       scale=strict if corrected else setting.printed_scale, running_maximum=corrected)


def _corrected_error(setting: MatchingSetting) -> float:
    return _counter(setting, True).error_bound(setting.failure_probability)

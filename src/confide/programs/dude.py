"""`Dude`: the base class of all mechanisms of this package. A mechanism has a program, a privacy budget and promises.
Each mechanism computes a path of prices, the prices of all rounds, under differential privacy.

Source: Wu 2017, chapter 5; spec convex_programs 2.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

from confide.contract.checks import fraction, positive
from confide.contract.digests import canonical, digest
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress, unusable_in
from confide.contract.outcome import Billboard as AnyBillboard
from confide.contract.outcome import RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.remedies import tried
from confide.contract.renamed import renamed
from confide.contract.wire import wire_name, wire_of
from confide.numerics.map_reduce import threads
from confide.numerics.shards import Shards, ThreadShards
from confide.privacy.accounting import Accountant, spendable
from confide.privacy.events import Event
from confide.privacy.losses import ApproxDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.public_randomness import is_public_seed
from confide.programs.billboards import PathBillboard
from confide.programs.dual_dynamics import (
    PRICES,
    Descent,
    Law,
    Schedule,
    Step,
    event,
    play,
    squared_budget,
    usual_rounds,
)
from confide.programs.grids import NEIGHBOUR_WORDS, PRICE_UNIT, Neighbours, neighbours_today
from confide.programs.guarantees import PathCertificate, as_path, certificate, regret_bound
from confide.programs.program import Program, as_plain, with_supply
from confide.programs.slots import collected

__all__ = ["MECHANISM_WORDS", "Dude", "Sharding", "scaled"]

P_co = TypeVar("P_co", bound=PathBillboard, default=PathBillboard, covariant=True)
"""Type of a mechanism's billboard."""

Sharding = Callable[[list[Any]], Shards]

MECHANISM_WORDS: Mapping[str, Any] = {"failure_probability": "beta", "words": {"neighbours": NEIGHBOUR_WORDS}}
"""Mapping from fields of the mechanisms to their names in stored files, where the names differ."""

_SHARD, _LEAST_SHARD = 1 << 16, 1 << 13  # people of one, at most; below, a second thread costs more than it saves
@renamed(beta="failure_probability", averaged="noise_std", kept_back="reserve", trivial="baseline_gap",
         squared_sensitivity="squared_l2_sensitivity", unit="relation", tosses="public_randomness")
@dataclass(frozen=True)
class Dude(Mechanism[P_co, PathCertificate]):
    """Base class of the mechanisms that find their prices by private dual dynamics.

    Raises:
        InvalidInput: a number out of range.
        Refused: noise beyond the largest supported scale, or too many calls of a solver (people times rounds).
    """

    program: Annotated[Program, Parameter("program with its public parameters, of any family")]
    epsilon: Annotated[float, Parameter("privacy loss of the whole outcome, towards everybody else together",
                                        unit="nats", above=0)]
    delta: Annotated[float, Parameter(
        "probability that privacy fails, far below 1/people; Gaussian noise needs a delta above 0", above=0, below=0.5)]
    rounds: Annotated[int, Parameter("number of main rounds, which the result averages", symbol="T", at_least=1)] = 200
    burn_in: Annotated[int, Parameter("rounds before them", at_least=0)] = 100
    _: KW_ONLY
    burn_share: Annotated[float, Parameter(
        "share of the path's squared budget for the burn-in", above=0, below=1)] = 0.1
    step: Annotated[Step | None, Parameter("rule for the steps of prices; by default the usual step of the "
                                           "family")] = None
    law: Annotated[Law, Parameter(
        "law of the noise: Gaussian, accounted as Gaussian DP, or discrete Gaussian, accounted as zCDP with a little "
        "more noise")] = "gaussian"
    failure_probability: Annotated[float, Parameter(
        "probability that certificates and bounds fail", symbol="beta", above=0, below=1)] = 0.05
    neighbours: Annotated[Neighbours, Parameter(
        "replace: any other record replaces a record; add_or_remove: the record of an empty slot replaces "
        "it")] = "replace"
    start: Annotated[tuple[float, ...] | None, Parameter(
        "(k,) public prices at the start, such as those of the last period; zeros by default")] = field(default=None)

    board: ClassVar[type[PathBillboard]] = PathBillboard
    """Type of the billboard of a run."""

    public_randomness: ClassVar[bool] = False
    """Whether runs draw public randomness and publish the seed on the billboard."""

    averages_all_rounds: ClassVar[bool] = False
    """Whether averages are taken over all rounds from the first, so that there is no burn-in."""

    phases = (Phase(name="records", asks="one sealed record"),)

    def __post_init__(self) -> None:
        as_plain(self)
        object.__setattr__(self, "neighbours", neighbours_today(self.neighbours))
        super().__post_init__()
        for name in ("epsilon", "delta", "burn_share", "failure_probability"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.start is not None:
            if not isinstance(self.start, list | tuple) or len(self.start) != self.program.rows:
                raise InvalidInput("start", "is not a list with one number for each row",
                                   f"must be {self.program.rows} numbers")
            object.__setattr__(self, "start", tuple(map(float, self.start)))
        self._fits()
        solves = self.program.people * (self.rounds + self.burn_in)
        if solves > self.program.most_responses:
            most = int(self.program.most_responses)
            raise Refused(f"{self.program.people} people in {self.rounds + self.burn_in} rounds need {solves} runs of "
                          "a solver",
                          [*tried(f"rounds = {{rounds}} or fewer, for at most {most} runs of a solver",
                                  partial(replace, self),
                                  up=False, rounds=most // self.program.people - self.burn_in),
                           "use a program of a shape with a fast oracle"])
        _ = self.descent.rule  # refuses a step that the program does not know, and noise beyond all sizes

    def _fits(self) -> None:
        """Check the settings of a particular mechanism against each other, before prices are planned."""

    @classmethod
    def for_budget(cls, *, program: Program, epsilon: float, delta: float = 0.0, **settings: Any) -> Self:
        """A mechanism with as many rounds as its prices need to converge, and the usual values of all other settings.

        Args:
            program: program of any family, with its public parameters, such as the number of people.
            epsilon: privacy loss in nats, above 0.
            delta: delta of the privacy promise, in (0, 1/2), far below 1/people. Gaussian noise needs a delta above 0.
            settings: further parameters of the mechanism, such as rounds or law; they take precedence over the usual
                settings.

        Raises:
            InvalidInput: a number out of range.
            Refused: noise or reserves that are larger than the supply of a constraint.
        """
        if not isinstance(program, Program):
            raise InvalidInput("program", f"{type(program).__name__} is not a Program")
        usual = usual_rounds(program, step=settings.get("step"), start=settings.get("start"))
        own = spendable(positive("epsilon", epsilon), fraction("delta", delta, zero=True))
        made = cls(program=program, epsilon=own, delta=delta, **{**usual, **settings})
        while Accountant(made.events()).epsilon(made.delta) > epsilon:  # parts are rounded, each by itself
            made = replace(made, epsilon=math.nextafter(made.epsilon, 0.0))
        return made

    # ---- public arithmetic

    @property
    def relation(self) -> Relation:
        """The neighbouring relation as an enumeration member, as promises and events use it."""
        return Relation(self.neighbours)

    @cached_property
    def squared_budget(self) -> Fraction:
        """Squared budget of all Gaussian releases together, the largest allowed sum of (sensitivity/standard
        deviation)^2: mu^2 for Gaussian noise, or 2 rho for discrete Gaussian noise.
        """
        return squared_budget(self.law, *self._gaussian_part)

    @property
    def _gaussian_part(self) -> tuple[float, float]:
        """Privacy parameters (epsilon, delta) of all Gaussian releases of a run together."""
        return self.epsilon, self.delta

    @property
    def path_share(self) -> Fraction:
        """Share of the squared budget that pays for the path of prices."""
        return Fraction(1)

    @cached_property
    def squared_l2_sensitivity(self) -> Fraction:
        """Squared l2 sensitivity sigma^2 of the load of one round, in natural units."""
        return self.program.constants.squared_l2_sensitivity(self.neighbours)

    @cached_property
    def schedule(self) -> Schedule:
        """Numbers of rounds, and the noise of each round."""
        return Schedule(rounds=self.rounds, burn_in=self.burn_in, burn_share=self.burn_share, law=self.law,
                        squared_l2_sensitivity=self.squared_l2_sensitivity,
                        squared_budget=self.squared_budget * self.path_share)

    @cached_property
    def descent(self) -> Descent:
        """Rule by which prices follow from the released numbers."""
        return Descent(program=self.priced, schedule=self.schedule, step=self.step, start=self.start)

    @property
    def priced(self) -> Program:
        """The program whose prices are computed: the mechanism's own program, or a copy with less supply in mechanisms
        with a reserve.
        """
        return self.program

    @property
    def noise_std(self) -> float:
        """Standard deviation s of the noise of a constraint's average load, in natural units."""
        return self.schedule.noise_std

    @property
    def reserve(self) -> NDArray[np.float64]:
        """Reserve of each constraint, in natural units of load, shape (k,): the part of the supply that is left unused
        so that the delivered shares fit the supply. The reserve is 0 in mechanisms that do not promise that shares fit.
        """
        return np.zeros(self.program.rows)

    @property
    def highest_price(self) -> float:
        """Upper bound on the price of any participant's action, over all allowed prices, in units of value."""
        return float(self.program.highest_prices.max()) / PRICE_UNIT * self.program.constants.largest_sum

    @property
    def gain(self) -> float:
        """Upper bound on the mean gain from a lie, in units of value; infinite in mechanisms that charge nothing."""
        return math.inf

    @property
    def loss(self) -> ApproxDP:
        """Privacy loss of the whole outcome, towards all others together."""
        return ApproxDP(self.epsilon, self.delta)

    @property
    def baseline_gap(self) -> float:
        """Upper bound on the difference between the optimum and the value of a solution, for any records, in units of
        value.

        In a packing program no value is below 0, so an upper bound on the optimum is enough. One bound on the optimum
        is the number of participants times the largest value V. Where supply is scarce, another bound on the optimum is
        V times the total supply over `least_sum`, the smallest total contribution of an action with a value above 0. On
        average over a mixture of actions, no participant's value exceeds V times their total contribution over
        `least_sum`. All contributions together fit the supplies, so the second bound holds.
        """
        one, served = self.program.constants, float(self.program.people)
        if one.packing and one.least_sum > 0.0:
            served = min(served, math.fsum(max(b, 0.0) for b in self.program.supplies) / one.least_sum)
        return served * one.most_value - self.program.people * one.least_value

    def events(self) -> tuple[Event, ...]:
        """Privacy events of a run: one Gaussian release for the whole path of prices, and the mechanism's other
        releases.
        """
        return (event(self.law, self.squared_budget * self.path_share, self.relation, PRICES),)

    @cached_property
    def regret(self) -> float:
        """Upper bound R on the regret of the path of prices against the best fixed prices, in units of value, known
        before the run. With AdaGrad the bound is infinite, because the regret is known only after the run.

        Source: spec convex_programs 2 (a-priori regret, corrected).
        """
        if self.descent.rule != "gradient":
            return math.inf
        return self._inexact + regret_bound(
            self.priced.constants, self.schedule, self.failure_probability, two_sided=self.program.two_sided)

    def guarantees(self) -> Guarantees:
        source = Source(document="Wu 2017", statement="Theorems 5.3.7 and 5.3.8", spec="convex_programs 2",
                        erratum="exact Gaussian differential privacy in place of strong composition; for any epsilon")
        return Guarantees((
            Privacy(loss=self.loss, neighbours=self.relation, audience=Audience.OTHERS, source=source,
                    note="the provider of a participant's part learns this part"),
            Privacy(loss=self.loss, neighbours=self.relation, audience=Audience.PUBLIC, source=source,
                    part="the billboard"),
            *self._accuracy(),
        ))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        """Promises of value and feasibility that are made before the run."""
        source = Source(document="Wu 2017", statement="Theorem 5.3.17", spec="convex_programs 2",
                        erratum="the factor 2 is not needed; the constants are tail bounds of martingales")
        least = min(self.program.taus)
        value = (Accuracy(bound=self.regret, measure="optimum less the value of the averages",
                          baseline=self.baseline_gap,
                          failure_probability=self.failure_probability,
                          source=source),) if self.baseline_gap > 0.0 else ()
        return (
            *value,
            Accuracy(bound=self.regret / least, measure="excess of all rows together, of the averages",
                     baseline=self._most_excess, failure_probability=self.failure_probability, source=source),
        )

    @property
    def _most_excess(self) -> float:
        """Largest possible total excess of all constraints over their supply."""
        one = self.program.constants
        return min(one.width * one.rows, self.program.people * one.largest_sum)

    def certify(self, billboard: AnyBillboard) -> PathCertificate:
        return certificate(self._own(billboard, but="failure_probability"),
                           self.failure_probability)  # a smaller one may be asked for

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None, shards: Sharding | None = None,
    ) -> RunOutcome[P_co, PathCertificate]:
        """Compute the path of prices, and every participant's share.

        Args:
            data: n records in a form that `program.read` accepts, batches of `SlotRows` that a campaign collected, or a
                table. A table is a pandas, Polars or Arrow frame, or the path of a file, with one column for each
                number of a record, in their order (`confide.tables.frames`). In a release, an unusable row counts as a
                slot without a record. A study refuses an unusable row.
            noise: source of the noise; `Noise.secure()` for a settlement.
            progress: function that is called after each round with the number of finished rounds and the number of all
                rounds.
            shards: workers that process the records in parts; by default threads of the present process.
        """
        source = as_noise(noise)
        records = self.program.read(collected(self.program, data), unusable=unusable_in(source))
        with (shards or ThreadShards)(records.shards(self._shard)) as held:
            prices, slacks = play(self.descent, held, source, progress=progress)
            board = self._board(prices, slacks)
            return self._settled(noise, source, records, held, board)

    @property
    def _shard(self) -> int:
        return max(_LEAST_SHARD, min(_SHARD, -(-self.program.people // threads())))

    def _board(self, prices: NDArray[np.int64], slacks: NDArray[np.int64], **more: Any) -> PathBillboard:
        return PathBillboard(prices=prices, slacks=slacks, burn_in=self.burn_in, **self._facts, **more)

    @property
    def _facts(self) -> dict[str, Any]:
        """Public facts of the plan that a billboard repeats, so that it can be certified alone."""
        return {"round_noise_std": self.schedule.main_noise_std, "discrete": self.law == "discrete_gaussian",
                "tau": np.array(self.program.taus), "two_sided": self.program.two_sided,
                "failure_probability": self.failure_probability, "baseline_gap": float(self.baseline_gap),
                "most_excess": float(self._most_excess),
                "inexact": float(self._inexact), "plan": self._plan}

    @cached_property
    def _plan(self) -> str:
        """Digest of all settings except the failure probability, since certificates may use another failure
        probability.

        The other facts on the billboard do not determine the whole plan. Permuted supplies, another network or another
        alpha may leave each of these facts unchanged.
        """
        found = encode(self, {})
        return digest(canonical(_unsigned({name: one for name, one in found.items() if name != "beta"})))

    @property
    def _inexact(self) -> float:
        """Largest value that all responses together lose against best responses."""
        return self.program.people * self.program.oracle_error

    @abstractmethod
    def _settled(
        self, noise: NoiseSource, source: Noise, records: Any, held: Shards, board: PathBillboard
    ) -> RunOutcome[P_co, PathCertificate]:
        """Compute the outcome from the path of prices."""

    # ---- what a participant and a verifier ask

    def _place(self, index: int) -> int:
        if not 0 <= index < self.program.people:
            raise InvalidInput("index", f"{index} is not a place", f"must be in 0..{self.program.people - 1}")
        return index

    def _own(self, billboard: AnyBillboard, *, but: str = "") -> Any:
        """The billboard, if it repeats the public facts of the mechanism's plan. The method `check` of a mechanism
        verifies the prices of a billboard.
        """
        board = self._shaped(billboard)
        for name, wanted in (("burn_in", self.burn_in), *self._facts.items()):
            if name != but and not _same(getattr(board, name), wanted):
                raise _another_plan("has another program, or another setting" if name == "plan" else
                                    f"has another {name}")
        low, high = self.priced.lowest_prices, self.priced.highest_prices
        if not but and not bool(((board.prices >= low) & (board.prices <= high)).all()):
            raise InvalidInput("prices", "exceed those of this plan")
        if (self.public_randomness or board.public_seed) and not is_public_seed(board.public_seed):
            raise InvalidInput("public_seed", "is missing" if not board.public_seed else "has another form",
                               "must be 64 hexadecimal digits")
        return board

    def _shaped(self, billboard: AnyBillboard) -> Any:
        """The billboard, if it is of the mechanism's kind and size."""
        board = as_path(billboard)
        if type(board) is not self.board:
            raise InvalidInput("billboard", f"{wire_name(board)} is of another mechanism",
                               f"must be that of this campaign, a {wire_of(self.board).name}")
        if board.prices.shape != (self.schedule.total, self.program.rows):
            raise _another_plan(f"{self.schedule.total} rounds and {self.program.rows} rows are planned")
        return board

    def check(self, billboard: AnyBillboard) -> None:
        """Check that a billboard belongs to the mechanism's plan, and that the prices of the billboard follow from its
        released numbers.

        Raises:
            InvalidInput: the billboard is of another plan, or has numbers that no run produces.
        """
        board = self._own(billboard)
        if not np.array_equal(self.descent.path(board.slacks), board.prices):
            raise InvalidInput("prices", "do not follow from the release")

    def natural(self, units: int) -> float:
        """A value or a price in natural units, converted from the whole units of a computation.

        Args:
            units: amount in units of 2^-24/`program.scale` of value.
        """
        return units / (PRICE_UNIT * self.program.scale)


def _same(found: Any, wanted: Any) -> bool:
    """Whether two values are equal and of one type."""
    return (type(found) is type(wanted) and getattr(found, "dtype", None) == getattr(wanted, "dtype", None)
            and bool(np.array_equal(found, wanted)))


def _unsigned(value: Any) -> Any:
    """A JSON form in which 0 has no sign, so that equal mechanisms have the same digest."""
    if isinstance(value, dict):
        return 0.0 if value == {"float": "-0.0"} else {name: _unsigned(one) for name, one in value.items()}
    return [_unsigned(one) for one in value] if isinstance(value, list) else value


def _another_plan(how: str) -> InvalidInput:
    return InvalidInput("billboard", f"belongs to another plan: {how}", "must come from a run of this mechanism")


def scaled(mechanism: Dude, *, factor: float = 1.0, supply: float | None = None, **changed: Any) -> Dude:
    """A copy of a mechanism with other supplies and settings.

    Args:
        mechanism: mechanism to change.
        factor: factor that every supply is multiplied by.
        supply: new supply, in natural units, of all constraints with a supply of 0 or less; None to multiply these
            supplies by `factor`, too.
        changed: new values of other settings of the mechanism, by their names.
    """
    return replace(mechanism, program=with_supply(mechanism.program, factor=factor, supply=supply), **changed)

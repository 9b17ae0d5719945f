"""`PrintedDude`: Algorithm 8 as printed, for comparison, with the printed noise, the printed step size and an average
over all rounds.

At epsilon = 1 and delta = 10^-6 the printed noise is 17 times the noise that exact accounting requires. The printed
number T = w^2 of rounds is too large to compute at practical sizes. An average over all rounds also includes the first
rounds, in which prices are far from their final values. For a real allocation, use `PrivDude`.

Source: Wu 2017, Algorithm 8, Theorems 5.3.7, 5.3.8 and 5.3.17; spec convex_programs 2; errata 1, 2, 3, 4, 5.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Source
from confide.contract.parameters import Parameter, check_parameters
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.evidence.wu_2017.private_programs.printed_bounds import printed_accuracy, printed_deviation
from confide.privacy.accounting.sums import root_up
from confide.privacy.losses import GDP, ApproxDP
from confide.programs.dual_dynamics import Descent, Schedule, Step
from confide.programs.dude import MECHANISM_WORDS
from confide.programs.grids import LOAD_BITS, PRICE_BITS, PRICE_UNIT
from confide.programs.guarantees import game_accuracy, regret_of_steps
from confide.programs.priv_dude import PrivDude
from confide.programs.program import Program, as_plain

__all__ = ["PrintedDescent", "PrintedDude"]

_MOST_ROUNDS = 100_000
_DOCUMENT = "Wu 2017"


@dataclass(frozen=True, kw_only=True)
class PrintedDescent(Descent):
    """Gradient descent on prices with the printed step size 2 tau/(sqrt(T) (w + sd sqrt(2 ln(4Tk/beta)))), for dual
    bound tau, T rounds, width w, k rows, noise of standard deviation sd and failure probability beta.

    Args:
        spread: the number w + sd sqrt(2 ln(4Tk/beta)) in the denominator of the step size. The term for the noise is
            illegible in the source. This term is a bound that all noise of the run stays below, except with probability
            beta/2, as the proof of Theorem 5.2.6 needs.
    """

    spread: float

    @property
    def rule(self) -> Step:
        """The name of the step rule, here that of a constant step size."""
        return "gradient"

    @property
    def natural_step(self) -> NDArray[np.float64]:
        """The (k,) step sizes eta: change of each price for one unit of load above the supply."""
        return 2.0 * np.array(self.program.taus) / (math.sqrt(self.schedule.rounds) * self.spread)

    def steps(self, t: int) -> NDArray[np.float64]:
        return np.asarray(self.natural_step * 2.0 ** (PRICE_BITS - LOAD_BITS))


@renamed(sensitivity="l2_sensitivity", sigma="used_l2_sensitivity", deviation="round_noise_std")
@wire("PrintedDude", "program epsilon delta rounds burn_in burn_share step law beta neighbours start sensitivity",
      **MECHANISM_WORDS, l2_sensitivity="sensitivity")
@dataclass(frozen=True)
class PrintedDude(PrivDude):
    """Algorithm 8 as printed: best responses to prices, averaged over all rounds. The prices are computed with the
    printed noise and the printed step size.

    In the source the line with the update of prices is missing, so the sign of the update is unknown. The source writes
    the gradient as load - b for supply b, while prices must rise with load (erratum 1). Prices stay in the box [0, 2
    tau], as in the algorithm, and not in the ball of the text (erratum 2). The l2 sensitivity sigma is the corrected
    one of the program unless `l2_sensitivity` is given.

    Raises:
        InvalidInput: a number is out of range, or an option is used that the source does not have.
        Refused: the printed number w^2 of rounds, for width w, is too large.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs import UnitDemand, popular
        >>> literal = PrintedDude(UnitDemand(300, 37, goods=4), epsilon=1.0, delta=1e-6, rounds=300)
        >>> outcome = literal.run(popular(300, 4, seed=1), Noise.simulated(1))
        >>> round(literal.noise_std), round(PrivDude(literal.program, 1.0, 1e-6, burn_in=0).noise_std)
        (97, 6)
        >>> PrintedDude(UnitDemand(1000, 50, goods=10), epsilon=1.0, delta=1e-6)
        Traceback (most recent call last):
        ...
        confide.contract.errors.Refused: T = w^2 is 1,000,000 rounds (must be at most 100,000: set `rounds`)
    """

    rounds: Annotated[int, Parameter(
        "rounds, over all of which is averaged; 0 for the print's w^2, which is refused beyond 100,000", symbol="T",
        at_least=0)] = 0
    burn_in: Annotated[int, Parameter("0: the print has none", at_least=0)] = 0
    _: KW_ONLY
    l2_sensitivity: Annotated[float | None, Parameter(
        "sigma as printed, where it is another than the program's", symbol="sigma", above=0)] = None

    averages_all_rounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        as_plain(self)
        check_parameters(self)
        usual: dict[str, object] = {"burn_in": 0, "step": None, "start": None, "law": "gaussian", "burn_share": 0.1}
        for name, value in usual.items():
            if getattr(self, name) != value:
                raise InvalidInput(name, f"{getattr(self, name)!r} is given",
                                   "the printed algorithm has no such option")
        if self.rounds == 0:
            needed = math.ceil(self.program.constants.width ** 2)
            if needed > _MOST_ROUNDS:
                raise Refused(f"T = w^2 is {needed:,} rounds", f"must be at most {_MOST_ROUNDS:,}: set `rounds`")
            object.__setattr__(self, "rounds", needed)
        super().__post_init__()

    @classmethod
    def for_budget(cls, *, program: Program, epsilon: float, delta: float = 0.0, **settings: Any) -> Self:
        """The mechanism with the source's settings: w^2 rounds for width w, and no early rounds that are left out of
        the average.
        """
        return cls(program=program, epsilon=epsilon, delta=delta, **settings)

    # ---- public arithmetic

    @property
    def used_l2_sensitivity(self) -> float:
        """The l2 sensitivity for which the noise is scaled: `l2_sensitivity` if given, or else that of the program."""
        return root_up(self.squared_l2_sensitivity) if self.l2_sensitivity is None else self.l2_sensitivity

    @property
    def round_noise_std(self) -> float:
        """The printed standard deviation of the noise of one round."""
        return printed_deviation(self.used_l2_sensitivity, self.epsilon, self.delta, self.rounds)

    @cached_property
    def squared_budget(self) -> Fraction:
        """The squared parameter mu^2 of Gaussian differential privacy of all rounds together, with the printed noise
        and the program's l2 sensitivity sigma.
        """
        return self.squared_l2_sensitivity * self.rounds / Fraction(self.round_noise_std) ** 2

    @cached_property
    def schedule(self) -> Schedule:
        return Schedule(rounds=self.rounds, burn_in=0, squared_l2_sensitivity=self.squared_l2_sensitivity,
                        squared_budget=self.squared_budget)

    @cached_property
    def descent(self) -> PrintedDescent:
        spread = self.program.constants.width + self.round_noise_std * math.sqrt(
            2.0 * math.log(4.0 * self.rounds * self.program.rows / self.failure_probability))
        return PrintedDescent(program=self.program, schedule=self.schedule, spread=spread)

    @property
    def proved(self) -> ApproxDP:
        """The proven privacy loss of the printed noise by exact accounting, at the same delta."""
        return ApproxDP(GDP(root_up(self.squared_budget)).epsilon_at(self.delta), self.delta)

    @property
    def loss(self) -> ApproxDP:
        return self.proved

    @cached_property
    def regret(self) -> float:
        """The bound of this project on the regret with the printed step size. The bound holds with probability 1 -
        beta.
        """
        steps: list[float] = self.descent.natural_step.tolist()
        sides = 2.0 if self.program.two_sided else 1.0
        off = 0.5 / PRICE_UNIT
        slip = math.fsum(off * (sides * 2.0 * tau + off) / eta
                         for eta, tau in zip(steps, self.program.taus, strict=True))
        return slip + regret_of_steps(
            steps=steps, taus=self.program.taus, width=self.program.constants.width, noise_std=self.noise_std,
            rounds=self.rounds, failure_probability=self.failure_probability, two_sided=self.program.two_sided)

    def guarantees(self) -> Guarantees:
        ours = Source(document=_DOCUMENT, statement="Theorems 5.3.7 and 5.3.8", spec="convex_programs 2",
                      erratum="exact Gaussian DP of the printed noise")
        print_ = Source(document=_DOCUMENT, statement="Theorems 5.3.7 and 5.3.8", spec="convex_programs 2")
        holds = self.proved.epsilon <= self.epsilon
        note = "" if holds else (
            "exact accounting of the printed noise gives a larger epsilon: Theorem 2.3.2 is for a round's epsilon' < 1 "
            "only, strong composition for T epsilon'(e^epsilon' - 1) <= epsilon/2; or sigma is too small")
        privacy = [
            Privacy(loss=self.proved, neighbours=self.relation, audience=audience, source=ours, part=part)
            for audience, part in ((Audience.OTHERS, "the whole outcome"), (Audience.PUBLIC, "the billboard"))]
        printed = Privacy(loss=ApproxDP(self.epsilon, self.delta), neighbours=self.relation, audience=Audience.OTHERS,
                          source=print_, claimable=holds, note=note)
        return Guarantees((*privacy, printed, *self._accuracy()))

    def _accuracy(self) -> tuple[Accuracy, ...]:
        one = self.program.constants
        source = Source(document=_DOCUMENT, statement="Theorem 5.3.17", spec="convex_programs 2",
                        erratum="no factor 2; constants by martingale tails; any number of rounds")
        print_ = Source(document=_DOCUMENT, statement="Theorem 5.3.17", spec="convex_programs 2")
        loss, excess = game_accuracy(self.regret, self.program.taus)
        said = printed_accuracy(
            people=self.program.people, rows=self.program.rows, tau=max(one.tau), width=max(1.0, one.width),
            sensitivity=self.used_l2_sensitivity, epsilon=self.epsilon, delta=self.delta,
            failure_probability=self.failure_probability,
            most_value=max(one.most_value - one.least_value, 2.0**-20), most_excess=self._most_excess)
        ok, why = self._printed_accuracy(loss <= said.welfare_loss and excess <= said.excess)
        measures = ("optimum less the value of the averages", "excess of all rows together, of the averages")
        trivial = (self.baseline_gap, self._most_excess)
        found = [Accuracy(bound=bound, measure=measure, baseline=most, failure_probability=self.failure_probability,
                          source=source)
                 for bound, measure, most in zip((loss, excess), measures, trivial, strict=True)]
        found += [Accuracy(bound=bound, measure=measure, baseline=most, failure_probability=self.failure_probability,
                           source=print_,
                           claimable=ok, note=why)
                  for bound, measure, most in zip((said.welfare_loss, said.excess), measures, trivial, strict=True)]
        return tuple(found)

    def _printed_accuracy(self, implied: bool) -> tuple[bool, str]:
        """Whether the printed bounds hold because ours are smaller, and the mistake in the source's proof."""
        proof = ("the proof bounds the noise's part by its minimum over fixed prices, which is false (erratum 3), and "
                 "drops a factor sqrt(ln(1/delta)) in its last form (erratum 4)")
        if implied:
            return True, f"{proof}; at these sizes the number follows from ours"
        if self.rounds < self.program.constants.width ** 2:
            return False, f"the print asks for T = w^2 = {self.program.constants.width ** 2:,.0f} rounds; {proof}"
        return False, proof



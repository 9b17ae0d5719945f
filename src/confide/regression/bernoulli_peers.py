"""The smallest example of peer prediction: each player holds a bit, and is paid for the accuracy with which the bit
predicts the others' bits.

The bits are independent coin tosses with an unknown probability p of a one, and p has a known law. A player who reports
a bit is paid B(m, E[p | bit]), where B is a scoring rule and m is the mean of all other players' bits. Truth is an
equilibrium for any number of players, and other equilibria exist.

Source: Cummings et al. 2015, Appendix A.1; spec truthful_regression section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantees,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Declared, Parameter
from confide.contract.probabilities import as_probabilities
from confide.contract.progress import advance
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.events import UnprotectedEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.regression.scoring import ScoringRule
from confide.tables._cells import real
from confide.tables.frames import column_of, own_row

__all__ = ["BernoulliBillboard", "BernoulliPeers", "BetaPrior", "FinitePrior"]

Array = NDArray[np.float64]
DOCUMENT = "Cummings et al. 2015"
SPEC = "truthful_regression 2"
BRIER = ScoringRule(1.0, 2.0)
"""The scoring rule B_{1,2}, with constant 1 and weight 2, which Cummings et al. 2015 use for bits."""


@wire("BetaPrior", "s t")
@dataclass(frozen=True)
class BetaPrior(Declared):
    """A beta law of the probability p of a one: Beta(s, t), where Beta(1, 1) is uniform.

    Example:
        >>> BetaPrior(1.0, 1.0).mean_given(1)
        0.6666666666666666
    """

    s: Annotated[float, Parameter("weight of the ones, such as 1 + the number of ones in an earlier sample", above=0)]
    t: Annotated[float, Parameter("weight of the zeros", above=0)]

    @property
    def mean(self) -> float:
        """The mean E[p], which is also the probability that a bit is 1."""
        return self.s / (self.s + self.t)

    @property
    def variance(self) -> float:
        total = self.s + self.t
        return self.s * self.t / (total * total * (total + 1))

    def mean_given(self, bit: int) -> float:
        """The posterior mean E[p | bit] = (s + bit)/(s + t + 1), given a player's own bit."""
        return (self.s + bit) / (self.s + self.t + 1)

    def ones_given(self, bit: int, people: int) -> Array:
        """Probability of each number of ones among `people` other players' bits, given one's own bit, shape (people +
        1,).
        """
        s, t, ones = self.s + bit, self.t + 1 - bit, np.arange(people + 1.0)
        logs = scipy.special.betaln(s + ones, t + people - ones) - scipy.special.betaln(s, t)
        return np.asarray(np.exp(logs + _log_choices(people)))


@wire("FinitePrior", "points weights")
@dataclass(frozen=True, eq=False)
class FinitePrior:
    """A law of the probability p of a one that has finitely many values.

    Args:
        points: (k,) values of p, in [0, 1], not all 0 and not all 1.
        weights: (k,) probabilities of the values in `points`, positive. The sum must be 1 within 1e-9; it is then
            rescaled to 1.

    Example:
        >>> round(FinitePrior([0.2, 0.8], [0.5, 0.5]).mean_given(1), 12)
        0.68
    """

    points: Array
    weights: Array

    def __post_init__(self) -> None:
        points, weights = np.array(self.points, np.float64), as_probabilities(self.weights)
        if points.ndim != 1 or not points.size or not np.all((points >= 0) & (points <= 1)):
            raise InvalidInput("points", "cannot be used", "must be one or more numbers of [0, 1]")
        if weights.shape != points.shape or not np.all(weights > 0) or not abs(float(weights.sum()) - 1) <= 1e-9:
            raise InvalidInput("weights", "cannot be used",
                               "must be one positive probability for each point, with the sum 1")
        if not 0 < float(weights @ points) < 1:
            raise InvalidInput("points", "are all 0 or all 1", "both values of a bit must be possible")
        weights /= weights.sum()
        for name, value in (("points", points), ("weights", weights)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def from_density(cls, density: Callable[[Array], ArrayLike], nodes: int = 64) -> FinitePrior:
        """A law of p with a smooth density on [0, 1], represented by the nodes of Gauss-Legendre quadrature.

        Moments up to the order 2 nodes - 1 are exact for a constant density; a smooth density needs only a few more
        nodes.

        Args:
            density: elementwise function on [0, 1], non-negative; it need not be normalised.
            nodes: number of quadrature nodes, at least 2.
        """
        node, share = scipy.special.roots_legendre(whole("nodes", nodes, at_least=2))
        points = (node + 1) / 2
        weights = share * np.asarray(density(points), np.float64)
        if not np.all(weights >= 0) or not 0 < float(weights.sum()) < math.inf:
            raise InvalidInput("density", "cannot be used", "must be non-negative and integrable")
        keep = weights > 0
        return cls(points[keep], weights[keep] / weights[keep].sum())

    @property
    def mean(self) -> float:
        """The mean E[p], which is also the probability that a bit is 1."""
        return float(self.weights @ self.points)

    @property
    def variance(self) -> float:
        return float(self.weights @ (self.points - self.mean) ** 2)

    def _given(self, bit: int) -> Array:
        likelihood = self.weights * (self.points if bit else 1 - self.points)
        return np.asarray(likelihood / likelihood.sum())

    def mean_given(self, bit: int) -> float:
        """The posterior mean E[p | bit], given a player's own bit."""
        return float(self._given(bit) @ self.points)

    def ones_given(self, bit: int, people: int) -> Array:
        """Probability of each number of ones among `people` other players' bits, given one's own bit, shape (people +
        1,).
        """
        ones, p = np.arange(people + 1.0), self.points[:, None]
        logs = scipy.special.xlogy(ones, p) + scipy.special.xlog1py(people - ones, -p) + _log_choices(people)
        return np.asarray(self._given(bit) @ np.exp(logs))


def _log_choices(people: int) -> Array:
    ones = np.arange(people + 1.0)
    return np.asarray(scipy.special.gammaln(people + 1) - scipy.special.gammaln(ones + 1)
                      - scipy.special.gammaln(people - ones + 1))


@wire("BernoulliBillboard", "bits ones")
@dataclass(frozen=True, kw_only=True, eq=False)
class BernoulliBillboard(Billboard):
    """The public result: the number of bits, and the number of ones among them.

    Args:
        bits: number of usable reports.
        ones: number of usable reports that are 1.
    """

    bits: int
    ones: int

    def __post_init__(self) -> None:
        if whole("ones", self.ones) > whole("bits", self.bits, at_least=2):
            raise InvalidInput("ones", f"{self.ones} is too many", f"must be at most {self.bits}")

    @property
    def proportion(self) -> float:
        """The share of ones, which estimates p."""
        return self.ones / self.bits


@wire("BernoulliPeers", "people prior rule currency minor_units")
@dataclass(frozen=True, kw_only=True)
class BernoulliPeers(Mechanism[BernoulliBillboard, None]):
    """A mechanism that buys bits from people who may lie: the smallest example of peer prediction, without privacy.

    The class has no parameter epsilon and no `for_budget`, because the exact number of ones is published.

    Source: Cummings et al. 2015, Appendix A.1 and Lemma 4; spec truthful_regression section 2.

    Example:
        >>> peers = BernoulliPeers(people=5, prior=BetaPrior(1.0, 1.0))
        >>> round(peers.cost_of_lying, 12) == round(2 / 9, 12)
        True
        >>> peers.run([1, 0, 1, 1, None], Noise.simulated(0)).shares["payment"].to_pylist()
        [56, 11, 56, 56, 0]
    """

    people: Annotated[int, Parameter(
        "number of invited slots; a slot without a bit is null, does not count and is paid 0", symbol="n", at_least=2)]
    prior: Annotated[BetaPrior | FinitePrior, Parameter("law of p")]
    rule: Annotated[ScoringRule, Parameter(
        "the scoring rule, in the currency's unit. B_{1,2} is the source's, with the least payment -1")] = BRIER
    currency: Annotated[str, Parameter("its name")] = "USD"
    minor_units: Annotated[int, Parameter(
        "number of smallest coins in one unit; shares are whole numbers of coins", at_least=1)] = 100

    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="report", asks="one bit"),)

    # ---- incentives, exactly

    @property
    def cost_of_lying(self) -> float:
        """The expected loss from reporting the opposite of one's bit if all others are truthful. The loss is the same
        for both bits.

        The loss is b (E[p | 1] - E[p | 0])^2, where b is the weight of the scoring rule. Under Beta(s, t) and the rule
        B_{1,2} the loss equals 2/(s + t + 1)^2.
        """
        return self.rule.b * (self.prior.mean_given(1) - self.prior.mean_given(0)) ** 2

    def interim(self, bit: int, report: int, others: tuple[float, float] = (0.0, 1.0), peers: int = 0) -> float:
        """A player's expected payment before rounding, by enumeration of the possible reports of the player's peers.

        Args:
            bit: the player's bit, 0 or 1.
            report: the player's report, 0 or 1.
            others: probabilities that another player reports 1 if that player's bit is 0, and if that bit is 1. With
                (0, 1) all other players are truthful.
            peers: number of random peers. The player's prediction is compared with the mean of the reports of these
                peers. The number 0 stands for all n - 1 peers.
        """
        for name, value in (("bit", bit), ("report", report)):
            if value not in (0, 1):
                raise InvalidInput(name, f"{value!r} is not a bit", "must be 0 or 1")
        for rate in others:
            non_negative("others", rate, at_most=1.0)
        count = whole("peers", peers) or self.people - 1
        if count >= self.people:
            raise InvalidInput("peers", f"{peers} is too many", f"must be below {self.people}")
        have = self.prior.ones_given(bit, count)
        total = np.arange(count + 1)
        prediction = self.prior.mean_given(report)
        expected = 0.0
        for ones, chance in enumerate(have):
            # Ones among their reports: of `ones` people who have a 1, and of the others.
            said = np.convolve(_binomial(ones, others[1]), _binomial(count - ones, others[0]))
            expected += float(chance) * float(said @ self.rule(total / count, prediction))
        return expected

    def equilibria(self) -> list[tuple[int, int]]:
        """All symmetric equilibria in pure strategies, as pairs (report for the bit 0, report for the bit 1). A
        strategy is in the list if it is a best reply to itself.

        Truth, (0, 1), is always an equilibrium. If everybody else gives the same report, giving this report is a best
        reply as well. Peer prediction makes truth stable, and does not make it the only stable outcome.
        """
        found = []
        for said in ((0, 1), (0, 0), (1, 1), (1, 0)):
            others = (float(said[0]), float(said[1]))
            gains = [self.interim(bit, 1 - said[bit], others) - self.interim(bit, said[bit], others) for bit in (0, 1)]
            if max(gains) <= 1e-12 * self.rule.b:
                found.append(said)
        return found

    # ---- promises

    def events(self) -> tuple[UnprotectedEvent, ...]:
        """The privacy event of the run: a release without privacy, which no ledger accepts."""
        return (UnprotectedEvent(neighbours=Relation.REPLACE, label="number of ones"),)

    def guarantees(self) -> Guarantees:
        """The guarantees if everybody takes part and is truthful; expectations are exact."""
        coin, rule, prior = 1.0 / self.minor_units, self.rule, self.prior
        means = np.array([prior.mean_given(bit) for bit in (0, 1)])
        worth = rule(means, means)
        extremes = rule(np.array([[0.0], [1.0]]), means)
        chance = np.array([1 - prior.mean, prior.mean])
        cost = self.cost_of_lying
        return Guarantees((
            Privacy(loss=PureDP(math.inf), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                    source=Source(document=DOCUMENT, statement="Appendix A.1", spec=SPEC),
                    note="no privacy: the exact number of ones is published"),
            Truthfulness(
                gain=max(0.0, coin - cost), baseline=cost, who="everybody", unit_of_gain=self.currency,
                source=Source(document=DOCUMENT, statement="Lemma 4", spec=SPEC),
                note=f"a lie costs {cost:.4g} {self.currency} in expectation before rounding to coins; agreeing on one "
                     "answer is an equilibrium as well"),
            Participation(
                utility=float(worth.min()) - coin / 2, who="everybody, without privacy costs",
                source=Source(document=DOCUMENT, statement="Lemma 4", spec=SPEC,
                              erratum="in expectation: B_{1,2}(1, 0) = -1; a = 2 makes every payment non-negative"),
                note="on average; a single payment can be negative" if float(extremes.min()) < 0 else "on average"),
            Accuracy(bound=(prior.mean * (1 - prior.mean) - prior.variance) / self.people, baseline=prior.variance,
                     measure="the expected squared error of the proportion",
                     source=Source(document=DOCUMENT, statement="Appendix A.1", spec=SPEC)),
            Budget(expected=self.people * (float(chance @ worth) + coin / 2),
                   lowest=float(extremes.min()) - coin / 2, highest=float(extremes.max()) + coin / 2,
                   currency=self.currency,
                   source=Source(document=DOCUMENT, statement="Appendix A.1", spec=SPEC)),
        ))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[BernoulliBillboard, None]:
        """Count the bits, and pay each player.

        Args:
            data: at most n reports in the order of the public list of ids, also as a series, an Arrow column, or a
                frame or a file of one column. A report that is neither 0 nor 1 does not count and is paid 0.
            noise: source from which nothing is drawn; its kind decides the type of the outcome.
            progress: function that is called with (steps done, 2), where the steps are the count and the payments.

        Raises:
            InvalidInput: there are more reports than invited people, or a column holds no numbers.
            Refused: there are fewer than two usable bits, so that a player has no peers. The refusal reveals the number
                of usable bits, because nothing in this mechanism is private.
        """
        if not isinstance(noise, Noise):
            raise InvalidInput("noise", f"{type(noise).__name__} is not a Noise", "use Noise.secure()")
        column = column_of(data)
        data = data if column is None else column
        reports = list(data) if isinstance(data, Iterable) and not isinstance(data, Iterator | str | bytes) else None
        if reports is None:
            raise InvalidInput("data", f"{type(data).__name__} is not a list of bits")
        if len(reports) > self.people:
            raise InvalidInput("data", f"has {counted(len(reports), 'report')}",
                               f"must be at most the {self.people} invited slots")
        advance(progress, 0, 2)
        reports = [_bit(report) for report in reports]
        bits = [bit for bit in reports if bit is not None]
        if len(bits) < 2:
            raise Refused("fewer than two bits are usable, so nobody has peers", "invite more people")
        billboard = BernoulliBillboard(bits=len(bits), ones=sum(bits))
        advance(progress, 1, 2)
        reports += [None] * (self.people - len(reports))
        shares = [self.decode(report, index, billboard)["payment"] for index, report in enumerate(reports)]
        advance(progress, 2, 2)
        return self._outcome(noise, billboard=billboard, shares=pa.table({"payment": pa.array(shares, pa.int64())}))

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """One participant's payment, from their own bit and the public billboard, which together determine the mean of
        the others' bits.

        Args:
            record: bit of the participant, 0 or 1, also as an array, a column or a table of one row, or a mapping of
                one column; any other value counts as no report.
            index: rank of the participant in the public list of ids.
            billboard: billboard of the run.
        """
        if not isinstance(billboard, BernoulliBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a BernoulliBillboard")
        if not 0 <= whole("index", index) < self.people:
            raise InvalidInput("index", f"{index} is out of range", f"must be below {self.people}")
        own = own_row(record, 1)
        bit = _bit(own[0] if isinstance(own, np.ndarray | list | tuple) and len(own) == 1 else own)
        if bit is None:
            return {"payment": 0}
        others = (billboard.ones - bit) / (billboard.bits - 1)
        return {"payment": round(float(self.rule(others, self.prior.mean_given(bit))) * self.minor_units)}


def _bit(report: Any) -> int | None:
    """A report as 0 or 1; None for any other report."""
    value = real(report)
    return int(value) if value in (0.0, 1.0) else None


def _binomial(trials: int, chance: float) -> Array:
    """(trials + 1,) binomial probabilities of each number of successes."""
    ones = np.arange(trials + 1.0)
    logs = scipy.special.xlogy(ones, chance) + scipy.special.xlog1py(trials - ones, -chance) + _log_choices(trials)
    return np.asarray(np.exp(logs))

"""The choice between `PMatch` and `SinkhornMatch`, their settings, and predictions of their welfare, from public sizes
alone.

`PMatch` and `SinkhornMatch` keep the same promise of privacy. The two mechanisms were measured with 8 to 100 goods and
400 to 800 copies of each good. The product of the number of copies and epsilon was 400 to 40,000 (see the table of
`settings`). `SinkhornMatch` was better by .2 of the optimum where the number of copies times epsilon is 400, and by .06
where this product is 4,000. At 40,000 there is hardly any noise, and `SinkhornMatch` loses welfare by its lottery and
its biases. At 40,000 the two mechanisms are even, except for 100 goods with 400 copies each, where `PMatch` was better
by .02. With charged prices the lead of `SinkhornMatch` is larger: .25 where the product is 400, and .1 where it is
4,000. All bidders of `SinkhornMatch` ask at the prices that they pay. `PMatch` is an auction from the literature (Wu
2017), corrected. `PMatch` supports further laws of noise and halting rules. The holders in a `PMatch` are the bidders
with the latest bids, and are not drawn by lot.

Goods handed out without asking anybody are worth .5 to .65 of the optimum on the measured instances. With 20 goods of
800 copies, PMatch falls below that baseline if the number of copies times epsilon is below about 250, and SinkhornMatch
if this product is below about 100.

Source: spec allocation 4.3; predictions are simulations, not guarantees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from confide.allocation.market import Market
from confide.allocation.pmatch import PMatch
from confide.allocation.predicted import RUNS, CrowdPrediction, predicted, share_of_people_alike
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.contract.checks import one_of, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import Remedy, outward, retried, trying
from confide.contract.renamed import by_position_before, renamed, renamed_keywords, warn_of_old
from confide.contract.wire import parts_of, wire_name
from confide.privacy.public_randomness import PUBLIC_RANGE

__all__ = ["UNASKED", "AllocationPlan", "hopeless", "least_epsilon", "plan", "worth_it"]

_Advised = PMatch | SinkhornMatch

_SECURE = 8e-6  # seconds a draw
_ASKING = 4e-9  # seconds for one value in one round of soft demand, on one core
_BIDDING = 3e-9  # seconds for one value that is looked at for a bid
_BIDDER = 80  # bytes of state of each bidder
_NOISES = 40 * 2**20  # bytes of noise that is held at once, with its temporaries
_DOUBLINGS = 24
_TENTHS = 24
_COMMON = {one.name for one in fields(Market)} | {"charge"}  # what both mechanisms have and mean alike
UNASKED = "goods assigned without any reports"
"""Name of the baseline that hands out goods without asking anybody. The baseline uses no private data."""

_OF_OPTIMUM = "share of the optimum"
_HARDLY = 1.1  # times the baseline: what is not worth a run
_CLEARLY = 0.02  # of the optimum: what one mechanism is better by, for a word about it


class _Figures(dict[str, Predicted]):
    """The figures of a plan by name. The name of a kind of population is still accepted as a key, with a warning, and
    gives the entry of this kind in `crowds`.
    """

    def __init__(self, figures: Mapping[str, Predicted], crowds: Mapping[str, CrowdPrediction]) -> None:
        super().__init__(figures)
        self._crowds = crowds

    def __missing__(self, name: str) -> Any:
        found = self._crowds[name]
        warn_of_old("AllocationPlan", f"predicted[{name!r}]", f"crowds[{name!r}]")
        return found


@renamed(held_back="reserve")
@renamed_keywords(predicted="crowds")
@dataclass(frozen=True, kw_only=True)
class AllocationPlan(Plan[PMatch | SinkhornMatch]):
    """A mechanism recommended for public sizes, and the figures that support the choice.

    Args:
        mechanism: recommended `PMatch` or `SinkhornMatch`.
        error: upper bound E >= 0 on an error, in bidders or bids, which holds except with the failure probability. For
            PMatch, `error` bounds the error of every published count. For SinkhornMatch, `error` bounds the error of
            the final count of bidders who ask for a good.
        reserve: number m >= 0 of copies of a median good that stay unsold when as many bidders ask for the good as
            there are copies. The reserve is the price of the promise that no good is given beyond its supply. For a
            PMatch with a final clearing, `reserve` is the bound on the noise in a good's first cell.
        crowds: mapping from kind of synthetic population ("A" and "B", or "prior") to the predictions for that kind.
        alike: predicted share of the optimal welfare if all people have the same values, so that prices cannot tell
            them apart.
        other: mechanism with which the recommended mechanism was compared, ready to run: a `PMatch` if a
            `SinkhornMatch` is recommended, and the reverse. None if no other mechanism was compared.
        passed_over: mapping from kind of synthetic population to the predictions for `other` on the same populations;
            empty if no other mechanism was compared. If options force a `PMatch` that charges prices, a `SinkhornMatch`
            is still compared, unless it is refused.
        refused: reason why no other mechanism was compared; empty if another mechanism was compared, or if there are
            enough copies of every good.
        draws: number of noise draws in a run. A release of the counts of k goods takes k draws.
        seconds: rough time of a run with secure noise, in seconds: 8 microseconds for each noise draw, plus the
            computation on the values on one core.
        megabytes: rough memory of a run in megabytes, including the table of valuations, but not the Python program
            itself.
    """

    mechanism: _Advised
    error: float
    reserve: int
    crowds: Mapping[str, CrowdPrediction]
    alike: float = 1.0
    other: _Advised | None = None
    passed_over: Mapping[str, CrowdPrediction] = field(default_factory=dict)
    refused: str = ""
    draws: int
    seconds: float
    megabytes: float

    @property
    def share(self) -> float:
        """Predicted share of the optimal welfare, averaged over the kinds of populations."""
        return _mean(self.crowds)

    @property
    def span(self) -> tuple[float, float]:
        """Lowest and highest share of the optimal welfare over all simulated runs."""
        found = self.crowds.values()
        return min((one.lowest for one in found), default=1.0), max((one.highest for one in found), default=1.0)

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        """The predicted figures by name, such as the share of the optimal welfare, the error of a count, and the time
        and memory of a run.
        """
        simulated = "simulated" if self.crowds else "exact"
        low, high = self.span
        found = {
            "welfare": Predicted(self.share, _OF_OPTIMUM, simulated),
            "worst run": Predicted(low, _OF_OPTIMUM, simulated),
            "best run": Predicted(high, _OF_OPTIMUM, simulated),
            "welfare of people alike": Predicted(self.alike, _OF_OPTIMUM, simulated)}
        claims = [one.certificate for one in self.crowds.values() if one.certificate is not None]
        if claims:
            found["certified welfare"] = Predicted(min(claims), _OF_OPTIMUM, "simulated")
        found |= {
            "error of a count": Predicted(self.error, "people", "bound"),
            "reserve": Predicted(float(self.reserve), "copies of a usual good", "bound"),
            "draws of noise": Predicted(float(self.draws)),
            "time": Predicted(self.seconds, "seconds", "rule of thumb"),
            "memory": Predicted(self.megabytes, "megabytes", "rule of thumb")}
        return _Figures(found, self.crowds)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The other mechanism and the baselines, computed on the same synthetic bidders."""
        other = "PMatch" if isinstance(self.mechanism, SinkhornMatch) else "SinkhornMatch"
        found = [Alternative(name=other, predicted=_figures(self.passed_over) if self.passed_over else {},
                             refused=self.refused or self._why_not(_mean(self.passed_over)), mechanism=self.other)]
        if self.crowds:
            rules = next(iter(self.crowds.values())).baselines
            of_all = list(self.crowds.values())
            shares = {UNASKED: float(np.mean([one.baseline for one in of_all])),
                      **{name: float(np.mean([one.baselines[name] for one in of_all])) for name in rules}}
            found += [Alternative(name=name, refused="predicted lower" if name == UNASKED else "not private",
                                  predicted={"welfare": Predicted(share, _OF_OPTIMUM, "simulated")})
                      for name, share in shares.items()]
        return tuple(sorted(found, key=lambda one: -one.predicted["welfare"].value if one.predicted else math.inf))

    def _why_not(self, share: float) -> str:
        if self.mechanism.plentiful:
            return "there is a copy of every good for everybody"
        if share > self.share + _CLEARLY:
            return "the options admit only one method"
        return "predicted lower" if share < self.share else ("the predictions are about equal, and lower for people "
                                                             "with similar values")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that name reasons to reconsider the plan before a run; empty if there are none."""
        found = []
        if self._dearly:
            found.append(f"the predicted welfare of SinkhornMatch is {_mean(self.passed_over):.2f} of the optimum, "
                         f"with charged prices, too. The predicted welfare of PMatch is {self.share:.2f}: use "
                         "SinkhornMatch")
        poor = [one for one in self.crowds.values() if one.welfare < _HARDLY * one.baseline]
        if poor:
            one = min(poor, key=lambda each: each.welfare - each.baseline)
            found.append("the predicted welfare is hardly above that of goods assigned without any reports: "
                         f"{one.welfare:.2f} and {one.baseline:.2f} of the optimum for the same synthetic people. "
                         "Choose a larger epsilon, or offer more copies of each good")
        return tuple(found)

    def plot(self) -> Picture:
        """Draw the predicted welfare of the plan and its alternatives, with the worst and the best run.

        Example:
            >>> plan(5_000, 5, 800, epsilon=1.0).plot().alt  # doctest: +ELLIPSIS
            "Predicted welfare as a share of the optimum: SinkhornMatch 0.9...; a serial dictatorship 0..."
        """
        from confide.charts import intervals

        rows = [Alternative(name=wire_name(self.mechanism), predicted=self.predicted),
                *(one for one in self.alternatives if one.predicted)]
        drawn = [(one.name, "predicted", share.value, one.predicted.get("worst run", share).value,
                  one.predicted.get("best run", share).value) for one in rows for share in [one.predicted["welfare"]]]
        (found,) = intervals(drawn, title="Predicted welfare", axis="share of the optimum", alt=(
            "Predicted welfare as a share of the optimum: "
            + "; ".join(f"{name} {value:.2f}" for name, _, value, *_ in drawn) + "."))
        return found

    def sentences(self) -> tuple[str, ...]:
        """The plan as sentences."""
        by = self.mechanism
        name = wire_name(by)
        said = [f"{name} for {by.people:,} bidders and {by.goods:,} goods: {by.loss} towards everybody else together"]
        if by.plentiful:
            return (*said, "there is a copy of every good for everybody, so each person gets their favourite, and the "
                           "run discloses nothing about anybody")
        some = next(iter(self.crowds.values()))
        parts = ", ".join(f"{one.welfare:.2f} ({one.lowest:.3f} to {one.highest:.3f}) on bidders of kind {kind}"
                          for kind, one in self.crowds.items())
        said += [
            f"the predicted welfare is {parts}, as a share of the optimum, by {some.runs} simulated "
            f"population{'s' * (some.runs > 1)} of each kind with new noise. This is a simulation, not a promise",
            *(f"in populations of kind {kind}, goods assigned without any reports reach {one.baseline:.2f}; "
              + " and ".join(f"{name} {share:.2f}" for name, share in one.baselines.items())
              + ", which are not private" for kind, one in self.crowds.items()),
            f"the predicted welfare is {self.alike:.2f} if everybody has the same values for the goods: the other "
            "copies are not assigned",
            f"with probability {1 - by.failure_probability:g}, the run gives no good beyond its supply; for this, "
            f"{self.reserve:,} copies of a typical good stay in reserve",
        ]
        claims = [one.certificate for one in self.crowds.values() if one.certificate is not None]
        if claims:
            said.append(f"the public certificate is predicted to claim at least {min(claims):.2f} of the optimum")
        if self.passed_over:
            other = "PMatch" if name == "SinkhornMatch" else "SinkhornMatch"
            said.append(f"the predicted welfare of {other} is {_mean(self.passed_over):.2f}"
                        + (", with charged prices, too: use it instead" if self._dearly else ""))
        said.append(f"{self.draws:,} draws of noise; about {self.seconds:.3g} seconds and {self.megabytes:,.0f} "
                    f"megabytes")
        return tuple(said)

    @property
    def _dearly(self) -> bool:
        """Whether the plan charges prices and the other mechanism is predicted to reach clearly more welfare."""
        return bool(self.passed_over) and self.mechanism.charge and _mean(self.passed_over) > self.share + _CLEARLY

    def _own_figures(self) -> Mapping[str, Any]:
        return {
            "settings": {**parts_of(self.mechanism), "supply": self.mechanism.copies}, "error": self.error,
            "reserve": self.reserve, "share": self.share, "alike": self.alike, "span": self.span,
            "crowds": {name: parts_of(one) for name, one in self.crowds.items()},
            "passed_over": {name: parts_of(one) for name, one in self.passed_over.items()},
            "draws": self.draws, "seconds": self.seconds, "megabytes": self.megabytes,
            "sentences": self.sentences(),
        }


@by_position_before("people", "goods", "supply", "epsilon", first=3)
@names_missing()
def plan(
    people: int,
    goods: int,
    supply: int | tuple[int, ...],
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: Literal["any", "pmatch", "sinkhorn"] = "any",
    prior: ArrayLike | None = None,
    runs: int = RUNS,
    seed: int = 1,
    named: int | None = None,
    **options: Any,
) -> AllocationPlan:
    """Choose a mechanism for public sizes, and predict its welfare on synthetic bidders.

    Args:
        people: number n >= 1 of public positions for bidders.
        goods: number k >= 1 of goods.
        supply: number of copies s_j >= 1 of each good: one number for all, or k numbers.
        epsilon: privacy loss of the whole outcome, in nats, > 0.
        delta: delta in [0, 1); 0 is pure privacy.
        mechanism: "any" to choose the better mechanism, or "pmatch" or "sinkhorn" to force one.
        prior: public rows of valuations, shape (m, k), synthetic or published before, never bids of this market. The
            default is synthetic rows of `instance_a` and `instance_b`.
        runs: number of synthetic populations of each kind, each with noise of its own.
        seed: seed of the first population and its noise.
        named: number of goods with a value in one row of a sparse table; None for a dense table. The number is used
            only for the estimates of time and memory.
        options: parameters of the mechanism, such as failure_probability, neighbours or certify_with. An option that
            only one mechanism has, such as halting, forces that mechanism.

    Raises:
        InvalidInput: a number out of range, or options that no mechanism has.
        Refused: the mechanism does no better, on synthetic bidders of some kind, than handing out goods to the same
            bidders without asking anybody. The error message names an epsilon, or a supply, that would suffice.

    Example:
        >>> advised = plan(5_000, 5, 800, epsilon=1.0)
        >>> type(advised.mechanism).__name__, advised.predicted["welfare"].value > 0.9
        ('SinkhornMatch', True)
        >>> plan(5_000, 5, 800, epsilon=0.02)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.Refused: at epsilon = 0.02 ... is not better than goods assigned without any \
reports. ...
    """
    one_of("mechanism", mechanism, ("any", "pmatch", "sinkhorn"))
    kinds = _kinds(mechanism, options)
    sizes: dict[str, Any] = {"people": people, "goods": goods, "supply": supply, "delta": delta, **options}

    def again(**changed: Any) -> AllocationPlan:
        return plan(**({"people": people, "goods": goods, "supply": supply, "epsilon": epsilon, "delta": delta,
                        "mechanism": mechanism, "prior": prior, "runs": runs, "seed": seed,
                        "named": named} | options | changed))

    try:
        first: _Advised = kinds[0].for_budget(epsilon=positive("epsilon", epsilon), **sizes)
        if first.plentiful:
            return _planned(first, {}, None, {}, "", named, 1.0)
        recommended, refused = _recommended(kinds, epsilon, sizes)
    except Refused as error:
        raise Refused(error.reason, retried(error, again)) from None
    found = [(one, predicted(one, prior, runs=runs, seed=seed)) for one in recommended]
    found.sort(key=lambda pair: (not worth_it(pair[1]), -_mean(pair[1])))
    alike = [share_of_people_alike(one, seed=seed) for one, _ in found]
    if len(found) > 1 and worth_it(found[1][1]) and alike[1] > alike[0] + _CLEARLY and _mean(
            found[0][1]) <= _mean(found[1][1]) + _CLEARLY:  # even on other crowds
        found.reverse()
        alike.reverse()
    best, expected = found[0]
    beside, other = found[1] if len(found) > 1 else (None, {})
    if not other and isinstance(best, PMatch) and (best.charge or not worth_it(expected)):
        common = {name: value for name, value in sizes.items() if name in _COMMON}
        with suppress(Refused):
            beside = SinkhornMatch.for_budget(epsilon=epsilon, **common)
            other = predicted(beside, prior, runs=runs, seed=seed)
    if not worth_it(expected):
        enough = least_epsilon(lambda at, tried: predicted(type(best).for_budget(epsilon=at, **sizes), prior,
                                                           runs=tried, seed=seed), epsilon, runs)
        better = [f"SinkhornMatch, with a predicted welfare of {_mean(other):.2f}"] if other and worth_it(other) else []
        raise hopeless(best, expected, enough, *better)
    if not other and not refused:
        refused = "not tried, because " + (f"mechanism = {mechanism!r}" if mechanism != "any" else
                                           "the method lacks an option")
    return _planned(best, expected, beside, other, refused, named, alike[0])


def _kinds(mechanism: str, options: Mapping[str, Any]) -> list[type[_Advised]]:
    allowed: dict[str, list[type[_Advised]]] = {"any": [SinkhornMatch, PMatch], "pmatch": [PMatch],
                                                "sinkhorn": [SinkhornMatch]}
    kinds = [kind for kind in allowed[mechanism] if set(options) <= {one.name for one in fields(kind)}]
    if not kinds:
        known = {one.name for kind in allowed[mechanism] for one in fields(kind)}
        unknown = sorted(set(options) - known) or sorted(options)
        raise InvalidInput(unknown[0], "is not an option of this matching", f"options are {', '.join(sorted(known))}")
    return kinds


def _recommended(
    kinds: list[type[_Advised]], epsilon: float, sizes: Mapping[str, Any]
) -> tuple[list[_Advised], str]:
    """The mechanisms that can run at the given sizes, and the reason why a missing mechanism cannot run."""
    found: list[_Advised] = []
    refused = ""
    for kind in kinds:
        try:
            found.append(kind.for_budget(epsilon=epsilon, **sizes))
        except Refused as error:
            if kind is kinds[-1] and not found:
                raise
            refused = error.reason
    return found, refused


def _figures(expected: Mapping[str, CrowdPrediction]) -> dict[str, Predicted]:
    found = list(expected.values())
    return {"welfare": Predicted(_mean(expected), _OF_OPTIMUM, "simulated"),
            "worst run": Predicted(min(one.lowest for one in found), _OF_OPTIMUM, "simulated"),
            "best run": Predicted(max(one.highest for one in found), _OF_OPTIMUM, "simulated")}


def _mean(expected: Mapping[str, CrowdPrediction]) -> float:
    return float(np.mean([one.welfare for one in expected.values()])) if expected else 1.0


def worth_it(expected: Mapping[str, CrowdPrediction]) -> bool:
    """Whether the mechanism reaches more welfare, in each kind of population, than handing out goods without asking
    anybody.

    Args:
        expected: mapping from kind of population to its prediction.
    """
    return all(one.worth_it for one in expected.values())


def least_epsilon(expected: Callable[[float, int], Mapping[str, CrowdPrediction]], epsilon: float, runs: int) -> float:
    """The smallest epsilon at which the mechanism is predicted to reach more welfare than handing out goods without
    asking anybody. The result is usually at most a tenth too large, and rounded up to two digits. The result is
    infinite if no epsilon is found.

    Args:
        expected: function from an epsilon and the number of populations of each kind to a mapping from kind of
            population to its prediction. The function may raise `Refused` for an epsilon.
        epsilon: epsilon at which the mechanism does no better than handing out goods without asking anybody.
        runs: number of populations of each kind on which the result must be confirmed. The search for epsilon itself
            uses one population of each kind.
    """
    def worth(at: float, tried: int) -> bool:
        try:
            return worth_it(expected(at, tried))
        except Refused:
            return False

    if trying():
        return math.inf
    low, high = epsilon, 2.0 * epsilon
    for _ in range(_DOUBLINGS):
        if worth(high, 1):
            break
        low, high = high, 2.0 * high
    else:
        return math.inf
    while high > 1.1 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if worth(middle, 1) else (middle, high)
    for _ in range(_TENTHS):
        written = outward(high, digits=2)
        if worth(written, runs):
            return written
        high *= 1.1
    return math.inf


def hopeless(market: Market, expected: Mapping[str, CrowdPrediction], enough: float, *others: str,
             method: str = "") -> Refused:
    """The error for a market that is predicted to do no better than handing out goods without asking anybody. The error
    message names remedies.

    Args:
        market: market that is refused.
        expected: mapping from kind of population to its prediction.
        enough: an epsilon that suffices, from `least_epsilon`; infinite if no epsilon suffices.
        others: descriptions of further remedies.
        method: name of the market's method in the message; by default the name of its class.
    """
    supplies = sorted(set(market.copies))
    one = min(expected.values(), key=lambda each: each.welfare - each.baseline)
    few = (f"at epsilon = {market.epsilon:g} and {supplies[0]:,} copies of "
           f"{'each' if len(supplies) == 1 else 'the scarcest'} good, {method or wire_name(market)} is not better "
           "than goods assigned without any reports. With reports, the predicted welfare of synthetic people is "
           f"{one.welfare:.2f} of the optimum. Without any reports, the predicted welfare of the same people is "
           f"{one.baseline:.2f} of the optimum")
    if not math.isfinite(enough):
        return Refused(few, ["no epsilon is enough: offer more copies of the goods", *others])
    wanted = [f"{math.ceil(copy * enough / market.epsilon):,}" for copy in supplies[:2]]
    copies = f"{wanted[0]} copies of each good" if len(wanted) == 1 else (
        f"{wanted[0]} copies of each good that has {supplies[0]:,} now, {wanted[1]} of each good that has "
        f"{supplies[1]:,} now" + (", and the other goods in proportion" if len(supplies) > 2 else ""))
    return Refused(few, [Remedy("an epsilon of {epsilon}", {"epsilon": enough}, digits=2),
                         f"{copies}, with the number of bidders multiplied by the same factor "
                         "(untested)", *others])


def _planned(
    best: _Advised, expected: Mapping[str, CrowdPrediction], beside: _Advised | None,
    other: Mapping[str, CrowdPrediction], refused: str, named: int | None, alike: float,
) -> AllocationPlan:
    width = best.goods if named is None else min(best.goods, whole("named", named, at_least=1))
    table = best.people * width
    size = 4 if named is None else 8
    draws, seconds, error, held = _costs(best, table)
    return AllocationPlan(
        mechanism=best, error=error, reserve=held, crowds=expected, alike=alike, other=beside, passed_over=other,
        refused=refused, draws=draws, seconds=draws * _SECURE + seconds,
        megabytes=(size * table + _BIDDER * best.people + _NOISES) / 1e6)


def _costs(best: _Advised, table: int) -> tuple[int, float, float, int]:
    """Four numbers: the draws of noise, the seconds of computation on the values, the error E and the reserve m."""
    certificate = 2 if best.certificate_plan is not None else 0
    if best.plentiful:
        return 0, table * _BIDDING, 0.0, 0
    if isinstance(best, SinkhornMatch):
        copies = sorted(best.copies)[best.goods // 2]
        rate = int(best.rates(np.array(best.copies))[best.copies.index(copies)]) / PUBLIC_RANGE
        error = best.scale(best.part(best.clear)) * math.log(best.goods / best.failure_probability)
        return ((best.rounds + 1) * best.goods + certificate, best.rounds * table * _ASKING, error,
                copies - math.floor(rate * copies))
    slacks = 0 if best.clearing is None else int(best.clearing.slacks[0])
    cells = 0 if best.clearing is None else best.goods * len(best.clearing.edges[0])
    bids = min(best.bid_cap, best.rounds)
    return (best.counter.horizon * best.goods + cells + certificate, (bids + 1) * table * _BIDDING, best.error,
            max(best.effective_reserve, slacks))

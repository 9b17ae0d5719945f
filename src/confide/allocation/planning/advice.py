"""Which matching, with which settings, and what to expect of it: from public sizes alone.

Two mechanisms keep the same promise of privacy. Measured on a grid of 8 to 100 goods, 400 to 800 copies of each and 400
to 40,000 copies times epsilon (the table of `settings`), `SinkhornMatch` was better by .2 of the optimum at 400 copies
times epsilon and by .06 at 4,000. At 40,000, where there is next to no noise and its lots and leanings are what costs,
they are even, but for 100 goods with 400 copies each, where `PMatch` was better by .02. Where prices are charged it is
better by more, .25 and .1, because everybody asks at the prices that she pays. `PMatch` is the published auction, it
takes other laws of noise and halting rules, and its holders are counted, not drawn by lot.

Goods handed out without asking anybody are worth .5 to .65 of the optimum on these instances. At 20 goods with 800
copies, PMatch falls below that at about 250 copies times epsilon, SinkhornMatch at about 100.

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
from confide.allocation.planning.predicted import RUNS, Prediction, predicted, share_of_people_alike
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.contract.checks import one_of, positive, whole
from confide.contract.errors import InvalidInput, Refused, Remedy
from confide.contract.remedies import outward, retried, trying
from confide.contract.renamed import renamed
from confide.contract.wire import wire_name, wire_parts
from confide.privacy.coins import COINS

__all__ = ["AllocationPlan", "hopeless", "least_epsilon", "plan", "worth_it"]

_Advised = PMatch | SinkhornMatch

_SECURE = 8e-6  # seconds a draw
_ASKING = 4e-9  # seconds for one value in one round of soft demand, on one core
_BIDDING = 3e-9  # seconds for one value that is looked at for a bid
_BIDDER = 80  # bytes of state of each bidder
_NOISES = 40 * 2**20  # bytes of noise that is held at once, with its temporaries
_DOUBLINGS = 24
_TENTHS = 24
_COMMON = {one.name for one in fields(Market)} | {"charge"}  # what both mechanisms have and mean alike
_CLEARLY = 0.02  # of the optimum: what one mechanism is better by, for a word about it


@renamed(held_back="reserve")
@dataclass(frozen=True, kw_only=True)
class AllocationPlan:
    """What is advised, and what to expect of it.

    Args:
        mechanism: `PMatch` or `SinkhornMatch`.
        error: E: of PMatch, how far any published count is off at most, with probability 1 - gamma; of SinkhornMatch,
            how far the final count of those who ask for a good.
        reserve: m, copies of a usual good that stay where as many ask for it as there are: what surely no good is
            given beyond its supply costs. Of a PMatch with a final clearing it is what the clearing's first cut needs.
        predicted: by the name of made-up bidders.
        alike: the share of the optimum where everybody values the goods alike, which prices cannot tell apart.
        passed_over: what the other mechanism would do on the same crowds, where it was looked at: also where options
            leave no choice but `PMatch`, and it charges prices.
        draws: of noise, k for each release.
        seconds: of a secure run, roughly: noise at 8 microseconds a draw, and looking at the values on one core.
        megabytes: roughly, the table of valuations included, the program itself not.
    """

    mechanism: _Advised
    error: float
    reserve: int
    predicted: Mapping[str, Prediction]
    alike: float = 1.0
    passed_over: Mapping[str, Prediction] = field(default_factory=dict)
    draws: int
    seconds: float
    megabytes: float

    @property
    def share(self) -> float:
        """Predicted welfare over the optimum, the mean over the kinds of bidders."""
        return _mean(self.predicted)

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest of all runs."""
        found = self.predicted.values()
        return min((one.lowest for one in found), default=1.0), max((one.highest for one in found), default=1.0)

    def sentences(self) -> tuple[str, ...]:
        """The plan in words."""
        by = self.mechanism
        name = wire_name(by)
        said = [f"{name} for {by.people:,} bidders and {by.goods:,} goods: {by.loss} towards everybody else together"]
        if by.plentiful:
            return (*said, "there is a copy of every good for everybody: each gets her favourite, and nothing is told "
                           "of anybody")
        some = next(iter(self.predicted.values()))
        parts = ", ".join(f"{one.welfare:.2f} ({one.lowest:.3f} to {one.highest:.3f}) on bidders of kind {kind}"
                          for kind, one in self.predicted.items())
        said += [
            f"welfare is predicted at {parts}, as a share of the optimum: {some.runs} made-up crowd"
            f"{'s' * (some.runs > 1)} of each kind, noise drawn anew. This is a simulation, not a promise",
            *(f"of the crowds of kind {kind}, goods handed out without asking reach {one.blind:.2f}; "
              + " and ".join(f"{name} {share:.2f}" for name, share in one.beside.items())
              + ", which are not private" for kind, one in self.predicted.items()),
            f"where everybody values the goods alike it is {self.alike:.2f}: the other copies stay behind",
            f"with probability {1 - by.gamma:g}, no good is given beyond its supply; {self.reserve:,} copies of a "
            f"usual good stay behind for that",
        ]
        claims = [one.certificate for one in self.predicted.values() if one.certificate is not None]
        if claims:
            said.append(f"the public certificate is predicted to claim at least {min(claims):.2f} of the optimum")
        if self.passed_over:
            other = "PMatch" if name == "SinkhornMatch" else "SinkhornMatch"
            said.append(f"{other} was predicted at {_mean(self.passed_over):.2f}"
                        + (", charging prices as well: take that" if self._dearly else ""))
        said.append(f"{self.draws:,} draws of noise; about {self.seconds:.3g} seconds and {self.megabytes:,.0f} "
                    f"megabytes")
        return tuple(said)

    @property
    def _dearly(self) -> bool:
        """Whether charging prices costs what the other mechanism would not lose."""
        return bool(self.passed_over) and self.mechanism.charge and _mean(self.passed_over) > self.share + _CLEARLY

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        settings = wire_parts(self.mechanism)
        settings["supply"] = list(self.mechanism.copies)
        return {
            "mechanism": wire_name(self.mechanism), "settings": settings, "error": self.error,
            "held_back": self.reserve, "share": self.share, "alike": self.alike, "span": list(self.span),
            "predicted": {name: _plain(one) for name, one in self.predicted.items()},
            "passed_over": {name: _plain(one) for name, one in self.passed_over.items()},
            "draws": self.draws, "seconds": self.seconds, "megabytes": self.megabytes,
            "sentences": list(self.sentences()),
        }


def plan(
    people: int,
    goods: int,
    supply: int | tuple[int, ...],
    epsilon: float,
    *,
    mechanism: Literal["any", "pmatch", "sinkhorn"] = "any",
    prior: ArrayLike | None = None,
    runs: int = RUNS,
    seed: int = 1,
    named: int | None = None,
    **options: Any,
) -> AllocationPlan:
    """What to run at these sizes, and what to expect.

    Args:
        people: n, public slots.
        goods: k.
        supply: s_j.
        epsilon: > 0.
        mechanism: "pmatch" and "sinkhorn" leave no choice.
        prior: (m, k) public rows of valuations, made up or published before, never bids of this market; without them,
            instances A and B.
        runs: crowds of each kind of made-up bidders, each with noise of its own.
        seed: of the first crowd and its noise.
        named: how many goods a row names, where tables are sparse; for time and memory.
        options: of the mechanism, such as gamma, delta, neighbours or certify_with. Options that
            one mechanism alone has, such as halting, leave no choice either.

    Raises:
        InvalidInput: a number out of range, or options that no mechanism has.
        Refused: hopeless: on made-up bidders of some kind it does no better than handing out goods to the very same
            bidders without asking anybody. Names the epsilon, or the supply, that would do.

    Example:
        >>> advised = plan(5_000, 5, 800, 1.0)
        >>> type(advised.mechanism).__name__, advised.share > 0.9
        ('SinkhornMatch', True)
        >>> plan(5_000, 5, 800, 0.02)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.Refused: at epsilon = 0.02 ... does no better than goods handed out without asking ...
    """
    one_of("mechanism", mechanism, ("any", "pmatch", "sinkhorn"))
    kinds = _kinds(mechanism, options)
    sizes: dict[str, Any] = {"people": people, "goods": goods, "supply": supply, **options}

    def again(**changed: Any) -> AllocationPlan:
        return plan(**({"people": people, "goods": goods, "supply": supply, "epsilon": epsilon, "mechanism": mechanism,
                        "prior": prior, "runs": runs, "seed": seed, "named": named} | options | changed))

    try:
        first: _Advised = kinds[0].recommended(epsilon=positive("epsilon", epsilon), **sizes)
        if first.plentiful:
            return _planned(first, {}, {}, named, 1.0)
        recommended = _recommended(kinds, epsilon, sizes)
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
    other = found[1][1] if len(found) > 1 else {}
    if not other and isinstance(best, PMatch) and (best.charge or not worth_it(expected)):
        common = {name: value for name, value in sizes.items() if name in _COMMON}
        with suppress(Refused):
            other = predicted(SinkhornMatch.recommended(epsilon=epsilon, **common), prior, runs=runs, seed=seed)
    if not worth_it(expected):
        enough = least_epsilon(lambda at, tried: predicted(type(best).recommended(epsilon=at, **sizes), prior,
                                                           runs=tried, seed=seed), epsilon, runs)
        better = [f"SinkhornMatch, predicted at {_mean(other):.2f}"] if other and worth_it(other) else []
        raise hopeless(best, expected, enough, *better)
    return _planned(best, expected, other, named, alike[0])


def _kinds(mechanism: str, options: Mapping[str, Any]) -> list[type[_Advised]]:
    allowed: dict[str, list[type[_Advised]]] = {"any": [SinkhornMatch, PMatch], "pmatch": [PMatch],
                                                "sinkhorn": [SinkhornMatch]}
    kinds = [kind for kind in allowed[mechanism] if set(options) <= {one.name for one in fields(kind)}]
    if not kinds:
        known = {one.name for kind in allowed[mechanism] for one in fields(kind)}
        unknown = sorted(set(options) - known) or sorted(options)
        raise InvalidInput(unknown[0], "is no option of such a matching", f"options are {', '.join(sorted(known))}")
    return kinds


def _recommended(kinds: list[type[_Advised]], epsilon: float, sizes: Mapping[str, Any]) -> list[_Advised]:
    found: list[_Advised] = []
    for kind in kinds:
        try:
            found.append(kind.recommended(epsilon=epsilon, **sizes))
        except Refused:
            if kind is kinds[-1] and not found:
                raise
    return found


def _mean(expected: Mapping[str, Prediction]) -> float:
    return float(np.mean([one.welfare for one in expected.values()])) if expected else 1.0


def worth_it(expected: Mapping[str, Prediction]) -> bool:
    """Whether every kind of crowd does better than if nobody of it were asked.

    Args:
        expected: by the kind of crowds.
    """
    return all(one.worth_it for one in expected.values())


def least_epsilon(expected: Callable[[float, int], Mapping[str, Prediction]], epsilon: float, runs: int) -> float:
    """The smallest epsilon of two digits, to a tenth or so, at which it is worth it to ask anybody; infinite where none
    is found.

    Args:
        expected: what made-up crowds would get at an epsilon, by how many crowds of each kind; it may refuse one.
        epsilon: at which it is not worth it.
        runs: crowds with which it must be worth it. One of each kind is what it is looked for with.
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


def hopeless(market: Market, expected: Mapping[str, Prediction], enough: float, *others: str) -> Refused:
    """The refusal of a market that is predicted to be no better than to ask nobody, with what would do.

    Args:
        market: which.
        expected: by the kind of crowds.
        enough: `least_epsilon`.
        others: what else would do.
    """
    one = min(expected.values(), key=lambda each: each.welfare - each.blind)
    few = (f"at epsilon = {market.epsilon:g} and {min(market.copies):,} copies of a good {wire_name(market)} does "
           f"no better than goods handed out without asking anybody ({one.welfare:.2f} of the optimum predicted, and "
           f"{one.blind:.2f} for the same made-up people without asking them)")
    if not math.isfinite(enough):
        return Refused(few, ["no epsilon would do: goods need more copies", *others])
    copies = " and ".join(dict.fromkeys(f"{math.ceil(copy * enough / market.epsilon):,}" for copy in sorted(
        set(market.copies))[:2]))
    return Refused(few, [Remedy("an epsilon of {epsilon}", {"epsilon": enough}, digits=2),
                         f"{copies} copies of a good with as many times the bidders (not tried)", *others])


def _planned(
    best: _Advised, expected: Mapping[str, Prediction], other: Mapping[str, Prediction], named: int | None,
    alike: float,
) -> AllocationPlan:
    width = best.goods if named is None else min(best.goods, whole("named", named, at_least=1))
    table = best.people * width
    size = 4 if named is None else 8
    draws, seconds, error, held = _costs(best, table)
    return AllocationPlan(
        mechanism=best, error=error, reserve=held, predicted=expected, alike=alike, passed_over=other, draws=draws,
        seconds=draws * _SECURE + seconds, megabytes=(size * table + _BIDDER * best.people + _NOISES) / 1e6)


def _costs(best: _Advised, table: int) -> tuple[int, float, float, int]:
    """Draws of noise, seconds of looking at values, E, m."""
    certificate = 2 if best.certificate_plan is not None else 0
    if best.plentiful:
        return 0, table * _BIDDING, 0.0, 0
    if isinstance(best, SinkhornMatch):
        copies = sorted(best.copies)[best.goods // 2]
        rate = int(best.rates(np.array(best.copies))[best.copies.index(copies)]) / COINS
        error = best.scale(best.part(best.clear)) * math.log(best.goods / best.gamma)
        return ((best.rounds + 1) * best.goods + certificate, best.rounds * table * _ASKING, error,
                copies - math.floor(rate * copies))
    slacks = 0 if best.clearing is None else int(best.clearing.slacks[0])
    cells = 0 if best.clearing is None else best.goods * len(best.clearing.edges[0])
    bids = min(best.bid_cap, best.rounds)
    return (best.counter.horizon * best.goods + cells + certificate, (bids + 1) * table * _BIDDING, best.error,
            max(best.held_back, slacks))


def _plain(one: Prediction) -> dict[str, Any]:
    return {**wire_parts(one), "beside": dict(one.beside)}

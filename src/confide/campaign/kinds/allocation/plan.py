"""What a campaign that hands out goods would give, from public parameters alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from confide.allocation.incentives import mean_shift, prices_loss
from confide.allocation.market import Market
from confide.allocation.planning.advice import hopeless, least_epsilon
from confide.allocation.planning.lone_lies import LoneLies, crowd_size, lone_lies
from confide.allocation.planning.predicted import RUNS
from confide.allocation.planning.second_ids import CROWDS, SecondIds
from confide.allocation.pmatch import PMatch
from confide.allocation.reading.scales import Scale
from confide.allocation.reading.tables import Rows
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.valuations import Valuations
from confide.campaign.kinds.allocation.asked import asked_for_goods
from confide.campaign.kinds.allocation.config import GoodsConfig, MatchingConfig
from confide.campaign.kinds.allocation.crowds import Crowd, SingleCrowd
from confide.campaign.kinds.allocation.methods import MARKET_KEYS, alternatives, at_epsilon, build, words_of
from confide.campaign.kinds.allocation.predicted import Expected, made_up, predicted
from confide.campaign.kinds.allocation.words import MethodWords, worth
from confide.contract.errors import Refused
from confide.contract.guarantees import Audience, Guarantees, Truthfulness, promises_table
from confide.contract.offering import Question, answer, lies, likelier, withdrawing
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.replanned import in_keys
from confide.contract.wire import parts_of, wire_name
from confide.contract.words import as_sentence, few, percent
from confide.privacy.groups import SIZES, group_loss, groups_section, guess_in_words
from confide.privacy.losses import PROMISES_LITTLE

__all__ = ["SHOWN", "GoodsPlan", "group_gain", "plan_of", "step"]

_QUICK = 1_000_000  # values of made-up people for whom every method is tried out


@dataclass(frozen=True, kw_only=True)
class GoodsPlan:
    """A market with the names of its goods.

    Args:
        market: the mechanism.
        config: of the file.
        names: of the goods.
        scale: from what people write to values.
    """

    market: Market
    config: GoodsConfig
    names: tuple[str, ...]
    scale: Scale

    @property
    def mechanism(self) -> Market:
        """The market."""
        return self.market

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.market.guarantees()

    @property
    def words(self) -> MethodWords:
        """What pages say of its method."""
        return words_of(self.market)

    @property
    def charges(self) -> bool:
        """Whether prices are charged."""
        return bool(getattr(self.market, "charge", False))

    @cached_property
    def others(self) -> Mapping[str, Expected]:
        """What made-up people would get by each method, with what is recommended for it; none where it takes long,
        but for an auction that charges, which may be much the worse for it.
        """
        large = self.market.people * self.market.goods > _QUICK and not (self.charges and isinstance(
            self.market, PMatch))
        if not isinstance(self.config, MatchingConfig) or large:
            return {}
        return {name: predicted(market, self.scale) for name, market in alternatives(self.config).items()}

    @cached_property
    def lone(self) -> LoneLies | None:
        """What single people gain; None where that is not searched for."""
        return searched(self)

    @property
    def second(self) -> SecondIds:
        """What a second id gains."""
        if self.lone is None:
            raise AttributeError("second ids are not measured")
        return self.lone.second

    @cached_property
    def prediction(self) -> Expected:
        """What made-up people would get."""
        return predicted(self.market, self.scale)

    @property
    def column(self) -> str:
        """Of the shares."""
        return "good"

    @property
    def asked(self) -> str:
        """What people write, in words."""
        return asked_for_goods(self.scale)

    def said(self, value: float) -> str:
        """A value or a price in words: on the scale from 0 to 1, and in the campaign's own points."""
        unit = self.scale.unit
        return worth(value) if unit == 1.0 else f"{worth(value)} ({value * unit:.4g} points)"

    @property
    def most(self) -> str:
        """What counts as 1 on the scale of values."""
        return "the most that somebody can write"

    def goods_of(self, share: Mapping[str, Any]) -> tuple[int, ...]:
        """The goods of one person's share, ascending, one for each copy."""
        good = int(share["good"])
        return (good,) if good >= 0 else ()

    def called(self, goods: Sequence[int]) -> str:
        """Goods by their names."""
        often = Counter(goods)
        found = [f"{self.names[good]}{f' ({count})' * (count > 1)}" for good, count in often.items()]
        return ", ".join(found) or "no good"

    def told(self, record: Mapping[int, float]) -> Any:
        """A record as the market's words take it."""
        row = np.zeros(len(self.names))
        for place, value in record.items():
            row[place] = value
        return row

    def worth_of(self, record: Any, goods: Sequence[int]) -> float:
        """What goods are worth to her together, on the scale from 0 to 1."""
        return float(self.told(record)[list(goods)].sum())

    def crowd(self, batches: Iterable[Rows]) -> Crowd:
        """Everybody, of what was collected; private."""
        return SingleCrowd.of(batches, self.market.people, self.market.goods)

    def made_up(self, seed: int) -> Crowd:
        """As many made-up people, who write what is asked for."""
        people, goods = self.market.people, self.market.goods
        return SingleCrowd(Valuations.of(made_up(people, goods, self.scale, seed), people=people, goods=goods))

    def sections(self) -> Sequence[Section]:
        return plan_sections(self)

    def offer(self) -> Sequence[Section]:
        return offer_sections(self)

    def to_dict(self) -> dict[str, Any]:
        found, it = self.prediction, self.market
        return {
            "people": it.people, "goods": it.goods, "supply": list(it.copies), "method": wire_name(it),
            "epsilon": it.epsilon, "delta": it.delta, "failure_probability": it.failure_probability,
            "predicted_share": found.share, "predicted_range": list(found.span), "baseline_share": found.baseline,
            "baselines": dict(found.baselines),
            "lone_lies": None if self.lone is None else {
                name: value for name, value in _finite(self.lone).items() if name != "second"},
            "second_ids": _finite(self.second),
            "planned": {name.strip(): value for name, value in self.words.planned(it)},
        }


def _finite(found: LoneLies | SecondIds) -> dict[str, Any]:
    """Its figures; None for an error of one crowd alone."""
    return {name: None if value == math.inf else value for name, value in parts_of(found).items()}


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
@in_keys(MARKET_KEYS)
def plan_of(config: MatchingConfig) -> GoodsPlan:
    """The plan of a file.

    Raises:
        InvalidInput: a key out of range.
        Refused: there is enough of everything for everybody; or what is planned is predicted to be no better than to
            ask nobody.
    """
    names, supply = config.goods.listed()
    scale = config.rule()
    if min(supply) >= config.people.count:
        raise Refused(f"there are {min(supply):,} copies of every good, enough for all {config.people.count:,} people",
                      "hand everybody her favourite: nothing has to be decided together, and nobody's values be told")
    found = GoodsPlan(market=build(config), config=config, names=names, scale=scale)
    made = found.prediction
    if not made.worth_it:
        others = {name: predicted(market, scale) for name, market in alternatives(config).items()}
        better = [f"auction.method = {name!r}, predicted at {other.share:.2f}" for name, other in others.items()
                  if other.worth_it]
        enough = least_epsilon(lambda epsilon, runs: predicted(at_epsilon(config, found.market, epsilon), scale,
                                                               runs).crowds, config.privacy.epsilon, RUNS)
        raise hopeless(found.market, made.crowds, enough, *better)
    return found


_CLEAR = 2.0
"""Standard errors from 0 from which a measured gain is called one."""


def searched(plan: GoodsPlan) -> LoneLies:
    """What single people gain, on made-up crowds."""
    small = crowd_size(plan.market)
    return lone_lies(small, [made_up(small.people, small.goods, plan.scale, seed) for seed in range(1, CROWDS + 1)])


def group_gain(plan: GoodsPlan, size: int) -> float | None:
    """What each of so many people gains at most who report something else together, and would have ended satisfied.

    Args:
        plan: that charges prices.
        size: how many.

    Returns:
        None where nothing is promised of one.
    """
    it = plan.market
    promised = [each for each in plan.guarantees.of(Truthfulness) if not each.vacuous]
    if not promised or not isinstance(it, PMatch | SinkhornMatch):
        return None
    loss = it.prices_loss if isinstance(it, SinkhornMatch) else prices_loss(it)
    return promised[0].gain - mean_shift(loss) + mean_shift(group_loss(loss, size))


def selling_section(plan: GoodsPlan) -> Section:
    """The fewest people who gain, and how much."""
    second, it = plan.second, plan.market
    told = [f"Measured on {second.crowds} made-up crowds of {second.people:,} people each, in runs with simulated "
            "noise; +- is one standard error, between crowds. Values are on the scale from 0 to 1.",
            *_alone(plan), *_second(plan),
            "A second id moves what is published by no more than the promise of privacy says of one row."]
    least = min(it.copies)
    told.append(f"{least:,} people who ask for the scarcest good alone ({percent(least / it.people, 2)} of the "
                "invited) can take all of its copies.")
    told.append("The operator has to see to it that nobody has two ids.")
    rows = tuple((size, gain) for size in (1, *SIZES) if (gain := group_gain(plan, size)) is not None)
    bound = [Table(columns=("people who report something else together", "each gains at most"), rows=rows,
                   note="Of people who would have ended satisfied, by what the prices' own loss says of a group.")]
    return Section(title="Second identities and agreements", blocks=(Text(tuple(told)), *(bound if rows else ())))


def _alone(plan: GoodsPlan) -> list[str]:
    """What one person gains with one id; the smallest group there can be."""
    free = [] if plan.charges else ["No prices are charged, so that nothing is promised of what a lie gains."]
    if plan.lone is None:
        return [*free, "What a lie of one person gains was not searched for."]
    found = plan.lone
    return [*free, f"Truth leaves {percent(found.left)} of them with nothing in every run. "
            + (f"One of them, alone, gains {found.gain:.3f} +- {found.gain_error:.3f} by asking for one good only. No "
               "promise of truth speaks of them." if found.gain > _CLEAR * found.gain_error else
               "No gain from asking for one good only was found for one of them.")]


def _second(plan: GoodsPlan) -> list[str]:
    """What two ids of one person gain, to an owner who uses the better good, and to one who can use all."""
    found = plan.second
    gain, alone = f"{found.gain:.3f} +- {found.error:.3f}", f"{found.alone:.3f} +- {found.alone_error:.3f}"
    if found.gain > _CLEAR * found.error:
        said = f"With 2 ids of one person, with the same row, they gain {gain} more than with one, on average."
    elif plan.charges:
        said = (f"One second id, with the same row, gains its owner nothing on average: {gain}, since they pay for a "
                "second good that they do not need.")
    else:
        said = f"One second id, with the same row, gains its owner nothing that was found on average: {gain}."
    return [said, f"An owner who can use, or pass on, all that both ids get gains {alone}. In "
                  f"{percent(found.both)} of cases both ids get something, and somebody else goes without it."]


def selling_warnings(plan: GoodsPlan) -> list[str]:
    """What the operator should know before anybody is asked."""
    said, it, found = list[str](), plan.market, plan.lone
    if plan.charges and found is not None and found.gain > _CLEAR * found.gain_error:
        said.append(f"one person alone can gain: somebody whom truth always leaves with nothing gains {found.gain:.2f} "
                    f"+- {found.gain_error:.2f} of 1 by asking for one good only, on made-up people. The promise of "
                    "truth does not cover them")
    if (scarce := few(min(it.copies), it.people)) is not None:
        said.append(f"{scarce}, can take all copies of the scarcest good")
    return said


SHOWN = 20  # goods on a page; the table has all
_CLEARLY = 0.02  # of the best that is possible: what another method is better by, for a word about it


# ---- before


def plan_sections(plan: GoodsPlan) -> list[Section]:
    """What the operator would get, from public parameters alone."""
    it, copies = plan.market, plan.market.copies
    supply = f"{min(copies):,}" if min(copies) == max(copies) else f"{min(copies):,} to {max(copies):,}"
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", f"{it.people:,}"),
        ("goods, and copies of each", f"{it.goods:,}; {supply}"),
        ("people for each copy", f"{it.people / sum(copies):.3g}"),
        ("what they write", plan.asked),
        ("what is done", plan.words.describe(it)),
        ("privacy of one person, towards everybody else together", str(it.loss)),
        *plan.words.planned(it),
        ("probability that some good is given more often than there are copies", _overflow(plan)),
        ("public certificate of welfare",
         f"{it.certify_with:.0%} of epsilon, but wrong with probability {it.failure_probability:g}"
         if it.certificate_plan is not None else "none"),
        *_predicted(plan),
    ]
    blocks: list[Block] = [Table(
        columns=("what", "planned"), rows=tuple(rows),
        note="Everything here follows from public parameters. Privacy holds whatever anybody writes; what is predicted "
             "is no promise.")]
    warnings = _warnings(plan)
    if warnings:
        blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
    return [
        Section(title="Plan", blocks=tuple(blocks)), *_methods(plan),
        selling_section(plan),
        Section(title="Guarantees", blocks=(promises_table(plan.guarantees, step(plan)),)),
        groups_section(plan.market, plan.guarantees.privacy),
    ]


def _overflow(plan: GoodsPlan) -> str:
    it = plan.market
    if it.on_overflow == "truncate":
        return f"0: the last in the public order go without; charged with a delta of {it.overflow_delta:.3g}"
    return f"{it.failure_probability:g}: then they are given all the same, from a stock"


def _predicted(plan: GoodsPlan) -> list[tuple[str, str]]:
    made = plan.prediction
    least, most = made.span
    return [("predicted welfare of made-up people, of the best that is possible",
             f"{made.share:.0%}; {least:.1%} to {most:.1%} in {made.runs} runs, each of another crowd"),
            ("  where goods are handed out without asking anybody", f"{made.baseline:.0%}"),
            *((f"  by {name}, which is not private", f"{share:.0%}") for name, share in made.baselines.items())]


def _methods(plan: GoodsPlan) -> list[Section]:
    """The methods side by side, where they can be tried out."""
    if not plan.others:
        return []
    made = plan.prediction
    rows: list[tuple[str, float, float | None, float | None]] = [
        (name, each.share, *each.span) for name, each in {"as planned": made, **plan.others}.items()]
    rows.append(("without asking anybody", made.baseline, None, None))
    rows += [(f"{name} (not private)", share, None, None) for name, share in made.baselines.items()]
    charging = ", charging prices" if plan.charges else ""
    return [Section(title="What made-up people would get", blocks=(Table(
        columns=("method", "share of the best that is possible", "in the worst run", "in the best run"),
        rows=tuple(rows),
        note=f"Runs with simulated noise on the same crowds of people with public tastes, who write what is asked for; "
             f"with what is recommended for each method{charging}. Real people may get more or less: no promise."),))]


def _right(plan: GoodsPlan, *, somebody: bool = False) -> str:
    """How often a guess is right at most from all that others see."""
    return guess_in_words(plan.market, plan.guarantees.privacy, Audience.OTHERS, thing="row", somebody=somebody)


def _warnings(plan: GoodsPlan) -> list[str]:
    found, it = list[str](), plan.market
    if it.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {it.epsilon:g} promises little. {_right(plan, somebody=True).removesuffix('.')}")
    if it.delta * it.people >= 1:
        found.append(f"a delta of at least 1/{it.people:,} allows that somebody's row is told outright: choose it far "
                     "smaller")
    if it.on_overflow == "flag" and it.failure_probability > 1e-4:
        found.append(f"with probability {it.failure_probability:g} some good is given more often than there are "
                     "copies. Have a few more in stock, or a smaller failure_probability: to break the promise to "
                     "somebody who was given one tells others something that nothing was charged for")
    poor = [one for one in plan.prediction.crowds.values() if one.welfare < 1.1 * one.baseline]
    if poor:
        one = min(poor, key=lambda each: each.welfare - each.baseline)
        found.append(f"hardly more is predicted than where nobody is asked, or less: {one.welfare:.0%} beside "
                     f"{one.baseline:.0%} for the same made-up people. A larger epsilon or more copies of each good "
                     "help")
    for name, other in plan.others.items() if plan.charges else ():
        if other.share > plan.prediction.share + _CLEARLY:
            found.append(f"with prices charged, auction.method = {name!r} is predicted at {other.share:.0%}, and what "
                         f"is planned at {plan.prediction.share:.0%}")
    found += selling_warnings(plan)
    if plan.charges:
        found.append("prices are charged, and nothing here collects them: what somebody owes is in her share, as a "
                     "number on the scale from 0 to 1 and in points; what that is in money is the operator's to say "
                     "before, and to collect afterwards")
    return found


def step(plan: GoodsPlan) -> str:
    """What one neighbour step changes, in words."""
    step = "replaced by any other" if plan.market.neighbours == "replace" else "replaced by an empty one"
    return (f"Privacy: when one person's row is {step}, and everybody else compares all that they get and see. Whoever "
            "hands her good to her learns which it is.")


# ---- the offer


def offer_sections(plan: GoodsPlan) -> list[Section]:
    """The plan as a participant reads it."""
    it = plan.market
    delta = f", but for a probability of {it.delta:g}" if it.delta else ""
    shown = ", ".join(f"{name} ({copies:,})" for name, copies in
                      zip(plan.names[:SHOWN], it.copies, strict=False))
    more = f", and {it.goods - SHOWN:,} more" if it.goods > SHOWN else ""
    other = "any other row" if it.neighbours == "replace" else "nothing"
    certified = (" Two blurred sums say how well everybody did together." if it.certificate_plan is not None else "")
    gets, lied = _truth(plan)
    return [
        Section(title="What there is", blocks=(Text((
            f"{shown}{more}. {it.people:,} people are invited, and each gets {plan.words.limit(it)}.",)),)),
        answer(Question.REPORT, as_sentence(plan.asked),
               "Who takes no part, or hands in what cannot be used, counts as somebody to whom nothing is worth "
               "anything.",
               "Your place in the public order is the rank of your id. Hand in your row before the campaign is run: it "
               "runs once."),
        Section(title="How goods are handed out", blocks=(Text(tuple(plan.words.rule(it))),)),
        answer(Question.SEES, "The operator sees your row. The public sees prices, and the noisy numbers that they "
                              f"follow from.{certified} You find your own good from these and your own row, on your "
                              "own device. Whoever hands you the good learns that it is yours; that you got it tells "
                              "something of what you wrote."),
        answer(Question.HIDES, f"All that everybody else gets and sees, put together{delta}, is at most "
                               f"{likelier(it.epsilon)} times as likely as if you "
                               f"had handed in {other}. {_right(plan)}"),
        answer(Question.GETS, f"Of the goods that there are, you get {plan.words.limit(it)}, by what everybody wrote.",
               gets),
        answer(Question.LIES, lied),
        answer(Question.TRUSTED, "The operator, with your row; nobody else."),
        answer(Question.WITHDRAWING, *withdrawing(
            absent="you count as somebody to whom nothing is worth anything, and nobody but the operator can tell")),
    ]


def _truth(plan: GoodsPlan) -> tuple[str, str]:
    """What is paid, and what a lie would gain."""
    it = plan.market
    if not plan.charges:
        return ("You pay nothing; prices only say who gets what.",
                "Nothing is promised of what could be gained by writing something else than what you would give.")
    said = lies(plan.guarantees,
                f"At epsilon = {it.epsilon:g} nothing is promised of what could be gained by writing something else.")
    return ("You pay the final price of your good, if you take it, and never more than it is worth to you by what you "
            "wrote. The operator collects it.", said)

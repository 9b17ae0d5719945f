"""Audits of a mechanism at the campaign's own size, on synthetic bidders. They cover decoding, the supply, the
certificate, and guesses of bidders who spy on others.

A further audit compares the utility of single bidders in a run with promises about the final prices and about
participation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from confide.allocation.audited_markets import of_rows
from confide.allocation.duality import dual_bound
from confide.allocation.instances import SpyGadgets, instance_a
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.valuations import Valuations
from confide.audit import AuditRow, Concern, Examined
from confide.contract.errors import Refused
from confide.contract.guarantees import Accuracy, Guarantees, Participation
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise

__all__ = [
    "FALSE_ALARM",
    "SUPPLY",
    "behaviour",
    "certificate_rows",
    "dear",
    "decode_row",
    "decodes",
    "run_of",
    "spy_row",
    "supply_row",
    "worth_rows",
]

# ---- audited worth

_ASKED = 2000
_BETTER = "the gain of a bidder with a good from another good"


def worth_rows(
    mechanism: Any, values: Any, outcome: Any, promised: Guarantees, paid: float | None = None
) -> list[AuditRow]:
    """Audit rows for the promises about prices and participation, one row for each promise. A run whose shares are
    bundles gives no rows.

    Args:
        mechanism: mechanism that ran.
        values: valuations of all bidders in the run, shape (n, k).
        outcome: outcome of the run.
        promised: guarantees of the campaign's mechanism. The mechanism that ran may be a smaller copy of the campaign's
            mechanism.
        paid: payment, in units of value, that every bidder makes in place of the price of their good; None for the
            prices of the run.
    """
    if "good" not in outcome.shares.column_names:
        return []
    least, most, asked = _found(
        mechanism, values, outcome, outcome.shares["price"].to_numpy() if paid is None else np.full(len(values), paid))
    evidence = f"{asked:,} synthetic bidders of one run, by their own rows and the public prices"
    rows, own = list[AuditRow](), mechanism.guarantees()
    for part in own.of(Participation):
        rows.append(AuditRow.at_least(
            "participation: the value of a bidder's goods, less their price", part.utility, least, evidence,
            unit="in value", concern=Concern.PARTICIPATION).holding(*promised.of(Participation)))
    for promise in own.of(Accuracy):
        if promise.measure.startswith(_BETTER) and most is not None:
            rows.append(AuditRow.at_most(
                f"accuracy: {promise.measure}", promise.bound, most, evidence, vacuous=promise.vacuous,
                note="no better than an arbitrary good" if promise.vacuous else "",
                unit="in value", concern=Concern.ACCURACY).holding(*(
                    each for each in promised.of(Accuracy) if each.measure == promise.measure)))
    return rows


def dear(mechanism: Any) -> dict[str, float]:
    """Mapping from the description of a mutant to the payment, in units of value, that every bidder makes in this
    mutant. The payment is above all values. The mapping is empty for markets without a promise about participation.

    Args:
        mechanism: audited mechanism.
    """
    promised = isinstance(mechanism, PMatch | SinkhornMatch) and any(mechanism.guarantees().of(Participation))
    return {"a price above all values": 2.0} if promised else {}


def _found(mechanism: Any, values: Any, outcome: Any, paid: Any) -> tuple[float, float | None, int]:
    """Three numbers about some bidders of a run: their least utility after payment, the largest gain from another good,
    and how many bidders were asked.

    The gain compares a bidder's good with their best good at the public prices. If no asked bidder holds a good, the
    gain is None.
    """
    rows = Valuations.of(values, people=mechanism.people, goods=mechanism.goods)
    good, prices = outcome.shares["good"].to_numpy(), np.asarray(outcome.billboard.prices, dtype=np.float64)
    places = np.unique(np.linspace(0, mechanism.people - 1, min(_ASKED, mechanism.people)).astype(np.int64))
    least, most = 0.0, None
    for place in places.tolist():
        if good[place] < 0:
            least = min(least, -float(paid[place]))
            continue
        row = np.asarray(rows.row(place), dtype=np.float64)
        least = min(least, float(row[good[place]]) - float(paid[place]))
        better = float((row - prices).max()) - float(row[good[place]] - prices[good[place]])
        most = max(most or 0.0, better)
    return least, most, len(places)


# ---- audited behaviour

SUPPLY = "the number of given copies of any good beyond its supply"
"""Name of the measure in the promise about supplies."""

FALSE_ALARM = 1e-9
"""Upper bound on the probability that one statistical row of an audit says "broken" although the promise is kept."""

_DECODED = 200  # bidders who decode for themselves
_CELLS = 2 * 10**7  # valuations of made-up bidders at most
_GADGETS, _SPIES = 600, 4


_RECKLESS = PMatch(people=2000, goods=20, supply=100, epsilon=4.0, increment=0.05, bid_cap=8, rounds=30, batch=100,
                   arity=6, reclear=0.0, reserve=0)
_CERTIFIED = PMatch(people=20_000, goods=4, supply=4000, epsilon=4.0, increment=0.05, bid_cap=14, rounds=50, batch=500,
                    arity=10, certify_with=0.2)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Run:
    mechanism: Market
    values: Any
    outcome: Any

    @property
    def over(self) -> float:
        """Number of copies that were given beyond the supply."""
        return float(self.outcome.diagnostics["over_allocated"])


def scaled(mechanism: Market) -> Market:
    """The market of a campaign for bidders whose records are rows of values. A market with more than 2*10^7 values is
    scaled down, with the same ratio of noise to supply.

    Args:
        mechanism: mechanism of the campaign.
    """
    mechanism = of_rows(mechanism, mechanism.goods)
    part = _CELLS / (mechanism.people * mechanism.goods)
    if part >= 1.0:
        return mechanism
    few = {"people": max(1, int(mechanism.people * part)), "epsilon": mechanism.epsilon / part,
           "supply": tuple(max(1, int(copies * part)) for copies in mechanism.copies)}
    if isinstance(mechanism, PMatch | PAlloc):
        few["batch"] = max(1, int(mechanism.batch * part))
        few["reserve"] = None if mechanism.reserve is None else int(mechanism.reserve * part)
    if mechanism.on_overflow == "truncate":  # gamma costs more than delta at another epsilon
        few["on_overflow"] = "flag"
    return replace(mechanism, **few)  # type: ignore[arg-type]


def made_up(mechanism: Market, seed: int) -> NDArray[Any]:
    """Synthetic values from `instance_a`, shape (n, k). For auctions of bundles, the values are scaled such that no
    bundle is worth more than 1.
    """
    values = instance_a(mechanism.people, mechanism.goods, seed=seed)
    return values / np.float32(2 * mechanism.goods) if isinstance(mechanism, PAlloc) else values


def run_of(mechanism: Market, seed: int, values: Any = None) -> _Run:
    """One run with simulated noise, on synthetic bidders by default, or on given values."""
    data = made_up(mechanism, seed) if values is None else values
    return _Run(mechanism=mechanism, values=data, outcome=mechanism.run(data, Noise.simulated(seed)))


def behaviour(mechanism: Market, seed: int = 0) -> list[Examined]:
    """Audits of runs at the campaign's own size, or at a smaller size for very large campaigns. Each audit has mutants.

    The audits cover decoding, the supply, the certificate, the utility of bidders, and the guesses of spies. The audit
    of the spies runs on a market of its own.

    Args:
        mechanism: mechanism as the campaign will run it.
        seed: seed of the synthetic bidders and of the noise.
    """
    own, promised = scaled(mechanism), mechanism.guarantees()
    fewer = f"{own.people:,} bidders" if own.people < mechanism.people else ""
    supplied = [each for each in promised.of(Accuracy) if each.measure == SUPPLY]
    run, certified = (cache(partial(run_of, each, seed)) for each in (own, _CERTIFIED))
    quiet = replace(_RECKLESS, epsilon=0.05)

    def smaller(rows: Iterable[AuditRow]) -> list[AuditRow]:
        return [row.smaller(fewer) for row in rows]

    def claimed(place: int, it: tuple[Callable[[], _Run], bool]) -> list[AuditRow]:
        played, forgetful = it
        return smaller(certificate_rows(played(), forgetful=forgetful)[place : place + 1])

    return [
        decodes(run, seed, fewer),
        Examined(named="supply", sound=own, rows=lambda it: smaller([supply_row(it, seed).holding(*supplied)]),
                 faults={"an auction without a reserve or a final clearing": _RECKLESS}),
        *(Examined(named="certificate", sound=(run, False), rows=partial(claimed, place),
                   faults={"the gain of bidders that the bound leaves out": (certified, True)}) for place in (0, 1)),
        Examined(named="participation", rows=lambda paid: smaller(worth_rows(
            own, run().values, run().outcome, promised, paid)), faults=dear(own)),
        Examined(named="joint privacy", sound=(mechanism, lambda: None),
                 rows=lambda it: spy_row(it[0], seed, it[1]()), faults={
                     "the exact optimum, presented as epsilon = 0.05": (quiet, lambda: SpyGadgets.drawn(
                         _GADGETS, _SPIES, worth=0.5, seed=seed).optimum)})]


# ---- decodes


def decodes(run: Callable[[], _Run], seed: int = 0, among: str = "") -> Examined:
    """Audit of the decoding of a run. In the audit's mutant every bidder receives another bidder's share.

    Args:
        run: function without arguments that returns a simulated run.
        seed: seed of the choice of the audited bidders.
        among: number of bidders in words, such as "2,000 bidders", for a run that is smaller than the campaign; empty
            for a run of the campaign's size.
    """
    return Examined(named="billboard", sound=run, rows=lambda it: [decode_row(it(), seed).smaller(among)],
                    faults={"everybody gets the neighbour's share": lambda: _shifted(run())})


def decode_row(run: _Run, seed: int = 0) -> AuditRow:
    """Check, for some bidders, that the assigned share equals the share that the bidder decodes from their own row and
    the billboard.

    Args:
        run: simulated run.
        seed: seed of the choice of the audited bidders.
    """
    n = run.mechanism.people
    asked = np.unique(np.linspace(0, n - 1, min(n, _DECODED)).astype(np.int64) + seed % 7) % n
    shares, wrong = run.outcome.shares, 0
    for index in asked.tolist():
        found = run.mechanism.decode(run.values[index], index, run.outcome.billboard)
        wrong += any(shares[name][index].as_py() != found[name] for name in shares.column_names)
    return AuditRow.at_most("billboard: number of shares that differ from the decoded shares of their bidders",
                            0.0, float(wrong),
                            f"{len(asked)} of {n:,} synthetic bidders decode their own share",
                            unit="shares", concern=Concern.ACCURACY)


# ---- supply


def supply_row(mechanism: Market, seed: int = 0) -> AuditRow:
    """Check that a run exceeds the supply of a good at most as often as the failure probability gamma allows.

    With truncation, the audit makes a single run, which must not exceed the supply. If gamma is used only after the
    last release, to choose the holders, the audit makes a single run with a gamma of 10^-9, and this run must not
    exceed the supply. In all other cases the audit makes as many runs as the statistical test needs.

    Args:
        mechanism: mechanism as the campaign will run it.
        seed: seed of the synthetic bidders and of the noise.
    """
    promise = "supply: number of runs that give more copies than the supply"
    if mechanism.on_overflow == "truncate":
        over = float(run_of(mechanism, seed).over > 0)
        return AuditRow.at_most(promise, 0.0, over, "one run on synthetic bidders; requests beyond the supply are cut "
                                                    "off",
                                unit="runs", concern=Concern.ACCURACY)
    strict = _strict(mechanism)
    if strict is not None:
        over = float(run_of(strict, seed).over > 0)
        return AuditRow.at_most(promise, 0.0, over, f"one run on synthetic bidders with gamma = {FALSE_ALARM:g}",
                                false_alarm=FALSE_ALARM, unit="runs", concern=Concern.ACCURACY)
    runs = max(4, math.ceil(math.log(FALSE_ALARM) / math.log(mechanism.failure_probability)))
    most = int(binom.isf(FALSE_ALARM, runs, mechanism.failure_probability))
    over = float(sum(run_of(mechanism, seed * 1009 + number).over > 0 for number in range(runs)))
    return AuditRow.at_most(promise, float(most), over,
                            f"{runs} runs on synthetic bidders; with failure_probability = "
                            f"{mechanism.failure_probability:g}, more than {most} such runs have a probability below "
                            f"{FALSE_ALARM:g}", false_alarm=FALSE_ALARM,
                            unit="runs", concern=Concern.ACCURACY)


def _strict(mechanism: Market) -> Market | None:
    """The mechanism with a tiny failure probability. A mechanism that would need a reserve found by simulation gives
    None.
    """
    if isinstance(mechanism, PMatch | PAlloc) and not mechanism.reclear:
        return None
    try:
        return replace(mechanism, failure_probability=FALSE_ALARM)
    except Refused:
        return None


# ---- the certificate


def certificate_rows(run: _Run, *, forgetful: bool = False) -> list[AuditRow]:
    """Compare the billboard's claims about the welfare with the exact welfare and an exact upper bound on the optimum.

    Args:
        run: simulated run.
        forgetful: whether the certificate leaves out the bidders' gains at the prices. A certificate without these
            gains is a mutant that the audit must flag.
    """
    plan, board = run.mechanism.certificate_plan, run.outcome.billboard
    if plan is None or board.surplus is None:
        return []
    claimed = replace(plan, failure_probability=FALSE_ALARM).certificate(
        board.prices, 0.0 if forgetful else board.surplus, board.welfare)
    if isinstance(run.mechanism, PAlloc):
        from confide.allocation.duality import bundle_dual_bound

        own = run.mechanism.valuation.population(run.values, people=run.mechanism.people, goods=run.mechanism.goods)
        most = bundle_dual_bound(own, run.mechanism.copies, board.prices)
    else:
        rows = Valuations.of(run.values, people=run.mechanism.people, goods=run.mechanism.goods)
        most = dual_bound(rows, run.mechanism.copies, board.prices)
    welfare = float(run.outcome.diagnostics["welfare"])
    evidence = f"one run, with bounds that fail with probability {FALSE_ALARM:g}"
    return [
        AuditRow.at_most("certificate: the claimed share of the best welfare", welfare / most,
                         claimed.ratio, f"{evidence}; promised: exact welfare over an exact bound of the best",
                         false_alarm=FALSE_ALARM, unit="of the best welfare", concern=Concern.ACCURACY),
        AuditRow.at_least("certificate: the claimed bound of the best welfare", most, claimed.optimum,
                          f"{evidence}; promised: the exact dual bound", unit="in value", concern=Concern.ACCURACY),
    ]


# ---- what spies learn


def spy_row(mechanism: Market, seed: int = 0, allocation: NDArray[Any] | None = None) -> list[AuditRow]:
    """Count how many of the bidders' secret bits are guessed right by spies in one run of the mechanism. Spies are
    other bidders, who guess from their own goods.

    Under joint privacy with a pure epsilon each fair bit is guessed right with probability at most e^epsilon/(1 +
    e^epsilon), whatever was guessed about the other bits. So the number of right guesses is dominated by a binomial
    variable with success probability e^epsilon/(1 + e^epsilon). If neighbours differ in the presence of a bidder, 2
    epsilon stands in place of epsilon. Where the success probability is near 1, the audit shows nothing, and the audit
    row says so.

    Args:
        mechanism: mechanism with the rules of the run. The mechanism's numbers of bidders, goods and copies are
            replaced by the numbers of the market with spies.
        seed: seed of the secret bits, of the spies' tastes and of the noise.
        allocation: good of each bidder, shape (n,), to use in place of the mechanism's allocation; None to run the
            mechanism.

    Source: spec allocation 8; domination by a binomial: Steinke, Nasr and Jagielski 2023.
    """
    if mechanism.noise_law != "laplace" or isinstance(mechanism, PAlloc):
        return []
    market = SpyGadgets.drawn(_GADGETS, _SPIES, worth=0.5, seed=seed)
    if allocation is None:
        allocation = _on_gadgets(mechanism, market, seed)
    if allocation is None:
        return []
    right = market.right(allocation)
    tossed = Noise.simulated(seed).channel([[1, 1]], np.zeros(_GADGETS, dtype=np.int64), stream="spies' coins")
    guessed = int(np.where(right == 0.5, tossed, right).sum())
    # A bit replaces a row: two steps where neighbours differ by presence.
    steps = 1 if mechanism.neighbours == "replace" else 2
    chance = 1.0 / (1.0 + math.exp(-steps * mechanism.epsilon))
    most = int(binom.isf(FALSE_ALARM, _GADGETS, chance))
    promise, claim = "joint privacy: number of bits that spies guess from their own goods", PureDP(mechanism.epsilon)
    evidence = (f"{_GADGETS} bidders among {_SPIES} spies each, one run; more than {most} right guesses have a "
                f"probability below {FALSE_ALARM:g}")
    row = AuditRow.of_loss(promise, claim, float(most), float(guessed), evidence, flagged=guessed > most,
                           false_alarm=FALSE_ALARM, unit="bits")
    if most >= _GADGETS:
        return [replace(row, verdict="vacuous", note=f"at epsilon = {mechanism.epsilon:g}, spies may guess all bits")]
    return [row]


def _on_gadgets(mechanism: Market, market: SpyGadgets, seed: int) -> NDArray[Any] | None:
    sizes: dict[str, Any] = {"people": market.people, "goods": market.goods, "supply": market.supply,
                             "on_overflow": "flag"}
    if isinstance(mechanism, PMatch):
        # A reserve would leave nothing; what is held back does not matter to privacy.
        sizes |= {"batch": 10 * (_SPIES + 1), "rounds": min(mechanism.rounds, 4),
                  "reserve": None if mechanism.reclear else 0, "arity": min(mechanism.arity, 8)}
    try:
        own = replace(mechanism, **sizes)
    except Refused:
        return None
    return np.asarray(own.run(market.values, Noise.simulated(seed)).shares["good"].to_numpy())


def _shifted(run: _Run) -> _Run:
    """The run with every bidder's share moved to the next bidder."""
    order = np.roll(np.arange(run.mechanism.people), 1)
    outcome = run.outcome
    return replace(run, outcome=SimpleNamespace(billboard=outcome.billboard, shares=outcome.shares.take(order)))

"""The audits of the markets `MajorityMarket`, `PairMarket` and `ThresholdMarket`: worst-case neighbours, exact
expectations, and the faults that are injected into each market.

Privacy is measured on the reports that the randomiser on a participant's device really draws, and on everything that
other people see of a run. Incentives and payments are computed exactly: by enumeration of the counts of reports, or by
closed-form expectations. Payments are rounded up to whole smallest units of the currency, such as cents, or the effect
of rounding is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import binom

from confide.audit import AuditRow, Concern, DeviceNoise, Neighbours, Verdict, published, received
from confide.audit.devices import CHECKED, DECODED, JOINTLY, checked_row, decoded_row
from confide.audit.engine import Audited, Examined, Laws, Transcripts, observed
from confide.contract.guarantees import Accuracy, Audience, Budget, Participation, Relation, Truthfulness
from confide.market.audited_faults import (
    Alike,
    AsIfAllAtEpsilon,
    Asymptotic,
    InWholeCoins,
    InWholeCoinsByType,
    NeverAlone,
    Noiseless,
    OneTooFew,
    again,
    of_types,
)
from confide.market.binomials import binomial_weights
from confide.market.collection import BitCollection, Reports
from confide.market.equilibrium import check_equilibrium
from confide.market.majority import MajorityMarket, TotalPayment
from confide.market.pairs.accuracy import failure_probability
from confide.market.pairs.market import PairMarket, audit_groups
from confide.market.strategies import NONE, best_response, utility
from confide.market.threshold.threshold_market import ThresholdMarket
from confide.market.threshold.type_equilibrium import check_types
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.response import randomized_response

__all__ = ["FALSE_ALARM", "TOO_COARSE", "majority", "pairs", "unknown_costs"]

FALSE_ALARM = 1e-9
"""Probability with which an audit row that tests random draws reports a violation although the guarantee holds."""

TOO_COARSE = "one coin exceeds the gain of truth over reports that ignore the bit"

_VISIBLE = 1e-3  # share of a market's margin that a fault must be worth to count as found
_TRUTH = "truth: gain of the best other way to report"
_PART = "participation: expected payment less the cost of the level"
_DRAWS = 400
_BETWEEN = 1.5
_HISTORIES = 8
_SHOWN = 300  # shares that are decoded again, of one run
_CROWD = 12  # devices that report in most of the runs on neighbours; a payment needs peers
_FEW = 40  # reports up to which all counts are paid
_LARGEST = 2_000_000  # counts of reports that are gone through, of a majority market
_LARGEST_COUNTS = 300  # people up to whom all counts of reports of pairs are gone through
_LARGEST_EXACT = 20_000  # people up to whom the failure of the estimate is computed for every number of ones
_LARGEST_TYPES = 400  # people up to whom all counts of a threshold market are gone through
_TYPES = (1e-6, 0.1, 0.5, 0.9, 1.0)  # of the threshold: whose devices are tried in any case
_OTHER_TYPES = 50  # besides, one of each part of the range, and of its logarithm

_Worths = Sequence[float | None]
_Rows = Callable[[], list[AuditRow]]


def majority(collection: BitCollection, seed: int = 0) -> Audited:
    """The audit of a campaign that pays a report if it equals the majority of the other participants' reports.

    Args:
        collection: mechanism that the campaign runs.
        seed: seed of the simulated reports and runs. The rows of incentives, payments and accuracy are exact and use no
            randomness.
    """
    market: MajorityMarket = collection.market
    # Faults that vanish with the number of people are injected into a small market, before rounding.
    small = replace(market, people=5, presence=1.0, epsilon=1.0)

    def truth() -> list[AuditRow]:
        found = check_equilibrium(again(InWholeCoins, market, minor_units=collection.minor_units), tolerance=0.0)
        return [_reply(collection, found.regret, market.liability()[1],
                       "the exact best reply over all channels, to payments in whole coins; its level is "
                       f"{found.rows[0].best.level:.6g}, and the bought level is {market.epsilon:g}"),
                _worth_it(collection, found.rows[0].utility, "the exact expectation, in whole coins")]

    def money() -> list[AuditRow]:
        mean, largest, wrong, evidence = _majority_money(collection)
        return [*_money(collection, mean, largest, evidence, mean),
                _right(collection, wrong, f"{evidence}; for each number, the better guess")]

    def bent(kind: type[MajorityMarket]) -> list[AuditRow]:
        return [_gain(check_equilibrium(again(kind, small), tolerance=0.0).regret, small.margin)]

    return _audited(collection, seed, (None,), (), truth, money, {
        "payments for infinitely many participants (in a market of 5 people)": partial(bent, Asymptotic),
        "payments for one person less than take part (in a market of 5 people)": partial(bent, OneTooFew)})


def pairs(collection: BitCollection, seed: int = 0, groups: Sequence[tuple[str, int, int]] = ()) -> Audited:
    """The audit of a campaign in which a report is paid by its agreement with other participants' reports.

    Args:
        collection: mechanism that the campaign runs.
        seed: seed of the simulated reports and runs. The rows of incentives, payments and accuracy are exact and use no
            randomness.
        groups: triples (name, number of people, number of people with bit 1), one for each group whose members have
            correlated bits; empty where no such groups are known. One row for each group shows the gain from
            misreporting for a member who knows their own group. No guarantee covers members who know their own group.
    """
    market: PairMarket = collection.market

    def truth() -> list[AuditRow]:
        a, rounding = _in_coins(collection)
        best, earned = best_response(a, market.cost), utility(a, market.strategy, market.cost)
        return [_reply(collection, best.utility - earned + rounding, market.liability()[0],
                       f"the exact best reply over all channels, at level {best.level:.6g}, " + (
                           "and a coin for rounding" if rounding else "to payments in whole coins, count by count")),
                _worth_it(collection, earned, "the exact expectation, before payments are rounded up")]

    def money() -> list[AuditRow]:
        mean, largest = _pair_money(collection)
        evidence = ("expected over the law of two reports, and for equal reports of everybody, paid by the mechanism's "
                    "own rule")
        return [*_money(collection, mean, largest, evidence, mean), _near(collection), *_insiders(collection, groups)]

    def bent(kind: type[PairMarket]) -> list[AuditRow]:
        table = kind(market.prior, market.cost, market.epsilon).interim_matrix()
        gain = best_response(table, market.cost).utility - utility(table, market.strategy, market.cost)
        return [_gain(gain, market.margin)]

    return _audited(collection, seed, (None,), (), truth, money, {
        "payments by true bits, without the noise of the peers": partial(bent, Noiseless),
        "equal payments for both reports": partial(bent, Alike)})


def unknown_costs(collection: BitCollection, seed: int = 0) -> Audited:
    """The audit of a campaign in which only each person knows their own cost of privacy. Devices of people with many
    different costs are tested.

    Args:
        collection: mechanism that the campaign runs.
        seed: seed of the simulated reports, runs and costs. The rows of incentives, payments and accuracy are exact and
            use no randomness.
    """
    market: ThresholdMarket = collection.market
    small = replace(market, people=3, participation=0.5, threshold=None)

    def truth() -> list[AuditRow]:
        types = check_types(of_types(InWholeCoinsByType, market, minor_units=collection.minor_units))
        return [_reply(collection, types.regret, market.terms.stake, "the exact best reply over all channels up to the "
                       f"ceiling, of {len(types.rows)} types, to payments in whole coins"),
                _worth_it(collection, min(row.utility for row in types.rows),
                          "the exact expectation of each type, in whole coins")]

    def money() -> list[AuditRow]:
        if market.people <= _LARGEST_TYPES:
            mean, wrong = _enumerated(market)
            evidence = "all counts of reports, paid by the market's own rule"
        else:
            mean, wrong = market.total_payment().mean, market.error_probability()
            evidence = "the law of the counts, state by state"
        return [*_money(collection, mean, _extremes(collection)[1], evidence, abs(market.total_bound)),
                _right(collection, wrong, evidence)]

    def bent(kind: type[ThresholdMarket]) -> list[AuditRow]:
        return [_gain(check_types(of_types(kind, small)).regret, small.margin)]

    return _audited(
        collection, seed, [share * market.cost_threshold for share in _TYPES],
        [share * market.cost_threshold for share in _other_types(seed)], truth, money, {
            "payments for people who all report at the level epsilon (in a market of 3 "
            "people)": partial(bent, AsIfAllAtEpsilon),
            "payments for a market that always has a peer (in a market of 3 people)": partial(bent, NeverAlone)})


# ---- what the three have in common: devices, and runs on their reports


def _audited(
    collection: BitCollection, seed: int, worths: _Worths, between: _Worths, truth: _Rows, money: _Rows,
    faults: Mapping[str, _Rows],
) -> Audited:
    """The checks that all three markets share: the devices' reports, runs on those reports, and the market's own rows.

    Args:
        collection: mechanism that the campaign runs.
        seed: seed of the transcripts.
        worths: values of a nat of privacy to the people whose devices are tried; None where costs are known.
        between: further values of a nat of privacy; the device of a person with each of these values is tried once.
        truth: rows of the gain from misreporting and of the utility of taking part.
        money: rows of the payments and of the accuracy of the answer.
        faults: mapping from the description of an injected fault to the rows of the gain from misreporting under that
            fault.
    """
    local = [each for each in collection.guarantees().privacy
             if each.neighbours is Relation.BIT and each.audience is Audience.COLLECTOR]
    one_device = Transcripts(
        named="privacy: one report, local", run=lambda private, noise: collection.submit(private, noise=noise),
        pairs=lambda: [*_both_bits(worths) * _HISTORIES, *_both_bits(between)], seed=seed, promises=local,
        hardest=2 * len(worths), faults={"devices at 1.1 times the level": partial(_louder, collection)})
    drawn = float(collection.market.level_of(worths[0]))
    wrong = 4.0 if drawn < _BETWEEN else 0.5  # so far from what is asked for that a few hundred draws show it
    jointly = Transcripts(
        named=JOINTLY, run=partial(_played, collection, worths, collection.run),
        pairs=partial(_joint_pairs, collection, seed), seed=seed, promises=local, histories=2, hardest=2,
        note=f"in one pair all {collection.market.people:,} people report")
    return Audited(promises=collection.guarantees(), events=collection.events, measured=[
        one_device,
        Laws(draws=lambda: observed(one_device.run, (1, worths[0]), seed)[:1], samples=_DRAWS, false_alarm=FALSE_ALARM,
             seed=seed, factor=drawn / wrong),
        Examined(named=DECODED, sound=collection.run, rows=partial(_decoded, collection, seed), faults={
            "one coin more for a person who follows a person with the report "
            "1": partial(_paid_by_the_last, collection)}),
        Examined(named=CHECKED, sound=collection.run, rows=partial(_checked, collection, seed), faults={
            "one coin more for each report 1 than the counts give": partial(_dearer, collection)}),
        jointly, Examined(named="truth", sound=truth, faults=faults, rows=_computed),
        Examined(named="money", sound=money, rows=_computed)])


def _both_bits(worths: _Worths) -> list[Neighbours]:
    """Neighbouring inputs of one device: bit 0 against bit 1 of the same person, in both orders."""
    return [Neighbours((a, worth), (b, worth), received) for worth in worths for a, b in ((0, 1), (1, 0))]


def _louder(collection: BitCollection, private: Any, noise: Any) -> int:
    bit, worth = private
    return int(randomized_response([bit], 1.1 * collection.market.level_of(worth), noise, stream="report")[0])


def _paid_by_the_last(collection: BitCollection, data: Any, noise: Noise) -> Any:
    outcome = collection.run(data, noise)
    paid = outcome.shares["payment"].to_numpy() + (np.roll(data[0].report, 1) == 1)
    return replace(outcome, shares=pa.table({"payment": paid}))


def _dearer(collection: BitCollection, data: Any, noise: Noise) -> Any:
    outcome = collection.run(data, noise)
    board: Any = outcome.billboard
    return replace(outcome, billboard=replace(board, for_one=board.for_one + 1))


def _crowds(collection: BitCollection, seed: int) -> Iterator[Reports]:
    """Test data sets of everybody's reports: random with absentees, random without, all 0, all 1, a single report, no
    report.
    """
    n, draw = collection.market.people, study_generator(seed, "reports")
    for report in (draw.choice([0, 1, 1, NONE], n), draw.choice([0, 1], n), np.zeros(n), np.ones(n),
                   np.where(np.arange(n) == n // 2, 1, NONE), np.full(n, NONE)):
        yield Reports(np.arange(n), report.astype(np.uint8), draw.integers(collection.groups, size=n))


def _decoded(collection: BitCollection, seed: int, run: Callable[[Any, Noise], Any]) -> list[AuditRow]:
    places = np.unique(np.linspace(0, collection.market.people - 1, _SHOWN).astype(np.int64)).tolist()
    return [decoded_row(((run([crowd], Noise.simulated(seed)), {
        place: (int(crowd.report[place]), int(crowd.group[place])) for place in places})
        for crowd in _crowds(collection, seed)), collection.decode, "reports")]


def _checked(collection: BitCollection, seed: int, run: Callable[[Any, Noise], Any]) -> list[AuditRow]:
    def rounds() -> Iterator[tuple[Any, bool]]:
        for crowd in _crowds(collection, seed):
            board = run([crowd], Noise.simulated(seed)).billboard
            present, ones = int(np.count_nonzero(crowd.report != NONE)), int(np.count_nonzero(crowd.report == 1))
            yield board, (board.present, int(board.ones.sum())) == (present, ones)

    return [checked_row(rounds(), collection.check, "reports")]


@dataclass(frozen=True, eq=False)
class _Held:
    """Bits of some people, whose devices still draw their reports, and the finished reports of everybody else.

    Args:
        bits: mapping from a person's rank in the list of ids to that person's bit.
        others: finished reports of everybody else.
        groups: (n,) group of peers of each of all n people.
    """

    bits: dict[int, int]
    others: Reports
    groups: NDArray[np.int64]


def _played(
    collection: BitCollection, worths: _Worths, run: Callable[[Any, Noise], Any], data: _Held, noise: Noise,
) -> Any:
    """Draw a report from each bit on that person's device, then run the mechanism. The outcome is everything that other
    people see.
    """
    who = np.array(list(data.bits), dtype=np.int64)
    sent = np.array([collection.submit((bit, worths[k % len(worths)]), noise=DeviceNoise(noise, k))
                     for k, bit in enumerate(data.bits.values())], dtype=np.uint8)
    index = np.concatenate([who, data.others.index])
    order = np.argsort(index, kind="stable")
    report = np.concatenate([sent, data.others.report])[order]
    return run([Reports(index[order], report, data.groups[index[order]])], noise)


def _joint_pairs(collection: BitCollection, seed: int) -> Iterator[Neighbours]:
    """Neighbouring data sets that differ in one bit among a dozen devices, and in the last pair among everybody's
    devices.
    """
    n = collection.market.people
    draw = study_generator(seed, "bits")
    few = min(n, _CROWD)
    places = np.sort(draw.choice(n, few, replace=False))
    bits, groups = draw.integers(2, size=few).tolist(), draw.integers(collection.groups, size=n)
    reports = draw.integers(2, size=n).astype(np.uint8)

    def held(mine: dict[int, int], who: NDArray[np.int64]) -> _Held:
        return _Held(mine, Reports(who, reports[who], groups[who]), groups)

    for k in (0, few // 2, few - 1):
        for bit in (0, 1):
            one, other = (held(dict(zip(places.tolist(), [*bits[:k], mine, *bits[k + 1 :]], strict=True)),
                               np.zeros(0, dtype=np.int64)) for mine in (bit, 1 - bit))
            yield Neighbours(one, other, partial(published, index=int(places[k])))
    one, other = (held({n // 2: bit}, np.delete(np.arange(n), n // 2)) for bit in (0, 1))
    yield Neighbours(one, other, partial(published, index=n // 2))


# ---- truth, participation, money and accuracy as rows


def _computed(rows: _Rows) -> list[AuditRow]:
    return rows()


def _reply(collection: BitCollection, gain: float, scale: float, evidence: str) -> AuditRow:
    truth = collection.guarantees().of(Truthfulness)[0]
    return AuditRow.at_most(_TRUTH, truth.gain, gain, evidence, vacuous=truth.vacuous,
                            note=TOO_COARSE if truth.vacuous else "", scale=scale,
                            unit=collection.currency, concern=Concern.INCENTIVES).holding(truth)


def _gain(gain: float, margin: float) -> AuditRow:
    """Row that fails if a lie gains a visible amount in a market with an injected fault."""
    return AuditRow.at_most(_TRUTH, _VISIBLE * margin, gain, "the exact best reply", concern=Concern.INCENTIVES)


def _worth_it(collection: BitCollection, earned: float, evidence: str) -> AuditRow:
    part = collection.guarantees().of(Participation)[0]
    return AuditRow.at_least(_PART, part.utility, earned, evidence, unit=collection.currency,
                             concern=Concern.PARTICIPATION).holding(part)


def _money(collection: BitCollection, mean: float, largest: float, evidence: str, scale: float) -> list[AuditRow]:
    budget, unit = collection.guarantees().of(Budget)[0], collection.currency
    few = f"all counts of up to {_FEW} reports, in whole coins"
    return [
        AuditRow.at_most("money: expected total", budget.expected, mean, evidence, scale=scale, unit=unit,
                         concern=Concern.BUDGET).holding(budget),
        AuditRow.at_most("money: a single payment", budget.highest, largest,
                         few if isinstance(collection.market, ThresholdMarket) else evidence, scale=largest, unit=unit,
                         concern=Concern.BUDGET).holding(budget),
        AuditRow.at_least("money: a single payment, at least", budget.lowest, _extremes(collection)[0], few, unit=unit,
                          concern=Concern.BUDGET).smaller(
                              f"up to {_FEW} reports" if collection.market.people > _FEW else "").holding(budget)]


def _right(collection: BitCollection, wrong: float, evidence: str) -> AuditRow:
    accuracy = collection.guarantees().of(Accuracy)[0]
    return AuditRow.at_most(accuracy.measure, accuracy.bound, wrong, evidence, vacuous=accuracy.vacuous,
                            note="no better than guessing by the prior" if accuracy.vacuous else "",
                            scale=accuracy.bound, unit="(probability)", concern=Concern.ACCURACY).holding(accuracy)


def _near(collection: BitCollection) -> AuditRow:
    """The row of the probability that the estimate of a market of pairs is further off than its guarantee says."""
    market, accuracy = collection.market, collection.guarantees().of(Accuracy)[0]
    if market.people > _LARGEST_EXACT:
        return AuditRow.unmeasured(
            accuracy, f"above {_LARGEST_EXACT:,} people the audit does not compute the chance for each number of ones")
    return AuditRow.at_most(
        f"accuracy: probability of an error above {accuracy.bound:.4g}", accuracy.failure_probability,
        failure_probability(market.people, market.epsilon, accuracy.bound),
                            "exact, the largest over all numbers of ones",
        vacuous=accuracy.vacuous, note="the promised distance says nothing" if accuracy.vacuous else "",
        unit="(probability)", concern=Concern.ACCURACY).holding(accuracy)


def _insiders(collection: BitCollection, groups: Sequence[tuple[str, int, int]]) -> list[AuditRow]:
    if not groups:
        return []
    names, sizes, ones = zip(*groups, strict=True)
    return [AuditRow(
        f"truth: gain of the best other way to report for people who know that they are in group {row.group}",
        "no promise",
        row.gain, "the exact best reply to peers of the same group alone", Verdict.VACUOUS,
        f"the best reply is {row.best.name}" + ("" if row.truthful else ", so the truth does not pay"),
        unit=collection.currency, concern=Concern.INCENTIVES)
        for row in audit_groups(collection.market, sizes, ones, list(names))]


# ---- exact numbers


def _extremes(collection: BitCollection) -> tuple[float, float]:
    """The smallest and the largest payment of a report, over all counts of up to 40 reports, in whole coins."""
    most = min(collection.market.people, _FEW)
    counts = [(ones, n - ones) for n in range(2, most + 1) for ones in range(n + 1)]
    board = collection.pay_counts(*(np.array(each) for each in zip(*counts, strict=True)))
    paid = np.concatenate([board.for_one[board.ones > 0], board.for_zero[board.zeros > 0]])
    return float(paid.min()) / collection.minor_units, float(paid.max()) / collection.minor_units


def _majority_money(collection: BitCollection) -> tuple[float, float, float, str]:
    """The expected total payment, the largest single payment, the error probability of the best guess, and the method
    used.
    """
    market: MajorityMarket = collection.market
    n, weights = (np.array([market.people]), np.ones(1)) if market.presence == 1 else binomial_weights(
        market.people, market.presence)
    mean, largest, wrong = 0.0, 0.0, 0.0
    enumerated = float(n.sum()) <= _LARGEST
    for size, weight in zip(n.tolist(), weights.tolist(), strict=True):
        laws = [prior * binom.pmf(np.arange(size + 1), size, float(p)) for prior, p in (
            (market.signal_model.prior_zero, market.reporting.miss),
            (market.signal_model.prior_one, market.reporting.agree)
        )] if enumerated else []
        if enumerated:
            wrong += weight * float(np.minimum(*laws).sum())
        if size < 2:
            continue
        one, zero = _coins(collection, size)
        largest = max(largest, one, zero)
        if enumerated:
            mean += weight * float((laws[0] + laws[1]) @ _totals(collection, size, one, zero))
        else:
            mean += weight * TotalPayment(size, market.signal_model, market.reporting, float(one), float(zero)).mean
    evidence = "all counts of reports, paid by the mechanism's own rule" if enumerated else (
        "closed forms for each number of participants, in the mechanism's own coins, since there are too many counts")
    return (mean / collection.minor_units, largest / collection.minor_units,
            wrong if enumerated else market.error_probability(), evidence)


def _coins(collection: BitCollection, n: int) -> tuple[int, int]:
    """The payments of a matching 1 and of a matching 0 among n participants, by the mechanism's own rule, in coins."""
    boards = [collection.pay_counts(np.array([k]), np.array([n - k])) for k in (0, n)]
    return int(boards[1].for_one[0]), int(boards[0].for_zero[0])


def _totals(collection: BitCollection, n: int, one: int, zero: int) -> NDArray[np.int64]:
    """The total payment of n reports in coins, for each number of ones in 0..n."""
    ones = np.arange(n + 1)
    # Where payments change sides the rule itself says what is paid; elsewhere it is the same for all counts.
    total = np.where(2 * ones > n, one * ones, zero * (n - ones))
    near = ones[max(0, n // 2 - 2) : n // 2 + 4]
    board = collection.pay_counts(near, n - near)
    total[near] = board.for_one * near + board.for_zero * (n - near)
    return total


def _in_coins(collection: BitCollection) -> tuple[NDArray[np.float64], float]:
    """The interim matrix of payments rounded to whole coins, and 0 as its rounding error.

    With more than 300 people or several groups, an enumeration of all counts would take too long. For more than 300
    people or several groups, the result is the matrix of unrounded payments, and one coin as its rounding error.
    """
    market: PairMarket = collection.market
    logs, n = market.prior.log_counts, market.people
    if logs is None or n > _LARGEST_COUNTS or collection.groups > 1:
        return market.interim_matrix(), collection.coin
    keep = float(market.strategy.channel[1, 1])
    ones, law, found = np.arange(n), np.exp(logs), np.zeros((3, 2))
    paid = np.ceil(market.peer_payments(ones, n - 1 - ones) * collection.minor_units) / collection.minor_units
    for bit in (0, 1):
        for k in range(n):  # ones among the other bits: P(S = bit, k) by exchangeability
            mass = law[k + bit] * ((k + 1) if bit else (n - k)) / n
            if mass > 0:
                reports = np.convolve(binom.pmf(np.arange(k + 1), k, keep),
                                      binom.pmf(np.arange(n - k), n - 1 - k, 1.0 - keep))
                found[:, bit] += mass * (paid @ reports)
    return found, 0.0


def _pair_money(collection: BitCollection) -> tuple[float, float]:
    """The expected total payment without rounding when everybody takes part, and the largest single payment in whole
    coins.
    """
    market: PairMarket = collection.market
    keep = market.strategy.channel[:2]
    reports = keep @ market.prior.pairs @ keep.T  # P(X = x, Y = y)
    n = market.people
    extremes = [(n, 0), (0, n), (n - 1, 1), (1, n - 1), (1, 1), (2, 0), (0, 2)]
    board = collection.pay_counts(*(np.array(each) for each in zip(*extremes, strict=True)))
    largest = max(int(board.for_one.max()), int(board.for_zero.max()))
    return float(n * (reports * market.table).sum()), largest / collection.minor_units


def _other_types(seed: int) -> list[float]:
    """Random values of a nat of privacy, as shares of the threshold, in addition to the fixed values that every audit
    tries.
    """
    draw = study_generator(seed, "types")
    even = (np.arange(_OTHER_TYPES) + draw.random((2, _OTHER_TYPES))) / _OTHER_TYPES
    return [*even[0].tolist(), *(_TYPES[0] ** (1.0 - even[1])).tolist()]


def _enumerated(market: ThresholdMarket) -> tuple[float, float]:
    """The expected total payment and the probability that the majority is wrong, summed over all counts of reports."""
    n, mean, wrong = market.people, 0.0, 0.0
    present = binom.pmf(np.arange(n + 1), n, market.presence)
    for k in range(n + 1):
        ones = np.arange(k + 1)
        laws = [prior * binom.pmf(ones, k, float(p)) for prior, p in (
            (market.signal_model.prior_zero, market.reporting.miss),
            (market.signal_model.prior_one, market.reporting.agree))]
        wrong += present[k] * float(laws[1][2 * ones < k].sum() + laws[0][2 * ones >= k].sum())
        if k >= 2:
            for_one = market.peer_payments(np.maximum(ones - 1, 0), k - 1 - np.maximum(ones - 1, 0))[1]
            for_zero = market.peer_payments(np.minimum(ones, k - 1), k - 1 - np.minimum(ones, k - 1))[0]
            total = np.where(ones > 0, ones * for_one, 0.0) + np.where(ones < k, (k - ones) * for_zero, 0.0)
            mean += present[k] * float((laws[0] + laws[1]) @ total)
    return mean, wrong

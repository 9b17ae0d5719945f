"""Audit of a campaign that buys the mean of people's records. The audit tests the participants' devices, the published
sum, extreme contracts, false reports and payments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.acquisition.incentives import audit_ic
from confide.acquisition.mechanism import Contracts, MeanBillboard, TwoPartMechanism
from confide.acquisition.payments import Offer, OfferRule
from confide.acquisition.priors import prior_draws
from confide.acquisition.records import ContractedRecords
from confide.acquisition.release.enumerated_sum import EXAMPLE_LEVELS, EXAMPLE_WEIGHTS, real_weights, sum_divergence
from confide.acquisition.release.lattice import LatticeContract, LatticeContracts, LatticeRelease, aggregate, perturb
from confide.acquisition.release.losses import gaussian_losses
from confide.audit import (
    Audited,
    AuditRow,
    Concern,
    DeviceNoise,
    Examined,
    Laws,
    Loss,
    Neighbours,
    Transcripts,
    observed,
    published,
    received,
    strongest,
)
from confide.audit.devices import CHECKED, DECODED, JOINTLY, checked_row, decoded_row
from confide.audit.history_loss import spent
from confide.contract.errors import ConfideError, Refused
from confide.contract.guarantees import Accuracy, Audience, Budget, Participation, Privacy, Relation, Truthfulness
from confide.privacy.events import Event, ZCDPEvent
from confide.privacy.losses import RenyiDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator

__all__ = ["FALSE_ALARM", "extreme_reports", "mean", "messages"]

FALSE_ALARM = 1e-9
"""Probability with which the row of an audit that tests random draws reports a violation although the guarantee holds.
"""

_DRAWS = 400  # enough to see a scale that is wrong by a factor two at that false alarm
_BEYOND = (2.0**-10, 2.0**-4, 0.5, 4.0, 16.0, 256.0)  # in ranges: how far a record is outside, on each side
_TWIN = 4  # people of a small copy of a release
_STEPS = 2**6  # steps of its lattice
_NOISE_STDS = 8, 96  # of its noises
_JUDGED = 1000  # people whose levels are recomputed in fractions: those nearest to their promise
_RECORDS = 1000  # people whose clients are run; the others' records are at the low end
_PROFILES = 8  # of reports drawn from the belief
_LIARS = 6
_LIES = 33
_SEARCHED = 400  # people up to whom lies are searched for in the campaign itself; else among so many or more
_SHOWN = 300  # shares that are decoded again, of one run
_CROWD = 6  # devices that send a record in most of the runs on neighbours

_MESSAGE = "privacy: one message, towards the platform"
_LEVEL = "privacy: delivered level over contracted level, towards the"

_Run = Callable[[Any, Noise], Any]
_Sum = Callable[[LatticeContracts, np.ndarray, np.ndarray, Noise], LatticeRelease]
_Rows = Callable[[], list[AuditRow]]


def mean(it: TwoPartMechanism, seed: int = 0) -> Audited:
    """Build the audit of a campaign that buys a mean: the guarantees, the privacy events and the checks of the
    campaign.

    Args:
        it: mechanism of the campaign.
        seed: seed of the simulated reports, records and transcripts.

    Raises:
        Refused: nothing is bought at any profile of reports that was tried.
    """
    drawn = [reports for reports, _ in prior_draws(it.prior, it.people, _PROFILES, seed)]
    all_made = [it.contracts(each) for each in drawn]
    made = next((each for each in all_made if each.lattice is not None), None)
    if made is None or made.lattice is None:
        raise Refused(f"the mechanism buys nothing in any of {_PROFILES} sets of reports from the belief",
                      "raise mse_price or largest_local_loss, since there is nothing to audit")
    local = [each for each in it.guarantees().privacy
             if each.audience is Audience.COLLECTOR and each.neighbours is Relation.REPLACE]
    return Audited(promises=it.guarantees(), events=it.events, paid=partial(_paid, it), measured=[
        *messages(made.lattice, seed, it=it, run=partial(_campaign, it, made)),
        Examined(named="contracts", rows=_computed, sound=lambda: _caps(
            it, [*all_made, *(it.contracts(each) for each in extreme_reports(it, seed))])),
        _incentives(it, seed),
        Examined(named=DECODED, sound=it.run, rows=partial(_decoded, it, made, seed),
                 faults={"one coin more than the amount in the contract": partial(_generous, it)}),
        Examined(named=CHECKED, sound=it.run, rows=partial(_checked, it, made, seed),
                 faults={"more steps than the lattice has": partial(_miscounted, it)}),
        Transcripts(named=JOINTLY, run=partial(_played, it, made), pairs=partial(_joint_pairs, it, made, seed),
                    seed=seed, promises=local, note=f"in one pair all {len(made.terms.index):,} people report")])


def messages(
    contracts: LatticeContracts, seed: int, *, it: TwoPartMechanism | None = None, run: _Sum = aggregate,
    source: Noise | None = None,
) -> list[Transcripts | Examined | Laws]:
    """Build the audits of the messages that clients send under their contracts, and of the published sum of the
    messages.

    Args:
        contracts: contracts of all participants. The audited client (a participant's device) uses the contract with the
            largest privacy loss.
        seed: seed of the transcripts, of the records, and of the choice of absent participants.
        it: mechanism whose `submit` is the audited client. If `it` is None, the client is `perturb`, and only the
            privacy levels in the contracts are audited.
        run: function of the platform that adds the messages up: the run of a campaign, or `aggregate`.
        source: noise source whose draws are tested; None stands for `Noise.secure()`.
    """
    contract = _hardest(contracts)

    def sends(record: Any, noise: Noise) -> Any:
        return perturb(record, contract, noise).message if it is None else it.submit(record, contract, noise)

    client = partial(_answered, sends)
    local = [each for each in (() if it is None else it.guarantees().privacy)
             if each.audience is Audience.COLLECTOR and each.neighbours is Relation.REPLACE]
    steps, noise_std = _twin(contracts)
    promised = contracts.order / 2.0 * float(steps[0]) ** 2 / float(np.square(noise_std).sum())
    claimed = float(gaussian_losses(EXAMPLE_WEIGHTS, EXAMPLE_LEVELS, 2.0).central[0])
    real = real_weights()
    sound = contracts.noise_std

    def of_sum(variances: NDArray[np.float64]) -> list[AuditRow]:
        return [_sum_row(promised, sum_divergence(int(steps[0]), variances, contracts.order), len(steps))]

    def at_most_one(named: str, measure: Callable[[Any], float], evidence: str) -> Callable[[Any], list[AuditRow]]:
        return lambda it: [AuditRow.at_most(named, 1.0, measure(it), evidence, unit="times the contracted level",
                                            concern=Concern.PRIVACY)]

    exact = f"recomputed from the integers in fractions, {min(contracts.active, _JUDGED)} people"
    several = contracts.active > 1
    alone = float((_alone(contracts) / contracts.epsilon_central).max())
    return [
        Transcripts(named=_MESSAGE, run=client, pairs=lambda: _largest_moves(contract), seed=seed, promises=local,
                    claims={"": RenyiDP(contract.order, contract.epsilon_local)},
                    names={"": f"{_MESSAGE}, by its contract (Renyi)"}, faults={
                        words: partial(_answered, run) for words, run in _clients(contract).items()}),
        Laws(draws=lambda: observed(client, contract.low, seed)[:1], samples=_DRAWS, false_alarm=FALSE_ALARM, seed=seed,
             source=source),
        Examined(named="privacy of the sum", rows=of_sum, sound=np.square(noise_std), faults={
            "half of one person's noise, and no noise of others": np.square(noise_std[:1]) / 2}),
        Examined(named="privacy of the sum", rows=lambda run: [] if run is None else [_sum_row(claimed, run, 3)],
                 faults={f"lattice noise under real weights: {real.distinct} of {real.sums} sums disclose all their "
                         "summands": real.divergence}),
        Examined(named="levels, local", sound=sound, faults={"noise of half the scale": sound // 2},
                 rows=at_most_one(f"{_LEVEL} platform", lambda noise: _worst(contracts, noise)[0], exact)),
        Examined(named="levels, central", sound=sound, faults={"noise of half the scale": sound // 2},
                 rows=at_most_one(f"{_LEVEL} public", lambda noise: _worst(contracts, noise)[1], exact)),
        Examined(named="levels", sound=run,
                 faults={"no noise for absent people": _silent} if several else {},
                 rows=at_most_one("privacy: the sum towards the public, after a person has disappeared",
                                  lambda run: _with_absentees(contracts, seed, run),
                                  "the variance that the platform requested during its own run")),
        Examined(named="fellows", rows=lambda reported: [] if reported is None else at_most_one(
            f"{_LEVEL} fellows", float, exact)(reported), faults={
                "a fellow participant's own noise, counted as protection from this "
                "participant": alone} if several else {}),
        Examined(named="accuracy", sound=run, faults={"a sum without the largest message": _forgetful},
                 rows=lambda run: [AuditRow.at_most(
                     "accuracy: estimate without noise against the weighted mean (widths)", contracts.rounding_bias(),
                     _noiseless(contracts, seed, run), "the run of all devices and of the platform, without noise",
                     unit="widths", concern=Concern.ACCURACY)])]


def _computed(rows: _Rows) -> list[AuditRow]:
    return rows()


def _paid(it: TwoPartMechanism, promise: Privacy, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Privacy events that a promise is compared with. For a promise towards the platform or fellow participants, the
    result holds the events that the ledger is charged for. For a promise towards the public, the event has the largest
    central loss over all reports.
    """
    if promise.audience is not Audience.PUBLIC:
        return events
    return (ZCDPEvent(rho=it.concentrated(it.caps.central), neighbours=Relation.REPLACE,
                      label="one record in the sum"),)


# ---- clients


def _hardest(contracts: LatticeContracts) -> LatticeContract:
    """Contract of the participant with the largest local loss, among the participants whose noise is hardly larger than
    their level requires.
    """
    levels = contracts.delivered_local
    tight = levels > 0.9 * contracts.epsilon_local
    return contracts.of(int(contracts.index[np.argmax(np.where(tight, levels, 0.0))]))


def _answered(run: _Run, record: Any, noise: Noise) -> Any:
    """Answer of a client, or the name of the error that it raises. A client that refuses one record and accepts another
    reveals something about the record.
    """
    try:
        return run(record, noise)
    except (ConfideError, ArithmeticError, ValueError) as problem:
        return type(problem).__name__


def _largest_moves(contract: LatticeContract) -> list[Neighbours]:
    """Neighbouring records at both ends of the range, next to an end, and outside the range by a little or by any
    amount.
    """
    low, high = contract.low, contract.high
    width = high - low
    records = [(low, high), (high, low), ((low + high) / 2, high), (math.nextafter(low, -math.inf), low),
               (low - 16 * width, high + 16 * width), (-math.inf, high), (low, math.inf)]
    for far in _BEYOND:
        records += [(low - far * width, high), (high + far * width, low)]
    return [Neighbours(one, other, received) for one, other in records]


def _clients(contract: LatticeContract) -> dict[str, _Run]:
    """Clients with injected faults, by a description of the fault."""
    width = contract.high - contract.low

    def unclipped(record: Any, noise: Noise) -> int:
        center = round(contract.steps * (record - contract.low) / width)
        return int(noise.discrete_gaussian(contract.noise_std, 1, stream="record", center=[center])[0])

    def wider(record: Any, noise: Noise) -> int:
        return unclipped(min(max(record, contract.low), contract.high + width / 16), noise)

    def far(record: Any, noise: Noise) -> int:
        near = record < contract.high + 100 * width
        return unclipped(max(min(record, contract.high) if near else record, contract.low), noise)

    def talkative(record: Any, noise: Noise) -> tuple[int | None, bool]:
        sent = perturb(record, contract, noise)
        return sent.message, sent.clamped

    def own_seed(record: Any, _: Noise) -> int | None:
        return perturb(record, contract, Noise.simulated(2026)).message

    return {"noise from a fixed seed, equal in each run": own_seed,
            "records beyond the range count with their full value": unclipped,
            "records beyond the range count with their full value, up to a sixteenth of the range beyond it": wider,
            "records count with their full value if they are a hundred ranges beyond the range": far,
            "the message also shows whether a record was beyond the range": talkative}


# ---- the sum


def _twin(contracts: LatticeContracts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Steps and noise scales of the few people with the largest weights, on a lattice coarse enough to enumerate the
    law of their sum.
    """
    who = np.argsort(-contracts.steps, kind="stable")[:_TWIN]
    steps = contracts.steps[who]
    few = np.maximum(1, (steps / float(steps.sum()) * _STEPS).astype(np.int64))
    return few, np.clip(np.ceil(few * (contracts.noise_std[who] / steps)), *_NOISE_STDS)


def _sum_row(promised: float, measured: float, people: int) -> AuditRow:
    return AuditRow.at_most(
        "privacy: the published sum, towards the public (Renyi)", promised, measured,
        f"the exact law of the sum of {people} people's messages on a lattice of {_STEPS} steps; promised is the "
        "contracts' formula at these integers", unit="nats (Renyi)", concern=Concern.PRIVACY)


def _silent(made: LatticeContracts, index: np.ndarray, messages: np.ndarray, _: Noise) -> LatticeRelease:
    """Faulty platform that divides by the steps of the participants who are present and adds no noise in place of
    absent participants.
    """
    return aggregate(made, index, messages, ForcedNoise([]))


def _forgetful(made: LatticeContracts, index: np.ndarray, messages: np.ndarray, noise: Noise) -> LatticeRelease:
    """Faulty platform that leaves the largest message out of the sum and still divides by all steps."""
    sound = aggregate(made, index, messages, noise)
    return LatticeRelease(sound.total - int(messages.max()), sound.steps, made.low, made.high)


def _alone(contracts: LatticeContracts) -> NDArray[np.float64]:
    """Loss of each participant if their own noise were the only noise in the published sum, shape (k,), in the
    contracts' order. The loss of a participant has this value if all other participants leave their noise out of the
    sum.
    """
    ratios = contracts.steps.astype(np.float64) / contracts.noise_std.astype(np.float64)
    return np.asarray(contracts.order / 2.0 * np.square(ratios))


def _worst(contracts: LatticeContracts, noise_std: np.ndarray) -> tuple[float, float]:
    """Largest ratios of the delivered privacy level to the promised level at the given noise scales: one local, one
    central.
    """
    half, total = Fraction(contracts.order) / 2, sum(s * s for s in noise_std.tolist())
    rest = (2 * Fraction(contracts.order) - 1) / (Fraction(contracts.order) - 1) * contracts.merging
    local = central = Fraction(0)
    for k in _nearest(contracts.delivered_local / contracts.epsilon_local):
        level = half * Fraction(int(contracts.steps[k]), int(noise_std[k])) ** 2
        local = max(local, level / Fraction(float(contracts.epsilon_local[k])))
    for k in _nearest(contracts.delivered_central / contracts.epsilon_central):
        level = half * Fraction(int(contracts.steps[k]) ** 2, total) + rest
        central = max(central, level / Fraction(float(contracts.epsilon_central[k])))
    return float(local), float(central)


def _nearest(ratios: np.ndarray) -> list[int]:
    return [int(k) for k in np.argsort(-ratios)[:_JUDGED]]


def _with_absentees(contracts: LatticeContracts, seed: int, run: _Sum) -> float:
    """Largest ratio of the delivered central level to the promised central level among the participants who are
    present. Every third participant is absent, and so is the participant with the largest noise.
    """
    here = np.arange(contracts.active) % 3 != 2
    here[np.argmax(contracts.noise_std)] = contracts.active == 1
    noise = RecordingNoise(Noise.simulated(seed))
    run(contracts, contracts.index[here], np.zeros(np.count_nonzero(here), dtype=np.int64), noise)
    drawn = sum(float(draw.scale) ** 2 for draw in noise.draws)
    variance = sum(s * s for s in contracts.noise_std[here].tolist()) + drawn
    levels = contracts.order / 2.0 * (contracts.steps[here] / math.sqrt(variance)) ** 2
    return float((levels / contracts.epsilon_central[here]).max())


def _noiseless(contracts: LatticeContracts, seed: int, run: _Sum) -> float:
    """Distance between the estimate without any noise and the weighted mean of the records, as a share of the width of
    the range.
    """
    low, width = contracts.low, contracts.high - contracts.low
    records = low + width * study_generator(seed, "records").random(min(contracts.active, _RECORDS))
    sent = np.zeros(contracts.active, dtype=np.int64)
    for k, record in enumerate(records.tolist()):
        sent[k] = perturb(record, contracts.of(int(contracts.index[k])), ForcedNoise([])).message or 0
    release = run(contracts, contracts.index, sent, ForcedNoise([]))
    share = sum((Fraction(record) - Fraction(low)) * a
                for record, a in zip(records.tolist(), contracts.steps.tolist(), strict=False))
    exact = share / (Fraction(contracts.high) - Fraction(low)) / contracts.total_steps
    return abs(float(Fraction(release.total, release.steps) - exact))


def _campaign(
    it: TwoPartMechanism, made: Contracts, _: LatticeContracts, index: NDArray[np.int64], sent: NDArray[np.int64],
    noise: Noise,
) -> LatticeRelease:
    """The platform's part of the protocol, as a campaign runs it."""
    board = it.run(made.records(dict(zip(index.tolist(), sent.tolist(), strict=True))), noise).billboard
    if not isinstance(board, MeanBillboard):
        raise TypeError(type(board).__name__)
    return LatticeRelease(board.total, board.steps, it.low, it.high)


# ---- contracts


def extreme_reports(it: TwoPartMechanism, seed: int) -> Iterator[NDArray[np.float64]]:
    """Profiles of reports in which one person has as much weight as possible, or only few people take part.

    Args:
        it: mechanism of the campaign.
        seed: seed of the choice of people with extreme reports.
    """
    low = np.array([rule.support[0] for rule in it.rules])
    high = np.array([rule.support[1] for rule in it.rules])
    random = study_generator(seed, "extreme reports")
    low, high = np.broadcast_to(low, it.people), np.broadcast_to(high, it.people)
    one = np.arange(it.people) == random.integers(it.people)
    for reports in (np.where(one, low, high), np.where(one, high, low), low, high, np.where(one, low, math.nan)):
        yield reports.copy()
    few = np.full(it.people, math.nan)
    who = random.permutation(it.people)[: max(2, it.people // 100)]
    few[who] = np.where(np.arange(len(who)) == 0, low[who], high[who])
    yield few


def _caps(it: TwoPartMechanism, all_made: list[Contracts]) -> list[AuditRow]:
    promised = it.guarantees()
    accuracy, budget = promised.of(Accuracy)[0], promised.of(Budget)[0]
    unit, evidence = 1.0 / it.minor_units, (f"contracts of {len(all_made)} profiles of reports, from the belief and "
                                            "with one person of the largest possible weight")
    renyi = f"{evidence}; for Gaussian noise, the loss of order {it.order:g} is {it.order:g} times rho"
    bought = [each.lattice for each in all_made if each.lattice is not None]
    worst = {
        "local": max(float(each.epsilon_local.max()) for each in bought),
        "central": max(float(each.epsilon_central.max()) for each in bought),
        "error": max(each.mse(it.scaled_variance) for each in bought) * it.width**2,
        "least": min(int(each.payments.min(initial=0)) for each in all_made) * unit,
        "paid": max(int(each.payments.max(initial=0)) for each in all_made) * unit,
        "total": float(np.mean([each.payments.sum() for each in all_made[:_PROFILES]])) * unit,
    }
    return [
        *_losses(it, promised.privacy, Audience.COLLECTOR, "the largest contracted loss, towards the platform",
                 worst["local"], renyi),
        *_losses(it, promised.privacy, Audience.PUBLIC, "the largest contracted loss, towards the public",
                 worst["central"], renyi),
        *_losses(it, promised.privacy, Audience.FELLOWS, "the largest loss towards all fellow participants together",
                 max(float(_alone(each).max()) for each in bought),
                 f"{renyi}; if the others leave out their noise, the sum has only the person's own noise"),
        AuditRow.at_most(f"accuracy: {accuracy.measure}", accuracy.bound, worst["error"], evidence,
                         vacuous=accuracy.vacuous, scale=accuracy.bound,
                         note="no better than a guess of the middle of the range" if accuracy.vacuous else "",
                         unit="(answers, squared)", concern=Concern.ACCURACY).holding(accuracy),
        AuditRow.at_most("money: a single payment", budget.highest, worst["paid"], evidence,
                         scale=budget.highest, unit=it.currency, concern=Concern.BUDGET).holding(budget),
        AuditRow.at_least("money: a single payment, at least", budget.lowest, worst["least"], evidence,
                          unit=it.currency, concern=Concern.BUDGET).holding(budget),
        AuditRow.at_most("money: expected total", budget.expected, worst["total"],
                         f"the mean over {_PROFILES} profiles from the belief", scale=budget.expected,
                         unit=it.currency, concern=Concern.BUDGET).holding(budget),
    ]


def _losses(
    it: TwoPartMechanism, promises: Iterable[Privacy], who: Audience, what: str, loss: float, evidence: str
) -> list[AuditRow]:
    """Rows that compare the promises of privacy towards one audience with the largest loss of any contract."""
    paid = [ZCDPEvent(rho=it.concentrated(loss), neighbours=Relation.REPLACE)]
    held = strongest(each for each in promises if each.audience is who and each.neighbours is Relation.REPLACE)
    return [AuditRow.of_privacy(promise, spent(paid, promise.loss) if isinstance(promise.loss, Loss) else math.inf,
                                evidence, named=f"privacy: {what}").holding(*follow) for promise, follow in held]


# ---- lies


def _incentives(it: TwoPartMechanism, seed: int) -> Examined:
    """Check of the gain from lies: with the mechanism's own payments, rounded up to whole coins, and with two faulty
    payment rules.
    """
    small, reports, who, where = _profile(it, seed)
    visible = small.price_per_nat * 1e-6 * small.caps.local

    def costs_alone(reports: NDArray[np.float64], person: int) -> Offer:
        found = small.payment_rule.pay(reports, people=[person]).offer(person)
        c = float(reports[person])
        return found._replace(payment=c * found.epsilon_local + (1.0 - c) * found.epsilon_central)

    def from_below(reports: NDArray[np.float64], person: int) -> Offer:
        found = small.payment_rule.pay(reports, people=[person]).offer(person)
        lowest = reports.copy()
        lowest[person] = small.rules[person if len(small.rules) > 1 else 0].support[0]
        best = small.payment_rule.pay(lowest, people=[person]).offer(person).utility(lowest[person])
        return found._replace(payment=found.payment - best)

    def seen(rule: OfferRule, of_truth: float, of_part: float) -> list[AuditRow]:
        gain, least = _search(small, rule, reports, who)
        return [AuditRow.at_most("truth", of_truth, gain, "a search", concern=Concern.INCENTIVES),
                AuditRow.at_least("participation", of_part, least, "a search", concern=Concern.PARTICIPATION)]

    return Examined(named="truth and participation", rows=_computed, sound=partial(
        _lies, it, small, reports, who, where), faults={
            "payments cover the cost of the reports, without a rent": lambda: seen(costs_alone, visible, -math.inf),
            "the person of the lowest type is indifferent": lambda: seen(from_below, math.inf, -visible)})


def _in_coins(it: TwoPartMechanism) -> OfferRule:
    """Rule for the offer to a person, with the payment rounded up to whole coins, and expressed in units of
    `price_per_nat`.
    """
    coins = it.price_per_nat * it.minor_units

    def offer(reports: NDArray[np.float64], person: int) -> Offer:
        found = it.payment_rule.pay(reports, people=[person]).offer(person)
        return found._replace(payment=math.ceil(found.payment * coins) / coins)

    return offer


def _profile(it: TwoPartMechanism, seed: int) -> tuple[TwoPartMechanism, NDArray[np.float64], list[int], str]:
    """The mechanism in which lies are searched for, everybody's reports, the positions of the people who try lies, and
    a description of that mechanism for the row.
    """
    small, where = it, "the campaign itself"
    # Capped weights need enough people to buy anything.
    enough = _SEARCHED if it.weight_cap is None else max(_SEARCHED, math.ceil(4.0 / it.weight_cap))
    if it.people > enough and not isinstance(it.prior, tuple):
        small, where = it.of_people(enough), f"the same campaign among {enough:,} people"
    reports, _ = next(prior_draws(small.prior, small.people, 1, seed, stream="lies"))
    psi = small.payment_rule.virtual_costs(reports)
    order = np.argsort(psi, kind="stable")
    winners = max(1, int(np.count_nonzero(small.payment_rule.solve(psi).weights)))
    places = {0, winners // 2, winners - 1, min(winners, small.people - 1), small.people - 1, small.people // 2}
    return small, reports, [int(order[k]) for k in sorted(places)][:_LIARS], where


def _search(
    small: TwoPartMechanism, rule: OfferRule, reports: NDArray[np.float64], who: Sequence[int]
) -> tuple[float, float]:
    """Largest gain of a lie and smallest utility of the truth over all people tried, in the currency."""
    gains, truths = [], []
    for person in who:
        own = small.rules[person if len(small.rules) > 1 else 0]
        grid = np.linspace(*own.support, _LIES)
        near = reports[person] + np.array([-1e-3, -1e-6, 1e-6, 1e-3])
        lies = np.concatenate([grid, near, reports[(person + 1) % len(reports)] + np.array([-1e-9, 1e-9])])
        found = audit_ic(rule, reports, person, lies[own.admits(lies)])
        gains.append(found.regret)
        truths.append(found.truth)
    return max(gains) * small.price_per_nat, min(truths) * small.price_per_nat


def _lies(
    it: TwoPartMechanism, small: TwoPartMechanism, reports: NDArray[np.float64], who: Sequence[int], where: str
) -> list[AuditRow]:
    promised = it.guarantees()
    truth, part = promised.of(Truthfulness)[0], promised.of(Participation)[0]
    gain, least = _search(small, _in_coins(small), reports, who)
    scale, fewer = small.largest_payment, "" if small is it else f"{small.people:,} people"
    return [
        AuditRow.at_most("truth: gain of the best lie", truth.gain, gain,
                         f"{len(who)} people, about {_LIES + 6} lies each, in {where}, paid in whole coins",
                         vacuous=truth.vacuous, note="nothing is promised" if truth.vacuous else "", scale=scale,
                         unit=it.currency, concern=Concern.INCENTIVES).smaller(fewer).holding(truth),
        AuditRow.at_least("participation: utility of the truth", part.utility, least + 1e-12 * scale,
                          f"the same people in {where}", unit=it.currency,
                          concern=Concern.PARTICIPATION).smaller(fewer).holding(part),
    ]


# ---- runs on what devices send


@dataclass(frozen=True)
class _Held:
    """Records of the people whose devices are simulated, and messages already sent by all other people.

    Args:
        records: mapping from a participant's rank to the participant's record.
        others: mapping from a participant's rank to the message that the participant sent.
    """

    records: dict[int, float]
    others: dict[int, int]


def _all_sent(it: TwoPartMechanism, made: Contracts, seed: int) -> dict[int, int]:
    """Mapping from a participant's rank to the message of that participant, for every participant with a contract."""
    terms, draw = made.terms, study_generator(seed, "messages")
    records = np.full(it.people, np.nan)
    records[terms.index] = it.low + it.width * draw.random(len(terms.index))
    return dict(it.play_on(terms, records, Noise.simulated(seed)))


def _rounds(it: TwoPartMechanism, made: Contracts, seed: int) -> Iterator[ContractedRecords]:
    """Tables of messages in four cases: everybody sends, every second participant sends, one participant sends, or
    nobody sends.
    """
    sent = _all_sent(it, made, seed)
    ranks = list(sent)
    for some in (ranks, ranks[::2], ranks[:1], []):
        yield made.terms.with_messages({rank: sent[rank] for rank in some})


def _decoded(it: TwoPartMechanism, made: Contracts, seed: int, run: _Run) -> list[AuditRow]:
    places = np.unique(np.linspace(0, it.people - 1, _SHOWN).astype(np.int64)).tolist()

    def rounds() -> Iterator[tuple[Any, dict[int, Any]]]:
        for records in _rounds(it, made, seed):
            rows = {rank: row for row, rank in enumerate(records.index.tolist())}
            yield run(records, Noise.simulated(seed)), {
                place: records.one(rows[place]) if place in rows else None
                for place in sorted({*places, *list(rows)[:_SHOWN]})}

    return [decoded_row(rounds(), it.decode, "messages")]


def _checked(it: TwoPartMechanism, made: Contracts, seed: int, run: _Run) -> list[AuditRow]:
    def rounds() -> Iterator[tuple[Any, bool]]:
        for records in _rounds(it, made, seed):
            board = run(records, ForcedNoise([])).billboard  # so that nothing is added in the place of who vanished
            total = sum(records.message[records.sent].tolist())
            yield board, (board.total, board.steps) == (total, int(records.steps[records.sent].sum()))

    return [checked_row(rounds(), it.check, "messages")]


def _played(it: TwoPartMechanism, made: Contracts, data: _Held, noise: Noise) -> Any:
    """Run of a campaign from the records, through each person's device, to everything that others see."""
    lattice: Any = made.lattice
    sent: dict[int, Any] = {rank: it.submit(record, lattice.of(rank), DeviceNoise(noise, rank))
                            for rank, record in data.records.items()}
    return it.run(made.terms.with_messages({**data.others, **sent}), noise)


def _joint_pairs(it: TwoPartMechanism, made: Contracts, seed: int) -> Iterator[Neighbours]:
    """Neighbouring data sets that differ in one record. Only a few devices send messages, except in the last pair,
    where everybody with a contract sends one.
    """
    ranks, middle = made.terms.index[:_CROWD].tolist(), (it.low + it.high) / 2
    for rank in sorted({ranks[0], ranks[len(ranks) // 2], ranks[-1]}):
        for both in ((it.low, it.high), (it.high, it.low)):
            one, other = (_Held({**dict.fromkeys(ranks, middle), rank: mine}, {}) for mine in both)
            yield Neighbours(one, other, partial(published, index=rank))
    everybody = _all_sent(it, made, seed)
    one, other = (_Held({ranks[0]: mine}, everybody) for mine in (it.low, it.high))
    yield Neighbours(one, other, partial(published, index=ranks[0]))


def _generous(it: TwoPartMechanism, data: Any, noise: Noise) -> Any:
    outcome = it.run(data, noise)
    paid = outcome.shares["payment"].to_numpy().copy()
    paid[data.index] += data.sent
    return replace(outcome, shares=outcome.shares.set_column(0, "payment", pa.array(paid)))


def _miscounted(it: TwoPartMechanism, data: Any, noise: Noise) -> Any:
    outcome = it.run(data, noise)
    board: Any = outcome.billboard
    return replace(outcome, billboard=replace(board, steps=board.steps + it.lattice + 1))

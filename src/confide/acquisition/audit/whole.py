"""The audit of a bought mean: her client, the sum, extreme contracts, lies and money, each with planted bugs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.audit.client import client_controls, client_rows
from confide.acquisition.audit.outcome import outcome_controls, outcome_rows
from confide.acquisition.audit.release import release_controls, release_rows, towards_fellows
from confide.acquisition.audit.sums import sum_controls, sum_rows
from confide.acquisition.beliefs.draws import prior_draws
from confide.acquisition.mechanism import Contracts, MeanBillboard, TwoPartMechanism
from confide.acquisition.paying.incentives import audit_ic
from confide.acquisition.paying.payments import Offer, OfferRule
from confide.acquisition.release.lattice import LatticeContracts, LatticeRelease
from confide.audit import AuditReport, AuditRow, Concern, Control, Loss, promise_rows, strongest
from confide.audit.history_loss import spent
from confide.contract.errors import Refused
from confide.contract.guarantees import Accuracy, Audience, Budget, Participation, Privacy, Relation, Truthfulness
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.events import Event, ZCDPEvent
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator

__all__ = ["audit_mean", "extreme_reports"]

_PROFILES = 8  # of reports drawn from the belief
_LIARS = 6
_LIES = 33
_SEARCHED = 400  # people up to whom lies are searched for in the campaign itself; else among so many or more


def audit_mean(it: TwoPartMechanism, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one campaign, with the planted bugs that the audit must flag.

    Args:
        it: the mechanism.
        seed: of reports, records and histories.
        progress: called as the audit goes on.
    """
    priced, wrongly = promise_rows(it.guarantees(), it.events, _paid(it))
    drawn = [reports for reports, _ in prior_draws(it.prior, it.people, _PROFILES, seed)]
    all_made = [it.contracts(each) for each in drawn]
    made, lattice = next(((each, each.lattice) for each in all_made if each.lattice is not None), (None, None))
    if made is None or lattice is None:
        raise Refused(f"nothing is bought at any of {_PROFILES} profiles of reports from the belief",
                      "there is nothing to audit: raise mse_price, or largest_local_loss")
    rows = [*client_rows(lattice, seed, it=it), *sum_rows(lattice),
            *release_rows(lattice, seed, run=_campaign(it, made))]
    advance(progress, 1, 4)
    rows += _caps(it, [*all_made, *(it.contracts(each) for each in extreme_reports(it, seed))])
    advance(progress, 2, 4)
    rows += _lies(it, seed)
    advance(progress, 3, 4)
    out = [*client_controls(lattice, seed), *sum_controls(lattice), *release_controls(lattice, seed),
           *_liars_paid(it, seed)]
    rows += outcome_rows(it, made, seed)
    out += outcome_controls(it, made, seed)
    advance(progress, 4, 4)
    return AuditReport((*rows, *priced), (*out, *wrongly))


def _paid(it: TwoPartMechanism) -> Callable[[Privacy, tuple[Event, ...]], tuple[Event, ...]]:
    """What pays for a promise: the ledger is charged for a record as the platform and fellows see it; of what the
    public sees, the largest central loss that any reports can lead to.
    """
    def paid(promise: Privacy, events: tuple[Event, ...]) -> tuple[Event, ...]:
        if promise.audience is not Audience.PUBLIC:
            return events
        return (ZCDPEvent(rho=it.concentrated(it.caps.central), neighbours=Relation.REPLACE,
                          label="one record in the sum"),)

    return paid


def _campaign(it: TwoPartMechanism, made: Contracts) -> Callable[..., LatticeRelease]:
    """The platform's side as a campaign runs it."""

    def run(_: LatticeContracts, index: NDArray[np.int64], messages: NDArray[np.int64], noise: Noise) -> LatticeRelease:
        sent = dict(zip(index.tolist(), messages.tolist(), strict=True))
        board = it.run(made.records(sent), noise).billboard
        if not isinstance(board, MeanBillboard):
            raise TypeError(type(board).__name__)
        return LatticeRelease(board.total, board.steps, it.low, it.high)

    return run


# ---- contracts


def extreme_reports(it: TwoPartMechanism, seed: int) -> Iterator[NDArray[np.float64]]:
    """Profiles of reports in which one person carries as much as she can, or few people take part.

    Args:
        it: the mechanism.
        seed: of who they are.
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
    unit, evidence = 1.0 / it.minor_units, (f"contracts of {len(all_made)} profiles of reports: from the belief, and "
                                            "with one person who carries as much as she can")
    renyi = f"{evidence}; Gaussian noise, so that a loss of order {it.order:g} is that many times rho"
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
        *_losses(it, promised.privacy, Audience.FELLOWS, "the largest loss towards fellows, all of them together",
                 max(towards_fellows(each) for each in bought),
                 f"{renyi}; only her own noise is left in the sum where the others leave out theirs"),
        AuditRow.at_most(f"accuracy: {accuracy.measure}", accuracy.bound, worst["error"], evidence,
                         vacuous=accuracy.vacuous, scale=accuracy.bound,
                         note="no better than guessing the middle of the range" if accuracy.vacuous else "",
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
    """What is promised towards somebody, against the largest loss that any contract leads to."""
    paid = [ZCDPEvent(rho=it.concentrated(loss), neighbours=Relation.REPLACE)]
    held = strongest(each for each in promises if each.audience is who and each.neighbours is Relation.REPLACE)
    return [AuditRow.of_privacy(promise, spent(paid, promise.loss) if isinstance(promise.loss, Loss) else math.inf,
                                evidence, named=f"privacy: {what}").holding(*follow) for promise, follow in held]


# ---- lies


def _in_coins(it: TwoPartMechanism) -> OfferRule:
    """A person's offer as it is paid, in nats at weight 1."""
    coins = it.price_per_nat * it.minor_units

    def offer(reports: NDArray[np.float64], person: int) -> Offer:
        found = it.payment_rule.pay(reports, people=[person]).offer(person)
        return found._replace(payment=math.ceil(found.payment * coins) / coins)

    return offer


def _profile(it: TwoPartMechanism, seed: int) -> tuple[TwoPartMechanism, NDArray[np.float64], list[int], str]:
    """The mechanism in which lies are searched for, everybody's reports, who tries, and a word of evidence."""
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
    small: TwoPartMechanism, rule: OfferRule, reports: NDArray[np.float64], who: list[int]
) -> tuple[float, float]:
    """The best lie's gain and the least utility of the truth, in the currency."""
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


def _lies(it: TwoPartMechanism, seed: int) -> list[AuditRow]:
    promised = it.guarantees()
    truth, part = promised.of(Truthfulness)[0], promised.of(Participation)[0]
    small, reports, who, where = _profile(it, seed)
    gain, least = _search(small, _in_coins(small), reports, who)
    scale, fewer = small.largest_payment, "" if small is it else f"{small.people:,} people"
    return [
        AuditRow.at_most("truth: gain of the best lie", truth.gain, gain,
                         f"{len(who)} people, about {_LIES + 6} lies each, in {where}, paid in whole coins",
                         vacuous=truth.vacuous, note="nothing is promised" if truth.vacuous else "", scale=scale,
                         unit=it.currency, concern=Concern.INCENTIVES).smaller(fewer).holding(truth),
        AuditRow.at_least("participation: the truth's utility", part.utility, least + 1e-12 * scale,
                          f"the same people in {where}", unit=it.currency,
                          concern=Concern.PARTICIPATION).smaller(fewer).holding(part),
    ]


def _liars_paid(it: TwoPartMechanism, seed: int) -> list[Control]:
    """Payments that were broken on purpose: lies must gain."""
    small, reports, who, _ = _profile(it, seed)

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

    gain, _ = _search(small, costs_alone, reports, who)
    _, least = _search(small, from_below, reports, who)
    visible = small.price_per_nat * 1e-6 * small.caps.local
    return [Control("truth", "people are paid what their reports cost, without a rent", gain > visible),
            Control("participation", "the lowest type is the one who is just willing", least < -visible)]

"""Charging: what a campaign asks of the ledger, whether the ledger admits it, and the charge itself.

The charge registers the settlement: it is debited once, before the run, and never given back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from confide.campaign.file import CampaignFile, Planned
from confide.campaign.harm import accepted, check_harm, harmful, may_stop
from confide.campaign.own_runs import charged_code
from confide.campaign.states import State
from confide.campaign.store.debits import Charge
from confide.contract.errors import BudgetExceeded, ConfideError, Refused
from confide.contract.guarantees import Audience
from confide.contract.kinds import CampaignPlan, Collection
from confide.contract.outcome import PublicOutcome
from confide.contract.remedies import printed
from confide.privacy.covering import charged_for, check_covered, largest_delta
from confide.privacy.filter import Filter, price
from confide.privacy.ledger import Account
from confide.privacy.losses import ApproxDP, PureDP

if TYPE_CHECKING:
    from confide.campaign.store import Store, Stored

__all__ = ["charge_of", "charged", "check_budget", "commit", "committed", "cost_of", "data_set_charge", "ledger_says"]


def charge_of(file: CampaignFile, plan: CampaignPlan) -> Charge:
    """What a campaign asks of the ledger."""
    return replace(data_set_charge(file, plan), subjects=file.kind.identities(file.config))


def data_set_charge(file: CampaignFile, plan: CampaignPlan | PublicOutcome) -> Charge:
    """The same without its subjects, who may be millions; of a plan, or of what was settled.

    Raises:
        InvalidInput: the mechanism's events cost less than it promises: nothing may be charged for them.
    """
    budget = file.budget
    events = tuple(plan.mechanism.events())
    check_covered(events, plan.guarantees.privacy)  # type: ignore[arg-type] # Spend: an event
    # The rule "zcdp" converts once, at the delta of the budget.
    delta = 0.0 if budget.rule == "zcdp" else largest_delta(plan.guarantees.privacy)
    account = Account(name=budget.data_set, neighbours=events[0].neighbours, audience=Audience.PUBLIC)
    return Charge(account=account, events=events, delta=delta, rule=budget.rule,  # type: ignore[arg-type]
                  audiences=charged_for(plan.guarantees.privacy),
                  budget=_limit(budget.epsilon, budget.delta),
                  subject_budget=_limit(budget.epsilon if budget.subject_epsilon is None else budget.subject_epsilon,
                                        budget.delta if budget.subject_delta is None else budget.subject_delta))


def check_budget(file: CampaignFile, plan: CampaignPlan | PublicOutcome) -> None:
    """Whether the campaign's own budgets admit it.

    Raises:
        BudgetExceeded: they do not, whatever was spent before; where they have no delta at all, it names the key.
    """
    asked = data_set_charge(file, plan)
    cost = price(asked.rule, asked.events, asked.delta)
    for key, budget, whose in (("delta", asked.budget, ""),
                               ("subject_delta", asked.subject_budget, "each subject of ")):
        account, fresh = f"{whose}{asked.account}", Filter(budget, asked.rule)
        if cost.delta and not fresh.limits[1]:
            spent = f"delta {float(cost.delta):.3g}"
            enough = printed(float(cost.delta), digits=3)
            raise BudgetExceeded(account, spent, f"no delta, since budget.{key} is 0",
                                 f"add {key} = {enough} or more to [budget], or spend no delta")
        if not fresh.admits(cost):  # what was spent of it, the ledger knows, and is not asked
            raise BudgetExceeded(account, fresh.asked(cost), fresh.allowed,
                                 "the budget itself is too small for this campaign, which has to ask for less",
                                 whole="[budget] of the campaign file")


def cost_of(file: CampaignFile, plan: CampaignPlan) -> str:
    """What the ledger would charge the data set for a campaign, whoever takes part, in words."""
    asked = data_set_charge(file, plan)
    return str(Filter(asked.budget, asked.rule, price(asked.rule, asked.events, asked.delta)).spent)


def ledger_says(
    file: CampaignFile, plan: CampaignPlan, store: Store | None
) -> tuple[Literal["admits", "refuses", "charged"], str]:
    """Whether the ledger would admit the campaign now, and in words.

    Args:
        file: the campaign.
        plan: its plan, which its own budgets admit.
        store: whose ledger; None where there is none yet, so that nothing was charged.
    """
    if store is None:
        return "admits", "The ledger admits the campaign: nothing was charged so far."
    known = store.find(file)
    charged = known is not None and store.is_charged(known.number)
    if known is not None and known.state is State.CANCELLED:
        if charged:
            return "refuses", "The campaign was cancelled; what its opening was charged stays charged."
        return "refuses", "The ledger has refused the campaign, and nothing renews a budget."
    if charged:
        return "charged", "The ledger has charged the campaign: a run costs nothing more."
    try:
        store.check_charge(charge_of(file, plan))
    except ConfideError as error:
        return "refuses", f"The ledger refuses the campaign: {error}."
    names = store.data_sets()
    if file.budget.data_set not in names:
        known_names = f": known {'is' if len(names) == 1 else 'are'} {', '.join(map(repr, names))}. "
        return "admits", (f"The ledger admits the campaign. {file.budget.data_set!r} is new to it"
                          + (f"{known_names}The same people under another name have another budget." if names else "."))
    return "admits", "The ledger admits the campaign as it stands now."


def commit(campaign: Planned, store: Store, batches: Iterable[Any]) -> None:
    """Keep the contracts that become final, and charge the ledger for what is sent on them; once.

    Args:
        campaign: of a kind with contracts.
        store: where it will be settled.
        batches: the contracts, as the kind's codec packs them.

    Raises:
        BudgetExceeded: the ledger does not admit it; the campaign is over.
    """
    charged(campaign, store, lambda: Collection(data=batches, rejected={}), accept_unusable=True)


def committed(campaign: Planned, store: Store) -> Stored:
    """A campaign whose contracts became final, and were charged for, in this store.

    Args:
        campaign: of a kind with contracts.
        store: where it is settled.

    Raises:
        Refused: they did not, or the campaign is over.
    """
    known = store.find(campaign.file)
    if known is None or known.state in (State.OPEN, State.CLOSED):
        raise Refused("no contracts of this campaign are final in this store",
                      f"do `confide contracts {campaign.file.path} --final`, with the same --store")
    if known.state is State.CANCELLED:
        raise _over(known)
    return known


def charged(
    campaign: Planned, store: Store, collect: Callable[[], Collection], accept_unusable: bool
) -> Stored:
    """Go from wherever the campaign stands to its charge, once: open, collect, charge.

    Args:
        campaign: what is charged.
        store: where.
        collect: gives the records, where none were stored yet.
        accept_unusable: whether it goes on where too many rows of the operator's file cannot be used.

    Raises:
        BudgetExceeded: the ledger does not admit it; the campaign is over.
        InvalidInput: too many rows cannot be used; nothing was charged.
        Refused: the campaign is over.
    """
    asked, codec = charge_of(campaign.file, campaign.plan), campaign.file.kind.codec(campaign.plan)
    code = charged_code(campaign.file, campaign.plan)
    known = store.open(campaign.file, max(1, len(asked.subjects)))
    watched = may_stop(campaign, store, known)
    if watched:
        accepted(campaign.file, store.home)
        watched = not accept_unusable

    def packed() -> Iterator[tuple[np.ndarray, Sequence[bytes]]]:
        found, usable = collect(), 0
        if codec is not None:
            for batch in found.data:
                slots, reports = codec.pack(batch)
                usable += len(slots)
                yield slots, reports
            if watched and harmful(campaign.file, usable, len(found.rejected), store.home):
                raise _Harmful
        # A custodian's table stays where it is; that it can be opened was seen now, before anything is charged.

    while not known.state.charged:
        if known.state not in (State.OPEN, State.CLOSED):
            raise _over(known)
        try:
            if known.state is State.OPEN:
                store.check_charge(asked, known.number)
                if watched and codec is None:
                    check_harm(campaign, store.home)
                store.collect(known.number, packed())
            else:
                store.charge(known.number, asked)
                if code:
                    store.home.charge(campaign.file.digest, code)
        except BudgetExceeded:  # for ever, as no budget is renewed: what was collected serves nothing more
            store.cancel(known.number)
            raise
        except _Harmful:  # nothing was stored; what is wrong with the file is told by another look
            check_harm(campaign, store.home)
        known = store.get(known.number)
    return known


class _Harmful(Exception):
    """Too many rows of the operator's file cannot be used."""


def _over(known: Stored) -> Refused:
    return Refused(f"the campaign is {known.state.value}",
                   "the ledger did not admit it, and nothing renews a budget: plan another one")


def _limit(epsilon: float, delta: float) -> PureDP | ApproxDP:
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)

"""The charge that a campaign requests from the ledger. The module checks whether the budgets in the campaign file and
the ledger admit the charge.

The charge itself is a step of the settlement (`confide.campaign.settlement`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from confide.campaign.file import CampaignFile
from confide.campaign.store.states import State
from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput
from confide.contract.guarantees import Audience
from confide.contract.kinds import CampaignPlan
from confide.contract.outcome import PublicOutcome
from confide.contract.remedies import printed
from confide.privacy.filter import Filter, price
from confide.privacy.ledger import Account, Charge
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.required_charge import charged_for, check_covered, largest_delta

if TYPE_CHECKING:
    from confide.campaign.store import Store

__all__ = ["charge_of", "check_budget", "cost_of", "data_set_charge", "ledger_says"]


def charge_of(file: CampaignFile, plan: CampaignPlan) -> Charge:
    """The charge that a campaign requests from the ledger, with the ids of all invited people."""
    return replace(data_set_charge(file, plan), subjects=file.kind.identities(file.config))


def data_set_charge(file: CampaignFile, plan: CampaignPlan | PublicOutcome) -> Charge:
    """The charge that a planned or settled campaign requests from the ledger, without the list of the invited people,
    which may have millions of entries.

    Raises:
        InvalidInput: the events of the mechanism (its charged releases) cost less than the privacy loss that the
            mechanism promises, so no charge can be right.
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
    """Check that the budgets in the campaign file admit the campaign. The spend of other campaigns is not considered.

    Raises:
        BudgetExceeded: a budget does not admit the campaign; if the budget lacks a delta, the message names the key.
        InvalidInput: the budget's rule cannot add up the campaign's events.
    """
    asked = data_set_charge(file, plan)
    try:
        cost = price(asked.rule, asked.events, asked.delta)
    except InvalidInput as error:
        if error.field != "delta" or asked.delta:
            raise
        above = "" if file.budget.delta else ", and a delta above 0, such as delta = 1e-6"
        raise InvalidInput(
            "budget.rule", "'basic' adds up epsilons. The noise of this campaign has an epsilon only at a delta, and "
            "no promise names one", 'write rule = "zcdp" in [budget]: it converts the sum to an epsilon at the delta '
            f"in that table{above}") from None
    for key, budget, whose in (("delta", asked.budget, ""),
                               ("subject_delta", asked.subject_budget, "each subject of ")):
        account, fresh = f"{whose}{asked.account}", Filter(budget, asked.rule)
        if cost.delta and not fresh.limits[1]:
            spent = f"delta {float(cost.delta):.3g}"
            enough = printed(float(cost.delta), digits=3)
            raise BudgetExceeded(account, spent, f"no delta, since budget.{key} is 0",
                                 f"add {key} = {enough} or more to [budget], or choose a plan without a delta")
        if not fresh.admits(cost):  # what was spent of it, the ledger knows, and is not asked
            raise BudgetExceeded(account, fresh.asked(cost), fresh.allowed,
                                 "the whole budget is too small for this campaign: plan a smaller loss",
                                 whole="[budget] of the campaign file")


def cost_of(file: CampaignFile, plan: CampaignPlan) -> str:
    """The ledger's charge to the data set for a campaign, in words. The charge does not depend on the people who take
    part.
    """
    asked = data_set_charge(file, plan)
    return str(Filter(asked.budget, asked.rule, price(asked.rule, asked.events, asked.delta)).spent)


def ledger_says(
    file: CampaignFile, plan: CampaignPlan, store: Store | None
) -> tuple[Literal["admits", "refuses", "charged"], str]:
    """The present answer of the ledger to a campaign: whether the ledger admits, refuses or has charged the campaign,
    with a text on the reason.

    Args:
        file: the campaign file.
        plan: the plan of the campaign. The budgets in the campaign file must admit the plan.
        store: the store of the ledger; None if there is no store yet, so that nothing was charged.
    """
    if store is None:
        return "admits", "The ledger admits the campaign: the ledger has charged nothing so far."
    known = store.find(file)
    charged = known is not None and store.is_charged(known.number)
    if known is not None and known.state is State.CANCELLED:
        if charged:
            return "refuses", "The campaign was cancelled. The charge of its opening stays."
        return "refuses", "The ledger has refused the campaign, and nothing renews a budget."
    if charged:
        return "charged", "The ledger has charged the campaign: a run costs nothing more."
    try:
        store.check_charge(charge_of(file, plan))
    except ConfideError as error:
        return "refuses", f"The ledger refuses the campaign: {error}."
    names = store.data_sets()
    if file.budget.data_set not in names:
        known_names = f": the ledger knows {', '.join(map(repr, names))}. "
        return "admits", (f"The ledger admits the campaign. {file.budget.data_set!r} is new to the ledger"
                          + (f"{known_names}Under another name, the same people have another "
                             "budget." if names else "."))
    return "admits", "The ledger admits the campaign in its present state."


def _limit(epsilon: float, delta: float) -> PureDP | ApproxDP:
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)

"""The plan of a campaign file. A fault in the code of a user's own kind is reported with its type, place and message,
which disclose nothing, since no record has been read.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from confide.audit.own_modules import own_modules
from confide.campaign.charging import data_set_charge
from confide.campaign.file import BudgetTable, CampaignFile
from confide.campaign.own_runs import charged_code, is_ours
from confide.campaign.store.home import Home
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.kinds import CampaignPlan, Kind, NarrowedKind
from confide.contract.remedies import Remedy, accepted, tried, trying
from confide.contract.replanned import changed, instead, with_keys
from confide.contract.wire import wire_parts
from confide.contract.words import fault
from confide.privacy.filter import price
from confide.privacy.ledger import Charge
from confide.privacy.losses import PROMISES_LITTLE, ZCDP

__all__ = ["affordable", "planned", "with_changes"]

_MAY_BE_NONE = ("radius", "radius_trivial")
"""Figures of a promise that may be NaN, where there is nothing to state."""


def planned(file: CampaignFile, home: Home | None = None) -> CampaignPlan:
    """The plan of a campaign file, as `Campaign.plan` gives it.

    Args:
        file: the campaign file.
        home: the installation that may have charged the campaign already; default `Home.default()`.

    Raises:
        Refused: for the same reasons as in `Campaign.plan`.
        InvalidInput: for the same reasons as in `Campaign.plan`; or the kind's own code fails, or promises a figure
            that is NaN.
    """
    with affordable(file, lambda other: _planned(other, home)):
        return _planned(file, home)


def _planned(file: CampaignFile, home: Home | None) -> CampaignPlan:
    """The plan of a campaign file; its refusals name remedies without regard to `[budget]`."""
    from confide.campaign.charging import check_budget
    from confide.campaign.kinds.mechanism_plan import MechanismPlan
    from confide.campaign.trial import try_out

    kind, home = file.kind, Home.default() if home is None else home
    released, charged = home.released(file.digest) is not None, home.charged(file.digest)
    if isinstance(kind, NarrowedKind) and not (released or charged is not None or home.begun(file.digest)):
        kind.check_new(file.config)
    with _named(kind, "plan"):
        found = kind.plan(file.config)
    with _named(kind, "guarantees"):
        _check_numbers(found)
    with _named(kind, "events"):
        check_budget(file, found)  # a plan that can never run is no plan
    with _named(kind, "payouts"):
        terms = kind.payouts(found)
        if terms is not None:
            terms.check_total(len(kind.identities(file.config)))
    with _named(kind, "columns"):
        if released or (charged is not None and charged == charged_code(file, found)):
            return found  # its code was charged as it is now, or its result is out: a trial comes too late
        remarks = try_out(file, found)
        if remarks and isinstance(found, MechanismPlan):
            return replace(found, remarks=remarks)
    return found


@contextmanager
def _named(kind: Kind, what: str) -> Iterator[None]:
    """Run a block that calls the code of a user's own kind; a fault in it is raised as `InvalidInput`."""
    try:
        yield
    except ConfideError:
        raise
    except Exception as error:
        if is_ours(kind):
            raise
        files = [str(getattr(sys.modules.get(name), "__file__", "")) for name in own_modules(kind)]
        raise InvalidInput("kind", f"`{what}` of {type(kind).__name__} fails: {fault(error, files)}",
                           "correct it; CONFIDE_DEBUG=1 shows the traceback; no record was read, and nothing was "
                           "charged for it") from error


def _check_numbers(plan: CampaignPlan) -> None:
    """Check that no figure of a promise is NaN: a bound that is NaN bounds nothing, and every comparison with it is
    false.
    """
    for promise in plan.guarantees:
        for word, value in wire_parts(promise).items():
            if isinstance(value, float) and math.isnan(value) and word not in _MAY_BE_NONE:
                raise InvalidInput("guarantees", f"{word} of a promise of {promise.name} is not a number (NaN)",
                                   "must be a number, or infinity for no promise")


_FIXED = "if no earlier campaign fixed a smaller budget"
_OTHERWISE = "ask more people, allow a larger error, or ask for fewer answers"


def with_changes(file: CampaignFile, keys: Mapping[str, Any]) -> CampaignFile:
    """A copy of a campaign file with new values of some keys, which may be keys of `[budget]`.

    Args:
        file: the campaign file.
        keys: mapping from a dotted key, such as "people.count", to the new value, or from the name of a whole table,
            such as "method", to the new table.

    Raises:
        InvalidInput: the kind does not accept one of the new values.
    """
    budget = {key.removeprefix("budget."): value for key, value in keys.items() if key.startswith("budget.")}
    own = {key: value for key, value in keys.items() if not key.startswith("budget.")}
    return replace(file, config=changed(file.config, own) if own else file.config,
                   budget=BudgetTable.model_validate(file.budget.model_dump(exclude_unset=True) | budget),
                   document=with_keys(file.document, keys))


@contextmanager
def affordable(file: CampaignFile, plan: Callable[[CampaignFile], Any]) -> Iterator[None]:
    """Context manager that changes the errors raised within its block. Each remedy that an error suggests either fits
    `[budget]`, or names the larger budget that it needs.

    Args:
        file: the campaign file.
        plan: a function that plans a whole campaign, including the check of the budget.
    """
    try:
        yield
    except (InvalidInput, Refused) as error:
        if trying() or not any(way.file for way in error.remedies):
            raise
        raise _followed(file, plan, error) from None


def _followed(file: CampaignFile, plan: Callable[[CampaignFile], Any], error: InvalidInput | Refused) -> ConfideError:
    """The refusal, with the remedies that help within the budget or together with a larger budget."""
    ways, hides_nothing = list[str | Remedy](), dict[str, None]()
    for way in error.ways:
        if isinstance(way, str) or not way.file:
            ways.append(way)
            continue
        charges = list[tuple[Charge, float]]()
        if not accepted(lambda keys=way.file, found=charges: found.append(_charge(file, keys))):  # type: ignore[misc]
            continue
        (charge, epsilon), = charges
        does = accepted(lambda keys=way.file: plan(with_changes(file, keys)))  # type: ignore[misc]
        own = does and not any(key.startswith("privacy.") and key != "privacy.delta" for key in way.file)
        if epsilon > PROMISES_LITTLE and not own:  # if own, the file spends so much already
            hides_nothing |= dict.fromkeys(map(_as_key, way.file))
        elif does:
            ways.append(way)
        else:
            ways += _with_budget(file, plan, way, charge)
    if hides_nothing:
        said = (f". If only {' or '.join(hides_nothing)} changes, the campaign is possible only with a loss above "
                f"epsilon = {PROMISES_LITTLE:g}. Such a loss hides hardly anything")
        error = (InvalidInput(error.field, error.problem + said) if isinstance(error, InvalidInput)
                 else Refused(error.reason + said))
    return instead(error, ways or [_OTHERWISE])


def _as_key(key: str) -> str:
    table, _, name = key.rpartition(".")
    return f"[{table}] {name}" if table else f"[{name}]"


def _charge(file: CampaignFile, keys: Mapping[str, Any]) -> tuple[Charge, float]:
    """The charge of a changed campaign file, and the charge as an epsilon under the rule "basic"."""
    there = with_changes(file, keys)
    found = data_set_charge(there, there.kind.plan(there.config))
    return found, float(price("basic", found.events, found.delta or there.budget.delta).epsilon)


def _with_budget(
    file: CampaignFile, plan: Callable[[CampaignFile], Any], way: Remedy, charge: Charge
) -> tuple[Remedy, ...]:
    """A remedy together with the keys of `[budget]` that it needs; empty where no budget helps."""
    needed = {f"budget_{key}": value for key, value in _needed(file.budget, charge).items()}
    if not needed:
        return ()

    def again(**keys: float) -> Any:
        return plan(with_changes(file, {**way.file, **_budget(keys)}))

    words = " and ".join(f"[budget] {name.removeprefix('budget_')} = {{{name}}}" for name in needed)
    comma = "," if "," in way.words else ""
    return tuple(replace(way, words=f"{way.words}{comma} together with {words}, {_FIXED}",
                         settings={**way.settings, **each.settings}, file={**way.file, **_budget(each.settings)})
                 for each in tried(words, again, **needed))  # type: ignore[arg-type]


def _budget(settings: Mapping[str, float]) -> dict[str, float]:
    return {f"budget.{name.removeprefix('budget_')}": value for name, value in settings.items()}


def _needed(budget: BudgetTable, charge: Charge) -> dict[str, float]:
    """Mapping from each key of `[budget]` that is too small for a charge to the smallest sufficient value, which is
    approximate.
    """
    cost, found = price(charge.rule, charge.events, charge.delta), dict[str, float]()
    for whose in ("", "subject_"):
        epsilon, delta = getattr(budget, f"{whose}epsilon"), getattr(budget, f"{whose}delta")
        own_delta = budget.delta if delta is None else delta
        if charge.rule == "zcdp":
            needed = ZCDP(float(cost.rho)).epsilon_at(own_delta)
            needed = min(needed, float(cost.epsilon)) if cost.pure else needed
        else:
            needed = float(cost.epsilon)
            if delta is not None and delta < float(cost.delta):
                found[f"{whose}delta"] = float(cost.delta)
        if epsilon is not None and epsilon < needed:
            found[f"{whose}epsilon"] = needed
    return found

"""A plan from a campaign file: what a kind of somebody's own gets wrong in it is said with its type, place and words,
as no record has been read.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from confide.audit.own_modules import own_modules
from confide.campaign.file import CampaignFile
from confide.campaign.home import Home
from confide.campaign.own_code import is_ours
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.faults import fault
from confide.contract.kinds import CampaignPlan, Kind, NarrowedKind
from confide.contract.wire import wire_parts

__all__ = ["planned"]

_MAY_BE_NONE = ("radius", "radius_trivial")
"""Numbers of a promise that are no number where there is nothing to say."""


def planned(file: CampaignFile, home: Home | None = None) -> CampaignPlan:
    """What `Campaign.plan` is.

    Args:
        file: the campaign.
        home: the installation that may have charged it already; default `Home.default()`.

    Raises:
        Refused: as `Campaign.plan`.
        InvalidInput: as `Campaign.plan`; or the kind's own code fails, or promises what is no number.
    """
    from confide.campaign.affordable import affordable

    with affordable(file, lambda other: _planned(other, home)):
        return _planned(file, home)


def _planned(file: CampaignFile, home: Home | None) -> CampaignPlan:
    """The same, whatever would do instead of a refused file."""
    from confide.campaign.charging import check_budget
    from confide.campaign.trial import try_out
    from confide.people.mechanism_plan import MechanismPlan

    kind = file.kind
    if isinstance(kind, NarrowedKind) and not _begun(file, Home.default() if home is None else home):
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
        remarks = try_out(file, found, home)
        if remarks and isinstance(found, MechanismPlan):
            return replace(found, remarks=remarks)
    return found


def _begun(file: CampaignFile, home: Home) -> bool:
    """Whether this campaign was charged here already, or released."""
    return home.begun(file.digest) or home.charged(file.digest) is not None or home.released(file.digest) is not None


@contextmanager
def _named(kind: Kind, what: str) -> Iterator[None]:
    """Around what a kind of somebody's own does: a fault of its code as bad input."""
    try:
        yield
    except ConfideError:
        raise
    except Exception as error:
        if is_ours(kind):
            raise
        files = [str(getattr(sys.modules.get(name), "__file__", "")) for name in own_modules(kind)]
        raise InvalidInput("kind", f"`{what}` of {type(kind).__name__} fails: {fault(error, files)}",
                           "mend it, CONFIDE_DEBUG=1 shows the traceback; no record was read, and nothing was charged "
                           "for it") from error


def _check_numbers(plan: CampaignPlan) -> None:
    """Whether each number of a promise is one: a bound that is none bounds nothing, and compares as larger and less."""
    for promise in plan.guarantees:
        for word, value in wire_parts(promise).items():
            if isinstance(value, float) and math.isnan(value) and word not in _MAY_BE_NONE:
                raise InvalidInput("guarantees", f"{word} of a promise of {promise.name} is no number (NaN)",
                                   "must be a number; infinity, where nothing is promised")

"""The meter: whether what a pack shows to have been drawn is within what was charged."""

from __future__ import annotations

from confide.campaign.file import CampaignFile
from confide.campaign.own_runs import is_ours
from confide.campaign.verification.findings import Broken, NotChecked
from confide.campaign.verification.versions import check_part
from confide.contract.metered import WITHIN, MeteredLine, Overspent
from confide.contract.outcome import PublicOutcome
from confide.privacy.meter import Meter

__all__ = ["meter"]


def meter(file: CampaignFile, outcome: PublicOutcome, other: str | None) -> str:
    """Whether the lines are those of the mechanism's charge, and what the billboard shows was drawn keeps them.

    A line whose draws do not stand on the billboard says only that the run kept it: a run that does not publishes
    nothing, but whoever signs a pack can write so. What is public is added up here, whatever the pack says.

    Args:
        file: of the pack.
        outcome: of the pack.
        other: the version that it names, where it is another one.
    """
    mechanism, said = outcome.mechanism, outcome.meter
    fresh = Meter.of(mechanism)
    shown = list(mechanism.drawn(outcome.billboard))
    for number, (line, cost, count) in enumerate(shown):
        try:
            fresh.spend(line, cost, ("drawn", number), count=count)
        except Overspent as error:
            raise Broken(f"spent more than it was charged: {error}") from None
    check_part(outcome.provenance.confide, "a meter", held=said is not None)
    if said is None:
        raise NotChecked(f"no meter recorded: confide {other} had none; what the billboard shows is within the charge")
    own = {(line.line, line.form): line for line in fresh.record().lines}
    told = {(line.line, line.form): line for line in said.lines}
    if any(line.spent != WITHIN for line in said.lines) or len(told) < len(said.lines):
        raise Broken("a line says something else than that it was kept")
    if own.keys() != told.keys():
        if other is None:
            raise Broken(f"the lines are {_named(said.lines)}; this mechanism is charged on {_named(own.values())}")
        raise NotChecked(f"the lines are those of confide {other}; what the billboard shows is within the charge")
    if said.around:
        if is_ours(mechanism, file.kind):
            raise Broken("noise was drawn that no line of the charge paid for")
        raise NotChecked("the mechanism draws noise by a way of its own, which no line of its charge pays for: nothing "
                         "but its author's word says that the charge covers it")
    what = f"{len(own)} {'line' if len(own) == 1 else 'lines'} within the charge: {_named(own.values())}"
    return f"{what}; {len(shown)} draws that the billboard shows add up" if shown else what


def _named(lines: object) -> str:
    names = [line.line for line in lines if isinstance(line, MeteredLine)]  # type: ignore[attr-defined]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")

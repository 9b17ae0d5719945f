"""What a plan of a mean says of second identities and agreements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.acquisition.second_identities import SecondIdentities
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import few, number, percent

if TYPE_CHECKING:
    from confide.campaign.kinds.acquisition.plan import PlannedMean

__all__ = ["identities_section", "identity_warnings"]


def identities_section(plan: PlannedMean, found: SecondIdentities) -> Section:
    """The fewest identities that gain, what each gains, and what they do to the mean.

    Args:
        plan: of the file.
        found: of the search.
    """
    it = plan.mechanism
    rows: list[tuple[str, str]] = [
        ("ids of one person, who earns more than with one", "2"),
        ("  rent of one identity: its payment beyond the cost of its privacy", plan.money(found.rent)),
        ("  a second id with the same report adds to it", percent(found.adds) if found.rent > 0 else "not stated"),
        ("  an id whose record is made up is paid, at no cost of privacy and with the report that is paid most",
         plan.money(found.made_up)),
        ("people who agree, one of whom reports something else, and who are paid a coin more together",
         "none was found" if found.group is None else f"{found.group:,}"),
        *([] if found.group is None else [("  all of them together are paid more by", plan.money(found.group_gain))]),
        ("identities that can move the mean by its standard error",
         "none was found" if found.deciding is None else
         f"{found.deciding:,} ({percent(found.deciding / it.people, 2)} of the invited)"),
        *([] if found.deciding is None else [
            ("  each of them is paid, on average", plan.money(found.deciding_pay)),
            ("  the standard error", plan.measured(plan.here.root_error))]),
    ]
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("what", "figure"), rows=tuple(rows),
              note=f"Exact on {number(found.draws)} profiles of reports, made up from the belief in the campaign file: "
                   "averages of the first asked person, and the first profile for agreements and for what moves the "
                   "mean. Those who move it send the end of the range, and report what weighs most."),
        Text((_second(plan, found),
              "No report gains one person anything. That promise is about one identity: the operator has to see to it "
              "that nobody has two. Records are not checked, and what is paid does not depend on them.",))))


def _second(plan: PlannedMean, found: SecondIdentities) -> str:
    """What two ids leave their owner at most, in sentences."""
    if found.gain <= 0:
        return "With 2 ids of one person they gain nothing on average."
    return (f"With 2 ids of one person they gain {plan.money(found.gain)} more than with one, on average. This is the "
            "most by the routes computed here: the second id has a made-up record, which costs no privacy, and the "
            "report that is paid most. The first id does the same, with one id and with two, or it is honest.")


def identity_warnings(plan: PlannedMean, found: SecondIdentities) -> list[str]:
    """What the operator should know before anybody is asked.

    Args:
        plan: of the file.
        found: of the search.
    """
    said = few(found.deciding, plan.mechanism.people, "identities")
    return [] if said is None else [
        f"{said}, can move the mean by its standard error: whoever has so many ids chooses it within that"]

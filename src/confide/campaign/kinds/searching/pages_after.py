"""What a search shows after its run: the list of those who were found, and why nobody has a share."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from confide.campaign.kinds.searching.plan import BASIS, PlannedSearch
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, stated
from confide.contract.offering import likelier
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.presentation import Section, Table, Text
from confide.privacy.groups import group_blocks, guess_in_words
from confide.search.releases import PublicRelease

__all__ = ["AnyOutcome", "explain", "release_of", "result_sections", "result_tables"]

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome

_SHOWN = 30  # lines on a page; the table has all

_ENDED = {
    "all components": "it had searched as often as the plan allows, and found a component each time",
    "nothing found": "the last search for another component gave up: there may be more members, or none",
    "budget": "the ledger had no room for another search",
}


def release_of(outcome: AnyOutcome) -> PublicRelease:
    """The released list.

    Raises:
        InvalidInput: an outcome of something else.
    """
    if not isinstance(outcome.billboard, PublicRelease):
        raise InvalidInput("outcome", f"{type(outcome.billboard).__name__} is no list of a search")
    return outcome.billboard


def result_tables(outcome: AnyOutcome) -> dict[str, pa.Table]:
    """`found`: everybody who was found, in order; `ending`: one line about how the search ended."""
    board = release_of(outcome)
    return {
        "found": board.to_arrow(),
        "ending": pa.table({"ended": [board.ended], "halted": [board.halted], "components": [board.components],
                            "searches": [board.calls], "epsilon_of_this_list": [float(f"{board.epsilon_spent:.12g}")]}),
    }


def result_sections(plan: PlannedSearch, outcome: AnyOutcome) -> list[Section]:
    """The list, how it ended, and what it may have told."""
    board, it = release_of(outcome), plan.mechanism
    found = result_tables(outcome)["found"]
    shown: tuple[tuple[Any, ...], ...] = tuple(
        (row["place"], str(row["id"]), row["component"], row["how"]) for row in found.slice(0, _SHOWN).to_pylist())
    more = len(board.order) - len(shown)
    table = Table(
        columns=("place", "id", "component", "how"), rows=shown,
        note=(f"The first {len(shown)}; found.csv has {more:,} more. " if more > 0 else "")
        + "\"searched for\": the first of a component that a paid search came upon; \"contact\": found through "
          "contacts within its component.")
    parts = ", ".join(f"{place + 1:,}" for place in board.joined[:_SHOWN].tolist())
    return [
        Section(title="Who was found", blocks=(table, Text((
            _counted(len(board.order), board.components, parts),
            f"How it ended: {_ENDED.get(board.ended, board.ended)}. {board.calls:,} of at most {it.calls:,} paid "
            "searches were made.",
        )))),
        Section(title="What is promised, and to whom", blocks=(Text((
            *stated(plan.guarantees),
            f"Of this very list: its probability changes by at most {likelier(board.epsilon_spent)} when one protected "
            "person's contacts are changed, because so many searches were made. That is no promise beforehand, and "
            "says nothing about any delta.",
            f"To whom: to everybody who sees the list. {BASIS} How long the search took, and whom it examined, is not "
            "covered, and not published.",
        )), *group_blocks(it, plan.guarantees.privacy))),
    ]


def _counted(members: int, components: int, parts: str) -> str:
    """How many were found, and where components begin."""
    people = "1 member" if members == 1 else f"{members:,} members"
    if components == 1:
        return f"{people} in 1 component."
    more = " and further ones" if components > _SHOWN else ""
    return f"{people} in {components:,} components, which begin at the places {parts}{more}."


def explain(plan: PlannedSearch) -> list[Section]:
    """What one person gets: the same words for everybody, found or not."""
    delta = float(getattr(plan.loss, "delta", 0.0))
    but = f" (but for a probability of {delta:g})" if delta else ""
    return [Section(title="Nobody has a share", blocks=(Text((
        "This campaign publishes a list of those who were found to be members of a group. Nobody is paid, has a share "
        "of her own, or is told whether she was examined: this page says the same for every id.",
        "If your id is on the list, it says that you are a member, and nothing hides that. If it is not, the list "
        f"would have come out the same way up to a factor of {likelier(plan.loss.epsilon)}{but} whatever your "
        f"contacts. {guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.PUBLIC)}",
        "What you can do: read the list, and check what is said of it (confide verify PACK --key FINGERPRINT).",
    )),))]

"""The states of a campaign, and the events that lead from one state to another, as one table. The module has no input
and no output. An event that is not possible in the present state is refused, and changes nothing.

::

    DRAFT --plan--> PLANNED --open--> OPEN --submit/withdraw--> OPEN --close--> CLOSED
    CLOSED --charge--> CHARGED --run--> RUN --publish--> SETTLED --audit--> SETTLED
    CHARGED/RUN --resume--> CHARGED        a settlement that died before publication, under the same debit
    DRAFT/PLANNED/OPEN/CLOSED --cancel--> CANCELLED

The event `charge` registers the settlement. In most campaigns, the event `charge` and the debit of the ledger are one
transaction. If participants' devices draw the reports without contracts, the ledger was debited when the campaign was
opened, since each report is a release to its collector (`confide.campaign.handing_in`). The debit of an opening stays
even if the campaign is cancelled.
"""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path

from confide.contract.errors import Refused
from confide.contract.worded import worded

__all__ = ["MOVES", "State", "StateEvent", "advance", "unknown", "unsettled"]


class State(StrEnum):
    """The states of a campaign."""

    DRAFT = "draft"
    PLANNED = "planned"
    OPEN = "open"
    CLOSED = "closed"
    CHARGED = "charged"
    RUN = "run"
    SETTLED = "settled"
    CANCELLED = "cancelled"

    @property
    def charged(self) -> bool:
        """Whether the settlement is registered. If so, the ledger has the campaign's debit. The ledger may also have
        the debit of a campaign that is open, closed or cancelled: see `Store.is_charged`.
        """
        return self in (State.CHARGED, State.RUN, State.SETTLED)


class StateEvent(StrEnum):
    """The events that change the state of a campaign."""

    PLAN = "plan"
    OPEN = "open"
    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    CLOSE = "close"
    CHARGE = "charge"
    RUN = "run"
    RESUME = "resume"
    PUBLISH = "publish"
    AUDIT = "audit"
    CANCEL = "cancel"


MOVES: dict[tuple[State, StateEvent], State] = {
    (State.DRAFT, StateEvent.PLAN): State.PLANNED,
    (State.PLANNED, StateEvent.PLAN): State.PLANNED,
    (State.PLANNED, StateEvent.OPEN): State.OPEN,
    (State.OPEN, StateEvent.SUBMIT): State.OPEN,
    (State.OPEN, StateEvent.WITHDRAW): State.OPEN,
    (State.OPEN, StateEvent.CLOSE): State.CLOSED,
    (State.CLOSED, StateEvent.CHARGE): State.CHARGED,
    (State.CHARGED, StateEvent.RUN): State.RUN,
    (State.CHARGED, StateEvent.RESUME): State.CHARGED,
    (State.RUN, StateEvent.RESUME): State.CHARGED,
    (State.RUN, StateEvent.PUBLISH): State.SETTLED,
    (State.SETTLED, StateEvent.AUDIT): State.SETTLED,
    **{(state, StateEvent.CANCEL): State.CANCELLED for state in (State.DRAFT, State.PLANNED, State.OPEN, State.CLOSED)},
}
"""Mapping from a state and a possible event to the next state. The ledger is debited at `open` or at `charge`, before
the run. No campaign is cancelled after `charge`.
"""


def advance(state: State, event: StateEvent) -> State:
    """The state that follows from a state and an event.

    Raises:
        Refused: the event is not possible in this state. The message names the possible events.

    Example:
        >>> advance(State.CLOSED, StateEvent.CHARGE)
        <State.CHARGED: 'charged'>
    """
    try:
        return MOVES[state, event]
    except KeyError:
        possible = sorted(e.value for s, e in MOVES if s is state)
        remedy = worded("possible now: %(moves)s", moves=", ".join(possible)) if possible else worded(
            "this campaign is over")
        raise Refused(worded("a campaign in the state '%(state)s' cannot %(move)s", state=state.value,
                             move=event.value), remedy) from None


def unsettled(path: Path, where: object, elsewhere: str) -> Refused:
    """The error for a request for the outcome of a campaign that is not settled. The message names the step to take
    first.

    Args:
        path: the path of the campaign file.
        where: the folder or store that was searched.
        elsewhere: another possible cause, and the step to take in that case.
    """
    return Refused(f"{path.stem} is not settled in {where}",
                   f"run `confide run {shlex.quote(str(path))}` first. A file that was changed after the settlement "
                   f"is another campaign. If {elsewhere}")


def unknown(where: object) -> Refused:
    """The error for a request about a campaign that the store does not know."""
    return Refused(f"{where} does not know this campaign",
                   "before the run, remove the participant's row from the data file: the slots stay. If the campaign "
                   "file was changed since the run, use the file that ran")

"""The life of a campaign: a table without surprises."""

from __future__ import annotations

from itertools import product

import pytest

from confide.campaign import State, StateEvent, advance
from confide.campaign.store.states import MOVES
from confide.contract import Refused

PAIRS = list(product(State, StateEvent))


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=[f"{s.value}-{e.value}" for s, e in PAIRS])
def test_every_move_is_in_the_table_or_refused(state: State, event: StateEvent) -> None:
    before = dict(MOVES)
    if (state, event) in MOVES:
        assert advance(state, event) is MOVES[state, event]
    else:
        with pytest.raises(Refused) as caught:
            advance(state, event)
        assert caught.value.reason == f"a campaign in the state '{state.value}' cannot {event.value}"
        possible = {e.value for s, e in MOVES if s is state}
        named = set(caught.value.remedy.removeprefix("possible now: ").split(", ")) if possible else set()
        assert named == possible
        assert possible or caught.value.remedy == "this campaign is over"
    assert before == MOVES


def _reachable(start: State, without: set[StateEvent]) -> set[State]:
    found, todo = {start}, [start]
    while todo:
        here = todo.pop()
        for (state, event), target in MOVES.items():
            if state is here and event not in without and target not in found:
                found.add(target)
                todo.append(target)
    return found


def test_every_state_can_be_reached() -> None:
    assert _reachable(State.DRAFT, set()) == set(State)
    assert {event for _, event in MOVES} == set(StateEvent)


def test_nothing_settles_without_a_charge_a_run_and_a_publication() -> None:
    for needed in (StateEvent.CHARGE, StateEvent.RUN, StateEvent.PUBLISH):
        assert State.SETTLED not in _reachable(State.DRAFT, {needed})
    assert State.RUN not in _reachable(State.DRAFT, {StateEvent.CHARGE})


def test_a_campaign_is_charged_once() -> None:
    (charge,) = [target for (_, event), target in MOVES.items() if event is StateEvent.CHARGE]
    assert StateEvent.CHARGE not in {event for state, event in MOVES if state in _reachable(charge, set())}


def test_after_the_charge_there_is_no_way_back() -> None:
    assert _reachable(State.CHARGED, set()) == {State.CHARGED, State.RUN, State.SETTLED}
    assert _reachable(State.SETTLED, set()) == {State.SETTLED}
    assert _reachable(State.CANCELLED, set()) == {State.CANCELLED}


LOOPS = {
    (State.PLANNED, StateEvent.PLAN), (State.OPEN, StateEvent.SUBMIT), (State.OPEN, StateEvent.WITHDRAW),
    (State.CHARGED, StateEvent.RESUME), (State.RUN, StateEvent.RESUME), (State.SETTLED, StateEvent.AUDIT),
}


def test_no_other_loops() -> None:
    forward = {move: target for move, target in MOVES.items() if move not in LOOPS}
    todo = set(State)
    while todo:  # take away states that lead nowhere; what is left over is a loop
        ends = {s for s in todo if not any(state is s and target in todo for (state, _), target in forward.items())}
        assert ends, f"a loop among {sorted(todo)}"
        todo -= ends
    assert set(MOVES) >= LOOPS

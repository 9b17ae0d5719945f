"""People hand in at a fixed rate, whatever the service does: what is stored afterwards is what they sent.

How long answers take is for the benchmark of which this is a shorter run.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from benchmarks.service_worker import answer_of, hand_in, prepared, wrong

from campaign.service.kills.crowd import stored_reports
from campaign.service.kills.tree import Tree
from confide.campaign import Home, Store

RATE, SECONDS = 100, 10


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost_or_doubled_at_a_steady_load(tmp_path: Path, database_url: str) -> None:
    people, home = RATE * SECONDS, tmp_path / "home"
    with Store(database_url, home=Home(home)) as store:
        number, tokens = prepared(store, people)
        with Tree(home, database_url) as tree:
            assert wrong(store, number, people) == people  # the control: before anybody has handed in
            took = asyncio.run(hand_in(tree.port, tokens, RATE))
            assert tree.end() == 0
        assert len(took) == people  # each was told that hers is stored
        reports = stored_reports(store, number)
        assert wrong(store, number, people) == 0
        assert sorted(reports) == list(range(people))
        assert len({reports[slot] for slot in range(people)}) == 2
        for turn in (0, 1):  # the control: one that is lost, and one that is another's answer
            store.submit(number, turn, reports[next(s for s in range(people) if answer_of(s) != answer_of(turn))])
        assert wrong(store, number, people) == 4

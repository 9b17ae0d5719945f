"""People hand in at a fixed rate for a minute, whatever the service does: what is stored afterwards is what they sent.

How long answers took is noted, and judged by the benchmark of the same load: here other work may keep the cores busy.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.service_worker import answer_of, hand_in, prepared, wrong

from confide.campaign import Home, Store
from service.kills.participants import stored_reports
from service.kills.tree import Tree

RATE, SECONDS = 200, 60


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_is_lost_or_doubled_at_a_steady_load(
    tmp_path: Path, database_url: str, record_property: Callable[[str, object], None]
) -> None:
    people, home = RATE * SECONDS, tmp_path / "home"
    with Store(database_url, home=Home(home)) as store:
        number, tokens = prepared(store, people)
        with Tree(home, database_url) as tree:
            assert wrong(store, number, people) == people  # the control: before anybody has handed in
            begun = time.monotonic()
            took = sorted(asyncio.run(hand_in(tree.port, tokens, RATE)))
            whole = time.monotonic() - begun
            assert tree.end() == 0
        assert len(took) == people  # each was told that hers is stored
        found = {"half_ms": 1000 * took[people // 2], "p99_ms": 1000 * took[int(0.99 * people)],
                 "worst_ms": 1000 * took[-1], "seconds": whole}
        for name, value in found.items():
            record_property(name, round(value, 1))
        print(f"{store.name}: {people:,} reports at {RATE} a second; "
              + ", ".join(f"{name} {value:.1f}" for name, value in found.items()))
        reports = stored_reports(store, number)
        assert wrong(store, number, people) == 0
        assert sorted(reports) == list(range(people))
        assert len({reports[slot] for slot in range(people)}) == 2
        for turn in (0, 1):  # the control: one that is lost, and one that is another's answer
            store.submit(number, turn, reports[next(s for s in range(people) if answer_of(s) != answer_of(turn))])
        assert wrong(store, number, people) == 4

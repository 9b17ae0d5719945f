"""SQLite's settings, and a loss of power at any place of its write-ahead log: nothing that was promised is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from campaign.store.power import Recording, cut_everywhere, record
from confide.campaign import Store


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """The life of one campaign."""
    return record(tmp_path_factory.mktemp("recorded"))


def some(recording: Recording, number: int) -> list[int]:
    """Boundaries that are spread over the log, each a transaction's end or the place before or after it."""
    ends, commits = recording.boundaries, recording.commits
    chosen = [commits[round(place * (len(commits) - 1) / (number // 2 - 1))] for place in range(number // 2)]
    return sorted({ends[0], *chosen, *(ends[ends.index(end) - 1] for end in chosen)})


def once(figures: dict[str, object]) -> bool:
    return figures["lost reports"] == 0 and all(
        figures[name] == {1: number} or (name == "payouts a person" and set(figures[name]) == {1})  # type: ignore[call-overload]
        for name, number in (("published outcomes", figures["cuts"]), ("debits", figures["cuts"]),
                             ("payouts a person", None)))


def test_every_connection_has_the_settings_that_survive(tmp_path: Path) -> None:
    """Commits wait for the disk, and what is deleted is overwritten."""
    with Store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        for _ in range(2):
            with store.database.engine.connect() as one, store.database.engine.connect() as another:
                for connection in (one, another):
                    found = {name: connection.execute(text(f"PRAGMA {name}")).scalar()
                             for name in ("journal_mode", "synchronous", "secure_delete", "foreign_keys")}
                    assert found == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1}
            store.database.close()


def test_a_log_that_was_cut(recording: Recording) -> None:
    cuts = some(recording, 12)
    figures = cut_everywhere(recording, map(recording.cut, cuts))
    assert figures["cuts"] == len(cuts) >= 10
    assert len(figures["states"]) >= 4
    assert once(figures), figures


def test_a_log_whose_last_page_is_torn(recording: Recording) -> None:
    """Half a page that was written, cut off there or with zeros behind: it does not count."""
    ends = [recording.commits[len(recording.commits) // 3], recording.boundaries[len(recording.boundaries) // 2]]
    torn = [(end, log[:length]) for end, log in map(recording.torn, ends)
            for length in (end + 1000, len(log))]
    figures = cut_everywhere(recording, [*torn, recording.cut(10), recording.cut(0)])
    assert figures["cuts"] == 6
    assert once(figures), figures


@pytest.mark.slow
def test_the_log_cut_at_every_frame(recording: Recording, capsys: pytest.CaptureFixture[str]) -> None:
    ends = recording.boundaries
    figures = cut_everywhere(recording, [*map(recording.cut, ends), *map(recording.torn, ends[:-1])])
    with capsys.disabled():
        print(f"\n{len(ends)} boundaries, {len(recording.commits)} commits: {json.dumps(figures)}")
    assert figures["cuts"] == 2 * len(ends) - 1 >= 100
    assert once(figures), figures

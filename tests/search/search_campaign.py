"""A custodian's network that is small enough for tests, as a campaign: contacts, ids, answers."""

from __future__ import annotations

from pathlib import Path

from toy_network import EDGES, TARGETS

from confide.campaign import Campaign

__all__ = ["ANSWERS", "TEXT", "campaign", "write_answers"]

TEXT = """\
format = 1
kind = "search"
title = "Who else is infected?"

[budget]
data_set = "contacts"
epsilon = 4.0
delta = 1e-6

[graph]
source = "contacts.csv"
people = 16

[search]
seeds = [0]
components = 3
stopping_target = 3
stop = "private"

[privacy]
epsilon = 1.0
degree_bound = 5

[oracle]
source = "answers.csv"
"""

ANSWERS = {person: person in TARGETS for person in range(16)}


def write_answers(folder: Path, answers: dict[int, bool], name: str = "answers.csv") -> None:
    lines = [f"{person},{str(status).lower()}" for person, status in answers.items()]
    (folder / name).write_text("\n".join(["id,targeted", *lines]) + "\n")


def campaign(
    folder: Path, *edits: tuple[str, str], answers: dict[int, bool] = ANSWERS, name: str = "who",
    edges: list[tuple[int, int]] = EDGES,
) -> Campaign:
    folder.mkdir(exist_ok=True)
    (folder / "contacts.csv").write_text("\n".join(["first,second", *(f"{a},{b}" for a, b in edges)]) + "\n")
    write_answers(folder, answers)
    text = TEXT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    (folder / f"{name}.toml").write_text(text)
    return Campaign.load(folder / f"{name}.toml")

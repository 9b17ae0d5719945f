"""Campaigns of the kind `matching` to test with, and their wishes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from campaign.forging import edited
from confide.campaign import Campaign
from confide.privacy.noise.simulated import study_generator

__all__ = ["EDITS", "EXAMPLE", "HEAD", "METHODS", "PEOPLE", "SCALING", "TEXT", "campaign", "lines", "typed"]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "courses.toml"
PEOPLE = 120
TEXT = """\
format = 1
kind = "matching"
title = "Who gets into which course?"

[budget]
data_set = "course wishes"
epsilon = 61.0

[people]
count = 120
id = "id"

[goods]
names = ["algebra", "drawing", "law"]
supply = [25, 30, 30]

[values]
scale = "points"
highest = 100

[data]
source = "wishes.csv"

[privacy]
epsilon = 60.0
failure_probability = 0.01

[auction]
method = "auction"
increment = 0.25
bid_cap = 2
rounds = 4
batch = 15
arity = 4
"""
HEAD = "id,algebra,drawing,law"
SCALING = (TEXT[TEXT.index('method = "auction"'):], 'method = "scaling"\n')
METHODS = ["auction", "scaling", "reserve", "charged", "gaussian", "truncated"]
EDITS: dict[str, list[tuple[str, str]]] = {
    "auction": [], "scaling": [SCALING],
    "reserve": [("arity = 4", "arity = 4\nreclear = 0.0")],
    "charged": [("arity = 4", "arity = 4\ncharge = true"), ("epsilon = 60.0", "epsilon = 200.0"),
                ("epsilon = 61.0", "epsilon = 200.0"), ("increment = 0.25", "increment = 0.1"),
                ("bid_cap = 2", "bid_cap = 5"), ("rounds = 4", "rounds = 8")],
    "gaussian": [("arity = 4", 'arity = 4\nlaw = "gaussian"'),
                 ("failure_probability", "delta = 1e-6\nfailure_probability"),
                 ("epsilon = 61.0", "epsilon = 90.0\ndelta = 1e-6")],
    "truncated": [("failure_probability = 0.01",
                   'failure_probability = 1e-90\ndelta = 0.001\non_overflow = "truncate"'),
                  ("epsilon = 60.0", "epsilon = 200.0"), ("epsilon = 61.0", "epsilon = 201.0\ndelta = 0.01"),
                  ("arity = 4", "arity = 4\nreclear = 0.6")],
}


def lines() -> list[str]:
    draw = study_generator(11, "wishes")
    table = (40 * np.array([1.0, 0.6, 0.0]) + 60 * draw.random((PEOPLE, 3))).round(1)
    return [f"{i + 1},{','.join(map(str, row))}" for i, row in enumerate(table.tolist())]


def campaign(folder: Path, *edits: tuple[str, str], data: list[str] | None = None, name: str = "courses") -> Campaign:
    text = edited(TEXT, edits)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "wishes.csv").write_text("\n".join([HEAD, *(lines() if data is None else data)]) + "\n")
    return Campaign.load(folder / f"{name}.toml")


def typed(line: str) -> dict[str, str]:
    return dict(zip(HEAD.split(",")[1:], line.split(",")[1:], strict=True))

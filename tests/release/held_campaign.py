"""A custodian's campaign that is small enough for tests, by any method."""

from __future__ import annotations

from pathlib import Path

from campaign.forging import words
from confide.campaign import Campaign
from confide.privacy.noise.simulated import study_generator

__all__ = ["METHODS", "ROWS", "TEXT", "campaign", "lines", "words"]

TEXT = """\
format = 1
kind = "queries"
title = "Who smokes?"

[budget]
data_set = "survey"
epsilon = 3.0
delta = 3e-6

[data]
source = "survey.csv"
records = 2000

[[columns]]
column = "age"
lower = 0
upper = 100
bins = 4
unit = "years"

[[columns]]
column = "job"
levels = ["none", "some", "full"]

[[columns]]
column = ["smoker", "owner"]
bit = true

[workload]
form = "complete"
width = 2

[privacy]
epsilon = 2.0
delta = 1e-6
"""

METHODS = ("dual-query", "gaussian", "laplace", "mwem", "reweighted", "product", "marginal-fit")
ROWS = ("dual-query", "mwem", "reweighted", "marginal-fit")


def lines(records: int = 2000) -> list[str]:
    coins = study_generator(7, "survey")
    age, job = coins.integers(0, 100, records), coins.integers(0, 3, records)
    smoker, owner = coins.random(records) < 0.2 + 0.2 * job, coins.random(records) < age / 150
    return [f"{a},{('none', 'some', 'full')[j]},{int(s)},{int(o)}" for a, j, s, o in zip(age, job, smoker, owner,
                                                                                     strict=True)]


def campaign(folder: Path, *edits: tuple[str, str], method: str = "", rows: int = 0, name: str = "smoking",
             data: list[str] | None = None) -> Campaign:
    (folder / "survey.csv").write_text("\n".join(["age,job,smoker,owner", *(lines() if data is None else data)]) + "\n")
    text = TEXT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    if method:
        text += f'[method]\nname = "{method}"\n'
        if method in ("dual-query", "reweighted"):
            text += "samples = 50\n"
        if method == "mwem":
            text += "rounds = 5\n"
        if method == "marginal-fit":
            text += "population = 2000\n"
        if method == "laplace":
            text = text.replace("delta = 1e-6", "delta = 0.0")
    if rows:
        text += f"[rows]\ncount = {rows}\n"
    (folder / f"{name}.toml").write_text(text)
    return Campaign.load(folder / f"{name}.toml")

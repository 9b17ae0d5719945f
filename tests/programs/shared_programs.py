"""Campaign files of every family of programs, small and loud, with made-up rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from campaign.forging import edited
from confide.campaign import Campaign
from confide.privacy.noise.simulated import study_generator

__all__ = ["EDITS", "FAMILIES", "MODES", "PEOPLE", "campaign", "family", "rows", "typed"]

PEOPLE = 240

HEAD = """\
format = 1
kind = "program"
title = "Who gets what?"

[budget]
data_set = "wishes"
epsilon = 20.0
delta = 1e-3

[people]
count = 240
id = "id"

[privacy]
epsilon = 20.0
delta = 1e-3

[data]
source = "rows.csv"

"""
VALUES = "[values]\nhighest = 10\n\n"
SOLUTION = "[solution]\nrounds = 40\nburn_in = 20\n"

GOODS = 'goods = ["a", "b", "c"]\nsupply = [60, 50, 70]\n'
PROGRAMS: dict[str, str] = {
    "unit-demand": GOODS, "capped-additive": f"{GOODS}cap = 2\n", "xor-bundles": f"{GOODS}size = 2\nbids = 2\n",
    "knapsack": 'resources = ["power", "space"]\nsupply = [300, 80]\nlargest_weight = [5, 1]\n'
                "least_weight = [0.5, 0.1]\n",
    "shared-resources": 'projects = """\nname,needs\np,x\nq,x+y\n"""\nresources = """\nname,cost\nx,4\ny,2\n"""\n',
    "flow": 'arcs = """\ntail,head,capacity,cost\nu,v,60,1\nv,w,60,1\nu,w,50,2.5\n"""\nboth_ways = true\nhops = 2\n'
            "escape = 4\n",
    "electricity": 'intervals = ["day", "night"]\nslots = ["1", "2"]\nsupply = 60\nmost = 2\nshortfall = 5\n',
    "aggregative-game": 'rows = ["x", "y"]\ntarget = [20, -10]\nlargest = 1\ntolerance = 6\n'
                        'contributions = """\naction,x,y\nleft,1,-0.5\nright,-1,0.5\nstay,0,0\n"""\n',
}
FAMILIES = list(PROGRAMS)

MODES = ["audited", "truthful", "round", "average", "charged", "scaled", "tight"]
EDITS: dict[str, tuple[tuple[str, str], ...]] = {
    "audited": (), "charged": (("burn_in", "alpha = 0.5\nburn_in"),),
    "scaled": (("burn_in", 'alpha = 0.5\npayments = "scaled"\nburn_in'),),
    "round": (("burn_in", 'mode = "round"\nmost_unused = 0.6\nburn_in'),),
    "average": (("burn_in", 'mode = "average"\nburn_in'),),
    "truthful": (("burn_in", 'mode = "truthful"\nalpha = 0.5\nburn_in'),),
    "tight": (("rounds = 40", 'mode = "tight"\nrounds = 4000\nalpha = 9\nmost_unused = 0.99'),
              ("count = 240", "count = 5000"), ("[60, 50, 70]", "[2500]"), ('["a", "b", "c"]', '["a"]'),
              ("epsilon = 20.0", "epsilon = 40.0"), ("epsilon = 20.0", "epsilon = 40.0")),
}


def family(name: str) -> str:
    """A campaign file of one family."""
    values = "" if name == "flow" else VALUES
    return f'{HEAD}{values}[program]\nfamily = "{name}"\n{PROGRAMS[name]}\n{SOLUTION}'


def rows(name: str) -> tuple[str, list[str]]:
    """(heading, lines) of made-up people."""
    draw = study_generator(5, name)
    ids = range(1, PEOPLE + 1)
    cells: Any = np.rint(100 * draw.random((PEOPLE, 6))) / 10
    if name == "xor-bundles":
        lines = [f"{i},{bundle},{value}" for i in ids for bundle, value in zip(
            ("a+b", "c") if i % 2 else ("c+a", "b"), cells[i - 1, :2], strict=True)]
        return "id,bundle,value", lines
    if name == "knapsack":
        return "id,value,power,space", [f"{i},{c[0]},{0.5 + 0.45 * c[1]:.3f},{0.1 + 0.09 * c[2]:.3f}" for i, c in
                                        zip(ids, cells, strict=True)]
    if name == "flow":
        nodes = "uvw"
        return "id,source,sink", [f"{i},{nodes[i % 3]},{nodes[(i + 1 + i // 3 % 2) % 3]}" for i in ids]
    heads = {"unit-demand": "a,b,c", "capped-additive": "a,b,c", "shared-resources": "p,q",
             "electricity": "day.1,day.2,night.1,night.2,day.needs,night.needs",
             "aggregative-game": "left,right,stay"}[name]
    if name == "electricity":
        cells[:, 4:] = 0
        cells[np.arange(PEOPLE), 4 + np.arange(PEOPLE) % 2] = 1
    return f"id,{heads}", [f"{i},{','.join(map(str, c[: heads.count(',') + 1].tolist()))}" for i, c in
                           zip(ids, cells, strict=True)]


def campaign(
    folder: Path, *edits: tuple[str, str], of: str = "unit-demand", data: list[str] | None = None, name: str = "shared",
) -> Campaign:
    """A campaign of one family, with its rows beside it."""
    head, lines = rows(of)
    (folder / f"{name}.toml").write_text(edited(family(of), edits), encoding="utf-8")
    (folder / "rows.csv").write_text("\n".join([head, *(lines if data is None else data)]) + "\n")
    return Campaign.load(folder / f"{name}.toml")


def typed(of: str, line: str) -> dict[str, str]:
    """A line as its owner types it."""
    return dict(zip(rows(of)[0].split(",")[1:], line.split(",")[1:], strict=True))

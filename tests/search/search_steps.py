"""Campaigns that search step by step: which stops there are, what waits, and what a search without a pause gives."""

from __future__ import annotations

import csv
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from search_campaign import ANSWERS, write_answers
from toy_network import toy

from confide.campaign import Campaign, Store
from confide.campaign.own_runs import KeptNoise
from confide.contract import Refused
from confide.privacy.noise import JournalNoise, Noise

DELTA = ("epsilon = 1.0\n", "epsilon = 1.0\ndelta = 1e-6\n")
STOPS = {
    "private": (),
    "smoothed": (('stop = "private"', 'stop = "smoothed"\nnoise = "gumbel"'), DELTA),
    "public": (('stop = "private"', 'stop = "public"\npublic_threshold = 2.0\nnoise = "exponential"'),
               ("stopping_target = 3\n", ""), ("degree_bound = 5\n", "")),
    "none": (('stop = "private"', 'stop = "none"\nnoise = "discrete_laplace"'), ("stopping_target = 3\n", "")),
}
FEW = {0: True}


def journals(folder: Path) -> list[Path]:
    return sorted((folder / "search_journal").rglob("*")) if (folder / "search_journal").exists() else []


def waiting(folder: Path) -> list[int]:
    path = folder / "to_examine.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open() as file:
        return [int(row["id"]) for row in csv.DictReader(file) if row["targeted"] == ""]


def in_steps(it: Campaign, folder: Path, store: Store, known: dict[int, bool]) -> tuple[Any, int, dict[int, bool]]:
    """Run, answer what is asked for, and run again: (settled, pauses, answers)."""
    known, pauses = dict(known), 0
    while True:
        write_answers(folder, known)
        try:
            return it.settle(folder / "pack", store=store), pauses, known
        except Refused as error:
            said = str(error)
        assert "to_examine.csv" in said
        assert "nothing more is charged" in said
        asked = waiting(folder)
        assert asked
        assert not set(asked) & set(known)
        known |= {each: ANSWERS[each] for each in asked}
        pauses += 1


def copied(patch: pytest.MonkeyPatch, where: Path) -> None:
    """Keep a copy of what is destroyed after the publication."""
    def kept(self: KeptNoise) -> None:
        shutil.copytree(self.folder, where)
        destroy(self)

    destroy = KeptNoise.destroy
    patch.setattr(KeptNoise, "destroy", kept)


def straight(it: Campaign, copy: Path) -> list[Any]:
    """The list of a search without a pause, all answers at hand, by the same draws."""
    with JournalNoise(copy / "noise.journal", Noise.secure(), existing=True) as noise:
        found: Any = it.plan.mechanism.run(toy(), noise)
    return list(found.billboard.order.tolist())


class Died(KeyboardInterrupt):
    """An interrupt, which no part of a program catches."""

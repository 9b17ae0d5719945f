"""A package with a kind whose campaign files had other words before; `installed_reworded` installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from private_histogram import HistogramKind, NoisyHistogram
from pydantic import Field

from confide.campaign.kinds import MechanismPlan, PeoplesTables
from confide.contract import FileWords, InvalidInput, Keys
from confide.tables import Category
from people.own_packages import installed_module

__all__ = ["KIND", "OLD", "TODAY", "installed_reworded"]

OLD = '''\
# A campaign of before.
format = 1
kind = "reworded"
title = "How do you get to work?"   # gamma and answer are words here

budget = { data_set = "commuters", epsilon = 2.0 }

people = { count = 500, id = "id" }
data.source = "answers.csv"

[ answer ]   # asked of everybody
"column" = "way"
options = [
  "bus", "bicycle",   # options
  'car', "on foot",
]

    [[notes]]
    gamma = "gamma"
    [[notes]]
    gamma = """substitution"""

[privacy]
neighbours = 'substitution'# as ever
epsilon = 1.0
gamma   =   0.05
'''
"""In old words: of seven places."""

TODAY = '''\
# A campaign of before.
format = 1
kind = "reworded"
title = "How do you get to work?"   # gamma and answer are words here

budget = { data_set = "commuters", epsilon = 2.0 }

people = { count = 500, id = "id" }
data.source = "answers.csv"

[ question ]   # asked of everybody
"column" = "way"
levels = [
  "bus", "bicycle",   # options
  'car', "on foot",
]

    [[notes]]
    text = "gamma"
    [[notes]]
    text = """substitution"""

[privacy]
neighbours = 'replace'# as ever
epsilon = 1.0
failure_probability   =   0.05
'''


class Question(Keys):
    """`[question]`: what is asked."""

    column: str
    levels: tuple[str, ...] = Field(min_length=2)


class Note(Keys):
    """`[[notes]]`: words for the operator."""

    text: str


class Spent(Keys):
    """`[privacy]`: what is spent."""

    epsilon: float = Field(gt=0)
    failure_probability: float = Field(gt=0, lt=1)
    neighbours: Literal["replace"] = "replace"


class Tables(PeoplesTables):
    """All of them."""

    question: Question
    notes: tuple[Note, ...] = ()
    privacy: Spent


class RewordedHistogram(HistogramKind):
    """The tutorial's kind; its files had other words."""

    name = "reworded"
    config = Tables
    template = TODAY
    file_words: ClassVar = FileWords(
        keys={"answer": "question", "question.options": "levels", "privacy.gamma": "failure_probability",
              "notes.gamma": "text"},
        values={"privacy.neighbours": {"substitution": "replace"}})

    def columns(self, config: Tables) -> tuple[Category]:  # type: ignore[override]
        return (Category(column=config.question.column, levels=config.question.levels),)

    def plan(self, config: Tables) -> MechanismPlan:  # type: ignore[override]
        it = NoisyHistogram(people=config.people.count, levels=config.question.levels, epsilon=config.privacy.epsilon,
                            failure_probability=config.privacy.failure_probability)
        return MechanismPlan(config=config, mechanism=it, roles=self.columns(config), share="by the public counts")

    def check_new(self, config: Tables) -> None:
        """New campaigns ask for a smaller failure probability."""
        if config.privacy.failure_probability > 0.1:
            raise InvalidInput("privacy.failure_probability", "is too large", "must be at most 0.1")


KIND = RewordedHistogram()


@contextmanager
def installed_reworded(target: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """This file as a package of its own, beside the tutorial's."""
    with installed_module(Path(__file__), "reworded", {"reworded": "reworded:KIND"}, target, monkeypatch) as found:
        yield found

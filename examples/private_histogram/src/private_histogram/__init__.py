"""How many people gave each answer to one question: a mechanism, and a kind of campaign for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from confide.audit import AuditRow, clopper_pearson
from confide.campaign.kinds import MechanismPlan, PeoplesKind, PeoplesTables
from confide.contract import Accuracy, Billboard, Guarantees, Keys, Mechanism, Privacy, Progress, RunOutcome
from confide.contract.guarantees import Audience, Relation, Source
from confide.contract.progress import advance
from confide.privacy import PureDP
from confide.privacy.events import PureEvent
from confide.privacy.noise import Noise
from confide.privacy.primitives import add_discrete_laplace
from confide.tables import Category

TEMPLATE = """\
format = 1
kind = "histogram"
title = "How do you get to work?"

[budget]
data_set = "commuters"     # name of these people's answers in the ledger
epsilon = 2.0              # the most that all campaigns on them may spend together

[people]
count = 500                # invited, whether they answer or not
id = "id"                  # column of ids, which are 1 to count

[data]
source = "answers.csv"     # a row for each person

[question]
column = "way"
levels = ["bus", "bicycle", "car", "on foot"]

[privacy]
epsilon = 1.0
failure_probability = 0.05 # that some count is further off than promised
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts(Billboard):
    """What everybody sees: each answer, and how many gave it, with noise; a count can be negative."""

    answer: tuple[str, ...]
    people: np.ndarray


@dataclass(frozen=True, kw_only=True)
class NoisyHistogram(Mechanism[Counts, None]):
    """Counts with discrete Laplace noise; a record that is replaced moves two of them by 1."""

    people: int
    levels: tuple[str, ...]
    epsilon: float
    failure_probability: float

    @property
    def scale(self) -> float:
        return math.nextafter(2.0 / self.epsilon, math.inf)  # upwards, so that rounding never costs privacy

    @property
    def error(self) -> int:
        """The smallest t that a |noise| exceeds no more often; P(|noise| > t) = 2 q^(t+1)/(1+q), q = e^(-1/scale)."""
        each = -math.expm1(math.log1p(-self.failure_probability) / len(self.levels))  # of one of independent counts
        q = math.exp(-1.0 / self.scale)
        return max(0, math.ceil(math.log(each * (1.0 + q) / 2.0) / math.log(q) - 1.0))

    def guarantees(self) -> Guarantees:
        law = Source(document="Ghosh, Roughgarden and Sundararajan 2012", statement="geometric mechanism")
        tail = Source(document="private-histogram", statement="exact tails of that law, for all counts together")
        return Guarantees((
            Privacy(source=law, loss=PureDP(self.epsilon), neighbours=Relation.REPLACE, audience=Audience.PUBLIC),
            Accuracy(source=tail, failure_probability=self.failure_probability, bound=self.error, baseline=self.people,
                     measure="the largest error of a count, in people"),
        ))

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=self.epsilon, neighbours=Relation.REPLACE, label="histogram"),)

    def run(self, data: Any, noise: Noise, *, progress: Progress | None = None) -> RunOutcome[Counts, None]:
        level = np.full(self.people, -1)  # of who has no record
        for batch in data:
            level[batch.index] = batch.cells[:, 0]
        true = np.bincount(level[level >= 0], minlength=len(self.levels))
        board = Counts(answer=self.levels, people=add_discrete_laplace(
            noise, true, noise_scale=self.scale, l1_sensitivity=2, stream="counts", line="histogram"))
        shares = [self.decode(None if k < 0 else np.array([k]), i, board) for i, k in enumerate(level)]
        advance(progress, 1, 1)
        return self._outcome(noise, billboard=board, shares=pa.Table.from_pylist(shares))

    def decode(self, record: Any, index: int, billboard: Any) -> Mapping[str, Any]:
        return {"same_answer": 0 if record is None else int(billboard.people[int(record[0])])}


class Question(Keys):
    column: str = Field(min_length=1)
    levels: tuple[str, ...] = Field(min_length=2)


class Spent(Keys):
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    failure_probability: float = Field(default=0.05, gt=0, lt=1)


class Tables(PeoplesTables):
    question: Question
    privacy: Spent


class HistogramKind(PeoplesKind):
    """Count the answers to one question."""

    name = "histogram"
    summary = "how many people gave each answer to one question"
    template = TEMPLATE
    config = Tables
    types: ClassVar = {each.__name__: each for each in (NoisyHistogram, Counts)}

    def columns(self, config: Tables) -> tuple[Category]:
        return (Category(column=config.question.column, levels=config.question.levels),)

    def plan(self, config: Tables) -> MechanismPlan[NoisyHistogram]:
        it = NoisyHistogram(people=config.people.count, levels=config.question.levels, epsilon=config.privacy.epsilon,
                            failure_probability=config.privacy.failure_probability)
        return MechanismPlan(config=config, mechanism=it, roles=self.columns(config),
                             share="how many answered as you did, by the public counts")

    def measured(self, plan: MechanismPlan[NoisyHistogram], seed: int) -> list[AuditRow]:
        it, runs = plan.mechanism, 2000
        draws = Noise.simulated(seed).discrete_laplace(it.scale, (runs, len(it.levels)), stream="errors")
        lower, _ = clopper_pearson(int((np.abs(draws).max(axis=1) > it.error).sum()), runs, 1e-6)
        how = f"of {runs} simulated runs, the share that is further off, by a lower confidence bound"
        (promise,) = it.guarantees().of(Accuracy)
        return [AuditRow.at_most(promise.sentence(), it.failure_probability, float(lower), how, concern="accuracy",
                                 false_alarm=1e-6).holding(promise)]


KIND = HistogramKind()

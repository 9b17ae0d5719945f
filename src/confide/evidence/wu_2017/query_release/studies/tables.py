"""The tables that the studies use, and the mean errors of several runs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from confide.evidence.wu_2017.query_release.stand_ins import (
    ADULT,
    DELTA,
    KDD99,
    NETFLIX,
    made_up_codes,
    made_up_views,
    published_schema,
    repeated_answers,
)
from confide.privacy.noise import Noise
from confide.release.answers import TrueAnswers
from confide.release.columns import Binned, Bit
from confide.release.dual_query import DualQuery
from confide.release.oracle.local_search import LocalSearch
from confide.release.records import Codes, PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["HEALTH", "NOTE", "SHORT", "Errors", "by_budget", "errors", "health", "health_schema", "stand_in"]

NOTE = ("Stand-ins have the columns, bins and sizes of the published tables and made-up records: mixtures of six "
        "classes, and for KDD99 and Netflix 12,048 and 4,802 different records that repeat. They are not those tables.")

HEALTH = "RAND health insurance experiment (real)"


class Errors(NamedTuple):
    """The average error over queries and the largest error over queries, both as means over runs."""

    average: float
    largest: float


SHORT = LocalSearch(flips_per_variable=2, flips=200, random_starts=0)
"""The search of quick runs, with a tenth of the default's flips and nearly the same errors."""


def stand_in(name: str, queries: int, *, signed: bool = True, small: bool = False) -> tuple[Workload, TrueAnswers]:
    """Random 3-way marginals of a stand-in for "Adult", "KDD99" or "Netflix", and their true answers.

    Args:
        name: "Adult", "KDD99" or "Netflix".
        queries: number of queries.
        signed: whether literals have random signs, as in the authors' prototype.
        small: whether the stand-in has fewer different records, for quick runs. Records are repeated up to the
            published number.
    """
    base: PackedBits | Codes
    if name == "Netflix":
        base, records = made_up_views(512 if small else 4_802, seed=1), NETFLIX.records
        domain: Schema | int = NETFLIX.bits
    else:
        domain = published_schema("adult" if name == "Adult" else "kdd99")
        records = ADULT.records if name == "Adult" else KDD99.records
        rows = ADULT.records if name == "Adult" else 2_000 if small else 12_048
        base = made_up_codes(domain, rows, seed=1)
    workload = Workload.random(domain, queries, seed=1, signed=signed)
    return workload, repeated_answers(base, workload, records)


def health_schema() -> Schema:
    """Ten columns of the health insurance experiment, with bins that were fixed without looking at records."""
    return Schema((
        Binned(column="mdvis", lower=0, upper=80, bins=20, whole=True, unit="visits"),
        Binned(column="lncoins", lower=0, upper=5, bins=10), Bit(column="idp"),
        Binned(column="lpi", lower=0, upper=8, bins=16), Binned(column="fmde", lower=0, upper=9, bins=18),
        Binned(column="physlm", lower=0, upper=1, bins=5), Binned(column="disea", lower=0, upper=60, bins=20),
        Bit(column="hlthg"), Bit(column="hlthf"), Bit(column="hlthp")))


def health() -> Codes | None:
    """The health insurance table, 20,190 real records with 93 binary attributes; None where the package that ships them
    is missing.
    """
    return None if find_spec("statsmodels") is None else health_schema().encode("statsmodels:randhie")


def errors(mechanism: DualQuery, answers: TrueAnswers, runs: int) -> Errors:
    """The mean errors of several runs under simulated noise."""
    found: list[Any] = [mechanism.run(answers, Noise.simulated(seed)) for seed in range(runs)]
    return Errors(float(np.mean([each.diagnostics["mean_error"] for each in found])),
                  float(np.mean([each.diagnostics["max_error"] for each in found])))


def by_budget(
    case: tuple[Workload, TrueAnswers], epsilon: float, *, eta: float, samples: int, calculator: Any = "theorem-3.4.2",
    **others: Any,
) -> DualQuery:
    """The mechanism DualQuery with the largest number of rounds that the budget (epsilon, delta = .001) allows."""
    workload, answers = case
    return DualQuery.for_budget(records=answers.records, epsilon=epsilon, delta=DELTA, eta=eta, samples=samples,
                                workload=workload,
                                calculator=calculator, **others)

"""Query release: answers to many counting queries, and synthetic records, for a custodian's private table.

>>> from confide.release import Levels, Schema, Workload, true_answers
>>> schema = Schema((Levels(column="sex", levels=("female", "male")), Levels(column="job", levels=("yes", "no"))))
>>> workload = Workload.complete(schema, width=2)
>>> true_answers({"sex": ["male", "female"], "job": ["yes", "no"]}, workload, schema).fractions.tolist()
[0.0, 0.5, 0.5, 0.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.release._dual_fit import MostDrawn, SelectionRule, Transcript
    from confide.release.answers import TrueAnswers, true_answers
    from confide.release.baselines import (
        AllZeros,
        FixedBillboard,
        IndependentBillboard,
        IndependentMarginals,
        NoisyAnswers,
        NoisyBillboard,
        Uniform,
    )
    from confide.release.columns import Binned, Bit, Levels
    from confide.release.comparison import Comparison, compare
    from confide.release.dual_query import DualQuery
    from confide.release.guarantees import AnswersCertificate
    from confide.release.marginal_fit.fitted_marginals import FittedMarginals, FittedMarginalsCertificate
    from confide.release.marginal_fit.measured import MeasuredTables
    from confide.release.marginal_fit.mechanism import MarginalFit
    from confide.release.measured_sums import marginals_from_parities
    from confide.release.mwem import MWEM, MWEMBillboard, MWEMCertificate
    from confide.release.oracle.answer import Answer, Oracle
    from confide.release.oracle.integer_program import Enumeration, IntegerProgram
    from confide.release.oracle.local_search import LocalSearch
    from confide.release.oracle.terms import Terms
    from confide.release.planning import Prediction, ReleasePlan, plan
    from confide.release.query_game import Hedge
    from confide.release.records import Codes, PackedBits
    from confide.release.reweighted import Reweighted, ReweightedCertificate, ReweightedRecords
    from confide.release.schema import Schema
    from confide.release.synthetic import Rounds, SyntheticRecords
    from confide.release.workload import Workload


__all__ = [
    "MWEM",
    "AllZeros",
    "Answer",
    "AnswersCertificate",
    "Binned",
    "Bit",
    "Codes",
    "Comparison",
    "DualQuery",
    "Enumeration",
    "FittedMarginals",
    "FittedMarginalsCertificate",
    "FixedBillboard",
    "Hedge",
    "IndependentBillboard",
    "IndependentMarginals",
    "IntegerProgram",
    "Levels",
    "LocalSearch",
    "MWEMBillboard",
    "MWEMCertificate",
    "MarginalFit",
    "MeasuredTables",
    "MostDrawn",
    "NoisyAnswers",
    "NoisyBillboard",
    "Oracle",
    "PackedBits",
    "Prediction",
    "ReleasePlan",
    "Reweighted",
    "ReweightedCertificate",
    "ReweightedRecords",
    "Rounds",
    "Schema",
    "SelectionRule",
    "SyntheticRecords",
    "Terms",
    "Transcript",
    "TrueAnswers",
    "Uniform",
    "Workload",
    "compare",
    "marginals_from_parities",
    "plan",
    "true_answers",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "_dual_fit": ("MostDrawn", "SelectionRule", "Transcript"),
        "answers": ("TrueAnswers", "true_answers"),
        "baselines": (
            "AllZeros", "FixedBillboard", "IndependentBillboard", "IndependentMarginals", "NoisyAnswers",
            "NoisyBillboard", "Uniform",
        ),
        "columns": ("Binned", "Bit", "Levels"),
        "comparison": ("Comparison", "compare"),
        "dual_query": ("DualQuery",),
        "guarantees": ("AnswersCertificate",),
        "marginal_fit.fitted_marginals": ("FittedMarginals", "FittedMarginalsCertificate"),
        "marginal_fit.measured": ("MeasuredTables",),
        "marginal_fit.mechanism": ("MarginalFit",),
        "measured_sums": ("marginals_from_parities",),
        "mwem": ("MWEM", "MWEMBillboard", "MWEMCertificate"),
        "oracle.answer": ("Answer", "Oracle"),
        "oracle.integer_program": ("Enumeration", "IntegerProgram"),
        "oracle.local_search": ("LocalSearch",),
        "oracle.terms": ("Terms",),
        "planning": ("Prediction", "ReleasePlan", "plan"),
        "query_game": ("Hedge",),
        "records": ("Codes", "PackedBits"),
        "reweighted": ("Reweighted", "ReweightedCertificate", "ReweightedRecords"),
        "schema": ("Schema",),
        "synthetic": ("Rounds", "SyntheticRecords"),
        "workload": ("Workload",),
    },
)

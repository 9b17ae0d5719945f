"""Query release: answers to many counting queries, and synthetic records, for a custodian's private table.

>>> from confide.release import Levels, Schema, Workload, true_answers
>>> schema = Schema((Levels(column="sex", levels=("female", "male")), Levels(column="job", levels=("yes", "no"))))
>>> workload = Workload.complete(schema, width=2)
>>> true_answers({"sex": ["male", "female"], "job": ["yes", "no"]}, workload, schema).fractions.tolist()
[0.0, 0.5, 0.5, 0.0]
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
        "records": ("Codes", "PackedBits", "made_up_table"),
        "reweighted": ("Reweighted", "ReweightedCertificate", "ReweightedRecords"),
        "schema": ("Schema",),
        "synthetic": ("Rounds", "SyntheticRecords"),
        "workload": ("Workload",),
    },
)

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
    from confide.release.answers import TrueAnswers, true_answers
    from confide.release.codes import Codes
    from confide.release.columns import Binned, Bit, Levels
    from confide.release.identities import marginals_from_parities
    from confide.release.packed import PackedBits
    from confide.release.schema import Schema
    from confide.release.workload import Workload


__all__ = [
    "Binned",
    "Bit",
    "Codes",
    "Levels",
    "PackedBits",
    "Schema",
    "TrueAnswers",
    "Workload",
    "marginals_from_parities",
    "true_answers",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "answers": ("TrueAnswers", "true_answers"),
        "codes": ("Codes",),
        "columns": ("Binned", "Bit", "Levels"),
        "identities": ("marginals_from_parities",),
        "packed": ("PackedBits",),
        "schema": ("Schema",),
        "workload": ("Workload",),
    },
)

"""Finite channels: how private is a randomisation in three notions of privacy, and how private could another
randomisation with the same usefulness be?

    >>> from confide.channels import analyse
    >>> report = analyse([[0.6, 0.4], [0.4, 0.6]], [0.55, 0.45])
    >>> round(report.dp, 4), round(report.identifiability, 4), round(report.bits, 4)
    (0.4055, 0.6061, 0.0288)

A database has n rows, and every row holds one of m values, called letters. A channel gives the probability of each
output for each database. The distortion of a channel is the expected number of rows that it changes.

Differential privacy bounds how much a release adds to an attacker's knowledge. Identifiability bounds the attacker's
knowledge after the release. Mutual information is the average amount that a release reveals.

`analyse` measures any channel in all three notions. `RandomizedResponse`, `TopK`, `WaterFilling`, `KernelMechanism` and
`TableMechanism` draw releases; their probabilities are stored as whole numbers, so the draws are exact.
`privacy_distortion` finds the least privacy level of all releases at a given distortion, and the mechanism that reaches
it. `survey_shares` estimates the shares of a population from a survey's reports, and `survey_errors` gives the errors
of these estimates before there are any data.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "analyser": ("ChannelReport", "analyse"),
        "answer": ("ChannelAnswer", "how_private"),
        "channel": ("Channel", "ExponentialForm", "RowProduct"),
        "channel_file": ("ChannelFile", "read_channel", "read_channel_file"),
        "closed_forms": ("PrintedBounds", "closed_form", "printed_bounds"),
        "constants": ("PriorConstants",),
        "distortion": ("PrivacyDistortion", "least_distortion", "privacy_distortion"),
        "mechanisms.base": ("ReleasedLetters",),
        "mechanisms.kernel_mechanism": ("KernelMechanism",),
        "mechanisms.randomized_response": ("RandomizedResponse",),
        "mechanisms.row_mechanisms": ("TopK", "WaterFilling"),
        "mechanisms.table_mechanism": ("JointTypeMechanism", "TableMechanism"),
        "notions": ("Infeasible",),
        "planning": ("ChannelPlan", "plan"),
        "priors": ("Exchangeable", "FullPrior", "IndependentRows", "Prior"),
        "risk": (
            "AttackRisk", "OthersUnknown", "ReportMeanings", "attack_risk", "best_advantage", "best_hits",
            "report_meanings",
        ),
        "surveys": ("ShareEstimate", "group_errors", "survey_errors", "survey_shares"),
        "translation": ("Step", "composed_level", "translate"),
    },
)

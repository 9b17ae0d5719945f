"""Finite channels: how private is a randomisation, in three notions, and how private could it be at its usefulness?

    >>> from confide.channels import analyse
    >>> report = analyse([[0.6, 0.4], [0.4, 0.6]], [0.55, 0.45])
    >>> round(report.dp, 4), round(report.identifiability, 4), round(report.bits, 4)
    (0.4055, 0.6061, 0.0288)

Differential privacy bounds what a release adds to what was known; identifiability bounds what is known afterwards;
mutual information is the average. `analyse` measures any channel in all of them; `RandomizedResponse`, `TopK`,
`WaterFilling`, `KernelMechanism` and `TableMechanism` are channels to release from, in whole numbers. The least level
of all releases at a distortion, and the mechanism that has it, is what `privacy_distortion` finds. What a survey learns
through a channel is `survey_shares`, and how well, before any data, `survey_errors`.
"""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
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

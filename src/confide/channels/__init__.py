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

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.channels.analyser import ChannelReport, analyse
    from confide.channels.answer import ChannelAnswer, how_private
    from confide.channels.channel import Channel, ExponentialForm, RowProduct
    from confide.channels.channel_file import ChannelFile, read_channel, read_channel_file
    from confide.channels.closed_forms import PrintedBounds, closed_form, printed_bounds
    from confide.channels.constants import PriorConstants
    from confide.channels.distortion import PrivacyDistortion, least_distortion, privacy_distortion
    from confide.channels.mechanisms.base import ReleasedLetters
    from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
    from confide.channels.mechanisms.randomized_response import RandomizedResponse
    from confide.channels.mechanisms.row_mechanisms import TopK, WaterFilling
    from confide.channels.mechanisms.table_mechanism import JointTypeMechanism, TableMechanism
    from confide.channels.notions import Infeasible
    from confide.channels.planning import ChannelPlan, plan
    from confide.channels.priors import Exchangeable, FullPrior, IndependentRows, Prior
    from confide.channels.risk import (
        AttackRisk,
        OthersUnknown,
        ReportMeanings,
        attack_risk,
        best_advantage,
        best_hits,
        report_meanings,
    )
    from confide.channels.surveys import ShareEstimate, group_errors, survey_errors, survey_shares
    from confide.channels.translation import Step, composed_level, translate


__all__ = [
    "AttackRisk",
    "Channel",
    "ChannelAnswer",
    "ChannelFile",
    "ChannelPlan",
    "ChannelReport",
    "Exchangeable",
    "ExponentialForm",
    "FullPrior",
    "IndependentRows",
    "Infeasible",
    "JointTypeMechanism",
    "KernelMechanism",
    "OthersUnknown",
    "PrintedBounds",
    "Prior",
    "PriorConstants",
    "PrivacyDistortion",
    "RandomizedResponse",
    "ReleasedLetters",
    "ReportMeanings",
    "RowProduct",
    "ShareEstimate",
    "Step",
    "TableMechanism",
    "TopK",
    "WaterFilling",
    "analyse",
    "attack_risk",
    "best_advantage",
    "best_hits",
    "closed_form",
    "composed_level",
    "group_errors",
    "how_private",
    "least_distortion",
    "plan",
    "printed_bounds",
    "privacy_distortion",
    "read_channel",
    "read_channel_file",
    "report_meanings",
    "survey_errors",
    "survey_shares",
    "translate",
]

__getattr__, __dir__ = doors(
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

"""Finite channels: how private is a randomisation, in three notions, and how private could it be at its usefulness?

    >>> from confide.channels import analyse
    >>> report = analyse([[0.6, 0.4], [0.4, 0.6]], [0.55, 0.45])
    >>> round(report.dp, 4), round(report.identifiability, 4), round(report.bits, 4)
    (0.4055, 0.6061, 0.0288)

Differential privacy bounds what a release adds to what was known; identifiability bounds what is known afterwards;
mutual information is the average. `analyse` measures any channel in all of them; `RandomizedResponse`, `TopK`,
`WaterFilling`, `KernelMechanism` and `TableMechanism` are channels to release from, in whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.channels.analyser import ChannelReport, analyse
    from confide.channels.channel import Channel, ExponentialForm, RowProduct
    from confide.channels.constants import PriorConstants
    from confide.channels.infeasible import Infeasible
    from confide.channels.kernel_mechanism import KernelMechanism
    from confide.channels.priors import Exchangeable, FullPrior, IndependentRows, Prior
    from confide.channels.response import RandomizedResponse
    from confide.channels.row_mechanisms import TopK, WaterFilling
    from confide.channels.table_mechanism import TableMechanism


__all__ = [
    "Channel",
    "ChannelReport",
    "Exchangeable",
    "ExponentialForm",
    "FullPrior",
    "IndependentRows",
    "Infeasible",
    "KernelMechanism",
    "Prior",
    "PriorConstants",
    "RandomizedResponse",
    "RowProduct",
    "TableMechanism",
    "TopK",
    "WaterFilling",
    "analyse",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "analyser": ("ChannelReport", "analyse"),
        "channel": ("Channel", "ExponentialForm", "RowProduct"),
        "constants": ("PriorConstants",),
        "infeasible": ("Infeasible",),
        "kernel_mechanism": ("KernelMechanism",),
        "priors": ("Exchangeable", "FullPrior", "IndependentRows", "Prior"),
        "response": ("RandomizedResponse",),
        "row_mechanisms": ("TopK", "WaterFilling"),
        "table_mechanism": ("TableMechanism",),
    },
)

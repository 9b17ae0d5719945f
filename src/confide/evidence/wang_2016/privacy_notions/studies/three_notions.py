"""All three notions side by side: four mechanisms on rows of one law, each with its own levels at each distortion."""

from __future__ import annotations

import math

import numpy as np

from confide.channels.analyser import ChannelReport
from confide.channels.closed_forms import closed_form
from confide.channels.constants import PriorConstants
from confide.channels.kernels import h_inverse
from confide.channels.mechanisms.base import ChannelMechanism
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
from confide.channels.mechanisms.randomized_response import RandomizedResponse
from confide.channels.mechanisms.row_mechanisms import TopK, WaterFilling
from confide.channels.priors import IndependentRows
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance

_PRIOR = IndependentRows([[0.6, 0.25, 0.1, 0.05]])
_NAMES = ("randomised response", "top-k", "water-filling", "kernel")


def _mechanism(name: str, share: float) -> ChannelMechanism | None:
    """The mechanism of this name with this distortion; None where it has none."""
    level = h_inverse(share, 4, 1)
    match name:
        case "randomised response":
            return RandomizedResponse(epsilon=level, letters=4) if level >= 0 else None
        case "top-k":
            return TopK(prior=_PRIOR, epsilon=closed_form("dp", _PRIOR, share) or 0.0)
        case "water-filling":
            return WaterFilling(prior=_PRIOR, distortion=share)
        case _:
            inside = level >= PriorConstants.of(_PRIOR).kernel_level
            return KernelMechanism(prior=_PRIOR, epsilon=level) if inside else None


def _levels(report: ChannelReport) -> dict[str, float]:
    return {"differential privacy": report.dp, "identifiability": report.identifiability,
            "information, bits": report.bits}


def _run(quick: bool, progress: Progress | None) -> Findings:
    grid = np.linspace(0.02, 0.39, 8 if quick else 75).tolist()
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for k, share in enumerate(grid):
        for name in _NAMES:
            mechanism = _mechanism(name, share)
            if mechanism is None:
                continue
            for notion, level in _levels(mechanism.levels(_PRIOR)).items():
                rows.setdefault(notion, []).append((share, level, name))
        advance(progress, k + 1, len(grid))
    pictures = [picture for notion, points in rows.items() for picture in curves(
        points, title=notion.capitalize(), x="expected changed rows, share of n",
        y="bits" if notion.endswith("bits") else "nats",
        alt=f"{notion.capitalize()} of four mechanisms at each distortion. Randomised response is best for "
            "differential privacy where few rows are changed, top-k beyond. Water-filling, there the kernel mechanism, "
            "is best for the other two.")]
    at = 0.1
    table, compared = [], []
    own = PriorConstants.of(_PRIOR).prior_level
    for name in _NAMES:
        mechanism = _mechanism(name, at)
        if mechanism is not None:
            report = mechanism.levels(_PRIOR)
            table.append((name, report.distortion, *_levels(report).values()))
    best = h_inverse(at, 4, 1)
    response, kernel = _mechanism(_NAMES[0], at), _mechanism(_NAMES[3], at)
    for quantity, chosen, field in (
        ("identifiability of randomised response above the least, D = .1 n", response, "identifiability"),
        ("differential privacy of the kernel mechanism above the least, D = .1 n", kernel, "dp"),
    ):
        found = math.nan if chosen is None else getattr(chosen.levels(_PRIOR), field) - best
        compared.append(Compared(quantity=quantity, published=None, ours=found, agreement="not published",
                                 remark=f"eps_X = {own:.4g}"))
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("mechanism", "changed rows, share of n", "differential privacy, nats", "identifiability, nats",
                 "information, bits"), rows=tuple(table), note=f"At D = {at} n.")))


STUDY = Study(
    name="channels-three",
    title="Four mechanisms in three notions",
    source="Wang 2016, chapter 2 (a picture of our own)",
    statement="What is optimal for identifiability is so for information; differential privacy has another optimum.",
    run=_run,
)

"""What a report says of one person: how often it comes, and how likely each true value is after it.

The prior is that of one row, on average over the rows; nothing is known of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.channels.channel import FiniteChannel
from confide.channels.priors import Prior
from confide.channels.surveys import mean_law, row_table
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import number

__all__ = ["ReportMeanings", "report_meanings"]

_Array = NDArray[np.float64]
_LISTED = 30  # reports on a page
_WIDE = 8  # values beside each other


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportMeanings:
    """What each report says.

    Args:
        names: (m,) of the true values.
        outputs: (k,) of the reports.
        probabilities: (k,) how likely each report is.
        posteriors: (k, m) how likely each value is after it; not a number after a report that cannot come.
        worst: (output, likelier value, less likely value) with the largest ratio of their probabilities of the output.
        factor: that ratio: e^epsilon of differential privacy.
    """

    names: tuple[str, ...]
    outputs: tuple[str, ...]
    probabilities: _Array
    posteriors: _Array
    worst: tuple[int, int, int]
    factor: float

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary; what is no number stays a float."""
        output, high, low = self.worst
        return {"values": list(self.names), "outputs": list(self.outputs), "probabilities": self.probabilities.tolist(),
                "posteriors": self.posteriors.tolist(),
                "worst": {"output": self.outputs[output], "likelier": self.names[high], "than": self.names[low],
                          "factor": self.factor}}

    def section(self) -> Section:
        """Words and a table."""
        listed = np.argsort(-self.probabilities, kind="stable")[:_LISTED]
        listed.sort()
        shown = np.argsort(-(self.probabilities @ np.nan_to_num(self.posteriors)), kind="stable")[:_WIDE]
        shown.sort()
        rows = tuple((self.outputs[y], float(self.probabilities[y]), *(
            float(self.posteriors[y, x]) if self.probabilities[y] > 0 else None for x in shown.tolist()))
            for y in listed.tolist())
        cut = [f"the {count} likeliest of {size:,} {what}" for count, size, what in (
            (listed.size, len(self.outputs), "reports"), (shown.size, len(self.names), "values")) if count < size]
        table = Table(columns=("report", "probability", *(f"then {self.names[x]}" for x in shown.tolist())), rows=rows,
                      note=f"Shown: {'; '.join(cut)}." if cut else "")
        return Section(title="What a report says", blocks=(Text((_ASKED, self.words())), table))

    def words(self) -> str:
        """The report that tells two values apart best."""
        output, high, low = self.worst
        if self.factor <= 1.0 + 1e-12:
            return "Every report is as likely from each value: it tells nothing."
        report, likelier, less = self.outputs[output], self.names[high], self.names[low]
        if math.isinf(self.factor):
            return f"The most telling report is {report}: it can come from {likelier}, and never from {less}."
        return (f"The most telling report is {report}: it is {number(self.factor)} times as likely from {likelier} as "
                f"from {less}. This ratio is e^epsilon of differential privacy.")


_ASKED = ("How likely is each true value once a report is seen? For one person of whom only the prior is known, and "
          "nothing of the others.")


def report_meanings(
    channel: FiniteChannel, prior: Prior, *, names: Sequence[str] = (), outputs: Sequence[str] = ()
) -> ReportMeanings:
    """What each report says of one person, by the rule of Bayes.

    Args:
        channel: takes each row through one table.
        prior: whose average row counts.
        names: of the values; their numbers if left out.
        outputs: of the reports; if left out, the values' where there are as many, else output 1, 2, ...

    Raises:
        InvalidInput: rows do not go through one table, or names are missing.

    Example:
        >>> from confide.channels import Channel, IndependentRows
        >>> found = report_meanings(Channel([[0.7, 0.3], [0.3, 0.7]]), IndependentRows([[0.1, 0.9]]))
        >>> found.posteriors[0].round(3).tolist(), round(found.factor, 3)
        ([0.206, 0.794], 2.333)
    """
    table = row_table(channel)
    m, k = table.shape
    values = tuple(names) or tuple(str(x) for x in range(m))
    shown = tuple(outputs) or (values if k == m else tuple(f"output {y + 1}" for y in range(k)))
    for field, given, right in (("names", values, m), ("outputs", shown, k)):
        if len(given) != right:
            raise InvalidInput(field, f"{len(given)} names", f"must be {right}")
    joint = mean_law(prior, m)[:, None] * table
    total = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        posteriors = (joint / total).T
        ratios = np.where(table.max(axis=0) > 0, table.max(axis=0) / table.min(axis=0), 0.0)
    output = int(np.argmax(ratios))
    return ReportMeanings(names=values, outputs=shown, probabilities=total, posteriors=posteriors,
                          worst=(output, int(table[:, output].argmax()), int(table[:, output].argmin())),
                          factor=float(ratios[output]))

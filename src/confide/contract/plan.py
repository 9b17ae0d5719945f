"""Plans: the mechanism that a planner chose, its promises, and the figures on which the choice is based."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from confide.contract.guarantees import Guarantees, in_full
from confide.contract.presentation import Picture, Shown, Table, Text
from confide.contract.wire import wire_name
from confide.contract.words import json_ready

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Alternative", "Plan", "Predicted"]


class _Guaranteed(Protocol):
    """The smallest interface that a planned mechanism must have. Channels are not run on everybody's records, so a plan
    cannot require a full mechanism.
    """

    def guarantees(self) -> Guarantees: ...


_M_co = TypeVar("_M_co", bound=_Guaranteed, covariant=True)


class Predicted(NamedTuple):
    """A figure that is predicted for a run from public facts alone.

    Args:
        value: the figure; infinite or not a number if nothing is known.
        unit: the unit of the figure, such as "share of the records"; empty for a plain number.
        basis: the origin of the figure: "exact", "bound", "simulated" on simulated people, or "rule of thumb".
    """

    value: float
    unit: str = ""
    basis: str = "exact"


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A method or mechanism that could run in place of the planned one.

    Args:
        name: the name of the method or the mechanism.
        predicted: mapping from name to figure, with the names of the plan's own figures. Unknown figures are missing.
        refused: the reason why the alternative cannot run or was not chosen; empty for the chosen alternative.
        mechanism: the mechanism, ready to run; None if it cannot run, or if the alternative only gives figures for
            comparison.
    """

    name: str
    predicted: Mapping[str, Predicted] = field(default_factory=dict)
    refused: str = ""
    mechanism: Any = field(default=None, repr=False)


class Plan(Shown, ABC, Generic[_M_co]):
    """A mechanism with settings that a planner chose from public facts, and the figures that are predicted for its run.

    A subclass is a frozen dataclass with the field `mechanism`. Nothing in a plan depends on anybody's data. A plan
    prints its figures and warnings; in a notebook it also shows its alternatives and promises.
    """

    if TYPE_CHECKING:  # a property that ran would be taken for the default of the subclass's field

        @property
        def mechanism(self) -> _M_co:
            """The planned mechanism, ready to run."""

    @property
    def guarantees(self) -> Guarantees:
        """Every promise of the mechanism."""
        return self.mechanism.guarantees()

    @property
    @abstractmethod
    def predicted(self) -> Mapping[str, Predicted]:
        """Mapping from the name of a figure to the figure that is predicted for a run. Plans are compared by the first
        figure.
        """

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The methods and mechanisms that were compared, the best first."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that the operator has to know before a run, one sentence each."""
        return ()

    @property
    def _name(self) -> str:
        """The name of the planned mechanism, as a table cell."""
        return wire_name(self.mechanism)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary: first the keys that every plan has, then the keys of the plan's own class."""
        return {
            "mechanism": self._name, "predicted": _listed(self.predicted),
            "alternatives": [{"name": each.name, "predicted": _listed(each.predicted), "refused": each.refused}
                             for each in self.alternatives],
            "warnings": list(self.warnings), "guarantees": self.guarantees.to_dict(), **json_ready(self._own_figures())}

    def _own_figures(self) -> Mapping[str, Any]:
        """Further entries of this family's dictionary: numbers, texts, arrays, sequences and mappings."""
        return {}

    @abstractmethod
    def plot(self) -> Picture:
        """A picture of the choice, for a notebook or a report."""

    def table(self) -> Table:
        """The plan and its alternatives as a small table, with one row for the plan and for each alternative, and one
        column for each figure.
        """
        here = Alternative(name=self._name, predicted=self.predicted)
        rows = [here, *self.alternatives]
        names = list(dict.fromkeys(name for each in rows for name in each.predicted))
        units = {name: next(each.predicted[name].unit for each in rows if name in each.predicted) for name in names}
        columns = ("method", *(f"{name} ({units[name]})" if units[name] else name for name in names), "why not")
        return Table(columns=columns, rows=tuple(
            (each.name, *(_shown(each.predicted.get(name)) for name in names), each.refused) for each in rows),
            note="The first row is the plan. " + " ".join(dict.fromkeys(
                f"{name}: {figure.basis}." for name, figure in self.predicted.items())))

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `table` as a data frame; an unknown figure is a missing value.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas as pd

        shown = self.table()
        return pd.DataFrame(list(shown.rows), columns=list(shown.columns))

    def _blocks(self) -> Sequence[Text | Table]:
        figures = tuple((name, _shown(each), each.unit, each.basis) for name, each in self.predicted.items())
        return (Text((f"{type(self).__name__}: {self._name}",)),
                Table(columns=("predicted", "value", "unit", "basis"), rows=figures),
                *([Text(tuple(f"Warning: {each}" for each in self.warnings))] if self.warnings else []))

    def _repr_html_(self) -> str:
        warnings = "".join(f"<li>{html.escape(each)}</li>" for each in self.warnings)
        promises = "".join(f"<li>{html.escape(in_full(each))}</li>" for each in self.guarantees)
        return self.table().to_html() + f"<ul>{promises}</ul>" + f"<p>Warnings</p><ul>{warnings}</ul>" * bool(warnings)


def _shown(figure: Predicted | None) -> float | None:
    return None if figure is None or math.isnan(figure.value) else figure.value


def _listed(figures: Mapping[str, Predicted]) -> dict[str, dict[str, Any]]:
    return {name: json_ready(each._asdict()) for name, each in figures.items()}

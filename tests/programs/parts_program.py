"""A family for tests: goods of which everybody takes a part, so that contributions are no whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from confide.programs import Constants, Program, UnitDemand
from confide.programs.grids import LOAD_UNIT, loads_up


@dataclass(frozen=True)
class Parts(UnitDemand):
    """Unit demand where good j takes `parts[j]` of its row."""

    parts: tuple[float, ...] = field(default=(), kw_only=True)

    scale = LOAD_UNIT  # type: ignore[assignment]

    @cached_property
    def constants(self) -> Constants:
        entry = 1.0 + 1.0 / LOAD_UNIT
        return replace(super().constants, largest_entry=entry, largest_sum=entry, least_entry=0.1)

    @property
    def _loads(self):  # type: ignore[no-untyped-def]
        return loads_up(self.parts)

    def respond(self, records, prices):  # type: ignore[no-untyped-def]
        utility = records.worth.astype(np.int64) * self.scale - prices * self._loads
        best = utility.argmax(axis=1)
        return np.where(utility.max(axis=1) > 0, best, -1).astype(np.int32)[:, None]

    def load(self, records, actions):  # type: ignore[no-untyped-def]
        return self.contributions(records, actions).sum(axis=0)

    def load_at(self, records, prices):  # type: ignore[no-untyped-def]
        return Program.load_at(self, records, prices)

    def contributions(self, records, actions):  # type: ignore[no-untyped-def]
        return super().contributions(records, actions) // LOAD_UNIT * self._loads

    def respond_along(self, records, prices):  # type: ignore[no-untyped-def]
        return Program.respond_along(self, records, prices)

    def weighted_load(self, records, actions, times):  # type: ignore[no-untyped-def]
        return Program.weighted_load(self, records, actions, times)

    def paid(self, records, actions, prices):  # type: ignore[no-untyped-def]
        return Program.paid(self, records, actions, prices)


@dataclass(frozen=True)
class Unpriced(UnitDemand):
    """Unit demand that says it is no packing program."""

    @cached_property
    def constants(self) -> Constants:
        return replace(super().constants, packing=False)

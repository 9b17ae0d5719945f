"""The plan of a campaign that shares by a program, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.campaign.kinds.programs.config import MODES, ModeName, ProgramConfig, coding_of, with_alpha
from confide.campaign.kinds.skeleton import ShownPlan
from confide.contract.errors import InvalidInput, Refused
from confide.contract.replanned import in_keys
from confide.contract.wire import wire_name
from confide.privacy.groups import SIZES
from confide.privacy.noise import Noise
from confide.programs.dude import Dude
from confide.programs.instances import made_up
from confide.programs.planning import Mode, ProgramPlan, plan
from confide.programs.slots import Coding, collected
from confide.tables.slot_rows import SlotRows

__all__ = ["CROWDS", "SharingPlan", "part_of_another", "plan_of"]

CROWDS = 3
"""Made up, each with people and noise of its own: what one more identity is handed is measured on them."""

_MOST_CELLS = 20_000_000  # people x rows x rounds, up to which a run on made-up people is made
_PLACES = {"epsilon": "privacy.epsilon", "delta": "privacy.delta", "failure_probability": "privacy.failure_probability",
           "neighbours": "privacy.neighbours", "program": "solution.mode", "people": "people.count"}

_KEYS = {"epsilon": "privacy.epsilon", "rounds": "solution.rounds", "burn_in": "solution.burn_in"}
"""What the planner calls a setting -> its key in the file."""

_NAMES = {name: f"mode {mode!r}" for mode, name in MODES.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class SharingPlan(ShownPlan):
    """A mechanism with the names of its campaign.

    Args:
        config: the configuration of the file.
        coding: the program in its own names.
        mode: the form of everybody's share.
        outlook: the expected results at these sizes.
        ran: the mechanism of an outcome that is shown; where none is, the planned one is meant.
    """

    config: ProgramConfig
    coding: Coding
    mode: ModeName
    outlook: ProgramPlan
    ran: Dude | None = field(default=None)

    @property
    def mechanism(self) -> Dude:
        """The mechanism that will run, or that ran."""
        return self.outlook.mechanism if self.ran is None else self.ran

    @property
    def whole(self) -> bool:
        """Whether everybody gets one whole part, and rows are kept."""
        return self.mode in ("round", "tight", "audited")

    @property
    def charges(self) -> bool:
        """Whether prices are charged."""
        return getattr(self.mechanism, "alpha", None) is not None

    @cached_property
    def reserve(self) -> NDArray[np.float64]:
        """The reserve of each row, shape (k,), in the file's own units; zeros of averages."""
        return np.asarray(self.mechanism.reserve * self.coding.load_units)

    @cached_property
    def another(self) -> tuple[float, float] | None:
        """The average share of one more identity on made-up people, and its standard error; see `part_of_another`."""
        return part_of_another(self)

    @cached_property
    def others(self) -> tuple[tuple[ModeName, ProgramPlan | str], ...]:
        """Every mode at these sizes, or why it is refused: the planned one as it is, others with their usual settings,
        and with the file's alpha where there is one and they charge.
        """
        found, alpha = list[tuple[ModeName, ProgramPlan | str]](), self.config.solution.alpha
        for mode in MODES:
            try:
                found.append((mode, self.outlook if mode == self.mode else _outlook(
                    self.config, self.coding, mode, with_alpha(mode, alpha))))
            except (InvalidInput, Refused) as error:
                found.append((mode, error.problem if isinstance(error, InvalidInput) else error.reason))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        it, unit = self.mechanism, self.coding.unit
        return {"family": self.config.program.family, "mode": self.mode, "mechanism": wire_name(it),
                "epsilon": it.epsilon, "delta": it.delta, "rows": list(self.coding.rows),
                "supply": self.coding.supplies.tolist(), "reserve": self.reserve.tolist(),
                "people": it.program.people, "needed_rounds": list(self.outlook.needed_rounds),
                **{name: getattr(self.outlook, name) for name in (
                    "noise_std", "expected_excess", "certified_excess", "excess_share", "unused_share", "settles",
                    "vacuous")},
                "alpha": it.alpha * unit if self.charges else None,  # type: ignore[attr-defined]
                "gain": it.gain * unit if self.charges else None,
                "gain_of_groups": {str(size): it.gain_of(size) * unit for size in SIZES}  # type: ignore[attr-defined]
                if self.charges else None, "unit": self.coding.worth,
                "rounds": it.rounds, "burn_in": it.burn_in}


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
@in_keys(_KEYS)
def plan_of(config: ProgramConfig, pages: Any) -> SharingPlan:
    """The plan of a file.

    Raises:
        InvalidInput: a key out of range.
        Refused: noise or margins that leave too little of the supply.
    """
    coding = coding_of(config)
    mode: ModeName = config.solution.mode or ("audited" if coding.program.constants.packing else "average")
    options = config.solution.options(mode)
    return SharingPlan(config=config, coding=coding, mode=mode, outlook=_outlook(config, coding, mode, options),
                       pages=pages)


def _outlook(config: ProgramConfig, coding: Coding, mode: ModeName, options: Mapping[str, Any]) -> ProgramPlan:
    """What to expect of a mode; refuses hopeless ones. Nothing is timed: a plan is the same on every machine.

    An alpha of the file is in the file's own unit.
    """
    privacy, solution = config.privacy, config.solution
    name: Mode = MODES[mode]  # type: ignore[assignment]
    scaled = {"alpha": options["alpha"] / coding.unit} if "alpha" in options else {}
    try:
        found = plan(coding.program, mode=name, **privacy.model_dump(), most_excess=solution.most_excess,
                     most_unused=solution.most_unused, timed=False,
                     load_units=coding.load_units.tolist(), mode_names=_NAMES,
                     row_names=[repr(row) for row in coding.rows], **{**options, **scaled})
        _ = found.mechanism  # refuses margins that leave nothing
    except InvalidInput as error:
        raise _placed(error, coding) from None
    return found


def _placed(error: InvalidInput, coding: Coding) -> InvalidInput:
    """The same of a key of the file."""
    place = error.field if "." in error.field else _PLACES.get(error.field, f"solution.{error.field}")
    if error.field == "alpha" and coding.unit != 1.0:
        return InvalidInput(place, error.problem, f"{error.limit}, times {coding.unit:g} {coding.worth}")
    return InvalidInput(place, error.problem, error.ways)


def part_of_another(plan: SharingPlan) -> tuple[float, float] | None:
    """The average share of an identity over all people, in value less its price, at the prices of made-up crowds.

    A second identity with the record of somebody drawn from such a crowd is handed about as much; one of a given
    person more or less, by the record.

    Returns:
        In units of value, the mean over crowds and its standard error, each crowd with its own people and noise; None
        where a run of the plan's size takes long.
    """
    it = plan.mechanism
    if it.program.people * it.program.rows * it.rounds > _MOST_CELLS:
        return None
    found = list[float]()
    for seed in range(1, CROWDS + 1):
        records = collected(it.program, iter([SlotRows(np.arange(it.program.people), made_up(it.program, seed))]))
        reported: Any = it.run(records, Noise.simulated(seed)).diagnostics
        found.append((float(reported["value"]) - float(reported.get("paid", 0.0))) / it.program.people)
    return float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(CROWDS))

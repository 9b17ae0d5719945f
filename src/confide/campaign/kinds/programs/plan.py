"""The plan of a campaign that shares resources by a program, from public parameters alone."""

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
"""Number of synthetic populations on which the gain from a second identity is measured. Each population has other
people and other noise.
"""

_MOST_CELLS = 20_000_000  # people x rows x rounds, up to which a run on made-up people is made
_PLACES = {"epsilon": "privacy.epsilon", "delta": "privacy.delta", "failure_probability": "privacy.failure_probability",
           "neighbours": "privacy.neighbours", "program": "solution.mode", "people": "people.count"}

_KEYS = {"epsilon": "privacy.epsilon", "rounds": "solution.rounds", "burn_in": "solution.burn_in"}
"""Mapping from the planner's name of a setting to its key in the campaign file."""

_NAMES = {name: f"mode {mode!r}" for mode, name in MODES.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class SharingPlan(ShownPlan):
    """The plan of a campaign that shares resources by a convex program: the mechanism, the names in the campaign file,
    and the expected results.

    Args:
        config: tables of the campaign file.
        coding: convex program, with the names and the unit of value that the campaign file uses.
        mode: form of each participant's share, such as "average" over rounds.
        outlook: expected results at the campaign's size.
        ran: mechanism that made the outcome of a run; None before a run, when `mechanism` is the planned mechanism.
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
        """Whether each participant gets one whole action, such as a good or a path, and not an average over rounds."""
        return self.mode in ("round", "tight", "audited")

    @property
    def charges(self) -> bool:
        """Whether participants pay the prices of their shares."""
        return getattr(self.mechanism, "alpha", None) is not None

    @cached_property
    def reserve(self) -> NDArray[np.float64]:
        """The part of the supply that the mechanism holds in reserve for each of the k constraints, shape (k,), in the
        file's own units; 0 for average shares.
        """
        return np.asarray(self.mechanism.reserve * self.coding.load_units)

    @cached_property
    def another(self) -> tuple[float, float] | None:
        """The average net value, that is value less price, of one more identity on synthetic populations, and the
        standard error of this average; see `part_of_another`.
        """
        return part_of_another(self)

    @cached_property
    def others(self) -> tuple[tuple[ModeName, ProgramPlan | str], ...]:
        """Each mode with its expected results at the campaign's size, or with the reason why the mode is refused.

        The mode of the file keeps the settings of the file. Every other mode has its usual settings and, where the mode
        may charge prices, the file's alpha.
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
    """The plan of a `program` campaign file. The argument `pages` is an object with the functions that write the pages:
    see `ShownPlan`.

    Raises:
        InvalidInput: a key is out of range.
        Refused: at this size and epsilon, noise or reserves leave too little of the supply.
    """
    coding = coding_of(config)
    mode: ModeName = config.solution.mode or ("audited" if coding.program.constants.packing else "average")
    options = config.solution.options(mode)
    return SharingPlan(config=config, coding=coding, mode=mode, outlook=_outlook(config, coding, mode, options),
                       pages=pages)


def _outlook(config: ProgramConfig, coding: Coding, mode: ModeName, options: Mapping[str, Any]) -> ProgramPlan:
    """The expected results of a mode. A mode whose reserves leave nothing of the supply is refused. No running time is
    measured, so a plan is the same on every machine.

    The campaign file states alpha in its own unit, and the function converts this option to the unit of the program.
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
    """An error about a parameter, turned into one about the key of the campaign file that sets the parameter."""
    place = error.field if "." in error.field else _PLACES.get(error.field, f"solution.{error.field}")
    if error.field == "alpha" and coding.unit != 1.0:
        return InvalidInput(place, error.problem, f"{error.limit} times {coding.unit:g} {coding.worth}")
    return InvalidInput(place, error.problem, error.ways)


def part_of_another(plan: SharingPlan) -> tuple[float, float] | None:
    """The average net value of a share, that is its value less its price, over all people of synthetic populations.

    A second identity with the record of a random member of a synthetic population gains about this average. With
    another record, the gain may be larger or smaller.

    Returns:
        The mean over populations and the standard error of this mean, in units of value, where 1 is the highest value.
        Each synthetic population has other people and other noise. The result is None where a run of the plan's size
        takes too long.
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

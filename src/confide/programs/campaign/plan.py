"""What a campaign that shares by a program would give, from public parameters alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Guarantees
from confide.contract.presentation import Section
from confide.programs.campaign.coding import Coding
from confide.programs.campaign.config import MODES, ModeName, ProgramConfig, coding_of
from confide.programs.dude import Dude
from confide.programs.planning import Mode, ProgramPlan, plan
from confide.programs.priv_dude import PrivDude
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit
from confide.programs.true_dude import TrueDude

__all__ = ["SharingPlan", "plan_of"]

_MAKERS: Mapping[ModeName, type[Dude]] = {
    "average": PrivDude, "round": RoundDude, "truthful": TrueDude, "tight": TightDude, "audited": TightenAndAudit}
_OF_PATH = ("rounds", "burn_in", "burn_share", "step", "law")
_ALPHA = 0.01
_PLACES = {"epsilon": "privacy.epsilon", "delta": "privacy.delta", "beta": "privacy.beta",
           "neighbours": "privacy.neighbours", "program": "solution.mode", "people": "people.count"}


@dataclass(frozen=True, kw_only=True, eq=False)
class SharingPlan:
    """A mechanism with the names of its campaign.

    Args:
        mechanism: that will run.
        config: of the file.
        coding: its program in its own names.
        mode: what everybody gets.
        outlook: what to expect of it at these sizes.
    """

    mechanism: Dude
    config: ProgramConfig
    coding: Coding
    mode: ModeName
    outlook: ProgramPlan

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    @property
    def whole(self) -> bool:
        """Whether everybody gets one whole part, and rows are kept."""
        return self.mode in ("round", "tight", "audited")

    @property
    def charges(self) -> bool:
        """Whether prices are charged."""
        return getattr(self.mechanism, "alpha", None) is not None

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """(k,) what is kept back of each row, in the file's own units; zeros of averages."""
        return np.asarray(self.mechanism.kept_back * self.coding.load_units)

    @cached_property
    def others(self) -> tuple[tuple[ModeName, ProgramPlan | str], ...]:
        """Every mode at these sizes, with what is usual for it; or why it is refused."""
        found = list[tuple[ModeName, ProgramPlan | str]]()
        for mode in MODES:
            try:
                found.append((mode, _outlook(self.config, self.coding, mode, {}, {})))
            except (InvalidInput, Refused) as error:
                found.append((mode, error.problem if isinstance(error, InvalidInput) else error.reason))
        return tuple(found)

    def sections(self) -> Sequence[Section]:
        from confide.programs.campaign.pages_before import plan_sections

        return plan_sections(self)

    def offer(self) -> Sequence[Section]:
        from confide.programs.campaign.pages_before import offer_sections

        return offer_sections(self)

    def to_dict(self) -> dict[str, Any]:
        it = self.mechanism
        return {"family": self.config.program.family, "mode": self.mode, "mechanism": type(it).__name__,
                "epsilon": it.epsilon, "delta": it.delta, "rows": list(self.coding.rows),
                "supply": self.coding.supplies.tolist(), "margins": self.margins.tolist(),
                **{name: value for name, value in self.outlook.to_dict().items()
                   if name in ("people", "averaged", "expected_excess", "certified_excess", "excess_share",
                               "unused_share", "settles", "needed_rounds", "vacuous")},
                "gain": it.gain if self.charges else None, "rounds": it.rounds, "burn_in": it.burn_in}


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def plan_of(config: ProgramConfig) -> SharingPlan:
    """The plan of a file.

    Raises:
        InvalidInput: a key out of range.
        Refused: noise or margins that leave too little of the supply.
    """
    coding = coding_of(config)
    mode: ModeName = config.solution.mode or ("audited" if coding.program.constants.packing else "average")
    options = config.solution.options(mode)
    path = {name: options.pop(name) for name in _OF_PATH if name in options}
    outlook = _outlook(config, coding, mode, path, options)
    privacy = config.privacy
    settings = {**path, "rounds": outlook.path.rounds, "burn_in": outlook.path.burn_in, "beta": privacy.beta,
                "neighbours": privacy.neighbours, **options}
    try:
        mechanism = _MAKERS[mode](coding.program, privacy.epsilon, privacy.delta, **settings)
    except InvalidInput as error:
        raise _placed(error) from None
    return SharingPlan(mechanism=mechanism, config=config, coding=coding, mode=mode, outlook=outlook)


def _outlook(
    config: ProgramConfig, coding: Coding, mode: ModeName, path: Mapping[str, Any], options: Mapping[str, Any]
) -> ProgramPlan:
    """What to expect of a mode; refuses hopeless ones. Nothing is timed: a plan is the same on every machine."""
    privacy, solution = config.privacy, config.solution
    name: Mode = MODES[mode]  # type: ignore[assignment]
    try:
        return plan(coding.program, privacy.epsilon, privacy.delta, name, alpha=options.get("alpha", _ALPHA),
                    most_excess=solution.most_excess, most_unused=solution.most_unused, timed=False,
                    beta=privacy.beta, neighbours=privacy.neighbours, **path)
    except InvalidInput as error:
        raise _placed(error) from None


def _placed(error: InvalidInput) -> InvalidInput:
    place = error.field if "." in error.field else _PLACES.get(error.field, f"solution.{error.field}")
    return InvalidInput(place, error.problem, error.limit)

"""What a run on reports of devices publishes and pays: shares beside decodes, billboards beside the check, and what all
others see of what one device was told. Families bring their rounds, their runs and their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from confide.audit.report import AuditRow, Concern
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import SimulatedOutcome
from confide.privacy.noise import Noise

__all__ = ["CHECKED", "DECODED", "JOINTLY", "MadeUpRun", "checked_row", "decoded_row", "refused_row"]

DECODED = "people whose own device finds another share than the run gave them"
CHECKED = "billboards of its runs that a verifier would call forged"
JOINTLY = "privacy: everything that others see of a run, jointly"


@dataclass(frozen=True, kw_only=True)
class MadeUpRun:
    """One run on made-up people, under simulated noise.

    Args:
        people: as they were made up.
        outcome: of the run.
    """

    people: Any
    outcome: SimulatedOutcome

    @classmethod
    def of(cls, mechanism: Mechanism, people: Any, data: Any, seed: int) -> MadeUpRun:
        """Run a mechanism.

        Args:
            mechanism: what runs.
            people: as they were made up.
            data: what a run takes of them.
            seed: of the noise.
        """
        outcome = mechanism.run(data, Noise.simulated(seed))
        if not isinstance(outcome, SimulatedOutcome):
            raise InvalidInput("outcome", "is a release", "an audit is made with simulated noise")
        return cls(people=people, outcome=outcome)

    @property
    def board(self) -> Any:
        return self.outcome.billboard

    def handing(self, shares: pa.Table) -> MadeUpRun:
        """The same run, with other shares handed out."""
        return replace(self, outcome=replace(self.outcome, shares=shares))

    def handed_on(self) -> MadeUpRun:
        """The same run, with each share handed to the next person."""
        shares = self.outcome.shares
        return self.handing(shares.take(np.roll(np.arange(shares.num_rows), 1)))

    def places(self, most: int) -> list[int]:
        """So many of its people at most, evenly from the first to the last."""
        last = self.outcome.shares.num_rows - 1
        return [int(place) for place in np.unique(np.linspace(0, last, min(most, last + 1)).astype(np.int64))]


def decoded_row(
    rounds: Iterable[tuple[Any, Mapping[int, Any]]], decode: Callable[[Any, int, Any], Mapping[str, Any]], of: str
) -> AuditRow:
    """Whether shares are those that devices find for themselves.

    Args:
        rounds: outcomes, each with the places that are looked at and what the device there reported, or None.
        decode: (report, place, billboard) -> share.
        of: what the rounds are made of, in words.
    """
    wrong = tried = 0
    for outcome, reported in rounds:
        places = list(reported)
        for place, share in zip(places, outcome.shares.take(pa.array(places)).to_pylist(), strict=True):
            wrong += dict(decode(reported[place], place, outcome.billboard)) != share
            tried += 1
    return AuditRow.at_most(DECODED, 0.0, float(wrong), f"{tried:,} decodes of runs on made-up {of}",
                            unit="people", concern=Concern.ACCURACY)


def checked_row(rounds: Iterable[tuple[Any, bool]], check: Callable[[Any], None], of: str) -> AuditRow:
    """Whether billboards of sound runs pass their own check and name the sums that were reported.

    Args:
        rounds: billboards, each with whether it names these sums.
        check: of a billboard.
        of: what the rounds are made of, in words.
    """
    refused = runs = 0
    for board, agrees in rounds:
        runs += 1
        try:
            check(board)
        except InvalidInput:
            refused += 1
        else:
            refused += not agrees
    return AuditRow.at_most(CHECKED, 0.0, float(refused),
                            f"its own check, and the sums of {runs} runs on made-up {of}", unit="runs",
                            concern=Concern.ACCURACY)


def refused_row(boards: Iterable[Any], check: Callable[[Any], None]) -> AuditRow:
    """Whether billboards of sound runs on made-up people pass their own check.

    Args:
        boards: of the runs.
        check: of a billboard.
    """
    refused = runs = 0
    for board in boards:
        runs += 1
        try:
            check(board)
        except InvalidInput:
            refused += 1
    return AuditRow.at_most(CHECKED, 0.0, float(refused), f"{runs} runs on made-up people", unit="billboards",
                            concern=Concern.ACCURACY)

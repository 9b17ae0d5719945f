"""A campaign from its file: plan, offer, collect, settle, share, study, audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from confide.campaign import settlement
from confide.campaign.file import CampaignFile, load
from confide.contract.errors import Refused
from confide.contract.kinds import Collection, Plan, Progress
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.presentation import Section
from confide.privacy.ledger import Ledger

__all__ = ["Campaign"]


@dataclass(frozen=True, eq=False)
class Campaign:
    """One campaign and everything that can be done with it.

    Args:
        file: the validated campaign file.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from confide.contract import kind
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "sleep.toml"
        ...     _ = path.write_text(kind("regression").template)
        ...     campaign = Campaign.load(path)
        >>> campaign.plan.guarantees.privacy[0].loss
        PureDP(epsilon=1.5)
    """

    file: CampaignFile

    @classmethod
    def load(cls, path: str | Path) -> Campaign:
        """Read a campaign file; errors name the key."""
        return cls(load(path))

    @property
    def default_folder(self) -> Path:
        """`out/NAME` in the working directory."""
        return Path("out") / self.file.name

    @cached_property
    def plan(self) -> Plan:
        """What it would give, from public parameters alone; refuses hopeless settings.

        Raises:
            Refused: no setting of these sizes keeps the promise, or the campaign's own `[budget]` does not admit it.
        """
        found = self.file.kind.plan(self.file.config)
        settlement.charge(self.file, found, Ledger())  # on a ledger of its own: a plan that can never run is no plan
        return found

    def offer(self) -> Sequence[Section]:
        """The plan as a participant reads it."""
        return self.plan.offer()

    def collect(self, progress: Progress | None = None) -> Collection:
        """Read the records that the file names, one per participant."""
        return self.file.kind.collect(self.file.config, self.plan, self.file.folder, progress)

    def settle(
        self, folder: Path | None = None, *, ledger: Ledger | None = None, progress: Progress | None = None
    ) -> settlement.Settled:
        """Charge, run with secure noise, publish; once. A settled campaign returns its stored outcome."""
        folder = folder or self.default_folder
        before = settlement.stored(self.file, folder)
        if before is not None:
            return settlement.Settled(outcome=before, folder=folder, fresh=False)
        return settlement.settle(self.file, self.plan, self.collect(progress), folder, ledger or Ledger())

    def study(
        self, seed: int, folder: Path | None = None, *, progress: Progress | None = None
    ) -> tuple[SimulatedOutcome, Sequence[Section]]:
        """The same run under simulated noise, beside what it would be without privacy. Never a release."""
        collection = self.collect(progress)
        folder = folder or self.default_folder.with_name(f"{self.file.name}-study")
        outcome = settlement.simulate(self.plan, collection, folder, seed)
        return outcome, self.file.kind.study(self.plan, collection, outcome)

    def settled(self, folder: Path | None = None) -> Outcome:
        """The stored outcome.

        Raises:
            Refused: the campaign has not been settled there.
        """
        folder = folder or self.default_folder
        outcome = settlement.stored(self.file, folder)
        if outcome is None:
            raise Refused(f"{self.file.name} is not settled in {folder}", f"run `confide run {self.file.path}` first")
        return outcome

    def share(self, identity: str, folder: Path | None = None) -> Sequence[Section]:
        """What one participant gets and why, decoded from her record and the billboard."""
        outcome = self.settled(folder)
        record, index = self.file.kind.record(self.file.config, self.plan, self.file.folder, identity)
        return self.file.kind.explain(self.plan, outcome, record, index)

    def audit(self, seed: int = 0, progress: Progress | None = None) -> Any:
        """Promised against measured, with planted-bug controls; uses no participant's record."""
        return self.file.kind.audit(self.plan, seed, progress)

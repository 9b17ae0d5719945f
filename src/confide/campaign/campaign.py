"""A campaign from its file: plan, offer, check, collect, settle, share, study, audit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from confide.campaign import settlement
from confide.campaign.file import CampaignFile, load
from confide.campaign.folder import check_place, leftovers, write_rejected
from confide.campaign.stored import public, settled_elsewhere, stored, unsettled
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import as_path
from confide.contract.kinds import Check, Collection, Plan, Progress
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
    def load(cls, path: str | os.PathLike[str]) -> Campaign:
        """Read a campaign file; errors name the key."""
        return cls(load(path))

    @property
    def default_folder(self) -> Path:
        """`out/NAME` in the working directory."""
        return Path("out") / self.file.name

    @property
    def study_folder(self) -> Path:
        """`out/NAME-study` in the working directory."""
        return self.default_folder.with_name(f"{self.file.name}-study")

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

    def check(self, progress: Progress | None = None) -> Check:
        """The operator's look at the records before a run; private, whatever it shows. Nothing is charged or written.

        What it shows must not change the campaign: bounds that follow from records are not covered by its promises.
        """
        return self.file.kind.check(self.file.config, self.plan, self.file.folder, progress)

    def list_rejected(self, found: Check, folder: str | os.PathLike[str] | None = None) -> Path:
        """Write a check's list of rejected records to `operator/rejected.csv`, which its owner alone may read.

        Args:
            found: what `check` returned.
            folder: where the campaign will be settled; the settlement writes a list of its own in its place.

        Raises:
            InvalidInput: the folder holds something else.
        """
        place = self._place(folder)
        check_place(place)
        leftovers(place)
        return write_rejected(place, found.rejected)

    def settle(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        again: bool = False,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ) -> settlement.Settled:
        """Charge, run with secure noise, publish; once per folder. A settled campaign returns its stored outcome.

        Args:
            folder: where the outcome goes; default `out/NAME` in the working directory. Another folder is a second
                release of the same records, and costs epsilon again.
            again: a second release is meant, although the campaign is settled in a usual place.
            ledger: charged before any record is read; default a new one, which knows no other campaign or run.
            progress: told how far it is.

        Raises:
            Refused: it is settled in another usual place (`out/NAME` here, beside the campaign file or above it), and
                not `again`.
        """
        place = self._place(folder)
        before = settlement.settled(self.file, self.plan, place)
        if before is not None:
            return before
        if not again and (elsewhere := settled_elsewhere(self.file, place)) is not None:
            raise Refused(f"{self.file.name} is settled in {elsewhere}: settling it in {place} too is a second "
                          "release, and costs epsilon again",
                          "use that outcome, or say with --again that a second release is meant")
        return settlement.settle(self.file, self.plan, self.collect(progress), place, ledger or Ledger())

    def study(
        self, seed: int, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
    ) -> tuple[SimulatedOutcome, Sequence[Section]]:
        """The same run under simulated noise, beside what it would be without privacy. Never a release.

        It uses private data, and so does everything that it writes: its folder is readable by its owner alone.
        """
        collection = self.collect(progress)
        place = self.study_folder if folder is None else as_path("folder", folder)
        outcome = settlement.simulate(self.file, self.plan, collection, place, seed)
        return outcome, self.file.kind.study(self.plan, collection, outcome)

    def settled(self, folder: str | os.PathLike[str] | None = None) -> Outcome:
        """The stored outcome.

        Raises:
            Refused: the campaign has not been settled there.
        """
        place = self._place(folder)
        outcome = stored(self.file, place)
        if outcome is None:
            raise unsettled(self.file, place)
        return outcome

    def tables(self, folder: str | os.PathLike[str] | None = None) -> Mapping[str, pa.Table]:
        """The public result of the settled campaign in natural units, such as `tables()["coefficients"]`.

        Raises:
            Refused: the campaign has not been settled there.
        """
        return self.file.kind.tables(self.plan, self.settled(folder))

    def share(
        self,
        identity: str | int,
        folder: str | os.PathLike[str] | None = None,
        *,
        record: Mapping[str, str] | None = None,
    ) -> Sequence[Section]:
        """What one participant gets and why, decoded from her record and the billboard.

        Args:
            identity: her id.
            folder: where the campaign was settled; default `out/NAME` in the working directory.
            record: her record, column -> value. With it, nothing but the campaign file and the public files of the
                folder is read; without it, her record is looked up in the file that the campaign names.

        Raises:
            Refused: the campaign has not been settled there.
        """
        place, kind, config = self._place(folder), self.file.kind, self.file.config
        if record is None:
            outcome = self.settled(place)
            return kind.explain(self.plan, outcome, *kind.record(config, self.plan, self.file.folder, str(identity)))
        if not isinstance(record, Mapping):
            raise InvalidInput("record", f"{type(record).__name__} is no record", "pass a mapping of column to value")
        shown = public(self.file, self.plan, place)
        return kind.explain(self.plan, shown, *kind.parse_record(config, self.plan, str(identity), record))

    def _place(self, folder: str | os.PathLike[str] | None) -> Path:
        return self.default_folder if folder is None else as_path("folder", folder)

    def audit(self, seed: int = 0, progress: Progress | None = None) -> Any:
        """Promised against measured, with planted-bug controls; uses no participant's record."""
        return self.file.kind.audit(self.plan, seed, progress)

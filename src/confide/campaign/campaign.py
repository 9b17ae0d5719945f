"""A campaign from its file: plan, offer, check, collect, settle, share, study, audit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from confide.campaign.file import CampaignFile, load
from confide.campaign.folder import write_rejected
from confide.campaign.stored import public
from confide.contract.errors import InvalidInput
from confide.contract.files import as_path
from confide.contract.kinds import Check, Collection, Plan, Progress
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.presentation import Section

if TYPE_CHECKING:
    from confide.campaign.settlement import Settled
    from confide.campaign.store import Store

__all__ = ["Campaign"]


@dataclass(frozen=True, eq=False)
class Campaign:
    """One campaign and everything that can be done with it.

    Where a method takes a `store`, the default is the installation's own.

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
        """`out/NAME` beside the campaign file."""
        return self.file.folder / "out" / self.file.name

    @property
    def study_folder(self) -> Path:
        """`out/NAME-study` beside the campaign file."""
        return self.default_folder.with_name(f"{self.file.name}-study")

    @cached_property
    def plan(self) -> Plan:
        """What it would give, from public parameters alone; refuses hopeless settings.

        Raises:
            Refused: no setting of these sizes keeps the promise, or the campaign's own `[budget]` does not admit it.
        """
        from confide.campaign.settlement import check_budget

        found = self.file.kind.plan(self.file.config)
        check_budget(self.file, found)  # a plan that can never run is no plan
        return found

    def offer(self) -> Sequence[Section]:
        """The plan as a participant reads it, with the fingerprint of the key that will sign the result."""
        from confide.campaign.home import Home
        from confide.campaign.pages import key_section

        return [*self.plan.offer(), key_section(Home.default().fingerprint)]

    def collect(self, progress: Progress | None = None) -> Collection:
        """Read the records that the file names, one per participant."""
        return self.file.kind.collect(self.file.config, self.plan, self.file.folder, progress)

    def check(self, progress: Progress | None = None) -> Check:
        """The operator's look at the records before a run; private, whatever it shows. Nothing is charged or written.

        What it shows must not change the campaign: bounds that follow from records are not covered by its promises.
        """
        return self.file.kind.check(self.file.config, self.plan, self.file.folder, progress)

    def list_rejected(self, found: Check, path: str | os.PathLike[str]) -> Path:
        """Write a check's list of rejected records to a file, which its owner alone may read.

        Args:
            found: what `check` returned.
            path: a new file; not in the folder of the outcome, which is public.

        Raises:
            InvalidInput: the file exists, or cannot be written.
        """
        return write_rejected(as_path("write", path), found.rejected)

    def settle(
        self, folder: str | os.PathLike[str] | None = None, *, store: Store | None = None,
        progress: Progress | None = None,
    ) -> Settled:
        """Collect, charge, run with secure noise, publish; once. A settled campaign returns its stored outcome.

        Args:
            folder: where the pack goes; default `out/NAME` beside the campaign file.
            store: of the campaign.
            progress: told how far the collection is.

        Raises:
            BudgetExceeded: the ledger does not admit it; no record was read.
        """
        from confide.campaign.settlement import settle

        return settle(self, store, folder, progress=progress)

    def study(
        self, seed: int, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
    ) -> tuple[SimulatedOutcome, Sequence[Section]]:
        """The same run under simulated noise, beside what it would be without privacy. Never a release.

        It uses private data, and so does everything that it writes: its folder is readable by its owner alone.
        """
        from confide.campaign.settlement import simulate

        collection = self.collect(progress)
        place = self.study_folder if folder is None else as_path("folder", folder)
        outcome = simulate(self.file, self.plan, collection, place, seed)
        return outcome, self.file.kind.study(self.plan, collection, outcome)

    def settled(self, *, store: Store | None = None) -> Outcome:
        """The stored outcome.

        Raises:
            Refused: the campaign has not been settled in this store.
        """
        from confide.campaign.settlement import stored_outcome

        return stored_outcome(self, store)

    def tables(self, *, store: Store | None = None) -> Mapping[str, pa.Table]:
        """The public result of the settled campaign in natural units, such as `tables()["coefficients"]`.

        Raises:
            Refused: the campaign has not been settled in this store.
        """
        return self.file.kind.tables(self.plan, self.settled(store=store))

    def share(
        self,
        identity: str | int,
        folder: str | os.PathLike[str] | None = None,
        *,
        record: Mapping[str, str] | None = None,
        store: Store | None = None,
    ) -> Sequence[Section]:
        """What one participant gets and why, decoded from her record and the billboard.

        Args:
            identity: her id.
            folder: where the pack lies; default `out/NAME` beside the campaign file. Read where a record is given.
            record: her record, column -> value. With it, nothing but the campaign file and the public files of the
                folder is read; without it, her record is looked up in the file that the campaign names.
            store: where the campaign was settled; asked where no record is given.

        Raises:
            Refused: the campaign has not been settled there.
        """
        kind, config = self.file.kind, self.file.config
        if record is None:
            outcome = self.settled(store=store)
            return kind.explain(self.plan, outcome, *kind.record(config, self.plan, self.file.folder, str(identity)))
        hers = self._parsed(identity, record)
        return kind.explain(self.plan, self._public(folder), *hers)

    def own_file(
        self, identity: str | int, folder: str | os.PathLike[str] | None = None, *, record: Mapping[str, str]
    ) -> dict[str, Any]:
        """A participant's record and share as one portable file of hers, which `verify` takes beside the pack.

        Args:
            identity: her id.
            folder: where the pack lies.
            record: her record, column -> value.
        """
        parsed, index = self._parsed(identity, record)
        shown = self._public(folder)
        return {"format": 1, "content": self.file.digest, "id": str(identity), "index": index,
                "record": dict(record), "share": dict(shown.mechanism.decode(parsed, index, shown.billboard))}

    def audit(self, seed: int = 0, progress: Progress | None = None) -> Any:
        """Promised against measured, with planted-bug controls; uses no participant's record."""
        return self.file.kind.audit(self.plan, seed, progress)

    def _public(self, folder: str | os.PathLike[str] | None) -> Any:
        return public(self.file, self.plan, self.default_folder if folder is None else as_path("folder", folder))

    def _parsed(self, identity: str | int, record: Mapping[str, str]) -> tuple[Any, int]:
        if not isinstance(record, Mapping):
            raise InvalidInput("record", f"{type(record).__name__} is no record", "pass a mapping of column to value")
        return self.file.kind.parse_record(self.file.config, self.plan, str(identity), record)

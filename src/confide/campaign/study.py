"""Studies of a campaign: the same run under simulated noise, for the owner of the data alone. A study is never a
release.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from confide.campaign.check import check_harm, may_stop
from confide.campaign.file import Planned
from confide.campaign.handing_in import collected
from confide.campaign.pack import check_place, earlier_study, fill, replace
from confide.campaign.store.home import Home
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Collection, LocalKind, PausingKind, Progress
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section
from confide.contract.running import as_data, ran
from confide.privacy.noise import Noise

__all__ = ["study"]


def study(
    campaign: Planned, folder: Path, seed: int, home: Home | None = None, *, progress: Progress | None = None,
    accept_unusable: bool = False,
) -> tuple[SimulatedOutcome, Sequence[Section]]:
    """Run with simulated noise, and compare the outcome with the outcome without noise: see `Campaign.study`.

    Args:
        campaign: the campaign to study.
        folder: the folder into which the study is written. The folder may hold an earlier study, which is replaced, and
            nothing else.
        seed: the seed of the simulated noise.
        home: the installation, in which a note is kept that the records were looked at; default `Home.default()`.
        progress: a function that receives the progress.
        accept_unusable: whether the study goes on even if too many rows of the operator's data file cannot be used.

    Raises:
        InvalidInput: too many rows of the file cannot be used, as in `settle`.
    """
    file, kind = campaign.file, campaign.kind
    if may_stop(campaign, None, None):
        check_harm(campaign, home, accept_unusable=accept_unusable)
    collection = collected(campaign, home, progress) if not isinstance(kind, LocalKind) else kind.rehearse(
        file.config, campaign.plan, file.folder, Noise.simulated(seed), progress)
    outcome = _simulated(campaign, collection, folder, seed, progress)
    return outcome, kind.study(campaign.plan, collection, outcome)


def _simulated(
    campaign: Planned, collection: Collection, folder: Path, seed: int, progress: Progress | None
) -> SimulatedOutcome:
    """Run with simulated noise, and write the outcome to its folder."""
    file, kind, plan = campaign.file, campaign.kind, campaign.plan
    check_place(folder)
    earlier_study(folder)
    noise = Noise.simulated(seed)
    if isinstance(kind, PausingKind):
        outcome = kind.play(file.config, plan, file.folder, as_data(collection), noise, None)
    else:
        outcome = ran(plan.mechanism, as_data(collection), noise, progress)
    if not isinstance(outcome, SimulatedOutcome):
        raise InvalidInput("outcome", "is a release", "a study is made with simulated noise")
    tables = kind.tables(plan, outcome)
    replace(folder, lambda draft: fill(draft, outcome, tables, collection.rejected),
            lambda: earlier_study(folder, tables.keys()), private=True)
    return outcome

"""Runs of a mechanism or a kind that is not confide's: one release for one charge, however often a run is begun.

Such a mechanism may fail by its own noisy answers, and such a kind by what it makes of an outcome. Were it begun again
with other noise, how often it failed would tell more than one run, and nobody would have charged that. So the noise of
its run is kept until the publication, as that of a run that waits (`confide.campaign.pausing`): the same run again
fails in the same way, for nothing, and one that a crash ended goes on with the same noise. Noise serves one run of one
code on one collection of records: with other code or other records nothing is run any more.

Only where somebody withdraws while a run goes on, and the run ends well, is its outcome forgotten unseen and the next
one drawn anew, as for confide's own mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from confide.campaign.own_code import code_digest, is_ours
from confide.campaign.pausing import kept_in, own_folder, void
from confide.campaign.planned import Planned
from confide.campaign.states import State
from confide.contract.errors import InvalidInput, Refused, StoreFailed
from confide.privacy.noise import JournalNoise, Noise
from confide.privacy.noise.given_noise import given

if TYPE_CHECKING:
    from confide.campaign.file import CampaignFile
    from confide.campaign.home import Home
    from confide.campaign.store import Store
    from confide.contract.kinds import CampaignPlan

__all__ = ["charged_code", "published", "run_noise", "same_code", "tried_before"]

_CODE, _WITHDRAWN = ("confide", "code"), ("confide", "withdrawn")


def charged_code(file: CampaignFile, plan: CampaignPlan) -> str:
    """The digest of the code of a mechanism and its kind; empty where both are confide's.

    Args:
        file: the campaign.
        plan: of it.

    Raises:
        InvalidInput: the code lies in no file.
    """
    return "" if is_ours(plan.mechanism, file.kind) else code_digest(plan.mechanism, file.kind)


def tried_before(file: CampaignFile, plan: CampaignPlan, home: Home) -> bool:
    """Whether the code of a campaign was charged as it is now, or its result is out: a trial comes too late.

    Args:
        file: the campaign.
        plan: of it.
        home: the installation, which notes what it has charged and released.
    """
    if home.released(file.digest) is not None:
        return True
    charged = home.charged(file.digest)
    return charged is not None and charged == charged_code(file, plan)


@contextmanager
def run_noise(campaign: Planned, store: Store, withdrawals: int) -> Iterator[Noise]:
    """The noise of a run: where the mechanism or its kind is not confide's, the one that its first attempt was given.

    Args:
        campaign: which is charged.
        store: where.
        withdrawals: how many had withdrawn when its records were taken.

    Raises:
        Refused: the run was begun with other code, or with the records of somebody who has withdrawn since.
        InvalidInput, StoreFailed: as of `kept_in`.
    """
    file, plan = campaign.file, campaign.plan
    if is_ours(plan.mechanism, file.kind):
        yield Noise.secure()
        return
    with kept_in(own_folder(file, store.home), file, store.home) as kept:
        same_code(campaign, kept.noise)
        _noted(kept.noise, _WITHDRAWN, str(withdrawals), "somebody has withdrawn since, and its noise fits no other "
               "records", "another campaign, with a title and a charge of its own, can run on those who stayed")
        yield given(kept.noise)  # what it comes from, an audit's run could not see either


def same_code(campaign: Planned, noise: JournalNoise) -> None:
    """Whether a run that goes on has the code with which it was begun; nothing, where all of it is confide's.

    Args:
        campaign: which is charged.
        noise: of the run.

    Raises:
        Refused: the code was changed.
    """
    code = charged_code(campaign.file, campaign.plan)
    if code:
        _noted(noise, _CODE, code, "its code was changed since: that is another mechanism",
               "put the code back as it was; the mended mechanism is another campaign, with a title and a charge of its"
               " own. Trial runs, before the charge, are free")


def _noted(noise: JournalNoise, name: tuple[str, ...], text: str, why: str, remedy: str) -> None:
    before = noise.noted(name)
    if before is not None and before != text:
        raise Refused(f"a run of this campaign was begun and did not end, and {why}", remedy)
    noise.note(name, text)


def published(campaign: Planned, store: Store, number: int, release: Callable[[], bool]) -> bool:
    """Run and publish, and destroy the noise that nobody will ask for again.

    Args:
        campaign: which is charged.
        store: where.
        number: the campaign's.
        release: runs and publishes; whether the outcome is the published one.

    Returns:
        The same.
    """
    if is_ours(campaign.plan.mechanism, campaign.file.kind):
        return release()
    try:
        found = release()
    except (InvalidInput, StoreFailed):
        if store.get(number).state is not State.SETTLED:
            raise
        return False  # somebody else has published, and destroyed the noise that was looked for
    void(own_folder(campaign.file, store.home), campaign.file, store.home,
         again=store.get(number).state is not State.SETTLED)
    return found

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

import hashlib
import importlib.machinery
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from confide.audit.own_modules import outermost, own_modules, place
from confide.campaign.file import Planned
from confide.campaign.pausing import kept_in, own_folder, void
from confide.campaign.states import State
from confide.contract.errors import InvalidInput, Refused, StoreFailed
from confide.contract.kinds import Kind
from confide.contract.mechanism import Mechanism
from confide.privacy.noise import JournalNoise, Noise
from confide.privacy.noise.given_noise import given

if TYPE_CHECKING:
    from confide.campaign.file import CampaignFile
    from confide.campaign.home import Home
    from confide.campaign.store import Store
    from confide.contract.kinds import CampaignPlan

__all__ = ["charged_code", "code_digest", "is_ours", "run_noise", "same_code", "tried_before", "until_published"]

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


@contextmanager
def until_published(campaign: Planned, store: Store, number: int) -> Iterator[None]:
    """Around what runs and publishes: afterwards the noise is destroyed, as nobody will ask for it again.

    Where somebody else published meanwhile, and destroyed the noise that is looked for, nothing is raised.

    Args:
        campaign: which is charged.
        store: where.
        number: the campaign's.
    """
    if is_ours(campaign.plan.mechanism, campaign.file.kind):
        yield
        return
    try:
        yield
    except (InvalidInput, StoreFailed):
        if store.get(number).state is not State.SETTLED:
            raise
        return
    void(own_folder(campaign.file, store.home), campaign.file, store.home,
         again=store.get(number).state is not State.SETTLED)


_OURS = __name__.partition(".")[0]


def is_ours(*its: Mechanism | Kind) -> bool:
    """Whether a mechanism, and its kind, come with confide: none of them from somebody else."""
    return all(type(it).__module__.partition(".")[0] == _OURS for it in its)


def code_digest(*objects: object) -> str:
    """SHA-256 over the source files and compiled modules in which the classes of objects lie, and their bases.

    Of a class that lies in a package, all of the outermost package that has an `__init__` counts, whether it is used or
    not; of one that lies in a module alone, that file. Where the files lie, and what Python makes of them
    (`__pycache__`), does not count; nor do confide, Python's own library, and other packages that are only called.

    Args:
        objects: a mechanism, and its kind.

    Raises:
        InvalidInput: a class lies in no file, as one that was typed into a session does.

    Example:
        >>> code_digest(1, "text")  # nothing but Python's own
        'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    files: dict[str, Path] = {}
    for module in own_modules(*objects):
        files |= _files(module)
    found = hashlib.sha256()
    for name in sorted(files):
        found.update(f"{name} {hashlib.sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    """(name from the package on, file) of all code beside a module."""
    top = outermost(module)
    if top is None or (file := place(top)) is None:
        raise InvalidInput("mechanism", f"the code of {module} lies in no file",
                           "put it into a module or a package: what is charged and what is run are compared by it")
    if not hasattr(top, "__path__"):
        return iter([(top.__name__, file)])
    ends = tuple(importlib.machinery.all_suffixes())
    return ((f"{top.__name__}/{path.relative_to(file.parent).as_posix()}", path) for path in file.parent.rglob("*")
            if path.name.endswith(ends) and path.is_file() and "__pycache__" not in path.parts)

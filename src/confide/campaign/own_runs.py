"""The noise of a run, and the code that runs: one release for one charge, however often a run is begun.

A run of confide's own mechanisms draws secure noise, anew in each attempt. Two kinds of run keep theirs on disk until
the publication, before it is used, and each attempt draws the same:

- A run that may have to wait, or break off. Which attempt comes to an end depends on its noise, so that a second one
  with fresh noise would tell more than is promised.
- A run of a mechanism or a kind that is not confide's. Such a mechanism may fail by its own noisy answers, and such a
  kind by what it makes of an outcome. Were it begun again with other noise, how often it failed would tell more than
  one run, and nobody would have charged that. The same run again fails in the same way, for nothing, and one that a
  crash ended goes on with the same noise. Noise serves one run of one code on one collection of records: with other
  code or other records nothing is run any more.

Only where somebody withdraws while a run goes on, and the run ends well, is its outcome forgotten unseen and the next
one drawn anew, as for confide's own mechanisms.

The journal lies in a folder of the campaign's own, named after what the campaign's file says: another campaign never
gets the same noise. The installation notes that there is a journal before anything is drawn into it. A journal that is
gone, or was cut back, ends the campaign.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from confide.audit.own_modules import outermost, own_modules, place
from confide.campaign.file import CampaignFile, Planned
from confide.campaign.store.home import Home
from confide.campaign.store.states import State
from confide.contract.errors import InvalidInput, Refused, StoreFailed
from confide.contract.files import make_folder
from confide.contract.kinds import CampaignPlan, Kind, PausingKind
from confide.contract.mechanism import Mechanism
from confide.privacy.noise import JournalNoise, Noise
from confide.privacy.noise.given_noise import given

if TYPE_CHECKING:
    from confide.campaign.store import Store

__all__ = ["KeptNoise", "charged_code", "code_digest", "forget", "is_ours", "kept_noise", "run_noise", "same_code",
           "until_published"]

_JOURNAL = "noise.journal"


class KeptNoise:
    """The noise of one campaign's run, and the private folder in which it is kept.

    Args:
        noise: the noise that the run draws from.
        folder: the folder of this campaign alone.
    """

    def __init__(self, noise: JournalNoise, folder: Path) -> None:
        self.noise, self.folder = noise, folder

    def destroy(self) -> None:
        """Destroy the noise after the publication: nothing of it will be asked again."""
        self.noise.destroy()
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # of another campaign, too
            self.folder.parent.rmdir()


def _place(file: CampaignFile, kind: PausingKind) -> Path:
    return file.folder / kind.journal(file.config) / file.digest


def _own_folder(file: CampaignFile, home: Home) -> Path:
    """Where the noise of a mechanism that is not confide's is kept: in the installation."""
    return home.folder / "noise" / file.digest


def kept_noise(file: CampaignFile, kind: PausingKind, home: Home) -> AbstractContextManager[KeptNoise]:
    """The noise of a run that may wait, kept in the folder that its kind names.

    Args:
        file: the campaign.
        kind: the kind of the campaign.
        home: the installation, which notes that there is a journal.

    Raises:
        InvalidInput: the journal is gone, is damaged, is shorter than it was, or may be read by others.
        StoreFailed: another process holds it, and runs with it.
    """
    return _kept_in(_place(file, kind), file, home)


@contextmanager
def _kept_in(folder: Path, file: CampaignFile, home: Home) -> Iterator[KeptNoise]:
    """Secure noise that an attempt to run a campaign draws, and every later one draws again."""
    make_folder(folder.parent, private=True)
    make_folder(folder, private=True)
    with JournalNoise(folder / _JOURNAL, Noise.secure(), existing=True if home.begun(file.digest) else None,
                      sealed=home.sealed(file.digest)) as noise:
        home.begin(file.digest)
        try:
            yield KeptNoise(noise, folder)
        finally:
            home.seal(file.digest, noise.seal)


def forget(file: CampaignFile, home: Home) -> None:
    """Destroy the remaining noise of a campaign that is published: its run died before it could.

    Args:
        file: the campaign.
        home: the installation.
    """
    _void(_own_folder(file, home), file, home)
    if isinstance(file.kind, PausingKind):
        _void(_place(file, file.kind), file, home)


def _void(folder: Path, file: CampaignFile, home: Home, *, again: bool = False) -> None:
    """Destroy noise that nobody will ask for again; nothing, where there is none.

    `again` says whether other noise may be drawn for the campaign: nobody learns anything of the run that it was for.
    """
    if again:
        home.unbegin(file.digest)
    if (folder / _JOURNAL).exists():
        with suppress(InvalidInput, StoreFailed):  # whoever published it is about to, or it can be read no more
            KeptNoise(JournalNoise(folder / _JOURNAL, Noise.secure(), existing=True), folder).destroy()


_CODE, _WITHDRAWN = ("confide", "code"), ("confide", "withdrawn")


def charged_code(file: CampaignFile, plan: CampaignPlan) -> str:
    """The digest of the code of a mechanism and its kind; empty where both are confide's.

    Args:
        file: the campaign.
        plan: the plan.

    Raises:
        InvalidInput: the code lies in no file.
    """
    return "" if is_ours(plan.mechanism, file.kind) else code_digest(plan.mechanism, file.kind)


@contextmanager
def run_noise(campaign: Planned, store: Store, withdrawals: int) -> Iterator[Noise]:
    """The noise of a run: where the mechanism or its kind is not confide's, the one that its first attempt was given.

    Args:
        campaign: the campaign that is charged.
        store: the store of the campaign.
        withdrawals: the number of people who had withdrawn when its records were taken.

    Raises:
        Refused: the run was begun with other code, or with the records of somebody who has withdrawn since.
        InvalidInput, StoreFailed: as of `kept_noise`.
    """
    file, plan = campaign.file, campaign.plan
    if is_ours(plan.mechanism, file.kind):
        yield Noise.secure()
        return
    with _kept_in(_own_folder(file, store.home), file, store.home) as kept:
        same_code(campaign, kept.noise)
        _noted(kept.noise, _WITHDRAWN, str(withdrawals), "somebody has withdrawn since, and its noise fits no other "
               "records", "another campaign, with a title and a charge of its own, can run on those who stayed")
        yield given(kept.noise)  # what it comes from, an audit's run could not see either


def same_code(campaign: Planned, noise: JournalNoise) -> None:
    """Check that a run that goes on has the code with which it was begun; nothing is checked where all of it is
    confide's.

    Args:
        campaign: the campaign that is charged.
        noise: the noise of the run.

    Raises:
        Refused: the code was changed.
    """
    code = charged_code(campaign.file, campaign.plan)
    if code:
        _noted(noise, _CODE, code, "its code was changed since: that is another mechanism",
               "restore the old code; the corrected mechanism is another campaign, with its own title and charge. "
               "Trial runs, before the charge, are free")


def _noted(noise: JournalNoise, name: tuple[str, ...], text: str, why: str, remedy: str) -> None:
    before = noise.noted(name)
    if before is not None and before != text:
        raise Refused(f"a run of this campaign was begun and did not end, and {why}", remedy)
    noise.note(name, text)


@contextmanager
def until_published(campaign: Planned, store: Store, number: int) -> Iterator[None]:
    """Destroy the noise after a run is published, as nobody will ask for it again.

    Where somebody else published meanwhile, and destroyed the noise that is looked for, nothing is raised.

    Args:
        campaign: the campaign that is charged.
        store: the store of the campaign.
        number: the number of the campaign.
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
    _void(_own_folder(campaign.file, store.home), campaign.file, store.home,
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
                           "put it into a module or a package: the source identifies the code that was charged and the "
                           "code that runs")
    if not hasattr(top, "__path__"):
        return iter([(top.__name__, file)])
    ends = tuple(importlib.machinery.all_suffixes())
    return ((f"{top.__name__}/{path.relative_to(file.parent).as_posix()}", path) for path in file.parent.rglob("*")
            if path.name.endswith(ends) and path.is_file() and "__pycache__" not in path.parts)

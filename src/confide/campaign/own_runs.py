"""The noise and the code of a run. One charge pays for one release, however often a run is started again.

A run of confide's own mechanisms draws secure noise, and every new attempt draws fresh noise. Two sorts of run write
their noise to disk before using it, keep it until the publication, and reuse it in every later attempt:

- A run that may wait or break off. Whether an attempt ends depends on its noise, so a second attempt with fresh noise
  would reveal more than is promised.
- A run of a mechanism or a kind that is not part of confide. A mechanism that is not part of confide may fail because
  of its own noisy answers, and such a kind may fail because of the outcome. With fresh noise in every attempt, the
  number of failures would reveal more than one run does, without any charge. With the same noise, a repeated run fails
  in the same way and reveals nothing new, and a run that was ended by a crash is continued. Kept noise belongs to one
  code and one collection of records: with other code or other records, the campaign is not run any more.

Kept noise is replaced by fresh noise in one case only, a withdrawal during the run. If somebody withdraws during a run
that then ends without an error, the outcome of this run is destroyed unseen, and the next attempt draws fresh noise, as
with confide's own mechanisms.

The journal is the file with the kept noise. Each campaign has a separate folder for its journal. The folder's name is
the digest of the campaign file, so another campaign never gets the same noise. The installation notes the existence of
a journal before any noise is drawn into it. A campaign with a missing or shortened journal is over.
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
    """The noise of one campaign's run, and the private folder in which the noise is kept.

    Args:
        noise: the noise that the run draws from.
        folder: the private folder of one campaign's noise, which is named after the digest of the campaign file.
    """

    def __init__(self, noise: JournalNoise, folder: Path) -> None:
        self.noise, self.folder = noise, folder

    def destroy(self) -> None:
        """Destroy the noise after the publication, when it will not be needed again."""
        self.noise.destroy()
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # of another campaign, too
            self.folder.parent.rmdir()


def _place(file: CampaignFile, kind: PausingKind) -> Path:
    return file.folder / kind.journal(file.config) / file.digest


def _own_folder(file: CampaignFile, home: Home) -> Path:
    """The folder in the installation that keeps the noise of a mechanism that is not part of confide."""
    return home.folder / "noise" / file.digest


def kept_noise(file: CampaignFile, kind: PausingKind, home: Home) -> AbstractContextManager[KeptNoise]:
    """The noise of a run that may wait, kept in the folder that the campaign's kind names.

    Args:
        file: the campaign file.
        kind: the kind of the campaign.
        home: the installation (the folder with the keys and notes), which notes that the journal exists.

    Raises:
        InvalidInput: the journal is missing, is damaged, is shorter than before, or can be read by others.
        StoreFailed: another process is running with the journal.
    """
    return _kept_in(_place(file, kind), file, home)


@contextmanager
def _kept_in(folder: Path, file: CampaignFile, home: Home) -> Iterator[KeptNoise]:
    """Secure noise that the first attempt to run a campaign draws, and that every later attempt reads again."""
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
    """Destroy the kept noise of a published campaign, if the run ended before the noise was destroyed.

    Args:
        file: the campaign file.
        home: the installation (the folder with the keys and notes).
    """
    _void(_own_folder(file, home), file, home)
    if isinstance(file.kind, PausingKind):
        _void(_place(file, file.kind), file, home)


def _void(folder: Path, file: CampaignFile, home: Home, *, again: bool = False) -> None:
    """Destroy noise that will not be needed again, if there is any.

    With `again`, fresh noise may be drawn for the campaign afterwards, since nobody saw the run with the destroyed
    noise.
    """
    if again:
        home.unbegin(file.digest)
    if (folder / _JOURNAL).exists():
        with suppress(InvalidInput, StoreFailed):  # its publisher is about to, or it can be read no more
            KeptNoise(JournalNoise(folder / _JOURNAL, Noise.secure(), existing=True), folder).destroy()


_CODE, _WITHDRAWN = ("confide", "code"), ("confide", "withdrawn")


def charged_code(file: CampaignFile, plan: CampaignPlan) -> str:
    """The digest of the code of a mechanism and its kind; empty if both are part of confide.

    Args:
        file: the campaign file.
        plan: the plan of the campaign.

    Raises:
        InvalidInput: a class is not defined in any file.
    """
    return "" if is_ours(plan.mechanism, file.kind) else code_digest(plan.mechanism, file.kind)


@contextmanager
def run_noise(campaign: Planned, store: Store, withdrawals: int) -> Iterator[Noise]:
    """The noise of a run. If the mechanism or the kind is not part of confide, every attempt gets the noise of the
    first attempt.

    Args:
        campaign: the campaign, which the ledger has charged.
        store: the store of the campaign.
        withdrawals: the number of people who had withdrawn when the records of this run were read.

    Raises:
        Refused: the first attempt had other code, or the records of somebody who has withdrawn since.
        InvalidInput, StoreFailed: for the same reasons as in `kept_noise`.
    """
    file, plan = campaign.file, campaign.plan
    if is_ours(plan.mechanism, file.kind):
        yield Noise.secure()
        return
    with _kept_in(_own_folder(file, store.home), file, store.home) as kept:
        same_code(campaign, kept.noise)
        _noted(kept.noise, _WITHDRAWN, str(withdrawals),
               "a participant has withdrawn, and the noise of that run is for the earlier records only",
               "start another campaign, with its own title and charge, for the people who stayed")
        yield given(kept.noise)  # what it comes from, an audit's run could not see either


def same_code(campaign: Planned, noise: JournalNoise) -> None:
    """Check that a resumed run has the code with which the run was begun. Code of confide itself is not checked.

    Args:
        campaign: the campaign, which the ledger has charged.
        noise: the noise of the run.

    Raises:
        Refused: the code was changed.
    """
    code = charged_code(campaign.file, campaign.plan)
    if code:
        _noted(noise, _CODE, code, "the code was changed, so the mechanism is another one",
               "restore the old code, or start another campaign for the corrected mechanism, with its own title and "
               "charge. Trial runs before the charge are free")


def _noted(noise: JournalNoise, name: tuple[str, ...], text: str, why: str, remedy: str) -> None:
    before = noise.noted(name)
    if before is not None and before != text:
        raise Refused(f"a run of this campaign was begun and did not end. In the meantime, {why}", remedy)
    noise.note(name, text)


@contextmanager
def until_published(campaign: Planned, store: Store, number: int) -> Iterator[None]:
    """Context manager that destroys the kept noise at the end of its block, after the run's publication.

    An error about missing noise is ignored if another process has published the campaign meanwhile, and has destroyed
    the noise.

    Args:
        campaign: the campaign, which the ledger has charged.
        store: the store of the campaign.
        number: the number of the campaign in the store.
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
    """Whether all given mechanisms and kinds are part of confide."""
    return all(type(it).__module__.partition(".")[0] == _OURS for it in its)


def code_digest(*objects: object) -> str:
    """SHA-256 digest of the source files and compiled modules that define the classes of objects and their base
    classes.

    For a class in a package, all code of the outermost package with an `__init__` counts, whether it is used or not.
    For a class in a single module, the file of the module counts. The location of the files and Python's caches
    (`__pycache__`) do not count. The code of confide, of Python's own library, and of other packages that the code only
    calls does not count, either.

    Args:
        objects: a mechanism, and its kind.

    Raises:
        InvalidInput: a class is not defined in any file, such as one that was typed into an interactive session.

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
    """All code files of a module's outermost package, each as a pair of its name, which starts at the package, and its
    path.
    """
    top = outermost(module)
    if top is None or (file := place(top)) is None:
        raise InvalidInput("mechanism", f"the code of {module} is not in a file",
                           "put the code into a module or a package: the source identifies the charged and the running "
                           "code")
    if not hasattr(top, "__path__"):
        return iter([(top.__name__, file)])
    ends = tuple(importlib.machinery.all_suffixes())
    return ((f"{top.__name__}/{path.relative_to(file.parent).as_posix()}", path) for path in file.parent.rglob("*")
            if path.name.endswith(ends) and path.is_file() and "__pycache__" not in path.parts)

"""Runs that may wait, or break off: their noise is on disk before it is used, and the same in every attempt until the
publication.

The journal lies in a folder of the campaign's own, named after what the campaign's file says: another campaign never
gets the same noise. The installation notes that there is a journal before anything is drawn into it. Which attempt
comes to an end depends on its noise, so that a second one with fresh noise would tell more than is promised: a journal
that is gone, or was cut back, ends the campaign.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from confide.campaign.file import CampaignFile
from confide.campaign.home import Home
from confide.contract.errors import InvalidInput, StoreFailed
from confide.contract.files import make_folder
from confide.contract.kinds import PausingKind
from confide.privacy.noise import JournalNoise, Noise

__all__ = ["KeptNoise", "forget", "kept_in", "kept_noise", "own_folder", "void"]

_JOURNAL = "noise.journal"


class KeptNoise:
    """The noise of one campaign's run, and the private folder in which it is kept.

    Args:
        noise: what the run draws from.
        folder: of this campaign alone.
    """

    def __init__(self, noise: JournalNoise, folder: Path) -> None:
        self.noise, self.folder = noise, folder

    def destroy(self) -> None:
        """After the publication: nothing of it will be asked again."""
        self.noise.destroy()
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # of another campaign, too
            self.folder.parent.rmdir()


def _place(file: CampaignFile, kind: PausingKind) -> Path:
    return file.folder / kind.journal(file.config) / file.digest


def own_folder(file: CampaignFile, home: Home) -> Path:
    """Where the noise of a mechanism that is not confide's is kept: in the installation.

    Args:
        file: the campaign.
        home: the installation.
    """
    return home.folder / "noise" / file.digest


def kept_noise(file: CampaignFile, kind: PausingKind, home: Home) -> AbstractContextManager[KeptNoise]:
    """`kept_in` the folder that a kind names.

    Args:
        file: the campaign.
        kind: its kind.
        home: the installation, which notes that there is a journal.
    """
    return kept_in(_place(file, kind), file, home)


@contextmanager
def kept_in(folder: Path, file: CampaignFile, home: Home) -> Iterator[KeptNoise]:
    """Secure noise that an attempt to run a campaign draws, and every later one draws again.

    Args:
        folder: of this campaign alone.
        file: the campaign.
        home: the installation, which notes that there is a journal.

    Raises:
        InvalidInput: the journal is gone, is damaged, is shorter than it was, or may be read by others.
        StoreFailed: another process holds it, and runs with it.
    """
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
    """Destroy what is left of the noise of a campaign that is published: its run died before it could.

    Args:
        file: the campaign.
        home: the installation.
    """
    void(own_folder(file, home), file, home)
    if isinstance(file.kind, PausingKind):
        void(_place(file, file.kind), file, home)


def void(folder: Path, file: CampaignFile, home: Home, *, again: bool = False) -> None:
    """Destroy noise that nobody will ask for again; nothing, where there is none.

    Args:
        folder: where it is kept.
        file: the campaign.
        home: the installation.
        again: whether other noise may be drawn for the campaign: nobody learns anything of the run that it was for.
    """
    if again:
        home.unbegin(file.digest)
    if (folder / _JOURNAL).exists():
        with suppress(InvalidInput, StoreFailed):  # whoever published it is about to, or it can be read no more
            KeptNoise(JournalNoise(folder / _JOURNAL, Noise.secure(), existing=True), folder).destroy()

"""Runs that may wait: their noise is on disk before it is used, and the same in every attempt until the publication.

The journal lies in a folder of the campaign's own, named after what the campaign's file says: another campaign never
gets the same noise. The installation notes that there is a journal before anything is drawn into it. Which attempt
comes to an end depends on its noise, so that a second one with fresh noise would tell more than is promised: a journal
that is gone, or was cut back, ends the campaign.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confide.campaign.file import CampaignFile
from confide.campaign.home import Home
from confide.contract.errors import InvalidInput, StoreFailed
from confide.contract.files import make_folder
from confide.contract.kinds import PausingKind
from confide.privacy.noise import JournalNoise, Noise

__all__ = ["KeptNoise", "forget", "kept_noise"]

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


@contextmanager
def kept_noise(file: CampaignFile, kind: PausingKind, home: Home) -> Iterator[KeptNoise]:
    """Secure noise that an attempt to run a campaign draws, and every later one draws again.

    Args:
        file: the campaign.
        kind: its kind.
        home: the installation, which notes that there is a journal.

    Raises:
        InvalidInput: the journal is gone, is damaged, is shorter than it was, may be read by others, or another process
            holds it.
    """
    folder = _place(file, kind)
    make_folder(folder.parent, private=True)
    make_folder(folder, private=True)
    with JournalNoise(folder / _JOURNAL, Noise.secure(), existing=True if home.begun(file.digest) else None,
                      sealed=home.sealed(file.digest)) as noise:
        home.begin(file.digest)
        try:
            yield KeptNoise(noise, folder)
        finally:
            home.seal(file.digest, noise.seal)


def forget(file: CampaignFile) -> None:
    """Destroy what is left of the noise of a campaign that is published: its run died before it could."""
    if not isinstance(file.kind, PausingKind):
        return
    folder = _place(file, file.kind)
    if (folder / _JOURNAL).exists():
        with suppress(InvalidInput, StoreFailed):  # whoever published it is about to, or it can be read no more
            KeptNoise(JournalNoise(folder / _JOURNAL, Noise.secure(), existing=True), folder).destroy()

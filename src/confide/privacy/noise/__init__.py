"""Noise: one door (`Noise`) to secure, simulated and replayed draws; nothing else in confide is random.

`entropy` alone reads the operating system's randomness; `balls` and `laws` round real-valued noise exactly; `discrete`
draws noise on the integers. OpenDP and flint are imported when the first secure draw needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.privacy.noise.arguments import Stream
    from confide.privacy.noise.base import Noise
    from confide.privacy.noise.journal import JournalNoise
    from confide.privacy.noise.recorded import Draw, ForcedNoise, RecordingNoise


__all__ = ["Draw", "ForcedNoise", "JournalNoise", "Noise", "RecordingNoise", "Stream"]

__getattr__, __dir__ = doors(
    __name__,
    {"arguments": ("Stream",), "base": ("Noise",), "journal": ("JournalNoise",),
     "recorded": ("Draw", "ForcedNoise", "RecordingNoise")},
)

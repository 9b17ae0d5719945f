"""Noise: the class `Noise` for secure, simulated and replayed draws, which is the only source of randomness in confide.

Only `entropy` reads the operating system's randomness. `balls` and `laws` round real-valued noise exactly, and
`discrete` draws noise on the integers. OpenDP and flint are imported when the first secure draw needs them.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"arguments": ("Stream",), "base": ("Noise",), "journal": ("JournalNoise",),
     "recorded": ("Draw", "ForcedNoise", "RecordingNoise")},
)

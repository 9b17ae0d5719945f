# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.privacy.noise.arguments import Stream as Stream
from confide.privacy.noise.base import Noise as Noise
from confide.privacy.noise.journal import JournalNoise as JournalNoise
from confide.privacy.noise.recorded import Draw as Draw
from confide.privacy.noise.recorded import ForcedNoise as ForcedNoise
from confide.privacy.noise.recorded import RecordingNoise as RecordingNoise

__all__ = [
    "Draw", "ForcedNoise", "JournalNoise", "Noise", "RecordingNoise", "Stream",
]

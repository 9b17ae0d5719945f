"""One device's share of a source of noise, so that many devices can be heard at one door."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.audit.faulty_noise import DampedNoise
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import StreamName

__all__ = ["DeviceNoise"]


class DeviceNoise(DampedNoise):
    """Sound noise, whose streams are named after the device that asks: each device asks for the same names.

    Args:
        source: of all devices.
        device: its number.

    Example:
        >>> from confide.privacy.noise import RecordingNoise
        >>> heard = RecordingNoise(Noise.simulated(1))
        >>> for device in (0, 1):
        ...     _ = DeviceNoise(heard, device).discrete_laplace(2, 1, stream="report")
        >>> [draw.stream for draw in heard.draws]
        [('device', 0, 'report'), ('device', 1, 'report')]
    """

    def __init__(self, source: Noise, device: int) -> None:
        super().__init__(source, 1.0)
        self._device = device

    def _named(self, stream: StreamName) -> StreamName:
        return ("device", self._device, *stream)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._source.channel(table, inputs, stream=stream)

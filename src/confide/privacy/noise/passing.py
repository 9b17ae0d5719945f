"""Noise that passes requests on to other noise: the base of transcripts and of sources broken on purpose."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.arguments import StreamName
from confide.privacy.noise.base import Noise
from confide.privacy.noise.discrete import DiscreteLaw

if TYPE_CHECKING:
    from confide.privacy.meter import Meter

__all__ = ["PassingNoise"]


class PassingNoise(Noise):
    """Requests keep their centers on the way: subclasses override `_lattice`, all that there is on the integers.

    Those that are put around noise within a run, as `_source`, are metered as that is.
    """

    @property
    def meter(self) -> Meter | None:
        source = getattr(self, "_source", None)
        return self._meter if self._meter is not None or source is None else source.meter

    def open_meter(self, mechanism: Any, *, device: bool = False) -> None:
        source = getattr(self, "_source", None)
        if self._meter is None and source is not None and source.meter is not None:
            source.open_meter(mechanism, device=device)
        else:
            super().open_meter(mechanism, device=device)

    def _integers(
        self, law: DiscreteLaw, scale: Fraction, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._lattice(law, scale, None, shape, stream)

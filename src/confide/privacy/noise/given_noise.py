"""The noise that a run receives, which always has the same class, whatever its source.

Secure noise may be drawn directly, kept in a journal, or recorded or forced by an audit. A run that could see which
source of noise it gets might behave differently in an audit and in a release. `Noise.secure()` is therefore of the
class `GivenNoise`, and the settlement of a campaign passes no other class. The audit of a mechanism wraps the audit's
own noise in a `GivenNoise`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.private_parts import behind, put_behind
from confide.contract.renamed import renamed
from confide.privacy.noise.arguments import Center, Points, Stream, StreamName
from confide.privacy.noise.base import Noise, RealLaw
from confide.privacy.noise.discrete import DiscreteLaw

if TYPE_CHECKING:
    from confide.privacy.meter import Meter

__all__ = ["GivenNoise", "anew", "given"]


def given(source: Noise) -> Noise:
    """The given source of noise in the form that a run receives. The noise of a run reports the properties of the
    source, except whether an audit records the draws.

    Args:
        source: the noise to which every request is passed on, and which gives the answers.

    Example:
        >>> from confide.privacy.noise import RecordingNoise
        >>> observed = RecordingNoise(Noise.simulated(1))
        >>> type(given(observed)) is type(Noise.secure()), given(observed).audited, given(observed)
        (True, False, <secure noise, 0 streams drawn>)
        >>> _ = given(observed).laplace(2.0, 1, stream="price", center=[0.5])
        >>> observed.draws[0].center
        (Fraction(1, 2),)
    """
    return source if isinstance(source, GivenNoise) else GivenNoise(source)


def anew(noise: Noise) -> Noise:
    """Noise of the same kind for another run: secure noise, or simulated noise with the same seed.

    Noise of any other kind, such as replayed draws, is for one run only, and is returned unchanged.

    Args:
        noise: noise that may have been drawn from already; it is not changed.

    Example:
        >>> once = Noise.simulated(1)
        >>> draw = lambda noise: noise.laplace(1.0, 1, stream="estimate").tolist()
        >>> draw(once) == draw(anew(once))
        True
    """
    from confide.privacy.noise.secure import SecureNoise
    from confide.privacy.noise.simulated import SimulatedNoise

    source = behind(noise) if isinstance(noise, GivenNoise) else noise
    if isinstance(source, SecureNoise):
        return Noise.secure()
    return copy(source) if isinstance(source, SimulatedNoise) else noise


class GivenNoise(Noise):
    """Noise that passes every request on to its source, and returns every answer unchanged. See `given`."""

    def __init__(self, source: Noise) -> None:
        super().__init__()
        put_behind(self, source)

    @property
    def kind(self) -> str:
        return self._from.kind

    @property
    def release_safe(self) -> bool:
        return self._from.release_safe

    def __repr__(self) -> str:
        return f"<{self.kind} noise, {len(self._from._drawn)} streams drawn>"

    @property
    def meter(self) -> Meter | None:
        return self._from.meter

    def metering(self, mechanism: Any, *, device: bool = False) -> AbstractContextManager[None]:
        return self._from.metering(mechanism, device=device)

    def open_meter(self, mechanism: Any, *, device: bool = False) -> None:
        self._from.open_meter(mechanism, device=device)

    @property
    def _from(self) -> Noise:
        source: Noise = behind(self)
        return source

    def laplace(
        self, scale: float | Fraction, size: int | tuple[int, ...], *, stream: Stream, center: Center | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        return self._from.laplace(scale, size, stream=stream, center=center, grid=grid)

    @renamed(sigma="noise_std")
    def gaussian(
        self, noise_std: float | Fraction, size: int | tuple[int, ...], *, stream: Stream, center: Center | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        return self._from.gaussian(noise_std, size, stream=stream, center=center, grid=grid)

    def vector_laplace(
        self, scale: float | Fraction, dimension: int, *, stream: Stream, center: Center | None = None,
        stretch: ArrayLike | None = None, grid: int = 30,
    ) -> NDArray[np.float64]:
        return self._from.vector_laplace(scale, dimension, stream=stream, center=center, stretch=stretch, grid=grid)

    # The other requests tell all of themselves further on; these serve who wraps the noise that a run was given, too.

    def _claim(self, stream: Stream) -> StreamName:
        return self._from._claim(stream)

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._from._lattice(law, scale, center, shape, stream)

    def _integers(
        self, law: DiscreteLaw, scale: Fraction, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._from._integers(law, scale, shape, stream)

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        return self._from._reals(law, scale, points, grid, shape, stream)

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        return self._from._vector(scale, points, stretch, grid, stream)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._from._channel(table, inputs, stream)

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        return self._from._selection(logits, count, stream)

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        return self._from._split(people, stream)

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        return self._from._exponential(shape, stream)

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        return self._from._words(shape, stream)

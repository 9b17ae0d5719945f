"""Transcripts, which hold a run's requests for noise and the answers, and noise that gives the same answers to a run on
other data.

`RecordingNoise` passes every draw through and records it. `ForcedNoise` answers with the values of a transcript,
whatever the centers are, and records the requests. An audit can thereby run a mechanism on a neighbouring data set with
the same public history. The two runs differ in their centers, and must not differ in their published output.

Recording and forced noise both report the properties of secure noise. A mechanism that adapts to the properties of its
noise therefore behaves in an audit as it does in a release. An outcome made with recording or forced noise counts as a
study, not as a release (`Noise.audited`). `given` wraps recording and forced noise so that a run cannot tell such noise
from secure noise.

`PassingNoise` is the base class of noise that passes requests on to other noise, such as transcripts and sources that
are broken on purpose.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.renamed import renamed
from confide.privacy.noise.arguments import Center, Points, Stream, StreamName, as_stream
from confide.privacy.noise.base import Noise, RealLaw
from confide.privacy.noise.discrete import DiscreteLaw

if TYPE_CHECKING:
    from confide.privacy.meter import Meter, PaidDraws

__all__ = ["Draw", "ForcedNoise", "PassingNoise", "RecordingNoise"]

# ---- passing


class PassingNoise(Noise):
    """Base class of noise that passes on the centers of requests. Subclasses override `_lattice`, which serves all
    noise on the integers.

    A subclass that wraps other noise within a run keeps the other noise as `_source`, and uses the meter of the other
    noise.
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


# ---- recorded


@dataclass(frozen=True, eq=False)
class Draw:
    """One request for noise, and its answer.

    Args:
        law: "laplace", "gaussian", "vector_laplace", "discrete_laplace", "discrete_gaussian", "channel", "selection",
            "split", "exponential" or "words".
        stream: the name of the stream.
        scale: exact scale or standard deviation; 1 for exponentials, 0 for a channel, a selection, a split and words.
        shape: the shape of the answer, an array.
        grid: exponent of the grid to which the answer was rounded; -1 if there is no grid.
        stretch: (d,) factors of a vector draw; empty for the other laws.
        center: the exact numbers, flattened, to which the noise was added. The center of a channel is its inputs, and
            the center of a selection its logits; a split, exponentials and words have an empty center.
        value: the answer, which is the array of drawn numbers, added to the center if there is one.
        table: rows of a channel's weights, one row for each input; empty for the other laws.
        centered: False if the law allows a `center` and none was passed. The record then does not show to which numbers
            the noise is added later.
        payment: the payment to the run's meter for the draw; None if nothing was paid, or no meter ran.
    """

    law: str
    stream: StreamName
    scale: Fraction
    shape: tuple[int, ...]
    grid: int
    stretch: NDArray[np.float64]
    center: tuple[Fraction, ...] = field(repr=False)  # of whatever data the run had
    value: NDArray[Any] = field(repr=False)
    table: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    centered: bool = True
    payment: PaidDraws | None = None

    @property
    def line(self) -> str | None:
        """The name of the charge's line that paid for the draw; "" for public randomness, None if nothing was paid or
        no meter ran.
        """
        if self.payment is None:
            return None
        return "" if self.payment.line is None else self.payment.line.name

    @property
    def request(self) -> tuple[object, ...]:
        """The part of a request that must be public, so that two runs on neighbouring data agree in this part."""
        size = len(self.center)  # of a selection: how many items there are
        return (self.law, self.stream, self.scale, self.shape, self.grid, self.table, size, *self.stretch.tolist())


_NONE = np.zeros(0)

Answer = NDArray[Any]


class _Transcribed(PassingNoise):
    """Base class of noise that records every draw; subclasses define the source of the answers."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: list[Draw] = []
        self._alone: set[StreamName] = set()  # real noise that was asked for without a center
        self.meters: list[Meter] = []  # of the runs, as they began: one may take its own away again

    @property
    def kind(self) -> str:
        return "secure"

    @property
    def release_safe(self) -> bool:
        return True

    @property
    def audited(self) -> bool:
        return True

    @abstractmethod
    def _answer(self, stream: StreamName, ask: Callable[[Noise], Answer], bare: Answer) -> Answer:
        """The value of one draw.

        Args:
            stream: the name of the draw; each name can be used only once.
            ask: function that puts the same request to another source.
            bare: the answer without noise, which is the center itself, or a fixed value for a law without a center.
        """

    def _open_meter(self, mechanism: Any, *, device: bool) -> None:
        super()._open_meter(mechanism, device=device)
        if self._meter is not None:
            self.meters.append(self._meter)

    def _note(self, draw: Draw) -> None:
        meter = self.meters[-1] if self.meters else self.meter
        self.draws.append(draw if meter is None else replace(draw, payment=meter.payment_of(draw.stream)))

    @property
    def unmetered(self) -> list[StreamName]:
        """Streams drawn without the knowledge of the meter with which the run began. A draw unknown to the meter shows
        that the meter was removed, changed or bypassed.
        """
        return [draw.stream for draw in self.draws if not self.meters[0].observed(draw.stream)] if self.meters else []

    def _asked(self, stream: Stream, center: Center | None) -> None:
        """Remember that a real-valued draw was requested without a center, because a missing center is later replaced
        by zeros.
        """
        if center is None:
            self._alone.add(as_stream(stream))

    def laplace(
        self, scale: float | Fraction, size: int | tuple[int, ...], *, stream: Stream, center: Center | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        self._asked(stream, center)
        return super().laplace(scale, size, stream=stream, center=center, grid=grid)

    @renamed(sigma="noise_std")
    def gaussian(
        self, noise_std: float | Fraction, size: int | tuple[int, ...], *, stream: Stream, center: Center | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        self._asked(stream, center)
        return super().gaussian(noise_std, size, stream=stream, center=center, grid=grid)

    def vector_laplace(
        self, scale: float | Fraction, dimension: int, *, stream: Stream, center: Center | None = None,
        stretch: ArrayLike | None = None, grid: int = 30,
    ) -> NDArray[np.float64]:
        self._asked(stream, center)
        return super().vector_laplace(scale, dimension, stream=stream, center=center, stretch=stretch, grid=grid)

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        numbers = [0] * math.prod(shape) if center is None else center
        bare = np.array([min(max(c, -(2**63)), 2**63 - 1) for c in numbers], dtype=np.int64).reshape(shape)
        value = self._answer(
            stream, lambda noise: noise._lattice(law, scale, center, shape, noise._claim(stream)), bare
        )
        self._note(Draw(law, stream, scale, shape, -1, _NONE, tuple(map(Fraction, numbers)), value,
                               centered=center is not None))
        return value

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        bare = np.array([float(p) for p in points])
        value = self._answer(
            stream, lambda noise: noise._reals(law, scale, points, grid, shape, noise._claim(stream)), bare
        )
        self._note(Draw(law, stream, scale, shape, grid, _NONE, tuple(map(Fraction, points)), value,
                               centered=stream not in self._alone))
        return value

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        bare = np.array([float(p) for p in points])
        value = self._answer(
            stream, lambda noise: noise._vector(scale, points, stretch, grid, noise._claim(stream)), bare
        )
        self._note(
            Draw("vector_laplace", stream, scale, stretch.shape, grid, stretch, tuple(map(Fraction, points)), value,
                 centered=stream not in self._alone)
        )
        return value

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        bare = np.argmax(table, axis=1)[inputs]
        value = self._answer(stream, lambda noise: noise._channel(table, inputs, noise._claim(stream)), bare)
        center, rows = tuple(map(Fraction, inputs.tolist())), tuple(map(tuple, table.tolist()))
        self._note(Draw("channel", stream, Fraction(0), inputs.shape, -1, _NONE, center, value, rows))
        return value

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        bare = np.full(count, np.argmax(logits))
        value = self._answer(stream, lambda noise: noise._selection(logits, count, noise._claim(stream)), bare)
        center = tuple(map(Fraction, logits.tolist()))
        self._note(Draw("selection", stream, Fraction(0), (count,), -1, _NONE, center, value))
        return value

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        bare = np.arange(people) >= people // 2
        value = self._answer(stream, lambda noise: noise._split(people, noise._claim(stream)), bare)
        self._note(Draw("split", stream, Fraction(0), (people,), -1, _NONE, (), value))
        return value

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        bare = np.full(shape, math.log(2))  # the median: Laplace noise made of it is 0
        value = self._answer(stream, lambda noise: noise._exponential(shape, noise._claim(stream)), bare)
        self._note(Draw("exponential", stream, Fraction(1), shape, -1, _NONE, (), value))
        return value

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        bare = np.zeros(shape, dtype=np.uint64)
        value = self._answer(stream, lambda noise: noise._words(shape, noise._claim(stream)), bare)
        self._note(Draw("words", stream, Fraction(0), shape, -1, _NONE, (), value))
        return value


class RecordingNoise(_Transcribed):
    """Noise that passes every draw through to another source and records it.

    Args:
        source: the source of the answers. Even with secure noise as the source, the outcome of the run counts as a
            study.

    Example:
        >>> noise = RecordingNoise(Noise.simulated(1))
        >>> _ = noise.laplace(2.0, 1, stream="price", center=[0.5])
        >>> noise.draws[0].law, noise.draws[0].scale, noise.draws[0].center
        ('laplace', Fraction(2, 1), (Fraction(1, 2),))
    """

    def __init__(self, source: Noise) -> None:
        super().__init__()
        self._source = source

    def _answer(self, stream: StreamName, ask: Callable[[Noise], Answer], bare: Answer) -> Answer:
        return ask(self._source)

    @property
    def unmetered(self) -> list[StreamName]:
        unrecorded = self._source._drawn - {draw.stream for draw in self.draws} if self.meters else ()
        return [*super().unmetered, *unrecorded]


class ForcedNoise(_Transcribed):
    """Noise that answers with the values of a transcript. A request that the transcript does not hold gets its center
    without noise, or a fixed value for a law without a center.

    Args:
        draws: the transcript, which is the list of a recorded run's draws (`RecordingNoise.draws`).
    """

    def __init__(self, draws: Sequence[Draw]) -> None:
        super().__init__()
        self._values = {draw.stream: draw.value for draw in draws}

    def _answer(self, stream: StreamName, ask: Callable[[Noise], Answer], bare: Answer) -> Answer:
        value = self._values.get(stream)
        return bare if value is None or value.shape != bare.shape else value.copy()

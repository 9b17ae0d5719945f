"""The class `Noise`: every random number of confide comes through it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.privacy.noise.arguments import (
    Center,
    Integers,
    Points,
    Stream,
    StreamName,
    as_center,
    as_exact,
    as_grid,
    as_inputs,
    as_integers,
    as_logits,
    as_shape,
    as_stream,
    as_stretch,
    as_table,
)
from confide.privacy.noise.discrete import LARGEST_SCALE, DiscreteLaw

if TYPE_CHECKING:
    from confide.privacy.meter import Meter

__all__ = ["Noise", "RealLaw", "as_noise"]

RealLaw = Literal["laplace", "gaussian"]


class Noise(ABC):
    """A source of noise: secure, simulated or replayed, all with the same methods.

    A draw is asked for by law, size and the name of its stream. Each stream is drawn once per `Noise`: noise that is
    used twice can be subtracted, so a second draw of a stream is refused.

    Real-valued noise comes out added to its `center` and rounded to a multiple of 2^-grid, as one step. Secure noise
    rounds the ideal real number center + noise exactly, so that the result is post-processing of the ideal mechanism;
    adding double noise to a double would leak through the low bits. Multiples above 2^53 units are rounded once more,
    to the nearest double. The center may be private; every other argument is public. What a secure draw still shows
    through its time: public parameters, the noise of a rejection sampler, and nanoseconds that depend on the length of
    the center's integers. An undecided rounding is refined with probability below 2^-60, whatever the center.

    Source: spec truthful_regression 4.4, query_release A3.

    Example:
        >>> noise = Noise.simulated(7)
        >>> noise.release_safe
        False
        >>> noise.laplace(0.5, 2, stream=("estimate", 0), center=[1.0, 2.0], grid=4) * 16 % 1
        array([0., 0.])
        >>> noise.laplace(0.5, 2, stream=("estimate", 0))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: stream: ('estimate', 0) was already drawn; each stream is drawn once: ...
        >>> secure = Noise.secure()
        >>> secure.kind, secure.release_safe
        ('secure', True)
        >>> replayed = Noise.replayed({"estimate": [0.3]})
        >>> replayed.laplace(0.5, 1, stream="estimate", center=[Fraction(1, 3)], grid=1)
        array([0.5])
    """

    def __init__(self) -> None:
        self._drawn: set[StreamName] = set()
        self._lock = threading.Lock()
        self._meter: Meter | None = None
        self._running = False

    @classmethod
    def secure(cls) -> Noise:
        """Exact noise from the operating system's randomness. It takes no seed: a seed would be a way to repeat it."""
        from confide.privacy.noise.given_noise import GivenNoise
        from confide.privacy.noise.secure import SecureNoise

        return GivenNoise(SecureNoise())

    @classmethod
    def simulated(cls, seed: int) -> Noise:
        """Reproducible numpy noise for studies and tests; never fit for release.

        Args:
            seed: a whole number >= 0. Each stream has a generator of its own, derived from the seed and the stream's
                name: the order of draws, threads and chunks change nothing.
        """
        from confide.privacy.noise.simulated import SimulatedNoise

        return SimulatedNoise(seed)

    @classmethod
    def replayed(cls, draws: Mapping[Stream, ArrayLike]) -> Noise:
        """Noise that replays given draws; never fit for release.

        Args:
            draws: stream -> the raw noise, in the shape that will be asked for: integers for the discrete laws, real
                numbers for the real laws (for `vector_laplace`, v before it is stretched), what is chosen for `channel`
                and `selection`, booleans for `split`, positive numbers for `exponential`, whole numbers for `words`.
        """
        from confide.privacy.noise.replayed import ReplayedNoise

        return ReplayedNoise(draws)

    @property
    @abstractmethod
    def kind(self) -> str:
        """One of "secure", "simulated", "replayed"."""

    @property
    def release_safe(self) -> bool:
        """Whether an outcome made with this noise may be published: True for secure noise alone."""
        return False

    @property
    def audited(self) -> bool:
        """Whether an audit listens: such noise says of itself what secure noise says, and an outcome that is made with
        it is a study all the same (`Mechanism._outcome`). It is for confide's own mechanisms: noise that a run of
        anybody's gets is put before it (`confide.privacy.noise.given_noise`), and does not say so.
        """
        return False

    @property
    def meter(self) -> Meter | None:
        """The meter of the run that draws from this noise; None outside of a run."""
        return self._meter

    def metering(self, mechanism: Any, *, device: bool = False) -> AbstractContextManager[None]:
        """Meter the draws, by the charge of a mechanism, until the end of its run.

        A run within a run draws on the lines of the outer one. What claims no privacy has no charge, and no meter.

        Args:
            mechanism: the mechanism that runs.
            device: whether it is one participant's device, which spends its own allowance.
        """
        return self._metering(mechanism, device=device)

    @contextmanager
    def _metering(self, mechanism: Any, *, device: bool) -> Iterator[None]:
        if self.meter is not None:
            yield
            return
        self._open_meter(mechanism, device=device)
        self._running = True
        try:
            yield
        finally:
            self._meter, self._running = None, False

    def open_meter(self, mechanism: Any, *, device: bool = False) -> None:
        """Meter the draws of a run that is no single call, such as one that waits for answers.

        Another attempt of the same mechanism begins with a new meter; a part of another's run keeps that one's. Within
        a run that is metered already, nothing changes.

        Args:
            mechanism: the mechanism that runs.
            device: the same as of `metering`.
        """
        if not self._running and (self.meter is None or self.meter.mechanism is mechanism):
            self._open_meter(mechanism, device=device)

    def _open_meter(self, mechanism: Any, *, device: bool) -> None:
        from confide.contract.errors import NotGuaranteed
        from confide.privacy.meter import Meter, is_broken_on_purpose

        if is_broken_on_purpose(mechanism) and (self.audited or not self.release_safe):  # a release is always metered
            return
        try:
            self._meter = Meter.of(mechanism, device=device)
        except NotGuaranteed:
            self._meter = None

    def __repr__(self) -> str:
        return f"<{self.kind} noise, {len(self._drawn)} streams drawn>"  # never the seed or a draw

    def discrete_laplace(
        self, scale: float | Fraction, size: int | tuple[int, ...], *, stream: Stream, center: Integers | None = None
    ) -> NDArray[np.int64]:
        """Draw center + integers k with P(k) prop. to exp(-|k|/scale).

        Args:
            scale: the scale in (0, 2^55], taken exactly; variance about 2 scale^2.
            size: a number, or a shape.
            stream: the draw's name.
            center: whole numbers in that shape; zeros if left out. A sum beyond 64 bits becomes the nearest end.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec query_release A3; secure draws by OpenDP, or exactly from balls where scale is no double.
        """
        exact, shape = as_exact("scale", scale, at_most=LARGEST_SCALE), as_shape(size)
        whole_numbers = as_integers(center, shape)
        return self._lattice("discrete_laplace", exact, whole_numbers, shape, self._claim(stream))

    @renamed(sigma="noise_std")
    def discrete_gaussian(
        self, noise_std: float | Fraction, size: int | tuple[int, ...], *, stream: Stream,
        center: Integers | None = None,
    ) -> NDArray[np.int64]:
        """Draw center + integers k with P(k) prop. to exp(-k^2/(2 noise_std^2)).

        Args:
            noise_std: the standard deviation in (0, 2^55], taken exactly; the variance is at most noise_std^2.
            size: a number, or a shape.
            stream: the draw's name.
            center: whole numbers in that shape; zeros if left out. A sum beyond 64 bits becomes the nearest end.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: Canonne, Kamath and Steinke 2020; spec query_release A3.
        """
        exact, shape = as_exact("noise_std", noise_std, at_most=LARGEST_SCALE), as_shape(size)
        whole_numbers = as_integers(center, shape)
        return self._lattice("discrete_gaussian", exact, whole_numbers, shape, self._claim(stream))

    def laplace(
        self,
        scale: float | Fraction,
        size: int | tuple[int, ...],
        *,
        stream: Stream,
        center: Center | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        """Draw center + independent Laplace(scale), density exp(-|z|/scale)/(2 scale), rounded to multiples of 2^-grid.

        Args:
            scale: > 0, taken exactly.
            size: a number, or a shape.
            stream: the draw's name.
            center: doubles or Fractions in that shape, taken exactly; zeros if left out.
            grid: the exponent of the grid 2^-grid, in 0..60.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.
        """
        exact, shape, fine = as_exact("scale", scale), as_shape(size), as_grid(grid)
        points = as_center(center, shape)
        return self._reals("laplace", exact, points, fine, shape, self._claim(stream)).reshape(shape)

    @renamed(sigma="noise_std")
    def gaussian(
        self,
        noise_std: float | Fraction,
        size: int | tuple[int, ...],
        *,
        stream: Stream,
        center: Center | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        """Draw center + independent N(0, noise_std^2), rounded to multiples of 2^-grid.

        Args:
            noise_std: standard deviation, > 0, taken exactly.
            size: a number, or a shape.
            stream: the draw's name.
            center: doubles or Fractions in that shape, taken exactly; zeros if left out.
            grid: the exponent of the grid 2^-grid, in 0..60.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.
        """
        exact, shape, fine = as_exact("noise_std", noise_std), as_shape(size), as_grid(grid)
        points = as_center(center, shape)
        return self._reals("gaussian", exact, points, fine, shape, self._claim(stream)).reshape(shape)

    def vector_laplace(
        self,
        scale: float | Fraction,
        dimension: int,
        *,
        stream: Stream,
        center: Center | None = None,
        stretch: ArrayLike | None = None,
        grid: int = 30,
    ) -> NDArray[np.float64]:
        """Draw center_k + stretch_k v_k, rounded to multiples of 2^-grid; v has density prop. to exp(-||v||_2/scale) in
        R^d.

        ||v|| is Gamma(d, scale) and the direction uniform; each coordinate has variance (d+1) scale^2. It is neither d
        independent Laplace draws nor a radius Exp(scale).

        Args:
            scale: > 0, taken exactly.
            dimension: d >= 1.
            stream: the draw's name.
            center: d doubles or Fractions, taken exactly; zeros if left out.
            stretch: d positive doubles, public; ones if left out.
            grid: the exponent of the grid 2^-grid, in 0..60.

        Returns:
            Shape (d,).

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec truthful_regression 4.4.
        """
        exact, fine = as_exact("scale", scale), as_grid(grid)
        dimension = whole("dimension", dimension, at_least=1)
        points, factors = as_center(center, (dimension,)), as_stretch(stretch, dimension)
        return self._vector(exact, points, factors, fine, self._claim(stream))

    def channel(self, table: ArrayLike, inputs: ArrayLike, *, stream: Stream) -> NDArray[np.int64]:
        """Outputs of a finite channel: j for input i with probability table[i, j] / row sum, exactly, independently.

        Args:
            table: (m, k) public weights, whole numbers >= 0, every row with the same sum in [1, 2^62].
            inputs: (n,) rows of the table; they may be private.
            stream: the draw's name.

        Returns:
            (n,) columns of the table.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec privacy_notions section 4 (exact coding for releases).

        Example:
            >>> Noise.simulated(1).channel([[3, 1], [1, 3]], [0, 0, 1, 1], stream="answers").tolist()
            [0, 0, 1, 1]
        """
        weights = as_table(table)
        rows = as_inputs(inputs, len(weights))
        return self._channel(weights, rows, self._claim(stream))

    def selection(self, logits: ArrayLike, size: int = 1, *, stream: Stream) -> NDArray[np.int64]:
        """Independent positions j with probability in proportion to exp(logit_j), exactly: an exponential mechanism.

        Logits are doubles, taken down to 700 below the largest. The law is that of the doubles exp(logit - largest),
        as the exact numbers that they are; it is off by a relative 2^-40 at most. Use `exponential_mechanism`, which
        turns scores into logits and leaves room for that.

        Args:
            logits: (k,) finite, 1 <= k <= 2^24; they may be private.
            size: number of draws.
            stream: the draw's name.

        Returns:
            (size,) positions.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec query_release A3 (exact draws).
        """
        checked, count = as_logits(logits), whole("size", size)
        return self._selection(checked, count, self._claim(stream))

    def split(self, people: int, *, stream: Stream) -> NDArray[np.bool_]:
        """A uniformly random balanced partition: floor(people/2) times False, True for the others.

        Args:
            people: >= 0.
            stream: the draw's name.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec truthful_regression 4.1, step 2.
        """
        people = whole("people", people)
        return self._split(people, self._claim(stream))

    def exponential(self, size: int | tuple[int, ...], *, stream: Stream) -> NDArray[np.float64]:
        """Independent standard exponentials, density exp(-x) on x > 0: raw material of orders, not of released numbers.

        Secure draws are within a relative 2^-50 of ideal real ones, the smallest included. That protects an order,
        whose law such errors move by a known amount (`confide.search` charges for it). It does not protect a number
        that is released: a double's low bits would tell what was added to it. For that there are `laplace` and its kin.

        Args:
            size: a number, or a shape.
            stream: the draw's name.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec targeted_search 3.2 (floating point).

        Example:
            >>> bool((Noise.simulated(1).exponential(1000, stream="order") > 0).all())
            True
        """
        shape = as_shape(size)
        return self._exponential(shape, self._claim(stream))

    def words(self, size: int | tuple[int, ...], *, stream: Stream) -> NDArray[np.uint64]:
        """Independent uniform integers in [0, 2^64).

        Args:
            size: a number, or a shape.
            stream: the draw's name.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Example:
            >>> Noise.simulated(1).words(2, stream="coins").dtype
            dtype('uint64')
        """
        shape = as_shape(size)
        return self._words(shape, self._claim(stream))

    def _claim(self, stream: Stream) -> StreamName:
        """Mark a stream as drawn. Arguments are checked before, so that a refused call uses nothing up."""
        name = as_stream(stream)
        with self._lock:
            if name in self._drawn:
                raise InvalidInput("stream", f"{stream!r} was already drawn",
                                   "each stream is drawn once: make a new Noise for each run")
            meter = self.meter
            if meter is not None:
                meter.claimed(name)
            self._drawn.add(name)
        return self._named(name)

    def _named(self, stream: StreamName) -> StreamName:
        """Under which name a draw is asked for further on: its own, but for noise that many devices share."""
        return stream

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        drawn = self._integers(law, scale, shape, stream)
        if center is None:
            return drawn
        limit = 2**63
        sums = [min(max(c + k, -limit), limit - 1) for c, k in zip(center, drawn.reshape(-1).tolist(), strict=True)]
        return np.array(sums, dtype=np.int64).reshape(shape)

    @abstractmethod
    def _integers(
        self, law: DiscreteLaw, scale: Fraction, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]: ...

    @abstractmethod
    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]: ...

    @abstractmethod
    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]: ...

    @abstractmethod
    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]: ...

    @abstractmethod
    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]: ...

    @abstractmethod
    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]: ...

    @abstractmethod
    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]: ...

    @abstractmethod
    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]: ...


def as_noise(noise: object) -> Noise:
    """A source of noise, or a refusal that says where to get one."""
    if not isinstance(noise, Noise):
        raise InvalidInput("noise", f"{type(noise).__name__} is not a Noise", "use Noise.secure(), or .simulated(seed)")
    return noise

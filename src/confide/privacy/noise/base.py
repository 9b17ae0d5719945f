"""The class `Noise`, from which all random numbers of confide come."""

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

    A draw is requested by its law, its size and the name of its stream. Each stream is drawn once per `Noise`. A second
    draw of a stream is refused, because noise that is used twice can be subtracted out.

    Real-valued noise is added to its `center` and rounded to a multiple of 2^-grid in one step. Secure noise rounds the
    ideal real number center + noise exactly, so the result is post-processing of the ideal mechanism. Adding noise as a
    double to a double would reveal the center through the low bits. Results above 2^53 units of the grid are then
    rounded again, to the nearest double.

    The center may be private, while every other argument is public. The time of a secure draw depends on public
    parameters, on the noise of a rejection sampler, and, by nanoseconds, on the length of the center's integers. With
    probability below 2^-60, whatever the center, a rounding needs further random bits.

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
        """Exact noise from the operating system's randomness. Secure noise takes no seed, because a seed would allow
        the draws to be repeated.
        """
        from confide.privacy.noise.given_noise import GivenNoise
        from confide.privacy.noise.secure import SecureNoise

        return GivenNoise(SecureNoise())

    @classmethod
    def simulated(cls, seed: int) -> Noise:
        """Reproducible numpy noise for studies and tests, which must not be used for a release.

        Args:
            seed: a whole number >= 0. Each stream has its own generator, derived from the seed and the stream's name.
                Simulated draws do not depend on the order of requests, on threads or on chunks.
        """
        from confide.privacy.noise.simulated import SimulatedNoise

        return SimulatedNoise(seed)

    @classmethod
    def replayed(cls, draws: Mapping[Stream, ArrayLike]) -> Noise:
        """Noise that replays given draws, and must not be used for a release.

        Args:
            draws: mapping from a stream to its raw noise, in the shape that will be requested. Discrete laws take
                integers, and real laws take real numbers. `vector_laplace` takes the vector v before it is stretched.
                `channel` and `selection` take the chosen positions, `split` booleans, `exponential` positive numbers,
                and `words` whole numbers.
        """
        from confide.privacy.noise.replayed import ReplayedNoise

        return ReplayedNoise(draws)

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of the noise: "secure", "simulated" or "replayed"."""

    @property
    def release_safe(self) -> bool:
        """Whether an outcome made with this noise may be published, which is True for secure noise only."""
        return False

    @property
    def audited(self) -> bool:
        """Whether an audit records the draws. Audited noise reports the properties of secure noise, but an outcome made
        with audited noise counts as a study (`Mechanism._outcome`).

        The property `audited` serves confide's own mechanisms. The noise of any run is wrapped
        (`confide.privacy.noise.given_noise`), and the wrapper does not report whether an audit records the draws.
        """
        return False

    @property
    def meter(self) -> Meter | None:
        """The meter of the run that draws from this noise; None outside of a run."""
        return self._meter

    def metering(self, mechanism: Any, *, device: bool = False) -> AbstractContextManager[None]:
        """Context manager that meters the draws of a mechanism's run by the mechanism's charge.

        The draws of a run within another run are paid from the lines of the outer run. A mechanism that claims no
        privacy has no charge and gets no meter.

        Args:
            mechanism: the mechanism that runs.
            device: whether the run is on one participant's device, which spends its own allowance.
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
        """Meter the draws of a run that consists of several calls, such as one that waits for answers.

        A new attempt to run the mechanism starts a new meter. A mechanism that is a part of another mechanism's run
        keeps the meter of that run. Inside a `metering` context, `open_meter` changes nothing.

        Args:
            mechanism: the mechanism that runs.
            device: whether the run is on one participant's device, which spends its own allowance.
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
        """Draw center + independent integers k with P(k) proportional to exp(-|k|/scale).

        Args:
            scale: the noise scale in (0, 2^55], used without rounding; the variance is about 2 scale^2.
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.
            center: whole numbers in the shape `size`; zeros if left out. A sum beyond 64 bits becomes the nearest
                64-bit integer.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec query_release A3; OpenDP makes secure draws if the scale is a double, and ball arithmetic
        otherwise.
        """
        exact, shape = as_exact("scale", scale, at_most=LARGEST_SCALE), as_shape(size)
        whole_numbers = as_integers(center, shape)
        return self._lattice("discrete_laplace", exact, whole_numbers, shape, self._claim(stream))

    @renamed(sigma="noise_std")
    def discrete_gaussian(
        self, noise_std: float | Fraction, size: int | tuple[int, ...], *, stream: Stream,
        center: Integers | None = None,
    ) -> NDArray[np.int64]:
        """Draw center + independent integers k with P(k) proportional to exp(-k^2/(2 noise_std^2)).

        Args:
            noise_std: the standard deviation in (0, 2^55], used without rounding; the variance is at most noise_std^2.
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.
            center: whole numbers in the shape `size`; zeros if left out. A sum beyond 64 bits becomes the nearest
                64-bit integer.

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
        """Draw center + independent Laplace(scale) noise with density exp(-|z|/scale)/(2 scale), rounded to multiples
        of 2^-grid.

        Args:
            scale: noise scale, > 0, used without rounding.
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.
            center: doubles or Fractions in the shape `size`, used without rounding; zeros if left out.
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
        """Draw center + independent N(0, noise_std^2) noise, rounded to multiples of 2^-grid.

        Args:
            noise_std: standard deviation, > 0, used without rounding.
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.
            center: doubles or Fractions in the shape `size`, used without rounding; zeros if left out.
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
        """Draw a vector with coordinates center_k + stretch_k v_k, rounded to multiples of 2^-grid. The noise v has
        density proportional to exp(-||v||_2/scale) in R^d.

        The length ||v|| is Gamma(d, scale) and the direction is uniform, so each coordinate has variance (d+1) scale^2.
        The law differs from d independent Laplace draws, and from a uniform direction with a radius Exp(scale).

        Args:
            scale: noise scale, > 0, used without rounding.
            dimension: the dimension d >= 1.
            stream: the name of the draw; each name can be used only once.
            center: (d,) doubles or Fractions, used without rounding; zeros if left out.
            stretch: (d,) positive doubles, public, by which the coordinates of the noise v are multiplied; ones if left
                out.
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
        """Draw independent outputs of a finite channel: input i gives output j with probability exactly table[i, j] /
        (row sum).

        Args:
            table: (m, k) public weights, whole numbers >= 0: one row for each input and one column for each output.
                Every row has the same sum, in [1, 2^62].
            inputs: (n,) row numbers of the table; they may be private.
            stream: the name of the draw; each name can be used only once.

        Returns:
            (n,) column numbers of the table.

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
        """Draw independent positions j with probability proportional to exp(logit_j), the law of an exponential
        mechanism.

        Logits are doubles. A logit that is more than 700 below the largest logit counts as 700 below it. The weights
        are the doubles exp(logit - largest), used as exact numbers. These doubles differ from the ideal weights by a
        relative 2^-40 at most. If you have scores, use `exponential_mechanism` instead, which converts scores to logits
        and keeps a margin for this error.

        Args:
            logits: (k,) finite, 1 <= k <= 2^24; they may be private.
            size: number of draws.
            stream: the name of the draw; each name can be used only once.

        Returns:
            (size,) positions in `logits`.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec query_release A3 (exact draws).
        """
        checked, count = as_logits(logits), whole("size", size)
        return self._selection(checked, count, self._claim(stream))

    def split(self, people: int, *, stream: Stream) -> NDArray[np.bool_]:
        """Draw a uniformly random balanced partition, as an array with floor(people/2) entries False and all other
        entries True.

        Args:
            people: the number of people, >= 0.
            stream: the name of the draw; each name can be used only once.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Source: spec truthful_regression 4.1, step 2.
        """
        people = whole("people", people)
        return self._split(people, self._claim(stream))

    def exponential(self, size: int | tuple[int, ...], *, stream: Stream) -> NDArray[np.float64]:
        """Draw independent standard exponentials, density exp(-x) on x > 0, as raw material for random orders and not
        for released numbers.

        Each secure draw, even a very small one, differs from an ideal real draw by a relative error of at most 2^-50. A
        relative error of 2^-50 is small enough for a random order, whose law the errors change by a known amount
        (`confide.search` charges for that amount). An exponential draw does not protect a released number, because its
        low bits as a double would reveal the number to which it was added. For a released number use `laplace`,
        `gaussian` or a discrete law.

        Args:
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.

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
        """Draw independent uniform integers in [0, 2^64).

        Args:
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.

        Raises:
            InvalidInput: an argument out of range, or the stream was drawn before.

        Example:
            >>> Noise.simulated(1).words(2, stream="coins").dtype
            dtype('uint64')
        """
        shape = as_shape(size)
        return self._words(shape, self._claim(stream))

    def _claim(self, stream: Stream) -> StreamName:
        """Mark a stream as drawn. All other arguments are checked before the call, so a refused draw does not use up
        its stream.
        """
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
        """The name under which a draw is requested from the source: the stream's own name, except in noise that many
        devices share.
        """
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
    """The given source of noise, after a check of its type. Any other object is refused, and the error message says how
    to get a source of noise.
    """
    if not isinstance(noise, Noise):
        raise InvalidInput("noise", f"{type(noise).__name__} is not a Noise", "use Noise.secure(), or .simulated(seed)")
    return noise

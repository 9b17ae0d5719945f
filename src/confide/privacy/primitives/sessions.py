"""Sessions, in which one event pays for all draws of a primitive that works step by step.

A tree counter or a sparse vector draws many numbers from a few laws, and a theorem about the primitive gives their
joint cost. A session is paid for when it is opened, and declares all draws that it may make: the law, the scale and the
number of draws of each part. The theorem is evaluated at the scales at which the noise is later drawn. A draw cannot
choose another scale, and is refused once the declared number is used up.

The module also contains `pay`, which pays for single draws on the meter of a run.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.metered import Overspent
from confide.contract.words import counted
from confide.privacy.charge import DrawCost
from confide.privacy.meter import Meter
from confide.privacy.noise.arguments import Stream, as_shape, as_stream
from confide.privacy.noise.base import Noise, as_noise

__all__ = ["NoiseSession", "Part", "SessionLaw", "open_session", "pay"]

# ---- spending


def pay(
    noise: Noise, cost: DrawCost, *, stream: Stream, line: str | None = None, count: int = 1, group: str | None = None
) -> Noise:
    """Pay for the draws of one stream, and return the noise from which to draw them.

    Args:
        noise: the noise of the run.
        cost: the cost of one draw.
        stream: the name of the stream that is drawn next.
        line: the line of the charge that pays; None if the charge has one line only.
        count: the number of draws, each of the cost `cost`.
        group: for a line of parallel groups, the group of people whose records the draws are about.

    Raises:
        InvalidInput: the argument is not a source of noise, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draws. Nothing was drawn.
    """
    source = as_noise(noise)
    meter = source.meter
    if meter is None:
        return source
    if cost.pure == 0:  # the same law, whatever the records are
        meter.public(stream)
    else:
        meter.spend(line, cost, stream, count=count, group=group)
    return source


# ---- sessions

SessionLaw = Literal["discrete_laplace", "discrete_gaussian", "laplace", "gaussian", "exponential", "words"]


@dataclass(frozen=True)
class Part:
    """The draws from one law that a session may make.

    Args:
        law: the law of the draws; "exponential" and "words" are raw material for random orders, and have no scale.
        scale: scale of Laplace noise, or standard deviation of Gaussian noise; used without rounding.
        draws: largest number of draws; None if the cost does not depend on their number.
        grid: exponent of the grid 2^-grid to which noise on the real line is rounded.
    """

    law: SessionLaw
    scale: float | Fraction = 1
    draws: int | None = None
    grid: int = 30


def open_session(
    noise: Noise, theorem: Callable[[Mapping[str, Fraction]], DrawCost], parts: Mapping[str, Part], *, stream: Stream,
    line: str | None = None,
) -> NoiseSession:
    """Pay for a session, and open it.

    Args:
        noise: the noise of the run.
        theorem: function that returns the cost of all draws of `parts` together. The argument is a mapping from the
            name of each part to the exact noise scale.
        parts: mapping from the name of each part to the draws that the session may make for this part.
        stream: the first words of the names of all draws of the session.
        line: the name of the line of the run's charge that pays for the session; None if the charge has one line only.

    Raises:
        InvalidInput: the argument is not a source of noise, or the charge has no line of the given name.
        Overspent: the line cannot pay for the session. Nothing was drawn.
    """
    source = as_noise(noise)
    meter: Meter | None = source.meter
    cost, name = theorem({name: Fraction(part.scale) for name, part in parts.items()}), line
    if meter is not None and cost.pure != 0:
        meter.spend(line, cost, stream)
        paid = meter.payment_of(as_stream(stream))
        name = None if paid is None or paid.line is None else paid.line.name
    return NoiseSession(source, meter, stream, name or "", dict(parts))


class NoiseSession:
    """The noise of a session that is paid for, as `open_session` returns it."""

    def __init__(
        self, noise: Noise, meter: Meter | None, opening: Stream, line: str, parts: dict[str, Part]
    ) -> None:
        self._noise, self._meter, self._opening, self._line, self._parts = noise, meter, opening, line, parts
        self._left = {name: part.draws for name, part in parts.items()}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<noise session of {self._line!r}>"

    def draw(
        self, part: str, size: int | tuple[int, ...], *, stream: Stream, center: Any = None
    ) -> NDArray[Any]:
        """Draw the noise of one part, and add the noise to `center` if it is given.

        Args:
            part: the name of a part that the session declared.
            size: the number of draws, or the shape of the array of draws.
            stream: the name of the draw; each name can be used only once.
            center: the private numbers to which the noise is added, in the shape `size`; zeros if left out.

        Raises:
            Overspent: more numbers than were declared for the part.
        """
        declared, shape = self._parts[part], as_shape(size)
        with self._lock:
            left, count = self._left[part], math.prod(shape)
            if left is not None:
                if count > left:
                    raise Overspent(self._line, f"{count:,} draws of {part!r}",
                                    f"the session still pays for {counted(left, 'draw')}")
                self._left[part] = left - count
        if self._meter is not None:
            self._meter.paid_before(self._opening, stream)
        noise = self._noise
        match declared.law:
            case "discrete_laplace":
                return noise.discrete_laplace(declared.scale, shape, stream=stream, center=center)
            case "discrete_gaussian":
                return noise.discrete_gaussian(declared.scale, shape, stream=stream, center=center)
            case "laplace":
                return noise.laplace(declared.scale, shape, stream=stream, center=center, grid=declared.grid)
            case "gaussian":
                return noise.gaussian(declared.scale, shape, stream=stream, center=center, grid=declared.grid)
        if center is not None:
            raise InvalidInput("center", f"does not apply to the law {declared.law!r}",
                                                              "raw random values are not added to a number")
        if declared.law == "words":
            return noise.words(shape, stream=stream)
        return noise.exponential(shape, stream=stream)

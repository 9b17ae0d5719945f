"""Sessions: one event pays for all draws of a primitive that works step by step.

A tree counter, a sparse vector and flags draw many numbers of a few laws. What they cost together is a theorem of
theirs. So a session is paid for when it is opened, with all that it may draw declared: each part's law, scale and
number. The theorem is given the scales that are drawn. Draws take no scale, and end where the declared number does.

Paying for a draw on the meter of the run whose noise it is.
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
from confide.privacy.charge import DrawCost
from confide.privacy.meter import Meter
from confide.privacy.noise.arguments import Stream, as_shape, as_stream
from confide.privacy.noise.base import Noise, as_noise

__all__ = ["NoiseSession", "Part", "SessionLaw", "open_session", "pay"]

# ---- spending


def pay(
    noise: Noise, cost: DrawCost, *, stream: Stream, line: str | None = None, count: int = 1, group: str | None = None
) -> Noise:
    """Pay for draws of one stream; the result is the noise to draw them from.

    Args:
        noise: the noise of the run.
        cost: the cost of one draw.
        stream: the name under which they are drawn next.
        line: the line of the charge that pays; None where the charge has one line only.
        count: the number of draws that cost so much each.
        group: the group of people whose records they are about, on a line of parallel groups.

    Raises:
        InvalidInput: no noise, or no such line.
        Overspent: the line does not pay for it. Nothing was drawn.
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
    """The draws of one law that a session may make.

    Args:
        law: "exponential" and "words" are raw material of an order, and have no scale.
        scale: b of Laplace noise, sigma of Gaussian noise; exactly.
        draws: numbers at most; None where the cost does not depend on how many.
        grid: the grid of noise on the line.
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
        theorem: the cost of all draws of `parts` together, from each part's name and its scale exactly as it is drawn.
        parts: name -> what may be drawn.
        stream: first words of the names of its draws.
        line: the line of the charge that pays.

    Raises:
        InvalidInput: no noise, or no such line.
        Overspent: the line does not pay for it. Nothing was drawn.
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
    """Noise that was paid for. `open_session` makes it."""

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
        """Draw numbers of one part, added to a center where one is given.

        Args:
            part: the name of the part.
            size: a number, or a shape.
            stream: name of the draw.
            center: the private center of that shape; zeros if left out.

        Raises:
            Overspent: more numbers than were declared.
        """
        declared, shape = self._parts[part], as_shape(size)
        with self._lock:
            left, count = self._left[part], math.prod(shape)
            if left is not None:
                if count > left:
                    raise Overspent(self._line, f"{count:,} draws of {part!r}", f"{left:,} of the session are left")
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
            raise InvalidInput("center", f"is given for {declared.law!r}", "raw material is added to nothing")
        if declared.law == "words":
            return noise.words(shape, stream=stream)
        return noise.exponential(shape, stream=stream)

"""Faulty sources of noise, for the controls of an audit: a mechanism that runs with a faulty source must be flagged.

Each faulty source wraps a correct source, so that an audit that records the noise requests records the faulty noise
too. (A source that adds no noise is `ForcedNoise` with an empty transcript.)

`inject_fault` makes a faulty mechanism from a correct one. The faulty mechanism has the same parameters, and uses the
methods of another class in place of its own.

`part_controls` halves the noise of one part of a release at a time: an audit must flag every halved part.

If the noise of all parts were reduced at once, one part with a loss near its claim would be enough for a flag, whatever
happens in the other parts. Therefore the noise of each part is reduced alone, and the audit must find that the claim
about this part is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide.audit.fixed_transcript import TranscriptAudit
from confide.audit.report import Control
from confide.contract.renamed import renamed
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import Points, Stream, StreamName, begins_with
from confide.privacy.noise.base import RealLaw
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.noise.recorded import PassingNoise

__all__ = [
    "HALF", "SHARPEST", "DampedNoise", "RepeatedNoise", "ShiftedNoise", "StuckNoise", "first_flagged", "inject_fault",
    "part_controls",
]

# ---- how small a fault is seen

SHARPEST = 0.9
"""The first share of a needed quantity, such as noise or a charge, that an audit tries as a fault."""

_TRIED = 4  # a check that sees nothing above a ninth of what is needed is none


def first_flagged(needed: float, flags: Callable[[float], bool]) -> tuple[float, bool]:
    """Try smaller and smaller shares of a needed quantity, until one is flagged or four were tried. The first share is
    `SHARPEST` times the needed share, and each further share is half of the share before.

    Args:
        needed: the share of the quantity that just suffices for the promise.
        flags: function that says whether an audit flags a share.

    Returns:
        The last share that was tried, and whether it was flagged.

    Example:
        >>> first_flagged(1.0, lambda share: share < 0.5), first_flagged(0.5, lambda share: False)
        ((0.45, True), (0.05625, False))
    """
    factor = SHARPEST * needed
    for _ in range(_TRIED - 1):
        if flags(factor):
            return factor, True
        factor /= 2
    return factor, flags(factor)


# ---- injecting

_Made = TypeVar("_Made")


def inject_fault(made: _Made, code: type[Any], **changes: Any) -> _Made:
    """A copy of a dataclass instance with the same fields, in which the methods of the class `code` replace the methods
    of the instance's own class. If the instance is already an instance of `code`, the copy keeps the class.

    Args:
        made: a mechanism, or a part of one.
        code: class with the faulty methods, which may call the correct ones with `super()`.
        changes: new values of fields, by the name of the field.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Noise:
        ...     scale: float
        ...     def deviation(self): return self.scale
        >>> class Quarter:
        ...     def deviation(self): return super().deviation() / 4
        >>> inject_fault(Noise(8.0), Quarter).deviation(), inject_fault(Noise(8.0), Quarter, scale=4.0).deviation()
        (2.0, 1.0)
    """
    kind: Any = type(made) if isinstance(made, code) else type(code.__name__, (code, type(made)), {})
    known = {one.name: getattr(made, one.name) for one in fields(made) if one.init}  # type: ignore[arg-type]
    found: _Made = kind(**{**known, **changes})
    return found


# ---- faulty noise

_WHOLE = 2**50  # weight of a row of a sharpened channel


class DampedNoise(PassingNoise):
    """Noise with a smaller scale than the requested scale.

    Args:
        source: the correct source of noise, which is wrapped.
        factor: factor by which every noise scale is multiplied. Logits, and logarithms of a channel's weights, are
            divided by `factor`.
        part: prefix of the streams with reduced noise, as a fixed-transcript audit names a part ("release",
            "release/gram"); all other streams get the requested noise. The prefix "" stands for every stream.

    Example:
        >>> noise, sound = DampedNoise(Noise.simulated(1), 0.001, "certificate"), Noise.simulated(1)
        >>> noise.laplace(5.0, 2, stream="certificate", center=[1.0, 2.0], grid=0).tolist()
        [1.0, 2.0]
        >>> bool((noise.laplace(5.0, 9, stream=("counts", 1)) == sound.laplace(5.0, 9, stream=("counts", 1))).all())
        True
    """

    def __init__(self, source: Noise, factor: float, part: str = "") -> None:
        super().__init__()
        self._source = source
        self._damped, self._part = Fraction(factor), part

    def _factor(self, stream: StreamName) -> Fraction:
        """Factor of a stream's scale."""
        return self._damped if begins_with(stream, self._part) else Fraction(1)

    @property
    def kind(self) -> str:
        return self._source.kind

    @property
    def release_safe(self) -> bool:
        return self.audited

    @property
    def audited(self) -> bool:
        return self._source.audited

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        return self._source.split(people, stream=stream)

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        return self._source.exponential(shape, stream=stream) * float(self._factor(stream))

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        return self._source.words(shape, stream=stream)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        with np.errstate(divide="ignore"):
            logits = np.log(table / table.max()) / float(self._factor(stream))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        sharp = np.floor(weights / weights.sum(axis=1, keepdims=True) * _WHOLE).astype(np.int64)
        sharp[np.arange(len(sharp)), np.argmax(sharp, axis=1)] += _WHOLE - sharp.sum(axis=1)
        return self._source.channel(sharp, inputs, stream=stream)

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        return self._source.selection((logits - logits.max()) / float(self._factor(stream)), count, stream=stream)

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        ask = self._source.discrete_laplace if law == "discrete_laplace" else self._source.discrete_gaussian
        flat = None if center is None else np.array(center, dtype=object).reshape(shape)
        return ask(scale * self._factor(stream), shape, stream=stream, center=flat)

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        ask = self._source.laplace if law == "laplace" else self._source.gaussian
        flat: Any = np.array(points, dtype=object if isinstance(points, list) else np.float64).reshape(shape)
        return ask(scale * self._factor(stream), shape, stream=stream, center=flat, grid=grid).reshape(-1)

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        return self._source.vector_laplace(scale * self._factor(stream), len(stretch), stream=stream, center=points,
                                           stretch=stretch, grid=grid)


class RepeatedNoise(DampedNoise):
    """Faulty source that reuses noise. The source draws noise only for the first of all requests with equal
    distribution and size, and all later requests get this noise again.

    Args:
        source: the correct source of noise, which is wrapped.

    Example:
        >>> noise = RepeatedNoise(Noise.simulated(1))
        >>> one, other = (noise.laplace(2.0, 3, stream=name, center=[0.0, 5.0, 9.0]) for name in ("one", "other"))
        >>> one.tolist() == other.tolist()
        True
    """

    def __init__(self, source: Noise) -> None:
        super().__init__(source, 1.0)
        self._first: dict[tuple[str, int], tuple[Fraction, NDArray[np.float64]]] = {}
        self._whole: dict[tuple[str, int, Fraction], NDArray[np.int64]] = {}

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        kind = (law, int(np.prod(shape)), scale)  # whole numbers are not scaled
        bare = np.array([0] * kind[1] if center is None else center, dtype=np.int64).reshape(shape)
        if kind not in self._whole:
            value = super()._lattice(law, scale, center, shape, stream)
            self._whole[kind] = np.asarray(value - bare.reshape(value.shape))
            return value
        return np.asarray(bare + self._whole[kind].reshape(shape))

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        bare = np.array([float(p) for p in points])
        return self._again((law, len(bare)), scale, bare, np.ones(len(bare)),
                           lambda: super(RepeatedNoise, self)._reals(law, scale, points, grid, shape, stream))

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        return self._again(("vector_laplace", len(stretch)), scale, np.array([float(p) for p in points]), stretch,
                           lambda: super(RepeatedNoise, self)._vector(scale, points, stretch, grid, stream))

    def _again(
        self, kind: tuple[str, int], scale: Fraction, bare: NDArray[np.float64], stretch: NDArray[np.float64],
        draw: Callable[[], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        if kind not in self._first:
            value = draw()
            self._first[kind] = scale, (value - bare) / stretch
            return value
        first, drawn = self._first[kind]
        return bare + stretch * drawn * float(scale / first)


class ShiftedNoise(DampedNoise):
    """Biased noise: every draw of numbers is shifted by a multiple of its scale.

    Args:
        source: the correct source of noise, which is wrapped.
        shift: size of the shift, as a multiple of the scale.
    """

    def __init__(self, source: Noise, shift: float) -> None:
        super().__init__(source, 1.0)
        self._shift = Fraction(shift)

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        numbers = [0] * int(np.prod(shape)) if center is None else center
        return super()._lattice(law, scale, [c + round(self._shift * scale) for c in numbers], shape, stream)

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        return super()._reals(law, scale, [Fraction(p) + self._shift * scale for p in points], grid, shape, stream)

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        return super()._vector(scale, [Fraction(p) + self._shift * scale for p in points], stretch, grid, stream)


class StuckNoise(DampedNoise):
    """Noise that restarts for every stream, so that all streams get the same draws.

    Args:
        source: function that returns a fresh correct source, such as `lambda: Noise.simulated(1)`. The function is
            called again for every stream.
    """

    def __init__(self, source: Callable[[], Noise]) -> None:
        super().__init__(source(), 1.0)
        self._make = source

    def _claim(self, stream: Stream) -> StreamName:
        self._source = self._make()
        super()._claim(stream)
        return ("stuck",)


# ---- parts

HALF = 0.5
"""Share of the noise scale that a part keeps in the controls of `part_controls`."""

_BEYOND = 1.001  # of what half of the noise just shows

Replay = Callable[[Callable[[Noise], Noise]], Mapping[str, TranscriptAudit]]
"""Function that repeats an audit with other noise: from a replacement of the run's noise to the audits of the parts."""


@renamed(walk="replay")
def part_controls(sound: Mapping[str, TranscriptAudit], replay: Replay, named: Callable[[str], str]) -> list[Control]:
    """Controls in which one part of the release at a time gets half of its noise. Each control is compared with the
    claim about that part.

    Args:
        sound: the audits of the correct mechanism, by part, from `fixed_transcript_audit`; audits of promises are left
            out. A part gets no control if its measured loss is too far below the claim for half of the noise to break
            the claim.
        replay: function that repeats the audit with other noise. The argument is a function from the noise of the run
            to the noise that takes its place.
        named: function from a part to the name of the audit row about this part.

    Example:
        >>> from confide.audit import Neighbours, fixed_transcript_audit
        >>> from confide.privacy import PureDP
        >>> def sums(values, noise):
        ...     return [noise.laplace(2.0, 1, stream=("sum", k), center=[values[k]])[0] for k in range(2)]
        >>> pair = Neighbours([0.0, 0.0], [0.2, 1.0], lambda outcome: repr(outcome).encode())
        >>> def replay(changed):
        ...     return fixed_transcript_audit(lambda data, noise: sums(data, changed(noise)), [pair],
        ...                       {"": PureDP(0.6), "sum/0": PureDP(0.5), "sum/1": PureDP(0.5)}, Noise.simulated)
        >>> found = replay(lambda noise: noise)
        >>> found["sum/0"].shown, part_controls(found, replay, lambda part: f"privacy: {part}")
        (0.2, [Control(name='privacy: sum/1', mutant='half of its noise', flagged=True)])
    """
    out = []
    for part, audit in sound.items():
        if not part or audit.promise is not None or audit.shown is None or audit.shown < _BEYOND * HALF:
            continue
        found = replay(lambda noise, of=part: DampedNoise(noise, HALF, of))[part]  # type: ignore[misc]
        out.append(Control(named(part), "half of its noise", found.flagged and not found.leaks))
    return out

"""Transcripts: what was asked and what came back; the same answers on other data; noise added to centers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from confide.audit import DampedNoise
from confide.contract import Billboard, Guarantees, InvalidInput, Mechanism, SimulatedOutcome
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise

SHIFT = [0.25, -3.0, 1e-9]


def _all(noise: Noise, offset: float) -> dict[str, np.ndarray]:
    """One draw of every law, around centers that move with the offset."""
    center = [c + offset for c in SHIFT]
    whole = [int(offset * 8) + k for k in (0, 5, -7)]
    return {
        "split": noise.split(10, stream=("split",)),
        "laplace": noise.laplace(2.0, 3, stream="laplace", center=center),
        "gaussian": noise.gaussian(0.5, 3, stream="gaussian", center=center, grid=20),
        "vector_laplace": noise.vector_laplace(1.5, 3, stream="vector", center=center, stretch=[1.0, 2.0, 0.5]),
        "discrete_laplace": noise.discrete_laplace(4, 3, stream="dl", center=whole),
        "discrete_gaussian": noise.discrete_gaussian(3.0, (3, 1), stream="dg", center=np.array(whole).reshape(3, 1)),
        "exponential": noise.exponential((2, 2), stream="exponential"),
        "words": noise.words(3, stream="words"),
    }


@pytest.mark.parametrize("source", [lambda: Noise.simulated(3), Noise.secure])
def test_recording_changes_nothing_and_writes_everything_down(source: Any) -> None:
    recorded = RecordingNoise(source())
    values = _all(recorded, 0.0)
    assert [draw.law for draw in recorded.draws] == list(values)
    for draw in recorded.draws:
        assert np.array_equal(draw.value, values[draw.law].reshape(draw.value.shape))
    laplace = recorded.draws[1]
    assert (laplace.stream, laplace.scale, laplace.shape) == (("laplace",), Fraction(2), (3,))
    assert laplace.center == tuple(map(Fraction, SHIFT))
    assert recorded.draws[4].center == (Fraction(0), Fraction(5), Fraction(-7))
    assert (recorded.kind, recorded.release_safe) == ("secure", True)  # a run cannot know that it is listened to
    assert recorded.audited  # and what it makes is never a release, whatever the source


@dataclass(frozen=True, kw_only=True)
class Board(Billboard):
    kind: str


@dataclass(frozen=True, kw_only=True)
class Telling(Mechanism):
    """It shows what its noise says of itself."""

    def guarantees(self) -> Guarantees:
        return Guarantees(())

    def events(self) -> tuple[()]:
        return ()

    def run(self, data: Any, noise: Any) -> Any:
        return self._outcome(noise, billboard=Board(kind=f"{noise.kind} {noise.release_safe}"),
                             shares=pa.table({"it": [0]}), diagnostics={"true": 1.0})

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": 0}


def audits() -> dict[str, Any]:
    sources = {"recording": RecordingNoise(Noise.simulated(1)), "of secure noise": RecordingNoise(Noise.secure()),
               "forced": ForcedNoise([])}
    return {**sources, **{f"damped, {name}": DampedNoise(each, 0.5) for name, each in sources.items()}}


@pytest.mark.parametrize("name", audits())
def test_a_run_cannot_distinguish_an_audit_from_a_release_and_makes_none(name: str) -> None:
    outcome = Telling().run(None, audits()[name])
    assert outcome.billboard.kind == Telling().run(None, Noise.secure()).billboard.kind == "secure True"
    assert isinstance(outcome, SimulatedOutcome)
    assert outcome.provenance.noise == "replayed"


def test_damped_secure_noise_is_fit_for_no_release() -> None:
    assert not DampedNoise(Noise.secure(), 0.5).release_safe


def test_recording_simulated_noise_gives_the_same_values() -> None:
    plain, recorded = _all(Noise.simulated(3), 0.0), _all(RecordingNoise(Noise.simulated(3)), 0.0)
    for law, value in plain.items():
        assert np.array_equal(value, recorded[law]), law


def test_forced_noise_answers_alike_on_other_data() -> None:
    history = RecordingNoise(Noise.simulated(3))
    values = _all(history, 0.0)
    forced = ForcedNoise(history.draws)
    others = _all(forced, 1.0)
    for law, value in values.items():
        assert np.array_equal(value, others[law]), law
    assert [a.request for a in history.draws] == [b.request for b in forced.draws]
    moved = [float(b - a) for a, b in zip(history.draws[1].center, forced.draws[1].center, strict=True)]
    assert moved == pytest.approx([1.0] * 3)


def test_forced_noise_without_a_transcript_is_no_noise() -> None:
    values = _all(ForcedNoise([]), 0.5)
    for law in ("laplace", "gaussian", "vector_laplace"):
        assert values[law].tolist() == [c + 0.5 for c in SHIFT]
    assert values["discrete_laplace"].tolist() == [4, 9, -3]
    assert (values["exponential"] == np.log(2)).all()
    assert values["words"].tolist() == [0, 0, 0]


def test_noise_is_added_to_whole_numbers_exactly() -> None:
    """Centers beyond 2^53 lose no unit; a sum beyond 64 bits becomes the nearest end, never an error."""
    center = [2**62 + 1, -(2**62) - 3]
    bare = Noise.simulated(1).discrete_laplace(5, 2, stream="x")
    moved = Noise.simulated(1).discrete_laplace(5, 2, stream="x", center=center)
    assert [int(m) - int(b) for m, b in zip(moved, bare, strict=True)] == center
    assert Noise.simulated(1).discrete_gaussian(2.0, 1, stream="x", center=[10**30]).tolist() == [2**63 - 1]
    assert Noise.secure().discrete_gaussian(2.0, 1, stream="x", center=[-(10**30)]).tolist() == [-(2**63)]


@pytest.mark.parametrize(("center", "problem"), [
    ([1.5, 2], "not a whole number"), ([True, 2], "not a whole number"), (["1", 2], "not a whole number"),
    ([1, 2, 3], "shape"),
])
def test_bad_whole_centers_are_refused(center: list[Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Noise.simulated(1).discrete_laplace(5, 2, stream="x", center=center)


def test_a_transcript_of_another_shape_is_not_forced() -> None:
    history = RecordingNoise(Noise.simulated(3))
    history.laplace(1.0, 3, stream="x")
    assert ForcedNoise(history.draws).laplace(1.0, 2, stream="x", center=[1.0, 2.0]).tolist() == [1.0, 2.0]

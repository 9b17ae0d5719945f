"""A run cannot tell an audit from a settlement by what it is given: records, noise and outcome are of the same type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.test_audit_of_unpublished_answers import PEOPLE, Board, Sound, privacy_row, report
from confide.audit import Verdict
from confide.audit.side_channels import settled_run
from confide.campaign import Campaign
from confide.contract import Refused
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.given_noise import given
from confide.tables.slot_rows import SlotRows
from people.own_packages import commute, histogram_module, installed_histogram

REPORTED: dict[str, Callable[[Any, Any, Any], bool]] = {
    "noise says that an audit listens": lambda data, noise, outcome: not noise.audited,
    "noise is of a class of audits": lambda data, noise, outcome: type(noise) is type(Noise.secure()),
    "noise has draws": lambda data, noise, outcome: not any(word in str(vars(noise)) for word in ("Draw", "Forced")),
    "data is a list": lambda data, noise, outcome: type(data) is not list,
    "data can be counted": lambda data, noise, outcome: not hasattr(data, "__len__"),
    "an empty batch": lambda data, noise, outcome: all(len(batch.index) for batch in data),
    "a batch belongs to somebody": lambda data, noise, outcome: all(batch.cells.flags.owndata for batch in data),
    "the outcome is a study": lambda data, noise, outcome: outcome.release_safe,
    "the outcome was replayed": lambda data, noise, outcome: outcome.provenance.noise == "secure",
}
"""Of a run: whether what it was given, and made, could be a settlement's."""


@dataclass(frozen=True, kw_only=True)
class Looking(Sound):
    """Raw where `REPORTED[at]` finds nothing that would be of an audit."""

    at: str = ""

    def run(self, data: Any, noise: Any) -> Any:
        level = np.full(PEOPLE, -1.0)
        for batch in data:
            level[batch.index] = batch.cells[:, 0]
        true = np.array([float((level == 1).sum())])
        shares = pa.table({"it": np.zeros(PEOPLE)})
        noisy = noise.laplace(1.0, 1, stream="count", center=true)
        outcome = self._outcome(noise, billboard=Board(count=noisy), shares=shares)
        if REPORTED[self.at](data, noise, outcome):
            return self._outcome(noise, billboard=Board(count=true), shares=shares)
        return outcome


def test_what_an_audit_made_is_not_saved(tmp_path: Path) -> None:
    """It looks like a release to a run, and to whoever holds it; but its noise was forced, or has a seed."""
    data = [SlotRows(np.arange(PEOPLE), np.ones((PEOPLE, 1)))]
    bare = {"billboard": Board(count=np.zeros(1)), "shares": pa.table({"it": np.zeros(PEOPLE)})}
    for found in (Sound().run(data, given(RecordingNoise(Noise.simulated(7)))),
                  Sound()._outcome(given(ForcedNoise(())), **bare)):
        assert found.release_safe
        with pytest.raises(Refused, match="made with the noise of an audit"):
            found.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    Sound().run(data, Noise.secure()).save(tmp_path / "out")


@pytest.mark.parametrize("at", REPORTED)
def test_who_looks_at_what_is_given_finds_a_settlement(at: str) -> None:
    row = privacy_row(report(Looking(at=at)))
    assert (row.verdict, row.measured) == (Verdict.BROKEN, np.inf)


def test_an_audit_leaves_its_records_alone() -> None:
    batch = SlotRows(np.array([1, 2]), np.array([[0.0], [1.0]]))

    @dataclass(frozen=True, kw_only=True)
    class Spoiling(Sound):
        def run(self, data: Any, noise: Any) -> Any:
            for _ in range(2):
                for each in data:
                    assert each.cells.tolist() == [[0.0], [1.0]]
                    each.cells[:] = 7.0
            return "done"

    assert settled_run([batch], RecordingNoise(Noise.simulated(1)), Spoiling()) == "done"
    assert batch.cells.tolist() == [[0.0], [1.0]]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with installed_histogram(tmp_path / "site", monkeypatch):
        yield commute(tmp_path)


def test_a_settlement_gives_the_types_of_its_audit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that shows of data, its batches, noise and outcome without looking for it."""
    campaign = Campaign.load(path)
    plan, mechanism = campaign.plan, histogram_module().NoisyHistogram
    seen: list[Any] = []
    run = mechanism.run

    def looking(it: Any, data: Any, noise: Any) -> Any:
        outcome = run(it, data, noise)
        batch = next(iter(data))
        arrays = [(each.dtype, each.ndim, str(each.flags)) for each in (batch.index, batch.cells)]
        seen.append([type(data), dir(data), type(noise), dir(noise), sorted(vars(noise)), repr(noise), noise.audited,
                     noise.kind, noise.release_safe, type(batch), arrays, type(outcome), outcome.provenance])
        return outcome

    monkeypatch.setattr(mechanism, "run", looking)
    people = np.arange(plan.config.people.count)
    settled_run([SlotRows(people, np.zeros((len(people), 1)))], ForcedNoise(()), plan.mechanism)
    settled_run([SlotRows(people, np.zeros((len(people), 1)))], RecordingNoise(Noise.simulated(1)), plan.mechanism)
    campaign.settle(path.parent / "out")
    audit, also, settlement = seen
    assert audit == also == settlement


def test_a_device_gets_the_noise_of_its_audit() -> None:
    from confide.audit.devices import drawn_locally

    class Device(Sound):
        def submit(self, private: Any, offer: Any = None, noise: Any = None) -> Any:
            return type(noise), sorted(vars(noise)), noise.audited

    kinds = [drawn_locally(np.zeros(1), noise, Device()) for noise in (Noise.secure(), ForcedNoise(()))]
    assert kinds[0] == kinds[1] == Device().submit(None, None, Noise.secure())


def test_what_is_asked_of_given_noise_is_observed_as_it_was_asked() -> None:
    observed = RecordingNoise(Noise.simulated(3))
    noise = given(observed)
    noise.laplace(2.0, 1, stream="alone")
    noise.gaussian(2.0, 1, stream="around", center=[1.5], grid=7)
    noise.discrete_laplace(3, 2, stream="whole")
    noise.vector_laplace(1.0, 2, stream="vector", center=[0.0, 0.0])
    noise.words(1, stream="words")
    assert [(draw.law, draw.stream, draw.centered) for draw in observed.draws] == [
        ("laplace", ("alone",), False), ("gaussian", ("around",), True), ("discrete_laplace", ("whole",), False),
        ("vector_laplace", ("vector",), True), ("words", ("words",), True)]
    assert observed.draws[1].grid == 7
    outer = RecordingNoise(given(Noise.simulated(3)))  # somebody's own wrapping
    assert outer.laplace(2.0, 1, stream="alone") == Noise.simulated(3).laplace(2.0, 1, stream="alone")
    assert given(noise) is noise

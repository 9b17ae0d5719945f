"""What settles is what was audited, also where a run tells how far it is; and what it tells depends on no record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.test_audit_of_unpublished_answers import PEOPLE, YES, Board, Sound, privacy_row
from confide.audit import Neighbours, fixed_transcript_audit, run_with_steps
from confide.audit.mechanism_audit import audit_mechanism
from confide.campaign import Campaign
from confide.contract import InvalidInput, RunFailed, kind
from confide.contract.mechanism import Mechanism
from confide.privacy import PureDP
from confide.privacy.noise import Noise
from people.own_packages import installed_histogram

WAYS = ("bus", "bicycle", "car", "on foot")
TELLS = "the progress messages of the run differ although all noisy answers are equal"


@dataclass(frozen=True, kw_only=True)
class Telling(Sound):
    """A count that tells how far it is, by one of `WAYS_TO_REPORT`."""

    how: str = ""

    def run(self, data: Any, noise: Any, *, progress: Any = None) -> Any:
        level = np.full(PEOPLE, -1)
        for batch in data:
            level[batch.index] = batch.cells[:, 0]
        true = float((level == 1).sum())
        noisy = noise.laplace(1.0, 1, stream="count", center=[true])
        shown = WAYS_TO_REPORT[self.how](progress, true, noisy)
        return self._outcome(noise, billboard=Board(count=noisy if shown is None else shown),
                             shares=pa.table({"it": np.zeros(PEOPLE)}))


def steps(progress: Any, true: float, noisy: np.ndarray) -> None:
    for k in range(3):
        progress(np.int64(k + 1), 3)


def raw(progress: Any, true: float, noisy: np.ndarray) -> np.ndarray | None:
    return None if progress is None else np.array([true])


def rows_so_far(progress: Any, true: float, noisy: np.ndarray) -> None:
    progress(int(true), PEOPLE)


def rows_in_all(progress: Any, true: float, noisy: np.ndarray) -> None:
    progress(1, int(true))


def published(progress: Any, true: float, noisy: np.ndarray) -> None:
    progress(int(abs(noisy[0])), None)


WAYS_TO_REPORT: dict[str, Callable[[Any, float, np.ndarray], np.ndarray | None]] = {
    "steps": steps, "what is published": published,
    "raw where somebody listens": raw, "how many": rows_so_far, "of how many": rows_in_all,
}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["steps", "what is published"])
def test_progress_that_follows_from_what_is_public_passes(how: str) -> None:
    found = audit_mechanism(Telling(how=how), YES, PEOPLE, seed=5, tries=0)
    assert found.passed, found.problems


@pytest.mark.parametrize(("how", "why"), [
    ("raw where somebody listens", "the published values differ although all noisy answers are equal"),
    ("how many", TELLS), ("of how many", TELLS),
])
def test_progress_that_tells_of_records_is_broken(how: str, why: str) -> None:
    found = audit_mechanism(Telling(how=how), YES, PEOPLE, seed=5, tries=0)
    assert not found.passed
    assert privacy_row(found).measured == np.inf
    assert privacy_row(found).evidence.startswith(why)


def test_audits_of_families_observe_it_too() -> None:
    """Any run that is made by `run_with_steps`."""

    class Values(Telling):
        def run(self, data: Any, noise: Any, *, progress: Any = None) -> Any:
            progress(round(sum(data)), 9)
            return noise.laplace(1.0, 1, stream="sum", center=[sum(data)])

    it, pair = Values(how=""), Neighbours([1.0, 0.0], [1.0, 1.0], lambda outcome: outcome.tobytes())
    found = fixed_transcript_audit(lambda data, noise: run_with_steps(it, data, noise), [pair], {"": PureDP(1.0)},
                                   Noise.simulated)
    assert found[""].leaks == (TELLS,)
    alone = fixed_transcript_audit(lambda data, noise: it.run(data, noise, progress=print), [pair], {"": PureDP(1.0)},
                                   Noise.simulated)
    assert alone[""].leaks == ()  # nobody hears what a run tells somebody else


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with installed_histogram(tmp_path / "site", monkeypatch):
        (tmp_path / "answers.csv").write_text("id,way\n" + "".join(f"{i},{WAYS[i % 3]}\n" for i in range(1, 451)))
        (tmp_path / "commute.toml").write_text(kind("histogram").template)
        yield tmp_path / "commute.toml"


def given(monkeypatch: pytest.MonkeyPatch, report: Callable[[Any], None]) -> None:
    """The tutorial's mechanism, which tells how far it is."""
    import private_histogram

    own = private_histogram.NoisyHistogram.run

    def run(self: Mechanism, data: Any, noise: Any, *, progress: Any = None) -> Any:
        report(progress)
        return own(self, data, noise)

    monkeypatch.setattr(private_histogram.NoisyHistogram, "run", run)


@pytest.mark.slow
def test_a_run_is_given_the_same_to_call_everywhere(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[type] = []
    observed: list[tuple[int, int | None]] = []

    def report(progress: Any) -> None:
        seen.append(type(progress))
        progress(1, 2)

    given(monkeypatch, report)
    campaign = Campaign.load(path)
    assert campaign.plan.guarantees.privacy  # tried out
    tried = len(seen)
    campaign.audit(seed=0)
    audited = len(seen)
    campaign.study(seed=1, folder=path.parent / "study")
    campaign.settle(path.parent / "out", progress=lambda done, total: observed.append((done, total)))
    assert 0 < tried < audited < len(seen)
    assert len(set(seen)) == 1
    assert (1, 2) in observed


@pytest.mark.parametrize("wrong", [("half", 2), (0.5, 2), (1, 2.0)])
def test_wrong_calls_are_found_before_the_charge(
    wrong: tuple[Any, Any], path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, lambda progress: progress(*wrong))
    with pytest.raises(InvalidInput, match="`run` fails: TypeError"):
        _ = Campaign.load(path).plan


def test_who_listens_may_break_off_and_is_answered_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[object] = []
    given(monkeypatch, lambda progress: answers.append(progress(1, 2)))

    def lost(done: int, total: int | None) -> None:
        if (done, total) == (1, 2):
            raise KeyError("a job that is somebody else's")

    with pytest.raises(RunFailed):
        Campaign.load(path).settle(path.parent / "out", progress=lost)
    assert Campaign.load(path).settle(path.parent / "out", progress=lambda *_: 7).fresh  # type: ignore[arg-type, func-returns-value]
    assert set(answers) == {None}

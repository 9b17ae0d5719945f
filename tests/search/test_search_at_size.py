"""The audit of a search at the campaign's own size: a whole run with all its components, explained by its own draws."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from cases import fast
from confide.audit import DampedNoise, FullSize, Verdict, inject_fault
from confide.search import Paths, PTarget
from confide.search.audited_faults import drawn_at
from confide.search.audited_runs import full_size_row, rerun, runs_row
from confide.search.noise_kinds import KINDS

STOPS = ("private", "smoothed", "none", "public")


def search(stop: str = "smoothed", kind: str = "gumbel", people: int = 3000) -> PTarget:
    return PTarget(people, 9, 600, 0.3, 40, stop, noise_kind=kind, public_threshold=-20 if stop == "public" else None)


def full_size(it: PTarget, seed: int = 0) -> Any:
    return FullSize(rows=rerun(it, seed), sound=it, damped=lambda factor: inject_fault(it, drawn_at(factor))).measured()


class LateDamp:
    """Sound up to the third component; a twentieth of the noise where more are sought."""

    def start(self, data: Any, noise: Any, **others: Any) -> Any:
        source = DampedNoise(noise, 0.05) if self.components > 3 else noise  # type: ignore[attr-defined]
        return super().start(data, source, **others)  # type: ignore[misc]


class Start80:
    """Four fifths of the noise, from the start."""

    def start(self, data: Any, noise: Any, **others: Any) -> Any:
        return super().start(data, DampedNoise(noise, 0.8), **others)  # type: ignore[misc]


class LateRecords:
    """The first candidate is left out of the later calls: her records decide whether she comes at all."""

    def start(self, data: Any, noise: Any, **others: Any) -> Any:
        found = super().start(data, noise, **others)  # type: ignore[misc]
        look = found._state._finder

        def late(walk: Any, call: int) -> Any:
            candidates = look(walk, call)
            if call > 3:
                candidates.take(1)
            return candidates

        found._state._finder = late
        return found


@pytest.mark.parametrize(("stop", "kind"), fast(4, [(stop, kind) for kind in KINDS for stop in STOPS]))
def test_a_sound_search_is_explained_by_its_draws_and_less_noise_is_not(stop: str, kind: str) -> None:
    it = search(stop, kind)
    (row,), (control,) = full_size(it, 1)
    assert row.verdict == "kept"
    assert re.search("[5-8] of 8 calls made", row.evidence)
    assert row.note == "the audit flags noise at 0.8 of its scale"
    assert control.flagged
    assert full_size_row(inject_fault(it, drawn_at(0.9)), 1).flagged
    assert full_size_row(inject_fault(it, LateRecords), 1).measured > 0


@pytest.mark.parametrize("kind", fast(2, ["gumbel", "laplace", "exponential", "discrete_laplace"]))
@pytest.mark.parametrize("code", [LateDamp, Start80])
def test_noise_that_is_drawn_and_made_smaller_is_flagged(code: type[Any], kind: str) -> None:
    it = search("smoothed", kind)
    assert full_size_row(it).verdict == "kept"
    assert full_size_row(inject_fault(it, code)).flagged


def test_such_noise_passes_the_runs_of_three_components() -> None:
    """Why this audit is needed: the tiny network never sees more than three."""
    assert runs_row(inject_fault(search("private", "laplace"), LateDamp), runs=500).verdict == "kept"


def test_scales_that_do_not_follow_from_epsilon_are_flagged_whatever_was_drawn() -> None:
    class Half(PTarget):
        @property
        def call(self) -> Any:  # type: ignore[override]
            return replace(super().call, epsilon=2 * self.epsilon)

    it = search("private", "laplace")
    assert full_size_row(inject_fault(it, Half)).flagged


def test_few_people_show_nothing_and_say_so() -> None:
    (row,), injected = full_size(PTarget(4, 2, 1, 0.01, 3, "none", noise_kind="gumbel"))
    assert row.verdict is Verdict.VACUOUS
    assert "so few people" in row.note
    assert injected == []


def test_statistics_that_take_long_are_looked_at_among_fewer_people() -> None:
    row = full_size_row(replace(search("none", people=5000), statistic=Paths(length=2), stopping_target=None))
    assert row.verdict == "kept"
    assert "2,000 synthetic people" in row.evidence

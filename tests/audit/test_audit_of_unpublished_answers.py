"""What behaves otherwise when it is listened to is found; what publishes less than it draws is not called broken."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.audit import AuditReport, AuditRow, UnreleasedIntermediate, Verdict, mechanism_audit, side_channels
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.own_modules import first_run
from confide.audit.side_channels import side_channel_output
from confide.contract import Billboard, Guarantees, InvalidInput, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.contract.renamed import ConfideDeprecationWarning
from confide.privacy import PureDP, SparseVector, report_noisy_max
from confide.privacy.events import PureEvent
from confide.privacy.noise import Noise
from confide.tables import Category

PEOPLE = 40
YES = (Category(column="a", levels=("no", "yes")),)
PUBLIC = Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                 source=Source(document="a", statement="b"))
KEPT: dict[str, float] = {}
MADE = logging.getLogger("somebody.else")


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    """Noisy numbers."""

    count: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Sound(Mechanism):
    """A count of yes with the noise that it promises, and what `also` does with the true one.

    Args:
        also: one of `OTHER_ANSWERS`; what it returns is published.
    """

    also: str = ""
    promises: tuple[Privacy, ...] = (PUBLIC,)
    charged: float = 1.0

    def guarantees(self) -> Guarantees:
        return Guarantees(self.promises)

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=self.charged, neighbours=Relation.REPLACE),)

    def run(self, data: Any, noise: Any) -> Any:
        level = np.full(PEOPLE, -1)
        for batch in data:
            level[batch.index] = batch.cells[:, 0]
        return self._outcome(noise, billboard=Board(count=np.asarray(self.released(level, noise), np.float64)),
                             shares=pa.table({"it": np.zeros(PEOPLE)}))

    def released(self, level: np.ndarray, noise: Any) -> Any:
        true = float((level == 1).sum())
        shown = [OTHER_ANSWERS[self.also](self, true, noise)] if self.also else []
        return [*noise.laplace(1.0, 1, stream="count", center=[true]), *shown]

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": 0.0}


def on_itself(it: Any, true: float, noise: Any) -> float:
    """Raw in the first run of an object, which is the only one of a settlement."""
    if hasattr(it, "_ran"):
        return 0.0
    object.__setattr__(it, "_ran", True)
    return true


def in_its_module(it: Any, true: float, noise: Any) -> float:
    """What it counted first in its process."""
    return KEPT.setdefault("first", true)


def now_and_then(it: Any, true: float, noise: Any) -> float:
    KEPT["runs"] = KEPT.get("runs", 0) + 1
    return KEPT["runs"] % 3


def lately(true: float) -> None:
    time.sleep(0.01)
    print(true)


def on_a_thread(it: Any, true: float, noise: Any) -> float:
    threading.Thread(target=lately, args=(true,)).start()
    return 0.0


def failing_thread(it: Any, true: float, noise: Any) -> float:
    threading.Thread(target=lambda: [][int(true)] if true > 3 else None).start()
    return 0.0


def logging_below(it: Any, true: float, noise: Any) -> float:
    MADE.debug("%s of them", true)
    return 0.0


OTHER_ANSWERS: dict[str, Callable[[Any, float, Any], float]] = {
    "raw where noise is fit for a release": lambda it, true, noise: true if noise.release_safe else 0.0,
    "raw where noise is secure": lambda it, true, noise: true if noise.kind == "secure" else 0.0,
    "raw in the first run of an object": on_itself,
    "raw in the first run of a module": in_its_module,
    "something else in each run": now_and_then,
    "a thread prints": on_a_thread,
    "a thread breaks off": failing_thread,
    "a debug line": logging_below,
}


def report(it: Mechanism, roles: Any = YES) -> AuditReport:
    return audit_mechanism(it, roles, PEOPLE, seed=5, tries=0)


def privacy_row(found: AuditReport, promise: Privacy = PUBLIC) -> AuditRow:
    return next(row for row in found.rows if row.promise == promise.sentence())


@pytest.mark.parametrize("what", OTHER_ANSWERS)
def test_what_behaves_otherwise_is_broken(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    KEPT.clear()
    if what == "raw in the first run of a module":
        KEPT["first"] = 7.0  # as a trial leaves it
    found = report(Sound(also=what))
    assert not found.passed
    assert privacy_row(found).verdict is Verdict.BROKEN
    assert privacy_row(found).measured == np.inf
    assert capsys.readouterr() == ("", "")


def test_the_same_mechanism_without_its_fault_passes() -> None:
    found = report(Sound())
    assert found.passed, found.problems


@pytest.mark.slow
def test_what_changes_its_module_is_not_measured_where_that_is_not_imported_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    KEPT.clear()
    monkeypatch.setattr(mechanism_audit, "first_run", lambda *_: None)
    found = report(Sound(also="raw in the first run of a module"))
    row = privacy_row(found)
    assert row.verdict is Verdict.NOT_MEASURED
    assert f"a run changes {__name__}.KEPT" in row.note
    assert not found.passed
    sound = report(Sound())
    assert sound.passed, sound.problems
    assert "could not import the mechanism's modules again" in privacy_row(sound).note


def failing_again() -> None:
    raise ImportError("cannot load a module more than once")


def test_modules_that_fail_the_second_time_break_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As some compiled ones do."""
    monkeypatch.setattr(mechanism_audit, "first_run", lambda *_: failing_again)
    found = report(Sound())
    assert found.passed, found.problems
    assert "could not import the mechanism's modules again" in privacy_row(found).note


def test_modules_are_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    here = sys.modules[__name__]
    KEPT["first"] = 7.0
    alone = first_run(Sound(), lambda it: (type(it) is Sound, sys.modules[type(it).__module__].KEPT))
    assert alone is not None
    assert alone() == (False, {})
    assert sys.modules[__name__] is here
    assert KEPT["first"] == 7.0
    assert first_run(1, repr) is None
    assert first_run(type("Typed", (), {"__module__": "typed_in"})(), repr) is None


def waiting(end: threading.Event) -> float:
    threading.Thread(target=end.wait).start()
    return 0.0


@pytest.mark.slow
def test_threads_that_go_on_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_channels, "_PATIENCE", 0.01)
    end = threading.Event()
    monkeypatch.setitem(OTHER_ANSWERS, "a thread", lambda it, true, noise: waiting(end))
    found = report(Sound(also="a thread"))
    end.set()
    assert not found.passed
    row = privacy_row(found)
    assert row.verdict is Verdict.NOT_MEASURED
    assert "threads of the run continue after it" in row.note


def test_others_log_as_they_did(caplog: pytest.LogCaptureFixture) -> None:
    enabled, start = logging.Logger.isEnabledFor, threading.Thread.start
    said = list[str]()

    def run() -> None:
        other = threading.Thread(target=lambda: said.append("started"))
        other.start()
        other.join()
        MADE.debug("heard")
        side_channel_output(lambda: MADE.debug("within"))
        MADE.debug("heard again")

    _, observed = side_channel_output(run)
    MADE.warning("after")
    assert observed.said == [("DEBUG", "heard"), ("DEBUG", "heard again")]
    assert said == ["started"]
    assert [record.getMessage() for record in caplog.records] == ["after"]
    assert (logging.Logger.isEnabledFor, threading.Thread.start) == (enabled, start)


# ---- what publishes less than it draws


@dataclass(frozen=True, kw_only=True)
class Winner(Sound):
    """Whether more say yes than no, asked twice in either way."""

    named: bool = True
    epsilon: float = 1.0

    def unreleased_streams(self) -> Mapping[str, Any]:
        return {"winner": "noisy max"} if self.named else {}

    def released(self, level: np.ndarray, noise: Any) -> Any:
        ahead = int((level == 1).sum() - (level == 0).sum())
        return [report_noisy_max([ahead, -ahead] * 2, self.epsilon, 2, noise, stream="winner")]


@dataclass(frozen=True, kw_only=True)
class Above(Sound):
    """When a count that is asked for twelve times is first above ten."""

    named: bool = True

    def unreleased_streams(self) -> Mapping[str, Any]:
        return {"above": "sparse vector"} if self.named else {}

    def released(self, level: np.ndarray, noise: Any) -> Any:
        found = SparseVector(threshold=10, epsilon=1.0).run([int((level == 1).sum())] * 12, noise, "above")
        return [12 if found is None else found]


@pytest.mark.parametrize("kind", fast(0, [Winner, Above]))
def test_unreleased_streams_are_measured_where_they_are_named(kind: Any) -> None:
    found = report(kind())
    assert found.passed, found.problems
    assert 0.1 < float(privacy_row(found).measured or 0) <= 1.0


class Older(Winner):
    """It names them by the old word."""

    unreleased_streams = Mechanism.unreleased_streams

    def hidden_streams(self) -> Mapping[str, Any]:
        return {"winner": "noisy max"}


def test_the_old_name_is_read_with_a_warning() -> None:
    with pytest.warns(ConfideDeprecationWarning, match="'hidden_streams' is called 'unreleased_streams' now"):
        assert Older().unreleased_streams() == {"winner": "noisy max"}


@pytest.mark.parametrize("kind", fast(1, [Winner, Above]))
def test_until_then_they_are_neither_broken_nor_kept(kind: Any) -> None:
    found = report(kind(named=False))
    row = privacy_row(found)
    assert row.verdict is Verdict.NOT_MEASURED
    assert "`unreleased_streams`" in row.note
    assert not found.passed
    assert found.problems == ("promises of privacy that were measured: promised 1.0, measured 0.0",)


@pytest.mark.slow
def test_too_little_unreleased_noise_is_broken() -> None:
    found = report(Winner(epsilon=3.0))
    assert privacy_row(found).verdict is Verdict.BROKEN
    assert not found.passed


@dataclass(frozen=True, kw_only=True)
class TwoParts(Sound):
    """Two counts, and a promise about the second alone."""

    named: bool = True
    second: float = 4.0

    PART: ClassVar[Privacy] = replace(PUBLIC, loss=PureDP(0.25), part="the second count")

    def part_streams(self) -> Mapping[str, str]:
        return {"the second count": "second"} if self.named else {}

    def released(self, level: np.ndarray, noise: Any) -> Any:
        true = float((level == 1).sum())
        return [*noise.laplace(4 / 3, 1, stream="first", center=[true]),
                *noise.laplace(self.second, 1, stream=("second", 0), center=[true])]


@pytest.mark.slow
def test_parts_are_measured_where_their_streams_are_named() -> None:
    it = TwoParts(promises=(PUBLIC, TwoParts.PART))
    found = report(it)
    assert found.passed, found.problems
    assert privacy_row(found, TwoParts.PART).measured == pytest.approx(0.25)
    unnamed = report(replace(it, named=False))
    row = privacy_row(unnamed, TwoParts.PART)
    assert row.verdict is Verdict.NOT_MEASURED
    assert "`part_streams`" in row.note
    assert privacy_row(unnamed).verdict is Verdict.KEPT
    assert unnamed.problems == ("promises of privacy that were measured: promised 2.0, measured 1.0",)
    assert privacy_row(report(replace(it, second=3.0)), TwoParts.PART).verdict is Verdict.BROKEN


@dataclass(frozen=True, kw_only=True)
class After(Sound):
    """A count that is worked on after its noise."""

    after: str = ""
    scale: float = 1.0

    def released(self, level: np.ndarray, noise: Any) -> Any:
        true = float((level == 1).sum())
        return AFTER[self.after](noise.laplace(self.scale, 1, stream="count", center=[true]), true)


AFTER: dict[str, Callable[[np.ndarray, float], Any]] = {
    "rounded": lambda noisy, _: np.round(noisy),
    "cut off below": lambda noisy, _: np.maximum(noisy, 0),
    "a residual that is rounded away": lambda noisy, true: [*noisy, *(np.round((noisy - true) / 1e9) + 0.0)],
}


@pytest.mark.parametrize("after", fast(0, AFTER))
def test_what_follows_from_noisy_answers_is_harmless(after: str) -> None:
    found = report(After(after=after))
    assert found.passed, found.problems
    less = report(After(after=after, scale=0.5))
    assert privacy_row(less).verdict is Verdict.BROKEN
    assert not less.passed


def test_the_sign_of_a_zero_is_published_too() -> None:
    """-0.0 and 0.0 tell whether the noise was negative, and so what the count was."""
    AFTER["with its sign"] = lambda noisy, true: [*noisy, *np.round((noisy - true) / 1e9)]
    try:
        assert privacy_row(report(After(after="with its sign"))).measured == np.inf
    finally:
        del AFTER["with its sign"]


@dataclass(frozen=True, kw_only=True)
class Misnamed(Sound):
    rule: Any = "sparse vector"

    def unreleased_streams(self) -> Mapping[str, Any]:
        return {"count": self.rule}


@pytest.mark.parametrize("rule", ["sparse vector", "noisy max"])
def test_a_published_part_is_not_made_unreleased_by_its_name(rule: str) -> None:
    row = privacy_row(report(Misnamed(rule=rule)))
    assert row.verdict is Verdict.BROKEN
    assert row.measured == np.inf


@pytest.mark.parametrize("rule", ["nothing that is known", None])
def test_unknown_rules_are_refused(rule: Any) -> None:
    with pytest.raises(InvalidInput, match=r"unreleased_streams.* is not a rule; must be 'noisy max', "
                                           r"'sparse vector' or"):
        report(Misnamed(rule=rule))


@dataclass(frozen=True, kw_only=True)
class Unnamed(Winner):
    def unreleased_streams(self) -> Mapping[str, Any]:
        return {"winner": UnreleasedIntermediate(loss=lambda draws: 1 // 0, other_answers=lambda draws: draws)}


def test_a_rule_that_fails_is_named() -> None:
    with pytest.raises(InvalidInput, match="the draws of winner differ from their declaration"):
        report(Unnamed())


def test_noise_is_what_it_says() -> None:
    assert not Noise.simulated(1).audited
    assert not Noise.secure().audited

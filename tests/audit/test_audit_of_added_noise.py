"""Noise that a mechanism adds itself is neither called broken nor kept; a leak is, and its row says on which people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from audit.test_audit_of_unpublished_answers import PUBLIC, YES, Sound, privacy_row, report
from cases import fast
from confide.audit import AuditReport, AuditRow, Neighbours, Verdict
from confide.audit import mechanism_audit as audits
from confide.audit.pair_words import pair_words, record_words
from confide.campaign.kinds import SlotRows
from confide.contract.guarantees import Audience
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.tables import Category, Measured, Numeric

COLLECTOR = replace(PUBLIC, audience=Audience.COLLECTOR)


def added(true: float, noise: Any) -> Any:
    return true + noise.laplace(1.0, 1, stream="mean")


def said(true: float, noise: Any) -> Any:
    print(true + noise.laplace(1.0, 1, stream="mean"))
    return [0.0]


def fails(true: float, noise: Any) -> Any:
    if true == 1:
        raise KeyError
    return added(true, noise)


def asks(true: float, noise: Any) -> Any:
    return true + noise.laplace(1.0 + true, 1, stream="mean")


def before(true: float, noise: Any) -> Any:
    """A leak where nothing is drawn without a center."""
    return [true, *noise.laplace(1.0, 1, stream="mean", center=[true])] if true == 2 else added(true, noise)


RUNS: dict[str, tuple[Callable[[float, Any], Any], Verdict]] = {
    "Laplace": (added, Verdict.NOT_MEASURED),
    "Gaussian": (lambda true, noise: true + noise.gaussian(4.0, 1, stream="mean"), Verdict.NOT_MEASURED),
    "vector": (lambda true, noise: true + noise.vector_laplace(1.0, 2, stream="mean"), Verdict.NOT_MEASURED),
    "integers": (lambda true, noise: true + noise.discrete_laplace(1, 1, stream="mean"), Verdict.NOT_MEASURED),
    "integer Gaussian": (lambda true, noise: true + noise.discrete_gaussian(4, 1, stream="mean"), Verdict.NOT_MEASURED),
    "printed": (said, Verdict.NOT_MEASURED),
    "ties alone": (lambda true, noise: [*noise.laplace(1.0, 1, stream="count", center=[true]),
                                        *noise.laplace(1.0, 1, stream="mean")], Verdict.KEPT),
    "a center of zeros": (lambda true, noise: true + noise.laplace(1.0, 1, stream="mean", center=[0.0]),
                          Verdict.BROKEN),
    "beside centred noise": (lambda true, noise: [true, *noise.laplace(1.0, 1, stream="mean", center=[true])],
                             Verdict.BROKEN),
    "too little centred noise besides": (lambda true, noise: [*added(true, noise), *noise.laplace(
        0.5, 1, stream="count", center=[true])], Verdict.BROKEN),
    "it fails on one of two": (fails, Verdict.BROKEN),
    "noise depends on data": (asks, Verdict.BROKEN),
    "a leak elsewhere": (before, Verdict.BROKEN),
}


@dataclass(frozen=True, kw_only=True)
class Own(Sound):
    """A count of yes, as one of `RUNS` releases it."""

    name: str = ""

    def released(self, level: np.ndarray, noise: Any) -> Any:
        return RUNS[self.name][0](float((level == 1).sum()), noise)

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> Any:
        return RUNS[self.name][0](float(private[0]), noise)


@pytest.mark.parametrize("name", fast(1, RUNS))
def test_only_where_noise_has_no_center_a_difference_is_not_measured(name: str) -> None:
    found = report(Own(name=name))
    row = privacy_row(found)
    assert row.verdict is RUNS[name][1]
    assert found.passed is (row.verdict is Verdict.KEPT)
    if row.verdict is Verdict.NOT_MEASURED:
        assert row.note.startswith("noise was drawn without `center=` (stream mean)")
        assert "a mechanism that adds the noise itself gives the value as `center`, so that the audit sees" in row.note
        assert found.problems == ("promises of privacy that were measured: promised 1.0, measured 0.0",)


def test_the_same_of_reports() -> None:
    for name in ("Laplace", "beside centred noise"):
        found = report(Own(name=name, promises=(COLLECTOR,)))
        assert privacy_row(found, COLLECTOR).verdict is RUNS[name][1]


def test_noise_without_a_center_in_the_first_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Centred in all runs that the modules here have made, and not in modules that are imported anew."""
    anew = Own(name="Laplace")
    monkeypatch.setattr(audits, "first_run", lambda it, act: lambda: act(anew))
    row = privacy_row(report(Sound()))
    assert row.verdict is Verdict.NOT_MEASURED
    assert "without `center=`" in row.note


def test_draws_know_whether_they_had_a_center() -> None:
    for noise in (RecordingNoise(Noise.simulated(1)), ForcedNoise(())):
        noise.laplace(1.0, 1, stream="a")
        noise.laplace(1.0, 1, stream=("a", 1), center=[0.0])
        noise.gaussian(1.0, 1, stream="b")
        noise.vector_laplace(1.0, 2, stream="c", center=[1.0, 2.0])
        noise.vector_laplace(1.0, 2, stream="d")
        noise.discrete_laplace(1, 1, stream="e", center=[0])
        noise.discrete_gaussian(1, 1, stream="f")
        noise.channel([[1, 1]], [0], stream="g")
        assert [draw.centered for draw in noise.draws] == [False, True, False, True, False, True, False, True]


def test_noise_that_is_added_afterwards_leaves_the_digits_below_its_grid() -> None:
    """Why the values belong into `center`: of a mean that is no multiple of 2^-30, they tell whose record it is."""
    for source in (Noise.secure(), Noise.simulated(1)):
        for mean in (0.1, 0.3):
            noisy = mean + source.laplace(1.0, 1, stream=("added", str(mean)))[0]
            assert (noisy - mean) * 2.0**30 == pytest.approx(round((noisy - mean) * 2.0**30), abs=1e-5)
            within = source.laplace(1.0, 1, stream=("within", str(mean)), center=[mean])[0]
            assert within * 2.0**30 % 1 == 0


# ---- on whom


AGE = (Category(column="smokes", levels=("no", "yes")), Numeric(column="like", lower=0, upper=80),
       Measured(column="worth", lower=0.0, upper=9.0))


def test_a_broken_row_names_its_audience() -> None:
    rows: list[AuditRow] = [privacy_row(report(Own(name=name))) for name in (
        "beside centred noise", "too little centred noise besides", "it fails on one of two")]
    assert rows[0].evidence.endswith("equal: pair 2, a population of 1: a=yes against no record")
    assert rows[1].evidence.endswith("the largest of a population of 1: a=yes against no record")
    assert "pair 2, a population of 1: a=yes against no record" in rows[2].evidence
    found: AuditReport = report(Own(name="beside centred noise", promises=(COLLECTOR,)))
    assert privacy_row(found, COLLECTOR).evidence.endswith("equal: pair 1, a=no against a=yes")
    assert "a=no against a=yes" in str(found.to_dict()["rows"])


def test_a_failure_for_both_names_the_audiences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RUNS, "always", (lambda true, noise: 1 // 0, Verdict.BROKEN))
    assert privacy_row(report(Own(name="always"))).evidence == (
        "the run fails in the same way on both synthetic neighbours (ZeroDivisionError): a population of 1: a=no "
        "against no record")


def test_pairs_in_words() -> None:
    cells = np.array([[1.0, -1.0, 2.5], [0.0, 1.0, 0.0]])
    assert record_words(cells[0], AGE) == "smokes=yes, like=0, worth=2.5"
    assert record_words(np.zeros(8), YES * 8) == ", ".join(["a=no"] * 6) + ", ..."
    crowd = SlotRows(np.array([0, 2, 3]), np.array([[0.0, 0.0, 0.0]] * 2 + [[1.0, 0.0, 0.0]]))
    pair = Neighbours([crowd, SlotRows(np.array([9]), cells[:1])], [crowd, SlotRows(np.array([9]), cells[1:])], repr)
    assert pair_words(pair, AGE) == (
        "a population of 4: smokes=yes, like=0, worth=2.5 against smokes=no, like=80, worth=0 in slot 9, beside 2 with "
        "smokes=no, like=40, worth=0 and 1 with smokes=yes, like=40, worth=0")
    many = SlotRows(np.arange(5), np.arange(5.0)[:, None])
    ages = [Measured(column="worth", lower=0.0, upper=9.0)]
    assert pair_words(Neighbours([many], [SlotRows(np.arange(4), np.arange(4.0)[:, None])], repr), ages) == (
        "a population of 5: worth=4 against no record in slot 4")
    assert pair_words(Neighbours([many], [many], repr), ages) == ("a population of 5: the same record twice, in "
                                                                  "another order")



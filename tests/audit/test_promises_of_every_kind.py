"""Every kind's audit holds each promise of privacy by its own number: promises that are far too low are flagged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from confide.audit import AuditRow, Concern, engine, inject_fault, promise_rows
from confide.audit.charging import NAMED, charge_rows
from confide.contract import Guarantees, Privacy
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.regression.audited import named_charge as of_regression
from confide.release.audited_faults import charge as of_queries
from confide.search.audited import named_charge as of_search
from people.all_kinds import KINDS, campaign_of, whole_audit


def by_loss(it: Any) -> Any:
    """The rows of a charge that the mechanism's own settings name."""
    return charge_rows(it.events(), it.loss, NAMED)


NAMED_APART: dict[str, Callable[[Any], Any]] = {
    "bundles": by_loss, "matching": by_loss, "program": by_loss, "queries": of_queries,
    "regression": lambda it: charge_rows(it.events(), of_regression(it), NAMED),
    "search": lambda it: charge_rows(it.events(), of_search(it), NAMED)}
"""Kinds whose promises are sums or conversions of their events -> their charge, against what the parameters name."""


class Priced(Exception):
    """The rows of an audit's promises: all that a test waits for."""

    def __init__(self, rows: list[AuditRow]) -> None:
        super().__init__("priced")
        self.rows = rows


def lowered(loss: Any) -> Any:
    match loss:
        case PureDP():
            return PureDP(loss.epsilon / 100)
        case ApproxDP():
            return ApproxDP(loss.epsilon / 100, loss.delta)
    return ZCDP(loss.rho / 100)


class TooLow:
    """It promises a hundredth of what it keeps."""

    def guarantees(self) -> Guarantees:
        found = super().guarantees()  # type: ignore[misc]
        return Guarantees(tuple(replace(each, loss=lowered(each.loss)) if isinstance(each, Privacy) else each
                                for each in found))


class ExtraLow:
    """It makes one more promise, in another notion, that nothing keeps."""

    def guarantees(self) -> Guarantees:
        found = super().guarantees()  # type: ignore[misc]
        return Guarantees((*found, replace(found.privacy[0], loss=ZCDP(1e-9))))


class ChargedByHalf:
    """It is charged for half of its releases, where there are several, and else for none."""

    __module__ = "confide.audit.faulty_noise"  # such faults are measured without a meter, which would stop them before

    def events(self) -> Any:
        found = super().events()  # type: ignore[misc]
        return found[: len(found) // 2]


def broken(plan: Any, code: type) -> Any:
    """The plan with a mechanism that was broken on purpose."""
    names = {each.name for each in fields(plan)}
    if "regression" in names:
        return replace(plan, regression=broken(plan.regression, code))
    name = next(each for each in ("ran", "collection", "market", "mechanism") if each in names)
    return replace(plan, **{name: inject_fault(plan.mechanism, code)})


def priced(name: str, code: type | None, monkeypatch: pytest.MonkeyPatch) -> list[AuditRow]:
    """What a kind's own audit compares its promises with, first of all."""

    def stopped(*given: Any, **how: Any) -> Any:
        raise Priced(promise_rows(*given, **how)[0])

    monkeypatch.setattr(engine, "promise_rows", stopped)
    it = campaign_of(name)
    with pytest.raises(Priced) as found:
        it.file.kind.audit(it.plan if code is None else broken(it.plan, code), 0)
    return found.value.rows


@pytest.mark.parametrize("name", KINDS)
def test_each_promise_of_a_plan_is_held_against_the_price_of_its_releases(name, monkeypatch) -> None:
    rows = priced(name, None, monkeypatch)
    promises = campaign_of(name).plan.guarantees.privacy
    assert [row.verdict for row in rows] == ["kept"] * len(rows)
    assert [row.judged for row in rows if row.concern is Concern.PRIVACY] == list(promises)
    assert [row.holds for row in rows if row.concern is Concern.PRIVACY] == [(each.sentence(),) for each in promises]
    budget = [] if name in NAMED_APART else [pytest.approx(1.0)]
    assert [row.measured for row in rows if row.concern is Concern.BUDGET] == budget


QUICK = ("bits", "bits-pair")
"""Whose whole audits take a second."""


@pytest.mark.parametrize("name", [
    each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in KINDS])
def test_the_price_of_each_promise_stands_in_the_report(name) -> None:
    """The rows above are made first of all; here the whole audit runs, and none of them is left out of its report."""
    report, rows, controls = whole_audit(name)
    promises = campaign_of(name).plan.guarantees.privacy
    assert [row.judged for row in rows if row.concern is Concern.PRIVACY] == list(promises)
    assert any(row.promise == NAMED for row in report.rows) is (name in NAMED_APART)
    assert len(controls) >= (2 if name in NAMED_APART else 4)
    assert set(controls) <= set(report.controls)
    assert set(rows) <= set(report.rows)


@pytest.mark.parametrize("code", [TooLow, ExtraLow])
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_flags_promises_below_the_price(name, code, monkeypatch) -> None:
    assert any(row.flagged for row in priced(name, code, monkeypatch) if row.concern is Concern.PRIVACY)


@pytest.mark.parametrize("name", sorted({*KINDS} - NAMED_APART.keys()))
def test_a_charge_below_the_promise_is_flagged(name, monkeypatch) -> None:
    assert [row.concern for row in priced(name, ChargedByHalf, monkeypatch) if row.flagged] == ["budget"]


@pytest.mark.parametrize("name", NAMED_APART)
def test_a_charge_below_what_the_parameters_name_is_flagged(name) -> None:
    it, charged = campaign_of(name).plan.mechanism, NAMED_APART[name]
    row, controls = charged(it)
    assert (row.verdict, row.measured) == ("kept", pytest.approx(1.0))
    assert all(control.flagged for control in controls)
    assert len(controls) == 2
    assert charged(inject_fault(it, ChargedByHalf))[0].flagged

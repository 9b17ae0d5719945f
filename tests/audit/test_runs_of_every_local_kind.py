"""Clients and runs that were broken on purpose, of the kinds whose noise is drawn on devices: each is flagged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.audit import AuditReport, inject_fault
from confide.privacy.noise import Noise
from people.all_kinds import campaign_of

BITS = ("bits", "bits-pair", "bits-unknown-costs")


def audited(name: str, code: type) -> AuditReport:
    """The kind's own audit of its template's plan, with a mechanism that was broken on purpose."""
    it = campaign_of(name)
    field = "mechanism" if name == "mean" else "collection"
    return it.file.kind.audit(replace(it.plan, **{field: inject_fault(it.plan.mechanism, code)}), 0)


class Unpaid:
    """Nobody is paid what the counts, or her contract, say."""

    def run(self, data: Any, noise: Any) -> Any:
        found = super().run(data, noise)  # type: ignore[misc]
        paid = pa.array(np.zeros(len(found.shares), np.int64))
        return replace(found, shares=found.shares.set_column(0, "payment", paid))


class TellsTheNext:
    """A coin more where the next person is paid anything."""

    def run(self, data: Any, noise: Any) -> Any:
        found = super().run(data, noise)  # type: ignore[misc]
        paid = found.shares["payment"].to_numpy()
        return replace(found, shares=found.shares.set_column(0, "payment", pa.array(paid + (np.roll(paid, -1) > 0))))


class PaysMore:
    """Its billboard pays more than the counts do."""

    def run(self, data: Any, noise: Any) -> Any:
        found = super().run(data, noise)  # type: ignore[misc]
        return replace(found, billboard=replace(found.billboard, for_one=found.billboard.for_one + 1000))


class BareOfOneType:
    """Whoever is of some types that are between others reports her bit itself."""

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> Any:
        bit, worth = private
        if worth is not None and 0.6 < worth / self.market.cost_threshold < 0.8:  # type: ignore[attr-defined]
            return int(bit)
        return super().submit(private, offer, noise)  # type: ignore[misc]


class Raw:
    """A device that sends what it was given."""

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> Any:
        return private


class OwnSeed:
    """A device whose noise is the same each time."""

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> Any:
        return super().submit(private, offer, Noise.simulated(7))  # type: ignore[misc]


class TellsTheTotal:
    """A share that tells the sum of all others besides."""

    def run(self, data: Any, noise: Any) -> Any:
        found = super().run(data, noise)  # type: ignore[misc]
        total = pa.array(np.full(len(found.shares), float(found.billboard.total)))
        return replace(found, shares=found.shares.append_column("total", total))


@pytest.mark.parametrize(("name", "code"), [
    *fast(3, [(name, code) for name in BITS[:2] for code in (Unpaid, TellsTheNext, PaysMore)]),
    pytest.param("bits-unknown-costs", BareOfOneType, marks=pytest.mark.slow),
    pytest.param("bits-unknown-costs", Unpaid, marks=pytest.mark.slow),
    *(pytest.param("mean", code, marks=pytest.mark.slow) for code in (Unpaid, TellsTheTotal)),
])
def test_outcomes_that_do_not_follow_from_what_they_should(name: str, code: type) -> None:
    assert not audited(name, code).passed


@pytest.mark.slow
@pytest.mark.parametrize("code", [Raw, OwnSeed])
def test_the_client_of_a_bought_mean_is_the_mechanisms_own(code: type) -> None:
    report = audited("mean", code)
    assert {row.promise for row in report.rows if row.flagged} >= {
        "privacy: one message, towards the platform", "privacy: everything that others see of a run, jointly"}

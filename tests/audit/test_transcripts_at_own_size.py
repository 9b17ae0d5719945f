"""Walks at a campaign's own size hold what it promises, and see what happens among many only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from confide.acquisition import audited as of_mean
from confide.audit import AuditRow, DampedNoise, Transcripts, inject_fault
from confide.contract import Privacy
from confide.market import audited
from confide.privacy.noise.simulated import study_generator
from confide.programs import PrivDude, RoundDude, TightenAndAudit, UnitDemand
from confide.programs.audited import full_size, full_size_rows
from confide.programs.audited_programs import tiny, tiny_pool
from confide.programs.audited_records import Pool
from confide.programs.dude import Dude
from confide.regression.audited import privacy
from people.all_kinds import campaign_of
from programs.program_transcripts import replayed

JOINTLY = "privacy: everything that others see of a run, jointly"


def jointly(rows: list[AuditRow]) -> list[AuditRow]:
    return [row for row in rows if row.promise == JOINTLY]


OBSERVED: list[int] = []


class Counted:
    """It notes how many reports each of its runs had: what it publishes of them follows from the reports alone."""

    def run(self, data: Any, noise: Any, **rest: Any) -> Any:
        OBSERVED.append(len(data[0].report) if isinstance(data, list) else int(np.count_nonzero(data.sent)))
        return super().run(data, noise, **rest)  # type: ignore[misc]


@pytest.mark.parametrize("name", ["bits", "bits-pair", "bits-unknown-costs"])
def test_markets_are_replayed_with_everybody_present(name: str) -> None:
    plan = campaign_of(name).plan
    collection: Any = plan.mechanism
    OBSERVED.clear()
    known = {"bits": audited.majority, "bits-pair": audited.pairs, "bits-unknown-costs": audited.unknown_costs}[name]
    replayed = next(each for each in known(inject_fault(collection, Counted)).measured
                    if isinstance(each, Transcripts) and each.named == JOINTLY)
    OBSERVED.clear()
    (row,) = jointly(replayed.rows())
    assert OBSERVED[-4:] == [collection.market.people] * 4  # two histories of a pair come last
    assert OBSERVED[-5] == 12
    assert row.verdict == "kept"
    assert f"all {collection.market.people:,} people" in row.note
    assert row.holds == tuple(each.sentence() for each in plan.guarantees.of(Privacy))


def test_a_bought_mean_is_replayed_with_everybody_present() -> None:
    it: Any = campaign_of("mean").plan.mechanism
    replayed = next(each for each in of_mean.mean(inject_fault(it, Counted)).measured
                    if isinstance(each, Transcripts) and each.named == JOINTLY)
    OBSERVED.clear()
    (row,) = jointly(replayed.rows())
    assert row.verdict == "kept"
    everybody = int(row.note.rpartition("all ")[2].partition(" people")[0].replace(",", ""))
    assert min(OBSERVED[-2:]) > 0.9 * everybody  # some devices send nothing
    assert OBSERVED[-3] <= 6


class QuietAmongMany:
    """A twentieth of the noise where many hand in something."""

    def run(self, data: Any, noise: Any, **rest: Any) -> Any:
        many = sum(len(batch.index) for batch in data) > 5000
        return super().run(data, DampedNoise(noise, 0.05) if many else noise, **rest)  # type: ignore[misc]


@pytest.mark.slow
def test_a_regression_is_replayed_with_everybody_present() -> None:
    it: Any = campaign_of("regression").plan.mechanism
    rows = [row for row in privacy(it, 0)[0].rows() if row.holds]
    assert {row.verdict for row in rows} == {"kept"}
    assert all(f"{it.setting.people:,} people hand in a record" in row.note for row in rows)
    assert any(row.flagged for row in privacy(inject_fault(it, QuietAmongMany), 0)[0].rows())


PROGRAMS: dict[str, Dude] = {
    "averages": PrivDude(UnitDemand(900, 200, goods=4), 2.0, 1e-6, rounds=20, burn_in=10),
    "presence": PrivDude(UnitDemand(900, 200, goods=4), 2.0, 1e-6, rounds=20, burn_in=10, neighbours="add_or_remove"),
    "audited": TightenAndAudit(UnitDemand(4000, (2000,) * 4, goods=4), 2.0, 1e-6, rounds=20, burn_in=10,
                               law="discrete_gaussian"),
    "flags": RoundDude(UnitDemand(4000, (2000,) * 4, goods=4), 2.0, 1e-6, rounds=20, burn_in=10, batch=500),
    "many flags": RoundDude(UnitDemand(4000, (2000,) * 4, goods=4), 2.0, 1e-6, rounds=20, burn_in=10),
}


class BigLeak:
    """A twentieth of the noise beyond 500 people."""

    def run(self, data: Any, noise: Any, **rest: Any) -> Any:
        many = self.program.people > 500  # type: ignore[attr-defined]
        return super().run(data, DampedNoise(noise, 0.05) if many else noise, **rest)  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name == "flags" else name for name in PROGRAMS])
def test_programs_are_replayed_at_their_own_size(name: str) -> None:
    it = PROGRAMS[name]
    pool = Pool.of(it.program, study_generator(0, "people"), 40)
    (row,), (control,) = full_size(it, it, pool).measured()
    assert row.verdict == "kept"
    assert not row.among
    assert 0.4 * row.promised < row.measured <= row.promised * (1 + 1e-9)
    # Of many times at which flags may rise the law is not computed: then the path alone is measured, and holds nothing.
    promises = {each.sentence() for each in it.guarantees().privacy if each.claimable}
    assert set(row.holds) == (set() if name == "many flags" else promises)
    assert control.flagged
    assert any(row.flagged for row in full_size_rows(it, inject_fault(it, BigLeak), pool))
    # Six people do not show it.
    few = tiny_pool(it.program, 0)
    twin = tiny(inject_fault(it, BigLeak), few)
    assert isinstance(twin, BigLeak)
    own = Pool.of(twin.program, study_generator(0, "t"), 0, few.records)
    assert not any(audit.flagged for audit in replayed(twin, own, 0, pairs=2).values())


def test_a_smaller_copy_of_a_program_holds_nothing_of_the_campaign() -> None:
    it = PROGRAMS["averages"]
    few = replace(it, program=replace(it.program, people=300))
    (row,) = full_size_rows(it, few, Pool.of(few.program, study_generator(0, "people"), 40))
    assert (row.among, row.holds) == ("300 people", ())

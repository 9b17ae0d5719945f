"""Every mechanism's own run on tiny neighbours: nothing above what is charged, nearly all of it attained, and every
planted fault flagged.
"""

from __future__ import annotations

import numpy as np
import pytest
from release_transcripts import audited, histories, measured_twin, release_rows, transcript_rows

from cases import fast
from confide.audit import AuditReport, Verdict
from confide.contract.errors import InvalidInput
from confide.privacy.losses import GDP, ZCDP, PureDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.release.audited_faults import (
    Charge,
    QuietTables,
    SelectsThrice,
    SteepChoices,
    charge,
    charges,
    faults,
    own_rho,
    whole_charge,
)
from confide.release.audited_tables import RECORDS, TINY, neighbours, published, quiet, recast, tiny, twins
from confide.release.baselines import NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.records import Codes
from confide.release.workload import Workload

TWINS = twins()
LARGE = {"MarginalFit, four tables", "MarginalFit, chosen tables", "Reweighted, transcript"}
"""Those whose neighbours take longest to walk."""
LOOSE = {  # what less is attained, where no record moves all: two scores in each choice
    "MarginalFit, four tables": {"choose": 0.75, "": 0.9},
    "MarginalFit, one table": {"": 0.9},
    "MarginalFit, chosen tables": {"": 0.9},
}


@pytest.mark.parametrize("name", fast(len(TWINS) - len(LARGE), sorted(TWINS, key=LARGE.__contains__)))
def test_what_is_charged_is_kept_and_attained(name: str) -> None:
    """Without a record that attains it, a charge could be too low by the part that is missing."""
    pairs = 2 if name.startswith("MarginalFit") else None
    assert charge(TWINS[name])[0].verdict is Verdict.KEPT
    for part, found in audited(TWINS[name], 1, pairs=pairs).items():
        assert not found.flagged, found.row(part)
        least = LOOSE.get(name, {}).get(part, 0.9999)
        assert least * found.promised <= found.measured <= found.promised * (1 + 1e-9)


@pytest.mark.parametrize("name", fast(3, [
    "MWEM, replay", "IndependentMarginals, columns", "NoisyAnswers, laplace", "NoisyAnswers, structured",
    "NoisyAnswers, gaussian", "MWEM, analysed", "MWEM, columns", "Reweighted, private", "Reweighted, public",
    "Reweighted, transcript", "IndependentMarginals, bits", "MarginalFit, one table", "MarginalFit, four tables",
    "MarginalFit, chosen tables"]))
def test_every_injected_fault_is_flagged(name: str) -> None:
    _, found = measured_twin(TWINS[name], name, pairs=2 if name[0] in "MR" else None).measured()
    assert len(found) >= 4
    assert [control.mutant for control in found if not control.flagged] == []


@pytest.mark.parametrize(("kind", "part", "times"), [(QuietTables, "table", 2), (SteepChoices, "choose", 4)])
def test_noise_of_one_part_that_is_not_what_is_charged(kind: type[MarginalFit], part: str, times: int) -> None:
    """Sigma of the chosen tables, and the exponent of the choices: each in its own part alone, to the digit."""
    it = recast(TWINS["MarginalFit, one table"], kind)
    assert not charge(it)[0].flagged
    found = audited(it, 1, pairs=2)
    assert {name for name, audit in found.items() if audit.flagged} == {part, ""}
    assert found[part].measured == pytest.approx(times * found[part].promised, rel=1e-9)


@pytest.mark.slow
def test_the_family_passes_with_all_its_controls() -> None:
    controls = [control for name, it in TWINS.items() for control in measured_twin(it, name).measured()[1]]
    report = AuditReport(tuple(release_rows()), tuple(controls))
    assert report.passed, report.problems
    assert {row.verdict for row in report.rows} == {Verdict.KEPT}
    assert report.false_alarm == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("name", TWINS)
def test_other_data_and_histories_keep_the_charge_too(name: str, seed: int) -> None:
    assert not [row for row in transcript_rows(TWINS[name], name, seed) if row.flagged]


def test_a_part_that_nobody_pays_for_is_flagged_by_name() -> None:
    """Whatever the sum of all parts says: here it says that there is room for ten times the selection."""
    it = TWINS["Reweighted, private"]
    roomy = [Charge("select", ZCDP(0.0)), Charge("", ZCDP(10.0))]
    found = audited(it, 1, pairs=1, charged=roomy)
    assert found["select"].flagged
    assert not found[""].flagged


def test_a_charge_above_the_plan_is_found_though_the_noise_fits_it() -> None:
    it = recast(TWINS["Reweighted, private"], SelectsThrice)
    assert charge(it)[0].flagged
    assert not any(found.flagged for found in audited(it, 1, pairs=1).values())


def test_a_run_that_is_charged_twice_or_by_half_is_flagged() -> None:
    for name, it in TWINS.items():
        injected = charge(it)[1]
        assert len(injected) == 2, name
        assert all(control.flagged for control in injected), name


class QuietGaussian(NoisyAnswers):
    """Noise that is a tenth too small for the epsilon that is named, and is charged as what it is."""

    @property
    def mu(self) -> float:
        return super().mu / 0.9


def test_a_charge_that_fits_the_noise_and_not_the_epsilon_is_found() -> None:
    it = recast(TWINS["NoisyAnswers, gaussian"], QuietGaussian)
    assert not any(found.flagged for found in audited(it, 1, pairs=1).values())
    assert charge(it)[0].flagged


def test_every_draw_belongs_to_a_part_that_is_charged() -> None:
    for it in TWINS.values():
        data = next(iter(neighbours(it, 1))).first
        noise = RecordingNoise(Noise.simulated(1))
        quiet(it, data, noise)
        parts = {part for part, _ in charges(it)} - {""}
        if isinstance(it, MarginalFit) and it.tables is None:
            parts |= {"again", "choose", "table"}  # one event pays for all of these
        assert not parts or {draw.stream[0] for draw in noise.draws} == parts


def test_charges_are_named_and_summed() -> None:
    found = dict(charges(TWINS["Reweighted, transcript"]))
    assert set(found) == {"round", "marginals", "measurements", ""}
    assert sum(found[part].rho for part in found if part) == pytest.approx(found[""].rho)
    assert isinstance(whole_charge(TWINS["NoisyAnswers, laplace"]), PureDP)
    assert isinstance(whole_charge(TWINS["IndependentMarginals, bits"]), GDP)
    for name in ("MWEM, replay", "Reweighted, private", "MarginalFit, four tables"):
        assert own_rho(TWINS[name]) == pytest.approx(whole_charge(TWINS[name]).rho)


def test_pairs_differ_in_one_record_and_one_of_them_cannot_be_used() -> None:
    for name in ("MWEM, replay", "NoisyAnswers, structured"):
        pairs = list(neighbours(TWINS[name], 1))
        for pair in pairs:
            first, second = (np.asarray(getattr(data, "cells", data)) for data in (pair.first, pair.second))
            assert first.shape == second.shape
            assert len(first) == RECORDS
            assert (first != second).any(axis=1).sum() == 1
            assert pair.published is published
    assert not pairs[-1].second.cells[-1].any()  # the null record


def test_faults_are_those_that_a_mechanism_can_have() -> None:
    private, public = (TWINS[f"Reweighted, {kind}"] for kind in ("private", "public"))
    gone = {fault.says for fault in faults(private)} - {fault.says for fault in faults(public)}
    assert sum("select" in says for says in gone) == len(gone) - 1 == 3
    assert len({fault.says for fault in faults(private)}) == len(faults(private))


def test_a_twin_has_the_rules_of_the_original() -> None:
    it = DualQuery(records=900, eta=2.0, rounds=9, samples=50, workload=Workload.complete(6, width=2), free="marginals",
                   marginal_rho=0.3)
    twin = tiny(it)
    assert (twin.records, twin.free, twin.marginal_rho) == (RECORDS, "marginals", 0.05)
    found = audited(twin, 1, pairs=1)
    assert set(found) == {"round", "marginals", ""}
    assert not any(audit.flagged for audit in found.values())


def test_data_of_another_size_reaches_no_draw() -> None:
    for name in ("MWEM, replay", "NoisyAnswers, laplace", "Reweighted, private"):
        noise = RecordingNoise(histories(1)(0))
        with pytest.raises(InvalidInput, match="records"):
            quiet(TWINS[name], np.zeros((RECORDS - 1, 4), dtype=np.bool_), noise)
        assert noise.draws == []
    with pytest.raises(InvalidInput, match="records"):
        TWINS["MarginalFit, one table"].run(Codes(schema=TINY, cells=np.zeros((3, 4), np.uint16)), Noise.simulated(1))

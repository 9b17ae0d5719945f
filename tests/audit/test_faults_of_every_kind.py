"""What a family's own audit once planted, the harness injects or the family names: every fault is flagged."""

from __future__ import annotations

import pytest

from people.all_kinds import campaign_of

LOCAL, JOINTLY = "privacy: one report, local", "privacy: everything that others see of a run, jointly"
DECODED = "people whose own device finds another share than the run gave them"
CHECKED = "billboards of its runs that a verifier would call forged"
PRICE = {name: ("the price of a promise", name) for name in (
    "one more promise, of 1e-9-zCDP", "promises of a hundredth of the loss", "half of what is promised is charged",
    "everything released twice")}
BITS = {
    "clients at 1.1 times the level": (LOCAL, "clients at 1.1 times the level"),
    "clients that report the bit itself": (LOCAL, "no noise"),
    "devices that add no noise": (JOINTLY, "no noise"),
    "a coin more for whoever comes after somebody who reported 1":
        (DECODED, "a coin more for whoever comes after somebody who reported 1"),
    "a coin more for each 1 than the counts pay": (CHECKED, "a coin more for each 1 than the counts pay"),
    **PRICE,
}
FAULTS: dict[str, dict[str, tuple[str, str]]] = {
    "bits": {
        **BITS,
        "a source that draws at level 4": ("law of the noise", "a source with 0.25 of the scale"),
        "payments as if infinitely many took part (planted at 5 people)":
            ("truth", "payments as if infinitely many took part (in a market of 5 people)"),
        "payments for one person too few (planted at 5 people)":
            ("truth", "payments for one person too few (in a market of 5 people)"),
    },
    "bits-pair": {
        **BITS,
        "a source that draws at level 0.5": ("law of the noise", "a source with 3 of the scale"),
        "payments by true bits: the noise of the peers forgotten":
            ("truth", "payments by true bits: the noise of the peers forgotten"),
        "both reports paid alike": ("truth", "both reports paid alike"),
    },
    "bits-unknown-costs": {
        **BITS,
        "a source that draws at level 0.5": ("law of the noise", "a source with 6 of the scale"),
        "payments for people who all report at epsilon (planted at 3 people)":
            ("truth", "payments for people who all report at epsilon (in a market of 3 people)"),
        "payments as if somebody were always there (planted at 3 people)":
            ("truth", "payments as if somebody were always there (in a market of 3 people)"),
    },
}
"""Kind -> what its own audit planted -> the control of today, and its fault."""

FAST = ("bits", "bits-pair")
"""The others take seconds each."""


@pytest.mark.parametrize("name", [
    each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in FAULTS])
def test_faults_that_were_planted_are_injected_and_flagged(name: str) -> None:
    it = campaign_of(name)
    found = {(control.name, control.mutant): control.flagged for control in it.file.kind.audit(it.plan, 0).controls}
    assert {old: today for old, today in FAULTS[name].items() if not found.get(today)} == {}
    assert all(found.values())
    walked = {name for name, fault in found if fault == "no noise"}
    for each in walked:  # what the harness injects into every run
        assert found[each, "the records beside what is published"]
        assert any(fault.endswith("of the noise that the promise needs") for name, fault in found if name == each)

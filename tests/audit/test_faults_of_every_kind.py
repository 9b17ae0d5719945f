"""What a family's own audit once planted, the harness injects or the family names: every fault is flagged."""

from __future__ import annotations

import pytest

from people.all_kinds import campaign_of

LOCAL, JOINTLY = "privacy: one report, local", "privacy: everything that others see of a run, jointly"
DECODED = "people whose own device finds another share than the run gave them"
CHECKED = "billboards of its runs that a verifier would call forged"
MESSAGE, LESS = "privacy: one message, towards the platform", "0.9 of the noise that the promise needs"
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
    "mean": {
        "no noise at all": (MESSAGE, "no noise"),
        "noise of half the scale": (MESSAGE, LESS),
        **{fault: (MESSAGE, fault) for fault in (
            "noise from a seed of its own, the same each time", "records beyond the range count as they are",
            "records beyond the range count as they are up to a sixteenth of it",
            "records count as they are where they are a hundred ranges beyond",
            "it also tells that a record was beyond the range")},
        "a source with half the scale": ("law of the noise", "a source with 0.5 of the scale"),
        "a source that starts anew for every client":
            ("law of the noise", "a source that starts anew for every stream"),
        **{fault: ("privacy of the sum", fault) for fault in (
            "half of one person's noise, and nobody else's",
            "lattice noise under real weights: 594625 of 594625 sums tell all their summands")},
        "noise of half the scale: local": ("levels, local", "noise of half the scale"),
        "noise of half the scale: central": ("levels, central", "noise of half the scale"),
        "nothing in the place of absentees": ("levels", "nothing in the place of absentees"),
        "a fellow's own noise, counted as if it hid others from her too":
            ("fellows", "a fellow's own noise, counted as if it hid others from her too"),
        "the sum forgets the largest message": ("accuracy", "the sum forgets the largest message"),
        "people are paid what their reports cost, without a rent":
            ("truth and participation", "people are paid what their reports cost, without a rent"),
        "the lowest type is the one who is just willing":
            ("truth and participation", "the lowest type is the one who is just willing"),
        "a coin more than the contract says": (DECODED, "a coin more than the contract says"),
        "more steps than there are": (CHECKED, "more steps than there are"),
        "devices that add no noise": (JOINTLY, "no noise"),
        **PRICE,
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

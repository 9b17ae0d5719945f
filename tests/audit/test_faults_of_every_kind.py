"""What a family's own audit once planted, the harness injects or the family names: every fault is flagged."""

from __future__ import annotations

import pytest

from confide.audit.charging import COVERED, NAMED
from people.all_kinds import KINDS, whole_audit

LOCAL, JOINTLY = "privacy: one report, local", "privacy: everything that others see of a run, jointly"
DECODED = "number of people with another share on their own device than in the run"
CHECKED = "number of billboards of its runs that a verifier would call forged"
MESSAGE, LESS = "privacy: one message, towards the platform", "0.9 of the noise that the promise needs"
PRIVATE = "privacy loss: everything that others see, jointly"
TWIN = "privacy: MarginalFit on 40 records of four columns"
PRICED = {name: ("the price of a promise", name) for name in (
    "one more promise, of 1e-9-zCDP", "promises of a hundredth of the loss")}
PRICE = {**PRICED, **{name: ("the price of a promise", name) for name in (
    "half of the promised loss is charged", "everything released twice")}}
"""Where the charge is what is promised; where it is what the parameters name, `CHARGED` has the last two."""
BITS = {
    "devices at 1.1 times the level": (LOCAL, "devices at 1.1 times the level"),
    "clients that report the bit itself": (LOCAL, "no noise"),
    "devices that add no noise": (JOINTLY, "no noise"),
    "one coin more for a person who follows a person with the report 1":
        (DECODED, "one coin more for a person who follows a person with the report 1"),
    "one coin more for each report 1 than the counts give": (
        CHECKED, "one coin more for each report 1 than the counts give"),
    **PRICE,
}
SEEN = "privacy: everything that others see, jointly"
PARTS = "the cost of all releases of a run, as a share of the cost that follows from the parameters"
CHARGED = {
    "everything released twice, by the parameters": (NAMED, "everything released twice"),
    "half of what the parameters name is charged": (NAMED, "half of the promised loss is charged"),
}
GOODS = {
    "the run gives each good to the next person": ("people with another good by their own device than by the run",
                                                   "the run gives each good to the next person"),
    "the billboards belong to a campaign with one person less": (
        CHECKED, "the billboards belong to a campaign with one person less"),
    "everybody gets their favourite, without a market": ("runs that give more copies of a good than there are",
                                                         "everybody gets their favourite, without a market"),
    "the certificate states four times the welfare": ("runs with a certificate that states too much",
                                                      "the certificate states four times the welfare"),
    "every release with twice the budget": (PARTS, "every release with twice the budget"),
    "a thousandth of the noise": (SEEN, "no noise"),
    "noise multiplied by 0.2": (SEEN, LESS),
    **{fault: (SEEN, fault) for fault in (
        "the number of bidders who want a good, published beside the billboard",
                                          "the number of bidders who want a good, in the certificate",
        "the number of bidders who want a good, as an attribute of the billboard",
        "the number of bidders who want a good, in the shares' metadata")},
    "half of the noise of the certificate": ("privacy: certificate", "half of its noise"),
    "0.05 of the noise": ("privacy: at the campaign's own size, the disclosure of a run to others about single bidders",
                          "noise at 0.05 of its scale, at this size alone"),
    "everybody gets the neighbour's share": ("billboard", "everybody gets the neighbour's share"),
    "an auction without a reserve or a final clearing": ("supply", "an auction without a reserve or a final clearing"),
    "the gain of bidders that the bound leaves out": ("certificate", "the gain of bidders that the bound leaves out"),
    "the exact optimum, presented as epsilon = 0.05": (
        "joint privacy", "the exact optimum, presented as epsilon = 0.05"),
    **CHARGED, **PRICED,
}
FAULTS: dict[str, dict[str, tuple[str, str]]] = {
    "bits": {
        **BITS,
        "a source that draws at level 4": ("law of the noise", "a source with 0.25 of the scale"),
        "payments as if infinitely many took part (planted at 5 people)":
            ("truth", "payments for infinitely many participants (in a market of 5 people)"),
        "payments for one person too few (planted at 5 people)":
            ("truth", "payments for one person less than take part (in a market of 5 people)"),
    },
    "bits-pair": {
        **BITS,
        "a source that draws at level 0.5": ("law of the noise", "a source with 3 of the scale"),
        "payments by true bits, without the noise of the peers":
            ("truth", "payments by true bits, without the noise of the peers"),
        "equal payments for both reports": ("truth", "equal payments for both reports"),
    },
    "bits-unknown-costs": {
        **BITS,
        "a source that draws at level 0.5": ("law of the noise", "a source with 6 of the scale"),
        "payments for people who all report at epsilon (planted at 3 people)":
            ("truth", "payments for people who all report at the level epsilon (in a market of 3 people)"),
        "payments as if somebody were always there (planted at 3 people)":
            ("truth", "payments for a market that always has a peer (in a market of 3 people)"),
    },
    "bundles": {
        **GOODS,
        "a quarter of the scale": (PARTS, "a quarter of the scale"),
        **{fault: (SEEN, fault) for fault in (
            "counters advance only when somebody bids", "noise for bidders who bid only once",
            "the final clearing without noise", "surplus and welfare, each with the full budget")},
        "half of the noise of the clearing": ("privacy: clearing", "half of its noise"),
        "half of the noise of the counts": ("privacy: counts", "half of its noise"),
        **{fault: ("privacy, an auction of eight", fault) for fault in (
            "a quarter of the scale", "number of levels by the natural logarithm")},
    },
    "matching": {
        **GOODS,
        "the final count made twice": (PARTS, "the final count made twice"),
        "every round spends the budget of all rounds": (SEEN, "every round spends the budget of all rounds"),
        "half of the noise of the demand": ("privacy: demand", "half of its noise"),
        "half of the noise of what is asked": ("privacy: asked", "half of its noise"),
    },
    "mean": {
        "no noise at all": (MESSAGE, "no noise"),
        "noise of half the scale": (MESSAGE, LESS),
        **{fault: (MESSAGE, fault) for fault in (
            "noise from a fixed seed, equal in each run", "records beyond the range count with their full value",
            "records beyond the range count with their full value, up to a sixteenth of the range beyond it",
            "records count with their full value if they are a hundred ranges beyond the range",
            "the message also shows whether a record was beyond the range")},
        "a source with half the scale": ("law of the noise", "a source with 0.5 of the scale"),
        "a source that starts anew for every client":
            ("law of the noise", "a source that starts again with the same seed for every stream"),
        **{fault: ("privacy of the sum", fault) for fault in (
            "half of one person's noise, and no noise of others",
            "lattice noise under real weights: 594625 of 594625 sums disclose all their summands")},
        "noise of half the scale: local": ("levels, local", "noise of half the scale"),
        "noise of half the scale: central": ("levels, central", "noise of half the scale"),
        "no noise for absent people": ("levels", "no noise for absent people"),
        "a fellow participant's own noise, counted as protection from this participant":
            ("fellows", "a fellow participant's own noise, counted as protection from this participant"),
        "a sum without the largest message": ("accuracy", "a sum without the largest message"),
        "payments cover the cost of the reports, without a rent":
            ("truth and participation", "payments cover the cost of the reports, without a rent"),
        "the person of the lowest type is indifferent":
            ("truth and participation", "the person of the lowest type is indifferent"),
        "one coin more than the amount in the contract": (DECODED, "one coin more than the amount in the contract"),
        "more steps than the lattice has": (CHECKED, "more steps than the lattice has"),
        "devices that add no noise": (JOINTLY, "no noise"),
        **PRICE,
    },
    "program": {
        "twice the squared budget": ("the price of a promise", "twice the squared budget"),
        "contributions beyond their bounds counted, of a record":
            ("sensitivity", "contributions beyond their bounds counted"),
        "a tenth of the noise": (SEEN, "no noise"),
        **{fault: (SEEN, fault) for fault in (
            "the true load beside the billboard", "the welfare in the certificate",
            "a sensitivity computed from the actual records", "contributions beyond their bounds counted",
            "noise of a round with the budget of all rounds", "a step that depends on the records",
            "a path that stops when nobody asks for anything",
            "sensitivity of one contribution instead of two", "an audit that uses the true load")},
        **{fault: ("privacy, order and scale of draws", fault) for fault in (
            "public randomness drawn before the records are read",
            "the noise of one round used for the next round, too")},
        "half of the noise of the path": ("privacy: the path of prices", "half of its noise"),
        "half of the noise of the audit": ("privacy: the audit of the load", "half of its noise"),
        "one stream for all draws": ("law of the noise", "a source that starts again with the same seed for every "
                                                         "stream"),
        "0.05 of the noise": ("privacy: at the campaign's own size, everything that others see, jointly",
                              "noise at 0.05 of its scale, at this size alone"),
        "everybody gets the neighbour's share": ("billboard", "everybody gets the neighbour's share"),
        "averages over the burn-in": ("billboard", "averages over the burn-in"),
        "no term for the deviation of the noise": ("certificate", "no term for the deviation of the noise"),
        "an audit that accepts anything": ("supply", "an audit that accepts anything"),
        "the run gives each part to the next person": ("people with another part by their own device than by the run",
                                                "the run gives each part to the next person"),
        "the prices do not follow from the release":
            (CHECKED, "the prices do not follow from the release"),
        **CHARGED, **PRICED,
    },
    "queries": {
        "four times the stated spend": ("privacy, summed again", "four times the stated spend"),
        "no noise at all": (TWIN, "no noise"),
        "noise multiplied by 0.2": (TWIN, LESS),
        "noise with a scale that depends on the data": (TWIN, "noise with a scale that depends on the data"),
        "a true answer on the billboard": (TWIN, "the records beside the published values"),
        "half of the noise of one-way tables": (f"{TWIN}, one-way", "half of its noise"),
        "0.05 of the noise, in parts": (
            "privacy: at the campaign's own size, each part of the noise, as a share of its charge",
            "noise at 0.05 of its scale, at this size alone"),
        "0.05 of the noise, in all": ("privacy: at the campaign's own size, everything that is published",
                                      "noise at 0.05 of its scale, at this size alone"),
        "bars 50 times too small": ("accuracy: an error as a share of its own bound", "bounds 50 times too small"),
        **CHARGED, **PRICED,
    },
    "regression": {
        "no noise at all": (PRIVATE, "no noise"),
        "noise multiplied by 0.33": (PRIVATE, LESS),
        "the same noise in both payment estimates": (PRIVATE, "the noise of one draw used twice"),
        **{fault: (PRIVATE, fault) for fault in (
            "answers beyond the bound count sixteen times", "a ball ten times as wide")},
        "half of the noise of the payments": ("privacy loss: payment estimates", "half of its noise"),
        "half of the noise of the release": ("privacy loss: release", "half of its noise"),
        "the printed sensitivity without the ball (n = 10,000, gamma = 10): 5.34 times the claim":
            ("privacy loss", "the printed sensitivity without the ball (n = 10,000, gamma = 10)"),
        "a source that adds nothing": ("law of the noise", "a source that adds nothing"),
        "a source with half the scale": ("law of the noise", "a source with 0.5 of the scale"),
        "payments by the estimate of the person's own group": ("incentives",
                                                           "payments by the estimate of the person's own group"),
        "peers with predictions of the wrong sign": ("incentives", "peers with predictions of the wrong sign"),
        "predictions that are not clipped": ("range of payments", "predictions that are not clipped"),
        **CHARGED, **PRICED,
    },
    "search": {
        **{fault: ("a selection", fault) for fault in (
            "noise at half of its scale", "at most one examined vertex", "a fake target without noise")},
        **{fault: ("the threshold", fault) for fault in (
            "no noise", "the sensitivity of one count", "the unexamined counted")},
        **{fault: ("own runs", fault) for fault in (
            "half of the noise is drawn", "a query cap", "the same noise in every call")},
        "a threshold that is drawn without the data":
            ("the threshold's error", "a threshold that is drawn without the data"),
        "a list that is charged as if it disclosed nothing":
            ("the delta of a list", "a list that is charged as if it disclosed nothing"),
        "ties broken by the number of contacts": ("inside a component", "ties broken by the number of contacts"),
        "noise at 0.8 of its scale, at this size alone": (
            "privacy: at the campaign's own size, number of calls that the noise does not explain",
            "noise at 0.8 of its scale, at this size alone"),
        "lists without one of the searches":
            ("number of lists of its runs that a verifier would call forged",
             "lists without one of the searches"),
        "everything released twice, by the plan":
            ("the charge to the ledger, as a share of the planned cost", "everything released twice"),
        "half of what the parameters name is charged": (NAMED, "half of the promised loss is charged"),
        **PRICED,
    },
}
"""Kind -> what its own audit planted, before the harness did -> the control of today, and its fault."""

FAST = ("bits", "bits-pair")
"""The others take seconds each."""


@pytest.mark.parametrize("name", [
    each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in KINDS])
def test_faults_that_were_injected_are_injected_and_flagged(name: str) -> None:
    found = {(control.name, control.mutant): control.flagged for control in whole_audit(name).report.controls}
    assert {old: today for old, today in FAULTS.get(name, {}).items() if not found.get(today)} == {}
    assert all(found.values())
    names = [name for name, _ in found]
    assert (COVERED in names) is (NAMED in names)  # what is measured is held against the charge, not its name alone
    replayed = {name for name, fault in found if fault == "the records beside the published values"}
    for each in replayed:  # what the harness injects into every run
        assert found[each, "no noise"]
        assert any(fault.endswith("of the noise that the promise needs") for name, fault in found if name == each)

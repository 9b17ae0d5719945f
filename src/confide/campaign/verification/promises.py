"""Checks that the parameters, charge, promises, certificate and meter of a pack follow from the pack's campaign file
and billboard. The meter is the record that the noise of the run stayed within the charge. Each line of the meter is one
named part of the charge.

No check relies on the pack's statement about the version of confide that wrote the pack. Privacy losses and their cost
are always compared with this version's theorems. A pack of another version may have other words and weaker claims. A
pack of another version may also have other parameters, if no privacy loss depends on them.

Each check returns its finding as a text, and raises `Broken` for a pack that fails the check.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from confide.campaign.charging import check_budget, data_set_charge
from confide.campaign.file import CampaignFile
from confide.campaign.own_runs import is_ours
from confide.campaign.store.chain import Entry
from confide.campaign.verification.findings import Broken, NotChecked
from confide.campaign.verification.former_words import promises_today
from confide.campaign.verification.likeness import TINY, TOLERANCE, Difference, alike, differences
from confide.campaign.verification.reading import check_part
from confide.contract.encoding import encode
from confide.contract.guarantees import GUARANTEES, Guarantees
from confide.contract.kinds import CampaignPlan
from confide.contract.metered import WITHIN, MeteredLine, Overspent
from confide.contract.outcome import PublicOutcome
from confide.contract.upgrades import upgraded
from confide.contract.wire import wire_name, wire_of
from confide.privacy.events import EVENTS
from confide.privacy.filter import Filter, price
from confide.privacy.losses import LOSSES
from confide.privacy.meter import Meter

__all__ = ["certificate", "debit", "guarantees", "meter", "parameters"]

_SHOWN = 3  # differences that a message names

_WORSE = {"gain": 1, "radius": 1, "utility": -1, "bound": 1, "expected": 1, "lowest": -1, "highest": 1,
          "failure_probability": 1}
"""Mapping from a number of a guarantee to the direction in which its claim gets weaker: 1 for larger numbers, -1 for
smaller ones.
"""


# ---- the mechanism that ran


def parameters(file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome, other: str | None) -> str:
    """Check that the mechanism in the outcome is the mechanism that the campaign file plans.

    Args:
        file: the campaign file of the pack.
        plan: this version's plan of the campaign file.
        outcome: the public outcome in the pack.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
    """
    planned: Any = plan.mechanism
    ran = outcome.mechanism
    if type(planned) is not type(ran):
        raise Broken(f"the campaign file plans a {wire_name(planned)}, not a {wire_name(ran)}")
    _loses_no_more(file, plan, outcome)
    if other is not None:  # a setting that is younger than the pack stands at what it was before it had a name
        written, younger = wire_of(type(ran)), cast("Any", planned)
        planned = replace(younger, **{
            name: getattr(ran, name) for name, word in written.fields.items()
            if word in written.absent and written.written(name, getattr(ran, name)) == written.absent[word]})
    found = list(differences(encode(planned, {}), encode(ran, {})))
    if not found:
        return "the campaign file plans exactly this mechanism"
    what = f"the campaign file plans another mechanism: {_listed(found)}"
    if other is None or not all(each.numbers or isinstance(each.now, dict) for each in found):
        raise Broken(what)
    raise NotChecked("the mechanism loses no more privacy than the campaign file allows. But by this version's "
                     f"reading, {what}; confide {other} may calibrate otherwise")


def _loses_no_more(file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome) -> None:
    """Check that the mechanism's privacy losses, and their cost, are not above the losses and the cost of the plan."""
    allowed = _losses(_stated(plan.guarantees))
    for (audience, unit), losses in _losses(_stated(outcome.guarantees)).items():
        for loss in losses:  # a part may lose as much as the plan allows to the whole
            if not any(_covers(each, loss) for each in allowed.get((audience, unit), ())):
                raise Broken(f"the mechanism may lose {_words(loss)} towards {audience}, more than planned")
    asked, spends = data_set_charge(file, plan), data_set_charge(file, outcome)
    most, cost = (price(each.rule, each.events, each.delta) for each in (asked, spends))
    for part in ("epsilon", "delta", "rho"):
        if getattr(cost, part) > getattr(most, part) * (1 + TOLERANCE):
            raise Broken("the mechanism costs more privacy budget than the campaign file plans")


# ---- the debit


def debit(file: CampaignFile, outcome: PublicOutcome, charge: Entry, other: str | None) -> str:
    """Check that the only charge among the events is the charge that the campaign requests from the ledger, and that
    the budgets in the campaign file admit this charge.

    Args:
        file: the campaign file of the pack.
        outcome: the public outcome in the pack.
        charge: the event that debits the ledger, as `charge_of` of `confide.campaign.verification.signed` finds it.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
    """
    asked = data_set_charge(file, outcome)
    said = upgraded(dict(charge.data), EVENTS, "event")
    now = {**encode(asked.entry(), {}), "delta": asked.delta}
    then = {**said, "delta": float(said["delta"])}
    if repr(then["delta"]) != said["delta"]:
        raise Broken("the delta of the charge is not written as a number")
    wrong = list(differences(now, then))
    if wrong and (other is None or not all(each.path.endswith(".label") for each in wrong)):
        raise Broken(f"the ledger was charged for something else: {_listed(wrong)}")
    check_budget(file, outcome)
    if wrong:
        raise NotChecked(f"the charge is the campaign's, but confide {other} may name it differently: {_listed(wrong)}")
    spent = Filter(asked.budget, asked.rule, price(asked.rule, asked.events, asked.delta)).spent
    return f"charged once to {asked.account.name!r}: {spent}; the campaign file allows {asked.budget}"


# ---- what is promised


def guarantees(outcome: PublicOutcome, said: Any, other: str | None) -> str:
    """Check that the promises in the manifest follow from the parameters in the manifest.

    Args:
        outcome: the public outcome in the pack, with the guarantees that this version computes.
        said: the promises in the manifest, as JSON values.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
    """
    now, said = _stated(outcome.guarantees), upgraded(said, {**GUARANTEES, **LOSSES}, "guarantee", "loss")
    if other is not None:
        said = promises_today(said)
    claims = [each for each in said if each["claimable"] is not False]
    _privacy_is_no_better(now, [each for each in claims if each["guarantee"] == "privacy"])
    exact = {f"[{place}]" for place, each in enumerate(now, 1) if each["guarantee"] == "privacy"}
    wrong = [each for each in differences(now, said) if not _rounded_flag(now, each)
             and (each.path.partition(".")[0] in exact or not alike(each.now, each.then, TINY))]
    if not wrong:
        return f"all {len(now)} promises follow from the parameters"
    if other is None:
        raise Broken(f"the promises are not those of these parameters: {_listed(wrong)}")
    _others_are_no_better(now, [each for each in claims if each["guarantee"] != "privacy"])
    raise NotChecked("the privacy losses hold, and no number of a promise claims more than the parameters give; but "
                     f"confide {other} may word promises differently, and words are not checked")


def _rounded_flag(now: Sequence[Mapping[str, Any]], found: Difference) -> bool:
    """Whether two promises of participation differ only in the flag "vacuous", which depends on the last digit of a
    utility that is calibrated to be exactly 0.
    """
    flags = {f"[{place}].vacuous" for place, each in enumerate(now, 1) if abs(each.get("utility", 1.0)) <= TINY}
    return found.path in flags and isinstance(found.then, bool)


def _privacy_is_no_better(now: Sequence[Mapping[str, Any]], said: Sequence[Mapping[str, Any]]) -> None:
    for each in said:
        seen = [mine for mine in _privacy(now) if all(mine[key] == each[key] for key in ("audience", "unit"))]
        # Several losses of one part hold together, each by its own proof: one that covers what is said is enough. Of a
        # part that this version does not know, nothing is proved but the losses of the whole: all have to.
        own = [mine for mine in seen if mine["part"] == each["part"]]
        follows = [mine for mine in own if _covers(each["loss"], mine["loss"])] or own or seen
        if not follows or not all(_covers(each["loss"], mine["loss"]) for mine in follows):
            losses = "; ".join(_words(mine["loss"]) for mine in follows) or "nothing"
            raise Broken(f"{_words(each['loss'])} is promised towards {each['audience']} for {each['part']}; these "
                         f"parameters give {losses}")
        if any(_better(key, each[key], mine[key]) for key in ("failure_probability", "vacuous") for mine in follows):
            raise Broken(f"the promise for {each['part']} may fail, or says nothing, by these parameters")


def _others_are_no_better(now: Sequence[Mapping[str, Any]], said: Sequence[Mapping[str, Any]]) -> None:
    known: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in now:
        if each["claimable"]:
            known[each["guarantee"]].append(each)
    for each in said:
        name = each["guarantee"]
        if not known[name]:
            raise Broken(f"a promise of {name} does not follow from the parameters")
        mine = known[name].pop(0)
        for key in each.keys() & mine.keys():
            if _better(key, each[key], mine[key]):
                raise Broken(f"{name} is promised with {key} {each[key]}; these parameters give {mine[key]}")


def _better(key: str, said: Any, follows: Any) -> bool:
    """Whether a stated guarantee claims more under a key than the computed one; words are not compared."""
    if key == "vacuous":
        return follows is True and said is not True
    mine, theirs = _number(follows), _number(said)
    if key in _WORSE:
        worse = mine is not None and theirs is not None and _WORSE[key] * theirs >= _WORSE[key] * mine
        return not worse and not alike(follows, said, TINY)
    return (mine is not None or theirs is not None) and not alike(follows, said, TINY)


# ---- what is claimed after the run


def certificate(outcome: PublicOutcome, other: str | None) -> str:
    """Check that the certificate is the certificate that the mechanism computes from the billboard.

    Args:
        outcome: the public outcome in the pack.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
    """
    found = outcome.mechanism.certify(outcome.billboard)
    now, then = encode(found, {}), encode(outcome.certificate, {})
    wrong = list(differences(now, then))
    if not wrong:
        return ("this mechanism makes no "
                "certificate") if found is None else f"the {now['type']} follows from the billboard"
    what = f"the billboard gives {_named(now)}, but the pack holds {_named(then)}"
    if now is not None and then is not None:
        what = f"the certificate does not agree with the billboard: {_listed(wrong)}"
        # Numbers under the same name have to be right; what only one of the versions states cannot be compared.
        if isinstance(now, dict) and isinstance(then, dict) and now["type"] == then["type"]:
            shared = now.keys() & then.keys()
            wrong = list(differences({key: now[key] for key in shared}, {key: then[key] for key in shared}))
            if wrong:
                raise Broken(what)
    if other is None:
        raise Broken(what)
    raise NotChecked(f"{what}; confide {other} may make another one")


# ---- promises as the manifest states them


def _stated(promises: Guarantees) -> list[dict[str, Any]]:
    return [encode(each, {}) for each in promises.to_wire()]


def _privacy(promises: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (each for each in promises if each["guarantee"] == "privacy" and each["claimable"])


def _losses(promises: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Mapping from an audience and a unit of privacy to all losses that are promised for them."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for each in _privacy(promises):
        found[each["audience"], each["unit"]].append(each["loss"])
    return found


def _covers(said: Mapping[str, Any], follows: Mapping[str, Any]) -> bool:
    """Whether a stated loss is of the same kind as the computed one, with no smaller number."""
    if said.keys() != follows.keys() or said["loss"] != follows["loss"]:
        return False
    for key in said.keys() - {"loss"}:
        mine, theirs = _number(follows[key]), _number(said[key])
        if mine is None or theirs is None or not theirs >= mine * (1 - TOLERANCE):
            return False
        if key == "alpha" and not alike(follows[key], said[key]):  # the order of a Renyi loss is no loss
            return False
    return True


def _number(value: Any) -> float | None:
    """The number that a guarantee states, which may be infinite; None for any other value."""
    if value in ("Infinity", "-Infinity"):
        return float(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _words(loss: Any) -> str:
    return ", ".join(f"{key} {value}" for key, value in loss.items() if key != "loss")


def _named(part: Any) -> str:
    return "none" if part is None else f"a {part['type']}"


def _listed(found: Any) -> str:
    shown = list(islice(found, _SHOWN + 1))
    return "; ".join(map(str, shown[:_SHOWN])) + ("; ..." if len(shown) > _SHOWN else "")


def meter(file: CampaignFile, outcome: PublicOutcome, other: str | None) -> str:
    """Check that the lines of the meter are the lines of the mechanism's charge, and that the draws on the billboard
    stay within these lines.

    For a line without draws on the billboard, the meter only states that the run stayed within the line. A run that
    does not stay within a line publishes nothing, but a dishonest signer could state that the run did. Public draws are
    added up in this check, whatever the pack states.

    Args:
        file: the campaign file of the pack.
        outcome: the public outcome in the pack.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
    """
    mechanism, said = outcome.mechanism, outcome.meter
    fresh = Meter.of(mechanism)
    shown = list(mechanism.drawn(outcome.billboard))
    for number, (line, cost, count) in enumerate(shown):
        try:
            fresh.spend(line, cost, ("drawn", number), count=count)
        except Overspent as error:
            raise Broken(f"the run spent more than it was charged: {error}") from None
    check_part(outcome.provenance.confide, "a meter", held=said is not None)
    if said is None:
        raise NotChecked(f"no meter recorded the run, since confide {other} had none; the figures on the billboard "
                         "are within the charge")
    own = {(line.line, line.form): line for line in fresh.record().lines}
    reported = {(line.line, line.form): line for line in said.lines}
    if any(line.spent != WITHIN for line in said.lines) or len(reported) < len(said.lines):
        raise Broken("a line states something else than a kept charge")
    if own.keys() != reported.keys():
        if other is None:
            raise Broken(f"the lines are {_lines(said.lines)}, but this mechanism is charged on {_lines(own.values())}")
        raise NotChecked(f"the lines are those of confide {other}; the figures on the billboard are within the charge")
    if said.around:
        if is_ours(mechanism, file.kind):
            raise Broken("noise was drawn that no line of the charge paid for")
        raise NotChecked("the mechanism draws noise in its own way, and no line of its charge pays for this noise: "
                         "only the author states that the charge covers it")
    what = f"{len(own)} {'line' if len(own) == 1 else 'lines'} within the charge: {_lines(own.values())}"
    return f"{what}; the {len(shown)} draws on the billboard are within the charge" if shown else what


def _lines(lines: object) -> str:
    names = [line.line for line in lines if isinstance(line, MeteredLine)]  # type: ignore[attr-defined]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")

"""Checks of the published parts of an outcome, which are the billboard, the tables and the page, and of a participant's
share. Each check returns its finding as a text, and raises `Broken` for a pack that fails the check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confide.campaign.contracts import read_contract
from confide.campaign.file import CampaignFile
from confide.campaign.pack import MANIFEST, PICTURES, REPORT, report, row_files, sections
from confide.campaign.report import head, pictures, placed, with_policy, without_pictures
from confide.campaign.verification.findings import Broken, NotChecked
from confide.campaign.verification.likeness import contradict, same_rows, same_table
from confide.campaign.verification.page import check_other, same_page
from confide.campaign.verification.pictures import same_as_drawn_by_first, same_data
from confide.campaign.verification.reading import Folder, check_part, is_column, is_first, is_table, json_of
from confide.contract.digests import canonical
from confide.contract.encoding import encode
from confide.contract.kinds import CampaignPlan, ContractKind, is_rows
from confide.contract.outcome import Provenance, PublicOutcome
from confide.contract.outcome_folder import known_types
from confide.contract.upgrades import upgraded
from confide.contract.wire import wire_name

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["billboard", "own_share", "report_page", "result_tables"]

_VERSION = re.compile("[0-9A-Za-z.+!_-]{1,40}")
_PARTS = {"format", "release_safe", "mechanism", "billboard", "certificate", "guarantees", "provenance"}


# ---- the billboard


def billboard(folder: Folder, outcome: PublicOutcome, here: Provenance) -> str:
    """Check that this version would write the outcome as the pack's manifest states it, and that the numbers of the
    outcome do not contradict each other.

    Args:
        folder: the folder of the pack.
        outcome: the public outcome, as read from the manifest.
        here: the running version of confide, and the versions of the packages that confide computes with.
    """
    said = json_of(folder[MANIFEST])
    if said.keys() - {"meter"} != _PARTS:  # packs of before the meter have none
        raise Broken(f"{MANIFEST} does not have the parts of an outcome")
    wrote = outcome.provenance
    if not all(map(_VERSION.fullmatch, (wrote.confide, wrote.python, *wrote.parts, *wrote.parts.values()))):
        raise Broken(f"{MANIFEST} names versions that are none")  # findings repeat them
    there, named = {path for path in folder.files if is_column(path)}, _columns(said)
    if there - named:
        raise Broken(f"{min(there - named)} belongs to no array of the manifest")
    outcome.mechanism.check(outcome.billboard)
    now, columns = outcome.public()
    now["guarantees"] = said["guarantees"]  # they are looked at by themselves
    what = f"a {wire_name(outcome.billboard)} of {wire_name(outcome.mechanism)}"
    then = upgraded(said, known_types(said), "type")  # nothing but where a type has a newer version
    if canonical(now) != canonical(then) or {f"columns/{name}.arrow" for name in columns} != there:
        if (wrote.confide, wrote.parts.get("pyarrow")) == (here.confide, here.parts["pyarrow"]):
            raise Broken(f"{MANIFEST} and its columns are not in the form in which confide writes an outcome")
        raise NotChecked(f"{what}, which this version, with pyarrow {here.parts['pyarrow']}, would write otherwise")
    return what


def _columns(said: Any) -> set[str]:
    """The paths of all arrays that a manifest names."""
    found, left = set(), [said]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if isinstance(part.get("column"), str):
                found.add(f"columns/{part['column']}.arrow")
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)
    return found


# ---- what is read of it


def result_tables(
    folder: Folder, file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome, other: str | None, here: Provenance
) -> str:
    """Check that the tables follow from the billboard, up to the last digits of their numbers.

    Another version may lay the tables out differently. Columns with the same heading must agree in any case. Long
    tables, in Parquet, are compared byte by byte with the files that this computer writes; if other software wrote
    them, they are compared value by value.

    Args:
        folder: the folder of the pack.
        file: the campaign file of the pack.
        plan: this version's plan of the campaign file.
        outcome: the public outcome in the pack.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
        here: the running version of confide, and the versions of the packages that confide computes with.
    """
    found = file.kind.tables(plan, outcome)
    now = {f"{name}.csv": table for name, table in found.items() if not is_rows(table)}
    then = {path: folder[path].decode("utf-8") for path in folder.files if is_table(path) and path.endswith(".csv")}
    otherwise = [path for path in sorted(now.keys() & then.keys()) if not same_table(now[path], then[path])]
    for path in otherwise:
        if other is None or contradict(now[path], then[path]):
            raise Broken(f"{path} does not agree with the billboard")
    more, missing = sorted(then.keys() - now.keys()), sorted(now.keys() - then.keys())
    if other is None and (more or missing):
        raise Broken(f"{more[0]} belongs to no pack" if more else f"{missing[0]} is missing")
    large = _rows(folder, found, outcome.provenance, here)
    if more or missing or otherwise:
        raise NotChecked(f"the common parts agree with the billboard; but confide {other} has another layout of: "
                         f"{', '.join([*more, *missing, *otherwise])}")
    return f"these agree with the billboard: {', '.join([*then, *large])}"


def _rows(folder: Folder, found: Mapping[str, pa.Table], wrote: Provenance, here: Provenance) -> list[str]:
    """Check the long tables; the result lists their paths."""
    now = row_files(found)
    then = {path: data for path, data in folder.files.items() if is_table(path) and not path.endswith(".csv")}
    more, missing = sorted(then.keys() - now.keys()), sorted(now.keys() - then.keys())
    if more or missing:  # whatever version it claims: what nobody understands is not carried along
        raise Broken(f"{more[0]} belongs to no pack" if more else f"{missing[0]} is missing")
    same_software = (wrote.confide, wrote.parts) == (here.confide, here.parts)
    for path in sorted(now):
        table = found[path.removesuffix(".parquet")]
        if now[path] != then[path] and (same_software or not same_rows(table, then[path])):
            raise Broken(f"{path} does not agree with the billboard")
    return sorted(now)


def report_page(
    folder: Folder, file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome, other: str | None
) -> str:
    """Check that the page, with its pictures, follows from the public files in this version.

    No picture is drawn again during a verification. The marks of each drawing are compared with the stored data of its
    picture, and the stored data with the numbers that follow from the public files.

    Args:
        folder: the folder of the pack.
        file: the campaign file of the pack.
        plan: this version's plan of the campaign file.
        outcome: the public outcome in the pack.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
    """
    shown = sections(file, plan, outcome)
    drawn, words = pictures(shown), report(file, shown, draw=False)
    text, version = folder[REPORT].decode("utf-8"), outcome.provenance.confide
    check_part(version, PICTURES, held=PICTURES in folder.files)
    check_part(version, f"a policy of {REPORT}", held=not text.startswith(head(file.title, policy=False)))
    (theirs, _), there = without_pictures(text), placed(text)
    if is_first(version):
        theirs = with_policy(theirs, file.title)
    worded = same_page(words, theirs)
    if not worded:
        if other is None:
            raise Broken(f"{REPORT} does not agree with the public files")
        check_other(words, theirs, file.title)
    same = same_as_drawn_by_first(drawn, there) if is_first(version) else same_data(
        drawn, there, folder[PICTURES], other)
    if worded and same:
        return f"{REPORT} follows from the public files" + (
            "" if any(each.drawing for each in there) else "; it has no pictures")
    raise NotChecked(f"{REPORT} has other words than this version writes; confide {other} may word it differently. Its "
                     "pictures are right, and so are the numbers in all texts that this version writes, too")


# ---- a participant's own


def own_share(
    file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome, mine: Mapping[str, Any], signer: str
) -> str:
    """Check that a participant's share follows from the billboard and their record.

    Args:
        file: the campaign file of the pack.
        plan: this version's plan of the campaign file.
        outcome: the public outcome in the pack.
        mine: the contents of the participant's own file, as `confide share --write` wrote it.
        signer: the fingerprint of the key that signed the pack; empty if the signature is not valid.
    """
    if mine["content"] != file.digest:
        raise Broken("the file belongs to another campaign")
    if isinstance(file.kind, ContractKind):
        signed = read_contract(file, mine["id"], mine["record"]["contract"])
        if signed.signer != signer:
            raise Broken("the participant's contract is signed with another key than the pack")
    record, index = file.kind.parse_record(file.config, plan, mine["id"], mine["record"])
    found = dict(outcome.mechanism.decode(record, index, outcome.billboard))
    if canonical(encode(found, {})) != canonical(encode(dict(mine["share"]), {})) or index != mine["index"]:
        raise Broken(f"the billboard gives {_shown(found)}, not {_shown(mine['share'])}")
    return f"{_shown(found)}, which follows from the billboard"


def _shown(share: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in share.items()) or "no share"

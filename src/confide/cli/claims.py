"""The command `confide claims`: claims of published sources, the verdict on each claim, and the evidence for the
verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from confide.cli.options import AsJson, emit, write_public
from confide.contract.words import json_ready

if TYPE_CHECKING:
    from confide.cli.output import ClaimModel
    from confide.contract.presentation import Section
    from confide.evidence import Claim, Verified

__all__ = ["claims"]


def claims(
    name: Annotated[str | None, typer.Argument(metavar="ID", help=
                                               "Id of one claim; without an id, the command lists the claims.")] = None,
    family: Annotated[str | None, typer.Option("--family", help=
        "Only claims of this family, such as market, or of a part of a family, such as threshold.")] = None,
    document: Annotated[str | None, typer.Option("--document", help=
        "Only claims of this source, such as Wang.")] = None,
    verdict: Annotated[str | None, typer.Option("--verdict", help=
        "Only claims with this verdict: holds, false, holds-with-correction, vacuous-at-practical-size.")] = None,
    search: Annotated[str | None, typer.Option("--search", metavar="TEXT", help=
        "Only claims with this text in the row, in upper or lower case.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Recompute the evidence; for all claims this takes a minute "
                                                          "or two.")
                      ] = False,
    slow: Annotated[bool, typer.Option("--slow", help="Also recompute slow evidence, instead of citing its stored "
                                                      "figures.")] = False,
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help=
        "Write the claims as a page in Markdown.")] = None,
    pin: Annotated[Path | None, typer.Option("--pin", metavar="FILE", help=
        "Write the verdicts and figures that --verify finds, for later comparisons.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show published claims, the verdict on each claim, and the evidence. Exits 1 if --verify finds a verdict that
    differs from the stored one, a figure that differs from the pinned one, or evidence that fails.
    """
    from confide.cli.render import show
    from confide.contract import InvalidInput
    from confide.contract.progress import progress_bar
    from confide.evidence import claims as table
    from confide.evidence import claims_markdown, pins_toml, verify_claims

    if slow and not verify:
        raise InvalidInput("slow", "nothing is recomputed", "give --verify too")
    if pin is not None and (not verify or any(each is not None for each in (name, family, document, verdict, search))):
        raise InvalidInput("pin", "writes the figures of all claims", "give --verify too, and no filter")
    rows = table(name, family=family, document=document, verdict=verdict, search=search)
    if verify and not rows:
        raise InvalidInput("search", "matches no claim, so the command recomputes nothing",
                           "`confide claims` lists all claims")
    if write is not None:
        write_public("write", write, claims_markdown(rows))
    found: list[Verified] = []
    if verify:
        with progress_bar("verifying") as bar:
            found = verify_claims(rows, slow=slow, progress=bar)
    if pin is not None:
        ours = [each for each in found if each.claim.evidence.module.startswith("confide.")]
        write_public("pin", pin, pins_toml(ours))
    if as_json:
        from confide.cli import output

        models = [_model(row, found[k] if found else None) for k, row in enumerate(rows)]
        emit(output.ClaimsOutput(counts=dict(Counter(row.verdict for row in rows)), claims=models,
                                 changed=[each.claim.id for each in found if each.changed] if verify else None,
                                 drifted=[each.claim.id for each in found if each.drifted] if verify else None,
                                 written=None if write is None else str(write)))
    else:
        show([_one(rows[0]) if name is not None and rows else _many(rows), *([_verified(found)] if verify else [])])
        if write is not None:
            print(f"\nwrote {write}")
        if pin is not None:
            print(f"\nwrote {pin}")
    if any(each.changed or (each.drifted and pin is None) for each in found):
        raise typer.Exit(1)


def _one(row: Claim) -> Section:
    from confide.contract.presentation import Section, Table

    facts = (("family", row.family),
             ("source", f"{row.document}, {row.statement}, line {row.line} of the text used for this table"),
             ("claim", row.claim), ("verdict", row.verdict), ("our finding", row.correction),
             ("evidence", str(row.evidence)), ("recompute it", row.command), *_stored(row))
    return Section(title=row.id, blocks=(Table(columns=("", ""), rows=facts),))


def _stored(row: Claim) -> tuple[tuple[str, str], ...]:
    from confide.contract.words import number

    if row.measured is None:
        return ()
    stored = row.measured
    return (("takes long", f"{number(stored.found)}, while the source claims {number(stored.claimed)}; measured on "
                           f"{stored.day.isoformat()} in {number(stored.seconds)} s"),)


def _many(rows: Sequence[Claim]) -> Section:
    from confide.contract.presentation import Section, Table
    from confide.evidence import parts_of_families
    from confide.evidence.claim import Verdict

    counts = Counter(row.verdict for row in rows)
    reported = ", ".join(f"{counts[each]:,} {each}" for each in get_args(Verdict) if counts[each])
    note = f"{len(rows):,} claims: {reported}. confide claims ID shows one of them." if rows else "No claim fits."
    parts = ", ".join(f"{part}/ of the family {family}" for part, family in parts_of_families(rows).items())
    if parts:
        note += f" An id begins with its family, or with a part of a family: {parts}."
    cells = tuple((row.id, row.document, row.statement, row.verdict) for row in rows)
    return Section(title="Published claims", blocks=(
        Table(columns=("id", "document", "where", "verdict"), rows=cells, note=note),))


def _verified(found: Sequence[Verified]) -> Section:
    from confide.contract.presentation import Block, Section, Table, Text
    from confide.contract.words import number

    fresh = [each for each in found if each.recomputed]
    changed = [each for each in found if each.changed]
    blocks: list[Block] = []
    if len(found) == 1 and not found[0].fault:
        blocks.append(Text((f"The evidence finds {number(found[0].found)}, while the source claims "
                            f"{number(found[0].claimed)}: {found[0].verdict}.",)))
    if changed:
        rows = tuple((each.claim.id, each.claim.verdict, f"fault: {each.fault}" if each.fault else each.verdict,
                      *((None, None) if each.fault else (each.claimed, each.found))) for each in changed)
        blocks.append(Table(columns=("changed", "the table says", "the evidence says", "claimed", "found"), rows=rows))
    drifted = [(each, each.pin) for each in found if each.drifted and not each.changed]
    if drifted:
        moved = tuple((each.claim.id, pin.claimed, each.claimed, pin.found, each.found) for each, pin in drifted if pin)
        blocks.append(Table(columns=("figures moved", "claimed, stored", "claimed, now", "found, stored", "found, now"),
                            rows=moved,
                            note="The verdict is the same, but the figures differ from the stored figures."))
    cited = [each for each in found if not each.recomputed]
    if cited:
        stored = tuple((each.claim.id, each.claimed, each.found, str(each.claim.measured and each.claim.measured.day),
                        each.seconds, each.claim.command) for each in cited)
        blocks.append(Table(columns=("not recomputed", "claimed", "found", "on", "s", "command"), rows=stored,
                            note="These claims take long to recompute, so the list shows their stored figures."))
    seconds = sum(each.seconds for each in fresh)
    blocks.append(Text((f"{len(fresh):,} recomputed in {number(round(seconds, 1))} s: "
                        f"{f'{len(changed):,} changed' if changed else 'every verdict agrees with its evidence'}"
                        f"{f'; the figures of {len(drifted):,} moved' if drifted else ''}.",)))
    return Section(title="Evidence", blocks=tuple(blocks))


def _model(row: Claim, verified: Verified | None) -> ClaimModel:
    from confide.cli import output

    stored = row.measured
    return output.ClaimModel(
        id=row.id, family=row.family, document=row.document, statement=row.statement, line=row.line, claim=row.claim,
        verdict=row.verdict, ours=row.correction, evidence=str(row.evidence), cost=row.cost, command=row.command,
        measured=None if stored is None else output.MeasuredModel(
            claimed=json_ready(stored.claimed), found=json_ready(stored.found), day=stored.day.isoformat(),
            seconds=stored.seconds),
        verified=None if verified is None else output.VerifiedModel(
            recomputed=verified.recomputed, verdict=verified.verdict, changed=verified.changed,
            claimed=json_ready(verified.claimed), found=json_ready(verified.found), seconds=verified.seconds,
            fault=verified.fault))

"""A participant's verb, submit; contracts, which offers her the terms; and rehearse, which plays everybody's side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import AsJson, CampaignPath, emit, head, load

__all__ = ["contracts", "rehearse", "submit"]

_LONGEST_PATH = 4096

Total = Annotated[float | None, typer.Option(
    "--total", metavar="EPSILON", help="Agree to levels of this sum at most, where the same bit was asked for before.")]


def submit(
    campaign: CampaignPath,
    identity: Annotated[str, typer.Option("--id", help="The participant's id.")],
    record: Annotated[list[str], typer.Option(
        metavar="COLUMN=VALUE,...", help="What she is asked, such as answer=VALUE, and worth=AMOUNT where a campaign "
        "needs that; what is drawn from it leaves this computer, nothing else. - reads it from the input.")],
    contract: Annotated[str | None, typer.Option(
        metavar="CONTRACT", help="Her contract, where there are contracts: its text, or the file that holds it; "
        "without it she hands in her report.")] = None,
    key: Annotated[str | None, typer.Option(
        metavar="FINGERPRINT", help="The operator's key, from the offer; no other one's contract is acted on.")] = None,
    total: Total = None,
    as_json: AsJson = False,
) -> None:
    """A participant's side: draw her report on her own computer, once, and show what she hands in."""
    from confide.cli import output
    from confide.cli.typed import values
    from confide.contract.files import read_bytes

    it, typed = load(campaign), values(record)
    if contract is not None and len(contract) < _LONGEST_PATH and Path(contract).is_file():
        contract = read_bytes("contract", Path(contract), 1 << 16).decode("ascii", "replace").strip()
    row = it.submit(identity, typed, contract=contract, key=key, total=total)
    spent, caution = it.spent(identity), it.caution(typed)
    if as_json:
        emit(output.SubmitOutput(**head(it), id=identity, report=dict(row), spent=spent))
        return
    print(",".join(row))
    print(",".join(row.values()))
    note = f"in her book: {spent:.6g} nats in all about this question; the second line above is what she hands in"
    print("\n".join([*([caution] if caution else []), note]), file=sys.stderr)


def contracts(
    campaign: CampaignPath,
    without: Annotated[list[str] | None, typer.Option(
        metavar="ID,...", help="Who declined or stayed away; draws up another round without them.")] = None,
    final: Annotated[bool, typer.Option("--final", help="All have agreed: devices may act on this round.")] = False,
    identity: Annotated[str | None, typer.Option("--id", help="Show one person's contract, for her alone.")] = None,
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help="Write that contract to a file of one "
                                               "line.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw up everybody's contracts from the reports, show one, or make them final. For the operator."""
    from confide.cli import output
    from confide.cli.render import show
    from confide.contract import InvalidInput
    from confide.contract.files import write_new
    from confide.contract.progress import progress_bar

    it = load(campaign)
    if identity is not None and (without or final):
        raise InvalidInput("id", "is for looking at a contract", "draw up, or make final, without it")
    if identity is not None:
        found = it.contract(identity)
        sections = it.contract_sections(found)
        if write is not None:
            write_new("write", write, found.token + "\n", private=True)
        if as_json:
            emit(output.ContractsOutput(**head(it), round=found.round, final=found.final, file=None,
                                         contract=found.token, sections=output.sections(sections)))
            return
        show(sections)
        if write is None:
            print(f"\ncontract: {found.token}")
        else:
            print(f"\nwrote {write}")
        return
    if write is not None:
        raise InvalidInput("write", "needs --id", "the round lies in the file that the campaign names")
    if final and without:
        raise InvalidInput("final", "goes with the round that people have seen", "draw up, show, then make it final")
    with progress_bar("drawing up") as bar:
        drawn = it.finish_contracts() if final else it.draw_up(
            [name.strip() for text in without or () for name in text.split(",") if name.strip()], progress=bar)
    sections = it.round_sections(drawn)
    if as_json:
        emit(output.ContractsOutput(**head(it), round=drawn.number, final=drawn.final, file=str(drawn.path),
                                     contract=None, sections=output.sections(sections)))
        return
    show(sections)
    print(f"\nwrote {drawn.path} (private: for the operator alone)")


def rehearse(
    campaign: CampaignPath,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new CSV file of reports.")],
    total: Total = None,
    as_json: AsJson = False,
) -> None:
    """Play everybody's side with true answers that are public already, and write what they would hand in."""
    from confide.cli import output
    from confide.contract.progress import progress_bar

    it = load(campaign)
    with progress_bar("rehearsing") as bar:
        count = it.rehearse(out, total=total, progress=bar)
    if as_json:
        emit(output.RehearseOutput(**head(it), out=str(out), reports=count))
        return
    print(f"wrote {count:,} reports to {out}")

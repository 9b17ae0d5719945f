"""A participant's verb, submit; and rehearse, which plays everybody's side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import AsJson, CampaignPath, emit, head, load

__all__ = ["rehearse", "submit"]

Total = Annotated[float | None, typer.Option(
    "--total", metavar="EPSILON", help="Agree to levels of this sum at most, where the same bit was asked for before.")]


def submit(
    campaign: CampaignPath,
    identity: Annotated[str, typer.Option("--id", help="The participant's id.")],
    record: Annotated[list[str], typer.Option(
        metavar="answer=VALUE,...", help="Her true answer, and worth=AMOUNT where the campaign needs what a nat of "
        "privacy is worth to her; neither leaves this computer. - reads them from the input.")],
    total: Total = None,
    as_json: AsJson = False,
) -> None:
    """A participant's side: draw her report on her own computer, once, and show what she hands in."""
    from confide.cli import output
    from confide.cli.typed import values

    it = load(campaign)
    row = it.submit(identity, values(record), total=total)
    spent = it.spent(identity)
    if as_json:
        emit(output.SubmitOutput(**head(it), id=identity, report=dict(row), spent=spent))
        return
    print(",".join(row))
    print(",".join(row.values()))
    note = f"in her book: {spent:.6g} nats in all about this bit; the second line above is what she hands in"
    print(note, file=sys.stderr)


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

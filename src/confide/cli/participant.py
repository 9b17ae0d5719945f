"""The commands around participants. `submit` draws a participant's report at random from their answers, `contracts`
draws up contracts from reports, and `rehearse` draws the reports of all participants from public answers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import Another, AsJson, CampaignPath, StoreUrl, emit, head, load

if TYPE_CHECKING:
    from confide.campaign import Campaign

__all__ = ["contracts", "rehearse", "submit"]

_LONGEST_NAME = 256  # letters: no contract is so short, and no name of a file longer

Total = Annotated[float | None, typer.Option(
    "--total", metavar="EPSILON", help="Agree only if the levels of all campaigns on the same data set, or with the "
                                       "same question, add up to at most this number.")]


def submit(
    campaign: CampaignPath,
    identity: Annotated[str, typer.Option("--id", help="The participant's id.")],
    record: Annotated[list[str], typer.Option(
        metavar="COLUMN=VALUE,...", help="The participant's answers, such as answer=VALUE, and worth=AMOUNT if a "
                                         "campaign needs it. Only the report that is drawn from them leaves this "
                                         "computer. - reads the answers from the input, so that they stay out of the "
                                         "shell's history.")],
    contract: Annotated[str | None, typer.Option(
        metavar="CONTRACT", help="The participant's contract, if the campaign has contracts: its text, or its file. "
                                 "Without a contract, the participant hands in their first report.")] = None,
    key: Annotated[str | None, typer.Option(
        metavar="FINGERPRINT", help="The operator's key, from the offer. Contracts with another key are "
                                    "refused.")] = None,
    total: Total = None,
    largest: Annotated[float | None, typer.Option(
        "--largest", metavar="LEVEL", help="Draw nothing above this level, in nats, or in rho for a number with noise "
        "[10, as in a browser].")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a participant's report on their own computer, once, and show the row that they hand in."""
    from confide.cli.options import values
    from confide.contract.kinds import ContractKind
    from confide.privacy.device_odds import LARGEST_LEVEL

    it = load(campaign)
    typed = values(record, lambda: _example(it))
    drawn = contract is not None or not isinstance(it.file.kind, ContractKind)  # else it is the report before contracts
    before = drawn and it.submitted(identity)
    row = it.submit(identity, typed, contract=None if contract is None else _contract(contract), key=key, total=total,
                    largest=LARGEST_LEVEL if largest is None else largest)
    spent, caution = it.spent(identity), it.caution(typed)
    if as_json:
        from confide.cli import output

        emit(output.SubmitOutput(**head(it), id=identity, report=dict(row), spent=spent.level, notion=spent.notion,
                                 drawn_before=before))
        return
    import csv  # a command line's help needs no tables

    written = csv.writer(sys.stdout, lineterminator="\n")  # a name with a comma stands in quotes
    written.writerows([row.keys(), row.values()])
    notes = ["the participant hands in the second line above"]
    if before:
        notes = ["this report was drawn before, from the first answers, and it stays valid. The command did not use "
                 "the answers of this call, even if they differ, since a second report would disclose more", *notes]
    elif caution:
        notes = [caution, *notes]
    notes = [*notes, f"by the participant's book, the total spent under this data set or question is {spent}"]
    print("\n".join(notes), file=sys.stderr)


def _example(it: Campaign) -> str:
    """An answer to each question of the campaign, in the form of the option --record."""
    return ",".join(f"{each.column}={each.choices[-1] if each.choices else 1}"
                    for each in it.file.kind.asked(it.file.config, it.plan))


def _contract(text: str) -> str:
    """The text of a contract, read from a file or pasted. The pasted text may be folded into several lines and may
    begin with the word "contract:".
    """
    words = "".join(text.split())
    if len(words) < _LONGEST_NAME and Path(text).is_file():
        from confide.contract.files import read_bytes

        words = "".join(read_bytes("contract", Path(text), 1 << 16).decode("ascii", "replace").split())
    return words.removeprefix("contract:")


def contracts(
    campaign: CampaignPath,
    without: Annotated[list[str] | None, typer.Option(
        metavar="ID,...", help="Ids of people who declined or stayed away; the command draws up another round without "
                               "them.")] = None,
    again: Annotated[list[str] | None, typer.Option(
        "--with", metavar="ID,...", help=
        "Ids of people who were left out of an earlier round and take part after all.")] = None,
    final: Annotated[bool, typer.Option("--final", help="Make the round final: all have agreed, and devices may act on "
                                                        "it.")] = False,
    identity: Annotated[str | None, typer.Option("--id", help=
        "Show the contract of the person with this id; the output is for this person alone.")] = None,
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help=
                                               "Write the contract of --id to a file of one line.")] = None,
    another: Another = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Draw up every participant's contract from the reports, show one contract, or make the contracts final. The
    command is for the operator.
    """
    from confide.campaign import Store
    from confide.campaign.another import check_meant
    from confide.cli.render import show
    from confide.contract import InvalidInput
    from confide.contract.files import write_new
    from confide.contract.progress import progress_bar

    it = load(campaign)
    if identity is not None and (without or again or final):
        raise InvalidInput("id", "only shows a contract", "leave out --id to draw up a round or to make it final")
    if identity is not None:
        found = it.contract(identity)
        sections = it.contract_sections(found)
        if write is not None:
            write_new("write", write, found.token + "\n", private=True)
        if as_json:
            from confide.cli import output

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
        raise InvalidInput("write", "needs --id", "the campaign file already names the file of the round")
    if final and (without or again):
        raise InvalidInput("final", "applies to a round that people have already seen",
                           "draw up the round, show it to "
                           "people, and make it final in a later call")
    if final:
        with Store(store) as there:
            if not another:
                check_meant(it.file, it.plan, there, it.default_folder)
            drawn = it.finish_contracts(store=there)
    else:
        with progress_bar("drawing up") as bar:
            drawn = it.draw_up(_names(without), again=_names(again), progress=bar)
    sections = it.round_sections(drawn)
    if as_json:
        from confide.cli import output

        emit(output.ContractsOutput(**head(it), round=drawn.number, final=drawn.final, file=str(drawn.path),
                                     contract=None, sections=output.sections(sections)))
        return
    show(sections)
    print(f"\nwrote {drawn.path} (private: for the operator alone)")


def _names(texts: list[str] | None) -> list[str]:
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def rehearse(
    campaign: CampaignPath,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new CSV file of reports.")],
    total: Total = None,
    as_json: AsJson = False,
) -> None:
    """Draw the reports of all participants from true answers that are public already, and write them to a file."""
    from confide.contract.progress import progress_bar

    it = load(campaign)
    with progress_bar("rehearsing") as bar:
        count = it.rehearse(out, total=total, progress=bar)
    if as_json:
        from confide.cli import output

        emit(output.RehearseOutput(**head(it), out=str(out), reports=count))
        return
    print(f"wrote {count:,} reports to {out}")

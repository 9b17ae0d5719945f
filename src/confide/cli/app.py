"""The command line application. The commands kinds, init, plan, offer, check, run, share and audit are in this module.
The other commands are in the modules `operator`, `participant`, `afterwards`, `channel`, `claims`, `copies`,
`reproduce` and `serving`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli import afterwards, operator, participant
from confide.cli.channel import channel
from confide.cli.claims import claims
from confide.cli.copies import backup, migrate, restore, restored
from confide.cli.options import (
    Another,
    AsJson,
    CampaignPath,
    OutFolder,
    StoreUrl,
    emit,
    head,
    load,
    open_store,
    store_if_any,
    write_public,
)
from confide.cli.reproduce import reproduce
from confide.cli.serving import operators, serve
from confide.contract.words import json_ready

if TYPE_CHECKING:
    from confide.campaign import Campaign, Store
    from confide.campaign.settlement import Settled
    from confide.contract import Guarantees, Mechanism

__all__ = ["app"]

app = typer.Typer(
    name="confide",
    help="Run private-data campaigns: plan, offer, collect, settle and audit.",
    epilog="Exit codes: 0 done, 2 bad input, 3 refused (the plan cannot work, or the budget does not admit it), 1 a "
           "broken promise or a fault of confide.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

class NoiseKind(StrEnum):
    """The source of a run's noise: secure random numbers, or numbers that are simulated from a seed."""

    secure = "secure"
    simulated = "simulated"


def _version(value: bool) -> None:
    if value:
        from confide import __version__

        print(f"confide {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _guarantees(found: Guarantees) -> list[dict[str, Any]]:
    from confide.contract.guarantees import promises_json

    return [json_ready(each) for each in promises_json(found)]


def _groups(mechanism: Mechanism, found: Guarantees) -> list[dict[str, Any]]:
    from confide.privacy.groups import group_losses

    return [json_ready(each.to_dict()) for each in group_losses(mechanism, found.privacy)]


@app.command()
def kinds(
    name: Annotated[str | None, typer.Argument(
        metavar="KIND", help="Show every key of this kind's campaign file; with --json, its JSON schema.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the installed kinds of campaigns. With the name of a kind, list the keys of this kind's campaign file."""
    from confide.campaign import key_sections, schema
    from confide.cli.render import console, escape, show
    from confide.contract.kinds import summaries

    if name is not None and as_json:
        print(json.dumps(schema(name), indent=2))
    elif name is not None:
        show(key_sections(name))
    elif as_json:
        sound, broken = summaries()
        from confide.cli.output import KindsOutput

        emit(KindsOutput(kinds=sound, broken=broken))
    else:
        sound, broken = summaries()
        for each, said in sorted({**sound, **broken}.items()):
            console.print(f"[bold]{escape(each)}[/bold]  {escape(said)}",
                          soft_wrap=not console.is_terminal)  # in a pipe a line for each


@app.command()
def init(
    kind_name: Annotated[str, typer.Argument(metavar="KIND", help="Name of a kind from the list of `confide kinds`.")],
    path: Annotated[Path | None, typer.Option("--out", metavar="FILE", help=
        "Path of the new file [KIND.toml].")] = None,
) -> None:
    """Write a commented campaign file of a kind, as a starting point."""
    from confide.contract import kind

    target = path or Path(f"{kind_name}.toml")
    write_public("out", target, kind(kind_name).template)
    print(f"wrote {target}; next: confide plan {target}")


@app.command()
def plan(campaign: CampaignPath, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Show the planned result of a campaign, before any data are read, and the remaining privacy budget. Exits 3 if the
    budget does not admit the campaign.
    """
    from confide.campaign.check import missing_files
    from confide.cli.budget import budget, budget_section
    from confide.cli.render import show, show_title
    from confide.contract.progress import waiting
    from confide.contract.words import printable
    from confide.privacy.groups import right_at_most
    from confide.privacy.hiding import hides_next_to_nothing

    it = load(campaign)
    with waiting("planning"):
        it.plan  # noqa: B018 - a hopeless plan is refused whatever the ledger says
    left, refusal, gaps = budget(it, store)
    for key, place in missing_files(it.file).items():
        print(f"confide: warning: {key}: {printable(str(place))} does not exist yet; a run needs this file.",
              file=sys.stderr)
    promises = it.plan.guarantees.privacy
    _warn([*hides_next_to_nothing(promises, partial(right_at_most, it.plan.mechanism, promises)), *gaps])
    if as_json:
        from confide.cli import output

        emit(output.PlanOutput(**head(it), plan=json_ready(it.plan.to_dict()),
                                guarantees=_guarantees(it.plan.guarantees),
                                groups=_groups(it.plan.mechanism, it.plan.guarantees),
                                budget=left, offer=output.sections(it.plan.offer())))
    else:
        show_title(it.file.title)
        show([*it.plan.sections(), budget_section(left), *it.plan.offer()])
    if refusal is not None:
        sys.stdout.flush()  # the page first, where both go to one place
        raise refusal


@app.command()
def offer(
    campaign: CampaignPath,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the result as a page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the offer to a participant: the report that they make, the readers of each value, their reward, and the
    reason why truth pays.
    """
    from confide.campaign.report import page
    from confide.cli.render import show, show_title
    from confide.contract.progress import waiting

    it = load(campaign)
    with waiting("planning"):
        parts = it.offer()
    if html is not None:
        lead = "The offer to participants. Everything on this page is public."
        write_public("html", html, page(it.file.title, lead, parts))
    if as_json:
        from confide.cli import output

        emit(output.OfferOutput(**head(it), sections=output.sections(parts)))
        return
    show_title(it.file.title)
    show(parts)
    if html is not None:
        print(f"\nwrote {html}")


@app.command()
def check(
    campaign: CampaignPath,
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help=
        "List all rejected rows in a new file.")] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Check the records before a run: the number of usable records, and the rejected rows with reasons. The output is
    for the operator alone. Exits 2 if a run would stop because of the records.
    """
    from confide.campaign.another import another_campaign
    from confide.campaign.charging import ledger_says
    from confide.campaign.check import SHOWN, cell_texts, check_sections, harm, may_stop, reasons
    from confide.campaign.ledger_gaps import ledger_warnings
    from confide.cli.render import show, show_title
    from confide.contract.progress import progress_bar
    from confide.contract.words import as_sentence

    it = load(campaign)
    with store_if_any(store) as (_, there):
        verdict, ledger = ledger_says(it.file, it.plan, there)
        _warn(ledger_warnings(it.file, there, it.default_folder))
        anew = another_campaign(it.file, it.plan, there, it.default_folder)
        known = there.find(it.file) if there else None
        gone = known.withdrawals if known else 0
        stoppable = may_stop(it.planned, there, known)
    with progress_bar("checking") as bar:
        found = it.check(bar)
    stop = str(harm(it.planned, found) or "") if stoppable else ""
    listed = None if write is None else it.list_rejected(found, write)
    if as_json:
        from confide.cli import output

        first = [output.Rejected(id=name, reason=why) for name, why in list(found.rejected.items())[:SHOWN]]
        emit(output.CheckOutput(**head(it), slots=found.slots, asked=found.asked, rows=found.rows,
                                 usable=found.usable, rejected=len(found.rejected), reasons=reasons(found), first=first,
                                 written=None if listed is None else str(listed), withdrawn=gone, ledger=verdict,
                                another=anew or None, cells=cell_texts(found), stop=stop or None))
        _stopped(stop)
        return
    show_title(it.file.title)
    show(check_sections(found))
    if gone:
        print(f"\n{gone:,} withdrew: in a run their records count as empty, even if the file has them.")
    print(f"\n{ledger}")
    if anew:
        print(f"\n{as_sentence(anew)}")
    if listed is not None:
        print(f"\nwrote {listed} (private: for the operator alone)")
    _stopped(stop)


def _warn(said: Iterable[str]) -> None:
    """Print warnings to standard error, for the operator alone, because others may read the page that the command
    makes.
    """
    for each in said:
        print(f"confide: warning: {each.removesuffix('.')}.", file=sys.stderr)


def _stopped(stop: str) -> None:
    """Say that a run would stop, and why."""
    if stop:
        sys.stdout.flush()  # the page first, where both go to one place
        print(f"confide: a run stops before the charge: {stop}", file=sys.stderr)
        raise typer.Exit(2)


@app.command()
def run(
    campaign: CampaignPath,
    noise: Annotated[NoiseKind, typer.Option(help="Source of the noise.")] = NoiseKind.secure,
    seed: Annotated[int | None, typer.Option(help="Seed of a simulated run; a secure run has no seed.")] = None,
    out: OutFolder = None,
    handout: Annotated[Path | None, typer.Option(
        "--handout", metavar="FILE", help="Write the list of goods and their receivers to a new CSV file, for the "
                                          "operator alone. Only for kinds that assign goods.")] = None,
    another: Another = False,
    accept_unusable: Annotated[bool, typer.Option(
        "--accept-unusable", help="Run even if too many rows of the file cannot be used: a record without a usable "
                                  "row counts as the null record.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Collect the records from the file that the campaign names, settle the campaign, and print the public result. A
    campaign is settled only once: a further run shows the stored result.
    """
    from confide.campaign.pack import REPORT
    from confide.campaign.report import page
    from confide.cli.places import places, where
    from confide.cli.render import show, show_title
    from confide.contract.files import write_private
    from confide.contract.progress import progress_bar

    it = load(campaign)
    _check_seed(noise, seed)
    it.plan  # noqa: B018 - refuse a hopeless plan before anything is opened
    _check_handout(it, handout, noise, out)
    if noise is NoiseKind.secure:
        from confide.campaign import Store  # a study needs no database, which is slow to import
        from confide.campaign.another import check_meant
        from confide.campaign.ledger_gaps import ledger_warnings
        from confide.campaign.shares import hand_out

        folder = out or it.default_folder
        with Store(store) as there, progress_bar("settling") as bar:
            if not another:
                check_meant(it.file, it.plan, there, folder, it.default_folder)
            _warn(ledger_warnings(it.file, there, folder, it.default_folder))
            settled = it.settle(folder, store=there, progress=bar, accept_unusable=accept_unusable)
            _report_empty_slots(it, there, settled)
        if handout is not None:
            hand_out(it.planned, handout, settled.outcome)
        result = it.file.kind.result(it.plan, settled.outcome.published())
        fresh, safe, guarantees = settled.fresh, True, settled.outcome.guarantees
    else:
        folder = out or it.study_folder
        with progress_bar("studying") as bar:
            outcome, study = it.study(int(seed or 0), folder, progress=bar, accept_unusable=accept_unusable)
        # The billboard of a study follows from a seed: it is no more public than the comparison beside it.
        marked = [replace(section, study=True) for section in it.file.kind.result(it.plan, outcome)]
        result = [*marked, *study]
        fresh, safe, guarantees = True, False, outcome.guarantees
        lead = "A study with simulated noise. It uses private data: do not publish it."
        write_private(folder / REPORT, page(it.file.title, lead, result))
    if as_json:
        from confide.cli import output

        background = [*it.plan.sections(), *it.plan.offer()] if safe else []
        emit(output.RunOutput(**head(it), noise=noise.value, release_safe=safe, stored=not fresh, out=str(folder),
                               files=places(folder, shares=not it.held),
                               handout=None if handout is None else str(handout), guarantees=_guarantees(guarantees),
                               groups=_groups(it.plan.mechanism, guarantees),
                               sections=output.sections([*result, *background])))
        return
    show_title(it.file.title)
    if not fresh:
        print("this campaign was settled before: the command shows the stored outcome and spent no privacy")
    show([*result, where(folder, study=not safe, shares=not it.held)])
    print(f"\n{'wrote' if fresh else 'found'} {folder}; open {folder / REPORT}")
    if handout is not None:
        print(f"wrote {handout} (private: goods and their receivers, for the operator alone)")


def _check_handout(it: Campaign, handout: Path | None, noise: NoiseKind, out: Path | None) -> None:
    """Refuse, before any file is opened, a list of goods and their receivers that could not be written."""
    from confide.campaign.shares import check_handout
    from confide.contract import InvalidInput

    if handout is None:
        return
    if noise is NoiseKind.simulated:
        raise InvalidInput("handout", "a study assigns no goods", "leave out this option, or run with secure noise")
    check_handout(it.planned, handout, out or it.default_folder)


def _report_empty_slots(it: Campaign, there: Store, settled: Settled) -> None:
    """Warn the operator that the promises of truthfulness do not hold because too few people took part."""
    from confide.campaign.check import too_many_empty

    tolerated = getattr(it.file.kind, "tolerated", None)
    if tolerated is None or not settled.fresh:
        return
    known = there.get(settled.number)
    reported = too_many_empty(known.slots, there.submitted(known.number), tolerated(it.file.config))
    if reported:
        print(f"confide: {reported} This message follows from private records: it is for the operator "
              "alone.", file=sys.stderr)


def _check_seed(noise: NoiseKind, seed: int | None) -> None:
    from confide.contract import InvalidInput

    if noise is NoiseKind.secure and seed is not None:
        raise InvalidInput("seed", "a secure run has no seed", "use --noise simulated for a reproducible study")
    if noise is NoiseKind.simulated and seed is None:
        raise InvalidInput("seed", "missing", "a simulated run needs --seed")


@app.command()
def share(
    campaign: CampaignPath,
    identity: Annotated[str, typer.Option("--id", help="The participant's id.")],
    out: OutFolder = None,
    store: StoreUrl = None,
    record: Annotated[list[str] | None, typer.Option(
        metavar="COLUMN=VALUE,...", help="The participant's own record. With it, the command reads only public files. "
                                         "- reads the record from the input."
    )] = None,
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help=
        "Keep the participant's record and share in their own file, for `confide verify`; needs --record.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one participant's share and the reasons for it, from the participant's record and the public result."""
    from confide.cli.options import values
    from confide.cli.render import show
    from confide.contract import InvalidInput
    from confide.contract.files import write_new

    it = load(campaign)
    if record is None:
        for name, given in (("write", write), ("out", out)):
            if given is not None:
                raise InvalidInput(name, "needs the record", "pass it with --record")
        with open_store(store, it) as there:
            parts = it.share(identity, store=there)
    else:
        typed = values(record)
        parts = it.share(identity, out, record=typed)
        if write is not None:
            own = json.dumps(it.own_file(identity, out, record=typed), indent=1, ensure_ascii=False)
            write_new("write", write, own + "\n", private=True)
    if as_json:
        from confide.cli import output

        emit(output.ShareOutput(**head(it), id=identity, sections=output.sections(parts)))
        return
    show(parts)


@app.command()
def audit(
    campaign: CampaignPath,
    seed: Annotated[int, typer.Option(help="Seed of the simulated part.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare the promises of a campaign with measurements. Exits 1 if a promise is broken."""
    from confide.cli.render import show
    from confide.contract.progress import progress_bar

    it = load(campaign)
    with progress_bar("auditing") as bar:
        report = it.audit(seed, bar)
    if as_json:
        from confide.cli import output

        emit(output.AuditOutput(**head(it), passed=report.passed, report=json_ready(report.to_dict())))
    else:
        show([report.to_section()])
    if not report.passed:
        raise typer.Exit(1)


for verb in (afterwards.answer, afterwards.rows, channel, claims, operator.campaigns, operator.ledger, operator.payouts,
             operator.verify, operator.withdraw, participant.contracts, participant.rehearse, participant.submit,
             reproduce, serve, backup, restore, restored, migrate):
    app.command()(verb)
app.add_typer(operators)

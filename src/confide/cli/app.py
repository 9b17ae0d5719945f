"""The verbs: kinds, init, plan, offer, check, run, share, audit, reproduce."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from confide.campaign import Campaign
    from confide.contract import Guarantees

__all__ = ["app"]

app = typer.Typer(
    name="confide",
    help="Run private-data campaigns: plan, offer, collect, settle and audit.",
    epilog="Exit codes: 0 done, 2 bad input, 3 refused (hopeless or over budget), 1 a broken promise or our own fault.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

CampaignPath = Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="The campaign file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder of the outcome [out/NAME].")]


class NoiseKind(StrEnum):
    """Where the noise comes from."""

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


def _load(path: Path) -> Campaign:
    from confide.campaign import Campaign

    return Campaign.load(path)


def _head(campaign: Campaign) -> dict[str, Any]:
    file = campaign.file
    return {"campaign": str(file.path), "kind": file.kind.name, "title": file.title}


def _emit(model: BaseModel) -> None:
    print(json.dumps(model.model_dump(mode="json"), ensure_ascii=False, allow_nan=False))


def _guarantees(found: Guarantees) -> list[dict[str, Any]]:
    from confide.cli.output import finite

    return [finite(g) for g in found.to_dict()]


@app.command()
def kinds(
    name: Annotated[str | None, typer.Argument(help="Show the JSON schema of this kind's campaign file.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the installed kinds of campaigns."""
    from rich.markup import escape

    from confide.cli.output import KindsOutput
    from confide.cli.render import console
    from confide.contract import kind, kind_names

    if name is not None:
        from confide.campaign import schema

        print(json.dumps(schema(name), indent=2))
    elif as_json:
        _emit(KindsOutput(kinds={n: kind(n).summary for n in kind_names()}))
    else:
        for each in kind_names():
            console.print(f"[bold]{escape(each)}[/bold]  {escape(kind(each).summary)}")


@app.command()
def init(
    kind_name: Annotated[str, typer.Argument(metavar="KIND", help="A kind, as `confide kinds` lists them.")],
    path: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write it [KIND.toml].")] = None,
) -> None:
    """Write a commented campaign file to start from."""
    from confide.contract import kind

    target = path or Path(f"{kind_name}.toml")
    _write_new("out", target, kind(kind_name).template)
    print(f"wrote {target}; next: confide plan {target}")


def _write_new(option: str, target: Path, text: str) -> None:
    """Write a public file where none is."""
    from confide.contract import InvalidInput

    if target.exists():
        raise InvalidInput(option, f"{target} exists", f"choose another file with --{option}")
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(option, f"{target} cannot be written ({type(error).__name__})") from None


@app.command()
def plan(campaign: CampaignPath, as_json: AsJson = False) -> None:
    """Show what a campaign would give, before any data is read."""
    from confide.cli import output
    from confide.cli.render import show, show_title

    it = _load(campaign)
    if as_json:
        _emit(output.PlanOutput(**_head(it), plan=output.finite(it.plan.to_dict()),
                                guarantees=_guarantees(it.plan.guarantees), offer=output.sections(it.offer())))
        return
    show_title(it.file.title)
    show([*it.plan.sections(), *it.offer()])


@app.command()
def offer(
    campaign: CampaignPath,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write it as a page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the plan as a participant reads it: what she reports, who sees what, what she gets, why truth pays."""
    from confide.campaign.report import page
    from confide.cli import output
    from confide.cli.render import show, show_title

    it = _load(campaign)
    parts = it.offer()
    if html is not None:
        lead = "What taking part means. Everything on this page is public."
        _write_new("html", html, page(it.file.title, lead, parts))
    if as_json:
        _emit(output.OfferOutput(**_head(it), sections=output.sections(parts)))
        return
    show_title(it.file.title)
    show(parts)
    if html is not None:
        print(f"\nwrote {html}")


@app.command()
def check(
    campaign: CampaignPath,
    write: Annotated[bool, typer.Option("--write", help="List them all in DIR/operator/rejected.csv.")] = False,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """Look at the records before a run: how many can be used, who is rejected and why. For the operator alone."""
    from confide.campaign.check import SHOWN, check_sections, reasons
    from confide.cli import output
    from confide.cli.render import progress, show, show_title

    it = _load(campaign)
    it.plan  # noqa: B018 - refuse a hopeless plan before anything is opened
    with progress("checking") as bar:
        found = it.check(bar)
    listed = it.list_rejected(found, out) if write else None
    if as_json:
        first = [output.Rejected(id=name, reason=why) for name, why in list(found.rejected.items())[:SHOWN]]
        _emit(output.CheckOutput(**_head(it), slots=found.slots, rows=found.rows, usable=found.usable,
                                 rejected=len(found.rejected), reasons=reasons(found), first=first,
                                 written=None if listed is None else str(listed)))
        return
    show_title(it.file.title)
    show(check_sections(found))
    if listed is not None:
        print(f"\nwrote {listed} (private: for the operator alone)")


@app.command()
def run(
    campaign: CampaignPath,
    noise: Annotated[NoiseKind, typer.Option(help="Where the noise comes from.")] = NoiseKind.secure,
    seed: Annotated[int | None, typer.Option(help="Seed of a simulated run; a secure run takes none.")] = None,
    out: OutFolder = None,
    again: Annotated[bool, typer.Option("--again", help="Release a second time; costs epsilon again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Collect from the named file, settle, and print the public result; once per folder."""
    from confide.campaign.folder import REPORT
    from confide.campaign.report import page
    from confide.cli import output
    from confide.cli.places import places, where
    from confide.cli.render import progress, show, show_title
    from confide.contract import InvalidInput
    from confide.contract.files import write_private

    it = _load(campaign)
    if noise is NoiseKind.secure and seed is not None:
        raise InvalidInput("seed", "a secure run takes no seed", "use --noise simulated for a reproducible study")
    if noise is NoiseKind.simulated and seed is None:
        raise InvalidInput("seed", "missing", "a simulated run needs --seed")
    it.plan  # noqa: B018 - refuse a hopeless plan before anything is opened
    if noise is NoiseKind.secure:
        folder = out or it.default_folder
        with progress("settling") as bar:
            settled = it.settle(folder, again=again, progress=bar)
        result = it.file.kind.result(it.plan, settled.outcome)
        background = [*it.plan.sections(), *it.offer()]
        fresh, safe, guarantees = settled.fresh, True, settled.outcome.guarantees
        lead = "Settled with secure noise. Everything on this page is public."
    else:
        folder = out or it.study_folder
        with progress("studying") as bar:
            outcome, study = it.study(int(seed or 0), folder, progress=bar)
        # The billboard of a study follows from a seed: it is no more public than the comparison beside it.
        marked = [replace(section, study=True) for section in it.file.kind.result(it.plan, outcome)]
        result, background = [*marked, *study], []
        fresh, safe, guarantees = True, False, outcome.guarantees
        lead = "A study with simulated noise. It uses private data: do not publish it."
    report = folder / REPORT
    if fresh or not report.exists():
        text = page(it.file.title, lead, [*result, *background])
        if safe:
            report.write_text(text, encoding="utf-8")
        else:
            write_private(report, text)
    if as_json:
        _emit(output.RunOutput(**_head(it), noise=noise.value, release_safe=safe, stored=not fresh, out=str(folder),
                               files=places(folder), guarantees=_guarantees(guarantees),
                               sections=output.sections([*result, *background])))
        return
    show_title(it.file.title)
    if not fresh:
        print(f"settled before: this is the stored outcome in {folder}; nothing was spent")
    show([*result, where(folder, study=not safe)])
    print(f"\n{'wrote' if fresh else 'found'} {folder}; open {report}")


@app.command()
def share(
    campaign: CampaignPath,
    identity: Annotated[str, typer.Option("--id", help="The participant's id.")],
    out: OutFolder = None,
    record: Annotated[list[str] | None, typer.Option(
        metavar="COLUMN=VALUE,...", help="Her own record; then only public files are read. - reads it from the input."
    )] = None,
    as_json: AsJson = False,
) -> None:
    """Show what one participant gets and why, from her record and the billboard."""
    from confide.cli import output
    from confide.cli.render import show
    from confide.cli.typed import values

    it = _load(campaign)
    parts = it.share(identity, out, record=None if record is None else values(record))
    if as_json:
        _emit(output.ShareOutput(**_head(it), id=identity, sections=output.sections(parts)))
        return
    show(parts)


@app.command()
def audit(
    campaign: CampaignPath,
    seed: Annotated[int, typer.Option(help="Seed of the simulated part.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Hold promised against measured; exits 1 when a promise is broken."""
    from confide.cli import output
    from confide.cli.render import progress, show

    it = _load(campaign)
    with progress("auditing") as bar:
        report = it.audit(seed, bar)
    if as_json:
        _emit(output.AuditOutput(**_head(it), passed=report.passed, report=output.finite(report.to_dict())))
    else:
        show([report.to_section()])
    if not report.passed:
        raise typer.Exit(1)


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="The study; without one, list them.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes, fewer repetitions.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder [out/studies/NAME].")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute a published statement, figure or table again: pictures, tables, our numbers beside the published ones."""
    from confide.cli import output
    from confide.cli.render import console, progress, show, show_title
    from confide.study import studies, study, write_section

    if name is None:
        if as_json:
            _emit(output.StudiesOutput(studies=[output.StudyModel(**each.to_dict()) for each in studies()]))
            return
        from rich.markup import escape

        for each in studies():
            console.print(f"[bold]{escape(each.name)}[/bold]  {escape(each.title)} [dim]({escape(each.source)})[/dim]")
        return
    chosen = study(name)
    with progress("computing") as bar:
        section = chosen.run(quick, bar).section(chosen.title)
    folder = out or Path("out") / "studies" / name
    files = write_section(folder, section)
    if as_json:
        _emit(output.ReproduceOutput(study=output.StudyModel(**chosen.to_dict()), quick=quick, out=str(folder),
                                     files={key: str(path) for key, path in files.items()},
                                     sections=output.sections([section])))
        return
    show_title(chosen.title)
    console.print(f"{chosen.source}: {chosen.statement}", markup=False)
    show([section])
    print(f"\nwrote {folder}: {', '.join(files)}")

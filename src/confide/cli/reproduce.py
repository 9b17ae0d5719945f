"""The command `confide reproduce`, which computes published statements, figures and tables again."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import AsJson, emit, write_public
from confide.contract.words import json_ready

if TYPE_CHECKING:
    from confide.cli.output import ReproducedModel
    from confide.contract.kinds import Progress
    from confide.contract.presentation import Section
    from confide.evidence import NotReproduced, Reproduced, StudyCache

__all__ = ["reproduce"]

_FOLDER = Path("out") / "studies"
_QUICK = ("a quick run has smaller sizes and fewer repetitions than a full run, so its numbers differ from those of "
          "the gallery; leave out --quick for a full run")


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help=
                                                      "Names of studies; without a name, the "
                                                      "command lists the studies.",
                                                      show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every study.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Run with smaller sizes and fewer repetitions; all studies "
                                                        "together take a minute or two.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compute stored results again, and store nothing.")
                        ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help=
                                             "Folder of the results. For several studies, "
                                             "each has its own folder inside "
                                             "[out/studies/NAME, or NAME-quick].")] = None,
    gallery: Annotated[Path | None, typer.Option("--gallery", metavar="DIR", help=
                                                 "Write a picture of each study into "
                                                 "DIR, and a page DIR.md that shows the pictures.")] = None,
    times: Annotated[Path | None, typer.Option("--times", metavar="FILE", help=
                                               "Measure the time of full runs and write it to a file.")
                     ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute published statements, figures or tables again, and compare the new numbers with those of the sources.

    Findings are stored, and are computed again only when the library, or a package that the study uses, changes.
    """
    from confide.contract import InvalidInput
    from confide.evidence import StudyCache, study_names

    if everything and names:
        raise InvalidInput("name", "the command has names and --all together", "leave out the names, or --all")
    if times is not None and (quick or gallery is not None):
        raise InvalidInput("times", "only full runs are timed", "leave out --quick and --gallery")
    if gallery is not None and out is not None:
        raise InvalidInput("out", "a gallery has its own folder", "leave out --out, or --gallery")
    asked = study_names() if everything else tuple(dict.fromkeys(names or ()))
    if not asked:
        for option, given in (("gallery", gallery), ("times", times), ("out", out), ("quick", quick or None)):
            if given is not None:
                raise InvalidInput(option, "the command names no study", "name at least one study, or give --all")
        _list(as_json)
        return
    cache = None if no_cache else StudyCache.default()
    if len(asked) == 1 and gallery is None and times is None:
        _one(asked[0], quick, cache, out, as_json)
        return
    found: list[Reproduced | NotReproduced] = []
    files: dict[str, dict[str, Path]] = {}
    written: list[Path] = []
    if gallery is not None:
        written.append(_show(asked, quick, cache, gallery, found))
    else:
        files = _write(asked, quick, cache, out or _FOLDER, found)
    if times is not None:
        write_public("times", times, _timed(found))
        written.append(times)
    _print(found, files, written, out or _FOLDER, quick, as_json)


def _list(as_json: bool) -> None:
    from confide.cli.render import console, escape
    from confide.evidence import full_times, studies

    times = full_times()
    if as_json:
        from confide.cli import output

        emit(output.StudiesOutput(machine=times.machine, day=times.day.isoformat(), studies=[
            output.StudyModel(**each.to_dict()) for each in studies()], full_seconds=dict(times.seconds)))
        return
    for each in studies():
        took = f"; {_seconds(times.seconds[each.name])} s" if each.name in times.seconds else ""
        source = escape(each.source + took)
        console.print(f"[bold]{escape(each.name)}[/bold]  {escape(each.title)} [dim]({source})[/dim]",
                      soft_wrap=not console.is_terminal)  # in a pipe a line for each
    console.print("\n[dim]The table shows the processor time of full runs in seconds, measured on "
                  f"{times.day.isoformat()} ({escape(times.machine)}). confide reproduce --all --quick runs a short "
                  "form of all studies.[/dim]")


def _seconds(seconds: float) -> str:
    from confide.contract.words import number

    return number(round(seconds, 1) if seconds < 10 else round(seconds))


def _one(name: str, quick: bool, cache: StudyCache | None, out: Path | None, as_json: bool) -> None:
    from confide.cli.render import console, show
    from confide.contract.presentation import Text
    from confide.contract.progress import progress_bar
    from confide.evidence import reproduce as computed
    from confide.evidence import write_section

    with progress_bar("computing") as bar:
        found = computed(name, quick=quick, cache=cache, progress=bar)
    section = found.section()
    folder = out or _FOLDER / found.name
    files = write_section(folder, section)
    if as_json:
        from confide.cli import output

        emit(output.ReproduceOutput(study=output.StudyModel(**found.study.to_dict()), quick=quick, out=str(folder),
                                    seconds=found.seconds, cached=found.cached, undrawn=_undrawn(),
                                    files={key: str(path) for key, path in files.items()},
                                    sections=output.sections([section])))
        return
    said = Text((f"{found.study.source}: {found.study.statement}",))
    show([replace(section, blocks=(said, *section.blocks))])
    took = f"{_seconds(found.seconds)} s"
    print(f"\n{f'computed before, in {took}; --no-cache computes it again' if found.cached else f'computed in {took}'}")
    if quick:
        console.print(_QUICK + _full(name))
    print(f"wrote {folder}: {', '.join(files)}")
    _say_what_is_missing()


def _full(name: str) -> str:
    """The time that a study's full run takes, as text, if it was measured."""
    from confide.evidence import full_times

    seconds = full_times().seconds.get(name)
    return "" if seconds is None else f", in about {_seconds(seconds)} s of processor time"


def _say_what_is_missing() -> None:
    if _undrawn():
        print(f"no picture was drawn: {_undrawn()} installs the missing package; the pictures' data and specifications "
              "are in figure-*.csv and figure-*.vl.json")


def _undrawn() -> str:
    """The command that installs the drawing of pictures, where it is not installed; otherwise an empty text."""
    from confide.charts import DRAWS, available

    return "" if available() else DRAWS


def _write(
    asked: Sequence[str], quick: bool, cache: StudyCache | None, folder: Path, found: list[Reproduced | NotReproduced],
) -> dict[str, dict[str, Path]]:
    """Compute studies, and write the folder of each study as soon as it is done."""
    from confide.evidence import Reproduced, reproduce_all, write_section

    files: dict[str, dict[str, Path]] = {}
    with _bars(len(asked)) as bars:
        for each in reproduce_all(asked, quick=quick, cache=cache, progress=bars):
            found.append(each)
            if isinstance(each, Reproduced):
                name = each.study.name
                files[name] = write_section(folder / each.name, each.section())
    return files


def _show(
    asked: Sequence[str], quick: bool, cache: StudyCache | None, folder: Path, found: list[Reproduced | NotReproduced],
) -> Path:
    from confide.evidence import Reproduced, reproduce_all, shown_quick, write_gallery

    def reproduced() -> Iterator[Reproduced]:
        for each in reproduce_all(asked, quick=quick or shown_quick, cache=cache, progress=bars):
            found.append(each)
            if isinstance(each, Reproduced):
                yield each

    with _bars(len(asked)) as bars:
        page, _ = write_gallery(folder, reproduced(), _today())
    return page


def _timed(found: Sequence[Reproduced | NotReproduced]) -> str:
    from confide.evidence import FullTimes, Reproduced, this_machine, times_toml

    seconds = {each.study.name: each.processor for each in found if isinstance(each, Reproduced)}
    return times_toml(FullTimes(machine=this_machine(), day=_today(), seconds=seconds))


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _print(
    found: Sequence[Reproduced | NotReproduced], files: dict[str, dict[str, Path]], written: Sequence[Path],
    folder: Path, quick: bool, as_json: bool,
) -> None:
    """Print one table of all studies at the end. Raise an error if a study could not be computed."""
    from confide.cli.render import console, show
    from confide.contract import InvalidInput
    from confide.evidence import Reproduced

    done = [each for each in found if isinstance(each, Reproduced)]
    failed = [each for each in found if not isinstance(each, Reproduced)]
    if as_json:
        from confide.cli import output

        emit(output.ReproduceAllOutput(
            quick=quick, out=str(folder) if files else None, written=[str(path) for path in written],
            undrawn=_undrawn(),
            studies=[_model(each, files.get(each.study.name, {})) for each in done],
            failed={each.study.name: str(each.error) for each in failed}))
    else:
        show([_summary(done)])
        if quick:
            console.print(f"\n{_QUICK}")
        for path in written:
            print(f"\nwrote {path}")
        if files:
            print(f"\nwrote {folder}: one folder for each study")
            _say_what_is_missing()
        for lacking in failed:
            print(f"\n{lacking.study.name}: {lacking.error}")
    if failed:
        sys.stdout.flush()  # the table first, where both go to one place
        raise InvalidInput("name", f"{len(failed)} of {len(found)} studies could not be computed: "
                                   + ", ".join(each.study.name for each in failed))


def _summary(done: Sequence[Reproduced]) -> Section:
    from confide.contract.presentation import Section, Table

    rows = tuple((each.study.name, reported.quantity, reported.published, reported.ours, reported.stated,
                  reported.kind or reported.origin,
                  each.findings.count("stands"), each.findings.count("differs"), round(each.seconds, 1),
                  "yes" if each.cached else "")
                 for each in done for reported in (each.findings.headline,))
    fresh = sum(each.seconds for each in done if not each.cached)
    return Section(title="Studies", blocks=(Table(
        columns=("study", "its first number", "set beside", "ours", "relation", "compared with", "stand", "differ",
                 "s", "kept"), rows=rows,
        note=f"{len(done):,} studies; {sum(not each.cached for each in done):,} computed now, in {_seconds(fresh)} s. "
             "The columns Stand and Differ count the numbers, bounds and statements of the source that a study "
             "compares with its own; the study's numbers.csv has the relation and the origin of each."),))


def _model(each: Reproduced, files: dict[str, Path]) -> ReproducedModel:
    from confide.cli import output

    reported = each.findings.headline
    return output.ReproducedModel(
        study=output.StudyModel(**each.study.to_dict()), quick=each.quick, seconds=each.seconds, cached=each.cached,
        quantity=reported.quantity, published=json_ready(reported.published), ours=json_ready(reported.ours),
        relation=reported.stated, kind=reported.kind, origin=reported.origin,
        stand=each.findings.count("stands"), differ=each.findings.count("differs"),
        files={key: str(path) for key, path in files.items()})


@contextmanager
def _bars(studies: int) -> Iterator[Callable[[str], Progress | None]]:
    """Two progress bars on a terminal: one over the studies, one within the running study. In a pipe there are no bars.

    Yields:
        A function that starts the bar of a study and returns its progress callback.
    """
    if not sys.stderr.isatty():  # rich would also take FORCE_COLOR for a terminal
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    with Bars(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                  TimeElapsedColumn(), transient=True,
                  console=Console(stderr=True, highlight=False, force_jupyter=False)) as shown:
        over, within = shown.add_task("studies", total=studies), shown.add_task("", total=None)
        begun = 0

        def begin(name: str) -> Progress:
            nonlocal begun
            shown.update(over, completed=begun)
            shown.reset(within, description=name, total=None)
            begun += 1

            def advance(done: int, total: int | None) -> None:
                shown.update(within, completed=done, total=total)

            return advance

        yield begin

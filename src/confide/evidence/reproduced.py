"""Functions that run studies. Where the cache contains the findings of a study, the stored findings are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

from confide.contract.errors import ConfideError
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Section
from confide.evidence.catalogue import study
from confide.evidence.findings import Findings, Study
from confide.evidence.kept import Kept, StudyCache, from_json, to_json

__all__ = ["NotReproduced", "Reproduced", "marked_quick", "reproduce", "reproduce_all"]


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """One run of a study, with the findings.

    Args:
        study: study that was computed, or read from the cache.
        quick: whether the run was a quick one, with smaller sizes and fewer repetitions.
        findings: findings of the run.
        seconds: duration of the computation, in seconds; for stored findings, the duration of their original
            computation.
        processor: processor time of all threads of the computation, in seconds. On a machine that also does other work,
            processor time says more than `seconds` does.
        cached: whether the findings were read from the cache.
    """

    study: Study
    quick: bool
    findings: Findings
    seconds: float
    processor: float
    cached: bool

    @property
    def name(self) -> str:
        """The name of the folder for the files of this run. A quick run has another folder name than a full run, so the
        files of a quick run never overwrite the files of a full run.
        """
        return f"{self.study.name}-quick" if self.quick else self.study.name

    def section(self) -> Section:
        """The findings as a section of a page. The titles of the section and of its pictures say whether the run was
        quick.
        """
        section = self.findings.section(self.study.title)
        if not self.quick:
            return section
        blocks = tuple(replace(block, spec=marked_quick(block.spec)) if isinstance(block, Picture) and block.spec else
                       block for block in section.blocks)
        return Section(title=f"{section.title} (quick run)", blocks=blocks)


@dataclass(frozen=True, kw_only=True)
class NotReproduced:
    """A study that could not be computed on this machine.

    Args:
        study: study that was requested.
        error: error that names the missing part, such as a data set of an extra.
    """

    study: Study
    error: ConfideError


def marked_quick(spec: dict[str, Any]) -> dict[str, Any]:
    """A picture whose title says that it was drawn from a quick run.

    Args:
        spec: Vega-Lite specification, which is not changed.

    Returns:
        A new specification.

    Example:
        >>> marked_quick({"title": "Errors"})["title"]
        {'text': 'Errors', 'subtitle': 'quick run: smaller sizes, fewer repetitions'}
    """
    title = spec.get("title", "")
    reported = dict(title) if isinstance(title, dict) else {"text": title}
    before = reported.get("subtitle", [])
    lines = [*([before] if isinstance(before, str) else before), "quick run: smaller sizes, fewer repetitions"]
    return spec | {"title": reported | {"subtitle": lines[0] if len(lines) == 1 else lines}}


def reproduce(
    name: str, *, quick: bool = False, cache: StudyCache | None = None, progress: Progress | None = None
) -> Reproduced:
    """Compute a study, or read its stored findings from the cache.

    Args:
        name: name of the study.
        quick: whether to use smaller sizes and fewer repetitions.
        cache: cache in which findings are looked up and stored. Without a cache the study is always computed.
        progress: function that is called with the number of finished steps and the number of all steps.

    Raises:
        InvalidInput: no study has this name, or the study needs an extra that is not installed.

    Example:
        >>> reproduce("regression-threshold", quick=True).findings.headline.published
        4472.13595499958
    """
    chosen = study(name)
    module = chosen.run.__module__
    kept = cache.find(name, module, quick) if cache is not None else None
    if kept is not None:
        return Reproduced(study=chosen, quick=quick, findings=kept.findings, seconds=kept.seconds,
                          processor=kept.processor, cached=True)
    start, worked = perf_counter(), process_time()
    fresh = chosen.run(quick, progress)
    took = {"seconds": perf_counter() - start, "processor": process_time() - worked}
    findings = from_json(to_json(fresh))  # the same, number for number and type for type, as what will be kept
    if cache is not None:
        cache.keep(name, module, quick, Kept(findings=findings, **took))
    return Reproduced(study=chosen, quick=quick, findings=findings, cached=False, **took)


def reproduce_all(
    names: Sequence[str], *, quick: bool | Callable[[str], bool] = False, cache: StudyCache | None = None,
    progress: Callable[[str], Progress | None] | None = None,
) -> Iterator[Reproduced | NotReproduced]:
    """Run several studies in turn. If a study cannot run because a requirement is missing, the later studies run
    nevertheless.

    Args:
        names: names of the studies.
        quick: whether to use smaller sizes and fewer repetitions; or a function that decides this from the name of a
            study.
        cache: cache in which findings are looked up and stored.
        progress: function that maps the name of a study to the study's own progress function, as in `reproduce`. The
            mapping is called when a study begins.

    Raises:
        InvalidInput: a name is not that of a study. All names are checked before the first study is computed.
    """
    for chosen in [study(name) for name in names]:
        name = chosen.name
        bar = progress(name) if progress is not None else None
        try:
            yield reproduce(name, quick=quick(name) if callable(quick) else quick, cache=cache, progress=bar)
        except ConfideError as error:
            yield NotReproduced(study=chosen, error=error)

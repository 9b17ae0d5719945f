"""Two commands that read the pack (public files) of a settled campaign and cost no privacy: `rows` makes synthetic
rows, and `answer` answers further queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

import typer

from confide.cli.options import AsJson, emit

if TYPE_CHECKING:
    import pyarrow as pa

    from confide.campaign.file import CampaignFile
    from confide.contract.kinds import CampaignPlan
    from confide.contract.outcome import PublicOutcome

__all__ = ["answer", "rows"]

_SHOWN = 20
_UNREAD = {"tables", "report"}
"""Checks of the files that this module does not read. These checks may be left out, because rows and answers are
computed from the billboard alone.
"""

Pack = Annotated[Path, typer.Argument(metavar="PACK", help="Folder that holds the pack, or its .zip.")]
Key = Annotated[str | None, typer.Option("--key", help="Fingerprint of the operator's key, from the offer.")]


@runtime_checkable
class _Release(Protocol):
    """A kind of campaign whose billboard yields further rows and answers besides the published result."""

    def more_rows(self, plan: Any, outcome: Any, count: int) -> pa.Table: ...

    def more_answers(self, plan: Any, outcome: Any, queries: Sequence[str | Sequence[str]]) -> pa.Table: ...


def rows(
    pack: Pack,
    count: Annotated[int, typer.Option("--count", metavar="N", help="How many rows.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file: .parquet, or .csv.")],
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Make synthetic rows from a settled release. The command verifies the pack first. The rows are computed from
    public data only: the command costs no privacy, and makes the same rows for everybody.
    """
    target = _target(out)
    kind, file, plan, outcome = _verified(pack, key)
    table = kind.more_rows(plan, outcome, count)
    _write(target, table)
    if as_json:
        from confide.cli import output

        emit(output.RowsOutput(pack=str(pack), title=file.title, out=str(target), rows=table.num_rows,
                               columns=table.column_names))
        return
    print(f"wrote {table.num_rows:,} rows to {target}; no privacy was spent, since the rows follow from the public "
          "result")


def answer(
    pack: Pack,
    queries: Annotated[list[str], typer.Argument(
        metavar="QUERIES", help="Each query in quotes, with commas between its literals, such as 'job = none, not "
                                "smoker'; or a .toml file with queries = [['job = none', 'not smoker'], ...].")],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help=
        "Write the answers to a new file: .csv, or .parquet.")] = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Answer further queries from a settled release. The command verifies the pack first. The answers are computed from
    public data only: the command costs no privacy. They come from the released synthetic rows, or are sums of measured
    answers.
    """
    from confide.cli.render import show
    from confide.contract.presentation import Section, Table

    target, asked = None if out is None else _target(out), _asked(queries)
    kind, file, plan, outcome = _verified(pack, key)
    table = kind.more_answers(plan, outcome, asked)
    found = table.to_pylist()
    if target is not None:
        _write(target, table)
    if as_json:
        from confide.cli import output

        emit(output.AnswerOutput(pack=str(pack), title=file.title, out=None if target is None else str(target),
                                 answers=[output.AnswerModel(**each) for each in found]))
        return
    headings = {"plus_minus": "+-", "added": "measured answers in it"}
    note = "Answers are shares of the records. They follow from the public result, so no privacy was spent. "
    note += ("The column +- covers the noise of that answer alone, with probability 95%. Answers are cut to [0, 1]: to "
             "add up answers, use the uncut ones."
             if "plus_minus" in table.column_names else "This command states no error bars. The report of "
             "the release has the errors that are proved.")
    first = f"The first {_SHOWN} of {len(found):,}. " if len(found) > _SHOWN else ""
    show([Section(title="Answers of the release", blocks=(
        Table(columns=tuple(headings.get(name, name) for name in table.column_names),
              rows=tuple(tuple(each.values()) for each in found[:_SHOWN]), note=first + note),))])
    if target is not None:
        print(f"\nwrote {target}")


def _verified(pack: Path, key: str | None) -> tuple[_Release, CampaignFile, CampaignPlan, PublicOutcome]:
    """Read a pack, and verify that its content is the release that the operator signed.

    Raises:
        InvalidInput: the path holds no pack.
        Refused: the pack is broken, or holds parts that this version does not understand, or its kind of campaign
            releases no answers.
    """
    from confide.campaign.verification.verifier import verified
    from confide.contract import Refused

    found = verified(pack, key=key)
    doubts = [each for each in found.findings.findings
              if each.verdict == "broken" or (each.verdict == "not checked" and each.check not in _UNREAD)]
    if doubts:
        first = next((each for each in doubts if each.verdict == "broken"), doubts[0])
        raise Refused(f"the pack {pack} is not used: {first.check} {'is' if first.verdict == 'broken' else 'was'} "
                      f"{first.verdict}: {first.detail}", f"confide verify {pack} lists all checks")
    file, plan, outcome = found.file, found.plan, found.outcome
    if file is None or plan is None or outcome is None:
        raise Refused(f"the pack {pack} is not used: it could not be read whole", f"confide verify {pack} says why")
    if not isinstance(file.kind, _Release):
        raise Refused(f"a campaign of the kind {file.kind.name!r} has no further answers or rows to derive from its "
                      "result",
                      "use this command for campaigns of the kind 'queries'")
    return file.kind, file, plan, outcome  # the very parts that were checked: the folder is not read again


def _target(out: Path) -> Path:
    from confide.contract import InvalidInput
    from confide.contract.files import NOTE

    if out.suffix.lower() not in (".parquet", ".csv"):
        raise InvalidInput("out", f"the name {out} has another ending", "must end in .parquet or .csv")
    if any((folder / NOTE).exists() for folder in out.absolute().parents):
        raise InvalidInput("out", f"{out} would be in a pack, and the list of files of a pack is signed",
                           "choose another folder")
    if out.exists():
        raise InvalidInput("out", f"{out} exists", "choose another file with --out")
    return out


def _write(target: Path, table: pa.Table) -> None:
    from confide.campaign.pack import as_csv, as_parquet
    from confide.contract.files import write_new

    write_new("out", target, as_parquet(table) if target.suffix.lower() == ".parquet" else as_csv(table), private=False,
              taken="choose another file with --out")


def _asked(queries: list[str]) -> list[str | list[str]]:
    """The queries: the texts that the user typed, or the queries of the named .toml file."""
    import tomllib

    from confide.contract import InvalidInput
    from confide.contract.files import read_bytes
    from confide.contract.words import cause

    if not any(each.endswith(".toml") for each in queries):
        return list(queries)
    if len(queries) > 1:
        raise InvalidInput("queries", "the command names a file and other queries together",
                           "give one file alone, or queries in quotes "
                                                                            "alone")
    path = Path(queries[0])
    try:
        document = tomllib.loads(read_bytes("queries", path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("queries", f"{path} is not TOML: {cause(error)}") from None
    found: Any = document.get("queries")
    fits = isinstance(found, list) and all(isinstance(each, list) and all(isinstance(literal, str) for literal in each)
                                           for each in found)
    if not fits or len(document) > 1:
        raise InvalidInput("queries", f"{path} has no list of queries, or has other keys too",
                           'must be a file with queries = [["job = none", "not smoker"], ...] alone')
    return list(found)

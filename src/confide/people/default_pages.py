"""What can be shown of any mechanism's outcome: billboard, one participant's share, a run without noise beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from confide.contract.guarantees import promises_table
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome, settled_share
from confide.contract.presentation import Section, Table, Text
from confide.contract.running import ran, written
from confide.contract.wire import parts_of
from confide.privacy.groups import group_blocks
from confide.privacy.noise import ForcedNoise

__all__ = ["board_table", "explain_sections", "result_sections", "study_sections"]

_SHOWN = 50  # rows of a table on a page


def board_table(board: Any) -> pa.Table:
    """A billboard as one table: its longest lists side by side, and what is one number repeated beside them."""
    parts = {word: np.atleast_1d(np.asarray(part)) for word, part in parts_of(board).items()}
    longest = max(len(part) for part in parts.values())
    return pa.table({name: pa.array(np.repeat(part, longest) if len(part) == 1 else part)
                     for name, part in parts.items() if len(part) in (1, longest) and part.ndim == 1})


def _table(found: pa.Table, note: str = "") -> Table:
    rows = tuple(tuple(row.values()) for row in found.slice(0, _SHOWN).to_pylist())
    more = f"{found.num_rows - _SHOWN:,} more rows are in the file." if found.num_rows > _SHOWN else ""
    return Table(columns=tuple(found.column_names), rows=rows, note=" ".join(filter(None, (note, more))))


def result_sections(outcome: PublicOutcome | SimulatedOutcome, found: pa.Table) -> Sequence[Section]:
    """What everybody sees, and what is promised of it.

    Args:
        outcome: of the run.
        found: the public result as a table.
    """
    return [Section(title="Result", blocks=(_table(found),)),
            Section(title="What is promised", blocks=(
                promises_table(outcome.guarantees), *group_blocks(outcome.mechanism, outcome.guarantees.privacy)))]


def explain_sections(
    outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int, share: str, depends_on: str
) -> Sequence[Section]:
    """One participant's share, decoded anew, and what it follows from.

    Args:
        outcome: of the run.
        record: hers; None where none was usable.
        index: her rank in the public list of ids.
        share: what a share is, in words.
        depends_on: what it follows from.

    Raises:
        Refused: she withdrew, and her share was erased.
    """
    decoded = dict(outcome.mechanism.decode(record, index, outcome.billboard))
    lines = [f"Your share is {share}. It follows from {depends_on}: anybody who has both comes to the same."]
    if record is None:
        lines.append("No usable record is there under this id.")
    if not isinstance(outcome, PublicOutcome):
        settled = settled_share(outcome, index)
        schema = outcome.shares.schema
        if written(settled, schema) != written(decoded, schema):
            lines.append("From the record that the file holds today another share follows than the one that was "
                         "settled: either this row was changed since, or the mechanism's `decode` gives another share "
                         "than its `run` did. What counts is the settlement: that is what is shown.")
            decoded = settled
    rows = tuple((name.replace("_", " "), value) for name, value in decoded.items())
    return [Section(title=f"Participant {index + 1}", private=True, blocks=(
        Table(columns=("what", "yours"), rows=rows), Text(tuple(lines))))]


def study_sections(collection: Any, outcome: SimulatedOutcome, tables: Mapping[str, pa.Table]) -> Sequence[Section]:
    """The released result beside the one without any noise: of private data, never a release.

    Args:
        collection: what the run read.
        outcome: of the run with simulated noise.
        tables: the public result; its first table is compared.
    """
    bare = ran(outcome.mechanism, collection.data, ForcedNoise(()))
    released, true = next(iter(tables.values())), board_table(bare.billboard)
    columns: dict[str, Any] = {}
    for name in released.column_names:
        columns[name] = released[name]
        if name in true.column_names and not true[name].equals(released[name]):
            columns[f"{name} without noise"] = true[name]
    return [Section(title="Beside the result without noise", study=True, blocks=(
        _table(pa.table(columns), "Without noise nothing is promised: these numbers are private."),))]

"""The tables that every campaign file with people in it has: who is invited, and where what they hand in lies."""

from __future__ import annotations

from pydantic import Field

from confide.contract.known_keys import FileTable, Keys

__all__ = ["MOST_PEOPLE", "DataTable", "PeopleTable", "PeoplesTables", "RehearsalTable"]

MOST_PEOPLE = 10**8
"""Invited slots of one campaign: its public list of ids has to fit into memory."""


class PeopleTable(Keys):
    """`[people]`: the invited slots. Ids are 1 to count."""

    count: int = Field(ge=1, le=MOST_PEOPLE, description="n, invited slots; fixed and public")
    id: str = Field(default="row", min_length=1, description="column with the id, or 'row': the file's i-th row is i")


class DataTable(FileTable):
    """`[data]`: where what people hand in is."""

    source: str = Field(min_length=1, description="a .parquet, .csv or .arrow file, or a data set PACKAGE:NAME")


class RehearsalTable(Keys):
    """`[rehearsal]`: true answers that are public already, to play people with. Never read by a run that releases."""

    source: str = Field(min_length=1, description="a file, or a data set PACKAGE:NAME; its ids as those of [data]")
    column: str = Field(min_length=1, description="of the true answers")


class PeoplesTables(Keys):
    """`[people]` and `[data]`; a kind's own tables are further fields of a subclass.

    Example:
        >>> class Survey(PeoplesTables):
        ...     levels: tuple[str, ...]
        >>> Survey(people={"count": 3}, data={"source": "answers.csv"}, levels=("no", "yes")).people.id
        'row'
    """

    people: PeopleTable
    data: DataTable

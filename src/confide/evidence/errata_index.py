"""The errata that the specifications list, and the rows of the table of claims that show each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Erratum", "errata"]


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One erratum.

    Args:
        specification: whose list it stands in, such as data_market.
        number: in that list, from 1.
        claims: ids of the rows that show it.
        none: why no row does; empty where one does.
    """

    specification: str
    number: int
    claims: tuple[str, ...] = ()
    none: str = ""


@cache
def errata() -> tuple[Erratum, ...]:
    """All of them, by specification and number.

    Example:
        >>> errata()[0].claims
        ('channels/lemma-7-triangle',)
    """
    table = tomllib.loads(Path(__file__).with_name("errata.toml").read_text(encoding="utf-8"))
    return tuple(Erratum(specification=name, number=int(number), claims=tuple(entry.get("claims", ())),
                         none=entry.get("none", ""))
                 for name, entries in table.items() for number, entry in entries.items())

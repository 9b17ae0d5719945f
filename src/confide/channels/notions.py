"""The notions of privacy by name: two levels, which are worst cases, and mutual information, an average."""

from __future__ import annotations

from typing import Literal, cast

from confide.contract.checks import one_of

__all__ = ["NOTIONS", "Level", "Measure", "Notion", "as_measure", "as_notion"]

Level = Literal["dp", "identifiability"]
Notion = Literal["dp", "identifiability", "mutual-information"]
Measure = Literal["dp", "identifiability", "mutual-information", "information-privacy"]

NOTIONS: tuple[Notion, ...] = ("dp", "identifiability", "mutual-information")


def as_notion(notion: str) -> Notion:
    """The notion of this name; `mutual_information` will do.

    Raises:
        InvalidInput: there is none.
    """
    return cast("Notion", one_of("notion", str(notion).replace("_", "-"), NOTIONS))


def as_measure(notion: str) -> Measure:
    """The same, with the largest change of an output's probability, which is measured and bounded but not optimised."""
    return cast("Measure", one_of("notion", str(notion).replace("_", "-"), (*NOTIONS, "information-privacy")))

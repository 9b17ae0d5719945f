"""How useful a survey's design is: the standard error of each share, beside that of asking directly, and beside the
mechanisms that have the least levels at the same number of changed rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.channels.channel import FiniteChannel
from confide.channels.notions import Notion
from confide.channels.priors import Prior
from confide.channels.surveys import mean_law, shared_table, survey_errors
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import number

__all__ = ["Usefulness", "usefulness"]

_Array = NDArray[np.float64]
_LISTED = 30  # letters on a page


@dataclass(frozen=True, kw_only=True, eq=False)
class Usefulness:
    """Standard errors of estimated shares, for people drawn at random from a population with the prior's shares.

    Args:
        people: who report once each.
        names: (m,) of the letters, or their numbers.
        shares: (m,) of the letters under the prior.
        direct: (m,) errors without randomisation.
        errors: (m,) errors through the channel; infinite where the share cannot be estimated.
        least: notion -> the mechanism that reaches its least level, and (m,) the errors through it.
    """

    people: int
    names: tuple[str, ...]
    shares: _Array
    direct: _Array
    errors: _Array
    least: Mapping[Notion, tuple[str, _Array]]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary; infinities stay floats."""
        return {"people": self.people, "letters": list(self.names), "shares": self.shares.tolist(),
                "asked_directly": self.direct.tolist(), "this_channel": self.errors.tolist(),
                "least": {notion.replace("-", "_"): {"mechanism": name, "errors": errors.tolist()}
                          for notion, (name, errors) in self.least.items()}}

    def section(self) -> Section:
        """Words and a table."""
        listed = np.argsort(-self.shares, kind="stable")[:_LISTED]
        listed.sort()
        others = self._columns()
        columns = (self.shares, self.direct, self.errors, *others.values())
        rows = tuple((self.names[x], *(_cell(float(column[x])) for column in columns)) for x in listed.tolist())
        note = "" if listed.size == self.shares.size else f"The {_LISTED} likeliest of {self.shares.size:,} values."
        table = Table(columns=("value", "share", "asked directly", "this channel", *others), rows=rows, note=note)
        return Section(title="How useful it is", blocks=(Text(tuple(self._words())), table))

    def _columns(self) -> dict[str, _Array]:
        """Errors by heading; notions for which one mechanism is the least share a column."""
        found: dict[str, _Array] = {}
        for name, errors in self.least.values():
            notions = [notion for notion, (other, same) in self.least.items()
                       if other == name and np.array_equal(same, errors)]
            found[f"{name}, least {' and '.join(notion.replace('-', ' ') for notion in notions)}"] = errors
        return found

    def _words(self) -> list[str]:
        who = "One person" if self.people == 1 else f"{self.people:,} people"
        words = [f"{who} drawn at random from a population with these shares report once each. The table has the "
                 "standard error of each share that is estimated from the reports."]
        if self.people == 1:
            words.append("For more people, divide by the square root of their number.")
        some = np.flatnonzero((self.direct > 0) & np.isfinite(self.errors))
        if np.isinf(self.errors).any():
            words.append("Some values answer so much alike that no number of reports tells their shares.")
        elif some.size:
            worth = (self.direct[some] / self.errors[some]) ** 2
            worst = np.lexsort((self.shares[some], worth.round(9)))[0]  # two letters are worth the same
            words.append(f"At worst, for the share of {self.names[some[worst]]}, asking "
                         f"{number(100 * float(worth[worst]))}% as many people directly would tell as much.")
        if self.least:
            words.append("Beside them are the mechanisms that reach the least levels at as many changed rows. They may "
                         "turn rare values into likely ones, or all into one, and then tell nothing about shares.")
        return words


def usefulness(
    channel: FiniteChannel, prior: Prior, names: Sequence[str],
    least: Mapping[Notion, tuple[str, FiniteChannel | None]],
) -> Usefulness:
    """The errors of a channel that takes each row through one table.

    Args:
        channel: the randomisation.
        prior: its average row is the population.
        names: of the letters; none for their numbers.
        least: notion -> a mechanism's name and its channel; those that are no such channels are left out.
    """
    law, people = mean_law(prior, channel.letters), channel.rows
    beside = {notion: (name, survey_errors(other, law, people)) for notion, (name, other) in least.items()
              if other is not None and shared_table(other) is not None}
    return Usefulness(people=people, names=tuple(names) or tuple(str(x) for x in range(channel.letters)), shares=law,
                      direct=np.sqrt(law * (1.0 - law) / people), errors=survey_errors(channel, law, people),
                      least=beside)


def _cell(value: float) -> str | float:
    return value if math.isfinite(value) else "cannot be estimated"

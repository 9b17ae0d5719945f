"""How useful a survey's design is: the standard error of each share, beside that of asking directly, beside randomised
response, and beside the mechanisms that have the least levels at the same number of changed rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.channels.channel import FiniteChannel
from confide.channels.kernels import row_kernel
from confide.channels.notions import Notion
from confide.channels.priors import IndependentRows, Prior
from confide.channels.surveys import group_errors, mean_law, share_variances, shared_table
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import number

__all__ = ["Usefulness", "usefulness"]

_Array = NDArray[np.float64]
_LISTED = 30  # letters on a page


@dataclass(frozen=True, kw_only=True, eq=False)
class Usefulness:
    """Standard errors of estimated shares, for people drawn at random from a population with the prior's shares; under
    a prior whose rows depend on each other, for groups of people who are drawn together.

    Args:
        people: in a group, who report once each.
        groups: that are drawn independently.
        together: whether the people of a group have to do with each other.
        names: (m,) of the letters, or their numbers.
        shares: (m,) of the letters under the prior.
        direct: (m,) errors without randomisation.
        errors: (m,) errors through the channel; infinite where the share cannot be estimated.
        alone: (m,) errors of shares among these people: the randomisation alone.
        epsilon: the channel's differential privacy.
        response: (m,) errors through randomised response of that epsilon.
        as_useful: epsilon of randomised response whose largest error is this channel's; infinite where that is asking
            directly, not a number where some share cannot be estimated.
        least: notion -> the mechanism that reaches its least level, and (m,) the errors through it.
    """

    people: int
    groups: int
    together: bool
    names: tuple[str, ...]
    shares: _Array
    direct: _Array
    errors: _Array
    alone: _Array
    epsilon: float
    response: _Array
    as_useful: float
    least: Mapping[Notion, tuple[str, _Array]]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary; infinities stay floats."""
        return {"people": self.people, "groups": self.groups, "letters": list(self.names),
                "shares": self.shares.tolist(),
                "asked_directly": self.direct.tolist(), "this_channel": self.errors.tolist(),
                "among_these_people": self.alone.tolist(),
                "randomised_response": {"errors_at_same_epsilon": self.response.tolist(), "epsilon": self.epsilon,
                                        "epsilon_at_same_largest_error": self.as_useful},
                "least": {notion.replace("-", "_"): {"mechanism": name, "errors": errors.tolist()}
                          for notion, (name, errors) in self.least.items()}}

    def section(self) -> Section:
        """Words and a table."""
        listed = np.argsort(-self.shares, kind="stable")[:_LISTED]
        listed.sort()
        others = self._columns()
        own = {"this channel": self.errors}
        if self.together:
            own["among these people"] = self.alone
        if math.isfinite(self.epsilon):
            own["randomised response, same epsilon"] = self.response
        columns = (self.shares, self.direct, *own.values(), *others.values())
        rows = tuple((self.names[x], *(_cell(float(column[x])) for column in columns)) for x in listed.tolist())
        note = "" if listed.size == self.shares.size else f"The {_LISTED} likeliest of {self.shares.size:,} values."
        table = Table(columns=("value", "share", "asked directly", *own, *others), rows=rows, note=note)
        return Section(title="How useful it is", blocks=(Text(tuple(self._words())), table, *self._rivals()))

    def _rivals(self) -> list[Block]:
        """Randomised response beside this channel: whether the design is dominated."""
        largest = float(self.errors.max())
        if math.isinf(largest) or math.isnan(self.as_useful) or not (self.epsilon > 0 and largest > 0):
            return []
        rows: list[tuple[str | float | None, ...]] = [("this channel", None, self.epsilon, largest)]
        if math.isfinite(self.epsilon):
            rows.append(("randomised response, same epsilon", self._truth(self.epsilon), self.epsilon,
                         _cell(float(self.response.max()))))
        rows.append(("randomised response, as small an error", self._truth(self.as_useful), self.as_useful, largest))
        table = Table(columns=("design", "truth told with", "epsilon", "largest error of a share"), rows=tuple(rows),
                      note="Randomised response tells the truth with this probability, else another value, each alike.")
        if self.as_useful < self.epsilon * (1.0 - 1e-6):
            verdict = ("Randomised response is better: it has as small an error at a lower epsilon, so that this "
                       "design needs another reason.")
        elif self.as_useful > self.epsilon * (1.0 + 1e-6):
            verdict = "This channel is better: randomised response needs a larger epsilon for as small an error."
        else:
            verdict = "This channel is as good as randomised response."
        return [Text(("Is there a better design? " + verdict,)), table]

    def _truth(self, epsilon: float) -> float:
        return 1.0 / (1.0 + (len(self.names) - 1) * math.exp(-epsilon))

    def _columns(self) -> dict[str, _Array]:
        """Errors by heading; notions for which one mechanism is the least share a column."""
        found: dict[str, _Array] = {}
        for name, errors in self.least.values():
            notions = [notion for notion, (other, same) in self.least.items()
                       if other == name and np.array_equal(same, errors)]
            found[f"{name}, least {' and '.join(notion.replace('-', ' ') for notion in notions)}"] = errors
        return found

    def _words(self) -> list[str]:
        if self.together:
            many = "One group" if self.groups == 1 else f"{self.groups:,} independent groups"
            words = [f"{many} of {self.people:,} people who are drawn together, and have to do with each other as the "
                     "prior says, report once each. The table has the standard error of each share in the population, "
                     "and among these people: the randomisation alone. Levels and risk are those of one group."]
        else:
            who = f"{self.people * self.groups:,} people" if self.people * self.groups > 1 else "One person"
            words = [f"{who} drawn at random from a population with these shares report once each. The table has the "
                     "standard error of each share that is estimated from the reports."]
        if self.groups == 1 and (self.people == 1 or self.together):
            words.append(f"For more {'groups' if self.together else 'people'}, divide by the square root of their "
                         "number.")
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
    least: Mapping[Notion, tuple[str, FiniteChannel | None]], *, epsilon: float, groups: int = 1,
) -> Usefulness:
    """The errors of a channel that takes each row through one table.

    Args:
        channel: the randomisation.
        prior: of the rows of a group; its average row is the population.
        names: of the letters; none for their numbers.
        least: notion -> a mechanism's name and its channel; those that are no such channels are left out.
        epsilon: the channel's differential privacy.
        groups: drawn independently.
    """
    m = channel.letters
    beside = {notion: (name, group_errors(other, prior, groups)) for notion, (name, other) in least.items()
              if other is not None and shared_table(other) is not None}
    errors = group_errors(channel, prior, groups)
    return Usefulness(
        people=channel.records, groups=groups, together=not isinstance(prior, IndependentRows) and channel.records > 1,
        names=tuple(names) or tuple(str(x) for x in range(m)), shares=mean_law(prior, m),
        direct=np.sqrt(share_variances(prior) / groups), errors=errors,
        alone=group_errors(channel, prior, groups, sampling=False), epsilon=epsilon,
        response=group_errors(row_kernel(epsilon, m), prior, groups), as_useful=_as_useful(errors, prior, groups),
        least=beside)


def _as_useful(errors: _Array, prior: Prior, groups: int) -> float:
    """Epsilon of randomised response with this largest error, which falls as epsilon grows."""
    from scipy.optimize import brentq

    largest = float(errors.max())
    if math.isinf(largest):
        return math.nan

    def excess(epsilon: float) -> float:
        return float(group_errors(row_kernel(epsilon, prior.letters), prior, groups).max()) - largest

    low, high = 1e-5, 40.0
    if excess(high) >= -1e-12 * largest:
        return math.inf
    return low if excess(low) <= 0 else float(brentq(excess, low, high, xtol=1e-12))


def _cell(value: float) -> str | float:
    return value if math.isfinite(value) else "cannot be estimated"

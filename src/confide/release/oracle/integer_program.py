"""The exact oracle: local search, a certified bound, and branch and bound for what is left between them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire
from confide.release.oracle.answer import Answer, answered, checked_start
from confide.release.oracle.bounds import linear_bound
from confide.release.oracle.local_search import LocalSearch
from confide.release.oracle.program import Rows, build, solve
from confide.release.oracle.terms import Bits, Terms

__all__ = ["IntegerProgram"]

_SEARCH = LocalSearch()
_NEAREST = LocalSearch(flips_per_variable=0, flips=0, random_starts=0)


@wire("IntegerProgram", "form time_limit search literal")
@dataclass(frozen=True, kw_only=True)
class IntegerProgram(Declared):
    """Branch and bound by HiGHS, warm-started; at a time limit the best record so far counts.

    First a linear program bounds the optimum and a local search finds a record. If these meet, that proves the record
    optimal; else HiGHS goes on from that record. Its own bound and its own word for an optimum are in doubles
    and nobody can check them, so `Answer.upper_bound` stays the certified one.

    The time limit leaves out the local search; an answer that ran into it depends on the machine.

    Raises:
        InvalidInput: a parameter out of range.

    Source: the text's rounds had 20 s (L1423-1429); spec query_release E1, E2, E3.

    Example:
        >>> terms = Terms(kind="parities", attributes=3, index=[[0, 1, 2], [0, 1, -1], [2, -1, -1]],
        ...               bits=np.ones((3, 3), dtype=bool), weights=[-2, 3, -1], constant=3)
        >>> answer = IntegerProgram().solve(terms, (np.zeros(3, dtype=bool),), seed=0)
        >>> answer.record.tolist(), answer.value, answer.upper_bound, answer.timed_out
        ([False, False, True], 6, 6.0, False)
    """

    form: Annotated[Literal["disaggregated"], Parameter("as files say it: there is no other")] = "disaggregated"
    time_limit: Annotated[float, Parameter("time of a round at most", unit="seconds", above=0)] = 20.0
    search: Annotated[LocalSearch | None, Parameter(
        "search for the first record; None begins with the start records")] = _SEARCH
    literal: Annotated[bool, Parameter("as files say it: False, and nothing else")] = False

    def __post_init__(self) -> None:
        if self.rows() is Rows and (self.literal or str(self.form) == "printed"):
            raise InvalidInput("literal" if self.literal else "form", "the printed program is a class of its own",
                               "take confide.evidence.wu_2017.query_release.PrintedIntegerProgram")
        super().__post_init__()

    def rows(self) -> type[Rows]:
        """The form of its program."""
        return Rows

    def solve(self, terms: Terms, start: tuple[Bits, ...], seed: int) -> Answer:
        """The best record found within the time limit.

        Args:
            terms: the netted samples.
            start: records of d bits; the first one is the default record.
            seed: public, >= 0.

        Raises:
            InvalidInput: an argument that is not as described.
        """
        records = checked_start(terms, start)
        seed = whole("seed", seed)
        began = time.monotonic()
        bound = linear_bound(terms, self.time_limit)
        left = self.time_limit - (time.monotonic() - began)
        stopped = bound.timed_out
        found = (self.search or _NEAREST).towards(terms, records, seed, bound.clauses)
        open_gap = terms.value(found) < bound.clauses
        stopped = stopped or (open_gap and left <= 0)
        if open_gap and left > 0:
            solved = solve(build(terms, self.rows()), start=found, time_limit=left)
            stopped = stopped or solved.timed_out
            if solved.record is not None:
                # Free bits, and those that cost nothing, return to the default.
                record = _whole_record(terms, records[0], solved.record)
                record = _NEAREST.towards(terms, (records[0], record), seed, bound.clauses)
                found = max(found, record, key=terms.value)
        return answered(terms, found, upper_bound=float(bound.clauses), timed_out=stopped)


def _whole_record(terms: Terms, default: Bits, solved: Bits) -> Bits:
    """The solver's active attributes, and the default's others, as a valid record."""
    record, active = default.copy(), terms.active()
    record[active] = solved[active]
    for members in terms.groups:
        chosen = members[solved[members]]
        if chosen.size:  # in place of the default's, where that one is not active
            record[members] = False
            record[chosen[0]] = True
        elif not record[members].any():
            record[np.setdiff1d(members, active)[:1]] = True
    return record

"""One look at contacts and answers before a run, or between two: for the custodian alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from confide.campaign.kinds.searching.config import SearchConfig
from confide.campaign.kinds.searching.held import HeldNetwork
from confide.campaign.kinds.searching.waiting import used_before
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Check
from confide.contract.presentation import Block, Section, Table, Text

__all__ = ["checked"]

_SHOWN = 50  # ids on a page


def checked(config: SearchConfig, folder: Path) -> Check:
    """What the tables hold, which answers cannot be read or are nobody's, and which contradict others.

    Raises:
        InvalidInput: a table cannot be used; the graph is not admissible; a seed is no target.
    """
    data = HeldNetwork.open(config, folder)
    graph = data.graph()
    known, clashing = data.answered(graph)
    bound = config.privacy.degree_bound
    if bound is not None:
        graph.check_degree(bound)
    sown = graph.indices_of(list(config.search.seeds))
    if (known[np.setdiff1d(sown, clashing)] == 0).any():
        raise InvalidInput("search.seeds", "the answers say of one that it is no member",
                           "every seed must be a confirmed one")
    used = used_before(config, folder)
    places = dict(zip(used, graph.indices_of(list(used)).tolist() if used else [], strict=True))
    changed = [each for each, status in used.items() if known[places[each]] >= 0 and known[places[each]] != status]
    twice = graph.ids_of(clashing)
    answered = int((known >= 0).sum())
    rows: list[tuple[str, int]] = [
        ("people (fixed and public)", graph.people), ("pairs in contact", graph.edges),
        ("largest number of contacts of anybody", graph.largest_degree),
        ("lines that name the same person twice", graph.dropped.self_loops),
        ("people with an answer", answered), ("members among them", int((known == 1).sum())),
        ("people without one", graph.people - answered)]
    blocks: list[Block] = [Table(columns=("what", "number"), rows=tuple(rows))]
    if twice or changed:
        problems = [*((each, "two different answers") for each in twice),
                    *((each, "another answer than the search has used: " + ("member" if used[each] else "no member"))
                      for each in changed)]
        blocks.append(Table(
            columns=("id", "a run refuses it"), rows=tuple((_shown(each), why) for each, why in problems[:_SHOWN]),
            note=f"{len(problems):,} answers that contradict others, the first {_SHOWN} of them. Statuses do not "
                 "change: put them right before a run."))
    blocks.append(Text((
        "Nothing was charged. These numbers follow from contacts and answers: keep them to yourself.",
        "A missing answer is asked for when the search comes to it; it never counts as one. So is an answer that "
        "cannot be read: see the rejected rows.",
        "Do not change the campaign file because of what stands here: a bound or threshold that follows from the "
        "network is not covered by its promises.")))
    own = Section(title="The network (private: for the operator alone)", private=True, blocks=tuple(blocks))
    return Check(slots=graph.people, rows=data.rows, usable=answered, rejected=dict(data.rejected), tolerated=None,
                 held=True, own=(own,))


def _shown(each: Any) -> str:
    return str(each)

"""A run that stops where an answer is missing, and continues when the answer was added. The list of people to examine
next is for the operator alone.

The people for whose answers a run waits follow from the private contacts. The list of people to examine next is written
only to a private file, and no message names anybody on the list. Used answers are kept until the publication, so that a
changed answer is noticed. A missing answer never counts as a yes or a no.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from confide.campaign.kinds.searching.held import check_places, list_mark, marked, read_list, waiting_path
from confide.campaign.kinds.searching.plan import SearchConfig
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import check_private, read_json, replace_private
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.noise import JournalNoise
from confide.search.graph import DegreeBoundViolated, Graph
from confide.search.oracles import AnswersSoFar, Investigation, OracleInconsistent, OracleUnavailable
from confide.search.releases import graph_digest
from confide.search.targeted import PTarget, Search

__all__ = ["earlier_answers", "play", "used_before"]

_ANSWERS, _GRAPH = "answers.json", "graph.json"
_NOTED = "answers"  # the first word of notes in the journal


def play(
    config: SearchConfig, mechanism: PTarget, folder: Path, data: Investigation, noise: NoiseSource, keep: Path | None
) -> Outcome | SimulatedOutcome:
    """Run the search to its end, or until an answer is missing.

    Args:
        config: tables of the campaign file.
        mechanism: mechanism of the plan.
        folder: folder in which relative paths start.
        data: network with the answers that exist now.
        noise: source of the noise; in a secure run, a journal keeps the noise, so that a later attempt uses the same
            noise.
        keep: private folder for the answers that the search has used; None for a study.

    Raises:
        Refused: an answer is missing. The message names the list of people to examine next.
        OracleInconsistent: an answer differs from the answer about the same person that an earlier attempt used.
        InvalidInput: an answer is missing in a study; the graph differs from the graph of an earlier attempt; or the
            path of the list holds a file of another campaign.
        SeedNotTargeted: according to the answers, a person with whom the search starts is no member.
        DegreeBoundViolated: the graph is not admissible, and the campaign is over.
    """
    if keep is None:
        if not isinstance(data.oracle, np.ndarray):
            raise InvalidInput("oracle.source", "does not have an answer for everybody",
                               "add all answers: a study compares searches that examine different people")
        return mechanism.run(data, noise)
    check_places(config, folder)
    waiting, mark = waiting_path(config, folder), list_mark(config, keep.name)
    if marked(config, waiting) not in (None, mark):
        raise InvalidInput("oracle.waiting", f"{waiting} is the list of another campaign: the run does not replace it",
                           "finish the other campaign first, or move its list elsewhere; the charge of this campaign "
                           "stays, and nothing more is charged")
    filled = read_list(config, waiting) if waiting.exists() else []
    data = _with_earlier(data, earlier_answers(keep) | _noted(noise))
    _same_graph(keep, config, data.graph)
    search = _begun(mechanism, data, noise)  # draws nothing yet
    upcoming = _as_far_as_answered(search, data, config.oracle.at_once)
    asked = search.answers
    _note(noise, asked)
    replace_private(keep / _ANSWERS, _listed(asked))
    if upcoming:
        listed = {name for name, _ in filled}
        replace_private(waiting, _lines(config, mark, [*filled, *((str(each), "") for each in upcoming
                                                                 if str(each) not in listed)]))
        raise Refused(f"the search waits for answers about the people in {waiting} (private: for the operator alone)",
                      f"fill in the answers in this file, or add them to {config.oracle.source}, and run again: "
                      "nothing more is charged, and the search continues")
    if filled:  # they were paid for, and may stand nowhere else
        replace_private(waiting, _lines(config, mark, filled))
    else:
        waiting.unlink(missing_ok=True)
    return search.outcome


def _begun(mechanism: PTarget, data: Investigation, noise: NoiseSource) -> Search:
    """The search before its first draw. From this call on, the journal records the graph for which its noise is drawn.

    Raises:
        InvalidInput: the graph differs from the graph of the journal, even where the file of `_same_graph` is missing.
        DegreeBoundViolated: the graph is not admissible. The graph was charged for and read, so a corrected graph is
            not accepted.
    """
    try:
        return mechanism.start(data, noise)
    except DegreeBoundViolated as error:
        raise DegreeBoundViolated(error.bound, "; the ledger was charged before contacts were read, so the charge "
                                               "stays and this campaign is over: a run refuses changed "
                                               "contacts") from None
    except InvalidInput as error:
        if error.field != "noise":
            raise
        raise _another_graph() from None


def _note(noise: NoiseSource, asked: Mapping[Any, bool]) -> None:
    """Write the used answers to the journal too, from which no answer can be removed."""
    known = _noted(noise)
    fresh = {each: status for each, status in asked.items() if each not in known}
    if isinstance(noise, JournalNoise) and fresh:
        number = 0
        while noise.noted((_NOTED, number)) is not None:
            number += 1
        noise.note((_NOTED, number), _listed(fresh))


def _noted(noise: NoiseSource) -> dict[Any, bool]:
    """The answers that the journal notes for earlier attempts."""
    found, number = dict[Any, bool](), 0
    while isinstance(noise, JournalNoise) and (text := noise.noted((_NOTED, number))) is not None:
        found |= {each: bool(status) for each, status in json.loads(text)}
        number += 1
    return found


def _listed(answers: Mapping[Any, bool]) -> str:
    return json.dumps([[each, bool(status)] for each, status in answers.items()])


def _same_graph(keep: Path, config: SearchConfig, graph: Graph) -> None:
    """Note the graph and the tables of the first attempt, and refuse any other graph or table. Results for two graphs
    with the same noise would reveal the difference between the graphs.

    Raises:
        InvalidInput: the graph or the tables differ from the graph or the tables of the first attempt.
    """
    path, found = keep / _GRAPH, {"graph": graph_digest(graph), "tables": list_mark(config)}
    if not path.exists():
        replace_private(path, json.dumps(found))
        return
    check_private("oracle.journal", path)
    if read_json("oracle.journal", path)[0] != found:
        raise _another_graph()


def _another_graph() -> InvalidInput:
    return InvalidInput("graph.source", "has other contacts than the first attempt",
                        "restore the contacts of the first attempt: the noise of this search is for these contacts "
                        "alone; the charge stays, and nothing more is charged")


def _as_far_as_answered(search: Search, data: Investigation, at_once: int) -> list[Any]:
    """Continue the search until an answer is missing; the result is the list of people to examine next, and is empty if
    the search has ended.
    """
    known: Mapping[Any, bool] = data.oracle.known if isinstance(data.oracle, AnswersSoFar) else {}
    while True:
        try:
            search.run()
        except OracleUnavailable:
            first = search.pending()
            if first and first[0] not in known:
                break
        else:
            return []
    # Of a component all who are next will be examined; beyond it the later ones may prove unnecessary.
    frontier = search._state.investigation.graph.ids_of(search._state.upcoming(None))
    upcoming = frontier if len(frontier) > 1 else search.pending(at_once)
    return [each for each in upcoming if each not in known]


def _with_earlier(data: Investigation, earlier: dict[Any, bool]) -> Investigation:
    """The network, with the answers that earlier attempts used added to its present answers.

    Raises:
        OracleInconsistent: the table holds another answer now.
    """
    if not earlier:
        return data
    if isinstance(data.oracle, AnswersSoFar):
        known = dict(data.oracle.known)
        known = {**earlier, **known}
        if any(known[each] != status for each, status in earlier.items()):
            raise OracleInconsistent
        return Investigation(data.graph, data.graph.ids_of(data.seeds), AnswersSoFar(known), ahead=data.ahead)
    table = np.asarray(data.oracle)
    if (table[data.graph.indices_of(list(earlier))] != np.array(list(earlier.values()))).any():
        raise OracleInconsistent
    return data


def earlier_answers(keep: Path) -> dict[Any, bool]:
    """The answers that earlier attempts of this search used, as a mapping from id to whether the person is a member.

    Args:
        keep: private folder in which the used answers are kept.

    Raises:
        InvalidInput: other users may read the file with the used answers.
    """
    path = keep / _ANSWERS
    if not path.exists():
        return {}
    check_private("oracle.journal", path)
    pairs, _ = read_json("oracle.journal", path)
    return {each: bool(status) for each, status in pairs}


def used_before(config: SearchConfig, folder: Path) -> dict[Any, bool]:
    """The answers that all unfinished searches with the same tables have used. A check looks at all of these searches,
    since the digest of the single campaign is not known during a check.
    """
    journal, found = folder / config.oracle.journal, dict[Any, bool]()
    for keep in sorted(journal.iterdir()) if journal.is_dir() else ():
        if (keep / _GRAPH).exists() and read_json("oracle.journal", keep / _GRAPH)[0]["tables"] == list_mark(config):
            found |= earlier_answers(keep)
    return found


def _lines(config: SearchConfig, mark: str, lines: list[tuple[str, str]]) -> str:
    """The text of a list to be filled in; its last column is empty, and has the campaign's mark as its name."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([(config.oracle.id, config.oracle.targeted, mark),
                                                     *((*line, "") for line in lines)])
    return text.getvalue()

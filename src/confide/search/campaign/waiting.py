"""A run that goes as far as the answers reach, and waits: whom to examine next is written for the operator alone.

Whether it waits, and for whom, follows from the contacts. It stands in a private file and in no message. What was
answered before is kept until the publication, so that an answer that changes is noticed. A missing answer is never
taken for a status.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import check_private, read_json, sync
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.search.campaign.config import SearchConfig
from confide.search.campaign.held import AnswersSoFar
from confide.search.campaign.places import check_places, list_mark, marked, read_list, waiting_path
from confide.search.graph import Graph
from confide.search.oracles import Investigation, OracleInconsistent, OracleUnavailable
from confide.search.targeted import PTarget, Search

__all__ = ["earlier_answers", "play", "replace_private", "used_before"]

_ANSWERS, _GRAPH = "answers.json", "graph.json"


def play(
    config: SearchConfig, mechanism: PTarget, folder: Path, data: Investigation, noise: NoiseSource, keep: Path | None
) -> Outcome | SimulatedOutcome:
    """The search, where the answers suffice.

    Args:
        config: the campaign file's tables.
        mechanism: of the plan.
        folder: where relative paths start.
        data: with the answers as they stand.
        noise: in a secure run one that is kept.
        keep: a private folder for the answers that were used; None for a study.

    Raises:
        Refused: an answer is missing; names the file in which it is asked for.
        OracleInconsistent: an answer is not what it was.
        InvalidInput: an answer is missing in a study; the graph is not that of an earlier attempt; something that is
            not this campaign's stands where the list belongs.
        SeedNotTargeted: the answers say so of a seed.
        DegreeBoundViolated: the graph is not admissible.
    """
    if keep is None:
        if not isinstance(data.oracle, np.ndarray):
            raise InvalidInput("oracle.source", "does not answer for everybody",
                               "a study compares searches that examine other people: it needs all answers")
        return mechanism.run(data, noise)
    check_places(config, folder)
    waiting, mark = waiting_path(config, folder), list_mark(config, keep.name)
    if marked(config, waiting) not in (None, mark):
        raise InvalidInput("oracle.waiting", f"{waiting} is a list of another campaign: it is not replaced",
                           "finish that one first, or move its list elsewhere; the debit stays, and nothing more "
                           "is charged")
    filled = read_list(config, waiting) if waiting.exists() else []
    data = _with_earlier(data, earlier_answers(keep))
    search = mechanism.start(data, noise)  # draws nothing yet, and refuses a graph that is not admissible
    _same_graph(keep, config, data.graph)
    upcoming = _as_far_as_answered(search, data, config.oracle.at_once)
    asked = search.answers
    replace_private(keep / _ANSWERS, json.dumps([[each, bool(asked[each])] for each in asked]))
    if upcoming:
        listed = {name for name, _ in filled}
        replace_private(waiting, _lines(config, mark, [*filled, *((str(each), "") for each in upcoming
                                                                 if str(each) not in listed)]))
        raise Refused(f"the search waits for answers; whose, stands in {waiting} (private: for the operator alone)",
                      f"fill them in there, or add them to {config.oracle.source}, and run again: nothing more is "
                      "charged, and the search goes on where it was")
    if filled:  # they were paid for, and may stand nowhere else
        replace_private(waiting, _lines(config, mark, filled))
    else:
        waiting.unlink(missing_ok=True)
    return search.outcome


def _same_graph(keep: Path, config: SearchConfig, graph: Graph) -> None:
    """Keep what the first attempt searched, and refuse anything else: two graphs under one noise tell of each other.

    Raises:
        InvalidInput: it is another graph.
    """
    path, found = keep / _GRAPH, {"graph": _digest(graph), "tables": list_mark(config)}
    if not path.exists():
        replace_private(path, json.dumps(found))
        return
    check_private("oracle.journal", path)
    if read_json("oracle.journal", path)[0] != found:
        raise InvalidInput("graph.source", "is not that of the first attempt",
                           "put the contacts back as they were: the noise of this search is for them alone; the debit "
                           "stays, and nothing more is charged")


def _digest(graph: Graph) -> str:
    """Of contacts and ids; for a private folder alone, since it can be guessed."""
    found = hashlib.sha256(f"{graph.people} {len(graph.indices)} ".encode())
    found.update(graph.indptr.astype("<i8").tobytes())
    found.update(graph.indices.astype("<i4").tobytes())
    if isinstance(graph.ids, np.ndarray):
        found.update(graph.ids.astype("<i8").tobytes())
    elif graph.ids is not None:
        found.update("\0".join(graph.ids.to_pylist()).encode())  # no id has a NUL
    return found.hexdigest()


def _as_far_as_answered(search: Search, data: Investigation, at_once: int) -> list[Any]:
    """Go on until an answer is missing: whom to ask about then; nobody where the search has ended."""
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
    frontier = search._course.investigation.graph.ids_of(search._course.upcoming(None))
    upcoming = frontier if len(frontier) > 1 else search.pending(at_once)
    return [each for each in upcoming if each not in known]


def _with_earlier(data: Investigation, earlier: dict[Any, bool]) -> Investigation:
    """The same with answers that were given before.

    Raises:
        OracleInconsistent: the table says something else now.
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
    """Answers that an earlier attempt used.

    Args:
        keep: the private folder in which they are kept.

    Raises:
        InvalidInput: others may read them.
    """
    path = keep / _ANSWERS
    if not path.exists():
        return {}
    check_private("oracle.journal", path)
    pairs, _ = read_json("oracle.journal", path)
    return {each: bool(status) for each, status in pairs}


def used_before(config: SearchConfig, folder: Path) -> dict[Any, bool]:
    """Answers that unfinished searches of these tables have used; for a check, which knows no campaign by its digest.

    Args:
        config: the campaign file's tables.
        folder: where relative paths start.
    """
    journal, found = folder / config.oracle.journal, dict[Any, bool]()
    for keep in sorted(journal.iterdir()) if journal.is_dir() else ():
        if (keep / _GRAPH).exists() and read_json("oracle.journal", keep / _GRAPH)[0]["tables"] == list_mark(config):
            found |= earlier_answers(keep)
    return found


def _lines(config: SearchConfig, mark: str, lines: list[tuple[str, str]]) -> str:
    """A table to be filled in; its last column is empty, and its name is the campaign's mark."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([(config.oracle.id, config.oracle.targeted, mark),
                                                     *((*line, "") for line in lines)])
    return text.getvalue()


def replace_private(path: Path, text: str) -> None:
    """Write a file for its owner alone, whole or not at all.

    Args:
        path: where; what stands there is replaced.
        text: what.
    """
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        sync(Path(draft))
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    sync(path.parent)

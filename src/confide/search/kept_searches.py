"""What a journal of noise is told of a search: which one it is for, and which of its calls have begun.

The raw material of a noisy order bears neither scale nor graph. So a journal that is kept names the search that it was
begun for, before the first draw, and each call before its own. The journal is private, and so is what it is told.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.encoding import canonical, encode
from confide.contract.errors import InvalidInput
from confide.privacy.noise import JournalNoise
from confide.privacy.noise.base import Noise
from confide.search.graph import Graph

__all__ = ["check_charged", "graph_digest", "keep_call", "keep_search"]

_ALL = "component"  # the first word of every draw of a search


def graph_digest(graph: Graph) -> str:
    """Of contacts and ids; for private places alone, since it can be guessed.

    Args:
        graph: whose.
    """
    found = hashlib.sha256(f"{graph.people} {len(graph.indices)} ".encode())
    found.update(graph.indptr.astype("<i8").tobytes())
    found.update(graph.indices.astype("<i4").tobytes())
    if isinstance(graph.ids, np.ndarray):
        found.update(graph.ids.astype("<i8").tobytes())
    elif graph.ids is not None:
        found.update("\0".join(graph.ids.to_pylist()).encode())  # no id has a NUL
    return found.hexdigest()


def keep_search(noise: Noise, parameters: Any, graph: Graph, seeds: NDArray[np.int64]) -> None:
    """Tell a journal which search it is for; other noise is not told.

    Args:
        noise: of the run.
        parameters: the mechanism.
        graph: the contacts.
        seeds: their ranks.

    Raises:
        InvalidInput: it was begun for something else.
    """
    if isinstance(noise, JournalNoise):
        noise.note(_ALL, _digest(parameters, graph_digest(graph), seeds))


def keep_call(noise: Noise, call: int, released: NDArray[np.int64], parameters: Any = None,
              graph: Graph | None = None) -> None:
    """Tell a journal that a call begins, before its first draw.

    Args:
        noise: of the run.
        call: its number.
        released: ranks of the confirmed targets.
        parameters: of a call that belongs to no whole search.
        graph: the contacts, of such a call.

    Raises:
        InvalidInput: the call was begun for something else.
    """
    if isinstance(noise, JournalNoise):
        noise.note((_ALL, call), _digest(parameters, "" if graph is None else graph_digest(graph), released))


def check_charged(noise: Noise, charged: int) -> None:
    """Whether calls that are said to be charged already will have the noise that they had.

    Noise of a study may be drawn again from its seed. Secure noise is new each time: a call that is repeated with it is
    another release.

    Args:
        noise: of the run.
        charged: calls that are not charged again.

    Raises:
        InvalidInput: the noise holds no draws of them.
    """
    kept = isinstance(noise, JournalNoise)
    if charged and (kept or noise.release_safe) and not (
            isinstance(noise, JournalNoise) and all(noise.noted((_ALL, call)) for call in range(charged))):
        raise InvalidInput("charged", f"is {charged}, and the noise does not hold the draws of so many calls",
                           "give the JournalNoise of the first attempt; a call with other noise is charged anew")


def _digest(parameters: Any, graph: str, ranks: NDArray[np.int64]) -> str:
    said = canonical(encode(parameters, {})) + graph.encode()
    return hashlib.sha256(said + np.asarray(ranks, "<i8").tobytes()).hexdigest()

"""A promise printed whole, by one rule for every kind, page and JSON output.

A promise is its sentence, the probability with which it may fail, its condition and its note. A reader who sees the
sentence alone may read more into it than is promised, so that all four travel together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from confide.contract.guarantees import Guarantee
from confide.contract.presentation import Table
from confide.contract.worded import worded
from confide.contract.words import as_sentence

__all__ = ["Sentence", "in_full", "promises_json", "promises_table", "says_something", "sentences_of", "stated"]

Sentence = Callable[[Any], str]
"""The words of one promise without a full stop, where a kind has a unit of its own for it."""


def _plain(promise: Guarantee) -> str:
    return promise.sentence()


def in_full(promise: Guarantee, sentence: Sentence = _plain) -> str:
    """A promise with all that belongs to it, in whole sentences.

    Args:
        promise: of a mechanism.
        sentence: its words, where a kind has its own.

    Example:
        >>> from confide.contract.guarantees import Source, Truthfulness
        >>> print(in_full(Truthfulness(gain=0.25, baseline=1.0, who="every bidder", condition="the bidder is served",
        ...                            note="in the mean", source=Source(document="a", statement="b"))))
        No lie gains more than 0.25, for every bidder. Condition: the bidder is served. Nobody can know this \
beforehand, so that the promise tells a participant nothing when they decide. Note: in the mean.
    """
    return " ".join(sentences_of(promise, sentence))


def sentences_of(promise: Guarantee, sentence: Sentence = _plain) -> tuple[str, ...]:
    """The sentences of a promise, one after another; `worded` where they are not a kind's own words.

    Args:
        promise: of a mechanism.
        sentence: its words, where a kind has its own.
    """
    said = as_sentence(sentence(promise).rstrip("."))
    if promise.failure_probability:
        said = worded("%(promise)s, but with probability %(failure)s.", promise=said[:-1],
                      failure=f"{promise.failure_probability:g}")
    parts = [said]
    if not promise.claimable:
        parts.append(worded("This is a printed claim, and it is false."))
    elif promise.vacuous:
        parts.append(worded("It says nothing at these sizes."))
    if promise.condition:
        parts.append(worded("Condition: %(condition)s.", condition=promise.condition.rstrip(".")))
        parts.append(worded("Nobody can know this beforehand, so that the promise tells a participant nothing when "
                            "they decide."))
    if promise.note:
        parts.append(worded("Note: %(note)s.", note=promise.note.rstrip(".")))
    return tuple(parts)


def says_something(promise: Guarantee) -> str:
    """Whether a promise says anything, and to whom, in a table's cell.

    Args:
        promise: of a mechanism.
    """
    if not promise.claimable:
        return "no: as printed, and false"
    if promise.vacuous:
        return "no: vacuous at these sizes"
    return "to participants nothing: they cannot know its condition beforehand" if promise.condition else "yes"


def promises_table(
    promises: Iterable[Guarantee], note: str = "", *, sentence: Sentence = _plain,
    says: Callable[[Guarantee], str] = says_something,
) -> Table:
    """Every promise with its condition and note, its source, how often it may fail, and whether it says anything.

    Args:
        promises: of a mechanism, in reading order.
        note: what holds for all of them.
        sentence: the words of a promise, where a kind has its own.
        says: the cell of whether it says anything.
    """
    rows = tuple((sentence(each), _beside(each), str(each.source), each.failure_probability, says(each))
                 for each in promises)
    return Table(columns=("promise", "condition and note", "source", "may fail with probability", "says something"),
                 rows=rows, note=note)


def _beside(promise: Guarantee) -> str:
    """The condition and the note, in one cell."""
    condition = f"only if {promise.condition}" if promise.condition else ""
    return "; ".join(filter(None, (condition, promise.note)))


def stated(promises: Iterable[Guarantee], sentence: Sentence = _plain) -> tuple[str, ...]:
    """What is promised, a paragraph each: all that can be claimed and says anything.

    Args:
        promises: of a mechanism.
        sentence: the words of a promise, where a kind has its own.
    """
    return tuple(in_full(each, sentence) for each in promises if each.claimable and not each.vacuous)


def promises_json(promises: Iterable[Guarantee]) -> list[dict[str, Any]]:
    """Every promise for programs: its fields, the whole of it in words, and whether it says anything.

    Args:
        promises: of a mechanism.
    """
    return [{**each.to_dict(), "in_full": in_full(each), "says": says_something(each)} for each in promises]

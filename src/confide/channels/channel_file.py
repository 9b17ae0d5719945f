"""A channel file describes a user's own randomisation as JSON, either as a table or as the design of a survey.

::

    {"format": 1, "title": "Smoking",                            title of the page
     "response": {"letters": ["never", "sometimes", "often"],    names of the letters, or their number
                  "truth": 0.7,                                  probability that the truth is reported
                  "otherwise": "another"},                       another letter; or "any": the truth may come up again
     "records": 1000,                                            people; 1 if left out
     "groups": 1,                                                independent copies of these rows, such as households
     "prior": [0.6, 0.3, 0.1]}                                   law of one row; uniform if left out

Other designs of a response have a name. Lists are in the order of the letters::

    {"design": "warner", "letters": ["yes", "no"],
     "statement": 0.7}              probability that the statement is put, otherwise its negation; two letters
    {"design": "forced", "letters": ["yes", "no"],
     "forced": [0.2, 0.1]}          probability of each forced letter; the truth otherwise
    {"design": "unrelated", "letters": ["yes", "no"],
     "sensitive": 0.7,              probability that the sensitive question is put, otherwise an unrelated one
     "unrelated": [0.25, 0.75]}     shares of the answers to the unrelated question

A prior may have dependent rows and be exchangeable, so that its probabilities stay the same if rows change places::

    {"mixture": {"weights": [0.5, 0.5], "laws": [[0.8, 0.2], [0.3, 0.7]]}}     mixture of laws that all rows share
    {"counts": [0.5, 0.2, 0.3]}     two letters: probability that 0, 1, ... of the rows have the second letter

A file may have `channel` in place of `response`. `channel` lists the probabilities of the outputs, one table row for
each letter, and `outputs` may name the outputs. If `channel` has m^n table rows, where m is the number of `letters` and
n that of `records`, it is the channel of the whole database. In a channel of the whole database the first row of the
database varies slowest. For a channel of the whole database `prior` may list all m^n probabilities, or one law for each
row.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.channels.answer import ChannelAnswer, how_private
from confide.channels.channel import Channel, FiniteChannel, RowProduct, as_table
from confide.channels.mechanisms.table_mechanism import TableMechanism
from confide.channels.priors import Exchangeable, IndependentRows, Prior, as_law, as_prior
from confide.channels.surveys import shared_table
from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.files import as_path, read_json
from confide.contract.words import counted, did_you_mean

__all__ = ["ChannelFile", "read_channel", "read_channel_file"]

_KEYS = ("format", "title", "channel", "response", "letters", "outputs", "records", "groups", "prior")
_OLD_WORDS = FileWords(keys={"rows": "records"})
_DESIGNS = {"truth": ("truth", "otherwise"), "warner": ("statement",), "forced": ("forced",),
            "unrelated": ("sensitive", "unrelated")}
_MOST = 1024  # letters
_ROWS = 10**7


@dataclass(frozen=True, kw_only=True)
class ChannelFile:
    """Contents of a channel file.

    Args:
        title: title of the page.
        channel: the randomisation, as probabilities of the outputs for each database.
        prior: prior of the database.
        prior_given: whether the file has a prior; if not, the prior is uniform.
        names: names of the letters; empty if the letters have no names.
        outputs: names of the outputs of one row; empty if the outputs have no names.
        groups: number of independent copies of these rows in a survey, such as households; 1 for a single copy.
    """

    title: str
    channel: FiniteChannel
    prior: Prior
    prior_given: bool
    names: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    groups: int = 1

    def answer(self) -> ChannelAnswer:
        """The privacy and the usefulness of the file's channel, as computed by `how_private`."""
        return how_private(self.channel, self.prior if self.prior_given else None, title=self.title, names=self.names,
                           outputs=self.outputs, groups=self.groups)

    def mechanism(self) -> TableMechanism:
        """Mechanism that draws releases from the file's channel. The probabilities are stored as whole numbers, and the
        mechanism's levels are stated under the file's prior.
        """
        return _FileMechanism(table=self.channel, stated_under=self.prior)


@dataclass(frozen=True, kw_only=True, eq=False)
class _FileMechanism(TableMechanism):
    """A table mechanism with a prior to which its table was not fitted."""

    stated_under: Prior

    @property
    def _usual(self) -> Prior:
        return self.stated_under


def read_channel_file(path: str | os.PathLike[str]) -> ChannelFile:
    """Read a channel file.

    Raises:
        InvalidInput: the file does not exist, is no JSON, or is no channel file. The message names the key, the problem
            and a correct value.
    """
    where = as_path("file", path)
    document, _ = read_json("file", where)
    return read_channel(document, title=Path(where).stem)


def read_channel(document: Any, *, title: str = "A channel") -> ChannelFile:
    """The channel file that a JSON object describes.

    Args:
        document: content of a channel file, as the JSON reader returned it.
        title: title of the page, if `document` has no title.

    Raises:
        InvalidInput: the object is no channel file. The message names the key, the problem and a correct value.

    Example:
        >>> it = read_channel({"format": 1, "response": {"letters": 2, "truth": 0.75}, "prior": [0.9, 0.1]})
        >>> it.channel.tables[0].tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    document = _OLD_WORDS.today(document) if isinstance(document, dict) else document
    _known("", document, _KEYS)
    if isinstance(document.get("format"), bool) or document.get("format") != 1:
        raise InvalidInput("format", "is missing" if "format" not in document else "is not known", "must be 1")
    name = document.get("title", title)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput("title", "is not a text, or is empty")
    if "channel" not in document and "response" not in document:
        raise InvalidInput("channel", "is missing, and response is missing, too", "give either channel or response")
    if "channel" in document and "response" in document:
        raise InvalidInput("channel", "is given together with response", "give either channel or response, not both")
    rows = whole("records", document.get("records", 1), at_least=1)
    if rows > _ROWS:
        raise InvalidInput("records", f"{rows:,} is too large",
                           f"must be at most {_ROWS:,}; a smaller number is enough, since each row has the same levels")
    channel, names = (_table if "channel" in document else _response)(document, rows)
    prior = document.get("prior")
    if prior is None:
        law: Prior = IndependentRows([np.full(channel.letters, 1.0 / channel.letters)], [rows])
    else:
        law = (_alike(prior, channel.letters, rows) if isinstance(prior, dict)
               else as_prior(_numbers("prior", prior), channel.letters, rows))
    return ChannelFile(title=name, channel=channel, prior=law, prior_given=prior is not None, names=names,
                       outputs=_outputs(document, channel),
                       groups=whole("groups", document.get("groups", 1), at_least=1))


def _outputs(document: Mapping[str, Any], channel: FiniteChannel) -> tuple[str, ...]:
    if "outputs" not in document:
        return ()
    table = shared_table(channel)
    if "channel" not in document or table is None:
        raise InvalidInput("outputs", "applies only to a channel for each row", "leave it out")
    _, names = _letters("outputs", document["outputs"])
    if len(names) != table.shape[1]:
        raise InvalidInput("outputs", counted(len(names), "name"), f"must be {table.shape[1]}, one for each column")
    return names


def _table(document: Mapping[str, Any], rows: int) -> tuple[FiniteChannel, tuple[str, ...]]:
    table = as_table("channel", _numbers("channel", document["channel"]))
    letters, names = _letters("letters", document.get("letters", len(table)))
    if len(table) == letters:  # of one row; each row goes through it
        return RowProduct([table], np.zeros(rows, dtype=np.int64)), names
    if rows * np.log2(letters) > 40 or len(table) != letters**rows:
        whole_database = f" or {letters}^{rows} rows (one table for the whole database)" if rows > 1 else ""
        raise InvalidInput("letters",
                           f"there are {counted(letters, 'letter')}, but the table has {counted(len(table), 'row')}",
                           f"the table must have {letters} rows (one table for each row){whole_database}")
    return Channel(table, letters, rows), names


def _response(document: Mapping[str, Any], rows: int) -> tuple[FiniteChannel, tuple[str, ...]]:
    response = document["response"]
    named = response.get("design", "truth") if isinstance(response, dict) else "truth"
    name = one_of("response.design", named, tuple(_DESIGNS))
    _known("response", response, ("design", "letters", *_DESIGNS[name]))
    if "letters" in document:
        raise InvalidInput("letters", "stands outside of response", "move it into response")
    for key in ("letters", *_DESIGNS[name]):
        if key not in response and key != "otherwise":
            raise InvalidInput(f"response.{key}", "is missing")
    m, names = _letters("response.letters", response["letters"])
    design = {"truth": _truth, "warner": _warner, "forced": _forced, "unrelated": _unrelated}[name]
    return RowProduct([design(response, m)], np.zeros(rows, dtype=np.int64)), names


def _truth(response: Mapping[str, Any], m: int) -> NDArray[np.float64]:
    otherwise = one_of("response.otherwise", response.get("otherwise", "another"), ("another", "any"))
    truth = _probability("truth", response)
    kept = truth if otherwise == "another" else truth + (1.0 - truth) / m
    table = np.full((m, m), (1.0 - kept) / (m - 1))
    np.fill_diagonal(table, kept)
    return table


def _warner(response: Mapping[str, Any], m: int) -> NDArray[np.float64]:
    if m != 2:
        raise InvalidInput("response.letters", f"{m} letters", "must be two: a statement is true or not")
    p = _probability("statement", response)
    return np.array([[p, 1.0 - p], [1.0 - p, p]])


def _forced(response: Mapping[str, Any], m: int) -> NDArray[np.float64]:
    forced = _numbers("response.forced", response["forced"])
    if forced.shape != (m,) or not (forced >= 0).all():
        raise InvalidInput("response.forced", counted(forced.size, "number") if forced.size != m else
                           "is not a list of probabilities",
                           f"must be {m} numbers >= 0, one for each letter")
    if not forced.sum() <= 1.0 + 1e-9:
        raise InvalidInput("response.forced", f"sums to {forced.sum():.10g}",
                           "must sum to at most 1, since the rest is the probability of the truth")
    return forced + max(0.0, 1.0 - float(forced.sum())) * np.eye(m)


def _unrelated(response: Mapping[str, Any], m: int) -> NDArray[np.float64]:
    p = _probability("sensitive", response)
    law = as_law("response.unrelated", _numbers("response.unrelated", response["unrelated"]))
    if law.size != m:
        raise InvalidInput("response.unrelated", counted(law.size, "share"), f"must be {m}, one for each letter")
    return p * np.eye(m) + (1.0 - p) * law


def _probability(key: str, response: Mapping[str, Any]) -> float:
    value = response[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"response.{key}", f"{value!r} is not a probability", "must be in [0, 1]")
    return float(value)


def _alike(prior: Mapping[str, Any], m: int, rows: int) -> Exchangeable:
    """An exchangeable prior: its probabilities stay the same if rows change places."""
    _known("prior", prior, ("mixture", "counts"))
    if len(prior) != 1:
        raise InvalidInput("prior", "give either a mixture or counts, not both")
    if "counts" in prior:
        law = as_law("prior.counts", _numbers("prior.counts", prior["counts"]))
        if m != 2 or law.size != rows + 1:
            raise InvalidInput("prior.counts",
                               f"{counted(law.size, 'probability', 'probabilities')} for {counted(rows, 'row')} over "
                               f"{m} letters",
                               "must have one entry more than the number of rows, over two letters")
        return Exchangeable.of_counts(law)
    parts = prior["mixture"]
    _known("prior.mixture", parts, ("weights", "laws"))
    for key in ("weights", "laws"):
        if key not in parts:
            raise InvalidInput(f"prior.mixture.{key}", "is missing")
    weights = as_law("prior.mixture.weights", _numbers("prior.mixture.weights", parts["weights"]))
    laws = np.atleast_2d(_numbers("prior.mixture.laws", parts["laws"]))
    if laws.shape != (weights.size, m):
        raise InvalidInput("prior.mixture.laws", f"shape {laws.shape}",
                           f"must have shape ({weights.size}, {m}), with a law for each weight over all letters")
    return Exchangeable.mixture(weights, [as_law("prior.mixture.laws", law) for law in laws], rows)


def _letters(field: str, value: Any) -> tuple[int, tuple[str, ...]]:
    names: tuple[str, ...] = ()
    if isinstance(value, list):
        if not all(isinstance(each, str) and each for each in value) or len(set(value)) != len(value):
            raise InvalidInput(field, "names must be different texts")
        names, value = tuple(value), len(value)
    m = whole(field, value, at_least=2)
    if m > _MOST:
        raise InvalidInput(field, f"{m} is too large", f"must be at most {_MOST}")
    return m, names


def _numbers(field: str, value: Any) -> NDArray[np.float64]:
    """A list of numbers, or a list of such lists of equal length. Texts and booleans do not count as numbers."""

    def plain(part: Any) -> bool:
        return isinstance(part, int | float) and not isinstance(part, bool)

    if not isinstance(value, list) or not all(
            plain(part) or (isinstance(part, list) and all(plain(each) for each in part)) for part in value):
        raise InvalidInput(field, "is not a list of numbers", "must be a list, or a list of lists")
    try:
        return np.array(value, dtype=np.float64)
    except (ValueError, OverflowError):
        raise InvalidInput(field, "its rows have different lengths, or a number is too large for a 64-bit "
                                  "float") from None


def _known(where: str, document: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(document, dict):
        raise InvalidInput(where or "file", "is not a JSON object", f"known keys: {', '.join(keys)}")
    for key in document:
        if key not in keys:
            field = f"{where}.{key}" if where else str(key)
            raise InvalidInput(field, "is not a known key", did_you_mean(key, keys, f"known: {', '.join(keys)}"))

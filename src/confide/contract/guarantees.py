"""Guarantees as typed values: each guarantee states a promise, the people concerned, the proof, and whether the promise
is vacuous.

A mechanism's `guarantees()` returns a `Guarantees` collection, computed from public parameters alone. Every guarantee
names its source. A guarantee is marked `vacuous` if, at the sizes of the campaign, the guarantee says nothing that was
not known before.

A promise is always printed in full, by one rule for every campaign kind, page and JSON output: its sentence, its
failure probability, its condition and its note. A reader of the sentence alone might read more into the promise than is
promised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Protocol, TypeVar, runtime_checkable

from confide.contract.presentation import Shown, Table, Text
from confide.contract.renamed import renamed
from confide.contract.wire import declared, parts_of, wire, wire_parts, wire_types
from confide.contract.worded import worded
from confide.contract.words import as_sentence, json_ready

__all__ = [
    "GUARANTEES",
    "Accuracy",
    "Audience",
    "Budget",
    "Guarantee",
    "Guarantees",
    "Participation",
    "Privacy",
    "PrivacyLoss",
    "Relation",
    "Sentence",
    "Source",
    "Truthfulness",
    "in_full",
    "promises_json",
    "promises_table",
    "says_something",
    "sentences_of",
    "stated",
]


class Relation(StrEnum):
    """The neighbouring relation: the difference between two data sets that the output must hide.

    Files use longer words for relations, such as "one record replaced", which stay readable for ever.

    Example:
        >>> Relation("replace").words, Relation("one record replaced").value
        ('one record replaced', 'replace')
    """

    REPLACE = "replace"
    ADD_OR_REMOVE = "add_or_remove"
    EDGES_OF_ONE = "edges_of_one"
    BIT = "bit"

    RECORD_REPLACED = "replace"  # this name and the two below it go with confide 1.0.0
    RECORD_ADDED_OR_REMOVED = "add_or_remove"
    VERTEX_REWIRED = "edges_of_one"

    @property
    def words(self) -> str:
        """The change that leads from one data set to a neighbour, in words."""
        return _CHANGES[self.value]

    @property
    def wire_word(self) -> str:
        """The word for the relation in files."""
        return self.words

    @classmethod
    def _missing_(cls, value: object) -> Relation | None:
        return next((each for each in cls if each.words == value), None)


_CHANGES = {
    "replace": "one record replaced",
    "add_or_remove": "one record added or removed",
    "edges_of_one": "one protected vertex rewired",
    "bit": "one bit",
}

_STEPS = {
    Relation.REPLACE: "one record is replaced",
    Relation.ADD_OR_REMOVE: "one record is added or removed",
    Relation.EDGES_OF_ONE: "one protected person's contacts change",
    Relation.BIT: "one bit changes",
}


class Audience(StrEnum):
    """The people who see an output, and towards whom a privacy promise is made."""

    PUBLIC = "public"
    """everybody, who sees the published output: central differential privacy"""
    OTHERS = "others"
    """all other participants and the public together, for each participant: joint differential privacy"""
    COLLECTOR = "collector"
    """the receiver of the participants' reports: local differential privacy"""
    FELLOWS = "fellows"
    """other participants, who know their own noise or random bits"""

    @property
    def sees(self) -> frozenset[Audience]:
        """The audiences that see no more than this audience, this audience included. A privacy promise towards an
        audience also holds towards each of these audiences.

        Example:
            >>> sorted(Audience.OTHERS.sees), Audience.OTHERS in Audience.PUBLIC.sees
            ([<Audience.OTHERS: 'others'>, <Audience.PUBLIC: 'public'>], False)
        """
        if self is Audience.COLLECTOR:  # the receiver of the report sees all that is made of it
            return frozenset(Audience)
        return frozenset((self, Audience.PUBLIC))  # and everybody sees what is published


@runtime_checkable
class PrivacyLoss(Protocol):
    """A bound on how much the replacement of a data set by a neighbour changes the probability distribution of the
    output that an audience sees (`confide.privacy.losses`).
    """

    @property
    def vacuous(self) -> bool: ...

    def to_dict(self) -> dict[str, Any]: ...


@wire("Source", "document statement spec erratum")
@dataclass(frozen=True, kw_only=True)
class Source:
    """The publication and the statement that prove a guarantee.

    Args:
        document: author and year of the publication, or "confide" for a statement that confide proves.
        statement: number or name of the theorem, lemma, algorithm or equation.
        spec: section of confide's specification with a derivation of the statement; empty if there is none.
        erratum: the correction of the published statement, in a few words; empty if none is needed.
    """

    document: str
    statement: str
    spec: str = ""
    erratum: str = ""

    def __str__(self) -> str:
        text = f"{self.document}, {self.statement}"
        if self.erratum:
            text += f" (corrected: {self.erratum})"
        return text


_EVERY = "source failure_probability vacuous claimable note condition"
"""Wire names of the fields that every guarantee has."""

_ABSENT = {"condition": ""}
"""Values of fields that evidence packs from older versions lack: packs written before conditions existed have no
condition.
"""


@wire("guarantee", _EVERY, absent=_ABSENT)
@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The fields that every guarantee has.

    Args:
        source: the publication and the statement that prove the guarantee.
        failure_probability: the probability that the guarantee fails, over the random draws of the mechanism and, where
            the guarantee assumes random data, over the data; 0 if the guarantee always holds.
        vacuous: True if the guarantee says nothing at the sizes of the campaign, such as the number of people.
        claimable: False for a published claim that is false, which is kept for comparison only.
        note: one sentence about the scope of the guarantee.
        condition: the event under which the guarantee holds, if nobody can know before the run whether the event
            occurs; otherwise empty. Such a guarantee does not help a participant to decide about taking part. Facts
            that participants know do not belong in the condition.
    """

    source: Source
    failure_probability: float = 0.0
    vacuous: bool = False
    claimable: bool = True
    note: str = ""
    condition: str = ""

    @property
    def name(self) -> str:
        """The name of this type of guarantee in files and messages. A subclass without a declared name has the name of
        its base class.
        """
        return declared(type(self)).name

    def __post_init__(self) -> None:
        if not self.failure_probability < 1.0 or self._says_nothing():
            object.__setattr__(self, "vacuous", True)

    def _says_nothing(self) -> bool:
        """Whether the promised values are no better than knowing nothing; True for values that are not numbers."""
        return False

    def sentence(self) -> str:
        """The promise in one sentence."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The whole promise: its sentence, its failure probability, its condition and its note."""
        return in_full(self)

    def _repr_html_(self) -> str:
        return Text((str(self),)).to_html()

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary. Infinity becomes the string "Infinity", and not-a-number becomes "NaN"."""
        return {"guarantee": self.name, "sentence": self.sentence(),
                **{name: _plain(part) for name, part in parts_of(self).items()}}

    def to_wire(self) -> dict[str, Any]:
        """The dictionary of `to_dict`, under the wire names that evidence packs keep for ever
        (`confide.contract.wire`).
        """
        tag = declared(type(self))._replace(name=self.name).tag
        return {"guarantee": tag, "sentence": self.sentence(),
                **{word: _plain(part) for word, part in wire_parts(self).items()}}


def _plain(part: Any) -> Any:
    if isinstance(part, Enum):
        return part.value
    if isinstance(part, Source):
        return wire_parts(part)
    if isinstance(part, PrivacyLoss):
        return part.to_dict()
    return json_ready(part)


_ALL_OF_IT = {
    Audience.PUBLIC: ("the billboard", "the released list", "one record"),
    Audience.OTHERS: ("the billboard and everybody else's payments",),
    Audience.COLLECTOR: ("one report", "one record"),
    Audience.FELLOWS: ("one record",),
}
"""Other words that promises use for everything that an audience sees."""


@renamed(unit="neighbours")
@wire("privacy", f"{_EVERY} loss unit audience part", absent=_ABSENT, neighbours="unit")
@dataclass(frozen=True, kw_only=True)
class Privacy(Guarantee):
    """A promise that the distribution of the output that `audience` sees changes by at most `loss` between two
    neighbouring data sets.

    Without `part` the promise is about the whole outcome. A promise about one part bounds only the loss from this part.
    The loss from all parts together may be the sum of their losses.
    """

    loss: PrivacyLoss
    neighbours: Relation
    audience: Audience
    part: str = "the whole outcome"

    @property
    def whole(self) -> bool:
        """Whether the promise covers everything that its audience sees. Several texts in `part` stand for the whole
        outcome.

        Example:
            >>> from dataclasses import replace
            >>> from confide.privacy import PureDP
            >>> it = Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.OTHERS, part="the billboard",
            ...              source=Source(document="a", statement="b"))
            >>> it.whole, replace(it, audience=Audience.PUBLIC).whole  # others see payments besides
            (False, True)
        """
        return self.part in (Privacy.part, *_ALL_OF_IT[self.audience])

    def _says_nothing(self) -> bool:
        return self.loss.vacuous

    def sentence(self) -> str:
        kind = {
            Audience.PUBLIC: "differential privacy towards the public",
            Audience.OTHERS: "joint differential privacy towards everybody else together",
            Audience.COLLECTOR: "local differential privacy towards the collector",
            Audience.FELLOWS: "differential privacy towards fellow participants",
        }[self.audience]
        if self.loss.vacuous:
            return f"no {kind} for {self.part}"
        return f"{self.loss}: {kind} for {self.part}, when {_STEPS[self.neighbours]}"


@renamed(trivial="baseline")
@wire("accuracy", f"{_EVERY} bound measure trivial", absent=_ABSENT, baseline="trivial")
@dataclass(frozen=True, kw_only=True)
class Accuracy(Guarantee):
    """A promise that the error named by `measure` is at most `bound`. An answer given without any data already has an
    error of at most `baseline`.
    """

    bound: float
    measure: str
    baseline: float = math.inf

    def _says_nothing(self) -> bool:
        return not self.bound < self.baseline

    def sentence(self) -> str:
        return f"{self.measure} is at most {self.bound:.4g}"


@renamed(trivial="baseline", radius_trivial="baseline_radius")
@wire("truthfulness", f"{_EVERY} gain trivial who radius radius_trivial unit_of_gain", absent=_ABSENT,
      baseline="trivial", baseline_radius="radius_trivial")
@dataclass(frozen=True, kw_only=True)
class Truthfulness(Guarantee):
    """A promise that no misreport gains more than `gain`. A lie that changes the argument of the scoring rule, such as
    the liar's prediction, by more than `radius` cannot pay.

    Args:
        gain: largest advantage of any lie, in `unit_of_gain` if it is given, and otherwise in the unit of the payments.
        baseline: the largest amount that could be at stake for the liar. A `gain` of at least `baseline` promises
            nothing.
        radius: the largest change of the argument of the scoring rule for which a lie may still pay; nan if not
            applicable.
        baseline_radius: the width of the range of this argument; a `radius` of at least `baseline_radius` promises
            nothing.
        who: the participants for whom the promise holds, in words.
    """

    gain: float
    baseline: float
    who: str
    radius: float = math.nan
    baseline_radius: float = math.nan
    unit_of_gain: str = ""

    def _says_nothing(self) -> bool:
        return not self.gain < self.baseline or self.radius >= self.baseline_radius

    def sentence(self) -> str:
        text = f"no lie gains more than {self.gain:.4g}{' ' + self.unit_of_gain if self.unit_of_gain else ''}"
        if not math.isnan(self.radius):
            text += f", and no lie that moves the liar's prediction by more than {self.radius:.4g} can pay"
        return f"{text}, for {self.who}"


@wire("participation", f"{_EVERY} utility who of", absent=_ABSENT)
@dataclass(frozen=True, kw_only=True)
class Participation(Guarantee):
    """A promise that truthful participation has an expected utility of at least `utility`. With a `utility` below 0 the
    promise says nothing.

    Args:
        utility: lower bound on the expected utility.
        who: the participants for whom the promise holds, in words.
        of: the meaning of the utility, in words. The default describes the utility of people who sell data. For buyers
            the utility is the value of the goods minus the price.
    """

    utility: float
    who: str
    of: str = "expected payment less privacy cost"

    def _says_nothing(self) -> bool:
        return not self.utility >= 0

    def sentence(self) -> str:
        return f"{self.of} is at least {self.utility:.4g}, for {self.who}"


@wire("budget", f"{_EVERY} expected lowest highest currency", absent=_ABSENT)
@dataclass(frozen=True, kw_only=True)
class Budget(Guarantee):
    """A promise that the expected total paid is at most `expected`, and that each single payment lies in [`lowest`,
    `highest`].

    Args:
        expected: upper bound on the expected total of all payments.
        lowest: smallest possible payment to one participant; negative if a deposit is needed.
        highest: largest possible payment to one participant.
        currency: the unit of the three amounts.
    """

    expected: float
    lowest: float
    highest: float
    currency: str = ""

    def _says_nothing(self) -> bool:
        return not self.expected < math.inf

    def sentence(self) -> str:
        unit = f" {self.currency}" if self.currency else ""
        return (
            f"the expected total is at most {_cents(self.expected, math.ceil):,.2f}{unit}, each payment between "
            f"{_cents(self.lowest, math.floor):.2f} and {_cents(self.highest, math.ceil):.2f}{unit}"
        )


def _cents(amount: float, rounded: Callable[[float], int]) -> float:
    """A bound with two decimal places, rounded to the safe side, so that the words promise no more than the number."""
    return rounded(amount * 100) / 100 if math.isfinite(amount) else amount


GUARANTEES = wire_types(Accuracy, Budget, Participation, Privacy, Truthfulness)
"""Mapping from the name in files (wire name) to the type, for all guarantees that a manifest may hold."""

_Kind = TypeVar("_Kind", bound=Guarantee)


@dataclass(frozen=True)
class Guarantees(Shown):
    """All guarantees of one mechanism, in the order in which they are shown. The printed collection has one complete
    promise on each line.

    Example:
        >>> mine = Source(document="confide", statement="a sketch")
        >>> Guarantees((Budget(expected=5.0, lowest=0.0, highest=1.0, source=mine),
        ...             Accuracy(bound=2.0, baseline=1.0, measure="the error", source=mine)))
        Budget: The expected total is at most 5.00, each payment between 0.00 and 1.00.
        Accuracy: The error is at most 2. The promise says nothing at these sizes.
    """

    items: tuple[Guarantee, ...] = field(default_factory=tuple)

    def __iter__(self) -> Iterator[Guarantee]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def of(self, kind: type[_Kind], *, claimable: bool = True) -> tuple[_Kind, ...]:
        """All guarantees of one type. Published claims that are false are included only with `claimable=False`."""
        return tuple(g for g in self.items if isinstance(g, kind) and g.claimable is claimable)

    def _blocks(self) -> Sequence[Text | Table]:
        said = tuple(f"{each.name.capitalize()}: {each}" for each in self.items)
        return (Text(said or ("Nothing is promised.",)),)

    def _repr_html_(self) -> str:
        return promises_table(self.items).to_html() if self.items else super()._repr_html_()

    @property
    def privacy(self) -> tuple[Privacy, ...]:
        """The privacy guarantees that can be claimed."""
        return tuple(g for g in self.items if isinstance(g, Privacy) and g.claimable)

    def to_dict(self) -> list[dict[str, Any]]:
        """A JSON-ready list with a dictionary for each promise."""
        return [g.to_dict() for g in self.items]

    def to_wire(self) -> list[dict[str, Any]]:
        """The same list as `to_dict`, but with the wire names that evidence packs keep for ever."""
        return [g.to_wire() for g in self.items]


# ---- promises printed whole: the sentence alone may be read as more than is promised


Sentence = Callable[[Any], str]
"""Function that returns the sentence of a promise, without a full stop. Campaign kinds with their own units have their
own function.
"""


def _own_words(promise: Guarantee) -> str:
    return promise.sentence()


def in_full(promise: Guarantee, sentence: Sentence = _own_words) -> str:
    """A complete promise in whole sentences, with its failure probability, its condition and its note.

    Args:
        promise: the promise of a mechanism.
        sentence: function that returns the sentence of the promise; by default the sentence of its class.

    Example:
        >>> print(in_full(Truthfulness(gain=0.25, baseline=1.0, who="every bidder", condition="the bidder is served",
        ...                            note="in the mean", source=Source(document="a", statement="b"))))
        No lie gains more than 0.25, for every bidder. Condition: the bidder is served. Nobody can know this \
before the run, so the promise does not help a participant to decide. Note: in the mean.
    """
    return " ".join(sentences_of(promise, sentence))


def sentences_of(promise: Guarantee, sentence: Sentence = _own_words) -> tuple[str, ...]:
    """The sentences of a complete promise, in order. The sentences can be translated (`worded`), unless a campaign kind
    has its own function `sentence`.

    Args:
        promise: the promise of a mechanism.
        sentence: function that returns the sentence of the promise; by default the sentence of its class.
    """
    said = as_sentence(sentence(promise).rstrip("."))
    if promise.failure_probability:
        said = worded("%(promise)s, except with probability %(failure)s.", promise=said[:-1],
                      failure=f"{promise.failure_probability:g}")
    parts = [said]
    if not promise.claimable:
        parts.append(worded("The source claims this, and the claim is false."))
    elif promise.vacuous:
        parts.append(worded("The promise says nothing at these sizes."))
    if promise.condition:
        parts.append(worded("Condition: %(condition)s.", condition=promise.condition.rstrip(".")))
        parts.append(worded("Nobody can know this before the run, so the promise does not help a participant to "
                            "decide."))
    if promise.note:
        parts.append(worded("Note: %(note)s.", note=promise.note.rstrip(".")))
    return tuple(parts)


def says_something(promise: Guarantee) -> str:
    """Text of a table cell on whether a promise says something: "yes", or "no" with the reason.

    Args:
        promise: the promise of a mechanism.
    """
    if not promise.claimable:
        return "no: the claim in the source is false"
    if promise.vacuous:
        return "no: vacuous at these sizes"
    return "no for participants: they cannot know its condition before the run" if promise.condition else "yes"


def promises_table(
    promises: Iterable[Guarantee], note: str = "", *, sentence: Sentence = _own_words,
    says: Callable[[Guarantee], str] = says_something,
) -> Table:
    """A table of all promises with their conditions and notes, sources, failure probabilities, and whether they say
    something.

    Args:
        promises: the promises of a mechanism, in reading order.
        note: a sentence below the table that holds for all promises.
        sentence: function that returns the sentence of a promise; by default the sentence of its class.
        says: function that returns the text of the cell on whether a promise says something.
    """
    rows = tuple((sentence(each), _beside(each), str(each.source), each.failure_probability, says(each))
                 for each in promises)
    return Table(columns=("promise", "condition and note", "source", "may fail with probability", "says something"),
                 rows=rows, note=note)


def _beside(promise: Guarantee) -> str:
    """The condition and the note of a promise, in one table cell."""
    condition = f"only if {promise.condition}" if promise.condition else ""
    return "; ".join(filter(None, (condition, promise.note)))


def stated(promises: Iterable[Guarantee], sentence: Sentence = _own_words) -> tuple[str, ...]:
    """The promises that can be claimed and are not vacuous, one paragraph each.

    Args:
        promises: the promises of a mechanism.
        sentence: function that returns the sentence of a promise; by default the sentence of its class.
    """
    return tuple(in_full(each, sentence) for each in promises if each.claimable and not each.vacuous)


def promises_json(promises: Iterable[Guarantee]) -> list[dict[str, Any]]:
    """Every promise as a JSON-ready dictionary with its fields, its complete text, and whether it is vacuous.

    Args:
        promises: the promises of a mechanism.
    """
    return [{**each.to_dict(), "in_full": in_full(each), "says": says_something(each)} for each in promises]

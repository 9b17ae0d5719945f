"""What is written has names of its own: declared, checked when a class is made, with a version."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

from confide.audit.faulty_noise import inject_fault
from confide.contract import Guarantee, InvalidInput, Privacy, Relation, Source, canonical
from confide.contract.encoding import decode, encode
from confide.contract.guarantees import Audience
from confide.contract.upgrades import UPGRADES, upgraded
from confide.contract.wire import from_parts, named, wire, wire_name, wire_of, wire_parts, wire_types
from confide.privacy import PureDP
from confide.privacy.events import EVENTS, Composed, Event, PureEvent, Repeated


@wire("Coin", "sides beta")
@dataclass(frozen=True, kw_only=True)
class Coin:
    sides: int
    beta: float = 0.5


@wire("Coin", "sides beta", failure_probability="beta", faces="sides")
@dataclass(frozen=True, kw_only=True)
class Token:
    """A coin under other names."""

    faces: int
    failure_probability: float = 0.5
    worked_out: int = field(init=False, default=7)


@wire("Purse", "coins owner", absent={"owner": "nobody"})
@dataclass(frozen=True, eq=False)
class Purse:
    coins: tuple[Any, ...]
    owner: str = "somebody"


@dataclass(frozen=True)
class Plain:
    number: int
    word: str = ""


def written(value: Any) -> Any:
    return json.loads(canonical(encode(value, {})))


# ---- declared names


def test_a_class_that_was_renamed_is_written_and_read_as_before() -> None:
    assert written(Token(faces=2)) == written(Coin(sides=2)) == {"type": "Coin", "sides": 2, "beta": 0.5}
    back = decode({"type": "Coin", "sides": 2, "beta": 1}, wire_types(Token), {})
    assert back == Token(faces=2, failure_probability=1.0)
    assert type(back.failure_probability) is float  # as it is declared
    assert from_parts(Token, wire_parts(Coin(sides=3))) == Token(faces=3)


def test_a_younger_field_is_left_out_where_it_says_what_its_absence_does() -> None:
    assert written(Purse((), "nobody")) == {"type": "Purse", "coins": []}
    assert written(Purse(())) == {"type": "Purse", "coins": [], "owner": "somebody"}
    assert decode(written(Purse((), "nobody")), wire_types(Purse), {}).owner == "nobody"


def test_a_class_that_declares_nothing_is_written_as_it_is_called() -> None:
    assert written(Plain(3)) == {"type": "Plain", "number": 3, "word": ""}
    assert decode({"type": "Plain", "number": 3}, {"Plain": Plain}, {}) == Plain(3)
    assert wire_name(Plain(3)) == "Plain"
    assert wire_name(0.5) == "float"


def test_inherited_fields_keep_their_names_where_a_class_below_declares_nothing() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Loaded(Token):
        weight: float

    assert written(Loaded(faces=2, weight=0.5)) == {"type": "Loaded", "sides": 2, "beta": 0.5, "weight": 0.5}

    @dataclass(frozen=True, eq=False)
    class Pocket(Purse):
        deep: bool = True

    assert written(Pocket((), "nobody")) == {"type": "Pocket", "coins": [], "deep": True}

    @dataclass(frozen=True, kw_only=True)
    class Twice(Token):
        beta: int = 0

    with pytest.raises(TypeError, match=r"two fields of .*Twice would be written under one name"):
        encode(Twice(faces=1), {})


def test_what_is_broken_on_purpose_is_not_written_as_what_is_sound() -> None:
    class Forged:
        pass

    twin = inject_fault(Token(faces=2), Forged)
    assert written(twin)["type"] == "Forged"
    with pytest.raises(InvalidInput, match="'Forged' is not a type of this kind"):
        decode(written(twin), wire_types(Token), {})


def test_promises_and_events_are_written_by_declared_names() -> None:
    one = PureEvent(epsilon=1.0, neighbours=Relation.BIT, label="a")
    assert Repeated(event=one, count=2, neighbours=Relation.BIT).to_dict() == {
        "event": "Repeated", "neighbours": "one bit", "label": "", "count": 2, "of": {
            "event": "PureEvent", "neighbours": "one bit", "label": "a", "epsilon": 1.0}}
    assert Composed(events=(one, one), neighbours=Relation.BIT).to_dict()["of"] == [one.to_dict()] * 2

    promise: dict[str, Any] = {"loss": PureDP(1.0), "neighbours": Relation.BIT, "audience": Audience.PUBLIC,
                               "source": Source(document="d", statement="s")}

    class Whispered(Privacy):
        """Of a third party, who declares nothing."""

    class Fair(Guarantee):
        name: ClassVar[str] = "fairness"

        def sentence(self) -> str:
            return "fair"

    assert Whispered(**promise).to_dict() == Privacy(**promise).to_dict()
    assert "condition" not in Privacy(**promise).to_dict()
    assert Privacy(**promise, condition="c").to_dict()["condition"] == "c"
    assert Fair(source=promise["source"]).to_dict()["guarantee"] == "fairness"


# ---- declarations that do not fit


def declared(*said: Any, **more: Any) -> type:
    @dataclass(frozen=True)
    class Bet:
        people: int
        beta: float
        inner: int = field(init=False, default=0)

    found: type = wire(*said, **more)(Bet)
    return found


@pytest.mark.parametrize(("said", "more", "message"), [
    (("Bet", "people gamma"), {},
     r"the field 'beta' has no wire name\. If it was renamed, write beta=\"gamma\" in the declaration; if it is new, "),
    (("Bet", "people"), {}, r"the field 'beta' has no wire name\. If it was renamed, write beta=\"its former name\""),
    (("Bet", "people gamma"), {"beta": "delta"}, "the field 'beta' has no wire name"),
    (("Bet", "people beta more"), {}, "no field is written as 'more'. If that field is gone, take it from the list, "
                                      "raise the version"),
    (("Bet", "people beta"), {"failure": "beta"}, "failure is not a field"),
    (("Bet", "people"), {"beta": "people"}, "two fields have one wire name"),
    (("Bet", "people beta beta"), {}, "two fields have one wire name"),
    (("Bet", "people beta inner"), {}, "no field is written as 'inner'"),
    (("Bet", "people beta"), {"absent": {"gamma": 0}}, "`absent` names gamma"),
    (("Bet/2", "people beta"), {}, "'Bet/2' of version 1 must be one word"),
    (("Bet", "people beta"), {"version": 0}, "'Bet' of version 0 must be"),
], ids=range(11))
def test_a_declaration_that_does_not_fit_is_reported_when_the_class_is_made(
    said: tuple[str, str], more: dict[str, Any], message: str
) -> None:
    assert wire_of(declared("Bet", "beta people")).fields == {"people": "people", "beta": "beta"}
    with pytest.raises(TypeError, match=f"@wire of .*Bet: {message}"):
        declared(*said, **more)


def test_a_declaration_stands_above_a_dataclass() -> None:
    with pytest.raises(TypeError, match="dataclass"):
        wire("Bare", "")(type("Bare", (), {}))


def test_two_types_of_one_name_are_no_table() -> None:
    assert wire_types(Coin, Purse, Plain) == {"Coin": Coin, "Purse": Purse, "Plain": Plain}
    with pytest.raises(TypeError, match="two of these types have one wire name"):
        wire_types(Coin, Token)


# ---- what a stranger's file may say


@pytest.mark.parametrize(("document", "message"), [
    ({"type": "Dime", "sides": 2}, "type: 'Dime' is not a type of this kind; known: Coin"),
    ({"type": "Token", "faces": 2}, "type: 'Token' is not a type of this kind; known: Coin"),
    ({"type": 7, "sides": 2}, "type: 7 is not a type of this kind"),
    ({"type": "Coin/1", "sides": 2}, "type: 'Coin/1' is not a type of this kind"),
    ({"type": "Coin", "faces": 2}, "type: Coin cannot be rebuilt: 'faces' is not one of its fields; its fields are "
                                   "sides, beta$"),
    ({"type": "Coin", "sides": 2, "worked_out": 1}, "type: Coin cannot be rebuilt: "
                                                    "'worked_out' is not one of its fields"),
    ({"type": "Coin", "beta": 0.5}, "type: Coin cannot be rebuilt: missing fields: sides"),
    ({"type": "Coin", "sides": "two"}, "sides: is of type str, which this field of Coin does not accept"),
    ({"type": "Coin", "sides": 2, "beta": {"type": "Coin", "sides": 1}},
     "beta: is of type Coin, which this field of Coin does not accept"),
    ({"type": "Coin/2", "sides": 2}, "type: 'Coin' was written in version 2, by a newer confide; this confide knows "
                                     "versions up to 1: update confide"),
    ({"type": "Coin/1000000000000", "sides": 2}, "is not a type of this kind"),
], ids=range(11))
def test_errors_name_what_is_written(document: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        decode(document, wire_types(Token), {})


def test_tags_of_versions() -> None:
    assert [named(tag) for tag in ("A", "A/2", "A/10", "A/1", "A/02", "A/b", "/2", "A/2/3")] == [
        ("A", 1), ("A", 2), ("A", 10), ("A/1", 1), ("A/02", 1), ("A/b", 1), ("/2", 1), ("A/2", 3)]


# ---- versions


@wire("Auction", "people reserve rule", version=3)
@dataclass(frozen=True, kw_only=True)
class Auction:
    people: int
    reserve: float
    rule: Any


@wire("Rule", "share", version=2)
@dataclass(frozen=True, kw_only=True)
class Rule:
    share: float


@pytest.fixture
def _steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first auction held percents back; the second had a rule for that, without a reserve; a rule had percents."""
    monkeypatch.setitem(UPGRADES, ("Auction", 1), lambda it: {
        "people": it["n"], "rule": {"type": "Rule", "percent": it["held_back"]}})
    monkeypatch.setitem(UPGRADES, ("Auction", 2), lambda it: {**it, "reserve": it["people"] / 4})
    monkeypatch.setitem(UPGRADES, ("Rule", 1), lambda it: {"share": it["percent"] / 100})


TYPES = wire_types(Auction, Rule)
NEWEST = Auction(people=8, reserve=2.0, rule=Rule(share=0.25))


@pytest.mark.usefixtures("_steps")
@pytest.mark.parametrize("document", [
    {"type": "Auction", "n": 8, "held_back": 25},
    {"type": "Auction/2", "people": 8, "rule": {"type": "Rule", "percent": 25}},
    {"type": "Auction/2", "people": 8, "rule": {"type": "Rule/2", "share": 0.25}},
    {"type": "Auction/3", "people": 8, "reserve": 2, "rule": {"type": "Rule", "percent": 25}},
    {"type": "Auction/3", "people": 8, "reserve": 2, "rule": {"type": "Rule/2", "share": 0.25}},
], ids=range(5))
def test_older_versions_are_upgraded_step_by_step(document: dict[str, Any]) -> None:
    before = json.dumps(document)
    assert decode(document, TYPES, {}) == NEWEST
    assert decode([document, {"a": document}], TYPES, {}) == (NEWEST, {"a": NEWEST})
    assert canonical(upgraded([document, 1], TYPES, "type")) == canonical([encode(NEWEST, {}), 1])
    assert json.dumps(document) == before


def test_a_later_version_is_written_with_its_number() -> None:
    assert written(NEWEST) == {"type": "Auction/3", "people": 8, "reserve": 2, "rule": {"type": "Rule/2",
                                                                                       "share": 0.25}}
    assert decode(written(NEWEST), TYPES, {}) == NEWEST


@pytest.mark.parametrize(("document", "message"), [
    ({"type": "Auction/4", "people": 8}, r"'Auction' was written in version 4, by a newer "
                                                r"confide; .* up to 3: update confide"),
    ({"type": "Auction", "n": 8, "held_back": {"type": "Rule/3"}},
     r"'Rule' was written in version 3, .* up to 2: update confide"),
], ids=["outer", "inner"])
@pytest.mark.usefixtures("_steps")
def test_a_newer_version_is_refused(document: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UPGRADES, ("Auction", 1), lambda it: {"people": it["n"], "rule": it["held_back"]})
    with pytest.raises(InvalidInput, match=message):
        decode(document, TYPES, {})
    with pytest.raises(InvalidInput, match=message):
        upgraded([document], TYPES, "type")


def test_what_is_of_no_known_type_stays_as_it_is() -> None:
    document = [{"event": "TheirEvent", "epsilon": 1.0}, {"event": 7}, {"loss": {"loss": "PureDP", "epsilon": 1.0}}]
    assert upgraded(document, EVENTS, "event") == document
    with pytest.raises(InvalidInput, match="event: 'PureEvent' was written in version 2"):
        upgraded([*document, {"event": "Repeated", "of": {"event": "PureEvent/2"}}], EVENTS, "event")
    assert issubclass(EVENTS["PureEvent"], Event)


def test_arrays_go_the_same_way() -> None:
    columns: dict[str, bytes] = {}
    document = encode(Purse((np.arange(3.0), Token(faces=2))), columns)
    back = decode(json.loads(canonical(document)), wire_types(Purse, Token), columns)
    assert back.coins[0].tolist() == [0.0, 1.0, 2.0]
    assert back.coins[1] == Token(faces=2)

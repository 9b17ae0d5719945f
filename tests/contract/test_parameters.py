"""Parameters that are declared once: what the constructor, the docstring and the campaign file make of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
import pytest

from confide.contract import Declared, InvalidInput, Keys, Parameter, keys_of
from confide.contract.encoding import decode, encode
from confide.contract.parameters import parameters
from confide.contract.wire import from_parts, wire, wire_parts


@wire("Market", "people supply law failure charge tags", failure_probability="failure",
      words={"law": {"gauss": "gaussian"}})
@dataclass(frozen=True, kw_only=True)
class Market(Declared):
    """A market of this test.

    Args:
        tags: written by hand.

    Raises:
        InvalidInput: out of range.
    """

    people: Annotated[int, Parameter("public slots", symbol="n", at_least=1, at_most=100)]
    supply: Annotated[int | tuple[int, ...], Parameter("copies of each good", at_least=1)] = 1
    law: Annotated[Literal["laplace", "gauss"], Parameter("law of the noise")] = "laplace"
    failure_probability: Annotated[float | None, Parameter("that it fails", above=0, below=1)] = None
    charge: Annotated[bool, Parameter("whether prices are charged")] = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Auction(Market):
    """A market with rounds."""

    supply: Annotated[int, Parameter("copies of the one good", at_least=2)] = 2
    rounds: Annotated[float, Parameter("seconds a round", unit="seconds", at_least=0, infinite=True)] = 1.0


FINE: dict[str, Any] = {"people": 3}


@dataclass(frozen=True, kw_only=True)
class Listed(Declared):
    """A list that may be left out."""

    places: Annotated[tuple[int, ...] | None, Parameter("places", at_least=0)] = None


@pytest.mark.parametrize(("places", "said"), [
    ("12", "places: '12' is not a sequence"), (3, "places: 3 is not a sequence"), ((1, -1), "places: -1 is too small"),
    (np.array([0.5]), "places: .*0.5.* is not a whole number")])
def test_a_list_that_may_be_left_out_is_a_list(places: Any, said: str) -> None:
    assert Listed(places=None).places is None
    assert Listed(places=np.array([0, 2])).places.tolist() == [0, 2]  # type: ignore[arg-type, union-attr]
    with pytest.raises(InvalidInput, match=said):
        Listed(places=places)


@pytest.mark.parametrize(("given", "said"), [
    ({"people": 0}, "people: 0 is too small; must be in [1, 100]"),
    ({"people": 101}, "people: 101 is too large; must be in [1, 100]"),
    ({"people": 2.5}, "people: 2.5 is not a whole number"),
    ({"people": True}, "people: True is not a whole number"),
    ({"supply": (2, 0)}, "supply: 0 is too small; must be at least 1"),
    ({"supply": "many"}, "supply: 'many' is not a whole number"),
    ({"law": "cauchy"}, "law: 'cauchy' is not known; must be one of laplace, gauss"),
    ({"failure_probability": 0.0}, "failure_probability: 0.0 is out of range; must be in (0, 1)"),
    ({"failure_probability": float("nan")}, "failure_probability: nan is not finite"),
    ({"failure_probability": "x"}, "failure_probability: 'x' is not a number"),
    ({"charge": 1}, "charge: 1 is neither true nor false"),
])
def test_a_constructor_names_the_field_the_value_and_the_limit(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Market(**{**FINE, **given})
    assert str(caught.value) == said


@pytest.mark.parametrize("given", [
    {"people": 100}, {"supply": [1, 2]}, {"failure_probability": Fraction(1, 3)},
    {"failure_probability": None}, {"charge": True}, {"law": "gauss"},
])
def test_values_within_the_range_are_kept_as_they_are(given: dict[str, Any]) -> None:
    made = Market(**{**FINE, **given})
    for name, value in given.items():
        assert getattr(made, name) is value


@dataclass(frozen=True, kw_only=True)
class Lists(Declared):
    """Numbers of which there may be many."""

    shares: Annotated[tuple[float, ...], Parameter("shares", at_least=0, at_most=1)] = (0.5,)
    pairs: Annotated[tuple[tuple[int, int], ...], Parameter("pairs", at_least=0)] = ((0, 1),)


@pytest.mark.parametrize(("given", "said"), [
    ({"shares": (0.5, 1.5, 0.5)}, "shares: 1.5 is out of range"), ({"shares": (0.5, -1.0)}, "shares: -1.0 is out of"),
    ({"shares": (0.5, float("nan"), 0.25)}, "shares: nan is not finite"), ({"shares": (0.5, True)}, "shares: True"),
    ({"shares": (float("inf"), 0.5)}, "shares: inf is not finite"), ({"shares": (0.5, "x")}, "shares: 'x' is not a"),
    ({"pairs": ((0, 1), (2, -1))}, "pairs: -1 is too small"), ({"pairs": ((0, 1), (2, 0.5))}, "pairs: 0.5 is not a"),
    ({"pairs": ((0, 1), 2)}, "pairs: 2 is not a sequence"), ({"pairs": "none"}, "pairs: 'none' is not a sequence"),
])
def test_every_number_of_many_is_checked(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Lists(**given)


def test_many_numbers_within_the_range_are_kept() -> None:
    made = Lists(shares=(0, 1, 0.5), pairs=((3, 4),) * 100)
    assert (made.shares, made.pairs) == ((0, 1, 0.5), ((3, 4),) * 100)
    assert Lists(shares=(), pairs=()).shares == ()


def test_a_subclass_narrows_what_it_declares_anew() -> None:
    assert list(parameters(Auction)) == ["people", "supply", "law", "failure_probability", "charge", "rounds"]
    with pytest.raises(InvalidInput, match="supply: 1 is too small"):
        Auction(people=3, supply=1)
    assert Auction(people=3, rounds=float("inf")).rounds == float("inf")
    with pytest.raises(InvalidInput, match="rounds: nan is not finite"):
        Auction(people=3, rounds=float("nan"))


def test_the_docstring_lists_what_is_declared_and_what_is_written_by_hand() -> None:
    assert Market.__doc__ == """A market of this test.

    Args:
        people: n, public slots; in [1, 100].
        supply: copies of each good; at least 1.
        law: law of the noise.
        failure_probability: that it fails; in (0, 1).
        charge: whether prices are charged.
        tags: written by hand.

    Raises:
        InvalidInput: out of range.
    """
    assert "rounds: seconds a round, in seconds; at least 0." in (Auction.__doc__ or "")
    assert Market(people=3).__doc__ == Market.__doc__


def test_a_name_for_type_checkers_alone_is_reported() -> None:
    @dataclass(frozen=True)
    class Unknown(Declared):
        """It names what is not there."""

        size: Annotated[Nowhere, Parameter("size")]  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(TypeError, match=r"Unknown.size: name 'Nowhere' is not defined; import the name for the "
                                        r"running program"):
        parameters(Unknown)


# ---- campaign files


@keys_of(Market, "people supply law charge", overflow="failure_probability")
class MarketTable(Keys):
    """`[market]`."""

    method: Literal["market"] = "market"


@keys_of(Market, "people law", optional=True)
class AdvisedTable(Keys):
    """`[market]`, where a planner chooses."""


def test_a_table_has_the_types_ranges_defaults_and_help_of_the_class() -> None:
    schema = MarketTable.model_json_schema()
    assert list(schema["properties"]) == ["method", "people", "supply", "law", "charge", "overflow"]
    assert schema["required"] == ["people"]
    assert schema["properties"]["people"] == {
        "description": "n, public slots", "minimum": 1, "maximum": 100, "title": "People", "type": "integer"}
    assert schema["properties"]["overflow"]["description"] == "that it fails"
    found = MarketTable(people=3)  # type: ignore[call-arg]
    assert found.model_dump() == {"method": "market", "people": 3, "supply": 1, "law": "laplace", "charge": False,
                                  "overflow": None}
    assert (MarketTable.__name__, MarketTable.__module__, MarketTable.__doc__) == (
        "MarketTable", __name__, "`[market]`.")


@pytest.mark.parametrize("bad", [{"people": 0}, {"people": 3, "supply": [1, 0]}, {"people": 3, "law": "gaussian"},
                                 {"people": 3, "overflow": 1.0}, {"people": 3, "overflow": float("inf")}, {}])
def test_a_table_refuses_what_the_constructor_would(bad: dict[str, Any]) -> None:
    with pytest.raises(pydantic.ValidationError):
        MarketTable.model_validate(bad)


def test_where_a_planner_chooses_every_key_may_be_left_out() -> None:
    assert AdvisedTable().model_dump() == {"people": None, "law": None}
    with pytest.raises(pydantic.ValidationError):
        AdvisedTable.model_validate({"people": 0})


def test_a_table_of_what_is_not_declared_is_refused_at_import() -> None:
    with pytest.raises(TypeError, match="Market declares no parameter 'tags'"):
        keys_of(Market, "tags")(Keys)
    with pytest.raises(TypeError, match="has a key 'people' already"):
        keys_of(Market, "people")(MarketTable)


# ---- words that are written


def test_a_value_is_written_by_its_first_word() -> None:
    here = Market(people=3, law="gauss", failure_probability=0.5)
    assert wire_parts(here)["law"] == "gaussian"
    assert from_parts(Market, wire_parts(here)) == here
    written = encode(here, {})
    assert (written["law"], written["failure"]) == ("gaussian", 0.5)
    assert decode(written, {"Market": Market}, {}) == here
    assert encode(Market(people=3), {})["law"] == "laplace"


@dataclass(frozen=True, kw_only=True)
class Numbers(Declared):
    """Numbers of every kind."""

    people: Annotated[int, Parameter("people")] = 1
    share: Annotated[float, Parameter("share", at_least=0)] = 0.5
    on: Annotated[bool, Parameter("on")] = True
    cap: Annotated[float | None, Parameter("cap")] = None
    supply: Annotated[int | tuple[int, ...], Parameter("supply")] = 1
    pairs: Annotated[tuple[tuple[int, int], ...], Parameter("pairs")] = ()


def test_numbers_of_numpy_become_pythons_own() -> None:
    given = Numbers(people=np.int64(2**40), share=np.float32(0.5), on=np.bool_(False), cap=np.longdouble(2),
                    supply=(np.int32(3), 4), pairs=((0, np.int8(1)), (2, 3)))
    assert given == Numbers(people=2**40, share=0.5, on=False, cap=2.0, supply=(3, 4), pairs=((0, 1), (2, 3)))
    assert isinstance(given.supply, tuple)
    flat = [*given.supply, *(each for pair in given.pairs for each in pair)]
    kinds = [type(each) for each in (given.people, given.share, given.on, given.cap, *flat)]
    assert kinds == [int, float, bool, float, *[int] * 6]
    assert given.people * given.people == 2**80  # of numpy: 0


@pytest.mark.parametrize("change", [{"people": 2**126 + 1}, {"people": 10**400}, {"supply": (1, 2**127)},
                                    {"pairs": ((0, 2**300),)}, {"people": -(2**126) - 1}])
def test_whole_numbers_beyond_126_bits_are_refused(change: dict[str, Any]) -> None:
    said = rf"^{next(iter(change))}: .*is too (large|small); must be at (most 2\^126|least)"
    with pytest.raises(InvalidInput, match=said):
        Numbers(**change)
    assert Numbers(people=2**126).people == 2**126

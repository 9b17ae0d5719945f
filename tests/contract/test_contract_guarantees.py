"""Guarantees: typed, in sentences, JSON-ready, and honest about saying nothing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import (
    Accuracy,
    Audience,
    Budget,
    Guarantee,
    Guarantees,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.contract.words import number
from confide.privacy import ApproxDP, PureDP

SOURCE = Source(document="Someone 2015", statement="Theorem 1", spec="room 4.2", erratum="a factor 2")


def privacy(loss: Any = None, **more: Any) -> Privacy:
    return Privacy(source=SOURCE, loss=loss or PureDP(1.0), neighbours=Relation.REPLACE,
                   audience=Audience.OTHERS, **more)


def truth(**more: Any) -> Truthfulness:
    return Truthfulness(**{"source": SOURCE, "gain": 0.1, "baseline": 2.0, "who": "everybody", **more})


def accuracy(bound: float, baseline: float = math.inf, **more: Any) -> Accuracy:
    return Accuracy(source=SOURCE, bound=bound, baseline=baseline, measure="the error", **more)


def participation(utility: float, **more: Any) -> Participation:
    return Participation(source=SOURCE, utility=utility, who="everybody", **more)


def budget(expected: float, **more: Any) -> Budget:
    return Budget(source=SOURCE, expected=expected, lowest=-1.0, highest=2.0, currency="USD", **more)


SOUND = [privacy(), privacy(ApproxDP(1.0, 1e-6)), truth(), truth(radius=0.2, baseline_radius=1.0), accuracy(0.5, 1.0),
         accuracy(0.5), participation(0.0), budget(10.0)]
EMPTY = [privacy(PureDP(math.inf)), truth(gain=2.0), truth(gain=math.nan), truth(radius=1.0, baseline_radius=1.0),
         accuracy(1.0, 1.0), accuracy(math.inf), accuracy(math.nan), participation(-3.0), participation(math.nan),
         budget(math.inf), budget(math.nan)]


@pytest.mark.parametrize("guarantee", SOUND, ids=lambda g: g.sentence())
def test_a_promise_that_says_something(guarantee: Guarantee) -> None:
    assert guarantee.vacuous is False


@pytest.mark.parametrize("guarantee", EMPTY, ids=lambda g: g.sentence())
def test_a_promise_that_says_nothing_says_so(guarantee: Guarantee) -> None:
    assert guarantee.vacuous is True


@pytest.mark.parametrize("made", [privacy, truth, lambda **m: accuracy(0.5, **m), lambda **m: participation(0.0, **m),
                                  lambda **m: budget(1.0, **m)])
def test_a_promise_that_may_always_fail_says_nothing(made: Any) -> None:
    assert made(failure_probability=1.0).vacuous
    assert made(failure_probability=math.nan).vacuous
    assert not made(failure_probability=0.999).vacuous
    assert made(vacuous=True).vacuous  # what the family knows is kept


@pytest.mark.parametrize("guarantee", SOUND + EMPTY, ids=lambda g: g.sentence())
def test_to_dict_is_strict_json(guarantee: Guarantee) -> None:
    there = guarantee.to_dict()
    assert json.loads(json.dumps(there, allow_nan=False)) == there
    assert there["guarantee"] == guarantee.name
    assert there["sentence"] == guarantee.sentence()
    assert there["source"] == {"document": "Someone 2015", "statement": "Theorem 1", "spec": "room 4.2",
                               "erratum": "a factor 2"}


def test_what_json_lacks_is_spelled() -> None:
    assert accuracy(0.5).to_dict()["baseline"] == "Infinity"
    assert participation(-math.inf).to_dict()["utility"] == "-Infinity"
    assert truth().to_dict()["radius"] == "NaN"


def test_sentences() -> None:
    assert privacy(part="the billboard").sentence() == (
        "epsilon = 1: joint differential privacy towards everybody else together for the billboard, when one record is "
        "replaced")
    assert accuracy(0.25).sentence() == "the error is at most 0.25"
    assert truth(unit_of_gain="USD").sentence() == "no lie gains more than 0.1 USD, for everybody"
    assert "moves the liar's prediction by more than 0.2 can pay" in truth(radius=0.2, baseline_radius=1.0).sentence()
    assert participation(0.5).sentence() == "expected payment less privacy cost is at least 0.5, for everybody"
    assert budget(1234.5).sentence() == (
        "the expected total is at most 1,234.50 USD, each payment between -1.00 and 2.00 USD")


@pytest.mark.parametrize(("audience", "words"), [
    (Audience.PUBLIC, "towards the public"), (Audience.OTHERS, "joint"), (Audience.COLLECTOR, "local"),
    (Audience.FELLOWS, "fellow participants"),
])
def test_the_audience_is_named(audience: Audience, words: str) -> None:
    made = Privacy(source=SOURCE, loss=PureDP(1.0), neighbours=Relation.BIT, audience=audience)
    assert words in made.sentence()
    assert "one bit" in made.sentence()


def test_the_base_has_no_sentence() -> None:
    with pytest.raises(NotImplementedError):
        Guarantee(source=SOURCE).sentence()


def test_a_source_says_what_was_corrected() -> None:
    assert str(SOURCE) == "Someone 2015, Theorem 1 (corrected: a factor 2)"
    assert str(Source(document="Someone 2015", statement="Theorem 1")) == "Someone 2015, Theorem 1"


def test_false_claims_are_kept_apart() -> None:
    printed = privacy(PureDP(0.1), claimable=False)
    found = Guarantees((privacy(), printed, truth()))
    assert len(found) == 3
    assert list(found) == [privacy(), printed, truth()]
    assert found.privacy == found.of(Privacy) == (privacy(),)
    assert found.of(Privacy, claimable=False) == (printed,)
    assert found.of(Budget) == ()
    assert [item["claimable"] for item in found.to_dict()] == [True, False, True]


# ---- numbers as people read them


@pytest.mark.parametrize(("value", "text"), [
    (None, ""), ("as it is", "as it is"), (True, "yes"), (False, "no"), (0, "0"), (0.0, "0"), (61395, "61,395"),
    (1234567, "1,234,567"), (0.0123456, "0.01235"), (999.94, "999.9"), (12345.6, "12,346"), (1e6, "1.000e+06"),
    (1e-5, "1.000e-05"), (-2.5, "-2.5"), (math.inf, "unlimited"), (-math.inf, "minus infinity"),
    (math.nan, "not applicable"),
])
def test_numbers_in_tables(value: Any, text: str) -> None:
    assert number(value) == text


@given(st.floats(-1e300, 1e300))
def test_numbers_keep_three_digits(value: float) -> None:
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=1e-3)


def test_what_utility_is_made_of_is_said() -> None:
    said = participation(-0.5, of="value less price").sentence()
    assert said == "value less price is at least -0.5, for everybody"


def test_a_promise_prints_whole() -> None:
    """With its probability of failure, condition and note; a claim known to be false says that it is."""
    assert str(truth(failure_probability=0.01, condition="it sells", note="in the mean")) == (
        "No lie gains more than 0.1, for everybody, except with probability 0.01. Condition: it sells. Nobody can know "
        "this before the run, so the promise does not help a participant to decide. Note: in the mean.")
    assert "The source claims this, and the claim is false." in str(truth(claimable=False))
    assert accuracy(0.5, note="a < b")._repr_html_() == "<p>The error is at most 0.5. Note: a &lt; b.</p>"


def test_all_promises_print_one_a_line_and_as_a_table() -> None:
    found = Guarantees((truth(claimable=False, note="see <E1>"), accuracy(0.5)))
    assert str(found) == repr(found)
    assert str(found).splitlines() == [
        "Truthfulness: No lie gains more than 0.1, for everybody. The source claims this, and the claim is false. "
        "Note: see <E1>.", "Accuracy: The error is at most 0.5."]
    shown = found._repr_html_()
    assert "see &lt;E1&gt;" in shown
    assert "no: the claim in the source is false" in shown
    assert (str(Guarantees()), Guarantees()._repr_html_()) == ("Nothing is promised.", "<p>Nothing is promised.</p>")


def test_programs_read_todays_words_and_packs_keep_theirs() -> None:
    """`to_dict` is in the words of Python, `to_wire` in those that packs have for ever."""
    for guarantee, today, written in (
            (privacy(), {"neighbours": "replace", "failure_probability": 0.0}, {"unit": "one record replaced"}),
            (accuracy(0.5, 1.0), {"baseline": 1.0}, {"trivial": 1.0}),
            (truth(radius=0.2, baseline_radius=3.0), {"baseline": 2.0, "baseline_radius": 3.0},
             {"trivial": 2.0, "radius_trivial": 3.0})):
        reported, packed = guarantee.to_dict(), guarantee.to_wire()
        assert today.items() <= reported.items()
        assert not written.keys() & reported.keys()
        assert written.items() <= packed.items()
        assert not (today.keys() - {"failure_probability"}) & packed.keys()

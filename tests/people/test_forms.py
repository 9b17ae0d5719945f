"""Forms: what they let through is taken, and what they do not is refused, for every kind."""

from __future__ import annotations

import json
import math
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract.asked import Field, judge
from confide.contract.errors import InvalidInput
from confide.contract.kinds import ContractKind, LocalKind, kind
from confide.tables import Category, Measured, Numeric
from confide.tables.column_rows import field_of
from people.all_kinds import HELD, KINDS, PEOPLES, accepted, campaign_of

FAMILIES: dict[str, str] = {
    "capped-additive": 'family = "capped-additive"\ngoods = ["a", "b"]\nsupply = 900\ncap = 1\n',
    "shared-resources": 'family = "shared-resources"\nprojects = """name,needs\npool,land\nhall,land+roof\n"""\n'
                        'resources = """name,cost\nland,2\nroof,1\n"""\n',
    "flow": 'family = "flow"\narcs = """tail,head,capacity,cost\nx,y,900,1\ny,z,900,2\n"""\nhops = 2\nescape = 9\n',
    "knapsack": 'family = "knapsack"\nresources = ["van", "crew"]\nsupply = 900\nlargest_weight = 4\n'
                'least_weight = 0.5\n',
    "electricity": 'family = "electricity"\nintervals = ["mon", "tue"]\nslots = ["am", "pm"]\nsupply = 4000\nmost = 2\n'
                   'shortfall = 40\n',
    "aggregative-game": 'family = "aggregative-game"\nactions = ["stay", "go"]\nrows = ["road"]\ntarget = [900.0]\n'
                        'largest = 1\n',
    "xor-bundles": 'family = "xor-bundles"\ngoods = ["a", "b", "c=d"]\nsupply = 900\nsize = 2\nbids = 2\n',
}


def texts(field: Field) -> st.SearchStrategy[str]:
    """Texts that a field lets through."""
    if field.form == "choice":
        found = st.sampled_from(field.choices)
    elif field.whole:
        low = -9 if field.lowest is None else math.ceil(field.lowest)
        found = st.integers(low, low + 9 if field.highest is None else math.floor(field.highest)).map(str)
    else:
        low = 1e-6 if field.above is not None else -1e6 if field.lowest is None else field.lowest
        high = 1e6 if field.highest is None else field.highest
        ends = [low, high, *(end for gap in field.gaps for end in gap if low <= end <= high)]
        begins, stops = [low, *(gap[1] for gap in field.gaps)], [*(gap[0] for gap in field.gaps), high]
        between = [st.floats(a, b) for a, b in zip(begins, stops, strict=True) if a <= b]  # and in no gap
        found = (st.sampled_from(ends) | st.one_of(between)).map(repr)
    found = found.filter(lambda text: not field.problem(text))
    return found if field.required else found | st.just("")


def forms(fields: Any) -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries({field.column: texts(field) for field in fields})


def refused(field: Field) -> list[str]:
    """Texts that a field does not let through."""
    found = ["what is this", "NaN", "inf", "1e999"] if field.form == "number" else ["by air"]
    found += ["1.5"] if field.whole else []
    found += [repr(end + step) for end, step in ((field.lowest, -1.0), (field.highest, 1.0)) if end is not None]
    found += ["0", "-1"] if field.above is not None else []
    found += [repr((start + end) / 2.0) for start, end in field.gaps]
    return found + ([""] if field.required else [])


def asked(name: str) -> list[Field]:
    it = campaign_of(name)
    return list(it.file.kind.asked(it.file.config, it.plan))


def test_fields_are_json_ready_and_come_once() -> None:
    for name in KINDS:
        found = asked(name)
        assert json.loads(json.dumps([each.to_dict() for each in found]))[: len(found)] == [
            each.to_dict() for each in found]
        assert len({each.column for each in found}) == len(found)
        assert all(each.label and each.limit() for each in found)
        assert bool(found) is (name not in HELD)


@pytest.mark.parametrize("name", PEOPLES)
def test_what_a_form_lets_through_is_taken(name: str) -> None:
    it, fields = campaign_of(name), asked(name)

    @settings(max_examples=12)
    @given(forms(fields))
    def check(values: dict[str, str]) -> None:
        judge(fields, values)
        if values.get("answer") and "worth" in values and not values["worth"]:
            with pytest.raises(InvalidInput, match="worth"):  # its note says that it goes with an answer
                accepted(it, values)
        else:
            accepted(it, values)

    check()


@pytest.mark.parametrize("name", PEOPLES)
def test_what_a_form_does_not_let_through_is_refused(name: str) -> None:
    it, fields = campaign_of(name), asked(name)
    fine = {each.column: each.choices[0] if each.form == "choice" else repr(each.lowest or 0.5) for each in fields}
    fine |= {each.column: "1" for each in fields if each.whole}
    judge(fields, fine)
    accepted(it, fine)
    for each in fields:
        for text in refused(each):
            assert each.problem(text)
            with pytest.raises(InvalidInput) as caught:
                judge(fields, {**fine, each.column: text})
            assert not text or text not in str(caught.value).partition(";")[0] or text in "0-1"
            with pytest.raises(InvalidInput):
                accepted(it, {**fine, each.column: text})
    for strange in ({**fine, "shoe size": "7"}, *({k: v for k, v in fine.items() if k != each.column}
                                                 for each in fields if each.required)):
        with pytest.raises(InvalidInput):
            judge(fields, strange)
        with pytest.raises(InvalidInput):
            accepted(it, strange)


@pytest.mark.parametrize("name", PEOPLES)
def test_who_leaves_all_empty_takes_no_part(name: str) -> None:
    """Where nothing has to be given: her own device makes an empty row, or her record is worth nothing."""
    it, fields = campaign_of(name), asked(name)
    if any(each.required for each in fields):
        return
    empty = {each.column: "" for each in fields}
    judge(fields, empty)
    found = accepted(it, empty)
    if isinstance(it.file.kind, LocalKind):
        assert found == (None, 0.0)
    else:
        assert not any(found[1])


BELIEFS = [("", ()),
           ('law = "discrete"\npoints = [0.25, 0.5, 1.0]\nmasses = [0.5, 0.25, 0.25]', ((0.25, 0.5), (0.5, 1.0))),
           ('law = "histogram"\nedges = [0.0, 0.25, 0.5, 1.0]\nmasses = [0.5, 0.0, 0.5]', ((0.25, 0.5),))]


@pytest.mark.parametrize(("belief", "gaps"), BELIEFS)
def test_the_first_form_of_a_contract_keeps_to_the_belief(belief: str, gaps: tuple[tuple[float, float], ...]) -> None:
    it = campaign_of("mean", *([('law = "uniform"', belief)] if belief else []))
    found = it.file.kind
    assert isinstance(found, ContractKind)
    (field,) = found.asked_first(it.file.config, it.plan)
    assert field.gaps == gaps

    @settings(max_examples=12)
    @given(texts(field))
    def check(text: str) -> None:
        row = found.reported(it.file.config, it.plan, "7", {field.column: text})
        assert row == {"id": "7", field.column: repr(float(text)) if text else ""}

    check()
    for text in refused(field):
        assert field.problem(text)
        with pytest.raises(InvalidInput):
            found.private(it.file.config, it.plan, {field.column: text})


@pytest.mark.parametrize("family", FAMILIES)
def test_forms_of_programs(family: str) -> None:
    """Each family's own columns; the rule on a whole row stands in the last note, and breaking it is told to her."""
    from confide.campaign.kinds.program import KIND, fields_of
    from confide.campaign.kinds.programs.config import ProgramConfig

    tables = tomllib.loads(kind("program").template)
    for name in ("format", "kind", "title", "budget"):
        tables.pop(name, None)
    tables["program"] = tomllib.loads(FAMILIES[family])
    tables["data"] = {"source": "rows.csv"}
    tables["people"]["id"] = "id"
    if family == "flow":
        tables.pop("values")
    config = ProgramConfig(**tables)
    fields = fields_of(config)
    assert fields
    if family == "xor-bundles":
        (field,) = fields
        assert field.form == "text"

        def listed(text: str) -> list[float]:
            return KIND.typed(config, None, 2, {field.column: text}).cells[0].tolist()  # type: ignore[arg-type]

        one_by_one = KIND.typed(config, None, 2, {"a+b": "3", "c=d": "4"}).cells[0].tolist()  # type: ignore[arg-type]
        assert listed("b + a = 3\n\n c=d=4\n") == one_by_one
        assert listed("") == KIND.typed(config, None, 2, {}).cells[0].tolist()  # type: ignore[arg-type]
        for wrong in ("a+b", "a+e = 3", "a = 1e9", "a = 1\na = 2", "a+b = 1\nb+a = 2", "a = 1\nb = 1\na+b = 1"):
            with pytest.raises(InvalidInput):
                listed(wrong)
        return

    broken = []

    @settings(max_examples=25, derandomize=True)  # some of them break the rule
    @given(forms(fields))
    def check(values: dict[str, str]) -> None:
        judge(fields, values)
        try:
            KIND.typed(config, None, 2, values)  # type: ignore[arg-type]
        except InvalidInput as error:
            broken.append(error.limit if error.problem == "cannot be used" else str(error))

    check()
    rule = {each[:1].upper() + each[1:] for each in broken}
    assert all(each in fields[-1].note for each in rule)
    assert bool(rule) is (family in ("flow", "electricity"))
    for each in fields:
        for text in refused(each):
            with pytest.raises(InvalidInput):
                KIND.typed(config, None, 2, {each.column: text})  # type: ignore[arg-type]


def test_a_rule_on_a_whole_row_of_goods_stands_in_the_last_note() -> None:
    plain = asked("bundles")
    assert "cannot be used" not in plain[-1].note
    it = campaign_of("bundles", ("highest = 10", "highest = 10\ntotal = 12.0"))
    fields = it.file.kind.asked(it.file.config, it.plan)
    assert "add up to more than 12" in fields[-1].note
    with pytest.raises(InvalidInput, match="add up to more than 12"):
        accepted(it, {each.column: "10" for each in fields})


def test_roles_become_fields() -> None:
    for role, fine, wrong in (
            (Category(column="mood", levels=("bad", "good")), "good", "ugly"),
            (Numeric(column="age", lower=20, upper=60), "20", "61"),
            (Measured(column="weight", lower=0.0), "1e9", "-1")):
        field = field_of(role)
        assert field.required
        assert not field.problem(fine)
        assert field.problem(wrong)
        assert role.encode_one(fine)[1] is None
        assert role.encode_one(wrong)[1] is not None
    moved = Numeric(column="age", lower=20, upper=60, out_of_bounds="clip")
    assert not field_of(moved).problem("61")
    assert moved.encode_one("61") == (1.0, None)


def test_no_such_field() -> None:
    with pytest.raises(InvalidInput, match="form"):
        Field(column="a", label="a", form="table")  # type: ignore[arg-type]
    for form, choices in (("choice", ()), ("text", ("a",))):
        with pytest.raises(InvalidInput, match="choices"):
            Field(column="a", label="a", form=form, choices=choices)  # type: ignore[arg-type]

"""A participant's own page, by forms alone: what she changes, what she leaves empty, what comes too late."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from confide.campaign.kinds.peoples_kind import PeoplesKind, retyped
from confide.contract import kind
from confide.service.access import Participant
from service.clients import serving
from service.parts import filled
from service.web.test_pages import Browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    with serving(tmp_path_factory.mktemp("answers")) as (found, _):
        yield found


def opened(app: FastAPI, text: str) -> int:
    """A campaign with this text, under a title of its own; its number."""
    parts = app.state.parts
    text = text.replace('title = "', f'title = "{len(parts.opened.all())}: ')
    return parts.drafts.open(parts.drafts.new(text, parts.operators.all()[0].number).number).number


def joined(app: FastAPI, number: int, slot: int = 0) -> Browser:
    """Somebody's browser, at her page."""
    (_, code), = app.state.parts.invitations.invite(number, [slot])
    found = Browser(app)
    found.join(code)
    return found


def in_form(text: str) -> dict[str, str]:
    """What stands in the fields of her form."""
    form = text.partition('action="/mine/report"')[2].partition("</form>")[0]
    typed = re.findall(r'<input id="[^"]*" name="(field\.[^"]*)" value="([^"]*)"', form)
    ticked = re.findall(r'type="radio" name="(field\.[^"]*)" value="([^"]*)"[^>]*\bchecked', form)
    return {html.unescape(name): html.unescape(text) for name, text in (*typed, *ticked)}


@pytest.mark.parametrize("name", ["matching", "bundles", "regression", "program"])
@pytest.mark.parametrize("turn", [0, 1])
def test_a_stored_answer_could_have_been_typed(name: str, turn: int) -> None:
    """Of every kind whose records are handed in as they are: the same texts, and so the same bytes."""
    it = kind(name)
    tables = read_tables(it.template)
    config = it.config.model_validate(tables)
    plan = it.plan(config)
    typed = filled(it.asked(config, plan), turn)
    _, report = it.submission(config, plan, "3", typed)
    found = retyped(it, config, plan, "3", report)
    assert found is not None
    assert it.submission(config, plan, "3", found) == (2, report)
    worth = {column: text for column, text in typed.items() if text not in ("", "0")}
    assert {column: text for column, text in found.items() if text != "0"} == worth


def read_tables(template: str) -> dict[str, object]:
    """The tables of a template that are its kind's."""
    return {key: table for key, table in tomllib.loads(template).items() if isinstance(table, dict | list)
            and key != "budget"}


def test_ranks_are_shown_as_places() -> None:
    it = kind("matching")
    tables = read_tables(it.template) | {"values": {"scale": "ranks"}}
    config = it.config.model_validate(tables)
    plan = it.plan(config)
    typed = {"law": "1", "algebra": "2", "music": "2", "drawing": "4"}
    _, report = it.submission(config, plan, "1", typed)
    assert retyped(it, config, plan, "1", report) == typed


def test_another_record_than_the_kind_says_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that says what it did not read: nothing is shown, rather than something that she did not type."""
    it = kind("matching")
    config = it.config.model_validate(read_tables(it.template))
    plan = it.plan(config)
    _, report = it.submission(config, plan, "1", {"law": "12"})
    for said in ({"law": 13.0}, {"nothing": "7"}, {"law": "x"}):
        monkeypatch.setattr(type(it), "retyped", lambda *_, said=said: said)
        assert retyped(it, config, plan, "1", report) is None


def test_a_kind_that_stores_something_else_says_nothing_and_a_fault_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    it = kind("matching")
    config = it.config.model_validate(read_tables(it.template))
    plan = it.plan(config)
    _, report = it.submission(config, plan, "1", {"law": "12"})
    monkeypatch.setattr(type(it), "retyped", PeoplesKind.retyped)  # which reads rows of cells; these are wishes
    assert retyped(it, config, plan, "1", report) is None
    monkeypatch.setattr(type(it), "retyped", lambda *_: {}["law"])
    with pytest.raises(KeyError, match="law"):
        retyped(it, config, plan, "1", report)
    assert retyped(object(), config, plan, "1", report) is None


def test_a_change_begins_with_what_is_stored(app: FastAPI) -> None:
    number = opened(app, kind("matching").template)
    participant, parts, who = joined(app, number), app.state.parts, Participant(number, 0)
    participant.send("/mine/report", **{"field.law": "33.3", "field.music": "100"})
    assert "The form shows your stored answers" in participant.text
    assert {name: text for name, text in in_form(participant.text).items() if text} == {
        "field.law": "33.3", "field.music": "100"}
    before = parts.store.report_of(number, 0)
    participant.send("/mine/report", **in_form(participant.text))
    assert parts.store.report_of(number, 0) == before
    # empty is not taken unless it is meant, and what is stored stands
    empty = dict.fromkeys(in_form(participant.text), "")
    participant.send("/mine/report", 422, **empty)
    assert parts.store.report_of(number, 0) == before
    assert 'role="alert"' in participant.text
    assert "Your earlier record stays valid." in participant.text
    participant.send("/mine/report", nothing="yes", **empty)
    assert parts.participation.typed(who) == {}
    participant.send("/mine/report", **empty)  # nothing is lost any more, so that nothing is asked
    assert joined(app, number, 1).see("/mine").count("The form shows your stored answers") == 0


def test_what_a_device_drew_is_not_shown(app: FastAPI) -> None:
    number = opened(app, kind("bits").template)
    participant, parts, who = joined(app, number), app.state.parts, Participant(number, 0)
    parts.participation.submit(who, {"report": "yes"})
    assert parts.participation.typed(who) is None
    assert "The form shows your stored answers" not in participant.see("/mine")


def test_all_that_is_wrong_stands_above_the_page(app: FastAPI) -> None:
    """Each with a link to its field; it is read out, and has the focus."""
    number = opened(app, kind("regression").template)
    participant = joined(app, number)
    asked = app.state.parts.participation.form(Participant(number, 0))
    participant.send("/mine/report", 422, **{
        f"field.{each.column}": "a lot" for each in asked if each.form == "number"})
    summary = participant.text.partition('id="wrong"')
    assert 'role="alert" tabindex="-1"' in summary[0][-60:]
    assert "autofocus" in summary[2][:20]
    assert participant.text.index('id="wrong"') < participant.text.index('class="offer"')
    links = re.findall(r'<li><a href="#([^"]+)">([^<]+)</a>', summary[2].partition("</div>")[0])
    assert len(links) == len(asked) >= 2
    for (place, said), each in zip(links, asked, strict=True):
        assert f'id="{place}"' in participant.text
        assert html.unescape(said).startswith(each.label + ": ")
    assert participant.text.count('role="alert"') == 1


def test_a_change_that_comes_too_late_says_so(app: FastAPI) -> None:
    number = opened(app, kind("matching").template)
    participant, late, parts = joined(app, number), joined(app, number, 1), app.state.parts
    participant.send("/mine/report", **{"field.law": "10"})
    before = parts.store.report_of(number, 0)
    parts.store.close_collection(number)
    participant.send("/mine/report", 409, **{"field.law": "20"})
    assert parts.store.report_of(number, 0) == before
    assert "This change was not taken: the collection has closed." in participant.text
    assert "You may change it" not in participant.text
    assert "The collection has closed, so your report does not change any more." in participant.see("/mine")
    late.send("/mine/report", 409, **{"field.law": "20"})
    assert "This was not taken" in late.text
    assert "Your report is stored" not in late.text

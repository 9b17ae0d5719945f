"""Languages of the pages: nothing that a template says is hard-coded, and browsers get a language that there is."""

from __future__ import annotations

import ast
import io
import re
import time
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.pofile import read_po
from fastapi import FastAPI
from jinja2 import Environment

import confide
from confide.audit.report import Concern, Side, Verdict
from confide.campaign.store.states import State
from confide.contract.kinds import kind, kind_names
from confide.contract.words import as_sentence
from confide.service.access import Role
from confide.service.language import catalogues, chosen, extracted, languages, translations
from confide.service.language.catalogues import TEMPLATE, as_translations, template
from confide.service.web import page as pages
from confide.service.work import Task
from confide.service.work.drafts import LONGEST_TEXT
from service.clients import serving
from service.language.pseudo import in_brackets, outside, pseudo
from service.parts import PASSWORD
from service.web.test_pages import Browser

TEMPLATES = sorted((Path(pages.__file__).parent / "templates").glob("*.html"))
NAMES = {"confide"}  # the service's own, in every language


def literal(source: str) -> str:
    """What a template says by itself: its text without expressions and tags, and attributes that are read out."""
    data = "".join(text if kind == "data" else " " if kind.endswith("_end") else ""
                   for _, kind, text in Environment(trim_blocks=True).lex(source))
    data = re.sub(r"<code\b.*?</code>", " ", data, flags=re.DOTALL)  # commands are typed the same in every language
    read_out = " ".join(re.findall(r'(?:alt|aria-label|title|placeholder)="([^"]*)"', data))
    return re.sub(r"&\w+;", " ", re.sub(r"<[^<>]*>", " ", data)) + " " + read_out


def hard_coded(source: str) -> list[str]:
    """Its words that no catalogue could change."""
    return [word for word in re.findall(r"[^\W\d_]{2,}", literal(source)) if word not in NAMES]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_text_of_a_template_is_hard_coded(path: Path) -> None:
    assert hard_coded(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("injected", ["<p>Hello there</p>", '<img alt="A picture">', "{% if x %}Now{% endif %}"])
def test_a_injected_text_is_found(injected: str) -> None:
    assert hard_coded(injected)


def test_every_template_has_texts_to_translate() -> None:
    found = {place for message in extracted() for place, _ in message.locations if place.endswith(".html")}
    assert found == {path.name for path in TEMPLATES}


def test_a_message_is_written_where_the_catalogue_finds_it() -> None:
    """Literally, and with the values that it names: what is put together elsewhere could never be translated."""
    there = {message.id for message in extracted()}
    package = Path(confide.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_bytes()
        for node in ast.walk(ast.parse(text)) if b"worded(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "worded":
                (message,) = node.args
                assert isinstance(message, ast.Constant), (path, node.lineno)
                assert message.value in there, (path, node.lineno)
                named = set(re.findall(r"%\((\w+)\)s", message.value))
                assert named == {each.arg for each in node.keywords}, (path, node.lineno)


@pytest.mark.slow
def test_what_pages_say_stands_in_brackets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Everybody's, at every page of a campaign from its draft to a share; what it and its kind say is theirs."""
    words = {"Does the new schedule make people ill?": "⟦title⟧", "Have you been ill since May?": "⟦question⟧",
             '"yes"': '"⟦ja⟧"', '"no"': '"⟦nein⟧"'}
    it = kind("bits")
    text = it.template.replace("ill since may", "⟦data⟧")
    for theirs, shown in words.items():
        text = text.replace(theirs, shown)
    monkeypatch.setitem(pages._templates("en").globals, "sections", lambda *_: "")  # a kind's: plan, offer, result
    with serving(tmp_path) as (app, _), in_brackets():
        parts = app.state.parts
        olga, participant = Browser(app), Browser(app)
        pages_ = [olga.see(path) for path in ("/", "/join", "/login")]
        olga.send("/login", name="olga", password="wrong", status=401)
        pages_.append(olga.text)
        olga.send("/login", name="olga", password=PASSWORD)
        draft = parts.drafts.new(text, parts.operators.all()[0].number, "name")
        pages_ += [olga.see("/desk"), olga.see(f"/desk/drafts/{draft.number}")]
        number = parts.drafts.open(draft.number).number
        (_, code), = parts.invitations.invite(number, [0])
        pages_ += [olga.see(f"/desk/campaigns/{number}"), olga.send(f"/desk/campaigns/{number}/settle", 422),
                   olga.send(f"/desk/campaigns/{number}/invite", 422, ids="⟦nobody⟧")]
        pages_.append(participant.send("/join", 401, code="nothing") if participant.see("/join") else "")
        participant.join(code)
        pages_.append(participant.text)
        participant.send("/mine/report", **{"field.report": "⟦ja⟧"})
        pages_ += [participant.text, participant.see("/mine/withdraw"), participant.see("/mine/share", 409)]
        olga.see(f"/desk/campaigns/{number}")
        pages_.append(olga.send(f"/desk/campaigns/{number}/audit"))
        olga.send(f"/desk/campaigns/{number}/settle", meant="yes")
        while any(parts.jobs.of(number, task).state in ("queued", "running") for task in Task):
            time.sleep(0.1)
        pages_ += [olga.see(f"/desk/campaigns/{number}"), participant.see("/mine"), participant.see("/mine/share"),
                   olga.see("/desk/ledger"), olga.see("/"), olga.see(f"/campaigns/{number}")]
        participant.client.cookies.clear()
        pages_.append(participant.client.post("/mine/withdraw", data={}).text)
        plan = parts.opened.get(number).campaign.plan
        theirs = {"confide", "olga", "draft", "name", *kind_names(), parts.store.home.fingerprint,
                  "The ledger admits the campaign.", "is new to the ledger.", "epsilon = 1"}  # the ledger's
        theirs |= {as_sentence(kind(name).summary) for name in kind_names()}
        theirs |= {text for each in plan.guarantees for text in (
            as_sentence(each.sentence()), str(each.source), each.note) if text}
        theirs |= {text for each in it.asked(plan.config, plan) for text in (each.label, each.note)}
        rows = parts.jobs.of(number, Task.AUDIT).result["rows"]
        theirs |= {row["promise"] for row in rows} | {str(row["promised"]) for row in rows}
        for html in pages_:
            assert outside(html, theirs) == []


def typed(app: FastAPI, name: str, *, refused: dict[str, str], taken: dict[str, str]) -> list[str]:
    """What a participant of a kind reads: of a form that is refused, of one that is stored, and of another draw."""
    parts = app.state.parts
    draft = parts.drafts.new(kind(name).template, parts.operators.all()[0].number)
    number, participant = parts.drafts.open(draft.number).number, Browser(app)
    participant.join(parts.invitations.invite(number, [0])[0][1])
    pages_ = []
    for fields in (refused, taken, dict.fromkeys(taken, "no")):
        if participant.see("/mine") and 'action="/mine/report"' in participant.text:
            word = re.search(r'name="word" value="(\w+)"', participant.text)
            assert word is not None
            sent = {"word": word[1], **{f"field.{column}": text for column, text in fields.items()}}
            pages_.append(participant.client.post("/mine/report", data=sent).text)
        pages_.append(participant.see("/mine"))
    return [*pages_, participant.see("/mine/share", 409)]


def test_what_refusals_say_stands_in_brackets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of forms and their fields, of what was changed meanwhile or comes too early, and of what is not there."""
    monkeypatch.setitem(pages._templates("en").globals, "sections", lambda *_: "")
    with serving(tmp_path, attempts=3) as (app, _), in_brackets():
        parts, olga, vera = app.state.parts, Browser(app), Browser(app)
        parts.operators.add("⟦v⟧", PASSWORD, Role.VIEWER)
        pages_ = typed(app, "matching", refused={"law": "abc", "music": "1000", "algebra": "-1"}, taken={"law": "5"})
        assert "⟦is no number⟧" in pages_[0]
        assert "⟦must be at least ⟧0⟦ and at most ⟧100" in pages_[0]
        for name, refused in (("regression", {"age": "abc", "sleep": "99"}), ("bits", {"report": "maybe"})):
            pages_ += typed(app, name, refused=refused, taken={"report": "yes"} if name == "bits" else {})
        pages_.append(olga.see("/nothing", 404))
        assert "⟦There is no such page.⟧" in olga.text
        pages_ += [olga.see(path, status) for path, status in (("/campaigns/99", 404), ("/campaigns/x", 422),
                                                               ("/campaigns/0", 422), ("/?before=1.5", 422))]
        pages_.append(olga.client.post("/", data={}).text)
        pages_.append(olga.client.post("/join", data={"code": "a" * 100_000}).text)
        pages_.append(olga.client.post("/join", content=b"x", headers={"Content-Type": "multipart/form-data"}).text)
        for _ in range(4):
            pages_.append(vera.client.post("/login", data={"name": "vera", "password": "wrong"}).text)
        assert "⟦Too many attempts. Wait five minutes.⟧" in pages_[-1]
        for browser, name in ((olga, "olga"), (vera, "⟦v⟧")):
            browser.see("/login")
            browser.send("/login", name=name, password=PASSWORD)
        draft = parts.drafts.new(kind("bits").template, parts.operators.all()[0].number, "x")
        at = f"/desk/drafts/{draft.number}"
        pages_.append(vera.see(at).replace("<h1>Does the new schedule make people ill?</h1>", ""))
        olga.see(at)
        for status, fields, said in ((409, {"version": "7"}, "⟦Your text is not stored"),
                                     (409, {"version": "x"}, "⟦Your text is not stored"),
                                     (413, {"text": "#" * (LONGEST_TEXT + 1)}, "⟦The request is too large")):
            olga.see(at)
            pages_.append(olga.send(at, status, **{"text": "#", **fields}))
            assert said.lower() in olga.text.lower()
        number = parts.opened.newest(limit=1)[0].number
        at = f"/desk/campaigns/{number}"
        for act in ("export", "reopen", "approve", "final", "round", "answer", "known", "nothing"):
            olga.see(at)
            word = re.search(r'name="word" value="(\w+)"', olga.text)
            assert word is not None
            pages_.append(olga.client.post(f"{at}/{act}", data={"word": word[1], "meant": "yes"}).text)
        olga.see("/desk")
        word = re.search(r'name="word" value="(\w+)"', olga.text)
        assert word is not None
        for sent in ({"word": "other"}, {}):
            pages_.append(olga.client.post("/desk/drafts", data=sent).text)
        theirs = {"confide", "olga", "vera", "⟦v⟧", *kind_names(), "report", "version", "file", "number", "body",
                  "epsilon = ", "The ledger admits the campaign.",
                  "The ledger has charged the campaign: a run costs nothing more.",
                  "is new to the ledger.", "round"}  # fields, the ledger
        for name in ("matching", "regression", "bits"):
            it = parts.drafts.campaign(parts.drafts.new(kind(name).template, 1)).file
            theirs |= {it.title, it.budget.data_set}
            plan = it.kind.plan(it.config)
            for each in it.kind.asked(it.config, plan):
                theirs |= {each.column, each.label, each.note, each.unit, *each.choices} - {""}
        assert all(pages_)
        assert sorted({text for html in pages_ for text in outside(html, theirs)}) == []


def test_what_pages_of_a_provider_say_stands_in_brackets(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    oidc = {"issuer": "https://id.example", "client": "confide", "secret_file": tmp_path / "secret", "name": "⟦42⟧"}
    with serving(tmp_path, oidc=oidc) as (_, anybody), in_brackets():
        for path in ("/", "/join", "/login", "/login/provider/answer", "/desk"):
            text = anybody.client.get(path, headers={"Sec-Fetch-Site": "cross-site"}).text
            assert outside(text, {"confide"}) == [], path


def test_a_injected_text_of_a_page_is_found() -> None:
    assert outside("<body><p>⟦All ⟦is⟧ well⟧ here</p>") == ["here"]
    assert outside('<body><p data-said="Now" aria-label="⟦Well⟧">7</p>') == ["Now"]
    assert outside("<body><p>⟦Kind⟧ bits</p>", {"bits"}) == []


def test_words_are_known_for_all_that_pages_look_up() -> None:
    shown = pages._templates("en").get_template("words.html").make_module({}).words  # type: ignore[attr-defined]
    looked_up = {*map(str, State), *map(str, Role), *map(str, Task), *map(str, Concern), *map(str, Verdict),
                 "queued", "running", "done", "failed", *get_args(Side)}
    assert {word for word in looked_up if word} <= set(shown)


def test_the_template_of_translations_is_that_of_the_pages() -> None:
    """After a change of the pages: python -m confide.service.language."""
    assert TEMPLATE.read_text(encoding="utf-8") == template()
    begun = read_po(io.BytesIO(template().encode()), locale="de")
    assert {message.id for message in begun if message.id} == {message.id for message in extracted() if message.id}


def test_a_translation_is_a_filled_copy_of_the_template(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = template().replace('msgid "Desk"\nmsgstr ""', 'msgid "Desk"\nmsgstr "Pult"')
    (tmp_path / "de.po").write_text(text, encoding="utf-8")
    monkeypatch.setattr(catalogues, "_CATALOGUES", tmp_path)
    for kept in (languages, translations):
        kept.cache_clear()
    try:
        assert chosen("de-AT, en;q=0.5") == "de"
        assert translations("de").gettext("Desk") == "Pult"
        assert translations("de").gettext("Ledger") == "Ledger"  # what is not translated yet stays English
    finally:
        monkeypatch.undo()
        for kept in (languages, translations):
            kept.cache_clear()


@pytest.mark.parametrize("asked", ["", "*", "en", "xx", "xx;q=1, en;q=0.5", "en;q=2", ",;,", "a" * 5000,
                                   "en-GB,en;q=0.9"])
def test_whatever_a_browser_asks_for_there_is_a_language(asked: str) -> None:
    assert chosen(asked) in languages()
    assert chosen(asked, "en") == "en"


def test_english_is_complete_by_itself() -> None:
    assert all(translations("en").gettext(message.id) == message.id
               for message in extracted() if isinstance(message.id, str) and message.id)


def test_a_catalogue_has_the_forms_of_numbers() -> None:
    found = as_translations(pseudo())
    assert found.ngettext("%(num)s place", "%(num)s places", 2) == "%(num)s⟦ places⟧"

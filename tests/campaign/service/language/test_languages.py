"""Languages of the pages: nothing that a template says is hard-coded, and browsers get a language that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from jinja2 import Environment

from campaign.service.clients import serving
from confide.campaign.service.language import chosen, extracted, languages, translations
from confide.campaign.service.language.catalogues import as_translations
from confide.campaign.service.web import page as pages

TEMPLATES = sorted((Path(pages.__file__).parent / "templates").glob("*.html"))
NAMES = {"confide"}  # the service's own, in every language


def pseudo() -> Catalog:
    """A language in which every text stands in brackets."""
    found = Catalog(locale="en")
    for message in extracted():
        if message.id:
            texts = message.id if isinstance(message.id, tuple) else (message.id,)
            shown = tuple(f"⟦{text}⟧" for text in texts)
            found.add(message.id, shown if isinstance(message.id, tuple) else shown[0], context=message.context)
    return found


def literal(source: str) -> str:
    """What a template says by itself: its text without expressions and tags, and attributes that are read out."""
    data = "".join(text if kind == "data" else " " if kind.endswith("_end") else ""
                   for _, kind, text in Environment(trim_blocks=True).lex(source))
    data = re.sub(r"<code>.*?</code>", " ", data, flags=re.DOTALL)  # commands are typed the same in every language
    read_out = " ".join(re.findall(r'(?:alt|aria-label|title|placeholder)="([^"]*)"', data))
    return re.sub(r"&\w+;", " ", re.sub(r"<[^<>]*>", " ", data)) + " " + read_out


def hard_coded(source: str) -> list[str]:
    """Its words that no catalogue could change."""
    return [word for word in re.findall(r"[^\W\d_]{2,}", literal(source)) if word not in NAMES]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_text_of_a_template_is_hard_coded(path: Path) -> None:
    assert hard_coded(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("planted", ["<p>Hello there</p>", '<img alt="A picture">', "{% if x %}Now{% endif %}"])
def test_a_planted_text_is_found(planted: str) -> None:
    assert hard_coded(planted)


def test_every_template_has_texts_to_translate() -> None:
    found = {place for message in extracted() for place, _ in message.locations}
    assert found == {path.name for path in TEMPLATES}


def test_what_pages_say_stands_in_brackets(tmp_path: Path) -> None:
    templates = pages._templates("en")
    templates.install_gettext_translations(as_translations(pseudo()), newstyle=True)  # type: ignore[attr-defined]
    try:
        oidc = {"issuer": "https://id.example", "client": "confide", "secret_file": tmp_path / "secret", "name": "42"}
        (tmp_path / "secret").write_text("secret")
        with serving(tmp_path, oidc=oidc) as (_, anybody):
            for path in ("/", "/join", "/login", "/login/provider/answer", "/desk"):
                text = anybody.client.get(path, headers={"Sec-Fetch-Site": "cross-site"}).text
                body = re.sub(r"<script.*?</script>", "", text.partition("<body>")[2], flags=re.DOTALL)
                seen = [part.strip() for part in re.sub(r"<[^<>]*>", "\n", body).splitlines()]
                outside = [part for part in seen if re.search(r"[^\W\d_]{2,}", part)
                           and not re.fullmatch(r"⟦.*⟧", part) and part not in NAMES]
                assert outside == [], path
                assert '<html lang="en">' in text
    finally:
        templates.install_null_translations(newstyle=True)  # type: ignore[attr-defined]


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
    assert found.ngettext("%(num)s place", "%(num)s places", 2) == "⟦%(num)s places⟧"

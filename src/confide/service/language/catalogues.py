"""Catalogues of the pages' texts: the available languages, the choice of a language for a browser, and the texts to be
translated.
"""

from __future__ import annotations

import ast
import gettext
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.core import negotiate_locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

import confide

__all__ = ["TEMPLATE", "as_translations", "chosen", "extracted", "languages", "template", "translations"]

_CATALOGUES = Path(__file__).parent / "catalogues"
TEMPLATE = _CATALOGUES / "confide.pot"
"""Path of the template of translations. A translator copies the template to `LANGUAGE.po` and fills it in."""

_HEAD = """# Texts of the service's pages. A translation is a copy of this file, named LANGUAGE.po, beside it.
# After a change of the pages: python -m confide.service.language
msgid ""
msgstr ""
"Project-Id-Version: confide\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

"""

_PACKAGE = Path(confide.__file__).parent
_TEMPLATES = _PACKAGE / "service" / "web" / "templates"
_WORDS = b"confide.contract.worded import"
"""Mark of modules with texts that pages show: the texts are in the modules' calls of `worded`."""
_ENGLISH = "en"  # the texts in the templates are English
_ASKED = re.compile(r"\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?))?\s*")
_LONGEST = 1000  # letters of a header that are read


@cache
def languages() -> tuple[str, ...]:
    """The available languages, English first."""
    return (_ENGLISH, *sorted(path.stem for path in _CATALOGUES.glob("*.po")))


def chosen(asked: str, kept: str = "") -> str:
    """The language in which a page is shown to a browser: a code such as "en".

    Args:
        asked: content of the header Accept-Language of the request; unreadable parts are skipped.
        kept: language that the person chose earlier, from the cookie. If available, this language takes precedence.

    Example:
        >>> chosen("xx, en-GB;q=0.8"), chosen("", "no such")
        ('en', 'en')
    """
    if kept in languages():
        return kept
    wishes: list[tuple[float, str]] = []
    for part in asked[:_LONGEST].split(","):
        found = _ASKED.fullmatch(part)
        if found is not None and found[1] != "*":
            weight = 1.0 if found[2] is None else float(found[2])
            if weight > 0.0:
                wishes.append((-weight, found[1]))
    ordered = [wish for _, wish in sorted(wishes, key=lambda pair: pair[0])]
    return negotiate_locale(ordered, languages(), sep="-") or _ENGLISH


@cache
def translations(language: str) -> gettext.NullTranslations:
    """The translations of a language. A text without a translation stays English.

    Args:
        language: one of `languages()`; any other value stands for English.
    """
    if language == _ENGLISH or language not in languages():
        return gettext.NullTranslations()
    with (_CATALOGUES / f"{language}.po").open("rb") as file:
        return as_translations(read_po(file, locale=language))


def as_translations(catalogue: Catalog) -> gettext.NullTranslations:
    """A catalogue in the form that the templates of pages use for looking texts up."""
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    found = gettext.GNUTranslations(compiled)
    found.add_fallback(gettext.NullTranslations())
    return found


def extracted() -> Catalog:
    """A catalogue with all texts of the pages and without any translation, from which a translator starts.

    The texts come from the templates of the pages, and from error messages that pages show.
    """
    found = Catalog(project="confide", charset="utf-8", fuzzy=False)
    options = {"**.html": {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}}
    for name, line, message, comments, context in extract_from_dir(
            _TEMPLATES, [("**.html", "jinja2.ext:babel_extract")], options):
        found.add(message, None, [(name, line)], auto_comments=comments, context=context)
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        for message, line in _worded(source) if _WORDS in source else ():
            found.add(message, None, [(path.relative_to(_PACKAGE).as_posix(), line)])
    return found


def _worded(source: bytes) -> Iterator[tuple[str, int]]:
    """The texts of a module's calls of `worded`, and their lines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="worded"), args=[ast.Constant(value=str(message))]):
                yield message, node.lineno


def template() -> str:
    """The content of the file `confide.pot`: the catalogue of `extracted`. The content is sorted, and has no dates and
    no line numbers, so that it changes only with the texts.
    """
    sorted_ = Catalog(charset="utf-8")
    for message in sorted((each for each in extracted() if each.id), key=lambda each: str(each.id)):
        places = sorted({(name, 0) for name, _ in message.locations})
        sorted_.add(message.id, None, places, auto_comments=message.auto_comments, flags=message.flags,
                    context=message.context)
    written = io.BytesIO()
    write_po(written, sorted_, omit_header=True, include_lineno=False, width=120)
    return _HEAD + written.getvalue().decode("utf-8")

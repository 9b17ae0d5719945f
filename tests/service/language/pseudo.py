"""A language in which every text stands in brackets, and what is left of a page outside of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from gettext import NullTranslations

from babel.messages.catalog import Catalog

from confide.service.language import extracted
from confide.service.language.catalogues import as_translations
from confide.service.web import page as pages

__all__ = ["in_brackets", "outside", "pseudo"]


def pseudo() -> Catalog:
    """A language in which every text stands in brackets; values in it stand outside, and have brackets of their own."""
    found = Catalog(locale="en")
    for message in extracted():
        if message.id:
            texts = message.id if isinstance(message.id, tuple) else (message.id,)
            shown = tuple(map(bracketed, texts))
            found.add(message.id, shown if isinstance(message.id, tuple) else shown[0], context=message.context)
    return found


def bracketed(text: str) -> str:
    """A text in brackets, but for its values."""
    return "".join(part if part.startswith("%(") or not re.search(r"[^\W\d_]", part) else f"⟦{part}⟧"
                   for part in re.split(r"(%\(\w+\)s)", text))


@contextmanager
def in_brackets() -> Iterator[None]:
    """While it is entered, pages of this process speak that language."""
    templates = pages._templates("en")
    pages.speak(templates, as_translations(pseudo()))
    try:
        yield
    finally:
        pages.speak(templates, NullTranslations())


def outside(html: str, allowed: Iterable[str] = ()) -> list[str]:
    """Words of a page, shown or read out, that stand outside of brackets.

    Args:
        html: the page.
        allowed: texts that are not the page's own: names, and what a campaign or its kind says.
    """
    body = html.partition("<body>")[2] or html
    for tag in ("script", "textarea", "code", "pre"):  # programs, files and commands are the same in every language
        body = re.sub(rf"<{tag}\b.*?</{tag}>", "\n", body, flags=re.DOTALL)
    read_out = re.findall(r'\s(?:alt|aria-label|title|placeholder|'
                          r'data-(?!instructions|campaign|who|unit|kept|notion)[\w-]+)="([^"]*)"', body)
    parts = [*re.sub(r"<[^<>]*>", "\n", body).splitlines(), *read_out]
    found = []
    for part in parts:
        text = re.sub(r"&\w+;|&#\d+;", lambda each: {"&#39;": "'", "&amp;": "&"}.get(each[0], " "), part)
        for known in sorted(allowed, key=len, reverse=True):
            text = text.replace(known, " ")
        while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", " ", text)) != text:
            text = shorter
        if re.search(r"[^\W\d_]{2,}", text):
            found.append(text.strip())
    return found

"""Reading a report page as a browser would."""

from __future__ import annotations

import re
from html.parser import HTMLParser

LINKS = {"src", "href", "xlink:href", "action", "poster", "data", "srcset", "formaction"}


class Parsed(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def words(self) -> str:
        return "".join(self.texts)


def self_contained(text: str) -> Parsed:
    """Nothing in the page loads anything."""
    found = Parsed(text)
    assert not {"script", "link", "iframe", "object", "embed", "base", "form", "img"} & set(found.tags)
    for tag, name, value in found.attributes:
        assert name not in LINKS or value.startswith("#"), (tag, name, value)
        assert not name.startswith("on"), (tag, name)
        assert "javascript:" not in value
    assert "@import" not in text
    assert not re.search(r"url\((?!['\"]?#)", text)
    return found

"""A strict parser of the markup that confide and its drawing software write: tags, quoted attributes and text.

A parser for the web accepts malformed markup, and every parser repairs it differently. The parser of this module
refuses any markup that is not in its one plain form. So no entity, comment, instruction or unquoted attribute of an
untrusted page has any effect.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

__all__ = ["Element", "Unreadable", "elements", "unescaped"]

_ENTITY = r"&(?:amp|lt|gt|quot|#39|#x27);"
_LETTER = rf"(?:[^<>&\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|{_ENTITY})"
_VALUE = rf'(?:[^<>&"\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|{_ENTITY})'
_NAME = "[a-zA-Z][a-zA-Z0-9:-]*"
_ATTRIBUTE = re.compile(rf' ({_NAME})=(?:"({_VALUE}*)"|([a-z]+))')
_TOKEN = re.compile(rf'<(?P<name>{_NAME})(?P<attributes>(?: {_NAME}=(?:"{_VALUE}*"|[a-z]+))*)(?P<empty>/?)>'
                    rf"|</(?P<end>{_NAME})>|(?P<text>{_LETTER}+)")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&#x27;": "'"}
_DEEPEST = 64


class Unreadable(ValueError):
    """Error for markup in another form than confide writes. The message names the place."""


@dataclass
class Element:
    """An element: a tag with its attributes and its content.

    Args:
        name: name of the tag, as it is written.
        attributes: mapping from attribute name to unescaped value.
        children: elements and texts, unescaped, in order.
    """

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)


def unescaped(text: str) -> str:
    """A text with its entities replaced by characters. Five entities are known."""
    return re.sub(_ENTITY, lambda found: _ENTITIES[found[0]], text)


def elements(text: str, allowed: Collection[str]) -> list[Element | str]:
    """Parse a piece of markup into elements and texts.

    Args:
        text: the markup.
        allowed: names of the allowed tags.

    Raises:
        Unreadable: a tag is not allowed or not closed, or the markup has a character that the plain form does not
            allow.
    """
    top = Element("")
    stack, place = [top], 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise Unreadable(f"no plain markup at {text[place : place + 20]!r}")
        place = found.end()
        inner = stack[-1]
        if found["text"] is not None:
            inner.children.append(unescaped(found["text"]))
        elif found["end"] is not None:
            if len(stack) == 1 or inner.name != found["end"]:
                raise Unreadable(f"</{found['end']}> closes nothing")
            stack.pop()
        else:
            new = _element(found["name"], found["attributes"], allowed)
            inner.children.append(new)
            if not found["empty"]:
                stack.append(new)
                if len(stack) > _DEEPEST:
                    raise Unreadable("elements are nested too deeply")
    if len(stack) > 1:
        raise Unreadable(f"<{stack[-1].name}> is not closed")
    return top.children


def _element(name: str, text: str, allowed: Collection[str]) -> Element:
    if name not in allowed:
        raise Unreadable(f"<{name}> is not allowed")
    pairs = [(each[0], unescaped(each[1] or each[2])) for each in _ATTRIBUTE.findall(text)]
    if len({key for key, _ in pairs}) < len(pairs):
        raise Unreadable(f"<{name}> has an attribute twice")
    return Element(name, dict(pairs))

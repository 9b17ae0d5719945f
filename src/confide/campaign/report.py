"""A report page: one HTML file with its pictures inside, which opens without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from confide.charts import fault, to_svg
from confide.contract.presentation import Block, Picture, Section, Table, Text

__all__ = ["DRAWN", "NO_SOFTWARE", "UNKNOWN_FORM", "Placed", "head", "page", "pictures", "placed", "with_policy",
           "without_pictures"]

_FIRST_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --paper: #ffffff; --quiet: #5b6570; --line: #d9dee3;
        --study: #8a4b00; --study-paper: #fff6e8; --private: #14506b; --private-paper: #eaf5fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebee; --paper: #16191c; --quiet: #a3adb8; --line: #343b42;
        --study: #ffc477; --study-paper: #33270f; --private: #9ad4ec; --private-paper: #10303c; } }
body { font: 17px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
       max-width: 58rem; padding: 2rem 1.25rem 5rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; }
p.lead { color: var(--quiet); margin-top: 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--quiet); } th, td { padding: .38rem .8rem .38rem 0;
     border-bottom: 1px solid var(--line); vertical-align: top; } td.number, th.number { text-align: right; }
.note { color: var(--quiet); font-size: .9rem; } figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto;
     background: #fff; border-radius: 6px; padding: .5rem; }
section.study, section.private { padding: .1rem 1rem 1rem; border-radius: 8px; margin-top: 1.5rem; }
section.study { background: var(--study-paper); } section.private { background: var(--private-paper); }
.badge { font-size: .8rem; font-weight: 700; letter-spacing: .04em; text-transform: uppercase; }
.study .badge { color: var(--study); } .private .badge { color: var(--private); }
"""
"""Style sheet of the pages of confide 0.1.0, which today's style sheet extends."""

_STYLE = _FIRST_STYLE + """\
figure svg { display: block; box-sizing: border-box; width: 100%; overflow: visible; padding: 0; }
.scroll + .scroll { margin-top: 1.6rem; } .found > h2 + p { font-size: 1.35rem; line-height: 1.35; margin: 1.2rem 0; }
td.number { white-space: nowrap; } section.folded { margin-top: .6rem; border-top: 1px solid var(--line); }
body { overflow-wrap: anywhere; } th, td { overflow-wrap: break-word; max-width: 30rem; }
summary { cursor: pointer; padding: .6rem 0; } summary h2 { display: inline; font-size: 1.05rem; margin: 0; }
@media print { details::details-content { content-visibility: visible; display: block; block-size: auto; }
        th, td { max-width: 14rem; } section.folded { break-inside: auto; } figure, tr { break-inside: avoid; } }
"""

Drawn = Literal["all", "checked", "none"]

_BADGES = {
    "study": "Study under simulated noise: uses private data, not a release",
    "private": "Private: for one participant or the operator",
}

_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"
"""Content security policy of a page: a browser may use exactly this style, and may run no script, load no address and
send no form.
"""

DRAWN, NO_SOFTWARE, UNKNOWN_FORM = "drawn", "left out: no drawing software", "left out: an unknown form"
"""The states of a picture in a page, as `pictures.json` names them."""

_LEFT_OUT = "Picture left out (install the extra [plots]): "
_UNKNOWN = "Picture left out (the drawing software draws it in a form that confide verify does not know): "
_DRAWN = (r'<figure role="img" aria-label="(?P<words>[^"<>]*)">'
          r'(?P<drawing><svg[^<>]*>(?:(?!</?svg|<figure).)*</svg>)'
          r'<figcaption class="note">(?P=words)</figcaption></figure>')
_UNDRAWN = rf'<p class="note">(?:{re.escape(_LEFT_OUT)}|(?P<unknown>{re.escape(_UNKNOWN)}))(?P<told>[^<>]*)</p>'
_PICTURE = re.compile(f"{_DRAWN}|{_UNDRAWN}", re.DOTALL)


def page(title: str, lead: str, sections: Sequence[Section], *, drawn: Drawn = "all") -> str:
    """A report page as HTML.

    Args:
        title: the campaign's title.
        lead: one line of text, shown below the title.
        sections: the sections in reading order.
        drawn: "all" for all pictures that can be drawn, "checked" for pictures whose drawings can be compared with
            their numbers, "none" for no picture.
    """
    body = "\n".join(_section(section, drawn) for section in sections)
    return (f'{head(title)}<body>\n<main>\n<h1>{html.escape(title)}</h1>\n<p class="lead">{html.escape(lead)}</p>\n'
            f'{body}\n</main>\n</body>\n</html>\n')


def head(title: str, *, policy: bool = True) -> str:
    """The HTML of a page before its body.

    Args:
        title: the campaign's title.
        policy: whether the page has today's style and a policy on the content that a browser may load. Pages of confide
            0.1.0 have no policy, and an older style.
    """
    style = _STYLE if policy else _FIRST_STYLE
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n' if policy else ""
    return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{meta}'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n")


def with_policy(text: str, title: str) -> str:
    """A page of confide 0.1.0 with today's head, which has a policy."""
    old = head(title, policy=False)
    return head(title) + text.removeprefix(old) if text.startswith(old) else text


def pictures(sections: Sequence[Section]) -> list[Picture]:
    """All pictures of a page, in order."""
    return [block for section in sections for block in section.blocks if isinstance(block, Picture)]


def _section(section: Section, drawn: Drawn) -> str:
    mark = "study" if section.study else "private" if section.private else ""
    badge = f'<p class="badge">{_BADGES[mark]}</p>' if mark else ""
    mark = mark or ("found" if section.found else "folded" if section.folded else "")
    blocks = "\n".join(_block(block, drawn) for block in section.blocks)
    title = f"<h2>{html.escape(section.title)}</h2>"
    if section.folded:
        return (f'<section class="{mark}">\n<details>\n<summary>{title}</summary>\n{badge}{blocks}\n'
                '</details>\n</section>')
    return f'<section class="{mark}">\n{title}\n{badge}{blocks}\n</section>'


def _block(block: Block, drawn: Drawn) -> str:
    match block:
        case Text(paragraphs=paragraphs):
            return "\n".join(f"<p>{html.escape(p)}</p>" for p in paragraphs)
        case Table():
            return f'<div class="scroll">{block.to_html()}</div>'
        case Picture(spec=spec, alt=alt):
            svg = None if drawn == "none" else to_svg(spec)
            if svg is None:
                return f'<p class="note">{_LEFT_OUT}{html.escape(alt)}</p>'
            if drawn == "checked" and fault(spec, svg):
                return f'<p class="note">{_UNKNOWN}{html.escape(alt)}</p>'
            return (f'<figure role="img" aria-label="{html.escape(alt, quote=True)}">{svg}'
                    f'<figcaption class="note">{html.escape(alt)}</figcaption></figure>')


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A picture as it appears in a page.

    Args:
        words: the description of the picture, escaped as HTML.
        drawing: the drawing as SVG; None if the drawing was left out.
        state: `DRAWN`, or the reason why the drawing was left out: `NO_SOFTWARE` or `UNKNOWN_FORM`.
    """

    words: str
    drawing: str | None
    state: str


def placed(text: str) -> list[Placed]:
    """All pictures in the HTML text of a page, in order."""
    return [Placed(words=_words(found), drawing=found["drawing"],
                   state=DRAWN if found["drawing"] else UNKNOWN_FORM if found["unknown"] else NO_SOFTWARE)
            for found in _PICTURE.finditer(text)]


def _words(found: re.Match[str]) -> str:
    return found["words"] or found["told"] or ""


def without_pictures(text: str) -> tuple[str, list[str | None]]:
    """A page without its drawings, as it would be without drawing software, and the list of the drawings. The list has
    one entry for each picture, which is None if the picture had no drawing.
    """
    return _PICTURE.sub(lambda found: f'<p class="note">{_LEFT_OUT}{_words(found)}</p>', text), [
        each.drawing for each in placed(text)]

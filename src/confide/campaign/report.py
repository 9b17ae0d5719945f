"""A report page: one HTML file with its pictures inside, which opens without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from confide.charts import to_svg
from confide.contract.presentation import Block, Picture, Section, Table, Text

__all__ = ["page", "without_pictures"]

_STYLE = """
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

_BADGES = {
    "study": "Study under simulated noise: uses private data, not a release",
    "private": "Private: for one participant or the operator",
}


_LEFT_OUT = "Picture left out (install the extra [plots]): "
_PICTURE = re.compile(r'<figure role="img" aria-label="(?P<words>[^"<>]*)">'
                      r'(?P<drawing><svg[^<>]*>(?:(?!</?svg|<figure).)*</svg>)'
                      r'<figcaption class="note">(?P=words)</figcaption></figure>', re.DOTALL)


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The page as HTML.

    Args:
        title: the campaign's title.
        lead: one line below it.
        sections: in reading order.
    """
    body = "\n".join(_section(section) for section in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{html.escape(title)}</h1>\n<p class="lead">{html.escape(lead)}</p>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _section(section: Section) -> str:
    mark = "study" if section.study else "private" if section.private else ""
    badge = f'<p class="badge">{_BADGES[mark]}</p>' if mark else ""
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section class="{mark}">\n<h2>{html.escape(section.title)}</h2>\n{badge}{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Text(paragraphs=paragraphs):
            return "\n".join(f"<p>{html.escape(p)}</p>" for p in paragraphs)
        case Table():
            return f'<div class="scroll">{block.to_html()}</div>'
        case Picture(spec=spec, alt=alt):
            svg = to_svg(spec)
            if svg is None:
                return f'<p class="note">{_LEFT_OUT}{html.escape(alt)}</p>'
            return (f'<figure role="img" aria-label="{html.escape(alt, quote=True)}">{svg}'
                    f'<figcaption class="note">{html.escape(alt)}</figcaption></figure>')


def without_pictures(text: str) -> tuple[str, list[str]]:
    """A page as if no picture could be drawn, and its drawings in order."""
    drawings = [found["drawing"] for found in _PICTURE.finditer(text)]
    return _PICTURE.sub(lambda found: f'<p class="note">{_LEFT_OUT}{found["words"]}</p>', text), drawings

"""Upper bounds on the width of a text in a picture, for the widest sans-serif font of common browsers.

The drawing software measures texts in one font, and a reader's browser may show them in another font. Therefore the
specification of a picture reserves enough room for its texts in any font.
"""

from __future__ import annotations

__all__ = ["room_of"]

_NARROW, _BROAD = "fijlrtI .,:;'|!()[]/-", "mwMW=+<>~%@&#"
_WIDTHS = ((_NARROW, 0.42), (_BROAD, 1.0))  # over the size of the font, of DejaVu Sans and Verdana, rounded up
_SMALL, _LARGE, _BOLD = 0.65, 0.72, 1.12


def room_of(text: str, size: int = 12, *, bold: bool = False) -> int:
    """Largest width of a line of text, in pixels.

    Args:
        text: the text, one line.
        size: size of the font, in pixels.
        bold: whether the letters are bold.

    Example:
        >>> room_of("job = full"), room_of("1,000,000")
        (66, 71)
    """
    wide = sum(_width(letter) for letter in text) * size * (_BOLD if bold else 1.0)
    return int(wide) + 1


def _width(letter: str) -> float:
    if not letter.isascii():
        return 1.0
    known = next((width for letters, width in _WIDTHS if letter in letters), None)
    return known or (_LARGE if letter.isupper() or letter.isdigit() else _SMALL)

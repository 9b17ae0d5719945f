"""The characters that a payment may contain. Texts are never transliterated or shortened: a text that does not fit is
refused.
"""

from __future__ import annotations

import re

from confide.contract.errors import InvalidInput
from confide.contract.words import counted

__all__ = ["check_line", "check_reference", "check_text"]

_FOREIGN = re.compile("[^ -~\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f\u0218-\u021b]")
"""Any character that is neither printable ASCII nor a letter of the ISO Latin alphabets (Latin-1, Latin Extended-A,
Romanian).
"""

_REFERENCE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9/?:().,'+ -]{0,33}[A-Za-z0-9?:().,'+-])?")
"""A text in the restricted character set of SEPA (EPC230-15) that begins with a letter or digit and does not end with a
slash or space. SEPA also forbids double slashes, which `check_reference` finds.
"""


def check_line(field: str, whose: str, text: object, longest: int) -> str:
    """Check one line of Latin text.

    Args:
        field: the name of the checked field, for error messages.
        whose: the field in words, for error messages, such as "the name of 'ann'".
        text: the text to check.
        longest: the largest number of characters.

    Returns:
        The text, unchanged.

    Raises:
        InvalidInput: the text is empty, is too long, has spaces around it, or has a character that is not allowed. The
            message names the character.

    Example:
        >>> check_line("name", "the name of 'ann'", "Ann Müller & Söhne", 70)
        'Ann Müller & Söhne'
        >>> check_line("name", "the name of 'ann'", " Ann", 70)
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: name: the name of 'ann' has spaces around it
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(field, f"{whose} is empty")
    foreign = _FOREIGN.search(text)
    if foreign:
        character = foreign.group()
        raise InvalidInput(field, f"{whose} has the character {character!r} (U+{ord(character):04X}) as "
                           f"character {foreign.start() + 1}",
                           "must be printable ASCII or a Latin letter, with its accent in the same character; replace "
                           "the character yourself")
    if text != text.strip():
        raise InvalidInput(field, f"{whose} has spaces around it")
    if len(text) > longest:
        raise InvalidInput(field, f"{whose} has {counted(len(text), 'character')}", f"must have at most {longest}")
    return text


def check_reference(reference: object) -> str:
    """Check the reference of a payment. Banks pass on a valid reference unchanged, and spreadsheets read a valid
    reference as text.

    Raises:
        InvalidInput: the text is no reference of SEPA's form.

    Example:
        >>> check_reference("PAY-2026/0001")
        'PAY-2026/0001'
    """
    if not isinstance(reference, str) or not _REFERENCE.fullmatch(reference) or "//" in reference:
        raise InvalidInput("reference", f"{str(reference)[:40]!r} is not a reference of a payment",
                           "must have 1 to 35 characters out of A-Z a-z 0-9 / - ? : ( ) . , ' + and space; the first "
                           "must be a letter or a digit, the last must not be a space or a slash, and no two slashes "
                           "may stand together")
    return reference


def check_text(field: str, text: object) -> str:
    """Check a text that is kept unchanged, such as a participant's id. It must be possible to write the text as UTF-8.

    Raises:
        InvalidInput: the text is empty, is no text, or has half of a surrogate pair.
    """
    if not isinstance(text, str) or not text:
        raise InvalidInput(field, f"{text!r} is not a text" if not isinstance(text, str) else "is empty")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(field, f"{text!r} is not Unicode") from None
    return text

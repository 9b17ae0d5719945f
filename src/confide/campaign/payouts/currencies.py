"""How many digits behind the point ISO 4217 gives to a currency."""

from __future__ import annotations

import re

from confide.contract.errors import InvalidInput

__all__ = ["digits"]

_CODE = re.compile(r"[A-Z]{3}")

_EXCEPTIONS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
                     "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
"""All others have 2."""

_NO_MONEY = {"XAD", "XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX"}
"""Codes for metals, units of account and tests: ISO 4217 gives them no smallest coin, and no bank pays in them."""


def digits(currency: str) -> int:
    """Digits behind the point of a bank's currency.

    Args:
        currency: a code of ISO 4217. Its form is checked, not whether it is in use: that is for the bank to say.

    Raises:
        InvalidInput: no such code.

    Example:
        >>> digits("EUR"), digits("JPY"), digits("KWD")
        (2, 0, 3)
    """
    if not _CODE.fullmatch(currency) or currency in _NO_MONEY:
        raise InvalidInput("currency", f"{currency!r} is no currency that a bank pays in",
                           "must be a code of ISO 4217, such as EUR")
    return _EXCEPTIONS.get(currency, 2)

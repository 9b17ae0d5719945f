"""Tokens: signed statements as one line of text, which is canonical JSON in base64. The functions of this module do not
check signatures.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from confide.contract.digests import canonical
from confide.contract.errors import InvalidInput

__all__ = ["as_token", "read_token", "token_terms"]

_LONGEST = 1 << 16  # letters


def as_token(statement: Mapping[str, Any]) -> str:
    """A statement as one line of text.

    Example:
        >>> read_token(as_token({"id": "17"}))
        {'id': '17'}
    """
    return base64.urlsafe_b64encode(canonical(dict(statement))).decode()


def read_token(token: str) -> dict[str, Any]:
    """The contents of a token, whose signature is not checked.

    Raises:
        InvalidInput: the text is no token.
    """
    text = "".join(token.split()).removeprefix("contract:")
    try:
        if len(text) > _LONGEST:
            raise ValueError("too long")
        said = json.loads(base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True))
        if not isinstance(said, dict):
            raise TypeError("no statement")
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError):
        raise InvalidInput("contract", "is not a contract",
                           "must be the line of text that `confide contracts --id` shows") from None
    return said


def token_terms(token: str, *, identity: str) -> Mapping[str, Any]:
    """The terms of a contract in a token. The signature is not checked by this function.

    Args:
        token: the token that the participant received.
        identity: the participant's id, which the token must name.

    Raises:
        InvalidInput: the text is no token, the contract is for another id, or the contract is not final.
    """
    said = read_token(token)
    terms = said.get("terms")
    if not isinstance(terms, dict) or said.get("id") != identity:
        raise InvalidInput("contract", "belongs to another participant, or has no terms")
    if said.get("final") is not True:
        raise InvalidInput("contract", "is not final", "give the final contract")
    return terms

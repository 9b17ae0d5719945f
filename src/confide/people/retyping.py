"""What somebody typed, from what is stored of her record: so that she finds it in her form, and changes a part of it.

A stored record is coded, and coding may round or scale. So a text counts here only where it is coded to the very bytes
that are stored: whoever hands the form in unchanged changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from confide.contract.errors import ConfideError

__all__ = ["retyped"]

_DIGITS = (6, 9, 12, 15, 17)  # the fewest that do; 17 give every double


def retyped(kind: Any, config: Any, plan: Any, identity: str, report: bytes) -> dict[str, str] | None:
    """column -> text, as she could have typed it; None where nothing that the kind says of it gives the same record.

    Args:
        kind: a `Kind`; one without the hook `retyped` (of `PeoplesKind`) says nothing.
        config: the campaign's tables.
        plan: of the campaign.
        identity: hers.
        report: what is stored of her, as `Kind.submission` gave it. Private, as is what is returned.

    Example:
        >>> import tomllib
        >>> from confide.contract.kinds import kind
        >>> it = kind("matching")
        >>> tables = {name: table for name, table in tomllib.loads(it.template).items() if isinstance(table, dict)}
        >>> config = it.config.model_validate({name: tables[name] for name in tables if name != "budget"})
        >>> plan = it.plan(config)
        >>> _, report = it.submission(config, plan, "7", {"law": "33.3", "music": "100"})
        >>> retyped(it, config, plan, "7", report)
        {'law': '33.3', 'music': '100'}
    """
    if not hasattr(kind, "retyped"):
        return None  # a kind of one's own, made from nothing
    slot = kind.roster(config).rank(identity)
    try:
        batch = kind.codec(plan).unpack(np.array([slot]), [report])
        said: Mapping[str, str | float] = kind.retyped(config, plan, batch)
    except (ConfideError, NotImplementedError):
        return None  # a kind that stores something else, or bytes that it does not know
    for digits in _DIGITS:
        texts = {name: text if isinstance(text, str) else _short(text, digits) for name, text in said.items()}
        try:
            if kind.submission(config, plan, identity, texts) == (slot, report):
                return texts
        except ConfideError:
            continue
    return None


def _short(value: float, digits: int) -> str:
    text = f"{value + 0.0:.{digits}g}"
    return text if "e" not in text else repr(float(text))

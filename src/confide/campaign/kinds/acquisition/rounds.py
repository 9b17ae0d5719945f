"""Contracts as JSON: a round of them, and one person's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.records import ContractTerms
from confide.acquisition.release.lattice import LatticeContract
from confide.contract.errors import InvalidInput

__all__ = ["as_document", "as_drawn", "lattice_contract", "terms_of"]

_COLUMNS = ("index", "steps", "sigma", "epsilon_local", "epsilon_central", "payment")
"""As a round is written; `sigma` is `noise_std` in Python."""


def lattice_contract(it: TwoPartMechanism, terms: Mapping[str, Any]) -> LatticeContract:
    """What a person's device needs of her terms.

    Raises:
        InvalidInput: no terms of a contract.
        NotGuaranteed: its noise does not keep its level.
    """
    try:
        steps, noise_std = int(terms["steps"]), int(terms["sigma"])
        local, central = float(terms["epsilon_local"]), float(terms["epsilon_central"])
    except (LookupError, TypeError, ValueError):
        raise InvalidInput("contract", "has no terms of a record", "use it as the operator gave it") from None
    return LatticeContract(steps, noise_std, local, central, it.order, it.low, it.high)


def as_document(terms: ContractTerms) -> dict[str, Any]:
    """A round as JSON: one row a contract; sigmas are beyond what all readers of JSON hold, and written as texts."""
    columns = [map(str, terms.noise_std.tolist()) if name == "sigma" else getattr(terms, name).tolist()
               for name in _COLUMNS]
    return {"columns": list(_COLUMNS), "rows": [list(row) for row in zip(*columns, strict=True)],
            "variance": str(terms.variance)}


def as_drawn(document: Mapping[str, Any], people: int) -> ContractTerms:
    """A round from its JSON.

    Raises:
        InvalidInput: its ranks are not of these people, each once.
    """
    columns = dict(zip(_COLUMNS, zip(*document["rows"], strict=True), strict=False))
    found = ContractTerms.of_columns({**columns, "noise_std": [int(each) for each in columns.get("sigma", ())]},
                                     int(document["variance"]))
    ranks = found.index
    if ranks.size and not (ranks[0] >= 0 and ranks[-1] < people and (np.diff(ranks) > 0).all()):
        raise InvalidInput("contracts", "name people who were not invited, or one of them twice")
    return found


def terms_of(document: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """One person's contract; of a person who is asked for nothing, one that says so.

    Args:
        document: a round.
        rank: hers in the list of slots.
    """
    names = document["columns"]
    for row in document["rows"]:
        if row[0] == rank:
            return dict(zip(names[1:], row[1:], strict=True))
    return {"steps": 0, "sigma": "0", "epsilon_local": 0.0, "epsilon_central": 0.0, "payment": 0}

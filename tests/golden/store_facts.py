"""What a store says of its campaigns, its ledger and its payouts, as JSON: what must be the same for ever."""

from __future__ import annotations

import json
from typing import Any

from confide.campaign import Store
from confide.campaign.store.chain import broken
from confide.contract.digests import digest

__all__ = ["facts"]

_SUBJECTS = ("3", "8")


def facts(store: Store) -> dict[str, Any]:
    """Where campaigns stand, what the ledger has of each data set and of two of its subjects, what is due to whom."""
    return {"fingerprint": store.home.fingerprint, "ledger": {each.account.name: _standing(store, each)
                                                              for each in store.ledger()},
            "campaigns": {known.name: _campaign(store, known) for known in store.campaigns()}}


def _standing(store: Store, it: Any) -> dict[str, Any]:
    people = {identity: store.subject(it.account, identity) for identity in _SUBJECTS}
    return {"neighbours": it.account.neighbours.words, "subjects": it.subjects, "whole": _balance(it.filter),
            "least_left": None if it.least_left is None else _balance(it.least_left),
            "people": {name: _balance(found.filter) for name, found in people.items() if found is not None},
            "debits": [[debit.campaign, debit.cost, debit.subjects] for debit in it.debits]}


def _balance(it: Any) -> dict[str, str]:
    """Budget and spend, exact."""
    return {"rule": it.rule, "budget": str(it.budget), "epsilon": str(it.total.epsilon), "delta": str(it.total.delta),
            "rho": str(it.total.rho)}


def _campaign(store: Store, known: Any) -> dict[str, Any]:
    chain, deposits = store.events(known.number), store.deposits(known.number)
    said: dict[str, Any] = {
        "content": known.content, "kind": known.kind, "state": known.state.value, "slots": known.slots,
        "reports": store.submitted(known.number), "withdrawn": sorted(store.withdrawn(known.number)),
        "deposits": None if deposits is None else sorted(deposits), "broken_at": broken(chain),
        "events": [entry.event for entry in chain]}
    if known.state.value == "settled":
        queue, files = store.payouts(known.number), store.pack(known.number)
        said |= {"pack": digest(json.dumps({path: digest(data) for path, data in sorted(files.items())}).encode()),
                 "shares": digest(store.shares(known.number)), "people": dict(queue.people), "coins": dict(queue.coins),
                 "paid": known.paid, "batches": [dict(batch.people) for batch in queue.batches],
                 "due": digest(json.dumps([[each.slot, each.amount, each.state]
                                           for each in store.entries(known.number)]).encode())}
    return said

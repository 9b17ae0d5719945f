"""The queue of payouts: one entry for each person and campaign, which is paid once, whatever is done twice.

::

    queued --approve--> approved --export--> sent --import--> paid
      ^                                        |
      +---------------- reopen ---- failed <---+

A batch is what one export took. It can be written again, the same, until the bank has answered; an entry is in one
batch at a time, and one that was paid never changes again. References are keyed hashes, which tell the bank no slot.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from confide.campaign.store import schema as s
from confide.contract.encoding import digest
from confide.contract.errors import InvalidInput, Refused

__all__ = ["BatchRow", "Queue", "all_paid", "answered", "approve", "approved", "batch", "batches", "confirm", "export",
           "queue", "reopen"]

_STATES = ("queued", "approved", "sent", "paid", "failed")


@dataclass(frozen=True, kw_only=True)
class Queue:
    """How a campaign's payouts stand: the operator's alone, since totals tell of records.

    Args:
        people: state -> number of entries.
        coins: state -> their sum in the smallest coin.
        code: what the operator repeats to approve what is queued; it changes with the queue.
        batches: how many were exported.
    """

    people: Mapping[str, int]
    coins: Mapping[str, int]
    code: str
    batches: int

    @property
    def done(self) -> bool:
        """Whether all is paid."""
        return all(self.people[state] == 0 for state in _STATES if state != "paid")


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    """One export.

    Args:
        number: from 1.
        written: when, UTC.
        payments: (slot, reference, amount) in the order of slots.
    """

    number: int
    written: str
    payments: tuple[tuple[int, str, int], ...]


def reference(secret: bytes, content: str, slot: int, number: int) -> str:
    """What a person's payout is called in a batch: 32 hexadecimal digits.

    Each attempt has its own, so that a late answer to one that failed is never taken for an answer to the next.
    """
    return hmac.digest(secret, f"payout\0{content}\0{number}\0{slot}".encode(), "sha256").hex()[:32]


def queue(connection: Connection, campaign: int) -> Queue:
    """How the payouts stand."""
    of = s.payout.c.campaign_id == campaign
    rows = connection.execute(select(s.payout.c.state, func.count(), func.sum(s.payout.c.amount)).where(of)
                              .group_by(s.payout.c.state)).all()
    people, coins = dict.fromkeys(_STATES, 0), dict.fromkeys(_STATES, 0)
    for state, number, total in rows:
        people[state], coins[state] = int(number), int(total)
    waiting = connection.execute(select(s.payout.c.slot, s.payout.c.amount).where(of, s.payout.c.state == "queued")
                                 .order_by(s.payout.c.slot)).all()
    code = digest("".join(f"{slot} {amount}\n" for slot, amount in waiting).encode())[:8] if waiting else ""
    batches = connection.execute(select(func.count()).select_from(s.payout_batch)
                                 .where(s.payout_batch.c.campaign_id == campaign)).scalar_one()
    return Queue(people=people, coins=coins, code=code, batches=int(batches))


def all_paid(connection: Connection, campaign: int) -> bool:
    """Whether nothing is left to pay."""
    return connection.execute(select(s.payout.c.slot).where(
        s.payout.c.campaign_id == campaign, s.payout.c.state != "paid").limit(1)).first() is None


def approve(connection: Connection, campaign: int, code: str) -> int:
    """The second step: approve what is queued, by repeating the code that the first step showed.

    Returns:
        How many entries are approved by it; 0 where nothing was queued any more.

    Raises:
        Refused: another code.
    """
    found = queue(connection, campaign)
    if not found.people["queued"]:
        return 0
    if not hmac.compare_digest(code.strip().lower().encode(), found.code.encode()):
        raise Refused("the code does not belong to what is queued", "look at the queue again, and repeat its code")
    connection.execute(update(s.payout).where(s.payout.c.campaign_id == campaign, s.payout.c.state == "queued")
                       .values(state="approved"))
    return found.people["queued"]


def export(connection: Connection, campaign: int, form: str) -> int:
    """Put all that is approved into a new batch; its number.

    Raises:
        Refused: nothing is approved.
    """
    number = _next(connection, campaign)
    connection.execute(insert(s.payout_batch).values(campaign_id=campaign, number=number, format=form, written=_now()))
    taken = connection.execute(update(s.payout).where(
        s.payout.c.campaign_id == campaign, s.payout.c.state == "approved").values(state="sent", batch=number))
    if not taken.rowcount:
        raise _nothing_approved()
    return number


def approved(connection: Connection, campaign: int, content: str, secret: bytes) -> BatchRow:
    """What an export would take now.

    Raises:
        Refused: nothing is approved.
    """
    found = _batch(connection, campaign, content, _next(connection, campaign), _now(), secret,
                   of=s.payout.c.state == "approved")
    if not found.payments:
        raise _nothing_approved()
    return found


def batches(connection: Connection, campaign: int, content: str, secret: bytes) -> tuple[BatchRow, ...]:
    """All exported batches, as far as their payouts were not queued again."""
    rows = connection.execute(select(s.payout_batch).where(s.payout_batch.c.campaign_id == campaign)).all()
    found = tuple(_batch(connection, campaign, content, row.number, row.written, secret) for row in rows)
    return tuple(row for row in found if row.payments)


def _batch(
    connection: Connection, campaign: int, content: str, number: int, written: str, secret: bytes,
    of: ColumnElement[bool] | None = None,
) -> BatchRow:
    """The batch of a number, or what would be in it."""
    rows = connection.execute(select(s.payout.c.slot, s.payout.c.amount).where(
        s.payout.c.campaign_id == campaign, s.payout.c.batch == number if of is None else of,
    ).order_by(s.payout.c.slot)).all()
    return BatchRow(number=number, written=written, payments=tuple(
        (paid.slot, reference(secret, content, paid.slot, number), paid.amount) for paid in rows))


def batch(connection: Connection, campaign: int, content: str, number: int, secret: bytes) -> BatchRow:
    """An exported batch that the bank has not answered.

    Raises:
        InvalidInput: no such batch.
        Refused: the bank has answered it; who writes it again might pay twice.
    """
    row = connection.execute(select(s.payout_batch).where(
        s.payout_batch.c.campaign_id == campaign, s.payout_batch.c.number == number)).first()
    if row is None:
        raise InvalidInput("batch", f"{number} does not exist")
    states = connection.execute(select(s.payout.c.state).distinct().where(
        s.payout.c.campaign_id == campaign, s.payout.c.batch == number)).scalars().all()
    if list(states) != ["sent"]:
        raise answered(number)
    return _batch(connection, campaign, content, number, row.written, secret)


def answered(number: int) -> Refused:
    """The bank has said something of a batch."""
    return Refused(f"the bank has answered batch {number}", "what failed is queued again by reopening it")


def _nothing_approved() -> Refused:
    return Refused("no payout is approved", "look at the queue and approve it by its code first")


def confirm(
    connection: Connection, campaign: int, content: str, said: Mapping[str, str], secret: bytes
) -> dict[str, int]:
    """Take what the bank says.

    Args:
        connection: in a writing transaction.
        campaign: its number.
        content: its content's digest.
        said: reference -> "paid" or "failed".
        secret: the ledger's key.

    Returns:
        "paid", "failed": how many entries changed; "known": how many were so before.

    Raises:
        InvalidInput: a reference of no exported payout, or a payment that was confirmed is now said to have failed.
    """
    rows = connection.execute(select(s.payout.c.slot, s.payout.c.state, s.payout.c.batch).where(
        s.payout.c.campaign_id == campaign, s.payout.c.batch.is_not(None)))
    slots = {reference(secret, content, row.slot, row.batch): (row.slot, row.state) for row in rows}
    changed: dict[str, list[int]] = {"paid": [], "failed": []}
    known = 0
    for name, verdict in said.items():
        if name not in slots:
            raise InvalidInput("reference", f"{name!r} is of no exported payout, or of one that was queued again",
                               "nothing was imported; ask the bank before that payout is sent once more")
        slot, state = slots[name]
        if state == verdict:
            known += 1
        elif state == "paid":
            raise InvalidInput("reference", f"{name!r} was confirmed as paid before", "nothing was imported")
        else:
            changed[verdict].append(slot)
    for verdict, found in changed.items():
        for start in range(0, len(found), 500):
            connection.execute(update(s.payout).where(
                s.payout.c.campaign_id == campaign, s.payout.c.slot.in_(found[start : start + 500]),
            ).values(state=verdict))
    return {"paid": len(changed["paid"]), "failed": len(changed["failed"]), "known": known}


def reopen(connection: Connection, campaign: int) -> dict[int, int]:
    """Queue again what the bank could not pay; approval and export follow as before.

    Returns:
        batch -> how many entries of it; none of these batches can be written again, since they would be smaller.
    """
    failed = (s.payout.c.campaign_id == campaign, s.payout.c.state == "failed")
    rows = connection.execute(select(s.payout.c.batch, func.count()).where(*failed).group_by(s.payout.c.batch)
                              .order_by(s.payout.c.batch)).all()
    connection.execute(update(s.payout).where(*failed).values(state="queued", batch=None))
    return {int(number): int(people) for number, people in rows}


def _next(connection: Connection, campaign: int) -> int:
    last = connection.execute(select(func.max(s.payout_batch.c.number))
                              .where(s.payout_batch.c.campaign_id == campaign)).scalar()
    return int(last or 0) + 1


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

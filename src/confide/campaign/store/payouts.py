"""The queue of payouts, with one entry for each person and campaign. Each entry is paid once, however often a step is
repeated.

::

    queued --approve--> approved --export--> sent --import--> paid
      ^                                        |
      +---------------- reopen ---- failed <---+

A batch holds the entries of one export. Until the bank has answered, the file of a batch can be written again, with the
same content and in the same format. An entry is in one batch at a time, and a paid entry never changes again, except
that its amount is erased. Payments that failed and were queued again are recorded, so that a late answer to them is
understood. References are keyed hashes, so they do not disclose to the bank which participant is paid. Sums are exact
integers.

In all functions, `content` is the digest of the campaign file, and `secret` is the ledger's key.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from confide.campaign.store import schema as s
from confide.contract.digests import digest
from confide.contract.errors import InvalidInput, Refused
from confide.contract.worded import worded

__all__ = ["BatchRow", "Entry", "Queue", "Sent", "all_paid", "answered", "approve", "approved", "attempts", "batch",
           "confirm", "entries", "export", "queue", "reopen"]

_STATES = ("queued", "approved", "sent", "paid", "failed")
_HALF = 1 << 31  # amounts are summed in two halves: SQLite knows no integer beyond 2^63
_CHUNK = 500  # slots that one statement names


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The present state of one exported batch.

    Args:
        number: the number of the batch, from 1.
        form: "csv" for a table, or "pain.001" for an order to a bank.
        written: the time of the export in UTC, as YYYY-MM-DDTHH:MM:SSZ.
        people: mapping from "sent", "paid", "failed" and "reopened" to a number of entries; "reopened" are entries that
            failed and were queued again.
        coins: the sum of the entries that were not queued again, in the smallest units of the currency, such as cents;
            None once amounts were erased.
    """

    number: int
    form: str
    written: str
    people: Mapping[str, int]
    coins: int | None


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The state of a campaign's payouts; for the operator alone, since totals disclose information about records.

    Args:
        people: mapping from each state ("queued", "approved", "sent", "paid", "failed") to the number of entries in
            this state.
        coins: mapping from each state to the sum of the amounts in this state, in the smallest units of the currency,
            such as cents.
        code: the code that the operator repeats to approve the queued payouts; empty if none is queued. The code
            changes with the queue and with every export.
        batches: the batches of all exports, in order.
    """

    people: Mapping[str, int]
    coins: Mapping[str, int]
    code: str
    batches: tuple[Sent, ...]

    @property
    def done(self) -> bool:
        """Whether all payouts are paid; True also if no payout was due."""
        return all(self.people[state] == 0 for state in _STATES if state != "paid")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One person's payout.

    Args:
        slot: the participant's position in the public list of ids, from 0.
        amount: the amount in the smallest units of the currency, such as cents; None once the amount was erased.
        state: "queued", "approved", "sent", "paid" or "failed".
        batch: the number of the batch with the entry; None if the entry is queued or approved.
    """

    slot: int
    amount: int | None
    state: str
    batch: int | None


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    """The payments that the file of one batch contains.

    Args:
        number: the number of the batch, from 1.
        form: "csv" for a table, or "pain.001" for an order to a bank; None if the batch is not exported yet.
        written: the time of the export in UTC, as YYYY-MM-DDTHH:MM:SSZ.
        payments: triples (slot, reference, amount), in the order of slots. The slot is the participant's position in
            the public list of ids, from 0. The amount is in the smallest units of the currency, such as cents.
    """

    number: int
    form: str | None
    written: str
    payments: tuple[tuple[int, str, int], ...]


def reference(secret: bytes, content: str, slot: int, number: int) -> str:
    """The reference of a person's payout in a batch, of 32 hexadecimal digits.

    A payout that is sent again in another batch has another reference, so a late answer to the failed payment is never
    taken for an answer to the new payment.
    """
    return hmac.digest(secret, f"payout\0{content}\0{number}\0{slot}".encode(), "sha256").hex()[:32]


def queue(connection: Connection, campaign: int) -> Queue:
    """The state of a campaign's payouts."""
    known = connection.execute(select(s.campaign.c.content, s.campaign.c.paid).where(s.campaign.c.id == campaign)).one()
    erased, sums = known.paid is not None, _sums(connection, campaign)
    people = {state: sum(sums[each][0] for each in sums if each[0] == state) for state in _STATES}
    coins = {state: sum(sums[each][1] for each in sums if each[0] == state) for state in _STATES}
    if erased:
        coins["paid"] = int(known.paid)
    reopened = connection.execute(
        select(s.payout_reopened.c.batch, func.count()).where(s.payout_reopened.c.campaign_id == campaign)
        .group_by(s.payout_reopened.c.batch)).all()
    again = {number: int(count) for number, count in reopened}
    batches = []
    for row in connection.execute(select(s.payout_batch).where(s.payout_batch.c.campaign_id == campaign)
                                  .order_by(s.payout_batch.c.number)):
        there = {state: sums.get((state, row.number), (0, 0)) for state in ("sent", "paid", "failed")}
        batches.append(Sent(
            number=row.number, form=row.format, written=row.written,
            people={**{state: count for state, (count, _) in there.items()}, "reopened": again.get(row.number, 0)},
            coins=None if erased else sum(total for _, total in there.values())))
    code = _code(connection, campaign, known.content, len(batches) + 1) if people["queued"] else ""
    return Queue(people=people, coins=coins, code=code, batches=tuple(batches))


def _sums(connection: Connection, campaign: int) -> dict[tuple[str, int | None], tuple[int, int]]:
    """Mapping from a state and a batch to the number of entries and their exact sum in the smallest coin."""
    of, amount = (s.payout.c.state, s.payout.c.batch), s.payout.c.amount
    rows = connection.execute(select(*of, func.count(), func.sum(amount // _HALF), func.sum(amount % _HALF))
                              .where(s.payout.c.campaign_id == campaign).group_by(*of))
    return {(state, number): (int(count), int(high or 0) * _HALF + int(low or 0))
            for state, number, count, high, low in rows}


def _code(connection: Connection, campaign: int, content: str, number: int) -> str:
    """The code for approving the queued payouts of this campaign before export `number`. The number of the export makes
    a used code invalid for the same queue, after a batch has failed as a whole and was reopened.
    """
    waiting = connection.execute(select(s.payout.c.slot, s.payout.c.amount).where(
        s.payout.c.campaign_id == campaign, s.payout.c.state == "queued").order_by(s.payout.c.slot)).all()
    lines = "".join(f"{slot} {amount}\n" for slot, amount in waiting)
    return digest(f"{content} {number}\n{lines}".encode())[:8]


def entries(connection: Connection, campaign: int) -> tuple[Entry, ...]:
    """All payouts of a campaign, in the order of slots."""
    rows = connection.execute(select(s.payout.c.slot, s.payout.c.amount, s.payout.c.state, s.payout.c.batch)
                              .where(s.payout.c.campaign_id == campaign).order_by(s.payout.c.slot))
    return tuple(Entry(slot=slot, amount=amount, state=state, batch=number) for slot, amount, state, number in rows)


def all_paid(connection: Connection, campaign: int) -> bool:
    """Whether nothing is left to pay; True also if nothing was ever due."""
    return connection.execute(select(s.payout.c.slot).where(
        s.payout.c.campaign_id == campaign, s.payout.c.state != "paid").limit(1)).first() is None


def approve(connection: Connection, campaign: int, code: str) -> int:
    """Approve the queued payouts, with the code that `queue` has shown.

    Returns:
        The number of entries that were approved; 0 if none was queued.

    Raises:
        Refused: the code does not belong to the queued payouts.
    """
    found = queue(connection, campaign)
    if not found.people["queued"]:
        return 0
    if not hmac.compare_digest(code.strip().lower().encode(), found.code.encode()):
        raise Refused(worded("the code does not belong to the queued payouts"),
                      worded("look at the queue again, and repeat its code"))
    connection.execute(update(s.payout).where(s.payout.c.campaign_id == campaign, s.payout.c.state == "queued")
                       .values(state="approved"))
    return found.people["queued"]


def export(connection: Connection, campaign: int, form: str) -> int:
    """Put all approved payouts into a new batch. The result is the number of the batch.

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
    """The batch that an export would make now.

    Raises:
        Refused: nothing is approved.
    """
    found = _batch(connection, campaign, content, _next(connection, campaign), None, _now(), secret,
                   of=s.payout.c.state == "approved")
    if not found.payments:
        raise _nothing_approved()
    return found


def _batch(
    connection: Connection, campaign: int, content: str, number: int, form: str | None, written: str, secret: bytes,
    of: ColumnElement[bool],
) -> BatchRow:
    """A batch with the entries that fulfil the condition `of`."""
    rows = connection.execute(select(s.payout.c.slot, s.payout.c.amount).where(
        s.payout.c.campaign_id == campaign, of).order_by(s.payout.c.slot)).all()
    return BatchRow(number=number, form=form, written=written, payments=tuple(
        (paid.slot, reference(secret, content, paid.slot, number), paid.amount) for paid in rows))


def batch(connection: Connection, campaign: int, content: str, number: int, secret: bytes) -> BatchRow:
    """An exported batch that the bank has not answered.

    Raises:
        InvalidInput: the campaign has no batch of this number.
        Refused: the bank has answered the batch, so payments might be made twice if the file were written again.
    """
    row = connection.execute(select(s.payout_batch).where(
        s.payout_batch.c.campaign_id == campaign, s.payout_batch.c.number == number)).first()
    if row is None:
        raise InvalidInput("batch", worded("%(number)s does not exist", number=number))
    states = connection.execute(select(s.payout.c.state).distinct().where(
        s.payout.c.campaign_id == campaign, s.payout.c.batch == number)).scalars().all()
    reopened = connection.execute(select(s.payout_reopened.c.slot).where(
        s.payout_reopened.c.campaign_id == campaign, s.payout_reopened.c.batch == number).limit(1)).first()
    if reopened is not None or list(states) != ["sent"]:  # without those that failed it would be another, smaller order
        raise answered(number)
    return _batch(connection, campaign, content, number, row.format, row.written, secret, s.payout.c.batch == number)


def answered(number: int) -> Refused:
    """The error for writing the file of a batch that the bank has answered."""
    return Refused(worded("the bank has answered batch %(number)s", number=number),
                   worded("reopen the batch to queue failed payouts again"))


def _nothing_approved() -> Refused:
    return Refused(worded("no payout is approved"),
                   worded("look at the queue first, and approve the queue by its code; to write an earlier export "
                          "again, give the number of its batch"))


def attempts(connection: Connection, campaign: int, content: str, secret: bytes) -> dict[int, dict[str, str]]:
    """All exported payments, as a mapping from the number of a batch to a mapping from reference to status. A status is
    "sent", "paid" or "failed".
    """
    found: dict[int, dict[str, str]] = {}
    for each in _attempts(connection, campaign):
        found.setdefault(each.number, {})[reference(secret, content, each.slot, each.number)] = each.state
    return found


@dataclass(frozen=True)
class _Attempt:
    """One exported payment, and whether its payout was queued again since."""

    slot: int
    number: int
    state: str
    reopened: bool


def _attempts(connection: Connection, campaign: int) -> list[_Attempt]:
    now = connection.execute(select(s.payout.c.slot, s.payout.c.batch, s.payout.c.state).where(
        s.payout.c.campaign_id == campaign, s.payout.c.batch.is_not(None)))
    before = connection.execute(select(s.payout_reopened.c.slot, s.payout_reopened.c.batch).where(
        s.payout_reopened.c.campaign_id == campaign))
    return [*(_Attempt(slot, number, state, False) for slot, number, state in now),
            *(_Attempt(slot, number, "failed", True) for slot, number in before)]


def confirm(
    connection: Connection, campaign: int, content: str, said: Mapping[str, str], secret: bytes
) -> dict[str, int]:
    """Record the bank's answers to exported payments.

    For a payment that failed and was queued again, the answer "failed" may come any number of times. The answer "paid"
    is accepted for a failed payment, unless the payout was sent again in a later payment.

    Args:
        connection: a connection in a writing transaction.
        campaign: the number of the campaign.
        content: the digest of the campaign file.
        said: mapping from the reference of a payment to the bank's answer, "paid" or "failed".
        secret: the ledger's key, from which references are computed.

    Returns:
        Counts of entries: "paid" and "failed" for entries that changed their state, "known" for entries with the same
            answer as before.

    Raises:
        InvalidInput: a reference belongs to no exported payout; the answer is "failed" for a payment that was confirmed
            as paid; or the answer is "paid" for a failed payment, although the payout was sent again in a later
            payment.
    """
    known = {reference(secret, content, each.slot, each.number): each for each in _attempts(connection, campaign)}
    waiting = set(connection.execute(select(s.payout.c.slot).where(
        s.payout.c.campaign_id == campaign, s.payout.c.state.in_(("queued", "approved")))).scalars())
    changed: dict[tuple[str, int], list[int]] = {}
    late: list[_Attempt] = []
    for name, verdict in said.items():
        if name not in known:
            raise InvalidInput("reference", worded("%(name)s belongs to no payout that was exported here",
                                                   name=f"{name!r}"),
                               worded("nothing was imported"))
        found = known[name]
        if found.state == verdict:
            continue
        if found.state == "paid":
            raise InvalidInput("reference", worded("%(name)s was confirmed as paid before", name=f"{name!r}"),
                               worded("nothing was imported: remove this reference from the file, and pay the late "
                                      "return of the bank by hand"))
        if found.reopened:
            if found.slot not in waiting:
                raise InvalidInput("reference",
                                   worded("the payment %(name)s failed before, and was sent again under another "
                                          "reference; but the file reports it as paid", name=f"{name!r}"),
                                   worded("nothing was imported; ask the bank to stop the later payment"))
            waiting.remove(found.slot)
            late.append(found)
        changed.setdefault((verdict, found.number), []).append(found.slot)
    for (verdict, number), slots in changed.items():
        for start in range(0, len(slots), _CHUNK):
            connection.execute(update(s.payout).where(
                s.payout.c.campaign_id == campaign, s.payout.c.slot.in_(slots[start : start + _CHUNK]),
            ).values(state=verdict, batch=number))
    for each in late:
        connection.execute(delete(s.payout_reopened).where(
            s.payout_reopened.c.campaign_id == campaign, s.payout_reopened.c.batch == each.number,
            s.payout_reopened.c.slot == each.slot))
    new = {verdict: sum(len(slots) for (of, _), slots in changed.items() if of == verdict)
           for verdict in ("paid", "failed")}
    return {**new, "known": len(said) - sum(new.values())}


def reopen(connection: Connection, campaign: int) -> dict[int, int]:
    """Queue failed payouts again, for a new approval and export.

    Returns:
        Mapping from a batch to the number of its entries that were queued again. A batch with entries that were queued
        again cannot be written again, since the new file would have fewer payments.
    """
    failed = (s.payout.c.campaign_id == campaign, s.payout.c.state == "failed")
    rows = connection.execute(select(s.payout.c.batch, func.count()).where(*failed).group_by(s.payout.c.batch)
                              .order_by(s.payout.c.batch)).all()
    connection.execute(insert(s.payout_reopened).from_select(
        ("campaign_id", "batch", "slot"), select(s.payout.c.campaign_id, s.payout.c.batch, s.payout.c.slot)
        .where(*failed)))
    connection.execute(update(s.payout).where(*failed).values(state="queued", batch=None))
    return {int(number): int(people) for number, people in rows}


def _next(connection: Connection, campaign: int) -> int:
    last = connection.execute(select(func.max(s.payout_batch.c.number))
                              .where(s.payout_batch.c.campaign_id == campaign)).scalar()
    return int(last or 0) + 1


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

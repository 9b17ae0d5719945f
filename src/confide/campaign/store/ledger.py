"""The durable ledger: the privacy budget and the spend of each data set and each data subject, over all campaigns.

An account belongs to one data set, or to one subject of a data set, for one audience and one neighbouring relation.
Subjects are stored as hashes under the installation's key, which is the argument `secret`. A campaign is debited once.
If participants' devices draw the reports without contracts, the transaction that opens the collection debits the
campaign. In all other cases, the transaction that registers the settlement debits the campaign. Either the data set and
all invited subjects are debited together, or nobody is debited. Nothing is ever given back, and no budget is renewed. A
campaign without a list of subjects may have used the records of anybody. Such a campaign therefore debits every known
subject, and subjects that become known later start with the cost of this campaign.

Thousands of subjects have spent the same amount, so each distinct state of an account is stored once, and a debit moves
whole groups of subjects from one state to the next.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    LargeBinary,
    MetaData,
    Table,
    and_,
    case,
    func,
    insert,
    select,
    true,
    update,
)
from sqlalchemy import text as sql

from confide.campaign.store import schema as s
from confide.campaign.store.database import insert_many
from confide.campaign.store.debits import Debit, Standing
from confide.contract.digests import canonical
from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.contract.guarantees import Audience, Relation
from confide.contract.upgrades import upgraded
from confide.privacy.events import EVENTS, Event
from confide.privacy.filter import Cost, Filter, price
from confide.privacy.ledger import Account, Charge
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["debit", "debit_accounts", "events_text", "newest_text", "standings", "subject_keys", "subject_standing"]

_CHUNK = 50_000
_keys = Table("debited_key", MetaData(), Column("key", LargeBinary, primary_key=True))
"""Temporary table of the subjects that a transaction debits."""


def debit(connection: Connection, campaign: int, charge: Charge, secret: bytes, day: str) -> None:
    """Debit a data set and all its subjects once for one campaign, in a transaction that holds the lock of the ledger.
    `day` is the day of the debit, YYYY-MM-DD in UTC.

    Raises:
        BudgetExceeded: the account of the data set or of a subject does not admit the charge. The caller must roll back
            the transaction.
        InvalidInput: the budget in the charge is larger than the registered budget, or the rule or the neighbouring
            relation differs from the registered one.
    """
    scope_id, cost = debit_accounts(connection, charge, secret)
    connection.execute(insert(s.debit).values(
        campaign_id=campaign, scope_id=scope_id, delta=repr(charge.delta), subjects=len(charge.subjects), day=day,
        cost=str(Filter(charge.budget, charge.rule, cost).spent),
        events=events_text(charge.events), audiences=", ".join(charge.audiences) or None,
    ))


def debit_accounts(connection: Connection, charge: Charge, secret: bytes) -> tuple[int, Cost]:
    """Debit the accounts of a data set and of its subjects, without adding an entry for the campaign.

    Returns:
        The number of the data set's row in the table `ledger_scope`, and the cost that each account was debited.
    """
    cost = price(charge.rule, charge.events, charge.delta)
    scope_id, newcomer = _debit_data_set(connection, charge, cost)
    if charge.subjects:
        _list_keys(connection, sorted(subject_keys(charge.account, secret, charge.subjects)))
        listed = s.subject.c.key.in_(select(_keys.c.key))
        known = _debit_known(connection, scope_id, charge, cost, listed)
        if known < len(charge.subjects):
            _debit_newcomers(connection, scope_id, newcomer.charged(cost, f"each new subject of {charge.account}"))
        connection.execute(sql("DROP TABLE debited_key"))
    else:
        _debit_known(connection, scope_id, charge, cost, true())
    return scope_id, cost


def events_text(events: Iterable[Event]) -> str:
    """The stored form of a list of privacy events: canonical JSON."""
    from confide.contract.encoding import encode  # comes with numpy, which reading the ledger does without

    return canonical([encode(event.to_dict(), {}) for event in events]).decode()


def newest_text(stored: str) -> str:
    """The present stored form of a list of privacy events that an older version of confide may have stored.

    Args:
        stored: the result of `events_text`, perhaps of an older version.
    """
    return canonical(upgraded(json.loads(stored), EVENTS, "event")).decode()


def _debit_data_set(connection: Connection, charge: Charge, cost: Cost) -> tuple[int, Filter]:
    """Debit the data set itself.

    Returns:
        The number of the data set's scope, and the state from which a new subject of this campaign starts.
    """
    account = charge.account
    values = _values(account)
    found = connection.execute(select(s.scope).filter_by(**values)).first()
    if found is None:
        _check_only_relation(connection, account)
        whole, newcomer = Filter(charge.budget, charge.rule), Filter(charge.subject_budget, charge.rule)
    else:
        states = _filters(connection, [found.balance_id, found.newcomer_id])
        whole = states[found.balance_id].lowered(charge.budget, charge.rule)
        newcomer = states[found.newcomer_id].lowered(charge.subject_budget, charge.rule)
    after = newcomer if charge.subjects else newcomer.charged(cost, f"each subject of {account}")
    numbers = {"balance_id": _state(connection, whole.charged(cost, str(account))),
               "newcomer_id": _state(connection, after)}
    if found is None:
        query = insert(s.scope).values(**values, **numbers).returning(s.scope.c.id)
        return int(connection.execute(query).scalar_one()), newcomer
    connection.execute(update(s.scope).where(s.scope.c.id == found.id).values(**numbers))
    return int(found.id), newcomer


def _check_only_relation(connection: Connection, account: Account) -> None:
    """Refuse accounts under a second neighbouring relation, since each would have a budget of its own for the same
    people.
    """
    others = set(connection.execute(select(s.scope.c.neighbours).filter_by(data_set=account.name)).scalars())
    if others - {account.neighbours.words}:
        raise InvalidInput("data_set", f"the budget of {account.name!r} protects {' and '.join(sorted(others))}, not "
                           f"{account.neighbours.words}", "relations are converted only by proved rules")


def _debit_known(
    connection: Connection, scope_id: int, charge: Charge, cost: Cost, which: ColumnElement[bool]
) -> int:
    """Debit the selected subjects that have an account; the result is their number."""
    asked = and_(s.subject.c.scope_id == scope_id, which)
    held = connection.execute(select(s.subject.c.balance_id, func.count()).where(asked)
                              .group_by(s.subject.c.balance_id)).all()
    known = sum(int(count) for _, count in held)
    states = _filters(connection, [row[0] for row in held])
    charged: dict[int, Filter] = {}
    refused: list[tuple[int, BudgetExceeded]] = []
    for balance_id, count in held:
        try:
            lowered = states[balance_id].lowered(charge.subject_budget, charge.rule)
            charged[balance_id] = lowered.charged(cost, str(charge.account))
        except BudgetExceeded as error:
            refused.append((count, error))
    if refused:
        total, first = sum(count for count, _ in refused), refused[0][1]
        raise BudgetExceeded(f"{total:,} of the {len(charge.subjects) or known:,} subjects of {charge.account}",
                             first.requested, first.remaining)
    if charged:
        moved = {old: _state(connection, found) for old, found in charged.items()}
        connection.execute(update(s.subject).where(asked)
                           .values(balance_id=case(moved, value=s.subject.c.balance_id)))
    return known


def _debit_newcomers(connection: Connection, scope_id: int, state: Filter) -> None:
    """Open accounts in this state for the listed subjects without one; no other process writes while the ledger is
    locked.
    """
    connection.execute(sql("INSERT INTO ledger_subject (scope_id, key, balance_id) SELECT :scope, key, :balance "
                           "FROM debited_key WHERE NOT EXISTS (SELECT 1 FROM ledger_subject AS known "
                           "WHERE known.scope_id = :scope AND known.key = debited_key.key)"),
                       {"scope": scope_id, "balance": _state(connection, state)})


def _list_keys(connection: Connection, keys: list[bytes]) -> None:
    """Make a temporary table of the subjects that this transaction debits; a rollback removes the table."""
    if connection.dialect.name == "postgresql":
        connection.execute(sql("CREATE TEMPORARY TABLE debited_key (key BYTEA PRIMARY KEY) ON COMMIT DROP"))
    else:
        connection.execute(sql("CREATE TEMPORARY TABLE debited_key (key BLOB PRIMARY KEY) WITHOUT ROWID"))
    blocks = ([(key,) for key in keys[start : start + _CHUNK]] for start in range(0, len(keys), _CHUNK))
    insert_many(connection, _keys, ("key",), blocks)
    if connection.dialect.name == "postgresql":
        connection.execute(sql("ANALYZE debited_key"))


def _state(connection: Connection, found: Filter) -> int:
    """The number of a state of accounts; if no account has been in this state before, the state is stored first."""
    epsilon, delta = found.limits
    values = {"rule": found.rule, "budget_epsilon": str(epsilon), "budget_delta": str(delta),
              "epsilon": str(found.total.epsilon), "delta": str(found.total.delta), "rho": str(found.total.rho),
              "pure": int(found.total.pure)}
    known = connection.execute(select(s.balance.c.id).filter_by(**values)).scalar()
    if known is None:
        known = connection.execute(insert(s.balance).values(**values).returning(s.balance.c.id)).scalar_one()
    return int(known)


def _filters(connection: Connection, numbers: Sequence[int]) -> dict[int, Filter]:
    rows = connection.execute(select(s.balance).where(s.balance.c.id.in_(numbers)))
    return {row.id: _filter(row) for row in rows}


def _filter(row: Any) -> Filter:
    epsilon, delta = float(Fraction(row.budget_epsilon)), float(Fraction(row.budget_delta))
    total = Cost(Fraction(row.epsilon), Fraction(row.delta), Fraction(row.rho), pure=bool(row.pure))
    return Filter(ApproxDP(epsilon, delta) if delta else PureDP(epsilon), row.rule, total)


# ---- what it says


def standings(connection: Connection, data_set: str | None = None) -> tuple[Standing, ...]:
    """The budget and the spend of every data set, or of a single data set."""
    query = select(s.scope).order_by(s.scope.c.data_set, s.scope.c.id)
    if data_set is not None:
        query = query.where(s.scope.c.data_set == data_set)
    out = []
    for row in connection.execute(query).all():
        counts = connection.execute(select(s.subject.c.balance_id, func.count()).where(s.subject.c.scope_id == row.id)
                                    .group_by(s.subject.c.balance_id)).all()
        states = _filters(connection, [row.balance_id, *(number for number, _ in counts)])
        subjects = [states[number] for number, _ in counts]
        out.append(Standing(account=_account(row), filter=states[row.balance_id], debits=_debits(connection, row.id),
                            subjects=sum(count for _, count in counts),
                            least_left=min(subjects, key=_room) if subjects else None))
    return tuple(out)


def subject_standing(connection: Connection, account: Account, identity: str, secret: bytes) -> Standing | None:
    """The budget and the spend of one subject of a data set, with the debits of the data set. The result is None if no
    campaign on the data set has listed the subject.
    """
    row = connection.execute(
        select(s.scope.c.id, s.subject.c.balance_id).filter_by(**_values(account))
        .join(s.subject, s.subject.c.scope_id == s.scope.c.id)
        .where(s.subject.c.key == subject_keys(account, secret, [identity])[0])).first()
    if row is None:
        return None
    return Standing(account=account, filter=_filters(connection, [row.balance_id])[row.balance_id],
                    debits=_debits(connection, row.id))


def _values(account: Account) -> dict[str, str]:
    """The columns that identify the accounts of a data set."""
    return {"data_set": account.name, "neighbours": account.neighbours.words, "audience": account.audience.value}


def _account(row: Any) -> Account:
    return Account(name=row.data_set, neighbours=Relation(row.neighbours), audience=Audience(row.audience))


def subject_keys(account: Account, secret: bytes, identities: Iterable[str]) -> list[bytes]:
    """The keys under which subjects are stored: keyed hashes (HMAC-SHA-256) of the account and the subjects' ids."""
    head = "".join(f"{value}\0" for value in _values(account).values()).encode()
    return [hmac.digest(secret, head + identity.encode(), "sha256") for identity in identities]


def _debits(connection: Connection, scope_id: int) -> tuple[Debit, ...]:
    query = (select(s.debit, s.campaign.c.name, s.campaign.c.title)
             .join(s.campaign, s.campaign.c.id == s.debit.c.campaign_id)
             .where(s.debit.c.scope_id == scope_id).order_by(s.debit.c.day, s.debit.c.campaign_id))
    return tuple(Debit(campaign=row.name, title=row.title, day=row.day, cost=row.cost, subjects=row.subjects,
                       audiences=tuple(Audience(each) for each in (row.audiences or "").split(", ") if each))
                 for row in connection.execute(query))


def _room(found: Filter) -> Fraction:
    """The unspent share of the budget."""
    epsilon, delta = found.limits
    if found.rule == "zcdp":
        allowed = Fraction(ZCDP.within(float(epsilon), float(delta)).rho)
        return 1 - found.total.rho / allowed
    return 1 - found.total.epsilon / epsilon

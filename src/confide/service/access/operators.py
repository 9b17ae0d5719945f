"""Operators, with their identities, passwords and roles. An operator who is no longer active loses all sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t
from confide.contract.errors import InvalidInput, Refused
from confide.contract.worded import worded
from confide.contract.words import counted
from confide.service.access.addresses import LONGEST_ISSUER, LONGEST_SUBJECT, is_issuer, is_subject
from confide.service.access.identity import Operator, Role

__all__ = ["LONGEST_NAME", "LONGEST_PASSWORD", "SHORTEST_PASSWORD", "Operators"]

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1000  # letters: a longer one would only make the hash slow
LONGEST_NAME = 100

_hashes = PasswordHash((Argon2Hasher(),))
_NOBODYS = _hashes.hash("a password that nobody has")


class Operators:
    """The operators of the service, who are kept in a store.

    Args:
        store: store in which the operators are kept.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from confide.campaign import Home
        >>> with TemporaryDirectory() as folder:
        ...     with Store(f"sqlite:///{folder}/store.db", home=Home(Path(folder))) as store:
        ...         operators = Operators(store)
        ...         _ = operators.add("ada", "correct horse battery", Role.ADMIN)
        ...         operators.check("ada", "correct horse battery"), operators.check("ada", "a guess")
        (Operator(number=1, name='ada', role=<Role.ADMIN: 'admin'>, active=True, issuer=''), None)
    """

    def __init__(self, store: Store) -> None:
        self._database = store.database

    def add(self, name: str, password: str, role: Role) -> Operator:
        """Add an operator with a password.

        Raises:
            InvalidInput: the name is taken or not valid, or the password is too short or too long.
        """
        _check_password(password)
        return self._insert(name, role, {"password": _hashes.hash(password)})

    def admit(self, name: str, role: Role, *, issuer: str, subject: str) -> Operator:
        """Add an operator with an identity at an identity provider. Such an operator has no password at this service.

        Args:
            name: name of the operator at this service.
            role: rights of the operator.
            issuer: address of the provider, spelled as the provider spells it.
            subject: identifier of the operator at the provider. An e-mail address is unsuitable, because it may belong
                to another person later.

        Raises:
            InvalidInput: the name is taken or not valid, the address or the identifier is not valid, or the operator
                was added before.
        """
        if not is_issuer(issuer):
            raise InvalidInput("issuer", "is not an address of an issuer",
                               f"must be https://..., without a query, of at most {LONGEST_ISSUER} letters")
        if not is_subject(subject):
            raise InvalidInput("subject", "cannot be used", f"must be 1 to {LONGEST_SUBJECT} visible letters")
        known = self.by_identity(issuer, subject)
        if known is not None:
            raise InvalidInput("subject", f"belongs to an operator already: {known.name!r}",
                "to change their role, edit this operator")
        return self._insert(name, role, {"issuer": issuer, "subject": subject})

    def check(self, name: str, password: str) -> Operator | None:
        """The operator with this name and password; None if the name is unknown, the password is wrong, or the operator
        is not active. The check takes equally long for unknown names.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(t.operator).where(t.operator.c.name == name)).first()
        known = None if row is None else row.password
        right = _hashes.verify(password[: LONGEST_PASSWORD + 1], _NOBODYS if known is None else known)
        return _operator(row) if right and known is not None and row is not None and row.active else None

    def get(self, number: int) -> Operator:
        """The operator with this number in the store.

        Raises:
            InvalidInput: there is no operator with this number.
        """
        found = self._one(t.operator.c.id == number)
        if found is None:
            raise InvalidInput("operator", f"the store has no operator with the number {number}")
        return found

    def named(self, name: str) -> Operator:
        """The operator with this name.

        Raises:
            InvalidInput: there is no operator with this name.
        """
        found = self._one(t.operator.c.name == name)
        if found is None:
            raise InvalidInput("name", f"no operator has the name {name!r}")
        return found

    def by_identity(self, issuer: str, subject: str) -> Operator | None:
        """The operator with this issuer and this identifier at the issuer; None if there is no such operator."""
        return self._one((t.operator.c.issuer == issuer) & (t.operator.c.subject == subject))

    def all(self) -> tuple[Operator, ...]:
        """All operators, in the order of their numbers."""
        with self._database.reading() as connection:
            return tuple(_operator(row) for row in connection.execute(select(t.operator).order_by(t.operator.c.id)))

    def change(
        self, number: int, *, role: Role | None = None, active: bool | None = None, password: str | None = None
    ) -> Operator:
        """Change the role or the password of an operator, or whether the operator is active. All sessions of the
        operator end.

        Raises:
            Refused: no administrator would be left, or a password is given for an operator with an identity at a
                provider.
            InvalidInput: the operator does not exist, or the password is too short or too long.
        """
        values: dict[str, Any] = {}
        if password is not None:
            _check_password(password)
            values["password"] = _hashes.hash(password)
        if role is not None:
            values["role"] = role.value
        if active is not None:
            values["active"] = int(active)
        known = self.get(number)
        if password is not None and known.issuer:
            raise Refused(f"{known.issuer} identifies {known.name!r}", "this operator has no password in this service")
        with self._database.writing() as connection:
            self._database.lock_ledger(connection)  # of two who take each other's role, one is left
            if values:
                connection.execute(update(t.operator).where(t.operator.c.id == number).values(**values))
            self._check_admins(connection)
            connection.execute(delete(t.operator_session).where(t.operator_session.c.operator_id == number))
        return self.get(number)

    @staticmethod
    def _check_admins(connection: Connection) -> None:
        admins = connection.execute(select(func.count()).select_from(t.operator).where(
            t.operator.c.active == 1, t.operator.c.role == Role.ADMIN.value)).scalar_one()
        if not admins:
            raise Refused(worded("without this admin, nobody could manage operators"),
                          worded("give another operator the role of an admin first"))

    def _insert(self, name: str, role: Role, values: Mapping[str, Any]) -> Operator:
        _check_name(name)
        with self._database.writing() as connection:
            taken = select(t.operator.c.id).where(t.operator.c.name == name)
            if connection.execute(taken).first() is not None:
                raise InvalidInput("name", f"{name!r} is taken", "choose another one")
            try:
                number = connection.execute(insert(t.operator).values(
                    name=name, role=role.value, active=1, **values).returning(t.operator.c.id)).scalar_one()
            except IntegrityError:  # somebody was faster
                raise InvalidInput("name", f"{name!r} is taken, or the operator is known already",
                                   "choose another one") from None
        return self.get(int(number))

    def _one(self, where: ColumnElement[bool]) -> Operator | None:
        with self._database.reading() as connection:
            row = connection.execute(select(t.operator).where(where)).first()
        return None if row is None else _operator(row)


def _operator(row: Any) -> Operator:
    return Operator(number=row.id, name=row.name, role=Role(row.role), active=bool(row.active),
                    issuer=row.issuer or "")


def _check_name(name: str) -> None:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InvalidInput("name", "cannot be used", f"must be 1 to {LONGEST_NAME} visible letters")


def _check_password(password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInput("password", f"has {counted(len(password), 'letter')}",
                           f"must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} letters; a few words are easy to "
                           "remember")

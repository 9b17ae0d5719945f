"""Entry points for operators: logging in and out, and managing operators and their rights."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import BaseModel, Field, SecretStr

from confide.contract.errors import InvalidInput
from confide.service.access import Operator, Role
from confide.service.access.addresses import LONGEST_ISSUER, LONGEST_SUBJECT
from confide.service.access.operators import LONGEST_NAME, LONGEST_PASSWORD
from confide.service.api.models import Number, OperatorModel, Strict, operator_model
from confide.service.shell.guards import OPERATOR_COOKIE, PartsOf, needs, token_of
from confide.service.shell.problems import answers
from confide.service.shell.trying import tried

__all__ = ["router"]

router = APIRouter(tags=["operators"])
Admin = Annotated[Operator, Depends(needs(Role.ADMIN))]
Viewer = Annotated[Operator, Depends(needs(Role.VIEWER))]
Password = Annotated[SecretStr, Field(max_length=LONGEST_PASSWORD)]


class LogIn(Strict):
    """The name and the password of a log-in."""

    name: str = Field(max_length=LONGEST_NAME)
    password: Password


class SessionModel(BaseModel):
    """The token of an operator's new session."""

    token: str = Field(description="token for the header `Authorization: Bearer TOKEN`")
    operator: OperatorModel


class NewOperator(Strict):
    """A new operator, identified either by a password or by an issuer (OpenID Connect)."""

    name: str = Field(max_length=LONGEST_NAME)
    role: Literal["viewer", "operator", "admin"]
    password: Password | None = Field(default=None, description="left out if an issuer identifies the operator")
    issuer: str | None = Field(default=None, max_length=LONGEST_ISSUER, description=
        "the provider that identifies the operator")
    subject: str | None = Field(default=None, max_length=LONGEST_SUBJECT, description=
        "the operator's identifier (subject) at the issuer")


class ChangedOperator(Strict):
    """Changes of an operator's rights or password. Fields that are left out stay as they are."""

    role: Literal["viewer", "operator", "admin"] | None = None
    active: bool | None = None
    password: Password | None = None


class OperatorsModel(BaseModel):
    """All operators of the service."""

    operators: list[OperatorModel]


@router.post("/login", responses=answers(401, 413, 422, 429))
async def log_in(parts: PartsOf, request: Request, who: LogIn) -> SessionModel:
    """Log in with a name and a password, and begin a session."""
    def begin() -> SessionModel | None:
        found = parts.operators.check(who.name, who.password.get_secret_value())
        return None if found is None else SessionModel(token=parts.sessions.begin(found),
                                                       operator=operator_model(found))

    session = await tried(parts, request, "log in", who.name, begin)
    if session is None:
        raise HTTPException(401, "the name or the password is wrong", {"WWW-Authenticate": "Bearer"})
    return session


@router.post("/logout", status_code=204, response_class=Response, responses=answers(401, 403, 422))
def log_out(parts: PartsOf, request: Request, _: Viewer) -> Response:
    """End the operator's session."""
    parts.sessions.end(token_of(request, OPERATOR_COOKIE))
    return Response(status_code=204)


@router.get("/me", responses=answers(401, 403, 422))
def show_myself(_: Viewer) -> OperatorModel:
    """Show the operator who makes the request."""
    return operator_model(_)


@router.get("/operators", responses=answers(401, 403, 422))
def list_operators(parts: PartsOf, _: Admin) -> OperatorsModel:
    """List all operators."""
    return OperatorsModel(operators=[operator_model(each) for each in parts.operators.all()])


@router.post("/operators", status_code=201, responses=answers(401, 403, 413, 422))
def add_operator(parts: PartsOf, _: Admin, new: NewOperator) -> OperatorModel:
    """Add an operator, with a password, or with an issuer and the operator's identifier at this issuer."""
    role = Role(new.role)
    if new.issuer is not None and new.subject is not None and new.password is None:
        return operator_model(parts.operators.admit(new.name, role, issuer=new.issuer, subject=new.subject))
    if new.password is None or new.issuer is not None or new.subject is not None:
        raise InvalidInput("password", "is missing" if new.password is None else
                           "is given together with an issuer or a subject",
                           "give a password, or an issuer and a subject")
    return operator_model(parts.operators.add(new.name, new.password.get_secret_value(), role))


@router.put("/operators/{number}", responses=answers(401, 403, 409, 413, 422))
def change_operator(parts: PartsOf, _: Admin, number: Number, changed: ChangedOperator) -> OperatorModel:
    """Change an operator's rights or password. All sessions of the operator end."""
    return operator_model(parts.operators.change(
        number, role=None if changed.role is None else Role(changed.role), active=changed.active,
        password=None if changed.password is None else changed.password.get_secret_value()))

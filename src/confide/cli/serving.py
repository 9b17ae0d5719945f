"""The commands for the web service: `confide serve` runs the service, and `confide operators` manages its operators."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import StoreUrl

if TYPE_CHECKING:
    from confide.service.access import Operators

__all__ = ["operators", "serve"]

operators = typer.Typer(name="operators", help="Manage the people who may run campaigns in the service.",
                        no_args_is_help=True)


_SHORTEST_TOKEN = 20  # letters


class RoleName(StrEnum):
    """The rights of an operator, as in `confide.service.access.Role`."""

    viewer = "viewer"
    operator = "operator"
    admin = "admin"


PasswordFile = Annotated[Path | None, typer.Option(
    "--password-file", metavar="FILE", help=
    "Read the password from the first line of a file [the command asks for it].")]


def _extra() -> None:
    """Raise an error if the extra of the service is not installed."""
    from importlib.util import find_spec

    from confide.contract import Refused

    missing = [name for name in ("fastapi", "uvicorn", "pwdlib", "authlib") if find_spec(name) is None]
    if missing:
        raise Refused(f"the service needs {', '.join(missing)}", "install the extra: pip install 'confide[service]'")


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    base_url: Annotated[str | None, typer.Option(
        "--base-url", metavar="URL", help="Address under which browsers reach the service, such as "
                                          "https://study.example [made from the host and the port].")] = None,
    data: Annotated[Path | None, typer.Option(
        metavar="FOLDER", help="Folder of the tables that campaign files may name.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
    settling: Annotated[bool, typer.Option(help="Whether these processes settle and audit, too.")] = True,
    behind: Annotated[str, typer.Option(
        metavar="ADDRESS", help="Address of a reverse proxy; the service uses the client's address that this proxy "
                                "states.")] = "",
    oidc_issuer: Annotated[str | None, typer.Option(
        "--oidc-issuer", metavar="URL", help="Address of a provider (OpenID Connect) with which operators may log in, "
                                             "too.")] = None,
    oidc_client: Annotated[str, typer.Option(
        "--oidc-client", metavar="ID", help="Client id of this service at the provider.")] = "",
    oidc_secret_file: Annotated[Path | None, typer.Option(
        "--oidc-secret-file", metavar="FILE", help="Read the provider's secret for this service from the first line of "
                                                   "a file [the variable CONFIDE_OIDC_SECRET].")] = None,
    oidc_name: Annotated[str, typer.Option(
        "--oidc-name", metavar="NAME", help="Name of the provider on the log-in page [its host].")] = "",
    attempts: Annotated[int, typer.Option(
        min=1, help="Number of failed log-ins under one name from one address, in five minutes, after which further "
                    "attempts are refused."
    )] = 10,
    attempts_at_ease: Annotated[int, typer.Option(
        "--attempts-at-ease", min=1, help="Number of failed log-ins from one address, or under one name, in five "
                                          "minutes, after which each attempt takes longer.")] = 100,
    metrics_token: Annotated[Path | None, typer.Option(
        "--metrics-token", metavar="FILE", help="File with a token in its first line: the service answers at /metrics "
                                                "to clients that send this token [to nobody].")] = None,
    store: StoreUrl = None,
) -> None:
    """Run the web service until it is stopped: pages and API for several operators, for participants and for the
    public.
    """
    _extra()
    from pydantic import ValidationError

    from confide.campaign import Store
    from confide.contract import InvalidInput
    from confide.service.access import Operators
    from confide.service.serving import serve as run
    from confide.service.shell.settings import OidcSettings, Settings

    if data is not None and not data.is_dir():
        raise InvalidInput("data", f"{data} is not a folder", "make it first")
    if oidc_issuer is None and (oidc_client or oidc_secret_file or oidc_name):
        raise InvalidInput("oidc-issuer", "is missing", "give --oidc-issuer URL, or none of the other --oidc options")
    try:
        oidc = None if oidc_issuer is None else OidcSettings(
            issuer=oidc_issuer, client=oidc_client, name=oidc_name,
            secret_file=None if oidc_secret_file is None else oidc_secret_file.absolute())
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(f"oidc-{first['loc'][0]}", str(first["msg"]).removeprefix("Value error, ")) from None
    if oidc is not None:
        oidc.secret()  # a problem with it is reported now
    try:
        settings = Settings(store=store, oidc=oidc, data=None if data is None else data.absolute(), settling=settling,
                            attempts=attempts, attempts_at_ease=attempts_at_ease, metrics_digest=_digest(metrics_token),
                            base_url=base_url or f"http://{'localhost' if host == '127.0.0.1' else host}:{port}")
    except ValidationError as error:
        raise InvalidInput("base-url", str(error.errors()[0]["msg"]).removeprefix("Value error, ")) from None
    with Store(store) as there:  # a problem with it is reported now, by one process
        if not Operators(there).all():
            print("nobody can log in yet; add an operator first: confide operators add NAME --role admin",
                  file=sys.stderr)
    run(settings, host=host, port=port, workers=workers, proxy=behind, listening=lambda: print(
        f"confide serves {settings.base_url}; end it with Ctrl-C", file=sys.stderr, flush=True))


@operators.command("list")
def list_(store: StoreUrl = None) -> None:
    """List all operators, with their role and with whether they are active."""
    with _opened(store) as there:
        for each in there.all():
            print(f"{each.name}  {each.role}{'' if each.active else '  (not active)'}"
                  f"{f'  by {each.issuer}' if each.issuer else ''}")


@operators.command()
def add(
    name: Annotated[str, typer.Argument(help="Name for the log-in.")],
    role: Annotated[RoleName, typer.Option(help="A viewer reads pages, an operator also runs campaigns, and an admin "
                                                "also names operators.")
                    ] = RoleName.operator,
    password_file: PasswordFile = None,
    issuer: Annotated[str | None, typer.Option(
        metavar="URL", help="Address of a provider (OpenID Connect) that identifies the operator, instead of a "
                            "password.")] = None,
    subject: Annotated[str | None, typer.Option(metavar="SUB", help=
                                                "The operator's identifier (subject) at that provider.")] = None,
    store: StoreUrl = None,
) -> None:
    """Add an operator. The command asks for the operator's password, unless a password file or an issuer is given."""
    from confide.contract import InvalidInput
    from confide.service.access import Role

    if (issuer is None) is not (subject is None) or (issuer is not None and password_file is not None):
        raise InvalidInput("issuer", "needs a subject, and excludes a password",
                           "give --issuer URL and --subject SUB, or neither of them")
    with _opened(store) as there:
        if issuer is not None and subject is not None:
            found = there.admit(name, Role(role.value), issuer=issuer, subject=subject)
        else:
            found = there.add(name, _password(password_file), Role(role.value))
    print(f"{found.name} is {'an' if found.role[0] in 'ao' else 'a'} {found.role}")


@operators.command()
def change(
    name: Annotated[str, typer.Argument(help="The name of the operator to change.")],
    role: Annotated[RoleName | None, typer.Option(help="The operator's rights from now on.")] = None,
    active: Annotated[bool | None, typer.Option(help="Whether the operator may log in.")] = None,
    password: Annotated[bool, typer.Option("--password", help="Ask for a new password.")] = False,
    password_file: PasswordFile = None,
    store: StoreUrl = None,
) -> None:
    """Change an operator's rights or password. All sessions of the operator end."""
    from confide.service.access import Role

    with _opened(store) as there:
        found = there.change(there.named(name).number, role=None if role is None else Role(role.value), active=active,
                             password=_password(password_file) if password or password_file else None)
    print(f"{found.name}: {found.role}{'' if found.active else ', not active'}")


@contextmanager
def _opened(url: str | None) -> Iterator[Operators]:
    """The operators of a store. The store is closed at the end of the context."""
    _extra()
    from confide.campaign import Store
    from confide.service.access import Operators

    with Store(url) as store:
        yield Operators(store)


def _digest(file: Path | None) -> str | None:
    """The digest of the token in a file. The serving processes need only the digest."""
    import hashlib

    from confide.contract import InvalidInput
    from confide.contract.files import read_bytes

    if file is None:
        return None
    token = read_bytes("metrics-token", file, 4096).partition(b"\n")[0].strip()
    if len(token) < _SHORTEST_TOKEN:
        raise InvalidInput("metrics-token", "is too short for a secret", f"must have {_SHORTEST_TOKEN} letters or more"
                           ", such as those of `openssl rand -hex 32`")
    return hashlib.sha256(token).hexdigest()


def _password(file: Path | None) -> str:
    """Read a password from a file, or ask for it twice. The password is never read from the command line, which other
    users can read.
    """
    from confide.contract import InvalidInput
    from confide.contract.files import read_bytes

    if file is not None:
        return read_bytes("password-file", file, 4096).decode("utf-8", "replace").partition("\n")[0]
    if not sys.stdin.isatty():
        raise InvalidInput("password", "cannot be typed without a terminal", "give --password-file FILE")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))

"""Settings of the service, from the options of `confide serve` or from the environment."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from confide.contract.errors import InvalidInput
from confide.contract.files import read_bytes
from confide.service.access.addresses import is_issuer
from confide.service.work.drafts import MOST_PEOPLE

__all__ = ["OIDC_SECRET", "OidcSettings", "Settings"]

OIDC_SECRET = "CONFIDE_OIDC_SECRET"  # noqa: S105 # the name of a variable
"""Name of the environment variable with the secret by which an identity provider recognises this service."""


class OidcSettings(BaseModel):
    """Settings of the identity provider that identifies operators by OpenID Connect.

    The secret is not among the settings: each process reads it from a file, or from the environment.

    Example:
        >>> OidcSettings(issuer="https://id.example/realms/study", client="confide").shown
        'id.example'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str = Field(description="the provider's address, as the provider names itself")
    client: str = Field(min_length=1, max_length=500, description="client id of this service at the provider")
    secret_file: Path | None = Field(default=None, description=
                                     "file with the secret in its first line; default the environment")
    name: str = Field(default="", max_length=60, description="the provider's name on the log-in page; default its host")
    seconds: float = Field(default=5.0, gt=0, le=60, description=
                           "seconds that one step of the provider's answer may take")

    @field_validator("issuer")
    @classmethod
    def _over_tls(cls, url: str) -> str:
        if not is_issuer(url):
            raise ValueError("must be https://..., without a query; http on this machine alone")
        return url

    @property
    def shown(self) -> str:
        """The name of the provider that the log-in page shows."""
        return self.name or urlsplit(self.issuer).hostname or self.issuer

    def secret(self) -> str:
        """The secret by which the provider recognises this service.

        Raises:
            InvalidInput: there is no secret.
        """
        if self.secret_file is not None:
            found = read_bytes("oidc-secret-file", self.secret_file, 4096).decode("utf-8", "replace")
            field = "oidc-secret-file"
        else:
            found, field = os.environ.get(OIDC_SECRET, ""), OIDC_SECRET
        found = found.partition("\n")[0].strip()
        if not found:
            raise InvalidInput(field, "holds no secret", f"give --oidc-secret-file FILE, or set {OIDC_SECRET}")
        return found


class Settings(BaseModel):
    """Settings of the service.

    Example:
        >>> Settings(base_url="https://study.example").secure
        True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path | None = Field(default=None, description="the installation's folder; the default is that of the command "
                                                        "line")
    store: str | None = Field(default=None, description="URL of the store; the default is the installation's own store")
    data: Path | None = Field(default=None, description="the folder in which campaign files may name tables")
    base_url: str = Field(default="http://localhost:8000", description=
                          "address under which browsers reach the service; used in participants' links")
    session_hours: float = Field(default=12.0, gt=0, le=720, description="duration of an operator's session")
    participant_days: int = Field(default=180, ge=1, le=3650,
                                  description="duration of participants' sessions after the end of their campaign")
    largest_body: int = Field(default=1 << 20, ge=1 << 10, description="largest size of a request, in bytes")
    largest_upload: int = Field(default=64 << 20, ge=1 << 10, description=
                                "largest size of a file that an operator uploads, in bytes")
    most_people: int = Field(default=MOST_PEOPLE, ge=1, description="largest number of invited slots of a campaign")
    attempts: int = Field(default=10, ge=1, description=(
        "number of failed log-ins under one name from one address, in five minutes, after which further attempts are "
        "refused"))
    attempts_at_ease: int = Field(default=100, ge=1, description=(
        "number of failures to log in or to join, from one address or under one name, in five minutes, after which "
        "each attempt takes longer"))
    settling: bool = Field(default=True, description="true if this process also does jobs, besides answers")
    metrics_digest: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", description=(
        "SHA-256 of the bearer token for /metrics; without a token, /metrics does not answer"))
    oidc: OidcSettings | None = Field(default=None, description="identity provider for operators, besides passwords")

    @field_validator("base_url")
    @classmethod
    def _no_path(cls, url: str) -> str:
        scheme, _, rest = url.partition("://")
        if scheme not in ("http", "https") or not rest.strip("/") or "/" in rest.rstrip("/"):
            raise ValueError("must be http://HOST or https://HOST, without a path")
        return url.rstrip("/")

    @property
    def secure(self) -> bool:
        """Whether browsers reach the service over TLS, so that cookies are sent over TLS only."""
        return self.base_url.startswith("https://")

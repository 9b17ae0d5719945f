"""How a service is run: from its command's options, or from the environment."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

__all__ = ["Settings"]


class Settings(BaseModel):
    """How a service is run.

    Example:
        >>> Settings(base_url="https://study.example").secure
        True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path | None = Field(default=None, description="the installation's folder; default as of the command line")
    store: str | None = Field(default=None, description="URL of the store; default the installation's own")
    data: Path | None = Field(default=None, description="the folder in which campaign files may name tables")
    base_url: str = Field(default="http://localhost:8000", description="how browsers reach it: in participants' links")
    session_hours: float = Field(default=12.0, gt=0, le=720, description="that an operator's session lasts")
    participant_days: int = Field(default=180, ge=1, le=3650,
                                  description="that participants' sessions last once their campaign has ended")
    largest_body: int = Field(default=1 << 20, ge=1 << 10, description="bytes of a request")
    largest_upload: int = Field(default=64 << 20, ge=1 << 10, description="bytes of a file that an operator uploads")
    attempts: int = Field(default=10, ge=1, description=(
        "failures to log in under one name from one address, in five minutes, before more are refused"))
    attempts_at_ease: int = Field(default=100, ge=1, description=(
        "failures to log in or to join, from one address or under one name, in five minutes, before each takes longer"))
    settling: bool = Field(default=True, description="whether this process does jobs besides answering")
    metrics_digest: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", description=(
        "SHA-256 of the bearer token for /metrics, which does not answer without one"))

    @field_validator("base_url")
    @classmethod
    def _no_path(cls, url: str) -> str:
        scheme, _, rest = url.partition("://")
        if scheme not in ("http", "https") or not rest.strip("/") or "/" in rest.rstrip("/"):
            raise ValueError("must be http://HOST or https://HOST, without a path")
        return url.rstrip("/")

    @property
    def secure(self) -> bool:
        """Whether cookies go over TLS alone."""
        return self.base_url.startswith("https://")

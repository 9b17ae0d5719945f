"""Tables of campaign files: every key is known, and nothing changes once it was read."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from confide.contract.unusable import MOST_UNUSABLE

__all__ = ["FileTable", "Keys"]


class Keys(BaseModel):
    """A table whose keys are all known and never change.

    Example:
        >>> class Spent(Keys):
        ...     epsilon: float
        >>> Spent(epsilon=1.0, epsilom=2.0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        pydantic_core._pydantic_core.ValidationError: ...
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class FileTable(Keys):
    """A table of a campaign file that names a file of records."""

    accept_unusable: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description=(
        f"share of the file's rows that may be unusable; default {MOST_UNUSABLE:g}. A run of more stops before the "
        "charge. It must stand here before the file is first looked at"))

"""Tables of campaign files: every key is known, and nothing changes once it was read."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Keys"]


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

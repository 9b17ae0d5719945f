"""Files that operators upload as the body of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

__all__ = ["Upload", "Uploaded"]


@dataclass(frozen=True, repr=False)
class Upload:
    """A file.

    Args:
        media: its type, as it was sent.
        data: its bytes.
    """

    media: str
    data: bytes


async def _uploaded(request: Request) -> Upload:
    return Upload(request.headers.get("content-type", "").partition(";")[0].strip().lower(), await request.body())


Uploaded = Annotated[Upload, Depends(_uploaded)]

"""What a type checker fills in: the billboard and the certificate of a mechanism, and of what its runs give.

A bare `Mechanism` or `Outcome` in an annotation is one of any billboard. Nothing here has an effect at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypeVar

if TYPE_CHECKING:
    from confide.contract.outcome import Billboard, Certificate

__all__ = ["B_co", "C_co"]

B_co = TypeVar("B_co", bound="Billboard", default="Billboard", covariant=True)
"""The billboard's type."""

C_co = TypeVar("C_co", bound="Certificate | None", default="Certificate | None", covariant=True)
"""The certificate's: None where there is none, a union with None where a run may have none."""

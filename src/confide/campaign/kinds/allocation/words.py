"""What the pages of a campaign ask of each method that hands out goods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["MethodWords", "Said", "worth"]


Said = Callable[[float], str]
"""A value or a price in words, in both units."""


class MethodWords(Protocol):
    """One method in words."""

    def describe(self, market: Any) -> str:
        """What it does, in a sentence."""
        ...

    def planned(self, market: Any) -> list[tuple[str, str]]:
        """Lines of the plan: what, and how much."""
        ...

    def limit(self, market: Any) -> str:
        """How many goods one person gets at most."""
        ...

    def rule(self, market: Any) -> list[str]:
        """How goods are handed out, as a participant reads it."""
        ...

    def paths(self, market: Any, billboard: Any) -> NDArray[np.float64]:
        """(R + 1, k) prices before the first round, and after each."""
        ...

    def story(
        self, market: Any, billboard: Any, names: Sequence[str], record: Any, index: int, said: Said
    ) -> list[str]:
        """Why she gets what she gets, in her own terms: from her record, as the market takes it."""
        ...


def worth(value: float) -> str:
    """A value or a price, on the scale from 0 to 1."""
    return f"{value:.3g}"

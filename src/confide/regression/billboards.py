"""What the billboards of all regressions share: coefficients, and the random groups that people were put into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard

__all__ = ["LinearBillboard"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearBillboard(Billboard):
    """Public coefficients of a linear model.

    Args:
        people: n.
        coef: (d,) the coefficients.
        split: bitmap of the random groups, bit i for the participant of index i (numpy.packbits); empty without groups.
    """

    people: int
    coef: np.ndarray
    split: np.ndarray

    def _check(self, **shapes: tuple[int, ...]) -> None:
        """Refuse arrays of other shapes, numbers that are not finite, and a bitmap that is none."""
        whole("people", self.people, at_least=1)
        for name, shape in {"coef": (self.dimension,), **shapes}.items():
            array = getattr(self, name)
            if array.shape != shape or self.dimension < 1:
                raise InvalidInput(f"billboard.{name}", f"shape {array.shape}", f"must be {shape}")
            if name != "split" and not np.isfinite(array).all():
                raise InvalidInput(f"billboard.{name}", "not finite", "must be finite numbers")
        if self.split.dtype != np.uint8:
            raise InvalidInput("billboard.split", f"of type {self.split.dtype}", "must be uint8")

    @property
    def dimension(self) -> int:
        """d; -1 where the coefficients are no vector."""
        return len(self.coef) if self.coef.ndim == 1 else -1

    @property
    def coef_(self) -> np.ndarray:
        """(d,) the coefficients, by the name that scikit-learn uses."""
        return self.coef

    def predict(self, X: np.ndarray) -> np.ndarray:
        """(m,) predicted responses for (m, d) features, on the scale of the records."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.coef)

    def group(self, index: int) -> int:
        """0 or 1, the group of one participant; 0 without groups."""
        return int(self.split[index >> 3] >> (7 - (index & 7))) & 1 if self.split.size else 0

    def groups(self) -> np.ndarray:
        """(n,) bool, True for group 1."""
        if not self.split.size:
            return np.zeros(self.people, dtype=bool)
        return np.unpackbits(self.split, count=self.people).astype(bool)

"""What everybody sees of a release through a channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.wire import wire

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReleasedLetters"]


@wire("ReleasedLetters", "letters")
@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedLetters(Billboard):
    """The letters that came out of a channel.

    Args:
        letters: (n,) int64, of each row of the database; of a channel with other outputs, (1,) the position of the one
            that came out.
    """

    letters: np.ndarray

    def __post_init__(self) -> None:
        array = self.letters
        if not isinstance(array, np.ndarray) or array.dtype != np.int64 or array.ndim != 1 or not array.size:
            raise InvalidInput("billboard.letters", "are no list of whole numbers", "must be int64 of one dimension")

    def to_arrow(self) -> pa.Table:
        """One column, `letter`."""
        return pa.table({"letter": self.letters})

    def to_pandas(self) -> pd.DataFrame:
        """The same as a frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.to_arrow().to_pandas()

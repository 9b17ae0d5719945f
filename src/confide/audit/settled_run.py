"""A run of an audit as a settlement makes it: records and noise are of the very types that settlement gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from confide.audit.telling import told_run
from confide.contract.mechanism import Mechanism
from confide.contract.running import Batches
from confide.privacy.noise import Noise
from confide.privacy.noise.given_noise import given
from confide.tables.slot_rows import SlotRows

__all__ = ["settled_run"]


def settled_run(data: Sequence[SlotRows], noise: Noise, mechanism: Mechanism) -> Any:
    """What a mechanism makes of made-up records. It calls itself what the noise calls itself, and is no release: it
    never leaves the audit.

    Args:
        data: batches. The run gets copies of them at each pass, as a store gives them, and none without anybody; what
            it does to one, neither the next pass nor the next run finds.
        noise: of the audit.
        mechanism: to be run.
    """
    return told_run(mechanism, Batches(_Copies(data)), given(noise))


class _Copies:
    """Batches as they are read anew."""

    def __init__(self, data: Sequence[SlotRows]) -> None:
        self._data = data

    def __iter__(self) -> Iterator[SlotRows]:
        for batch in self._data:
            if len(batch.index):
                yield SlotRows(np.array(batch.index), np.array(batch.cells, order="C"))

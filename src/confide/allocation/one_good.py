"""What markets share that give each bidder one good at most: their run, and what is told and charged in its end.

A method says how everybody comes to her good (`_matched`), and what is published where there is enough of everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.allocation.billboards import WelfareCertificate
from confide.allocation.favourites import best_goods
from confide.allocation.market import Market
from confide.allocation.valuations import Valuations
from confide.contract.mechanism import NoiseSource, Progress
from confide.contract.outcome import RunOutcome
from confide.contract.type_variables import B_co
from confide.contract.unusable import unusable_in
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.tables.frames import arrow_numbers

__all__ = ["OneGood"]


class OneGood(Market[B_co]):
    """A market of single goods, with public prices that may be charged."""

    charge: bool

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[B_co, WelfareCertificate | None]:
        """Its rounds, its clearing, and everybody's good.

        Args:
            data: (n, k) valuations in [0, 1]: an array, a frame, an Arrow table or a file with a column for each good,
                a sparse array, or `Valuations`. A row that cannot be used counts as zeros in a release, whoever's it
                is; a study refuses it.
            noise: `Noise.secure()` for a settlement.
            progress: called with the rounds played and all rounds, as they are played; both are public.

        Returns:
            An outcome whose shares have the column "good", -1 for none, and "price", that of the good where prices are
            charged, else 0.
        """
        source = as_noise(noise)
        values = Valuations.of(data, people=self.people, goods=self.goods, unusable=unusable_in(source))
        if self.plentiful:
            board = self._of_plenty()
            held: NDArray[Any] = best_goods(values, board.prices)
        else:
            board, held = self._matched(values, source, progress)
        if progress is not None:
            of: Any = self
            progress(of.rounds, of.rounds)
        prices = np.where(held >= 0, board.prices[held], 0.0) if self.charge else np.zeros(self.people)
        shares = pa.table({"good": arrow_numbers(held.astype(np.int32)), "price": arrow_numbers(prices)})
        return self._outcome(noise, billboard=board, shares=shares, certificate=self.certify(board),
                             diagnostics=self.diagnose(values, held))

    def _of_plenty(self) -> Any:
        """The billboard where everybody gets her favourite."""
        raise NotImplementedError

    def _matched(self, values: Valuations, source: Noise, progress: Progress | None) -> tuple[Any, NDArray[Any]]:
        """The billboard, and (n,) everybody's good, -1 for none."""
        raise NotImplementedError

    def _worth_it(self, values: Valuations, prices: NDArray[np.float64], held: NDArray[Any]) -> NDArray[Any]:
        """(n,) goods, but for those that are not worth the price that is charged."""
        if not self.charge:
            return held
        return np.where(values.of_goods(held) >= prices[np.maximum(held, 0)], held, -1)

    def _told(
        self, values: Valuations, prices: NDArray[np.float64], held: NDArray[Any], noise: Noise
    ) -> dict[str, float | None]:
        """The two noisy sums of the certificate, as billboards have them; None without one."""
        plan = self.certificate_plan
        surplus, welfare = (None, None) if plan is None else plan.told(values, prices, held, noise)
        return {"surplus": surplus, "welfare": welfare}

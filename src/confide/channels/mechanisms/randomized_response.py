"""Randomised response on every row, called E_d in Wang 2016. If no letter is rare, no mechanism with the same
differential privacy changes fewer rows on average. The mechanism needs no prior.

Source: Wang 2016, (2.22); spec privacy_notions 4 (E_d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

from numpy.typing import ArrayLike

from confide.channels.mechanisms.base import ChannelMechanism
from confide.channels.mechanisms.coded import CodedRows
from confide.channels.mechanisms.integer_tables import IntegerTable
from confide.channels.priors import Prior, as_prior
from confide.contract.checks import finite, fraction, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Relation, Source
from confide.contract.parameters import Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.events import Event, RandomizedResponseEvent
from confide.privacy.response import ResponseTable, response_table

__all__ = ["RandomizedResponse"]


@wire("RandomizedResponse", "epsilon letters rows prior", records="rows")
@renamed(rows="records")
@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizedResponse(ChannelMechanism):
    """Randomised response: every row keeps its letter with probability 1/(1 + (m-1) e^-epsilon), and otherwise takes
    one of the other letters, all equally likely.

    The public parameters are epsilon, the number m of letters and the number n of rows. The mechanism's differential
    privacy is epsilon, and its identifiability is at most epsilon plus the prior's level eps_X.

    Raises:
        InvalidInput: a parameter out of range.

    Example:
        >>> from confide.privacy import Noise
        >>> it = RandomizedResponse(epsilon=1.0, letters=5, records=4)
        >>> it.dp() <= 1.0, round(it.distortion, 6)
        (True, 2.381561)
        >>> it.release([0, 1, 2, 4], Noise.simulated(7)).tolist()
        [0, 3, 1, 4]
    """

    epsilon: Annotated[float, Parameter("differential privacy of the release (infinity keeps every row)", unit="nats",
                                        at_least=0, infinite=True)]
    letters: Annotated[int, Parameter("number of values of a row", symbol="m", at_least=2, at_most=1024)]
    records: Annotated[int, Parameter("number of rows of the database, one for each person",
                                      symbol="n", at_least=1)] = 1
    prior: Annotated[Prior | None, Parameter("law for the stated levels, unless another law is given; the channel does "
                                             "not depend on it")] = None

    source: ClassVar[Source] = Source(document="Wang 2016", statement="Lemma 11", spec="privacy_notions 4")

    def __post_init__(self) -> None:
        prior, own = self.prior, object.__setattr__
        own(self, "prior", None)  # it is checked by the sizes, which are checked first
        super().__post_init__()
        if prior is not None:
            own(self, "prior", as_prior(prior, self.letters, self.records))

    @classmethod
    def for_budget(
        cls, *, epsilon: float, delta: float = 0.0, letters: int, records: int = 1,
        prior: Prior | ArrayLike | None = None,
    ) -> RandomizedResponse:
        """Randomised response on every row that spends the whole budget.

        Args:
            epsilon: privacy loss of one release, in nats, >= 0.
            delta: failure probability of the privacy loss, in [0, 1); not used, because the release has pure
                differential privacy.
            letters: number of letters, m, in 2..1024.
            records: number of rows, n >= 1.
            prior: prior under which the levels are stated; the channel does not depend on it.

        Raises:
            InvalidInput: a number out of range.

        Example:
            >>> RandomizedResponse.for_budget(epsilon=1.0, letters=3).dp() <= 1.0
            True
        """
        fraction("delta", delta, zero=True)
        return cls(epsilon=finite("epsilon", epsilon), letters=letters, records=records,
                   prior=prior)  # type: ignore[arg-type]

    @classmethod
    @renamed(rows="records")
    def telling_the_truth(cls, truth: float, *, letters: int, records: int = 1) -> RandomizedResponse:
        """Design of a survey in which people report the truth with a given probability, and otherwise one of the other
        answers, all equally likely.

        Args:
            truth: probability that a person reports the truth, in [1/m, 1).
            letters: number m of letters, which are the values that a row can have.
            records: number of rows, n.

        Example:
            >>> round(RandomizedResponse.telling_the_truth(0.75, letters=2).epsilon, 6)
            1.098612
        """
        share, m = fraction("truth", truth), whole("letters", letters, at_least=2)
        if share * m < 1.0 - 1e-12:
            raise InvalidInput("truth", f"{share:g} is less than the probability of a right guess",
                               f"must be at least 1/{m}")
        return cls(epsilon=max(0.0, math.log(share * (m - 1) / (1.0 - share))), letters=m, records=records)

    @cached_property
    def _table(self) -> ResponseTable:
        if self.epsilon == math.inf:
            return replace(response_table(0.0, self.letters), same=2**62, other=0)
        return response_table(self.epsilon, self.letters)

    @property
    def truth(self) -> float:
        """Probability that a row keeps its value (its letter)."""
        return self._table.truth

    @property
    def distortion(self) -> float:
        """Expected number of changed rows, the same under every prior."""
        return self.records * (self.letters - 1) * self._table.other / self._table.total

    @property
    def _usual(self) -> Prior | None:
        return self.prior

    def _size(self) -> tuple[int, int]:
        return self.letters, self.records

    def _code(self) -> CodedRows:
        return CodedRows([IntegerTable(self._table.weights, self.letters)], None, self.records)

    def events(self) -> tuple[Event, ...]:
        if self.epsilon == math.inf:
            return super().events()  # which refuses
        return (RandomizedResponseEvent(epsilon=self._table.level, categories=self.letters,
                                        neighbours=Relation.REPLACE),)

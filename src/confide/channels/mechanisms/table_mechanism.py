"""Any channel as a mechanism: a user's own table, a product of row tables, or the result of a linear program.

Source: spec privacy_notions 4 ("LP mechanism: only after repair", "exact coding for releases").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.analyser import ChannelReport, analyse, row_pairs
from confide.channels.channel import Channel, ExponentialForm, FiniteChannel, JointTypeChannel, RowProduct
from confide.channels.kernels import ratio
from confide.channels.mechanisms.base import GivenChannel
from confide.channels.mechanisms.coded import CodedRows, CodedTable, CodedTypes, as_rows, coded_types
from confide.channels.mechanisms.integer_tables import integer_table
from confide.channels.mechanisms.kernel_mechanism import draw_in_turn
from confide.channels.priors import Exchangeable, IndependentRows, Prior
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.privacy.noise import Noise, Stream

__all__ = ["JointTypeMechanism", "TableMechanism"]


@wire("JointTypeMechanism", "dp_at_most identifiability_at_most prior prior_provenance types")
@dataclass(frozen=True, kw_only=True, eq=False)
class JointTypeMechanism(GivenChannel):
    """A mechanism that draws from a channel over joint types (`JointTypes`) in whole numbers. Its privacy levels are
    computed from these whole numbers.

    Epsilon is no input (there is no `for_budget`), because the given channel determines its own level.

    Raises:
        InvalidInput: the channel is no channel over joint types, or an identifiability is given without a prior.
        NotGuaranteed: the channel's level is above its limit by more than rounding. The error is raised when a release
            or the levels are requested.

    Example:
        >>> from confide.channels import Exchangeable, privacy_distortion
        >>> from confide.privacy import Noise
        >>> mixture = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], records=10)
        >>> it = privacy_distortion("dp", mixture, 3.6).mechanism
        >>> type(it).__name__, it.levels().distortion <= 3.6
        ('JointTypeMechanism', True)
        >>> it.release([0, 0, 0, 1, 0, 0, 1, 0, 0, 0], Noise.simulated(1)).shape
        (10,)
    """

    types: Annotated[JointTypeChannel, Parameter("channel over joint types")]
    prior: Annotated[Exchangeable | None, Parameter("law of the rows to which the channel was fitted; needed for "
                                                    "identifiability_at_most")] = None

    def __post_init__(self) -> None:
        if not isinstance(self.types, JointTypeChannel):  # which sizes the prior
            raise InvalidInput("types", f"{type(self.types).__name__} is not a JointTypeChannel")
        super().__post_init__()

    def _size(self) -> tuple[int, int]:
        return self.types.letters, self.types.records

    def _code(self) -> CodedTypes:
        return coded_types(self.types, dp=self.dp_at_most, identifiability=self.identifiability_at_most,
                           prior=self.prior)


_CELLS = 2**24
_CERTIFIED = 4096  # databases of an exponential form


@wire("TableMechanism", "dp_at_most identifiability_at_most prior prior_provenance table")
@dataclass(frozen=True, kw_only=True, eq=False)
class TableMechanism(GivenChannel):
    """A mechanism that draws from a given channel in whole numbers. Its privacy levels are computed from these whole
    numbers, and never exceed the given limits.

    An `ExponentialForm` over more than 4,096 databases is too large for whole numbers. Such a channel can be simulated,
    but cannot draw a release. Epsilon is no input (there is no `for_budget`), because the given channel determines its
    own level.

    Raises:
        InvalidInput: the value is no channel, or an identifiability is given without a prior.
        Unsupported: more than 2^24 cells.
        NotGuaranteed: the table's level is above its limit by more than rounding. The error is raised when a release
            or the levels are requested.

    Example:
        >>> it = TableMechanism(table=[[0.6, 0.4], [0.4, 0.6]], dp_at_most=0.4054651081081644)
        >>> it.dp() <= 0.4054651081081644, round(it.levels([0.55, 0.45]).identifiability, 4)
        (True, 0.6061)
    """

    table: Annotated[FiniteChannel | ArrayLike, Parameter("channel: an object of this package, or (m, k) probabilities "
                                                          "of one row")]

    def __post_init__(self) -> None:
        if not isinstance(self.table, FiniteChannel):
            object.__setattr__(self, "table", Channel(self.table))
        super().__post_init__()

    def _size(self) -> tuple[int, int]:
        it = self._given
        return it.letters, it.records

    @property
    def _given(self) -> FiniteChannel:
        return self.table  # type: ignore[return-value]

    def _code(self) -> CodedRows | CodedTable | None:
        it, dp, level = self._given, self.dp_at_most, self.identifiability_at_most
        if isinstance(it, ExponentialForm) and it.weights.size > _CERTIFIED:
            return None
        if isinstance(it, RowProduct) and (level is None or isinstance(self.prior, IndependentRows)):
            return self._rows(it)
        table = it.table()
        if table.size > _CELLS:
            raise Unsupported("table", f"a table of {table.shape[0]} x {table.shape[1]} cells",
                              f"at most {_CELLS:,} cells")
        law = None if self.prior is None else self.prior.vector()
        return CodedTable(integer_table(table, it.letters, it.records, dp=dp, identifiability=level, law=law))

    def dp(self) -> float:
        return super().dp() if self.coded is not None else analyse(
            self._given, IndependentRows([np.full(self._given.letters, 1.0 / self._given.letters)],
                                         [self._given.records])).dp

    def _levels(self, law: Prior) -> ChannelReport:
        return super()._levels(law) if self.coded is not None else analyse(self._given, law)

    def _simulated(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        it = self._given
        if not isinstance(it, ExponentialForm):
            return super()._simulated(rows, noise, stream)
        letters = as_rows(rows, it.letters, it.records)
        return draw_in_turn(letters, it.weights, ratio(it.level), it.letters, noise, stream)

    def _rows(self, it: RowProduct) -> CodedRows:
        dp, level = self.dp_at_most, self.identifiability_at_most
        if level is None or not isinstance(self.prior, IndependentRows):
            tables, which = [integer_table(table, it.letters, dp=dp) for table in it.tables], it.which
        else:  # one table for each pair of a law and a table, in the order of their codes
            pairs, _ = row_pairs(self.prior, it)
            tables = [integer_table(it.tables[k], it.letters, dp=dp, identifiability=level, law=self.prior.laws[j])
                      for j, k in pairs.T.tolist()]
            codes = np.array([len(it.tables), 1])
            which = np.searchsorted(codes @ pairs, self.prior.law_of_row() * codes[0] + it.which)
        return CodedRows(tables, which if len(tables) > 1 else None, it.records)

"""Common base of all mechanisms that draw a release from a channel: public parameters, exact levels, events, and a
release.

The probabilities of a mechanism are converted to whole numbers when its levels or a release are first requested. The
result is called the coded channel. All levels and errors that a mechanism states are those of the coded channel, not of
the formula behind the channel. A mechanism that was fitted to a prior must state the prior's source before it releases
anything with secure noise. A prior that was fitted to the released rows would leak these rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from confide.channels.analyser import ChannelReport
from confide.channels.channel import FiniteChannel
from confide.channels.mechanisms.coded import CodedRows, CodedTable, CodedTypes
from confide.channels.priors import Prior, as_prior
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Progress
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.charge import Line, Session
from confide.privacy.events import Event, PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.base import as_noise

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ChannelMechanism", "Coded", "FittedMechanism", "GivenChannel", "PriorProvenance", "ReleasedLetters"]


@wire("ReleasedLetters", "letters")
@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedLetters(Billboard):
    """The letters that a channel released.

    Args:
        letters: released letter of each row of the database, shape (n,), int64. If the outputs of the channel are not
            databases, `letters` holds the position of the released output, shape (1,).
    """

    letters: np.ndarray

    def __post_init__(self) -> None:
        array = self.letters
        if not isinstance(array, np.ndarray) or array.dtype != np.int64 or array.ndim != 1 or not array.size:
            raise InvalidInput("billboard.letters", "are not a list of whole numbers", "must be int64 of one dimension")

    def to_arrow(self) -> pa.Table:
        """Arrow table with one column, `letter`."""
        return pa.table({"letter": self.letters})

    def to_pandas(self) -> pd.DataFrame:
        """Pandas data frame with one column, `letter`.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.to_arrow().to_pandas()


Coded = CodedRows | CodedTable | CodedTypes

PriorProvenance = Literal["public", "released privately"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ChannelMechanism(Mechanism[ReleasedLetters, None]):
    """A channel from databases of n rows over m letters, ready to draw releases."""

    source: ClassVar[Source]

    @abstractmethod
    def _size(self) -> tuple[int, int]:
        """Number of letters m and number of rows n."""

    @property
    def _fitted(self) -> Prior | None:
        """The prior to which the mechanism was fitted; None where there is none."""
        return None

    @property
    def _usual(self) -> Prior | None:
        """The prior under which levels are stated, unless the caller gives another one."""
        return self._fitted

    @abstractmethod
    def _code(self) -> Coded | None:
        """The channel in whole numbers; None where it is too large to be certified."""

    @cached_property
    def coded(self) -> Coded | None:
        """The channel in whole numbers, from which releases are drawn; None if the channel is too large for its levels
        to be certified.
        """
        return self._code()

    @property
    def channel(self) -> FiniteChannel:
        """The coded channel, with its probabilities as doubles."""
        return self._certified().channel

    def levels(self, prior: Prior | ArrayLike | None = None) -> ChannelReport:
        """All levels of the coded channel.

        Args:
            prior: prior of the attacker; if left out, the prior of the mechanism.

        Returns:
            All levels. Differential privacy is computed exactly in whole numbers and rounded up; see
            `CodedRows.levels`.

        Raises:
            InvalidInput: a prior is needed and missing, or the prior has another number of letters or rows.
        """
        law = self._usual if prior is None else as_prior(prior, *self._size())
        if law is None:
            raise InvalidInput("prior", "is missing", "identifiability and information depend on it")
        return self._levels(law)

    def _levels(self, law: Prior) -> ChannelReport:
        return self._certified().levels(law)

    def dp(self) -> float:
        """Differential privacy of the coded channel, in nats, under any prior."""
        return self._certified().dp()

    def guarantees(self) -> Guarantees:
        """Guarantees of a release: its differential privacy, and the expected number of changed rows if the mechanism
        was fitted to a prior. If rows are randomised one by one, the differential privacy also holds against the
        collector of the reports.
        """
        loss = PureDP(self.dp())
        audiences = [Audience.PUBLIC, Audience.COLLECTOR] if isinstance(self.coded, CodedRows) else [Audience.PUBLIC]
        note = "towards the collector, if each person randomises their own row"
        found: list[Privacy | Accuracy] = [
            Privacy(loss=loss, neighbours=Relation.REPLACE, audience=audience, source=self.source,
                    note=note if audience is Audience.COLLECTOR else "") for audience in audiences]
        if self._fitted is not None and (distortion := self.levels().distortion) is not None:
            found.append(Accuracy(bound=distortion, measure="the expected number of changed rows under the prior",
                                  baseline=float(self._size()[1]), source=self.source))
        return Guarantees(tuple(found))

    def events(self) -> tuple[Event, ...]:
        """Privacy events of one release.

        Raises:
            NotGuaranteed: the channel's differential privacy is infinite.
        """
        level = self.dp()
        if math.isinf(level):
            raise NotGuaranteed("differential privacy", "an output that is possible for one database is impossible for "
                                "a neighbour", "use RandomizedResponse or TopK")
        return (PureEvent(epsilon=level, neighbours=Relation.REPLACE),)

    def lines(self) -> tuple[Line, ...]:
        """The privacy events of a release as one line of the charge, since one draw from the coded channel makes the
        whole release.
        """
        return tuple(Session(name="release", event=event) for event in self.events())

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None,
    ) -> RunOutcome[ReleasedLetters, None]:
        """Draw a release, with the outcome object that all mechanisms return. The method `release` returns the letters
        alone.

        Args:
            data: the private rows, in any form that `release` accepts.
            noise: source of the randomness; `Noise.secure()` for a real release.
            progress: function that is called when the release has been drawn.

        Raises:
            InvalidInput: the rows are invalid; see `release`.
            Refused: for the reasons of `release`, or because the channel is too large for a certified table. Draws from
                a table that is not certified cannot be charged; `release` can simulate such a channel.
            NotGuaranteed: the channel has no differential privacy.
        """
        source = as_noise(noise)
        self._certified()
        board = ReleasedLetters(letters=self.release(data, source))
        advance(progress, 1, 1)
        return self._outcome(source, billboard=board, shares=pa.table({}))

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing: a custodian's rows are released, and nobody gets a share."""
        self.check(billboard)
        return {}

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard, a published result, can be a release of this channel.

        Raises:
            InvalidInput: the billboard has other letters, or another number of them.
        """
        if not isinstance(billboard, ReleasedLetters):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not ReleasedLetters")
        count, most = self._released()
        found = billboard.letters
        if found.size != count or found.min() < 0 or found.max() >= most:
            raise InvalidInput("billboard.letters", "are not outputs of the channel",
                               f"must be {count:,} in 0..{most - 1}")

    def _released(self) -> tuple[int, int]:
        """Number of entries of a release, and number of possible values of each entry."""
        letters, rows = self._size()
        match self.coded:
            case CodedRows() as it:
                return rows, int(it.tables[0].weights.shape[1])
            case CodedTable() as it if it.table.weights.shape[0] != it.table.weights.shape[1]:  # outputs, no databases
                return 1, int(it.table.weights.shape[1])
        return rows, letters

    def release(self, rows: Any, noise: Noise, *, stream: Stream = "release") -> NDArray[np.int64]:
        """Draw a release.

        Args:
            rows: letters 0..m-1 of the private database, shape (n,): an array, a column of pandas, Polars or Arrow, or
                a frame, an Arrow table or a file with one column.
            noise: source of randomness.
            stream: name of the random stream of the draw.

        Returns:
            Released letters, shape (n,). If the outputs of the channel are not databases, the position of the released
            output, shape (1,).

        Raises:
            InvalidInput: the rows hold values that are no letters (the message does not say which row is wrong), or a
                column holds text (the message names the column).
            Refused: the noise is secure, and either the prior's provenance is not stated or the channel's levels cannot
                be certified.
        """
        source = as_noise(noise)
        released = source.release_safe and not source.audited
        if released and self._fitted is not None and getattr(self, "prior_provenance", None) is None:
            raise Refused("a mechanism that is fitted to a prior must state the source of the prior",
                          "pass prior_provenance: 'public' or 'released privately'; never fit the prior to these rows")
        if self.coded is None:
            if released:
                raise Refused("this channel is too large for a certified table",
                              "only a simulation is possible; for a release, use independent rows or at most 4,096 "
                              "databases")
            return self._simulated(rows, source, stream)
        with source.metering(self):
            return self.coded.release(rows, source, stream)

    def _simulated(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        raise NotImplementedError

    def _certified(self) -> Coded:
        if self.coded is None:
            raise Refused("this channel is too large for a certified table",
                          "only levels under its own prior are known; for other priors, use at most 4,096 databases")
        return self.coded


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenChannel(ChannelMechanism):
    """A mechanism with probabilities from a user or a solver, and with limits for its privacy levels."""

    dp_at_most: Annotated[float | None, Parameter("largest allowed level of differential privacy", unit="nats",
                                                  at_least=0)] = None
    identifiability_at_most: Annotated[float | None, Parameter(
        "largest allowed identifiability under the prior (a part in 10^12 more near the prior's own)",
        unit="nats", at_least=0)] = None
    prior: Annotated[Prior | None, Parameter("law of the rows to which the channel was fitted; needed for "
                                             "identifiability_at_most")] = None
    prior_provenance: Annotated[PriorProvenance | None, Parameter(
        'source of the prior, "public" or "released privately"; needed for secure noise with a prior')] = None

    source: ClassVar[Source] = Source(document="confide", statement="exact analysis of a finite channel",
                                      spec="privacy_notions 1.1")

    def __post_init__(self) -> None:
        if self.prior is not None:
            object.__setattr__(self, "prior", as_prior(self.prior, *self._size()))
        super().__post_init__()
        if self.identifiability_at_most is not None and self.prior is None:
            raise InvalidInput("prior", "is missing", "identifiability depends on it")

    @property
    def _fitted(self) -> Prior | None:
        return self.prior


@renamed(rows="records")
@dataclass(frozen=True, kw_only=True, eq=False)
class FittedMechanism(ChannelMechanism):
    """A mechanism with probabilities that are computed from a prior."""

    prior: Annotated[Prior, Parameter("public law of the database; a list of numbers is the law of a single row, and a "
                                      "list of such lists has one law for each row")]
    prior_provenance: Annotated[PriorProvenance | None, Parameter(
        'source of the prior, "public" or "released privately"; needed for secure noise')] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", as_prior(self.prior))
        super().__post_init__()

    @property
    def letters(self) -> int:
        """Number of letters, m."""
        return self.prior.letters

    @property
    def records(self) -> int:
        """Number of rows, n."""
        return self.prior.records

    def _size(self) -> tuple[int, int]:
        return self.prior.letters, self.prior.records

    @property
    def _fitted(self) -> Prior:
        return self.prior

"""The interface of a mechanism: public parameters, guarantees that follow from the parameters alone, one run on the
data, and the decoding of each participant's share.

The module also defines the treatment of unusable records, and the share of unusable rows that a run accepts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

import pyarrow as pa

from confide.contract.guarantees import Audience, Guarantees, Relation
from confide.contract.outcome import (
    B_co,
    Billboard,
    C_co,
    Certificate,
    Outcome,
    Provenance,
    RunOutcome,
    SimulatedOutcome,
)
from confide.contract.parameters import Declared
from confide.contract.private_parts import behind, has_private_part, put_behind
from confide.contract.renamed import warn_of_old

__all__ = ["MOST_UNUSABLE", "Mechanism", "NoiseSource", "Phase", "Progress", "Spend", "Unusable", "unusable_in"]

# ---- mechanism

Progress = Callable[[int, int | None], None]
"""Function that is called with (units done, units in all or None) during long work. The units are public, such as the
steps of an audit or the invited slots. The number of rows in a file, or of rows read, is not public.
"""

_B = TypeVar("_B", bound=Billboard)
_C = TypeVar("_C", bound=Certificate | None)


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One round of collection: its name, and what is collected from each participant, such as "one sealed record"."""

    name: str
    asks: str


@runtime_checkable
class NoiseSource(Protocol):
    """The interface of every source of noise (`confide.privacy.noise`)."""

    @property
    def kind(self) -> str: ...

    @property
    def release_safe(self) -> bool: ...


class Spend(Protocol):
    """The interface of every privacy event (`confide.privacy.events`)."""

    @property
    def neighbours(self) -> Relation: ...

    def to_dict(self) -> dict[str, Any]: ...


def _metered(run: Callable[..., Any]) -> Callable[..., Any]:
    """A run whose draws are paid for by the lines of the mechanism's own charge."""

    @wraps(run)
    def metered(self: Mechanism, data: Any, noise: Any, *rest: Any, **more: Any) -> Any:
        metering = getattr(noise, "metering", None)  # what is no noise, the run itself refuses
        with nullcontext() if metering is None else metering(self):
            return run(self, data, noise, *rest, **more)

    return metered


def _metered_on_a_device(submit: Callable[..., Any]) -> Callable[..., Any]:
    """A submission whose draws are paid for by the allowance of one device."""

    @wraps(submit)
    def metered(self: Mechanism, private: Any, offer: Any = None, noise: Any = None) -> Any:
        metering = getattr(noise, "metering", None)
        with nullcontext() if metering is None else metering(self, device=True):
            return submit(self, private, offer, noise)

    return metered


class Mechanism(Declared, ABC, Generic[B_co, C_co]):
    """Base class of all mechanisms. A subclass is a frozen, keyword-only dataclass of public parameters only.

    A subclass can name its types of billboard and certificate, as in `class Mine(Mechanism[MyBillboard, None])`. Type
    checkers and editors then know the types in its outcomes.

    The draws of a run are metered. Before each draw of a primitive (`confide.privacy.primitives`), its privacy cost is
    subtracted from a line of `lines`. A draw that costs more than its line has left raises an error.

    The shares of `run` must equal those of n separate calls of `decode`, each with one record, its public position and
    the billboard. By the billboard lemma, a run with a differentially private billboard therefore satisfies joint
    differential privacy.
    """

    phases: ClassVar[tuple[Phase, ...]] = (Phase(name="report", asks="one record"),)
    share_depends_on: ClassVar[str] = "one's own record and the public billboard"

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, wrap in (("run", _metered), ("submit", _metered_on_a_device)):
            if name in vars(cls):
                setattr(cls, name, wrap(vars(cls)[name]))

    @abstractmethod
    def guarantees(self) -> Guarantees:
        """Every promise of the mechanism, computed from public parameters alone."""

    @abstractmethod
    def events(self) -> Sequence[Spend]:
        """The privacy events of a run, which are charged to the ledger before any data are read."""

    def group_steps(self, size: int) -> int:
        """The number of steps, each from a data set to a neighbour, that together change `size` records, bits or
        people. The privacy promise is about one step.

        Args:
            size: the number of records, bits or people, >= 1.
        """
        return size

    def group_guess(self, size: int, audience: Audience) -> float:
        """A bound on the probability that an audience guesses correctly between two versions of `size` records. A
        mechanism overrides this method if it proves a smaller bound than its privacy losses imply.

        Args:
            size: the number of records, bits or people, >= 1.
            audience: the audience that guesses. Both versions are equally likely before the audience sees the output.

        Returns:
            A probability in [1/2, 1]; 1 if no smaller bound is known than the privacy losses imply.
        """
        return 1.0

    def lines(self) -> Sequence[Any]:
        """The events of `events` as named lines of a charge (`confide.privacy.meter`).

        A mechanism that returns no lines gets one line for each event, named by the event's label. A single event gives
        an allowance (`confide.privacy.charge.Allowance`), and a repeated event a fixed list
        (`confide.privacy.charge.FixedList`).
        """
        return ()

    @abstractmethod
    def run(self, data: Any, noise: Any, *, progress: Progress | None = None) -> RunOutcome[B_co, C_co]:
        """Run the whole mechanism on everybody's records.

        Args:
            data: the records of all participants, or of the custodian, in a form that the mechanism takes.
            noise: the source of the mechanism's draws, such as `Noise.secure()`.
            progress: a function that is called during the run, with public numbers alone. A campaign always passes such
                a function (`confide.contract.running.Reported`). A third party's mechanism may have a `run` without the
                parameter `progress`.
        """

    @abstractmethod
    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """The share of one participant.

        Args:
            record: the participant's own record; None if the participant handed in no record.
            index: the participant's position in the public list of ids, from 0.
            billboard: the public record of the run.
        """

    def certify(self, billboard: Billboard) -> C_co | None:
        """The certificate of a run, computed again from the billboard; None for a mechanism without certificates."""
        return None

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard can come from this mechanism: every part that follows from other parts must agree with
        them.

        The check of a billboard cannot show whether the noise of the billboard was really drawn.

        Raises:
            InvalidInput: the billboard belongs to other parameters, or contradicts itself.
        """
        return

    def drawn(self, billboard: Billboard) -> Iterable[tuple[str, Any, int]]:
        """The draws that a billboard shows, as triples: line of the charge, cost of one draw, number of draws.

        A verifier of an evidence pack adds up the costs of these draws again. A mechanism does not override this method
        if all its draws follow from its parameters.
        """
        return ()

    def unreleased_streams(self) -> Mapping[str, Any]:
        """Mapping for streams of noisy answers that are not published in full: from the first words of a stream's name
        to the part of its answers that is published.

        "noisy max" means that only the position of the largest entry of each vector is published, as in
        `report_noisy_max`. "sparse vector" means that only the comparisons with the threshold are published, as in
        `SparseVector`. Any other rule for the published part of an answer is described by a
        `confide.audit.UnreleasedIntermediate`.

        An audit counts every other noisy answer as published. For the streams in this mapping, the audit tests whether
        more is published, such as the second largest entry. The loss stated by a third party's `UnreleasedIntermediate`
        is a formula that no audit checks.
        """
        old = getattr(self, "hidden_streams", None)  # its name until 1.0.0, in classes of other people
        if old is None:
            return {}
        warn_of_old(type(self).__name__, "hidden_streams", "unreleased_streams")
        found: Mapping[str, Any] = old()
        return found

    def part_streams(self) -> Mapping[str, str]:
        """Mapping from the `part` of a privacy promise to the first words of the names of the streams of noisy answers
        that the promise is about.

        If the mapping does not name the part of a promise, an audit compares the promise with all noisy answers
        together.
        """
        return {}

    def submit(self, private: Any, offer: Any = None, noise: NoiseSource | None = None) -> Any:
        """The message that leaves a participant's device during collection. By default the message is the private input
        itself; a mechanism with local noise draws the message.
        """
        return private

    def _outcome(
        self,
        noise: NoiseSource,
        *,
        billboard: _B,
        shares: pa.Table,
        certificate: _C = None,  # type: ignore[assignment] # where there is none, its type is None
        diagnostics: Mapping[str, Any] | None = None,
    ) -> RunOutcome[_B, _C]:
        """The outcome of a run, whose type depends on the noise: a release for secure noise, a study otherwise.
        Diagnostics are dropped from a release.

        An audit's noise reports itself as secure, so that no run can see that it is audited; its outcome is a study. If
        the audit's noise is wrapped, so that nothing of the audit shows, the outcome has the type of a release. An
        outcome of an audit can be neither saved nor published, whatever its type
        (`confide.contract.outcome.check_release`).
        """
        release = noise.release_safe and not getattr(noise, "audited", False)
        meter = getattr(noise, "meter", None)
        common: dict[str, Any] = {
            "mechanism": self,
            "billboard": billboard,
            "shares": shares,
            "guarantees": self.guarantees(),
            "provenance": Provenance.here(noise.kind if release or not noise.release_safe else "replayed"),
            "certificate": certificate,
            "meter": None if meter is None else meter.record(),
        }
        if release:
            found: Outcome[_B, _C] = Outcome(**common)
            if has_private_part(noise) and getattr(behind(noise), "audited", False):
                put_behind(found, noise)
            return found
        return SimulatedOutcome(**common, diagnostics=dict(diagnostics or {}))


# ---- unusable

MOST_UNUSABLE = 0.01
"""The largest share of a file's rows that may be unusable, unless another share is declared. A run stops if a larger
share of the rows is unusable.
"""

Unusable = Literal["refuse", "null"]
"""Treatment of an unusable row. "refuse" rejects the whole table for one bad row, so the error message shows that there
is a bad row. "null" counts the row as the null record, a public record that stands in for missing records.
"""


def unusable_in(noise: NoiseSource) -> Unusable:
    """The treatment of unusable rows in a run. In a release, an unusable row counts as the null record (see
    `Unusable`), because no visible result may show that a row is unusable.

    Args:
        noise: the noise of the run.
    """
    return "null" if noise.release_safe else "refuse"

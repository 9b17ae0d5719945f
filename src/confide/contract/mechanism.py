"""The contract of a mechanism: public parameters, guarantees without data, one run, and a decode for each participant.

What becomes of a record that cannot be used, and how many such rows of a file a run goes on with.
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
"""Called with (units done, units in all or None) while long work runs. Both are public, such as the steps of an audit
or the invited slots; how many rows were read, or are there, is not."""

_B = TypeVar("_B", bound=Billboard)
_C = TypeVar("_C", bound=Certificate | None)


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One round of collection: the question, and the people who are asked."""

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
    """A run whose draws are paid for on the lines of the mechanism's own charge."""

    @wraps(run)
    def metered(self: Mechanism, data: Any, noise: Any, *rest: Any, **more: Any) -> Any:
        metering = getattr(noise, "metering", None)  # what is no noise, the run itself refuses
        with nullcontext() if metering is None else metering(self):
            return run(self, data, noise, *rest, **more)

    return metered


def _metered_on_a_device(submit: Callable[..., Any]) -> Callable[..., Any]:
    """A submission whose draws are paid for by what one device may spend."""

    @wraps(submit)
    def metered(self: Mechanism, private: Any, offer: Any = None, noise: Any = None) -> Any:
        metering = getattr(noise, "metering", None)
        with nullcontext() if metering is None else metering(self, device=True):
            return submit(self, private, offer, noise)

    return metered


class Mechanism(Declared, ABC, Generic[B_co, C_co]):
    """Base of all mechanisms. Subclasses are frozen, keyword-only dataclasses of public parameters only.

    One that names its billboard and its certificate, `class Mine(Mechanism[MyBillboard, None])`, tells type checkers
    and editors what its outcomes hold.

    What a run draws is metered: each draw of a primitive (`confide.privacy.primitives`) is paid for on a line of
    `lines` before it is made, and one that exceeds its line raises.

    `run`'s shares equal n separate calls of `decode`, each of one record, its public position and the billboard: the
    billboard lemma of joint differential privacy, made structural.
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
        """Every promise of the mechanism, from public parameters alone."""

    @abstractmethod
    def events(self) -> Sequence[Spend]:
        """The privacy events of a run; charged before the data is touched."""

    def group_steps(self, size: int) -> int:
        """The number of neighbour steps that change so many units of protection together, each step within the promise.

        Args:
            size: the number of records, bits or people, >= 1.
        """
        return size

    def group_guess(self, size: int, audience: Audience) -> float:
        """The largest probability with which somebody guesses right between two versions of so many records.

        Args:
            size: the number of records, bits or people, >= 1.
            audience: the audience that guesses, with even odds beforehand.

        Returns:
            In [1/2, 1]; 1 where no more is known than what follows from the losses.
        """
        return 1.0

    def lines(self) -> Sequence[Any]:
        """The events of `events` as named lines of a charge (`confide.privacy.meter`).

        If it is left out: an allowance for each event, or a fixed list where an event is repeated, named by its label.
        """
        return ()

    @abstractmethod
    def run(self, data: Any, noise: Any, *, progress: Progress | None = None) -> RunOutcome[B_co, C_co]:
        """Run the whole mechanism on everybody's records.

        Args:
            data: the records of all participants, or of the custodian, in a form that the mechanism takes.
            noise: the source of its draws, such as `Noise.secure()`.
            progress: a function that is called as the run goes on, with public numbers alone; a campaign always gives
                one (`confide.contract.running.Reported`). A mechanism of one's own may leave this argument out.
        """

    @abstractmethod
    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """One participant's share.

        Args:
            record: the participant's own record, None for a slot without one.
            index: the participant's rank in the public list of ids.
            billboard: the public record of the run.
        """

    def certify(self, billboard: Billboard) -> C_co | None:
        """The certificate of a run, computed again from the billboard; None where there is none."""
        return None

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard can be one of this mechanism's: the parts that follow from the rest do follow.

        Nobody can tell from a billboard whether its noise was drawn.

        Raises:
            InvalidInput: it belongs to other parameters, or contradicts itself.
        """
        return

    def drawn(self, billboard: Billboard) -> Iterable[tuple[str, Any, int]]:
        """The draws that a billboard shows: (line of the charge, cost of one draw, number of draws).

        Whoever verifies a pack adds it up again. Left out where all draws follow from the parameters.
        """
        return ()

    def unreleased_streams(self) -> Mapping[str, Any]:
        """Map first words of streams -> the part of their noisy answers that alone is published: "noisy max" of one
        vector each the position of the largest, as of `report_noisy_max`; "sparse vector" which were above the
        threshold, as of `SparseVector`; or a `confide.audit.UnreleasedIntermediate`.

        An audit counts every other noisy answer as published. Of those that are named it tries whether more is
        published, such as which came second; the loss by an `UnreleasedIntermediate` of one's own is a formula that
        nobody checks.
        """
        old = getattr(self, "hidden_streams", None)  # its name until 1.0.0, in classes of other people
        if old is None:
            return {}
        warn_of_old(type(self).__name__, "hidden_streams", "unreleased_streams")
        found: Mapping[str, Any] = old()
        return found

    def part_streams(self) -> Mapping[str, str]:
        """Map the `part` of a promise of privacy -> first words of the streams that it is about.

        An audit holds a promise whose part is not named against all noisy answers together.
        """
        return {}

    def submit(self, private: Any, offer: Any = None, noise: NoiseSource | None = None) -> Any:
        """The participant's side of collection: what leaves their device. The identity unless noise is drawn
        locally.
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
        """The outcome's type follows the noise; diagnostics are dropped from a release.

        An audit's noise calls itself secure, so that no run knows that it is listened to; what it makes is a study.
        Where nothing shows of the audit at all, it looks like a release, to the run and whoever holds it; but it is not
        saved or published (`confide.contract.outcome.check_release`).
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
"""The share of a file's rows that may be unusable, where nothing else was declared: a run of more stops."""

Unusable = Literal["refuse", "null"]
"""Refuse the whole table for one bad row, which tells whoever sees the message; or take the row as the null record."""


def unusable_in(noise: NoiseSource) -> Unusable:
    """The rule for a bad row in a run: in a release nothing that anybody sees may depend on it.

    Args:
        noise: the noise of the run.
    """
    return "null" if noise.release_safe else "refuse"

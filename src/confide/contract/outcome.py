"""The result of a mechanism: a public billboard, one private share per participant, and the guarantees.

The billboard is everything that anyone may see. A share is one participant's part of the result, and is a function of
their own record and the billboard. An outcome with simulated noise has another type, `SimulatedOutcome`. A simulated
outcome has `release_safe = False`, may hold diagnostics computed from private data, and cannot be settled.

Type parameters give type checkers the types of a mechanism's billboard and certificate, and of the outcomes of its
runs. A bare `Mechanism` or `Outcome` in an annotation stands for any type of billboard. The type parameters have no
effect at run time.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Self

import numpy as np
import pyarrow as pa
from typing_extensions import TypeVar

from confide._version import __version__
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import as_path
from confide.contract.guarantees import Guarantees
from confide.contract.metered import Metered
from confide.contract.presentation import Shown, Table, Text
from confide.contract.private_parts import has_private_part
from confide.contract.wire import wire
from confide.contract.words import printable

if TYPE_CHECKING:
    from confide.contract.mechanism import Mechanism

__all__ = [
    "FORMAT",
    "B_co",
    "Billboard",
    "C_co",
    "Certificate",
    "Outcome",
    "Provenance",
    "PublicOutcome",
    "RunOutcome",
    "SimulatedOutcome",
    "as_billboard",
    "check_release",
    "settled_coins",
    "settled_share",
]

# ---- type variables

B_co = TypeVar("B_co", bound="Billboard", default="Billboard", covariant=True)
"""Type variable for the type of the billboard."""

C_co = TypeVar("C_co", bound="Certificate | None", default="Certificate | None", covariant=True)
"""Type variable for the type of the certificate: None for a mechanism without certificates, and a union with None if
only some runs have a certificate.
"""


# ---- outcome

FORMAT = 1
"""Version of the manifest's layout."""

_PARTS = ("numpy", "scipy", "pyarrow", "opendp", "python-flint")


@dataclass(frozen=True, kw_only=True, eq=False)
class Billboard(Shown):
    """Base class of every family's billboard: a frozen dataclass of numbers, strings and arrays, all of them public.

    A billboard is displayed as a small table of its fields; a long array is shown by its shape and first numbers.
    """

    def _blocks(self) -> Sequence[Text | Table]:
        public = tuple((each.name, _short(getattr(self, each.name))) for each in fields(self))
        return (Text((f"{type(self).__name__}, public",)), Table(columns=("field", "value"), rows=public))

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Billboard:
        """The billboard of a settled campaign, from the public files of its folder alone.

        Raises:
            InvalidInput: the same errors as `PublicOutcome.load`.
        """
        return PublicOutcome.load(folder).billboard


_FIRST, _LONGEST = 6, 60  # numbers of an array, and letters of a text, that are shown


def _short(value: Any) -> str | int | float:
    """A public value as a table cell: numbers unchanged, arrays as their shape and first numbers."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, np.ndarray):
        first = [f"{each:.6g}" if isinstance(each, float) else str(each) for each in value.flat[:_FIRST].tolist()]
        return printable(f"{value.dtype} {value.shape}: {', '.join(first)}{', ...' * (value.size > _FIRST)}")
    return "none" if value is None else printable(str(value), _LONGEST)


def as_billboard(given: object) -> Billboard:
    """Check that an object is a billboard, and return it.

    Args:
        given: the object to check.

    Raises:
        InvalidInput: the object is no billboard.
    """
    if isinstance(given, Billboard):
        return given
    raise InvalidInput("billboard", f"{'None' if given is None else type(given).__name__} is not a billboard",
                       "give the published billboard of the run: outcome.billboard, or Billboard.load(folder)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Certificate:
    """Base class of certificates, which state bounds for one run, such as a bound on the error. A certificate is
    computed after the run from the billboard alone, so it has no privacy cost (post-processing).
    """


@wire("Provenance", "confide python parts noise")
@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The origin of an outcome: the versions of confide and of the libraries used, and the kind of noise."""

    confide: str
    python: str
    parts: Mapping[str, str]
    noise: str

    @classmethod
    def here(cls, noise: str) -> Provenance:
        """The provenance of outcomes that this process makes."""
        return cls(confide=__version__, python=platform.python_version(), parts=dict(_versions()), noise=noise)


@cache
def _versions() -> Mapping[str, str]:
    """Versions of the libraries that confide computes with. The versions are cached, because looking them up takes
    longer than the run of many mechanisms.
    """
    return {name: _version(name) for name in _PARTS}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Public(Generic[B_co, C_co]):
    mechanism: Mechanism[Any, Any]
    billboard: B_co
    guarantees: Guarantees
    provenance: Provenance
    certificate: C_co = None  # type: ignore[assignment] # where there is none, its type is None
    meter: Metered | None = None

    release_safe: ClassVar[bool]

    def __repr__(self) -> str:
        kind, what, board = (type(part).__name__ for part in (self, self.mechanism, self.billboard))
        return f"<{kind} of {what}: {board}, {len(self.guarantees)} guarantees, {self.provenance.noise} noise>"

    if not TYPE_CHECKING:  # a type checker goes on reporting attributes that there are not

        def __getattr__(self, name: str) -> Any:
            if name == "diagnostics":
                raise AttributeError(
                    f"{type(self).__name__} has no diagnostics: diagnostics follow from private data, so they exist "
                    "under simulated noise only: run(data, Noise.simulated(seed)).diagnostics. The public statements "
                    "about a secure run are its certificate and its guarantees", name=name, obj=self)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def public(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The public manifest and its columns: parameters, billboard, guarantees, certificate, provenance."""
        columns: dict[str, bytes] = {}
        manifest = {
            "format": FORMAT,
            "release_safe": self.release_safe,
            "mechanism": encode(self.mechanism, columns),
            "billboard": encode(self.billboard, columns),
            "certificate": encode(self.certificate, columns),
            "guarantees": self.guarantees.to_wire(),
            "provenance": encode(self.provenance, columns),
        }
        if self.meter is not None:  # packs of before the meter have none
            manifest["meter"] = encode(self.meter, columns)
        # Guarantees carry display values (numbers that may be nan): make them canonical too.
        manifest["guarantees"] = [encode(g, columns) for g in manifest["guarantees"]]
        return manifest, columns

    def to_dict(self) -> dict[str, Any]:
        """The public part as one JSON-ready dictionary, without the columns."""
        return self.public()[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublicOutcome(_Public[B_co, C_co]):
    """The public part of a settled campaign's outcome: everything except the shares. From this part and their own
    record, a participant can decode their own share.
    """

    release_safe: ClassVar[bool] = True

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, sha256: str | None = None) -> Self:
        """Read the public outcome from `manifest.json` and `columns/`; no other files are needed.

        Args:
            folder: the folder of the outcome.
            sha256: the SHA-256 digest that the manifest must have, in hexadecimal; None if it is unknown.

        Raises:
            InvalidInput: a file is missing, altered, or not a part of an outcome. The message names the file.
        """
        from confide.contract.outcome_folder import read_public

        return cls(**read_public(folder, sha256, release_safe=cls.release_safe))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AnyOutcome(_Public[B_co, C_co]):
    shares: pa.Table  # private: a stray line in a notebook must not show what people get

    def published(self) -> PublicOutcome[B_co, C_co]:
        """The outcome without the shares, from which all tables, pages and other public views are made."""
        return PublicOutcome(mechanism=self.mechanism, billboard=self.billboard, guarantees=self.guarantees,
                             provenance=self.provenance, certificate=self.certificate, meter=self.meter)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `manifest.json` and `columns/`, which are public, and `shares/`, which only the operator, as the owner
        of the folder, can read.

        A simulated outcome follows from private data and a seed, so only the owner of the files can read any part of
        it.

        Args:
            folder: an existing or new folder, which must not hold files of an earlier outcome.

        Raises:
            Refused: an audit recorded the run or forced its noise, although the outcome has the type of a release.
        """
        from confide.contract.outcome_folder import write

        check_release(self)
        write(as_path("folder", folder), *self.public(), self.shares)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, sha256: str | None = None) -> Self:
        """Read an outcome that `save` wrote. Digests are checked, and only objects of the types that the mechanism's
        kind names are rebuilt.

        Args:
            folder: the folder in which the outcome was saved.
            sha256: the SHA-256 digest that the manifest must have, in hexadecimal; None if it is unknown.

        Raises:
            InvalidInput: the folder has no outcome, another format, altered columns, or an outcome of the other type.
                The message names the file.
        """
        from confide.contract.outcome_folder import read_public, read_shares

        return cls(**read_public(folder, sha256, release_safe=cls.release_safe), shares=read_shares(folder))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Outcome(_AnyOutcome[B_co, C_co]):
    """The outcome of a run with secure noise: it may be settled and published."""

    release_safe: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def diagnostics(self) -> NoReturn:
            """A property that only tells type checkers that a release has no diagnostics. A type checker therefore
            takes `run(data, Noise.simulated(1)).diagnostics` for an attribute of `SimulatedOutcome`.
            """


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SimulatedOutcome(_AnyOutcome[B_co, C_co]):
    """The outcome of a run with simulated noise, or with noise that was given in advance (`Noise.replayed`). Such an
    outcome is a study, never a release.

    Args:
        diagnostics: true errors and similar figures, which are computed from private data and must not be published.
    """

    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    release_safe: ClassVar[bool] = False


RunOutcome = Outcome[B_co, C_co] | SimulatedOutcome[B_co, C_co]
"""The outcome of a run: a release or a study, depending on its noise."""


def check_release(outcome: _Public) -> None:
    """Check that an outcome may leave the process: an outcome of the type `Outcome` must come from a real run, not from
    an audit.

    Args:
        outcome: the outcome of a run.

    Raises:
        Refused: an audit recorded the run or forced its noise, although the outcome has the type of a release.
    """
    if has_private_part(outcome):
        raise Refused("this outcome was made with the noise of an audit, so it is not a release",
                      "run with Noise.secure()")


def settled_coins(outcome: Outcome | SimulatedOutcome, index: int, column: str = "payment") -> int:
    """The amount that was settled for one participant, in the smallest units of the currency, such as cents.

    Args:
        outcome: the outcome with its shares.
        index: the participant's position in the public list of ids, from 0.
        column: the column of the shares that holds the amount.

    Raises:
        InvalidInput: the shares belong to another campaign.
        Refused: the participant withdrew, and their share was erased.
    """
    try:
        paid = outcome.shares[column][index].as_py()
    except LookupError:  # the file of another mechanism, or of fewer people
        paid = ""
    if paid is None:
        raise Refused("this participant withdrew, and their share was erased",
                      "the share still follows from the public files and the participant's own record (--record)")
    if not isinstance(paid, int):
        raise InvalidInput("shares", "hold no payment of this participant", "must be the shares of this campaign")
    return paid


def settled_share(outcome: Outcome | SimulatedOutcome, index: int) -> dict[str, Any]:
    """The share that was settled for one participant, as a mapping from column to value.

    Args:
        outcome: the outcome with its shares.
        index: the participant's position in the public list of ids, from 0.

    Raises:
        Refused: the participant withdrew, and their share was erased.
    """
    share: dict[str, Any] = outcome.shares.slice(index, 1).to_pylist()[0]
    if any(value is None for value in share.values()):
        raise Refused("this participant withdrew, and their share was erased",
                      "the share still follows from the public files and the participant's own record (--record)")
    return share

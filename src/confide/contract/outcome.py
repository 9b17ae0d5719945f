"""The result of a mechanism: a public billboard, one private share per participant, and the guarantees.

The billboard is everything that anyone may see. A share is what one participant gets; it is a function of their own
record and the billboard. An outcome made with simulated noise is of another type, `SimulatedOutcome`: it says
`release_safe = False`, may carry diagnostics computed from private data, and cannot be settled.

What a type checker fills in: the billboard and the certificate of a mechanism, and of what its runs give.

A bare `Mechanism` or `Outcome` in an annotation is one of any billboard. Nothing here has an effect at run time.
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
"""The billboard's type."""

C_co = TypeVar("C_co", bound="Certificate | None", default="Certificate | None", covariant=True)
"""The certificate's: None where there is none, a union with None where a run may have none."""


# ---- outcome

FORMAT = 1
"""Version of the manifest's layout."""

_PARTS = ("numpy", "scipy", "pyarrow", "opendp", "python-flint")


@dataclass(frozen=True, kw_only=True, eq=False)
class Billboard(Shown):
    """Base of every family's billboard: a frozen dataclass of numbers, strings and arrays, all of them public.

    It shows itself as a small table of its fields; of a long array it shows the shape and the first numbers.
    """

    def _blocks(self) -> Sequence[Text | Table]:
        public = tuple((each.name, _short(getattr(self, each.name))) for each in fields(self))
        return (Text((f"{type(self).__name__}, public",)), Table(columns=("field", "value"), rows=public))

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Billboard:
        """The billboard of a settled campaign, from the public files of its folder alone.

        Raises:
            InvalidInput: as `PublicOutcome.load`.
        """
        return PublicOutcome.load(folder).billboard


_FIRST, _LONGEST = 6, 60  # numbers of an array, and letters of a text, that are shown


def _short(value: Any) -> str | int | float:
    """A public value as a cell: numbers as they are, the shape and the first numbers of an array."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, np.ndarray):
        first = [f"{each:.6g}" if isinstance(each, float) else str(each) for each in value.flat[:_FIRST].tolist()]
        return printable(f"{value.dtype} {value.shape}: {', '.join(first)}{', ...' * (value.size > _FIRST)}")
    return "none" if value is None else printable(str(value), _LONGEST)


def as_billboard(given: object) -> Billboard:
    """The given object, where it is a billboard; anything else is refused.

    Args:
        given: perhaps an outcome, which has one, or nothing.

    Raises:
        InvalidInput: it is none.
    """
    if isinstance(given, Billboard):
        return given
    raise InvalidInput("billboard", f"{'None' if given is None else type(given).__name__} is no billboard",
                       "give the published billboard of the run: outcome.billboard, or Billboard.load(folder)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Certificate:
    """The claims that follow after the run from the billboard alone: free, because they are post-processing."""


@wire("Provenance", "confide python parts noise")
@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The makers of an outcome: versions of confide and of the parts it computes with, and the kind of noise."""

    confide: str
    python: str
    parts: Mapping[str, str]
    noise: str

    @classmethod
    def here(cls, noise: str) -> Provenance:
        """The provenance of this process."""
        return cls(confide=__version__, python=platform.python_version(), parts=dict(_versions()), noise=noise)


@cache
def _versions() -> Mapping[str, str]:
    """Of the parts; to look them up takes longer than many a mechanism."""
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
                    f"{type(self).__name__} has no diagnostics: they are computed from private data, and exist under "
                    "simulated noise only, run(data, Noise.simulated(seed)).diagnostics; the public statements about a "
                    "secure run are its certificate and guarantees", name=name, obj=self)
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
    """The public part of a settled campaign: everything but the shares. A participant decodes theirs from it."""

    release_safe: ClassVar[bool] = True

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, sha256: str | None = None) -> Self:
        """Read `manifest.json` and `columns/`; nothing else needs to be there.

        Args:
            folder: the folder of the files.
            sha256: the digest that the manifest must have, where it is known.

        Raises:
            InvalidInput: names the file that is missing, altered or no outcome's.
        """
        from confide.contract.outcome_folder import read_public

        return cls(**read_public(folder, sha256, release_safe=cls.release_safe))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AnyOutcome(_Public[B_co, C_co]):
    shares: pa.Table  # private: a stray line in a notebook must not show what people get

    def published(self) -> PublicOutcome[B_co, C_co]:
        """The same without the shares: all that tables, pages and whatever else anyone may see are made from."""
        return PublicOutcome(mechanism=self.mechanism, billboard=self.billboard, guarantees=self.guarantees,
                             provenance=self.provenance, certificate=self.certificate, meter=self.meter)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `manifest.json` and `columns/` (public), and `shares/` (the operator's; readable by its owner only).

        A simulated outcome follows from private data and a seed: all of it is readable by its owner only.

        Args:
            folder: an existing or new directory; files of an earlier outcome in it are an error.

        Raises:
            Refused: it was made with an audit's noise, and only looks like a release.
        """
        from confide.contract.outcome_folder import write

        check_release(self)
        write(as_path("folder", folder), *self.public(), self.shares)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, sha256: str | None = None) -> Self:
        """Read back what `save` wrote. Digests are checked; only types that the mechanism's kind names are rebuilt.

        Args:
            folder: where it was written.
            sha256: what the manifest's digest must be, where it is known.

        Raises:
            InvalidInput: no outcome there, another format, altered columns, or an outcome of the other type; names the
                file.
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
            """Raises: so `run(data, Noise.simulated(1)).diagnostics` is a `SimulatedOutcome`'s to a type checker."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SimulatedOutcome(_AnyOutcome[B_co, C_co]):
    """The outcome of a run with simulated or replayed noise: a study, never a release.

    Args:
        diagnostics: true errors and the like, computed from private data.
    """

    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    release_safe: ClassVar[bool] = False


RunOutcome = Outcome[B_co, C_co] | SimulatedOutcome[B_co, C_co]
"""What a run gives: a release or a study, as its noise is."""


def check_release(outcome: _Public) -> None:
    """Check that an outcome may leave the process as the kind of outcome that it claims to be.

    Args:
        outcome: the outcome of a run.

    Raises:
        Refused: an audit listened to the run, or forced its noise, and nothing of that shows on the outcome.
    """
    if has_private_part(outcome):
        raise Refused("this outcome was made with an audit's noise, and is no release", "run with Noise.secure()")


def settled_coins(outcome: Outcome | SimulatedOutcome, index: int, column: str = "payment") -> int:
    """The amount that was settled for one participant, in the smallest coin.

    Args:
        outcome: the outcome with its shares.
        index: the participant's rank in the public list of ids.
        column: the column of the shares.

    Raises:
        InvalidInput: shares of another campaign.
        Refused: the participant withdrew, and their share was erased.
    """
    try:
        paid = outcome.shares[column][index].as_py()
    except LookupError:  # the file of another mechanism, or of fewer people
        paid = ""
    if paid is None:
        raise Refused("this participant withdrew, and their share was erased",
                      "the public files and the participant's own record (--record) still give it")
    if not isinstance(paid, int):
        raise InvalidInput("shares", "hold no payment of this participant", "must be this campaign's own")
    return paid


def settled_share(outcome: Outcome | SimulatedOutcome, index: int) -> dict[str, Any]:
    """The share that was settled for one participant, column -> value.

    Args:
        outcome: the outcome with its shares.
        index: the participant's rank in the public list of ids.

    Raises:
        Refused: the participant withdrew, and their share was erased.
    """
    share: dict[str, Any] = outcome.shares.slice(index, 1).to_pylist()[0]
    if any(value is None for value in share.values()):
        raise Refused("this participant withdrew, and their share was erased",
                      "the public files and the participant's own record (--record) still give it")
    return share

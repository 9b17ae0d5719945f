"""What a mechanism hands back: a public billboard, one private share per participant, and the guarantees.

The billboard is everything that anyone may see. A share is what one participant gets; it is a function of her own
record and the billboard. An outcome made with simulated noise is of another type, `SimulatedOutcome`: it says
`release_safe = False`, may carry diagnostics computed from private data, and cannot be settled.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pyarrow as pa

from confide.contract.encoding import canonical, column_bytes, decode, digest, encode, table_from_bytes
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Guarantees

if TYPE_CHECKING:
    from confide.contract.mechanism import Mechanism

__all__ = ["FORMAT", "Billboard", "Certificate", "Outcome", "Provenance", "SimulatedOutcome"]

FORMAT = 1
"""Version of the manifest's layout."""

_PARTS = ("numpy", "scipy", "pyarrow", "opendp", "python-flint")


@dataclass(frozen=True, kw_only=True, eq=False)
class Billboard:
    """Base of every family's billboard: a frozen dataclass of numbers, strings and arrays, all of them public."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Certificate:
    """What can be claimed after the run from the billboard alone: free, because it is post-processing."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What made an outcome: versions of confide and of the parts it computes with, and the kind of noise."""

    confide: str
    python: str
    parts: Mapping[str, str]
    noise: str

    @classmethod
    def here(cls, noise: str) -> Provenance:
        """The provenance of this process."""
        parts = {}
        for name in ("confide", *_PARTS):
            try:
                parts[name] = version(name)
            except PackageNotFoundError:
                parts[name] = "absent"
        return cls(confide=parts.pop("confide"), python=platform.python_version(), parts=parts, noise=noise)


@dataclass(frozen=True, kw_only=True, eq=False)
class _AnyOutcome:
    mechanism: Mechanism
    billboard: Billboard
    shares: pa.Table
    guarantees: Guarantees
    provenance: Provenance
    certificate: Certificate | None = None

    release_safe: ClassVar[bool]

    def public(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The public manifest and its columns: parameters, billboard, guarantees, certificate, provenance."""
        columns: dict[str, bytes] = {}
        manifest = {
            "format": FORMAT,
            "release_safe": self.release_safe,
            "mechanism": encode(self.mechanism, columns),
            "billboard": encode(self.billboard, columns),
            "certificate": encode(self.certificate, columns),
            "guarantees": self.guarantees.to_dict(),
            "provenance": encode(self.provenance, columns),
        }
        # Guarantees carry display values (numbers that may be nan): make them canonical too.
        manifest["guarantees"] = [encode(g, columns) for g in manifest["guarantees"]]
        return manifest, columns

    def to_dict(self) -> dict[str, Any]:
        """The public part as one JSON-ready dictionary, without the columns."""
        return self.public()[0]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `manifest.json` and `columns/` (public), and `shares/` (the operator's; readable by its owner only).

        Args:
            folder: an existing or new directory; files of an earlier outcome in it are an error.
        """
        folder = Path(folder)
        if (folder / "manifest.json").exists():
            raise InvalidInput("folder", f"{folder} already holds an outcome", "choose another folder")
        manifest, columns = self.public()
        (folder / "columns").mkdir(parents=True, exist_ok=True)
        for name, data in columns.items():
            (folder / "columns" / f"{name}.arrow").write_bytes(data)
        private = folder / "shares"
        private.mkdir(mode=0o700, exist_ok=True)
        private.chmod(0o700)  # also where it existed before
        data = column_bytes(self.shares)
        (private / f"{digest(data)}.arrow").write_bytes(data)
        (private / "manifest.json").write_bytes(canonical({"format": FORMAT, "shares": digest(data)}))
        (folder / "manifest.json").write_bytes(canonical(manifest))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read back what `save` wrote. Digests are checked; only types that the mechanism's kind names are rebuilt.

        Raises:
            InvalidInput: no outcome there, another format, altered columns, or an outcome of the other type.
        """
        from confide.contract.kinds import types_of

        folder = Path(folder)
        try:
            manifest = json.loads((folder / "manifest.json").read_bytes())
            private = json.loads((folder / "shares" / "manifest.json").read_bytes())
            columns = {path.stem: path.read_bytes() for path in (folder / "columns").glob("*.arrow")}
            shares = (folder / "shares" / f"{private['shares']}.arrow").read_bytes()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidInput("folder", f"{folder} holds no outcome ({type(error).__name__})") from None
        if not isinstance(manifest, dict):
            raise InvalidInput("folder", f"{folder} holds no outcome", "its manifest must be an object")
        if manifest.get("format") != FORMAT:
            raise InvalidInput("format", f"{manifest.get('format')!r} is unknown", f"this version reads {FORMAT}")
        if manifest.get("release_safe") is not cls.release_safe:
            kind = "a simulated" if not manifest.get("release_safe") else "a released"
            raise InvalidInput("folder", f"{folder} holds {kind} outcome, not a {cls.__name__}")
        if digest(shares) != private["shares"]:
            raise InvalidInput("shares", "altered", "their SHA-256 must equal their name")
        try:
            name, *parts = (manifest[key] for key in ("mechanism", "billboard", "certificate", "provenance"))
            known = {**types_of(name["type"]), "Provenance": Provenance}
        except (KeyError, TypeError) as error:
            raise InvalidInput("folder", f"{folder} holds no whole manifest ({type(error).__name__})") from None
        mechanism, billboard, certificate, provenance = (decode(part, known, columns) for part in (name, *parts))
        if (provenance.noise == "secure") is not cls.release_safe:
            raise InvalidInput("folder", f"{folder} holds an outcome of {provenance.noise} noise under a wrong label")
        return cls(
            mechanism=mechanism, billboard=billboard, shares=table_from_bytes(shares),
            guarantees=mechanism.guarantees(), provenance=provenance, certificate=certificate,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome(_AnyOutcome):
    """The outcome of a run with secure noise: it may be settled and published."""

    release_safe: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedOutcome(_AnyOutcome):
    """The outcome of a run with simulated or replayed noise: a study, never a release.

    Args:
        diagnostics: true errors and the like, computed from private data.
    """

    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    release_safe: ClassVar[bool] = False

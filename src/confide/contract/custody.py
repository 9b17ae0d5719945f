"""What kinds have in common whose data a custodian holds: nobody is invited, is paid, or has a share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from confide.contract.asked import Field
from confide.contract.errors import Refused

__all__ = ["CustodiansKind"]


class CustodiansKind:
    """The part of a `Kind` that follows from there being nobody but a custodian."""

    def identities(self, config: Any) -> Sequence[str]:
        """Nobody is invited: a custodian holds the data."""
        return ()

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """Nothing is asked of anybody."""
        return ()

    def codec(self, plan: Any) -> None:
        """What the custodian holds stays where it is."""
        return

    def payouts(self, plan: Any) -> None:
        """Nothing is paid."""
        return

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[None, int]:
        """Nothing is looked up: who is in the data is not to be told."""
        return None, 0

    def submission(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[int, bytes]:
        """Nobody hands in anything.

        Raises:
            Refused: always.
        """
        raise Refused("nobody is invited: a custodian holds the data", "the table comes with the campaign file")

    def parse_record(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[None, int]:
        """Nobody hands in a record."""
        return None, 0

"""The parts that each version of confide writes: a pack holds those of the version that it claims, and no others."""

from __future__ import annotations

from confide.campaign.verification.findings import Broken

__all__ = ["check_part", "is_first"]

_FIRST = "0.1.0"
"""The only version that wrote no meter, no data of pictures and no policy of a page. All later ones write all three."""


def is_first(version: str) -> bool:
    """Whether a version wrote packs without a meter, without data of pictures, and without a policy of the page."""
    return version == _FIRST


def check_part(version: str, part: str, *, held: bool) -> None:
    """See that a part stands in a pack if, and only if, the claimed version writes it.

    Args:
        version: of confide, as the pack claims.
        part: the meter, the data of pictures, or the policy of the page; for the message.
        held: whether the pack holds it.

    Raises:
        Broken: the claimed version never writes what is there, or always writes what is missing.
    """
    if held == is_first(version):
        raise Broken(f"{part} {'is there' if held else 'is missing'}; confide {version} "
                     f"{'never' if held else 'always'} writes it")

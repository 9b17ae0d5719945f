"""A HiGHS solver that never writes to standard output, which may be reserved for one JSON object."""

from __future__ import annotations

import highspy

__all__ = ["QuietHighs"]


class QuietHighs(highspy.Highs):
    """The HiGHS solver without its log. The constructor of HiGHS 1.16 prints a banner before any option can be set.

    Example:
        >>> import highspy
        >>> QuietHighs().getOptionValue("output_flag")
        (<HighsStatus.kOk: 0>, False)
    """

    def enableCallbacks(self) -> None:  # noqa: N802 - HiGHS's name; its constructor calls it, and it prints
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]

"""How a kernel of numbers is compiled, for all that lies above `confide.numerics`."""

from __future__ import annotations

from confide._compiled import kernel, kernel_or_plain

__all__ = ["kernel", "kernel_or_plain"]

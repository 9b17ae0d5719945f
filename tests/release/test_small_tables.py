"""Small tables are projected by Python itself, many by a kernel: both give the same bits."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import numpy as np
from confide.release.marginal_fit.candidates import penalty_of
drawn = np.random.default_rng(0)
cases = [(drawn.integers(0, 1 << 40, cells), float(drawn.choice([1e-3, 0.1, 3.0])), drawn.normal(size=99), cells * 7)
         for cells in (1, 2, 7, 20, 60) for _ in range(20)]
plain = [float(penalty_of(table, float(table.sum()), *rest)).hex() for table, *rest in cases]
assert "numba" not in sys.modules
compiled = penalty_of.made()
assert [compiled(table, float(table.sum()), *rest).hex() for table, *rest in cases] == plain
assert "numba" in sys.modules
"""


def test_plain_and_compiled_projections_are_the_same_bits() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True)

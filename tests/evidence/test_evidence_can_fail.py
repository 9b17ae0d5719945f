"""No evidence has a verdict that is constant by its text: something that is computed decides it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from confide.evidence import claims
from constant_evidence import faults

NAMES: dict[str, set[str]] = {}
for _row in claims():
    NAMES.setdefault(_row.evidence.module, set()).add(_row.evidence.function)


@pytest.mark.parametrize("module", sorted(NAMES))
def test_no_verdict_is_constant(module: str) -> None:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    assert faults(Path(spec.origin).read_text(encoding="utf-8"), sorted(NAMES[module])) == {}


CANNOT_FAIL = {
    "written": 'return Recomputed("holds", 1.0, found())',
    "same": 'return Recomputed("holds" if found() > 1 else "holds", 1.0, 2.0)',
    "literals": 'return Recomputed("holds" if 0.01 / (4 * 0.01**2) > 1 else "false", 1.0, 25.0)',
    "names": 'a, b = 6.0, LIMIT\n    return Recomputed("holds" if a / b != 1 else "false", 1.0, a / b)',
    "functions": 'x = math.sqrt(0.25)\n    return Recomputed("holds" if abs(x) > 0.25 else "false", 0.25, x)',
    "helper": 'return Recomputed("holds" if half(3.0) > 1 else "false", 1.0, half(3.0))',
    "array": 'x = np.array([1.0, -1.0])\n    return Recomputed("holds" if x.sum() > 1 else "false", 1.0, x[0])',
    "listed": 'x = [(s - (2 * e + 1)) + 2 * e for s, e in ((100, 3), (1000, 40))]\n'
              '    return Recomputed("holds" if x == [99, 999] else "false", 1.0, 2.0)',
    "branches": 'if LIMIT > 1:\n        return Recomputed("holds", 1.0, 2.0)\n    return Recomputed("false", 1.0, 2.0)',
    "passed on": "return always()",
    "inverse": 'x = found()\n    y = 1 / x\n    return Recomputed("holds" if abs(x * y - 1) < 1e-9 else "false", x, y)',
    "both sides": 'return Recomputed("holds" if found(2) == found(2) else "false", 1.0, 2.0)',
    "there and back": 'x = found()\n    return Recomputed("holds" if math.isclose(x, 2 / (2 / x)) else "false", x, x)',
    "moved": 'x, y = found(1), found(2)\n    z = x + y\n'
             '    return Recomputed("holds" if z - y <= x else "false", x, z)',
    "chosen before": 'x = found()\n    v = "holds" if x / x > 0.5 else "false"\n    return Recomputed(v, x, x)',
}
CAN_FAIL = {
    "call": 'x = found()\n    return Recomputed("holds" if x > 1 else "false", 1.0, x)',
    "one of two": 'x = found()\n    return Recomputed("holds" if LIMIT > 1 and x > 1 else "false", 1.0, x)',
    "loop": 'x = 0\n    while x < 3:\n        x += 1\n    return Recomputed("holds" if x > 1 else "false", 1.0, x)',
    "grid": 'x = max(half(a) for a in np.linspace(0, 1, 9))\n'
            '    return Recomputed("holds" if x > 1 else "false", 1.0, x)',
    "exception": 'try:\n        found()\n    except ValueError:\n        return Recomputed("holds", 1.0, 2.0)\n'
                 '    return Recomputed("false", 1.0, 2.0)',
    "branches": 'if found():\n        return Recomputed("holds", 1.0, 2.0)\n    return Recomputed("false", 1.0, 2.0)',
    "chosen before": 'verdict = "holds" if found() else "false"\n    return Recomputed(verdict, 1.0, 2.0)',
    "passed on": "return judged(found())",
    "its own inverse": 'x = found()\n    return Recomputed("holds" if abs(x - 1 / x) < 1e-9 else "false", x, 1 / x)',
    "two calls": 'x, y = found(1), found(2)\n    return Recomputed("holds" if abs(x - y) < 1e-9 else "false", x, y)',
    "assigned again": 'x = found(1)\n    y = 1 / x\n    x = found(2)\n'
                      '    return Recomputed("holds" if abs(x * y - 1) < 1e-9 else "false", x, y)',
}
MODULE = '''
import math
import numpy as np
from zoo import found

LIMIT = 12.0

def half(x):
    return x / 2

def always():
    return Recomputed("holds", 1.0, 2.0)

def judged(x):
    return Recomputed("holds" if found(x) > 1 else "false", 1.0, 2.0)

def evidence():
    {}
'''


@pytest.mark.parametrize("case", CANNOT_FAIL)
def test_what_cannot_fail_is_found(case: str) -> None:
    assert set(faults(MODULE.format(CANNOT_FAIL[case]), ["evidence"])) == {"evidence"}


@pytest.mark.parametrize("case", CAN_FAIL)
def test_what_can_fail_is_left_alone(case: str) -> None:
    assert faults(MODULE.format(CAN_FAIL[case]), ["evidence"]) == {}

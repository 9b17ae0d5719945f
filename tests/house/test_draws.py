"""Where noise is drawn: a mechanism asks a primitive, which pays, and never the source itself."""

from __future__ import annotations

import ast
from pathlib import Path

import confide

SOURCE = Path(confide.__file__).parent
DRAWS = {"discrete_laplace", "discrete_gaussian", "laplace", "gaussian", "vector_laplace", "channel", "selection",
         "split", "exponential", "words"}
DRAWING = (
    "privacy/noise/",  # the sources themselves
    "privacy/primitives/",  # what protects somebody
    "privacy/public_randomness.py",  # what protects nobody
    "privacy/selection.py",  # report_noisy_max pays by the same door
)
STUDIES = (
    "audit/",  # faults, samplers and made-up answers
    "/audit/",
    "/audited",
    "/evidence",  # simulated noise, of claims
    "evidence/",
    "regression/stand_ins.py",  # made-up people
    "regression/release/sufficient_statistics.py",  # a prediction, from a public seed
    "channels/mechanisms/kernel_mechanism.py",  # channels too large to be released from
)


def _calls(path: Path, word: str) -> list[ast.Call]:
    """The calls in a file that has a word; files without it, most of them, are not parsed."""
    text = path.read_text(encoding="utf-8")
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)] if word in text else []


def test_noise_is_drawn_by_primitives_alone() -> None:
    """Whoever draws from `noise`, `source` or a field of that name elsewhere draws what nothing pays for."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(DRAWING) or any(part in f"/{name}" if part.startswith("/") else name.startswith(part)
                                           for part in STUDIES):
            continue
        found += [f"{name}:{node.lineno}" for node in _calls(path, "stream")
                  if isinstance(node.func, ast.Attribute) and node.func.attr in DRAWS
                  and "stream" in {keyword.arg for keyword in node.keywords}]
    assert found == []


def test_weights_come_with_their_price() -> None:
    """`draw_by_logits` takes weights and a price: who calls it works out both from the same numbers."""
    callers = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")
               for node in _calls(path, "draw_by_logits") if ast.unparse(node.func).endswith("draw_by_logits")}
    assert callers == {"privacy/selection.py", "release/query_game.py"}


def test_the_listed_modules_exist() -> None:
    """A door that is gone would let its list rot."""
    assert all((SOURCE / module).exists() for module in DRAWING)
    assert all((SOURCE / place).exists() for place in STUDIES if not place.startswith("/"))

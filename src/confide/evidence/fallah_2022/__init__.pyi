# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed as algorithm1_as_printed
from confide.evidence.fallah_2022.minimax import minimax_bounds as minimax_bounds

__all__ = [
    "algorithm1_as_printed", "minimax_bounds",
]

# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.wu_2017.private_programs.printed_dude import PrintedDude as PrintedDude

__all__ = [
    "PrintedDude",
]

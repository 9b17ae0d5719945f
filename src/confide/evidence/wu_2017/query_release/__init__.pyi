# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.wu_2017.query_release.printed_dual_query import PrintedDualQuery as PrintedDualQuery
from confide.evidence.wu_2017.query_release.printed_program import PrintedIntegerProgram as PrintedIntegerProgram
from confide.evidence.wu_2017.query_release.printed_program import printed_parity_row as printed_parity_row
from confide.evidence.wu_2017.query_release.printed_program import row_defects as row_defects

__all__ = [
    "PrintedDualQuery", "PrintedIntegerProgram", "printed_parity_row", "row_defects",
]

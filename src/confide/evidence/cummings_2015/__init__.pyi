# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.cummings_2015.corollary import Corollary1 as Corollary1
from confide.evidence.cummings_2015.corollary import corollary_1 as corollary_1
from confide.evidence.cummings_2015.corollary import slopes as slopes
from confide.evidence.cummings_2015.printed_mechanism import PrintedTruthfulRegression as PrintedTruthfulRegression
from confide.evidence.cummings_2015.printed_numbers import Printed as Printed
from confide.evidence.cummings_2015.printed_numbers import PrintedRow as PrintedRow
from confide.evidence.cummings_2015.printed_numbers import compare_spectrum as compare_spectrum
from confide.evidence.cummings_2015.printed_numbers import printed_confidence as printed_confidence
from confide.evidence.cummings_2015.printed_numbers import printed_guarantees as printed_guarantees
from confide.evidence.cummings_2015.printed_numbers import printed_least_payment as printed_least_payment
from confide.evidence.cummings_2015.printed_numbers import printed_least_squares as printed_least_squares
from confide.evidence.cummings_2015.printed_numbers import printed_remark as printed_remark
from confide.evidence.cummings_2015.printed_numbers import printed_rows as printed_rows
from confide.evidence.cummings_2015.printed_ridge import PrintedRidge as PrintedRidge

__all__ = [
    "Corollary1", "Printed", "PrintedRidge", "PrintedRow", "PrintedTruthfulRegression", "compare_spectrum",
    "corollary_1", "printed_confidence", "printed_guarantees", "printed_least_payment", "printed_least_squares",
    "printed_remark", "printed_rows", "slopes",
]

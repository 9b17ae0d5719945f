# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.privacy.accounting.accountant import CALCULATORS as CALCULATORS
from confide.privacy.accounting.accountant import FAST as FAST
from confide.privacy.accounting.accountant import Accountant as Accountant
from confide.privacy.accounting.accountant import Calculator as Calculator
from confide.privacy.accounting.accountant import matrix as matrix
from confide.privacy.accounting.accountant import mechanisms as mechanisms
from confide.privacy.accounting.advanced import corollary_step as corollary_step
from confide.privacy.accounting.advanced import largest_step as largest_step
from confide.privacy.accounting.sums import Spend as Spend
from confide.privacy.accounting.sums import Totals as Totals
from confide.privacy.accounting.sums import as_written as as_written
from confide.privacy.accounting.sums import counted as counted
from confide.privacy.accounting.sums import float_up as float_up
from confide.privacy.accounting.sums import spendable as spendable
from confide.privacy.accounting.sums import totals as totals
from confide.privacy.accounting.sums import written as written
from confide.privacy.accounting.sums import written_up as written_up

__all__ = [
    "CALCULATORS", "FAST", "Accountant", "Calculator", "Spend", "Totals", "as_written", "corollary_step", "counted",
    "float_up", "largest_step", "matrix", "mechanisms", "spendable", "totals", "written", "written_up",
]

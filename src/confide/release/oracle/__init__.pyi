# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.release.oracle.answer import Answer as Answer
from confide.release.oracle.answer import Oracle as Oracle
from confide.release.oracle.answer import best_response as best_response
from confide.release.oracle.bounds import LinearBound as LinearBound
from confide.release.oracle.bounds import certified_bound as certified_bound
from confide.release.oracle.bounds import linear_bound as linear_bound
from confide.release.oracle.bounds import upper_bound as upper_bound
from confide.release.oracle.integer_program import Enumeration as Enumeration
from confide.release.oracle.integer_program import IntegerProgram as IntegerProgram
from confide.release.oracle.local_search import LocalSearch as LocalSearch
from confide.release.oracle.terms import Terms as Terms
from confide.release.oracle.terms import all_on_from_parities as all_on_from_parities
from confide.release.oracle.terms import parity_row as parity_row

__all__ = [
    "Answer", "Enumeration", "IntegerProgram", "LinearBound", "LocalSearch", "Oracle", "Terms", "all_on_from_parities",
    "best_response", "certified_bound", "linear_bound", "parity_row", "upper_bound",
]

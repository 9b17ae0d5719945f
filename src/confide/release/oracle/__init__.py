"""Best-response oracles: optimisers that find a record which satisfies nearly as many sampled clauses as possible.

    >>> import numpy as np
    >>> from confide.release.oracle import LocalSearch, Terms, best_response
    >>> terms = Terms(kind="conjunctions", attributes=3, index=[[0, 1, 2], [0, 1, -1]], bits=[[1, 1, 0], [0, 1, 0]],
    ...               weights=[4, -3], constant=3)
    >>> best_response(LocalSearch(), terms, (np.zeros(3, dtype=bool),), seed=7).value
    7

The optimisation is hard in the worst case and easy in practice. The search costs no privacy, since an oracle receives
only the netted samples and public facts (`Terms`).
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "answer": ("Answer", "Oracle", "best_response"),
        "bounds": ("LinearBound", "certified_bound", "linear_bound", "upper_bound"),
        "integer_program": ("Enumeration", "IntegerProgram"),
        "local_search": ("LocalSearch",),
        "terms": ("Terms", "all_on_from_parities", "parity_row"),
    },
    moved={
        "evidence.wu_2017.query_release": ("row_defects",),
    },
)

"""Marginals from parities: every conjunction is a signed mean of the parities of its attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.contract.errors import InvalidInput
from confide.release._inputs import of_kind, reals
from confide.release.queries import keys_of
from confide.release.workload import Workload

__all__ = ["marginals_from_parities"]


def marginals_from_parities(marginals: Workload, parities: Workload, answers: Any) -> np.ndarray:
    """Answers to conjunctions from answers to parities, by an identity that holds for every data set.

    With p_T(x) = prod over T of (1 - 2 x_i), which is +1 where the number of ones among T is even, a literal "x_i = 1"
    is (1 - p_i)/2 and "x_i = 0" is (1 + p_i)/2. So a conjunction of k literals on S is

        2^-k sum over T in S of (-1)^(positive literals in T) p_T(x).

    The print lacks the signs and the factor (erratum 5); without the signs the sum is the cell in which all are off.
    Errors of at most a in the parities, on the scale from -1 to +1, become at most (1 - 2^-k) a, as the empty one is
    exact; that is 2 (1 - 2^-k) times the largest error of the answers here.

    Args:
        marginals: conjunctions, k of them.
        parities: holds the parity of every non-empty set of attributes within a conjunction.
        answers: to the parities, shares of the records with an even number of ones.

    Returns:
        float64 (k,).

    Raises:
        InvalidInput: workloads of other kinds or over different attributes, or a parity that is missing.

    Source: spec query_release E3 and erratum 5.

    Example:
        >>> from confide.release import PackedBits
        >>> marginals = Workload.conjunctions([[0, 1], [0, 2]], [[True, True], [True, False]], attributes=3)
        >>> parities = Workload.complete(3, width=2, kind="parities")
        >>> records = PackedBits.pack([[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 0]])
        >>> marginals_from_parities(marginals, parities, parities.answers(records)), marginals.answers(records)
        (array([0.5 , 0.25]), array([0.5 , 0.25]))
    """
    of_kind("marginals", marginals, Workload)
    of_kind("parities", parities, Workload)
    if marginals.kind != "conjunctions" or parities.kind != "parities":
        raise InvalidInput("workload", f"{marginals.kind} from {parities.kind}", "must be conjunctions from parities")
    if marginals.attributes != parities.attributes:
        raise InvalidInput("parities", f"are over {parities.attributes} attributes",
                           f"the marginals are over {marginals.attributes}")
    values = 2 * reals("answers", answers) - 1
    if values.shape != (len(parities),):
        raise InvalidInput("answers", f"are of shape {values.shape}", f"must be ({len(parities)},)")
    known = keys_of(parities.index, parities.bits, parities.attributes)
    order = np.argsort(known)
    known = known[order]
    total = np.ones(len(marginals))
    lengths = (marginals.index >= 0).sum(axis=1)
    for subset in range(1, 1 << marginals.width):
        places = np.flatnonzero(subset >> np.arange(marginals.width) & 1)
        there = np.flatnonzero(lengths > places[-1])
        if not len(there):
            continue
        if len(places) > parities.width:
            raise _missing(marginals.index[there[0], places])
        index = np.full((len(there), parities.width), -1, np.int32)
        index[:, : len(places)] = marginals.index[there][:, places]
        keys = keys_of(index, np.ones(index.shape, np.bool_), parities.attributes)
        found = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        if not np.array_equal(known[found], keys):
            raise _missing(index[np.argmax(known[found] != keys)])
        odd = marginals.bits[there][:, places].sum(axis=1) % 2 == 1
        total[there] += np.where(odd, -1.0, 1.0) * values[order[found]]
    found_answers: np.ndarray = np.ldexp(total, -lengths)
    return found_answers


def _missing(index: np.ndarray) -> InvalidInput:
    shown = ", ".join(str(each) for each in index.tolist() if each >= 0)
    return InvalidInput("parities", f"the parity of the attributes {shown} is missing",
                        'such as Workload.complete(domain, width=3, kind="parities")')

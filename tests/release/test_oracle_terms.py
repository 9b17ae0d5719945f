"""What an oracle may see, and records of one-hot groups (spec query_release D1, E2, toy traps)."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_instances import brute_force, instance, valid_records

import confide.release.oracle
from confide.contract.errors import InvalidInput, Unsupported
from confide.release import Workload
from confide.release.oracle import (
    Enumeration,
    IntegerProgram,
    LocalSearch,
    Terms,
    best_response,
)
from confide.release.oracle.terms import repaired, separated

GOOD: dict[str, Any] = {"kind": "conjunctions", "attributes": 3, "index": [[0, 1], [2, -1]], "bits": [[1, 0], [1, 1]],
                        "weights": [2, -1], "constant": 1}


@pytest.mark.parametrize(("field", "value", "message"), [
    ("kind", "predicates", "kind"), ("attributes", 0, "attributes"), ("attributes", 2, "out of range"),
    ("index", [[0, 1], [-2, -1]], "out of range"), ("index", [[1, 0], [2, -1]], "not ascending"),
    ("index", [[0, 0], [2, -1]], "not ascending"), ("index", [[0, 1], [-1, 2]], "padding"),
    ("index", [0, 1], "index"), ("index", [[0.0, 1.0], [2.0, -1.0]], "index"),
    ("bits", [[1, 0]], "bits"), ("bits", [[1, 0], [2, 1]], "bits"), ("bits", [[1, 0], [1.0, 0.5]], "bits"),
    ("weights", [2, 0], "weights"), ("weights", [2], "weights"), ("weights", [2.0, 1.0], "weights"),
    ("weights", [2**41, 1], "too large"), ("constant", -1, "constant"), ("constant", 0.5, "constant"),
    ("groups", ([],), "no attribute"), ("groups", ([0, 3],), "out of range"),
    ("groups", ([0, 1], [1, 2]), "in two groups"),
])
def test_malformed_terms_are_refused(field: str, value: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Terms(**{**GOOD, field: value})


def test_terms_cannot_be_written_to() -> None:
    weights = np.array([2, -1])
    terms = Terms(**{**GOOD, "weights": weights})
    weights[0] = 7
    assert terms.weights.tolist() == [2, -1]
    with pytest.raises(ValueError, match="read-only"):
        terms.weights[0] = 3
    with pytest.raises(InvalidInput, match="record"):
        terms.value([True])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60), st.integers(0, 2**10 - 1))
def test_netting_counts_the_clauses_that_were_drawn(draws: list[tuple[int, bool]], bits: int) -> None:
    """constant + sum of w q(x) is, draw for draw, the number of drawn queries and negations that hold."""
    workload = Workload.random(10, 10, seed=3)
    x = np.array([bits >> i & 1 for i in range(10)], dtype=bool)
    queries = np.array([q for q, _ in draws], dtype=np.int64)
    negated = np.array([n for _, n in draws], dtype=bool)
    terms = Terms.netted(workload, queries, negated)
    holds = workload.values(x)
    assert terms.value(x) == sum(bool(holds[q]) != n for q, n in draws)
    assert terms.clauses >= terms.value(x)
    assert len(np.unique(terms.index, axis=0)) == len(terms) or len(terms) <= 10


@pytest.mark.parametrize(("queries", "negated", "message"), [
    ([0, 4], [True, False], "out of range"), ([-1], [True], "out of range"), ([0], [1], "negated"),
    ([0], [True, False], "negated"), ([0.0], [True], "queries"),
])
def test_malformed_draws_are_refused(queries: list[Any], negated: list[Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Terms.netted(Workload.random(5, 4, seed=1), queries, negated)


def test_predicates_have_no_literals() -> None:
    with pytest.raises(Unsupported, match="predicates"):
        Terms.netted(SimpleNamespace(kind="predicates"), [0], [True])


# ---- the oracle sees no data


class Poisoned:
    """A data set that notices every look at it."""

    looks = 0

    def __getattribute__(self, name: str) -> Any:
        if name != "__class__":  # isinstance asks for it
            type(self).looks += 1
            raise AssertionError(f"the oracle looked at {name} of the data")
        return super().__getattribute__(name)

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        type(self).looks += 1
        raise AssertionError("the oracle read the data as an array")

    def __len__(self) -> int:
        type(self).looks += 1
        raise AssertionError("the oracle counted the data")

    __iter__ = __getitem__ = __bool__ = __len__


@pytest.mark.parametrize("oracle", [LocalSearch(certify=True), IntegerProgram(), Enumeration()])
def test_an_oracle_never_looks_at_data(oracle: Any) -> None:
    """A data set in the place of terms or of a record is refused before anything of it is read."""
    terms, data = Terms(**GOOD), Poisoned()
    with pytest.raises(InvalidInput, match="terms"):
        oracle.solve(data, (np.zeros(3, dtype=bool),), 0)
    for start in ((data,), data, (np.zeros(3, dtype=bool), data), ()):
        with pytest.raises(InvalidInput, match="start"):
            oracle.solve(terms, start, 0)
    with pytest.raises(InvalidInput, match="seed"):
        oracle.solve(terms, (np.zeros(3, dtype=bool),), data)
    with pytest.raises(InvalidInput, match="terms"):
        best_response(oracle, data, (np.zeros(3, dtype=bool),), 0)
    assert Poisoned.looks == 0


def test_the_answer_is_a_function_of_the_samples() -> None:
    """Two data sets with the same draws have the same answer: nothing else goes in."""
    workload = Workload.random(30, 200, seed=8)
    draws = (np.arange(0, 200, 3), np.arange(0, 200, 3) % 2 == 0)
    once, again = (LocalSearch().solve(Terms.netted(workload, *draws), (np.zeros(30, dtype=bool),), 4)
                   for _ in range(2))
    assert once.record.tolist() == again.record.tolist()


def test_the_oracle_imports_nothing_that_reads_data() -> None:
    """Its modules know numbers, solvers, errors and each other."""
    allowed = ("confide.contract", "confide.release.oracle", "confide._compiled", "confide._lazy",
               "confide.numerics.quiet_highs", "numpy", "numba", "highspy")
    standard = {"__future__", "collections.abc", "dataclasses", "fractions", "itertools", "math", "numbers", "time",
                "typing"}
    folder = Path(confide.release.oracle.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name in standard or name.startswith(allowed), f"{path.name} imports {name}"


# ---- one-hot groups


@pytest.mark.parametrize("kind", ["conjunctions", "parities"])
def test_separated_queries_are_the_same_on_valid_records(kind: str) -> None:
    """And no two of their literals share a group."""
    rewritten = 0
    for seed in range(60):
        terms = instance(seed, kind=kind, most=9, grouped=True)
        clauses = separated(terms)
        home = {int(a): g for g, members in enumerate(terms.groups) for a in members}
        for row in clauses.attributes:
            groups = [home[int(a)] for a in row if int(a) in home]
            assert len(set(groups)) == len(groups)
        flat = Terms(kind=kind, attributes=terms.attributes, index=clauses.attributes, bits=clauses.bits,
                     weights=clauses.weights, constant=clauses.shift, groups=terms.groups)
        assert brute_force(flat).tolist() == brute_force(terms).tolist()
        rewritten += clauses.attributes is not terms.index
    assert rewritten > 20


def test_records_are_repaired() -> None:
    terms = Terms(**{**GOOD, "attributes": 6, "groups": ([0, 1, 2], [3, 4])})
    assert repaired(terms, [1, 1, 0, 0, 0, 1]).tolist() == [True, False, False, True, False, True]
    for record in valid_records(terms):
        assert repaired(terms, record).tolist() == record.tolist()

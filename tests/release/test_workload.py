"""Workloads: one canonical form, random ones without repeats, complete ones, and identities between them."""

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_of_people import SMALL, codes

from cases import fast
from confide.contract import InvalidInput
from confide.contract.encoding import decode, encode
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.release import (
    Binned,
    Bit,
    Codes,
    Levels,
    MarginalFit,
    PackedBits,
    Schema,
    Workload,
    marginals_from_parities,
)

MANY = Schema(tuple(Levels(column=f"c{j}", levels=tuple("abcdefg"[: 2 + j % 5])) for j in range(12)))


def holds(workload: Workload, query: int, record) -> bool:
    """One query of one record, by its definition."""
    literals = [(a, b) for a, b in zip(workload.index[query], workload.bits[query], strict=True) if a >= 0]
    if workload.kind == "parities":
        return sum(bool(record[a]) for a, _ in literals) % 2 == 0
    return all(bool(record[a]) == b for a, b in literals)


# ---- canonical form


@settings(max_examples=60)
@given(data=st.data(), attributes=st.integers(1, 6), kind=st.sampled_from(["conjunctions", "parities"]))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_canonical_form_asks_the_same(data, attributes, kind):
    """Every query that is given is there, once, and says the same of every record; nothing else is there."""
    literal = st.tuples(st.integers(0, attributes - 1), st.booleans())
    given_ = data.draw(st.lists(st.lists(literal, min_size=1, max_size=4), min_size=1, max_size=8))
    index, bits = [[a for a, _ in q] for q in given_], [[b for _, b in q] for q in given_]
    universe = np.array(list(itertools.product([False, True], repeat=attributes)))
    if kind == "parities":
        tables = [tuple((universe[:, q].sum(axis=1) % 2 == 0).tolist()) for q in index]
        trivial, make = (True,) * len(universe), lambda: Workload.parities(index, attributes=attributes)
    else:
        tables = [tuple((universe[:, q] == b).all(axis=1).tolist()) for q, b in zip(index, bits, strict=True)]
        trivial, make = (False,) * len(universe), lambda: Workload.conjunctions(index, bits, attributes=attributes)
    if (kind == "parities" and trivial in tables) or set(tables) == {trivial}:
        with pytest.raises(InvalidInput):
            make()
        return
    workload = make()
    said = [tuple(holds(workload, q, record) for record in universe) for q in range(len(workload))]
    assert said == [each for each in dict.fromkeys(tables) if each != trivial]
    assert np.array_equal(np.array(said), np.array([workload.values(record) for record in universe]).T)


def test_what_is_dropped_is_reported():
    with pytest.warns(UserWarning, match="1 queries are dropped: they require an attribute to be true and false"):
        found = Workload.conjunctions([[1, 1], [0, 2]], [[True, False], [True, True]], attributes=3)
    assert found.index.tolist() == [[0, 2]]
    with pytest.warns(UserWarning, match="2 queries are dropped: they stand twice"):
        assert len(Workload.conjunctions([[2, 0], [0, 2], [0, 2]], attributes=3)) == 1
    with pytest.warns(UserWarning, match="stand twice"):
        assert len(Workload.predicates([[0, 1], [0, 1]])) == 1


def test_attributes_by_name():
    found = Workload.conjunctions([["rich", "sex = male"], ["smoker"]], [[True, False], [True]], attributes=SMALL)
    assert found.index.tolist() == [[1, 12], [6, -1]]
    assert found.bits.tolist() == [[False, True], [True, True]]
    assert Workload.parities([["rich", "smoker"]], attributes=SMALL).index.tolist() == [[6, 12]]
    with pytest.raises(InvalidInput, match="'mail' is not a level of 'sex'; did you mean 'sex = male'"):
        Workload.conjunctions([["sex = mail"]], attributes=SMALL)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Workload.conjunctions([], attributes=3), "no queries"),
    (lambda: Workload.conjunctions(np.zeros((0, 3), int), attributes=3), "no queries"),
    (lambda: Workload.conjunctions([[]], attributes=3), "no attribute"),
    (lambda: Workload.conjunctions([[0, 3]], attributes=3), r"query 0 has the attribute 3; must be in \[0, 3\)"),
    (lambda: Workload.conjunctions([[0], [-2]], attributes=3), "query 1 has the attribute -2"),
    (lambda: Workload.conjunctions([[0.5]], attributes=3), "neither a number nor a name"),
    (lambda: Workload.conjunctions([["x0"]], attributes=3), "names need a schema"),
    (lambda: Workload.conjunctions([0, 1], attributes=3), "is not a query"),
    (lambda: Workload.conjunctions(["x0"], attributes=3), "is not a query"),
    (lambda: Workload.conjunctions(np.zeros(3, int), attributes=3), "1 dimension;"),
    (lambda: Workload.conjunctions([[0, 1]], [[True]], attributes=3), "one bit for each"),
    (lambda: Workload.conjunctions([[0, 1]], np.ones((1, 3), bool), attributes=3), "must have the shape of the index"),
    (lambda: Workload.conjunctions([[0]], [[2]], attributes=3), "not all bits"),
    (lambda: Workload.conjunctions([[0, 0]], [[1, 0]], attributes=3), "can be satisfied"),
    (lambda: Workload.conjunctions([[0]], attributes=0), "attributes"),
    (lambda: Workload.parities([[1, 1]], attributes=3), "no attribute"),
    (lambda: Workload.predicates(np.zeros((0, 4))), "no queries"),
    (lambda: Workload.predicates([[0, 1, 1]]), "must have 2"),
    (lambda: Workload.predicates([[0, 2]]), "not all bits"),
    (lambda: Workload.predicates([[0, 1]], negations="none"), "negations"),
    (lambda: Workload.predicates([[0, 1], [1, 1]], negations="given"), "query 0 has no negation"),
    (lambda: Workload.random(3, 0, seed=1), "count"),
    (lambda: Workload.random(3, 5, width=0, seed=1), "width"),
    (lambda: Workload.random(3, 5, seed=-1), "seed"),
    (lambda: Workload.random(3, 9, seed=1), "only 8 such queries"),
    (lambda: Workload.random(3, 2, width=4, seed=1), "there are no such queries"),
    (lambda: Workload.random(3, 2, seed=1, kind="predicates"), "kind"),
    (lambda: Workload.complete(3, width=4), "more than the 3 columns"),
    (lambda: Workload.complete(2000, width=3), "there are 1331334000 such queries"),
    (lambda: Workload.conjunctions([[0]], attributes=1).values([1, 0]), "must have 1"),
    (lambda: Workload.conjunctions([[0]], attributes=1).add_values([1], np.zeros(1)), "must be int32"),
    (lambda: Workload.conjunctions([[0]], attributes=1).parity_errors([1.0]), "must hold parities"),
    (lambda: Workload.conjunctions([[0]], attributes=1).counts(PackedBits.pack([[0, 1]])), "the records have 2"),
    (lambda: Workload.conjunctions([[0]], attributes=1).answers(PackedBits.pack([[1]]), [1, 2]), "must be 1 finite"),
    (lambda: Workload.conjunctions([[0]], attributes=1).answers(PackedBits.pack([[1]]), [math.nan]), "finite"),
])
def test_queries_that_are_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


def raw(kind="conjunctions", attributes=3, index=((0, 1),), bits=((True, True),), truth=None):
    index = np.array(index, np.int32)
    return Workload(kind=kind, attributes=attributes, index=index, bits=np.array(bits, np.bool_),
                    truth=np.zeros((0, 0), np.bool_) if truth is None else np.array(truth, np.bool_))


@pytest.mark.parametrize("bad", [
    {"index": ((1, 0),)}, {"index": ((0, 0),)}, {"index": ((-1, 0),)}, {"index": ((0, 3),)}, {"index": ((-1, -1),)},
    {"index": ((0, 1), (0, 1)), "bits": ((True, True), (True, True))}, {"index": ((0, -1),), "bits": ((True, False),)},
    {"kind": "parities", "bits": ((True, False),)}, {"kind": "sums"}, {"attributes": 0},
    {"index": np.zeros((0, 2)), "bits": np.zeros((0, 2))}, {"bits": ((True,),)}, {"truth": [[True]]},
    {"kind": "predicates", "index": np.zeros((1, 0)), "bits": np.zeros((1, 0)), "truth": [[True] * 4]},
    {"kind": "predicates", "attributes": 2, "index": np.zeros((2, 0)), "bits": np.zeros((2, 0)),
     "truth": [[True] * 4] * 2},
    {"kind": "predicates", "attributes": 2, "index": np.zeros((0, 0)), "bits": np.zeros((0, 0))},
    {"kind": "predicates", "attributes": 40, "index": np.zeros((1, 0)), "bits": np.zeros((1, 0)), "truth": [[True]]},
])
def test_a_strangers_workload_is_checked(bad):
    """What comes out of a manifest is in canonical form or refused."""
    assert len(raw()) == 1
    with pytest.raises(InvalidInput):
        raw(**bad)


@pytest.mark.parametrize("workload", [
    Workload.random(SMALL, 40, seed=3), Workload.complete(5, width=2, kind="parities"),
    Workload.predicates([[0, 1, 1, 0], [1, 1, 1, 0]]), Workload.random(10**6, 5, width=5, seed=3),
], ids=["conjunctions", "parities", "predicates", "wide"])
def test_a_workload_stands_in_a_manifest(workload):
    columns = {}
    written = encode({"workload": workload, "answers": np.arange(len(workload)) / 7}, columns)
    back = decode(written, {"Workload": Workload}, columns)
    assert np.array_equal(back["answers"], np.arange(len(workload)) / 7)
    found = back["workload"]
    assert (found.kind, found.attributes, found.seed) == (workload.kind, workload.attributes, workload.seed)
    for name in ("index", "bits", "truth"):
        assert np.array_equal(getattr(found, name), getattr(workload, name))
    with pytest.raises(ValueError, match="read-only"):
        found.index[:] = 0


# ---- in words

JOBS = Schema((Levels(column="job", levels=("none", "part", "full", "self", "both")), Bit(column="smoker"),
               Binned(column="age", edges=(0, 18, 25, 40, 65, 100)), Levels(column="kin", levels=tuple("abc"), bins=5),
               Levels(column="two", levels=("x, y", "z", "w", "v")), Binned(column="left", lower=0, upper=1, bins=4)))


def test_a_workload_in_a_line():
    """No array, and the numbers that tell one from another."""
    assert repr(Workload.random(235, 5000, seed=1)) == "<Workload: 5,000 conjunctions of up to 3 of 235 attributes>"
    assert str(Workload.parities([[0]], attributes=1)) == "<Workload: 1 parity of up to 1 of 1 attribute>"
    assert repr(Workload.predicates([[0, 1, 1, 0]])) == "<Workload: 1 predicate over 2 attributes>"
    assert repr(Workload.complete(3, width=2, kind="parities")) == "<Workload: 6 parities of up to 2 of 3 attributes>"


def test_parities_in_words():
    """As they count: a record satisfies a parity where an even number of the attributes is on."""
    names = [["smoker", "job = none"], ["left in [0.25, 0.5)"], ["kin = a", "job = part", "smoker"]]
    workload = Workload.parities(names, attributes=JOBS)
    assert workload.words(JOBS) == ["an even number of: job = none; smoker", "an even number of: left in [0.25, 0.5)",
                                    "an even number of: job = part; smoker; kin = a"]
    assert workload.words(JOBS, 1) == ["an even number of: job = none; smoker"]
    record = np.zeros(JOBS.attributes, bool)
    record[[JOBS.find("job = none"), JOBS.find("smoker")]] = True
    assert workload.values(record).tolist() == [True, True, False]
    for query in (["not smoker"], ["job in {none, part}"]):
        with pytest.raises(InvalidInput, match=r"index\[1\]: the query has a negated attribute, or a set of "
                                               r"attributes"):
            Workload.parities([["smoker"], query], attributes=JOBS)
    with pytest.raises(InvalidInput, match="only conjunctions and parities have words"):
        Workload.predicates([[0, 1]]).words(Schema.bits(1))


def everybody(schema: Schema) -> Codes:
    """One record of each kind."""
    grid = np.indices(schema.sizes).reshape(len(schema.sizes), -1).T
    return Codes(schema=schema, cells=np.ascontiguousarray(grid, dtype=np.uint16))


SETS = {
    "age in [18, 40)": ["age in [18, 25)", "age in [25, 40)"],
    "age in [40.0,100]": ["age in [40, 65)", "age in [65, 100]"],
    "age  not in  [18, 40)": ["age in [0, 18)", "age in [40, 65)", "age in [65, 100]"],
    "age in [1.8e1, 25)": ["age in [18, 25)"],
    "left not in [0.25, 1]": ["left in [0, 0.25)"],
    "job in {none, part}": ["job = none", "job = part"],
    "job in { both,none , full }": ["job = none", "job = full", "job = both"],
    "job not in {self}": ["job = none", "job = part", "job = full", "job = both"],
    "job not in {none, part, full, self}": ["job = both"],
    "kin in {a, c}": ["kin = a", "kin = c"],
}


@pytest.mark.parametrize("text", fast(5, SETS))
def test_a_set_is_the_sum_of_its_bins(text):
    """Of valid records, counted in each way, alone and beside other literals; released answers add up likewise."""
    found, bits = everybody(JOBS), everybody(JOBS).packed()
    for beside in ([], ["smoker"], ["not smoker", "two = z"], ["left in [0.25, 0.75)"]):
        if "left" in text and beside and "left" in beside[0]:
            continue
        joined = Workload.conjunctions([[text, *beside]], attributes=JOBS)
        apart = Workload.conjunctions([[each, *beside] for each in SETS[text]], attributes=JOBS)
        assert len(joined) == 1
        for records in (found, bits):
            assert joined.counts(records).tolist() == [apart.counts(records).sum()]
        weights = study_generator(1, "weights").random(found.records)
        assert joined.answers(found, weights)[0] == pytest.approx(apart.answers(found, weights).sum())


def test_sets_come_back_from_their_words():
    """Every set of bins or levels, alone and in pairs: read, said, read again."""
    random = study_generator(3, "sets")
    texts = []
    for _ in range(300):
        query = []
        for column in (JOBS.columns[k] for k in random.permutation(6)[:2]):
            literals = [name for name in JOBS.negated if name.startswith((column.column, f"not {column.column}"))]
            query += [literals[k] for k in random.permutation(len(literals))[: random.integers(1, len(literals) + 1)]]
        texts.append(query)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a pair may come twice
        workload = Workload.conjunctions(texts, attributes=JOBS)
    said = [text.split(" and ") for text in workload.words(JOBS)]
    again = Workload.conjunctions(said, attributes=JOBS)
    assert again.same(workload)
    assert sum(map(len, said)) < int((workload.index >= 0).sum())
    assert Workload.conjunctions([["job in {none, part}"], ["age in [18, 65)", "smoker"], ["age not in [18, 40)"],
                                  ["job not in {none, part}"], ["two != z", "two != w"]],
                                 attributes=JOBS).words(JOBS) == [
        "job in {none, part}", "smoker and age in [18, 65)", "age not in [18, 40)", "job not in {none, part}",
        "two != z and two != w"]


@pytest.mark.parametrize(("text", "words"), [
    ("age in [18, 41)", "41 is not an edge of a bin of age; it lies between 40 and 65"),
    ("age in [18, 400)", "400 is not an edge of a bin of age; they run from 0 to 100"),
    ("age in [18, old)", "old is not an edge of a bin"),
    ("age in [18, nan)", "nan is not an edge of a bin"),
    ("age in [18, 40]", r"did you mean 'age in \[18, 40\)'\? only the last bin holds its upper edge"),
    ("age in [65, 100)", r"did you mean 'age in \[65, 100\]'"),
    ("age in (18, 40)", "is not a range; must be written like"),
    ("age in {18, 40}", "is not a range"),
    ("age in [40, 18)", "is empty"),
    ("age in [0, 100]", "holds for every record; leave it out"),
    ("age not in [0, 100]", "holds for no record"),
    ("job in {none, prat}", "'prat' is not a level of job; did you mean 'part'"),
    ("job in {}", "'' is not a level of job"),
    ("job in [none, part)", "is not a list of levels; must be written like 'job in {none, part}'"),
    ("smoker in {true}", "is unknown"),
    ("jobs in {none}", "is unknown"),
])
def test_sets_that_are_refused(text, words):
    with pytest.raises(InvalidInput, match=words) as error:
        Workload.conjunctions([["smoker"], [text]], attributes=JOBS)
    assert error.value.field == "index[1]"
    with pytest.raises(InvalidInput, match=words):
        JOBS.literal(text)


def test_a_set_must_hold_whole_bins():
    schema = Schema((Levels(column="v", levels=tuple("abcd"), bins=2), Levels(column="in", levels=("x", "y", "z"))))
    assert schema.names[:2] == ("v = a or b", "v = c or d")
    assert schema.literals("v in {c, d}") == ((1, True),)
    with pytest.raises(InvalidInput, match="splits a bin, since 'b' is in the same bin; name all levels of a bin"):
        schema.literals("v in {a}")
    assert schema.literals("in in {x, z}") == ((3, False),)
    with pytest.raises(InvalidInput, match="is a set of bins or levels, not a single attribute"):
        JOBS.literal("job in {none, part}")


def test_fitted_marginals_answer_sets():
    fit = MarginalFit.for_budget(records=500, epsilon=1.0, delta=1e-6, schema=SMALL, population=1000, tables=2)
    board = fit.run(codes(500), Noise.simulated(1)).billboard
    both = board.answers(Workload.conjunctions([["age in [25, 75)", "kin in {wife, other}"]], attributes=SMALL))
    cells = board.answers(Workload.conjunctions(
        [[age, kin] for age in ("age in [25, 50)", "age in [50, 75)") for kin in ("kin = wife", "kin = other")],
        attributes=SMALL))
    assert both[0] == pytest.approx(cells.sum(), abs=1e-9)


@pytest.mark.parametrize("wrong", [None, "x", b"x", 3, 2.5, {"a": 1}, {1}, [3], [None], [["x", 1]], Path("x"),
                                   np.int64(3), np.array(3), 10**400], ids=repr)
def test_other_types_are_named(wrong):
    workload = Workload.complete(3, width=2)
    for field, call in {
        "index": lambda: Workload.conjunctions(wrong, attributes=3),
        "index ": lambda: Workload.parities(wrong, attributes=3),
        "index  ": lambda: Workload.conjunctions([wrong], attributes=3),
        "bits": lambda: Workload.conjunctions([[0, 1]], 3 if wrong is None else wrong, attributes=3),
        "bits ": lambda: Workload.conjunctions([[0, 1]], [wrong], attributes=3),
        "bits  ": lambda: Workload.conjunctions([[0]], [[wrong]], attributes=3),
        "attributes": lambda: Workload.complete(None if isinstance(wrong, int | np.int64) else wrong),
        "signed": lambda: Workload.random(9, 3, seed=1, signed=wrong),
        "distinct_columns": lambda: Workload.random(9, 3, seed=1, distinct_columns=wrong),
        "positive": lambda: Workload.complete(9, positive=wrong),
        "queries": lambda: workload.some(wrong), "other": lambda: workload.same(wrong),
        "total": lambda: workload.add_values([0, 0, 0], wrong),
        "schema": lambda: workload.words(wrong),
    }.items():
        with pytest.raises(InvalidInput) as error:
            call()
        assert error.value.field.partition("[")[0] in (field.strip(), "attribute"), (field, str(error.value))
    with pytest.raises(InvalidInput, match="row 0 has an entry that is not a number, or is out of range"):
        Workload.conjunctions([[0]], [[wrong]], attributes=3) if wrong == "x" else Workload.conjunctions(
            [[10**400]], attributes=3)


@pytest.mark.parametrize("make", [
    lambda: Workload.complete(2**40), lambda: Workload.random(3, 2, width=10**400, seed=1),
    lambda: Workload.random(3, 2, width=4, seed=1, distinct_columns=False),
    lambda: Workload.complete(3, width=2).some([0, 3]), lambda: Workload.complete(3, width=2).some([-1]),
    lambda: Workload.conjunctions([[0]], [[0.5]], attributes=3), lambda: Workload.complete(3).words(Schema.bits(3), -1),
    lambda: Workload.complete(3).answers(PackedBits.pack([[0, 1, 1]]), ["x"]),
])
def test_numbers_out_of_range_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


# ---- random and complete


@pytest.mark.parametrize("domain", [40, MANY], ids=["bits", "schema"])
@pytest.mark.parametrize("kind", ["conjunctions", "parities"])
def test_random_queries(domain, kind):
    workload = Workload.random(domain, 900, seed=4, kind=kind)
    again = Workload.random(domain, 900, seed=4, kind=kind)
    assert np.array_equal(workload.index, again.index)
    assert np.array_equal(workload.bits, again.bits)
    assert (len(workload), workload.width, workload.seed) == (900, 3, 4)
    assert len({(*map(tuple, (i, b)),) for i, b in zip(workload.index.tolist(), workload.bits.tolist(), strict=True)}) \
        == 900
    if isinstance(domain, Schema):
        assert (np.diff(domain.column_of[workload.index], axis=1) > 0).all()
    assert (workload.bits.all() if kind == "parities" else abs(workload.bits.mean() - 0.5) < 0.05)
    assert Workload.random(domain, 50, seed=4, signed=False).bits.all()


def test_every_query_is_equally_likely():
    """A column with more levels is asked about more often, as it has more of the queries."""
    schema = Schema((Levels(column="a", levels=tuple("abcdefgh")), Bit(column="b"), Bit(column="c"), Bit(column="d")))
    total = 8 * 3 + 3  # pairs
    few = [Workload.random(schema, 3, width=2, signed=False, seed=seed) for seed in range(900)]
    counts = np.zeros((11, 11), int)
    for each in few:
        np.add.at(counts, tuple(each.index.T), 1)
    seen = counts[counts > 0]
    assert len(seen) == total
    expected = 2700 / total
    # Chi-square with 26 degrees of freedom: above 70 with probability 7e-6; the seeds are fixed.
    assert ((seen - expected) ** 2 / expected).sum() < 70
    nearly_all = Workload.random(schema, total - 1, width=2, signed=False, seed=2)
    assert len({tuple(row) for row in nearly_all.index.tolist()}) == total - 1


def test_independent_columns_as_in_the_prototype():
    """A literal may come twice, and the query is shorter; what is required twice is never contradictory."""
    workload = Workload.random(5, 125, seed=1, distinct_columns=False)
    lengths = (workload.index >= 0).sum(axis=1)
    assert set(lengths.tolist()) == {1, 2, 3}
    assert Workload.random(5, 10 * 8 + 10 * 4 + 5 * 2, seed=1, distinct_columns=False).width == 3  # all there are
    parity = Workload.random(5, 15, seed=1, distinct_columns=False, kind="parities")
    assert set((parity.index >= 0).sum(axis=1).tolist()) == {1, 3}
    schema = Schema((Levels(column="a", levels=tuple("abcdef")), Levels(column="b", levels=tuple("xyz"))))
    assert Workload.random(schema, 60, width=3, seed=1, distinct_columns=False).width == 3


@pytest.mark.parametrize("domain", [6, SMALL], ids=["bits", "schema"])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_all_queries(domain, width):
    column = list(range(6)) if domain == 6 else SMALL.column_of.tolist()
    sets = [c for c in itertools.combinations(range(len(column)), width) if len({column[a] for a in c}) == width]
    assert Workload.complete(domain, width=width).index.tolist() == [list(c) for c in sets]
    signed = Workload.complete(domain, width=width, positive=False)
    assert list(zip(map(tuple, signed.index.tolist()), map(tuple, signed.bits.tolist()), strict=True)) == [
        (c, b) for c in sets for b in itertools.product([True, False], repeat=width)]
    smaller = Workload.complete(domain, width=width, kind="parities")
    assert len(smaller) == sum(len(Workload.complete(domain, width=each)) for each in range(1, width + 1))


def test_two_million_queries_are_no_loop():
    """And their keys fit nowhere near 64 bits at five attributes of a million: those sort as texts."""
    assert len(Workload.random(MANY, 20000, seed=9)) == 20000
    wide = Workload.random(10**6, 2000, width=5, seed=9)
    ordered = wide.index[wide.order]
    assert (np.diff(ordered[:, 0]) >= 0).all()


# ---- predicates, parities


def test_negations_are_given_or_implied():
    table = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 1]], bool)
    assert Workload.predicates(table, negations="given").truth.tolist() == table[:2].tolist()
    assert len(Workload.predicates(table)) == 4
    records = PackedBits.pack([[1, 0], [1, 0], [0, 1], [1, 1]])  # records 1, 1, 2, 3 of the universe
    workload = Workload.predicates(table)
    assert workload.counts(records).tolist() == [3, 2, 1, 2]
    assert workload.answers(records, [0.5, 0.25, 2, 1]).tolist() == [2.75, 0.75, 1, 3]
    assert workload.values([True, False]).tolist() == [True, True, False, False]
    assert workload.some(np.array([2])).counts(records).tolist() == [1]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_marginals_are_signed_means_of_parities(width):
    """Erratum 5: with the signs and the factor; without the signs the mean is the cell in which all are off."""
    bits = study_generator(5, "records").random((90, 6)) < 0.4
    records = PackedBits.pack(bits)
    marginals = Workload.complete(6, width=width, positive=False, smaller=True)
    parities = Workload.complete(6, width=width, kind="parities")
    answers = parities.answers(records)
    found = marginals_from_parities(marginals, parities, answers)
    assert np.abs(found - marginals.answers(records)).max() < 1e-14
    # One more time from the definition, on one set.
    chosen = list(range(width))
    subsets = [s for size in range(width + 1) for s in itertools.combinations(chosen, size)]
    p = {s: np.prod(1 - 2 * bits[:, s].astype(int), axis=1).mean() for s in subsets}
    assert sum((-1) ** len(s) * p[s] for s in subsets) / 2**width == pytest.approx(bits[:, chosen].all(axis=1).mean())
    assert sum(p[s] for s in subsets) / 2**width == pytest.approx((~bits[:, chosen].any(axis=1)).mean())
    # The error bound is attained where the sign of each error is that of its term.
    error = 0.01
    moved = marginals_from_parities(marginals, parities, answers + error / 2)
    assert np.abs(moved - found).max() <= (1 - 2.0**-width) * error + 1e-12
    off = ~marginals.bits.any(axis=1)
    lengths = (marginals.index >= 0).sum(axis=1)
    if off.any():
        assert (moved - found)[off] == pytest.approx((1 - 2.0 ** -lengths[off]) * error)
    assert parities.parity_errors([0.5, -1.0]).tolist() == [1.0, -2.0]


def test_parities_that_do_not_carry_the_marginals():
    marginals = Workload.conjunctions([[0, 1]], attributes=3)
    for parities, answers, words in [
        (Workload.parities([[0], [1]], attributes=3), [1, 1], "parity of the attributes 0, 1 is missing"),
        (Workload.parities([[0], [0, 1]], attributes=3), [1, 1], "parity of the attribute 1 is missing"),
        (Workload.complete(4, width=2, kind="parities"), [1], "over 4 attributes"),
        (Workload.complete(3, width=2, kind="parities"), [1], "must be"),
        (marginals, [1], "marginals must hold conjunctions"),
    ]:
        with pytest.raises(InvalidInput, match=words):
            marginals_from_parities(marginals, parities, answers)


def test_values_add_up_to_counts():
    found = codes(70)
    bits = found.packed().unpack()
    for workload in (Workload.complete(SMALL, width=2, positive=False), Workload.complete(SMALL, kind="parities")):
        total = np.zeros(len(workload), np.int32)
        for record in bits:
            workload.add_values(record, total)
        assert np.array_equal(total, workload.counts(found))
        assert workload.log_queries == math.log(2 * len(workload))

"""Mistakes of the first hour: each message names what is meant, and never the opposite of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from held_campaign import campaign

from confide.contract.errors import InvalidInput
from confide.contract.kinds import kind
from confide.privacy.noise import Noise
from confide.release import (
    MWEM,
    Binned,
    Bit,
    DualQuery,
    Levels,
    Reweighted,
    Schema,
    Workload,
    true_answers,
)
from confide.release.baselines import (
    FixedBillboard,
    IndependentBillboard,
    IndependentMarginals,
    NoisyAnswers,
    NoisyBillboard,
)
from confide.release.marginal_fit.mechanism import MarginalFit
from confide.release.mwem import MWEMBillboard
from confide.release.records import PackedBits
from confide.release.synthetic import Rounds, SyntheticRecords
from confide.tables import open_table
from confide.tables.cell_problems import CellProblems, judged
from confide.tables.roles import FINE, MISSING, UNLISTED
from confide.tables.roster import Roster

pytestmark = pytest.mark.filterwarnings("ignore:.* have no usable row:UserWarning")  # tables of few rows

SMOKER = Bit(column="smoker", true="yes", false="no")
AGES = Schema((Binned(column="age", edges=(0, 18, 40, 65, 100)), SMOKER,
               Levels(column="job", levels=("none", "part", "full"))))
PAIRS = Workload.complete(4, width=2)
TABLE = {"age": [1.0, 20.0, 66.0], "smoker": ["yes", "no", "no"], "job": ["none", "full", "part"]}


def refused(call: Callable[[], object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as error:
        call()
    return error.value


# ---- literals


def test_a_named_bit_goes_by_its_column() -> None:
    assert (AGES.literal("smoker"), AGES.literal("not smoker")) == ((4, True), (4, False))
    asked = Workload.conjunctions([["smoker", "job = none"], ["not smoker"]], attributes=AGES)
    assert asked.words(AGES) == ["smoker = yes and job = none", "smoker = no"]
    assert AGES.names[4] == "smoker = yes"


def test_a_short_name_that_is_somebody_elses_stays_theirs() -> None:
    plain = Schema((Bit(column="a", true="y", false="n"), Bit(column="not a")))
    assert (plain.literal("a"), plain.literal("not a"), plain.literal("not not a")) == (
        (0, True), (1, True), (1, False))
    both = Schema((Bit(column="a", true="y", false="n"), Bit(column="not a", true="y", false="n")))
    assert "is unknown" in str(refused(lambda: both.literal("not a")))  # it could be either's
    assert (both.literal("a"), both.literal("not not a")) == ((0, True), (1, False))


def test_a_negation_is_not_answered_with_its_opposite() -> None:
    for text in ("not smokr", "not job = none", "job not = part", "smoker != ye"):
        error = refused(lambda text=text: AGES.literals(text))
        meant = error.limit.partition("did you mean '")[2].partition("'")[0]
        assert meant, text
        assert " != " in meant or meant.startswith("not "), (text, meant)


@pytest.mark.parametrize(("text", "meant"), [
    ("age >= 65", "age in [65, 100]"), ("age > 64", "age in [65, 100]"), ("age>20", "age in [40, 100]"),
    ("age >= 0", "age in [18, 100]"), ("age > 99", "age in [65, 100]"), ("age < 18", "age in [0, 18)"),
    ("age <= 50", "age in [0, 40)"), ("age < 5", "age in [0, 18)"), ("age \u2264 1e9", "age in [0, 65)"),
    ("age = 30", "age in [18, 40)"), ("age == 100", "age in [65, 100]"), ("age != 30", "age not in [18, 40)"),
    ("age >= old", "age in [65, 100]"),
])
def test_a_comparison_is_reported_how_ranges_are_written(text: str, meant: str) -> None:
    error = refused(lambda: AGES.literals(text))
    assert f"{text!r} is a comparison" in error.problem
    assert error.limit == f"ranges are written like '{meant}', with edges of bins"
    assert AGES.literals(meant)


def test_other_comparisons_stay_unknown() -> None:
    for text in ("job >= part", "wage >= 65", ">= 65"):
        assert "is unknown" in str(refused(lambda text=text: AGES.literals(text)))


# ---- schemas and tables


def test_a_role_is_no_schema() -> None:
    for wrong in (SMOKER, "smoker", 3):
        assert refused(lambda wrong=wrong: Schema(wrong)).limit == "must be a sequence of columns"
    assert refused(lambda: Schema(())).problem == "none is given"


def test_fewer_rows_than_records_are_refused() -> None:
    queries = Workload.complete(AGES, width=1)
    for call in (lambda: AGES.encode(TABLE, records=1200), lambda: true_answers(TABLE, queries, AGES, records=1200)):
        assert str(refused(call)) == ("records: the table has rows for 3 of n = 1,200; correct the table or n; "
                                      "unusable='null' counts missing rows as the null record")
    people = {**TABLE, "who": ["ann", "eve", "bob"]}
    three = Roster.from_ids(["bob", "ann", "eve"])
    assert AGES.encode(people, records=three, id="who").records == 3
    four = Roster.from_ids(["bob", "cid", "ann", "eve"])
    assert refused(lambda: AGES.encode(people, records=four, id="who")).field == "records"
    padded = AGES.encode(people, records=four, id="who", unusable="null")
    assert not padded.cells[1].any()
    counted = true_answers(TABLE, queries, AGES, records=5, unusable="null")
    assert np.array_equal(counted.counts, queries.counts(AGES.encode(TABLE, records=5, unusable="null")))


def test_an_unusable_cell_says_what_to_do_and_nothing_of_itself() -> None:
    wrong = {**TABLE, "age": [1.0, 20.0, 731.5]}
    queries = Workload.complete(AGES, width=1)
    made = NoisyAnswers(records=3, workload=queries, epsilon=1.0, delta=1e-3, schema=AGES)
    for call in (lambda: AGES.encode(wrong), lambda: AGES.encode(wrong, records=3),
                 lambda: made.run(wrong, Noise.simulated(1))):
        assert str(refused(call)) == (
            "age: the column has a value that it does not accept; must be in [0, 100]; or encode the table first with "
            'schema.encode(table, records=n, unusable="null", rejected=lost), where lost = {}: this counts such rows '
            "as the null record and lists them, so that you can read the list before a release")
    reported: dict[str, str] = {}
    codes = AGES.encode(wrong, records=3, unusable="null", rejected=reported)
    assert list(reported) == ["3"]
    assert made.run(codes, Noise.simulated(1))


# ---- budgets and boards


@pytest.mark.parametrize("make", [
    lambda: MarginalFit.for_budget(records=100, epsilon=1.0, delta=0, schema=AGES),
    lambda: NoisyAnswers(records=100, workload=PAIRS, epsilon=1.0, delta=0.0, law="gaussian"),
    lambda: IndependentMarginals(records=100, workload=PAIRS, epsilon=1.0, delta=0.0),
    lambda: Reweighted.for_budget(records=100, epsilon=1.0, delta=0.0, workload=PAIRS),
], ids=["marginal fit", "gaussian", "product", "reweighted"])
def test_gaussian_noise_needs_a_delta(make: Callable[[], object]) -> None:
    assert str(refused(make)) == (
        'delta: Gaussian noise needs delta > 0; MWEM, DualQuery with calculator="pure" and NoisyAnswers '
        'with law="laplace" take delta = 0')


def test_what_is_named_takes_no_delta() -> None:
    assert MWEM.for_budget(records=10_000, epsilon=1.0, delta=0.0, workload=PAIRS).delta == 0
    assert DualQuery.for_budget(records=10_000, epsilon=1.0, delta=0.0, workload=PAIRS, calculator="pure").delta == 0
    assert NoisyAnswers(records=100, workload=PAIRS, epsilon=1.0, delta=0.0, law="laplace").delta == 0
    for delta in (-0.1, 1.0, True):
        error = refused(lambda delta=delta: MarginalFit.for_budget(records=100, epsilon=1.0, delta=delta, schema=AGES))
        assert "Gaussian" not in str(error)


def boards() -> list[SyntheticRecords | MWEMBillboard | IndependentBillboard | FixedBillboard | NoisyBillboard]:
    none, off = np.zeros(0, np.int64), np.zeros(2, np.bool_)
    rounds = Rounds(queries=none, weights=none, ends=np.zeros(2, np.int64), negations=np.zeros(2, np.int64),
                    values=np.zeros(2, np.int64), bounds=np.zeros(2), fell_back=off, timed_out=off)
    return [
        SyntheticRecords(records=PackedBits.pack(np.eye(2, 4, dtype=np.bool_)), weights=np.full(2, 0.5), rounds=rounds,
                         marginals=none),
        MWEMBillboard(records=100, workload=PAIRS, form="replay", passes=1, chosen=np.array([0]),
                      measured=np.array([50])),
        IndependentBillboard(records=100, ones=np.zeros(4, np.int64)),
        FixedBillboard(records=100, attributes=4, one=0.0),
        FixedBillboard(records=100, attributes=4, one=0.5, schema=Schema.bits(4)),
        NoisyBillboard(records=100, workload=PAIRS, noisy=np.zeros(len(PAIRS), np.int64)),
    ]


def test_boards_answer_workloads_alone() -> None:
    for board in boards():
        assert len(board.answers(PAIRS)) == len(PAIRS)
        error = refused(lambda board=board: board.answers([["job = none"]]))
        assert (error.field, error.limit) == ("workload", "must be a Workload")
        assert refused(lambda board=board: board.answers(Workload.complete(5, width=1)))


def test_rows_are_asked_for_by_a_schema() -> None:
    for board in boards()[:2]:
        error = refused(lambda board=board: board.rows(10))
        assert str(error) == ("schema: is of type int; must be the Schema that the attributes came from: rows(schema)")
        assert board.rows(Schema.bits(4)).num_rows


# ---- campaign files


@pytest.mark.parametrize(("text", "says"), [
    ('[method]\nname = "marginalfit"', "method.name: 'marginalfit' is unknown; did you mean 'marginal-fit'?"),
    ('[method]\nname = 3', "method.name: 3 is unknown; known: dual-query, gaussian"),
    ('[method]\nnames = "mwem"', "method.names: is not a known key; did you mean 'name'?"),
    ("[method]", "method.name: is missing; known: recommended, marginal-fit"),
    ('[method]\nrounds = 3', "method.name: is missing; known: recommended, marginal-fit"),
    ('[method]\nname = "mwem"\nround = 3', "method.round: is not a known key; did you mean 'rounds'?"),
])
def test_a_wrong_name_of_a_method(text: str, says: str, tmp_path: Path) -> None:
    error = refused(lambda: campaign(tmp_path, ("[privacy]", f"{text}\n\n[privacy]"), data=[]))
    assert str(error).startswith(says)


def test_a_wrong_form_of_a_workload(tmp_path: Path) -> None:
    error = refused(lambda: campaign(tmp_path, ('"complete"', '"compleet"'), data=[]))
    assert str(error) == "workload.form: 'compleet' is unknown; did you mean 'complete'?"


def test_rows_say_which_methods_have_their_own() -> None:
    """The number of rows is no number of records where a release consists of records."""
    table = kind("queries").config.model_fields["rows"].annotation
    assert table is not None
    assert "dual-query and reweighted publish all of their records" in table.model_fields["count"].description


def test_a_cell_that_is_no_bit_is_not_called_missing() -> None:
    """yes and no, where the file names no texts: said of the cells and of the rows, with what would do."""
    smoker = Bit(column="smoker")
    assert smoker.encode(["yes", " ", None, " 1 ", "true", "NaN"]).problems.tolist() == [
        UNLISTED, MISSING, MISSING, FINE, FINE, MISSING]
    assert smoker.reason(UNLISTED).endswith(
        'smoker: is not a bit; must be true or false, 1 or 0, or texts that the file names: true = "yes", false = "no"')
    assert smoker.reason(MISSING) == "smoker: is missing; must be true or false, 1 or 0"
    for column, said in ((smoker, 'cells are not bits (name their texts: true = "yes", false = "no"), such as \'no\''),
                         (Bit(column="smoker", true="ja", false="nein"), "cells are not levels, such as 'no'")):
        problems = CellProblems(judged([column]), examples=True)
        for _ in problems.of(open_table({"smoker": ["no", "yes"]})).batches(["smoker"]):
            pass
        assert problems.reported()["smoker"] == (f"smoker: 2 {said}",)

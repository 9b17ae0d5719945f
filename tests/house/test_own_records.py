"""`decode` takes one's own record in every form that `run` takes for everybody, and gives the run's share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.acquisition import ContractedRecords, TwoPartMechanism, UniformPrior
from confide.acquisition.records import as_contracted
from confide.allocation import PAlloc, PMatch, SinkhornMatch
from confide.allocation.bundles import Additive, SymmetricConcave
from confide.contract import InvalidInput
from confide.market import BitCollection, LinearCost, MajorityMarket
from confide.privacy import Noise
from confide.programs import Knapsack, PrivDude, UnitDemand
from confide.regression import BernoulliPeers, BetaPrior, ScoringRule, TruthfulRegression, UniformBall, UniformNoise
from confide.tables.frames import own_fields, own_row

sys.path.append(str(Path(__file__).parents[1] / "programs"))
from convex_models import KNAPSACKS

PEOPLE, RANK = 40, 7
VALUES = np.random.default_rng(3).uniform(0.2, 1.0, (PEOPLE, 3)).round(3)
REPORTS, GROUPS = np.random.default_rng(4).integers(2, size=(2, PEOPLE))
REPORTS[RANK] = 1

Case = tuple[Any, Any, dict[str, Any]]


def matching(kind: Any, data: Any = VALUES, **settings: Any) -> Case:
    it = kind.for_budget(epsilon=50.0, delta=1e-3, people=PEOPLE, goods=3, **{"supply": 30, **settings})
    return it, data, {f"good {k}": float(data[RANK, k]) for k in range(3)}


def market(groups: int) -> Case:
    it = BitCollection(market=MajorityMarket(people=PEOPLE, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0),
                                             epsilon=1.0), groups=groups)
    if groups == 1:
        return it, REPORTS, {"report": 1}
    return it, {"report": REPORTS, "group": GROUPS}, {"report": 1, "group": int(GROUPS[RANK])}


def dude(program: Any) -> Case:
    return PrivDude(program, 50.0, 1e-3, 12, 6), VALUES, {f"column {k}": float(VALUES[RANK, k]) for k in range(3)}


CASES: dict[str, Callable[[], Case]] = {
    "PMatch": lambda: matching(PMatch), "SinkhornMatch": lambda: matching(SinkhornMatch),
    "PAlloc, sums": lambda: matching(PAlloc, VALUES / 4, valuation=Additive()),
    "PAlloc, counts": lambda: matching(PAlloc, np.tile([0.0, 0.5, 0.75], (PEOPLE, 1)),
                                       valuation=SymmetricConcave(most=2), supply=90),
    "BitCollection": lambda: market(1), "BitCollection, groups": lambda: market(2),
    "UnitDemand": lambda: dude(UnitDemand(PEOPLE, 10.0, goods=3)),
    "Knapsack": lambda: dude(Knapsack(PEOPLE, (8.0, 8.0), least_weight=0.1)),
    "BernoulliPeers": lambda: (BernoulliPeers(people=PEOPLE, prior=BetaPrior(1.0, 1.0)), REPORTS, {"bit": 1}),
}


def in_form(form: str, columns: dict[str, Any], folder: Path) -> Any:
    row = list(columns.values())
    one = {name: [cell] for name, cell in columns.items()}
    frame = pd.DataFrame(one)
    match form:
        case "csv":
            frame.to_csv(folder / "mine.csv", index=False)
            return str(folder / "mine.csv")
        case "parquet":
            frame.to_parquet(folder / "mine.parquet")
            return folder / "mine.parquet"
    return {"list": row, "tuple": tuple(row), "array": np.array(row), "one row": np.array([row]), "rows": [row],
            "mapping": columns, "columns": one, "pandas": frame, "series": frame.iloc[0], "polars": pl.DataFrame(one),
            "lazy": pl.DataFrame(one).lazy(), "arrow": pa.table(one), "batch": pa.table(one).to_batches()[0]}[form]


FORMS = ("list", "tuple", "array", "one row", "rows", "mapping", "columns", "pandas", "series", "polars", "lazy",
         "arrow", "batch", "csv", "parquet")


@pytest.mark.parametrize("case", CASES)
def test_a_record_of_every_form_gives_the_share_of_the_run(case: str, tmp_path: Path) -> None:
    it, data, mine = CASES[case]()
    outcome = it.run(data, Noise.simulated(5))
    share = outcome.shares.slice(RANK, 1).to_pylist()[0]
    assert share != it.decode(None, RANK, outcome.billboard), "a share that says nothing tests nothing"
    for form in FORMS:
        found = it.decode(in_form(form, mine, tmp_path), RANK, outcome.billboard)
        assert found == share, form


@pytest.mark.parametrize("case", CASES)
def test_tables_of_other_rows_and_text_are_refused(case: str) -> None:
    it, data, mine = CASES[case]()
    board = it.run(data, Noise.simulated(5)).billboard
    for rows in (0, 2):
        with pytest.raises(InvalidInput, match=rf"record: has {rows} rows; must be one row, the participant's own"):
            it.decode(pd.DataFrame({name: [cell] * rows for name, cell in mine.items()}).astype(float), RANK, board)
    first = next(iter(mine))
    with pytest.raises(InvalidInput, match=f"{first}: the column holds text"):
        it.decode(pl.DataFrame({name: ["a secret"] for name in mine}), RANK, board)
    with pytest.raises(InvalidInput):
        it.decode({**mine, "another": 0.5}, RANK, board)


def test_a_pair_of_a_regression_in_every_form(tmp_path: Path) -> None:
    generator = np.random.default_rng(6)
    X, y = generator.uniform(-0.5, 0.5, (PEOPLE, 2)), generator.uniform(-0.5, 0.5, PEOPLE)
    it = TruthfulRegression(people=PEOPLE, features=2, prior=UniformBall(2, 1.0), noise=UniformNoise(0.5),
                            rule=ScoringRule(0.25, 1.0))
    outcome = it.run((X, y), Noise.simulated(1))
    share = outcome.shares.slice(RANK, 1).to_pylist()[0]
    assert share["payment"] != 0
    features = {"x0": float(X[RANK, 0]), "x1": float(X[RANK, 1])}
    for form in FORMS:
        x = in_form(form, features, tmp_path)
        for answer in (float(y[RANK]), [y[RANK]], y[[RANK]], pl.Series([y[RANK]]), pd.DataFrame({"y": [y[RANK]]}),
                       {"y": y[RANK]}):
            assert it.decode((x, answer), RANK, outcome.billboard) == share, (form, type(answer))
    whole = {**features, "answer": float(y[RANK])}
    for form in ("mapping", "pandas", "polars", "arrow", "csv", "parquet"):
        assert it.decode((in_form(form, whole, tmp_path), "answer"), RANK, outcome.billboard) == share, form
    for bad in (pd.DataFrame(whole, index=[0]), whole, 3.0, (1, 2, 3), "ab"):
        with pytest.raises(InvalidInput, match=r"record: .* is not a pair"):
            it.decode(bad, RANK, outcome.billboard)
    with pytest.raises(InvalidInput, match="record: has 2 rows"):
        it.decode((X[:2], y[RANK]), RANK, outcome.billboard)


def test_fields_of_a_convex_program_in_every_form() -> None:
    it = PrivDude(KNAPSACKS.program(30), 50.0, 1e-3, 12, 6)
    data = KNAPSACKS.data(30, seed=1)
    outcome = it.run(data, Noise.simulated(1))
    share = outcome.shares.slice(RANK, 1).to_pylist()[0]
    mine = {f"{name}.{at}": float(table[RANK, at]) for name, table in data.items() for at in range(table.shape[1])}
    one = {name: [cell] for name, cell in mine.items()}
    for record in ({name: table[RANK] for name, table in data.items()}, mine, one, pd.DataFrame(one), pl.DataFrame(one),
                   pa.table(one)):
        assert it.decode(record, RANK, outcome.billboard) == share


def test_a_contract_in_every_form() -> None:
    it = TwoPartMechanism(people=4, prior=UniformPrior(), mse_price=200.0)
    made = it.contracts([0.1, 0.2, 0.3, 0.4])
    ranks = made.terms.index.tolist()
    records = made.records(dict.fromkeys(ranks, 5))
    outcome = it.run(records, Noise.simulated(1))
    share = outcome.shares.slice(ranks[0], 1).to_pylist()[0]
    assert share["payment"] > 0
    row = vars(records.one(0))
    mine = ContractedRecords(variance=records.variance, **{
        name: column[:1] for name, column in vars(records).items() if name != "variance"})
    one = {name: [cell] for name, cell in row.items()}
    for record in (records.one(0), mine, row, one, pd.DataFrame(one), pl.DataFrame(one), pa.table(one)):
        assert it.decode(record, ranks[0], outcome.billboard) == share
    exact = as_contracted(pa.table({**one, "payment": [2**62 + 1]}))
    assert exact is not None
    assert exact.payment == 2**62 + 1
    for bad, said in ((records, "record: has 4 rows"),
                      ({**row, "payment": "much"}, "payment: is missing, or is not a number"),
                      ({"payment": 3}, "steps: is missing"), (3, "record: int is not a contract")):
        with pytest.raises(InvalidInput, match=said):
            it.decode(bad, ranks[0], outcome.billboard)


def test_what_is_no_row_stays_as_it_is() -> None:
    for record in (None, 0.5, "abc", "abc.md", {0: 0.5}, {}, [0.5, 1.0], np.ones((2, 2)), object()):
        assert own_row(record, 2) is record
    assert own_fields([0.5], {"a": ()}) == [0.5]

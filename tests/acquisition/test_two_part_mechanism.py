"""The mechanism as a whole: its phases, caps on what any reports can lead to, and the limit on what anybody loses."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cases import fast
from confide.acquisition import (
    DiscretePrior,
    HistogramPrior,
    MeanBillboard,
    PowerPrior,
    TwoPartMechanism,
    UniformPrior,
)
from confide.acquisition.audited import extreme_reports
from confide.acquisition.incentives import audit_ic
from confide.contract import Accuracy, InvalidInput, NotGuaranteed, Truthfulness
from confide.privacy.noise import Noise

SURVEY = HistogramPrior(edges=(0.0, 0.25, 0.75, 1.0), masses=(0.3, 0.2, 0.5))
PRIORS = {"uniform": UniformPrior(), "square": PowerPrior(2.0), "root": PowerPrior(0.5), "survey": SURVEY,
          "types": DiscretePrior(points=(0.1, 0.5, 0.9), masses=(0.3, 0.4, 0.3))}


def study(people: int = 5, **changes: object) -> TwoPartMechanism:
    return TwoPartMechanism(**{"people": people, "prior": UniformPrior(), "mse_price": 40.0, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(("changes", "field"), [
    ({"people": 0}, "people"), ({"mse_price": 0.0}, "mse_price"), ({"mse_price": math.inf}, "mse_price"),
    ({"order": 1.0}, "order"), ({"order": math.inf}, "order"), ({"variance": 0.26}, "variance"),
    ({"variance": -0.1}, "variance"), ({"high": 0.0}, "high"), ({"psi_floor": 0.0}, "psi_floor"),
    ({"approximation": -0.1}, "approximation"), ({"price_per_nat": 0.0}, "price_per_nat"),
    ({"minor_units": 0}, "minor_units"),
    ({"prior": (UniformPrior(),) * 4}, "prior"), ({"prior": None}, "prior"), ({"known_error": 0.1}, "known_error"),
    ({"largest_local_loss": 0.1}, "largest_local_loss"), ({"largest_local_loss": 9.0, "psi_floor": 1.5}, "psi_floor"),
    ({"largest_local_loss": 9.0, "approximation": 0.0}, "approximation"), ({"minor_units": 10**18}, "minor_units"),
])
def test_bad_parameters_are_reported_by_name(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as reported:
        study(**changes)
    assert reported.value.field == field


def test_reports_are_checked_and_absentees_left_out() -> None:
    it = study()
    for reports in ([0.5] * 4, [math.nan] * 5, [0.5, 0.5, 1.5, 0.5, 0.5], [[0.5] * 5]):
        with pytest.raises(InvalidInput, match="report"):
            it.contracts(reports)
    made = it.contracts([0.1, math.nan, 0.3, math.nan, 0.5])
    assert made.solution.weights[[1, 3]].tolist() == [0.0, 0.0]
    assert made.lattice is not None
    assert set(made.lattice.index.tolist()) <= {0, 2, 4}


def test_people_may_have_priors_of_their_own() -> None:
    types = DiscretePrior(points=(0.2, 0.8), masses=(0.5, 0.5))
    priors = (UniformPrior(), SURVEY, UniformPrior(), PowerPrior(2.0), types)
    it = study(prior=priors)
    reports = [0.1, 0.3, 0.2, 0.4, 0.8]
    one_by_one = [float(each.virtual_cost().floored(it.psi_floor)(c)) for each, c in zip(priors, reports, strict=True)]
    assert it.payment_rule.virtual_costs(reports).tolist() == one_by_one
    assert it.rules[0] is it.rules[2]
    assert it.contracts(reports).lattice is not None
    with pytest.raises(InvalidInput):
        it.contracts([0.1, 0.3, 0.2, 0.4, 0.5])  # none of her types


@pytest.mark.parametrize(("people", "limited", "cases"), fast(6, [
    *((people, limited, range(8)) for people in (1, 2, 7) for limited in (False, True)),
    *((people, limited, range(8, 80)) for people in (1, 2, 7, 30) for limited in (False, True))]))
def test_no_reports_lead_beyond_the_caps(people: int, limited: bool, cases: range) -> None:
    rng = np.random.default_rng([people, cases.start])
    worst = np.zeros(3)
    for case in cases:
        prior = list(PRIORS.values())[case % len(PRIORS)]
        it = study(people, prior=prior, mse_price=float(10 ** rng.uniform(2, 4)), variance=float(rng.uniform(0, 0.25)),
                   psi_floor=float(rng.choice([0.01, 0.25, 1.0])), approximation=float(rng.choice([1e-4, 0.01, 0.5])))
        if limited:  # as much as equal weights need, or some times that
            near = it.approximation
            least = math.sqrt(it.noise_price / it.psi_floor) / people * (1.0 + 2.0 * math.sqrt(near) + near)
            it = replace(it, largest_local_loss=float(rng.choice([1.0, 2.0, 5.0])) * least, known_error=0.25)
        caps = it.caps
        profiles = [np.asarray(prior.quantile(rng.random(people) ** rng.choice([0.2, 1.0, 5.0]))) for _ in range(3)]
        for reports in (*profiles, *extreme_reports(it, case)):
            found = it.payment_rule.pay(np.nan_to_num(reports, nan=prior.support[0]), present=~np.isnan(reports))
            best = found.solution
            if not best.winners.size:
                continue
            error = it.variance_price * np.sum(best.weights**2) + it.noise_price * best.spread
            got = np.array([best.epsilon_local.max() / caps.local, best.epsilon_central.max() / caps.central,
                            error / caps.error_cost])
            assert (got <= 1.0).all(), (it, reports)
            assert found.payments.max() * it.price_per_nat <= it.largest_payment
            worst = np.maximum(worst, got)
    assert worst.max() > 0.9 - 0.4 * limited  # they are not idle


@pytest.mark.parametrize("seed", fast(1, range(8)))
@pytest.mark.parametrize("name", fast(1, PRIORS))
def test_no_lie_gains_under_a_limit_on_losses(name: str, seed: int) -> None:
    it = study(8, prior=PRIORS[name], mse_price=200.0, variance=0.02, psi_floor=0.2, largest_local_loss=13.0)
    rng = np.random.default_rng(seed)
    bought = 0
    for case in range(3):
        uniforms = rng.random(8) * np.where(np.arange(8) < 5, 0.25, 1.0)  # so that enough are within the price
        reports = np.asarray(it.prior.quantile(uniforms))  # type: ignore[union-attr]
        lies = np.unique(np.concatenate([np.linspace(*it.rules[0].support, 101), reports, it.rules[0].bounds]))
        lies = lies[it.rules[0].admits(lies)]
        bought += bool(it.contracts(reports).lattice)
        for person in range(3):
            found = audit_ic(it.payment_rule, reports, person, lies)
            assert found.regret <= 1e-9, (case, person)
            assert found.truth >= -1e-12
    assert bought


def test_nothing_is_bought_where_that_is_cheaper() -> None:
    it = study(8, psi_floor=0.2, largest_local_loss=20.0, known_error=1e-3)
    made = it.contracts([0.1] * 8)
    assert made.lattice is None
    outcome = it.run(made.records({}), Noise.simulated(1))
    board = outcome.billboard
    assert isinstance(board, MeanBillboard)
    assert (board.total, board.steps) == (0, 0)
    assert math.isnan(it.estimate(board))
    assert it.certify(board).mse == math.inf
    assert outcome.shares["payment"].to_pylist() == [0] * 8


def test_guarantees_say_when_they_say_nothing() -> None:
    cheap = study(mse_price=1e-3)
    assert cheap.guarantees().of(Accuracy)[0].vacuous
    assert not study(mse_price=1e3, variance=0.02).guarantees().of(Accuracy)[0].vacuous
    assert study(minor_units=1, price_per_nat=1e-3, mse_price=1e-3).guarantees().of(Truthfulness)[0].vacuous
    assert study(approximation=0.0).guarantees().of(Truthfulness)[0].vacuous  # the floor makes a flat stretch


def test_a_device_acts_on_no_contract_beyond_the_plan() -> None:
    it = study()
    made = it.contracts([0.1, 0.2, 0.3, 0.4, 0.5])
    assert made.lattice is not None
    contract = made.lattice.of(0)
    assert isinstance(it.submit((0.5, contract), noise=Noise.simulated(1)), int)
    assert it.submit(None) is None
    assert it.submit(0.3) == 0.3
    with pytest.raises(InvalidInput, match="another order or range"):
        it.submit(0.5, replace(contract, high=2.0), Noise.simulated(1))
    with pytest.raises(InvalidInput, match="has a larger loss than the plan"):
        it.submit(0.5, replace(contract, epsilon_local=2 * it.caps.local), Noise.simulated(1))
    with pytest.raises(NotGuaranteed):
        replace(contract, noise_std=contract.noise_std // 2)


def test_a_run_takes_one_round_of_contracts_and_what_devices_send() -> None:
    it = study(4, mse_price=200.0)
    made = it.contracts([0.1, 0.2, 0.3, 0.4])
    sent = it.play(made, np.full(4, 0.5), Noise.simulated(1))
    records = made.records(sent)
    for data, match in (([records, records], "a person's contract occurs twice"),
                        (replace(records, variance=0), "one round"),
                        (replace(records, message=records.message + 2**60), "beyond the range of a device"),
                        ([replace(records, index=records.index[:0], **{name: getattr(records, name)[:0] for name in (
                            "steps", "noise_std", "epsilon_local", "epsilon_central", "payment", "message",
                            "sent")}), 7],
                         "a batch is int")):
        with pytest.raises(InvalidInput, match=match):
            it.run(data, Noise.simulated(2))
    assert it.run(records, Noise.simulated(2)).shares["payment"].to_pylist() == made.payments.tolist()


def test_the_certificate_grows_with_the_weight_that_vanished() -> None:
    it = study(4, mse_price=200.0)
    made = it.contracts([0.1, 0.2, 0.3, 0.4])
    assert made.lattice is not None
    sent = it.play(made, np.full(4, 0.5), Noise.simulated(1))
    del sent[0]
    outcome = it.run(made.records(sent), Noise.simulated(2))
    found, share = it.certify(outcome.billboard), 1.0 - made.lattice.steps[0] / it.lattice
    assert outcome.certificate == found or vars(outcome.certificate) == vars(found)
    assert found.share == pytest.approx(share, rel=1e-9)
    assert found.mse == pytest.approx(it.mse_bound / share**2, rel=1e-9)
    present = np.arange(4) != 0
    assert made.lattice.mse(it.scaled_variance, present) * it.width**2 <= found.mse


def test_no_contract_has_a_slack_beyond_its_local_level() -> None:
    made = study().contracts([0.1, 0.2, 0.3, 0.4, 0.5])
    assert made.lattice is not None
    contract = made.lattice.of(0)
    for central in (1.01 * contract.epsilon_local, 0.0):
        with pytest.raises(InvalidInput) as reported:
            replace(contract, epsilon_central=central)
        assert reported.value.field == "epsilon_central"
    with pytest.raises(InvalidInput, match="exceeds the local level"):
        replace(made.lattice, epsilon_central=2 * made.lattice.epsilon_local)


@pytest.mark.parametrize("rounds", fast(1, [200, 4000]))
def test_the_error_is_what_the_integers_say(rounds: int) -> None:
    it = study(20, mse_price=400.0, low=-2.0, high=6.0, variance=3.0)
    reports = (np.arange(20) + 0.5) / 20
    made = it.contracts(reports)
    assert made.lattice is not None
    records = np.where(np.arange(20) % 2, 5.0, 1.0)
    weighted = float(made.lattice.steps @ records[made.lattice.index] / made.lattice.total_steps)
    noise = made.lattice.mse(0.0) * it.width**2
    off = []
    for k in range(rounds):
        drawn = Noise.simulated(k)
        off.append(it.estimate(it.run(made.records(it.play(made, records, drawn)), drawn).billboard) - weighted)  # type: ignore[arg-type]
    # A chi-square of so many degrees; both bounds are passed with probability below 1e-9.
    ratio = float(np.mean(np.square(off))) / noise
    assert abs(ratio - 1.0) <= 6.2 * math.sqrt(2.0 / rounds)
    assert it.mse_bound >= made.lattice.mse(it.scaled_variance) * it.width**2


def test_numbers_of_32_bits_are_the_decimals_that_they_print_as():
    from confide.acquisition.records import column_of_numbers

    assert column_of_numbers("reports", np.array([4.3, np.nan, 0.1], np.float32)).tolist()[::2] == [4.3, 0.1]
    assert column_of_numbers("records", [1, 2.5]).tolist() == [1.0, 2.5]


def test_reports_are_taken_from_columns_and_frames_and_text_is_refused_by_its_name() -> None:
    it, reports = study(4, mse_price=200.0), [0.1, 0.2, math.nan, 0.4]
    bare = it.contracts(reports).payments.tolist()
    for given in (pd.Series(reports, name="concern"), pl.Series("concern", reports), pa.array(reports),
                  pa.table({"concern": [0.1, 0.2, None, 0.4]}), pd.DataFrame({"concern": reports}),
                  pl.DataFrame({"concern": [0.1, 0.2, None, 0.4]})):
        assert it.contracts(given).payments.tolist() == bare
    for words in (pd.DataFrame({"concern": ["a secret"] * 4}), pl.Series("concern", ["a secret"] * 4)):
        with pytest.raises(InvalidInput, match="concern: the column holds text") as caught:
            it.contracts(words)
        assert "secret" not in str(caught.value)
    with pytest.raises(InvalidInput, match="reports: has 2 columns, concern, other"):
        it.contracts(pa.table({"concern": reports, "other": reports}))


def test_reports_and_messages_are_taken_from_files_and_tables(tmp_path: Path) -> None:
    it, reports = study(4, mse_price=200.0), [0.1, 0.2, math.nan, 0.4]
    pd.DataFrame({"concern": reports}).to_csv(tmp_path / "reports.csv", index=False)
    pd.DataFrame({"concern": reports}).to_parquet(tmp_path / "reports.parquet")
    made = it.contracts(reports)
    for file in (tmp_path / "reports.csv", str(tmp_path / "reports.parquet")):
        assert it.contracts(file).payments.tolist() == made.payments.tolist()
    ranks = made.terms.index.tolist()
    sent = {rank: 2**60 + rank for rank in ranks[1:]}  # not all of them are doubles
    frame = pd.DataFrame({"index": list(sent), "message": list(sent.values())})
    frame.to_csv(tmp_path / "sent.csv", index=False)
    frame.to_parquet(tmp_path / "sent.parquet")
    bare = made.records(sent)
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), tmp_path / "sent.csv",
                  tmp_path / "sent.parquet", {"index": list(sent), "message": list(sent.values())}):
        found = made.records(table)
        assert (found.message.tolist(), found.sent.tolist()) == (bare.message.tolist(), bare.sent.tolist())
    assert bare.message.tolist() == [0, *sent.values()]


@pytest.mark.parametrize(("table", "problem"), [
    ({"index": [1, 1], "message": [5, 6]}, "index: a person's message occurs twice"),
    ({"index": [1], "message": ["a secret"]}, "message: the column holds text"),
    ({"index": [1], "message": [0.5]}, "message: a cell is not a whole number of 64 bits"),
    ({"index": [1], "message": [None]}, "message: a cell is not a whole number of 64 bits"),
    ({"index": [1], "note": [5]}, "messages: has the columns index, note"),
])
def test_tables_of_messages_that_are_none_are_refused(table: dict[str, list[Any]], problem: str) -> None:
    made = study(4, mse_price=200.0).contracts([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(InvalidInput, match=problem) as caught:
        made.records(pa.table(table))
    assert "secret" not in str(caught.value)


def test_a_mapping_of_something_else_is_refused() -> None:
    """Once, its keys stood for nobody, and everybody counted as having sent nothing."""
    made = study(4, mse_price=200.0).contracts([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(InvalidInput, match="messages: the key 'one' is no participant's rank"):
        made.records({"one": 5})  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="message"):
        made.records({"index": [1, 2]})  # type: ignore[dict-item]


def test_a_run_tells_its_steps_alone() -> None:
    it, observed = study(4, mse_price=200.0), list[tuple[int, int | None]]()
    made = it.contracts([0.1, 0.2, 0.3, 0.4])
    it.run(made.records({}), Noise.simulated(2), progress=lambda done, total: observed.append((done, total)))
    assert observed == [(0, 2), (1, 2), (2, 2)]  # whoever sent nothing changes nothing in it

"""The kind `queries` from its file: plan, offer, check, run, share, verify, ledger, study, audit."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from held_campaign import METHODS, ROWS, campaign, lines
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

from campaign.forging import words
from cases import fast
from cli.commands import CONFIDE
from confide.audit import AuditReport
from confide.campaign import Campaign, Store, verify
from confide.campaign.charging import data_set_charge
from confide.campaign.verification import promises
from confide.campaign.verification.findings import Broken
from confide.cli.failures import guarded
from confide.contract import BudgetExceeded, InvalidInput, Refused, kind
from confide.contract.encoding import encode
from confide.contract.guarantees import Audience, Privacy, Relation
from confide.privacy.events import BoundedRangeEvent, Repeated
from confide.privacy.filter import price
from confide.privacy.groups import right_at_most
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise
from confide.release import Binned, Bit, Levels, Schema, Workload, true_answers
from confide.release.audited_faults import own_rho
from confide.release.reading import HeldTable
from confide.release.records import made_up_table
from confide.release.results import bars, released_answers
from confide.tables import open_table

from false_alarms import alpha


def refused(folder: Path, *edits: tuple[str, str], more: str = "") -> InvalidInput | Refused:
    with pytest.raises((InvalidInput, Refused)) as caught:
        campaign(folder, *edits, ("delta = 1e-6\n", f"delta = 1e-6\n{more}")).plan  # noqa: B018
    return caught.value


def test_a_file_in_old_words_is_the_same_campaign(tmp_path: Path) -> None:
    """`free = "coins"` is called "random" today: both are read, and charged once."""
    files = {}
    for word in ("coins", "random"):
        (tmp_path / word).mkdir()
        files[word] = campaign(tmp_path / word, (
            "delta = 1e-6\n", f'delta = 1e-6\n[method]\nname = "dual-query"\nsamples = 50\nfree = "{word}"\n'))
    assert {each.plan.mechanism.free for each in files.values()} == {"random"}
    assert files["coins"].file.digest == files["random"].file.digest


@pytest.mark.parametrize("method", METHODS)
def test_the_page_names_the_calculator_of_the_promise(method: str, tmp_path: Path) -> None:
    """The epsilon that is promised and charged is that of the rows that say so, whatever proves another one."""
    it = campaign(tmp_path, method=method)
    spent = next(each for each in it.plan.sections() if each.title == "Cost in privacy").blocks[0]
    marked = [value for _, value, promised in spent.rows if promised]
    promise = next(each for each in it.plan.guarantees if isinstance(each, Privacy))
    assert marked
    assert marked == pytest.approx([promise.loss.epsilon_at(it.plan.config.privacy.delta)] * len(marked))


# ---- the whole life


@pytest.mark.parametrize("method", fast(1, METHODS))
def test_a_whole_life(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, method=method, rows=40 if method in ROWS else 0)
    found = it.check()
    assert (found.slots, found.rows, found.usable, found.held, dict(found.rejected)) == (2000, 2000, 2000, True, {})
    with Store() as store:
        settled = it.settle(tmp_path / "out", store=store)
        again = it.settle(tmp_path / "out", store=store)
        assert settled.fresh
        assert not again.fresh
        assert settled.outcome.shares.num_columns == 0
        answers = settled.tables["answers"]
        assert answers["answer"].to_pylist() == again.tables["answers"]["answer"].to_pylist()
        assert answers.num_rows == len(it.plan.workload)
        (standing,) = store.ledger()
        assert standing.subjects == 0
        asked, cost = data_set_charge(it.file, it.plan), standing.filter.total
        assert float(cost.epsilon) == pytest.approx(float(price("basic", asked.events, asked.delta).epsilon))
        assert float(cost.epsilon) <= it.plan.loss.epsilon * (1 + 1e-9)
        assert it.plan.loss.epsilon <= 2.0 * (1 + 1e-9)
        # Nobody has a share, and every id reads the same, in the table or not.
        shown = words(it.share("17", store=store))
        assert "No shares for single people" in shown
        assert shown == words(it.share("no such id", store=store))
    assert shown == words(it.share(5, tmp_path / "out", record={"age": "30"}))
    verified = verify(tmp_path / "out")
    assert verified.complete, [f for f in verified.findings if f.verdict != "holds"]
    rows = tmp_path / "out" / "rows.parquet"
    assert rows.exists() == (method in ROWS)
    if method in ROWS:
        table = pq.read_table(rows)
        assert table.column_names[:4] == ["age", "job", "smoker", "owner"]
        assert table.num_rows == it.plan.rows
        assert set(table["job"].to_pylist()) <= {"none", "some", "full", None}
    report = (tmp_path / "out" / "report.html").read_text()
    assert "A custodian holds a table of 2,000 records" in report


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_audits_pass_and_flag_what_was_injected(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, method=method)
    (tmp_path / "survey.csv").unlink()  # never touched
    report = it.audit(3)
    assert isinstance(report, AuditReport)
    assert report.passed, report.problems
    assert len(report.controls) >= 5
    assert any("40 records" in row.promise and row.verdict == "kept" for row in report.rows)


@pytest.mark.slow
def test_the_answers_are_those_of_the_rows_by_dual_query_and_its_rows(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="dual-query", rows=1000)
    assert it.plan.rows == it.plan.mechanism.rounds < 1000  # type: ignore[attr-defined]
    assert "synthetic records, and more rows would only repeat them" in words(it.plan.sections())
    settled = it.settle(tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "rows.parquet")
    schema = it.plan.schema
    found = schema.encode({name: [{"[0, 25)": 10, "[25, 50)": 30, "[50, 75)": 60, "[75, 100]": 80}.get(value, value)
                                  for value in table[name].to_pylist()] for name in table.column_names})
    shares = true_answers(found, it.plan.workload).fractions
    assert settled.tables["answers"]["answer"].to_numpy() == pytest.approx(shares)


@pytest.mark.slow
def test_a_study_shows_true_errors_and_is_marked(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="gaussian")
    outcome, parts = it.study(4)
    assert all(section.study for section in parts)
    assert "all zeros" in words(parts)
    assert "Laplace" in words(parts)
    records = it.plan.schema.encode(open_table(tmp_path / "survey.csv"))
    errors = np.abs(released_answers(outcome, it.plan.workload) - true_answers(records, it.plan.workload).fractions)
    row = next(row for row in parts[0].blocks[0].rows if "planned" in str(row[0]))  # type: ignore[union-attr]
    assert row[1:3] == pytest.approx((errors.mean(), errors.max()))
    assert errors.mean() == pytest.approx(it.plan.prediction.average, rel=0.5)


# ---- a custodian's campaign


def test_nothing_is_charged_where_the_table_cannot_be_read(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="gaussian")
    (tmp_path / "survey.csv").write_text("age,job,smoker\n1,none,0\n")
    with Store() as store:
        with pytest.raises(InvalidInput, match="owner"):
            it.settle(tmp_path / "out", store=store)
        (tmp_path / "survey.csv").unlink()
        with pytest.raises(InvalidInput, match=r"survey\.csv"):
            it.settle(tmp_path / "out", store=store)
        assert store.ledger() == ()
        campaign(tmp_path, method="gaussian")
        assert it.settle(tmp_path / "out", store=store).fresh


def test_unusable_and_missing_rows_are_the_null_record_one_by_one(tmp_path: Path) -> None:
    data = lines()
    data[4], data[9] = "130,none,0,0", "20,unheard of,0,1"
    data = data[:1990]
    it = campaign(tmp_path, data=data, method="gaussian")
    found = it.check()
    assert (found.slots, found.rows, found.usable) == (2000, 1990, 1988)
    assert set(found.rejected) == {"5", "10"}
    held = it.collect().data
    assert isinstance(held, HeldTable)
    codes = held.read()
    assert codes.records == 2000
    assert (codes.cells[[4, 9, *range(1990, 2000)]] == 0).all()
    assert (codes.cells[[3, 5]] != 0).any()
    more = campaign(tmp_path, data=[*lines(), "1,none,0,0"], name="more")
    assert "row 2001" in more.check().rejected  # rows beyond the n are nobody's


def test_neither_size_nor_messages_depend_on_the_rows(tmp_path: Path) -> None:
    plans = [campaign(tmp_path, data=data, method="gaussian").plan.to_dict() for data in (lines(), lines()[:3])]
    assert plans[0] == plans[1]


def test_what_a_custodians_campaign_has_not(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="gaussian")
    with Store() as store:
        with pytest.raises(Refused, match="a custodian holds its data"):
            it.withdraw("3", store=store)
        it.settle(tmp_path / "out", store=store)
        with pytest.raises(InvalidInput, match="pays nothing"):
            it.payouts(store=store)
        own = it.own_file("3", tmp_path / "out", record={})
        assert own["share"] == {}
        assert verify(tmp_path / "out", own=own).complete


def test_the_budget_is_shared_by_all_campaigns_on_the_table(tmp_path: Path) -> None:
    first = campaign(tmp_path, method="gaussian")
    second = campaign(tmp_path, ("Who smokes?", "Who smokes, again?"), method="gaussian", name="again")
    with Store() as store:
        first.settle(tmp_path / "out", store=store)
        with pytest.raises(BudgetExceeded):
            second.settle(tmp_path / "more", store=store)
        (standing,) = store.ledger()
        assert [debit.subjects for debit in standing.debits] == [0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", fast(1, ["1.1", "0.1", "3.3"]))
def test_a_budget_admits_what_is_written_the_same(epsilon: str, method: str, tmp_path: Path) -> None:
    """1.1 as a double is above 1.1: a release that is calibrated to the double would not fit the budget."""
    coarse = ("records = 2000", "records = 200000")  # enough of them for every method
    it = campaign(tmp_path, ("epsilon = 2.0", f"epsilon = {epsilon}"), ("epsilon = 3.0", f"epsilon = {epsilon}"),
                  ("delta = 3e-6", "delta = 1e-6"), coarse, method=method)
    assert it.plan.loss.epsilon <= float(epsilon)


def test_many_draws_are_priced_together_under_the_usual_rule() -> None:
    """Draws of bounded range add up to far more than they lose together; the list was fixed beforehand."""
    draw = BoundedRangeEvent(epsilon=0.01, neighbours=Relation.REPLACE)
    many = (Repeated(event=draw, count=1000, neighbours=draw.neighbours),)
    cost = price("basic", many, 1e-6)
    assert float(cost.epsilon) == pytest.approx(ZCDP(1000 * 0.01**2 / 8).epsilon_at(1e-6))
    assert float(price("basic", many).epsilon) == pytest.approx(10.0)
    assert float(price("basic", (draw,), 1e-6).epsilon) == pytest.approx(0.01)  # one alone is cheaper as it is


def test_an_altered_table_of_rows_is_found(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="dual-query", rows=10)
    it.settle(tmp_path / "out")
    for change in ("altered", "missing", "more"):
        folder = tmp_path / change
        shutil.copytree(tmp_path / "out", folder)
        rows = folder / "rows.parquet"
        if change == "missing":
            rows.unlink()
        elif change == "more":
            (folder / "others.parquet").write_bytes(rows.read_bytes())
        else:
            table = pq.read_table(rows)
            pq.write_table(table.slice(1), rows)
        verified = verify(folder)
        assert {finding.check: finding.verdict for finding in verified.findings}["tables"] == "broken"
        assert not verified.passed


def test_a_stated_loss_must_follow_from_one_of_the_proved_ones(tmp_path: Path) -> None:
    """Several losses of the same run hold together: each is enough for what it covers, and for nothing better."""
    it = campaign(tmp_path, method="dual-query")
    outcome = it.settle(tmp_path / "out").outcome
    said = [encode(each, {}) for each in outcome.guarantees.to_wire()]
    promises.guarantees(outcome, said, None)  # type: ignore[arg-type]
    for place, key in ((0, "rho"), (1, "epsilon"), (2, "epsilon")):
        better = json.loads(json.dumps(said))
        better[place]["loss"][key] *= 0.9
        with pytest.raises(Broken):
            promises.guarantees(outcome, better, None)  # type: ignore[arg-type]
        with pytest.raises(Broken, match="is promised towards public"):
            promises.guarantees(outcome, better, "0.0.1")  # type: ignore[arg-type]


# ---- the file


WORKLOAD = ('form = "complete"\nwidth = 2', "{}")


@pytest.mark.parametrize(("edit", "field", "says"), [
    (("bins = 4", "bins = 0"), "columns[1].bins", "greater than or equal to 1"),
    (("upper = 100", "upper = -5"), "columns[1].upper", "not above lower"),
    (("upper = 100", "uper = 100"), "columns[1].uper", "did you mean 'upper'"),
    (('levels = ["none", "some", "full"]', 'levels = ["none", "none"]'), "columns[2].levels", "twice"),
    (('column = "job"', 'column = "age"'), "columns", "stands twice"),
    (("records = 2000", "records = 0"), "data.records", "greater than or equal to 1"),
    (("records = 2000", 'records = 2000\nid = "job"'), "campaign", "is also one of the columns"),
    (("width = 2", "width = 5"), "workload.width", "columns"),
    ((WORKLOAD[0], 'form = "random"'), "workload.count", "field required"),
    ((WORKLOAD[0], 'form = "randon"\ncount = 3'), "workload.form", "random"),
    ((WORKLOAD[0], 'form = "random"\ncount = 100000'), "workload.count", "there are only 248 such queries"),
    ((WORKLOAD[0], 'form = "listed"\nqueries = []'), "workload.queries", "0 given; needs at least one"),
    ((WORKLOAD[0], 'form = "listed"\nqueries = [[]]'), "workload.queries[1]", "no condition"),
    ((WORKLOAD[0], 'form = "listed"\nqueries = [["smoker"], ["job = ful"]]'), "workload.queries[2]",
     "did you mean 'job = full'?"),
    ((WORKLOAD[0], 'form = "listed"\nqueries = [["age in [0, 25]"]]'), "workload.queries[1]", "age in [0, 25)"),
    (("epsilon = 2.0", "epsilon = 0.0"), "privacy.epsilon", "greater than 0"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_bad_input_is_named(edit: tuple[str, str], field: str, says: str, tmp_path: Path) -> None:
    found = refused(tmp_path, edit)
    assert isinstance(found, InvalidInput)
    assert found.field == field
    assert says in str(found)


@pytest.mark.parametrize(("method", "says"), [
    ('name = "gausian"', "gaussian"),
    ('name = "laplace"', "privacy.delta: is 1e-06, but the method 'laplace' needs no delta"),
    ('name = "dual-query"\neta = 1.0\nrounds = 9\nsamples = 9', "method.rounds: eta, rounds and samples are all given"),
    ('name = "dual-query"\nrounds = 1\nsamples = 9', "a single round reads no data"),
    ('name = "dual-query"\neta = 500.0', "too small for one round with data"),
    ('name = "dual-query"\nfree = "ones"', "method.free"),
    ('name = "dual-query"\ncalculator = "pure"\nfree = "marginals"',
     "method.calculator: 'pure' adds up only the losses of the draws"),
    ('name = "mwem"\nrounds = 0', "method.rounds: input should be greater than or equal to 1"),
    ('name = "mwem"\nround = 3', "method.round: is not a known key; did you mean 'rounds'?"),
    ('name = "marginal-fit"\ntables = 99', "method.tables: 99 are more than the 10 candidates"),
    ('name = "gaussian"\n[rows]\ncount = 5', "rows.count: is above 0, but the method 'gaussian' makes no rows"),
], ids=lambda value: value)
def test_bad_methods_are_named(method: str, says: str, tmp_path: Path) -> None:
    assert says in str(refused(tmp_path, more=f"[method]\n{method}\n"))


@pytest.mark.parametrize("method", ["gaussian", "product", "reweighted", "marginal-fit"])
def test_gaussian_noise_needs_a_delta(method: str, tmp_path: Path) -> None:
    says = rf"^privacy.delta: is 0, but the method '{method}' adds .*\[privacy\] delta = 5e-07"
    with pytest.raises(Refused, match=says):
        campaign(tmp_path, ("delta = 1e-6", "delta = 0.0"), method=method).plan  # noqa: B018


def test_a_histogram_that_is_too_large_is_refused_with_its_size(tmp_path: Path) -> None:
    wide = "\n".join(f'[[columns]]\ncolumn = "x{k}"\nbit = true\n' for k in range(30))
    found = refused(tmp_path, ('[workload]', f"{wide}\n[workload]"), more='[method]\nname = "mwem"\n')
    assert isinstance(found, Refused)
    assert "These 34 columns have 51,539,607,552 cells" in str(found)
    assert "TiB" in str(found)


# ---- words


SCHEMA = Schema((Binned(column="age", lower=0, upper=100, bins=4), Levels(column="job", levels=("none", "= some")),
                 Bit(column="smoker"), Levels(column="kin", levels=("a", "b"), bins=3)))


@given(st.lists(st.lists(st.tuples(st.integers(0, SCHEMA.attributes - 1), st.booleans()), min_size=1, max_size=3,
                         unique_by=lambda each: each[0]), min_size=1, max_size=6, unique_by=lambda q: tuple(sorted(q))))
def test_words_say_what_queries_ask(queries: list[list[tuple[int, bool]]]) -> None:
    """Of one column with bins or levels two values at once hold for nobody: such queries are dropped."""
    there, absent = SCHEMA.names, SCHEMA.negated
    assert len({*there, *absent}) == 2 * SCHEMA.attributes
    texts = [[(there if bit else absent)[place] for place, bit in query] for query in queries]
    asked = [[SCHEMA.column_of[place] for place, bit in query if bit] for query in queries]
    possible = [sorted(query) for query, columns in zip(queries, asked, strict=True)
                if len(set(columns)) == len(columns)]
    assume(possible)
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        workload = Workload.conjunctions(texts, attributes=SCHEMA)
    assert bool(reported) == (len(possible) < len(queries))
    assert [sorted(zip(index[index >= 0].tolist(), bits[index >= 0].tolist(), strict=True))
            for index, bits in zip(workload.index, workload.bits, strict=True)] == possible
    again = Workload.conjunctions([text.split(" and ") for text in workload.words(SCHEMA)], attributes=SCHEMA)
    assert (again.index.tolist(), again.bits.tolist()) == (workload.index.tolist(), workload.bits.tolist())


# ---- pages


def test_the_plan_says_what_it_costs_and_what_else_there_is(tmp_path: Path) -> None:
    plan = campaign(tmp_path).plan
    found = plan.to_dict()
    assert found["method"] in METHODS  # recommended
    assert found["reasons"]
    assert [each["epsilon"] for each in found["alternatives"]] == [0.5, 1.0, 4.0, 8.0]
    assert math.fsum(each["rho"] for each in found["spends"]) == pytest.approx(found["rho"])
    assert own_rho(plan.mechanism) == pytest.approx(found["rho"], rel=1e-6)
    shown = words(plan.sections())
    for name in ("gaussian", "dual-query", "marginal-fit", "all zeros", "uniform"):
        assert name in shown
    game = campaign(tmp_path, method="dual-query").plan.to_dict()["epsilons"]
    assert game["zcdp"] < game["per-round"] < game["theorem-3.4.2"] < game["pure"]


def test_the_offer_says_that_nothing_is_asked(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="gaussian")
    offer = words(it.offer())
    assert "You report nothing" in offer
    assert f"e^2 = {math.exp(2):.3g}" in offer
    assert "the command also checks your share" not in offer
    promised = (math.exp(2) + 1e-6) / (1 + math.exp(2))
    right = right_at_most(it.plan.mechanism, it.plan.guarantees.of(Privacy), Audience.PUBLIC)
    assert 0.5 < right < promised - 0.2
    assert f"right at most {right:.1%} of the time" in offer


def test_warnings_of_a_plan(tmp_path: Path) -> None:
    assert "whole record" in words(campaign(
        tmp_path, ("delta = 1e-6", "delta = 1e-3"), ("delta = 3e-6", "delta = 3e-3"),
        method="gaussian").plan.sections())
    weak = campaign(tmp_path, ("epsilon = 2.0", "epsilon = 0.03"), method="gaussian").plan
    assert "that the answers say little" in words(weak.sections())


def test_bars_cover_what_they_say(tmp_path: Path) -> None:
    """Gaussian noise: a bar of its own 95 % of the time, and all at once at least as often. Seeds are fixed."""
    plan = campaign(tmp_path, method="gaussian").plan
    truth = true_answers(made_up_table(plan.schema, 2000, seed=5), plan.workload)
    inside, together, runs = 0, 0, 200
    for seed in range(runs):
        outcome = plan.mechanism.run(truth, Noise.simulated(seed))
        held = bars(plan.mechanism, outcome.billboard, outcome.certificate, plan.workload)
        # Without the cut to [0, 1], which brings answers nearer to the truth.
        off = np.abs(outcome.billboard.noisy / 2000 - truth.fractions)  # type: ignore[attr-defined]
        inside += int((off <= held.each).sum())
        together += bool(off.max() <= held.together)
    least = alpha("release.bars", cases=3)
    assert binom.cdf(inside, runs * len(truth), 0.95) > least
    assert binom.sf(inside, runs * len(truth), 0.957) > least  # no wider than they need to be
    assert binom.cdf(together, runs, 0.95) > least


# ---- the command line


def test_the_whole_life_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def confide(*arguments: object) -> str:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    start = tmp_path / "queries.toml"
    confide("init", "queries", "--out", start)
    assert start.read_text() == kind("queries").template
    assert "household survey" in start.read_text()
    assert Campaign.load(start).plan.to_dict()["queries"] == 5000
    path = campaign(tmp_path, method="gaussian").file.path
    assert "Expected errors" in confide("plan", path)
    json.loads(confide("plan", path, "--json"), parse_constant=pytest.fail)
    assert "nothing is asked" not in confide("offer", path)
    checked = confide("check", path)
    assert "records (fixed and public)" in checked
    assert "invited" not in checked
    ran = confide("run", path)
    assert "answers.csv" in ran
    answers = ran.partition("(picture:")[2].partition("Shares refer to the records")[0]
    assert answers
    assert "not smoker" not in answers  # a complete workload is positive
    public = tmp_path / "out" / "smoking"
    found = list(csv.reader(io.StringIO((public / "answers.csv").read_text())))
    assert found[0] == ["query", "answer", "uncut", "plus_minus"]
    assert found[1][0] == "age in [0, 25) and job = none"
    assert "No shares for single people" in confide("share", path, "--id", "7")
    assert "whole" in confide("verify", public)
    ledger = confide("ledger")
    assert "everybody in" in ledger
    assert "whether this person is in it" in " ".join(confide("ledger", "--id", "7").split())
    assert "Passed: " in confide("audit", path)


def test_a_made_up_table_has_the_public_columns() -> None:
    one = made_up_table(SCHEMA, 500, seed=1)
    assert one.records == 500
    assert (made_up_table(SCHEMA, 500, seed=1).cells == one.cells).all()
    assert (made_up_table(SCHEMA, 500, seed=2).cells != one.cells).any()
    # Classes tie columns together: pairs are far from the product of their margins.
    bits = Schema.bits(2)
    pair = Workload.conjunctions([[0], [1], [0, 1]], attributes=2)
    gaps = []
    for seed in range(4):
        a, b, both = true_answers(made_up_table(bits, 4000, seed=seed, classes=3, sharpness=4), pair).fractions
        gaps.append(abs(both - a * b))
    assert max(gaps) > 0.05

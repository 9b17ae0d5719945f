"""What is broken in a mechanism of one's own is found on a made-up crowd, before anything is charged; and a run that
fails after the charge says how it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from confide.campaign import Campaign, State, Store, verify
from confide.campaign.kinds import SlotRows
from confide.campaign.kinds.mechanism_plan import made_up
from confide.cli.app import app
from confide.cli.failures import guarded
from confide.contract import Billboard, InvalidInput, Outcome, RunFailed, kind
from confide.contract.kinds import TriedKind
from confide.contract.payout_terms import PayoutTerms
from people.all_kinds import KINDS, PEOPLES, campaign_of
from people.own_packages import commute, histogram_module, installed_histogram


@dataclass(frozen=True, kw_only=True, eq=False)
class Unknown(Billboard):
    """A billboard that the kind's types do not name."""

    answer: tuple[str, ...]
    people: np.ndarray


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A campaign of the tutorial's package, whose mechanism tests break."""
    with installed_histogram(tmp_path / "site", monkeypatch):
        yield commute(tmp_path)


Break = Callable[[Any, Any, Any], Any]


def raising(it: Any, data: Any, noise: Any) -> Any:
    raise KeyError("a name that was forgotten")


def picking(it: Any, data: Any, noise: Any) -> Any:
    return data[0]


def alone(it: Any, data: Any, noise: Any) -> Any:
    """Divides by how many came."""
    return 1 // sum(len(batch.index) for batch in data)


def altered(change: Callable[[Any], dict[str, Any]]) -> Break:
    def run(it: Any, data: Any, noise: Any) -> Any:
        board = histogram_module().Counts(answer=it.levels, people=noise.discrete_laplace(it.scale, 4, stream="counts"))
        shares = pa.table({"same_answer": np.zeros(it.people, np.int64)})
        return it._outcome(noise, **{"billboard": board, "shares": shares, **change(it)})

    return run


RUNS: dict[str, tuple[Break, str]] = {
    "an exception": (raising, r"`run` fails: KeyError at test_trial.py:\d+: .a name that was forgotten.; .*nothing was "
                              "charged"),
    "it counts on a list": (picking, "`run` fails: TypeError at "),
    "nobody comes": (alone, "`run` fails: ZeroDivisionError at "),
    "it returns a table": (lambda it, data, noise: pa.table({"a": [1]}), "`run` returns Table under simulated noise"),
    "it returns nothing": (lambda it, data, noise: None, "`run` returns NoneType"),
    "a column too many": (altered(lambda it: {"shares": pa.table({
        "same_answer": np.zeros(it.people, np.int64), "rank": np.arange(it.people)})}), "columns same_answer, rank"),
    "another column": (altered(lambda it: {"shares": pa.table({"mine": np.zeros(it.people, np.int64)})}),
                       "have the columns mine, and `decode` gives same_answer"),
    "a row missing": (altered(lambda it: {"shares": pa.table({"same_answer": np.zeros(it.people - 1, np.int64)})}),
                      "have 499 rows; must have one for each of 500 slots"),
    "empty shares": (altered(lambda it: {"shares": pa.table({"same_answer": [None] * it.people})}),
                     "same_answer has empty cells"),
    "shares as a list": (altered(lambda it: {"shares": [0] * it.people}), "list is not a table"),
    "other shares than decodes": (altered(lambda it: {"shares": pa.table({
        "same_answer": np.full(it.people, 10**6)})}), "differs from the share that `decode` gives"),
    "a billboard of no known type": (altered(lambda it: {"billboard": Unknown(
        answer=it.levels, people=np.arange(4))}), "'Unknown' is not a type of this kind"),
    "a billboard that cannot be written": (altered(lambda it: {"billboard": histogram_module().Counts(
        answer={"bus"}, people=np.arange(4))}), "set cannot be written to a manifest"),
    "a billboard of objects": (altered(lambda it: {"billboard": histogram_module().Counts(
        answer=it.levels, people=np.array([object()] * 4))}), "cannot be written to a manifest"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_broken_run_is_found_before_the_charge(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, says = RUNS[name]
    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    with pytest.raises(InvalidInput, match=says) as caught:
        _ = Campaign.load(path).plan
    assert caught.value.field == "mechanism"
    assert "NoisyHistogram" in caught.value.problem
    assert caught.value.limit.endswith("no record was read, and nothing was charged")
    with pytest.raises(InvalidInput, match=says):
        Campaign.load(path).settle()
    with Store() as store:
        assert store.find(Campaign.load(path).file) is None
        assert store.data_sets() == ()


@pytest.mark.parametrize(("fault", "says"), [
    (lambda it, record, index, billboard: {"same_answer": billboard.peopel}, "`run` fails: AttributeError"),
    (lambda it, record, index, billboard: {"same_answer": 1 // (record is None)}, "`run` fails: ZeroDivisionError"),
    (lambda it, record, index, billboard: 7, "`run` fails: "),
])
def test_a_broken_decode(fault: Any, says: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram_module().NoisyHistogram, "decode", fault)
    with pytest.raises(InvalidInput, match=says):
        _ = Campaign.load(path).plan


def test_a_decode_that_knows_more_than_the_public_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `run` left on the mechanism or the billboard is not there for whoever reads the files."""
    true = histogram_module().NoisyHistogram.decode
    seen: list[Any] = []

    def decode(it: Any, record: Any, index: int, billboard: Any) -> Any:
        seen[:] = seen or [billboard]
        if billboard is not seen[0]:
            raise LookupError("gone")
        return true(it, record, index, billboard)

    monkeypatch.setattr(histogram_module().NoisyHistogram, "decode", decode)
    with pytest.raises(InvalidInput, match=r"`decode` fails|`run` fails"):
        _ = Campaign.load(path).plan


def test_faults_of_the_kind_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = PayoutTerms(column="payment", currency="EUR", minor_units=100, highest=5)
    for name, fault, what in (("tables", lambda *_: 1 // 0, "publishing the outcome of `run` fails: ZeroDivisionError"),
                              ("explain", lambda *_: 1 // 0, "explaining a share fails: ZeroDivisionError"),
                              ("payouts", lambda *_: terms, "paying shares by `payouts` fails: KeyError")):
        with monkeypatch.context() as broken:
            broken.setattr(histogram_module().HistogramKind, name, fault, raising=False)
            with pytest.raises(InvalidInput, match=what):
                _ = Campaign.load(path).plan


def paying(share: float, others: float = 0) -> Callable[[Any, Any, int, Any], dict[str, float]]:
    """A `decode` that pays one slot a share, and all others another."""
    return lambda it, record, index, billboard: {"payment": share if index == it.people - 1 else others}


@pytest.mark.parametrize(("share", "said"), [
    (50, r"fails: PayoutTerms\.highest: a share in 'payment' is 0\.50 EUR, but the plan promises at most 0\.01 EUR"),
    (16.67, r"fails: payment: a share of 16\.67 is not a whole number of coins")])
def test_shares_that_cannot_be_paid_are_refused_with_the_plan_and_with_real_records(
    share: float, said: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, terms = histogram_module(), PayoutTerms(column="payment", currency="EUR", minor_units=100, highest=1)
    monkeypatch.setattr(module.HistogramKind, "payouts", lambda *_: terms)
    true, real = module.NoisyHistogram.run, [0.0]

    def run(it: Any, data: Any, noise: Any) -> Any:
        made = true(it, data, noise)
        shares = [0.0] * (it.people - 1) + [real[0] if isinstance(made, Outcome) else it.decode(
            None, it.people - 1, made.billboard)["payment"]]
        paid = pa.table({"payment": pa.array(shares, pa.float64())})
        return it._outcome(noise, billboard=made.billboard, shares=paid)

    monkeypatch.setattr(module.NoisyHistogram, "run", run)
    with monkeypatch.context() as wrong:
        wrong.setattr(module.NoisyHistogram, "decode", paying(float(share), 0.0))
        with pytest.raises(InvalidInput, match=f"paying shares by `payouts` {said}"):
            _ = Campaign.load(path).plan
    monkeypatch.setattr(module.NoisyHistogram, "decode", paying(0.0, 0.0))
    real[0] = share
    with pytest.raises(RunFailed) as caught:
        Campaign.load(path).settle()
    assert isinstance(caught.value.__cause__, InvalidInput)
    with Store() as store:
        known = store.find(Campaign.load(path).file)
        assert known is not None
        assert (known.state, store.entries(known.number)) == (State.CHARGED, ())


def test_what_a_fault_says_is_reported_as_nothing_is_private(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(it: Any, data: Any, noise: Any) -> Any:
        raise ValueError("\nlengths differ: 3 and 4\nand more of it")

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    with pytest.raises(InvalidInput, match=r"ValueError at test_trial.py:\d+: lengths differ: 3 and 4; correct it"):
        _ = Campaign.load(path).plan


def test_noise_without_a_center_is_reported_with_the_plan(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = [section.title for section in Campaign.load(path).plan.sections()]
    assert "Tried out" not in titles

    def run(it: Any, data: Any, noise: Any) -> Any:
        board = histogram_module().Counts(answer=it.levels, people=noise.discrete_laplace(it.scale, 4, stream="counts"))
        cells = {int(slot): row for batch in data for slot, row in zip(batch.index, batch.cells, strict=True)}
        shares = [it.decode(cells.get(slot), slot, board) for slot in range(it.people)]
        return it._outcome(noise, billboard=board, shares=pa.Table.from_pylist(shares))

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    *_, last = Campaign.load(path).plan.sections()
    assert last.title == "Tried out"
    (words,) = last.blocks[0].paragraphs
    assert words.startswith("`run` draws noise without `center=` (stream counts). Give the value to protect as")


def test_the_fault_is_there_for_who_debugs(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", raising)
    for debug in (False, True):
        monkeypatch.setenv("CONFIDE_DEBUG", "1" if debug else "")
        assert guarded(partial(app, ["plan", str(path)])) == 2
        said = capsys.readouterr().err
        assert "a name that was forgotten" in said
        assert ("Traceback" in said) is debug


@pytest.mark.parametrize("error", [ValueError("she answered bus"), InvalidInput("record", "she answered bus"),
                                   SystemExit("she answered bus"), BaseException("she answered bus")])
def test_a_run_that_fails_after_the_charge_says_how_it_goes_on(
    error: BaseException, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Broken by real records alone, which no made-up crowd has: nothing that it met is told."""
    true = histogram_module().NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        if sum(len(batch.index) for batch in data) == 450:
            raise error
        return true(it, data, noise)

    with monkeypatch.context() as broken:
        broken.setattr(histogram_module().NoisyHistogram, "run", run)
        with pytest.raises(RunFailed, match="another run of this campaign uses the same debit") as caught:
            Campaign.load(path).settle()
        assert "NoisyHistogram" in str(caught.value)
        assert "at no further cost" in str(caught.value)
        assert caught.value.__cause__ is error
        broken.delenv("CONFIDE_DEBUG", raising=False)
        assert guarded(partial(app, ["run", str(path)])) == 1
        assert "bus" not in (reported := capsys.readouterr().err)
        assert type(error).__name__ not in reported
        assert reported.count("\n") == 1
    with Store() as store:
        known = store.find(Campaign.load(path).file)
        assert known is not None
        assert known.state is State.CHARGED
        spent = store.ledger("commuters")[0].filter.spent
    settled = Campaign.load(path).settle()  # the same code: what disturbed it is gone
    assert settled.fresh
    with Store() as store:
        assert store.ledger("commuters")[0].filter.spent == spent
    assert verify(settled.folder).passed


@pytest.mark.parametrize("wrong", ["too few rows", "an empty cell", "a set on the billboard"])
def test_what_only_real_records_break_is_never_published(
    wrong: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = histogram_module().NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        outcome = true(it, data, noise)
        if not isinstance(outcome, Outcome):
            return outcome
        board, shares = outcome.billboard, outcome.shares
        if wrong == "too few rows":
            shares = shares.slice(1)
        elif wrong == "an empty cell":
            shares = pa.table({"same_answer": [None, *shares["same_answer"].to_pylist()[1:]]})
        else:
            board = histogram_module().Counts(answer=set(it.levels), people=board.people)
        return it._outcome(noise, billboard=board, shares=shares)

    with monkeypatch.context() as broken:
        broken.setattr(histogram_module().NoisyHistogram, "run", run)
        with pytest.raises(RunFailed):
            Campaign.load(path).settle()
    assert not Campaign.load(path).default_folder.exists()
    assert Campaign.load(path).settle().outcome.shares.num_rows == 500


def test_what_a_mechanism_remembers_of_made_up_people_is_not_published(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that keeps its first count on itself: what it counted in the trial is not what is settled."""
    text = path.read_text(encoding="utf-8")
    count = next(line for line in text.splitlines() if line.startswith("count = "))
    path.write_text(text.replace(count, "count = 450"), encoding="utf-8")  # small enough to be tried at its own size
    true = histogram_module().NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        if not hasattr(it, "_seen"):
            object.__setattr__(it, "_seen", list(data))
        return true(it, it._seen, noise)

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    people = Campaign.load(path).settle().outcome.billboard.people
    assert people[:3] == pytest.approx([150, 150, 150], abs=60)  # Laplace noise of scale 2 at most is within 60


def test_the_participants_are_made_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of answers is not there: no plan reads it."""
    (path.parent / "answers.csv").unlink()
    seen: list[tuple[int, list[float]]] = []
    true = histogram_module().NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        assert noise.kind == "simulated"
        batches = list(data)
        seen.append((it.people, [cell for batch in batches for cell in batch.cells[:, 0].tolist()]))
        return true(it, batches, noise)

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    _ = Campaign.load(path).plan
    (_, nobody), (people, some) = seen
    assert (nobody, people, len(some), set(some)) == ([], 500, 375, {0.0, 1.0, 2.0, 3.0})


@pytest.mark.parametrize(("count", "tried"), [(1, 1), (999, 999), (1_000, 1_000), (10**8, 1_000)])
def test_of_many_people_a_thousand_are_tried(count: int, tried: int, path: Path) -> None:
    path.write_text(path.read_text().replace("count = 500 ", f"count = {count} "))
    file = Campaign.load(path).file
    trials = list(made_up(file.kind, file.config, file.kind.plan(file.config)))  # type: ignore[arg-type]
    assert [trial.plan.mechanism.people for trial in trials] == [tried, tried]  # type: ignore[attr-defined]
    slots = np.concatenate([batch.index for batch in trials[1].batches])
    assert len(set(slots.tolist())) == len(slots)
    assert slots.max() < tried


def test_a_kind_that_plans_no_small_campaign_is_tried_at_its_own_size(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = histogram_module().HistogramKind.plan

    def plan(it: Any, config: Any) -> Any:
        if config.people.count < 2_000:
            raise InvalidInput("people.count", "is too few")
        return true(it, config)

    monkeypatch.setattr(histogram_module().HistogramKind, "plan", plan)
    for count, sizes in ((2_000, [2_000, 2_000]), (10**6, [])):
        path.write_text(kind("histogram").template.replace("count = 500 ", f"count = {count} "))
        file = Campaign.load(path).file
        trials = made_up(file.kind, file.config, file.kind.plan(file.config))  # type: ignore[arg-type]
        assert [trial.config.people.count for trial in trials] == sizes


def test_records_that_are_no_rows_are_not_made_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram_module().HistogramKind, "one", lambda it, plan, batch, place: batch.cells[place],
                        raising=False)
    file = Campaign.load(path).file
    (nobody,) = file.kind.trials(file.config, file.kind.plan(file.config))  # type: ignore[attr-defined]
    assert nobody.batches == ()


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_the_house_are_not_tried_out(name: str) -> None:
    it = campaign_of(name)
    found: Any = it.file.kind
    assert isinstance(found, TriedKind) is (name in PEOPLES)
    if name in PEOPLES:
        assert list(found.trials(it.file.config, it.plan)) == []


def test_batches_are_read_again_and_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a store: a run may go over them twice."""
    true = histogram_module().NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        assert [len(batch.index) for batch in data] == [len(batch.index) for batch in data]
        assert all(isinstance(batch, SlotRows) for batch in data)
        return true(it, data, noise)

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    _ = Campaign.load(path).plan

"""The kind `bundles` from its file, and what both kinds that hand out goods share: handouts, studies, crowds."""

from __future__ import annotations

import csv
import itertools
import shutil
import stat
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from goods_campaigns import cleared_later, praised

from campaign.forging import Forger, edited, forge, remake, words
from cases import fast
from cli.commands import CONFIDE
from confide.allocation import crowds as baselines
from confide.allocation.bundles import Additive, CappedAdditiveValuation, SymmetricConcave, UnitDemandValuation
from confide.allocation.bundles.rows import population_of, record_of, usable, width
from confide.allocation.crowds import BundleCrowd, counts
from confide.allocation.expected import made_up_bundles, predicted_bundles
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.palloc import PAlloc
from confide.allocation.scales import PointsTogether, RanksTogether
from confide.allocation.tables import DENSE, Rows
from confide.campaign import Campaign, Store, hand_out, verify
from confide.campaign.kinds.allocation.audited import life
from confide.campaign.kinds.allocation.config import BundleAuctionTable
from confide.cli.failures import guarded
from confide.contract import InvalidInput, PublicOutcome, Refused, kind
from confide.contract.errors import BudgetExceeded
from confide.privacy.noise.simulated import study_generator

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "shifts.toml"
PEOPLE = 120
TEXT = """\
format = 1
kind = "bundles"
title = "Who works when?"

[budget]
data_set = "wishes of helpers"
epsilon = 61.0

[people]
count = 120
id = "id"

[goods]
names = ["friday", "saturday", "sunday"]
supply = [45, 50, 50]

[bundles]
class = "capped-additive"
cap = 2

[values]
scale = "points"
highest = 10
total = 16

[data]
source = "wishes.csv"

[privacy]
epsilon = 60.0
failure_probability = 0.01

[auction]
increment = 0.05
bid_cap = 4
rounds = 6
batch = 20
arity = 4
"""
HEAD = "id,friday,saturday,sunday"
CAPPED = ('class = "capped-additive"\ncap = 2', 'class = "capped-additive"\ncap = 2')
LOUD = [("epsilon = 60.0", "epsilon = 250.0"), ("epsilon = 61.0", "epsilon = 251.0")]
COUNTED = (CAPPED[0], 'class = "symmetric-concave"\nmost = 2')
EDITS: dict[str, list[tuple[str, str]]] = {
    "capped": [CAPPED],
    "counted": [(CAPPED[0], 'class = "symmetric-concave"\nmost = 3\ncolumns = ["friday", "saturday", "sunday"]'),
                ("supply = [45, 50, 50]", "supply = 20"), *LOUD],
    "additive": [(CAPPED[0], 'class = "additive"'), ("total = 16", "total = 30"), *LOUD],
    "unit": [(CAPPED[0], 'class = "unit-demand"'), ("total = 16\n", ""), ("supply = [45, 50, 50]", "supply = 25")],
    "ranked": [('scale = "points"\nhighest = 10\ntotal = 16', 'scale = "ranks"'), *LOUD],
    "reserve": [("arity = 4", 'arity = 4\nreclear = 0.0\noutbid_tests = "round_end"\nhalting = "unsatisfied"'),
                ("epsilon = 60.0", "epsilon = 400.0"), ("epsilon = 61.0", "epsilon = 400.0")],
    "gaussian": [("arity = 4", 'arity = 4\nlaw = "gaussian"'),
                 ("failure_probability", "delta = 1e-6\nfailure_probability"),
                 ("epsilon = 61.0", "epsilon = 90.0\ndelta = 1e-6")],
}


def lines(*, falling: bool = False) -> list[str]:
    """Rows whose best two are worth 16 at most; falling ones add up to that."""
    draw = study_generator(12, "helpers")
    table = np.floor(8 * np.clip(np.array([0.4, 0.3, 0.0]) + 0.6 * draw.random((PEOPLE, 3)), 0, 1))
    table = -np.sort(-np.minimum(table, 5), axis=1) if falling else table
    return [f"{i + 1},{','.join(str(int(cell)) if cell else '' for cell in row)}" for i, row in enumerate(table)]


def campaign(folder: Path, *edits: tuple[str, str], data: list[str] | None = None, name: str = "shifts") -> Campaign:
    text = edited(TEXT, edits)
    falling = "symmetric" in text
    if "ranks" in text and data is None:
        data = [f"{i + 1},{','.join(map(str, order))}" for i, order in
                zip(range(PEOPLE), itertools.cycle(itertools.permutations((1, 2, 3))), strict=False)]
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    rows = lines(falling=falling) if data is None else data
    (folder / "wishes.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    return Campaign.load(folder / f"{name}.toml")


def typed(line: str) -> dict[str, str]:
    return {name: cell for name, cell in zip(HEAD.split(",")[1:], line.split(",")[1:], strict=True) if cell}


def written(folder: Path) -> list[str]:
    return (folder / "wishes.csv").read_text().splitlines()[1:]


# ---- the whole life


@pytest.mark.parametrize("which", fast(1, list(EDITS)))
def test_a_whole_life(which: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[which])
    assert (it.check().usable, dict(it.check().rejected)) == (PEOPLE, {})
    with Store() as store:
        settled, again = it.settle(tmp_path / "out", store=store), it.settle(tmp_path / "out", store=store)
        assert (settled.fresh, again.fresh) == (True, False)
        held = settled.outcome.shares["bundle"].to_pylist()
        assert again.outcome.shares["bundle"].to_pylist() == held
        assert 0 < max(map(len, held)) <= it.plan.market.largest_bundle
        assert (counts(settled.outcome.shares, 3) <= np.array(it.plan.market.copies)).all()
        prices = settled.tables["prices"]
        assert prices["price_points"].to_pylist() == [it.plan.scale.unit * each for each in prices["price"].to_pylist()]
        assert settled.tables["prices"].column_names == ["good", "price", "price_points", "supply"]
        # Everybody's own bundle: from the file, from what she types, and from the public pack alone.
        for index, line in list(enumerate(written(tmp_path)))[::13]:
            shown = words(it.share(index + 1, store=store))
            assert f"Participant {index + 1}: {it.plan.called(held[index])}" in shown
            assert words(it.share(index + 1, tmp_path / "out", record=typed(line))) == shown
        own = it.own_file("3", tmp_path / "out", record=typed(written(tmp_path)[2]))
        assert own["share"]["bundle"] == held[2]
        assert verify(tmp_path / "out", own=own).complete
        assert not verify(tmp_path / "out", own={**own, "share": {"bundle": [*held[2], 1]}}).passed
        (standing,) = store.ledger()
        assert standing.filter.total.epsilon <= it.plan.market.epsilon
    verified = verify(tmp_path / "out")
    assert verified.complete, [each for each in verified.findings if each.verdict != "holds"]
    loaded = PublicOutcome.load(tmp_path / "out")
    assert loaded.mechanism == settled.outcome.mechanism
    assert words(it.file.kind.result(it.plan, loaded)) == words(it.file.kind.result(it.plan, settled.outcome))


@pytest.mark.slow
def test_forged_packs_are_found(tmp_path: Path) -> None:
    forger = Forger(campaign(tmp_path), tmp_path)
    broken, key = forger.broken, forger.key

    def wider(outcome: PublicOutcome) -> PublicOutcome:
        return replace(outcome, mechanism=replace(outcome.mechanism, valuation=CappedAdditiveValuation(cap=3)))  # type: ignore[type-var]

    assert broken(lambda pack: None) == set()
    assert "billboard" in broken(lambda pack: remake(pack, key, cleared_later))
    assert "certificate" in broken(lambda pack: remake(pack, key, praised))
    assert "parameters" in broken(lambda pack: remake(pack, key, wider))
    assert "billboard" in broken(lambda pack: forge(pack, key, lambda m: m["billboard"].update(rounds=3)))
    assert "tables" in broken(lambda pack: (pack / "prices.csv").write_text("good,price,supply\nsunday,0,50\n"))


# ---- records


def test_rows_beyond_the_total_harm_their_participant_alone(tmp_path: Path) -> None:
    """Each number is fine, but the best two are worth more than 16: at submission an error, in a run nobody's row."""
    data = lines()
    data[4], data[9], data[11] = "5,9,9,1", "10,99,1,1", "12,8,8,8"
    it = campaign(tmp_path, data=data)
    found = it.check()
    assert found.rejected == {"5": "the values of the best 2 goods add up to more than 16",
                              "10": "friday: is out of bounds; must be in [0, 10]"}
    assert found.usable == PEOPLE - 2
    settled = it.settle(tmp_path / "out", accept_unusable=True)
    held = settled.outcome.shares["bundle"].to_pylist()
    assert held[4] == held[9] == []
    assert "No usable row arrived" in words(it.share(5))
    with pytest.raises(InvalidInput, match="the values of the best 2 goods add up to more than 16"):
        it.share(5, tmp_path / "out", record=typed(data[4]))
    assert words(it.share(12)) == words(it.share(12, tmp_path / "out", record=typed(data[11])))


def test_falling_rows_become_sums(tmp_path: Path) -> None:
    data = lines(falling=True)
    data[0], data[1], data[2], data[3] = "1,8,5,3", "2,4,5,1", "3,9,5,3", "4,5,,1"
    it = campaign(tmp_path, *EDITS["counted"], data=data)
    assert set(it.check().rejected) == {"2", "3", "4"}
    assert "rise from one good to the next, or add up to more than 16" in it.check().rejected["2"]
    record, index = it.file.kind.record(it.file.config, it.plan, tmp_path, "1")
    assert (record, index) == ([0.0, 0.5, 0.8125, 1.0], 0)
    with pytest.raises(InvalidInput, match="rise"):
        it.file.kind.parse_record(it.file.config, it.plan, "2", typed(data[1]))
    assert it.file.kind.record(it.file.config, it.plan, tmp_path, "2") == (None, 1)
    assert it.file.kind.codec(it.plan).goods == 3  # type: ignore[union-attr]


def test_a_row_that_reaches_a_run_all_the_same_counts_as_empty() -> None:
    """What a store holds is mapped again, each row alone: no message of a run names a row."""
    rows = Rows(np.array([0, 2]), np.array([0, 2, 3]), np.array([0, 1, 1], np.int32),
                np.array([0.9, 0.8, 0.5], np.float32))
    for valuation in (Additive(), SymmetricConcave(most=2)):
        of = population_of(valuation, iter([rows]), people=3, goods=2)
        assert [of.bidder(i).value((0, 1)) for i in range(3)] == [0.0, 0.0, 0.5 * isinstance(valuation, Additive)]
        assert usable(valuation, rows, 2).tolist() == [False, isinstance(valuation, Additive)]
    assert usable(UnitDemandValuation(), rows, 2).tolist() == [True, True]
    assert usable(Additive(), Rows(np.empty(0, np.int64), np.zeros(1, np.int64), rows.named[:0], rows.values[:0]),
                  2).tolist() == []
    assert record_of(UnitDemandValuation(), {1: 0.5}) == {1: 0.5}
    assert (width(Additive(), 7), width(SymmetricConcave(most=2), 7)) == (7, 2)
    with pytest.raises(InvalidInput, match="too many"):
        population_of(SymmetricConcave(most=DENSE + 1), iter([rows]), people=3, goods=2)


@pytest.mark.parametrize(("total", "row", "fits"), [
    (3.0, (1.0, 1.0, 1.0), True), (0.3, (0.1, 0.1, 0.1), True), (0.7, (0.3, 0.3, 0.1), True),
    (0.7, (0.3, 0.3, 0.11), False),
])
def test_a_row_that_adds_up_to_the_total_is_none_too_many(total: float, row: tuple[float, ...], fits: bool) -> None:
    scale = PointsTogether(highest=max(row), total=total)
    cells = scale.values(np.zeros(3, np.int64), np.array(row))
    row_of_one = Rows(np.array([0]), np.array([0, 3]), np.arange(3, dtype=np.int32), cells)
    assert usable(Additive(), row_of_one, 3).tolist() == [fits]


@pytest.mark.parametrize(("columns", "says"), [
    ('["a"]', "must have 3 different names"), ('["friday", "friday", "sunday"]', "must have 3 different names"),
    ('["friday", "saturday", "monday"]', "monday"),
])
def test_columns_of_counted_goods_are_those_of_the_file(columns: str, says: str, tmp_path: Path) -> None:
    own, *others = EDITS["counted"]
    with pytest.raises(InvalidInput, match=says):
        campaign(tmp_path, (own[0], own[1].replace('["friday", "saturday", "sunday"]', columns)), *others).collect()


def test_orders_are_worth_one_together_ties_or_not() -> None:
    scale = RanksTogether(points=(3.0, 2.0, 1.0), most=2)
    tied = scale.values(np.zeros(3, np.int64), np.array([1.0, 1.0, 1.0]))
    assert tied.tolist() == [0.5, 0.5, 0.5]
    assert scale.values(np.zeros(2, np.int64), np.array([1.0, 2.0])).tolist() == pytest.approx([0.5, 1 / 3])


@pytest.mark.parametrize(("edit", "field", "says"), [
    (("cap = 2", "cap = 0"), "bundles.cap", "greater than or equal to 1"),
    (("cap = 2", "most = 2"), "bundles.most", "is not a known key"),
    (('class = "capped-additive"', 'class = "caped-additive"'), "bundles.class", "did you mean 'capped-additive'"),
    (('class = "capped-additive"\n', ""), "bundles.class", "is missing"),
    (("total = 16", "total = 9"), "values.total", "below the largest value of one good"),
    (("total = 16", "totl = 9"), "values.totl", "did you mean 'total'"),
    (("increment = 0.05", "incremnt = 0.05"), "auction.incremnt", "did you mean 'increment'"),
    (("increment = 0.05", "bundle = 0"), "auction.bundle", "greater than or equal to 1"),
], ids=lambda value: value[1][:20] if isinstance(value, tuple) else "")
def test_bad_input_is_named(edit: tuple[str, str], field: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        campaign(tmp_path, edit).collect()
    assert says in str(caught.value)
    assert caught.value.field == field


@pytest.mark.parametrize(("edits", "says"), [
    ([COUNTED, ('scale = "points"\nhighest = 10\ntotal = 16', 'scale = "ranks"')], "must be 'points'"),
    ([COUNTED, ('source = "wishes.csv"', 'source = "wishes.csv"\nform = "long"')], "must be 'wide'"),
])
def test_counted_goods_are_asked_for_by_how_many(edits: list[tuple[str, str]], says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=says):
        campaign(tmp_path, *edits).plan  # noqa: B018


@pytest.mark.parametrize(("edits", "says"), [
    ([("supply = [45, 50, 50]", "supply = 120")], "give everybody their favourite goods"),
    ([("epsilon = 60.0", "epsilon = 1.0")], "smaller bundles"),
    ([("failure_probability = 0.01", 'failure_probability = 0.01\non_overflow = "truncate"')], "costs a delta"),
    ([("arity = 4", 'law = "gaussian"')], "needs a delta"),
])
def test_hopeless_plans_are_refused(edits: list[tuple[str, str]], says: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=says):
        campaign(tmp_path, *edits).plan  # noqa: B018


def test_plans_and_offers_say_how_numbers_become_values(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    offer, plan = words(it.offer()), it.plan
    assert "The best 2 of your goods count" in offer
    assert "Their numbers add up to at most 16" in offer
    assert "each gets up to 2 goods" in offer
    (tmp_path / "wishes.csv").unlink()
    assert Campaign.load(tmp_path / "shifts.toml").plan.to_dict() == plan.to_dict()
    assert plan.to_dict()["class"] == "capped-additive"
    assert "the value that a second good adds" in words(campaign(tmp_path, *EDITS["counted"]).plan.offer())
    few = campaign(tmp_path, ("arity = 4", "arity = 4\nbundle = 1"), *LOUD).plan
    assert "a person can value up to 2" in words(few.sections())
    ranked = words(campaign(tmp_path, *EDITS["ranked"]).plan.offer())
    assert "ranks 1, 2, and so on are 0.5, 0.333, 0.167" in ranked


def test_every_option_of_the_auction_is_a_key_of_its_table() -> None:
    common = {"people", "goods", "supply", "epsilon", "delta", "certify_with", "failure_probability", "on_overflow",
              "neighbours",
              "valuation"}
    own = {each.name for each in fields(PAlloc) if each.init} - common
    assert set(BundleAuctionTable.model_fields) == own


def test_the_template_plans(tmp_path: Path) -> None:
    (tmp_path / "bundles.toml").write_text(kind("bundles").template)
    plan = Campaign.load(tmp_path / "bundles.toml").plan
    assert plan.prediction.share > 1.1 * plan.prediction.baseline


# ---- handing out


def test_the_operators_list_says_who_gets_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    it = campaign(tmp_path)

    def confide(*arguments: object) -> tuple[int, str]:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        return code, "".join(capsys.readouterr())

    path, target = tmp_path / "shifts.toml", tmp_path / "rota.csv"
    for place, why in ((tmp_path / "out" / "rota.csv", "will be a pack"), (path, "exists"),
                       (tmp_path / "no" / "rota.csv", "not a folder")):
        code, said = confide("run", path, "--out", tmp_path / "out", "--handout", place)
        assert (code, why in said) == (2, True)
        assert not (tmp_path / "out").exists()  # nothing was charged
    assert "assigns no goods" in confide("run", path, "--noise", "simulated", "--seed", 1, "--handout", target)[1]
    code, said = confide("run", path, "--out", tmp_path / "out", "--handout", target)
    assert (code, "for the operator alone" in said) == (0, True)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    held = it.settled().shares["bundle"].to_pylist()
    with target.open(encoding="utf-8", newline="") as file:
        found = [tuple(row.values()) for row in csv.DictReader(file)]
    assert found == [(str(i + 1), it.plan.names[good]) for i, bundle in enumerate(held) for good in bundle]
    # Afterwards too, without whoever withdrew.
    who = next(i for i, bundle in enumerate(held) if bundle)
    it.withdraw(who + 1)
    assert confide("run", path, "--out", tmp_path / "out", "--handout", tmp_path / "later.csv")[0] == 0
    later = (tmp_path / "later.csv").read_text().splitlines()[1:]
    assert later == [",".join(row) for row in found if row[0] != str(who + 1)]
    with pytest.raises(InvalidInput, match="is a pack"):
        hand_out(it, tmp_path / "out" / "rota.csv", it.settled())
    (tmp_path / "mean.toml").write_text(kind("regression").template)
    code, said = confide("run", tmp_path / "mean.toml", "--handout", tmp_path / "none.csv")
    assert (code, "hand out no goods" in said) == (3, True)


@pytest.mark.slow
def test_the_budget_is_shared(tmp_path: Path) -> None:
    first, second = campaign(tmp_path), campaign(tmp_path, ('title = "Who', 'title = "Again: who'), name="again")
    with Store() as store:
        first.settle(tmp_path / "out", store=store)
        with pytest.raises(BudgetExceeded):
            second.settle(tmp_path / "more", store=store)


# ---- predictions, studies, audits


def brute(table: np.ndarray, supply: tuple[int, ...], most: int) -> float:
    """The best welfare of few people, by every choice of everybody."""
    bundles = [each for size in range(most + 1) for each in itertools.combinations(range(table.shape[1]), size)]
    found = 0.0
    for chosen in itertools.product(bundles, repeat=len(table)):
        used = np.bincount([good for bundle in chosen for good in bundle], minlength=table.shape[1])
        if (used <= np.array(supply)).all():
            found = max(found, sum(float(table[i, list(bundle)].sum()) for i, bundle in enumerate(chosen)))
    return found


def test_rules_of_thumb_are_below_the_best() -> None:
    draw = study_generator(5, "few people")
    for _ in range(4):
        table, supply = np.floor(draw.random((4, 3)) * 8) / 16, (2, 1, 1)
        best = brute(table, supply, 2)
        assert exact_optimum(table, supply, each=2).welfare == pytest.approx(best)
        assert best / 2 <= baselines.greedy_bundles(table, supply, 2) <= best
        assert baselines.serial_bundles(table, supply, 2, seed=3) <= best
        assert baselines.lottery_of_bundles(table, supply, 2) <= best
        steps = -np.sort(-table, axis=1)
        most = baselines.counted_optimum(steps, 4)
        every = [sum(float(row[:size].sum()) for row, size in zip(steps, sizes, strict=True))
                 for sizes in itertools.product(range(4), repeat=4) if sum(sizes) <= 4]
        assert most == pytest.approx(max(every))
        assert max(baselines.counted_serially(steps, 4), baselines.spread_evenly(steps, 4)) <= most


def test_made_up_people_write_no_more_than_the_total() -> None:
    scale = PointsTogether(highest=10.0, total=12.0)
    classes = (CappedAdditiveValuation(cap=2), SymmetricConcave(most=2), Additive())
    for valuation, needs in itertools.product(classes, (False, True)):
        crowd = made_up_bundles(valuation, 50, 3, scale, seed=2, needs=needs)
        index = np.arange(50)
        row, named = np.nonzero(crowd.rows.values.reshape(50, -1))
        batch = Rows(index, np.searchsorted(row, np.arange(51)), named.astype(np.int32),
                     crowd.rows.values.reshape(50, -1)[row, named])
        assert usable(valuation, batch, 3).all()
        assert crowd.bound((20,) * 3, np.zeros(3)) == pytest.approx(float(crowd.data.surpluses(np.zeros(3)).sum()))


@pytest.mark.slow
def test_large_campaigns_are_predicted_by_smaller_ones() -> None:
    market = PAlloc.for_budget(people=200_000, goods=10, supply=25_000, epsilon=1.0,
                               valuation=CappedAdditiveValuation(cap=2))
    found = predicted_bundles(market, PointsTogether(highest=1.0, total=2.0))
    assert 0.55 < found.baseline < 0.9 < found.share < 1.0


@pytest.mark.parametrize("which", fast(2, ["capped", "counted", "unit"]))
def test_a_study_shows_welfare_beside_the_best_and_is_no_release(which: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[which])
    outcome, parts = it.study(3)
    assert not outcome.release_safe
    assert all(section.study for section in parts)
    rows = parts[0].blocks[0].rows  # type: ignore[union-attr]
    crowd = BundleCrowd.of(it.plan.market.valuation, it.collect().data, PEOPLE, 3)
    assert rows[0][1] == outcome.diagnostics["welfare"] == pytest.approx(crowd.welfare(outcome.shares))
    assert "exact optimum" in rows[-1][0]
    assert rows[-1][1] == max(row[1] for row in rows) <= crowd.bound(it.plan.market.copies, outcome.billboard.prices)  # type: ignore[attr-defined]
    assert any("serial dictatorship" in row[0] for row in rows)


@pytest.mark.parametrize("which", fast(1, ["capped", "counted", "reserve", "gaussian"]))
def test_audits_of_its_life_pass_and_flag_what_was_injected(which: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[which])
    (tmp_path / "wishes.csv").unlink()  # never touched
    found = [each.measured() for each in life(it.plan, 3)]  # type: ignore[arg-type]
    assert [[row.verdict for row in rows] for rows, _ in found] == [["kept"]] * 4
    assert [[control.flagged for control in controls] for _, controls in found] == [[True]] * 4


@pytest.mark.slow
@pytest.mark.parametrize("which", ["capped", "counted"])
def test_whole_audits_hold_the_familys_rows_too(which: str, tmp_path: Path) -> None:
    it, reported = campaign(tmp_path, *EDITS[which]), list[tuple[int, int | None]]()
    report = it.audit(1, progress=lambda done, total: reported.append((done, total)))
    assert report.passed, report.problems
    assert {"privacy: everything that others see, jointly", "privacy: the bidder's own replay of the billboard"} <= {
        row.promise for row in report.rows}
    assert any(control.mutant == "no noise" for control in report.controls)
    assert [done for done, _ in reported] == list(range(1, len(reported) + 1))
    assert {total for _, total in reported} == {len(reported)}


@pytest.mark.slow
def test_the_example_does_better_than_rules_of_thumb(tmp_path: Path) -> None:
    for name in ("shifts.toml", "shifts_wishes.csv"):
        shutil.copy(EXAMPLE.with_name(name), tmp_path)
    it = Campaign.load(tmp_path / "shifts.toml")
    assert (it.check().usable, dict(it.check().rejected)) == (3000, {})
    _, parts = it.study(1)
    rows = {row[0]: row[2] for row in parts[0].blocks[0].rows}  # type: ignore[union-attr]
    run, = (share for name, share in rows.items() if name.startswith("this run"))
    assert run > 0.83
    simple = [share for name, share in rows.items() if "lottery" in name or "serial dictatorship" in name]
    assert len(simple) == 2
    assert run > max(simple)

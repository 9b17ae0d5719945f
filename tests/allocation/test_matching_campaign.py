"""The kind `matching` from its file: check, run, share, verify, withdraw, study, audit."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from goods_campaigns import cleared_later, praised
from matching_campaigns import EDITS, EXAMPLE, HEAD, METHODS, PEOPLE, SCALING, TEXT, campaign, lines, typed

from campaign.forging import Forger, forge, remake, words
from cases import fast
from cli.commands import CONFIDE
from confide import Outcome
from confide.allocation import PMatch, SinkhornMatch, WelfareCertificate, exact_optimum
from confide.allocation.crowds import lottery_welfare
from confide.allocation.scales import Points, Ranks
from confide.allocation.tables import gathered
from confide.allocation.valuations import Valuations
from confide.campaign import Campaign, Store, verify
from confide.campaign.kinds.allocation.audited import life
from confide.cli.failures import guarded
from confide.contract import InvalidInput, PublicOutcome, Refused
from confide.contract.errors import BudgetExceeded
from confide.contract.outcome import Outcome as AnyOutcome


@pytest.mark.parametrize("method", fast(1, METHODS))
def test_a_whole_life(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[method])
    found = it.check()
    assert (found.slots, found.rows, found.usable, dict(found.rejected)) == (120, 120, 120, {})
    with Store() as store:
        settled, again = it.settle(tmp_path / "out", store=store), it.settle(tmp_path / "out", store=store)
        assert (settled.fresh, again.fresh) == (True, False)
        goods = settled.outcome.shares["good"].to_pylist()
        assert again.outcome.shares["good"].to_pylist() == goods
        assert len(goods) == PEOPLE
        assert max(goods) >= 0
        prices = settled.tables["prices"]
        assert prices.column_names == ["good", "price", "price_points", "supply"]
        assert prices["supply"].to_pylist() == [25, 30, 30]
        assert prices["price_points"].to_pylist() == [100 * each for each in prices["price"].to_pylist()]
        # Everybody's own good: from the file, from what she types, and from the public pack alone.
        for index, line in list(enumerate(lines()))[::17]:
            name = "no good" if goods[index] < 0 else ("algebra", "drawing", "law")[goods[index]]
            shown = words(it.share(index + 1, store=store))
            assert f"Participant {index + 1}: {name}" in shown
            assert words(it.share(index + 1, tmp_path / "out", record=typed(line))) == shown
        own = it.own_file("3", tmp_path / "out", record=typed(lines()[2]))
        assert own["share"]["good"] == goods[2]
        assert verify(tmp_path / "out", own=own).complete
        assert not verify(tmp_path / "out", own={**own, "share": {**own["share"], "good": (goods[2] + 1) % 3}}).passed
        (standing,) = store.ledger()
        assert standing.filter.total.epsilon <= it.plan.market.epsilon
        with pytest.raises(InvalidInput, match="pays nothing"):
            it.payouts(store=store)
    verified = verify(tmp_path / "out")
    assert verified.complete, [each for each in verified.findings if each.verdict != "holds"]


def test_what_is_public_names_no_totals(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("highest = 100", "highest = 101"))  # so that no price in points is a whole number but 101
    settled = it.settle(tmp_path / "out")
    outcome = settled.outcome
    given = np.bincount([good for good in outcome.shares["good"].to_pylist() if good >= 0], minlength=3)
    result = words(it.file.kind.result(it.plan, outcome))
    assert "is not public" in result
    assert "public bonuses" not in result
    numbers = set(re.findall(r"[0-9][0-9,.]*", result))
    assert str(int(given.sum())) not in numbers
    manifest = (tmp_path / "out" / "manifest.json").read_text()
    assert "over_allocated" not in manifest
    assert {path.name for path in (tmp_path / "out").glob("*.csv")} == {"prices.csv"}
    certificate = outcome.certificate
    assert isinstance(certificate, WelfareCertificate)
    loaded = PublicOutcome.load(tmp_path / "out")
    assert loaded.mechanism == outcome.mechanism
    assert words(it.file.kind.result(it.plan, loaded)) == result  # type: ignore[arg-type]


def test_an_outcome_comes_back_from_its_folder(tmp_path: Path) -> None:
    for name in ("auction", "scaling"):
        it = campaign(tmp_path, *EDITS[name], ("course wishes", name), name=name)
        outcome = it.settle(tmp_path / name).outcome
        outcome.save(tmp_path / f"{name}-saved")
        back = Outcome.load(tmp_path / f"{name}-saved")
        assert isinstance(back, AnyOutcome)
        assert back.mechanism == outcome.mechanism
        assert back.shares.equals(outcome.shares)
        assert back.mechanism.certify(back.billboard).ratio == outcome.certificate.ratio  # type: ignore[union-attr]
    assert {type(each.plan.mechanism) for each in (campaign(tmp_path), campaign(tmp_path, SCALING))} == {
        PMatch, SinkhornMatch}


def test_forged_packs_are_found(tmp_path: Path) -> None:
    forger = Forger(campaign(tmp_path), tmp_path)
    broken, key = forger.broken, forger.key

    def louder(outcome: PublicOutcome) -> PublicOutcome:
        return replace(outcome, mechanism=replace(outcome.mechanism, epsilon=80.0))  # type: ignore[type-var]

    assert broken(lambda pack: None) == set()
    assert "billboard" in broken(lambda pack: remake(pack, key, cleared_later))
    assert "certificate" in broken(lambda pack: remake(pack, key, praised))
    assert "parameters" in broken(lambda pack: remake(pack, key, louder))
    assert "billboard" in broken(lambda pack: forge(pack, key, lambda m: m["billboard"].update(rounds=3)))
    assert "tables" in broken(lambda pack: (pack / "prices.csv").write_text("good,price,supply\nlaw,0,30\n"))


def test_bad_rows_are_empty_and_nobody_elses_matter(tmp_path: Path) -> None:
    data = lines()
    data[4], data[9] = "5,1000,1,1", "10,much,1,1"
    data = [*data[:100], "3,1,1,1", "777,1,1,1"]
    it = campaign(tmp_path, data=data)
    found = it.check()
    assert (found.rows, found.usable) == (102, 98)
    assert set(found.rejected) == {"5", "10", "3 (row 101)", "row 102"}
    settled = it.settle(tmp_path / "out", accept_unusable=True)  # 4 of 102
    goods = settled.outcome.shares["good"].to_pylist()
    assert [goods[place] for place in (4, 9, *range(100, 120))] == [-1] * 22
    assert "No usable row arrived" in words(it.share(5))
    for identity in (1, 4, 6):
        assert words(it.share(identity)) == words(it.share(identity, record=typed(data[identity - 1]), folder=tmp_path
                                                          / "out"))
    changed = [*data]
    changed[0] = "1,100,0,0" if goods[0] != 0 else "1,0,0,0"
    campaign(tmp_path, data=changed)
    assert "The settlement counts: " in words(it.share(1)) or it.plan.mechanism.decode(
        {0: 1.0}, 0, settled.outcome.billboard)["good"] == goods[0]


@pytest.mark.slow
def test_who_withdraws_counts_as_empty(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with Store() as store:
        it.settle(tmp_path / "out", store=store)
        assert not it.withdraw("3", store=store)
        assert it.settled(store=store).shares["good"][2].as_py() is None
        with pytest.raises(Refused, match="withdrew"):
            it.share("3", store=store)
        assert "Participant 3" in words(it.share("3", tmp_path / "out", record=typed(lines()[2])))


def test_who_withdrew_before_is_reported_nothing_of_payments_where_none_are(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with Store() as store:
        it.hand_in("3", typed(lines()[2]), store=store)
        assert it.withdraw("3", store=store)
        it.settle(tmp_path / "out", store=store)
        reported = words(it.share("3", store=store))
    assert "Participant 3: withdrew before the settlement" in reported
    assert "paid" not in reported
    assert "deposit" not in reported


@pytest.mark.slow
def test_the_budget_is_shared(tmp_path: Path) -> None:
    first, second = campaign(tmp_path), campaign(tmp_path, ('title = "Who', 'title = "Again: who'), name="again")
    with Store() as store:
        first.settle(tmp_path / "out", store=store)
        with pytest.raises(BudgetExceeded):
            second.settle(tmp_path / "more", store=store)


@pytest.mark.slow
def test_long_files_and_orders_settle_as_wide_ones_do(tmp_path: Path) -> None:
    names = HEAD.split(",")[1:]
    (tmp_path / "lines.csv").write_text("id,good,value\n" + "".join(
        f"{line.split(',')[0]},{good},{cell}\n" for line in reversed(lines())
        for good, cell in zip(names, line.split(",")[1:], strict=True)))
    wide = campaign(tmp_path)
    long = campaign(tmp_path, ('source = "wishes.csv"', 'source = "lines.csv"\nform = "long"'), name="long")
    both = [gathered(each.collect().data, PEOPLE, 3).values.tolist() for each in (wide, long)]
    assert both[0] == both[1]
    (tmp_path / "x.soi").write_text("# NUMBER ALTERNATIVES: 3\n40: 1,2,3\n40: 1,3\n38: 2,1\nbroken\n")
    orders = campaign(
        tmp_path, ('source = "wishes.csv"', 'source = "x.soi"\nform = "preflib"'), ('id = "id"', 'id = "row"'),
        ('scale = "points"\nhighest = 100', 'scale = "ranks"\npoints = [5, 4, 1]'),
        ('["algebra", "drawing", "law"]', '["1", "2", "3"]'), *EDITS["auction"], name="orders")
    found = orders.check()
    assert (found.rows, found.usable, set(found.rejected)) == (119, 118, {"119"})
    settled = orders.settle(tmp_path / "out")
    assert "Participant 50" in words(orders.share(50))
    assert words(orders.share(50)) == words(orders.share(50, tmp_path / "out", record={"1": "1", "3": "2"}))
    assert settled.outcome.shares.num_rows == PEOPLE


def test_nothing_is_charged_where_the_file_cannot_be_read(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    (tmp_path / "wishes.csv").write_text("id,algebra,drawing\n1,2,3\n")
    with Store() as store:
        with pytest.raises(InvalidInput, match="law"):
            it.settle(tmp_path / "out", store=store)
        assert store.ledger() == ()


def test_prices_and_shares_are_in_points_as_well(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("highest = 100", "lowest = -100\nhighest = 300"), SCALING,
                  ('"scaling"', '"scaling"\ncharge = true'))
    assert it.plan.said(0.25) == "0.25 (100 points)"
    settled = it.settle(tmp_path / "out")
    prices = settled.tables["prices"]
    assert prices["price_points"].to_pylist() == [400 * each for each in prices["price"].to_pylist()]
    good, price = (settled.outcome.shares[name].to_pylist() for name in ("good", "price"))
    who = next(place for place, each in enumerate(good) if each >= 0)
    shown = words(it.share(who + 1))
    assert f"({400 * price[who]:.4g} points) on that scale" in shown
    assert "where 1 stands for 400 points, counted from -100" in shown
    listed = it.file.kind.handout(it.plan, settled.outcome, it.file.kind.identities(it.file.config))
    assert listed["price_points"].to_pylist() == [400 * each for each in listed["price"].to_pylist()]
    result = words(it.file.kind.result(it.plan, settled.outcome))
    assert "final price (points, of 400)" in result
    assert "raise the value of a good to a participant by at most 8 of 400 points. " in result  # .02 of 400 points
    assert Ranks(points=(10, 6, 3)).unit == 10
    assert replace(it.plan, scale=Points()).said(0.25) == "0.25"


def test_a_study_shows_welfare_and_is_no_release(tmp_path: Path) -> None:
    outcome, parts = campaign(tmp_path).study(3)
    assert not outcome.release_safe
    assert all(section.study for section in parts)
    values = Valuations.of(np.array([[float(cell) / 100 for cell in line.split(",")[1:]] for line in lines()],
                                    dtype=np.float32), people=PEOPLE, goods=3)
    assert outcome.diagnostics["welfare"] == pytest.approx(values.welfare(outcome.shares["good"].to_numpy()))
    (run, greedy, serial, lottery, best) = parts[0].blocks[0].rows  # type: ignore[union-attr]
    for row, word in ((greedy, "greedy"), (serial, "serial"), (lottery, "lottery"), (best, "exact optimum")):
        assert word in row[0]
    assert run[1] == outcome.diagnostics["welfare"]
    assert best[2] == 1.0
    assert max(run[1], serial[1], lottery[1]) < best[1]
    assert best[1] / 2 <= greedy[1] <= best[1]
    assert best[1] == pytest.approx(exact_optimum(values, (25, 30, 30), method="assignment").welfare)


@pytest.mark.parametrize("method", fast(1, METHODS))
def test_audits_of_its_life_pass_and_flag_what_was_injected(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[method])
    (tmp_path / "wishes.csv").unlink()  # never touched
    found = [each.measured() for each in life(it.plan, 3)]  # type: ignore[arg-type]
    assert [[row.verdict for row in rows] for rows, _ in found] == [["kept"]] * 4
    assert [[control.flagged for control in controls] for _, controls in found] == [[True]] * 4


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auction", "scaling", "charged", "gaussian", "truncated"])
def test_whole_audits_hold_the_familys_rows_too(method: str, tmp_path: Path) -> None:
    it, reported = campaign(tmp_path, *EDITS[method]), list[tuple[int, int | None]]()
    report = it.audit(3, progress=lambda done, total: reported.append((done, total)))
    assert report.passed, report.problems
    assert {"privacy: everything that others see, jointly", "privacy: the bidder's own replay of the billboard"} <= {
        row.promise for row in report.rows}
    assert any(control.mutant.endswith("of the noise that the promise needs") for control in report.controls)
    assert reported[-1][0] == reported[-1][1]


@pytest.mark.slow
def test_the_example_does_better_than_a_lottery(tmp_path: Path) -> None:
    for name in ("courses.toml", "courses.soi"):
        shutil.copy(EXAMPLE.with_name(name), tmp_path)
    it = Campaign.load(tmp_path / "courses.toml")
    assert it.check().usable == 20_000
    assert it.plan.prediction.share > 1.2 * it.plan.prediction.baseline
    outcome, _ = it.study(1)
    values = gathered(it.collect().data, 20_000, 5)
    assert outcome.diagnostics["welfare"] > 1.05 * lottery_welfare(values, (3000,) * 5)


def test_the_command_line_plans_shows_shares_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    it = campaign(tmp_path)

    def confide(*arguments: object) -> tuple[int, str]:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        return code, capsys.readouterr().out

    path = tmp_path / "courses.toml"
    code, out = confide("plan", path, "--json")
    assert code == 0
    assert json.loads(out)["plan"]["epsilon"] == 60.0
    assert confide("run", path, "--out", tmp_path / "out")[0] == 0
    good = it.settled().shares["good"][6].as_py()
    code, out = confide("share", path, "--id", 7)
    assert code == 0
    assert f"Participant 7: {'no good' if good < 0 else ('algebra', 'drawing', 'law')[good]}" in out
    assert confide("verify", tmp_path / "out")[0] == 0
    campaign(tmp_path, ("epsilon = 60.0", "epsilon = 1.0"))
    assert confide("plan", path)[0] == 3
    path.write_text(TEXT.replace("highest = 100", "higest = 100"), encoding="utf-8")
    assert confide("plan", path)[0] == 2

"""The kind `matching` from its file: plan, offer, check, run, share, verify, withdraw, study, audit."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from goods_campaigns import cleared_later, praised

from campaign.forging import Forger, edited, forge, remake, words
from cases import fast
from confide import Outcome
from confide.allocation import PMatch, SinkhornMatch, WelfareCertificate, exact_optimum
from confide.allocation.campaign import pages
from confide.allocation.campaign.audit import audit_life, audit_plan
from confide.allocation.campaign.config import AuctionTable, ScalingTable
from confide.allocation.campaign.predicted import lottery_welfare, made_up, most_welfare, predicted
from confide.allocation.reading.scales import Points, Ranks
from confide.allocation.reading.tables import gathered
from confide.allocation.valuations import Valuations
from confide.audit import AuditReport
from confide.campaign import Campaign, Store, verify
from confide.cli.app import app
from confide.cli.failures import guarded
from confide.contract import InvalidInput, PublicOutcome, Refused, kind
from confide.contract.errors import BudgetExceeded
from confide.contract.guarantees import Truthfulness
from confide.contract.outcome import Outcome as AnyOutcome
from confide.privacy.noise.simulated import study_generator

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "courses.toml"
PEOPLE = 120
TEXT = """\
format = 1
kind = "matching"
title = "Who gets into which course?"

[budget]
data_set = "course wishes"
epsilon = 61.0

[people]
count = 120
id = "id"

[goods]
names = ["algebra", "drawing", "law"]
supply = [25, 30, 30]

[values]
scale = "points"
highest = 100

[data]
source = "wishes.csv"

[privacy]
epsilon = 60.0
failure_probability = 0.01

[auction]
method = "auction"
increment = 0.25
bid_cap = 2
rounds = 4
batch = 15
arity = 4
"""
HEAD = "id,algebra,drawing,law"
SCALING = (TEXT[TEXT.index('method = "auction"'):], 'method = "scaling"\n')
METHODS = ["auction", "scaling", "reserve", "charged", "gaussian", "truncated"]
EDITS: dict[str, list[tuple[str, str]]] = {
    "auction": [], "scaling": [SCALING],
    "reserve": [("arity = 4", "arity = 4\nreclear = 0.0")],
    "charged": [("arity = 4", "arity = 4\ncharge = true"), ("epsilon = 60.0", "epsilon = 200.0"),
                ("epsilon = 61.0", "epsilon = 200.0"), ("increment = 0.25", "increment = 0.1"),
                ("bid_cap = 2", "bid_cap = 5"), ("rounds = 4", "rounds = 8")],
    "gaussian": [("arity = 4", 'arity = 4\nlaw = "gaussian"'),
                 ("failure_probability", "delta = 1e-6\nfailure_probability"),
                 ("epsilon = 61.0", "epsilon = 90.0\ndelta = 1e-6")],
    "truncated": [("failure_probability = 0.01",
                   'failure_probability = 1e-90\ndelta = 0.001\non_overflow = "truncate"'),
                  ("epsilon = 60.0", "epsilon = 200.0"), ("epsilon = 61.0", "epsilon = 201.0\ndelta = 0.01"),
                  ("arity = 4", "arity = 4\nreclear = 0.6")],
}


def lines() -> list[str]:
    draw = study_generator(11, "wishes")
    table = (40 * np.array([1.0, 0.6, 0.0]) + 60 * draw.random((PEOPLE, 3))).round(1)
    return [f"{i + 1},{','.join(map(str, row))}" for i, row in enumerate(table.tolist())]


def campaign(folder: Path, *edits: tuple[str, str], data: list[str] | None = None, name: str = "courses") -> Campaign:
    text = edited(TEXT, edits)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "wishes.csv").write_text("\n".join([HEAD, *(lines() if data is None else data)]) + "\n")
    return Campaign.load(folder / f"{name}.toml")


def typed(line: str) -> dict[str, str]:
    return dict(zip(HEAD.split(",")[1:], line.split(",")[1:], strict=True))


# ---- the whole life


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
    it = campaign(tmp_path)
    settled = it.settle(tmp_path / "out")
    outcome = settled.outcome
    given = np.bincount([good for good in outcome.shares["good"].to_pylist() if good >= 0], minlength=3)
    result = words(it.file.kind.result(it.plan, outcome))
    assert "is not public" in result
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
    assert "What counts is the settlement" in words(it.share(1)) or it.plan.mechanism.decode(
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


def test_who_withdrew_before_is_told_nothing_of_payments_where_none_are(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with Store() as store:
        it.hand_in("3", typed(lines()[2]), store=store)
        assert it.withdraw("3", store=store)
        it.settle(tmp_path / "out", store=store)
        told = words(it.share("3", store=store))
    assert "Participant 3: withdrew before the settlement" in told
    assert "paid" not in told
    assert "deposit" not in told


@pytest.mark.slow
def test_the_budget_is_shared(tmp_path: Path) -> None:
    first, second = campaign(tmp_path), campaign(tmp_path, ('title = "Who', 'title = "Again: who'), name="again")
    with Store() as store:
        first.settle(tmp_path / "out", store=store)
        with pytest.raises(BudgetExceeded):
            second.settle(tmp_path / "more", store=store)


# ---- forms of files


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


# ---- the plan and the offer


def test_the_plan_reads_public_parameters_alone(tmp_path: Path) -> None:
    plans = [campaign(tmp_path, data=data).plan for data in (lines(), lines()[:3])]
    (tmp_path / "wishes.csv").unlink()
    plans.append(Campaign.load(tmp_path / "courses.toml").plan)
    assert plans[0].to_dict() == plans[1].to_dict() == plans[2].to_dict()
    assert words(plans[0].sections()) == words(plans[2].sections())
    assert "E: no published count is off by more" in words(plans[0].sections())


def test_the_offer_says_who_learns_what(tmp_path: Path) -> None:
    offer = words(campaign(tmp_path).offer())
    assert "Whoever hands you the good learns that it is yours" in offer
    assert "Nothing is promised of what could be gained" in offer
    charged = words(campaign(tmp_path, *EDITS["charged"]).offer())
    assert "You pay the final price" in charged
    assert "At epsilon = 200 nothing is promised" in charged


def test_a_bound_on_lies_is_stated_where_it_says_something(tmp_path: Path) -> None:
    """Spec allocation 7, by total variation: the gain of the mechanism's own guarantee, where it is not vacuous."""
    plan, common = campaign(tmp_path).plan, {"people": 10**6, "goods": 3, "supply": 200_000, "epsilon": 0.1}
    auction = PMatch(**common, increment=0.05, bid_cap=5, rounds=9, batch=10**5, arity=8, charge=True)
    for market, most in ((auction, np.tanh(0.05) + 0.1), (replace(auction, reclear=0.0), np.tanh(0.05) + 0.05),
                         (SinkhornMatch(**common, charge=True, spread=0.02), np.tanh(0.05) + 0.02)):
        (promise,) = market.guarantees().of(Truthfulness)
        assert 0.5 * most < promise.gain <= most
        assert f"no lie gains more than {promise.gain:.4g} of value" in words(
            pages.offer_sections(replace(plan, market=market))).lower()


@pytest.mark.parametrize(("edit", "field", "says"), [
    (("highest = 100", "higest = 100"), "values.higest", "did you mean 'highest'"),
    (("highest = 100", "highest = 0"), "values.highest", "not above lowest"),
    (('scale = "points"', 'scale = "point"'), "values.scale", "did you mean 'points'"),
    (('scale = "points"\nhighest = 100', 'scale = "ranks"\npoints = [1, 2]'), "values.points[2]", "above"),
    (("supply = [25, 30, 30]", "supply = [25, 30]"), "goods.supply", "2 numbers for 3 goods"),
    (("supply = [25, 30, 30]", "supply = 0"), "goods.supply", "greater than or equal to 1"),
    (('"drawing"', '"algebra"'), "goods.names", "stands twice"),
    (('"drawing"', '" drawing"'), "goods.names", "padded"),
    (("supply = [25, 30, 30]", "suply = 30"), "goods.suply", "did you mean 'supply'"),
    (("supply = [25, 30, 30]", "supply = 30\ncount = 3"), "goods", "exactly one of names, count and table"),
    (("count = 120", "count = 0"), "people.count", "greater than or equal to 1"),
    (('id = "id"', 'id = "law"'), "people.id", "is also a good"),
    (('source = "wishes.csv"', 'source = "x.soc"'), "data", "belongs to files that end in"),
    (('source = "wishes.csv"', 'source = "wishes.csv"\nform = "log"'), "data.form", "wide"),
    (("epsilon = 60.0", "epsilon = 0"), "privacy.epsilon", "greater than 0"),
    (("failure_probability = 0.01", "failure_probability = 1"), "privacy.failure_probability", "less than 1"),
    (("failure_probability = 0.01", "failure_probabilty = 0.1"), "privacy.failure_probabilty",
     "did you mean 'failure_probability'"),
    (("increment = 0.25", "increment = 2.0"), "auction.increment", "less than or equal to 1"),
    (("increment = 0.25", "step = 2.0"), "auction.step", "is not a known key"),
    (('method = "auction"', 'method = "auktion"'), "auction.method", "did you mean 'auction'"),
    (('method = "auction"\n', ""), "auction.method", "is missing"),
    (('method = "auction"', 'method = "best"'), "auction.increment", "it belongs to method = 'auction'"),
    (('method = "auction"', 'method = "scaling"'), "auction.increment", "it belongs to method = 'auction'"),
    (("increment = 0.25", "start_temperature = 0.2"), "auction.start_temperature", "it belongs to method = 'scaling'"),
    (("increment = 0.25", "incremnt = 0.25"), "auction.incremnt", "did you mean 'increment'"),
    (("[privacy]", "[foo]"), "foo", "is not a known table; the nearest is 'goods' (known: auction, budget, data, "),
    (("[privacy]", "[privcy]"), "privcy", "is not a known table; did you mean 'privacy'?"),
    (("arity = 4", "reclear = 0.99"), "auction.reclear", "leaves nothing"),
], ids=lambda value: value[1] if isinstance(value, tuple) else "")
def test_bad_input_is_named(edit: tuple[str, str], field: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        campaign(tmp_path, edit).collect()
    assert caught.value.field == field
    assert says in str(caught.value)


@pytest.mark.parametrize(("edits", "says"), [
    ([("supply = [25, 30, 30]", "supply = 120")], "hand everybody her favourite"),
    ([("epsilon = 60.0", "epsilon = 1.0")], "goods handed out without asking anybody"),
    ([("failure_probability = 0.01", 'failure_probability = 0.01\non_overflow = "truncate"')], "costs a delta"),
    ([("arity = 4", 'law = "gaussian"')], "needs a delta"),
    ([("arity = 4", "reclear = 0.0\nreserve = 25")], "leaves nothing"),
])
def test_hopeless_plans_are_refused(edits: list[tuple[str, str]], says: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        campaign(tmp_path, *edits).plan  # noqa: B018
    assert says in str(caught.value)


def test_goods_by_count_and_by_table_are_the_same(tmp_path: Path) -> None:
    named = campaign(tmp_path, ('["algebra", "drawing", "law"]', '["1", "2", "3"]'))
    counted = campaign(tmp_path, ('names = ["algebra", "drawing", "law"]', "count = 3"))
    tabled = campaign(tmp_path, ('names = ["algebra", "drawing", "law"]\nsupply = [25, 30, 30]',
                                 'table = """\nname,supply\n1,25\n2,30\n3,30\n"""'))
    listed = [each.file.config.goods.listed() for each in (named, counted, tabled)]
    assert listed[0] == listed[1] == listed[2] == (("1", "2", "3"), (25, 30, 30))
    for table in ("name,copies\n1,2", "name,supply\n1", "name,supply\n1,0", "name,supply\n1,x", "name,supply",
                  'name,supply\n"1,2', "name,supply\n,3"):
        with pytest.raises(InvalidInput, match=r"goods\.table"):
            campaign(tmp_path, ('names = ["algebra", "drawing", "law"]\nsupply = [25, 30, 30]',
                                f'table = """{table}"""')).file.config.goods.listed()


def test_every_option_of_a_method_is_a_key_of_its_table() -> None:
    common = {"people", "goods", "supply", "epsilon", "delta", "certify_with", "failure_probability", "on_overflow",
              "neighbours"}
    for table, market in ((AuctionTable, PMatch), (ScalingTable, SinkhornMatch)):
        own = {each.name for each in fields(market) if each.init} - common
        assert set(table.model_fields) == own | {"method"}


def test_a_file_in_old_words_is_the_same_campaign(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for neighbours, old in (("replace", "substitution"), ("add_or_remove", "add_remove")):
        today = campaign(tmp_path, SCALING, ('method = "scaling"', 'method = "scaling"\nstart_temperature = 0.3\n'
                                             "end_temperature = 0.01"),
                         ("failure_probability", f'neighbours = "{neighbours}"\nfailure_probability')).file
        first = campaign(tmp_path / "old", SCALING, ('method = "scaling"', 'method = "scaling"\nhottest = 0.3\n'
                                                     "coolest = 0.01"),
                         ("failure_probability", f'neighbours = "{old}"\ngamma')).file
        assert first.config == today.config
        assert (today.config.privacy.neighbours, today.config.auction.start_temperature) == (neighbours, 0.3)
        assert first.digest == today.digest


def test_the_template_plans(tmp_path: Path) -> None:
    text = kind("matching").template
    (tmp_path / "matching.toml").write_text(text)
    plan = Campaign.load(tmp_path / "matching.toml").plan
    assert plan.prediction.share > plan.prediction.baseline
    assert plan.prediction.share == max(each.share for each in plan.others.values())
    assert tomllib.loads(text)["auction"] == {"method": "best"}


def test_a_good_with_the_name_of_the_ids_is_refused_before_any_file_is_looked_at(tmp_path: Path) -> None:
    for edit in (('"law"]', '"id"]'), ('id = "id"', 'id = "law"')):
        with pytest.raises(InvalidInput, match=r"people\.id: '(id|law)' is also a good"):
            campaign(tmp_path, edit)
    long = ('source = "wishes.csv"', 'source = "wishes.csv"\nform = "long"')  # goods are no columns there
    assert campaign(tmp_path, ('"law"]', '"id"]'), long).file.config.columns() == ("algebra", "drawing", "id")


def test_prices_are_charged_by_whichever_method_is_best(tmp_path: Path) -> None:
    best = (TEXT[TEXT.index('method = "auction"'):], 'method = "best"\ncharge = true\n')
    plan = campaign(tmp_path, best).plan
    assert isinstance(plan.market, SinkhornMatch)
    assert plan.market.charge
    assert "charging prices" in words(plan.sections())
    assert {name: made.share for name, made in plan.others.items()} == {
        name: predicted(kind_.for_budget(people=PEOPLE, goods=3, supply=(25, 30, 30), epsilon=60.0, charge=True),
                        plan.scale).share for name, kind_ in (("scaling", SinkhornMatch), ("auction", PMatch))}


def test_an_auction_that_charges_is_warned_of(tmp_path: Path) -> None:
    plan = campaign(tmp_path, *EDITS["charged"]).plan
    assert plan.others["scaling"].share > plan.prediction.share + 0.02
    assert (f"with prices charged, auction.method = 'scaling' is predicted at {plan.others['scaling'].share:.0%}, and "
            f"what is planned at {plan.prediction.share:.0%}") in words(plan.sections()).replace('"', "'")
    assert "with prices charged" not in words(campaign(tmp_path).plan.sections())


def test_the_plan_has_a_range_and_rules_of_thumb_beside_it(tmp_path: Path) -> None:
    plan = campaign(tmp_path).plan
    made, shown = plan.prediction, words(plan.sections())
    assert set(made.crowds) == {"A", "B"}
    assert made.span[0] < made.share < made.span[1]
    assert f"{made.share:.0%}; {made.span[0]:.1%} to {made.span[1]:.1%} in 6 runs" in shown
    assert "by a serial dictatorship, which is not private" in shown
    assert "by a lottery for everybody's favourite, which is not private" in shown
    told = plan.to_dict()
    assert told["predicted_range"] == list(made.span)
    assert told["beside"] == made.baselines
    ranked = predicted(plan.market, Ranks.borda(3))
    assert set(ranked.crowds) == {"prior"}
    assert 0.4 < ranked.baselines["a lottery for everybody's favourite"] < ranked.baselines["a serial dictatorship"] < 1


def test_refusals_name_what_would_do(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("epsilon = 60.0", "epsilon = 5.0"), SCALING)
    with pytest.raises(Refused) as whole:
        it.plan  # noqa: B018
    assert "at epsilon = 5 and 25 copies of a good SinkhornMatch does no better than goods handed out" in str(
        whole.value)
    assert "another [privacy] epsilon alone it would do only at a loss of over epsilon = 10" in str(whole.value)
    assert "[privacy] epsilon = " not in str(whole.value)
    with pytest.raises(Refused) as caught:  # the kind does not weigh how much is lost
        it.file.kind.plan(it.file.config)
    enough = float(caught.value.remedy.split()[3].rstrip(","))
    assert f"[privacy] epsilon = {enough:g}" in caught.value.remedy
    assert 5 < enough < 60
    plan = campaign(tmp_path, ("epsilon = 60.0", f"epsilon = {enough}"), SCALING).plan
    assert plan.prediction.worth_it


def test_a_delta_that_is_missing_is_named(tmp_path: Path) -> None:
    first, *others = EDITS["truncated"]
    cut = (first[0], first[1].replace("delta = 0.001\n", ""))
    with pytest.raises(Refused, match=r"costs a delta of .* and privacy\.delta is 0 \(add delta to \[privacy\] and to "
                                      r"\[budget\]"):
        campaign(tmp_path, cut).plan  # noqa: B018
    for given, says in (("", r"budget\.delta is 0 \(add delta = 0\.001 or more to \[budget\]"),
                        ("\ndelta = 0.01\nsubject_delta = 0.0", r"each subject of .* budget\.subject_delta is 0")):
        edits = [(old, new.replace("\ndelta = 0.01", given)) for old, new in others]
        with pytest.raises(BudgetExceeded, match=says):
            campaign(tmp_path, first, *edits).plan  # noqa: B018
    assert campaign(tmp_path, *EDITS["truncated"]).plan.market.delta == 0.001


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
    assert "price in points" in words(it.file.kind.result(it.plan, settled.outcome))
    assert Ranks(points=(10, 6, 3)).unit == 10
    assert replace(it.plan, scale=Points()).said(0.25) == "0.25"


# ---- predictions, studies, audits


def test_bounds_of_made_up_people_bracket_the_best() -> None:
    from scipy.optimize import linear_sum_assignment

    supply = (12, 20, 20)
    for scale in (Points(), Ranks.borda(3)):
        values = Valuations.of(made_up(80, 3, scale, seed=2), people=80, goods=3)
        columns = np.repeat(values.values.reshape(80, 3).astype(float), supply, axis=1)
        rows, chosen = linear_sum_assignment(columns, maximize=True)
        best = float(columns[rows, chosen].sum())
        assert best - 1e-6 <= most_welfare(values, supply) <= 1.05 * best
        assert lottery_welfare(values, supply) <= best
    ranked = made_up(5, 3, Ranks.borda(3), seed=1)
    assert np.sort(ranked, axis=1).tolist() == [pytest.approx([1 / 3, 2 / 3, 1])] * 5


def test_predictions_follow_what_people_are_asked_for(tmp_path: Path) -> None:
    plan = campaign(tmp_path).plan
    made = predicted(plan.market, plan.scale)
    assert made is plan.prediction
    assert made.baseline < made.share <= 1.0
    ranked = predicted(plan.market, Ranks(points=(1.0,)))  # who counts first places alone loses by every raffle
    assert ranked.baseline < made.baseline
    assert set(plan.others) == {"auction", "scaling"}


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
def test_audits_of_its_life_pass_and_flag_what_was_planted(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[method])
    (tmp_path / "wishes.csv").unlink()  # never touched
    report = audit_life(it.plan, 3)  # type: ignore[arg-type]
    assert isinstance(report, AuditReport)
    assert report.passed, report.problems
    assert len(report.rows) == len(report.controls) == 4


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auction", "scaling", "charged", "gaussian", "truncated"])
def test_whole_audits_hold_the_familys_rows_too(method: str, tmp_path: Path) -> None:
    it, told = campaign(tmp_path, *EDITS[method]), list[tuple[int, int | None]]()
    report = audit_plan(it.plan, 3, lambda done, total: told.append((done, total)))  # type: ignore[arg-type]
    assert report.passed, report.problems
    assert {"privacy: everything that others see, jointly", "privacy: her own walk along the billboard"} <= {
        row.promise for row in report.rows}
    assert any(control.planted_bug == "noise multiplied by 0.2" for control in report.controls)
    assert told[-1][0] == told[-1][1]


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
        code = guarded(partial(app, [str(each) for each in arguments]))
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

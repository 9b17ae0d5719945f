"""The kind `matching` before anything is run: its file, plan, offer, predictions, refusals."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from matching_campaigns import EDITS, PEOPLE, SCALING, TEXT, campaign, lines

from campaign.forging import words
from confide.allocation import PMatch, SinkhornMatch
from confide.allocation.crowds import lottery_welfare, most_welfare
from confide.allocation.expected import made_up, predicted
from confide.allocation.scales import Points, Ranks
from confide.allocation.valuations import Valuations
from confide.campaign import Campaign
from confide.campaign.kinds.allocation.config import AuctionTable, ScalingTable
from confide.contract import InvalidInput, Refused, kind
from confide.contract.errors import BudgetExceeded
from confide.contract.guarantees import Truthfulness


def test_the_plan_reads_public_parameters_alone(tmp_path: Path) -> None:
    plans = [campaign(tmp_path, data=data).plan for data in (lines(), lines()[:3])]
    (tmp_path / "wishes.csv").unlink()
    plans.append(Campaign.load(tmp_path / "courses.toml").plan)
    assert plans[0].to_dict() == plans[1].to_dict() == plans[2].to_dict()
    assert words(plans[0].sections()) == words(plans[2].sections())
    assert "E, largest error of any published count" in words(plans[0].sections())


def test_the_offer_says_who_learns_what(tmp_path: Path) -> None:
    offer = words(campaign(tmp_path).offer())
    assert "The person who hands you a good learns that it is yours" in offer
    assert "no promise about the gain from a false row" in offer
    charged = words(campaign(tmp_path, *EDITS["charged"]).offer())
    assert "You pay the final price" in charged
    assert "At epsilon = 200, the campaign makes no promise" in charged


def test_a_bound_on_lies_is_stated_where_it_says_something(tmp_path: Path) -> None:
    """Spec allocation 7, by total variation: the gain of the mechanism's own guarantee, where it is not vacuous."""
    plan, common = campaign(tmp_path).plan, {"people": 10**6, "goods": 3, "supply": 200_000, "epsilon": 0.1}
    auction = PMatch(**common, increment=0.05, bid_cap=5, rounds=9, batch=10**5, arity=8, charge=True)
    for market, most in ((auction, np.tanh(0.05) + 0.1), (replace(auction, reclear=0.0), np.tanh(0.05) + 0.05),
                         (SinkhornMatch(**common, charge=True, spread=0.02), np.tanh(0.05) + 0.02)):
        (promise,) = market.guarantees().of(Truthfulness)
        assert 0.5 * most < promise.gain <= most
        assert f"no lie gains more than {promise.gain:.4g} of value" in words(
            replace(plan, market=market).offer()).lower()


@pytest.mark.parametrize(("edit", "field", "says"), [
    (("highest = 100", "higest = 100"), "values.higest", "did you mean 'highest'"),
    (("highest = 100", "highest = 0"), "values.highest", "not above lowest"),
    (('scale = "points"', 'scale = "point"'), "values.scale", "did you mean 'points'"),
    (('scale = "points"\nhighest = 100', 'scale = "ranks"\npoints = [1, 2]'), "values.points[2]", "above"),
    (("supply = [25, 30, 30]", "supply = [25, 30]"), "goods.supply", "2 numbers for 3 goods"),
    (("supply = [25, 30, 30]", "supply = 0"), "goods.supply", "greater than or equal to 1"),
    (('"drawing"', '"algebra"'), "goods.names", "is the name of two goods"),
    (('"drawing"', '" drawing"'), "goods.names", "has spaces around it"),
    (("supply = [25, 30, 30]", "suply = 30"), "goods.suply", "did you mean 'supply'"),
    (("supply = [25, 30, 30]", "supply = 30\ncount = 3"), "goods", "exactly one of names, count and table"),
    (("count = 120", "count = 0"), "people.count", "greater than or equal to 1"),
    (('id = "id"', 'id = "law"'), "people.id", "is also the name of a good"),
    (('source = "wishes.csv"', 'source = "x.soc"'), "data", "for files that end in"),
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
    (("arity = 4", "reclear = 0.99"), "auction.reclear", "leaves no epsilon"),
], ids=lambda value: value[1] if isinstance(value, tuple) else "")
def test_bad_input_is_named(edit: tuple[str, str], field: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        campaign(tmp_path, edit).collect()
    assert caught.value.field == field
    assert says in str(caught.value)


@pytest.mark.parametrize(("edits", "says"), [
    ([("supply = [25, 30, 30]", "supply = 120")], "give everybody their favourite good"),
    ([("epsilon = 60.0", "epsilon = 1.0")], "goods assigned without any reports"),
    ([("failure_probability = 0.01", 'failure_probability = 0.01\non_overflow = "truncate"')], "costs a delta"),
    ([("arity = 4", 'law = "gaussian"')], "needs a delta"),
    ([("arity = 4", "reclear = 0.0\nreserve = 25")], "uses up all"),
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
        with pytest.raises(InvalidInput, match=r"people\.id: '(id|law)' is also the name of a good"):
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
    assert (f"auction.method = 'scaling' has a predicted welfare of {plan.others['scaling'].share:.0%}, and the "
            f"planned method {plan.prediction.share:.0%}") in words(plan.sections()).replace('"', "'")
    assert "both with charged prices" not in words(campaign(tmp_path).plan.sections())


def test_the_plan_has_a_range_and_rules_of_thumb_beside_it(tmp_path: Path) -> None:
    plan = campaign(tmp_path).plan
    made, shown = plan.prediction, words(plan.sections())
    assert set(made.crowds) == {"A", "B"}
    assert made.span[0] < made.share < made.span[1]
    assert f"{made.share:.0%}; {made.span[0]:.1%} to {made.span[1]:.1%} in 6 runs" in shown
    assert "by a serial dictatorship, which is not private" in shown
    assert "by a lottery for everybody's favourite, which is not private" in shown
    reported = plan.to_dict()
    assert reported["predicted_range"] == list(made.span)
    assert reported["baselines"] == made.baselines
    ranked = predicted(plan.market, Ranks.borda(3))
    assert set(ranked.crowds) == {"prior"}
    assert 0.4 < ranked.baselines["a lottery for everybody's favourite"] < ranked.baselines["a serial dictatorship"] < 1


def test_refusals_name_what_would_do(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("epsilon = 60.0", "epsilon = 5.0"), SCALING)
    with pytest.raises(Refused) as whole:
        it.plan  # noqa: B018
    assert ("at epsilon = 5 and 25 copies of the scarcest good, the method 'scaling' of [auction] is not better than "
            "goods assigned") in str(whole.value)
    assert "If only [privacy] epsilon changes, the campaign is possible only with a loss above epsilon = 10" in str(
        whole.value)
    assert "[privacy] epsilon = " not in str(whole.value)
    with pytest.raises(Refused) as caught:  # the kind does not weigh how much is lost
        it.file.kind.plan(it.file.config)
    enough = float(caught.value.remedy.split()[3].rstrip(","))
    assert f"[privacy] epsilon = {enough:g}" in caught.value.remedy
    assert 5 < enough < 60
    plan = campaign(tmp_path, ("epsilon = 60.0", f"epsilon = {enough}"), SCALING).plan
    assert plan.prediction.worth_it


def test_a_failure_probability_that_would_do_is_a_key_of_the_file(tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS["truncated"], ("1e-90", "1e-80"))
    with pytest.raises(Refused, match=r"\[privacy\] failure_probability = 1\.383e-90"):
        it.file.kind.plan(it.file.config)


def test_a_delta_that_is_missing_is_named(tmp_path: Path) -> None:
    first, *others = EDITS["truncated"]
    cut = (first[0], first[1].replace("delta = 0.001\n", ""))
    with pytest.raises(Refused, match=r"costs a delta of .* but privacy\.delta is 0 \(add delta to \[privacy\] and to "
                                      r"\[budget\]"):
        campaign(tmp_path, cut).plan  # noqa: B018
    for given, says in (("", r"budget\.delta is 0 \(add delta = 0\.001 or more to \[budget\]"),
                        ("\ndelta = 0.01\nsubject_delta = 0.0", r"each subject of .* budget\.subject_delta is 0")):
        edits = [(old, new.replace("\ndelta = 0.01", given)) for old, new in others]
        with pytest.raises(BudgetExceeded, match=says):
            campaign(tmp_path, first, *edits).plan  # noqa: B018
    assert campaign(tmp_path, *EDITS["truncated"]).plan.market.delta == 0.001


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

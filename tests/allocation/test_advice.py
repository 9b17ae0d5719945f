"""`plan`: advice from public sizes, with predictions that come true."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cases import fast
from confide.allocation import PMatch, SinkhornMatch, Valuations, instance_a, instance_b
from confide.allocation.baselines import lottery, serial_dictatorship
from confide.allocation.planning import UNASKED, hopeless, least_epsilon, plan, worth_it
from confide.allocation.predicted import (
    LOTTERY,
    SERIAL,
    CrowdPrediction,
    made_up,
    predicted,
    reduced,
    share_of_people_alike,
    upper_bound,
)
from confide.contract import ConfideDeprecationWarning
from confide.contract.errors import InvalidInput, Refused
from confide.contract.plan import Plan, Predicted
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator


def test_a_plan_says_what_to_expect():
    found = plan(2000, 8, 200, epsilon=4.0)
    assert isinstance(found.mechanism, SinkhornMatch)
    assert set(found.crowds) == {"A", "B"} == set(found.passed_over)
    assert 0.85 < found.share < 1.0
    assert found.share > np.mean([one.welfare for one in found.passed_over.values()])
    assert all(0.4 < one.baseline < one.welfare and 0 < one.certificate < one.welfare for one in found.crowds.values())
    assert 0 < found.reserve < 100
    assert 0 < found.error < 200
    assert found.draws == 8 * (found.mechanism.rounds + 1) + 2
    assert found.seconds > found.draws * 8e-6
    assert found.megabytes > 4 * 2000 * 8 / 1e6
    reported = found.to_dict()
    assert json.loads(json.dumps(reported)) == reported
    assert reported["mechanism"] == "SinkhornMatch"
    text = " ".join(found.sentences())
    assert "not a promise" in text
    assert "the predicted welfare of PMatch is" in text
    assert "epsilon = 4" in text


def test_predictions_draw_several_sets_of_bidders_each_with_its_baseline():
    one = SinkhornMatch.for_budget(people=2000, goods=8, supply=200, epsilon=4.0)
    apart = [predicted(one, runs=1, seed=seed) for seed in (1, 2, 3)]
    for name, make in (("A", instance_a), ("B", instance_b)):
        found = predicted(one)[name]
        shares = [each[name].welfare for each in apart]
        assert (found.runs, found.lowest, found.highest) == (3, min(shares), max(shares))
        assert found.welfare == pytest.approx(np.mean(shares))
        assert found.lowest < found.welfare < found.highest
        table = make(2000, 8, seed=2)
        most = upper_bound(Valuations.of(table, people=2000, goods=8), one.copies)
        assert apart[1][name].baselines == pytest.approx({
            LOTTERY: lottery(table, 200, seed=2).welfare / most,
            SERIAL: serial_dictatorship(table, 200, seed=2).welfare / most})
        assert found.baseline == pytest.approx(np.mean([each[name].baseline for each in apart]))
        assert found.baselines[LOTTERY] < found.baselines[SERIAL] < 1
    advised = plan(2000, 8, 200, epsilon=4.0)
    assert advised.span == (min(each.lowest for each in advised.crowds.values()),
                            max(each.highest for each in advised.crowds.values()))
    text = " ".join(advised.sentences())
    assert f"({advised.crowds['A'].lowest:.3f} to {advised.crowds['A'].highest:.3f}) on bidders of kind A" in text
    assert ("in populations of kind B, goods assigned without any reports reach "
            f"{advised.crowds['B'].baseline:.2f}") in text
    assert f"a serial dictatorship {advised.crowds['B'].baselines[SERIAL]:.2f}, which are not private" in text


def test_each_kind_of_bidders_is_compared_with_its_own_baseline():
    common = {"certificate": None, "baselines": {}, "runs": 1, "people": 10, "goods": 2}
    below = CrowdPrediction(welfare=0.63, lowest=0.6, highest=0.66, baseline=0.65, **common)
    above = CrowdPrediction(welfare=0.70, lowest=0.7, highest=0.7, baseline=0.56, **common)
    assert above.welfare + below.welfare > above.baseline + below.baseline  # their means would pass
    assert worth_it({"A": above, "B": above})
    assert not worth_it({"A": below, "B": above})
    one = SinkhornMatch(people=10, goods=2, supply=(3, 2), epsilon=0.5)
    reported = hopeless(one, {"A": below, "B": above}, 61.01, "other ways")
    assert "at epsilon = 0.5 and 2 copies of the scarcest good, SinkhornMatch is not better" in reported.reason
    assert "people is 0.63 of the optimum. Without any reports, the predicted welfare" in reported.reason
    assert reported.reason.endswith("is 0.65 of the optimum")
    assert reported.remedy == ("an epsilon of 61.01, or 245 copies of each good that has 2 now, 367 of each good that "
                               "has 3 now, with the number of bidders multiplied by the same factor (untested), or "
                               "other ways")
    assert hopeless(one, {"A": below}, np.inf, "x").remedy == ("no epsilon is enough: offer more copies of the goods, "
                                                               "or x")


def test_a_sufficient_number_is_sufficient_for_every_set_of_bidders():
    common = {"certificate": None, "baselines": {}, "people": 10, "goods": 2, "baseline": 0.5}

    def at(epsilon: float, runs: int) -> dict[str, CrowdPrediction]:
        if epsilon < 0.3:
            raise Refused("too little")
        welfare = 0.6 if epsilon > (1.0 if runs == 1 else 1.5) else 0.4
        return {"A": CrowdPrediction(welfare=welfare, lowest=welfare, highest=welfare, runs=runs, **common)}

    assert 1.5 < least_epsilon(at, 0.01, 3) < 1.66
    assert least_epsilon(lambda epsilon, runs: at(0.5, runs), 0.01, 3) == np.inf


def test_an_auction_that_charges_is_shown_beside_the_other_method():
    found = plan(2000, 8, 400, epsilon=4.0, mechanism="pmatch", charge=True)
    assert isinstance(found.mechanism, PMatch)
    other = SinkhornMatch.for_budget(people=2000, goods=8, supply=400, epsilon=4.0, charge=True)
    assert found.passed_over == predicted(other)
    share = np.mean([each.welfare for each in predicted(other).values()])
    assert share > found.share + 0.02
    assert (f"the predicted welfare of SinkhornMatch is {share:.2f}, with charged prices, too: use it "
            "instead") in found.sentences()


@pytest.mark.slow
def test_an_auction_that_charges_too_dearly_is_refused():
    with pytest.raises(Refused, match=r"an epsilon of .* or SinkhornMatch, with a predicted welfare of 0\.8"):
        plan(2000, 8, 200, epsilon=1.0, mechanism="pmatch", charge=True)


@pytest.mark.slow
def test_options_of_one_mechanism_leave_no_choice():
    found = plan(2000, 8, 200, epsilon=8.0, halting="published")
    assert isinstance(found.mechanism, PMatch)
    assert found.mechanism.halting == "published"
    assert not found.passed_over
    assert found.draws == 8 * found.mechanism.counter.horizon + 8 * 8 + 2
    assert isinstance(plan(2000, 8, 200, epsilon=8.0, mechanism="pmatch").mechanism, PMatch)
    assert isinstance(plan(2000, 8, 200, epsilon=8.0, rounds=12, end_temperature=0.01).mechanism, SinkhornMatch)


def test_prices_that_are_charged_cost_no_welfare():
    found = plan(2000, 8, 200, epsilon=4.0, charge=True)
    assert isinstance(found.mechanism, SinkhornMatch)
    assert found.mechanism.charge
    assert found.share > 0.9 > 0.1 + np.mean([one.welfare for one in found.passed_over.values()])


def test_options_reach_the_mechanism():
    found = plan(2000, 8, 200, epsilon=4.0, failure_probability=1e-4, neighbours="add_or_remove", certify_with=0.0)
    assert (found.mechanism.failure_probability, found.mechanism.neighbours) == (1e-4, "add_or_remove")
    assert found.crowds["A"].certificate is None
    assert found.reserve > plan(2000, 8, 200, epsilon=4.0, neighbours="add_or_remove", certify_with=0.0).reserve


def test_a_table_that_names_few_goods_is_smaller():
    wide, sparse = plan(2000, 10, 160, epsilon=4.0), plan(2000, 10, 160, epsilon=4.0, named=3)
    assert sparse.megabytes < wide.megabytes
    assert sparse.seconds < wide.seconds


def test_plenty_needs_no_simulation():
    found = plan(500, 4, 500, epsilon=0.001)
    assert found.crowds == {}
    assert found.draws == 0
    assert found.share == 1.0
    assert "favourite" in found.sentences()[-1]
    json.dumps(found.to_dict())


@pytest.mark.parametrize(("mechanism", "epsilon"), fast(1, [("any", 0.1), ("pmatch", 0.2)]))
def test_hopeless_sizes_are_refused_with_what_would_do(mechanism, epsilon):
    with pytest.raises(Refused) as caught:
        plan(2000, 8, 200, epsilon=epsilon, mechanism=mechanism)
    enough = float(caught.value.remedy.split()[3].rstrip(","))
    assert "without any reports" in caught.value.reason
    assert "copies" in caught.value.remedy
    assert epsilon < enough < 20 * epsilon
    assert plan(2000, 8, 200, epsilon=1.1 * enough, mechanism=mechanism).share > 0.55


def test_a_prior_of_ones_own():
    draw = study_generator(1, "rows")
    prior = draw.random((50, 6)) ** 3
    found = plan(3000, 6, 400, epsilon=2.0, prior=prior)
    assert set(found.crowds) == {"prior"}
    assert 0.5 < found.share < 1
    values = made_up(200, 6, prior)["prior"]
    assert {tuple(row) for row in values.values.reshape(200, 6)} <= {tuple(row) for row in prior}


@pytest.mark.parametrize(("prior", "problem"), [(np.full((3, 5), 0.5), "shape"), (np.full(6, 0.5), "shape"),
                                                (np.empty((0, 6)), "shape"), (np.zeros((4, 6)), "no value for anybody"),
                                                (np.full((3, 6), 1.5), "row")])
def test_priors_that_cannot_be_used(prior, problem):
    with pytest.raises(InvalidInput, match=problem):
        plan(3000, 6, 400, epsilon=2.0, prior=prior)


def test_bad_arguments():
    for arguments, options in (((0, 6, 4, 1.0), {}), ((30, 6, 4, -1.0), {}), ((30, 6, 0, 1.0), {}),
                               ((30, 6, 4, 1.0), {"mechanism": "other"}), ((30, 6, 4, 1.0), {"runs": 0}),
                               ((300, 6, 40, 9.0), {"named": 0}), ((30, 6, 4, 1.0), {"alpha": 0.3}),
                               ((30, 6, 4, 1.0), {"halting": "bids", "mechanism": "sinkhorn"}),
                               ((30, 6, 4, 1.0), {"halting": "bids", "start_temperature": 0.2})):
        with pytest.raises(InvalidInput):
            plan(*arguments[:3], epsilon=arguments[3], **options)


def test_smaller_markets_keep_what_counts():
    one = PMatch.for_budget(people=2_000_000, goods=80, supply=20_000, epsilon=1.0)
    small = reduced(one)
    assert small.people * small.goods <= 4_100_000
    assert small.goods == 50
    assert small.copies[0] * small.epsilon == pytest.approx(20_000, rel=0.01)
    assert small.failure_probability / small.goods == pytest.approx(one.failure_probability / one.goods)
    assert small.people / (small.copies[0] * small.goods) == pytest.approx(2_000_000 / (20_000 * 80), rel=0.01)
    assert small.counter.horizon == pytest.approx(one.counter.horizon * 50 / 80, rel=0.02)
    assert reduced(one, goods=False).goods == 80
    assert reduced(small) == small
    gaussian = PMatch.for_budget(people=2_000_000, goods=20, supply=20_000, epsilon=1.0, law="gaussian", delta=1e-6)
    less = reduced(gaussian)
    assert less.clearing.measure.scale / less.copies[0] == pytest.approx(
        gaussian.clearing.measure.scale / gaussian.copies[0], rel=0.01)
    uneven = reduced(SinkhornMatch(people=300_000, goods=60, supply=tuple(range(1000, 1060)), epsilon=1.0))
    assert uneven.goods == 50
    assert uneven.copies[0] < uneven.copies[-1]


def test_the_upper_bound_is_one_and_near():
    from scipy.optimize import linear_sum_assignment

    table = instance_b(300, 6, seed=3)
    values = Valuations.of(table, people=300, goods=6)
    wide = np.repeat(table, 40, axis=1)
    best = wide[linear_sum_assignment(-wide)].sum()
    assert best * (1 - 1e-6) <= upper_bound(values, (40,) * 6) <= 1.01 * best


@pytest.mark.parametrize(("kind", "people", "goods", "supply", "epsilon"), fast(0, [
    (SinkhornMatch, 300_000, 40, 6000, 0.5), (PMatch, 300_000, 40, 6000, 0.5), (SinkhornMatch, 100_000, 100, 800, 1.0),
    (PMatch, 100_000, 100, 800, 1.0), (PMatch, 100_000, 100, 800, 4.0), (SinkhornMatch, 1_000_000, 10, 80_000, 0.05)]))
def test_predictions_come_true(kind, people, goods, supply, epsilon):
    one = kind.for_budget(people=people, goods=goods, supply=supply, epsilon=epsilon)
    for name, make in (("A", instance_a), ("B", instance_b)):
        values = Valuations.of(make(people, goods, seed=9), people=people, goods=goods)
        found = one.run(values, Noise.simulated(9)).diagnostics["welfare"] / upper_bound(values, one.copies)
        assert predicted(one)[name].welfare == pytest.approx(found, abs=0.03)


@pytest.mark.slow
def test_even_mechanisms_are_distinguished_by_people_who_are_all_alike() -> None:
    """PMatch asks in lumps of half a supply, and its last cut leaves a lump behind where nobody's bids differ."""
    assert share_of_people_alike(PMatch.for_budget(people=3000, goods=5, supply=600,
                                                   epsilon=1.0)) < 0.7 < 0.85 < share_of_people_alike(
        SinkhornMatch.for_budget(people=3000, goods=5, supply=600, epsilon=1.0))
    even = plan(2000, 4, 400, epsilon=200.0)
    assert isinstance(even.mechanism, SinkhornMatch)
    passed = np.mean([one.welfare for one in even.passed_over.values()])
    assert even.share < passed < even.share + 0.02
    assert any(f"welfare is {even.alike:.2f} if everybody has the same values" in said for said in even.sentences())
    better = plan(300, 4, 50, epsilon=300.0)  # by far more than that
    assert isinstance(better.mechanism, PMatch)
    assert better.to_dict()["alike"] == better.alike < 0.7


def test_a_plan_is_what_every_family_gives():
    """Figures with units first to choose by, every other method with its figures or a reason, a frame and a picture."""
    found = plan(2000, 8, 200, epsilon=4.0)
    assert isinstance(found, Plan)
    assert found.guarantees == found.mechanism.guarantees()
    name, welfare = next(iter(found.predicted.items()))
    assert (name, welfare) == ("welfare", Predicted(found.share, "share of the optimum", "simulated"))
    assert found.predicted["worst run"].value <= found.share <= found.predicted["best run"].value
    assert found.predicted["error of a count"] == Predicted(found.error, "people", "bound")
    others = {one.name: one for one in found.alternatives}
    assert set(others) == {"PMatch", UNASKED, LOTTERY, SERIAL}
    assert others["PMatch"].predicted["welfare"].value == pytest.approx(
        np.mean([one.welfare for one in found.passed_over.values()]))
    assert [others[name].refused for name in ("PMatch", UNASKED, SERIAL)] == ["predicted lower"] * 2 + ["not private"]
    shares = [one.predicted["welfare"].value for one in found.alternatives]
    assert shares == sorted(shares, reverse=True)
    frame = found.to_pandas()
    assert list(frame["method"]) == ["SinkhornMatch", *(one.name for one in found.alternatives)]
    assert frame["welfare (share of the optimum)"][0] == found.share
    picture = found.plot()
    drawn = picture.spec["data"]["values"]
    assert [each["label"] for each in drawn] == ["SinkhornMatch", *(one.name for one in found.alternatives)]
    assert drawn[0]["low"] <= drawn[0]["value"] == found.share <= drawn[0]["high"]
    assert picture.alt.startswith(f"Predicted welfare as a share of the optimum: SinkhornMatch {found.share:.2f}; ")
    assert found.warnings == ()
    html = found._repr_html_()
    assert "SinkhornMatch" in html
    assert "not private" in html
    with pytest.warns(ConfideDeprecationWarning, match=r"predicted\['A'\]. is called"):
        assert found.predicted["A"] is found.crowds["A"]  # its old name
    with pytest.raises(KeyError):
        found.predicted["C"]


def test_alternatives_say_why_they_cannot_run():
    for options, reason in (({"mechanism": "pmatch"}, "mechanism = 'pmatch'"),
                            ({"halting": "published"}, "the method lacks an option")):
        found = plan(2000, 8, 200, epsilon=8.0, **options)
        assert {one.name: one.refused for one in found.alternatives}["SinkhornMatch"] == f"not tried, because {reason}"
    plenty = plan(500, 4, 500, epsilon=0.001)
    assert [(one.name, one.refused) for one in plenty.alternatives] == [
        ("PMatch", "there is a copy of every good for everybody")]
    assert plenty.predicted["welfare"] == Predicted(1.0, "share of the optimum", "exact")


def test_a_plan_warns_of_charging_dearly():
    (warning,) = plan(2000, 8, 400, epsilon=4.0, mechanism="pmatch", charge=True).warnings
    assert "the predicted welfare of SinkhornMatch is" in warning
    assert warning.endswith("use SinkhornMatch")


def test_a_plan_has_a_delta():
    found = plan(2000, 8, 200, epsilon=8.0, delta=1e-6, on_overflow="truncate", failure_probability=1e-10)
    assert (found.mechanism.delta, found.mechanism.on_overflow) == (1e-6, "truncate")

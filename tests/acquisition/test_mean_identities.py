"""What second identities gain where a mean is bought: against each person's own offer, and against the lattice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from campaign.forging import words
from cases import fast
from confide.acquisition import TwoPartMechanism, UniformPrior
from confide.acquisition.incentives import _rents, second_identities
from people.all_kinds import campaign_of

FEW = TwoPartMechanism(people=40, prior=UniformPrior(), mse_price=400.0, price_per_nat=3.0)


def test_rents_are_what_offers_are_worth() -> None:
    """utility(c) of each offer, which the payment rule works out person by person."""
    reports = np.random.default_rng(5).uniform(0.05, 0.95, FEW.people)
    contracts = FEW.contracts(reports)
    rents = _rents(FEW, contracts, reports)
    payments = FEW.payment_rule.pay(reports)
    for person in payments.solution.winners.tolist():
        offer = payments.offer(person)
        assert rents[person] == pytest.approx(FEW.price_per_nat * offer.utility(float(reports[person])), rel=1e-9)
    assert (rents >= -1e-12).all()
    assert rents.max() > 0


@pytest.mark.slow
def test_a_second_identity_nearly_doubles_the_rent() -> None:
    plan = campaign_of("mean").plan
    found = plan.identities
    assert found is not None
    assert found.rent > 0
    assert 0.97 < found.adds < 1.0
    assert found.made_up > found.rent  # its record costs nothing
    assert found.gain > 1.06  # with the same report it would be .94
    said = words(plan.sections())
    assert "Second identities and agreements" in said
    assert f"{found.adds:.1%}" in said
    assert found.gain > found.made_up - found.rent
    assert found.gain == pytest.approx(found.made_up, rel=0.05)  # the first id keeps nearly all of its own rent
    assert f"A person with 2 ids gains {plan.money(found.gain)} more than with one id" in said
    assert "an invented record, which costs no privacy, and gives the best-paid report" in said
    assert "true record" not in said


CAPPED = TwoPartMechanism(people=60, prior=UniformPrior(high=0.8), mse_price=40.0, price_per_nat=0.5,
                          largest_local_loss=3.0)


@pytest.mark.slow
@pytest.mark.parametrize("it", fast(2, [FEW, CAPPED, replace(FEW, people=3)]), ids=["few", "capped", "three"])
def test_no_pair_of_reports_gains_more_with_two_ids(it: TwoPartMechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a grid of both reports, and of the sensitivity of an honest owner, over the same profiles."""
    from confide.acquisition import incentives as module
    from confide.acquisition.priors import prior_draws

    monkeypatch.setattr(module, "_MOST", 4)
    found = second_identities(it, 0.1)
    assert found is not None
    many, price = 6, it.price_per_nat
    grid = np.linspace(*it.rules[0].support, many)
    one, two, cheap, dear = (np.zeros(shape) for shape in (many, (many, many), many, (many, many)))
    profiles = [reports for reports, _ in prior_draws(it.prior, it.people, 4, 0, stream="identities")]
    assert found.draws == 4
    for reports in profiles:
        owner = int(it.contracts(reports).solution.winners[0])
        second = (owner + 1) % it.people
        for i, x in enumerate(grid):
            for j, y in enumerate([None, *grid]):
                changed = reports.copy()
                changed[owner] = x
                changed[second] = reports[second] if y is None else y
                made = it.contracts(changed)
                local, central = made.solution.epsilon_local[owner], made.solution.epsilon_central[owner]
                asked = owner in made.solution.winners
                cost = price * float(x * local + (1.0 - x) * central) if asked else 0.0
                money = made.exact[owner] + (0.0 if y is None else made.exact[second])
                if y is None:
                    one[i], cheap[i] = one[i] + money / 4, cheap[i] + (money - cost) / 4
                else:
                    two[i, j - 1], dear[i, j - 1] = two[i, j - 1] + money / 4, dear[i, j - 1] + (money - cost) / 4
    most = max(float(two.max() - one.max()), float((dear - cheap[:, None]).max()))
    assert most <= (1.0 + 1e-9) * found.gain
    assert found.gain <= 1.2 * most


def test_so_many_identities_move_the_mean_by_its_standard_error_and_fewer_do_not() -> None:
    """By the whole numbers in which records are weighed: the mean is sum(steps x)/sum(steps)."""
    it = campaign_of("mean").plan.mechanism
    plan = campaign_of("mean").plan
    found, error = plan.identities, plan.here.root_error
    assert found is not None
    assert found.deciding is not None
    from confide.acquisition.incentives import _MOST, _tried
    from confide.acquisition.priors import prior_draws

    reports = next(iter(prior_draws(it.prior, it.people, _MOST, 0, stream="identities")))[0]

    def moved(size: int) -> float:
        best = 0.0
        for report in _tried(it, 0, reports).tolist():
            changed = reports.copy()
            changed[:size] = report
            lattice = it.contracts(changed).lattice
            mine = np.isin(lattice.index, np.arange(size))
            best = max(best, float(lattice.steps[mine].sum()) / float(lattice.steps.sum()))
        return best * it.width

    assert moved(found.deciding) >= 0.98 * error
    assert moved(found.deciding - 2) < error


@pytest.mark.slow
def test_two_can_gain_where_one_cannot() -> None:
    """One member reports something else: she loses, the others gain, and together they are paid a coin more."""
    found = second_identities(replace(FEW, minor_units=100), 0.1)
    assert found is not None
    assert found.group is not None
    assert 2 <= found.group <= FEW.people
    assert found.group_gain >= 0.01
    coarse = second_identities(replace(FEW, minor_units=1), 0.1)
    assert coarse is not None
    assert (coarse.group is None or coarse.group >= found.group)


def test_a_single_person_has_no_second_identity() -> None:
    assert second_identities(TwoPartMechanism(people=1, prior=UniformPrior(), mse_price=40.0), 0.1) is None

"""What is warned of as hiding next to nothing: at the same guess for every notion, the least promise counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from confide.contract import Audience, Privacy, Relation, Source
from confide.contract.guarantees import PrivacyLoss
from confide.contract.kinds import kind, kind_names
from confide.privacy.hiding import NEXT_TO_NOTHING, guess_at, hides_next_to_nothing
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

EDGE = 1.0 / (1.0 + math.exp(-NEXT_TO_NOTHING))


def promised(loss: PrivacyLoss, audience: Audience = Audience.PUBLIC, part: str = "the whole outcome",
             neighbours: Relation = Relation.REPLACE) -> Privacy:
    return Privacy(loss=loss, neighbours=neighbours, audience=audience, part=part,
                   source=Source(document="confide", statement="test"))


@pytest.mark.parametrize(("loss", "warned"), [
    (PureDP(10.0), False), (PureDP(10.001), True), (PureDP(1000.5), True), (ApproxDP(9.0, 1e-6), False),
    (ApproxDP(9.0, 0.5), False), (ApproxDP(1.0, 0.9999), True), (GDP(7.82), False), (GDP(7.84), True),
    (ZCDP(9.9), False), (ZCDP(10.1), True), (RenyiDP(2.0, 9.9), False), (RenyiDP(2.0, 10.1), True),
    (PureDP(math.inf), False),  # says so itself: it is vacuous
])
def test_the_line_is_the_same_guess_for_every_notion(loss: PrivacyLoss, warned: bool) -> None:
    assert bool(hides_next_to_nothing([promised(loss)])) is warned
    if not loss.vacuous:
        assert (guess_at(loss) > EDGE) is warned


def test_a_guess_bound_of_a_divergence_covers_gaussian_noise() -> None:
    for mu in np.linspace(0.0, 8.0, 50):
        exact = float(ndtr(mu / 2.0))
        assert guess_at(GDP(mu)) == pytest.approx(exact)
        assert guess_at(ZCDP(mu**2 / 2.0)) >= exact - 1e-12
        assert guess_at(RenyiDP(1.5, 1.5 * mu**2 / 2.0)) >= exact - 1e-12


def test_a_guess_bound_of_a_divergence_is_attained_by_randomised_response() -> None:
    """No sharper one follows from a divergence both ways: a response of level x has x tanh(x/2)."""
    for level in (0.01, 0.5, 2.0, 6.0, 12.0):
        keep = 1.0 / (1.0 + math.exp(-level))
        law = np.array([keep, 1.0 - keep])
        divergence = float((law * np.log(law / law[::-1])).sum())
        assert guess_at(ZCDP(divergence)) == pytest.approx(keep, rel=1e-9)
    laws = np.random.default_rng(3).dirichlet(np.full(3, 0.4), size=(4000, 2)) + 1e-9  # and none is above it
    ones, others = laws[:, 0], laws[:, 1]
    most = np.maximum((ones * np.log(ones / others)).sum(axis=1), (others * np.log(others / ones)).sum(axis=1))
    right = np.maximum(ones, others).sum(axis=1) / (ones + others).sum(axis=1)
    assert all(each <= guess_at(ZCDP(float(rho))) + 1e-8 for each, rho in zip(right, most, strict=True))
    assert float(right.max()) > 0.9


@pytest.mark.parametrize(("neighbours", "known"), [
    (Relation.REPLACE, "that a person's record is one of two possible records"),
    (Relation.ADD_OR_REMOVE, "that the data hold a given record of a person, or no record of this person"),
    (Relation.EDGES_OF_ONE, "that a person's contacts are one of two possible sets"),
    (Relation.BIT, "that a person's answer is yes or no")])
def test_a_warning_says_between_what_the_guess_is(neighbours: Relation, known: str) -> None:
    (said,) = hides_next_to_nothing([promised(PureDP(20.0), neighbours=neighbours)])
    assert f"somebody knows {known}, and thinks at first that both are equally likely" in said


def test_the_least_promise_of_a_part_counts_and_one_line_for_each_audience_is_enough() -> None:
    assert not hides_next_to_nothing([promised(PureDP(30.0)), promised(ApproxDP(2.0, 1e-6))])
    found = hides_next_to_nothing([
        promised(PureDP(30.0)), promised(PureDP(20.0), part="the release"), promised(PureDP(1.0), part="the payments"),
        promised(PureDP(25.0), Audience.OTHERS)])
    assert len(found) == 2
    assert found[0].startswith("the promise of privacy towards the public, for everything that is published, is "
                               "epsilon = 30. Such a promise hides hardly anything about a person. ")
    assert found[1].startswith("the promise of privacy towards all other people together, for everything that they get "
                               "and see, is epsilon = 25. ")


def test_a_smaller_loss_of_the_mechanism_counts() -> None:
    given = [promised(ApproxDP(20.0, 1e-3))]
    assert hides_next_to_nothing(given, lambda audience: 1.0) == hides_next_to_nothing(given)
    assert not hides_next_to_nothing(given, lambda audience: 0.979)
    (said,) = hides_next_to_nothing([promised(PureDP(20.0))], lambda audience: 0.99999)
    assert said.endswith("may guess right in 99.999% of all cases")


@pytest.mark.parametrize("name", kind_names())
def test_no_template_is_warned_of(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    from confide.campaign import Campaign

    path = tmp_path_factory.mktemp("kinds") / f"{name}.toml"
    path.write_text(kind(name).template)
    assert not hides_next_to_nothing(Campaign.load(path).plan.guarantees.privacy)

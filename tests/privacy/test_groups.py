"""What groups lose: from the mechanism's own loss, attained where that can be shown, and never the naive sum."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaign.forging import words
from cases import few
from confide.campaign import Campaign
from confide.contract import Audience, Guarantees, Mechanism, Privacy, Relation, Source
from confide.contract.kinds import kind
from confide.contract.words import percent
from confide.privacy import (
    GDP,
    ZCDP,
    ApproxDP,
    ApproxEvent,
    BoundedRangeEvent,
    GDPEvent,
    PureDP,
    PureEvent,
    RandomizedResponseEvent,
    RenyiDP,
    ZCDPEvent,
    hockey_stick,
)
from confide.privacy.groups import (
    SIZES,
    group_event,
    group_loss,
    group_losses,
    groups_section,
    guess_in_words,
    right_at_most,
)
from confide.search import PTarget
from people.all_kinds import KINDS

SOURCE = Source(document="a", statement="b")
REPLACED = Relation.REPLACE


@dataclass(frozen=True, kw_only=True)
class Promising(Mechanism):
    """It promises what it is told to, and is never run."""

    promises: tuple[Privacy, ...]
    spends: tuple[Any, ...]

    def guarantees(self) -> Guarantees:
        return Guarantees(self.promises)

    def events(self) -> tuple[Any, ...]:
        return self.spends

    def run(self, data: Any, noise: Any) -> Any:
        raise NotImplementedError

    def decode(self, record: Any, index: int, billboard: Any) -> Any:
        raise NotImplementedError


def promise(loss: Any, audience: Audience = Audience.PUBLIC, neighbours: Relation = REPLACED, **more: Any) -> Privacy:
    return Privacy(loss=loss, audience=audience, neighbours=neighbours, source=SOURCE, **more)


def figures(*promises: Privacy, events: tuple[Any, ...] = ()) -> dict[tuple[str, int], Any]:
    it = Promising(promises=promises, spends=events)
    return {(each.audience.value, each.size): each.loss for each in group_losses(it, promises)}


def chain(epsilon: float, delta: float, steps: int) -> list[np.ndarray]:
    """Laws of a yes or no, each (epsilon, delta)-close to the next one, in both directions, that end at a sure no."""
    yes = [0.0]
    for _ in range(steps):
        yes.insert(0, math.exp(epsilon) * yes[0] + delta)
    return [np.array([each, 1.0 - each]) for each in yes]


@pytest.mark.parametrize("steps", [2, 5, 10])
def test_the_pair_is_attained_and_the_naive_sum_is_false(steps: int) -> None:
    epsilon, delta = 0.7, 1e-5
    laws = chain(epsilon, delta, steps)
    for one, other in pairwise(laws):
        assert hockey_stick(one, other, epsilon) <= delta * (1 + 1e-9)
        assert hockey_stick(other, one, epsilon) <= delta * (1 + 1e-9)
    true = hockey_stick(laws[0], laws[-1], steps * epsilon)
    together = group_loss(ApproxDP(epsilon, delta), steps)
    assert true == pytest.approx(together.delta, rel=1e-9)
    assert together.epsilon >= steps * epsilon
    assert true > 1.3 * steps * delta  # more than (k epsilon, k delta) would allow


def test_a_group_under_gaussian_noise_is_k_times_as_far() -> None:
    mu, k = 0.3, 5
    grid = np.linspace(-12.0, 14.0, 400_001)
    law, far = (np.exp(-(grid - at) ** 2 / 2) for at in (k * mu, 0.0))
    law, far = law / law.sum(), far / far.sum()
    for epsilon in (0.5, 1.5):
        assert group_loss(GDP(mu), k).delta_at(epsilon) == pytest.approx(hockey_stick(law, far, epsilon), rel=1e-6)


def test_concentrated_losses_grow_with_the_square_and_renyi_ones_by_threes() -> None:
    assert group_loss(ZCDP(0.02), 10).rho == pytest.approx(2.0)
    assert group_loss(ZCDP(0.02), 10).rho >= 2.0
    assert group_loss(PureDP(0.1), 10).epsilon == pytest.approx(1.0)
    renyi = group_loss(RenyiDP(32.0, 0.01), 10)
    assert (renyi.alpha, renyi.epsilon) == (2.0, pytest.approx(0.81))  # 16 steps cover 10
    assert group_loss(RenyiDP(31.0, 0.01), 10).vacuous
    assert group_loss(ApproxDP(3.0, 1e-6), 10) == ApproxDP(30.0, 1.0)  # says nothing, and says so
    assert group_loss(ApproxDP(0.0, 1e-6), 10).delta == pytest.approx(1e-5)
    assert group_loss(PureDP(math.inf), 3) == PureDP(math.inf)


def test_reports_of_single_devices_make_a_product() -> None:
    assert group_loss(ZCDP(0.02), 10, alone=True).rho == pytest.approx(0.2)
    assert group_loss(GDP(0.3), 4, alone=True).mu == pytest.approx(0.6)
    pair = group_loss(ApproxDP(1.0, 1e-6), 5, alone=True)
    assert (pair.epsilon, pair.delta) == (5.0, pytest.approx(5e-6))
    keep = 1 / (1 + math.exp(-0.8))  # three people whose answers are the same, by randomised response
    yes = np.array([keep, 1 - keep])
    law = np.einsum("i,j,k->ijk", yes, yes, yes).ravel()
    other = np.einsum("i,j,k->ijk", yes[::-1], yes[::-1], yes[::-1]).ravel()
    assert math.log((law / other).max()) == pytest.approx(group_loss(PureDP(0.8), 3, alone=True).epsilon)


def test_events_of_groups() -> None:
    common: dict[str, Any] = {"neighbours": REPLACED, "label": "x"}
    assert group_event(PureEvent(epsilon=0.1, **common), 3).epsilon == pytest.approx(0.3)
    ranged = group_event(BoundedRangeEvent(epsilon=0.1, **common), 3)
    assert isinstance(ranged, BoundedRangeEvent)
    assert ranged.epsilon == pytest.approx(0.3)
    assert isinstance(group_event(RandomizedResponseEvent(epsilon=1.0, **common), 2), PureEvent)
    assert group_event(ZCDPEvent(rho=0.1, **common), 3).rho == pytest.approx(0.9)
    assert group_event(GDPEvent(mu=0.1, **common), 3).mu == pytest.approx(0.3)
    pair = group_event(ApproxEvent(epsilon=1.0, delta=1e-6, **common), 2)
    assert (pair.epsilon, pair.delta) == (2.0, pytest.approx(1e-6 * (1 + math.e)))


def test_the_figure_comes_from_what_the_mechanism_loses_not_from_its_pair() -> None:
    rho, delta = 0.02, 1e-6
    pair = ApproxDP(ZCDP(rho).epsilon_at(delta), delta)
    from_rho = figures(promise(ZCDP(rho)), promise(pair))
    from_events = figures(promise(pair), events=(ZCDPEvent(rho=rho, neighbours=REPLACED),))
    alone = figures(promise(pair))
    for size in SIZES:
        best = ZCDP(rho * size**2).epsilon_at(delta)
        assert from_rho["public", size].epsilon == pytest.approx(best, rel=1e-9)
        assert from_events["public", size].epsilon == pytest.approx(best, rel=1e-9)
        assert alone["public", size] == group_loss(pair, size)  # nothing more is known
    assert alone["public", 10].delta > 100 * from_rho["public", 10].delta  # which the pair would give away


def test_a_cost_in_delta_of_one_release_grows_by_the_pair() -> None:
    events = (PureEvent(epsilon=0.5, neighbours=REPLACED), ApproxEvent(epsilon=0.1, delta=1e-7, neighbours=REPLACED))
    found = figures(promise(ApproxDP(0.6, 1e-7)), events=events)["public", 5]
    assert found.epsilon == pytest.approx(3.0)
    assert found.delta == pytest.approx(1e-7 * math.expm1(0.5) / math.expm1(0.1))


def test_who_sees_less_is_reported_no_more() -> None:
    """What fellows learn follows from the reports, which devices draw one by one."""
    found = figures(promise(ZCDP(0.02), Audience.COLLECTOR), promise(ZCDP(0.02), Audience.FELLOWS))
    assert found["fellows", 10] == found["collector", 10]
    assert found["collector", 10].epsilon == pytest.approx(ZCDP(0.2).epsilon_at(1e-6), rel=1e-9)


def test_where_nothing_of_the_whole_is_promised_nothing_is_stated() -> None:
    part = promise(PureDP(1.0), part="the first answer")
    it = Promising(promises=(part,), spends=(PureEvent(epsilon=1.0, neighbours=REPLACED),))
    assert group_losses(it, (part,)) == ()
    assert "such as a household, is not stated" in words([groups_section(it, (part,))])
    nothing = promise(ApproxDP(math.inf, 1.0))
    assert group_losses(Promising(promises=(nothing,), spends=()), (nothing,)) == ()


def test_a_household_in_a_network_with_a_degree_bound_takes_more_steps() -> None:
    """One person's new contacts may break the bound while the others' old ones are there: 2k - 1 steps do not."""
    free = PTarget(200, 5, None, 0.2, None, stop="none")
    bound = PTarget(200, 5, 10, 0.2, 20)
    for it, steps in ((free, 2), (bound, 3)):
        found = {each.size: each.loss for each in group_losses(it, it.guarantees().privacy)}
        assert found[2].epsilon == pytest.approx(steps * 4 * 0.2)
    said = words([groups_section(bound, bound.guarantees().privacy)])
    assert "household without a member of the group that is searched for" in said
    assert "the table does not cover it" in said


def test_the_words_say_what_a_household_is() -> None:
    def said(neighbours: Relation, audience: Audience, loss: Any = None) -> str:
        made = (promise(loss or PureDP(1.0), audience, neighbours),)
        return words([groups_section(Promising(promises=made, spends=()), made)])

    assert "who send one report each" in said(Relation.BIT, Audience.COLLECTOR)
    assert "counts twice" in said(Relation.ADD_OR_REMOVE, Audience.PUBLIC)
    joint = said(REPLACED, Audience.OTHERS)
    assert "everybody outside of the group" in joint
    assert "sees their own share" in joint
    assert "says nothing" in said(REPLACED, Audience.PUBLIC, ApproxDP(3.0, 1e-3))


def test_a_guess_is_never_right_always_where_a_loss_says_something() -> None:
    """A group's bound that rounds to 100%, or to 1 in a double, is below it."""
    for epsilon in (2.5, 4.0, 400.0):
        made = (promise(PureDP(epsilon)),)
        said = words([groups_section(Promising(promises=made, spends=()), made)])
        assert "just under 100%" in said
        assert not re.search(r"100\.0+%", said)
    made = (promise(ApproxDP(math.inf, 1.0)),)
    assert "just under" not in words([groups_section(Promising(promises=made, spends=()), made)])


@pytest.mark.parametrize("name", few(KINDS, ("matching", "bundles")))
def test_no_page_hides_a_household_better_than_one_person(name: str, tmp_path: Path) -> None:
    """The offer's sentence is the table's row of one person, and the figures grow with the group."""
    file = tmp_path / "campaign.toml"
    file.write_text(kind(name).template, encoding="utf-8")
    campaign = Campaign.load(file)
    plan: Any = campaign.plan
    mechanism = getattr(plan, "collection", plan.mechanism)
    promises = plan.guarantees.privacy
    found: dict[Audience, list[float]] = {}
    for each in group_losses(mechanism, promises):
        found.setdefault(each.audience, []).append(each.guess)
    assert found
    for audience, guesses in found.items():
        assert len(guesses) == 1 + len(SIZES)
        assert guesses == sorted(guesses)
        assert guesses[0] == right_at_most(mechanism, promises, audience)
    (hides,) = (words([each]) for each in campaign.offer() if each.answers == "hides")
    said = re.findall(r"at most ([0-9.]+%)", hides)
    assert said
    assert set(said) <= {percent(guesses[0]) for guesses in found.values()}
    table = words([each for each in campaign.plan.sections() if "Households" in each.title])
    assert all(each in table for each in said)


def test_what_a_mechanism_knows_of_its_noise_makes_the_figure_sharper() -> None:
    class Knowing(Promising):
        def group_guess(self, size: int, audience: Audience) -> float:
            return 0.6 if (size, audience) == (1, Audience.PUBLIC) else 1.0

    made = (promise(PureDP(1.0)),)
    assert right_at_most(Knowing(promises=made, spends=()), made, Audience.PUBLIC) == 0.6
    assert right_at_most(Promising(promises=made, spends=()), made, Audience.PUBLIC) == pytest.approx(0.7310586)
    part = (promise(PureDP(1.0), part="the first answer"),)
    assert right_at_most(Promising(promises=part, spends=()), part, Audience.PUBLIC) == 1.0


ADDED = Relation.ADD_OR_REMOVE


def best_of(*pairs: tuple[np.ndarray, np.ndarray]) -> float:
    """How often the best guess between two products of laws is right."""
    one, other = np.ones(1), np.ones(1)
    for law, against in pairs:
        one, other = np.outer(one, law).ravel(), np.outer(other, against).ravel()
    return float(np.maximum(one, other).sum()) / 2.0


def responses(*epsilons: float) -> float:
    """The best guess from randomised responses of these levels, which pure releases of them do not exceed."""
    laws = [np.array([1.0, math.exp(-each)]) / (1.0 + math.exp(-each)) for each in epsilons]
    return best_of(*((law, law[::-1]) for law in laws))


def test_two_records_are_two_steps_where_records_are_added_or_removed() -> None:
    """A noisy sum of votes, +1 or -1: it moves by 1 with a record more, and by 2 with another vote of hers."""
    places = np.arange(-60, 61)
    law = np.exp(-np.abs(places)) * (1.0 - math.exp(-1.0)) / (1.0 + math.exp(-1.0))
    none = best_of((law, np.roll(law, 1)))
    another = best_of((law, np.roll(law, 2)))
    assert (none, another) == (pytest.approx(0.7310586), pytest.approx(0.81606, abs=1e-5))
    made = (promise(PureDP(1.0), neighbours=ADDED),)
    it = Promising(promises=made, spends=(PureEvent(epsilon=1.0, neighbours=ADDED),))
    assert another <= right_at_most(it, made, Audience.PUBLIC) == pytest.approx(math.e**2 / (1.0 + math.e**2))
    said = guess_in_words(it, made, Audience.PUBLIC)
    assert ("your record is one of two possible records, and thinks at first that both are equally likely. They guess "
            "right at most 88.1%") in said
    assert said.endswith("If they guess whether your record is there at all, they are right at most 73.1% of the time.")
    both = (*made, promise(PureDP(1.4)))  # of a record that is replaced, too
    assert right_at_most(Promising(promises=both, spends=()), both, Audience.PUBLIC) == pytest.approx(0.802, abs=1e-3)


@pytest.mark.parametrize(("neighbours", "between"), [
    (REPLACED, "your record is one of two possible records"),
    (Relation.EDGES_OF_ONE, "your contacts are one of two possible sets"),
    (Relation.BIT, "your record is yes or no")])
def test_one_step_is_said_to_be_what_it_is(neighbours: Relation, between: str) -> None:
    made = (promise(PureDP(1.0), neighbours=neighbours),)
    said = guess_in_words(Promising(promises=made, spends=()), made, Audience.PUBLIC)
    assert (f"that {between}, and thinks at first that both are equally likely. They guess right at most 73.1% of"
            in said)
    assert "none" not in said
    about = guess_in_words(Promising(promises=made, spends=()), made, Audience.PUBLIC, thing="row", somebody=True)
    assert "your" not in about


@pytest.mark.parametrize(("name", "neighbours", "thing", "steps"), [
    ("program", "substitution", "record", 1), ("program", "null", "record", 2),
    ("matching", "substitution", "row", 1), ("matching", "add_remove", "row", 2)])
def test_an_offer_says_how_often_a_guess_is_right(
    name: str, neighbours: str, thing: str, steps: int, tmp_path: Path,
) -> None:
    text, changed = re.subn(r'neighbours = "\w+"', f'neighbours = "{neighbours}"', kind(name).template)
    assert changed
    file = tmp_path / "campaign.toml"
    file.write_text(text, encoding="utf-8")
    campaign = Campaign.load(file)
    events = (campaign.plan.mechanism if name == "program" else campaign.plan.market).events()  # type: ignore[attr-defined]

    def right(times: int) -> float:
        if name == "program":  # Gaussian noise alone
            away = times * math.sqrt(math.fsum(each.mu**2 for each in events)) / 2.0
            return (1.0 + math.erf(away / math.sqrt(2.0))) / 2.0
        return responses(*(times * each.epsilon for each in events))

    (hides,) = (words([each]) for each in campaign.offer() if each.answers == "hides")
    assert (f"that your {thing} is one of two possible {thing}s, and thinks at first that both are equally likely. "
            f"They guess right at most {percent(right(steps))} of the time") in hides
    there = f"whether your {thing} is there at all, they are right at most {percent(right(1))} of the time"
    assert (there in hides) is (steps == 2)


def test_a_guess_is_exact_under_gaussian_noise_however_it_is_promised() -> None:
    mu = 0.167375
    events = (GDPEvent(mu=mu, neighbours=REPLACED),) * 2
    made = (promise(ApproxDP(1.0, 1e-6)),)
    found = {each.size: each.guess for each in group_losses(Promising(promises=made, spends=events), made)}
    for size, guess in found.items():
        away = size * mu * math.sqrt(2.0) / 2.0
        assert guess == pytest.approx((1.0 + math.erf(away / math.sqrt(2.0))) / 2.0, rel=1e-9)
    pure = tuple(PureEvent(epsilon=each, neighbours=REPLACED) for each in (1.32, 2.6, 0.08))
    whole = (promise(PureDP(4.0)),)
    assert right_at_most(Promising(promises=whole, spends=pure), whole, Audience.PUBLIC) == pytest.approx(
        responses(1.32, 2.6, 0.08), rel=1e-9)

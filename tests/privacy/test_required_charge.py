"""What the ledger is charged covers what is promised; a mechanism that says otherwise is refused before any charge."""

from __future__ import annotations

import math

import pytest

from confide.campaign import Campaign
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Privacy, Relation, Source
from confide.contract.kinds import kind as kind_named
from confide.contract.kinds import kind_names
from confide.privacy.events import ApproxEvent, BoundedRangeEvent, GDPEvent, PureEvent, Repeated, ZCDPEvent
from confide.privacy.filter import price
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP
from confide.privacy.required_charge import check_covered, composed, largest_delta

RECORD = Relation.REPLACE


def promise(loss, neighbours=RECORD, audience=Audience.PUBLIC, **more):
    return Privacy(loss=loss, neighbours=neighbours, audience=audience,
                   source=Source(document="a", statement="b"), **more)


def pure(epsilon, neighbours=RECORD):
    return PureEvent(epsilon=epsilon, neighbours=neighbours)


RHO = ZCDPEvent(rho=0.02, neighbours=RECORD)

COVERED = [
    ([pure(1.0)], PureDP(1.0)),
    ([pure(0.1)] * 3, PureDP(0.3)),  # sums of decimals, exactly
    ([pure(2.0)], PureDP(1.0)),  # more than is promised
    ([pure(1.0), RHO], PureDP(1.0)),  # of a part of the outcome; the release besides it costs more
    ([BoundedRangeEvent(epsilon=0.15, neighbours=RECORD)] * 16, PureDP(2.4)),
    ([RHO], ZCDP(0.02)),
    ([RHO], ApproxDP(ZCDP(0.02).epsilon_at(1e-6), 1e-6)),
    ([GDPEvent(mu=0.5, neighbours=RECORD)], GDP(0.5)),
    ([GDPEvent(mu=0.5, neighbours=RECORD)], RenyiDP(2.0, 0.25)),
    ([ApproxEvent(epsilon=1.0, delta=1e-6, neighbours=RECORD)], ApproxDP(1.0, 1e-6)),
]

NOT_COVERED = [
    ([pure(1e-9)], PureDP(50.0)),
    ([pure(0.999)], PureDP(1.0)),
    ([pure(0.5)], ApproxDP(1.0, 1e-6)),
    ([RHO], PureDP(0.2)),  # Gaussian noise has no pure epsilon at all
    ([RHO], ZCDP(0.021)),
    ([RHO], ApproxDP(1.5, 1e-6)),
    ([GDPEvent(mu=0.4, neighbours=RECORD)], GDP(0.5)),
    ([GDPEvent(mu=0.5, neighbours=RECORD)], RenyiDP(2.0, 0.5)),
    ([ApproxEvent(epsilon=1.0, delta=1e-9, neighbours=RECORD)], ApproxDP(1.0, 1e-6)),
    ([ApproxEvent(epsilon=1.0, delta=1e-6, neighbours=RECORD)], ZCDP(0.1)),
    ([pure(1.0)], ApproxDP(1.0, 1e-6)),  # would be charged without the delta
    ([pure(1.0)], ApproxDP(1.0, 0.05)),
    ([pure(1.0)], ApproxDP(1.0, 0.5)),  # at that delta they cost (0.189, 0.5)
    ([Repeated(event=pure(0.001), count=1000, neighbours=RECORD)], ApproxDP(1.0, 1e-6)),  # (0.17, 1e-6)
    ([pure(1.0)], ZCDP(0.5)),  # noise of that rho may have no epsilon at all
    ([pure(1.0)], GDP(1.0)),
]


@pytest.mark.parametrize(("events", "loss"), COVERED)
def test_a_promise_that_is_charged_for_passes(events, loss):
    check_covered(events, [promise(loss)])


@pytest.mark.parametrize(("events", "loss"), NOT_COVERED)
@pytest.mark.parametrize("audience", list(Audience))
def test_a_promise_above_the_charge_is_refused(events, loss, audience):
    with pytest.raises(InvalidInput, match="events"):
        check_covered(events, [promise(loss, audience=audience)])


@pytest.mark.parametrize("loss", [ApproxDP(1.0, 0.05), ZCDP(0.5), GDP(1.0), RenyiDP(2.0, 0.5)])
def test_a_charge_without_delta_rests_on_a_pure_promise(loss):
    """Beside one that the events cover, what else is promised may say less; one that is not covered is no such one."""
    check_covered([pure(1.0)], [promise(loss), promise(PureDP(1.0))])
    for others in ([], [promise(PureDP(1.0), audience=Audience.COLLECTOR)], [promise(PureDP(1.0), claimable=False)]):
        with pytest.raises(InvalidInput, match="events: are charged an epsilon without a delta"):
            check_covered([pure(1.0)], [promise(loss), *others])
    with pytest.raises(InvalidInput, match="the promise towards the public is epsilon = 2"):
        check_covered([pure(1.0)], [promise(loss), promise(PureDP(2.0))])
    # Of a part alone, or to fewer eyes than the other one: that serves for what it is about, and for nothing else.
    part, public = promise(PureDP(1.0), part="the counts"), promise(PureDP(1.0))
    assert public.audience is Audience.PUBLIC
    for given in ([promise(loss), part], [promise(loss, audience=Audience.OTHERS), public]):
        with pytest.raises(InvalidInput, match="events: are charged an epsilon without a delta"):
            check_covered([pure(1.0)], given)
    check_covered([pure(1.0)], [promise(loss, part="the counts"), part, public])
    check_covered([pure(1.0)], [promise(loss), promise(PureDP(1.0), audience=Audience.OTHERS)])


def test_only_what_is_compared_sets_the_delta() -> None:
    """What is promised to the collector, or cannot be claimed, does not loosen the price of what the public sees."""
    public = promise(ApproxDP(1.0, 1e-6))
    beside = [promise(ApproxDP(5.0, 0.01), audience=Audience.COLLECTOR), promise(ApproxDP(5.0, 0.1), claimable=False)]
    assert largest_delta([public, *beside]) == 1e-6
    assert largest_delta(beside) == 0.01
    assert largest_delta([]) == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (0.2, 1e-6), (3.0, 0.5), (0.01, 0.3)])
@pytest.mark.parametrize("events", [
    [pure(1.0)], [pure(0.01)] * 50, [RHO], [RHO] * 60, [pure(3.0), RHO],
    [ApproxEvent(epsilon=1.0, delta=0.05, neighbours=RECORD)], [GDPEvent(mu=1.0, neighbours=RECORD)],
    [BoundedRangeEvent(epsilon=0.15, neighbours=RECORD)] * 100,
])
def test_what_is_covered_is_charged_with_both_numbers(events, epsilon, delta):
    """Of a promise (epsilon, delta) by itself, as settlement charges for it; where one of them is missing, refused."""
    cost = price("basic", events, delta)
    enough = cost.epsilon >= epsilon * (1 - 1e-9) and cost.delta >= delta * (1 - 1e-9)
    try:
        check_covered(events, [promise(ApproxDP(epsilon, delta))])
    except InvalidInput:
        assert not enough
    else:
        assert enough


def test_every_promise_is_compared_not_the_smallest():
    with pytest.raises(InvalidInput, match="the promise towards the public is epsilon = 50"):
        check_covered([pure(1.0)], [promise(PureDP(1.0), part="the estimates"), promise(PureDP(50.0))])
    with pytest.raises(InvalidInput, match="the promise towards the others"):
        check_covered([pure(1.0)], [promise(PureDP(1.0)), promise(PureDP(50.0), audience=Audience.OTHERS)])


PARTS = [promise(PureDP(0.5), part=part) for part in ("the first count", "the second count")]


@pytest.mark.parametrize("charged", [0.5, 1.0, 100.0])
@pytest.mark.parametrize("audience", list(Audience))
def test_parts_alone_are_not_charged_for(charged, audience):
    """Each costs no more than is charged; together they cost the sum, and what is in none of them anything."""
    parts = [promise(PureDP(0.5), audience=audience, part=each.part) for each in PARTS]
    match = (f"guarantees: have a promise towards the {audience.value} about the first count, but no promise about the "
             "whole outcome")
    beside = [promise(PureDP(1.0), audience=audience, claimable=False), promise(PureDP(math.inf), audience=audience)]
    for more in ([], beside):
        with pytest.raises(InvalidInput, match=match) as refused:
            check_covered([pure(charged)], [*parts, *more])
    assert "add a `Privacy` without `part`" in str(refused.value)


def test_the_whole_is_charged_for_beside_its_parts():
    whole = promise(PureDP(1.0))
    check_covered([pure(0.5)] * 2, [*PARTS, whole])
    with pytest.raises(InvalidInput, match=r"events: cost epsilon 0\.5, but the promise towards the public is epsilon "
                                           r"= 1"):
        check_covered([pure(0.5)], [*PARTS, whole])
    # Others see all that the public sees, and not the other way round.
    check_covered([pure(1.0)], [*PARTS, promise(PureDP(1.0), audience=Audience.OTHERS)])
    with pytest.raises(InvalidInput, match="have a promise towards the others about a count, but no promise about the "
                                           "whole"):
        check_covered([pure(1.0)], [whole, promise(PureDP(0.5), audience=Audience.OTHERS, part="a count")])
    # What the collector is promised is not held against this charge, so that it serves nobody else.
    with pytest.raises(InvalidInput, match="no promise about the whole"):
        check_covered([pure(1.0)], [*PARTS, promise(PureDP(9.0), audience=Audience.COLLECTOR)])


@pytest.mark.parametrize("kind", sorted(kind_names()))
def test_every_kind_promises_something_of_the_whole(kind, tmp_path):
    (tmp_path / "it.toml").write_text(kind_named(kind).template)
    plan = Campaign.load(tmp_path / "it.toml").plan
    check_covered(plan.mechanism.events(), plan.guarantees.privacy)
    assert any(each.whole for each in plan.guarantees.privacy)


@pytest.mark.parametrize(("events", "loss"), [
    ([pure(0.5)] * 2, PureDP(1.0)),
    ([BoundedRangeEvent(epsilon=0.5, neighbours=RECORD)], PureDP(0.5)),
    ([ApproxEvent(epsilon=1.0, delta=1e-6, neighbours=RECORD), pure(1.0)], ApproxDP(2.0, 1e-6)),
    ([RHO, RHO], ZCDP(0.04)),
    ([RHO, pure(1.0)], ZCDP(0.52)),
])
def test_what_events_lose_together(events, loss):
    assert composed(events) == loss


def test_events_of_both_notions_need_a_delta():
    both = [ApproxEvent(epsilon=1.0, delta=1e-6, neighbours=RECORD), RHO]
    with pytest.raises(InvalidInput, match="delta"):
        composed(both)
    found = composed(both, 1e-6)
    assert found == ApproxDP(1.0 + ZCDP(0.02).epsilon_at(1e-6), 2e-6)


def test_the_collector_may_see_more_than_the_public_is_charged_for():
    check_covered([pure(1.0)], [promise(PureDP(1.0)), promise(PureDP(5.0), audience=Audience.COLLECTOR)])


def test_relations_are_not_converted():
    with pytest.raises(InvalidInput, match="a loss for other neighbours needs a proved rule"):
        check_covered([pure(1.0, Relation.BIT)], [promise(PureDP(1.0))])
    with pytest.raises(InvalidInput, match="a loss for other neighbours needs a proved rule"):
        check_covered([pure(1.0), pure(1.0, Relation.BIT)], [promise(PureDP(1.0))])


def test_nothing_is_held_against_nothing():
    with pytest.raises(InvalidInput, match="the list is empty"):
        check_covered([], [promise(PureDP(1.0))])
    for promises in ([], [promise(PureDP(1.0), claimable=False)], [promise(PureDP(math.inf))]):
        with pytest.raises(InvalidInput, match="have no promise about privacy"):
            check_covered([pure(1.0)], promises)


def test_a_promise_of_nothing_is_no_promise():
    """It asks for no charge, and whoever is promised something besides it is still compared."""
    nothing = promise(PureDP(math.inf))
    check_covered([pure(1.0)], [nothing, promise(PureDP(1.0))])
    with pytest.raises(InvalidInput, match="the promise towards the collector is epsilon = 50"):
        check_covered([pure(1.0)], [nothing, promise(PureDP(50.0), audience=Audience.COLLECTOR)])

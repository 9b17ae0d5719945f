"""Each part of what an allocation releases, by neighbours that attain it, for whatever its campaigns plan: half of the
noise of any part is flagged by that part's own row.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from allocation.market_transcripts import replayed
from cases import fast
from confide.allocation.audited import asked, asked_rows, jointly
from confide.allocation.audited_losses import recorded, unreleased_parts
from confide.allocation.audited_markets import PEOPLE, charges, histories, steps, tiny
from confide.allocation.market import Market
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.audit import DampedNoise
from people.all_kinds import campaign_of

Edits = tuple[tuple[str, str], ...]

ADD_REMOVE: Edits = (('neighbours = "replace"', 'neighbours = "add_or_remove"'),)
GAUSSIAN: Edits = (("delta = 0.0 ", "delta = 1e-5 "),
                   (".0               # the first", ".0\ndelta = 1e-5    # the first"))
HALTS = ("fixed", "published", "unsatisfied", "bids", "sparse_vector")


def auction(**keys: Any) -> Edits:
    """The template of matchings with an auction of these keys."""
    said = "\n".join(f'{key} = "{one}"' if isinstance(one, str) else f"{key} = {one}" for key, one in keys.items())
    return (('method = "best"', f'method = "auction"\n{said}'),)


def bundles(**keys: str) -> Edits:
    return (("[auction] ", "[auction]\n" + "\n".join(f'{key} = "{one}"' for key, one in keys.items()) + "\n"),)


MATCHINGS: dict[str, Edits] = {
    "prices": (),
    "prices, add or remove": ADD_REMOVE,
    "prices that are charged": (('method = "best"', 'method = "scaling"\ncharge = true'),),
    "auction": auction(),
    "auction, reserve, add or remove": (*auction(reclear=0.0), *ADD_REMOVE),
    **{f"auction, {halts}, reserve": auction(halting=halts, reclear=0.0) for halts in HALTS},
    **{f"auction, {halts}, add or remove": (*auction(halting=halts), *ADD_REMOVE) for halts in HALTS},
    **{f"auction, {halts}, gaussian": (*auction(halting=halts, law="gaussian"), *GAUSSIAN) for halts in HALTS},
}

BUNDLES: dict[str, Edits] = {
    "bundles": (),
    "additive": (('class = "capped-additive"', 'class = "additive"'), ("cap = 2", "")),
    "unit demand": (('class = "capped-additive"', 'class = "unit-demand"'), ("cap = 2", "")),
    **{f"bundles, {halts}{also}": (*bundles(halting=halts), *more)
       for halts, (also, more) in product(HALTS, (("", ()), (", add or remove", ADD_REMOVE)))},
    **{f"bundles, {halts}, gaussian": (*bundles(halting=halts, law="gaussian"), *GAUSSIAN) for halts in HALTS},
}


def market(name: str) -> Market:
    kind = "matching" if name in MATCHINGS else "bundles"
    found: Market = campaign_of(kind, *{**MATCHINGS, **BUNDLES}[name]).plan.market  # type: ignore[attr-defined]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", fast(1, [*MATCHINGS, *BUNDLES]))
def test_each_part_is_attained_by_more_than_half_and_the_certificate_in_full(name: str) -> None:
    own = tiny(market(name))
    found, unreleased = replayed(own, 0), unreleased_parts(own)
    parts = set(charges(own)) - {""}
    assert {"certificate"} < parts
    assert not any(audit.flagged for audit in found.values())
    for part in parts:
        shown = found[part].shown
        if part in unreleased:
            assert shown is None
        else:
            assert shown is not None
            assert 0.5 < shown <= 1.0, part
    certificate = found["certificate"]
    assert certificate.measured == pytest.approx(certificate.promised, rel=1e-3)
    assert len(asked_rows(own)) == len(unreleased.keys() & parts)
    for row in asked_rows(own):
        assert row.measured == pytest.approx(row.promised, rel=1e-6)
        assert not row.flagged


@pytest.mark.parametrize("name", fast(0, [*MATCHINGS, *BUNDLES]))
def test_half_of_the_noise_of_each_part_is_injected_and_flagged(name: str) -> None:
    own = tiny(market(name))
    injected = [each for known in (replace(jointly(own), faults={}), asked(own)) for each in known.measured()[1]
                if each.mutant == "half of its noise"]
    parts = set(charges(own)) - {""}
    unreleased = unreleased_parts(own).keys() & parts
    assert {each.name for each in injected} == {f"privacy: {part}" for part in parts - unreleased} | {
        f"privacy: {part}, by the requested noise" for part in unreleased}
    assert all(each.flagged for each in injected)


def test_a_tiny_lottery_has_enough_of_one_good_and_gives_it() -> None:
    """With three copies of each, the rates were 0 whatever was drawn: no certificate ever held what a good is worth."""
    for epsilon in (0.01, 0.3, 4.0):
        own = tiny(SinkhornMatch(people=20_000, goods=4, supply=4000, epsilon=epsilon))
        assert isinstance(own, SinkhornMatch)
        assert own.people == PEOPLE
        assert not own.plentiful
    step = next(step for step in steps(own, 0) if step.values.sum() == step.values[step.index, 0] == 1.0)
    shares = recorded(own, step.values, histories(0)(2)).outcome.shares["good"].to_pylist()
    assert shares[step.index] == 0


@pytest.mark.slow
def test_a_test_that_hides_its_answers_is_charged_by_its_scales() -> None:
    own = tiny(market("auction, sparse_vector, add or remove"))
    (row,) = asked_rows(own)
    (half,) = asked_rows(own, 0, lambda noise: DampedNoise(noise, 0.5, "halting"))
    assert half.measured == pytest.approx(2 * row.measured)
    assert half.flagged
    assert row.promise in [each.promise for each in asked(own).measured()[0]]

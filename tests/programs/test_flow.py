"""Flow: the cheapest simple path by a rule that leaves no tie, its linear program, and how wrong tau = 1 is."""

from __future__ import annotations

import json
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from highs_reference import optimum, penalised
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import Flow, PrivDude
from confide.programs.families.networks import (
    Network,
    both_ways,
    made_up_users,
    packaged_network,
    routes_between,
    simple_paths,
    unit_users,
)
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

QUARTER = PRICE_UNIT // 4
ROOF = ((0, 1), (1, 2), (0, 2), (2, 3), (1, 3))  # two ways to 2, three to 3


def made_up(people: int, nodes: int, links: int, hops: int, seed: int, *, public: bool = False, even: bool = False,
            escape: float | None = None, share: float = 0.5) -> tuple[Flow, np.ndarray]:
    """A random connected graph both ways and its users; costs on a coarse grid where `even`, so that ties abound."""
    draw = study_generator(seed)
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    more = [tuple(draw.choice(nodes, 2, replace=False).tolist()) for _ in range(links)]
    arcs = both_ways(tuple(ring + more))
    shape = (1 if public else people, len(arcs))
    costs = draw.integers(0, 3, shape) / 4 if even else draw.random(shape)
    ends = np.array([draw.choice(nodes, 2, replace=False) for _ in range(people)])
    options = {"arcs": arcs, "hops": hops, "escape": float(hops) if escape is None else escape}
    free = Flow(people, people, costs=tuple(costs[0]) if public else None, **options)
    data = ends if public else np.concatenate([ends, costs], axis=1)
    records = free.read(data)
    load = free.load_at(records, np.zeros(len(arcs), dtype=np.int64)).max() / LOAD_UNIT
    return Flow(people, max(1.0, np.ceil(share * load)), costs=free.costs, **options), data


def every_path(program: Flow, source: int, sink: int) -> list[tuple[int, ...]]:
    """All simple paths, from orders of nodes."""
    joins: dict[tuple[int, int], list[int]] = {}
    for number, arc in enumerate(program.arcs):
        joins.setdefault(arc, []).append(number)
    found: list[tuple[int, ...]] = []
    others = [node for node in range(program.node_count) if node not in (source, sink)]
    for between in range(min(program.hops, program.node_count - 1)):
        for order in permutations(others, between):
            paths: list[tuple[int, ...]] = [()]
            for step in pairwise((source, *order, sink)):
                paths = [(*path, arc) for path in paths for arc in joins.get(step, [])]
            found += paths
    return found


def padded(program: Flow, path: tuple[int, ...]) -> list[int]:
    return list(path) + [-1] * (program.width - len(path))


@pytest.mark.parametrize("seed", fast(12, range(100)))
def test_responses_are_the_best_of_all_simple_paths(seed: int) -> None:
    """Costs and prices on a coarse grid: ties and cycles that cost nothing are everywhere."""
    draw = study_generator(seed, "prices")
    nodes, hops = 3 + seed % 3, 1 + seed % 5
    program, data = made_up(10, nodes, 2, hops, seed, public=seed % 2 == 0, even=True, escape=(0.5, 1.0, 3.0)[seed % 3])
    records = program.read(data)
    for prices in (draw.integers(0, 3, program.rows) * QUARTER, np.zeros(program.rows, dtype=np.int64)):
        actions = program.respond(records, prices)
        costs = np.tile(program.costs, (10, 1)) if program.costs else data[:, 2:]
        for i in range(10):
            weights = (costs[i] * PRICE_UNIT).astype(np.int64) + prices
            paths = every_path(program, int(data[i, 0]), int(data[i, 1]))
            best = min([(program.escape * PRICE_UNIT, 0, ()),
                        *((weights[list(path)].sum(), len(path), path) for path in paths)])
            assert actions[i].tolist() == padded(program, best[2])
            assert np.array_equal(program.respond(program.one(data[i]), prices)[0], actions[i])
        gained = program.values(records, actions) - program.paid(records, actions, prices)
        assert (gained[actions[:, 0] >= 0] > 0).all()
        parts = program.contributions(records, actions)
        assert np.array_equal(program.load(records, actions), parts.sum(axis=0))
        assert np.array_equal(program.paid(records, actions, prices), parts // LOAD_UNIT @ prices)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), hops=st.integers(1, 6), high=st.sampled_from([0.0, 0.5, 6.0]))
def test_two_contributions_lie_no_further_apart_than_sigma(seed: int, hops: int, high: float) -> None:
    program, data = made_up(30, 6, 4, hops, seed % 20)
    draw = study_generator(seed)
    prices = (draw.random((2, program.rows)) * high * PRICE_UNIT).astype(np.int64)
    parts = np.concatenate([program.contributions(program.read(data), program.respond(program.read(data), one))
                            for one in prices]) / LOAD_UNIT
    assert parts.max() <= 1
    assert parts.sum(axis=1).max() <= program.constants.largest_sum
    apart = np.square(parts[:, None] - parts[None]).sum(axis=2)
    assert apart.max() <= program.constants.squared_l2_sensitivity("replace")
    assert np.square(parts).sum(axis=1).max() <= program.constants.squared_l2_sensitivity("add_or_remove")


def test_constants() -> None:
    program = Flow(100, 30, arcs=ROOF, hops=2, escape=6.0)
    assert program.constants.l2_sensitivity("replace") == pytest.approx(2.0)  # sqrt(2 L)
    assert (program.constants.tau, program.constants.width, program.constants.most_value) == ((6.0,) * 5, 100.0, 6.0)
    assert program.row_names == ("0->1", "1->2", "0->2", "2->3", "1->3")
    assert Flow(100, 30, arcs=ROOF, hops=9, escape=6.0).width == 3  # no simple path has more arcs
    assert PrivDude(program, 1.0, 1e-6).descent.rule == "adagrad"


def by_paths(program: Flow, records) -> float:  # type: ignore[no-untyped-def]
    """The optimum, from values and contributions of every path of everybody."""
    from confide.programs.linear import choices

    who, actions = [], []
    for i, (source, sink) in enumerate(records.ends.tolist()):
        for path in every_path(program, source, sink) if source >= 0 else ():
            who.append(i)
            actions.append(padded(program, path))
    some, taken = records.take(np.array(who)), np.array(actions, dtype=np.int32)
    parts = program.contributions(some, taken)
    entries, rows = np.nonzero(parts)
    return optimum(choices(program, values=program.values(some, taken), people=who, rows=rows, entries=entries,
                           loads=parts[entries, rows]))


@pytest.mark.parametrize(("nodes", "hops", "public"), [(5, 3, False), (5, 4, True), (4, 1, False)])
def test_the_linear_program_is_that_of_all_paths(nodes: int, hops: int, public: bool) -> None:
    program, data = made_up(12, nodes, 3, hops, 5, public=public, share=0.3)
    data = data.astype(float)
    data[3, :2] = -1
    records = program.read(data)
    exact = program.linear_program(records)
    assert optimum(exact) == pytest.approx(by_paths(program, records), abs=1e-7)
    assert set(exact.owner.tolist()) <= set(range(12)) - {3}


def test_many_paths_are_described_by_places() -> None:
    """In a complete graph there are more simple paths than places of arcs."""
    arcs = tuple((i, j) for i in range(6) for j in range(6) if i != j)
    assert len(routes_between(arcs, 6, 0, 5, 5).high) > 1
    assert len(routes_between(arcs, 6, 0, 5, 2).high) == 1
    draw = study_generator(8)
    for hops in (4, 5):
        program = Flow(8, 1.0, arcs=arcs, hops=hops, escape=2.0)
        data = np.concatenate([np.tile([0, 5], (8, 1)), draw.random((8, 30)) ** 2], axis=1)
        records = program.read(data)
        assert optimum(program.linear_program(records)) == pytest.approx(by_paths(program, records), abs=1e-7)


def test_routes() -> None:
    assert sorted(simple_paths(ROOF, 4, 0, 3, hops=3, most=9) or ()) == [(0, 1, 3), (0, 4), (2, 3)]
    assert simple_paths(ROOF, 4, 0, 3, hops=3, most=2) is None
    assert simple_paths(ROOF, 4, 3, 0, hops=3, most=2) == []
    assert simple_paths(((0, 1), (0, 1)), 2, 0, 1, hops=1, most=2) == [(0,), (1,)]
    nowhere = Flow(2, 1.0, arcs=ROOF, hops=3, escape=1.0)
    empty = nowhere.linear_program(nowhere.read([[3, 0, *[0.0] * 5], [-1, -1, *[9.0] * 5]]))
    assert (empty.size, empty.coupling.shape, empty.personal.shape) == (0, (5, 0), (0, 0))


def test_the_dual_bound_is_the_escape_and_not_one() -> None:
    """Spec convex_programs errata 7: a free arc that carries half a unit, and a detour of 5 arcs that cost 1 each."""
    arcs = ((0, 1), (0, 2), (2, 3), (3, 4), (4, 5), (5, 1))
    program = Flow(1, (0.5, 1, 1, 1, 1, 1), arcs=arcs, hops=5, escape=6.0)
    exact = program.linear_program(program.read([[0, 1, 0.0, 1, 1, 1, 1, 1]]))
    best = optimum(exact)
    assert best == pytest.approx(6 - 2.5)
    assert penalised(exact, 5.0) == pytest.approx(best)
    for tau in (1.0, 4.99):  # excess pays
        assert penalised(exact, tau) == pytest.approx(6 - tau / 2)
    for seed in range(4):
        program, data = made_up(15, 5, 2, 4, seed, share=0.3)
        exact = program.linear_program(program.read(data))
        assert penalised(exact, np.array(program.taus)) == pytest.approx(optimum(exact), abs=1e-7)


@pytest.mark.parametrize(("seed", "public"), fast(1, [(1, False), (2, True), (3, False), (4, False), (5, True)]))
def test_without_noise_averages_are_optimal_and_feasible(seed: int, public: bool) -> None:
    """Spec convex_programs 11.4, with the steps of AdaGrad."""
    people = 60
    program, data = made_up(people, 6, 4, 4, seed, public=public, share=0.75)
    mechanism = PrivDude(program, 1.0, 1e-6, 400, 400)
    still = Noise.replayed({("slack", t): np.zeros(program.rows) for t in range(800)})
    found = mechanism.run(data, still).diagnostics
    best = optimum(program.linear_program(program.read(data)))
    assert abs(best - found["value"]) < 0.04 * best  # type: ignore[index]
    assert found["excess"].sum() < 0.005 * people  # type: ignore[index]


@pytest.mark.parametrize("public", [False, True])
def test_shares_are_separate_decodes(public: bool) -> None:
    program, data = made_up(40, 6, 4, 4, 3, public=public, share=0.3)
    mechanism = PrivDude(program, 1.0, 1e-6, 30, 10)
    table = data.astype(float)
    table[5] = np.nan
    outcome = mechanism.run(table, Noise.secure())
    mechanism.check(outcome.billboard)
    for i in range(40):
        share = {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}
        assert share == mechanism.decode(None if i == 5 else table[i], i, outcome.billboard)
    assert outcome.shares["actions"][5].as_py() == [-1] * program.width


def test_records_alone() -> None:
    program = Flow(2, 1.0, arcs=ROOF, hops=3, escape=2.0)
    prices = np.zeros(5, dtype=np.int64)
    costs = [0.5, 0.0, 0.75, 0.25, 0.5]
    for record in ([0, 3, *costs], (0, 3, costs), (0, 3, *costs), np.array([0, 3, *costs], dtype=np.float32)):
        assert program.describe(program.respond(program.one(record), prices)[0]) == [0, 1, 3]
    assert program.describe(program.respond(program.one(None), prices)[0]) == []
    assert program.describe(program.respond(program.one((3, 0, costs)), prices)[0]) == []  # no path leads there
    public = Flow(2, 1.0, arcs=ROOF, hops=3, escape=2.0, costs=tuple(costs))
    assert public.describe(public.respond(public.one((0, 3)), prices)[0]) == [0, 1, 3]


@pytest.mark.parametrize("bad", [
    [0, 0, *[0.5] * 5], [0, 4, *[0.5] * 5], [-1, 2, *[0.5] * 5], [0, 1.5, *[0.5] * 5], [np.nan, 1, *[0.5] * 5],
    [0, 1, 0.5, 0.5, np.nan, 0.5, 0.5], [0, 1, 0.5, 0.5, 1.01, 0.5, 0.5], [0, 1, 0.5, 0.5, -0.01, 0.5, 0.5],
    [0, np.inf, *[0.5] * 5]])
def test_a_bad_record_is_refused_to_its_owner_and_null_in_a_release(bad: list[float]) -> None:
    program = Flow(2, 1.0, arcs=ROOF, hops=3, escape=2.0)
    good = [0, 3, *[0.5] * 5]
    with pytest.raises(InvalidInput, match="record"):
        program.one(bad)
    with pytest.raises(InvalidInput, match="row 1"):
        program.read([good, bad])
    records = program.read([good, bad], unusable="null")
    assert records.ends.tolist() == [[0, 3], [-1, -1]]
    assert records.costs[1].tolist() == [0] * 5
    actions = program.respond(records, np.zeros(5, dtype=np.int64))
    assert program.values(records, actions)[1] == program.contributions(records, actions)[1].sum() == 0


@pytest.mark.parametrize("shape", [[0, 3], [0, 3, [0.5] * 4], "path", [0, 3, "a", 0, 0, 0, 0], [[0, 3, *[0.5] * 5]]])
def test_a_record_of_another_shape_is_refused(shape: object) -> None:
    program = Flow(2, 1.0, arcs=ROOF, hops=3, escape=2.0)
    with pytest.raises(InvalidInput, match="record"):
        program.one(shape)
    with pytest.raises(InvalidInput, match="records"):
        program.read([shape, shape])


@pytest.mark.parametrize("change", [
    {"arcs": ()}, {"arcs": ((0, 0),)}, {"arcs": ((0, -1),)}, {"arcs": ((0, 1, 2),)}, {"arcs": (0, 1)}, {"arcs": None},
    {"arcs": ((0, 1.5),)}, {"hops": 0}, {"escape": 0.0}, {"escape": float("nan")}, {"nodes": 3}, {"costs": (0.5,)},
    {"costs": (0.5, 0.5, 0.5, 0.5, 1.5)}, {"costs": (-0.5,) * 5}, {"supply": (1.0, 2.0)}, {"supply": float("inf")},
    {"people": 0}, {"tau": 0.0}, {"tau": (1.0,)}, {"nodes": 1 << 25}, {"escape": 2.0**40}])
def test_public_faults_are_refused_before_any_record(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Flow(**{"people": 2, "supply": 1.0, "arcs": ROOF, "hops": 3, "escape": 2.0, **change})


def test_networks() -> None:
    network = Network(nodes=3, arcs=both_ways(((0, 1), (1, 2))), demands=((0, 2, 30.0), (1, 2, 0.0), (2, 1, 11.0)))
    assert repr(network) == "<Network of 3 nodes, 4 arcs and 3 demands>"
    assert unit_users(network).tolist() == [[0, 2]] * 30 + [[2, 1]] * 11
    data = made_up_users(network, 4)
    assert np.array_equal(data, made_up_users(network, 4))
    assert data.shape == (41, 6)
    turned = (data[:, :2] != unit_users(network)).all(axis=1)
    assert 5 < turned.sum() < 36
    assert Flow(41, 20, arcs=network.arcs, hops=2, escape=3.0).read(data).people == 41
    for amount in (1.5, -1.0):
        with pytest.raises(InvalidInput, match="demands"):
            unit_users(Network(nodes=2, arcs=((0, 1),), demands=((0, 1, amount),)))


def test_packaged_networks() -> None:
    pytest.importorskip("topohub")
    network = packaged_network("sndlib/polska")
    assert (network.nodes, len(network.arcs), len(unit_users(network))) == (12, 36, 9943)
    assert network.names[network.arcs[0][0]] == "Gdansk"
    assert packaged_network("topozoo/Abilene").demands is not None
    for name, match in (("sndlib/polsca", "polska"), ("sndlip/polska", "sndlib"), ("polska", "collection"),
                        ("gabriel/25", "such as gabriel/25/0"), ("gabriel/26/0", "collection '26' is unknown"),
                        ("sndlib/polska/0", "collection 'polska'"), ("sndlib/", "network ''")):
        with pytest.raises(InvalidInput, match=match):
            packaged_network(name)


def test_every_collection_that_topohub_ships_loads() -> None:
    """Gabriel and CAIDA networks lie in collections within collections."""
    from importlib.resources import files

    shipped = files("topohub") / "data"
    folders = [path for path in Path(str(shipped)).rglob("*") if path.is_dir() and any(path.glob("*.json"))]
    assert {folder.relative_to(str(shipped)).parts[0] for folder in folders} >= {"gabriel", "caida", "sndlib"}
    for folder in folders:
        file = min(folder.glob("*.json"))
        name = file.relative_to(str(shipped)).with_suffix("").as_posix()
        graph = json.loads(file.read_text(encoding="utf-8"))
        network = packaged_network(name)
        assert (network.nodes, len(network.arcs)) == (len(graph["nodes"]), 2 * len(graph["edges"])), name
    gabriel = packaged_network("gabriel/25/0")
    assert (gabriel.nodes, gabriel.demands) == (25, ())


@pytest.mark.slow
def test_polska() -> None:
    """Spec convex_programs 9.8: real demands; its published generator, so that the optimum is the spec's."""
    pytest.importorskip("topohub")
    network = packaged_network("sndlib/polska")
    draw, ends = np.random.default_rng(0), unit_users(network)
    ends = np.where(draw.random(len(ends))[:, None] < 0.5, ends[:, ::-1], ends)
    data = np.concatenate([ends, draw.random((len(ends), 36))], axis=1)
    people, options = len(ends), {"arcs": network.arcs, "hops": 6, "escape": 6.0}
    free = Flow(people, people, **options)
    load = free.load_at(free.read(data), np.zeros(36, dtype=np.int64)).max() / LOAD_UNIT
    supply = float(np.ceil(0.75 * load))
    assert supply == 785
    program = Flow(people, supply, **options)
    best = optimum(program.linear_program(program.read(data)))
    cost = 6.0 * people - best
    assert cost == pytest.approx(10226.72, abs=0.005)

    outcome = PrivDude(program, 1.0, 1e-6, 300, 200).run(data, Noise.simulated(1))
    found = outcome.diagnostics
    assert abs(best - found["value"]) < 0.02 * cost  # type: ignore[index]
    assert found["excess"].max() < 0.03 * supply  # type: ignore[index]
    assert best - found["value"] <= outcome.certificate.gap  # type: ignore[index]
    assert (found["excess"] <= outcome.certificate.excess).all()  # type: ignore[index]

    held = {}
    for tau in (1.0, 6.0):
        still = Noise.replayed({("slack", t): np.zeros(36) for t in range(500)})
        mechanism = PrivDude(Flow(people, supply, tau=tau, **options), 1.0, 1e-6, 300, 200)
        held[tau] = mechanism.run(data, still).diagnostics
    assert held[1.0]["excess"].sum() == pytest.approx(335, abs=0.5)  # type: ignore[index]
    assert held[6.0]["excess"].sum() < 5  # type: ignore[index]

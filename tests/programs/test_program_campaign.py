"""The kind `program` from its file: plan, offer, check, run, share, verify, withdraw, study, audit."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_programs import FAMILIES, PEOPLE, campaign, rows, typed

from campaign.forging import Forger, edited, forge, remake, words
from cases import fast
from confide import Outcome, programs
from confide.audit import AuditReport
from confide.campaign import Campaign, Store, verify
from confide.cli.app import app
from confide.cli.failures import guarded
from confide.contract import InvalidInput, PublicOutcome, Refused, kind
from confide.contract.errors import BudgetExceeded
from confide.contract.kinds import HandingKind
from confide.programs import Flow, Knapsack, UnitDemand, exact
from confide.programs import plan as plan_programs
from confide.programs.campaign.audit import audit_life, audit_plan
from confide.programs.campaign.baselines import in_order, lottery
from confide.programs.campaign.config import _OWN
from confide.programs.campaign.config import MODES as NAMES
from confide.programs.campaign.made_up import made_up
from confide.programs.campaign.submissions import CellCodec
from confide.programs.reading.slots import SlotRows, collected, layout

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODES = ["audited", "truthful", "round", "average", "charged", "scaled", "tight"]
EDITS: dict[str, tuple[tuple[str, str], ...]] = {
    "audited": (), "charged": (("burn_in", "alpha = 0.5\nburn_in"),),
    "scaled": (("burn_in", 'alpha = 0.5\npayments = "scaled"\nburn_in'),),
    "round": (("burn_in", 'mode = "round"\nmost_unused = 0.6\nburn_in'),),
    "average": (("burn_in", 'mode = "average"\nburn_in'),),
    "truthful": (("burn_in", 'mode = "truthful"\nalpha = 0.5\nburn_in'),),
    "tight": (("rounds = 40", 'mode = "tight"\nrounds = 4000\nalpha = 9\nmost_unused = 0.99'),
              ("count = 240", "count = 5000"), ("[60, 50, 70]", "[2500]"), ('["a", "b", "c"]', '["a"]'),
              ("epsilon = 20.0", "epsilon = 40.0"), ("epsilon = 20.0", "epsilon = 40.0")),
}


# ---- the whole life


@pytest.mark.parametrize("mode", fast(1, MODES))
def test_a_whole_life(mode: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[mode])
    lines = rows("unit-demand")[1]
    found = it.check()
    assert (found.rows, found.usable, dict(found.rejected)) == (PEOPLE, PEOPLE, {})
    names = typed("unit-demand", lines[0]) if mode != "tight" else {"a": ""}
    with Store() as store:
        settled, again = it.settle(tmp_path / "out", store=store), it.settle(tmp_path / "out", store=store)
        assert (settled.fresh, again.fresh) == (True, False)
        shares = settled.outcome.shares.to_pylist()
        assert again.outcome.shares.to_pylist() == shares
        prices = settled.tables["prices"]
        assert prices.column_names == ["row", "price", "price_points", "supply", "excess_bound"]
        assert prices["price_points"].to_pylist() == [10 * each for each in prices["price"].to_pylist()]
        for index, line in list(enumerate(lines))[::79]:
            shown = words(it.share(index + 1, store=store))
            record = {name: text for name, text in typed("unit-demand", line).items() if name in names}
            assert words(it.share(index + 1, tmp_path / "out", record=record)) == shown
            if "action" in shares[index]:  # noise is drawn anew each time: who gets nothing is told so
                assert (": nothing'" in shown) == (shares[index]["action"] == -1)
        record = {name: text for name, text in typed("unit-demand", lines[2]).items() if name in names}
        own = it.own_file("3", tmp_path / "out", record=record)
        assert own["share"] == shares[2]
        assert verify(tmp_path / "out", own=own).complete
        name = next(iter(own["share"]))
        other = [each + 1 for each in own["share"][name]] if name == "actions" else own["share"][name] + 1
        assert not verify(tmp_path / "out", own={**own, "share": {**own["share"], name: other}}).passed
        (standing,) = store.ledger()
        assert standing.filter.total.epsilon <= it.plan.mechanism.epsilon
        with pytest.raises(InvalidInput, match="pays nothing"):
            it.payouts(store=store)
    verified = verify(tmp_path / "out")
    assert verified.complete, [each for each in verified.findings if each.verdict != "holds"]


@pytest.mark.parametrize("name", fast(4, ["knapsack", "flow", "electricity", "xor-bundles", *(
    each for each in FAMILIES if each not in ("knapsack", "flow", "electricity", "xor-bundles"))]))
def test_every_family_is_planned_run_and_told(name: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, of=name)
    _head, lines = rows(name)
    assert it.check().usable == PEOPLE
    outcome, parts = it.study(2)
    assert all(section.study for section in parts)
    plan: Any = it.plan
    assert plan.mode == ("average" if name in ("shared-resources", "electricity", "aggregative-game") else "audited")
    mechanism = plan.mechanism
    for identity in (1, 8, PEOPLE):
        record, index = it.file.kind.record(it.file.config, plan, tmp_path, str(identity))
        mine = [line for line in lines if line.split(",")[0] == str(identity)]
        given = dict(line.split(",")[1:] for line in mine) if name == "xor-bundles" else typed(name, mine[0])
        same = it.file.kind.parse_record(it.file.config, plan, str(identity), given)
        assert same[1] == index
        assert all(np.array_equal(one, other) for one, other in zip(_flat(same[0]), _flat(record), strict=True))
        assert dict(mechanism.decode(record, index, outcome.billboard)) == outcome.shares.slice(
            index, 1).to_pylist()[0]
        assert f"Participant {identity}: " in words(it.file.kind.explain(plan, outcome, record, index))
    for shown in (it.offer(), it.file.kind.result(plan, outcome)):
        assert plan.coding.rows[0] in words(shown)
    assert f"'{plan.mode} (planned)'" in words(plan.sections())
    outcome.save(tmp_path / "saved")
    kind_: Any = it.file.kind
    handed = kind_.handout(plan, outcome, kind_.identities(it.file.config))
    assert set(handed["id"].to_pylist()) <= set(kind_.identities(it.file.config))
    assert handed.num_rows > 0
    assert ("part" in handed.column_names) is (not plan.whole)
    if plan.whole:
        assert handed.num_rows <= PEOPLE
    else:
        total = dict.fromkeys(handed["id"].to_pylist(), 0.0)
        for line in handed.to_pylist():
            total[line["id"]] += line["part"]
        assert max(total.values()) <= 1 + 1e-9


def _flat(record: Any) -> list[Any]:
    return list(record) if isinstance(record, tuple) else [record]


@pytest.mark.slow
@pytest.mark.parametrize("name", [each for each in FAMILIES if each != "unit-demand"])
def test_every_family_settles_and_verifies(name: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, of=name)
    settled = it.settle(tmp_path / "out")
    assert verify(tmp_path / "out").complete
    loaded = PublicOutcome.load(tmp_path / "out")
    assert loaded.mechanism == settled.outcome.mechanism
    line = rows(name)[1][0]
    given = dict(each.split(",")[1:] for each in rows(name)[1][:2]) if name == "xor-bundles" else typed(name, line)
    assert words(it.share(1)) == words(it.share(1, tmp_path / "out", record=given))


def test_what_is_public_names_no_totals(tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS["round"])  # an audit may reject a run, and nobody has anything then
    outcome = it.settle(tmp_path / "out").outcome
    given = sum(each >= 0 for each in outcome.shares["action"].to_pylist())
    result = words(it.file.kind.result(it.plan, outcome))
    assert "is not public" in result
    assert str(given) not in set(re.findall(r"[0-9][0-9,.]*", result))
    manifest = (tmp_path / "out" / "manifest.json").read_text()
    assert "unsatisfied" not in manifest
    assert {path.name for path in (tmp_path / "out").glob("*.csv")} == {"prices.csv"}
    loaded = PublicOutcome.load(tmp_path / "out")
    assert words(it.file.kind.result(it.plan, loaded)) == result  # type: ignore[arg-type]
    outcome.save(tmp_path / "saved")
    back: Any = Outcome.load(tmp_path / "saved")
    assert back.shares.equals(outcome.shares)
    assert back.mechanism == outcome.mechanism


def test_forged_packs_are_found(tmp_path: Path) -> None:
    forger = Forger(campaign(tmp_path), tmp_path)
    broken, key = forger.broken, forger.key

    def moved(outcome: PublicOutcome) -> PublicOutcome:
        board: Any = outcome.billboard
        return replace(outcome, billboard=replace(board, prices=board.prices + np.eye(*board.prices.shape, dtype=int)))

    def accepted(outcome: PublicOutcome) -> PublicOutcome:
        board: Any = outcome.billboard
        return replace(outcome, billboard=replace(board, accepted=not board.accepted))

    def praised(outcome: PublicOutcome) -> PublicOutcome:
        certificate: Any = outcome.certificate
        return replace(outcome, certificate=replace(certificate, gap=certificate.gap / 2))

    def louder(outcome: PublicOutcome) -> PublicOutcome:
        return replace(outcome, mechanism=replace(outcome.mechanism, epsilon=25.0))  # type: ignore[type-var]

    def seedless(outcome: PublicOutcome) -> PublicOutcome:
        return replace(outcome, billboard=replace(outcome.billboard, seed="0" * 63))  # type: ignore[type-var]

    assert broken(lambda pack: None) == set()
    for change, where in ((moved, "billboard"), (accepted, "billboard"), (seedless, "billboard"),
                          (praised, "certificate"), (louder, "parameters")):
        assert where in broken(lambda pack, change=change: remake(pack, key, change)), change.__name__
    assert "billboard" in broken(lambda pack: forge(pack, key, lambda m: m["billboard"].update(burn_in=3)))
    assert "tables" in broken(lambda pack: (pack / "prices.csv").write_text("row,price\na,0\n"))


def test_another_seed_gives_other_shares_than_those_that_were_signed(tmp_path: Path) -> None:
    forger = Forger(it := campaign(tmp_path, *EDITS["round"]), tmp_path)  # no audit that might reject it

    def reseeded(outcome: PublicOutcome) -> PublicOutcome:
        return replace(outcome, billboard=replace(outcome.billboard, seed="ab" * 32))  # type: ignore[type-var]

    shutil.copytree(tmp_path / "out", pack := tmp_path / "other")
    remake(pack, forger.key, reseeded)
    mechanism: Any = it.plan.mechanism
    boards = [PublicOutcome.load(folder).billboard for folder in (tmp_path / "out", pack)]
    records = [np.array([float(cell) / 10 for cell in line.split(",")[1:]]) for line in rows("unit-demand")[1]]
    both = [[mechanism.decode(record, i, board) for i, record in enumerate(records)] for board in boards]
    first = next(i for i in range(PEOPLE) if both[0][i] != both[1][i])
    mine = it.own_file(str(first + 1), tmp_path / "out", record=typed("unit-demand", rows("unit-demand")[1][first]))
    assert mine["share"] == both[0][first]
    assert not verify(pack, own=mine).passed


# ---- rows


BAD: dict[str, dict[str, str]] = {
    "unit-demand": {"a": "11"}, "capped-additive": {"a": "x"}, "shared-resources": {"p": "-1"},
    "knapsack": {"space": "0.05"}, "flow": {"sink": "z"}, "electricity": {"day.needs": "1.5"},
    "aggregative-game": {"left": "nan"}, "xor-bundles": {"a+z": "3"},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_bad_row_is_hers_alone(name: str, tmp_path: Path) -> None:
    _head, lines = rows(name)
    given = dict(line.split(",")[1:] for line in lines[:2]) if name == "xor-bundles" else typed(name, lines[0])
    given |= BAD[name]
    if name == "xor-bundles":
        data = [*(f"1,{bundle},{value}" for bundle, value in given.items()), *lines[2:], "777,a,1"]
    else:
        data = [",".join(["1", *given.values()]), *lines[1:100], "3,1,1", "777,1,1"]
        data[-2:] = [",".join([i, *lines[5].split(",")[1:]]) for i in ("3", "777")]
    it = campaign(tmp_path, of=name, data=data)
    found = it.check()
    wanted = {"1", f"row {len(data)}"} | ({"3 (row 101)"} if name != "xor-bundles" else set())
    assert set(found.rejected) == wanted
    assert found.usable == (PEOPLE - 1 if name == "xor-bundles" else 99)
    with pytest.raises(InvalidInput) as caught:
        it.file.kind.parse_record(it.file.config, it.plan, "1", given)
    assert caught.value.field == "record"
    records: Any = collected(it.plan.mechanism.program, it.collect().data)  # type: ignore[attr-defined]
    null: Any = it.plan.mechanism.program.one(None)  # type: ignore[attr-defined]
    for each in fields(null):
        if each.name not in ("people", "reader"):
            assert np.array_equal(getattr(records, each.name)[0], getattr(null, each.name)[0])
            assert name == "xor-bundles" or np.array_equal(getattr(records, each.name)[150], getattr(
                null, each.name)[0])
    assert it.file.kind.record(it.file.config, it.plan, tmp_path, "1") == (None, 0)


def test_other_bids_that_cannot_be_used(tmp_path: Path) -> None:
    for bids, says in ((["1,a+b,1", "1,b+a,2"], "twice"), (["1,a,1", "1,b,2", "1,c,3"], "too many"),
                       (["1,a+b+c,1"], "is no bundle"), (["1,a+a,1"], "is no bundle"), (["1,,1"], "is no bundle"),
                       (["1,a,11"], "out of bounds"), (["1,a,x"], "not a number")):
        it = campaign(tmp_path, of="xor-bundles", data=[*bids, "2,a,1"])
        found = it.check()
        assert set(found.rejected) == {"1"}
        assert says in found.rejected["1"]
        assert (found.rows, found.usable) == (len(bids) + 1, 1)
        given = {line.split(",")[1]: line.split(",")[2] for line in bids}
        if len(given) == len(bids):
            with pytest.raises(InvalidInput, match=r"record: .*"):
                it.file.kind.parse_record(it.file.config, it.plan, "1", given)
    with pytest.raises(InvalidInput, match=r"people\.id"):
        campaign(tmp_path, ('id = "id"', 'id = "row"'), of="xor-bundles").collect()
    with pytest.raises(InvalidInput, match="three columns"):
        campaign(tmp_path, ('source = "rows.csv"', 'source = "rows.csv"\nbundle = "value"'), of="xor-bundles").collect()


@pytest.mark.parametrize("name", FAMILIES)
def test_made_up_rows_are_records_and_survive_storage(name: str, tmp_path: Path) -> None:
    """What the coding lets through, the program takes: no row of its layout that passed is refused later."""
    program = campaign(tmp_path, of=name).plan.mechanism.program  # type: ignore[attr-defined]
    cells = made_up(program, 4)
    batch, codec = SlotRows(np.arange(PEOPLE), cells), CellCodec(cells.shape[1])
    back = codec.unpack(*codec.pack(batch))
    assert np.array_equal(back.cells, cells)
    assert np.array_equal(back.index, batch.index)
    records = collected(program, iter([batch]))
    for place in range(0, PEOPLE, 37):
        one = program.one(layout(program).record(cells[place]))
        for each in fields(one):
            if each.name not in ("people", "reader"):
                assert np.array_equal(getattr(one, each.name)[0], getattr(records, each.name)[place])
    for index in (np.array([-1]), np.array([PEOPLE])):
        with pytest.raises(InvalidInput, match="nobody"):
            collected(program, iter([SlotRows(index, cells[:1])]))
    with pytest.raises(InvalidInput, match="another family"):
        collected(program, iter([SlotRows(np.arange(2), cells[:2, 1:])]))
    for other in (cells, {"a": 1}, [1], None):
        assert collected(program, other) is other


def test_nothing_is_charged_where_the_file_cannot_be_read(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    (tmp_path / "rows.csv").write_text("id,a,b\n1,2,3\n")
    with Store() as store:
        with pytest.raises(InvalidInput, match="c"):
            it.settle(tmp_path / "out", store=store)
        assert store.ledger() == ()


def test_typed_records_are_judged_as_the_files(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    parse = partial(it.file.kind.parse_record, it.file.config, it.plan, "1")
    assert parse({"a": "5", "c": "10"})[0].tolist() == [0.5, 0.0, 1.0]
    with pytest.raises(InvalidInput, match="no column of this campaign"):
        parse({"d": "5"})
    with pytest.raises(InvalidInput, match="out of bounds"):
        parse({"a": "-1"})
    clipped = campaign(tmp_path, ("highest = 10", 'highest = 10\nout_of_bounds = "clip"'))
    assert clipped.file.kind.parse_record(clipped.file.config, clipped.plan, "1", {"a": "12"})[0].tolist() == [1, 0, 0]
    flow = campaign(tmp_path, of="flow")
    with pytest.raises(InvalidInput, match="two different nodes"):
        flow.file.kind.parse_record(flow.file.config, flow.plan, "1", {"source": "u", "sink": "u"})


@pytest.mark.slow
def test_who_withdraws_counts_as_empty(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with Store() as store:
        it.settle(tmp_path / "out", store=store)
        assert not it.withdraw("3", store=store)
        assert it.settled(store=store).shares["action"][2].as_py() is None
        with pytest.raises(Refused, match="withdrew"):
            it.share("3", store=store)
        kind_: Any = it.file.kind
        assert isinstance(kind_, HandingKind)
        handed = kind_.handout(it.plan, it.settled(store=store), kind_.identities(it.file.config))
        assert "3" not in handed["id"].to_pylist()


# ---- the plan, the offer, and what is refused


def test_the_plan_reads_public_parameters_alone(tmp_path: Path) -> None:
    plans = [campaign(tmp_path, data=data).plan for data in (rows("unit-demand")[1], rows("unit-demand")[1][:3])]
    (tmp_path / "rows.csv").unlink()
    plans.append(Campaign.load(tmp_path / "shared.toml").plan)
    assert plans[0].to_dict() == plans[1].to_dict() == plans[2].to_dict()
    shown = words(plans[2].sections())
    assert shown == words(plans[0].sections())
    assert "audited (planned)" in shown
    assert "kept back" in shown
    json.dumps(plans[0].to_dict(), allow_nan=False)


def test_all_that_is_promised_costs_no_more_than_the_budget(tmp_path: Path) -> None:
    """Two Gaussian parts, each rounded up, are admitted by a budget of exactly what was asked."""
    for share in (0.5, 0.3, 0.77):
        plan = campaign(tmp_path, ("burn_in", f"audit_share = {share}\nburn_in")).plan
        assert plan.mechanism.epsilon == 20.0  # type: ignore[attr-defined]
    with pytest.raises(BudgetExceeded):
        campaign(tmp_path, ("epsilon = 20.0", "epsilon = 19.99")).plan  # noqa: B018


def test_the_offer_says_who_learns_what_and_what_is_charged(tmp_path: Path) -> None:
    free = words(campaign(tmp_path).offer())
    assert "Whoever provides it learns that it is yours" in free
    assert "Nothing is promised of what could be gained" in free
    scaled = words(campaign(tmp_path, *EDITS["scaled"]).offer())
    assert "in no run do you pay more than what you get is worth to you" in scaled
    charged = words(campaign(tmp_path, *EDITS["charged"]).offer())
    assert "in an unlucky draw" in charged
    assert "nothing is promised of what a lie could gain" in charged
    quiet = campaign(tmp_path, *EDITS["truthful"], ("count = 240", "count = 24000"), ("[60, 50, 70]", "6000"),
                     *[("epsilon = 20.0\ndelta = 1e-3", "epsilon = 0.5\ndelta = 1e-6")] * 2)
    gain = 10 * quiet.plan.mechanism.gain  # type: ignore[attr-defined]
    assert 0.5 < gain < 2
    assert f"no lie gains more than {gain:.4g} points" in words(quiet.offer())


@pytest.mark.parametrize(("of", "edit", "field", "says"), [
    ("unit-demand", ("highest = 10", "higest = 10"), "values.higest", "did you mean 'highest'"),
    ("unit-demand", ("highest = 10", "highest = 0"), "values.highest", "not above lowest"),
    ("unit-demand", ("[values]\nhighest = 10\n", ""), "values", "is missing"),
    ("unit-demand", ('"unit-demand"', '"unit-demnd"'), "program.family", "did you mean 'unit-demand'"),
    ("unit-demand", ('"b"', '"a"'), "program.goods", "stands twice"),
    ("unit-demand", ('"b"', '"a+b"'), "program.goods", "joins names"),
    ("unit-demand", ('"b"', '"id"'), "people.id", "also a column"),
    ("unit-demand", ("[60, 50, 70]", "[60, 50]"), "program.supply", "2 numbers for 3 names"),
    ("unit-demand", ("supply = [60, 50, 70]", ""), "program.goods", "not given once"),
    ("unit-demand", ("burn_in = 20", "flag_share = 0.5"), "solution.flag_share", "'round'"),
    ("unit-demand", ("burn_in = 20", 'payments = "scaled"'), "solution.payments", "without an alpha"),
    ("unit-demand", ("burn_in = 20", 'mode = "best"'), "solution.mode", "audited"),
    ("unit-demand", ("delta = 1e-3\n\n[data]", "delta = 0.0\n\n[data]"), "privacy.delta", "greater than 0"),
    ("unit-demand", ('"rows.csv"', '"rows.csv"\nform = "long"'), "data.form", "must be 'wide'"),
    ("capped-additive", ("cap = 2", "cap = 4"), "program.cap", "too large"),
    ("xor-bundles", ("size = 2", "size = 4"), "program.size", "too large"),
    ("knapsack", ("least_weight = [0.5, 0.1]", "least_weight = [0.5, 2]"), "program.least_weight", ""),
    ("knapsack", ('"space"', '"value"'), "data.value", "also a resource"),
    ("shared-resources", ("q,x+y", "q,x+z"), "program.projects", "'z' is no resource"),
    ("shared-resources", ("y,2", "y,0"), "program.costs", ""),
    ("flow", ("u,v,60,1", "u,u,60,1"), "program.arcs", "joins node"),
    ("flow", ("u,v,60,1", "u,v,0,1"), "program.arcs", "no capacity above 0"),
    ("flow", ("u,v,60,1", "u,v,60"), "program.arcs", "3 cells"),
    ("flow", ("u,v,60,1", "u,v,60,much"), "program.arcs", "is no number"),
    ("flow", ("tail,head", "from,head"), "program.arcs", "does not begin with"),
    ("flow", ("[data]", "[values]\nhighest = 1\n\n[data]"), "values", "is no table of a flow"),
    ("electricity", ("most = 2", "most = 5"), "program.most", "at most 4"),
    ("electricity", ("shortfall = 5", "hard = true"), "program.tau", "is not declared"),
    ("electricity", ("shortfall = 5", 'shortfall = 5\nhard = true\ntau = 3.0'), "program.shortfall", "soft and hard"),
    ("aggregative-game", ("[20, -10]", "[20]"), "program.target", "1 numbers for 2 rows"),
    ("aggregative-game", ("left,1,-0.5", "left,2,-0.5"), "program.contributions", "range"),
    ("aggregative-game", ("burn_in = 20", 'mode = "audited"'), "solution.mode", "packing"),
])
def test_what_a_file_must_not_say(of: str, edit: tuple[str, str], field: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        campaign(tmp_path, edit, of=of).plan  # noqa: B018
    assert caught.value.field == field
    assert says in str(caught.value)


@pytest.mark.parametrize(("edits", "says"), [
    ((("epsilon = 20.0\ndelta = 1e-3\n\n[data]", "epsilon = 0.5\ndelta = 1e-3\n\n[data]"),), "keep back"),
    ((("burn_in", 'mode = "average"\nmost_excess = 0.001\nburn_in'),), "excess"),
    ((("burn_in", 'mode = "tight"\nburn_in'),), "keep back"),
])
def test_hopeless_plans_are_refused(edits: tuple[tuple[str, str], ...], says: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        campaign(tmp_path, *edits).plan  # noqa: B018
    assert says in str(caught.value)


def test_every_option_of_a_mode_is_a_key() -> None:
    common = {"program", "epsilon", "delta", "beta", "neighbours", "start"}
    for mode, name in NAMES.items():
        own = {each.name for each in fields(getattr(programs, name)) if each.init} - common
        assert own == _OWN[mode]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "tight"])
def test_what_is_planned_is_what_runs(mode: str, tmp_path: Path) -> None:
    plan: Any = campaign(tmp_path, *EDITS[mode]).plan
    assert plan.mechanism == plan.outlook.mechanism
    assert plan.to_dict()["unused_share"] == pytest.approx(
        plan.mechanism.kept_back.sum() / plan.mechanism.program.supply_units.sum() * 2**20)
    assert plan.to_dict()["averaged"] == plan.mechanism.averaged


def test_a_modes_own_keys_are_planned_with(tmp_path: Path) -> None:
    """They used to be left out of the outlook, so that hopeless shares were not refused."""
    quiet = ("burn_in", "audit_share = 0.05\nmost_unused = 0.95\nburn_in")
    assert campaign(tmp_path, quiet).plan.outlook.unused_share > 1.5 * campaign(tmp_path).plan.outlook.unused_share  # type: ignore[attr-defined]
    with pytest.raises(Refused, match="mode 'audited': its margins would keep back"):
        campaign(tmp_path, ("burn_in", "audit_share = 0.0001\nburn_in")).plan  # noqa: B018
    stops: Any = campaign(tmp_path, ("burn_in", 'mode = "round"\nmost_unused = 0.95\ntruncate = true\nburn_in')).plan
    plain: Any = campaign(tmp_path, *EDITS["round"]).plan
    assert stops.outlook.unused_share > plain.outlook.unused_share


@pytest.mark.parametrize(("of", "highest", "alpha"), [("unit-demand", 10, 0.5), ("unit-demand", 200, 10),
                                                      ("flow", None, 0.125)])
def test_alpha_and_gains_are_in_the_files_own_unit(
    of: str, highest: float | None, alpha: float, tmp_path: Path,
) -> None:
    """Of values from 0 to 10, an alpha of half a point is .05 of the scale; pages, plan and promises say points."""
    edits = [("burn_in", f'mode = "truthful"\nalpha = {alpha}\nburn_in')]
    edits += [("highest = 10", f"highest = {highest}")] if highest else []
    plan: Any = campaign(tmp_path, *edits, of=of).plan
    unit = highest or 2.5  # the dearest arc
    assert plan.mechanism.alpha == pytest.approx(0.05)
    told = plan.to_dict()
    assert (told["alpha"], told["gain"]) == (pytest.approx(alpha), plan.mechanism.gain * unit)
    page = words(plan.sections())
    name = "points" if highest else "units of cost"
    assert told["unit"] == name
    assert f"'{alpha:.4g} {name}'" in page
    assert f"costs at most {alpha:.4g} {name} more than it is worth to her" in page
    assert f"no lie gains more than {plan.mechanism.gain * unit:.4g} {name}" in page
    assert "in units of 10" not in page
    assert "from 0 to" in page if highest else "as the file's costs are" in page
    rows = {row[0]: row for row in plan.sections()[1].blocks[0].rows}
    found = {mode: each for mode, each in plan.others if not isinstance(each, str)}
    assert found["audited"].mechanism.alpha == plan.mechanism.alpha  # others have the file's alpha, where they charge
    assert found["truthful"] is plan.outlook
    assert found["average"].alpha is None
    assert rows["average"][3] == "nothing is promised"


def test_refusals_and_plans_are_in_the_files_units_and_names(tmp_path: Path) -> None:
    """Inside, a knapsack's weights are shares of the largest, and its rows are numbered."""
    scarce = ("epsilon = 20.0\ndelta = 1e-3\n\n[data]", "epsilon = 0.5\ndelta = 1e-3\n\n[data]")
    with pytest.raises(Refused, match=r"keep back .* times as large with"):  # rows differ: told in shares
        campaign(tmp_path, scarce, of="knapsack").plan  # noqa: B018
    with pytest.raises(InvalidInput, match=r"program\.least_weight: 9 of .* is above its largest_weight; at most"):
        campaign(tmp_path, ("least_weight = [0.5, 0.1]", "least_weight = [9, 0.1]"), of="knapsack").plan  # noqa: B018
    with pytest.raises(Refused, match=r"row '[abc]' would keep back [\d,.e+]+ times its supply"):
        campaign(tmp_path, ("burn_in", 'mode = "tight"\nburn_in')).plan  # noqa: B018
    plan: Any = campaign(tmp_path, of="knapsack").plan
    units, it = plan.coding.load_units, plan.mechanism
    lines = {row[0]: row[1] for row in plan.sections()[0].blocks[0].rows}
    assert units.min() != 1.0 or units.max() != 1.0
    assert lines["noise of the audit, standard deviation"].startswith(f"{(it.audit_deviation * units).min():,.4g}")


def test_a_refusal_multiplies_supplies_in_the_units_it_is_told() -> None:
    """236 shares of a largest weight of 8 are 1,888 in the file."""
    program, text = Knapsack(1000, (20.0,), least_weight=0.5), []
    for units in (None, [8.0]):
        with pytest.raises(Refused) as caught:
            plan_programs(program, 0.5, 1e-6, timed=False, load_units=units)
        text.append(float(caught.value.remedy.split("supplies of ")[1].split(" with")[0].replace(",", "")))
    assert text[1] == 8 * text[0]


def test_a_share_of_nothing_says_what_was_missed_and_prices_are_in_the_files_order(tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS["average"])
    outcome, _ = it.study(2)
    plan, kind = it.plan, it.file.kind
    names = [row[0] for row in kind.result(plan, outcome)[0].blocks[0].rows]  # type: ignore[attr-defined]
    assert names == ["a", "b", "c"]
    shown = words(kind.result(plan, outcome))
    assert "for a unit of the row" in shown
    assert "In place of the second bound" in shown
    told = [words(kind.explain(plan, outcome, *kind.record(it.file.config, plan, tmp_path, str(identity))))
            for identity in range(1, 60)]
    nothing = [text for text in told if ": nothing'" in text]
    assert nothing
    assert all("if nothing had a price is" in text and "its price on average was" in text for text in nothing)


def test_refusals_name_the_files_modes(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        campaign(tmp_path, ("burn_in", 'mode = "tight"\nburn_in')).plan  # noqa: B018
    assert "TightDude" not in str(caught.value)
    assert "mode 'tight': its margins would keep back all that a row holds" in caught.value.reason
    assert "a larger alpha" in caught.value.remedy
    with pytest.raises(InvalidInput) as bad:
        campaign(tmp_path, ("burn_in = 20", 'mode = "audited"'), of="aggregative-game").plan  # noqa: B018
    assert "'audited' needs a packing program" in str(bad.value)
    assert "'average' takes any program" in str(bad.value)
    with pytest.raises(InvalidInput, match=r"solution\.alpha: .* times 10 points"):
        campaign(tmp_path, ("burn_in", 'mode = "truthful"\nalpha = 1e-8\nburn_in')).plan  # noqa: B018


def test_goods_by_table_are_the_same(tmp_path: Path) -> None:
    listed = 'goods = ["a", "b", "c"]\nsupply = [60, 50, 70]\n'
    named = campaign(tmp_path).plan.mechanism
    tabled = campaign(tmp_path, (listed, 'table = """\nname,supply\na,60\nb,50\nc,70\n"""\n')).plan.mechanism
    assert named == tabled
    for table in ("name,copies\na,2", "name,supply\na", "name,supply\na,0", "name,supply\na,x", "name,supply",
                  'name,supply\n"a,2'):
        with pytest.raises(InvalidInput, match=r"program\.(table|goods)"):
            campaign(tmp_path, (listed, f'table = """{table}"""\n'))


def test_the_template_and_the_examples_are_worth_planning(tmp_path: Path) -> None:
    text = kind("program").template
    (tmp_path / "program.toml").write_text(text)
    assert tomllib.loads(text)["solution"] == {"mode": "audited"}
    examples = (EXAMPLES / f"{name}.toml" for name in ("classes", "commute", "charging"))
    for path in (tmp_path / "program.toml", *examples):
        plan: Any = Campaign.load(path).plan
        assert plan.outlook.settles
        kept = plan.margins / plan.coding.supplies
        assert (kept > 0.0).all() if plan.whole else plan.outlook.excess_share < 0.1
        assert (kept < 0.2).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classes", "commute", "charging"])
def test_the_examples_certificates_say_something(name: str, tmp_path: Path) -> None:
    it = Campaign.load(EXAMPLES / f"{name}.toml")
    assert it.check().usable == it.file.config.people.count
    outcome, parts = it.study(3, tmp_path / "study")
    assert not outcome.certificate.vacuous  # type: ignore[union-attr]
    best = parts[0].blocks[0].rows[-1][1]  # type: ignore[union-attr]
    assert "optimum" in parts[0].blocks[0].rows[-1][0]  # type: ignore[union-attr]
    value = outcome.diagnostics["value"] * it.plan.coding.unit  # type: ignore[attr-defined, index]
    assert 0.85 * best < value < 1.03 * best


# ---- studies and audits


def test_a_study_is_beside_the_optimum_and_rules_of_thumb(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    outcome, parts = it.study(3)
    program: Any = it.plan.mechanism.program  # type: ignore[attr-defined]
    records = collected(program, it.collect().data)
    run, serial, drawn, best = parts[0].blocks[0].rows  # type: ignore[union-attr]
    assert run[1] == pytest.approx(10 * outcome.diagnostics["value"])  # type: ignore[index]
    assert best[1] == pytest.approx(10 * exact(program, records).value)
    assert (best[2], "exact" in best[0]) == (1.0, True)
    assert max(run[1], serial[1], drawn[1]) < best[1]
    assert min(run[1], serial[1], drawn[1]) > 0.4 * best[1]
    loads = {row[0]: row[2] for row in parts[0].blocks[1].rows}  # type: ignore[union-attr]
    taken = np.bincount([each for each in outcome.shares["action"].to_pylist() if each >= 0], minlength=3)
    assert [loads[name] for name in "abc"] == taken.tolist()


def test_rules_of_thumb_keep_supplies() -> None:
    program = Flow(4, (1, 1), arcs=((0, 1), (0, 1)), hops=1, escape=1.0, costs=(0.25, 0.5))
    records = program.read([[0, 1]] * 4)
    assert in_order(program, records, 1) / 2**24 == 1.25
    assert lottery(program, records, 1) / 2**24 == 0.75
    goods = UnitDemand(3, (1, 2))
    records = goods.read([[1.0, 0.5]] * 3)
    assert in_order(goods, records, 2) / 2**24 == 2.0
    assert lottery(goods, records, 2) / 2**24 == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "tight"])
def test_audits_pass_and_flag_what_was_planted(mode: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[mode])
    (tmp_path / "rows.csv").unlink()  # never touched
    told = list[tuple[int, int | None]]()
    report = audit_plan(it.plan, 3, lambda done, total: told.append((done, total)))  # type: ignore[arg-type]
    assert isinstance(report, AuditReport)
    assert report.passed, report.problems
    assert min(len(report.rows), len(report.controls)) >= 12
    life = audit_life(it.plan, 3)  # type: ignore[arg-type]
    assert len(life.rows) == len(life.controls) == 3
    assert told[-1][0] == told[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_audits_of_every_family(name: str, tmp_path: Path) -> None:
    report = campaign(tmp_path, of=name).audit(2)
    assert report.passed, report.problems


def test_the_command_line_plans_shows_shares_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    it = campaign(tmp_path)

    def confide(*arguments: object) -> tuple[int, str]:
        code = guarded(partial(app, [str(each) for each in arguments]))
        return code, capsys.readouterr().out

    path = tmp_path / "shared.toml"
    code, out = confide("plan", path, "--json")
    assert code == 0
    assert json.loads(out)["plan"]["mechanism"] == "TightenAndAudit"
    assert confide("run", path, "--out", tmp_path / "out", "--handout", tmp_path / "list.csv")[0] == 0
    action = it.settled().shares["action"][6].as_py()
    assert f"Participant 7: {'nothing' if action < 0 else 'abc'[action]}" in confide("share", path, "--id", 7)[1]
    handed = (tmp_path / "list.csv").read_text().splitlines()
    assert (f"7,{'abc'[action]}" in handed) is (action >= 0)
    assert confide("verify", tmp_path / "out")[0] == 0
    path.write_text(edited(path.read_text(), (("[data]", "beta = 0.7\n\n[data]"),)), encoding="utf-8")
    assert confide("plan", path)[0] == 2

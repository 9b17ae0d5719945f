"""The kind `program` from its file: plan, offer, check, run, share, verify, withdraw, study, audit."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_programs import EDITS, FAMILIES, MODES, PEOPLE, campaign, rows, typed

from campaign.forging import Forger, edited, forge, remake, words
from cases import fast
from cli.commands import CONFIDE
from confide import Outcome
from confide.audit import AuditReport
from confide.campaign import Store, verify
from confide.campaign.kinds import CellCodec, SlotRows
from confide.campaign.kinds.peoples_kind import retyped
from confide.campaign.kinds.programs.audited import life
from confide.cli.failures import guarded
from confide.contract import InvalidInput, PublicOutcome, Refused
from confide.contract.kinds import HandingKind
from confide.programs import Flow, UnitDemand, exact
from confide.programs.instances import in_order, lottery, made_up
from confide.programs.slots import collected, layout

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
def test_every_family_is_planned_run_and_reported(name: str, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_stored_says_what_was_typed(name: str, tmp_path: Path) -> None:
    """Whoever hands in what her form shows changes nothing. Of a game, less is stored than was typed."""
    it = campaign(tmp_path, of=name)
    kind_: Any = it.file.kind
    config, plan = it.file.config, it.plan
    for identity in ("1", "8"):
        mine = [line for line in rows(name)[1] if line.split(",")[0] == identity]
        given = dict(line.split(",")[1:] for line in mine) if name == "xor-bundles" else typed(name, mine[0])
        slot, report = kind_.submission(config, plan, identity, given)
        found = retyped(kind_, config, plan, identity, report)
        if name == "aggregative-game":
            assert found is None
            continue
        assert found is not None
        assert set(found) == {field.column for field in kind_.asked(config, plan)}
        assert kind_.submission(config, plan, identity, found) == (slot, report)


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
    assert "The shares of single participants are not public, and neither is the use of a row." in result
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
        return replace(outcome, billboard=replace(outcome.billboard, public_seed="0" * 63))  # type: ignore[type-var]

    assert broken(lambda pack: None) == set()
    for change, where in ((moved, "billboard"), (accepted, "billboard"), (seedless, "billboard"),
                          (praised, "certificate"), (louder, "parameters")):
        assert where in broken(lambda pack, change=change: remake(pack, key, change)), change.__name__
    assert "billboard" in broken(lambda pack: forge(pack, key, lambda m: m["billboard"].update(burn_in=3)))
    assert "tables" in broken(lambda pack: (pack / "prices.csv").write_text("row,price\na,0\n"))


def test_another_seed_gives_other_shares_than_those_that_were_signed(tmp_path: Path) -> None:
    forger = Forger(it := campaign(tmp_path, *EDITS["round"]), tmp_path)  # no audit that might reject it

    mechanism: Any = it.plan.mechanism
    board: Any = PublicOutcome.load(tmp_path / "out").billboard
    records = [np.array([float(cell) / 10 for cell in line.split(",")[1:]]) for line in rows("unit-demand")[1]]
    signed = [mechanism.decode(record, i, board) for i, record in enumerate(records)]
    first, other = next((i, there) for there in (replace(board, public_seed=f"{seed:02x}" * 32) for seed in range(256))
                        for i in range(PEOPLE) if mechanism.decode(records[i], i, there) != signed[i])
    shutil.copytree(tmp_path / "out", pack := tmp_path / "other")
    remake(pack, forger.key, lambda outcome: replace(outcome, billboard=other))
    mine = it.own_file(str(first + 1), tmp_path / "out", record=typed("unit-demand", rows("unit-demand")[1][first]))
    assert mine["share"] == signed[first]
    assert not verify(pack, own=mine).passed


# ---- rows


BAD: dict[str, dict[str, str]] = {
    "unit-demand": {"a": "11"}, "capped-additive": {"a": "x"}, "shared-resources": {"p": "-1"},
    "knapsack": {"space": "0.05"}, "flow": {"sink": "z"}, "electricity": {"day.needs": "1.5"},
    "aggregative-game": {"left": "nan"}, "xor-bundles": {"a+z": "3"},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_bad_row_harms_its_participant_alone(name: str, tmp_path: Path) -> None:
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
                       (["1,a+b+c,1"], "is not a bundle"), (["1,a+a,1"], "is not a bundle"),
                       (["1,,1"], "is not a bundle"),
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
    with pytest.raises(InvalidInput, match="three different columns"):
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
        with pytest.raises(InvalidInput, match="a row with an unknown place"):
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
    with pytest.raises(InvalidInput, match="not a column of this campaign"):
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
def test_audits_pass_and_flag_what_was_injected(mode: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS[mode])
    (tmp_path / "rows.csv").unlink()  # never touched
    reported = list[tuple[int, int | None]]()
    report = it.audit(3, progress=lambda done, total: reported.append((done, total)))
    assert isinstance(report, AuditReport)
    assert report.passed, report.problems
    assert min(len(report.rows), len(report.controls)) >= 12
    found = [each.measured() for each in life(it.plan, 3)]  # type: ignore[arg-type]
    assert [[row.verdict for row in rows] for rows, _ in found] == [["kept"], ["kept"]]
    assert [[control.flagged for control in controls] for _, controls in found] == [[True], [True]]
    assert reported[-1][0] == reported[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_audits_of_every_family(name: str, tmp_path: Path) -> None:
    report = campaign(tmp_path, of=name).audit(2)
    assert report.passed, report.problems


def test_the_command_line_plans_shows_shares_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    it = campaign(tmp_path)

    def confide(*arguments: object) -> tuple[int, str]:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
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

"""The kind `mean` from its file: report, contracts, acceptance, records, settlement, share, verify, study."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from campaign.forging import words
from confide.acquisition.mechanism import MeanBillboard
from confide.acquisition.records import ContractedRecords
from confide.campaign import Campaign, Home, Store, contracts, verify
from confide.campaign.check import check_sections
from confide.contract import BudgetExceeded, InvalidInput, Refused, kind
from confide.contract.tokens import as_token, read_token

CONCERNS = {1: 0.1, 2: 0.2, 3: 0.35, 4: 0.5, 5: 0.75, 6: 0.9, 7: 0.05, 8: 0.4}
FILE = (
    ("count = 1000", "count = 9"), ("error = 10.0", "error = 1.0"), ("epsilon = 6.0", "epsilon = 300.0"),
    ("largest_local_loss = 1.0", "largest_local_loss = 20.0"), ("known = 12.0", "known = 30.0"),
    ("# [rehearsal]                # records", "[rehearsal]  # records"),
    ('# source = "public.csv"\n# column', 'source = "public.csv"\ncolumn'))


def campaign(folder: Path, name: str = "hours", edits: tuple[tuple[str, str], ...] = ()) -> Campaign:
    text = kind("mean").template
    for old, new in (*FILE, *edits):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "reports.csv").write_text("id,concern\n" + "".join(f"{i},{c}\n" for i, c in CONCERNS.items()) + "9,\n")
    (folder / "public.csv").write_text("id,hours\n" + "".join(f"{i},{30 + i}\n" for i in range(1, 10)))
    (folder / f"{name}.toml").write_text(text)
    return Campaign.load(folder / f"{name}.toml")


def number(word: str) -> int:
    return int.from_bytes(bytes.fromhex(word), "big", signed=True)


def play(it: Campaign, folder: Path, ids: range = range(1, 10)) -> dict[int, str]:
    """Everybody's device, on her own final contract."""
    rows = {i: it.submit(i, {"record": str(30 + i)}, contract=it.contract(i).token, key=Home.default().fingerprint,
                         total=1e3)["record"] for i in ids}
    (folder / "records.csv").write_text("id,record\n" + "".join(f"{i},{m}\n" for i, m in rows.items()))
    return rows


def test_the_whole_life(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    assert it.submit(3, {"concern": "0.35"}) == {"id": "3", "concern": "0.35"}
    assert it.submit(9, {"concern": ""}) == {"id": "9", "concern": ""}
    assert not it.book().answers()  # a report of concern is no draw
    assert it.check().asked is None
    first = it.draw_up()
    offered = it.contract(2)
    assert (first.number, first.final, offered.final) == (1, False, False)
    with pytest.raises(Refused, match="not final"):
        it.submit(2, {"record": "32"}, contract=offered.token)
    with pytest.raises(Refused, match="no contracts of this campaign are final"):
        it.settle()
    second = it.draw_up(without=[3])
    assert (second.number, second.without) == (2, ("3",))
    assert it.contract(3).terms["steps"] == 0
    assert it.contract(2).terms != offered.terms
    final = it.finish_contracts()
    assert final.final
    assert it.finish_contracts().drawn == final.drawn
    with pytest.raises(Refused, match="final"):
        it.draw_up()
    sent = play(it, tmp_path)
    assert sent[9] == sent[5] == sent[3] == ""  # nothing was asked of them
    seen = it.check()
    assert (seen.slots, seen.asked) == (9, len(final.drawn["rows"]))
    assert 0 < seen.usable == len(list(filter(None, sent.values()))) <= len(final.drawn["rows"]) < 9
    (page,) = check_sections(seen)
    rows_of = dict(page.blocks[0].rows)
    assert rows_of["invited slots"] == 9
    assert rows_of["people asked for a record, by their contracts"] == seen.asked
    assert rows_of["people asked, without a usable record (each counts as empty)"] == seen.asked - seen.usable
    assert it.submit(2, {"record": "80"}, contract=it.contract(2).token)["record"] == sent[2]  # one record, once
    settled = it.settle()
    board, shares = settled.outcome.billboard, settled.outcome.shares
    assert isinstance(board, MeanBillboard)
    assert board.total == sum(map(number, filter(None, sent.values())))
    rows = {row[0]: row for row in final.drawn["rows"]}
    assert board.steps == sum(row[1] for row in rows.values())
    assert shares["payment"].to_pylist() == [rows[k][5] if k in rows else 0 for k in range(9)]
    own = {"contract": it.contract(2).token, "record": sent[2]}
    assert words(it.share(2, record=own)) == words(it.share(2))
    assert f"payment {rows[1][5] / 100:.2f} EUR" in words(it.share(2))
    found = verify(settled.folder, own=it.own_file(2, record=own), key=Home.default().fingerprint)
    assert all(each.verdict == "holds" for each in found.findings), found
    assert found.findings[-1].check == "own share"
    assert not it.settle().fresh
    assert it.tables()["mean"]["mean"].to_pylist() == [pytest.approx(80 * board.total / board.steps)]


def test_records_and_terms_equal_decodes(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    it.draw_up()
    it.finish_contracts()
    play(it, tmp_path)
    (batch,) = it.collect().data
    assert isinstance(batch, ContractedRecords)
    outcome = it.settle().outcome
    asked = dict(zip(batch.index.tolist(), range(len(batch.index)), strict=True))
    for k in range(9):
        record = batch.one(asked[k]) if k in asked else None
        assert outcome.mechanism.decode(record, k, outcome.billboard) == {
            name: outcome.shares[name][k].as_py() for name in outcome.shares.column_names}


def test_a_vanished_participant_is_not_paid_and_their_noise_is_added(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    it.draw_up()
    it.finish_contracts()
    sent = play(it, tmp_path, range(2, 10))
    rows = {row[0]: row for row in it.finish_contracts().drawn["rows"]}
    assert 0 in rows
    settled = it.settle()
    board = settled.outcome.billboard
    assert board.steps == sum(row[1] for k, row in rows.items() if k)
    assert settled.outcome.shares["payment"][0].as_py() == 0
    added = board.total - sum(map(number, filter(None, sent.values())))
    assert added
    assert abs(added) < 12 * int(rows[0][2])
    assert "no record arrived" in words(it.share(1))


def test_tokens_are_signed_by_the_participant_for_this_campaign(tmp_path: Path) -> None:
    it, other = campaign(tmp_path), campaign(tmp_path, "other", (('title = "How', 'title = "Again: how'),))
    it.draw_up()
    it.finish_contracts()
    token = it.contract(2).token
    forged = {**read_token(token), "terms": {**read_token(token)["terms"], "payment": 10**6}}
    for campaign_, identity, text, match in (
        (it, 3, token, "another participant"), (other, 2, token, "another campaign"),
        (it, 2, as_token(forged), "no valid signature"), (it, 2, "abc", "is not a contract"),
        (it, 2, "€", "is not a contract"), (it, 2, as_token({"id": "2"}), "no valid signature"),
    ):
        with pytest.raises(InvalidInput, match=match):
            campaign_.submit(identity, {"record": "32"}, contract=text)
    with pytest.raises(InvalidInput, match="is signed with the key"):
        it.submit(2, {"record": "32"}, contract=token, key="00000000-00000000-00000000-00000000-00000000")
    with pytest.raises(InvalidInput, match="signature"):
        it.share(2, record={"contract": as_token(forged), "record": "5"})
    assert not it.book().answers()


def test_a_round_cannot_be_swapped_after_it_is_final(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    draft = it.draw_up().path.read_bytes()
    it.finish_contracts()
    path = tmp_path / "contracts.json"
    path.write_bytes(draft)  # the earlier round again: it is finished as it was, or not at all
    with pytest.raises(Refused, match="final"):
        it.draw_up(without=[1])
    it.finish_contracts()
    path.unlink()
    with pytest.raises(Refused, match="final"):
        it.draw_up(without=[1])
    said = json.loads(draft)
    said["drawn"]["rows"][0][5] += 1
    path.write_text(json.dumps(said))
    path.chmod(0o600)
    with pytest.raises(InvalidInput, match="does not belong to this installation"):
        it.finish_contracts()


def test_what_people_and_operators_get_wrong(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    for record, match in (({"concern": "1.5"}, "out of bounds"), ({"concern": "much"}, "not a number"),
                          ({"record": "3"}, "not asked for in this campaign")):
        with pytest.raises(InvalidInput, match=match):
            it.submit(1, record)
    (tmp_path / "reports.csv").write_text("id,concern\n1,0.2\n2,nan\n3,2\n1,0.4\n99,0.1\n4,\n5,0.3\n6,0.1\n8,0.25\n")
    found = it.check()
    assert found.usable == 4
    shown = words(it.round_sections(it.draw_up()))
    assert "4 reports can be used. 3 rows are rejected:" in shown
    assert "concern: is out of bounds; must be in [0, 1]" in shown
    assert set(found.rejected) == {"3", "1 (row 4)", "row 5"}
    it.draw_up()
    it.finish_contracts()
    token = it.contract(1).token
    for record, match in (({"record": "much"}, "not a number"), ({"record": "nan"}, "no value"),
                          ({"concern": ".2"}, "not asked for in this campaign")):
        if match == "no value":
            with pytest.raises(InvalidInput):
                it.submit(1, record, contract=token)
            continue
        with pytest.raises(InvalidInput, match=match):
            it.submit(1, record, contract=token)
    assert not it.book().answers()
    assert "nearer end" in it.caution({"record": "300"})
    assert not it.caution({"record": "30"})
    (tmp_path / "records.csv").write_text(f"id,record\n1,7.5\n5,{2**62:016x}\n7,{12:016x}\n")
    assert it.check().rejected == {
        "1": "record: is not a word of 64 bits; must be 16 hexadecimal digits, as a device writes them",
        "5": "record: is beyond the range of a device on this contract", "7":
                                   "record: no record was asked for under this id"}
    board = it.settle().outcome.billboard
    assert (board.total, board.steps) == (0, 0)


@pytest.mark.parametrize(("edit", "match"), [
    (("low = 0 ", "low = 80 "), "which must be below high"),
    (("variance = 150", "variance = 1601"), "variance"),
    (('law = "uniform"', 'law = "power"'), "exponent is missing"),
    (('law = "uniform"', 'law = "discrete"\npoints = [0.1, 0.9]\nmasses = [0.5, 0.4]'), "mass"),
    (("order = 2.0", "order = 1"), "privacy.order"),
    (("psi_floor = 0.25", "psi_floor = 0"), "privacy.psi_floor"),
    (("psi_floor = 0.25", "psi_floor = 1.5"), "psi_floor"),
    (("largest_local_loss = 20.0", ""), "known belongs to"),
    (("error = 1.0", "error = 0"), "price.error"),
    (("error = 1.0", "error = inf"), "price.error"),
    (("minor_units = 100", "minor_units = 30"), "power of ten"),
    (('column = "concern"', 'column = "id"'), "also holds"),
])
def test_bad_files_are_reported_by_name(tmp_path: Path, edit: tuple[str, str], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        _ = campaign(tmp_path, "bad", (edit,)).plan


def test_a_limit_that_equal_weights_exceed_is_declined_with_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="largest_local_loss: 1 is too small") as refused:
        _ = campaign(tmp_path, "few", (("largest_local_loss = 20.0", "largest_local_loss = 1.0"),)).plan
    assert refused.value.exit_code == 3
    assert {name for each in refused.value.remedies for name in each.settings} == {"count"}
    assert ("If only [privacy] largest_local_loss changes, the campaign is possible only with a loss above epsilon = 10"
            in str(refused.value))


def test_a_budget_without_a_delta_is_reported_what_to_do(tmp_path: Path) -> None:
    said = (r"^budget\.rule: 'basic' adds up epsilons\. .* no promise names one; "
            r"write rule = \"zcdp\" in \[budget\]: .* in that table")
    with pytest.raises(InvalidInput, match=f"{said}$"):
        _ = campaign(tmp_path, "bad", (('rule = "zcdp"\n', ""),)).plan
    with pytest.raises(InvalidInput, match=f"{said}, and a delta above 0, such as delta = 1e-6$"):
        _ = campaign(tmp_path, "none", (('rule = "zcdp"\n', ""), ("delta = 1e-6\n", ""))).plan


def test_nobody_sends_a_record_that_the_ledger_would_refuse(tmp_path: Path) -> None:
    once = ("epsilon = 300.0", "epsilon = 40.0")  # enough for one of them
    first, second = campaign(tmp_path, "hours", (once,)), campaign(
        tmp_path, "again", (once, ('title = "How', 'title = "Again: how'), ("contracts.json", "again.json")))
    second.draw_up()
    first.draw_up()
    first.finish_contracts()  # charged here, before the first record
    with pytest.raises(BudgetExceeded):
        second.finish_contracts()
    assert not second.contract(1).final
    with pytest.raises(Refused, match="not final"):
        second.submit(1, {"record": "31"}, contract=second.contract(1).token)
    play(first, tmp_path)
    assert first.settle().fresh


def test_a_break_while_contracts_become_final_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = campaign(tmp_path)
    it.draw_up()
    for step in ("finish_round", "commit", "_write"):
        with monkeypatch.context() as patch:
            def broken(*_: object) -> None:
                raise OSError("no power")
            patch.setattr(Home if step == "finish_round" else contracts, step, broken)
            with pytest.raises(OSError, match="no power"):
                it.finish_contracts()
        assert not it.contract(1).final  # nobody acts on it yet
    assert it.finish_contracts().final
    play(it, tmp_path)
    assert it.settle().fresh
    with Store() as store:
        assert len(store.ledger()[0].debits) == 1


def test_who_withdraws_before_the_run_is_made_up_for_by_noise(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    it.draw_up()
    rows = {row[0]: row for row in it.finish_contracts().drawn["rows"]}
    sent = play(it, tmp_path)
    assert it.withdraw(1)  # before the settlement: her contract goes, and her word is not read
    settled = it.settle()
    board = settled.outcome.billboard
    assert board.steps == sum(row[1] for k, row in rows.items() if k)
    assert board.total != sum(number(word) for i, word in sent.items() if word and i != 1)
    assert settled.outcome.shares["payment"][0].as_py() == 0


def test_a_study_plays_everybody(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    outcome, sections = it.study(3)
    again, _ = it.study(3)
    assert not outcome.release_safe
    assert outcome.to_dict() == again.to_dict()
    assert "mean of all records" in words(sections)
    assert "35 hours" in words(sections)



def test_a_rehearsal_needs_the_final_round(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with pytest.raises(Refused, match="no contracts were drawn up"):
        it.rehearse(tmp_path / "records.csv")
    it.draw_up()
    with pytest.raises(Refused, match="not final"):
        it.rehearse(tmp_path / "records.csv")
    made = it.finish_contracts()
    assert it.rehearse(tmp_path / "records.csv") == len(made.drawn["rows"])
    assert it.settle().outcome.billboard.steps > 0


def test_a_rehearsal_that_is_refused_costs_no_level(tmp_path: Path) -> None:
    gone = campaign(tmp_path, "gone", (('source = "public.csv"', 'source = "nowhere.csv"'),))
    it = campaign(tmp_path, "without", (("[rehearsal]  # records", "# [rehearsal]"), (
        'source = "public.csv"\ncolumn = "hours"', "")))
    with pytest.raises(InvalidInput, match=r"nowhere\.csv"):
        gone.rehearse(tmp_path / "records.csv")
    for drawn in (False, True):
        if drawn:
            it.draw_up()
            it.finish_contracts()
        with pytest.raises(Refused, match=r"no \[rehearsal\]"):  # and not that contracts are not final
            it.rehearse(tmp_path / "records.csv")
    assert it.book().answers() == ()
    assert not it.book().path.exists()
    assert not (tmp_path / "records.csv").exists()


def test_shares_and_promises_stay_within_the_plan(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    rows = it.draw_up().drawn["rows"]
    caps, mechanism = it.plan.mechanism.caps, it.plan.mechanism
    assert max(row[3] for row in rows) <= caps.local
    assert max(row[4] for row in rows) <= caps.central
    assert max(row[5] for row in rows) <= mechanism.largest_payment * 100 + 1
    assert np.isfinite(caps.local)


@pytest.mark.slow
def test_the_audit_keeps_and_its_injected_bugs_are_flagged(tmp_path: Path) -> None:
    found = campaign(tmp_path).audit(1)
    assert found.passed, found
    assert all(control.flagged for control in found.controls)
    assert {row.verdict for row in found.rows} == {"kept"}


def test_a_hopeless_plan_is_refused_and_says_what_would_do(tmp_path: Path) -> None:
    dear = 'law = "discrete"\npoints = [0.5, 1.0]\nmasses = [0.01, 0.99]'
    for edit, match in ((('law = "uniform"', dear), "too few people are cheap enough"),
                        (("known = 30.0", "known = 5.0"), "guessing without any records costs less")):
        with pytest.raises(Refused, match=match):
            _ = campaign(tmp_path, "bad", (edit,)).plan
    with pytest.raises(InvalidInput, match="known must be at most 40"):
        _ = campaign(tmp_path, "bad", (("known = 30.0", "known = 41.0"),)).plan


def test_who_was_left_out_by_mistake_comes_back_and_reports_that_serve_nothing_are_reported(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    first = it.draw_up().drawn
    assert it.draw_up(without=[1, 2]).without == ("1", "2")
    assert it.draw_up(again=[2]).without == ("1",)
    with pytest.raises(InvalidInput, match="'2' was not left out"):
        it.draw_up(again=[2])
    assert it.draw_up(again=[1]).drawn["rows"] == first["rows"]
    (tmp_path / "reports.csv").write_text("id,concern\n1,10\n2,35\n")
    with pytest.raises(Refused, match=r"no report in reports.csv can be used.*1: concern: is out of bounds"):
        it.draw_up()
    assert it.submitted(1) is False

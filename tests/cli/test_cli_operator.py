"""The verbs after a run: ledger, payouts and withdraw for the operator, verify for anybody."""

from __future__ import annotations

import csv
import json
import re
import shutil
import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from campaign.forging import quick
from campaign.small import rows, tree, write
from cli.commands import Run
from confide.campaign import Campaign, Home, Store

OUT = re.compile(r"(queued|approved|sent|paid|failed) +([\d,]+) +([\d,.]+) EUR")
IBAN = "DE89370400440532013000"


# ---- no store


@pytest.mark.parametrize("verb", ["ledger", "share", "payouts", "withdraw"])
def test_only_a_run_makes_a_store(verb: str, run: Run, path: Path, tmp_path: Path, home: Path) -> None:
    """A slip of the finger shows no fresh budget, and leaves nothing: neither a file, nor a folder, nor a key."""
    asked = [verb, *([] if verb == "ledger" else [path]), *(["--id", 7] if verb in ("share", "withdraw") else [])]
    before = sorted(tmp_path.rglob("*"))
    wrong = run(*asked, "--store", f"sqlite:///{tmp_path}/deep/stroe.db")
    assert (wrong.code, wrong.out) == (2, "")
    assert f"store: {tmp_path}/deep/stroe.db does not exist; `confide run` makes one" in wrong.err
    own = run(*asked)  # on a new installation, which has none yet
    assert own.code == (0 if verb == "ledger" else 3)
    says = {"ledger": "Nothing has been charged yet.", "withdraw": "does not know this campaign"}
    assert says.get(verb, f"is not settled in sqlite:///{home}/store.db (run `confide run") in own.out + own.err
    assert (sorted(tmp_path.rglob("*")), list(home.iterdir())) == (before, [])


# ---- campaigns and ledger


def test_a_run_that_could_not_read_its_records_says_what_it_waits_for(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, ('source = "answers.csv"', 'source = "other.csv"'))
    (tmp_path / "other.csv").write_text("id,years\n1,30\n")
    assert run("run", path).code == 2
    (table,) = run("campaigns", "--json").json["sections"][0]["blocks"]
    assert table["rows"][0][4] == "open"
    assert table["note"].startswith("open: the campaign waits for its records. The last column says whether the ledger")
    assert (table["columns"][-1], table["rows"][0][-1]) == ("charged", "no")
    assert run("ledger").out.strip().endswith("Nothing has been charged yet.")


def test_the_list_of_campaigns(run: Run, settled: tuple[Path, Path]) -> None:
    found = run("campaigns")
    assert re.search(r"1 +pay +What do age .* regression +settled +2,000 +0 +yes", found.out)
    assert run("campaigns", "--json").json["sections"][0]["private"]


def test_the_ledger(run: Run, path: Path, tmp_path: Path) -> None:
    assert "Nothing has been charged yet." in run("ledger").out
    assert run("run", path).code == 0
    found = run("ledger")
    assert (found.code, found.err) == (0, "")
    assert re.search(r"pay survey +one record replaced +epsilon = 6 +epsilon 1 of 7 +2,000 +epsilon 1 of 7",
                     found.out)
    assert re.search(r"pay survey +\d{4}-\d\d-\d\d +pay +What do age and sex say about pay\? +public, others ",
                     found.out)
    assert "others are all other people together" in " ".join(found.out.split())
    assert "Nothing renews the budget, and every charge stays." in " ".join(found.out.split())
    assert "PRIVATE" not in found.out
    assert max(map(len, found.out.splitlines())) <= 120
    assert run("ledger", "--data-set", "pay survey").out == found.out
    spoken = run("ledger", "--json").json
    assert (spoken["command"], len(spoken["sections"])) == ("ledger", 2)
    assert spoken["store"].endswith("/store.db")
    unknown = run("ledger", "--data-set", "pay")
    assert (unknown.code, unknown.out) == (2, "")
    assert "data-set: 'pay' has no account; known: pay survey" in unknown.err


def test_the_ledger_of_one_person(run: Run, settled: tuple[Path, Path]) -> None:
    found = run("ledger", "--data-set", "pay survey", "--id", 17)
    assert (found.code, found.err) == (0, "")
    assert "Participant 17, pay survey (one record replaced)   PRIVATE" in found.out
    assert re.search(r"spent +epsilon = 6\b.*left +epsilon 1 of 7\b", found.out, re.DOTALL)
    nobody = run("ledger", "--data-set", "pay survey", "--id", 2001)
    assert "This person was in no campaign on this data set." in nobody.out
    assert all(part["private"] for part in run("ledger", "--id", 17, "--json").json["sections"])


# ---- payouts


def _queue(text: str) -> dict[str, tuple[int, str]]:
    return {state: (int(people.replace(",", "")), money) for state, people, money in OUT.findall(text)}


def _code(text: str) -> str:
    found = re.search(r"--approve ([0-9a-f]{8})", text)
    assert found is not None
    return found[1]


def test_payouts_from_the_queue_to_the_bank_and_back(run: Run, path: Path, tmp_path: Path) -> None:
    before = run("payouts", path)
    assert (before.code, before.out) == (3, "")
    assert "is not settled" in before.err
    assert run("run", path).code == 0
    found = run("payouts", path)
    assert (found.code, found.err) == (0, "")
    assert "PRIVATE" in found.out
    campaign = Campaign.load(path)
    terms = campaign.file.kind.payouts(campaign.plan)
    due = [coins + terms.deposit for coins in campaign.settled().shares["payment"].to_pylist()]
    total = f"{sum(due) / 100:,.2f}"
    assert _queue(found.out) == {"queued": (2000, total), **dict.fromkeys(("approved", "sent", "paid", "failed"),
                                                                          (0, "0.00"))}
    paid = sum(campaign.settled().shares["payment"].to_pylist())
    assert re.search(rf"queued +2,000 +{total} EUR +{re.escape(f'{paid / 100:,.2f}')} EUR", found.out)
    code = _code(found.out)

    early = run("payouts", path, "--export", tmp_path / "early.csv")
    assert (early.code, early.out) == (3, "")
    assert "no payout is approved" in early.err
    wrong = run("payouts", path, "--approve", "0" * 8)
    assert (wrong.code, wrong.out) == (3, "")
    assert _queue(run("payouts", path).out)["queued"][0] == 2000
    approved = run("payouts", path, "--approve", code)
    assert approved.out.startswith("approved 2,000 payouts\n")
    assert _queue(approved.out)["approved"] == (2000, total)
    assert run("payouts", path, "--approve", code).out.startswith("no payout waits for approval\n")

    assert run("payouts", path, "--export", tmp_path / "due.xls").code == 2
    exported = run("payouts", path, "--export", tmp_path / "due.csv", "--json").json
    assert (exported["done"], exported["currency"], exported["entries"]) == ({"batch": 1}, "EUR", None)
    (batch,) = exported["batches"]
    assert (batch["number"], batch["format"], batch["coins"]) == (1, "csv", str(sum(due)))
    assert batch["people"] == {"sent": 2000, "paid": 0, "failed": 0, "reopened": 0}
    assert exported["people"] == {"queued": 0, "approved": 0, "sent": 2000, "paid": 0, "failed": 0}
    assert exported["coins"]["sent"] == str(sum(due))
    assert stat.S_IMODE((tmp_path / "due.csv").stat().st_mode) == 0o600
    with (tmp_path / "due.csv").open(newline="") as file:
        listed = list(csv.DictReader(file))
    assert [row["amount"] for row in listed] == [f"{coins / 100:.2f}" for coins in due]
    assert [row["id"] for row in listed] == [str(rank) for rank in range(1, 2001)]
    assert len({row["reference"] for row in listed}) == 2000
    assert run("payouts", path, "--export", tmp_path / "more.csv").code == 3  # all is out
    assert run("payouts", path, "--export", tmp_path / "due.csv", "--batch", 1).code == 2  # never over a file
    same = run("payouts", path, "--export", tmp_path / "same.csv", "--batch", 1)
    assert same.out.startswith(f"wrote batch 1 with 2,000 payments, {total} EUR in all, to {tmp_path / 'same.csv'}; "
                               "import the bank's answer with --import\n")
    assert (tmp_path / "same.csv").read_bytes() == (tmp_path / "due.csv").read_bytes()

    answer = tmp_path / "answer.csv"
    said = {row["reference"]: "failed" if row["id"] == "17" else "paid" for row in listed}
    answer.write_text("reference,status\n" + "".join(f"{name},{status}\n" for name, status in said.items()))
    first, rest = answer.read_text().split("\n", 3)[:3], tmp_path / "first.csv"
    rest.write_text("\n".join(first) + "\n")
    some = run("payouts", path, "--import", rest)
    assert some.out.startswith("2 paid, 0 returned\n0 known before, 1,998 still without an answer of the bank\n")
    taken = run("payouts", path, "--import", answer)
    assert taken.out.startswith("1,997 paid, 1 returned: --reopen queues it again\n"
                                "2 known before, 0 still without an answer of the bank\n")
    assert "To queue failed payouts again, use --reopen." in taken.out
    assert run("payouts", path, "--import", answer).out.startswith("0 paid, 0 returned\n2,000 known before, 0 still ")
    assert run("payouts", path, "--export", tmp_path / "again.csv", "--batch", 1).code == 3  # it was answered

    reopened = run("payouts", path, "--reopen")
    assert reopened.out.startswith("queued 1 again\n")
    assert _queue(reopened.out)["queued"] == (1, f"{due[16] / 100:,.2f}")
    assert run("payouts", path, "--approve", code).code == 3  # that was another queue
    last = run("payouts", path, "--approve", _code(reopened.out), "--export", tmp_path / "last.csv")
    assert last.out.startswith(f"approved 1 payout\nwrote batch 2 with 1 payment, {due[16] / 100:,.2f} EUR in all, to ")
    assert re.search(r"\n1 +\S+ +csv +[\d,.]+ EUR +0 +1,999 +0 +1\n2 +\S+ +csv +[\d,.]+ EUR +1 +0 +0 +0\n", last.out)
    listed_ = run("payouts", path, "--list")
    assert listed_.out.count("PRIVATE") == 2
    assert re.search(rf"\n17 +{due[16] / 100:,.2f} EUR +sent +2 *\n", listed_.out)
    assert re.search(rf"\n18 +{due[17] / 100:,.2f} EUR +paid +1 *\n", listed_.out)
    entries = run("payouts", path, "--list", "--json").json["entries"]
    assert len(entries) == 2000
    assert entries[16] == {"id": "17", "coins": str(due[16]), "state": "sent", "batch": 2}
    with (tmp_path / "last.csv").open(newline="") as file:
        (own,) = csv.DictReader(file)
    assert (own["id"], own["amount"]) == ("17", listed[16]["amount"])
    late = run("payouts", path, "--import", answer)  # of the attempt that failed: no word on this one
    assert late.out.startswith("0 paid, 0 returned\n2,000 known before, 1 still without an answer of the bank\n")
    answer.write_text(f"reference,status\n{own['reference']},paid\n")
    done = run("payouts", path, "--import", answer)
    assert _queue(done.out)["paid"] == (2000, total)
    assert "All payouts are paid. Reports, shares and single amounts have been erased." in done.out
    erased = run("payouts", path, "--list").out
    assert re.search(r"\n17 +erased +paid +2 *\n", erased)
    assert f"{due[16] / 100:,.2f} EUR" not in erased
    own_now = run("share", path, "--id", 17)
    assert (own_now.code, own_now.out) == (3, "")
    assert "everybody is paid, and the shares were erased" in own_now.err
    assert total not in "".join(data.decode("latin-1") for data in tree(tmp_path / "out").values())


@pytest.mark.slow
def test_payouts_for_a_bank(run: Run, path: Path, tmp_path: Path) -> None:
    assert run("run", path).code == 0
    assert run("payouts", path, "--approve", _code(run("payouts", path).out)).code == 0
    for missing, more in (("payees", ["--payer", f"A buyer,{IBAN}"]), ("payer", ["--payees", tmp_path / "payees.csv"])):
        found = run("payouts", path, "--export", tmp_path / "due.xml", *more)
        assert (found.code, found.out) == (2, "")
        assert f"{missing}: is missing; give --payees FILE and --payer NAME," in found.err
    payees = tmp_path / "payees.csv"
    payees.write_text("id,name,iban\n" + "".join(f"{rank},Person {rank},{IBAN}\n" for rank in range(1, 2000)))
    asked = ["payouts", path, "--export", tmp_path / "due.xml", "--payees", payees, "--payer", f"A buyer,{IBAN}"]
    short = run(*asked)
    assert (short.code, short.out) == (2, "")
    assert "payees: '2000' is missing" in short.err
    assert _queue(run("payouts", path).out)["approved"][0] == 2000  # nothing was exported
    payees.write_text(f"{payees.read_text()}2000,Person 2000,{IBAN}\n")
    assert run(*asked).out.startswith("wrote batch 1 with 2,000 payments, ")
    other = run("payouts", path, "--export", tmp_path / "due.csv", "--batch", 1)
    assert (other.code, other.out) == (3, "")
    assert "batch 1 was written as pain.001" in other.err
    assert stat.S_IMODE((tmp_path / "due.xml").stat().st_mode) == 0o600
    paid = ET.parse(tmp_path / "due.xml").getroot().findall(".//{*}InstdAmt")
    assert len(paid) == 2000
    assert all(float(each.text or 0) > 0 for each in paid)
    for data in tree(Home.default().folder).values():  # nothing of names and accounts is stored
        assert b"Person" not in data
        assert IBAN.encode() not in data


# ---- verify


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


@pytest.mark.usefixtures("_quick")
def test_verify(run: Run, settled: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = settled
    key = Home.default().fingerprint
    own = dict(zip(("id", "age", "sex", "pay"), rows()[6].split(","), strict=True))
    record = ",".join(f"{name}={own[name]}" for name in ("age", "sex", "pay"))
    mine = ["share", path, "--id", 7, "--out", folder, "--record", record]
    assert run(*mine, "--write", tmp_path / "mine.json").code == 0
    shutil.copytree(folder, tmp_path / "pack")
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "no" / "installation"))  # she has none, and needs none
    found = run("verify", tmp_path / "pack")
    assert (found.code, found.err) == (0, "")
    assert "integrity only" in found.out
    assert "The pack is whole. The signer is not known" in found.out
    known = run("verify", tmp_path / "pack", "--key", key, "--own", tmp_path / "mine.json")
    assert known.code == 0
    assert "the key that you know" in known.out
    assert re.search(r"own share +holds +payment ", known.out)
    assert known.out.rstrip().endswith("The pack is whole.")
    spoken = run("verify", tmp_path / "pack", "--key", key.upper().replace("-", " "), "--json").json
    assert (spoken["passed"], spoken["known_signer"], spoken["signer"]) == (True, True, key)
    assert {finding["verdict"] for finding in spoken["findings"]} == {"holds"}
    archive = shutil.make_archive(str(tmp_path / "pack"), "zip", tmp_path / "pack")
    assert run("verify", archive, "--json").json["digest"] == spoken["digest"]
    assert not (tmp_path / "no").exists()


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("name", ["coefficients.csv", "report.html", "manifest.json", "events.json", "campaign.toml",
                                  "campaign.json"])
def test_verify_finds_a_changed_byte(name: str, run: Run, settled: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(settled[1], tmp_path / "pack")
    place = tmp_path / "pack" / name
    data = place.read_bytes()
    digit = re.search(rb"(?<=[\d.:, ])[1-8](?=\d)", data[len(data) // 3 :])
    assert digit is not None
    at = len(data) // 3 + digit.start()
    place.write_bytes(data[:at] + bytes([data[at] + 1]) + data[at + 1 :])
    found = run("verify", tmp_path / "pack")
    assert (found.code, found.err) == (1, "")
    assert "The pack is broken: at least one check failed." in found.out
    spoken = run("verify", tmp_path / "pack", "--json")
    assert spoken.code == 1
    assert spoken.json["passed"] is False
    broken = {finding["check"]: finding["detail"] for finding in spoken.json["findings"]
              if finding["verdict"] == "broken"}
    assert broken
    if name != "campaign.json":
        assert name in broken["files"]


@pytest.mark.usefixtures("_quick")
def test_verify_with_the_wrong_key_or_share(run: Run, settled: tuple[Path, Path], tmp_path: Path) -> None:
    found = run("verify", settled[1], "--key", "00000000-00000000-00000000-00000000-00000000")
    assert found.code == 1
    assert "not by 00000000-00000000" in " ".join(found.out.split())
    record = {"age": "40", "sex": "male", "pay": "41.5"}
    own = Campaign.load(settled[0]).own_file(7, settled[1], record=record)
    (tmp_path / "mine.json").write_text(json.dumps({**own, "share": {"payment": own["share"]["payment"] + 1}}))
    found = run("verify", settled[1], "--own", tmp_path / "mine.json")
    assert found.code == 1
    assert re.search(r"own share +broken +the billboard gives payment ", found.out)


def test_verify_of_nothing(run: Run, settled: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "note").mkdir()
    (tmp_path / "note" / "campaign.json").write_text("{}")
    (tmp_path / "mine.json").write_text("[]")
    for arguments, says in (([tmp_path / "nowhere"], "the folder cannot be read: it does not exist"),
                            ([tmp_path / "note"], "does not belong to a pack"),
                            ([settled[1], "--key", ""], "key: '' is not a fingerprint"),
                            ([settled[1], "--own", tmp_path / "mine.json"], "is not a participant's file")):
        found = run("verify", *arguments)
        assert (found.code, found.out) == (2, "")
        assert says in found.err


# ---- withdraw


def test_withdraw_from_a_campaign_that_the_store_does_not_know(run: Run, path: Path) -> None:
    """A changed file is another campaign: nobody is told that she was withdrawn from the one that ran."""
    with Store() as store:
        for option in ((), ("--json",)):
            found = run("withdraw", path, "--id", 7, *option)
            assert found.code == 3
            assert "does not know this campaign" in found.err
        assert store.campaigns() == ()


def test_withdraw_before_the_settlement(run: Run, path: Path) -> None:
    campaign = Campaign.load(path)
    with Store() as store:
        store.open(campaign.file, 2000)
    for _ in range(2):  # once more changes nothing
        found = run("withdraw", path, "--id", 7)
        assert (found.code, found.err, found.out) == (0, "", "withdrawn: the participant's record counts as empty\n")
    assert "Nothing has been charged yet." in run("ledger").out
    assert run("run", path, "--json").json["stored"] is False
    reported = " ".join(run("share", path, "--id", 7).out.split())
    assert "Participant 7: withdrew before the settlement PRIVATE" in reported
    assert re.search(r"Their deposit of \d+\.\d\d EUR is returned with the payouts\.", reported)
    paid = Campaign.load(path).settled().shares["payment"].to_pylist()
    assert (len(paid), paid[6]) == (2000, 0)  # the number of slots stays
    listed = run("payouts", path, "--list").out
    assert re.search(r"queued +2,000 ", listed)  # her deposit is returned: she is in the file
    deposit = re.search(r"Withdrawn before the settlement.*\n7 +([\d.]+ EUR) *\n", listed, re.DOTALL)
    assert deposit is not None
    assert re.search(rf"\n7 +{deposit[1]} +queued", listed)
    assert deposit[1] in reported
    for name in ("offer", "plan"):
        assert deposit[1] in " ".join(run(name, path).out.split())
    assert re.search(r"pay survey .* 2,000 ", run("ledger").out)  # who withdrew is nobody's to see


def test_withdraw_after_the_settlement(run: Run, path: Path, tmp_path: Path) -> None:
    assert run("run", path).code == 0
    public, queue = tree(tmp_path / "out"), run("payouts", path).out
    found = run("withdraw", path, "--id", 7)
    assert (found.code, found.err) == (0, "")
    assert found.out == "erased: the participant's record and share; the published result and the ledger stay\n"
    assert run("withdraw", path, "--id", 7, "--json").json["before_settlement"] is False
    gone = run("share", path, "--id", 7)
    assert (gone.code, gone.out) == (3, "")
    assert "this participant withdrew, and their share was erased" in gone.err
    assert run("share", path, "--id", 8).code == 0
    assert run("run", path, "--json").json["stored"] is True
    assert tree(tmp_path / "out") == public
    assert run("payouts", path).out == queue
    assert "in no campaign" not in run("ledger", "--data-set", "pay survey", "--id", 7).out


@pytest.mark.parametrize("identity", ["0", "2001", "nobody", ""])
def test_withdraw_of_nobody(identity: str, run: Run, path: Path) -> None:
    found = run("withdraw", path, "--id", identity)
    assert (found.code, found.out) == (2, "")
    assert "not on the public list of 2000 ids" in found.err


def test_a_store_of_another_key_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    with Store(url):
        assert run("ledger", "--store", url).code == 0
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "another"))
    path = write(tmp_path)
    for command in (["ledger"], ["run", path], ["share", path, "--id", 7], ["payouts", path],
                    ["withdraw", path, "--id", 7]):
        found = run(*command, "--store", url)
        assert (found.code, found.out) == (2, "")
        assert "has another key than" in found.err
        assert "every budget would start again" in found.err

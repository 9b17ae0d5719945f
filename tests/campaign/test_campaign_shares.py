"""What a campaign says before and after its settlement: plan, offer, progress, and each participant's own share."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from campaign.pages import self_contained
from campaign.settled import RECORD, Done, alone, charged, stands
from campaign.small import rows, tree, write
from confide.campaign import Campaign, Home, Store
from confide.campaign.charging import charge_of
from confide.campaign.pages import ledger_sections
from confide.campaign.report import page
from confide.campaign.signatures import signed_by
from confide.contract import InvalidInput, Refused
from confide.contract.encoding import column_bytes
from confide.contract.kinds import by_slots
from confide.privacy import PureDP


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.load(write(tmp_path))


def test_plan_and_offer_read_nothing(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path))
    (tmp_path / "answers.csv").unlink()
    assert campaign.plan is campaign.plan
    assert campaign.plan.guarantees.privacy[0].loss == PureDP(6.0)
    parts = campaign.offer()
    assert "epsilon" not in parts[0].title
    assert Home.default().fingerprint in parts[-1].blocks[0].paragraphs[0]
    assert campaign.default_folder == tmp_path / "out" / "pay"
    assert campaign.study_folder == tmp_path / "out" / "pay-study"


def test_the_offer_names_the_key_that_signs(campaign: Campaign) -> None:
    offered = campaign.offer()[-1].blocks[0].paragraphs[0]
    note = json.loads((campaign.settle().folder / "campaign.json").read_bytes())
    assert str(signed_by(note)) in offered


def test_what_cannot_be_counted_is_refused_in_the_plan(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path, ("scale = 0.001", "scale = 1e14")))
    with pytest.raises(Refused, match=r"2,000 payments of up to 4\.97e\+18 EUR, .* more than 2\^63 coins"):
        campaign.plan  # noqa: B018
    with pytest.raises(InvalidInput, match="minor_units"):
        Campaign.load(write(tmp_path, ('currency = "EUR"', 'currency = "EUR"\nminor_units = 10000000000000000000')))


def test_the_deposit_is_one_number(tmp_path: Path) -> None:
    """94.2 coins at most can be owed: 95 are asked for, shown and paid back."""
    campaign = Campaign.load(write(tmp_path, ('currency = "EUR"', 'currency = "EUR"\nminor_units = 1')))
    lowest = campaign.plan.regression.figures.lowest  # type: ignore[attr-defined]
    assert 94.0 < -lowest < 94.5
    terms = campaign.file.kind.payouts(campaign.plan)
    assert terms is not None
    assert terms.deposit == campaign.plan.to_dict()["deposit"] == 95
    assert "You leave a deposit of 95 EUR at the start" in str(campaign.offer())
    assert "('deposit that each participant leaves', '95 EUR')" in str(campaign.plan.sections())


def test_the_participants_page_says_what_arrives(settled: Done) -> None:
    """Her share and the deposit, the same number as in the queue."""
    campaign, _, store = settled
    found = campaign.payouts(store=store)
    due = found.terms.money(found.entries["coins"][6].as_py())
    deposit = found.terms.money(found.terms.deposit)
    alone = found.terms.money(max(0, found.entries["coins"][6].as_py() - found.terms.deposit))
    own = dict(zip(("age", "sex", "pay"), rows()[6].split(",")[1:], strict=True))
    for parts in (campaign.share("7", store=store), campaign.share("7", settled.settled.folder, record=own)):
        said = (f"With the deposit of {deposit} that you left with your record, you are paid {due} in all: compare "
                f"this amount with the money that you received. If you left no deposit, you are paid {alone}.")
        assert said in parts[0].blocks[0].paragraphs


def test_what_is_printed_of_a_campaign_is_short_and_public(settled: Done) -> None:
    campaign, done, store = settled
    assert repr(campaign) == (f"<campaign 'What do age and sex say about pay?', regression, of {campaign.file.path}>")
    assert repr(done) == ("<campaign 'What do age and sex say about pay?', settled now, number 1 of its store, in "
                          f"{done.folder}>")
    assert repr(campaign.payouts(store=store)) == "<payouts of 2000 people; private, see its fields>"


def test_names_in_quotes(tmp_path: Path) -> None:
    """They are shown as they are; a page, which is no terminal, shows no marks of code."""
    title, data_set = """Ann's "pay" `<b>`""", """the "town's" `list`"""
    folder = tmp_path / "Ann's files"
    campaign = Campaign.load(write(
        folder, ('"What do age and sex say about pay?"', json.dumps(title)), ('"pay survey"', json.dumps(data_set))))
    shown = self_contained(page(campaign.file.title, "", campaign.offer()))
    assert shown.words.count(title) == 2
    assert "`" not in shown.words.replace(title, "")
    with pytest.raises(Refused) as caught:
        campaign.payouts()
    assert shlex.split(caught.value.remedy.partition("`")[2].partition("`")[0])[2] == str(campaign.file.path)
    with Store() as store:
        number = store.open(campaign.file, 2000).number
        store.close_collection(number)
        store.charge(number, charge_of(campaign.file, campaign.plan))
        parts = ledger_sections(store.ledger(data_set))
    assert [part.blocks[0].rows[0][0] for part in parts] == [data_set] * 2
    assert self_contained(page("", "", parts)).words.count(title) == 1


def test_before_the_settlement_there_is_no_share(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"not settled in sqlite:///.*store\.db") as caught:
        campaign.share("7")
    assert caught.value.remedy.startswith(f"run `confide run {campaign.file.path}` first. A file that was changed ")
    assert caught.value.remedy.endswith("is another campaign. If the campaign is settled in another store, name that "
                                        "store with --store")
    with pytest.raises(Refused, match=f"not settled in {tmp_path / 'out'}") as caught:
        campaign.share("7", tmp_path / "out", record=RECORD)
    assert caught.value.remedy.endswith("If its public files are in another folder, name that folder with --out")


def test_it_is_known_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the outcome's place nor that it was settled hang on the working directory."""
    monkeypatch.chdir(tmp_path)
    done = Campaign.load(write(tmp_path / "deep")).settle()
    assert done.folder == tmp_path / "deep" / "out" / "pay"
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    campaign = Campaign.load("../deep/pay.toml")
    assert campaign.share("7")
    assert campaign.share("7", record=RECORD)
    assert campaign.settle().fresh is False
    alone(tmp_path, {"deep", "other"})
    alone(tmp_path / "other", set())


@pytest.mark.parametrize("identity", ["0", "2001", "-1", "7.5", "", "seven", "07", "7 7"])
def test_a_share_of_nobody(identity: str, settled: Done) -> None:
    campaign, done, store = settled
    for call in (lambda: campaign.share(identity, store=store),
                 lambda: campaign.share(identity, done.folder, record=RECORD),
                 lambda: campaign.own_file(identity, done.folder, record=RECORD)):
        with pytest.raises(InvalidInput, match="not on the public list") as caught:
            call()
        assert caught.value.field == "id"


def test_every_share_is_private_and_equals_the_stored_one(settled: Done) -> None:
    campaign, done, store = settled
    paid = done.outcome.shares["payment"].to_pylist()
    for identity in ("1", "7", "2000"):
        coins = paid[int(identity) - 1]
        sections = campaign.share(identity, store=store)
        assert all(section.private for section in sections)
        assert sections[0].title == f"Participant {identity}: payment {coins / 100:,.2f} EUR"
        own = dict(zip(("id", "age", "sex", "pay"), rows()[int(identity) - 1].split(","), strict=True))
        assert own.pop("id") == identity
        assert campaign.share(identity, done.folder, record=own)[0].title == sections[0].title
        assert campaign.own_file(identity, done.folder, record=own)["share"] == {"payment": coins}


def test_a_hopeless_plan_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    path = write(tmp_path, ("truth_radius = 0.4", "truth_radius = 0.01"))
    (tmp_path / "answers.csv").unlink()
    campaign = Campaign.load(path)
    with pytest.raises(Refused, match="out of reach"):
        campaign.settle(tmp_path / "out")
    assert (stands(campaign), charged()) == ((None, 0), (None, 0))
    alone(tmp_path, {"pay.toml"})


@pytest.mark.parametrize("people", [150, 2000])
def test_progress_tells_of_slots_and_steps_alone(people: int, tmp_path: Path) -> None:
    """Whoever came: the bar is the same."""
    reported: list[tuple[int, int | None]] = []
    campaign = Campaign.load(write(tmp_path, lines=rows()[:people]))
    campaign.settle(tmp_path / "out", progress=lambda done, total: reported.append((done, total)))
    campaign.check(progress=lambda done, total: reported.append((done, total)))
    steps = [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert reported == [(0, 2000), *steps, (0, 2000)]  # the collection, the run, and the check


def test_progress_is_one_batch_late() -> None:
    reported: list[tuple[int, int | None]] = []
    report = by_slots(lambda done, total: reported.append((done, total)), 100)
    for rows_read in (40, 80, 117, 40, 80, 117, 117):
        report(rows_read, 117)
    assert reported == [(0, 100), (40, 100), (80, 100), (0, 100), (40, 100), (80, 100), (0, 100)]


def test_a_share_is_what_was_settled_even_if_the_file_changed(tmp_path: Path) -> None:
    """Whoever was paid most hands in an empty record, which is paid nothing whatever the noise was."""
    path = write(tmp_path)
    campaign = Campaign.load(path)
    settled = campaign.settle(tmp_path / "out").outcome.shares["payment"].to_numpy()
    most = int(settled.argmax())
    answers = tmp_path / "answers.csv"
    lines = answers.read_text(encoding="utf-8").splitlines()
    row = lines[most + 1].split(",")
    row[lines[0].split(",").index("pay")] = ""
    lines[most + 1] = ",".join(row)
    answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
    title = campaign.share(str(most + 1))[0].title
    assert title == f"Participant {most + 1}: settled at {settled[most] / 100:,.2f} EUR"


@pytest.mark.parametrize("shares", [{"amount": [1]}, {"payment": [1]}, {"payment": ["x"] * 9}], ids=range(3))
def test_shares_of_something_else(
    shares: dict[str, Any], settled: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "shares", lambda *_: column_bytes(pa.table(shares)))
    with pytest.raises(InvalidInput, match="hold no payment of this participant"):
        settled[0].share("7", store=settled[2])


def test_an_erased_share_is_not_shown(campaign: Campaign, tmp_path: Path) -> None:
    done = campaign.settle(tmp_path / "out")
    before = tree(tmp_path / "out")
    with Store() as store:
        assert store.withdraw(done.number, 6) is False
    with pytest.raises(Refused, match="withdrew, and their share was erased"):
        campaign.share("7")
    assert campaign.share("8")
    assert campaign.share("7", tmp_path / "out", record=RECORD)  # from the public files, with her own record
    assert campaign.settle(tmp_path / "out").fresh is False
    assert tree(tmp_path / "out") == before

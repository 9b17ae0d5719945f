"""Whole campaigns by pages alone: the operator, three participants in browsers of their own, and the public.

One of each sort of kind: where devices draw noise, where what people hand in is settled together, and where a custodian
holds a table. axe looks at every page, on the screen of a desk and on that of a telephone.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from typer.testing import CliRunner

from confide.campaign.store.reports import put_row
from confide.cli.app import app as cli
from confide.contract import kind
from confide.service.work.rounds import FIRST
from service.web.browsing import Desk, Visitor, leaving, running, verified
from service.web.wire import Ears, Wire, beyond

COMPUTED = "Your own device computes this from its instructions"
"""Above what leaves her device."""


def joined(
    chromium: Browser, base: str, links: list[str], *, dark: bool = False, watched: Collection[int] = (0, 2)
) -> list[Visitor]:
    """Three people, the third with a telephone; the second sees nothing that the first does not."""
    people = [Visitor(chromium, base, phone=k == 2, dark=dark, watched=k in watched) for k in range(len(links))]
    for person, link in zip(people, links, strict=True):
        person.joins(link)
    return people


def computed_again(person: Visitor, pack: Path, identity: str, record: str) -> str:
    """Her share, by the command that the page shows, from the public files and what she handed in."""
    *_, line = person.page.locator("#commands").inner_text().strip().splitlines()
    assert line.startswith(f"confide share pack/campaign.toml --out pack --id {identity} --record ")
    found = CliRunner().invoke(cli, ["share", str(pack / "campaign.toml"), "--out", str(pack), "--id", identity,
                                     "--record", record])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.slow
def test_a_local_campaign(chromium: Browser, tmp_path: Path) -> None:
    """Reports are drawn on devices, people are paid, and everybody checks it."""
    with running(tmp_path) as (base, _), Desk(chromium, base) as desk, Visitor(chromium, base) as public:
        desk.logs_in()
        desk.begins("bits")
        desk.taken("desk-plan", "Plan")
        number = desk.opens()
        people = joined(chromium, base, desk.invites("1, 2, 3"), watched=(0,))  # the slow walks watch telephones, too
        drawn = []
        people[0].taken("offer")
        for person, answer in zip(people, ("yes", "no", "yes"), strict=True):
            assert "If your answer is yes, your device sends yes in about 73 of 100 draws, and no in 27 of 100." in (
                person.page.locator("#odds").inner_text())
            person.tick(answer)
            person.press("Draw my report")
            drawn.append(leaving(person.page))
            person.taken("draw", COMPUTED)
            person.look()
            person.press("Hand it in")
            person.page.get_by_text("Your report is stored").wait_for()
        desk.page.reload()
        assert desk.page.get_by_text("3 of 200 have handed something in").is_visible()
        desk.taken("desk-running")
        desk.settles()
        money = re.compile(r"payment\s+([0-9.]+ EUR)")
        seen = public.see(f"/campaigns/{number}")
        digest = seen.locator("#signed").inner_text()
        public.taken("public")
        assert digest in verified(seen, tmp_path).replace("\n", "")
        for k, person in enumerate(people):
            shown = person.see("/mine/share")
            assert shown.locator("#signed").inner_text() == digest
            paid = money.search(shown.locator("main").inner_text())
            assert paid is not None
            if k == 0:
                assert paid[1] in computed_again(person, tmp_path / "pack", "1", f"report={drawn[k]}")
                person.taken("share")
            shown.get_by_text("Compute the share again on this page").click()
            assert shown.locator("#again [name='field.answer']").count() == 0  # her answer is not asked for
            expect(shown.get_by_label(drawn[k], exact=True)).to_be_checked()  # this device had kept it
            person.press("Compute")
            assert f"payment {paid[1]}" in shown.locator("main").inner_text()
            person.look()
            person.context.close()


@pytest.mark.slow
def test_a_joint_campaign(chromium: Browser, tmp_path: Path) -> None:
    """Goods are handed out by what everybody wrote; the pages are dark."""
    text = kind("matching").template
    for words, fewer in (("count = 600", "count = 200"), ("[110, 120, 120, 120]", "[37, 40, 40, 40]"),
                         ("epsilon = 4.0", "epsilon = 8.0")):
        assert words in text
        text = text.replace(words, fewer)
    with (running(tmp_path) as (base, _), Desk(chromium, base, dark=True) as desk,
          Visitor(chromium, base, dark=True) as public):
        desk.logs_in()
        desk.begins("matching", text)
        desk.follow("Privacy, error and money at other levels")
        desk.look()
        desk.follow("Go back")
        number = desk.opens()
        people = joined(chromium, base, desk.invites("1, 2, 3"), dark=True)
        for person, wish in zip(people, ("algebra", "law", "music"), strict=True):
            person.write("algebra", "a lot")
            person.press("Hand it in")
            summary = person.page.locator("#wrong")
            expect(summary).to_be_focused()
            expect(summary).to_be_in_viewport()
            person.look()
            summary.get_by_text("algebra: is not a number").click()
            expect(person.page.locator("#field-algebra")).to_be_in_viewport()
            person.taken("form", "Your answer")
            person.write("algebra", "0")
            person.write(wish, "90")
            person.press("Hand it in")
            person.page.get_by_text("Your report is stored").wait_for()
        desk.settles()
        desk.audits()
        desk.taken("desk-audit", "Audit")
        seen = public.see(f"/campaigns/{number}")
        assert "The pack is whole" in verified(seen, tmp_path)
        for k, (person, wish) in enumerate(zip(people, ("algebra", "law", "music"), strict=True)):
            reported = person.see("/mine/share").locator("section.private").inner_text()
            got = f"Participant {k + 1}: {wish}" in computed_again(person, tmp_path / "pack", str(k + 1), f"{wish}=90")
            assert reported.endswith(wish if got else "You get nothing.")
            person.context.close()
        desk.see("/desk/ledger")
        desk.taken("ledger")


@pytest.mark.slow
def test_a_campaign_on_contracts(chromium: Browser, tmp_path: Path) -> None:
    """People report first, agree to a contract, and their devices add noise to a number.

    Three do so at pages. The others, without whom nothing would be bought, have reported before.
    """
    ears = Ears()
    with running(tmp_path, ears=ears.before) as (base, parts), Desk(chromium, base) as desk:
        desk.logs_in()
        desk.begins("mean")
        desk.follow("Privacy, error and money at other levels")
        desk.look()
        desk.follow("Go back")
        number = desk.opens()
        with parts.store.database.writing() as connection:
            for slot in range(3, 1000):
                row = {"id": str(slot + 1), "concern": repr((slot + 0.5) / 1000)}
                put_row(connection, number, slot, json.dumps(row), FIRST)
        people = joined(chromium, base, desk.invites("1, 2, 3"))
        for k, person in enumerate(people):
            person.write("Which leak do you fear more, from 0 (only a leak to the public) to 1 (only a leak to "
                         "the operator)?", f"{(k + 0.5) / 1000:g}")
            person.press("Hand it in")
            person.page.get_by_text("Your report is stored").wait_for()
        desk.page.reload()
        desk.press("Draw up a round")
        desk.look()
        people[0].see("/mine")
        desk.tick("I confirm: the ledger is charged, and no other round follows")
        desk.press("Make the contracts final")
        wire = Wire(people[1].context, ears)
        for person in people:
            page = person.see("/mine")
            assert page.locator("#odds").inner_text().count(" hours") >= 5
            if person is people[1]:
                assert beyond(page, wire, base, lambda page: page.locator("#device input").fill("7.5"))[1] == []
                continue
            page.locator("#device input").fill("7.5")
            person.press("Draw my report")
            assert re.fullmatch(r"[0-9a-f]{16}", leaving(page))
            assert page.locator("#reads output").inner_text().endswith(" hours")
            person.taken("noise", COMPUTED)
            person.press("Hand it in")
            page.get_by_text("Your report is stored").wait_for()
        desk.page.reload()
        desk.settles()
        digest = Visitor(chromium, base).see(f"/campaigns/{number}").locator("#signed").inner_text()
        for person in people:
            shown = person.see("/mine/share")
            assert shown.locator("#signed").inner_text() == digest
            reported = shown.locator("section.private").inner_text()
            shown.get_by_text("Compute the share again on this page").click()
            person.press("Compute")
            assert shown.locator("section.private").inner_text() == reported
            person.context.close()


@pytest.mark.slow
def test_a_custodians_campaign(chromium: Browser, tmp_path: Path) -> None:
    """A table that a custodian holds: three people read what is published of it, and one checks it."""
    data = tmp_path / "data"
    data.mkdir()
    random = np.random.default_rng(1)
    age = random.integers(18, 90, 3000)
    with (data / "survey.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "job", "income", "owns_home"])
        for years in age.tolist():
            job = random.choice(["none", "part time", "full time", "own business"])
            income = int(random.integers(0, 60_000)) * (job != "none")
            rows.writerow([years, job, income, str(bool(random.random() < years / 100)).lower()])
    text = kind("queries").template
    for words, fewer in (("records = 30000", "records = 3000"), ("count = 5000", "count = 200"),
                         ("width = 3", "width = 2")):
        assert words in text
        text = text.replace(words, fewer)
    with running(tmp_path, data) as (base, _), Desk(chromium, base) as desk:
        desk.logs_in()
        desk.begins("queries", text)
        desk.follow("Privacy, error and money at other levels")
        desk.look()
        desk.follow("Go back")
        number = desk.opens()
        assert desk.page.get_by_role("button", name="New codes as a file").count() == 0
        people = [Visitor(chromium, base, phone=k == 2) for k in range(3)]
        for person in people:
            assert person.see(f"/campaigns/{number}").get_by_text("nobody is invited").is_visible()
        desk.settles()
        for k, person in enumerate(people):
            person.see("/")
            person.follow("How do age, job and income go together?")
            person.look()
            assert person.page.get_by_text("What was found").is_visible()
            if k == 0:
                person.taken("public-queries")
                assert "The pack is whole" in verified(person.page, tmp_path)
            person.context.close()

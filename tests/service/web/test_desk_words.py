"""What pages say by the state of a campaign: contracts, few answers, withdrawing, payouts, copies. By forms alone."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from confide.campaign.store.reports import put_row
from confide.campaign.store.states import State
from confide.contract import kind
from confide.service.access import Participant
from confide.service.work.rounds import FIRST
from service.clients import Caller, serving
from service.web.test_answers import joined, opened
from service.web.test_pages import Browser, finished


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, Caller]]:
    with serving(tmp_path_factory.mktemp("words")) as found:
        yield found


@pytest.fixture
def app(served: tuple[FastAPI, Caller]) -> FastAPI:
    return served[0]


def desk(app: FastAPI, number: int) -> Browser:
    """An operator's browser, at the campaign's page."""
    found = Browser(app)
    found.log_in("olga")
    found.see(f"/desk/campaigns/{number}")
    return found


def paragraphs(text: str) -> str:
    """What a page says, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^<>]*>", " ", text))


def test_contracts_are_spoken_of_as_they_stand(app: FastAPI) -> None:
    """A report is no draw, a contract that asks nothing has no form, and the desk says what a round asks and costs."""
    parts, number = app.state.parts, opened(app, kind("mean").template)
    participant, other = joined(app, number), joined(app, number, 1)
    participant.send("/mine/report", **{"field.concern": "0.25"})
    assert "You may change it until contracts are drawn up." in participant.text
    assert "and nothing else is" not in participant.text
    assert 'value="0.25"' in participant.text
    with parts.store.database.writing() as connection:
        for slot in range(2, 1000):
            row = {"id": str(slot + 1), "concern": repr((slot + 0.5) / 1000)}
            put_row(connection, number, slot, json.dumps(row), FIRST)
    olga = desk(app, number)
    at = f"/desk/campaigns/{number}"
    olga.send(f"{at}/round")
    said = paragraphs(olga.text)
    assert "people asked for a record" in said
    assert "total of payments" in said
    assert "standard error of the mean" in said
    assert re.search(r"the ledger is charged rho = 0\.5 \(zCDP\) for the people of", said)
    assert "--final" not in said
    participant.see("/mine")
    assert "Your first report is stored." in participant.text
    assert "and nothing else is" not in participant.text
    olga.send(f"{at}/final", 422)
    olga.send(f"{at}/final", meant="yes")
    assert "0 have handed something in on final contracts." in paragraphs(olga.text)
    assert "your contract asks nothing of you" in other.see("/mine")  # she has reported nothing
    assert 'id="unasked"' in other.text
    assert 'id="device"' not in other.text
    assert "device.js" not in other.text.partition("</head>")[0]
    asked = next(slot for slot in range(2, 1000) if not parts.participation.unasked(Participant(number, slot)))
    text = joined(app, number, asked).text
    assert 'id="device"' in text
    assert 'id="unasked"' not in text
    assert "Your report is stored" not in text


def test_few_answers_are_said_before_it_is_settled(app: FastAPI) -> None:
    parts, number = app.state.parts, opened(app, kind("matching").template)
    olga = desk(app, number)
    assert "Planned for 600; 0 have handed in. The charge is the same, and errors will be larger." in olga.text
    parts.participation.submit(Participant(number, 0), {"law": "50"})
    report = parts.store.report_of(number, 0)
    for people, few in ((539, True), (540, False)):
        parts.store.submit_many(number, [(slot, report) for slot in range(people)])
        olga.see(f"/desk/campaigns/{number}")
        assert f"Planned for 600; {people} have handed in." in olga.text
        assert ('id="few"' in olga.text) is few
    assert "The ledger is charged epsilon = 4" in olga.text


def test_what_opening_charges_is_said_before_and_after(app: FastAPI) -> None:
    """Of a kind whose reports devices draw; other kinds are charged later, and say so."""
    parts = app.state.parts
    olga = Browser(app)
    olga.log_in("olga")

    def drafted(text: str) -> str:
        number = parts.drafts.new(text, parts.operators.all()[0].number).number
        olga.see(f"/desk/drafts/{number}")
        return f"/desk/drafts/{number}"

    text = kind("bits").template.replace('data_set = "', 'data_set = "of two: ')
    at, again = drafted(text), drafted(text.replace('title = "', 'title = "Again: '))
    late = Browser(app)
    late.log_in("olga")
    assert "Open the collection" in late.see(again)
    olga.see(at)
    assert "Opening charges the ledger epsilon = 1 for all 200 invited people of “of two: " in paragraphs(olga.text)
    olga.send(f"{at}/open", version="1")
    said = paragraphs(olga.text)
    assert "The ledger was charged epsilon = 1 for all invited people of “of two: " in said
    assert "Settling charges nothing more." in said
    assert "charged for ever" not in said
    assert "of two: " in olga.see("/desk/ledger")
    assert "even if it is never settled" in olga.text
    assert "The ledger refuses the campaign" in olga.see(again)
    assert "Open the collection" not in olga.text
    assert "does not admit" in late.send(f"{again}/open", 409, version="1")
    assert "Open the collection" not in late.text
    for name, when in (("mean", "when the contracts become final"), ("matching", "when the campaign is settled")):
        drafted(kind(name).template.replace('data_set = "', 'data_set = "of later ones: '))
        assert re.search(f"Opening charges nothing: the ledger is charged .* {when}", paragraphs(olga.text))


def test_a_withdrawn_participant_gets_no_code(served: tuple[FastAPI, Caller]) -> None:
    """At the desk, and of the API."""
    app, anybody = served
    parts, number = app.state.parts, opened(app, kind("matching").template)
    participant = joined(app, number, 2)
    assert "This is final" in participant.see("/mine/withdraw")
    assert "paid" not in paragraphs(participant.text).partition("Withdraw")[2]  # nothing is, here
    participant.send("/mine/withdraw")
    assert "You have withdrawn" in participant.text
    olga, at = desk(app, number), f"/desk/campaigns/{number}"
    assert "3 has withdrawn and takes no part" in olga.send(f"{at}/invite", 409, ids="1 3")
    assert parts.invitations.waiting(number) == 0
    api = anybody.logged_in("olga")
    api("POST", f"/campaigns/{number}/invitations", json={"slots": [0, 2]}, status=409)
    assert parts.invitations.waiting(number) == 0
    assert 2 not in {each["slot"] for each in api("POST", f"/campaigns/{number}/invitations", json={})["codes"]}
    codes = list(csv.DictReader(io.StringIO(olga.send(f"{at}/invite"))))
    assert [row["id"] for row in codes] == [str(each) for each in range(1, 601) if each != 3]


def test_a_withdrawn_participant_has_no_share_of_a_settled_campaign(app: FastAPI) -> None:
    """Also where nothing is paid, so that all reports are erased with the settlement."""
    text = kind("matching").template.replace("wishes of 2026", "withdrawn before")
    number = opened(app, text)
    gone = joined(app, number, 1)
    gone.send("/mine/report", **{"field.music": "90"})
    gone.see("/mine/withdraw")
    gone.send("/mine/withdraw")
    olga = desk(app, number)
    olga.send(f"/desk/campaigns/{number}/settle", meant="yes")
    finished(olga, number, "settle")
    assert "1 has withdrawn" in olga.text
    participant = gone.see("/mine")
    assert "You have withdrawn" in participant
    assert "/mine/share" not in participant
    assert "/mine/withdraw" not in participant
    assert "withdrawn, so there is no share" in gone.see("/mine/share", 409)


def test_a_participant_who_submitted_reads_that_the_campaign_is_cancelled(served: tuple[FastAPI, Caller]) -> None:
    """By all pages and doors: a ledger that does not admit it cancels it, and erases what she was told is stored."""
    app, anybody = served
    parts, olga = app.state.parts, Browser(app)
    olga.log_in("olga")
    text = kind("matching").template.replace("wishes of 2026", "cancelled later")
    first, number = opened(app, text), opened(app, text)  # the budget is enough for one of them
    codes = [code for _, code in parts.invitations.invite(number, [0, 1, 2])]
    participant, gone = Browser(app), Browser(app)
    participant.join(codes[0])
    gone.join(codes[1])
    third = anybody.joined(codes[2])
    parts.participation.submit(Participant(number, 0), {"law": "12"})
    assert "Your report is stored" in participant.see("/mine")
    gone.see("/mine/withdraw")
    gone.send("/mine/withdraw")
    form = participant.see("/mine/withdraw")
    for each in (first, number):
        olga.see(f"/desk/campaigns/{each}")
        olga.send(f"/desk/campaigns/{each}/settle", meant="yes")
        for _ in range(1200):
            if re.search(r'id="settle-state">(done|failed)', olga.see(f"/desk/campaigns/{each}")):
                break
            time.sleep(0.05)
    assert parts.store.get(number).state is State.CANCELLED
    assert parts.store.report_of(number, 0) is None

    for browser in (participant, gone):
        said = paragraphs(browser.see("/mine"))
        assert "The campaign is cancelled: there will be no result and no payment." in said
        assert "All records are erased." in said
        assert "You have nothing to do now" not in said
        assert "/mine/withdraw" not in browser.text
        assert "Forget me on this device" in said
    assert "there is nothing to take back" in participant.see("/mine/withdraw")
    assert "<form" not in participant.text.partition("<main")[2]
    said = paragraphs(participant.see("/mine/share", 409))
    assert "The campaign is cancelled: there will be no result, and no share." in said
    assert "Look again later" not in said
    participant.text = form  # as a tab has it that she opened before
    assert "The campaign is cancelled" in participant.send("/mine/withdraw")
    anyone = Browser(app)
    said = paragraphs(anyone.see(f"/campaigns/{number}"))
    assert "This campaign is cancelled: there will be no result." in said
    assert "Invited people take part with a code" not in said
    assert 'href="/join"' not in anyone.text.partition("<main")[2]
    said = paragraphs(olga.see(f"/desk/campaigns/{number}"))
    assert "The campaign is cancelled: nothing was charged, and all records are erased." in said
    assert "have handed something in" not in said

    mine = third("GET", "/mine")
    assert (mine["state"], mine["asks"], mine["handed_in"]) == ("cancelled", "", False)
    assert anybody("GET", f"/campaigns/{number}")["state"] == "cancelled"
    operator = anybody.logged_in("olga")
    for answer in (third("POST", "/mine/share", json={}, status=409),
                   third("POST", "/mine/share", json={"values": {"law": "12"}}, status=409),
                   *(anybody("GET", f"/campaigns/{number}/{endpoint}", status=409)
                     for endpoint in ("result", "pack", "pack.zip")),
                   operator("GET", f"/campaigns/{number}/payouts", status=409)):
        assert answer["detail"] == "the campaign is cancelled"
        assert "later" not in answer["limit"]
        assert "settle it first" not in answer["limit"]
    late = third("PUT", "/mine/report", json={"values": {"law": "12"}}, status=409)
    assert late["detail"] == "nothing is asked for now"


def test_a_report_that_comes_after_the_cancelling_is_reported_so(app: FastAPI) -> None:
    number = opened(app, kind("matching").template)
    participant = joined(app, number)
    app.state.parts.store.cancel(number)
    said = participant.send("/mine/report", 409, **{"field.law": "12"})
    assert "This was not taken: the campaign is cancelled." in said
    assert "asks nothing of you" not in said


def test_nobody_is_asked_to_join_what_is_closed(app: FastAPI) -> None:
    number = opened(app, kind("matching").template)
    anyone = Browser(app)
    assert "Invited people take part with a code" in anyone.see(f"/campaigns/{number}")
    app.state.parts.store.close_collection(number)
    assert "Nothing can be handed in any more." in anyone.see(f"/campaigns/{number}")
    assert 'href="/join"' not in anyone.text.partition("<main")[2]


def test_deposits_are_noted_at_the_desk_and_by_the_api(served: tuple[FastAPI, Caller]) -> None:
    app, anybody = served
    parts, text = app.state.parts, kind("bits-unknown-costs").template.replace("sleep since may", "deposits")
    number = opened(app, text)
    olga, at = desk(app, number), f"/desk/campaigns/{number}"
    assert "each participant leaves 3.44 EUR" in paragraphs(olga.text)
    assert "No deposit is noted as received." in olga.text
    olga.send(f"{at}/deposits", 422, ids="1 nobody")
    olga.see(at)
    olga.send(f"{at}/deposits", ids="1, 3", received="yes")
    assert "2 are noted as received, of: 1, 3" in paragraphs(olga.text)
    olga.send(f"{at}/deposits", ids="3", received="no")
    participant, other = joined(app, number), joined(app, number, 1)
    assert "The operator has noted your deposit." in participant.text
    assert "The operator has not noted a deposit of yours yet." in other.text
    for slot in (0, 1):
        parts.participation.submit(Participant(number, slot), {"report": "yes"})
    assert "2 have handed in; deposits that are noted: 1." in paragraphs(olga.see(at))
    assert parts.store.deposits(number) == {0}
    api = anybody.logged_in("olga")
    path = f"/campaigns/{number}/deposits"
    assert api("POST", path, json={"slots": [5]}) == {"slots": [0, 5], "deposit": "3.44 EUR"}
    assert api("POST", path, json={"slots": [0], "received": False})["slots"] == [5]
    progress = api("GET", f"/campaigns/{number}/progress")
    assert (progress["deposit"], progress["deposits"]) == ("3.44 EUR", 1)
    api("POST", path, json={"slots": [10**6]}, status=422)
    without = opened(app, kind("matching").template)
    assert 'id="deposits"' not in desk(app, without).text
    api("POST", f"/campaigns/{without}/deposits", json={"slots": [0]}, status=409)


def test_a_copy_is_said_to_be_held_before_anything_is_tried(app: FastAPI) -> None:
    parts, number = app.state.parts, opened(app, kind("matching").template)
    olga, at = desk(app, number), f"/desk/campaigns/{number}"
    assert 'id="copied"' not in olga.text
    parts.store.home.hold(parts.store.get(number).content)
    olga.see(at)
    assert f"confide restored --confirm {number}" in olga.text
    assert f'action="{at}/settle"' not in olga.text


def test_payouts_are_approved_on_purpose_and_a_lost_file_is_written_again(app: FastAPI) -> None:
    text = kind("bits").template
    parts, number = app.state.parts, opened(app, text)
    participant, at = joined(app, number), f"/desk/campaigns/{number}"
    assert "Nothing is paid to you for your record" in participant.see("/mine/withdraw")
    parts.participation.submit(Participant(number, 0), {"report": "yes"})
    report = parts.store.report_of(number, 0)
    parts.store.submit_many(number, [(slot, report) for slot in range(1, 30)])
    olga = desk(app, number)
    olga.send(f"{at}/settle", meant="yes")
    finished(olga, number, "settle")
    assert "--approve" not in olga.text
    assert "cannot be undone" in olga.send(f"{at}/approve", 422)
    assert parts.store.payouts(number).people["approved"] == 0
    olga.send(f"{at}/approve", meant="yes")
    first = olga.send(f"{at}/export")
    olga.see(at)
    assert "Export the approved payouts" not in olga.text
    assert olga.text.count("Write batch 1 again") == 1
    assert olga.send(f"{at}/export", batch="1") == first
    olga.see(at)
    olga.send(f"{at}/export", 409, batch="7")
    references = [row["reference"] for row in csv.DictReader(io.StringIO(first))]
    olga.see(at)
    answer = "reference,status\n" + f"{references[0]},paid\n"
    olga.send(f"{at}/answer", files={"file": ("answer.csv", answer)})
    assert len(references) > 1
    assert "Write batch 1 again" not in olga.text  # whoever wrote it again now might pay twice
    participant.see("/mine/withdraw")
    assert "You are still paid: your payout stays." in participant.text
    assert "You have withdrawn" in participant.send("/mine/withdraw")
    assert "You are still paid." in participant.text


def test_a_device_forgets_its_participant_in_two_steps(app: FastAPI) -> None:
    participant = joined(app, opened(app, kind("matching").template))
    form = participant.text.partition("<summary>Forget me on this device</summary>")[2].partition("</details>")[0]
    assert 'action="/leave"' in form
    assert "you need a new code" in form
    assert participant.text.count('action="/leave"') == 1
    assert "Take part" in participant.send("/leave")




def test_nobody_is_shown_an_action_that_they_may_not_take(app: FastAPI) -> None:
    """A viewer reads a draft and begins none; and nobody is asked to join where nothing can be handed in."""
    parts, text = app.state.parts, kind("bits").template.replace("make people", "M").replace("ill since may", "viewers")
    draft = parts.drafts.new(text, parts.operators.all()[0].number, "looked-at")
    vera, olga = Browser(app), Browser(app)
    vera.log_in("vera")
    olga.log_in("olga")
    for path in ("/desk", f"/desk/drafts/{draft.number}"):
        assert re.findall(r'action="([^"]*)"', vera.see(path)) == (["/logout"] if path == "/desk" else [])
        assert vera.text.count("<button") == (path == "/desk")
    assert " readonly>" in vera.text
    assert paragraphs(text.partition("\n")[0]) in paragraphs(vera.text)
    olga.see(f"/desk/drafts/{draft.number}")
    assert " readonly>" not in olga.text
    olga.send(f"/desk/drafts/{draft.number}/open")
    (number,) = set(re.findall(r'action="/desk/campaigns/(\d+)/settle"', olga.text))
    public = Browser(app)
    assert "Invited people take part with a code" in public.see(f"/campaigns/{number}")
    olga.send(f"/desk/campaigns/{number}/close", meant="yes")
    assert "Invited people take part with a code" not in public.see(f"/campaigns/{number}")
    assert "Nothing can be handed in any more." in public.text

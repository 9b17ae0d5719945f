"""In a real browser: a participant whose answer never leaves her device; pages in which axe finds nothing wrong."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from scipy.special import expit

from confide.contract import kind
from confide.privacy.device_odds import of_hundred
from confide.service.web.page import STATIC
from service.language.pseudo import in_brackets, outside
from service.parts import PASSWORD
from service.web.browsing import Desk, accepted, altered, at_offer, kept, leaving, opened_by, running, too_wide


def wire(page: Page) -> list[str]:
    """Everything that the page sends, as it is sent: addresses, headers, bodies."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(
        f"{request.url}\n{request.headers}\n{request.post_data or ''}"))
    return sent


def test_only_the_drawn_report_leaves_the_device(chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        (_, code), (_, other) = parts.invitations.invite(number, [0, 1])
        page = chromium.new_page()
        sent = wire(page)
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        assert code not in page.url
        assert sum(code in each for each in sent) == 1  # in the body of the form, once
        assert not any(code in each.partition("\n")[0] for each in sent)
        accepted(page)
        page.get_by_label("yes", exact=True).check()
        page.get_by_role("button", name="Draw my report").click()
        drawn = leaving(page)
        assert drawn in ("yes", "no")
        accepted(page)
        before = len(sent)
        page.get_by_role("button", name="Hand it in").click()
        page.get_by_text("Your report is stored").wait_for()
        (post,) = [each for each in sent[before:] if "/mine/report" in each]
        body = post.rpartition("\n")[2]
        assert re.fullmatch(rf"word=[0-9a-f]{{64}}&field\.report={drawn}", body)
        report = parts.store.report_of(number, 0)
        assert report is not None
        assert report[0] == (drawn == "yes")
        page.goto(f"{base}/mine")
        assert page.get_by_text("A second report would disclose more of your answer").is_visible()
        assert page.locator("#device").count() == 0
        page.close()
        # a second person on a device of her own, whose every draw is of her own
        context = chromium.new_context(java_script_enabled=False)
        quiet = context.new_page()
        quiet.goto(f"{base}/join")
        quiet.get_by_label("Your code").fill(other.lower())
        quiet.get_by_role("button", name="Take part").click()
        assert quiet.get_by_text("This needs the unchanged scripts").is_visible()
        assert quiet.locator("#device").is_hidden()
        assert quiet.locator("#send").is_hidden()
        context.close()


@pytest.mark.slow
def test_two_people_at_one_browser(chromium: Browser, tmp_path: Path) -> None:
    """What was drawn for one is nothing to the other; a draw is kept for its owner until she has it forgotten."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        codes = dict(parts.invitations.invite(number, [0, 1]))
        context = chromium.new_context()
        page = context.new_page()

        def drawn(code: str, *, instead: bool = False) -> str:
            page.goto(f"{base}/join#{code}")
            if instead:  # asked first: somebody takes part here already
                page.get_by_role("button", name="Use this code instead").click()
            page.wait_for_url(f"{base}/mine")
            assert page.locator("#send").is_hidden()  # nothing of anybody else is there
            page.get_by_label("no", exact=True).check()
            page.get_by_role("button", name="Draw my report").click()
            return leaving(page)

        first = drawn(codes[0])
        page.reload()
        assert leaving(page) == first  # not drawn again
        assert page.locator("#device").is_hidden()
        page.goto("about:blank")
        drawn(codes[1], instead=True)
        assert len(kept(page)) == 2
        page.get_by_text("Forget me on this device").click()
        page.get_by_role("button", name="Forget me now").click()
        page.wait_for_url(f"{base}/")
        assert len(kept(page)) == 1
        context.close()


@pytest.mark.slow
def test_the_law_of_what_leaves(chromium: Browser, tmp_path: Path) -> None:
    """Drawn by the page's own program in the page itself: the odds that the offer tells, by exact binomial tails."""
    from scipy.stats import binomtest

    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        kept = page.evaluate("""async () => {
            const { followInstructions } = await import("/static/noise.js");
            const told = JSON.parse(document.getElementById("device").dataset.instructions);
            let kept = 0;
            for (let k = 0; k < 2000; k++) kept += followInstructions(told, { answer: "yes" }).row.report === "yes";
            return kept;
        }""")
        page.close()
        level = parts.opened.get(number).campaign.plan.mechanism.events()[0].epsilon
        from math import exp

        assert binomtest(kept, 2000, exp(level) / (1 + exp(level))).pvalue > 1e-10


@pytest.mark.slow
def test_what_scripts_show_is_translated_too(chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts), in_brackets():
        number = opened_by(parts, "bits-unknown-costs")
        ((_, code), (_, other)) = parts.invitations.invite(number, [0, 1])
        page = at_offer(chromium, base, code)
        page.get_by_label("yes", exact=True).check()
        it = parts.opened.get(number).campaign
        (worth,) = (each for each in it.file.kind.asked(it.file.config, it.plan) if each.column == "worth")
        for typed, problem in (("much", "⟦This is not a number. Write a number such as 0.5.⟧"),
                               ("0", "⟦This must be above 0.⟧")):
            page.locator("#field-worth").fill(typed)
            page.locator("#device button").click()
            expect(page.locator("#problem")).to_have_text(f"{worth.label}: {problem}")
            expect(page.locator("#problem + .field #field-worth")).to_be_focused()
            expect(page.locator("#problem")).to_be_in_viewport()
        page.locator("#field-worth").fill("0.01")
        page.locator("#device button").click()
        assert leaving(page) in ("yes", "no")
        own = page.locator("#own").inner_text()
        level = parts.opened.get(number).campaign.plan.market.level_of(0.01)
        truth = of_hundred(float(expit(level)))
        assert own == (
            f"⟦With your typed values, your device sends your own answer unchanged in about {truth} of 100 draws.⟧")
        assert outside(page.locator("#send").inner_html(), {"yes", "no"}) == []
        page.close()
        # whoever answers nothing takes no part
        page = chromium.new_context().new_page()
        page.goto(f"{base}/join#{other}")
        page.wait_for_url(f"{base}/mine")
        page.locator("#device button").click()
        assert leaving(page) == "⟦nothing: you take no part⟧"
        page.context.close()


@pytest.mark.slow
def test_a_device_does_not_believe_every_instruction(chromium: Browser, tmp_path: Path) -> None:
    """A level above the offer's, or above the largest; instructions that have changed since it drew: it says so."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        numerator = "&#34;numerator&#34;: &#34;{}&#34;".format
        expect(page.locator("#device")).to_be_visible()
        reported = page.locator("#terms-level").inner_text()
        assert reported.startswith("Level: at most 1. Your device draws nothing at a level above 10")
        assert page.locator("#terms-truth").inner_text().endswith("in at most about 73 of 100 draws.")
        assert page.locator("#terms-stays").inner_text() == (
            "These values stay on this device: answer. Your report is sent under this name: report.")
        for level in ("2", "1000"):
            altered(page, numerator("1"), numerator(level))
            expect(page.locator("#problem")).to_contain_text("a level above the level of the offer, or above 10")
            assert page.locator("#device").is_hidden()
            assert page.locator("#send").is_hidden()
        # the number that the offer states is raised as well: beyond the largest it does not help
        page.unroute_all()
        page.route("**/mine", lambda route: route.fulfill(response=(found := route.fetch()), body=found.text().replace(
            numerator("1"), numerator("11")).replace('data-notion="epsilon">1<', 'data-notion="epsilon">11<')))
        page.reload()
        expect(page.locator("#problem")).to_contain_text("a level above the level of the offer, or above 10")
        page.unroute_all()
        page.reload()
        page.get_by_label("yes", exact=True).check()
        assert page.locator("#terms-odds").inner_text().endswith("of 100 draws: no: 27; yes: 73.")
        page.get_by_role("button", name="Draw my report").click()
        drawn = leaving(page)
        assert drawn in ("yes", "no")
        accepted(page)
        altered(page, "&#34;law&#34;", "&#34;v&#34;: 1, &#34;law&#34;")
        expect(page.locator("#problem")).to_contain_text("were changed after it had drawn your report")
        assert page.locator("#device").is_hidden()
        assert page.locator("#send").is_hidden()
        accepted(page)
        # the same instructions in another order are the same
        law, field = "&#34;law&#34;: &#34;response&#34;, ", "&#34;input&#34;: &#34;answer&#34;, "
        altered(page, f"{{{law}", f"{{{field}{law}")
        expect(page.locator("#leaves")).to_have_text(drawn)
        assert len(kept(page)) == 1
        page.context.close()


NUMBER = '"law": "lattice", "low": "0", "high": "1", "steps": "1", "sigma": "1"'


@pytest.mark.parametrize(("name", "old", "new"), [
    pytest.param("bits-unknown-costs", '["no", "yes"]', '["never", "yes"]', marks=pytest.mark.slow),  # leaves nothing
    pytest.param("bits-unknown-costs", '["no", "yes"]', '["no", "yes", "2"]', marks=pytest.mark.slow),
    pytest.param("bits-unknown-costs", '"answer"', '"worth"', marks=pytest.mark.slow),
    pytest.param("bits-unknown-costs", '"worth": "worth"', '"worth": "answer"', marks=pytest.mark.slow),
    pytest.param("bits", '"law": "response"', NUMBER, marks=pytest.mark.slow),
    pytest.param("bits", 'data-notion="epsilon"', 'data-notion="rho"', marks=pytest.mark.slow)])
def test_a_device_follows_what_is_about_its_form(
    name: str, old: str, new: str, chromium: Browser, tmp_path: Path
) -> None:
    """Below the level that the offer states; but whether a report leaves would show an answer, or the unit differs."""
    with running(tmp_path) as (base, parts):
        ((_, code),) = parts.invitations.invite(opened_by(parts, name), [0])
        page = at_offer(chromium, base, code)
        expect(page.locator("#device")).to_be_visible()
        if name == "bits-unknown-costs":
            assert re.fullmatch(r"If your device sends a report, the report shows, without noise, whether your value "
                                r"of worth is above 0\.\d+ EUR\.", page.locator("#terms-part").inner_text())
        in_attribute = not old.startswith("data-")
        altered(page, *(each.replace('"', "&#34;") if in_attribute else each for each in (old, new)))
        expect(page.locator("#problem")).to_contain_text("cannot follow the instructions")
        assert page.locator("#device").is_hidden()
        assert page.locator("#send").is_hidden()
        page.context.close()


@pytest.mark.slow
def test_two_browsers_of_one_person_send_one_draw(chromium: Browser, tmp_path: Path) -> None:
    """The second asks first, and sends nothing; a page that sends nevertheless is told that it was refused."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        first = at_offer(chromium, base, code)
        state = first.context.storage_state()
        state["origins"] = []
        others = [chromium.new_context(storage_state=state).new_page() for _ in range(2)]
        second, late = others
        sent = wire(second)
        for page in (first, *others):
            page.goto(f"{base}/mine")
            page.get_by_label("yes", exact=True).check()
        for page in (first, second):
            page.get_by_role("button", name="Draw my report").click()
            page.locator("#leaves").wait_for()
        first.get_by_role("button", name="Hand it in").click()
        first.get_by_text("Your report is stored").wait_for()
        second.get_by_role("button", name="Hand it in").click()
        expect(second.locator("#problem")).to_contain_text("something was handed in for you already")
        accepted(second)
        late.get_by_role("button", name="Draw my report").click()
        expect(late.locator("#problem")).to_contain_text("something was handed in for you already")
        assert late.locator("#leaves").text_content() == ""
        assert kept(late) == {}
        assert not any("/mine/report" in each for each in sent)
        # without these scripts: the service refuses the other draw, and says so beside what is stored
        other = "no" if parts.store.report_of(number, 0)[0] else "yes"  # type: ignore[index] # it is stored
        second.evaluate("""text => {
            document.querySelector("#row input").value = text;
            document.getElementById("send").submit();
        }""", other)
        second.get_by_text("Your report is stored").wait_for()
        assert second.locator(".problem").count() == 1
        assert "a second report" in second.locator(".problem").inner_text().lower()
        accepted(second)
        for page in (first, *others):
            page.context.close()


@pytest.mark.slow
def test_a_draw_that_cannot_be_kept_is_not_made(chromium: Browser, tmp_path: Path) -> None:
    blocked = """Object.defineProperty(window, "indexedDB", {
        get() { throw new DOMException("no", "SecurityError"); } });"""
    full = """() => {
        IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); }; }"""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        page.get_by_label("yes", exact=True).check()
        page.evaluate(full)  # from now on
        page.get_by_role("button", name="Draw my report").click()
        expect(page.locator("#problem")).to_contain_text("does not let pages keep anything")
        assert page.locator("#leaves").text_content() == ""
        assert page.locator("#send").is_hidden()
        page.add_init_script(blocked)
        page.reload()
        expect(page.locator("#problem")).to_contain_text("does not let pages keep anything")
        assert page.locator("#device").is_hidden()
        page.context.close()


@pytest.mark.slow
def test_a_service_that_cannot_be_asked_gets_nothing(chromium: Browser, tmp_path: Path) -> None:
    """And another time may be otherwise."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        page.get_by_label("yes", exact=True).check()
        page.route("**/api/v1/mine", lambda route: route.abort())
        page.get_by_role("button", name="Draw my report").click()
        expect(page.locator("#problem")).to_contain_text("has not said that it waits for your answer")
        assert len(kept(page)) == 0
        page.unroute_all()
        page.get_by_role("button", name="Draw my report").click()
        page.locator("#leaves").wait_for()
        assert page.locator("#problem").is_hidden()
        page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["device.js", "leave.js"])
def test_an_altered_program_is_not_run(name: str, chromium: Browser, tmp_path: Path) -> None:
    """The page pins all that runs on it, however often it is loaded, and shows the digests."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        ((_, code),) = parts.invitations.invite(number, [0])
        page = at_offer(chromium, base, code)
        page.locator("#device").wait_for()
        assert page.locator("#programs li").all_text_contents() == [
            f"{hashlib.sha256((STATIC / each).read_bytes()).hexdigest()} {each}" for each in ("device.js", "leave.js")]
        loaded: list[str] = []
        page.on("request", lambda request: loaded.append(request.url) if request.resource_type == "script" else None)
        altered(page, "//", "globalThis.altered = true; //", at=f"**/static/{name}")
        for _ in range(2):
            page.reload(wait_until="networkidle")
            device, without = page.locator("#device"), page.get_by_text("This needs the unchanged scripts")
            (without if name == "device.js" else device).wait_for()  # a busy machine shows it late
            assert page.evaluate("globalThis.altered") is None
            assert device.is_hidden() == (name == "device.js")
            assert without.is_visible() == (name == "device.js")
        assert {each.removeprefix(f"{base}/static/") for each in loaded} == {"device.js", "leave.js"}
        page.context.close()


@pytest.mark.slow
def test_a_broken_link_leaves_the_address(chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, _):
        page = chromium.new_page()
        page.goto(f"{base}/join#%E0%A4%A")
        page.get_by_role("alert").wait_for()
        assert page.url == f"{base}/join"
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_pages_are_accessible(dark: bool, chromium: Browser, tmp_path: Path) -> None:
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "matching")
        ((_, code),) = parts.invitations.invite(number, [0])
        context = chromium.new_context(color_scheme="dark" if dark else "light")
        page = context.new_page()
        for path in ("/", "/join", "/login", f"/campaigns/{number}"):
            page.goto(base + path)
            accepted(page)
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        accepted(page)
        page.goto(f"{base}/mine/withdraw")
        accepted(page)
        page.goto(f"{base}/login")
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        accepted(page)
        for path in (f"/desk/campaigns/{number}", "/desk/ledger"):
            page.goto(base + path)
            accepted(page)
        context.close()


def test_long_names_are_not_wider_than_a_telephone(chromium: Browser, tmp_path: Path) -> None:
    """A title, a level, a unit and a column without a blank, on every page that names them."""
    names = {"What do age and sex say about hours of sleep?": "T" * 10_000, '"male"': f'"{"M" * 120}"',
             '"hours"': f'"{"h" * 80}"', '"age"': f'"{"a" * 120}"', "sleep survey": "s" * 100}
    text = kind("regression").template
    for old, new in names.items():
        assert old in text
        text = text.replace(old, new)
    with running(tmp_path) as (base, parts):
        draft = parts.drafts.new(text, parts.operators.all()[0].number).number
        desk = Desk(chromium, base, phone=True, watched=False)
        desk.logs_in()
        wide = {path: too_wide(desk.see(path)) for path in ("/desk", f"/desk/drafts/{draft}")}
        number = parts.drafts.open(draft).number
        ((_, code),) = parts.invitations.invite(number, [0])
        for path in ("/", f"/campaigns/{number}", "/desk", f"/desk/campaigns/{number}", "/desk/ledger"):
            wide[path] = max(wide.get(path, 0), too_wide(desk.see(path)))
        desk.joins(f"{base}/join#{code}")
        wide |= {"/mine": too_wide(desk.page), "/mine/withdraw": too_wide(desk.see("/mine/withdraw"))}
        assert {path: found for path, found in wide.items() if found > 0} == {}
        desk.context.close()


@pytest.mark.slow
def test_a_link_asks_a_present_participant_first(chromium: Browser, tmp_path: Path) -> None:
    """The code of a link is in the form, and goes nowhere before she has said that it should."""
    with running(tmp_path) as (base, parts):
        number = opened_by(parts, "bits")
        (_, code), (_, other) = parts.invitations.invite(number, [0, 1])
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{base}/join#{code}")
        page.wait_for_url(f"{base}/mine")
        sent = wire(page)
        page.goto(f"{base}/join#{other}")
        again = page.get_by_role("button", name="Use this code instead")
        again.wait_for()
        accepted(page)
        assert page.get_by_label("Your code").input_value() == other
        assert not any(other in each for each in sent)
        assert parts.invitations.waiting(number) == 1
        again.click()
        page.wait_for_url(f"{base}/mine")
        assert parts.invitations.waiting(number) == 0
        context.close()

"""The operator holds the key, and may write any pack: what contradicts the campaign file or itself is found.

Every pack here is signed by the operator, with all hashes as they should be.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import confide
from campaign.forging import as_first, edit, forge, found, left_open, rechain, remake, resign
from cases import fast
from confide.campaign import load, verify
from confide.campaign.folder import as_csv
from confide.campaign.pack import NOTE
from confide.campaign.report import NO_SOFTWARE, UNKNOWN_FORM, without_pictures
from confide.campaign.verification.cells import same_rows, same_table
from confide.campaign.verification.likeness import same_doubles, same_text, same_words
from confide.contract import Certificate, PublicOutcome
from confide.contract.encoding import column_bytes, digest
from confide.contract.kinds import as_rows
from confide.regression import PrivateTruthfulRegression
from confide.regression.campaign.kind import RegressionKind

Key = Ed25519PrivateKey
OLD = "0.0.1"
HERE = confide.__version__


def rewrite(pack: Path, *edits: tuple[str, str], name: str = "campaign.toml") -> None:
    text = (pack / name).read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    (pack / name).write_text(text)


# ---- promises


def test_promises_follow_from_the_parameters_in_every_version(pack: Path, signer: Key) -> None:
    forge(pack, signer, lambda manifest: manifest["guarantees"][1]["loss"].update(epsilon=0.6), version=OLD)
    assert found(pack) == {"guarantees": "epsilon 0.6 is promised towards public for the billboard; these parameters "
                                         "give epsilon 6.0"}
    forge(pack, signer, lambda manifest: manifest["guarantees"][1]["loss"].update(epsilon=6, loss="ZCDP"))
    assert set(found(pack)) == {"guarantees"}
    forge(pack, signer, lambda manifest: manifest["guarantees"][1].update(loss={"loss": "PureDP", "epsilon": 8}))
    assert not found(pack)
    assert "no number of a promise claims more" in left_open(pack)["guarantees"]


@pytest.mark.parametrize("change", [
    lambda said: said[2].update(part="the release", loss={"loss": "PureDP", "epsilon": 2}),
    lambda said: said[0].update(audience="collector"),
    lambda said: said[0]["loss"].update(epsilon="Nothing"),
    lambda said: said[4].update(gain=0.3),
    lambda said: said[4].update(failure_probability=0),
    lambda said: said[5].update(utility=0.1),
    lambda said: said[6].update(vacuous=False),
    lambda said: said[7].update(highest="Infinity", expected=1000.5),
    lambda said: said.append({**said[7]}),
    lambda said: said[0].update(failure_probability=-1),
    lambda said: said.append(3),
    lambda said: {"all": "well"},
], ids=range(12))
def test_another_version_may_not_claim_more(change: Callable[[Any], Any], pack: Path, signer: Key) -> None:
    def claim(manifest: Any) -> None:
        manifest["guarantees"] = change(manifest["guarantees"]) or manifest["guarantees"]

    forge(pack, signer, claim, version=OLD)
    assert set(found(pack)) == {"guarantees"}


@pytest.mark.parametrize("change", [
    lambda said: said[0].update(note="in other words", sentence="so private"),
    lambda said: said[4].update(gain=0.5, radius="Infinity", who="some"),
    lambda said: said[5].update(utility=-1),
    lambda said: said[5].update(vacuous="maybe"),
    lambda said: said.pop(),
    lambda said: said[1].update(part="a new part"),
], ids=range(6))
def test_another_version_may_word_it_otherwise_or_claim_less(
    change: Callable[[Any], Any], pack: Path, signer: Key
) -> None:
    forge(pack, signer, lambda manifest: change(manifest["guarantees"]) and None, version=OLD)
    assert not found(pack)
    assert set(left_open(pack)) == {"guarantees"}
    forge(pack, signer, version=HERE)
    assert set(found(pack)) == {"guarantees"}  # this version says what it says


def test_the_last_digit_of_a_double_is_no_forgery(pack: Path, signer: Key) -> None:
    """Another processor may round otherwise."""

    def rounded(manifest: Any) -> None:
        manifest["guarantees"][4]["gain"] *= 1 + 1e-12
        manifest["guarantees"][5].update(utility=-1e-16, vacuous=True)
        manifest["mechanism"]["payment"]["rule"]["a"] *= 1 + 1e-15

    forge(pack, signer, rounded)
    assert {each.check: each.detail for each in verify(pack).findings if each.verdict != "holds"} == {}


# ---- parameters


def changed(**parts: Any) -> Callable[[PublicOutcome], PublicOutcome]:
    """Replace parts of the mechanism, given as part__field."""

    def change(outcome: PublicOutcome) -> PublicOutcome:
        mechanism = outcome.mechanism
        for path, value in parts.items():
            part, _, field = path.partition("__")
            new = replace(getattr(mechanism, part), **{field: value}) if field else value
            mechanism = replace(mechanism, **{part: new})
        return replace(outcome, mechanism=mechanism, guarantees=mechanism.guarantees())

    return change


@pytest.mark.parametrize("version", [None, OLD])
def test_no_version_loses_more_than_the_campaign_file_plans(version: str | None, pack: Path, signer: Key) -> None:
    remake(pack, signer, changed(release__epsilon=4.5), version=version)
    assert found(pack)["parameters"] == "the mechanism may lose epsilon 6.5 towards others: more than is planned"
    assert "guarantees" not in found(pack)


def test_other_parameters_are_open_in_another_version_alone(pack: Path, signer: Key) -> None:
    remake(pack, signer, changed(payment__clip=13.0), version=OLD)
    assert not found(pack)
    assert "payment.clip is 13.0, not 12.0; confide 0.0.1 may calibrate otherwise" in left_open(pack)["parameters"]
    remake(pack, signer, changed(), version=HERE)
    assert found(pack) == {"parameters": "the campaign file plans another mechanism: payment.clip is 13.0, not 12.0"}


@pytest.mark.parametrize("parts", [{"payment__minor_units": 10}, {"payment__currency": "USD"}], ids=str)
def test_what_no_version_calibrates_is_the_files(parts: dict[str, Any], pack: Path, signer: Key) -> None:
    remake(pack, signer, changed(**parts), version=OLD)
    assert set(found(pack)) == {"parameters"}


@pytest.mark.parametrize("version", [None, OLD])
def test_a_file_that_cannot_be_planned(version: str | None, pack: Path, signer: Key) -> None:
    rewrite(pack, ("truth_radius = 0.4", "truth_radius = 0.01"))
    forge(pack, signer, version=version)
    resign(pack, signer, content=load(pack / "campaign.toml").digest)
    bad, left = found(pack), left_open(pack)
    if version is None:
        assert "out of reach" in bad["campaign file"]
    else:
        assert "this version does not plan it, as confide 0.0.1 may have" in left["campaign file"]
        assert not bad
    assert {"parameters", "tables", "report"} <= left.keys()


# ---- the debit


@pytest.mark.parametrize(("change", "says"), [
    (lambda data: data.update(data_set="another survey"), "data_set is another survey, not pay survey"),
    (lambda data: data.update(delta="0.5"), "delta is 0.5, not 0.0"),
    (lambda data: data.update(delta="0"), "not written as a number"),
    (lambda data: data["events"][1].update(epsilon=0.4), r"events\[2\].epsilon is 0.4, not 4.0"),
    (lambda data: data["events"].pop(), "charged for something else: events"),
    (lambda data: data["events"][0].update(neighbours="one bit"), "is one bit, not one record replaced"),
    (lambda data: data["events"][0].update(event="GDPEvent"), "is GDPEvent, not PureEvent"),
], ids=range(7))
def test_the_debit_is_what_the_campaign_asks_in_every_version(
    change: Callable[[Any], None], says: str, pack: Path, signer: Key
) -> None:
    forge(pack, signer, version=OLD)
    rechain(pack, lambda rows: change(rows[3]["data"]))
    resign(pack, signer)
    broken = found(pack)
    assert set(broken) == {"debit"}
    assert re.search(says, broken["debit"])


def test_a_label_of_the_debit_is_a_word(pack: Path, signer: Key) -> None:
    rechain(pack, lambda rows: rows[3]["data"]["events"][0].update(label="nothing at all"))
    resign(pack, signer)
    assert set(found(pack)) == {"debit"}
    forge(pack, signer, version=OLD)
    assert not found(pack)
    assert set(left_open(pack)) == {"debit"}


def test_the_campaigns_own_budget_admits_the_debit(pack: Path, signer: Key) -> None:
    rewrite(pack, ("epsilon = 7.0", "epsilon = 5.0"))
    remake(pack, signer, changed())
    assert set(found(pack)) == {"debit"}
    assert "does not admit epsilon 6" in found(pack)["debit"]


# ---- events


def _days(*days: str) -> Callable[[Any], None]:
    return lambda rows: [row.update(day=day) for row, day in zip(rows, days, strict=False)] and None


@pytest.mark.parametrize(("change", "says"), [
    (lambda rows: rows.pop(3), "cannot run"),
    (lambda rows: rows.insert(3, dict(rows[3])), "cannot charge"),
    (lambda rows: rows.pop(), "the events end with a campaign that is charged"),
    (lambda rows: rows[0]["data"].update(content="0" * 64), "those of another outcome or campaign"),
    (lambda rows: rows[-1]["data"].update(manifest="0" * 64), "those of another outcome or campaign"),
    (lambda rows: rows.append({"event": "cancel", "day": "2026-01-01", "data": {}}), "cannot cancel"),
    (lambda rows: rows.append({"event": "audit", "day": rows[-1]["day"], "data": {}}), "'audit', belongs to no pack"),
    (lambda rows: rows.insert(2, {**rows[1], "event": "submit"}), "'submit', belongs to no pack"),
    (lambda rows: rows[1].update(event="party"), "event 2 is unknown: 'party'"),
    (lambda rows: rows[2]["data"].update(people=1987), "event 3, 'close', says something else"),
    (lambda rows: rows[1].update(by="somebody"), "event 2 is none"),
    (lambda rows: rows[1].update(day=20260101), "event 2 is none"),
    (lambda rows: rows.clear(), "there are none"),
    (_days("2026-01-02", "2026-01-01"), "event 2 bears the day '2026-01-01', after 2026-01-02"),
    (_days("20260101"), "event 1 bears the day '20260101'"),
    (_days("2026-02-30"), "bears the day"),
    (_days("2026-W01-1"), "bears the day"),
], ids=range(17))
def test_events_must_be_a_legal_life(change: Callable[[Any], Any], says: str, pack: Path, signer: Key) -> None:
    rechain(pack, change)
    resign(pack, signer)
    broken = found(pack)
    assert says in broken.pop("events")
    assert set(broken) <= {"debit"}


def test_a_broken_chain_names_the_event(pack: Path, signer: Key) -> None:
    edit(pack / "events.json", lambda rows: rows[2].update(day="2020-02-02"))
    resign(pack, signer)
    assert found(pack) == {"events": "event 3 does not follow from the one before it"}


# ---- the statement


@pytest.mark.parametrize(("changes", "check"), [
    ({"title": "What do taxes say?"}, "campaign file"), ({"kind": "allocation"}, "campaign file"),
    ({"content": "0" * 64}, "campaign file"), ({"manifest": "0" * 64}, "files"), ({"format": 2}, "signature"),
    ({"format": True}, "signature"), ({"witness": "a notary"}, "signature"), ({"title": ["sleep"]}, "signature"),
], ids=str)
def test_the_statement_is_the_campaigns(changes: dict[str, Any], check: str, pack: Path, signer: Key) -> None:
    resign(pack, signer, **changes)
    assert check in found(pack)


def test_a_key_under_which_anybody_can_sign_is_none(pack: Path) -> None:
    """The neutral point: this signature fits every text."""
    edit(pack / NOTE, lambda note: note.update(key=f"01{'00' * 31}", signature=f"01{'00' * 63}"))
    assert "not signed as it stands" in found(pack)["signature"]


def test_the_operator_cannot_swap_the_campaign_file(pack: Path, signer: Key) -> None:
    rewrite(pack, ("epsilon_release = 4.0", "epsilon_release = 3.0"))
    resign(pack, signer)
    assert found(pack) == {"campaign file": "campaign.toml says something else than what was signed"}


# ---- the billboard


def _with(**fields: Any) -> Callable[[PublicOutcome], PublicOutcome]:
    return lambda outcome: replace(outcome, billboard=replace(outcome.billboard, **fields))


def test_a_billboard_does_not_contradict_itself(pack: Path, signer: Key) -> None:
    board: Any = PublicOutcome.load(pack).billboard
    for fields, says in (
        ({"coef": board.coef * 0.9}, "billboard.coef"), ({"estimate": board.estimate + 0.01}, "billboard.estimate"),
        ({"people": 1999}, "1999 people"), ({"split": np.zeros_like(board.split)}, "0 people in group 1; a run draws"),
        ({"ridge": 1.0}, "billboard.ridge"),
        ({"gram": board.gram + np.triu(np.ones((3, 3)), 1)}, "billboard.gram"),
    ):
        remake(pack, signer, _with(**fields))
        assert says in found(pack)["billboard"]
        remake(pack, signer, lambda outcome: replace(outcome, billboard=board))
    assert verify(pack).complete


def test_a_manifest_holds_nothing_else(pack: Path, signer: Key) -> None:
    forge(pack, signer, lambda manifest: manifest.update(note="witnessed"))
    assert found(pack)["billboard"] == "manifest.json holds something else than an outcome does"
    forge(pack, signer, lambda manifest: manifest.pop("note") and None)
    assert verify(pack).complete
    forge(pack, signer, version="0.0.1 holds. All is well")
    assert found(pack)["billboard"] == "manifest.json names versions that are none"
    forge(pack, signer, version=HERE)
    forge(pack, signer, lambda manifest: manifest["mechanism"].pop("mode") and None)  # a default is not left out
    assert "not written as an outcome writes them" in found(pack)["billboard"]


def test_a_column_holds_one_array(pack: Path, signer: Key) -> None:
    board: Any = PublicOutcome.load(pack).billboard
    old = digest(column_bytes(board.peers))
    table = pa.table({"values": board.peers.reshape(-1), "incomes": np.arange(6)})
    for smuggled in (column_bytes(table), column_bytes(board.peers) + b"names of all"):
        (pack / "columns" / f"{old}.arrow").unlink()
        new = digest(smuggled)
        (pack / "columns" / f"{new}.arrow").write_bytes(smuggled)
        forge(pack, signer, lambda manifest, new=new: manifest["billboard"]["peers"].update(column=new))
        assert set(found(pack)) == {"billboard"}
        old = new


# ---- the certificate


@dataclass(frozen=True, kw_only=True, eq=False)
class Gap(Certificate):
    """What a mechanism computed from its billboard."""

    gap: float
    steps: int = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Width(Certificate):
    """Another one."""

    width: float


@pytest.mark.parametrize(("said", "makes", "here", "elsewhere"), fast(3, [
    (Gap(gap=0.25), Gap(gap=0.25), "holds", "holds"),
    (Gap(gap=0.25), Gap(gap=0.25 * (1 + 1e-12)), "holds", "holds"),
    (Gap(gap=0.5), Gap(gap=0.25), "broken", "broken"),
    (None, Gap(gap=0.25), "broken", "not checked"),
    (Gap(gap=0.25), None, "broken", "not checked"),
    (Width(width=0.25), Gap(gap=0.25), "broken", "not checked"),
]), ids=["whole", "rounded", "other", "dropped", "invented", "another"])
def test_a_certificate_is_computed_again(
    said: Certificate | None, makes: Certificate | None, here: str, elsewhere: str, pack: Path, signer: Key,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No kind has one yet: one is put into a real outcome, as if it had been written with it."""
    monkeypatch.setattr(RegressionKind, "types", {**RegressionKind.types, "Gap": Gap, "Width": Width})
    monkeypatch.setattr(PrivateTruthfulRegression, "certify", lambda self, billboard: makes)
    for version, verdict in ((HERE, here), (OLD, elsewhere)):
        remake(pack, signer, lambda outcome: replace(outcome, certificate=said), version=version)
        verdicts = {each.check: each.verdict for each in verify(pack).findings}
        assert verdicts.pop("certificate") == verdict
        assert set(verdicts.values()) == {"holds"}


# ---- tables


def test_tables_say_what_the_billboard_says_in_every_version(pack: Path, signer: Key) -> None:
    table = pack / "coefficients.csv"
    honest = table.read_text()
    for version in (HERE, OLD):
        value = honest.splitlines()[1].split(",")[1]
        table.write_text(honest.replace(value, "17.5"))
        forge(pack, signer, version=version)
        assert found(pack) == {"tables": "coefficients.csv is not what the billboard says"}
        table.write_text(honest.replace(value, f"{float(value) * (1 + 1e-14)!r}"))
        forge(pack, signer)
        assert verify(pack).complete
    head, *lines = honest.splitlines()
    wider = "\n".join([f"{head},stars", *(f"{line},***" for line in lines)]) + "\n"
    for other in (wider, honest.replace("unit", "in")):
        table.write_text(other)
        forge(pack, signer, version=OLD)
        assert not found(pack)
        assert "laid out otherwise: coefficients.csv" in left_open(pack)["tables"]
        forge(pack, signer, version=HERE)
        assert set(found(pack)) == {"tables"}
    for other in ("a,b\n1,2\n", "name,name\n1,2\n", "name\n1,2\n", ""):
        table.write_text(other)
        forge(pack, signer, version=OLD)
        assert set(found(pack)) == {"tables"}


def test_a_table_more_or_less(pack: Path, signer: Key) -> None:
    (pack / "more.csv").write_text("a,b\n1,2\n")
    resign(pack, signer)
    assert found(pack) == {"tables": "more.csv belongs to no pack"}
    forge(pack, signer, version=OLD)
    assert set(left_open(pack)) == {"tables"}
    (pack / "coefficients.csv").unlink()
    (pack / "more.csv").unlink()
    forge(pack, signer, version=HERE)
    assert found(pack) == {"tables": "coefficients.csv is missing"}


# ---- the page


def test_the_page_says_what_follows(pack: Path, signer: Key) -> None:
    page = pack / "report.html"
    honest = page.read_text()
    assert honest.count("<figure") == 3
    says = "report.html says something else than what follows from the public files"
    for old, new, elsewhere in (
        ("epsilon = 6", "epsilon = 0.6", "which does not follow"), ("</main>", "<p>Approved.</p></main>", ""),
        ("<p class", "<script>1</script><p class", "<script> is not allowed"),
        ("<figcaption class", "<figcaption id", "<figure> is not allowed"),
        ("<h2>", '<h2 style="position:fixed">', "has attributes of its own"),
        ('class="lead"', 'class="cover"', "has attributes of its own"),
        ("default-src 'none'", "default-src *", "does not begin as a page of confide does"),
        ("<style>", "<style>body{display:none}", "does not begin as a page of confide does"),
        ("<main>", "Approved.<main>", "outside of any paragraph"), ("<h1>", "<!-- --><h1>", "no plain markup"),
        ("<p class", '<p hidden="x" class', "has attributes of its own"),
        ("</html>", "</html><p>Approved.</p>", "more than a page of words"),
    ):
        assert old in honest
        page.write_text(honest.replace(old, new, 1))
        forge(pack, signer, version=HERE)
        assert found(pack) == {"report": says}
        forge(pack, signer, version=OLD)
        if elsewhere:
            assert set(found(pack)) == {"report"}
            assert elsewhere in found(pack)["report"]
        else:
            assert not found(pack)
            assert set(left_open(pack)) == {"report"}
    forge(pack, signer, version=HERE)
    page.unlink()
    resign(pack, signer)
    assert found(pack) == {"files": "report.html was not signed", "report": "pack: report.html is missing"}


def test_a_page_of_a_version_without_a_policy_is_known(pack: Path, signer: Key) -> None:
    """Packs of confide 0.1.0 had neither a policy nor the data of their pictures beside the page."""
    page = pack / "report.html"
    as_first(pack, signer)
    assert set(left_open(pack)) == {"meter"}
    assert not found(pack)
    honest = page.read_text()
    page.write_text(honest.replace("<svg", '<svg style="position:fixed"', 1))
    resign(pack, signer)
    assert "picture 1 of report.html is not a drawing of its data: style is more" in found(pack)["report"]
    page.write_text(honest.replace("Released coefficients", "Coefficients as released"))
    resign(pack, signer)
    assert not found(pack)
    assert set(left_open(pack)) == {"meter", "report"}
    page.write_text(honest)
    for version in (HERE, OLD):
        forge(pack, signer, version=version)
        assert {"meter", "report"} <= set(found(pack))


def _titles(page: str) -> list[str]:
    """The titles of the first picture and of its axes."""
    return [*dict.fromkeys(re.findall(r'role-(?:axis-title|title-text)".*?<text[^>]*>([^<]+)<',
                                      page[page.index("<svg"):page.index("</svg>")]))]


def test_a_title_of_a_picture_is_held_against_what_follows_in_every_version(pack: Path, signer: Key) -> None:
    page, honest = pack / "report.html", (pack / "report.html").read_text()
    titles = _titles(honest)
    assert len(titles) == 2

    def forged(text: str, change: Callable[[str], str]) -> str:
        svg = text[text.index("<svg"):text.index("</svg>")]
        new = svg
        for title in titles:
            new = new.replace(title, change(title))
        assert new != svg
        return text.replace(svg, new, 1)

    page.write_text(forged(honest, lambda title: "Share of cheats"))
    for version in (HERE, OLD):
        forge(pack, signer, version=version)
        assert set(found(pack)) == {"report"}
    page.write_text(honest)
    as_first(pack, signer)
    first = page.read_text()
    page.write_text(forged(first, lambda title: "Share of cheats"))
    resign(pack, signer)
    assert set(left_open(pack)) == {"meter", "report"}
    assert not found(pack)


def test_a_page_of_the_first_version_has_its_pictures(pack: Path, signer: Key) -> None:
    """In their order, all or none of them; whatever the words around them say."""
    page = pack / "report.html"
    as_first(pack, signer)
    honest = page.read_text()
    figures = re.findall(r"<figure.*?</figure>", honest, re.DOTALL)
    first, second = (re.findall(r"<svg.*?</svg>", each, re.DOTALL)[0] for each in figures[:2])
    swapped = honest.replace(first, "\0").replace(second, first).replace("\0", second)
    words = re.findall('aria-label="([^"]*)"', figures[0])[0]
    left_out = honest.replace(figures[0], f'<p class="note">Picture left out (install the extra [plots]): {words}</p>')
    for forged in (swapped, honest.replace(figures[0], figures[1]), honest.replace(figures[0], ""), left_out):
        for text in (forged, forged.replace("Released coefficients", "Coefficients as released")):
            page.write_text(text)
            resign(pack, signer)
            assert set(found(pack)) == {"report"}
    page.write_text(without_pictures(honest)[0])  # who settled it could not draw
    resign(pack, signer)
    assert not found(pack)
    assert set(left_open(pack)) == {"meter"}


def test_pictures_are_those_that_follow_in_their_order_in_every_version(pack: Path, signer: Key) -> None:
    """Page and data agree with each other, and are others than what follows: exchanged, or shown twice."""
    page, path = pack / "report.html", pack / "pictures.json"
    honest, data = page.read_text(), path.read_bytes()
    says = "report.html says something else than what follows from the public files"
    one, two, _ = re.findall(r"<figure.*?</figure>", honest, re.DOTALL)
    for text, change in (
        (honest.replace(one, "\0").replace(two, one).replace("\0", two), lambda said: [said[1], said[0], said[2]]),
        (honest.replace(one, two), lambda said: [said[1], *said[1:]]),
    ):
        for version in (HERE, OLD):
            page.write_text(text)
            path.write_bytes(data)
            edit(path, change)
            forge(pack, signer, version=version)
            assert found(pack) == {
                "report": says if version == HERE else "pictures.json is not what the billboard says"}
    page.write_text(honest.replace(one, ""))
    path.write_bytes(data)
    edit(path, lambda said: said[1:])
    forge(pack, signer, version=OLD)  # perhaps another version shows fewer
    assert set(left_open(pack)) == {"report"}
    edit(path, lambda said: said[0]["vega_lite"].update(title="1 of 1 is ill"))
    forge(pack, signer, version=OLD)
    assert set(found(pack)) == {"report"}


def test_a_picture_is_left_out_only_where_its_data_say_so(pack: Path, signer: Key) -> None:
    page, path = pack / "report.html", pack / "pictures.json"
    honest, data = page.read_text(), path.read_bytes()
    agree = "report.html and pictures.json do not agree on the pictures that were drawn"

    def left_out(text: str, says: str, times: int) -> str:
        return re.sub(r'<figure role="img" aria-label="([^"<>]*)">.*?</figure>',
                      lambda it: f'<p class="note">Picture left out ({says}): {it[1]}</p>', text, count=times,
                      flags=re.DOTALL)

    extra, form = "install the extra [plots]", (
        "the drawing software draws it in a form that confide verify does not know")
    for says, state, times in ((extra, NO_SOFTWARE, 1), (extra, NO_SOFTWARE, 3), (form, UNKNOWN_FORM, 1)):
        for version in (HERE, OLD):
            page.write_text(left_out(honest, says, times))
            path.write_bytes(data)
            forge(pack, signer, version=version)
            assert found(pack) == {"report": agree}
            edit(path, lambda said, state=state, times=times: [
                each.update(drawn=state) for each in said[:times]] and None)
            forge(pack, signer, version=version)
            if state == NO_SOFTWARE and times == 1:
                assert "for want of software that drew another one" in found(pack)["report"]
            else:
                assert not found(pack)
    page.write_text(honest)
    for version in (HERE, OLD):
        forge(pack, signer, version=version)
        assert found(pack) == {"report": agree}


def test_pictures_are_drawings(pack: Path, signer: Key) -> None:
    page = pack / "report.html"
    honest = page.read_text()
    wider = re.sub(r'(?<=svg" )|(<svg[^>]*width=")633(" height="[0-9.]+" viewBox="0 0 )633( [^>]*><rect width=")633',
                   lambda it: f"{it[1]}640{it[2]}640{it[3]}640" if it[1] else "", honest, count=1)
    assert wider != honest  # other fonts
    page.write_text(wider)
    resign(pack, signer)
    assert verify(pack).complete
    for evil in ("<script>1</script>", '<g onload="x()">', '<a href="x">', '<g style="position:fixed">', "<style>",
                 "<image x='1'/>", "<!-- -->", "<p>Approved.</p>", '<use xlink:href="#a"/>', "<foreignObject>",
                 '<rect width="900" height="900" fill="white"/>', "<text>Approved</text>", "Approved",
                 '<image href="https://example.org/x"/>', '<image href="data:image/png;base64,AA"/>'):
        page.write_text(honest.replace("<rect", f"{evil}<rect", 1))
        resign(pack, signer)
        assert set(found(pack)) == {"report"}


def test_a_picture_is_not_exchanged(pack: Path, signer: Key) -> None:
    """For another one of the pack, or for one whose marks, labels or screen reader's words say something else."""
    page = pack / "report.html"
    honest = page.read_text()
    _, (first, second, third) = without_pictures(honest)
    assert isinstance(first, str)
    assert isinstance(second, str)
    assert third
    swapped = honest.replace(first, "\0").replace(second, first).replace("\0", second)
    moved = re.sub(r'(<path aria-label="value: [^>]*transform="translate\()([0-9.]+)', r"\g<1>4\g<2>", honest, count=1)
    bar = re.sub(r'(<line aria-label="[^>]* x2=")([0-9.]+)', lambda it: f"{it[1]}{float(it[2]) / 2}", honest, count=1)
    said = re.sub(r'(aria-label="value: )', r"\g<1>1", honest, count=1)
    tick = re.sub(r'(role-axis-label".*?>)0\.', r"\g<1>1.", honest, count=1)
    hidden = re.sub(r'(role-axis-label".*?opacity=")1', r"\g<1>0", honest, count=1)
    small = honest.replace("<svg ", '<svg x="0" ', 1)
    for forged in (swapped, moved, bar, said, tick, hidden, small):
        assert forged != honest
        page.write_text(forged)
        for version in (HERE, OLD):
            forge(pack, signer, version=version)
            assert set(found(pack)) == {"report"}, version
            assert "report.html is not a drawing of its data" in found(pack)["report"]


def test_the_data_of_pictures_are_the_billboards(pack: Path, signer: Key) -> None:
    path = pack / "pictures.json"
    honest = path.read_bytes()

    def value(said: Any) -> dict[str, Any]:
        found: dict[str, Any] = said[0]["vega_lite"]["data"]["values"][0]
        return found

    for change in (
        lambda said: value(said).update(value=0.5), lambda said: said.pop(), lambda said: said.append({}),
        lambda said: said[0].update(note="x"), lambda said: value(said).update(label="income"),
        lambda said: said[0]["vega_lite"].update(data={"url": "https://example.org"}),
    ):
        edit(path, change)
        for version in (HERE, OLD):
            forge(pack, signer, version=version)
            assert set(found(pack)) == {"report"}
        path.write_bytes(honest)
    for change in (lambda said: said[0]["vega_lite"].update(title="Approved"), lambda said: said[0].update(alt="Yes")):
        edit(path, change)
        forge(pack, signer, version=HERE)
        assert found(pack) == {"report": "pictures.json is not what the billboard says"}
        path.write_bytes(honest)
    edit(path, lambda said: value(said).update(value=value(said)["value"] * (1 + 1e-14)))
    forge(pack, signer, version=HERE)
    assert verify(pack).complete
    path.unlink()
    resign(pack, signer)
    assert found(pack) == {"report": f"pictures.json is missing; confide {HERE} always writes it"}


# ---- texts


def test_small_numbers_have_their_sign() -> None:
    assert not same_doubles(["-2.05e-14", "-2.28e-14"], ["9e-13", "8.5e-13"])
    assert not same_text("age -2.05e-14 in mol", "age 2.05e-14 in mol")
    assert same_doubles(["0.3", "1e-17"], ["0.3", "-2e-17"])


@pytest.mark.parametrize(("now", "then", "same"), [
    ("a 0.3 b", "a 0.30000000000000004 b", True), ("1e-20", "-3e-20", False), ("1e-17,2.0", "0.0,2.0", False),
    ("3", "3.0", True), ("3", "4", False), ("10000000000", "10000000001", False), ("0.3", "0.3000001", False),
    ("0.3", f"0.3{'0' * 60}", False), ("a 1", "b 1", False), ("1.5 2.5", "1.5", False), ("0.5", "\u0660.5", False),
], ids=range(11))
def test_the_same_text(now: str, then: str, same: bool) -> None:
    assert same_text(now, then) is same


@pytest.mark.parametrize(("now", "then", "same"), [
    ("a 0.30000000000000004 b", "a 0.3 b", True), ("a 0.3 b", "a 0.30000000000000004 b", False), ("3", "3.0", False),
    ("item 1.1", "item 1.10", False), ("1e9 kg", "1000000000.0 kg", False), ("x 123456789012345678", "x 1e17", False),
    ("0.1234567890123456", "0.1234567890123", True), ("0.1234567890123456", "0.123456", False),
], ids=range(8))
def test_the_same_words(now: str, then: str, same: bool) -> None:
    assert same_words(now, then) is same


@pytest.mark.parametrize("name", ["item 1e12", "1e9 kg", "1e300"])
def test_digits_in_words_are_no_scale(name: str) -> None:
    """A unit or a good's name says nothing about the numbers beside it."""
    table = pa.table({"good": [name, "b"], "price": [0.25, 1e-9], "copies": [3, 4], "unit": [name, None]})
    honest = as_csv(table)
    assert same_table(table, honest)
    assert same_table(table, honest.replace("0.25", "0.25000000000000006"))
    for old, new in (("0.25", "0.5"), ("0.25", "0.250000001"), ("1e-09", "2e-09"), (",3,", ",3.0,"), (",4,", ",5,"),
                     (name, f"{name}1"), ("b,", "c,"), ("0.25", "0.250"), ("0.25", '"0.25"'), ("price", "cost"),
                     ("1e-09", ""), ("\nb", "\n\nb"), ("good,", "good ,")):
        assert honest.replace(old, new, 1) != honest
        assert not same_table(table, honest.replace(old, new, 1)), new


def test_long_tables_of_other_software_are_compared_by_value(tmp_path: Path) -> None:
    table = as_rows(pa.table({
        "level": ["a", "b 1e9", "a"], "age": [1.5, 2.5, 1e-9], "n": pa.array([1, 2, 3], pa.int32())}))

    def written(changed: pa.Table, **how: Any) -> bytes:
        pq.write_table(changed, tmp_path / "rows.parquet", **how)
        return (tmp_path / "rows.parquet").read_bytes()

    assert same_rows(table, written(table, compression="gzip", version="1.0"))
    for column, values in (("level", ["a", "b 1e8", "a"]), ("age", [1.5, 2.5, 2e-9]), ("age", [1.5, None, 1e-9])):
        place = table.column_names.index(column)
        assert not same_rows(table, written(table.set_column(place, column, pa.array(values))))
    for other in (table.slice(1), pa.concat_tables([table, table]), table.select(["age", "level", "n"]),
                  table.set_column(2, "n", pa.array([1, 2, 3]))):
        assert not same_rows(table, written(other))
    assert not same_rows(table, b"PAR1")
    assert not same_rows(table, written(table)[:-8])

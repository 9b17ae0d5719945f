"""The operator writes the page, too: words, titles and pictures that do not follow from the pack are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import confide
from campaign.forging import as_first, edit, forge, found, left_open, resign
from confide.campaign import verify
from confide.campaign.report import NO_SOFTWARE, UNKNOWN_FORM, without_pictures

Key = Ed25519PrivateKey
OLD = "0.0.1"
HERE = confide.__version__


def test_the_page_says_what_follows(pack: Path, signer: Key) -> None:
    page = pack / "report.html"
    honest = page.read_text()
    assert honest.count("<figure") == 3
    says = "report.html does not agree with the public files"
    for old, new, elsewhere in (
        ("epsilon = 6", "epsilon = 0.6", "which does not follow"), ("</main>", "<p>Approved.</p></main>", ""),
        ("<p class", "<script>1</script><p class", "<script> is not allowed"),
        ("<figcaption class", "<figcaption id", "<figure> is not allowed"),
        ("<h2>", '<h2 style="position:fixed">', "has attributes of its own"),
        ('class="lead"', 'class="cover"', "has attributes of its own"),
        ("default-src 'none'", "default-src *", "does not begin like a page of confide"),
        ("<style>", "<style>body{display:none}", "does not begin like a page of confide"),
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
    assert ("picture 1 of report.html is not a drawing of its data: the attribute style is not expected"
            in found(pack)["report"])
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
    says = "report.html does not agree with the public files"
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
                "report": says if version == HERE else "pictures.json does not agree with the billboard"}
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
    agree = "report.html and pictures.json do not agree on the drawn pictures"

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
                assert "for lack of software, but the software drew another picture" in found(pack)["report"]
            else:
                assert not found(pack)
    page.write_text(honest)
    for version in (HERE, OLD):
        forge(pack, signer, version=version)
        assert found(pack) == {"report": agree}


def test_pictures_are_drawings(pack: Path, signer: Key) -> None:
    page = pack / "report.html"
    honest = page.read_text()
    width = re.search(r'<svg[^>]* width="([0-9]+)"', honest)
    assert width
    wider = honest.replace(f'width="{width[1]}"', f'width="{int(width[1]) + 7}"').replace(
        f'viewBox="0 0 {width[1]} ', f'viewBox="0 0 {int(width[1]) + 7} ')
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
        assert found(pack) == {"report": "pictures.json does not agree with the billboard"}
        path.write_bytes(honest)
    edit(path, lambda said: value(said).update(value=value(said)["value"] * (1 + 1e-14)))
    forge(pack, signer, version=HERE)
    assert verify(pack).complete
    path.unlink()
    resign(pack, signer)
    assert found(pack) == {"report": f"pictures.json is missing; confide {HERE} always writes it"}

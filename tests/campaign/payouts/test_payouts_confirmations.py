"""What the bank says back: settled facts alone count, and a hostile file breaks nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import XMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign.payouts.answers import SPACE, report, single
from campaign.payouts.batches import references, small
from confide.campaign.payouts import as_table, read_confirmations
from confide.campaign.payouts.confirmations import _Report
from confide.contract import InvalidInput

STATUSES = st.sampled_from(["paid", "failed"])


def read(folder: Path, text: str | bytes, messages: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    path = folder / "answer"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return dict(read_confirmations(path, messages))


def refusal(folder: Path, text: str | bytes, messages: Mapping[str, Sequence[str]] | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(folder, text, messages)
    start = f"confirmations: {folder / 'answer'} cannot be read: "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


# ---- tables


@given(st.dictionaries(references, STATUSES, max_size=6))
def test_a_table(tmp_path_factory: pytest.TempPathFactory, statuses: dict[str, str]) -> None:
    lines = [f'"{reference}",{status}' for reference, status in statuses.items()]
    text = "\n".join(["reference,status", *lines, *lines[:1]])  # the same said twice is no contradiction
    assert read(tmp_path_factory.mktemp("answer"), text) == statuses


def test_a_table_with_more_columns(tmp_path: Path) -> None:
    head, *rows = as_table(small()).decode().splitlines()
    text = "\r\n".join([f"\ufeff{head},status", *(f"{row},paid" for row in rows)])
    assert read(tmp_path, text) == {"S-1/ann": "paid", "S-1/bob": "paid"}


@pytest.mark.parametrize(("text", "message"), [
    ("", "header: has no column reference, status; the first line must name the columns reference, status"),
    ("reference\nA\n", "header: has no column status"),
    ("reference,status,status\nA,paid,failed\n", "header: has the column status twice"),
    ("reference,status\nA,paid\nB\n", "line 3: has 1 cell; must have 2"),
    ("reference,status\nA,paid\nB,pending\n", "line 3: status: is not known; must be paid or failed"),
    ("reference,status\nA,Paid\n", "line 2: status: is not known"),
    ("reference,status\nA,\n", "line 2: status: is not known"),
    ("reference,status\nA,paid \n", "line 2: status: is not known"),
    ("reference,status\n,paid\n", "line 2: reference: does not have the form of the references of confide; must have"),
    ("reference,status\n=A,paid\n", "line 2: reference: does not have the form of the references of confide"),
    (f"reference,status\n{'A' * 36},paid\n", "line 2: reference: does not have the form of the references of confide"),
    ("reference,status\nA,paid\nB,paid\nA,failed\n",
     "reference: 'A' has two statuses that contradict each other; ask the bank for the right status, and import only "
     "this status"),
    ('reference,status\n"A,paid\n', "line 2: is malformed ("),
    (b"reference,status\n\xff,paid\n", "text: is not UTF-8"),
    ("reference,status\n" + "x" * 10_000_000, "line 2: is malformed (field larger than"),
    ("reference,status\n" + "A," * 5_000_000, "line 2: has 5,000,001 cells; must have 2"),
], ids=range(16))
def test_a_wrong_table(text: str | bytes, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, text).startswith(message)


# ---- reports


@pytest.mark.parametrize(("code", "status"), [
    ("ACSC", "paid"), ("ACCC", "paid"), ("RJCT", "failed"), ("CANC", "failed"),
    *((code, None) for code in ("ACSP", "ACTC", "ACCP", "ACWC", "ACWP", "ACFC", "PDNG", "RCVD", "PART", "BLCK", "ZZ9")),
])
def test_what_statuses_mean(code: str, status: str | None, tmp_path: Path) -> None:
    expected = {} if status is None else {"A": status}
    assert read(tmp_path, report(single("A", code))) == expected
    assert read(tmp_path, report(message="M-1", group=code), {"M-1": ["A"]}) == expected
    assert read(tmp_path, report(message="M-1", order=code), {"M-1": ["A"]}) == expected


@given(st.dictionaries(references, STATUSES | st.just("pending"), max_size=6))
def test_a_report(tmp_path_factory: pytest.TempPathFactory, statuses: dict[str, str]) -> None:
    codes = {"paid": "ACSC", "failed": "RJCT", "pending": "ACSP"}
    text = report(*(single(reference, codes[status]) for reference, status in statuses.items()), group="PART")
    assert read(tmp_path_factory.mktemp("answer"), text) == {
        reference: status for reference, status in statuses.items() if status != "pending"}


def test_what_stands_around_is_passed_over(tmp_path: Path) -> None:
    more = ("<StsRsnInf><Rsn><Cd>AM04</Cd></Rsn><AddtlInf>TxSts</AddtlInf></StsRsnInf><OrgnlTxRef><Cdtr><Pty><Nm>Ann"
            "</Nm></Pty></Cdtr></OrgnlTxRef><SplmtryData><Envlp><x:TxSts xmlns:x='urn:x'>RJCT</x:TxSts><TxSts>RJCT"
            "</TxSts></Envlp></SplmtryData>")
    text = report(single("A", "ACSC", more), "<TxSts>RJCT</TxSts><!-- <TxSts>RJCT</TxSts> -->", single(None, "ACSP"),
                  single("B", None), single("C", " ACCC\n"), single("D", "<![CDATA[RJCT]]>"), single("E", "AC&#83;C"))
    assert read(tmp_path, text) == {"A": "paid", "C": "paid", "D": "failed", "E": "paid"}
    assert read(tmp_path, f"\ufeff{text}") == read(tmp_path, text)
    assert read(tmp_path, text.replace("<", "<r:").replace("<r:/", "</r:").replace("<r:?", "<?").replace(
        "<r:!", "<!").replace("xmlns=", "xmlns:r=").replace("r:x:", "x:")) == read(tmp_path, text)


def test_a_later_status_settles_a_pending_one(tmp_path: Path) -> None:
    for code, status in (("ACSC", "paid"), ("RJCT", "failed")):
        for codes in ((code, "ACSP"), ("ACSP", code), (code, code)):
            assert read(tmp_path, report(*(single("A", each) for each in codes))) == {"A": status}


@pytest.mark.parametrize("codes", [("ACSC", "RJCT"), ("RJCT", "ACCC"), ("CANC", "ACSP", "ACSC")])
def test_contradictions(codes: tuple[str, ...], tmp_path: Path) -> None:
    text = report(single("B", "ACSC"), *(single("A", code) for code in codes))
    assert refusal(tmp_path, text).startswith("reference: 'A' has two statuses that contradict each other")


# ---- messages as a whole

SENT = {"M-1": ["A", "B", "C"], "M-2": ["D"]}


def test_a_message_that_failed(tmp_path: Path) -> None:
    failed = dict.fromkeys("ABC", "failed")
    for kind in ("group", "order"):
        assert read(tmp_path, report(**{kind: "RJCT"}), SENT) == failed
        assert read(tmp_path, report(single("B", "RJCT"), **{kind: "RJCT"}), SENT) == failed
        for code in ("ACSC", "ACSP"):
            assert refusal(tmp_path, report(single("B", code), **{kind: "RJCT"}), SENT).startswith(
                "reference: 'B' has two statuses")
    assert read(tmp_path, report(group="RJCT", order="RJCT"), SENT) == failed


def test_a_message_that_was_paid_but_for_some(tmp_path: Path) -> None:
    text = report(single("B", "RJCT"), single("C", "ACSP"), order="ACSC")
    assert read(tmp_path, text, SENT) == {"A": "paid", "B": "failed"}
    assert refusal(tmp_path, report(group="ACSC", order="RJCT"), SENT).startswith("reference: 'A' has two statuses")


def test_a_message_that_was_paid_although_some_had_failed(tmp_path: Path) -> None:
    """Were they paid after all, or was only the rest? The bank has to say it of each."""
    failed = ["B", "D"]
    path = tmp_path / "answer"
    path.write_text(report(group="ACSC"))
    with pytest.raises(InvalidInput, match=r"'M-1' is paid as a whole, .* before that 1 of its payments failed"):
        read_confirmations(path, SENT, failed)
    for text, said in ((report(group="RJCT"), dict.fromkeys("ABC", "failed")),
                       (report(single("B", "RJCT"), group="ACSC"), {"A": "paid", "B": "failed", "C": "paid"}),
                       (report(single("B", "ACSC"), order="ACSC"), dict.fromkeys("ABC", "paid"))):
        path.write_text(text)
        assert read_confirmations(path, SENT, failed) == said


def test_a_message_that_nobody_sent(tmp_path: Path) -> None:
    for code, word in (("RJCT", "failed"), ("ACSC", "paid")):
        for messages in (None, {}, {"M-2": ["D"]}):
            assert refusal(tmp_path, report(single("A", code), group=code), messages).startswith(
                f"message: 'M-1' is {word} as a whole, but no such message was sent from here; look at the bank's")
    assert read(tmp_path, report(single("A", "ACSC"), group="ACSP")) == {"A": "paid"}


# ---- reports that are refused


@pytest.mark.parametrize(("text", "message"), [
    ("<", "line 1: is not well-formed XML"),
    ("<a>", "report: is not a status report in a known format; must be a pain"),
    ("<Document/>", "report: is not a status report"), ("<html><body>", "report: is not a status report"),
    (report().replace("pain.002.001.10", "pain.002.001.03"),
     "report: is not a status report in a known format; must be a pain.002.001.10"),
    (report().replace(SPACE, "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"), "report: is not a status report"),
    (report()[:-20], "line 13: is not well-formed XML"),
    (report(single("A", "ACSC")).replace("</TxSts>", ""), "line 11: is not well-formed XML"),
    (report(single("A", "ACSC")).replace("A<", "&x;<"), "line 11: is not well-formed XML"),
    (report(single("A", "acsc")),
     "TxSts: this element holds no valid status code; must hold up to four capitals and digits"),
    (report(group="R J"), "GrpSts: this element holds no valid status code"),
    (report(order="RJCTX"), "PmtInfSts: this element holds no valid status code"),
    (report(single("A", "ACSC", "<TxSts>ACSC</TxSts>")), "report: has TxSts twice in one place"),
    (report(single(None, "RJCT")), "reference: '' is not a reference of a payment"),
    (report(single("", "RJCT")), "reference: '' is not a reference of a payment"),
    (report(single("A" * 36, "ACSC")), "reference: 'AAA"), (report(single("=A", "ACSP")), "reference: '=A' is no"),
    (report(single("A", "ACSC")).encode("utf-16"), "text: is not UTF-8"),
    (report(single("A", "ACSC")).encode("utf-16-le"), "report: is not UTF-8; save the file as UTF-8"),
    (report(single("Ä", "ACSC")).encode("latin-1"), "text: is not UTF-8"),
    (b"<\x00", "report: is not UTF-8"), (report(single("\x00", "ACSC")), "report: is not UTF-8"),
    (report(single("A", "ACSC")).encode("utf-16-be"), "header: has no column reference, status"),
    (report(single("A", "x" * 10_000_000)), "TxSts: this element holds no valid status code"),
    (report(single("A" * 10_000_000, "ACSC")), "reference: 'AAAA"),
    ("<" + "x" * 10_000_000, "line 1: is not well-formed XML"),
    (report("<y>" * 100_000), "report: is nested deeper than 64 elements"),
], ids=range(27))
def test_a_wrong_report(text: str | bytes, message: str, tmp_path: Path) -> None:
    found = refusal(tmp_path, text)
    assert found.startswith(message)
    assert len(found) < 700


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


@pytest.mark.parametrize("declaration", [
    "<!DOCTYPE Document>",
    f'<!DOCTYPE lolz [<!ENTITY l0 "lol">{LAUGHS}]>',
    '<!DOCTYPE x [<!ENTITY passwords SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE x SYSTEM "http://example.org/x.dtd">',
    '<!DOCTYPE x [<!ENTITY % more SYSTEM "http://example.org/x"> %more;]>',
], ids=["plain", "billion laughs", "file", "remote", "parameter"])
def test_no_document_type_at_all(declaration: str, tmp_path: Path) -> None:
    for entity in ("A", "&l9;", "&passwords;"):
        text = report(single("B", "ACSC")).replace(">B<", f">{entity}<").replace("\n<Doc", f"\n{declaration}<Doc")
        assert refusal(tmp_path, text) == "report: has a document type declaration, which no bank's report has"
    # Wherever it stands, and however it is written, none gets as far as an entity.
    body = report().partition("?>")[2]
    assert refusal(tmp_path, f"<!-- {declaration} -->{body}").startswith("report: has a document type declaration")
    assert refusal(tmp_path, declaration.replace("DOCTYPE", "doctype") + body) == "line 1: is not well-formed XML"
    # Without a mark at its beginning, UTF-16 passes for UTF-8; the parser would notice, and read the declaration.
    for declared in ("", '<?xml version="1.0" encoding="UTF-8"?>'):
        text = f"{declared}{declaration}{body}"
        assert refusal(tmp_path, text.encode("utf-16-le")) == "report: is not UTF-8; save the file as UTF-8"
        with pytest.raises(InvalidInput, match="header: has no column reference"):
            read(tmp_path, text.encode("utf-16-be"))


def test_the_parser_itself_stops_at_a_document_type() -> None:
    parser = XMLParser(target=_Report())
    with pytest.raises(InvalidInput, match=r"^report: has a document type declaration"):
        parser.feed('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')


@pytest.mark.parametrize("encoding", ["utf-7", "cp037", "utf-16", "latin-1", "unicode_escape", "no-such-one"])
def test_a_claimed_encoding_hides_nothing(encoding: str, tmp_path: Path) -> None:
    # "+ADw-" is "<" in UTF-7: the file is read as the UTF-8 that was searched, whatever it claims.
    text = report(single("A", "ACSC"), "+ADw-TxInfAndSts+AD4-").replace("UTF-8", encoding)
    assert read(tmp_path, text) == {"A": "paid"}
    hidden = f'<?xml version="1.0" encoding="{encoding}"?>+ADwAIQ-DOCTYPE x+AD4-' + report().partition("?>")[2]
    assert refusal(tmp_path, hidden) == "line 1: is not well-formed XML"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    with (tmp_path / "answer").open("wb") as file:
        file.truncate((1 << 26) + 1)  # sparse
    with pytest.raises(InvalidInput, match="cannot be read: size: 67108865 bytes; must be at most 67108864"):
        read_confirmations(tmp_path / "answer")
    with pytest.raises(InvalidInput, match="does not exist"):
        read_confirmations(tmp_path / "nowhere")


@given(st.text(max_size=80) | st.binary(max_size=80))
def test_noise_is_refused_or_says_nothing(tmp_path_factory: pytest.TempPathFactory, noise: str | bytes) -> None:
    folder = tmp_path_factory.mktemp("answer")
    data = noise.encode("utf-8", "surrogatepass") if isinstance(noise, str) else noise
    for text in (data, b"<" + data, b"reference,status\n" + data, report(single("A", "ACSP")).encode() + data):
        try:
            assert read(folder, text) == {}
        except InvalidInput:
            continue

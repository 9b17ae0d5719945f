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
from campaign.forging import edit, forge, found, left_open, rechain, remake, resign
from cases import fast
from confide.campaign import load, verify
from confide.campaign.kinds.regression import RegressionKind
from confide.campaign.pack import NOTE, as_csv
from confide.campaign.verification.likeness import same_doubles, same_rows, same_table, same_text, same_words
from confide.contract import Certificate, PublicOutcome
from confide.contract.digests import digest
from confide.contract.encoding import column_bytes
from confide.contract.kinds import as_rows
from confide.regression import PrivateTruthfulRegression

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
    assert found(pack)["parameters"] == "the mechanism may lose epsilon 6.5 towards others, more than planned"
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
        assert "this version refuses the plan, but confide 0.0.1 may have accepted it" in left["campaign file"]
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
    (lambda rows: rows[0]["data"].update(content="0" * 64), "belong to another outcome or campaign"),
    (lambda rows: rows[-1]["data"].update(manifest="0" * 64), "belong to another outcome or campaign"),
    (lambda rows: rows.append({"event": "cancel", "day": "2026-01-01", "data": {}}), "cannot cancel"),
    (lambda rows: rows.append({"event": "audit", "day": rows[-1]["day"], "data": {}}), "'audit', belongs to no pack"),
    (lambda rows: rows.insert(2, {**rows[1], "event": "submit"}), "'submit', belongs to no pack"),
    (lambda rows: rows[1].update(event="party"), "event 2 is unknown: 'party'"),
    (lambda rows: rows[2]["data"].update(people=1987), "event 3, 'close', does not have the data of such an event"),
    (lambda rows: rows[1].update(by="somebody"), "event 2 is not an event"),
    (lambda rows: rows[1].update(day=20260101), "event 2 is not an event"),
    (lambda rows: rows.clear(), "there are no events"),
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
    assert "has no valid signature" in found(pack)["signature"]


def test_the_operator_cannot_swap_the_campaign_file(pack: Path, signer: Key) -> None:
    rewrite(pack, ("epsilon_release = 4.0", "epsilon_release = 3.0"))
    resign(pack, signer)
    assert found(pack) == {"campaign file": "campaign.toml differs from the signed file"}


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
    assert found(pack)["billboard"] == "manifest.json does not have the parts of an outcome"
    forge(pack, signer, lambda manifest: manifest.pop("note") and None)
    assert verify(pack).complete
    forge(pack, signer, version="0.0.1 holds. All is well")
    assert found(pack)["billboard"] == "manifest.json names versions that are none"
    forge(pack, signer, version=HERE)
    forge(pack, signer, lambda manifest: manifest["mechanism"].pop("mode") and None)  # a default is not left out
    assert "not in the form in which confide writes an outcome" in found(pack)["billboard"]


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
        assert found(pack) == {"tables": "coefficients.csv does not agree with the billboard"}
        table.write_text(honest.replace(value, f"{float(value) * (1 + 1e-14)!r}"))
        forge(pack, signer)
        assert verify(pack).complete
    head, *lines = honest.splitlines()
    wider = "\n".join([f"{head},stars", *(f"{line},***" for line in lines)]) + "\n"
    for other in (wider, honest.replace("unit", "in")):
        table.write_text(other)
        forge(pack, signer, version=OLD)
        assert not found(pack)
        assert "has another layout of: coefficients.csv" in left_open(pack)["tables"]
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

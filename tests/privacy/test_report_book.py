"""A participant's own book: one draw a bit and campaign, whatever happens, and no second question without her word."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from confide.contract import InvalidInput, Refused
from confide.privacy.report_book import EVERYBODY, ReportBook


def ask(book: ReportBook, campaign: str = "spring", report: int = 1, **more: float) -> int:
    return book.report(person="17", bit="smokes", campaign=campaign, level=1.0, draw=lambda: report, **more)


@pytest.fixture
def book(tmp_path: Path) -> ReportBook:
    return ReportBook(tmp_path / "own" / "reports.json")


def test_a_retry_gives_the_stored_report(book: ReportBook) -> None:
    assert [ask(book, report=1), ask(book, report=0)] == [1, 1]
    assert book.spent("17", "smokes").level == 1.0
    assert book.path.stat().st_mode & 0o077 == 0


def test_a_second_campaign_on_the_bit_needs_the_participants_consent(book: ReportBook) -> None:
    ask(book)
    with pytest.raises(Refused, match=r"earlier reports under this data set or question cost 1 nats in all .*agree to "
                                      r"a total of 2"):
        ask(book, "summer")
    for total in (1.0, 1.9):
        with pytest.raises(Refused, match="agree to a total of 2"):
            ask(book, "summer", total=total)
    for total in (float("nan"), float("inf"), -2.0):
        with pytest.raises(InvalidInput, match="total"):
            ask(book, "summer", total=total)
    assert book.spent("17", "smokes").level == 1.0
    assert ask(book, "summer", report=0, total=2.0) == 0
    assert book.spent("17", "smokes").level == 2.0
    assert book.report(person="18", bit="smokes", campaign="summer", level=1.0, draw=lambda: 1) == 1  # somebody else


def test_a_break_between_agreement_and_report_costs_the_level(book: ReportBook) -> None:
    def breaks() -> int:
        assert book.spent("17", "smokes").level == 1.0  # written down before anything is drawn
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        book.report(person="17", bit="smokes", campaign="spring", level=1.0, draw=breaks)
    with pytest.raises(Refused, match="an attempt was interrupted, and its level is spent"):
        ask(book)
    assert ask(book, report=0, total=2.0) == 0
    assert ask(book, report=1) == 0


def test_a_book_that_others_can_read_or_that_is_none_is_refused(book: ReportBook) -> None:
    ask(book)
    book.path.chmod(0o644)
    with pytest.raises(InvalidInput, match="other users may read"):
        ask(book)
    book.path.chmod(0o600)
    book.path.write_text(json.dumps({"format": 2, "answers": []}))
    with pytest.raises(InvalidInput, match="2 is not known"):
        ask(book)


def _draw(path: str, number: int) -> int:
    return ask(ReportBook(Path(path)), report=number)


def test_two_at_once_draw_once(book: ReportBook) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(_draw, [(str(book.path), k) for k in range(6)])
    assert len(set(found)) == 1
    assert book.spent("17", "smokes").level == 1.0


def test_names_and_words_are_compared_without_capitals_and_spaces(book: ReportBook) -> None:
    def again(bit: str, question: str) -> int:
        return book.report(person="17", bit=bit, campaign=f"{bit}/{question}", level=1.0, question=question,
                           draw=lambda: 1)

    again("smokes", "Do you smoke?")
    for bit, question in (("SMOKES ", ""), ("tobacco", " do you  SMOKE? "), ("Smokes", "Another?")):
        with pytest.raises(Refused, match="agree to a total of 2"):
            again(bit, question)
    again("drinks", "Do you drink?")
    again("eats", "")  # no words are no question
    again("walks", "")
    assert book.spent("17", "smokes").level == 1.0


def test_who_plays_everybody_asks_each(book: ReportBook) -> None:
    ask(book)
    with pytest.raises(Refused, match="agree to a total of 2"):
        book.report(person=EVERYBODY, bit="smokes", campaign="played", level=1.0, draw=lambda: 9)
    book.report(person=EVERYBODY, bit="smokes", campaign="played", level=1.0, draw=lambda: 9, total=2.0)
    assert [book.spent(who, "smokes").level for who in ("17", "18", EVERYBODY)] == [2.0, 1.0, 2.0]
    with pytest.raises(Refused, match="agree to a total of 2"):
        book.report(person="18", bit="smokes", campaign="summer", level=1.0, draw=lambda: 1)


def test_what_is_printed_is_enough_to_agree_to(book: ReportBook) -> None:
    ask(book)
    level = 2.6036545771996686
    with pytest.raises(Refused) as refused:
        book.report(person="17", bit="smokes", campaign="summer", level=level, draw=lambda: 1)
    printed = float(str(refused.value).split("agree to a total of ")[1].split()[0])
    assert printed == pytest.approx(1.0 + level, rel=1e-4)
    assert book.report(person="17", bit="smokes", campaign="summer", level=level, draw=lambda: 0, total=printed) == 0


def test_levels_of_two_notions_add_up_as_rho(tmp_path: Path) -> None:
    book = ReportBook(tmp_path / "reports.json")
    book.report(person="17", bit="hours", campaign="pure", level=1.0, draw=lambda: 1)
    with pytest.raises(Refused, match=r"earlier reports under this data set or question cost 1 nats in all .*agree to "
                                      r"a total of 0\.75 of rho"):
        book.report(person="17", bit="hours", campaign="mean", level=0.25, notion="rho", draw=lambda: 1)
    book.report(person="17", bit="hours", campaign="mean", level=0.25, notion="rho", total=0.75, draw=lambda: 1)
    assert str(book.spent("17", "hours")) == "rho = 0.75"  # 1^2/2 + 0.25
    with pytest.raises(Refused, match=r"agree to a total of 1\.25 of rho"):
        book.report(person="17", bit="hours", campaign="again", level=1.0, total=1.0, draw=lambda: 1)

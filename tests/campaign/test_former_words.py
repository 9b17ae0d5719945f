"""The table of former words: what it calls the words of today is printed today, and numbers keep their places."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import confide
from confide.campaign.report import head
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.former_page_words import PAGES
from confide.campaign.verification.former_promise_words import PROMISES
from confide.campaign.verification.former_words import page_today, promises_today
from confide.campaign.verification.page import check_other

SOURCE = Path(confide.__file__).parent
PAIRS = dict([*PROMISES, *PAGES])


def printed() -> str:
    """All texts of the sources, each f-string with gaps for its values."""
    found = []
    for path in SOURCE.rglob("*.py"):
        if not path.name.startswith("former_"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    found.append("".join(str(each.value) if isinstance(each, ast.Constant) else "\0"
                                         for each in node.values))
    return "\n".join(found).lower()


def stands_in(known: str, part: str, values: int = 2) -> bool:
    """Whether a text is printed, in one piece or around a few values: what those say, the sources do not."""
    if part in known:
        return True
    words = part.split()
    at = max((at for at in range(len(words)) if " ".join(words[:at]) in known), default=0)  # the longest beginning
    return values > 0 and at > 0 and stands_in(known, " ".join(words[at:]), values - 1)


def test_words_of_today_are_printed() -> None:
    """A text that is changed once more has to be changed in the table, too: else no former page is compared with it."""
    known = printed()
    parts = {part.strip(" .,:;()%=").lower() for now in PAIRS.values()
             for part in re.split(r"\{[0-9]\}|\t|\b(?:EUR|USD|GBP)\b|[0-9]+|(?<=[.:;?]) |, ", now)}
    assert sorted(part for part in parts if len(part.split()) > 2 and not stands_in(known, part)) == []
    assert not stands_in(known, "the privacy of loss is out of count")


def test_each_number_is_kept() -> None:
    for former, now in PAIRS.items():
        places = {int(place) for place in re.findall(r"\{([0-9])\}", now)}
        assert places == set(range(1, former.count("{}") + 1)), former


def test_promises_are_read_in_the_words_of_today() -> None:
    said = [{"guarantee": "truthfulness", "gain": 0.5, "who": "everybody, whatever the others report, where "
             "contributions are verified", "note": "in the mean over the prices and the public coin"}]
    assert promises_today(said) == [{
        "guarantee": "truthfulness", "gain": 0.5, "who": "everybody, for any reports of the other participants, if "
        "contributions are verified", "note": "on average over the prices and the public draw"}]
    assert promises_today([1, None, True]) == [1, None, True]


@pytest.mark.parametrize(("then", "now"), [
    ("largest single payment, whoever takes part\t51.01 EUR",
     "largest single payment, for any number of participants\t51.01 EUR"),
    ("every payment lies between\t-6.80 USD and 7.10 USD", "range of every payment\t-6.80 USD to 7.10 USD"),
    ("Excess of any row, of what is delivered is at most 0, but with probability 0.05.",
     "Excess of the delivered parts over the supply of any row is at most 0, except with probability 0.05."),
    ("Losses are Renyi divergences of order 2. Towards the operator at most 25 nats, towards the public at most "
     "3.812, and your contract says how much it is for you: usually less.",
     "Your privacy loss towards the operator is at most 25 nats, and towards the public at most 3.812 nats (Renyi "
     "divergence of order 2). Your contract states your own losses, which are usually smaller."),
])
def test_pages_are_read_in_the_words_of_today(then: str, now: str) -> None:
    assert page_today(then) == now


def test_a_number_in_former_words_is_held_against_that_of_today() -> None:
    def page(row: str) -> str:
        return f"{head('T')}<body><main><table><tbody><tr><td>{row}</td></tr></tbody></table></main></body></html>\n"

    now = page("largest single payment, for any number of participants</td><td>51.01 EUR")
    check_other(now, page("largest single payment, whoever takes part</td><td>51.01 EUR"), "T")
    with pytest.raises(Broken, match="does not follow from the public files"):
        check_other(now, page("largest single payment, whoever takes part</td><td>51.02 EUR"), "T")

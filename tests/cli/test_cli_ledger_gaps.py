"""What the ledger may not know of the same people: the operator is warned, and nobody is refused."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from campaign.small import write
from cli.commands import Run
from confide.campaign import Campaign, Home, Store
from confide.campaign.ledger_gaps import _LIKE_LATIN, alike, foreign_letters, ledger_warnings, near_names

NAME = '"pay survey"'


@pytest.mark.parametrize(("name", "near"), [
    ("Pay survey", True), ("PAY SURVEY", True), ("paysurvey", True), ("pay-survey", True), ("pay_survey", True),
    ("pay survey 2", True), ("pay survey2", True), ("pay survey 2024", True), ("pay surveys", False),
    ("p\N{CYRILLIC SMALL LETTER A}y survey", True), ("P\N{GREEK CAPITAL LETTER ALPHA}Y survey", True),
    ("\N{FULLWIDTH LATIN SMALL LETTER P}ay survey", True), ("p\N{CYRILLIC SMALL LETTER ZHE}y survey", False),
    ("payroll", False), ("pay survey b", False), ("2 pay survey", False), ("pay survey", False),
])
def test_names_are_near_that_differ_in_case_blanks_or_a_number_at_the_end(name: str, near: bool) -> None:
    assert near_names(name, ["pay survey", "sleep"]) == (("pay survey",) if near else ())
    assert alike(["pay survey", "sleep", name]) == ((("pay survey", name),) if near else
                                                    (("pay survey",) * 2,) if name == "pay survey" else ())


CAPITALS = {
    "GREEK": "A ALPHA, B BETA, E EPSILON, Z ZETA, H ETA, I IOTA, K KAPPA, M MU, N NU, O OMICRON, P RHO, T TAU, "
             "Y UPSILON, X CHI",
    "CYRILLIC": "A A, B VE, E IE, K KA, M EM, H EN, O O, P ER, C ES, T TE, Y U, X HA, S DZE, J JE"}
SMALL = {
    "GREEK": "a ALPHA, b BETA, e EPSILON, z ZETA, n ETA, i IOTA, k KAPPA, u MU, v NU, o OMICRON, p RHO, t TAU, "
             "u UPSILON, x CHI, y GAMMA",
    "CYRILLIC": "a A, b VE, e IE, k KA, m EM, h EN, o O, p ER, c ES, t TE, y U, x HA, s DZE, j JE, r GHE"}


def letters(script: str, case: str, pairs: str) -> dict[str, str]:
    """The letter of a script, by the Latin one that it looks like in that case."""
    return {latin: unicodedata.lookup(f"{script} {case} LETTER {called}")
            for latin, called in (each.split(" ", 1) for each in pairs.split(", "))}


LIKE = [letters(script, case, pairs) for case, table in (("CAPITAL", CAPITALS), ("SMALL", SMALL))
        for script, pairs in table.items()]


@pytest.mark.parametrize("like", LIKE, ids=["GREEK", "CYRILLIC", "greek", "cyrillic"])
def test_a_name_in_letters_that_look_alike_is_near_whatever_its_case(like: dict[str, str]) -> None:
    """In the case in which it looks alike, in the other one, and with one letter changed alone."""
    rng = np.random.default_rng(4)
    words = ["".join(rng.choice(list(like), size=int(rng.integers(2, 9)))) for _ in range(200)]
    for latin in ["".join(like), *words]:
        other = "".join(like[each] for each in latin)
        for known in (latin, latin.swapcase(), latin.title()):
            for typed in (other, other.swapcase()):
                assert near_names(typed, [known]) == (known,)
                assert near_names(known, [typed]) == (typed,)
        assert near_names(latin.replace(latin[0], like[latin[0]]), [latin]) == (latin,)


@pytest.mark.parametrize(("typed", "known"), [
    ("\u039d\u039f\u03a4\u0395", "note"), ("\u039a\u0399\u039d", "kin"), ("\u0397\u039f\u039d\u0395\u03a5", "honey"),
    ("\u039c\u039f\u039d\u0395\u03a5 2024", "Money"), ("\u03bdote", "vote"), ("\u13df\u13aa\u13a2", "cat"),
    ("\u03c3\u03bf\u03c1\u03c5", "")])
def test_words_that_were_missed_are_near(typed: str, known: str) -> None:
    assert near_names(typed, [known, "sleep"]) == ((known,) if known else ())


def test_no_letter_of_the_table_is_out_of_reach() -> None:
    """Names are read in the form NFKC first."""
    for point in _LIKE_LATIN:
        assert unicodedata.normalize("NFKC", chr(point)) == chr(point)
        assert near_names(chr(point), [chr(_LIKE_LATIN[point])])


def test_names_near_a_third_one_are_one_group() -> None:
    nu, capital = "\N{GREEK SMALL LETTER NU}ote", "\N{GREEK CAPITAL LETTER NU}ote"
    assert not near_names("vote", ["note"])
    assert alike(["sleep", "vote", "note", nu, "rest", "Sleep"]) == (("sleep", "Sleep"), ("vote", "note", nu))
    assert alike([capital, "note"]) == ((capital, "note"),)


def test_words_that_mix_scripts_are_reported_and_others_are_not() -> None:
    assert foreign_letters("pay surv\N{CYRILLIC SMALL LETTER IE}y") == ("CYRILLIC SMALL LETTER IE",)
    for name in ("pay survey", "\u043e\u043f\u0440\u043e\u0441 survey", "\u8abf\u67fbsurvey", "2024 \u00e9t\u00e9"):
        assert foreign_letters(name) == ()


def test_the_oldest_of_several_near_names_is_recommended(run: Run, tmp_path: Path) -> None:
    """Whatever the order of the alphabet is: the oldest has the budget that most was spent of."""
    assert run("run", write(tmp_path, (NAME, '"pay survey"'))).code == 0
    assert run("run", write(tmp_path, (NAME, '"Pay survey"'), name="second"), "--another-campaign").code == 0
    found = run("plan", write(tmp_path, (NAME, '"PAY SURVEY"'), name="third"))
    assert ("which knows 'pay survey' and 'Pay survey'. If these data sets hold the same people, write 'pay survey', "
            "the oldest name: another name has another budget.") in found.err


def test_a_letter_of_another_script_is_reported(run: Run, tmp_path: Path) -> None:
    name = "pay surv\N{CYRILLIC SMALL LETTER IE}y"
    path = write(tmp_path, (NAME, f'"{name}"'))
    alone = run("plan", path)  # no ledger yet
    said = "is new to the ledger, and its name mixes scripts: it has CYRILLIC SMALL LETTER IE."
    assert (alone.code, alone.err.count(said)) == (0, 1)
    assert run("run", write(tmp_path, name="first")).err == ""
    found = run("plan", path)
    assert said in found.err
    assert "which knows 'pay survey'. If these data sets hold the same people, write 'pay survey'" in found.err
    assert said not in found.out


def test_names_of_digits_alone_are_near_nothing_else() -> None:
    assert near_names("2023", ["2024", "20 23", "1"]) == ("20 23",)


@pytest.mark.parametrize("verb", ["plan", "check", "run"])
def test_a_name_near_a_known_one_is_reported_before_the_charge(run: Run, tmp_path: Path, verb: str) -> None:
    assert run("run", write(tmp_path)).err == ""
    other = tmp_path / "other"
    other.mkdir()
    path = write(other, (NAME, '"Pay Survey 2"'), ('title = "What', 'title = "Now what'))
    found = run(verb, path)
    assert found.code == 0
    said = ("confide: warning: The data set 'Pay Survey 2' is new to the ledger, which knows 'pay survey'. If these "
            "data sets hold the same people, write 'pay survey': another name has another budget.\n")
    assert found.err == said
    assert "is new to the ledger, which knows" not in found.out  # the page may be shown to others
    assert run("plan", write(other, (NAME, '"sleep survey"'))).err == ""
    assert run("plan", write(other)).err == ""


def test_two_near_names_stand_in_the_ledger_as_such(run: Run, tmp_path: Path) -> None:
    assert run("run", write(tmp_path)).code == 0
    assert "almost the same" not in run("ledger").out
    assert run("run", write(tmp_path, (NAME, '"Pay survey"')), "--out", tmp_path / "second",
               "--another-campaign").code == 0
    shown = " ".join(run("ledger").out.split())
    assert ("The names 'Pay survey' and 'pay survey' are almost the same. If these data sets hold the same people"
            in shown)
    assert run("plan", write(tmp_path)).err == ""  # both are known by now


def test_a_pack_of_a_campaign_that_the_ledger_does_not_know_is_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another store was charged for the same people; its pack lies beside the campaign's own place."""
    assert run("run", write(tmp_path)).code == 0
    changed = (('title = "What', 'title = "So what'), ("epsilon = 7.0", "epsilon = 70.0"))
    own = Campaign.load(write(tmp_path, *changed, name="again"))
    with Store() as store:
        assert ledger_warnings(own.file, store, own.default_folder) == ()  # this ledger was charged
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "another home"))
    pack = tmp_path / "out" / "pay"
    said = (f"confide: warning: This ledger does not know the campaign on 'pay survey' of the pack in {pack}: "
            "another store was charged for it. The ledger does not count the cost of that campaign for the same "
            "people.\n")
    assert run("plan", own.file.path).err == said  # no store yet
    assert run("check", own.file.path).err == said
    assert run("run", own.file.path, "--out", tmp_path / "elsewhere").err == said
    near = write(tmp_path, (NAME, '"Pay survey"'), name="near")
    assert said in run("plan", near).err
    assert run("plan", write(tmp_path, (NAME, '"sleep survey"'), name="sleep")).err == ""
    broken = tmp_path / "out" / "broken"  # what is no pack is none
    shutil.copytree(tmp_path / "out" / "pay", broken)
    (broken / "campaign.toml").write_bytes(b"\xff")
    (tmp_path / "out" / "empty").mkdir()
    assert run("plan", own.file.path).err == said


def test_the_ledger_tells_of_releases_from_other_stores(run: Run, tmp_path: Path) -> None:
    assert run("run", write(tmp_path)).code == 0
    said = "This installation has released 1 campaign that this ledger does not know: another store was charged"
    assert "does not know" not in run("ledger").out
    Home.default().store.rename(tmp_path / "old.db")
    with Store() as fresh:
        assert fresh.data_sets() == ()
    assert said in " ".join(run("ledger").out.split())
    assert "does not know" not in run("ledger", "--store", f"sqlite:///{tmp_path / 'old.db'}").out

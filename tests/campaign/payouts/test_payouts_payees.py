"""Payees: only accounts that can exist, refused with the line and without the account."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from campaign.payouts.batches import ANN, BOB, LATIN, bics, iban, ibans, ids, names
from confide.campaign.payouts import Payee, Payer, read_payees
from confide.contract import InvalidInput

HEADER = "id,name,iban,bic\n"


def read(folder: Path, text: str | bytes) -> dict[str, Payee]:
    path = folder / "payees.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_payees(path)


def refusal(folder: Path, text: str | bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(folder, text)
    message = str(caught.value)
    assert message.startswith(f"payees: {folder / 'payees.csv'} cannot be read: ")
    for account in (ANN, BOB, ANN[4:], BOB[4:]):
        assert account not in message
    return message.removeprefix(f"payees: {folder / 'payees.csv'} cannot be read: ")


# ---- what is right


def test_a_right_file(tmp_path: Path) -> None:
    text = f'{HEADER}ann,"Smith, Ann",GB82 WEST 1234 5698 7654 32,\n\n7,Jürgen Łuk,{BOB},COBADEFFXXX\n'
    assert read(tmp_path, text) == {"ann": Payee("ann", "Smith, Ann", ANN), "7": Payee("7", "Jürgen Łuk", BOB,
                                                                                      "COBADEFFXXX")}


def test_forms_that_say_the_same(tmp_path: Path) -> None:
    payees = {"ann": Payee("ann", "Ann", ANN)}
    for text in (f"id,name,iban\nann,Ann,{ANN}\n", f"iban,id,name\r\n{ANN},ann,Ann\r\n", f"id,name,iban\nann,Ann,{ANN}",
                 f"\ufeffid,name,iban\nann,Ann,{ANN}\n", f'"id","name","iban","bic"\n"ann","Ann","{ANN}",""\n'):
        assert read(tmp_path, text) == payees
    assert read(tmp_path, HEADER) == {}
    assert read_payees(str(tmp_path / "payees.csv")) == {}


def test_two_people_may_share_an_account(tmp_path: Path) -> None:
    assert len(read(tmp_path, f"id,name,iban\nann,Ann,{ANN}\nbob,Ann,{ANN}\n")) == 2


@given(st.dictionaries(ids, st.tuples(names, ibans, bics), max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, people: dict[str, tuple[str, str, str | None]]
) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
        [("id", "name", "iban", "bic"), *((each, name, account, bic or "") for each, (name, account, bic) in
                                          people.items())])
    found = read(tmp_path_factory.mktemp("payees"), file.getvalue())
    assert found == {each: Payee(each, *rest) for each, rest in people.items()}


def test_an_account_is_never_printed() -> None:
    payee, payer = Payee("ann", "Ann", ANN, "COBADEFF"), Payer("Institute", BOB)
    assert repr(payee) == "Payee(id='ann')"
    assert BOB not in repr(payer)


# ---- the check digits


@pytest.mark.parametrize("account", [
    "GB82WEST12345698765432", "DE89370400440532013000", "NO9386011117947", "MT84MALT011000012345MTLCAST001S",
    "FR1420041010050500013M02606", "CH9300762011623852957", "NL91ABNA0417164300", "BE68539007547034",
])
def test_published_examples(account: str) -> None:
    assert Payee("ann", "Ann", account).iban == account


@given(ibans, st.data())
def test_any_other_digit_is_caught(account: str, data: st.DataObject) -> None:
    assert Payee("ann", "Ann", account).iban == account
    place = data.draw(st.sampled_from([i for i, character in enumerate(account) if character.isdigit()]))
    digit = data.draw(st.sampled_from([each for each in "0123456789" if each != account[place]]))
    with pytest.raises(InvalidInput, match="check digits"):
        Payee("ann", "Ann", account[:place] + digit + account[place + 1 :])


@given(ibans, st.data())
def test_neighbours_that_change_places_are_caught(account: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(4, len(account) - 2))
    left, right = account[place], account[place + 1]
    assume(left != right and left.isdigit() == right.isdigit())
    with pytest.raises(InvalidInput, match="check digits"):
        Payee("ann", "Ann", account[:place] + right + left + account[place + 2 :])


@given(ibans)
def test_each_account_has_one_pair_of_check_digits(account: str) -> None:
    right = []
    for pair in range(100):
        try:
            right.append(Payee("ann", "Ann", f"{account[:2]}{pair:02d}{account[4:]}").iban)
        except InvalidInput:
            continue
    assert right == [account]


@pytest.mark.parametrize("account", [
    "", "GB82", ANN.lower(), f" {ANN}", f"{ANN}\n", ANN.replace("1", "\u0661"), ANN.replace("W", "Ŵ"),
    iban("GB", "1" * 10), iban("GB", "1" * 31), "1182WEST12345698765432", "GBA2WEST12345698765432", None, 82,
])
def test_what_has_not_the_form(account: str) -> None:
    with pytest.raises(InvalidInput, match=r"^iban: the IBAN of 'ann' does not have the form of an IBAN; must be"):
        Payee("ann", "Ann", account)


@pytest.mark.parametrize(("account", "message"), [
    (iban("DE", "1" * 17), "the IBAN of 'ann' has 21 characters; an IBAN of its country has 22"),
    (iban("GB", "WEST" + "1" * 15), "the IBAN of 'ann' has 23 characters; an IBAN of its country has 22"),
    (iban("ZZ", "1" * 18), "the IBAN of 'ann' names no country that uses IBANs; "),
    (iban("US", "1" * 18), "the IBAN of 'ann' names no country that uses IBANs; "),
    (iban("DE", "3704004405320130A0"), "the IBAN of 'ann' has a letter or a digit in a place where its country "),
    (iban("GB", "1" * 18), "the IBAN of 'ann' has a letter or a digit in a place where its country "),
])
def test_what_no_bank_of_its_country_gives(account: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Payee("ann", "Ann", account)
    assert str(caught.value).startswith(f"iban: {message}")
    assert account[4:] not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("bic", ["COBAZZFF", "COBAUKFF", "COBAEUFFXXX"])
def test_a_bic_names_a_country(bic: str) -> None:
    with pytest.raises(InvalidInput, match=r"^bic: the BIC of 'ann' names no country; its fifth and sixth"):
        Payee("ann", "Ann", ANN, bic)


def test_kosovo_has_accounts_and_banks() -> None:
    payee = Payee("ann", "Ann", "XK051212012345678906", "NCBVXKPR")
    assert (payee.iban, payee.bic) == ("XK051212012345678906", "NCBVXKPR")


@pytest.mark.parametrize("bic", ["", "COBADEF", "COBADEFFX", "COBADEFFXXXX", "cobadeff", "COBA1EFF", "COBADEFF\n", 8])
def test_what_is_no_bic(bic: str) -> None:
    with pytest.raises(InvalidInput, match=r"^bic: the BIC of 'ann' does not have the form of a BIC; must be 8"):
        Payee("ann", "Ann", ANN, bic)


# ---- names


@given(names)
def test_latin_names_stay_as_they_are(name: str) -> None:
    assert Payee("ann", name, ANN).name == name


@given(st.characters(exclude_characters=LATIN))
def test_every_other_character_is_named(character: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Payee("ann", f"A{character}b", ANN)
    assert caught.value.field == "name"
    assert caught.value.problem == (f"the name of 'ann' has the character {character!r} (U+{ord(character):04X}) "
                                    f"as character 2")


@pytest.mark.parametrize(("name", "problem"), [
    ("", "is empty"), ("  ", "is empty"), (" Ann", "has spaces around it"), ("Ann ", "has spaces around it"),
    ("n" * 71, "has 71 characters"), (None, "is empty"),
])
def test_what_is_no_name(name: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=f"^name: the name of 'ann' {problem}"):
        Payee("ann", name, ANN)


def test_the_payer_is_held_to_the_same() -> None:
    for fields, field in ((("", ANN), "name"), (("I", ANN[:-1]), "iban"), (("I", ANN, "X"), "bic")):
        with pytest.raises(InvalidInput, match=f"^{field}: the .* of the payer "):
            Payer(*fields)


# ---- files that are refused


@pytest.mark.parametrize(("text", "message"), [
    ("", "header: has no column id, name, iban; the first line must name the columns id, name, iban and optionally "
         "bic, with commas between them"),
    (f"id,name\nann,{ANN}\n", "header: has no column iban; "),
    (f"ann,Ann,{ANN}\n", "header: has no column id, name, iban; "),
    (f"id;name;iban\nann;Ann;{ANN}\n", "header: has no column id, name, iban; "),
    (f"id,name,iban,{BOB}\n", "header: has an unknown column 4; the columns are id, name, iban and optiona"),
    ("id,name,iban,bci\n", "header: has an unknown column 4; "),
    ("id,name,iban,id\n", "header: has the column id twice"),
    (f"{HEADER}ann,Ann,{ANN}\n", "line 2: has 3 cells; must have 4, as the header"),
    (f"{HEADER}ann,Ann,{ANN},,\n", "line 2: has 5 cells; must have 4"),
    (f'{HEADER}ann,"A\nnn",{ANN},\n', "line 2: name: the name of 'ann' has the character '\\n' (U+000A) as char"),
    (f'{HEADER}"a\nnn",Ann,{ANN},\nbob,,{BOB},\n', "line 4: name: the name of 'bob' is empty"),
    (f"{HEADER}\n\nann,Ann,{ANN[:-1]}3,\n",
     "line 4: iban: the IBAN of 'ann' has wrong check digits: correct a typing error"),
    (f"{HEADER}ann,Ann,{ANN}9,\n", "line 2: iban: the IBAN of 'ann' has 23 characters; an IBAN of its country has 22"),
    (f"{HEADER}ann,Ann,,\n", "line 2: iban: the IBAN of 'ann' does not have the form"),
    (f"{HEADER}ann,Ann,{ANN},{BOB}\n", "line 2: bic: the BIC of 'ann' does not have the form of a BIC"),
    (f"{HEADER},Ann,{ANN},\n", "line 2: id: is empty"),
    (f"{HEADER}{ANN},Ann,ann,\n", "line 2: id: is an IBAN; check whether the columns have the order of the header"),
    (f"{HEADER}GB82 WEST 1234 5698 7654 32,Ann,ann,\n", "line 2: id: is an IBAN; "),
    (f"{HEADER}ann,Ann,{ANN},\nbob,Bob,{BOB},\nann,Ann,{BOB},\n",
     "line 4: id: 'ann' also stands on line 2; give every id once"),
    (f"{HEADER}ann,O\u2019Hara,{ANN},\n", "line 2: name: the name of 'ann' has the character '\u2019' (U+2019) as "
                                          "character 2; must be printable ASCII or a Latin letter"),
    (f"{HEADER}ann,Mu\u0308ller,{ANN},\n", "line 2: name: the name of 'ann' has the character '\u0308' (U+0308)"),
    (f'{HEADER}ann,"Ann,{ANN},\n', "line 2: is malformed (unexpected end of data); must be comma-separated values"),
    (f'{HEADER}ann,"Ann"x,{ANN},\n', "line 2: is malformed ("),
    (f"{HEADER}ann,Ann,{ANN},\n".encode("utf-16"), "text: is not UTF-8; save the file as UTF-8"),
    (f"{HEADER}ann,Jürgen,{ANN},\n".encode("latin-1"), "text: is not UTF-8"),
    (f"{HEADER}ann,A\x1b[2Jnn,{ANN},\n", "line 2: name: the name of 'ann' has the character '\\x1b' (U+001B) as char"),
], ids=range(26))
def test_a_wrong_file(text: str | bytes, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_long_lines(tmp_path: Path) -> None:
    long = "x" * 10_000_000
    assert refusal(tmp_path, f"{HEADER}ann,{long},{ANN},\n").startswith("line 2: is malformed (field larger than")
    assert refusal(tmp_path, HEADER + "ann," * 2_500_000).startswith("line 2: has 2,500,001 cells")
    assert refusal(tmp_path, long).startswith("line 1: is malformed (field larger than")
    assert len(refusal(tmp_path, f"{HEADER}{'y' * 100_000},,{ANN},\n")) < 700


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"payees\.csv does not exist"):
        read_payees(tmp_path / "payees.csv")
    with pytest.raises(InvalidInput, match="is not a file"):
        read_payees(tmp_path)
    with pytest.raises(InvalidInput, match="is not a path"):
        read_payees(None)  # type: ignore[arg-type]


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "payees.csv"
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)  # sparse
    with pytest.raises(InvalidInput, match="cannot be read: size: 268435457 bytes; must be at most 268435456"):
        read_payees(path)

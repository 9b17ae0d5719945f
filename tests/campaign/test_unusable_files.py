"""Files as people have them: values are read right, and a run that could not read them stops before the charge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from campaign.reported_files import INCOME, REGION, UNREADABLE, codes, gpa, queries, scores, slots, survey
from campaign.small import rows as people_rows
from campaign.small import write
from confide.campaign import Campaign, Home, Store
from confide.campaign.check import harm
from confide.contract import InvalidInput

PLACES = ("settle", "study")


def begun(path: Path, place: str, **more: bool) -> object:
    """A secure run, or a study."""
    campaign = Campaign.load(path)
    return campaign.settle(**more) if place == "settle" else campaign.study(1, **more)


def charged() -> bool:
    """Whether the installation's ledger has any data set."""
    with Store() as store:
        return bool(store.data_sets())


def answers(path: Path) -> dict[str, float]:
    campaign = Campaign.load(path)
    outcome, _ = campaign.study(7)
    found = campaign.file.kind.tables(campaign.plan, outcome)["answers"].to_pydict()
    return dict(zip(found["query"], found["answer"], strict=True))


# ---- values that are read right


def test_values_on_decimal_edges(tmp_path: Path) -> None:
    found = answers(scores(tmp_path))
    tenths = [found[f"score in [{k / 10:g}, {(k + 1) / 10:g}{']' if k == 9 else ')'}"] for k in range(10)]
    assert tenths == pytest.approx([100 / 1100] * 9 + [200 / 1100], abs=0.003)
    counts = np.bincount([min(k % 21, 19) for k in range(1100)])
    assert list(found.values())[10:] == pytest.approx(counts / 1100, abs=0.003)


def test_whole_numbers_with_a_point(tmp_path: Path) -> None:
    found = answers(codes(tmp_path))
    assert found == pytest.approx({**{f"region = {k}": 0.25 for k in (1, 2, 3, 4)}, "smoker": 0.5}, abs=0.01)


def test_floats_of_32_bits_at_a_bound(tmp_path: Path) -> None:
    found = answers(gpa(tmp_path))
    assert found["gpa in [4.2, 4.3]"] == pytest.approx(0.2, abs=0.01)
    assert found["gpa in [0, 0.1)"] == pytest.approx(0.0, abs=0.01)


def test_ids_with_a_point_are_the_invited(tmp_path: Path) -> None:
    seats = []
    for name, spelled in (("plain", "{}"), ("pointed", "{}.0")):
        folder = tmp_path / name
        folder.mkdir()
        campaign = Campaign.load(slots(folder, spelled.format))
        found = campaign.check()
        assert (found.usable, dict(found.rejected)) == (3000, {})
        outcome, _ = campaign.study(7)
        seats.append(outcome.shares)
    assert seats[0].equals(seats[1])


# ---- the stop


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_stops_before_the_charge(tmp_path: Path, name: str, place: str) -> None:
    make, words = UNREADABLE[name]
    path = make(tmp_path)
    with pytest.raises(InvalidInput) as error:
        begun(path, place)
    assert str(error.value).startswith("data.source: 1,000 of 1,000 rows cannot be used (100 %; at most 1 % are "
                                       "accepted): ")
    assert words in str(error.value)
    assert "--accept-unusable" in str(error.value)
    assert not charged()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", PLACES)
def test_too_many_unusable_rows_stop_and_the_operator_may_go_on(tmp_path: Path, place: str) -> None:
    path = survey(tmp_path)
    with pytest.raises(InvalidInput) as error:
        begun(path, place)
    assert "60 of 1,000 rows cannot be used (6 %; at most 1 % are accepted): region: 5 cells are not levels, such as " \
           "'North' (levels: north, south); income: 55 cells are empty; nothing was charged" in str(error.value)
    assert not charged()
    begun(path, place, accept_unusable=True)
    assert charged() == (place == "settle")


def test_one_in_a_hundred_is_accepted(tmp_path: Path) -> None:
    campaign = Campaign.load(survey(tmp_path, lost=10))
    found = campaign.check()
    assert (len(found.rejected), harm(campaign, found)) == (10, None)
    assert campaign.settle().fresh


def test_the_answer_stands_in_nothing_that_is_written(tmp_path: Path) -> None:
    """Two installations, one of which went on: the same files, but for noise, keys and dates."""
    written = []
    for name, lost in (("clean", 10), ("accepted", 60)):
        folder = tmp_path / name
        folder.mkdir()
        path, home = survey(folder, lost=lost), Home(folder / "home")
        with Store(home.url, home=home) as store:
            done = Campaign.load(path).settle(store=store, accept_unusable=name == "accepted")
        texts = "".join(each.read_text(errors="replace") for each in sorted(done.folder.rglob("*")) if each.is_file())
        assert "unusable = " not in texts
        assert "accept_unusable" not in texts
        written.append((sorted(each.relative_to(done.folder).parts[0] for each in done.folder.rglob("*")
                               if each.parent == done.folder), repr(done.outcome.mechanism),
                        Campaign.load(path).file.digest))
    assert written[0] == written[1]


@pytest.mark.parametrize("more", [{}, {"accept_unusable": True}])
@pytest.mark.parametrize("place", PLACES)
def test_a_share_is_declared_before_the_first_look(tmp_path: Path, place: str, more: dict[str, bool]) -> None:
    """What is declared later may follow from records, and is published: even an operator who goes on is refused it."""
    share = "accept_unusable = 0.08"
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    begun(survey(first, more=share), place)  # it stood there
    other = Home(second / "home")
    path = survey(second)
    campaign = Campaign(Campaign.load(path).file, other)
    assert harm(campaign, campaign.check())
    path = survey(second, more=share)  # it was written after a look
    campaign = Campaign(Campaign.load(path).file, other)
    words = r"data\.accept_unusable: is 0\.08, but was 0\.01 at the first look at these records; "
    with Store(other.url, home=other) as store, pytest.raises(InvalidInput, match=words):
        campaign.settle(store=store, **more) if place == "settle" else campaign.study(1, **more)


def test_a_source_is_the_same_however_its_path_is_written(tmp_path: Path) -> None:
    campaign = Campaign.load(survey(tmp_path))
    assert harm(campaign, campaign.check())
    path = survey(tmp_path, more="accept_unusable = 0.08")
    path.write_text(path.read_text().replace('source = "', 'source = "././'))
    with pytest.raises(InvalidInput, match="at the first look at these records"):
        Campaign.load(path).settle()


def test_less_may_be_accepted_at_any_time(tmp_path: Path) -> None:
    campaign = Campaign.load(survey(tmp_path, more="accept_unusable = 0.08"))
    assert harm(campaign, campaign.check()) is None
    campaign = Campaign.load(survey(tmp_path, more="accept_unusable = 0.02"))
    assert "at most 2 % are accepted" in str(harm(campaign, campaign.check()))


@pytest.mark.parametrize("share", ["-0.1", "1.5", "nan", '"all"'])
def test_a_share_is_a_number_from_0_to_1(tmp_path: Path, share: str) -> None:
    with pytest.raises(InvalidInput, match=r"data\.accept_unusable"):
        Campaign.load(survey(tmp_path, more=f"accept_unusable = {share}"))


@pytest.mark.parametrize("share", [None, 1.0])
def test_a_file_in_which_nobody_is_known_stops_whatever_is_declared(tmp_path: Path, share: float | None) -> None:
    path = slots(tmp_path, "A{}".format)
    if share is not None:
        path.write_text(path.read_text().replace('form = "wide"', f'form = "wide"\naccept_unusable = {share}'))
    with pytest.raises(InvalidInput, match=r"3,000 of 3,000 rows .*: id: 3,000 cells are not ids of the public list; "
                                           r"nothing"):
        Campaign.load(path).settle()
    assert not charged()


def test_a_file_without_rows_stops(tmp_path: Path) -> None:
    path = queries(tmp_path, "empty", REGION + INCOME, ["region,income"], records=1000)
    with pytest.raises(InvalidInput, match=r"data\.source: the file has no rows; nothing was charged"):
        Campaign.load(path).settle()
    assert not charged()


@pytest.mark.parametrize(("rows", "words"), [
    (800, "200 of 1,000 records have no usable row (20 %; at most 1 % are accepted): the file has 800 rows"),
    (1300, "300 of 1,300 rows cannot be used (23.1 %; at most 1 % are accepted): "),
])
def test_a_file_that_was_cut_off_or_holds_more_stops(tmp_path: Path, rows: int, words: str) -> None:
    """Records without a row count as null ones as much as those that cannot be read."""
    lines = ["region,income", *(f"{('north', 'south')[k % 2]},{k % 10}" for k in range(rows))]
    path = queries(tmp_path, "cut", REGION + INCOME, lines, records=1000)
    with pytest.raises(InvalidInput) as error:
        Campaign.load(path).settle()
    assert f"data.source: {words}" in str(error.value)
    assert ("a record without a usable row then counts as the null record, and a row that belongs to no record is left "
            "out") in str(error.value)
    assert not charged()
    assert Campaign.load(path).settle(accept_unusable=True).fresh


def test_a_few_records_without_a_row_do_not_stop(tmp_path: Path) -> None:
    lines = ["region,income", *(f"north,{k % 10}" for k in range(990))]
    assert Campaign.load(queries(tmp_path, "few", REGION + INCOME, lines, records=1000)).settle().fresh


def test_people_whose_records_lie_in_a_file(tmp_path: Path) -> None:
    lines = [line.rpartition(",")[0] + "," if k < 40 else line for k, line in enumerate(people_rows())]
    path = write(tmp_path, lines=lines)
    with pytest.raises(InvalidInput, match=r"40 of 2,000 rows .* pay: 40 cells are empty"):
        Campaign.load(path).settle()
    assert not charged()


def test_collected_records_never_stop_a_settlement(tmp_path: Path) -> None:
    """What people have handed in is settled, whatever lies in the file beside the campaign, or does not."""
    lines = people_rows()
    path = write(tmp_path, lines=[line.rpartition(",")[0] + "," for line in lines])
    campaign = Campaign.load(path)
    with Store() as store:
        campaign.hand_in("1", dict(zip(("age", "sex", "pay"), lines[0].split(",")[1:], strict=True)), store=store)
        store.close_collection(store.find(campaign.file).number)
        assert campaign.settle(store=store).fresh


def test_a_settled_campaign_is_not_looked_at_again(tmp_path: Path) -> None:
    path = survey(tmp_path)
    first = Campaign.load(path).settle(accept_unusable=True)
    (tmp_path / "survey.csv").unlink()
    again = Campaign.load(path).settle()
    assert (first.fresh, again.fresh) == (True, False)


def test_a_look_says_nothing_where_the_ledger_does_not_admit_the_run(tmp_path: Path) -> None:
    from confide.contract import BudgetExceeded

    survey(tmp_path, lost=0)
    for title in range(10):
        path = tmp_path / f"{title}.toml"
        path.write_text((tmp_path / "survey.toml").read_text().replace('title = "survey"', f'title = "{title}"'))
        Campaign.load(path).settle()
    with pytest.raises(BudgetExceeded):
        Campaign.load(survey(tmp_path)).settle()


def test_rows_of_other_lengths_among_good_ones(tmp_path: Path) -> None:
    lines = ["region,income", *("north,1" for _ in range(100)), "south,2,", "south", "", 'south,"2', "south,3"]
    campaign = Campaign.load(queries(tmp_path, "odd", REGION + INCOME, lines))
    found = campaign.check()
    assert found.cells[""] == ("2 rows cannot be read: an empty line, not UTF-8, or quotes that do not close",
                               "1 row has 3 cells, the header 2: a comma at the end of a row, or a decimal comma",
                               "1 row has 1 cell, the header 2")
    assert found.cells["region"] == found.cells["income"] == ()
    assert len(found.rejected) == 4

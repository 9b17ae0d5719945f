"""Searches that wait for answers, die, and go on with the noise that they had."""

from __future__ import annotations

import json
import shutil
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from search_campaign import ANSWERS, campaign, write_answers
from search_steps import FEW, STOPS, Died, copied, in_steps, journals, straight, waiting
from toy_network import EDGES

from cases import fast
from cli.commands import CONFIDE
from confide.campaign import Store, verify
from confide.campaign.own_runs import KeptNoise
from confide.cli.failures import guarded
from confide.contract import InvalidInput, Refused, StoreFailed, kind
from confide.privacy.noise import JournalNoise, Noise
from confide.search import DegreeBoundViolated, OracleInconsistent
from confide.search.oracles import AnswersSoFar


@pytest.mark.parametrize("stop", fast(1, STOPS))
def test_a_search_that_waits_publishes_what_one_without_a_pause_would(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same draws, all answers at hand: the same list."""
    copied(monkeypatch, tmp_path / "copy")
    it = campaign(tmp_path, *STOPS[stop], answers=FEW)
    with Store() as store:
        settled, pauses, known = in_steps(it, tmp_path, store, FEW)
        assert pauses >= 2  # for the seed's contacts, and theirs
        (standing,) = store.ledger()
        assert len(standing.debits) == 1
    assert known == {each: ANSWERS[each] for each in known}
    assert journals(tmp_path) == []
    assert not (tmp_path / "to_examine.csv").exists()
    assert settled.outcome.billboard.order.tolist() == straight(it, tmp_path / "copy")
    assert verify(tmp_path / "pack").complete


@pytest.mark.parametrize("call", fast(1, (2, 1, 3, 4)))
def test_a_search_that_dies_between_two_answers_goes_on(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(monkeypatch, tmp_path / "copy")
    without = {each: status for each, status in ANSWERS.items() if each != 12}  # not a table: they are asked for
    it, asked, real = campaign(tmp_path, *STOPS["none"], answers=without), [0], AnswersSoFar.statuses

    def dies(self: AnswersSoFar, ids: Any) -> Any:
        asked[0] += 1
        if asked[0] == call:
            raise Died
        return real(self, ids)

    with Store() as store:
        with monkeypatch.context() as patch:
            patch.setattr(AnswersSoFar, "statuses", dies)
            with pytest.raises((Died, Refused)):  # or comes to the one without an answer before
                it.settle(tmp_path / "pack", store=store)
        write_answers(tmp_path, ANSWERS)
        settled = it.settle(tmp_path / "pack", store=store)
    assert settled.outcome.billboard.order.tolist() == straight(it, tmp_path / "copy")  # type: ignore[attr-defined]


def test_what_is_kept_meanwhile_is_private(tmp_path: Path) -> None:
    it = campaign(tmp_path, answers=FEW)
    with Store() as store, pytest.raises(Refused) as caught:
        it.settle(tmp_path / "pack", store=store)
    assert not any(letter.isdigit() for letter in str(caught.value).replace(str(tmp_path), ""))
    assert not (tmp_path / "pack").exists()
    found = journals(tmp_path)
    assert {path.name for path in found if path.is_file()} == {"noise.journal", "answers.json", "graph.json"}
    for path in [*found, tmp_path / "search_journal"]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert waiting(tmp_path) == [1, 2, 4, 14]  # all contacts of the seed will be examined


def test_while_a_component_is_sought_few_are_listed(tmp_path: Path) -> None:
    it = campaign(tmp_path, *STOPS["none"], answers={each: ANSWERS[each] for each in (0, 1, 14, 2, 3, 4, 8, 13)})
    with Store() as store:
        with pytest.raises(Refused):
            it.settle(tmp_path / "pack", store=store)
        assert len(waiting(tmp_path)) == 8  # everybody who is left, in noisy order
    other = campaign(tmp_path / "other", *STOPS["none"],
                     ('source = "answers.csv"', 'source = "answers.csv"\nat_once = 3'),
                     answers={each: ANSWERS[each] for each in (0, 1, 14, 2, 3, 4, 8, 13)})
    with Store() as store, pytest.raises(Refused):
        other.settle(tmp_path / "pack", store=store)
    assert len(waiting(tmp_path / "other")) == 3


def test_a_run_that_died_goes_on_with_the_same_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies when its list is about to be stored; the next attempt has the same list."""
    lost: list[Any] = []

    def dies(self: Store, number: int, withdrawals: int, files: Any, *rest: Any) -> bool:
        lost.append(files)
        raise Died

    it = campaign(tmp_path, *STOPS["smoothed"], ("components = 3", "components = 5"))
    with Store() as store:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "publish", dies)
            for _ in range(3):
                with pytest.raises(Died):
                    it.settle(tmp_path / "pack", store=store)
        settled = it.settle(tmp_path / "pack", store=store)
        assert len(store.ledger()[0].debits) == 1
    names = {name for files in lost for name in files if name.startswith("columns/")}
    assert names == {f"columns/{path.name}" for path in (tmp_path / "pack" / "columns").iterdir()}
    assert settled.fresh


def test_a_run_that_died_after_its_publication_leaves_no_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(self: KeptNoise) -> None:
        raise Died

    it = campaign(tmp_path)
    with Store() as store:
        with monkeypatch.context() as patch:
            patch.setattr(KeptNoise, "destroy", dies)
            with pytest.raises(Died):
                it.settle(tmp_path / "pack", store=store)
        assert journals(tmp_path)
        assert not it.settle(tmp_path / "pack", store=store).fresh
    assert journals(tmp_path) == []


def test_a_changed_answer_is_refused_and_a_forgotten_one_is_remembered(tmp_path: Path) -> None:
    it = campaign(tmp_path, answers={0: True, 1: True})
    with Store() as store:
        with pytest.raises(Refused):
            it.settle(tmp_path / "pack", store=store)
        write_answers(tmp_path, {**ANSWERS, 1: False})
        with pytest.raises(OracleInconsistent):
            it.settle(tmp_path / "pack", store=store)
        write_answers(tmp_path, {each: status for each, status in ANSWERS.items() if each != 1})
        assert it.settle(tmp_path / "pack", store=store).fresh  # 1 was answered before


def test_the_graph_of_the_first_attempt_is_the_only_one(tmp_path: Path) -> None:
    """Two graphs under the same noise tell of each other; the order of lines, and a line twice, make no other graph."""
    it = campaign(tmp_path, answers=FEW)
    with Store() as store:
        with pytest.raises(Refused):
            it.settle(tmp_path / "pack", store=store)
        for edges in ([edge for edge in EDGES if 3 not in edge], [*EDGES, (7, 8)]):
            campaign(tmp_path, edges=edges)
            with pytest.raises(
                    InvalidInput, match=r"^graph\.source: has other contacts than the first.* the charge stays"):
                it.settle(tmp_path / "pack", store=store)
        assert journals(tmp_path)
        campaign(tmp_path, edges=[(b, a) for a, b in reversed(EDGES)] + EDGES[:3])
        assert it.settle(tmp_path / "pack", store=store).fresh
        assert len(store.ledger()[0].debits) == 1


def test_a_graph_that_is_not_admissible_ends_the_campaign(tmp_path: Path) -> None:
    """Degrees are read after the charge, as all contacts; a network cut to fit is another one, also later."""
    crowded = [*EDGES, (0, 9), (0, 8), (0, 7)]
    it = campaign(tmp_path, edges=crowded)
    with Store() as store:
        with pytest.raises(DegreeBoundViolated, match="the charge stays and this campaign is over"):
            it.settle(tmp_path / "pack", store=store)
        assert len(store.ledger()[0].debits) == 1
        campaign(tmp_path)
        for _ in range(2):
            with pytest.raises(InvalidInput, match=r"^graph\.source: has other contacts than the first"):
                it.settle(tmp_path / "pack", store=store)
            for path in (tmp_path / "search_journal").rglob("graph.json"):
                path.unlink()
        campaign(tmp_path, edges=crowded)
        with pytest.raises(DegreeBoundViolated):
            it.settle(tmp_path / "pack", store=store)


def test_what_is_taken_out_of_the_journals_folder_changes_nothing(tmp_path: Path) -> None:
    it, known = campaign(tmp_path, answers=FEW), FEW
    with Store() as store:
        for _ in range(2):
            with pytest.raises(Refused):
                it.settle(tmp_path / "pack", store=store)
            known = known | {each: ANSWERS[each] for each in waiting(tmp_path)}
            write_answers(tmp_path, known)
        (kept,) = (tmp_path / "search_journal").iterdir()
        (kept / "graph.json").unlink()
        campaign(tmp_path, edges=[edge for edge in EDGES if 3 not in edge], answers=known)
        with pytest.raises(InvalidInput, match=r"^graph\.source: has other contacts than the first.* the charge stays"):
            it.settle(tmp_path / "pack", store=store)
        (kept / "graph.json").unlink()
        (kept / "answers.json").unlink()
        campaign(tmp_path, answers={**known, 1: not known[1]})
        with pytest.raises(OracleInconsistent):
            it.settle(tmp_path / "pack", store=store)
        write_answers(tmp_path, {each: status for each, status in ANSWERS.items() if each != 1})
        (tmp_path / "to_examine.csv").unlink()
        assert it.settle(tmp_path / "pack", store=store).fresh  # nothing is lost: the journal has the answer


@pytest.mark.parametrize("how", ["cut back", "torn", "older", "emptied"])
def test_a_journal_that_was_cut_back_ends_the_campaign(how: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *STOPS["none"], ("components = 3", "components = 9"), ("epsilon = 4.0", "epsilon = 9.0"),
                  answers={each: ANSWERS[each] for each in (0, 1, 14, 2, 3, 4, 8, 13)})  # all will be examined
    path = tmp_path / "search_journal" / it.file.digest / "noise.journal"
    copies = []
    with Store() as store:
        for _ in range(2):
            with pytest.raises(Refused):
                it.settle(tmp_path / "pack", store=store)
            copies.append(path.read_bytes())
            write_answers(tmp_path, {each: status for each, status in ANSWERS.items() if each != 12})
        lines = copies[1].split(b"\n")
        path.write_bytes({"cut back": b"\n".join(lines[:1]) + b"\n", "torn": copies[1][:-40], "older": copies[0],
                          "emptied": b""}[how])
        write_answers(tmp_path, ANSWERS)
        with pytest.raises(InvalidInput, match="was shortened, or is an older copy; find the complete journal: "
                                               "the run must not draw its noise a second time"):
            it.settle(tmp_path / "pack", store=store)
        path.write_bytes(copies[1])
        assert it.settle(tmp_path / "pack", store=store).fresh


def test_noise_that_is_gone_is_not_drawn_anew(tmp_path: Path) -> None:
    it = campaign(tmp_path, answers=FEW)
    with Store() as store:
        with pytest.raises(Refused):
            it.settle(tmp_path / "pack", store=store)
        shutil.rmtree(tmp_path / "search_journal")
        write_answers(tmp_path, ANSWERS)
        with pytest.raises(InvalidInput, match="the run must not draw its noise a second time"):
            it.settle(tmp_path / "pack", store=store)


def test_another_campaign_has_noise_of_its_own(tmp_path: Path) -> None:
    one = campaign(tmp_path, answers=FEW)
    other = campaign(tmp_path, ("Who else", "Who more"), answers=FEW, name="other")
    with Store() as store:
        with pytest.raises(Refused):
            one.settle(tmp_path / one.file.name, store=store)
        with pytest.raises(InvalidInput, match=r"^oracle\.waiting: .* of another campaign"):
            other.settle(tmp_path / other.file.name, store=store)  # the same tables: its list is not taken for its own
        (tmp_path / "to_examine.csv").rename(tmp_path / "of_one.csv")
        with pytest.raises(Refused):
            other.settle(tmp_path / other.file.name, store=store)
    first, second = (path for path in journals(tmp_path) if path.name == "noise.journal")
    assert first.parent.name == min(one.file.digest, other.file.digest)
    assert second.parent.name == max(one.file.digest, other.file.digest)


def test_a_journal_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    it = campaign(tmp_path, answers=FEW)
    with Store() as store:
        with pytest.raises(Refused):
            it.settle(tmp_path / "pack", store=store)
        path = tmp_path / "search_journal" / it.file.digest / "noise.journal"
        with JournalNoise(path, Noise.secure(), existing=True), pytest.raises(StoreFailed, match="another process"):
            it.settle(tmp_path / "pack", store=store)


def test_the_command_line_from_start_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def confide(*arguments: object, code: int = 0) -> str:
        found = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        out, err = capsys.readouterr()
        assert found == code, err
        return out + err

    start = tmp_path / "search.toml"
    confide("init", "search", "--out", start)
    assert start.read_text() == kind("search").template
    path = campaign(tmp_path, answers=FEW).file.path
    assert "Benefit of the paid searches" in confide("plan", path)
    json.loads(confide("plan", path, "--json"), parse_constant=pytest.fail)
    assert "You may be asked to let yourself be examined" in confide("offer", path)
    assert "people without an answer" in confide("check", path)
    json.loads(confide("check", path, "--json"), parse_constant=pytest.fail)
    assert "to_examine.csv" in confide("run", path, code=3)
    write_answers(tmp_path, ANSWERS)
    assert "What was found" in confide("run", path)
    assert "settled before" in confide("run", path)
    assert "Nobody has a share" in confide("share", path, "--id", 3)
    assert "contacts" in confide("ledger")
    assert "does not answer" not in confide("run", path, "--noise", "simulated", "--seed", 3)

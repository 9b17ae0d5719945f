"""The kind `search` from its file: plan, offer, check, run, share, verify, ledger, study, audit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_campaign import ANSWERS, campaign, write_answers
from search_steps import FEW, STOPS, journals
from toy_network import EDGES, FIRST, TARGETS

from campaign.forging import words
from cases import fast
from confide.audit import AuditReport
from confide.campaign import Campaign, Store, verify
from confide.campaign.charging import data_set_charge
from confide.campaign.check import check_sections, harm
from confide.contract import BudgetExceeded, InvalidInput, Refused, kind
from confide.privacy.filter import price
from confide.search import DegreeBoundViolated, SeedNotTargeted, call_law
from confide.search.audited import settled

# ---- the whole life


@pytest.mark.parametrize("stop", fast(1, STOPS))
def test_a_whole_life(stop: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *STOPS[stop])
    assert (it.plan.mechanism.calls, it.plan.total) == (2, pytest.approx(2.0))  # type: ignore[attr-defined]
    with Store() as store:
        settled = it.settle(tmp_path / "pack", store=store)
        again = it.settle(tmp_path / "pack", store=store)
        assert (settled.fresh, again.fresh) == (True, False)
        found, (ending,) = settled.tables["found"].to_pylist(), settled.tables["ending"].to_pylist()
        order = [row["id"] for row in found]
        assert order == [row["id"] for row in again.tables["found"].to_pylist()]
        assert order[:4] == FIRST
        assert set(order) <= TARGETS
        assert next(row["place"] for row in found if row["first_of_component"]) == 1
        assert found[0]["how"] == "seed"
        assert ending["components"] == found[-1]["component"]
        assert ending["halted"] == (ending["ended"] != "all components")
        assert ending["epsilon_of_this_list"] == pytest.approx(ending["searches"] * 1.0)
        (standing,) = store.ledger()
        asked, cost = data_set_charge(it.file, it.plan), standing.filter.total
        assert standing.subjects == 0
        assert float(cost.epsilon) == pytest.approx(float(price("basic", asked.events, asked.delta).epsilon))
        assert float(cost.epsilon) == pytest.approx(it.plan.charged)  # type: ignore[attr-defined]
        assert it.plan.loss.epsilon <= it.plan.charged <= it.plan.total  # type: ignore[attr-defined]
        shown = words(it.share("3", store=store))
        assert "Nobody has a share" in shown
        assert shown == words(it.share("no such id", store=store))
    assert shown == words(it.share(5, tmp_path / "pack", record={}))
    verified = verify(tmp_path / "pack")
    assert verified.complete, [f for f in verified.findings if f.verdict != "holds"]
    assert journals(tmp_path) == []
    assert not (tmp_path / "to_examine.csv").exists()


def test_what_is_published_has_nothing_of_the_operators(tmp_path: Path) -> None:
    it = campaign(tmp_path, *STOPS["none"])
    it.settle(tmp_path / "pack")
    manifest = json.loads((tmp_path / "pack" / "manifest.json").read_text())
    assert set(manifest["billboard"]) == {"type", "people", "seeds", "order", "joined", "calls", "ended",
                                          "epsilon_spent"}
    names = {path.name for path in (tmp_path / "pack").iterdir()}
    assert names == {"campaign.json", "campaign.toml", "columns", "ending.csv", "events.json", "found.csv",
                     "manifest.json", "pictures.json", "report.html"}
    assert len(list((tmp_path / "pack" / "columns").iterdir())) == 3  # seeds, order, joined
    report = (tmp_path / "pack" / "report.html").read_text()
    assert "which are not published" in report  # the graph and the log of examinations
    assert "You may be asked to let yourself be examined" in report  # the offer


def test_plans_and_offers_do_not_depend_on_the_network(tmp_path: Path) -> None:
    one = campaign(tmp_path / "one")
    other = campaign(tmp_path / "other", edges=[(0, 3), (3, 5)], answers={})
    assert one.plan.to_dict() == other.plan.to_dict()
    assert words(one.plan.sections()) == words(other.plan.sections())
    assert words(one.plan.offer()) == words(other.plan.offer())


def test_what_a_custodians_campaign_has_not(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with Store() as store:
        with pytest.raises(Refused, match="a custodian holds its data"):
            it.withdraw("3", store=store)
        it.settle(tmp_path / "pack", store=store)
        with pytest.raises(InvalidInput, match="pays nothing"):
            it.payouts(store=store)
    own = it.own_file("3", tmp_path / "pack", record={})
    assert own["share"] == {}
    assert verify(tmp_path / "pack", own=own).complete


def test_the_budget_is_shared_by_all_campaigns_on_the_network(tmp_path: Path) -> None:
    first = campaign(tmp_path)
    second = campaign(tmp_path, ("Who else", "Who more"), ("epsilon = 1.0", "epsilon = 1.5"), name="more")
    with Store() as store:
        first.settle(tmp_path / "pack", store=store)
        with pytest.raises(BudgetExceeded):
            second.settle(tmp_path / "more", store=store)


@pytest.mark.parametrize("each", ["0.1", "0.7", "1.1"])
def test_a_budget_admits_what_is_written_the_same(each: str, tmp_path: Path) -> None:
    asked = 10 * float(each) / 10 * 3
    it = campaign(tmp_path, ("epsilon = 1.0", f"epsilon = {each}"), ("components = 3", "components = 4"),
                  ("epsilon = 4.0", f"epsilon = {asked:.1f}"), ("people = 16", "people = 16000"),
                  ("degree_bound = 5", "degree_bound = 50"))
    assert it.plan.mechanism.calls == 3  # type: ignore[attr-defined]


def test_a_sum_of_many_searches_is_stated_with_its_delta(tmp_path: Path) -> None:
    it = campaign(tmp_path, *STOPS["smoothed"], ("components = 3", "components = 14"),
                  ("epsilon = 1.0\n", "epsilon = 0.2\n"), ("people = 16", "people = 27262"),
                  ("degree_bound = 5", "degree_bound = 1147"))
    plan: Any = it.plan
    assert plan.loss.epsilon == pytest.approx(1.167237, abs=1e-5)  # spec targeted_search 4
    assert plan.total == pytest.approx(2.6)
    assert min(plan.sums.values()) == pytest.approx(plan.loss.epsilon)
    reported = plan.to_dict()
    assert reported["multiplier"] == pytest.approx(math.exp(2.6))
    assert "separate concentrated composition of thresholds and selections" in words(plan.sections())


def test_the_page_shows_the_corrected_multiplier_beside_the_printed_one(tmp_path: Path) -> None:
    plan: Any = campaign(tmp_path).plan
    assert plan.printed == pytest.approx(plan.total / 4)  # b = 4/epsilon: printed (k - 1)/b
    shown = words(plan.sections())
    assert "the source's claim for the same noise (false)" in shown
    assert "the drawn threshold has no proven bound" in shown  # 16 people


def test_expected_examinations_are_those_of_the_specification(tmp_path: Path) -> None:
    """235,710 vertices of value 0 and b = 20: spec targeted_search 4."""
    for threshold, expected in ((3, 109_047), (100, 2_779), (200, 32.1)):
        it = campaign(tmp_path, ('stop = "private"', f'stop = "public"\npublic_threshold = {threshold}.0'),
                      ("people = 16", "people = 235710"), ("epsilon = 1.0", "epsilon = 0.1"))
        plan: Any = it.plan
        assert plan.mechanism.call.noise_scale == pytest.approx(20.0)
        assert plan.gives_up == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("stop", STOPS)
def test_the_chance_to_give_up_before_a_member_is_exact(stop: str, tmp_path: Path) -> None:
    """Against the integrated law of one call with one hidden member; everybody else has the value 0."""
    plan: Any = campaign(tmp_path, *STOPS[stop], ("people = 16", "people = 500")).plan
    call, shown = plan.mechanism.call, words(plan.sections())
    assert ("an early failure ends the whole campaign" in shown) == (stop != "none")
    for value, _ in plan.worth:
        if stop == "none":
            assert plan.missed(value) is None
            continue
        fake = call.rule.law(np.zeros(500)) if call.draws_threshold else call.public_threshold
        law = call_law([value], call.noise_scale, call.noise_kind, fake)
        assert plan.missed(value) == pytest.approx(law[-1], rel=1e-9)
        assert f"{plan.missed(value):.3g}"[:4] in shown or plan.missed(value) < 1e-3


# ---- the custodian's tables


def test_texts_as_ids_and_weights(tmp_path: Path) -> None:
    it = campaign(
        tmp_path, ("people = 16", 'people = 16\nvertices = "people.csv"\nweight = "minutes"\nat_least = 15.0'),
        ("seeds = [0]", 'seeds = ["p00"]'), *STOPS["none"])
    (tmp_path / "people.csv").write_text("id\n" + "".join(f"p{each:02}\n" for each in reversed(range(16))))
    (tmp_path / "contacts.csv").write_text("first,second,minutes\n" + "".join(
        f"p{a:02},p{b:02},10\np{b:02},p{a:02},5\n" for a, b in EDGES) + "p00,p05,14\np06,p06,99\n")
    (tmp_path / "answers.csv").write_text("id,targeted\n" + "".join(
        f"p{each:02},{int(status)}\n" for each, status in ANSWERS.items()))
    data = it.collect().data.read()
    assert data.graph.edges == len(EDGES)
    assert data.graph.ids.to_pylist()[0] == "p00"
    found = [row["id"] for row in it.settle(tmp_path / "pack").tables["found"].to_pylist()]
    assert found[:4] == ["p00", "p01", "p14", "p02"]
    assert verify(tmp_path / "pack").complete


@pytest.mark.parametrize("seed", ['"0"', "0"])
def test_ids_with_a_point_are_those_of_the_list(seed: str, tmp_path: Path) -> None:
    """As a data frame writes whole numbers beside a gap: in answers and contacts, whatever the ids are taken for."""
    it = campaign(tmp_path, ("people = 16", 'people = 16\nvertices = "people.csv"'),
                  ("seeds = [0]", f"seeds = [{seed}]"), *STOPS["none"])
    (tmp_path / "people.csv").write_text("id\n" + "".join(f"{each}\n" for each in range(16)))
    (tmp_path / "contacts.csv").write_text("first,second\n" + "".join(f"{a}.0,{b}.0\n" for a, b in EDGES))
    (tmp_path / "answers.csv").write_text("id,targeted\n" + "".join(
        f"{each}.0,{int(status)}\n" for each, status in ANSWERS.items()))
    found = it.check()
    assert (found.rejected, found.usable) == ({}, len(ANSWERS))
    assert it.collect().data.read().graph.edges == len(EDGES)


def test_a_file_of_answers_in_which_nobody_is_known_stops(tmp_path: Path) -> None:
    """Missing answers are asked for; a whole file of strangers is a slip, and nothing is charged."""
    it = campaign(tmp_path)
    (tmp_path / "answers.csv").write_text("id,targeted\n" + "".join(f"A{each},1\n" for each in range(16)))
    assert "16 of 16 rows cannot be used" in str(harm(it, it.check()))
    with Store() as store:
        with pytest.raises(InvalidInput, match=r"16 of 16 rows cannot be used .* nobody has this id: 16 rows"):
            it.settle(tmp_path / "pack", store=store)
        assert not store.data_sets()


def test_answers_of_no_use_are_missing_ones(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    (tmp_path / "answers.csv").write_text("id,targeted\n0,true\n1,maybe\n99,true\n,true\n2,\nx,0\n3,0\n3,false\n")
    found = it.check()
    assert dict(found.rejected) == {
        "row 2": "the answer must be true, false, yes, no, 1 or 0", "row 3": "nobody has this id",
        "row 4": "has no id", "row 6": "nobody has this id"}
    assert (found.slots, found.rows, found.usable, found.held) == (16, 8, 2, True)
    assert all(part.private for part in check_sections(found))
    assert it.collect().data.read().oracle.known == {0: True, 3: False}


@pytest.mark.parametrize("lines", ["0,true\n3,1\n3,0\n", "3,0\n3,0\n3,1\n"])
def test_two_answers_for_the_same_person(lines: str, tmp_path: Path) -> None:
    it = campaign(tmp_path)
    (tmp_path / "answers.csv").write_text("id,targeted\n" + lines)
    (page,) = it.check().own
    assert page.private
    assert next(block for block in page.blocks
                if "reason why a run refuses the answer" in getattr(block, "columns", ())).rows == (
        ("3", "two different answers"),)
    with pytest.raises(InvalidInput, match="give the earlier answer, since statuses do not change"):
        it.settle(tmp_path / "pack")


def test_usual_spellings_of_answers(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    spelled = {1: "Yes", 2: " NO ", 3: "TRUE", 4: "False", 5: "1", 6: "0", 7: "1.0", 8: "yes", 9: " "}
    wrong = {10: "T", 11: "y", 12: "2", 13: "-", 14: "nan"}
    (tmp_path / "answers.csv").write_text("id,targeted\n" + "".join(
        f"{each},{text}\n" for each, text in (spelled | wrong).items()))
    found = it.check()
    assert found.rejected == {f"row {row}": "the answer must be true, false, yes, no, 1 or 0"
                              for row in range(10, 15)}
    known = it.collect().data.read().oracle.known
    assert known == {0: True, 1: True, 2: False, 3: True, 4: False, 5: True, 6: False, 7: True, 8: True}


def test_a_check_tells_which_answers_contradict_what_was_used(tmp_path: Path) -> None:
    it = campaign(tmp_path, answers={0: True, 1: True, 2: True, 14: True, 4: False})
    with Store() as store, pytest.raises(Refused):
        it.settle(tmp_path / "pack", store=store)
    write_answers(tmp_path, {**ANSWERS, 1: False, 4: True})
    rows = next(block for block in it.check().own[0].blocks
                if "reason why a run refuses the answer" in getattr(block, "columns", ())).rows
    assert rows == (("1", "another answer than the search used: member"),
                    ("4", "another answer than the search used: no member"))
    write_answers(tmp_path, ANSWERS)
    assert "reason why a run refuses the answer" not in words(check_sections(it.check()))


def test_a_seed_that_is_no_member(tmp_path: Path) -> None:
    it = campaign(tmp_path, answers={**ANSWERS, 0: False})
    with pytest.raises(InvalidInput, match=r"^search\.seeds"):
        it.check()
    with pytest.raises(SeedNotTargeted):
        it.settle(tmp_path / "pack")


def test_a_network_beyond_the_bound_is_not_searched(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("degree_bound = 5", "degree_bound = 3"))
    for attempt in (it.check, lambda: it.settle(tmp_path / "pack")):
        with pytest.raises(DegreeBoundViolated) as caught:
            attempt()
        assert "5" not in str(caught.value)
    assert not (tmp_path / "pack").exists()


def test_nothing_is_charged_where_a_table_is_missing(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    with Store() as store:
        for name, key in (("contacts.csv", "graph.source"), ("answers.csv", "oracle.source")):
            kept = (tmp_path / name).read_text()
            (tmp_path / name).write_text("a,b\n1,2\n")
            with pytest.raises(InvalidInput, match=rf"^{key}: "):
                it.settle(tmp_path / "pack", store=store)
            (tmp_path / name).write_text(kept)
        assert store.ledger() == ()
        (tmp_path / "contacts.csv").write_text("first,second\n0,99\n")
        with pytest.raises(InvalidInput, match="the ledger was charged before any row was read"):
            it.settle(tmp_path / "pack", store=store)
        assert len(store.ledger()) == 1


# ---- the file


@pytest.mark.parametrize(("edit", "says"), [
    (("people = 16", "people = 0"), "graph.people: "),
    (("seeds = [0]", "seeds = []"), "search.seeds: "),
    (("seeds = [0]", "seeds = [16]"), "search.seeds: has a person who is not one of the people"),
    (("seeds = [0]", 'seeds = ["0"]'), "search.seeds: has a person who is not one of the people"),
    (("seeds = [0]", 'seeds = [0, "a"]'), "search.seeds: has whole numbers and texts"),
    (("seeds = [0]", "seeds = [0, 0]"), "search.seeds: has one person twice"),
    (("components = 3", "components = 1"), "search.components: "),
    (("components = 3", "component = 3"), "search.component: is not a known key; did you mean 'components'?"),
    (("stopping_target = 3\n", ""), "search.stopping_target: "),
    (("stopping_target = 3", "stopping_target = -1"), "search.stopping_target: "),
    (('stop = "private"', 'stop = "soft"'), "search.stop: "),
    (('stop = "private"', 'stop = "public"'), "search.public_threshold: is missing"),
    (('stop = "private"', 'stop = "private"\npublic_threshold = 3.0'), "search.public_threshold: has no effect"),
    (('stop = "private"', 'stop = "private"\nnoise = "gauss"'), "search.noise: "),
    (('stop = "private"', 'statistic = "contacts"'), "search.statistic: contacts carry no signal"),
    (('stop = "private"', 'statistic = "triangles"'), "search.statistic: triangles carry no signal"),
    (('stop = "private"', 'length = 3'), "search.length: does not belong to 'common-neighbours'"),
    (("degree_bound = 5\n", ""), "privacy.degree_bound: is missing"),
    (("epsilon = 1.0", "epsilon = 0.0"), "privacy.epsilon: "),
    (("epsilon = 1.0", "epsilon = 1.0\ndelta = 1.0"), "privacy.delta: "),
    (("people = 16", 'people = 16\nweight = "minutes"'), "graph.at_least: is missing"),
    (('source = "answers.csv"', 'source = "answers.csv"\nwaiting = "answers.csv"'), "oracle.waiting: "),
], ids=lambda value: value if isinstance(value, str) else "")
def test_bad_input_is_named(edit: tuple[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        campaign(tmp_path, edit).plan  # noqa: B018
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(("ids", "says"), [
    ("id\n0\n1\n", "graph.people: is 16; must be 2, the number of ids in the list"),
    ("id\n" + "a\n" * 16, "graph.vertices: an id is not a whole number"),
    ("id\n" + "1\n" * 16, "graph.vertices: an id occurs twice"),
    ("id\n" + "".join(f"{each}\n" for each in range(1, 17)), "search.seeds: has a person who is not on the list"),
    ("name\n" + "1\n" * 16, "graph.vertices: id: "),
])
def test_a_list_of_ids_that_is_of_no_use(ids: str, says: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, ("people = 16", 'people = 16\nvertices = "people.csv"'))
    (tmp_path / "people.csv").write_text(ids)
    with Store() as store:
        with pytest.raises(InvalidInput) as caught:
            it.settle(tmp_path / "pack", store=store)
        assert store.ledger() == ()  # the list is public, and read before the charge
    assert str(caught.value).startswith(says)


def test_a_search_that_is_no_better_than_chance_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^privacy\.epsilon: at 0\.001, .*A random order is as good"):
        campaign(tmp_path, ("epsilon = 1.0", "epsilon = 0.001")).plan  # noqa: B018
    loud = campaign(tmp_path, ("epsilon = 1.0", "epsilon = 0.1")).plan
    assert "the noise is so large that even a hidden member" in words(loud.sections())


def test_the_template_is_worth_planning(tmp_path: Path) -> None:
    (tmp_path / "search.toml").write_text(kind("search").template)
    plan: Any = Campaign.load(tmp_path / "search.toml").plan
    assert plan.mechanism.components == 9
    assert plan.loss.epsilon < plan.total == pytest.approx(2.4)
    assert plan.to_dict()["worth"][-1]["value"] == 150
    assert plan.worth[-1][1] < 0.01 * plan.people


# ---- studies and audits


def test_a_study_draws_all_three_searches_and_is_marked(tmp_path: Path) -> None:
    it = campaign(tmp_path)
    outcome, parts = it.study(4)
    assert all(section.study for section in parts)
    columns = parts[0].blocks[0].columns  # type: ignore[union-attr]
    assert [name.partition(" ")[0] for name in columns] == [
        "people", "without", *3 * ["private,"], "random"]
    shown = words(parts)
    assert f"found {len(outcome.billboard.order)} members" in shown  # type: ignore[attr-defined]
    assert "the source would state" in shown
    last = parts[0].blocks[0].rows[-1]  # type: ignore[union-attr]
    assert last[0] == 8
    assert last[1] == 5  # without noise: the seed's component, then vertex 5, the eighth examination
    write_answers(tmp_path, FEW)
    with pytest.raises(InvalidInput, match=r"^oracle\.source: does not have an answer for everybody"):
        it.study(4)


def test_the_audit_of_a_campaigns_life(tmp_path: Path) -> None:
    plan: Any = campaign(tmp_path, *STOPS["smoothed"]).plan
    found = [each.measured() for each in settled(plan.mechanism, 2, plan.charged)]
    assert [[row.verdict for row in rows] for rows, _ in found] == [["kept"], ["kept"]]
    assert [[control.flagged for control in controls] for _, controls in found] == [[True], [True]]


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOPS)
def test_audits_pass_and_flag_what_was_injected(stop: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, *STOPS[stop])
    (tmp_path / "contacts.csv").unlink()  # never touched
    seen: list[tuple[int, int | None]] = []
    report = it.audit(3, progress=lambda done, total: seen.append((done, total)))
    assert isinstance(report, AuditReport)
    assert report.passed, report.problems
    assert len(report.controls) >= 5
    assert seen[-1][0] == seen[-1][1] == len(seen)
    assert np.all(np.diff([done for done, _ in seen]) >= 0)

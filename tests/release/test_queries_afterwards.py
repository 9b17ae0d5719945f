"""What follows from a settled release at no cost, and what a custodian is told before and after it is settled."""

from __future__ import annotations

import csv
import json
import math
import shutil
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from held_campaign import METHODS, ROWS, campaign, lines

from campaign.forging import words
from cases import fast
from cli.commands import CONFIDE
from confide.campaign import Campaign, Store, verify
from confide.campaign.pack import row_files
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.results import _rows
from confide.cli.failures import guarded
from confide.contract import InvalidInput, PublicWarning, Refused
from confide.contract.kinds import as_rows
from confide.contract.outcome import Provenance
from confide.contract.presentation import Picture
from confide.privacy.noise import Noise
from confide.release import Workload
from confide.release import audited as audit
from confide.release.records import made_up_table
from confide.release.results import LEVEL, bars

COMPLETE = 'form = "complete"\nwidth = 2'
ASKED: list[str | list[str]] = [
    "smoker, age in [0, 25)", "not owner and job = full and age not in [75, 100]", ["owner"],
    "smoker and age in [0, 25)"]


class Reported:
    """`confide` in this process: what it printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        code = guarded(partial(CONFIDE, [str(each) for each in arguments]))
        return code, *self.capsys.readouterr()


@pytest.fixture
def confide(capsys: pytest.CaptureFixture[str]) -> Reported:
    return Reported(capsys)


# ---- refusals


HOPELESS = ("epsilon = 2.0", "epsilon = 0.0001")


@pytest.mark.parametrize(("edit", "method", "says"), fast(4, [
    (("delta = 1e-6", "delta = 0.0"), 'name = "marginal-fit"', "privacy.delta: is 0"),
    (("delta = 1e-6", "delta = 0.0"), 'name = "gaussian"', "privacy.delta: is 0"),
    (HOPELESS, 'name = "recommended"', "privacy.epsilon: at 0.0001, the best method's answers to 27 queries"),
    (HOPELESS, 'name = "dual-query"', "privacy.epsilon: epsilon = 0.0001 at delta = 1e-06 is too small for one round "
                                      "with data"),
    (HOPELESS, 'name = "gaussian"', "privacy.epsilon: at 0.0001, the answers of the method 'gaussian'"),
    (HOPELESS, 'name = "reweighted"', "privacy.epsilon: "),
    (("epsilon = 2.0", "epsilon = 1e-300"), 'name = "gaussian"', "privacy.epsilon: "),
    (("epsilon = 2.0", "epsilon = 1e-300"), 'name = "mwem"', "privacy.epsilon: "),
    (("epsilon = 2.0", "epsilon = 9.0"), 'name = "gaussian"', "the privacy budget of survey"),
]), ids=lambda value: "")
def test_a_plan_that_gives_nothing_is_refused(
    edit: tuple[str, str], method: str, says: str, tmp_path: Path, confide: Reported
) -> None:
    path = campaign(tmp_path, edit, (COMPLETE, f"{COMPLETE}\n[method]\n{method}")).file.path
    for verb in ("plan", "run", "audit") if "marginal" in method else ("plan",):
        code, out, err = confide(verb, path)
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert err.startswith(f"confide: {says}")
        assert err.rstrip().endswith(")")  # what to change
        assert "invite" not in err


@pytest.mark.slow
def test_another_method_is_named_where_one_would_do(tmp_path: Path) -> None:
    """Laplace noise for very many queries, where a game against them needs less."""
    names = ", ".join(f'"x{k}"' for k in range(40))
    more = (COMPLETE, f'form = "random"\ncount = 140000\nwidth = 3\n[[columns]]\ncolumn = [{names}]\nbit = true')
    it = campaign(tmp_path, more, ("records = 2000", "records = 200000"), ("epsilon = 2.0", "epsilon = 1.0"),
                  method="laplace")
    with pytest.raises(Refused, match=r'\[method\] name = "dual-query"'):
        it.plan  # noqa: B018


@pytest.mark.filterwarnings("default")
def test_doubts_stand_on_the_page_and_not_on_the_terminal(tmp_path: Path, confide: Reported) -> None:
    twice = (COMPLETE, 'form = "listed"\nqueries = [["smoker"], ["smoker"], ["owner"]]')
    path = campaign(tmp_path, twice, method="gaussian").file.path
    code, out, err = confide("plan", path)
    assert (code, err) == (0, "")
    assert "Warning: 1 queries are dropped: they stand twice." in out


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", METHODS)
def test_no_verb_warns_on_the_terminal(method: str, tmp_path: Path, confide: Reported) -> None:
    twice = (COMPLETE, 'form = "listed"\nqueries = [["smoker"], ["smoker"], ["owner"], ["job = none", "smoker"]]')
    path = campaign(tmp_path, twice, method=method).file.path
    for arguments in (["plan", path, "--json"], ["run", path], ["audit", path],
                      ["verify", tmp_path / "out" / "smoking"], ["run", path, "--noise", "simulated", "--seed", 2]):
        code, _, err = confide(*arguments)
        assert (arguments, code, err) == (arguments, 0, "")


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_and_those_of_others_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def speak(standalone_mode: bool) -> None:
        warnings.warn("a doubt\nof ours", PublicWarning, stacklevel=1)
        warnings.warn("value 17 overflows", RuntimeWarning, stacklevel=1)
        warnings.warn("record 17 says yes", stacklevel=1)  # a mechanism of somebody's, in Python's own category

    assert guarded(speak) == 0
    err = capsys.readouterr().err
    assert err.startswith("confide: warning: a doubt")
    assert err.count("\n") == 1
    assert "17" not in err


# ---- the budget


def test_a_plan_says_what_is_left_and_whose_word_that_is(tmp_path: Path, confide: Reported) -> None:
    path = campaign(tmp_path, method="gaussian").file.path
    before = json.loads(confide("plan", path, "--json")[1])["budget"]
    assert before == {"data_set": "survey", "asks": "(epsilon = 2, delta = 1e-06)", "store": None, "says": None,
                      "left": "epsilon 3 of 3, delta 3e-06 of 3e-06", "source": "file", "charged": False,
                      "another": None}
    for option in ([], ["--store", f"sqlite:///{tmp_path}/deep/later.db"]):  # the run will make it
        assert "this ledger does not know" in confide("plan", path, *option)[1]
    assert not (tmp_path / "deep").exists()
    assert confide("plan", path, "--store", "mysql://a/b")[0] == 2
    assert confide("run", path)[0] == 0
    after = json.loads(confide("plan", path, "--json")[1])["budget"]
    assert (after["source"], after["left"]) == ("ledger", "epsilon 1 of 3, delta 2e-06 of 3e-06")
    assert after["charged"]
    assert "has charged the campaign" in after["says"]
    other = campaign(tmp_path, ("Who smokes?", "And now?"), method="gaussian", name="other").file.path
    code, out, err = confide("plan", other)
    assert code == 3
    assert "epsilon 1 of 3" in out
    assert "The ledger refuses the campaign" in out
    assert "invite" not in out.split("The ledger refuses the campaign")[1].split("\n\n")[0]  # no advice on people
    assert err.startswith("confide: the privacy budget of each subject of survey")
    assert err.count("\n") == 1
    code, out, reported = confide("plan", other, "--json")
    assert (code, reported) == (3, err)
    assert "refuses" in json.loads(out)["budget"]["says"]
    more = campaign(tmp_path, ("epsilon = 3.0", "epsilon = 4.0"), ("Who smokes?", "And then?"), method="gaussian",
                    name="more").file.path
    code, out, err = confide("plan", more)  # nothing renews a budget: bad input, as to a run
    assert (code, "Budget" in out) == (2, True)


# ---- bars


@pytest.mark.parametrize("method", fast(1, ("marginal-fit", "gaussian", "laplace", "mwem", "reweighted")))
def test_the_audit_holds_bars_at_the_probability_that_it_claims(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan: Any = campaign(tmp_path, method=method).plan
    asked: list[float] = []
    found: list[Any] = []

    def spy(*arguments: Any, failure_probability: float) -> Any:
        asked.append(failure_probability)
        found.append((arguments, bars(*arguments, failure_probability=failure_probability)))
        return found[-1][1]

    monkeypatch.setattr(audit, "bars", spy)
    rows, controls = audit.errors(plan.mechanism, plan.schema, plan.workload, 0.0, 3)
    assert asked == [audit.FALSE_ALARM]
    ((arguments, held),) = found
    usual = bars(*arguments)
    known = np.isfinite(held.each) & np.isfinite(usual.each)
    if method in ("marginal-fit", "gaussian", "laplace"):  # the others' certificates have it in them
        assert (held.each[known] > 1.2 * usual.each[known]).all()
    (row,) = [row for row in rows if "simultaneous bounds" in row.evidence and "certificate" not in row.promise]
    assert row.false_alarm == 1e-9
    assert "fail with probability 1e-09" in row.evidence
    assert not any(row.flagged for row in rows)
    assert [(control.mutant, control.flagged) for control in controls] == [("bounds 50 times too small", True)]


@pytest.mark.slow
def test_a_bar_of_all_covers_all(tmp_path: Path) -> None:
    """Single bars say so; those that hold at once bound every answer together."""
    plans = {name: campaign(tmp_path, method=name, name=name).plan for name in ("gaussian", "marginal-fit")}
    held = {}
    for name, plan in plans.items():
        data = made_up_table(plan.schema, 2000, seed=1)  # type: ignore[attr-defined]
        outcome = plan.mechanism.run(data, Noise.simulated(1))
        held[name] = bars(plan.mechanism, outcome.billboard, outcome.certificate,
                          plan.workload)  # type: ignore[attr-defined]
        shown = words(campaign(tmp_path, method=name, name=name).file.kind.result(plan, outcome))
        assert ("Among many shares, some have larger errors" in shown) == (name == "gaussian")
        within = f"{math.ceil(1000 * held[name].together) / 10:.1f} percentage points"  # rounded up
        assert (f"Every answer is within {within} of the true share of the 2,000 records as the run read "
                f"them. This bound covers {held[name].together_covers}.") in shown
    assert held["gaussian"].single
    assert held["gaussian"].together > 1.3 * held["gaussian"].each.max()
    assert "alone" in held["gaussian"].covers
    assert not held["marginal-fit"].single
    assert held["marginal-fit"].together == held["marginal-fit"].each.max()
    assert f"at once, with {LEVEL:.0%}" in held["marginal-fit"].together_covers


# ---- pages


def test_what_answers_are_compared_with_is_said_to_all_and_how_many_null_records_to_the_custodian(
    tmp_path: Path, confide: Reported
) -> None:
    """The public page says the same however many rows could be used."""
    said = ("each missing or unusable record counts as the null record (age in [0, 25), job = none, not smoker, not "
            "owner). No error covers the effect of this replacement.")
    shown = []
    for name, data in (("whole", lines()), ("gaps", ["130,none,0,1"] * 300 + lines()[300:])):
        (tmp_path / name).mkdir()
        it = campaign(tmp_path / name, data=data, method="gaussian")
        outcome = it.plan.mechanism.run(made_up_table(it.plan.schema, 2000, seed=1),  # type: ignore[attr-defined]
                                        Noise.simulated(1))
        shown.append(words(it.file.kind.result(it.plan, outcome)))
        code, out, _ = confide("check", it.file.path)
        reported = ("300 of 2,000 records would count as age in [0, 25), job = none, not smoker, not owner in every "
                    "answer. Error bars are for the table with these replacements")
        gaps = name == "gaps"  # 15 % of the rows: a run of them stops before the charge
        assert (code, reported in " ".join(out.split())) == (2 if gaps else 0, gaps)
    assert said in shown[0]
    assert shown[0] == shown[1]


def test_the_null_record_and_the_order_of_a_run_are_reported_as_they_are(tmp_path: Path) -> None:
    shown = words(campaign(tmp_path, method="gaussian").plan.sections())
    assert "age in [0, 25), job = none, not smoker, not owner" in shown
    assert "3: it charges the ledger. 4: it reads all rows again" in shown


@pytest.mark.slow
def test_pictures(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="gaussian")
    outcome = it.plan.mechanism.run(made_up_table(it.plan.schema, 2000, seed=1),  # type: ignore[attr-defined]
                                    Noise.simulated(1))
    for sections, titles in ((it.plan.sections(), ["Predicted error of an answer"]),
                             (it.file.kind.result(it.plan, outcome), ["How frequent each value is",
                                                                      "The 12 largest answers"])):
        pictures = [block for part in sections for block in part.blocks if isinstance(block, Picture)]
        assert all(picture.alt for picture in pictures)
        assert [picture.spec["title"] for picture in pictures] == titles


def test_the_largest_answers_are_drawn_without_not(tmp_path: Path) -> None:
    """They often say little; earlier versions drew them, and their packs are compared with that picture."""
    it = campaign(tmp_path, (COMPLETE, 'form = "listed"\nqueries = [["not smoker"], ["smoker"], ["job = none"]]'),
                  method="gaussian")
    outcome = it.plan.mechanism.run(made_up_table(it.plan.schema, 2000, seed=1),  # type: ignore[attr-defined]
                                    Noise.simulated(1))
    *_, drawn = (block for part in it.file.kind.result(it.plan, outcome) for block in part.blocks
                 if isinstance(block, Picture))
    assert drawn.spec["title"] == "The 2 largest answers without 'not'"
    assert drawn.before.spec["title"] == "The 3 largest answers"


def test_parities_are_asked_in_words(tmp_path: Path) -> None:
    it = campaign(tmp_path, (COMPLETE, 'form = "parities"\nwidth = 2'), method="gaussian")
    assert len(it.plan.workload) == 9 + 9 * 8 // 2 - 9  # type: ignore[attr-defined]
    assert it.plan.workload.kind == "parities"  # type: ignore[attr-defined]
    outcome = it.plan.mechanism.run(made_up_table(it.plan.schema, 2000, seed=1),  # type: ignore[attr-defined]
                                    Noise.simulated(1))
    answers = it.file.kind.tables(it.plan, outcome)["answers"]
    assert "an even number of: smoker; owner" in answers["query"].to_pylist()
    for edit, field in (('count = 9999', "workload.count"), ('seed = 3', "workload.seed"),
                        ("width = 9", "workload.width")):
        text = f'form = "parities"\n{edit}'
        with pytest.raises(InvalidInput) as caught:
            campaign(tmp_path, (COMPLETE, text)).plan  # noqa: B018
        assert caught.value.field == field


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_parities(method: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, (COMPLETE, 'form = "parities"\ncount = 12\nwidth = 2\nseed = 4'), method=method)
    table = it.settle(tmp_path / "out").tables["answers"]
    assert table.num_rows == 12
    assert verify(tmp_path / "out").complete
    assert it.audit(1).passed


# ---- the charge comes before the rows


def test_a_table_that_breaks_after_the_charge_leaves_it_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = campaign(tmp_path, method="gaussian")
    charge = Store.charge

    def lose(store: Store, *arguments: Any) -> None:
        charge(store, *arguments)
        (tmp_path / "survey.csv").unlink()

    monkeypatch.setattr(Store, "charge", lose)
    with Store() as store:
        with pytest.raises(InvalidInput, match=r"survey\.csv is not a file; .*the ledger was charged before any row"):
            it.settle(tmp_path / "out", store=store)
        (standing,) = store.ledger()
        monkeypatch.undo()
        monkeypatch.setenv("CONFIDE_HOME", str(store.home.folder))
        again = campaign(tmp_path, method="gaussian")
        assert again.settle(tmp_path / "out", store=store).fresh
        assert store.ledger() == (standing,)  # under the same debit


@pytest.mark.slow
@pytest.mark.parametrize("first", ['"a broken line', "130,unheard of,0,1", ",,,"])
def test_no_row_stops_what_the_charge_has_paid_for(first: str, tmp_path: Path) -> None:
    it = campaign(tmp_path, data=[first, *lines()[1:]], method="gaussian")
    with Store() as store:
        assert it.settle(tmp_path / "out", store=store).fresh
        assert len(store.ledger()) == 1


@pytest.mark.slow
def test_a_study_lists_no_shares_where_nobody_has_any(tmp_path: Path, confide: Reported) -> None:
    path = campaign(tmp_path, method="gaussian").file.path
    code, out, _ = confide("run", path, "--noise", "simulated", "--seed", 1)
    assert code == 0
    files = [line.split()[0] for line in out.partition("The files of the outcome")[2].splitlines() if line]
    assert "answers.csv" in files
    assert "shares" not in files


@pytest.mark.slow
def test_a_long_run_tells_how_far_it_is(tmp_path: Path) -> None:
    it = campaign(tmp_path, method="marginal-fit")
    reported: list[tuple[int, int | None]] = []
    it.settle(tmp_path / "out", progress=lambda done, total: reported.append((done, total)))
    ends = [total for _, total in reported]
    assert ends[0] == 2000  # the records, then the tables
    assert ends[-1] is not None
    assert reported[-1][0] == ends[-1] != 2000


# ---- rows and answers of a pack


def _settled(folder: Path, method: str) -> tuple[Campaign, Any]:
    it = campaign(folder, method=method)
    return it, it.settle(folder / "out").outcome


@pytest.mark.parametrize("method", fast(1, ("product", "marginal-fit", "mwem", "dual-query", "reweighted")))
def test_other_answers_are_those_of_the_billboard(method: str, tmp_path: Path) -> None:
    it, outcome = _settled(tmp_path, method)
    table = it.file.kind.more_answers(it.plan, outcome, ASKED)  # type: ignore[attr-defined]
    assert table["query"].to_pylist() == [
        "age in [0, 25) and smoker", "age not in [75, 100] and job = full and not owner", "owner",
        "age in [0, 25) and smoker"]
    own = dict(zip(it.plan.workload.words(it.plan.schema),  # type: ignore[attr-defined]
                   outcome.billboard.answers(it.plan.workload), strict=True))  # type: ignore[attr-defined]
    found = table["answer"].to_pylist()
    assert found[0] == found[3] == pytest.approx(own["age in [0, 25) and smoker"])
    wide = Workload.conjunctions([["age not in [75, 100]", "job = full", "not owner"]],
                                 attributes=it.plan.schema)  # type: ignore[attr-defined]
    assert found[1] == pytest.approx(float(outcome.billboard.answers(wide)[0]))


@pytest.mark.slow
@pytest.mark.parametrize("method", ROWS)
def test_more_rows_are_the_same_for_everybody(method: str, tmp_path: Path) -> None:
    it, outcome = _settled(tmp_path, method)
    own = len(outcome.billboard) if method in ("dual-query", "reweighted") else 3000
    table = it.file.kind.more_rows(it.plan, outcome, own)  # type: ignore[arg-type]
    assert table.num_rows == own
    assert table.equals(it.file.kind.more_rows(it.plan, outcome, own))  # type: ignore[arg-type]
    if method == "dual-query":
        some, whole = it.file.kind.more_rows(it.plan, outcome, own - 1), table.to_pylist()  # type: ignore[arg-type]
        assert some.num_rows == own - 1
        left = iter(whole)
        assert all(row in left for row in some.to_pylist())  # in their order, all but one
    if method in ("marginal-fit", "mwem"):
        shares = np.array(table["smoker"].to_pylist(), dtype=float)
        answer = it.file.kind.more_answers(it.plan, outcome, ["smoker"])["answer"][0].as_py()  # type: ignore[arg-type]
        assert shares.mean() == pytest.approx(answer, abs=0.02)
    for count, says in ((0, "count"), (10**7, "too many"), *(((own + 1, "only repeat"),) if own != 3000 else ()),
                        *(((own - 1, "are not a sample"),) if method == "reweighted" else ())):
        with pytest.raises(InvalidInput, match=says):
            it.file.kind.more_rows(it.plan, outcome, count)  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_has_no_others_is_refused_by_name(tmp_path: Path, confide: Reported) -> None:
    _settled(tmp_path, "gaussian")
    pack = tmp_path / "out"
    for arguments, says in ((("rows", pack, "--count", 5, "--out", tmp_path / "more.parquet"), "no rows follow"),
                            (("answer", pack, "smoker and owner and job = none"), "do not add up to 'job = none")):
        code, out, err = confide(*arguments)
        assert (code, out) == (3, "")
        assert says in err
    assert not (tmp_path / "more.parquet").exists()


def test_rows_and_answers_by_the_command_line(tmp_path: Path, confide: Reported) -> None:
    it, _ = _settled(tmp_path, "mwem")
    pack, target = tmp_path / "out", tmp_path / "more.parquet"
    for verb in ("rows", "answer"):
        text = " ".join(confide(verb, "--help")[1].split())
        assert "from public data only: the command costs no privacy" in text
    code, out, err = confide("rows", pack, "--count", 30, "--out", target)
    assert (code, err) == (0, "")
    assert "no privacy was spent" in out
    table = pq.read_table(target)
    assert (table.num_rows, table.column_names) == (30, ["age", "job", "smoker", "owner"])
    listed = tmp_path / "more.toml"
    listed.write_text('queries = [["smoker", "age in [0, 25)"], ["not owner"]]')
    found = json.loads(confide("answer", pack, listed, "--out", tmp_path / "found.csv", "--json")[1])
    assert [each["query"] for each in found["answers"]] == ["age in [0, 25) and smoker", "not owner"]
    with (tmp_path / "found.csv").open(newline="") as file:
        assert [float(row["answer"]) for row in csv.DictReader(file)] == [each["answer"] for each in found["answers"]]
    bad = [(("answer", pack, "smoker, age in [0, 26)"), 2, "queries[1]: 'age in [0, 26)'"),
           (("answer", pack, "smoker", "owner, no"), 2, "queries[2]: 'no' is unknown"),
           (("answer", pack, ""), 2, "queries[1]: has no condition"),
           (("answer", pack, "job = none and job = full"), 2, "queries[1]"),
           (("answer", pack, listed, "smoker"), 2, "a file and other queries together"),
           (("answer", pack, tmp_path / "no.toml"), 2, "does not exist"),
           (("answer", tmp_path, "smoker"), 2, "campaign.json is missing"),
           (("rows", pack, "--count", 3, "--out", target), 2, "exists"),
           (("rows", pack, "--count", 3, "--out", tmp_path / "more.txt"), 2, "must end in .parquet or .csv"),
           (("rows", pack, "--count", 3, "--out", pack / "more.csv"), 2, "would be in a pack"),
           (("answer", pack, "smoker", "--key", "0" * 40), 3, "signature is broken")]
    for arguments, code, says in bad:
        found_code, _, err = confide(*arguments)
        assert found_code == code
        assert says in err
    for text in ("queries = 3", "queries = [3]", 'queries = [["a"]]\nmore = 1', "queries = ["):
        listed.write_text(text)
        assert confide("answer", pack, listed)[0] == 2
    assert verify(pack).complete  # nothing was written there
    with Store() as store:
        assert len(store.ledger()[0].debits) == 1
    assert it.plan.rows == 0  # type: ignore[attr-defined]


@pytest.mark.slow
def test_an_altered_pack_answers_nothing(tmp_path: Path, confide: Reported) -> None:
    _settled(tmp_path, "mwem")
    for name, edit in (("manifest.json", lambda text: text.replace('"records":2000', '"records":1999', 1)),
                       ("campaign.toml", lambda text: text.replace("survey", "surveys", 1))):
        folder = tmp_path / name.partition(".")[0]
        shutil.copytree(tmp_path / "out", folder)
        text = (folder / name).read_text()
        assert edit(text) != text
        (folder / name).write_text(edit(text))
        code, out, err = confide("answer", folder, "smoker")
        assert (code, out) == (3, "")
        assert "is not used: " in err
        assert "broken" in err


def test_a_pack_of_another_version_carries_no_table_that_nobody_understands() -> None:
    """Whichever version it claims: rows under another name are broken, and those that differ are not passed on."""
    here = Provenance.here("secure")
    tables = {"rows": as_rows(pa.table({"age": ["old", "young"], "weight": [0.25, 0.75]}))}
    data = row_files(tables)["rows.parquet"]
    for wrote in (here, Provenance(**{**vars(here), "confide": "0.0.1"})):
        assert _rows(_folder({"rows.parquet": data}), tables, wrote, here) == ["rows.parquet"]
        for files in ({"rows.parquet": data, "records.parquet": b"anything"}, {"records.parquet": data}, {},
                      {"rows.parquet": b"anything"}):
            with pytest.raises(Broken):
                _rows(_folder(files), tables, wrote, here)


def _folder(files: dict[str, bytes]) -> Any:
    from confide.campaign.verification.reading import Folder

    return Folder(place=Path(), field="pack", files=files, strange={})

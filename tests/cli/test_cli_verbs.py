"""The command line: every verb, its JSON, its exit code, and what it keeps to itself."""

from __future__ import annotations

import csv
import json
import re
import shutil
import stat
import sys
from pathlib import Path

import jsonschema
import pytest

import confide
from campaign.pages import self_contained
from campaign.small import rows, tree, write
from cli.commands import INJECTED, SCHEMA, VALIDATOR, Result, Run
from confide.audit import AuditReport, AuditRow, Control
from confide.campaign import Campaign, Store
from confide.cli import output
from confide.cli.failures import guarded
from confide.contract import ConfideError, PublicOutcome, SolverFailed
from confide.contract.offering import Question
from confide.privacy import Noise

# ---- the schema


def test_the_schema_in_the_repository_is_the_codes() -> None:
    text = json.dumps(output.schema(), indent=2, sort_keys=True) + "\n"
    assert SCHEMA.read_text(encoding="utf-8") == text, "write it anew: json.dumps(schema(), indent=2, sort_keys=True)"
    jsonschema.Draft202012Validator.check_schema(output.schema())


def test_the_schema_refuses_what_no_command_prints() -> None:
    good = {"command": "kinds", "kinds": {"regression": "a summary"}}
    VALIDATOR.validate(good)
    for bad in ({**good, "more": 1}, {"command": "kinds"}, {"command": "sing"}, {"kinds": {"a": 1}}, [good]):
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(bad)


# ---- plan


def test_plan(run: Run, path: Path) -> None:
    found = run("plan", path)
    assert (found.code, found.err) == (0, "")
    for words in ("What do age and sex say about pay?", "Plan", "Guarantees", "What a lie would gain",
                  "epsilon = 6", "(picture: "):
        assert words in found.out
    assert "\x1b" not in found.out  # no colours in a pipe
    assert max(map(len, found.out.splitlines())) <= 120


def test_plan_as_json(run: Run, path: Path) -> None:
    found = run("plan", path, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json["command"] == "plan"
    assert found.json["plan"]["people"] == 2000
    assert found.json["guarantees"][0]["loss"]["epsilon"] == 6.0
    assert [part["title"] for part in found.json["offer"]] == [each.value for each in Question]


def test_plan_reads_no_data_and_says_where_it_would_be(run: Run, path: Path) -> None:
    there = path.with_name("answers.csv")
    there.unlink()
    found = run("plan", path)
    assert (found.code, found.err) == (0, f"confide: warning: data.source: {there} does not exist yet; a run needs "
                                          "this file.\n")


def test_plan_of_a_charged_campaign_says_so(run: Run, path: Path, settled: tuple[Path, Path]) -> None:
    elsewhere = run("plan", settled[0], "--store", f"sqlite:///{path.parent / 'none.db'}")
    assert "this ledger does not know the data set" in elsewhere.out
    assert "charged" not in elsewhere.out[elsewhere.out.index("Budget") :].split("\n\n")[0]
    found = run("plan", settled[0])
    assert (found.code, found.err) == (0, "")
    assert re.search(r"this campaign was charged +epsilon = 6 *\n", found.out)
    assert re.search(r"left after that +epsilon 1 of 7 *\n", found.out)
    assert "The ledger has charged the campaign: a run costs nothing more." in found.out
    budget = run("plan", settled[0], "--json").json["budget"]
    assert (budget["charged"], budget["left"]) == (True, "epsilon 1 of 7")
    other = path.with_name("other.toml")
    other.write_text(path.read_text(encoding="utf-8").replace('title = "', 'title = "Again: '), encoding="utf-8")
    again = run("plan", other)
    assert (again.code, "does not admit epsilon 6; left: epsilon 1 of 7 (" in again.err) == (3, True)
    assert re.search(r"this campaign asks for +epsilon = 6 *\n", again.out)


def test_a_budget_that_is_too_small_from_the_start_says_so(run: Run, path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace("epsilon = 7.0", "epsilon = 5.0"), encoding="utf-8")
    found = run("plan", path)
    assert found.code == 3
    assert ("does not admit epsilon 6; [budget] of the campaign file allows epsilon 5 in all (the whole budget"
            in found.err)


def test_a_file_that_asks_for_more_than_all_says_nothing_of_what_was_spent(
    run: Run, settled: tuple[Path, Path], path: Path
) -> None:
    """The ledger has 1 of 7 left, and is not asked: neither 7 nor nothing spent may be said of it."""
    text = path.read_text(encoding="utf-8")
    other = path.with_name("other.toml")
    other.write_text(text.replace('title = "', 'title = "Again: ').replace(
        "epsilon_release = 4.0", "epsilon_release = 18.0"),
                     encoding="utf-8")
    found = run("plan", other)
    assert found.code == 3
    assert "does not admit epsilon 20; [budget] of the campaign file allows epsilon 7 in all" in found.err
    assert "left" not in found.err
    assert "before" not in found.err


# ---- run


def test_run_settles_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "deep")
    first = run("run", "deep/pay.toml")
    assert (first.code, first.err) == (0, "")
    assert first.out.rstrip().endswith("wrote deep/out/pay; open deep/out/pay/report.html")
    order = ("What was found", "(intercept)", "Promises and their audiences", "The files of the outcome",
             "coefficients.csv")
    places = [first.out.index(words) for words in order]
    assert places == sorted(places)
    assert "\nGuarantees" not in first.out  # that is the plan's, and on the page
    assert "STUDY" not in first.out
    assert "settled before" not in first.out
    before = tree(tmp_path)
    second = run("run", "deep/pay.toml")
    assert (second.code, second.err) == (0, "")
    assert second.out.splitlines()[1] == ("this campaign was settled before: the command shows the stored outcome and "
                                          "spent no privacy")
    assert second.out.rstrip().endswith("found deep/out/pay; open deep/out/pay/report.html")
    stored = run("run", "deep/pay.toml", "--json").json
    assert stored["stored"] is True
    assert tree(tmp_path) == before
    (tmp_path / "deep" / "out" / "pay" / "report.html").unlink()
    broken = run("run", "deep/pay.toml")
    assert (broken.code, broken.out) == (2, "")
    assert ("report.html differs from the settled file; move the folder away, or choose another one with --out"
            in broken.err)
    shutil.rmtree(tmp_path / "deep" / "out")
    assert run("run", "deep/pay.toml", "--json").json == stored
    assert tree(tmp_path) == before  # a lost folder is written again


def test_a_campaign_is_what_its_file_says(run: Run, tmp_path: Path) -> None:
    """Neither a copy nor another folder is a second release; another title is, and the ledger charges it."""
    path = write(tmp_path)
    assert run("run", path, "--json").json["stored"] is False
    copy = write(tmp_path / "copy", ("format = 1\n", "# the same\nformat = 1\n"), name="renamed")
    for arguments in ((path, "--out", tmp_path / "second"), (copy,)):
        again = run("run", *arguments)
        assert (again.code, again.err) == (0, "")
        assert again.out.splitlines()[1] == ("this campaign was settled before: the command shows the stored outcome "
                                             "and spent no privacy")
    packs = [tree(folder) for folder in (tmp_path / "out" / "pay", tmp_path / "second", tmp_path / "copy/out/renamed")]
    assert packs[0] == packs[1] == packs[2]
    again = write(tmp_path / "other", ("What do", "Once more: what do"))
    planned = run("plan", again)
    assert planned.code == 3
    assert "epsilon 1 of 7" in planned.out
    assert planned.err.startswith("confide: the privacy budget of pay survey")
    assert planned.err.count("\n") == 1
    other = run("run", again)
    assert (other.code, other.out) == (3, "")
    assert other.err == planned.err
    assert run("plan", path).code == 0  # a run of it costs nothing more
    assert ("budget of pay survey (one record replaced, seen by the public) does not admit epsilon 6; "
            "left: epsilon 1 of 7" in other.err)
    assert not (tmp_path / "other" / "out").exists()
    assert run("run", path, "--again").code == 2  # no such option


def test_a_cancelled_campaign_is_refused_when_it_is_planned(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path)
    with Store() as store:
        store.cancel(store.open(Campaign.load(path).file, 1).number)
    found = run("plan", path)
    assert (found.code, "refused the campaign, and a spent budget stays spent" in found.err) == (3, True)


def test_run_in_another_store(run: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, url = write(tmp_path), f"sqlite:///{tmp_path}/stores/mine.db"
    assert run("run", path, "--store", url, "--json").json["stored"] is False
    assert not (home / "store.db").exists()
    assert run("run", path, "--store", url, "--json").json["stored"] is True
    assert run("share", path, "--id", 7, "--store", url).code == 0
    assert run("share", path, "--id", 7).code == 3
    for wrong, says in (("mine.db", "is not the URL of a database"), ("mysql://a/b", "is not supported; must be"),
                        ("sqlite://", "names no file: a database in memory would lose")):
        found = run("run", path, "--store", wrong)
        assert (found.code, found.out) == (2, "")
        assert re.search(f"store: .*({says})", found.err)
    monkeypatch.setenv("CONFIDE_STORE", url)  # a password then stands in no list of processes
    assert run("share", path, "--id", 7).code == 0
    assert run("ledger", "--json").json["store"] == url


def test_run_as_json(run: Run, path: Path, tmp_path: Path) -> None:
    found = run("run", path, "--out", tmp_path / "out", "--json")
    assert (found.code, found.err) == (0, "")
    assert (found.json["command"], found.json["noise"], found.json["release_safe"], found.json["stored"]) == (
        "run", "secure", True, False)
    assert found.json["out"] == str(tmp_path / "out")
    assert set(found.json["files"]) == {"report.html", "coefficients.csv", "manifest.json", "campaign.json",
                                        "campaign.toml", "events.json", "pictures.json"}
    assert all(Path(path).exists() for path in found.json["files"].values())
    assert not any(part["study"] or part["private"] for part in found.json["sections"])
    (values,) = [block["rows"] for part in found.json["sections"] if part["title"] == "What was found"
                 for block in part["blocks"] if "rows" in block]
    outcome = PublicOutcome.load(tmp_path / "out")
    campaign = Campaign.load(path)
    natural = campaign.plan.design.natural(outcome.billboard.coef, campaign.plan.response)
    assert [row[1] for row in values] == natural.coefficients.tolist()
    with (tmp_path / "out" / "coefficients.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["name"] for row in written] == [row[0] for row in values]
    assert [float(row["value"]) for row in written] == natural.coefficients.tolist()
    for row, shown in zip(written, values, strict=True):
        reach = shown[2] + shown[3] + shown[4]
        assert float(row["upper"]) == pytest.approx(shown[1] + reach)
        assert float(row["lower"]) == pytest.approx(shown[1] - reach)
        assert row["unit"] == shown[5]
    table = campaign.tables()["coefficients"]
    assert table.column_names == ["name", "value", "lower", "upper", "unit"]
    assert table["value"].to_pylist() == natural.coefficients.tolist()
    assert campaign.settle(tmp_path / "out").tables["coefficients"].equals(table)


def test_a_study(run: Run, path: Path, tmp_path: Path) -> None:
    arguments = ["run", path, "--noise", "simulated", "--seed", 7, "--out"]
    found = run(*arguments, tmp_path / "study")
    assert (found.code, found.err) == (0, "")
    titles = [line for line in found.out.splitlines() if "STUDY: simulated noise" in line]
    assert len(titles) == 5  # what a seed made is no release either
    assert "public" not in found.out.partition("The files of the outcome")[2]
    first = run(*arguments, tmp_path / "study", "--json").json
    assert (first["noise"], first["release_safe"], first["stored"]) == ("simulated", False, False)
    assert all(part["study"] for part in first["sections"])
    assert first["sections"] == run(*arguments, tmp_path / "other", "--json").json["sections"]
    assert not list(tmp_path.rglob("campaign.json"))


def test_a_study_has_a_folder_of_its_own(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "deep")
    found = run("run", "deep/pay.toml", "--noise", "simulated", "--seed", 7)
    assert "wrote deep/out/pay-study; open deep/out/pay-study/report.html" in found.out
    assert [each.name for each in (tmp_path / "deep" / "out").iterdir()] == ["pay-study"]
    assert [each.name for each in tmp_path.iterdir()] == ["deep"]
    for line in ("shares ", "operator/rejected.csv "):
        assert line in found.out.partition("The files of the outcome")[2]
    assert "Nothing has been charged" in run("ledger").out


@pytest.mark.parametrize(("arguments", "says"), [
    (["--seed", "7"], "a secure run has no seed"),
    (["--noise", "secure", "--seed", "7"], "a secure run has no seed"),
    (["--noise", "simulated"], "a simulated run needs --seed"),
    (["--noise", "simulated", "--seed", "-1"], "seed"),
    (["--noise", "simulated", "--seed", "x"], "seed"),
    (["--noise", "loud"], "noise"),
    (["--sed", "7"], "--sed"),
])
def test_noise_and_seed(arguments: list[str], says: str, run: Run, path: Path, tmp_path: Path) -> None:
    found = run("run", path, "--out", tmp_path / "out", *arguments)
    assert found.code == 2
    assert found.out == ""
    assert says in found.err
    assert not (tmp_path / "out").exists()


# ---- what a secure run keeps to itself


def _outline(text: str, folder: Path) -> str:
    """What a run says, without its numbers, its place and the widths of its columns."""
    return re.sub(r"[-+]?\d[\d.,e+-]*", "#", re.sub(r"\s+", " ", text.replace(str(folder), "HERE")))


@pytest.mark.slow
def test_bad_rows_are_not_spoken_of(run: Run, tmp_path: Path) -> None:
    lines = [INJECTED.get(i + 1, line) for i, line in enumerate(rows())] + ["41,40.5,male,41.5"]
    path, clean = write(tmp_path / "bad", lines=lines), write(tmp_path / "clean")
    said = {path: run("run", path, "--out", path.parent / "out")}
    with pytest.MonkeyPatch.context() as elsewhere:  # here it would be the same campaign, settled before
        elsewhere.setenv("CONFIDE_HOME", str(tmp_path / "another installation"))
        said[clean] = run("run", clean, "--out", clean.parent / "out")
    assert _outline(said[path].out, path.parent) == _outline(said[clean].out, clean.parent)
    spoken = [said[path], run("run", path, "--out", path.parent / "out", "--json"),
              run("run", path, "--noise", "simulated", "--seed", 1, "--out", tmp_path / "study")]
    assert [found.code for found in spoken] == [0, 0, 0]
    pages = [(folder / "report.html").read_text() for folder in (path.parent / "out", tmp_path / "study")]
    for text in [*(found.out + found.err for found in spoken), *pages]:
        for word in ("sentinel", "987654", "reject", "out of bounds", "a later row", "is not a level"):
            assert word not in text.replace("rejected.csv", "").replace("rejected records, and the reasons", "")
        assert not re.search(r"(?<![\d.,])(1997|1,997)(?![\d.])", text)  # nor how many were left
    for text in tree(path.parent / "out").values():
        for word in (b"sentinel", b"987654", b"reject", b"out of bounds"):
            assert word not in text
    listed = tmp_path / "study" / "operator" / "rejected.csv"
    assert "zzsentinel" not in listed.read_text()  # public terms, even there
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    private = run("share", path, "--id", 163)
    assert private.code == 0
    assert "No usable record arrived under this id" in private.out


def test_a_study_is_for_its_owner_alone(run: Run, path: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("run", path, "--noise", "simulated", "--seed", 98713, "--out", tmp_path / "study").code == 0
        for each in (tmp_path / "study", *(tmp_path / "study").rglob("*")):
            assert stat.S_IMODE(each.stat().st_mode) == (0o700 if each.is_dir() else 0o600), each
        for text in tree(tmp_path / "study").values():
            assert b"98713" not in text  # with the seed, the noise could be taken off


def test_totals_are_not_published(run: Run, settled: tuple[Path, Path]) -> None:
    path, folder = settled
    coins = sum(Campaign.load(path).settled().shares["payment"].to_pylist())
    found = run("run", path, "--out", folder)
    for text in (found.out, *(tree(folder)[name].decode() for name in ("report.html", "manifest.json", "events.json"))):
        for total in (f"{coins / 100:,.2f}", f"{coins / 100:.2f}", f"{coins}"):
            assert not re.search(rf"(?<![\w.]){re.escape(total)}(?![\w.])", text)  # as a number of its own


# ---- audit


def _report(*rows: AuditRow) -> AuditReport:
    return AuditReport(rows, (Control("exact privacy audit", "no noise at all", flagged=True),))


def test_audit_of_kept_promises(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def audit(self: Campaign, seed: int, progress: object) -> AuditReport:
        asked.append(seed)
        return _report(AuditRow.at_most("privacy", 1.0, 0.98, "all pairs enumerated", concern="privacy"),
                       AuditRow.at_most("error", float("inf"), 0.5, "25 runs", concern="accuracy"))

    monkeypatch.setattr(Campaign, "audit", audit)
    found = run("audit", path, "--seed", 5)
    assert (found.code, found.err) == (0, "")
    assert "Promised against measured" in found.out
    assert found.out.rstrip().endswith(
        "Passed: 1 of 2 promises were measured (1 kept), 1 is vacuous, 0 were not measured.")
    spoken = run("audit", path, "--json").json
    assert (spoken["command"], spoken["passed"]) == ("audit", True)
    assert spoken["report"]["rows"][1]["promised"] == "Infinity"
    assert spoken["report"]["counts"]["vacuous"] == 1
    assert asked == [5, 0]


def test_audit_of_a_broken_promise(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = _report(AuditRow.at_most("privacy", 1.0, 1.02, "all pairs enumerated", concern="privacy"))
    monkeypatch.setattr(Campaign, "audit", lambda *_: report)
    found = run("audit", path)
    assert (found.code, found.err) == (1, "")
    assert "broken" in found.out
    assert "Not passed: " in found.out


@pytest.mark.slow
def test_audit_flags_a_broken_mechanism(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place that knows the scale of the noise draws a tenth of it; the claim stays as it was."""
    from confide.regression.release import output_perturbation

    sound = output_perturbation.noise_scale
    for module in [found for name, found in sys.modules.items() if name.startswith("confide.")]:
        if getattr(module, "noise_scale", None) is sound:
            monkeypatch.setattr(module, "noise_scale", lambda *arguments: sound(*arguments) / 10)
    stopped = run("audit", path)
    assert stopped.code == 1
    assert "would spend epsilon 20; epsilon 2 was charged" in stopped.err
    monkeypatch.setattr(Noise, "_open_meter", lambda *_, **__: None)  # measured as if nothing had stopped it
    found = run("audit", path, "--json")
    assert (found.code, found.err) == (1, "")
    assert found.json["passed"] is False
    broken = [row for row in found.json["report"]["rows"] if row["verdict"] == "broken"]
    assert {row["promised"] for row in broken if "payment estimates" in row["promise"]} == {2.0}
    assert all(row["measured"] > row["promised"] for row in broken)
    assert all(control["flagged"] for control in found.json["report"]["controls"])


# ---- init and kinds


def test_init_writes_a_file_that_plan_accepts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = run("init", "regression")
    assert (first.code, first.err) == (0, "")
    assert first.out == "wrote regression.toml; next: confide plan regression.toml\n"
    assert run("plan", "regression.toml", "--json").json["kind"] == "regression"
    again = run("init", "regression")
    assert again.code == 2
    assert "exists" in again.err
    assert run("init", "regression", "--out", "mine.toml").code == 0
    assert (tmp_path / "mine.toml").read_bytes() == (tmp_path / "regression.toml").read_bytes()
    nowhere = run("init", "regression", "--out", "no/such/folder/mine.toml")
    assert nowhere.code == 2
    assert "cannot be written" in nowhere.err
    wrong = run("init", "regresion")
    assert wrong.code == 2
    assert "did you mean 'regression'" in wrong.err


def test_kinds(run: Run) -> None:
    listed = run("kinds")
    assert listed.code == 0
    assert "\nregression  " in listed.out
    assert set(run("kinds", "--json").json["kinds"]) == set(confide.contract.kind_names())
    shown = run("kinds", "regression", "--json")
    jsonschema.Draft202012Validator.check_schema(json.loads(shown.out))
    assert json.loads(shown.out)["properties"]["kind"] == {"const": "regression"}
    assert run("kinds", "markets").code == 2
    read = run("kinds", "regression")
    assert read.code == 0
    assert re.search(r"^\[budget\]$", read.out, re.MULTILINE)
    assert re.search(r"^subject_epsilon +number above 0 +epsilon of each person", read.out, re.MULTILINE)


def test_help_texts(run: Run) -> None:
    listed = run("--help")
    assert listed.code == 0
    assert run("-h").out == listed.out
    verbs = re.findall(r"^  (\w+)  ", listed.out.partition("Commands:")[2], re.MULTILINE)
    assert set(verbs) == {"init", "kinds", "plan", "offer", "check", "run", "share", "audit", "reproduce",
                          "campaigns", "ledger", "payouts", "verify", "withdraw", "channel", "submit", "rehearse",
                          "contracts", "rows", "answer", "claims", "serve", "operators", "backup", "restore",
                          "restored", "migrate"}
    for verb in verbs:
        found = run(verb, "--help")
        assert (found.code, found.err) == (0, "")
        assert "Usage: " in found.out
        options = found.out.partition("Options:")[2]
        assert all(re.search(r"\w.*  +\w", line) for line in options.strip().splitlines() if line.startswith("  -"))
    assert "Exit codes: 0 done, 2 bad input, 3 refused" in listed.out
    assert run("--version").out == f"confide {confide.__version__}\n"


# ---- failures


@pytest.mark.parametrize("arguments", [[], ["sing"], ["plan"], ["plan", "a", "b"], ["run", "--out"], ["plan", "--sed"]])
def test_wrong_usage_is_bad_input(arguments: list[str], run: Run) -> None:
    found = run(*arguments)
    assert found.code == 2
    assert "Usage: " in found.out + found.err or "Error: " in found.err
    assert "internal error" not in found.err


@pytest.mark.parametrize(("edit", "code", "says"), [
    (("count = 2000", "count = 3"), 2, "people.count"),
    (("count =", "conut ="), 2, "did you mean 'count'"),
    (("truth_radius = 0.4", "truth_radius = 0.01"), 3, "out of reach"),
    pytest.param(("epsilon_release = 4.0", "epsilon_release = 1e-6"), 3, "the records would teach hardly anything",
                 marks=pytest.mark.slow),
    (("epsilon = 7.0", "epsilon = 1.0"), 3, "does not admit epsilon 6"),
    (('source = "answers.csv"', 'source = "nowhere.csv"'), 2, "is not a file"),
])
def test_exit_codes(edit: tuple[str, str], code: int, says: str, run: Run, tmp_path: Path) -> None:
    found = run("run", write(tmp_path, edit), "--out", tmp_path / "out", "--json")
    assert (found.code, found.out) == (code, "")
    assert says in found.err
    assert found.err.startswith("confide: ")
    assert found.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_no_campaign(run: Run, tmp_path: Path) -> None:
    found = run("plan", tmp_path / "nowhere.toml")
    assert (found.code, found.out) == (2, "")
    assert f"{tmp_path / 'nowhere.toml'} does not exist; `confide kinds` lists all kinds, `confide" in found.err
    assert "is a folder; name the campaign file in it" in run("plan", tmp_path).err


def test_a_strangers_file_does_not_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('format = 1\nkind = "regression"\n"\\u001b[2J\\nconfide: all is well" = 3\n')
    found = run("plan", path)
    assert found.code == 2
    assert found.err.rstrip("\n").isprintable()


@pytest.mark.parametrize(("error", "code"), [
    (RuntimeError("her wage is 1234.5"), 1), (KeyError("her wage is 1234.5"), 1), (AssertionError("1234.5"), 1),
    (UnicodeDecodeError("utf-8", b"1234.5", 0, 1, "her wage"), 1),
    (ExceptionGroup("1234.5", [ValueError("1234.5")]), 1),
    (ValueError("her wage is 1234.5"), 1), (OSError(5, "1234.5", "1234.5"), 1), (MemoryError("1234.5"), 1),
])
def test_an_unexpected_error_keeps_its_message(
    error: Exception, code: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise error from ValueError("caused by 1234.5")

    monkeypatch.setattr(Campaign, "load", dies)
    monkeypatch.delenv("CONFIDE_DEBUG", raising=False)
    found = run("plan", "pay.toml")
    assert found.code == code
    assert "1234.5" not in found.out + found.err
    assert "her wage" not in found.err
    assert f"internal error: {type(error).__name__} at test_cli_verbs.py:" in found.err
    assert "CONFIDE_DEBUG" in found.err
    monkeypatch.setenv("CONFIDE_DEBUG", "1")
    found = run("plan", "pay.toml")
    assert found.code == code
    assert "Traceback" in found.err
    assert "1234.5" in found.err


@pytest.mark.parametrize(("error", "code", "says"), [
    (SolverFailed("newton", "no certificate"), 1, "confide: newton: no certificate"),
    (ConfideError("a fault"), 1, "confide: a fault"),
])
def test_our_own_errors(
    error: Exception, code: int, says: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise error

    monkeypatch.setattr(Campaign, "load", dies)
    assert run("plan", "pay.toml") == Result(code, "", f"{says}\n")


def test_an_interruption_has_its_own_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Campaign, "load", dies)
    found = run("plan", "pay.toml")
    assert (found.code, found.out) == (130, "")
    assert "Traceback" not in found.err
    assert guarded(dies_here) == 130


def dies_here(**_: object) -> None:
    raise KeyboardInterrupt


def test_other_exits_pass() -> None:
    def leaves(**_: object) -> None:
        raise SystemExit(7)

    with pytest.raises(SystemExit, match="7"):
        guarded(leaves)
    assert guarded(lambda **_: None) == 0
    assert guarded(lambda **_: 3) == 3


# ---- pages and titles

EVIL = '[bold]x[/] [/red] <script>alert("x")</script> \\[a]'


def test_any_title_will_do(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, ('"What do age and sex say about pay?"', f"'{EVIL}'"), ('unit = "euro"', "unit = '[/b]<b>'"),
                 ('column = "age"', "column = 'age'"))
    for verb in (["plan"], ["run", "--out", tmp_path / "out"]):
        found = run(verb[0], path, *verb[1:])
        assert (found.code, found.err) == (0, "")
        assert found.out.splitlines()[0] == EVIL
        assert "[/b]<b>" in found.out
    report = (tmp_path / "out" / "report.html").read_text()
    words = self_contained(report).words
    assert EVIL in words
    assert "[/b]<b>" in words
    assert "<script" not in report


def test_the_public_page(settled: tuple[Path, Path]) -> None:
    text = (settled[1] / "report.html").read_text()
    found = self_contained(text)
    assert found.tags.count("svg") == found.tags.count("figure") >= 2
    labels = [value for tag, name, value in found.attributes if (tag, name) == ("figure", "aria-label")]
    assert len(labels) == found.tags.count("figure")
    assert all(len(label) > 20 for label in labels)
    assert ("p", "class", "badge") not in found.attributes
    assert "Everything on this page is public." in found.words
    assert found.words.index("What was found") < found.words.index("Guarantees")
    assert "Participant" not in found.words


def test_the_page_of_a_study(run: Run, path: Path, tmp_path: Path) -> None:
    assert run("run", path, "--noise", "simulated", "--seed", 7, "--out", tmp_path / "study").code == 0
    found = self_contained((tmp_path / "study" / "report.html").read_text())
    sections = [value for tag, name, value in found.attributes if (tag, name) == ("section", "class")]
    assert sections == ["study"] * 4
    assert "A study with simulated noise. It uses private data" in found.words
    assert "seed" not in found.words
    assert "Everything on this page is public" not in found.words

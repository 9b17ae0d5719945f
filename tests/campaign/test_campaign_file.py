"""A campaign file is read strictly: every mistake is an `InvalidInput` that names the key."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pandas
import polars
import pytest
from pydantic import Field

from campaign.small import TEXT, write
from confide.campaign import Campaign, load, schema
from confide.campaign.file import BudgetTable
from confide.campaign.kinds import PeopleTable
from confide.contract import InvalidInput, kind, kind_names
from people.all_kinds import PEOPLES

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_right_file(tmp_path: Path) -> None:
    path = write(tmp_path)
    file = load(path)
    assert (file.path, file.name, file.folder) == (path, "pay", tmp_path)
    assert file.title == "What do age and sex say about pay?"
    assert file.kind is kind("regression")
    assert (file.budget.data_set, file.budget.epsilon, file.budget.delta) == ("pay survey", 7.0, 0.0)
    one, other = (BudgetTable(data_set=name, epsilon=1.0).data_set for name in ("caf\u00e9", "cafe\u0301"))
    assert one == other  # spelled in two ways, it is one name
    assert (file.budget.rule, file.budget.subject_epsilon, file.budget.subject_delta) == ("basic", None, None)
    assert file.config.people.count == 2000
    assert file.document["people"] == {"count": 2000, "id": "id"}
    assert load(str(path)).digest == file.digest


@pytest.mark.parametrize(("old", "new"), [
    ("format = 1\n", "# a comment\nformat    =   1  # another\n\n"), ("count = 2000", "count = 2_000"),
    ("upper = 60", "upper = 60.0"), ("center = 40\nunit = \"euro\"", "unit = 'euro'\ncenter = 40"),
    ("[costs]\nscale = 0.001", "[costs]\nscale = 1e-3"),
], ids=range(5))
def test_what_says_the_same_is_the_same(old: str, new: str, tmp_path: Path) -> None:
    assert load(write(tmp_path / "b", (old, new))).digest == load(write(tmp_path / "a")).digest


@pytest.mark.parametrize(("old", "new"), [
    ("count = 2000", "count = 2001"), ("upper = 60", "upper = 60.5"), ('["female", "male"]', '["male", "female"]'),
    ('unit = "euro"', 'unit = "Euro"'), ("epsilon = 7.0", "epsilon = 7.0\ndelta = 1e-9"),
], ids=range(5))
def test_what_says_something_else_is_another(old: str, new: str, tmp_path: Path) -> None:
    assert load(write(tmp_path / "b", (old, new))).digest != load(write(tmp_path / "a")).digest


# ---- what is not a campaign


def test_a_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("nowhere.toml", tmp_path / "nowhere.toml"):
        with pytest.raises(InvalidInput) as caught:
            load(path)
        assert str(caught.value) == (f"campaign: {tmp_path}/nowhere.toml does not exist; `confide kinds` lists all "
                                     "kinds, `confide init KIND` writes a file to start from")
    with pytest.raises(InvalidInput, match="is a folder; name the campaign file in it"):
        load(tmp_path)


def test_what_is_no_path(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"age": [40]})
    for given in (frame, polars.DataFrame({"age": [40]}), None, 3):
        with pytest.raises(InvalidInput, match=r"^campaign: .* is not a path; pass a path"):
            Campaign.load(given)  # type: ignore[arg-type]
    campaign = Campaign.load(str(write(tmp_path)))
    record = {"age": "40", "sex": "male", "pay": "41.5"}
    for call in (campaign.settle, lambda folder: campaign.study(3, folder),
                 lambda folder: campaign.share("7", folder, record=record),
                 lambda folder: campaign.own_file("7", folder, record=record)):
        with pytest.raises(InvalidInput, match=r"^folder: pandas.*DataFrame is not a path"):
            call(frame)
    with pytest.raises(InvalidInput, match=r"^write: pandas.*DataFrame is not a path"):
        campaign.list_rejected(campaign.check(), frame)
    with pytest.raises(InvalidInput, match=r"^record: DataFrame is not a record; pass a mapping of column to value"):
        campaign.share("7", record=frame)


@pytest.mark.parametrize("text", ["format = ", "[a\nb = 1", "x = 1\nx = 2", "{}", "a = " + "[" * 5000 + "]" * 5000,
                                  "a = " + "9" * 5000, "a = 0x" + "f" * 9000], ids=range(7))
def test_not_toml(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"^campaign: .* is not TOML"):
        load(path)


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="is not UTF-8 text"):
        load(path)


@pytest.mark.parametrize("form", ["2", "0", "true", "1.0", '"1"', "[1]", "2005-03-01"])
def test_another_format(tmp_path: Path, form: str) -> None:
    with pytest.raises(InvalidInput, match=r"^format: .*this version reads format = 1"):
        load(write(tmp_path, ("format = 1", f"format = {form}")))


@pytest.mark.parametrize("text", ["", "# not yet"])
def test_an_empty_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"^campaign: .*x\.toml has no content; `confide init KIND` writes"):
        load(path)


def test_no_format(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('kind = "regression"')
    with pytest.raises(InvalidInput, match=r"^format: is missing; a campaign file starts with format = 1"):
        load(path)


# ---- single mistakes: the piece of the file, what stands there instead, the key, and what the message says

UNKNOWN = [
    ('title = "What', 'titel = "What', "titel", "did you mean 'title'"),
    ("[people]", "[poeple]", "poeple", "did you mean 'people'"),
    ("[budget]", "colour = 3\n[budget]", "colour", "known: "),
    ("data_set =", "dataset =", "budget.dataset", "did you mean 'data_set'"),
    ("epsilon = 7.0", "epsilon = 7.0\nsubject_epsilo = 1.0", "budget.subject_epsilo", "did you mean 'subject_epsilon'"),
    ("epsilon = 7.0", "epsilon = 7.0\ndelat = 0.1", "budget.delat", "did you mean 'delta'"),
    ("count =", "conut =", "people.conut", "did you mean 'count'"),
    ("center = 40", "centre = 40", "response.centre", "did you mean 'center'"),
    ("noise_bound =", "noise_bond =", "model.noise_bond", "did you mean 'noise_bound'"),
    ("epsilon_release", "epsilon_relaese", "privacy.epsilon_relaese", "did you mean 'epsilon_release'"),
    ("misreports =", "misreport =", "costs.misreport", "did you mean 'misreports'"),
    # inside [[features]]: places count from 1, and the kind of column that fits best is meant
    ("upper = 60", "uper = 60", "features[1].uper", "did you mean 'upper'"),
    ("upper = 60", "upper = 60\nuints = 'years'", "features[1].uints", "did you mean 'unit'"),
    ("levels =", "level =", "features[2].level", "did you mean 'levels'"),
    ("levels =", "lvels =", "features[2].lvels", "did you mean 'levels'"),
    ('column = "sex"', 'colunm = "sex"', "features[2].colunm", "did you mean 'column'"),
]

WRONG = [
    ('kind = "regression"', 'kind = "regresion"', "kind", "did you mean 'regression'"),
    ('kind = "regression"', "", "kind", "confide kinds"),
    ('kind = "regression"', "kind = 3", "kind", "confide kinds"),
    ("title = ", "title = '' # ", "title", "at least 1 character"),
    ("title = ", "title = 3 # ", "title", "valid string"),
    # types: TOML has them, so nothing is guessed
    ("count = 2000", 'count = "2000"', "people.count", "'2000' is a text; must be a whole number, without quotes"),
    ("count = 2000", "count = 2000.0", "people.count", "valid integer"),
    ("count = 2000", "count = true", "people.count", "valid integer"),
    ("epsilon = 7.0", 'epsilon = "7"', "budget.epsilon", "'7' is a text; must be a number, without quotes"),
    ("epsilon = 7.0", "epsilon = true", "budget.epsilon", "valid number"),
    ("epsilon_release = 4.0", "epsilon_release = [4.0]", "privacy.epsilon_release", "valid number"),
    ("upper = 60", 'upper = "60"', "features[1].upper", "'60' is a text; must be a number, without quotes"),
    ('levels = ["female", "male"]', "levels = 'female'", "features[2].levels", "valid"),
    ('levels = ["female", "male"]', "levels = [1.5, 2.5]", "features[2].levels[1]", "got 1.5"),
    ("[people]\ncount = 2000\nid = \"id\"", "[[people]]\ncount = 2000", "people", "should be a table"),
    ('unit = "euro"', "unit = 3", "response.unit", "valid string"),
    # ranges
    ("epsilon = 7.0", "epsilon = 0", "budget.epsilon", "greater than 0 (got 0)"),
    ("epsilon = 7.0", "epsilon = inf", "budget.epsilon", "finite"),
    ("epsilon = 7.0", "epsilon = nan", "budget.epsilon", "got nan"),
    ("epsilon = 7.0", "epsilon = 7.0\ndelta = 1.0", "budget.delta", "less than 1"),
    ('data_set = "pay survey"', 'data_set = ""', "budget.data_set", "at least 1 character"),
    ('data_set = "pay survey"', 'data_set = "pay  survey"', "budget.data_set",
     "has two blanks in a row; must be printable, with single spaces"),
    ('data_set = "pay survey"', 'data_set = "pay survey "', "budget.data_set", "ends with a blank; must"),
    ('data_set = "pay survey"', 'data_set = "  pay survey"', "budget.data_set", "begins with a blank; must"),
    ('data_set = "pay survey"', 'data_set = "pay\\tsurvey"', "budget.data_set",
     "has a letter that does not show, U+0009; must"),
    ('data_set = "pay survey"', 'data_set = "pay\\u200b survey"', "budget.data_set",
     "does not show, U+200B ZERO WIDTH SPACE"),
    ('data_set = "pay survey"', 'data_set = "pay\\u200b survey"', "budget.data_set", "must be printable"),
    ('data_set = "pay survey"', 'data_set = "pay\\u034f survey"', "budget.data_set", "must be printable"),
    ('data_set = "pay survey"', 'data_set = "pay\\u202e survey"', "budget.data_set", "U+202E RIGHT-TO-LEFT OVERRIDE"),
    # what turns the direction of the text around it
    ('unit = "euro"', 'unit = "\\u202eeuro"', "response.unit", "has U+202E RIGHT-TO-LEFT OVERRIDE, which turns"),
    ('"female", "male"]', '"female", "ma\\u2067le"]', "features[2].levels[2]", "has U+2067 RIGHT-TO-LEFT ISOLATE"),
    ('column = "age"', 'column = "\\u202bage\\u202c"', "features[1].column", "U+202B RIGHT-TO-LEFT EMBEDDING"),
    ("epsilon = 7.0", 'epsilon = 7.0\nrule = "advanced"', "budget.rule", "'basic' or 'zcdp'"),
    ("epsilon = 7.0", "epsilon = 7.0\nsubject_epsilon = 0", "budget.subject_epsilon", "greater than 0"),
    ("epsilon = 7.0", "epsilon = 7.0\nsubject_epsilon = inf", "budget.subject_epsilon", "finite"),
    ("epsilon = 7.0", "epsilon = 7.0\nsubject_delta = 1.0", "budget.subject_delta", "less than 1"),
    ("count = 2000", "count = 3", "people.count", "greater than or equal to 4 (got 3)"),
    ("parameter_bound = 0.6", "parameter_bound = -0.6", "model.parameter_bound", "greater than 0"),
    ("epsilon_payment = 2.0", "epsilon_payment = inf", "privacy.epsilon_payment", "finite"),
    ("epsilon_payment = 2.0", "epsilon_payment = 2.0\ndelta = -0.1", "privacy.delta", "greater than or equal to 0"),
    ("epsilon_payment = 2.0", 'epsilon_payment = 2.0\nrelease = "rigde"', "privacy.release", "'ridge'"),
    ("misreports = 0.0005", "misreports = 1.0", "costs.misreports", "less than 1"),
    ("scale = 0.001", "scale = 0.001\nexponent = 1", "costs.exponent", "greater than 1"),
    ('levels = ["female", "male"]', 'levels = ["female"]', "features[2].levels", "1 given; needs at least two levels"),
    ('column = "pay"', 'column = ""', "response.column", "at least 1 character"),
    # what is missing, and what belongs together
    ('data_set = "pay survey"', "", "budget.data_set", "field required"),
    ("upper = 60", "", "features[1].upper", "field required"),
    ('currency = "EUR"', "", "payment.currency", "field required"),
    ("smallest_eigenvalue = 0.066", "", "model.smallest_eigenvalue", "field required"),
    ("truth_radius = 0.4", "truth_radius = 0.4\nbudget = 100.0", "payment", "exactly one of truth_radius and budget"),
    ("truth_radius = 0.4", "", "payment", "exactly one of truth_radius and budget"),
    ("noise_std = 0.08", "", "model", "noise_std"),
    ('noise = "truncated gaussian"', "", "model", "noise_std"),
    ("parameter_bound = 0.6", 'parameter_bound = 0.6\nprior = "gaussian"', "model", "prior_std"),
    ("parameter_bound = 0.6", "parameter_bound = 0.6\nprior_std = 0.2", "model", "prior_std"),
]


@pytest.mark.parametrize(("old", "new", "field", "says"), UNKNOWN + WRONG, ids=lambda v: v if "." in v else None)
def test_each_mistake_names_its_key(tmp_path: Path, old: str, new: str, field: str, says: str) -> None:
    path = write(tmp_path, (old, new))
    with pytest.raises(InvalidInput) as caught:
        load(path)
    assert caught.value.field == field
    assert says in str(caught.value)
    assert "value error" not in str(caught.value).lower()
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


PLANNED = [
    ("epsilon = 7.0", 'epsilon = 7.0\nrule = "zcdp"', "budget", "needs a delta above 0"),
    ("lower = 20", "lower = 60", "features[1].upper", "not above lower"),
    ('column = "pay"', 'column = "age"', "features[1].column", "is also the response"),
    ("lower = 0", "lower = 80", "response.upper", "not above lower"),
    ("center = 40", "center = 90", "response.center", "out of bounds"),
    ('column = "sex"', 'column = "age"', "features", "'age' occurs twice"),
    ('levels = ["female", "male"]', 'levels = ["male", "male"]', "features[2].levels", "'male' stands twice"),
    ("radius = 1.0", "radius = 0.1", "radius", "too small"),
    ("smallest_eigenvalue = 0.066", "smallest_eigenvalue = 0.067", "model.smallest_eigenvalue", "of any population"),
    ("epsilon_payment = 2.0", 'epsilon_payment = 2.0\nrelease = "adassp"', "delta", "above 0"),
]


@pytest.mark.parametrize(("old", "new", "field", "says"), PLANNED, ids=[new for _, new, _, _ in PLANNED])
def test_what_only_the_plan_can_see(tmp_path: Path, old: str, new: str, field: str, says: str) -> None:
    campaign = Campaign.load(write(tmp_path, (old, new)))
    with pytest.raises(InvalidInput) as caught:
        campaign.plan  # noqa: B018
    assert caught.value.field == field
    assert says in str(caught.value)


COLLECTED = [
    ('column = "pay"', 'column = "payy"', "payy", "did you mean 'pay'"),
    ('id = "id"', 'id = "ID"', "ID", "no such column"),
    ('id = "id"', 'id = "pay"', "id", "also a feature or the response"),
    ('source = "answers.csv"', 'source = "nowhere.csv"', "source", "not a file"),
    ('source = "answers.csv"', 'source = "answers.docx"', "source", "unknown suffix"),
]


@pytest.mark.parametrize(("old", "new", "field", "says"), COLLECTED, ids=[new for _, new, _, _ in COLLECTED])
def test_what_only_the_table_can_show(tmp_path: Path, old: str, new: str, field: str, says: str) -> None:
    campaign = Campaign.load(write(tmp_path, (old, new)))
    with pytest.raises(InvalidInput) as caught:
        campaign.collect()
    assert caught.value.field == field
    assert says in str(caught.value)


# ---- a list that is too short, and a key of one of several kinds


@pytest.mark.parametrize(("table", "says"), [
    ('column = "sex"\nlevels = ["f"]', "columns[1].levels: 1 given; needs at least two levels"),
    ('column = "sex"\nlevels = []', "columns[1].levels: 0 given; needs at least two levels"),
    ('column = "sex"\nlevels = "f"', "columns[1].levels: input should be a valid array (got 'f')"),
    ('column = "age"\nedges = [1.0]', "columns[1].edges: 1 given; needs at least two edges"),
    ('column = []\nbit = true', "columns[1].column: 0 given; needs at least one"),
    ('column = "ill"\nbit = false', "columns[1].bit: input should be True (got False)"),
    ('column = "sex"\nlevles = ["f", "m"]', "columns[1].levles: is not a known key; did you mean 'levels'?"),
    ('column = "sex"\nlevels = ["f", "m"]\nwhole = true', "columns[1].whole: is not a known key; known: "),
])
def test_what_is_wrong_with_a_column_is_said_of_the_kind_that_it_is(table: str, says: str, tmp_path: Path) -> None:
    """A known key of one kind of column is not unknown because its value is wrong, or another kind has other keys."""
    text = ('format = 1\nkind = "queries"\ntitle = "a"\n[budget]\ndata_set = "a"\nepsilon = 1.0\n[data]\n'
            f'source = "a.csv"\nrecords = 10\n[[columns]]\n{table}\n[workload]\nform = "complete"\nwidth = 1\n'
            "[privacy]\nepsilon = 1.0\ndelta = 1e-6\n")
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput) as reported:
        load(path)
    assert str(reported.value).startswith(says)


# ---- the JSON schema says the same as the reader


@pytest.mark.parametrize(("line", "hint"), [
    ("title = what", "put texts in quotes"), ('title = "what', "begins and ends with a quote"),
    ("[people", "between [ and ]"),
    ("[people]\n[people]", "several tables of one name as [[name]]"),
    ("count = 1\ncount = 2", "write each key once"), ("names = [1, 2", "a list ends with ]"),
    ("count 5", "key = value"),
    ("epsilon = 1,5", "use a point for decimals"), ('path = "C:\\data"', "a backslash twice"),
    ("count = " + "9" * 5000, "larger than can be read"),
])
def test_what_is_not_toml_has_a_hint(line: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(f"format = 1\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is not TOML: ") as reported:
        load(path)
    assert hint in str(reported.value)
    assert "Error" not in str(reported.value)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_the_schema_accepts_every_example(path: Path) -> None:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(document, schema(document["kind"]), cls=jsonschema.Draft202012Validator)
    load(path)


def test_examples_about_the_same_people_have_one_account() -> None:
    """A table under two names has two budgets and one privacy; and whichever campaign comes first fixes the budget."""
    accounts: dict[str, set[tuple[tuple[str, object], ...]]] = {}
    for path in EXAMPLES.glob("*.toml"):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        tables = [part["source"] for part in document.values() if isinstance(part, dict) and "source" in part]
        for source in tables:
            accounts.setdefault(source, set()).add(tuple(sorted(document["budget"].items())))
    assert len(accounts) > 5
    assert {source: found for source, found in accounts.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", kind_names())
def test_the_schema_accepts_every_template(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    jsonschema.validate(tomllib.loads(kind(name).template), schema(name))
    json.dumps(schema(name), allow_nan=False)
    assert schema(name)["properties"]["kind"] == {"const": name}


@pytest.mark.parametrize(("old", "new"), [
    pytest.param(old, new, id=field) for old, new, field, _ in UNKNOWN
])
def test_the_schema_refuses_unknown_keys(old: str, new: str) -> None:
    _refused(TEXT.replace(old, new, 1))


@pytest.mark.parametrize(("old", "new"), [
    pytest.param(old, new, id=f"{field} {new}") for old, new, field, says in WRONG
    # What belongs together is beyond the schema, and JSON has neither infinities nor whole floats.
    if field not in ("payment", "model", "campaign") and not any(word in new for word in ("inf", "nan", "2000.0"))
])
def test_the_schema_refuses_what_the_reader_refuses(old: str, new: str) -> None:
    _refused(TEXT.replace(old, new, 1))


def _refused(text: str) -> None:
    document: dict[str, Any] = tomllib.loads(text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema("regression"))


@pytest.mark.parametrize("name", PEOPLES)
def test_more_people_than_fit_into_memory(name: str, tmp_path: Path) -> None:
    """Refused as the file is read: a plan makes room for everybody."""
    (line,) = (line for line in kind(name).template.splitlines() if line.startswith("count ="))
    path = tmp_path / "all.toml"
    path.write_text(kind(name).template.replace(line, "count = 1_000_000_000"))
    with pytest.raises(InvalidInput) as caught:
        load(path)
    assert caught.value.field == "people.count"


def test_nor_of_a_kind_that_sets_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Everybody(PeopleTable):
        count: int = Field(ge=1)

    class Unlimited(kind("regression").config):  # type: ignore[misc, name-defined] # the kind's own
        people: Everybody

    monkeypatch.setattr(type(kind("regression")), "config", Unlimited)
    path = write(tmp_path)
    people = load(path).config.people.count
    for count, right in ((10**8, True), (10**8 + 1, False)):
        path.write_text(path.read_text().replace(f"count = {people}", f"count = {count}"))
        people = count
        if right:
            assert load(path).config.people.count == count
        else:
            with pytest.raises(InvalidInput, match=r"people\.count"):
                load(path)


def test_a_schema_of_nothing() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'regression'"):
        schema("regressions")


@pytest.mark.parametrize(("lines", "law"), [
    ('prior = "sphere"', "UniformSphere"), ('prior = "gaussian"\nprior_std = 0.2', "GaussianBall"),
])
def test_every_law_of_the_coefficients_plans_a_campaign(tmp_path: Path, lines: str, law: str) -> None:
    campaign = Campaign.load(write(tmp_path, ("parameter_bound = 0.6", f"parameter_bound = 0.6\n{lines}")))
    setting = campaign.plan.mechanism.setting
    assert type(setting.prior).__name__ == law
    assert setting.prior.radius == 0.6
    assert not any(promise.vacuous for promise in campaign.plan.guarantees if promise.claimable and
                   type(promise).__name__ in ("Privacy", "Truthfulness", "Participation"))
    assert campaign.offer()

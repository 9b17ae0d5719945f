"""The house rules: public names, docstrings, doctests, no asserts, light imports, no place of one machine."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import confide
from cases import fast, few
from confide._lazy import MOVED
from golden.golden_files import copied_home
from people.all_kinds import KINDS
from typed import stubs

ROOT = Path(__file__).parents[2]
SOURCE = Path(confide.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 650  # lines of one file


def name(path: Path) -> str:
    """The module's dotted name."""
    parts = ("confide", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MIGRATIONS = SOURCE / "campaign" / "store" / "migrations"
OTHERS = {SOURCE / "__main__.py", MIGRATIONS / "env.py", *MIGRATIONS.glob("versions/*.py")}
"""What no import may run: the command line's own start, and files that only Alembic can run."""

IMPORTED = [path for path in FILES if path not in OTHERS]
PACKAGES = [path for path in FILES if path.name == "__init__.py"]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# ---- public names


def listed(tree: ast.Module) -> list[str]:
    """The literal `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(item) for item in ast.literal_eval(node.value)]
    return []


def imported(nodes: list[ast.stmt]) -> set[str]:
    return {alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def lazy(tree: ast.Module) -> list[str] | None:
    """The public names behind the call of `exports`; None where there is none."""
    for node in tree.body:
        value = getattr(node, "value", None)
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "exports":
            modules = ast.literal_eval(value.args[1])
            packages = next((ast.literal_eval(k.value) for k in value.keywords if k.arg == "packages"), ())
            return [*(each for names in modules.values() for each in names if not each.startswith("_")), *packages]
    return None


@pytest.mark.parametrize("path", PACKAGES, ids=name)
def test_a_package_lists_its_public_names(path: Path) -> None:
    tree = parsed(path)
    behind = lazy(tree)
    module = importlib.import_module(name(path))
    public = listed(tree) if behind is None else module.__all__
    assert len(set(public)) == len(public)
    if behind is not None:
        assert public == sorted(behind)
        assert dir(module) == (public or sorted(MOVED[name(path)]))  # one with old names alone lists these
        assert not listed(tree)
    elif public:
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert set(public) <= defined | (imported(tree.body) - {"annotations"})
    for each in public:
        assert getattr(module, each) is not None
    with pytest.raises(AttributeError, match="nowhere"):
        module.nowhere  # noqa: B018


@pytest.mark.parametrize("path", sorted(stubs.packages()), ids=name)
def test_a_stub_says_what_its_package_exports(path: Path) -> None:
    """`.venv/bin/python tests/typed/stubs.py` writes them anew."""
    assert path.with_suffix(".pyi").read_text(encoding="utf-8") == stubs.stub(path)


def test_there_is_no_other_stub() -> None:
    assert sorted(SOURCE.rglob("*.pyi")) == sorted(path.with_suffix(".pyi") for path in stubs.packages())


def test_a_public_name_leads_to_its_module() -> None:
    """Asking a package for a name gives the object of the module that defines it."""
    assert confide.Outcome is importlib.import_module("confide.contract.outcome").Outcome
    assert confide.privacy.noise.Noise is confide.Noise
    assert confide.contract.kind is importlib.import_module("confide.contract.kinds").kind


def test_no_module_takes_the_place_of_a_public_name() -> None:
    """Importing a module puts it into its package, over whatever a lazy name has left there."""
    for path in PACKAGES:
        behind = lazy(parsed(path))
        if behind is not None:
            assert not set(behind) & {each.stem for each in path.parent.glob("*.py")}, name(path)


def test_what_a_module_lists_it_has() -> None:
    """All in one test: a thousand small ones would take longer to be counted than to be run."""
    missing = []
    for path in IMPORTED:
        module = importlib.import_module(name(path))
        missing += [f"{name(path)}.{each}" for each in listed(parsed(path)) if not hasattr(module, each)]
    assert missing == []


# ---- light imports

HEAVY = ["opendp", "flint", "scipy", "altair", "vl_convert", "pyarrow", "numpy", "numba", "pydantic", "duckdb", "ibis",
         "rich", "sqlalchemy", "alembic", "cryptography", "highspy", "pandas", "jsonschema", "scipy.special",
         "scipy.stats"]


def loaded(code: str) -> set[str]:
    """Which heavy packages a fresh interpreter holds after some code."""
    show = f"import json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", f"{code}\n{show}"], capture_output=True, text=True,
                          check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_importing_confide_loads_nothing_heavy() -> None:
    assert loaded("import confide; dir(confide); confide.__version__") == set()


def test_mechanisms_load_nothing_of_campaigns() -> None:
    """Tables of campaign files and of the service are read by pydantic, which takes 8 MB."""
    families = ("privacy", "regression", "market", "acquisition", "release", "allocation", "programs", "search",
                "channels")
    code = "\n".join(("import confide",
                      *(f"[getattr(confide.{name}, each) for each in confide.{name}.__all__]" for name in families)))
    assert not loaded(code) & {"pydantic", "rich", "sqlalchemy", "altair"}


def test_the_help_loads_no_numbers() -> None:
    code = "\n".join(("import sys", "from confide.cli import main", "sys.argv = ['confide', '--help']",
                      "try:", "    main()", "except SystemExit:", "    pass"))
    assert loaded(code) <= {"rich", "pydantic"}  # parts of the command line itself


NEVER_IN_A_PLAN = {"opendp", "altair", "vl_convert", "duckdb", "ibis", "sqlalchemy", "alembic", "cryptography",
                   "highspy", "pandas", "jsonschema"}
"""What the plan of no kind needs on a new installation, which has no store and no keys."""
NOT_IN_ITS_PLAN = {"bits": {"numba"}, "bits-pair": {"numba"}, "bits-unknown-costs": {"numba"}, "program": {"numba"},
                   "queries": {"numba"}, "regression": {"numba"}, "search": {"numba", "scipy.special"}}
"""Kind -> what the plan of its template does not need, either."""


def verb(*arguments: str) -> str:
    """The code of a verb's process."""
    return "\n".join(("import sys", "from confide.cli import main", f"sys.argv = ['confide', *{list(arguments)!r}]",
                      "try:", "    main()", "except SystemExit as ended:",
                      "    assert ended.code in (0, 3), ended.code"))


@pytest.mark.parametrize("kind", few(KINDS, set(KINDS) - {"mean", "program", "queries", "search"}))
def test_a_plan_loads_what_it_needs_alone(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "home"))
    file = tmp_path / "made.toml"
    file.write_text(confide.contract.kind(kind).template, encoding="utf-8")
    found = loaded(verb("plan", str(file)))
    assert {"numpy", "pydantic"} <= found
    assert not found & (NEVER_IN_A_PLAN | NOT_IN_ITS_PLAN.get(kind, set()))


def test_a_pack_is_verified_without_a_database(tmp_path: Path) -> None:
    found = loaded(verb("verify", str(ROOT / "tests/golden/made_by_9376621e/packs/bits_illness")))
    assert "cryptography" in found
    assert not found & {"sqlalchemy", "alembic", "opendp", "numba"}


LISTS = ("ledger", "campaigns", "claims")
OF_COMMANDS = {"rich", "pydantic"}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_needs_no_numbers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "home"))
    assert loaded(verb(name)) <= OF_COMMANDS


def test_a_list_of_a_store_needs_its_database_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIDE_HOME", str(copied_home("home", tmp_path / "home").folder))
    loaded(verb("campaigns"))  # brings the store up to date
    assert loaded(verb("campaigns")) == OF_COMMANDS | {"sqlalchemy"}
    # Some of its budgets are converted from rho to epsilon, with proved bounds.
    assert loaded(verb("ledger")) == OF_COMMANDS | {"sqlalchemy", "flint"}


def test_a_channel_needs_no_laws_of_scipy(tmp_path: Path) -> None:
    file = tmp_path / "survey.json"
    file.write_text(json.dumps({"format": 1, "title": "A survey", "rows": 1000, "prior": [0.6, 0.3, 0.1], "response": {
        "letters": ["never", "sometimes", "often"], "truth": 0.7, "otherwise": "another"}}), encoding="utf-8")
    found = loaded(verb("channel", str(file)))
    assert {"numpy", "scipy"} <= found
    assert "scipy.stats" not in found


# ---- what every module keeps


def test_what_every_module_keeps() -> None:
    broken = []
    for path in FILES:
        tree = parsed(path)
        if not ast.get_docstring(tree):
            broken.append(f"{name(path)} has no docstring")
        broken += [f"{name(path)}:{node.lineno} asserts: checks are exceptions"
                   for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST:
            broken.append(f"{name(path)} has {lines} lines, more than {LONGEST}")
    assert broken == []


WHOLE_AUDITS = {"confide.programs.audited", "confide.release.audited_games"}
"""Their examples hold a whole mechanism against everything that it promises."""

EXAMPLES = sorted((name(path) for path in IMPORTED if ">>>" in path.read_text(encoding="utf-8")),
                  key=WHOLE_AUDITS.__contains__)


@pytest.mark.parametrize("module", fast(len(EXAMPLES) - len(WHOLE_AUDITS), EXAMPLES))
def test_examples_in_docstrings(module: str) -> None:
    found = importlib.import_module(module)
    results = doctest.testmod(found, report=False)
    assert results.failed == 0


def test_no_example_is_skipped() -> None:
    assert [name(path) for path in FILES if "doctest: +SKIP" in path.read_text(encoding="utf-8")] == []


def test_random_numbers_come_from_one_function() -> None:
    """ruff and import-linter hold this too; here it is visible without them."""
    banned = re.compile(r"\b(?:np|numpy)\.random\b|\bos\.(?:urandom|getrandom)\b"
                        r"|^\s*(?:import|from) (?:random|secrets)\b", re.MULTILINE)
    draws = SOURCE / "privacy" / "noise"
    assert [name(path) for path in FILES if draws not in path.parents and banned.search(path.read_text("utf-8"))] == []


# ---- no place of one machine

PLACES = re.compile("|".join([
    *(f"(?<![\\w./~-])/{folder}/" for folder in ("work", "tmp", "root", "home", "Users", "mnt", "venv")),
    *(re.escape(host) for host in ("pypi" ".org", "python" "hosted.org", "anaconda" ".org", "npmjs" ".com",
                                   "crates" ".io", "hugging" "face.co")),
    r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d+",
]))


MARKS = ("/work", "/tmp", "/root", "/home", "/Users", "/mnt", "/venv", "pypi", "python" "hosted", "anaconda", "npmjs",
         "crates", "hugging")


def tracked() -> list[Path]:
    """Files that belong to the repository, new ones included."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_file_names_a_place_of_one_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    files = tracked()
    assert ROOT / "pyproject.toml" in files
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if not any(mark in text for mark in MARKS) and re.search(r"\.\d{1,3}:\d", text) is None:
            continue  # no place is without one of them, and large tables are looked through quickly
        found += [f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(text.splitlines(), 1) if PLACES.search(line)]
    assert found == []


def test_the_pattern_knows_places() -> None:
    for text in ("/" + "tmp/x", 'open("/' + 'work/y")', "https://pypi" + ".org/simple", "10.0.0." + "1:8080"):
        assert PLACES.search(text)
    for text in ("a/tmp/b", "out/work/x", "version 1.2.3", "./home/x"):
        assert not PLACES.search(text)


# ---- checks hold without asserts

OPTIMISED = """
from confide.contract import InvalidInput
from confide.contract.checks import fraction, positive, whole
from confide.contract.encoding import decode, encode
from confide.tables.roles import Category, Numeric

refused = 0
for attempt in (
    lambda: positive("epsilon", -1.0), lambda: fraction("delta", 2.0), lambda: whole("people", 1.5),
    lambda: Numeric(column="age", lower=2, upper=1), lambda: Category(column="sex", levels=("a",)),
    lambda: encode(object(), {}), lambda: decode({"type": "Popen"}, {}, {}),
):
    try:
        attempt()
    except InvalidInput:
        refused += 1
print(__debug__, refused)
"""


def test_checks_hold_without_asserts() -> None:
    command = [sys.executable, "-O", "-W", "error", "-c", OPTIMISED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "7"]


def test_test_files_have_names_of_their_own() -> None:
    """Outside of packages, two files of one name are one module."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name not in ("conftest.py", "__init__.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []

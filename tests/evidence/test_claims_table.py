"""The table of claims over all families: complete beside the sources and their errata, readable, and verifiable."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, get_args

import pytest

import confide
from confide.contract import ConfideDeprecationWarning, InvalidInput
from confide.evidence import Recomputed, claims, claims_markdown, claims_table, read_claims, verify_claims
from confide.evidence.claim import Verdict, rows_of_text

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ROWS = {row.id: row for row in claims()}
STATEMENTS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "numbered_statements.toml").read_text(encoding="utf-8"))
ERRATA: dict[str, dict[str, Any]] = tomllib.loads(
    Path(claims_table.__file__).with_name("errata.toml").read_text(encoding="utf-8"))

MISSING: frozenset[str] = frozenset()
"""Numbered statements and errata that no row checks yet. This set may shrink, and must never grow."""

LISTED = {"Wu 2017": 127, "Wang 2016": 35, "Fallah et al. 2022": 8, "Cummings et al. 2015": 23}
ERRATA_OF = {"privacy_notions": 10, "data_market": 9, "two_part_acquisition": 9, "truthful_regression": 17,
             "query_release": 17, "allocation": 11, "convex_programs": 16, "targeted_search": 10}


# ---- complete


@pytest.mark.parametrize("module", claims_table._MODULES)
def test_rows_are_read_as_from_the_whole_module(module: str) -> None:
    text = (Path(claims_table.__file__).parent / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    short = claims_table._without_bodies(text)
    assert len(short.splitlines()) == len(text.splitlines())
    whole = tuple(rows_of_text(text, module))
    assert whole
    assert tuple(rows_of_text(short, module)) == whole


def named(name: str, sources: str) -> bool:
    """Whether sources name a statement: alone, in a list such as Theorems 4.5.4 and 4.1.2, or in 3 to 6."""
    kind, number = name.partition(",")[0].split()
    listed = re.findall(rf"\b{kind}s? ((?:[\d.]*\d(?:, | and )?)+)", sources)
    spans = re.findall(rf"\b{kind}s (\d+) to (\d+)", sources)
    return any(number in re.findall(r"\d+(?:\.\d+)*", each) for each in listed) or any(
        int(low) <= int(number) <= int(high) for low, high in spans)


@pytest.mark.parametrize("document", STATEMENTS)
def test_every_numbered_statement_has_its_row(document: str) -> None:
    statements = STATEMENTS[document]
    assert len(statements) == LISTED[document]
    for name, entry in statements.items():
        assert isinstance(entry["line"], int)
        assert len({"claims", "none"} & set(entry)) == (0 if f"{document}, {name}" in MISSING else 1), name
        for each in entry.get("claims", ()):
            assert ROWS[each].document == document, (name, each)
        assert set(entry) <= {"line", "claims", "through", "none"}
        assert all(entry.values()), name
        sources = " ".join(ROWS[each].statement for each in entry.get("claims", ()))
        assert "none" in entry or "through" in entry or named(name, sources), name
    lines = [entry["line"] for entry in statements.values()]
    assert lines == sorted(lines)


@pytest.mark.parametrize("document", STATEMENTS)
def test_what_a_row_names_is_listed(document: str) -> None:
    """A number that a row's source names is on the list, so that none can be checked and forgotten there."""
    kinds = "Theorem|Lemma|Corollary|Claim|Proposition|Fact|Remark|Example|Algorithm|Table|Figure"
    for row in claims(document=document):
        for kind, number in re.findall(rf"\b({kinds}) (\d+(?:\.\d+)*)\b", row.statement):
            assert any(name == f"{kind} {number}" or name.startswith(f"{kind} {number},")
                       for name in STATEMENTS[document]), (row.id, kind, number)


@pytest.mark.parametrize("specification", ERRATA)
def test_every_erratum_has_its_row(specification: str) -> None:
    errata = ERRATA[specification]
    assert list(errata) == [str(k) for k in range(1, ERRATA_OF[specification] + 1)]
    for number, entry in errata.items():
        assert len({"claims", "none"} & set(entry)) == (0 if f"{specification} {number}" in MISSING else 1), number
        assert entry.get("claims", True), number
        for each in entry.get("claims", ()):
            assert each in ROWS, each


def test_nothing_is_missing_any_longer() -> None:
    assert len(MISSING) == 0
    assert set(STATEMENTS) == set(LISTED) == {row.document for row in ROWS.values()}
    assert set(ERRATA) == set(ERRATA_OF)


def test_every_module_of_claims_is_read() -> None:
    source = Path(confide.__file__).parent
    modules = {".".join(("confide", *path.relative_to(source).with_suffix("").parts)) for path in source.rglob("*.py")
               if "\nclaim = claims_of(" in path.read_text(encoding="utf-8")}
    assert {row.evidence.module for row in ROWS.values()} == modules
    assert len(ROWS) >= 420


def test_every_row_says_all() -> None:
    for row in ROWS.values():
        assert row.family == {"threshold": "market", "pairs": "market"}.get(row.part, row.part)
        assert row.pin is not None
        assert row.line > 0
        assert all(text.strip() == text for text in (row.id, row.statement, row.claim, row.correction))
        assert all((row.statement, row.claim, row.correction))


# ---- read


def test_rows_are_chosen() -> None:
    assert {row.verdict for row in claims()} == set(get_args(Verdict))
    assert {row.family for row in claims(family="market")} == {"market"}
    assert {row.id.partition("/")[0] for row in claims(family="market")} == {"market", "threshold", "pairs"}
    assert claims(document="fallah") == claims(document="Fallah et al. 2022") == claims(family="acquisition")
    false = claims(verdict="false", document="Cummings", search="RIDGE")
    assert {row.id for row in false} >= {"regression/lemma-6"}
    assert all(row.verdict == "false" and row.family == "regression" for row in false)
    assert claims("regression/lemma-6", family="market") == ()
    assert claims(search="no row says these words") == ()
    row, = claims("regression/lemma-6")
    assert str(row.evidence) == "confide.evidence.cummings_2015.claims.sensitivity_of_plain_ridge"
    assert (row.cost, row.command) == ("fast", "confide claims regression/lemma-6 --verify")


@pytest.mark.parametrize(("asked", "reported"), [
    ({"name": "regression/lemma-66"}, "did you mean 'regression/lemma-6'"),
    ({"family": "markets"}, "did you mean 'market'"),
    ({"family": "zoo"}, "known: channels, market, threshold"),
    ({"verdict": "wrong"}, "known: holds, holds-with-correction, false"),
    ({"document": "W"}, "several documents; known: Wang 2016"),
    ({"document": "Bernstein"}, "no document; known: Wang 2016"),
])
def test_what_is_not_there_is_bad_input(asked: dict[str, str], reported: str) -> None:
    with pytest.raises(InvalidInput, match=reported):
        claims(**asked)


# ---- verified

MODULE = '''
from confide.evidence import Recomputed, claims_of

claim = claims_of("Doe 2020", family="zoo")
CALLS = []

@claim(
    id="zoo/quick", statement="Theorem 1", line=7, verdict="holds",
    claim="Half of it.",
    correction="The same.",
)
def half():
    return Recomputed("holds", 0.5, 0.5)

@claim(
    id="zoo/long", statement="Theorem 2", line=9, verdict="false", pinned=(0.1, 0.333), slow=("2026-02-03", 1_234.0),
    claim="A tenth | of *it*.",
    correction="A third.",
)
def third():
    CALLS.append(1)
    return Recomputed("holds-with-correction", 0.1, 1 / 3)
'''

TABLE = '''
document = "Doe 2020"
modules = ["proof"]

[[claim]]
id = "zoo/quick"
statement = "Theorem 1"
line = 7
claim = "Half of it."
verdict = "holds"
ours = "The same."
evidence = "half"

[[claim]]
id = "zoo/long"
statement = "Theorem 2"
line = 9
claim = "A tenth | of *it*."
verdict = "false"
ours = "A third."
evidence = "third"
slow = true
measured = { claimed = 0.1, found = 0.333, day = 2026-02-03, seconds = 1_234.0 }
'''

PROOF = '''
from confide.evidence import Recomputed

CALLS = []

def half():
    return Recomputed("holds", 0.5, 0.5)

def third():
    CALLS.append(1)
    return Recomputed("holds-with-correction", 0.1, 1 / 3)
'''


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package outside confide with a table of its own; its long evidence no longer says what the table does."""
    package = tmp_path / "zoo_of_claims"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "proof.py").write_text(MODULE)
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint(name="zoo", value="zoo_of_claims", group="confide.claims")
    monkeypatch.setattr(claims_table, "entry_points", lambda group: [entry] if group == "confide.claims" else [])
    claims_table._table.cache_clear()
    yield package
    monkeypatch.undo()
    claims_table._table.cache_clear()


def test_another_package_adds_its_claims(zoo: Path) -> None:
    quick, long = claims(family="zoo")
    assert (quick.pin, quick.correction, str(long.evidence)) == (None, "The same.", "zoo_of_claims.proof.third")
    assert (quick.cost, long.cost) == ("fast", "slow")
    assert long.command == "confide claims zoo/long --verify --slow"
    assert len(claims()) == len(ROWS) + 2
    page = claims_markdown(claims(document="doe"))
    assert "| Doe 2020 | 1 | 0 | 1 | 0 | 2 |" in page
    assert "A tenth \\| of \\*it\\*." in page
    assert "measured on 2026-02-03 in 1,234 s by `confide claims zoo/long --verify --slow`" in page


def test_long_evidence_is_cited_and_recomputed_on_request(zoo: Path) -> None:
    rows, reported = claims(family="zoo"), []
    quick, long = verify_claims(rows, progress=lambda done, total: reported.append((done, total)))
    assert reported == [(0, 2), (1, 2), (2, 2)]
    assert (quick.recomputed, quick.changed, quick.found) == (True, False, 0.5)
    assert (long.recomputed, long.changed, long.found, long.seconds) == (False, False, 0.333, 1234.0)
    calls = import_module("zoo_of_claims.proof").CALLS
    assert calls == []
    again = verify_claims(rows, slow=True)[1]
    assert calls == [1]
    assert (again.recomputed, again.changed, again.verdict) == (True, True, "holds-with-correction")
    assert again.found == pytest.approx(1 / 3)


@pytest.mark.parametrize(("old", "new", "reported"), [
    ("line=7, ", "", "has claim, correction, id, statement, verdict"),
    ("line=7, ", "line=7, note=1, ", "has claim, correction, id, line, note"),
    ('"holds"', '"true"', "'true' is no verdict"),
    ('"holds"', "VERDICT", "line 8: .*must be written out"),
    ("pinned=(0.1, 0.333), ", "", "is slow, but has no stored figures"),
    ("def half()", "def half(", "cannot be read"),
    ("zoo/quick", "regression/lemma-6", "regression/lemma-6 stands twice"),
])
def test_a_bad_row_is_refused(zoo: Path, old: str, new: str, reported: str) -> None:
    assert old in MODULE
    (zoo / "proof.py").write_text(MODULE.replace(old, new))
    with pytest.raises(InvalidInput, match=reported):
        claims()


def test_a_decorator_refuses_what_the_table_refuses(zoo: Path) -> None:
    (zoo / "proof.py").write_text(MODULE.replace('"holds"', '"true"'))
    with pytest.raises(InvalidInput, match="'true' is no verdict"):
        import_module("zoo_of_claims.proof")


# ---- tables of confide 0.1


def test_a_table_of_another_package_is_read(zoo: Path) -> None:
    decorated = claims(family="zoo")
    (zoo / "proof.py").write_text(PROOF)
    (zoo / "claims.toml").write_text(TABLE)
    claims_table._table.cache_clear()
    read = claims(family="zoo")
    assert read == decorated
    (zoo / "claims.toml").write_text(TABLE.replace('modules = ["proof"]', 'modules = ["proof", "gone"]'))
    with pytest.raises(InvalidInput, match="no module 'gone'"):
        read_claims("zoo", "zoo_of_claims")


def test_the_old_place_of_findings_works() -> None:
    from confide.contract import claims as place

    with pytest.warns(ConfideDeprecationWarning, match=r"'contract.claims.Finding' is called .*\.Recomputed' now"):
        assert place.Finding is Recomputed
    with pytest.raises(AttributeError):
        _ = place.NoSuchName


@pytest.mark.parametrize(("old", "new", "reported"), [
    ('document = "Doe 2020"', "", "no document and modules"),
    ('modules = ["proof"]', "", "no document and modules"),
    ('modules = ["proof"]', 'modules = ["gone"]', "gone"),
    ("line = 7\n", "", "has claim, evidence, id, ours"),
    ("line = 7\n", "line = 7\nnote = 1\n", "has claim, evidence, id, line, note"),
    ('"holds"', '"true"', "'true' is no verdict"),
    ('"half"', '"hafl"', "did you mean 'half'"),
    ("slow = true\n", "", "only one of slow and its stored figures"),
    ("[[claim]]", "[[claim", "cannot be read"),
    ("seconds = 1_234.0", "hours = 1", "stored figures"),
])
def test_a_bad_table_is_refused(zoo: Path, old: str, new: str, reported: str) -> None:
    (zoo / "proof.py").write_text(PROOF)
    (zoo / "claims.toml").write_text(TABLE.replace(old, new))
    with pytest.raises(InvalidInput, match=reported):
        read_claims("zoo", "zoo_of_claims")


def test_a_package_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_claims("zoo", "no_such_package_at_all")


# ---- the page


def test_the_page_in_the_docs_is_up_to_date() -> None:
    written = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert written == claims_markdown(claims()), "rm docs/claims.md && confide claims --write docs/claims.md"


def test_the_page_has_every_row() -> None:
    page = claims_markdown(claims())
    cells = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(cells) == len(ROWS)
    # An escaped bar stands in a cell, any other one ends it.
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in cells)
    assert page.count("\n## ") == 2 + len(STATEMENTS)


def test_the_page_has_every_erratum() -> None:
    index = claims_markdown(claims()).partition("## Errata")[2].partition("\n## ")[0]
    for specification, entries in ERRATA.items():
        part = index.partition(f"### `{specification}`")[2].partition("\n### ")[0]
        assert [line.split()[1] for line in part.splitlines() if re.match(r"\| \d", line)] == list(entries)
        for entry in entries.values():
            assert all(f"`{each}`" in part for each in entry.get("claims", ()))
    assert "### `data_market`" not in claims_markdown(claims(family="search"))

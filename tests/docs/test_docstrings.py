"""Public docstrings of `src/confide` open with a whole sentence or a summary, and use the words of today.

The files are parsed and never imported. What is looked at: every module, and every class, function, method and property
whose name has no leading underscore and that stands in no function.

The summary is the first sentence of a docstring. PEP 257's forms pass: a whole sentence, an imperative ("Draw the
noise."), a noun phrase ("The noise of one round."). It begins with a capital letter or a code literal, so a shape comes
later ("The weights, shape (k,)."), and it ends with a period, a question mark or a colon. "Whether" passes where a
description of a yes or no follows, and "How far" or "How many" as the name of a measure. "This" passes in no place at
all: it names nothing. A sentence that begins with a preposition or a conjunction has a comma, and goes on ("Once all
are paid, erase the rest."); one that begins with "of" passes never. "One run" is a number, and "One that runs" is not.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

from house.test_vocabulary import parts
from retired_words import IN_DOCSTRINGS, PROSE, VOCABULARY, WALKS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "confide"

NOT_YET: dict[str, int] = {}
"""Package -> how many violations are left. A number falls to nothing and never rises; a clean package is not here."""

PRONOUNS = ("it", "its", "they", "them", "their", "she", "her", "he", "him", "his", "who", "whom", "whoever", "what",
            "whatever", "whose", "which", "whichever", "that", "those", "these", "this", "such", "i", "we", "us", "our",
            "you", "your", "mine", "ours", "hers", "theirs", "yours", "others", "there", "here", "themselves",
            "oneself", r"one (?:that|who|which|whose|of|in|on|with|without|for|from|by|to|is|has|at|as|where)",
            r"one[,.:;]",
            r"(?:both|some|none|all|any|each|many|most|several|few) of (?:them|these|those|it|which|whom)")
FRAGMENTS = ("of", "to", "for", "from", "by", "with", "as", "and", "or", "but", "where", "so", "than", "in words",
             "not", "nor", "also", "then", "thus", "hence", "ditto", "same")
OPENINGS = ("in", "on", "at", "if", "when", "while", "after", "before", "until", "unless", "although", "though",
            "because", "since", "once", "without", "within", "under", "over", "above", "below", "between", "beyond",
            "among", "against", "along", "across", "about", "around", "behind", "through", "throughout", "during",
            "despite", "except", "per", "via", "like", "unlike", "near", "towards", "toward", "into", "onto", "upon",
            "instead", "even")
"""First words of a phrase that is no sentence until something follows a comma."""
ARGUMENTS = ("of", "whose", "what", "whatever", "who", "whom", "whoever", "it", "they", "she", "he", "which", "those",
             "so many")
ENDS = (".", "?", ":")
SECTIONS = ("Args:", "Attributes:")

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

RETIRED = {pattern: today for table in (PROSE, IN_DOCSTRINGS) for today, words in table.items() for pattern in words}
OTHERWISE = ("n", "beta", "gamma", "sigma",  # letters of formulas
             "coins", "deviation", "margins")  # of money, a number that a class takes, and tables
"""Words of `VOCABULARY` that docstrings may use for something else."""
NAMES = {word: today for today, words in VOCABULARY.items() for word in words
         if word[0] != "=" and word not in OTHERWISE}


def documented(tree: Documented) -> Iterator[Documented]:
    """A module, and what is public in it."""
    yield tree
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for each in tree.body:
        if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not each.name.startswith("_"):
            yield from documented(each)


def begins(text: str, words: tuple[str, ...]) -> str | None:
    """Of the words, which are patterns, the one that a text begins with."""
    found = (re.match(rf"{each}(?![\w'-])", text, re.IGNORECASE) for each in words)
    return next((each.group().lower() for each in found if each is not None), None)


def summary(docstring: str) -> str:
    """The first sentence.

    >>> summary("Draw e.g. noise of scale 0.5.  It is exact. So is its law.")
    'Draw e.g. noise of scale 0.5.'
    """
    whole = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=[.?])(?<!e\.g\.)(?<!i\.e\.) (?=[A-Z`(0-9])", whole, maxsplit=1)[0]


def of_summary(text: str) -> Iterator[str]:
    """What is wrong with a first sentence."""
    word = begins(text, PRONOUNS) or begins(text, FRAGMENTS)
    if word is not None:
        yield f"begins with {word!r}"
    opening = begins(text, OPENINGS)
    if opening is not None and re.search(r", \S+ \S", text) is None:
        yield f"begins with {opening!r} and has no main clause"
    if begins(text, ("whether",)) and len(text.split()) < 4:
        yield "begins with 'whether' and describes no yes or no"
    if re.match(r"[A-Z`]", text) is None:
        yield "begins with no capital letter and no code literal"
    if not text.endswith(ENDS):
        yield "ends with no period, question mark or colon"


def arguments(docstring: str) -> Iterator[tuple[int, str, str]]:
    """Line, name and text of each argument.

    >>> list(arguments("Add.\\n\\nArgs:\\n    one: the first\\n        of two.\\n    two: the other."))
    [(3, 'one', 'the first of two.'), (5, 'two', 'the other.')]
    """
    inside, found = False, list[list[str]]()
    for number, line in enumerate(docstring.splitlines()):
        if line and not line.startswith(" "):
            inside = line in SECTIONS
        elif inside and line.strip():
            named = re.match(r" {4}(\S[^:]*): (.*)", line)
            if named is not None:
                found.append([str(number), named[1], named[2]])
            elif found:
                found[-1][2] += f" {line.strip()}"
    return ((int(number), name, text) for number, name, text in found)


def identifiers(text: str) -> Iterator[str]:
    """All names in backticks, and outside of them the names that no word has: `held_back`, HiddenPart.

    >>> list(identifiers("A word, `a.b`, held_back and HiddenPart."))
    ['a', 'b', 'held_back', 'HiddenPart']
    """
    for code in re.findall(r"`([^`]+)`", text):
        yield from re.findall(r"[A-Za-z_]\w*", code)
    yield from re.findall(r"(?<![\w.])(?:\w+_\w+|\w*[a-z][A-Z]\w*)", re.sub(r"`[^`]+`", "", text))


def retired(text: str, package: str, own: Collection[str]) -> Iterator[str]:
    """The words of a line that are used no longer, also as parts of names. An argument is called as it is."""
    words = re.sub(r"`[^`]+`", "``", text)
    patterns = RETIRED | ({WALKS: "fixed-transcript audit"} if package == "audit" else {})
    for pattern, today in patterns.items():
        for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", words):
            if match.group() not in own:
                yield f"{match.group()!r} is {today}"
    for name in identifiers(text):
        inside = f"_{'_'.join(parts(name))}_"
        if name not in own:
            yield from (f"{word!r} of {name!r} is {today}" for word, today in NAMES.items() if f"_{word}_" in inside)


def prose(docstring: str) -> str:
    """A docstring without its examples."""
    return re.split(r"(?m)^\s*(?:Examples?:|>>> )", docstring, maxsplit=1)[0]


def faults(package: str, docstring: str) -> Iterator[tuple[int, str]]:
    """Line within a docstring, and what is wrong there."""
    first = summary(docstring)
    yield from ((0, f"{fault}: {first}") for fault in of_summary(first))
    own = {name for _, name, _ in arguments(docstring)}
    for line, name, text in arguments(docstring):
        word = begins(text, ARGUMENTS)
        if word is not None:
            yield line, f"argument begins with {word!r}: {name}: {text}"
    for line, text in enumerate(prose(docstring).splitlines()):
        yield from ((line, f"{fault}: {text.strip()}") for fault in retired(text, package, own))


def package(path: Path) -> str:
    """The package that a file belongs to, or the file."""
    return path.relative_to(SOURCE).parts[0]


@cache
def violations() -> tuple[tuple[str, str], ...]:
    """(package, "file:line: text") of all that is wrong."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for each in documented(ast.parse(path.read_text(encoding="utf-8"))):
            docstring = ast.get_docstring(each)
            if docstring is not None:
                found += [(package(path), f"{path.relative_to(ROOT)}:{each.body[0].lineno + line}: {fault}")
                          for line, fault in faults(package(path), docstring)]
    return tuple(found)


def test_clean_packages_stay_clean() -> None:
    assert [text for where, text in violations() if where not in NOT_YET] == []


def test_the_others_have_just_as_many_violations_as_are_listed() -> None:
    assert Counter(where for where, _ in violations() if where in NOT_YET) == NOT_YET


@pytest.mark.parametrize(("docstring", "count"), [
    ("The noise of one round.", 0), ("Draw the noise.", 0), ("Whether a file is private.", 0), ("`run`, resumed.", 0),
    ("How far a count may be off.", 0), ("The runs:\n\n- one\n- two", 0), ("Is it private?", 0),
    ("Of its runs.", 1), ("What it costs.", 1), ("It is private.", 1), ("(k,) weights.", 1), ("ln of a ratio.", 1),
    ("The noise", 1), ("Whether so.", 1), ("This is a run.", 1), ("Add.\n\nArgs:\n    one: of two.", 1),
    ("Add.\n\nArgs:\n    one: the first.\n    other: whose sum it is.", 1), ("A share, as she sees it.", 1),
    ("A share.\n\nThe reserve is held back.", 1), ("A share.\n\nExample:\n    >>> print('she')", 0),
    ("Its cost. He knows it.", 2), ("A `entry`.", 0), ("The `held_back` goods.", 1), ("A walk.", 0), ("Offer it.", 0),
    ("Format it.", 0), ("Add.\n\nArgs:\n    door: the door.", 0),
    *((f"A value of {name}.", 1) for name in (
        "OutOfReach", "HiddenPart", "DoorAudit", "`OutOfReach`", "`HiddenPart`", "`confide.audit.DoorAudit`",
        "`door_audit`", "`planted_bug`", "PlantedBug", "`told_run`", "told_run", "`stretching`", "`disguises`",
        "`veiled`", "`Nature`",
        "`hottest`", "`overhearing`", "`nat_price`", "`whole_crowds`", "`held_back`", "held_back", "`leaning`",
        "`walked_rows`", "`trivial`", "`beside`")),
    *((f"A value of {name}.", 0) for name in (
        "`coins`", "sigma_1", "`beta`", "NaN", "BetaLaw", "`supply`", "TargetUnreachable", "nature",
        "a trivial bound")),
])
def test_what_is_a_violation(docstring: str, count: int) -> None:
    assert len(list(faults("search", docstring))) == count


BAD = ("In the run.", "At most one run.", "If it runs.", "Without noise.", "Not a run.", "On the run of others.",
       "When it runs.", "Because they run.", "Under the model.", "Between two runs.", "Per person.",
       "Once all are paid.", "In the run, noise.", "Of the runs, the first one counts.", "One that runs.",
       "One of the runs that ended.", "One.", "Such a run.", "We draw.", "You draw.", "I draw.", "Our noise.",
       "Your noise.", "There is a run.", "Others.",
       "Here it runs.", "Both of them.", "None of these.", "Same as above.", "Also a run.", "Then it runs.", "Ditto.",
       "Mine.", "Themselves.")
GOOD = ("Once all are paid, erase the rest.", "In each round, draw noise.", "If a run fails, return None.", "One run.",
        "One person's noise, in nats.", "One-way tables.", "Both ends of each pair.", "Each round's noise.",
        "None, because nothing is paid.", "No record.", "Inputs of the run.", "Iterate once.", "Notes of a run.",
        "Weights.", "Overlaps.", "Some rows of a table.", "All rows.", "Such-and-such.", "`in_order` rows.",
        "Atoms of a law.", "Likelihood of a run.", "Least error.", "Yours-truly.", "Per-person noise.")


@pytest.mark.parametrize("sentence", BAD)
def test_a_fragment_or_a_pronoun_is_a_violation(sentence: str) -> None:
    assert len(list(of_summary(sentence))) == 1
    assert list(faults("search", f"{sentence}\n\nMore about the run."))


@pytest.mark.parametrize("sentence", GOOD)
def test_a_whole_sentence_and_a_noun_phrase_are_none(sentence: str) -> None:
    assert list(faults("search", sentence)) == []


def test_an_audit_is_called_no_walk() -> None:
    assert [fault for _, fault in faults("audit", "A walk.")] == ["'walk' is fixed-transcript audit: A walk."]


def test_much_is_looked_at() -> None:
    counted = Counter(package(path) for path in SOURCE.rglob("*.py")
                      for each in documented(ast.parse(path.read_text(encoding="utf-8"))) if ast.get_docstring(each))
    assert counted.total() > 6_000

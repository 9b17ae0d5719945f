"""The campaign file: a TOML document with all settings of a campaign. The whole file is public.

Every file has the keys `format = 1`, `kind` and `title`, and the table `[budget]`. The kind of the campaign defines all
other tables. An unknown key is an error that names the nearest known key, so a misspelt bound is never ignored.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError, field_validator

from confide.contract.digests import canonical, digest
from confide.contract.direction_marks import UNTURNED, character, check_directions
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.files import as_path, read_bytes
from confide.contract.kinds import CampaignPlan, Kind, RewordedKind, kind
from confide.contract.known_keys import MOST_PEOPLE, Keys
from confide.contract.outcome import FORMAT
from confide.contract.payout_terms import PayoutTerms
from confide.contract.words import did_you_mean
from confide.tables.roster import Roster

__all__ = ["HEAD_WORDS", "BudgetTable", "CampaignFile", "Planned", "load", "parse", "schema",
           "slot_of"]

HEAD_WORDS = FileWords()
"""Former names of keys and values in the part that all campaign files share: `[budget]` and the keys above all tables.
"""

_WORD = (r"[^\s\x00-\x20\x7f-\xa0\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f"
         r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]+")
"""Pattern of visible characters, from which the JSON schema builds the pattern for the name of a data set."""


class BudgetTable(Keys):
    """`[budget]`: the most that all campaigns on the data set may spend together.

    The first campaign on a data set fixes the budget. A later campaign may lower the budget, and never raise it.
    Nothing ever renews a budget.
    """

    data_set: str = Field(min_length=1, max_length=100, json_schema_extra={"pattern": f"^{_WORD}( {_WORD})*$"},
                          description="name of the data set in the ledger")
    epsilon: float = Field(gt=0, allow_inf_nan=False, description="total epsilon, in nats")
    delta: float = Field(default=0.0, ge=0, lt=1, description="total delta")
    rule: Literal["basic", "zcdp"] = Field(default="basic", description="rule that adds up the spends of campaigns")
    subject_epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False,
                                          description="epsilon of each person; by default that of the data set")
    subject_delta: float | None = Field(default=None, ge=0, lt=1,
                                        description="delta of each person; by default that of the data set")

    @field_validator("data_set")
    @classmethod
    def _one_spelling(cls, name: str) -> str:
        """Normalise the name, since two names that look alike would be two budgets for the same people."""
        name = unicodedata.normalize("NFKC", name)
        if not re.fullmatch(f"{_WORD}( {_WORD})*", name) or not name.isprintable():
            raise ValueError(f"{_misspelt(name)}; must be printable, with single spaces only between words")
        return name


def _misspelt(name: str) -> str:
    """Description of the faults in the name of a data set: misplaced blanks, and invisible letters."""
    found = [what for what, wrong in (
        ("begins with a blank", name[:1].isspace()), ("ends with a blank", name[-1:].isspace()),
        ("has two blanks in a row", re.search(r"\S\s{2,}\S", name) is not None)) if wrong]
    invisible = next((each for each in name if each != " " and (
        not each.isprintable() or not re.fullmatch(_WORD, each))), None)
    if invisible is not None:
        found.append(f"has a letter that does not show, {character(invisible)}")
    return " and ".join(found)


class _Head(Keys):
    format: Literal[1] = Field(description="of campaign files")
    kind: str = Field(description="kind of the campaign; `confide kinds` lists all kinds")
    title: str = Field(min_length=1, description="public title, which stands on every page")
    budget: BudgetTable


@dataclass(frozen=True, kw_only=True)
class CampaignFile:
    """A validated campaign file.

    Args:
        path: the path of the file.
        title: the campaign's public title.
        kind: the implementation of the campaign's kind.
        budget: the table `[budget]`: the most that all campaigns on the data set may spend together.
        config: the validated tables that the campaign's kind defines.
        text: the text of the file.
        document: the contents of the file as nested mappings, with the present names of all keys and values.
        words: the former names of keys and values that a file of this kind may still use.

    Attributes:
        name: the name of the file without its ending.
        folder: the folder that contains the file. Relative paths in the file start from this folder.
        digest: SHA-256 of the contents of the file, as 64 hexadecimal digits. Comments, white space and the order of
            keys do not change the digest. The digest uses the oldest name of each key, so a file that is rewritten with
            the present names stays the same campaign.
    """

    path: Path
    title: str
    kind: Kind
    budget: BudgetTable
    config: Any
    text: str
    document: Mapping[str, Any]
    words: FileWords = field(default_factory=FileWords)
    name: str = field(init=False)
    folder: Path = field(init=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        first = self.words.first(self.document)
        known = canonical(encode(json.loads(json.dumps(first, default=_plain)), {}))
        for key, value in {"name": self.path.stem, "folder": self.path.parent, "digest": digest(known)}.items():
            object.__setattr__(self, key, value)


def load(path: str | os.PathLike[str]) -> CampaignFile:
    """Read and validate a campaign file.

    Raises:
        InvalidInput: the file is unreadable, not TOML, or of another format; its kind or a key is unknown; a value is
            out of range; or a text has a character that turns the direction of the text around it. The message names
            the key.
    """
    path = as_path("campaign", path)
    there = path.absolute()
    if there.is_dir():
        raise InvalidInput("campaign", f"{there} is a folder", "name the campaign file in it")
    if not there.exists():
        raise InvalidInput("campaign", f"{there} does not exist",
                           "`confide kinds` lists all kinds, `confide init KIND` writes a file to start from")
    return parse(read_bytes("campaign", there), path)


def parse(data: bytes, path: Path, *, stored: bool = False) -> CampaignFile:
    """Validate the contents of a campaign file.

    Args:
        data: the bytes of the file.
        path: the path of the file, for messages and for relative paths in the file. The file need not exist.
        stored: whether the file is part of a pack or of an open campaign. Version 0.1.0 accepted texts with characters
            that turn the direction of the text around them, so a stored file may have them.

    Raises:
        InvalidInput: for the same reasons as in `load`, once the file is read.
    """
    there = path.absolute()
    try:
        text = data.decode("utf-8")
        document = tomllib.loads(text)
        json.dumps(document, default=_plain)  # everything below reads it as JSON
    except UnicodeDecodeError:
        raise InvalidInput("campaign", f"{there} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # also numbers and nestings that no reader can hold
        known = isinstance(error, tomllib.TOMLDecodeError)
        problem = str(error) if known else "a number or a nesting in it is larger than can be read"
        raise InvalidInput("campaign", f"{there} is not TOML: {problem}", _hint(problem) if known else "") from None
    if not document:
        raise InvalidInput("campaign", f"{there} has no content", "`confide init KIND` writes a file to start from")
    if "format" not in document:
        raise InvalidInput("format", "is missing", f"a campaign file starts with format = {FORMAT}")
    if type(document["format"]) is not int or document["format"] != FORMAT:
        raise InvalidInput("format", f"{document['format']!r} is unknown", f"this version reads format = {FORMAT}")
    if not isinstance(document.get("kind"), str):
        raise InvalidInput("kind", "is missing", "a campaign file names its kind; `confide kinds` lists them")
    implementation = kind(document["kind"])
    words = HEAD_WORDS | implementation.file_words if isinstance(implementation, RewordedKind) else HEAD_WORDS
    today = words.today(document)
    try:
        head, config = _tables(implementation, today)
    except InvalidInput as error:
        raise words.as_written(error, document) from None
    if not stored:
        check_directions(document)
    return CampaignFile(path=path, title=head.title, kind=implementation, budget=head.budget, config=config, text=text,
                        document=today, words=words)


def _tables(kind: Kind, document: Mapping[str, Any]) -> tuple[_Head, Any]:
    """The tables that all campaign files share, and the tables of the kind, both validated."""
    own, theirs = set(_Head.model_fields), set(kind.config.model_fields)
    for key in document:
        if key not in own | theirs:
            if isinstance(document[key], dict):
                raise _no_table(key, [each for model in (_Head, kind.config)
                                      for each, what in model.model_fields.items() if _models(what.annotation)])
            raise InvalidInput(key, "is not a known key", _nearest(key, own | theirs))
    head = _validated(_Head, {k: v for k, v in document.items() if k in own})
    config = _validated(kind.config, {k: v for k, v in document.items() if k in theirs})
    _check_people(config)
    return head, config


_QUOTES = "a text begins and ends with a quote, on one line"
_LINES = "each line is a [table], a key = value, or a # comment"
_HINTS = {
    r"character '\n'": _QUOTES, "Unterminated string": _QUOTES, "Expected '='": _LINES, "Invalid statement": _LINES,
    "Unclosed array": "a list ends with ]", "end of a table": "a table's name stands between [ and ]",
    "twice": "write each table once, or several tables of one name as [[name]]",
    "Cannot overwrite": "write each key once in its table",
    "Expected newline": "write one value on a line, begin a comment with #, and use a point for decimals",
    r"Unescaped '\'": "write a backslash twice, or put the text between single quotes"}
"""Mapping from a part of a TOML reader's error message to a hint about the likely mistake."""


def _hint(problem: str) -> str:
    return next((hint for words, hint in _HINTS.items() if words in problem),
                "put texts in quotes, and lists between [ and ]; `confide init KIND` writes a file for comparison")


def _check_people(config: Any) -> None:
    """Check that `people.count` is not too large, for kinds of other packages too."""
    count = getattr(getattr(config, "people", None), "count", 0)
    if isinstance(count, int) and count > MOST_PEOPLE:
        raise InvalidInput("people.count", f"is {count:,}", f"must be at most {MOST_PEOPLE:,}")


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of the campaign files of one kind."""
    implementation = kind(name)
    out: dict[str, Any] = implementation.config.model_json_schema()
    head = _Head.model_json_schema()
    out.setdefault("$defs", {}).update(head.get("$defs", {}))
    out["properties"] = {**head["properties"], **out.get("properties", {})}
    out["required"] = [*head["required"], *out.get("required", [])]
    out["properties"]["kind"] = {"const": name}
    out["title"] = f"confide campaign of kind {name}"
    out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    _limit_texts(out)
    return out


def _limit_texts(part: Any) -> None:
    """Add the pattern of `check_direction` to every text of a schema that has no pattern of its own."""
    if isinstance(part, dict) and part.get("type") == "string" and not part.keys() & {"pattern", "enum", "const"}:
        part["pattern"] = UNTURNED
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _limit_texts(each)


def _nearest(key: str, known: Collection[str]) -> str:
    return did_you_mean(key, known, f"known: {', '.join(sorted(known))}", cutoff=0.5)


def _no_table(key: str, known: Collection[str]) -> InvalidInput:
    """The error for a table with an unknown name; it names the nearest known table, even if the two names are very
    different.
    """
    (near,) = get_close_matches(key, known, n=1, cutoff=0.0)
    hint = did_you_mean(key, known, f"the nearest is {near!r}")
    return InvalidInput(key, "is not a known table", f"{hint} (known: {', '.join(sorted(known))})")


def _plain(value: Any) -> str:
    """A date or time of TOML, as text."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _validated(model: type[BaseModel], values: dict[str, Any]) -> Any:
    """The validated model of some tables. Validation is strict: TOML has types, so a number in quotes is a mistake."""
    try:
        return model.model_validate_json(json.dumps(values, default=_plain), strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        named = next((each for each in problems if isinstance(each.get("ctx", {}).get("error"), InvalidInput)), None)
        if named is not None:  # of keys of several tables: the check itself names the key
            raise named["ctx"]["error"] from None
        found = [_Problem.of(model, values, each) for each in problems]
    # Of a table that may be one of several kinds, the kind whose keys fit best is meant: then the one with the most of
    # its required keys, and the fewest problems. Of its problems, a key that nobody knows explains the missing one.
    places = {(each.choice, each.alternative, each.path[: len(each.choice) + 1], each.unknown or each.missing,
               each.required) for each in found}
    misfits: dict[tuple[Any, str], tuple[int, int, int]] = {}
    for choice, alternative, _, of_keys, required in places:
        keys, _, all_ = misfits.get((choice, alternative), (0, 0, 0))
        misfits[choice, alternative] = keys + of_keys, -required, all_ + 1
    least = {choice: min(each for (c, _), each in misfits.items() if c == choice) for choice, _ in misfits}
    fitting = [each for each in found
               if not each.choice or misfits[each.choice, each.alternative] == least[each.choice]]
    first = next((each for each in fitting if each.unknown), fitting[0])
    # A key that no kind knows may be a misspelt one of any of them.
    known = [each.known for each in found if each.choice == first.choice and each.path == first.path and each.unknown]
    raise replace(first, known=set().union(first.known, *known)).error()


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """One complaint about a file.

    Args:
        path: the keys and positions in the document that lead to the fault.
        choice: the path of the table around the fault, where this table has several possible kinds; empty elsewhere.
        alternative: the kind of the table `choice` to which the complaint belongs.
        unknown: whether the fault is an unknown key.
        missing: whether the fault is a missing key.
        required: the number of required keys of the kind `alternative` that the file gives.
        known: the known keys of the table.
        elsewhere: the key and value with which the table would be of a kind that knows the unknown key, such as "method
            = 'auction'".
        text: description of the fault.
        limit: the allowed values, where the text does not state them.
    """

    path: tuple[int | str, ...]
    choice: tuple[int | str, ...]
    alternative: str
    unknown: bool
    missing: bool = False
    required: int = 0
    known: set[str]
    text: str
    limit: str = ""
    elsewhere: str = ""

    @classmethod
    def of(cls, model: type[BaseModel], values: Any, found: Any) -> _Problem:
        """Make a complaint from an error of pydantic, whose location is followed through the document. A part of the
        location that is not in the document is the name of an alternative.
        """
        here: Any = values
        annotation: Any = model
        path: tuple[int | str, ...] = ()
        choice: tuple[int | str, ...] = ()
        alternative, known, elsewhere, required = "", set[str](), "", 0
        for part in found["loc"]:
            if isinstance(here, dict) and (part in here or (found["type"] == "missing" and part is found["loc"][-1])):
                tables = _models(annotation)
                known = {key for table in tables for key in table.model_fields}
                annotation = next((t.model_fields[part].annotation for t in tables if part in t.model_fields), None)
                path, here = (*path, part), here.get(part)
            elif isinstance(here, list) and isinstance(part, int):
                path, here = (*path, part), here[part] if part < len(here) else None
            else:
                choice, alternative = (choice, alternative) if choice else (path, str(part))
                tables = _models(annotation)
                annotation = next((table for table in tables if part in (table.__name__, *_tags(table))), annotation)
                elsewhere = _elsewhere(str(found["loc"][-1]), tables)
                required = sum(key in here for table in _models(annotation) if isinstance(here, dict)
                               for key, what in table.model_fields.items() if what.is_required())
        if found["type"] in ("union_tag_invalid", "union_tag_not_found"):
            return cls._of_tag(found, path, choice, alternative, here, _models(annotation))
        text, limit = _said(found, str(path[-1]) if path else "")
        return cls(path=path, choice=choice, alternative=alternative, unknown=found["type"] == "extra_forbidden",
                   missing=found["type"] == "missing", required=required, known=known, text=text, limit=limit,
                   elsewhere=elsewhere)

    @classmethod
    def _of_tag(cls, found: Any, path: tuple[int | str, ...], choice: tuple[int | str, ...], alternative: str,
                here: Any, tables: list[type[BaseModel]]) -> _Problem:
        """The complaint about a table of several possible kinds whose tag is wrong or missing."""
        tag = found["ctx"]["discriminator"].strip("'")
        tags = [name for table in tables for name in get_args(table.model_fields[tag].annotation)]
        if tag in here:
            text, limit = f"{here[tag]!r} is unknown", _nearest(str(here[tag]), tags)
        else:
            near = [key for key in here if all(key not in table.model_fields for table in tables)]
            if near and (alike := get_close_matches(tag, near, n=1, cutoff=0.5)):
                return cls(path=(*path, alike[0]), choice=choice, alternative=alternative, unknown=True, known={tag},
                           text="")
            text, limit = "is missing", f"known: {', '.join(map(str, tags))}"
        return cls(path=(*path, tag), choice=choice, alternative=alternative, unknown=False, known=set(), text=text,
                   limit=limit)

    def error(self) -> InvalidInput:
        """The error that the reader of the file sees."""
        # Places in a list count from 1, as people do.
        steps = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in self.path)
        where = "".join(steps).removeprefix(".") or "campaign"  # what lies between tables is a fault of the whole
        if self.unknown and self.elsewhere:
            return InvalidInput(where, "is not a known key of this table", f"it belongs to {self.elsewhere}")
        if self.unknown:
            return InvalidInput(where, "is not a known key", _nearest(str(self.path[-1]), self.known))
        return InvalidInput(where, self.text, self.limit)


_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)


def _said(found: Any, key: str) -> tuple[str, str]:
    """Pydantic's complaint in words, and the allowed values where the complaint does not state them."""
    if found["type"] in ("too_short", "too_long"):
        short = found["type"] == "too_short"
        number = found["ctx"]["min_length" if short else "max_length"]
        what = key if key.endswith("s") and number > 1 else "of them" if number > 1 else ""
        many = {1: "one", 2: "two"}.get(number, f"{number:,}")
        given = found["ctx"]["actual_length"]  # None where counting stopped at the limit
        return f"{given:,} given" if given is not None else "too many given", (
            f"needs at {'least' if short else 'most'} {many} {what}".rstrip())
    given = found.get("input")
    shown = f" (got {given!r})" if isinstance(given, str | int | float | bool) else ""
    wanted = {"int_type": "a whole number", "float_type": "a number"}.get(found["type"])
    if wanted and isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        return f"{given!r} is a text", f"must be {wanted}, without quotes"
    text = str(found["msg"]).removeprefix("Value error, ").replace("an object", "a table")
    return text[:1].lower() + text[1:] + shown, ""


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The pydantic models inside an annotation such as `list[Model]`, `Model | None` or `Annotated[Model, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in getattr(annotation, "__args__", ()) for model in _models(inner)]


def _tags(table: type[BaseModel]) -> dict[str, str]:
    """Mapping from each word that selects one of several kinds of a table to the key that holds the word."""
    return {word: key for key, what in table.model_fields.items() if what.is_required()
            for word in get_args(what.annotation) if isinstance(word, str)}


def _elsewhere(key: str, tables: list[type[BaseModel]]) -> str:
    """The kinds of a table that have a key, in words."""
    named = [f"{by} = {word!r}" for table in tables if key in table.model_fields
             for word, by in list(_tags(table).items())[:1]]
    return " or ".join(named)


@dataclass(frozen=True, eq=False, repr=False)
class Planned:
    """A campaign file together with its plan.

    Args:
        file: the validated campaign file.
        kind: the file's own kind, which defines the campaign's records, results and pages.
        plan: the plan that the kind has made from the file.

    Attributes:
        held: whether a custodian holds the records. If so, nobody is invited, and nobody has a share of the result.
    """

    file: CampaignFile
    kind: Kind
    plan: CampaignPlan
    held: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", self.kind.codec(self.plan) is None)

    def __repr__(self) -> str:
        return f"<plan of {self.file.title!r}, {self.kind.name}, of {self.file.path}>"

    @property
    def ids(self) -> Sequence[str]:
        """The public list of the ids of all invited people; empty if a custodian holds the records."""
        return self.kind.identities(self.file.config)

    @property
    def terms(self) -> PayoutTerms:
        """The terms by which the campaign's shares become money.

        Raises:
            InvalidInput: the campaign pays nothing.
        """
        found = self.kind.payouts(self.plan)
        if found is None:
            raise InvalidInput("campaign", f"is of kind {self.kind.name!r}, which pays nothing",
                               "must be of a kind with payments")
        return found

    def record(self, identity: str) -> tuple[Any, int]:
        """A participant's record and index, from the data file that the campaign file names. In a campaign with a
        public list of ids, the index is the position of the participant's id in the list, counted from 0.

        Args:
            identity: the participant's id.
        """
        return self.kind.record(self.file.config, self.plan, self.file.folder, identity)


def slot_of(file: CampaignFile, identity: str) -> int:
    """A participant's slot: the position of their id in the public list of ids, counted from 0.

    Args:
        file: the campaign file.
        identity: the participant's id.

    Raises:
        InvalidInput: the id is not on the list, or the campaign has no list.
    """
    ids = file.kind.identities(file.config)
    if not ids:
        raise InvalidInput("id", f"{identity!r} is not on a public list",
                           "ask the custodian of the data, who has the records")
    return Roster.from_ids(ids).rank(identity)

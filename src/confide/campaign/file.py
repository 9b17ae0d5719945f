"""The campaign file: one TOML document that says everything about a campaign, all of it public.

It starts with `format = 1`, `kind` and `title`; the other tables belong to the kind. Unknown keys are errors that name
the nearest known key, so a misspelt bound can never be ignored.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from confide.contract.encoding import digest
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Kind, kind
from confide.contract.outcome import FORMAT

__all__ = ["BudgetTable", "CampaignFile", "load", "schema"]


class BudgetTable(BaseModel):
    """`[budget]`: what the ledger admits for this data set over all campaigns; fixed at the first of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data_set: str = Field(min_length=1, description="name of the data set in the ledger")
    epsilon: float = Field(gt=0, allow_inf_nan=False, description="total epsilon, in nats")
    delta: float = Field(default=0.0, ge=0, lt=1, description="total delta")


class _Head(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1]
    kind: str
    title: str = Field(min_length=1)
    budget: BudgetTable


@dataclass(frozen=True, kw_only=True)
class CampaignFile:
    """A validated campaign file.

    Args:
        path: where it was read from.
        title: the campaign's public title.
        kind: the kind's implementation.
        budget: the ledger's budget for the data set.
        config: the kind's own tables, validated.
        text: the file's text.
    """

    path: Path
    title: str
    kind: Kind
    budget: BudgetTable
    config: Any
    text: str

    @property
    def name(self) -> str:
        """Short name: the file's name without its ending."""
        return self.path.stem

    @property
    def folder(self) -> Path:
        """Where relative paths of the file start."""
        return self.path.parent

    @property
    def digest(self) -> str:
        """SHA-256 of the file's text."""
        return digest(self.text.encode())


def load(path: str | Path) -> CampaignFile:
    """Read and validate a campaign file.

    Raises:
        InvalidInput: unreadable, not TOML, another format, an unknown kind or key, a value out of range; the message
            names the key.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("campaign", f"{path} cannot be read ({type(error).__name__})") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput("campaign", f"{path} is not TOML: {error}") from None
    if document.get("format") != FORMAT:
        raise InvalidInput("format", f"{document.get('format')!r} is unknown", f"this version reads format = {FORMAT}")
    if not isinstance(document.get("kind"), str):
        raise InvalidInput("kind", "missing", "a campaign file names its kind; `confide kinds` lists them")
    implementation = kind(document["kind"])
    own = set(_Head.model_fields)
    theirs = set(implementation.config.model_fields)
    for key in document:
        if key not in own | theirs:
            raise InvalidInput(key, "is not a known key", _nearest(key, own | theirs))
    head = _validated(_Head, {k: v for k, v in document.items() if k in own})
    config = _validated(implementation.config, {k: v for k, v in document.items() if k in theirs})
    return CampaignFile(path=path, title=head.title, kind=implementation, budget=head.budget, config=config, text=text)


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of a kind's campaign file."""
    implementation = kind(name)
    out: dict[str, Any] = implementation.config.model_json_schema()
    head = _Head.model_json_schema()
    out.setdefault("$defs", {}).update(head.get("$defs", {}))
    out["properties"] = {**head["properties"], **out.get("properties", {})}
    out["required"] = [*head["required"], *out.get("required", [])]
    out["properties"]["kind"] = {"const": name}
    out["title"] = f"confide campaign of kind {name}"
    out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return out


def _nearest(key: str, known: set[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"


def _validated(model: type[BaseModel], values: dict[str, Any]) -> Any:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = _keys_beside(model, first["loc"])
            raise InvalidInput(where, "is not a known key", _nearest(str(first["loc"][-1]), known)) from None
        given = first.get("input")
        shown = f" (got {given!r})" if isinstance(given, str | int | float | bool) else ""
        raise InvalidInput(where, first["msg"][0].lower() + first["msg"][1:] + shown) from None


def _keys_beside(model: type[BaseModel], location: tuple[int | str, ...]) -> set[str]:
    """The keys known at the table in which an unknown one was found."""
    here: Any = model
    for part in location[:-1]:
        if not (isinstance(here, type) and issubclass(here, BaseModel)):
            break
        if isinstance(part, str) and part in here.model_fields:
            here = _model_in(here.model_fields[part].annotation, ())
        elif isinstance(part, str):
            here = _model_in(here, (part,))
    if isinstance(here, type) and issubclass(here, BaseModel):
        return set(here.model_fields)
    return set()


def _model_in(annotation: Any, hints: tuple[str, ...]) -> Any:
    """The pydantic model inside an annotation such as `list[Model]`, `Model | None` or `Annotated[Model, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = [_model_in(inner, hints) for inner in getattr(annotation, "__args__", ())]
    models = [m for m in found if m is not None]
    return models[0] if models else None

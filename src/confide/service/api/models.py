"""Models of the API's input and output, from which the schema of the API is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator

from confide.campaign.store import Stored
from confide.contract.asked import Field as AskedField
from confide.service.access import Operator, Role
from confide.service.work import Draft, Job

__all__ = ["After", "Before", "CampaignModel", "CampaignsModel", "DraftModel", "DraftsModel", "FieldModel",
           "JobModel", "Limit", "Number", "OperatorModel", "SectionsModel", "Strict", "Upload", "Uploaded", "Values",
           "campaign_model", "draft_model", "field_model", "job_model", "operator_model"]

_LARGEST = 2**31 - 1
_UNTOLD = "the job failed; operators can see the reason"

Number = Annotated[int, Path(ge=1, le=_LARGEST, description="in this service")]
After = Annotated[int, Query(ge=0, le=_LARGEST, description="the number of the last item that the client has seen")]
Before = Annotated[int | None, Query(ge=1, le=_LARGEST, description=
                                     "the number of the last item that the client has seen")]
Limit = Annotated[int, Query(ge=1, le=200, description="largest number of items")]
Values = Annotated[dict[str, Annotated[str, Field(max_length=10_000)]], Field(max_length=200_000)]


def _storable(data: Any) -> bool:
    if isinstance(data, str):
        return "\0" not in data and (data.isascii() or data.encode("utf-8", "ignore").decode() == data)
    if isinstance(data, dict):
        return all(_storable(key) and _storable(value) for key, value in data.items())
    return not isinstance(data, list) or all(map(_storable, data))


class Strict(BaseModel):
    """A model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_unicode(cls, data: Any) -> Any:
        """Refuse JSON strings that are not valid Unicode, such as half of a surrogate pair, because they can be neither
        stored nor hashed.
        """
        if not _storable(data):
            raise ValueError("has a zero byte, or half of a surrogate pair")
        return data


class SectionsModel(BaseModel):
    """A page as a list of sections. Each section has a title and blocks, which are texts, tables, or pictures as
    Vega-Lite.
    """

    sections: list[dict[str, Any]]


class DraftModel(BaseModel):
    """A campaign file that is being written."""

    number: int
    name: str
    text: str
    version: int = Field(description="number of times that the draft was written; a change must give it")
    campaign: int | None = Field(description="the number of the campaign that the draft became")


class DraftsModel(BaseModel):
    """One page of drafts, and the number after which the next page starts."""

    drafts: list[DraftModel]
    after: int | None = Field(description="start of the next page; null if there is none")


class CampaignModel(BaseModel):
    """A campaign, as everybody may see it."""

    number: int
    title: str
    kind: str
    state: Literal["draft", "planned", "open", "closed", "charged", "run", "settled", "cancelled"]
    slots: int = Field(description="invited slots")


class CampaignsModel(BaseModel):
    """One page of campaigns, and the number after which the next page starts."""

    campaigns: list[CampaignModel]
    after: int | None = Field(description="start of the next page; null if there is none")


class JobModel(BaseModel):
    """A job: a settlement or an audit of a campaign, with its progress."""

    number: int
    campaign: int
    task: Literal["settle", "audit"]
    state: Literal["queued", "running", "done", "failed"]
    done: int = Field(description="steps done")
    steps: int | None = Field(description="total number of steps; null if it is unknown")
    problem: str = Field(description="the reason of the failure; it may depend on records, so viewers do not see it")
    result: Any = Field(description="report of an audit, promised against measured")


class OperatorModel(BaseModel):
    """An operator: a person who runs campaigns."""

    number: int
    name: str
    role: Literal["viewer", "operator", "admin"]
    active: bool
    issuer: str = Field(description="the provider that identifies the operator; empty for an operator with a password")


class FieldModel(BaseModel):
    """One field of a participant's form."""

    column: str
    label: str
    form: Literal["choice", "number", "text"]
    choices: list[str]
    lowest: float | None
    above: float | None
    highest: float | None
    gaps: list[list[float]]
    whole: bool
    unit: str
    note: str
    required: bool


def draft_model(draft: Draft) -> DraftModel:
    """The model of a draft for the API."""
    return DraftModel(number=draft.number, name=draft.name, text=draft.text, version=draft.version,
                      campaign=draft.campaign)


def campaign_model(known: Stored) -> CampaignModel:
    """The model of a campaign for the API, with public facts alone."""
    return CampaignModel(number=known.number, title=known.title, kind=known.kind, state=known.state.value,
                         slots=known.slots)


def job_model(job: Job, who: Operator) -> JobModel:
    """The model of a job for the API, as far as the given operator may see it."""
    problem = job.problem if who.role.covers(Role.OPERATOR) else job.problem and _UNTOLD
    return JobModel(number=job.number, campaign=job.campaign, task=job.task.value, state=job.state, done=job.done,  # type: ignore[arg-type]
                    steps=job.steps, problem=problem, result=job.result)


def operator_model(operator: Operator) -> OperatorModel:
    """The model of an operator for the API."""
    return OperatorModel(number=operator.number, name=operator.name, role=operator.role.value,
                         active=operator.active, issuer=operator.issuer)


def field_model(field: AskedField) -> FieldModel:
    """The model of a form's field for the API."""
    return FieldModel.model_validate(field.to_dict())


@dataclass(frozen=True, repr=False)
class Upload:
    """An uploaded file.

    Args:
        media: media type of the file, as stated by the caller.
        data: bytes of the file.
    """

    media: str
    data: bytes


async def _uploaded(request: Request) -> Upload:
    return Upload(request.headers.get("content-type", "").partition(";")[0].strip().lower(), await request.body())


Uploaded = Annotated[Upload, Depends(_uploaded)]

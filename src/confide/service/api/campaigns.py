"""Entry points for everybody: the offers and the states of campaigns and, after the settlement, all public files."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import BaseModel, Field

from confide.campaign.store.states import State
from confide.contract.guarantees import in_full, promises_json
from confide.contract.worded import worded
from confide.privacy.groups import group_losses
from confide.service.api.models import (
    After,
    CampaignModel,
    CampaignsModel,
    Limit,
    Number,
    SectionsModel,
    campaign_model,
)
from confide.service.shell.guards import PartsOf
from confide.service.shell.parts import Parts
from confide.service.shell.problems import answers
from confide.service.work.opened import check_settled

__all__ = ["router", "settled_files"]

router = APIRouter(prefix="/campaigns", tags=["public"])
_SHOWN = (State.OPEN, State.CLOSED, State.CHARGED, State.RUN, State.SETTLED)


class GuaranteesModel(BaseModel):
    """The guarantees of a campaign."""

    guarantees: list[dict[str, Any]]
    sentences: list[str] = Field(description="each promise in words, with its condition and its note; a promise that "
                                             "says nothing at this size states this")
    groups: list[dict[str, Any]] = Field(description="privacy losses of one person, and of groups of 2, 5 and 10 "
                                                     "people together")


class PackModel(BaseModel):
    """The list of the public files of a settled campaign."""

    files: list[str]
    fingerprint: str = Field(description="fingerprint of the key that signed the pack")


def settled_files(parts: Parts, number: int) -> dict[str, bytes]:
    """The public files of a settled campaign, as a mapping from path to bytes.

    Raises:
        Refused: the campaign is not settled yet, or never will be.
    """
    check_settled(parts.opened.stored(number).state)
    return parts.store.pack(number)


@router.get("", responses=answers(422))
def list_campaigns(parts: PartsOf, after: After = 0, limit: Limit = 50) -> CampaignsModel:
    """List opened campaigns in the order of their numbers. Cancelled campaigns are left out, but can be read under
    their numbers.
    """
    found = parts.opened.all(limit=limit + 1, after=after, states=_SHOWN)
    shown = found[:limit]
    return CampaignsModel(campaigns=[campaign_model(each) for each in shown],
                          after=shown[-1].number if len(found) > limit else None)


@router.get("/{number}", responses=answers(404, 422))
def show_campaign(parts: PartsOf, number: Number) -> CampaignModel:
    """Show the state of a campaign, such as "open" or "settled"."""
    return campaign_model(parts.opened.stored(number))


@router.get("/{number}/file", responses={**answers(404, 422), 200: {"content": {"application/toml": {}}}},
            response_class=Response)
def show_file(parts: PartsOf, number: Number) -> Response:
    """Show the campaign file. All parameters of a campaign are public."""
    return Response(parts.opened.get(number).campaign.file.text, media_type="application/toml")


@router.get("/{number}/offer", responses=answers(404, 422))
def show_offer(parts: PartsOf, number: Number) -> SectionsModel:
    """Show the offer: the plan in the form that a participant reads."""
    opened = parts.opened.get(number)
    return SectionsModel(sections=[each.to_dict() for each in opened.campaign.offer(home=parts.store.home)])


@router.get("/{number}/guarantees", responses=answers(404, 422))
def show_guarantees(parts: PartsOf, number: Number) -> GuaranteesModel:
    """Show the guarantees with their sources, and whether each guarantee says anything useful at the campaign's
    size.
    """
    plan = parts.opened.get(number).campaign.plan
    promises = plan.guarantees
    return GuaranteesModel(guarantees=promises_json(promises),
                           sentences=[in_full(each) for each in promises if each.claimable],
                           groups=[each.to_dict() for each in group_losses(plan.mechanism, promises.privacy)])


@router.get("/{number}/result", responses=answers(404, 409, 422))
def show_result(parts: PartsOf, number: Number) -> SectionsModel:
    """Show the public result of a settled campaign."""
    settled_files(parts, number)
    campaign = parts.opened.get(number).campaign
    outcome = campaign.settled(store=parts.store).published()
    return SectionsModel(sections=[each.to_dict() for each in campaign.file.kind.result(campaign.plan, outcome)])


@router.get("/{number}/pack", responses=answers(404, 409, 422))
def list_pack(parts: PartsOf, number: Number) -> PackModel:
    """The list of the public files of a settled campaign."""
    return PackModel(files=sorted(settled_files(parts, number)), fingerprint=parts.store.home.fingerprint)


@router.get("/{number}/pack.zip", responses={**answers(404, 409, 422), 200: {"content": {"application/zip": {}}}},
            response_class=Response)
def download_pack(parts: PartsOf, number: Number) -> Response:
    """Download all public files of a settled campaign as one archive, in the form that `confide verify` checks.
    Everybody gets the same bytes.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(settled_files(parts, number).items()):
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return Response(data.getvalue(), media_type="application/zip",
                    headers={"Content-Disposition": f'attachment; filename="campaign-{number}.zip"'})


@router.get("/{number}/pack/{path:path}", response_class=Response, responses={
    **answers(404, 409, 422), 200: {"content": {"application/octet-stream": {}}}})
def download_file(parts: PartsOf, number: Number, path: str) -> Response:
    """Download one of the public files of a settled campaign."""
    files = settled_files(parts, number)
    if path not in files:
        raise HTTPException(404, worded("the pack has no such file"))
    return Response(files[path], media_type="application/octet-stream")

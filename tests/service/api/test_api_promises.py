"""What the API says of promises: whole, with what groups lose."""

from __future__ import annotations

from pathlib import Path

from confide.contract import kind
from service.clients import serving


def test_promises_are_reported_whole(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, anybody):
        parts = app.state.parts
        draft = parts.drafts.new(kind("bits").template, parts.operators.all()[0].number)
        number = parts.drafts.open(draft.number).number
        found = anybody.client.get(f"/api/v1/campaigns/{number}/guarantees").json()
    assert [each["in_full"] for each in found["guarantees"]] == found["sentences"]
    for each in found["guarantees"]:
        assert f"Note: {each['note']}." in each["in_full"]
    assert [each["size"] for each in found["groups"]] == [1, 2, 5, 10]

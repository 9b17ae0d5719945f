"""The meter of a pack: its lines follow from the mechanism, whatever whoever signs it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import confide
from campaign.forging import as_first, forge, found, left_open
from confide.campaign import verify

Key = Ed25519PrivateKey
OLD = "9.9.9"


def test_the_lines_of_a_run_stand_in_its_pack(pack: Path) -> None:
    said = next(each for each in verify(pack).findings if each.check == "meter")
    assert (said.verdict, said.detail) == ("holds", "2 lines within the charge: payment estimates, release")


@pytest.mark.parametrize(("change", "says"), [
    (lambda it: it["lines"].pop(), "this mechanism is charged on payment estimates, release"),
    (lambda it: it["lines"][0].update(line="payments"), "the lines are payments, release"),
    (lambda it: it["lines"][0].update(form="session"), "the lines are"),
    (lambda it: it["lines"].append(dict(it["lines"][0])), "a line states something else"),
    (lambda it: it["lines"][1].update(spent="twice the charge"), "a line states something else"),
    (lambda it: it.update(around=True), "no line of the charge paid for"),
])
def test_a_line_that_does_not_follow_is_broken(
    change: Callable[[Any], Any], says: str, pack: Path, signer: Key
) -> None:
    forge(pack, signer, lambda manifest: change(manifest["meter"]) and None)
    assert says in found(pack)["meter"]


def test_a_pack_without_a_meter_is_an_older_ones(pack: Path, signer: Key) -> None:
    as_first(pack, signer)
    assert not found(pack)
    assert "no meter recorded" in left_open(pack)["meter"]
    for version in (confide.__version__, OLD, "0.0.1"):
        forge(pack, signer, version=version)
        assert found(pack)["meter"] == f"a meter is missing; confide {version} always writes it"


def test_a_meter_does_not_stand_in_a_pack_of_the_first_version(pack: Path, signer: Key) -> None:
    forge(pack, signer, version="0.1.0")
    assert found(pack)["meter"] == "a meter is there; confide 0.1.0 never writes it"


def test_lines_of_another_version_may_have_other_names(pack: Path, signer: Key) -> None:
    forge(pack, signer, lambda manifest: manifest["meter"]["lines"][0].update(line="payments"), version=OLD)
    assert not found(pack)
    assert "the lines are those of confide 9.9.9" in left_open(pack)["meter"]
    forge(pack, signer, lambda manifest: manifest["meter"]["lines"][0].update(spent="much"), version=OLD)
    assert "a line states something else" in found(pack)["meter"]



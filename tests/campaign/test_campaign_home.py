"""The installation's folder and its keys: whose they are, and who may read them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from confide.campaign import Home
from confide.contract import InvalidInput, Refused

KEYS = {"ledger.key": "ledger_key", "signing.key": "signing_key"}
CONTENT, ONE, OTHER = "c" * 64, "1" * 64, "2" * 64


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    """It may be anybody's, such as a home directory that was named by mistake."""
    there, new = tmp_path / "there", tmp_path / "new"
    there.mkdir()
    there.chmod(0o755)
    for folder in (there, new):
        assert Home(folder).fingerprint == Home(folder).fingerprint
        assert Home(folder).ledger_key == Home(folder).ledger_key
        assert {path.name: mode(path) for path in folder.iterdir()} == dict.fromkeys(KEYS, 0o600)
    assert (mode(there), mode(new)) == (0o755, 0o700)


@pytest.mark.parametrize(("name", "attribute"), KEYS.items())
def test_a_key_that_is_not_ours_alone_is_refused(
    name: str, attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    getattr(Home(tmp_path), attribute)
    path.chmod(0o604)
    with pytest.raises(InvalidInput, match=f"^key: other users may read .*{name}; run `chmod 600 {path}`$"):
        getattr(Home(tmp_path), attribute)
    path.chmod(0o400)
    getattr(Home(tmp_path), attribute)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InvalidInput, match="belongs to another user"):
        getattr(Home(tmp_path), attribute)


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "0" * 63, "0" * 66, "0" * 2000])
def test_what_is_no_key_is_not_made_anew(text: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.key").write_text(text)
    (tmp_path / "ledger.key").chmod(0o600)
    with pytest.raises(InvalidInput, match="key: "):
        Home(tmp_path).ledger_key  # noqa: B018
    assert (tmp_path / "ledger.key").read_text() == text


def test_one_outcome_is_released(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.released(CONTENT) is None
    for _ in range(2):
        home.release(CONTENT, ONE)
    with pytest.raises(Refused, match=r"was settled in another store; its result is signed \(name that store"):
        Home(tmp_path).release(CONTENT, OTHER)
    home.release("d" * 64, OTHER)  # of another campaign
    assert (home.released(CONTENT), home.released("d" * 64)) == (ONE, OTHER)
    assert {path.name for path in (tmp_path / "released").iterdir()} == {CONTENT, "d" * 64}


@pytest.mark.parametrize("name", ["plain", "a?b", "ü x", "%20", "a#b&c"])
def test_the_own_store_is_named_as_its_url_spells_it(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    assert home.store_name == home.url.render_as_string()

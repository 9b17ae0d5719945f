"""`confide migrate`: campaign files of before are read for ever, and rewritten in today's words on request."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.small import write
from cli.commands import Run
from confide.campaign import Campaign, load, migrating, schema
from confide.campaign.backup import backup
from confide.campaign.file import HEAD_WORDS
from confide.campaign.migrating import look, places, rewrite
from confide.campaign.store import Store
from confide.contract import ConfideError, FileWords, InvalidInput, canonical, digest, kind, kind_names
from confide.contract.encoding import encode
from people.own_packages import installed_histogram

CHANGES = [(11, "answer", "answer", "question"), (13, "answer.options", "options", "levels"),
           (19, "notes.gamma", "gamma", "text"), (21, "notes.gamma", "gamma", "text"),
           (24, "privacy.neighbours", "substitution", "replace"), (26, "privacy.gamma", "gamma", "failure_probability")]


@pytest.fixture(autouse=True)
def reworded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The tests' own kind, installed."""
    site = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch, installed_histogram(site / "one", patch):
        sys.modules.pop("campaign.reworded_kind", None)
        from campaign import reworded_kind

        with reworded_kind.installed_reworded(site / "two", patch):
            yield reworded_kind
        sys.modules.pop("campaign.reworded_kind", None)


@pytest.fixture
def old(tmp_path: Path, reworded: Any) -> Path:
    """A campaign file in old words, with its data."""
    rows = "".join(f"{i},{('bus', 'bicycle', 'car')[i % 3]}\n" for i in range(1, 451))
    (tmp_path / "answers.csv").write_text("id,way\n" + rows)
    path = tmp_path / "old.toml"
    path.write_text(reworded.OLD)
    return path


# ---- what is read


def test_a_file_in_old_words_is_the_campaign_that_it_is_in_todays(old: Path, reworded: Any) -> None:
    new = old.with_name("new.toml")
    new.write_text(reworded.TODAY)
    before, after = load(old), load(new)
    assert before.config == after.config
    assert before.document == after.document
    assert before.digest == after.digest
    new.write_text(reworded.TODAY.replace("0.05", "0.06"))
    assert load(new).digest != before.digest


def test_the_digest_is_that_of_the_words_that_were_first(old: Path) -> None:
    """What a ledger knows an old file by: the digest of a reader to whom its words were the only ones."""
    assert load(old).digest == digest(canonical(encode(tomllib.loads(old.read_text()), {})))


@pytest.mark.parametrize(("change", "said"), [
    (("gamma   =   0.05", "gamma = 5"), "privacy.gamma: input should be less than 1"),
    (('"bus", "bicycle",   # options\n  \'car\', "on foot",', '"bus"'), "answer.options: 1 given; needs at least two"),
    (('gamma = "gamma"', "gamma = 3"), "notes[1].gamma: input should be a valid string"),
    (("gamma   =   0.05", "gamma = 0.1\nfailure_probability = 0.1"),
     "privacy.failure_probability: is in the file twice, as 'gamma' and as 'failure_probability'"),
    (("gamma   =   0.05", "gama = 0.05"), "privacy.gama: is not a known key"),
    (("'substitution'#", "'substitutions'#"), "privacy.neighbours: input should be 'replace'"),
])
def test_errors_name_keys_as_the_file_does(run: Run, old: Path, change: tuple[str, str], said: str) -> None:
    assert change[0] in old.read_text()
    old.write_text(old.read_text().replace(*change))
    assert run("plan", old).err.startswith(f"confide: {said}")
    found = run("migrate", old)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(f"confide: {old}: {said}")


# ---- what is written


def test_check_says_what_would_be_rewritten(run: Run, old: Path, reworded: Any) -> None:
    found = run("migrate", "--check", old)
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines() == [f"{old}: 6 old words would be rewritten:",
                                      *(f"  line {n}: {place}: {a} -> {b}" for n, place, a, b in CHANGES)]
    assert old.read_text() == reworded.OLD
    assert sorted(each.name for each in old.parent.iterdir()) == ["answers.csv", "old.toml"]


def test_words_alone_are_rewritten_and_a_copy_stays(run: Run, old: Path, reworded: Any) -> None:
    old.chmod(0o640)
    found = run("migrate", old)
    copy = old.with_name("old.toml.before")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(f"{old}: 6 old words rewritten; the file before the change is "
                                f"{copy}:\n  line 11: ")
    assert (old.read_text(), copy.read_text()) == (reworded.TODAY, reworded.OLD)
    assert [each.stat().st_mode & 0o777 for each in (old, copy)] == [0o640, 0o640]
    assert sorted(each.name for each in old.parent.iterdir()) == ["answers.csv", "old.toml", "old.toml.before"]


def test_a_second_run_changes_nothing(run: Run, old: Path, reworded: Any) -> None:
    run("migrate", old)
    times = {each: each.stat().st_mtime_ns for each in old.parent.iterdir()}
    found = run("migrate", old, old)
    assert (found.code, found.out) == (0, f"{old} uses the present words: nothing to do.\n")
    assert {each: each.stat().st_mtime_ns for each in old.parent.iterdir()} == times


def test_no_copy_is_overwritten(run: Run, old: Path, reworded: Any) -> None:
    for name in ("old.toml.before", "old.toml.before-3"):
        old.with_name(name).write_text(name)
    assert ".before-2:" in run("migrate", old).out
    old.write_text(reworded.OLD)
    assert ".before-4:" in run("migrate", old).out
    for name in ("old.toml.before", "old.toml.before-3"):
        assert old.with_name(name).read_text() == name


def test_line_ends_and_links_stay(run: Run, old: Path, reworded: Any) -> None:
    old.write_bytes(reworded.OLD.replace("\n", "\r\n").encode())
    link = old.with_name("link.toml")
    link.symlink_to(old.name)
    assert run("migrate", link).code == 0
    assert link.is_symlink()
    assert old.read_bytes() == reworded.TODAY.replace("\n", "\r\n").encode()
    assert old.with_name("old.toml.before").read_bytes() == reworded.OLD.replace("\n", "\r\n").encode()


def test_nothing_is_written_where_one_file_cannot_be_used(run: Run, old: Path, reworded: Any) -> None:
    broken = old.with_name("broken.toml")
    broken.write_text(reworded.OLD.replace("epsilon = 1.0", "epsilon = -1.0"))
    found = run("migrate", old, broken)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(f"confide: {broken}: privacy.epsilon: ")
    assert old.read_text() == reworded.OLD


def test_a_file_that_was_changed_meanwhile_is_left_alone(old: Path, reworded: Any) -> None:
    found = look(str(old))
    old.write_text(reworded.OLD + "# mine\n")
    with pytest.raises(
            InvalidInput, match=r"^file: .*old\.toml was changed in the meantime; run `confide migrate` again"):
        rewrite(found)
    assert old.read_text() == reworded.OLD + "# mine\n"
    assert not old.with_name("old.toml.before").exists()


def test_a_rewriting_that_says_something_else_is_not_written(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "places", lambda text: list(places(text))[:-3])
    with pytest.raises(
            ConfideError, match="would have another meaning with the present words, because of a fault") as caught:
        look(str(old))
    assert caught.value.exit_code == 1


def test_as_json(run: Run, old: Path) -> None:
    expected = [{"line": n, "place": place, "old": a, "new": b} for n, place, a, b in CHANGES]
    (one,) = run("migrate", old, "--check", "--json").json["files"]
    assert one == {"file": str(old), "what": "campaign", "changes": expected, "copy_of_before": None, "refused": None}
    (one,) = run("migrate", old, "--json").json["files"]
    assert one["copy_of_before"] == f"{old}.before"
    (one,) = run("migrate", old, "--json").json["files"]
    assert (one["changes"], one["copy_of_before"]) == ([], None)


# ---- the campaign goes on


def test_a_settled_campaign_stays_settled(run: Run, old: Path, reworded: Any) -> None:
    first = run("run", old)
    assert first.code == 0, first.err
    pack = old.parent / "out" / "old"
    assert run("migrate", old).code == 0
    again = run("run", old)
    assert (again.code, again.out.splitlines()[1]) == (
        0, "this campaign was settled before: the command shows the stored outcome and spent no privacy")
    assert run("share", old, "--id", "4", "--record", "way=bicycle").code == 0
    assert (pack / "campaign.toml").read_text() == reworded.OLD
    assert run("verify", pack).code == 0
    other = old.with_name("other.toml")
    other.write_text(old.read_text().replace("0.05", "0.04"))
    assert "settled with another privacy.failure_probability;" in run(
        "share", other, "--out", pack, "--id", "4", "--record", "way=bicycle").err


def test_what_new_campaigns_may_not_say_is_reported(run: Run, old: Path) -> None:
    old.write_text(old.read_text().replace("0.05", "0.2"))
    said = "privacy.failure_probability: is too large; must be at most 0.1"
    assert run("migrate", old, "--check").out.endswith(
        f"\n  A campaign that has begun with this file continues. A new campaign with this file is refused: {said}\n")
    (one,) = run("migrate", old, "--check", "--json").json["files"]
    assert (one["refused"], len(one["changes"])) == (said, 6)


# ---- what is no campaign file


def test_what_else_confide_has_written_is_left_alone(run: Run, settled: tuple[Path, Path], tmp_path: Path) -> None:
    path, pack = settled
    home = path.parent / "home"
    zipped = shutil.make_archive(str(tmp_path / "pack"), "zip", pack)
    with Store() as store:
        copy = backup(tmp_path / "copy.tar", store=store)
        url = f"sqlite:///{store.database.file}"
    own = tmp_path / "own.json"
    record = {"age": "40", "sex": "male", "pay": "41"}
    own.write_text(json.dumps(Campaign.load(path).own_file("7", pack, record=record)))
    channel = tmp_path / "channel.json"
    channel.write_text('{"format": 1, "response": {"letters": 2, "truth": 0.75}}')
    before = {each: each.read_bytes() for each in pack.rglob("*") if each.is_file()}
    given = {pack: "is a pack", pack / "campaign.toml": "is a pack", zipped: "is a pack",
             home / "store.db": "is a store", copy: "is a copy of an installation", own: "is a participant's own file",
             channel: "is a channel file"}
    for each, said in given.items():
        found = run("migrate", each)
        assert (found.code, found.err) == (0, "")
        assert found.out.startswith(f"{each} {said}. ")
        assert found.out.endswith(": nothing to do.\n")
    assert run("migrate", url).out.endswith("brings its tables up to date: nothing to do.\n")
    assert "password" not in run("migrate", "postgresql://me:password@localhost/x").out
    assert {each: each.read_bytes() for each in pack.rglob("*") if each.is_file()} == before
    found = run("migrate", "--json", *given).json["files"]
    assert [each["what"] for each in found] == ["pack", "pack", "pack", "store", "backup", "own record", "channel"]


@pytest.mark.parametrize(("name", "data", "said"), [
    ("nowhere.toml", None, "file: {} does not exist"),
    ("folder", "", "file: {} is a folder, and no pack; name a campaign file"),
    ("notes.txt", b"to do\n", "campaign: {} is not TOML"),
    ("picture.png", b"\x89PNG\r\n", "campaign: {} is not UTF-8 text"),
    ("data.json", b'{"a": 1}', "file: {} cannot be read: keys: are not those of a participant's own file"),
    ("list.json", b"[1, 2]", "file: {} cannot be read: keys: are not those of a participant's own file"),
    ("broken.json", b"{", "file: {} cannot be read: line 1, column 2: is not JSON"),
    ("other.zip", b"PK\x03\x04", "campaign: {} is not TOML"),
    ("other.toml", b'[tool]\nname = "x"\n', "{}: format: is missing; a campaign file starts with format = 1"),
    ("newer.toml", b'format = 2\nkind = "regression"\n', "{}: format: 2 is unknown; this version reads format = 1"),
    ("kind.toml", b'format = 1\nkind = "songs"\n', "{}: kind: 'songs' is not installed; known kinds: bits,"),
    ("empty.toml", b"", "campaign: {} has no content"),
    ("x" * 300, None, "file: {} cannot be read: "),
])
def test_what_is_no_file_of_ours(run: Run, tmp_path: Path, name: str, data: bytes | str | None, said: str) -> None:
    path = tmp_path / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    elif data is not None:
        path.mkdir()
    found = run("migrate", path)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(f"confide: {said.format(path)[:200]}")


def test_a_file_that_cannot_be_written_is_reported(run: Run, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(migrating, "replace_whole", full)
    found = run("migrate", old)
    assert (found.code, found.out) == (2, "")
    assert found.err == f"confide: file: {old} cannot be written: no space is left on the device\n"


# ---- the tables of the house


def misnamed(words: FileWords, keys: dict[str, Any]) -> list[str]:
    """Places whose old word is a key today, or whose new word is none; `keys` is a JSON schema."""
    def at(place: str) -> list[dict[str, Any]]:
        here = [keys]
        for part in filter(None, place.split(".")):
            here = [inner for table in here for inner in tables(table.get("properties", {}).get(part, {}))]
        return here

    def tables(what: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if "$ref" in what:
            yield from tables(keys["$defs"][what["$ref"].rpartition("/")[2]])
            return
        yield what
        for inner in [*what.get("anyOf", ()), *what.get("oneOf", ()), *([what["items"]] if "items" in what else ())]:
            yield from tables(inner)

    def names(place: str) -> set[str]:
        return {key for table in at(place) for key in table.get("properties", {})}

    def values(place: str) -> set[str]:
        return {each for what in at(place) for each in (*what.get("enum", ()), *filter(None, [what.get("const")]))}

    return [*(old for old, new in words.keys.items()
              if new not in names(old.rpartition(".")[0]) or old.rpartition(".")[2] in names(old.rpartition(".")[0])),
            *(place for place, today in words.values.items()
              if not set(today.values()) <= values(place) or set(today) & values(place))]


def test_old_words_lead_to_keys_that_are_there(reworded: Any) -> None:
    for name in kind_names():
        words = HEAD_WORDS | getattr(kind(name), "file_words", FileWords())
        assert misnamed(words, schema(name)) == [], name
    assert kind("reworded").file_words == reworded.KIND.file_words  # type: ignore[attr-defined]
    for wrong in ({"keys": {"privacy.gamma": "beta"}}, {"keys": {"privacy.epsilon": "failure_probability"}},
                  {"values": {"privacy.neighbours": {"swap": "exchange"}}}, {"keys": {"nowhere.a": "b"}}):
        assert misnamed(FileWords(**wrong), schema("reworded")) != []


def test_files_of_the_command_line_are_in_todays_words(run: Run, tmp_path: Path) -> None:
    names = [each for each in kind_names() if each not in ("histogram", "reworded")]
    for name in names:
        assert run("init", name, "--out", tmp_path / f"{name}.toml").code == 0
    found = run("migrate", "--json", *(tmp_path / f"{name}.toml" for name in names), write(tmp_path)).json["files"]
    assert [(each["what"], each["changes"], each["refused"]) for each in found] == [("campaign", [], None)] * 11

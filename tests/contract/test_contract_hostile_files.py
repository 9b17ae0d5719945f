"""A folder that a stranger wrote: loading ends with an outcome, or with an `InvalidInput` that names the file."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaign.small import records, tiny
from confide.contract import Billboard, InvalidInput, Outcome, PublicOutcome, SimulatedOutcome, canonical, digest
from confide.contract.encoding import column_bytes, decode, table_from_bytes
from confide.contract.files import as_path, private_folder, read_bytes, read_json, write_private
from confide.privacy.noise import Noise


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A settled outcome that nobody changes."""
    folder = tmp_path_factory.mktemp("honest") / "out"
    outcome = tiny(release="ridge").mechanism.run(records(), Noise.secure())
    assert isinstance(outcome, Outcome)
    outcome.save(folder)
    return folder


def _load(folder: Path) -> None:
    """Every door; each refusal names a file of the folder, in one printable line."""
    for load in (Outcome.load, PublicOutcome.load, Billboard.load):
        try:
            load(folder)
        except InvalidInput as error:
            reported = str(error)
        else:
            continue
        assert str(folder) in reported
        assert reported.isprintable()
        assert len(reported) < 2000


def _mutate(folder: Path, name: str, data: bytes) -> Path:
    """A copy of the folder in which one file holds other bytes."""
    copy = Path(tempfile.mkdtemp()) / "out"
    shutil.copytree(folder, copy)
    (copy / name).write_bytes(data)
    return copy


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], other)
    return copy


def _deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from([
        10**30, -1, 0, 1e308, 2**63, {"float": "NaN"}, {"float": "Infinity"}, {"integer": "9" * 5000},
        {"rational": "1/0"}, {"rational": "1e999999999"}, {"decimal": "NaN"}, {"type": "Setting"},
        {"column": "../../manifest", "dtype": "<f8", "shape": [1]}, {"column": "0" * 64, "dtype": "V8", "shape": [-1]},
    ]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "column", "dtype", "shape", "mapping", "float", "x"]), inner, max_size=3),
    max_leaves=5)


@settings(max_examples=2 * settings.default.max_examples,
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_anywhere_in_the_manifest(honest: Path, data: st.DataObject) -> None:
    manifest = json.loads((honest / "manifest.json").read_bytes())
    place = data.draw(st.sampled_from(sorted(_places(manifest), key=str)))
    changed = json.dumps(_replaced(manifest, place, data.draw(JSON)))
    copy = _mutate(honest, "manifest.json", changed.encode("utf-8", "surrogatepass"))
    _load(copy)
    shutil.rmtree(copy.parent)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_other_bytes_in_any_file(honest: Path, data: st.DataObject) -> None:
    """Bytes cut off, flipped, or of another kind altogether, under a name that fits them where names are digests."""
    names = sorted(str(path.relative_to(honest)) for path in honest.rglob("*") if path.is_file())
    name = data.draw(st.sampled_from(names))
    held = bytearray((honest / name).read_bytes())
    kind = data.draw(st.sampled_from(["cut", "flip", "junk"]))
    if kind == "cut":
        held = held[: data.draw(st.integers(0, len(held)))]
    elif kind == "flip":
        held[data.draw(st.integers(0, len(held) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        held = bytearray(data.draw(st.binary(max_size=64)))
    copy = _mutate(honest, name, bytes(held))
    if name.endswith(".arrow"):  # an attacker can compute digests as well
        old, new = Path(name).stem, digest(bytes(held))
        (copy / name).rename(copy / Path(name).with_name(f"{new}.arrow"))
        for note in (copy / "manifest.json", copy / "shares" / "manifest.json"):
            note.write_text(note.read_text().replace(old, new))
    _load(copy)
    shutil.rmtree(copy.parent)


@pytest.mark.parametrize("file", ["manifest.json", "shares/manifest.json"])
@pytest.mark.parametrize("text", [
    b"", b"null", b"[]", b"3", b"\xff\xfe", b"NaN", b'{"a": Infinity}', _deep(100_000), b'{"a":' * 100_000,
    b'{"format": 1, "shares": 3}', b'{"format": 1, "shares": ["a"]}', b'{"format": 1, "shares": "../../secret"}',
    b"9" * 10_000, b" " * ((1 << 24) + 1), b'{"format": "\\u001b[31m\\n"}',
], ids=range(15))
def test_notes_that_are_none(file: str, text: bytes, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "out")
    (tmp_path / "out" / file).write_bytes(text)
    with pytest.raises(InvalidInput, match=r"manifest\.json") as caught:
        Outcome.load(tmp_path / "out")
    assert str(tmp_path / "out" / file) in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("depth", [200, 900, 2_000, 20_000])
def test_depth(depth: int, honest: Path, tmp_path: Path) -> None:
    """Deep nesting that JSON still reads, where the rebuilding may not."""
    manifest = json.loads((honest / "manifest.json").read_bytes())
    manifest["billboard"]["coef"] = "DEEP"
    shutil.copytree(honest, tmp_path / "out")
    for opening, closing in (("[", "]"), ('{"x":', "}")):
        inner = f"{opening * depth}1{closing * depth}"
        (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest).replace('"DEEP"', inner))
        with pytest.raises(InvalidInput, match=r"manifest\.json"):
            PublicOutcome.load(tmp_path / "out")


@pytest.mark.parametrize(("change", "says"), [
    (lambda m: m["billboard"].update(coef="text"), "coef"),
    (lambda m: m["billboard"].update(people=True), "people"),
    (lambda m: m["billboard"].update(people=1.5), "people"),
    (lambda m: m["billboard"].update(ridge="0"), "ridge"),
    (lambda m: m["billboard"]["coef"].update(shape=[10**15]), "cannot be read"),
    (lambda m: m["billboard"]["coef"].update(dtype="<U2000000000"), "must be at most|cannot be read"),
    (lambda m: m["mechanism"].update(setting=None), "setting"),
    (lambda m: m["mechanism"].update(release=m["mechanism"]["payment"]), "release"),
    (lambda m: m["mechanism"]["setting"].update(people="2000"), "people"),
    (lambda m: m["mechanism"]["setting"].update(features=10**18), "cannot be read"),
    (lambda m: m.update(billboard=m["mechanism"]), "must be a Billboard"),
    (lambda m: m.update(mechanism=m["mechanism"]["setting"]), "must be a Mechanism"),
    (lambda m: m.update(provenance=None), "must be a Provenance"),
    (lambda m: m.update(certificate=7), "must be a Certificate"),
], ids=range(14))
def test_wrong_types(change: Any, says: str, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(InvalidInput, match=says) as caught:
        PublicOutcome.load(tmp_path / "out")
    assert str(path) in str(caught.value)


def test_what_is_no_file(honest: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "shares/manifest.json"):
        for kind in ("folder", "pipe", "loop"):
            copy = tmp_path / name.replace("/", "-") / kind
            shutil.copytree(honest, copy)
            (copy / name).unlink()
            if kind == "folder":
                (copy / name).mkdir()
            elif kind == "pipe":
                os.mkfifo(copy / name)  # reading one would wait for ever
            else:
                (copy / name).symlink_to(copy / name)
            with pytest.raises(InvalidInput, match=r"manifest\.json"):
                Outcome.load(copy)


def test_a_manifest_of_another_digest(honest: Path, tmp_path: Path) -> None:
    right = digest((honest / "manifest.json").read_bytes())
    assert Outcome.load(honest, sha256=right)
    for load in (Outcome.load, PublicOutcome.load):
        with pytest.raises(InvalidInput, match="was altered"):
            load(honest, sha256="0" * 64)


# ---- columns


def _ipc(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_bomb_is_not_unpacked(codec: str) -> None:
    bomb = _ipc(pa.table({"values": np.zeros(1 << 20)}), compression=codec)
    assert len(bomb) < 1 << 17
    with pytest.raises(InvalidInput, match="is compressed"):
        table_from_bytes(bomb)


@pytest.mark.parametrize("column", [
    pa.nulls(10), pa.array([["a"]]), pa.array([{"a": 1}]), pa.array(["a", "a"]).dictionary_encode(), pa.array([b"a"]),
], ids=lambda column: str(column.type))
def test_columns_hold_numbers_and_texts(column: pa.Array) -> None:
    with pytest.raises(InvalidInput, match="is of type"):
        table_from_bytes(_ipc(pa.table({"values": column})))


def test_texts_that_point_outside_are_refused() -> None:
    """Arrow itself would read whatever memory lies there."""
    data = bytearray(column_bytes(np.array(["abc", "defg"])))
    offsets = np.array([0, 3, 7], np.int32).tobytes()
    at = data.find(offsets)
    assert at > 0
    data[at : at + 12] = np.array([0, 3, 2**30], np.int32).tobytes()
    with pytest.raises(InvalidInput, match="is not a complete Arrow file"):
        table_from_bytes(bytes(data))


@pytest.mark.parametrize("data", [b"", b"ARROW1", b"ARROW1\0\0", b"ARROW1\0\0" + b"\xff" * 40, b"PAR1" * 10])
def test_what_is_no_column(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="Arrow file"):
        table_from_bytes(data)


def test_wide_texts_are_refused() -> None:
    data = column_bytes(np.array(["a"] * 1000))
    form = {"column": digest(data), "dtype": "<U1000000", "shape": [1000]}
    with pytest.raises(InvalidInput, match="must be at most"):
        decode(form, {}, {digest(data): data})


# ---- files


def test_only_paths_are_paths() -> None:
    assert as_path("folder", "a/b") == as_path("folder", Path("a/b")) == Path("a/b")
    for frame in (pa.table({"a": [1]}), [1], None, 3, io.BytesIO()):
        with pytest.raises(InvalidInput, match="is not a path; pass a path"):
            as_path("folder", frame)  # type: ignore[arg-type]
    import pandas
    with pytest.raises(InvalidInput, match="DataFrame is not a path"):
        Outcome.load(pandas.DataFrame({"a": [1]}))


def test_private_files_are_private_whatever_was_there(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("longer than what follows")
    old.chmod(0o644)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    for path in (old, link, tmp_path / "new"):
        write_private(path, "mine")
        assert path.read_text() == "mine"
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    assert not (tmp_path / "target").exists()
    (tmp_path / "open").mkdir(mode=0o755)
    for name in ("open", "fresh"):
        assert stat.S_IMODE(private_folder(tmp_path / name).stat().st_mode) == 0o700


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    path.write_bytes(b"[1, 2]")
    assert read_json("note", path) == ([1, 2], b"[1, 2]")
    with pytest.raises(InvalidInput, match="must be at most 5"):
        read_bytes("note", path, 5)


# ---- what others may read


def test_a_study_is_for_its_owner_alone(tmp_path: Path) -> None:
    outcome = tiny(release="ridge").mechanism.run(records(), Noise.simulated(3))
    assert isinstance(outcome, SimulatedOutcome)
    (tmp_path / "old" / "columns").mkdir(parents=True)
    for name in ("new", "old"):
        outcome.save(tmp_path / name)
        for path in (tmp_path / name).rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_shares_are_for_the_operator_alone(honest: Path) -> None:
    for path in (honest / "shares", *(honest / "shares").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_public_part_needs_no_shares(honest: Path, tmp_path: Path) -> None:
    whole = Outcome.load(honest)
    shutil.copytree(honest, tmp_path / "out", ignore=shutil.ignore_patterns("shares"))
    public = PublicOutcome.load(str(tmp_path / "out"))
    assert canonical(public.to_dict()) == canonical(whole.to_dict())
    assert not hasattr(public, "shares")
    X, y = records()
    paid = whole.shares["payment"].to_pylist()
    assert public.mechanism.decode((X[3], y[3]), 3, Billboard.load(tmp_path / "out")) == {"payment": paid[3]}
    with pytest.raises(InvalidInput, match="shares"):
        Outcome.load(tmp_path / "out")

"""Everything that somebody could change in a pack, one edit at a time; whoever holds the key then signs it anew."""

from __future__ import annotations

import copy
import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.campaign.file import parse
from confide.campaign.pack import CAMPAIGN, EVENTS, MANIFEST, NOTE, PICTURES, REPORT
from confide.campaign.signatures import sign
from confide.campaign.store.chain import _hash
from confide.contract import InvalidInput, canonical, digest

__all__ = ["Files", "claims", "edits", "signed"]

Files = dict[str, bytes]
Edit = tuple[str, Files]

_ARITHMETIC: tuple[Callable[[float], float], ...] = (
    lambda value: value + 1, lambda value: value * 1.5, lambda value: value * (1 + 1e-6),
    lambda value: -value if value else 0.25)


def edits(files: Mapping[str, bytes], key: Ed25519PrivateKey, every: int = 1) -> Iterator[Edit]:
    """All edits of all fields of a pack, each named by its place, with the files as they then are, signed anew.

    Args:
        files: of the pack.
        key: of the operator.
        every: of so many edits, one is made.
    """
    honest = dict(files)
    for name, make in islice(_edits(honest, key), 0, None, every):
        found = make()
        if found != honest:
            yield name, found


def _edits(files: Files, key: Ed25519PrivateKey) -> Iterator[tuple[str, Callable[[], Files]]]:
    def put(path: str, data: bytes, *, chain: bool = True) -> Callable[[], Files]:
        return lambda: signed({**files, path: data}, key, chain=chain)

    for path in (MANIFEST, PICTURES, EVENTS):
        for name, document in _json(json.loads(files[path])):
            yield f"{path} {name}", put(path, canonical(document), chain=".hash" not in name)
    for name, document in _json(json.loads(files[NOTE])):
        yield f"{NOTE} {name}", partial(_noted, files, name, document, key)
    for path in sorted(files):
        if path.endswith(".csv"):
            for name, text in _csv(files[path].decode()):
                yield f"{path} {name}", put(path, text.encode())
        if path.endswith(".arrow"):
            for name, data in _arrow(files[path]):
                yield f"{path} {name}", partial(signed, _with_column(files, path, data), key)
    for path, texts in ((REPORT, _markup), (CAMPAIGN, _toml)):
        for name, text in texts(files[path].decode()):
            yield f"{path} {name}", put(path, text.encode())
    for path in sorted(files):
        if path != NOTE:
            yield f"{path} removed", partial(signed, {each: files[each] for each in files if each != path}, key)
    for path in ("more.csv", "more.parquet", f"columns/{'0' * 64}.arrow"):
        yield f"{path} added", put(path, b"a,b\n1,2\n")


def _noted(files: Files, name: str, document: Any, key: Ed25519PrivateKey) -> Files:
    """A statement that says something else; what its key and its signature are stays as it was edited."""
    if not name.startswith((".key", ".signature")):
        document = sign({each: value for each, value in document.items() if each not in ("key", "signature")}, key)
    return {**files, NOTE: canonical(document)}


def signed(files: Files, key: Ed25519PrivateKey, *, chain: bool = True) -> Files:
    """The files with their digests, events and signature as an operator would make them fit.

    Args:
        files: as they now are.
        key: of the operator.
        chain: whether the hashes of the events are computed anew, too.
    """
    files, note = dict(files), json.loads(files[NOTE])
    statement = {name: value for name, value in note.items() if name not in ("key", "signature")}
    try:
        file = parse(files[CAMPAIGN], Path(CAMPAIGN))
        statement.update(content=file.digest, title=file.title, kind=file.kind.name)
    except (KeyError, InvalidInput):
        pass  # there is none: the statement stays as it was
    if chain and MANIFEST in files and EVENTS in files:
        files[EVENTS] = _rechained(files[EVENTS], digest(files[MANIFEST]), statement["content"])
    listed = {path: digest(data) for path, data in files.items() if path != NOTE}
    statement |= {"files": listed, "manifest": listed.get(MANIFEST, note["manifest"])}
    return {**files, NOTE: canonical(sign(statement, key))}


def _rechained(data: bytes, manifest: str, content: str) -> bytes:
    rows, before = json.loads(data), ""
    for row in rows if isinstance(rows, list) else ():
        try:
            for event, name, now in (("publish", "manifest", manifest), ("plan", "content", content)):
                if row["event"] == event and re.fullmatch("[0-9a-f]{64}", row["data"].get(name, "")):
                    row["data"][name] = now
            before = row["hash"] = _hash(before, row["event"], row["day"], row["data"])
        except (KeyError, TypeError, AttributeError):
            return data  # no event: nothing fits
    return canonical(rows)


# ---- claimed versions


def claims(files: Mapping[str, bytes], key: Ed25519PrivateKey) -> Iterator[tuple[str, bool, Files]]:
    """Edits of a page and its pictures under each version that a pack may claim, each named, signed anew.

    Args:
        files: of the pack.
        key: of the operator.

    Returns:
        The name, whether words alone were changed, and the files. "0.1.0, dressed" is the first version with the parts
        that it wrote; "0.1.0" has those of this one.
    """
    honest = dict(files)
    for version in ("", "9.9.9", "0.1.0", "0.1.0, dressed"):
        for words, add in ((False, ""), (True, " and other words")):
            for name, only_words, page in _on_pages(honest[REPORT].decode()):
                text = page.replace("</main>", "<p>Approved.</p></main>", 1) if words else page
                changed = {**honest, REPORT: text.encode()}
                yield f"{version}: {name}{add}", only_words, signed(_claimed(changed, version), key)
        for path in sorted(each for each in honest if each == PICTURES or each.endswith((".csv", ".parquet"))):
            if "dressed" in version and path == PICTURES:
                continue  # it has none
            less = {each: data for each, data in honest.items() if each != path}
            yield f"{version}: without {path}", path.endswith(".csv"), signed(_claimed(less, version), key)


def _claimed(files: Files, version: str) -> Files:
    document, changed = json.loads(files[MANIFEST]), dict(files)
    if version:
        document["provenance"]["confide"] = version.partition(",")[0]
    if "dressed" in version:
        document.pop("meter")
        changed.pop(PICTURES, None)
        changed[REPORT] = re.sub(b'<meta http-equiv="Content-Security-Policy"[^>]*>\n', b"", changed[REPORT])
    return {**changed, MANIFEST: canonical(document)}


def _on_pages(text: str) -> Iterator[tuple[str, bool, str]]:
    """Names, whether words alone are other ones, and the page: titles, exchanged, repeated and left-out pictures, and
    labels that are cut or hidden.
    """
    titles = re.compile(r'(role-(?:axis-title|title-text)"[^>]*>(?:<[^>]*>)*?<text[^>]*>|aria-label="Title text \')'
                        r"([^<']+)")
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    if figures:
        yield "titles", True, titles.sub(r"\1Approved", text)
    for place, figure in enumerate(figures):
        said = re.findall('aria-label="([^"]*)"', figure)[0]
        drawing = re.findall(r"<svg.*</svg>", figure, re.DOTALL)[0]
        if len(figures) > 1:  # else the pack is one of an operator who cannot draw
            yield f"picture {place} left out", False, text.replace(
                figure, f'<p class="note">Picture left out (install the extra [plots]): {said}</p>')
        yield f"picture {place} of no form", False, text.replace(
            figure, '<p class="note">Picture left out (the drawing software draws it in a form that confide verify '
                    f"does not know): {said}</p>")
        for other in figures[:place]:
            yield f"picture {place} again", False, text.replace(figure, other)
            another = re.findall(r"<svg.*</svg>", other, re.DOTALL)[0]
            yield f"picture {place} exchanged", False, text.replace(drawing, "\0").replace(another, drawing).replace(
                "\0", another)
        labels = [each for each in re.finditer(r"(<text [^>]*opacity=\")1(\"[^>]*>)([^<]+)(</text>)", drawing)
                  if "font-weight" not in each[0]]
        for each in labels[1::2]:
            start, end = each.span()
            if len(each[3]) > 3:
                yield f"label {each[3]!r} cut", False, text.replace(
                    drawing, drawing[:start] + f"{each[1]}1{each[2]}{each[3][:2]}\u2026{each[4]}" + drawing[end:])
        hidden = drawing
        for each in labels[1::2]:
            hidden = hidden.replace(each[0], f"{each[1]}0{each[2]}{each[3]}{each[4]}")
        yield f"every other label of picture {place} hidden", False, text.replace(drawing, hidden)


# ---- JSON


def _json(document: Any) -> Iterator[tuple[str, Any]]:
    """Each leaf changed, each key renamed, left out or joined by another one, each list longer, shorter or turned."""

    def at(path: tuple[Any, ...]) -> tuple[Any, Any]:
        """A copy, and the part of it that holds the last key."""
        whole = copy.deepcopy(document)
        part = whole
        for each in path[:-1]:
            part = part[each]
        return whole, part

    for path, value in _places(document):
        name = "".join(f".{each}" for each in path)
        if isinstance(value, dict | list):
            for what, changed in _containers(value):
                if path:
                    whole, part = at(path)
                    part[path[-1]] = changed
                    yield f"{name} {what}", whole
                else:
                    yield f". {what}", changed
        else:
            for changed in _leaves(value):
                whole, part = at(path)
                part[path[-1]] = changed
                yield f"{name} = {changed!r}", whole


def _places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, part
    for key, value in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        yield from _places(value, (*path, key))


def _containers(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield "with another key", {**value, "more": 1}
        for key in value:
            yield f"without {key}", {name: each for name, each in value.items() if name != key}
    else:
        yield "longer", [*value, value[-1] if value else 1]
        if value:
            yield "shorter", value[:-1]
        if value != value[::-1]:
            yield "turned", value[::-1]


def _leaves(value: Any) -> list[Any]:
    """Other values of a leaf, each as a reader would see it."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        changed = [change(value) for change in _ARITHMETIC]
        return [each for each in dict.fromkeys(changed) if each != value and canonical(each) != canonical(value)]
    if isinstance(value, str):
        found = [f"{value}x", value.upper(), re.sub("[0-9]", lambda it: str((int(it[0]) + 1) % 10), value, count=1), ""]
        return [each for each in dict.fromkeys(found) if each != value]
    return [0]


# ---- tables and arrays


def _csv(text: str) -> Iterator[tuple[str, str]]:
    rows = list(csv.reader(io.StringIO(text)))

    def written(changed: list[list[str]]) -> str:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(changed)
        return out.getvalue()

    for r, row in enumerate(rows):
        for k, cell in enumerate(row):
            for new in _cells(cell):
                changed = copy.deepcopy(rows)
                changed[r][k] = new
                yield f"[{r}][{k}] = {new!r}", written(changed)
        yield f"without row {r}", written(rows[:r] + rows[r + 1 :])
        yield f"row {r} twice", written(rows[: r + 1] + rows[r:])
    yield "turned", written([rows[0], *rows[:0:-1]])
    yield "a line more", f"{text}\n"
    yield "quoted", re.sub(r"(?m)^([^,\"\n]+)", r'"\1"', text)
    yield "other lines", text.replace("\n", "\r\n")
    yield "a byte order mark", f"\ufeff{text}"
    yield "another column", "\n".join(f"{line},1" for line in text.splitlines()) + "\n"


def _cells(cell: str) -> list[str]:
    try:
        number = float(cell)
    except ValueError:
        return [f"{cell}x", ""] if cell else ["x"]
    found = [repr(change(number)) for change in _ARITHMETIC]
    found += [f"{cell}0" if "." in cell else f"{cell}.0", f"0{cell}", f" {cell}", f"{cell}e0", "", "nan"]
    return [each for each in dict.fromkeys(found) if each != cell]


def _arrow(data: bytes) -> Iterator[tuple[str, bytes]]:
    table = pa.ipc.open_file(io.BytesIO(data)).read_all()

    def written(changed: pa.Table) -> bytes:
        out = io.BytesIO()
        with pa.ipc.new_file(out, changed.schema) as writer:
            writer.write_table(changed)
        return out.getvalue()

    yield "longer", data + b"names of all"
    yield "with metadata", written(table.replace_schema_metadata({"names": "of all"}))
    yield "renamed", written(table.rename_columns([f"{name}x" for name in table.column_names]))
    yield "with another column", written(table.append_column("more", pa.array(np.arange(table.num_rows))))
    yield "empty", written(table.slice(0, 0))
    yield "twice", written(pa.concat_tables([table, table]).combine_chunks())
    for k, column in enumerate(table.columns):
        values = column.combine_chunks()
        if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
            numbers = values.to_numpy(zero_copy_only=False)
            for place in range(len(numbers)):
                changed = numbers.copy()
                changed[place:place + 1] += 1  # the largest whole number becomes the least
                new = pa.array(changed, values.type)
                yield f"[{k}][{place}] + 1", written(table.set_column(k, table.schema.field(k), new))
            wider = pa.int64() if pa.types.is_floating(values.type) else pa.float64()
            yield f"[{k}] as {wider}", written(table.set_column(k, table.column_names[k], pa.array(
                numbers.astype(wider.to_pandas_dtype()))))


def _with_column(files: Mapping[str, bytes], path: str, data: bytes) -> Files:
    """An array exchanged under the name that its digest gives it."""
    old, new = path.removeprefix("columns/").removesuffix(".arrow"), digest(data)
    changed = {each: contents for each, contents in files.items() if each != path}
    changed[MANIFEST] = changed[MANIFEST].replace(old.encode(), new.encode())
    return {**changed, f"columns/{new}.arrow": data}


# ---- texts


_TAG = re.compile(r"<(?P<name>[a-zA-Z]+)(?P<attributes>(?: [a-zA-Z:-]+=(?:\"[^\"]*\"|[a-z]+))*)(?P<end>/?>)"
                  r"|(?P<text>>[^<]+)")
_ATTRIBUTE = re.compile(r' (?P<key>[a-zA-Z:-]+)=(?:"(?P<value>[^"]*)"|(?P<plain>[a-z]+))')


def _markup(text: str) -> Iterator[tuple[str, str]]:
    """Each text and each attribute changed, left out or joined by another one; each element joined by another one."""
    for place, tag in enumerate(_TAG.finditer(text)):
        def spliced(start: int, end: int, new: str) -> str:
            return text[:start] + new + text[end:]

        if tag["text"] is not None:
            said = tag["text"][1:]
            if said.strip():
                for new in _words(said):
                    yield f"text {place} {said.strip()[:30]!r} = {new.strip()[:40]!r}", spliced(
                        tag.start() + 1, tag.end(), new)
            continue
        start = tag.start("attributes")
        name = f"<{tag['name']}> {place}"
        yield f"{name} with another attribute", spliced(start, start, ' onclick="x()"')
        yield f"{name} with a style", spliced(start, start, ' style="display:none"')
        yield f"{name} behind another element", spliced(tag.start(), tag.start(), "<p>Approved.</p>")
        for found in _ATTRIBUTE.finditer(text, start, tag.end("attributes")):
            yield f"{name} without {found['key']}", spliced(found.start(), found.end(), "")
            for new in _words(found["value"] or found["plain"] or ""):
                yield f"{name} {found['key']} = {new[:40]!r}", spliced(
                    found.start(), found.end(), f' {found["key"]}="{new}"')


def _words(said: str) -> list[str]:
    """Another text, and each of its numbers changed."""
    found = [f"{said}x", ""]
    for number in re.finditer(r"[0-9]+(?:\.[0-9]+)?", said):
        found += [said[: number.start()] + new + said[number.end() :] for new in (
            f"{float(number[0]) + 7:g}", f"{float(number[0]) * 1.5:g}", f"{number[0]}1")]
    return [each for each in dict.fromkeys(found) if html.unescape(each) != html.unescape(said)]


def _toml(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines(keepends=True)
    for place, line in enumerate(lines):
        for new in ["", *_lines(line)]:
            yield (f"line {place + 1} {line.strip()!r} = {new.strip()!r}",
                   "".join([*lines[:place], new, *lines[place + 1 :]]))


def _lines(line: str) -> list[str]:
    key, equals, value = line.partition("=")
    if not equals:
        return []
    found = [f"{key}= {value.strip()}  # or not\n"]
    for number in re.finditer(r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?", value):
        for change in _ARITHMETIC[:3]:
            new = change(json.loads(number[0]))
            found.append(f"{key}={value[: number.start()]}{new!r}{value[number.end() :]}")
    found += [f"{key}={value.replace(quoted, quoted[:-1] + 'x' + quoted[-1])}"
              for quoted in re.findall(r'"\w[^"]*"', value)]
    return [each for each in dict.fromkeys(found) if each != line]

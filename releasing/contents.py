"""What was built, held against the checkout: its files, its metadata, and what must not be in it."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from pathlib import Path

from packaging.metadata import Metadata
from packaging.version import Version
from readme_renderer import markdown

from releasing.building import tracked

__all__ = ["metadata_problems", "read_sdist", "read_wheel", "sdist_problems", "wheel_problems"]

_SOURCE = "src/confide/"
_STATUS = {True: "Development Status :: 4 - Beta", False: "Development Status :: 5 - Production/Stable"}
"""Whether a version is one before a release -> what the metadata call it."""


def read_wheel(path: Path) -> dict[str, bytes]:
    """File -> bytes."""
    with zipfile.ZipFile(path) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def read_sdist(path: Path) -> dict[str, bytes]:
    """File, without the folder around all of them -> bytes."""
    with tarfile.open(path) as archive:
        files = {each.name: archive.extractfile(each) for each in archive.getmembers() if each.isfile()}
        return {name.partition("/")[2]: file.read() for name, file in files.items() if file is not None}


def wheel_problems(files: Mapping[str, bytes], root: Path, version: str) -> Iterator[str]:
    """What is wrong with a wheel, line by line.

    Args:
        files: as `read_wheel` gives them.
        root: of the checkout.
        version: that it should be.
    """
    info = f"confide-{version}.dist-info/"
    ours = {f"confide/{each.removeprefix(_SOURCE)}" for each in tracked(root, _SOURCE)}
    theirs = {info + each for each in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    yield from _differences(set(files), ours | theirs)
    yield from _places(files, root)
    if "confide/py.typed" not in files:
        yield "confide/py.typed is missing: type checkers would not look at the types"
    if files.get(info + "licenses/LICENSE") != (root / "LICENSE").read_bytes():
        yield "the licence is another one"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = ConfigParser()
    points.optionxform = str  # type: ignore[method-assign, assignment] # names keep their case
    points.read_string(files.get(info + "entry_points.txt", b"").decode())
    wanted = {"console_scripts": project["scripts"], **project["entry-points"]}
    if {section: dict(points[section]) for section in points.sections()} != wanted:
        yield "the entry points are not those of pyproject.toml"
    yield from metadata_problems(files.get(info + "METADATA", b""), root, version)


def sdist_problems(files: Mapping[str, bytes], root: Path, version: str) -> Iterator[str]:
    """What is wrong with a source distribution: as `wheel_problems`."""
    kept = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    included = [each.removeprefix("/") for each in kept["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]]
    wanted = tracked(root, *included, "pyproject.toml", ".gitignore")
    yield from _differences(set(files), {*wanted, "PKG-INFO"})
    yield from _places(files, root)
    yield from metadata_problems(files.get("PKG-INFO", b""), root, version)


def metadata_problems(said: bytes, root: Path, version: str) -> Iterator[str]:
    """What is wrong with the metadata.

    Args:
        said: METADATA or PKG-INFO.
        root: of the checkout.
        version: that it should be.
    """
    try:
        found = Metadata.from_email(said, validate=True)
    except ExceptionGroup as errors:
        yield from (f"metadata: {each}" for each in errors.exceptions)
        return
    readme = (root / "README.md").read_text(encoding="utf-8")
    if (found.name, str(found.version)) != ("confide", version):
        yield f"metadata: {found.name} {found.version} is not confide {version}"
    if found.license_expression != "Apache-2.0" or found.license_files != ["LICENSE"]:
        yield f"metadata: the licence is {found.license_expression}, in {found.license_files}"
    if found.description_content_type != "text/markdown" or (found.description or "").strip() != readme.strip():
        yield "metadata: the description is not README.md"
    elif not (markdown.render(readme) or "").strip():
        yield "metadata: README.md cannot be rendered"
    kinds = found.classifiers or []
    if [each for each in kinds if each.startswith("Development Status")] != [_STATUS[Version(version).is_prerelease]]:
        yield f"metadata: {version} is {_STATUS[Version(version).is_prerelease]!r}, and nothing else"
    if not {"Typing :: Typed", "Programming Language :: Python :: 3"} <= set(kinds):
        yield "metadata: the classifiers do not say which Python, or not that types are there"
    if not found.summary or not str(found.requires_python or ""):
        yield "metadata: a summary or the least Python is missing"
    yield from (f"metadata: {each} is fetched from a place of its own"
                for each in found.requires_dist or () if each.url)


def _differences(found: set[str], wanted: set[str]) -> Iterator[str]:
    yield from (f"{each} does not belong there" for each in sorted(found - wanted))
    yield from (f"{each} is missing" for each in sorted(wanted - found))


def _places(files: Mapping[str, bytes], root: Path) -> Iterator[str]:
    """Files that name a place of the machine on which they were built."""
    places = [re.escape(f"{each}/".encode()) for each in {str(root), str(Path.home())} if len(each) > 1]
    pattern = re.compile(b"|".join(places))
    yield from (f"{name} names a place of this machine: {found.group().decode()}" for name, data in files.items()
                if (found := pattern.search(data)))

"""The notes of a release: the first section of CHANGELOG.md, which has to be that of the version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from packaging.version import InvalidVersion, Version

from confide.contract.renamed import Rename
from releasing import NotReady

__all__ = ["check_version", "notes"]

_HEADING = re.compile(r"^## (?P<version>\S+)(?: \((?:unreleased|\d{4}-\d{2}-\d{2})\))?$", re.MULTILINE)
_ANY_HEADING = re.compile(r"^## .*$", re.MULTILINE)


def check_version(version: str, old_names: Sequence[Rename]) -> None:
    """Whether a version can be released.

    Args:
        version: what `_version.py` says.
        old_names: the old Python names that still work.

    Raises:
        NotReady: it is none, one of development, or a release without the old names that still has some.
    """
    try:
        known = Version(version)
    except InvalidVersion:
        raise NotReady(f"_version.py: {version!r} is no version") from None
    if str(known) != version or known.is_devrelease or known.local:
        raise NotReady(f"_version.py: {version!r} cannot be released; write it as 1.2.3 or 1.2.3rc1")
    if not known.is_prerelease and old_names:
        raise NotReady(f"{version} has no old names, and {len(old_names)} still work, such as {old_names[0].old!r} of "
                       f"{old_names[0].where}; remove them")


def notes(changelog: str, version: str, digests: Mapping[str, str]) -> str:
    """The notes as Markdown.

    Args:
        changelog: the text of CHANGELOG.md.
        version: that is released.
        digests: file that is released -> its SHA-256.

    Raises:
        NotReady: the first section is another version's, or says nothing; or an earlier one is of this version, too.
    """
    headings = list(_ANY_HEADING.finditer(changelog))
    named = [_HEADING.fullmatch(each.group()) for each in headings]
    versions = [each["version"] if each else None for each in named]
    if not versions or versions[0] != version:
        first = headings[0].group() if headings else "no section"
        raise NotReady(f"CHANGELOG.md begins with {first!r}, and _version.py says {version}; the first section has to "
                       f"be '## {version} (unreleased)', or with the day in place of that word")
    if versions.count(version) > 1:
        raise NotReady(f"CHANGELOG.md has two sections of {version}: it was released before")
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    body = changelog[headings[0].end() : end].strip()
    if not re.search(r"^- \S", body, re.MULTILINE):
        raise NotReady(f"CHANGELOG.md says nothing of {version}")
    files = "\n".join(f"    {digest}  {name}" for name, digest in sorted(digests.items()))
    return f"# confide {version}\n\n{body}\n\n## Files, with their SHA-256\n\n{files}\n"

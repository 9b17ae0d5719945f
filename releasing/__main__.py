"""`make release`: step by step, and nothing in dist/ before the last one holds."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
from pathlib import Path

from confide import __version__
from confide.contract.renamed import renames
from releasing import ROOT, NotReady
from releasing.building import build, changed, check_reproducible, epoch
from releasing.clean import TESTS, try_sdist, try_wheel
from releasing.contents import read_sdist, read_wheel, sdist_problems, wheel_problems
from releasing.notes import check_version, notes


def main() -> int:
    """Make a release, or say why there is none."""
    parser = argparse.ArgumentParser(prog="python -m releasing", description=(__doc__ or "").strip())
    parser.add_argument("--uncommitted", action="store_true", help="a rehearsal: what is not committed is built, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="confide-release-") as folder:
        try:
            _release(Path(folder), given.uncommitted)
        except NotReady as error:
            print(f"not released: {error}", file=sys.stderr)
            return 1
    return 0


def _release(folder: Path, uncommitted: bool) -> None:
    begun = time.monotonic()

    def step(what: str) -> None:
        print(f"[{time.monotonic() - begun:5.0f} s] {what}", flush=True)

    step(f"confide {__version__}: the version and its notes")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    notes(changelog, __version__, {})
    check_version(__version__, renames())
    if not uncommitted and (open_ := changed(ROOT)):
        raise NotReady(f"{len(open_)} files are not committed, such as {open_[0][3:]}; commit them, or rehearse with "
                       "`python -m releasing --uncommitted`")
    step("source distribution and wheel")
    for each in ("built", "again", "wheel", "sdist"):
        (folder / each).mkdir()
    when = epoch(ROOT)
    sdist, wheel = build(ROOT, folder / "built", when)
    step("the same again, from the source distribution, to the byte")
    check_reproducible(sdist, wheel, folder / "again", when)
    step("files and metadata")
    problems = [*(f"{wheel.name}: {each}" for each in wheel_problems(read_wheel(wheel), ROOT, __version__)),
                *(f"{sdist.name}: {each}" for each in sdist_problems(read_sdist(sdist), ROOT, __version__))]
    if problems:
        raise NotReady("\n  ".join(["what was built is wrong:", *problems]))
    step("the wheel alone in a clean environment")
    try_wheel(wheel, __version__, folder / "wheel")
    step(f"the source distribution in a clean environment: {', '.join(TESTS)}")
    try_sdist(sdist, folder / "sdist")
    digests = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in (sdist, wheel)}
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    for each in (sdist, wheel):
        shutil.copy(each, target)
    (target / f"notes-{__version__}.md").write_text(notes(changelog, __version__, digests), encoding="utf-8")
    step("done; nothing was uploaded")
    for name, digest in digests.items():
        print(f"{digest}  dist/{name}")
    print(f"dist/notes-{__version__}.md")


if __name__ == "__main__":
    sys.exit(main())

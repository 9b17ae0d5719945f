"""The runner: `python -m benchmarks [names...] [--quick] [--json-dir DIR]`, and `python -m benchmarks --page`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from benchmarks import page

SUBJECTS = ("regression_speed", "regression_accuracy", "noise", "meter", "reading", "choices", "streams", "accounting",
            "conversions", "step_sizes", "store", "channels", "market", "acquisition", "release", "allocation",
            "programs", "search", "service")
ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results"
PAGE = ROOT.parent / "docs" / "benchmarks.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"subjects; default all of {', '.join(SUBJECTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; writes nothing without --json-dir")
    parser.add_argument("--json-dir", type=Path, help="where the results go; default benchmarks/results")
    parser.add_argument("--page", action="store_true", help="only make docs/benchmarks.md from the results")
    wanted = parser.parse_args()
    folder = wanted.json_dir or (None if wanted.quick else RESULTS)
    unknown = [name for name in wanted.names if name not in SUBJECTS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(SUBJECTS)}")
    if not wanted.page:
        for name in wanted.names or SUBJECTS:
            measure(name, folder, quick=wanted.quick)
    if wanted.page or (folder == RESULTS and not wanted.quick):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page.render(wanted.json_dir or RESULTS, SUBJECTS), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT.parent)}")


def measure(name: str, folder: Path | None, *, quick: bool) -> None:
    """Run one subject, print its section, and write it."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    start = time.perf_counter()
    report = importlib.import_module(f"benchmarks.{name}").run(quick=quick)
    print(page.text(report))
    print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    if folder is not None:
        report.write(folder / f"{name}.json", quick=quick)


if __name__ == "__main__":
    main()

"""Cold starts: processor seconds of one whole process for each verb and kind, imports included; none is warm.

`python -m benchmarks.cold_start --against PYTHON` measures another tree's interpreter in turn with this one, and gives
ratios; `--verbs plan,run`, `--kinds mean` measure some alone, `--json FILE` writes the result.

Campaigns, packs and the installation are those of `tests/golden`, which every version since has to read; `plan` and
`offer` take the file that each tree's own `init` writes.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import page
from benchmarks.report import Report, Table

TITLE = "Cold starts"
GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "made_by_9376621e"
KINDS = {
    "bits": "bits_illness", "bits-pair": "pairs_exam", "bits-unknown-costs": "costs_sleep",
    "bundles": "bundles_evenings", "matching": "matching_courses", "mean": "mean_hours", "program": "program_charging",
    "queries": "queries_mwem", "regression": "regression_pay", "search": "search_contacts",
}
"""Kind -> its settled campaign among the golden files."""
WITHOUT = {"share": ("queries", "search"), "run": ("mean",),
           "study": ("bits", "bits-pair", "bits-unknown-costs", "mean")}
"""Verb -> kinds that it is not for: nobody has a share, contracts were made before, no true answers are named."""
ALONE = {
    "import": ["-c", "import confide"], "--help": ["-m", "confide", "--help"],
    "--version": ["-m", "confide", "--version"],
    "kinds": ["-m", "confide", "kinds"], "claims": ["-m", "confide", "claims"], "ledger": ["-m", "confide", "ledger"],
    "campaigns": ["-m", "confide", "campaigns"], "channel": ["-m", "confide", "channel", "survey.json"],
}
"""Verbs that no kind takes part in."""
SURVEY = """{"format": 1, "title": "A survey on smoking", "rows": 1000, "prior": [0.6, 0.3, 0.1],
"response": {"letters": ["never", "sometimes", "often"], "truth": 0.7, "otherwise": "another"}}"""
OF_KINDS = ("init", "schema", "plan", "offer", "check", "study", "run", "share", "verify", "audit")


@dataclass(frozen=True)
class Tree:
    """A build: its interpreter, and a scratch folder of its own with all files.

    Args:
        python: the interpreter.
        folder: the scratch folder.
    """

    python: str
    folder: Path

    def prepare(self) -> None:
        """Compile its bytecode, copy the golden files, write the template of each kind."""
        where = self.spoken("import confide; print(confide.__path__[0])").strip()
        subprocess.run([self.python, "-m", "compileall", "-q", where], check=True, env=self.environment())
        for name in ("campaigns", "packs", "home"):
            shutil.copytree(GOLDEN / name, self.folder / name)
        for each in (self.folder / "home").rglob("*"):  # a store that others may read is refused
            each.chmod(0o700 if each.is_dir() else 0o600)
        subprocess.run([self.python, "-m", "confide", "campaigns"], cwd=self.folder, check=True,  # brings it up to date
                       stdout=subprocess.DEVNULL, env=self.environment())
        shutil.copytree(self.folder / "home", self.folder / "as_it_was")
        (self.folder / "survey.json").write_text(SURVEY, encoding="utf-8")
        for kind in KINDS:
            subprocess.run([self.python, "-m", "confide", "init", kind, "--out", f"{kind}.toml"], cwd=self.folder,
                           check=True, stdout=subprocess.DEVNULL, env=self.environment())

    def spoken(self, code: str) -> str:
        return subprocess.run([self.python, "-c", code], check=True, capture_output=True, text=True).stdout

    def environment(self) -> dict[str, str]:
        """Bytecode and kernels are cached, as they are on a user's machine; the store is the scratch folder's own."""
        kept = {name: value for name, value in os.environ.items()
                if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "CONFIDE_STORE")}
        return kept | {"CONFIDE_HOME": str(self.folder / "home")}

    def seconds(self, verb: str, kind: str) -> float:
        """Processor seconds, user and system, of one process.

        Raises:
            SystemExit: the verb failed.
        """
        self._renew(verb)
        command = [self.python, *arguments(verb, kind)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              env=self.environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 3):  # 3: `verify` is not told the operator's key
            raise SystemExit(f"{' '.join(command)}: ended with {done.returncode}\n{done.stderr}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _renew(self, verb: str) -> None:
        """Put the installation back; for what comes before a settlement, with its keys and notes and no store."""
        for each in (self.folder / "campaigns").glob("out*"):
            shutil.rmtree(each)
        home = self.folder / "home"
        shutil.rmtree(home)
        shutil.copytree(self.folder / "as_it_was", home)
        (self.folder / "fresh.toml").unlink(missing_ok=True)
        if verb not in ("ledger", "campaigns", "share"):
            for store in home.glob("*.db*"):
                store.unlink()
            for notes in ("released", "begun", "charged"):  # a run that had begun would look for its journal of noise
                shutil.rmtree(home / notes, ignore_errors=True)


def arguments(verb: str, kind: str) -> list[str]:
    """What the interpreter is called with."""
    if not kind:
        return ALONE[verb]
    file = f"campaigns/{KINDS[kind]}.toml"
    return ["-m", "confide", *{
        "init": ["init", kind, "--out", "fresh.toml"], "schema": ["kinds", kind, "--json"],
        "plan": ["plan", f"{kind}.toml"], "offer": ["offer", f"{kind}.toml"], "check": ["check", file],
        "study": ["run", file, "--noise", "simulated", "--seed", "7"], "run": ["run", file],
        "share": ["share", file, "--id", "3"], "verify": ["verify", f"packs/{KINDS[kind]}"], "audit": ["audit", file],
    }[verb]]


def cells(verbs: Sequence[str], kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Verb and kind; no kind where none takes part."""
    for verb in verbs:
        if verb in ALONE:
            yield verb, ""
        else:
            yield from ((verb, kind) for kind in kinds if kind not in WITHOUT.get(verb, ()))


def run(*, quick: bool, against: str = "", pairs: int = 7, verbs: Sequence[str] = (*ALONE, *OF_KINDS),
        kinds: Sequence[str] = tuple(KINDS)) -> Report:
    """Medians of processes that start in turn.

    Args:
        quick: one pair, of `bits` alone.
        against: another tree's interpreter; empty measures this tree alone.
        pairs: processes of each tree.
        verbs: keys of `ALONE`, or of `OF_KINDS`.
        kinds: keys of `KINDS`.
    """
    if quick:
        pairs, kinds = 1, ("bits",)
    with tempfile.TemporaryDirectory() as temporary:
        trees = [Tree(python, Path(temporary) / str(k)) for k, python in enumerate([sys.executable, against]) if python]
        for tree in trees:
            tree.folder.mkdir()
            tree.prepare()
        measured = {cell: _medians(trees, *cell, pairs) for cell in cells(verbs, kinds)}
    rows: list[tuple[str | float, ...]] = [
        (verb, kind, *found, *([found[0] / found[1]] if against else [])) for (verb, kind), found in measured.items()]
    compared = ("of the other tree, s", "ratio") if against else ()
    return Report(
        title=TITLE,
        method=[f"Processor seconds, user and system, of a whole process; the median of {pairs}, after one that is not "
                "counted. Bytecode and kernels are compiled before.",
                *(["Processes of both trees start in turn."] if against else [])],
        tables=[Table(title="Of each verb and kind", columns=("verb", "kind", "seconds", *compared), rows=rows)],
    )


def _medians(trees: Sequence[Tree], verb: str, kind: str, pairs: int) -> list[float]:
    """Of each tree."""
    taken: list[list[float]] = [[] for _ in trees]
    for turn in range(pairs + 1):
        for tree, seconds in zip(trees, taken, strict=True):
            once = tree.seconds(verb, kind)
            if turn:
                seconds.append(once)
    found = [median(seconds) for seconds in taken]
    print(verb, kind, *(f"{each:.3f}" for each in found), f"{found[0] / found[-1]:.2f}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_start", description=__doc__)
    parser.add_argument("--against", metavar="PYTHON", default="", help="another tree's interpreter")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--verbs", default=",".join((*ALONE, *OF_KINDS)))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json", type=Path, help="where the result goes")
    wanted = parser.parse_args()
    report = run(quick=False, against=wanted.against, pairs=wanted.pairs, verbs=wanted.verbs.split(","),
                 kinds=wanted.kinds.split(","))
    print(page.text(report))
    if wanted.json is not None:
        report.write(wanted.json, quick=False)


if __name__ == "__main__":
    main()
